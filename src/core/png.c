/* png.c: writes images as PNG, through libpng.
 *
 * libpng says that something failed by longjmp. One function, encode, catches it; it has no
 * variable of its own that changes after setjmp, everything lies in struct image. */
#include "core/file.h"
#include "core/tensor.h"
#ifdef HAVE_PNG
#include <png.h>
#endif

/* libpng refuses longer sides. */
enum { LONGEST_SIDE = 1000000 };

static tarn_status check_shape(tarn_context *ctx, const tarn_tensor *t)
{
    const size_t *shape = t->shape;
    const bool image = t->rank == 2 || (t->rank == 3 && shape[2] == 3);
    if (image && shape[0] >= 1 && shape[1] >= 1 && shape[0] <= LONGEST_SIDE &&
        shape[1] <= LONGEST_SIDE)
        return TARN_OK;
    return tarn_fail(
        ctx, TARN_ESHAPE,
        "imwrite: the image is %s, expected [h, w] or [h, w, 3] with h and "
        "w from 1 to %d",
        tarn_shape_text(t).text, LONGEST_SIDE);
}

#ifdef HAVE_PNG

struct image {
    tarn_context *ctx;
    const tarn_tensor *values; /* contiguous, float64 */
    struct tarn_writer writer;
    png_structp png;
    png_infop info;
    unsigned char *row; /* one row as bytes */
    tarn_status status; /* of what failed first */
};

/* ---- What libpng calls ------------------------------------------------------------- */

static png_voidp png_alloc(png_structp png, png_alloc_size_t size)
{
    struct image *image = png_get_mem_ptr(png);
    void *memory = tarn_alloc(image->ctx, size, 1);
    if (memory == NULL) image->status = TARN_ENOMEM;
    return memory;
}

static void png_release(png_structp png, png_voidp memory)
{
    (void)png;
    tarn_release(memory);
}

/* Keeps the first failure's message: after one of ours, libpng's is a consequence. */
static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
    struct image *image = png_get_error_ptr(png);
    if (image->status == TARN_OK)
        image->status =
            tarn_fail(image->ctx, TARN_EIO, "%s: can't write: libpng: %s",
                      tarn_file_label("imwrite", image->writer.path).text, message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_bytes(png_structp png, png_bytep bytes, size_t count)
{
    struct image *image = png_get_io_ptr(png);
    image->status =
        tarn_writer_put(image->ctx, "imwrite", &image->writer, bytes, count);
    if (image->status != TARN_OK) png_error(png, "bytes could not be written");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* ---- The image --------------------------------------------------------------------- */

/* 0 to 1 becomes 0 to 255, rounded; the comparison sends NaN to 0. */
static unsigned char level(double value)
{
    if (!(value > 0)) return 0;
    return value < 1 ? (unsigned char)(value * 255 + 0.5) : 255;
}

static void write_rows(struct image *image)
{
    const tarn_tensor *t = image->values;
    const size_t per_row = t->shape[1] * (t->rank == 3 ? 3 : 1);
    const double *value = tarn_tensor_data(t);
    for (size_t i = 0; i < t->shape[0]; i++) {
        for (size_t j = 0; j < per_row; j++) image->row[j] = level(*value++);
        png_write_row(image->png, image->row);
    }
}

/* Everything that may jump. */
static void encode(struct image *image)
{
    if (setjmp(png_jmpbuf(image->png)) != 0) return;
    image->info = png_create_info_struct(image->png);
    if (image->info == NULL) png_error(image->png, "no memory");
    png_set_write_fn(image->png, image, on_bytes, on_flush);
    png_set_IHDR(image->png, image->info, (png_uint_32)image->values->shape[1],
                 (png_uint_32)image->values->shape[0], 8,
                 image->values->rank == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(image->png, image->info);
    write_rows(image);
    png_write_end(image->png, image->info);
}

/* Writes the image into the open file. */
static tarn_status write_image(struct image *image)
{
    image->row = tarn_alloc(image->ctx, image->values->shape[1], 3);
    if (image->row == NULL) return TARN_ENOMEM;
    image->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, image, on_error,
                                           on_warning, image, png_alloc, png_release);
    if (image->png != NULL) encode(image);
    png_destroy_write_struct(&image->png, &image->info);
    tarn_release(image->row);
    return image->status;
}

static tarn_status write_file(tarn_context *ctx, const tarn_tensor *values,
                              const char *path)
{
    struct image image = {.ctx = ctx, .values = values};
    tarn_status status = tarn_writer_open(ctx, "imwrite", path, &image.writer);
    if (status != TARN_OK) return status;
    status = write_image(&image);
    const tarn_status closed =
        tarn_writer_close(ctx, "imwrite", &image.writer, status == TARN_OK);
    return status == TARN_OK ? closed : status;
}

tarn_status tarn_imwrite(tarn_context *ctx, const tarn_tensor *t, const char *path)
{
    tarn_tensor *values = NULL;
    tarn_status status = check_shape(ctx, t);
    if (status == TARN_OK) status = tarn_on_host(ctx, "imwrite", t);
    if (status == TARN_OK) status = tarn_as(ctx, t, TARN_FLOAT64, &values);
    if (status == TARN_OK) status = write_file(ctx, values, path);
    tarn_tensor_free(values);
    return status;
}

#else

tarn_status tarn_imwrite(tarn_context *ctx, const tarn_tensor *t, const char *path)
{
    tarn_status status = check_shape(ctx, t);
    if (status != TARN_OK) return status;
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: this tarn was built without libpng and writes no images; "
                     "save writes a .npy file",
                     tarn_file_label("imwrite", path).text);
}

#endif
