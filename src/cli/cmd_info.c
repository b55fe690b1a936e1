/*
 * cmd_info.c - `trod info`: what a trace is and what is in it.
 *
 * One pass in constant memory (but for a counter a stream and a fixed number of unknown record
 * types): counts by kind and stream, time span, what was not understood, what was damaged.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { TYPES = 1024, TYPE_LEN = 40, TYPES_SHOWN = 20, UNITS = 256 };

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    bool quick;
};

static const struct trod_option options[] = {
    {"quick", 0, TROD_OPT_BOOL, offsetof(struct options, quick), NULL,
     "look at the beginning only: format and what its header says", NULL, NULL},
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

/* A record type that was not understood. */
struct type {
    uint64_t n;
    uint32_t len;
    char name[TYPE_LEN];
};

struct span {
    uint64_t n, first, last, least, most;
};

/* A bounded table of them. */
struct types {
    struct type *slot; /* TYPES, open addressing */
    size_t n;
    uint64_t others; /* rows of types beyond what it holds */
};

enum { NAMED = 64 };

struct counts {
    uint64_t rows, synthetic, kind[TROD_KINDS];
    uint64_t named[TROD_KINDS][NAMED]; /* rows by sub, where the format has names for them */
    uint64_t *stream;                  /* rows by stream */
    size_t n_streams;
    struct span time[UNITS]; /* by the unit column */
    struct types notes, markers;
};

static int grow_streams(struct counts *k, uint32_t stream)
{
    size_t n = k->n_streams ? k->n_streams : 16;
    uint64_t *p;

    while (n <= stream)
        n *= 2;
    p = realloc(k->stream, n * sizeof *p);
    if (!p)
        return TROD_ERR_NOMEM;
    memset(p + k->n_streams, 0, (n - k->n_streams) * sizeof *p);
    k->stream = p;
    k->n_streams = n;
    return 0;
}

static void count_type(struct types *k, const uint8_t *s, uint32_t len)
{
    uint32_t hash = 2166136261u;

    if (len > TYPE_LEN)
        len = TYPE_LEN;
    for (uint32_t i = 0; i < len; i++)
        hash = (hash ^ s[i]) * 16777619u;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct type *t = &k->slot[(hash + i) % TYPES];

        if (t->n == 0) {
            if (k->n >= TYPES * 3 / 4)
                break; /* invented names must not make every look-up slow */
            k->n++;
            t->len = len;
            memcpy(t->name, s, len);
        }
        if (t->len == len && memcmp(t->name, s, len) == 0) {
            t->n++;
            return;
        }
    }
    k->others++;
}

/* The rows of KIND by their text. */
static void count_types(struct types *k, const struct trod_batch *b, uint8_t kind)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->kind[i] != kind)
            continue;
        if ((b->have & b->has[i] & TROD_COL_TEXT) && b->text[i].len)
            count_type(k, trod_batch_bytes(b, b->text[i]), b->text[i].len);
        else if (kind == TROD_NOTE)
            count_type(k, (const uint8_t *)"", 0);
    }
}

static void count_times(struct counts *k, const struct trod_batch *b, uint8_t unit)
{
    bool units = b->have & TROD_COL_UNIT;

    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t t = b->time[i];
        struct span *s;

        if (!(b->has[i] & TROD_COL_TIME))
            continue;
        s = &k->time[units && (b->has[i] & TROD_COL_UNIT) ? b->unit[i] : unit];
        if (s->n++ == 0)
            s->first = s->least = s->most = t;
        s->last = t;
        if (t < s->least)
            s->least = t;
        if (t > s->most)
            s->most = t;
    }
}

static int count_streams(struct counts *k, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (!(b->has[i] & TROD_COL_STREAM))
            continue;
        if (b->stream[i] >= k->n_streams && grow_streams(k, b->stream[i]) != 0)
            return TROD_ERR_NOMEM;
        k->stream[b->stream[i]]++;
    }
    return 0;
}

/* Rows that the format has names for, but not as text; rows that the tracer put in. */
static void count_named(struct counts *k, const struct trod_batch *b)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;
    const bool named = f && f->sub_name && b->have & TROD_COL_SUB;

    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t has = b->have & b->has[i];

        k->synthetic += (has & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_SYNTHETIC);
        if (named && (has & (TROD_COL_SUB | TROD_COL_TEXT)) == TROD_COL_SUB)
            k->named[b->kind[i] % TROD_KINDS][b->sub[i] < NAMED ? b->sub[i] : NAMED - 1]++;
    }
}

static int count_batch(struct counts *k, const struct trod_batch *b, uint8_t unit)
{
    uint64_t notes = k->kind[TROD_NOTE], markers = k->kind[TROD_MARKER];

    k->rows += b->n;
    for (uint32_t i = 0; i < b->n; i++)
        k->kind[b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE]++;
    if (k->kind[TROD_NOTE] > notes)
        count_types(&k->notes, b, TROD_NOTE);
    if (k->kind[TROD_MARKER] > markers)
        count_types(&k->markers, b, TROD_MARKER);
    if (b->meta && b->meta->driver && b->meta->driver->sub_name)
        count_named(k, b);
    if (b->have & TROD_COL_TIME)
        count_times(k, b, unit);
    return b->have & TROD_COL_STREAM ? count_streams(k, b) : 0;
}

static int by_count(const void *a, const void *b)
{
    const struct type *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->len != y->len ? (x->len < y->len ? -1 : 1) : memcmp(x->name, y->name, x->len);
}

static void emit_kinds(struct trod_emit *e, const struct counts *k)
{
    static const char *const columns[] = {"kind", "rows", "percent"};

    trod_emit_table(e, "kinds", "rows by kind", columns, 3);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (k->kind[i] == 0)
            continue;
        trod_emit_str(e, NULL, trod_kind_name(i));
        trod_emit_count(e, NULL, k->kind[i]);
        trod_emit_f64(e, NULL, 100.0 * (double)k->kind[i] / (double)k->rows, 2);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

/* By what the format's documents call the records: WRITE rows may be D_WRITE or WRITE_BACK. */
static void emit_names(struct trod_emit *e, const struct counts *k, const struct trod_format *f)
{
    static const char *const columns[] = {"name", "rows", "percent"};
    bool any = false;

    for (unsigned i = 0; f && f->sub_name && i < TROD_KINDS * NAMED; i++) {
        const unsigned kind = i % TROD_KINDS, sub = i / TROD_KINDS;
        const char *name = k->named[kind][sub] ? f->sub_name(kind, sub) : NULL;

        if (!name)
            continue;
        if (!any)
            trod_emit_table(e, "names", "rows by the format's names", columns, 3);
        any = true;
        trod_emit_str(e, NULL, name);
        trod_emit_u64(e, NULL, k->named[kind][sub]);
        trod_emit_f64(e, NULL, 100.0 * (double)k->named[kind][sub] / (double)k->rows, 2);
        trod_emit_row_end(e);
    }
    if (any)
        trod_emit_table_close(e);
}

static void number_or_absent(struct trod_emit *e, uint64_t v)
{
    if (v == TROD_NOWHERE)
        trod_emit_absent(e);
    else
        trod_emit_u64(e, NULL, v);
}

static void emit_streams(struct trod_emit *e, const struct counts *k, const struct trod_meta *m)
{
    static const char *const columns[] = {"stream", "name", "tid", "pid", "cpu", "rows"};

    if (m->n_streams < 2 && (m->n_streams == 0 || m->streams[0].name_len == 0) &&
        (m->n_streams == 0 || m->streams[0].tid == TROD_NOWHERE))
        return;
    trod_emit_table(e, "streams", "cpus and threads", columns, 6);
    for (uint32_t i = 0; i < m->n_streams; i++) {
        const struct trod_stream *s = &m->streams[i];

        if (i == 0 && s->name_len == 0 && (k->n_streams == 0 || k->stream[0] == 0))
            continue;
        trod_emit_u64(e, NULL, i);
        if (s->name_len)
            trod_emit_strn(e, NULL, s->name, s->name_len);
        else
            trod_emit_absent(e);
        number_or_absent(e, s->tid);
        number_or_absent(e, s->pid);
        number_or_absent(e, s->cpu);
        trod_emit_count(e, NULL, i < k->n_streams ? k->stream[i] : 0);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void put_time(struct trod_emit *e, uint64_t v, unsigned unit)
{
    char s[TROD_PUT_TIME];

    if (trod_unit_decimals((uint8_t)unit) == 0)
        trod_emit_u64(e, NULL, v);
    else
        trod_emit_strn(e, NULL, s,
                       (size_t)(trod_put_fixed(s, v, trod_unit_decimals((uint8_t)unit)) - s));
}

static void emit_times(struct trod_emit *e, const struct counts *k, const struct trod_meta *m)
{
    static const char *const columns[] = {"unit", "first", "last", "least", "most", "rows"};
    bool any = false;

    for (unsigned u = 0; u < UNITS; u++) {
        const struct span *s = &k->time[u];

        if (s->n == 0)
            continue;
        if (!any)
            trod_emit_table(e, "times", "time span", columns, 6);
        any = true;
        if (!*trod_meta_unit_name(m, u))
            trod_emit_absent(e);
        else
            trod_emit_str(e, NULL, trod_meta_unit_name(m, u));
        put_time(e, s->first, u);
        put_time(e, s->last, u);
        put_time(e, s->least, u);
        put_time(e, s->most, u);
        trod_emit_count(e, NULL, s->n);
        trod_emit_row_end(e);
    }
    if (any)
        trod_emit_table_close(e);
}

static void emit_types(struct trod_emit *e, struct types *k, const char *key, const char *title)
{
    static const char *const columns[] = {"type", "rows"};
    uint64_t rest = k->others;

    if (k->n == 0)
        return;
    qsort(k->slot, TYPES, sizeof *k->slot, by_count);
    trod_emit_table(e, key, title, columns, 2);
    for (size_t i = 0; i < k->n; i++) {
        if (i >= TYPES_SHOWN) {
            rest += k->slot[i].n;
            continue;
        }
        trod_emit_strn(e, NULL, k->slot[i].name, k->slot[i].len);
        trod_emit_count(e, NULL, k->slot[i].n);
        trod_emit_row_end(e);
    }
    if (rest) {
        trod_emit_str(e, NULL, "(others)");
        trod_emit_u64(e, NULL, rest);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_problems(struct trod_emit *e, const struct trod_diag *d)
{
    static const char *const columns[] = {"problem", "severity", "count"};
    static const char *const names[] = {"note", "warning", "error"};

    if (d->n_counts == 0)
        return;
    trod_emit_table(e, "problems", "problems", columns, 3);
    for (uint32_t i = 0; i < d->n_counts; i++) {
        trod_emit_str(e, NULL, d->counts[i].kind);
        trod_emit_str(e, NULL, names[d->counts[i].severity]);
        trod_emit_u64(e, NULL, d->counts[i].n);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_size(struct trod_emit *e, const char *key, uint64_t v)
{
    if (v && v != TROD_NOWHERE)
        trod_emit_u64(e, key, v);
}

static void emit_meta(struct trod_emit *e, const struct trod_trace *t)
{
    static const char *const endians[] = {NULL, "little", "big"};
    const struct trod_meta *m = trod_trace_meta(t);
    const struct trod_format *f = trod_trace_format(t);

    if (f) {
        trod_emit_str(e, "format", f->name);
        trod_emit_str(e, "title", f->title);
    }
    trod_emit_str(e, "dialect", m->dialect);
    emit_size(e, "version", m->version);
    if (m->bits >= 0)
        trod_emit_i64(e, "evidence_bits", m->bits);
    if (m->isa != TROD_ISA_UNKNOWN)
        trod_emit_str(e, "isa", trod_isa_name(m->isa));
    trod_emit_str(e, "endian", endians[m->endian]);
    emit_size(e, "address_bits", m->addr_bits);
    emit_size(e, "line_size", m->line_size);
    emit_size(e, "page_size", m->page_size);
    if (m->filetype)
        trod_emit_hex(e, "filetype", m->filetype);
    if (m->filetype && f && f->filetype_name) {
        trod_emit_list(e, "filetype_bits", NULL);
        for (unsigned i = 0; i < 64; i++) {
            if ((m->filetype >> i & 1) && f->filetype_name(i))
                trod_emit_str(e, NULL, f->filetype_name(i));
        }
        trod_emit_list_close(e);
    }
}

static void emit_sizes(struct trod_emit *e, const struct trod_trace *t, bool quick)
{
    struct trod_trace_progress p;

    trod_trace_progress(t, &p);
    if (p.filters[0]) {
        trod_emit_list(e, "filters", NULL);
        for (unsigned i = 0; i < TROD_FILTER_DEPTH && p.filters[i]; i++)
            trod_emit_str(e, NULL, p.filters[i]);
        trod_emit_list_close(e);
    }
    if (trod_trace_files(t) > 1)
        trod_emit_u64(e, "files", trod_trace_files(t));
    if (p.total != TROD_NOWHERE)
        trod_emit_bytes(e, "file_bytes", p.total);
    else if (!quick)
        trod_emit_bytes(e, "file_bytes", p.bytes);
    if (!quick) {
        trod_emit_bytes(e, "decoded_bytes", p.decoded);
        emit_size(e, "skipped_bytes", p.skipped);
    }
}

static void emit_counts(struct trod_emit *e, struct counts *k, const struct trod_trace *t,
                        const struct trod_diag *d)
{
    trod_emit_count(e, "rows", k->rows);
    trod_emit_u64(e, "errors", d->errors);
    trod_emit_u64(e, "warnings", d->warnings);
    emit_times(e, k, trod_trace_meta(t));
    if (k->synthetic)
        trod_emit_u64(e, "synthetic_instructions", k->synthetic);
    emit_kinds(e, k);
    emit_names(e, k, trod_trace_format(t));
    emit_streams(e, k, trod_trace_meta(t));
    emit_types(e, &k->markers, "markers", "markers and events by name");
    emit_types(e, &k->notes, "not_understood", "record types not understood (kept as they are)");
    emit_problems(e, d);
}

/* What the format has to tell of its own: its analysis and the state of it. */
struct more {
    const struct trod_analysis *a; /* NULL: nothing */
    void *state;
};

static int more_begin(struct more *m, struct trod_trace *t, const struct trod_trace_options *opt,
                      struct trod_diag *diag)
{
    const struct trod_format *f = trod_trace_format(t);

    if (!f || !f->info)
        return 0;
    m->state = calloc(1, f->info->state_size);
    if (!m->state)
        return TROD_ERR_NOMEM;
    m->a = f->info;
    trod_trace_want(t, opt->want | m->a->needs | m->a->uses);
    return m->a->init(
        m->state, m->a->defaults,
        &(struct trod_context){
            .meta = trod_trace_meta(t), .diag = diag, .stream = TROD_ALL_STREAMS, .shards = 1});
}

static void more_end(struct more *m)
{
    if (m->a && m->a->fini)
        m->a->fini(m->state);
    free(m->state);
}

static int count_all(struct cli *c, struct trod_trace *t, struct counts *k, const struct more *m)
{
    struct cli_progress progress;
    struct trod_batch *b;
    int r;

    cli_progress_begin(&progress, c);
    while ((r = trod_trace_next(t, &b)) > 0) {
        r = count_batch(k, b, trod_trace_meta(t)->unit);
        if (r == 0 && m->a)
            r = m->a->feed(m->state, b, 0, b->n);
        if (r < 0)
            break;
        cli_progress_tick(&progress, t, k->rows);
    }
    cli_progress_end(&progress);
    return r;
}

/* One FILE. An error in reading is told and does not keep what was read from being shown. */
static int one(struct cli *c, const struct options *o, const char *path, struct trod_emit *e)
{
    struct trod_trace_options topt = cli_trace_options(
        &o->input, TROD_COL_KIND | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_TEXT);
    struct counts *k = calloc(1, sizeof *k);
    struct trod_trace *t = NULL;
    struct more more = {NULL, NULL};
    struct trod_result *result;
    struct trod_diag diag;
    int r = k ? 0 : TROD_ERR_NOMEM;

    cli_diag_init(c, &diag);
    diag.strict = o->input.strict;
    if (r == 0 && (!(k->notes.slot = calloc(TYPES, sizeof *k->notes.slot)) ||
                   !(k->markers.slot = calloc(TYPES, sizeof *k->markers.slot))))
        r = TROD_ERR_NOMEM;
    if (r == 0)
        r = trod_trace_open(&t, &path, 1, &topt, &diag);
    if (r == 0 && trod_trace_format(t) && trod_trace_format(t)->sub_name) {
        topt.want |= TROD_COL_FLAGS | TROD_COL_SUB;
        trod_trace_want(t, topt.want);
    }
    if (r == 0 && !o->quick)
        r = more_begin(&more, t, &topt, &diag);
    if (r == 0) {
        if (!o->quick)
            r = count_all(c, t, k, &more);
        trod_emit_open(e, NULL, path);
        if (o->report.format != TROD_EMIT_TEXT) /* there it is the title */
            trod_emit_str(e, "file", strcmp(path, "-") == 0 ? "standard input" : path);
        emit_meta(e, t);
        emit_sizes(e, t, o->quick);
        if (o->quick)
            emit_streams(e, k, trod_trace_meta(t));
        else
            emit_counts(e, k, t, &diag);
        if (more.a) {
            trod_emit_open(e, more.a->name, more.a->title);
            if (trod_result_new(&result) == 0 && more.a->result(more.state, result) == 0)
                trod_result_emit(result, e);
            trod_result_free(result);
            trod_emit_close(e);
        }
        trod_emit_close(e);
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&diag, r, "info.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    cli_diag_end(c, &diag);
    more_end(&more);
    trod_trace_close(t);
    if (k) {
        free(k->notes.slot);
        free(k->markers.slot);
        free(k->stream);
    }
    free(k);
    return r;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_out out;

    if (cli_report_begin(&out, c, &o->report) != 0)
        return CLI_TROUBLE;
    trod_emit_list(out.emit, "files", NULL);
    for (size_t i = 0; i < c->n_operands; i++)
        one(c, o, c->operands[i], out.emit);
    trod_emit_list_close(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

const struct cli_command cli_command_info = {
    .name = "info",
    .title = "tell what a trace is and what is in it",
    .operands = "FILE...",
    .about = "Tell what each FILE is and what is in it: format and dialect and how sure that is, "
             "compression, instruction set, cpus and threads, time span, records by kind, record "
             "types that are not understood, damage. A FILE may be a directory that is a trace, "
             "or - for standard input. The whole file is read.",
    .examples = "  trod info run.tarmac.gz\n"
                "  trod info --quick --format json *.trace | jq '.files[].format'\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
