/*
 * hide.h - anonymising the rows of a trace, so that they do not reveal the program.
 *
 * Implements docs/hiding.md, which lists what is kept and what is removed, and explains why caches,
 * TLBs, locality and branches give the same numbers before and after.
 */
#ifndef TROD_HIDE_H
#define TROD_HIDE_H

#include "trod/batch.h"
#include "trod/meta.h"
#include "trod/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may stay that usually goes: bits of trod_hide_options.keep. */
enum trod_hide_keep {
    TROD_HIDE_CODE = 1 << 0,   /* opcodes; otherwise only what each instruction reads and writes */
    TROD_HIDE_VALUES = 1 << 1, /* what accesses read and wrote */
    TROD_HIDE_TIMES = 1 << 2,  /* times as they are; otherwise counted from the first one */
    TROD_HIDE_NAMES = 1 << 3,  /* numbers of threads, processes and cpus */
    /* instructions that the tracer put in: where they are written without TROD_F_SYNTHETIC they
     * would count as the program's */
    TROD_HIDE_SYNTHETIC = 1 << 4,
    /* physical addresses of a bus as such, moved like all; otherwise they become TROD_COL_ADDR */
    TROD_HIDE_PHYSICAL = 1 << 5
};

struct trod_hide_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    /*
     * Traces that are hidden with one key can be compared: equal addresses stay equal. NULL: a
     * random key, which is not kept.
     */
    const char *key;
    /*
     * Addresses are moved in granules of so many bytes, within which offsets stay: a power of two
     * from 64 to 2^30; 0: 1 MiB. Branch predictors hash low bits of addresses with their history:
     * smaller granules change what they predict.
     */
    uint64_t granule;
    uint32_t keep; /* enum trod_hide_keep */
};

struct trod_hide;

/*
 * Prepare to hide the rows of a trace whose meta is SOURCE (which must outlive *OUT). Returns 0,
 * TROD_ERR_USAGE (granule is no power of two from 64 to 2^30, or options of another version) or
 * TROD_ERR_NOMEM; all reported but the last. OPT may be NULL. Release *OUT with trod_hide_free;
 * NULL is allowed.
 */
int trod_hide_new(struct trod_hide **out, const struct trod_hide_options *opt,
                  const struct trod_meta *source, struct trod_diag *diag);
void trod_hide_free(struct trod_hide *h);

/* What is known of the hidden trace; grows while rows are hidden. */
const struct trod_meta *trod_hide_meta(const struct trod_hide *h);
/*
 * Look at the times of B before anything is hidden: times are counted from the earliest of all rows
 * that were looked at. Where none were it is the first row's that is hidden, and times of rows
 * before it, of other threads, become 0.
 */
void trod_hide_look(struct trod_hide *h, const struct trod_batch *b);
/* Columns that hidden rows have. */
uint32_t trod_hide_columns(const struct trod_hide *h);

/*
 * The rows of B, hidden: *OUT belongs to H and is valid until the next call. Returns 0,
 * TROD_ERR_LIMIT (more different instructions than it can hold) or TROD_ERR_NOMEM.
 */
int trod_hide_batch(struct trod_hide *h, const struct trod_batch *b, struct trod_batch **out);

/* Write what was kept and what was removed to the open level of R. Returns 0 or TROD_ERR_NOMEM. */
int trod_hide_result(const struct trod_hide *h, struct trod_result *r);

#ifdef __cplusplus
}
#endif

#endif
