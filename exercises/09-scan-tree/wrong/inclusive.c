/* A chunk gets its own sum as well. */
#include <stddef.h>

void scan_tree(size_t P, size_t T, size_t E, const float *first, float *sums,
               float *before)
{
    float *const up = sums + P * E, *const before_up = before + P * E;
    const size_t parents = (P + 1) / 2;
    if (P == 1) {
        for (size_t e = 0; e < E; e++) before[e] = first[e] + sums[e];
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
            const float right = n % 2 == 0 && n + 1 < P ? sums[(n + 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] - right;
        }
}
