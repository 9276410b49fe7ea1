/* call.h: one call of attention taken apart: checked, converted, spread over heads.
 * Internal.
 *
 * The stages see one head of contiguous rows (stages/attn.h). Everything between that and
 * the tensors of the public functions is here and in call.c, once for all forms:
 *
 *   open       shapes against each other, one element type, contiguous rows
 *   features   stage 0, where the form wants features
 *   run        one form, over all heads, on the threads
 *   close      what was borrowed is given back */
#ifndef TARN_CALL_H
#define TARN_CALL_H

#include "core/device.h"
#include "stage0.h"
#include "stages/attn.h"

/* Extents as [B, H, N, D], 1 where the rank is smaller. */
struct tarn_extents {
    size_t n[4];
};
#define TARN_ANY SIZE_MAX

/* A tensor in the type and layout that a call needs: the caller's own, or a copy. */
struct tarn_input {
    const tarn_tensor *t;
    tarn_tensor *owned;
};

struct tarn_call {
    tarn_context *ctx;
    const char *function; /* as in messages: "prefix" */
    tarn_options options; /* resolved: no NULL phi, no 0 chunk */
    const struct tarn_operations *ops;

    int rank;   /* of q, k, v with N counted in: 2 to 4 */
    bool token; /* q, k, v stand without N */
    size_t B, H, N_q, N, D, M;
    size_t key_rows; /* from one head's keys to the next's: N, more in a cache */
    tarn_dtype dtype;
    const struct tarn_device
        *device; /* of q, k, v and all that is made; NULL: the host */
    struct tarn_input q, k, v, dout;
    struct tarn_features fq, fk;
    void *room; /* scratch memory that steps use again and again, and its size */
    size_t room_bytes;

    struct tarn_attn first;       /* head 0; that of head h is an offset away */
    struct tarn_sums sums;        /* the state of head 0, if the form has one */
    tarn_tensor *q_rows, *k_rows; /* pair: [B H N, D] */
    size_t pair_head;             /* pair: which head is running */
};

/* What a call is opened with. */
struct tarn_arguments {
    const tarn_tensor *q, *k, *v, *dout; /* dout: gradients only */
    const tarn_options *options;         /* NULL: defaults */
    struct tarn_extents want_q; /* what q must be, TARN_ANY where it may be any */
    const char *want_from;      /* whom q must match: "the state" */
    size_t want_M;              /* likewise for v */
    tarn_dtype least;           /* float64: the state that takes part has that type */
    bool same_length;           /* k must be as long as q */
    bool token;
};

tarn_status tarn_call_open(tarn_context *ctx, const char *function,
                           const struct tarn_arguments *arguments,
                           struct tarn_call *call);

/* Makes phi(q), scaled unless precision is fast, and phi(k), and points `first` at them;
 * a fused form gets q and k as they are, and the map. */
tarn_status tarn_call_features(struct tarn_call *call, const struct tarn_form *form);

/* Runs a form over all heads; with `whole` the caller has seen to it that it may neither
 * be interrupted nor run on other threads: a step, or a function of the user's. */
tarn_status tarn_call_run(struct tarn_call *call, const struct tarn_form *form,
                          bool whole);

/* One token of all heads; all at once where the form can. */
tarn_status tarn_call_step(struct tarn_call *call, const struct tarn_form *form);

/* A fresh tensor [(B, (H,)) .., ..] of the call's rank and type with the given last two
 * extents; without N for a single token. */
tarn_status tarn_call_new(struct tarn_call *call, size_t rows, size_t columns,
                          tarn_tensor **out);

/* Checks the extents of one argument against what it must be. `letters` are those of the
 * last two dimensions, "N, D"; `match` says whom it must match. */
tarn_status tarn_call_expect(const struct tarn_call *call, const char *argument,
                             const tarn_tensor *t, struct tarn_extents want,
                             const char *letters, const char *match);

/* The tensor [.., rows N, columns M] that a step or run writes: the caller's, if given and
 * fitting, else a fresh one. */
tarn_status tarn_call_output(struct tarn_call *call, tarn_tensor *given,
                             tarn_tensor **out);

size_t tarn_call_heads(const struct tarn_call *call);
void tarn_call_close(struct tarn_call *call);

#endif
