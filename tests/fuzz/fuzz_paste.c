/* fuzz_paste.c: tries the reader of pasted text on bytes that libFuzzer makes up.
 *
 * tests/fuzz/run builds and runs it; promises.lua says what must hold. */
#include "fuzz_lua.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    keep_promise("paste", bytes, size);
    return 0;
}
