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
 * it has forgotten is reported once more.
 */
#include "navigate/memory.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 4 /* lines whose part of the table is loaded before it is needed */ };

int nav_memory_init(struct nav_memory *m)
{
    memset(m, 0, sizeof *m);
    m->whole = true;
    m->turn = 1;
    m->known = calloc(NAV_MEMORY_KNOWN, sizeof *m->known);
    return m->known ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_memory_fini(struct nav_memory *m)
{
    free(m->line);
    free(m->part);
    free(m->known);
    trod_buf_fini(&m->payload);
    m->line = NULL;
    m->part = NULL;
    m->known = NULL;
}

bool nav_memory_room(struct nav_memory *m, bool line)
{
    if (line ? m->n == NAV_MEMORY_LINES : m->n_parts == NAV_MEMORY_PARTS)
        m->whole = false;
    else if (line)
        return trod_grow(&m->line, m->n, &m->cap, sizeof *m->line, 256);
    else
        return trod_grow(&m->part, m->n_parts, &m->cap_parts, sizeof *m->part, 4096);
    return false;
}

/* ---- what is left in a line */

static struct nav_memory_known *known_of(const struct nav_memory *m, uint64_t key)
{
    return &m->known[(uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NAV_MEMORY_KNOWN];
}

/* Bytes BITS of part A to ROW and VALUE, by byte of the line. */
static void spread(const struct nav_memory_part *a, unsigned bits, uint32_t *row, uint8_t *value)
{
    row += a->at;
    value += a->at;
    if (bits == 0xff) {
        for (unsigned k = 0; k < 8; k++)
            row[k] = a->row;
        trod_store_le64(value, a->value);
        return;
    }
    for (; bits; bits &= bits - 1) {
        const unsigned k = (unsigned)__builtin_ctz(bits);

        row[k] = a->row;
        value[k] = (uint8_t)(a->value >> (8 * k));
    }
}

/* What the accesses to L leave, from the last one back. */
static void leave(const struct nav_memory *m, const struct nav_memory_line *l,
                  struct nav_memory_left *out)
{
    const struct nav_memory_part *a;

    out->wrote = out->known = out->read = out->first = 0;
    for (uint32_t at = l->newest; at; at = a->older) {
        uint64_t later;
        unsigned bits;

        a = &m->part[at - 1];
        later = a->write ? out->wrote : out->wrote | out->read;
        bits = (unsigned)(a->bytes & ~(later >> a->at));
        if (bits && a->write) {
            out->wrote |= (uint64_t)bits << a->at;
            out->known |= (uint64_t)(bits & a->known) << a->at;
            spread(a, bits, out->write_row, out->written);
        } else if (bits) {
            out->read |= (uint64_t)bits << a->at;
            spread(a, bits, out->read_row, out->seen);
        }
        if (a->fresh) {
            out->first |= (uint64_t)a->fresh << a->at;
            spread(a, a->fresh, out->first_row, out->found);
        }
    }
}

/* ---- as bytes */

/* Bytes that what is left in a line takes at most: four kinds of runs, none of them empty. */
enum { LINE_MOST = NAV_RUN_KINDS * (NAV_LINE * (2 + 10) + NAV_LINE) };

/* The runs of MASK to P. Returns where they end. */
static uint8_t *put_runs(uint8_t *p, enum nav_run_kind kind, uint64_t mask, const uint32_t *row,
                         const uint8_t *value, uint32_t *before)
{
    while (mask) {
        const unsigned at = (unsigned)__builtin_ctzll(mask);
        const int64_t d = (int64_t)row[at] - *before;
        unsigned n = 1;

        while (at + n < NAV_LINE && (mask >> (at + n) & 1) && row[at + n] == row[at])
            n++;
        *before = row[at];
        mask &= n == 64 ? 0 : ~(((UINT64_C(1) << n) - 1) << at);
        *p++ = (uint8_t)((unsigned)kind << 6 | at);
        *p++ = (uint8_t)(n - 1);
        p = trod_pack_at(p, (uint64_t)d << 1 ^ (d < 0 ? UINT64_MAX : 0));
        if (kind == NAV_RUN_UNSAID)
            continue;
        memcpy(p, value + at, n);
        p += n;
    }
    return p;
}

/* Bytes of MASK in which A and B are equal: eight in one go. */
static uint64_t equal(uint64_t mask, const uint8_t *a, const uint8_t *b)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t out = 0;

    for (unsigned k = 0; mask && k < NAV_LINE; k += 8) {
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
        else if (mask >> k & 0xff)
            for (unsigned i = k; i < k + 8; i++)
                to[i] = mask >> i & 1 ? from[i] : to[i];
}

/* Bytes of MASK whose rows are the same in A and B. */
static uint64_t same_rows(uint64_t mask, const uint32_t *a, const uint32_t *b)
{
    uint64_t out = 0;

    for (; mask; mask &= mask - 1) {
        const unsigned k = (unsigned)__builtin_ctzll(mask);

        out |= (uint64_t)(a[k] == b[k]) << k;
    }
    return out;
}

/* L, which is left in line KEY, appended to OUT, and what is known from then on. */
static int put_line(struct nav_memory *m, uint64_t key, const struct nav_memory_left *l,
                    struct trod_buf *out)
{
    struct nav_memory_known *e = known_of(m, key);
    uint64_t first, read = l->read, shown;
    uint32_t before = 0;
    uint8_t *p;

    if (trod_buf_reserve(out, LINE_MOST) < 0)
        return TROD_ERR_NOMEM;
    if (e->key != key || e->turn != m->turn)
        *e = (struct nav_memory_known){.key = key, .turn = m->turn};
    first = l->first & ~e->known;
    read &= ~equal(read & l->wrote & l->known, l->seen, l->written);
    read &= ~equal(read & ~l->wrote & e->kept, l->seen, e->value);
    e->known = (e->known & ~l->wrote) | (l->wrote & l->known) | l->read;
    e->kept = ((e->kept & ~l->wrote) | (l->wrote & l->known)) & ~read;
    if (l->wrote & l->known)
        copy(e->value, l->written, l->wrote & l->known);
    shown = read & ~same_rows(read & first & ~l->wrote, l->read_row, l->first_row);
    p = out->p + out->n;
    p = put_runs(p, NAV_RUN_WROTE, l->wrote & l->known, l->write_row, l->written, &before);
    p = put_runs(p, NAV_RUN_UNSAID, l->wrote & ~l->known, l->write_row, NULL, &before);
    p = put_runs(p, NAV_RUN_READ, shown, l->read_row, l->seen, &before);
    p = put_runs(p, NAV_RUN_FIRST, first, l->first_row, l->found, &before);
    out->n = (size_t)(p - out->p);
    return TROD_OK;
}

/* What is known of line KEY will be needed soon. */
static void fetch(const struct nav_memory *m, uint64_t key)
{
    const struct nav_memory_known *e = known_of(m, key);

    __builtin_prefetch(e, 1);
    __builtin_prefetch((const uint8_t *)(e + 1) - 1, 1);
}

int nav_memory_end(struct nav_memory *m, uint32_t block, uint64_t most, struct nav_postings *out,
                   bool *whole)
{
    const size_t n = out->n;
    int rc = TROD_OK;

    m->payload.n = 0;
    for (uint32_t i = 0; rc == TROD_OK && m->whole && i < m->n; i++) {
        const size_t at = m->payload.n;

        if (i + AHEAD < m->n)
            fetch(m, m->line[i + AHEAD].key);
        leave(m, &m->line[i], &m->left);
        rc = put_line(m, m->line[i].key, &m->left, &m->payload);
        if (rc == TROD_OK && m->payload.n > at)
            rc = nav_postings_add(out, m->line[i].key, block, out->payload.n + at,
                                  m->payload.n - at);
    }
    if (rc == TROD_OK && m->whole && m->payload.n <= most) {
        if (m->payload.n)
            rc = trod_buf_add(&out->payload, m->payload.p, m->payload.n);
        *whole = true;
    } else {
        out->n = n;
        *whole = false;
    }
    if (!m->whole)
        nav_memory_forget(m);
    m->n = m->n_parts = 0;
    m->whole = true;
    return rc;
}

void nav_memory_forget(struct nav_memory *m)
{
    m->turn++;
}
