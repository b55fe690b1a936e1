/*
 * emit_text.c - reports for people: aligned fields, indented sections, tables.
 *
 * Part of the emitter (trod/emit.h). Fields of one section wait until something else follows and
 * are then aligned. Rows of a table wait for their column widths, up to a megabyte of them; rows
 * beyond that use the widths found so far.
 */
#include <stdlib.h>
#include <string.h>

#include "core/emit_int.h"
#include "trod/put.h"

enum { HELD_FIELDS = 512, HELD_BYTES = 1 << 20, CELL_NUMBER = 1, CELL_TEXT = 2, CELL_ABSENT = 3 };

static const char bold[] = "\033[1m", dim[] = "\033[2m", plain[] = "\033[0m";

static struct emit_level *top(struct trod_emit *e)
{
    return &e->level[e->depth - 1];
}

static void paint(struct trod_emit *e, const char *how)
{
    if (e->opt.colour)
        fputs(how, e->file);
}

static void empty_line(struct trod_emit *e)
{
    if (!e->blank)
        putc('\n', e->file);
    e->blank = true;
}

/* Append S made visible and a NUL. */
static void add_visible(struct trod_emit *e, struct trod_buf *b, const char *s, size_t n)
{
    if (trod_buf_reserve(b, 4 * n + 1) != 0) {
        e->nomem = true;
        return;
    }
    b->n = (size_t)(trod_put_visible((char *)b->p + b->n, s, n) - (char *)b->p);
    b->p[b->n++] = 0;
}

/* Columns that N bytes of visible UTF-8 take (wide characters count as one). */
static uint32_t columns_of(const char *s)
{
    uint32_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void shown_key(struct trod_emit *e, const char *key)
{
    for (; *key; key++)
        putc(*key == '_' ? ' ' : *key, e->file);
}

static const char *next_text(const char *s)
{
    return s + strlen(s) + 1;
}

void emit_text_flush(struct trod_emit *e)
{
    const char *end;
    unsigned indent = e->depth ? top(e)->indent : 0;
    uint32_t width = 0;

    e->list_field = false;
    if (e->n_fields == 0)
        return;
    end = (const char *)e->fields.p + e->fields.n;
    for (const char *s = (const char *)e->fields.p; s < end; s = next_text(next_text(s))) {
        if (columns_of(s) > width)
            width = columns_of(s);
    }
    for (const char *s = (const char *)e->fields.p; s < end; s = next_text(s)) {
        uint32_t n = columns_of(s);

        fprintf(e->file, "%*s", (int)indent, "");
        shown_key(e, s);
        s = next_text(s);
        fprintf(e->file, ":%*s%s\n", (int)(width - n + 2), "", s);
    }
    e->fields.n = 0;
    e->n_fields = 0;
    e->blank = false;
}

static void field(struct trod_emit *e, const char *key, const char *s, size_t n)
{
    if (e->list_field && top(e)->what == EMIT_LIST && top(e)->items > 0) {
        /* the list goes on: its NUL becomes a comma */
        e->fields.n--;
        if (trod_buf_add(&e->fields, ", ", 2) != 0)
            e->nomem = true;
        add_visible(e, &e->fields, s, n);
        return;
    }
    if (e->n_fields == HELD_FIELDS || e->fields.n > HELD_BYTES)
        emit_text_flush(e);
    add_visible(e, &e->fields, key ? key : "", key ? strlen(key) : 0);
    add_visible(e, &e->fields, s, n);
    e->n_fields++;
}

void emit_text_value(struct trod_emit *e, const char *key, const char *s, size_t n, bool number)
{
    struct emit_level *l = top(e);
    uint8_t flag = number ? CELL_NUMBER : CELL_TEXT;

    if (l->what == EMIT_OBJECT) {
        e->list_field = false;
        field(e, key, s, n);
        l->items++;
    } else if (l->what == EMIT_LIST) {
        field(e, l->key, s, n);
        e->list_field = true;
        l->items++;
    } else {
        if (number && n == 1 && *s == '-')
            flag = CELL_ABSENT;
        if (trod_buf_add(&e->cells, &flag, 1) != 0)
            e->nomem = true;
        else
            add_visible(e, &e->cells, s, n);
        e->n_cells++;
    }
}

static void title_line(struct trod_emit *e, const char *title, unsigned indent)
{
    fprintf(e->file, "%*s", (int)indent, "");
    paint(e, bold);
    fputs(title, e->file);
    paint(e, plain);
    putc('\n', e->file);
    e->blank = false;
}

/* The title of the list that L is, before its first item. */
static void list_title(struct trod_emit *e, struct emit_level *l)
{
    if (l->what != EMIT_LIST || l->items++ > 0 || !l->title)
        return;
    empty_line(e);
    title_line(e, l->title, l->indent);
    l->indent += 2;
}

static void add_title(struct trod_emit *e, const char *key, const char *title, unsigned indent)
{
    char shown[128];
    char *p = shown;

    if (title) {
        struct trod_buf b = {0};

        add_visible(e, &b, title, strlen(title));
        if (b.n)
            title_line(e, (const char *)b.p, indent);
        trod_buf_fini(&b);
        return;
    }
    for (; *key && p < shown + sizeof shown - 1; key++)
        *p++ = *key == '_' ? ' ' : *key;
    *p = 0;
    title_line(e, shown, indent);
}

void emit_text_open(struct trod_emit *e, const char *key, const char *title)
{
    emit_text_flush(e);
    list_title(e, top(e));
    empty_line(e);
    if (title || key)
        add_title(e, key, title, top(e)->indent);
}

void emit_text_table(struct trod_emit *e, const char *key, const char *title)
{
    struct emit_level *l = top(e);

    e->width = calloc(e->n_columns + 1, sizeof *e->width);
    e->words = calloc(e->n_columns + 1, sizeof *e->words);
    e->present = calloc(e->n_columns + 1, sizeof *e->present);
    e->header_done = false;
    e->cells.n = 0;
    e->n_cells = 0;
    if (!e->width || !e->words || !e->present)
        e->nomem = true;
    if (e->depth > 1)
        l->indent = e->level[e->depth - 2].indent;
    /* fields before the table belong to the level outside */
    emit_text_flush(e);
    if (l->what == EMIT_ROWS)
        return;
    empty_line(e);
    if (title || key) {
        add_title(e, key, title, l->indent);
        l->indent += 2;
    }
}

static void measure(struct trod_emit *e)
{
    const char *s = (const char *)e->cells.p, *end = s + e->cells.n;

    for (size_t c = 0; c < e->n_columns; c++) {
        uint32_t w = columns_of(e->columns[c]);

        if (e->width[c] < w)
            e->width[c] = w;
    }
    while (s < end) {
        for (size_t c = 0; c < e->n_columns; c++, s = next_text(s)) {
            uint32_t w = columns_of(s + 1);

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

/* A cell in its column; the last column of words is not padded. */
static void cell(struct trod_emit *e, size_t c, const char *s)
{
    int space = (int)(e->width[c] - columns_of(s));

    if (!e->present[c])
        return;
    if (c > first_column(e))
        fputs("  ", e->file);
    if (!e->words[c])
        fprintf(e->file, "%*s%s", space, "", s);
    else
        fprintf(e->file, "%s%*s", s, c + 1 == e->n_columns ? 0 : space, "");
}

/* A table that is all here leaves out the columns in which no row says anything. */
static void hide_columns(struct trod_emit *e, bool complete)
{
    if (e->header_done || (complete && top(e)->what == EMIT_TABLE))
        return;
    for (size_t c = 0; c < e->n_columns; c++)
        e->present[c] = true;
}

static void flush_rows(struct trod_emit *e, bool complete)
{
    const char *s = (const char *)e->cells.p, *end;
    int indent = (int)top(e)->indent;

    if (!e->width || !e->words || !e->present || e->nomem || e->n_cells == 0 || e->n_columns == 0)
        return;
    end = s + e->cells.n;
    measure(e);
    hide_columns(e, complete);
    if (!e->header_done) {
        fprintf(e->file, "%*s", indent, "");
        paint(e, dim);
        for (size_t c = 0; c < e->n_columns; c++)
            cell(e, c, e->columns[c]);
        paint(e, plain);
        putc('\n', e->file);
        e->header_done = true;
    }
    while (s < end) {
        fprintf(e->file, "%*s", indent, "");
        for (size_t c = 0; c < e->n_columns; c++, s = next_text(s))
            cell(e, c, s + 1);
        putc('\n', e->file);
    }
    e->blank = false;
    e->cells.n = 0;
    e->n_cells = 0;
}

void emit_text_row_end(struct trod_emit *e)
{
    if (e->cells.n > HELD_BYTES)
        flush_rows(e, false);
}

void emit_text_table_end(struct trod_emit *e)
{
    flush_rows(e, true);
    if (!e->header_done && top(e)->what == EMIT_TABLE) {
        fprintf(e->file, "%*snone\n", (int)top(e)->indent, "");
        e->blank = false;
    }
    free(e->width);
    free(e->words);
    free(e->present);
    e->width = NULL;
    e->words = e->present = NULL;
}
