/* test_laws.c: what holds for every operation of the core, whatever it computes.
 *
 * - An interrupt or a failed allocation is an error, leaves the output alone, and
 *   nothing leaks (the end of each test checks that).
 * - The number of threads and the layout of the arguments do not change a bit.
 *
 * Each operation is a function of one or two tensors [n, n]. */
#include "tensors.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

TestSuite(laws, .init = begin, .fini = end);

static tarn_status exponential(const tarn_tensor *a, const tarn_tensor *b,
                               tarn_tensor **out)
{
    (void)b;
    return tarn_unary(ctx, TARN_EXP, a, out);
}

static tarn_status sum_of_two(const tarn_tensor *a, const tarn_tensor *b,
                              tarn_tensor **out)
{
    return tarn_binary(ctx, TARN_ADD, a, b, out);
}

static tarn_status two_minus(const tarn_tensor *a, const tarn_tensor *b,
                             tarn_tensor **out)
{
    (void)b;
    return tarn_binary_number(ctx, TARN_SUB, a, 2, true, out);
}

static tarn_status choice(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out)
{
    return tarn_where(ctx, b, a, b, out);
}

static tarn_status row_sums(const tarn_tensor *a, const tarn_tensor *b,
                            tarn_tensor **out)
{
    (void)b;
    return tarn_reduce(ctx, TARN_SUM, a, 1, false, out);
}

static tarn_status column_norms(const tarn_tensor *a, const tarn_tensor *b,
                                tarn_tensor **out)
{
    (void)b;
    return tarn_reduce(ctx, TARN_NORM, a, 0, true, out);
}

static tarn_status position(const tarn_tensor *a, const tarn_tensor *b,
                            tarn_tensor **out)
{
    (void)b;
    return tarn_reduce(ctx, TARN_ARGMAX, a, TARN_ALL, false, out);
}

static tarn_status mean_of_all(const tarn_tensor *a, const tarn_tensor *b,
                               tarn_tensor **out)
{
    (void)b;
    return tarn_reduce(ctx, TARN_MEAN, a, TARN_ALL, false, out);
}

static tarn_status softmax_down(const tarn_tensor *a, const tarn_tensor *b,
                                tarn_tensor **out)
{
    (void)b;
    return tarn_softmax(ctx, a, 0, out);
}

static tarn_status partial_sums(const tarn_tensor *a, const tarn_tensor *b,
                                tarn_tensor **out)
{
    (void)b;
    return tarn_cumsum(ctx, a, 1, out);
}

static tarn_status product(const tarn_tensor *a, const tarn_tensor *b,
                           tarn_tensor **out)
{
    return tarn_mm(ctx, a, b, out);
}

static tarn_status joined(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out)
{
    return tarn_cat(ctx, (const tarn_tensor *[]){a, b}, 2, 1, out);
}

static tarn_status picked(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out)
{
    (void)b;
    return tarn_index(ctx, a, 1, (size_t[]){3, 0, 3}, 3, out);
}

static tarn_status cloned(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out)
{
    (void)b;
    return tarn_clone(ctx, a, TARN_FLOAT64, out);
}

/* The numbers that a comparison gives, as a tensor. */
static tarn_status compared(const tarn_tensor *a, const tarn_tensor *b,
                            tarn_tensor **out)
{
    double diff = 0;
    bool close = false;
    size_t where = 0;
    tarn_status status = tarn_maxdiff(ctx, a, b, &diff, &where);
    if (status == TARN_OK) status = tarn_allclose(ctx, a, b, 0, 7, &close);
    if (status == TARN_OK) status = tarn_tensor_new(ctx, TARN_FLOAT64, SHAPE(3), out);
    if (status != TARN_OK) return status;
    memcpy((*out)->data, (double[]){diff, (double)where, close}, 3 * sizeof(double));
    return TARN_OK;
}

static tarn_status drawn(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out)
{
    (void)b;
    const uint64_t seed = 5;
    return tarn_random(ctx, TARN_NORMAL, &seed, TARN_FLOAT32, 2, a->shape, out);
}

static const struct {
    const char *name;
    tarn_status (*run)(const tarn_tensor *a, const tarn_tensor *b, tarn_tensor **out);
} operations[] = {
    {"exp", exponential},     {"add", sum_of_two},   {"2 - t", two_minus},
    {"where", choice},        {"sum", row_sums},     {"norm", column_norms},
    {"argmax", position},     {"mean", mean_of_all}, {"softmax", softmax_down},
    {"cumsum", partial_sums}, {"mm", product},       {"cat", joined},
    {"index", picked},        {"clone", cloned},     {"compare", compared},
    {"random", drawn}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* ---- Errors ---------------------------------------------------------------------- */

Test(laws, an_interrupt_is_an_error_that_leaves_nothing_behind)
{
    tarn_tensor *a = randn(1, TARN_FLOAT32, SHAPE(5, 5));
    tarn_tensor *b = randn(2, TARN_FLOAT64, SHAPE(5, 5));
    size_t before = tarn_bytes(ctx);
    tarn_interrupt(ctx);
    for (size_t i = 0; i < OPERATIONS; i++) {
        tarn_tensor *out = NULL;
        cr_assert_eq(operations[i].run(a, b, &out), TARN_EINTR, "%s",
                     operations[i].name);
        cr_assert_null(out, "%s", operations[i].name);
        cr_assert_eq(tarn_bytes(ctx), before, "%s", operations[i].name);
    }
    tarn_clear_interrupt(ctx);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

#ifdef TARN_PARANOID
/* Fails the first allocation, the second, and so on until the operation succeeds. */
static void fail_each_allocation(size_t i, const tarn_tensor *a, const tarn_tensor *b)
{
    size_t before = tarn_bytes(ctx);
    for (size_t n = 1;; n++) {
        cr_assert_lt(n, 50);
        tarn_tensor *out = NULL;
        tarn_fail_alloc_at(n);
        tarn_status status = operations[i].run(a, b, &out);
        tarn_fail_alloc_at(0);
        if (status == TARN_OK) {
            cr_assert_gt(n, 1, "%s allocates nothing?", operations[i].name);
            tarn_tensor_free(out);
            return;
        }
        FAILS(TARN_ENOMEM, "out of memory", status);
        cr_assert_null(out, "%s", operations[i].name);
        cr_assert_eq(tarn_bytes(ctx), before, "%s leaks", operations[i].name);
    }
}

Test(laws, every_failed_allocation_is_an_error_that_leaves_nothing_behind)
{
    tarn_tensor *a = randn(1, TARN_FLOAT32, SHAPE(5, 5)), *turned = NULL;
    tarn_tensor *b = randn(2, TARN_FLOAT64, SHAPE(5, 5));
    OK(tarn_permute(ctx, a, (int[]){1, 0}, &turned));
    for (size_t i = 0; i < OPERATIONS; i++) fail_each_allocation(i, turned, b);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(turned);
}

/* An operation that forgot to write an element would give NaN here. */
Test(laws, every_element_of_an_output_is_written)
{
    tarn_tensor *a = randn(1, TARN_FLOAT32, SHAPE(67, 67));
    tarn_tensor *b = randn(2, TARN_FLOAT32, SHAPE(67, 67));
    for (size_t i = 0; i < OPERATIONS; i++) {
        tarn_tensor *out = NULL;
        OK(operations[i].run(a, b, &out));
        for (size_t j = 0; j < tarn_tensor_numel(out); j++)
            cr_assert_not(isnan(nth(out, j)), "%s: element %zu", operations[i].name, j);
        tarn_tensor_free(out);
    }
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}
#endif

/* ---- What must not matter -------------------------------------------------------- */

static void expect_same_results(const tarn_tensor *a1, const tarn_tensor *b1,
                                int threads1, const tarn_tensor *a2,
                                const tarn_tensor *b2, int threads2)
{
    for (size_t i = 0; i < OPERATIONS; i++) {
        tarn_tensor *one = NULL, *two = NULL;
        OK(tarn_set_threads(ctx, threads1));
        OK(operations[i].run(a1, b1, &one));
        OK(tarn_set_threads(ctx, threads2));
        OK(operations[i].run(a2, b2, &two));
        expect_same_bits(one, two, operations[i].name);
        tarn_tensor_free(one);
        tarn_tensor_free(two);
    }
}

Test(laws, the_number_of_threads_changes_no_bit)
{
    for (tarn_dtype dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++) {
        tarn_tensor *a = randn(1, dtype, SHAPE(301, 301));
        tarn_tensor *b = randn(2, dtype, SHAPE(301, 301));
        expect_same_results(a, b, 1, a, b, 2);
        expect_same_results(a, b, 2, a, b, 5);
        tarn_tensor_free(a);
        tarn_tensor_free(b);
    }
}

/* SHP-05, for one argument at a time: `view` is [n, n] in an unusual layout. */
static void check_layout(tarn_tensor *view)
{
    tarn_tensor *copy = NULL, *other = randn(9, view->dtype, 2, view->shape);
    OK(tarn_contiguous(ctx, view, &copy));
    cr_assert_not(tarn_tensor_is_contiguous(view));
    expect_same_results(view, other, 2, copy, other, 2);
    expect_same_results(other, view, 2, other, copy, 2);
    tarn_tensor_free(copy);
    tarn_tensor_free(other);
    tarn_tensor_free(view);
}

static void check_layouts(tarn_dtype dtype)
{
    size_t n = 70;
    tarn_tensor *t = randn(1, dtype, SHAPE(2 * n, 2 * n)), *view = NULL, *half = NULL;
    OK(tarn_narrow(ctx, t, 0, 0, n, 2, &half));    /* every second row */
    OK(tarn_narrow(ctx, half, 1, 5, n, 1, &view)); /* some columns */
    check_layout(view);
    OK(tarn_narrow(ctx, half, 1, 2 * n - 1, n, -2, &view)); /* mirrored */
    check_layout(view);
    tarn_tensor_free(half);
    OK(tarn_narrow(ctx, t, 0, 0, n, 1, &half));
    tarn_tensor *left = NULL;
    OK(tarn_narrow(ctx, half, 1, 0, n, 1, &left));
    OK(tarn_permute(ctx, left, (int[]){1, 0}, &view)); /* transposed */
    check_layout(view);
    tarn_tensor_free(left);
    tarn_tensor_free(half);
    OK(tarn_narrow(ctx, t, 1, 3, 1, 1, &left));
    OK(tarn_narrow(ctx, left, 0, 0, n, 1, &half));
    OK(tarn_expand(ctx, half, SHAPE(n, n), &view)); /* one column, repeated */
    check_layout(view);
    tarn_tensor_free(left);
    tarn_tensor_free(half);
    tarn_tensor_free(t);
}

Test(laws, a_view_gives_the_bits_of_its_copy)
{
    check_layouts(TARN_FLOAT32);
    check_layouts(TARN_FLOAT64);
}

/* ---- Response -------------------------------------------------------------------- */

static void on_alarm(int signal)
{
    (void)signal;
    tarn_interrupt(ctx);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Work for years over 2^62 virtual elements; asked to stop after 20 ms. The promise is
 * 50 ms; 2 s leave room for a loaded machine and a sanitizer. */
static void expect_prompt_stop(tarn_status (*work)(const tarn_tensor *t))
{
    tarn_tensor *one = make(TARN_FLOAT32, SHAPE(1, 1), NULL), *huge = NULL;
    OK(tarn_expand(ctx, one, SHAPE((size_t)1 << 31, (size_t)1 << 31), &huge));
    signal(SIGALRM, on_alarm);
    const struct itimerval timer = {.it_value = {.tv_usec = 20000}};
    double start = seconds();
    setitimer(ITIMER_REAL, &timer, NULL);
    cr_assert_eq(work(huge), TARN_EINTR);
    cr_assert_lt(seconds() - start, 2);
    tarn_clear_interrupt(ctx);
    tarn_tensor_free(one);
    tarn_tensor_free(huge);
}

static tarn_status compare_all(const tarn_tensor *t)
{
    bool close = false;
    return tarn_allclose(ctx, t, t, 0, 0, &close);
}

/* Each of 64 x 64 elements is a sum of 2^31 products. */
static tarn_status multiply_long(const tarn_tensor *t)
{
    tarn_tensor *rows = NULL, *columns = NULL, *out = NULL;
    OK(tarn_narrow(ctx, t, 0, 0, 64, 1, &rows));
    OK(tarn_narrow(ctx, t, 1, 0, 64, 1, &columns));
    tarn_status status = tarn_mm(ctx, rows, columns, &out);
    tarn_tensor_free(rows);
    tarn_tensor_free(columns);
    return status;
}

/* 4 sums of 2^31 elements, in blocks of 2^16. */
static tarn_status sum_rows(const tarn_tensor *t)
{
    tarn_tensor *rows = NULL, *out = NULL;
    OK(tarn_narrow(ctx, t, 0, 0, 4, 1, &rows));
    tarn_status status = tarn_reduce(ctx, TARN_SUM, rows, 1, false, &out);
    tarn_tensor_free(rows);
    return status;
}

Test(laws, a_comparison_stops_soon)
{
    expect_prompt_stop(compare_all);
}
Test(laws, a_product_stops_soon)
{
    expect_prompt_stop(multiply_long);
}
Test(laws, a_sum_stops_soon)
{
    expect_prompt_stop(sum_rows);
}
