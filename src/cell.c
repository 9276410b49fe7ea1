/* cell.c: stage 4's object, a recurrent cell with its state (S, z). Chapter 5.
 *
 * The state of all heads lies in one tensor: totals S and z, then the partial sums of the
 * two-level scheme (stages/sums.h). A step works in place; a run works on a copy, which
 * becomes the state when every token has gone through. */
#include "cell.h"
#include "core/tensor.h"
#include "devices.h"
#include <math.h>
#include <string.h>

/* ---- Making and ending ----------------------------------------------------------------- */

static size_t heads_of(const tarn_rnn *st)
{
    return st->B * st->H;
}

tarn_status tarn_cell_new(tarn_context *ctx, const char *function,
                          const tarn_cell *cell, int rank, size_t B, size_t H,
                          tarn_rnn **out)
{
    const struct tarn_device *device = NULL;
    tarn_rnn *st = tarn_alloc(ctx, 1, sizeof *st);
    if (!st) return TARN_ENOMEM;
    *st = (tarn_rnn){.ctx = ctx, .cell = *cell, .rank = rank, .B = B, .H = H};
    if (!st->cell.phi) st->cell.phi = tarn_phi_at(0);
    st->cell.scale = (double)NAN; /* a cache's option only */
    tarn_status status =
        tarn_find_device(ctx, function, cell->device ? cell->device : "cpu", &device);
    if (!status)
        status = tarn_features_width(ctx, function, st->cell.phi, device, cell->dtype,
                                     cell->D, &st->C);
    size_t heads, head, all;
    if (!status &&
        !(tarn_product(B, H, &heads) && tarn_product(st->C, cell->M + 1, &head) &&
          tarn_product(heads, head, &all) && tarn_product(all, 2, &all)))
        status =
            tarn_fail(ctx, TARN_ENOMEM,
                      "%s: a state of %zu x %zu x [%zu, %zu] does not fit in memory",
                      function, B, H, st->C, cell->M);
    if (!status)
        status = tarn_tensor_new_on(ctx, device, cell->dtype, 1, &all, &st->memory);
    if (status) {
        tarn_rnn_free(st);
        return status;
    }
    tarn_rnn_reset(st);
    *out = st;
    return TARN_OK;
}

tarn_status tarn_rnn_new(tarn_context *ctx, const tarn_cell *cell, tarn_rnn **out)
{
    if (cell->D == 0 || cell->M == 0)
        return tarn_fail(ctx, TARN_EINVAL,
                         "rnn: D is %zu and M is %zu, expected 1 or more", cell->D,
                         cell->M);
    if (cell->B && !cell->H)
        return tarn_fail(ctx, TARN_EINVAL,
                         "rnn: B is %zu without H, expected H as well", cell->B);
    if (!(cell->eps >= 0) || cell->eps > 1e300)
        return tarn_fail(ctx, TARN_EINVAL, "rnn: eps is %g, expected 0 or more",
                         cell->eps);
    const int rank = 2 + (cell->H > 0) + (cell->B > 0);
    return tarn_cell_new(ctx, "rnn", cell, rank, cell->B ? cell->B : 1,
                         cell->H ? cell->H : 1, out);
}

void tarn_rnn_free(tarn_rnn *st)
{
    if (!st) return;
    tarn_tensor_free(st->memory);
    tarn_features_free(&st->fq);
    tarn_features_free(&st->fk);
    tarn_release(st->room);
    tarn_release(st);
}

tarn_status tarn_rnn_clone(tarn_context *ctx, const tarn_rnn *st, tarn_rnn **out)
{
    tarn_rnn *copy = tarn_alloc(ctx, 1, sizeof *copy);
    if (!copy) return TARN_ENOMEM;
    *copy = *st;
    copy->memory = NULL;
    copy->fq = copy->fk = (struct tarn_features){0};
    copy->room = NULL;
    copy->room_bytes = 0;
    tarn_status status = tarn_clone(ctx, st->memory, st->cell.dtype, &copy->memory);
    if (status)
        tarn_rnn_free(copy);
    else
        *out = copy;
    return status;
}

tarn_status tarn_cell_move(tarn_context *ctx, const char *function, tarn_rnn *st,
                           const char *device)
{
    const struct tarn_device *target;
    tarn_tensor *memory = NULL;
    tarn_status status = tarn_find_device(ctx, function, device, &target);
    if (status || target == tarn_device_of(st->memory)) return status;
    status = tarn_move(ctx, st->memory, target, &memory);
    if (status) return status;
    tarn_tensor_free(st->memory);
    st->memory = memory;
    st->cell.device = tarn_device_name(target);
    return TARN_OK;
}

void tarn_rnn_reset(tarn_rnn *st)
{
    if (tarn_device_of(st->memory))
        tarn_fill(st->ctx, st->memory, 0);
    else
        memset(tarn_tensor_data(st->memory), 0,
               tarn_tensor_numel(st->memory) * tarn_dtype_size(st->cell.dtype));
    st->time = 0;
    st->count = 0;
    st->sound = true;
}

const tarn_cell *tarn_rnn_cell(const tarn_rnn *st)
{
    return &st->cell;
}
size_t tarn_rnn_features(const tarn_rnn *st)
{
    return st->C;
}
const char *tarn_cell_device(const tarn_rnn *st)
{
    return tarn_tensor_device(st->memory);
}
uint64_t tarn_rnn_time(const tarn_rnn *st)
{
    return st->time;
}

size_t tarn_rnn_bytes(const tarn_rnn *st)
{
    return tarn_tensor_numel(st->memory) * tarn_dtype_size(st->cell.dtype);
}

/* ---- The state in and out ---------------------------------------------------------------- */

/* A view of one part of the memory: S or z of all heads, total or partial. */
static tarn_status part(tarn_context *ctx, const tarn_rnn *st, bool is_z,
                        bool is_partial, tarn_tensor **view)
{
    const size_t S_size = heads_of(st) * st->C * st->cell.M,
                 z_size = heads_of(st) * st->C;
    const size_t start = (is_partial ? S_size + z_size : 0) + (is_z ? S_size : 0);
    const size_t all[4] = {st->B, st->H, st->C, st->cell.M};
    tarn_tensor *flat = NULL;
    tarn_status status =
        tarn_narrow(ctx, st->memory, 0, start, is_z ? z_size : S_size, 1, &flat);
    if (!status)
        status = tarn_reshape(ctx, flat, st->rank - is_z, all + 4 - st->rank, view);
    tarn_tensor_free(flat);
    return status;
}

/* total + partial as a fresh tensor. */
static tarn_status sum_levels(tarn_context *ctx, const tarn_rnn *st, bool is_z,
                              tarn_tensor **out)
{
    tarn_tensor *total = NULL, *partial = NULL;
    tarn_status status = part(ctx, st, is_z, false, &total);
    if (!status) status = part(ctx, st, is_z, true, &partial);
    if (!status) status = tarn_binary(ctx, TARN_ADD, total, partial, out);
    tarn_tensor_free(total);
    tarn_tensor_free(partial);
    return status;
}

tarn_status tarn_rnn_state(tarn_context *ctx, const tarn_rnn *st, tarn_tensor **S,
                           tarn_tensor **z)
{
    tarn_tensor *S_sum = NULL, *z_sum = NULL;
    tarn_status status = S ? sum_levels(ctx, st, false, &S_sum) : TARN_OK;
    if (!status && z) status = sum_levels(ctx, st, true, &z_sum);
    if (status) {
        tarn_tensor_free(S_sum);
        return status;
    }
    if (S) *S = S_sum;
    if (z) *z = z_sum;
    return TARN_OK;
}

static tarn_status check_part(tarn_context *ctx, const char *who, const char *name,
                              const char *letters, const tarn_tensor *got,
                              const tarn_tensor *want)
{
    const int rank = tarn_tensor_rank(want);
    const char *there = tarn_tensor_device(got), *here = tarn_tensor_device(want);
    if (strcmp(there, here) != 0)
        return tarn_fail(
            ctx, TARN_EDEVICE,
            "%s%s is on %s, expected it on %s; t:to(device) moves a tensor", who, name,
            there, here);
    if (tarn_tensor_rank(got) == rank &&
        memcmp(tarn_tensor_shape(got), tarn_tensor_shape(want),
               (size_t)rank * sizeof(size_t)) == 0)
        return TARN_OK;
    return tarn_fail(ctx, TARN_ESHAPE, "%s%s is %s, expected [(B, (H,)) %s] = %s", who,
                     name, tarn_shape_text(got).text, letters,
                     tarn_shape_text(want).text);
}

tarn_status tarn_cell_set_state(tarn_context *ctx, const char *who, tarn_rnn *st,
                                const tarn_tensor *S, const tarn_tensor *z)
{
    tarn_tensor *S_total = NULL, *z_total = NULL;
    tarn_status status = part(ctx, st, false, false, &S_total);
    if (!status) status = part(ctx, st, true, false, &z_total);
    if (!status) status = check_part(ctx, who, "S", "C, M", S, S_total);
    if (!status) status = check_part(ctx, who, "z", "C", z, z_total);
    if (!status) {
        tarn_rnn_reset(st);
        st->sound = false;
        status = tarn_copy(ctx, S_total, S);
    }
    if (!status) status = tarn_copy(ctx, z_total, z);
    tarn_tensor_free(S_total);
    tarn_tensor_free(z_total);
    return status;
}

tarn_status tarn_rnn_set_state(tarn_context *ctx, tarn_rnn *st, const tarn_tensor *S,
                               const tarn_tensor *z)
{
    return tarn_cell_set_state(ctx, "rnn: ", st, S, z);
}

void tarn_cell_set_impl(tarn_rnn *st, const char *impl)
{
    st->cell.impl = impl;
}

/* ---- Calls on a state ---------------------------------------------------------------------- */

void tarn_cell_attach(struct tarn_call *call, tarn_rnn *st)
{
    const size_t size = tarn_dtype_size(st->cell.dtype);
    const size_t S_size = heads_of(st) * st->C * st->cell.M,
                 z_size = heads_of(st) * st->C;
    char *memory = tarn_tensor_data(st->memory);
    call->sums = (struct tarn_sums){.S = memory,
                                    .z = memory + S_size * size,
                                    .S_part = memory + (S_size + z_size) * size,
                                    .z_part = memory + (2 * S_size + z_size) * size,
                                    .count = st->count,
                                    .sound = st->sound};
    st->sound = false; /* until the call has ended well */
}

void tarn_cell_advance(const struct tarn_call *call, tarn_rnn *st)
{
    st->time += call->N;
    st->count = call->sums.count;
    st->sound = call->sums.sound;
}

static bool same_phi(const tarn_phi *a, const tarn_phi *b)
{
    return a->apply ? a->apply == b->apply && a->user == b->user
                    : !b->apply && a->builtin == b->builtin;
}

tarn_status tarn_cell_check(const struct tarn_call *call, const tarn_rnn *st)
{
    const struct tarn_extents have = {{st->B, st->H, st->C, st->cell.M}};
    const struct tarn_extents want = {{call->B, call->H, call->first.C, call->M}};
    if (st->rank != call->rank || memcmp(&have, &want, sizeof have) != 0) {
        const int skip = 4 - st->rank, want_skip = 4 - call->rank;
        return tarn_fail(
            call->ctx, TARN_ESHAPE,
            "%s: state is S %s, expected [(B, (H,)) C, M] = %s to match q and v",
            call->function, tarn_extents_text(st->rank, have.n + skip).text,
            tarn_extents_text(call->rank, want.n + want_skip).text);
    }
    if (st->cell.dtype != call->dtype)
        return tarn_fail(call->ctx, TARN_EDTYPE,
                         "%s: state is %s, expected %s to match q, k, v",
                         call->function, tarn_dtype_name(st->cell.dtype),
                         tarn_dtype_name(call->dtype));
    if (!same_phi(st->cell.phi, call->options.phi))
        return tarn_fail(call->ctx, TARN_EINVAL,
                         "%s: state was made with phi %s, expected %s as in this call",
                         call->function, st->cell.phi->name, call->options.phi->name);
    return TARN_OK;
}

tarn_status tarn_cell_for(struct tarn_call *call, tarn_rnn **out)
{
    const tarn_options *o = &call->options;
    if (o->state) {
        tarn_status status = tarn_cell_check(call, o->state);
        if (!status) status = tarn_rnn_clone(call->ctx, o->state, out);
        if (!status) (*out)->cell.eps = o->eps;
        return status;
    }
    const tarn_cell cell = {.B = call->rank > 3 ? call->B : 0,
                            .H = call->rank > 2 ? call->H : 0,
                            .D = call->D,
                            .M = call->M,
                            .phi = o->phi,
                            .eps = o->eps,
                            .dtype = call->dtype,
                            .impl = o->impl,
                            .device = tarn_device_name(call->device)};
    return tarn_cell_new(call->ctx, call->function, &cell, call->rank, call->B, call->H,
                         out);
}

/* ---- Stepping -------------------------------------------------------------------------------- */

tarn_status tarn_cell_open(tarn_context *ctx, const char *function,
                           const struct tarn_sequence *s, bool token,
                           struct tarn_call *call)
{
    tarn_options options = tarn_defaults();
    options.phi = s->cell->phi;
    options.eps = s->cell->eps;
    options.scale = s->cell->scale;
    options.impl = s->cell->impl;
    const size_t N = token ? 1 : TARN_ANY;
    const struct tarn_arguments args = {.q = s->q,
                                        .k = s->k,
                                        .v = s->v,
                                        .options = &options,
                                        .want_q = {{s->B, s->H, N, s->cell->D}},
                                        .want_from = "the state",
                                        .want_M = s->cell->M,
                                        .least = s->cell->dtype,
                                        .same_length = true,
                                        .token = token};
    static const char *const letters[2][3] = {{"N, D", "H, N, D", "B, H, N, D"},
                                              {"D", "H, D", "B, H, D"}};
    if (tarn_tensor_rank(s->q) + token != s->rank) {
        *call = (struct tarn_call){0};
        return tarn_fail(ctx, TARN_ESHAPE,
                         "%s: q is %s, expected [%s] to match the state", function,
                         tarn_shape_text(s->q).text, letters[token][s->rank - 2]);
    }
    tarn_status status = tarn_call_open(ctx, function, &args, call);
    if (!status && strcmp(s->device, tarn_device_name(call->device)) != 0)
        status =
            tarn_fail(ctx, TARN_EDEVICE,
                      "%s: q is on %s and the state on %s, expected both on one "
                      "device; q:to(\"%s\") moves q",
                      function, tarn_device_name(call->device), s->device, s->device);
    if (!status && call->dtype != s->cell->dtype)
        status = tarn_fail(
            ctx, TARN_EDTYPE, "%s: q, k, v are %s, expected %s as the state", function,
            tarn_dtype_name(call->dtype), tarn_dtype_name(s->cell->dtype));
    return status;
}

static struct tarn_sequence sequence_of(const tarn_rnn *st, const tarn_tensor *q,
                                        const tarn_tensor *k, const tarn_tensor *v)
{
    return (struct tarn_sequence){.cell = &st->cell,
                                  .rank = st->rank,
                                  .B = st->B,
                                  .H = st->H,
                                  .device = tarn_cell_device(st),
                                  .q = q,
                                  .k = k,
                                  .v = v};
}

/* Features into the room that the cell keeps, so that a step allocates nothing. The room
 * is taken out meanwhile: phi may be a user's function that steps this very cell. */
static tarn_status features_in_cell(struct tarn_call *call, tarn_rnn *st)
{
    call->fq = st->fq;
    call->fk = st->fk;
    call->room = st->room;
    call->room_bytes = st->room_bytes;
    st->fq = st->fk = (struct tarn_features){0};
    st->room = NULL;
    st->room_bytes = 0;
    tarn_status status = tarn_call_features(call, call->ops->rnn);
    if (!status && call->first.C != st->C)
        status =
            tarn_fail(call->ctx, TARN_ESHAPE,
                      "%s: phi gave %zu features, expected C = %zu as in the state",
                      call->function, call->first.C, st->C);
    return status;
}

/* Ends the call; its room goes back to the cell. */
static void close_on(struct tarn_call *call, tarn_rnn *st)
{
    tarn_features_free(&st->fq);
    tarn_features_free(&st->fk);
    tarn_release(st->room);
    st->fq = call->fq;
    st->fk = call->fk;
    st->room = call->room;
    st->room_bytes = call->room_bytes;
    call->fq = call->fk = (struct tarn_features){0};
    call->room = NULL;
    tarn_call_close(call);
}

tarn_status tarn_rnn_step(tarn_context *ctx, tarn_rnn *st, const tarn_tensor *q,
                          const tarn_tensor *k, const tarn_tensor *v, tarn_tensor **out)
{
    const struct tarn_sequence sequence = sequence_of(st, q, k, v);
    struct tarn_call call;
    tarn_tensor *result = NULL;
    tarn_status status = tarn_cell_open(ctx, "rnn:step", &sequence, true, &call);
    if (!status) status = features_in_cell(&call, st);
    if (!status) status = tarn_call_output(&call, *out, &result);
    if (!status) status = tarn_poll(ctx, "rnn:step");
    if (!status) {
        call.first.out = tarn_tensor_data(result);
        tarn_cell_attach(&call, st);
        status = tarn_call_step(&call, call.ops->rnn);
        if (!status || status == TARN_ERANGE) tarn_cell_advance(&call, st);
    }
    close_on(&call, st);
    if (status && !*out) tarn_tensor_free(result);
    if (!status) *out = result;
    return status;
}

tarn_status tarn_rnn_run(tarn_context *ctx, tarn_rnn *st, const tarn_tensor *q,
                         const tarn_tensor *k, const tarn_tensor *v, tarn_tensor **out)
{
    const struct tarn_sequence sequence = sequence_of(st, q, k, v);
    struct tarn_call call;
    tarn_tensor *result = NULL;
    tarn_rnn *next = NULL;
    tarn_status status = tarn_cell_open(ctx, "rnn:run", &sequence, false, &call);
    if (!status) status = features_in_cell(&call, st);
    if (!status) status = tarn_rnn_clone(ctx, st, &next);
    if (!status) status = tarn_call_output(&call, *out, &result);
    if (!status) {
        call.first.out = tarn_tensor_data(result);
        tarn_cell_attach(&call, next);
        status = tarn_call_run(&call, call.ops->rnn, false);
    }
    if (!status) {
        tarn_tensor *before = st->memory;
        st->memory = next->memory;
        next->memory = before;
        tarn_cell_advance(&call, st);
    }
    close_on(&call, st);
    tarn_rnn_free(next);
    if (status && !*out) tarn_tensor_free(result);
    if (!status) *out = result;
    return status;
}
