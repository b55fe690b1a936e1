/*
 * sweep_rows.c - rows to the lines of a sweep whose policies take no notice of repeats.
 *
 * Implements sweep.h. A reference to the line that its stream referenced before it hits in every
 * cache, and changes nothing: it is counted and left out. What is left are lines of the smallest
 * size; those of the longer ones are the same without the bits that are too low, and again without
 * repeats.
 */
#include "sim/sweep.h"

#include "sim/own/first.h"

#include <string.h>

enum { CODE, DATA, ODD };
enum { ROWS = 256 };

/* What a row of a kind is: a reference of one stream; ODD: to be looked at by itself. 0: nothing.
 */
static const uint8_t stream_of[UINT8_MAX + 1] = {
    [TROD_INSTR] = 1 + CODE,
    [TROD_READ] = 1 + DATA,
    [TROD_WRITE] = 1 + DATA,
    [TROD_ATOMIC] = 1 + ODD,
};

/* Leave only lines of this part in the buffer of the smallest size and stream K. */
static void keep_mine(struct trod_sweep *s, unsigned k)
{
    uint64_t *line = s->buffer[0][k];
    const unsigned longest = s->n_lines - 1;
    const uint64_t mask = (UINT64_C(1) << s->class_bits) - 1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n[0][k]; i++) {
        line[n] = line[i];
        n += (line[i] >> longest & mask) % s->shards == s->shard;
    }
    s->n[0][k] = n;
}

/* The lines of size number I - 1 become those of number I, without repeats. */
static void longer(struct trod_sweep *s, unsigned i, unsigned k)
{
    const uint64_t *from = s->buffer[i - 1][k];
    uint64_t *to = s->buffer[i][k], was = s->last[i][k];
    uint32_t n = 0;

    for (uint32_t at = 0; at < s->n[i - 1][k]; at++) {
        const uint64_t line = from[at] >> 1;

        to[n] = line;
        n += line != was;
        was = line;
    }
    s->last[i][k] = was;
    s->n[i][k] = n;
}

void trod_sweep_drain_rows(struct trod_sweep *s, unsigned k)
{
    if (s->shards > 1 && s->class_bits)
        keep_mine(s, k);
    for (unsigned i = 0; i < s->n_lines; i++) {
        if (i)
            longer(s, i, k);
        if (s->shards == 1 || s->class_bits || (2 * i + k) % s->shards == s->shard)
            trod_sweep_caches(s, i, k);
    }
    for (unsigned i = 0; i < s->n_lines; i++)
        s->n[i][k] = 0;
}

/* SIZE bytes at ADDR, all that they are. */
static void put_lines(struct trod_sweep *s, unsigned k, uint64_t addr, uint32_t size)
{
    const uint64_t last = addr + size - 1;

    if (size == 0 || last < addr)
        return;
    for (unsigned i = 0; i < s->n_lines; i++)
        s->refs[i][k] += (last >> (s->bits + i)) - (addr >> (s->bits + i)) + 1;
    for (uint64_t line = addr >> s->bits; line <= last >> s->bits; line++) {
        if (line == s->last[0][k])
            continue;
        if (s->n[0][k] == TROD_SWEEP_BATCH)
            trod_sweep_drain_rows(s, k);
        s->buffer[0][k][s->n[0][k]++] = s->last[0][k] = line;
    }
}

/* Row I of B, whatever it says. */
static void put_row(struct trod_sweep *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i], size = said & TROD_COL_SIZE ? b->size[i] : 1;
    const unsigned kind = b->kind[i];

    if (!(said & TROD_COL_ADDR) ||
        (kind == TROD_INSTR && said & TROD_COL_FLAGS && b->flags[i] & TROD_F_NOFETCH))
        return;
    put_lines(s, kind == TROD_INSTR ? CODE : DATA, b->addr[i], size);
    if (kind == TROD_ATOMIC)
        put_lines(s, DATA, b->addr[i], size);
}

static void make_room(struct trod_sweep *s, unsigned k)
{
    if (s->n[0][k] > TROD_SWEEP_BATCH - ROWS)
        trod_sweep_drain_rows(s, k);
}

/* Rows [FROM, TO), at most ROWS, for which the buffers have room. */
static void put_rows(struct trod_sweep *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint64_t length = UINT64_C(1) << s->bits;
    uint64_t *const out[2] = {s->buffer[0][0], s->buffer[0][1]};
    uint64_t usual[2] = {0, 0};

    for (uint32_t i = from; i < to; i++) {
        const unsigned what = stream_of[b->kind[i]], k = what - 1;
        const uint32_t said = b->have & b->has[i];
        uint64_t line;

        if (what == 0)
            continue;
        if (k == ODD || !trod_first_usual(b, i, said, length)) {
            put_row(s, b, i);
            for (unsigned each = 0; each < 2; each++)
                make_room(s, each);
            continue;
        }
        line = b->addr[i] >> s->bits;
        out[k][s->n[0][k]] = line;
        s->n[0][k] += line != s->last[0][k];
        s->last[0][k] = line;
        usual[k]++;
    }
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2; k++)
            s->refs[i][k] += usual[k];
}

int trod_sweep_rows(struct trod_sweep *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    bool failed = false;

    s->rows = true;
    for (uint32_t end; from < to; from = end) {
        end = to - from < ROWS ? to : from + ROWS;
        for (unsigned k = 0; k < 2; k++)
            make_room(s, k);
        put_rows(s, b, from, end);
    }
    for (unsigned i = 0; i < s->n_lines; i++)
        failed = failed || (s->walk[i][0] && (s->walk[i][0]->failed || s->walk[i][1]->failed));
    if (s->shard) /* all parts see all references; the first one counts them */
        memset(s->refs, 0, sizeof s->refs);
    return failed ? TROD_ERR_NOMEM : 0;
}
