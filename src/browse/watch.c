/*
 * watch.c - what keys do in the panes and with them. Implements actions.h, and panes_scroll of
 * view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/find.h"
#include "browse/words.h"

/* ---- moving in them */

void panes_scroll(struct view *v, int lines)
{
    if (v->pane != PANE_MEMORY)
        return;
    browse_memory_scroll(view_model(v), (int64_t)lines * (int64_t)v->per_line);
    v->stale = true;
}

static void move_registers(struct view *v, int key)
{
    const size_t page = v->reg_lines * (size_t)v->panes;
    size_t n = key == KEY_LEFT || key == KEY_RIGHT ? 1 : v->reg_lines;

    if (key == KEY_NPAGE || key == KEY_PPAGE)
        n = page;
    v->reg_name[0] = '\0';
    if (key == KEY_DOWN || key == KEY_RIGHT || key == KEY_NPAGE) {
        if (v->reg + n < v->reg_count)
            v->reg += n;
        else if (n == page && v->reg_count)
            v->reg = v->reg_count - 1;
    } else if (v->reg >= n) {
        v->reg -= n;
    } else if (n == page) {
        v->reg = 0;
    }
}

/* At the edge what is seen moves. */
static void move_memory(struct view *v, int key)
{
    const size_t line = v->per_line, n = view_model(v)->memory.n;
    const bool on = key == KEY_DOWN || key == KEY_RIGHT;
    const size_t by = key == KEY_LEFT || key == KEY_RIGHT ? 1 : line;

    if (key == KEY_NPAGE || key == KEY_PPAGE) {
        panes_scroll(v, key == KEY_NPAGE ? v->panes : -v->panes);
    } else if (on ? v->byte + by < n : v->byte >= by) {
        v->byte = on ? v->byte + by : v->byte - by;
    } else if (n) {
        panes_scroll(v, on ? 1 : -1);
        if (by == 1)
            v->byte = on ? n - line : line - 1;
    }
}

bool panes_move(struct view *v, int key)
{
    if (v->focus == FOCUS_ROWS || (v->focus == FOCUS_RIGHT && v->pane != PANE_MEMORY))
        return false;
    if (v->focus == FOCUS_REGISTERS)
        move_registers(v, key);
    else
        move_memory(v, key);
    return true;
}

/* Where the bytes begin that are chosen together with the one at ADDR. */
static uint64_t unit_of(const struct view *v, uint64_t addr)
{
    return addr & ~(uint64_t)(v->unit - 1);
}

bool panes_chosen(struct view *v, char *out, size_t size)
{
    struct browse *b = view_model(v);

    if (v->focus == FOCUS_REGISTERS && v->reg_name[0]) {
        snprintf(out, size, "%s", v->reg_name);
        return true;
    }
    if (v->focus == FOCUS_RIGHT && v->pane == PANE_MEMORY && v->byte < b->memory.n) {
        const uint64_t addr = unit_of(v, b->memory.addr + v->byte);

        if (v->unit == 1)
            snprintf(out, size, "0x%llx", (unsigned long long)addr);
        else
            snprintf(out, size, "0x%llx..0x%llx", (unsigned long long)addr,
                     (unsigned long long)(addr + v->unit - 1));
        return true;
    }
    return false;
}

bool view_chosen_byte(const struct view *v, size_t k)
{
    const uint64_t addr = v->b[v->at]->memory.addr;

    return unit_of(v, addr + k) == unit_of(v, addr + v->byte);
}

void action_unit(struct view *v, int key)
{
    v->unit = (unsigned)(key - '0');
    browse_say(view_model(v), "bytes that are chosen together in memory: %u", v->unit);
}

void action_change(struct view *v, int key)
{
    char what[VIEW_LINE];

    if (!panes_chosen(v, what, sizeof what)) {
        action_difference(v, key);
        return;
    }
    v->patient = true;
    action_end(v, browse_change(view_model(v), what, key == '['));
}

/* ---- what they show */

void action_next_pane(struct view *v, int key)
{
    (void)key;
    v->focus = v->panes > 0 ? (v->focus + 1) % FOCUS_N : FOCUS_ROWS;
}

void action_pane(struct view *v, int key)
{
    (void)key;
    v->pane = (v->pane + 1) % PANES;
    v->stale = true;
}

void action_resize(struct view *v, int key)
{
    if (key == '<')
        v->panes -= v->panes > 0;
    else if (view_rows_height(v) > 3)
        v->panes++;
    if (v->panes == 0)
        v->focus = FOCUS_ROWS;
    v->cleared = true;
}

void action_memory(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_memory *m = &b->memory;
    char text[VIEW_LINE] = "";
    uint64_t addr;

    (void)key;
    if (!prompt(v, "memory at (address, symbol, register; nothing: last access): ",
                BROWSE_REGISTERS | BROWSE_SYMBOLS, text))
        return;
    if (text[0] && (strlen(text) >= sizeof m->what || !browse_address(b, text, &addr))) {
        browse_say(b, "'%s' is no address, symbol or register that is known here", text);
        return;
    }
    if (text[0])
        browse_memory_at(b, addr);
    else
        m->held = false;
    snprintf(m->what, sizeof m->what, "%s", text);
    m->offset = 0;
    v->byte = 0;
    v->pane = PANE_MEMORY;
    v->stale = true;
}

void action_choose(struct view *v, int key)
{
    struct browse *b = view_model(v);
    char text[VIEW_LINE];

    (void)key;
    snprintf(text, sizeof text, "%s", b->registers);
    if (!prompt(v, "registers in the pane (names, x0-x7, sp_*; nothing: all): ", BROWSE_REGISTERS,
                text))
        return;
    if (!browse_choose_registers(b, text))
        browse_say(b, "that is too long");
    v->reg = v->reg_top = 0;
    v->reg_name[0] = '\0';
}

/* The pane that has the keys, both where the rows have them. */
void action_hold(struct view *v, int key)
{
    struct browse *b = view_model(v);
    const bool rows = v->focus == FOCUS_ROWS, memory = v->focus == FOCUS_RIGHT;
    const bool release = rows && (b->held || b->memory.held);
    int rc = 0;

    (void)key;
    if (memory && v->pane != PANE_MEMORY) {
        browse_say(b, "this pane follows: registers and memory can be held");
        return;
    }
    v->patient = true;
    if (!memory && (!rows || release == (b->held != NULL)))
        rc = browse_hold_registers(b);
    if (rc == 0 && (memory || (rows && release == b->memory.held)))
        browse_memory_hold(b);
    action_end(v, rc);
    v->stale = true;
    if (rc == 0)
        browse_say(b, "%s: %s",
                   rows     ? "registers and memory"
                   : memory ? "memory"
                            : "registers",
                   (memory ? b->memory.held : b->held != NULL) ? "held here" : "as at the cursor");
}

/* ---- registers in full */

static const char *register_line(void *user, size_t i)
{
    static char line[2 * 512 + 512];
    struct browse *b = user;
    struct browse_register r;
    char name[128] = "";
    uint64_t value;

    if (!browse_register(b, BROWSE_HERE, i, &r))
        return "";
    if (browse_address(b, r.name, &value))
        browse_symbol(b, value, name, sizeof name);
    snprintf(line, sizeof line, "%c%-10s %10llu  %s%s%s%s%s", r.changed ? '*' : ' ', r.name,
             (unsigned long long)r.row, r.value, r.flags[0] ? "  " : "", r.flags,
             name[0] ? "  " : "", name);
    return line;
}

void action_registers(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct view_list list = {.title = "registers: the row that they are known from, their value",
                             .line = register_line,
                             .user = b,
                             .choose = true};
    struct browse_register r;
    long i;
    int rc;

    v->patient = true;
    rc = browse_state(b);
    action_end(v, rc);
    if (rc < 0)
        return;
    while (browse_register(b, BROWSE_HERE, list.n, &r))
        list.n++;
    if (list.n == 0) {
        browse_say(b, "no register is known here");
        return;
    }
    i = list_show(v, &list, &key);
    if (i >= 0 && browse_register(b, BROWSE_HERE, (size_t)i, &r)) {
        v->patient = true;
        action_end(v, browse_go(b, r.row));
    }
}
