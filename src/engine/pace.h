/*
 * pace.h - one thread or two: whether a batch is handed to another thread or fed where it was
 * decoded, whichever is faster on this machine.
 *
 * Cores that share a cache hand over a batch in little time. Where they do not, what one core wrote
 * has to come from its caches through memory, and that can take longer than decoding and feeding.
 * Both ways are measured now and then on a stretch of the rows. What they give is the same.
 */
#ifndef TROD_ENGINE_PACE_H
#define TROD_ENGINE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct run_pace {
    uint64_t window; /* rows of a measurement */
    bool turns;      /* each window in the other way, whatever is faster: for tests */
    bool alone;      /* the rows to come are fed where they were decoded */
    enum { PACE_KEPT, PACE_ALONE, PACE_SETTLES, PACE_SHARED } step;
    uint64_t left;  /* rows of this step to come */
    uint64_t since; /* when it began, nanoseconds */
    uint64_t took;  /* what a window took alone */
    unsigned keep;  /* windows until the next measurement */
};

/* WINDOW rows a measurement, and turns; 0: as many as suit, without. */
void run_pace_init(struct run_pace *p, uint64_t window);
/* N rows were fed or handed over. True when p->alone has changed: then run_pace_go comes next. */
bool run_pace_rows(struct run_pace *p, uint64_t n);
/* The time of this step begins now: the other thread has nothing left to do. */
void run_pace_go(struct run_pace *p);

#endif
