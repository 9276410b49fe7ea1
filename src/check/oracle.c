/* oracle.c: what attention should give, as the double sum of eq 3 in float64. Chapter 8.
 *
 *     out_i = sum_j sim_ij v_j / (sum_j sim_ij + eps)       causal: j <= i (eqs 8-9)
 *
 * An initial state counts as one more key, of similarity phi(q_i).z0 and numerator
 * phi(q_i)^T S0. Similarities are m exp(l); where l matters, a row is divided by exp(top),
 * its largest term, eps being one of them. Sums are compensated, so the oracle's own error
 * does not grow with N. */
#include "check/oracle_run.h"
#include "core/parallel.h"

/* ---- Similarity of one pair ------------------------------------------------------------ */

/* x.y and the sum of its absolute terms; four lanes, for speed. */
static double dot(size_t n, const double *x, const double *y, double *size)
{
    double sum[4] = {0}, abs[4] = {0};
    for (size_t c = 0; c < n; c++) {
        sum[c % 4] += x[c] * y[c];
        abs[c % 4] += fabs(x[c] * y[c]);
    }
    *size = (abs[0] + abs[1]) + (abs[2] + abs[3]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double squared_distance(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t c = 0; c < n; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

struct tarn_oracle_pair tarn_oracle_similarity(const struct tarn_oracle_run *o,
                                               size_t i, size_t j)
{
    const double *q_i = o->q.f + i * o->C, *k_j = o->k.f + j * o->C;
    struct tarn_oracle_pair s = {.m = 1, .size = 1};
    double size;
    switch (o->by) {
    case TARN_SOFTMAX:
        s.l = o->scale * dot(o->C, q_i, k_j, &size);
        s.exponent = fabs(o->scale) * size;
        break;
    case TARN_RBF:
        s.l = -o->scale * squared_distance(o->C, q_i, k_j) / 2;
        s.exponent = fabs(s.l);
        break;
    case TARN_PHI:
        s.m = o->scale * dot(o->C, q_i, k_j, &size);
        s.size = fabs(o->scale) * size;
        s.l = o->q.shift[i] + o->k.shift[j];
        break;
    case TARN_PAIR:
        s.m = o->scale * o->pairs[i * o->N + j % o->N];
        s.size = fabs(s.m);
        break;
    }
    return s;
}

size_t tarn_oracle_keys_seen(const struct tarn_oracle_run *o, size_t i)
{
    const tarn_options *options = o->problem->options;
    const size_t head = i / o->N_q, seen = o->problem->past + i % o->N_q + 1;
    size_t n = o->N;
    if (options->lengths_count) n = (size_t)options->lengths[head / o->H];
    return options->causal && seen < n ? seen : n;
}

/* ---- Pass 1: one query ----------------------------------------------------------------- */

/* Writes the similarities of query i to the n keys it sees, with the state as key n. */
static void similarities(const struct tarn_oracle_run *o, size_t i, size_t n,
                         struct tarn_oracle_strip *t)
{
    const size_t head = i / o->N_q;
    for (size_t j = 0; j < n; j++) {
        struct tarn_oracle_pair s = tarn_oracle_similarity(o, i, head * o->N + j);
        t->m[j] = s.m;
        t->l[j] = s.l;
        t->size[j] = s.size;
        t->exponent = fmax(t->exponent, s.exponent);
    }
    t->m[n] = t->l[n] = t->size[n] = 0;
    if (!o->S0) return;
    t->m[n] = dot(o->C, o->q.f + i * o->C, o->z0 + head * o->C, &t->size[n]);
    t->l[n] = o->q.shift[i];
}

/* The logarithm of a row's largest term, eps being one of them; 0 where no term has an
 * exponent, and the numbers are left as they are. */
static double largest(const struct tarn_oracle_run *o, size_t count,
                      const struct tarn_oracle_strip *t)
{
    double top = o->eps > 0 ? log(o->eps) : -HUGE_VAL;
    bool plain = true;
    for (size_t j = 0; j < count; j++) {
        plain = plain && t->l[j] == 0;
        if (t->m[j] != 0) top = fmax(top, t->l[j] + log(fabs(t->m[j])));
    }
    return isfinite(top) && !plain ? top : 0;
}

/* The state's part of the numerator. */
static void add_state(const struct tarn_oracle_run *o, size_t i, double w,
                      struct tarn_oracle_acc numerator)
{
    const double *f = o->q.f + i * o->C, *S = o->S0 + i / o->N_q * o->C * o->M;
    for (size_t c = 0; c < o->C; c++)
        tarn_acc_add(o->M, w * f[c], fabs(w * f[c]), S + c * o->M, numerator);
}

/* x e, 0 also where e is Inf: a term that is not there, such as a state that was not given,
 * has no scale. */
static double times(double x, double e)
{
    return x == 0 ? 0 : x * e;
}

/* Sums up query i: the numerator into t->a, the denominator into *query. */
static void sum_row(const struct tarn_oracle_run *o, size_t i, size_t n,
                    struct tarn_oracle_strip *t, struct tarn_oracle_query *query)
{
    const double *v = o->v + i / o->N_q * o->N * o->M;
    double den = 0, rest = 0, size = 0;
    query->top = largest(o, n + 1, t);
    for (size_t j = 0; j <= n; j++) {
        const double e = t->l[j] == query->top ? 1 : exp(t->l[j] - query->top);
        const double w = times(t->m[j], e), w_size = times(t->size[j], e);
        tarn_two_sum(w, &den, &rest);
        size += w_size;
        if (j < n)
            tarn_acc_add(o->M, w, w_size, v + j * o->M, t->a);
        else if (o->S0)
            add_state(o, i, e, t->a);
    }
    const double eps = o->eps > 0 ? o->eps * exp(-query->top) : 0;
    tarn_two_sum(eps, &den, &rest);
    query->den = isfinite(den) ? den + rest : den;
    query->kappa = isinf(query->den) ? 1 : (size + eps) / fabs(query->den);
}

/* out_i and its magnitude. A row that no key reaches is 0, by definition. */
static void average(struct tarn_oracle_run *o, size_t i, struct tarn_oracle_strip *t)
{
    const size_t n = tarn_oracle_keys_seen(o, i);
    struct tarn_oracle_query *query = &o->query[i];
    double *out = (double *)o->result.out.value->data + i * o->M;
    double *size = (double *)o->result.out.magnitude->data + i * o->M;
    tarn_acc_zero(o->M, t->a);
    similarities(o, i, n, t);
    sum_row(o, i, n, t, query);
    for (size_t m = 0; m < o->M; m++) {
        out[m] = query->den == 0 ? 0 : tarn_acc_value(t->a, m) / query->den;
        size[m] =
            t->a.size[m] == 0 ? 0 : t->a.size[m] / fabs(query->den) * query->kappa;
        if (!o->dout) continue;
        query->gd += o->dout[i * o->M + m] * out[m];
        query->gd_size += fabs(o->dout[i * o->M + m]) * size[m];
    }
}

static tarn_status average_strip(void *data, size_t strip)
{
    struct tarn_oracle_run *o = data;
    for (size_t i = strip; i < o->B * o->H * o->N_q; i += TARN_ORACLE_STRIPS) {
        if (tarn_interrupted(o->ctx)) return TARN_EINTR;
        average(o, i, &o->strip[strip]);
    }
    return TARN_OK;
}

/* ---- Getting ready --------------------------------------------------------------------- */

/* Holds t as contiguous float64. */
static tarn_status hold(struct tarn_oracle_run *o, const tarn_tensor *t,
                        const double **data)
{
    *data = NULL;
    if (!t) return TARN_OK;
    tarn_status status = tarn_as(o->ctx, t, TARN_FLOAT64, &o->held[o->held_count]);
    if (status) return status;
    *data = o->held[o->held_count++]->data;
    return TARN_OK;
}

/* Holds t as rows [R, D] and makes their features. */
static tarn_status hold_rows(struct tarn_oracle_run *o, const tarn_tensor *t, size_t R,
                             struct tarn_oracle_rows *rows)
{
    const tarn_phi *phi = o->problem->options->phi;
    if (!phi) phi = tarn_phi_find("elu1");
    tarn_tensor *contiguous, *flat;
    tarn_status status = tarn_as(o->ctx, t, TARN_FLOAT64, &contiguous);
    if (status) return status;
    status = tarn_reshape(o->ctx, contiguous, 2, (size_t[]){R, o->D}, &flat);
    tarn_tensor_free(contiguous);
    if (status) return status;
    o->held[o->held_count++] = flat;
    return tarn_oracle_features(o->ctx, o->by == TARN_PHI ? phi : NULL, flat, rows);
}

static tarn_status misfit(const struct tarn_oracle_run *o, const char *name,
                          const tarn_tensor *t, const char *expected)
{
    return tarn_fail(o->ctx, TARN_ESHAPE,
                     "%s: %s is %s, expected %s to match q, which is %s",
                     o->problem->function, name, tarn_shape_text(t).text, expected,
                     tarn_shape_text(o->problem->q).text);
}

/* Tells whether t is [B, H, rows, columns], with as many leading extents as q has. */
static bool fits(const tarn_tensor *q, const tarn_tensor *t, size_t rows,
                 size_t columns)
{
    if (t->rank != q->rank) return false;
    for (int d = 0; d < q->rank - 2; d++)
        if (t->shape[d] != q->shape[d]) return false;
    return t->shape[t->rank - 2] == rows && t->shape[t->rank - 1] == columns;
}

static tarn_status read_sizes(struct tarn_oracle_run *o)
{
    const struct tarn_oracle_problem *p = o->problem;
    const tarn_tensor *q = p->q, *k = p->k, *v = p->v;
    if (q->rank < 2 || q->rank > 4) return misfit(o, "q", q, "rank 2 to 4");
    if (k->rank != q->rank) return misfit(o, "k", k, "the same rank");
    if (v->rank != q->rank) return misfit(o, "v", v, "the same rank");
    o->B = q->rank > 3 ? q->shape[0] : 1;
    o->H = q->rank > 2 ? q->shape[q->rank - 3] : 1;
    o->N_q = q->shape[q->rank - 2];
    o->D = q->shape[q->rank - 1];
    o->N = k->shape[k->rank - 2];
    o->M = v->shape[v->rank - 1];
    if (!fits(q, k, o->N, o->D)) return misfit(o, "k", k, "[.., N, D]");
    if (!fits(q, v, o->N, o->M)) return misfit(o, "v", v, "[.., N, M]");
    if (p->options->causal && o->N != p->past + o->N_q)
        return misfit(o, "k", k, "as many keys");
    if (p->dout && !fits(q, p->dout, o->N_q, o->M))
        return misfit(o, "dout", p->dout, "[.., N', M]");
    return TARN_OK;
}

static tarn_status read_options(struct tarn_oracle_run *o)
{
    const tarn_options *options = o->problem->options;
    o->by = options->by;
    o->eps = o->by == TARN_SOFTMAX ? 0 : options->eps;
    o->scale = options->scale;
    if (isnan(o->scale)) o->scale = o->by == TARN_SOFTMAX ? 1 / sqrt((double)o->D) : 1;
    if (options->lengths_count && options->lengths_count != o->B)
        return tarn_fail(o->ctx, TARN_EINVAL, "%s: lengths are %zu, expected B = %zu",
                         o->problem->function, options->lengths_count, o->B);
    for (size_t b = 0; b < options->lengths_count; b++)
        if (options->lengths[b] < 0 || (uint64_t)options->lengths[b] > o->N)
            return tarn_fail(
                o->ctx, TARN_EINVAL, "%s: length %zu is %lld, expected 0 to N = %zu",
                o->problem->function, b + 1, (long long)options->lengths[b], o->N);
    if (o->problem->dout && o->by == TARN_PAIR)
        return tarn_fail(o->ctx, TARN_EINVAL,
                         "%s: a function as similarity has no gradient",
                         o->problem->function);
    return TARN_OK;
}

/* Gives the state [C, M] and [C] of each head, which must fit the features. */
static tarn_status hold_state(struct tarn_oracle_run *o, const tarn_tensor *S,
                              const tarn_tensor *z, const double **S_data,
                              const double **z_data)
{
    const size_t heads = o->B * o->H;
    if (S && tarn_tensor_numel(S) != heads * o->C * o->M)
        return misfit(o, "S", S, "[.., C, M]");
    if (z && tarn_tensor_numel(z) != heads * o->C) return misfit(o, "z", z, "[.., C]");
    tarn_status status = hold(o, S, S_data);
    return status ? status : hold(o, z, z_data);
}

static tarn_status hold_inputs(struct tarn_oracle_run *o)
{
    const struct tarn_oracle_problem *p = o->problem;
    const size_t heads = o->B * o->H;
    tarn_status status = hold_rows(o, p->q, heads * o->N_q, &o->q);
    if (!status) status = hold_rows(o, p->k, heads * o->N, &o->k);
    if (!status && o->q.C != o->k.C)
        status = tarn_fail(o->ctx, TARN_ESHAPE,
                           "phi: %zu features of q, %zu of k, expected as many", o->q.C,
                           o->k.C);
    o->C = o->result.features = o->q.C;
    if (!status) status = hold(o, p->v, &o->v);
    if (!status) status = hold(o, p->dout, &o->dout);
    if (!status && p->S0) status = hold_state(o, p->S0, p->z0, &o->S0, &o->z0);
    if (!status) status = hold_state(o, p->options->dS, p->options->dz, &o->dS, &o->dz);
    return status;
}

/* Asks the user's function about one pair of rows. */
static tarn_status ask_pair(struct tarn_oracle_run *o, size_t i, size_t j)
{
    const tarn_options *options = o->problem->options;
    tarn_tensor *q_i, *k_j = NULL;
    tarn_status status = tarn_select(o->ctx, o->q.x, 0, i, &q_i);
    if (status) return status;
    status = tarn_select(o->ctx, o->k.x, 0, j, &k_j);
    if (!status)
        status = options->pair(o->ctx, options->user, q_i, k_j,
                               &o->pairs[i * o->N + j % o->N]);
    tarn_tensor_free(q_i);
    tarn_tensor_free(k_j);
    return status;
}

/* A function of the user's can't run on other threads, so all pairs are asked first. */
static tarn_status ask_pairs(struct tarn_oracle_run *o)
{
    const size_t rows = o->B * o->H * o->N_q;
    size_t n;
    if (o->by != TARN_PAIR) return TARN_OK;
    if (!tarn_product(rows, o->N, &n))
        return tarn_fail(o->ctx, TARN_ENOMEM, "%s: too many pairs",
                         o->problem->function);
    o->pairs = tarn_alloc(o->ctx, n, sizeof *o->pairs);
    tarn_status status = o->pairs ? TARN_OK : TARN_ENOMEM;
    for (size_t i = 0; !status && i < rows; i++) {
        status = tarn_poll(o->ctx, o->problem->function);
        for (size_t j = 0; !status && j < tarn_oracle_keys_seen(o, i); j++)
            status = ask_pair(o, i, i / o->N_q * o->N + j);
    }
    return status;
}

/* Deals scratch memory to the strips. */
static tarn_status new_scratch(struct tarn_oracle_run *o)
{
    const size_t wide = o->C > o->M ? o->C : o->M,
                 row = 3 * (o->N + 1) + o->D + 6 * wide;
    o->query = tarn_alloc(o->ctx, o->B * o->H * o->N_q, sizeof *o->query);
    o->scratch = o->query
                     ? tarn_alloc(o->ctx, TARN_ORACLE_STRIPS * row, sizeof *o->scratch)
                     : NULL;
    if (!o->scratch) return TARN_ENOMEM;
    for (size_t i = 0; i < o->B * o->H * o->N_q; i++)
        o->query[i] = (struct tarn_oracle_query){0};
    for (size_t s = 0; s < TARN_ORACLE_STRIPS; s++) {
        double *p = o->scratch + s * row, *sums = p + 3 * (o->N + 1) + o->D;
        o->strip[s] = (struct tarn_oracle_strip){
            .l = p,
            .m = p + o->N + 1,
            .size = p + 2 * (o->N + 1),
            .difference = p + 3 * (o->N + 1),
            .a = {sums, sums + wide, sums + 2 * wide},
            .b = {sums + 3 * wide, sums + 4 * wide, sums + 5 * wide},
        };
    }
    return TARN_OK;
}

tarn_status tarn_oracle_new_sum(const struct tarn_oracle_run *o,
                                const tarn_tensor *like, struct tarn_oracle_sum *sum)
{
    tarn_status status =
        tarn_tensor_new(o->ctx, TARN_FLOAT64, like->rank, like->shape, &sum->value);
    if (status) return status;
    return tarn_tensor_new(o->ctx, TARN_FLOAT64, like->rank, like->shape,
                           &sum->magnitude);
}

static tarn_status new_output(struct tarn_oracle_run *o)
{
    tarn_tensor like = *o->problem->q;
    like.shape[like.rank - 1] = o->M;
    return tarn_oracle_new_sum(o, &like, &o->result.out);
}

/* ---- The whole ------------------------------------------------------------------------- */

static tarn_status run(struct tarn_oracle_run *o)
{
    tarn_status status = read_sizes(o);
    if (!status) status = read_options(o);
    if (!status) status = hold_inputs(o);
    if (!status) status = ask_pairs(o);
    if (!status) status = new_scratch(o);
    if (!status) status = new_output(o);
    if (!status)
        status = tarn_parallel(o->ctx, o->problem->function, TARN_ORACLE_STRIPS,
                               average_strip, o);
    if (status) return status;

    o->result.exponent = fmax(o->q.exponent, o->k.exponent);
    for (int s = 0; s < TARN_ORACLE_STRIPS; s++)
        o->result.exponent = fmax(o->result.exponent, o->strip[s].exponent);
    return o->dout ? tarn_oracle_gradients(o) : TARN_OK;
}

tarn_status tarn_oracle_run(tarn_context *ctx,
                            const struct tarn_oracle_problem *problem,
                            struct tarn_oracle *oracle)
{
    struct tarn_oracle_run o = {.ctx = ctx, .problem = problem};
    tarn_status status = run(&o);
    while (o.held_count) tarn_tensor_free(o.held[--o.held_count]);
    tarn_oracle_rows_free(&o.q);
    tarn_oracle_rows_free(&o.k);
    tarn_release(o.pairs);
    tarn_release(o.scratch);
    tarn_release(o.query);
    if (status)
        tarn_oracle_free(&o.result);
    else
        *oracle = o.result;
    return status;
}

void tarn_oracle_free(struct tarn_oracle *oracle)
{
    struct tarn_oracle_sum *sums[] = {&oracle->out, &oracle->dq,  &oracle->dk,
                                      &oracle->dv,  &oracle->dS0, &oracle->dz0};
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
        tarn_tensor_free(sums[s]->value);
        tarn_tensor_free(sums[s]->magnitude);
    }
    *oracle = (struct tarn_oracle){0};
}
