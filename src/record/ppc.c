/*
 * ppc.c - accesses of PowerPC instructions that QEMU tells nothing of, from opcode and registers.
 *
 * Implements docs/recording.md, "PowerPC": effective addresses after the PEM, chapter 8.
 */
#include "record/record.h"

#include "isa/ppc.h"

enum { LSWI = 597, STSWI = 725, DCBZ = 1014, DCBA = 758, DCBST = 54, LINE = 32 };

static uint32_t address_of(uint32_t opcode, const struct trod_ppc_access *a, uint32_t ra,
                           uint32_t rb)
{
    uint32_t base = opcode >> 16 & 31 ? ra : 0, minor = opcode >> 1 & 0x3ff;

    if (a->rule == TROD_PPC_MULTI)
        return base + ((opcode & 0xffff) ^ 0x8000) - 0x8000;
    return minor == LSWI || minor == STSWI ? base : base + rb;
}

bool rec_ppc_access(const uint8_t code[4], const uint64_t values[3], struct rec_access *out)
{
    const uint32_t opcode =
        (uint32_t)code[0] << 24 | (uint32_t)code[1] << 16 | (uint32_t)code[2] << 8 | code[3];
    const struct trod_ppc_access a = trod_ppc_access(opcode);
    const uint32_t rb = (uint32_t)values[1], xer = (uint32_t)values[2];
    const uint32_t minor = opcode >> 1 & 0x3ff;

    *out = (struct rec_access){.ea = address_of(opcode, &a, (uint32_t)values[0], rb)};
    out->third = a.rule == TROD_PPC_STREAM ? rb : xer;
    out->extended = a.rule == TROD_PPC_STREAM || a.rule == TROD_PPC_XER;
    out->size = a.rule == TROD_PPC_STREAM ? trod_ppc_stream_of(rb).size
                                          : trod_ppc_access_bytes(opcode, a, xer, LINE);
    out->addr = trod_ppc_access_start(a, out->ea, LINE);
    out->conditional = a.kind == TROD_PPC_COND;
    switch (a.kind) {
    case TROD_PPC_LOAD:
    case TROD_PPC_RESERVE:
        out->kind = TROD_READ;
        return true;
    case TROD_PPC_STORE:
    case TROD_PPC_COND:
        out->kind = TROD_WRITE;
        return true;
    case TROD_PPC_PREFETCH:
        out->kind = TROD_PREFETCH;
        return true;
    case TROD_PPC_CACHE:
        out->kind = minor == DCBZ ? TROD_WRITE : TROD_FLUSH;
        out->upkeep = minor == DCBA || minor == DCBST;
        return true;
    default:
        return false;
    }
}
