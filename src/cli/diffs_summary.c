/*
 * diffs_summary.c - what a comparison comes to.
 *
 * Implements cli_diffs_summary and the XML helper of diffs.h.
 */
#include <inttypes.h>
#include <string.h>

#include "diffs.h"

static const char *const classes[TROD_TRACK_CLASSES] = {"instr", "reg", "mem", "event", "other"};

static void class_names(uint32_t track, char *out, size_t n)
{
    size_t len = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < TROD_TRACK_CLASSES; i++)
        if ((track >> i & 1) && len < n)
            len += (size_t)snprintf(out + len, n - len, "%s%s", len ? ", " : "", classes[i]);
}

static void emit_numbers(struct trod_emit *e, const struct cli_diffs *p,
                         const struct trod_compare_summary *s)
{
    char names[128];

    trod_emit_str(e, "a", p->path[0]);
    trod_emit_str(e, "b", p->path[1]);
    trod_emit_bool(e, "equal", s->differences == 0);
    trod_emit_u64(e, "differences", s->differences);
    for (unsigned i = 0; i < TROD_DIFF_TYPES; i++)
        if (s->by_type[i])
            trod_emit_u64(e, cli_diff_name((enum trod_difference_type)i), s->by_type[i]);
    trod_emit_u64(e, "rows_a", s->rows[0]);
    trod_emit_u64(e, "rows_b", s->rows[1]);
    trod_emit_u64(e, "equal_rows", s->compared);
    trod_emit_u64(e, "not_compared_a", s->skipped[0]);
    trod_emit_u64(e, "not_compared_b", s->skipped[1]);
    class_names(s->track, names, sizeof names);
    trod_emit_str(e, "compared", names);
    class_names(s->absent, names, sizeof names);
    if (names[0])
        trod_emit_str(e, "not_on_both_sides", names);
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
        trod_emit_u64(e, "differences", s->by_kind[i]);
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
    struct trod_emit_options text = {TROD_EMIT_TEXT, p->colour};
    struct trod_emit *e = p->emit;

    if (!e && trod_emit_new(&e, p->file, &text) != 0)
        return;
    trod_emit_open(e, "summary", "summary");
    emit_numbers(e, p, s);
    if (s->differences)
        emit_kinds(e, s);
    if (s->n_slides)
        emit_slides(e, s);
    trod_emit_close(e);
    if (!p->emit)
        trod_emit_free(e);
}

void cli_xml_text(FILE *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
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
            fputc((unsigned char)p[i] < ' ' && p[i] != '\n' && p[i] != '\t' ? '?' : p[i], to);
        }
    }
}
