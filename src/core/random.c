/* random.c: random numbers from a counter. Philox 4x32-10, Salmon et al., SC 2011.
 *
 * The generator has no state: block b of a seed is a scrambling of b under the seed,
 * so every thread and every device can make its own part. A block is four words of 32
 * bits, two words make a double in [0, 1), two of these two normal numbers. So
 *
 *     elements 2b and 2b + 1 come from block b, for both distributions and both types
 *
 * The session's stream is that of the session's seed, begun where the last call
 * ended. */
#include "core/random.h"
#include "core/walk.h"
#include <math.h>

/* ---- The generator --------------------------------------------------------------- */

/* One round: two products of 32 by 32 bits; the halves change places, meet the key. */
static void philox_round(uint32_t x[4], const uint32_t key[2])
{
    uint64_t a = (uint64_t)0xD2511F53 * x[0];
    uint64_t b = (uint64_t)0xCD9E8D57 * x[2];
    uint32_t x1 = x[1], x3 = x[3];
    x[0] = (uint32_t)(b >> 32) ^ x1 ^ key[0];
    x[1] = (uint32_t)b;
    x[2] = (uint32_t)(a >> 32) ^ x3 ^ key[1];
    x[3] = (uint32_t)a;
}

void tarn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t word[4])
{
    /* The key moves on by the golden ratio and by sqrt(3) - 1. */
    uint32_t k[2] = {key[0], key[1]};
    for (int i = 0; i < 4; i++) word[i] = counter[i];
    for (int round = 0; round < 10; round++) {
        philox_round(word, k);
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
}

/* ---- Distributions --------------------------------------------------------------- */

struct stream {
    uint64_t seed, start; /* start: block of element 0 */
    tarn_distribution distribution;
};

/* 53 of 64 random bits, as a multiple of 2^-53 in [0, 1). */
static double unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

/* Box-Muller: a point with a random angle and squared radius -2 log(u), u in (0, 1]. */
static void to_normal(double pair[2])
{
    double radius = sqrt(-2 * log(1 - pair[0]));
    double angle = 2 * 3.14159265358979323846 * pair[1];
    pair[0] = radius * cos(angle);
    pair[1] = radius * sin(angle);
}

static void make_pair(const struct stream *stream, uint64_t block, double pair[2])
{
    uint64_t b = stream->start + block;
    const uint32_t counter[4] = {(uint32_t)b, (uint32_t)(b >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)};
    uint32_t word[4];
    tarn_philox(counter, key, word);
    pair[0] = unit(word[0], word[1]);
    pair[1] = unit(word[2], word[3]);
    if (stream->distribution == TARN_NORMAL) to_normal(pair);
}

/* Rounds to float, but a uniform number just below 1 stays below 1. */
static float to_float(const struct stream *stream, double x)
{
    float rounded = (float)x;
    return stream->distribution == TARN_UNIFORM && rounded >= 1 ? 0x1.fffffep-1f
                                                                : rounded;
}

/* A stretch of the fresh tensor begins at an even element, as blocks of a walk do. */
static tarn_status draw_float32(void *data, size_t unused, const struct tarn_stretch *s)
{
    (void)unused;
    const struct stream *stream = data;
    float *out = s->at[0];
    double pair[2];
    for (size_t i = 0; i < s->n; i++) {
        if (i % 2 == 0) make_pair(stream, (s->first + i) / 2, pair);
        out[i] = to_float(stream, pair[i % 2]);
    }
    return TARN_OK;
}

static tarn_status draw_float64(void *data, size_t unused, const struct tarn_stretch *s)
{
    (void)unused;
    double *out = s->at[0];
    double pair[2];
    for (size_t i = 0; i < s->n; i++) {
        if (i % 2 == 0) make_pair(data, (s->first + i) / 2, pair);
        out[i] = pair[i % 2];
    }
    return TARN_OK;
}

tarn_status tarn_random(tarn_context *ctx, tarn_distribution distribution,
                        const uint64_t *seed, tarn_dtype dtype, int rank,
                        const size_t *shape, tarn_tensor **out)
{
    struct stream stream = {.seed = seed != NULL ? *seed : ctx->seed,
                            .start = seed != NULL ? 0 : ctx->drawn,
                            .distribution = distribution};
    tarn_tensor *fresh = NULL;
    tarn_status status = tarn_tensor_new(ctx, dtype, rank, shape, &fresh);
    if (status != TARN_OK) return status;
    struct tarn_walk walk = tarn_walk_over(rank, shape);
    tarn_walk_add(&walk, fresh);
    status =
        tarn_walk_visit(ctx, distribution == TARN_NORMAL ? "randn" : "rand", &walk,
                        dtype == TARN_FLOAT32 ? draw_float32 : draw_float64, &stream);
    if (status == TARN_OK && seed == NULL)
        ctx->drawn += walk.count / 2 + walk.count % 2;
    return tarn_deliver(status, fresh, out);
}
