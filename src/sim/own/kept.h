/*
 * kept.h - recorded references, in the order in which they came.
 *
 * The state of a part of a trace keeps the references that trod_touched leaves; the caches get them
 * when it is the turn of the part. Blocks are huge pages, of which own/touched.h fills most where
 * they are.
 */
#ifndef TROD_SIM_OWN_KEPT_H
#define TROD_SIM_OWN_KEPT_H

#include "sim/own/touched.h"

/* Bytes of a block. */
enum { TROD_KEPT_BLOCK = 1 << 21 };

/* LINES above 0: the block has one reference, which stands for LINES consecutive lines. */
struct trod_kept_block {
    struct trod_kept_block *next;
    size_t bytes, n;
    uint64_t lines;
    uint64_t ref[];
};

struct trod_kept {
    struct trod_kept_block *first, *last; /* NULL: none */
    size_t bytes;
};

/* Keep the references of T behind the others; the caller sets T->n to 0. False: no memory. */
bool trod_kept_add(struct trod_kept *k, struct trod_touched *t);
/*
 * Keep REF, which stands for LINES consecutive lines, behind the others; T has no references.
 * False: no memory.
 */
bool trod_kept_lines(struct trod_kept *k, struct trod_touched *t, uint64_t ref, uint64_t lines);
/*
 * References number AT and on of block B, at most MOST: returns how many, 0: there are no more.
 * *REFS becomes where they are: in the block, or, of a block that stands for lines of 2^LINE_BITS
 * bytes, in ROOM, which has MOST elements.
 */
size_t trod_kept_some(const struct trod_kept_block *b, uint64_t at, size_t most, unsigned line_bits,
                      uint64_t *room, const uint64_t **refs);
void trod_kept_free(struct trod_kept *k);

#endif
