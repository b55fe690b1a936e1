/*
 * moves.c - what keys do that move the cursor. Implements actions.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/find.h"

enum { SHIFT = 8 };

void action_end(struct view *v, int rc)
{
    struct browse *b = view_model(v);

    v->patient = false;
    if (rc == BROWSE_STOPPED)
        browse_say(b, "stopped");
    else if (rc < 0 && b->log.n == v->shown)
        browse_say(b, "the trace cannot be read on");
}

static void move_rows(struct view *v, int64_t n)
{
    struct browse *b = view_model(v);

    if (n > 0 && (b->rows == 0 || b->cursor + 1 == b->rows))
        view_look_again(v);
    v->patient = true;
    action_end(v, browse_move(view_model(v), n));
}

/* The arrow keys in the panes. */
static bool move_pane(struct view *v, int key)
{
    const bool registers = v->focus == FOCUS_REGISTERS;
    const size_t line = registers ? v->reg_lines : v->per_line;
    size_t *at = registers ? &v->reg : &v->byte;
    const size_t n = registers ? v->reg_count : view_model(v)->memory.n;
    size_t to = *at;

    if (v->focus == FOCUS_ROWS || (!registers && v->pane != PANE_MEMORY))
        return false;
    if (key == KEY_DOWN || key == KEY_RIGHT)
        to += key == KEY_DOWN ? line : 1;
    else if (to >= (key == KEY_UP ? line : 1))
        to -= key == KEY_UP ? line : 1;
    if (to < n)
        *at = to;
    return true;
}

void action_up(struct view *v, int key)
{
    if (key == 'k' || !move_pane(v, KEY_UP))
        move_rows(v, -1);
}

void action_down(struct view *v, int key)
{
    if (key == 'j' || !move_pane(v, KEY_DOWN))
        move_rows(v, 1);
}

void action_left(struct view *v, int key)
{
    (void)key;
    if (!move_pane(v, KEY_LEFT))
        v->shift -= v->shift < SHIFT ? v->shift : SHIFT;
}

void action_right(struct view *v, int key)
{
    (void)key;
    if (!move_pane(v, KEY_RIGHT) && v->shift < 1000)
        v->shift += SHIFT;
}

void action_page(struct view *v, int key)
{
    const int n = view_rows_height(v) > 1 ? view_rows_height(v) - 1 : 1;

    move_rows(v, key == KEY_PPAGE || key == 'b' ? -n : n);
}

void action_start(struct view *v, int key)
{
    (void)key;
    v->patient = true;
    action_end(v, browse_go(view_model(v), 0));
}

void action_last(struct view *v, int key)
{
    (void)key;
    view_look_again(v);
    v->patient = true;
    action_end(v, browse_end(view_model(v)));
}

void action_instruction(struct view *v, int key)
{
    v->patient = true;
    action_end(v, browse_instruction(view_model(v), key == 'I'));
}

/* ---- jumps */

static void go_to(struct view *v, const char *text)
{
    if (!text[0])
        return;
    v->patient = true;
    action_end(v, browse_place(view_model(v), text));
}

void action_place(struct view *v, int key)
{
    char text[VIEW_LINE] = "";

    (void)key;
    if (prompt(v, "go to (row, line:N, time:T, insn:N, N%, address, symbol): ", text))
        go_to(v, text);
}

void action_line_or_time(struct view *v, int key)
{
    const char *word = key == 'l' ? "line" : "time";
    char question[32], text[VIEW_LINE] = "", full[VIEW_LINE + 8];

    snprintf(question, sizeof question, "%s: ", word);
    if (!prompt(v, question, text) || !text[0])
        return;
    snprintf(full, sizeof full, "%s:%s", word, text);
    go_to(v, full);
}

void action_mouse(struct view *v, int key)
{
    const int top = view_rows_top();
    bool panes, up;
    MEVENT e;

    (void)key;
    if (getmouse(&e) != OK)
        return;
    panes = e.y >= v->height - 1 - v->panes && e.y < v->height - 1;
    up = e.bstate & BUTTON4_PRESSED;
    if (up || e.bstate & BUTTON5_PRESSED) {
        if (panes && e.x < view_left_width(v))
            panes_wheel(v, up);
        else
            move_rows(v, up ? -VIEW_WHEEL : VIEW_WHEEL);
    } else if (e.y >= top && e.y < top + (int)v->n_rows) {
        view_model(v)->cursor = v->row[e.y - top];
        v->focus = FOCUS_ROWS;
    } else if (panes) {
        panes_click(v, e.y, e.x);
    }
}

/* ---- what rows do */

static void find(struct view *v, bool back)
{
    struct browse *b = view_model(v);

    if (!v->expression[0]) {
        browse_say(b, "nothing was looked for so far: / asks");
        return;
    }
    v->patient = true;
    action_end(v, browse_find(b, v->expression, back));
}

void action_find(struct view *v, int key)
{
    char text[VIEW_LINE] = "";

    (void)key;
    if (!prompt(v, "find (as: kind == WRITE && addr in 0x1000..0x2000): ", text) || !text[0])
        return;
    snprintf(v->expression, sizeof v->expression, "%s", text);
    find(v, false);
}

void action_find_again(struct view *v, int key)
{
    find(v, key == 'F');
}

void action_exception(struct view *v, int key)
{
    v->patient = true;
    action_end(v, browse_kind(view_model(v), TROD_EXCEPTION, key == 'E'));
}

/* What is chosen in the pane that has the keys; false: none of them has. */
static bool chosen(struct view *v, char *out, size_t size)
{
    struct browse *b = view_model(v);
    struct browse_register r;

    if (v->focus == FOCUS_REGISTERS && browse_register(b, v->reg, &r)) {
        snprintf(out, size, "%s", r.name);
        return true;
    }
    if (v->focus == FOCUS_RIGHT && v->pane == PANE_MEMORY && v->byte < b->memory.n) {
        snprintf(out, size, "0x%llx", (unsigned long long)(b->memory.addr + v->byte));
        return true;
    }
    return false;
}

static void write_of(struct view *v, const char *what, bool back)
{
    v->patient = true;
    action_end(v, browse_write(view_model(v), what, back));
}

void action_write(struct view *v, int key)
{
    char text[VIEW_LINE] = "";

    chosen(v, text, sizeof text);
    if (prompt(v,
               key == 'W' ? "last write of (register, address, LO..HI, symbol): "
                          : "next write of (register, address, LO..HI, symbol): ",
               text) &&
        text[0])
        write_of(v, text, key == 'W');
}

void action_last_write(struct view *v, int key)
{
    char text[VIEW_LINE];

    (void)key;
    if (chosen(v, text, sizeof text) || browse_touched(view_model(v), text, sizeof text))
        write_of(v, text, true);
    else
        browse_say(view_model(v), "this row touches neither a register nor memory");
}

static void visit(struct view *v, uint64_t pc, bool back)
{
    v->patient = true;
    action_end(v, browse_visit(view_model(v), pc, back));
}

void action_visit(struct view *v, int key)
{
    uint64_t pc;

    if (browse_pc(view_model(v), &pc))
        visit(v, pc, key == 'N');
    else
        browse_say(view_model(v), "no instruction is near");
}

void action_visit_at(struct view *v, int key)
{
    struct browse *b = view_model(v);
    char text[VIEW_LINE] = "";
    uint64_t pc;

    if (!prompt(v,
                key == 'P' ? "last execution of (address, symbol): "
                           : "next execution of (address, symbol): ",
                text) ||
        !text[0])
        return;
    if (!browse_address(b, text, &pc)) {
        browse_say(b, "'%s' is no address or symbol", text);
        return;
    }
    visit(v, trod_nav_meta(b->nav)->isa == TROD_ISA_ARM ? pc & ~UINT64_C(1) : pc, key == 'P');
}
