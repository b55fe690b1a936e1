/*
 * ran.h - what runs of analyses have found, as one text that tests compare.
 */
#ifndef TROD_TEST_RAN_H
#define TROD_TEST_RAN_H

#include "trod/run.h"

/* What the first N analyses of RUN, which is over, have found: JSON, to be freed. */
char *test_found(const struct trod_run *run, size_t n);

/*
 * All that a run of the N analyses of WHAT over PATHS tells: the problems, how it ended, what was
 * found; to be freed. Analyses that cannot read the trace are left out. NULL: none can, or the
 * files are refused.
 */
char *test_ran(const char *const *paths, size_t n_paths, const struct trod_run_options *opt,
               const struct trod_analysis *const *what, size_t n);

/* Is the beginning of the file at PATH, of format FROM, such that a run refuses it? */
bool test_refused(const char *path, const char *from);
/* PART, which is over, is saved, and what was saved is merged into ALL. */
void test_merge_part(struct trod_run *all, const struct trod_run *part);

#endif
