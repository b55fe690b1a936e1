/*
 * keys.c - which key does what, and what `?` says of it. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>

#include "browse/actions.h"

enum { TAB = 9, CTRL_L = 12, RETURN = 13 };

struct key {
    int code[4];
    const char *name, *text;
    void (*run)(struct view *v, int key);
};

static void help(struct view *v, int key);

static const struct key keys[] = {
    {{KEY_DOWN, 'j'}, "Down j", "the next row (in a pane: down)", action_down},
    {{KEY_UP, 'k'}, "Up k", "the row before (in a pane: up)", action_up},
    {{KEY_NPAGE, ' '}, "PgDn Space", "a page on", action_page},
    {{KEY_PPAGE, 'b'}, "PgUp b", "a page back", action_page},
    {{KEY_HOME, KEY_FIND}, "Home", "the first row", action_start},
    {{KEY_END, KEY_SELECT}, "End", "the last row", action_last},
    {{KEY_RIGHT}, "Right", "show more of the right of rows", action_right},
    {{KEY_LEFT}, "Left", "show more of the left of rows", action_left},
    {{'i'}, "i", "the next instruction", action_instruction},
    {{'I'}, "I", "the instruction before", action_instruction},
    {{'g', ':'},
     "g :",
     "go to a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, N%, address or symbol",
     action_place},
    {{'l'}, "l", "go to a line of the file", action_line_or_time},
    {{'t'}, "t", "go to a time", action_line_or_time},
    {{'/'}, "/", "find a row by an expression", action_find},
    {{'f'}, "f", "the next row that it holds for", action_find_again},
    {{'F'}, "F", "the last row before this one that it holds for", action_find_again},
    {{'n'}, "n", "the next execution of the instruction at the cursor", action_visit},
    {{'N'}, "N", "its last execution before this one", action_visit},
    {{'p'}, "p", "the next execution of an address or symbol", action_visit_at},
    {{'P'}, "P", "the last execution of an address or symbol", action_visit_at},
    {{'w'}, "w", "the next write of a register or of memory", action_access},
    {{'W'}, "W", "the last write of a register or of memory", action_access},
    {{'u'}, "u", "the next read of a register or of memory", action_access},
    {{'U'}, "U", "the last read of a register or of memory", action_access},
    {{'A'}, "A", "who writes and reads a register or memory: a list", action_accesses},
    {{RETURN, '\n', KEY_ENTER},
     "Enter",
     "the last write of what this row touches (in a pane: of what is chosen)",
     action_last_write},
    {{'e'}, "e", "the next exception", action_exception},
    {{'E'}, "E", "the last exception", action_exception},
    {{'-', '_'},
     "- _",
     "fold the call that is made here, or the one that this row is in",
     action_fold},
    {{'+', '='}, "+ =", "unfold the call at the cursor", action_unfold},
    {{'{'}, "{", "fold all calls that the function at the cursor makes", action_fold},
    {{'*'}, "*", "unfold all calls that the function at the cursor makes", action_unfold},
    {{'D'}, "D", "fold all calls that are made at a depth", action_fold_deep},
    {{'C'}, "C", "fold all calls of a function", action_fold_function},
    {{'}'}, "}", "unfold all", action_unfold},
    {{'B'}, "B", "who called whom: the stack at the cursor", action_stack},
    {{'m'}, "m", "set a bookmark here, with a name", action_mark},
    {{'\''}, "'", "bookmarks: go to one, remove one", action_marks},
    {{'s'}, "s", "make this row the second position", action_second},
    {{'x'}, "x", "exchange the cursor and the second position", action_exchange},
    {{'d'}, "d", "what differs between the second position and here", action_differences},
    {{'a'}, "a", "of two traces: to the other one, beside this row", action_other_trace},
    {{']'},
     "]",
     "the next difference of two traces (in a pane: change of what is chosen)",
     action_change},
    {{'['},
     "[",
     "the last difference of two traces (in a pane: change of what is chosen)",
     action_change},
    {{'z'}, "z", "of two traces: side by side, or only the one with the cursor", action_sides},
    {{'c'}, "c", "rows of one thread or cpu only: the next one, or all", action_stream},
    {{'o'}, "o", "rows short, with all columns, or as the terminal allows", action_layout},
    {{TAB}, "Tab", "to the next pane", action_next_pane},
    {{'v'},
     "v",
     "the pane at the right: memory, source, instructions, other registers, calls",
     action_pane},
    {{'r'}, "r", "all registers in full, with their flags in words", action_registers},
    {{'R'}, "R", "which registers the pane shows", action_choose},
    {{'M'}, "M", "memory at an address, symbol or register", action_memory},
    {{'1', '2', '4', '8'},
     "1 2 4 8",
     "bytes of memory that are chosen together, aligned",
     action_unit},
    {{'L'}, "L", "hold a pane (in the rows: both) as it is here, or let it follow", action_hold},
    {{'>'}, ">", "panes larger", action_resize},
    {{'<'}, "<", "panes smaller", action_resize},
    {{'!'}, "!", "messages so far: damage and others", action_messages},
    {{'T'}, "T", "to the last row, and on as the trace grows", action_tail},
    {{CTRL_L}, "Ctrl-L", "draw everything again, the cursor in the middle", action_redraw},
    {{'?', KEY_F(1)}, "? F1", "this help", help},
    {{'q', KEY_F(10)}, "q F10", "end", action_quit},
    {{KEY_MOUSE},
     "mouse",
     "choose a row, a register or a byte; the wheel scrolls what it is over",
     action_mouse},
};

enum { KEYS = sizeof keys / sizeof *keys };

static const char *help_line(void *user, size_t i)
{
    static char line[128];

    (void)user;
    snprintf(line, sizeof line, " %-12s %s", keys[i].name, keys[i].text);
    return line;
}

static void help(struct view *v, int key)
{
    const struct view_list list = {.title = "keys", .n = KEYS, .line = help_line, .indent = 14};

    list_show(v, &list, &key);
}

void key_run(struct view *v, int key)
{
    if (key == KEY_RESIZE) {
        getmaxyx(stdscr, v->height, v->width);
        v->cleared = true;
        return;
    }
    for (size_t i = 0; i < KEYS; i++)
        for (size_t k = 0; k < sizeof keys[i].code / sizeof *keys[i].code; k++)
            if (keys[i].code[k] == key && key) {
                keys[i].run(v, key);
                return;
            }
    browse_say(view_model(v), "this key does nothing: ? is help");
}
