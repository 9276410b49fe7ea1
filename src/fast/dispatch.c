/* dispatch.c: chooses the instruction set. See dispatch.h.
 *
 * The compiler's names for whole levels are not used: clang 14 does not know them in
 * __builtin_cpu_supports. */
#include "fast/dispatch.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(isa)                                                                   \
    extern const struct tarn_operations tarn_fast_f32_##isa, tarn_fast_f64_##isa

DECLARE(base);

static bool always(void)
{
    return true;
}

#ifdef HAVE_V3
DECLARE(v3);
static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}
#endif

#ifdef HAVE_V4
DECLARE(v4);
static bool has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

/* Best first. */
static const struct isa {
    const char *name;
    const struct tarn_operations *f32, *f64;
    bool (*usable)(void);
} isas[] = {
#ifdef HAVE_V4
    {"x86-64-v4", &tarn_fast_f32_v4, &tarn_fast_f64_v4, has_v4},
#endif
#ifdef HAVE_V3
    {"x86-64-v3", &tarn_fast_f32_v3, &tarn_fast_f64_v3, has_v3},
#endif
    {"baseline", &tarn_fast_f32_base, &tarn_fast_f64_base, always},
};

enum { ISAS = sizeof isas / sizeof isas[0] };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct isa *chosen;
static char problem[256]; /* with what TARN_ISA says; "" if there is none */

/* Appends names of instruction sets, ", " between them: all, or those that can run here. */
static void append_names(bool all)
{
    const char *between = "";
    for (size_t i = 0; i < ISAS; i++) {
        if (!all && !isas[i].usable()) continue;
        const size_t used = strlen(problem);
        snprintf(problem + used, sizeof problem - used, "%s%s", between, isas[i].name);
        between = ", ";
    }
}

static void describe_problem(const char *wanted)
{
    snprintf(problem, sizeof problem,
             "TARN_ISA in the environment is '%.40s', expected ", wanted);
    append_names(true);
    strncat(problem, "; this processor can run ", sizeof problem - strlen(problem) - 1);
    append_names(false);
}

static void choose(void)
{
    const char *wanted = getenv("TARN_ISA");
    const bool any = !wanted || !*wanted;
    const struct isa *best = NULL;
    for (size_t i = 0; i < ISAS; i++) {
        if (!isas[i].usable()) continue;
        if (!best) best = &isas[i];
        if (!chosen && (any || strcmp(wanted, isas[i].name) == 0)) chosen = &isas[i];
    }
    if (chosen) return;
    chosen = best;
    describe_problem(wanted);
}

static const struct isa *isa(void)
{
    pthread_once(&once, choose);
    return chosen;
}

const char *tarn_fast_isa(void)
{
    return isa()->name;
}

const char *tarn_fast_problem(void)
{
    isa();
    return problem;
}

const struct tarn_operations *tarn_fast_operations(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? isa()->f32 : isa()->f64;
}
