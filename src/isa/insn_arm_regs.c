/*
 * insn_arm_regs.c - registers of A64, A32 and T32 instructions where Capstone's lists are wrong.
 *
 * Implements the Arm parts of trod/insn.h. Capstone 4 and 5 say of an alias what holds for the
 * instruction that it stands for ("cmp" writes its first operand), and leave out the flags of some.
 * What is put right here was found by comparing with what programs change when they run.
 */
#include "isa/a64_atomics.h"
#include "isa/capstone.h"
#include "isa/insn_int.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <string.h>

static void drop(struct trod_insn *out, uint16_t reg)
{
    unsigned n = 0;

    for (unsigned i = 0; i < out->n_writes; i++)
        if (out->writes[i] != reg)
            out->writes[n++] = out->writes[i];
    out->n_writes = (uint8_t)n;
}

static void drop_read(struct trod_insn *out, uint16_t reg)
{
    unsigned n = 0;

    for (unsigned i = 0; i < out->n_reads; i++)
        if (out->reads[i] != reg)
            out->reads[n++] = out->reads[i];
    out->n_reads = (uint8_t)n;
}

/* MOVZ or MOVN in CODE, which write all of their register; MOVK keeps the rest of it. */
static bool is_wide_move(const uint8_t *code)
{
    return (code[3] & 0x1f) == 0x12 && code[2] >> 7 && (code[3] & 0x60) != 0x60;
}

static bool is_one_of(unsigned id, const uint16_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Atomic accesses: the operand that gets what was in memory; -1: it is none. */
static int atomic_result(const cs_insn *insn)
{
    static const char *const ops[] = {"ldadd",  "ldclr",  "ldeor",  "ldset", "ldsmax",
                                      "ldsmin", "ldumax", "ldumin", "swp"};

    if (strncmp(insn->mnemonic, "cas", 3) == 0)
        return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strncmp(insn->mnemonic, ops[i], strlen(ops[i])) == 0)
            return 1;
    return -1;
}

/* Does the MSR in CODE write a part of the status, NZCV, DAIF or by a number? */
static bool is_pstate(const uint8_t *code)
{
    const uint32_t w = trod_code_word(code, TROD_ENDIAN_LITTLE);

    return (w & 0xffffffc0) == 0xd51b4200 || (w & 0xfff8f01f) == 0xd500401f;
}

/* General register NUMBER as Capstone numbers it; 31 is the zero register, or for ADDRESS sp. */
static uint16_t general(unsigned number, bool wide, bool address)
{
    if (number == 31)
        return address ? ARM64_REG_SP : wide ? ARM64_REG_XZR : ARM64_REG_WZR;
    if (!wide)
        return (uint16_t)(ARM64_REG_W0 + number);
    return (uint16_t)(number < 29    ? ARM64_REG_X0 + (int)number
                      : number == 29 ? ARM64_REG_FP
                                     : ARM64_REG_LR);
}

void trod_insn_a64_atomic(uint32_t code, struct trod_insn *out)
{
    const unsigned size = trod_a64_atomic_size(code), s = code >> 16 & 31, t = code & 31;
    const bool swap = (code & 0x3f000000) == 0x08000000, pair = swap && !(code >> 23 & 1);
    const bool wide = pair ? size == 16 : size == 8;

    if (size == 0)
        return;
    out->valid = 1;
    out->size = 4;
    out->loads = out->stores = 1;
    out->read_size = out->write_size = size;
    trod_insn_add(out->reads, &out->n_reads, general(code >> 5 & 31, true, true));
    for (unsigned i = 0; i <= pair; i++) {
        trod_insn_add(out->reads, &out->n_reads, general(s + i, wide, false));
        if (swap)
            trod_insn_add(out->reads, &out->n_reads, general(t + i, wide, false));
        trod_insn_add(out->writes, &out->n_writes, general(swap ? s + i : t, wide, false));
    }
}

bool trod_insn_a64_authenticated(uint32_t code, struct trod_insn *out)
{
    const bool modifier = code >> 24 & 1; /* a second register; else zero, or sp of a return */
    const unsigned n = code >> 5 & 31;

    if ((code & 0xfffffbff) == 0xd65f0bff || (code & 0xfffffbff) == 0xd69f0bff) {
        out->branch = code >> 23 & 1 ? TROD_BR_ERET : TROD_BR_RETURN;
        if (out->branch == TROD_BR_RETURN)
            trod_insn_add(out->reads, &out->n_reads, ARM64_REG_LR);
        trod_insn_add(out->reads, &out->n_reads, ARM64_REG_SP);
    } else if ((code & 0xfedff800) == 0xd61f0800 && (modifier || (code & 31) == 31)) {
        out->branch = code >> 21 & 1 ? TROD_BR_ICALL : TROD_BR_INDIRECT;
        trod_insn_add(out->reads, &out->n_reads, general(n, true, false));
        if (modifier)
            trod_insn_add(out->reads, &out->n_reads, general(code & 31, true, true));
        if (out->branch == TROD_BR_ICALL)
            trod_insn_add(out->writes, &out->n_writes, ARM64_REG_LR);
    } else {
        return false;
    }
    out->valid = 1;
    out->size = 4;
    out->flags |= TROD_INSN_COUNTS;
    return true;
}

/* Does it make all of its result of what is in the opcode, or of a system register? */
static bool makes_anew(const cs_insn *insn)
{
    static const uint16_t ids[] = {ARM64_INS_MRS, ARM64_INS_MOVI, ARM64_INS_MVNI};
    const cs_arm64 *x = &insn->detail->arm64;
    const uint32_t w = insn->bytes[0] | (uint32_t)insn->bytes[1] << 8 |
                       (uint32_t)insn->bytes[2] << 16 | (uint32_t)insn->bytes[3] << 24;

    if ((w & 0x1f800000) == 0x12800000) /* MOVN and MOVZ, not MOVK */
        return (w >> 29 & 3) == 0 || (w >> 29 & 3) == 2;
    return is_one_of(insn->id, ids, sizeof ids / sizeof *ids) ||
           (insn->id == ARM64_INS_FMOV && x->op_count == 2 && x->operands[1].type == ARM64_OP_FP);
}

/* RET reads the register that it returns to, also where it does not name it. */
static void add_return(const uint8_t *code, struct trod_insn *out)
{
    const uint32_t w =
        code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;

    if ((w & 0xfffffc1f) == 0xd65f0000)
        trod_insn_add(out->reads, &out->n_reads, general(w >> 5 & 31, true, false));
}

void trod_insn_a64_registers(const cs_insn *insn, struct trod_insn *out)
{
    /* results are flags only */
    static const uint16_t compares[] = {ARM64_INS_CMP,   ARM64_INS_CMN,   ARM64_INS_TST,
                                        ARM64_INS_CCMP,  ARM64_INS_CCMN,  ARM64_INS_FCMP,
                                        ARM64_INS_FCMPE, ARM64_INS_FCCMP, ARM64_INS_FCCMPE};
    const cs_arm64 *x = &insn->detail->arm64;
    const bool compare = is_one_of(insn->id, compares, sizeof compares / sizeof *compares);
    const int result = atomic_result(insn);

    if (insn->id == ARM64_INS_MSR) { /* its register is what it reads */
        out->n_writes = 0;
        if (is_pstate(insn->bytes))
            trod_insn_add(out->writes, &out->n_writes, ARM64_REG_NZCV);
        return;
    }
    add_return(insn->bytes, out);
    if (makes_anew(insn))
        out->n_reads = 0;
    if (compare && x->op_count && x->operands[0].type == ARM64_OP_REG)
        drop(out, (uint16_t)x->operands[0].reg);
    if (is_wide_move(insn->bytes) && x->op_count && x->operands[0].type == ARM64_OP_REG)
        drop_read(out, (uint16_t)x->operands[0].reg);
    if (compare || x->update_flags)
        trod_insn_add(out->writes, &out->n_writes, ARM64_REG_NZCV);
    if (result >= 0 && result < x->op_count && x->operands[result].type == ARM64_OP_REG) {
        out->n_writes = 0;
        trod_insn_add(out->writes, &out->n_writes, (uint16_t)x->operands[result].reg);
    }
}

/* Loads and stores of lists of registers, whose base comes first. */
static bool is_block(const char *mnemonic)
{
    static const char *const blocks[] = {"ldm", "stm", "vldm", "vstm", "fldm", "fstm"};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strncmp(mnemonic, blocks[i], strlen(blocks[i])) == 0)
            return true;
    return false;
}

void trod_insn_a32_registers(const cs_insn *insn, struct trod_insn *out)
{
    static const uint16_t compares[] = {ARM_INS_CMP, ARM_INS_CMN, ARM_INS_TST, ARM_INS_TEQ};
    static const uint16_t stacks[] = {ARM_INS_PUSH, ARM_INS_POP, ARM_INS_VPUSH, ARM_INS_VPOP};
    const cs_arm *x = &insn->detail->arm;
    const bool compare = is_one_of(insn->id, compares, sizeof compares / sizeof *compares);

    if (compare && x->op_count && x->operands[0].type == ARM_OP_REG)
        drop(out, (uint16_t)x->operands[0].reg);
    /* bx lr is a form of its own for Capstone, whose register it does not read */
    if (insn->id == ARM_INS_BX && x->op_count && x->operands[0].type == ARM_OP_REG)
        trod_insn_add(out->reads, &out->n_reads, (uint16_t)x->operands[0].reg);
    if (compare || x->update_flags)
        trod_insn_add(out->writes, &out->n_writes, ARM_REG_CPSR);
    if (x->cc != ARM_CC_AL && x->cc != ARM_CC_INVALID)
        trod_insn_add(out->reads, &out->n_reads, ARM_REG_CPSR);
    if (is_one_of(insn->id, stacks, sizeof stacks / sizeof *stacks))
        trod_insn_add(out->writes, &out->n_writes, ARM_REG_SP);
    else if (x->writeback && x->op_count && x->operands[0].type == ARM_OP_REG &&
             (out->loads || out->stores) && is_block(insn->mnemonic))
        trod_insn_add(out->writes, &out->n_writes, (uint16_t)x->operands[0].reg);
    if (insn->id == ARM_INS_MRC || insn->id == ARM_INS_MRC2 || insn->id == ARM_INS_MRRC ||
        insn->id == ARM_INS_MRRC2) /* what comes from a coprocessor */
        for (unsigned i = 0; i < x->op_count; i++)
            if (x->operands[i].type == ARM_OP_REG)
                trod_insn_add(out->writes, &out->n_writes, (uint16_t)x->operands[i].reg);
}

#endif
