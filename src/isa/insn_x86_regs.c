/*
 * insn_x86_regs.c - registers of x86 instructions, where Capstone's lists are not what they do.
 *
 * Implements trod_insn_x86_registers() of insn_int.h, after the Intel manual: volume 2, and of the
 * x87 unit volume 1, 8.1.2. Its registers are a stack, and names count from its top: that a value
 * has another name after a push or a pop does not show in the facts of one instruction. A load
 * begins a value, what follows goes on with it; a value below others is lost sight of.
 */
#include "isa/insn_int.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE

#include <capstone/capstone.h>

/* Instructions of the x87 unit by what they do with the top of its stack. */
static const char *const loads[] = {"fld",    "fild",   "fbld",   "fld1",   "fldz", "fldpi",
                                    "fldl2e", "fldl2t", "fldlg2", "fldln2", NULL};
static const char *const looks[] = {"fst",     "fstp",   "fist",    "fistp",   "fisttp", "fbstp",
                                    "ftst",    "fxam",   "fcom",    "fcomp",   "fcompp", "fcomi",
                                    "fcompi",  "fcomip", "ficom",   "ficomp",  "fucom",  "fucomp",
                                    "fucompp", "fucomi", "fucompi", "fucomip", NULL};
static const char *const changes[] = {
    "fadd",   "faddp",   "fiadd",   "fsub",     "fsubp",   "fisub",   "fsubr",  "fsubrp",
    "fisubr", "fmul",    "fmulp",   "fimul",    "fdiv",    "fdivp",   "fidiv",  "fdivr",
    "fdivrp", "fidivr",  "fsqrt",   "fsin",     "fcos",    "fsincos", "fptan",  "fchs",
    "fabs",   "frndint", "f2xm1",   "fxtract",  "fxch",    "fcmovb",  "fcmove", "fcmovbe",
    "fcmovu", "fcmovnb", "fcmovne", "fcmovnbe", "fcmovnu", NULL};
static const char *const of_two[] = {"fscale",  "fprem",  "fprem1", "fyl2x",
                                     "fyl2xp1", "fpatan", NULL};

static bool is_st(unsigned reg)
{
    return reg >= X86_REG_ST0 && reg <= X86_REG_ST7;
}

static void leave_out_st(uint16_t *list, uint8_t *n)
{
    uint8_t kept = 0;

    for (unsigned i = 0; i < *n; i++)
        if (!is_st(list[i]))
            list[kept++] = list[i];
    *n = kept;
}

static void reads(struct trod_insn *out, unsigned reg)
{
    trod_insn_add(out->reads, &out->n_reads, (uint16_t)reg);
}

static void writes(struct trod_insn *out, unsigned reg)
{
    trod_insn_add(out->writes, &out->n_writes, (uint16_t)reg);
}

/* What of M, which changes the top, gets the result; OTHER: the register that is named first. */
static unsigned result_of(const cs_insn *insn, unsigned other)
{
    const char *m = insn->mnemonic;
    const size_t n = strlen(m);

    if (other == X86_REG_ST0 || strncmp(m, "fcmov", 5) == 0)
        return X86_REG_ST0;
    if (m[n - 1] == 'p') /* st(1) is the top then */
        return other - 1;
    return insn->detail->x86.op_count == 2 ? other : X86_REG_ST0;
}

static void x87(const cs_insn *insn, struct trod_insn *out)
{
    const cs_x86 *x = &insn->detail->x86;
    const char *m = insn->mnemonic;
    const bool load = trod_insn_named(m, loads), look = trod_insn_named(m, looks);
    const bool change = trod_insn_named(m, changes), two = trod_insn_named(m, of_two);
    unsigned other = X86_REG_ST0;

    if (!load && !look && !change && !two)
        return;
    leave_out_st(out->reads, &out->n_reads);
    leave_out_st(out->writes, &out->n_writes);
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_REG && is_st(x->operands[i].reg) &&
            (other == X86_REG_ST0 || x->operands[i].reg != X86_REG_ST0))
            other = x->operands[i].reg;
    if (!load)
        reads(out, X86_REG_ST0);
    if (two || insn->id == X86_INS_FCOMPP || insn->id == X86_INS_FUCOMPP)
        reads(out, X86_REG_ST1);
    if (load || two)
        writes(out, X86_REG_ST0);
    if (insn->id == X86_INS_FST || insn->id == X86_INS_FSTP) {
        if (other != X86_REG_ST0)
            writes(out, other);
    } else if (x->op_count > 0 && x->operands[0].type == X86_OP_REG) {
        reads(out, other);
    }
    if (change)
        writes(out, result_of(insn, other));
    if (insn->id == X86_INS_FXCH)
        writes(out, other);
    if (strncmp(m, "fcmov", 5) == 0)
        reads(out, X86_REG_EFLAGS);
}

void trod_insn_x86_registers(const cs_insn *insn, unsigned bits, struct trod_insn *out)
{
    static const uint16_t accumulator[] = {
        [1] = X86_REG_AL, [2] = X86_REG_AX, [4] = X86_REG_EAX, [8] = X86_REG_RAX};
    const cs_x86_op *op = insn->detail->x86.operands;

    switch (insn->id) {
    case X86_INS_CMPXCHG:
        if (op->type == X86_OP_REG)
            trod_insn_add(out->reads, &out->n_reads, (uint16_t)op->reg);
        trod_insn_add(out->reads, &out->n_reads, accumulator[op->size]);
        trod_insn_add(out->writes, &out->n_writes, accumulator[op->size]);
        trod_insn_add(out->writes, &out->n_writes, X86_REG_EFLAGS);
        return;
    case X86_INS_RCL:
    case X86_INS_RCR:
        trod_insn_add(out->reads, &out->n_reads, X86_REG_EFLAGS);
        return;
    case X86_INS_ENTER:
        for (unsigned i = 0; i < 2; i++) {
            const uint16_t reg = (i            ? bits == 64 ? X86_REG_RBP : X86_REG_EBP
                                  : bits == 64 ? X86_REG_RSP
                                               : X86_REG_ESP);

            trod_insn_add(out->reads, &out->n_reads, reg);
            trod_insn_add(out->writes, &out->n_writes, reg);
        }
        return;
    case X86_INS_ADOX:
        trod_insn_add(out->reads, &out->n_reads, (uint16_t)op->reg);
        return;
    case X86_INS_VZEROUPPER: /* what goes on from it, the lower halves, it leaves alone */
        out->n_writes = 0;
        return;
    case X86_INS_XLATB:
        trod_insn_add(out->reads, &out->n_reads, bits == 64 ? X86_REG_RBX : X86_REG_EBX);
        trod_insn_add(out->reads, &out->n_reads, X86_REG_AL);
        trod_insn_add(out->writes, &out->n_writes, X86_REG_AL);
        return;
    default:
        x87(insn, out);
        return;
    }
}

#endif
