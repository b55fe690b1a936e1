/*
 * owners.c - the instruction that a row belongs to.
 *
 * Where the trace does not say it, accesses and register writes belong to the instruction executed
 * last in their stream, as for analyses (docs/design.md, "The engine": owners).
 */
#include <stdlib.h>
#include <string.h>

#include "show/where/where_int.h"

enum {
    OWNED = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC | 1u << TROD_PREFETCH |
            1u << TROD_FLUSH | 1u << TROD_REG
};

/* Room for the last instruction of stream I. */
static int grow(struct trod_where *w, uint32_t i)
{
    uint32_t n = w->n_executed ? w->n_executed : 16;
    struct where_last *p;

    while (n <= i)
        n *= 2;
    p = realloc(w->executed, n * sizeof *p);
    if (!p)
        return TROD_ERR_NOMEM;
    memset(p + w->n_executed, 0, (n - w->n_executed) * sizeof *p);
    w->executed = p;
    w->n_executed = n;
    return 0;
}

void where_forget(struct trod_where *w)
{
    for (uint32_t i = 0; i < w->n_executed; i++)
        w->executed[i].known = false;
}

int where_owners(struct trod_where *w, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t has = b->have & b->has[i];
        const uint32_t stream = has & TROD_COL_STREAM ? b->stream[i] + 1 : 0;
        struct where_last *last;

        if (stream >= w->n_executed && grow(w, stream) < 0)
            return TROD_ERR_NOMEM;
        last = &w->executed[stream];
        w->has_pc[i] = (has & TROD_COL_PC) != 0;
        w->pc[i] = w->has_pc[i] ? b->pc[i] : 0;
        if (b->kind[i] == TROD_INSTR) {
            if (!w->has_pc[i] && (has & TROD_COL_ADDR)) {
                w->has_pc[i] = 1;
                w->pc[i] = b->addr[i];
            }
            last->known = w->has_pc[i];
            last->pc = w->pc[i];
        } else if (!w->has_pc[i] && (OWNED >> b->kind[i] & 1) && last->known) {
            w->has_pc[i] = 1;
            w->pc[i] = last->pc;
        }
    }
    return 0;
}
