/* part goes on over all pieces and is added to total as well. */
#include <stddef.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 8 };

/* num, den += q . sum, q being a column of N */
static void read_sum(size_t N, size_t C, size_t M, const float *q,
                     float sum[ROWS][COLUMNS], float *num, float *den)
{
    for (size_t c = 0; c < C; c++) {
        for (size_t m = 0; m < M; m++) num[m] += q[c * N] * sum[c][m];
        *den += q[c * N] * sum[c][M];
    }
}

/* sum += k (v, 1)^T */
static void write_sum(size_t N, size_t C, size_t M, const float *k, const float *v,
                      float sum[ROWS][COLUMNS])
{
    for (size_t c = 0; c < C; c++) {
        for (size_t m = 0; m < M; m++) sum[c][m] += k[c * N] * v[m * N];
        sum[c][M] += k[c * N];
    }
}

void attend(size_t N, size_t C, size_t M, size_t L, const float *q, const float *k,
            const float *v, float eps, float *out)
{
    float total[ROWS][COLUMNS] = {0}, part[ROWS][COLUMNS] = {0};
    for (size_t start = 0; start < N; start += L) {
        const size_t end = N - start < L ? N : start + L;
        for (size_t i = start; i < end; i++) {
            float num[COLUMNS] = {0}, den = eps;
            write_sum(N, C, M, k + i, v + i, part);
            read_sum(N, C, M, q + i, total, num, &den);
            read_sum(N, C, M, q + i, part, num, &den);
            for (size_t m = 0; m < M; m++) out[m * N + i] = num[m] / den;
        }
        for (size_t c = 0; c < C; c++)
            for (size_t m = 0; m <= M; m++) total[c][m] += part[c][m];
    }
}
