/*
 * batch.c - memory of batches, and the operations that do not look at what rows mean.
 *
 * Implements batch.h. A batch is one allocation: columns of cap elements, each 64-byte aligned,
 * then the pool. Columns of full batches are whole multiples of 4096 bytes: each begins some lines
 * further on, so that the elements of a row do not compete for the same set of a cache.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "trace/batch_own.h"

#include "core/mapped.h"
#include "core/spare.h"
#include "trod/detail.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = TROD_BATCH_ALIGN, STAGGER = 3 * ALIGN, STAGGER_FROM = 256, SPARE_FROM = 1 << 17 };

_Static_assert(sizeof(struct trod_batch_own) <= ALIGN, "it stands before the first column");

/* Every column: its place in struct trod_batch, the size of an element, the mask bit. */
struct column {
    size_t field, size;
    uint32_t bit;
};

#define COLUMN(name, bit)                                                                          \
    {                                                                                              \
        offsetof(struct trod_batch, name), sizeof *((struct trod_batch *)0)->name, bit             \
    }

/* Behind has in the order of their bits. */
static const struct column columns[] = {
    COLUMN(has, 0),
    COLUMN(kind, TROD_COL_KIND),
    COLUMN(flags, TROD_COL_FLAGS),
    COLUMN(size, TROD_COL_SIZE),
    COLUMN(stream, TROD_COL_STREAM),
    COLUMN(time, TROD_COL_TIME),
    COLUMN(unit, TROD_COL_UNIT),
    COLUMN(index, TROD_COL_INDEX),
    COLUMN(addr, TROD_COL_ADDR),
    COLUMN(paddr, TROD_COL_PADDR),
    COLUMN(pc, TROD_COL_PC),
    COLUMN(target, TROD_COL_TARGET),
    COLUMN(value, TROD_COL_VALUE),
    COLUMN(sub, TROD_COL_SUB),
    COLUMN(site, TROD_COL_SITE),
    COLUMN(code, TROD_COL_CODE),
    COLUMN(data, TROD_COL_DATA),
    COLUMN(text, TROD_COL_TEXT),
    COLUMN(detail, TROD_COL_DETAIL),
    COLUMN(raw, TROD_COL_RAW),
    COLUMN(core, TROD_COL_CORE),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static uint8_t *column_at(const struct trod_batch *b, const struct column *c)
{
    uint8_t *p;

    memcpy(&p, (const uint8_t *)b + c->field, sizeof p);
    return p;
}

static void column_set(struct trod_batch *b, const struct column *c, uint8_t *p)
{
    memcpy((uint8_t *)b + c->field, &p, sizeof p);
}

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Whether rows of B carry column C (has always is there). */
static bool carries(const struct trod_batch *b, const struct column *c)
{
    return c->bit == 0 || (b->have & c->bit);
}

static void own_free(struct trod_batch_own *own)
{
    if (own && own->mapped)
        munmap(own, own->bytes);
    else if (own)
        trod_spare_give(own, own->bytes);
}

/*
 * Memory of large batches is used again (core/spare.h), and not cleared; that of small ones, of
 * which there are thousands, is a block of pages that are made when they are touched: not malloc's,
 * which may have been others' and are there.
 */
int trod_batch_new(struct trod_batch **out, uint32_t cap)
{
    struct trod_batch *b;
    struct trod_batch_own *own;
    const size_t apart = cap > STAGGER_FROM ? STAGGER : 0;
    size_t total = ALIGN;
    uint8_t *p;
    bool small;

    *out = NULL;
    if (cap == 0 || cap > TROD_BATCH_ROWS)
        return TROD_ERR_USAGE;
    b = calloc(1, sizeof *b);
    if (!b)
        return TROD_ERR_NOMEM;
    for (int i = 0; i < N_COLUMNS; i++)
        total += aligned(cap * columns[i].size) + apart;
    small = total < SPARE_FROM;
    total += aligned(cap * sizeof(uint32_t)); /* trod_origin.rows */
    total += TROD_POOL_BYTES + ALIGN;
    if (small)
        total = trod_mapped(total, TROD_PAGE);
    b->own = own = small ? trod_map(total) : trod_spare_take(total);
    if (!own) {
        free(b);
        return TROD_ERR_NOMEM;
    }
    *own = (struct trod_batch_own){.bytes = total, .mapped = small};
    p = (uint8_t *)trod_batch_rows_room(b) + aligned(cap * sizeof(uint32_t));
    for (int i = 0; i < N_COLUMNS; i++) {
        column_set(b, &columns[i], p);
        p += aligned(cap * columns[i].size) + apart;
    }
    b->pool = p;
    b->pool_cap = TROD_POOL_BYTES;
    b->cap = cap;
    b->want = TROD_COL_ALL;
    *out = b;
    return TROD_OK;
}

void trod_batch_free(struct trod_batch *b)
{
    if (b)
        own_free(b->own);
    free(b);
}

void trod_batch_clear(struct trod_batch *b)
{
    b->n = 0;
    trod_origin_none(b);
    b->have = 0;
    b->pool_n = 0;
    b->bytes = NULL;
    b->bytes_n = 0;
    b->streaks = NULL;
}

static void keep_column(uint8_t *p, size_t size, const uint8_t *keep, uint32_t n)
{
    uint32_t to = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (to != i)
            memcpy(p + to * size, p + i * size, size);
        to += keep[i] != 0;
    }
}

/*
 * Rows of a record that is kept in part are to be encoded, not copied: take raw from them, and the
 * mark of continuation from the first one left.
 */
static void part_records(struct trod_batch *b, const uint8_t *keep)
{
    if (!(b->have & TROD_COL_FLAGS))
        return;
    for (uint32_t from = 0, to; from < b->n; from = to) {
        bool all = keep[from], any = keep[from];

        for (to = from + 1; to < b->n && (b->flags[to] & TROD_F_CONT); to++) {
            all = all && keep[to];
            any = any || keep[to];
        }
        if (all || !any)
            continue;
        for (uint32_t i = from, first = 1; i < to; i++) {
            b->has[i] &= ~(uint32_t)TROD_COL_RAW;
            if (keep[i] && first) {
                b->flags[i] &= ~(uint32_t)TROD_F_CONT;
                first = 0;
            }
        }
    }
}

/* Which rows of B those that KEEP says are, as it remembers them. NULL: it does not. */
static uint32_t *kept_rows(const struct trod_batch *b, const uint8_t *keep)
{
    const uint32_t *before = trod_origin_of(b).rows;
    uint32_t *rows = b->own ? trod_batch_rows_room(b) : NULL;

    for (uint32_t i = 0, n = 0; rows && i < b->n; i++)
        if (keep[i])
            rows[n++] = before ? before[i] : i;
    return rows;
}

uint32_t trod_batch_keep(struct trod_batch *b, const uint8_t *keep)
{
    uint32_t *rows;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->n; i++)
        kept += keep[i] != 0;
    if (kept == b->n)
        return kept;
    part_records(b, keep);
    rows = kept_rows(b, keep);
    for (int i = 0; i < N_COLUMNS && kept; i++)
        if (carries(b, &columns[i]))
            keep_column(column_at(b, &columns[i]), columns[i].size, keep, b->n);
    b->n = kept;
    b->streaks = NULL;
    trod_batch_changed(b);
    if (rows)
        ((struct trod_batch_own *)b->own)->source.rows = rows;
    return kept;
}

void trod_batch_view(struct trod_batch *view, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    *view = *b;
    for (int i = 0; i < N_COLUMNS; i++)
        column_set(view, &columns[i], column_at(b, &columns[i]) + from * columns[i].size);
    view->n = n;
    view->cap = n;
    view->first = n ? trod_origin_row(b, from) : b->first + from;
    view->own = NULL;
    view->streaks = NULL;
}

const struct trod_batch *trod_batch_rows(struct trod_batch *view, const struct trod_batch *b,
                                         uint32_t from, uint32_t to)
{
    if (from == 0 && to == b->n)
        return b;
    trod_batch_view(view, b, from, to - from);
    return view;
}

/* Copy slice *S of SRC into DST's pool. False when it does not fit. */
static bool append_slice(struct trod_batch *dst, const struct trod_batch *src, struct trod_slice *s)
{
    const uint8_t *from = trod_batch_bytes(src, *s);
    struct trod_slice to = {0, 0};
    void *p;

    if (s->len == 0)
        return true;
    p = trod_batch_pool(dst, s->len, &to);
    if (!p)
        return false;
    memcpy(p, from, s->len);
    *s = to;
    return true;
}

/* Copy the slices inside the detail struct of row ROW of DST, itself copied already. */
static bool append_inner(struct trod_batch *dst, const struct trod_batch *src, uint32_t row)
{
    uint32_t len = dst->detail[row].len, kind = src->have & TROD_COL_KIND ? dst->kind[row] : 0;
    struct trod_slice s;
    size_t at;

    for (unsigned i = 0; len && (at = trod_detail_slice(kind, len, i)) != 0; i++) {
        /* the pool does not move: the struct stays where it is while slices are added behind it */
        uint8_t *p = dst->pool + (dst->detail[row].off & ~(uint32_t)TROD_SLICE_POOL) + at;

        memcpy(&s, p, sizeof s);
        if (!append_slice(dst, src, &s))
            return false;
        memcpy(p, &s, sizeof s);
    }
    return true;
}

/* Copy the slices of row ROW of DST, which still point into SRC. */
static bool append_slices(struct trod_batch *dst, const struct trod_batch *src, uint32_t row)
{
    struct trod_slice *const lists[] = {dst->code, dst->data, dst->text, dst->detail, dst->raw};
    const uint32_t bits[] = {TROD_COL_CODE, TROD_COL_DATA, TROD_COL_TEXT, TROD_COL_DETAIL,
                             TROD_COL_RAW};

    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if ((src->have & dst->has[row] & bits[i]) && !append_slice(dst, src, &lists[i][row]))
            return false;
    return !(src->have & dst->has[row] & TROD_COL_DETAIL) || append_inner(dst, src, row);
}

/* Rows [FROM, FROM + N) of SRC behind the rows of DST, slices as they are in SRC. */
static void append_columns(struct trod_batch *dst, const struct trod_batch *src, uint32_t from,
                           uint32_t n)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        const struct column *c = &columns[i];

        if (carries(src, c))
            memcpy(column_at(dst, c) + dst->n * c->size, column_at(src, c) + from * c->size,
                   n * c->size);
    }
}

/*
 * Slice *S of B points into the pool, or (SHARED) not into what is the driver's. False: it does not
 * fit there.
 */
static bool own_slice(struct trod_batch *b, struct trod_slice *s, bool shared)
{
    const bool other = shared ? (s->off & TROD_SLICE_SHARED) != 0 : !(s->off & TROD_SLICE_POOL);

    return s->len == 0 || !other || append_slice(b, b, s);
}

/* What details are looked at, of those that follow each other: PLAIN have no slices inside. */
struct detail_seen {
    uint32_t kind, len;
    bool plain;
};

/* Are there slices inside the detail struct of row I, itself in the pool and not in the window? */
static bool has_inner(const struct trod_batch *b, uint32_t i, struct detail_seen *seen)
{
    const uint32_t kind = b->have & TROD_COL_KIND ? b->kind[i] : 0, len = b->detail[i].len;

    if (len == 0 || !(b->detail[i].off & TROD_SLICE_POOL))
        return false;
    if (seen->kind != kind || seen->len != len)
        *seen = (struct detail_seen){kind, len, trod_detail_slice(kind, len, 0) == 0};
    return !seen->plain;
}

/* Those slices. */
static bool own_inner(struct trod_batch *b, uint32_t i, bool shared, struct detail_seen *seen)
{
    uint8_t *p = b->pool + (b->detail[i].off & ~(uint32_t)TROD_SLICE_POOL);
    struct trod_slice s;
    size_t at;

    if (!has_inner(b, i, seen))
        return true;
    for (unsigned k = 0; (at = trod_detail_slice(seen->kind, seen->len, k)); k++) {
        memcpy(&s, p + at, sizeof s);
        if (!own_slice(b, &s, shared))
            return false;
        memcpy(p + at, &s, sizeof s);
    }
    return true;
}

static bool own_slices(struct trod_batch *b, uint32_t wanted, bool shared)
{
    struct trod_slice *const lists[] = {b->code, b->data, b->text, b->raw, b->detail};
    const uint32_t bits[] = {TROD_COL_CODE, TROD_COL_DATA, TROD_COL_TEXT, TROD_COL_RAW,
                             TROD_COL_DETAIL};
    struct detail_seen seen = {.plain = true};

    trod_batch_changed_in(b, wanted);
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        if (!(b->have & wanted & bits[k])) {
            b->have &= shared ? UINT32_MAX : ~bits[k]; /* the window stays */
            continue;
        }
        for (uint32_t i = 0; i < b->n; i++)
            if ((b->has[i] & bits[k]) &&
                !(own_slice(b, &lists[k][i], shared) &&
                  (bits[k] != TROD_COL_DETAIL || own_inner(b, i, shared, &seen))))
                return false;
    }
    return true;
}

bool trod_batch_own(struct trod_batch *b, uint32_t wanted)
{
    return own_slices(b, wanted, false);
}

static uint32_t shared_end(struct trod_slice s, uint32_t end)
{
    const uint32_t to = (s.off & ~(uint32_t)TROD_SLICE_SHARED) + s.len;

    return s.len && (s.off & TROD_SLICE_SHARED) && to > end ? to : end;
}

/* The same of the slices inside the detail struct of row I. */
static uint32_t inner_end(const struct trod_batch *b, uint32_t i, struct detail_seen *seen,
                          uint32_t end)
{
    const uint8_t *p = b->pool + (b->detail[i].off & ~(uint32_t)TROD_SLICE_POOL);
    struct trod_slice s;
    size_t at;

    if (!has_inner(b, i, seen))
        return end;
    for (unsigned k = 0; (at = trod_detail_slice(seen->kind, seen->len, k)); k++) {
        memcpy(&s, p + at, sizeof s);
        end = shared_end(s, end);
    }
    return end;
}

size_t trod_batch_shared_end(const struct trod_batch *b)
{
    const struct trod_slice *const lists[] = {b->code, b->data, b->text, b->detail};
    const uint32_t bits[] = {TROD_COL_CODE, TROD_COL_DATA, TROD_COL_TEXT, TROD_COL_DETAIL};
    struct detail_seen seen = {.plain = true};
    const struct trod_batch_own *own = b->own;
    uint32_t end = 0;

    if (own && own->shared_n)
        return own->shared_n;
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
        for (uint32_t i = 0; (b->have & bits[k]) && i < b->n; i++) {
            if (!(b->has[i] & bits[k]))
                continue;
            end = shared_end(lists[k][i], end);
            if (bits[k] == TROD_COL_DETAIL)
                end = inner_end(b, i, &seen, end);
        }
    return end;
}

bool trod_batch_own_followed(struct trod_batch *b, uint32_t followed)
{
    const uint32_t have = b->have;
    const uint8_t *note = followed & have & TROD_COL_RAW ? NULL : b->kind;
    bool all = own_slices(b, followed, false);

    b->have = have;
    while (all && (have & TROD_COL_RAW) && note &&
           (note = memchr(note, TROD_NOTE, (size_t)(b->kind + b->n - note)))) {
        const uint32_t i = (uint32_t)(note++ - b->kind);

        all = !(b->has[i] & TROD_COL_RAW) || own_slice(b, &b->raw[i], false);
    }
    if (all) {
        b->bytes = b->shared = NULL;
        b->bytes_n = 0;
    }
    return all;
}

bool trod_batch_own_window(struct trod_batch *b, const uint8_t *window)
{
    b->bytes = window;
    return !b->shared || own_slices(b, TROD_COL_ALL & ~(uint32_t)TROD_COL_RAW, true);
}

/* N elements of SIZE bytes from FROM on become TO and every STRIDE-th behind it. */
static inline void scatter(uint8_t *to, const uint8_t *from, uint32_t n, uint32_t stride,
                           size_t size)
{
    const size_t step = stride * size;

    if (stride == 1) {
        memcpy(to, from, n * size);
        return;
    }
    for (; n >= 4; n -= 4, from += 4 * size, to += 4 * step) {
        memcpy(to, from, size);
        memcpy(to + step, from + size, size);
        memcpy(to + 2 * step, from + 2 * size, size);
        memcpy(to + 3 * step, from + 3 * size, size);
    }
    for (; n > 0; n--, from += size, to += step)
        memcpy(to, from, size);
}

/* Column C of rows. The sizes are known: no call for an element. */
static void scatter_column(struct trod_batch *dst, uint32_t to, uint32_t stride,
                           const struct trod_batch *src, uint32_t from, uint32_t n,
                           const struct column *c)
{
    uint8_t *into = column_at(dst, c) + to * c->size;
    const uint8_t *of = column_at(src, c) + from * c->size;

    switch (c->size) {
    case 1:
        scatter(into, of, n, stride, 1);
        break;
    case 2:
        scatter(into, of, n, stride, 2);
        break;
    case 4:
        scatter(into, of, n, stride, 4);
        break;
    default:
        scatter(into, of, n, stride, 8);
        break;
    }
}

bool trod_batch_scatter(struct trod_batch *dst, uint32_t to, uint32_t stride,
                        const struct trod_batch *src, uint32_t from, uint32_t n, uint32_t wanted)
{
    const uint32_t slices =
        TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW;
    const uint32_t always = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM; /* has or not */
    uint32_t *has = dst->has + to, says = 0;

    wanted &= src->have & ~(uint32_t)TROD_COL_CORE;
    for (uint32_t i = 0; i < n; i++, has += stride) {
        const uint32_t row = src->has[from + i] & wanted;

        *has = row | TROD_COL_CORE;
        says |= row;
    }
    dst->have |= wanted;
    dst->meta = src->meta;
    says |= wanted & always;
    for (uint32_t left = says; left; left &= left - 1)
        scatter_column(dst, to, stride, src, from, n, &columns[1 + __builtin_ctz(left)]);
    for (uint32_t i = 0; says & slices && i < n; i++)
        if (!append_slices(dst, src, to + i * stride))
            return false;
    return true;
}

/* Which rows of SRC the N from row FROM on are, that become the last of DST. */
static void append_rows(struct trod_batch *dst, const struct trod_batch *src, uint32_t from,
                        uint32_t n)
{
    const bool thinned = trod_origin_of(dst).rows || trod_origin_of(src).rows;
    uint32_t *rows = thinned && dst->own ? trod_batch_rows_room(dst) : NULL;

    for (uint32_t i = 0; rows && !trod_origin_of(dst).rows && i < dst->n; i++)
        rows[i] = i;
    for (uint32_t i = 0; rows && i < n; i++)
        rows[dst->n + i] = (uint32_t)(trod_origin_row(src, from + i) - dst->first);
    trod_batch_changed(dst);
    if (rows)
        ((struct trod_batch_own *)dst->own)->source.rows = rows;
}

/* How many of N rows that have HAS, up to the first with a column of MASK, have none of them. */
static uint32_t rows_without(const uint32_t *has, uint32_t n, uint32_t mask)
{
    enum { AT_ONCE = 64 };
    uint32_t i = 0;

    if (mask == 0)
        return n;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        uint32_t any = 0;

        for (uint32_t k = 0; k < AT_ONCE; k++)
            any |= has[i + k];
        if (any & mask)
            break;
    }
    while (i < n && !(has[i] & mask))
        i++;
    return i;
}

uint32_t trod_batch_append(struct trod_batch *dst, const struct trod_batch *src, uint32_t from,
                           uint32_t n)
{
    const uint32_t slices = src->have & (TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT |
                                         TROD_COL_DETAIL | TROD_COL_RAW);
    uint32_t done = 0;

    if (n > dst->cap - dst->n)
        n = dst->cap - dst->n;
    append_rows(dst, src, from, n);
    dst->have |= src->have;
    dst->meta = src->meta;
    append_columns(dst, src, from, n);
    while (done < n) {
        const uint32_t pool_n = dst->pool_n;

        done += rows_without(dst->has + dst->n + done, n - done, slices);
        if (done == n)
            break;
        if (!append_slices(dst, src, dst->n + done)) {
            dst->pool_n = pool_n;
            break;
        }
        done++;
    }
    dst->n += done;
    return done;
}
