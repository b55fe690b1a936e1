/*
 * draw.c - the title, the rows and the status line. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/marks.h"
#include "browse/view.h"

/* Lines above the rows: title and names of columns. */
int view_rows_top(void)
{
    return 2;
}

int view_rows_height(const struct view *v)
{
    int n = v->height - view_rows_top() - 1 - (v->panes ? v->panes + 1 : 0);

    n = n < 1 ? 1 : n;
    return n > VIEW_ROWS ? VIEW_ROWS : n;
}

static void title(struct view *v)
{
    const struct browse *b = view_model(v);
    const struct trod_format *format = trod_nav_format(b->nav);
    const size_t path = strlen(b->path), room = v->width > 60 ? (size_t)v->width - 40 : 20;
    char text[512], name[64] = "", making[32] = "";
    size_t from = 0;
    unsigned percent;
    const char *why;

    if (v->index[v->at] && background_look(v->index[v->at], &percent, &why) == BACKGROUND_RUNS)
        snprintf(making, sizeof making, "  indexing %u%%", percent);

    if (b->only >= 0) {
        const size_t at = (size_t)snprintf(name, sizeof name, "  only ");

        trod_nav_stream_name(b->nav, (uint32_t)b->only, name + at, sizeof name - at);
    }
    /* of a long path the end says most */
    if (path > room)
        from = path - room;
    snprintf(text, sizeof text, " %s%s  %s%s%s", from ? ".." : "", b->path + from,
             format ? format->name : "", trod_nav_index(b->nav) ? "  indexed" : making, name);
    screen_put(v, 0, 0, v->width, text, BROWSE_TITLE);
    screen_put(v, 0, v->width - 9, 9, "? is help", BROWSE_TITLE);
}

/* TEXT without its first SHIFT columns. */
static const char *shifted(const char *text, int shift)
{
    const size_t n = strlen(text);

    return (size_t)shift < n ? text + shift : "";
}

/* Rows are shown as trod view prints them where there is room, unless the user wants it otherwise.
 */
static bool brief(const struct view *v)
{
    enum { NARROW = 100 };

    return v->layout == LAYOUT_AUTO ? v->width < NARROW : v->layout == LAYOUT_BRIEF;
}

static void row_line(struct view *v, int y, uint64_t row)
{
    struct browse *b = view_model(v);
    const bool chosen = row == b->cursor, marked = browse_marked(b, row);
    const char mark = row == b->other ? '@' : marked ? '\'' : ' ';
    char line[2048], room[2048];
    const char *text = room;
    int kind, rc = brief(v) ? browse_brief(b, row, room, sizeof room, &kind)
                            : browse_line(b, row, &text, &kind);

    if (rc <= 0)
        text = "";
    snprintf(line, sizeof line, "%c%s", chosen ? '>' : mark, shifted(text, v->shift));
    if (chosen && line[1] == ' ') /* what it is stands beside the cursor */
        line[1] = mark;
    screen_put_on(v, y, 0, v->width, line, marked ? (unsigned)BROWSE_MARK : browse_part_of(kind),
                  chosen);
}

static int rows(struct view *v)
{
    struct browse *b = view_model(v);
    const int height = view_rows_height(v), top = view_rows_top();
    char line[2048];
    int rc;

    v->patient = true;
    rc = browse_page(b, (unsigned)height, v->row, &v->n_rows);
    v->patient = false;
    if (rc < 0)
        return rc;
    for (int y = 0; y < height; y++) {
        if ((unsigned)y < v->n_rows)
            row_line(v, top + y, v->row[y]);
        else
            screen_put(v, top + y, 0, v->width, "", BROWSE_PLAIN);
    }
    if (b->rows == 0)
        screen_put(v, top, 0, v->width, " the trace has no rows", BROWSE_MESSAGE);
    snprintf(line, sizeof line, " %s",
             shifted(brief(v) ? browse_brief_header(b) : browse_header(b), v->shift));
    screen_put(v, 1, 0, v->width, line, BROWSE_HEADER);
    return 0;
}

/* Where the cursor is. */
static void position(struct browse *b, char *out, size_t size)
{
    const struct trod_batch *batch;
    uint32_t i;

    if (b->rows == TROD_NOWHERE)
        snprintf(out, size, "row %llu", (unsigned long long)b->cursor);
    else if (b->rows == 0)
        snprintf(out, size, "empty");
    else
        snprintf(out, size, "row %llu of %llu  %u%%", (unsigned long long)b->cursor,
                 (unsigned long long)b->rows,
                 (unsigned)(b->rows < 2 ? 100 : 100.0 * (double)b->cursor / (double)(b->rows - 1)));
    if (b->rows && browse_row(b, b->cursor, &batch, &i) > 0 &&
        (batch->have & batch->has[i] & TROD_COL_TIME)) {
        char place[128];

        snprintf(place, sizeof place, "%s", out);
        snprintf(out, size, "time %llu  %.90s", (unsigned long long)batch->time[i], place);
    }
}

void draw_status(struct view *v, const char *text)
{
    enum { LEAST_TEXT = 28 };
    struct browse *b = view_model(v);
    const int length = (int)strlen(text);
    char right[128];
    int n;

    position(b, right, sizeof right);
    n = (int)strlen(right);
    /* what is shown for a moment is shown whole; where there is little room the row matters most */
    if ((n > v->width - LEAST_TEXT || length > v->width - n - 2) && b->rows &&
        b->rows != TROD_NOWHERE)
        n = snprintf(right, sizeof right, "row %llu of %llu", (unsigned long long)b->cursor,
                     (unsigned long long)b->rows);
    if (n > v->width / 2)
        n = snprintf(right, sizeof right, "row %llu", (unsigned long long)b->cursor);
    if (length > v->width - n - 2)
        n = -1;
    screen_put(v, v->height - 1, 0, v->width - n - 1, text, BROWSE_MESSAGE);
    if (n >= 0)
        screen_put(v, v->height - 1, v->width - n - 1, n + 1, right, BROWSE_TITLE);
}

void draw_reading(struct view *v, const char *text)
{
    screen_put(v, v->height - 1, 0, v->width, text, BROWSE_MESSAGE);
}

static bool too_small(struct view *v)
{
    if (v->height >= VIEW_LEAST_HEIGHT && v->width >= VIEW_LEAST_WIDTH)
        return false;
    erase();
    screen_put(v, 0, 0, v->width, "too small: 40 by 8", BROWSE_PLAIN);
    return true;
}

void draw_all(struct view *v)
{
    struct browse *b = view_model(v);
    const int most = v->height - view_rows_top() - 3;

    if (v->cleared)
        clear();
    v->cleared = false;
    if (too_small(v)) {
        refresh();
        return;
    }
    if (v->panes > most - 1)
        v->panes = most - 1;
    if ((view_sides(v) ? draw_sides(v) : rows(v)) <
        0) { /* the user gave up: back to where all was well */
        b->cursor = v->good_cursor;
        b->top = v->good_top;
        browse_say(b, "stopped");
        if (!view_sides(v))
            rows(v);
    } else {
        v->good_cursor = b->cursor;
        v->good_top = b->top;
    }
    if (!view_sides(v))
        title(v);
    draw_status(v, browse_said(b, v->shown));
    refresh();
}
