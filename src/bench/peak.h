/* peak.h: the most floating-point arithmetic that a processor can do. Internal. */
#ifndef TARN_PEAK_H
#define TARN_PEAK_H

#include <stddef.h>

/* Multiply-adds without a memory access, for a time that grows with `rounds`; gives their
 * number of operations, a multiplication and an addition each being one. */
typedef double tarn_peak_loop(size_t rounds);

#define DECLARE_PEAK(isa) extern tarn_peak_loop tarn_peak_f32_##isa, tarn_peak_f64_##isa
DECLARE_PEAK(base);
DECLARE_PEAK(v3);
DECLARE_PEAK(v4);
#undef DECLARE_PEAK

#endif
