/* user.h: a kernel of a user's, as the program finds it in the shared object that was made of
 * his file (lua/kernel.lua). Internal; chapter 11. */
#ifndef TARN_USER_H
#define TARN_USER_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of an argument. */
struct tarn_user_argument {
    char
        kind; /* p: pointer to float or double; f, i, u, b: float, int, unsigned, bool */
    unsigned char bytes; /* of the number, or of what the pointer points to */
};

enum { TARN_USER_ARGUMENTS = 64 };

struct tarn_user_grid {
    unsigned grid[3], block[3];
    size_t shared; /* bytes of dynamic shared memory */
};

/* The shared object has one, with the name tarn_user_kernel. `run` returns when the kernel has
 * ended; each of the arguments points to a value of its type. Of an error on a GPU the context
 * knows nothing: `problem` says what it was. */
struct tarn_user_kernel {
    const char *name;
    int count;
    const struct tarn_user_argument *arguments;
    tarn_status (*run)(tarn_context *ctx, const struct tarn_user_grid *grid,
                       void **arguments);
    const char *(*problem)(void);
};

#ifdef __cplusplus
}
#endif
#endif
