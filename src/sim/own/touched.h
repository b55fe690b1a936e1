/*
 * touched.h - the lines that rows reference, without repeats.
 *
 * For LRU caches of one core or agent, one for code and one for data, of one geometry or of many,
 * and for policies like LRU that a reference to the line its set used last does not change: such
 * references hit and change nothing. They are counted; many of them are left out, not all. Lines
 * are those of the smallest size.
 */
#ifndef TROD_SIM_OWN_TOUCHED_H
#define TROD_SIM_OWN_TOUCHED_H

#include "trod/batch.h"

#include <stddef.h>

enum {
    TROD_TOUCHED_LINE = 16, /* bytes of a line, at least: the bits below are for what follows */
    TROD_TOUCHED_REFS = 8192,
    TROD_TOUCHED_ROOM = TROD_TOUCHED_REFS + 128, /* what is written behind the last one counts */
    TROD_TOUCHED_SIZES = 8                       /* of lines, at most */
};

/* A reference: the address of the line and these bits. 0: none. */
enum { TROD_TOUCHED_IS = 1, TROD_TOUCHED_DIRTY = 2, TROD_TOUCHED_DATA = 4, TROD_TOUCHED_BITS = 7 };

#define TROD_TOUCHED_NONE (~(uint64_t)TROD_TOUCHED_BITS)

enum trod_touched_kind { TROD_TOUCHED_CODE, TROD_TOUCHED_READ, TROD_TOUCHED_WRITE };

struct trod_touched {
    unsigned line_bits;
    unsigned sizes;  /* of lines: each is twice as long as the one before */
    uint64_t sets;   /* bits of the address: what differs there is in different sets everywhere */
    unsigned dirty;  /* DIRTY where the first write of a line matters, else 0 */
    bool wraps;      /* what does not end before address 0 touches lines there, too; else none */
    uint8_t without; /* trod_without */
    /* The references REF go on, none is left. LINES, if there is one, is given REF and those to the
     * lines behind it, so many in all, of a row that touches many. */
    void (*run)(struct trod_touched *t);
    void (*lines)(struct trod_touched *t, uint64_t ref, uint64_t lines);
    void *user;                 /* of the rows that gave these */
    uint64_t last[2];           /* code, data: the last reference, NONE: none yet */
    uint64_t second;            /* the code line before it, in front of another set; NONE: none */
    unsigned restless, in_vain; /* words in which code is taken to go elsewhere: still, last time */
    uint64_t instructions, rows;          /* with a reference, or of no bytes */
    uint64_t refs[3];                     /* by kind: rows that touched a line */
    uint64_t more[TROD_TOUCHED_SIZES][3]; /* and how many more, by size of lines */
    size_t n;
    uint64_t *ref; /* room for ROOM: OWN, or where RUN says that the next ones go */
    uint64_t own[TROD_TOUCHED_ROOM];
};

/* Before the first rows; T is zero but for what it is told of its caches. */
void trod_touched_begin(struct trod_touched *t);
/* Rows [FROM, TO) of B are the next. */
void trod_touched_rows(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to);
/*
 * Leave out references to lines that are in front of their sets, as far as that is quickly seen.
 * When one in WORTH went, others have come to stand side by side: it is done again.
 */
void trod_touched_thin(struct trod_touched *t, size_t worth);
/* What comes next is not known to follow what came. */
static inline void trod_touched_forget(struct trod_touched *t)
{
    t->last[0] = t->last[1] = t->second = TROD_TOUCHED_NONE;
}

/* The columns that it looks at. */
enum { TROD_TOUCHED_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR };

#endif
