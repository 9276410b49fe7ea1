/* misspelt.cu: a word of CUDA without its lines below. */
__global__ void misspelt(float *x)
{
    syncthreads();
    x[0] = 1;
}
