/* marked_lines.h: lines of a .cu file of the tests that a comment marks, as in
 * "// BUG missing_syncthreads". What is said of a kernel has to name its line, wherever an
 * edit has moved it. */
#ifndef TARN_TESTS_MARKED_LINES_H
#define TARN_TESTS_MARKED_LINES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line of `file`, a path below the source folder, that ends with "// WORD name". */
static int line_marked(const char *file, const char *word, const char *name)
{
    char path[1000], text[200], mark[100];
    snprintf(path, sizeof path, "%s/%s", getenv("srcdir"), file);
    snprintf(mark, sizeof mark, "// %s %s\n", word, name);
    FILE *stream = fopen(path, "r");
    cr_assert(stream != NULL, "%s", path);
    int line = 0, found = 0;
    while (!found && fgets(text, sizeof text, stream)) {
        line++;
        if (strstr(text, mark)) found = line;
    }
    fclose(stream);
    cr_assert(found > 0, "%s has no line with %s", file, mark);
    return found;
}

#endif
