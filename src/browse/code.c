/*
 * code.c - the pane at the right as source lines, instructions by address, or calls. Implements
 * view.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/view.h"

static void blank(struct view *v, int x, int y, int from)
{
    for (; from < v->panes; from++)
        screen_put(v, y + from, x, v->width - x, "", BROWSE_PLAIN);
}

void draw_source(struct view *v, int x, int y, char *title, size_t size)
{
    struct browse_source *s = &v->source[v->at];
    const int above = v->panes / 2;
    const char *why;
    uint32_t line;

    if (!browse_source_line(view_model(v), s, &line, &why)) {
        snprintf(title, size, "source");
        screen_put(v, y, x, v->width - x, why, BROWSE_PLAIN);
        blank(v, x, y, 1);
        return;
    }
    snprintf(title, size, "%s:%u", strrchr(s->name, '/') ? strrchr(s->name, '/') + 1 : s->name,
             line);
    for (int i = 0; i < v->panes; i++) {
        const int64_t n = (int64_t)line + i - above;
        char text[512] = "";

        if (n > 0 && (size_t)n <= s->n)
            snprintf(text, sizeof text, "%c%4lld %s", n == line ? '>' : ' ', (long long)n,
                     browse_source_text(s, (size_t)n));
        screen_put_on(v, y + i, x, v->width - x, text, BROWSE_PLAIN, n == line);
    }
}

void draw_code(struct view *v, int x, int y, char *title, size_t size)
{
    enum { MOST = 200 };
    static struct browse_code code[MOST];
    struct browse *b = view_model(v);
    const size_t lines = v->panes < MOST ? (size_t)v->panes : MOST;
    size_t at, n = browse_code_around(b, code, lines, &at);
    char name[128] = "";

    if (n)
        browse_symbol(b, code[at].pc, name, sizeof name);
    snprintf(title, size, "instructions%s%s", name[0] ? " at " : "", name);
    for (size_t i = 0; i < n; i++) {
        char text[256];

        snprintf(text, sizeof text, "%c%08llx  %s", i == at ? '>' : ' ',
                 (unsigned long long)code[i].pc, code[i].text);
        screen_put_on(v, y + (int)i, x, v->width - x, text, BROWSE_PLAIN, i == at);
    }
    if (!n)
        screen_put(v, y, x, v->width - x, "no instruction is near", BROWSE_PLAIN);
    blank(v, x, y, n ? (int)n : 1);
}

/* Without an index calls are followed from the beginning: they are shown where one asks (B). */
int view_read_calls(struct view *v)
{
    struct browse *b = view_model(v);
    struct browse_frame *frame;
    size_t n;
    int rc;

    if (!trod_nav_index(b->nav) || (v->frames_row == b->cursor && !v->stale))
        return 0;
    rc = browse_stack(b, &frame, &n);
    if (rc < 0)
        return rc;
    free(v->frame);
    v->frame = frame;
    v->n_frames = n;
    v->frames_row = b->cursor;
    return 0;
}

void draw_calls(struct view *v, int x, int y, char *title, size_t size)
{
    const struct browse *b = view_model(v);
    const bool there = trod_nav_index(b->nav) && v->frames_row == b->cursor;
    const size_t n = there ? v->n_frames : 0;
    char text[256];

    snprintf(title, size, n ? "calls, %zu deep" : "calls", n ? n - 1 : 0);
    for (size_t i = 0; i < n && i < (size_t)v->panes; i++) {
        const struct browse_frame *f = &v->frame[i];

        if (f->site == TROD_NOWHERE)
            snprintf(text, sizeof text, "%3zu %s", i, f->name);
        else
            snprintf(text, sizeof text, "%3zu %s, row %llu", i, f->name,
                     (unsigned long long)f->site);
        screen_put(v, y + (int)i, x, v->width - x, text, BROWSE_PLAIN);
    }
    blank(v, x, y, n < (size_t)v->panes ? (int)n : v->panes);
    if (!trod_nav_index(b->nav))
        screen_put(v, y, x, v->width - x, "not without an index: B tells", BROWSE_PLAIN);
}
