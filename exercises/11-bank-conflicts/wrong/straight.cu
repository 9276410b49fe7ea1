/* Straight from global memory to global memory. */

__global__ void turned(float *out, const float *k, const float *w, int N, int C)
{
    const int i0 = blockIdx.x * 32, c0 = blockIdx.y * 32, x = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (i0 + r < N && c0 + x < C)
            out[(c0 + x) * N + i0 + r] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
}
