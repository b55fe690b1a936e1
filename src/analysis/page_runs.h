/*
 * page_runs.h - runs of whole pages: what accesses to very many pages touch (pages.h).
 *
 * An access of 4 GiB touches 2^22 pages. Of such ones only the first and the last page are kept, so
 * that their time and memory do not depend on how large they are.
 */
#ifndef TROD_ANALYSIS_PAGE_RUNS_H
#define TROD_ANALYSIS_PAGE_RUNS_H

#include "trod/buf.h"
#include "trod/types.h"

/* Pages FIRST to LAST. */
struct trod_page_run {
    uint64_t first, last;
};

/* A set of pages. In order: by number, with other pages between any two runs. */
struct trod_page_runs {
    struct trod_page_run *at;
    size_t n, cap;
    size_t ordered; /* the first so many are in order */
};

void trod_page_runs_free(struct trod_page_runs *r);
/* Add RUN to *R, which is made where it is NULL. 0 or TROD_ERR_NOMEM. */
int trod_page_runs_add(struct trod_page_runs **r, const struct trod_page_run *run);
/* Add FROM, which may be NULL, to *INTO. 0 or TROD_ERR_NOMEM. */
int trod_page_runs_merge(struct trod_page_runs **into, const struct trod_page_runs *from);
/* Put R, which may be NULL, in order. The functions below need it to be. */
void trod_page_runs_order(struct trod_page_runs *r);
/* Is one of the pages of RUN in R, which may be NULL? */
bool trod_page_runs_meet(const struct trod_page_runs *r, const struct trod_page_run *run);
/* How many blocks of 1 << LOG pages have pages of R, which may be NULL. */
uint64_t trod_page_runs_blocks(const struct trod_page_runs *r, unsigned log);

/* To bytes and back: IN is advanced. Return 0, TROD_ERR_NOMEM or TROD_ERR_CORRUPT. */
int trod_page_runs_save(const struct trod_page_runs *r, struct trod_buf *out);
int trod_page_runs_load(struct trod_page_runs **r, struct trod_span *in);

#endif
