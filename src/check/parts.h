/*
 * parts.h - a state that is fed a part of a file from its middle: what it keeps of it, for the
 * state of the rows before to go on with.
 *
 * What the rules find at a row depends on the rows before. Two ways lead around that; which one is
 * the family's:
 *
 * - Rules that soon forget (join): of each stream the first rows of the part are kept, and judged
 *   when the state before is known. Behind them, at the seam, all that the rules know comes from
 *   rows of the part, which are judged as they come. If the state before, led over the rows kept,
 *   is at the seam what was thought of there, the findings behind it are right.
 * - Rules that do not (go_on): only stretches of rows that break no rule whatever came before are
 *   judged as they come, and summed up. All other rows are kept, and judged when the state before
 *   is known. There must not be many of these.
 *
 * Where neither will do the part gives up, and the file is read in one go.
 */
#ifndef TROD_CHECK_PARTS_H
#define TROD_CHECK_PARTS_H

#include "check/check_int.h"

/* Where a row lies: from the first of its state on. TROD_NOWHERE: not known. */
struct chk_at {
    uint64_t ordinal, offset, line;
};

/* Rows that are kept. */
struct chk_kept {
    struct trod_batch *b;
    struct chk_at *at; /* by row */
};

/* In their order: rows [FROM, TO) of KEPT, all of STREAM (its key); or stretch FROM. */
struct chk_entry {
    uint32_t stream, kept, from, to;
    bool stretch;
};

/* A stream of a family that has join. */
struct chk_seam {
    void *st; /* what was thought of it at the seam; NULL: it is not there yet */
    uint32_t rows;
};

/* A row of instructions that call and return: the address that a call will return to. */
struct chk_op {
    uint64_t back;
    bool call;
};

struct chk_part {
    bool begun;
    bool lost;     /* it gives up */
    uint64_t from; /* offset of its first byte */
    uint64_t rows, kept_rows;
    struct chk_kept *kept;
    size_t n_kept, cap_kept;
    struct chk_entry *entry;
    size_t n_entries, cap_entries;
    struct chk_seam *seam; /* by key of a stream */
    uint32_t n_seams;
    struct chk_stretch *stretch; /* drm.h */
    size_t n_stretches, cap_stretches;
    struct chk_op *op;
    size_t n_ops, cap_ops;
};

/* A new one, or NULL. */
struct chk_part *chk_part_new(void);
void chk_part_free(struct chk_part *p);

/* As the rows callback of the family, of a state that has a part. */
int chk_part_rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Keep rows [FROM, TO) of B, of the stream being judged. 0 or TROD_ERR_NOMEM. */
int chk_part_keep(struct chk *c, const struct trod_batch *b, uint32_t from, uint32_t to);

/*
 * FROM, a state of part of a file, is behind all of that file that INTO has. 0, TROD_ERR_NOMEM, or
 * TROD_ERR_UNSUPPORTED: the file has to be read in one go.
 */
int chk_part_merge(struct chk *into, struct chk *from);

/* Bytes that C keeps, SIZE_MAX where it gives up. */
size_t chk_part_bytes(const void *st);

#endif
