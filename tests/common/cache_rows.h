/*
 * cache_rows.h - random rows for caches that are fed with rows.
 */
#ifndef TROD_TEST_CACHE_ROWS_H
#define TROD_TEST_CACHE_ROWS_H

#include "core/rng.h"
#include "sim/own/first.h"

/* Rows as programs have them, with loops of one piece of code or two; of WILD ones any row may say
 * too little, too much, or nothing. */
static inline void draw(struct trod_batch *b, struct trod_rng *rng, bool wild, uint64_t *pc)
{
    static const uint8_t kinds[] = {TROD_INSTR, TROD_INSTR, TROD_INSTR, TROD_INSTR,
                                    TROD_READ,  TROD_READ,  TROD_WRITE};
    static const uint64_t far[] = {0, UINT64_MAX - 3, UINT64_MAX - 63, UINT64_C(1) << 63, 62, 1};
    const uint64_t bytes = UINT64_C(64) << trod_rng_below(rng, 12);
    const uint64_t loop = trod_rng_below(rng, 2) ? 0 : 16 + trod_rng_below(rng, 150);
    const uint64_t apart = trod_rng_below(rng, 2)   ? 0
                           : trod_rng_below(rng, 4) ? UINT64_C(256) << trod_rng_below(rng, 8)
                                                    : UINT64_C(1) << 32;
    uint64_t begin = *pc;

    b->n = (uint32_t)(1 + trod_rng_below(rng, b->cap));
    b->have = TROD_TOUCHED_COLUMNS;
    for (uint32_t i = 0; i < b->n; i++) {
        b->kind[i] = kinds[trod_rng_below(rng, sizeof kinds)];
        b->has[i] = b->kind[i] == TROD_INSTR ? TROD_TOUCHED_COLUMNS
                                             : TROD_TOUCHED_COLUMNS & ~TROD_COL_FLAGS;
        b->flags[i] = (uint32_t)trod_rng_next(rng) & ~(uint32_t)TROD_NO_REFERENCE;
        b->size[i] = 1u << trod_rng_below(rng, 4);
        b->addr[i] = (1 << 20) + trod_rng_below(rng, 1 + trod_rng_below(rng, bytes));
        if (b->kind[i] == TROD_INSTR) {
            if (trod_rng_below(rng, loop ? 400 : 9) == 0)
                begin = *pc = trod_rng_below(rng, 2) ? 4096 + trod_rng_below(rng, bytes)
                                                     : (begin & ~UINT64_C(63)) - 1;
            else if (loop && *pc - begin >= loop)
                *pc = begin ^= apart;
            b->addr[i] = *pc;
            *pc += b->size[i];
        }
        if (!wild || trod_rng_below(rng, 12))
            continue;
        b->kind[i] = (uint8_t)trod_rng_below(rng, TROD_KINDS + 4);
        if (b->kind[i] >= TROD_KINDS)
            b->kind[i] = TROD_BUS;
        if (trod_rng_below(rng, 2))
            b->has[i] &= (uint32_t)trod_rng_next(rng);
        b->flags[i] = (uint32_t)trod_rng_next(rng);
        if (trod_rng_below(rng, 2))
            b->flags[i] &= ~(uint32_t)TROD_NO_REFERENCE;
        b->size[i] = (uint32_t)trod_rng_below(rng, trod_rng_below(rng, 8) ? 40 : 3000);
        if (trod_rng_below(rng, 4) == 0)
            b->addr[i] = far[trod_rng_below(rng, sizeof far / sizeof *far)];
    }
    if (wild && trod_rng_below(rng, 4) == 0)
        b->have &= ~(uint32_t)(trod_rng_below(rng, 2) ? TROD_COL_SIZE : TROD_COL_FLAGS);
}

#endif
