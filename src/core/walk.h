/* walk.h: one pass over the elements of several broadcast tensors at once. Internal.
 *
 * The walk merges dimensions that lie one behind the other in every operand, so that
 * contiguous tensors of any rank become one long stretch, cuts the row-major order
 * into blocks, and spreads the blocks over the threads. Between blocks an interrupt is
 * seen. A kernel gets a stretch: n elements of each operand, an even step apart. */
#ifndef TARN_WALK_H
#define TARN_WALK_H

#include "core/tensor.h"

/* A block takes no longer than a few milliseconds, even of pow. */
enum { TARN_OPERANDS = 4, TARN_WALK_BLOCK = 1 << 16 };

/* n elements of each operand, `step` elements apart; `first` counts the elements before
 * them in row-major order. By custom operand 0 is the output. */
struct tarn_stretch {
    size_t n, first;
    void *at[TARN_OPERANDS];
    ptrdiff_t step[TARN_OPERANDS];
};

typedef void tarn_kernel(const struct tarn_stretch *s);
typedef tarn_status tarn_visit(void *data, size_t block, const struct tarn_stretch *s);

struct tarn_walk {
    int rank, operands;
    size_t shape[TARN_MAX_RANK];
    size_t count; /* elements of the shape */
    size_t block; /* elements of a block: TARN_WALK_BLOCK unless changed */
    unsigned char *base[TARN_OPERANDS];
    size_t size[TARN_OPERANDS]; /* bytes of an element */
    ptrdiff_t stride[TARN_OPERANDS][TARN_MAX_RANK];
    const struct tarn_device *device; /* of every tensor among them; NULL: the host */
    const struct tarn_device *other;  /* of one that lies elsewhere than the first */
    bool mixed, begun;
    bool is_number[TARN_OPERANDS]; /* base is the host's, whatever the device */
    bool serial; /* set it if an output has several indices for one element */
};

/* Starts a walk over a shape that fits (tarn_shape_count), without operands. */
struct tarn_walk tarn_walk_over(int rank, const size_t *shape);

/* Adds an operand: a tensor that broadcasts to the shape, or one number. */
void tarn_walk_add(struct tarn_walk *walk, const tarn_tensor *t);
void tarn_walk_add_number(struct tarn_walk *walk, tarn_dtype dtype, void *number);

/* Blocks that the walk will be cut into. */
size_t tarn_walk_blocks(const struct tarn_walk *walk);

/* Hands every stretch to visit(data, block, s), or to a kernel; the stretches of a
 * block come in order and on one thread. The rules for a body of tarn_parallel hold. */
tarn_status tarn_walk_visit(tarn_context *ctx, const char *function,
                            struct tarn_walk *walk, tarn_visit *visit, void *data);
tarn_status tarn_walk_run(tarn_context *ctx, const char *function,
                          struct tarn_walk *walk, tarn_kernel *kernel);

#endif
