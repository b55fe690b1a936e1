/*
 * fast_wide.h - values wider than 64 bits for the fast path: vector registers, accesses of 16 to 64
 * bytes.
 *
 * See fast.c; the general path is value.c. Digits stand together or in groups of 8 with '_' between
 * them, as many as whole words of 64 bits have.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_WIDE_H
#define TROD_FORMAT_TARMAC_FAST_WIDE_H

#include "format/tarmac/fast_line.h"

enum {
    TM_WORDS = 8, /* of 64 bits in a value at most */
    TM_WIDE_COLUMNS = TROD_COL_VALUE | TROD_COL_DATA | TROD_COL_DETAIL
};

struct tm_wide {
    uint64_t word[TM_WORDS]; /* the highest first */
    const uint8_t *end, *nl; /* of the digits, of the line */
    unsigned n;              /* words, more than one */
    bool divided, upper;
};

/* Parse the value at P up to the end of the line. False: it has another form. */
static TROD_APART bool tm_take_wide(const uint8_t *p, struct tm_wide *w)
{
    w->divided = p[8] == '_';
    w->upper = false;
    for (w->n = 0; w->n < TM_WORDS;) {
        struct tm_hexrun h = tm_hex_run(p);

        w->word[w->n] = h.value;
        w->upper |= h.upper;
        if (w->divided) {
            if (h.n != 8 || p[8] != '_')
                return false;
            h = tm_hex_run(p + 9);
            w->word[w->n] = w->word[w->n] << 32 | h.value;
            w->upper |= h.upper;
            p += 9;
        }
        if (h.n != (w->divided ? 8 : 16))
            return false;
        p += h.n;
        w->n++;
        if ((w->nl = tm_end_at(p))) {
            w->end = p;
            return w->n > 1;
        }
        if (w->divided && *p++ != '_')
            return false;
    }
    return false;
}

/* W is the data of row N. False: the pool is full. */
static bool tm_put_wide(struct tm_run *r, size_t n, const struct tm_wide *w)
{
    uint8_t *to = trod_batch_pool(r->b, 8 * w->n, &r->b->data[n]);

    for (unsigned i = 0; to && i < w->n; i++)
        trod_store_le64(to + 8 * i, w->word[w->n - 1 - i]);
    return to;
}

/*
 * How the value of a register of row N is written, where there is something to say about it; *HAS:
 * with it. False: the pool is full.
 */
TM_INLINE bool tm_wide_style(struct tm_run *r, size_t n, bool divided, bool upper, uint32_t *has,
                             const uint32_t want)
{
    const uint8_t sep = tm_odd_sep(r->d, divided);
    struct trod_detail_reg *detail;

    if (!sep && !upper)
        return true;
    *has |= TROD_COL_DETAIL;
    if (!(want & TROD_COL_DETAIL))
        return true;
    if (!(detail = trod_batch_pool(r->b, sizeof *detail, &r->b->detail[n])))
        return false;
    memset(detail, 0, sizeof *detail);
    detail->num.upper = upper;
    detail->num.sep = sep;
    return true;
}

/* R name value; the name of LEN characters is at Q. */
static TROD_APART const uint8_t *tm_wide_reg(struct tm_run *r, const uint8_t *line,
                                             const uint8_t *q, unsigned len, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    uint32_t has = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_DATA | TROD_COL_TEXT |
                   TROD_COL_RAW | r->has;
    struct tm_wide w;

    if (!tm_take_wide(q + len + 1, &w) || (want & TROD_COL_DATA && !tm_put_wide(r, n, &w)) ||
        !tm_wide_style(r, n, w.divided, w.upper, &has, want))
        return NULL;
    b->has[n] = has & r->want;
    b->kind[n] = TROD_REG;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags;
    if (want & TROD_COL_SIZE)
        b->size[n] = 8 * w.n;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(q - r->base), len};
    tm_put_line(r, line, w.nl + 1, want);
    return w.nl + 1;
}

/* MR16 address data, and the like; Q is at the M. */
static TROD_APART const uint8_t *tm_wide_mem(struct tm_run *r, const uint8_t *line,
                                             const uint8_t *q, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const unsigned size = 10u * (unsigned)(q[2] - '0') + (unsigned)(q[3] - '0');
    struct mem_line l;
    const uint8_t *data;
    struct tm_wide w;
    uint32_t has;

    if (q[4] != ' ' || !(data = take_address(q + 5, &l.a)) || !tm_take_wide(data, &w) || w.upper ||
        size != 8 * w.n || (want & TROD_COL_DATA && !tm_put_wide(r, n, &w)))
        return NULL;
    l.divided = w.divided;
    has = l.a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_DATA | TROD_COL_RAW |
          r->has;
    if (!put_mem_detail(r, n, size, &l, &has, want))
        return NULL;
    b->has[n] = has & r->want;
    b->kind[n] = q[1] == 'W' ? TROD_WRITE : TROD_READ;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | l.a.sec;
    if (want & TROD_COL_SIZE)
        b->size[n] = size;
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = l.a.paddr;
    tm_put_line(r, line, w.nl + 1, want);
    return w.nl + 1;
}

#endif
