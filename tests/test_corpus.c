/* test_corpus.c: what fuzzing has found out, again: every file of tests/fuzz/corpus must be
 * read or refused as fuzz/readers.h promises. tests/fuzz/run finds more. */
#include "fuzz/readers.h"
#include "files.h"

TestSuite(corpus, .init = begin_files, .fini = end_files);

static void try_folder(const char *name,
                       void (*check)(tarn_context *ctx, const unsigned char *bytes,
                                     size_t size))
{
    char folder[2 * PATH], path[3 * PATH];
    size_t count = 0, size;
    snprintf(folder, sizeof folder, "%s", in_tests(name));
    DIR *entries = opendir(folder);
    cr_assert_not_null(entries, "%s", folder);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unsigned char *bytes = slurp(path, &size);
        check(ctx, bytes, size);
        free(bytes);
        count++;
    }
    closedir(entries);
    cr_assert_gt(count, 20, "%s has only %zu files", folder, count);
}

Test(corpus, the_npy_reader_keeps_its_promises)
{
    try_folder("fuzz/corpus/npy", check_npy);
}

Test(corpus, the_idx_reader_keeps_its_promises)
{
    try_folder("fuzz/corpus/idx", check_idx);
}
