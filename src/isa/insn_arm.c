/*
 * insn_arm.c - facts of A64, A32 and T32 instructions, from Capstone's details.
 *
 * Implements the Arm parts of trod/insn.h. Sizes follow from the instruction and its register
 * operands (Arm Architecture Reference Manual, A64 and A32 load and store classes).
 */
#include "isa/insn_int.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <string.h>

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        if (insn->detail->groups[i] == group)
            return true;
    return false;
}

/* ---- A64 ---- */

static void a64_flow(const cs_insn *insn, struct trod_insn *out)
{
    const cs_arm64 *x = &insn->detail->arm64;
    const cs_arm64_op *last = x->op_count ? &x->operands[x->op_count - 1] : NULL;

    switch (insn->id) {
    case ARM64_INS_B:
        out->branch = x->cc == ARM64_CC_INVALID || x->cc == ARM64_CC_AL || x->cc == ARM64_CC_NV
                          ? TROD_BR_DIRECT
                          : TROD_BR_COND;
        break;
    case ARM64_INS_BL:
        out->branch = TROD_BR_CALL;
        break;
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        out->branch = TROD_BR_COND;
        break;
    case ARM64_INS_BR:
        out->branch = TROD_BR_INDIRECT;
        break;
    case ARM64_INS_BLR:
        out->branch = TROD_BR_ICALL;
        break;
    case ARM64_INS_RET:
        out->branch = TROD_BR_RETURN;
        break;
    case ARM64_INS_ERET:
        out->branch = TROD_BR_ERET;
        break;
    case ARM64_INS_SVC:
    case ARM64_INS_HVC:
    case ARM64_INS_SMC:
        out->branch = TROD_BR_SYSCALL;
        return;
    case ARM64_INS_BRK:
    case ARM64_INS_HLT:
        out->flags |= TROD_INSN_TRAP;
        return;
    default:
        return;
    }
    if (last && last->type == ARM64_OP_IMM) {
        out->flags |= TROD_INSN_TARGET;
        out->target = (uint64_t)last->imm;
    }
}

/* Bytes of a register operand as it is loaded or stored. */
static uint32_t a64_reg_size(arm64_reg r)
{
    if ((r >= ARM64_REG_W0 && r <= ARM64_REG_W30) || r == ARM64_REG_WZR || r == ARM64_REG_WSP)
        return 4;
    if (r >= ARM64_REG_B0 && r <= ARM64_REG_B31)
        return 1;
    if (r >= ARM64_REG_H0 && r <= ARM64_REG_H31)
        return 2;
    if (r >= ARM64_REG_S0 && r <= ARM64_REG_S31)
        return 4;
    if (r >= ARM64_REG_Q0 && r <= ARM64_REG_Q31)
        return 16;
    return 8;
}

/* Loads and stores of one or two plain registers: their size; 0 when the form is another. */
static uint32_t a64_access_size(const cs_insn *insn)
{
    const cs_arm64 *x = &insn->detail->arm64;
    const char *m = insn->mnemonic;
    size_t n = strlen(m);
    unsigned first =
        begins(m, "stxr") || begins(m, "stlxr") || begins(m, "stxp") || begins(m, "stlxp") ? 1 : 0;
    uint32_t size;

    if (x->op_count <= first || x->operands[first].type != ARM64_OP_REG || x->operands[first].vas ||
        (x->operands[first].reg >= ARM64_REG_V0 && x->operands[first].reg <= ARM64_REG_V31))
        return 0;
    size = a64_reg_size(x->operands[first].reg);
    if (m[n - 1] == 'b' && size <= 8)
        size = 1;
    else if (m[n - 1] == 'h' && size <= 8)
        size = 2;
    else if (n > 2 && m[n - 1] == 'w' && m[n - 2] == 's')
        size = 4;
    if (m[2] == 'p' || m[2] == 'n' || begins(m + 2, "xp") || begins(m + 2, "axp") ||
        begins(m + 2, "lxp"))
        size *= 2;
    return size;
}

static void a64_memory(const cs_insn *insn, struct trod_insn *out)
{
    const cs_arm64 *x = &insn->detail->arm64;
    const char *m = insn->mnemonic;
    bool mem = false, vector;
    uint32_t size;

    out->flags |= TROD_INSN_COUNTS;
    for (unsigned i = 0; i < x->op_count; i++)
        mem = mem || x->operands[i].type == ARM64_OP_MEM;
    if (begins(m, "prf")) {
        out->flags |= TROD_INSN_PREFETCH;
        return;
    }
    if (begins(m, "dc") || begins(m, "ic")) {
        out->flags |= TROD_INSN_FLUSH;
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
        return;
    }
    /* "ldr x0, label" has no memory operand in the text */
    if (!mem && !(begins(m, "ldr") && x->op_count == 2))
        return;
    vector = begins(m, "ld1") || begins(m, "ld2") || begins(m, "ld3") || begins(m, "ld4") ||
             begins(m, "st1") || begins(m, "st2") || begins(m, "st3") || begins(m, "st4");
    if (vector) {
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
        out->loads = m[0] == 'l';
        out->stores = m[0] == 's';
        return;
    }
    size = a64_access_size(insn);
    if (m[0] == 'l') {
        out->loads = 1;
        out->read_size = size;
    } else if (m[0] == 's') {
        out->stores = 1;
        out->write_size = size;
    } else {
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
    }
    if (begins(m, "stxr") || begins(m, "stlxr") || begins(m, "stxp") || begins(m, "stlxp"))
        out->flags |= TROD_INSN_PREDICATED;
    /* atomics read and write */
    if (begins(m, "ldadd") || begins(m, "ldclr") || begins(m, "ldeor") || begins(m, "ldset") ||
        begins(m, "ldsmax") || begins(m, "ldsmin") || begins(m, "ldumax") || begins(m, "ldumin") ||
        begins(m, "swp") || begins(m, "cas")) {
        out->loads = out->stores = 1;
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
        return;
    }
    if (size)
        out->flags |= TROD_INSN_SIZES;
}

void trod_insn_a64(const cs_insn *insn, struct trod_insn *out)
{
    a64_flow(insn, out);
    a64_memory(insn, out);
    if (in_group(insn, ARM64_GRP_NEON) || in_group(insn, ARM64_GRP_FPARMV8))
        out->flags |= TROD_INSN_FP;
}

/* ---- A32, T32 ---- */

static bool writes_pc(const cs_arm *x)
{
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == ARM_OP_REG && x->operands[i].reg == ARM_REG_PC &&
            (x->operands[i].access & CS_AC_WRITE))
            return true;
    return false;
}

/* The register list of ldm and pop names the pc. */
static bool lists_pc(const cs_insn *insn)
{
    const cs_arm *x = &insn->detail->arm;

    return (insn->id == ARM_INS_POP || begins(insn->mnemonic, "ldm")) && x->op_count &&
           x->operands[x->op_count - 1].type == ARM_OP_REG &&
           x->operands[x->op_count - 1].reg == ARM_REG_PC;
}

static void a32_flow(const cs_insn *insn, struct trod_insn *out)
{
    const cs_arm *x = &insn->detail->arm;
    bool always = x->cc == ARM_CC_AL || x->cc == ARM_CC_INVALID;
    const cs_arm_op *last = x->op_count ? &x->operands[x->op_count - 1] : NULL;

    switch (insn->id) {
    case ARM_INS_B:
        out->branch = always ? TROD_BR_DIRECT : TROD_BR_COND;
        break;
    case ARM_INS_BL:
    case ARM_INS_BLX:
        out->branch = last && last->type == ARM_OP_IMM ? TROD_BR_CALL : TROD_BR_ICALL;
        break;
    case ARM_INS_CBZ:
    case ARM_INS_CBNZ:
        out->branch = TROD_BR_COND;
        break;
    case ARM_INS_BX:
    case ARM_INS_BXJ:
        out->branch = last && last->reg == ARM_REG_LR ? TROD_BR_RETURN : TROD_BR_INDIRECT;
        return;
    case ARM_INS_TBB:
    case ARM_INS_TBH:
        out->branch = TROD_BR_INDIRECT;
        return;
    case ARM_INS_SVC:
    case ARM_INS_HVC:
    case ARM_INS_SMC:
        out->branch = TROD_BR_SYSCALL;
        return;
    case ARM_INS_BKPT:
    case ARM_INS_UDF:
        out->flags |= TROD_INSN_TRAP;
        return;
    default:
        if (lists_pc(insn))
            out->branch = TROD_BR_RETURN;
        else if (writes_pc(x))
            out->branch = last && last->type == ARM_OP_REG && last->reg == ARM_REG_LR
                              ? TROD_BR_RETURN
                              : TROD_BR_INDIRECT;
        return;
    }
    if (last && last->type == ARM_OP_IMM) {
        out->flags |= TROD_INSN_TARGET;
        out->target = (uint32_t)last->imm;
    }
}

enum { LOAD = 1, STORE = 2, COND = 4, BLOCK = 8, BASE = 16, HINT = 32, VECTOR = 64 };

/* Loads and stores: bytes of one access, or (BLOCK) as many as the registers have. */
static const struct {
    unsigned id;
    uint8_t what, size;
} a32_access[] = {
    {ARM_INS_LDR, LOAD, 4},
    {ARM_INS_LDRT, LOAD, 4},
    {ARM_INS_LDRB, LOAD, 1},
    {ARM_INS_LDRBT, LOAD, 1},
    {ARM_INS_LDRSB, LOAD, 1},
    {ARM_INS_LDRSBT, LOAD, 1},
    {ARM_INS_LDRH, LOAD, 2},
    {ARM_INS_LDRHT, LOAD, 2},
    {ARM_INS_LDRSH, LOAD, 2},
    {ARM_INS_LDRSHT, LOAD, 2},
    {ARM_INS_LDRD, LOAD, 8},
    {ARM_INS_LDREX, LOAD, 4},
    {ARM_INS_LDREXB, LOAD, 1},
    {ARM_INS_LDREXH, LOAD, 2},
    {ARM_INS_LDREXD, LOAD, 8},
    {ARM_INS_LDA, LOAD, 4},
    {ARM_INS_LDAB, LOAD, 1},
    {ARM_INS_LDAH, LOAD, 2},
    {ARM_INS_LDAEX, LOAD, 4},
    {ARM_INS_LDAEXB, LOAD, 1},
    {ARM_INS_LDAEXH, LOAD, 2},
    {ARM_INS_LDAEXD, LOAD, 8},
    {ARM_INS_TBB, LOAD, 1},
    {ARM_INS_TBH, LOAD, 2},
    {ARM_INS_STR, STORE, 4},
    {ARM_INS_STRT, STORE, 4},
    {ARM_INS_STRB, STORE, 1},
    {ARM_INS_STRBT, STORE, 1},
    {ARM_INS_STRH, STORE, 2},
    {ARM_INS_STRHT, STORE, 2},
    {ARM_INS_STRD, STORE, 8},
    {ARM_INS_STREX, STORE | COND, 4},
    {ARM_INS_STREXB, STORE | COND, 1},
    {ARM_INS_STREXH, STORE | COND, 2},
    {ARM_INS_STREXD, STORE | COND, 8},
    {ARM_INS_STL, STORE, 4},
    {ARM_INS_STLB, STORE, 1},
    {ARM_INS_STLH, STORE, 2},
    {ARM_INS_STLEX, STORE | COND, 4},
    {ARM_INS_STLEXB, STORE | COND, 1},
    {ARM_INS_STLEXH, STORE | COND, 2},
    {ARM_INS_STLEXD, STORE | COND, 8},
    {ARM_INS_SWP, LOAD | STORE, 4},
    {ARM_INS_SWPB, LOAD | STORE, 1},
    {ARM_INS_PUSH, STORE | BLOCK, 0},
    {ARM_INS_POP, LOAD | BLOCK, 0},
    {ARM_INS_VPUSH, STORE | BLOCK, 0},
    {ARM_INS_VPOP, LOAD | BLOCK, 0},
    {ARM_INS_LDM, LOAD | BLOCK | BASE, 0},
    {ARM_INS_LDMDA, LOAD | BLOCK | BASE, 0},
    {ARM_INS_LDMDB, LOAD | BLOCK | BASE, 0},
    {ARM_INS_LDMIB, LOAD | BLOCK | BASE, 0},
    {ARM_INS_STM, STORE | BLOCK | BASE, 0},
    {ARM_INS_STMDA, STORE | BLOCK | BASE, 0},
    {ARM_INS_STMDB, STORE | BLOCK | BASE, 0},
    {ARM_INS_STMIB, STORE | BLOCK | BASE, 0},
    {ARM_INS_VLDMIA, LOAD | BLOCK | BASE, 0},
    {ARM_INS_VLDMDB, LOAD | BLOCK | BASE, 0},
    {ARM_INS_VSTMIA, STORE | BLOCK | BASE, 0},
    {ARM_INS_VSTMDB, STORE | BLOCK | BASE, 0},
    {ARM_INS_VLDR, LOAD | VECTOR, 0},
    {ARM_INS_VSTR, STORE | VECTOR, 0},
    {ARM_INS_PLD, HINT, 0},
    {ARM_INS_PLDW, HINT, 0},
    {ARM_INS_PLI, HINT, 0},
};

/* Bytes of register R in memory. */
static uint32_t a32_reg_size(unsigned r)
{
    if (r >= ARM_REG_D0 && r <= ARM_REG_D31)
        return 8;
    if (r >= ARM_REG_Q0 && r <= ARM_REG_Q15)
        return 16;
    return 4;
}

static uint32_t block_size(const cs_arm *x, unsigned from)
{
    uint32_t size = 0;

    for (unsigned i = from; i < x->op_count; i++)
        if (x->operands[i].type == ARM_OP_REG)
            size += a32_reg_size((unsigned)x->operands[i].reg);
    return size;
}

static void a32_memory(const cs_insn *insn, struct trod_insn *out)
{
    const cs_arm *x = &insn->detail->arm;
    unsigned what = 0;
    uint32_t size = 0;

    out->flags |= TROD_INSN_COUNTS;
    for (size_t i = 0; i < sizeof a32_access / sizeof *a32_access && !what; i++)
        if (a32_access[i].id == insn->id) {
            what = a32_access[i].what;
            size = a32_access[i].size;
        }
    if (what & HINT)
        out->flags |= TROD_INSN_PREFETCH;
    if (what & COND)
        out->flags |= TROD_INSN_PREDICATED;
    if (what & BLOCK)
        size = block_size(x, what & BASE ? 1 : 0);
    if (what & VECTOR)
        size = x->op_count ? a32_reg_size((unsigned)x->operands[0].reg) : 0;
    if (what & LOAD) {
        out->loads = 1;
        out->read_size = size;
    }
    if (what & STORE) {
        out->stores = 1;
        out->write_size = size;
    }
    if (size)
        out->flags |= TROD_INSN_SIZES;
    /* structures of vectors, coprocessors, states of exceptions */
    if (!what && (begins(insn->mnemonic, "vld") || begins(insn->mnemonic, "vst") ||
                  begins(insn->mnemonic, "ldc") || begins(insn->mnemonic, "stc") ||
                  begins(insn->mnemonic, "fldm") || begins(insn->mnemonic, "fstm") ||
                  begins(insn->mnemonic, "rfe") || begins(insn->mnemonic, "srs")))
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
}

void trod_insn_a32(const cs_insn *insn, struct trod_insn *out)
{
    const cs_arm *x = &insn->detail->arm;

    a32_flow(insn, out);
    a32_memory(insn, out);
    if (x->cc != ARM_CC_AL && x->cc != ARM_CC_INVALID)
        out->flags |= TROD_INSN_PREDICATED;
    if (in_group(insn, ARM_GRP_NEON) || in_group(insn, ARM_GRP_VFP2) ||
        in_group(insn, ARM_GRP_VFP3))
        out->flags |= TROD_INSN_FP;
}

#endif
