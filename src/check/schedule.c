/*
 * schedule.c - schedule files against the trace.
 *
 * Implements trod_check_schedule of check.h as DynamoRIO's invariant checker does it: at each
 * marker of a cpu the trace says who runs where from which instruction on. A schedule file has
 * these entries sorted, all of them or only those at which the thread changes. Old files count
 * instructions anew in each chunk of ten million.
 */
#include "check/check_int.h"

#include "core/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OLD_CHUNK = 10000000 };

void chk_schedule_add(struct chk_schedule *s, const struct trod_schedule_entry *e)
{
    if (trod_grow(&s->entry, s->n, &s->cap, sizeof *s->entry, 64))
        s->entry[s->n++] = *e;
    else
        s->nomem = true;
}

void chk_schedule_merge(struct chk_schedule *into, const struct chk_schedule *from)
{
    into->narrow |= from->narrow;
    into->windows |= from->windows;
    into->unknown |= from->unknown;
    into->nomem |= from->nomem;
    for (size_t i = 0; i < from->n; i++)
        chk_schedule_add(into, &from->entry[i]);
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
    const struct trod_schedule_entry *x = a, *y = b;
    int c = order(x->time, y->time);

    c = c ? c : order(x->cpu, y->cpu);
    c = c ? c : order(x->thread, y->thread);
    return c ? c : order(x->start, y->start);
}

static int by_cpu(const void *a, const void *b)
{
    const struct trod_schedule_entry *x = a, *y = b;
    int c = order(x->cpu, y->cpu);

    return c ? c : by_time(a, b);
}

static int by_thread(const void *a, const void *b)
{
    const struct trod_schedule_entry *x = a, *y = b;
    int c = order(x->thread, y->thread);

    c = c ? c : order(x->time, y->time);
    return c ? c : order(x->start, y->start);
}

/* A sorted list of entries, each once. */
struct list {
    struct trod_schedule_entry *entry;
    size_t n;
};

static int copy_of(const struct trod_schedule_entry *entry, size_t n, struct list *out)
{
    out->entry = malloc((n ? n : 1) * sizeof *entry);
    out->n = n;
    if (!out->entry)
        return TROD_ERR_NOMEM;
    if (n)
        memcpy(out->entry, entry, n * sizeof *entry);
    return TROD_OK;
}

static void sort(struct list *l, int (*compare)(const void *, const void *))
{
    size_t n = 0;

    qsort(l->entry, l->n, sizeof *l->entry, compare);
    for (size_t i = 0; i < l->n; i++)
        if (n == 0 || compare(&l->entry[n - 1], &l->entry[i]) != 0)
            l->entry[n++] = l->entry[i];
    l->n = n;
}

/* Of entries of the same thread (and cpu, unless SERIAL) one after the other the first is left. */
static void join(struct list *l, bool serial)
{
    const struct trod_schedule_entry *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct trod_schedule_entry e = l->entry[i];

        if (!last || last->thread != e.thread || (!serial && last->cpu != e.cpu)) {
            l->entry[n] = e;
            last = &l->entry[n++];
        }
    }
    l->n = n;
}

/* Counts that fall within a thread are those of old files. */
static void unwrap(struct list *l)
{
    uint64_t base = 0, last = 0;

    qsort(l->entry, l->n, sizeof *l->entry, by_thread);
    for (size_t i = 0; i < l->n; i++) {
        struct trod_schedule_entry *e = &l->entry[i];

        if (i == 0 || e[-1].thread != e->thread)
            base = last = 0;
        if (e->start < last && last < OLD_CHUNK)
            base += OLD_CHUNK;
        last = e->start;
        e->start += base;
    }
}

static void report(struct chk *c, enum chk_rule rule, const char *path, const char *what,
                   const struct trod_schedule_entry *e)
{
    const char *name = strrchr(path, '/');
    char cpu[32] = "an unknown cpu"; /* the tracer could not ask: -1 in the file */

    if (e->cpu != UINT64_MAX)
        snprintf(cpu, sizeof cpu, "cpu %" PRIu64, e->cpu);
    chk_report(c, rule, NULL, 0,
               "%s: %s: thread %" PRIu64 " on %s at %" PRIu64 " from instruction %" PRIu64,
               name ? name + 1 : path, what, e->thread, cpu, e->time, e->start);
}

static size_t apart(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* What only one of FILE and TRACE has, both sorted, is a finding. */
static void differences(struct chk *c, bool serial, const struct list *file,
                        const struct list *trace, const char *path)
{
    const enum chk_rule rule = serial ? CHK_SERIAL : CHK_CPU;
    size_t i = 0, j = 0;

    while (i < file->n || j < trace->n) {
        int d = i == file->n    ? 1
                : j == trace->n ? -1
                : serial        ? by_time(&file->entry[i], &trace->entry[j])
                                : by_cpu(&file->entry[i], &trace->entry[j]);

        if (d < 0)
            report(c, rule, path, "the trace does not have", &file->entry[i]);
        else if (d > 0)
            report(c, rule, path, "missing is", &trace->entry[j]);
        i += d <= 0;
        j += d >= 0;
    }
}

int trod_check_schedule(void *st, bool serial, const struct trod_schedule_entry *entry, size_t n,
                        const char *path)
{
    int (*const compare)(const void *, const void *) = serial ? by_time : by_cpu;
    struct list file = {NULL, 0}, all = {NULL, 0}, joined = {NULL, 0};
    struct chk *c = st;
    bool full;
    int rc = TROD_OK;

    if (c->schedule.nomem)
        return TROD_ERR_NOMEM;
    c->file = c->stream = UINT32_MAX; /* findings are of none */
    if (n == 0 || !c->schedule.wanted || c->schedule.unknown)
        return TROD_OK;
    if (copy_of(entry, n, &file) < 0 || copy_of(c->schedule.entry, c->schedule.n, &all) < 0 ||
        copy_of(c->schedule.entry, c->schedule.n, &joined) < 0) {
        rc = TROD_ERR_NOMEM;
    } else {
        for (size_t i = 0; c->schedule.narrow && i < n; i++)
            file.entry[i].time &= UINT32_MAX;
        if (!c->schedule.windows)
            unwrap(&file);
        sort(&file, compare);
        sort(&all, compare);
        sort(&joined, compare);
        join(&joined, serial);
        full = apart(n, all.n) < apart(n, joined.n);
        if (c->schedule.windows && !full) /* a thread that goes on in the next window */
            join(&file, serial);
        differences(c, serial, &file, full ? &all : &joined, path);
    }
    free(file.entry);
    free(all.entry);
    free(joined.entry);
    return rc;
}
