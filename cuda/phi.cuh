/* phi.cuh: stage 0 on a device, feature maps phi entry by entry. Chapters 2 and 11.
 *
 * The maps of src/stages/phi.c, value and slope, as they stand and under the scale of their
 * row: the same formulas, and the same reasons. Which map it is is known at run time only,
 * and the same for all threads: a switch costs a GPU next to nothing. poly2, which mixes the
 * entries of a row, is in features.cu. */
#ifndef TARN_PHI_CUH
#define TARN_PHI_CUH

#include "cuda/launch.cuh"
#include "stages/phi.h"
#include <float.h>

namespace
{

/* ---- As the book writes them ------------------------------------------------------------ */

//> region device_elu1
/* Eq 7, never computed as elu(x) + 1, which loses small features. */
template <class T> __device__ inline T elu1(T x)
{
    return x > 0 ? x + 1 : exp(x);
}
template <class T> __device__ inline T elu1_slope(T x)
{
    return x > 0 ? T(1) : exp(x);
}
//< region device_elu1

template <class T> __device__ inline T relu(T x)
{
    return x < 0 ? T(0) : x; /* NaN goes through */
}

template <class T> __device__ inline T softplus(T x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
template <class T> __device__ inline T softplus_slope(T x)
{
    return 1 / (1 + exp(-x));
}

template <class T> __device__ inline T phi_of(int id, T x)
{
    switch (id) {
    case TARN_PHI_ELU1: return elu1(x);
    case TARN_PHI_RELU: return relu(x);
    case TARN_PHI_RELU2: return relu(x) * relu(x);
    case TARN_PHI_EXP: return exp(x);
    case TARN_PHI_SOFTPLUS: return softplus(x);
    default: return x; /* identity, or a feature already */
    }
}

template <class T> __device__ inline T phi_slope(int id, T x)
{
    switch (id) {
    case TARN_PHI_ELU1: return elu1_slope(x);
    case TARN_PHI_RELU: return x > 0 ? T(1) : T(0);
    case TARN_PHI_RELU2: return 2 * relu(x);
    case TARN_PHI_EXP: return exp(x);
    case TARN_PHI_SOFTPLUS: return softplus_slope(x);
    default: return 1;
    }
}

/* ---- Divided by the scale of their row --------------------------------------------------- */

/* phi(m x) = m^d phi(x): the degree d of a homogeneous map; 0: the map is none. */
__device__ __host__ inline int phi_degree(int id)
{
    switch (id) {
    case TARN_PHI_ELU1:
    case TARN_PHI_EXP:
    case TARN_PHI_SOFTPLUS: return 0;
    case TARN_PHI_RELU2:
    case TARN_PHI_POLY2: return 2;
    default: return 1;
    }
}

/* Below this pivot softplus(x) and exp(x) are the same number in float64. */
constexpr double phi_far_left = -40;

/* phi(x) / s, where s comes from the pivot m of the row. */
template <class T> __device__ inline T phi_over(int id, T x, T m)
{
    if (phi_degree(id)) return phi_of(id, x / m);
    if (id == TARN_PHI_ELU1) return m > 0 ? elu1(x) / (m + 1) : exp(x - m);
    if (id == TARN_PHI_EXP || m < T(phi_far_left)) return exp(x - m);
    return softplus(x) / softplus(m);
}

template <class T> __device__ inline T phi_slope_over(int id, T x, T m)
{
    if (phi_degree(id)) return phi_slope(id, x / m) / m;
    if (id == TARN_PHI_ELU1) return m > 0 ? elu1_slope(x) / (m + 1) : exp(x - m);
    if (id == TARN_PHI_EXP || m < T(phi_far_left)) return exp(x - m);
    return softplus_slope(x) / softplus(m);
}

/* eps / s in double; rounded at the end it may be Inf: the denominator is then all eps. */
__device__ inline double phi_eps(int id, double eps, double m)
{
    if (eps == 0) return 0;
    switch (phi_degree(id)) {
    case 1: return eps / m;
    case 2: return eps / (m * m);
    default: break;
    }
    if (id == TARN_PHI_ELU1) return m > 0 ? eps / (m + 1) : eps * exp(-m);
    if (id == TARN_PHI_EXP || m < phi_far_left) return eps * exp(-m);
    return eps / softplus(m);
}

/* ---- The pivot of a row ------------------------------------------------------------------- */

template <class T> __device__ inline T phi_largest()
{
    return sizeof(T) == sizeof(float) ? T(FLT_MAX) : T(DBL_MAX);
}

/* Maps whose pivot is the largest |x|; for the others it is the largest x. */
__device__ inline bool phi_has_sizes(int id)
{
    return phi_degree(id) && id != TARN_PHI_RELU && id != TARN_PHI_RELU2;
}

/* Takes one more entry into a pivot under way, which begins at phi_pivot_start. NaN is
 * passed over. */
template <class T> __device__ inline T phi_pivot_start(int id)
{
    return phi_has_sizes(id) ? T(0) : -phi_largest<T>();
}
template <class T> __device__ inline T phi_pivot_add(int id, T m, T x)
{
    const T size = phi_has_sizes(id) ? fabs(x) : x;
    return size > m ? size : m;
}

/* The pivot at which phi(m) is eps by about the square root of the number range: a scale any
 * smaller would let eps / s overflow. */
template <class T> __device__ inline T phi_least_pivot(int id, double eps)
{
    const double least = eps * (sizeof(T) == sizeof(float) ? 1e-19 : 1e-150);
    if (id == TARN_PHI_NONE) return 0; /* a user's features are taken as they are */
    if (eps == 0) return phi_degree(id) ? T(0) : -phi_largest<T>();
    if (phi_degree(id) == 0) return T(log(least));
    return T(phi_degree(id) == 2 ? sqrt(least) : least);
}

/* From the largest entry to a number that can be divided by. */
template <class T> __device__ inline T phi_pivot_end(int id, T m, double eps)
{
    const T least = phi_least_pivot<T>(id, eps);
    if (phi_has_sizes(id))
        m = m > 0 && m <= phi_largest<T>() ? m : T(1);
    else if (m > phi_largest<T>())
        m = phi_largest<T>();
    if (!phi_has_sizes(id) && phi_degree(id) && m <= 0) m = 1;
    return m > least ? m : least;
}

} // namespace
#endif
