/*
 * tally.h - how often each line of a table is referenced, and how often from far.
 *
 * Both numbers stand beside the line, as one of 32 bits (trod_line.lately), so counting a reference
 * needs no further cache line. Before they could overflow they are carried to a table, in which few
 * lines are: one for each 2^17 references or 2^12 distant ones, at the most.
 */
#ifndef TROD_SIM_TALLY_H
#define TROD_SIM_TALLY_H

#include "core/map.h"
#include "lines.h"

/* The number beside a line: references, distant ones, and whether some have been carried. */
enum { TROD_TALLY_REFS = 18, TROD_TALLY_DISTANT = 13 };
#define TROD_TALLY_CARRIED (UINT32_C(1) << 31)
/* So many may be added at once. */
enum { TROD_TALLY_MOST = 1 << (TROD_TALLY_DISTANT - 1) };

_Static_assert(TROD_TALLY_REFS + TROD_TALLY_DISTANT == 31, "the last bit is TROD_TALLY_CARRIED");

/* What is carried of a line. */
struct trod_carried {
    uint64_t line;
    struct trod_line_count count;
};

/* Zero bytes are an empty one. */
struct trod_tally {
    struct trod_map map; /* of the numbers of lines */
    struct trod_carried *carried;
    size_t n, cap;
    bool failed; /* there was no memory: numbers are wrong */
};

void trod_tally_fini(struct trod_tally *t);
/* Forget what is carried; what stands beside lines is the caller's to clear. */
void trod_tally_clear(struct trod_tally *t);
/* Forget what is counted of the line of E, but not that it was referenced. */
void trod_tally_forget(struct trod_tally *t, struct trod_line *e);
/* What is counted of the line of E. */
struct trod_line_count trod_tally_of(const struct trod_tally *t, const struct trod_line *e);
/* COUNT more of the line of E. Without memory T has failed. */
void trod_tally_add(struct trod_tally *t, struct trod_line *e, struct trod_line_count count);
/* Carry what stands beside the line of E. Without memory T has failed. */
void trod_tally_carry(struct trod_tally *t, struct trod_line *e);

/* Was the line of E referenced since its tally was cleared, whatever is counted of it? */
static inline bool trod_tally_knows(const struct trod_line *e)
{
    return e->lately != 0;
}

/* Know the line of E, of which nothing is counted: it is as if that were carried. */
static inline void trod_tally_know(struct trod_line *e)
{
    e->lately |= TROD_TALLY_CARRIED;
}

/* REFS references, and DISTANT ones, each at most TROD_TALLY_MOST, for trod_tally_note. */
static inline uint32_t trod_tally_notes(uint32_t refs, uint32_t distant)
{
    return refs + (distant << TROD_TALLY_REFS);
}

/* NOTES (trod_tally_notes) more of the line of E. Without memory T has failed. */
static inline __attribute__((always_inline)) void
trod_tally_note(struct trod_tally *t, struct trod_line *e, uint32_t notes)
{
    const uint32_t nearly = UINT32_C(1) << (TROD_TALLY_REFS - 1) |
                            UINT32_C(1) << (TROD_TALLY_REFS + TROD_TALLY_DISTANT - 1);

    e->lately += notes;
    if (__builtin_expect(e->lately & nearly, 0))
        trod_tally_carry(t, e);
}

#endif
