/*
 * values.c - the numbers that rows hold, of each block in ascending order. Implements values.h.
 *
 * A section: CRC-32C of what follows before the numbers, how many lists, how many pages (32 bits
 * each). For each list: number of its block in the segment, kind of row, pages, rows (32 bits
 * each). For each page: its first number (64 bits), rows of its list before it, where it begins
 * among the numbers, bytes (16 bits), the steps of its rows (8 bits), 0 (8 bits), CRC-32C of its
 * bytes (32 bits each). Then the pages: for each number a byte (bytes of the difference to the one
 * before, the first: 0; + 16 where several rows have it; + 32 times the first step), the
 * difference; where several rows have it the steps, a bit each, and how many less 2 (packed).
 */
#include "navigate/values.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "io/crc32c.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 24,               /* that are put in order one by one */
    NUMBER = 1 + 8 + 1 + 10 /* bytes of one, at most; eight of them are written at once */
};

int nav_values_init(struct nav_values *v)
{
    memset(v, 0, sizeof *v);
    v->count = malloc(NAV_SORT_COUNTS * sizeof *v->count);
    return v->count ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_values_fini(struct nav_values *v)
{
    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        free(v->of[kind]);
    free(v->room);
    free(v->count);
    trod_buf_fini(&v->list);
    trod_buf_fini(&v->page);
    trod_buf_fini(&v->data);
    memset(v, 0, sizeof *v);
}

int nav_values_rows(struct nav_values *v, const struct trod_batch *b, unsigned step)
{
    if (!(b->have & TROD_COL_VALUE))
        return TROD_OK;
    for (uint32_t i = 0, n = b->n; i < n; i++) {
        const unsigned kind = b->kind[i];

        if (!(b->has[i] & TROD_COL_VALUE))
            continue;
        if (v->n[kind] == v->cap[kind] && !trod_grow(&v->of[kind], v->n[kind], &v->cap[kind],
                                                     sizeof *v->of[kind], TROD_BATCH_ROWS))
            return TROD_ERR_NOMEM;
        v->of[kind][v->n[kind]++] = (struct nav_sort_key){b->value[i], step};
    }
    return TROD_OK;
}

/* The N of AT in ascending order; ROOM is for as many. Returns the one of them that has them. */
static const struct nav_sort_key *ascending(struct nav_sort_key *at, struct nav_sort_key *room,
                                            size_t n, uint32_t *count)
{
    if (n > FEW)
        return nav_sort(at, room, n, count);
    for (size_t i = 1; i < n; i++) {
        const struct nav_sort_key key = at[i];
        size_t k = i;

        for (; k && at[k - 1].key > key.key; k--)
            at[k] = at[k - 1];
        at[k] = key;
    }
    return at;
}

/* A number, which is DELTA more than the one before and which N rows have, to P. */
static inline uint8_t *put(uint8_t *p, uint64_t delta, uint32_t steps, size_t n)
{
    const unsigned bytes =
        (71 - (unsigned)__builtin_clzll(delta | 1)) / 8 & (0 - (unsigned)(delta != 0));

    *p++ = (uint8_t)(bytes | (n > 1 ? NAV_VALUES_MORE : 0u) |
                     (unsigned)__builtin_ctz(steps) << NAV_VALUES_STEP);
    trod_store_le64(p, delta);
    p += bytes;
    if (n > 1) {
        *p++ = (uint8_t)steps;
        p = trod_pack_at(p, n - 2);
    }
    return p;
}

/*
 * A page of the first of the N numbers AT, of whose list BEFORE stand before it. Returns how many
 * rows it has; 0: no memory.
 */
static size_t put_page(struct nav_values *v, const struct nav_sort_key *at, size_t n, size_t before)
{
    const size_t begin = v->data.n;
    uint64_t last = at[0].key;
    unsigned all = 0;
    size_t i = 0;
    uint8_t *p, *e;

    if (trod_buf_reserve(&v->data, (size_t)NAV_VALUES_PAGE * NUMBER) < 0 ||
        trod_buf_reserve(&v->page, NAV_VALUES_ENTRY) < 0)
        return 0;
    p = v->data.p + begin;
    for (unsigned k = 0; k < NAV_VALUES_PAGE && i < n; k++) {
        const uint64_t key = at[i].key;
        uint32_t steps = 1u << at[i].at;
        const size_t first = i++;

        for (; i < n && at[i].key == key; i++)
            steps |= 1u << at[i].at;
        p = put(p, key - last, steps, i - first);
        last = key;
        all |= steps;
    }
    v->data.n = (size_t)(p - v->data.p);
    e = v->page.p + v->page.n;
    trod_store_le64(e, at[0].key);
    trod_store_le32(e + 8, (uint32_t)before);
    trod_store_le32(e + 12, (uint32_t)begin);
    trod_store_le32(e + 16, (uint32_t)(v->data.n - begin) | all << 16);
    trod_store_le32(e + 20, trod_crc32c(v->data.p + begin, v->data.n - begin));
    v->page.n += NAV_VALUES_ENTRY;
    v->n_pages++;
    return i;
}

/* The numbers of KIND of the block. */
static int put_list(struct nav_values *v, unsigned kind)
{
    const size_t n = v->n[kind];
    const uint32_t pages = v->n_pages;
    const struct nav_sort_key *at;
    uint8_t entry[NAV_VALUES_LIST];

    if (v->cap_room < n) {
        free(v->room);
        v->cap_room = v->cap[kind];
        if (!(v->room = malloc(v->cap_room * sizeof *v->room))) {
            v->cap_room = 0;
            return TROD_ERR_NOMEM;
        }
    }
    at = ascending(v->of[kind], v->room, n, v->count);
    for (size_t i = 0, some; i < n; i += some)
        if ((some = put_page(v, at + i, n - i, i)) == 0)
            return TROD_ERR_NOMEM;
    trod_store_le32(entry, v->block);
    trod_store_le32(entry + 4, kind);
    trod_store_le32(entry + 8, v->n_pages - pages);
    trod_store_le32(entry + 12, (uint32_t)n);
    v->n_lists++;
    v->n[kind] = 0;
    return trod_buf_add(&v->list, entry, sizeof entry);
}

int nav_values_end(struct nav_values *v)
{
    int rc = TROD_OK;

    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++)
        if (v->n[kind])
            rc = put_list(v, kind);
    v->block++;
    return rc;
}

int nav_values_save(struct nav_values *v, struct trod_buf *out)
{
    const size_t at = out->n;
    uint8_t head[NAV_VALUES_HEAD] = {0};
    int rc;

    trod_store_le32(head + 4, v->n_lists);
    trod_store_le32(head + 8, v->n_pages);
    rc = trod_buf_add(out, head, sizeof head);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, v->list.p, v->list.n);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, v->page.p, v->page.n);
    if (rc == TROD_OK) {
        trod_store_le32(out->p + at, trod_crc32c(out->p + at + 4, out->n - at - 4));
        rc = trod_buf_add(out, v->data.p, v->data.n);
    }
    v->list.n = v->page.n = v->data.n = 0;
    v->n_lists = v->n_pages = v->block = 0;
    return rc;
}
