/*
 * lines.c - rows as lines: those that `trod view` prints, and short ones for narrow terminals.
 *
 * Implements "lines" of model.h.
 */
#include "browse/folds.h"
#include "browse/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool says(const struct trod_batch *batch, uint32_t i, uint32_t column)
{
    return (batch->have & batch->has[i] & column) != 0;
}

static void disassembler(struct browse *b, const struct trod_meta *meta)
{
    if (b->disasm || b->no_disasm || meta->isa == TROD_ISA_UNKNOWN)
        return;
    b->no_disasm = meta->isa == TROD_ISA_REGDEPS ||
                   trod_disasm_new(&b->disasm, meta->isa, meta->endian, &b->diag) != 0;
}

/* Rows are shown in columns that are as wide as those of the rows around ROW ask for. */
static int prepare(struct browse *b, const struct trod_batch *batch, uint64_t row)
{
    const struct trod_meta *meta = trod_nav_meta(b->nav);
    const struct trod_format *format = trod_nav_format(b->nav);
    const struct trod_show_options opt = {.struct_size = sizeof opt, .meta = meta};
    uint8_t *keep;
    int rc;

    if (b->show && b->meta == meta)
        return 0;
    trod_show_free(b->show);
    b->show = NULL;
    b->meta = meta;
    rc = trod_show_new(&b->show, &opt);
    keep = malloc(batch->n + 1);
    if (rc == 0 && keep) {
        memset(keep, 1, batch->n);
        disassembler(b, meta);
        if (b->disasm && format && !(format->flags & TROD_FMT_TEXT))
            trod_show_disasm(b->show, b->disasm);
        trod_show_measure(b->show, batch, keep, b->rows != TROD_NOWHERE ? b->rows : row);
    }
    free(keep);
    return keep ? rc : TROD_ERR_NOMEM;
}

/* The rows of BATCH as those of the trace: rows that were kept do not say what they are of. */
static struct trod_batch of_trace(struct browse *b, const struct trod_batch *batch)
{
    struct trod_batch at = *batch;

    b->of_rows = *trod_nav_meta(b->nav);
    at.meta = &b->of_rows;
    return at;
}

static const char *fold_line(struct browse *b, const struct browse_fold *f)
{
    snprintf(b->line, TROD_SHOW_LINE, "%7llu [+] %s: %llu rows, %llu instructions",
             (unsigned long long)f->first, f->name, (unsigned long long)(f->last - f->first + 1),
             (unsigned long long)f->instructions);
    return b->line;
}

/* Where the branch in row I of BATCH leads, as a symbol; "" where that is not known. */
static void target(struct browse *b, const struct trod_batch *batch, uint32_t i, char *out,
                   size_t size)
{
    const struct trod_meta *meta = trod_nav_meta(b->nav);
    const struct trod_insn *insn;

    out[0] = '\0';
    if (!b->opt.symbols || batch->kind[i] != TROD_INSTR || !says(batch, i, TROD_COL_ADDR))
        return;
    if (says(batch, i, TROD_COL_TARGET)) {
        browse_symbol(b, batch->target[i], out, size);
        return;
    }
    if (!b->decoder && !b->no_decoder && meta->isa != TROD_ISA_UNKNOWN)
        b->no_decoder = trod_insn_decoder_new(&b->decoder, meta->isa, meta->endian) != 0;
    if (!b->decoder || !says(batch, i, TROD_COL_CODE))
        return;
    insn = trod_insn_decode(
        b->decoder,
        says(batch, i, TROD_COL_FLAGS) ? (batch->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0,
        batch->addr[i], trod_batch_bytes(batch, batch->code[i]), batch->code[i].len);
    if (insn->valid && insn->branch && insn->flags & TROD_INSN_TARGET)
        browse_symbol(b, insn->target, out, size);
}

/* NAME into LINE, which ends at END: after its text, in the blanks before "{details}". */
static void insert_target(char *line, char *end, const char *name)
{
    const size_t n = strlen(name) + 3; /* " <NAME>" */
    char *details = end, *at = NULL;

    for (char *p = strstr(line, "  {"); p && end[-1] == '}'; p = strstr(p + 1, "  {"))
        at = p;
    if (at) {
        details = at + 2;
        while (at > line && at[-1] == ' ')
            at--;
    } else {
        at = end;
    }
    if (at + n + (details < end) > details) /* there are too few blanks */
        memmove(at + n + (details < end), details, (size_t)(end - details) + 1);
    at[0] = ' ';
    at[1] = '<';
    memcpy(at + 2, name, n - 3);
    at[n - 1] = '>';
    if (details < end)
        at[n] = ' ';
}

int browse_line(struct browse *b, uint64_t row, const char **line, int *kind)
{
    const struct trod_batch *batch;
    const struct browse_fold *f;
    struct trod_batch at;
    uint32_t i;
    int rc = browse_row(b, row, &batch, &i);
    char *end, name[128];

    *line = "";
    *kind = -1;
    if (rc <= 0)
        return rc;
    f = browse_folds_find(&b->folds, trod_batch_stream(batch, i), row);
    if (f) {
        *line = fold_line(b, f);
        return 1;
    }
    if ((rc = prepare(b, batch, row)) < 0)
        return rc;
    at = of_trace(b, batch);
    end = trod_show_text(b->show, &at, i, row, b->line);
    while (end > b->line && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    *end = '\0';
    target(b, batch, i, name, sizeof name);
    if (name[0] && (size_t)(end - b->line) + strlen(name) + 8 < TROD_SHOW_LINE)
        insert_target(b->line, end, name);
    *line = b->line;
    *kind = batch->kind[i];
    return 1;
}

const char *browse_header(struct browse *b)
{
    char *end = b->line;

    if (b->show)
        end = trod_show_header(b->show, b->line);
    while (end > b->line && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    *end = '\0';
    return b->line;
}

void browse_text(struct browse *b, const struct trod_batch *batch, uint32_t i, char *out,
                 size_t size)
{
    const uint32_t flags = says(batch, i, TROD_COL_FLAGS) ? batch->flags[i] : 0;
    const char *p = "";
    size_t n = 0, k = 0;

    if (says(batch, i, TROD_COL_TEXT) && batch->text[i].len) {
        p = (const char *)trod_batch_bytes(batch, batch->text[i]);
        n = batch->text[i].len;
    } else if (batch->kind[i] == TROD_INSTR && says(batch, i, TROD_COL_CODE)) {
        disassembler(b, trod_nav_meta(b->nav));
        if (b->disasm)
            p = trod_disasm_text(b->disasm, (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                                 batch->addr[i], trod_batch_bytes(batch, batch->code[i]),
                                 batch->code[i].len, &n);
    }
    for (; n && k + 1 < size; p++, n--)
        if ((*p != ' ' && *p != '\t') || (k && out[k - 1] != ' '))
            out[k++] = *p == '\t' ? ' ' : *p;
    out[k] = '\0';
}

/* ---- lines of narrow terminals */

struct text {
    char *p;
    size_t n, size;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(t->p + t->n, t->size - t->n, fmt, args);
    va_end(args);
    if (n > 0)
        t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
}

/* Which column of CSV is NAME. */
static unsigned column(struct browse *b, const char *name)
{
    const size_t n = strlen(name);
    unsigned at = 0;

    *trod_show_csv_header(b->show, b->line) = '\0';
    for (const char *p = b->line; strncmp(p, name, n) != 0 || !strchr(",\n", p[n]); at++) {
        p = strchr(p, ',');
        if (!p++)
            break;
    }
    return at;
}

/* Field AT of the CSV line P, without its quotes and with single blanks, after T. */
static void put_field(struct text *t, const char *p, unsigned at)
{
    bool quoted = false;

    for (; *p && *p != '\n' && (at || quoted || *p != ','); p++) {
        const char c = *p == '\t' || *p == '\n' ? ' ' : *p;

        if (*p == '"') {
            quoted = !quoted;
            if (quoted || p[1] != '"')
                continue;
            p++;
            quoted = true;
        }
        if (at) {
            at -= *p == ',' && !quoted;
            continue;
        }
        if (t->n + 1 < t->size && (c != ' ' || (t->n && t->p[t->n - 1] != ' ')))
            t->p[t->n++] = c;
    }
    t->p[t->n] = '\0';
}

/* Text and value as `trod view` has them; of accesses and registers digits alone. */
static int put_fields(struct browse *b, struct text *t, const struct trod_batch *batch, uint32_t i,
                      uint64_t row)
{
    const unsigned kinds = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC | 1u << TROD_REG;
    const struct trod_batch at = of_trace(b, batch);
    int rc = prepare(b, batch, row);
    unsigned text, value;
    size_t from;

    if (rc < 0)
        return rc;
    text = column(b, "text");
    value = column(b, "value");
    *trod_show_csv(b->show, &at, i, row, b->line) = '\0';
    from = t->n;
    put_field(t, b->line, text);
    if (t->n > from)
        put(t, " ");
    from = t->n;
    put_field(t, b->line, value);
    if (batch->kind[i] < 32 && kinds >> batch->kind[i] & 1 && strncmp(t->p + from, "0x", 2) == 0) {
        memmove(t->p + from, t->p + from + 2, t->n - from - 1);
        t->n -= 2;
    }
    return 0;
}

static int put_what(struct browse *b, struct text *t, const struct trod_batch *batch, uint32_t i,
                    uint64_t row)
{
    char text[512];

    if (batch->kind[i] != TROD_INSTR)
        return put_fields(b, t, batch, i, row);
    browse_text(b, batch, i, text, sizeof text);
    put(t, "%s", text);
    target(b, batch, i, text, sizeof text);
    if (text[0])
        put(t, " <%s>", text);
    if (says(batch, i, TROD_COL_FLAGS) && (batch->flags[i] & TROD_F_SKIPPED))
        put(t, " (skipped)");
    return 0;
}

enum { BRIEF_KIND = 6, BRIEF_STREAM = 8 };

int browse_brief(struct browse *b, uint64_t row, char *out, size_t size, int *kind)
{
    const struct trod_batch *batch;
    const struct browse_fold *f;
    struct text t = {out, 0, size};
    char name[64];
    uint32_t i;
    int rc = browse_row(b, row, &batch, &i);

    out[0] = '\0';
    *kind = -1;
    if (rc <= 0)
        return rc;
    f = browse_folds_find(&b->folds, trod_batch_stream(batch, i), row);
    if (f && f->first == row) {
        snprintf(out, size, "%s", fold_line(b, f));
        return 1;
    }
    *kind = batch->kind[i];
    put(&t, "%7llu ", (unsigned long long)row);
    if (trod_nav_meta(b->nav)->n_streams > 1) {
        trod_nav_stream_name(b->nav, trod_batch_stream(batch, i), name, sizeof name);
        put(&t, "%-*s ", BRIEF_STREAM, says(batch, i, TROD_COL_STREAM) ? name : "-");
    }
    put(&t, "%-*s ", BRIEF_KIND, trod_kind_name(batch->kind[i]));
    if (says(batch, i, TROD_COL_ADDR))
        put(&t, "%08llx  ", (unsigned long long)batch->addr[i]);
    rc = put_what(b, &t, batch, i, row);
    return rc < 0 ? rc : 1;
}

const char *browse_brief_header(struct browse *b)
{
    const bool several = trod_nav_meta(b->nav)->n_streams > 1;

    snprintf(b->line, TROD_SHOW_LINE, "%7s %-*s%s%-*s %s", "row", several ? BRIEF_STREAM : 0,
             several ? "stream" : "", several ? " " : "", BRIEF_KIND, "kind",
             "address, what, value");
    return b->line;
}

bool browse_pc(struct browse *b, uint64_t *pc)
{
    enum { FAR = 4096 };
    const struct trod_batch *batch;
    uint32_t i, stream = 0;

    for (uint64_t k = 0; k < FAR && k <= b->cursor; k++) {
        if (browse_row(b, b->cursor - k, &batch, &i) <= 0)
            return false;
        if (k == 0)
            stream = trod_batch_stream(batch, i);
        if (trod_batch_stream(batch, i) != stream)
            continue;
        if (batch->kind[i] == TROD_INSTR && says(batch, i, TROD_COL_ADDR)) {
            *pc = batch->addr[i];
            return true;
        }
        if (k == 0 && says(batch, i, TROD_COL_PC)) {
            *pc = batch->pc[i];
            return true;
        }
    }
    return false;
}

bool browse_touched(struct browse *b, char *out, size_t size)
{
    const struct trod_batch *batch;
    uint64_t last;
    uint32_t i;

    if (b->rows == 0 || browse_row(b, b->cursor, &batch, &i) <= 0)
        return false;
    switch (batch->kind[i]) {
    case TROD_REG:
        browse_text(b, batch, i, out, size);
        return out[0];
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
        if (!says(batch, i, TROD_COL_ADDR))
            return false;
        last = batch->addr[i];
        if (says(batch, i, TROD_COL_SIZE) && batch->size[i])
            last += batch->size[i] - 1;
        snprintf(out, size, "0x%llx..0x%llx", (unsigned long long)batch->addr[i],
                 (unsigned long long)last);
        return true;
    default:
        return false;
    }
}
