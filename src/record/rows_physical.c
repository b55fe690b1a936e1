/*
 * rows_physical.c - physical addresses of whole machines. What lies on two pages is two rows where
 * a bus is recorded.
 *
 * Implements the functions of rows.h that say so; docs/recording.md, "Whole systems".
 */
#include "record/rows.h"

enum { PAGE = 1 << REC_PAGE_BITS };

static uint64_t address_in(uint32_t page, uint64_t addr)
{
    return (uint64_t)(page - 1) << REC_PAGE_BITS | (addr & (PAGE - 1));
}

/* The N last bytes of row I become a row of their own, at physical address AT. */
static void cut(struct trod_batch *b, uint32_t i, uint32_t n, uint64_t at)
{
    const uint32_t k = b->n++;

    b->size[i] -= n;
    b->has[i] &= ~(uint32_t)(TROD_COL_VALUE | TROD_COL_DATA);
    b->has[k] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC;
    b->kind[k] = b->kind[i];
    b->flags[k] = b->flags[i];
    b->size[k] = n;
    b->stream[k] = b->stream[i];
    b->time[k] = b->time[i];
    b->addr[k] = b->addr[i] + b->size[i];
    b->paddr[k] = at;
    b->pc[k] = b->pc[i];
}

/* Bytes of a row that lie in the page behind the one it begins in. */
static uint32_t bytes_behind(const struct trod_batch *b, uint32_t i)
{
    const uint32_t in_page = PAGE - (uint32_t)(b->addr[i] & (PAGE - 1));

    return b->size[i] > in_page ? b->size[i] - in_page : 0;
}

void rec_rows_page(struct rec_rows *r, const struct rec_stream *st, uint32_t i)
{
    const struct rec_segment *s = st->segment;
    struct trod_batch *b = r->b;
    uint32_t behind;

    if (!s || s->page == 0)
        return;
    b->paddr[i] = address_in(s->page, b->addr[i]);
    b->has[i] |= TROD_COL_PADDR;
    behind = r->bus && s->next_page && s->next_page != s->page + 1 ? bytes_behind(b, i) : 0;
    if (behind == 0)
        return;
    cut(b, i, behind, address_in(s->next_page, 0));
    b->kind[b->n - 1] = TROD_BUS;
    b->flags[b->n - 1] = TROD_F_IFETCH;
}

void rec_rows_physical(struct rec_rows *r, const struct rec_stream *st, const uint64_t *p)
{
    struct trod_batch *b = r->b;
    const uint32_t last = st->access - 1;
    uint32_t behind;

    if (st->access == 0 || st->access != b->n || b->has[last] & TROD_COL_PADDR)
        return;
    for (uint32_t i = last;; i--) {
        b->paddr[i] = p[1];
        b->has[i] |= TROD_COL_PADDR;
        if (*p & REC_DEVICE)
            b->flags[i] |= TROD_F_UNCACHED;
        /* an access that reads and writes is two rows */
        if (i == 0 || b->kind[i - 1] != TROD_READ || b->has[i - 1] & TROD_COL_PADDR)
            break;
    }
    behind = r->bus ? bytes_behind(b, last) : 0;
    if (behind && p[2] != p[1] + b->size[last] - behind)
        cut(b, last, behind, p[2]);
}
