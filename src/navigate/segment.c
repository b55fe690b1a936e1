/*
 * segment.c - postings: which blocks hold what, by key. Implements index.h.
 *
 * A section: CRC-32C of what follows before the pages, number of pages (32 bits each), a directory
 * of them (first key, offset, length, length before compression, CRC-32C: 64, 32, 32, 32, 32 bits),
 * then the pages. What no question is about is not checked. A page: for each key the difference to
 * the one before, how many blocks, and for each the difference to the one before (the first: to the
 * segment's first) and what it holds of the key (LINES: a byte says of what form two masks are, and
 * of one step which it is; for several a byte with a bit each follows; then the masks. SITES,
 * TEXTS, ALIKE: how often, times 8, + 1 where kinds follow, as what differs from those
 * before (the first: from instructions alone), + 2 where a byte of steps follows, + 4 where rows
 * besides it are not as many, or, without other kinds, some: zigzag). Numbers are packed.
 */
#include "navigate/segment.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "core/wide.h"
#include "io/crc32c.h"
#include "navigate/events.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16 };

int nav_postings_room(struct nav_postings *p, size_t n)
{
    struct nav_posting *more;
    size_t cap = p->cap ? p->cap : 256;

    if (n <= p->cap - p->n)
        return TROD_OK;
    while (cap - p->n < n)
        cap *= 2;
    if (!(more = realloc(p->at, cap * sizeof *more)))
        return TROD_ERR_NOMEM;
    p->at = more;
    p->cap = cap;
    return TROD_OK;
}

int nav_postings_add(struct nav_postings *p, uint64_t key, uint32_t block, uint64_t a, uint64_t b)
{
    if (!trod_grow(&p->at, p->n, &p->cap, sizeof *p->at, 256))
        return TROD_ERR_NOMEM;
    p->at[p->n++] = (struct nav_posting){key, block, 0, a, b};
    return TROD_OK;
}

/* By key; of equal keys the order stays, which is that of blocks. */
int nav_postings_sort(struct nav_postings *p)
{
    const size_t n = p->n;
    struct nav_posting *out = malloc((n + 1) * sizeof *out);
    struct nav_sort_key *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
    uint32_t *count = malloc(NAV_SORT_COUNTS * sizeof *count);
    int rc = out && a && b && count ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK && n) {
        const struct nav_sort_key *s;

        for (size_t i = 0; i < n; i++)
            a[i] = (struct nav_sort_key){p->at[i].key, i};
        s = nav_sort(a, b, n, count);
        for (size_t i = 0; i < n; i++) {
            __builtin_prefetch(&p->at[s[i + AHEAD < n ? i + AHEAD : i].at]);
            out[i] = p->at[s[i].at];
        }
        free(p->at);
        p->at = out;
        p->cap = n + 1;
        out = NULL;
    }
    free(out);
    free(a);
    free(b);
    free(count);
    return rc;
}

/* ---- masks of bytes */

static unsigned mask_form(uint64_t m)
{
    uint64_t low = m & (0 - m);

    if (m == 0)
        return MASK_NONE;
    if (m == UINT64_MAX)
        return MASK_ALL;
    return ((m + low) & m) == 0 ? MASK_RUN : MASK_ANY;
}

/* M to P, where there is room for eight bytes. Returns where it ends. */
static uint8_t *put_mask(uint8_t *p, uint64_t m)
{
    switch (mask_form(m)) {
    case MASK_RUN:
        *p++ = (uint8_t)__builtin_ctzll(m);
        *p++ = (uint8_t)__builtin_popcountll(m);
        return p;
    case MASK_ANY:
        trod_store_le64(p, m);
        return p + 8;
    default:
        return p;
    }
}

/* ---- writing */

enum {
    POSTING_MOST = 10 + 10 + 10 + 10 + 1 + 8 + 8
}; /* bytes, besides what MEMORY and WITHIN tell */

/* That of section ID; BEFORE: the one before with the same key, or NULL. */
static uint8_t *put_site(uint8_t *p, const struct nav_posting *at, unsigned id,
                         const struct nav_posting *before)
{
    const uint32_t kinds = (uint32_t)at->b ^ (before ? (uint32_t)before->b : SITE_ALONE);
    uint64_t rows = at->b >> NAV_SITE_ROWS;
    const bool some = at->steps != NAV_ALL_STEPS;

    if (rows || id == NAV_S_SITES)
        rows = trod_zigzag(rows, usual_rows(id, (uint32_t)at->b, at->a));
    p = trod_pack_at(p, at->a << SITE_BITS | (kinds ? SITE_KINDS : 0u) | (some ? SITE_STEPS : 0u) |
                            (rows ? SITE_ROWS : 0u));
    if (kinds)
        p = trod_pack_at(p, kinds);
    if (some)
        *p++ = (uint8_t)at->steps;
    return rows ? trod_pack_at(p, rows) : p;
}

/* BEFORE: the one before with the same key; NULL: none, blocks begin with FROM. Returns where it
 * ends. */
static uint8_t *put_posting(uint8_t *p, const struct nav_postings *all,
                            const struct nav_posting *at, unsigned id,
                            const struct nav_posting *before, uint32_t from)
{
    const bool one = at->steps && (at->steps & (at->steps - 1)) == 0;

    p = trod_pack_at(p, at->block - (before ? before->block : from));
    switch (id) {
    case NAV_S_REGS:
        return p;
    case NAV_S_SITES:
    case NAV_S_TEXTS:
    case NAV_S_CLASS_ROWS:
        return put_site(p, at, id, before);
    case NAV_S_MARKS:
    case NAV_S_SPREAD:
    case NAV_S_EXECUTED:
        return trod_pack_at(p, at->a);
    case NAV_S_MEMORY:
    case NAV_S_WITHIN:
        p = trod_pack_at(p, at->b);
        memcpy(p, all->payload.p + at->a, (size_t)at->b);
        return p + at->b;
    default:
        *p++ = (uint8_t)(mask_form(at->a) | mask_form(at->b) << 2 |
                         (one ? ONE_STEP | (unsigned)__builtin_ctz(at->steps) << 5 : 0));
        if (!one)
            *p++ = (uint8_t)at->steps;
        return put_mask(put_mask(p, at->a), at->b);
    }
}

/* The N postings from AT on, which have one key; that before it is BEFORE. */
static int put_key(const struct nav_postings *all, const struct nav_posting *at, size_t n,
                   unsigned id, uint32_t from, uint64_t before, struct trod_buf *out)
{
    size_t most = 10 + 10 + n * POSTING_MOST;
    uint8_t *p;

    for (size_t i = 0; (id == NAV_S_MEMORY || id == NAV_S_WITHIN) && i < n; i++)
        most += (size_t)at[i].b;
    if (trod_buf_reserve(out, most) < 0)
        return TROD_ERR_NOMEM;
    p = trod_pack_at(out->p + out->n, at->key - before);
    p = trod_pack_at(p, n);
    for (size_t i = 0; i < n; i++)
        p = put_posting(p, all, &at[i], id, i ? &at[i - 1] : NULL, from);
    out->n = (size_t)(p - out->p);
    return TROD_OK;
}

/* A section on its way: the page at hand, those before it and their directory. */
struct section {
    struct nav_squeezer *squeezer; /* NULL: its pages stay as they are */
    struct trod_buf page, dir, all;
};

/* A page that is full, and its entry in the directory. */
static int end_page(struct section *s, uint64_t key)
{
    uint8_t entry[ENTRY];
    const size_t at = s->all.n;
    int rc = s->squeezer ? nav_squeeze_by(s->squeezer, s->page.p, s->page.n, &s->all)
                         : trod_buf_add(&s->all, s->page.p, s->page.n);

    if (rc < 0)
        return rc;
    trod_store_le64(entry, key);
    trod_store_le32(entry + 8, (uint32_t)at);
    trod_store_le32(entry + 12, (uint32_t)(s->all.n - at));
    trod_store_le32(entry + 16, (uint32_t)s->page.n);
    trod_store_le32(entry + 20, trod_crc32c(s->all.p + at, s->all.n - at));
    s->page.n = 0;
    return trod_buf_add(&s->dir, entry, sizeof entry);
}

int nav_postings_encode(const struct nav_postings *p, unsigned id, uint32_t from,
                        struct trod_buf *out)
{
    struct section s = {0};
    uint64_t first = 0, before = 0;
    const size_t at = out->n;
    const uint8_t head[HEAD] = {0};
    /* what WITHIN tells are small numbers at random, as short as they get */
    int rc = id == NAV_S_WITHIN ? TROD_OK : nav_squeezer_new(&s.squeezer);

    for (size_t i = 0, n; rc == TROD_OK && i < p->n; i += n) {
        for (n = 1; i + n < p->n && p->at[i + n].key == p->at[i].key;)
            n++;
        if (s.page.n == 0)
            first = before = p->at[i].key;
        rc = put_key(p, &p->at[i], n, id, from, before, &s.page);
        before = p->at[i].key;
        if (rc == TROD_OK && s.page.n >= NAV_PAGE)
            rc = end_page(&s, first);
    }
    if (rc == TROD_OK && s.page.n)
        rc = end_page(&s, first);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, head, sizeof head);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, s.dir.p, s.dir.n);
    if (rc == TROD_OK) {
        trod_store_le32(out->p + at + 4, (uint32_t)(s.dir.n / ENTRY));
        trod_store_le32(out->p + at, trod_crc32c(out->p + at + 4, HEAD - 4 + s.dir.n));
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(out, s.all.p, s.all.n);
    nav_squeezer_free(s.squeezer);
    trod_buf_fini(&s.page);
    trod_buf_fini(&s.dir);
    trod_buf_fini(&s.all);
    return rc;
}
