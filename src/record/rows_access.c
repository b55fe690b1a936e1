/*
 * rows_access.c - accesses to memory as rows: one an operand of the instruction, however QEMU parts
 * it.
 *
 * Implements the functions of rows.h that say so; docs/recording.md, "What is recorded".
 */
#include "record/rows.h"

#include <string.h>

/* SIZE bytes at ADDR become part of the access in row I. */
static void join(struct trod_batch *b, uint32_t i, struct rec_stream *st, uint64_t addr,
                 uint32_t size)
{
    const uint64_t end = b->addr[i] + b->size[i];

    if (addr < b->addr[i]) {
        const uint64_t n = b->addr[i] - addr;

        if (n + b->size[i] <= REC_MOVED)
            memmove(st->moved + n, st->moved, b->size[i]);
        b->addr[i] = addr;
    }
    st->at = (uint32_t)(addr - b->addr[i]);
    b->size[i] = (uint32_t)((addr + size > end ? addr + size : end) - b->addr[i]);
}

/*
 * QEMU tells an access of 16 bytes, or one that saves all registers, as several: they are put
 * together again. True when the SIZE bytes at ADDR belong to the access reported last.
 */
static bool part_of(const struct rec_rows *r, struct rec_stream *st, uint8_t kind, uint64_t addr,
                    uint32_t size)
{
    struct trod_batch *b = r->b;
    const uint32_t all = st->last->access;
    const uint32_t whole = kind == TROD_READ ? all & 0xffff : all >> 16;
    const uint32_t i = st->access - 1;

    if (st->access == 0 || st->access != b->n || r->bus || b->stream[i] != st->number)
        return false;
    if (kind != b->kind[i])
        return false;
    if (st->last->flags & AREA)
        return true;
    if (whole == WHOLE) {
        join(b, i, st, addr, size);
        return true;
    }
    if (whole && b->size[i] == whole && kind == TROD_READ && !(st->last->flags & ELEMENTS))
        return true; /* more than the instruction reads: see fitting() */
    if (st->last->flags & ELEMENTS
            ? addr != b->addr[i] + b->size[i] || b->size[i] + size > whole
            : addr + size > b->addr[i] + whole || b->addr[i] + b->size[i] > addr + whole)
        return false;
    join(b, i, st, addr, size);
    return true;
}

/*
 * QEMU 7.2 reads 16 bytes for the scalar forms of AVX instructions, and 32 for some that have an
 * operand of 16. The processor reads as many as the opcode says. Of an area QEMU's first access
 * tells where it is.
 */
static uint32_t fitting(const struct rec_stream *st, uint8_t kind, uint32_t size)
{
    const uint32_t all = st->last->access;
    const uint32_t whole = kind == TROD_READ ? all & 0xffff : all >> 16;

    if (st->last->flags & AREA)
        return whole;
    return kind == TROD_READ && whole && size > whole ? whole : size;
}

/*
 * Is the access of KIND at ADDR one that QEMU makes beside those of the program? Where segment
 * registers are loaded it reads its table of descriptors, and may write it.
 */
static bool is_qemus(const struct rec_rows *r, const struct rec_stream *st, uint8_t kind,
                     uint64_t addr, uint32_t size)
{
    const uint32_t all = st->last->access, i = st->access - 1;

    if (!(st->last->flags & NO_MORE))
        return kind == TROD_READ && st->last->flags & NO_LOAD;
    if ((kind == TROD_READ ? all & 0xffff : all >> 16) == 0)
        return true;
    if ((kind == TROD_READ ? st->reads : st->writes) == 0)
        return false;
    return st->access == 0 || r->b->kind[i] != kind ||
           (addr != r->b->addr[i] + r->b->size[i] && addr + size != r->b->addr[i]);
}

void rec_rows_access(struct rec_rows *r, struct rec_stream *st, uint8_t kind, uint64_t addr,
                     uint32_t size)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;

    st->access = b->n;
    st->progress = REC_ACCESSED;
    st->reads += kind == TROD_READ;
    st->writes += kind == TROD_WRITE || kind == TROD_ATOMIC;
    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC;
    b->kind[i] = kind;
    b->flags[i] = st->last->flags & REC_ACCESS_FLAGS;
    b->size[i] = size;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = addr;
    b->pc[i] = st->last->pc;
    if (kind == TROD_ATOMIC) {
        b->has[i] |= TROD_COL_TEXT;
        b->text[i] = rec_rows_atomic(r, st->last);
    }
    st->n_moved = st->at = 0;
    r->accesses++;
}

int rec_rows_moved(struct rec_rows *r, struct rec_stream *st, uint64_t what, uint64_t addr)
{
    const uint32_t size = 1u << (what >> REC_EVENT_SIZE & 7);
    struct trod_batch *b = r->b;
    uint8_t kind = TROD_READ;
    int rc;

    st->moving = 0;
    if (!st->last || st->progress == REC_MADE || r->full)
        return TROD_OK;
    if (st->twice) {
        st->twice--;
        return TROD_OK;
    }
    if (what & REC_EVENT_STORE)
        kind = st->last->flags & REC_ATOMIC ? TROD_ATOMIC : TROD_WRITE;
    if (b->n + ROWS_KEPT > ROWS) {
        if ((rc = rec_rows_flush(r)) < 0)
            return rc;
        st->access = 0;
    }
    if ((st->held || rec_iterates(st, kind)) && (rc = rec_rows_iterate(r, st)) < 0)
        return rc;
    st->told++;
    if (st->progress < REC_SHOWN || !r->memory) { /* they tell iterations apart */
        st->reads += kind == TROD_READ;
        st->writes += kind != TROD_READ;
        return TROD_OK;
    }
    if (is_qemus(r, st, kind, addr, size))
        return TROD_OK;
    st->moving = size;
    if (part_of(r, st, kind, addr, size))
        return TROD_OK;
    if (kind != TROD_READ && st->progress < REC_ACCESSED && st->last->access & 0xffff &&
        st->last->access >> 16)
        rec_rows_access(r, st, TROD_READ, addr,
                        size); /* one access that does both is reported once */
    st->moving = fitting(st, kind, size);
    rec_rows_access(r, st, kind, addr, st->moving);
    return TROD_OK;
}

void rec_rows_untold(struct rec_rows *r, const struct rec_stream *st)
{
    const enum rec_untold what =
        r->set == REC_A64 ? rec_a64_untold(st->last->code) : REC_UNTOLD_HINT;

    if (r->memory && st->progress == REC_SHOWN)
        r->untold[what == REC_TOLD ? REC_UNTOLD_HINT : what]++;
}

/* The words that a record of the Amber formats has behind its opcode. */
static void put_words(struct trod_batch *b, uint32_t i, const struct rec_access *a)
{
    const uint32_t n = a->extended ? 8 : 4;
    uint8_t *p = trod_batch_pool(b, n, &b->detail[i]);

    if (!p)
        return;
    for (uint32_t k = 0; k < n; k++)
        p[k] = (uint8_t)((k < 4 ? a->ea : a->third) >> (24 - 8 * (k & 3)));
    b->has[i] |= TROD_COL_DETAIL;
    b->flags[i] = TROD_F_CONT;
}

void rec_rows_by_registers(struct rec_rows *r, struct rec_stream *st, const uint64_t values[3])
{
    struct rec_access a;

    if (!st->last || !r->memory || st->progress < REC_SHOWN || st->progress == REC_MADE ||
        (r->set == REC_A64 ? !rec_a64_access(st->last->code, values[0], r->block, &a)
                           : !rec_ppc_access(st->last->code, values, &a)))
        return;
    if (!r->amber && (a.conditional || a.upkeep || (a.extended && a.kind == TROD_PREFETCH)))
        return;
    rec_rows_access(r, st, a.kind, a.addr, a.size);
    st->progress = REC_MADE;
    if (r->amber)
        put_words(r->b, r->b->n - 1, &a);
}
