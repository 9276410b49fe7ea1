/* oracle_phi.c: the oracle's own feature maps, on a wide scale. Chapter 2.
 *
 * Each built-in map is written here a second time, in float64 and from its definition.
 * Where a row is so large or so small that phi would leave the range of a double, it is
 * replaced by what it then equals to all digits:
 *
 *     powers x^d          (x / s)^d, shift d log s      exact for every s
 *     exp, far out        exp(x - s), shift s           exact for every s
 *     elu1, softplus      exp(x) for x < -300, and x for x > 1e50 */
#include "check/oracle_phi.h"
#include <math.h>
#include <string.h>

static double elu1(double x)
{
    return x > 0 ? x + 1 : exp(x);
}
static double elu1_slope(double x)
{
    return x > 0 ? 1 : exp(x);
}
static double relu(double x)
{
    return x < 0 ? 0 : x;
}
static double relu_slope(double x)
{
    return x > 0 ? 1 : x == x ? 0 : x;
}
static double relu2(double x)
{
    return x < 0 ? 0 : x * x;
}
static double relu2_slope(double x)
{
    return x < 0 ? 0 : 2 * x;
}
static double identity(double x)
{
    return x;
}
static double identity_slope(double x)
{
    return x == x ? 1 : x;
}
static double softplus(double x)
{
    return log1p(exp(-fabs(x))) + (x > 0 ? x : 0);
}
static double softplus_slope(double x)
{
    return 1 / (1 + exp(-x));
}

/* How a map behaves far out: like exp(x), like x^degree, or one left and one right. */
struct map {
    const char *name;
    double (*value)(double x),
        (*slope)(double x); /* NULL for poly2, which mixes entries */
    bool exp_left, exp_right;
    int degree;
};

static const struct map maps[] = {
    {"elu1", elu1, elu1_slope, true, false, 1},
    {"relu", relu, relu_slope, false, false, 1},
    {"relu2", relu2, relu2_slope, false, false, 2},
    {"exp_features", exp, exp, true, true, 0},
    {"identity", identity, identity_slope, false, false, 1},
    {"softplus", softplus, softplus_slope, true, false, 1},
    {"poly2", NULL, NULL, false, false, 2},
};

static const struct map *find_map(const char *name)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (strcmp(maps[i].name, name) == 0) return &maps[i];
    return NULL;
}

/* How one row is brought near 1: phi(x) = phi'((x - minus) / size) exp(shift), where phi'
 * is exp if `as_exp`, else phi divided by `over`. */
struct scaling {
    bool as_exp;
    double minus, size, over, shift;
};

static const double far_exp = 300, large = 1e50, small = 1e-50;

static struct scaling scaling_of(const struct map *map, size_t D, const double *x)
{
    struct scaling s = {.size = 1, .over = 1};
    double top = -HUGE_VAL, size = 0;
    for (size_t c = 0; c < D; c++) {
        top = fmax(top, x[c]);
        size = fmax(size, fabs(x[c]));
    }
    if (!isfinite(top) || !isfinite(size)) return s;
    if ((map->exp_left && top < -far_exp) || (map->exp_right && top > far_exp)) {
        s.as_exp = true;
        s.minus = s.shift = top;
    } else if (map->exp_left && map->degree && top > large) {
        s.over = top;
        s.shift = log(top);
    } else if (!map->exp_left && size > 0 && (size > large || size < small)) {
        s.size = size;
        s.shift = map->degree * log(size);
    }
    return s;
}

static void poly2(size_t D, const double *x, double size, double *f)
{
    for (size_t i = 0; i < D; i++) {
        *f++ = (x[i] / size) * (x[i] / size);
        for (size_t j = i + 1; j < D; j++)
            *f++ = sqrt(2) * (x[i] / size) * (x[j] / size);
    }
}

static void map_row(const struct map *map, size_t D, const double *x, double *f,
                    double *shift)
{
    const struct scaling s = scaling_of(map, D, x);
    *shift = s.shift;
    if (!map->value) {
        poly2(D, x, s.size, f);
        return;
    }
    for (size_t c = 0; c < D; c++)
        f[c] = s.as_exp ? exp(x[c] - s.minus) : map->value(x[c] / s.size) / s.over;
}

/* dx = J^T df for poly2, or |J|^T df. */
static void poly2_pull(size_t D, const double *x, double size, bool magnitudes,
                       const double *df, double *dx)
{
    for (size_t i = 0; i < D; i++) dx[i] = 0;
    for (size_t i = 0; i < D; i++) {
        for (size_t j = i; j < D; j++, df++) {
            double x_i = x[i] / size, x_j = x[j] / size;
            if (magnitudes) x_i = fabs(x_i), x_j = fabs(x_j);
            const double g = (i == j ? 1 : sqrt(2)) * *df / size;
            dx[i] += g * x_j;
            dx[j] += g * x_i;
        }
    }
}

/* Entry by entry, magnitudes need no care: no built-in slope is negative. */
static void pull_row(const struct map *map, size_t D, const double *x, bool magnitudes,
                     const double *df, double *dx)
{
    const struct scaling s = scaling_of(map, D, x);
    if (!map->value) {
        poly2_pull(D, x, s.size, magnitudes, df, dx);
        return;
    }
    for (size_t c = 0; c < D; c++) {
        double slope = s.as_exp ? exp(x[c] - s.minus)
                                : map->slope(x[c] / s.size) / s.size / s.over;
        dx[c] = slope * df[c];
    }
}

/* ---- Rows of a tensor ------------------------------------------------------------------ */

static void copy(size_t n, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

/* Beyond 750 an exp is 0 in every type, or was brought near 1 by its row's largest. */
static double largest_exponent(const struct map *map, size_t n, const double *x)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        const bool taken = x[i] < 0 ? map->exp_left : map->exp_right;
        if (taken) largest = fmax(largest, fmin(fabs(x[i]), 750));
    }
    return largest;
}

static tarn_status new_rows(struct tarn_oracle_rows *rows)
{
    size_t n;
    if (!tarn_product(rows->R, rows->C, &n))
        return tarn_fail(rows->ctx, TARN_ENOMEM,
                         "oracle: features of %zu rows are too many", rows->R);
    rows->f = tarn_alloc(rows->ctx, n, sizeof *rows->f);
    rows->shift = rows->f ? tarn_alloc(rows->ctx, rows->R, sizeof *rows->shift) : NULL;
    if (!rows->shift) return TARN_ENOMEM;
    for (size_t r = 0; r < rows->R; r++) rows->shift[r] = 0;
    return TARN_OK;
}

static tarn_status builtin_features(struct tarn_oracle_rows *rows)
{
    const struct map *map = find_map(rows->phi->name);
    if (!map)
        return tarn_fail(rows->ctx, TARN_EINVAL,
                         "oracle: phi is \"%s\", which it lacks", rows->phi->name);
    rows->C = map->value ? rows->D : rows->D * (rows->D + 1) / 2;
    tarn_status status = new_rows(rows);
    if (status) return status;

    const double *x = rows->x->data;
    rows->exponent = largest_exponent(map, rows->R * rows->D, x);
    for (size_t r = 0; r < rows->R; r++) {
        if (r % 64 == 0) status = tarn_poll(rows->ctx, "oracle");
        if (status) return status;
        map_row(map, rows->D, x + r * rows->D, rows->f + r * rows->C, &rows->shift[r]);
    }
    return TARN_OK;
}

static tarn_status check_user(const struct tarn_oracle_rows *rows, const char *function,
                              const tarn_tensor *t, size_t width)
{
    if (t->dtype == TARN_FLOAT64 && t->rank == 2 && t->shape[0] == rows->R &&
        (width == 0 || t->shape[1] == width) && tarn_tensor_is_contiguous(t))
        return TARN_OK;
    return tarn_fail(rows->ctx, TARN_ESHAPE,
                     "phi: %s gives %s %s, expected %zu contiguous float64 rows",
                     function, tarn_dtype_name(t->dtype), tarn_shape_text(t).text,
                     rows->R);
}

/* Features of a user's map are what his function says; only their size is taken out. */
static tarn_status user_features(struct tarn_oracle_rows *rows)
{
    tarn_tensor *features = NULL;
    tarn_status status =
        rows->phi->apply(rows->ctx, rows->phi->user, rows->x, &features);
    if (status) return status;
    status = check_user(rows, "apply", features, 0);
    rows->C = status ? 0 : features->shape[1];
    if (!status) status = new_rows(rows);
    const struct map *scale = find_map("identity");
    for (size_t r = 0; !status && r < rows->R; r++)
        map_row(scale, rows->C, (const double *)features->data + r * rows->C,
                rows->f + r * rows->C, &rows->shift[r]);
    tarn_tensor_free(features);
    return status;
}

static tarn_status plain_rows(struct tarn_oracle_rows *rows)
{
    rows->C = rows->D;
    tarn_status status = new_rows(rows);
    if (!status) copy(rows->R * rows->D, rows->x->data, rows->f);
    return status;
}

tarn_status tarn_oracle_features(tarn_context *ctx, const tarn_phi *phi,
                                 const tarn_tensor *x, struct tarn_oracle_rows *rows)
{
    *rows = (struct tarn_oracle_rows){
        .ctx = ctx, .phi = phi, .x = x, .R = x->shape[0], .D = x->shape[1]};
    if (!phi) return plain_rows(rows);
    return phi->builtin < 0 ? user_features(rows) : builtin_features(rows);
}

void tarn_oracle_rows_free(struct tarn_oracle_rows *rows)
{
    tarn_release(rows->f);
    tarn_release(rows->shift);
    rows->f = rows->shift = NULL;
}

/* ---- Gradients of a user's map --------------------------------------------------------- */

/* dx += exp(-shift) w_r grad(x, df), or its absolute value, for the rows of one call. */
static tarn_status user_grad(const struct tarn_oracle_rows *rows, const tarn_tensor *df,
                             bool magnitudes, const double *weight, size_t weight_step,
                             double *dx)
{
    tarn_tensor *got = NULL;
    tarn_status status = rows->phi->grad(rows->ctx, rows->phi->user, rows->x, df, &got);
    if (status) return status;
    status = check_user(rows, "grad", got, rows->D);
    const double *g = got->data;
    for (size_t r = 0; !status && r < rows->R; r++) {
        const double w = (weight ? weight[r * weight_step] : 1) * exp(-rows->shift[r]);
        for (size_t c = 0; c < rows->D; c++)
            dx[r * rows->D + c] +=
                w * (magnitudes ? fabs(g[r * rows->D + c]) : g[r * rows->D + c]);
    }
    tarn_tensor_free(got);
    return status;
}

/* |J|^T needs J entry by entry: the gradient of each feature alone. */
static tarn_status user_magnitudes(const struct tarn_oracle_rows *rows,
                                   tarn_tensor *unit, const double *df, double *dx)
{
    double *e = unit->data;
    for (size_t c = 0; c < rows->C; c++) {
        for (size_t r = 0; r < rows->R; r++)
            for (size_t b = 0; b < rows->C; b++) e[r * rows->C + b] = b == c;
        tarn_status status = user_grad(rows, unit, true, df + c, rows->C, dx);
        if (status) return status;
    }
    return TARN_OK;
}

static tarn_status user_pull(const struct tarn_oracle_rows *rows, bool magnitudes,
                             const double *df, double *dx)
{
    if (!rows->phi->grad)
        return tarn_fail(rows->ctx, TARN_EINVAL, "phi: \"%s\" has no grad function",
                         rows->phi->name ? rows->phi->name : "a user's map");
    tarn_tensor *t;
    tarn_status status =
        tarn_tensor_new(rows->ctx, TARN_FLOAT64, 2, (size_t[]){rows->R, rows->C}, &t);
    if (status) return status;
    for (size_t n = 0; n < rows->R * rows->D; n++) dx[n] = 0;
    if (magnitudes) {
        status = user_magnitudes(rows, t, df, dx);
    } else {
        copy(rows->R * rows->C, df, t->data);
        status = user_grad(rows, t, false, NULL, 0, dx);
    }
    tarn_tensor_free(t);
    return status;
}

tarn_status tarn_oracle_pull(const struct tarn_oracle_rows *rows, bool magnitudes,
                             const double *df, double *dx)
{
    if (!rows->phi) {
        copy(rows->R * rows->D, df, dx);
        return TARN_OK;
    }
    if (rows->phi->builtin < 0) return user_pull(rows, magnitudes, df, dx);
    const struct map *map = find_map(rows->phi->name);
    const double *x = rows->x->data;
    for (size_t r = 0; r < rows->R; r++) {
        tarn_status status = r % 64 == 0 ? tarn_poll(rows->ctx, "oracle") : TARN_OK;
        if (status) return status;
        pull_row(map, rows->D, x + r * rows->D, magnitudes, df + r * rows->C,
                 dx + r * rows->D);
    }
    return TARN_OK;
}
