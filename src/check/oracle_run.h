/* oracle_run.h: one run of the oracle, shared by oracle.c and oracle_grad.c. Internal. */
#ifndef TARN_ORACLE_RUN_H
#define TARN_ORACLE_RUN_H

#include "check/oracle.h"
#include "check/oracle_phi.h"
#include <math.h>

/* Rows are dealt to this many strips, each with scratch memory of its own; a row's result
 * does not depend on its strip. */
enum { TARN_ORACLE_STRIPS = 16 };

/* n sums at once: what rounding took from `sum` is kept in `rest` (two-sum), so that their
 * error does not grow with the number of terms; `size` is the sum of the absolute terms. */
struct tarn_oracle_acc {
    double *sum, *rest, *size;
};

struct tarn_oracle_strip {
    double *l, *m,
        *size;          /* [N]: similarities to one query: m exp(l), |m| term by term */
    double *difference; /* [D] */
    double exponent;
    struct tarn_oracle_acc a, b; /* two sets of max(C, M) sums */
};

/* What pass 1 leaves of a query for the gradients; sums are divided by exp(top). */
struct tarn_oracle_query {
    double top, den;
    double kappa;       /* (sum_j |sim_ij| + eps) / |den|: how far the terms cancel */
    double gd, gd_size; /* dout_i . out_i and its magnitude */
};

struct tarn_oracle_run {
    tarn_context *ctx;
    const struct tarn_oracle_problem *problem;
    tarn_similarity by;
    double eps, scale;
    size_t B, H, N_q, N, D, C, M;

    tarn_tensor *held[8]; /* float64 copies of the inputs, to be freed */
    int held_count;
    struct tarn_oracle_rows q, k;
    const double *v, *S0, *z0, *dout, *dS, *dz;
    double *pairs; /* by pair: [B H, N', N] */
    double *scratch;
    struct tarn_oracle_strip strip[TARN_ORACLE_STRIPS];
    struct tarn_oracle_query *query; /* [B H N'] */
    struct tarn_oracle result;
};

/* Similarity of one pair: m exp(l), `size` the sum of the absolute terms of m, and
 * `exponent` that of l. */
struct tarn_oracle_pair {
    double m, l, size, exponent;
};
struct tarn_oracle_pair tarn_oracle_similarity(const struct tarn_oracle_run *o,
                                               size_t i, size_t j);

/* How many keys query i of all B H N' sees, counted from the first key of its head. */
size_t tarn_oracle_keys_seen(const struct tarn_oracle_run *o, size_t i);

/* A float64 tensor of the shape of `like`, and one for its magnitudes. */
tarn_status tarn_oracle_new_sum(const struct tarn_oracle_run *o,
                                const tarn_tensor *like, struct tarn_oracle_sum *sum);

/* Fills in the gradients of o->result, once its output is there. */
tarn_status tarn_oracle_gradients(struct tarn_oracle_run *o);

static inline void tarn_two_sum(double x, double *sum, double *rest)
{
    double total = *sum + x, taken = total - *sum;
    *rest += (*sum - (total - taken)) + (x - taken);
    *sum = total;
}

/* a += w x for n sums; the terms' magnitudes are size |x|. */
static inline void tarn_acc_add(size_t n, double w, double size, const double *x,
                                struct tarn_oracle_acc a)
{
    for (size_t c = 0; c < n; c++) {
        tarn_two_sum(w * x[c], &a.sum[c], &a.rest[c]);
        a.size[c] += size * fabs(x[c]);
    }
}

static inline void tarn_acc_zero(size_t n, struct tarn_oracle_acc a)
{
    for (size_t c = 0; c < n; c++) a.sum[c] = a.rest[c] = a.size[c] = 0;
}

/* A sum that went to Inf has no meaningful rest. */
static inline double tarn_acc_value(struct tarn_oracle_acc a, size_t c)
{
    return isfinite(a.sum[c]) ? a.sum[c] + a.rest[c] : a.sum[c];
}

#endif
