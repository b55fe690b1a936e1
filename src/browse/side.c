/*
 * side.c - two traces side by side. Implements view.h.
 */
#include <stdio.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/view.h"

bool view_sides(const struct view *v)
{
    return v->pair && !v->single;
}

static void half(struct view *v, int y, unsigned side, const struct browse_pair_line *line)
{
    const int width = (v->width - 1) / 2, x = side ? v->width - width : 0;
    struct browse *b = v->b[side];
    const bool chosen = side == v->at && line->row[side] == b->cursor;
    char text[1024], all[1040];
    int kind = TROD_INSTR;
    size_t shift;

    text[0] = '\0';
    if (line->row[side] != TROD_NOWHERE)
        browse_brief(b, line->row[side], text, sizeof text, &kind);
    shift = strlen(text) < (size_t)v->shift ? strlen(text) : (size_t)v->shift;
    snprintf(all, sizeof all, "%c%s", chosen ? '>' : ' ', text + shift);
    screen_put_on(v, y, x, width, all,
                  line->differs ? (unsigned)BROWSE_DIFFERS : browse_part_of(kind), chosen);
}

static void names(struct view *v)
{
    struct browse_pair_state s;
    char text[256], name[512];

    view_compared(v, &s);
    snprintf(text, sizeof text, " %llu difference%s%s  ? is help",
             (unsigned long long)s.differences, s.differences == 1 ? "" : "s",
             !s.done         ? " so far"
             : s.status < 0  ? ", then trouble"
             : s.differences ? ""
                             : ": they are equal");
    if (s.more)
        snprintf(text, sizeof text, " %llu differences: more than can be shown side by side",
                 (unsigned long long)s.differences);
    screen_put(v, 0, 0, v->width, text, BROWSE_TITLE);
    for (unsigned side = 0; side < 2; side++) {
        const int width = (v->width - 1) / 2;
        const size_t n = strlen(v->b[side]->path), room = (size_t)width - 6;

        snprintf(name, sizeof name, "%s%s%s", side == v->at ? "[*] " : "    ", n > room ? ".." : "",
                 v->b[side]->path + (n > room ? n - room + 2 : 0));
        screen_put(v, 1, side ? v->width - width : 0, width, name, BROWSE_HEADER);
    }
}

int draw_sides(struct view *v)
{
    static struct browse_pair_line line[VIEW_ROWS];
    const int height = view_rows_height(v), top = view_rows_top(), width = (v->width - 1) / 2;
    const struct browse_pair_line none = {{TROD_NOWHERE, TROD_NOWHERE}, false};
    unsigned at;
    int rc;

    v->patient = true;
    rc = browse_pair_page(v->pair, v->b, v->at, view_model(v)->cursor, (unsigned)height, line,
                          &v->n_rows, &at);
    v->patient = false;
    if (rc < 0)
        return rc;
    for (int y = 0; y < height; y++) {
        const struct browse_pair_line *l = (unsigned)y < v->n_rows ? &line[y] : &none;
        const bool left = l->row[0] != TROD_NOWHERE, right = l->row[1] != TROD_NOWHERE;

        half(v, top + y, 0, l);
        half(v, top + y, 1, l);
        screen_put(v, top + y, width, v->width - 2 * width,
                   !l->differs     ? " "
                   : left && right ? "|"
                   : left          ? "<"
                                   : ">",
                   BROWSE_DIFFERS);
        v->row[y] = l->row[v->at];
    }
    names(v);
    return 0;
}

/* ---- keys */

static bool two(struct view *v)
{
    if (!v->pair)
        browse_say(view_model(v), "there is one trace only: trod browse FILE FILE2");
    return v->pair;
}

void action_other_trace(struct view *v, int key)
{
    uint64_t row;
    int rc;

    (void)key;
    if (!two(v))
        return;
    v->patient = true;
    rc = browse_pair_map(v->pair, v->b, v->at, view_model(v)->cursor, &row);
    action_end(v, rc);
    if (rc < 0)
        return;
    v->at = !v->at;
    v->patient = true;
    rc = rc ? browse_go(view_model(v), row) : browse_end(view_model(v));
    action_end(v, rc);
    v->shown = view_model(v)->log.n;
    v->good_cursor = view_model(v)->cursor;
    v->good_top = view_model(v)->top;
    v->stale = true;
}

void action_sides(struct view *v, int key)
{
    (void)key;
    if (two(v))
        v->single = !v->single;
    v->cleared = true;
}

void action_difference(struct view *v, int key)
{
    struct browse *b = view_model(v);
    struct browse_pair_state s;
    uint64_t row;
    int rc;

    if (!two(v))
        return;
    view_compared(v, &s);
    v->patient = true;
    rc = browse_pair_next(v->pair, v->b, v->at, b->cursor, key == '[', &row);
    if (rc > 0)
        rc = browse_go(b, row);
    else if (rc == 0)
        browse_say(b, "no difference %s row %llu%s", key == '[' ? "before" : "after",
                   (unsigned long long)b->cursor, s.done ? "" : " so far");
    action_end(v, rc);
}
