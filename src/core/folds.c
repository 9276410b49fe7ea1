/* folds.c: sums, extremes, norms and softmax along one dimension. Compiled for float
 * and for double.
 *
 * - Everything is accumulated in double.
 * - Row j of a column goes to lane j mod 8, and the lanes are joined in a fixed tree.
 *   So eight additions can run side by side, errors grow with n / 8, and the result
 *   depends neither on the layout of the slab nor on which of the two loop orders
 *   reads it.
 * - The orders: a slab whose columns lie closer together than its rows is read row by
 *   row, any other column by column. */
#include "core/kernels.h"
#include "core/real.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

/* ---- Folding --------------------------------------------------------------------- */

/* How a number is taken in, after `scale` has been applied if the fold has one, and how
 * two lanes are joined. */
typedef double take_function(double sum, real x, double scale);
typedef double join_function(double a, double b);

FORCE_INLINE bool is_read_by_rows(const struct tarn_slab *s)
{
    ptrdiff_t step = s->step < 0 ? -s->step : s->step;
    ptrdiff_t across = s->across < 0 ? -s->across : s->across;
    return s->columns > 1 && across < step;
}

FORCE_INLINE double join_lanes(const double *lane, size_t gap, join_function *join)
{
    double even =
        join(join(lane[0], lane[4 * gap]), join(lane[2 * gap], lane[6 * gap]));
    double odd =
        join(join(lane[gap], lane[5 * gap]), join(lane[3 * gap], lane[7 * gap]));
    return join(even, odd);
}

FORCE_INLINE void fold_rows(const struct tarn_slab *s, double start,
                            take_function *take, join_function *join,
                            const double *scale, double *value)
{
    double lane[LANES][TARN_COLUMNS];
    for (size_t l = 0; l < LANES; l++)
        for (size_t c = 0; c < s->columns; c++) lane[l][c] = start;
    const real *row = s->at;
    for (size_t j = 0; j < s->n; j++, row += s->step) {
        double *into = lane[j % LANES];
        if (s->across == 1)
            for (size_t c = 0; c < s->columns; c++)
                into[c] = take(into[c], row[c], scale[c]);
        else
            for (size_t c = 0; c < s->columns; c++)
                into[c] = take(into[c], row[(ptrdiff_t)c * s->across], scale[c]);
    }
    for (size_t c = 0; c < s->columns; c++)
        value[c] = join_lanes(&lane[0][c], TARN_COLUMNS, join);
}

FORCE_INLINE double fold_column(const real *x, size_t n, ptrdiff_t step, double start,
                                take_function *take, join_function *join, double scale)
{
    double lane[LANES];
    for (size_t l = 0; l < LANES; l++) lane[l] = start;
    size_t j = 0;
    if (step == 1)
        for (; j + LANES <= n; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] = take(lane[l], x[j + l], scale);
    for (; j < n; j++)
        lane[j % LANES] = take(lane[j % LANES], x[(ptrdiff_t)j * step], scale);
    return join_lanes(lane, 1, join);
}

FORCE_INLINE void fold(const struct tarn_slab *s, double start, take_function *take,
                       join_function *join, const double *scale, double *value)
{
    if (is_read_by_rows(s)) {
        fold_rows(s, start, take, join, scale, value);
        return;
    }
    const real *x = s->at;
    for (size_t c = 0; c < s->columns; c++)
        value[c] = fold_column(x + (ptrdiff_t)c * s->across, s->n, s->step, start, take,
                               join, scale[c]);
}

/* ---- Sum, maximum, minimum ------------------------------------------------------- */

static const double no_scale[TARN_COLUMNS];

FORCE_INLINE double add(double a, double b)
{
    return a + b;
}
FORCE_INLINE double add_number(double sum, real x, double scale)
{
    (void)scale;
    return sum + (double)x;
}

/* Once NaN, always NaN: the first test is false then, the second looks at x alone. */
FORCE_INLINE double larger(double a, double x)
{
    return ((x > a) | (x != x)) ? x : a;
}
FORCE_INLINE double take_larger(double best, real x, double scale)
{
    (void)scale;
    return larger(best, (double)x);
}
FORCE_INLINE double smaller(double a, double x)
{
    return ((x < a) | (x != x)) ? x : a;
}
FORCE_INLINE double take_smaller(double best, real x, double scale)
{
    (void)scale;
    return smaller(best, (double)x);
}

static void sum(const struct tarn_slab *s, double *value, size_t *place)
{
    (void)place;
    fold(s, 0, add_number, add, no_scale, value);
}

static void max(const struct tarn_slab *s, double *value, size_t *place)
{
    (void)place;
    fold(s, -HUGE_VAL, take_larger, larger, no_scale, value);
}

static void min(const struct tarn_slab *s, double *value, size_t *place)
{
    (void)place;
    fold(s, HUGE_VAL, take_smaller, smaller, no_scale, value);
}

/* ---- Positions ------------------------------------------------------------------- */

/* Looks at one row of one column; the first of equals stays, and the first NaN wins. */
FORCE_INLINE void consider(double x, size_t j, double sign, double *value,
                           size_t *place)
{
    bool is_better = sign * x > sign * *value || (x != x && *value == *value);
    if (!is_better) return;
    *value = x;
    *place = j;
}

FORCE_INLINE void find(const struct tarn_slab *s, double sign, double *value,
                       size_t *place)
{
    const real *x = s->at;
    for (size_t c = 0; c < s->columns; c++) {
        value[c] = (double)x[(ptrdiff_t)c * s->across];
        place[c] = 0;
    }
    if (is_read_by_rows(s)) {
        for (size_t j = 0; j < s->n; j++)
            for (size_t c = 0; c < s->columns; c++)
                consider((double)x[(ptrdiff_t)j * s->step + (ptrdiff_t)c * s->across],
                         j, sign, &value[c], &place[c]);
        return;
    }
    for (size_t c = 0; c < s->columns; c++)
        for (size_t j = 0; j < s->n; j++)
            consider((double)x[(ptrdiff_t)j * s->step + (ptrdiff_t)c * s->across], j,
                     sign, &value[c], &place[c]);
}

static void argmax(const struct tarn_slab *s, double *value, size_t *place)
{
    find(s, 1, value, place);
}

static void argmin(const struct tarn_slab *s, double *value, size_t *place)
{
    find(s, -1, value, place);
}

/* ---- Norm ------------------------------------------------------------------------ */

FORCE_INLINE double take_larger_magnitude(double best, real x, double scale)
{
    (void)scale;
    return larger(best, fabs((double)x));
}
FORCE_INLINE double add_square(double sum_of_squares, real x, double scale)
{
    double y = (double)x * scale;
    return sum_of_squares + y * y;
}

/* A power of two that brings a column's squares, and the sum of TARN_ROWS of them,
 * into range. Between 2^-500 and 2^500 they are in range already; what is smaller than
 * 2^-500 beside a larger number does not count. Squares of float32 never leave the
 * range. */
static double norm_scale(double largest)
{
    if (largest > 0x1p500) return 0x1p-600;
    if (largest < 0x1p-500) return 0x1p600;
    return 1;
}

static void norm(const struct tarn_slab *s, double *value, size_t *place)
{
    (void)place;
    double scale[TARN_COLUMNS];
    for (size_t c = 0; c < s->columns; c++) scale[c] = 1;
    if (sizeof(real) == sizeof(double)) {
        fold(s, 0, take_larger_magnitude, larger, no_scale, value);
        for (size_t c = 0; c < s->columns; c++) scale[c] = norm_scale(value[c]);
    }
    fold(s, 0, add_square, add, scale, value);
    for (size_t c = 0; c < s->columns; c++) value[c] = sqrt(value[c]) / scale[c];
}

/* ---- Partial sums and softmax ---------------------------------------------------- */

/* Takes one number of a column in; what it returns goes out. */
typedef real pass_function(real x, double *sum, double max);

FORCE_INLINE void pass(const struct tarn_slab *in, const struct tarn_slab *out,
                       pass_function *f, const double *max, double *sum)
{
    const real *x = in->at;
    real *y = out->at;
    bool by_rows = is_read_by_rows(in);
    size_t outer = by_rows ? in->n : in->columns, inner = by_rows ? in->columns : in->n;
    for (size_t a = 0; a < outer; a++)
        for (size_t b = 0; b < inner; b++) {
            size_t c = by_rows ? b : a;
            ptrdiff_t j = (ptrdiff_t)(by_rows ? a : b);
            y[j * out->step + (ptrdiff_t)c * out->across] =
                f(x[j * in->step + (ptrdiff_t)c * in->across], &sum[c], max[c]);
        }
}

FORCE_INLINE real add_up(real x, double *so_far, double unused)
{
    (void)unused;
    *so_far += (double)x;
    return (real)*so_far;
}

FORCE_INLINE real add_exponential(real x, double *so_far, double largest)
{
    real e = exp(x - (real)largest);
    *so_far += (double)e;
    return e;
}

FORCE_INLINE real divide_by(real x, double *total, double unused)
{
    (void)unused;
    return (real)((double)x / *total);
}

static void cumsum(const struct tarn_slab *in, const struct tarn_slab *out,
                   double *so_far)
{
    pass(in, out, add_up, no_scale, so_far);
}

static void exponentials(const struct tarn_slab *in, const struct tarn_slab *out,
                         const double *largest, double *total)
{
    pass(in, out, add_exponential, largest, total);
}

static void divide(const struct tarn_slab *out, double *total)
{
    pass(out, out, divide_by, no_scale, total);
}

const struct tarn_folds TYPED(tarn_folds) = {
    .fold = {[TARN_SUM] = sum,
             [TARN_MEAN] = sum,
             [TARN_MAX] = max,
             [TARN_MIN] = min,
             [TARN_ARGMAX] = argmax,
             [TARN_ARGMIN] = argmin,
             [TARN_NORM] = norm},
    .cumsum = cumsum,
    .exponentials = exponentials,
    .divide = divide,
};
