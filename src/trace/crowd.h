/*
 * crowd.h - how much each of many files that are read at once may have.
 *
 * Orders that change from file to file have a reader for each: with thousands of them, descriptors
 * and memory are short, and windows and batches become small.
 */
#ifndef TROD_TRACE_CROWD_H
#define TROD_TRACE_CROWD_H

#include "trace/trace_impl.h"

enum { TROD_CROWD_AWAKE = 24 }; /* decoders of a host that do not rest */

struct trod_crowd {
    uint32_t rows; /* of a batch of a file */
    bool many;     /* files are open only while they are read from */
    bool host;     /* each has to do with very little, and decoders rest between their turns */
    /* Of a host: readers whose decoders may be awake, the last one first; NULL: none. */
    struct trod_reader *awake[TROD_CROWD_AWAKE];
};

enum { TROD_MANY_ROWS = 256 }; /* of a batch of one of many; of one batch that serves them all */

/* What the files of T may have; its options of input are set to that. */
struct trod_crowd trod_crowd_of(struct trod_trace *t);
/*
 * It is the turn of R, whose ROWS were decoded last: its decoder wakes, and in a host the one whose
 * turn was longest ago rests. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_crowd_wake(struct trod_crowd *c, struct trod_reader *r, struct trod_batch *rows);
/* R, or NULL, is about to be closed. */
void trod_crowd_forget(struct trod_crowd *c, const struct trod_reader *r);

#endif
