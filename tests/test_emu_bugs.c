/* test_emu_bugs.c: the kernels of bugs.cu, each with one mistake, and what is said of it: by
 * the device itself, or by the checks of instrumented kernels alone. Every diagnosis names
 * kernel, block, thread and line. A pointer to device memory that the host follows is in
 * test_emu.c. */
#include "bugs.h"
#include "emu/emu.h"
#include "marked_lines.h"
#include "tensors.h"

static void start(void)
{
    begin();
    tarn_emu_settings.check = false;
}
TestSuite(emu_bugs, .init = start, .fini = end);

static int line_of(const char *name)
{
    return line_marked("tests/bugs.cu", "BUG", name);
}

static const struct bug *find(const char *name, bool instrumented)
{
    const struct bug *b = instrumented ? tarn_checked_bugs_all : tarn_emu_bugs_all;
    while (b->name && strcmp(b->name, name) != 0) b++;
    cr_assert(b->name != NULL, "no kernel %s", name);
    return b;
}

/* Runs one; its output is in out afterwards. */
static float out[BUG_FLOATS];

static tarn_status run(const char *name, bool instrumented)
{
    float host[BUG_FLOATS] = {0};
    struct bug_memory m = {.host = host};
    tarn_emu_settings.check = instrumented;
    m.out = tarn_emu_alloc(sizeof out), m.fresh = tarn_emu_alloc(sizeof out);
    tarn_emu_fill(m.out, 0, sizeof out);
    const tarn_status status = find(name, instrumented)->run(ctx, m);
    tarn_emu_copy(out, m.out, sizeof out);
    tarn_emu_free(m.out), tarn_emu_free(m.fresh);
    return status;
}

static void expect(const char *name, const char *piece)
{
    char kernel[100], line[100];
    const char *message = tarn_error(ctx);
    snprintf(kernel, sizeof kernel, "%s, block (", name);
    snprintf(line, sizeof line, "tests/bugs.cu:%d", line_of(name));
    cr_assert(strncmp(message, kernel, strlen(kernel)) == 0, "message: %s", message);
    cr_assert(strstr(message, "), thread (") != NULL, "message: %s", message);
    cr_assert(strstr(message, line) != NULL, "line %s, message: %s", line, message);
    cr_assert(strstr(message, piece) != NULL, "%s: message: %s", piece, message);
}

/* The device itself says so. */
static void plain(const char *name, const char *piece)
{
    cr_assert_eq(run(name, false), TARN_EDEVICE, "%s was not found", name);
    expect(name, piece);
}

/* The checks say so, whatever the order of the threads. */
static void checked(const char *name, const char *piece)
{
    static const enum tarn_emu_order orders[] = {TARN_EMU_FORWARD, TARN_EMU_REVERSED,
                                                 TARN_EMU_RANDOM};
    for (int i = 0; i < 3; i++) {
        tarn_emu_settings.order = orders[i];
        cr_assert_eq(run(name, true), TARN_EDEVICE, "%s was not found", name);
        expect(name, piece);
    }
    tarn_emu_settings.order = TARN_EMU_FORWARD;
}

/* Without checks there is no report: the result depends on the order of the threads. */
static void depends_on_the_order(const char *name)
{
    float forward[BUG_FLOATS];
    OK(run(name, false));
    memcpy(forward, out, sizeof out);
    tarn_emu_settings.order = TARN_EMU_REVERSED;
    OK(run(name, false));
    tarn_emu_settings.order = TARN_EMU_FORWARD;
    cr_assert(memcmp(forward, out, sizeof out) != 0, "%s", name);
}

static int nans(void)
{
    int count = 0;
    for (int i = 0; i < BUG_FLOATS; i++) count += isnan(out[i]) ? 1 : 0;
    return count;
}

Test(emu_bugs, a_kernel_without_mistakes_gives_no_report)
{
    static const enum tarn_emu_order orders[] = {TARN_EMU_FORWARD, TARN_EMU_REVERSED,
                                                 TARN_EMU_RANDOM};
    for (int i = 0; i < 3; i++) {
        tarn_emu_settings.order = orders[i];
        OK(run("sound", false));
        OK(run("sound", true));
        cr_assert_eq(nans(), 0);
        cr_assert_eq(out[70], 2 * BUG_THREADS);
    }
}

/* ---- Races ------------------------------------------------------------------------------ */

Test(emu_bugs, a_missing_syncthreads_is_found)
{
    depends_on_the_order("missing_syncthreads");
    checked("missing_syncthreads", "no __syncthreads is between them");
}

Test(emu_bugs, a_missing_syncwarp_is_found_though_a_shuffle_lies_between)
{
    OK(run("missing_syncwarp", false));
    cr_assert_eq(nans(), 0);
    checked("missing_syncwarp", "no __syncwarp or __syncthreads is between them");
}

Test(emu_bugs, a_syncwarp_orders_only_the_lanes_in_its_mask)
{
    checked("syncwarp_of_others", "no __syncwarp or __syncthreads is between them");
}

Test(emu_bugs, a_value_overwritten_before_it_is_read_is_a_race)
{
    depends_on_the_order("overwritten_too_early");
    checked("overwritten_too_early", "race: what thread ");
}

Test(emu_bugs, threads_of_a_block_race_in_global_memory)
{
    checked("race_in_global_memory", "race: what thread ");
}

Test(emu_bugs, blocks_that_write_one_word_race)
{
    checked("race_between_blocks", "blocks of one launch are not ordered");
    checked("read_by_another_block", "blocks of one launch are not ordered");
}

Test(emu_bugs, an_atomic_and_a_plain_access_race)
{
    checked("half_atomic", "race: what thread ");
}

/* ---- Bounds -------------------------------------------------------------------------------- */

Test(emu_bugs, the_first_element_past_an_array_is_found)
{
    plain("past_an_array", "byte 400 of an array of 400 bytes: past the end");
    cr_assert(strstr(tarn_error(ctx), "block (1, 0, 0), thread (36, 0, 0)"));
    checked("past_an_array", "of an array of 400 bytes: past the end");
}

Test(emu_bugs, an_address_far_away_is_found)
{
    plain("far_away", "is device memory, but not allocated");
    checked("far_away", "is device memory, but not allocated");
}

Test(emu_bugs, the_end_of_dynamic_shared_memory_is_guarded)
{
    plain("past_dynamic_shared", "byte 256 of 256 bytes of shared memory");
    checked("past_dynamic_shared", "byte 256 of 256 bytes of shared memory");
}

Test(emu_bugs, shared_arrays_do_not_run_into_each_other_unseen)
{
    checked("past_fixed_shared", "byte 256 of 256 bytes of shared memory");
    checked("past_static_shared", ""); /* whatever lies there */
}

Test(emu_bugs, a_pointer_of_the_host_is_found)
{
    OK(run("host_pointer", false));
    checked("host_pointer", "is no device memory but the host's");
    checked("variable_of_the_host", "is a variable of the host's program");
}

Test(emu_bugs, a_null_pointer_is_found)
{
    plain("null_pointer", "a null pointer");
    checked("null_pointer", "a null pointer");
}

Test(emu_bugs, local_variables_of_another_thread_are_out_of_reach)
{
    checked("local_of_another", "is a local variable of another thread");
}

/* ---- Memory that nobody has written --------------------------------------------------------- */

Test(emu_bugs, fresh_memory_is_nan_and_reported)
{
    OK(run("fresh_dynamic_shared", false));
    cr_assert_eq(nans(), 1);
    OK(run("fresh_fixed_shared", false));
    cr_assert_eq(nans(), 1);
    OK(run("fresh_global", false));
    cr_assert_eq(nans(), BUG_THREADS);
    checked("fresh_dynamic_shared", "reads shared memory that nobody has written");
    checked("fresh_fixed_shared", "reads shared memory that nobody has written");
    checked("fresh_static_shared", "reads shared memory that nobody has written");
    checked("fresh_global", "reads global memory that nobody has written");
}

Test(emu_bugs, a_copy_arrives_when_it_is_waited_for_and_not_before)
{
    OK(run("missing_cp_wait", false));
    cr_assert_eq(nans(), BUG_THREADS);
    checked("missing_cp_wait", "what a cp.async has not brought yet");
    checked("missing_barrier_after_cp_wait", "");
}

/* ---- Waiting for those who do not come -------------------------------------------------------- */

Test(emu_bugs, a_barrier_that_some_never_reach_is_found)
{
    plain("barrier_of_some", "where 32 of 64 threads wait, but thread 32 has exited");
    plain("early_exit", "1 of 64 threads of the block have exited already");
}

Test(emu_bugs, barriers_at_two_places_do_not_meet)
{
    char other[100];
    plain("two_barriers", "other threads of the block wait at another one");
    snprintf(other, sizeof other, "tests/bugs.cu:%d", line_of("two_barriers") - 3);
    cr_assert(strstr(tarn_error(ctx), other), "message: %s", tarn_error(ctx));
}

Test(emu_bugs, masks_of_shuffles_and_votes_must_fit)
{
    plain("shuffle_of_some", "names lanes 00000001, which have exited");
    plain("exited_lane", "names lanes 00000001, which have exited");
    plain("shuffle_without_me", "by lane 16 with mask 0000ffff, which it is not in");
    plain("shuffle_from_outside", "reads from a lane that is not in the mask");
    plain("masks_differ", "meet at different operations");
}

Test(emu_bugs, a_deadlock_says_who_waits_where)
{
    plain("deadlock", "the block is stuck, each thread waits for another: threads 0 to "
                      "0 at __syncthreads");
    cr_assert(strstr(tarn_error(ctx), "threads 1 to 31 at a warp operation"));
}

/* ---- The rest ------------------------------------------------------------------------------------ */

Test(emu_bugs, launches_beyond_what_a_gpu_has_name_kernel_and_limit)
{
    FAILS(TARN_EDEVICE,
          "too_many_threads: launched with threads in a block 1025, expected 1 to 1024",
          run("too_many_threads", false));
    tarn_emu_settings.gpu = "sm_75";
    FAILS(
        TARN_EDEVICE,
        "too_much_shared: launched with 65540 bytes of shared memory, expected at most "
        "65536 on sm_75",
        run("too_much_shared", false));
    tarn_emu_settings.gpu = "sm_90";
    OK(run("too_much_shared", false));
}

Test(emu_bugs, an_integer_divided_by_zero_is_found)
{
    plain("divided_by_zero", "an integer is divided by 0");
}

Test(emu_bugs, a_stack_overflow_is_found)
{
    cr_assert_eq(run("stack_overflow", false), TARN_EDEVICE);
    cr_assert(strstr(tarn_error(ctx), "local variables need more than 65536 bytes"),
              "message: %s", tarn_error(ctx));
}

Test(emu_bugs, an_endless_loop_is_stopped_while_it_is_checked)
{
    tarn_interrupt(ctx);
    FAILS(TARN_EINTR, "endless: interrupted", run("endless", true));
    tarn_clear_interrupt(ctx);
    OK(run("sound", true));
}
