/*
 * memory.c - what the block that is being indexed leaves in memory. Implements memory.h.
 *
 * A block tells of a line in runs of neighbouring bytes that the same row accessed: kind and first
 * byte (2 and 6 bits), number of bytes less one (a byte), row less that of the run before (zigzag,
 * packed), values.
 *
 * What is left out: reads that agree with the last write, which then stands for them; first reads
 * of bytes that were known before, because who asks for bytes at a row before finds what made them
 * known first. "Before" is within the segment, of lines that a table of fixed size remembers: what
 * it has forgotten is told once more.
 */
#include "navigate/memory.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 12 };

int nav_memory_init(struct nav_memory *m)
{
    memset(m, 0, sizeof *m);
    m->mask = FIRST - 1;
    m->whole = true;
    m->turn = 1;
    m->slot = calloc(FIRST, sizeof *m->slot);
    m->known = calloc(NAV_MEMORY_KNOWN, sizeof *m->known);
    return m->slot && m->known ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_memory_fini(struct nav_memory *m)
{
    free(m->slot);
    free(m->line);
    free(m->known);
    trod_buf_fini(&m->told);
    m->slot = NULL;
    m->line = NULL;
    m->known = NULL;
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static uint32_t place(const struct nav_memory *m, uint64_t key)
{
    uint32_t at = hash(key) & m->mask;

    while (m->slot[at] && m->line[m->slot[at] - 1].key != key)
        at = (at + 1) & m->mask;
    return at;
}

static int grow(struct nav_memory *m)
{
    const uint32_t mask = 2 * m->mask + 1;
    uint32_t *slot = calloc((size_t)mask + 1, sizeof *slot);

    if (!slot)
        return TROD_ERR_NOMEM;
    free(m->slot);
    m->slot = slot;
    m->mask = mask;
    for (uint32_t i = 0; i < m->n; i++)
        m->slot[place(m, m->line[i].key)] = i + 1;
    return TROD_OK;
}

static int add_line(struct nav_memory *m, uint64_t key, uint32_t at)
{
    struct nav_memory_line *l;

    if (!trod_grow(&m->line, m->n, &m->cap, sizeof *m->line, 256))
        return TROD_ERR_NOMEM;
    l = &m->line[m->n++];
    l->key = key;
    l->met = l->wrote = l->known = l->read = l->first = 0;
    m->slot[at] = m->n;
    m->last = l;
    return 2 * m->n > m->mask ? grow(m) : TROD_OK;
}

static void one_byte(struct nav_memory_line *l, unsigned k, const struct nav_access *a, uint32_t i,
                     uint32_t row)
{
    const uint64_t bit = UINT64_C(1) << k;
    uint8_t value = 0;
    const int known = nav_access_byte(a, i, &value);

    if (known < 0 || (!a->writes && !known))
        return;
    if (a->writes) {
        l->wrote |= bit;
        l->known = known ? l->known | bit : l->known & ~bit;
        l->read &= ~bit;
        l->write_row[k] = row;
        l->written[k] = value;
    } else {
        l->read |= bit;
        l->read_row[k] = row;
        l->seen[k] = value;
        if (!(l->met & bit)) {
            l->first |= bit;
            l->first_row[k] = row;
            l->found[k] = value;
        }
    }
    l->met |= bit;
}

/* Bytes I to I + N of an access whose value is known, in memory order, at byte K of L. */
static void plain(struct nav_memory_line *l, unsigned k, const struct nav_access *a,
                  const uint8_t *value, uint32_t n, uint32_t row)
{
    const uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << k;

    if (a->writes) {
        l->wrote |= mask;
        l->known |= mask;
        l->read &= ~mask;
        for (uint32_t i = 0; i < n; i++)
            l->write_row[k + i] = row;
        memcpy(l->written + k, value, n);
    } else {
        l->read |= mask;
        for (uint32_t i = 0; i < n; i++)
            l->read_row[k + i] = row;
        memcpy(l->seen + k, value, n);
        for (uint64_t fresh = mask & ~l->met; fresh; fresh &= fresh - 1) {
            const unsigned at = (unsigned)__builtin_ctzll(fresh);

            l->first_row[at] = row;
            l->found[at] = value[at - k];
        }
        l->first |= mask & ~l->met;
    }
    l->met |= mask;
}

int nav_memory_access(struct nav_memory *m, const struct nav_access *a, uint32_t row)
{
    const bool simple = a->values && !a->unknown && !a->unwritten && !a->big;
    uint64_t at = a->addr;

    if (!m->whole || (!a->writes && !a->values))
        return TROD_OK;
    for (uint32_t done = 0, n; done < a->size; done += n, at += n) {
        const unsigned k = at % NAV_LINE;

        n = a->size - done < NAV_LINE - k ? a->size - done : NAV_LINE - k;
        if (!m->last || m->last->key != at / NAV_LINE) {
            const uint32_t slot = place(m, at / NAV_LINE);

            if (m->slot[slot]) {
                m->last = &m->line[m->slot[slot] - 1];
            } else if (m->n == NAV_MEMORY_LINES) {
                m->whole = false;
                return TROD_OK;
            } else if (add_line(m, at / NAV_LINE, slot) < 0) {
                return TROD_ERR_NOMEM;
            }
        }
        if (simple)
            plain(m->last, k, a, a->value + done, n, row);
        else
            for (uint32_t i = 0; i < n; i++)
                one_byte(m->last, k + i, a, done + i, row);
    }
    return TROD_OK;
}

/* ---- as bytes */

static int put_runs(struct trod_buf *out, enum nav_run_kind kind, uint64_t mask,
                    const uint32_t *row, const uint8_t *value, uint32_t *before)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && mask) {
        const unsigned at = (unsigned)__builtin_ctzll(mask);
        const int64_t d = (int64_t)row[at] - *before;
        unsigned n = 1;
        uint8_t head[2];

        while (at + n < NAV_LINE && (mask >> (at + n) & 1) && row[at + n] == row[at])
            n++;
        head[0] = (uint8_t)((unsigned)kind << 6 | at);
        head[1] = (uint8_t)(n - 1);
        *before = row[at];
        mask &= n == 64 ? 0 : ~(((UINT64_C(1) << n) - 1) << at);
        rc = trod_buf_add(out, head, sizeof head);
        if (rc == TROD_OK)
            rc = trod_pack(out, (uint64_t)d << 1 ^ (d < 0 ? UINT64_MAX : 0));
        if (rc == TROD_OK && kind != NAV_RUN_UNSAID)
            rc = trod_buf_add(out, value + at, n);
    }
    return rc;
}

/* Bytes of MASK in which A and B are equal: eight in one go. */
static uint64_t equal(uint64_t mask, const uint8_t *a, const uint8_t *b)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t out = 0;

    for (unsigned k = 0; k < NAV_LINE; k += 8) {
        const uint64_t x = trod_load_le64(a + k) ^ trod_load_le64(b + k);
        /* the highest bit of each byte that is zero in X, then these eight bits side by side */
        const uint64_t zero = ~(((x & low) + low) | x | low);

        out |= (zero >> 7) * UINT64_C(0x0102040810204080) >> 56 << k;
    }
    return out & mask;
}

/* Bytes of MASK from FROM to TO. */
static void copy(uint8_t *to, const uint8_t *from, uint64_t mask)
{
    for (unsigned k = 0; k < NAV_LINE; k += 8)
        if ((mask >> k & 0xff) == 0xff)
            memcpy(to + k, from + k, 8);
        else
            for (unsigned i = k; i < k + 8; i++)
                to[i] = mask >> i & 1 ? from[i] : to[i];
}

/* Bytes of MASK whose rows are the same in A and B. */
static uint64_t same_rows(uint64_t mask, const uint32_t *a, const uint32_t *b)
{
    uint64_t out = 0;

    for (unsigned k = 0; mask && k < NAV_LINE; k++)
        out |= (uint64_t)(a[k] == b[k]) << k;
    return out & mask;
}

/* What L leaves, appended to OUT, and what is known from then on. */
static int put_line(struct nav_memory *m, const struct nav_memory_line *l, struct trod_buf *out)
{
    struct nav_memory_known *e = &m->known[hash(l->key) % NAV_MEMORY_KNOWN];
    uint64_t first, read = l->read, shown;
    uint32_t before = 0;
    int rc;

    if (e->key != l->key || e->turn != m->turn)
        *e = (struct nav_memory_known){.key = l->key, .turn = m->turn};
    first = l->first & ~e->known;
    read &= ~equal(read & l->wrote & l->known, l->seen, l->written);
    read &= ~equal(read & ~l->wrote & e->kept, l->seen, e->value);
    e->known = (e->known & ~l->wrote) | (l->wrote & l->known) | l->read;
    e->kept = ((e->kept & ~l->wrote) | (l->wrote & l->known)) & ~read;
    if (l->wrote & l->known)
        copy(e->value, l->written, l->wrote & l->known);
    shown = read & ~same_rows(read & first & ~l->wrote, l->read_row, l->first_row);
    rc = put_runs(out, NAV_RUN_WROTE, l->wrote & l->known, l->write_row, l->written, &before);
    if (rc == TROD_OK)
        rc = put_runs(out, NAV_RUN_UNSAID, l->wrote & ~l->known, l->write_row, NULL, &before);
    if (rc == TROD_OK)
        rc = put_runs(out, NAV_RUN_READ, shown, l->read_row, l->seen, &before);
    return rc < 0 ? rc : put_runs(out, NAV_RUN_FIRST, first, l->first_row, l->found, &before);
}

int nav_memory_end(struct nav_memory *m, uint32_t block, uint64_t most, struct nav_postings *out,
                   bool *whole)
{
    const size_t n = out->n;
    int rc = TROD_OK;

    m->told.n = 0;
    for (uint32_t i = 0; rc == TROD_OK && m->whole && i < m->n; i++) {
        const size_t at = m->told.n;

        rc = put_line(m, &m->line[i], &m->told);
        if (rc == TROD_OK && m->told.n > at)
            rc = nav_postings_add(out, m->line[i].key, block, out->told.n + at, m->told.n - at);
    }
    if (rc == TROD_OK && m->whole && m->told.n <= most) {
        if (m->told.n)
            rc = trod_buf_add(&out->told, m->told.p, m->told.n);
        *whole = true;
    } else {
        out->n = n;
        *whole = false;
    }
    if (!m->whole)
        nav_memory_forget(m);
    memset(m->slot, 0, ((size_t)m->mask + 1) * sizeof *m->slot);
    m->n = 0;
    m->last = NULL;
    m->whole = true;
    return rc;
}

void nav_memory_forget(struct nav_memory *m)
{
    m->turn++;
}
