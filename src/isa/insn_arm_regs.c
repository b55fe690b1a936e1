/*
 * insn_arm_regs.c - registers of A64, A32 and T32 instructions where Capstone's lists are wrong.
 *
 * Implements the Arm parts of trod/insn.h. Capstone 4 and 5 say of an alias what holds for the
 * instruction that it stands for ("cmp" writes its first operand), and leave out the flags of some.
 * What is put right here was found by comparing with what programs change when they run.
 */
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
    const uint32_t w =
        code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;

    return (w & 0xffffffc0) == 0xd51b4200 || (w & 0xfff8f01f) == 0xd500401f;
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
    if (compare && x->op_count && x->operands[0].type == ARM64_OP_REG)
        drop(out, (uint16_t)x->operands[0].reg);
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
    if (compare || x->update_flags)
        trod_insn_add(out->writes, &out->n_writes, ARM_REG_CPSR);
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
