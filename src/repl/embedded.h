/* embedded.h: the files of lua/ inside the program. Internal.
 *
 * The build writes embedded.c from the list in lua/local.mk (see tools/embed): one entry
 * for each file, in that order, then one whose name is NULL. */
#ifndef TARN_EMBEDDED_H
#define TARN_EMBEDDED_H

#include <stddef.h>

struct tarn_embedded {
    const char *name; /* of the file below lua/: "tour", "lab.show" */
    const unsigned char *bytes;
    size_t size;
};

extern const struct tarn_embedded tarn_embedded_lua[];

#endif
