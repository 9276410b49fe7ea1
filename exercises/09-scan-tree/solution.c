/* The scan over chunks as a tree. Chapter 9, phase 2; about 15 lines.
 *
 * Each of P chunks has a sum of E numbers, its S and z in one row. The P leaves are rows 0 to
 * P - 1 of `sums`; behind them lie their (P + 1) / 2 parents, behind these the parents' parents,
 * and so on to the root: T rows in all. Parent i has children 2i and 2i + 1, the last one may
 * have the first of them only. Fill in
 *
 *     sums      the rows of the parents: the sum of the leaves below each
 *     before    of each row: `first` plus the sum of all leaves to the left of those below it
 *
 * All additions of a level must be independent of each other: nothing may walk along the
 * leaves. The tree is its own memory; no other is needed. */
#include <stddef.h>

void scan_tree(size_t P, size_t T, size_t E, const float *first, float *sums,
               float *before)
{
    //> todo
    //: (void)P, (void)T, (void)E, (void)first, (void)sums, (void)before;
    float *const up = sums + P * E, *const before_up = before + P * E;
    const size_t parents = (P + 1) / 2;
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
            before[n * E + e] = before_up[n / 2 * E + e] + left;
        }
    //< todo
}
