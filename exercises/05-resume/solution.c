/* Find the bug: half of a state. Chapter 5, eqs 16 to 20.
 *
 * A sequence of one head is read in two parts, as when a program is stopped and started again.
 * After the first part its state is written down in `saved`, C (M + 1) numbers, and a fresh cell
 * begins the second part with them. The first part is right. What comes after it is not.
 * Find out why, and repair it.
 *
 *     q, k   [C, N] features   v [M, N]   out [M, N]   a token is a column; C, M <= 8
 *     saved  [M + 1, C]        result: s turned round, then z */
#include <stddef.h>

struct cell {
    float s[8][8], z[8];
};

/* One token, a column of q, k, v and out: write, then read. */
static void step(struct cell *cell, size_t N, size_t C, size_t M, const float *q,
                 const float *k, const float *v, float eps, float *out)
{
    float den = eps;
    for (size_t c = 0; c < C; c++) {
        for (size_t m = 0; m < M; m++) cell->s[c][m] += k[c * N] * v[m * N];
        cell->z[c] += k[c * N];
        den += q[c * N] * cell->z[c];
    }
    for (size_t m = 0; m < M; m++) {
        float num = 0;
        for (size_t c = 0; c < C; c++) num += q[c * N] * cell->s[c][m];
        out[m * N] = num / den;
    }
}

//> todo
//: static void save(const struct cell *cell, size_t C, size_t M, float *saved)
//: {
//:     for (size_t m = 0; m < M; m++)
//:         for (size_t c = 0; c < C; c++) saved[m * C + c] = cell->s[c][m];
//:     for (size_t c = 0; c < C; c++) saved[M * C + c] = cell->z[c];
//: }
//:
//: static struct cell restore(size_t C, size_t M, const float *saved)
//: {
//:     struct cell cell = {0};
//:     for (size_t m = 0; m < M; m++)
//:         for (size_t c = 0; c < C; c++) cell.s[c][m] = saved[m * C + c];
//:     return cell;
//: }
static void save(const struct cell *cell, size_t C, size_t M, float *saved)
{
    for (size_t m = 0; m < M; m++)
        for (size_t c = 0; c < C; c++) saved[m * C + c] = cell->s[c][m];
    for (size_t c = 0; c < C; c++) saved[M * C + c] = cell->z[c];
}

static struct cell restore(size_t C, size_t M, const float *saved)
{
    struct cell cell = {0};
    for (size_t m = 0; m < M; m++)
        for (size_t c = 0; c < C; c++) cell.s[c][m] = saved[m * C + c];
    for (size_t c = 0; c < C; c++) cell.z[c] = saved[M * C + c];
    return cell;
}
//< todo

/* Tokens 1 to cut, then the rest from what was saved. */
void in_two_parts(size_t N, size_t C, size_t M, size_t cut, const float *q,
                  const float *k, const float *v, float eps, float *saved, float *out)
{
    struct cell first = {0};
    for (size_t i = 0; i < cut; i++)
        step(&first, N, C, M, q + i, k + i, v + i, eps, out + i);
    save(&first, C, M, saved);

    struct cell second = restore(C, M, saved);
    for (size_t i = cut; i < N; i++)
        step(&second, N, C, M, q + i, k + i, v + i, eps, out + i);
}
