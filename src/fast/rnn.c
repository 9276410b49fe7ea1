/* rnn.c: stage 4, tuned. Chapters 5 and 10; the equations are those of src/stages/rnn.c, 18-20.
 *
 * A long run is the causal form (prefix.c), which lays the state out for its tiles first. For
 * a few tokens that would cost more than the tokens do. So a step sweeps the state where it
 * lies, [C, M] in two levels: four vectors of columns at a time, whose values and outputs stay
 * in registers. A row of them is loaded once, 2 loads and 1 store for the 2 multiply-adds of
 * a vector: memory, and not arithmetic, is what a step takes its time from. Whatever else is
 * to be done for a token is done for all heads at once.
 *
 * What is computed for a token is what the causal form computes, in the same order with the
 * same instructions, so that steps and runs give the same bits. */
#include "fast/fast.h"
#include "fast/features.h"
#include "stages/flops.h"

enum {
    FEW = 8, /* tokens that are stepped and not run */
    STEP_VECTORS = 4
};

/* One token against the state of its head. */
struct token {
    size_t C, M;
    const real *q, *k, *v;
    real *out, *S, *part;
    real scale;
};

//> region fast_rnn_step
/* V vectors of columns from column j on. */
INLINE void step_columns(const int V, const struct token *t, size_t j)
{
    vec values[STEP_VECTORS], sums[STEP_VECTORS];
    UNROLL
    for (int c = 0; c < V; c++) {
        values[c] = load(t->v + j + c * LANES);
        sums[c] = splat(0);
    }
    const real *S = t->S + j;
    real *part = t->part + j;
    for (size_t r = 0; r < t->C; r++, S += t->M, part += t->M) {
        const vec k_r = splat(t->k[r]), q_r = splat(t->q[r]);
        UNROLL
        for (int c = 0; c < V; c++) {
            const vec d = load(part + c * LANES) + k_r * values[c];
            store(part + c * LANES, d);
            sums[c] += q_r * (load(S + c * LANES) + d);
        }
    }
    UNROLL
    for (int c = 0; c < V; c++)
        store(t->out + j + c * LANES, sums[c] * splat(t->scale));
}
//< region fast_rnn_step

/* One row of the last columns; `inside` the matrix a whole vector is read, and what belongs
 * to the next row is written back as it was. A constant, not a branch: compilers make one
 * instruction of a product and a sum only where they stand together. */
INLINE vec step_row(const bool inside, const struct token *t, size_t r, size_t j,
                    vec value, vec sum)
{
    const size_t at = r * t->M + j, left = t->M - j;
    real lanes[LANES];
    for (size_t i = 0; i < LANES; i++) lanes[i] = i < left;
    const ivec ours = load(lanes) != splat(0);
    const vec s = inside ? load(t->S + at) : load_some(t->S + at, left);
    const vec d = inside ? load(t->part + at) : load_some(t->part + at, left);
    const vec grown = d + splat(t->k[r]) * value;
    if (inside)
        store(t->part + at, choose(ours, grown, d));
    else
        store_some(t->part + at, grown, left);
    return sum + splat(t->q[r]) * (s + grown);
}

/* The columns from j on, fewer than a vector. */
INLINE void step_last_columns(const struct token *t, size_t j)
{
    const size_t left = t->M - j, end = t->C * t->M;
    const vec value = load_some(t->v + j, left);
    vec sum = splat(0);
    size_t r = 0;
    for (; r * t->M + j + LANES <= end; r++) sum = step_row(true, t, r, j, value, sum);
    for (; r < t->C; r++) sum = step_row(false, t, r, j, value, sum);
    store_some(t->out + j, sum * splat(t->scale), left);
}

static void step(const struct token *t)
{
    size_t j = 0;
    for (; j + STEP_VECTORS * LANES <= t->M; j += STEP_VECTORS * LANES)
        step_columns(STEP_VECTORS, t, j);
    for (; j + 2 * LANES <= t->M; j += 2 * LANES) step_columns(2, t, j);
    for (; j + LANES <= t->M; j += LANES) step_columns(1, t, j);
    if (j < t->M) step_last_columns(t, j);
}

/* total += part, as blocks.h carries it, in matrices of any size. */
static void carry_any(size_t n, real *part, real *total)
{
    const size_t whole_part = n - n % LANES, left = n - whole_part;
    carry(whole_part, part, total);
    if (left == 0) return;
    real total_copy[LANES] = {0}, part_copy[LANES] = {0};
    memcpy(total_copy, total + whole_part, left * sizeof(real));
    memcpy(part_copy, part + whole_part, left * sizeof(real));
    carry(LANES, part_copy, total_copy);
    memcpy(total + whole_part, total_copy, left * sizeof(real));
    memcpy(part + whole_part, part_copy, left * sizeof(real));
}

/* z of head h grows by row t of the block, which is divided by it. Rows of whole vectors are
 * worked on where they lie. */
static void step_z(const struct tarn_attn *a, struct features *f, size_t h, size_t t)
{
    real *z = (real *)a->state->z + h * a->C;
    real *z_part = (real *)a->state->z_part + h * a->C;
    if (f->padded == a->C) {
        f->z = z;
        f->z_part = z_part;
        row_den(f, a, h, t, true);
    } else {
        memcpy(f->z, z, a->C * sizeof(real));
        memcpy(f->z_part, z_part, a->C * sizeof(real));
        row_den(f, a, h, t, true);
        memcpy(z_part, f->z_part, a->C * sizeof(real));
    }
}

/* Head h against its state, with the features of row t. */
static void step_head(const struct tarn_attn *a, const struct features *f, size_t h,
                      size_t t)
{
    const struct tarn_sums *s = a->state;
    const size_t state = h * a->C * a->M;
    step(&(struct token){.C = a->C,
                         .M = a->M,
                         .q = f->q + t * f->padded,
                         .k = f->k + t * f->padded,
                         .v = (const real *)a->v + h * a->M,
                         .out = (real *)a->out + h * a->M,
                         .S = (real *)s->S + state,
                         .part = (real *)s->S_part + state,
                         .scale = f->scale[t]});
}

/* A token of each of n heads from head h on, at most BLOCK. Every other token goes through
 * the heads backwards: the states that came last are still in the nearest cache. */
static void step_block(const struct tarn_attn *a, struct features *f, size_t h,
                       size_t n)
{
    const bool backwards = a->state->count % 2;
    f->any_rare = false;
    feature_rows(map_of(a), n, a->C, (const real *)a->q + h * a->C, 0, f->q);
    features_of_keys(f, a, h, n, 0);
    for (size_t t = 0; t < n; t++) step_z(a, f, h + t, t);
    for (size_t i = 0; i < n; i++) {
        const size_t t = backwards ? n - 1 - i : i;
        step_head(a, f, h + t, t);
    }
    features_divide(f, n, a->M, (real *)a->out + h * a->M, a->M);
}

/* The heads lie one after another, so what is done to each of them is done to all. Where
 * every den is usual and every output finite, so is all that they were made of. */
static tarn_status step_heads(struct tarn_attn *a, size_t heads)
{
    struct tarn_sums *s = a->state;
    struct features f;
    lay_features(&f, a->work, a->C);
    s->sound = true;
    for (size_t h = 0, n; h < heads; h += n) {
        n = heads - h < BLOCK ? heads - h : BLOCK;
        step_block(a, &f, h, n);
        if (f.any_rare) s->sound = false;
    }
    if (!finite_rows(heads, a->M, a->out, (ptrdiff_t)a->M)) s->sound = false;
    if (++s->count < TARN_BLOCK) return TARN_OK;
    carry_any(heads * a->C * a->M, s->S_part, s->S);
    carry_any(heads * a->C, s->z_part, s->z);
    s->count = 0;
    return TARN_OK;
}

/* ---- A few tokens ------------------------------------------------------------------------ */

static tarn_status rnn_levels(struct tarn_attn *a)
{
    if (a->N > FEW) return FAST(tarn_fast_prefix).accurate(a);
    struct tarn_attn token = *a;
    for (size_t i = 0; i < a->N; i++) {
        token.q = (const real *)a->q + i * a->C;
        token.k = (const real *)a->k + i * a->C;
        token.v = (const real *)a->v + i * a->M;
        token.out = (real *)a->out + i * a->M;
        token.eps_row = a->eps_row ? (const real *)a->eps_row + i : NULL;
        step_heads(&token, 1);
    }
    return TARN_OK;
}

static tarn_status rnn_plain(struct tarn_attn *a)
{
    return FAST(tarn_fast_prefix).naive(a);
}

static size_t rnn_work(const struct tarn_attn *a)
{
    return a->N > FEW ? FAST(tarn_fast_prefix).work(a) : features_size(a->C);
}

static size_t rnn_parts(const struct tarn_attn *a)
{
    return a->N > FEW ? FAST(tarn_fast_prefix).parts(a) : 1;
}

const struct tarn_form FAST(tarn_fast_rnn) = {.naive = rnn_plain,
                                              .accurate = rnn_levels,
                                              .work = rnn_work,
                                              .flops = tarn_causal_flops,
                                              .parts = rnn_parts,
                                              .step = step_heads,
                                              .fused = true};
