/*
 * stacks.c - where the stacks are.
 *
 * Places that are certainly on a stack: on x86 the return address, which a call writes and a return
 * reads; elsewhere accesses of instructions whose base register is the stack pointer, as their
 * opcodes tell. Below the lowest such address the frame of a function that has not called another
 * one continues. Addresses near each other are one stack; it belongs to the thread that used it
 * last.
 */
#include "sim/whose/whose_int.h"
#include "trod/meta.h"

enum { ANY = 255, NEAR = 1 << 20, FRAME = 1 << 16, PAGE = 1 << 12 };

static uint32_t le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t be32(const uint8_t *p)
{
    return p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

/* A32: LDR, STR, LDM, STM and the loads and stores of halfwords and pairs, with base r13. */
static bool a32(uint32_t op)
{
    const bool extra = (op & 0x0e000090) == 0x00000090 && (op & 0x60);

    return op >> 28 != 15 && (op >> 16 & 15) == 13 &&
           ((op & 0x0c000000) == 0x04000000 || (op & 0x0e000000) == 0x08000000 || extra);
}

/* T32: PUSH and POP, LDR and STR with SP; of 32 bits loads and stores with base r13. */
static bool t32(uint32_t first, uint32_t n)
{
    if (n == 2)
        return (first & 0xf600) == 0xb400 || (first & 0xf000) == 0x9000;
    return (first & 15) == 13 && ((first & 0xfe00) == 0xe800 || (first & 0xfe00) == 0xf800);
}

/* RV32 and RV64: loads and stores with base x2, and their compressed forms. */
static bool riscv(uint32_t op, uint32_t n)
{
    const unsigned major = op & 0x7f, compressed = op >> 13 & 7;

    if (n == 2)
        return (op & 3) == 2 && compressed != 0 && compressed != 4;
    return (op >> 15 & 31) == 2 &&
           (major == 0x03 || major == 0x23 || major == 0x07 || major == 0x27);
}

/* PowerPC: loads and stores with a displacement, base r1. */
static bool power(uint32_t op)
{
    const unsigned major = op >> 26;

    return (op >> 16 & 31) == 1 && ((major >= 32 && major <= 55) || major == 58 || major == 62);
}

/* Does the instruction of ROW access memory through the stack pointer? */
static bool by_pointer(const struct trod_batch *b, uint32_t row)
{
    const struct trod_meta *m = b->meta;
    const uint8_t *p;
    uint32_t n, op;

    if (!(b->have & b->has[row] & TROD_COL_CODE) || (n = b->code[row].len) < 2)
        return false;
    p = trod_batch_bytes(b, b->code[row]);
    op = n < 4 ? p[0] | (uint32_t)p[1] << 8 : m->endian == TROD_ENDIAN_BIG ? be32(p) : le32(p);
    switch (m->isa) {
    case TROD_ISA_ARM:
        if ((b->flags[row] & TROD_F_ISET) >> TROD_F_ISET_SHIFT == TROD_ISET_T32)
            return t32(p[0] | (uint32_t)p[1] << 8, n);
        return n == 4 && a32(op);
    case TROD_ISA_A64: /* loads and stores: bits 27 and 25 are 1 and 0 */
        return n == 4 && (op & 0x0a000000) == 0x08000000 && (op >> 5 & 31) == 31;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return n == 4 && power(op);
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64: /* loads and stores: the major opcodes from 32 on */
        return n == 4 && op >> 31 && (op >> 21 & 31) == 29;
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return riscv(op, n);
    default:
        return false;
    }
}

void whose_instruction(struct whose_lane *l, const struct trod_batch *b, uint32_t row)
{
    const uint32_t flags = b->have & b->has[row] & TROD_COL_FLAGS ? b->flags[row] : 0;
    const unsigned branch = flags & TROD_F_BRANCH;
    const enum trod_isa isa = b->meta->isa;

    if (isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64)
        l->expect = branch == TROD_BR_CALL || branch == TROD_BR_ICALL ? TROD_WRITE
                    : branch == TROD_BR_RETURN                        ? TROD_READ
                                                                      : 0;
    else
        l->expect = by_pointer(b, row) ? ANY : 0;
}

/* The area of P that ADDR belongs to as part of the stack OWNER, or 0. */
static uint32_t near_one(const struct whose_space *p, uint64_t addr, uint32_t owner)
{
    const struct trod_areas *s = &p->stacks;
    const uint32_t before = trod_areas_before(s, addr), behind = trod_areas_behind(s, addr);

    if (behind && s->at[behind].from <= addr)
        return behind; /* inside: whichever thread had it before */
    if (behind && s->at[behind].value == owner && s->at[behind].from - addr < NEAR)
        return behind;
    if (before && s->at[before].value == owner && addr - s->at[before].to < NEAR)
        return before;
    return 0;
}

void whose_stack(struct trod_whose *w, struct whose_lane *l, uint32_t stream, uint64_t addr)
{
    struct whose_space *p = w->space[l->space];
    struct trod_areas *s = &p->stacks;
    uint64_t from = addr, to;
    uint32_t owner, i;

    if (l->expect != ANY)
        l->expect = 0;
    if (addr >= l->low && addr < l->high)
        return;
    if (addr > UINT64_MAX - 2 * (uint64_t)PAGE || !(owner = whose_owner(w, WHOSE_STACK, stream)))
        return;
    to = (addr | (PAGE - 1)) + 1;
    if ((i = near_one(p, addr, owner))) {
        from = s->at[i].from < from ? s->at[i].from : from;
        to = s->at[i].to > to ? s->at[i].to : to;
    }
    w->change++;
    if (!trod_areas_put(s, from, to, owner))
        w->failed = true;
    l->low = from;
    l->high = to;
}

uint32_t whose_stack_of(const struct whose_space *p, uint64_t addr, uint64_t *from, uint64_t *to)
{
    const struct trod_areas *s = &p->stacks;
    const uint32_t i = trod_areas_find(s, addr, from, to), behind = trod_areas_behind(s, addr);
    uint64_t frame;

    if (i)
        return s->at[i].value;
    if (!behind)
        return TROD_WHOSE_NOBODY;
    frame = s->at[behind].from > FRAME ? s->at[behind].from - FRAME : 0;
    if (addr < frame) {
        *to = frame < *to ? frame : *to;
        return TROD_WHOSE_NOBODY;
    }
    *from = frame > *from ? frame : *from;
    return s->at[behind].value;
}
