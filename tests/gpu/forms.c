/* forms.c: the forms that check_gpu goes through. See gpu.h. */
#include "gpu.h"
#include <stddef.h>
#include <string.h>

static tarn_status run_sim(tarn_context *ctx, const tarn_tensor *q,
                           const tarn_tensor *k, const tarn_tensor *v,
                           const tarn_options *options, tarn_tensor **out)
{
    return tarn_sim(ctx, q, k, v, options, out, NULL);
}

static tarn_status run_prefix(tarn_context *ctx, const tarn_tensor *q,
                              const tarn_tensor *k, const tarn_tensor *v,
                              const tarn_options *options, tarn_tensor **out)
{
    return tarn_prefix(ctx, q, k, v, options, out, NULL);
}

/* Gives a cell the state of another one. */
static tarn_status take_state(tarn_context *ctx, const tarn_rnn *from, tarn_rnn *to)
{
    tarn_tensor *S = NULL, *z = NULL;
    tarn_status status = tarn_rnn_state(ctx, from, &S, &z);
    if (!status) status = tarn_rnn_set_state(ctx, to, S, z);
    tarn_tensor_free(S);
    tarn_tensor_free(z);
    return status;
}

static tarn_status run_rnn(tarn_context *ctx, const tarn_tensor *q,
                           const tarn_tensor *k, const tarn_tensor *v,
                           const tarn_options *options, tarn_tensor **out)
{
    const size_t *shape = tarn_tensor_shape(q);
    const tarn_cell cell = {.B = shape[0],
                            .H = shape[1],
                            .D = shape[3],
                            .M = tarn_tensor_shape(v)[3],
                            .eps = options->eps,
                            .dtype = tarn_tensor_dtype(q),
                            .impl = options->impl,
                            .device = tarn_tensor_device(q)};
    tarn_rnn *st = NULL;
    tarn_status status = tarn_rnn_new(ctx, &cell, &st);
    if (!status && options->state) status = take_state(ctx, options->state, st);
    if (!status) status = tarn_rnn_run(ctx, st, q, k, v, out);
    tarn_rnn_free(st);
    return status;
}

#define LADDERS(form)                                                                  \
    offsetof(struct tarn_device_forms, form),                                          \
        offsetof(struct tarn_device_forms, form##_grad)

const struct form gpu_forms[] = {
    {"sim softmax", TARN_SOFTMAX, false, false, LADDERS(sim), run_sim, tarn_sim_grad},
    {"sim rbf", TARN_RBF, false, false, LADDERS(sim), run_sim, tarn_sim_grad},
    {"sim phi", TARN_PHI, false, false, LADDERS(sim), run_sim, tarn_sim_grad},
    {"sim causal", TARN_SOFTMAX, true, false, LADDERS(sim), run_sim, tarn_sim_grad},
    {"assoc", TARN_PHI, false, false, LADDERS(assoc), tarn_assoc, tarn_assoc_grad},
    {"prefix", TARN_PHI, true, true, LADDERS(prefix), run_prefix, tarn_prefix_grad},
    {"rnn", TARN_PHI, true, true, LADDERS(rnn), run_rnn, tarn_rnn_grad},
};
const size_t gpu_form_count = sizeof gpu_forms / sizeof gpu_forms[0];

const struct tarn_ladder *gpu_ladder(const struct tarn_device *device, tarn_dtype dtype,
                                     const struct form *form, bool grad)
{
    const char *table = (const char *)device->forms(dtype);
    const struct tarn_ladder *ladder;
    memcpy(&ladder, table + (grad ? form->grad_ladder : form->ladder), sizeof ladder);
    return ladder;
}
