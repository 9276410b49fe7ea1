/* heap.c: the memory of the emulated device. Chapter 11.
 *
 * One range of addresses is reserved once; what lies in it is device memory, everything else
 * is the host's. An allocation ends at the end of a page (aligned to 16 bytes) and the page
 * behind it stays closed: the first access past the end of an array stops the kernel. A system
 * tells only so many open ranges apart (65,530 on Linux, and the program has its own), so past
 * 20,000 arrays the next ones join those before, without a closed page between. Fresh
 * memory is NaN. With tarn_emu_settings.locked the host can't touch device memory either,
 * which costs system calls: for tests. */
#include "emu/inside.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *heap;
static size_t heap_bytes;

/* Live allocations by address. */
static struct tarn_emu_allocation *list;
static size_t count, room;
static unsigned opened; /* kernels and copies under way */

static size_t pages(size_t bytes)
{
    return (bytes + TARN_EMU_PAGE - 1) & ~(size_t)(TARN_EMU_PAGE - 1);
}

/* The pages of an allocation, without the closed one. */
static char *first_page(const struct tarn_emu_allocation *a)
{
    return (char *)((uintptr_t)a->memory & ~(uintptr_t)(TARN_EMU_PAGE - 1));
}
static size_t length(const struct tarn_emu_allocation *a)
{
    return pages((size_t)(a->memory - first_page(a)) + (a->bytes ? a->bytes : 1));
}

/* As many addresses as the system gives, at most 2^40. */
static bool reserve(void)
{
    enum { MOST = 40, LEAST = 28 };
    for (int bits = MOST; !heap && bits >= LEAST; bits--) {
        void *got = mmap(NULL, (size_t)1 << bits, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got != MAP_FAILED) heap = got, heap_bytes = (size_t)1 << bits;
    }
    return heap != NULL;
}

static bool make_room(void)
{
    if (count < room) return true;
    const size_t more = room ? 2 * room : 64;
    struct tarn_emu_allocation *longer = realloc(list, more * sizeof *longer);
    if (longer) list = longer, room = more;
    return longer != NULL;
}

/* The first gap of so many bytes: its place in the list, and its address or NULL. */
static char *find_gap(size_t bytes, size_t *place)
{
    char *end = heap;
    for (*place = 0; *place < count; ++*place) {
        const struct tarn_emu_allocation *next = &list[*place];
        if ((size_t)(first_page(next) - end) >= bytes) return end;
        end = first_page(next) + length(next) + TARN_EMU_PAGE;
    }
    return (size_t)(heap + heap_bytes - end) >= bytes ? end : NULL;
}

/* NaN, but where that would claim memory that nobody may ever use. */
static void poison(char *memory, size_t bytes)
{
    const size_t most = (size_t)64 << 20;
    memset(memory, 0xff, bytes < most ? bytes : most);
}

enum { MOST_APART = 20000 };

/* Opens pages; when there are many arrays, with the closed page in front of them. */
static bool open_pages(char *first, size_t bytes)
{
    const size_t joint = count >= MOST_APART && first > heap ? TARN_EMU_PAGE : 0;
    return mprotect(first - joint, bytes + joint, PROT_READ | PROT_WRITE) == 0;
}

void *tarn_emu_alloc(size_t bytes)
{
    size_t place;
    const size_t full = (bytes + 15) & ~(size_t)15, whole = pages(full ? full : 16);
    if (bytes > PTRDIFF_MAX / 2 || (!heap && !reserve()) || !make_room()) return NULL;
    char *gap = find_gap(whole + TARN_EMU_PAGE, &place);
    if (!gap || !open_pages(gap, whole)) return NULL;
    char *memory = gap + whole - (full ? full : 16);
    memmove(list + place + 1, list + place, (count - place) * sizeof *list);
    list[place] = (struct tarn_emu_allocation){.memory = memory, .bytes = bytes};
    count++;
    poison(memory, bytes);
    if (tarn_emu_settings.locked && !opened) mprotect(gap, whole, PROT_NONE);
    return memory;
}

/* The place of the last allocation that begins at or below an address; count if none. */
static size_t at_or_below(const char *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].memory <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : count;
}

bool tarn_emu_in_heap(const void *address)
{
    const char *a = address;
    return heap && a >= heap && a < heap + heap_bytes;
}

struct tarn_emu_allocation *tarn_emu_find(const void *address)
{
    const char *a = address;
    const size_t i = tarn_emu_in_heap(a) ? at_or_below(a) : count;
    const bool inside = i < count && (size_t)(a - list[i].memory) < list[i].bytes;
    return inside ? &list[i] : NULL;
}

/* Gives pages back. They are mapped anew, not only closed: the system joins them with their
 * closed neighbours, where it would keep apart what was ever written, and it counts pieces. */
static void close_pages(char *first, size_t bytes)
{
    void *closed = mmap(first, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (closed == MAP_FAILED) mprotect(first, bytes, PROT_NONE);
}

void tarn_emu_free(void *memory)
{
    const size_t i = memory ? at_or_below(memory) : count;
    if (i == count || list[i].memory != memory) return;
    tarn_check_forget(&list[i]);
    char *first = first_page(&list[i]);
    const size_t bytes = length(&list[i]);
    close_pages(first, bytes);
    memmove(list + i, list + i + 1, (count - i - 1) * sizeof *list);
    count--;
}

/* Opens device memory for a kernel or a copy, or closes it behind the last of them. */
void tarn_emu_unlock(bool open)
{
    const bool first = open ? opened++ == 0 : --opened == 0;
    if (!tarn_emu_settings.locked || !first) return;
    for (size_t i = 0; i < count; i++)
        mprotect(first_page(&list[i]), length(&list[i]),
                 open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void tarn_emu_trust_all(void)
{
    for (size_t i = 0; i < count; i++) list[i].trusted = true;
}

void tarn_emu_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return;
    tarn_emu_unlock(true);
    memmove(to, from, bytes);
    tarn_check_copied(to, bytes);
    tarn_emu_unlock(false);
}

void tarn_emu_fill(void *to, int byte, size_t bytes)
{
    if (bytes == 0) return;
    tarn_emu_unlock(true);
    memset(to, byte, bytes);
    tarn_check_copied(to, bytes);
    tarn_emu_unlock(false);
}
