/*
 * step.h - what an instruction does to the registers and the memory of "deps" (deps.h), for rows
 * one by one (flow.c) and for streaks (streaks.c).
 *
 * Implements docs/analysing.md, "deps", "The model". BOUNDED: there are machines with bounds.
 */
#ifndef TROD_ANALYSIS_DEPS_STEP_H
#define TROD_ANALYSIS_DEPS_STEP_H

#include "analysis/deps/deps.h"

enum { SIZE_MOST = 4096 }; /* of an access: what is larger is no access of a program */

/* Place of what stands before the first of a group. */
#define BEFORE UINT32_MAX

#if defined(__GNUC__)
#define FLOW static inline __attribute__((always_inline))
#else
#define FLOW static inline
#endif

/* The frame pointer counts as one near where the stack pointer led last. */
static const uint64_t near_stack = UINT64_C(1) << 20;

/* ---- step.c: what is rare, or long */

/* Count WHAT for the site of instruction N. */
void deps_blame(struct deps_state *s, uint64_t n, enum deps_what what);
/*
 * Instruction N, of SITE, reads register REG, which was loaded, or written long ago. Returns how
 * far back.
 */
uint32_t deps_read_rare(struct deps_state *s, struct deps_site *site, unsigned reg, uint64_t n);
/* A store to the stack is loaded again, whole. */
void deps_reload(struct deps_state *s, struct deps_record *r, uint64_t distance);
/* An access of SIZE bytes at ADDR that is misaligned or larger than any. Returns its size. */
uint32_t deps_odd_access(struct deps_state *s, uint64_t n, uint64_t addr, uint32_t size);
/* The stores of the instruction, which is done at DONE. 0 or TROD_ERR_NOMEM. */
int deps_write_memory(struct deps_state *s, uint64_t done);

/* ---- flow.c */

/* The instruction that is open ends. 0 or TROD_ERR_NOMEM. */
int deps_end_open(struct deps_state *s);
/* So does the part whose last instruction is N. */
void deps_end_part(struct deps_state *s, uint64_t n);
/* Site NUMBER, met for the first time in this state. NULL: no memory. */
struct deps_site *deps_meet(struct deps_state *s, const struct trod_batch *b, uint32_t number);
/* Rows [FROM, TO) one by one, for no machine with bounds. */
int deps_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to);

/* ---- streaks.c: rows [FROM, TO) of a batch with streaks, for no machine with bounds */

int deps_streaks(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to);

/* ---- registers */

FLOW uint32_t deps_far(uint64_t distance)
{
    return distance < DEPS_FAR ? (uint32_t)distance : DEPS_FAR;
}

/* The registers of SITE. */
FLOW const uint8_t *deps_registers(const struct deps_state *s, const struct deps_site *site)
{
    return site->n_reads + site->n_loaded + site->n_writes > DEPS_FIT ? s->places.pool + site->pool
                                                                      : site->reg;
}

/* Register REG, written by number WROTE, is there at DONE. */
FLOW void deps_write_register(struct deps_state *s, bool bounded, unsigned reg, uint64_t wrote,
                              uint64_t done)
{
    s->live.wrote[reg] = wrote;
    s->live.ready[reg] = done;
    if (bounded)
        deps_copy(s->live.by[reg], s->live.done, s->stride);
}

/* Instruction N writes REG, LOADED registers with what it loads and WRITES others: at DONE. */
FLOW void deps_write_registers(struct deps_state *s, bool bounded, const uint8_t *reg,
                               unsigned loaded, unsigned writes, uint64_t n, uint64_t done)
{
    for (; loaded; loaded--)
        deps_write_register(s, bounded, *reg++, n | DEPS_LOADED, done);
    for (; writes; writes--)
        deps_write_register(s, bounded, *reg++, n, done);
}

/* NOW reads N registers REG. */
FLOW void deps_read_registers(struct deps_state *s, bool bounded, struct deps_now *now,
                              const uint8_t *reg, unsigned n)
{
    struct deps_live *l = &s->live;
    uint32_t nearest = BEFORE, from;

    for (unsigned k = 0; k < n; k++) {
        const uint64_t wrote = l->wrote[reg[k]], ready = l->ready[reg[k]];
        const uint64_t back = now->n - wrote;

        if (wrote == 0)
            continue;
        if (back < DEPS_NEAR) {
            from = (uint32_t)back;
            s->sums.registers[back]++;
        } else {
            from = deps_read_rare(s, now->site, reg[k], now->n);
        }
        if (ready > now->start) {
            now->back = from;
            now->start = ready;
        }
        nearest = from < nearest ? from : nearest;
        if (bounded)
            deps_later(l->latest, l->by[reg[k]], s->stride);
    }
    now->site->grouped += nearest <= now->place;
}

/*
 * The place in a group of an instruction of SITE behind NOW. Groups are as the PowerPC 970
 * dispatches them: so many instructions, the last place for a branch only, which ends its group
 * (970FX User's Manual, "Dispatch").
 */
FLOW uint32_t deps_place_behind(const struct deps_now *now, const struct deps_site *site)
{
    const uint32_t place = now->site->flags & DEPS_JUMP ? 0 : now->place + 1;

    return place < site->limit ? place : 0;
}

/* ---- accesses */

/* Is the access of SITE to ADDR one of the stack? */
FLOW bool deps_on_stack(struct deps_live *l, const struct deps_site *site, uint64_t addr)
{
    if (site->flags & DEPS_STACK) {
        l->stack = addr;
        return true;
    }
    return site->flags & DEPS_FRAME && l->stack && addr - l->stack + near_stack < 2 * near_stack;
}

/* The load NOW gets what R and, by OVERLAP, others stored. */
FLOW void deps_forward(struct deps_state *s, const struct deps_now *now, struct deps_record *r,
                       enum deps_overlap overlap, bool stack)
{
    const uint64_t distance = now->n - r->at;

    s->sums.overlap[overlap]++;
    s->sums.forward[deps_bin(distance)]++;
    s->sums.between[deps_bin(s->live.memory.stored - r->stored)]++;
    if (distance <= now->place)
        deps_blame(s, now->n, DEPS_REFETCH);
    if (overlap == DEPS_PARTIAL || overlap == DEPS_SEVERAL)
        deps_blame(s, now->n, DEPS_SPLIT);
    if (overlap == DEPS_EXACT && stack && r->stack)
        deps_reload(s, r, distance);
}

FLOW void deps_wait_for(struct deps_now *now, uint64_t ready, uint64_t from)
{
    if (ready > now->start) {
        now->start = ready;
        now->back = deps_far(now->n - from);
    }
}

FLOW void deps_load_access(struct deps_state *s, bool bounded, struct deps_now *now, uint64_t addr,
                           uint32_t size)
{
    struct deps_live *l = &s->live;
    struct deps_memory *m = &l->memory;
    const bool stack = deps_on_stack(l, now->site, addr);
    struct deps_found f;
    uint32_t by;

    if (!m->size)
        return;
    by = *deps_front(m, addr);
    if (deps_has_all(&m->record[by], addr, size)) {
        struct deps_record *r = &m->record[by];

        deps_wait_for(now, r->ready, r->at);
        if (bounded)
            deps_later(l->latest, m->ready + (size_t)by * s->stride, s->stride);
        deps_forward(s, now, r, r->addr == addr && r->size == size ? DEPS_EXACT : DEPS_INSIDE,
                     stack);
        return;
    }
    if (deps_memory_none(m, addr, size))
        return;
    deps_memory_load(m, addr, size, &f, l->latest);
    if (!f.youngest)
        return;
    deps_wait_for(now, f.ready, f.from);
    deps_forward(s, now, &m->record[f.youngest], f.overlap, stack);
}

/* It waits for the end of its instruction. */
FLOW int deps_store_access(struct deps_state *s, const struct deps_now *now, uint64_t addr,
                           uint32_t size)
{
    struct deps_live *l = &s->live;
    int rc = TROD_OK;

    if (l->n_stores == DEPS_STORES) { /* more than any instruction but string operations has */
        deps_copy(l->done, l->latest, s->stride);
        rc = deps_write_memory(s, now->start);
    }
    l->store[l->n_stores++] = (struct deps_store){
        .at = now->n, .addr = addr, .size = size, .stack = deps_on_stack(l, now->site, addr)};
    return rc;
}

/* Row I, an access of KIND of NOW, which says where it is. */
FLOW int deps_access_row(struct deps_state *s, bool bounded, struct deps_now *now,
                         const struct trod_batch *b, uint32_t i, unsigned kind)
{
    const uint64_t addr = b->addr[i];
    uint32_t size = b->size[i];

    if (addr & (size - 1) || size > SIZE_MOST)
        size = deps_odd_access(s, now->n, addr, size);
    if (kind != TROD_WRITE) {
        s->sums.loads++;
        deps_load_access(s, bounded, now, addr, size);
    }
    if (kind == TROD_READ)
        return TROD_OK;
    s->sums.stores++;
    return deps_store_access(s, now, addr, size);
}

#endif
