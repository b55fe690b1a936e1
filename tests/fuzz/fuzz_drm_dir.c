/*
 * fuzz_drm_dir.c - any names in a directory, taken for a drmemtrace trace: what comes out are files
 * of it, inputs first and in bytewise order. The input is a list of names, a line each; a name that
 * ends in a slash is a directory, in which the next names lie.
 */
#include "fuzz.h"

#include <sys/stat.h>

enum { NAMES = 40 };

/* Characters that names of files may have; everything else is a dot. */
static void clean(char *s)
{
    for (; *s; s++)
        if (*s == '/' || *s < 0x20)
            *s = '.';
}

static void build(const char *top, const uint8_t *data, size_t size)
{
    char *dir = strdup(top);
    size_t from = 0;

    for (int k = 0; dir && k < NAMES && from < size; k++) {
        const uint8_t *nl = memchr(data + from, '\n', size - from);
        size_t n = nl ? (size_t)(nl - (data + from)) : size - from;
        bool folder = n > 1 && data[from + n - 1] == '/';
        char name[100] = {0}, *path;
        struct stat st;

        memcpy(name, data + from, n < 90 ? n - folder : 90);
        clean(name);
        from += n + 1;
        if (strcmp(name, "") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        path = test_path(dir, name);
        if (folder && mkdir(path, 0700) == 0) {
            free(dir);
            dir = path;
            continue;
        }
        if (!folder && stat(path, &st) != 0)
            test_save(path, "\031\0\0\0\007\0\0\0\0\0\0\0", 12);
        free(path);
    }
    free(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct trod_format *f = trod_format_find("drmemtrace", 10);
    char *top = test_tmpdir();
    struct trod_files files = {0};
    int rc;

    build(top, data, size);
    rc = f->resolve(top, &files, NULL);
    fuzz_true(rc <= 1, "resolve returns something else");
    fuzz_true(rc < 1 || (files.n && files.file[0].role == TROD_ROLE_INPUT), "a trace of nothing");
    for (size_t i = 0; rc == 1 && i < files.n; i++) {
        struct stat st;

        fuzz_true(stat(files.file[i].path, &st) == 0 && S_ISREG(st.st_mode), "no file");
        if (i && files.file[i].role == TROD_ROLE_INPUT)
            fuzz_true(files.file[i - 1].role == TROD_ROLE_INPUT &&
                          strcmp(files.file[i - 1].path, files.file[i].path) < 0,
                      "inputs out of order");
    }
    trod_files_fini(&files);
    test_remove(top);
    free(top);
    return 0;
}
