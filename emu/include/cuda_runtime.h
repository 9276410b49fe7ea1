/* cuda_runtime.h: for a user's file that includes it: on the emulated device its words are
 * those of words.h, which is there already. Chapter 11. */
#include "emu/words.h"
