/*
 * same.c - do two paths name one file?
 *
 * Implements trod_same_file of trod/io.h.
 */
#include "trod/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Look at the directory that PATH is in. */
static bool stat_above(const char *path, struct stat *st)
{
    const size_t n = (size_t)(name_in(path) - path);
    char *above = n ? strndup(path, n) : strdup(".");
    const bool is = above && stat(above, st) == 0;

    free(above);
    return is;
}

bool trod_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const bool is_a = stat(a, &x) == 0, is_b = stat(b, &y) == 0;

    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0 || is_a != is_b)
        return false;
    if (is_a)
        return same(&x, &y) && (S_ISREG(x.st_mode) || S_ISDIR(x.st_mode));
    return strcmp(name_in(a), name_in(b)) == 0 && stat_above(a, &x) && stat_above(b, &y) &&
           same(&x, &y);
}
