/* prefix.c: stage 3, causal attention as a prefix sum. Chapter 4, and 9 for the scan.
 *
 *     S_i = sum_{j<=i} phi(k_j) v_j^T      z_i = sum_{j<=i} phi(k_j)      (eqs 10, 11)
 *     out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps)                     (eq 12)
 *
 * A causal mask means that each query has its own sum; but the sum of query i is that of
 * query i - 1 and one more term. Three ways to have all the prefixes:
 *
 *   sequential  one pass, one term at a time
 *   chunked     L tokens at a time: what came before is in S, what is inside the chunk
 *               is a small masked attention of its own
 *   scan        the sums of all chunks first, their prefixes by a tree, then all chunks
 *               independently: parallel in time
 *
 * q and k are features. The state comes in (what a previous piece left) and goes out. */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"

/* ---- Sequential ------------------------------------------------------------------------ */

//> region prefix_naive
static tarn_status sequential_naive(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k, (*v)[M] = a->v;
    real(*out)[M] = a->out, (*S)[M] = a->state->S, *z = a->state->z;
    sums_flush(a->state, C, M);
    for (size_t i = 0; i < a->N; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        /* S_i = S_{i-1} + phi(k_i) v_i^T, z_i = z_{i-1} + phi(k_i) */
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) S[c][m] += k[i][c] * v[i][m];
            z[c] += k[i][c];
        }
        /* out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps) */
        real den = (real)a->eps;
        zeros(M, out[i]);
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) out[i][m] += q[i][c] * S[c][m];
            den += q[i][c] * z[c];
        }
        divide(M, out[i], den, out[i]);
    }
    return TARN_OK;
}
//< region prefix_naive

//> region prefix_accurate
static tarn_status sequential_accurate(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k, (*v)[M] = a->v;
    real(*out)[M] = a->out;
    for (size_t i = 0; i < a->N; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        sums_add(a->state, C, M, k[i], v[i], 1);
        real den = eps_of(a, i);
        zeros(M, out[i]);
        sums_read(a->state, C, M, q[i], out[i], &den);
        divide(M, out[i], den, out[i]);
    }
    return TARN_OK;
}
//< region prefix_accurate

static size_t no_work(const struct tarn_attn *a)
{
    (void)a;
    return 0;
}

const struct tarn_form TYPED(tarn_prefix_sequential) = {.naive = sequential_naive,
                                                        .accurate = sequential_accurate,
                                                        .work = no_work,
                                                        .flops = tarn_causal_flops};

/* ---- Chunked --------------------------------------------------------------------------- */

static size_t chunk_end(const struct tarn_attn *a, size_t start)
{
    return a->N - start < a->chunk ? a->N : start + a->chunk;
}

//> region prefix_inside
/* Adds what the keys start..i give query i, key by key, in blocks: the row i of
 * ((Q K^T) o tril) V within the chunk. */
static void inside_chunk(const struct tarn_attn *a, size_t start, size_t i,
                         real *partial, real *num, real *den)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k, (*v)[M] = a->v;
    for (size_t block = start; block <= i; block += TARN_BLOCK) {
        size_t end = i - block < TARN_BLOCK ? i + 1 : block + TARN_BLOCK;
        real den_part = 0;
        zeros(M, partial);
        for (size_t j = block; j < end; j++) {
            const real s = dot(C, q[i], k[j]);
            add_scaled(M, s, v[j], partial);
            den_part += s;
        }
        add_scaled(M, 1, partial, num);
        *den += den_part;
    }
}
//< region prefix_inside

//> region prefix_chunk
/* The outputs of one chunk, given the state before it. */
static tarn_status chunk_outputs(const struct tarn_attn *a, size_t start,
                                 const struct tarn_sums *before, real *part)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q;
    real(*out)[M] = a->out;
    for (size_t i = start; i < chunk_end(a, start); i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        real den = eps_of(a, i);
        zeros(M, out[i]);
        sums_read(before, C, M, q[i], out[i], &den);
        inside_chunk(a, start, i, part, out[i], &den);
        divide(M, out[i], den, out[i]);
    }
    return TARN_OK;
}

/* Adds the keys and values of one chunk to a state. */
static void add_whole_chunk(const struct tarn_attn *a, size_t start,
                            struct tarn_sums *s)
{
    const size_t C = a->C, M = a->M;
    const real(*k)[C] = a->k, (*v)[M] = a->v;
    for (size_t j = start; j < chunk_end(a, start); j++)
        sums_add(s, C, M, k[j], v[j], 1);
}

static tarn_status chunked(struct tarn_attn *a)
{
    for (size_t start = 0; start < a->N; start += a->chunk) {
        tarn_status status = chunk_outputs(a, start, a->state, a->work);
        if (status) return status;
        add_whole_chunk(a, start, a->state);
    }
    return TARN_OK;
}
//< region prefix_chunk

static size_t chunked_work(const struct tarn_attn *a)
{
    return a->M;
}

const struct tarn_form TYPED(tarn_prefix_chunked) = {.naive = chunked,
                                                     .accurate = chunked,
                                                     .work = chunked_work,
                                                     .flops = tarn_causal_flops};

/* ---- Scan ------------------------------------------------------------------------------- */

/* One node of the tree holds the sums of its chunks: S [C, M], then z [C]. */
static size_t node_size(const struct tarn_attn *a)
{
    return a->C * a->M + a->C;
}

static size_t count_chunks(const struct tarn_attn *a)
{
    return a->N / a->chunk + (a->N % a->chunk != 0);
}

/* The leaves of the tree: the next power of two; the leaves past the last chunk stay 0. */
static size_t count_leaves(const struct tarn_attn *a)
{
    size_t leaves = 1;
    while (leaves < count_chunks(a)) leaves *= 2;
    return leaves;
}

//> region prefix_scan_leaves
/* First, the sum of each chunk by itself. */
static tarn_status sum_chunks(const struct tarn_attn *a, real *to, real *work)
{
    const size_t size = node_size(a);
    zeros(count_leaves(a) * size, to);
    for (size_t n = 0; n < count_chunks(a); n++) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        struct tarn_sums s = sums_in(work, a->C, a->M);
        add_whole_chunk(a, n * a->chunk, &s);
        sums_flush(&s, a->C, a->M);
        add_scaled(size, 1, s.S, to + n * size); /* z lies behind S */
    }
    return TARN_OK;
}
//< region prefix_scan_leaves

//> region prefix_scan_tree
/* Then the prefix of each chunk, the sum of all that stand before it: up the
 * tree to have the sum of each subtree, down to hand each left part to its
 * right neighbour. The root is handed what came before the sequence. 2 * leaves
 * additions in 2 log2(leaves) rounds; those of a round do not depend on each
 * other. */
static void up_sweep(size_t leaves, size_t size, real *nodes)
{
    for (size_t step = 1; step < leaves; step *= 2)
        for (size_t n = 2 * step - 1; n < leaves; n += 2 * step)
            add_scaled(size, 1, nodes + (n - step) * size, nodes + n * size);
}

static void down_sweep(size_t leaves, size_t size, real *nodes)
{
    for (size_t step = leaves / 2; step > 0; step /= 2)
        for (size_t n = 2 * step - 1; n < leaves; n += 2 * step) {
            real *left = nodes + (n - step) * size, *right = nodes + n * size;
            for (size_t e = 0; e < size; e++) {
                const real left_sum = left[e];
                left[e] = right[e];
                right[e] += left_sum;
            }
        }
}
//< region prefix_scan_tree

//> region prefix_scan
static tarn_status scan(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M, size = node_size(a);
    const size_t leaves = count_leaves(a);
    real *nodes = a->work, *scratch = nodes + leaves * size;
    real *part = scratch + sums_size(C, M), *initial = part + M;
    real *root = nodes + (leaves - 1) * size;
    struct tarn_sums *s = a->state;

    tarn_status status = sum_chunks(a, nodes, scratch);
    if (status) return status;
    up_sweep(leaves, size, nodes);

    /* The root is the sum of the whole sequence: it goes into the final state,
     * and the initial state takes its place. */
    sums_flush(s, C, M);
    zeros(size, initial);
    add_scaled(C * M, 1, s->S, initial);
    add_scaled(C, 1, s->z, initial + C * M);
    add_scaled(C * M, 1, root, s->S);
    add_scaled(C, 1, root + C * M, s->z);
    zeros(size, root);
    add_scaled(size, 1, initial, root);
    down_sweep(leaves, size, nodes);

    /* Last, every chunk from its own prefix, in any order. */
    for (size_t n = 0; n < count_chunks(a) && !status; n++) {
        const struct tarn_sums before = {.S = nodes + n * size,
                                         .z = nodes + n * size + C * M};
        status = chunk_outputs(a, n * a->chunk, &before, part);
    }
    return status;
}
//< region prefix_scan

static size_t scan_work(const struct tarn_attn *a)
{
    return count_leaves(a) * node_size(a) + sums_size(a->C, a->M) + a->M + node_size(a);
}

const struct tarn_form TYPED(tarn_prefix_scan) = {
    .naive = scan, .accurate = scan, .work = scan_work, .flops = tarn_causal_flops};
