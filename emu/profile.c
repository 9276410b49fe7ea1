/* profile.c: how the accesses of a kernel fall on memory. Chapter 11.
 *
 * A warp reads or writes as one: a request. Shared memory has 32 banks of 4 bytes; lanes that
 * want different words of one bank wait for each other, each wait is a wavefront. Global memory
 * comes in sectors of 32 bytes; the fewer the lanes of a request touch, the better. Both are
 * counted here as the instrumented source has them, for each line, beside the least that the
 * same bytes would need.
 *
 * The lanes of a warp run one after the other, so that addresses are kept until the block ends;
 * then the i-th execution of an access by each lane makes one request. Lanes that take different
 * turns of a loop are lined up by their count, not by their time. nvcc may merge neighbouring
 * accesses of a thread into one of 8 or 16 bytes, which counts as it stands here. */
#include "emu/inside.h"
#include <stdlib.h>
#include <string.h>

enum { SITES = 1024, BANKS = 32, WORD = 4, SECTOR = 32 };

/* The requests of one warp at one place in the code, in one block. */
struct lineup {
    uintptr_t (*address)[TARN_EMU_WARP]; /* 0: the lane did not take part */
    unsigned count[TARN_EMU_WARP], longest, room;
};

/* One place in the code, and what all blocks so far have done there. */
struct site {
    const void *code;
    const char *kernel;
    bool shared, writes;
    unsigned bytes; /* of one lane's access */
    uint64_t requests, actual, least, shifted, moved;
    struct lineup *warps; /* [TARN_EMU_THREADS / TARN_EMU_WARP] */
};

static struct {
    bool on;
    size_t every, seen; /* each n-th block; blocks so far */
    struct site site[SITES];
    unsigned sites;
} profile;

bool tarn_emu_profiling(void)
{
    return profile.on;
}

/* ---- While a block runs ----------------------------------------------------------------------- */

static struct site *find_site(struct tarn_emu_worker *w, const void *code, bool shared,
                              bool writes, size_t bytes)
{
    const char *kernel = w->job->launch->kernel;
    size_t at = ((uintptr_t)code * 2 + writes) * 2654435761u % SITES;
    for (unsigned tries = 0; tries < SITES; tries++, at = (at + 1) % SITES) {
        struct site *s = &profile.site[at];
        if (s->code == code && s->kernel == kernel && s->shared == shared &&
            s->writes == writes)
            return s;
        if (s->code) continue;
        struct lineup *warps = calloc(TARN_EMU_THREADS / TARN_EMU_WARP, sizeof *warps);
        if (!warps) return NULL;
        *s = (struct site){.code = code,
                           .kernel = kernel,
                           .shared = shared,
                           .writes = writes,
                           .bytes = (unsigned)bytes,
                           .warps = warps};
        profile.sites++;
        return s;
    }
    return NULL;
}

static bool make_room(struct lineup *l)
{
    if (l->longest < l->room) return true;
    const unsigned room = l->room * 2 + 64;
    void *more = realloc(l->address, room * sizeof *l->address);
    if (!more) return false;
    l->address = more, l->room = room;
    return true;
}

static void note(struct tarn_emu_worker *w, void *address, size_t bytes, bool shared,
                 bool writes, const void *code)
{
    struct site *s = find_site(w, code, shared, writes, bytes);
    const unsigned index = w->running->index, lane = index % TARN_EMU_WARP;
    if (!s) return;
    struct lineup *l = &s->warps[index / TARN_EMU_WARP];
    const unsigned turn = l->count[lane];
    if (turn == l->longest) {
        if (!make_room(l)) return;
        memset(l->address[l->longest++], 0, sizeof *l->address);
    }
    l->address[turn][lane] = (uintptr_t)address;
    l->count[lane]++;
}

void tarn_profile_access(struct tarn_emu_worker *w, void *address, size_t bytes,
                         enum tarn_access access, const void *code)
{
    if (profile.seen % profile.every != 0) return;
    const struct tarn_emu_where at = tarn_emu_locate(w, address);
    const bool shared = at.kind == TARN_SHARED || at.kind == TARN_THREAD_LOCAL;
    if (!shared && at.kind != TARN_GLOBAL) return;
    if (access != TARN_WRITES && access != TARN_ATOMIC_STORE)
        note(w, address, bytes, shared, false, code);
    if (access != TARN_READS && access != TARN_LOOKS)
        note(w, address, bytes, shared, true, code);
}

/* ---- What a request costs ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* The different units (words, sectors) that accesses touch, sorted; how many. */
static unsigned units_of(const uintptr_t *address, unsigned lanes, unsigned bytes,
                         unsigned unit, uintptr_t *units)
{
    unsigned n = 0, different = 0;
    for (unsigned i = 0; i < lanes; i++) {
        if (!address[i]) continue;
        for (uintptr_t u = address[i] / unit; u <= (address[i] + bytes - 1) / unit; u++)
            units[n++] = u;
    }
    qsort(units, n, sizeof *units, by_value);
    for (unsigned i = 0; i < n; i++)
        if (i == 0 || units[i] != units[i - 1]) units[different++] = units[i];
    return different;
}

/* The most words that one bank has to give. */
static unsigned wavefronts(const uintptr_t *words, unsigned n)
{
    unsigned in_bank[BANKS] = {0}, most = 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned now = ++in_bank[words[i] % BANKS];
        if (now > most) most = now;
    }
    return most;
}

enum { MOST_BYTES = 64, MOST_UNITS = TARN_EMU_WARP * (MOST_BYTES / WORD + 1) };

/* Accesses of 8 bytes go by half warps, of 16 by quarters. */
static void count_shared(struct site *s, const uintptr_t *address)
{
    uintptr_t words[MOST_UNITS];
    const unsigned parts = s->bytes <= WORD ? 1 : s->bytes <= 2 * WORD ? 2 : 4;
    const unsigned lanes = TARN_EMU_WARP / parts;
    for (unsigned p = 0; p < parts; p++) {
        const unsigned n = units_of(address + p * lanes, lanes, s->bytes, WORD, words);
        s->actual += wavefronts(words, n);
        s->least += (n + BANKS - 1) / BANKS;
    }
}

/* Words side by side may still take a sector too many: where they begin within one. */
static void count_global(struct site *s, const uintptr_t *address)
{
    uintptr_t units[MOST_UNITS];
    const unsigned words = units_of(address, TARN_EMU_WARP, s->bytes, WORD, units);
    const bool side_by_side = words && units[words - 1] - units[0] == words - 1;
    const unsigned least = (words * WORD + SECTOR - 1) / SECTOR;
    const unsigned actual = units_of(address, TARN_EMU_WARP, s->bytes, SECTOR, units);
    s->least += least, s->actual += actual;
    if (side_by_side) s->shifted += actual - least;
}

static void count_request(struct site *s, const uintptr_t *address)
{
    s->requests++;
    for (unsigned i = 0; i < TARN_EMU_WARP; i++)
        if (address[i]) s->moved += s->bytes;
    if (s->shared)
        count_shared(s, address);
    else
        count_global(s, address);
}

/* Counts what a block has done, and makes room for the next. */
void tarn_profile_block(struct tarn_emu_worker *w)
{
    const unsigned warps = (w->threads + TARN_EMU_WARP - 1) / TARN_EMU_WARP;
    if (profile.seen++ % profile.every != 0) return;
    for (unsigned i = 0; i < SITES; i++) {
        struct site *s = &profile.site[i];
        for (unsigned j = 0; s->code && j < warps; j++) {
            struct lineup *l = &s->warps[j];
            for (unsigned r = 0; r < l->longest; r++) count_request(s, l->address[r]);
            memset(l->count, 0, sizeof l->count);
            l->longest = 0;
        }
    }
}

/* ---- From start to stop ----------------------------------------------------------------------------- */

void tarn_emu_profile_start(size_t every)
{
    profile.on = true;
    profile.every = every ? every : 1, profile.seen = 0;
}

static int by_place(const void *a, const void *b)
{
    const struct tarn_emu_row *x = a, *y = b;
    int order = strcmp(x->kernel, y->kernel);
    if (!order) order = strcmp(x->file, y->file);
    if (!order) order = (x->line > y->line) - (x->line < y->line);
    if (!order) order = x->shared - y->shared;
    if (!order) order = x->writes - y->writes;
    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Rows of the same line and kind become one. */
static size_t merge(struct tarn_emu_row *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct tarn_emu_row *last = kept ? &rows[kept - 1] : NULL;
        if (!last || by_place(last, &rows[i]) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
        last->requests += rows[i].requests, last->moved += rows[i].moved;
        last->actual += rows[i].actual, last->least += rows[i].least;
        last->shifted += rows[i].shifted;
    }
    return kept;
}

static size_t collect(struct tarn_emu_row *rows, struct tarn_emu_line *lines,
                      const void **code)
{
    size_t n = 0;
    for (unsigned i = 0; i < SITES; i++) {
        const struct site *s = &profile.site[i];
        if (!s->code || s->requests == 0) continue;
        code[n] = s->code;
        rows[n] = (struct tarn_emu_row){.shared = s->shared,
                                        .writes = s->writes,
                                        .bytes = s->bytes,
                                        .requests = s->requests,
                                        .actual = s->actual,
                                        .least = s->least,
                                        .shifted = s->shifted,
                                        .moved = s->moved};
        strncpy(rows[n++].kernel, s->kernel, sizeof rows[0].kernel - 1);
    }
    tarn_emu_lines(code, n, lines);
    for (size_t i = 0; i < n; i++) {
        memcpy(rows[i].file, lines[i].file, sizeof rows[i].file);
        rows[i].line = lines[i].line;
    }
    qsort(rows, n, sizeof *rows, by_place);
    return merge(rows, n);
}

static void clear(void)
{
    for (unsigned i = 0; i < SITES; i++) {
        struct site *s = &profile.site[i];
        for (unsigned j = 0; s->warps && j < TARN_EMU_THREADS / TARN_EMU_WARP; j++)
            free(s->warps[j].address);
        free(s->warps);
        *s = (struct site){0};
    }
    profile.sites = 0;
}

struct tarn_emu_row *tarn_emu_profile_stop(size_t *count)
{
    const size_t n = profile.sites ? profile.sites : 1;
    struct tarn_emu_row *rows = calloc(n, sizeof *rows);
    struct tarn_emu_line *lines = calloc(n, sizeof *lines);
    const void **code = calloc(n, sizeof *code);
    *count = rows && lines && code ? collect(rows, lines, code) : 0;
    free(lines), free(code);
    clear();
    profile.on = false;
    return rows;
}
