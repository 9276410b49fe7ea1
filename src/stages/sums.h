/* sums.h: the running state (S, z) in two levels, shared by stages 2 to 4. Internal;
 * chapter 8 (numbers).
 *
 * The features are positive, so S and z only grow, and a float32 sum of N growing terms
 * drifts with N. Here a term is first added to a partial sum that is emptied into the
 * total every TARN_BLOCK tokens: the error then grows with TARN_BLOCK + N / TARN_BLOCK.
 *
 * Included by code compiled for `real`; a state is [C, M] and [C], row-major. S_part may
 * be NULL where a state has one level only. */
#ifndef TARN_SUMS_H
#define TARN_SUMS_H

#include "core/real.h"
#include "stages/attn.h"

static inline void zeros(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

static inline real dot(size_t n, const real *x, const real *y)
{
    real sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y += a x */
static inline void add_scaled(size_t n, real a, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* out = num / den; a row that no key reaches (den exactly 0) is 0, by definition. */
static inline void divide(size_t M, const real *num, real den, real *out)
{
    const real by = divisor(den);
    for (size_t m = 0; m < M; m++) out[m] = den == 0 ? 0 : num[m] / by;
}

/* Eps of row i: under the row's scale if it was scaled, as given if not. */
static inline real eps_of(const struct tarn_attn *a, size_t i)
{
    const real *eps_row = a->eps_row;
    return eps_row ? eps_row[i] : (real)a->eps;
}

//> region sums_carry
/* total += part, exactly: what the rounding of the total loses is what stays in
 * part. So the totals of a million tokens are as good as those of a hundred. */
static inline void carry(size_t n, real *part, real *total)
{
    for (size_t i = 0; i < n; i++) {
        const real sum = total[i] + part[i], added = sum - total[i];
        const real lost = (total[i] - (sum - added)) + (part[i] - added);
        total[i] = sum;
        part[i] = isfinite(sum) ? lost : 0;
    }
}

/* Empties the partial sums into the totals. */
static inline void sums_flush(struct tarn_sums *s, size_t C, size_t M)
{
    carry(C * M, s->S_part, s->S);
    carry(C, s->z_part, s->z);
    s->count = 0;
}
//< region sums_carry

//> region memory_write
/* S += features v^T, z += w features; w is 1 but in the gradient's way back. */
static inline void sums_add(struct tarn_sums *s, size_t C, size_t M,
                            const real *features, const real *v, real w)
{
    real(*S)[M] = s->S_part, *z = s->z_part;
    for (size_t c = 0; c < C; c++) add_scaled(M, features[c], v, S[c]);
    add_scaled(C, w, features, z);
    if (++s->count == TARN_BLOCK) sums_flush(s, C, M);
}
//< region memory_write

//> region memory_read
/* num += f^T S, den += f.z for one level. */
static inline void level_read(size_t C, size_t M, const real *S, const real *z,
                              const real *f, real *num, real *den)
{
    for (size_t c = 0; c < C; c++) add_scaled(M, f[c], S + c * M, num);
    *den += dot(C, f, z);
}
//< region memory_read

/* num += f^T S, den += f.z over both levels. */
static inline void sums_read(const struct tarn_sums *s, size_t C, size_t M,
                             const real *f, real *num, real *den)
{
    level_read(C, M, s->S, s->z, f, num, den);
    if (s->S_part) level_read(C, M, s->S_part, s->z_part, f, num, den);
}

/* out = S g + w z over both levels: the other direction, which gradients need. */
static inline void sums_apply(const struct tarn_sums *s, size_t C, size_t M,
                              const real *g, real w, real *out)
{
    const real(*S)[M] = s->S, *z = s->z;
    for (size_t c = 0; c < C; c++) out[c] = dot(M, S[c], g) + w * z[c];
    if (!s->S_part) return;
    const real(*S_part)[M] = s->S_part, *z_part = s->z_part;
    for (size_t c = 0; c < C; c++) out[c] += dot(M, S_part[c], g) + w * z_part[c];
}

/* dphi(q_i) = S Gn_i + gd_i z over both levels; 0 for a row that no key reaches. */
static inline void query_grad(const struct tarn_sums *s, size_t C, size_t M, real den,
                              const real *Gn_i, real gd_i, real *dq_i)
{
    if (den == 0)
        zeros(C, dq_i);
    else
        sums_apply(s, C, M, Gn_i, gd_i, dq_i);
}

/* Lays a zero state of two levels out in scratch memory of 2 (C M + C) elements. */
static inline struct tarn_sums sums_in(real *work, size_t C, size_t M)
{
    zeros(2 * (C * M + C), work);
    return (struct tarn_sums){
        .S = work,
        .z = work + C * M,
        .S_part = work + C * M + C,
        .z_part = work + 2 * C * M + C,
    };
}
static inline size_t sums_size(size_t C, size_t M)
{
    return 2 * (C * M + C);
}

#endif
