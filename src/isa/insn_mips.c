/*
 * insn_mips.c - facts of MIPS instructions, from Capstone's details.
 *
 * Implements the MIPS part of trod/insn.h (MIPS32 and MIPS64 Architecture, volume II). Capstone
 * names operands but not which of them are written: the first, but for what stores, branches,
 * compares and multiplies.
 */
#include "isa/insn_int.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t load, store, size; /* size 0: a part of a word */
} accesses[] = {
    {"lb", 1, 0, 1},  {"lbu", 1, 0, 1},  {"lh", 1, 0, 2},    {"lhu", 1, 0, 2},   {"lw", 1, 0, 4},
    {"lwu", 1, 0, 4}, {"ll", 1, 0, 4},   {"lwc1", 1, 0, 4},  {"lwc2", 1, 0, 4},  {"ld", 1, 0, 8},
    {"lld", 1, 0, 8}, {"ldc1", 1, 0, 8}, {"ldc2", 1, 0, 8},  {"lwl", 1, 0, 0},   {"lwr", 1, 0, 0},
    {"ldl", 1, 0, 0}, {"ldr", 1, 0, 0},  {"lwxc1", 1, 0, 4}, {"ldxc1", 1, 0, 8}, {"sb", 0, 1, 1},
    {"sh", 0, 1, 2},  {"sw", 0, 1, 4},   {"sc", 0, 1, 4},    {"swc1", 0, 1, 4},  {"swc2", 0, 1, 4},
    {"sd", 0, 1, 8},  {"scd", 0, 1, 8},  {"sdc1", 0, 1, 8},  {"sdc2", 0, 1, 8},  {"swl", 0, 1, 0},
    {"swr", 0, 1, 0}, {"sdl", 0, 1, 0},  {"sdr", 0, 1, 0},   {"swxc1", 0, 1, 4}, {"sdxc1", 0, 1, 8},
};

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        if (insn->detail->groups[i] == group)
            return true;
    return false;
}

static void flow(const cs_insn *insn, struct trod_insn *out)
{
    static const char *const traps[] = {"break", "sdbbp", "teq",  "teqi",  "tne",
                                        "tnei",  "tge",   "tgei", "tgeu",  "tgeiu",
                                        "tlt",   "tlti",  "tltu", "tltiu", NULL};
    static const char *const calls[] = {"jal", "bal", "bgezal", "bltzal", "jialc", NULL};
    const cs_mips *x = &insn->detail->mips;
    const cs_mips_op *last = x->op_count ? &x->operands[x->op_count - 1] : NULL;
    const char *m = insn->mnemonic;

    if (strcmp(m, "j") == 0 || strcmp(m, "b") == 0)
        out->branch = TROD_BR_DIRECT;
    else if (trod_insn_named(m, calls) && x->op_count == 1)
        out->branch = TROD_BR_CALL;
    else if (strcmp(m, "jr") == 0)
        out->branch = last && last->reg == MIPS_REG_RA ? TROD_BR_RETURN : TROD_BR_INDIRECT;
    else if (strcmp(m, "jalr") == 0)
        out->branch = TROD_BR_ICALL;
    else if (strcmp(m, "syscall") == 0)
        out->branch = TROD_BR_SYSCALL;
    else if (strcmp(m, "eret") == 0 || strcmp(m, "deret") == 0)
        out->branch = TROD_BR_ERET;
    else if (trod_insn_named(m, traps))
        out->flags |= TROD_INSN_TRAP;
    else if (in_group(insn, MIPS_GRP_JUMP) || (m[0] == 'b' && last && last->type == MIPS_OP_IMM))
        out->branch = TROD_BR_COND;
    if (out->branch && last && last->type == MIPS_OP_IMM && out->branch != TROD_BR_SYSCALL) {
        out->flags |= TROD_INSN_TARGET;
        out->target = (uint64_t)last->imm;
    }
}

static void memory(const char *m, struct trod_insn *out)
{
    out->flags |= TROD_INSN_COUNTS;
    if (strncmp(m, "pref", 4) == 0) {
        out->flags |= TROD_INSN_PREFETCH;
        return;
    }
    if (strcmp(m, "cache") == 0 || strcmp(m, "synci") == 0) {
        out->flags |= TROD_INSN_FLUSH;
        return;
    }
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        if (strcmp(accesses[i].name, m) != 0)
            continue;
        out->loads = accesses[i].load;
        out->stores = accesses[i].store;
        out->read_size = accesses[i].load ? accesses[i].size : 0;
        out->write_size = accesses[i].store ? accesses[i].size : 0;
        if (accesses[i].size)
            out->flags |= TROD_INSN_SIZES;
    }
    if (strcmp(m, "sc") == 0 || strcmp(m, "scd") == 0)
        out->flags |= TROD_INSN_PREDICATED;
}

static void registers(const cs_insn *insn, struct trod_insn *out)
{
    static const char *const no_result[] = {"mult", "multu", "div",   "divu", "dmult", "dmultu",
                                            "ddiv", "ddivu", "mthi",  "mtlo", "mtc0",  "mtc1",
                                            "madd", "maddu", "cache", "jr",   NULL};
    static const char *const two_results[] = {"mult",  "multu", "div",   "divu", "madd",
                                              "maddu", "msub",  "msubu", NULL};
    const cs_mips *x = &insn->detail->mips;
    bool sc = (out->flags & TROD_INSN_PREDICATED) && out->stores; /* says whether it stored */
    bool result = (!out->stores || sc) && !trod_insn_named(insn->mnemonic, no_result) &&
                  (!out->branch || out->branch == TROD_BR_ICALL) && !(out->flags & TROD_INSN_TRAP);

    for (unsigned i = 0; i < x->op_count; i++) {
        const cs_mips_op *op = &x->operands[i];

        if (op->type == MIPS_OP_MEM && op->mem.base != MIPS_REG_INVALID)
            trod_insn_add(out->reads, &out->n_reads, (uint16_t)op->mem.base);
        if (op->type != MIPS_OP_REG)
            continue;
        if (i == 0 && result && (x->op_count > 1 || out->branch != TROD_BR_ICALL))
            trod_insn_add(out->writes, &out->n_writes, (uint16_t)op->reg);
        else
            trod_insn_add(out->reads, &out->n_reads, (uint16_t)op->reg);
    }
    if (trod_insn_named(insn->mnemonic, two_results)) {
        trod_insn_add(out->writes, &out->n_writes, MIPS_REG_HI);
        trod_insn_add(out->writes, &out->n_writes, MIPS_REG_LO);
    }
    if (out->branch == TROD_BR_CALL || (out->branch == TROD_BR_ICALL && x->op_count == 1))
        trod_insn_add(out->writes, &out->n_writes, MIPS_REG_RA);
}

void trod_insn_mips(const cs_insn *insn, struct trod_insn *out)
{
    flow(insn, out);
    memory(insn->mnemonic, out);
    registers(insn, out);
    if (in_group(insn, MIPS_GRP_STDENC) && strchr(insn->mnemonic, '.'))
        out->flags |= TROD_INSN_FP;
}

#endif
