/*
 * files.c - the schedule as the files that hold one: those beside a trace
 * (docs/formats/drmemtrace.md, "Schedule files") and the one in which DynamoRIO's scheduler records
 * what it did (option -record_file).
 *
 * Archives are zip files of stored members: the files are small.
 */
#include "analysis/schedule/schedule.h"

#include "core/endian.h"
#include "core/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 32,
    LOCAL = 30, /* bytes of a zip archive's headers */
    DIRECTORY = 46,
    END = 22,
    NAME = 32,
    ZIP_VERSION = 20,
    FIRST_OF_1980 = 0x21
};

enum record_type { RECORD_DEFAULT, RECORD_VERSION, RECORD_FOOTER, RECORD_IDLE_BY_COUNT = 6 };

/* --- archives --- */

struct archive {
    struct trod_buf *out;
    struct trod_buf directory;
    uint32_t members;
};

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = ~UINT32_C(0);

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

/* What local header and directory say alike of a member, from "version needed" on. */
static void put_common(uint8_t *p, const struct trod_buf *body, size_t name)
{
    const uint32_t n = (uint32_t)body->n;

    trod_store_le16(p, ZIP_VERSION);
    trod_store_le16(p + 8, FIRST_OF_1980);
    trod_store_le32(p + 10, crc32_of((const uint8_t *)body->p, n));
    trod_store_le32(p + 14, n);
    trod_store_le32(p + 18, n);
    trod_store_le16(p + 22, (uint16_t)name);
}

static int add_member(struct archive *a, const char *name, const struct trod_buf *body)
{
    uint8_t local[LOCAL] = {'P', 'K', 3, 4}, directory[DIRECTORY] = {'P', 'K', 1, 2, ZIP_VERSION};
    const size_t n = strlen(name);
    int rc;

    if (a->out->n + body->n > UINT32_MAX - LOCAL - NAME || a->members == UINT16_MAX)
        return TROD_ERR_LIMIT;
    put_common(local + 4, body, n);
    put_common(directory + 6, body, n);
    trod_store_le32(directory + 42, (uint32_t)a->out->n);
    a->members++;
    rc = trod_buf_add(a->out, local, sizeof local);
    rc = rc ? rc : trod_buf_add(a->out, name, n);
    rc = rc || !body->n ? rc : trod_buf_add(a->out, body->p, body->n);
    rc = rc ? rc : trod_buf_add(&a->directory, directory, sizeof directory);
    return rc ? rc : trod_buf_add(&a->directory, name, n);
}

static int finish(struct archive *a)
{
    uint8_t end[END] = {'P', 'K', 5, 6};
    int rc;

    trod_store_le16(end + 8, (uint16_t)a->members);
    trod_store_le16(end + 10, (uint16_t)a->members);
    trod_store_le32(end + 12, (uint32_t)a->directory.n);
    trod_store_le32(end + 16, (uint32_t)a->out->n);
    rc = a->members ? trod_buf_add(a->out, a->directory.p, a->directory.n) : 0;
    trod_buf_fini(&a->directory);
    return rc ? rc : trod_buf_add(a->out, end, sizeof end);
}

/* --- files beside a trace --- */

static int put_entry(const struct sch_entry *e, struct trod_buf *out)
{
    uint8_t p[RECORD];

    trod_store_le64(p, e->tid);
    trod_store_le64(p + 8, e->time);
    trod_store_le64(p + 16, e->cpu);
    trod_store_le64(p + 24, e->start);
    return trod_buf_add(out, p, sizeof p);
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
    const struct sch_entry *x = a, *y = b;
    int c = order(x->time, y->time);

    c = c ? c : order(x->number, y->number);
    c = c ? c : order(x->cpu, y->cpu);
    c = c ? c : order(x->tid, y->tid);
    return c ? c : order(x->start, y->start);
}

static int by_cpu(const void *a, const void *b)
{
    const struct sch_entry *x = a, *y = b;
    const int c = order(x->cpu, y->cpu);

    return c ? c : by_time(a, b);
}

/*
 * N sorted entries, of those of one thread behind each other the first; in an order that says the
 * cores what goes on on another core is another turn.
 */
static int put_entries(const struct sch_state *s, const struct sch_entry *e, size_t n,
                       struct trod_buf *out)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        if (i == 0 || e[i - 1].tid != e[i].tid || (!s->listed && e[i - 1].cpu != e[i].cpu))
            rc = put_entry(&e[i], out);
    return rc;
}

static int put_serial(const struct sch_state *s, struct trod_buf *out)
{
    if (s->n_entries)
        qsort(s->entry, s->n_entries, sizeof *s->entry, by_time);
    return put_entries(s, s->entry, s->n_entries, out);
}

/* The same, a member for each cpu. */
static int put_cpus(const struct sch_state *s, struct trod_buf *out)
{
    struct archive a = {.out = out};
    int rc = 0;

    if (s->n_entries)
        qsort(s->entry, s->n_entries, sizeof *s->entry, by_cpu);
    for (size_t i = 0, k; rc == 0 && i < s->n_entries; i += k) {
        const struct sch_entry *e = &s->entry[i];
        struct trod_buf body = {0};
        char name[NAME];

        for (k = 1; i + k < s->n_entries && e[k].cpu == e->cpu;)
            k++;
        snprintf(name, sizeof name, "%llu", (unsigned long long)e->cpu);
        rc = put_entries(s, e, k, &body);
        if (rc == 0)
            rc = add_member(&a, name, &body);
        trod_buf_fini(&body);
    }
    return rc ? rc : finish(&a);
}

/* --- recorded schedules --- */

bool sch_record_begin(struct sch_core *c, uint32_t thread, uint64_t start)
{
    struct sch_run *last = c->n_runs ? &c->run[c->n_runs - 1] : NULL;
    const bool gap = thread == SCH_IDLE; /* its steps are still to be counted, those of rows are */

    if (last && gap && last->thread == SCH_IDLE) /* one gap, reported in parts */
        return true;
    if (!trod_grow(&c->run, c->n_runs, &c->cap_runs, sizeof *c->run, 64))
        return false;
    c->run[c->n_runs++] =
        (struct sch_run){.thread = thread, .start = start, .time = c->steps + gap};
    return true;
}

static int put_record(uint32_t type, uint32_t key, uint64_t value, uint64_t stop, uint64_t time,
                      struct trod_buf *out)
{
    uint8_t p[RECORD];

    trod_store_le32(p, type);
    trod_store_le32(p + 4, key);
    trod_store_le64(p + 8, value);
    trod_store_le64(p + 16, stop);
    trod_store_le64(p + 24, time);
    return trod_buf_add(out, p, sizeof p);
}

/* An input that has come to its end runs to its end when it is replayed, whatever is behind. */
static int put_run(const struct sch_state *s, const struct sch_run *g, struct trod_buf *out)
{
    const struct sch_thread *t;
    uint64_t stop;

    if (g->thread == SCH_IDLE)
        return put_record(RECORD_IDLE_BY_COUNT, 0, g->steps, 0, g->time, out);
    t = &s->thread[g->thread];
    stop = g->stop ? g->stop : t->instructions + 1;
    if (t->gone && stop == t->instructions + 1)
        stop = UINT64_MAX;
    return put_record(RECORD_DEFAULT, t->letter, g->start, stop, g->time, out);
}

static int put_recorded(const struct sch_state *s, const uint32_t *order, struct trod_buf *out)
{
    struct archive a = {.out = out};
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < s->n_cores; k++) {
        const struct sch_core *c = &s->core[order[k]];
        struct trod_buf body = {0};
        char name[NAME];

        snprintf(name, sizeof name, "output.%04zu", k);
        rc = put_record(RECORD_VERSION, 0, 0, 0, 0, &body);
        for (size_t i = 0; rc == 0 && i < c->n_runs; i++)
            rc = put_run(s, &c->run[i], &body);
        rc = rc ? rc : put_record(RECORD_FOOTER, 0, 0, 0, 0, &body);
        rc = rc ? rc : add_member(&a, name, &body);
        trod_buf_fini(&body);
    }
    return rc ? rc : finish(&a);
}

int sch_file(const struct sch_state *s, struct trod_buf *out)
{
    uint32_t *order = calloc(s->n_cores + 1, sizeof *order);
    int rc = order ? 0 : TROD_ERR_NOMEM;

    if (order) {
        sch_sorted(s, order);
        rc = s->opt->like == SCH_LIKE_SERIAL_SCHEDULE ? put_serial(s, out)
             : s->opt->like == SCH_LIKE_CPU_SCHEDULE  ? put_cpus(s, out)
                                                      : put_recorded(s, order, out);
    }
    free(order);
    return rc;
}
