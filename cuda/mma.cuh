/* mma.cuh: what a tensor core does, as a function: a product of small matrices, held by the
 * 32 lanes of a warp together. Chapter 11.
 *
 *     c [16, 8] += a [16, 8] b [8, 8]
 *
 * a and b are tf32: floats whose last 13 bits do not count, 11 bits of precision instead of
 * 24. Which lane has which entry is part of the instruction (PTX, mma.m16n8k8): with
 * g = lane / 4 and t = lane % 4,
 *
 *     a[0] (g, t)   a[1] (g + 8, t)   a[2] (g, t + 4)   a[3] (g + 8, t + 4)
 *     b[0] (t, g)   b[1] (t + 4, g)
 *     c[0] (g, 2t)  c[1] (g, 2t + 1)  c[2] (g + 8, 2t)  c[3] (g + 8, 2t + 1)
 *
 * GPUs before sm_80 have no tf32: see tensor_cores in products.cuh. */
#ifndef TARN_MMA_CUH
#define TARN_MMA_CUH

#include "cuda/launch.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TARN_HAS_TF32 1
#else
#define TARN_HAS_TF32 0
#endif

namespace
{

#if defined(__CUDACC__) && TARN_HAS_TF32

/* Rounds to the nearest tf32, ties away from 0. */
__device__ inline unsigned to_tf32(float x)
{
    unsigned bits = 0;
#ifdef __CUDA_ARCH__
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
    return bits;
}

__device__ inline void mma_16x8x8(float (&c)[4], const unsigned (&a)[4],
                                  const unsigned (&b)[2])
{
#ifdef __CUDA_ARCH__
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

#elif !defined(__CUDACC__)

/* The same on the host; NaN and Inf stay what they are. */
inline unsigned to_tf32(float x)
{
    const unsigned exponent = 0x7f800000u, dropped = 0x1fffu;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & exponent) == exponent) return x == x ? bits : exponent | 0x400000u;
    return (bits + 0x1000u) & ~dropped;
}

/* As the core reads it: an operand that nobody rounded loses its last bits. */
inline float from_tf32(unsigned bits)
{
    float x;
    bits &= ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What one lane brings. */
struct mma_operands {
    float *c;
    const unsigned *a, *b;
};

//> region mma
/* The last lane to come does the work of all: gathers, multiplies, hands out */
inline const char *mma_of_warp(void **brought)
{
    float a[16][8], b[8][8];
    for (int l = 0; l < 32; l++) {
        const auto *m = static_cast<const mma_operands *>(brought[l]);
        const int g = l / 4, t = l % 4;
        if (!m) return "mma needs all 32 lanes, but some are not there";
        for (int e = 0; e < 4; e++)
            a[g + e % 2 * 8][t + e / 2 * 4] = from_tf32(m->a[e]);
        for (int e = 0; e < 2; e++) b[t + e * 4][g] = from_tf32(m->b[e]);
    }
    for (int l = 0; l < 32; l++) {
        const auto *m = static_cast<const mma_operands *>(brought[l]);
        for (int e = 0; e < 4; e++) {
            float sum = 0;
            for (int x = 0; x < 8; x++)
                sum += a[l / 4 + e / 2 * 8][x] * b[x][l % 4 * 2 + e % 2];
            m->c[e] += sum;
        }
    }
    return nullptr;
}
//< region mma

inline void mma_16x8x8(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                       const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    mma_operands mine = {c, a, b};
    tarn_emu_together(&mine, mma_of_warp, ~0u, file, line);
}

#endif

} // namespace
#endif
