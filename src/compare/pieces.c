/*
 * pieces.c - accesses that one side gives as one row and the other as several.
 *
 * Implements the functions of match.h that say so. Such accesses are compared byte by byte: those
 * of an instruction whatever their order, those of sequences as they follow one another.
 */
#include "compare/match.h"

#include <stdlib.h>

enum { BYTES = 512 };

/* A byte of memory as a row says it. */
struct byte {
    uint64_t addr;
    uint8_t value, known;
};

static int by_addr(const void *a, const void *b)
{
    const struct byte *p = a, *q = b;

    return p->addr < q->addr ? -1 : p->addr > q->addr;
}

/* Byte K of an access as ROW says it; nothing is known of bytes it does not tell. */
static struct byte byte_at(const struct cmp_row *r, uint32_t k, bool big)
{
    struct byte b = {r->addr + (big ? r->pub.size - 1 - k : k), 0, 0};

    if (r->wide && k < r->wide_size) {
        b.value = r->wide[k];
        b.known = r->wide[r->wide_size + k];
    } else if (!r->wide && (r->pub.has & TROD_COL_VALUE) && k < 8) {
        b.value = (uint8_t)(r->pub.value >> (8 * k));
        b.known = (uint8_t)(r->pub.known >> (8 * k));
    }
    return b;
}

/*
 * The bytes of accesses of KIND among N rows that are still open (DONE NULL: all are). Returns how
 * many, or -1.
 */
static int list_bytes(const struct cmp_queue *q, size_t n, const bool *done, unsigned kind,
                      bool big, struct byte *out)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if ((done && done[i]) || r->pub.kind != kind)
            continue;
        if (!(r->pub.has & TROD_COL_SIZE) || r->pub.size == 0 ||
            r->pub.size > BYTES - (uint32_t)count)
            return -1;
        for (uint32_t k = 0; k < r->pub.size; k++)
            out[count++] = byte_at(r, k, big);
    }
    qsort(out, (size_t)count, sizeof *out, by_addr);
    return count;
}

/* Whether the open accesses of KIND touch the same bytes, with the same values if these count. */
static bool bytes_agree(const struct cmp_lane *l, const struct cmp_match *m, size_t na,
                        const bool *done_a, size_t nb, const bool *done_b, unsigned kind, bool big)
{
    const uint8_t counted = m->rules->fields.columns & TROD_COL_VALUE ? 0xff : 0;
    struct byte a[BYTES], b[BYTES];
    int n = list_bytes(&l->queue[0], na, done_a, kind, big, a);

    if (n <= 0 || list_bytes(&l->queue[1], nb, done_b, kind, big, b) != n)
        return false;
    for (int i = 0; i < n; i++)
        if (a[i].addr != b[i].addr ||
            ((a[i].value ^ b[i].value) & a[i].known & b[i].known & counted))
            return false;
    return true;
}

/*
 * Whether the open accesses of KIND are cut alike on both sides: then they are the same ones, and
 * it is something else that differs. Or whether what they say beyond their bytes differs.
 */
static bool same_cut(const struct cmp_lane *l, const struct cmp_match *m, size_t na,
                     const bool *done_a, size_t nb, const bool *done_b, unsigned kind)
{
    const struct cmp_fields *f = &m->rules->fields;
    const uint32_t flags = f->columns & TROD_COL_FLAGS ? f->flags : 0;
    size_t i = 0, j = 0;

    for (;;) {
        const struct cmp_row *a, *b;

        while (i < na && (done_a[i] || cmp_queue_at(&l->queue[0], i)->pub.kind != kind))
            i++;
        while (j < nb && (done_b[j] || cmp_queue_at(&l->queue[1], j)->pub.kind != kind))
            j++;
        if (i == na || j == nb)
            return i == na && j == nb;
        a = cmp_queue_at(&l->queue[0], i++);
        b = cmp_queue_at(&l->queue[1], j++);
        if (f->alike && ((a->pub.flags ^ b->pub.flags) & flags))
            return true;
        if (a->addr != b->addr || a->pub.size != b->pub.size)
            return false;
    }
}

/* The same in the byte order of the traces; where that is not known, either will do. */
static bool agree_in_bytes(const struct cmp_lane *l, const struct cmp_match *m, size_t na,
                           const bool *done_a, size_t nb, const bool *done_b, unsigned kind)
{
    const bool big = m->rules->big_endian;

    return bytes_agree(l, m, na, done_a, nb, done_b, kind, big) ||
           (!m->rules->endian_known && bytes_agree(l, m, na, done_a, nb, done_b, kind, !big));
}

void cmp_match_bytes(const struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                     size_t nb, bool *done_b, unsigned kind)
{
    if (!(m->rules->fields.columns & TROD_COL_ADDR) ||
        same_cut(l, m, na, done_a, nb, done_b, kind) ||
        !agree_in_bytes(l, m, na, done_a, nb, done_b, kind))
        return;
    for (size_t i = 0; i < na; i++)
        done_a[i] |= cmp_queue_at(&l->queue[0], i)->pub.kind == kind;
    for (size_t i = 0; i < nb; i++)
        done_b[i] |= cmp_queue_at(&l->queue[1], i)->pub.kind == kind;
}

/* How many of the first N rows of Q touch the byte at ADDR. */
static size_t touches(const struct cmp_queue *q, size_t n, uint64_t addr)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        count += addr - r->addr < r->pub.size;
    }
    return count;
}

/* Whether R, the next row of SIDE, goes on with what the N rows of the other side touch beyond. */
static bool goes_on(const struct cmp_lane *l, const size_t n[2], int side, const struct cmp_row *r)
{
    for (uint32_t k = 0; k < r->pub.size; k++)
        if (touches(&l->queue[!side], n[!side], r->addr + k) >
            touches(&l->queue[side], n[side], r->addr + k))
            return true;
    return false;
}

/* Whether R may be a piece of what HEAD, or what HEAD is a piece of, does. */
static bool piece_of(const struct cmp_lane *l, const struct cmp_match *m,
                     const struct cmp_row *head, const struct cmp_row *r)
{
    const struct cmp_fields *f = &m->rules->fields;
    const uint32_t flags = f->alike && (f->columns & TROD_COL_FLAGS) ? f->flags : 0;

    return cmp_starts_group(l, r) && r->pub.kind == head->pub.kind &&
           (r->pub.has & TROD_COL_ADDR) && (r->pub.has & TROD_COL_SIZE) && r->pub.size &&
           r->pub.size <= BYTES && ((r->pub.flags ^ head->pub.flags) & flags) == 0;
}

bool cmp_cut_otherwise(const struct cmp_lane *l, const struct cmp_match *m)
{
    const size_t n[2] = {0, 1};
    const struct cmp_row *a = cmp_queue_at(&l->queue[0], 0), *b = cmp_queue_at(&l->queue[1], 0);

    return (a->pub.kind == TROD_READ || a->pub.kind == TROD_WRITE) &&
           (m->rules->fields.columns & TROD_COL_ADDR) && a->pub.size != b->pub.size &&
           piece_of(l, m, a, a) && piece_of(l, m, a, b) && goes_on(l, n, 0, a);
}

enum cmp_pieces cmp_find_pieces(const struct cmp_lane *l, const struct cmp_match *m,
                                const bool ended[2], size_t n[2])
{
    const struct cmp_row *head = cmp_queue_at(&l->queue[0], 0);
    uint32_t bytes[2];

    if (!cmp_cut_otherwise(l, m))
        return CMP_NO_PIECES;
    for (int side = 0; side < 2; side++) {
        n[side] = 1;
        bytes[side] = cmp_queue_at(&l->queue[side], 0)->pub.size;
    }
    while (bytes[0] != bytes[1]) {
        const int side = bytes[0] > bytes[1];
        const struct cmp_row *r;

        if (n[side] == l->queue[side].n)
            return ended[side] ? CMP_NO_PIECES : CMP_PIECES_MORE;
        r = cmp_queue_at(&l->queue[side], n[side]);
        if (!piece_of(l, m, head, r) || r->pub.size > BYTES - bytes[side] ||
            !goes_on(l, n, side, r))
            return CMP_NO_PIECES;
        bytes[side] += r->pub.size;
        n[side]++;
    }
    return agree_in_bytes(l, m, n[0], NULL, n[1], NULL, head->pub.kind) ? CMP_PIECES
                                                                        : CMP_NO_PIECES;
}
