/*
 * panes.c - registers, and what stands beside them, at the cursor. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/view.h"

static int top_of(const struct view *v)
{
    return v->height - 1 - v->panes;
}

static int address_digits(const struct browse_memory *m)
{
    int n = 8;

    while (n < 16 && (m->addr + m->n) >> (4 * n))
        n++;
    return n;
}

/* Columns of a register: name, mark, value. Two of them and eight bytes of memory fill 80. */
enum { NAME = 6, CELL = NAME + 1 + 16 };

/* The pane at the right has what 16 bytes need, or 8, where two registers have room beside it. */
int view_left_width(struct view *v)
{
    const int digits = address_digits(&view_model(v)->memory);

    if (v->width - (digits + 16 * 4 + 1) - 1 >= 2 * CELL + 1)
        return v->width - (digits + 16 * 4 + 1) - 1;
    if (v->width - (digits + 8 * 4 + 1) - 1 >= 2 * CELL + 1)
        return v->width - (digits + 8 * 4 + 1) - 1;
    if (v->width - (digits + 8 * 3) - 1 >= CELL)
        return v->width - (digits + 8 * 3) - 1;
    return v->width / 2;
}

static void pane_title(struct view *v, int x, int width, const char *text, bool focus)
{
    char line[256];

    snprintf(line, sizeof line, "%s%s", focus ? "[*] " : "--- ", text);
    screen_put(v, top_of(v) - 1, x, width, line, BROWSE_TITLE);
}

/* ---- registers */

static void register_text(const struct browse_register *r, int width, char *out, size_t size)
{
    const int n = (int)strlen(r->value), name = (int)strlen(r->name);
    const int room = width - 1 - (name > NAME ? name : NAME);
    const bool flags = r->flags[0] && n + 1 + (int)strlen(r->flags) <= room;

    if (n <= room)
        snprintf(out, size, "%-*s%c%s%s%s", NAME, r->name, r->changed ? '*' : ' ', r->value,
                 flags ? " " : "", flags ? r->flags : "");
    else /* the low digits are the ones that say most */
        snprintf(out, size, "%-*s%c..%s", NAME, r->name, r->changed ? '*' : ' ',
                 room > 2 ? r->value + (n - room + 2) : "");
}

/* Has the trace's format instructions, or registers? */
static bool tells_instructions(const struct browse *b)
{
    const struct trod_format *f = trod_nav_format(b->nav);

    return !f || !f->kinds ||
           (f->kinds & (1u << TROD_INSTR | 1u << TROD_REG | 1u << TROD_STATE | 1u << TROD_BRANCH));
}

/* Registers OF in columns [X, X + WIDTH), from line TOP of them on; one of them may be chosen. */
static void draw_cells(struct view *v, enum browse_registers of, int x, int width, size_t top,
                       bool focus)
{
    struct browse *b = view_model(v);
    const int cell = CELL + 1;
    const size_t columns = width + 1 >= 2 * cell ? (size_t)((width + 1) / cell) : 1;
    struct browse_register r;
    char text[2048];

    for (int y = 0; y < v->panes; y++) {
        screen_put(v, top_of(v) + y, x, width, "", BROWSE_PLAIN);
        for (size_t c = 0; c < columns; c++) {
            const size_t i = (top + (size_t)y) * columns + c;
            const int room = columns == 1 ? width : CELL;

            if (!browse_register(b, of, i, &r))
                continue;
            register_text(&r, room, text, sizeof text);
            screen_put_on(v, top_of(v) + y, x + (int)c * cell, room, text,
                          r.changed ? BROWSE_CHANGED : BROWSE_PLAIN,
                          focus && strcmp(r.name, v->reg_name) == 0);
        }
    }
}

static void draw_registers(struct view *v)
{
    struct browse *b = view_model(v);
    const int width = view_left_width(v), cell = CELL + 1;
    const size_t columns = width + 1 >= 2 * cell ? (size_t)((width + 1) / cell) : 1;
    struct browse_register r;
    size_t n = 0;

    for (; browse_register(b, BROWSE_PANE, n, &r); n++)
        if (strcmp(r.name, v->reg_name) == 0)
            v->reg = n; /* others have come before it, or gone */
    v->reg_count = n;
    v->reg_lines = columns;
    if (v->reg >= n)
        v->reg = n ? n - 1 : 0;
    if (!v->reg_name[0] && browse_register(b, BROWSE_PANE, v->reg, &r))
        snprintf(v->reg_name, sizeof v->reg_name, "%s", r.name);
    if (v->reg / columns < v->reg_top)
        v->reg_top = v->reg / columns;
    if (v->reg / columns >= v->reg_top + (size_t)v->panes)
        v->reg_top = v->reg / columns - (size_t)v->panes + 1;
    draw_cells(v, BROWSE_PANE, 0, width, v->reg_top, v->focus == FOCUS_REGISTERS);
    if (n == 0 && v->panes)
        screen_put(v, top_of(v), 0, width,
                   tells_instructions(b) ? " no register is known here"
                                         : " this format has addresses only, no registers",
                   BROWSE_PLAIN);
}

/* What registers OF are: whose, where, as OUT. */
static void registers_title(struct view *v, enum browse_registers of, char *out, size_t size)
{
    struct browse *b = view_model(v);
    uint32_t stream = 0;
    const uint64_t row = browse_registers_row(b, of, &stream);
    char name[64] = "";

    if (row != TROD_NOWHERE && trod_nav_meta(b->nav)->n_streams > 1)
        trod_nav_stream_name(b->nav, stream, name, sizeof name);
    if (row == TROD_NOWHERE)
        snprintf(out, size, "registers");
    else
        snprintf(out, size, "registers%s%s %s row %llu", name[0] ? " of " : "", name,
                 of == BROWSE_PANE && b->held ? "held at" : "at", (unsigned long long)row);
}

static void draw_second(struct view *v, int x, char *title, size_t size)
{
    struct browse *b = view_model(v);
    const int width = v->width - x;

    registers_title(v, BROWSE_SECOND, title, size);
    draw_cells(v, BROWSE_SECOND, x, width, 0, false);
    if (!b->held && b->other == TROD_NOWHERE)
        screen_put(v, top_of(v), x, width, "s sets a second position, L holds", BROWSE_PLAIN);
}

/* ---- memory */

/* Bytes in a line of WIDTH columns; *TEXT: are they shown as characters too. */
static unsigned bytes_of_line(int width, int address, bool *text)
{
    for (unsigned n = 16; n >= 4; n /= 2) {
        *text = address + (int)n * 3 + 1 + (int)n <= width;
        if (address + (int)n * 3 <= width)
            return n;
    }
    *text = false;
    return 4;
}

static void memory_line(struct view *v, int y, int x, size_t at)
{
    struct browse *b = view_model(v);
    const struct browse_memory *m = &b->memory;
    const int digits = address_digits(m), width = v->width - x;
    bool text;
    char one[24];

    bytes_of_line(width, digits, &text);
    snprintf(one, sizeof one, "%0*llx", digits, (unsigned long long)(m->addr + at));
    screen_put(v, y, x, width, one, BROWSE_PLAIN);
    for (unsigned k = 0; k < v->per_line && at + k < m->n; k++) {
        const struct trod_nav_byte *byte = &m->byte[at + k];
        const bool changed = browse_memory_changed(b, at + k), known = byte->from;
        const int to = x + digits + 3 * (int)k;

        if (known)
            snprintf(one, sizeof one, "%c%02x", changed ? '*' : ' ', byte->value);
        else
            snprintf(one, sizeof one, "%c--", changed ? '*' : ' ');
        screen_put_on(v, y, to, 3, one, changed ? BROWSE_CHANGED : BROWSE_PLAIN,
                      v->focus == FOCUS_RIGHT && view_chosen_byte(v, at + k));
        if (text) {
            one[0] = (char)(!known                                  ? '-'
                            : byte->value > 31 && byte->value < 127 ? byte->value
                                                                    : '.');
            one[1] = '\0';
            screen_put(v, y, x + digits + 3 * (int)v->per_line + 1 + (int)k, 1, one,
                       changed ? BROWSE_CHANGED : BROWSE_PLAIN);
        }
    }
}

static void memory_title(const struct browse_memory *m, char *out, size_t size)
{
    const char *sign = m->offset < 0 ? "-" : "+";
    char moved[32] = "", held[40] = "";

    if (m->offset)
        snprintf(
            moved, sizeof moved, " %s0x%llx", sign,
            (unsigned long long)(m->offset < 0 ? 0 - (uint64_t)m->offset : (uint64_t)m->offset));
    if (m->held)
        snprintf(held, sizeof held, ", held at row %llu", (unsigned long long)m->row);
    snprintf(out, size, "memory %s%s%s%s",
             m->what[0] ? "at "
             : m->held  ? ""
                        : "of the last access",
             m->what, moved, held);
}

static void draw_memory(struct view *v, int x, char *title, size_t size)
{
    struct browse *b = view_model(v);

    memory_title(&b->memory, title, size);
    if (v->stale && b->memory.n == 0)
        snprintf(title, size, "memory: reading");
    else if (b->memory.n == 0)
        snprintf(title, size, "memory: no access is near");
    for (int y = 0; y < v->panes; y++) {
        const size_t at = (size_t)y * v->per_line;

        if (at < b->memory.n)
            memory_line(v, top_of(v) + y, x, at);
        else
            screen_put(v, top_of(v) + y, x, v->width - x, "", BROWSE_PLAIN);
    }
}

static void draw_right(struct view *v)
{
    const int x = view_left_width(v) + 1;
    char title[128];

    if (v->pane == PANE_SOURCE)
        draw_source(v, x, top_of(v), title, sizeof title);
    else if (v->pane == PANE_CODE)
        draw_code(v, x, top_of(v), title, sizeof title);
    else if (v->pane == PANE_CALLS)
        draw_calls(v, x, top_of(v), title, sizeof title);
    else if (v->pane == PANE_REGISTERS)
        draw_second(v, x, title, sizeof title);
    else
        draw_memory(v, x, title, sizeof title);
    for (int y = 0; y < v->panes; y++) /* between the panes */
        screen_put(v, top_of(v) + y, x - 1, 1, "", BROWSE_PLAIN);
    pane_title(v, x - 1, v->width - x + 1, title, v->focus == FOCUS_RIGHT);
}

/* Bytes that the pane has room for. */
static size_t room_for(struct view *v)
{
    struct browse *b = view_model(v);
    bool text;

    v->per_line =
        bytes_of_line(v->width - view_left_width(v) - 1, address_digits(&b->memory), &text);
    return (size_t)v->panes * v->per_line;
}

/* Read the memory where the cursor or the size of the pane changed. */
static int read_memory(struct view *v)
{
    struct browse *b = view_model(v);
    size_t n = room_for(v);
    int rc = 0;

    if (!v->stale && v->read_row == b->cursor && v->read_bytes == n)
        return 0;
    rc = browse_memory_read(b, n);
    if (rc == 0 && room_for(v) != n) /* longer addresses leave less room */
        rc = browse_memory_read(b, n = room_for(v));
    if (rc < 0)
        return rc;
    v->read_row = b->cursor;
    v->read_bytes = n;
    if (v->byte >= n)
        v->byte = n ? n - 1 : 0;
    return 0;
}

void panes_click(struct view *v, int y, int x)
{
    const struct browse_memory *m = &view_model(v)->memory;
    const int left = view_left_width(v), line = y - top_of(v);
    const int byte = (x - left - 1 - address_digits(m)) / 3;
    size_t at;

    if (x <= left) {
        const size_t column = (size_t)(x / (CELL + 1));

        v->focus = FOCUS_REGISTERS;
        at = (v->reg_top + (size_t)line) * v->reg_lines + column;
        if (column < v->reg_lines && at < v->reg_count) {
            v->reg = at;
            v->reg_name[0] = '\0';
        }
        return;
    }
    v->focus = FOCUS_RIGHT;
    at = (size_t)line * v->per_line + (size_t)(byte > 0 ? byte : 0);
    if (byte < (int)v->per_line && at < m->n)
        v->byte = at;
}

void panes_wheel(struct view *v, bool up, bool right)
{
    const size_t n = v->reg_lines * VIEW_WHEEL;

    v->focus = right ? FOCUS_RIGHT : FOCUS_REGISTERS;
    if (right) {
        panes_scroll(v, up ? -VIEW_WHEEL : VIEW_WHEEL);
        return;
    }
    v->reg_name[0] = '\0';
    if (up)
        v->reg -= v->reg < n ? v->reg - v->reg % v->reg_lines : n;
    else if (v->reg_count)
        v->reg = v->reg + n < v->reg_count ? v->reg + n : v->reg_count - 1;
}

static void draw_left(struct view *v)
{
    char title[128];

    draw_registers(v);
    registers_title(v, BROWSE_PANE, title, sizeof title);
    pane_title(v, 0, view_left_width(v), title, v->focus == FOCUS_REGISTERS);
}

void draw_panes(struct view *v)
{
    struct browse *b = view_model(v);
    int rc, left;

    if (v->panes <= 0 || v->height < VIEW_LEAST_HEIGHT || v->width < VIEW_LEAST_WIDTH)
        return;
    v->stale |= v->read_row != b->cursor; /* until all has been read */
    rc = browse_state(b);
    draw_left(v);
    left = view_left_width(v);
    if (!trod_nav_index(b->nav)) { /* reading memory may take long */
        draw_right(v);
        refresh();
    }
    if (rc == 0 && v->pane == PANE_REGISTERS)
        rc = browse_second_state(b);
    if (rc == 0 && v->pane == PANE_CALLS)
        rc = view_read_calls(v);
    if (rc == 0)
        rc = read_memory(v);
    if (rc == 0)
        v->stale = false;
    if (view_left_width(v) != left) /* addresses are longer or shorter there */
        draw_left(v);
    draw_right(v);
    draw_status(v, browse_said(b, v->shown));
    refresh();
}
