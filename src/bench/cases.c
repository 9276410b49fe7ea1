/* cases.c: the operations and sizes that are timed. See operations.h. */
#include "bench/operations.h"

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

const struct tarn_bench_case *tarn_bench_case_at(size_t position)
{
    return position < sizeof cases / sizeof cases[0] ? &cases[position] : NULL;
}

const char *const *tarn_bench_names(void)
{
    static const char *const names[] = {"phi_elu1", "sim_softmax", "sim_softmax_causal",
                                        "assoc",    "prefix",      "prefix_grad",
                                        "rnn_step", NULL};
    return names;
}
