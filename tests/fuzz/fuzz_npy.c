/* fuzz_npy.c: tries the reader of .npy files on bytes that libFuzzer makes up.
 *
 * tests/fuzz/run builds and runs it; readers.h says what must hold. */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static tarn_context *ctx;
    if (ctx == NULL && tarn_context_new(&ctx) != TARN_OK) abort();
    tarn_set_threads(ctx, 1);
    check_npy(ctx, bytes, size);
    return 0;
}
