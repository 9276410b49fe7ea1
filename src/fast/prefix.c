/* prefix.c: stage 3 and stage 4's run, tuned: causal attention as a recurrence over blocks of
 * tokens. Chapter 10; the equations are those of src/stages/prefix.c, 9-12.
 *
 * All three methods of the stage compute the same sums; on a CPU the recurrence beats chunks
 * and scan (recurrence.h), so it is the answer to each of them. Value columns are independent
 * of one another: they are what one head is split over threads by. */
#include "fast/fast.h"
#include "fast/features.h"
#include "fast/recurrence.h"
#include "stages/flops.h"

/* A head, or some of its value columns, at work. */
struct causal {
    struct tarn_attn *a;
    struct features f;
    struct packed S;
    size_t first, columns; /* of the values */
    size_t count;          /* tokens in the partial sums */
};

/* The columns of a part: whole groups, as many as the others have. */
static void share_columns(struct causal *c)
{
    const struct tarn_attn *a = c->a;
    const size_t width = VECTORS * LANES, groups = (a->M + width - 1) / width;
    const size_t each = (groups + a->parts - 1) / a->parts * width;
    c->first = each * a->part < a->M ? each * a->part : a->M;
    c->columns = a->M - c->first < each ? a->M - c->first : each;
}

/* Plain sums have one level: what the state has in its second goes into the first. */
static void join_levels(const struct causal *c)
{
    const struct tarn_attn *a = c->a;
    real *S = a->state->S, *part = a->state->S_part;
    for (size_t r = 0; r < a->C; r++)
        for (size_t m = c->first; m < c->first + c->columns; m++) {
            S[r * a->M + m] += part[r * a->M + m];
            part[r * a->M + m] = 0;
        }
}

static struct causal open_causal(struct tarn_attn *a, bool levels)
{
    struct causal c = {.a = a, .count = a->state->count};
    real *work = a->work;
    c.f = features_in(work, a);
    work += features_size(a->C);
    share_columns(&c);
    c.S = (struct packed){.R = a->C, .columns = c.columns, .S = work};
    if (!levels) join_levels(&c);
    pack(&c.S, (const real *)a->state->S + c.first, a->M, c.S.S);
    if (!levels) return c;
    c.S.part = work + a->C * whole_vectors(c.columns);
    pack(&c.S, (const real *)a->state->S_part + c.first, a->M, c.S.part);
    return c;
}

/* Gives the state back; z of every part but the first goes into a copy. */
static void close_causal(struct causal *c, bool levels)
{
    const struct tarn_attn *a = c->a;
    unpack(&c->S, c->S.S, (real *)a->state->S + c->first, a->M);
    if (levels) unpack(&c->S, c->S.part, (real *)a->state->S_part + c->first, a->M);
    if (!levels) carry(c->f.padded, c->f.z_part, c->f.z);
    memcpy(a->state->z, c->f.z, a->C * sizeof(real));
    memcpy(a->state->z_part, c->f.z_part, a->C * sizeof(real));
    a->state->count = levels ? c->count : 0;
}

/* Both levels of z are kept even where S is one running sum: they cost nothing. */
static void carry_sums(struct causal *c, bool levels)
{
    carry(c->f.padded, c->f.z_part, c->f.z);
    if (levels) carry_packed(&c->S);
    c->count = 0;
}

/* Tokens of the next block: none crosses the end of a stretch of partial sums. */
static size_t block_length(const struct causal *c, size_t i)
{
    const size_t left = c->a->N - i, room = TARN_BLOCK - c->count;
    const size_t n = left < BLOCK ? left : BLOCK;
    return n < room ? n : room;
}

//> region fast_prefix
static void causal_block(struct causal *c, size_t i, size_t n)
{
    struct tarn_attn *a = c->a;
    const ptrdiff_t M = (ptrdiff_t)a->M, C = (ptrdiff_t)c->f.padded;
    const real *v = (const real *)a->v + i * a->M + c->first;
    real *out = (real *)a->out + i * a->M + c->first;
    features_make(&c->f, a, i, n, true);
    struct tokens tokens = {.q = {c->f.q, C},
                            .k = {c->f.k, C},
                            .v = {v, M},
                            .out = out,
                            .out_stride = M,
                            .scale = c->f.scale,
                            .streams = {{v, M}, {out, M}}};
    recur(&c->S, n, &tokens);
    features_divide(&c->f, n, c->columns, out, a->M);
    if (!finite_rows(n, c->columns, out, M)) a->suspect = true;
    c->count += n;
}

static tarn_status causal(struct tarn_attn *a, bool levels)
{
    struct causal c = open_causal(a, levels);
    for (size_t i = 0, n; i < a->N; i += n) {
        if (i % (8 * BLOCK) == 0 && i > 0 && tarn_interrupted(a->ctx))
            return TARN_EINTR;
        n = block_length(&c, i);
        causal_block(&c, i, n);
        if (c.count == TARN_BLOCK) carry_sums(&c, levels);
    }
    close_causal(&c, levels);
    return TARN_OK;
}
//< region fast_prefix

static tarn_status causal_levels(struct tarn_attn *a)
{
    return causal(a, true);
}

static tarn_status causal_plain(struct tarn_attn *a)
{
    return causal(a, false);
}

static size_t causal_work(const struct tarn_attn *a)
{
    return features_size(a->C) + packed_size(a->C, a->M, true);
}

static size_t causal_parts(const struct tarn_attn *a)
{
    const size_t width = VECTORS * LANES;
    return (a->M + width - 1) / width;
}

const struct tarn_form FAST(tarn_fast_prefix) = {.naive = causal_plain,
                                                 .accurate = causal_levels,
                                                 .work = causal_work,
                                                 .flops = tarn_causal_flops,
                                                 .parts = causal_parts,
                                                 .fused = true,
                                                 .looks = true};
