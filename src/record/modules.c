/*
 * modules.c - which files the program has loaded where: DynamoRIO's modules.log, so that addresses
 * have names.
 *
 * Implements the rec_modules functions of record.h; the form is that of
 * docs/formats/drmemtrace-writing.md, "Code beside the trace". Files are those of proc(5),
 * /proc/PID/maps, that hold code which the machine itself may not execute: to QEMU the program's
 * code is data.
 */
#include "record/record.h"

#include "core/grow.h"
#include "trod/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS = 16, LINES = 16, PAGE = 4096 };

/* Lines of one file, as the list has them one behind the other. */
struct loaded {
    char *path;
    size_t n;
    struct {
        uint64_t start, end, offset;
    } line[LINES];
    uint64_t end;  /* of all its segments in memory */
    bool executes; /* QEMU's own */
    bool shares;   /* another file was loaded there too: an address has no one name */
};

struct rec_modules {
    struct loaded *list;
    size_t n, cap;
    struct loaded now; /* the file whose lines come */
};

int rec_modules_new(struct rec_modules **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? TROD_OK : TROD_ERR_NOMEM;
}

void rec_modules_free(struct rec_modules *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        free(m->list[i].path);
    free(m->list);
    free(m->now.path);
    free(m);
}

/* Has F code in one of its lines? Then its end is known too. */
static bool holds_code(struct loaded *f)
{
    struct rec_segment_of_file s[LOADS];
    const size_t n = rec_elf_segments(f->path, s, LOADS);
    uint64_t least = UINT64_MAX, end = 0;
    bool code = false;

    for (size_t i = 0; i < n; i++) {
        least = s[i].address < least ? s[i].address : least;
        end = s[i].address + s[i].memory > end ? s[i].address + s[i].memory : end;
        for (size_t k = 0; s[i].code && k < f->n; k++)
            code = code || (s[i].offset + s[i].bytes > f->line[k].offset &&
                            s[i].offset < f->line[k].offset + f->line[k].end - f->line[k].start);
    }
    least &= ~(uint64_t)(PAGE - 1);
    if (n && end > least)
        f->end = f->line[0].start + ((end - least + PAGE - 1) & ~(uint64_t)(PAGE - 1));
    return code;
}

/* F replaces what was known of the same file at the same place, or is another one. */
static void keep(struct rec_modules *m, struct loaded *f)
{
    for (size_t i = 0; i < m->n; i++) {
        struct loaded *old = &m->list[i];

        if (strcmp(old->path, f->path) == 0 && old->line[0].start == f->line[0].start) {
            free(old->path);
            f->shares = old->shares;
            *old = *f;
            f->path = NULL;
            return;
        }
        if (old->line[0].start < f->end && f->line[0].start < old->end)
            old->shares = f->shares = true;
    }
    if (!trod_grow(&m->list, m->n, &m->cap, sizeof *m->list, 16))
        return;
    m->list[m->n++] = *f;
    f->path = NULL;
}

void rec_modules_end_file(struct rec_modules *m)
{
    struct loaded *f = &m->now;

    if (f->path && f->n && !f->executes && holds_code(f))
        keep(m, f);
    free(f->path);
    *f = (struct loaded){0};
}

void rec_modules_line(struct rec_modules *m, const char *path, uint64_t start, uint64_t end,
                      uint64_t offset, bool executes)
{
    struct loaded *f = &m->now;

    if (!f->path || strcmp(f->path, path) != 0) {
        rec_modules_end_file(m);
        f->path = strdup(path);
    }
    f->executes = f->executes || executes;
    if (f->n == LINES)
        return;
    f->line[f->n].start = start;
    f->line[f->n].end = end;
    f->line[f->n++].offset = offset;
}

static int put(struct trod_buf *b, const struct loaded *f, size_t first)
{
    int rc = TROD_OK;

    for (size_t k = 0; k < f->n && rc == TROD_OK; k++)
        rc = trod_buf_printf(b,
                             "%3zu, %3zu, 0x%016" PRIx64 ", 0x%016" PRIx64
                             ", 0x%016x, 0x%016" PRIx64 ", 0x%016x,  %s\n",
                             first + k, first, f->line[k].start,
                             k + 1 == f->n && f->end > f->line[k].end ? f->end : f->line[k].end, 0u,
                             f->line[k].offset, 0u, f->path);
    return rc;
}

int rec_modules_list(const struct rec_modules *m, struct trod_meta *meta)
{
    struct trod_buf b = {0};
    size_t lines = 0, first = 0;
    int rc;

    for (size_t i = 0; i < m->n; i++)
        lines += m->list[i].shares ? 0 : m->list[i].n;
    if (lines == 0)
        return TROD_OK;
    rc = trod_buf_printf(&b,
                         "Module Table: version 5, count %zu\n"
                         "Columns: id, containing_id, start, end, entry, offset, preferred_base, "
                         "path\n",
                         lines);
    for (size_t i = 0; i < m->n && rc == TROD_OK; i++)
        if (!m->list[i].shares) {
            rc = put(&b, &m->list[i], first);
            first += m->list[i].n;
        }
    if (rc == TROD_OK)
        rc = trod_meta_keep(meta, "modules.log", b.p, b.n);
    trod_buf_fini(&b);
    return rc;
}
