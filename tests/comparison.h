/* comparison.h: what the tests of equiv share: inputs, a run, and looking at its rows. */
#ifndef TARN_TESTS_COMPARISON_H
#define TARN_TESTS_COMPARISON_H

#include "attention.h"
#include <float.h>
#include <string.h>

static tarn_context *ctx;
static tarn_equiv_options options;
static tarn_tensor *q, *k, *v;
static tarn_report report;

static inline void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    options = tarn_equiv_defaults();
    q = k = v = NULL;
    report = (tarn_report){0};
}

static inline void free_inputs(void)
{
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    q = k = v = NULL;
    tarn_report_free(&report);
}

static inline void close(void)
{
    free_inputs();
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
struct sizes {
    size_t N_q, N, D, M;
};

/* q and k are normal numbers times `factor`, q moved by `shift`. Two heads. */
static inline void make_inputs(struct sizes s, tarn_dtype dtype, double factor,
                               double shift)
{
    free_inputs();
    tarn_tensor *plain = normal(ctx, dtype, 1, 3, (size_t[]){2, s.N_q, s.D}, factor);
    OK(tarn_binary_number(ctx, TARN_ADD, plain, shift, false, &q));
    tarn_tensor_free(plain);
    k = normal(ctx, dtype, 2, 3, (size_t[]){2, s.N, s.D}, factor);
    v = normal(ctx, dtype, 3, 3, (size_t[]){2, s.N, s.M}, 1);
}

static inline void run(void)
{
    tarn_report_free(&report);
    OK(tarn_equiv(ctx, q, k, v, &options, &report));
}

/* Ends the test at the first row that is not ok. */
static inline void expect_ok(const char *what)
{
    for (size_t r = 0; r < report.count; r++) {
        const tarn_row *row = &report.rows[r];
        cr_assert(
            row->ok,
            "%s, N = %zu, D = %zu, M = %zu: %s of %s in %s errs by %.3g, bound %.3g; "
            "worst %.9g, expected %.9g",
            what, tarn_tensor_shape(k)[1], tarn_tensor_shape(k)[2],
            tarn_tensor_shape(v)[2], row->what, row->form,
            row->dtype == TARN_FLOAT32 ? "float32" : "float64", row->max_rel, row->tol,
            row->worst.got, row->worst.expected);
    }
    cr_assert(report.ok);
    cr_assert_gt(report.count, 0);
}

static inline const tarn_row *row_of(const char *form, const char *what,
                                     tarn_dtype dtype)
{
    for (size_t r = 0; r < report.count; r++) {
        const tarn_row *row = &report.rows[r];
        if (strcmp(row->form, form) == 0 && strcmp(row->what, what) == 0 &&
            row->dtype == dtype)
            return row;
    }
    return NULL;
}

/* A state of two heads, z positive. */
static inline tarn_rnn *random_state(size_t D, size_t M, tarn_dtype dtype)
{
    tarn_rnn *st;
    const tarn_cell cell = {.H = 2,
                            .D = D,
                            .M = M,
                            .phi = options.attention.phi,
                            .eps = 1e-6,
                            .dtype = dtype};
    OK(tarn_rnn_new(ctx, &cell, &st));
    const size_t C = tarn_rnn_features(st);
    tarn_tensor *S = normal(ctx, dtype, 4, 3, (size_t[]){2, C, M}, 1), *z;
    const uint64_t seed = 5;
    OK(tarn_random(ctx, TARN_UNIFORM, &seed, dtype, 2, (size_t[]){2, C}, &z));
    OK(tarn_rnn_set_state(ctx, st, S, z));
    tarn_tensor_free(S);
    tarn_tensor_free(z);
    return st;
}

#endif
