/* test_emu_calls.c: what the library's calls do on the emulated device, with every access
 * checked and its memory out of the host's reach: no report, and the bits of unchecked ones. */
#include "emu/emu.h"
#include "tensors.h"

TestSuite(emu_calls, .init = begin, .fini = end);

/* Two heads, not a multiple of anything. */
enum { HEADS = 2, TOKENS = 37, D = 6, M = 5, INPUTS = 4, RESULTS = 6 };

struct call {
    tarn_tensor *x[INPUTS]; /* q, k, v, dout */
    tarn_tensor *result[RESULTS];
    tarn_options options;
};

static void put(struct call *c, tarn_dtype dtype)
{
    const size_t wide[] = {HEADS, TOKENS, D}, narrow[] = {HEADS, TOKENS, M};
    c->options = tarn_defaults();
    for (int i = 0; i < INPUTS; i++) {
        tarn_tensor *t = randn((uint64_t)i, dtype, 3, i < 2 ? wide : narrow);
        OK(tarn_to(ctx, t, "emu", &c->x[i]));
        tarn_tensor_free(t);
    }
}

static void take_away(struct call *c)
{
    for (int i = 0; i < INPUTS; i++) tarn_tensor_free(c->x[i]);
    for (int i = 0; i < RESULTS; i++) tarn_tensor_free(c->result[i]);
}

static void keep_grads(struct call *c, tarn_grads grads)
{
    c->result[3] = grads.dq, c->result[4] = grads.dk, c->result[5] = grads.dv;
}

typedef void form_fn(struct call *c);

static void sim(struct call *c)
{
    tarn_tensor *const *x = c->x;
    tarn_grads grads;
    c->options.causal = true;
    OK(tarn_sim(ctx, x[0], x[1], x[2], &c->options, &c->result[0], &c->result[1]));
    OK(tarn_sim_grad(ctx, x[0], x[1], x[2], x[3], &c->options, &grads));
    keep_grads(c, grads);
}

static void rbf(struct call *c)
{
    c->options.by = TARN_RBF;
    sim(c);
}

static void assoc(struct call *c)
{
    tarn_tensor *const *x = c->x;
    tarn_grads grads;
    OK(tarn_assoc(ctx, x[0], x[1], x[2], &c->options, &c->result[0]));
    OK(tarn_assoc_grad(ctx, x[0], x[1], x[2], x[3], &c->options, &grads));
    keep_grads(c, grads);
}

static void prefix(struct call *c)
{
    tarn_tensor *const *x = c->x;
    tarn_grads grads;
    c->options.phi = tarn_phi_find("relu");
    OK(tarn_prefix(ctx, x[0], x[1], x[2], &c->options, &c->result[0], NULL));
    OK(tarn_prefix_grad(ctx, x[0], x[1], x[2], x[3], &c->options, &grads));
    keep_grads(c, grads);
}

static void rnn(struct call *c)
{
    const tarn_cell cell = {.H = HEADS,
                            .D = D,
                            .M = M,
                            .eps = 1e-6,
                            .device = "emu",
                            .dtype = tarn_tensor_dtype(c->x[0])};
    tarn_tensor *const *x = c->x;
    tarn_rnn *st = NULL;
    tarn_grads grads;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, x[0], x[1], x[2], &c->result[0]));
    OK(tarn_rnn_run(ctx, st, x[0], x[1], x[2], &c->result[1]));
    tarn_rnn_free(st);
    OK(tarn_rnn_grad(ctx, x[0], x[1], x[2], x[3], &c->options, &grads));
    keep_grads(c, grads);
}

static void expect_equal(const tarn_tensor *a, const tarn_tensor *b, const char *what)
{
    tarn_tensor *x = NULL, *y = NULL;
    if (!a && !b) return;
    OK(tarn_to(ctx, a, "cpu", &x));
    OK(tarn_to(ctx, b, "cpu", &y));
    expect_same_bits(x, y, what);
    tarn_tensor_free(x), tarn_tensor_free(y);
}

/* A call without checks, then one with them in each order of threads. */
static void expect_no_report(form_fn *form, const char *what)
{
    tarn_emu_settings.locked = true;
    for (int type = 0; type < 2; type++) {
        struct call plain = {.x = {NULL}};
        put(&plain, type ? TARN_FLOAT64 : TARN_FLOAT32);
        form(&plain);
        for (int order = TARN_EMU_FORWARD; order <= TARN_EMU_RANDOM; order++) {
            struct call checked = {.x = {NULL}};
            tarn_emu_settings.order = (enum tarn_emu_order)order;
            tarn_emu_settings.check = true;
            put(&checked, type ? TARN_FLOAT64 : TARN_FLOAT32);
            form(&checked);
            tarn_emu_settings.check = false;
            for (int i = 0; i < RESULTS; i++)
                expect_equal(plain.result[i], checked.result[i], what);
            take_away(&checked);
        }
        take_away(&plain);
    }
}

Test(emu_calls, softmax_gives_no_report)
{
    expect_no_report(sim, "softmax");
}
Test(emu_calls, rbf_gives_no_report)
{
    expect_no_report(rbf, "rbf");
}
Test(emu_calls, assoc_gives_no_report)
{
    expect_no_report(assoc, "assoc");
}
Test(emu_calls, prefix_gives_no_report)
{
    expect_no_report(prefix, "prefix");
}
Test(emu_calls, rnn_gives_no_report)
{
    expect_no_report(rnn, "rnn");
}

/* Whichever kernel it was that stopped: the user has called prefix. */
Test(emu_calls, an_interrupt_names_the_function)
{
    struct call c = {.options = tarn_defaults()};
    tarn_grads grads;
    put(&c, TARN_FLOAT32);
    tarn_tensor *const *x = c.x;
    tarn_interrupt(ctx);
    FAILS(TARN_EINTR, "prefix: interrupted",
          tarn_prefix(ctx, x[0], x[1], x[2], &c.options, &c.result[0], NULL));
    FAILS(TARN_EINTR, "sim: interrupted",
          tarn_sim(ctx, x[0], x[1], x[2], &c.options, &c.result[0], NULL));
    FAILS(TARN_EINTR, "assoc_grad: interrupted",
          tarn_assoc_grad(ctx, x[0], x[1], x[2], x[3], &c.options, &grads));
    tarn_clear_interrupt(ctx);
    take_away(&c);
}

static tarn_tensor *fresh_on_emu(void)
{
    tarn_tensor *t = make(TARN_FLOAT32, 1, (size_t[]){20}, NULL), *there = NULL;
    OK(tarn_to(ctx, t, "emu", &there));
    tarn_tensor_free(t);
    return there;
}

/* The kernels that run are the instrumented ones: they are counted. */
Test(emu_calls, operations_are_profiled)
{
    tarn_tensor *t = fresh_on_emu(), *sum = NULL;
    size_t count;
    tarn_emu_profile_start(1);
    OK(tarn_binary(ctx, TARN_ADD, t, t, &sum));
    struct tarn_emu_row *rows = tarn_emu_profile_stop(&count);
    cr_assert_gt(count, 0);
    free(rows);
    tarn_tensor_free(t), tarn_tensor_free(sum);
}

/* Past the number of open ranges that a system tells apart. */
Test(emu_calls, forty_thousand_tensors_live_at_once)
{
    enum { TENSORS = 40000 };
    static tarn_tensor *t[TENSORS];
    tarn_tensor *one = randn(1, TARN_FLOAT32, 0, NULL), *back = NULL;
    tarn_emu_settings.locked = false;
    for (int i = 0; i < TENSORS; i++) OK(tarn_to(ctx, one, "emu", &t[i]));
    for (int i = 0; i < TENSORS; i += 2) tarn_tensor_free(t[i]);
    for (int i = 0; i < TENSORS; i += 2) OK(tarn_to(ctx, one, "emu", &t[i]));
    OK(tarn_to(ctx, t[TENSORS - 1], "cpu", &back));
    cr_assert_eq(*(float *)tarn_tensor_data(back), *(float *)tarn_tensor_data(one));
    for (int i = 0; i < TENSORS; i++) tarn_tensor_free(t[i]);
    tarn_tensor_free(one);
    tarn_tensor_free(back);
}
