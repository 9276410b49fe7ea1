/* test_phi.c: the feature maps, by their closed forms in double. Chapter 2. */
#include "attention.h"
#include "stages/phi.h"
#include <float.h>
#include <string.h>

static tarn_context *ctx;
static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
}
static void close(void)
{
    tarn_context_free(ctx);
}
TestSuite(phi, .init = open, .fini = close);

static double value_of(const char *name, tarn_dtype dtype, double x)
{
    tarn_tensor *t = matrix(ctx, dtype, 1, 1, &x), *f = NULL;
    OK(tarn_phi_apply(ctx, tarn_phi_find(name), t, &f));
    double value = flat(f, 0);
    tarn_tensor_free(t);
    tarn_tensor_free(f);
    return value;
}

static double slope_of(const char *name, tarn_dtype dtype, double x)
{
    double one = 1;
    tarn_tensor *t = matrix(ctx, dtype, 1, 1, &x), *df = matrix(ctx, dtype, 1, 1, &one);
    tarn_tensor *dx = NULL;
    OK(tarn_phi_grad(ctx, tarn_phi_find(name), t, df, &dx));
    double slope = flat(dx, 0);
    tarn_tensor_free(t);
    tarn_tensor_free(df);
    tarn_tensor_free(dx);
    return slope;
}

/* NUM-01: never as elu + 1, which loses 44 % at -17 and everything at -87. The bound is
 * one rounding of the argument-free expf, 2 eps, with room: 3e-7. */
//> region small_features
Test(phi, elu1_keeps_small_features_in_float32)
{
    for (double x = -87; x <= 0; x += 0.5) {
        double got = value_of("elu1", TARN_FLOAT32, x);
        cr_assert_gt(got, 0, "phi(%g) is 0", x);
        cr_assert(fabs(got / exp(x) - 1) <= 3e-7, "phi(%g) = %.9g", x, got);
    }
    const double at_8 = value_of("elu1", TARN_FLOAT32, -8);
    cr_assert(fabs(at_8 / 3.35462628e-4 - 1) < 3e-7);
}
//< region small_features

/* NUM-09: the branch not taken must not poison the one taken. */
Test(phi, elu1_of_large_x_is_x_plus_1_with_slope_1)
{
    const double xs[] = {89, 100, 1000, 1e30};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq((float)value_of("elu1", TARN_FLOAT32, xs[i]), (float)xs[i] + 1);
        cr_assert_eq(slope_of("elu1", TARN_FLOAT32, xs[i]), 1);
    }
    cr_assert(isinf(value_of("elu1", TARN_FLOAT32, INFINITY)));
    cr_assert(isnan(value_of("elu1", TARN_FLOAT32, NAN)));
}

/* NUM-10: the joint is smooth, also seen from either side. */
Test(phi, elu1_and_its_slope_are_1_at_zero)
{
    const double xs[] = {0, -0.0, 1e-45, -1e-45};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(value_of("elu1", TARN_FLOAT32, xs[i]), 1);
        cr_assert_eq(slope_of("elu1", TARN_FLOAT32, xs[i]), 1);
    }
}

/* NUM-15: this build keeps subnormal numbers. */
Test(phi, elu1_of_minus_88_is_subnormal_not_zero)
{
    cr_assert(fabs(value_of("elu1", TARN_FLOAT32, -88) / 6.0546e-39 - 1) < 1e-4);
}

Test(phi, softplus_neither_overflows_nor_vanishes)
{
    cr_assert_float_eq(value_of("softplus", TARN_FLOAT64, 0), log(2), 1e-15);
    cr_assert_eq(value_of("softplus", TARN_FLOAT64, 800), 800);
    cr_assert(fabs(value_of("softplus", TARN_FLOAT64, -100) / exp(-100) - 1) < 1e-14);
    cr_assert_float_eq(slope_of("softplus", TARN_FLOAT64, 1), 1 / (1 + exp(-1)), 1e-15);
}

Test(phi, relu_maps_pass_nan_on)
{
    cr_assert(isnan(value_of("relu", TARN_FLOAT32, NAN)));
    cr_assert(isnan(value_of("relu2", TARN_FLOAT32, NAN)));
    cr_assert_eq(value_of("relu2", TARN_FLOAT32, 3), 9);
    cr_assert_eq(slope_of("relu2", TARN_FLOAT32, 3), 6);
    cr_assert_eq(slope_of("relu", TARN_FLOAT32, -3), 0);
}

/* The defining property, with D (D + 1) / 2 features; 8 eps for 6 products. */
Test(phi, poly2_is_the_square_of_the_inner_product)
{
    tarn_tensor *q = matrix(ctx, TARN_FLOAT64, 1, 3, (double[]){1, -2, 0.5}),
                *fq = NULL;
    tarn_tensor *k = matrix(ctx, TARN_FLOAT64, 1, 3, (double[]){3, 1, 4}), *fk = NULL;
    OK(tarn_phi_apply(ctx, tarn_phi_find("poly2"), q, &fq));
    OK(tarn_phi_apply(ctx, tarn_phi_find("poly2"), k, &fk));
    cr_assert_eq(tarn_tensor_shape(fq)[1], 6);
    double sum = 0;
    for (size_t c = 0; c < 6; c++) sum += flat(fq, c) * flat(fk, c);
    cr_assert_float_eq(sum, 9, 9 * 8 * DBL_EPSILON);
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(fq);
    tarn_tensor_free(fk);
}

/* Central differences with h = eps^(1/3): their error is about h^2, 4e-11; 1e-8 is far
 * above it and far below a wrong formula. The points keep away from relu's kink. */
Test(phi, slopes_are_the_derivatives_of_the_values)
{
    const double row[3] = {0.7, -1.3, 2.1}, h = 6e-6;
    for (size_t p = 0; tarn_phi_at(p); p++) {
        tarn_tensor *x = matrix(ctx, TARN_FLOAT64, 1, 3, row), *f = NULL, *dx = NULL;
        OK(tarn_phi_apply(ctx, tarn_phi_at(p), x, &f));
        const size_t C = tarn_tensor_shape(f)[1];
        tarn_tensor *df = normal(ctx, TARN_FLOAT64, 5, 2, (size_t[]){1, C}, 1);
        OK(tarn_phi_grad(ctx, tarn_phi_at(p), x, df, &dx));
        for (size_t i = 0; i < 3; i++) {
            double sides[2] = {0, 0};
            for (int side = 0; side < 2; side++) {
                double moved[3] = {row[0], row[1], row[2]};
                moved[i] += side ? h : -h;
                tarn_tensor *y = matrix(ctx, TARN_FLOAT64, 1, 3, moved), *fy = NULL;
                OK(tarn_phi_apply(ctx, tarn_phi_at(p), y, &fy));
                for (size_t c = 0; c < C; c++) sides[side] += flat(fy, c) * flat(df, c);
                tarn_tensor_free(y);
                tarn_tensor_free(fy);
            }
            double expected = (sides[1] - sides[0]) / (2 * h);
            cr_assert_float_eq(flat(dx, i), expected, 1e-8 * (1 + fabs(expected)),
                               "%s, %zu", tarn_phi_at(p)->name, i);
        }
        tarn_tensor_free(x);
        tarn_tensor_free(f);
        tarn_tensor_free(df);
        tarn_tensor_free(dx);
    }
}

/* Scaled features are phi / s and eps / s with one s for the row: the quotient of any two
 * features, and of a feature and eps, is what it was. 40 eps: |x - m| <= 20 in exp. */
Test(phi, scaling_a_row_keeps_the_ratios_of_its_features_and_eps)
{
    const double row[4] = {-3, 0.5, 2, -17};
    const double eps = 0.25;
    for (int id = 0; id < TARN_PHI_COUNT; id++) {
        double f[10], scaled[10], pivot, eps_row;
        const size_t C = id == TARN_PHI_POLY2 ? 10 : 4;
        tarn_phi_rows_f64.apply(id, 1, 4, row, f);
        tarn_phi_rows_f64.apply_scaled(id, 1, 4, row, eps, scaled, &pivot, &eps_row);
        double s = eps / eps_row;
        for (size_t c = 0; c < C; c++)
            cr_assert_float_eq(scaled[c] * s, f[c], 40 * DBL_EPSILON * fabs(f[c]),
                               "map %d, feature %zu", id, c);
    }
}

/* Far from 1 in either direction the scaled row still has a feature near 1. */
Test(phi, scaled_rows_neither_vanish_nor_overflow)
{
    const float rows[3][2] = {{-200, -210}, {1e30F, 2}, {-1e30F, 1e-30F}};
    for (int id = 0; id < TARN_PHI_COUNT; id++)
        for (int r = 0; r < 3; r++) {
            float f[3], pivot, eps_row, largest = 0;
            tarn_phi_rows_f32.apply_scaled(id, 1, 2, rows[r], 0, f, &pivot, &eps_row);
            for (size_t c = 0; c < (id == TARN_PHI_POLY2 ? 3 : 2); c++) {
                cr_assert(isfinite(f[c]), "map %d, row %d: %g", id, r, (double)f[c]);
                largest = fmaxf(largest, fabsf(f[c]));
            }
            const bool can_be_zero =
                (id == TARN_PHI_RELU || id == TARN_PHI_RELU2) && r == 0;
            cr_assert(can_be_zero || (largest >= 1e-30F && largest <= 2),
                      "map %d, row %d: %g", id, r, (double)largest);
        }
}

/* A scale so small that eps / s overflowed would turn a small output into 0: q = 1e-30 with
 * k = 1e15 has (q.k)^2 = 1e-30 and, with eps 1e-6, the output 1e-24 v. The bound is 8 eps
 * for the products and the quotient. */
Test(phi, eps_under_the_scale_does_not_overflow)
{
    for (int id = 0; id < TARN_PHI_COUNT; id++) {
        float f[3], pivot, eps_row;
        tarn_phi_rows_f32.apply_scaled(id, 1, 2, (float[]){-110, -120}, 1e-6, f, &pivot,
                                       &eps_row);
        cr_assert(isfinite(eps_row) && eps_row > 0, "map %d", id);
    }
    tarn_tensor *q = matrix(ctx, TARN_FLOAT32, 1, 1, (double[]){1e-30}), *out = NULL;
    tarn_tensor *k = matrix(ctx, TARN_FLOAT32, 1, 1, (double[]){1e15});
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 1, 1, (double[]){2});
    tarn_options options = tarn_defaults();
    options.phi = tarn_phi_find("poly2");
    OK(tarn_assoc(ctx, q, k, v, &options, &out));
    cr_assert(fabs(flat(out, 0) / 2e-24 - 1) < 8 * (double)FLT_EPSILON, "%g",
              flat(out, 0));
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    tarn_tensor_free(out);
}

/* Where phi is flat, nothing comes back, however large what arrives. */
Test(phi, a_slope_of_zero_stops_a_gradient_that_overflowed)
{
    tarn_tensor *x = matrix(ctx, TARN_FLOAT32, 1, 2, (double[]){-1, -200}), *dx = NULL;
    tarn_tensor *df = matrix(ctx, TARN_FLOAT32, 1, 2, (double[]){INFINITY, INFINITY});
    OK(tarn_phi_grad(ctx, tarn_phi_find("relu"), x, df, &dx));
    cr_assert(flat(dx, 0) == 0 && flat(dx, 1) == 0);
    tarn_tensor_free(x);
    tarn_tensor_free(df);
    tarn_tensor_free(dx);
}

Test(phi, the_table_describes_every_map)
{
    size_t count = 0;
    for (; tarn_phi_at(count); count++) {
        const tarn_phi *p = tarn_phi_at(count);
        cr_assert(p->name && p->equation && p->width && p->positivity && p->derivative);
        cr_assert_eq(tarn_phi_find(p->name), p);
    }
    cr_assert_eq(count, TARN_PHI_COUNT);
    cr_assert_null(tarn_phi_find("softmax"));
}

Test(phi, works_on_the_last_dimension_of_any_rank_and_layout)
{
    tarn_tensor *t = normal(ctx, TARN_FLOAT32, 1, 3, (size_t[]){2, 3, 4}, 1),
                *turned = NULL;
    tarn_tensor *copy = NULL, *a = NULL, *b = NULL;
    OK(tarn_permute(ctx, t, (int[]){2, 0, 1}, &turned));
    OK(tarn_clone(ctx, turned, TARN_FLOAT32, &copy));
    OK(tarn_phi_apply(ctx, tarn_phi_find("poly2"), turned, &a));
    OK(tarn_phi_apply(ctx, tarn_phi_find("poly2"), copy, &b));
    cr_assert_eq(tarn_tensor_rank(a), 3);
    cr_assert_eq(tarn_tensor_shape(a)[2], 6);
    cr_assert_eq(largest_difference(ctx, a, b), 0);
    tarn_tensor_free(t);
    tarn_tensor_free(turned);
    tarn_tensor_free(copy);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

Test(phi, refuses_what_has_no_rows)
{
    tarn_tensor *scalar = NULL, *out = NULL;
    OK(tarn_tensor_new(ctx, TARN_FLOAT32, 0, NULL, &scalar));
    cr_assert_eq(tarn_phi_apply(ctx, NULL, scalar, &out), TARN_ESHAPE);
    cr_assert_str_eq(tarn_error(ctx), "phi: x is [], expected [.., D] with D >= 1");
    tarn_tensor_free(scalar);
}
