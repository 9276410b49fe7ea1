/* sim_grad.c: the gradient of stage 1, tuned. Chapter 10; the equations are those of
 * src/stages/sim.c.
 *
 *     Gn_i = dout_i / den_i,  gd_i = -(Gn_i . out_i),  ds_ij = s_ij (Gn_i . v_j + gd_i)
 *     dv_j = sum_i s_ij Gn_i,  dk_j = sum_i ds_ij q_i,  dq_i = sum_j ds_ij k_j
 *
 * (rbf: ds_ij (q_i - k_j) and ds_ij (k_j - q_i)).
 *
 * A block of queries meets the keys twice: once for its output and denominators, then for
 * ds, whose similarities are computed again and not kept. Each of the sums is a product of
 * the tile in products.h with a block of scores, which are read with the queries as rows
 * (dq) or the keys (dk, dv). So memory does not grow with N.
 *
 * dk and dv are summed in registers over a block of queries and then added to the result;
 * dq is summed in three levels, as the output is. */
#include "fast/averages.h"
#include "fast/fast.h"
#include "stages/flops.h"

/* A block of queries on its way back. */
struct gradients {
    struct averages g;
    real *ds;              /* [KEYS][QUERIES] */
    real *Gn, *Gn_columns; /* [group][QUERIES][WIDTH], and transposed as queries are */
    real *q;               /* [group][QUERIES][WIDTH], as they are or as features */
    real *dq, *dq_part;    /* the same */
    real gd[QUERIES], live[QUERIES]; /* live: 1, or 0 if no key reaches the query */
    real ones[KEYS];
};

static size_t grad_work(const struct tarn_attn *a)
{
    return averages_size(a) +
           QUERIES * (KEYS + a->M + whole_groups(a->M) + 3 * whole_groups(a->C));
}

static struct gradients gradients_in(const struct tarn_attn *a)
{
    real *work = a->work;
    struct gradients d = {.g = averages_in(work, a)};
    d.ds = work + averages_size(a);
    d.Gn_columns = d.ds + KEYS * QUERIES;
    d.Gn = d.Gn_columns + a->M * QUERIES;
    d.q = d.Gn + QUERIES * whole_groups(a->M);
    d.dq = d.q + QUERIES * whole_groups(a->C);
    d.dq_part = d.dq + QUERIES * whole_groups(a->C);
    for (size_t t = 0; t < KEYS; t++) d.ones[t] = 1;
    return d;
}

/* ---- Queries ----------------------------------------------------------------------------- */

/* Where element c of row i is in [group][QUERIES][WIDTH]. */
INLINE size_t place(size_t i, size_t c)
{
    return c / WIDTH * WIDTH * QUERIES + i * WIDTH + c % WIDTH;
}

/* Gn_i and gd_i, when the sums of the block are complete. */
static void open_row(struct gradients *d, size_t i)
{
    const struct averages *g = &d->g;
    const size_t M = g->M;
    const real *dout = (const real *)g->b.a->dout + (g->b.first + i) * M;
    const real den = den_of_row(g, i);
    real *column = d->Gn_columns + i / WIDTH * WIDTH * M + i % WIDTH, gd = 0;
    d->live[i] = den != 0;
    for (size_t m = 0; m < M && den != 0; m++) {
        const size_t at = place(i, m);
        const real Gn = dout[m] / den;
        d->Gn[at] = column[m * WIDTH] = Gn;
        gd -= Gn * ((g->out[at] + g->out_part[at]) / den);
    }
    d->gd[i] = gd;
}

/* Query i of the block side by side with its neighbours. */
static void copy_query(struct gradients *d, size_t i)
{
    const struct scores *b = &d->g.b;
    const size_t C = b->a->C;
    const real *q_i = (const real *)b->a->q + (b->first + i) * C;
    const real *feature = b->q + i / WIDTH * WIDTH * C + i % WIDTH;
    for (size_t c = 0; c < C; c++)
        d->q[place(i, c)] = makes_features(b->a) ? feature[c * WIDTH] : q_i[c];
}

static void open_rows(struct gradients *d)
{
    const struct tarn_attn *a = d->g.b.a;
    memset(d->Gn, 0, QUERIES * whole_groups(a->M) * sizeof(real));
    memset(d->Gn_columns, 0, QUERIES * a->M * sizeof(real));
    memset(d->q, 0, 3 * QUERIES * whole_groups(a->C) * sizeof(real));
    memset(d->gd, 0, sizeof d->gd);
    memset(d->live, 0, sizeof d->live);
    for (size_t i = 0; i < d->g.b.n; i++) {
        copy_query(d, i);
        open_row(d, i);
    }
}

static void close_rows(const struct gradients *d)
{
    const struct scores *b = &d->g.b;
    const struct tarn_attn *a = b->a;
    const size_t C = a->C, at = b->first * C;
    real *dq = (real *)a->dq + at;
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < C; c++)
            dq[i * C + c] = d->dq[place(i, c)] + d->dq_part[place(i, c)];
    if (makes_features(a))
        TYPED(tarn_phi_rows)
            .grad_scaled(a->phi, b->n, C, (const real *)a->q + at, b->pivot, dq, dq);
}

/* ---- Keys -------------------------------------------------------------------------------- */

static __attribute__((noinline)) void weights_grad(struct gradients *d, size_t i)
{
    const struct scores *b = &d->g.b;
    const size_t M = d->g.M;
    const struct product x = {.a = (const real *)b->a->v + b->key * M,
                              .a_row = (ptrdiff_t)M,
                              .a_step = 1,
                              .b = d->Gn_columns + i * M,
                              .b_step = WIDTH,
                              .out = d->ds + i,
                              .out_row = QUERIES};
    product(SET, b->keys, b->n - i, M, x, d->ones);
}

/* ds of LANES queries from the i-th on, from Gn_i . v_j, which ds holds. */
INLINE void scores_grad(struct gradients *d, size_t i, bool exponent)
{
    const struct scores *b = &d->g.b;
    const ivec last = last_visible(b, i), live = load(d->live + i) > splat(0);
    const vec gd = load(d->gd + i), scale = splat((real)b->a->scale);
    for (size_t t = 0; t < b->keys; t++) {
        real *to = d->ds + t * QUERIES + i;
        vec ds = (load(to) + gd) * scale;
        if (exponent) ds *= load(b->s + t * QUERIES + i);
        store(to, choose(live & sees(last, t), ds, splat(0)));
    }
}

/* The first query that sees key t of the block, or all of them. */
static size_t first_to_see(const struct scores *b, size_t t)
{
    const size_t past = b->a->past + b->first, key = b->key + t;
    if (!b->a->causal || key <= past) return 0;
    return key - past < b->n ? key - past : b->n;
}

/* For `rows` keys from key t of the block on, and the queries from the i-th up to the
 * end-th. */
static void gather(struct group g, size_t t, size_t rows, size_t i, size_t end)
{
    const struct product a = {
        .a = g.s + t * QUERIES + i, .a_row = QUERIES, .a_step = 1};
    sum_group(g, a, t, rows, i, end - i);
}

/* The same for all keys of the block. Queries that do not see a key are left out. */
static void gather_visible(const struct scores *b, struct group g)
{
    if (all_visible(b)) {
        gather(g, 0, b->keys, 0, b->n);
        return;
    }
    for (size_t t = 0, rows; t < b->keys; t += rows) {
        rows = b->keys - t < ROWS ? b->keys - t : ROWS;
        const size_t all = first_to_see(b, t + rows - 1);
        gather(g, t, rows, all, b->n);
        for (size_t r = 0; r + 1 < rows; r++)
            gather(g, t + r, 1, first_to_see(b, t + r), all);
    }
}

/* out_j += sum_i s_ij x_i over the block; x [group][QUERIES][WIDTH], out [N, columns]. With
 * `pull`, x pulls at the keys. */
static void spread(const struct gradients *d, const real *s, const real *x,
                   size_t columns, bool pull, void *out)
{
    const struct scores *b = &d->g.b;
    real k_copy[KEYS * WIDTH], out_copy[KEYS * WIDTH];
    for (size_t c = 0; c < columns; c += WIDTH) {
        const size_t left = columns - c;
        real *out_c = (real *)out + b->key * columns + c;
        struct group g = {.columns = left,
                          .s = s,
                          .x = x + c * QUERIES,
                          .x_stride = WIDTH,
                          .from_stride = (ptrdiff_t)b->k_stride,
                          .out = out_copy,
                          .out_stride = WIDTH};
        if (pull) g.from = group_of(b->k + c, &g.from_stride, b->keys, left, k_copy);
        if (fits(left)) {
            g.out = out_c;
            g.out_stride = (ptrdiff_t)columns;
            gather_visible(b, g);
            continue;
        }
        for (size_t t = 0; t < b->keys; t++)
            memcpy(out_copy + t * WIDTH, out_c + t * columns, left * sizeof(real));
        gather_visible(b, g);
        for (size_t t = 0; t < b->keys; t++)
            memcpy(out_c + t * columns, out_copy + t * WIDTH, left * sizeof(real));
    }
}

/* From one block of keys to the gradients of everything in it. */
static void grad_block(struct gradients *d)
{
    const struct scores *b = &d->g.b;
    const struct tarn_attn *a = b->a;
    const bool pull = a->by == TARN_RBF;
    for (size_t i = 0; i < b->n; i += WIDTH) weights_grad(d, i);
    for (size_t i = 0; i < b->n; i += LANES) scores_grad(d, i, has_exponent(a));
    weigh_rows(b, d->ds, b->k, b->k_stride, a->C, pull ? d->q : NULL, d->dq_part);
    spread(d, d->ds, d->q, a->C, pull, a->dk);
    spread(d, b->s, d->Gn, a->M, false, a->dv);
}

static void carry_dq(struct gradients *d)
{
    carry(QUERIES * whole_groups(d->g.b.a->C), d->dq_part, d->dq);
}

static tarn_status grad_queries(struct gradients *d, size_t first)
{
    struct scores *b = &d->g.b;
    if (average_block(&d->g, first)) return TARN_EINTR;
    open_rows(d);
    const size_t seen = keys_seen(b);
    for (size_t j = 0; j < seen; j += KEYS) {
        if (tarn_interrupted(b->a->ctx)) return TARN_EINTR;
        score_keys(b, j, seen - j < KEYS ? seen - j : KEYS);
        similarities(&d->g, false);
        grad_block(d);
        if (j % STRETCH == STRETCH - KEYS) carry_dq(d);
    }
    close_rows(d);
    return TARN_OK;
}

/* From gradients of features to those of the keys, in place. */
static tarn_status keys_through_phi(const struct tarn_attn *a)
{
    for (size_t j = 0; j < a->N; j += KEYS) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        const size_t rows = a->N - j < KEYS ? a->N - j : KEYS;
        real *dk = (real *)a->dk + j * a->C;
        TYPED(tarn_phi_rows)
            .grad(a->phi, rows, a->C, (const real *)a->k + j * a->C, dk, dk);
    }
    return TARN_OK;
}

static tarn_status sim_grad(struct tarn_attn *a)
{
    struct gradients d = gradients_in(a);
    memset(a->dk, 0, a->N * a->C * sizeof(real));
    memset(a->dv, 0, a->N * a->M * sizeof(real));
    for (size_t i = 0; i < a->N_q; i += QUERIES)
        if (grad_queries(&d, i)) return TARN_EINTR;
    return makes_features(a) ? keys_through_phi(a) : TARN_OK;
}

const struct tarn_form FAST(tarn_fast_sim_grad) = {.naive = sim_grad,
                                                   .accurate = sim_grad,
                                                   .work = grad_work,
                                                   .flops = tarn_sim_grad_flops,
                                                   .fused = true};
