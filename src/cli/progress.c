/*
 * progress.c - percent, rate and time left on standard error.
 *
 * Shown when standard error is a terminal and the run has taken half a second. Whoever writes to
 * the terminal erases it first (cli_progress_erase): results never stand behind it.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { FIRST = 500000, EVERY = 200000 }; /* microseconds */

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void cli_progress_begin(struct cli_progress *p, struct cli *c)
{
    p->c = c;
    p->on = !c->common->quiet && cli_terminal(STDERR_FILENO);
    p->begin = p->last = p->on ? now() : 0;
}

static void time_left(char *out, size_t n, double seconds)
{
    unsigned long s = (unsigned long)(seconds + 0.5);

    if (s >= 3600)
        snprintf(out, n, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, n, "%lu:%02lu", s / 60, s % 60);
}

/* Is it time to say something again? */
static bool due(struct cli_progress *p)
{
    uint64_t at;

    if (!p->on)
        return false;
    at = now();
    if (at - p->begin < FIRST || (p->last != p->begin && at - p->last < EVERY))
        return false;
    p->last = at;
    return true;
}

static void say(struct cli_progress *p, const struct trod_trace_progress *g, uint64_t rows)
{
    double seconds = (double)(p->last - p->begin) / 1e6, rate = (double)g->bytes / seconds;
    char left[32];

    fprintf(stderr, "\r\033[K%.1f M rows, %.1f M rows/s, %.0f MB/s", (double)rows / 1e6,
            (double)rows / 1e6 / seconds, rate / 1e6);
    if (g->total != TROD_NOWHERE && g->total > 0 && g->bytes <= g->total && rate > 0) {
        time_left(left, sizeof left, (double)(g->total - g->bytes) / rate);
        fprintf(stderr, ", %.0f %%, %s left", 100.0 * (double)g->bytes / (double)g->total, left);
    }
    fflush(stderr);
    p->c->progress_shown = true;
}

void cli_progress_tick(struct cli_progress *p, const struct trod_trace *t, uint64_t rows)
{
    struct trod_trace_progress g;

    if (!due(p))
        return;
    trod_trace_progress(t, &g);
    say(p, &g, rows);
}

void cli_progress_show(struct cli_progress *p, const struct trod_trace_progress *g)
{
    if (due(p))
        say(p, g, g->rows);
}

void cli_progress_erase(struct cli *c)
{
    if (c->progress_shown)
        fputs("\r\033[K", stderr);
    c->progress_shown = false;
}

void cli_progress_end(struct cli_progress *p)
{
    cli_progress_erase(p->c);
}
