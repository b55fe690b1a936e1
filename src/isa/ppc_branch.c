/*
 * The composed mnemonics: conditional branches, traps, moves from and to special purpose registers.
 *
 * Documents: PEM F.5 (branches), F.7 (traps), F.8 (SPRs), 4.2.4.2 (the y bit as + and -), UISA 2.02
 * (the "at" bits as + and -). Of the two ways to hint, the opcode tells which it is:
 * the a bit was reserved before.
 */
#include "ppc_text.h"

/* "+", "-" or "": what a conditional branch predicts. */
static const char *hint(const struct trod_ppc_insn *insn)
{
    const unsigned bo = ppc_field(insn->opcode, BO);
    bool y = bo & 1;

    if ((bo & 0x14) == 0x14)
        return "";
    if ((bo & 0x14) == 0x04 && bo & 2)
        return y ? "+" : "-";
    if ((bo & 0x14) == 0x10 && bo & 8)
        return y ? "+" : "-";
    if (!y)
        return "";
    /* y reverses the static prediction: backward displacements are taken, all else is not. */
    return insn->op == OP_BC && insn->disp < 0 ? "-" : "+";
}

/* The condition in a mnemonic, NULL where it has to be written as BO and BI. crbit: BI is an
 * operand. */
static const char *condition(const struct trod_ppc_insn *insn, bool *crbit)
{
    static const char if_set[4][3] = {"lt", "gt", "eq", "so"},
                      if_clear[4][3] = {"ge", "le", "ne", "ns"};
    static const char *const counts[4] = {"dnzf", "dzf", "dnzt", "dzt"};
    const unsigned bo = ppc_field(insn->opcode, BO), bi = ppc_field(insn->opcode, BI);

    *crbit = false;
    if ((bo & 0x14) == 0x04)
        return bo & 8 ? if_set[bi & 3] : if_clear[bi & 3];
    if (insn->op == OP_BCCTR && !(bo & 4))
        return NULL;
    if ((bo & 0x14) == 0x10)
        return bi ? NULL : bo & 2 ? "dz" : "dnz";
    if ((bo & 0x14) == 0x14)
        return bi || insn->op == OP_BC ? NULL : "";
    *crbit = true;
    return counts[(bo >> 1 & 1) | (bo >> 2 & 2)];
}

static void put_tail(struct ppc_text *t, const struct trod_ppc_insn *insn, uint32_t pc,
                     const char **sep)
{
    uint32_t target;

    if (trod_ppc_target(insn, pc, &target)) {
        trod_ppc_put(t, *sep);
        trod_ppc_put_hex(t, target);
    } else if (ppc_field(insn->opcode, BH)) {
        trod_ppc_put(t, *sep);
        trod_ppc_put_int(t, (int32_t)ppc_field(insn->opcode, BH));
    }
}

void trod_ppc_put_branch(struct ppc_text *t, const struct trod_ppc_insn *insn, uint32_t pc)
{
    const unsigned bo = ppc_field(insn->opcode, BO), bi = ppc_field(insn->opcode, BI);
    const char *where = insn->op == OP_BCLR ? "lr" : insn->op == OP_BCCTR ? "ctr" : "", *sep = " ";
    bool crbit = false;
    const char *cond = insn->op == OP_B ? "" : condition(insn, &crbit);

    trod_ppc_put(t, "b");
    trod_ppc_put(t, cond ? cond : "c");
    trod_ppc_put(t, where);
    trod_ppc_put(t, insn->flags & TROD_PPC_LINK ? "l" : "");
    trod_ppc_put(t, insn->flags & TROD_PPC_ABSOLUTE ? "a" : "");
    trod_ppc_put(t, insn->op == OP_B ? "" : hint(insn));
    if (!cond) {
        trod_ppc_put(t, " ");
        trod_ppc_put_int(t, (int32_t)bo);
        sep = ",";
    }
    if (!cond || crbit) {
        trod_ppc_put(t, sep);
        trod_ppc_put_crbit(t, bi);
        sep = ",";
    } else if (insn->op != OP_B && !(bo & 0x10) && (bi >= 4 || ppc_field(insn->opcode, BH))) {
        if (insn->op != OP_BC || bi >= 4) {
            trod_ppc_put(t, sep);
            trod_ppc_put(t, trod_ppc_reg_name(TROD_PPC_CR, bi / 4));
            sep = ",";
        }
    }
    put_tail(t, insn, pc, &sep);
}

void trod_ppc_put_trap(struct ppc_text *t, const struct trod_ppc_insn *insn)
{
    static const char conditions[32][4] = {
        [1] = "lgt", [2] = "llt", [4] = "eq",  [5] = "lge", [6] = "lle", [8] = "gt",
        [12] = "ge", [16] = "lt", [20] = "le", [24] = "ne", [31] = "u",
    };
    const uint32_t w = insn->opcode;
    const unsigned to = ppc_field(w, TO);
    const bool immediate = insn->op == OP_TWI || insn->op == OP_TDI;

    if (insn->op == OP_TW && (w & 0x03fff800) == 0x03e00000) {
        trod_ppc_put(t, "trap");
        return;
    }
    trod_ppc_put(t, insn->op == OP_TW || insn->op == OP_TWI ? "tw" : "td");
    trod_ppc_put(t, conditions[to]);
    trod_ppc_put(t, immediate ? "i " : " ");
    if (!conditions[to][0]) {
        trod_ppc_put_int(t, (int32_t)to);
        trod_ppc_put(t, ",");
    }
    trod_ppc_put(t, trod_ppc_reg_name(TROD_PPC_GPR, ppc_field(w, RA)));
    trod_ppc_put(t, ",");
    if (immediate)
        trod_ppc_put_int(t, (int16_t)(uint16_t)ppc_field(w, SI));
    else
        trod_ppc_put(t, trod_ppc_reg_name(TROD_PPC_GPR, ppc_field(w, RB)));
}

/* SPRs with a mnemonic of their own; some can only be read or only be written by that number. */
static bool has_short_form(unsigned spr, bool to)
{
    switch (spr) {
    case 0:
    case 1:
    case 8:
    case 9:
    case 18:
    case 19:
    case 22:
    case 25:
    case 26:
    case 27:
    case 256:
    case 280:
    case 282:
        return true;
    case 4:
    case 5:
    case 136:
    case 287:
        return !to;
    case 20:
    case 21:
    case 152:
    case 284:
    case 285:
        return to;
    default:
        return (spr >= 272 && spr < 276) || (spr >= 528 && spr < 544);
    }
}

bool trod_ppc_put_spr_move(struct ppc_text *t, const struct trod_ppc_insn *insn)
{
    static const char banks[5][6] = {"sprg", "ibatu", "ibatl", "dbatu", "dbatl"};
    const unsigned spr = ppc_spr(insn->opcode);
    const bool to = insn->op == OP_MTSPR;
    const char *gpr = trod_ppc_reg_name(TROD_PPC_GPR, ppc_field(insn->opcode, RT)),
               *name = trod_ppc_spr_name(spr);
    int32_t number = -1;

    if (!has_short_form(spr, to))
        return false;
    if (spr >= 528) {
        number = (int32_t)((spr & 7) / 2);
        name = banks[1 + (spr & 1) + (spr & 8) / 4];
    } else if (spr >= 272 && spr < 276) {
        number = (int32_t)(spr - 272);
        name = banks[0];
    }
    trod_ppc_put(t, to ? "mt" : "mf");
    trod_ppc_put(t, name);
    trod_ppc_put(t, " ");
    if (number >= 0 && to) {
        trod_ppc_put_int(t, number);
        trod_ppc_put(t, ",");
    }
    trod_ppc_put(t, gpr);
    if (number >= 0 && !to) {
        trod_ppc_put(t, ",");
        trod_ppc_put_int(t, number);
    }
    return true;
}
