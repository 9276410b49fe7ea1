/* kernels_device.h: a problem for kernels, put on the emulated device and taken back.
 * Tests include kernels.h, which includes this. */
#ifndef TARN_TESTS_KERNELS_DEVICE_H
#define TARN_TESTS_KERNELS_DEVICE_H

#include "attention.h"
#include "check/oracle.h"
#include "cuda/forms.h"
#include "emu/emu.h"
#include "stages/phi.h"
#include "tolerance.h"
#include <float.h>
#include <string.h>

static tarn_context *ctx;

static inline void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    tarn_emu_settings.locked = true;
}
static inline void close(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}

/* ---- Problems -------------------------------------------------------------------------- */

struct sizes {
    size_t heads, N_q, N, C, M;
};

/* Around squares of 32 and 64, one, none, wide ones; causal forms take N_q = N. */
static const struct sizes awkward[] = {
    {1, 1, 1, 1, 1},     {2, 3, 0, 4, 4},     {2, 0, 3, 4, 4},     {2, 65, 65, 3, 5},
    {1, 64, 64, 64, 64}, {3, 33, 33, 17, 15}, {1, 5, 130, 70, 40}, {2, 130, 63, 40, 70},
    {1, 1, 97, 128, 33}, {1, 70, 70, 1, 1},   {1, 9, 300, 8, 8},   {1, 2, 5, 1030, 3},
    {1, 2, 3, 3, 1030}};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

struct inputs;

struct problem {
    struct sizes n;
    tarn_options
        options; /* by (phi: q and k are features), eps, scale, causal, lengths */
    size_t past;
    double factor;    /* of q and k */
    bool scaled_rows; /* rows of q times powers of 2, and eps_row with them */
    bool state; /* there is a state before, and gradients arrive at the one after */
    bool weights;
    bool fused; /* q and k are no features: of the rungs that make elu1 of them */
    size_t
        sound; /* the last keys and values, from this position on, are NaN; 0: none are */
    void (*change)(const struct problem *p,
                   struct inputs *in); /* of the inputs, or NULL */
    bool once; /* in the first order of threads only: it is long */
};

/* Attention by features, eps 1e-6, not causal. */
static inline struct problem problem_of(struct sizes n)
{
    struct problem p = {.n = n, .options = tarn_defaults(), .factor = 1};
    p.options.by = TARN_PHI;
    p.options.phi = tarn_phi_find("identity");
    return p;
}

/* A causal problem for fused rungs, with entries of q and k on both sides of 0. */
static inline struct problem fused_problem_of(struct sizes n)
{
    struct problem p = problem_of(n);
    p.options.phi = tarn_phi_find("elu1");
    p.options.causal = p.fused = true;
    return p;
}

/* The map that a span tells of. */
static inline int map_of(const struct problem *p)
{
    return p->fused ? TARN_PHI_ELU1 : TARN_PHI_NONE;
}

/* The tensors of a problem; heads are batch entries, as those have lengths of their own. */
struct inputs {
    tarn_dtype dtype;
    tarn_tensor *q, *k, *v, *dout, *S0, *z0, *dS, *dz;
    struct tarn_oracle oracle;
};

/* Random numbers, the same in either type: those of float32. */
static inline tarn_tensor *random_values(tarn_distribution kind, tarn_dtype dtype,
                                         uint64_t seed, int rank, const size_t *shape,
                                         double factor)
{
    tarn_tensor *plain = NULL, *single = NULL, *t = NULL;
    OK(tarn_random(ctx, kind, &seed, TARN_FLOAT32, rank, shape, &plain));
    OK(tarn_binary_number(ctx, TARN_MUL, plain, factor, false, &single));
    OK(tarn_clone(ctx, single, dtype, &t));
    tarn_tensor_free(plain);
    tarn_tensor_free(single);
    return t;
}

/* Makes rows [first, N) of each head NaN. */
static inline void spoil(tarn_tensor *t, size_t first)
{
    const size_t *shape = tarn_tensor_shape(t);
    tarn_tensor *last = NULL;
    OK(tarn_narrow(ctx, t, 2, first, shape[2] - first, 1, &last));
    OK(tarn_fill(ctx, last, (double)NAN));
    tarn_tensor_free(last);
}

static inline struct inputs inputs_of(const struct problem *p, tarn_dtype dtype,
                                      bool grad)
{
    const struct sizes n = p->n;
    const size_t q[] = {n.heads, 1, n.N_q, n.C}, k[] = {n.heads, 1, n.N, n.C};
    const size_t v[] = {n.heads, 1, n.N, n.M}, out[] = {n.heads, 1, n.N_q, n.M};
    const size_t S[] = {n.heads, 1, n.C, n.M}, z[] = {n.heads, 1, n.C};
    const tarn_distribution kind =
        p->options.by == TARN_PHI && !p->fused ? TARN_UNIFORM : TARN_NORMAL;
    struct inputs in = {.dtype = dtype};
    in.q = random_values(kind, dtype, 1, 4, q, p->factor);
    in.k = random_values(kind, dtype, 2, 4, k, p->factor);
    in.v = random_values(TARN_NORMAL, dtype, 3, 4, v, 1);
    if (grad) in.dout = random_values(TARN_NORMAL, dtype, 4, 4, out, 1);
    if (p->sound) spoil(in.k, p->sound), spoil(in.v, p->sound);
    if (!p->state) return in;
    in.S0 = random_values(TARN_NORMAL, dtype, 5, 4, S, 1);
    in.z0 = random_values(TARN_UNIFORM, dtype, 6, 3, z, 1);
    if (grad) in.dS = random_values(TARN_NORMAL, dtype, 7, 4, S, 1);
    if (grad) in.dz = random_values(TARN_NORMAL, dtype, 8, 3, z, 1);
    return in;
}

static inline void ask_oracle(const struct problem *p, struct inputs *in)
{
    tarn_options options = p->options;
    options.dS = in->dS, options.dz = in->dz;
    const struct tarn_oracle_problem problem = {.function = "oracle",
                                                .q = in->q,
                                                .k = in->k,
                                                .v = in->v,
                                                .options = &options,
                                                .past = p->past,
                                                .S0 = in->S0,
                                                .z0 = in->z0,
                                                .dout = in->dout};
    OK(tarn_oracle_run(ctx, &problem, &in->oracle));
}

static inline void free_inputs(struct inputs *in)
{
    tarn_tensor *const all[] = {in->q,  in->k,  in->v,  in->dout,
                                in->S0, in->z0, in->dS, in->dz};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) tarn_tensor_free(all[t]);
    tarn_oracle_free(&in->oracle);
}

/* By which power of 2 row i of q is multiplied, counted over all heads. */
static inline double row_scale(const struct problem *p, size_t i)
{
    return p->scaled_rows ? ldexp(1, (int)(i % 7) * 4 - 12) : 1;
}

/* A new tensor: t with each row of its last dimension times row_scale to some power. */
static inline tarn_tensor *with_rows_scaled(const struct problem *p,
                                            const tarn_tensor *t, int power)
{
    tarn_tensor *scaled = NULL;
    OK(tarn_clone(ctx, t, tarn_tensor_dtype(t), &scaled));
    const size_t width = tarn_tensor_shape(t)[tarn_tensor_rank(t) - 1];
    for (size_t e = 0; e < tarn_tensor_numel(t); e++) {
        const double factor = pow(row_scale(p, e / width), power);
        if (tarn_tensor_dtype(t) == TARN_FLOAT32)
            ((float *)tarn_tensor_data(scaled))[e] *= (float)factor;
        else
            ((double *)tarn_tensor_data(scaled))[e] *= factor;
    }
    return scaled;
}

/* ---- Running a rung -------------------------------------------------------------------- */

/* What a rung may write; S and z are both levels added. */
struct results {
    tarn_tensor *out, *weights, *S, *z, *dq, *dk, *dv, *dS0, *dz0;
};

static inline void free_results(struct results *r)
{
    tarn_tensor *const all[] = {r->out, r->weights, r->S,   r->z,  r->dq,
                                r->dk,  r->dv,      r->dS0, r->dz0};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) tarn_tensor_free(all[t]);
}

static inline void *device_bytes(size_t bytes)
{
    void *memory = tarn_emu_alloc(bytes);
    cr_assert(memory != NULL, "no device memory");
    return memory;
}

static inline size_t bytes_of(const tarn_tensor *t)
{
    return tarn_tensor_numel(t) * tarn_dtype_size(tarn_tensor_dtype(t));
}

/* A copy on the device; NULL of NULL. */
static inline void *to_device(const tarn_tensor *t)
{
    if (!t) return NULL;
    void *memory = device_bytes(bytes_of(t));
    tarn_emu_copy(memory, tarn_tensor_data(t), bytes_of(t));
    return memory;
}

/* A copy on the host, of a shape. */
static inline tarn_tensor *from_device(const void *memory, const tarn_tensor *like)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, tarn_tensor_dtype(like), tarn_tensor_rank(like),
                       tarn_tensor_shape(like), &t));
    tarn_emu_copy(tarn_tensor_data(t), memory, bytes_of(t));
    return t;
}

/* A span and the tensors that tell the shapes of what it points to. */
struct device {
    struct tarn_span s;
    tarn_tensor *S, *z, *weights; /* zeros of these shapes */
};

/* A tensor of zeros. */
static inline tarn_tensor *shaped(tarn_dtype dtype, int rank, const size_t *shape)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, dtype, rank, shape, &t));
    OK(tarn_fill(ctx, t, 0));
    return t;
}

static inline void put_q(struct tarn_span *s, const struct problem *p,
                         const struct inputs *in)
{
    tarn_tensor *q = with_rows_scaled(p, in->q, 1), *ones = NULL;
    s->q = to_device(q);
    tarn_tensor_free(q);
    if (!p->scaled_rows) return;
    OK(tarn_tensor_new(ctx, in->dtype, 2, (size_t[]){s->heads * s->N_q, 1}, &ones));
    OK(tarn_fill(ctx, ones, p->options.eps));
    tarn_tensor *eps_row = with_rows_scaled(p, ones, 1);
    s->eps_row = to_device(eps_row);
    tarn_tensor_free(ones);
    tarn_tensor_free(eps_row);
}

static inline void put_lengths(struct tarn_span *s, const tarn_options *options)
{
    if (!options->lengths_count) return;
    const size_t bytes = options->lengths_count * sizeof *options->lengths;
    void *lengths = device_bytes(bytes);
    tarn_emu_copy(lengths, options->lengths, bytes);
    s->lengths = lengths;
}

/* Everything on the device: inputs, room for outputs, a state in two levels. */
static inline struct device put(const struct problem *p, const struct inputs *in)
{
    const struct sizes n = p->n;
    const tarn_options *o = &p->options;
    struct device d = {.s = {.ctx = ctx, .heads = n.heads, .N_q = n.N_q, .N = n.N}};
    struct tarn_span *s = &d.s;
    d.S = shaped(in->dtype, 4, (size_t[]){n.heads, 1, n.C, n.M});
    d.z = shaped(in->dtype, 3, (size_t[]){n.heads, 1, n.C});
    if (p->weights)
        d.weights = shaped(in->dtype, 4, (size_t[]){n.heads, 1, n.N_q, n.N});
    s->C = n.C, s->M = n.M;
    s->by = o->by, s->causal = o->causal, s->past = p->past;
    s->phi = map_of(p), s->scaled = true;
    s->eps = o->by == TARN_SOFTMAX ? 0 : o->eps;
    s->scale = o->scale;
    if (isnan(o->scale)) s->scale = o->by == TARN_SOFTMAX ? 1 / sqrt((double)n.C) : 1;
    put_q(s, p, in);
    put_lengths(s, o);
    s->k = to_device(in->k), s->v = to_device(in->v);
    s->S = to_device(in->S0 ? in->S0 : d.S), s->z = to_device(in->z0 ? in->z0 : d.z);
    s->S_part = to_device(d.S), s->z_part = to_device(d.z);
    s->out = device_bytes(n.heads * n.N_q * n.M * tarn_dtype_size(in->dtype));
    if (p->weights) s->weights = device_bytes(bytes_of(d.weights));
    s->dout = to_device(in->dout), s->dS = to_device(in->dS), s->dz = to_device(in->dz);
    s->dq = device_bytes(bytes_of(in->q)), s->dk = device_bytes(bytes_of(in->k));
    s->dv = device_bytes(bytes_of(in->v));
    s->dS0 = device_bytes(bytes_of(d.S)), s->dz0 = device_bytes(bytes_of(d.z));
    return d;
}

static inline void take_away(struct device *d)
{
    const struct tarn_span *s = &d->s;
    const void *const all[] = {s->q,       s->k,       s->v,   s->out, s->lengths,
                               s->weights, s->eps_row, s->S,   s->z,   s->S_part,
                               s->z_part,  s->dout,    s->dS,  s->dz,  s->dq,
                               s->dk,      s->dv,      s->dS0, s->dz0, s->work};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        tarn_emu_free((void *)(uintptr_t)all[a]);
    tarn_tensor_free(d->S);
    tarn_tensor_free(d->z);
    tarn_tensor_free(d->weights);
}

/* Both levels of a sum. */
static inline tarn_tensor *both_levels(const void *total, const void *part,
                                       const tarn_tensor *like)
{
    tarn_tensor *a = from_device(total, like), *b = from_device(part, like),
                *sum = NULL;
    OK(tarn_binary(ctx, TARN_ADD, a, b, &sum));
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    return sum;
}

static inline struct results get(const struct problem *p, const struct inputs *in,
                                 const struct device *d)
{
    const struct tarn_span *s = &d->s;
    struct results r = {0};
    if (p->weights) r.weights = from_device(s->weights, d->weights);
    if (!in->dout) {
        tarn_tensor *like = shaped(in->dtype, 4, (size_t[]){s->heads, 1, s->N_q, s->M});
        r.out = from_device(s->out, like);
        tarn_tensor_free(like);
        r.S = both_levels(s->S, s->S_part, d->S);
        r.z = both_levels(s->z, s->z_part, d->z);
        return r;
    }
    tarn_tensor *dq = from_device(s->dq, in->q);
    r.dq =
        with_rows_scaled(p, dq, 1); /* the scaled row's gradient is the smaller one */
    tarn_tensor_free(dq);
    r.dk = from_device(s->dk, in->k), r.dv = from_device(s->dv, in->v);
    if (in->S0) r.dS0 = from_device(s->dS0, d->S), r.dz0 = from_device(s->dz0, d->z);
    return r;
}

static inline bool has_tensor_cores(const char *rung)
{
    return bits_of_factors(rung) > 0;
}

static inline struct results run_rung(const struct problem *p, const struct inputs *in,
                                      const struct tarn_rung *rung)
{
    struct device d = put(p, in);
    tarn_emu_settings.gpu = has_tensor_cores(rung->name) ? "sm_80" : "sm_75";
    if (rung->work) d.s.work = device_bytes(rung->work(&d.s));
    OK(rung->run(&d.s));
    const struct results r = get(p, in, &d);
    take_away(&d);
    return r;
}

#endif
