/* device.c: a GPU as a device of tarn's, by the run time of CUDA. Chapter 11.
 *
 *     tarn_cuda_device   memory, copies, passes over elements, waiting
 *     tarn_cuda_launch   what launch() of launch.cuh ends in
 *
 * - No driver is asked before the device is first used: a program with kernels in it starts on
 *   any machine, and says why the device is not there only to who wants it.
 * - A launch returns before its kernel ends; copies to the host and finish() wait. What went
 *   wrong in a kernel is found there, so the message names the kernels launched since the last
 *   wait. Most such errors end the GPU's use for this process: CUDA has it so. */
#include "core/device.h"
#include "cuda/forms.h"
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

tarn_status tarn_cuda_launch(tarn_context *ctx, const char *name, const void *kernel,
                             dim3 grid, dim3 block, size_t shared, void **arguments);
extern const struct tarn_device_forms tarn_cuda_forms_f32, tarn_cuda_forms_f64;
tarn_status tarn_cuda_run_pass(tarn_context *ctx, const struct tarn_pass *pass);

/* ---- Is there a GPU? ------------------------------------------------------------------- */

static char reason[200]; /* why the device can't be used, "" if it can */
static int gpu_kind;     /* 86 for a GPU of 8.6 */

static void say_error(cudaError_t error)
{
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (error == cudaErrorStubLibrary ||
        (error == cudaErrorInsufficientDriver && driver == 0))
        snprintf(reason, sizeof reason, "no NVIDIA driver on this machine");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(reason, sizeof reason,
                 "the driver is for CUDA %d.%d, this program for %d.%d", driver / 1000,
                 driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error == cudaErrorNoDevice)
        snprintf(reason, sizeof reason, "a driver, but no GPU");
    else
        snprintf(reason, sizeof reason, "%s", cudaGetErrorString(error));
}

/* Machine code runs on GPUs of its own generation that are not older; PTX on all that are
 * not. A kind is written as configure writes it, 86 for 8.6. */
static bool kernels_fit(int gpu)
{
    static const int built[] = {TARN_GPUS};
    bool any = TARN_GPU_PTX && gpu >= TARN_GPU_PTX;
    for (size_t i = 0; i < sizeof built / sizeof built[0]; i++)
        any = any || (built[i] / 10 == gpu / 10 && built[i] <= gpu);
    return any;
}

static void look_for_gpu(void)
{
    int count = 0, major = 0, minor = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (!error && count == 0) error = cudaErrorNoDevice;
    if (!error)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    if (!error)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    gpu_kind = 10 * major + minor;
    if (error)
        say_error(error);
    else if (!kernels_fit(gpu_kind))
        snprintf(reason, sizeof reason,
                 "it has no kernels for this GPU; configure --with-cuda-arch=%d%d",
                 major, minor);
    cudaGetLastError(); /* CUDA keeps it otherwise for the next who asks */
}

static const char *why_not(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_gpu);
    return reason;
}

static int kind(void)
{
    why_not();
    return gpu_kind;
}

/* ---- Errors ------------------------------------------------------------------------------ */

/* What this thread has launched since it last waited: the names of the latest. */
enum { REMEMBERED = 4, NAME_ROOM = 40 };
static _Thread_local struct {
    char names[REMEMBERED][NAME_ROOM];
    size_t count;
} launched;

static void remember(const char *name)
{
    snprintf(launched.names[launched.count++ % REMEMBERED], NAME_ROOM, "%s", name);
}

/* "a, b, c", the latest last. */
static void list_launched(char *text, size_t room)
{
    const size_t n = launched.count;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = n > REMEMBERED ? n - REMEMBERED : 0; i < n && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "",
                                 launched.names[i % REMEMBERED]);
}

/* After an error: does the next call fail as well, whatever it is? */
static bool is_lost(void)
{
    cudaGetLastError();
    return cudaDeviceSynchronize() != cudaSuccess;
}

static tarn_status failed(tarn_context *ctx, const char *what, cudaError_t error)
{
    char kernels[REMEMBERED * (NAME_ROOM + 2)];
    list_launched(kernels, sizeof kernels);
    launched.count = 0;
    const char *lost =
        is_lost() ? "; this process can't use the GPU any more, start again" : "";
    const char *among = *kernels ? ", maybe in a kernel launched before: " : "";
    return tarn_fail(ctx, TARN_EDEVICE, "%s on cuda:0: %s (%s)%s%s%s", what,
                     cudaGetErrorString(error), cudaGetErrorName(error), among, kernels,
                     lost);
}

/* The status of a call that has waited for all launches. */
static tarn_status waited(tarn_context *ctx, const char *what, cudaError_t error)
{
    if (error) return failed(ctx, what, error);
    launched.count = 0;
    return TARN_OK;
}

/* ---- Memory ------------------------------------------------------------------------------ */

static void *alloc(size_t bytes)
{
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess) return memory;
    cudaGetLastError();
    return NULL;
}

static void release(void *memory)
{
    cudaFree(memory);
}

static tarn_status copy(tarn_context *ctx, void *to, const void *from, size_t bytes,
                        enum tarn_direction direction)
{
    static const enum cudaMemcpyKind kinds[] = {
        [TARN_TO_DEVICE] = cudaMemcpyHostToDevice,
        [TARN_FROM_DEVICE] = cudaMemcpyDeviceToHost,
        [TARN_WITHIN_DEVICE] = cudaMemcpyDeviceToDevice};
    if (bytes == 0) return TARN_OK;
    const cudaError_t error = cudaMemcpy(to, from, bytes, kinds[direction]);
    if (direction == TARN_WITHIN_DEVICE && !error)
        return TARN_OK; /* it does not wait */
    return waited(ctx, "a copy", error);
}

static tarn_status finish(tarn_context *ctx)
{
    return waited(ctx, "waiting", cudaDeviceSynchronize());
}

/* ---- Launches ---------------------------------------------------------------------------- */

/* More dynamic shared memory than 48 KB with the fixed one is given to who asks for it. */
static tarn_status allow_shared(tarn_context *ctx, const char *name, const void *kernel,
                                size_t shared)
{
    struct cudaFuncAttributes now;
    int most = 0;
    cudaError_t error = cudaFuncGetAttributes(&now, kernel);
    if (error) return failed(ctx, name, error);
    if (shared <= (size_t)now.maxDynamicSharedSizeBytes) return TARN_OK;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    if (error) return failed(ctx, name, error);
    if (shared + now.sharedSizeBytes > (size_t)most)
        return tarn_fail(ctx, TARN_EDEVICE,
                         "%s on cuda:0: a block needs %zu bytes of shared memory, this "
                         "GPU has %d",
                         name, shared + now.sharedSizeBytes, most);
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)shared);
    return error ? failed(ctx, name, error) : TARN_OK;
}

tarn_status tarn_cuda_launch(tarn_context *ctx, const char *name, const void *kernel,
                             dim3 grid, dim3 block, size_t shared, void **arguments)
{
    const char *why = why_not();
    if (*why)
        return tarn_fail(ctx, TARN_EDEVICE, "%s on cuda:0: not available: %s", name,
                         why);
    const tarn_status status =
        shared ? allow_shared(ctx, name, kernel, shared) : TARN_OK;
    if (status) return status;
    cudaError_t error = cudaLaunchKernel(kernel, grid, block, arguments, shared, NULL);
    if (!error) error = cudaGetLastError();
    if (error) return failed(ctx, name, error);
    remember(name);
    return TARN_OK;
}

static const struct tarn_device_forms *forms(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_cuda_forms_f32 : &tarn_cuda_forms_f64;
}

const struct tarn_device tarn_cuda_device = {
    .name = "cuda:0",
    .why_not = why_not,
    .kind = kind,
    .alloc = alloc,
    .free = release,
    .copy = copy,
    .pass = tarn_cuda_run_pass,
    .finish = finish,
    .forms = forms,
};
