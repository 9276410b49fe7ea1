/* user.cuh: what stands before and behind a user's file when it is compiled. Chapter 11.
 *
 *     #include "cuda/user.cuh"
 *     ...                          the file, with CUDA's words, SHARED and DYN_SHARED
 *     TARN_USER_KERNEL(scale)
 *
 * The last line looks the kernel's arguments up in its type and makes the table of user.h. */
#ifndef TARN_USER_CUH
#define TARN_USER_CUH

/* A user's kernel may have any name: those that tarn's headers need for themselves, beside the
 * words of CUDA, are others here. */
#define blocks_for     tarn_blocks_for
#define count_votes    tarn_count_votes
#define exchange       tarn_exchange
#define in_group       tarn_in_group
#define lane_of_thread tarn_lane_of_thread
#define launch         tarn_launch
#define shuffle        tarn_shuffle
#define shuffled       tarn_shuffled
#define update         tarn_update
#define vote           tarn_vote
#include "cuda/launch.cuh"
#undef blocks_for
#undef count_votes
#undef exchange
#undef in_group
#undef lane_of_thread
#undef launch
#undef shuffle
#undef shuffled
#undef update
#undef vote

#include "cuda/user.h"
#include <stdio.h>
#include <type_traits>
#include <utility>

#ifdef __CUDACC__

/* CUDA's run time in this shared object is another than the program's, and knows the kernel. */
namespace
{
cudaError_t user_error;
inline const char *user_problem()
{
    return cudaGetErrorString(user_error);
}
} // namespace

extern "C" __attribute__((visibility("hidden"))) tarn_status
tarn_cuda_launch(tarn_context *, const char *, const void *kernel, dim3 grid,
                 dim3 block, size_t shared, void **arguments)
{
    const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    user_error = cudaFuncSetAttribute(kernel, most, static_cast<int>(shared));
    if (!user_error)
        user_error = cudaLaunchKernel(kernel, grid, block, arguments, shared, nullptr);
    if (!user_error) user_error = cudaDeviceSynchronize();
    return user_error ? TARN_EDEVICE : TARN_OK;
}

#else

/* In a file of its own a kernel need not be static, and may be extern "C". A variable of the
 * device is one that the shared object shows. A compiler must not conclude that shared memory
 * which nobody writes is 0. */
#undef __global__
#define __global__
#undef __device__
#define __device__ __attribute__((visibility("default")))
#undef __shared__
#define __shared__ static __thread __attribute__((used))

namespace
{
inline const char *user_problem()
{
    return "";
}
} // namespace

#endif

namespace
{

/* How an argument of type T is told of. */
template <class T> struct user_argument {
    static_assert(std::is_arithmetic<T>::value,
                  "an argument of a kernel may be a number, float * or double *");
    static constexpr tarn_user_argument is = {std::is_same<T, bool>::value       ? 'b'
                                              : std::is_floating_point<T>::value ? 'f'
                                              : std::is_signed<T>::value         ? 'i'
                                                                                 : 'u',
                                              sizeof(T)};
};

/* What the elements of a tensor are that a kernel sees in twos and fours. */
template <class T> struct user_element {
    using type = T;
};
template <> struct user_element<float2> {
    using type = float;
};
template <> struct user_element<float4> {
    using type = float;
};
template <> struct user_element<double2> {
    using type = double;
};

template <class T> struct user_argument<T *> {
    using element = typename user_element<std::remove_cv_t<T>>::type;
    static_assert(std::is_same<element, float>::value ||
                      std::is_same<element, double>::value,
                  "a pointer of a kernel may be float * or double *, as tensors are, "
                  "or float2 *, float4 *, double2 *");
    static constexpr tarn_user_argument is = {'p', sizeof(element)};
};

template <class Function> struct user_signature {
    static_assert(!std::is_same<Function, Function>::value, "a kernel returns void");
};

template <class... A> struct user_signature<void(A...)> {
    static constexpr int count = sizeof...(A);
    static_assert(count <= TARN_USER_ARGUMENTS, "a kernel has at most 64 arguments");
    static constexpr tarn_user_argument list[] = {user_argument<A>::is..., {0, 0}};

    template <size_t... i>
    static tarn_status run(tarn_context *ctx, const char *name, void (*kernel)(A...),
                           const tarn_user_grid *g, void **arguments,
                           std::index_sequence<i...>)
    {
        (void)arguments; /* where there are none */
        return tarn_launch(ctx, name, kernel, dim3(g->grid[0], g->grid[1], g->grid[2]),
                           dim3(g->block[0], g->block[1], g->block[2]), g->shared,
                           *static_cast<A *>(arguments[i])...);
    }
};

} // namespace

#define TARN_USER_KERNEL(...)                                                          \
    static tarn_status tarn_user_run(tarn_context *ctx, const tarn_user_grid *grid,    \
                                     void **arguments)                                 \
    {                                                                                  \
        using signature = user_signature<decltype(__VA_ARGS__)>;                       \
        return signature::run(ctx, #__VA_ARGS__, __VA_ARGS__, grid, arguments,         \
                              std::make_index_sequence<signature::count>());           \
    }                                                                                  \
    extern "C" __attribute__((visibility("default")))                                  \
    const struct tarn_user_kernel tarn_user_kernel = {                                 \
        #__VA_ARGS__, user_signature<decltype(__VA_ARGS__)>::count,                    \
        user_signature<decltype(__VA_ARGS__)>::list, tarn_user_run, user_problem};
#endif
