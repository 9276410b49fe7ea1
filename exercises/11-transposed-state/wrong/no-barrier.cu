/* No barrier before the division. */
__global__ void ask(float *out, const float *q, const float *S, int C, int M, float least)
{
    DYN_SHARED(float, sums);
    const int h = blockIdx.x, t = threadIdx.x;
    const float *q_h = q + h * C, *S_h = S + h * (M + 1) * C;
    const int lane = t % 32, warps = blockDim.x / 32;
    for (int row = t / 32; row <= M; row += warps) {
        float sum = 0;
        for (int c = lane; c < C; c += 32) sum += q_h[c] * S_h[row * C + c];
        for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
        if (lane == 0) sums[row] = sum;
    }
    for (int m = t; m < M; m += blockDim.x)
        out[h * M + m] = sums[m] / (sums[M] > least ? sums[M] : least);
}
