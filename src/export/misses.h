/*
 * misses.h - which instructions and calls miss in the caches of Callgrind.
 */
#ifndef TROD_EXPORT_MISSES_H
#define TROD_EXPORT_MISSES_H

#include "sim/cg/sim.h"
#include "sim/refs.h"
#include "trod/option.h"

struct export_misses_options {
    bool cache;
    const char *i1, *d1, *ll; /* SIZE/WAYS/LINE; NULL: Callgrind's defaults */
};

/* The options of it, where the struct FILLED has them as its member MISSES. */
#define EXPORT_MISSES_GEOMETRY(filled, key, member, what)                                          \
    {                                                                                              \
        .name = (key), .type = TROD_OPT_STR, .offset = offsetof(filled, misses.member),            \
        .arg = "SIZE/WAYS/LINE", .text = (what)                                                    \
    }
#define EXPORT_MISSES_OPTIONS(filled)                                                              \
    {.name = "cache",                                                                              \
     .type = TROD_OPT_BOOL,                                                                        \
     .offset = offsetof(filled, misses.cache),                                                     \
     .text = "simulate Callgrind's caches too: misses are further events"},                        \
        EXPORT_MISSES_GEOMETRY(filled, "I1", i1,                                                   \
                               "first cache of instructions (default: 32768/8/64)"),               \
        EXPORT_MISSES_GEOMETRY(filled, "D1", d1, "first cache of data (default: 32768/8/64)"),     \
        EXPORT_MISSES_GEOMETRY(filled, "LL", ll, "last cache (default: 8388608/16/64)")

/* What misses are charged to: a place (its number + 1; 0: none) and a lane. */
struct export_debtor {
    uint32_t place, lane;
};

/* What was missed: in the first and in the last cache, by instructions, reads and writes. */
struct export_missed {
    struct export_debtor who;
    uint64_t first, last;
    unsigned event; /* enum trod_cg_event */
};

struct export_misses {
    struct trod_cg_sim sim;
    struct trod_refs refs;
    uint64_t first[TROD_CG_EVENTS], last[TROD_CG_EVENTS]; /* reported so far */
    struct export_debtor reader; /* of the read that the simulator may still hold back */
};

/* Returns 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM. */
int export_misses_init(struct export_misses *m, const struct export_misses_options *o,
                       struct trod_diag *diag);
/*
 * Simulate row I of B, executed at WHO; B NULL: the end, when what is held back comes out. Returns
 * how many elements of OUT (room for TROD_CG_EVENTS) were set.
 */
unsigned export_misses_row(struct export_misses *m, const struct trod_batch *b, uint32_t i,
                           struct export_debtor who, struct export_missed *out);
void export_misses_fini(struct export_misses *m);

#endif
