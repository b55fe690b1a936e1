/*
 * values_find.c - rows that hold numbers of some ranges, by the lists of an index. Implements
 * values.h, whose layout values.c describes.
 */
#include "navigate/values.h"

#include "core/endian.h"
#include "core/pack.h"
#include "trod/navigate.h"

/* The section of a segment. */
struct values {
    const struct nav_index *x;
    const struct nav_section *section;
    const uint8_t *list, *page, *data;
    uint32_t n_lists, n_pages;
    size_t bytes; /* of DATA */
    bool few;     /* lists, for so many bytes */
    struct trod_buf room;
};

/* A list of it. */
struct list {
    struct values *of;
    const uint8_t *page;
    uint32_t block, kind, n_pages, rows;
};

/* A number of a page. */
struct number {
    uint64_t value, rows;
    uint32_t steps;
};

/* The section is not what it was, which is noted where sums are looked at. */
static int damaged(const struct values *v)
{
    nav_index_check(v->x, v->section);
    return TROD_ERR_CORRUPT;
}

static int values_of(const struct nav_index *x, const struct nav_segment *s, struct values *out)
{
    const struct nav_section *section = s->values;
    const uint8_t *head;
    size_t left;

    if (!section)
        return TROD_ERR_CORRUPT;
    head = x->file + section->offset;
    out->x = x;
    out->section = section;
    if (section->length < NAV_VALUES_HEAD)
        return damaged(out);
    out->n_lists = trod_load_le32(head + 4);
    out->n_pages = trod_load_le32(head + 8);
    left = section->length - NAV_VALUES_HEAD;
    if (out->n_lists > left / NAV_VALUES_LIST)
        return damaged(out);
    left -= (size_t)NAV_VALUES_LIST * out->n_lists;
    if (out->n_pages > left / NAV_VALUES_ENTRY)
        return damaged(out);
    out->list = head + NAV_VALUES_HEAD;
    out->page = out->list + (size_t)NAV_VALUES_LIST * out->n_lists;
    out->data = out->page + (size_t)NAV_VALUES_ENTRY * out->n_pages;
    out->bytes = left - (size_t)NAV_VALUES_ENTRY * out->n_pages;
    out->few = nav_index_few(out->n_lists, out->bytes);
    return nav_index_check_directory(x, section, head + 4, (size_t)(out->data - head) - 4,
                                     trod_load_le32(head));
}

/* The list at *I, of segment S, whose first page is number *PAGE: both go on to the next one. */
static int next_list(struct values *v, const struct nav_segment *s, uint32_t *i, uint32_t *page,
                     struct list *out)
{
    const uint8_t *p = v->list + (size_t)NAV_VALUES_LIST * (*i)++;

    *out = (struct list){.of = v,
                         .page = v->page + (size_t)NAV_VALUES_ENTRY * *page,
                         .block = trod_load_le32(p),
                         .kind = trod_load_le32(p + 4),
                         .n_pages = trod_load_le32(p + 8),
                         .rows = trod_load_le32(p + 12)};
    if (out->block >= s->to - s->from || out->kind >= TROD_KINDS ||
        out->n_pages > v->n_pages - *page)
        return damaged(v);
    *page += out->n_pages;
    return TROD_OK;
}

static const uint8_t *entry_of(const struct list *l, uint32_t page)
{
    return l->page + (size_t)NAV_VALUES_ENTRY * page;
}

/* How many pages of L begin before V. */
static uint32_t pages_before(const struct list *l, uint64_t v)
{
    uint32_t lo = 0, hi = l->n_pages;

    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;

        if (trod_load_le64(entry_of(l, mid)) < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The bytes of PAGE of L, which are what they were. */
static int open_page(const struct list *l, uint32_t page, struct trod_span *out)
{
    const uint8_t *e = entry_of(l, page);
    const size_t at = trod_load_le32(e + 12), n = trod_load_le32(e + 16) & 0xffff;

    if (at > l->of->bytes || n > l->of->bytes - at)
        return damaged(l->of);
    *out = (struct trod_span){
        .p = nav_index_copy(l->of->x, l->of->data + at, n, l->of->few, &l->of->room), .n = n};
    return nav_index_check_part(l->of->x, l->of->section, out->p, n, trod_load_le32(e + 20));
}

/* The number that IN begins with; NUMBER is the one before. False: there is none. */
static inline bool next_number(struct trod_span *in, struct number *number)
{
    const unsigned head = in->n ? *in->p : NAV_VALUES_BYTES, bytes = head & NAV_VALUES_BYTES;
    uint64_t delta = 0, more;

    if (bytes > 8 || in->n < 1 + (size_t)bytes)
        return false;
    if (in->n >= 1 + 8 && bytes)
        delta = trod_load_le64(in->p + 1) & UINT64_MAX >> (64 - 8 * bytes);
    for (unsigned i = 0; in->n < 1 + 8 && i < bytes; i++)
        delta |= (uint64_t)in->p[1 + i] << 8 * i;
    in->p += 1 + bytes;
    in->n -= 1 + (size_t)bytes;
    number->value += delta;
    number->rows = 1;
    number->steps = 1u << (head >> NAV_VALUES_STEP);
    if (!(head & NAV_VALUES_MORE))
        return true;
    if (!in->n)
        return false;
    number->steps = *in->p++;
    in->n--;
    if (trod_unpack(in, &more) < 0)
        return false;
    number->rows = more + 2;
    return true;
}

/* The rows of L that hold less than V, to *ROWS. */
static int rows_below(const struct list *l, uint64_t v, uint64_t *rows)
{
    const uint32_t pages = pages_before(l, v);
    struct trod_span in;
    struct number number;
    int rc;

    *rows = 0;
    if (pages == 0)
        return TROD_OK;
    if (pages < l->n_pages && trod_load_le64(entry_of(l, pages)) == v) {
        *rows = trod_load_le32(entry_of(l, pages) + 8);
        return TROD_OK;
    }
    *rows = trod_load_le32(entry_of(l, pages - 1) + 8);
    rc = open_page(l, pages - 1, &in);
    number.value = trod_load_le64(entry_of(l, pages - 1));
    while (rc == TROD_OK && in.n) {
        if (!next_number(&in, &number))
            return damaged(l->of);
        if (number.value >= v)
            break;
        *rows += number.rows;
    }
    return rc;
}

int nav_values_count(const struct nav_index *x, const struct nav_segment *s,
                     const struct trod_match_spans *spans, uint64_t *at)
{
    struct values v = {0};
    struct list l;
    uint32_t page = 0;
    int rc = values_of(x, s, &v);

    for (uint32_t i = 0; rc == TROD_OK && i < v.n_lists;) {
        rc = next_list(&v, s, &i, &page, &l);
        for (uint32_t k = 0; rc == TROD_OK && k < spans->n; k++) {
            uint64_t to = l.rows, from;

            rc = rows_below(&l, spans->at[k].lo, &from);
            if (rc == TROD_OK && spans->at[k].hi < UINT64_MAX)
                rc = rows_below(&l, spans->at[k].hi + 1, &to);
            at[TROD_KINDS * (size_t)l.block + l.kind] += to - from;
        }
    }
    trod_buf_fini(&v.room);
    return rc;
}

/* The steps of the rows of PAGE that hold LO to HI, to *STEPS. */
static int steps_of_page(const struct list *l, uint32_t page, uint64_t lo, uint64_t hi,
                         uint8_t *steps)
{
    const uint8_t *e = entry_of(l, page);
    struct number number = {.value = trod_load_le64(e)};
    struct trod_span in;
    int rc;

    if (number.value >= lo && (hi == UINT64_MAX || (page + 1 < l->n_pages &&
                                                    trod_load_le64(e + NAV_VALUES_ENTRY) <= hi))) {
        *steps |= (uint8_t)(trod_load_le32(e + 16) >> 16);
        return TROD_OK;
    }
    rc = open_page(l, page, &in);
    while (rc == TROD_OK && in.n) {
        if (!next_number(&in, &number))
            return damaged(l->of);
        if (number.value > hi)
            break;
        if (number.value >= lo)
            *steps |= (uint8_t)number.steps;
    }
    return rc;
}

int nav_values_steps(const struct nav_index *x, const struct nav_segment *s,
                     const struct trod_match_spans *spans, uint32_t kinds, uint8_t *step)
{
    struct values v = {0};
    struct list l;
    uint32_t page = 0;
    int rc = values_of(x, s, &v);

    for (uint32_t i = 0; rc == TROD_OK && i < v.n_lists;) {
        rc = next_list(&v, s, &i, &page, &l);
        for (uint32_t k = 0; rc == TROD_OK && kinds >> l.kind & 1 && k < spans->n; k++) {
            const uint64_t lo = spans->at[k].lo, hi = spans->at[k].hi;
            const uint32_t before = pages_before(&l, lo);

            for (uint32_t p = before ? before - 1 : 0;
                 rc == TROD_OK && p < l.n_pages && trod_load_le64(entry_of(&l, p)) <= hi; p++)
                rc = steps_of_page(&l, p, lo, hi, &step[l.block]);
        }
    }
    trod_buf_fini(&v.room);
    return rc;
}
