/* bugs.cu: kernels with one mistake each, at the line that says BUG and its name. Most run with
 * 64 threads, two warps. */
#include "bugs.h"
#include "cuda/launch.cuh"

namespace
{

__device__ inline unsigned me()
{
    return threadIdx.x;
}

/* ---- Nothing wrong: what the checks must let pass -------------------------------------- */

__constant__ float factors[4] = {1, 2, 3, 4};

__global__ void sound(float *out)
{
    SHARED(float, fixed, [64]);
    DYN_SHARED(float, s);
    __shared__ float plain[64];
    s[me()] = fixed[me()] = plain[me()] = float(me());
    __syncwarp();
    const float neighbour = s[me() ^ 1] + plain[me() ^ 1];
    __syncwarp();
    s[me()] = neighbour;
    __syncthreads();
    const float sum = s[63 - me()] + fixed[63 - me()] + plain[63 - me()];
    if (blockIdx.x == 0) out[me()] = sum * factors[me() % 4];
    __syncthreads();
    s[63 - me()] = 0;
    atomicAdd(&out[70], 1.0f);
}

/* ---- Races -------------------------------------------------------------------------------- */

__global__ void missing_syncthreads(float *out)
{
    DYN_SHARED(float, s);
    s[me()] = 0;
    __syncthreads();
    s[me()] = 1;
    out[me()] = s[63 - me()]; // BUG missing_syncthreads
}

/* A shuffle lets lanes wait for each other but does not order memory. */
__global__ void missing_syncwarp(float *out)
{
    DYN_SHARED(float, s);
    s[me()] = 1;
    const float sum = __shfl_xor_sync(~0u, 1.0f, 1);
    out[me()] = sum + s[me() ^ 1]; // BUG missing_syncwarp
}

/* Half of the warp is told, the other half reads. */
__global__ void syncwarp_of_others(float *out)
{
    DYN_SHARED(float, s);
    const unsigned half = me() % 32 < 16 ? 0x0000ffff : 0xffff0000;
    s[me()] = 0;
    __syncthreads();
    s[me()] = 1;
    __syncwarp(half);
    out[me()] = s[me() ^ 16]; // BUG syncwarp_of_others
}

__global__ void overwritten_too_early(float *out)
{
    DYN_SHARED(float, s);
    s[me()] = float(me());
    __syncthreads();
    const float x = s[63 - me()];
    s[me()] = x; // BUG overwritten_too_early
    __syncthreads();
    out[me()] = s[me()];
}

__global__ void race_in_global_memory(float *out)
{
    out[me()] = 1;
    out[me()] += out[63 - me()]; // BUG race_in_global_memory
}

__global__ void race_between_blocks(float *out)
{
    if (me() == 0) out[0] += 1; // BUG race_between_blocks
}

/* Block 0 reads what block 1 writes: whoever comes first. */
__global__ void read_by_another_block(float *out)
{
    if (me() > 0) return;
    if (blockIdx.x > 0)
        out[0] = 1; // BUG read_by_another_block
    else
        out[1] = out[0];
}

__global__ void half_atomic(float *out)
{
    if (me() == 0)
        out[0] = 1;
    else
        atomicAdd(&out[0], 1.0f); // BUG half_atomic
}

/* ---- Bounds --------------------------------------------------------------------------------- */

__global__ void past_an_array(float *out)
{
    out[blockIdx.x * blockDim.x + me()] = 1; // BUG past_an_array
}

__global__ void far_away(float *out)
{
    out[(size_t(1) << 30) + me()] = 1; // BUG far_away
}

__global__ void past_dynamic_shared(float *out)
{
    DYN_SHARED(float, s);
    s[me() + 1] = 1; // BUG past_dynamic_shared
    __syncthreads();
    out[me()] = s[me()];
}

__global__ void past_fixed_shared(float *out)
{
    SHARED(float, s, [64]);
    SHARED(float, behind, [64]);
    behind[me()] = 0;
    s[me() + 1] = 1; // BUG past_fixed_shared
    __syncthreads();
    out[me()] = s[me()] + behind[me()];
}

__global__ void past_static_shared(float *out)
{
    __shared__ float s[64];
    s[me()] = 1;
    out[me()] = s[me() + 4096]; // BUG past_static_shared
}

__global__ void host_pointer(float *out, const float *host)
{
    out[me()] = host[me()]; // BUG host_pointer
}

__global__ void null_pointer(float *out, const float *nothing)
{
    out[me()] = nothing[me()] + 1; // BUG null_pointer
}

int counter = 1;

__global__ void variable_of_the_host(float *out)
{
    if (me() == 0) counter = 2; // BUG variable_of_the_host
    out[me()] = float(counter);
}

__global__ void local_of_another(float *out)
{
    SHARED(const float *, where, [1]);
    const float local[4] = {1, 2, 3, out[0]};
    if (me() == 0) where[0] = local;
    __syncthreads();
    out[me()] = where[0][me() % 4]; // BUG local_of_another
    __syncthreads();
}

/* ---- Memory that nobody has written ------------------------------------------------------------ */

__global__ void fresh_dynamic_shared(float *out)
{
    DYN_SHARED(float, s);
    if (me() < 63) s[me()] = 1;
    __syncthreads();
    out[me()] = s[me()]; // BUG fresh_dynamic_shared
}

__global__ void fresh_fixed_shared(float *out)
{
    SHARED(float, s, [64]);
    if (me() < 63) s[me()] = 1;
    __syncthreads();
    out[me()] = s[me()]; // BUG fresh_fixed_shared
}

__global__ void fresh_static_shared(float *out)
{
    __shared__ float s[64];
    if (me() < 63) s[me()] = 1;
    __syncthreads();
    out[me()] = s[me()]; // BUG fresh_static_shared
}

__global__ void fresh_global(float *out, const float *fresh)
{
    out[me()] = fresh[me()]; // BUG fresh_global
}

__global__ void missing_cp_wait(float *out, const float *from)
{
    DYN_SHARED(float, s);
    if (me() < 16) cp_async16(&s[4 * me()], &from[4 * me()]);
    cp_commit();
    __syncthreads();
    out[me()] = s[me()]; // BUG missing_cp_wait
}

/* Who waits sees its own copies; others have to be told. */
__global__ void missing_barrier_after_cp_wait(float *out, const float *from)
{
    DYN_SHARED(float, s);
    if (me() < 16) cp_async16(&s[4 * me()], &from[4 * me()]);
    cp_commit();
    cp_wait<0>();
    out[me()] = s[me()]; // BUG missing_barrier_after_cp_wait
}

/* ---- Waiting for those who do not come ---------------------------------------------------------- */

__global__ void barrier_of_some(float *out)
{
    if (me() < 32) __syncthreads(); // BUG barrier_of_some
    out[me()] = 1;
}

__global__ void two_barriers(float *out)
{
    if (me() < 32) {
        __syncthreads();
    } else {
        out[1] = 1;
        __syncthreads(); // BUG two_barriers
    }
    out[me()] = 1;
}

__global__ void early_exit(float *out)
{
    if (me() == 0) return;
    __syncthreads(); // BUG early_exit
    out[me()] = 1;
}

__global__ void shuffle_of_some(float *out)
{
    float x = 1;
    if (me() & 1) x = __shfl_xor_sync(~0u, x, 1); // BUG shuffle_of_some
    out[me()] = x;
}

__global__ void shuffle_without_me(float *out)
{
    out[me()] = __shfl_sync(0x0000ffff, 1.0f, 0); // BUG shuffle_without_me
}

__global__ void shuffle_from_outside(float *out)
{
    if (me() % 32 < 16)
        out[me()] = __shfl_xor_sync(0x0000ffff, 1.0f, 16); // BUG shuffle_from_outside
}

__global__ void masks_differ(float *out)
{
    const unsigned mask = me() & 1 ? ~0u : 0x7fffffff;
    if (me() % 32 < 31) out[me()] = __shfl_sync(mask, 1.0f, 0); // BUG masks_differ
}

__global__ void exited_lane(float *out)
{
    if (me() % 32 == 0) return;
    out[me()] = float(__ballot_sync(~0u, 1)); // BUG exited_lane
}

/* Lanes of warp 0 wait for lane 0, which waits with warp 1 for all of them. */
__global__ void deadlock(float *out)
{
    if (me() == 0 || me() >= 32)
        __syncthreads();
    else
        __syncwarp(); // BUG deadlock
    out[me()] = 1;
}

/* ---- The rest ------------------------------------------------------------------------------------- */

__global__ void divided_by_zero(float *out, int n)
{
    out[me()] = float(100 / n); // BUG divided_by_zero
}

__device__ __noinline__ float deep(int n, const volatile float *above)
{
    volatile float room[1000];
    room[n] = *above;
    return n ? deep(n - 1, room) + room[7] : room[n];
}

__global__ void stack_overflow(float *out)
{
    out[me()] = deep(100, out);
}

__global__ void endless(float *out)
{
    while (out[me()] >= 0) out[me()] += 1;
}

/* ---- By name --------------------------------------------------------------------------------------- */

constexpr unsigned T = BUG_THREADS;
constexpr size_t bytes = T * sizeof(float);

#define LAUNCHED(name, kernel, blocks, threads, shared, ...)                           \
    bug                                                                                \
    {                                                                                  \
#name, [](tarn_context *ctx, bug_memory m) {                                   \
            return launch(ctx, #name, kernel, blocks, threads, shared, __VA_ARGS__);   \
        }       \
    }
#define BUG(name, blocks, shared, ...)                                                 \
    LAUNCHED(name, name, blocks, T, shared, __VA_ARGS__)

} // namespace

extern "C" const bug TARN_TABLE(bugs, all)[] = {
    BUG(sound, 2, bytes, m.out),
    BUG(missing_syncthreads, 1, bytes, m.out),
    BUG(missing_syncwarp, 1, bytes, m.out),
    BUG(syncwarp_of_others, 1, bytes, m.out),
    BUG(overwritten_too_early, 1, bytes, m.out),
    BUG(race_in_global_memory, 1, 0, m.out),
    BUG(race_between_blocks, 4, 0, m.out),
    BUG(read_by_another_block, 2, 0, m.out),
    BUG(half_atomic, 1, 0, m.out),
    BUG(past_an_array, 2, 0, m.out),
    BUG(far_away, 1, 0, m.out),
    BUG(past_dynamic_shared, 1, bytes, m.out),
    BUG(past_fixed_shared, 1, 0, m.out),
    BUG(past_static_shared, 1, 0, m.out),
    BUG(host_pointer, 1, 0, m.out, m.host),
    BUG(null_pointer, 1, 0, m.out, static_cast<const float *>(nullptr)),
    BUG(variable_of_the_host, 1, 0, m.out),
    BUG(local_of_another, 1, 0, m.out),
    BUG(fresh_dynamic_shared, 1, bytes, m.out),
    BUG(fresh_fixed_shared, 1, 0, m.out),
    BUG(fresh_static_shared, 1, 0, m.out),
    BUG(fresh_global, 1, 0, m.out, m.fresh),
    BUG(missing_cp_wait, 1, bytes, m.out, m.out),
    BUG(missing_barrier_after_cp_wait, 1, bytes, m.out, m.out),
    BUG(barrier_of_some, 1, 0, m.out),
    BUG(two_barriers, 1, 0, m.out),
    BUG(early_exit, 1, 0, m.out),
    BUG(shuffle_of_some, 1, 0, m.out),
    BUG(shuffle_without_me, 1, 0, m.out),
    BUG(shuffle_from_outside, 1, 0, m.out),
    BUG(masks_differ, 1, 0, m.out),
    BUG(exited_lane, 1, 0, m.out),
    BUG(deadlock, 1, 0, m.out),
    LAUNCHED(too_many_threads, sound, 1, 1025, bytes, m.out),
    LAUNCHED(too_much_shared, sound, 1, T, (64 << 10) + 4, m.out),
    BUG(divided_by_zero, 1, 0, m.out, 0),
    BUG(stack_overflow, 1, 0, m.out),
    BUG(endless, 1, 0, m.out),
    bug{nullptr, nullptr}};
