/* forms.h: the forms that equiv compares, behind one signature. Internal. */
#ifndef TARN_FORMS_H
#define TARN_FORMS_H

#include "core/tensor.h"

/* What a form is run on. Everything is of one type. */
struct tarn_form_input {
    tarn_context *ctx;
    const tarn_tensor *q, *k, *v;
    tarn_options options; /* with its impl and, for causal forms, its state */
};

struct tarn_form_entry {
    const char *name;
    /* Tells whether the form computes what these options ask for. */
    bool (*fits)(const struct tarn_form_input *in);
    /* Gives the output and the bytes that are kept to go on; NULL: only a gradient. */
    tarn_status (*run)(const struct tarn_form_input *in, tarn_method method,
                       tarn_tensor **out, size_t *bytes);
    tarn_status (*grad)(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                        const tarn_tensor *v, const tarn_tensor *dout,
                        const tarn_options *options, tarn_grads *grads); /* or NULL */
    tarn_method method;
};

/* Gives a form by position, NULL past the last one. */
const struct tarn_form_entry *tarn_form_at(size_t position);

#endif
