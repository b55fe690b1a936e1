/*
 * flow.h - what rows say of the flow of the program and of the mode that it runs in, besides the
 * kind of their branch.
 */
#ifndef ISA_FLOW_H
#define ISA_FLOW_H

#include "trod/batch.h"
#include "trod/detail.h"

#include <string.h>

/* Row I is a conditional branch: 1 made, 0 not, -1: it does not say where execution went on. */
static inline int flow_made(const struct trod_batch *b, uint32_t i)
{
    const uint32_t ends = TROD_COL_TARGET | TROD_COL_ADDR | TROD_COL_SIZE;

    if ((b->have & b->has[i] & ends) != ends)
        return -1;
    return b->target[i] != b->addr[i] + b->size[i];
}

/* Three characters at P as a number, letters in lower case. */
static inline uint32_t flow_word(const char *p)
{
    const uint8_t *c = (const uint8_t *)p;
    const uint32_t last = c[2] == '0' ? c[2] : (uint32_t)c[2] | 0x20;

    return ((uint32_t)c[0] | (uint32_t)c[1] << 8 | 0x2020) | last << 16;
}

/* Are rows of the format called NAME that have flags, and not those of privileged code, a user's?
 */
static inline bool flow_always(const char *name)
{
    return strcmp(name, "drmemtrace") == 0;
}

/*
 * Is row I of privileged code: 1, of a user's program: 0, or not known: -1. ALWAYS: flow_always of
 * its format.
 */
static inline int flow_kernel(const struct trod_batch *b, uint32_t i, bool always)
{
    const uint32_t has = b->have & b->has[i];
    const struct trod_detail_instr *d;
    uint32_t mode;

    if (has & TROD_COL_FLAGS && b->flags[i] & (TROD_F_KERNEL | TROD_F_PRIV))
        return 1;
    if (always)
        return has & TROD_COL_FLAGS ? 0 : -1;
    if (b->kind[i] != TROD_INSTR || !(d = trod_batch_detail(b, i)) ||
        b->detail[i].len != sizeof *d || d->mode.len < 3)
        return -1;
    mode = flow_word((const char *)trod_batch_bytes(b, d->mode));
    return mode != flow_word("el0") && mode != flow_word("usr");
}

#endif
