/*
 * classes.h - what rows have in common: kind, flags, size, stream, sub, which columns they say, and
 * what they say of the flow of the program. Each such class is kept once for the trace; a list says
 * how many rows of it a block has, and in which steps.
 *
 * A condition about these alone is judged once for each class.
 */
#ifndef NAVIGATE_CLASSES_H
#define NAVIGATE_CLASSES_H

#include "navigate/index.h"
#include "trod/batch.h"

enum {
    NAV_CLASSES = 1 << 15, /* of a trace, at most */
    NAV_CLASS_SLOTS = 1 << 16,
    NAV_CLASS_NEAR = 1 << 8, /* those that came up last, by hash */
    /* Columns of which it is known whether rows say them. */
    NAV_CLASS_HAS = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
                    TROD_COL_INDEX | TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_TARGET |
                    TROD_COL_VALUE | TROD_COL_SUB
};

/* The key of rows whose class is not kept. */
#define NAV_ANY_CLASS UINT64_MAX

struct nav_class {
    uint64_t what;  /* columns, + 2^20 * kind, + 2^25 * enum trod_flow */
    uint64_t more;  /* flags, + 2^32 * size */
    uint64_t of;    /* stream, + 2^32 * sub */
    uint32_t turn;  /* the block that it was met in, */
    uint32_t count; /* its rows of that, */
    uint32_t steps; /* and their steps */
};

/* Rows that came up last: all that they say of their class, as one number. */
struct nav_class_near {
    uint64_t says;
    uint32_t id, count; /* their class, how many of the step that it does not know of */
};

/* Those of a trace, in the order in which they come up. */
struct nav_classes {
    struct nav_class *at;
    uint32_t n, saved; /* those before SAVED are in segments before */
    size_t cap;
    uint32_t *slot;                             /* by hash: number + 1 */
    struct nav_class_near near[NAV_CLASS_NEAR]; /* by hash */
    uint32_t base;                              /* stream: those of NEAR are counted from it */
    unsigned step;                              /* of the rows of NEAR */
    uint32_t *met;                              /* of the block */
    uint32_t n_met;
    size_t cap_met;
    uint32_t turn;
    uint32_t lost, lost_steps; /* rows of the block whose class is not kept; their steps */
    bool modes;                /* flags of rows tell whether code is privileged */
    uint64_t says[TROD_BATCH_ROWS];
    /*
     * Of the rows to come, all zero but for instructions: enum trod_branch of the opcode, + 16
     * where the code is a user's, + 32 where it is privileged, if their flags do not tell that;
     * NAV_NO_BRANCH: the class is not to be told.
     */
    uint8_t opcode[TROD_BATCH_ROWS];
};

enum { NAV_NO_BRANCH = 0xff };

struct trod_format;
int nav_classes_init(struct nav_classes *c, const struct trod_format *f);
void nav_classes_fini(struct nav_classes *c);
/* The rows of B, for which OPCODE is there, are in STEP of the block. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_classes_rows(struct nav_classes *c, const struct trod_batch *b, unsigned step);
/* The block ends: its postings, as those of BLOCK; the next one begins. */
int nav_classes_end(struct nav_classes *c, uint32_t block, struct nav_postings *out);
/* Those that came up since the last time, as a section's content before compression. */
int nav_classes_save(struct nav_classes *c, struct trod_buf *out);
/* Those of segment S of X to C. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int nav_classes_of(struct nav_classes *c, const struct nav_index *x, const struct nav_segment *s);

#endif
