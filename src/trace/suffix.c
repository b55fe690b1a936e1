/*
 * suffix.c - which format the name of an output means.
 *
 * Implements trod_format_by_name() and trod_format_has_isa() of writer.h.
 */
#include "trod/writer.h"

#include "io/filter.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool cut(const char *s, size_t *n, const char *suffix)
{
    const size_t m = strlen(suffix);

    if (*n <= m || memcmp(s + *n - m, suffix, m) != 0)
        return false;
    *n -= m;
    return true;
}

/* Bytes of PATH without slashes at its end and a suffix of compression. */
static size_t bare(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return trod_filter_bare(path, n, true);
}

static bool has(const struct trod_format *f, const char *path, size_t n)
{
    for (size_t i = 0; f->suffixes && f->suffixes[i]; i++) {
        size_t k = n;

        if (cut(path, &k, f->suffixes[i]))
            return true;
    }
    return false;
}

/* Where the suffix of the N bytes of PATH begins; N: it has none. */
static size_t suffix_of(const char *path, size_t n)
{
    for (size_t i = n; i > 0 && path[i - 1] != '/'; i--)
        if (path[i - 1] == '.')
            return i - 1 > 0 && path[i - 2] != '/' ? i - 1 : n;
    return n;
}

/* Do the N bytes of PATH end as the name LIKE does, from the last dot on? */
static bool ends_alike(const char *path, size_t n, const char *like)
{
    const size_t m = bare(like), a = suffix_of(path, n), b = suffix_of(like, m);

    return a < n && n - a == m - b && memcmp(path + a, like + b, n - a) == 0;
}

static int unknown(const char *path, size_t from, size_t to, struct trod_diag *diag)
{
    char names[512];
    size_t n = 0;

    names[0] = '\0';
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);

        for (size_t k = 0; f->begin && f->suffixes && f->suffixes[k]; k++)
            if (n + strlen(f->suffixes[k]) + 3 < sizeof names && !strstr(names, f->suffixes[k]))
                n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                                      f->suffixes[k]);
    }
    return trod_error(diag, TROD_ERR_USAGE, "writer.suffix", NULL,
                      "%s: '%.*s' is no suffix of a format: use one of %s, or name the format "
                      "with --to",
                      path, (int)(to - from), path + from, names);
}

/* Several formats have the suffix, none of them the usual one. */
static int ambiguous(const char *path, size_t n, struct trod_diag *diag)
{
    char names[512];
    size_t used = 0;

    names[0] = '\0';
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);

        if (f->begin && has(f, path, n) && used + strlen(f->name) + 3 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     f->name);
    }
    return trod_error(diag, TROD_ERR_USAGE, "writer.suffix", NULL,
                      "'%s': files of several formats are called so: say --to with one of %s", path,
                      names);
}

int trod_format_by_name(const struct trod_format **out, const char *path,
                        const struct trod_format *usual, const char *like, struct trod_diag *diag)
{
    const struct trod_format *found = NULL;
    const size_t n = bare(path), at = suffix_of(path, n);
    struct stat st;
    size_t folder = n, several = 0;

    *out = usual;
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);

        if (!has(f, path, n) || (!f->begin && f != usual))
            continue;
        if (f == usual)
            return TROD_OK;
        several += found != NULL;
        found = f;
    }
    if (several && like && ends_alike(path, n, like))
        return TROD_OK;
    if (several)
        return ambiguous(path, n, diag);
    if (found) {
        *out = found;
        return TROD_OK;
    }
    /* no suffix, or that of a folder; what is there already and is no file (a device, a pipe) */
    if (at == n || (usual->layout && cut(path, &folder, ".d")) ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) || (like && ends_alike(path, n, like)))
        return TROD_OK;
    return unknown(path, at, n, diag);
}

bool trod_format_has_isa(const struct trod_format *f, enum trod_isa isa)
{
    return isa == TROD_ISA_UNKNOWN || f->isas == 0 || (f->isas >> isa & 1);
}
