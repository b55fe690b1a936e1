/*
 * memory.c - references to memory as rows.
 *
 * Implements own/memory.h.
 */
#include "sim/own/memory.h"
#include "sim/ref.h"

#include "trod/diag.h"

int trod_own_memory_init(struct trod_own_memory *m,
                         int (*give)(void *user, const struct trod_batch *b), void *user)
{
    m->give = give;
    m->user = user;
    return give ? trod_batch_new(&m->rows, TROD_BATCH_ROWS) : TROD_OK;
}

void trod_own_memory_fini(struct trod_own_memory *m)
{
    trod_batch_free(m->rows);
    m->rows = NULL;
    m->give = NULL;
}

void trod_own_memory_end(struct trod_own_memory *m)
{
    if (!m->rows || m->rows->n == 0)
        return;
    if (m->rc == TROD_OK)
        m->rc = m->give(m->user, m->rows);
    trod_batch_clear(m->rows);
}

void trod_own_memory_put(struct trod_own_memory *m, enum trod_op op, uint64_t addr, uint32_t size,
                         uint64_t pc)
{
    static const uint8_t kinds[] = {[TROD_OP_FETCH] = TROD_INSTR,
                                    [TROD_OP_READ] = TROD_READ,
                                    [TROD_OP_WRITE] = TROD_WRITE,
                                    [TROD_OP_PREFETCH] = TROD_PREFETCH};
    const uint32_t columns = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SIZE;
    const bool said = m->stream != TROD_REF_UNSAID;
    const bool knows = !m->no_pc && op != TROD_OP_FETCH && (pc || op != TROD_OP_WRITE);
    struct trod_batch *b = m->rows;
    uint32_t i;

    if (!b)
        return;
    if (b->n == b->cap)
        trod_own_memory_end(m);
    i = b->n++;
    b->have = columns | TROD_COL_STREAM | TROD_COL_PC;
    b->has[i] = columns | (said ? TROD_COL_STREAM : 0) | (knows ? TROD_COL_PC : 0);
    b->kind[i] = kinds[op];
    b->addr[i] = addr;
    b->size[i] = size;
    b->stream[i] = said ? m->stream : 0;
    b->pc[i] = pc;
}
