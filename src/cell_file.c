/* cell_file.c: a recurrent cell in a file, and back.
 *
 * One file is one cell: 128 bytes of header, then the state, all little-endian.
 *
 *       0  "TARNRNN\n"            40  H      64  C           88  eps (float64)
 *       8  version (u32)          48  D      72  time        96  name of phi, padded
 *      12  bytes an element, u32  56  M      80  payload         with zeros to 128
 *      16  rank (u32)                            bytes
 *      20  count (u32)
 *      24  (zero)     32  B       all others u64
 *
 * The payload is both levels of the sums, in the order of cell.c, so that a cell goes on
 * bit for bit where it was. Reading believes nothing: sizes are checked against each other
 * and against the file's length before memory is taken for them. */
#include "cell.h"
#include "core/file.h"
#include "core/tensor.h"
#include <string.h>

static const char magic[8] = {'T', 'A', 'R', 'N', 'R', 'N', 'N', '\n'};
enum { VERSION = 1, HEADER = 128, NAME_AT = 96 };

/* What a user's own map is called in a file: its function can't be stored. */
static const char user_map[] = "function";

static void put(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
    return value;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_header(const tarn_rnn *st, unsigned char *h)
{
    uint64_t eps;
    memcpy(&eps, &st->cell.eps, sizeof eps);
    memset(h, 0, HEADER);
    memcpy(h, magic, sizeof magic);
    put(h + 8, VERSION, 4);
    put(h + 12, tarn_dtype_size(st->cell.dtype), 4);
    put(h + 16, (uint64_t)st->rank, 4);
    put(h + 20, st->count, 4);
    put(h + 32, st->B, 8);
    put(h + 40, st->H, 8);
    put(h + 48, st->cell.D, 8);
    put(h + 56, st->cell.M, 8);
    put(h + 64, st->C, 8);
    put(h + 72, st->time, 8);
    put(h + 80, tarn_rnn_bytes(st), 8);
    put(h + 88, eps, 8);
    const char *name = st->cell.phi->apply ? user_map : st->cell.phi->name;
    memcpy(h + NAME_AT, name, strlen(name));
}

/* Writes the elements one by one, their lowest byte first whatever the machine's order. */
static tarn_status write_elements(tarn_context *ctx, struct tarn_writer *writer,
                                  const tarn_rnn *st)
{
    const size_t size = tarn_dtype_size(st->cell.dtype);
    tarn_tensor *memory = NULL;
    tarn_status status = tarn_host_rows(ctx, st->memory, &memory);
    const unsigned char *element = status ? NULL : tarn_tensor_data(memory);
    for (size_t i = 0; i < tarn_tensor_numel(st->memory) && !status;
         i++, element += size) {
        unsigned char bytes[8];
        uint32_t narrow;
        uint64_t bits;
        if (size == 4) {
            memcpy(&narrow, element, 4);
            bits = narrow;
        } else {
            memcpy(&bits, element, 8);
        }
        put(bytes, bits, size);
        status = tarn_writer_put(ctx, "rnn:save", writer, bytes, size);
    }
    tarn_tensor_free(memory);
    return status;
}

tarn_status tarn_rnn_save(tarn_context *ctx, const tarn_rnn *st, const char *path)
{
    struct tarn_writer writer;
    unsigned char header[HEADER];
    tarn_status status = tarn_writer_open(ctx, "rnn:save", path, &writer);
    if (status) return status;
    write_header(st, header);
    status = tarn_writer_put(ctx, "rnn:save", &writer, header, HEADER);
    if (!status) status = write_elements(ctx, &writer, st);
    const tarn_status closed = tarn_writer_close(ctx, "rnn:save", &writer, !status);
    return status ? status : closed;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* A file in memory, and what its header says. */
struct content {
    const char *path;
    const unsigned char *bytes;
    size_t size;
    uint64_t element, rank, count, B, H, D, M, C, time, payload;
    double eps;
    char phi[HEADER - NAME_AT + 1];
};

static tarn_status read_header(tarn_context *ctx, struct content *c)
{
    const unsigned char *h = c->bytes;
    if (c->size < HEADER)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "rnn.load: %s has %zu bytes, expected at least %d", c->path,
                         c->size, HEADER);
    if (memcmp(h, magic, sizeof magic) != 0)
        return tarn_fail(
            ctx, TARN_EFORMAT,
            "rnn.load: %s is not a saved state (it does not begin with TARNRNN)",
            c->path);
    if (get(h + 8, 4) != VERSION)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "rnn.load: %s has format version %llu, this tarn reads %d",
                         c->path, (unsigned long long)get(h + 8, 4), VERSION);
    c->element = get(h + 12, 4);
    c->rank = get(h + 16, 4);
    c->count = get(h + 20, 4);
    c->B = get(h + 32, 8);
    c->H = get(h + 40, 8);
    c->D = get(h + 48, 8);
    c->M = get(h + 56, 8);
    c->C = get(h + 64, 8);
    c->time = get(h + 72, 8);
    c->payload = get(h + 80, 8);
    const uint64_t eps = get(h + 88, 8);
    memcpy(&c->eps, &eps, sizeof eps);
    memcpy(c->phi, h + NAME_AT, HEADER - NAME_AT);
    c->phi[HEADER - NAME_AT] = '\0';
    return TARN_OK;
}

/* Sizes that make sense by themselves, and a payload of just the bytes they need. */
static tarn_status check_header(tarn_context *ctx, const struct content *c)
{
    size_t heads, head, count, bytes;
    const bool fits =
        tarn_product(c->B, c->H, &heads) && c->M < SIZE_MAX &&
        tarn_product(c->C, c->M + 1, &head) && tarn_product(heads, head, &count) &&
        tarn_product(count, 2, &count) && tarn_product(count, c->element, &bytes);
    if ((c->element != 4 && c->element != 8) || c->rank < 2 || c->rank > 4 ||
        c->count >= TARN_BLOCK || c->D == 0 || c->M == 0 || !(c->eps >= 0) ||
        (c->rank < 4 && c->B != 1) || (c->rank < 3 && c->H != 1))
        return tarn_fail(ctx, TARN_EFORMAT,
                         "rnn.load: %s has a header that makes no sense", c->path);
    if (!fits || bytes != c->payload)
        return tarn_fail(
            ctx, TARN_EFORMAT,
            "rnn.load: %s says %llu bytes of state, which do not fit its sizes "
            "B = %llu, H = %llu, C = %llu, M = %llu",
            c->path, (unsigned long long)c->payload, (unsigned long long)c->B,
            (unsigned long long)c->H, (unsigned long long)c->C,
            (unsigned long long)c->M);
    if (c->payload != c->size - HEADER)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "rnn.load: %s has %zu bytes of state, expected %llu", c->path,
                         c->size - HEADER, (unsigned long long)c->payload);
    return TARN_OK;
}

/* The map of a saved cell: the named one, or the user's own where a function was saved. */
static tarn_status find_phi(tarn_context *ctx, const struct content *c,
                            const tarn_phi *own, const tarn_phi **phi)
{
    *phi = strcmp(c->phi, user_map) == 0 ? own : tarn_phi_find(c->phi);
    if (*phi) return TARN_OK;
    if (strcmp(c->phi, user_map) == 0)
        return tarn_fail(ctx, TARN_EINVAL,
                         "rnn.load: the state in %s was made with a function as phi, "
                         "expected that function as the option phi",
                         c->path);
    return tarn_fail(ctx, TARN_EFORMAT,
                     "rnn.load: %s names a feature map \"%s\", unknown here", c->path,
                     c->phi);
}

static void read_elements(const struct content *c, tarn_rnn *st)
{
    const size_t size = (size_t)c->element;
    const unsigned char *from = c->bytes + HEADER;
    char *element = tarn_tensor_data(st->memory);
    st->sound = false;
    for (size_t i = 0; i < tarn_tensor_numel(st->memory);
         i++, from += size, element += size) {
        const uint64_t bits = get(from, size);
        const uint32_t narrow = (uint32_t)bits;
        if (size == 4)
            memcpy(element, &narrow, 4);
        else
            memcpy(element, &bits, 8);
    }
}

static tarn_status make_cell(tarn_context *ctx, const struct content *c,
                             const tarn_phi *phi, tarn_rnn **out)
{
    const tarn_cell cell = {.B = c->rank > 3 ? c->B : 0,
                            .H = c->rank > 2 ? c->H : 0,
                            .D = c->D,
                            .M = c->M,
                            .phi = phi,
                            .eps = c->eps,
                            .dtype = c->element == 4 ? TARN_FLOAT32 : TARN_FLOAT64};
    size_t C;
    tarn_status status =
        tarn_features_width(ctx, "rnn.load", phi, NULL, cell.dtype, c->D, &C);
    if (!status && C != c->C)
        return tarn_fail(
            ctx, TARN_EFORMAT,
            "rnn.load: %s has C = %llu features, but phi gives %zu for D = %llu",
            c->path, (unsigned long long)c->C, C, (unsigned long long)c->D);
    if (!status)
        status = tarn_cell_new(ctx, "rnn.load", &cell, (int)c->rank, c->B, c->H, out);
    return status;
}

tarn_status tarn_rnn_load(tarn_context *ctx, const char *path, const tarn_phi *own,
                          tarn_rnn **out)
{
    struct content c = {.path = path};
    unsigned char *bytes = NULL;
    const tarn_phi *phi = NULL;
    tarn_rnn *st = NULL;
    tarn_status status = tarn_file_read(ctx, "rnn.load", path, &bytes, &c.size);
    c.bytes = bytes;
    if (!status) status = read_header(ctx, &c);
    if (!status) status = check_header(ctx, &c);
    if (!status) status = find_phi(ctx, &c, own, &phi);
    if (!status) status = make_cell(ctx, &c, phi, &st);
    if (!status) {
        read_elements(&c, st);
        st->time = c.time;
        st->count = (size_t)c.count;
        *out = st;
    }
    tarn_release(bytes);
    return status;
}
