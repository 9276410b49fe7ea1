/* every_form.h: the loop "for every form that computes this" of the case tests. */
#ifndef TARN_TESTS_EVERY_FORM_H
#define TARN_TESTS_EVERY_FORM_H

#include "attention.h"
#include "check/forms.h"
#include <string.h>

/* Linear attention without eps and without a state. */
static inline struct tarn_form_input linear(tarn_context *ctx, const tarn_tensor *q,
                                            const tarn_tensor *k, const tarn_tensor *v,
                                            bool causal)
{
    struct tarn_form_input in = {
        .ctx = ctx, .q = q, .k = k, .v = v, .options = tarn_defaults()};
    in.options.by = TARN_PHI;
    in.options.eps = 0;
    in.options.causal = causal;
    return in;
}

/* Gives the next form with an output, or with a gradient, that fits; NULL at the end. */
static inline const struct tarn_form_entry *next_form(size_t *at, bool grad,
                                                      const struct tarn_form_input *in)
{
    const struct tarn_form_entry *form;
    while ((form = tarn_form_at((*at)++)))
        if (form->fits(in) && (grad ? form->grad != NULL : form->run != NULL))
            return form;
    return NULL;
}

static inline tarn_tensor *output_of(const struct tarn_form_entry *form,
                                     const struct tarn_form_input *in)
{
    tarn_context *ctx = in->ctx;
    tarn_tensor *out = NULL;
    size_t bytes;
    OK(form->run(in, form->method, &out, &bytes));
    return out;
}

static inline tarn_grads gradients_of(const struct tarn_form_entry *form,
                                      const struct tarn_form_input *in,
                                      const tarn_tensor *dout)
{
    tarn_context *ctx = in->ctx;
    tarn_grads grads = {0};
    OK(form->grad(ctx, in->q, in->k, in->v, dout, &in->options, &grads));
    return grads;
}

/* Every element of a tensor set to one number: with 0, "ones features" under elu1. */
static inline tarn_tensor *filled(tarn_context *ctx, tarn_dtype dtype, int rank,
                                  const size_t *shape, double value)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, dtype, rank, shape, &t));
    OK(tarn_fill(ctx, t, value));
    return t;
}

/* The same numbers in other places: a view of rows in the middle of a buffer of NaN. */
static inline tarn_tensor *among_nan(tarn_context *ctx, const tarn_tensor *t)
{
    const size_t *shape = tarn_tensor_shape(t), rows = shape[0];
    const size_t size[2] = {rows + 20, shape[1]};
    tarn_tensor *buffer = filled(ctx, tarn_tensor_dtype(t), 2, size, (double)NAN),
                *view;
    OK(tarn_narrow(ctx, buffer, 0, 10, rows, 1, &view));
    OK(tarn_copy(ctx, view, t));
    tarn_tensor_free(buffer);
    return view;
}

/* Tells whether two tensors hold the same bits; both contiguous and of one type. */
static inline bool same_bits(const tarn_tensor *a, const tarn_tensor *b)
{
    cr_assert_eq(tarn_tensor_dtype(a), tarn_tensor_dtype(b));
    cr_assert_eq(tarn_tensor_numel(a), tarn_tensor_numel(b));
    cr_assert(tarn_tensor_is_contiguous(a) && tarn_tensor_is_contiguous(b));
    return memcmp(tarn_tensor_data(a), tarn_tensor_data(b),
                  tarn_tensor_numel(a) * tarn_dtype_size(tarn_tensor_dtype(a))) == 0;
}

/* Normal numbers: q, k [N, D], v, dout [N, M]. */
struct inputs {
    tarn_tensor *q, *k, *v, *dout;
};

static inline struct inputs random_inputs(tarn_context *ctx, tarn_dtype dtype, size_t N,
                                          size_t D, size_t M)
{
    return (struct inputs){
        .q = normal(ctx, dtype, 1, 2, (size_t[]){N, D}, 1),
        .k = normal(ctx, dtype, 2, 2, (size_t[]){N, D}, 1),
        .v = normal(ctx, dtype, 3, 2, (size_t[]){N, M}, 1),
        .dout = normal(ctx, dtype, 4, 2, (size_t[]){N, M}, 1),
    };
}

static inline void free_inputs(struct inputs *x)
{
    tarn_tensor *all[] = {x->q, x->k, x->v, x->dout};
    for (size_t n = 0; n < 4; n++) tarn_tensor_free(all[n]);
}

static inline tarn_tensor *rows(tarn_context *ctx, const tarn_tensor *t, size_t start,
                                size_t count)
{
    tarn_tensor *view;
    OK(tarn_narrow(ctx, t, 0, start, count, 1, &view));
    return view;
}

#endif
