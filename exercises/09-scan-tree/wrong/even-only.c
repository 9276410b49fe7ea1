/* A node without a right neighbour gets no parent. */
#include <stddef.h>

void scan_tree(size_t P, size_t T, size_t E, const float *first, float *sums,
               float *before)
{
    float *const up = sums + P * E, *const before_up = before + P * E;
    const size_t parents = P / 2;
    if (P == 1) {
        for (size_t e = 0; e < E; e++) before[e] = first[e];
        return;
    }
    for (size_t i = 0; i < parents; i++)
        for (size_t e = 0; e < E; e++) {
            const float right = 2 * i + 1 < P ? sums[(2 * i + 1) * E + e] : 0;
            up[i * E + e] = sums[2 * i * E + e] + right;
        }
    scan_tree(parents, T - P, E, first, up, before_up);
    for (size_t n = 0; n < P; n++)
        for (size_t e = 0; e < E; e++) {
            const float left = n % 2 ? sums[(n - 1) * E + e] : 0;
            if (n / 2 < parents) before[n * E + e] = before_up[n / 2 * E + e] + left;
        }
}
