/*
 * values.h - which numbers rows hold: of each block and kind of row all of them in ascending order,
 * with the number of rows that hold each and their steps.
 *
 * So rows that hold one, or one of a range, are counted without being read: of each block a page is
 * looked at where the range begins, and one where it ends.
 */
#ifndef NAVIGATE_VALUES_H
#define NAVIGATE_VALUES_H

#include "navigate/index.h"
#include "trod/batch.h"

enum {
    NAV_VALUES_PAGE = 256,        /* different numbers of a page, at most */
    NAV_VALUES_SEGMENT = 16 << 20 /* bytes after which a segment ends */
};

/* Layout of a section, in bytes (values.c). */
enum { NAV_VALUES_HEAD = 12, NAV_VALUES_LIST = 16, NAV_VALUES_ENTRY = 24 };

/* Of the first byte of a number: bytes of its difference, several rows have it, its step. */
enum { NAV_VALUES_BYTES = 15, NAV_VALUES_MORE = 1 << 4, NAV_VALUES_STEP = 5 };

/* What is made of rows, as the content of a section. */
struct nav_values {
    /* Numbers of the block by kind of row, each with its step. */
    struct nav_sort_key *of[TROD_KINDS];
    size_t n[TROD_KINDS], cap[TROD_KINDS];
    struct nav_sort_key *room;
    size_t cap_room;
    uint32_t *count;                  /* for sorting */
    uint32_t block;                   /* of the segment */
    uint32_t n_lists, n_pages;        /* so far: */
    struct trod_buf list, page, data; /* these, and the numbers */
};

/* Returns 0 or TROD_ERR_NOMEM. */
int nav_values_init(struct nav_values *v);
void nav_values_fini(struct nav_values *v);
/* The values of B's rows, which are in STEP of the block. Returns 0 or TROD_ERR_NOMEM. */
int nav_values_rows(struct nav_values *v, const struct trod_batch *b, unsigned step);
/* The block ends; the next one begins. Returns the same. */
int nav_values_end(struct nav_values *v);
/* The blocks that ended since the last time, as a section's content, appended to OUT. */
int nav_values_save(struct nav_values *v, struct trod_buf *out);

/* Bytes that this takes, about. */
static inline size_t nav_values_size(const struct nav_values *v)
{
    return v->list.n + v->page.n + v->data.n;
}

struct trod_match_spans;

/*
 * values_find.c: rows of segment S that hold one of SPANS, added to AT by block and kind (that of
 * kind K in block B of S is AT[TROD_KINDS * B + K]). Returns 0, TROD_ERR_CORRUPT.
 */
int nav_values_count(const struct nav_index *x, const struct nav_segment *s,
                     const struct trod_match_spans *spans, uint64_t *at);
/* The steps of each block of S in which rows of KINDS hold one of SPANS, added to STEP. */
int nav_values_steps(const struct nav_index *x, const struct nav_segment *s,
                     const struct trod_match_spans *spans, uint32_t kinds, uint8_t *step);

#endif
