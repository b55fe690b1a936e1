/*
 * pace.c - measuring whether handing batches to another thread is worth it (pace.h).
 */
#include "engine/pace.h"

#include <time.h>

/*
 * WINDOW: some milliseconds of work. Of a short trace only the first FIRST windows are fed, alone:
 * a second thread has to be woken and needs batches of its own. Measurements are later FEW to MANY
 * windows apart, so that they cost a hundredth. WORTH: two threads must be faster by so many
 * hundredths, which one thread leaves to others, and by which measurements vary.
 */
enum { WINDOW = 1 << 20, FIRST = 2, FEW = 16, MANY = 128, WORTH = 10 };

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void run_pace_init(struct run_pace *p, uint64_t window)
{
    *p = (struct run_pace){.window = window ? window : WINDOW, .turns = window, .keep = FEW};
    p->alone = true;
    p->left = window ? window : FIRST * WINDOW;
}

void run_pace_go(struct run_pace *p)
{
    p->since = now();
}

/* The window with two threads took TOOK: which way the next windows go. */
static void choose(struct run_pace *p, uint64_t took)
{
    p->alone = p->took < took / 100 * (100 + WORTH);
    p->step = PACE_KEPT;
    p->left = p->window * p->keep;
    p->keep = p->keep < MANY ? 2 * p->keep : MANY;
}

bool run_pace_rows(struct run_pace *p, uint64_t n)
{
    const bool was = p->alone;
    uint64_t took;

    if (n < p->left) {
        p->left -= n;
        return false;
    }
    took = now() - p->since;
    p->left = p->window;
    if (p->turns) {
        p->alone = !p->alone;
    } else if (p->step == PACE_KEPT) {
        p->alone = true;
        p->step = PACE_ALONE;
    } else if (p->step == PACE_ALONE) {
        p->took = took;
        p->alone = false; /* the ring is filled before it is measured */
        p->step = PACE_SETTLES;
    } else if (p->step == PACE_SETTLES) {
        p->step = PACE_SHARED;
    } else {
        choose(p, took);
    }
    run_pace_go(p);
    return p->alone != was;
}
