/*
 * run_diag.h - problems of a worker, kept until it is their turn.
 */
#ifndef TROD_ANALYSIS_RUN_DIAG_H
#define TROD_ANALYSIS_RUN_DIAG_H

#include "trod/diag.h"

struct trod_kept;

/* A diag of its own that keeps what is reported to it. */
struct trod_keeper {
    struct trod_diag diag;
    struct trod_kept *first, **last;
};

void trod_keeper_init(struct trod_keeper *k, bool strict);
/* Report all to TO, count what was not kept, and release everything. TO NULL: release only. */
void trod_keeper_tell(struct trod_keeper *k, struct trod_diag *to);

#endif
