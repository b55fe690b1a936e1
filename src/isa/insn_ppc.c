/*
 * insn_ppc.c - facts of PowerPC instructions, from trod/ppc.h.
 *
 * Implements the PowerPC part of trod/insn.h. Registers are numbered bank by bank.
 */
#include "isa/insn_int.h"
#include "isa/ppc.h"

enum { BANK = 32 };

static void add_mask(uint32_t mask, unsigned bank, uint16_t *list, uint8_t *n)
{
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1)
            trod_insn_add(list, n, (uint16_t)(1 + bank * BANK + i));
}

static void add_regs(const struct trod_ppc_regs *r, uint16_t *list, uint8_t *n)
{
    add_mask(r->gpr, TROD_PPC_GPR, list, n);
    add_mask(r->fpr, TROD_PPC_FPR, list, n);
    add_mask(r->vr, TROD_PPC_VR, list, n);
    add_mask(r->cr, TROD_PPC_CR, list, n);
    add_mask(r->special, TROD_PPC_SPECIAL, list, n);
}

static uint8_t branch_of(const struct trod_ppc_insn *i)
{
    static const uint8_t kinds[] = {
        [TROD_PPC_BRANCH_NONE] = TROD_BR_NONE,
        [TROD_PPC_BRANCH_DIRECT] = TROD_BR_DIRECT,
        [TROD_PPC_BRANCH_CALL] = TROD_BR_CALL,
        [TROD_PPC_BRANCH_COND] = TROD_BR_COND,
        [TROD_PPC_BRANCH_COND_CALL] = TROD_BR_COND,
        [TROD_PPC_BRANCH_RETURN] = TROD_BR_RETURN,
        [TROD_PPC_BRANCH_INDIRECT] = TROD_BR_INDIRECT,
        [TROD_PPC_BRANCH_INDIRECT_CALL] = TROD_BR_ICALL,
        [TROD_PPC_BRANCH_SYSCALL] = TROD_BR_SYSCALL,
        [TROD_PPC_BRANCH_RFI] = TROD_BR_ERET,
    };

    return kinds[i->branch];
}

/* What the access does to memory. */
static void access_of(const struct trod_ppc_insn *i, struct trod_insn *out)
{
    const struct trod_ppc_access *a = &i->access;
    uint32_t size = trod_ppc_access_size(i, 0, 32);

    out->flags |= TROD_INSN_COUNTS;
    switch (a->kind) {
    case TROD_PPC_LOAD:
    case TROD_PPC_RESERVE:
        out->loads = 1;
        out->read_size = size;
        break;
    case TROD_PPC_COND:
        out->flags |= TROD_INSN_PREDICATED;
        out->stores = 1;
        out->write_size = size;
        break;
    case TROD_PPC_STORE:
        out->stores = 1;
        out->write_size = size;
        break;
    case TROD_PPC_PREFETCH:
        out->flags |= TROD_INSN_PREFETCH;
        break;
    case TROD_PPC_CACHE:
        out->flags |= TROD_INSN_FLUSH;
        break;
    default:
        break;
    }
    if (a->rule != TROD_PPC_XER)
        out->flags |= TROD_INSN_SIZES;
}

/* What it is for, and how traces record it. Strings are those of the rules for their lengths. */
static void kind_of(const struct trod_ppc_insn *i, struct trod_insn *out)
{
    static const char *const classes[] = {
        [TROD_PPC_COMPUTE] = "compute",
        [TROD_PPC_FLOW] = "flow_altering",
        [TROD_PPC_MEMORY] = "memory",
        [TROD_PPC_MEMORY_EXTENDED] = "memory_extended",
    };
    const struct trod_ppc_access *a = &i->access;

    out->group = trod_ppc_group_name(i->group);
    out->tt6 = classes[i->tt6];
    out->tt6e = classes[i->tt6e];
    if (i->flags & TROD_PPC_ALTIVEC) {
        out->flags |= TROD_INSN_FP | TROD_INSN_SIMD;
        out->extension = "altivec";
    } else if (i->flags & TROD_PPC_64BIT) {
        out->extension = "ppc64";
    } else if (i->flags & TROD_PPC_POWER) {
        out->extension = "power";
    } else if (i->group == TROD_PPC_GROUP_FLOAT || out->flags & TROD_INSN_FP) {
        out->extension = "fpu";
    }
    if (a->kind == TROD_PPC_RESERVE || a->kind == TROD_PPC_COND)
        out->flags |= TROD_INSN_ATOMIC;
    if (a->kind != TROD_PPC_NONE && (a->rule == TROD_PPC_NB || a->rule == TROD_PPC_XER))
        out->flags |= TROD_INSN_STRING;
    if (i->group == TROD_PPC_GROUP_SYNC || i->group == TROD_PPC_GROUP_MMU ||
        i->flags & TROD_PPC_PRIVILEGED)
        out->flags |= TROD_INSN_SYSTEM;
    if (i->group == TROD_PPC_GROUP_TRAP)
        out->flags |= TROD_INSN_TRAP;
    if (i->flags & TROD_PPC_CONDITIONAL)
        out->flags |= TROD_INSN_PREDICATED;
}

void trod_insn_ppc(uint32_t op, uint64_t pc, struct trod_insn *out)
{
    struct trod_ppc_insn i;
    uint32_t target;

    out->size = 4;
    out->valid = trod_ppc_decode(op, &i);
    if (!out->valid)
        return;
    out->branch = branch_of(&i);
    if (trod_ppc_target(&i, (uint32_t)pc, &target)) {
        out->flags |= TROD_INSN_TARGET;
        out->target = target;
    }
    access_of(&i, out);
    add_regs(&i.reads, out->reads, &out->n_reads);
    add_regs(&i.writes, out->writes, &out->n_writes);
    if (i.reads.fpr | i.writes.fpr | i.reads.vr | i.writes.vr)
        out->flags |= TROD_INSN_FP;
    kind_of(&i, out);
}

const char *trod_insn_ppc_reg(unsigned reg)
{
    const char *name = NULL;

    if (reg > 0)
        name = trod_ppc_reg_name((enum trod_ppc_bank)((reg - 1) / BANK), (reg - 1) % BANK);
    return name ? name : "";
}
