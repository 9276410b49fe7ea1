/* heads.c: one form run over all heads of a call, on the threads. The contract is in
 * call.h.
 *
 * A head is the unit of work: a stage sees it alone. Around each head stands one check:
 * finite inputs whose result is not finite have overflowed, and that is an error, never a
 * NaN that nobody expects. NaN and Inf in the inputs are data and go where they go. */
#include "call.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "on_device.h"
#include <stdatomic.h>
#include <string.h>

/* ---- Heads ---------------------------------------------------------------------------------- */

static size_t element_size(const struct tarn_call *call)
{
    return call->dtype == TARN_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* `base` moved on by h blocks of rows * columns elements; what is absent stays absent. */
static void *moved(const struct tarn_call *call, const void *base, size_t h,
                   size_t rows, size_t columns)
{
    if (!base) return NULL;
    return (char *)(uintptr_t)base + h * rows * columns * element_size(call);
}

static struct tarn_sums state_of_head(const struct tarn_call *call, size_t h)
{
    const size_t C = call->first.C, M = call->M;
    return (struct tarn_sums){.S = moved(call, call->sums.S, h, C, M),
                              .z = moved(call, call->sums.z, h, C, 1),
                              .S_part = moved(call, call->sums.S_part, h, C, M),
                              .z_part = moved(call, call->sums.z_part, h, C, 1),
                              .count = call->sums.count,
                              .sound = call->sums.sound};
}

static struct tarn_attn head_of(const struct tarn_call *call, size_t h)
{
    struct tarn_attn a = call->first;
    const size_t N_q = call->N_q, N = call->key_rows, C = a.C, M = a.M;
    a.q = moved(call, a.q, h, N_q, C);
    a.k = moved(call, a.k, h, N, C);
    a.v = moved(call, a.v, h, N, M);
    a.out = moved(call, a.out, h, N_q, M);
    a.eps_row = moved(call, a.eps_row, h, N_q, 1);
    a.weights = moved(call, a.weights, h, N_q, N);
    if (call->options.lengths_count) a.N = (size_t)call->options.lengths[h / call->H];
    if (!a.dout) return a;
    a.dout = moved(call, a.dout, h, N_q, M);
    a.dq = moved(call, a.dq, h, N_q, C);
    a.dk = moved(call, a.dk, h, N, C);
    a.dv = moved(call, a.dv, h, N, M);
    a.dS = moved(call, a.dS, h, C, M);
    a.dz = moved(call, a.dz, h, C, 1);
    a.dS0 = moved(call, a.dS0, h, C, M);
    a.dz0 = moved(call, a.dz0, h, C, 1);
    return a;
}

/* A call at work. A head is cut into parts where there are fewer heads than threads. */
struct lanes {
    struct tarn_call *call;
    tarn_status (*form)(struct tarn_attn *);
    bool guarded;        /* an overflow is to be found */
    bool looks;          /* by the form itself */
    bool whole;          /* one step, on this thread */
    atomic_bool sound;   /* all heads left their state finite */
    size_t lanes, parts; /* threads; parts of each head */
    size_t work;         /* elements of scratch memory in a lane */
    char *scratch, *z;   /* z: copies for the parts that do not own the state's */
    atomic_size_t next;  /* the item that is to be taken next */
    size_t count_after;  /* of tokens in the partial sums */
};

/* ---- Overflow ------------------------------------------------------------------------------- */

typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t long_words __attribute__((vector_size(16)));

/* True if no word, cut out by `mask`, is `ones`. */
static bool no_word_is(const char *x, size_t bytes, words mask, words ones)
{
    words found = {0}, last = {0};
    size_t i = 0;
    for (; i + sizeof last <= bytes; i += sizeof last) {
        words next;
        memcpy(&next, x + i, sizeof next);
        found |= (words)((next & mask) == ones);
    }
    memcpy(&last, x + i, bytes - i);
    found |= (words)((last & mask) == ones);
    bool any = false;
    for (size_t w = 0; w < sizeof found / sizeof found[0]; w++) any |= found[w] != 0;
    return !any;
}

/* The exponent of an infinity or a NaN is all ones. That of a float64 lies in the upper of
 * two words; the lower one, cut down to 0, is never 1. What is absent is finite. */
static bool is_finite(const struct tarn_call *call, const void *x, size_t n)
{
    const bool single = call->dtype == TARN_FLOAT32;
    const uint64_t exponent = single ? 0x7f8000007f800000 : 0x7ff0000000000000;
    const long_words mask = (long_words){0} + exponent;
    const long_words ones = mask + (uint64_t)!single;
    return !x || no_word_is(x, n * element_size(call), (words)mask, (words)ones);
}

static bool finite_state(const struct tarn_call *call, const struct tarn_sums *s)
{
    const size_t C = call->first.C, M = call->M;
    return is_finite(call, s->S, C * M) && is_finite(call, s->z, C) &&
           is_finite(call, s->S_part, C * M) && is_finite(call, s->z_part, C);
}

/* What the form was given. Features of a user's own map are data, those of ours are not:
 * then q and k are what was given. */
static bool finite_inputs(const struct tarn_call *call, const struct tarn_attn *a,
                          size_t h)
{
    const bool ours = call->fq.f && !call->options.phi->apply;
    const size_t width = ours ? call->D : a->C;
    const void *q =
        ours ? moved(call, tarn_tensor_data(call->q.t), h, a->N_q, width) : a->q;
    const void *k =
        ours ? moved(call, tarn_tensor_data(call->k.t), h, call->key_rows, width)
             : a->k;
    return is_finite(call, q, a->N_q * width) && is_finite(call, k, a->N * width) &&
           is_finite(call, a->v, a->N * a->M) &&
           is_finite(call, a->dout, a->N_q * a->M) &&
           is_finite(call, a->dS, a->C * a->M) && is_finite(call, a->dz, a->C);
}

static bool finite_outputs(const struct tarn_call *call, const struct tarn_attn *a)
{
    return is_finite(call, a->out, a->N_q * a->M) &&
           is_finite(call, a->dq, a->N_q * a->C) &&
           is_finite(call, a->dk, a->N * a->C) && is_finite(call, a->dv, a->N * a->M);
}

/* A step whose output, inputs and z are finite leaves a state that is: any Inf or NaN in S
 * would have been read. */
static bool leaves_sound(const struct tarn_call *call, const struct tarn_attn *a,
                         size_t h)
{
    const struct tarn_sums *s = a->state;
    return is_finite(call, s->z, a->C) && is_finite(call, s->z_part, a->C) &&
           finite_inputs(call, a, h);
}

/* Runs the form on head h, or a part of it, and looks for an overflow if that can be done
 * right away: by the form itself, or in a whole head. A step does not look through a state
 * again that the step before has left sound. */
static tarn_status run_head(const struct lanes *job, struct tarn_attn *a, size_t h)
{
    const struct tarn_call *call = job->call;
    struct tarn_sums *state = a->state;
    const bool guarded = job->guarded && (job->looks || job->parts == 1) &&
                         (state->sound || finite_state(call, state));
    tarn_status status = job->form(a);
    state->sound = false;
    if (status || !guarded) return status;
    if (job->looks ? a->suspect : !finite_outputs(call, a))
        return finite_inputs(call, a, h) ? TARN_ERANGE : TARN_OK;
    state->sound = job->whole && leaves_sound(call, a, h);
    return TARN_OK;
}

/* A step works in place: it has taken the token in when its sums turn out to be too large. It
 * may be the denominator's alone, and the state is as good as before. */
static tarn_status overflowed(const struct tarn_call *call, bool in_place)
{
    const char *state = call->sums.sound
                            ? "; the state is not, and has taken the token"
                            : ", and so is the state, which has taken the token";
    return tarn_fail(
        call->ctx, TARN_ERANGE,
        "%s: q, k, v are finite, but their sums are beyond %s%s; hint: scale them "
        "down%s",
        call->function, tarn_dtype_name(call->dtype), in_place ? state : "",
        call->dtype == TARN_FLOAT32 ? " or use float64" : "");
}

/* ---- Lanes ---------------------------------------------------------------------------------- */

/* Head h, or one of its parts, with everything a form wants. */
static void open_item(const struct lanes *job, size_t item, size_t lane,
                      struct tarn_attn *a, struct tarn_sums *state)
{
    struct tarn_call *call = job->call;
    const size_t h = item / job->parts, C = call->first.C;
    *a = head_of(call, h);
    *state = state_of_head(call, h);
    a->state = state;
    a->parts = job->parts;
    a->part = item % job->parts;
    a->work = moved(call, job->scratch, lane, job->work, 1);
    if (a->pair) call->pair_head = h;
    if (a->part == 0 || !job->z) return;
    state->z = moved(call, job->z, 2 * item, C, 1);
    state->z_part = moved(call, job->z, 2 * item + 1, C, 1);
}

/* A lane takes the next head as long as there is one, with scratch memory of its own. A step
 * goes through all heads even if one overflows: each takes the token. */
static tarn_status run_lane(void *data, size_t lane)
{
    struct lanes *job = data;
    const size_t items = tarn_call_heads(job->call) * job->parts;
    tarn_status worst = TARN_OK;
    for (size_t item; (item = atomic_fetch_add(&job->next, 1)) < items;) {
        struct tarn_attn a;
        struct tarn_sums state;
        open_item(job, item, lane, &a, &state);
        tarn_status status = run_head(job, &a, item / job->parts);
        if (status && !(status == TARN_ERANGE && job->whole)) return status;
        if (status) worst = status;
        if (item == 0) job->count_after = state.count;
        if (!state.sound) atomic_store(&job->sound, false);
    }
    return worst;
}

/* Parts read z while one of them writes it: the others get copies. */
static tarn_status copy_z(struct lanes *job)
{
    const struct tarn_call *call = job->call;
    const size_t size = element_size(call), C = call->first.C;
    const size_t items = tarn_call_heads(call) * job->parts;
    if (job->parts == 1 || !call->sums.z) return TARN_OK;
    job->z = tarn_alloc(call->ctx, 2 * items * C, size);
    if (!job->z) return TARN_ENOMEM;
    for (size_t item = 0; item < items; item++) {
        struct tarn_sums s = state_of_head(call, item / job->parts);
        memcpy(moved(call, job->z, 2 * item, C, 1), s.z, C * size);
        memcpy(moved(call, job->z, 2 * item + 1, C, 1), s.z_part, C * size);
    }
    return TARN_OK;
}

/* Looks for an overflow in some rows of a head whose parts are all done. */
static tarn_status look_through(void *data, size_t item)
{
    const struct lanes *job = data;
    const struct tarn_call *call = job->call;
    const size_t h = item / job->parts, part = item % job->parts;
    const struct tarn_attn a = head_of(call, h);
    const size_t first = a.N_q * part / job->parts,
                 end = a.N_q * (part + 1) / job->parts;
    if (is_finite(call, moved(call, a.out, first, a.M, 1), (end - first) * a.M))
        return TARN_OK;
    return finite_inputs(call, &a, h) ? TARN_ERANGE : TARN_OK;
}

/* Less arithmetic than this is done before another thread has woken up, which on a busy
 * machine takes up to a millisecond. */
static const double small = 1 << 21;

/* Elements that a head takes in and gives out. A gradient also reads dout and writes as
 * much as it reads; a recurrent form reads its state and writes it. */
static double elements_of(const struct tarn_call *call, const struct tarn_attn *a)
{
    const double q = (double)a->N_q * (double)call->D,
                 out = (double)a->N_q * (double)a->M;
    const double kv = (double)a->N * (double)(call->D + a->M);
    const double state = call->sums.S ? 2 * (double)(a->C * a->M + a->C) : 0;
    const double weights = a->weights ? (double)a->N_q * (double)a->N : 0;
    return (a->dout ? 2 : 1) * (q + kv) + out + state + weights;
}

/* Counts the work of so many heads like this one, and gives its arithmetic. */
static double count_alike(const struct tarn_call *call, const struct tarn_form *form,
                          const struct tarn_attn *a, size_t heads)
{
    const double flops = (double)heads * form->flops(a);
    const double elements = (double)heads * elements_of(call, a);
    tarn_count(call->ctx, flops, elements * (double)element_size(call));
    return flops;
}

/* The same for all heads, which are alike where there are no lengths. */
static double count_work(const struct tarn_call *call, const struct tarn_form *form)
{
    const size_t heads = tarn_call_heads(call);
    if (call->options.lengths_count == 0)
        return count_alike(call, form, &call->first, heads);
    double flops = 0;
    for (size_t h = 0; h < heads; h++) {
        const struct tarn_attn a = head_of(call, h);
        flops += count_alike(call, form, &a, 1);
    }
    return flops;
}

static bool finite_states(const struct tarn_call *call)
{
    for (size_t h = 0; h < tarn_call_heads(call); h++) {
        const struct tarn_sums s = state_of_head(call, h);
        if (!finite_state(call, &s)) return false;
    }
    return true;
}

/* How many threads work, and on how many parts of each head. */
static void share(struct lanes *job, const struct tarn_form *form, bool alone)
{
    const size_t heads = tarn_call_heads(job->call);
    const size_t threads = (size_t)tarn_threads(job->call->ctx);
    job->lanes = job->parts = 1;
    if (alone || heads == 0) return;
    const size_t most = form->parts ? form->parts(&job->call->first) : 1;
    const size_t wanted = (threads + heads - 1) / heads;
    if (heads < threads && most > 0) job->parts = wanted < most ? wanted : most;
    job->lanes = threads < heads * job->parts ? threads : heads * job->parts;
}

static tarn_status run_lanes(struct lanes *job, bool whole)
{
    struct tarn_call *call = job->call;
    if (whole) return run_lane(job, 0);
    const bool sound =
        job->guarded && !job->looks && job->parts > 1 && finite_states(call);
    tarn_status status =
        tarn_parallel(call->ctx, call->function, job->lanes, run_lane, job);
    if (status || !sound || !call->first.out) return status;
    return tarn_parallel(call->ctx, call->function, tarn_call_heads(call) * job->parts,
                         look_through, job);
}

tarn_status tarn_call_run(struct tarn_call *call, const struct tarn_form *form,
                          bool whole)
{
    if (call->device) {
        count_work(call, form);
        const tarn_status status = tarn_device_run(call, form);
        return status == TARN_ERANGE ? overflowed(call, whole) : status;
    }
    const bool naive = call->options.precision == TARN_FAST && !call->first.weights;
    struct lanes job = {.call = call,
                        .form = naive ? form->naive : form->accurate,
                        .guarded = !naive && !call->first.pair,
                        .looks = form->looks,
                        .work = form->work(&call->first),
                        .whole = whole,
                        .sound = whole,
                        .count_after = call->sums.count};
    share(&job, form, count_work(call, form) < small || whole);
    tarn_status status = copy_z(&job);
    if (!status && job.work) {
        job.scratch = tarn_alloc(call->ctx, job.lanes * job.work, element_size(call));
        if (!job.scratch) status = TARN_ENOMEM;
    }
    if (!status) {
        status = run_lanes(&job, whole);
        if (status == TARN_EINTR && whole) tarn_poll(call->ctx, call->function);
    }
    const bool taken = !status || (status == TARN_ERANGE && whole);
    if (taken) call->sums.count = job.count_after;
    call->sums.sound = status ? taken && finite_states(call) : atomic_load(&job.sound);
    if (status == TARN_ERANGE) overflowed(call, whole);
    tarn_release(job.scratch);
    tarn_release(job.z);
    return status;
}

/* ---- One token ------------------------------------------------------------------------------ */

/* Memory for the form that is there at the next step, too. */
static tarn_status make_room(struct tarn_call *call, size_t elements)
{
    const size_t bytes = elements * element_size(call);
    if (call->room_bytes < bytes) {
        tarn_release(call->room);
        call->room = tarn_alloc(call->ctx, bytes, 1);
        call->room_bytes = call->room ? bytes : 0;
    }
    return call->room ? TARN_OK : TARN_ENOMEM;
}

/* After a step that has seen something unusual: whether a sum overflowed, and whether the
 * state is finite all the same. */
static tarn_status look_at_heads(struct tarn_call *call)
{
    bool sound = true;
    for (size_t h = 0; h < tarn_call_heads(call); h++) {
        struct tarn_sums state = state_of_head(call, h);
        struct tarn_attn a = head_of(call, h);
        a.state = &state;
        const bool finite = finite_outputs(call, &a);
        if (!finite && finite_inputs(call, &a, h)) {
            call->sums.sound = finite_states(call);
            return overflowed(call, true);
        }
        sound = sound && finite && leaves_sound(call, &a, h);
    }
    call->sums.sound = sound;
    return TARN_OK;
}

/* What is not finite in a state is found head by head. */
tarn_status tarn_call_step(struct tarn_call *call, const struct tarn_form *form)
{
    struct tarn_attn *a = &call->first;
    if (!form->step || !call->sums.sound || call->device)
        return tarn_call_run(call, form, true);
    count_work(call, form);
    tarn_status status = make_room(call, form->work(a));
    if (status) return status;
    a->work = call->room;
    a->state = &call->sums;
    call->sums.sound = false;
    status = form->step(a, tarn_call_heads(call));
    return status || call->sums.sound ? status : look_at_heads(call);
}
