/* cell.h: the inside of a recurrent cell. Internal. */
#ifndef TARN_CELL_H
#define TARN_CELL_H

#include "call.h"

struct tarn_rnn {
    tarn_context *ctx;
    tarn_cell cell;              /* B and H as given: 0 where absent */
    int rank;                    /* of the sequences it reads: 2 to 4 */
    size_t B, H, C;              /* 1 where absent */
    uint64_t time;               /* tokens so far */
    size_t count;                /* of them in the partial sums */
    bool sound;                  /* the state is known to be finite */
    tarn_tensor *memory;         /* S [B H, C, M], z [B H, C], then both partial sums */
    struct tarn_features fq, fk; /* room kept from one step to the next */
    void *room;                  /* likewise */
    size_t room_bytes;
};

/* What is stepped through a cell, or a cache, of these sizes. */
struct tarn_sequence {
    const tarn_cell *cell;
    int rank;
    size_t B, H;
    const char *device;
    const tarn_tensor *q, *k, *v;
};

/* Opens a call in which q, k and v must fit a cell: `token` for one step. */
tarn_status tarn_cell_open(tarn_context *ctx, const char *function,
                           const struct tarn_sequence *sequence, bool token,
                           struct tarn_call *call);

/* A cell with zero state for sequences of a rank; B and H are 1 where absent. */
tarn_status tarn_cell_new(tarn_context *ctx, const char *function,
                          const tarn_cell *cell, int rank, size_t B, size_t H,
                          tarn_rnn **out);

/* A new zero cell that fits an opened call whose features are made, or a copy of the one
 * in its options. */
tarn_status tarn_cell_for(struct tarn_call *call, tarn_rnn **out);

/* Fails unless the state fits the call: sizes, type and feature map. */
tarn_status tarn_cell_check(const struct tarn_call *call, const tarn_rnn *st);

/* Moves a state to the device of a name. */
tarn_status tarn_cell_move(tarn_context *ctx, const char *function, tarn_rnn *st,
                           const char *device);

/* What the device of a state is called. */
const char *tarn_cell_device(const tarn_rnn *st);

/* tarn_rnn_set_state whose messages begin with `who`: "prefix: state." */
tarn_status tarn_cell_set_state(tarn_context *ctx, const char *who, tarn_rnn *st,
                                const tarn_tensor *S, const tarn_tensor *z);

/* Lets a call work on the state of st, in place. */
void tarn_cell_set_impl(tarn_rnn *st, const char *impl);
void tarn_cell_attach(struct tarn_call *call, tarn_rnn *st);

/* Notes that the call has moved st on by its N tokens. */
void tarn_cell_advance(const struct tarn_call *call, tarn_rnn *st);

#endif
