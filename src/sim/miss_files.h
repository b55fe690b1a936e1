/*
 * miss_files.h - the files that caches of DynamoRIO's simulator write their misses to.
 *
 * Each is a file of its own, and neither one that is read nor the result.
 */
#ifndef TROD_SIM_MISS_FILES_H
#define TROD_SIM_MISS_FILES_H

#include "sim/dr/sim.h"
#include "trod/meta.h"

struct trod_miss_file;

struct trod_miss_files {
    struct trod_miss_file *of; /* by cache; NULL: none */
    struct trod_dr_sim *sim;
    struct trod_diag *diag;
};

/*
 * Create the files that the configuration of SIM names, and have it write to them. RESULT: see
 * trod_cache_options. 0, TROD_ERR_USAGE or what trod_output_create returns, reported, or
 * TROD_ERR_NOMEM. F is all zero before; trod_miss_files_fini is due in any case.
 */
int trod_miss_files_begin(struct trod_miss_files *f, struct trod_dr_sim *sim, const char *result,
                          struct trod_diag *diag);
/* Refuse files that are files of the trace that META is of. 0 or TROD_ERR_USAGE, reported. */
int trod_miss_files_apart(const struct trod_miss_files *f, const struct trod_meta *meta);
/* The first error of writing so far; 0: none. */
int trod_miss_files_failed(const struct trod_miss_files *f);
/* Give the files their names. 0 or an error of writing. */
int trod_miss_files_end(struct trod_miss_files *f);
/* Files that have no name yet do not appear. */
void trod_miss_files_fini(struct trod_miss_files *f);

#endif
