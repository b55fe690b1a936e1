/*
 * files.c - the files of a trace: what the user named, or what a directory holds.
 *
 * Implements trod_files_* and trod_resolve of format.h. A directory that no format claims is a
 * trace of all its regular files, sorted bytewise by name.
 */
#include "trace/files.h"

#include "core/beside.h"
#include "core/grow.h"
#include "trod/io.h"
#include "trod/trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int trod_files_add(struct trod_files *f, const char *path, enum trod_role role)
{
    size_t n = strlen(path) + 1;
    char *copy;

    if (!trod_grow(&f->file, f->n, &f->cap, sizeof *f->file, 8))
        return TROD_ERR_NOMEM;
    copy = malloc(n);
    if (!copy)
        return TROD_ERR_NOMEM;
    memcpy(copy, path, n);
    f->file[f->n++] = (struct trod_file){copy, role};
    return TROD_OK;
}

void trod_files_fini(struct trod_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->file[i].path);
    free(f->file);
    *f = (struct trod_files){0};
}

bool trod_files_together(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    size_t n = x ? (size_t)(x - a) : 0, m = y ? (size_t)(y - b) : 0;

    return !x == !y && n == m && memcmp(a, b, n) == 0;
}

int trod_resolve(const char *path, const struct trod_format **format, struct trod_files *out,
                 struct trod_diag *diag)
{
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);
        int rc = f->resolve ? f->resolve(path, out, diag) : 0;

        if (rc == 1)
            *format = f;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct trod_file *)a)->path, ((const struct trod_file *)b)->path);
}

static int join(char **out, const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *p = malloc(n + m + 2);

    if (!p)
        return TROD_ERR_NOMEM;
    memcpy(p, dir, n);
    if (n && dir[n - 1] != '/')
        p[n++] = '/';
    memcpy(p + n, name, m + 1);
    *out = p;
    return TROD_OK;
}

/* Every regular file of the directory PATH, dot files and what trod put there left out. */
static int list_directory(const char *path, struct trod_files *out, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    DIR *dir = opendir(path);
    size_t first = out->n;
    struct dirent *e;
    int rc = TROD_OK;

    if (!dir)
        return trod_error(diag, TROD_ERR_IO, "trace.directory", &at, "cannot list directory: %s",
                          strerror(errno));
    while (rc == TROD_OK && (e = readdir(dir))) {
        struct stat st;
        char *file;

        if (e->d_name[0] == '.' || trod_beside_trace(e->d_name))
            continue;
        if ((rc = join(&file, path, e->d_name)) < 0)
            break;
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode))
            rc = trod_files_add(out, file, TROD_ROLE_INPUT);
        free(file);
    }
    closedir(dir);
    if (rc == TROD_OK && out->n == first)
        return trod_error(diag, TROD_ERR_UNKNOWN, "trace.empty-directory", &at,
                          "directory holds no files");
    if (rc == TROD_OK)
        qsort(out->file + first, out->n - first, sizeof *out->file, by_path);
    return rc;
}

int trod_files_expand(const char *path, struct trod_files *out, const struct trod_format **format,
                      struct trod_diag *diag)
{
    struct stat st;
    int rc;

    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return trod_files_add(out, path, TROD_ROLE_INPUT);
    rc = trod_resolve(path, format, out, diag);
    if (rc != 0)
        return rc < 0 ? rc : TROD_OK;
    return list_directory(path, out, diag);
}

bool trod_trace_reads(const char *const *paths, size_t n, const char *file)
{
    const struct trod_format *claimed = NULL;
    struct trod_files files = {0};
    bool is = false;

    for (size_t i = 0; i < n && !is; i++)
        is = trod_same_file(paths[i], file);
    for (size_t i = 0; i < n && !is; i++)
        trod_files_expand(paths[i], &files, &claimed, NULL);
    for (size_t i = 0; i < files.n && !is; i++)
        is = trod_same_file(files.file[i].path, file);
    trod_files_fini(&files);
    return is;
}
