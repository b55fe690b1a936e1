/*
 * background.h - the index of a trace, made while it is browsed.
 */
#ifndef BROWSE_BACKGROUND_H
#define BROWSE_BACKGROUND_H

#include "trod/trod.h"

struct background;

enum background_state { BACKGROUND_RUNS, BACKGROUND_MADE, BACKGROUND_FAILED };

/* Make the index of PATH, opened with TRACE, in DIR (NULL: as usual). NULL: there is no memory. */
struct background *background_begin(const char *path, const struct trod_trace_options *trace,
                                    const char *dir, unsigned jobs);
/* How it goes; *PERCENT: how far, *WHY: of failure. */
enum background_state background_look(struct background *g, unsigned *percent, const char **why);
/*
 * Release G. One that runs is left to itself until the program ends, which is what the caller does:
 * what it has written so far is taken away.
 */
void background_end(struct background *g);

#endif
