/* forms.c: the forms that equiv compares, behind one signature. Chapter 8. */
#include "check/forms.h"
#include "cell.h"

/* A loop over single tokens is left out beyond this length. */
enum { MAX_STEPS = 4096 };

static size_t extent(const tarn_tensor *t, int from_end)
{
    return t->shape[t->rank - from_end];
}

static size_t heads_of(const tarn_tensor *t)
{
    size_t heads = 1;
    for (int d = 0; d < t->rank - 2; d++) heads *= t->shape[d];
    return heads;
}

/* ---- Which form computes what is asked ------------------------------------------------- */

static bool fits_sim(const struct tarn_form_input *in)
{
    return !in->options.state && !in->options.dS && !in->options.dz;
}

static bool fits_assoc(const struct tarn_form_input *in)
{
    return in->options.by == TARN_PHI && !in->options.causal && fits_sim(in);
}

static bool fits_prefix(const struct tarn_form_input *in)
{
    return in->options.by == TARN_PHI && in->options.causal &&
           !in->options.lengths_count;
}

/* A device has one way to be parallel in time, whatever it is called. */
static bool fits_scan(const struct tarn_form_input *in)
{
    return fits_prefix(in) && !tarn_device_of(in->q);
}

/* There is no cell of no heads. */
static bool fits_rnn(const struct tarn_form_input *in)
{
    return fits_prefix(in) && heads_of(in->q) > 0;
}

static bool fits_steps(const struct tarn_form_input *in)
{
    return fits_rnn(in) && extent(in->q, 2) <= MAX_STEPS;
}

static bool fits_kv(const struct tarn_form_input *in)
{
    return !tarn_device_of(in->q) && in->options.by == TARN_SOFTMAX &&
           in->options.causal && !in->options.lengths_count && fits_sim(in) &&
           heads_of(in->q) > 0;
}

/* ---- Running them ---------------------------------------------------------------------- */

/* To go on, stage 1 needs every key and every value so far. */
static tarn_status run_sim(const struct tarn_form_input *in, tarn_method method,
                           tarn_tensor **out, size_t *bytes)
{
    (void)method;
    *bytes = (tarn_tensor_numel(in->k) + tarn_tensor_numel(in->v)) *
             tarn_dtype_size(in->k->dtype);
    return tarn_sim(in->ctx, in->q, in->k, in->v, &in->options, out, NULL);
}

/* C for keys of this width: the features of one row. */
static tarn_status features_of(const struct tarn_form_input *in, size_t *C)
{
    const tarn_phi *phi = in->options.phi ? in->options.phi : tarn_phi_at(0);
    tarn_tensor *row, *features;
    tarn_status status =
        tarn_tensor_new_on(in->ctx, tarn_device_of(in->k), in->k->dtype, 2,
                           (size_t[]){1, extent(in->k, 1)}, &row);
    if (status) return status;
    status = tarn_fill(in->ctx, row, 0);
    if (!status) status = tarn_phi_apply(in->ctx, phi, row, &features);
    tarn_tensor_free(row);
    if (status) return status;
    *C = extent(features, 1);
    tarn_tensor_free(features);
    return TARN_OK;
}

static tarn_status run_assoc(const struct tarn_form_input *in, tarn_method method,
                             tarn_tensor **out, size_t *bytes)
{
    (void)method;
    size_t C;
    tarn_status status = features_of(in, &C);
    if (status) return status;
    *bytes =
        heads_of(in->k) * C * (extent(in->v, 1) + 1) * tarn_dtype_size(in->k->dtype);
    return tarn_assoc(in->ctx, in->q, in->k, in->v, &in->options, out);
}

static tarn_status run_prefix(const struct tarn_form_input *in, tarn_method method,
                              tarn_tensor **out, size_t *bytes)
{
    tarn_options options = in->options;
    tarn_rnn *final = NULL;
    options.method = method;
    tarn_status status =
        tarn_prefix(in->ctx, in->q, in->k, in->v, &options, out, &final);
    if (status) return status;
    *bytes = tarn_rnn_bytes(final);
    tarn_rnn_free(final);
    return TARN_OK;
}

static tarn_cell cell_for(const struct tarn_form_input *in)
{
    const tarn_tensor *q = in->q;
    return (tarn_cell){
        .B = q->rank > 3 ? q->shape[0] : 0,
        .H = q->rank > 2 ? q->shape[q->rank - 3] : 0,
        .D = extent(q, 1),
        .M = extent(in->v, 1),
        .phi = in->options.phi,
        .eps = in->options.eps,
        .scale = in->options.scale,
        .dtype = q->dtype,
        .impl = in->options.impl,
        .device = tarn_tensor_device(q),
    };
}

static tarn_status start_rnn(const struct tarn_form_input *in, tarn_rnn **st)
{
    const tarn_cell cell = cell_for(in);
    if (!in->options.state) return tarn_rnn_new(in->ctx, &cell, st);
    tarn_status status = tarn_rnn_clone(in->ctx, in->options.state, st);
    if (!status) tarn_cell_set_impl(*st, in->options.impl);
    return status;
}

static tarn_status run_rnn(const struct tarn_form_input *in, tarn_method method,
                           tarn_tensor **out, size_t *bytes)
{
    (void)method;
    tarn_rnn *st;
    tarn_status status = start_rnn(in, &st);
    if (status) return status;
    status = tarn_rnn_run(in->ctx, st, in->q, in->k, in->v, out);
    *bytes = tarn_rnn_bytes(st);
    tarn_rnn_free(st);
    return status;
}

/* One token: q, k, v and out at position i of the sequence. */
static tarn_status step(const struct tarn_form_input *in, tarn_rnn *st, size_t i,
                        tarn_tensor *y, tarn_tensor *out)
{
    const int dim = in->q->rank - 2;
    const tarn_tensor *whole[4] = {in->q, in->k, in->v, out};
    tarn_tensor *token[4] = {NULL};
    tarn_status status = TARN_OK;
    for (int n = 0; !status && n < 4; n++)
        status = tarn_select(in->ctx, whole[n], dim, i, &token[n]);
    if (!status) status = tarn_rnn_step(in->ctx, st, token[0], token[1], token[2], &y);
    if (!status) status = tarn_copy(in->ctx, token[3], y);
    for (int n = 0; n < 4; n++) tarn_tensor_free(token[n]);
    return status;
}

/* Makes the whole output and the output of one step. */
static tarn_status new_outputs(const struct tarn_form_input *in, tarn_tensor **whole,
                               tarn_tensor **token)
{
    size_t shape[TARN_MAX_RANK];
    const int rank = in->v->rank;
    for (int d = 0; d < rank; d++) shape[d] = in->v->shape[d];
    const struct tarn_device *device = tarn_device_of(in->v);
    tarn_status status =
        tarn_tensor_new_on(in->ctx, device, in->v->dtype, rank, shape, whole);
    if (status) return status;
    shape[rank - 2] = shape[rank - 1];
    status = tarn_tensor_new_on(in->ctx, device, in->v->dtype, rank - 1, shape, token);
    if (status) tarn_tensor_free(*whole);
    return status;
}

static tarn_status run_steps(const struct tarn_form_input *in, tarn_method method,
                             tarn_tensor **out, size_t *bytes)
{
    (void)method;
    tarn_rnn *st;
    tarn_tensor *whole, *y;
    tarn_status status = start_rnn(in, &st);
    if (status) return status;
    status = new_outputs(in, &whole, &y);
    if (status) {
        tarn_rnn_free(st);
        return status;
    }
    for (size_t i = 0; !status && i < extent(in->q, 2); i++)
        status = step(in, st, i, y, whole);
    *bytes = tarn_rnn_bytes(st);
    tarn_rnn_free(st);
    tarn_tensor_free(y);
    if (status)
        tarn_tensor_free(whole);
    else
        *out = whole;
    return status;
}

static tarn_status run_kv(const struct tarn_form_input *in, tarn_method method,
                          tarn_tensor **out, size_t *bytes)
{
    (void)method;
    const tarn_cell cell = cell_for(in);
    tarn_kv *kv;
    tarn_status status = tarn_kv_new(in->ctx, &cell, &kv);
    if (status) return status;
    status = tarn_kv_run(in->ctx, kv, in->q, in->k, in->v, out);
    *bytes = tarn_kv_bytes(kv);
    tarn_kv_free(kv);
    return status;
}

/* ---- The table ------------------------------------------------------------------------- */

static const struct tarn_form_entry forms[] = {
    {"sim", fits_sim, run_sim, tarn_sim_grad, TARN_CHUNKED},
    {"assoc", fits_assoc, run_assoc, tarn_assoc_grad, TARN_CHUNKED},
    {"prefix sequential", fits_prefix, run_prefix, NULL, TARN_SEQUENTIAL},
    {"prefix chunked", fits_prefix, run_prefix, NULL, TARN_CHUNKED},
    {"prefix scan", fits_scan, run_prefix, NULL, TARN_SCAN},
    {"prefix", fits_prefix, NULL, tarn_prefix_grad, TARN_CHUNKED},
    {"rnn", fits_rnn, run_rnn, NULL, TARN_CHUNKED},
    {"rnn step", fits_steps, run_steps, NULL, TARN_CHUNKED},
    {"rnn", fits_prefix, NULL, tarn_rnn_grad, TARN_CHUNKED},
    {"kv", fits_kv, run_kv, NULL, TARN_CHUNKED},
};

const struct tarn_form_entry *tarn_form_at(size_t position)
{
    return position < sizeof forms / sizeof *forms ? &forms[position] : NULL;
}
