/*
 * lists.c - a list over the whole screen, to look through or to choose from. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/view.h"

enum { ESC = 27, CTRL_G = 7, RETURN = 13 };

struct place {
    size_t at, top, height, shift;
};

static void settle(const struct view_list *l, struct place *p)
{
    const size_t last = l->n ? l->n - 1 : 0;

    if (p->at > last)
        p->at = last;
    if (!l->choose) { /* what moves is the window */
        const size_t most = l->n > p->height ? l->n - p->height : 0;

        p->at = p->top = p->at < most ? p->at : most;
    } else if (p->at < p->top) {
        p->top = p->at;
    } else if (p->at >= p->top + p->height) {
        p->top = p->at - p->height + 1;
    }
}

static void show(struct view *v, const struct view_list *l, struct place *p)
{
    char text[256];

    p->height = v->height > 3 ? (size_t)v->height - 2 : 1;
    settle(l, p);
    snprintf(text, sizeof text, " %s", l->title);
    screen_put(v, 0, 0, v->width, text, BROWSE_TITLE);
    for (size_t y = 0; y < p->height; y++) {
        const size_t i = p->top + y;
        const char *line = i < l->n ? l->line(l->user, i) : "";
        const size_t skip = strlen(line) < p->shift ? strlen(line) : p->shift;

        screen_put_on(v, (int)y + 1, 0, v->width, line + skip, BROWSE_PLAIN,
                      l->choose && i == p->at && i < l->n);
    }
    snprintf(text, sizeof text, " %zu to %zu of %zu%s  Esc: back", l->n ? p->top + 1 : 0,
             p->top + p->height < l->n ? p->top + p->height : l->n, l->n,
             l->choose ? "  Enter: go there" : "");
    screen_put(v, v->height - 1, 0, v->width, text, BROWSE_TITLE);
    refresh();
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
        p->at = l->n;
        break;
    case KEY_LEFT:
        p->shift -= p->shift < 8 ? p->shift : 8;
        break;
    case KEY_RIGHT:
        p->shift += 8;
        break;
    default:
        break;
    }
}

long list_show(struct view *v, const struct view_list *list, int *key)
{
    struct place p = {.at = list->at};
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
    v->cleared = true;
    return chosen;
}
