/* random.h: the generator of random numbers. Internal. */
#ifndef TARN_RANDOM_H
#define TARN_RANDOM_H

#include <stdint.h>

/* Philox 4x32-10 (Salmon et al., SC 2011): four words from counter and key. */
void tarn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t word[4]);

#endif
