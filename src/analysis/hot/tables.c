/*
 * tables.c - blocks of memory that are counted (hot.h).
 *
 * Blocks of memory may be limited in number: where there are more, two neighbours become one, until
 * there are no more than that. How large blocks become depends on what was touched, not on the
 * order, so that parts of a trace give what the whole gives. An access that touches two blocks
 * counts in both; how many of a block's accesses touch the one before it too is kept, so that they
 * count once where the two become one.
 */
#include "analysis/hot/hot.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 10, FEW_BITS = 16 };

void hot_lines_free(struct hot_lines *t)
{
    free(t->at);
    *t = (struct hot_lines){.shift = t->shift};
}

static int grow_lines(struct hot_lines *t)
{
    const unsigned more = t->size >> FEW_BITS ? 1 : 2; /* the first ones come fast */
    struct hot_lines to = {.n = t->n,
                           .size = t->size ? t->size << more : (size_t)1 << FIRST_BITS,
                           .hash = t->size ? t->hash - more : 64 - FIRST_BITS,
                           .shift = t->shift};

    to.at = calloc(to.size, sizeof *to.at);
    if (!to.at)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->size; i++)
        if (t->at[i].n)
            *hot_lines_place(&to, t->at[i].number) = t->at[i];
    free(t->at);
    *t = to;
    return TROD_OK;
}

/*
 * LINE's block becomes part of a block of T. Of one all of whose accesses touch the one before it,
 * which becomes part of the same block, nothing is left.
 */
static int put_line(struct hot_lines *t, const struct hot_line *line, unsigned shift)
{
    const unsigned wider = t->shift - shift;
    const bool inside = line->number & ((UINT64_C(1) << wider) - 1);
    const uint64_t n = inside ? line->n - line->joined : line->n;
    struct hot_line *p;

    if (n == 0)
        return TROD_OK;
    if (2 * t->n >= t->size && grow_lines(t) < 0)
        return TROD_ERR_NOMEM;
    p = hot_lines_place(t, line->number >> wider);
    t->n += p->n == 0;
    p->number = line->number >> wider;
    p->n += n;
    p->joined += inside ? 0 : line->joined;
    return TROD_OK;
}

int hot_lines_copy(struct hot_lines *to, const struct hot_lines *t, unsigned shift)
{
    int rc = TROD_OK;

    *to = (struct hot_lines){.shift = shift > t->shift ? shift : t->shift};
    for (size_t i = 0; rc == TROD_OK && i < t->size; i++)
        if (t->at[i].n)
            rc = put_line(to, &t->at[i], t->shift);
    return rc;
}

int hot_lines_coarsen(struct hot_lines *t, unsigned shift)
{
    struct hot_lines to;

    if (shift <= t->shift)
        return TROD_OK;
    if (hot_lines_copy(&to, t, shift) < 0) {
        hot_lines_free(&to);
        return TROD_ERR_NOMEM;
    }
    free(t->at);
    *t = to;
    return TROD_OK;
}

int hot_lines_limit(struct hot_lines *t, uint64_t most)
{
    while (t->n > most && t->shift < 63)
        if (hot_lines_coarsen(t, t->shift + 1) < 0)
            return TROD_ERR_NOMEM;
    return TROD_OK;
}

int hot_line_add(struct hot_lines *t, const struct hot_line *line, uint64_t most)
{
    struct hot_line *p;

    if (2 * t->n >= t->size && grow_lines(t) < 0)
        return TROD_ERR_NOMEM;
    p = hot_lines_place(t, line->number);
    t->n += p->n == 0;
    p->number = line->number;
    p->n += line->n;
    p->joined += line->joined;
    return most ? hot_lines_limit(t, most) : TROD_OK;
}

int hot_lines_touch(struct hot_lines *t, uint64_t addr, uint64_t size, uint64_t n, uint64_t most)
{
    unsigned shift = t->shift;
    uint64_t last = addr + size - 1, joined = 0;

    /* an access of no bytes touches the block that it lies in, unless it lies at its beginning */
    if (size == 0 && !(addr & ((UINT64_C(1) << shift) - 1)))
        return TROD_OK;
    if (last < addr && size) /* around the end of the address space */
        last = UINT64_MAX;
    for (uint64_t b = addr >> shift;; b++, joined = n) {
        if (hot_line_add(t, &(struct hot_line){b, n, joined}, most) < 0)
            return TROD_ERR_NOMEM;
        b >>= t->shift - shift; /* which may have become larger */
        shift = t->shift;
        if (b >= last >> shift)
            return TROD_OK;
    }
}

int hot_lines_merge(struct hot_lines *into, const struct hot_lines *from, uint64_t most)
{
    struct hot_lines same = {0};
    int rc = hot_lines_coarsen(into, from->shift);

    if (rc == TROD_OK && from->shift < into->shift) {
        rc = hot_lines_copy(&same, from, into->shift);
        from = &same;
    }
    for (size_t i = 0; rc == TROD_OK && i < from->size; i++) {
        if (!from->at[i].n)
            continue;
        if (into->shift != from->shift) { /* it became too many on the way */
            struct hot_line one = from->at[i];
            struct hot_lines single = {.at = &one, .n = 1, .size = 1, .shift = from->shift};
            struct hot_lines wide;

            rc = hot_lines_copy(&wide, &single, into->shift);
            for (size_t k = 0; rc == TROD_OK && k < wide.size; k++)
                if (wide.at[k].n)
                    rc = hot_line_add(into, &wide.at[k], most);
            hot_lines_free(&wide);
            continue;
        }
        rc = hot_line_add(into, &from->at[i], most);
    }
    hot_lines_free(&same);
    return rc;
}
