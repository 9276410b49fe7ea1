/* hosted.cu: a kernel with the host's code below it, as programs for a GPU have it. */
__global__ void hosted(float *x)
{
    x[threadIdx.x] = 1;
}

int main()
{
    float *x;
    cudaMalloc(&x, 4);
    hosted<<<1, 1>>>(x);
}
