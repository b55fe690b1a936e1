/*
 * insn.c - facts of instructions, kept under address and bytes.
 *
 * Implements trod/insn.h.
 */
#include "isa/insn_int.h"

#include <stdlib.h>
#include <string.h>

#include "trod_config.h"

#if TROD_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

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
    csh handle[TROD_ISET_A64 + 1]; /* by iset; 0: not open */
    cs_insn *insn[TROD_ISET_A64 + 1];
#endif
};

static bool is_ppc(const struct trod_insn_decoder *d)
{
    return d->isa == TROD_ISA_PPC32 || d->isa == TROD_ISA_PPC64;
}

#if TROD_HAVE_CAPSTONE

static bool is_arm(const struct trod_insn_decoder *d)
{
    return d->isa == TROD_ISA_ARM || d->isa == TROD_ISA_A64;
}

/* The instruction set that ISET means for this ISA. */
static unsigned iset_of(const struct trod_insn_decoder *d, unsigned iset)
{
    if (!is_arm(d))
        return TROD_ISET_NONE;
    if (iset == TROD_ISET_NONE || iset > TROD_ISET_A64)
        return d->isa == TROD_ISA_A64 ? TROD_ISET_A64 : TROD_ISET_A32;
    return iset;
}

static bool mode_of(const struct trod_insn_decoder *d, unsigned iset, cs_arch *arch, cs_mode *mode)
{
    *mode = CS_MODE_LITTLE_ENDIAN;
    if (is_arm(d)) {
        *arch = iset == TROD_ISET_A64 ? CS_ARCH_ARM64 : CS_ARCH_ARM;
        if (iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE)
            *mode = (cs_mode)(CS_MODE_THUMB | CS_MODE_V8);
        else if (iset == TROD_ISET_A32)
            *mode = (cs_mode)(CS_MODE_ARM | CS_MODE_V8);
        return true;
    }
    if (d->isa == TROD_ISA_X86_32 || d->isa == TROD_ISA_X86_64) {
        *arch = CS_ARCH_X86;
        *mode = d->isa == TROD_ISA_X86_64 ? CS_MODE_64 : CS_MODE_32;
        return true;
    }
    if (d->isa == TROD_ISA_MIPS32 || d->isa == TROD_ISA_MIPS64) {
        *arch = CS_ARCH_MIPS;
        *mode = d->isa == TROD_ISA_MIPS64 ? CS_MODE_MIPS64 : CS_MODE_MIPS32;
        if (d->endian != TROD_ENDIAN_LITTLE)
            *mode = (cs_mode)((unsigned)*mode | (unsigned)CS_MODE_BIG_ENDIAN);
        return true;
    }
    return false;
}

static bool open_handle(struct trod_insn_decoder *d, unsigned iset)
{
    cs_arch arch;
    cs_mode mode;

    if (d->handle[iset])
        return true;
    if (!mode_of(d, iset, &arch, &mode) || cs_open(arch, mode, &d->handle[iset]) != CS_ERR_OK)
        return false;
    cs_option(d->handle[iset], CS_OPT_DETAIL, CS_OPT_ON);
    d->insn[iset] = cs_malloc(d->handle[iset]);
    return d->insn[iset] != NULL;
}

static void registers(csh handle, const cs_insn *insn, struct trod_insn *out)
{
    cs_regs reads, writes;
    uint8_t n_reads, n_writes;

    if (cs_regs_access(handle, insn, reads, &n_reads, writes, &n_writes) != CS_ERR_OK)
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

    iset = iset_of(d, iset);
    if (!open_handle(d, iset) || !cs_disasm_iter(d->handle[iset], &code, &n, &pc, d->insn[iset]))
        return;
    insn = d->insn[iset];
    out->valid = 1;
    out->size = (uint8_t)insn->size;
    if (d->isa == TROD_ISA_X86_32 || d->isa == TROD_ISA_X86_64)
        trod_insn_x86(insn, d->isa == TROD_ISA_X86_64 ? 64 : 32, out);
    else if (iset == TROD_ISET_A64)
        trod_insn_a64(insn, out);
    else if (is_arm(d))
        trod_insn_a32(insn, out);
    else
        trod_insn_mips(insn, out);
    registers(d->handle[iset], insn, out);
}

static const char *capstone_reg(struct trod_insn_decoder *d, unsigned iset, unsigned reg)
{
    const char *name;

    iset = iset_of(d, iset);
    name = open_handle(d, iset) ? cs_reg_name(d->handle[iset], reg) : NULL;
    return name ? name : "";
}

static void close_handles(struct trod_insn_decoder *d)
{
    for (unsigned i = 0; i <= TROD_ISET_A64; i++) {
        if (d->insn[i])
            cs_free(d->insn[i], 1);
        if (d->handle[i])
            cs_close(&d->handle[i]);
    }
}

static bool supported(struct trod_insn_decoder *d)
{
    return is_ppc(d) || open_handle(d, iset_of(d, TROD_ISET_NONE));
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
    return is_ppc(d);
}

#endif

int trod_insn_decoder_new(struct trod_insn_decoder **out, enum trod_isa isa,
                          enum trod_endian endian)
{
    struct trod_insn_decoder *d = calloc(1, sizeof *d);

    *out = NULL;
    if (d)
        d->slots = calloc(SLOTS, sizeof *d->slots);
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
    free(d->slots);
    free(d);
}

static size_t slot_of(uint64_t pc, const uint8_t *code, uint32_t n, unsigned iset)
{
    uint64_t h = 0;

    memcpy(&h, code, n < 8 ? n : 8);
    h = (h ^ pc * 0x9e3779b97f4a7c15u ^ iset) * 0xd6e8feb86659fd93u;
    return (size_t)(h >> 40) & (SLOTS - 1);
}

static uint32_t word_of(const struct trod_insn_decoder *d, const uint8_t *code)
{
    uint32_t word =
        (uint32_t)code[0] << 24 | (uint32_t)code[1] << 16 | (uint32_t)code[2] << 8 | code[3];

    return d->endian == TROD_ENDIAN_LITTLE ? __builtin_bswap32(word) : word;
}

const struct trod_insn *trod_insn_decode(struct trod_insn_decoder *d, unsigned iset, uint64_t pc,
                                         const uint8_t *code, uint32_t n)
{
    struct slot *s;

    if (n == 0 || n > TROD_INSN_CODE)
        return &d->none;
    s = &d->slots[slot_of(pc, code, n, iset)];
    if (s->n == n && s->pc == pc && s->iset == iset && memcmp(s->code, code, n) == 0)
        return &s->insn;
    s->insn = d->none;
    if (!is_ppc(d))
        by_capstone(d, iset, pc, code, n, &s->insn);
    else if (n == 4)
        trod_insn_ppc(word_of(d, code), pc, &s->insn);
    s->n = (uint8_t)n;
    s->pc = pc;
    s->iset = (uint8_t)iset;
    memcpy(s->code, code, n);
    return &s->insn;
}

const char *trod_insn_reg_name(struct trod_insn_decoder *d, unsigned iset, unsigned reg)
{
    return is_ppc(d) ? trod_insn_ppc_reg(reg) : capstone_reg(d, iset, reg);
}
