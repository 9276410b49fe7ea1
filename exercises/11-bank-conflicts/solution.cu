/* Turned without conflicts. Chapter 11, banks; a few lines.
 *
 * out[c][i] = w[i] k[i][c], for k [N, C]. A block of 32 x 8 threads has a square of 32 tokens and
 * 32 features, and 4096 bytes of shared memory, 32 x 32 floats: there is no room for a longer
 * row, and SHARED is not there. Rows of k and rows of out are read and written side by side already. The kernel below is
 * right, but when a warp reads a column of the square, all of its words lie in one bank. */

__global__ void turned(float *out, const float *k, const float *w, int N, int C)
{
    DYN_SHARED(float, s);
    const int i0 = blockIdx.x * 32, c0 = blockIdx.y * 32, x = threadIdx.x;
    //> todo
    //: for (int r = threadIdx.y; r < 32; r += 8)
    //:     if (i0 + r < N && c0 + x < C)
    //:         s[32 * r + x] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
    //: __syncthreads();
    //: for (int r = threadIdx.y; r < 32; r += 8)
    //:     if (c0 + r < C && i0 + x < N) out[(c0 + r) * N + i0 + x] = s[32 * x + r];
    /* Row r is turned by r places, so that a column has one word in each bank. */
    for (int r = threadIdx.y; r < 32; r += 8)
        if (i0 + r < N && c0 + x < C)
            s[32 * r + (x + r) % 32] = w[i0 + r] * k[(i0 + r) * C + c0 + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (c0 + r < C && i0 + x < N) out[(c0 + r) * N + i0 + x] = s[32 * x + (r + x) % 32];
    //< todo
}
