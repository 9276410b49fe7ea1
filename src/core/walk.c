/* walk.c: one pass over the elements of several broadcast tensors at once. */
#include "core/kernels.h"
#include "core/parallel.h"
#include <assert.h>
#include <string.h>

struct tarn_walk tarn_walk_over(int rank, const size_t *shape)
{
    struct tarn_walk walk = {.rank = rank, .count = 1, .block = TARN_WALK_BLOCK};
    for (int d = 0; d < rank; d++) {
        walk.shape[d] = shape[d];
        walk.count *= shape[d];
    }
    return walk;
}

/* All tensors of a walk must lie on the device of the first. */
static void note_device(struct tarn_walk *walk, const struct tarn_device *device)
{
    if (!walk->begun)
        walk->device = device;
    else if (walk->device != device)
        walk->mixed = true, walk->other = device;
    walk->begun = true;
}

void tarn_walk_add(struct tarn_walk *walk, const tarn_tensor *t)
{
    assert(walk->operands < TARN_OPERANDS && "a walk has room for its operands");
    int i = walk->operands++;
    walk->base[i] = t->data;
    note_device(walk, tarn_device_of(t));
    walk->size[i] = tarn_dtype_size(t->dtype);
    tarn_broadcast_strides(t, walk->rank, walk->shape, walk->stride[i]);
}

void tarn_walk_add_number(struct tarn_walk *walk, tarn_dtype dtype, void *number)
{
    assert(walk->operands < TARN_OPERANDS && "a walk has room for its operands");
    int i = walk->operands++;
    walk->base[i] = number;
    walk->is_number[i] = true;
    walk->size[i] = tarn_dtype_size(dtype);
    memset(walk->stride[i], 0, sizeof walk->stride[i]);
}

/* Whether dimension d, seen from `inner`, just continues it in every operand. */
static bool continues(const struct tarn_walk *walk, int d, int inner)
{
    for (int i = 0; i < walk->operands; i++) {
        ptrdiff_t span = walk->stride[i][inner] * (ptrdiff_t)walk->shape[inner];
        if (walk->stride[i][d] != span) return false;
    }
    return true;
}

static void move_dimension(struct tarn_walk *walk, int from, int to)
{
    walk->shape[to] = walk->shape[from];
    for (int i = 0; i < walk->operands; i++)
        walk->stride[i][to] = walk->stride[i][from];
}

/* Merges dimensions, from the innermost outwards, and leaves at least one. Those kept
 * pile up at the end of the arrays and are moved to the front afterwards. */
static void coalesce(struct tarn_walk *walk)
{
    int kept = walk->rank; /* the outermost dimension kept so far */
    for (int d = walk->rank - 1; d >= 0; d--) {
        if (walk->shape[d] == 1) continue;
        if (kept < walk->rank && continues(walk, d, kept))
            walk->shape[kept] *= walk->shape[d];
        else
            move_dimension(walk, d, --kept);
    }
    int rank = walk->rank - kept;
    for (int d = 0; d < rank; d++) move_dimension(walk, kept + d, d);
    if (rank == 0) walk->shape[rank++] = 1;
    walk->rank = rank;
}

size_t tarn_walk_blocks(const struct tarn_walk *walk)
{
    return walk->count / walk->block + (walk->count % walk->block != 0);
}

struct visit {
    const struct tarn_walk *walk;
    tarn_visit *visit;
    void *data;
};

/* Sets where a stretch that begins at index[] begins in each operand. */
static void locate(const struct tarn_walk *walk, const size_t *index,
                   struct tarn_stretch *s)
{
    for (int i = 0; i < walk->operands; i++) {
        ptrdiff_t offset = 0;
        for (int d = 0; d < walk->rank; d++)
            offset += (ptrdiff_t)index[d] * walk->stride[i][d];
        s->at[i] = walk->base[i] + offset * (ptrdiff_t)walk->size[i];
        s->step[i] = walk->stride[i][walk->rank - 1];
    }
}

/* Moves index[] on by n positions, which stay inside the innermost dimension. */
static void advance(const struct tarn_walk *walk, size_t *index, size_t n)
{
    int d = walk->rank - 1;
    index[d] += n;
    while (d > 0 && index[d] == walk->shape[d]) {
        index[d] = 0;
        index[--d]++;
    }
}

static tarn_status visit_block(void *data, size_t block)
{
    const struct visit *visit = data;
    const struct tarn_walk *walk = visit->walk;

    /* Turn the block's first position into an index. */
    struct tarn_stretch s = {.first = block * walk->block};
    size_t index[TARN_MAX_RANK];
    size_t rest = s.first;
    for (int d = walk->rank - 1; d >= 0; d--) {
        index[d] = rest % walk->shape[d];
        rest /= walk->shape[d];
    }

    /* Visit stretches, none longer than the innermost dimension or the block. */
    size_t left = walk->count - s.first;
    if (left > walk->block) left = walk->block;
    for (; left > 0; left -= s.n, s.first += s.n) {
        size_t row = walk->shape[walk->rank - 1] - index[walk->rank - 1];
        s.n = row < left ? row : left;
        locate(walk, index, &s);
        tarn_status status = visit->visit(visit->data, block, &s);
        if (status != TARN_OK) return status;
        advance(walk, index, s.n);
    }
    return TARN_OK;
}

static tarn_status one_by_one(tarn_context *ctx, const char *function, size_t blocks,
                              struct visit *visit)
{
    for (size_t block = 0; block < blocks; block++) {
        tarn_status status = tarn_poll(ctx, function);
        if (status != TARN_OK) return status;
        status = visit_block(visit, block);
        if (status != TARN_OK) return status;
    }
    return TARN_OK;
}

static tarn_status check_devices(tarn_context *ctx, const char *function,
                                 const struct tarn_walk *walk)
{
    if (!walk->mixed) return TARN_OK;
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: one tensor is on %s, another on %s, expected all on one "
                     "device; t:to(device) moves them",
                     function, tarn_device_name(walk->device),
                     tarn_device_name(walk->other));
}

tarn_status tarn_walk_visit(tarn_context *ctx, const char *function,
                            struct tarn_walk *walk, tarn_visit *visit, void *data)
{
    tarn_status status = check_devices(ctx, function, walk);
    if (status) return status;
    if (walk->device)
        return tarn_fail(ctx, TARN_EDEVICE,
                         "%s: the tensor is on %s, which can't do this; use "
                         "t:to(\"cpu\")",
                         function, walk->device->name);
    size_t blocks = tarn_walk_blocks(walk);
    if (blocks > 0) coalesce(walk);
    struct visit visitor = {walk, visit, data};
    if (walk->serial) return one_by_one(ctx, function, blocks, &visitor);
    return tarn_parallel(ctx, function, blocks, visit_block, &visitor);
}

static tarn_status run_kernel(void *data, size_t block, const struct tarn_stretch *s)
{
    (void)block;
    tarn_kernel *const *kernel = data;
    (*kernel)(s);
    return TARN_OK;
}

/* The bytes of all operands, an element that repeats counted once. */
static double bytes_of(const struct tarn_walk *walk)
{
    double bytes = 0;
    for (int i = 0; i < walk->operands; i++) {
        double elements = (double)walk->size[i];
        for (int d = 0; d < walk->rank; d++)
            if (walk->stride[i][d] != 0) elements *= (double)walk->shape[d];
        bytes += walk->count > 0 ? elements : 0;
    }
    return bytes;
}

tarn_status tarn_walk_run(tarn_context *ctx, const char *function,
                          struct tarn_walk *walk, tarn_kernel *kernel)
{
    tarn_count(ctx, 0, bytes_of(walk));
    if (walk->device && !walk->mixed) {
        if (walk->count == 0) return TARN_OK;
        coalesce(walk);
        return tarn_device_pass(ctx, function, walk, kernel);
    }
    return tarn_walk_visit(ctx, function, walk, run_kernel, &kernel);
}
