/* lua_files.c: tensors from files and into files: read, t:save, imwrite, mnist.
 *
 * mnist looks for the two files of the test set in $TARN_DATA, then where tarn was
 * installed, then in the source tree; the images stay in the registry between calls. */
#include "repl/arguments.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TARN_DATADIR
#define TARN_DATADIR "/usr/local/share/tarn"
#endif
#ifndef TARN_SOURCE_DATADIR
#define TARN_SOURCE_DATADIR "exercises/data"
#endif

/* The files decide all; t:to(device) and t:to(type) do the rest. */
static const char *const none[] = {NULL};

/* help: read(path) -> tensor
 * Reads a .npy (versions 1 to 3), IDX or gzipped IDX file, known by its content.
 * shapes: as stored; Fortran order is turned into row-major
 * math: float64 and integers that float32 cannot hold become float64, others float32; a
 *       value that float64 cannot hold exactly is refused, never rounded
 * cost: O(file); a hostile header costs O(1) memory
 * errors: no such file, a content that is not what its header promises, an element type
 *         that is not supported
 * example:
 *   > path = os.tmpname()
 *   > tensor{1, 2, 3}:save(path)
 *   > read(path)
 *   tensor [3] float32 cpu
 *     1  2  3
 *   > os.remove(path)
 *   true
 * see: t:save, mnist, rnn.load */
static int read_file(lua_State *L)
{
    const char *path = tarn_lua_path(L, 1, "read");
    tarn_lua_options(L, 2, "read", none);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_read(tarn_lua_context(L), path, out));
    tarn_lua_place(L, "read", tarn_lua_default_device(L));
    return 1;
}

/* help: t:save(path)
 * Writes a .npy file of version 1.0, whole or not at all.
 * shapes: any
 * math: none  cost: O(numel)
 * errors: a folder that is not there, a full disk; the old file then stays
 * example:
 *   > path = os.tmpname()
 *   > eye(2):save(path)
 *   > maxdiff(read(path), eye(2))
 *   0.0
 *   > os.remove(path)
 *   true
 * see: read, imwrite, st:save */
static int save(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "save");
    tarn_lua_check(L, tarn_save(tarn_lua_context(L), t, tarn_lua_path(L, 2, "save")));
    return 0;
}

/* A name that promises another kind of image would make a file that nobody can open. */
static void refuse_other_images(lua_State *L, const char *path)
{
    static const char *const others[] = {".jpg", ".jpeg", ".gif", ".bmp",
                                         ".svg", ".tif",  ".ppm", ".pgm"};
    const char *end = strrchr(path, '.');
    for (size_t i = 0; end && i < sizeof others / sizeof *others; i++)
        if (strcmp(end, others[i]) == 0)
            tarn_lua_fail(
                L, "imwrite: the path is '%s', expected a name that ends in .png",
                path);
}

/* help: imwrite(path, t)
 * Writes a PNG image: grey from [h, w], colour from [h, w, 3], of values 0 to 1.
 * shapes: t [h, w] or [h, w, 3], h and w at least 1
 * math: values outside 0..1 are clamped, NaN is black  cost: O(numel)
 * errors: another shape, a name such as x.jpg, a file that can't be written, a build
 *         without libpng
 * example:
 *   > path = os.tmpname()
 *   > imwrite(path, eye(8))
 *   > os.remove(path)
 *   true
 * see: mnist, t:save */
static int imwrite(lua_State *L)
{
    const char *path = tarn_lua_path(L, 1, "imwrite");
    refuse_other_images(L, path);
    const tarn_tensor *image =
        tarn_lua_on_host(L, tarn_lua_tensor(L, 2, "imwrite", "the image"));
    tarn_lua_check(L, tarn_imwrite(tarn_lua_context(L), image, path));
    return 0;
}

/* ---- MNIST ----------------------------------------------------------------------- */

static const char images_file[] = "t10k-images-idx3-ubyte";
static const char labels_file[] = "t10k-labels-idx1-ubyte";

/* Places to look in; the last entry is NULL. */
struct folders {
    const char *path[4];
};

static struct folders data_folders(void)
{
    struct folders folders = {{NULL}};
    size_t count = 0;
    const char *own = getenv("TARN_DATA");
    if (own && *own) folders.path[count++] = own;
    folders.path[count++] = TARN_DATADIR "/mnist";
    folders.path[count] = TARN_SOURCE_DATADIR "/mnist";
    return folders;
}

/* Pushes the path of a file of the test set, gzipped or not, or raises where it was
 * looked for. */
static const char *push_data_path(lua_State *L, const char *file)
{
    static const char *const endings[] = {".gz", "", NULL};
    struct folders folders = data_folders();
    for (const char **folder = folders.path; *folder; folder++) {
        for (int i = 0; endings[i]; i++) {
            const char *path = lua_pushfstring(L, "%s/%s%s", *folder, file, endings[i]);
            if (access(path, R_OK) == 0) return path;
            lua_pop(L, 1);
        }
    }
    lua_pushfstring(L, "mnist: found no %s(.gz) in", file);
    for (const char **folder = folders.path; *folder; folder++)
        lua_pushfstring(L, "%s %s%s", lua_tostring(L, -1), *folder,
                        folder[1] ? "," : "");
    tarn_lua_fail(L, "%s; set TARN_DATA to the folder that has it",
                  lua_tostring(L, -1));
    return NULL;
}

/* Pushes the content of a file of the test set, which must have that rank. */
static const tarn_tensor *push_data(lua_State *L, const char *file, int rank)
{
    const char *path = push_data_path(L, file);
    tarn_tensor **data = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_read(tarn_lua_context(L), path, data));
    if (tarn_tensor_rank(*data) != rank)
        tarn_lua_fail(L, "mnist: %s has rank %d, expected %d", path,
                      tarn_tensor_rank(*data), rank);
    lua_remove(L, -2);
    return *data;
}

/* Pushes images and labels, from the registry after the first time. */
static void push_test_set(lua_State *L, const tarn_tensor **images,
                          const tarn_tensor **labels)
{
    static const char key = 'm';
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 2, 0);
        push_data(L, images_file, 3);
        lua_rawseti(L, -2, 1);
        push_data(L, labels_file, 1);
        lua_rawseti(L, -2, 2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
    }
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    *images = tarn_lua_to_tensor(L, -2);
    *labels = tarn_lua_to_tensor(L, -1);
    if (tarn_tensor_shape(*images)[0] != tarn_tensor_shape(*labels)[0])
        tarn_lua_fail(L, "mnist: there are %zu images, but %zu labels",
                      tarn_tensor_shape(*images)[0], tarn_tensor_shape(*labels)[0]);
}

/* help: mnist(i) -> image, label
 * Gives the i-th handwritten digit of the MNIST test set: its image, and which digit it
 * is.
 * shapes: image [28, 28] of values 0 to 1, label 0 to 9; i is 1 to the number of images
 * math: none  cost: O(1), the first call reads the files
 * errors: i out of range, files that are not found (TARN_DATA names their folder)
 * example:
 *   > image, label = mnist(1)
 *   > label
 *   7
 *   > image.shape
 *   {28, 28}
 * see: read, imwrite, tour */
static int mnist(lua_State *L)
{
    const tarn_tensor *images, *labels;
    tarn_context *ctx = tarn_lua_context(L);
    double label = 0;
    tarn_lua_options(L, 2, "mnist", none);
    lua_settop(L, 1);
    push_test_set(L, &images, &labels);
    size_t i = tarn_lua_position(L, 1, "mnist", "i", tarn_tensor_shape(labels)[0]);
    tarn_tensor **bytes = tarn_lua_slot(L), **image = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_select(ctx, images, 0, i, bytes));
    tarn_lua_check(L, tarn_binary_number(ctx, TARN_DIV, *bytes, 255, false, image));
    tarn_lua_check(L, tarn_tensor_get(ctx, labels, &i, &label));
    tarn_lua_place(L, "mnist", tarn_lua_default_device(L));
    lua_pushinteger(L, (lua_Integer)label);
    return 2;
}

static const luaL_Reg methods[] = {{"save", save}, {NULL, NULL}};
static const luaL_Reg functions[] = {
    {"read", read_file}, {"imwrite", imwrite}, {"mnist", mnist}, {NULL, NULL}};

void tarn_open_files(lua_State *L)
{
    tarn_lua_methods(L, methods);
    luaL_setfuncs(L, functions, 0);
}
