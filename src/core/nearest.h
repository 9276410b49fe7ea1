/* nearest.h: what may have been meant by a word that nobody knows. Internal. */
#ifndef TARN_NEAREST_H
#define TARN_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name among `names` (NULL-terminated) nearest to `word` if it is near enough to be
 * meant, else NULL. */
const char *tarn_nearest(const char *word, const char *const *names);

/* Keeps in *best the nearer of itself and `name`, *least_far being how far it is; begin
 * with NULL and SIZE_MAX. One slip is forgiven in a short word, one more for every three
 * letters; a word of one letter could be anything. */
void tarn_nearer(const char *word, const char *name, const char **best,
                 size_t *least_far);

#endif
