/*
 * crowd.h - how much each of many files that are read at once may have.
 *
 * Orders that change from file to file have a reader for each: with thousands of them, descriptors
 * and memory are short, and windows and batches become small.
 */
#ifndef TROD_TRACE_CROWD_H
#define TROD_TRACE_CROWD_H

#include "trace/trace_impl.h"

struct trod_crowd {
    uint32_t rows; /* of a batch of a file */
    bool many;     /* files are open only while they are read from */
    bool host;     /* each has to do with very little */
};

enum { TROD_MANY_ROWS = 256 }; /* of a batch of one of many; of one batch that serves them all */

/* What the files of T may have; its options of input are set to that. */
struct trod_crowd trod_crowd_of(struct trod_trace *t);

#endif
