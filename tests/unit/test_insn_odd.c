/*
 * test_insn_odd.c - facts of instructions that Capstone describes otherwise than the manuals: areas
 * of x87, far pointers, COP1X of MIPS32 release 2.
 *
 * Independent tests of trod/insn.h: Intel manual, volume 2 ("FLDENV", "FSAVE", "FXSAVE", "FBLD",
 * "LDS/LES/LFS/LGS/LSS"); MIPS32 volume II ("LDXC1", "MADD.fmt").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/disasm.h"
#include "trod/insn.h"

#include <string.h>

static const struct {
    const char *text;
    uint8_t n, code[6];
    uint32_t reads, writes;
} areas[] = {
    {"fldenv [rdi]", 2, {0xd9, 0x27}, 28, 0},
    {"fldenv [rdi], 16 bits", 3, {0x66, 0xd9, 0x27}, 14, 0},
    {"fnstenv [rdi]", 2, {0xd9, 0x37}, 0, 28},
    {"fnstenv [rdi], 16 bits", 3, {0x66, 0xd9, 0x37}, 0, 14},
    {"frstor [rdi]", 2, {0xdd, 0x27}, 108, 0},
    {"frstor [rdi], 16 bits", 3, {0x66, 0xdd, 0x27}, 94, 0},
    {"fnsave [rdi]", 2, {0xdd, 0x37}, 0, 108},
    {"fnsave [rdi], 16 bits", 3, {0x66, 0xdd, 0x37}, 0, 94},
    {"fxsave [rdi]", 3, {0x0f, 0xae, 0x07}, 0, 512},
    {"fxrstor [rdi]", 3, {0x0f, 0xae, 0x0f}, 512, 0},
    {"fbld [rdi]", 2, {0xdf, 0x27}, 10, 0},
    {"fbstp [rdi]", 2, {0xdf, 0x37}, 0, 10},
    {"lfs eax,[rdi]", 3, {0x0f, 0xb4, 0x07}, 6, 0},
    {"lss ax,[rdi]", 4, {0x66, 0x0f, 0xb2, 0x07}, 4, 0},
};

static void test_areas(void **state)
{
    const uint32_t known = TROD_INSN_COUNTS | TROD_INSN_SIZES;
    struct trod_insn_decoder *d;

    (void)state;
    if (trod_insn_decoder_new(&d, TROD_ISA_X86_64, TROD_ENDIAN_LITTLE) != TROD_OK)
        skip();
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        const struct trod_insn *got =
            trod_insn_decode(d, TROD_ISET_NONE, 0x8000, areas[i].code, areas[i].n);

        if (!got->valid || (got->flags & known) != known || got->read_size != areas[i].reads ||
            got->write_size != areas[i].writes || got->loads != (areas[i].reads > 0) ||
            got->stores != (areas[i].writes > 0))
            fail_msg("%s: reads %u, writes %u", areas[i].text, (unsigned)got->read_size,
                     (unsigned)got->write_size);
    }
    trod_insn_decoder_free(d);
}

/* Where bits 21 to 25 are 8 the opcode was a branch of coprocessor 3 before release 2. */
static const struct {
    const char *text, *reads;
    uint32_t word, read_size, write_size;
} cop1x[] = {
    {"ldxc1 $f2, $t1($t0)", "t1 t0 ", 0x4d090081, 8, 0},
    {"ldxc1 $f0, $zero($t0)", "zero t0 ", 0x4d000001, 8, 0},
    {"lwxc1 $f2, $t1($t0)", "t1 t0 ", 0x4d090080, 4, 0},
    {"swxc1 $f2, $t1($t0)", "f2 t1 t0 ", 0x4d091008, 0, 4},
    {"sdxc1 $f2, $t1($t0)", "f2 t1 t0 ", 0x4d091009, 0, 8},
    {"sdxc1 $f2, $t1($t1)", "f2 t1 ", 0x4d291009, 0, 8},
    {"ldxc1 $f2, $t2($t0)", "t2 t0 ", 0x4d0a0081, 8, 0},
    {"madd.s $f0, $f8, $f2, $f4", "f8 f2 f4 ", 0x4d041020, 0, 0},
    {"madd.s $f1, $f8, $f10, $f3", "f8 f10 f3 ", 0x4d035060, 0, 0},
    {"madd.d $f2, $f8, $f4, $f6", "f8 f4 f6 ", 0x4d0620a1, 0, 0},
    {"madd.d $f10, $f8, $f10, $f10", "f8 f10 ", 0x4d0a52a1, 0, 0},
    {"msub.d $f2, $f8, $f4, $f6", "f8 f4 f6 ", 0x4d0620a9, 0, 0},
    {"nmadd.d $f2, $f8, $f4, $f6", "f8 f4 f6 ", 0x4d0620b1, 0, 0},
    {"nmsub.d $f2, $f8, $f4, $f6", "f8 f4 f6 ", 0x4d0620b9, 0, 0},
};

static void try_cop1x(unsigned isa, enum trod_endian endian)
{
    struct trod_insn_decoder *d;
    struct trod_disasm *disasm;

    if (trod_insn_decoder_new(&d, isa, endian) != TROD_OK)
        skip();
    assert_int_equal(trod_disasm_new(&disasm, isa, endian, NULL), TROD_OK);
    for (size_t i = 0; i < sizeof cop1x / sizeof *cop1x; i++) {
        const struct trod_insn *got;
        char reads[64] = "";
        uint8_t code[4];
        size_t n;

        for (unsigned k = 0; k < 4; k++)
            code[k] = (uint8_t)(cop1x[i].word >> 8 * (endian == TROD_ENDIAN_LITTLE ? k : 3 - k));
        got = trod_insn_decode(d, TROD_ISET_NONE, 0x8000, code, 4);
        for (unsigned k = 0; k < got->n_reads; k++) {
            strcat(reads, trod_insn_reg_name(d, TROD_ISET_NONE, got->reads[k]));
            strcat(reads, " ");
        }
        assert_string_equal(trod_disasm_text(disasm, TROD_ISET_NONE, 0x8000, code, 4, &n),
                            cop1x[i].text);
        assert_string_equal(reads, cop1x[i].reads);
        assert_int_equal(got->branch, TROD_BR_NONE);
        assert_int_equal(got->read_size, cop1x[i].read_size);
        assert_int_equal(got->write_size, cop1x[i].write_size);
    }
    trod_disasm_free(disasm);
    trod_insn_decoder_free(d);
}

static void test_cop1x(void **state)
{
    (void)state;
    try_cop1x(TROD_ISA_MIPS32, TROD_ENDIAN_BIG);
    try_cop1x(TROD_ISA_MIPS32, TROD_ENDIAN_LITTLE);
    try_cop1x(TROD_ISA_MIPS64, TROD_ENDIAN_BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_areas),
        cmocka_unit_test(test_cop1x),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
