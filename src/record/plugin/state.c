/*
 * state.c - what instructions do to registers.
 *
 * Implements state.h. What an instruction writes the recorder knows: it is asked once, when the
 * instruction is translated. Where execution goes on elsewhere than the instruction leads, or the
 * stack has moved across a jump, something else has written registers (a signal, the return from
 * its handler): then all are reported.
 */
#include "record/plugin/state.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"

#include <time.h>

enum { LANES = 1 << 16, SPINS = 4096 };

struct state {
    const struct rec_insn *last; /* NULL: all registers are to be reported */
    uint64_t stack;
    bool jumped; /* MIPS: the instruction before the last one jumps */
};

static struct state states[LANES];

static const struct rec_writes *writes_of(const struct rec_insn *insn)
{
    return (const struct rec_writes *)(const void *)(insn + 1);
}

static unsigned stack_of(unsigned isa)
{
    return isa == REC_PPC   ? REC_PPC_SP
           : isa == REC_A64 ? REC_A64_SP
           : isa == REC_ARM ? REC_ARM_SP
                            : REC_MIPS_SP;
}

void state_thread(unsigned vcpu)
{
    states[vcpu % LANES] = (struct state){.last = NULL};
}

/* Register NUMBER to P. Returns what is behind it. */
static uint64_t *put(struct state *s, unsigned number, uint64_t *p)
{
    unsigned n = registers_words(number & ~(unsigned)REC_MAYBE, p + 1);

    if (n == 0)
        return p;
    if (number == stack_of(collect_shared->isa))
        s->stack = p[1];
    *p = number | (uint64_t)n << 16;
    return p + 1 + n;
}

static uint64_t *finish(uint64_t *from, uint64_t *to, enum rec_event type)
{
    if (to == from + 1)
        return from;
    *from = (uint64_t)type << REC_EVENT_TYPE | (uint64_t)(to - from - 1);
    return to;
}

static uint64_t *put_all(struct state *s, uint64_t *p)
{
    uint64_t *q = p + 1;

    for (unsigned i = 0; i < registers_end(collect_shared->isa); i++)
        q = put(s, i, q);
    return finish(p, q, REC_ALL);
}

/* Has something else than the last instruction led to INSN? */
static bool elsewhere(const struct state *s, const struct rec_insn *insn)
{
    uint64_t stack[REGISTERS_WORDS];

    if (!writes_of(s->last)->jumps && !s->jumped)
        return insn->pc != s->last->pc + s->last->size && insn->pc != s->last->pc;
    return registers_words(stack_of(collect_shared->isa), stack) && stack[0] != s->stack;
}

uint64_t *state_step(unsigned vcpu, const struct rec_insn *insn, uint64_t *p)
{
    struct state *s = &states[vcpu % LANES];
    const struct rec_writes *w;
    uint64_t *q = p + 1;

    /* an exception that the instruction takes leaves what it would have written */
    if (collect_shared->system && s->last && elsewhere(s, insn))
        s->last = NULL;
    if (!s->last) {
        p = put_all(s, p);
    } else {
        w = writes_of(s->last);
        for (unsigned i = 0; i < w->n; i++)
            q = put(s, w->reg[i], q);
        p = finish(p, q, REC_STATE);
        if (w->any || elsewhere(s, insn))
            p = put_all(s, p);
    }
    s->jumped = s->last && writes_of(s->last)->jumps &&
                (collect_shared->isa == REC_MIPS || collect_shared->isa == REC_MIPSEL);
    s->last = insn;
    return p;
}

void state_ask(uint32_t place)
{
    struct rec_shared *shared = collect_shared;
    bool asked = false;

    for (unsigned i = 0; !asked; i = (i + 1) % REC_ASKS) {
        uint32_t none = 0;

        asked = atomic_compare_exchange_strong(&shared->asks[i], &none, place);
        if (!asked && i == REC_ASKS - 1 && collect_alone())
            return;
    }
    sem_post(&shared->ask);
    state_answered(place);
}

void state_answered(uint32_t place)
{
    const struct rec_writes *w = writes_of(collect_insn((void *)(uintptr_t)place));

    for (unsigned spin = 0; !atomic_load_explicit(&w->known, memory_order_acquire); spin++) {
        const struct timespec a_while = {0, 20000};

        if (spin < SPINS)
            continue;
        if (spin % 1024 == 0 && collect_alone())
            return;
        nanosleep(&a_while, NULL);
    }
}
