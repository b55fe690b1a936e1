/*
 * diffs_summary.c - what a comparison comes to.
 *
 * Implements cli_diffs_summary and the XML helper of diffs.h.
 */
#include <inttypes.h>
#include <string.h>

#include "diffs.h"

enum { LEAST = 4 }; /* differences of which a cause is worth a hint */

static const char *const classes[TROD_TRACK_CLASSES] = {"instr", "reg", "mem", "event", "other"};

static void class_names(uint32_t track, char *out, size_t n)
{
    size_t len = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < TROD_TRACK_CLASSES; i++)
        if ((track >> i & 1) && len < n)
            len += (size_t)snprintf(out + len, n - len, "%s%s", len ? ", " : "", classes[i]);
}

/* What is not compared although both sides may have it: their tracers do not agree on it. */
static void emit_unlike(struct trod_emit *e, const struct trod_compare_summary *s)
{
    static const struct {
        uint32_t column;
        const char *name;
    } columns[] = {{TROD_COL_SUB, "sub"}, {TROD_COL_FLAGS, "flags"}, {TROD_COL_DETAIL, "detail"}};
    char names[128];
    size_t len = 0;

    class_names(s->unlike, names, sizeof names);
    if (names[0])
        trod_emit_str(e, "classes_not_compared", names);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (s->unlike_columns & columns[i].column)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                                    columns[i].name);
    if (len)
        trod_emit_str(e, "fields_not_compared", names);
}

static void emit_numbers(struct trod_emit *e, const struct cli_diffs *p,
                         const struct trod_compare_summary *s)
{
    char names[128];

    trod_emit_str(e, "a", p->path[0]);
    trod_emit_str(e, "b", p->path[1]);
    trod_emit_bool(e, "equal", s->differences == 0 && !p->trouble);
    trod_emit_count(e, "differences", s->differences);
    for (unsigned i = 0; i < TROD_DIFF_TYPES; i++)
        if (s->by_type[i])
            trod_emit_count(e, cli_diff_name((enum trod_difference_type)i), s->by_type[i]);
    for (int side = 0; side < 2; side++) {
        trod_emit_count(e, side ? "rows_b" : "rows_a", s->rows[side]);
        trod_emit_count(e, side ? "equal_b" : "equal_a", s->equal[side]);
        trod_emit_count(e, side ? "differing_b" : "differing_a", s->differing[side]);
        trod_emit_count(e, side ? "not_compared_b" : "not_compared_a", s->skipped[side]);
    }
    class_names(s->track, names, sizeof names);
    trod_emit_str(e, "compared", names);
    class_names(s->absent, names, sizeof names);
    if (names[0])
        trod_emit_str(e, "not_on_both_sides", names);
    emit_unlike(e, s);
    class_names(s->late, names, sizeof names);
    if (names[0])
        trod_emit_str(e, "not_compared_but_on_both_sides", names);
    if (s->apart)
        trod_emit_count(e, "streams_too_far_apart", s->apart);
    trod_emit_bool(e, "stopped_early", s->ended);
}

static void emit_kinds(struct trod_emit *e, const struct trod_compare_summary *s)
{
    static const char *const columns[] = {"kind", "differences"};

    trod_emit_table(e, "by_kind", "differences by kind", columns, 2);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (!s->by_kind[i])
            continue;
        trod_emit_str(e, "kind", trod_kind_name(i));
        trod_emit_count(e, "differences", s->by_kind[i]);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_registers(struct trod_emit *e, const struct trod_compare_summary *s)
{
    static const char *const columns[] = {"register", "differences"};

    trod_emit_table(e, "by_register", "differences by register", columns, 2);
    for (size_t i = 0; i < s->n_registers; i++) {
        trod_emit_str(e, "register", s->registers[i].name);
        trod_emit_count(e, "differences", s->registers[i].n);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_fields(struct trod_emit *e, const struct trod_compare_summary *s)
{
    static const char *const columns[] = {"field", "differences"};

    trod_emit_table(e, "by_field", "differences in one field alone", columns, 2);
    for (size_t i = 0; i < s->n_fields; i++) {
        trod_emit_str(e, "field", s->fields[i].name);
        trod_emit_count(e, "differences", s->fields[i].n);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

/* N of all differences are by one cause: is that most of them? */
static bool most(const struct trod_compare_summary *s, uint64_t n)
{
    return n >= LEAST && n > s->differences / 2;
}

/* What to leave out, where one cause makes most of the differences. "": there is none. */
static void hint(const struct trod_compare_summary *s, char *out, size_t n)
{
    const struct trod_compare_place *r = s->registers, *f = s->fields;
    const uint64_t rows = s->rows[0] < s->rows[1] ? s->rows[0] : s->rows[1];

    out[0] = '\0';
    if (s->n_registers && most(s, r->n) && r->only[0] + r->only[1] == r->n &&
        (!r->only[0] || !r->only[1]))
        snprintf(out, n,
                 "%s is written by %s only: %" PRIu64 " of %" PRIu64
                 " differences, --ignore-register %s",
                 r->name, r->only[0] ? "A" : "B", r->n, s->differences, r->name);
    else if (s->n_registers && most(s, r->n))
        snprintf(out, n, "%s makes %" PRIu64 " of %" PRIu64 " differences, --ignore-register %s",
                 r->name, r->n, s->differences, r->name);
    else if (s->n_fields && most(s, f->n) && !s->n_slides &&
             (strcmp(f->name, "addr") == 0 || strcmp(f->name, "target") == 0))
        snprintf(out, n,
                 "only %s differs in %" PRIu64 " of %" PRIu64
                 " differences, --slide auto where memory lies elsewhere",
                 f->name, f->n, s->differences);
    else if (s->n_fields && most(s, f->n))
        snprintf(out, n, "only %s differs in %" PRIu64 " of %" PRIu64 " differences, --ignore %s",
                 f->name, f->n, s->differences, f->name);
    else if (!s->n_slides && rows >= LEAST && s->differences && s->equal[0] < rows / 2)
        snprintf(out, n,
                 "less than half of the rows agree, --slide auto where code or data lie "
                 "elsewhere");
}

static void emit_pcs(struct trod_emit *e, const struct cli_diffs *p,
                     const struct trod_compare_summary *s)
{
    static const char *const columns[] = {"instruction", "symbol", "differences"};
    char symbol[CLI_SYMBOL];

    trod_emit_table(e, "by_pc", "differences by instruction", columns, 3);
    for (size_t i = 0; i < s->n_pcs; i++) {
        cli_diff_symbol(p, s->pcs[i].pc, symbol, sizeof symbol);
        trod_emit_hex(e, "instruction", s->pcs[i].pc);
        if (symbol[0])
            trod_emit_str(e, "symbol", symbol + 1);
        else
            trod_emit_absent(e);
        trod_emit_count(e, "differences", s->pcs[i].n);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_slides(struct trod_emit *e, const struct trod_compare_summary *s)
{
    static const char *const columns[] = {"side", "from", "to", "offset"};

    trod_emit_table(e, "slides", "address slides", columns, 4);
    for (size_t i = 0; i < s->n_slides; i++) {
        trod_emit_str(e, "side", s->slides[i].side ? "B" : "A");
        trod_emit_hex(e, "from", s->slides[i].lo);
        trod_emit_hex(e, "to", s->slides[i].hi);
        trod_emit_hex(e, "offset", s->slides[i].offset);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

void cli_diffs_summary(struct cli_diffs *p, const struct trod_compare_summary *s)
{
    struct trod_emit_options text = {.format = TROD_EMIT_TEXT, .colour = p->colour};
    struct trod_emit *e = p->emit;
    char text_of_hint[256];

    if (p->quiet)
        return;
    text.width = p->fold;
    if (!e && trod_emit_new(&e, p->file, &text) != 0)
        return;
    trod_emit_open(e, "summary", "summary");
    emit_numbers(e, p, s);
    hint(s, text_of_hint, sizeof text_of_hint);
    if (text_of_hint[0])
        trod_emit_str(e, "hint", text_of_hint);
    if (s->differences)
        emit_kinds(e, s);
    if (s->n_registers)
        emit_registers(e, s);
    if (s->n_fields)
        emit_fields(e, s);
    if (s->n_pcs)
        emit_pcs(e, p, s);
    if (s->n_slides)
        emit_slides(e, s);
    trod_emit_close(e);
    if (!p->emit)
        trod_emit_free(e);
}

/* Bytes of the UTF-8 character at P (N bytes follow), 0: none that XML may hold. */
static size_t utf8(const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0];
    size_t len = c < 0x80                ? 1
                 : c >= 0xc2 && c < 0xe0 ? 2
                 : c >= 0xe0 && c < 0xf0 ? 3
                 : c >= 0xf0 && c < 0xf5 ? 4
                                         : 0;

    if (len == 1)
        return c >= ' ' || c == '\n' || c == '\t';
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, what is beyond Unicode, and U+FFFE and U+FFFF. */
    c = (unsigned char)p[1];
    if (len == 3 &&
        (((unsigned char)p[0] == 0xe0 && c < 0xa0) || ((unsigned char)p[0] == 0xed && c >= 0xa0) ||
         ((unsigned char)p[0] == 0xef && c == 0xbf && (unsigned char)p[2] >= 0xbe)))
        return 0;
    if (len == 4 &&
        (((unsigned char)p[0] == 0xf0 && c < 0x90) || ((unsigned char)p[0] == 0xf4 && c >= 0x90)))
        return 0;
    return len;
}

void cli_xml_text(FILE *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = utf8(p + i, n - i);

        switch (p[i]) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fwrite(len ? p + i : "?", 1, len ? len : 1, to);
            i += len ? len - 1 : 0;
        }
    }
}
