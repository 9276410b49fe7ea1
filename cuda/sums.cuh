/* sums.cuh: what all forms have in common about sums: exact carries, denominators. Chapter 8.
 * The same as src/stages/sums.h. */
#ifndef TARN_SUMS_CUH
#define TARN_SUMS_CUH

#include "cuda/launch.cuh"

namespace
{

/* Tokens that are summed before the partial sum is added to the total. */
constexpr size_t block_of_sums = 64;

/* total += part, exactly: what the rounding of the total loses is what stays in part. */
template <class T> __device__ inline void carry(T &part, T &total)
{
    const T sum = total + part, added = sum - total;
    const T lost = (total - (sum - added)) + (part - added);
    total = sum;
    part = isfinite(sum) ? lost : T(0);
}

/* num / den; a row that no key reaches (den exactly 0) is 0, by definition. */
template <class T> __device__ inline T divided(T num, T den)
{
    return den == T(0) ? T(0) : num / den;
}

/* What a row is divided by. A sum of finite terms that has left the range is a NaN, which is
 * then refused: the quotient would be 0, which looks like a result. eps may be Inf, under the
 * scale of a row: what it leaves is 0 indeed. */
template <class T> __device__ inline T denominator(T sum, T eps)
{
    return (isinf(sum) ? T(NAN) : sum) + eps;
}

/* eps of row i (counted over all heads): under its scale if it was scaled. */
template <class T> __device__ inline T eps_of(const T *eps_row, T eps, size_t i)
{
    return eps_row ? eps_row[i] : eps;
}

} // namespace
#endif
