/*
 * fast.h - what the fast path shares: rows compared one by one (fast.c) and many in one go
 * (stretch.c).
 */
#ifndef TROD_COMPARE_FAST_H
#define TROD_COMPARE_FAST_H

#include "compare/engine.h"

#include "compare/short.h"

enum { CMP_STRETCH = 64 }; /* rows that are looked at in one go, at the most */

/* What may not be decided on the fast path. */
enum { CMP_HARD = TROD_F_UNKNOWN | TROD_F_PARTIAL };

/* A batch, and its addresses where the other side has them. */
struct cmp_view {
    const struct trod_batch *b;
    const uint64_t *addr, *target;
};

static inline bool cmp_same_text(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    return n > 8 ? memcmp(a, b, n) == 0 : n == 0 || cmp_short(a, n) == cmp_short(b, n);
}

static inline bool cmp_same_slice(const struct trod_batch *a, struct trod_slice s,
                                  const struct trod_batch *b, struct trod_slice t)
{
    return s.len == t.len && cmp_same_text(trod_batch_bytes(a, s), trod_batch_bytes(b, t), s.len);
}

/* Whether rows I of A and J of B, of one kind, say the same in their details and as their mode. */
bool cmp_same_details(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j);
/* The same of their names, which both have. */
bool cmp_same_names(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                    const struct trod_batch *b, uint32_t j);

/* The kinds that cmp_stretch decides on, once it is known what is compared. */
uint32_t cmp_stretch_kinds(const struct trod_compare *c);
/* Rows that are passed at once, all of one pair of streams. */
struct cmp_stretch {
    bool single; /* there is no other pair, and PAIR is known */
    int pair;
    uint64_t instr, writes; /* bits of rows: instructions; those that write memory or registers */
};

/*
 * How many rows from I of A and J of B on are compared, and the same: those of which that can be
 * told many at once. 0: none, and *OUT says nothing.
 */
uint32_t cmp_stretch(struct trod_compare *c, const struct cmp_view *a, uint32_t i,
                     const struct cmp_view *b, uint32_t j, struct cmp_stretch *out);

#endif
