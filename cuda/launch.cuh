/* launch.cuh: what every .cu file starts from: CUDA's words on both kinds of device, shared
 * memory, and one way to launch a kernel. Chapter 11.
 *
 * The same source is compiled three times; everything in it is local but for its tables, whose
 * names begin with tarn_ and the target:
 *
 *     TARN_TARGET = cuda      by nvcc, for GPUs
 *     TARN_TARGET = emu       by the host compiler, for the emulated device
 *     TARN_TARGET = checked   the same, instrumented: every access is seen by emu/hooks.c
 *
 * Rules of the house: a kernel is written for any size, no dimension has to be a multiple of
 * its tile; the index of an element is a size_t; heads (and chunks of heads) are counted by
 * blockIdx.x, as gridDim.y and z may not exceed 65,535; a file ends with its ladder of rungs. */
#ifndef TARN_LAUNCH_CUH
#define TARN_LAUNCH_CUH

#include "cuda/forms.h"

#ifdef __CUDACC__

#include <cuda_runtime.h>

/* device.c: the launch itself, and its error as a status. */
extern "C" tarn_status tarn_cuda_launch(tarn_context *ctx, const char *name,
                                        const void *kernel, dim3 grid, dim3 block,
                                        size_t shared, void **arguments);

/* Shared memory, of a fixed size: SHARED(float, tile, [64][65]), or without dimensions one T;
 * of the size that the launch tells: DYN_SHARED(float, row). */
#define SHARED(T, name, ...) __shared__ T name __VA_ARGS__
#define DYN_SHARED(T, name)                                                            \
    extern __shared__ __align__(16) unsigned char tarn_dynamic[];                      \
    T *const name = reinterpret_cast<T *>(tarn_dynamic)

#else

#include "emu/words.h"

#define SHARED(T, name, ...)                                                           \
    static const char name##_key = 0;                                                  \
    typedef T name##_type __VA_ARGS__;                                                 \
    name##_type &name = *static_cast<name##_type *>(                                   \
        tarn_emu_shared(&name##_key, sizeof(name##_type), __FILE__, __LINE__))
#define DYN_SHARED(T, name) T *const name = static_cast<T *>(tarn_emu_here.shared)

#endif

/* Before a loop of constant length whose arrays are to be registers. gcc has its own word. */
#if defined __CUDACC__ || defined __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* The name of a table: TARN_TABLE(prefix, f32) is tarn_emu_prefix_f32. */
#define TARN_PASTE(target, name, type)  tarn_##target##_##name##_##type
#define TARN_EXPAND(target, name, type) TARN_PASTE(target, name, type)
#define TARN_TABLE(name, type)          TARN_EXPAND(TARN_TARGET, name, type)

namespace
{

/* Launches kernel(arguments...) on grid x block threads with so many bytes of dynamic shared
 * memory. On a GPU it returns before the kernel ends, on the emulated device after. */
template <class Kernel, class... Arguments>
inline tarn_status launch(tarn_context *ctx, const char *name, Kernel kernel, dim3 grid,
                          dim3 block, size_t shared, Arguments... arguments)
{
#ifdef __CUDACC__
    const void *function = reinterpret_cast<const void *>(kernel);
    void *list[] = {static_cast<void *>(&arguments)...};
    return tarn_cuda_launch(ctx, name, function, grid, block, shared, list);
#else
    auto call = [=] { kernel(arguments...); };
    auto body = [](void *data) { (*static_cast<decltype(call) *>(data))(); };
    const struct tarn_emu_grid l = {name,
                                    {grid.x, grid.y, grid.z},
                                    {block.x, block.y, block.z},
                                    shared,
                                    body,
                                    &call,
                                    sizeof call};
    return tarn_emu_launch(ctx, &l);
#endif
}

/* One side of a grid. What does not fit becomes the most there is, which no device takes: the
 * launch is refused, it does not do a part. */
inline unsigned grid_side(size_t blocks)
{
    const unsigned most = ~0u;
    return blocks < most ? static_cast<unsigned>(blocks) : most;
}

/* Blocks that cover n elements; at least one, as a grid must not be empty. */
inline unsigned blocks_for(size_t n, unsigned per_block)
{
    return n ? grid_side((n + per_block - 1) / per_block) : 1;
}

} // namespace
#endif
