/* check.c: is every access of a kernel allowed? Chapter 11.
 *
 * Instrumented kernels call hooks.c at each access, which asks here. For every two bytes of
 * shared and global memory there is a record of who wrote them last and who read them since.
 * An access is reported
 *
 *   - outside of the array that its address lies in or just behind, on the host's memory, on
 *     another thread's stack;
 *   - as uninitialised, if it reads what nobody has written: shared memory is fresh in every
 *     block, an array of the device until a kernel or a copy writes it;
 *   - as a race, if another thread has touched the same bytes, one of the two writes, they are
 *     not both atomic, and nothing orders them.
 *
 * Two threads of a block are ordered by a __syncthreads between them (the block's generation
 * counts these), two lanes of a warp also by __syncwarp: seen[t][l] is the number of the last
 * __syncwarp of lane l that thread t knows of, itself or through others. Shuffles and votes
 * order nothing. Blocks of one launch are never ordered. All of it is one thread of the
 * system's, so what is found does not depend on luck, only on the order of the settings.
 *
 * The limits: of the reads by several warps, or several blocks, two are kept. Blocks that
 * wait for each other through atomics are reported: kernels here do not. */
#include "emu/inside.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One access: by whom and when. */
struct mark {
    uint64_t block; /* launch and position in the grid; 0: never */
    const void *code;
    unsigned generation, epoch; /* __syncthreads and __syncwarp so far */
    unsigned thread;
    bool atomic;
};

enum { GRANULE = 2 };

/* What is known of two bytes. */
struct tarn_record {
    struct mark write;
    struct mark read;  /* the last */
    struct mark other; /* one by another warp or block than that */
    unsigned readers;  /* lanes of the last reader's warp, in this generation */
    bool written;      /* for good: by a kernel or the host */
    bool flying;       /* a cp.async to it has not been waited for */
};

static struct tarn_record *arena_records; /* of shared memory */
static struct tarn_record *tls_records;   /* of static __shared__ */
static size_t tls_room;
static const char *tls_of;
static unsigned seen[TARN_EMU_THREADS][TARN_EMU_WARP];

/* ---- Records ------------------------------------------------------------------------------ */

/* Pages that cost nothing until they are touched. */
static struct tarn_record *new_records(size_t bytes)
{
    const size_t count = bytes / GRANULE + 2;
    void *got = mmap(NULL, count * sizeof(struct tarn_record), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

void tarn_check_forget(struct tarn_emu_allocation *a)
{
    if (a->records)
        munmap(a->records, (a->bytes / GRANULE + 2) * sizeof(struct tarn_record));
    a->records = NULL;
}

static struct tarn_record *records_of_tls(const struct tarn_emu_module *m)
{
    if (tls_of == m->tls && tls_room == m->tls_bytes) return tls_records;
    free(tls_records);
    tls_records = calloc(m->tls_bytes / GRANULE + 2, sizeof *tls_records);
    tls_of = m->tls, tls_room = m->tls_bytes;
    return tls_records;
}

/* The records of the array that an address lies in; NULL where there is no memory for them. */
static struct tarn_record *records_at(const struct tarn_emu_worker *w,
                                      const struct tarn_emu_where *where)
{
    switch (where->kind) {
    case TARN_SHARED:
        if (!arena_records) arena_records = new_records(TARN_EMU_ARENA);
        return arena_records ? arena_records + (where->start - w->arena) / GRANULE
                             : NULL;
    case TARN_THREAD_LOCAL: return records_of_tls(&w->module);
    case TARN_GLOBAL:
        if (!where->allocation->records)
            where->allocation->records = new_records(where->bytes);
        return where->allocation->records;
    default: return NULL;
    }
}

/* ---- Who is ordered before whom -------------------------------------------------------------- */

enum { POSITION_BITS = 36 };

static uint64_t this_block(const struct tarn_emu_worker *w)
{
    return w->job->number << POSITION_BITS | w->block;
}

static bool this_launch(const struct tarn_emu_worker *w, const struct mark *m)
{
    return m->block >> POSITION_BITS == w->job->number;
}

static bool same_warp(unsigned a, unsigned b)
{
    return a / TARN_EMU_WARP == b / TARN_EMU_WARP;
}

/* Is an earlier access by a thread of this block ordered before what the running one does? */
static bool ordered(const struct tarn_emu_worker *w, const struct mark *m,
                    unsigned thread)
{
    const unsigned me = w->running->index;
    if (thread == me || m->generation != w->generation) return true;
    return same_warp(thread, me) && seen[me][thread % TARN_EMU_WARP] > m->epoch;
}

/* Can an earlier access clash with one by the running thread? */
static bool clashes(const struct tarn_emu_worker *w, const struct mark *m)
{
    if (m->block == this_block(w)) return !ordered(w, m, m->thread);
    return m->block && this_launch(w, m);
}

/* A lane of the last reader's warp that is not ordered before the running thread, or -1. */
static int unordered_reader(const struct tarn_emu_worker *w,
                            const struct tarn_record *r)
{
    const unsigned first = r->read.thread / TARN_EMU_WARP * TARN_EMU_WARP;
    for (unsigned lane = 0; lane < TARN_EMU_WARP; lane++)
        if (r->readers >> lane & 1 && !ordered(w, &r->read, first + lane))
            return (int)(first + lane);
    return -1;
}

void tarn_check_block(struct tarn_emu_worker *w)
{
    memset(seen, 0, w->threads * sizeof seen[0]);
}

/* __syncwarp number warp->epoch: each lane of the mask now knows what all of them knew. */
void tarn_check_syncwarp(struct tarn_emu_worker *w, unsigned warp, unsigned mask)
{
    unsigned(*of)[TARN_EMU_WARP] = &seen[warp * TARN_EMU_WARP];
    unsigned all[TARN_EMU_WARP] = {0};
    for (unsigned i = 0; i < TARN_EMU_WARP; i++) {
        if (!(mask >> i & 1)) continue;
        of[i][i] = w->warp[warp].epoch;
        for (unsigned l = 0; l < TARN_EMU_WARP; l++)
            if (of[i][l] > all[l]) all[l] = of[i][l];
    }
    for (unsigned i = 0; i < TARN_EMU_WARP; i++)
        if (mask >> i & 1) memcpy(of[i], all, sizeof all);
}

/* ---- Reports ----------------------------------------------------------------------------------- */

static const char *verb(enum tarn_access access)
{
    return access == TARN_READS || access == TARN_LOOKS ? "read" : "written";
}

/* "thread 3" of this block, or "thread 3 of block 7". */
static struct tarn_emu_sentence who(const struct tarn_emu_worker *w,
                                    const struct mark *m, unsigned thread)
{
    if (m->block == this_block(w)) return tarn_emu_say("thread %u", thread);
    const uint64_t position = m->block & (((uint64_t)1 << POSITION_BITS) - 1);
    return tarn_emu_say("thread %u of block %llu", thread,
                        (unsigned long long)position);
}

static void report_race(struct tarn_emu_worker *w, const struct mark *m,
                        unsigned thread, const char *did, enum tarn_access access,
                        const void *code)
{
    const bool between = m->block != this_block(w);
    const char *missing = between ? "blocks of one launch are not ordered"
                          : same_warp(thread, w->running->index)
                              ? "no __syncwarp or __syncthreads is between them"
                              : "no __syncthreads is between them";
    struct tarn_emu_line line;
    tarn_emu_lines(&m->code, 1, &line);
    const struct tarn_emu_sentence at =
        line.line ? tarn_emu_say(" at %s:%d", line.file, line.line)
                  : tarn_emu_say("%s", "");
    tarn_emu_blame_code(w, code, "race: what %s has %s%s is %s here, and %s",
                        who(w, m, thread).text, did, at.text, verb(access), missing);
}

/* ---- One access ---------------------------------------------------------------------------------- */

static struct mark mark_now(const struct tarn_emu_worker *w, bool atomic,
                            const void *code)
{
    const struct tarn_fiber *f = w->running;
    return (struct mark){this_block(w), code,
                         w->generation, w->warp[f->index / TARN_EMU_WARP].epoch,
                         f->index,      atomic};
}

static void note_read(const struct tarn_emu_worker *w, struct tarn_record *r,
                      const void *code)
{
    const struct mark now = mark_now(w, false, code);
    const unsigned lane = 1u << (now.thread % TARN_EMU_WARP);
    const bool in_block = r->read.block == now.block;
    const bool in_generation = in_block && r->read.generation == now.generation;
    const bool in_warp = in_generation && same_warp(r->read.thread, now.thread);
    const bool keep_other = this_launch(w, &r->other) && r->other.block != now.block;
    if (in_warp && unordered_reader(w, r) >= 0) {
        r->readers |= lane;
        return;
    }
    if (!in_warp && (in_generation || (!in_block && this_launch(w, &r->read))) &&
        !keep_other)
        r->other = r->read;
    r->read = now, r->readers = lane;
}

static void check_order(struct tarn_emu_worker *w, struct tarn_record *r,
                        enum tarn_access access, const void *code)
{
    const bool atomic = access >= TARN_LOOKS;
    if (clashes(w, &r->write) && !(atomic && r->write.atomic))
        report_race(w, &r->write, r->write.thread, "written", access, code);
    if (access == TARN_READS || access == TARN_LOOKS) return;
    if (clashes(w, &r->other))
        report_race(w, &r->other, r->other.thread, "read", access, code);
    if (r->read.block != this_block(w)) {
        if (clashes(w, &r->read))
            report_race(w, &r->read, r->read.thread, "read", access, code);
        return;
    }
    const int reader = unordered_reader(w, r);
    if (reader >= 0) report_race(w, &r->read, (unsigned)reader, "read", access, code);
}

static bool is_written(const struct tarn_emu_worker *w,
                       const struct tarn_emu_where *where, const struct tarn_record *r)
{
    if (where->kind != TARN_GLOBAL) return r->write.block == this_block(w);
    return r->written || where->allocation->trusted;
}

static void check_record(struct tarn_emu_worker *w, const struct tarn_emu_where *where,
                         struct tarn_record *r, enum tarn_access access,
                         const void *code)
{
    const bool reads = access != TARN_WRITES && access != TARN_ATOMIC_STORE;
    const bool fresh = where->kind != TARN_GLOBAL && r->write.block != this_block(w);
    if (fresh) memset(r, 0, sizeof *r); /* shared memory lives as long as its block */
    if (reads && r->flying)
        tarn_emu_blame_code(
            w, code,
            "reads what a cp.async has not brought yet: no cp_wait is between them");
    check_order(w, r, access, code);
    if (reads && !is_written(w, where, r))
        tarn_emu_blame_code(w, code, "reads %s memory that nobody has written yet",
                            where->kind == TARN_GLOBAL ? "global" : "shared");
    if (access == TARN_READS || access == TARN_CHANGES) note_read(w, r, code);
    if (access == TARN_READS || access == TARN_LOOKS) return;
    r->write = mark_now(w, access >= TARN_LOOKS, code);
    r->written = true, r->flying = false;
}

/* The first and the last record of an access. */
static size_t first_granule(const struct tarn_emu_where *where, const void *address)
{
    return (size_t)((const char *)address - where->start) / GRANULE;
}

static void check_place(struct tarn_emu_worker *w, const struct tarn_emu_where *where,
                        const void *address, enum tarn_access access, const void *code)
{
    const bool writes = access != TARN_READS && access != TARN_LOOKS;
    const bool readable = where->kind == TARN_GIVEN || where->kind == TARN_PROGRAM;
    if (readable && !writes) return;
    if (tarn_emu_is_variable_of_device(w, address)) return;
    tarn_emu_blame_code(w, code, "%s", tarn_emu_wrong_address(w, address).text);
}

void tarn_check_access(struct tarn_emu_worker *w, void *address, size_t bytes,
                       enum tarn_access access, const void *code)
{
    const struct tarn_emu_where where = tarn_emu_locate(w, address);
    if (where.kind == TARN_LOCAL || bytes == 0) return;
    if (!where.start || !tarn_emu_inside(&where, address, bytes)) {
        const char *last = (const char *)address + bytes - 1;
        const bool begins = where.start && tarn_emu_inside(&where, address, 1);
        check_place(w, &where, begins ? last : address, access, code);
        return;
    }
    struct tarn_record *r = records_at(w, &where);
    if (!r) tarn_emu_blame_code(w, code, "no memory is left to check accesses with");
    const size_t end = first_granule(&where, (char *)address + bytes - 1);
    for (size_t i = first_granule(&where, address); i <= end; i++)
        check_record(w, &where, &r[i], access, code);
}

/* ---- cp.async, and the host --------------------------------------------------------------------- */

static void set_flying(struct tarn_emu_worker *w, void *address, size_t bytes)
{
    const struct tarn_emu_where where = tarn_emu_locate(w, address);
    struct tarn_record *r = records_at(w, &where);
    const size_t end = first_granule(&where, (char *)address + bytes - 1);
    for (size_t i = first_granule(&where, address); r && i <= end; i++)
        r[i].flying = true;
}

void tarn_check_copy(struct tarn_emu_worker *w, const struct tarn_emu_pending *p)
{
    tarn_check_access(w, (void *)(uintptr_t)p->from, p->bytes, TARN_READS, p->code);
    tarn_check_access(w, p->to, p->bytes, TARN_WRITES, p->code);
    set_flying(w, p->to, p->bytes);
}

void tarn_check_arrival(struct tarn_emu_worker *w, const struct tarn_emu_pending *p)
{
    tarn_check_access(w, p->to, p->bytes, TARN_WRITES, p->code);
}

void tarn_check_copied(void *to, size_t bytes)
{
    struct tarn_emu_allocation *a = tarn_emu_find(to);
    if (!a || bytes == 0) return;
    if (!tarn_emu_settings.check) a->trusted = true;
    if (a->trusted) return;
    if (!a->records) a->records = new_records(a->bytes);
    const size_t offset = (size_t)((char *)to - a->memory);
    for (size_t i = offset / GRANULE; a->records && i <= (offset + bytes - 1) / GRANULE;
         i++)
        a->records[i].written = true, a->records[i].write.block = 0;
}
