/* prefix_grad.c: the gradient of stage 3, and of stage 4's run, tuned. Chapters 7 and 10; the
 * equations are those of src/stages/prefix_grad.c, 13-15 and the denominator's path.
 *
 * With Gn_i = dout_i / den_i the whole gradient is the kernel of recurrence.h three times:
 *
 *     forwards    dq = causal(q := Gn,     k := v,      v := phi(k))   over S^T, M rows
 *     backwards   dk = causal(q := v,      k := Gn,     v := phi(q))   over R^T, M rows
 *     backwards   dv = causal(q := phi(k), k := phi(q), v := Gn)       over R,   C rows
 *
 * So 12 C M operations a token are done for the 10 C M that the equations need: R is summed up
 * twice, once in each order, which costs less than sums across vectors would.
 *
 * The denominator's path is vectors beside it. With u_i = S_i Gn_i
 *
 *     gd_i = -(Gn_i . out_i) = -(phi(q_i) . u_i) / den_i      dphi(q_i) = u_i + gd_i z_i
 *     r_i = sum_{j>=i} gd_j phi(q_j)                          dphi(k_i) = R_i v_i + r_i
 *
 * so that outputs are not computed again. What the way back wants to know of token i, den_i
 * and gd_i, waits in the i-th entries of dv and dk, whose rows are written only then, from
 * the last one back: nothing here grows with N. Features are made again. */
#include "fast/fast.h"
#include "fast/grads.h"
#include "fast/recurrence.h"
#include "stages/flops.h"

enum { STRETCH = 4 * BLOCK }; /* tokens in the partial sums */

/* A head at work. `across` is [M, padded C], S^T on the way there and R^T on the way back; `R` is
 * [C, M]. Rows of a block are padded to whole vectors. */
struct grad {
    struct tarn_attn *a;
    bool levels;
    struct features f; /* z is r on the way back */
    size_t padded;     /* columns of Gn */
    real *Gn, *rows;   /* [BLOCK, padded M]; [BLOCK, padded C] that the kernel writes */
    real gd[BLOCK];
    struct packed across, R;
    size_t count; /* tokens in the partial sums */
};

static size_t prefix_grad_work(const struct tarn_attn *a)
{
    return features_size(a->C) + BLOCK * whole_vectors(a->M) +
           BLOCK * whole_vectors(a->C) + packed_size(a->M, a->C, true) +
           packed_size(a->C, a->M, true);
}

static struct packed packed_in(real *work, size_t R, size_t columns, bool levels)
{
    struct packed p = {.R = R, .columns = columns, .S = work};
    if (levels) p.part = work + R * whole_vectors(columns);
    return p;
}

static struct grad open_grad(struct tarn_attn *a, bool levels)
{
    struct grad g = {.a = a, .levels = levels, .padded = whole_vectors(a->M)};
    g.f = features_in(a->work, a);
    g.Gn = (real *)a->work + features_size(a->C);
    g.rows = g.Gn + BLOCK * g.padded;
    real *rest = g.rows + BLOCK * g.f.padded;
    g.across = packed_in(rest, a->M, g.f.padded, levels);
    g.R = packed_in(rest + packed_size(a->M, a->C, true), a->C, a->M, levels);
    return g;
}

/* ---- Sums in and out --------------------------------------------------------------------- */

static void clear(const struct packed *p, bool levels)
{
    memset(p->S, 0, packed_size(p->R, p->columns, levels) * sizeof(real));
}

/* Adds from [C, R] to one level of p, which has it the other way round. */
static void add_transposed(const struct packed *p, size_t C, const real *from, real *to)
{
    for (size_t c = 0; c < C; c++) {
        const size_t j = c / (VECTORS * LANES) * (VECTORS * LANES);
        const size_t width = group_width(p->columns - j);
        real *column = to + p->R * j + (c - j);
        for (size_t r = 0; r < p->R; r++) column[r * width] += from[c * p->R + r];
    }
}

/* S starts as a copy of the initial state, which stays as it is. */
static void start_forward(struct grad *g)
{
    const struct tarn_sums *s = g->a->state;
    const struct packed *p = &g->across;
    clear(p, g->levels);
    add_transposed(p, g->a->C, s->S, p->S);
    add_transposed(p, g->a->C, s->S_part, g->levels ? p->part : p->S);
    g->count = s->count;
}

/* R starts as the gradient of the final state. */
static void start_backward(struct grad *g)
{
    const struct tarn_attn *a = g->a;
    clear(&g->across, g->levels);
    clear(&g->R, g->levels);
    memset(g->f.z, 0, 2 * g->f.padded * sizeof(real));
    g->count = 0;
    if (a->dS) add_transposed(&g->across, a->C, a->dS, g->across.S);
    if (a->dS) pack(&g->R, a->dS, a->M, g->R.S);
    if (a->dz) memcpy(g->f.z, a->dz, a->C * sizeof(real));
}

/* The gradient of the initial state is R after its last step: every query reads it. */
static void write_state_grad(struct grad *g)
{
    const struct tarn_attn *a = g->a;
    if (!a->dS0) return;
    carry(g->f.padded, g->f.z_part, g->f.z);
    if (g->levels) carry_packed(&g->R);
    unpack(&g->R, g->R.S, a->dS0, a->M);
    memcpy(a->dz0, g->f.z, a->C * sizeof(real));
}

/* Counts n tokens; at the end of a stretch the partial sums go into the totals. */
static void count_tokens(struct grad *g, size_t n, bool backwards)
{
    g->count += n;
    if (g->count < STRETCH) return;
    g->count = 0;
    carry(g->f.padded, g->f.z_part, g->f.z);
    if (g->levels) carry_packed(&g->across);
    if (g->levels && backwards) carry_packed(&g->R);
}

/* How many of the tokens that are left make the next block. */
static size_t next_block(const struct grad *g, size_t left)
{
    const size_t room = STRETCH - g->count, n = left < BLOCK ? left : BLOCK;
    return n < room ? n : room;
}

/* ---- What waits in dk and dv ---------------------------------------------------------------- */

/* A head of one feature and one value has room for two numbers a token and not a bit more:
 * the last bit of gd, which rounding has made anyway, says whether a row is rare. */
union marked {
    real value;
    whole bits;
};

static void keep_token(const struct grad *g, size_t i, size_t t)
{
    union marked gd = {.value = g->gd[t]};
    const bool rare = is_rare(&g->f, t);
    gd.bits = (gd.bits & ~(whole)1) | rare;
    ((real *)g->a->dk)[i] = gd.value;
    ((real *)g->a->dv)[i] = rare ? g->f.den[t] : g->f.scale[t];
}

static void find_token(struct grad *g, size_t i, size_t t)
{
    const union marked gd = {.value = ((const real *)g->a->dk)[i]};
    const real kept = ((const real *)g->a->dv)[i];
    const bool rare = gd.bits & 1;
    g->gd[t] = gd.value;
    g->f.den[t] = rare ? kept : 0;
    g->f.scale[t] = !rare ? kept : kept == 0 ? 0 : 1;
    g->f.any_rare |= rare;
}

/* ---- Forwards -------------------------------------------------------------------------- */

/* rows += gd_t z_t, where z grows from token to token as it did in features_make. */
static void add_z(struct grad *g, size_t n)
{
    const size_t padded = g->f.padded;
    for (size_t c = 0; c < padded; c += LANES) {
        const vec z = load(g->f.z + c);
        vec part = load(g->f.z_before + c);
        for (size_t t = 0; t < n; t++) {
            real *row = g->rows + t * padded + c;
            part += load(g->f.k + t * padded + c);
            store(row, load(row) + splat(g->gd[t]) * (z + part));
        }
    }
}

/* Rows from the i-th on, and from there back. */
static struct rows rows_of(const void *x, size_t width, size_t i)
{
    return (struct rows){(const real *)x + i * width, (ptrdiff_t)width};
}

static struct rows rows_before(const void *x, size_t width, size_t i)
{
    return (struct rows){(const real *)x + i * width - width, -(ptrdiff_t)width};
}

/* u, which is dphi(q) but for gd z. */
static void sum_for_queries(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t padded = g->f.padded;
    const struct rows v = rows_of(a->v, a->M, i);
    struct tokens x = {.q = rows_of(g->Gn, g->padded, 0),
                       .k = v,
                       .v = rows_of(g->f.k, padded, 0),
                       .out = g->rows,
                       .out_stride = (ptrdiff_t)padded,
                       .scale = ones,
                       .streams = {rows_of(a->dout, a->M, i), v}};
    recur(&g->across, n, &x);
}

static void forward_block(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    features_make(&g->f, a, i, n, true);
    make_Gn(&g->f, a, i, n, 0, g->Gn, g->padded);
    sum_for_queries(g, i, n);
    make_gd(&g->f, n, g->rows, g->f.padded, g->gd);
    add_z(g, n);
    if (!query_rows(&g->f, a, i, n, g->rows, g->f.padded)) g->a->suspect = true;
    for (size_t t = 0; t < n; t++) keep_token(g, i + t, t);
}

/* ---- Backwards --------------------------------------------------------------------------- */

/* Features again, and Gn. */
static void find_block(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    feature_rows(map_of(a), n, a->C, (const real *)a->q + i * a->C, -AHEAD, g->f.q);
    features_of_keys(&g->f, a, i, n, -AHEAD);
    g->f.any_rare = false;
    for (size_t t = 0; t < n; t++) {
        find_token(g, i + t, t);
        if (is_rare(&g->f, t) && a->phi != TARN_PHI_NONE)
            rare_features(a, i + t, g->f.q + t * g->f.padded);
    }
    make_Gn(&g->f, a, i, n, 0, g->Gn, g->padded);
}

/* rows += r_t, where r grows from the last token back. */
static void add_r(struct grad *g, size_t n)
{
    const size_t padded = g->f.padded;
    for (size_t c = 0; c < padded; c += LANES) {
        const vec r = load(g->f.z + c);
        vec part = load(g->f.z_part + c);
        for (size_t t = n; t-- > 0;) {
            real *row = g->rows + t * padded + c;
            part += splat(g->gd[t]) * load(g->f.q + t * padded + c);
            store(row, load(row) + (r + part));
        }
        store(g->f.z_part + c, part);
    }
}

/* dphi(k), but for r. */
static void sum_for_keys(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t padded = g->f.padded;
    const struct rows v = rows_before(a->v, a->M, i + n);
    struct tokens x = {.q = v,
                       .k = rows_before(g->Gn, g->padded, n),
                       .v = rows_before(g->f.q, padded, n),
                       .out = g->rows + (n - 1) * padded,
                       .out_stride = -(ptrdiff_t)padded,
                       .scale = ones,
                       .streams = {v, rows_before(a->dk, a->C, i + n)}};
    recur(&g->across, n, &x);
}

/* dv, where it stays. */
static void sum_for_values(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t M = a->M, padded = g->f.padded;
    struct tokens x = {
        .q = rows_before(g->f.k, padded, n),
        .k = rows_before(g->f.q, padded, n),
        .v = rows_before(g->Gn, g->padded, n),
        .out = (real *)a->dv + (i + n - 1) * M,
        .out_stride = -(ptrdiff_t)M,
        .scale = ones,
        .streams = {rows_before(a->dout, M, i + n), rows_before(a->dv, M, i + n)}};
    recur(&g->R, n, &x);
}

static void backward_block(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t M = a->M;
    find_block(g, i, n);
    sum_for_keys(g, i, n);
    sum_for_values(g, i, n);
    add_r(g, n);
    if (!key_rows(&g->f, a, i, n, g->rows, g->f.padded, -AHEAD) ||
        !finite_rows(n, M, (const real *)a->dv + i * M, (ptrdiff_t)M))
        g->a->suspect = true;
}

static tarn_status sweep(struct grad *g)
{
    const size_t N = g->a->N;
    start_forward(g);
    for (size_t i = 0, n; i < N; i += n) {
        if (tarn_interrupted(g->a->ctx)) return TARN_EINTR;
        n = next_block(g, N - i);
        forward_block(g, i, n);
        count_tokens(g, n, false);
    }
    start_backward(g);
    for (size_t left = N, n; left > 0; left -= n) {
        if (tarn_interrupted(g->a->ctx)) return TARN_EINTR;
        n = next_block(g, left);
        backward_block(g, left - n, n);
        count_tokens(g, n, true);
    }
    write_state_grad(g);
    return TARN_OK;
}

static tarn_status prefix_grad_levels(struct tarn_attn *a)
{
    struct grad g = open_grad(a, true);
    return sweep(&g);
}

static tarn_status prefix_grad_plain(struct tarn_attn *a)
{
    struct grad g = open_grad(a, false);
    return sweep(&g);
}

const struct tarn_form FAST(tarn_fast_prefix_grad) = {.naive = prefix_grad_plain,
                                                      .accurate = prefix_grad_levels,
                                                      .work = prefix_grad_work,
                                                      .flops = tarn_causal_grad_flops,
                                                      .fused = true,
                                                      .looks = true};
