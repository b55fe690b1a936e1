/*
 * disasm.c - opcode bytes to text.
 *
 * Implements trod/disasm.h. Capstone (https://www.capstone-engine.org) for Arm, x86 and MIPS;
 * PowerPC by isa/ppc.h, whose texts are those of the manuals, and RISC-V by isa/riscv.h. A decoded
 * instruction is kept under its address and bytes, so that loops cost a look-up an instruction.
 * Programs have the same opcode in many places: where its text was the same at two addresses that
 * differ as addresses in texts do, it is that of any address, and kept under the bytes alone.
 */
#include "trod/disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spare.h"
#include "isa/a64_atomics.h"
#include "isa/capstone.h"
#include "isa/ppc.h"
#include "isa/riscv.h"
#include "trod/put.h"

enum {
    SLOTS = 1 << 15,
    /*
     * Texts that have an address have all of it (branches), its page (adrp) or its lower 16 bits
     * (x86 branches with operands of 16 bits): these bits are in all of them.
     */
    APART = 0xf000
};

struct slot {
    uint64_t pc;
    uint8_t code[TROD_DISASM_CODE];
    uint8_t n, iset, len; /* n 0: empty */
    bool anywhere;        /* of an opcode: its text does not depend on the address */
    char text[TROD_DISASM_TEXT];
};

/*
 * Instructions by hash, the last one of each. They stand in the order in which they came, so that
 * those of a small program fill few pages. The first one is empty, for hashes that none has.
 */
struct table {
    uint16_t *number; /* of SLOTS hashes */
    struct slot *slot;
    uint32_t n; /* that are not empty */
};

struct trod_disasm {
    enum trod_isa isa;
    enum trod_endian endian;
    struct table places, codes; /* by address and bytes; by bytes */
#if TROD_HAVE_CAPSTONE
    struct trod_capstone cs;
#endif
};

#if TROD_HAVE_CAPSTONE

static bool supported(struct trod_disasm *d)
{
    d->cs.isa = d->isa;
    d->cs.endian = d->endian;
    return trod_is_own(d->isa) ||
           trod_capstone_there(&d->cs, trod_capstone_iset(&d->cs, TROD_ISET_NONE));
}

static size_t by_capstone(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                          uint32_t n, char *out)
{
    const cs_insn *insn;
    int len;

    iset = trod_capstone_iset(&d->cs, iset);
    if (!trod_capstone_decode(&d->cs, iset, pc, code, n))
        return 0;
    insn = d->cs.insn[iset];
    len = snprintf(out, TROD_DISASM_TEXT, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "",
                   insn->op_str);
    if (len < 0)
        return 0;
    return len < TROD_DISASM_TEXT ? (size_t)len : TROD_DISASM_TEXT - 1;
}

static void close_capstone(struct trod_disasm *d)
{
    trod_capstone_close(&d->cs);
}

#else

static bool supported(struct trod_disasm *d)
{
    return trod_is_own(d->isa);
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

static size_t by_ppc(const struct trod_disasm *d, uint64_t pc, const uint8_t *code, char *out)
{
    struct trod_ppc_insn insn;
    size_t n;

    trod_ppc_decode(trod_code_word(code, d->endian), &insn);
    n = trod_ppc_format(out, TROD_DISASM_TEXT, &insn, (uint32_t)pc);
    return n < TROD_DISASM_TEXT ? n : TROD_DISASM_TEXT - 1;
}

static size_t by_riscv(const struct trod_disasm *d, uint64_t pc, const uint8_t *code, uint32_t n,
                       char *out)
{
    const unsigned bits = trod_riscv_bits(d->isa);
    struct trod_rv r;

    return trod_rv_decode(code, n, bits, &r) ? trod_rv_format(out, &r, pc, bits) : 0;
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

static bool table_make(struct table *t)
{
    t->number = trod_spare_zeroed(SLOTS * sizeof *t->number);
    t->slot = trod_spare_zeroed((SLOTS + 1) * sizeof *t->slot);
    return t->number && t->slot;
}

static void table_free(struct table *t)
{
    trod_spare_give(t->number, SLOTS * sizeof *t->number);
    trod_spare_give(t->slot, (SLOTS + 1) * sizeof *t->slot);
}

/* The one that is to be that of hash H. */
static struct slot *table_put(struct table *t, uint32_t h)
{
    if (!t->number[h])
        t->number[h] = (uint16_t)++t->n;
    return &t->slot[t->number[h]];
}

int trod_disasm_new(struct trod_disasm **out, enum trod_isa isa, enum trod_endian endian,
                    struct trod_diag *diag)
{
    struct trod_disasm *d = calloc(1, sizeof *d);

    *out = NULL;
    if (!d || !table_make(&d->places) || !table_make(&d->codes)) {
        trod_disasm_free(d);
        return TROD_ERR_NOMEM;
    }
    d->isa = isa;
    d->endian = endian;
    if (!supported(d)) {
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
    table_free(&d->places);
    table_free(&d->codes);
    free(d);
}

/* The text of S, whose address and bytes are there. */
static void decode(struct trod_disasm *d, struct slot *s)
{
    size_t got = 0;

    if (trod_is_ppc(d->isa))
        got = s->n == 4 ? by_ppc(d, s->pc, s->code, s->text) : 0;
    else if (trod_is_riscv(d->isa))
        got = by_riscv(d, s->pc, s->code, s->n, s->text);
    else
        got = by_capstone(d, s->iset, s->pc, s->code, s->n, s->text);
    if (got == 0 && s->n == 4 &&
        (s->iset == TROD_ISET_A64 || (s->iset == TROD_ISET_NONE && d->isa == TROD_ISA_A64)))
        got = trod_a64_atomic_text(trod_code_word(s->code, TROD_ENDIAN_LITTLE), s->text);
    if (got == 0)
        got = no_instruction(s->code, s->n, s->text);
    s->len = (uint8_t)got;
}

/* Is S what the N bytes at CODE in instruction set ISET are? */
static bool is(const struct slot *s, const uint8_t *code, uint32_t n, unsigned iset)
{
    return s->n == n && s->iset == iset && memcmp(s->code, code, n) == 0;
}

/* The text of S is known: what does it tell of its opcode, whose hash is H? */
static void learn(struct trod_disasm *d, uint32_t h, const struct slot *s)
{
    struct slot *c = &d->codes.slot[d->codes.number[h]];

    /* of MIPS jumps have but the upper bits of their own address */
    if (d->isa == TROD_ISA_MIPS32 || d->isa == TROD_ISA_MIPS64)
        return;
    if (!is(c, s->code, s->n, s->iset)) {
        c = table_put(&d->codes, h);
        *c = *s;
        c->anywhere = false;
        return;
    }
    c->anywhere =
        (c->pc ^ s->pc) & APART && c->len == s->len && memcmp(c->text, s->text, s->len) == 0;
}

const char *trod_disasm_text(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                             uint32_t n, size_t *len)
{
    const struct slot *c;
    uint32_t of_code, of_place;
    struct slot *s;

    if (n == 0 || n > TROD_DISASM_CODE) {
        *len = 0;
        return "";
    }
    /* Opcodes first: of a large program they are far fewer than its addresses, and near at hand. */
    of_code = (uint32_t)trod_code_slot(0, code, n, iset, SLOTS);
    c = &d->codes.slot[d->codes.number[of_code]];
    if (c->anywhere && is(c, code, n, iset)) {
        *len = c->len;
        return c->text;
    }
    of_place = (uint32_t)trod_code_slot(pc, code, n, iset, SLOTS);
    s = &d->places.slot[d->places.number[of_place]];
    if (s->pc != pc || !is(s, code, n, iset)) {
        s = table_put(&d->places, of_place);
        s->pc = pc;
        s->n = (uint8_t)n;
        s->iset = (uint8_t)iset;
        memcpy(s->code, code, n);
        decode(d, s);
        learn(d, of_code, s);
    }
    *len = s->len;
    return s->text;
}

const char *trod_disasm_version(void)
{
#if TROD_HAVE_CAPSTONE
#define TEXT_OF(x)            #x
#define VERSION(major, minor) "Capstone " TEXT_OF(major) "." TEXT_OF(minor)
    return VERSION(CS_API_MAJOR, CS_API_MINOR);
#undef VERSION
#undef TEXT_OF
#else
    return "none in this build";
#endif
}
