/*
 * What follows from a decoded instruction and register values: addresses, sizes, where execution
 * goes next.
 *
 * Document: PEM 4.2.3.1 (effective addresses), 4.2.4 (branches). It knows no memory and no
 * exceptions.
 */
#include "isa/ppc.h"

uint32_t trod_ppc_effective_address(const struct trod_ppc_insn *insn, const uint32_t gpr[32])
{
    uint32_t ea;

    if (insn->access.kind == TROD_PPC_NONE)
        return 0;
    ea = (uint32_t)(int32_t)insn->ea_disp;
    if (insn->ea_base >= 0)
        ea += gpr[insn->ea_base];
    if (insn->ea_index >= 0)
        ea += gpr[insn->ea_index];
    return ea;
}

uint32_t trod_ppc_access_size(const struct trod_ppc_insn *insn, uint32_t xer, uint32_t line)
{
    return trod_ppc_access_bytes(insn->opcode, insn->access, xer, line);
}

bool trod_ppc_target(const struct trod_ppc_insn *insn, uint32_t pc, uint32_t *target)
{
    switch (insn->branch) {
    case TROD_PPC_BRANCH_DIRECT:
    case TROD_PPC_BRANCH_CALL:
    case TROD_PPC_BRANCH_COND:
    case TROD_PPC_BRANCH_COND_CALL:
        *target = (uint32_t)insn->disp + (insn->flags & TROD_PPC_ABSOLUTE ? 0 : pc);
        return true;
    default:
        return false;
    }
}

/* PEM 4.2.4.2: does a conditional branch go? CTR is decremented first. */
static bool goes(const struct trod_ppc_insn *insn, const struct trod_ppc_flow *flow)
{
    const unsigned bo = (insn->opcode >> 21) & 31, bi = (insn->opcode >> 16) & 31;
    bool ctr_ok = true, cond_ok = true;

    if (!(insn->flags & TROD_PPC_CONDITIONAL))
        return true;
    if (!(bo & 4))
        ctr_ok = (flow->ctr - 1 != 0) != (bool)(bo & 2);
    if (!(bo & 16))
        cond_ok = (bool)((flow->cr >> (31 - bi)) & 1) == (bool)(bo & 8);
    return ctr_ok && cond_ok;
}

bool trod_ppc_next(const struct trod_ppc_insn *insn, uint32_t pc, const struct trod_ppc_flow *flow,
                   uint32_t *next, bool *taken)
{
    uint32_t target = 0;
    bool go = false;

    if (insn->op == 0)
        return false;
    switch (insn->branch) {
    case TROD_PPC_BRANCH_NONE:
        break;
    case TROD_PPC_BRANCH_SYSCALL:
    case TROD_PPC_BRANCH_RFI:
        return false;
    default:
        go = goes(insn, flow);
        if (!trod_ppc_target(insn, pc, &target))
            target = ((insn->opcode >> 1) & 1023) == 528 ? flow->ctr & ~3u : flow->lr & ~3u;
        break;
    }
    *next = go ? target : pc + 4;
    if (taken)
        *taken = go;
    return true;
}
