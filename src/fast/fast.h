/* fast.h: the forms of this folder, as table.c gathers them. Internal. */
#ifndef TARN_FAST_H
#define TARN_FAST_H

#include "fast/vec.h"
#include "stages/stages.h"

extern const struct tarn_form FAST(tarn_fast_sim);
extern const struct tarn_form FAST(tarn_fast_sim_grad);
extern const struct tarn_form FAST(tarn_fast_assoc);
extern const struct tarn_form FAST(tarn_fast_assoc_grad);
extern const struct tarn_form FAST(tarn_fast_prefix);
extern const struct tarn_form FAST(tarn_fast_prefix_grad);
extern const struct tarn_form FAST(tarn_fast_rnn);

void FAST(tarn_fast_features)(int id, size_t n, const void *x, void *f);

extern const struct tarn_operations FAST(tarn_fast);

#endif
