/*
 * marks.c - bookmarks, and the file that they are kept in. Implements marks.h.
 *
 * The file is TRACE.trodmarks beside the index, else beside the trace or in the folder of --index:
 * a line for each, the number of the row, a blank, a name. It is written beside its name and
 * renamed, so that it is never half of one.
 */
#include "browse/marks.h"
#include "browse/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MARKS = 100000 };

/* Where B's bookmarks are kept: where the index is, else where it would be. */
static char *path_of(const struct browse *b)
{
    static const char suffix[] = ".trodx";
    const char *index = b->nav ? trod_nav_index(b->nav) : NULL, *name = b->path;
    const char *dir = b->opt.index_dir;
    size_t n = strlen(index ? index : b->path), size;
    char *out;

    if (index && n > sizeof suffix && strcmp(index + n - (sizeof suffix - 1), suffix) == 0)
        n -= sizeof suffix - 1;
    else
        index = NULL;
    while (!index && n > 1 && b->path[n - 1] == '/') /* a directory is a trace too */
        n--;
    for (size_t i = 0; !index && i < n; i++)
        if (b->path[i] == '/')
            name = b->path + i + 1;
    size = n + (dir ? strlen(dir) : 0) + 32;
    out = malloc(size);
    if (out && index)
        snprintf(out, size, "%.*s.trodmarks", (int)n, index);
    else if (out && dir)
        snprintf(out, size, "%s/%.*s.trodmarks", dir, (int)(n - (size_t)(name - b->path)), name);
    else if (out)
        snprintf(out, size, "%.*s.trodmarks", (int)n, b->path);
    return out;
}

static size_t place(const struct browse_marks *m, uint64_t row)
{
    size_t i = 0;

    while (i < m->n && m->at[i].row < row)
        i++;
    return i;
}

static int add(struct browse_marks *m, uint64_t row, const char *name)
{
    size_t i = place(m, row);
    struct browse_mark *more;

    if (i == m->n || m->at[i].row != row) {
        if (m->n == MARKS)
            return TROD_ERR_LIMIT;
        if (!(more = browse_grow(m->at, m->n, &m->cap, sizeof *more)))
            return TROD_ERR_NOMEM;
        m->at = more;
        memmove(m->at + i + 1, m->at + i, (m->n - i) * sizeof *m->at);
        m->n++;
    }
    m->at[i].row = row;
    snprintf(m->at[i].name, sizeof m->at[i].name, "%s", name);
    return 0;
}

void browse_marks_load(struct browse *b)
{
    char line[256];
    unsigned bad = 0;
    FILE *f;

    b->marks.path = path_of(b);
    f = b->marks.path ? fopen(b->marks.path, "r") : NULL;
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        uint64_t row;
        char *blank = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        if (blank)
            *blank++ = '\0';
        if (trod_option_number(line, &row) != 0 || add(&b->marks, row, blank ? blank : "") < 0)
            bad++;
    }
    fclose(f);
    if (bad)
        browse_say(b, "%u lines of '%s' are no bookmarks", bad, b->marks.path);
}

void browse_marks_fini(struct browse *b)
{
    free(b->marks.at);
    free(b->marks.path);
    memset(&b->marks, 0, sizeof b->marks);
}

static void keep(struct browse *b)
{
    size_t size;
    char *part;
    FILE *f = NULL;
    bool good;

    free(b->marks.path); /* the index may be there by now */
    b->marks.path = path_of(b);
    size = b->marks.path ? strlen(b->marks.path) + 8 : 0;
    part = malloc(size + 1);
    if (part && b->marks.path) {
        snprintf(part, size, "%s.part", b->marks.path);
        f = fopen(part, "w");
    }
    good = f && fprintf(f, "# bookmarks of trod browse: row, name\n") > 0;
    for (size_t i = 0; good && i < b->marks.n; i++)
        good = fprintf(f, "%" PRIu64 " %s\n", b->marks.at[i].row, b->marks.at[i].name) > 0;
    if (f && fclose(f) != 0)
        good = false;
    if (good)
        good = rename(part, b->marks.path) == 0;
    if (!good) {
        browse_say(b, "bookmarks last until the end only: '%s' cannot be written: %s",
                   b->marks.path ? b->marks.path : "", strerror(errno));
        if (f)
            unlink(part);
    }
    free(part);
}

int browse_marks_set(struct browse *b, uint64_t row, const char *name)
{
    int rc = add(&b->marks, row, name);

    if (rc == 0)
        keep(b);
    return rc;
}

void browse_marks_remove(struct browse *b, size_t i)
{
    struct browse_marks *m = &b->marks;

    if (i >= m->n)
        return;
    memmove(m->at + i, m->at + i + 1, (m->n - i - 1) * sizeof *m->at);
    m->n--;
    keep(b);
}

bool browse_marked(const struct browse *b, uint64_t row)
{
    const size_t i = place(&b->marks, row);

    return i < b->marks.n && b->marks.at[i].row == row;
}
