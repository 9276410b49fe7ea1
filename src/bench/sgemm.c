/* sgemm.c: the matrix product of the BLAS that configure found, as one more ceiling: what
 * others reach who tune nothing but that. See machine.h. */
#include "bench/machine.h"
#include <math.h>

#ifdef HAVE_CBLAS
#include <cblas.h>

enum { SIZE = 2048 };

struct product {
    tarn_context *ctx;
    float *a, *b, *c;
};

static tarn_status multiply(void *data)
{
    struct product *p = data;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, p->a,
                SIZE, p->b, SIZE, 0, p->c, SIZE);
    return tarn_poll(p->ctx, "sgemm");
}

tarn_status tarn_machine_sgemm(struct tarn_machine *m, tarn_context *ctx)
{
    const size_t count = (size_t)SIZE * SIZE;
    float *memory = tarn_alloc(ctx, 3 * count, sizeof *memory);
    if (!memory) return TARN_ENOMEM;
    for (size_t i = 0; i < 3 * count; i++) memory[i] = (float)(i % 7) - 3;
    struct product p = {ctx, memory, memory + count, memory + 2 * count};
    struct tarn_timing t;
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(m->threads);
#endif
    tarn_status status =
        tarn_bench_time(m->threads, (struct tarn_effort){1, 10}, multiply, &p, &t);
    if (status == TARN_OK) m->sgemm = 2.0 * SIZE * SIZE * SIZE / t.min;
    tarn_release(memory);
    return status;
}

#else

tarn_status tarn_machine_sgemm(struct tarn_machine *m, tarn_context *ctx)
{
    (void)ctx;
    m->sgemm = (double)NAN;
    return TARN_OK;
}

#endif
