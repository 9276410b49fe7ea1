/* pass.h: one pass over the elements of several tensors, as a device is told of it. Internal.
 *
 * The counterpart of a walk (walk.h) without anything that only the host has, so that kernels
 * can take it as their argument; C and C++. */
#ifndef TARN_PASS_H
#define TARN_PASS_H

#include "tarn.h"

enum { TARN_PASS_OPERANDS = 4 };

/* What is done to each element: which entry of the tables in core/kernels.h. */
enum tarn_pass_kind {
    TARN_PASS_CONVERT,
    TARN_PASS_UNARY,
    TARN_PASS_BINARY,
    TARN_PASS_WHERE
};

/* Operand 0 is the output; strides in elements, 0 where an operand repeats. */
struct tarn_pass {
    const char *function; /* for messages */
    enum tarn_pass_kind kind;
    int op;              /* a tarn_unary_op, a tarn_binary_op */
    tarn_dtype from, to; /* differ only when converting */
    int rank, operands;
    size_t count, shape[TARN_MAX_RANK];
    void *base[TARN_PASS_OPERANDS];    /* NULL: the operand is a number */
    double number[TARN_PASS_OPERANDS]; /* then this one */
    ptrdiff_t stride[TARN_PASS_OPERANDS][TARN_MAX_RANK];
};

#endif
