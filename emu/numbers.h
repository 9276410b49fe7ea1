/* numbers.h: CUDA's functions of numbers that C++ does not have. Internal; chapter 11.
 *
 * Those that trade bits for speed on a GPU are exact here: the emulated device does not show
 * the last bits of an approximation. */
#ifndef TARN_EMU_NUMBERS_H
#define TARN_EMU_NUMBERS_H

#include <math.h>
#include <string.h>
#include <type_traits>

namespace
{

/* ---- The smaller and the larger ----------------------------------------------------------- */

#define TARN_MIN_MAX(T)                                                                \
    inline T min(T a, T b)                                                             \
    {                                                                                  \
        return b < a ? b : a;                                                          \
    }                                                                                  \
    inline T max(T a, T b)                                                             \
    {                                                                                  \
        return a < b ? b : a;                                                          \
    }

TARN_MIN_MAX(int)
TARN_MIN_MAX(unsigned)
TARN_MIN_MAX(long)
TARN_MIN_MAX(unsigned long)
TARN_MIN_MAX(long long)
TARN_MIN_MAX(unsigned long long)
#undef TARN_MIN_MAX

/* What is no number gives way to one. */
inline float min(float a, float b)
{
    return fminf(a, b);
}
inline float max(float a, float b)
{
    return fmaxf(a, b);
}
inline double min(double a, double b)
{
    return fmin(a, b);
}
inline double max(double a, double b)
{
    return fmax(a, b);
}

/* min(n, blockDim.x): of two types, in the one that both become in a + b. */
template <class A, class B, class = std::enable_if_t<!std::is_same<A, B>::value>>
inline std::common_type_t<A, B> min(A a, B b)
{
    using T = std::common_type_t<A, B>;
    return min(static_cast<T>(a), static_cast<T>(b));
}
template <class A, class B, class = std::enable_if_t<!std::is_same<A, B>::value>>
inline std::common_type_t<A, B> max(A a, B b)
{
    using T = std::common_type_t<A, B>;
    return max(static_cast<T>(a), static_cast<T>(b));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
inline int __clz(int x)
{
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
inline int __clzll(long long x)
{
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
inline unsigned __brev(unsigned x)
{
    unsigned turned = 0;
    for (int i = 0; i < 32; i++) turned |= (x >> i & 1) << (31 - i);
    return turned;
}

template <class To, class From> inline To tarn_same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
inline int __float_as_int(float x)
{
    return tarn_same_bits<int>(x);
}
inline unsigned __float_as_uint(float x)
{
    return tarn_same_bits<unsigned>(x);
}
inline float __int_as_float(int x)
{
    return tarn_same_bits<float>(x);
}
inline float __uint_as_float(unsigned x)
{
    return tarn_same_bits<float>(x);
}
inline long long __double_as_longlong(double x)
{
    return tarn_same_bits<long long>(x);
}
inline double __longlong_as_double(long long x)
{
    return tarn_same_bits<double>(x);
}

/* ---- Conversions, and reads through the cache of constants ------------------------------------ */

inline int __float2int_rn(float x)
{
    return static_cast<int>(rintf(x));
}
inline int __float2int_rz(float x)
{
    return static_cast<int>(x);
}
inline int __float2int_rd(float x)
{
    return static_cast<int>(floorf(x));
}
inline int __float2int_ru(float x)
{
    return static_cast<int>(ceilf(x));
}
inline float __int2float_rn(int x)
{
    return static_cast<float>(x);
}
inline float __saturatef(float x)
{
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
template <class T> inline T __ldg(const T *from)
{
    return *from;
}

} // namespace

/* glibc declares __expf and its like for itself, so these can't be functions of ours. */
#define __expf(x)          expf(x)
#define __logf(x)          logf(x)
#define __log2f(x)         log2f(x)
#define __powf(x, y)       powf(x, y)
#define __sinf(x)          sinf(x)
#define __cosf(x)          cosf(x)
#define __fdividef(a, b)   ((a) / (b))
#define __frcp_rn(x)       (1.0f / (x))
#define __fsqrt_rn(x)      sqrtf(x)
#define __fmaf_rn(a, b, c) fmaf(a, b, c)
#define rsqrtf(x)          (1.0f / sqrtf(x))
#define rsqrt(x)           (1.0 / sqrt(x))

#endif
