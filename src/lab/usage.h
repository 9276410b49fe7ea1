/* usage.h: what a child uses of the machine while it runs. Internal. */
#ifndef TARN_LAB_USAGE_H
#define TARN_LAB_USAGE_H

#include <stdint.h>

struct tarn_usage {
    uint64_t memory;  /* bytes in use */
    uint64_t written; /* bytes, to files and else */
    unsigned processes;
};

/* Of a process and those it has started, some generations deep; whoever goes on
 * has too many. */
struct tarn_usage tarn_usage_of(long pid);

/* Bytes of the files below a folder. Too many files, or folders too deep, are UINT64_MAX. */
uint64_t tarn_usage_of_folder(const char *path);

#endif
