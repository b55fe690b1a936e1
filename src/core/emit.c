/*
 * emit.c - the one way numbers leave: the calls, JSON (RFC 8259) and CSV (RFC 4180, lines end in
 * LF).
 *
 * Implements docs/design.md, rule 7. The text layout is emit_text.c. Everything streams: only text
 * holds back the fields and rows it has yet to align, and of those at most a megabyte.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit_int.h"
#include "core/sized.h"
#include "trod/put.h"

static struct emit_level *top(struct trod_emit *e)
{
    return &e->level[e->depth - 1];
}

static void raw(struct trod_emit *e, const char *s)
{
    fputs(s, e->file);
    e->any = true;
}

static void indent(struct trod_emit *e, unsigned depth)
{
    fprintf(e->file, "\n%*s", (int)(2 * depth), "");
}

/* S escaped by HOW (trod_put_json or trod_put_csv), through a buffer on the stack. */
static void escaped(struct trod_emit *e, const char *s, size_t n,
                    char *(*how)(char *, const void *, size_t))
{
    char small[1024];
    char *p = small;

    if (n > sizeof small / 6 && (p = malloc(6 * n + 2)) == NULL) {
        e->nomem = true;
        return;
    }
    fwrite(p, 1, (size_t)(how(p, s, n) - p), e->file);
    if (p != small)
        free(p);
}

static void json_string(struct trod_emit *e, const char *s, size_t n)
{
    putc('"', e->file);
    escaped(e, s, n, trod_put_json);
    putc('"', e->file);
}

/* What stands before a value: comma, line, key. OBJECT: the value is an object or a list. */
static void json_lead(struct trod_emit *e, const char *key, bool object)
{
    struct emit_level *l = top(e);

    if (l->what == EMIT_LIST) {
        if (l->items++ > 0)
            raw(e, object ? "," : ", ");
        if (object)
            indent(e, e->depth);
        l->inline_list = !object;
        return;
    }
    if (l->items++ > 0)
        raw(e, ",");
    indent(e, e->depth);
    json_string(e, key ? key : "", key ? strlen(key) : 0);
    raw(e, ": ");
}

static void json_value(struct trod_emit *e, const char *key, const char *s, size_t n, bool number)
{
    if (top(e)->what == EMIT_TABLE || top(e)->what == EMIT_ROWS) {
        if (e->column == 0 && top(e)->what == EMIT_TABLE) {
            if (top(e)->items++ > 0)
                raw(e, ",");
            indent(e, e->depth);
        }
        raw(e, e->column == 0 ? "{" : ", ");
        json_string(e, e->columns[e->column], strlen(e->columns[e->column]));
        raw(e, ": ");
    } else {
        json_lead(e, key, false);
    }
    if (number)
        fwrite(s, 1, n, e->file);
    else
        json_string(e, s, n);
}

/* The dotted name grows by KEY, or by the number of an item. */
static void path_push(struct trod_emit *e, const char *key)
{
    uint64_t item = top(e)->items;
    const char *dot = e->path.n ? "." : "";
    int r;

    if (top(e)->what == EMIT_LIST)
        r = trod_buf_printf(&e->path, "%s%llu", dot, (unsigned long long)item);
    else
        r = trod_buf_printf(&e->path, "%s%s", dot, key ? key : "");
    if (r != 0)
        e->nomem = true;
}

static void csv_value(struct trod_emit *e, const char *key, const char *s, size_t n)
{
    size_t length = e->path.n;

    if (top(e)->what == EMIT_TABLE || top(e)->what == EMIT_ROWS) {
        if (e->column == 0 && e->item_column) {
            escaped(e, (const char *)e->path.p, length, trod_put_csv);
            putc(',', e->file);
        }
        if (e->column > 0)
            putc(',', e->file);
        escaped(e, s, n, trod_put_csv);
        return;
    }
    if (!e->in_fields)
        raw(e, e->any ? "\nname,value\n" : "name,value\n");
    e->in_fields = true;
    path_push(e, key);
    top(e)->items++;
    escaped(e, (const char *)e->path.p, e->path.n, trod_put_csv);
    putc(',', e->file);
    escaped(e, s, n, trod_put_csv);
    putc('\n', e->file);
    e->path.n = length;
}

static void push(struct trod_emit *e, enum emit_what what, size_t path)
{
    struct emit_level *l = &e->level[e->depth++];

    memset(l, 0, sizeof *l);
    l->what = what;
    l->path = path;
    l->indent = e->depth > 1 ? e->level[e->depth - 2].indent : 0;
}

/* The root object, unless rows are the whole output. */
static void begin(struct trod_emit *e)
{
    if (e->depth > 0)
        return;
    push(e, EMIT_OBJECT, 0);
    if (e->opt.format == TROD_EMIT_JSON)
        raw(e, "{");
}

static void value(struct trod_emit *e, const char *key, const char *s, size_t n, bool number)
{
    begin(e);
    if (e->ignored)
        return;
    if ((top(e)->what == EMIT_TABLE || top(e)->what == EMIT_ROWS) && e->column >= e->n_columns)
        return;
    if (e->opt.format == TROD_EMIT_TEXT)
        emit_text_value(e, key, s, n, number);
    else if (e->opt.format == TROD_EMIT_JSON)
        json_value(e, key, s, n, number);
    else
        csv_value(e, key, s, n);
    if (top(e)->what == EMIT_TABLE || top(e)->what == EMIT_ROWS)
        e->column++;
}

int trod_emit_new(struct trod_emit **out, FILE *file, const struct trod_emit_options *opt)
{
    struct trod_emit_options own;
    struct trod_emit *e;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return TROD_ERR_USAGE;
    *out = e = calloc(1, sizeof *e);
    if (!e)
        return TROD_ERR_NOMEM;
    e->file = file;
    e->blank = true;
    e->opt = own;
    return 0;
}

static void open_level(struct trod_emit *e, enum emit_what what, const char *key, const char *title)
{
    size_t path;

    begin(e);
    if (e->ignored || e->depth == TROD_EMIT_DEPTH) {
        e->ignored++;
        return;
    }
    path = e->path.n;
    if (e->opt.format == TROD_EMIT_CSV) {
        path_push(e, key);
        top(e)->items++;
    } else if (e->opt.format == TROD_EMIT_JSON) {
        json_lead(e, key, true);
        raw(e, what == EMIT_OBJECT ? "{" : "[");
    } else if (what == EMIT_OBJECT) {
        emit_text_open(e, key, title);
    }
    push(e, what, path);
    if (e->opt.format == TROD_EMIT_TEXT && what == EMIT_LIST) {
        top(e)->title = title;
        top(e)->key = key;
    } else if (e->opt.format == TROD_EMIT_TEXT && what == EMIT_OBJECT) {
        top(e)->indent += title || key ? 2 : 0;
    }
}

static void close_level(struct trod_emit *e)
{
    struct emit_level *l;

    if (e->ignored) {
        e->ignored--;
        return;
    }
    if (e->depth == 0)
        return;
    l = top(e);
    if (e->opt.format == TROD_EMIT_TEXT && l->what == EMIT_OBJECT)
        emit_text_flush(e);
    e->path.n = l->path;
    e->depth--;
    if (e->opt.format != TROD_EMIT_JSON || l->what == EMIT_ROWS)
        return;
    if (l->items > 0 && !l->inline_list)
        indent(e, e->depth);
    raw(e, l->what == EMIT_OBJECT ? "}" : "]");
}

int trod_emit_free(struct trod_emit *e)
{
    int r;

    if (!e)
        return 0;
    if (e->depth == 0 && !e->any && e->opt.format == TROD_EMIT_JSON)
        begin(e);
    while (e->depth > 0) {
        bool rows = top(e)->what == EMIT_ROWS;

        if (top(e)->what == EMIT_TABLE || rows)
            trod_emit_table_close(e);
        else
            close_level(e);
        if (e->depth == 0 && e->opt.format == TROD_EMIT_JSON && !rows)
            putc('\n', e->file);
    }
    r = fflush(e->file) != 0 || ferror(e->file) ? TROD_ERR_IO : e->nomem ? TROD_ERR_NOMEM : 0;
    trod_buf_fini(&e->path);
    trod_buf_fini(&e->fields);
    trod_buf_fini(&e->cells);
    free(e->width);
    free(e->words);
    free(e->present);
    free(e);
    return r;
}

void trod_emit_open(struct trod_emit *e, const char *key, const char *title)
{
    open_level(e, EMIT_OBJECT, key, title);
}

void trod_emit_close(struct trod_emit *e)
{
    close_level(e);
}

void trod_emit_list(struct trod_emit *e, const char *key, const char *title)
{
    open_level(e, EMIT_LIST, key, title);
}

void trod_emit_list_close(struct trod_emit *e)
{
    close_level(e);
}

void trod_emit_u64(struct trod_emit *e, const char *key, uint64_t v)
{
    char s[TROD_PUT_U64];

    value(e, key, s, (size_t)(trod_put_u64(s, v) - s), true);
}

void trod_emit_said(struct trod_emit *e, const char *key, uint64_t v, const char *label,
                    const char *shown)
{
    if (e->opt.format == TROD_EMIT_TEXT)
        value(e, label, shown, strlen(shown), false);
    else
        trod_emit_u64(e, key, v);
}

void trod_emit_count(struct trod_emit *e, const char *key, uint64_t v)
{
    char s[TROD_PUT_GROUPED];

    if (e->opt.format == TROD_EMIT_TEXT)
        value(e, key, s, (size_t)(trod_put_grouped(s, v) - s), true);
    else
        trod_emit_u64(e, key, v);
}

void trod_emit_bytes(struct trod_emit *e, const char *key, uint64_t v)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char s[TROD_PUT_GROUPED + 32];
    size_t n, unit = 0;
    double size = (double)v / 1024;

    if (e->opt.format != TROD_EMIT_TEXT) {
        trod_emit_u64(e, key, v);
        return;
    }
    while (size >= 1024 && unit < 5) {
        size /= 1024;
        unit++;
    }
    n = (size_t)(trod_put_grouped(s, v) - s);
    if (v >= 10240)
        n += (size_t)snprintf(s + n, sizeof s - n, " bytes (%.1f %s)", size, units[unit]);
    value(e, key, s, n, true);
}

void trod_emit_i64(struct trod_emit *e, const char *key, int64_t v)
{
    char s[TROD_PUT_U64 + 1], *p = s;

    if (v < 0)
        *p++ = '-';
    p = trod_put_u64(p, v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v);
    value(e, key, s, (size_t)(p - s), true);
}

void trod_emit_hex(struct trod_emit *e, const char *key, uint64_t v)
{
    char s[18] = "0x";

    value(e, key, s, (size_t)(trod_put_hex(s + 2, v, 1) - s), false);
}

void trod_emit_f64(struct trod_emit *e, const char *key, double v, int decimals)
{
    char s[400];
    int n;

    if (!isfinite(v)) {
        if (e->opt.format == TROD_EMIT_JSON)
            value(e, key, "null", 4, true);
        else
            value(e, key, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf", v < 0 ? 4 : 3, true);
        return;
    }
    n = snprintf(s, sizeof s, "%.*f", decimals, v);
    value(e, key, s, n < 0 || (size_t)n >= sizeof s ? 0 : (size_t)n, true);
}

void trod_emit_bool(struct trod_emit *e, const char *key, bool v)
{
    if (e->opt.format == TROD_EMIT_TEXT)
        value(e, key, v ? "yes" : "no", v ? 3 : 2, false);
    else
        value(e, key, v ? "true" : "false", v ? 4 : 5, true);
}

void trod_emit_str(struct trod_emit *e, const char *key, const char *v)
{
    if (v)
        value(e, key, v, strlen(v), false);
    else if (e->depth && (top(e)->what == EMIT_TABLE || top(e)->what == EMIT_ROWS))
        trod_emit_absent(e);
}

void trod_emit_strn(struct trod_emit *e, const char *key, const char *v, size_t n)
{
    value(e, key, v, n, false);
}

static void table(struct trod_emit *e, const char *const *columns, size_t n)
{
    e->columns = columns;
    e->n_columns = n;
    e->column = 0;
    e->in_fields = false;
    if (e->opt.format != TROD_EMIT_CSV)
        return;
    e->item_column = false;
    for (unsigned i = 0; i + 1 < e->depth; i++)
        e->item_column |= e->level[i].what == EMIT_LIST;
    if (e->item_column)
        e->path.n = top(e)->path; /* the item's name, not the table's */
    if (e->any)
        raw(e, "\n");
    if (e->item_column)
        raw(e, "item,");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putc(',', e->file);
        escaped(e, columns[i], strlen(columns[i]), trod_put_csv);
    }
    raw(e, "\n");
}

void trod_emit_table(struct trod_emit *e, const char *key, const char *title,
                     const char *const *columns, size_t n)
{
    open_level(e, EMIT_TABLE, key, title);
    if (e->ignored)
        return;
    table(e, columns, n);
    if (e->opt.format == TROD_EMIT_TEXT)
        emit_text_table(e, key, title);
}

void trod_emit_rows(struct trod_emit *e, const char *const *columns, size_t n)
{
    push(e, EMIT_ROWS, 0);
    table(e, columns, n);
    if (e->opt.format == TROD_EMIT_TEXT)
        emit_text_table(e, NULL, NULL);
}

void trod_emit_below(struct trod_emit *e, const char *key, const char *v, unsigned blanks)
{
    struct trod_buf text = {0};

    if (blanks && e->opt.format == TROD_EMIT_TEXT &&
        trod_buf_printf(&text, "%*s%s", (int)blanks, "", v) == TROD_OK)
        trod_emit_strn(e, key, (const char *)text.p, text.n);
    else
        trod_emit_str(e, key, v);
    trod_buf_fini(&text);
}

void trod_emit_absent(struct trod_emit *e)
{
    if (e->ignored || e->depth == 0 || e->column >= e->n_columns)
        return;
    if (e->opt.format == TROD_EMIT_TEXT) {
        emit_text_value(e, NULL, "-", 1, true);
    } else if (e->opt.format == TROD_EMIT_CSV) {
        csv_value(e, NULL, "", 0);
    } else {
        json_value(e, NULL, "null", 4, true);
    }
    e->column++;
}

void trod_emit_row_end(struct trod_emit *e)
{
    if (e->ignored || e->depth == 0)
        return;
    while (e->column < e->n_columns)
        trod_emit_absent(e);
    e->column = 0;
    if (e->opt.format == TROD_EMIT_JSON)
        raw(e, top(e)->what == EMIT_ROWS ? "}\n" : "}");
    else if (e->opt.format == TROD_EMIT_CSV)
        raw(e, "\n");
    else
        emit_text_row_end(e);
}

void trod_emit_table_close(struct trod_emit *e)
{
    if (!e->ignored && e->depth > 0) {
        if (e->column > 0)
            trod_emit_row_end(e);
        if (e->opt.format == TROD_EMIT_TEXT)
            emit_text_table_end(e);
    }
    close_level(e);
}
