/* pointers.cu: arguments that no value of the prompt's can be. */
__global__ void of_int(int *x)
{
    x[0] = 1;
}

int not_void(float *x)
{
    return x[0] > 0;
}
