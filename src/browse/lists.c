/*
 * lists.c - a list over the whole screen, to look through or to choose from. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/grow.h"
#include "browse/view.h"

enum { ESC = 27, CTRL_G = 7, RETURN = 13 };

/* Part of a line that is broken where the screen ends: LENGTH bytes from FROM on. */
struct piece {
    size_t line, from, length;
};

struct place {
    size_t at, top, height, shift;
    struct piece *piece; /* NULL: lines are not broken */
    size_t n, cap;       /* pieces, else lines */
    int width;           /* that they are broken for */
};

/* ---- lines that are broken */

enum { INDENT = 2 };

static bool add(struct place *p, size_t line, size_t from, size_t length)
{
    struct piece *more = browse_grow(p->piece, p->n, &p->cap, sizeof *more);

    if (!more)
        return false;
    p->piece = more;
    p->piece[p->n++] = (struct piece){line, from, length};
    return true;
}

/* How much of TEXT stands in ROOM columns: up to a blank, where the last half has one. */
static size_t part(const char *text, size_t room)
{
    size_t n = strlen(text), end = room;

    if (n <= room)
        return n;
    while (end > room / 2 && text[end] != ' ')
        end--;
    if (text[end] == ' ')
        return end;
    for (end = room; end > 1 && ((unsigned char)text[end] & 0xc0) == 0x80;) /* of a character */
        end--;
    return end;
}

static bool break_line(struct place *p, const char *text, size_t line, size_t width, size_t indent)
{
    size_t n = part(text, width), from = n;

    if (!add(p, line, 0, n))
        return false;
    while (text[from]) {
        from += text[from] == ' ';
        n = part(text + from, width - indent);
        if (!add(p, line, from, n))
            return false;
        from += n;
    }
    return true;
}

/* Break the lines for WIDTH columns; what memory is too short for is not broken. */
static void break_lines(const struct view_list *l, struct place *p, int width)
{
    const size_t indent = l->indent ? l->indent : INDENT;
    bool all = true;

    p->n = 0;
    p->width = width;
    for (size_t i = 0; all && i < l->n; i++)
        all = break_line(p, l->line(l->user, i), i, (size_t)width, indent);
    if (!all) {
        free(p->piece);
        p->piece = NULL;
        p->cap = 0;
        p->n = l->n;
    }
}

/* Line Y of the list as it is shown, into OUT. */
static void shown_line(const struct view_list *l, const struct place *p, size_t y, char *out,
                       size_t size)
{
    const size_t indent = l->indent ? l->indent : INDENT;
    const char *line;

    out[0] = '\0';
    if (y >= p->n)
        return;
    if (p->piece) {
        const struct piece *c = &p->piece[y];

        snprintf(out, size, "%*s%.*s", c->from ? (int)indent : 0, "", (int)c->length,
                 l->line(l->user, c->line) + c->from);
        return;
    }
    line = l->line(l->user, y);
    snprintf(out, size, "%s", strlen(line) > p->shift ? line + p->shift : "");
}

/* ---- the window */

static void settle(const struct view_list *l, struct place *p)
{
    const size_t last = p->n ? p->n - 1 : 0;

    if (p->at > last)
        p->at = last;
    if (!l->choose) { /* what moves is the window */
        const size_t most = p->n > p->height ? p->n - p->height : 0;

        p->at = p->top = p->at < most ? p->at : most;
    } else if (p->at < p->top) {
        p->top = p->at;
    } else if (p->at >= p->top + p->height) {
        p->top = p->at - p->height + 1;
    }
}

static void show(struct view *v, const struct view_list *l, struct place *p)
{
    char text[2048];

    p->height = v->height > 3 ? (size_t)v->height - 2 : 1;
    if (!l->choose && p->width != v->width)
        break_lines(l, p, v->width);
    settle(l, p);
    snprintf(text, sizeof text, " %s", l->title);
    screen_put(v, 0, 0, v->width, text, BROWSE_TITLE);
    for (size_t y = 0; y < p->height; y++) {
        const size_t i = p->top + y;

        shown_line(l, p, i, text, sizeof text);
        screen_put_on(v, (int)y + 1, 0, v->width, text, BROWSE_PLAIN,
                      l->choose && i == p->at && i < p->n);
    }
    snprintf(text, sizeof text, " %zu to %zu of %zu%s  Esc: back", p->n ? p->top + 1 : 0,
             p->top + p->height < p->n ? p->top + p->height : p->n, p->n,
             l->choose ? "  Enter: go there" : "");
    screen_put(v, v->height - 1, 0, v->width, text, BROWSE_TITLE);
    refresh();
}

/* The wheel scrolls, a click chooses. */
static void mouse(const struct view_list *l, struct place *p)
{
    MEVENT e;

    if (getmouse(&e) != OK)
        return;
    if (e.bstate & BUTTON4_PRESSED)
        p->at -= p->at < VIEW_WHEEL ? p->at : VIEW_WHEEL;
    else if (e.bstate & BUTTON5_PRESSED)
        p->at += VIEW_WHEEL;
    else if (l->choose && e.bstate & BUTTON1_PRESSED && e.y > 0 && (size_t)e.y <= p->height)
        p->at = p->top + (size_t)e.y - 1;
}

static void move_in(const struct view_list *l, struct place *p, int key)
{
    size_t n = key == KEY_NPAGE || key == KEY_PPAGE || key == ' ' ? p->height : 1;

    switch (key) {
    case KEY_UP:
    case KEY_PPAGE:
    case 'k':
        p->at -= n < p->at ? n : p->at;
        break;
    case KEY_DOWN:
    case KEY_NPAGE:
    case 'j':
    case ' ':
        p->at += n;
        break;
    case KEY_HOME:
        p->at = 0;
        break;
    case KEY_END:
        p->at = p->n;
        break;
    case KEY_LEFT:
        p->shift -= p->shift < 8 ? p->shift : 8;
        break;
    case KEY_RIGHT:
        p->shift += 8;
        break;
    case KEY_MOUSE:
        mouse(l, p);
        break;
    default:
        break;
    }
}

long list_show(struct view *v, const struct view_list *list, int *key)
{
    struct place p = {.at = list->at, .n = list->n};
    long chosen = -1;

    for (;;) {
        show(v, list, &p);
        *key = screen_key(v, -1);
        if (*key == ESC || *key == CTRL_G || *key == 'q' || screen_signal())
            break;
        if (*key == KEY_RESIZE)
            getmaxyx(stdscr, v->height, v->width);
        if (!list->choose && *key == '?')
            break;
        if (list->choose && list->n &&
            (*key == RETURN || *key == '\n' || *key == KEY_ENTER ||
             (*key > 0 && *key < 256 && list->keys && strchr(list->keys, *key)))) {
            chosen = (long)p.at;
            break;
        }
        move_in(list, &p, *key);
    }
    free(p.piece);
    v->cleared = true;
    return chosen;
}
