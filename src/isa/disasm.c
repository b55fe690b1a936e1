/*
 * disasm.c - opcode bytes to text.
 *
 * Implements trod/disasm.h. Capstone (https://www.capstone-engine.org) for Arm, x86, MIPS and what
 * else it knows; PowerPC by trod/ppc.h, whose texts are those of the manuals. A decoded instruction
 * is kept under its address and bytes, so that loops cost a look-up an instruction.
 */
#include "trod/disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trod/ppc.h"
#include "trod/put.h"
#include "trod_config.h"

#if TROD_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

enum { SLOTS = 1 << 15 };

struct slot {
    uint64_t pc;
    uint8_t code[TROD_DISASM_CODE];
    uint8_t n, iset, len; /* n 0: empty */
    char text[TROD_DISASM_TEXT];
};

struct trod_disasm {
    enum trod_isa isa;
    enum trod_endian endian;
    struct slot *slots;
#if TROD_HAVE_CAPSTONE
    csh handle[TROD_ISET_A64 + 1]; /* by iset; 0: not open */
    cs_insn *insn[TROD_ISET_A64 + 1];
#endif
};

#if TROD_HAVE_CAPSTONE

/* Capstone's words for an instruction set; false if it has none. */
static bool capstone_mode(const struct trod_disasm *d, unsigned iset, cs_arch *arch, cs_mode *mode)
{
    /* A64 code is little-endian whatever the data is */
    *mode = CS_MODE_LITTLE_ENDIAN;
    switch (d->isa) {
    case TROD_ISA_ARM:
    case TROD_ISA_A64:
        if (iset == TROD_ISET_NONE)
            iset = d->isa == TROD_ISA_A64 ? TROD_ISET_A64 : TROD_ISET_A32;
        *arch = iset == TROD_ISET_A64 ? CS_ARCH_ARM64 : CS_ARCH_ARM;
        if (iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE)
            *mode = (cs_mode)(CS_MODE_THUMB | CS_MODE_V8);
        else if (iset == TROD_ISET_A32)
            *mode = (cs_mode)(CS_MODE_ARM | CS_MODE_V8);
        if (iset != TROD_ISET_A64 && d->endian == TROD_ENDIAN_BIG)
            *mode = (cs_mode)((unsigned)*mode | (unsigned)CS_MODE_BIG_ENDIAN);
        return true;
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        *arch = CS_ARCH_X86;
        *mode = d->isa == TROD_ISA_X86_64 ? CS_MODE_64 : CS_MODE_32;
        return true;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        *arch = CS_ARCH_MIPS;
        *mode = d->isa == TROD_ISA_MIPS64 ? CS_MODE_MIPS64 : CS_MODE_MIPS32;
        if (d->endian != TROD_ENDIAN_LITTLE)
            *mode = (cs_mode)((unsigned)*mode | (unsigned)CS_MODE_BIG_ENDIAN);
        return true;
#if CS_API_MAJOR >= 5
    case TROD_ISA_RISCV64:
        *arch = CS_ARCH_RISCV;
        *mode = (cs_mode)(CS_MODE_RISCV64 | CS_MODE_RISCVC);
        return true;
#endif
    default:
        return false;
    }
}

static bool open_capstone(struct trod_disasm *d, unsigned iset)
{
    cs_arch arch;
    cs_mode mode;

    if (d->handle[iset])
        return true;
    if (!capstone_mode(d, iset, &arch, &mode) || cs_open(arch, mode, &d->handle[iset]) != CS_ERR_OK)
        return false;
    d->insn[iset] = cs_malloc(d->handle[iset]);
    return d->insn[iset] != NULL;
}

static size_t by_capstone(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                          uint32_t n, char *out)
{
    size_t left = n;
    int len;

    if (iset > TROD_ISET_A64 || !open_capstone(d, iset) ||
        !cs_disasm_iter(d->handle[iset], &code, &left, &pc, d->insn[iset]))
        return 0;
    len = snprintf(out, TROD_DISASM_TEXT, "%s%s%s", d->insn[iset]->mnemonic,
                   d->insn[iset]->op_str[0] ? " " : "", d->insn[iset]->op_str);
    if (len < 0)
        return 0;
    return len < TROD_DISASM_TEXT ? (size_t)len : TROD_DISASM_TEXT - 1;
}

static void close_capstone(struct trod_disasm *d)
{
    for (unsigned i = 0; i <= TROD_ISET_A64; i++) {
        if (d->insn[i])
            cs_free(d->insn[i], 1);
        if (d->handle[i])
            cs_close(&d->handle[i]);
    }
}

#else

static bool open_capstone(struct trod_disasm *d, unsigned iset)
{
    (void)d;
    (void)iset;
    return false;
}

static size_t by_capstone(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                          uint32_t n, char *out)
{
    (void)d;
    (void)iset;
    (void)pc;
    (void)code;
    (void)n;
    (void)out;
    return 0;
}

static void close_capstone(struct trod_disasm *d)
{
    (void)d;
}

#endif

static bool is_ppc(const struct trod_disasm *d)
{
    return d->isa == TROD_ISA_PPC32 || d->isa == TROD_ISA_PPC64;
}

static size_t by_ppc(const struct trod_disasm *d, uint64_t pc, const uint8_t *code, char *out)
{
    uint32_t opcode =
        (uint32_t)code[0] << 24 | (uint32_t)code[1] << 16 | (uint32_t)code[2] << 8 | code[3];
    struct trod_ppc_insn insn;
    size_t n;

    if (d->endian == TROD_ENDIAN_LITTLE)
        opcode = __builtin_bswap32(opcode);
    trod_ppc_decode(opcode, &insn);
    n = trod_ppc_format(out, TROD_DISASM_TEXT, &insn, (uint32_t)pc);
    return n < TROD_DISASM_TEXT ? n : TROD_DISASM_TEXT - 1;
}

static size_t no_instruction(const uint8_t *code, uint32_t n, char *out)
{
    static const char word[] = ".byte 0x";
    char *p = out + sizeof word - 1;

    memcpy(out, word, sizeof word - 1);
    if (n > TROD_DISASM_CODE)
        n = TROD_DISASM_CODE;
    return (size_t)(trod_put_bytes(p, code, n) - out);
}

int trod_disasm_new(struct trod_disasm **out, enum trod_isa isa, enum trod_endian endian,
                    struct trod_diag *diag)
{
    struct trod_disasm *d = calloc(1, sizeof *d);

    *out = NULL;
    if (d)
        d->slots = calloc(SLOTS, sizeof *d->slots);
    if (!d || !d->slots) {
        free(d);
        return TROD_ERR_NOMEM;
    }
    d->isa = isa;
    d->endian = endian;
    if (!is_ppc(d) && !open_capstone(d, TROD_ISET_NONE)) {
        trod_disasm_free(d);
        return trod_warning(diag, TROD_ERR_UNSUPPORTED, "disasm.isa", NULL,
                            "no disassembly of %s in this build of trod", trod_isa_name(isa));
    }
    *out = d;
    return 0;
}

void trod_disasm_free(struct trod_disasm *d)
{
    if (!d)
        return;
    close_capstone(d);
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

const char *trod_disasm_text(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                             uint32_t n, size_t *len)
{
    struct slot *s;

    if (n == 0 || n > TROD_DISASM_CODE) {
        *len = 0;
        return "";
    }
    s = &d->slots[slot_of(pc, code, n, iset)];
    if (s->n != n || s->pc != pc || s->iset != iset || memcmp(s->code, code, n) != 0) {
        size_t got = 0;

        if (is_ppc(d))
            got = n == 4 ? by_ppc(d, pc, code, s->text) : 0;
        else
            got = by_capstone(d, iset, pc, code, n, s->text);
        if (got == 0)
            got = no_instruction(code, n, s->text);
        s->len = (uint8_t)got;
        s->n = (uint8_t)n;
        s->pc = pc;
        s->iset = (uint8_t)iset;
        memcpy(s->code, code, n);
    }
    *len = s->len;
    return s->text;
}
