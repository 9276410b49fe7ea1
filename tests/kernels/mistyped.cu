/* mistyped.cu: does not compile. */
__global__ void mistyped(float *x, int n)
{
    x[0] = m;
    return n;
}
