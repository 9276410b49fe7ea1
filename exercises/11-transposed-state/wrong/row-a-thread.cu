/* A thread a row. */
__global__ void ask(float *out, const float *q, const float *S, int C, int M, float least)
{
    DYN_SHARED(float, sums);
    const int h = blockIdx.x, t = threadIdx.x;
    const float *q_h = q + h * C, *S_h = S + h * (M + 1) * C;
    for (int row = t; row <= M; row += blockDim.x) {
        float sum = 0;
        for (int c = 0; c < C; c++) sum += q_h[c] * S_h[row * C + c];
        sums[row] = sum;
    }
    __syncthreads();
    for (int m = t; m < M; m += blockDim.x)
        out[h * M + m] = sums[m] / (sums[M] > least ? sums[M] : least);
}
