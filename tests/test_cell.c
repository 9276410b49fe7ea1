/* test_cell.c: the recurrent cell and the growing cache as objects. Chapter 5. */
#include "attention.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tarn_context *ctx;
static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
}
static void close_all(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(cell, .init = open, .fini = close_all);

/* q, k, v of a sequence, and a cell for it. */
struct setting {
    tarn_tensor *q, *k, *v;
    tarn_rnn *st;
};

static struct setting setting(tarn_dtype dtype, int rank, const size_t *shape)
{
    struct setting s = {0};
    s.q = normal(ctx, dtype, 1, rank, shape, 1);
    s.k = normal(ctx, dtype, 2, rank, shape, 1);
    s.v = normal(ctx, dtype, 3, rank, shape, 1);
    const tarn_cell cell = {.B = rank > 3 ? shape[0] : 0,
                            .H = rank > 2 ? shape[rank - 3] : 0,
                            .D = shape[rank - 1],
                            .M = shape[rank - 1],
                            .eps = 1e-6,
                            .dtype = dtype};
    OK(tarn_rnn_new(ctx, &cell, &s.st));
    return s;
}

static void end(struct setting *s)
{
    tarn_tensor_free(s->q);
    tarn_tensor_free(s->k);
    tarn_tensor_free(s->v);
    tarn_rnn_free(s->st);
}

/* Steps token i (counted along the dimension before the last). */
static void step(struct setting *s, tarn_rnn *st, size_t i, tarn_tensor **out)
{
    const int dim = tarn_tensor_rank(s->q) - 2;
    tarn_tensor *q_i = NULL, *k_i = NULL, *v_i = NULL;
    OK(tarn_select(ctx, s->q, dim, i, &q_i));
    OK(tarn_select(ctx, s->k, dim, i, &k_i));
    OK(tarn_select(ctx, s->v, dim, i, &v_i));
    OK(tarn_rnn_step(ctx, st, q_i, k_i, v_i, out));
    tarn_tensor_free(q_i);
    tarn_tensor_free(k_i);
    tarn_tensor_free(v_i);
}

/* Steps, runs and prefix sums go through the same additions in the same order: equal to
 * the last bit, and so is the state. */
//> region stepping_running
Test(cell, stepping_running_and_prefix_agree_bit_for_bit)
{
    const size_t shapes[3][4] = {{70, 5}, {2, 70, 5}, {2, 3, 70, 5}};
    for (int rank = 2; rank <= 4; rank++) {
        struct setting s = setting(TARN_FLOAT32, rank, shapes[rank - 2]);
        tarn_tensor *run = NULL, *prefix = NULL, *S1 = NULL, *S2 = NULL;
        tarn_rnn *stepped = NULL, *final = NULL;
        tarn_options options = tarn_defaults();
        options.method = TARN_SEQUENTIAL;
        OK(tarn_rnn_clone(ctx, s.st, &stepped));
        OK(tarn_rnn_run(ctx, s.st, s.q, s.k, s.v, &run));
        OK(tarn_prefix(ctx, s.q, s.k, s.v, &options, &prefix, &final));
        cr_assert_eq(largest_difference(ctx, run, prefix), 0);
        for (size_t i = 0; i < 70; i++) {
            tarn_tensor *out_i = NULL, *expected = NULL;
            step(&s, stepped, i, &out_i);
            OK(tarn_select(ctx, run, rank - 2, i, &expected));
            cr_assert_eq(largest_difference(ctx, out_i, expected), 0);
            tarn_tensor_free(out_i);
            tarn_tensor_free(expected);
        }
        OK(tarn_rnn_state(ctx, stepped, &S1, NULL));
        OK(tarn_rnn_state(ctx, final, &S2, NULL));
        cr_assert_eq(largest_difference(ctx, S1, S2), 0);
        cr_assert_eq(tarn_rnn_time(stepped), 70);
        cr_assert_eq(tarn_rnn_time(final), 70);
        tarn_tensor_free(run);
        tarn_tensor_free(prefix);
        tarn_tensor_free(S1);
        tarn_tensor_free(S2);
        tarn_rnn_free(stepped);
        tarn_rnn_free(final);
        end(&s);
    }
}
//< region stepping_running

/* GST-09: a kept copy does not change under its owner's feet. */
Test(cell, a_clone_is_independent)
{
    double ones[] = {1, 2, 3}, later[] = {10, 20};
    const tarn_cell cell = {.D = 1, .M = 1, .dtype = TARN_FLOAT64};
    tarn_tensor *zeros = matrix(ctx, TARN_FLOAT64, 3, 1, (double[]){0, 0, 0});
    tarn_tensor *v = matrix(ctx, TARN_FLOAT64, 3, 1, ones), *out = NULL;
    tarn_rnn *st = NULL;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, zeros, zeros, v, &out));
    tarn_tensor_free(out);
    for (int i = 0; i < 2; i++) {
        tarn_rnn *copy = NULL;
        tarn_tensor *row = NULL, *zero = NULL, *v_i = NULL, *out_i = NULL;
        OK(tarn_rnn_clone(ctx, st, &copy));
        OK(tarn_select(ctx, zeros, 0, 0, &zero));
        row = matrix(ctx, TARN_FLOAT64, 1, 1, &later[i]);
        OK(tarn_select(ctx, row, 0, 0, &v_i));
        OK(tarn_rnn_step(ctx, copy, zero, zero, v_i, &out_i));
        cr_assert_float_eq(flat(out_i, 0), i == 0 ? 4 : 6.5, 1e-15);
        tarn_tensor_free(row);
        tarn_tensor_free(zero);
        tarn_tensor_free(v_i);
        tarn_tensor_free(out_i);
        tarn_rnn_free(copy);
    }
    tarn_tensor_free(zeros);
    tarn_tensor_free(v);
    tarn_rnn_free(st);
}

/* PRF-02: the second step, and any after it, allocate nothing but what the caller gives. */
Test(cell, a_step_into_a_given_tensor_allocates_no_tensor_memory)
{
    struct setting s = setting(TARN_FLOAT32, 3, (size_t[]){2, 4, 8});
    tarn_tensor *out = NULL;
    step(&s, s.st, 0, &out);
    void *place = tarn_tensor_data(out);
    size_t before = tarn_bytes(ctx), state = tarn_rnn_bytes(s.st);
    for (size_t i = 1; i < 4; i++) step(&s, s.st, i, &out);
    cr_assert_eq(tarn_bytes(ctx), before);
    cr_assert_eq(tarn_tensor_data(out), place);
    cr_assert_eq(tarn_rnn_bytes(s.st), state);
    tarn_tensor_free(out);
    end(&s);
}

Test(cell, a_failed_call_leaves_the_state_as_it_was)
{
    struct setting s = setting(TARN_FLOAT32, 2, (size_t[]){6, 3});
    tarn_tensor *out = NULL, *wrong = NULL, *before = NULL, *after = NULL, *wide = NULL;
    OK(tarn_rnn_run(ctx, s.st, s.q, s.k, s.v, &out));
    OK(tarn_rnn_state(ctx, s.st, &before, NULL));
    tarn_tensor_free(out);
    out = NULL;
    OK(tarn_tensor_new(ctx, TARN_FLOAT32, 2, (size_t[]){6, 4}, &wrong));
    OK(tarn_clone(ctx, s.q, TARN_FLOAT64, &wide));
    cr_assert_eq(tarn_rnn_run(ctx, s.st, s.q, s.k, wrong, &out), TARN_ESHAPE);
    cr_assert_str_eq(tarn_error(ctx),
                     "rnn:run: v is [6, 4], expected [N, M] = [6, 3] to "
                     "match k and the state");
    cr_assert_eq(tarn_rnn_run(ctx, s.st, wide, s.k, s.v, &out), TARN_EDTYPE);
    tarn_interrupt(ctx);
    cr_assert_eq(tarn_rnn_run(ctx, s.st, s.q, s.k, s.v, &out), TARN_EINTR);
    tarn_clear_interrupt(ctx);
    OK(tarn_rnn_state(ctx, s.st, &after, NULL));
    cr_assert_eq(largest_difference(ctx, before, after), 0);
    cr_assert_eq(tarn_rnn_time(s.st), 6);
    cr_assert_null(out);
    tarn_tensor_free(wrong);
    tarn_tensor_free(wide);
    tarn_tensor_free(before);
    tarn_tensor_free(after);
    end(&s);
}

Test(cell, the_state_can_be_set_and_read_back)
{
    struct setting s = setting(TARN_FLOAT64, 3, (size_t[]){2, 5, 3});
    tarn_tensor *S = normal(ctx, TARN_FLOAT64, 7, 3, (size_t[]){2, 3, 3}, 1),
                *S_got = NULL;
    tarn_tensor *z = normal(ctx, TARN_FLOAT64, 8, 2, (size_t[]){2, 3}, 1),
                *z_got = NULL;
    OK(tarn_rnn_set_state(ctx, s.st, S, z));
    OK(tarn_rnn_state(ctx, s.st, &S_got, &z_got));
    cr_assert_eq(largest_difference(ctx, S, S_got), 0);
    cr_assert_eq(largest_difference(ctx, z, z_got), 0);
    cr_assert_eq(tarn_rnn_set_state(ctx, s.st, z, z), TARN_ESHAPE);
    cr_assert_str_eq(tarn_error(ctx),
                     "rnn: S is [2, 3], expected [(B, (H,)) C, M] = [2, 3, 3]");
    tarn_rnn_reset(s.st);
    tarn_tensor_free(S_got);
    OK(tarn_rnn_state(ctx, s.st, &S_got, NULL));
    cr_assert_eq(flat(S_got, 0), 0);
    tarn_tensor_free(S);
    tarn_tensor_free(z);
    tarn_tensor_free(S_got);
    tarn_tensor_free(z_got);
    end(&s);
}

Test(cell, sizes_that_make_no_cell_are_refused)
{
    tarn_rnn *st = NULL;
    tarn_kv *kv = NULL;
    tarn_cell cell = {.D = 0, .M = 4, .dtype = TARN_FLOAT32};
    cr_assert_eq(tarn_rnn_new(ctx, &cell, &st), TARN_EINVAL);
    cr_assert_str_eq(tarn_error(ctx), "rnn: D is 0 and M is 4, expected 1 or more");
    cr_assert_eq(tarn_kv_new(ctx, &cell, &kv), TARN_EINVAL);
    cell = (tarn_cell){.B = 2, .D = 4, .M = 4, .dtype = TARN_FLOAT32};
    cr_assert_eq(tarn_rnn_new(ctx, &cell, &st), TARN_EINVAL);
    cell = (tarn_cell){.H = SIZE_MAX / 2, .D = 4, .M = 4, .dtype = TARN_FLOAT32};
    cr_assert_eq(tarn_rnn_new(ctx, &cell, &st), TARN_ENOMEM);
    cr_assert(!st && !kv);
}

Test(cell, a_state_of_another_map_size_or_type_is_refused)
{
    struct setting s = setting(TARN_FLOAT32, 2, (size_t[]){6, 3});
    tarn_options options = tarn_defaults();
    tarn_tensor *out = NULL, *q64 = NULL;
    options.state = s.st;
    options.phi = tarn_phi_find("relu");
    cr_assert_eq(tarn_prefix(ctx, s.q, s.k, s.v, &options, &out, NULL), TARN_EINVAL);
    cr_assert_str_eq(
        tarn_error(ctx),
        "prefix: state was made with phi elu1, expected relu as in this call");
    options.phi = tarn_phi_find("poly2");
    cr_assert_eq(tarn_prefix(ctx, s.q, s.k, s.v, &options, &out, NULL), TARN_ESHAPE);
    options.phi = NULL;
    OK(tarn_clone(ctx, s.q, TARN_FLOAT64, &q64));
    cr_assert_eq(tarn_prefix(ctx, q64, s.k, s.v, &options, &out, NULL), TARN_EDTYPE);
    tarn_tensor_free(q64);
    end(&s);
}

/* ---- Files ------------------------------------------------------------------------------- */

static char path[64];
static void in_folder(void)
{
    open();
    snprintf(path, sizeof path, "/tmp/tarn-cell-%ld", (long)getpid());
}
static void out_of_folder(void)
{
    unlink(path);
    close_all();
}
TestSuite(cell_file, .init = in_folder, .fini = out_of_folder);

/* Both levels of the sums are kept: a loaded cell goes on bit for bit. */
Test(cell_file, a_loaded_cell_goes_on_where_the_saved_one_was)
{
    for (int dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++) {
        struct setting s = setting((tarn_dtype)dtype, 3, (size_t[]){2, 70, 3});
        tarn_tensor *first = NULL, *a = NULL, *b = NULL;
        tarn_rnn *loaded = NULL;
        OK(tarn_rnn_run(ctx, s.st, s.q, s.k, s.v, &first));
        OK(tarn_rnn_save(ctx, s.st, path));
        OK(tarn_rnn_load(ctx, path, NULL, &loaded));
        OK(tarn_rnn_run(ctx, s.st, s.q, s.k, s.v, &a));
        OK(tarn_rnn_run(ctx, loaded, s.q, s.k, s.v, &b));
        cr_assert_eq(largest_difference(ctx, a, b), 0);
        cr_assert_eq(tarn_rnn_time(loaded), 140);
        tarn_tensor_free(first);
        tarn_tensor_free(a);
        tarn_tensor_free(b);
        tarn_rnn_free(loaded);
        end(&s);
    }
}

/* FMT-17: every byte of the header that is changed, and every cut, is refused or gives a
 * cell that differs in nothing but eps, time or count, the free values. */
Test(cell_file, damaged_files_are_refused)
{
    struct setting s = setting(TARN_FLOAT32, 2, (size_t[]){5, 3});
    OK(tarn_rnn_save(ctx, s.st, path));
    unsigned char bytes[1024], damaged[1024];
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert_eq(size, 128 + tarn_rnn_bytes(s.st));
    for (size_t place = 0; place < 128 + size; place++) {
        const size_t length = place < 128 ? size : place - 128;
        memcpy(damaged, bytes, size);
        if (place < 128) damaged[place] ^= 0x81;
        file = fopen(path, "wb");
        fwrite(damaged, 1, length, file);
        fclose(file);
        tarn_rnn *loaded = NULL;
        tarn_status status = tarn_rnn_load(ctx, path, NULL, &loaded);
        const bool free_value =
            (place >= 72 && place < 80) || (place >= 88 && place < 96) ||
            (place >= 20 && place < 32) || (place >= 101 && place < 128);
        cr_assert(status == TARN_EFORMAT || (free_value && status == TARN_OK),
                  "byte %zu: status %d", place, status);
        tarn_rnn_free(loaded);
    }
    end(&s);
}

Test(cell_file, messages_tell_expected_and_found)
{
    struct setting s = setting(TARN_FLOAT32, 2, (size_t[]){5, 3});
    tarn_rnn *loaded = NULL;
    OK(tarn_rnn_save(ctx, s.st, path));
    cr_assert_eq(truncate(path, 140), 0);
    cr_assert_eq(tarn_rnn_load(ctx, path, NULL, &loaded), TARN_EFORMAT);
    cr_assert_not_null(strstr(tarn_error(ctx), "has 12 bytes of state, expected 96"));
    cr_assert_eq(truncate(path, 40), 0);
    cr_assert_eq(tarn_rnn_load(ctx, path, NULL, &loaded), TARN_EFORMAT);
    cr_assert_not_null(strstr(tarn_error(ctx), "has 40 bytes, expected at least 128"));
    cr_assert_eq(tarn_rnn_load(ctx, "/nowhere/x", NULL, &loaded), TARN_EIO);
    cr_assert_not_null(strstr(tarn_error(ctx), "/nowhere/x"));
    cr_assert_eq(tarn_rnn_save(ctx, s.st, "/nowhere/x"), TARN_EIO);
    end(&s);
}

/* ---- A map of the user's ---------------------------------------------------------------------- */

static tarn_status doubled(tarn_context *c, void *user, const tarn_tensor *x,
                           tarn_tensor **features)
{
    (void)user;
    return tarn_cat(c, (const tarn_tensor *[]){x, x}, 2, 1, features);
}
static const tarn_phi doubling = {.name = "doubling", .builtin = -1, .apply = doubled};

Test(cell_file, a_users_map_must_be_given_again)
{
    const tarn_cell cell = {.D = 3, .M = 2, .phi = &doubling, .dtype = TARN_FLOAT32};
    tarn_rnn *st = NULL, *loaded = NULL;
    OK(tarn_rnn_new(ctx, &cell, &st));
    cr_assert_eq(tarn_rnn_features(st), 6);
    OK(tarn_rnn_save(ctx, st, path));
    cr_assert_eq(tarn_rnn_load(ctx, path, NULL, &loaded), TARN_EINVAL);
    OK(tarn_rnn_load(ctx, path, &doubling, &loaded));
    cr_assert_eq(tarn_rnn_features(loaded), 6);
    tarn_rnn_free(st);
    tarn_rnn_free(loaded);
}

/* ---- The growing cache --------------------------------------------------------------------------- */

/* One query at a time sees what the causal form's rows see. 64 eps for sums of 40. */
Test(cell, the_cache_steps_through_what_causal_softmax_computes)
{
    const size_t shape[] = {2, 40, 5};
    struct setting s = setting(TARN_FLOAT64, 3, shape);
    const tarn_cell cell = {
        .H = 2, .D = 5, .M = 5, .scale = NAN, .dtype = TARN_FLOAT64};
    tarn_options options = tarn_defaults();
    options.causal = true;
    tarn_tensor *expected = NULL, *run = NULL;
    tarn_kv *kv = NULL, *whole = NULL;
    OK(tarn_sim(ctx, s.q, s.k, s.v, &options, &expected, NULL));
    OK(tarn_kv_new(ctx, &cell, &kv));
    OK(tarn_kv_new(ctx, &cell, &whole));
    OK(tarn_kv_run(ctx, whole, s.q, s.k, s.v, &run));
    cr_assert_leq(largest_difference(ctx, run, expected), 64 * 2.3e-16);
    for (size_t i = 0; i < 40; i++) {
        tarn_tensor *q_i = NULL, *k_i = NULL, *v_i = NULL, *want = NULL, *got = NULL;
        OK(tarn_select(ctx, s.q, 1, i, &q_i));
        OK(tarn_select(ctx, s.k, 1, i, &k_i));
        OK(tarn_select(ctx, s.v, 1, i, &v_i));
        OK(tarn_select(ctx, expected, 1, i, &want));
        OK(tarn_kv_step(ctx, kv, q_i, k_i, v_i, &got));
        cr_assert_leq(largest_difference(ctx, got, want), 64 * 2.3e-16);
        cr_assert_eq(tarn_kv_bytes(kv), 2 * (i + 1) * 10 * 8);
        tarn_tensor_free(q_i);
        tarn_tensor_free(k_i);
        tarn_tensor_free(v_i);
        tarn_tensor_free(want);
        tarn_tensor_free(got);
    }
    tarn_tensor_free(expected);
    tarn_tensor_free(run);
    tarn_kv_free(kv);
    tarn_kv_free(whole);
    end(&s);
}

Test(cell, a_cache_can_be_cloned_reset_and_survives_an_interrupt)
{
    struct setting s = setting(TARN_FLOAT32, 2, (size_t[]){20, 4});
    const tarn_cell cell = {.D = 4, .M = 4, .scale = NAN, .dtype = TARN_FLOAT32};
    tarn_kv *kv = NULL, *copy = NULL;
    tarn_tensor *out = NULL, *a = NULL, *b = NULL;
    OK(tarn_kv_new(ctx, &cell, &kv));
    OK(tarn_kv_run(ctx, kv, s.q, s.k, s.v, &out));
    OK(tarn_kv_clone(ctx, kv, &copy));
    tarn_interrupt(ctx);
    tarn_tensor *none = NULL;
    cr_assert_eq(tarn_kv_run(ctx, kv, s.q, s.k, s.v, &none), TARN_EINTR);
    tarn_clear_interrupt(ctx);
    cr_assert_eq(tarn_kv_time(kv), 20);
    OK(tarn_kv_run(ctx, kv, s.q, s.k, s.v, &a));
    OK(tarn_kv_run(ctx, copy, s.q, s.k, s.v, &b));
    cr_assert_eq(largest_difference(ctx, a, b), 0);
    tarn_kv_reset(kv);
    cr_assert_eq(tarn_kv_bytes(kv), 0);
    cr_assert_eq(tarn_kv_cell(kv)->D, 4);
    tarn_tensor_free(out);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_kv_free(kv);
    tarn_kv_free(copy);
    end(&s);
}
