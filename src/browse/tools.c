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
#include "browse/find.h"
#include "browse/marks.h"
#include "browse/words.h"

/* ---- calls */

static bool may_fold(struct view *v)
{
    if (view_sides(v))
        browse_say(view_model(v), "side by side nothing is folded: z shows one trace");
    return !view_sides(v);
}

void action_fold(struct view *v, int key)
{
    struct browse *b = view_model(v);

    if (!may_fold(v))
        return;
    v->patient = true;
    action_end(v, b->rows == 0 ? 0 : key == '{' ? browse_fold_callees(b) : browse_fold(b));
}

void action_fold_deep(struct view *v, int key)
{
    struct browse *b = view_model(v);
    char text[VIEW_LINE] = "";
    uint64_t depth;

    (void)key;
    if (!may_fold(v) ||
        !prompt(v, "fold what is called at depth (0: by the outermost): ", 0, text) || !text[0])
        return;
    if (trod_option_number(text, &depth) != 0 || depth >= UINT32_MAX) {
        browse_say(b, "'%s' is no depth", text);
        return;
    }
    v->patient = true;
    action_end(v, browse_fold_deep(b, (uint32_t)depth));
}

void action_fold_function(struct view *v, int key)
{
    struct browse *b = view_model(v);
    char text[VIEW_LINE] = "", room[TROD_FUNCTION_NAME];
    uint64_t pc;
    int rc;

    (void)key;
    if (!may_fold(v))
        return;
    v->patient = true;
    rc = browse_function(b, &pc);
    action_end(v, rc);
    if (rc > 0)
        snprintf(text, sizeof text, "%s", trod_function_name(b->opt.symbols, pc, room));
    if (rc < 0 || !prompt(v, "fold all calls of (address, symbol): ", BROWSE_SYMBOLS, text) ||
        !text[0])
        return;
    if (!browse_address(b, text, &pc)) {
        browse_say(b, "'%s' is no address or symbol", text);
        return;
    }
    v->patient = true;
    action_end(v, browse_fold_function(b, browse_code_address(b, pc)));
}

void action_unfold(struct view *v, int key)
{
    if (key == '}') {
        browse_unfold_all(view_model(v));
    } else if (key == '*') {
        v->patient = true;
        action_end(v, view_model(v)->rows ? browse_unfold_callees(view_model(v)) : 0);
    } else {
        browse_unfold(view_model(v));
    }
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
    if (b->rows == 0 || !prompt(v, "name of the bookmark: ", 0, text))
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

/* LINE of the list is of memory or of a register: that memory, the register's last write. */
static void show_difference(struct view *v, const char *line)
{
    struct browse *b = view_model(v);
    const size_t n = strcspn(line + 1, " "), digits = strspn(line + 1, "0123456789abcdef");
    char name[32];

    if (n == 16 && digits == n) {
        const uint64_t addr = strtoull(line + 1, NULL, 16);

        browse_memory_at(b, addr);
        v->byte = addr & 15;
        v->pane = PANE_MEMORY;
        v->focus = v->panes ? FOCUS_RIGHT : FOCUS_ROWS;
        v->stale = true;
    } else if (n && n < sizeof name && line[n] != ':' && strcmp(line, " nothing differs") != 0) {
        snprintf(name, sizeof name, "%.*s", (int)n, line + 1);
        v->patient = true;
        action_end(v, browse_access(b, name, TROD_NAV_WRITES, true));
    }
}

void action_differences(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_lines lines;
    struct view_list list = {
        .title = "what differs", .line = text_line, .user = &lines, .choose = true};
    long i = -1;
    int rc;

    v->patient = true;
    rc = browse_differences(b, &lines);
    action_end(v, rc);
    list.n = lines.n;
    if (rc == 0)
        i = list_show(v, &list, &key);
    if (i >= 0)
        show_difference(v, lines.at[i]);
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
    const struct view_list list = {.title = "messages so far",
                                   .n = b->log.n < BROWSE_LOG ? b->log.n : BROWSE_LOG,
                                   .line = log_line,
                                   .user = b};

    list_show(v, &list, &key);
}

void action_redraw(struct view *v, int key)
{
    (void)key;
    v->cleared = true;
    v->patient = true;
    action_end(v, browse_centre(view_model(v), (unsigned)view_rows_height(v)));
}

void action_tail(struct view *v, int key)
{
    action_last(v, key);
    v->tail = true;
    browse_say(view_model(v), "the end is followed as the trace grows; any key ends that");
}

void action_quit(struct view *v, int key)
{
    (void)key;
    v->done = true;
}
