/*
 * screen.c - the terminal: begun, left as it was, text, keys, signals. Implements view.h.
 */
#include <curses.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "browse/view.h"

#include <term.h> /* has macros for short words */

enum { ASK_MS = 30, LOOK_MS = 200, ESC = 27, CTRL_G = 7 };

static volatile sig_atomic_t ended;
static struct sigaction before[4];
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void on_signal(int number)
{
    ended = number;
}

int screen_signal(void)
{
    return ended;
}

static void signals(bool mine)
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_handler = on_signal; /* without SA_RESTART: waiting for a key ends */
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        if (mine)
            sigaction(ending[i], &act, &before[i]);
        else
            sigaction(ending[i], &before[i], NULL);
    }
}

static void colours(struct view *v)
{
    v->colour = v->setup->colour && has_colors() && start_color() == OK;
    if (!v->colour)
        return;
    use_default_colors();
    for (unsigned i = 0; i < BROWSE_PARTS; i++) {
        struct browse_style *s = &v->style[i];

        if (s->front >= COLORS)
            s->front = -1;
        if (s->back >= COLORS)
            s->back = -1;
        init_pair((short)(i + 1), s->front, s->back);
    }
}

/* What a terminal has not is NULL, what is no text is -1. */
static bool is_there(const char *capability)
{
    return capability && (intptr_t)capability != -1;
}

/*
 * Terminals send for some keys what TERM does not say: the other mode of cursor keys, or Home and
 * End as the VT220 has them.
 */
static void more_keys(void)
{
    static const struct {
        const char *sent;
        int key;
    } keys[] = {
        {"\033[A", KEY_UP},      {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},
        {"\033[D", KEY_LEFT},    {"\033OA", KEY_UP},   {"\033OB", KEY_DOWN},
        {"\033OC", KEY_RIGHT},   {"\033OD", KEY_LEFT}, {"\033[H", KEY_HOME},
        {"\033[F", KEY_END},     {"\033OH", KEY_HOME}, {"\033OF", KEY_END},
        {"\033[1~", KEY_HOME},   {"\033[4~", KEY_END}, {"\033[7~", KEY_HOME},
        {"\033[8~", KEY_END},    {"\033[3~", KEY_DC},  {"\033[5~", KEY_PPAGE},
        {"\033[6~", KEY_NPAGE},  {"\033OP", KEY_F(1)}, {"\033[11~", KEY_F(1)},
        {"\033[21~", KEY_F(10)},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key_defined(keys[i].sent) == 0)
            define_key(keys[i].sent, keys[i].key);
}

int screen_begin(struct view *v, struct trod_diag *diag)
{
    const char *term = getenv("TERM");
    SCREEN *screen = NULL;
    int found;

    ended = 0;
    setlocale(LC_CTYPE, "");
    if (setupterm(NULL, STDOUT_FILENO, &found) == OK) {
        const bool moves = is_there(tigetstr("cup"));

        del_curterm(cur_term); /* newterm makes its own */
        if (moves)
            screen = newterm(NULL, stdout, stdin);
    }
    if (!screen)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "browse.terminal", NULL,
                          "the terminal '%s' (TERM) is not known, or cannot move its cursor",
                          term ? term : "");
    set_term(screen);
    signals(true);
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    more_keys();
    set_escdelay(25);
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
    curs_set(0);
    colours(v);
    getmaxyx(stdscr, v->height, v->width);
    return 0;
}

void screen_end(void)
{
    SCREEN *screen = set_term(NULL);

    if (!screen)
        return;
    set_term(screen);
    curs_set(1);
    move(LINES - 1, 0); /* where what comes next is written, on terminals with one screen only */
    clrtoeol();
    refresh();
    endwin();
    delscreen(screen);
    signals(false);
}

static attr_t attributes(const struct view *v, unsigned part)
{
    const struct browse_style *s = &v->style[part];
    attr_t a = v->colour ? COLOR_PAIR(part + 1) : 0;

    a |= s->how & BROWSE_BOLD ? A_BOLD : 0;
    a |= s->how & BROWSE_DIM ? A_DIM : 0;
    a |= s->how & BROWSE_UNDERLINE ? A_UNDERLINE : 0;
    a |= s->how & BROWSE_REVERSE ? A_REVERSE : 0;
    return a;
}

/* What a terminal cannot show is "?". */
static int put_text(const char *text, int width)
{
    mbstate_t state;
    int at = 0;

    memset(&state, 0, sizeof state);
    for (size_t n = strlen(text); n && at < width;) {
        wchar_t c[2] = {L'?', 0};
        size_t used = mbrtowc(c, text, n, &state);
        int cells;

        if (used == (size_t)-1 || used == (size_t)-2 || used == 0) {
            memset(&state, 0, sizeof state);
            c[0] = L'?';
            used = 1;
        }
        cells = wcwidth(c[0]);
        if (cells < 0) {
            c[0] = L'?';
            cells = 1;
        }
        text += used;
        n -= used;
        if (at + cells > width)
            break;
        addwstr(c);
        at += cells;
    }
    return at;
}

void screen_put_on(struct view *v, int y, int x, int width, const char *text, unsigned part,
                   bool chosen)
{
    attr_t a = attributes(v, part);
    int at;

    if (y < 0 || y >= v->height || x >= v->width || width <= 0)
        return;
    if (width > v->width - x)
        width = v->width - x;
    if (chosen)
        a |= attributes(v, BROWSE_CURSOR);
    attrset((int)a);
    move(y, x);
    at = put_text(text, width);
    /* the last column of the last line is written by padding too: curses knows how */
    for (; at < width; at++)
        addch(' ');
    attrset(0);
}

void screen_put(struct view *v, int y, int x, int width, const char *text, unsigned part)
{
    screen_put_on(v, y, x, width, text, part, false);
}

/* ---- keys */

uint64_t screen_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Is there nobody at the terminal any more? */
static bool gone(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int screen_key(struct view *v, int ms)
{
    int key;

    if (v->n_keys) {
        key = v->key[0];
        memmove(v->key, v->key + 1, --v->n_keys * sizeof *v->key);
        return key;
    }
    /* a signal that comes just before the waiting does not end it: so it ends now and then */
    do {
        timeout(ms < 0 ? LOOK_MS : ms);
        key = getch();
        if (key == ERR && !ended && gone())
            ended = SIGHUP;
    } while (key == ERR && ms < 0 && !ended);
    return key == ERR ? -1 : key;
}

bool screen_typed(struct view *v)
{
    int key;

    if (v->n_keys)
        return true;
    timeout(0);
    key = getch();
    if (key == ERR)
        return false;
    v->key[v->n_keys++] = key;
    return true;
}

int screen_tick(void *user, uint64_t row)
{
    struct view *v = user;
    const uint64_t now = screen_clock();
    char text[96];
    int key;

    if (ended)
        return BROWSE_STOPPED;
    if (now - v->asked < ASK_MS)
        return 0;
    v->asked = now;
    timeout(0);
    while ((key = getch()) != ERR) {
        if (v->patient && (key == ESC || key == CTRL_G)) {
            v->n_keys = 0;
            return BROWSE_STOPPED;
        }
        if (v->n_keys < VIEW_KEYS)
            v->key[v->n_keys++] = key;
    }
    if (!v->patient)
        return v->n_keys || view_index_made(v) ? BROWSE_STOPPED : 0;
    snprintf(text, sizeof text, "reading: row %llu (Esc stops)", (unsigned long long)row);
    draw_reading(v, text);
    refresh();
    return 0;
}
