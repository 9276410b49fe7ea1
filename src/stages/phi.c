/* phi.c: stage 0, feature maps phi: R^D -> R^C. Chapter 2.
 *
 * A similarity becomes an inner product, sim(q, k) = phi(q).phi(k), and must not be
 * negative if attention is to stay a weighted average (eq 4 of the paper). Each map below
 * is a value and its slope; poly2 alone mixes the entries of a row.
 *
 * Each map is written twice, once as it stands in the book and once divided by a scale of
 * its row. Attention does not change when phi(q_i) and eps are divided by the same number
 *
 *     phi(q)^T S / (phi(q)^T z + eps)  =  (phi(q)/s)^T S / ((phi(q)/s)^T z + eps/s)
 *
 * so with s near the row's largest feature nothing underflows to 0/0 or overflows. The
 * pivot m of a row is the entry that s comes from. There are two kinds of maps:
 *
 *   homogeneous  phi(m x) = m^d phi(x), m > 0: scaling is applying phi to x / m, with m
 *                the largest |x|, or the largest x where phi sees only x > 0
 *   others       s = phi(m), m = max x: phi(x) / phi(m) in closed form, since phi(m) may
 *                itself underflow */
#include "stages/phi.h"
#include "core/real.h"
#include <float.h>
#include <stdbool.h>

/* A map that works entry by entry. `over` and `slope_over` are value and slope divided by
 * phi(m), for x <= m; without them the map is homogeneous of the given degree. */
struct map {
    real (*value)(real x), (*slope)(real x);
    real (*over)(real x, real m), (*slope_over)(real x, real m);
    double (*eps_over)(double eps, double m); /* eps / phi(m) */
    int degree;
};

//> region elu1
/* Eq 7: elu(x) + 1, but never computed as that sum: from x = -17.4 down the elu
 * of float32 is exactly -1 and the feature would be lost, while exp(x) is a
 * perfectly good number. */
static real elu1(real x)
{
    return x > 0 ? x + 1 : exp(x);
}
static real elu1_slope(real x)
{
    return x > 0 ? 1 : exp(x);
}
//< region elu1

//> region elu1_scaled
static real elu1_over(real x, real m)
{
    return m > 0 ? elu1(x) / (m + 1) : exp(x - m);
}
static real elu1_slope_over(real x, real m)
{
    return m > 0 ? elu1_slope(x) / (m + 1) : exp(x - m);
}
static double elu1_eps(double eps, double m)
{
    return m > 0 ? eps / (m + 1) : eps * exp(-m);
}
//< region elu1_scaled

//> region relu
static real relu(real x)
{
    return x < 0 ? 0 : x;
} /* NaN goes through */
static real relu_slope(real x)
{
    return x > 0 ? 1 : 0;
}

static real relu2(real x)
{
    return relu(x) * relu(x);
}
static real relu2_slope(real x)
{
    return 2 * relu(x);
}
//< region relu

static real exponential(real x)
{
    return exp(x);
}
static real exponential_over(real x, real m)
{
    return exp(x - m);
}
static double exponential_eps(double eps, double m)
{
    return eps * exp(-m);
}

static real identity(real x)
{
    return x;
}
static real identity_slope(real x)
{
    (void)x;
    return 1;
}

//> region softplus
/* log(1 + exp(x)) without overflow: for x > 0 it is x + log(1 + exp(-x)). */
static real softplus(real x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static real softplus_slope(real x)
{
    return 1 / (1 + exp(-x));
}
//< region softplus

/* Below this pivot softplus(x) and exp(x) are the same number in float64. */
static const real far_left = -40;

static real softplus_over(real x, real m)
{
    return m < far_left ? exp(x - m) : softplus(x) / softplus(m);
}
static real softplus_slope_over(real x, real m)
{
    return m < far_left ? exp(x - m) : softplus_slope(x) / softplus(m);
}
static double softplus_eps(double eps, double m)
{
    return m < (double)far_left ? eps * exp(-m)
                                : eps / (m > 0 ? m + log1p(exp(-m)) : log1p(exp(m)));
}

static const struct map maps[TARN_PHI_COUNT] = {
    [TARN_PHI_ELU1] = {elu1, elu1_slope, elu1_over, elu1_slope_over, elu1_eps, 0},
    [TARN_PHI_RELU] = {.value = relu, .slope = relu_slope, .degree = 1},
    [TARN_PHI_RELU2] = {.value = relu2, .slope = relu2_slope, .degree = 2},
    [TARN_PHI_EXP] = {exponential, exponential, exponential_over, exponential_over,
                      exponential_eps, 0},
    [TARN_PHI_IDENTITY] = {.value = identity, .slope = identity_slope, .degree = 1},
    [TARN_PHI_SOFTPLUS] = {softplus, softplus_slope, softplus_over, softplus_slope_over,
                           softplus_eps, 0},
    [TARN_PHI_POLY2] = {.degree = 2},
};

//> region poly2
/* (q.k)^2 = sum_ij q_i q_j k_i k_j as an inner product of D (D + 1) / 2
 * features: each pair i < j occurs twice in the sum, hence the root of 2. Taken
 * at x / m, m = 1 unless the row is scaled. */
static void poly2(size_t D, const real *x, real m, real *f)
{
    for (size_t i = 0; i < D; i++) {
        *f++ = (x[i] / m) * (x[i] / m);
        for (size_t j = i + 1; j < D; j++)
            *f++ = (real)M_SQRT2 * (x[i] / m) * (x[j] / m);
    }
}
//< region poly2

static void poly2_grad(size_t D, const real *x, real m, const real *df, real *dx)
{
    for (size_t i = 0; i < D; i++) dx[i] = 0;
    for (size_t i = 0; i < D; i++) {
        dx[i] += 2 * (x[i] / m) * *df++ / m;
        for (size_t j = i + 1; j < D; j++, df++) {
            dx[i] += (real)M_SQRT2 * (x[j] / m) * *df / m;
            dx[j] += (real)M_SQRT2 * (x[i] / m) * *df / m;
        }
    }
}

/* slope * df, where a slope of 0 stops even a df that has overflowed. */
static real chain(real slope, real df)
{
    return slope == 0 ? 0 : slope * df;
}

static size_t width(int id, size_t D)
{
    return id == TARN_PHI_POLY2 ? D * (D + 1) / 2 : D;
}

/* ---- Rows as the book writes them --------------------------------------------------- */

static void apply(int id, size_t R, size_t D, const void *x, void *f)
{
    const real *x_i = x;
    real *f_i = f;
    for (size_t i = 0; i < R; i++, x_i += D, f_i += width(id, D)) {
        if (id == TARN_PHI_POLY2) {
            poly2(D, x_i, 1, f_i);
            continue;
        }
        for (size_t c = 0; c < D; c++) f_i[c] = maps[id].value(x_i[c]);
    }
}

static void grad(int id, size_t R, size_t D, const void *x, const void *df, void *dx)
{
    const real *x_i = x, *df_i = df;
    real *dx_i = dx;
    for (size_t i = 0; i < R; i++, x_i += D, df_i += width(id, D), dx_i += D) {
        if (id == TARN_PHI_POLY2) {
            poly2_grad(D, x_i, 1, df_i, dx_i);
            continue;
        }
        for (size_t c = 0; c < D; c++) dx_i[c] = chain(maps[id].slope(x_i[c]), df_i[c]);
    }
}

/* ---- Rows under their scale --------------------------------------------------------- */

static const real largest =
    sizeof(real) == sizeof(float) ? (real)FLT_MAX : (real)DBL_MAX;

/* The largest |x_c|, or 1 where it is 0 or infinite and can't be divided by. */
static real largest_size(size_t D, const real *x)
{
    real m = 0;
    for (size_t c = 0; c < D; c++)
        if (fabs(x[c]) > m) m = fabs(x[c]);
    return m > 0 && m <= largest ? m : 1;
}

/* The largest x_c, kept finite so that x - m is never Inf - Inf. */
static real largest_entry(size_t D, const real *x)
{
    real m = -largest;
    for (size_t c = 0; c < D; c++)
        if (x[c] > m) m = x[c];
    return m <= largest ? m : largest;
}

static bool is_homogeneous(int id)
{
    return maps[id].degree > 0;
}

/* The pivot at which phi(m) is eps by about the square root of the number range: a scale
 * any smaller would let eps / s overflow, and with it lose what is left of the row. */
static real least_pivot(int id, double eps)
{
    const double least = eps * (sizeof(real) == sizeof(float) ? 1e-19 : 1e-150);
    if (eps == 0) return is_homogeneous(id) ? 0 : -largest;
    return (real)(is_homogeneous(id) ? pow(least, 1. / maps[id].degree) : log(least));
}

/* relu's features come from positive entries alone, and so must their scale. */
static real pivot_of(int id, size_t D, const real *x, double eps)
{
    const bool one_sided = id == TARN_PHI_RELU || id == TARN_PHI_RELU2;
    const real least = least_pivot(id, eps);
    real m =
        is_homogeneous(id) && !one_sided ? largest_size(D, x) : largest_entry(D, x);
    if (one_sided && m <= 0) m = 1;
    return m > least ? m : least;
}

/* eps / s in double: rounded to real at the end, where it may well become Inf: then the
 * denominator is all eps, and the output rightly 0. */
static real eps_under(int id, double eps, double m)
{
    if (eps == 0) return 0;
    if (is_homogeneous(id)) return (real)(eps / pow(m, maps[id].degree));
    return (real)maps[id].eps_over(eps, m);
}

static void scaled_row(int id, size_t D, const real *x, real m, real *f)
{
    if (id == TARN_PHI_POLY2) {
        poly2(D, x, m, f);
        return;
    }
    for (size_t c = 0; c < D; c++)
        f[c] = is_homogeneous(id) ? maps[id].value(x[c] / m) : maps[id].over(x[c], m);
}

static void scaled_row_grad(int id, size_t D, const real *x, real m, const real *df,
                            real *dx)
{
    if (id == TARN_PHI_POLY2) {
        poly2_grad(D, x, m, df, dx);
        return;
    }
    for (size_t c = 0; c < D; c++)
        dx[c] = chain(is_homogeneous(id) ? maps[id].slope(x[c] / m) / m
                                         : maps[id].slope_over(x[c], m),
                      df[c]);
}

static void apply_scaled(int id, size_t R, size_t D, const void *x, double eps, void *f,
                         void *pivot, void *eps_row)
{
    const real *x_i = x;
    real *f_i = f, *m = pivot, *e = eps_row;
    for (size_t i = 0; i < R; i++, x_i += D, f_i += width(id, D)) {
        m[i] = pivot_of(id, D, x_i, eps);
        e[i] = eps_under(id, eps, (double)m[i]);
        scaled_row(id, D, x_i, m[i], f_i);
    }
}

static void grad_scaled(int id, size_t R, size_t D, const void *x, const void *pivot,
                        const void *df, void *dx)
{
    const real *x_i = x, *m = pivot, *df_i = df;
    real *dx_i = dx;
    for (size_t i = 0; i < R; i++, x_i += D, df_i += width(id, D), dx_i += D)
        scaled_row_grad(id, D, x_i, m[i], df_i, dx_i);
}

static void scale(size_t R, size_t C, double eps, void *f, void *pivot, void *eps_row)
{
    real *f_i = f, *m = pivot, *e = eps_row;
    for (size_t i = 0; i < R; i++, f_i += C) {
        m[i] = largest_size(C, f_i);
        e[i] = (real)(eps / (double)m[i]);
        for (size_t c = 0; c < C; c++) f_i[c] /= m[i];
    }
}

static void unscale(size_t R, size_t C, const void *pivot, void *df)
{
    const real *m = pivot;
    real *df_i = df;
    for (size_t i = 0; i < R; i++, df_i += C)
        for (size_t c = 0; c < C; c++) df_i[c] /= m[i];
}

const struct tarn_phi_rows TYPED(tarn_phi_rows) = {
    .apply = apply,
    .grad = grad,
    .apply_scaled = apply_scaled,
    .grad_scaled = grad_scaled,
    .scale = scale,
    .unscale = unscale,
};
