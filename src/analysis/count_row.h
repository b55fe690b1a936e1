/*
 * count_row.h - one row into sums: rare rows, and those of batches in which an instruction or
 * access does not say address or size.
 *
 * As count_feed.c, which alone includes this, does for 64 rows at a time.
 */
#ifndef TROD_ANALYSIS_COUNT_ROW_H
#define TROD_ANALYSIS_COUNT_ROW_H

#include "analysis/count_scan.h"

static inline unsigned class_of(uint32_t flags)
{
    return (flags & TROD_F_BRANCH) | (flags & TROD_F_KERNEL ? COUNT_KERNEL : 0u) |
           (flags & TROD_F_NOFETCH ? COUNT_NOFETCH : 0u) |
           (flags & TROD_F_NEWCODE ? COUNT_NEWCODE : 0u);
}

static int count_mark_code(struct run *r, uint64_t pc, uint32_t size)
{
    int rc = trod_pages_mark(r->code, 0, pc, 1);

    return rc < 0 ? rc : trod_pages_mark(r->code, 1, pc, size);
}

static int count_use_window(struct run *r)
{
    r->code = trod_count_code(r->s, r->lane);
    r->data = NULL;
    if (r->s->opt.footprint != TROD_COUNT_NONE && !(r->data = trod_count_data(r->s, r->lane)))
        return TROD_ERR_NOMEM;
    r->tag = trod_count_tag(r->s, r->lane, r->encoded);
    r->recent = r->s->recent;
    return r->code && r->recent ? TROD_OK : TROD_ERR_NOMEM;
}

/* ---- one row at a time */

static void count_branch(struct count_sums *c, const struct trod_batch *b, uint32_t i,
                         uint32_t flags)
{
    uint32_t need = TROD_COL_TARGET | TROD_COL_ADDR | TROD_COL_SIZE;

    if ((flags & TROD_F_BRANCH) != TROD_BR_COND || (b->have & b->has[i] & need) != need)
        return;
    if (b->target[i] == b->addr[i] + b->size[i])
        c->untaken++;
    else
        c->taken++;
}

static int slow_instr(struct run *r, uint32_t i, uint32_t said, uint32_t flags)
{
    const struct trod_batch *b = r->b;
    struct count_sums *c = &count_open(r->lane)->sums;
    uint32_t size = said & TROD_COL_SIZE ? b->size[i] : 0;

    if (flags & TROD_F_SYNTHETIC) {
        c->synthetic++;
        return TROD_OK;
    }
    c->instr[class_of(flags)]++;
    c->skipped += (flags & TROD_F_SKIPPED) != 0;
    count_branch(c, b, i, flags);
    if (size == 0)
        c->unsized_code++;
    if (!(said & TROD_COL_ADDR) || (flags & TROD_F_NOFETCH))
        return TROD_OK;
    return count_mark_code(r, b->addr[i], size ? size : 1);
}

static int slow_access(struct run *r, uint32_t i, uint32_t said, uint64_t *bytes)
{
    const struct trod_batch *b = r->b;
    struct count_sums *c = &count_open(r->lane)->sums;
    uint32_t size = said & TROD_COL_SIZE ? b->size[i] : 1;
    uint64_t addr;

    if (said & TROD_COL_SIZE)
        *bytes += size;
    else
        c->unsized_data++;
    if (!r->data || !(said & (TROD_COL_ADDR | TROD_COL_PADDR)))
        return TROD_OK;
    addr = said & TROD_COL_ADDR ? b->addr[i] : b->paddr[i];
    return trod_count_mark_data(r->data, b, i, addr, size);
}

/* It is not known from here on which instructions are in the set of code. */
static void count_unknown(struct run *r)
{
    r->s->known.source = 0;
    r->known = false;
}

static int window(struct run *r, uint64_t id)
{
    const uint32_t n = r->lane->n_windows;
    const int rc = trod_count_window(r->s, r->lane, id);

    if (r->lane->n_windows != n)
        count_unknown(r);
    return rc == TROD_OK ? count_use_window(r) : rc;
}

static int marker(struct run *r, uint32_t i, uint32_t said)
{
    const struct trod_batch *b = r->b;
    uint32_t sub = said & TROD_COL_SUB ? b->sub[i] : COUNT_MARKERS - 1;
    int rc = TROD_OK;

    if (r->s->drm && (said & TROD_COL_VALUE)) {
        uint64_t value = b->value[i];

        if (sub == FILETYPE)
            trod_count_filetype(r->s, r->lane, value);
        else if (sub == LINE_SIZE && value && value <= COUNT_LINE_MAX && !(value & (value - 1)))
            r->lane->line = value;
        else if (sub == WINDOW_ID)
            rc = window(r, value);
    }
    count_open(r->lane)->sums.rows[TROD_MARKER]++;
    count_open(r->lane)->sums.marker[sub < COUNT_MARKERS ? sub : COUNT_MARKERS - 1]++;
    return rc;
}

/* Row I by what the format F calls it: one of SUMS. */
static inline void count_name(uint64_t *sums, const struct trod_format *f,
                              const struct trod_batch *b, uint32_t i)
{
    if (b->have & b->has[i] & TROD_COL_SUB)
        sums[named_slot(f, b->sub[i])]++;
}

/* Row I, of where a branch goes. */
static inline void count_flow(struct count_sums *c, const struct trod_batch *b, uint32_t i)
{
    c->rows[TROD_BRANCH]++;
    c->branch[b->have & b->has[i] & TROD_COL_FLAGS ? b->flags[i] & TROD_F_BRANCH : 0]++;
}

static int count_row(struct run *r, uint32_t i)
{
    const struct trod_batch *b = r->b;
    uint32_t said = b->have & b->has[i], flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    unsigned kind = b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE;
    struct count_sums *c = &count_open(r->lane)->sums;

    if (kind == TROD_MARKER)
        return marker(r, i, said);
    if (kind == TROD_BRANCH) {
        count_flow(c, b, i);
        return TROD_OK;
    }
    c->rows[kind]++;
    switch (kind) {
    case TROD_INSTR:
        return slow_instr(r, i, said, flags);
    case TROD_READ:
        return slow_access(r, i, said, &c->read_bytes);
    case TROD_WRITE:
        return slow_access(r, i, said, &c->write_bytes);
    case TROD_ATOMIC:
        return slow_access(r, i, said, &c->atomic_bytes);
    case TROD_BUS:
        return slow_access(r, i, said, &c->bus_bytes);
    case TROD_FLUSH:
        c->code_flushes += (flags & TROD_F_IFETCH) != 0;
        return TROD_OK;
    default:
        return TROD_OK;
    }
}

#endif
