/* test_kernels_phi.c: feature maps on the emulated device give what src/stages/phi.c gives.
 * Chapters 2 and 11.
 *
 * Both compute the same formulas with the same library of functions, entry by entry, so they
 * may differ by a few roundings where a compiler orders a product in another way: 4 eps,
 * relative to the number. Sums of a gradient (poly2) run over D terms: D eps of their size. */
#include "tensors.h"
#include "cuda/forms.h"
#include "emu/emu.h"
#include "stages/phi.h"
#include <float.h>

extern const struct tarn_device_phi tarn_emu_phi_f32, tarn_emu_phi_f64;

TestSuite(kernels_phi, .init = begin, .fini = end);

/* One element type: its two implementations. */
struct type {
    size_t size;
    double eps;
    const struct tarn_phi_rows *rows;
    const struct tarn_device_phi *device;
};
static const struct type types[] = {
    {sizeof(float), (double)FLT_EPSILON, &tarn_phi_rows_f32, &tarn_emu_phi_f32},
    {sizeof(double), DBL_EPSILON, &tarn_phi_rows_f64, &tarn_emu_phi_f64},
};

/* ---- Arrays on both sides ------------------------------------------------------------------ */

struct array {
    void *host, *device; /* what src/stages wrote, what the kernel wrote */
    size_t count;
    const struct type *type;
};

static struct array new_array(const struct type *type, size_t count)
{
    struct array a = {malloc(count * type->size + 1),
                      tarn_emu_alloc(count * type->size), count, type};
    cr_assert(a.host && a.device);
    return a;
}

static void free_array(struct array a)
{
    free(a.host);
    tarn_emu_free(a.device);
}

static double at(const struct array *a, const void *memory, size_t i)
{
    return a->type->size == sizeof(float) ? (double)((const float *)memory)[i]
                                          : ((const double *)memory)[i];
}

static void put(const struct array *a, size_t i, double x)
{
    if (a->type->size == sizeof(float))
        ((float *)a->host)[i] = (float)x;
    else
        ((double *)a->host)[i] = x;
}

static void send(const struct array *a)
{
    tarn_emu_copy(a->device, a->host, a->count * a->type->size);
}

/* Numbers of every size, and the awkward ones: each row is of one size, or of all. */
static void fill(const struct array *a, size_t D)
{
    static const double sizes[] = {1, 30, 1e-3, 120, 1e-18, 1e12, -50};
    static const double awkward[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-45, 3e38};
    for (size_t i = 0; i < a->count; i++) {
        const double spread = (double)(i * 2654435761u % 1000) / 500 - 1;
        put(a, i, spread * sizes[i / D % 7]);
        if (i % 29 == 28) put(a, i, awkward[i / 29 % 7]);
    }
    send(a);
}

static void expect_equal(const struct array *a, double bound, const char *what, int id)
{
    void *got = malloc(a->count * a->type->size + 1);
    tarn_emu_copy(got, a->device, a->count * a->type->size);
    for (size_t i = 0; i < a->count; i++) {
        const double x = at(a, got, i), y = at(a, a->host, i);
        const double least = a->type->size == sizeof(float) ? 1e-44 : 1e-322;
        cr_assert(same(x, y) || fabs(x - y) <= bound * a->type->eps * fabs(y) + least,
                  "%s of map %d, element %zu of %zu: %.9g, expected %.9g", what, id, i,
                  a->count, x, y);
    }
    free(got);
}

/* ---- The claims ------------------------------------------------------------------------------ */

static size_t width(int id, size_t D)
{
    return id == TARN_PHI_POLY2 ? D * (D + 1) / 2 : D;
}

struct shape {
    size_t R, D;
};
static const struct shape shapes[] = {{0, 4}, {1, 1},  {3, 5},   {33, 7},
                                      {9, 8}, {40, 9}, {37, 130}};

typedef void claim(const struct type *t, int id, struct shape s);

static void for_every_case(claim *holds)
{
    for (int order = TARN_EMU_FORWARD; order <= TARN_EMU_RANDOM; order++)
        for (size_t t = 0; t < 2; t++)
            for (int id = 0; id < TARN_PHI_COUNT; id++)
                for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
                    tarn_emu_settings.order = (enum tarn_emu_order)order;
                    holds(&types[t], id, shapes[s]);
                }
    tarn_emu_settings.order = TARN_EMU_FORWARD;
}

static void features_agree(const struct type *t, int id, struct shape s)
{
    const struct array x = new_array(t, s.R * s.D);
    const struct array f = new_array(t, s.R * width(id, s.D));
    fill(&x, s.D);
    t->rows->apply(id, s.R, s.D, x.host, f.host);
    OK(t->device->apply(ctx, id, s.R, s.D, x.device, f.device));
    expect_equal(&f, 4, "features", id);
    free_array(x);
    free_array(f);
}

Test(kernels_phi, features_are_those_of_the_stage)
{
    for_every_case(features_agree);
}

static void gradients_agree(const struct type *t, int id, struct shape s)
{
    const struct array x = new_array(t, s.R * s.D), dx = new_array(t, s.R * s.D);
    const struct array df = new_array(t, s.R * width(id, s.D));
    fill(&x, s.D);
    for (size_t i = 0; i < df.count; i++) put(&df, i, (double)(i % 13) + 1);
    send(&df);
    t->rows->grad(id, s.R, s.D, x.host, df.host, dx.host);
    OK(t->device->grad(ctx, id, s.R, s.D, x.device, df.device, dx.device));
    expect_equal(&dx, 4, "gradient", id);
    free_array(x);
    free_array(dx);
    free_array(df);
}

Test(kernels_phi, gradients_are_those_of_the_stage)
{
    for_every_case(gradients_agree);
}

static void scaled_rows_agree(const struct type *t, int id, struct shape s)
{
    const struct array x = new_array(t, s.R * s.D), dx = new_array(t, s.R * s.D);
    const struct array f = new_array(t, s.R * width(id, s.D));
    const struct array m = new_array(t, s.R), e = new_array(t, s.R);
    fill(&x, s.D);
    for (int with_eps = 0; with_eps < 2; with_eps++) {
        const double eps = with_eps ? 1e-6 : 0;
        t->rows->apply_scaled(id, s.R, s.D, x.host, eps, f.host, m.host, e.host);
        OK(t->device->apply_scaled(ctx, id, s.R, s.D, x.device, eps, f.device, m.device,
                                   e.device));
        expect_equal(&m, 1, "pivot", id);
        expect_equal(&e, 4, "eps", id);
        expect_equal(&f, 4, "scaled features", id);
        t->rows->grad_scaled(id, s.R, s.D, x.host, m.host, f.host, dx.host);
        OK(t->device->grad_scaled(ctx, id, s.R, s.D, x.device, m.device, f.device,
                                  dx.device));
        expect_equal(&dx, 4, "scaled gradient", id);
    }
    free_array(x);
    free_array(dx);
    free_array(f);
    free_array(m);
    free_array(e);
}

Test(kernels_phi, rows_under_their_scale_are_those_of_the_stage)
{
    for_every_case(scaled_rows_agree);
}

static void ready_features_agree(const struct type *t, int id, struct shape s)
{
    if (id != TARN_PHI_ELU1) return; /* no map is applied: once is enough */
    const struct array f = new_array(t, s.R * s.D);
    const struct array m = new_array(t, s.R), e = new_array(t, s.R);
    fill(&f, s.D);
    t->rows->scale(s.R, s.D, 1e-6, f.host, m.host, e.host);
    OK(t->device->scale(ctx, s.R, s.D, 1e-6, f.device, m.device, e.device));
    expect_equal(&m, 1, "scale", TARN_PHI_NONE);
    expect_equal(&e, 1, "eps", TARN_PHI_NONE);
    expect_equal(&f, 1, "scaled features", TARN_PHI_NONE);
    t->rows->unscale(s.R, s.D, m.host, f.host);
    OK(t->device->unscale(ctx, s.R, s.D, m.device, f.device));
    expect_equal(&f, 2, "gradient", TARN_PHI_NONE);
    free_array(f);
    free_array(m);
    free_array(e);
}

Test(kernels_phi, features_of_a_user_are_scaled_as_the_stage_does_it)
{
    for_every_case(ready_features_agree);
}
