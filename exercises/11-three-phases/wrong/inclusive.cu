/* Inclusive prefixes. */
__global__ void chunk_sums(float *states, const float *k, const float *v, int N, int H,
                           int C, int M, int L)
{
    const int n = blockIdx.x, h = blockIdx.y, width = M + 1;
    const int end = (n + 1) * L < N ? (n + 1) * L : N;
    float *const state = states + (n * H + h) * C * width;
    for (int e = threadIdx.x; e < C * width; e += blockDim.x) {
        const int c = e / width, m = e % width;
        float sum = 0;
        for (int j = n * L; j < end; j++)
            sum += k[(j * H + h) * C + c] * (m < M ? v[(j * H + h) * M + m] : 1);
        state[e] = sum;
    }
}

__global__ void prefixes(float *states, int P, int E)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    float before = 0;
    for (int n = 0; e < E && n < P; n++) {
        const float sum = states[n * E + e];
        before += sum;
        states[n * E + e] = before;
    }
}

__global__ void outputs(float *out, const float *states, const float *q, const float *k,
                        const float *v, int N, int H, int C, int M, int L, float eps)
{
    SHARED(float, w, [32][33]);
    const int n = blockIdx.x, h = blockIdx.y, width = M + 1, first = n * L;
    const int rows = N - first < L ? N - first : L;
    const float *const state = states + (n * H + h) * C * width;
    for (int pair = threadIdx.x; pair < rows * rows; pair += blockDim.x) {
        const int i = pair / rows, j = pair % rows;
        const float *q_i = q + ((first + i) * H + h) * C, *k_j = k + ((first + j) * H + h) * C;
        float sum = 0;
        for (int c = 0; j < i && c < C; c++) sum += q_i[c] * k_j[c];
        w[i][j] = sum;
    }
    __syncthreads();
    for (int entry = threadIdx.x; entry < rows * M; entry += blockDim.x) {
        const int i = entry / M, m = entry % M;
        const float *q_i = q + ((first + i) * H + h) * C;
        float num = 0, den = eps;
        for (int c = 0; c < C; c++) {
            num += q_i[c] * state[c * width + m];
            den += q_i[c] * state[c * width + M];
        }
        for (int j = 0; j < i; j++) {
            num += w[i][j] * v[((first + j) * H + h) * M + m];
            den += w[i][j];
        }
        out[((first + i) * H + h) * M + m] = num / den;
    }
}
