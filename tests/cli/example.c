/* example.c: a program of a user's, compiled against the installed library: with q = k = 0
 * every token weighs the same, so stage 3 gives the running mean of the values. */
#include <stdio.h>
#include <tarn.h>

//> region main
int main(void)
{
    tarn_context *ctx = NULL;
    tarn_tensor *q = NULL, *v = NULL, *out = NULL;
    tarn_options options = tarn_defaults();
    options.eps = 0;
    const size_t shape[] = {4, 1};
    if (tarn_context_new(&ctx)) return 1;
    tarn_status status = tarn_tensor_new(ctx, TARN_FLOAT64, 2, shape, &q);
    if (!status) status = tarn_fill(ctx, q, 0);
    if (!status) status = tarn_clone(ctx, q, TARN_FLOAT64, &v);
    for (size_t i = 0; i < 4 && !status; i++)
        status = tarn_tensor_set(ctx, v, (size_t[]){i, 0}, (double)(i + 1));
    if (!status) status = tarn_prefix(ctx, q, q, v, &options, &out, NULL);
    if (status) fprintf(stderr, "%s\n", tarn_error(ctx));
    for (size_t i = 0; i < 4 && !status; i++)
        printf("%g\n", ((double *)tarn_tensor_data(out))[i]);
    tarn_tensor_free(q), tarn_tensor_free(v), tarn_tensor_free(out);
    tarn_context_free(ctx);
    return status != TARN_OK;
}
//< region main
