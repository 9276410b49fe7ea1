/* test_kernels_far.c: the far end of arrays of more than 2^32 elements, by every rung of every
 * form that has to go through all of them, forwards and backwards.
 *
 * Memory of the emulated device is addresses until it is written, and of each grid only the
 * last blocks are run. So the last of many heads is all that is computed; it must have the bits
 * that it has alone (INT-01). Where an index had 32 bits, they would go somewhere else. */
#include "kernels.h"
#include "core/pass.h"
#include "stages/phi.h"
#include <math.h>

extern const struct tarn_device_phi tarn_emu_phi_f32;
tarn_status tarn_emu_run_pass(tarn_context *ctx, const struct tarn_pass *pass);
tarn_status tarn_emu_search_f32(tarn_context *ctx, const struct tarn_search *search);

TestSuite(kernels_far, .init = open, .fini = close);

/* N C, N M and C M times HEADS are more than 2^32. */
enum { N = 8, C = 6, M = 6, BLOCKS = 64, ARRAYS = 20 };
static const size_t HEADS = ((size_t)1 << 27) + 1;

/* ---- Arrays of a span ------------------------------------------------------------------------ */

/* What a span points to: so many elements a head; inputs, and states too, are set. */
struct part {
    const char *name;
    void **array;
    size_t per_head;
    bool input;
};

static int list_parts(struct tarn_span *s, struct part parts[ARRAYS])
{
    const struct part all[] = {
        {"q", (void **)&s->q, N * C, true},
        {"k", (void **)&s->k, N * C, true},
        {"v", (void **)&s->v, N * M, true},
        {"dout", (void **)&s->dout, N * M, true},
        {"dS", (void **)&s->dS, C * M, true},
        {"dz", (void **)&s->dz, C, true},
        {"S", &s->S, C * M, true},
        {"z", &s->z, C, true},
        {"S_part", &s->S_part, C * M, true},
        {"z_part", &s->z_part, C, true},
        {"out", &s->out, N * M, false},
        {"dq", &s->dq, N * C, false},
        {"dk", &s->dk, N * C, false},
        {"dv", &s->dv, N * M, false},
        {"dS0", &s->dS0, C * M, false},
        {"dz0", &s->dz0, C, false},
    };
    const int count = sizeof all / sizeof *all;
    memcpy(parts, all, sizeof all);
    return count;
}

static struct tarn_span lay_out(size_t heads, tarn_dtype dtype)
{
    struct part parts[ARRAYS];
    struct tarn_span s = {.ctx = ctx, .heads = heads, .N_q = N, .N = N, .C = C, .M = M};
    s.scale = 1.0 / C, s.eps = 1e-6;
    const int count = list_parts(&s, parts);
    for (int i = 0; i < count; i++) {
        *parts[i].array =
            tarn_emu_alloc(heads * parts[i].per_head * tarn_dtype_size(dtype));
        if (!*parts[i].array)
            cr_skip_test("the system does not give so many addresses");
    }
    return s;
}

static void take_back(struct tarn_span *s)
{
    struct part parts[ARRAYS];
    const int count = list_parts(s, parts);
    for (int i = 0; i < count; i++) tarn_emu_free(*parts[i].array);
}

/* The last head's piece of an array. */
static char *last_of(const struct tarn_span *s, const struct part *part, size_t size)
{
    return (char *)*part->array + (s->heads - 1) * part->per_head * size;
}

/* The last head's inputs: numbers in (0, 1), always the same. */
static void set_last(struct tarn_span *s, tarn_dtype dtype)
{
    struct part parts[ARRAYS];
    const size_t size = tarn_dtype_size(dtype);
    const int count = list_parts(s, parts);
    for (int i = 0; i < count; i++) {
        double doubles[N * M];
        float floats[N * M];
        for (size_t e = 0; e < parts[i].per_head; e++)
            floats[e] =
                (float)(doubles[e] = (double)(1 + (e * 7 + (size_t)i * 5) % 13) / 16);
        const void *from = dtype == TARN_FLOAT32 ? (const void *)floats : doubles;
        if (parts[i].input)
            tarn_emu_copy(last_of(s, &parts[i], size), from, parts[i].per_head * size);
        else
            tarn_emu_fill(last_of(s, &parts[i], size), 0xff, parts[i].per_head * size);
    }
    s->count = 0;
}

/* ---- One rung, far out and alone ---------------------------------------------------------------- */

static void run(struct tarn_span *s, tarn_dtype dtype, const struct tarn_rung *rung)
{
    set_last(s, dtype);
    s->work = rung->work ? tarn_emu_alloc(rung->work(s)) : NULL;
    cr_assert(!rung->work || s->work, "%s: no addresses for its work", rung->name);
    OK(rung->run(s));
    tarn_emu_free(s->work);
}

static void expect_same_last(struct tarn_span *far, struct tarn_span *alone,
                             tarn_dtype dtype, const char *what, const char *rung)
{
    struct part parts[ARRAYS], others[ARRAYS];
    char bits[N * M * sizeof(double)], expected[N * M * sizeof(double)];
    const size_t size = tarn_dtype_size(dtype);
    const int count = list_parts(far, parts);
    list_parts(alone, others);
    for (int i = 0; i < count; i++) {
        const size_t bytes = parts[i].per_head * size;
        tarn_emu_copy(bits, last_of(far, &parts[i], size), bytes);
        tarn_emu_copy(expected, last_of(alone, &others[i], size), bytes);
        cr_assert(memcmp(bits, expected, bytes) == 0,
                  "%s %s, %s: %s of the last head is not as it is alone", what, rung,
                  tarn_dtype_name(dtype), parts[i].name);
    }
}

/* ---- Every form ------------------------------------------------------------------------------------ */

static const struct form {
    const char *name;
    struct ladders ladders;
    tarn_similarity by;
    bool causal;
} forms[] = {
#define FORM(form, by, causal)                                                         \
    {                                                                                  \
#form, {{&tarn_emu_##form##_f32, &tarn_emu_##form##_f64 } }, by, causal        \
    }
    FORM(sim, TARN_SOFTMAX, true), FORM(sim_grad, TARN_SOFTMAX, true),
    FORM(assoc, TARN_PHI, false),  FORM(assoc_grad, TARN_PHI, false),
    FORM(prefix, TARN_PHI, true),  FORM(prefix_grad, TARN_PHI, true),
    FORM(rnn, TARN_PHI, true),     FORM(rnn_grad, TARN_PHI, true),
};

static void compare(const struct form *form, struct tarn_span *far,
                    struct tarn_span *alone, tarn_dtype dtype)
{
    const struct tarn_ladder *ladder = form->ladders.of[dtype == TARN_FLOAT64];
    far->by = alone->by = form->by, far->causal = alone->causal = form->causal;
    for (int r = 0; r < ladder->count; r++) {
        const struct tarn_rung *rung = &ladder->rungs[r];
        if (tarn_rung_for(rung, far) != rung) continue;
        tarn_emu_settings.gpu = "sm_80";
        tarn_emu_settings.last_blocks = 0;
        run(alone, dtype, rung);
        tarn_emu_settings.last_blocks = BLOCKS;
        run(far, dtype, rung);
        expect_same_last(far, alone, dtype, form->name, rung->name);
    }
}

static void compare_all(tarn_dtype dtype)
{
    tarn_emu_settings.locked = false; /* so much memory is slow to close and open */
    struct tarn_span alone = lay_out(1, dtype), far = lay_out(HEADS, dtype);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        compare(&forms[f], &far, &alone, dtype);
    take_back(&alone), take_back(&far);
}

Test(kernels_far, every_form_finds_the_last_head_of_floats)
{
    compare_all(TARN_FLOAT32);
}
Test(kernels_far, every_form_finds_the_last_head_of_doubles)
{
    compare_all(TARN_FLOAT64);
}

/* ---- What has no rungs: features, one pass, the search for what is not finite ------------------ */

enum { ENTRIES = 4 };
static const size_t ROWS = ((size_t)1 << 30) + 1;

static void *numbers_of(size_t count)
{
    float *x = tarn_emu_alloc(count * sizeof *x);
    const float last[ENTRIES] = {-1, 2, 0.5F, 3};
    if (!x) cr_skip_test("the system does not give so many addresses");
    tarn_emu_copy(x + count - ENTRIES, last, sizeof last);
    return x;
}

typedef void make_fn(size_t rows, void *x, void *out, void *of_rows);

static void make_features(size_t rows, void *x, void *out, void *of_rows)
{
    (void)of_rows;
    OK(tarn_emu_phi_f32.apply(ctx, TARN_PHI_ELU1, rows, ENTRIES, x, out));
}

static void make_scaled_features(size_t rows, void *x, void *out, void *of_rows)
{
    OK(tarn_emu_phi_f32.apply_scaled(ctx, TARN_PHI_ELU1, rows, ENTRIES, x, 1e-6, out,
                                     of_rows, (float *)of_rows + rows));
}

static void make_exp(size_t rows, void *x, void *out, void *of_rows)
{
    (void)of_rows;
    const size_t n = rows * ENTRIES;
    const struct tarn_pass pass = {.function = "exp",
                                   .kind = TARN_PASS_UNARY,
                                   .op = TARN_EXP,
                                   .from = TARN_FLOAT32,
                                   .to = TARN_FLOAT32,
                                   .rank = 1,
                                   .operands = 2,
                                   .count = n,
                                   .shape = {n},
                                   .base = {out, x},
                                   .stride = {{1}, {1}}};
    OK(tarn_emu_run_pass(ctx, &pass));
}

/* The last row of `rows`. */
static void last_row(make_fn *make, size_t rows, float row[ENTRIES])
{
    float *x = numbers_of(rows * ENTRIES), *out = numbers_of(rows * ENTRIES);
    void *of_rows = numbers_of(2 * rows + ENTRIES);
    make(rows, x, out, of_rows);
    tarn_emu_copy(row, out + (rows - 1) * ENTRIES, ENTRIES * sizeof *row);
    tarn_emu_free(x), tarn_emu_free(out), tarn_emu_free(of_rows);
}

Test(kernels_far, the_last_row_has_the_features_that_it_has_alone)
{
    make_fn *const made[] = {make_features, make_scaled_features, make_exp};
    tarn_emu_settings.locked = false, tarn_emu_settings.last_blocks = BLOCKS;
    for (int i = 0; i < 3; i++) {
        float far[ENTRIES], alone[ENTRIES];
        last_row(made[i], ROWS, far);
        last_row(made[i], 1, alone);
        cr_assert(memcmp(far, alone, sizeof far) == 0, "%d: %g, alone %g", i,
                  (double)far[0], (double)alone[0]);
        cr_assert(alone[0] != -1, "%d: nothing is made", i);
    }
}

Test(kernels_far, nan_is_found_in_the_last_head)
{
    tarn_emu_settings.locked = false, tarn_emu_settings.last_blocks = BLOCKS;
    const float nan = NAN;
    float *x = numbers_of(ROWS * ENTRIES);
    int *found = numbers_of(ROWS), is = 0;
    tarn_emu_copy(found + ROWS - 1, &is, sizeof is);
    struct tarn_search s = {.heads = ROWS, .found = found, .count = 1};
    s.array[0] = (struct tarn_searched){x, 1, ENTRIES, false};
    OK(tarn_emu_search_f32(ctx, &s));
    tarn_emu_copy(&is, found + ROWS - 1, sizeof is);
    cr_assert_eq(is, 0);
    tarn_emu_copy(x + ROWS * ENTRIES - 1, &nan, sizeof nan);
    OK(tarn_emu_search_f32(ctx, &s));
    tarn_emu_copy(&is, found + ROWS - 1, sizeof is);
    cr_assert_eq(is, 1);
}
