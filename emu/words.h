/* words.h: CUDA's words for a host compiler. Internal; chapter 11.
 *
 * With this header a .cu file is C++17 that runs on the emulated device. Not everything that
 * CUDA has is here, but what a kernel of this course may need: grids and blocks, shared
 * memory, barriers, shuffles and votes, assert. Where a word can't mean the same on the host
 * there is a macro with the same meaning on both sides, see cuda/launch.cuh: SHARED and
 * DYN_SHARED.
 *
 *     atomics.h   atomicAdd and its like
 *     numbers.h   min, max, bits, fast functions of numbers
 *     vectors.h   float4 and its like, which move as one access
 *
 * Everything lives in a namespace without a name: the same source is also compiled instrumented
 * (see hooks.c), and a linker would keep only one of two inline functions of the same name. */
#ifndef TARN_EMU_WORDS_H
#define TARN_EMU_WORDS_H

#include "emu/emu.h"
#include "emu/include/assert.h"
#include <math.h>
#include <string.h>

#define __global__ static
#define __device__
#define __host__
#define __constant__    static const
#define __shared__      static __thread
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

#define threadIdx (tarn_emu_here.thread)
#define blockIdx  (tarn_emu_here.block)
#define blockDim  (tarn_emu_here.block_dim)
#define gridDim   (tarn_emu_here.grid_dim)
#define warpSize  32

namespace
{

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* ---- Waiting: file and line are those of the caller ------------------------------------- */

inline void __syncthreads(const char *file = __builtin_FILE(),
                          int line = __builtin_LINE())
{
    tarn_emu_barrier(file, line);
}

inline void __syncwarp(unsigned mask = ~0u, const char *file = __builtin_FILE(),
                       int line = __builtin_LINE())
{
    tarn_emu_together(nullptr, nullptr, mask, file, line);
}

inline void __threadfence() {}
inline void __threadfence_block() {}

inline void __trap(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    tarn_emu_stop("__trap", file, line);
}

/* ---- Shuffles ------------------------------------------------------------------------------ */

/* What a lane brings: its value, and from which lane it wants one. */
template <class T> struct shuffled {
    T value, got;
    int source;
};

template <class T> const char *exchange(void **lanes)
{
    for (int i = 0; i < TARN_EMU_WARP; i++) {
        auto *mine = static_cast<shuffled<T> *>(lanes[i]);
        if (!mine) continue;
        auto *theirs = static_cast<shuffled<T> *>(lanes[mine->source]);
        if (!theirs) return "a shuffle reads from a lane that is not in the mask";
        mine->got = theirs->value;
    }
    return nullptr;
}

inline int lane_of_thread()
{
    return static_cast<int>(
        (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
        TARN_EMU_WARP);
}

template <class T>
inline T shuffle(unsigned mask, T value, int source, const char *file, int line)
{
    shuffled<T> mine = {value, value, source};
    tarn_emu_together(&mine, exchange<T>, mask, file, line);
    return mine.got;
}

/* A source outside the lane's group of `width` lanes is the lane itself. */
inline int in_group(int source, int lane, int width)
{
    return source >= 0 && source / width == lane / width ? source : lane;
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                     const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    const int first = lane_of_thread() / width * width;
    return shuffle(mask, value, first + (source & (width - 1)), file, line);
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                         const char *file = __builtin_FILE(),
                         int line = __builtin_LINE())
{
    const int lane = lane_of_thread();
    return shuffle(mask, value, in_group(lane ^ bits, lane, width), file, line);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32,
                          const char *file = __builtin_FILE(),
                          int line = __builtin_LINE())
{
    const int lane = lane_of_thread();
    return shuffle(mask, value, in_group(lane + static_cast<int>(by), lane, width),
                   file, line);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32,
                        const char *file = __builtin_FILE(),
                        int line = __builtin_LINE())
{
    const int lane = lane_of_thread();
    return shuffle(mask, value, in_group(lane - static_cast<int>(by), lane, width),
                   file, line);
}

/* ---- Votes ----------------------------------------------------------------------------------- */

struct vote {
    bool mine;
    unsigned all;
};

inline const char *count_votes(void **lanes)
{
    unsigned all = 0;
    for (int i = 0; i < TARN_EMU_WARP; i++)
        if (lanes[i] && static_cast<vote *>(lanes[i])->mine) all |= 1u << i;
    for (int i = 0; i < TARN_EMU_WARP; i++)
        if (lanes[i]) static_cast<vote *>(lanes[i])->all = all;
    return nullptr;
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              const char *file = __builtin_FILE(),
                              int line = __builtin_LINE())
{
    vote mine = {predicate != 0, 0};
    tarn_emu_together(&mine, count_votes, mask, file, line);
    return mine.all;
}

inline int __any_sync(unsigned mask, int predicate, const char *file = __builtin_FILE(),
                      int line = __builtin_LINE())
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}

inline int __all_sync(unsigned mask, int predicate, const char *file = __builtin_FILE(),
                      int line = __builtin_LINE())
{
    return __ballot_sync(mask, !predicate, file, line) == 0;
}

/* ---- cp.async ------------------------------------------------------------------------------------ */

inline void cp_async16(void *to, const void *from)
{
    tarn_emu_copy_async(to, from, 16);
}
inline void cp_commit()
{
    tarn_emu_copy_commit();
}
template <unsigned left> inline void cp_wait()
{
    tarn_emu_copy_wait(left);
}

} // namespace

#include "emu/atomics.h"
#include "emu/numbers.h"
#include "emu/vectors.h"

#endif
