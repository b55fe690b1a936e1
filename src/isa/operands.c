/*
 * operands.c - memory operands of instructions, one by one.
 *
 * Implements isa/operands.h with Capstone's details. What is decoded here is decoded once: nothing
 * is kept.
 */
#include "isa/operands.h"

#include "isa/insn_int.h"

#include <stdlib.h>

#include "isa/capstone.h"

struct trod_operands_decoder {
    enum trod_isa isa;
#if TROD_HAVE_CAPSTONE
    struct trod_capstone cs;
#endif
};

#if TROD_HAVE_CAPSTONE

int trod_operands_new(struct trod_operands_decoder **out, enum trod_isa isa)
{
    struct trod_operands_decoder *d;

    *out = NULL;
    if (isa != TROD_ISA_X86_64 && isa != TROD_ISA_X86_32)
        return TROD_ERR_UNSUPPORTED;
    d = calloc(1, sizeof *d);
    if (!d)
        return TROD_ERR_NOMEM;
    d->isa = isa;
    d->cs = (struct trod_capstone){.isa = isa, .endian = TROD_ENDIAN_LITTLE, .detail = true};
    if (!trod_capstone_open(&d->cs, trod_capstone_iset(&d->cs, TROD_ISET_NONE))) {
        trod_operands_free(d);
        return TROD_ERR_UNSUPPORTED;
    }
    *out = d;
    return TROD_OK;
}

void trod_operands_free(struct trod_operands_decoder *d)
{
    if (!d)
        return;
    trod_capstone_close(&d->cs);
    free(d);
}

void trod_operands_decode(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                          uint32_t n, struct trod_operands *out)
{
    const unsigned iset = trod_capstone_iset(&d->cs, TROD_ISET_NONE);
    const unsigned bits = d->isa == TROD_ISA_X86_64 ? 64 : 32;
    cs_regs reads, writes;
    uint8_t n_reads, n_writes;
    const cs_insn *insn;

    *out = (struct trod_operands){.n_read = 0};
    if (n == 0)
        return;
    if (!trod_capstone_decode(&d->cs, iset, pc, code, n)) {
        if (bits == 64)
            trod_operands_evex(pc, code, n, out);
        return;
    }
    insn = d->cs.insn[iset];
    out->insn.valid = 1;
    out->insn.size = (uint8_t)insn->size;
    if (cs_regs_access(d->cs.handle[iset], insn, reads, &n_reads, writes, &n_writes) == CS_ERR_OK)
        for (unsigned i = 0; i < n_writes; i++)
            out->changes |= trod_operands_x86_reg(writes[i]);
    trod_operands_x86(insn, bits, out);
}

#else

int trod_operands_new(struct trod_operands_decoder **out, enum trod_isa isa)
{
    (void)isa;
    *out = NULL;
    return TROD_ERR_UNSUPPORTED;
}

void trod_operands_free(struct trod_operands_decoder *d)
{
    free(d);
}

void trod_operands_decode(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                          uint32_t n, struct trod_operands *out)
{
    (void)d, (void)pc, (void)code, (void)n;
    *out = (struct trod_operands){.n_read = 0};
}

#endif
