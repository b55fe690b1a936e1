/*
 * touch.c - which bytes of memory the block that is being indexed touches. Implements tally.h.
 */
#include "navigate/tally.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 1 << 12,
    LARGE = 1 << 14, /* places of a table that is larger than caches are near */
    AHEAD = 12       /* rows whose lines are loaded before they are needed */
};

int nav_touch_init(struct nav_touch *t, bool big)
{
    memset(t, 0, sizeof *t);
    t->big = big;
    t->turn = 1;
    t->line_mask = FIRST - 1;
    t->line = calloc(FIRST, sizeof *t->line);
    return t->line ? nav_memory_init(&t->memory) : TROD_ERR_NOMEM;
}

void nav_touch_fini(struct nav_touch *t)
{
    nav_memory_fini(&t->memory);
    free(t->line);
    t->line = NULL;
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct nav_tally_line *line_place(struct nav_tally_line *table, uint32_t mask, uint32_t turn,
                                         uint64_t key)
{
    for (uint32_t at = hash(key);; at++) {
        struct nav_tally_line *l = &table[at & mask];

        if (l->turn != turn || l->key == key)
            return l;
    }
}

static int grow_lines(struct nav_touch *t)
{
    const uint32_t mask = 2 * t->line_mask + 1;
    struct nav_tally_line *table = calloc((size_t)mask + 1, sizeof *table);

    if (!table)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= t->line_mask; i++)
        if (t->line[i].turn == t->turn)
            *line_place(table, mask, t->turn, t->line[i].key) = t->line[i];
    free(t->line);
    t->line = table;
    t->line_mask = mask;
    t->last = NULL;
    return TROD_OK;
}

/* The line of KEY. NULL: no memory. */
static struct nav_tally_line *line_of(struct nav_touch *t, uint64_t key)
{
    struct nav_tally_line *l = t->last;

    if (!l || l->key != key) {
        if (2 * t->n_lines > t->line_mask && grow_lines(t) < 0)
            return NULL;
        l = t->last = line_place(t->line, t->line_mask, t->turn, key);
        if (l->turn != t->turn) {
            *l = (struct nav_tally_line){.key = key, .turn = t->turn};
            t->n_lines++;
        }
    }
    l->steps |= 1u << t->step;
    return l;
}

static int touch(struct nav_touch *t, uint64_t key, uint64_t mask, const struct nav_access *a)
{
    struct nav_tally_line *l = line_of(t, key);

    if (!l)
        return TROD_ERR_NOMEM;
    if (a->writes)
        l->written |= mask;
    if (a->reads)
        l->read |= mask;
    return TROD_OK;
}

/* Bytes FROM to FROM + N of access A, at most eight, which lie at byte K of a line. */
static struct nav_memory_part part(const struct nav_access *a, uint32_t from, unsigned n,
                                   unsigned k, uint32_t row)
{
    struct nav_memory_part out = {.row = row, .at = (uint8_t)k, .write = a->writes};

    if (!a->writes && !a->values)
        return out;
    for (unsigned i = 0; i < n; i++) {
        uint8_t value = 0;
        const int known = nav_access_byte(a, from + i, &value);

        if (known < 0 || (!a->writes && !known))
            continue;
        out.bytes |= (uint8_t)(1u << i);
        out.known |= (uint8_t)((unsigned)known << i);
        out.value |= (uint64_t)value << (8 * i);
    }
    return out;
}

/* Any access. */
static int access(struct nav_touch *t, const struct nav_access *a, uint32_t row)
{
    uint64_t at = a->addr;
    uint32_t done = 0;
    int rc = TROD_OK;

    t->valued |= a->values && !a->writes;
    t->valueless |= !a->values && !a->writes;
    if (a->size > NAV_WIDE || (a->size > NAV_LONG && t->n_lines >= NAV_MANY)) {
        if (a->writes || a->values)
            t->memory.whole = false;
        return touch(t, NAV_ANY_LINE, UINT64_MAX, a);
    }
    while (rc == TROD_OK && done < a->size) {
        const unsigned k = at % NAV_LINE;
        const uint32_t left = a->size - done, room = left < NAV_LINE - k ? left : NAV_LINE - k,
                       n = room < 8 ? room : 8;

        rc = touch(t, at / NAV_LINE, ((UINT64_C(1) << n) - 1) << k, a);
        if (rc == TROD_OK)
            rc = nav_memory_put(&t->memory, at / NAV_LINE, &t->last->memory,
                                part(a, done, n, k, row));
        at += n;
        done += n;
    }
    return rc;
}

/* An access that leaves nothing (it is aborted, or of unknown size) is there to be found as well.
 */
static int passing(struct nav_touch *t, const struct trod_batch *b, uint32_t i)
{
    const struct nav_access a = {.reads = b->kind[i] != TROD_WRITE,
                                 .writes = b->kind[i] != TROD_READ};
    const uint64_t size = nav_has(b, i, TROD_COL_SIZE) && b->size[i] ? b->size[i] : 1;
    uint64_t at, last;
    int rc = TROD_OK;

    if (!nav_has(b, i, TROD_COL_ADDR | TROD_COL_PADDR))
        return rc;
    t->no_effect = true;
    at = nav_has(b, i, TROD_COL_ADDR) ? b->addr[i] : b->paddr[i];
    last = at > UINT64_MAX - (size - 1) ? UINT64_MAX : at + (size - 1);
    if (size > NAV_LONG)
        return touch(t, NAV_ANY_LINE, UINT64_MAX, &a);
    for (at /= NAV_LINE; rc == TROD_OK && at <= last / NAV_LINE; at++)
        rc = touch(t, at, UINT64_MAX, &a);
    return rc;
}

/* Most accesses: up to eight bytes of a line, all of which are as they are said. */
static bool is_short(const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i],
                   odd = TROD_F_ABORTED | TROD_F_UNKNOWN | TROD_F_PARTIAL;

    return (has & (TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_DATA)) ==
               (TROD_COL_ADDR | TROD_COL_SIZE) &&
           b->kind[i] != TROD_ATOMIC && b->size[i] - 1 < 8 &&
           b->addr[i] % NAV_LINE + b->size[i] <= NAV_LINE &&
           !(has & TROD_COL_FLAGS && b->flags[i] & odd);
}

static int short_access(struct nav_touch *t, const struct trod_batch *b, uint32_t i, uint32_t row)
{
    const uint64_t key = b->addr[i] / NAV_LINE;
    const unsigned k = b->addr[i] % NAV_LINE, bytes = 0xffu >> (8 - b->size[i]);
    const bool write = b->kind[i] == TROD_WRITE, value = nav_has(b, i, TROD_COL_VALUE);
    struct nav_tally_line *l = line_of(t, key);
    struct nav_memory_part a = {.row = row, .at = (uint8_t)k, .write = write};

    if (!l)
        return TROD_ERR_NOMEM;
    if (write)
        l->written |= (uint64_t)bytes << k;
    else
        l->read |= (uint64_t)bytes << k;
    t->valueless |= !value && !write;
    if (!value && !write)
        return TROD_OK;
    a.bytes = (uint8_t)bytes;
    t->valued |= value && !write;
    if (value) {
        a.known = a.bytes;
        a.value = t->big ? __builtin_bswap64(b->value[i]) >> (64 - 8 * b->size[i]) : b->value[i];
    }
    return nav_memory_put(&t->memory, key, &l->memory, a);
}

int nav_touch_rows(struct nav_touch *t, const struct trod_batch *b, uint32_t row)
{
    const uint32_t kinds = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < b->n; i++) {
        struct nav_access a;

        if (!(kinds >> b->kind[i] & 1))
            continue;
        if (t->line_mask >= LARGE && i + AHEAD < b->n)
            __builtin_prefetch(&t->line[hash(b->addr[i + AHEAD] / NAV_LINE) & t->line_mask], 1);
        if (is_short(b, i))
            rc = short_access(t, b, i, row + i);
        else if (nav_access_of(b, i, t->big, &a))
            rc = access(t, &a, row + i);
        else
            rc = passing(t, b, i);
    }
    return rc;
}

int nav_touch_end(struct nav_touch *t, uint32_t block, struct nav_postings *lines)
{
    const int rc = nav_postings_room(lines, t->n_lines);

    for (uint32_t i = 0; rc == TROD_OK && i <= t->line_mask; i++) {
        const struct nav_tally_line *l = &t->line[i];

        if (l->turn == t->turn)
            lines->at[lines->n++] =
                (struct nav_posting){l->key, block, l->steps, l->written, l->read};
    }
    t->n_lines = 0;
    t->last = NULL;
    t->turn++;
    return rc;
}
