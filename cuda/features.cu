/* features.cu: stage 0 on a device, phi of whole rows. Chapters 2 and 11.
 *
 * The operations of src/stages/phi.h on arrays of the device: features of R rows, their
 * gradients, and both under the scale of each row, which keeps float32 from 0/0. Nothing here
 * computes much; what counts is that neighbouring threads read neighbouring entries.
 *
 *   entries   16 entries per thread, 256 apart: maps that work entry by entry
 *   pairs     a block per row: poly2, whose features are the products of two entries
 *   pivots    8 lanes per row: a request of a warp is then 4 rows, 32 bytes of each, and no
 *             sector is fetched in vain; the last steps of the maximum are shuffles
 *
 * Bytes: each array once, but that the scaled forms read x twice. */
#include "cuda/phi.cuh"

namespace
{

constexpr unsigned threads = 256, entries_per_thread = 16, lanes_per_row = 8;

/* ---- Entry by entry ---------------------------------------------------------------------- */

/* Calls f(e) for each entry e < n of this thread. */
template <class F> __device__ inline void each_own_entry(size_t n, F f)
{
    const size_t first = blockIdx.x * size_t(threads * entries_per_thread);
    for (unsigned i = 0; i < entries_per_thread; i++) {
        const size_t e = first + i * threads + threadIdx.x;
        if (e < n) f(e);
    }
}
inline unsigned blocks_of_entries(size_t n)
{
    return blocks_for(n, threads * entries_per_thread);
}

template <class T>
__global__ void features(int id, size_t n, size_t D, const T *x, const T *pivot, T *f)
{
    each_own_entry(n, [&](size_t e) {
        f[e] = pivot ? phi_over(id, x[e], pivot[e / D]) : phi_of(id, x[e]);
    });
}

/* A slope of 0 stops even a df that has overflowed. */
template <class T>
__global__ void slopes(int id, size_t n, size_t D, const T *x, const T *pivot,
                       const T *df, T *dx)
{
    each_own_entry(n, [&](size_t e) {
        const T slope =
            pivot ? phi_slope_over(id, x[e], pivot[e / D]) : phi_slope(id, x[e]);
        dx[e] = slope == 0 ? T(0) : slope * df[e];
    });
}

template <class T> __global__ void divide_rows(size_t n, size_t C, const T *pivot, T *f)
{
    each_own_entry(n, [&](size_t e) { f[e] /= pivot[e / C]; });
}

/* ---- poly2 -------------------------------------------------------------------------------- */

/* The place of x_i x_j, i <= j, among the features of a row. */
__device__ inline size_t place_of_pair(size_t D, size_t i, size_t j)
{
    return i * D - i * (i + 1) / 2 + j;
}

/* Block: one row; threads: j, for one i after the other. D numbers in, D (D + 1) / 2 out, of
 * two products each. */
template <class T> __global__ void pairs(size_t D, const T *x, const T *pivot, T *f)
{
    const size_t row = blockIdx.x;
    const T m = pivot ? pivot[row] : T(1), root = T(M_SQRT2);
    x += row * D, f += row * (D * (D + 1) / 2);
    for (size_t i = 0; i < D; i++)
        for (size_t j = i + threadIdx.x; j < D; j += blockDim.x)
            f[place_of_pair(D, i, j)] =
                (j == i ? T(1) : root) * (x[i] / m) * (x[j] / m);
}

/* Block: one row; threads: i. Each pair has two gradients, so here each entry gathers what it
 * gets: 4 D flops. */
template <class T>
__global__ void pairs_grad(size_t D, const T *x, const T *pivot, const T *df, T *dx)
{
    const size_t row = blockIdx.x;
    const T m = pivot ? pivot[row] : T(1), root = T(M_SQRT2);
    x += row * D, df += row * (D * (D + 1) / 2);
    for (size_t i = threadIdx.x; i < D; i += blockDim.x) {
        T sum = 0;
        for (size_t j = 0; j < D; j++) {
            const size_t pair = j < i ? place_of_pair(D, j, i) : place_of_pair(D, i, j);
            sum += (j == i ? T(2) : root) * (x[j] / m) * df[pair] / m;
        }
        dx[row * D + i] = sum;
    }
}

/* ---- Pivots ------------------------------------------------------------------------------- */

template <class T>
__global__ void pivots(int id, size_t R, size_t D, const T *x, double eps, T *pivot,
                       T *eps_row)
{
    const unsigned lane = threadIdx.x % lanes_per_row;
    const size_t row = (blockIdx.x * size_t(threads) + threadIdx.x) / lanes_per_row;
    T m = phi_pivot_start<T>(id);
    if (row < R)
        for (size_t c = lane; c < D; c += lanes_per_row)
            m = phi_pivot_add(id, m, x[row * D + c]);
    for (int step = 1; step < int(lanes_per_row); step *= 2) {
        const T other = __shfl_xor_sync(~0u, m, step);
        m = other > m ? other : m;
    }
    if (row >= R || lane > 0) return;
    pivot[row] = phi_pivot_end(id, m, eps);
    eps_row[row] = T(phi_eps(id, eps, double(pivot[row])));
}

/* ---- The table ---------------------------------------------------------------------------- */

template <class T>
tarn_status make(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                 const void *pivot, void *f)
{
    if (R == 0 || D == 0) return TARN_OK;
    const T *from = static_cast<const T *>(x), *m = static_cast<const T *>(pivot);
    T *to = static_cast<T *>(f);
    if (id == TARN_PHI_POLY2)
        return launch(ctx, "phi pairs", pairs<T>, grid_side(R), 64, 0, D, from, m, to);
    return launch(ctx, "phi features", features<T>, blocks_of_entries(R * D), threads,
                  0, id, R * D, D, from, m, to);
}

template <class T>
tarn_status apply(tarn_context *ctx, int id, size_t R, size_t D, const void *x, void *f)
{
    return make<T>(ctx, id, R, D, x, nullptr, f);
}

template <class T>
tarn_status find_pivots(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                        double eps, void *pivot, void *eps_row)
{
    if (R == 0) return TARN_OK;
    return launch(ctx, "phi pivots", pivots<T>, blocks_for(R, threads / lanes_per_row),
                  threads, 0, id, R, D, static_cast<const T *>(x), eps,
                  static_cast<T *>(pivot), static_cast<T *>(eps_row));
}

template <class T>
tarn_status apply_scaled(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                         double eps, void *f, void *pivot, void *eps_row)
{
    const tarn_status status = find_pivots<T>(ctx, id, R, D, x, eps, pivot, eps_row);
    return status ? status : make<T>(ctx, id, R, D, x, pivot, f);
}

template <class T>
tarn_status grad_scaled(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                        const void *pivot, const void *df, void *dx)
{
    if (R == 0 || D == 0) return TARN_OK;
    const T *from = static_cast<const T *>(x), *m = static_cast<const T *>(pivot);
    const T *arrived = static_cast<const T *>(df);
    T *to = static_cast<T *>(dx);
    if (id == TARN_PHI_POLY2)
        return launch(ctx, "phi pairs_grad", pairs_grad<T>, grid_side(R), 64, 0, D,
                      from, m, arrived, to);
    return launch(ctx, "phi slopes", slopes<T>, blocks_of_entries(R * D), threads, 0,
                  id, R * D, D, from, m, arrived, to);
}

template <class T>
tarn_status grad(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                 const void *df, void *dx)
{
    return grad_scaled<T>(ctx, id, R, D, x, nullptr, df, dx);
}

template <class T>
tarn_status unscale(tarn_context *ctx, size_t R, size_t C, const void *pivot, void *df)
{
    if (R == 0 || C == 0) return TARN_OK;
    return launch(ctx, "phi divide_rows", divide_rows<T>, blocks_of_entries(R * C),
                  threads, 0, R * C, C, static_cast<const T *>(pivot),
                  static_cast<T *>(df));
}

template <class T>
tarn_status scale(tarn_context *ctx, size_t R, size_t C, double eps, void *f,
                  void *pivot, void *eps_row)
{
    const tarn_status status =
        find_pivots<T>(ctx, TARN_PHI_NONE, R, C, f, eps, pivot, eps_row);
    return status ? status : unscale<T>(ctx, R, C, pivot, f);
}

} // namespace

extern "C" {
extern const tarn_device_phi TARN_TABLE(phi, f32), TARN_TABLE(phi, f64);
const tarn_device_phi TARN_TABLE(phi, f32) = {apply<float>,        grad<float>,
                                              apply_scaled<float>, grad_scaled<float>,
                                              scale<float>,        unscale<float>};
const tarn_device_phi TARN_TABLE(phi, f64) = {apply<double>,        grad<double>,
                                              apply_scaled<double>, grad_scaled<double>,
                                              scale<double>,        unscale<double>};
}
