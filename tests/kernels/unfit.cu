/* unfit.cu: arguments that no value of the prompt's can be, a function that is nowhere. */
__global__ void of_int(int *x)
{
    x[0] = 1;
}

__global__ int not_void(float *x)
{
    return x[0] > 0;
}

__device__ float elsewhere(float);

__global__ void calls(float *x)
{
    x[0] = elsewhere(x[0]);
}
