/*
 * tarmac.h - the state of a stream of a Tarmac trace under the rules.
 */
#ifndef TROD_CHECK_TARMAC_H
#define TROD_CHECK_TARMAC_H

#include "check/parts.h"
#include "trod/detail.h"

enum { TARMAC_PAGES = 1 << 12, TARMAC_LINES = 1 << 20, TARMAC_TIMES = 16 };

/* Of times that can be compared (trod_time_class): the last one, and the first one. */
struct tarmac_time {
    uint64_t last, first;
    uint8_t unit, first_unit;
    bool known;
};

struct tarmac {
    struct tarmac_time times[TARMAC_TIMES]; /* by trod_time_class */
    uint64_t index, pc, mode, new_mode, read, written;
    uint32_t size;
    uint8_t time_class; /* of the last time */
    bool index_known, insn_known, skipped;
    bool event;      /* an exception came since the last instruction */
    bool events;     /* the trace has exceptions */
    bool rises;      /* the level did without one, when events was not known yet */
    bool unsure;     /* accesses of the last instruction are not comparable */
    bool slot_known; /* the last instruction is in the delay slot of slot */
    struct chk_word insn, slot;
    uint64_t generation;       /* of translations */
    struct tarmac_page *pages; /* direct-mapped */
    struct tarmac_page *met;   /* of a part, by place in pages: the first, while nothing changed */
    uint64_t *lines;           /* cache lines and TLB entries that were filled: a set */
    uint32_t n_lines, cap_lines;
};

/* Rules on the address of an access. */
void chk_tarmac_translation(struct chk *c, struct tarmac *t, const struct trod_batch *b,
                            uint32_t i);
/* A register was written: it may change the translation. */
void chk_tarmac_register(struct tarmac *t, const struct trod_batch *b, uint32_t i);
/* A cache line or TLB entry comes or goes. Returns 0 or TROD_ERR_NOMEM. */
int chk_tarmac_line(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i);
void chk_tarmac_fini(struct tarmac *t);

/* tarmac_parts.c: the callbacks seam and join. */
void chk_tarmac_seam(void *seam, void *st);
bool chk_tarmac_join(struct chk *c, void *into, const void *seam, void *from);
/* The same of the memory of translations. */
void chk_tarmac_memory_seam(struct tarmac *seam, struct tarmac *t);
bool chk_tarmac_memory_join(struct tarmac *into, const struct tarmac *from);

#endif
