/*
 * ppc.c - the registers of a PowerPC program, instruction by instruction.
 *
 * FULL has all registers at each instruction, so each must be there because an instruction put it
 * there. No short code computes the addresses of every pattern: where a program goes and what it
 * stores comes to it from outside, by performance counters that it reads (mfspr of USDA, UPMC1 and
 * UPMC2, which the hardware changes: MPC7450 User's Manual, 2.1.5). Everything else is computed:
 * compare and link registers, stack pointer, what loads bring.
 */
#include "core/endian.h"
#include "gen/int.h"

#include <string.h>

/* Bytes and words of a state (mach/ppc/thread_status.h): docs/formats/amber.md, "FULL". */
enum { STATE = 1000, W_SRR0 = 0, W_SRR1 = 1, W_GPR = 2, W_CR = 34, W_LR = 36 };

enum {
    MSR_USER = 0xd030, /* interrupts, user mode, machine checks, addresses translated */
    FRAME = 16,
    GPRS = 8
};

/* The first field of the condition register, and what a comparison leaves there. */
static const uint32_t cr_first = 0xf0000000, cr_greater = 0x40000000, cr_equal = 0x20000000;

unsigned gen_ppc_beside(enum gen_op op, bool behind, const enum gen_op **ops)
{
    static const enum gen_op access[] = {GEN_ADDRESS, GEN_DATUM};
    static const enum gen_op cond[] = {GEN_TRIP, GEN_COMPARE};
    static const enum gen_op save[] = {GEN_LINK};
    static const enum gen_op restored[] = {GEN_UNLINK, GEN_DROP};

    if (behind) {
        *ops = restored;
        return op == GEN_RESTORE ? 2 : 0;
    }
    *ops = op == GEN_COND ? cond : op == GEN_SAVE ? save : access;
    return op == GEN_LOAD || op == GEN_SAVE ? 1 : op == GEN_STORE || op == GEN_COND ? 2 : 0;
}

void gen_ppc_begin(struct gen_ppc *r)
{
    *r = (struct gen_ppc){.gpr[1] = GEN_STACK};
}

void gen_ppc_execute(struct gen_ppc *r, const struct gen_insn *in, uint64_t addr, bool taken,
                     uint64_t link)
{
    switch (in->op) {
    case GEN_ADDRESS:
        r->gpr[3] = (uint32_t)addr;
        break;
    case GEN_DATUM:
    case GEN_LOAD:
        r->gpr[4] = (uint32_t)gen_content(addr);
        break;
    case GEN_ADD:
        r->gpr[3] += 4;
        break;
    case GEN_TRIP:
        r->gpr[5] = taken;
        break;
    case GEN_COMPARE:
        r->cr = (r->cr & ~cr_first) | (r->gpr[5] ? cr_greater : cr_equal);
        break;
    case GEN_CALL:
        r->lr = (uint32_t)in->pc + in->size;
        break;
    case GEN_LINK:
        r->gpr[0] = r->lr;
        break;
    case GEN_SAVE:
        r->gpr[1] -= FRAME;
        break;
    case GEN_RESTORE:
        r->gpr[0] = (uint32_t)link;
        break;
    case GEN_UNLINK:
        r->lr = r->gpr[0];
        break;
    case GEN_DROP:
        r->gpr[1] += FRAME;
        break;
    default:
        break;
    }
}

struct trod_slice gen_ppc_state(const struct gen_ppc *r, uint64_t pc, struct trod_batch *b)
{
    struct trod_slice s = {0, 0};
    uint8_t *p = trod_batch_pool(b, STATE, &s);

    if (!p)
        return s;
    memset(p, 0, STATE);
    trod_store_be32(p + 4 * W_SRR0, (uint32_t)pc);
    trod_store_be32(p + 4 * W_SRR1, MSR_USER);
    for (unsigned i = 0; i < GPRS; i++)
        trod_store_be32(p + 4 * (W_GPR + i), r->gpr[i]);
    trod_store_be32(p + 4 * W_CR, r->cr);
    trod_store_be32(p + 4 * W_LR, r->lr);
    return s;
}
