/* test_emu_profile.c: the profiler counts what one can count by hand: wavefronts of shared
 * memory, sectors of global memory, for each line of accesses.cu. */
#include "accesses.h"
#include "emu/emu.h"
#include "marked_lines.h"
#include "tensors.h"

TestSuite(emu_profile, .init = begin, .fini = end);

enum { FLOATS = 4096 };

typedef tarn_status kernel_fn(tarn_context *ctx, float *out, unsigned number);

/* Profiles one launch and gives the row of a line; there must be one. */
static struct tarn_emu_row row_of(kernel_fn *kernel, unsigned number, const char *mark,
                                  bool writes)
{
    float *out = tarn_emu_alloc(FLOATS * sizeof *out);
    tarn_emu_fill(out, 0, FLOATS * sizeof *out);
    tarn_emu_profile_start(1);
    OK(kernel(ctx, out, number));
    size_t count;
    struct tarn_emu_row *rows = tarn_emu_profile_stop(&count), found = {.line = 0};
    const int line = line_marked("tests/accesses.cu", "COST", mark);
    cr_assert_not_null(rows);
    for (size_t i = 0; i < count; i++)
        if (rows[i].line == line && rows[i].writes == writes) found = rows[i];
    cr_assert_gt(found.line, 0, "no row of %s among %zu", mark, count);
    cr_assert_str_eq(found.file, "tests/accesses.cu");
    free(rows);
    tarn_emu_free(out);
    return found;
}

static void expect(struct tarn_emu_row r, uint64_t requests, uint64_t actual,
                   uint64_t least)
{
    cr_assert_eq(r.requests, requests, "%d requests", (int)r.requests);
    cr_assert_eq(r.actual, actual, "%d instead of %d", (int)r.actual, (int)actual);
    cr_assert_eq(r.least, least, "least: %d instead of %d", (int)r.least, (int)least);
}

Test(emu_profile, columns_meet_in_banks_as_the_length_of_rows_has_it)
{
    /* gcd(pitch, 32) lanes are in each bank. */
    static const unsigned cases[][2] = {{64, 32}, {65, 1}, {68, 4}, {66, 2}, {48, 16}};
    for (int i = 0; i < 5; i++) {
        struct tarn_emu_row r = row_of(accesses_column, cases[i][0], "column", false);
        cr_assert(r.shared && r.bytes == 4 && r.moved == 128);
        cr_assert_str_eq(r.kernel, "column");
        expect(r, 1, cases[i][1], 1);
    }
}

Test(emu_profile, rows_and_single_words_cost_one_wavefront)
{
    expect(row_of(accesses_column, 65, "row", true), 65, 65, 65);
    expect(row_of(accesses_same_word, 0, "same_word", false), 1, 1, 1);
}

Test(emu_profile, doubles_go_by_half_warps)
{
    struct tarn_emu_row r = row_of(accesses_doubles, 0, "doubles", true);
    cr_assert(r.shared && r.bytes == 8 && r.moved == 256);
    expect(r, 1, 2, 2);
}

Test(emu_profile, steps_of_a_warp_touch_more_sectors)
{
    static const unsigned cases[][2] = {{1, 4}, {2, 8}, {4, 16}, {8, 32}, {100, 32}};
    for (int i = 0; i < 5; i++) {
        struct tarn_emu_row r = row_of(accesses_stride, cases[i][0], "stride", true);
        cr_assert(!r.shared && r.bytes == 4 && r.moved == 128);
        expect(r, 1, cases[i][1], 4);
    }
}

Test(emu_profile, all_blocks_and_turns_of_a_loop_are_added_up)
{
    struct tarn_emu_row r = row_of(accesses_half_of_them, 3, "half_of_them", true);
    cr_assert_eq(r.moved, 3 * 10 * 64);
    expect(r, 3 * 10, 3 * 10 * 2, 3 * 10 * 2);
}

Test(emu_profile, each_third_block_is_a_third_of_all)
{
    float *out = tarn_emu_alloc(64);
    size_t count;
    tarn_emu_fill(out, 0, 64);
    tarn_emu_profile_start(3);
    OK(accesses_half_of_them(ctx, out, 6));
    struct tarn_emu_row *rows = tarn_emu_profile_stop(&count);
    cr_assert(count > 0 && rows[count - 1].requests == 2 * 10);
    free(rows);
    tarn_emu_free(out);
}

Test(emu_profile, nothing_is_counted_before_the_start_and_after_the_end)
{
    float *out = tarn_emu_alloc(128);
    size_t count;
    OK(accesses_stride(ctx, out, 1));
    tarn_emu_profile_start(1);
    free(tarn_emu_profile_stop(&count));
    cr_assert_eq(count, 0);
    OK(accesses_stride(ctx, out, 1));
    tarn_emu_profile_start(1);
    free(tarn_emu_profile_stop(&count));
    cr_assert_eq(count, 0);
    tarn_emu_free(out);
}
