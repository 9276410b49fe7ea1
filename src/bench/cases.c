/* cases.c: the operations and sizes that are timed. See operations.h. */
#include "bench/operations.h"
#include <math.h>
#include <string.h>

/* The letters: name, precision, B, H, N, D = M, also in a quick run. */
static const struct tarn_bench_case cases[] = {
    {"phi_elu1", TARN_ACCURATE, 1, 8, 4096, 64, true},

    {"sim_softmax", TARN_ACCURATE, 1, 1, 1024, 64, true},
    {"sim_softmax", TARN_ACCURATE, 1, 1, 4096, 64, false},

    {"sim_softmax_causal", TARN_ACCURATE, 1, 1, 1024, 64, true},
    {"sim_softmax_causal", TARN_ACCURATE, 1, 1, 4096, 64, true},
    {"sim_softmax_causal", TARN_ACCURATE, 1, 1, 4096, 128, false},

    {"assoc", TARN_ACCURATE, 1, 8, 4096, 32, false},
    {"assoc", TARN_ACCURATE, 1, 8, 4096, 64, true},
    {"assoc", TARN_ACCURATE, 1, 8, 4096, 128, false},

    {"prefix", TARN_ACCURATE, 1, 8, 4096, 16, true},
    {"prefix", TARN_ACCURATE, 1, 8, 4096, 32, true},
    {"prefix", TARN_ACCURATE, 1, 8, 1024, 64, false},
    {"prefix", TARN_ACCURATE, 1, 8, 4096, 64, true},
    {"prefix", TARN_FAST, 1, 8, 4096, 64, true},
    {"prefix", TARN_ACCURATE, 1, 8, 4097, 64, false},
    {"prefix", TARN_ACCURATE, 1, 1, 65536, 64, false},
    {"prefix", TARN_ACCURATE, 1, 8, 4096, 128, true},
    {"prefix", TARN_ACCURATE, 1, 1, 4096, 256, false},
    {"prefix", TARN_ACCURATE, 1, 1, 4096, 512, false},

    {"prefix_grad", TARN_ACCURATE, 1, 8, 4096, 32, false},
    {"prefix_grad", TARN_ACCURATE, 1, 8, 4096, 64, true},
    {"prefix_grad", TARN_ACCURATE, 1, 8, 4096, 128, true},

    {"rnn_step", TARN_ACCURATE, 1, 8, 1, 32, true},
    {"rnn_step", TARN_ACCURATE, 1, 8, 1, 64, true},
    {"rnn_step", TARN_ACCURATE, 1, 8, 1, 128, true},
};

enum { CASES = sizeof cases / sizeof cases[0] };
_Static_assert(2 * CASES <= TARN_BENCH_ROWS,
               "there is a row for each type of each case");

const char *const *tarn_bench_names(void)
{
    static const char *const names[] = {"phi_elu1", "sim_softmax", "sim_softmax_causal",
                                        "assoc",    "prefix",      "prefix_grad",
                                        "rnn_step", NULL};
    return names;
}

const char *tarn_bench_precision(const struct tarn_bench_case *of)
{
    return of->precision == TARN_FAST ? "fast" : "accurate";
}

tarn_status tarn_bench_operation(tarn_context *ctx, struct tarn_machine *machine,
                                 const char *name, bool quick,
                                 struct tarn_bench_row *rows, size_t *count)
{
    const struct tarn_effort effort = {.seconds = quick ? 0.3 : 2, .rounds = 200};
    tarn_status status = tarn_machine_probe(machine, ctx);
    for (size_t i = 0; status == TARN_OK && i < CASES; i++) {
        if (strcmp(cases[i].name, name) != 0 || (quick && !cases[i].quick)) continue;
        status = tarn_bench_run(ctx, &cases[i], effort, &rows[*count]);
        if (status != TARN_OK) return status;
        *count += 2;
        status = tarn_machine_probe(machine, ctx);
    }
    return status;
}

double tarn_bench_percent(const struct tarn_machine *machine,
                          const struct tarn_bench_row *row)
{
    if (!row->counts || !tarn_machine_steady(machine, row->dtype)) return (double)NAN;
    return 100 * row->speed / machine->peak[row->dtype].best;
}
