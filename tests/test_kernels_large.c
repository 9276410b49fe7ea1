/* test_kernels_large.c: arrays of more than 2^31 elements, by every rung of sim and assoc.
 *
 * Memory of the emulated device is addresses until it is written: of the keys, 26 GB of floats,
 * only those that exist are. Head 1 begins behind element 2^31, head 2 behind 2^32, where an
 * index of 32 bits is back at the beginning (INT-01). */
#include "kernels.h"

TestSuite(kernels_large, .init = open, .fini = close);

enum { HEADS = 3, KEYS = 2, C = 1024 };
static const size_t N = ((size_t)1 << 21) + 1;

/* Number i of array `which`, exact in either type. */
static double number(int which, size_t i)
{
    return (double)(1 + (i * 7 + (size_t)which * 5) % 13) / 16;
}

/* Numbers `first`, first + 1, .. go to the elements from `at` on; at most C of them. */
static void put_numbers(void *array, tarn_dtype dtype, size_t at, size_t count,
                        int which, size_t first)
{
    float singles[C];
    double doubles[C];
    const size_t size = tarn_dtype_size(dtype);
    for (size_t i = 0; i < count; i++)
        singles[i] = (float)(doubles[i] = number(which, first + i));
    tarn_emu_copy((char *)array + at * size,
                  dtype == TARN_FLOAT32 ? (const void *)singles : doubles,
                  count * size);
}

static void *large_array(size_t elements, tarn_dtype dtype)
{
    void *array = tarn_emu_alloc(elements * tarn_dtype_size(dtype));
    if (!array) cr_skip_test("the system does not give so many addresses");
    return array;
}

/* The keys and values that exist; of those that do not, nothing is written. */
static void put_keys(struct tarn_span *s, tarn_dtype dtype)
{
    void *k = large_array(HEADS * N * C, dtype), *v = large_array(HEADS * N, dtype);
    for (size_t row = 0; row < HEADS * KEYS; row++) {
        const size_t at = row / KEYS * N + row % KEYS;
        put_numbers(k, dtype, at * C, C, 1, row * C);
        put_numbers(v, dtype, at, 1, 2, row);
    }
    s->k = k, s->v = v;
}

static struct tarn_span put_large(tarn_dtype dtype, tarn_similarity by)
{
    int64_t lengths[HEADS];
    struct tarn_span s = {.ctx = ctx, .heads = HEADS, .N_q = 1, .N = N, .C = C, .M = 1};
    s.by = by, s.scale = by == TARN_SOFTMAX ? 1.0 / C : 1, s.eps = 1;
    put_keys(&s, dtype);
    void *q = device_bytes(HEADS * C * tarn_dtype_size(dtype));
    for (size_t h = 0; h < HEADS; h++) put_numbers(q, dtype, h * C, C, 0, h * C);
    for (int h = 0; h < HEADS; h++) lengths[h] = KEYS;
    void *there = device_bytes(sizeof lengths);
    tarn_emu_copy(there, lengths, sizeof lengths);
    s.q = q, s.lengths = there;
    s.out = device_bytes(HEADS * tarn_dtype_size(dtype));
    return s;
}

static void take_large(const struct tarn_span *s)
{
    const void *const all[] = {s->q, s->k, s->v, s->lengths, s->out};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        tarn_emu_free((void *)(uintptr_t)all[a]);
}

/* Equation 3 for the two keys of a head. */
static double expected_of(size_t h, const struct tarn_span *s)
{
    double den = s->eps, sum = 0;
    for (size_t row = h * KEYS; row < (h + 1) * KEYS; row++) {
        double score = 0;
        for (size_t c = 0; c < C; c++)
            score += s->scale * number(0, h * C + c) * number(1, row * C + c);
        const double similarity = s->by == TARN_SOFTMAX ? exp(score) : score;
        den += similarity, sum += similarity * number(2, row);
    }
    return sum / den;
}

static void expect_outputs(const struct tarn_span *s, tarn_dtype dtype,
                           const char *rung)
{
    double doubles[HEADS];
    float floats[HEADS];
    const bool single = dtype == TARN_FLOAT32;
    tarn_emu_copy(single ? (void *)floats : doubles, s->out,
                  HEADS * tarn_dtype_size(dtype));
    const int bits =
        bits_of_factors(rung); /* a similarity is rounded, above and below */
    const double bound = bits ? ldexp(2, -bits) : single ? 1e-5 : 1e-13;
    for (size_t h = 0; h < HEADS; h++) {
        const double out = single ? (double)floats[h] : doubles[h];
        const double expected = expected_of(h, s);
        cr_assert(fabs(out - expected) <= bound * expected,
                  "%s, %s: head %zu is %.9g, expected %.9g", rung,
                  single ? "float" : "double", h, out, expected);
    }
}

static void run_large(struct tarn_span *s, tarn_dtype dtype,
                      const struct tarn_ladder *ladder)
{
    for (int r = 0; r < ladder->count; r++) {
        const struct tarn_rung *rung = &ladder->rungs[r];
        tarn_emu_settings.gpu = has_tensor_cores(rung->name) ? "sm_80" : "sm_75";
        s->work = rung->work ? device_bytes(rung->work(s)) : NULL;
        OK(rung->run(s));
        expect_outputs(s, dtype, rung->name);
        tarn_emu_free(s->work);
    }
}

static void run_both_types(struct ladders ladders, tarn_similarity by)
{
    for (int type = 0; type < 2; type++) {
        const tarn_dtype dtype = type ? TARN_FLOAT64 : TARN_FLOAT32;
        struct tarn_span s = put_large(dtype, by);
        run_large(&s, dtype, ladders.of[type]);
        take_large(&s);
    }
}

Test(kernels_large, sim_finds_keys_behind_two_to_the_32_elements)
{
    run_both_types(LADDERS(sim), TARN_SOFTMAX);
    run_both_types(LADDERS(sim), TARN_PHI);
}

Test(kernels_large, assoc_finds_keys_behind_two_to_the_32_elements)
{
    run_both_types(LADDERS(assoc), TARN_PHI);
}
