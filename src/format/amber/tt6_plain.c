/*
 * tt6_plain.c - the fast loop of the TT6 and TT6E decoder.
 *
 * Implements docs/formats/amber.md, "TT6 and TT6E", for records whose opcode alone decides what
 * they are. All others are left to tt6.c.
 *
 * The next record begins where this one's opcode says: that chain bounds the speed, so as little
 * work as possible depends on it. A block is read in steps: every word is classified as if it were
 * an opcode, which needs no chain; then the records are followed from class to class; then the
 * columns that most rows have in common are filled in, and rows of accesses and changes of flow,
 * put on lists, are completed.
 */
#include "format/amber/tt6.h"

#include "core/endian.h"

#include <string.h>

static inline struct trod_slice slice(uint32_t off, uint32_t len)
{
    return (struct trod_slice){off, len};
}

static void classify(const struct tt6_tables *t, struct tt6_block *b)
{
    uint16_t slot[TT6_BLOCK];

    tt6_slots(b->p, b->words, slot);
    for (uint32_t i = 0; i < b->words; i++) {
        b->number[i] = t->number[slot[i]];
        b->length[i] = t->step[slot[i]] & TT6_WORDS;
    }
}

/* Follow the records of B from word W on. Returns the word behind them. */
static uint32_t follow(struct tt6_dec *dec, struct tt6_block *b, uint32_t w, struct trod_batch *out)
{
    const struct tt6_entry *entry = dec->t.entry;
    uint64_t *restrict addr = out->addr, *restrict pcs = out->pc;
    struct trod_slice *restrict code = out->code, *restrict raw = out->raw;
    const uint32_t full = out->cap - 1; /* two rows need to fit */
    const uint32_t first = (uint32_t)(b->p - out->bytes), last = b->words - TT6_LONGEST + 1;
    uint32_t n = out->n, pc = dec->pc, flows = 0, accesses = 0;

    while (w < last && n < full && b->length[w] != 0) {
        const struct tt6_entry *e = &entry[b->number[w]];
        uint32_t next = trod_load_be32(b->p + 4 * (size_t)w + 4), at = first + 4 * w;
        uint32_t words = b->length[w];

        addr[n] = pc;
        pcs[n] = pc;
        code[n] = slice(at, 4);
        raw[n] = slice(at, 4 * words);
        b->flow[flows] = (uint16_t)n;
        b->access[accesses] = (uint16_t)n;
        flows += e->branch != 0;
        accesses += e->rows - 1u;
        n += e->rows;
        pc = e->branch ? next : pc + 4;
        w += words;
    }
    dec->pc = pc;
    out->n = n;
    b->flows = flows;
    b->accesses = accesses;
    return w;
}

/* What most rows have in common, of rows FROM to N. */
static void fill_common(struct trod_batch *out, uint32_t from, uint32_t n)
{
    uint32_t *restrict has = out->has, *restrict flags = out->flags, *restrict size = out->size;

    memset(out->kind + from, TROD_INSTR, n - from);
    memset(flags + from, 0, (n - from) * sizeof *flags);
    for (uint32_t i = from; i < n; i++)
        has[i] = TT6_INSTR;
    for (uint32_t i = from; i < n; i++)
        size[i] = 4;
}

static inline const struct tt6_entry *entry_at(const struct tt6_tables *t,
                                               const struct tt6_block *b, const uint8_t *p)
{
    return &t->entry[b->number[(size_t)(p - b->p) / 4]];
}

static void fill_flows(const struct tt6_tables *t, struct trod_batch *out,
                       const struct tt6_block *b)
{
    uint32_t *restrict has = out->has, *restrict flags = out->flags;
    uint64_t *restrict target = out->target;

    for (uint32_t k = 0; k < b->flows; k++) {
        uint32_t i = b->flow[k], pc = (uint32_t)out->pc[i];
        const uint8_t *p = out->bytes + out->code[i].off;
        uint32_t opcode = trod_load_be32(p), next = trod_load_be32(p + 4);

        has[i] = TT6_INSTR | TROD_COL_TARGET;
        target[i] = next;
        flags[i] = amber_branches[entry_at(t, b, p)->branch + amber_branch_index(opcode, pc, next)];
    }
}

/* The row of an access that is not determined by the opcode's place in the tables alone. */
static void fill_odd(const struct tt6_dec *dec, struct trod_batch *out, uint32_t i)
{
    const uint8_t *p = trod_batch_bytes(out, out->code[i]);
    uint32_t opcode = trod_load_be32(p), third = out->raw[i].len > 8 ? trod_load_be32(p + 8) : 0;
    const struct amber_access a = amber_access_of(opcode, third, dec->line);

    tt6_access_row(out, i + 1, &a, trod_load_be32(p + 4));
    out->detail[i + 1] = slice(out->code[i].off + 4, out->raw[i].len - 4);
}

static void fill_accesses(const struct tt6_dec *dec, struct trod_batch *out,
                          const struct tt6_block *b)
{
    uint32_t *restrict has = out->has, *restrict flags = out->flags, *restrict size = out->size;
    uint64_t *restrict addr = out->addr, *restrict pcs = out->pc;
    struct trod_slice *restrict detail = out->detail;
    const struct trod_slice *restrict code = out->code;
    const uint8_t *bytes = out->bytes;
    uint8_t *restrict kind = out->kind;

    for (uint32_t k = 0; k < b->accesses; k++) {
        uint32_t i = b->access[k], at = code[i].off;
        const struct tt6_entry *e = entry_at(&dec->t, b, bytes + at);

        pcs[i + 1] = pcs[i];
        if (e->kind == TROD_NOTE) {
            fill_odd(dec, out, i);
            continue;
        }
        has[i + 1] = TT6_ACCESS;
        kind[i + 1] = e->kind;
        flags[i + 1] = e->flags;
        size[i + 1] = e->size;
        addr[i + 1] = trod_load_be32(bytes + at + 4) & ~e->clear;
        detail[i + 1] = slice(at + 4, 4);
    }
}

/* Have the word at P, of N bytes, classified in B. Returns its number, or b->words when too few
 * words follow it. */
static uint32_t enter(const struct tt6_dec *dec, struct tt6_block *b, const uint8_t *p, size_t n)
{
    size_t words = n / 4, at = b->words ? (size_t)(p - b->p) / 4 : 0;

    if (at + TT6_LONGEST <= b->words)
        return (uint32_t)at;
    if (words < TT6_LONGEST)
        return b->words;
    b->p = p;
    b->words = words < TT6_BLOCK ? (uint32_t)words : TT6_BLOCK;
    classify(&dec->t, b);
    return 0;
}

void tt6_decode_plain(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out,
                      struct tt6_block *b)
{
    uint32_t done;

    do {
        uint32_t from = out->n, begin = enter(dec, b, in->p, in->n);

        if (begin == b->words || from + 1 >= out->cap)
            return;
        done = follow(dec, b, begin, out);
        fill_common(out, from, out->n);
        fill_flows(&dec->t, out, b);
        fill_accesses(dec, out, b);
        amber_eat(in, 4 * (size_t)(done - begin));
    } while (done + TT6_LONGEST > b->words);
}
