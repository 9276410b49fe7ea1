/* Rows of 33 words in a memory of 32 x 32. */

__global__ void turned(float *out, const float *k, const float *w, int N, int C)
{
    DYN_SHARED(float, s);
    const int i0 = blockIdx.x * 32, c0 = blockIdx.y * 32, x = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (i0 + r < N && c0 + x < C)
            s[33 * r + x] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (c0 + r < C && i0 + x < N) out[(c0 + r) * N + i0 + x] = s[33 * x + r];
}
