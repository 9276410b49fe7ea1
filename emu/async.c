/* async.c: cp.async, a copy from global to shared memory that goes on while its thread does.
 * Chapter 11.
 *
 * On a GPU it may arrive at any time until it is waited for; here it arrives as late as it may,
 * in the wait itself, and till then the place is NaN. So a kernel that does not wait gives a
 * wrong result each time, not now and then. */
#include "emu/inside.h"
#include <stdlib.h>
#include <string.h>

/* A new thread has no copies under way. */
void tarn_async_forget(struct tarn_fiber *f)
{
    f->pending_count = f->groups = 0;
}

static struct tarn_emu_pending *more_room(struct tarn_fiber *f)
{
    const unsigned room = f->pending_room * 2 + 16;
    struct tarn_emu_pending *more = realloc(f->pending, room * sizeof *more);
    if (!more) tarn_emu_blame(tarn_emu_worker, f->file, f->line, "out of memory");
    f->pending = more, f->pending_room = room;
    return more;
}

void tarn_emu_copy_async(void *to, const void *from, size_t bytes)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    struct tarn_fiber *f = w->running;
    const struct tarn_emu_pending copy = {to, from, bytes, f->groups,
                                          __builtin_return_address(0)};
    w->in_runtime = true;
    if (((uintptr_t)to | (uintptr_t)from) & (bytes - 1))
        tarn_emu_blame_code(w, copy.code,
                            "a cp.async of %zu bytes from %p to %p: both have to be "
                            "multiples of %zu",
                            bytes, from, to, bytes);
    if (tarn_emu_watch & TARN_WATCH_CHECK) tarn_check_copy(w, &copy);
    if (f->pending_count == f->pending_room) more_room(f);
    f->pending[f->pending_count++] = copy;
    w->in_runtime = false; /* a fault here is the kernel's */
    w->for_code = copy.code;
    memset(to, 0xff, bytes);
    w->for_code = NULL;
}

void tarn_emu_copy_commit(void)
{
    tarn_emu_worker->running->groups++;
}

/* Delivers all groups but the last `groups_left`. */
void tarn_emu_copy_wait(unsigned groups_left)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    struct tarn_fiber *f = w->running;
    unsigned kept = 0;
    for (unsigned i = 0; i < f->pending_count; i++) {
        const struct tarn_emu_pending *p = &f->pending[i];
        if (p->group + groups_left < f->groups) {
            w->for_code = p->code;
            memcpy(p->to, p->from, p->bytes);
            w->for_code = NULL;
            if (tarn_emu_watch & TARN_WATCH_CHECK) tarn_check_arrival(w, p);
        } else
            f->pending[kept++] = *p;
    }
    f->pending_count = kept;
}
