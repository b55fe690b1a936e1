/*
 * info_result.c - what "info" found, as tables.
 */
#include "analysis/info/info.h"
#include "trod/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20 };

static const struct trod_format *driver_of(const struct info_state *s)
{
    return s->meta ? s->meta->driver : NULL;
}

static void put_percent(const struct info_state *s, struct trod_result *r, uint64_t n)
{
    trod_result_u64(r, NULL, n);
    trod_result_f64(r, NULL, 100.0 * (double)n / (double)s->rows, 2);
    trod_result_row_end(r);
}

static void put_kinds(const struct info_state *s, struct trod_result *r)
{
    static const char *const columns[] = {"kind", "rows", "percent"};

    trod_result_counts(r, "kinds", "rows by kind", columns, 3);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (s->kind[i] == 0)
            continue;
        trod_result_str(r, NULL, trod_kind_name(i));
        put_percent(s, r, s->kind[i]);
    }
    trod_result_table_close(r);
}

/* By what the format's documents call the records: WRITE rows may be D_WRITE or WRITE_BACK. */
static void put_names(const struct info_state *s, struct trod_result *r)
{
    static const char *const columns[] = {"name", "rows", "percent"};
    const struct trod_format *f = driver_of(s);
    bool any = false;

    for (unsigned i = 0; f && f->sub_name && i < TROD_KINDS * NAMED_SLOTS; i++) {
        const unsigned kind = i % TROD_KINDS, slot = i / TROD_KINDS;
        const char *name = s->named[kind][slot] ? named_of(f, kind, slot) : NULL;

        if (!name)
            continue;
        if (!any)
            trod_result_counts(r, "names", "rows by the format's names", columns, 3);
        any = true;
        trod_result_str(r, NULL, name);
        put_percent(s, r, s->named[kind][slot]);
    }
    if (any)
        trod_result_table_close(r);
}

static void put_known(struct trod_result *r, uint64_t v)
{
    if (v == TROD_NOWHERE)
        trod_result_absent(r);
    else
        trod_result_u64(r, NULL, v);
}

/*
 * The meta whose numbers of streams are shown: that of the whole trace, if it knows them all. Parts
 * that were put together number those that they met.
 */
static const struct trod_meta *numbered(const struct info_state *s)
{
    const struct trod_meta *own = info_meta(s);

    for (uint32_t i = 0; s->meta && i < own->n_streams && i < s->n_streams; i++)
        if (s->stream[i] && trod_meta_find(s->meta, &own->streams[i]) < 0)
            return own;
    return s->meta ? s->meta : own;
}

/* Rows of stream I of M, in the numbers of S. */
static uint64_t rows_of(const struct info_state *s, const struct trod_meta *m, uint32_t i)
{
    const struct trod_meta *own = info_meta(s);
    const int64_t at = m == own ? (int64_t)i : trod_meta_find(own, &m->streams[i]);

    return at >= 0 && (uint64_t)at < s->n_streams ? s->stream[at] : 0;
}

/*
 * Is there a stream with rows that has more to tell than that it is the only one? Whether streams
 * without rows are known depends on how far other threads have read.
 */
static bool has_streams(const struct info_state *s, const struct trod_meta *m)
{
    uint32_t n = 0;
    bool named = false;

    for (uint32_t i = 0; i < m->n_streams; i++) {
        if (rows_of(s, m, i) == 0)
            continue;
        named |= m->streams[i].name_len || m->streams[i].tid != TROD_NOWHERE;
        n++;
    }
    return n > 1 || named;
}

static void put_streams(const struct info_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"stream", TROD_COLUMN_KEY, NULL, NULL}, {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"tid", TROD_COLUMN_PLAIN, NULL, NULL},  {"pid", TROD_COLUMN_PLAIN, NULL, NULL},
        {"cpu", TROD_COLUMN_PLAIN, NULL, NULL},  {"rows", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    const struct trod_meta *m = numbered(s);
    const struct trod_format *f = driver_of(s);
    const char *word = f && f->streams ? f->streams : f ? "cpu" : "thread";
    char title[32];

    if (!has_streams(s, m))
        return;
    snprintf(title, sizeof title, "%ss", word);
    trod_result_table(r, "streams", title, columns, 6);
    for (uint32_t i = 0; i < m->n_streams; i++) {
        const struct trod_stream *t = &m->streams[i];
        const uint64_t rows = rows_of(s, m, i);

        if (rows == 0)
            continue;
        trod_result_u64(r, NULL, i);
        if (t->name_len)
            trod_result_strn(r, NULL, t->name, t->name_len);
        else
            trod_result_absent(r);
        put_known(r, t->tid);
        put_known(r, t->pid);
        put_known(r, t->cpu);
        trod_result_u64(r, NULL, rows);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_time(struct trod_result *r, uint64_t v, unsigned unit)
{
    char s[TROD_PUT_TIME];

    if (trod_unit_decimals((uint8_t)unit) == 0)
        trod_result_u64(r, NULL, v);
    else
        trod_result_strn(r, NULL, s,
                         (size_t)(trod_put_fixed(s, v, trod_unit_decimals((uint8_t)unit)) - s));
}

static void put_times(const struct info_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"unit", TROD_COLUMN_KEY, NULL, NULL},   {"first", TROD_COLUMN_PLAIN, NULL, NULL},
        {"last", TROD_COLUMN_PLAIN, NULL, NULL}, {"least", TROD_COLUMN_PLAIN, NULL, NULL},
        {"most", TROD_COLUMN_PLAIN, NULL, NULL}, {"rows", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    const unsigned unit = info_meta(s)->unit;
    bool any = false;

    for (unsigned u = 0; u < INFO_UNSAID; u++) {
        struct info_span span = s->time[u];
        const struct info_span *t = &span;

        if (u == unit)
            info_merge_span(&span, &s->time[INFO_UNSAID], 0);

        if (t->n == 0)
            continue;
        if (!any)
            trod_result_table(r, "times", "time span", columns, 6);
        any = true;
        if (!*trod_meta_unit_name(info_meta(s), u))
            trod_result_absent(r);
        else
            trod_result_str(r, NULL, trod_meta_unit_name(info_meta(s), u));
        put_time(r, t->first, u);
        put_time(r, t->last, u);
        put_time(r, t->least, u);
        put_time(r, t->most, u);
        trod_result_u64(r, NULL, t->n);
        trod_result_row_end(r);
    }
    if (any)
        trod_result_table_close(r);
}

static int by_count(const void *a, const void *b)
{
    const struct info_name *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->len != y->len ? (x->len < y->len ? -1 : 1) : memcmp(x->name, y->name, x->len);
}

static int put_types(const struct info_names *t, struct trod_result *r, const char *key,
                     const char *title)
{
    static const char *const columns[] = {"type", "rows"};
    struct info_name *sorted;
    uint64_t rest = t->others;

    if (t->n == 0)
        return TROD_OK;
    sorted = malloc(t->n * sizeof *sorted);
    if (!sorted)
        return TROD_ERR_NOMEM;
    memcpy(sorted, t->at, t->n * sizeof *sorted);
    qsort(sorted, t->n, sizeof *sorted, by_count);
    trod_result_counts(r, key, title, columns, 2);
    for (size_t i = 0; i < t->n; i++) {
        if (i >= SHOWN) {
            rest += sorted[i].n;
            continue;
        }
        trod_result_strn(r, NULL, sorted[i].name, sorted[i].len);
        trod_result_u64(r, NULL, sorted[i].n);
        trod_result_row_end(r);
    }
    if (rest) {
        trod_result_str(r, NULL, "(others)");
        trod_result_u64(r, NULL, rest);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(sorted);
    return TROD_OK;
}

int info_result(const void *st, struct trod_result *r)
{
    const struct info_state *s = st;
    int rc;

    trod_result_u64(r, "rows", s->rows);
    put_times(s, r);
    if (s->synthetic)
        trod_result_u64(r, "synthetic_instructions", s->synthetic);
    put_kinds(s, r);
    put_names(s, r);
    put_streams(s, r);
    rc = put_types(&s->markers, r, "markers", "markers and events by name");
    return rc < 0 ? rc
                  : put_types(&s->notes, r, "not_understood",
                              "kinds of records not understood (kept as they are)");
}
