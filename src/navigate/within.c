/*
 * within.c - addresses in pieces of memory, one by one. Implements within.h.
 *
 * The payload of a posting: the bits that are 0 at the end of all of them (a byte), then for each
 * address what it is more than the one before (the first: than the beginning of the piece) without
 * these bits, times 2, + 1 where several rows have it: how many less 2 follows. Numbers are packed.
 */
#include "navigate/within.h"

#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 10, ENTRY_MOST = 10 + 5 };

int nav_within_init(struct nav_within *w)
{
    memset(w, 0, sizeof *w);
    return nav_within_grow(w);
}

void nav_within_fini(struct nav_within *w)
{
    free(w->at);
    free(w->slot);
    trod_buf_fini(&w->payload);
    memset(w, 0, sizeof *w);
}

int nav_within_grow(struct nav_within *w)
{
    const size_t cap = w->cap ? 2 * w->cap : FIRST;
    struct nav_within_entry *at = realloc(w->at, cap * sizeof *at);
    uint32_t *slot = calloc(2 * cap, sizeof *slot);

    w->at = at ? at : w->at;
    if (!at || !slot) {
        free(slot);
        return TROD_ERR_NOMEM;
    }
    free(w->slot);
    w->slot = slot;
    w->mask = (uint32_t)(2 * cap - 1);
    w->cap = cap;
    for (size_t i = 0; i < w->n; i++)
        slot[nav_within_place(w, at[i].addr, at[i].kind)] = w->base + (uint32_t)i + 1;
    return TROD_OK;
}

/* Encode the N entries that KEY names, sorted by address, of one piece as a posting's payload. */
static int encode(struct nav_within *w, const struct nav_sort_key *key, size_t n, uint64_t within,
                  unsigned zeros)
{
    uint64_t before = 0;
    uint8_t *p;

    if (trod_buf_reserve(&w->payload, 1 + n * ENTRY_MOST) < 0)
        return TROD_ERR_NOMEM;
    p = w->payload.p + w->payload.n;
    *p++ = (uint8_t)zeros;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = key[i].key & within;
        const uint32_t count = w->at[key[i].at].count;

        p = trod_pack_at(p, (at - before) << 1 | (count > 1));
        if (count > 1)
            p = trod_pack_at(p, count - 2);
        before = at;
    }
    w->payload.n = (size_t)(p - w->payload.p);
    return TROD_OK;
}

/* All postings of the block. ROOM: for twice as many keys as there are addresses. */
static int end(struct nav_within *w, uint32_t block, unsigned shift, const uint64_t *piece,
               struct nav_sort_key *room, uint32_t *count, struct nav_postings *out)
{
    const uint64_t below = (UINT64_C(1) << shift) - 1;
    const struct nav_sort_key *key;
    uint64_t bits = UINT64_C(1) << shift;
    unsigned zeros;

    for (size_t i = 0; i < w->n; i++)
        bits |= w->at[i].addr;
    zeros = (unsigned)__builtin_ctzll(bits);
    for (size_t i = 0; i < w->n; i++) {
        const struct nav_within_entry *e = &w->at[i];

        room[i] = (struct nav_sort_key){
            (uint64_t)e->rank << (shift - zeros) | (e->addr & below) >> zeros, i};
    }
    key = nav_sort(room, room + w->n, w->n, count);
    for (size_t i = 0, some; i < w->n; i += some) {
        const uint64_t rank = key[i].key >> (shift - zeros);
        const size_t at = w->payload.n;

        for (some = 1; i + some < w->n && key[i + some].key >> (shift - zeros) == rank;)
            some++;
        if (encode(w, key + i, some, below >> zeros, zeros) < 0 ||
            nav_postings_add(out, piece[rank], block, out->payload.n + at, w->payload.n - at) < 0)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

/* Begin the next block. */
static void begin(struct nav_within *w)
{
    w->base += (uint32_t)w->n;
    if (w->base > UINT32_MAX / 2) {
        memset(w->slot, 0, ((size_t)w->mask + 1) * sizeof *w->slot);
        w->base = 0;
    }
    w->n = w->payload.n = 0;
}

int nav_within_end(struct nav_within *w, uint32_t block, unsigned shift, const uint64_t *key,
                   struct nav_postings *out)
{
    struct nav_sort_key *room = malloc((2 * w->n + 1) * sizeof *room);
    uint32_t *count = malloc(NAV_SORT_COUNTS * sizeof *count);
    const size_t before = out->n;
    int rc = room && count ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK && w->n && shift <= NAV_WITHIN_SHIFT)
        rc = end(w, block, shift, key, room, count, out);
    if (w->payload.n > NAV_WITHIN_MOST)
        out->n = before;
    else if (rc == TROD_OK)
        rc = trod_buf_add(&out->payload, w->payload.p, w->payload.n);
    begin(w);
    free(room);
    free(count);
    return rc;
}

/* A number, most of which are of one byte. */
static inline bool unpack(struct trod_span *in, uint64_t *v)
{
    if (in->n && *in->p < 0x80) {
        *v = *in->p++;
        in->n--;
        return true;
    }
    return trod_unpack(in, v) == TROD_OK;
}

int nav_within_count(const uint8_t *p, size_t n, uint64_t lo, uint64_t hi, uint64_t *count)
{
    struct trod_span in = {.p = p, .n = n};
    const unsigned zeros = n ? *in.p++ : 64;
    uint64_t at = 0, v, more, rows = 0, first, last;

    *count = 0;
    if (zeros > 63)
        return TROD_ERR_CORRUPT;
    first = (lo >> zeros) + ((lo & ((UINT64_C(1) << zeros) - 1)) != 0);
    last = hi >> zeros;
    for (in.n = n - 1; in.n;) {
        if (!unpack(&in, &v))
            return TROD_ERR_CORRUPT;
        at += v >> 1;
        if (at > last) /* as are all after it */
            break;
        more = 0;
        if (v & 1) {
            if (!unpack(&in, &more))
                return TROD_ERR_CORRUPT;
            more++;
        }
        if (at >= first)
            rows += 1 + more;
    }
    *count = rows;
    return TROD_OK;
}
