/*
 * insn_x86.c - facts of x86 instructions, from Capstone's details.
 *
 * Implements the x86 part of trod/insn.h. Capstone names the memory operands that are written in
 * the text; the stack accesses of push, call and their like, and what a named operand is not
 * accessed for (lea, nop, hints), are from the Intel manual, volume 2.
 */
#include "isa/insn_int.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE

#include <capstone/capstone.h>

/* What the table of exceptions says of an instruction. */
enum {
    PUSH = 1 << 0,    /* writes the stack */
    POP = 1 << 1,     /* reads the stack */
    PUSHES = 1 << 2,  /* writes it several times: not counted */
    NOTHING = 1 << 3, /* names memory that it does not access */
    HINT = 1 << 4,
    LINE = 1 << 5,
    LONG = 1 << 6,   /* accesses an area of a size that depends on the machine's state */
    MASKED = 1 << 7, /* elements may be left out */
    STORE = 1 << 8,  /* its memory operand is written only */
    BOTH = 1 << 9,   /* its memory operand is read and written */
    LOAD = 1 << 10   /* its memory operand is read only */
};

static const struct {
    unsigned id, what;
} odd[] = {
    {X86_INS_PUSH, PUSH},
    {X86_INS_PUSHF, PUSH},
    {X86_INS_PUSHFD, PUSH},
    {X86_INS_PUSHFQ, PUSH},
    {X86_INS_POP, POP},
    {X86_INS_POPF, POP},
    {X86_INS_POPFD, POP},
    {X86_INS_POPFQ, POP},
    {X86_INS_CALL, PUSH},
    {X86_INS_LCALL, PUSHES},
    {X86_INS_RET, POP},
    {X86_INS_RETF, PUSHES},
    {X86_INS_RETFQ, PUSHES},
    {X86_INS_IRET, PUSHES},
    {X86_INS_IRETD, PUSHES},
    {X86_INS_IRETQ, PUSHES},
    {X86_INS_ENTER, PUSHES},
    {X86_INS_LEAVE, POP},
    {X86_INS_PUSHAW, PUSHES},
    {X86_INS_PUSHAL, PUSHES},
    {X86_INS_POPAW, PUSHES},
    {X86_INS_POPAL, PUSHES},
    {X86_INS_LEA, NOTHING},
    {X86_INS_NOP, NOTHING},
    {X86_INS_INVLPG, NOTHING},
    {X86_INS_PREFETCH, HINT},
    {X86_INS_PREFETCHNTA, HINT},
    {X86_INS_PREFETCHT0, HINT},
    {X86_INS_PREFETCHT1, HINT},
    {X86_INS_PREFETCHT2, HINT},
    {X86_INS_PREFETCHW, HINT},
    {X86_INS_CLFLUSH, LINE},
    {X86_INS_CLFLUSHOPT, LINE},
    {X86_INS_CLWB, LINE},
    {X86_INS_XSAVE, LONG | STORE},
    {X86_INS_XSAVE64, LONG | STORE},
    {X86_INS_XSAVEC, LONG | STORE},
    {X86_INS_XSAVEC64, LONG | STORE},
    {X86_INS_XSAVEOPT, LONG | STORE},
    {X86_INS_XSAVEOPT64, LONG | STORE},
    {X86_INS_XSAVES, LONG | STORE},
    {X86_INS_XSAVES64, LONG | STORE},
    {X86_INS_XRSTOR, LONG | LOAD},
    {X86_INS_XRSTOR64, LONG | LOAD},
    {X86_INS_XRSTORS, LONG | LOAD},
    {X86_INS_XRSTORS64, LONG | LOAD},
    {X86_INS_FXSAVE, LONG | STORE},
    {X86_INS_FXSAVE64, LONG | STORE},
    {X86_INS_FXRSTOR, LONG | LOAD},
    {X86_INS_FXRSTOR64, LONG | LOAD},
    {X86_INS_FNSTENV, LONG | STORE},
    {X86_INS_FLDENV, LONG | LOAD},
    {X86_INS_FNSAVE, LONG | STORE},
    {X86_INS_FRSTOR, LONG | LOAD},
    {X86_INS_FNSTCW, STORE},
    {X86_INS_FLDCW, LOAD},
    {X86_INS_FNSTSW, STORE},
    {X86_INS_FST, STORE},
    {X86_INS_FSTP, STORE},
    {X86_INS_FIST, STORE},
    {X86_INS_FISTP, STORE},
    {X86_INS_FISTTP, STORE},
    {X86_INS_FBSTP, STORE},
    {X86_INS_SETA, STORE},
    {X86_INS_SETAE, STORE},
    {X86_INS_SETB, STORE},
    {X86_INS_SETBE, STORE},
    {X86_INS_SETE, STORE},
    {X86_INS_SETG, STORE},
    {X86_INS_SETGE, STORE},
    {X86_INS_SETL, STORE},
    {X86_INS_SETLE, STORE},
    {X86_INS_SETNE, STORE},
    {X86_INS_SETNO, STORE},
    {X86_INS_SETNP, STORE},
    {X86_INS_SETNS, STORE},
    {X86_INS_SETO, STORE},
    {X86_INS_SETP, STORE},
    {X86_INS_SETS, STORE},
    {X86_INS_STMXCSR, STORE},
    {X86_INS_VSTMXCSR, STORE},
    {X86_INS_LDMXCSR, LOAD},
    {X86_INS_VLDMXCSR, LOAD},
    {X86_INS_CMPXCHG, BOTH},
    {X86_INS_CMPXCHG8B, BOTH},
    {X86_INS_CMPXCHG16B, BOTH},
    {X86_INS_XADD, BOTH},
    {X86_INS_XCHG, BOTH},
    {X86_INS_BT, LOAD},
    {X86_INS_CMP, LOAD},
    {X86_INS_TEST, LOAD},
    {X86_INS_JMP, LOAD},
    {X86_INS_OUTSB, LOAD},
    {X86_INS_OUTSW, LOAD},
    {X86_INS_OUTSD, LOAD},
    {X86_INS_INSB, STORE},
    {X86_INS_INSW, STORE},
    {X86_INS_INSD, STORE},
    {X86_INS_MASKMOVQ, MASKED | STORE},
    {X86_INS_MASKMOVDQU, MASKED | STORE},
};

static unsigned what_of(unsigned id)
{
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (odd[i].id == id)
            return odd[i].what;
    return 0;
}

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        if (insn->detail->groups[i] == group)
            return true;
    return false;
}

static void flow_of(const cs_insn *insn, struct trod_insn *out)
{
    const cs_x86 *x = &insn->detail->x86;
    bool direct = x->op_count == 1 && x->operands[0].type == X86_OP_IMM;

    if (in_group(insn, X86_GRP_CALL))
        out->branch = direct ? TROD_BR_CALL : TROD_BR_ICALL;
    else if (in_group(insn, X86_GRP_RET))
        out->branch = TROD_BR_RETURN;
    else if (in_group(insn, X86_GRP_IRET))
        out->branch = TROD_BR_ERET;
    else if (insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP)
        out->branch = direct ? TROD_BR_DIRECT : TROD_BR_INDIRECT;
    else if (in_group(insn, X86_GRP_JUMP) || insn->id == X86_INS_LOOP ||
             insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE)
        out->branch = TROD_BR_COND;
    else if (insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER ||
             (insn->id == X86_INS_INT && x->operands[0].imm == 0x80))
        out->branch = TROD_BR_SYSCALL;
    else if (insn->id == X86_INS_SYSEXIT || insn->id == X86_INS_SYSRET)
        out->branch = TROD_BR_ERET;
    if (out->branch && direct && out->branch != TROD_BR_SYSCALL && out->branch != TROD_BR_RETURN) {
        out->flags |= TROD_INSN_TARGET;
        out->target = (uint64_t)x->operands[0].imm;
    }
    if (insn->id == X86_INS_INT3 || insn->id == X86_INS_INT1 || insn->id == X86_INS_INTO ||
        insn->id == X86_INS_UD2)
        out->flags |= TROD_INSN_TRAP;
}

static bool is_vector(const cs_insn *insn)
{
    static const uint8_t groups[] = {X86_GRP_MMX,   X86_GRP_SSE1,   X86_GRP_SSE2,  X86_GRP_SSE3,
                                     X86_GRP_SSSE3, X86_GRP_SSE41,  X86_GRP_SSE42, X86_GRP_AVX,
                                     X86_GRP_AVX2,  X86_GRP_AVX512, X86_GRP_BWI,   X86_GRP_DQI,
                                     X86_GRP_VLX,   X86_GRP_FMA};

    for (size_t i = 0; i < sizeof groups; i++)
        if (in_group(insn, groups[i]))
            return true;
    return false;
}

static void load(struct trod_insn *out, uint32_t size)
{
    out->loads++;
    out->read_size += size;
}

static void store(struct trod_insn *out, uint32_t size)
{
    out->stores++;
    out->write_size += size;
}

/*
 * How memory operand I of INSN is accessed. Capstone does not tell for vector instructions: those
 * write memory that stands first and read it elsewhere.
 */
static uint8_t access_of(const cs_insn *insn, unsigned i)
{
    uint8_t access = insn->detail->x86.operands[i].access;

    if (is_vector(insn))
        access = i == 0 ? CS_AC_WRITE : CS_AC_READ;
    return access;
}

static void operand(const cs_x86_op *op, uint8_t access, unsigned what, struct trod_insn *out)
{

    if (what & LOAD)
        access = CS_AC_READ;
    else if (what & STORE)
        access = CS_AC_WRITE;
    else if (what & BOTH)
        access = CS_AC_READ | CS_AC_WRITE;
    if (access & CS_AC_READ)
        load(out, op->size);
    if (access & CS_AC_WRITE)
        store(out, op->size);
}

/* Gathers and scatters, AVX-512 under a mask, and VEX maskmov may leave elements out. */
static bool is_masked(const cs_insn *insn)
{
    const char *m = insn->mnemonic;
    const cs_x86 *x = &insn->detail->x86;

    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_REG && x->operands[i].reg >= X86_REG_K0 &&
            x->operands[i].reg <= X86_REG_K7 && m[0] == 'v')
            return true;
    for (; *m; m++)
        if ((m[0] == 'g' && m[1] == 'a' && m[2] == 't' && m[3] == 'h') ||
            (m[0] == 's' && m[1] == 'c' && m[2] == 'a' && m[3] == 't') ||
            (m[0] == 'm' && m[1] == 'a' && m[2] == 's' && m[3] == 'k'))
            return true;
    return false;
}

static void memory_of(const cs_insn *insn, unsigned bits, struct trod_insn *out)
{
    const cs_x86 *x = &insn->detail->x86;
    unsigned what = what_of(insn->id);
    uint32_t word = bits / 8;

    out->flags |= TROD_INSN_COUNTS | TROD_INSN_SIZES;
    if (what & (HINT | LINE | NOTHING)) {
        out->flags |= what & HINT ? TROD_INSN_PREFETCH : what & LINE ? TROD_INSN_FLUSH : 0;
        return;
    }
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_MEM)
            operand(&x->operands[i], access_of(insn, i),
                    insn->id == X86_INS_POP                                ? STORE
                    : insn->id == X86_INS_PUSH || insn->id == X86_INS_CALL ? LOAD
                                                                           : what,
                    out);
    if (x->prefix[1] == 0x66 || x->prefix[2] == 0x66)
        word = bits == 64 || x->addr_size == 4 ? 2 : word;
    if (what & PUSH)
        store(out, out->branch ? bits / 8 : word);
    if (what & POP)
        load(out, out->branch ? bits / 8 : word);
    if (what & PUSHES)
        out->flags &= ~(uint32_t)(TROD_INSN_COUNTS | TROD_INSN_SIZES);
    if (what & LONG)
        out->flags &= ~(uint32_t)TROD_INSN_SIZES;
    if ((what & MASKED) || is_masked(insn))
        out->flags |= TROD_INSN_PREDICATED;
    if (x->prefix[0] == 0xf3 || x->prefix[0] == 0xf2)
        out->flags |= TROD_INSN_REPEAT;
}

void trod_insn_x86(const cs_insn *insn, unsigned bits, struct trod_insn *out)
{
    flow_of(insn, out);
    memory_of(insn, bits, out);
    if (in_group(insn, X86_GRP_FPU) || is_vector(insn))
        out->flags |= TROD_INSN_FP;
}

#endif
