/* test_kernels_barriers.c: is every barrier of the kernels needed, and would the checks notice
 * if it were missing? Each __syncthreads and __syncwarp in cuda/ is passed over in turn, as if
 * it had been deleted; some instrumented rung that comes by must then give a report, or
 * another result. (tests/mutate-barriers deletes them from the source, which takes longer.)
 * The control: with all of them in place there is no report. */
#include "kernels.h"
#include "emu/inside.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(kernels_barriers, .init = open, .fini = close, .timeout = 0);

/* ---- Runs --------------------------------------------------------------------------------- */

#define CHECKED(form)                                                                  \
    extern const struct tarn_ladder tarn_checked_##form##_f32, tarn_checked_##form##_f64
CHECKED(sim);
CHECKED(sim_grad);
CHECKED(assoc);
CHECKED(assoc_grad);
CHECKED(prefix);
CHECKED(prefix_grad);
CHECKED(rnn);
CHECKED(rnn_grad);

/* The forms, and what about them decides which way a kernel takes. */
static const struct form {
    const char *name;
    const struct tarn_ladder *of[2];
    bool grad, causal;
    tarn_similarity by;
} forms[] = {
#define BOTH(form)                                                                     \
    {                                                                                  \
        &tarn_checked_##form##_f32, &tarn_checked_##form##_f64                         \
    }
    {"sim softmax", BOTH(sim), false, true, TARN_SOFTMAX},
    {"sim rbf", BOTH(sim), false, false, TARN_RBF},
    {"sim phi", BOTH(sim), false, true, TARN_PHI},
    {"sim_grad softmax", BOTH(sim_grad), true, true, TARN_SOFTMAX},
    {"sim_grad rbf", BOTH(sim_grad), true, false, TARN_RBF},
    {"sim_grad phi", BOTH(sim_grad), true, true, TARN_PHI},
    {"assoc", BOTH(assoc), false, false, TARN_PHI},
    {"assoc_grad", BOTH(assoc_grad), true, false, TARN_PHI},
    {"prefix", BOTH(prefix), false, true, TARN_PHI},
    {"prefix fused", BOTH(prefix), false, true, TARN_PHI},
    {"prefix_grad", BOTH(prefix_grad), true, true, TARN_PHI},
    {"rnn", BOTH(rnn), false, true, TARN_PHI},
    {"rnn_grad", BOTH(rnn_grad), true, true, TARN_PHI},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* More than one square each way, of 32 doubles or 64 floats, and small features. */
static const struct sizes sizes_of[2][2] = {{{1, 70, 70, 66, 68}, {2, 70, 70, 5, 4}},
                                            {{1, 38, 38, 34, 36}, {1, 9, 9, 70, 3}}};

/* One rung, of one type, on one problem. */
struct run {
    const struct form *form;
    const struct tarn_rung *rung;
    int type, size;
    uint64_t expected; /* of its results, all bits */
};
static struct run runs[300];
static int run_count;

/* KERNEL_FORM=sim_grad, as tests/mutate-barriers sets it: that form alone. */
static bool is_wanted(const struct form *form)
{
    const char *wanted = getenv("KERNEL_FORM");
    if (!wanted) return true;
    const size_t length = strcspn(form->name, " ");
    return strlen(wanted) == length && strncmp(wanted, form->name, length) == 0;
}

static struct problem problem_for(const struct run *r)
{
    const struct sizes n = sizes_of[r->type][r->size];
    return strstr(r->form->name, " fused") ? fused_problem_of(n) : problem_of(n);
}

static void add_run(struct run r)
{
    const struct problem p = problem_for(&r);
    if (is_wanted(r.form) && fits(&p, r.rung)) runs[run_count++] = r;
}

static void list_runs(void)
{
    for (int f = 0; f < FORMS; f++)
        for (int type = 1; type >= 0; type--)
            for (int size = 1; size >= 0; size--)
                for (int r = 0; r < forms[f].of[type]->count; r++)
                    add_run((struct run){&forms[f], &forms[f].of[type]->rungs[r], type,
                                         size, 0});
}

static void mix(uint64_t *hash, const tarn_tensor *t)
{
    const unsigned char *byte = t ? tarn_tensor_data(t) : NULL;
    for (size_t i = 0; t && i < bytes_of(t); i++)
        *hash = (*hash ^ byte[i]) * UINT64_C(1099511628211);
}

/* Runs it on instrumented kernels; what the results come to is in *hash. */
static tarn_status execute(const struct run *r, int order, uint64_t *hash)
{
    struct problem p = problem_for(r);
    p.options.causal = r->form->causal, p.options.by = r->form->by;
    p.state = r->form->by == TARN_PHI;
    struct inputs in =
        inputs_of(&p, r->type ? TARN_FLOAT64 : TARN_FLOAT32, r->form->grad);
    tarn_emu_settings.check = true, tarn_emu_settings.gpu = "sm_80";
    set_order(order);
    struct device d = put(&p, &in);
    if (r->rung->work) d.s.work = device_bytes(r->rung->work(&d.s));
    const tarn_status status = r->rung->run(&d.s);
    struct results results = get(&p, &in, &d);
    const tarn_tensor *const all[] = {results.out, results.S,  results.z,
                                      results.dq,  results.dk, results.dv,
                                      results.dS0, results.dz0};
    *hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mix(hash, all[i]);
    free_results(&results);
    take_away(&d);
    free_inputs(&in);
    tarn_emu_settings.check = false;
    return status;
}

/* ---- Barriers ------------------------------------------------------------------------------- */

static struct site {
    char file[60];
    int line;
    bool reached[sizeof runs / sizeof *runs];
} sites[300];
static int site_count, passed = -1; /* the one that is passed over */
static struct run *under_way;

static struct site *find_site(const char *file, int line)
{
    for (int i = 0; i < site_count; i++)
        if (sites[i].line == line &&
            strcmp(sites[i].file, tarn_emu_short_file(file)) == 0)
            return &sites[i];
    return NULL;
}

static bool pass_over(const char *file, int line)
{
    struct site *s = find_site(file, line);
    if (s) s->reached[under_way - runs] = true;
    return s && passed >= 0 && s == &sites[passed];
}

/* Every line of a file that has a barrier. */
static void list_sites_of(const char *path)
{
    char text[300];
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL, "%s", path);
    for (int line = 1; fgets(text, sizeof text, file); line++) {
        const bool comment = strncmp(text, " *", 2) == 0 || strncmp(text, "/*", 2) == 0;
        if (comment ||
            (!strstr(text, "__syncthreads(") && !strstr(text, "__syncwarp(")))
            continue;
        struct site *s = &sites[site_count++];
        snprintf(s->file, sizeof s->file, "%.50s", tarn_emu_short_file(path));
        s->line = line;
    }
    fclose(file);
}

static void list_sites(void)
{
    char pattern[1000];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/cuda/*.cu*", getenv("srcdir"));
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) list_sites_of(found.gl_pathv[i]);
    globfree(&found);
    cr_assert_gt(site_count, 10, "%d barriers in %s", site_count, pattern);
}

/* ---- The claims ------------------------------------------------------------------------------- */

/* All barriers in place; notes which of them each run comes by. */
static void run_all(int order, bool large)
{
    for (int i = 0; i < run_count; i++) {
        uint64_t hash;
        if (runs[i].size == 0 && !large) continue;
        under_way = &runs[i];
        cr_assert_eq(execute(under_way, order, &hash), TARN_OK, "%s", tarn_error(ctx));
        if (order == 0) under_way->expected = hash;
        cr_assert_eq(hash, under_way->expected, "%s %s depends on the order",
                     under_way->form->name, under_way->rung->name);
    }
}

Test(kernels_barriers, kernels_give_no_report_in_any_order_of_threads)
{
    list_runs();
    const bool large = getenv("KERNEL_FORM"); /* of all forms they take too long */
    for (int order = 0; order < ORDERS; order++) run_all(order, large);
}

static bool is_reached(int site)
{
    bool reached = false;
    for (int r = 0; r < run_count; r++) reached |= sites[site].reached[r];
    return reached;
}

//> region barriers_deleted
/* A report, or other bits, in some order of the threads. */
static bool caught_by(struct run *r)
{
    under_way = r;
    for (int order = 0; order < 3; order++) {
        uint64_t hash;
        if (execute(r, order, &hash) != TARN_OK) return true;
        if (hash != r->expected) return true;
    }
    return false;
}

static bool is_caught(int site)
{
    bool caught = false;
    passed = site;
    for (int i = 0; i < run_count && !caught; i++)
        if (sites[site].reached[i]) caught = caught_by(&runs[i]);
    passed = -1;
    return caught;
}

Test(kernels_barriers, each_barrier_that_is_deleted_is_missed)
{
    list_runs();
    list_sites();
    tarn_emu_settings.pass_over = pass_over;
    run_all(0, true); /* the control for large problems */
    for (int i = 0; i < site_count; i++) {
        const struct site *s = &sites[i];
        cr_expect(is_reached(i), "no run comes by %s:%d", s->file, s->line);
        cr_expect(is_caught(i), "nothing misses %s:%d", s->file, s->line);
    }
}
//< region barriers_deleted
