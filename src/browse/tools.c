/*
 * tools.c - what keys do beside moving: folds, bookmarks, two positions, panes. Implements
 * actions.h.
 */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/calls.h"
#include "browse/marks.h"
#include "browse/places.h"

/* ---- calls */

void action_fold(struct view *v, int key)
{
    struct browse *b = view_model(v);

    if (view_sides(v)) {
        browse_say(b, "side by side nothing is folded: z shows one trace");
        return;
    }
    v->patient = true;
    action_end(v, b->rows == 0 ? 0 : key == '{' ? browse_fold_callees(b) : browse_fold(b));
}

void action_unfold(struct view *v, int key)
{
    if (key == '}')
        browse_unfold_all(view_model(v));
    else
        browse_unfold(view_model(v));
}

static const char *frame_line(void *user, size_t i)
{
    static char line[160];
    const struct browse_frame *f = (const struct browse_frame *)user + i;

    if (f->site == TROD_NOWHERE)
        snprintf(line, sizeof line, " %3zu  %-40s since before row %llu", i, f->name,
                 (unsigned long long)f->entry);
    else
        snprintf(line, sizeof line, " %3zu  %-40s called at 0x%llx, row %llu", i, f->name,
                 (unsigned long long)f->pc, (unsigned long long)f->site);
    return line;
}

void action_stack(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_frame *frame;
    struct view_list list = {
        .title = "who called whom, the innermost first", .line = frame_line, .choose = true};
    long i;
    int rc;

    v->patient = true;
    rc = browse_stack(b, &frame, &list.n);
    action_end(v, rc);
    if (rc < 0)
        return;
    list.user = frame;
    i = list_show(v, &list, &key);
    if (i >= 0) {
        const struct browse_frame *f = &frame[i];

        v->patient = true;
        action_end(v, browse_go(b, f->site != TROD_NOWHERE ? f->site : f->entry));
    }
    free(frame);
}

/* ---- bookmarks */

void action_mark(struct view *v, int key)
{
    struct browse *b = view_model(v);
    char text[VIEW_LINE] = "";

    (void)key;
    if (b->rows == 0 || !prompt(v, "name of the bookmark: ", text))
        return;
    if (browse_marks_set(b, b->cursor, text) < 0)
        browse_say(b, "there are too many bookmarks");
}

static const char *mark_line(void *user, size_t i)
{
    static char line[128];
    const struct browse *b = user;
    const struct browse_mark *m = &b->marks.at[i];

    snprintf(line, sizeof line, "%10llu  %s", (unsigned long long)m->row, m->name);
    return line;
}

void action_marks(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct view_list list = {.title = "bookmarks (d: remove)",
                             .line = mark_line,
                             .user = b,
                             .keys = "d",
                             .choose = true};
    long i;

    do {
        list.n = b->marks.n;
        i = list_show(v, &list, &key);
        list.at = i > 0 ? (size_t)i : 0;
        if (i >= 0 && key == 'd')
            browse_marks_remove(b, (size_t)i);
    } while (i >= 0 && key == 'd');
    if (i >= 0) {
        v->patient = true;
        action_end(v, browse_go(b, b->marks.at[i].row));
    }
}

/* ---- registers */

static const char *register_line(void *user, size_t i)
{
    static char line[2 * 512 + 256];
    struct browse_register r;

    if (!browse_register(user, i, &r))
        return "";
    snprintf(line, sizeof line, "%c%-10s %10llu  %s%s%s", r.changed ? '*' : ' ', r.name,
             (unsigned long long)r.row, r.value, r.flags[0] ? "  " : "", r.flags);
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
    while (browse_register(b, list.n, &r))
        list.n++;
    if (list.n == 0) {
        browse_say(b, "no register is known here");
        return;
    }
    i = list_show(v, &list, &key);
    if (i >= 0 && browse_register(b, (size_t)i, &r)) {
        v->patient = true;
        action_end(v, browse_go(b, r.row));
    }
}

/* ---- two positions */

void action_second(struct view *v, int key)
{
    struct browse *b = view_model(v);

    (void)key;
    if (b->rows == 0)
        return;
    b->other = b->cursor;
    browse_say(b, "row %llu is the second position", (unsigned long long)b->other);
}

void action_exchange(struct view *v, int key)
{
    struct browse *b = view_model(v);
    const uint64_t here = b->cursor;
    int rc;

    (void)key;
    if (b->other == TROD_NOWHERE) {
        browse_say(b, "there is no second position: s sets it");
        return;
    }
    v->patient = true;
    rc = browse_go(b, b->other);
    action_end(v, rc);
    if (rc == 0)
        b->other = here;
}

static const char *text_line(void *user, size_t i)
{
    return ((const struct browse_lines *)user)->at[i];
}

void action_differences(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_lines lines;
    struct view_list list = {.title = "what differs", .line = text_line, .user = &lines};
    int rc;

    v->patient = true;
    rc = browse_differences(b, &lines);
    action_end(v, rc);
    list.n = lines.n;
    if (rc == 0)
        list_show(v, &list, &key);
    browse_lines_fini(&lines);
}

/* ---- panes and rows */

void action_stream(struct view *v, int key)
{
    (void)key;
    if (view_sides(v)) {
        browse_say(view_model(v), "side by side all rows are seen: z shows one trace");
        return;
    }
    v->patient = true;
    action_end(v, browse_next_stream(view_model(v)));
}

void action_layout(struct view *v, int key)
{
    static const char *const names[] = {"as wide as the terminal allows", "short", "all columns"};

    (void)key;
    v->layout = (v->layout + 1) % LAYOUTS;
    v->cleared = true;
    browse_say(view_model(v), "rows: %s", names[v->layout]);
}

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
    char text[VIEW_LINE] = "";
    uint64_t addr;

    (void)key;
    if (!prompt(v, "memory at (address, symbol, register; nothing: last access): ", text))
        return;
    if (text[0] && (strlen(text) >= sizeof b->memory.what || !browse_address(b, text, &addr))) {
        browse_say(b, "'%s' is no address, symbol or register that is known here", text);
        return;
    }
    snprintf(b->memory.what, sizeof b->memory.what, "%s", text);
    v->byte = 0;
    v->pane = PANE_MEMORY;
    v->stale = true;
}

/* ---- the rest */

static const char *log_line(void *user, size_t i)
{
    const struct browse *b = user;
    const uint64_t first = b->log.n > BROWSE_LOG ? b->log.n - BROWSE_LOG : 0;

    return b->log.text[(first + i) % BROWSE_LOG];
}

void action_messages(struct view *v, int key)
{
    struct browse *b = view_model(v);
    const struct view_list list = {.title = "what was told so far",
                                   .n = b->log.n < BROWSE_LOG ? b->log.n : BROWSE_LOG,
                                   .line = log_line,
                                   .user = b};

    list_show(v, &list, &key);
}

void action_redraw(struct view *v, int key)
{
    (void)key;
    v->cleared = true;
}

void action_quit(struct view *v, int key)
{
    (void)key;
    v->done = true;
}
