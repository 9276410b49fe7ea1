/* machine.h: the ceilings of the machine, measured in the same run as what stands under
 * them. Internal. */
#ifndef TARN_MACHINE_H
#define TARN_MACHINE_H

#include "bench/timing.h"
#include "core/context.h"

/* The peak of one element type over a run, in operations per second. */
struct tarn_ceiling {
    double best, worst; /* of all probes so far; 0: none */
};

struct tarn_machine {
    char name[128];  /* of the processor, and how many there are */
    const char *isa; /* that the tuned operations use */
    int threads;
    struct tarn_ceiling peak[2]; /* by tarn_dtype */
    double sgemm;                /* operations per second; NaN: not measured */
    double copy;                 /* bytes per second, read and written */
};

/* Describes the machine; nothing is measured yet. */
struct tarn_machine tarn_machine_here(const tarn_context *ctx);

/* Measures the peaks once more. */
tarn_status tarn_machine_probe(struct tarn_machine *m, tarn_context *ctx);

/* Whether the peak of a type has moved by no more than a tenth over all the probes. */
bool tarn_machine_steady(const struct tarn_machine *m, tarn_dtype dtype);

/* Measures how fast memory beyond the caches is copied, by one thread. */
tarn_status tarn_machine_copy(struct tarn_machine *m, tarn_context *ctx);

/* Measures the matrix product of CBLAS, if configure found one (sgemm.c). */
tarn_status tarn_machine_sgemm(struct tarn_machine *m, tarn_context *ctx);

#endif
