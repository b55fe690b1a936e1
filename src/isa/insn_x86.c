/*
 * insn_x86.c - facts of x86 instructions, from Capstone's details.
 *
 * Implements the x86 parts of trod/insn.h and of isa/operands.h. Capstone names the memory operands
 * that are written in the text; the stack accesses of push, call and their like, and what a named
 * operand is not accessed for (lea, nop, hints), are from the Intel manual, volume 2.
 */
#include "isa/insn_int.h"
#include "isa/operands.h"
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
    LOAD = 1 << 10,  /* its memory operand is read only */
    FAR = 1 << 11,   /* it is a far pointer: a selector behind as many bytes as the register has */
    SELECTOR = 2
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
    {X86_INS_ROL, BOTH},
    {X86_INS_ROR, BOTH},
    {X86_INS_RCL, BOTH},
    {X86_INS_RCR, BOTH},
    {X86_INS_LDS, LOAD | FAR},
    {X86_INS_LES, LOAD | FAR},
    {X86_INS_LFS, LOAD | FAR},
    {X86_INS_LGS, LOAD | FAR},
    {X86_INS_LSS, LOAD | FAR},
    {X86_INS_BT, LOAD},
    {X86_INS_CMP, LOAD},
    {X86_INS_TEST, LOAD},
    {X86_INS_JMP, LOAD},
    {X86_INS_CMPSB, LOAD},
    {X86_INS_CMPSW, LOAD},
    {X86_INS_CMPSD, LOAD},
    {X86_INS_CMPSQ, LOAD},
    {X86_INS_OUTSB, LOAD},
    {X86_INS_OUTSW, LOAD},
    {X86_INS_OUTSD, LOAD},
    {X86_INS_INSB, STORE},
    {X86_INS_INSW, STORE},
    {X86_INS_INSD, STORE},
    {X86_INS_VCVTPS2PH, STORE},
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

/* The result: the facts, and the operands if they are wanted. */
struct found {
    struct trod_insn *out;
    struct trod_operands *all; /* NULL: not wanted */
};

static void add(struct trod_operand *list, uint8_t *n, unsigned most, const struct trod_operand *op)
{
    if (*n < most)
        list[(*n)++] = *op;
}

static void load(const struct found *f, const struct trod_operand *op)
{
    f->out->loads++;
    f->out->read_size += op->size;
    if (f->all)
        add(f->all->read, &f->all->n_read, TROD_OPERANDS_READ, op);
}

static void store(const struct found *f, const struct trod_operand *op)
{
    f->out->stores++;
    f->out->write_size += op->size;
    if (f->all)
        add(f->all->written, &f->all->n_written, TROD_OPERANDS_WRITTEN, op);
}

enum { RSP = 4, RBP = 5, NARROW = 16, NO_REG = 64 }; /* registers as the processor numbers them */

/* Number of the general register that Capstone calls REG; its lower half as an address: NARROW. */
static unsigned number_of(unsigned reg)
{
    static const struct {
        uint16_t wide, half, rest[3];
    } regs[16] = {
        {X86_REG_RAX, X86_REG_EAX, {X86_REG_AX, X86_REG_AL, X86_REG_AH}},
        {X86_REG_RCX, X86_REG_ECX, {X86_REG_CX, X86_REG_CL, X86_REG_CH}},
        {X86_REG_RDX, X86_REG_EDX, {X86_REG_DX, X86_REG_DL, X86_REG_DH}},
        {X86_REG_RBX, X86_REG_EBX, {X86_REG_BX, X86_REG_BL, X86_REG_BH}},
        {X86_REG_RSP, X86_REG_ESP, {X86_REG_SP, X86_REG_SPL}},
        {X86_REG_RBP, X86_REG_EBP, {X86_REG_BP, X86_REG_BPL}},
        {X86_REG_RSI, X86_REG_ESI, {X86_REG_SI, X86_REG_SIL}},
        {X86_REG_RDI, X86_REG_EDI, {X86_REG_DI, X86_REG_DIL}},
        {X86_REG_R8, X86_REG_R8D, {X86_REG_R8W, X86_REG_R8B}},
        {X86_REG_R9, X86_REG_R9D, {X86_REG_R9W, X86_REG_R9B}},
        {X86_REG_R10, X86_REG_R10D, {X86_REG_R10W, X86_REG_R10B}},
        {X86_REG_R11, X86_REG_R11D, {X86_REG_R11W, X86_REG_R11B}},
        {X86_REG_R12, X86_REG_R12D, {X86_REG_R12W, X86_REG_R12B}},
        {X86_REG_R13, X86_REG_R13D, {X86_REG_R13W, X86_REG_R13B}},
        {X86_REG_R14, X86_REG_R14D, {X86_REG_R14W, X86_REG_R14B}},
        {X86_REG_R15, X86_REG_R15D, {X86_REG_R15W, X86_REG_R15B}},
    };

    for (unsigned i = 0; reg != X86_REG_INVALID && i < 16; i++) {
        if (regs[i].wide == reg)
            return i;
        if (regs[i].half == reg)
            return i + NARROW;
        for (unsigned k = 0; k < 3; k++)
            if (regs[i].rest[k] == reg)
                return i + NARROW;
    }
    return NO_REG;
}

uint64_t trod_operands_x86_reg(unsigned reg)
{
    const unsigned n = number_of(reg);

    /* a write to a part changes the whole register, under both of its names */
    return n == NO_REG ? 0 : (UINT64_C(1) | UINT64_C(1) << NARROW) << n % NARROW;
}

static bool is_string(unsigned id)
{
    static const uint16_t ids[] = {
        X86_INS_MOVSB, X86_INS_MOVSW, X86_INS_MOVSD, X86_INS_MOVSQ, X86_INS_CMPSB, X86_INS_CMPSW,
        X86_INS_CMPSD, X86_INS_CMPSQ, X86_INS_STOSB, X86_INS_STOSW, X86_INS_STOSD, X86_INS_STOSQ,
        X86_INS_LODSB, X86_INS_LODSW, X86_INS_LODSD, X86_INS_LODSQ, X86_INS_SCASB, X86_INS_SCASW,
        X86_INS_SCASD, X86_INS_SCASQ, X86_INS_INSB,  X86_INS_INSW,  X86_INS_INSD,  X86_INS_OUTSB,
        X86_INS_OUTSW, X86_INS_OUTSD};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Memory operand OP of INSN, as far as the opcode says where it is. */
static struct trod_operand place_of(const cs_insn *insn, const cs_x86_op *op, unsigned bits)
{
    const bool far = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS ||
                     (bits == 32 && op->mem.segment != X86_REG_INVALID);
    struct trod_operand o = {.disp = (uint64_t)op->mem.disp, .size = op->size};
    unsigned base;

    if (far || op->mem.index != X86_REG_INVALID ||
        (is_string(insn->id) && !in_group(insn, X86_GRP_SSE2)))
        return o;
    base = number_of(op->mem.base);
    if (op->mem.base == X86_REG_RIP || op->mem.base == X86_REG_EIP) {
        o.form = TROD_OPERAND_FIXED;
        o.disp += insn->address + insn->size;
    } else if (op->mem.base == X86_REG_INVALID) {
        o.form = TROD_OPERAND_FIXED;
    } else if (base != NO_REG) {
        o.form = TROD_OPERAND_BASE;
        o.base = (uint8_t)base;
    }
    if (bits == 32)
        o.disp = (uint32_t)o.disp;
    return o;
}

/* SIZE bytes of the stack: DISP bytes from where BASE points. */
static struct trod_operand on_stack(unsigned base, uint32_t disp, uint32_t size, unsigned bits)
{
    const uint64_t below = UINT64_C(0) - disp;

    return (struct trod_operand){.form = TROD_OPERAND_BASE,
                                 .base = (uint8_t)(bits == 64 ? base : base + NARROW),
                                 .disp = bits == 64 ? below : (uint32_t)below,
                                 .size = size};
}

/*
 * How memory operand I of INSN is accessed. Capstone does not tell for vector instructions, and is
 * wrong about movbe: those write memory that stands first and read it elsewhere.
 */
static uint8_t access_of(const cs_insn *insn, unsigned i)
{
    uint8_t access = insn->detail->x86.operands[i].access;

    if (is_vector(insn) || insn->id == X86_INS_MOVBE)
        access = i == 0 ? CS_AC_WRITE : CS_AC_READ;
    return access;
}

static void operand(const struct found *f, const struct trod_operand *op, uint8_t access,
                    unsigned what)
{

    if (what & LOAD)
        access = CS_AC_READ;
    else if (what & STORE)
        access = CS_AC_WRITE;
    else if (what & BOTH)
        access = CS_AC_READ | CS_AC_WRITE;
    if (access & CS_AC_READ)
        load(f, op);
    if (access & CS_AC_WRITE)
        store(f, op);
}

/*
 * Bytes of an area whose size Capstone does not tell; SIZE of others. 0: by the machine's state.
 * Environments and states of x87 are shorter with an operand size of 16 bits.
 */
static uint32_t area_size(const cs_insn *insn, uint32_t size)
{
    const bool narrow = insn->detail->x86.prefix[2] == 0x66;

    if (!(what_of(insn->id) & LONG))
        return size;
    switch (insn->id) {
    case X86_INS_FXSAVE:
    case X86_INS_FXSAVE64:
    case X86_INS_FXRSTOR:
    case X86_INS_FXRSTOR64:
        return 512;
    case X86_INS_FNSTENV:
    case X86_INS_FLDENV:
        return narrow ? 14 : 28;
    case X86_INS_FNSAVE:
    case X86_INS_FRSTOR:
        return narrow ? 94 : 108;
    default:
        return 0;
    }
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

/* What it does to the stack beside the operands that it names. */
static void stack_of(const struct found *f, const cs_insn *insn, unsigned what, unsigned bits)
{
    const cs_x86 *x = &insn->detail->x86;
    uint32_t word = bits / 8;

    if (x->prefix[1] == 0x66 || x->prefix[2] == 0x66)
        word = bits == 64 || x->addr_size == 4 ? 2 : word;
    if (f->out->branch)
        word = bits / 8;
    if (what & PUSH) {
        const struct trod_operand op = on_stack(RSP, word, word, bits);

        store(f, &op);
    }
    if (what & POP) {
        const struct trod_operand op =
            on_stack(insn->id == X86_INS_LEAVE ? RBP : RSP, 0, word, bits);

        load(f, &op);
    }
}

static void memory_of(const cs_insn *insn, unsigned bits, const struct found *f)
{
    const cs_x86 *x = &insn->detail->x86;
    unsigned what = what_of(insn->id);
    struct trod_insn *out = f->out;

    out->flags |= TROD_INSN_COUNTS | TROD_INSN_SIZES;
    if (what & (HINT | LINE | NOTHING)) {
        out->flags |= what & HINT ? TROD_INSN_PREFETCH : what & LINE ? TROD_INSN_FLUSH : 0;
        return;
    }
    for (unsigned i = 0; i < x->op_count; i++) {
        struct trod_operand op;

        if (x->operands[i].type != X86_OP_MEM)
            continue;
        op = place_of(insn, &x->operands[i], bits);
        op.size = area_size(insn, op.size);
        if (what & FAR)
            op.size = (uint32_t)(x->operands[0].size + SELECTOR);
        operand(f, &op, access_of(insn, i),
                insn->id == X86_INS_POP                                ? STORE
                : insn->id == X86_INS_PUSH || insn->id == X86_INS_CALL ? LOAD
                                                                       : what);
    }
    if (insn->id == X86_INS_XLATB && out->loads == 0)
        load(f, &(struct trod_operand){.size = 1}); /* at rbx + al: not an operand of Capstone's */
    if ((insn->id == X86_INS_MASKMOVQ || insn->id == X86_INS_MASKMOVDQU) && out->stores == 0)
        store(f, &(struct trod_operand){.size = insn->id == X86_INS_MASKMOVQ ? 8 : 16}); /* rdi */
    stack_of(f, insn, what, bits);
    if (what & PUSHES)
        out->flags &= ~(uint32_t)(TROD_INSN_COUNTS | TROD_INSN_SIZES);
    if (what & LONG && area_size(insn, 0) == 0)
        out->flags &= ~(uint32_t)TROD_INSN_SIZES;
    if ((what & MASKED) || is_masked(insn))
        out->flags |= TROD_INSN_PREDICATED;
    if (x->prefix[0] == 0xf3 || x->prefix[0] == 0xf2)
        out->flags |= TROD_INSN_REPEAT;
}

void trod_insn_x86(const cs_insn *insn, unsigned bits, struct trod_insn *out)
{
    const struct found f = {out, NULL};

    flow_of(insn, out);
    memory_of(insn, bits, &f);
    if (in_group(insn, X86_GRP_FPU) || is_vector(insn))
        out->flags |= TROD_INSN_FP;
}

/* --- isa/operands.h --- */

/* Bytes of an element of a gather or scatter: what its name ends with. */
static uint32_t element_size(const char *mnemonic)
{
    const char last = mnemonic[strlen(mnemonic) - 1];

    return last == 'q' || (last == 'd' && strstr(mnemonic, "pd")) ? 8 : 4;
}

/* Conditional moves, vector moves under a mask, and what leaves its result alone for a zero. */
static bool has_condition(const cs_insn *insn)
{
    return strncmp(insn->mnemonic, "cmov", 4) == 0 || insn->id == X86_INS_BSF ||
           insn->id == X86_INS_BSR || strstr(insn->mnemonic, "maskmov") != NULL;
}

/* Operands that Capstone does not name, and those that it names but are hints. */
static void add_unnamed(const cs_insn *insn, const struct found *f, unsigned bits)
{
    const cs_x86 *x = &insn->detail->x86;
    struct trod_operand op;

    switch (insn->id) {
    case X86_INS_IRETQ:
        op = on_stack(RSP, 0, 40, bits);
        load(f, &op);
        return;
    case X86_INS_PUSHAL:
        op = on_stack(RSP, 32, 32, bits);
        store(f, &op);
        return;
    case X86_INS_POPAL:
        op = on_stack(RSP, 0, 32, bits);
        load(f, &op);
        return;
    case X86_INS_ENTER:
        op = on_stack(RSP, bits / 8, bits / 8, bits);
        store(f, &op);
        return;
    default:
        break;
    }
    if (!(f->out->flags & (TROD_INSN_PREFETCH | TROD_INSN_FLUSH)))
        return;
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_MEM) {
            op = place_of(insn, &x->operands[i], bits);
            load(f, &op);
        }
}

static uint8_t hint_of(unsigned id)
{
    switch (id) {
    case X86_INS_PREFETCHT0:
        return TROD_HINT_T0;
    case X86_INS_PREFETCHT1:
        return TROD_HINT_T1;
    case X86_INS_PREFETCHT2:
        return TROD_HINT_T2;
    case X86_INS_PREFETCHNTA:
        return TROD_HINT_NTA;
    case X86_INS_PREFETCHW:
        return TROD_HINT_WRITE;
    default:
        return TROD_HINT_ANY;
    }
}

void trod_operands_x86(const cs_insn *insn, unsigned bits, struct trod_operands *out)
{
    const struct found f = {&out->insn, out};
    const bool elements =
        strstr(insn->mnemonic, "gather") != NULL || strstr(insn->mnemonic, "scatter") != NULL;

    flow_of(insn, &out->insn);
    memory_of(insn, bits, &f);
    add_unnamed(insn, &f, bits);
    for (unsigned i = 0; i < out->n_read; i++)
        out->read[i].size =
            elements ? element_size(insn->mnemonic) : area_size(insn, out->read[i].size);
    for (unsigned i = 0; i < out->n_written; i++)
        out->written[i].size =
            elements ? element_size(insn->mnemonic) : area_size(insn, out->written[i].size);
    if (elements)
        out->flags |= TROD_OPERANDS_ELEMENTS;
    if (out->insn.flags & TROD_INSN_REPEAT && is_string(insn->id) && !in_group(insn, X86_GRP_SSE2))
        out->flags |= TROD_OPERANDS_REPEATED;
    if (has_condition(insn) || elements)
        out->flags |= TROD_OPERANDS_CONDITION;
    if (insn->id == X86_INS_SYSENTER || (insn->id == X86_INS_SYSCALL && bits == 32))
        out->flags |= TROD_OPERANDS_SYSENTER;
    if (out->insn.flags & TROD_INSN_PREFETCH)
        out->hint = hint_of(insn->id);
}

#endif
