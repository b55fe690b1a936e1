/*
 * code.c - an assembler of eight operations for six instruction sets.
 *
 * Encodings are those of the architectures' manuals; tests/cli/test_gen.sh has objdump read them.
 */
#include "gen/int.h"
#include "trod/detail.h"
#include "trod/disasm.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED = 4096, FIXED = 4, NEAR = 5 };

/* Opcodes of 32 bits; branches without their distance. */
static const uint32_t a64[GEN_OPS] = {0xf9400001, 0xf9000001, 0x91002000, 0x54000001,
                                      0x94000000, 0xd65f03c0, 0xf81f0ffe, 0xf84107fe};
static const uint32_t ppc[GEN_OPS] = {0x80830000,
                                      0x90830000,
                                      0x38630004,
                                      0x40820000,
                                      0x48000001,
                                      0x4e800020,
                                      0x9401fff0,
                                      0x80010000,
                                      [GEN_ADDRESS] = 0x7c6feaa6,
                                      [GEN_DATUM] = 0x7c89eaa6,
                                      [GEN_TRIP] = 0x7caaeaa6,
                                      [GEN_COMPARE] = 0x2c050000,
                                      [GEN_LINK] = 0x7c0802a6,
                                      [GEN_UNLINK] = 0x7c0803a6,
                                      [GEN_DROP] = 0x38210010};
static const uint32_t mips[GEN_OPS] = {0x8c820000, 0xac820000, 0x24840004, 0x14850000,
                                       0x0c000000, 0x03e00008, 0xafbf0000, 0x8fbf0000};

static const uint32_t riscv[GEN_OPS] = {0x00053583, 0x00b53023, 0x00850513, 0x00c51063,
                                        0x000000ef, 0x00008067, 0x00113023, 0x00013083};

/* The parts of a distance BY where RISC-V has them: of a branch, of a jump. */
static uint32_t riscv_branch(uint32_t by)
{
    return (by >> 12 & 1) << 31 | (by >> 5 & 0x3f) << 25 | (by >> 1 & 0xf) << 8 |
           (by >> 11 & 1) << 7;
}

static uint32_t riscv_jump(uint32_t by)
{
    return (by >> 20 & 1) << 31 | (by >> 1 & 0x3ff) << 21 | (by >> 11 & 1) << 20 |
           (by >> 12 & 0xff) << 12;
}

static uint32_t word_of(const struct trod_gen *g, const struct gen_insn *in)
{
    const uint64_t to = gen_pc(g, in->target);
    const uint32_t by = (uint32_t)(to - in->pc);
    const bool cond = in->op == GEN_COND, call = in->op == GEN_CALL;

    if (g->isa == TROD_ISA_A64)
        return a64[in->op] | (cond ? (by / 4 & 0x7ffff) << 5 : call ? by / 4 & 0x3ffffff : 0);
    if (g->isa == TROD_ISA_PPC32)
        return ppc[in->op] | (cond ? by & 0xfffc : call ? by & 0x3fffffc : 0);
    if (g->isa == TROD_ISA_RISCV64)
        return riscv[in->op] | (cond ? riscv_branch(by) : call ? riscv_jump(by) : 0);
    return mips[in->op] | (cond   ? ((by - 4) / 4 & 0xffff)
                           : call ? (uint32_t)to / 4 & 0x3ffffff
                                  : 0);
}

/* x86: operands without a prefix have 32 bits, the stack has that of the mode. */
static uint32_t x86_of(struct trod_gen *g, struct gen_insn *in)
{
    const bool wide = g->isa == TROD_ISA_X86_64;
    uint8_t *p = in->code;
    uint32_t by;

    switch (in->op) {
    case GEN_LOAD:
    case GEN_STORE:
        if (wide)
            *p++ = 0x48;
        *p++ = in->op == GEN_LOAD ? 0x8b : 0x89;
        *p++ = 0x07;
        break;
    case GEN_ADD:
        if (wide)
            *p++ = 0x48;
        *p++ = 0x83;
        *p++ = 0xc7;
        *p++ = (uint8_t)g->word;
        break;
    case GEN_COND:
        *p++ = 0x75;
        *p = (uint8_t)(gen_pc(g, in->target) - (in->pc + 2));
        p++;
        break;
    case GEN_CALL:
        *p++ = 0xe8;
        by = (uint32_t)(gen_pc(g, in->target) - (in->pc + NEAR));
        for (unsigned i = 0; i < 4; i++)
            *p++ = (uint8_t)(by >> 8 * i);
        break;
    default:
        *p++ = 0xc3;
    }
    return (uint32_t)(p - in->code);
}

static void encode(struct trod_gen *g, struct gen_insn *in)
{
    uint32_t word;

    if (g->isa == TROD_ISA_X86_64 || g->isa == TROD_ISA_X86_32) {
        in->size = x86_of(g, in);
        return;
    }
    word = word_of(g, in);
    in->size = FIXED;
    for (unsigned i = 0; i < FIXED; i++)
        in->code[i] = (uint8_t)(word >> 8 * (g->meta->endian == TROD_ENDIAN_BIG ? 3 - i : i));
}

static void instruction(struct trod_gen *g, enum gen_op op, unsigned target)
{
    static const uint32_t kinds[GEN_OPS] = {
        [GEN_COND] = TROD_BR_COND, [GEN_CALL] = TROD_BR_CALL, [GEN_RETURN] = TROD_BR_RETURN};
    struct gen_insn *in = &g->code[g->n_code++];

    *in = (struct gen_insn){.op = op, .target = target, .flags = kinds[op]};
    if (g->isa == TROD_ISA_A64)
        in->flags |= (uint32_t)TROD_ISET_A64 << TROD_F_ISET_SHIFT;
}

static void beside(struct trod_gen *g, enum gen_op op, bool behind)
{
    const enum gen_op *ops;
    const unsigned n = g->isa == TROD_ISA_PPC32 ? gen_ppc_beside(op, behind, &ops) : 0;

    for (unsigned i = 0; i < n; i++)
        instruction(g, ops[i], 0);
}

unsigned gen_code(struct trod_gen *g, enum gen_op op, unsigned target)
{
    beside(g, op, false);
    instruction(g, op, target);
    beside(g, op, true);
    g->step[++g->n_steps] = g->n_code;
    return g->n_steps - 1;
}

struct trod_slice gen_keep(struct trod_gen *g, const void *p, uint32_t n)
{
    const uint32_t at = (g->n_bytes + 7) & ~7u;

    if (at + n > SHARED)
        return (struct trod_slice){0, 0};
    memcpy(g->bytes + at, p, n);
    g->n_bytes = at + n;
    return (struct trod_slice){at | (uint32_t)TROD_SLICE_SHARED, n};
}

static void keep_mode(struct trod_gen *g)
{
    struct trod_detail_instr detail = {0};

    if (g->isa != TROD_ISA_A64)
        return;
    detail.mode = gen_keep(g, "EL0t", 4);
    g->mode = gen_keep(g, &detail, sizeof detail);
}

int gen_assemble(struct trod_gen *g)
{
    static const uint8_t nop[FIXED] = {0};
    struct trod_disasm *disasm = NULL;

    g->bytes = calloc(1, SHARED);
    if (!g->bytes)
        return TROD_ERR_NOMEM;
    for (unsigned pass = 0; pass < 2; pass++) { /* distances follow from sizes */
        uint64_t pc = GEN_TEXT;

        for (unsigned i = 0; i < g->n_code; i++) {
            struct gen_insn *in = &g->code[i];

            in->pc = pc;
            encode(g, in);
            pc += in->size;
            if (g->delays && in->flags & TROD_F_BRANCH)
                pc += FIXED;
        }
        g->code[g->n_code].pc = pc; /* where the program would go on */
    }
    gen_keep(g, nop, sizeof nop); /* at 0: what stands behind branches that delay */
    keep_mode(g);
    if (trod_disasm_new(&disasm, g->isa, g->meta->endian, NULL) < 0)
        disasm = NULL;
    for (unsigned i = 0; i < g->n_code; i++) {
        struct gen_insn *in = &g->code[i];
        const unsigned iset = (in->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
        size_t n = 0;

        in->at = gen_keep(g, in->code, in->size);
        if (disasm) {
            const char *text = trod_disasm_text(disasm, iset, in->pc, in->code, in->size, &n);

            in->text = gen_keep(g, text, (uint32_t)n);
        }
    }
    trod_disasm_free(disasm);
    return TROD_OK;
}
