/*
 * capstone.c - Capstone's handles, one an instruction set.
 *
 * Implements isa/capstone.h (https://www.capstone-engine.org, versions 4 and 5).
 */
#include "isa/capstone.h"

#if TROD_HAVE_CAPSTONE

struct trod_capstone_library trod_capstone_library;
static const char *const names[] = {TROD_CAPSTONE_FUNCTIONS(TROD_LAZY_NAME)};
static struct trod_lazy library = TROD_LAZY(TROD_CAPSTONE_SONAME, names, &trod_capstone_library);

static bool is_arm(enum trod_isa isa)
{
    return isa == TROD_ISA_ARM || isa == TROD_ISA_A64;
}

unsigned trod_capstone_iset(const struct trod_capstone *c, unsigned iset)
{
    if (!is_arm(c->isa))
        return TROD_ISET_NONE;
    if (iset == TROD_ISET_NONE || iset > TROD_ISET_A64)
        return c->isa == TROD_ISA_A64 ? TROD_ISET_A64 : TROD_ISET_A32;
    return iset;
}

/* Capstone's words for an instruction set; false if it has none. */
static bool mode_of(const struct trod_capstone *c, unsigned iset, cs_arch *arch, cs_mode *mode)
{
    /* A64 code is little-endian whatever the data is */
    *mode = CS_MODE_LITTLE_ENDIAN;
    switch (c->isa) {
    case TROD_ISA_ARM:
    case TROD_ISA_A64:
        *arch = iset == TROD_ISET_A64 ? CS_ARCH_ARM64 : CS_ARCH_ARM;
        if (iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE)
            *mode = (cs_mode)(CS_MODE_THUMB | CS_MODE_V8);
        else if (iset == TROD_ISET_A32)
            *mode = (cs_mode)(CS_MODE_ARM | CS_MODE_V8);
        if (iset != TROD_ISET_A64 && c->endian == TROD_ENDIAN_BIG)
            *mode = (cs_mode)((unsigned)*mode | (unsigned)CS_MODE_BIG_ENDIAN);
        return true;
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        *arch = CS_ARCH_X86;
        *mode = c->isa == TROD_ISA_X86_64 ? CS_MODE_64 : CS_MODE_32;
        return true;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        *arch = CS_ARCH_MIPS;
        *mode = c->isa == TROD_ISA_MIPS64 ? CS_MODE_MIPS64 : CS_MODE_MIPS32;
        if (c->endian != TROD_ENDIAN_LITTLE)
            *mode = (cs_mode)((unsigned)*mode | (unsigned)CS_MODE_BIG_ENDIAN);
        return true;
    default:
        return false;
    }
}

bool trod_capstone_there(const struct trod_capstone *c, unsigned iset)
{
    cs_arch arch;
    cs_mode mode;

    return mode_of(c, iset, &arch, &mode) && trod_lazy_there(&library);
}

bool trod_capstone_open(struct trod_capstone *c, unsigned iset)
{
    cs_arch arch;
    cs_mode mode;

    if (c->handle[iset])
        return c->insn[iset] != NULL;
    if (!mode_of(c, iset, &arch, &mode) || !trod_lazy_need(&library) ||
        trod_capstone_library.cs_open(arch, mode, &c->handle[iset]) != CS_ERR_OK)
        return false;
    if (c->detail)
        trod_capstone_library.cs_option(c->handle[iset], CS_OPT_DETAIL, CS_OPT_ON);
    c->insn[iset] = trod_capstone_library.cs_malloc(c->handle[iset]);
    return c->insn[iset] != NULL;
}

/*
 * Capstone remembers an IT instruction and treats the next ones as those of its block. Here
 * instructions come in any order, so as many dummy instructions are decoded to end the block.
 */
static void leave_block(struct trod_capstone *c)
{
    static const uint8_t nops[2][8] = {{0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf},
                                       {0xbf, 0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf, 0x00}};
    const uint8_t *p = nops[c->endian == TROD_ENDIAN_BIG];
    size_t n = sizeof nops[0];
    uint64_t pc = 0;

    while (n && trod_capstone_library.cs_disasm_iter(c->handle[TROD_ISET_T32], &p, &n, &pc,
                                                     c->insn[TROD_ISET_T32]))
        ;
    c->in_block = false;
}

/*
 * COP1X of MIPS32 release 2 (MIPS32 Architecture, volume I, "FPU instructions"). Where bits 21 to
 * 25 are 8 Capstone takes it for the branches of coprocessor 3 that came before.
 */
enum { COP1X = 0x13, BC3 = 8, BESIDE = 10, WORD = 4 }; /* doubles are in even registers */

static bool is_cop1x(const struct trod_capstone *c, const uint8_t *code, size_t n)
{
    return (c->isa == TROD_ISA_MIPS32 || c->isa == TROD_ISA_MIPS64) && n >= WORD &&
           trod_code_word(code, c->endian) >> 21 == (COP1X << 5 | BC3);
}

/* In TEXT, "...($t2)" or "fd, $f10, ...": the name of register 10 becomes that of 8. */
static void rename_text(char *text)
{
    char *base = strstr(text, "($t2)"), *source = strstr(text, ", $f10,");

    if (base) {
        base[3] = '0';
    } else if (source) {
        source[4] = '8';
        memmove(source + 5, source + 6, strlen(source + 6) + 1);
    }
}

/* The instruction at CODE with another number in these bits, which are then put right. */
static bool decode_cop1x(struct trod_capstone *c, uint64_t pc, const uint8_t *code)
{
    const uint32_t word = trod_code_word(code, c->endian) + ((BESIDE - BC3) << 21);
    uint8_t other[WORD];
    const uint8_t *p = other;
    size_t n = WORD;
    cs_insn *insn = c->insn[TROD_ISET_NONE];

    for (unsigned i = 0; i < WORD; i++)
        other[i] = (uint8_t)(word >> 8 * (c->endian == TROD_ENDIAN_LITTLE ? i : WORD - 1 - i));
    if (!trod_capstone_library.cs_disasm_iter(c->handle[TROD_ISET_NONE], &p, &n, &pc, insn))
        return false;
    memcpy(insn->bytes, code, WORD);
    rename_text(insn->op_str);
    if (insn->detail && insn->detail->mips.op_count > 2) {
        cs_mips *x = &insn->detail->mips;

        if (x->operands[1].reg == MIPS_REG_F10)
            x->operands[1].reg = MIPS_REG_F8;
        else if (x->operands[x->op_count - 1].reg == MIPS_REG_10)
            x->operands[x->op_count - 1].reg = MIPS_REG_8;
    }
    return true;
}

bool trod_capstone_decode(struct trod_capstone *c, unsigned iset, uint64_t pc, const uint8_t *code,
                          size_t n)
{
    const unsigned high = c->endian != TROD_ENDIAN_BIG;

    if (!trod_capstone_open(c, iset))
        return false;
    if (iset == TROD_ISET_T32) {
        if (c->in_block)
            leave_block(c);
        c->in_block = n >= 2 && code[high] == 0xbf && (code[!high] & 0xf);
    }
    if (is_cop1x(c, code, n))
        return decode_cop1x(c, pc, code);
    return trod_capstone_library.cs_disasm_iter(c->handle[iset], &code, &n, &pc, c->insn[iset]);
}

void trod_capstone_close(struct trod_capstone *c)
{
    for (unsigned i = 0; i <= TROD_ISET_A64; i++) {
        if (c->insn[i])
            trod_capstone_library.cs_free(c->insn[i], 1);
        if (c->handle[i])
            trod_capstone_library.cs_close(&c->handle[i]);
    }
}

#endif
