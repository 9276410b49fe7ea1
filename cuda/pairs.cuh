/* pairs.cuh: one query and one key: who sees whom, and how similar they are. Chapters 1 and 11.
 *
 *     softmax   exp(scale q.k)          rbf   exp(-scale |q - k|^2 / 2)
 *     phi       scale q.k, of features
 *
 * The exponent of the first two, and the third as it is, is called the score of a pair. An exp
 * is taken of score - max, with the largest score that a query has seen, and eps is divided by
 * exp(max) too: the quotient stays what it was, and no exp overflows.
 *
 * Neither do products of large numbers: for softmax each query is divided by a power of two
 * that keeps q.k in range, and its gain, |scale| times that power, is multiplied in when the
 * largest score is off: exp(gain (score - max)). Ordinary queries are divided by 1. */
#ifndef TARN_PAIRS_CUH
#define TARN_PAIRS_CUH

#include "cuda/products.cuh"
#include "cuda/sums.cuh"

namespace
{

/* What all kernels of sim are told. Rows of queries and of keys are counted over all heads. */
template <class T> struct pairs {
    size_t heads, N_q, N, C, M;
    const T *q, *k, *v;
    const int64_t *lengths;
    size_t past;
    bool causal, has_exponent, distance;
    T scale, eps;
    const T *eps_row;
    const T *scored; /* q as it meets k in a score */
    const T *gain;   /* [heads, N_q], or NULL: 1 */
};

template <class T> pairs<T> pairs_of(const tarn_span *s)
{
    const auto array = [](const void *p) { return static_cast<const T *>(p); };
    return {s->heads,
            s->N_q,
            s->N,
            s->C,
            s->M,
            array(s->q),
            array(s->k),
            array(s->v),
            s->lengths,
            s->past,
            s->causal,
            s->by == TARN_SOFTMAX || s->by == TARN_RBF,
            s->by == TARN_RBF,
            static_cast<T>(s->scale),
            static_cast<T>(s->eps),
            array(s->eps_row),
            array(s->q),
            nullptr};
}

/* What some queries of a head see: the i-th of them the first keys(i) keys. */
struct view {
    size_t n,
        first; /* keys that exist; those that the query 0 of these sees, if causal */
    bool causal;

    __device__ size_t keys(size_t i) const
    {
        return causal && first + i < n ? first + i : n;
    }
};

/* The view of the queries of head h from i on. */
template <class T>
__device__ inline view view_from(const pairs<T> &p, size_t h, size_t i)
{
    return {p.lengths ? size_t(p.lengths[h]) : p.N, p.past + i + 1, p.causal};
}

/* From the sum over c, q.k or |q - k|^2, to the score. */
template <class T> __device__ inline T scored(const pairs<T> &p, T sum)
{
    if (p.gain) return p.scale < 0 ? -sum : sum;
    return p.distance ? -p.scale * sum / 2 : p.scale * sum;
}

/* What the exponents of a query are multiplied by, counted over all heads. */
template <class T> __device__ inline T gain_of(const pairs<T> &p, size_t row)
{
    return p.gain ? p.gain[row] : T(1);
}

template <class T>
__device__ inline T similarity(const pairs<T> &p, T score, T max, T gain)
{
    return p.has_exponent ? exp(gain * (score - max)) : score;
}

/* Eps of a row whose similarities were divided by exp(gain max). */
template <class T>
__device__ inline T eps_under(const pairs<T> &p, T max, T gain, size_t row)
{
    if (!p.has_exponent) return eps_of(p.eps_row, p.eps, row);
    return p.eps > 0 ? T(p.eps * exp(-double(gain) * double(max))) : T(0);
}

/* Below every score; finite, so that a score of -Inf minus it is not NaN. */
template <class T> __device__ inline T lowest()
{
    return sizeof(T) == sizeof(float) ? T(-3.4028234663852886e38)
                                      : T(-1.7976931348623157e308);
}

template <class T> __device__ inline T larger(T a, T b)
{
    return b > a ? b : a;
}

/* The score of one pair, entry by entry. */
template <class T>
__device__ inline T score_of(const pairs<T> &p, size_t query, size_t key)
{
    const T *q = p.scored + query * p.C, *k = p.k + key * p.C;
    T sum = 0;
    for (size_t c = 0; c < p.C; c++)
        sum += p.distance ? (q[c] - k[c]) * (q[c] - k[c]) : q[c] * k[c];
    return scored(p, sum);
}

/* ---- Squares of pairs ---------------------------------------------------------------------- */

/* Some rows of an array, one after the other. */
template <class T> struct rows {
    const T *first;
    size_t width, count; /* count: those that exist, at most a square's */
};

/* The rows of x that a square has which begins at `start`; n of the head's rows exist. */
template <class T>
__device__ inline rows<T> rows_of(const T *x, size_t width, size_t head, size_t start,
                                  size_t n)
{
    constexpr size_t L = tile<T>::side;
    const size_t left = n > start ? n - start : 0;
    return {x + (head + start) * width, width, left < L ? left : L};
}

/* acc += the products of each of a with each of b, or the squared distances. Uses both squares
 * of shared memory; ends with a barrier. */
template <class T, class P>
__device__ inline void each_with_each(entries<T> &acc, const rows<T> &a,
                                      const rows<T> &b, bool distance,
                                      typename P::square &as, typename P::square &bs)
{
    constexpr size_t L = tile<T>::side;
    for (size_t c0 = 0; c0 < a.width; c0 += L) {
        const size_t left = a.width - c0;
        const int width = static_cast<int>(left < L ? left : L);
        load<T>(as, a.first + c0, a.width, a.count, left);
        load<T>(bs, b.first + c0, b.width, b.count, left);
        __syncthreads();
        const auto row = [&](int c, int i) { return as(i, c); };
        const auto column = [&](int c, int j) { return bs(j, c); };
        if (distance)
            P::combine(acc, width, row, column, [](T &sum, T x, T y, int, int, int) {
                sum += (x - y) * (x - y);
            });
        else
            P::multiply(acc, width, row, column);
        __syncthreads();
    }
}

} // namespace
#endif
