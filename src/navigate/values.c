/*
 * values.c - filters of the numbers that rows hold. Implements values.h.
 *
 * As bloom.c, but by block: what is put in is the number with the step of the block. A filter is
 * made as large as the block may need and then folded: the upper half of its parts is added to the
 * lower one, as long as few enough bits are set. So blocks that repeat themselves take less.
 * A section: CRC-32C of what follows up to the parts, number of blocks (0: none has a filter),
 * for each its number of parts (32 bits each); parts: 512 bytes of bits, their CRC-32C.
 */
#include "navigate/values.h"

#include "core/endian.h"
#include "core/grow.h"
#include "io/crc32c.h"
#include "navigate/often.h"

#include <stdlib.h>
#include <string.h>

enum {
    DATA = NAV_VALUES_BITS / 8,
    WORDS = NAV_VALUES_BITS / 64,
    PART = DATA + 4,
    HEAD = 8,
    BITS_A_ROW = 12, /* at least, before folding */
    MOST = 1 << 12,  /* parts */
    FULL = 250       /* of 1000 bits, set after the last folding: a wrong answer in 1000 */
};

int nav_values_init(struct nav_values *v, uint64_t block_rows)
{
    memset(v, 0, sizeof *v);
    v->parts = 1;
    while (v->parts < MOST && (uint64_t)v->parts * NAV_VALUES_BITS < BITS_A_ROW * block_rows)
        v->parts *= 2;
    v->bits = calloc((size_t)v->parts * WORDS, sizeof *v->bits);
    v->counter = calloc(NAV_VALUES_COUNTERS, sizeof *v->counter);
    v->often = nav_often_new();
    return v->bits && v->counter && v->often ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_values_fini(struct nav_values *v)
{
    free(v->bits);
    free(v->all);
    free(v->counter);
    nav_often_free(v->often);
    v->bits = NULL;
    v->all = NULL;
    v->counter = NULL;
    v->often = NULL;
    trod_buf_fini(&v->table);
    trod_buf_fini(&v->parts_of);
}

/* Of 1000 bits of the N first parts so many are set, by some of them. */
static uint64_t filled(const struct nav_values *v, uint32_t n)
{
    enum { SOME = 16 };
    const uint32_t apart = n > SOME ? n / SOME : 1;
    uint64_t set = 0;

    for (uint32_t i = 0; i < n; i += apart)
        for (size_t k = 0; k < WORDS; k++)
            set += (unsigned)__builtin_popcountll(v->bits[(size_t)i * WORDS + k]);
    return 1000 * set / (n / apart * (uint64_t)NAV_VALUES_BITS);
}

/* The parts that are left. Of independent bits, each set with P, two folded are with 2P - P*P. */
static uint32_t fold(struct nav_values *v)
{
    uint32_t parts = v->parts;

    while (parts > 1) {
        const size_t half = (size_t)parts / 2 * WORDS;
        const uint64_t set = filled(v, parts);

        if (2 * set - set * set / 1000 > FULL)
            break;
        for (size_t i = 0; i < half; i++)
            v->bits[i] |= v->bits[half + i];
        parts /= 2;
    }
    return parts;
}

/* The numbers from FIRST on to the filter; how many there are of each is counted, about. */
static void filter(struct nav_values *v, size_t first)
{
    struct nav_values own = *v; /* what is put in cannot change it */

    for (size_t i = first; i < own.n_all; i++) {
        const uint64_t h = nav_values_hash(own.all[i].value);
        uint16_t *n = &own.counter[nav_often_counter(h)];

        nav_values_add(&own, h, own.all[i].step);
        *n = (uint16_t)(*n + (*n < NAV_VALUES_OFTEN));
    }
}

int nav_values_rows(struct nav_values *v, const struct trod_batch *b, unsigned step)
{
    const size_t before = v->n_all;
    uint32_t has = 0;
    size_t n = before;

    for (uint32_t i = 0; i < b->n; i++)
        has |= b->has[i];
    if (!(b->have & has & TROD_COL_VALUE))
        return TROD_OK;
    if (!trod_grow(&v->all, n + b->n, &v->cap_all, sizeof *v->all, 2 * TROD_BATCH_ROWS))
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->has[i] & TROD_COL_VALUE)
            v->all[n++] = (struct nav_number){b->value[i], b->kind[i], (uint8_t)step};
    v->n_all = n;
    if (n > NAV_VALUES_FEW) {
        filter(v, v->many ? before : 0);
        v->many = true;
    }
    return TROD_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct nav_number *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value ? 1 : x->kind - y->kind;
}

/* The few of BLOCK to LIST: each number once for each kind of row. */
static int list_few(struct nav_values *v, uint32_t block, struct nav_postings *list)
{
    struct nav_posting *last = NULL;

    if (v->n_all)
        qsort(v->all, v->n_all, sizeof *v->all, by_number);
    for (size_t i = 0; i < v->n_all; i++) {
        const struct nav_number *n = &v->all[i];

        if (!last || last->key != n->value || last->b != 1u << n->kind) {
            if (nav_postings_add(list, n->value, block, 0, 0) < 0)
                return TROD_ERR_NOMEM;
            last = &list->at[list->n - 1];
        }
        last->a++;
        last->b = 1u << n->kind;
        last->steps |= 1u << n->step;
    }
    return 1;
}

int nav_values_end(struct nav_values *v, uint32_t block, struct nav_postings *list)
{
    const uint32_t parts = v->many ? fold(v) : 0;
    uint8_t entry[4], *p;
    const int rc = v->many ? nav_often_list(v->often, v, block, list) : list_few(v, block, list);

    v->n_all = 0;
    if (rc < 0)
        return rc;
    trod_store_le32(entry, parts);
    if (trod_buf_add(&v->table, entry, sizeof entry) < 0 ||
        trod_buf_reserve(&v->parts_of, (size_t)parts * PART) < 0)
        return TROD_ERR_NOMEM;
    if (!v->many)
        return rc;
    p = v->parts_of.p + v->parts_of.n;
    for (size_t i = 0; i < (size_t)parts; i++, p += PART) {
        for (size_t k = 0; k < WORDS; k++)
            trod_store_le64(p + 8 * k, v->bits[i * WORDS + k]);
        trod_store_le32(p + DATA, trod_crc32c(p, DATA));
    }
    v->parts_of.n += (size_t)parts * PART;
    memset(v->bits, 0, (size_t)v->parts * WORDS * sizeof *v->bits);
    memset(v->counter, 0, NAV_VALUES_COUNTERS * sizeof *v->counter);
    v->many = false;
    return 0;
}

int nav_values_save(struct nav_values *v, struct trod_buf *out)
{
    const size_t at = out->n, blocks = v->parts_of.n ? v->table.n : 0;
    const uint8_t head[HEAD] = {0};
    int rc = trod_buf_add(out, head, sizeof head);

    if (rc == TROD_OK)
        rc = trod_buf_add(out, v->table.p, blocks);
    if (rc == TROD_OK) {
        trod_store_le32(out->p + at + 4, (uint32_t)(blocks / 4));
        trod_store_le32(out->p + at, trod_crc32c(out->p + at + 4, HEAD - 4 + blocks));
        rc = trod_buf_add(out, v->parts_of.p, v->parts_of.n);
    }
    v->table.n = v->parts_of.n = 0;
    return rc;
}

/* Section S of X is not what it was, which is noted where sums are looked at. */
static int damaged(const struct nav_index *x, const struct nav_section *s)
{
    nav_index_check(x, s);
    return TROD_ERR_CORRUPT;
}

/* Steps that may have a number of hash H, of a block whose filter of N parts is at P; an error. */
static int steps_of(const struct nav_index *x, const struct nav_section *section, const uint8_t *p,
                    uint32_t n, uint64_t h)
{
    unsigned steps = 0;

    p += (size_t)PART * nav_values_part(h, n);
    if (nav_index_check_part(x, section, p, DATA, trod_load_le32(p + DATA)) < 0)
        return TROD_ERR_CORRUPT;
    for (unsigned step = 0; step < NAV_STEPS; step++) {
        uint64_t probes = nav_values_probes(h, step);
        unsigned there = 1;

        for (unsigned i = 0; i < NAV_VALUES_PROBES; i++, probes >>= 12)
            there &= p[probes >> 3 & (DATA - 1)] >> (probes & 7);
        steps |= (there & 1) << step;
    }
    return (int)steps;
}

int nav_values_only(const struct nav_index *x, const struct nav_segment *s, const uint64_t *numbers,
                    size_t n, uint8_t *step)
{
    const struct nav_section *section = s->values;
    const uint8_t *head, *at;
    size_t left, blocks;

    if (!section)
        return TROD_OK;
    head = x->file + section->offset;
    blocks = section->length < HEAD ? 0 : trod_load_le32(head + 4);
    left = section->length - (section->length < HEAD ? 0 : HEAD);
    if (section->length < HEAD || blocks > left / 4 || (blocks && blocks != s->to - s->from))
        return damaged(x, section);
    if (nav_index_check_directory(x, section, head + 4, HEAD - 4 + 4 * blocks,
                                  trod_load_le32(head)) < 0)
        return TROD_ERR_CORRUPT;
    at = head + HEAD + 4 * blocks;
    left -= 4 * blocks;
    for (uint32_t k = 0; k < s->to - s->from; k++) {
        const uint32_t parts = blocks ? trod_load_le32(head + HEAD + 4 * (size_t)k) : 0;
        unsigned may = 0;

        if (parts & (parts - 1) || parts > left / PART)
            return damaged(x, section);
        for (size_t i = 0; parts && step[k] && i < n; i++) {
            const int rc = steps_of(x, section, at, parts, nav_values_hash(numbers[i]));

            if (rc < 0)
                return rc;
            may |= (unsigned)rc;
        }
        step[k] &= (uint8_t)may;
        at += (size_t)PART * parts;
        left -= (size_t)PART * parts;
    }
    return TROD_OK;
}
