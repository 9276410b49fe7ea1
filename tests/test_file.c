/* test_file.c: whole files in, whole files out, and what the system says against it. */
#include "files.h"
#include "core/file.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(file, .init = begin_files, .fini = end_files);

static mode_t permissions(const char *path)
{
    struct stat found;
    cr_assert_eq(stat(path, &found), 0);
    return found.st_mode & 07777;
}

static tarn_status write_words(const char *path, const char *words)
{
    struct tarn_writer writer;
    tarn_status status = tarn_writer_open(ctx, "test", path, &writer);
    if (status) return status;
    status = tarn_writer_put(ctx, "test", &writer, words, strlen(words));
    const tarn_status closed =
        tarn_writer_close(ctx, "test", &writer, status == TARN_OK);
    return status ? status : closed;
}

static void expect_content(const char *path, const char *words)
{
    size_t size;
    unsigned char *bytes = slurp(path, &size);
    cr_assert_eq(size, strlen(words));
    cr_assert_eq(memcmp(bytes, words, size), 0);
    free(bytes);
}

/* ---- Reading --------------------------------------------------------------------------- */

Test(file, reads_every_byte)
{
    unsigned char pattern[3000], *bytes = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (unsigned char)(i * 7);
    dump(here("a"), pattern, sizeof pattern);
    OK(tarn_file_read(ctx, "test", here("a"), &bytes, &size));
    cr_assert_eq(size, sizeof pattern);
    cr_assert_eq(memcmp(bytes, pattern, size), 0);
    tarn_release(bytes);
}

Test(file, an_empty_file_is_no_bytes)
{
    unsigned char *bytes = NULL;
    size_t size = 1;
    dump(here("a"), "", 0);
    OK(tarn_file_read(ctx, "test", here("a"), &bytes, &size));
    cr_assert_eq(size, 0);
    tarn_release(bytes);
}

/* FMT-12: path and the system's reason, for each. */
Test(file, FMT_12_says_why_a_path_can_not_be_read)
{
    expect_refusal(here("missing"), TARN_EIO, "No such file or directory");
    expect_refusal(scratch, TARN_EIO, "Is a directory");
    expect_refusal("", TARN_EIO, "No such file or directory");
    dump(here("empty"), "", 0);
    expect_refusal(here("empty"), TARN_EFORMAT, "it is empty (0 bytes)");
    expect_refusal(here("empty/a"), TARN_EIO, "Not a directory");
    dump(here("secret"), "x", 1);
    cr_assert_eq(chmod(here("secret"), 0), 0);
    become_nobody();
    expect_refusal(here("secret"), TARN_EIO, "Permission denied");
    become_oneself();
}

/* Opening a pipe without a writer waits for ever; SIGALRM would end the test. */
Test(file, refuses_pipes_and_devices_without_waiting)
{
    alarm(5);
    cr_assert_eq(mkfifo(here("pipe"), 0666), 0);
    expect_refusal(here("pipe"), TARN_EIO, "it is a pipe");
    expect_refusal("/dev/zero", TARN_EIO, "or a device, expected a file");
    cr_assert_eq(write_words(here("pipe"), "x"), TARN_EIO);
    expect_words("it is a pipe");
}

Test(file, a_message_shows_the_end_of_a_long_path)
{
    char path[3000];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 7, "/a.npy", 7);
    const struct tarn_label label = tarn_file_label("read", path);
    cr_assert_eq(strncmp(label.text, "read: ...xxx", 12), 0);
    cr_assert_str_eq(label.text + strlen(label.text) - 6, "/a.npy");
}

/* ---- Writing --------------------------------------------------------------------------- */

Test(file, a_new_file_has_the_permissions_of_any_new_file)
{
    umask(027);
    OK(write_words(here("a"), "new"));
    expect_content(here("a"), "new");
    cr_assert_eq(permissions(here("a")), 0640);
}

Test(file, a_file_that_is_replaced_keeps_its_permissions)
{
    dump(here("a"), "old", 3);
    cr_assert_eq(chmod(here("a"), 0604), 0);
    OK(write_words(here("a"), "new words"));
    expect_content(here("a"), "new words");
    cr_assert_eq(permissions(here("a")), 0604);
}

Test(file, a_link_stays_and_the_file_behind_it_is_written)
{
    struct stat found;
    dump(here("a"), "old", 3);
    cr_assert_eq(symlink("a", here("link")), 0);
    OK(write_words(here("link"), "new"));
    expect_content(here("a"), "new");
    cr_assert_eq(lstat(here("link"), &found), 0);
    cr_assert(S_ISLNK(found.st_mode));
}

/* Until the end the old content is what everybody sees. */
Test(file, the_old_file_is_whole_until_the_new_one_is)
{
    struct tarn_writer writer;
    dump(here("a"), "old", 3);
    OK(tarn_writer_open(ctx, "test", here("a"), &writer));
    OK(tarn_writer_put(ctx, "test", &writer, "new", 3));
    expect_content(here("a"), "old");
    OK(tarn_writer_close(ctx, "test", &writer, true));
    expect_content(here("a"), "new");
}

Test(file, a_write_that_is_given_up_leaves_the_old_file)
{
    struct tarn_writer writer;
    dump(here("a"), "old", 3);
    OK(tarn_writer_open(ctx, "test", here("a"), &writer));
    OK(tarn_writer_put(ctx, "test", &writer, "new", 3));
    OK(tarn_writer_close(ctx, "test", &writer, false));
    expect_content(here("a"), "old");
}

Test(file, works_in_the_current_folder_too)
{
    cr_assert_eq(chdir(scratch), 0);
    OK(write_words("a", "new"));
    expect_content(here("a"), "new");
}

Test(file, takes_another_temporary_name_if_one_is_taken)
{
    char taken[PATH];
    snprintf(taken, sizeof taken, "%s/.tarn-%ld-0", scratch, (long)getpid());
    dump(taken, "not ours", 8);
    OK(write_words(here("a"), "new"));
    expect_content(here("a"), "new");
    expect_content(taken, "not ours");
    unlink(taken);
}

/* A disk that is full, and a limit on the size of files, which is met in the middle. */
Test(file, a_full_disk_is_an_error_with_the_reason)
{
    become_nobody();
    cr_assert_eq(write_words("/dev/full", "x"), TARN_EIO);
    become_oneself();
    cr_assert_str_eq(tarn_error(ctx), "test: /dev/full: can't write: "
                                      "No space left on device");
    struct stat found;
    cr_assert_eq(stat("/dev/full", &found), 0);
    cr_assert(S_ISCHR(found.st_mode), "/dev/full was replaced");
}

Test(file, a_write_that_fails_midway_leaves_the_old_file)
{
    char words[20000];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    dump(here("a"), "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, 10000}), 0);
    cr_assert_eq(write_words(here("a"), words), TARN_EIO);
    expect_words("File too large");
    expect_content(here("a"), "old");
}

/* A caller that wrote with fwrite and saw nothing is told at the end. */
Test(file, a_write_that_failed_unseen_is_an_error_at_the_end)
{
    struct tarn_writer writer;
    become_nobody();
    OK(tarn_writer_open(ctx, "test", "/dev/full", &writer));
    setvbuf(writer.file, NULL, _IONBF, 0);
    cr_assert_eq(fwrite("x", 1, 1, writer.file), 0);
    cr_assert_eq(tarn_writer_close(ctx, "test", &writer, true), TARN_EIO);
    become_oneself();
}

Test(file, says_why_a_path_can_not_be_written)
{
    cr_assert_eq(write_words(scratch, "x"), TARN_EIO);
    expect_words("Is a directory");
    cr_assert_eq(write_words(here("missing/a"), "x"), TARN_EIO);
    expect_words("No such file or directory");
    cr_assert_eq(write_words("", "x"), TARN_EIO);
    expect_words("No such file or directory");
    dump(here("a"), "old", 3);
    cr_assert_eq(write_words(here("a/b"), "x"), TARN_EIO);
    expect_words("Not a directory");
}

/* Renaming needs no right to write to the file itself, only to its folder: still no. */
Test(file, a_file_that_may_not_be_written_is_not_replaced)
{
    dump(here("a"), "old", 3);
    cr_assert_eq(chmod(here("a"), 0444), 0);
    become_nobody();
    cr_assert_eq(write_words(here("a"), "new"), TARN_EIO);
    expect_words("Permission denied");
    become_oneself();
    expect_content(here("a"), "old");
}

Test(file, a_target_that_became_a_folder_is_an_error)
{
    struct tarn_writer writer;
    OK(tarn_writer_open(ctx, "test", here("a"), &writer));
    cr_assert_eq(mkdir(here("a"), 0777), 0);
    cr_assert_eq(tarn_writer_close(ctx, "test", &writer, true), TARN_EIO);
    expect_words("Is a directory");
}

Test(file, an_interrupt_leaves_the_old_file)
{
    dump(here("a"), "old", 3);
    tarn_interrupt(ctx);
    cr_assert_eq(write_words(here("a"), "new"), TARN_EINTR);
    expect_content(here("a"), "old");
    tarn_tensor *t = NULL;
    cr_assert_eq(tarn_read(ctx, here("a"), &t), TARN_EINTR);
    cr_assert_str_eq(tarn_error(ctx), "read: interrupted");
    unsigned char *bytes = NULL;
    size_t size = 0;
    cr_assert_eq(tarn_file_read(ctx, "test", here("a"), &bytes, &size), TARN_EINTR);
    cr_assert_null(bytes);
}
