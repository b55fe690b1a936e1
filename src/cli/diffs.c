/*
 * diffs.c - printing differences.
 *
 * Implements diffs.h. Text is a list of differences in the manner of diff(1): the rows before it
 * ('<' and '>' where they are not the same on both sides), then '-' for rows of the first trace and
 * '+' for rows of the second.
 */
#include <inttypes.h>
#include <string.h>

#include "diffs.h"
#include "trod/put.h"

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
void cli_diff_symbol(const struct cli_diffs *p, uint64_t addr, char *out, size_t n)
{
    const char *name;
    uint64_t offset;

    out[0] = '\0';
    if (p->symbols && trod_symbols_find(p->symbols, addr, &name, &offset))
        snprintf(out, n, " <%s+0x%" PRIx64 ">", name, offset);
}

/* N bytes of a trace at S, which may be any, to OUT, visible and as far as SIZE goes. Returns OUT.
 */
static char *seen(char *out, size_t size, const char *s, size_t n)
{
    char all[4 * LINE];
    size_t len = (size_t)(trod_put_visible(all, s, n < LINE ? n : LINE) - all);

    len = len < size ? len : size - 1;
    memcpy(out, all, len);
    out[len] = '\0';
    return out;
}

/* What row R is about: "instruction at 0x8000", "register x0", "write at 0x100". */
static void subject(const struct cli_diffs *p, const struct trod_compare_row *r, char *out,
                    size_t n)
{
    char symbol[CLI_SYMBOL], name[LINE];
    const int len = (int)strlen(seen(name, sizeof name, r->name, r->name_len));

    if (r->kind == TROD_REG) {
        snprintf(out, n, "register %.*s", len, name);
        return;
    }
    cli_diff_symbol(p, r->addr, symbol, sizeof symbol);
    if (r->has & TROD_COL_ADDR)
        snprintf(out, n, "%s at 0x%" PRIx64 "%s",
                 r->kind == TROD_INSTR ? "instruction" : trod_kind_name(r->kind), r->addr, symbol);
    else
        snprintf(out, n, "%s %.*s", trod_kind_name(r->kind), len, name);
}

void cli_diff_fields(const struct trod_difference *d, char *out, size_t n)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < d->n_fields && len < n; i++)
        len += (size_t)snprintf(out + len, n - len, "%s%s", len ? ", " : "", d->field[i].name);
}

/* "3 rows (1 instruction)" */
static void amount(const struct trod_difference *d, int side, char *out, size_t n)
{
    int len = snprintf(out, n, "%" PRIu64 " row%s", d->count[side], d->count[side] == 1 ? "" : "s");

    if (d->instructions[side] && len > 0 && (size_t)len < n)
        snprintf(out + len, n - (size_t)len, " (%" PRIu64 " instruction%s)", d->instructions[side],
                 d->instructions[side] == 1 ? "" : "s");
}

/* A rearrangement: where to. */
static int moved_title(const struct trod_difference *d, const char *what, const char *much,
                       char *out, size_t n)
{
    if (d->of != TROD_NOWHERE)
        return snprintf(out, n, "reordered: %s of difference %" PRIu64 " stand here, from %s", much,
                        d->of + 1, what);
    return snprintf(
        out, n, "reordered: %s stand elsewhere, at row %" PRIu64 " and at row %" PRIu64 ", from %s",
        much, d->first[0], d->first[1], what);
}

size_t cli_diff_title(const struct cli_diffs *p, const struct trod_difference *d, char *out,
                      size_t n)
{
    char what[256], fields[160], a[80], b[80];
    int len, side = d->count[0] == 0;

    subject(p, head(d), what, sizeof what);
    cli_diff_fields(d, fields, sizeof fields);
    amount(d, side, a, sizeof a);
    amount(d, 1, b, sizeof b);
    if (d->type == TROD_DIFF_CHANGED && d->count[0] == 1 && d->count[1] == 1)
        len = snprintf(out, n, "changed: %s of %s", fields[0] ? fields : "kind", what);
    else if (d->type == TROD_DIFF_CHANGED)
        len = snprintf(out, n, "changed: %s against %s, from %s", a, b, what);
    else if (d->type == TROD_DIFF_REORDERED)
        len = moved_title(d, what, a, out, n);
    else if (d->type == TROD_DIFF_REST)
        len = snprintf(out, n, "rest: the %s trace goes on for %s, from %s",
                       side ? "second" : "first", a, what);
    else
        len = snprintf(out, n, "%s: %s, from %s", cli_diff_name(d->type), a, what);
    return len < 0 ? 0 : (size_t)len < n ? (size_t)len : n - 1;
}

/* The disassembly of R of SIDE, or its opcode bytes where there is no disassembler. */
static int put_code(struct cli_diffs *p, int side, const struct trod_compare_row *r, char *out,
                    size_t room)
{
    const struct trod_meta *m = p->meta[side];
    int n = 0;

    if (!p->disasm[side] && !p->no_disasm[side])
        p->no_disasm[side] = trod_disasm_new(&p->disasm[side], m->isa, m->endian, NULL) != 0;
    if (p->disasm[side]) {
        size_t len;
        const char *text =
            trod_disasm_text(p->disasm[side], (r->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                             r->addr, r->code, r->code_len, &len);

        return snprintf(out, room, " %.*s", (int)len, text);
    }
    for (unsigned i = 0; i < r->code_len && (size_t)n + 4 < room; i++)
        n += snprintf(out + n, room - (size_t)n, "%s%02x", i ? "" : " ", r->code[i]);
    return n;
}

/* Row R of SIDE in one line, without end: its record, or its fields where it has no text. */
static size_t row_line(struct cli_diffs *p, int side, const struct trod_compare_row *r, char *out)
{
    char symbol[CLI_SYMBOL] = "", text[LINE];
    int n;

    if (r->kind == TROD_INSTR)
        cli_diff_symbol(p, r->addr, symbol, sizeof symbol);
    if (r->text_len) {
        seen(text, sizeof text, r->text, r->text_len);
        n = snprintf(out, LINE, "%s%s", text, symbol);
    } else {
        seen(text, sizeof text, r->name, r->name_len);
        n = snprintf(out, LINE, "%-8s %s", trod_kind_name(r->kind), text);
        if ((r->has & TROD_COL_ADDR) && n < LINE)
            n += snprintf(out + n, (size_t)(LINE - n), "0x%08" PRIx64 "%s", r->addr, symbol);
        if ((r->has & TROD_COL_SIZE) && n < LINE)
            n += snprintf(out + n, (size_t)(LINE - n), " %" PRIu32, r->size);
        if ((r->has & TROD_COL_VALUE) && n < LINE)
            n += snprintf(out + n, (size_t)(LINE - n), " 0x%" PRIx64, r->value);
        if (r->code_len && n < LINE - 4)
            n += put_code(p, side, r, out + n, (size_t)(LINE - n));
    }
    return n < LINE ? (size_t)n : LINE - 1;
}

static void print_row(struct cli_diffs *p, char mark, int side, const struct trod_compare_row *r)
{
    const char *colour = mark == '-' ? "\033[31m" : mark == '+' ? "\033[32m" : "\033[2m";
    char line[LINE];
    size_t n = row_line(p, side, r, line);

    fprintf(p->file, "%s%c %10" PRIu64 "  %.*s%s\n", p->colour ? colour : "", mark, r->ordinal,
            (int)n, line, p->colour ? "\033[0m" : "");
}

/* Whether rows A and B of the two sides are shown alike. */
static bool alike(struct cli_diffs *p, const struct trod_compare_row *a,
                  const struct trod_compare_row *b)
{
    char line[2][LINE];
    size_t n = row_line(p, 0, a, line[0]);

    return row_line(p, 1, b, line[1]) == n && memcmp(line[0], line[1], n) == 0;
}

/* The rows before: once where both sides show the same, else those of the first and the second. */
static void print_context(struct cli_diffs *p, const struct trod_difference *d)
{
    size_t n[2];
    bool same;

    for (int side = 0; side < 2; side++)
        n[side] = d->n_context[side] < p->context ? d->n_context[side] : (size_t)p->context;
    same = n[0] == n[1];
    for (size_t i = 1; same && i <= n[0]; i++)
        same = alike(p, &d->context[0][d->n_context[0] - i], &d->context[1][d->n_context[1] - i]);
    for (int side = 0; side < (same ? 1 : 2); side++)
        for (size_t i = n[side]; i > 0; i--)
            print_row(p,
                      same   ? ' '
                      : side ? '>'
                             : '<',
                      side, &d->context[side][d->n_context[side] - i]);
}

static void print_unified(struct cli_diffs *p, const struct trod_difference *d)
{
    print_context(p, d);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < d->n_rows[side]; i++)
            print_row(p, side ? '+' : '-', side, &d->rows[side][i]);
        if (d->count[side] > d->n_rows[side])
            fprintf(p->file, "%c %10s  ... and %" PRIu64 " more\n", side ? '+' : '-', "",
                    d->count[side] - d->n_rows[side]);
    }
}

/* Rows A and B (either may be NULL) beside each other. */
static void print_pair(struct cli_diffs *p, char mark, const struct trod_compare_row *a,
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
        n[0] = row_line(p, 0, a, line[0]);
    if (b)
        n[1] = row_line(p, 1, b, line[1]);
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

static void print_side(struct cli_diffs *p, const struct trod_difference *d)
{
    size_t n = d->n_context[0] > d->n_context[1] ? d->n_context[0] : d->n_context[1];
    size_t most = d->n_rows[0] > d->n_rows[1] ? d->n_rows[0] : d->n_rows[1];

    if (n > p->context)
        n = (size_t)p->context;
    for (size_t i = n; i > 0; i--)
        print_pair(p, ' ', i <= d->n_context[0] ? &d->context[0][d->n_context[0] - i] : NULL,
                   i <= d->n_context[1] ? &d->context[1][d->n_context[1] - i] : NULL);
    for (size_t i = 0; i < most; i++) {
        const struct trod_compare_row *a = i < d->n_rows[0] ? &d->rows[0][i] : NULL;
        const struct trod_compare_row *b = i < d->n_rows[1] ? &d->rows[1][i] : NULL;

        print_pair(p, a && b ? '|' : a ? '<' : '>', a, b);
    }
    for (int side = 0; side < 2; side++)
        if (d->count[side] > d->n_rows[side])
            fprintf(p->file, "%10s ... and %" PRIu64 " more of the %s trace\n", "",
                    d->count[side] - d->n_rows[side], side ? "second" : "first");
}

/* What the diverging instruction reads, and who wrote that last. */
static void print_inputs(const struct cli_diffs *p, const struct trod_difference *d)
{
    const struct trod_compare_row *i = d->instruction[0] ? d->instruction[0] : d->instruction[1];
    char symbol[CLI_SYMBOL] = "";

    if (d->n_inputs == 0 || !i)
        return;
    cli_diff_symbol(p, i->addr, symbol, sizeof symbol);
    fprintf(p->file, "  the instruction at 0x%" PRIx64 "%s reads\n", i->addr, symbol);
    for (size_t k = 0; k < d->n_inputs; k++) {
        const struct trod_compare_input *in = &d->inputs[k];

        if (in->name[0])
            fprintf(p->file, "    %-20s", in->name);
        else
            fprintf(p->file, "    0x%" PRIx64 ", %" PRIu32 " byte%s", in->addr, in->size,
                    in->size == 1 ? "" : "s");
        if (!in->written) {
            fprintf(p->file, " no write before it in both traces\n");
            continue;
        }
        fprintf(p->file, " last written in row %" PRIu64 " and row %" PRIu64, in->last.ordinal[0],
                in->last.ordinal[1]);
        if (in->last.pc) {
            cli_diff_symbol(p, in->last.pc, symbol, sizeof symbol);
            fprintf(p->file, " at 0x%" PRIx64 "%s", in->last.pc, symbol);
        }
        fprintf(p->file, " with 0x%" PRIx64 "\n", in->last.value);
    }
}

const char *cli_diff_stream(const struct cli_diffs *p, const struct trod_difference *d)
{
    int side = d->n_rows[0] == 0;
    const struct trod_meta *m = p->meta[side];
    uint32_t stream = head(d)->stream;

    return stream < m->n_streams ? m->streams[stream].name : NULL;
}

/* What the fields that differ say on either side. */
static void print_fields(const struct cli_diffs *p, const struct trod_difference *d)
{
    for (size_t i = 0; i < d->n_fields; i++) {
        const struct trod_compare_field *f = &d->field[i];
        char said[2][LINE];

        for (int side = 0; side < 2; side++)
            seen(said[side], LINE, f->said[side], strlen(f->said[side]));
        fprintf(p->file, "  %s: %s against %s\n", f->name, said[0][0] ? said[0] : "nothing",
                said[1][0] ? said[1] : "nothing");
    }
}

void cli_diffs_fini(struct cli_diffs *p)
{
    for (int side = 0; side < 2; side++) {
        trod_disasm_free(p->disasm[side]);
        p->disasm[side] = NULL;
        p->no_disasm[side] = false;
    }
}

static void print_text(struct cli_diffs *p, const struct trod_difference *d)
{
    const char *stream = cli_diff_stream(p, d);
    char title[512], name[LINE];
    size_t n = cli_diff_title(p, d, title, sizeof title);

    fprintf(p->file, "%sdifference %" PRIu64 "%s%s: %.*s%s\n", p->colour ? "\033[1m" : "",
            d->number + 1, stream ? ", " : "",
            stream ? seen(name, sizeof name, stream, strlen(stream)) : "", (int)n, title,
            p->colour ? "\033[0m" : "");
    print_fields(p, d);
    if (p->layout == CLI_DIFF_SIDE)
        print_side(p, d);
    else
        print_unified(p, d);
    print_inputs(p, d);
    fputc('\n', p->file);
    /* Somebody may be watching a model that still runs. */
    fflush(p->file);
}

int cli_diffs_add(void *user, const struct trod_compare *c, const struct trod_difference *d)
{
    struct cli_diffs *p = user;

    (void)c;
    if (p->quiet || d->number >= p->most)
        return 0;
    if (p->c->progress_shown) {
        fputs("\r\033[K", stderr);
        p->c->progress_shown = false;
    }
    if (p->emit)
        cli_diffs_emit(p, d);
    else
        print_text(p, d);
    return 0;
}
