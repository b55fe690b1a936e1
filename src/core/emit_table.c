/*
 * emit_table.c - tables for people: widths of columns, and folding what is wider than a line.
 *
 * Part of the emitter (trod/emit.h), called by emit_text.c. A table that does not fit is made
 * narrower where a column has long texts, which are wrapped at their blanks; if that is not enough,
 * its columns are shown in blocks one below the other, each beginning with the first column. Rows
 * that leave before the table is complete are not folded: the widths are not known yet.
 */
#include <stdlib.h>
#include <string.h>

#include "core/emit_int.h"

enum { GAP = 2 }; /* blanks between columns */

static const char dim[] = "\033[2m", plain[] = "\033[0m";

/* The columns of a block: FIRST, and those of [from, to) that are present. */
struct block {
    size_t first, from, to;
};

uint32_t emit_columns_of(const char *s)
{
    uint32_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Bytes of the first N columns of S. */
static size_t bytes_of(const char *s, uint32_t n)
{
    size_t i = 0;

    for (; s[i]; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return i;
}

size_t emit_fold(const char *s, uint32_t room, bool hard)
{
    size_t fits = bytes_of(s, room), at = fits;

    if (!s[fits])
        return fits;
    while (at > 0 && s[at] != ' ')
        at--;
    while (at > 0 && s[at - 1] == ' ')
        at--;
    if (at > 0)
        return at;
    for (at = hard ? fits : 0; at > 0; at--) /* a list without blanks */
        if (strchr("|,;:", s[at - 1]))
            return at;
    return hard ? fits : fits + strcspn(s + fits, " ");
}

static void measure(struct trod_emit *e)
{
    const char *s = (const char *)e->cells.p, *end = s + e->cells.n;

    for (size_t c = 0; c < e->n_columns; c++) {
        uint32_t w = emit_columns_of(e->columns[c]);

        if (e->width[c] < w)
            e->width[c] = w;
    }
    while (s < end) {
        for (size_t c = 0; c < e->n_columns; c++, s = emit_next(s)) {
            uint32_t w = emit_columns_of(s + 1);

            if (w > e->width[c])
                e->width[c] = w;
            if (*s == CELL_TEXT)
                e->words[c] = true;
            if (*s != CELL_ABSENT)
                e->present[c] = true;
        }
    }
}

static size_t first_column(const struct trod_emit *e)
{
    size_t c = 0;

    while (c + 1 < e->n_columns && !e->present[c])
        c++;
    return c;
}

/* Columns of a line with columns FIRST and [FROM, TO) of the table. */
static uint32_t line_width(const struct trod_emit *e, struct block b)
{
    uint32_t n = e->width[b.first];

    for (size_t c = b.from; c < b.to; c++)
        if (e->present[c])
            n += GAP + e->width[c];
    return n;
}

/*
 * Make columns of texts in B narrower, the widest first, until a line has ROOM columns or fewer.
 * False: that cannot be.
 */
static bool narrow(struct trod_emit *e, struct block b, uint32_t room)
{
    uint32_t total;

    while ((total = line_width(e, b)) > room) {
        size_t widest = e->n_columns;

        for (size_t c = b.first; c < b.to; c = c < b.from ? b.from : c + 1)
            if (e->present[c] && e->words[c] && e->width[c] > FOLD_LEAST &&
                (widest == e->n_columns || e->width[c] > e->width[widest]))
                widest = c;
        if (widest == e->n_columns)
            return false;
        if (total - room < e->width[widest] - FOLD_LEAST)
            e->width[widest] -= total - room;
        else
            e->width[widest] = FOLD_LEAST;
    }
    return true;
}

/* Columns that column C takes at the least where there are several blocks. */
static uint32_t wanted(const struct trod_emit *e, size_t c)
{
    return e->words[c] && e->width[c] > FOLD_WELL ? FOLD_WELL : e->width[c];
}

/* The block that begins with column FROM: as many columns as fit, one at the least. */
static struct block next_block(const struct trod_emit *e, size_t from, uint32_t room)
{
    struct block b = {first_column(e), from, from};
    uint32_t n = wanted(e, b.first);
    bool any = false;

    for (; b.to < e->n_columns; b.to++) {
        if (!e->present[b.to])
            continue;
        n += GAP + wanted(e, b.to);
        if (n > room && any)
            break;
        any = true;
    }
    return b;
}

/* Take what of *S goes on this line of column C, and print it; the last one is not padded. */
static void cell(struct trod_emit *e, size_t c, const char **s, bool last)
{
    size_t n = emit_fold(*s, e->width[c], true);
    char *text = strndup(*s, n);
    int space;

    if (!text) {
        e->nomem = true;
        *s += strlen(*s);
        return;
    }
    space = (int)(e->width[c] - emit_columns_of(text));
    if (!e->words[c])
        fprintf(e->file, "%*s%s", space, "", text);
    else
        fprintf(e->file, "%s%*s", text, last ? 0 : space, "");
    free(text);
    *s += n;
    *s += strspn(*s, " ");
}

/* The cells at AT, by column, on as many lines as they take. */
static void line(struct trod_emit *e, struct block b, const char **at)
{
    bool more = true;

    while (more) {
        size_t end = b.first; /* the last column that has something on this line */

        for (size_t c = b.from; c < b.to; c++)
            if (e->present[c] && *at[c])
                end = c;
        fprintf(e->file, "%*s", (int)e->level[e->depth - 1].indent, "");
        cell(e, b.first, &at[b.first], end == b.first);
        more = *at[b.first] != 0;
        for (size_t c = b.from; c < b.to && c <= end; c++) {
            if (!e->present[c])
                continue;
            fprintf(e->file, "%*s", GAP, "");
            cell(e, c, &at[c], c == end);
            more = more || *at[c];
        }
        putc('\n', e->file);
    }
}

static void header(struct trod_emit *e, struct block b, const char **at)
{
    for (size_t c = 0; c < e->n_columns; c++)
        at[c] = e->columns[c];
    if (e->opt.colour)
        fputs(dim, e->file);
    line(e, b, at);
    if (e->opt.colour)
        fputs(plain, e->file);
    e->header_done = true;
}

static void show_block(struct trod_emit *e, struct block b, const char **at)
{
    const char *s = (const char *)e->cells.p, *end = s + e->cells.n;

    if (!e->header_done)
        header(e, b, at);
    while (s < end) {
        for (size_t c = 0; c < e->n_columns; c++, s = emit_next(s))
            at[c] = s + 1;
        line(e, b, at);
    }
}

/* A table that is all here leaves out the columns in which no row says anything. */
static void hide_columns(struct trod_emit *e, bool complete)
{
    if (e->header_done || complete)
        return;
    for (size_t c = 0; c < e->n_columns; c++)
        e->present[c] = true;
}

/* The table, or what is held of it, in lines of ROOM columns. */
static void show_folded(struct trod_emit *e, uint32_t room, const char **at)
{
    struct block b = {first_column(e), first_column(e) + 1, e->n_columns};
    const size_t size = e->n_columns * sizeof *e->width;
    uint32_t *width = malloc(size);

    if (!width) {
        e->nomem = true;
        return;
    }
    memcpy(width, e->width, size);
    if (narrow(e, b, room)) {
        show_block(e, b, at);
        b.from = b.to;
    }
    for (memcpy(e->width, width, size); b.from < e->n_columns; b.from = b.to) {
        if (e->header_done)
            putc('\n', e->file);
        e->header_done = false;
        b = next_block(e, b.from, room);
        narrow(e, b, room);
        show_block(e, b, at);
    }
    free(width);
}

void emit_table_flush(struct trod_emit *e, bool complete)
{
    const struct emit_level *l = &e->level[e->depth - 1];
    uint32_t room = UINT32_MAX;
    const char **at;

    if (!e->width || !e->words || !e->present || e->nomem || e->n_cells == 0 || e->n_columns == 0)
        return;
    at = calloc(e->n_columns, sizeof *at);
    if (!at) {
        e->nomem = true;
        return;
    }
    complete = complete && l->what == EMIT_TABLE;
    if (e->opt.width > l->indent && complete && !e->header_done)
        room = e->opt.width - l->indent;
    measure(e);
    hide_columns(e, complete);
    show_folded(e, room, at);
    free(at);
    e->blank = false;
    e->cells.n = 0;
    e->n_cells = 0;
}
