/* vectors.cu: numbers that move in twos and fours. */
__global__ void sums(const float *x, float *y, int start)
{
    const float4 *from = reinterpret_cast<const float4 *>(x + start);
    float4 a = from[threadIdx.x]; // FOURS
    y[threadIdx.x] = a.x + a.y + a.z + a.w;
}

__global__ void scale(float4 *y, const float4 *x, float a)
{
    float4 all = x[threadIdx.x], zero = {};
    all.x = a * all.x + zero.x, all.y *= a, all.z *= a, all.w *= a;
    y[threadIdx.x] = all;
}

__global__ void norms(const double2 *x, double *y)
{
    const double2 a = x[threadIdx.x];
    y[threadIdx.x] = a.x * a.x + a.y * a.y;
}

/* Rows of `pitch` fours in shared memory: a column of them. */
__global__ void column(float *y, int pitch)
{
    SHARED(float4, s, [32 * 3]);
    for (int i = threadIdx.x; i < 32 * 3; i += 32) s[i] = make_float4(i, 0, 0, 0);
    __syncthreads();
    const float4 a = s[threadIdx.x * pitch]; // COLUMN
    y[threadIdx.x] = a.x + a.w;
}

__global__ void crooked(float *x)
{
    double *wide = reinterpret_cast<double *>(x + 1);
    wide[threadIdx.x] = 1; // CROOKED
}
