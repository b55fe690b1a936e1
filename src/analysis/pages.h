/*
 * pages.h - which bytes of an address space were touched: bitmaps by page of 1 KiB.
 *
 * A set has one plane of bits (bytes touched) or two (addresses at which instructions begin, bytes
 * of these). It is exact up to CAP pages. Beyond, it keeps the groups of four pages whose hash ends
 * in LEVEL zero bits, LEVEL being the least with which no more than CAP pages are kept: a sample
 * that does not depend on the order in which pages come nor on how the work was parted, and from
 * which counts are estimated (times 2^LEVEL). Pages are small because thousands of threads may each
 * touch a few bytes here and there. The whole pages of a large access are kept as a run
 * (page_runs.h) and are no part of the sample: their number is exact.
 */
#ifndef TROD_ANALYSIS_PAGES_H
#define TROD_ANALYSIS_PAGES_H

#include "analysis/page_runs.h"

enum {
    TROD_PAGE_SHIFT = 10,
    TROD_PAGE_WORDS = 16,     /* of a plane */
    TROD_PAGE_GROUP = 2,      /* log of the pages that are sampled together */
    TROD_PAGE_CACHE = 8192,   /* places of recently used pages, a power of two */
    TROD_PAGE_MARK = 1 << 16, /* bytes: of what is larger the whole pages are a run */
    TROD_PAGE_LINE_MAX = 1 << (TROD_PAGE_SHIFT + TROD_PAGE_GROUP),
    TROD_PAGE_LEVEL_MAX = 52
};

struct trod_page {
    uint64_t number; /* address >> TROD_PAGE_SHIFT; TROD_NO_PAGE: an empty place */
    uint64_t
        *word; /* plane 0, then plane 1; pages that are full or not sampled share their words */
};

#define TROD_NO_PAGE UINT64_MAX

struct trod_pages {
    unsigned planes, level;
    uint32_t cap;            /* pages kept at the most; 0: no limit */
    uint32_t n, size;        /* pages; places, a power of two */
    uint64_t bits[2];        /* set, by plane */
    struct trod_page *at;    /* open addressing */
    struct trod_page *cache; /* TROD_PAGE_CACHE places; of sets that are new one that stays empty */
    uint32_t misses;         /* of that one */
    uint64_t *full;          /* what full pages and those not sampled share; NULL: no such page */
    struct trod_page_chunk *chunk; /* memory of words, the newest first */
    uint64_t *spare;               /* words that were given back; each points to the next */
    struct trod_page_runs *run[2]; /* by plane: pages that are full, beside AT; NULL: none */
};

/* A new empty set of PLANES (1 or 2) planes. Returns NULL when memory is out. */
struct trod_pages *trod_pages_new(unsigned planes, uint32_t cap);
void trod_pages_free(struct trod_pages *s);

/*
 * The words of page NUMBER, added if new. Bits are set with trod_pages_mark and trod_pages_set.
 * Words of a page that is not in the sample have all bits set. NULL when memory is out.
 */
const uint64_t *trod_pages_add(struct trod_pages *s, uint64_t number);

/* The same for a page that was used just before, most of the time. */
static inline const uint64_t *trod_pages_get(struct trod_pages *s, uint64_t number)
{
    const struct trod_page *c = &s->cache[number & (TROD_PAGE_CACHE - 1)];

    return c->number == number ? c->word : trod_pages_add(s, number);
}

/* A word of page NUMBER has become full. */
void trod_pages_filled(struct trod_pages *s, uint64_t number);

/*
 * Set the bits of MASK in a word of page NUMBER, at W in what trod_pages_get gave. Returns those
 * that were not set. The words of the set may be gone afterwards. trod_pages_set is faster where
 * most bits are set already; trod_pages_or does not test first and is faster where that cannot be
 * predicted.
 */
static inline uint64_t trod_pages_or(struct trod_pages *s, uint64_t number, const uint64_t *w,
                                     uint64_t mask)
{
    uint64_t *p = (uint64_t *)(uintptr_t)w, was = *p, is = was | mask;

    *p = is;
    if (is == UINT64_MAX && is != was)
        trod_pages_filled(s, number);
    return is ^ was;
}

static inline uint64_t trod_pages_set(struct trod_pages *s, uint64_t number, const uint64_t *w,
                                      uint64_t mask)
{
    return mask & ~*w ? trod_pages_or(s, number, w, mask) : 0;
}

/*
 * Set the bits of the N bytes from ADDR on in PLANE (up to the end of the address space). Returns 0
 * or TROD_ERR_NOMEM.
 */
int trod_pages_mark(struct trod_pages *s, unsigned plane, uint64_t addr, uint32_t n);

/* Add FROM to INTO. Returns 0 or TROD_ERR_NOMEM. */
int trod_pages_merge(struct trod_pages *into, const struct trod_pages *from);
/* A copy of S, or NULL when memory is out. */
struct trod_pages *trod_pages_copy(const struct trod_pages *s);

/*
 * Bits of PLANE; lines of LINE bytes (a power of two up to TROD_PAGE_LINE_MAX) with a bit in it.
 * Estimates with level > 0.
 */
uint64_t trod_pages_count(const struct trod_pages *s, unsigned plane);
uint64_t trod_pages_lines(const struct trod_pages *s, unsigned plane, uint32_t line);

/* To bytes and back: IN is advanced. Return 0, TROD_ERR_NOMEM or TROD_ERR_CORRUPT. */
int trod_pages_save(const struct trod_pages *s, struct trod_buf *out);
int trod_pages_load(struct trod_pages **out, struct trod_span *in);

#endif
