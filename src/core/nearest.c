/* nearest.c: what may have been meant by a word that nobody knows. See nearest.h. */
#include "core/nearest.h"
#include <ctype.h>
#include <string.h>

enum { LONGEST = 32 }; /* letters of a word that suggestions look at */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters must be changed, added, left out or swapped with their neighbour to
 * turn a into b (Damerau and Levenshtein); d[i][j] is that of the first i and j
 * letters. Words longer than LONGEST are as far as can be. */
static size_t distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b), d[LONGEST + 1][LONGEST + 1];
    if (m > LONGEST || n > LONGEST) return LONGEST;
    for (size_t i = 0; i <= m; i++) d[i][0] = i;
    for (size_t j = 0; j <= n; j++) d[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        for (size_t j = 1; j <= n; j++) {
            size_t change = d[i - 1][j - 1] + !same_letter(a[i - 1], b[j - 1]);
            d[i][j] = least(change, 1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[m][n];
}

void tarn_nearer(const char *word, const char *name, const char **best,
                 size_t *least_far)
{
    size_t far = distance(word, name), length = strlen(word);
    bool near = far <= (length < 6 ? 1 : length / 3) && far < length;
    if (near && far < *least_far) {
        *least_far = far;
        *best = name;
    }
}

const char *tarn_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t least_far = SIZE_MAX;
    for (; *names; names++) tarn_nearer(word, *names, &best, &least_far);
    return best;
}
