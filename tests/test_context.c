/* test_context.c: status, messages, memory, interrupts, and the parallel loop. */
#include "tensors.h"
#include "core/parallel.h"
#include <sched.h>
#include <stdio.h>

TestSuite(context, .init = begin, .fini = end);

/* ---- Messages -------------------------------------------------------------------- */

Test(context, has_no_message_at_first)
{
    cr_assert_str_eq(tarn_error(ctx), "");
    cr_assert_str_eq(tarn_version(), PACKAGE_VERSION);
}

Test(context, users_message_is_kept_word_for_word)
{
    cr_assert_eq(tarn_raise(ctx, TARN_EUSER, "100 %s of it"), TARN_EUSER);
    cr_assert_str_eq(tarn_error(ctx), "100 %s of it");
}

Test(context, a_message_may_quote_the_one_before)
{
    tarn_fail(ctx, TARN_EINVAL, "inner");
    tarn_fail(ctx, TARN_EINVAL, "outer: %s", tarn_error(ctx));
    cr_assert_str_eq(tarn_error(ctx), "outer: inner");
}

Test(context, a_message_too_long_is_cut_not_spilled)
{
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    tarn_raise(ctx, TARN_EUSER, text);
    cr_assert_eq(strlen(tarn_error(ctx)), sizeof ctx->message - 1);
}

Test(context, every_status_has_its_own_words)
{
    for (int a = TARN_OK; a <= TARN_EUSER + 1; a++)
        for (int b = TARN_OK; b < a; b++)
            cr_assert_str_neq(tarn_status_text((tarn_status)a),
                              tarn_status_text((tarn_status)b));
}

Test(context, threads_are_1_to_1024)
{
    cr_assert_geq(tarn_threads(ctx), 1);
    OK(tarn_set_threads(ctx, 3));
    FAILS(TARN_EINVAL, "set_threads: threads is 0", tarn_set_threads(ctx, 0));
    FAILS(TARN_EINVAL, "1025", tarn_set_threads(ctx, 1025));
    cr_assert_eq(tarn_threads(ctx), 3);
}

/* ---- Notes ----------------------------------------------------------------------- */

static char heard[300];
static void hear(void *data, const char *text)
{
    ++*(int *)data;
    snprintf(heard, sizeof heard, "%s", text);
}

Test(context, a_note_is_heard_once_for_each_subject_and_needs_no_listener)
{
    static const char one, other;
    int count = 0;
    tarn_note_once(ctx, &one, "nobody listens");
    tarn_on_note(ctx, hear, &count);
    for (int i = 0; i < 3; i++) tarn_note_once(ctx, &one, "C is %d", 100);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(heard, "C is 100");
    tarn_note_once(ctx, &other, "another");
    cr_assert_eq(count, 2);
    cr_assert_str_eq(tarn_error(ctx), "");
}

Test(context, after_many_subjects_notes_end)
{
    static const char subjects[100];
    int count = 0;
    tarn_on_note(ctx, hear, &count);
    for (size_t i = 0; i < sizeof subjects; i++) tarn_note_once(ctx, &subjects[i], "x");
    cr_assert(count > 20 && count < 100);
}

/* ---- Memory ---------------------------------------------------------------------- */

Test(context, product_tells_overflow)
{
    size_t p = 7;
    cr_assert(tarn_product(SIZE_MAX, 1, &p) && p == SIZE_MAX);
    cr_assert(tarn_product(SIZE_MAX, 0, &p) && p == 0);
    cr_assert_not(tarn_product(SIZE_MAX / 2 + 1, 2, &p));
}

Test(context, memory_is_aligned_counted_and_never_null)
{
    void *none = tarn_alloc(ctx, 0, 8), *some = tarn_alloc(ctx, 3, 5);
    cr_assert(none != NULL && some != NULL);
    cr_assert_eq((uintptr_t)none % 64, 0);
    cr_assert_eq((uintptr_t)some % 64, 0);
    cr_assert_eq(tarn_bytes(ctx), 15);
    tarn_release(some);
    cr_assert_eq(tarn_bytes(ctx), 0);
    tarn_release(none);
    tarn_release(NULL);
}

Test(context, a_size_that_overflows_is_out_of_memory)
{
    cr_assert_null(tarn_alloc(ctx, SIZE_MAX / 4, 8));
    cr_assert_null(tarn_alloc(ctx, SIZE_MAX, 1));
    cr_assert(strstr(tarn_error(ctx), "out of memory") != NULL);
    cr_assert_eq(tarn_bytes(ctx), 0);
}

static void count_call(void *data)
{
    ++*(int *)data;
}

Test(context, memory_is_asked_back_once_before_giving_up)
{
    int calls = 0;
    tarn_on_pressure(ctx, count_call, &calls);
    void *memory = tarn_alloc(ctx, 1, 100);
    cr_assert_eq(calls, 0);
    cr_assert_null(tarn_alloc(ctx, (size_t)1 << 50, 1));
    cr_assert_eq(calls, 1);
    cr_assert(strstr(tarn_error(ctx), "100 held") != NULL, "%s", tarn_error(ctx));
    tarn_release(memory);
}

#ifdef TARN_PARANOID
Test(context, the_nth_allocation_fails_and_fresh_memory_is_nan)
{
    tarn_fail_alloc_at(2);
    double *first = tarn_alloc(ctx, 1, sizeof *first);
    cr_assert(first != NULL && isnan(*first));
    cr_assert_null(tarn_alloc(ctx, 1, 1));
    void *third = tarn_alloc(ctx, 1, 1);
    cr_assert_not_null(third);
    tarn_release(first);
    tarn_release(third);
}

Test(context, the_environment_can_ask_for_a_failure)
{
    tarn_context *other = NULL;
    setenv("TARN_FAIL_AT", "2", 1);
    OK(tarn_context_new(&other));
    void *memory = tarn_alloc(other, 1, 1);
    cr_assert_not_null(memory);
    cr_assert_null(tarn_alloc(other, 1, 1));
    tarn_release(memory);
    tarn_context_free(other);
}
#endif

/* ---- Interrupts ------------------------------------------------------------------ */

Test(context, a_request_to_stop_stands_until_taken_back)
{
    cr_assert_not(tarn_interrupted(ctx));
    OK(tarn_poll(ctx, "test"));
    tarn_interrupt(ctx);
    FAILS(TARN_EINTR, "test: interrupted", tarn_poll(ctx, "test"));
    FAILS(TARN_EINTR, "test: interrupted", tarn_poll(ctx, "test"));
    tarn_clear_interrupt(ctx);
    OK(tarn_poll(ctx, "test"));
}

Test(context, seed_restarts_the_stream)
{
    tarn_seed(ctx, 5);
    ctx->drawn = 100;
    tarn_seed(ctx, 6);
    cr_assert(ctx->seed == 6 && ctx->drawn == 0);
}

/* ---- The parallel loop ----------------------------------------------------------- */

enum { ITEMS = 1000 };

struct visits {
    atomic_int count[ITEMS];
    size_t fail_from; /* this item and all after fail */
    size_t slow;      /* this one lets the others fail first */
    bool interrupt;   /* item 10 asks for a stop */
};

static tarn_status visit(void *data, size_t i)
{
    struct visits *visits = data;
    atomic_fetch_add(&visits->count[i], 1);
    if (visits->interrupt && i == 10) tarn_interrupt(ctx);
    if (i < visits->fail_from) return TARN_OK;
    /* Wait for the next item to have begun, if another thread can begin it. */
    for (int yields = 0; i == visits->fail_from && yields < 10000; yields++) {
        if (tarn_threads(ctx) == 1 || atomic_load(&visits->count[i + 1]) > 0) break;
        sched_yield();
    }
    for (int yields = 0; i == visits->slow && yields < 100; yields++) sched_yield();
    return i == visits->fail_from ? TARN_EFORMAT : TARN_EIO;
}

Test(parallel, visits_each_item_once, .init = begin, .fini = end)
{
    for (int threads = 1; threads <= 3; threads++) {
        struct visits visits = {.fail_from = SIZE_MAX};
        OK(tarn_set_threads(ctx, threads));
        OK(tarn_parallel(ctx, "test", ITEMS, visit, &visits));
        for (size_t i = 0; i < ITEMS; i++) cr_assert_eq(visits.count[i], 1);
        OK(tarn_parallel(ctx, "test", 0, visit, NULL));
    }
}

Test(parallel, returns_the_first_failure_whoever_is_faster, .init = begin, .fini = end)
{
    for (int round = 0; round < 100; round++) {
        struct visits visits = {.fail_from = 7, .slow = 7 + (size_t)round % 2};
        OK(tarn_set_threads(ctx, 1 + round / 2 % 4));
        cr_assert_eq(tarn_parallel(ctx, "test", ITEMS, visit, &visits), TARN_EFORMAT);
        for (size_t i = 0; i <= 7; i++) cr_assert_eq(visits.count[i], 1);
        cr_assert_eq(visits.count[ITEMS - 1], 0);
    }
}

Test(parallel, stops_when_asked_to, .init = begin, .fini = end)
{
    for (int threads = 1; threads <= 2; threads++) {
        struct visits visits = {.fail_from = SIZE_MAX, .interrupt = true};
        OK(tarn_set_threads(ctx, threads));
        FAILS(TARN_EINTR, "test: interrupted",
              tarn_parallel(ctx, "test", ITEMS, visit, &visits));
        cr_assert_eq(visits.count[ITEMS - 1], 0);
        tarn_clear_interrupt(ctx);
    }
}
