/* outside.cu: dynamic shared memory where the emulated device can't have it. */
extern __shared__ float row[];

__global__ void outside(float *x)
{
    row[threadIdx.x] = x[threadIdx.x];
}
