/*
 * calls.c - calls of the functions that are recorded by name.
 *
 * Implements calls.h and docs/recording.md, "Functions". Arguments and results are where the
 * calling conventions have them: System V ABI (i386, AMD64), AAPCS, AAPCS64; integers and pointers
 * only. A call has ended when the thread comes to its return address with the stack as the call
 * left it. Calls that never do (longjmp, exceptions) are forgotten at the next call above them.
 */
#include "record/plugin/calls.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 16, DEPTH = 1024, MARKS = 1 << 16, ENDINGS = 16 };

/* A calling convention. */
struct convention {
    uint8_t result, stack, link; /* registers; LINK 0: the return address is on the stack */
    uint8_t word;                /* bytes of an argument on the stack */
    uint8_t n;                   /* arguments in registers */
    uint8_t argument[8];
};

static const struct convention conventions[] = {
    [REC_X86_64] = {0, REC_X86_64_SP, 0, 8, 6, {5, 4, 3, 2, 8, 9}},
    [REC_X86] = {0, REC_X86_SP, 0, 4, 0, {0}},
    [REC_A64] = {0, REC_A64_SP, 30, 8, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    [REC_ARM] = {0, REC_ARM_SP, 14, 4, 4, {0, 1, 2, 3}},
};

/* A call that has not ended. */
struct frame {
    uint64_t back, stack;
    uint32_t function;
};

struct thread {
    uint32_t n;
    struct frame frame[DEPTH];
};

static struct thread *threads[LANES];

/* Functions whose addresses are marked; bits by a hash of them. */
static uint32_t marked;
static uint64_t marks[MARKS / 64];

static uint32_t mark_of(uint64_t pc)
{
    return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/* The number of the function that begins at PC; REC_FUNCTIONS: none does. */
static uint32_t function_at(uint64_t pc)
{
    const uint32_t n = atomic_load_explicit(&collect_shared->n_functions, memory_order_acquire);
    const uint32_t mark = mark_of(pc);

    for (; marked < n; marked++) {
        const uint32_t m = mark_of(collect_shared->functions[marked].address);

        marks[m / 64] |= UINT64_C(1) << m % 64;
    }
    if (!(marks[mark / 64] >> mark % 64 & 1))
        return REC_FUNCTIONS;
    for (uint32_t i = 0; i < n; i++)
        if (collect_shared->functions[i].address == pc &&
            collect_shared->functions[i].image == collect_image &&
            collect_shared->functions[i].code >= REC_CALLED)
            return i;
    return REC_FUNCTIONS;
}

static uint64_t read_register(unsigned number)
{
    uint64_t words[REGISTERS_WORDS];

    return registers_words(number, words) ? words[0] : 0;
}

/* The word of the stack at ADDR. */
static uint64_t read_stack(const struct convention *c, uint64_t addr)
{
    uint64_t value = 0;

    if (!collect_has_base())
        return 0;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's memory is part of QEMU's */
    memcpy(&value, (const void *)(collect_host_base() + (uintptr_t)addr), c->word);
    return value;
}

/* Calls have ended at PC: their results to P. */
static uint64_t *end_calls(const struct convention *c, struct thread *t, uint64_t pc, uint64_t *p)
{
    const uint64_t stack = read_register(c->stack);

    for (unsigned i = 0; i < ENDINGS && t->n && t->frame[t->n - 1].back == pc; i++) {
        const struct frame *f = &t->frame[t->n - 1];

        if (c->link ? stack != f->stack : stack <= f->stack)
            break;
        p[0] = (uint64_t)REC_RETURN << REC_EVENT_TYPE | f->function;
        p[1] = read_register(c->result);
        p += 2;
        t->n--;
    }
    return p;
}

static uint64_t *begin_call(const struct convention *c, struct thread *t, uint32_t function,
                            uint64_t *p)
{
    const uint64_t stack = read_register(c->stack);
    const uint64_t back = c->link ? read_register(c->link) & ~UINT64_C(1) : read_stack(c, stack);
    const uint64_t on_stack = stack + (c->link ? 0 : c->word);
    const unsigned n = collect_shared->functions[function].arguments;

    while (t->n && t->frame[t->n - 1].stack < stack)
        t->n--; /* it was left otherwise */
    p[0] = (uint64_t)REC_CALL << REC_EVENT_TYPE | (uint64_t)n << 16 | function;
    p[1] = back;
    for (unsigned i = 0; i < n; i++)
        p[2 + i] = i < c->n ? read_register(c->argument[i])
                            : read_stack(c, on_stack + (uint64_t)c->word * (i - c->n));
    if (collect_shared->functions[function].returns && t->n < DEPTH)
        t->frame[t->n++] = (struct frame){.back = back, .stack = stack, .function = function};
    return p + 2 + n;
}

void calls_thread(unsigned vcpu)
{
    if (threads[vcpu % LANES])
        threads[vcpu % LANES]->n = 0;
}

uint64_t *calls_step(unsigned vcpu, const struct rec_insn *insn, uint64_t *p)
{
    const struct convention *c = &conventions[collect_shared->isa];
    struct thread *t = threads[vcpu % LANES];
    uint32_t function;

    if (t && t->n && t->frame[t->n - 1].back == insn->pc)
        p = end_calls(c, t, insn->pc, p);
    function = function_at(insn->pc);
    if (function == REC_FUNCTIONS)
        return p;
    if (!t && !(t = threads[vcpu % LANES] = calloc(1, sizeof *t)))
        return p;
    return begin_call(c, t, function, p);
}
