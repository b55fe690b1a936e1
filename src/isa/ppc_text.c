/*
 * Disassembly text.
 *
 * Documents: PEM chapter 8 (operand order) and appendix F (extended mnemonics), AltiVec PEM
 * chapter 6. It writes what GNU assemblers read, one blank between mnemonic and operands, numbers
 * in decimal, addresses in hexadecimal. It knows no symbols.
 */
#include "ppc_text.h"

#include <string.h>

enum ppc_test {
    ANY,
    RS_RB,
    CR_SAME,
    BA_BB,
    SLWI,
    SRWI,
    EXTRWI,
    CLRLSLWI,
    INSLWI,
    INSRWI,
    SRDI,
    EXTRDI,
    SLDI,
    CLRLSLDI,
    INSRDI,
    VA_VB
};

struct ppc_alias {
    uint32_t mask, match;
    uint16_t op;
    uint8_t test;
    uint8_t args[4];
    char name[10];
};

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define L(base, mask, match, test, name, args) {mask, match, OP_##base, test, ARGS args, name},
static const struct ppc_alias aliases[] = {
#include "ppc_alias.def"
};
#undef L

void trod_ppc_put(struct ppc_text *t, const char *s)
{
    for (; *s; s++) {
        if (t->len + 1 < t->room)
            t->buf[t->len] = *s;
        t->len++;
    }
}

void trod_ppc_put_int(struct ppc_text *t, int32_t n)
{
    char digits[12];
    char *p = digits + sizeof digits - 1;
    uint32_t v = n < 0 ? 0 - (uint32_t)n : (uint32_t)n;

    *p = '\0';
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    if (n < 0)
        *--p = '-';
    trod_ppc_put(t, p);
}

void trod_ppc_put_hex(struct ppc_text *t, uint32_t n)
{
    char s[11] = "0x";

    for (int i = 0; i < 8; i++)
        s[2 + i] = "0123456789abcdef"[(n >> (28 - 4 * i)) & 15];
    trod_ppc_put(t, s);
}

void trod_ppc_put_crbit(struct ppc_text *t, unsigned n)
{
    static const char names[4][3] = {"lt", "gt", "eq", "so"};

    if (n >= 4) {
        trod_ppc_put(t, "4*");
        trod_ppc_put(t, trod_ppc_reg_name(TROD_PPC_CR, n / 4));
        trod_ppc_put(t, "+");
    }
    trod_ppc_put(t, names[n & 3]);
}

/* Do the fields of an opcode make the extended mnemonic? PEM F.4 for the rotates. */
static bool holds(enum ppc_test test, uint32_t w)
{
    const unsigned sh = ppc_field(w, SH), mb = ppc_field(w, MB), me = ppc_field(w, ME);
    const unsigned sh6 = ppc_sh6(w), mb6 = ppc_mb6(w);

    switch (test) {
    case ANY:
        return true;
    case RS_RB:
        return ppc_field(w, RS) == ppc_field(w, RB);
    case CR_SAME:
        return ppc_field(w, BT) == ppc_field(w, BA) && ppc_field(w, BA) == ppc_field(w, BB);
    case BA_BB:
    case VA_VB:
        return ppc_field(w, BA) == ppc_field(w, BB);
    case SLWI:
        return sh > 0 && sh + me == 31;
    case SRWI:
        return sh > 0 && sh + mb == 32;
    case EXTRWI:
        return mb > 0 && sh + mb > 32;
    case CLRLSLWI:
        return sh > 0 && me == 31 - sh && mb + sh <= 31;
    case INSLWI:
        return mb <= me && mb + sh == 32;
    case INSRWI:
        return mb <= me && me + sh == 31;
    case SRDI:
        return sh6 > 0 && sh6 + mb6 == 64;
    case EXTRDI:
        return mb6 > 0 && sh6 + mb6 > 64;
    case SLDI:
        return sh6 > 0 && sh6 + mb6 == 63;
    case CLRLSLDI:
        return sh6 > 0 && mb6 + sh6 <= 63;
    case INSRDI:
        return sh6 > 0 && sh6 + mb6 < 64;
    default:
        return false;
    }
}

/* The operands of extended mnemonics that are sums of fields. */
static int32_t computed(unsigned arg, uint32_t w)
{
    const int sh = (int)ppc_field(w, SH), mb = (int)ppc_field(w, MB), me = (int)ppc_field(w, ME);
    const int sh6 = (int)ppc_sh6(w), mb6 = (int)ppc_mb6(w);

    switch (arg) {
    case C_31_ME:
        return 31 - me;
    case C_ME_1:
        return me + 1;
    case C_32_MB:
        return 32 - mb;
    case C_SH_32_MB:
        return sh - (32 - mb);
    case C_MB_SH:
        return mb + sh;
    case C_INS_N:
        return me - mb + 1;
    case C_63_ME6:
        return 63 - mb6;
    case C_ME6_1:
        return mb6 + 1;
    case C_64_MB6:
        return 64 - mb6;
    case C_SH6_64_MB6:
        return sh6 - (64 - mb6);
    case C_MB6_SH6:
        return mb6 + sh6;
    default:
        return 64 - sh6 - mb6; /* C_INSD_N */
    }
}

static void put_reg(struct ppc_text *t, enum trod_ppc_bank bank, unsigned n)
{
    trod_ppc_put(t, trod_ppc_reg_name(bank, n));
}

static void put_displacement(struct ppc_text *t, const struct trod_ppc_insn *insn)
{
    trod_ppc_put_int(t, insn->ea_disp);
    trod_ppc_put(t, "(");
    if (insn->ea_base < 0)
        trod_ppc_put(t, "0");
    else
        put_reg(t, TROD_PPC_GPR, (unsigned)insn->ea_base);
    trod_ppc_put(t, ")");
}

static void put_spr(struct ppc_text *t, unsigned spr)
{
    const char *name = trod_ppc_spr_name(spr);

    if (name)
        trod_ppc_put(t, name);
    else
        trod_ppc_put_int(t, (int32_t)spr);
}

/* Is an operand written at all? */
static bool shown(const struct trod_ppc_insn *insn, unsigned arg)
{
    switch (arg) {
    case NO:
    case TBIT:
    case LK:
        return false;
    case OBF:
    case TH:
    case LEV:
        return ppc_field(insn->opcode, arg) != 0;
    case TBR:
        return ppc_spr(insn->opcode) != 268;
    default:
        return true;
    }
}

/* Operand ARG with the number N as a register; false: it is none. */
static bool put_register(struct ppc_text *t, const struct trod_ppc_insn *insn, unsigned arg,
                         unsigned n)
{
    switch (arg) {
    case RT:
    case RS:
    case RA:
    case RAW:
    case RAX:
    case RB:
    case IMA:
        put_reg(t, TROD_PPC_GPR, n);
        break;
    case RA0:
        if (n || insn->flags & TROD_PPC_UPDATE)
            put_reg(t, TROD_PPC_GPR, n);
        else
            trod_ppc_put(t, "0");
        break;
    case FT:
    case FS:
    case FA:
    case FB:
    case FC:
        put_reg(t, TROD_PPC_FPR, n);
        break;
    case VD:
    case VS:
    case VA:
    case VB:
    case VC:
        put_reg(t, TROD_PPC_VR, n);
        break;
    case BF:
    case OBF:
    case BFA:
    case FPG:
        put_reg(t, TROD_PPC_CR, n);
        break;
    case BT:
    case BA:
    case BB:
        trod_ppc_put_crbit(t, n);
        break;
    default:
        return false;
    }
    return true;
}

static void put_operand(struct ppc_text *t, const struct trod_ppc_insn *insn, unsigned arg)
{
    const uint32_t w = insn->opcode;
    const unsigned n = ppc_field(w, arg);

    if (put_register(t, insn, arg, n))
        return;
    switch (arg) {
    case SI:
        trod_ppc_put_int(t, (int16_t)(uint16_t)n);
        break;
    case SIM:
        trod_ppc_put_int(t, (int32_t)(n ^ 16) - 16);
        break;
    case DRA:
    case DSA:
        put_displacement(t, insn);
        break;
    case SH6:
        trod_ppc_put_int(t, (int32_t)ppc_sh6(w));
        break;
    case MB6:
        trod_ppc_put_int(t, (int32_t)ppc_mb6(w));
        break;
    case NB:
        trod_ppc_put_int(t, n ? (int32_t)n : 32);
        break;
    case SPR:
    case TBR:
        put_spr(t, ppc_spr(w));
        break;
    default:
        trod_ppc_put_int(t, arg >= C_31_ME ? computed(arg, w) : (int32_t)n);
        break;
    }
}

/* Mnemonic, o and dot, operands. */
static void put_insn(struct ppc_text *t, const struct trod_ppc_insn *insn, const char *name,
                     const uint8_t *args, unsigned n)
{
    const char *sep = " ";

    trod_ppc_put(t, name);
    if (insn->flags & TROD_PPC_OVERFLOW)
        trod_ppc_put(t, "o");
    if (insn->flags & TROD_PPC_RECORD && name[strlen(name) - 1] != '.')
        trod_ppc_put(t, ".");
    for (unsigned i = 0; i < n && args[i] != NO; i++) {
        if (!shown(insn, args[i]))
            continue;
        trod_ppc_put(t, sep);
        put_operand(t, insn, args[i]);
        sep = ",";
    }
}

static const struct ppc_alias *alias_of(const struct trod_ppc_insn *insn)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].op == insn->op && (insn->opcode & aliases[i].mask) == aliases[i].match &&
            holds((enum ppc_test)aliases[i].test, insn->opcode))
            return &aliases[i];
    return NULL;
}

static void put_any(struct ppc_text *t, const struct trod_ppc_insn *insn, uint32_t pc)
{
    const struct ppc_alias *alias;

    if (insn->op == OP_NONE || insn->op >= OP_COUNT || insn->flags & TROD_PPC_BAD_FORM) {
        trod_ppc_put(t, ".long ");
        trod_ppc_put_hex(t, insn->opcode);
        return;
    }
    switch (insn->op) {
    case OP_B:
    case OP_BC:
    case OP_BCLR:
    case OP_BCCTR:
        trod_ppc_put_branch(t, insn, pc);
        return;
    case OP_TW:
    case OP_TWI:
    case OP_TD:
    case OP_TDI:
        trod_ppc_put_trap(t, insn);
        return;
    case OP_MFSPR:
    case OP_MTSPR:
        if (trod_ppc_put_spr_move(t, insn))
            return;
        break;
    default:
        break;
    }
    alias = alias_of(insn);
    if (alias)
        put_insn(t, insn, alias->name, alias->args, 4);
    else if (insn->op == OP_MFTB && ppc_spr(insn->opcode) == 269)
        put_insn(t, insn, "mftbu", (const uint8_t[]){RT}, 1);
    else
        put_insn(t, insn, trod_ppc_ops[insn->op].name, trod_ppc_ops[insn->op].args, 5);
}

size_t trod_ppc_format(char *buf, size_t n, const struct trod_ppc_insn *insn, uint32_t pc)
{
    struct ppc_text t = {buf, n, 0};

    put_any(&t, insn, pc);
    if (n)
        buf[t.len < n ? t.len : n - 1] = '\0';
    return t.len;
}
