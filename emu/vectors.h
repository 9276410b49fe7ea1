/* vectors.h: CUDA's numbers that come in twos and fours. Internal; chapter 11.
 *
 * A GPU moves one in a single access of 8 or 16 bytes, whose address has to be a multiple of
 * that. A compiler for the host would rather move the parts; here each copy is one access too,
 * so that hooks.c sees what a GPU would do, and an address that is no multiple is an error.
 * A single part, p[i].x, is an access of its own on both. */
#ifndef TARN_EMU_VECTORS_H
#define TARN_EMU_VECTORS_H

#include "emu/emu.h"
#include <initializer_list>
#include <stdint.h>

namespace
{

/* clang takes for granted what is to be found out here. */
template <class V> inline void tarn_check_aligned(const V *at)
{
    uintptr_t address = reinterpret_cast<uintptr_t>(at);
#ifdef __clang__
    asm("" : "+r"(address));
#endif
    if (__builtin_expect(address % sizeof(V) != 0, 0))
        tarn_emu_misaligned(reinterpret_cast<const void *>(address), sizeof(V));
}

template <class V> inline void tarn_copy_whole(V *to, const V *from)
{
    typedef float whole __attribute__((vector_size(sizeof(V)), may_alias));
    tarn_check_aligned(from);
    tarn_check_aligned(to);
    *reinterpret_cast<whole *>(to) = *reinterpret_cast<const whole *>(from);
}

template <class T> struct alignas(2 * sizeof(T)) tarn_vector2 {
    T x, y;

    tarn_vector2() = default;
    tarn_vector2(std::initializer_list<T> given) : x(), y()
    {
        if (given.size() > 0) x = given.begin()[0];
        if (given.size() > 1) y = given.begin()[1];
    }
    tarn_vector2(const tarn_vector2 &other) { tarn_copy_whole(this, &other); }
    tarn_vector2 &operator=(const tarn_vector2 &other)
    {
        tarn_copy_whole(this, &other);
        return *this;
    }
};

template <class T> struct alignas(4 * sizeof(T)) tarn_vector4 {
    T x, y, z, w;

    tarn_vector4() = default;
    tarn_vector4(std::initializer_list<T> given) : x(), y(), z(), w()
    {
        T *parts[] = {&x, &y, &z, &w};
        for (size_t i = 0; i < given.size() && i < 4; i++) *parts[i] = given.begin()[i];
    }
    tarn_vector4(const tarn_vector4 &other) { tarn_copy_whole(this, &other); }
    tarn_vector4 &operator=(const tarn_vector4 &other)
    {
        tarn_copy_whole(this, &other);
        return *this;
    }
};

using float2 = tarn_vector2<float>;
using double2 = tarn_vector2<double>;
using int2 = tarn_vector2<int>;
using uint2 = tarn_vector2<unsigned>;
using float4 = tarn_vector4<float>;
using int4 = tarn_vector4<int>;
using uint4 = tarn_vector4<unsigned>;

/* Three have no access of their own: they move part by part. */
struct float3 {
    float x, y, z;
};

inline float2 make_float2(float x, float y)
{
    return {x, y};
}
inline double2 make_double2(double x, double y)
{
    return {x, y};
}
inline int2 make_int2(int x, int y)
{
    return {x, y};
}
inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
inline float3 make_float3(float x, float y, float z)
{
    return {x, y, z};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

} // namespace
#endif
