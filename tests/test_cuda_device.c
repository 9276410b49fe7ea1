/* test_cuda_device.c: what cuda/device.c says and does, with CUDA's run time played by this
 * test (tests/fake_cuda): machines without a driver, with an old one, GPUs of every kind,
 * kernels that go wrong. Whether a real GPU does the same is for make check-gpu. */

/* Under names of its own: the real device may be in the library. */
#undef TARN_GPUS
#undef TARN_GPU_PTX
#define TARN_GPUS           75, 80
#define TARN_GPU_PTX        played.ptx
#define tarn_cuda_device    played_device
#define tarn_cuda_launch    played_launch
#define tarn_cuda_run_pass  played_pass
#define tarn_cuda_forms_f32 played_forms_f32
#define tarn_cuda_forms_f64 played_forms_f64
#include <cuda_runtime_api.h>
#include <stdbool.h>

/* The machine that is played, and what is done to it. */
static struct {
    cudaError_t count_error;
    int count, driver, major, minor, ptx;
    size_t static_shared;
    cudaError_t launch_error; /* of the next launch */
    cudaError_t kernel_error; /* found when somebody waits; stays if it is sticky */
    cudaError_t last;
    int allowed; /* dynamic shared memory, as asked for */
    int launches;
} played;

#include "cuda/device.c"
const struct tarn_device_forms played_forms_f32, played_forms_f64;
#include "tensors.h"

static cudaError_t noted(cudaError_t error)
{
    if (error) played.last = error;
    return error;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = played.driver;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count)
{
    if (!played.count_error) *count = played.count;
    return noted(played.count_error);
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    cr_assert_eq(device, 0);
    *value = which == cudaDevAttrComputeCapabilityMajor   ? played.major
             : which == cudaDevAttrComputeCapabilityMinor ? played.minor
                                                          : 64 << 10;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (bytes > 1 << 20) return noted(cudaErrorMemoryAllocation);
    *memory = malloc(bytes);
    return cudaSuccess;
}
cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}
/* An illegal address stays for good, whatever is called next. */
cudaError_t cudaDeviceSynchronize(void)
{
    const cudaError_t error = played.kernel_error;
    if (error != cudaErrorIllegalAddress) played.kernel_error = cudaSuccess;
    return noted(error);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind)
{
    const cudaError_t error =
        kind == cudaMemcpyDeviceToDevice ? cudaSuccess : cudaDeviceSynchronize();
    if (!error) memcpy(to, from, bytes);
    return error;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                  const void *kernel)
{
    cr_assert(kernel != NULL);
    attributes->sharedSizeBytes = played.static_shared;
    attributes->maxDynamicSharedSizeBytes =
        played.allowed ? played.allowed : (48 << 10) - (int)played.static_shared;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute which,
                                 int value)
{
    cr_assert(kernel != NULL && which == cudaFuncAttributeMaxDynamicSharedMemorySize);
    played.allowed = value;
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t shared, void *stream)
{
    cr_assert(kernel && grid.x && block.x && arguments && !stream);
    if (shared + played.static_shared > 48 << 10 && shared > (size_t)played.allowed)
        return noted(cudaErrorInvalidValue);
    played.launches++;
    return noted(played.launch_error);
}
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = played.last;
    played.last = cudaSuccess;
    return error;
}
const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                            : "invalid argument";
}
const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress"
                                            : "cudaErrorInvalidValue";
}
tarn_status played_pass(tarn_context *c, const struct tarn_pass *pass)
{
    (void)c, (void)pass;
    return TARN_OK;
}

/* A machine with a GPU that the kernels were compiled for. */
static void start(void)
{
    begin();
    played.count = 1, played.driver = 13000, played.major = 8, played.ptx = 80;
}

TestSuite(cuda_device, .init = start, .fini = end);

/* ---- Is there a GPU? -------------------------------------------------------------------- */

/* Criterion runs each test in a process of its own, so each looks once. */
static void expect_reason(const char *expected)
{
    cr_assert_str_eq(played_device.why_not(), expected);
    cr_assert_eq(played.last, cudaSuccess, "an error is left for the next who asks");
}

Test(cuda_device, a_gpu_that_the_kernels_fit_is_there)
{
    expect_reason("");
}

Test(cuda_device, a_machine_without_a_driver_says_so)
{
    played.count_error = cudaErrorInsufficientDriver, played.driver = 0;
    expect_reason("no NVIDIA driver on this machine");
}

Test(cuda_device, a_stub_of_the_driver_is_none)
{
    played.count_error = cudaErrorStubLibrary;
    expect_reason("no NVIDIA driver on this machine");
}

Test(cuda_device, an_old_driver_is_named_with_the_version_that_is_needed)
{
    played.count_error = cudaErrorInsufficientDriver, played.driver = 12040;
    expect_reason("the driver is for CUDA 12.4, this program for 13.0");
}

Test(cuda_device, a_driver_alone_is_no_gpu)
{
    played.count_error = cudaErrorNoDevice;
    expect_reason("a driver, but no GPU");
}

Test(cuda_device, no_gpu_among_the_devices_is_the_same)
{
    played.count = 0;
    expect_reason("a driver, but no GPU");
}

Test(cuda_device, any_other_error_is_in_the_words_of_cuda)
{
    played.count_error = cudaErrorInvalidValue;
    expect_reason("invalid argument");
}

/* Kernels for 75 and 80, with or without PTX of 80. */
Test(cuda_device, kernels_run_on_their_generation_and_as_ptx_on_newer_ones)
{
    static const struct {
        int gpu;
        bool machine_code, ptx;
    } rows[] = {{70, false, false}, {75, true, true},  {80, true, true},
                {86, true, true},   {90, false, true}, {120, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        played.ptx = 0;
        cr_assert_eq(kernels_fit(rows[i].gpu), rows[i].machine_code, "%d", rows[i].gpu);
        played.ptx = 80;
        cr_assert_eq(kernels_fit(rows[i].gpu), rows[i].ptx, "%d, PTX", rows[i].gpu);
    }
}

Test(cuda_device, a_gpu_without_kernels_for_it_says_what_to_configure)
{
    played.major = 6, played.minor = 1;
    expect_reason("it has no kernels for this GPU; configure --with-cuda-arch=61");
}

/* ---- Launches --------------------------------------------------------------------------- */

static tarn_status launch_kernel(const char *name, size_t shared)
{
    void *arguments[1] = {NULL};
    const dim3 one = {1, 1, 1};
    return played_launch(ctx, name, &played, one, one, shared, arguments);
}

static void expect_error(tarn_status status, const char *message)
{
    cr_assert_eq(status, TARN_EDEVICE);
    cr_assert_str_eq(tarn_error(ctx), message);
}

Test(cuda_device, a_launch_without_a_gpu_is_an_error_with_the_reason)
{
    played.count_error = cudaErrorNoDevice;
    expect_error(launch_kernel("k2", 0),
                 "k2 on cuda:0: not available: a driver, but no GPU");
    cr_assert_eq(played.launches, 0);
}

Test(cuda_device, much_shared_memory_is_asked_for_and_little_is_not)
{
    OK(launch_kernel("k2", 48 << 10));
    cr_assert_eq(played.allowed, 0);
    OK(launch_kernel("k2", 60 << 10));
    cr_assert_eq(played.allowed, 60 << 10);
    played.allowed = 0, played.static_shared = 16 << 10;
    OK(launch_kernel("k2", 40 << 10));
    cr_assert_eq(played.allowed, 40 << 10);
    cr_assert_eq(played.launches, 3);
}

Test(cuda_device, more_shared_memory_than_the_gpu_has_is_an_error_with_both_numbers)
{
    played.static_shared = 1024;
    expect_error(launch_kernel("k2", 64 << 10),
                 "k2 on cuda:0: a block needs 66560 bytes of shared memory, this GPU "
                 "has 65536");
}

Test(cuda_device, a_launch_that_is_refused_names_the_kernel_and_the_next_one_works)
{
    played.launch_error = cudaErrorInvalidValue;
    expect_error(launch_kernel("k2", 0),
                 "k2 on cuda:0: invalid argument (cudaErrorInvalidValue)");
    played.launch_error = cudaSuccess;
    OK(launch_kernel("k2", 0));
    OK(played_device.finish(ctx));
}

Test(cuda_device, an_error_inside_a_kernel_is_found_by_the_copy_and_names_the_kernels)
{
    OK(launch_kernel("sums", 0));
    OK(launch_kernel("outputs", 0));
    played.kernel_error = cudaErrorIllegalAddress;
    char from = 1, to = 0;
    expect_error(played_device.copy(ctx, &to, &from, 1, TARN_FROM_DEVICE),
                 "a copy on cuda:0: an illegal memory access was encountered "
                 "(cudaErrorIllegalAddress), maybe in a kernel launched before: sums, "
                 "outputs; this process can't use the GPU any more, start again");
    cr_assert_eq(to, 0);
}

Test(cuda_device, waiting_forgets_what_was_launched_before)
{
    for (int i = 0; i < 9; i++) OK(launch_kernel("old", 0));
    OK(played_device.finish(ctx));
    OK(launch_kernel("new", 0));
    played.kernel_error = cudaErrorInvalidValue;
    expect_error(
        played_device.finish(ctx),
        "waiting on cuda:0: invalid argument (cudaErrorInvalidValue), maybe in "
        "a kernel launched before: new");
}

Test(cuda_device, the_latest_kernels_are_named_in_order)
{
    const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        OK(launch_kernel(names[i], 0));
    played.kernel_error = cudaErrorInvalidValue;
    expect_error(
        played_device.finish(ctx),
        "waiting on cuda:0: invalid argument (cudaErrorInvalidValue), maybe in "
        "a kernel launched before: c, d, e, f");
}

/* ---- Memory ----------------------------------------------------------------------------- */

Test(cuda_device, memory_comes_for_no_bytes_too_and_is_refused_without_a_trace)
{
    void *none = played_device.alloc(0);
    cr_assert(none != NULL);
    played_device.free(none);
    cr_assert(played_device.alloc(1 << 21) == NULL);
    cr_assert_eq(played.last, cudaSuccess);
}

Test(cuda_device, copies_go_every_way_and_no_bytes_need_no_gpu)
{
    char a[4] = "abc", b[4] = "", c[4] = "", d[4] = "";
    OK(played_device.copy(ctx, b, a, sizeof a, TARN_TO_DEVICE));
    OK(played_device.copy(ctx, c, b, sizeof a, TARN_WITHIN_DEVICE));
    OK(played_device.copy(ctx, d, c, sizeof a, TARN_FROM_DEVICE));
    cr_assert_str_eq(d, "abc");
    played.kernel_error = cudaErrorIllegalAddress;
    OK(played_device.copy(ctx, NULL, NULL, 0, TARN_FROM_DEVICE));
}
