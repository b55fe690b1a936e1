/*
 * insn_arm.c - facts of A64, A32 and T32 instructions, and of MIPS ones, from Capstone's details.
 *
 * Implements the Arm and MIPS parts of trod/insn.h. Sizes follow from the mnemonic and the register
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

static void a32_memory(const cs_insn *insn, struct trod_insn *out)
{
    const char *m = insn->mnemonic;
    bool load = begins(m, "ldr") || begins(m, "vldr"),
         store = begins(m, "str") || begins(m, "vstr");
    uint32_t size = 4;

    out->flags |= TROD_INSN_COUNTS;
    if (begins(m, "pld") || begins(m, "pli")) {
        out->flags |= TROD_INSN_PREFETCH;
        return;
    }
    if (begins(m, "ldm") || begins(m, "stm") || begins(m, "push") || begins(m, "pop") ||
        begins(m, "vldm") || begins(m, "vstm") || begins(m, "vpush") || begins(m, "vpop") ||
        begins(m, "vld") || begins(m, "vst") || begins(m, "swp") || begins(m, "ldc") ||
        begins(m, "stc") || begins(m, "ldrex") || begins(m, "strex") || begins(m, "lda") ||
        begins(m, "stl") || begins(m, "rfe") || begins(m, "srs") || begins(m, "tb")) {
        out->flags &= ~(uint32_t)TROD_INSN_COUNTS;
        return;
    }
    if (!load && !store)
        return;
    /* ldrsb, strh, ldrd: the letter behind "ldr", "ldrs" or "str" */
    m += 3 + (m[0] == 'l' && m[3] == 's' && m[4] != '\0');
    size = *m == 'b' ? 1 : *m == 'h' ? 2 : *m == 'd' ? 8 : 4;
    out->loads = load;
    out->stores = store;
    out->read_size = load ? size : 0;
    out->write_size = store ? size : 0;
    if (insn->mnemonic[0] != 'v')
        out->flags |= TROD_INSN_SIZES;
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

/* ---- MIPS ---- */

void trod_insn_mips(const cs_insn *insn, struct trod_insn *out)
{
    const cs_mips *x = &insn->detail->mips;
    const cs_mips_op *last = x->op_count ? &x->operands[x->op_count - 1] : NULL;
    const char *m = insn->mnemonic;

    if (strcmp(m, "j") == 0 || strcmp(m, "b") == 0)
        out->branch = TROD_BR_DIRECT;
    else if (strcmp(m, "jal") == 0 || strcmp(m, "bal") == 0)
        out->branch = TROD_BR_CALL;
    else if (strcmp(m, "jr") == 0)
        out->branch = last && last->reg == MIPS_REG_RA ? TROD_BR_RETURN : TROD_BR_INDIRECT;
    else if (strcmp(m, "jalr") == 0)
        out->branch = TROD_BR_ICALL;
    else if (strcmp(m, "syscall") == 0)
        out->branch = TROD_BR_SYSCALL;
    else if (strcmp(m, "eret") == 0)
        out->branch = TROD_BR_ERET;
    else if (in_group(insn, MIPS_GRP_JUMP) ||
             (m[0] == 'b' && last && last->type == MIPS_OP_IMM && strcmp(m, "break") != 0))
        out->branch = TROD_BR_COND;
    if (out->branch && last && last->type == MIPS_OP_IMM && out->branch != TROD_BR_SYSCALL) {
        out->flags |= TROD_INSN_TARGET;
        out->target = (uint64_t)last->imm;
    }
    out->flags |= TROD_INSN_COUNTS;
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == MIPS_OP_MEM) {
            out->loads = m[0] == 'l';
            out->stores = m[0] == 's';
        }
    if (begins(m, "pref"))
        out->flags |= TROD_INSN_PREFETCH;
}

#endif
