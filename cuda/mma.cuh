/* mma.cuh: what a tensor core does, as a function: a product of small matrices, held by the
 * 32 lanes of a warp together. Chapter 11.
 *
 *     c [16, 8] += a [16, K] b [K, 8]
 *
 * Factors are rounded to one of two formats, sums are float:
 *
 *     tf32   K =  8   11 bits of precision; a float whose last 13 bits do not count
 *     bf16   K = 16    8 bits; the upper half of a float, two of them in a register
 *
 * Which lane has which entry is part of the instruction (PTX, mma.m16n8k8 and mma.m16n8k16).
 * With g = lane / 4 and t = lane % 4, for tf32 and, as pairs from 2 t on, for bf16:
 *
 *     a[0] (g, t)      a[1] (g + 8, t)      a[2] (g, t + 4)      a[3] (g + 8, t + 4)
 *          (g, 2t ..)       (g + 8, 2t ..)       (g, 2t + 8 ..)       (g + 8, 2t + 8 ..)
 *     b[0] (t, g)      b[1] (t + 4, g)
 *          (2t .., g)       (2t + 8 .., g)
 *     c[0] (g, 2t)     c[1] (g, 2t + 1)     c[2] (g + 8, 2t)     c[3] (g + 8, 2t + 1)
 *
 * GPUs before sm_80 have neither: see tensor_cores in products.cuh. */
#ifndef TARN_MMA_CUH
#define TARN_MMA_CUH

#include "cuda/launch.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TARN_HAS_MMA 1
#else
#define TARN_HAS_MMA 0
#endif

namespace
{

#if defined(__CUDACC__) && TARN_HAS_MMA

/* Rounds to the nearest tf32, ties away from 0. */
__device__ inline unsigned to_tf32(float x)
{
    unsigned bits = 0;
#ifdef __CUDA_ARCH__
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
    return bits;
}

/* Rounds both to the nearest bf16, ties to even; x in the lower half. */
__device__ inline unsigned to_bf16(float x, float y)
{
    unsigned bits = 0;
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
#endif
    return bits;
}

#ifdef __CUDA_ARCH__
#define TARN_MMA(shape_and_types)                                                      \
    asm volatile("mma.sync.aligned." shape_and_types                                   \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#else
#define TARN_MMA(shape_and_types)                                                      \
    static_cast<void>(c), static_cast<void>(a), static_cast<void>(b)
#endif

__device__ inline void mma_tf32(float (&c)[4], const unsigned (&a)[4],
                                const unsigned (&b)[2])
{
    TARN_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
}

__device__ inline void mma_bf16(float (&c)[4], const unsigned (&a)[4],
                                const unsigned (&b)[2])
{
    TARN_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
}

#elif !defined(__CUDACC__)

/* The same on the host; NaN and Inf stay what they are. */
inline unsigned bits_of(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

constexpr unsigned no_number = 0x7fc00000u;

inline unsigned to_tf32(float x)
{
    if (!isfinite(x)) return x == x ? bits_of(x) : no_number;
    return (bits_of(x) + 0x1000u) & ~0x1fffu;
}

/* Half a last place, less one unit where the last place is 0: so a tie goes to even. */
inline unsigned to_bf16(float x)
{
    const unsigned bits = bits_of(x);
    if (!isfinite(x)) return (x == x ? bits : no_number) >> 16;
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
inline unsigned to_bf16(float x, float y)
{
    return to_bf16(x) | to_bf16(y) << 16;
}

/* How the core reads a register of factors. */
struct mma_of_tf32 {
    static constexpr int K = 8, in_register = 1;

    /* An operand that nobody rounded loses its last bits. */
    static float read(unsigned bits, int) { return float_of(bits & ~0x1fffu); }
};
struct mma_of_bf16 {
    static constexpr int K = 16, in_register = 2;

    static float read(unsigned bits, int x) { return float_of(bits >> 16 * x << 16); }
};

/* What one lane brings. */
struct mma_operands {
    float *c;
    const unsigned *a, *b;
};

//> region mma
/* The last lane to come does the work of all: gathers, multiplies, hands out */
template <class Core> inline const char *mma_of_warp(void **brought)
{
    constexpr int K = Core::K, half = K / 2, each = Core::in_register;
    float a[16][K], b[K][8];
    for (int l = 0; l < 32; l++) {
        const auto *m = static_cast<const mma_operands *>(brought[l]);
        const int g = l / 4, t = l % 4 * each;
        if (!m) return "mma needs all 32 lanes, but some are not there";
        for (int x = 0; x < each; x++) {
            for (int e = 0; e < 4; e++)
                a[g + e % 2 * 8][t + x + e / 2 * half] = Core::read(m->a[e], x);
            for (int e = 0; e < 2; e++) /* of the right factor half as many */
                b[t + x + e * half][g] = Core::read(m->b[e], x);
        }
    }
    for (int l = 0; l < 32; l++) {
        const auto *m = static_cast<const mma_operands *>(brought[l]);
        for (int e = 0; e < 4; e++) {
            float sum = 0;
            for (int x = 0; x < K; x++)
                sum += a[l / 4 + e / 2 * 8][x] * b[x][l % 4 * 2 + e % 2];
            m->c[e] += sum;
        }
    }
    return nullptr;
}
//< region mma

inline void mma_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                     const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    mma_operands mine = {c, a, b};
    tarn_emu_together(&mine, mma_of_warp<mma_of_tf32>, ~0u, file, line);
}

inline void mma_bf16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                     const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    mma_operands mine = {c, a, b};
    tarn_emu_together(&mine, mma_of_warp<mma_of_bf16>, ~0u, file, line);
}

#endif

} // namespace
#endif
