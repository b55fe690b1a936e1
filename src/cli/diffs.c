/*
 * diffs.c - printing differences.
 *
 * Implements diffs.h. Text is a list of differences in the manner of diff(1): the rows before it
 * that both sides share, then '-' for rows of the first trace and '+' for rows of the second.
 */
#include <inttypes.h>
#include <string.h>

#include "diffs.h"

enum { LINE = 256 };

const char *cli_diff_name(enum trod_difference_type type)
{
    static const char *const names[TROD_DIFF_TYPES] = {
        [TROD_DIFF_CHANGED] = "changed",   [TROD_DIFF_MISSING] = "missing",
        [TROD_DIFF_INSERTED] = "inserted", [TROD_DIFF_REORDERED] = "reordered",
        [TROD_DIFF_REST] = "rest",
    };

    return names[type];
}

static const struct trod_compare_row *head(const struct trod_difference *d)
{
    return d->n_rows[0] ? d->rows[0] : d->rows[1];
}

/* "function+0x10", "" without symbols. */
static void symbol_of(const struct cli_diffs *p, uint64_t addr, char *out, size_t n)
{
    const char *name;
    uint64_t offset;

    out[0] = '\0';
    if (p->symbols && trod_symbols_find(p->symbols, addr, &name, &offset))
        snprintf(out, n, " <%s+0x%" PRIx64 ">", name, offset);
}

/* What row R is about: "instruction at 0x8000", "register x0", "write at 0x100". */
static void subject(const struct cli_diffs *p, const struct trod_compare_row *r, char *out,
                    size_t n)
{
    char symbol[128];

    if (r->kind == TROD_REG) {
        snprintf(out, n, "register %.*s", (int)r->name_len, r->name);
        return;
    }
    symbol_of(p, r->addr, symbol, sizeof symbol);
    if (r->has & TROD_COL_ADDR)
        snprintf(out, n, "%s at 0x%" PRIx64 "%s",
                 r->kind == TROD_INSTR ? "instruction" : trod_kind_name(r->kind), r->addr, symbol);
    else
        snprintf(out, n, "%s %.*s", trod_kind_name(r->kind), (int)r->name_len, r->name);
}

/* Names of the columns that differ: "value, address". */
static void field_names(uint32_t fields, char *out, size_t n)
{
    size_t len = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        if ((fields >> i & 1) && len < n)
            len += (size_t)snprintf(out + len, n - len, "%s%s", len ? ", " : "",
                                    (1u << i) == TROD_COL_CODE ? "opcode" : trod_column_name(i));
    if ((fields & TROD_COMPARE_MODE) && len < n)
        snprintf(out + len, n - len, "%smode", len ? ", " : "");
}

size_t cli_diff_title(const struct cli_diffs *p, const struct trod_difference *d, char *out,
                      size_t n)
{
    char what[256], fields[160];
    int len;

    subject(p, head(d), what, sizeof what);
    field_names(d->fields, fields, sizeof fields);
    if (d->type == TROD_DIFF_CHANGED && d->count[0] == 1 && d->count[1] == 1)
        len = snprintf(out, n, "changed: %s of %s", fields[0] ? fields : "kind", what);
    else if (d->type == TROD_DIFF_CHANGED)
        len = snprintf(out, n, "changed: %" PRIu64 " rows against %" PRIu64 ", from %s",
                       d->count[0], d->count[1], what);
    else if (d->type == TROD_DIFF_REORDERED)
        len = snprintf(out, n,
                       "reordered: %" PRIu64 " rows of difference %" PRIu64 " stand here, from %s",
                       d->count[0] + d->count[1], d->of + 1, what);
    else if (d->type == TROD_DIFF_REST)
        len = snprintf(out, n, "rest: the %s trace goes on for %" PRIu64 " rows, from %s",
                       d->count[0] ? "first" : "second", d->count[0] + d->count[1], what);
    else
        len = snprintf(out, n, "%s: %" PRIu64 " row%s (%" PRIu64 " instructions), from %s",
                       cli_diff_name(d->type), d->count[0] + d->count[1],
                       d->count[0] + d->count[1] == 1 ? "" : "s",
                       d->instructions[0] + d->instructions[1], what);
    return len < 0 ? 0 : (size_t)len < n ? (size_t)len : n - 1;
}

/* Row R in one line, without end: its record, or its fields where it has no text. */
static size_t row_line(const struct cli_diffs *p, const struct trod_compare_row *r, char *out)
{
    char symbol[128] = "";
    int n;

    if (r->kind == TROD_INSTR)
        symbol_of(p, r->addr, symbol, sizeof symbol);
    if (r->text_len) {
        n = snprintf(out, LINE, "%.*s%s", (int)r->text_len, r->text, symbol);
    } else {
        n = snprintf(out, LINE, "%-8s %.*s", trod_kind_name(r->kind), (int)r->name_len, r->name);
        if (r->has & TROD_COL_ADDR)
            n += snprintf(out + n, (size_t)(LINE - n), "0x%08" PRIx64 "%s", r->addr, symbol);
        if ((r->has & TROD_COL_SIZE) && n < LINE)
            n += snprintf(out + n, (size_t)(LINE - n), " %" PRIu32, r->size);
        if ((r->has & TROD_COL_VALUE) && n < LINE)
            n += snprintf(out + n, (size_t)(LINE - n), " 0x%" PRIx64, r->value);
        for (unsigned i = 0; i < r->code_len && n < LINE - 4; i++)
            n += snprintf(out + n, (size_t)(LINE - n), "%s%02x", i ? "" : " ", r->code[i]);
    }
    return n < LINE ? (size_t)n : LINE - 1;
}

static void print_row(const struct cli_diffs *p, char mark, const struct trod_compare_row *r)
{
    const char *colour = mark == '-' ? "\033[31m" : mark == '+' ? "\033[32m" : "\033[2m";
    char line[LINE];
    size_t n = row_line(p, r, line);

    fprintf(p->file, "%s%c %10" PRIu64 "  %.*s%s\n", p->colour ? colour : "", mark, r->ordinal,
            (int)n, line, p->colour ? "\033[0m" : "");
}

static void print_unified(const struct cli_diffs *p, const struct trod_difference *d)
{
    size_t from = d->n_context[0] > p->context ? d->n_context[0] - (size_t)p->context : 0;

    for (size_t i = from; i < d->n_context[0]; i++)
        print_row(p, ' ', &d->context[0][i]);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < d->n_rows[side]; i++)
            print_row(p, side ? '+' : '-', &d->rows[side][i]);
        if (d->count[side] > d->n_rows[side])
            fprintf(p->file, "%c %10s  ... and %" PRIu64 " more\n", side ? '+' : '-', "",
                    d->count[side] - d->n_rows[side]);
    }
}

/* Rows A and B (either may be NULL) beside each other. */
static void print_pair(const struct cli_diffs *p, char mark, const struct trod_compare_row *a,
                       const struct trod_compare_row *b)
{
    int half = (int)(p->width - 25) / 2;
    char line[2][LINE] = {"", ""};
    size_t n[2] = {0, 0};
    const char *colour = mark == '<'   ? "\033[31m"
                         : mark == '>' ? "\033[32m"
                         : mark == '|' ? "\033[33m"
                                       : "\033[2m";

    if (a)
        n[0] = row_line(p, a, line[0]);
    if (b)
        n[1] = row_line(p, b, line[1]);
    fprintf(p->file, "%s", p->colour ? colour : "");
    if (a)
        fprintf(p->file, "%10" PRIu64, a->ordinal);
    else
        fprintf(p->file, "%10s", "");
    fprintf(p->file, " %-*.*s %c ", half, (int)n[0] < half ? (int)n[0] : half, line[0], mark);
    if (b)
        fprintf(p->file, "%10" PRIu64 " %.*s", b->ordinal, (int)n[1] < half ? (int)n[1] : half,
                line[1]);
    fprintf(p->file, "%s\n", p->colour ? "\033[0m" : "");
}

static void print_side(const struct cli_diffs *p, const struct trod_difference *d)
{
    size_t n = d->n_context[0] < d->n_context[1] ? d->n_context[0] : d->n_context[1];
    size_t most = d->n_rows[0] > d->n_rows[1] ? d->n_rows[0] : d->n_rows[1];

    if (n > p->context)
        n = (size_t)p->context;
    for (size_t i = n; i > 0; i--)
        print_pair(p, ' ', &d->context[0][d->n_context[0] - i],
                   &d->context[1][d->n_context[1] - i]);
    for (size_t i = 0; i < most; i++) {
        const struct trod_compare_row *a = i < d->n_rows[0] ? &d->rows[0][i] : NULL;
        const struct trod_compare_row *b = i < d->n_rows[1] ? &d->rows[1][i] : NULL;

        print_pair(p, a && b ? '|' : a ? '<' : '>', a, b);
    }
    for (int side = 0; side < 2; side++)
        if (d->count[side] > d->n_rows[side])
            fprintf(p->file, "           ... and %" PRIu64 " more of the %s trace\n",
                    d->count[side] - d->n_rows[side], side ? "second" : "first");
}

/* Who wrote what the row is about, before the traces parted. */
static void print_last_write(const struct cli_diffs *p, const struct trod_compare *c,
                             const struct trod_compare_row *r)
{
    struct trod_last_write w;
    char pc[160] = "", symbol[128];
    bool found = r->kind == TROD_REG ? trod_compare_last_register(c, r->name, r->name_len, &w)
                                     : (r->kind == TROD_READ || r->kind == TROD_WRITE) &&
                                           trod_compare_last_memory(c, r->addr, r->size, &w);

    if (!found)
        return;
    if (w.pc) {
        symbol_of(p, w.pc, symbol, sizeof symbol);
        snprintf(pc, sizeof pc, " by 0x%" PRIx64 "%s", w.pc, symbol);
    }
    fprintf(p->file,
            "  last written%s with 0x%" PRIx64 ": record %" PRIu64 " and record %" PRIu64 "\n", pc,
            w.value, w.ordinal[0], w.ordinal[1]);
}

static const char *stream_name(const struct cli_diffs *p, const struct trod_difference *d)
{
    int side = d->n_rows[0] == 0;
    const struct trod_meta *m = p->meta[side];
    uint32_t stream = head(d)->stream;

    return stream < m->n_streams ? m->streams[stream].name : NULL;
}

static void print_text(const struct cli_diffs *p, const struct trod_compare *c,
                       const struct trod_difference *d)
{
    const char *stream = stream_name(p, d);
    char title[512];
    size_t n = cli_diff_title(p, d, title, sizeof title);

    fprintf(p->file, "%sdifference %" PRIu64 "%s%s: %.*s%s\n", p->colour ? "\033[1m" : "",
            d->number + 1, stream ? ", " : "", stream ? stream : "", (int)n, title,
            p->colour ? "\033[0m" : "");
    if (p->layout == CLI_DIFF_SIDE)
        print_side(p, d);
    else
        print_unified(p, d);
    print_last_write(p, c, head(d));
    fputc('\n', p->file);
}

static void emit_row(struct trod_emit *e, const struct cli_diffs *p,
                     const struct trod_compare_row *r)
{
    trod_emit_open(e, NULL, NULL);
    trod_emit_u64(e, "record", r->ordinal);
    trod_emit_str(e, "kind", trod_kind_name(r->kind));
    if (r->has & TROD_COL_TIME)
        trod_emit_u64(e, "time", r->time);
    if (r->has & TROD_COL_ADDR)
        trod_emit_hex(e, "address", r->addr);
    if (r->has & TROD_COL_SIZE)
        trod_emit_u64(e, "size", r->size);
    if (r->has & TROD_COL_VALUE)
        trod_emit_hex(e, "value", r->value);
    if (r->name_len)
        trod_emit_strn(e, "name", r->name, r->name_len);
    if (r->text_len)
        trod_emit_strn(e, "text", r->text, r->text_len);
    (void)p;
    trod_emit_close(e);
}

static void emit_rows(struct cli_diffs *p, const char *key, const struct trod_compare_row *r,
                      size_t n)
{
    if (n == 0)
        return;
    trod_emit_list(p->emit, key, NULL);
    for (size_t i = 0; i < n; i++)
        emit_row(p->emit, p, &r[i]);
    trod_emit_list_close(p->emit);
}

static void emit_difference(struct cli_diffs *p, const struct trod_difference *d)
{
    struct trod_emit *e = p->emit;
    const char *stream = stream_name(p, d);
    char title[512], fields[160];

    title[cli_diff_title(p, d, title, sizeof title)] = '\0';
    field_names(d->fields, fields, sizeof fields);
    trod_emit_open(e, NULL, NULL);
    trod_emit_u64(e, "number", d->number + 1);
    trod_emit_str(e, "type", cli_diff_name(d->type));
    if (stream)
        trod_emit_str(e, "stream", stream);
    trod_emit_str(e, "title", title);
    if (fields[0])
        trod_emit_str(e, "fields", fields);
    trod_emit_u64(e, "rows_a", d->count[0]);
    trod_emit_u64(e, "rows_b", d->count[1]);
    emit_rows(p, "a", d->rows[0], d->n_rows[0]);
    emit_rows(p, "b", d->rows[1], d->n_rows[1]);
    trod_emit_close(e);
}

int cli_diffs_add(void *user, const struct trod_compare *c, const struct trod_difference *d)
{
    struct cli_diffs *p = user;

    if (d->number >= p->most)
        return 0;
    if (p->emit)
        emit_difference(p, d);
    else
        print_text(p, c, d);
    return 0;
}
