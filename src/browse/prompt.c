/*
 * prompt.c - a line that the user types in the status line. Implements view.h.
 */
#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "browse/view.h"
#include "browse/words.h"

enum { ESC = 27, CTRL_A = 1, CTRL_E = 5, CTRL_G = 7, CTRL_H = 8, CTRL_K = 11, CTRL_U = 21 };
enum { CTRL_W = 23, DELETE = 127, RETURN = 13, TAB = 9 };

struct line {
    char *text; /* VIEW_LINE bytes */
    size_t n, at;
};

static void insert(struct line *l, int key)
{
    if (l->n + 1 >= VIEW_LINE)
        return;
    memmove(l->text + l->at + 1, l->text + l->at, l->n - l->at + 1);
    l->text[l->at++] = (char)key;
    l->n++;
}

/* The place before or after AT where a character of UTF-8 begins. */
static size_t step(const struct line *l, size_t at, bool back)
{
    do
        at += back ? -(size_t)(at > 0) : (size_t)(at < l->n);
    while (at > 0 && at < l->n && ((unsigned char)l->text[at] & 0xc0) == 0x80);
    return at;
}

/* Take away the bytes from FROM to TO. */
static void cut(struct line *l, size_t from, size_t to)
{
    memmove(l->text + from, l->text + to, l->n - to + 1);
    l->n -= to - from;
    l->at = from;
}

static void word_back(struct line *l)
{
    size_t from = l->at;

    while (from && l->text[from - 1] == ' ')
        from--;
    while (from && l->text[from - 1] != ' ')
        from--;
    cut(l, from, l->at);
}

static void edit(struct line *l, int key)
{
    switch (key) {
    case KEY_BACKSPACE:
    case CTRL_H:
    case DELETE:
        cut(l, step(l, l->at, true), l->at);
        break;
    case KEY_DC:
        cut(l, l->at, step(l, l->at, false));
        break;
    case KEY_LEFT:
        l->at = step(l, l->at, true);
        break;
    case KEY_RIGHT:
        l->at = step(l, l->at, false);
        break;
    case KEY_HOME:
    case CTRL_A:
        l->at = 0;
        break;
    case KEY_END:
    case CTRL_E:
        l->at = l->n;
        break;
    case CTRL_U:
        cut(l, 0, l->at);
        break;
    case CTRL_K:
        cut(l, l->at, l->n);
        break;
    case CTRL_W:
        word_back(l);
        break;
    default:
        if (key >= 32 && key < 256)
            insert(l, key);
    }
}

static void show(struct view *v, const char *question, const struct line *l)
{
    enum { LEAST = 16 };
    int ask = (int)strlen(question), room = v->width - ask - 1;
    char text[VIEW_LINE + 128], shorter[64];
    size_t skip;

    if (room < LEAST) { /* what is typed matters more than what it may be */
        const int n = (int)strcspn(question, "(:");

        ask = snprintf(shorter, sizeof shorter, "%.*s: ", n && question[n - 1] == ' ' ? n - 1 : n,
                       question);
        question = shorter;
        room = v->width - ask - 1;
    }
    skip = room > 0 && l->at > (size_t)room ? l->at - (size_t)room : 0;
    snprintf(text, sizeof text, "%s%s", question, l->text + skip);
    screen_put(v, v->height - 1, 0, v->width, text, BROWSE_MESSAGE);
    move(v->height - 1, ask + (int)(l->at - skip));
    curs_set(1);
    refresh();
}

static void remember(struct view *v, const char *text)
{
    if (!text[0] || (v->n_history && strcmp(v->history[v->n_history - 1], text) == 0))
        return;
    if (v->n_history == VIEW_HISTORY)
        memmove(v->history, v->history + 1, --v->n_history * sizeof *v->history);
    snprintf(v->history[v->n_history++], VIEW_LINE, "%s", text);
}

static const char *word_line(void *user, size_t i)
{
    return ((const struct browse_lines *)user)->at[i];
}

/* Several words are possible: one is chosen from a list. */
static void choose(struct view *v, struct line *l, size_t from, struct browse_lines *words)
{
    struct view_list list = {.title = "words to go on with",
                             .n = words->n,
                             .line = word_line,
                             .user = words,
                             .choose = true};
    int key;
    const long i = list_show(v, &list, &key);

    if (i >= 0)
        browse_put_word(l->text, VIEW_LINE, from, &l->at, words->at[i]);
    curs_set(0);
    draw_all(v);
}

/* Tab: as far as the words agree; where that is no further, they are shown. */
static void complete(struct view *v, struct line *l, unsigned sets)
{
    struct browse_lines words;
    size_t from;
    const size_t was = l->at;
    const long n = browse_complete(view_model(v), sets, l->text, VIEW_LINE, &l->at, &from, &words);

    if (n <= 0)
        beep();
    else if (n > 1 && l->at == was)
        choose(v, l, from, &words);
    l->n = strlen(l->text);
    browse_lines_fini(&words);
}

bool prompt(struct view *v, const char *question, unsigned words, char *out)
{
    struct line l = {out, strlen(out), strlen(out)};
    unsigned past = v->n_history;
    MEVENT ignored;
    int key;

    for (;;) {
        show(v, question, &l);
        key = screen_key(v, -1);
        if (key == RETURN || key == '\n' || key == KEY_ENTER || key == ESC || key == CTRL_G ||
            screen_signal())
            break;
        if (key == KEY_RESIZE) {
            getmaxyx(stdscr, v->height, v->width);
            draw_all(v);
        } else if ((key == KEY_UP && past) || (key == KEY_DOWN && past < v->n_history)) {
            past += key == KEY_UP ? -1u : 1u;
            snprintf(out, VIEW_LINE, "%s", past < v->n_history ? v->history[past] : "");
            l.n = l.at = strlen(out);
        } else if (key == KEY_MOUSE) {
            getmouse(&ignored);
        } else if (key == TAB) {
            complete(v, &l, words);
        } else {
            edit(&l, key);
        }
    }
    curs_set(0);
    if (key == ESC || key == CTRL_G || screen_signal())
        return false;
    remember(v, out);
    return true;
}
