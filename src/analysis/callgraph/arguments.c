/*
 * arguments.c - what calls are called with.
 *
 * Arguments are the registers that the calling convention of the instruction set puts them into, as
 * far as the trace shows their last write: AAPCS64 x0-x7, AAPCS32 r0-r3, MIPS a0-a3, PowerPC
 * r3-r10, RISC-V a0-a7, x86-64 (System V) rdi, rsi, rdx, rcx, r8, r9. They are kept while rows are
 * fed; where calls come from an index, the last writes before the calls that are listed, or before
 * the part that is read, are looked for.
 */
#include "analysis/callgraph/callgraph.h"

#include "callstack/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- registers */

/* The number behind LETTER in NAME, or -1. */
static int numbered(const uint8_t *p, uint32_t n, char letter)
{
    if (n < 2 || n > 3 || (p[0] | 32) != letter || p[1] < '0' || p[1] > '9')
        return -1;
    if (n == 2)
        return p[1] - '0';
    return p[2] < '0' || p[2] > '9' ? -1 : 10 * (p[1] - '0') + p[2] - '0';
}

/* Which argument the register called P (N bytes) carries, or -1. */
static int argument_of(unsigned isa, const uint8_t *p, uint32_t n)
{
    static const char *const x86[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    int k;

    switch (isa) {
    case TROD_ISA_A64:
    case TROD_ISA_ARM:
        if ((k = numbered(p, n, 'x')) >= 0 && k < 8)
            return k;
        return (k = numbered(p, n, 'r')) < 4 ? k : -1;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        if ((k = numbered(p, n, 'a')) >= 0 && k < 4)
            return k;
        return (k = numbered(p, n, 'r')) >= 4 && k < 8 ? k - 4 : -1;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return (k = numbered(p, n, 'r')) >= 3 && k < 11 ? k - 3 : -1;
    case TROD_ISA_RISCV64:
        if ((k = numbered(p, n, 'a')) >= 0 && k < 8)
            return k;
        return (k = numbered(p, n, 'x')) >= 10 && k < 18 ? k - 10 : -1;
    case TROD_ISA_X86_64:
        for (k = 0; k < 6; k++)
            if (strlen(x86[k]) == n && memcmp(p, x86[k], n) == 0)
                return k;
        return -1;
    default:
        return -1;
    }
}

/*
 * Does row I write a register? 1: yes, *VALUE is its value; 0: yes, the value is not known; -1: no.
 */
static int written(const struct trod_batch *b, uint32_t i, uint64_t *value)
{
    const uint32_t said = b->have & b->has[i];
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;

    if (!(said & TROD_COL_VALUE))
        return flags & TROD_F_PARTIAL && !(flags & TROD_F_UNKNOWN) ? -1 : 0;
    *value = b->value[i];
    return !(flags & (TROD_F_UNKNOWN | TROD_F_PARTIAL));
}

/* Which argument row I writes, or -1. */
static int argument_at(unsigned isa, const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_REG && b->have & b->has[i] & TROD_COL_TEXT && b->text[i].len <= 3
               ? argument_of(isa, trod_batch_bytes(b, b->text[i]), b->text[i].len)
               : -1;
}

/* Argument K was written last: its value is KNOWN, or not. */
static void learn(struct cg_registers *r, unsigned k, int known)
{
    r->known = (uint8_t)((r->known & ~(1u << k)) | (unsigned)known << k);
    r->seen |= (uint8_t)(1u << k);
}

int cg_registers(struct cg_core *core, struct cg_lane *l, const struct trod_batch *b, uint32_t from,
                 uint32_t to)
{
    if (!l->registers && !(l->registers = calloc(1, sizeof *l->registers)))
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; i < to; i++) {
        const int k = argument_at(core->isa, b, i);
        const int known = k < 0 ? -1 : written(b, i, &l->registers->value[k]);

        if (known >= 0)
            learn(l->registers, (unsigned)k, known);
    }
    return TROD_OK;
}

/* ---- arguments where no rows are given */

enum { ARGUMENT_NAMES = 2, FEW = 16, NEAR = 4096 };

/* Names of registers that carry argument K; none: "". */
static void argument_names(unsigned isa, unsigned k, char name[ARGUMENT_NAMES][4])
{
    static const char *const x86[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};

    name[0][0] = name[1][0] = '\0';
    switch (isa) {
    case TROD_ISA_A64:
    case TROD_ISA_ARM:
        snprintf(name[0], sizeof name[0], "x%u", k & 7);
        if (k < 4)
            snprintf(name[1], sizeof name[1], "r%u", k);
        break;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        if (k < 4)
            snprintf(name[0], sizeof name[0], "r%u", k + 4);
        break;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        snprintf(name[0], sizeof name[0], "r%u", (k & 7) + 3);
        break;
    case TROD_ISA_RISCV64:
        snprintf(name[0], sizeof name[0], "x%u", (k & 7) + 10);
        break;
    case TROD_ISA_X86_64:
        if (k < sizeof x86 / sizeof *x86)
            snprintf(name[0], sizeof name[0], "%s", x86[k]);
        break;
    default:
        break;
    }
}

/* Is row I of the stream of C? It need not say so if no row does. */
static bool is_of(const struct cg_call *c, const struct trod_batch *b, uint32_t i)
{
    return (b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] + UINT64_C(1) : 0) == c->lane;
}

/* A call whose arguments were written before the part of the trace that is read. */
struct earlier {
    const struct trod_given_calls *calls;
    uint32_t lane;
};

/* Argument K of C, as its last write before C tells it. Returns 1, 0 (not known) or an error. */
static int find_argument(struct cg_call *c, unsigned k, const struct trod_callstack_source *source)
{
    char name[ARGUMENT_NAMES][4];
    uint64_t from = c->lane_begin;
    int known = 0;

    argument_names(c->isa, k, name);
    for (unsigned i = 0; i < ARGUMENT_NAMES && name[i][0]; i++) {
        const struct trod_batch *b;
        uint64_t row = c->row, value = 0;
        uint32_t at;
        int rc, said = -1;

        while (said < 0 &&
               (rc = source->wrote(source->ctx, c->stream, name[i], from, &row, &b, &at)) > 0)
            if (is_of(c, b, at) && argument_at(c->isa, b, at) == (int)k)
                said = written(b, at, &value);
        if (said < 0 && rc < 0)
            return rc;
        if (said >= 0) {
            known = said;
            c->arg[k] = value;
            from = row;
        }
    }
    return known;
}

static int earlier(void *ctx, uint32_t stream, const char *name, uint64_t from, uint64_t *row,
                   const struct trod_batch **b, uint32_t *i)
{
    const struct earlier *e = ctx;
    const int rc = e->calls->wrote(e->calls->ctx, e->lane, name, row, b, i);

    (void)stream;
    return rc > 0 && *row < from ? 0 : rc;
}

int cg_earlier_arguments(const struct cg_core *core, struct cg_lane *l, const struct cg_call *of)
{
    struct earlier e = {core->context.given, (uint32_t)of->lane};
    const struct trod_callstack_source source = {.ctx = &e, .wrote = earlier};
    struct cg_registers *r;
    struct cg_call c = *of;
    int known = 1;

    if (!e.calls)
        return TROD_OK;
    if (!l->registers && !(l->registers = calloc(1, sizeof *l->registers)))
        return TROD_ERR_NOMEM;
    r = l->registers;
    c.lane_begin = 0;
    for (unsigned k = 0; k < CG_ARGS && known > 0; k++) {
        if (!(r->seen >> k & 1)) {
            e.calls->lock(e.calls->ctx, true);
            known = find_argument(&c, k, &source);
            e.calls->lock(e.calls->ctx, false);
            if (known < 0)
                return known;
            r->value[k] = c.arg[k];
            learn(r, k, known);
        }
        known = r->known >> k & 1; /* those behind one that is not known are not shown */
    }
    return TROD_OK;
}

int cg_list_arguments(struct cg_core *core, const struct trod_callstack_source *source)
{
    int rc = TROD_OK;

    /* a search may cost as much as reading NEAR instructions */
    if (!source->wrote || (core->calls.n > FEW && core->calls.n > core->counts.instructions / NEAR))
        return TROD_ERR_UNKNOWN;
    for (size_t i = 0; rc == TROD_OK && i < core->calls.n; i++) {
        struct cg_call *c = &core->calls.at[i];

        /* those behind one that is not known are not shown */
        for (unsigned k = 0; k < CG_ARGS && (rc = find_argument(c, k, source)) > 0; k++)
            c->args |= (uint8_t)(1u << k);
        rc = rc < 0 ? rc : TROD_OK;
    }
    return rc;
}
