/* test_emu.c: what the emulated device promises: threads, blocks and their orders, shared
 * memory, the heap, limits, copies that arrive late, stops and errors. Kernels here are C
 * functions; those with mistakes are in bugs.cu. */
#include "emu/emu.h"
#include "tensors.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

TestSuite(emu, .init = begin, .fini = end);

/* What kernels here get. */
struct given {
    float *out;
    size_t n;
};

static struct tarn_emu_grid grid_of(void (*body)(void *), unsigned blocks,
                                    unsigned threads, const struct given *given)
{
    return (struct tarn_emu_grid){"test", {blocks, 1, 1}, {threads, 1, 1},          0,
                                  body,   given,          given ? sizeof *given : 0};
}

static void barrier(int line)
{
    tarn_emu_barrier(__FILE__, line);
}
#define BARRIER() barrier(__LINE__)

/* ---- Threads and blocks ----------------------------------------------------------------- */

static unsigned index_in(struct tarn_emu_dim at, struct tarn_emu_dim size)
{
    return at.x + size.x * (at.y + size.y * at.z);
}

static void count_myself(void *arguments)
{
    const struct given *g = arguments;
    const struct tarn_emu_here *h = &tarn_emu_here;
    const unsigned threads = h->block_dim.x * h->block_dim.y * h->block_dim.z;
    const unsigned block = index_in(h->block, h->grid_dim);
    g->out[block * threads + index_in(h->thread, h->block_dim)] += 1;
}

Test(emu, every_thread_of_every_block_runs_once_in_each_order)
{
    enum { BLOCKS = 5 * 3 * 2, THREADS = 7 * 5 * 3, ALL = BLOCKS * THREADS };
    static float counts[ALL];
    struct given given = {tarn_emu_alloc(sizeof counts), ALL};
    for (int order = TARN_EMU_FORWARD; order <= TARN_EMU_RANDOM; order++) {
        tarn_emu_settings.order = (enum tarn_emu_order)order;
        struct tarn_emu_grid l = grid_of(count_myself, 0, 0, &given);
        l.grid = (struct tarn_emu_dim){5, 3, 2};
        l.block = (struct tarn_emu_dim){7, 5, 3};
        tarn_emu_fill(given.out, 0, sizeof counts);
        OK(tarn_emu_launch(ctx, &l));
        tarn_emu_copy(counts, given.out, sizeof counts);
        for (int i = 0; i < ALL; i++) cr_assert_eq(counts[i], 1);
    }
}

/* The order in which the threads of one block came, before and after a barrier. */
static unsigned came[2][100], arrived;

static void note_order(void *arguments)
{
    (void)arguments;
    came[0][arrived++] = tarn_emu_here.thread.x;
    BARRIER();
    came[1][arrived++ - 100] = tarn_emu_here.thread.x;
}

static void run_in_order(enum tarn_emu_order order, unsigned seed)
{
    tarn_emu_settings.order = order, tarn_emu_settings.seed = seed;
    arrived = 0;
    const struct tarn_emu_grid l = grid_of(note_order, 1, 100, NULL);
    OK(tarn_emu_launch(ctx, &l));
    cr_assert_eq(arrived, 200);
}

Test(emu, threads_come_in_the_order_that_is_set)
{
    run_in_order(TARN_EMU_FORWARD, 1);
    for (unsigned i = 0; i < 100; i++) cr_assert_eq(came[0][i], i);
    run_in_order(TARN_EMU_REVERSED, 1);
    for (unsigned i = 0; i < 100; i++) cr_assert_eq(came[0][i], 99 - i);
    for (unsigned i = 0; i < 100; i++) cr_assert_eq(came[1][i], 99 - i);
}

Test(emu, a_random_order_is_the_seeds_and_new_after_a_barrier)
{
    unsigned first[2][100];
    run_in_order(TARN_EMU_RANDOM, 1);
    memcpy(first, came, sizeof came);
    cr_assert(memcmp(came[0], came[1], sizeof came[0]) != 0);
    run_in_order(TARN_EMU_RANDOM, 1);
    cr_assert(memcmp(first, came, sizeof came) == 0);
    run_in_order(TARN_EMU_RANDOM, 2);
    cr_assert(memcmp(first, came, sizeof came) != 0);
}

/* Each thread shows the next its number, through shared memory, many times. */
static void pass_round(void *arguments)
{
    const struct given *g = arguments;
    float *s = tarn_emu_here.shared;
    const unsigned t = tarn_emu_here.thread.x, n = tarn_emu_here.block_dim.x;
    float x = (float)(t + tarn_emu_here.block.x);
    for (int i = 0; i < 10; i++) {
        s[t] = x;
        BARRIER();
        x = s[(t + 1) % n] * 0.5f + 1;
        BARRIER();
    }
    g->out[tarn_emu_here.block.x * n + t] = x;
}

Test(emu, results_depend_neither_on_threads_nor_on_the_order)
{
    enum { BLOCKS = 40, THREADS = 96 };
    static float results[4][BLOCKS * THREADS];
    struct given given = {tarn_emu_alloc(sizeof results[0]), 0};
    for (int i = 0; i < 4; i++) {
        struct tarn_emu_grid l = grid_of(pass_round, BLOCKS, THREADS, &given);
        l.shared = THREADS * sizeof(float);
        OK(tarn_set_threads(ctx, i == 0 ? 1 : 2));
        tarn_emu_settings.order = (enum tarn_emu_order)(i % 3);
        OK(tarn_emu_launch(ctx, &l));
        tarn_emu_copy(results[i], given.out, sizeof results[0]);
        cr_assert(memcmp(results[i], results[0], sizeof results[0]) == 0);
    }
}

/* ---- Shared memory ------------------------------------------------------------------------- */

static const char key_of_first, key_of_second;

/* Counts what is not NaN at the start of a block, then leaves numbers for the next one. */
static void look_at_shared(void *arguments)
{
    const struct given *g = arguments;
    const unsigned t = tarn_emu_here.thread.x;
    float *dynamic = tarn_emu_here.shared;
    float *first = tarn_emu_shared(&key_of_first, 64 * 4, __FILE__, __LINE__);
    float *second = tarn_emu_shared(&key_of_second, 64 * 4, __FILE__, __LINE__);
    if (!isnan(dynamic[t]) || !isnan(first[t]) || !isnan(second[t])) g->out[0] += 1;
    BARRIER();
    first[t] = 1, second[63 - t] = 2, dynamic[t] = 3;
    BARRIER();
    if (first[t] + second[t] + dynamic[t] != 6) g->out[1] += 1;
}

Test(emu, shared_memory_is_nan_in_each_block_and_the_same_for_its_threads)
{
    float wrong[2] = {0};
    struct given given = {tarn_emu_alloc(sizeof wrong), 0};
    tarn_emu_fill(given.out, 0, sizeof wrong);
    struct tarn_emu_grid l = grid_of(look_at_shared, 10, 64, &given);
    l.shared = 64 * 4;
    OK(tarn_set_threads(ctx, 1));
    OK(tarn_emu_launch(ctx, &l));
    tarn_emu_copy(wrong, given.out, sizeof wrong);
    cr_assert_eq(wrong[0], 0, "%g places were not fresh", (double)wrong[0]);
    cr_assert_eq(wrong[1], 0, "%g values were not seen", (double)wrong[1]);
}

static void ask_for_too_much(void *arguments)
{
    const struct given *g = arguments;
    tarn_emu_shared(&key_of_first, g->n, __FILE__, __LINE__);
}

Test(emu, shared_memory_is_as_large_as_on_the_gpu_of_the_settings)
{
    struct given given = {NULL, 1024};
    struct tarn_emu_grid l = grid_of(ask_for_too_much, 1, 1, &given);
    tarn_emu_settings.gpu = "sm_75";
    l.shared = 63 << 10;
    OK(tarn_emu_launch(ctx, &l));
    given.n = 1025;
    FAILS(TARN_EDEVICE,
          "65537 bytes of shared memory in this block, expected at most 65536 on sm_75",
          tarn_emu_launch(ctx, &l));
    l.shared = (64 << 10) + 1;
    FAILS(TARN_EDEVICE,
          "test: launched with 65537 bytes of shared memory, expected at most 65536 on "
          "sm_75",
          tarn_emu_launch(ctx, &l));
    tarn_emu_settings.gpu = "sm_90";
    OK(tarn_emu_launch(ctx, &l));
}

Test(emu, forty_eight_kilobytes_of_shared_memory_may_have_a_fixed_size)
{
    struct given given = {NULL, 48 << 10};
    const struct tarn_emu_grid l = grid_of(ask_for_too_much, 1, 1, &given);
    OK(tarn_emu_launch(ctx, &l));
    given.n++;
    FAILS(
        TARN_EDEVICE,
        "49153 bytes of shared memory of a fixed size in this block, expected at most "
        "49152; DYN_SHARED may have more",
        tarn_emu_launch(ctx, &l));
}

/* ---- Limits ----------------------------------------------------------------------------------- */

static void nothing(void *arguments)
{
    (void)arguments;
}

static void refuse(struct tarn_emu_dim grid, struct tarn_emu_dim block,
                   const char *message)
{
    struct tarn_emu_grid l = grid_of(nothing, 1, 1, NULL);
    l.grid = grid, l.block = block;
    FAILS(TARN_EDEVICE, message, tarn_emu_launch(ctx, &l));
}

Test(emu, launches_beyond_the_limits_of_a_gpu_are_refused)
{
    typedef struct tarn_emu_dim dim;
    refuse((dim){1, 1, 1}, (dim){1025, 1, 1}, "threads in a block 1025, expected 1 to");
    refuse((dim){1, 1, 1}, (dim){32, 33, 1}, "threads in a block 1056");
    refuse((dim){1, 1, 1}, (dim){0, 1, 1}, "threads in a block 0");
    refuse((dim){1, 1, 1}, (dim){1, 1, 65}, "block.z 65, expected 1 to 64");
    refuse((dim){0, 1, 1}, (dim){1, 1, 1}, "grid.x 0, expected 1 to 2147483647");
    refuse((dim){1, 65536, 1}, (dim){1, 1, 1}, "grid.y 65536, expected 1 to 65535");
    refuse((dim){1, 1, 65536}, (dim){1, 1, 1}, "grid.z 65536, expected 1 to 65535");
    struct tarn_emu_grid l = grid_of(nothing, 1, 1, NULL);
    l.argument_bytes = TARN_EMU_ARGUMENTS + 1;
    FAILS(TARN_EDEVICE, "4097 bytes of arguments, expected at most 4096",
          tarn_emu_launch(ctx, &l));
}

Test(emu, the_gpus_whose_limits_are_known_have_names)
{
    cr_assert_str_eq(tarn_emu_gpu(0), "sm_75");
    size_t count = 0;
    while (tarn_emu_gpu(count)) count++;
    cr_assert_gt(count, 5);
}

/* ---- The heap ---------------------------------------------------------------------------------- */

Test(emu, device_memory_is_nan_aligned_and_never_shared_by_two)
{
    enum { MANY = 50, ROUNDS = 400 };
    char *memory[MANY] = {NULL};
    size_t bytes[MANY] = {0};
    for (unsigned i = 0, x = 1; i < ROUNDS; i++) {
        const unsigned at = (x = x * 1664525 + 1013904223) >> 8, j = at % MANY;
        for (size_t b = 0; b < bytes[j]; b++) cr_assert_eq(memory[j][b], (char)j);
        tarn_emu_free(memory[j]);
        bytes[j] = at / MANY % 9000;
        memory[j] = tarn_emu_alloc(bytes[j]);
        cr_assert(memory[j] && (uintptr_t)memory[j] % 16 == 0);
        for (size_t b = 0; b < bytes[j]; b++) cr_assert_eq(memory[j][b], (char)0xff);
        tarn_emu_fill(memory[j], (int)j, bytes[j]);
    }
    for (int j = 0; j < MANY; j++) tarn_emu_free(memory[j]);
}

Test(emu, no_memory_is_no_crash)
{
    cr_assert_null(tarn_emu_alloc(SIZE_MAX));
    cr_assert_null(tarn_emu_alloc(SIZE_MAX / 4));
    tarn_emu_free(NULL);
    void *empty = tarn_emu_alloc(0);
    cr_assert_not_null(empty);
    tarn_emu_free(empty);
}

Test(emu, a_locked_heap_is_out_of_the_hosts_reach, .signal = SIGSEGV)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would make a report of it */
    tarn_emu_settings.locked = true;
    volatile float *memory = tarn_emu_alloc(100);
    memory[0] = 1;
}

Test(emu, a_locked_heap_opens_for_kernels_and_copies)
{
    float counts[64];
    tarn_emu_settings.locked = true;
    struct given given = {tarn_emu_alloc(sizeof counts), 64};
    tarn_emu_fill(given.out, 0, sizeof counts);
    const struct tarn_emu_grid l = grid_of(count_myself, 2, 32, &given);
    OK(tarn_emu_launch(ctx, &l));
    tarn_emu_copy(counts, given.out, sizeof counts);
    for (int i = 0; i < 64; i++) cr_assert_eq(counts[i], 1);
}

/* ---- cp.async ------------------------------------------------------------------------------------ */

/* Two groups; what has come before any wait, after one for the first, after one for both. */
static void copy_two_groups(void *arguments)
{
    const struct given *g = arguments;
    float *s = tarn_emu_here.shared;
    for (int group = 0; group < 2; group++) {
        tarn_emu_copy_async(s + 4 * group, g->out + 4 * group, 16);
        tarn_emu_copy_commit();
    }
    g->out[8] = s[0], g->out[9] = s[4];
    tarn_emu_copy_wait(1);
    g->out[10] = s[0], g->out[11] = s[4];
    tarn_emu_copy_wait(0);
    g->out[12] = s[0], g->out[13] = s[4];
}

Test(emu, a_copy_arrives_with_the_wait_for_its_group)
{
    float seen[14] = {1, 1, 1, 1, 2, 2, 2, 2};
    struct given given = {tarn_emu_alloc(sizeof seen), 0};
    tarn_emu_copy(given.out, seen, sizeof seen);
    struct tarn_emu_grid l = grid_of(copy_two_groups, 1, 1, &given);
    l.shared = 32;
    OK(tarn_emu_launch(ctx, &l));
    tarn_emu_copy(seen, given.out, sizeof seen);
    cr_assert(isnan(seen[8]) && isnan(seen[9]));
    cr_assert(seen[10] == 1 && isnan(seen[11]));
    cr_assert(seen[12] == 1 && seen[13] == 2);
}

static void copy_askew(void *arguments)
{
    const struct given *g = arguments;
    tarn_emu_copy_async(tarn_emu_here.shared, g->out + 1, 16);
}

Test(emu, a_copy_of_16_bytes_wants_addresses_of_their_multiples)
{
    struct given given = {tarn_emu_alloc(64), 0};
    struct tarn_emu_grid l = grid_of(copy_askew, 1, 1, &given);
    l.shared = 32;
    FAILS(TARN_EDEVICE, "both have to be multiples of 16", tarn_emu_launch(ctx, &l));
}

/* ---- Errors and stops ------------------------------------------------------------------------------ */

/* Block 1 goes wrong. */
static void write_past(void *arguments)
{
    const struct given *g = arguments;
    g->out[tarn_emu_here.block.x ? g->n : 0] = 1;
}

Test(emu, an_error_in_a_kernel_ends_the_launch_and_nothing_else)
{
    struct given given = {tarn_emu_alloc(16), 4};
    const struct tarn_emu_grid bad = grid_of(write_past, 2, 32, &given);
    const struct tarn_emu_grid good = grid_of(write_past, 1, 32, &given);
    for (int i = 0; i < 20; i++) {
        FAILS(TARN_EDEVICE,
              "test, block (1, 0, 0), thread (0, 0, 0): ", tarn_emu_launch(ctx, &bad));
        FAILS(TARN_EDEVICE, "byte 16 of an array of 16 bytes: past the end",
              tarn_emu_launch(ctx, &bad));
        OK(tarn_emu_launch(ctx, &good));
    }
}

Test(emu, a_fault_of_the_host_is_not_the_devices, .signal = SIGSEGV)
{
    const struct tarn_emu_grid l = grid_of(nothing, 1, 1, NULL);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would make a report of it */
    OK(tarn_emu_launch(ctx, &l));
    volatile uintptr_t nowhere = 16;
    *(volatile int *)nowhere = 1;
}

static void wait_for_ever(void *arguments)
{
    const struct given *g = arguments;
    for (volatile size_t i = 0; i < 1;)
        if (g->n) BARRIER();
}

static void *stop_soon(void *context)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    tarn_interrupt(context);
    return NULL;
}

static void stop_endless(bool with_barriers, int threads)
{
    pthread_t other;
    const struct given given = {NULL, with_barriers};
    const struct tarn_emu_grid l = grid_of(wait_for_ever, 4, 64, &given);
    OK(tarn_set_threads(ctx, threads));
    cr_assert_eq(pthread_create(&other, NULL, stop_soon, ctx), 0);
    FAILS(TARN_EINTR, "test: interrupted", tarn_emu_launch(ctx, &l));
    pthread_join(other, NULL);
    tarn_clear_interrupt(ctx);
    const struct tarn_emu_grid next = grid_of(nothing, 4, 64, NULL);
    OK(tarn_emu_launch(ctx, &next));
}

Test(emu, an_endless_loop_is_stopped_by_an_interrupt)
{
    for (int i = 0; i < 3; i++) {
        stop_endless(false, 1);
        stop_endless(false, 2);
    }
}

Test(emu, an_endless_loop_of_barriers_is_stopped_by_an_interrupt)
{
    for (int i = 0; i < 3; i++) {
        stop_endless(true, 1);
        stop_endless(true, 2);
    }
}

/* One block goes wrong while another never ends. */
static void wrong_or_endless(void *arguments)
{
    const struct given *g = arguments;
    if (tarn_emu_here.block.x == 0)
        for (volatile size_t i = 0; i < 1;) {}
    g->out[g->n] = 1;
}

Test(emu, an_error_stops_blocks_that_would_never_end)
{
    struct given given = {tarn_emu_alloc(16), 4};
    const struct tarn_emu_grid l = grid_of(wrong_or_endless, 2, 32, &given);
    OK(tarn_set_threads(ctx, 2));
    FAILS(TARN_EDEVICE, "block (1, 0, 0), thread (0, 0, 0)", tarn_emu_launch(ctx, &l));
}
