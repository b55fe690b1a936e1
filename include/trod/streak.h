/*
 * streak.h - the rows of a batch as streaks: instructions that were executed one after the other.
 *
 * Implements docs/design.md, "Streaks". Most instructions do not branch, and sites are numbered in
 * the order in which they come, so that a first site and a length stand for many rows: an analysis
 * that counts by site adds one at the first site of a streak, takes one away after its last, and
 * sums up when the trace is over. The engine makes streaks once for all analyses of a pass that
 * have TROD_WANT_STREAKS in uses (beside TROD_COL_SITE).
 */
#ifndef TROD_STREAK_H
#define TROD_STREAK_H

#include "trod/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * In needs or uses of an analysis: batches that have sites come with streaks. Not a column, and not
 * passed on to drivers.
 */
enum { TROD_WANT_STREAKS = 1 << 29 };

/*
 * N instructions from ROW to LAST. They have the sites SITE, SITE + 1, ...; each begins in memory
 * where the one before it ends; all say address, size and flags; they are of one stream and either
 * all of the kernel (TROD_F_KERNEL) or none; none is synthetic, skipped or not fetched; only the
 * last may be a branch. All rows between them are accesses or registers. N 0: a single row for
 * which this does not hold, to be handled by itself.
 */
struct trod_streak {
    uint32_t row, last, site, n;
};

struct trod_streaks {
    uint32_t n, n_accesses;
    struct trod_streak at[TROD_BATCH_ROWS]; /* in the order of the rows */
    /* Rows of kind READ to FLUSH that say address, size and flags, and are not fetches of code. */
    uint16_t access[TROD_BATCH_ROWS + 8]; /* n_accesses are valid; 8 more may be written to */
};

/* An iteration over the streaks of some rows of a batch. */
struct trod_streak_walk {
    const struct trod_batch *b;
    const struct trod_streak *at, *end;
    uint32_t from, to;
    struct trod_streak part; /* of a streak that begins before FROM or ends after TO */
};

/* Begin to iterate over the streaks of rows [FROM, TO) of B, which has streaks. */
void trod_streak_walk_begin(struct trod_streak_walk *w, const struct trod_batch *b, uint32_t from,
                            uint32_t to);

/* The part of the streak at W->at inside the rows of W, or NULL; for trod_streak_next. */
const struct trod_streak *trod_streak_part(struct trod_streak_walk *w);

/* The next streak, or its part inside the rows; NULL: there are no more. */
static inline const struct trod_streak *trod_streak_next(struct trod_streak_walk *w)
{
    while (w->at != w->end) {
        const struct trod_streak *s = w->at;

        if (s->row < w->from || s->last >= w->to)
            s = trod_streak_part(w);
        w->at++;
        if (s)
            return s;
    }
    return NULL;
}

/* Streaks between the one that trod_streak_next returned last and the one of trod_streak_soon. */
enum { TROD_STREAK_AHEAD = 8 };

/*
 * For prefetching: the first site of the streak TROD_STREAK_AHEAD further on, and in *END the site
 * after its last; both 0 if there is none, or if it is a single row.
 */
static inline uint32_t trod_streak_soon(const struct trod_streak_walk *w, uint32_t *end)
{
    const struct trod_streak *s =
        w->end - w->at > TROD_STREAK_AHEAD ? w->at + TROD_STREAK_AHEAD : NULL;
    const uint32_t n = s ? s->n : 0;

    *end = n ? s->site + n : 0;
    return n ? s->site : 0;
}

/* The row numbers of the accesses among rows [FROM, TO) of B, which has streaks; *N: how many. */
const uint16_t *trod_streak_accesses(const struct trod_batch *b, uint32_t from, uint32_t to,
                                     uint32_t *n);

#ifdef __cplusplus
}
#endif

#endif
