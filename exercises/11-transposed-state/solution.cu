/* A state read side by side. Chapter 11, eq 20; about 15 lines.
 *
 * A state lies transposed in memory: S [H, M + 1, C], row m of a head belongs to value m, and row
 * M is z. A block of 128 threads has one head h, and M + 1 floats of shared memory:
 *
 *     out[h][m] = (q_h . S[h][m]) / max(q_h . S[h][M], least)
 *
 * Lanes of a warp have to read neighbours, whatever C and M are. */
__global__ void ask(float *out, const float *q, const float *S, int C, int M, float least)
{
    DYN_SHARED(float, sums);
    const int h = blockIdx.x, t = threadIdx.x;
    const float *q_h = q + h * C, *S_h = S + h * (M + 1) * C;
    //> todo
    //: (void)t, (void)q_h, (void)S_h, (void)sums, (void)out, (void)least;
    const int lane = t % 32, warps = blockDim.x / 32;
    for (int row = t / 32; row <= M; row += warps) {
        float sum = 0;
        for (int c = lane; c < C; c += 32) sum += q_h[c] * S_h[row * C + c];
        for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
        if (lane == 0) sums[row] = sum;
    }
    __syncthreads();
    for (int m = t; m < M; m += blockDim.x)
        out[h * M + m] = sums[m] / (sums[M] > least ? sums[M] : least);
    //< todo
}
