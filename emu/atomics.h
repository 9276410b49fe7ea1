/* atomics.h: what a thread does to one word of memory while no other can. Internal; chapter 11.
 *
 * Each is a call of hooks.c, where it counts as one access: by compare and exchange, as for
 * float on the first GPUs. They give what was there before. */
#ifndef TARN_EMU_ATOMICS_H
#define TARN_EMU_ATOMICS_H

#include "emu/emu.h"

namespace
{

/* Puts change(old) in the place of old. */
template <class T, class F> inline T update(T *where, F change)
{
    struct job {
        F change;
        T before;
    } mine = {change, T()};
    tarn_emu_atomic(
        where, sizeof(T),
        [](void *word, void *data) {
            job *j = static_cast<job *>(data);
            T *value = static_cast<T *>(word);
            j->before = *value;
            *value = j->change(*value);
        },
        &mine);
    return mine.before;
}

#define TARN_ATOMIC(name, T, result)                                                   \
    inline T name(T *where, T x)                                                       \
    {                                                                                  \
        return update(where, [x](T old) -> T { return (void)old, result; });           \
    }

#define TARN_ATOMICS_OF_INTEGERS(T)                                                    \
    TARN_ATOMIC(atomicAdd, T, old + x)                                                 \
    TARN_ATOMIC(atomicSub, T, old - x)                                                 \
    TARN_ATOMIC(atomicExch, T, x)                                                      \
    TARN_ATOMIC(atomicMin, T, old < x ? old : x)                                       \
    TARN_ATOMIC(atomicMax, T, old > x ? old : x)                                       \
    TARN_ATOMIC(atomicAnd, T, old &x)                                                  \
    TARN_ATOMIC(atomicOr, T, old | x)                                                  \
    TARN_ATOMIC(atomicXor, T, old ^ x)                                                 \
    inline T atomicCAS(T *where, T expected, T fresh)                                  \
    {                                                                                  \
        return update(where, [=](T old) { return old == expected ? fresh : old; });    \
    }

TARN_ATOMICS_OF_INTEGERS(int)
TARN_ATOMICS_OF_INTEGERS(unsigned)
TARN_ATOMICS_OF_INTEGERS(unsigned long long)
TARN_ATOMIC(atomicAdd, float, old + x)
TARN_ATOMIC(atomicAdd, double, old + x)
TARN_ATOMIC(atomicExch, float, x)

/* Counters that go round: up to x and then to 0, down to 0 and then to x. */
TARN_ATOMIC(atomicInc, unsigned, old >= x ? 0 : old + 1)
TARN_ATOMIC(atomicDec, unsigned, old == 0 || old > x ? x : old - 1)

#undef TARN_ATOMICS_OF_INTEGERS
#undef TARN_ATOMIC

} // namespace
#endif
