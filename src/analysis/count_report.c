/*
 * count_report.c - the result of `trod count`: totals, shards, windows, threads.
 *
 * Implements DynamoRIO's basic_counts: total = sums of all and unions of unique bytes; threads in
 * the order of their instructions in their first window.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/count_fields.h"

/* What stands before the numbers of a thread in a table. */
enum { HEAD = 4 };

/* A lane and its numbers. */
struct row {
    const struct count_lane *lane;
    uint64_t order; /* instructions of the first window */
    struct count_values is;
};

static const uint8_t brief[] = {
    COUNT_F_INSTRS, COUNT_F_UNIQUE,     COUNT_F_KERNEL,     COUNT_F_NOFETCH,
    COUNT_F_LOADS,  COUNT_F_STORES,     COUNT_F_BYTES_READ, COUNT_F_BYTES_WRITTEN,
    COUNT_F_BUS,    COUNT_F_CODE_BYTES, COUNT_F_DATA_BYTES,
};

static const char *const brief_names[] = {
    "instructions", "unique",        "kernel", "non_fetched", "loads",      "stores",
    "bytes_read",   "bytes_written", "bus",    "code_bytes",  "data_bytes",
};

static const char *const bus_names[] = {
    "instructions", "unique",        "kernel",  "non_fetched", "reads",      "writes",
    "bytes_read",   "bytes_written", "fetches", "code_bytes",  "data_bytes",
};

/* ---- numbers */

static void lane_sums(const struct count_lane *l, struct count_sums *sums)
{
    for (uint32_t i = 0; i < l->n_windows; i++)
        trod_count_add(sums, &l->window[i].sums);
}

static int lane_values(const struct count_state *s, const struct count_lane *l,
                       struct count_values *out)
{
    struct count_sums sums = {0};
    struct count_feet feet = l->feet;
    int rc = l->settled ? TROD_OK : trod_count_feet(s, l, &feet);

    lane_sums(l, &sums);
    trod_count_values(s, &sums, &feet, l->filetype, out);
    return rc;
}

static bool is_thread(const struct count_lane *l)
{
    return l->tid != TROD_NOWHERE && l->tid != 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Distinct threads of file FILE (UINT32_MAX: of all), 0 also when memory is out. */
static uint64_t threads(const struct count_state *s, uint32_t file)
{
    uint64_t *tid = malloc((s->n_lanes + 1) * sizeof *tid), n = 0, distinct = 0;

    for (uint32_t i = 0; tid && i < s->n_lanes; i++)
        if (is_thread(&s->lane[i]) && (file == UINT32_MAX || s->lane[i].file == file))
            tid[n++] = s->lane[i].tid;
    if (tid)
        qsort(tid, n, sizeof *tid, by_number);
    for (uint64_t i = 0; i < n; i++)
        distinct += i == 0 || tid[i] != tid[i - 1];
    free(tid);
    return distinct;
}

/* Encodings of a shard whose file type has none do not count: sum them up by lane. */
static void add_encodings(const struct count_state *s, struct count_values *v)
{
    v->v[COUNT_F_ENCODINGS] = 0;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct count_values one;
        struct count_sums sums = {0};

        lane_sums(&s->lane[i], &sums);
        trod_count_values(s, &sums, &s->lane[i].feet, s->lane[i].filetype, &one);
        v->v[COUNT_F_ENCODINGS] += one.v[COUNT_F_ENCODINGS];
    }
    v->known[COUNT_F_ENCODINGS] = s->drm || v->v[COUNT_F_ENCODINGS];
}

/* ---- writing */

static void put(struct trod_result *e, const char *key, const struct count_values *v,
                unsigned field)
{
    if (field == COUNT_F_TAKEN_SHARE)
        trod_result_f64(e, key, trod_count_taken(v), 2);
    else
        trod_result_u64(e, key, v->v[field]);
}

static void put_list(const struct count_state *s, struct trod_result *e,
                     const struct count_values *v)
{
    for (unsigned i = 0; i < COUNT_FIELDS; i++) {
        const char *name = trod_count_field_name(s, i);

        if (!v->known[i])
            continue;
        put(e, name, v, i);
        if (strstr(name, "bytes"))
            trod_result_describe(e, "bytes", NULL);
    }
}

static void put_cell(struct trod_result *e, const struct count_values *v, unsigned field)
{
    if (v->known[field])
        put(e, NULL, v, field);
    else
        trod_result_absent(e);
}

static void put_number(struct trod_result *e, const char *key, uint64_t v)
{
    if (v != TROD_NOWHERE)
        trod_result_u64(e, key, v);
    else if (!key)
        trod_result_absent(e);
}

/* The cells that name a lane: HEAD of them, or fields. */
static void put_head(const struct count_state *s, struct trod_result *e, const struct count_lane *l,
                     bool fields)
{
    if (l->name)
        trod_result_strn(e, fields ? (s->word ? s->word : "thread") : NULL, l->name, l->name_len);
    else if (!fields)
        trod_result_absent(e);
    put_number(e, fields ? "tid" : NULL, l->tid);
    put_number(e, fields ? "pid" : NULL, l->pid);
    trod_result_u64(e, fields ? "file" : NULL, l->file);
}

static void put_rows_by_kind(struct trod_result *e, const struct count_sums *c)
{
    static const char *const columns[] = {"kind", "rows"};

    trod_result_counts(e, "rows_by_kind", "rows by kind", columns, 2);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (c->rows[i] == 0)
            continue;
        trod_result_str(e, NULL, trod_kind_name(i));
        trod_result_u64(e, NULL, c->rows[i]);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

/* What the format's documents call the records: WRITE rows may be D_WRITE or WRITE_BACK. */
static void put_rows_by_name(struct trod_result *e, const struct trod_format *f,
                             const struct count_sums *c)
{
    static const char *const columns[] = {"name", "rows"};
    bool any = false;

    for (unsigned slot = 0; f && slot < NAMED_SLOTS; slot++) {
        const char *name = NULL;

        for (unsigned kind = 0; !name && kind < TROD_KINDS; kind++)
            name = named_of(f, kind, slot);
        if (!name || c->named[slot] == 0)
            continue;
        if (!any)
            trod_result_counts(e, "rows_by_name", "rows by the format's names", columns, 2);
        any = true;
        trod_result_str(e, NULL, name);
        trod_result_u64(e, NULL, c->named[slot]);
        trod_result_row_end(e);
    }
    if (any)
        trod_result_table_close(e);
}

static uint64_t all_rows(const struct count_sums *c)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        n += c->rows[i];
    return n;
}

static int put_total(const struct count_state *s, struct trod_result *e, struct count_values *total)
{
    struct count_sums sums = {0};
    struct count_feet feet;
    int rc = trod_count_feet_all(s, &feet);

    for (uint32_t i = 0; i < s->n_lanes; i++)
        lane_sums(&s->lane[i], &sums);
    trod_count_values(s, &sums, &feet, TROD_NOWHERE, total);
    add_encodings(s, total);
    total->v[COUNT_F_THREADS] = threads(s, UINT32_MAX);
    total->known[COUNT_F_THREADS] = s->drm || total->v[COUNT_F_THREADS];
    trod_result_open(e, "total", "total counts");
    trod_result_u64(e, "rows", all_rows(&sums));
    put_list(s, e, total);
    if (total->known[COUNT_F_CODE_LINES] || total->known[COUNT_F_DATA_LINES])
        trod_result_u64(e, "line_size", feet.line);
    if (feet.code_level)
        trod_result_bool(e, "code_footprint_estimated", true);
    if (feet.data_level)
        trod_result_bool(e, "data_footprint_estimated", true);
    put_rows_by_kind(e, &sums);
    put_rows_by_name(e, s->names, &sums);
    trod_result_close(e);
    return rc;
}

/* Names of columns: HEAD of the lane, then fields; LIST of N fields with NAMES, NULL: all known. */
struct columns {
    const char *name[HEAD + COUNT_FIELDS];
    uint8_t field[COUNT_FIELDS];
    size_t n, head;
};

static void choose(const struct count_state *s, struct columns *c, const struct count_values *total,
                   bool wide)
{
    const char *const head[HEAD] = {s->word ? s->word : "thread", "tid", "pid", "file"};

    *c = (struct columns){.head = wide ? HEAD : 1};
    memcpy(c->name, head, c->head * sizeof *head);
    if (wide) {
        for (unsigned i = 0; i < COUNT_FIELDS; i++)
            if (total->known[i] && i != COUNT_F_THREADS) {
                c->name[c->head + c->n] = trod_count_field_name(s, i);
                c->field[c->n++] = (uint8_t)i;
            }
        return;
    }
    for (size_t i = 0; i < sizeof brief; i++)
        if (total->known[brief[i]] && (brief[i] != COUNT_F_KERNEL || total->v[COUNT_F_KERNEL])) {
            c->name[c->head + c->n] = s->bus ? bus_names[i] : brief_names[i];
            c->field[c->n++] = brief[i];
        }
}

static void put_cells(struct trod_result *e, const struct columns *c, const struct count_values *v)
{
    for (size_t i = 0; i < c->n; i++)
        put_cell(e, v, c->field[i]);
    trod_result_row_end(e);
}

static void put_table(const struct count_state *s, struct trod_result *e, const struct row *rows,
                      uint64_t n, const struct columns *c)
{
    char title[32];

    snprintf(title, sizeof title, "%ss", s->word ? s->word : "thread");
    trod_result_counts(e, "threads_counts", title, c->name, c->head + c->n);
    for (uint64_t i = 0; i < n; i++) {
        const struct count_lane *l = rows[i].lane;

        if (c->head == HEAD)
            put_head(s, e, l, false);
        else if (l->name)
            trod_result_strn(e, NULL, l->name, l->name_len);
        else
            trod_result_absent(e);
        put_cells(e, c, &rows[i].is);
    }
    trod_result_table_close(e);
}

static void put_listing(const struct count_state *s, struct trod_result *e, const struct row *rows,
                        uint64_t n)
{
    trod_result_list(e, "threads_counts", "threads");
    for (uint64_t i = 0; i < n; i++) {
        trod_result_open(e, NULL, rows[i].lane->name ? rows[i].lane->name : "without thread");
        put_head(s, e, rows[i].lane, true);
        put_list(s, e, &rows[i].is);
        if (rows[i].lane->filetype != TROD_NOWHERE)
            trod_result_hex(e, "filetype", rows[i].lane->filetype);
        trod_result_close(e);
    }
    trod_result_list_close(e);
}

/* Windows of the lanes that have several. */
static void put_windows(const struct count_state *s, struct trod_result *e, const struct row *rows,
                        uint64_t n, const struct columns *all)
{
    struct columns c = *all;
    bool any = false;

    memmove(&c.name[2], &all->name[all->head], all->n * sizeof *c.name);
    c.name[1] = "window";
    for (uint64_t i = 0; i < n; i++) {
        const struct count_lane *l = rows[i].lane;

        for (uint32_t k = 0; l->n_windows > 1 && k < l->n_windows; k++) {
            const struct count_window *w = &l->window[k];
            struct count_feet feet = {.starts = w->code ? trod_pages_count(w->code, 0) : w->unique};
            struct count_values v;

            if (!any)
                trod_result_counts(e, "windows", "windows", c.name, 2 + c.n);
            any = true;
            trod_count_values(s, &w->sums, &feet, l->filetype, &v);
            for (unsigned f = COUNT_F_CODE_BYTES; f <= COUNT_F_DATA_LINES; f++)
                v.known[f] = false; /* kept for the thread only */
            trod_result_strn(e, NULL, l->name ? l->name : "", l->name_len);
            put_number(e, NULL, w->id);
            put_cells(e, &c, &v);
        }
    }
    if (any)
        trod_result_table_close(e);
}

static int by_order(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? 1 : -1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Threads of one file that are several, as one: what DynamoRIO calls a shard. */
static int put_shards(const struct count_state *s, struct trod_result *e, const struct columns *all)
{
    struct columns c = *all;
    struct count_shard *shard;
    uint32_t n;
    const int rc = trod_count_shards(s, &shard, &n);

    memmove(&c.name[2], &all->name[all->head], all->n * sizeof *c.name);
    c.name[0] = "file";
    c.name[1] = "threads";
    for (uint32_t i = 0; rc == TROD_OK && i < n; i++) {
        const struct count_shard *h = &shard[i];
        struct count_sums sums = {0};
        struct count_values v;
        uint64_t filetype = TROD_NOWHERE;

        for (uint32_t k = 0; k < s->n_lanes; k++) {
            const struct count_lane *l = &s->lane[k];

            if (l->file != h->file)
                continue;
            lane_sums(l, &sums);
            if (filetype == TROD_NOWHERE)
                filetype = l->filetype;
        }
        if (i == 0)
            trod_result_counts(e, "files_counts", "files with several threads", c.name, 2 + c.n);
        trod_count_values(s, &sums, &h->feet, filetype, &v);
        trod_result_u64(e, NULL, h->file);
        trod_result_u64(e, NULL, threads(s, h->file));
        put_cells(e, &c, &v);
    }
    if (rc == TROD_OK && n)
        trod_result_table_close(e);
    free(shard);
    return rc;
}

static bool several(const struct count_state *s)
{
    return s->n_lanes > 1 || (s->n_lanes == 1 && s->lane[0].name);
}

int trod_count_report(const void *st, struct trod_result *e)
{
    const struct count_state *s = st;
    struct row *rows = calloc(s->n_lanes + 1u, sizeof *rows);
    struct count_values total;
    struct columns c;
    uint64_t n = s->n_lanes, shown;
    int rc = rows ? put_total(s, e, &total) : TROD_ERR_NOMEM;

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct count_values first;

        rows[i].lane = &s->lane[i];
        rc = lane_values(s, &s->lane[i], &rows[i].is);
        trod_count_values(s, &s->lane[i].window[0].sums, &s->lane[i].feet, 0, &first);
        rows[i].order = first.v[COUNT_F_INSTRS];
    }
    if (rc == TROD_OK) {
        qsort(rows, n, sizeof *rows, by_order);
        shown = s->opt.top && s->opt.top < n ? s->opt.top : n;
        choose(s, &c, &total, s->opt.detail != TROD_COUNT_TABLE);
        rc = put_shards(s, e, &c);
        if (several(s) && s->opt.detail == TROD_COUNT_LIST)
            put_listing(s, e, rows, shown);
        else if (several(s))
            put_table(s, e, rows, shown, &c);
        if (shown < n)
            trod_result_u64(e, "threads_not_shown", n - shown);
        put_windows(s, e, rows, shown, &c);
    }
    free(rows);
    return rc == TROD_OK && s->by >= TROD_BY_MODULE ? trod_count_put_owners(s, e) : rc;
}
