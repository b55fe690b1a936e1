/*
 * From opcode to decoded facts: registers, flags, branch kind, effective address.
 *
 * Documents: PEM chapters 2 (registers), 4 (BO encodings, effective addresses) and 8 (each
 * instruction); AltiVec PEM chapter 6. It interprets the rows of ppc_table.c; the few instructions
 * whose effects hang on field values (bc, mfspr, mtcrf, lmw ...) have a function each. It does not
 * print (ppc_text.c) nor compute with register values (ppc_flow.c).
 */
#include "ppc_int.h"

#include <string.h>

enum { PUBLIC_FLAGS = 0xffff };

static uint32_t bit(unsigned n)
{
    return UINT32_C(1) << (n & 31);
}

/* A mask of n registers from first on, wrapping from 31 to 0 as string instructions do. */
static uint32_t run_of(unsigned first, unsigned n)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < n && i < 32; i++)
        mask |= bit(first + i);
    return mask;
}

static void cr_touch(struct trod_ppc_regs *r, unsigned field)
{
    r->cr = (uint8_t)(r->cr | 1u << (field & 7));
}

/* The base of an address: no register where it is 0, written where it is updated. */
static void base_effect(struct trod_ppc_insn *in, unsigned n)
{
    const bool update = in->flags & TROD_PPC_UPDATE;

    if (n || update)
        in->reads.gpr |= bit(n);
    if (update)
        in->writes.gpr |= bit(n);
}

/* What operand ARG, bits or a field of the condition register, reads and writes. */
static void cr_effect(struct trod_ppc_insn *in, unsigned arg)
{
    const unsigned n = ppc_field(in->opcode, arg);

    switch (arg) {
    case BF:
        cr_touch(&in->writes, n);
        break;
    case BFA:
        cr_touch(&in->reads, n);
        break;
    case BT: /* the other bits of the field stay */
        cr_touch(&in->writes, n / 4);
        cr_touch(&in->reads, n / 4);
        break;
    case BA:
    case BB:
        cr_touch(&in->reads, n / 4);
        break;
    default:
        break;
    }
}

/* What operand ARG reads and writes. */
static void operand_effect(struct trod_ppc_insn *in, unsigned arg)
{
    const unsigned n = ppc_field(in->opcode, arg);

    switch (arg) {
    case RAX:
        in->writes.gpr |= bit(n);
        in->reads.gpr |= bit(n);
        break;
    case RT:
    case RAW:
        in->writes.gpr |= bit(n);
        break;
    case RS:
    case RA:
    case RB:
        in->reads.gpr |= bit(n);
        break;
    case RA0:
    case DRA:
    case DSA:
        base_effect(in, n);
        break;
    case FT:
        in->writes.fpr |= bit(n);
        break;
    case FS:
    case FA:
    case FB:
    case FC:
        in->reads.fpr |= bit(n);
        break;
    case VD:
        in->writes.vr |= bit(n);
        break;
    case VS:
    case VA:
    case VB:
    case VC:
        in->reads.vr |= bit(n);
        break;
    default:
        cr_effect(in, arg);
        break;
    }
}

/* Rc, OE and what a row's flags say. */
static void flag_effects(struct trod_ppc_insn *in, uint64_t fx)
{
    const uint32_t op = in->opcode;

    in->reads.special |= (uint32_t)(fx >> 32) & 0xffff;
    in->writes.special |= (uint32_t)(fx >> 48);
    if (fx & (F_RC | F_RCF) && op & 1)
        in->flags |= TROD_PPC_RECORD;
    if (fx & F_RCV && op & 0x400) {
        in->flags |= TROD_PPC_RECORD;
        cr_touch(&in->writes, 6);
    }
    if (fx & (F_CR0 | F_RC1))
        in->flags |= TROD_PPC_RECORD;
    if (fx & F_OE && op & 0x400) {
        in->flags |= TROD_PPC_OVERFLOW;
        in->reads.special |= TROD_PPC_OV; /* SO is sticky */
        in->writes.special |= TROD_PPC_OV;
    }
    if (in->flags & TROD_PPC_RECORD && fx & (F_RC | F_CR0 | F_RC1)) {
        cr_touch(&in->writes, 0);
        in->reads.special |= TROD_PPC_OV;
    }
    if (in->flags & TROD_PPC_RECORD && fx & F_RCF) {
        cr_touch(&in->writes, 1);
        in->reads.special |= TROD_PPC_FPSCR;
    }
}

/* PEM 4.2.4.2; the hints "at" are of UISA 2.02. */
static void branch_effects(struct trod_ppc_insn *in)
{
    const uint32_t op = in->opcode;
    const unsigned bo = ppc_field(op, BO);
    const bool always = in->op == OP_B || (bo & 0x14) == 0x14, link = op & 1;

    if (link) {
        in->flags |= TROD_PPC_LINK;
        in->writes.special |= TROD_PPC_LR;
    }
    if (!always)
        in->flags |= TROD_PPC_CONDITIONAL;
    else if (in->op != OP_B && bo != 20) /* the other bits of "always" are z */
        in->flags |= TROD_PPC_BAD_FORM;
    if (in->op != OP_B && !(bo & 0x10))
        cr_touch(&in->reads, ppc_field(op, BI) / 4);
    if (in->op != OP_B && !(bo & 4)) {
        in->reads.special |= TROD_PPC_CTR;
        in->writes.special |= TROD_PPC_CTR;
        if (in->op == OP_BCCTR) /* CTR cannot be counter and target */
            in->flags |= TROD_PPC_BAD_FORM;
    }
    switch (in->op) {
    case OP_B:
        in->disp = (int32_t)((op & 0x03fffffc) ^ 0x02000000) - 0x02000000;
        in->branch = link ? TROD_PPC_BRANCH_CALL : TROD_PPC_BRANCH_DIRECT;
        break;
    case OP_BC:
        in->disp = (int32_t)((op & 0xfffc) ^ 0x8000) - 0x8000;
        if (always)
            in->branch = link ? TROD_PPC_BRANCH_CALL : TROD_PPC_BRANCH_DIRECT;
        else
            in->branch = link ? TROD_PPC_BRANCH_COND_CALL : TROD_PPC_BRANCH_COND;
        break;
    case OP_BCLR:
        in->branch = link ? TROD_PPC_BRANCH_INDIRECT_CALL : TROD_PPC_BRANCH_RETURN;
        break;
    default:
        in->branch = link ? TROD_PPC_BRANCH_INDIRECT_CALL : TROD_PPC_BRANCH_INDIRECT;
        break;
    }
    if ((in->op == OP_B || in->op == OP_BC) && op & 2)
        in->flags |= TROD_PPC_ABSOLUTE;
}

/* The bit of enum trod_ppc_special that an SPR number is. PEM 8.2 (mfspr), 601 User's Manual. */
static uint32_t spr_special(unsigned spr)
{
    switch (spr) {
    case 0:
        return TROD_PPC_MQ;
    case 1:
        return TROD_PPC_XER_ALL;
    case 8:
        return TROD_PPC_LR;
    case 9:
        return TROD_PPC_CTR;
    case 26:
        return TROD_PPC_SRR0;
    case 27:
        return TROD_PPC_SRR1;
    case 256:
        return TROD_PPC_VRSAVE;
    case 4:
    case 5:
    case 20:
    case 21:
    case 268:
    case 269:
    case 284:
    case 285:
        return TROD_PPC_TB;
    default:
        return TROD_PPC_SPR;
    }
}

static void spr_effects(struct trod_ppc_insn *in)
{
    const unsigned spr = ppc_spr(in->opcode);

    if (in->op == OP_MTSPR)
        in->writes.special |= spr_special(spr);
    else
        in->reads.special |= spr_special(spr);
    if (spr & 16) /* PEM 8.2, mfspr: spr[0], the bit of the privileged half */
        in->flags |= TROD_PPC_PRIVILEGED;
}

/* mfcr and mtcrf; with bit 11 set mfocrf and mtocrf, for one field. */
static void cr_move_effects(struct trod_ppc_insn *in)
{
    const bool one = in->opcode & 0x00100000;
    const uint32_t fxm = ppc_field(in->opcode, FXM);
    struct trod_ppc_regs *r = in->op == OP_MTCRF ? &in->writes : &in->reads;

    if (in->op == OP_MFCR && !one) {
        r->cr = 0xff;
        if (fxm)
            in->flags |= TROD_PPC_BAD_FORM;
    } else {
        for (unsigned i = 0; i < 8; i++)
            if (fxm & (0x80u >> i))
                cr_touch(r, i);
        if (one && (!fxm || fxm & (fxm - 1)))
            in->flags |= TROD_PPC_BAD_FORM;
    }
    if (in->opcode & 0x800)
        in->flags |= TROD_PPC_BAD_FORM;
}

/* Load and store multiple and string: more than the one register that is named. */
static void multiple_effects(struct trod_ppc_insn *in)
{
    const unsigned rt = ppc_field(in->opcode, RT);
    uint32_t mask;

    switch (in->access.rule) {
    case TROD_PPC_MULTI:
        mask = run_of(rt, 32 - rt);
        break;
    case TROD_PPC_NB:
        mask = run_of(rt, (trod_ppc_access_bytes(in->opcode, in->access, 0, 0) + 3) / 4);
        break;
    case TROD_PPC_XER:
        mask = run_of(rt, 32);
        break; /* 127 bytes are 32 registers: as many as XER may ask for */
    default:
        return;
    }
    if (in->group == TROD_PPC_GROUP_STORE)
        in->reads.gpr |= mask;
    else
        in->writes.gpr |= mask;
}

/* Which registers the effective address is made of. PEM 4.2.3.1. */
static void address(struct trod_ppc_insn *in)
{
    const unsigned ra = ppc_field(in->opcode, RA);

    if (in->access.kind == TROD_PPC_NONE)
        return;
    in->ea_base = (int8_t)(ra || in->flags & TROD_PPC_UPDATE ? (int)ra : -1);
    if (in->access.rule == TROD_PPC_STREAM)
        in->ea_base = (int8_t)ra; /* rA even when it is r0 */
    else if (in->form == TROD_PPC_FORM_X && in->access.rule != TROD_PPC_NB) {
        in->ea_index = (int8_t)ppc_field(in->opcode, RB);
        in->flags |= TROD_PPC_INDEXED;
    }
    if (in->form == TROD_PPC_FORM_D)
        in->ea_disp = (int16_t)(uint16_t)(in->opcode & 0xffff);
    if (in->form == TROD_PPC_FORM_DS)
        in->ea_disp = (int16_t)(uint16_t)(in->opcode & 0xfffc);
    if (in->access.rule == TROD_PPC_VECTOR)
        in->ea_mask = ~(in->access.size - 1u);
}

static void special_cases(struct trod_ppc_insn *in)
{
    switch (in->op) {
    case OP_B:
    case OP_BC:
    case OP_BCLR:
    case OP_BCCTR:
        branch_effects(in);
        break;
    case OP_SC:
        in->branch = TROD_PPC_BRANCH_SYSCALL;
        break;
    case OP_RFI:
    case OP_RFID:
    case OP_HRFID:
        in->branch = TROD_PPC_BRANCH_RFI;
        break;
    case OP_MFSPR:
    case OP_MTSPR:
        spr_effects(in);
        break;
    case OP_MFCR:
    case OP_MTCRF:
        cr_move_effects(in);
        break;
    case OP_ORI: /* PEM 8.2: ori 0,0,0 is the no-op, and waits for no register */
        if (!(in->opcode & 0x03ffffff))
            in->reads.gpr = in->writes.gpr = 0;
        break;
    case OP_MCRXR:
        in->reads.special |= TROD_PPC_XER_ALL & ~(uint32_t)TROD_PPC_COUNT;
        break;
    case OP_DST:
    case OP_DSTST:
        if (in->opcode & 0x02000000)
            in->flags |= TROD_PPC_TRANSIENT;
        break;
    default:
        multiple_effects(in);
        break;
    }
}

/* Is register n among those that a load writes, taken as the run that wraps from first on? */
static bool in_run(unsigned n, unsigned first, unsigned count)
{
    return ((n - first) & 31) < count;
}

/* Loads and stores whose base register is forbidden. PEM 8.2: update forms, lmw, lswi, lswx. */
static bool bad_base(const struct trod_ppc_insn *in)
{
    const unsigned rt = ppc_field(in->opcode, RT), ra = ppc_field(in->opcode, RA);

    if (in->flags & TROD_PPC_UPDATE)
        return ra == 0 || (in->group == TROD_PPC_GROUP_LOAD && in->writes.fpr == 0 && ra == rt);
    if (in->op == OP_LMW)
        return ra >= rt;
    if (in->op == OP_LSWI)
        return in_run(ra, rt, (trod_ppc_access_bytes(in->opcode, in->access, 0, 0) + 3) / 4);
    if (in->op == OP_LSWX)
        return ra == rt || ppc_field(in->opcode, RB) == rt;
    return false;
}

/* Invalid forms beyond nonzero reserved bits. PEM 8.2. */
static bool invalid_form(const struct trod_ppc_insn *in, const struct ppc_op *op)
{
    const uint32_t w = in->opcode;

    if (w & trod_ppc_reserved_bits(op) || (op->fx & F_RC1 && !(w & 1)))
        return true;
    switch (in->op) {
    case OP_SC:
        return !(w & 2);
    case OP_MFTB:
        return ppc_spr(w) != 268 && ppc_spr(w) != 269;
    case OP_SYNC:
        return ppc_field(w, SYL) == 3;
    case OP_DSS:
        return w & 0x02000000 && ppc_field(w, STRM);
    default:
        return false;
    }
}

bool trod_ppc_decode(uint32_t opcode, struct trod_ppc_insn *insn)
{
    const unsigned id = trod_ppc_lookup(opcode);
    const struct ppc_op *op = &trod_ppc_ops[id];

    memset(insn, 0, sizeof *insn);
    insn->opcode = opcode;
    insn->access = trod_ppc_access(opcode);
    insn->tt6 = (uint8_t)trod_ppc_class_of(insn->access, TROD_PPC_TT6);
    insn->tt6e = (uint8_t)trod_ppc_class_of(insn->access, TROD_PPC_TT6E);
    insn->ea_mask = ~UINT32_C(0);
    insn->ea_base = insn->ea_index = -1;
    if (id == OP_NONE)
        return false;
    insn->op = (uint16_t)id;
    insn->form = op->form;
    insn->group = op->group;
    insn->flags = (uint32_t)op->fx & PUBLIC_FLAGS;
    for (unsigned i = 0; i < 5; i++)
        operand_effect(insn, op->args[i]);
    if (invalid_form(insn, op) || bad_base(insn))
        insn->flags |= TROD_PPC_BAD_FORM;
    flag_effects(insn, op->fx);
    special_cases(insn);
    address(insn);
    return true;
}
