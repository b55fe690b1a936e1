/*
 * moves.c - what keys do that move the cursor. Implements actions.h.
 */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/find.h"
#include "browse/words.h"

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

void action_up(struct view *v, int key)
{
    if (key == 'k' || !panes_move(v, KEY_UP))
        move_rows(v, -1);
}

void action_down(struct view *v, int key)
{
    if (key == 'j' || !panes_move(v, KEY_DOWN))
        move_rows(v, 1);
}

void action_left(struct view *v, int key)
{
    (void)key;
    if (!panes_move(v, KEY_LEFT))
        v->shift -= v->shift < SHIFT ? v->shift : SHIFT;
}

void action_right(struct view *v, int key)
{
    (void)key;
    if (!panes_move(v, KEY_RIGHT) && v->shift < 1000)
        v->shift += SHIFT;
}

void action_page(struct view *v, int key)
{
    const int n = view_rows_height(v) > 1 ? view_rows_height(v) - 1 : 1;

    if (key != ' ' && key != 'b' && panes_move(v, key))
        return;
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
    if (prompt(v, "go to (row, line:N, time:T, insn:N, N%, address, symbol): ",
               BROWSE_PLACES | BROWSE_SYMBOLS, text))
        go_to(v, text);
}

void action_line_or_time(struct view *v, int key)
{
    const char *word = key == 'l' ? "line" : "time";
    char question[32], text[VIEW_LINE] = "", full[VIEW_LINE + 8];

    snprintf(question, sizeof question, "%s: ", word);
    if (!prompt(v, question, 0, text) || !text[0])
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
        const bool right = e.x >= view_left_width(v);

        if (panes && (!right || v->pane == PANE_MEMORY))
            panes_wheel(v, up, right);
        else
            move_rows(v, up ? -VIEW_WHEEL : VIEW_WHEEL);
    } else if (e.y >= top && e.y < top + (int)v->n_rows) {
        if (v->row[e.y - top] != TROD_NOWHERE) /* of two traces one may have nothing there */
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
    if (!prompt(v, "find (as: kind == WRITE && addr in 0x1000..0x2000): ",
                BROWSE_WHERE | BROWSE_SYMBOLS, text) ||
        !text[0])
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

static void access_of(struct view *v, const char *what, unsigned access, bool back)
{
    v->patient = true;
    action_end(v, browse_access(view_model(v), what, access, back));
}

void action_access(struct view *v, int key)
{
    const bool back = key == 'W' || key == 'U', reads = key == 'u' || key == 'U';
    char question[80], text[VIEW_LINE] = "";

    snprintf(question, sizeof question,
             "%s %s of (register, address, LO..HI, symbol): ", back ? "last" : "next",
             reads ? "read" : "write");
    panes_chosen(v, text, sizeof text);
    if (prompt(v, question, BROWSE_REGISTERS | BROWSE_SYMBOLS, text) && text[0])
        access_of(v, text, reads ? TROD_NAV_READS : TROD_NAV_WRITES, back);
}

void action_last_write(struct view *v, int key)
{
    char text[VIEW_LINE];

    (void)key;
    if (panes_chosen(v, text, sizeof text) || browse_touched(view_model(v), text, sizeof text))
        access_of(v, text, TROD_NAV_WRITES, true);
    else
        browse_say(view_model(v), "this row touches neither a register nor memory");
}

static const char *access_line(void *user, size_t i)
{
    static char line[160];
    const struct trod_nav_hit *h = &((const struct browse_accesses *)user)->at[i];
    char value[24] = "", pc[32] = "", addr[24] = "";

    if (h->has_value)
        snprintf(value, sizeof value, "%llx", (unsigned long long)h->value);
    if (h->has_pc)
        snprintf(pc, sizeof pc, "by 0x%llx", (unsigned long long)h->pc);
    if (h->kind == TROD_READ || h->kind == TROD_WRITE || h->kind == TROD_ATOMIC)
        snprintf(addr, sizeof addr, "0x%llx ", (unsigned long long)h->addr);
    snprintf(line, sizeof line, " %10llu  %-5s %s%-18s %s", (unsigned long long)h->row,
             !(h->access & TROD_NAV_WRITES) ? "read"
             : h->access & TROD_NAV_READS   ? "both"
                                            : "write",
             addr, value, pc);
    return line;
}

void action_accesses(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_accesses all;
    struct view_list list = {.line = access_line, .user = &all, .choose = true};
    char text[VIEW_LINE] = "", title[VIEW_LINE + 64];
    long i = -1;
    int rc;

    if (!panes_chosen(v, text, sizeof text))
        browse_touched(b, text, sizeof text);
    if (!prompt(v, "who writes and reads (register, address, LO..HI, symbol): ",
                BROWSE_REGISTERS | BROWSE_SYMBOLS, text) ||
        !text[0])
        return;
    v->patient = true;
    rc = browse_accesses(b, text, &all);
    action_end(v, rc);
    snprintf(title, sizeof title, "who writes and reads %s: row, value", text);
    list.title = title;
    list.n = all.n;
    list.at = all.here;
    if (rc > 0)
        i = list_show(v, &list, &key);
    if (i >= 0) {
        v->patient = true;
        action_end(v, browse_go(b, all.at[i].row));
    }
    free(all.at);
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
                BROWSE_REGISTERS | BROWSE_SYMBOLS, text) ||
        !text[0])
        return;
    if (!browse_address(b, text, &pc)) {
        browse_say(b, "'%s' is no address or symbol", text);
        return;
    }
    visit(v, browse_code_address(b, pc), key == 'P');
}
