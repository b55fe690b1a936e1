/*
 * operands.c - memory operands of instructions, one by one.
 *
 * Implements isa/operands.h: x86 with Capstone's details, A64 from its bits. Results are not kept:
 * each instruction is decoded here once.
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

static bool open_x86(struct trod_operands_decoder *d)
{
    d->cs = (struct trod_capstone){.isa = d->isa, .endian = TROD_ENDIAN_LITTLE, .detail = true};
    return trod_capstone_there(&d->cs, trod_capstone_iset(&d->cs, TROD_ISET_NONE));
}

static void decode_x86(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                       uint32_t n, struct trod_operands *out)
{
    const unsigned iset = trod_capstone_iset(&d->cs, TROD_ISET_NONE);
    const unsigned bits = d->isa == TROD_ISA_X86_64 ? 64 : 32;
    cs_regs reads, writes;
    uint8_t n_reads, n_writes;
    const cs_insn *insn;

    if (!trod_capstone_decode(&d->cs, iset, pc, code, n)) {
        if (bits == 64)
            trod_operands_evex(pc, code, n, out);
        return;
    }
    insn = d->cs.insn[iset];
    out->insn.valid = 1;
    out->insn.size = (uint8_t)insn->size;
    if (trod_capstone_library.cs_regs_access(d->cs.handle[iset], insn, reads, &n_reads, writes,
                                             &n_writes) == CS_ERR_OK)
        for (unsigned i = 0; i < n_writes; i++)
            out->changes |= trod_operands_x86_reg(writes[i]);
    trod_operands_x86(insn, bits, out);
}

#else

static bool open_x86(struct trod_operands_decoder *d)
{
    (void)d;
    return false;
}

static void decode_x86(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                       uint32_t n, struct trod_operands *out)
{
    (void)d, (void)pc, (void)code, (void)n, (void)out;
}

#endif

int trod_operands_new(struct trod_operands_decoder **out, enum trod_isa isa)
{
    struct trod_operands_decoder *d;

    *out = NULL;
    if (isa != TROD_ISA_X86_64 && isa != TROD_ISA_X86_32 && isa != TROD_ISA_A64)
        return TROD_ERR_UNSUPPORTED;
    d = calloc(1, sizeof *d);
    if (!d)
        return TROD_ERR_NOMEM;
    d->isa = isa;
    if (isa != TROD_ISA_A64 && !open_x86(d)) {
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
#if TROD_HAVE_CAPSTONE
    trod_capstone_close(&d->cs);
#endif
    free(d);
}

void trod_operands_decode(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                          uint32_t n, struct trod_operands *out)
{
    *out = (struct trod_operands){.n_read = 0};
    if (d->isa == TROD_ISA_A64) {
        if (n >= 4)
            trod_operands_a64(pc, trod_code_word(code, TROD_ENDIAN_LITTLE), out);
    } else if (n > 0) {
        decode_x86(d, pc, code, n, out);
    }
}
