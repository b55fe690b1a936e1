/*
 * chain.c - where a value came from, as a table and in the DOT language.
 *
 * Implements chain.h.
 */
#include <stdlib.h>
#include <string.h>

#include "chain.h"

enum { MOST = 4096 };

static const char *end_name(enum trod_nav_end end)
{
    static const char *const names[] = {
        NULL, "not written before", "constant", "opcode unknown", "seen", "limit", "untraced"};

    return names[end];
}

static void what(const struct trod_nav_step *s, char *out, size_t size)
{
    if (s->memory)
        snprintf(out, size, "0x%llx..0x%llx", (unsigned long long)s->addr,
                 (unsigned long long)(s->addr + (s->size ? s->size - 1 : 0)));
    else
        snprintf(out, size, "%s", s->reg);
}

static int put_step(struct cli_nav *n, struct trod_emit *e, const struct trod_nav_step *s,
                    size_t number)
{
    char text[256];
    uint64_t line;
    int r;

    trod_emit_u64(e, NULL, number);
    if (s->of == SIZE_MAX)
        trod_emit_absent(e);
    else
        trod_emit_u64(e, NULL, s->of);
    what(s, text, sizeof text);
    trod_emit_str(e, NULL, text);
    if (s->row == TROD_NOWHERE) {
        for (int i = 0; i < 6; i++)
            trod_emit_absent(e);
    } else {
        trod_emit_u64(e, NULL, s->row);
        r = trod_nav_line_of(n->nav, s->row, &line);
        if (r > 0)
            trod_emit_u64(e, NULL, line);
        else
            trod_emit_absent(e);
        if (s->has_pc)
            trod_emit_hex(e, NULL, s->pc);
        else
            trod_emit_absent(e);
        if (s->has_pc && cli_nav_symbol(n, s->pc, text, sizeof text))
            trod_emit_str(e, NULL, text);
        else
            trod_emit_absent(e);
        text[0] = '\0';
        r = s->insn == TROD_NOWHERE ? 0 : cli_nav_text(n, s->insn, text, sizeof text);
        if (r < 0)
            return r;
        if (text[0])
            trod_emit_str(e, NULL, text);
        else
            trod_emit_absent(e);
        if (s->has_value)
            trod_emit_hex(e, NULL, s->value);
        else
            trod_emit_absent(e);
    }
    if (end_name(s->end))
        trod_emit_str(e, NULL, end_name(s->end));
    else
        trod_emit_absent(e);
    trod_emit_row_end(e);
    return 0;
}

static int table(struct cli_nav *n, const struct cli_report *report,
                 const struct trod_nav_step *steps, size_t count)
{
    static const char *const columns[] = {"step", "of",     "what",        "row",   "line",
                                          "pc",   "symbol", "instruction", "value", "end"};
    struct cli_out out;
    int r = cli_report_begin(&out, n->c, report), end;

    if (r != 0)
        return r;
    trod_emit_table(out.emit, "chain", NULL, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = put_step(n, out.emit, &steps[i], i);
    trod_emit_table_close(out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

/* Text in a DOT string. */
static void put_label(struct trod_buf *b, const char *text)
{
    for (; *text; text++)
        trod_buf_printf(b, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static int node(struct cli_nav *n, struct trod_buf *b, const struct trod_nav_step *s, size_t number)
{
    char text[256];
    int r = 0;

    what(s, text, sizeof text);
    trod_buf_printf(b, "  s%zu [label=\"", number);
    put_label(b, text);
    if (s->has_value)
        trod_buf_printf(b, " = 0x%llx", (unsigned long long)s->value);
    if (s->row != TROD_NOWHERE) {
        trod_buf_printf(b, "\\nrow %llu", (unsigned long long)s->row);
        if (s->has_pc)
            trod_buf_printf(b, ", 0x%llx", (unsigned long long)s->pc);
        text[0] = '\0';
        r = s->insn == TROD_NOWHERE ? 0 : cli_nav_text(n, s->insn, text, sizeof text);
        trod_buf_printf(b, "%s", text[0] ? "\\n" : "");
        put_label(b, text);
    }
    if (end_name(s->end))
        trod_buf_printf(b, "\\n(%s)", end_name(s->end));
    trod_buf_printf(b, "\"];\n");
    if (s->of != SIZE_MAX)
        trod_buf_printf(b, "  s%zu -> s%zu;\n", number, s->of);
    return r < 0 ? r : 0;
}

static int draw(struct cli_nav *n, const char *path, const struct trod_nav_step *steps,
                size_t count)
{
    struct trod_buf b = {0};
    struct trod_output *out;
    int r = 0;

    if ((r = cli_not_input(n->c, path, &n->diag)) < 0)
        return r;
    trod_buf_printf(&b, "digraph chain {\n  rankdir=BT;\n  node [shape=box];\n");
    for (size_t i = 0; r == 0 && i < count; i++)
        r = node(n, &b, &steps[i], i);
    if (trod_buf_printf(&b, "}\n") < 0)
        r = TROD_ERR_NOMEM;
    if (r == 0)
        r = trod_output_create(&out, path, NULL, &n->diag);
    if (r == 0) {
        r = trod_output_write(out, b.p, b.n);
        if (r == 0)
            r = trod_output_commit(out);
        else
            trod_output_discard(out);
    }
    trod_buf_fini(&b);
    return r;
}

int cli_chain(struct cli_nav *n, const struct trod_nav_query *query, uint64_t row, uint64_t depth,
              const char *dot, const struct cli_report *report)
{
    struct trod_nav_step *steps = calloc(MOST, sizeof *steps);
    size_t count = 0;
    int r = steps ? trod_nav_chain(n->nav, query, row, depth < MOST ? (unsigned)depth : MOST, steps,
                                   MOST, &count)
                  : TROD_ERR_NOMEM;

    if (r == 0 && dot)
        r = draw(n, dot, steps, count);
    if (r == 0)
        r = table(n, report, steps, count);
    free(steps);
    return r;
}
