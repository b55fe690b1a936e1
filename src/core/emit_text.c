/*
 * emit_text.c - reports for people: aligned fields, indented sections, tables.
 *
 * Part of the emitter (trod/emit.h). Fields of one section wait until something else follows and
 * are then aligned. Rows of a table wait for their column widths, up to a megabyte of them; rows
 * beyond that use the widths found so far. How a table is laid out is in emit_table.c.
 */
#include <stdlib.h>
#include <string.h>

#include "core/emit_int.h"
#include "trod/put.h"

enum { HELD_FIELDS = 512, HELD_BYTES = 1 << 20 };

static const char bold[] = "\033[1m", plain[] = "\033[0m";

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

static void shown_key(struct trod_emit *e, const char *key)
{
    for (; *key; key++)
        putc(*key == '_' ? ' ' : *key, e->file);
}

/* The value S of a field, which begins in column AT, on as many lines as it takes. */
static void field_value(struct trod_emit *e, const char *s, uint32_t at)
{
    const uint32_t room = e->opt.width > at + FOLD_LEAST ? e->opt.width - at : UINT32_MAX;

    for (;;) {
        size_t n = emit_fold(s, room, false);

        fwrite(s, 1, n, e->file);
        putc('\n', e->file);
        s += n;
        s += strspn(s, " ");
        if (!*s)
            break;
        fprintf(e->file, "%*s", (int)at, "");
    }
}

void emit_text_flush(struct trod_emit *e)
{
    const char *end;
    unsigned indent = e->depth ? top(e)->indent : 0;
    uint32_t width = 0;

    e->list_field = false;
    if (e->n_fields == 0)
        return;
    if (e->table_over)
        empty_line(e);
    e->table_over = false;
    end = (const char *)e->fields.p + e->fields.n;
    for (const char *s = (const char *)e->fields.p; s < end; s = emit_next(emit_next(s))) {
        if (emit_columns_of(s) > width)
            width = emit_columns_of(s);
    }
    for (const char *s = (const char *)e->fields.p; s < end; s = emit_next(s)) {
        uint32_t n = emit_columns_of(s);

        fprintf(e->file, "%*s", (int)indent, "");
        shown_key(e, s);
        s = emit_next(s);
        fprintf(e->file, ":%*s", (int)(width - n + 2), "");
        field_value(e, s, indent + width + 3);
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
    e->blank = e->table_over = false;
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

void emit_text_row_end(struct trod_emit *e)
{
    if (e->cells.n > HELD_BYTES)
        emit_table_flush(e, false);
}

void emit_text_table_end(struct trod_emit *e)
{
    emit_table_flush(e, true);
    if (!e->header_done && top(e)->what == EMIT_TABLE) {
        fprintf(e->file, "%*snone\n", (int)top(e)->indent, "");
        e->blank = false;
    }
    free(e->width);
    free(e->words);
    free(e->present);
    e->width = NULL;
    e->words = e->present = NULL;
    e->table_over = top(e)->what == EMIT_TABLE;
}
