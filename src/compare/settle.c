/*
 * settle.c - the rows of one instruction against each other.
 *
 * Implements the functions of match.h that say so. Rows of an instruction may come in any order.
 * Accesses that one side gives as one row and the other as several are compared byte by byte. What
 * is left over waits (waiting.c).
 */
#include "compare/match.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 512, FEW = 16, LOOK = 64 };

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

/* The bytes of accesses of KIND among N rows that are still open. Returns how many, or -1. */
static int list_bytes(const struct cmp_queue *q, size_t n, const bool *done, unsigned kind,
                      bool big, struct byte *out)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if (done[i] || r->pub.kind != kind)
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

/* Whether the open accesses of KIND touch the same bytes with the same values. */
static bool bytes_agree(const struct cmp_lane *l, size_t na, const bool *done_a, size_t nb,
                        const bool *done_b, unsigned kind, bool big)
{
    struct byte a[BYTES], b[BYTES];
    int n = list_bytes(&l->queue[0], na, done_a, kind, big, a);

    if (n <= 0 || list_bytes(&l->queue[1], nb, done_b, kind, big, b) != n)
        return false;
    for (int i = 0; i < n; i++)
        if (a[i].addr != b[i].addr || ((a[i].value ^ b[i].value) & a[i].known & b[i].known))
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

/* Accesses agree however they are cut. Where the byte order is not known, either will do. */
static void match_bytes(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                        size_t nb, bool *done_b, unsigned kind)
{
    const uint32_t needed = TROD_COL_ADDR | TROD_COL_VALUE;

    if ((m->rules->fields.columns & needed) != needed ||
        same_cut(l, m, na, done_a, nb, done_b, kind) ||
        (!bytes_agree(l, na, done_a, nb, done_b, kind, m->rules->big_endian) &&
         (m->rules->endian_known ||
          !bytes_agree(l, na, done_a, nb, done_b, kind, !m->rules->big_endian))))
        return;
    for (size_t i = 0; i < na; i++)
        done_a[i] |= cmp_queue_at(&l->queue[0], i)->pub.kind == kind;
    for (size_t i = 0; i < nb; i++)
        done_b[i] |= cmp_queue_at(&l->queue[1], i)->pub.kind == kind;
}

static bool all(const bool *done, size_t n)
{
    return n == 0 || !memchr(done, false, n);
}

/* Accesses that are left over may be the same ones elsewhere (--slide auto). True: pair again. */
static bool learn(struct cmp_lane *l, struct cmp_match *m, size_t na, const bool *done_a, size_t nb,
                  const bool *done_b)
{
    na = na < LOOK ? na : LOOK;
    nb = nb < LOOK ? nb : LOOK;
    for (size_t i = 0; m->rules->opt->auto_slide && i < na; i++)
        for (size_t j = 0; !done_a[i] && j < nb; j++)
            if (!done_b[j] &&
                cmp_learn_data(m, cmp_queue_at(&l->queue[0], i), cmp_queue_at(&l->queue[1], j)))
                return true;
    return false;
}

int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    bool few[2 * FEW] = {false}, *done_a = few, *done_b;
    struct cmp_scene *scene = NULL;
    int rc = TROD_OK;

    if (na + nb > 2 * FEW && !(done_a = calloc(na + nb, sizeof *done_a)))
        return TROD_ERR_NOMEM;
    done_b = done_a + na;
    do
        rc = cmp_pair_rows(l, m, na, done_a, nb, done_b) < 0 ? TROD_ERR_NOMEM : TROD_OK;
    while (rc == TROD_OK && learn(l, m, na, done_a, nb, done_b));
    if (rc == TROD_OK && !(all(done_a, na) && all(done_b, nb))) {
        match_bytes(l, m, na, done_a, nb, done_b, TROD_READ);
        match_bytes(l, m, na, done_a, nb, done_b, TROD_WRITE);
        scene = cmp_take_scene(l, na, nb);
        rc = scene ? TROD_OK : TROD_ERR_NOMEM;
    }
    l->group++;
    if (rc == TROD_OK)
        rc = cmp_take_off(l, m, 0, na, done_a, scene, nb);
    if (rc == TROD_OK)
        rc = cmp_take_off(l, m, 1, nb, done_b, scene, 0);
    cmp_scene_drop(m->pool, scene);
    if (done_a != few)
        free(done_a);
    if (rc == TROD_OK)
        cmp_expire(l, m, false);
    return rc;
}

int cmp_one_sided(struct cmp_lane *l, struct cmp_match *m, int side, size_t n)
{
    struct cmp_scene *scene;
    struct cmp_diff *d;
    int rc;

    if (m->window > 1 && n <= m->window) {
        if (!(scene = cmp_take_scene(l, side ? 0 : n, side ? n : 0)))
            return TROD_ERR_NOMEM;
        l->group++;
        rc = cmp_take_off(l, m, side, n, NULL, scene, 0);
        cmp_scene_drop(m->pool, scene);
        if (rc == TROD_OK)
            cmp_expire(l, m, false);
        return rc;
    }
    d = cmp_diff_begin(m, side ? TROD_DIFF_INSERTED : TROD_DIFF_MISSING);
    for (size_t i = 0; i < n; i++)
        cmp_diff_add(m, d, side, cmp_queue_at(&l->queue[side], i));
    cmp_diff_context(l, d, NULL);
    for (size_t i = 0; i < n; i++)
        cmp_row_drop(m->pool, cmp_lane_shift(l, m->pool, side));
    cmp_diff_end(l, m, d);
    return TROD_OK;
}
