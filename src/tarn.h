/* tarn.h: the public C interface of tarn (Transformers Are RNNs), in reading order.
 *
 *   1. status and context      errors are values; everything that lasts lives in a context
 *   2. tensors                 strided arrays of float32 or float64
 *   3. operations on tensors   elementwise, reductions, matrix products
 *   4. files                   .npy, IDX, PNG
 *   5. feature maps            stage 0: phi
 *   6. attention               the four stages: sim, assoc, prefix, rnn (and the cache kv)
 *   7. comparison              equiv, gradcheck
 *
 * Letters, here and in every message: B batch, H heads, N sequence length, D width of
 * queries and keys, M width of values, C width of features, L length of a chunk.
 * Arrays are row-major [B, H, N, D]; a tensor of rank 2 is [N, D], of rank 3 [H, N, D].
 * Equation numbers are those of Katharopoulos et al., ICML 2020.
 *
 * Contract of every function that returns a tarn_status:
 *   - TARN_OK, or an error whose message tarn_error(ctx) gives; nothing is printed and
 *     nothing exits. After an error the outputs are untouched, nothing leaks.
 *   - A tensor handed out through `tarn_tensor **out` belongs to the caller, who ends it
 *     with tarn_tensor_free. Inputs are never changed unless the sentence says so.
 *   - Besides the errors listed, any of them may return TARN_ENOMEM and, where the work
 *     grows with the data, TARN_EINTR after tarn_interrupt.
 *
 * The interface is one file, longer than any other here, since it is read as one manual.
 *
 * Each function carries the same block: one sentence, then shapes, math, cost, errors
 * and aliasing. These blocks are the reference that help() shows. */
#ifndef TARN_H
#define TARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define TARN_API __attribute__((visibility("default")))
#else
#define TARN_API
#endif

/* ---- 1. Status and context ------------------------------------------------------ */

typedef enum tarn_status {
    TARN_OK = 0,
    TARN_EINVAL,  /* an argument's value is out of its range */
    TARN_ESHAPE,  /* shapes that do not fit together */
    TARN_EDTYPE,  /* an element type that the function does not take */
    TARN_ENOMEM,  /* out of memory, or a size that no memory could hold */
    TARN_EIO,     /* the system could not open, read or write a file */
    TARN_EFORMAT, /* a file's content is not what its format promises */
    TARN_EDEVICE, /* a backend that is not there, or can't do this */
    TARN_ERANGE,  /* finite inputs whose result the element type can't hold */
    TARN_EINTR,   /* stopped by tarn_interrupt */
    TARN_EUSER    /* a function of the user's failed; the message is his */
} tarn_status;

/* Everything that lasts between calls: threads, seed, interrupt flag, last message.
 * One context serves one thread at a time; tarn_interrupt alone may come from any. */
typedef struct tarn_context tarn_context;

/* Makes a context with one thread per processor and a fixed seed.
 * shapes: none  math: none  cost: O(1)  errors: TARN_ENOMEM  aliasing: none */
TARN_API tarn_status tarn_context_new(tarn_context **ctx);

/* Ends a context; its tensors must have been freed before. NULL is allowed.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_context_free(tarn_context *ctx);

/* Gives the message of the last error, "" if there was none; valid until the next call.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: points into ctx */
TARN_API const char *tarn_error(const tarn_context *ctx);

/* Fails with the caller's own message: for user functions called back by tarn.
 * shapes: none  math: none  cost: O(1)  errors: returns `status`  aliasing: none */
TARN_API tarn_status tarn_raise(tarn_context *ctx, tarn_status status,
                                const char *message);

/* Gives a status in words, such as "shapes do not fit together".
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: a constant */
TARN_API const char *tarn_status_text(tarn_status status);

/* Gives the version of the library, such as "0.1.0".
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: a constant */
TARN_API const char *tarn_version(void);

/* Asks the running function to stop; safe in a signal handler and in any thread.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none
 * note: the request stays until tarn_clear_interrupt: a retry stops at once as well. */
TARN_API void tarn_interrupt(tarn_context *ctx);

/* Takes the request to stop back.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_clear_interrupt(tarn_context *ctx);

/* Tells whether a request to stop is standing.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API bool tarn_interrupted(const tarn_context *ctx);

/* Sets the number of threads, 1 to 1024; results do not depend on it.
 * shapes: none  math: none  cost: O(1)  errors: TARN_EINVAL  aliasing: none */
TARN_API tarn_status tarn_set_threads(tarn_context *ctx, int threads);

/* Gives the number of threads.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API int tarn_threads(const tarn_context *ctx);

/* Restarts the session's random numbers from a seed.
 * shapes: none  math: Philox 4x32-10 in counter mode  cost: O(1)  errors: none
 * aliasing: none */
TARN_API void tarn_seed(tarn_context *ctx, uint64_t seed);

/* Gives the bytes that live tensors and states of this context hold.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API size_t tarn_bytes(const tarn_context *ctx);

/* Names a function that is asked to free memory before an allocation is given up.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_on_pressure(tarn_context *ctx, void (*collect)(void *), void *data);

/* Names a function that hears what is no error but worth knowing, such as that a slower
 * kernel runs than the one that was asked for: one sentence, once for each subject.
 * shapes: none  math: none  cost: O(1)  errors: none
 * aliasing: the text is valid during the call */
TARN_API void tarn_on_note(tarn_context *ctx,
                           void (*note)(void *data, const char *text), void *data);

/* ---- 2. Tensors ----------------------------------------------------------------- */

enum { TARN_MAX_RANK = 8 };

typedef enum tarn_dtype { TARN_FLOAT32, TARN_FLOAT64 } tarn_dtype;

/* A strided view of reference-counted storage. Several tensors may share one storage. */
typedef struct tarn_tensor tarn_tensor;

/* Makes a contiguous tensor whose elements are not set.
 * shapes: any, rank 0 to 8, extents may be 0
 * math: none  cost: O(1)  errors: TARN_EINVAL (rank), TARN_ENOMEM (also on overflow)
 * aliasing: fresh storage */
TARN_API tarn_status tarn_tensor_new(tarn_context *ctx, tarn_dtype dtype, int rank,
                                     const size_t *shape, tarn_tensor **out);

/* Ends a tensor; the storage goes with its last tensor. NULL is allowed.
 * shapes: any  math: none  cost: O(1)  errors: none  aliasing: other views stay valid */
TARN_API void tarn_tensor_free(tarn_tensor *t);

/* Give type, rank, extents, strides (in elements), number of elements and first element.
 * shapes: any  math: none  cost: O(rank)  errors: none
 * aliasing: the pointers are valid as long as t is */
TARN_API tarn_dtype tarn_tensor_dtype(const tarn_tensor *t);
TARN_API int tarn_tensor_rank(const tarn_tensor *t);
TARN_API const size_t *tarn_tensor_shape(const tarn_tensor *t);
TARN_API const ptrdiff_t *tarn_tensor_strides(const tarn_tensor *t);
TARN_API size_t tarn_tensor_numel(const tarn_tensor *t);
TARN_API void *tarn_tensor_data(const tarn_tensor *t);

/* Says where the elements lie: "cpu", "emu" or "cuda:0".
 * shapes: any  math: none  cost: O(1)  errors: none
 * aliasing: a constant; the address of an element on "cuda:0" is no address of the host's */
TARN_API const char *tarn_tensor_device(const tarn_tensor *t);

/* Makes a contiguous copy of t on a device, "cpu", "emu" or "cuda".
 * shapes: any  math: none  cost: O(numel)
 * errors: TARN_EDEVICE (no such device, or it can't be used: the message says why)
 * aliasing: fresh storage, also where t is on that device already */
TARN_API tarn_status tarn_to(tarn_context *ctx, const tarn_tensor *t,
                             const char *device, tarn_tensor **out);

/* Tells whether the elements lie in row-major order without gaps.
 * shapes: any  math: none  cost: O(rank)  errors: none  aliasing: none */
TARN_API bool tarn_tensor_is_contiguous(const tarn_tensor *t);

/* Reads or writes one element, converted from or to double; `index` has rank entries.
 * shapes: any  math: none  cost: O(rank)  errors: TARN_EINVAL (an index out of range)
 * aliasing: set writes through to the storage */
TARN_API tarn_status tarn_tensor_get(tarn_context *ctx, const tarn_tensor *t,
                                     const size_t *index, double *value);
TARN_API tarn_status tarn_tensor_set(tarn_context *ctx, tarn_tensor *t,
                                     const size_t *index, double value);

/* Sets every element to one number, in place.
 * shapes: any  math: none  cost: O(numel)  errors: none
 * aliasing: writes through to the storage; an interrupted fill leaves t partly written */
TARN_API tarn_status tarn_fill(tarn_context *ctx, tarn_tensor *t, double value);

/* Copies `src` into `dst`, converting the type and broadcasting the shape.
 * shapes: src broadcasts to the shape of dst
 * math: none  cost: O(numel)  errors: TARN_ESHAPE
 * aliasing: dst and src may overlap; the result is as if src had been copied first; an
 *       interrupted copy leaves dst partly written */
TARN_API tarn_status tarn_copy(tarn_context *ctx, tarn_tensor *dst,
                               const tarn_tensor *src);

/* Makes a contiguous copy, of the same or of another type.
 * shapes: any  math: none  cost: O(numel)  errors: none  aliasing: fresh storage */
TARN_API tarn_status tarn_clone(tarn_context *ctx, const tarn_tensor *t,
                                tarn_dtype dtype, tarn_tensor **out);

/* Gives another handle on t if it is contiguous, a contiguous copy if not.
 * shapes: any  math: none  cost: O(1) or O(numel)  errors: none
 * aliasing: may share the storage of t */
TARN_API tarn_status tarn_contiguous(tarn_context *ctx, const tarn_tensor *t,
                                     tarn_tensor **out);

/* Makes a view of `length` positions of one dimension: start, start + step, ...
 * shapes: [.., n, ..] -> [.., length, ..]; step may be negative
 * math: none  cost: O(1)  errors: TARN_EINVAL (dimension or range)  aliasing: a view */
TARN_API tarn_status tarn_narrow(tarn_context *ctx, const tarn_tensor *t, int dim,
                                 size_t start, size_t length, ptrdiff_t step,
                                 tarn_tensor **out);

/* Makes a view of one position of a dimension, which goes away.
 * shapes: [.., n, ..] -> [.., ..]
 * math: none  cost: O(1)  errors: TARN_EINVAL (dimension or position)  aliasing: a view */
TARN_API tarn_status tarn_select(tarn_context *ctx, const tarn_tensor *t, int dim,
                                 size_t position, tarn_tensor **out);

/* Makes a view whose dimensions stand in another order: out dim i is t's order[i].
 * shapes: a permutation of the extents
 * math: none  cost: O(1)  errors: TARN_EINVAL (not a permutation)  aliasing: a view */
TARN_API tarn_status tarn_permute(tarn_context *ctx, const tarn_tensor *t,
                                  const int *order, tarn_tensor **out);

/* Gives the same elements in row-major order under another shape.
 * shapes: as many elements as t has
 * math: none  cost: O(1) where strides allow a view, else O(numel)
 * errors: TARN_ESHAPE  aliasing: a view where possible, else fresh storage */
TARN_API tarn_status tarn_reshape(tarn_context *ctx, const tarn_tensor *t, int rank,
                                  const size_t *shape, tarn_tensor **out);

/* Makes a view in which extents of 1, and missing leading ones, repeat.
 * shapes: t broadcasts to `shape`
 * math: none  cost: O(1)  errors: TARN_ESHAPE  aliasing: a view, many indices one element */
TARN_API tarn_status tarn_expand(tarn_context *ctx, const tarn_tensor *t, int rank,
                                 const size_t *shape, tarn_tensor **out);

/* ---- 3. Operations on tensors --------------------------------------------------- */

/* float32 with float64 gives float64. Broadcasting is NumPy's: aligned at the last
 * dimension, an extent of 1 repeats. NaN and Inf go where mathematics sends them. */

typedef enum tarn_unary_op {
    TARN_NEG,
    TARN_EXP,
    TARN_LOG,
    TARN_SQRT,
    TARN_ABS,
    TARN_TANH,
    TARN_SIGMOID,
    TARN_RELU,
    TARN_ELU
} tarn_unary_op;

typedef enum tarn_binary_op {
    TARN_ADD,
    TARN_SUB,
    TARN_MUL,
    TARN_DIV,
    TARN_POW,
    TARN_MINIMUM,
    TARN_MAXIMUM,
    TARN_EQ,
    TARN_LT,
    TARN_LE,
    TARN_GT,
    TARN_GE
} tarn_binary_op;

typedef enum tarn_reduce_op {
    TARN_SUM,
    TARN_MEAN,
    TARN_MAX,
    TARN_MIN,
    TARN_ARGMAX,
    TARN_ARGMIN,
    TARN_NORM
} tarn_reduce_op;

/* Applies a function to each element.
 * shapes: out as t
 * math: elu(x) = x for x > 0, exp(x) - 1 otherwise; sigmoid(x) = 1 / (1 + exp(-x))
 * cost: O(numel)  errors: TARN_EINVAL (op)  aliasing: fresh storage */
TARN_API tarn_status tarn_unary(tarn_context *ctx, tarn_unary_op op,
                                const tarn_tensor *t, tarn_tensor **out);

/* Combines two tensors element by element; comparisons give 0 or 1.
 * shapes: a and b broadcast together
 * math: minimum and maximum of NaN and a number are NaN
 * cost: O(numel of out)  errors: TARN_ESHAPE, TARN_EINVAL (op)  aliasing: fresh storage */
TARN_API tarn_status tarn_binary(tarn_context *ctx, tarn_binary_op op,
                                 const tarn_tensor *a, const tarn_tensor *b,
                                 tarn_tensor **out);

/* Combines a tensor with a number, on the side that `number_first` tells.
 * shapes: out as t, also its dtype
 * math: as tarn_binary  cost: O(numel)  errors: TARN_EINVAL (op)  aliasing: fresh storage */
TARN_API tarn_status tarn_binary_number(tarn_context *ctx, tarn_binary_op op,
                                        const tarn_tensor *t, double number,
                                        bool number_first, tarn_tensor **out);

/* Takes from a where mask is not 0 and from b where it is.
 * shapes: mask, a and b broadcast together
 * math: out = mask ? a : b  cost: O(numel of out)  errors: TARN_ESHAPE
 * aliasing: fresh storage */
TARN_API tarn_status tarn_where(tarn_context *ctx, const tarn_tensor *mask,
                                const tarn_tensor *a, const tarn_tensor *b,
                                tarn_tensor **out);

/* Folds one dimension, or with dim = TARN_ALL every one, into a single number.
 * shapes: the dimension goes away, or stays with extent 1 if `keep`
 * math: sums are accumulated in double; norm is the square root of the sum of squares,
 *       scaled against overflow; argmax gives 0-based positions, the first of equals,
 *       as float64, which holds them all; max and min of a row with NaN are NaN,
 *       argmax and argmin its position; the mean of no elements is NaN
 * cost: O(numel)  errors: TARN_EINVAL (dimension; max, min, argmax of no elements)
 * aliasing: fresh storage */
#define TARN_ALL (-1)
TARN_API tarn_status tarn_reduce(tarn_context *ctx, tarn_reduce_op op,
                                 const tarn_tensor *t, int dim, bool keep,
                                 tarn_tensor **out);

/* Turns the slices along one dimension into weights that sum to 1.
 * shapes: out as t
 * math: exp(x_i - max) / sum_j exp(x_j - max)  cost: O(numel)
 * errors: TARN_EINVAL (dimension)  aliasing: fresh storage */
TARN_API tarn_status tarn_softmax(tarn_context *ctx, const tarn_tensor *t, int dim,
                                  tarn_tensor **out);

/* Sums along one dimension, keeping each partial sum (accumulated in double).
 * shapes: out as t
 * math: out_i = sum_{j<=i} x_j  cost: O(numel)  errors: TARN_EINVAL (dimension)
 * aliasing: fresh storage */
TARN_API tarn_status tarn_cumsum(tarn_context *ctx, const tarn_tensor *t, int dim,
                                 tarn_tensor **out);

/* Multiplies matrices, batched over leading dimensions, which broadcast.
 * shapes: [.., n, k] x [.., k, m] -> [.., n, m]; a vector is a row on the left, a column
 *         on the right, and its extra dimension goes away
 * math: out_ij = sum_l a_il b_lj  cost: 2 n k m flops per matrix  errors: TARN_ESHAPE
 * aliasing: fresh storage */
TARN_API tarn_status tarn_mm(tarn_context *ctx, const tarn_tensor *a,
                             const tarn_tensor *b, tarn_tensor **out);

/* Joins tensors along a dimension in which alone they may differ.
 * shapes: [.., n_1, ..], [.., n_2, ..], .. -> [.., n_1 + n_2 + .., ..]
 * math: none  cost: O(numel of out)  errors: TARN_ESHAPE, TARN_EINVAL (dimension, count 0)
 * aliasing: fresh storage */
TARN_API tarn_status tarn_cat(tarn_context *ctx, const tarn_tensor *const *parts,
                              size_t count, int dim, tarn_tensor **out);

/* Picks positions (0-based) of one dimension, in the order and as often as listed.
 * shapes: [.., n, ..] -> [.., count, ..]
 * math: none  cost: O(numel of out)  errors: TARN_EINVAL (dimension or position)
 * aliasing: fresh storage */
TARN_API tarn_status tarn_index(tarn_context *ctx, const tarn_tensor *t, int dim,
                                const size_t *positions, size_t count,
                                tarn_tensor **out);

/* Gives the largest |a - b| and where it is (row-major position after broadcasting).
 * shapes: a and b broadcast together
 * math: NaN on one side only, or infinities of other sign, count as Inf; equal
 *       infinities and NaN on both sides count as 0
 * cost: O(numel)  errors: TARN_ESHAPE  aliasing: none; `where` may be NULL */
TARN_API tarn_status tarn_maxdiff(tarn_context *ctx, const tarn_tensor *a,
                                  const tarn_tensor *b, double *diff, size_t *where);

/* Tells whether a and b agree within a tolerance everywhere; NaN never does.
 * shapes: a and b broadcast together
 * math: |a - b| <= atol + rtol |b|; infinities must be equal  cost: O(numel)
 * errors: TARN_ESHAPE, TARN_EINVAL (negative tolerance)  aliasing: none */
TARN_API tarn_status tarn_allclose(tarn_context *ctx, const tarn_tensor *a,
                                   const tarn_tensor *b, double rtol, double atol,
                                   bool *close);

typedef enum tarn_distribution { TARN_UNIFORM, TARN_NORMAL } tarn_distribution;

/* Makes a tensor of random numbers, from `*seed` or, if NULL, from the session's stream.
 * shapes: any
 * math: Philox 4x32-10; uniform in [0, 1), or normal by Box-Muller computed in double;
 *       element i of a seed is the same on every platform and for every thread count
 * cost: O(numel)  errors: TARN_EINVAL (rank)  aliasing: fresh storage */
TARN_API tarn_status tarn_random(tarn_context *ctx, tarn_distribution distribution,
                                 const uint64_t *seed, tarn_dtype dtype, int rank,
                                 const size_t *shape, tarn_tensor **out);

/* ---- 4. Files -------------------------------------------------------------------- */

/* Reads a .npy (versions 1 to 3), IDX or gzipped IDX file, known by its content.
 * shapes: as stored; Fortran order is turned into row-major
 * math: float64 and integers that float32 cannot hold become float64, others float32;
 *       a value that float64 cannot hold exactly is refused, never rounded
 * cost: O(file)  errors: TARN_EIO, TARN_EFORMAT (names descr, counts, what is supported)
 * aliasing: fresh storage; a hostile header costs O(1) memory */
TARN_API tarn_status tarn_read(tarn_context *ctx, const char *path, tarn_tensor **out);

/* Writes a .npy file of version 1.0 through a temporary file that is then renamed.
 * shapes: any  math: none  cost: O(numel)  errors: TARN_EIO; the old file then stays
 * aliasing: none */
TARN_API tarn_status tarn_save(tarn_context *ctx, const tarn_tensor *t,
                               const char *path);

/* Writes a PNG image, grey from [h, w], colour from [h, w, 3], of values 0 to 1.
 * shapes: [h, w] or [h, w, 3], h and w at least 1
 * math: values outside 0..1 are clamped, NaN is black  cost: O(numel)
 * errors: TARN_ESHAPE, TARN_EIO, TARN_EDEVICE (built without libpng)  aliasing: none */
TARN_API tarn_status tarn_imwrite(tarn_context *ctx, const tarn_tensor *t,
                                  const char *path);

/* ---- 5. Feature maps: stage 0 ---------------------------------------------------- */

/* A feature map phi: R^D -> R^C, applied to each row. A built-in one comes from
 * tarn_phi_find; a user's own has `apply` (and, for gradients, `grad`) set. Both get
 * contiguous tensors [R, D] and hand out fresh contiguous ones. */
typedef struct tarn_phi {
    const char *name;       /* "elu1" */
    const char *equation;   /* "x + 1 if x > 0, exp(x) otherwise" */
    const char *width;      /* C as a function of D: "D", "D (D + 1) / 2" */
    const char *positivity; /* "positive", "non-negative", "any sign" */
    const char *derivative; /* "1 if x > 0, exp(x) otherwise" */
    int builtin; /* position in the table of built-in maps, -1 for a user's */
    tarn_status (*apply)(tarn_context *ctx, void *user, const tarn_tensor *x,
                         tarn_tensor **features);
    tarn_status (*grad)(tarn_context *ctx, void *user, const tarn_tensor *x,
                        const tarn_tensor *dfeatures, tarn_tensor **dx);
    void *user;
} tarn_phi;

/* Gives a built-in feature map by position, NULL past the last one.
 * shapes: none  math: see its equation  cost: O(1)  errors: none  aliasing: a constant */
TARN_API const tarn_phi *tarn_phi_at(size_t position);

/* Gives a built-in feature map by name, NULL if there is none of that name.
 * shapes: none  math: see its equation  cost: O(1)  errors: none  aliasing: a constant */
TARN_API const tarn_phi *tarn_phi_find(const char *name);

/* Applies a feature map to each row.
 * shapes: x [.., D] -> out [.., C]
 * math: eq 7 for elu1, computed without cancellation  cost: O(numel of out)
 * errors: TARN_ESHAPE (rank 0; features of a user's map)  aliasing: fresh storage */
TARN_API tarn_status tarn_phi_apply(tarn_context *ctx, const tarn_phi *phi,
                                    const tarn_tensor *x, tarn_tensor **out);

/* Carries a gradient back through a feature map.
 * shapes: x [.., D], dout [.., C] -> dx [.., D]
 * math: dx = J(x)^T dout, J the Jacobian of phi at the row x  cost: O(numel of dout)
 * errors: TARN_ESHAPE, TARN_EINVAL (a user's map without grad)  aliasing: fresh storage */
TARN_API tarn_status tarn_phi_grad(tarn_context *ctx, const tarn_phi *phi,
                                   const tarn_tensor *x, const tarn_tensor *dout,
                                   tarn_tensor **dx);

/* ---- 6. Attention: the four stages ------------------------------------------------ */

typedef enum tarn_similarity {
    TARN_SOFTMAX, /* exp(scale q.k), scale 1/sqrt(D) unless given, no eps */
    TARN_RBF,     /* exp(-scale |q - k|^2 / 2), scale 1 unless given */
    TARN_PHI,     /* scale phi(q).phi(k), scale 1 unless given */
    TARN_PAIR     /* scale pair(q_i, k_j), a function of the user's */
} tarn_similarity;

typedef enum tarn_method { TARN_CHUNKED, TARN_SEQUENTIAL, TARN_SCAN } tarn_method;
typedef enum tarn_precision {
    TARN_ACCURATE,
    TARN_FAST,
    TARN_TF32,
    TARN_BF16
} tarn_precision;

typedef struct tarn_rnn tarn_rnn;

/* What every form of attention may be told. Start from tarn_defaults(). */
typedef struct tarn_options {
    const tarn_phi *phi; /* feature map; NULL is elu1 */
    tarn_similarity by;  /* sim: which similarity */
    tarn_status (*pair)(tarn_context *ctx, void *user, const tarn_tensor *q_i,
                        const tarn_tensor *k_j, double *similarity); /* TARN_PAIR */
    void *user;   /* handed to pair */
    double eps;   /* added to the denominator: 1e-6 by default, 0 allowed */
    double scale; /* NaN: the similarity's own */
    bool causal;  /* sim: token i sees keys 1..i only */
    const int64_t
        *lengths;         /* sim, assoc: number of keys that exist, one a batch entry */
    size_t lengths_count; /* 0: all keys exist */
    const tarn_rnn *state; /* prefix and rnn, also gradients: state before token 1 */
    const tarn_tensor *dS,
        *dz;            /* gradients: what arrives at the final state, or NULL */
    size_t chunk;       /* prefix: tokens a chunk, 0 for the default of 64 */
    tarn_method method; /* prefix */
    tarn_precision
        precision;    /* accurate: two-level sums, rows scaled against underflow;
                         tf32, bf16: products on tensor cores, devices' own, float32 */
    const char *impl; /* "plain", "fast", on devices a rung, "k1"; NULL: the default */
} tarn_options;

/* Gives the default options: elu1, softmax, eps 1e-6, not causal, accurate.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API tarn_options tarn_defaults(void);

/* Stage 1: attention as a weighted average, any similarity, pair by pair.
 * shapes: q [B, H, N', D], k [B, H, N, D], v [B, H, N, M] -> out [B, H, N', M],
 *         weights (if not NULL) [B, H, N', N]; ranks 2 to 4; N' = N if causal
 * math: eq 3: out_i = sum_j sim(q_i, k_j) v_j / (sum_j sim(q_i, k_j) + eps)
 * cost: 2 N' N (D + M) flops; memory for the weights only if asked for
 * errors: TARN_ESHAPE, TARN_EINVAL (options, lengths), TARN_EUSER
 * aliasing: fresh storage. A row whose denominator is exactly 0 gives 0 */
TARN_API tarn_status tarn_sim(tarn_context *ctx, const tarn_tensor *q,
                              const tarn_tensor *k, const tarn_tensor *v,
                              const tarn_options *options, tarn_tensor **out,
                              tarn_tensor **weights);

/* Stage 2: the same average with the product re-associated; not causal.
 * shapes: as tarn_sim
 * math: eqs 4-6: out_i = phi(q_i)^T [sum_j phi(k_j) v_j^T] / (phi(q_i)^T sum_j phi(k_j) + eps)
 * cost: 2 (N' + N) C M flops, C M numbers of memory a head
 * errors: TARN_ESHAPE, TARN_EINVAL (options, lengths), TARN_EUSER  aliasing: fresh storage */
TARN_API tarn_status tarn_assoc(tarn_context *ctx, const tarn_tensor *q,
                                const tarn_tensor *k, const tarn_tensor *v,
                                const tarn_options *options, tarn_tensor **out);

/* Stage 3: causal attention as a prefix sum: sequential, chunked or by a scan.
 * shapes: q, k [B, H, N, D], v [B, H, N, M] -> out [B, H, N, M]; ranks 2 to 4;
 *         `final` (if not NULL): the state after token N, to be ended by tarn_rnn_free
 * math: eqs 8-12: S_i = sum_{j<=i} phi(k_j) v_j^T, z_i = sum_{j<=i} phi(k_j),
 *       out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps)
 * cost: 4 N C M flops, chunked 2 N L (C + M) more; scan: N / L states of memory
 * errors: TARN_ESHAPE, TARN_EINVAL (options), TARN_EUSER
 * aliasing: fresh storage; options->state is read, never changed */
TARN_API tarn_status tarn_prefix(tarn_context *ctx, const tarn_tensor *q,
                                 const tarn_tensor *k, const tarn_tensor *v,
                                 const tarn_options *options, tarn_tensor **out,
                                 tarn_rnn **final);

/* The sizes of a recurrent cell. B = H = 0 means absent: inputs are [D] instead of
 * [B, H, D]. */
typedef struct tarn_cell {
    size_t B, H, D, M;
    const tarn_phi *phi; /* NULL is elu1 */
    double eps;
    double scale; /* kv only: NaN is 1/sqrt(D) */
    tarn_dtype dtype;
    const char *impl; /* as in tarn_options; kept by pointer */
    const char
        *device; /* rnn only: where the state lies; NULL is "cpu"; kept by pointer */
} tarn_cell;

/* Stage 4: makes a recurrent cell with state (S, z) = 0.
 * shapes: state S [B, H, C, M], z [B, H, C]
 * math: eqs 16-17: s_0 = 0, z_0 = 0  cost: O(B H C M)
 * errors: TARN_EINVAL (a size of 0, B without H)
 * aliasing: cell->phi is kept by pointer and must outlive the cell */
TARN_API tarn_status tarn_rnn_new(tarn_context *ctx, const tarn_cell *cell,
                                  tarn_rnn **out);

/* Ends a cell. NULL is allowed.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_rnn_free(tarn_rnn *st);

/* Steps the cell by one token: the state is updated first, then read.
 * shapes: q, k [(B, (H,)) D], v [(B, (H,)) M] -> out [(B, (H,)) M]; if *out is not NULL,
 *         that contiguous tensor is written instead of a fresh one
 * math: eqs 18-20: s += phi(k) v^T, z += phi(k), out = phi(q)^T s / (phi(q)^T z + eps)
 * cost: 4 C M flops a head, the same for every token; memory constant
 * errors: TARN_ESHAPE, TARN_EDTYPE, TARN_EUSER; the state is then as before. TARN_ERANGE (sums
 *         beyond the type): the state has taken the token, and counts it
 * aliasing: changes st in place; *out must not overlap the inputs */
TARN_API tarn_status tarn_rnn_step(tarn_context *ctx, tarn_rnn *st,
                                   const tarn_tensor *q, const tarn_tensor *k,
                                   const tarn_tensor *v, tarn_tensor **out);

/* Steps the cell through a whole sequence.
 * shapes: q, k [(B, (H,)) N, D], v [(B, (H,)) N, M] -> out [(B, (H,)) N, M], which is
 *         written in place if *out is not NULL, as in a step
 * math: eqs 18-20 for i = 1..N  cost: 4 N C M flops a head
 * errors: TARN_ESHAPE, TARN_EDTYPE, TARN_EUSER, TARN_EINTR; the state is then as before
 * aliasing: changes st in place */
TARN_API tarn_status tarn_rnn_run(tarn_context *ctx, tarn_rnn *st, const tarn_tensor *q,
                                  const tarn_tensor *k, const tarn_tensor *v,
                                  tarn_tensor **out);

/* Gives the state as fresh tensors, both levels of the sums added.
 * shapes: S [(B, (H,)) C, M], z [(B, (H,)) C]
 * math: S_i and z_i of eqs 10 and 11  cost: O(B H C M)  errors: none
 * aliasing: fresh storage, never views; either pointer may be NULL */
TARN_API tarn_status tarn_rnn_state(tarn_context *ctx, const tarn_rnn *st,
                                    tarn_tensor **S, tarn_tensor **z);

/* Replaces the state; the count of tokens starts again at 0.
 * shapes: S [(B, (H,)) C, M], z [(B, (H,)) C]
 * math: none  cost: O(B H C M)  errors: TARN_ESHAPE  aliasing: copies S and z */
TARN_API tarn_status tarn_rnn_set_state(tarn_context *ctx, tarn_rnn *st,
                                        const tarn_tensor *S, const tarn_tensor *z);

/* Makes an independent copy of a cell with its state.
 * shapes: none  math: none  cost: O(B H C M)  errors: none  aliasing: fresh storage */
TARN_API tarn_status tarn_rnn_clone(tarn_context *ctx, const tarn_rnn *st,
                                    tarn_rnn **out);

/* Sets the state back to 0 and the count of tokens too.
 * shapes: none  math: eqs 16-17  cost: O(B H C M)  errors: none  aliasing: none */
TARN_API void tarn_rnn_reset(tarn_rnn *st);

/* Give the sizes of a cell, its tokens so far, and the bytes of its state.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: valid as long as st is */
TARN_API const tarn_cell *tarn_rnn_cell(const tarn_rnn *st);
TARN_API size_t tarn_rnn_features(const tarn_rnn *st);
TARN_API uint64_t tarn_rnn_time(const tarn_rnn *st);
TARN_API size_t tarn_rnn_bytes(const tarn_rnn *st);

/* Writes a cell with both levels of its state to a file, atomically.
 * shapes: none  math: none  cost: O(B H C M)  errors: TARN_EIO  aliasing: none */
TARN_API tarn_status tarn_rnn_save(tarn_context *ctx, const tarn_rnn *st,
                                   const char *path);

/* Reads a cell back; `phi` is needed only if the saved one was a user's function.
 * shapes: none  math: none  cost: O(B H C M)
 * errors: TARN_EIO, TARN_EFORMAT (magic, version, sizes against the file's length),
 *         TARN_EINVAL (phi missing)
 * aliasing: phi is kept by pointer */
TARN_API tarn_status tarn_rnn_load(tarn_context *ctx, const char *path,
                                   const tarn_phi *phi, tarn_rnn **out);

/* What a gradient gives: of the inputs, and of the initial state if there was one. */
typedef struct tarn_grads {
    tarn_tensor *dq, *dk, *dv;
    tarn_tensor *dS0, *dz0; /* NULL without options->state */
} tarn_grads;

/* Frees the tensors of a set of gradients.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_grads_free(tarn_grads *grads);

/* The gradients of the four stages, given the gradient of their output.
 * shapes: dout as out; dq, dk, dv as q, k, v; dS0, dz0 as the state
 * math: eqs 13-15 with the denominator's path: with den_i the denominator,
 *       Gn_i = dout_i / den_i, gd_i = -(Gn_i . out_i),
 *       dphi(q_i) = S_i Gn_i + gd_i z_i, dphi(k_j) = R_j v_j + r_j, dv_j = R_j^T phi(k_j),
 *       R_j = sum_{i>=j} phi(q_i) Gn_i^T, r_j = sum_{i>=j} gd_i phi(q_i)
 * cost: 10 N C M flops (sim: 2 N' N (3 D + 2 M)); rnn keeps about 2 sqrt(N) states
 * errors: as the stage; TARN_EINVAL (a user's phi without grad, a user's similarity)
 * aliasing: fresh storage */
TARN_API tarn_status tarn_sim_grad(tarn_context *ctx, const tarn_tensor *q,
                                   const tarn_tensor *k, const tarn_tensor *v,
                                   const tarn_tensor *dout, const tarn_options *options,
                                   tarn_grads *grads);
TARN_API tarn_status tarn_assoc_grad(tarn_context *ctx, const tarn_tensor *q,
                                     const tarn_tensor *k, const tarn_tensor *v,
                                     const tarn_tensor *dout,
                                     const tarn_options *options, tarn_grads *grads);
TARN_API tarn_status tarn_prefix_grad(tarn_context *ctx, const tarn_tensor *q,
                                      const tarn_tensor *k, const tarn_tensor *v,
                                      const tarn_tensor *dout,
                                      const tarn_options *options, tarn_grads *grads);
TARN_API tarn_status tarn_rnn_grad(tarn_context *ctx, const tarn_tensor *q,
                                   const tarn_tensor *k, const tarn_tensor *v,
                                   const tarn_tensor *dout, const tarn_options *options,
                                   tarn_grads *grads);

/* Softmax's counterpart of the cell: a cache of keys and values that grows. */
typedef struct tarn_kv tarn_kv;

/* Makes an empty cache; cell->phi and cell->eps are not used.
 * shapes: keys [B, H, t, D], values [B, H, t, M] after t tokens
 * math: none  cost: O(1)  errors: TARN_EINVAL (sizes)  aliasing: none */
TARN_API tarn_status tarn_kv_new(tarn_context *ctx, const tarn_cell *cell,
                                 tarn_kv **out);

/* Ends a cache. NULL is allowed.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_kv_free(tarn_kv *kv);

/* Appends one token, or a sequence, and attends over everything in the cache.
 * shapes: as tarn_rnn_step and tarn_rnn_run
 * math: eq 3 with sim = exp(scale q.k), token i seeing tokens 1..i
 * cost: step 2 t (D + M) flops a head: grows with t
 * errors: TARN_ESHAPE, TARN_EDTYPE, TARN_EINTR; the cache is then as before
 * aliasing: changes kv in place */
TARN_API tarn_status tarn_kv_step(tarn_context *ctx, tarn_kv *kv, const tarn_tensor *q,
                                  const tarn_tensor *k, const tarn_tensor *v,
                                  tarn_tensor **out);
TARN_API tarn_status tarn_kv_run(tarn_context *ctx, tarn_kv *kv, const tarn_tensor *q,
                                 const tarn_tensor *k, const tarn_tensor *v,
                                 tarn_tensor **out);

/* Makes an independent copy of a cache.
 * shapes: none  math: none  cost: O(B H t (D + M))  errors: none  aliasing: fresh storage */
TARN_API tarn_status tarn_kv_clone(tarn_context *ctx, const tarn_kv *kv, tarn_kv **out);

/* Empties a cache; its memory is given back.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_kv_reset(tarn_kv *kv);

/* Give the sizes of a cache, its tokens, and the bytes that these tokens take.
 * shapes: none  math: B H t (D + M) numbers  cost: O(1)  errors: none  aliasing: none */
TARN_API const tarn_cell *tarn_kv_cell(const tarn_kv *kv);
TARN_API uint64_t tarn_kv_time(const tarn_kv *kv);
TARN_API size_t tarn_kv_bytes(const tarn_kv *kv);

/* A backend: one implementation of the stages on one device. */
typedef struct tarn_backend_info {
    const char *name;   /* "plain", "fast", "emu", "cuda" */
    const char *device; /* "cpu", "emu", "cuda" */
    const char *isa;    /* the instruction set in use: "baseline", "x86-64-v3", .. */
    bool compiled, usable;
    const char *why_not; /* why it is not usable, "" if it is */
} tarn_backend_info;

/* Describes a backend by position; false past the last one.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: strings are constants */
TARN_API bool tarn_backend_at(size_t position, tarn_backend_info *info);

/* ---- 7. Comparison ----------------------------------------------------------------- */

/* Which rows a comparison has. Start from tarn_equiv_defaults(). */
typedef struct tarn_equiv_options {
    tarn_options attention;     /* causal: also which forms take part */
    bool float32, float64;      /* dtypes to run in */
    const char *impl;           /* NULL: every implementation that is there */
    const char *const *devices; /* names of devices; NULL: the one that q lies on */
    size_t device_count;
    bool grad;  /* compare gradients as well */
    double tol; /* NaN: derived, see tarn_row.tol */
} tarn_equiv_options;

/* One form in one implementation, device and type, against the oracle. */
typedef struct tarn_row {
    const char *form; /* "sim", "assoc", "prefix sequential", ..., "kv" */
    const char *impl, *device;
    tarn_dtype dtype;
    const char *what; /* "out", or for gradients "dq", "dk", "dv", "dS0", "dz0" */
    double max_abs;   /* largest |got - expected|; Inf where one of them is NaN, even if
                           both are, or infinite with another sign */
    double max_rel; /* largest error over the magnitude of the sum it came from; errors
                           below the smallest normal number over eps count as none */
    double tol;     /* bound on max_rel: eps n, see tarn_equiv */
    bool ok;
    double seconds;
    size_t
        state_bytes; /* what the form keeps to go on after token N; 0 for a gradient */
    size_t workspace_bytes; /* held at a time beside inputs and results */
    struct {                /* where max_rel is */
        size_t index[4];    /* 0-based, as many as the tensor's rank */
        int rank;           /* 0: the tensor has no elements */
        double got, expected;
    } worst;
} tarn_row;

typedef struct tarn_report {
    bool ok;
    size_t count;
    tarn_row *rows;
} tarn_report;

/* Gives the default comparison: causal, elu1, float32 and float64, outputs only.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API tarn_equiv_options tarn_equiv_defaults(void);

/* Runs every form that computes the same thing and compares it with the oracle.
 * shapes: q, k, v as tarn_prefix (causal) or tarn_assoc
 * math: the oracle is eq 3 as a double sum in float64, sharing no code with the stages, of
 *       the inputs as converted to the row's type; max_rel is relative to
 *       (sum_j |sim_ij v_j| / |den_i|) (sum_j |sim_ij| + eps) / |den_i|; tol = eps n,
 *       n = C + min(N, 64) + N / 64 + a + 8, a the largest |x| that phi exponentiates;
 *       softmax, rbf: (sqrt(D) + 2) a in the place of C + a; gradients: 2 n + M
 * cost: that of all the forms plus O(N^2 (C + M)) for the oracle
 * errors: as the forms; TARN_EINVAL (a state without causal, a scale with a feature map);
 *         a form that disagrees is a row with ok = false, not an error
 * aliasing: none; the report is ended by tarn_report_free */
TARN_API tarn_status tarn_equiv(tarn_context *ctx, const tarn_tensor *q,
                                const tarn_tensor *k, const tarn_tensor *v,
                                const tarn_equiv_options *options, tarn_report *report);

/* Checks a form's gradient against central differences in float64.
 * shapes: as the form; `form` is "sim", "assoc", "prefix" or "rnn"
 * math: (f(x + h) - f(x - h)) / 2h with f = sum of out times fixed weights, plus what
 *       dS and dz weigh of the final state; max_rel is relative to the largest entry of
 *       the gradient; tol NaN is 1e-5. At a kink (relu at 0) the difference is no judge
 * cost: two runs of the form for each of at most 256 entries a tensor
 * errors: as the form, which runs where q, k and v lie; a gradient that disagrees is a row
 *         with ok = false
 * aliasing: none; the report is ended by tarn_report_free */
TARN_API tarn_status tarn_gradcheck(tarn_context *ctx, const char *form,
                                    const tarn_tensor *q, const tarn_tensor *k,
                                    const tarn_tensor *v, const tarn_options *options,
                                    double tol, tarn_report *report);

/* Frees the rows of a report.
 * shapes: none  math: none  cost: O(1)  errors: none  aliasing: none */
TARN_API void tarn_report_free(tarn_report *report);

#ifdef __cplusplus
}
#endif

#endif
