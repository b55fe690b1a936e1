/*
 * files.c - folders and files for tests. Implements the first part of testlib.h.
 */
#include "testlib.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void test_die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("test: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

const char *test_source_dir(void)
{
    const char *dir = getenv("TROD_SOURCE");

    if (!dir || !*dir)
        test_die("TROD_SOURCE is not set; run the tests through ctest");
    return dir;
}

const char *test_command(void)
{
    const char *path = getenv("TROD");

    return path && *path ? path : NULL;
}

char *test_path(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *path = malloc(n + m + 2);

    if (!path)
        test_die("out of memory");
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

char *test_tmpdir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = test_path(base && *base ? base : "/tmp", "trod-test-XXXXXX");

    if (!mkdtemp(dir))
        test_die("cannot make folder '%s': %s", dir, strerror(errno));
    return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void test_remove(const char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct trod_buf test_load(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct trod_buf b = {0};
    size_t n;

    if (!f)
        test_die("cannot read '%s': %s", path, strerror(errno));
    do {
        if (trod_buf_reserve(&b, 1 << 16) < 0)
            test_die("out of memory");
        n = fread(b.p + b.n, 1, 1 << 16, f);
        b.n += n;
    } while (n > 0);
    if (ferror(f))
        test_die("cannot read '%s'", path);
    fclose(f);
    return b;
}

void test_save(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
        test_die("cannot write '%s': %s", path, strerror(errno));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct test_list test_files(const char *dir)
{
    struct test_list l = {0};
    DIR *d = opendir(dir);

    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = test_path(dir, e->d_name);
        struct stat st;

        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            char **name = realloc(l.name, (l.n + 1) * sizeof *name);

            if (!name || !(name[l.n] = strdup(e->d_name)))
                test_die("out of memory");
            l.name = name;
            l.n++;
        }
        free(path);
    }
    if (d)
        closedir(d);
    if (l.n > 1)
        qsort(l.name, l.n, sizeof *l.name, by_name);
    return l;
}

void test_list_free(struct test_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
    *l = (struct test_list){0};
}
