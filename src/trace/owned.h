/*
 * owned.h - which rows go with an instruction: the rule of warm-ups, intervals and regions.
 *
 * Implements docs/analysing.md, "Where warm-ups, intervals and regions end". What stands after an
 * instruction up to the next one is its own, but an access or a register that says the address of
 * another one comes before that.
 */
#ifndef TROD_TRACE_OWNED_H
#define TROD_TRACE_OWNED_H

#include "trod/batch.h"
#include "trod/diag.h"
#include "trod/meta.h"

/* The instruction that came last. Zero bytes: there was none. */
struct trod_owning {
    bool ran;    /* there was one; it was of STREAM and at PC */
    uint64_t pc; /* TROD_NOWHERE: unknown */
    uint32_t stream;
};

/* Do rows of this kind belong to an instruction, as accesses and registers do? */
static inline bool trod_owned_kind(unsigned kind)
{
    return (1u << kind & (1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC |
                          1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_REG)) != 0;
}

/* Is row I an instruction that the program executed, not one put in by the tracer? */
static inline bool trod_owned_executed(const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_INSTR &&
           !(b->have & b->has[i] & TROD_COL_FLAGS && b->flags[i] & TROD_F_SYNTHETIC);
}

/* Row I is an instruction: accesses that come are its own. */
static inline void trod_owned_note(struct trod_owning *o, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];

    o->ran = true;
    o->pc = said & TROD_COL_ADDR ? b->addr[i] : TROD_NOWHERE;
    o->stream = trod_batch_stream(b, i);
}

/* Does row I, an access or a register, belong to the instruction that came last? */
static inline bool trod_owned(const struct trod_owning *o, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];

    if (!o->ran || !trod_owned_kind(b->kind[i]))
        return false;
    return !(said & TROD_COL_PC) || o->pc == TROD_NOWHERE || b->pc[i] == o->pc ||
           trod_batch_stream(b, i) != o->stream;
}

/* Is row I the next instruction, or of one that comes after it? */
static inline bool trod_owned_next(const struct trod_owning *o, const struct trod_batch *b,
                                   uint32_t i)
{
    return trod_owned_executed(b, i) || (trod_owned_kind(b->kind[i]) && !trod_owned(o, b, i));
}

/*
 * Is row I of an instruction that comes after it? FIRST: no instruction was executed before. Then
 * that is so where it says one: it may be of what was executed before the trace began.
 */
static inline bool trod_owned_before(const struct trod_owning *o, const struct trod_batch *b,
                                     uint32_t i, bool first)
{
    return trod_owned_kind(b->kind[i]) && !trod_owned(o, b, i) &&
           (o->ran || (first && b->have & b->has[i] & TROD_COL_PC));
}

#endif
