/*
 * sync.c - PowerPC: calls of the pthread functions that synchronize threads.
 *
 * Implements docs/recording.md, "Thread synchronization", after the Amber document, "Thread
 * Synchronization Records": a signal comes before the first instruction of its function and counts
 * its sync point up; a wait comes behind the last, with the count that its point then has. What
 * these functions call themselves does not appear. A call ends where the link register said at its
 * entry, with the stack as it was there.
 */
#include "record/plugin/sync.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"

enum { R3 = 3, CALLS = 1 << 16 };

/* A call that waits for its end. */
struct call {
    uint32_t code, point; /* code 0: none */
    uint32_t back, stack;
};

static struct call calls[CALLS];

/* The count of POINT; NULL: there is no room for more of them. */
static _Atomic uint32_t *count_of(uint32_t point)
{
    struct rec_point *points = collect_shared->points;

    for (uint32_t i = 0, h = point * UINT32_C(0x9e3779b1); i < REC_POINTS; i++, h++) {
        struct rec_point *p = &points[h % REC_POINTS];
        uint32_t expected = 0;

        if (atomic_load(&p->address) == point ||
            atomic_compare_exchange_strong(&p->address, &expected, point) || expected == point)
            return &p->count;
    }
    return NULL;
}

static uint32_t code_at(uint64_t pc)
{
    const uint32_t n = atomic_load_explicit(&collect_shared->n_functions, memory_order_acquire);

    for (uint32_t i = 0; i < n; i++)
        if (collect_shared->functions[i].address == pc &&
            collect_shared->functions[i].image == collect_image &&
            collect_shared->functions[i].code >= REC_SIGNAL &&
            collect_shared->functions[i].code < REC_CALLED)
            return collect_shared->functions[i].code;
    return 0;
}

static void put(uint64_t words[2], uint32_t code, uint32_t point, uint32_t count)
{
    words[0] = (uint64_t)REC_SYNC << REC_EVENT_TYPE | code;
    words[1] = (uint64_t)count << 32 | point;
}

/* A call that waited is over: a try only if it succeeded. */
static bool end_call(struct call *c, uint64_t words[2])
{
    const _Atomic uint32_t *count = count_of(c->point);
    const uint32_t code = c->code;
    uint32_t result = 0;

    c->code = 0;
    if (!count || (code == REC_TRY_WAIT && (!registers_read(R3, &result) || result != 0)))
        return false;
    put(words, code, c->point, atomic_load(count));
    return true;
}

static bool begin_call(struct call *c, uint32_t code, uint64_t words[2])
{
    _Atomic uint32_t *count;
    uint32_t point;

    if (!registers_read(R3, &point) || !(count = count_of(point)))
        return false;
    if (code == REC_SIGNAL || code == REC_BROADCAST) {
        put(words, code, point, atomic_fetch_add(count, 1) + 1);
        return true;
    }
    *c = (struct call){.code = code, .point = point};
    registers_read(REC_PPC_LR, &c->back);
    registers_read(REC_PPC_SP, &c->stack);
    return false;
}

bool sync_step(unsigned vcpu, const struct rec_insn *insn, uint64_t words[2])
{
    struct call *c = &calls[vcpu % CALLS];
    uint32_t stack, code;

    if (c->code) {
        if (insn->pc != c->back || !registers_read(REC_PPC_SP, &stack) || stack != c->stack)
            return false;
        if (end_call(c, words))
            return true;
    }
    code = code_at(insn->pc);
    return code && begin_call(c, code, words);
}
