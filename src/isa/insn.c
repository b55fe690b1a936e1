/*
 * insn.c - facts of instructions, kept under address and bytes.
 *
 * Implements trod/insn.h.
 */
#include "isa/insn_int.h"

#include <stdlib.h>
#include <string.h>

#include "core/spare.h"
#include "isa/capstone.h"

enum { SLOTS = 1 << 14 };

struct slot {
    uint64_t pc;
    uint8_t code[TROD_INSN_CODE];
    uint8_t n, iset; /* n 0: empty */
    struct trod_insn insn;
};

struct trod_insn_decoder {
    enum trod_isa isa;
    enum trod_endian endian;
    struct slot *slots;
    struct trod_insn none;
#if TROD_HAVE_CAPSTONE
    struct trod_capstone cs;
#endif
};

#if TROD_HAVE_CAPSTONE

static void registers(csh handle, const cs_insn *insn, struct trod_insn *out)
{
    cs_regs reads, writes;
    uint8_t n_reads, n_writes;

    if (trod_capstone_library.cs_regs_access(handle, insn, reads, &n_reads, writes, &n_writes) !=
        CS_ERR_OK)
        return;
    for (unsigned i = 0; i < n_reads; i++)
        trod_insn_add(out->reads, &out->n_reads, reads[i]);
    for (unsigned i = 0; i < n_writes; i++)
        trod_insn_add(out->writes, &out->n_writes, writes[i]);
}

static void by_capstone(struct trod_insn_decoder *d, unsigned iset, uint64_t pc,
                        const uint8_t *code, size_t n, struct trod_insn *out)
{
    const cs_insn *insn;

    iset = trod_capstone_iset(&d->cs, iset);
    if (!trod_capstone_decode(&d->cs, iset, pc, code, n)) {
        const uint32_t w = n == 4 ? trod_code_word(code, TROD_ENDIAN_LITTLE) : 0;

        if (iset == TROD_ISET_A64 && n == 4 && !trod_insn_a64_authenticated(w, out))
            trod_insn_a64_atomic(w, out);
        return;
    }
    insn = d->cs.insn[iset];
    out->valid = 1;
    out->size = (uint8_t)insn->size;
    if (d->isa == TROD_ISA_X86_32 || d->isa == TROD_ISA_X86_64)
        trod_insn_x86(insn, d->isa == TROD_ISA_X86_64 ? 64 : 32, out);
    else if (iset == TROD_ISET_A64)
        trod_insn_a64(insn, out);
    else if (iset != TROD_ISET_NONE)
        trod_insn_a32(insn, out);
    else if (d->isa == TROD_ISA_MIPS32 || d->isa == TROD_ISA_MIPS64)
        trod_insn_mips(insn, out);
    registers(d->cs.handle[iset], insn, out);
    if (d->isa == TROD_ISA_X86_32 || d->isa == TROD_ISA_X86_64)
        trod_insn_x86_registers(insn, d->isa == TROD_ISA_X86_64 ? 64 : 32, out);
    else if (iset == TROD_ISET_A64)
        trod_insn_a64_registers(insn, out);
    else if (iset != TROD_ISET_NONE)
        trod_insn_a32_registers(insn, out);
    trod_insn_kind(d->cs.handle[iset], insn, d->isa, iset, out);
}

static const char *capstone_reg(struct trod_insn_decoder *d, unsigned iset, unsigned reg)
{
    const char *name;

    iset = trod_capstone_iset(&d->cs, iset);
    name = trod_capstone_open(&d->cs, iset)
               ? trod_capstone_library.cs_reg_name(d->cs.handle[iset], reg)
               : NULL;
    return name ? name : "";
}

static void close_handles(struct trod_insn_decoder *d)
{
    trod_capstone_close(&d->cs);
}

static bool supported(struct trod_insn_decoder *d)
{
    d->cs = (struct trod_capstone){.isa = d->isa, .endian = d->endian, .detail = true};
    return trod_is_own(d->isa) ||
           trod_capstone_there(&d->cs, trod_capstone_iset(&d->cs, TROD_ISET_NONE));
}

#else

static void by_capstone(struct trod_insn_decoder *d, unsigned iset, uint64_t pc,
                        const uint8_t *code, size_t n, struct trod_insn *out)
{
    (void)d, (void)iset, (void)pc, (void)code, (void)n, (void)out;
}

static const char *capstone_reg(struct trod_insn_decoder *d, unsigned iset, unsigned reg)
{
    (void)d, (void)iset, (void)reg;
    return "";
}

static void close_handles(struct trod_insn_decoder *d)
{
    (void)d;
}

static bool supported(struct trod_insn_decoder *d)
{
    return trod_is_own(d->isa);
}

#endif

int trod_insn_decoder_new(struct trod_insn_decoder **out, enum trod_isa isa,
                          enum trod_endian endian)
{
    struct trod_insn_decoder *d = calloc(1, sizeof *d);

    *out = NULL;
    if (d)
        d->slots = trod_spare_zeroed(SLOTS * sizeof *d->slots);
    if (!d || !d->slots) {
        free(d);
        return TROD_ERR_NOMEM;
    }
    d->isa = isa;
    d->endian = endian;
    if (!supported(d)) {
        trod_insn_decoder_free(d);
        return TROD_ERR_UNSUPPORTED;
    }
    *out = d;
    return TROD_OK;
}

void trod_insn_decoder_free(struct trod_insn_decoder *d)
{
    if (!d)
        return;
    close_handles(d);
    trod_spare_give(d->slots, SLOTS * sizeof *d->slots);
    free(d);
}

const struct trod_insn *trod_insn_decode(struct trod_insn_decoder *d, unsigned iset, uint64_t pc,
                                         const uint8_t *code, uint32_t n)
{
    struct slot *s;

    if (n == 0 || n > TROD_INSN_CODE)
        return &d->none;
    s = &d->slots[trod_code_slot(pc, code, n, iset, SLOTS)];
    if (s->n == n && s->pc == pc && s->iset == iset && memcmp(s->code, code, n) == 0)
        return &s->insn;
    s->insn = d->none;
    if (trod_is_riscv(d->isa))
        trod_insn_riscv(code, n, pc, trod_riscv_bits(d->isa), &s->insn);
    else if (!trod_is_ppc(d->isa))
        by_capstone(d, iset, pc, code, n, &s->insn);
    else if (n == 4)
        trod_insn_ppc(trod_code_word(code, d->endian), pc, &s->insn);
    s->n = (uint8_t)n;
    s->pc = pc;
    s->iset = (uint8_t)iset;
    memcpy(s->code, code, n);
    return &s->insn;
}

const char *trod_insn_reg_name(struct trod_insn_decoder *d, unsigned iset, unsigned reg)
{
    if (trod_is_riscv(d->isa))
        return trod_insn_riscv_reg(reg);
    return trod_is_ppc(d->isa) ? trod_insn_ppc_reg(reg) : capstone_reg(d, iset, reg);
}
