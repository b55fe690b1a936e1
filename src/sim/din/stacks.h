/*
 * stacks.h - lists of blocks in the order of replacement, as Dinero IV keeps them.
 *
 * Follows Dinero IV 7 (ref.c); the lists are called stacks there.
 */
#ifndef TROD_SIM_DIN_STACKS_H
#define TROD_SIM_DIN_STACKS_H

#include "sim/din/cache.h"

#define TROD_DIN_NONE UINT32_MAX

int trod_din_stacks_init(struct trod_din_stacks *s, uint64_t sets, uint32_t ways);
void trod_din_stacks_fini(struct trod_din_stacks *s);
void trod_din_stacks_clear(struct trod_din_stacks *s);

/* The node of BLOCK in its set, TROD_DIN_NONE: absent. */
uint32_t trod_din_stacks_find(const struct trod_din_stacks *s, uint64_t block);

/* Invalidate BLOCK, if it is present: its node is the first to be filled again. */
void trod_din_stacks_drop(struct trod_din_stacks *s, uint64_t block);

/*
 * A reference to BLOCK, found at NODE (TROD_DIN_NONE: absent), under policy REPL ('l', 'f', 'r').
 * Returns its node; *OLD is the block that had to go (nothing valid: none).
 */
uint32_t trod_din_stacks_place(struct trod_din_stacks *s, uint64_t block, uint32_t node, char repl,
                               struct trod_gnu_random *random, struct trod_din_node *old);

#endif
