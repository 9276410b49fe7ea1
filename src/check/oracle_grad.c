/* oracle_grad.c: the derivative of the double sum, pair by pair. Chapter 7.
 *
 * With w_ij = sim_ij / den_i the output is out_i = sum_j w_ij v_j, and for a loss with
 * dout_i = dL / dout_i
 *
 *     dL/dv_j    = sum_i w_ij dout_i
 *     dL/dsim_ij = (dout_i . v_j - dout_i . out_i) / den_i
 *
 * the second term being the denominator's. From the similarity it goes on to the pair:
 * sim = phi(q).phi(k) to phi(q) along phi(k), softmax to q along sim k, rbf to q along
 * sim (k - q). Pass 2 visits the keys of each query, pass 3 the queries of each key. */
#include "check/oracle_run.h"
#include "core/parallel.h"

/* One pair's share: w = w_ij and g, what goes along phi(k_j) to phi(q_i) and back, each
 * with its magnitude. */
struct share {
    double w, w_size, g, g_size;
};

static struct share share_of(const struct tarn_oracle_run *o, size_t i, size_t j)
{
    const struct tarn_oracle_query *query = &o->query[i];
    if (query->den == 0) return (struct share){0};

    const double *dout = o->dout + i * o->M, *v = o->v + j * o->M;
    double dout_v = 0, size = 0;
    for (size_t m = 0; m < o->M; m++) {
        dout_v += dout[m] * v[m];
        size += fabs(dout[m] * v[m]);
    }
    const struct tarn_oracle_pair s = tarn_oracle_similarity(o, i, j);
    const double e = exp(s.l - query->top) / query->den;
    return (struct share){
        .w = s.m * e,
        .w_size = s.size * fabs(e) * query->kappa,
        .g = o->scale * e * (dout_v - query->gd),
        .g_size = fabs(o->scale * e) * (query->kappa * size + query->gd_size),
    };
}

/* What the gradient to x_i flows along: y_j, for rbf y_j - x_i. */
static const double *direction(const struct tarn_oracle_run *o, const double *x_i,
                               const double *y_j, double *difference)
{
    if (o->by != TARN_RBF) return y_j;
    for (size_t c = 0; c < o->D; c++) difference[c] = y_j[c] - x_i[c];
    return difference;
}

/* The gradient of features, before it is carried back through phi. */
struct features_grad {
    double *value, *size;
};

struct gradients {
    struct tarn_oracle_run *o;
    struct features_grad q, k; /* [B H N', C], [B H N, C] */
};

/* Writes n sums and their magnitudes. */
static void write_sums(size_t n, struct tarn_oracle_acc a, double *value, double *size)
{
    for (size_t c = 0; c < n; c++) {
        value[c] = tarn_acc_value(a, c);
        size[c] = a.size[c];
    }
}

/* ---- Pass 2: queries ------------------------------------------------------------------- */

/* The state's share of phi(q_i): along S0 dout_i and z0. */
static void add_state_share(const struct tarn_oracle_run *o, size_t i,
                            struct tarn_oracle_acc a)
{
    const struct tarn_oracle_query *query = &o->query[i];
    if (!o->S0 || query->den == 0) return;
    const double e = exp(o->q.shift[i] - query->top) / query->den;
    const double *dout = o->dout + i * o->M;
    for (size_t c = 0; c < o->C; c++) {
        const size_t row = i / o->N_q * o->C + c;
        const double *S_c = o->S0 + row * o->M, z_c = o->z0[row];
        for (size_t m = 0; m < o->M; m++) {
            tarn_two_sum(e * S_c[m] * dout[m], &a.sum[c], &a.rest[c]);
            a.size[c] += fabs(e * S_c[m] * dout[m]) * query->kappa;
        }
        tarn_two_sum(-e * query->gd * z_c, &a.sum[c], &a.rest[c]);
        a.size[c] += fabs(e * z_c) * query->gd_size;
    }
}

static void query_grad(struct gradients *g, size_t i, struct tarn_oracle_strip *t)
{
    const struct tarn_oracle_run *o = g->o;
    const double *q_i = o->q.f + i * o->C;
    const size_t n = tarn_oracle_keys_seen(o, i), first = i / o->N_q * o->N;
    tarn_acc_zero(o->C, t->a);
    for (size_t j = first; j < first + n; j++) {
        const struct share s = share_of(o, i, j);
        const double *along = direction(o, q_i, o->k.f + j * o->C, t->difference);
        tarn_acc_add(o->C, s.g, s.g_size, along, t->a);
    }
    add_state_share(o, i, t->a);
    write_sums(o->C, t->a, g->q.value + i * o->C, g->q.size + i * o->C);
}

static tarn_status query_strip(void *data, size_t strip)
{
    struct gradients *g = data;
    for (size_t i = strip; i < g->o->q.R; i += TARN_ORACLE_STRIPS) {
        if (tarn_interrupted(g->o->ctx)) return TARN_EINTR;
        query_grad(g, i, &g->o->strip[strip]);
    }
    return TARN_OK;
}

/* ---- Pass 3: keys ---------------------------------------------------------------------- */

/* What arrives at the final state S_N = .. + phi(k_j) v_j^T, z_N = .. + phi(k_j). */
static void add_final_share(const struct tarn_oracle_run *o, size_t j,
                            struct tarn_oracle_strip *t)
{
    const double *f = o->k.f + j * o->C, *v = o->v + j * o->M, e = exp(o->k.shift[j]);
    for (size_t c = 0; c < o->C; c++) {
        const size_t row = j / o->N * o->C + c;
        if (o->dz) {
            tarn_two_sum(e * o->dz[row], &t->a.sum[c], &t->a.rest[c]);
            t->a.size[c] += fabs(e * o->dz[row]);
        }
        if (!o->dS) continue;
        const double *dS_c = o->dS + row * o->M;
        tarn_acc_add(o->M, e * f[c], fabs(e * f[c]), dS_c, t->b);
        for (size_t m = 0; m < o->M; m++) {
            tarn_two_sum(e * dS_c[m] * v[m], &t->a.sum[c], &t->a.rest[c]);
            t->a.size[c] += fabs(e * dS_c[m] * v[m]);
        }
    }
}

static void key_grad(struct gradients *g, size_t j, struct tarn_oracle_strip *t)
{
    const struct tarn_oracle_run *o = g->o;
    const size_t head = j / o->N, first = head * o->N_q;
    const double *k_j = o->k.f + j * o->C;
    tarn_acc_zero(o->C, t->a);
    tarn_acc_zero(o->M, t->b);
    for (size_t i = first; i < first + o->N_q; i++) {
        if (j % o->N >= tarn_oracle_keys_seen(o, i)) continue;
        const struct share s = share_of(o, i, j);
        const double *along = direction(o, k_j, o->q.f + i * o->C, t->difference);
        tarn_acc_add(o->C, s.g, s.g_size, along, t->a);
        tarn_acc_add(o->M, s.w, s.w_size, o->dout + i * o->M, t->b);
    }
    add_final_share(o, j, t);
    write_sums(o->C, t->a, g->k.value + j * o->C, g->k.size + j * o->C);
    write_sums(o->M, t->b, (double *)o->result.dv.value->data + j * o->M,
               (double *)o->result.dv.magnitude->data + j * o->M);
}

static tarn_status key_strip(void *data, size_t strip)
{
    struct gradients *g = data;
    for (size_t j = strip; j < g->o->k.R; j += TARN_ORACLE_STRIPS) {
        if (tarn_interrupted(g->o->ctx)) return TARN_EINTR;
        key_grad(g, j, &g->o->strip[strip]);
    }
    return TARN_OK;
}

/* ---- Pass 4: the initial state --------------------------------------------------------- */

/* Row c of dS0 and entry c of dz0, `row` counting the rows of all heads. */
static void state_grad(const struct tarn_oracle_run *o, size_t row,
                       struct tarn_oracle_strip *t)
{
    const size_t first = row / o->C * o->N_q, c = row % o->C;
    const struct tarn_oracle_acc z = {t->b.sum, t->b.rest, t->b.size};
    tarn_acc_zero(o->M, t->a);
    z.sum[0] = z.rest[0] = z.size[0] = 0;
    if (o->dS) tarn_acc_add(o->M, 1, 1, o->dS + row * o->M, t->a);
    if (o->dz) tarn_acc_add(1, 1, 1, o->dz + row, z);
    for (size_t i = first; i < first + o->N_q; i++) {
        const struct tarn_oracle_query *query = &o->query[i];
        if (query->den == 0) continue;
        const double e = exp(o->q.shift[i] - query->top) / query->den;
        const double w = o->q.f[i * o->C + c] * e;
        tarn_acc_add(o->M, w, fabs(w) * query->kappa, o->dout + i * o->M, t->a);
        tarn_two_sum(-w * query->gd, &z.sum[0], &z.rest[0]);
        z.size[0] += fabs(w) * query->gd_size;
    }
    write_sums(o->M, t->a, (double *)o->result.dS0.value->data + row * o->M,
               (double *)o->result.dS0.magnitude->data + row * o->M);
    write_sums(1, z, (double *)o->result.dz0.value->data + row,
               (double *)o->result.dz0.magnitude->data + row);
}

static tarn_status state_strip(void *data, size_t strip)
{
    struct gradients *g = data;
    struct tarn_oracle_run *o = g->o;
    for (size_t row = strip; row < o->B * o->H * o->C; row += TARN_ORACLE_STRIPS) {
        if (tarn_interrupted(o->ctx)) return TARN_EINTR;
        state_grad(o, row, &o->strip[strip]);
    }
    return TARN_OK;
}

/* ---- The whole ------------------------------------------------------------------------- */

static tarn_status new_features_grad(const struct tarn_oracle_rows *rows,
                                     struct features_grad *df)
{
    df->value = tarn_alloc(rows->ctx, rows->R * rows->C, sizeof *df->value);
    df->size =
        df->value ? tarn_alloc(rows->ctx, rows->R * rows->C, sizeof *df->size) : NULL;
    return df->size ? TARN_OK : TARN_ENOMEM;
}

static tarn_status new_results(struct gradients *g)
{
    struct tarn_oracle_run *o = g->o;
    const struct tarn_oracle_problem *p = o->problem;
    tarn_status status = tarn_oracle_new_sum(o, p->q, &o->result.dq);
    if (!status) status = tarn_oracle_new_sum(o, p->k, &o->result.dk);
    if (!status) status = tarn_oracle_new_sum(o, p->v, &o->result.dv);
    if (!status && o->S0) status = tarn_oracle_new_sum(o, p->S0, &o->result.dS0);
    if (!status && o->S0) status = tarn_oracle_new_sum(o, p->z0, &o->result.dz0);
    if (!status) status = new_features_grad(&o->q, &g->q);
    if (!status) status = new_features_grad(&o->k, &g->k);
    return status;
}

static tarn_status pull(const struct tarn_oracle_rows *rows, struct features_grad df,
                        struct tarn_oracle_sum dx)
{
    tarn_status status = tarn_oracle_pull(rows, false, df.value, dx.value->data);
    return status ? status : tarn_oracle_pull(rows, true, df.size, dx.magnitude->data);
}

static tarn_status run_passes(struct gradients *g)
{
    struct tarn_oracle_run *o = g->o;
    tarn_context *ctx = o->ctx;
    const size_t strips = TARN_ORACLE_STRIPS;
    tarn_status status = new_results(g);
    if (!status)
        status = tarn_parallel(ctx, o->problem->function, strips, query_strip, g);
    if (!status)
        status = tarn_parallel(ctx, o->problem->function, strips, key_strip, g);
    if (!status && o->S0)
        status = tarn_parallel(ctx, o->problem->function, strips, state_strip, g);
    if (!status) status = pull(&o->q, g->q, o->result.dq);
    if (!status) status = pull(&o->k, g->k, o->result.dk);
    return status;
}

tarn_status tarn_oracle_gradients(struct tarn_oracle_run *o)
{
    struct gradients g = {.o = o};
    tarn_status status = run_passes(&g);
    tarn_release(g.q.value);
    tarn_release(g.q.size);
    tarn_release(g.k.value);
    tarn_release(g.k.size);
    return status;
}
