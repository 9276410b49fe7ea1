/* scan_chunks of cuda/chunks.cuh, and the phases around it without their squares: rows are
 * [H, N, C], a state is [C, M] and then [C], a token sees itself. */
typedef float T;

__device__ static inline void carry(T &part, T &total)
{
    const T sum = total + part, added = sum - total;
    part = (total - (sum - added)) + (part - added);
    total = sum;
}

__global__ void chunk_sums(float *states, const float *k, const float *v, int N, int H,
                           int C, int M, int L)
{
    const size_t n = blockIdx.x, h = blockIdx.y, P = gridDim.x, state_size = C * M + C;
    T *const state = states + (h * P + n) * state_size;
    (void)H;
    for (size_t e = threadIdx.x; e < state_size; e += blockDim.x) {
        T sum = 0;
        for (size_t j = n * L; j < (n + 1) * L && j < size_t(N); j++)
            sum += e < size_t(C * M) ? k[(h * N + j) * C + e / M] * v[(h * N + j) * M + e % M]
                                     : k[(h * N + j) * C + e - C * M];
        state[e] = sum;
    }
}

__global__ void prefixes(float *states, int P, int E)
{
    const size_t e = blockIdx.x * blockDim.x + threadIdx.x, count = P, state_size = E;
    const bool backwards = false;
    if (e >= state_size) return;
    T total = 0, part = 0;
    carry(part, total);
    for (size_t n = 0; n < count; n++) {
        const size_t chunk = backwards ? count - 1 - n : n;
        T &state = states[chunk * state_size + e];
        const T sum = state;
        state = total + part;
        part += sum;
        carry(part, total);
    }
}

__global__ void outputs(float *out, const float *states, const float *q, const float *k,
                        const float *v, int N, int H, int C, int M, int L, float eps)
{
    const size_t n = blockIdx.x, h = blockIdx.y, P = gridDim.x, state_size = C * M + C;
    const T *S = states + (h * P + n) * state_size, *z = S + C * M;
    (void)H;
    for (size_t i = n * L + threadIdx.x; i < (n + 1) * L && i < size_t(N); i += blockDim.x) {
        for (int m = 0; m < M; m++) {
            T num = 0, den = eps;
            for (int c = 0; c < C; c++) {
                num += q[(h * N + i) * C + c] * S[c * M + m];
                den += q[(h * N + i) * C + c] * z[c];
            }
            for (size_t j = n * L; j <= i; j++) {
                T s = 0;
                for (int c = 0; c < C; c++) s += q[(h * N + i) * C + c] * k[(h * N + j) * C + c];
                num += s * v[(h * N + j) * M + m];
                den += s;
            }
            out[(h * N + i) * M + m] = num / den;
        }
    }
}
