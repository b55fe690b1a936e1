/*
 * touched.h - converting rows to references to lines, without most of the repeats.
 *
 * For the caches of one core or agent, one for code and one for data, of one geometry or of many,
 * with LRU or another policy that ignores a reference to the most recently used line of a set: such
 * a reference hits and changes nothing. These references are counted; many of them, but not all,
 * are left out. Lines are those of the smallest size.
 */
#ifndef TROD_SIM_OWN_TOUCHED_H
#define TROD_SIM_OWN_TOUCHED_H

#include "sim/ref.h"
#include "trod/batch.h"

#include <stddef.h>

enum {
    TROD_TOUCHED_LINE =
        16, /* least bytes of a line: lower bits of an address hold the bits below */
    TROD_TOUCHED_REFS = 8192,
    TROD_TOUCHED_ROOM = TROD_TOUCHED_REFS + 128, /* vectors may write beyond the last reference */
    TROD_TOUCHED_SIZES = 8                       /* line sizes, at most */
};

/* A reference: the address of the line and these bits. 0: none. */
enum { TROD_TOUCHED_IS = 1, TROD_TOUCHED_DIRTY = 2, TROD_TOUCHED_DATA = 4, TROD_TOUCHED_BITS = 7 };

#define TROD_TOUCHED_NONE (~(uint64_t)TROD_TOUCHED_BITS)

enum trod_touched_kind { TROD_TOUCHED_CODE, TROD_TOUCHED_READ, TROD_TOUCHED_WRITE };

struct trod_touched {
    unsigned line_bits;
    unsigned sizes;  /* number of line sizes, each twice the one before */
    uint64_t sets;   /* address bits that are set number bits in every cache */
    unsigned dirty;  /* TROD_TOUCHED_DIRTY if the first write of a line matters, else 0 */
    uint8_t without; /* trod_without */
    /* RUN takes over all references in REF. LINES (may be NULL) is called for a row that touches
     * many lines: REF stands for LINES consecutive lines. */
    void (*run)(struct trod_touched *t);
    void (*lines)(struct trod_touched *t, uint64_t ref, uint64_t lines);
    void *user;       /* of RUN and LINES */
    uint64_t last[2]; /* code, data: the last reference, NONE: none yet */
    uint64_t second;  /* the code line before that, if at the front of another set; or NONE */
    /* words for which the two-line fast path is not tried: remaining, and the number set last */
    unsigned restless, in_vain;
    uint64_t instructions, rows; /* with a reference, or with no bytes */
    uint64_t refs[3];            /* by kind: rows that touched a line */
    uint64_t more[TROD_TOUCHED_SIZES]
                 [3]; /* by line size and kind: further lines that they touched */
    size_t n;
    uint64_t *ref; /* room for ROOM references: OWN, or a place set by RUN */
    uint64_t own[TROD_TOUCHED_ROOM];
};

/* Begin, before the first rows; all of T is zero except the parameters (up to USER). */
void trod_touched_begin(struct trod_touched *t);
/* Convert rows [FROM, TO) of B. */
void trod_touched_rows(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to);
/*
 * Remove references to lines at the front of their sets, as far as a quick search finds them. If at
 * least one in WORTH was removed, the search is repeated, because others are now adjacent.
 */
void trod_touched_thin(struct trod_touched *t, size_t worth);
/* Forget the last references: the next rows may not follow the rows before. */
static inline void trod_touched_forget(struct trod_touched *t)
{
    t->last[0] = t->last[1] = t->second = TROD_TOUCHED_NONE;
}

/* The columns that it looks at, besides those of trod_ref_physical. */
enum { TROD_TOUCHED_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR };

#endif
