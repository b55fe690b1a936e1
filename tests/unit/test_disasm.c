/*
 * test_disasm.c - opcode bytes to text: encodings from the manuals of each instruction set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trod/disasm.h"
#include "trod_config.h"

struct encoding {
    enum trod_isa isa;
    enum trod_endian endian;
    unsigned iset;
    const char *code;
    uint32_t n;
    const char *text;
};

static const struct encoding encodings[] = {
#if TROD_HAVE_CAPSTONE
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x1f\x20\x03\xd5", 4, "nop"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\xc0\x03\x5f\xd6", 4, "ret"},
    {TROD_ISA_A64, TROD_ENDIAN_BIG, TROD_ISET_A64, "\xfd\x7b\xbe\xa9", 4,
     "stp x29, x30, [sp, #-0x20]!"},
    {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_A32, "\x1e\xff\x2f\xe1", 4, "bx lr"},
    {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x01\x06\xa0\xe3", 4, "mov r0, #0x100000"},
    {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_T32, "\x70\x47", 2, "bx lr"},
    {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_T32, "\x90\xe8\x0c\x00", 4, "ldm.w r0, {r2, r3}"},
    {TROD_ISA_ARM, TROD_ENDIAN_BIG, TROD_ISET_A32, "\xe1\x2f\xff\x1e", 4, "bx lr"},
    {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x1f\x20\x03\xd5", 4, "nop"},
    {TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x48\x83\xe4\xf0", 4,
     "and rsp, 0xfffffffffffffff0"},
    {TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\xc3", 1, "ret"},
    {TROD_ISA_X86_32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x40", 1, "inc eax"},
    {TROD_ISA_MIPS32, TROD_ENDIAN_BIG, TROD_ISET_NONE, "\x03\xe0\x00\x08", 4, "jr $ra"},
    {TROD_ISA_MIPS32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x08\x00\xe0\x03", 4, "jr $ra"},
    {TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x06", 1, ".byte 0x06"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x00\x00\x00\x00", 4, ".byte 0x00000000"},
    /* atomic operations: known to Capstone 5 or to us */
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x41\x00\xe0\xf8", 4,
     "ldaddal x0, x1, [x2]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\xe4\x03\x23\xb8", 4, "ldadd w3, w4, [sp]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\xa4\x10\x23\x78", 4, "ldclrh w3, w4, [x5]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x41\x80\xe0\xb8", 4, "swpal w0, w1, [x2]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x41\x7c\xa0\xc8", 4, "cas x0, x1, [x2]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x41\xfc\xe0\x88", 4, "casal w0, w1, [x2]"},
    {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, "\x82\x7c\x20\x48", 4,
     "casp x0, x1, x2, x3, [x4]"},
#endif
    {TROD_ISA_PPC32, TROD_ENDIAN_BIG, TROD_ISET_NONE, "\x4e\x80\x00\x20", 4, "blr"},
    {TROD_ISA_PPC32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x20\x00\x80\x4e", 4, "blr"},
    {TROD_ISA_PPC64, TROD_ENDIAN_BIG, TROD_ISET_NONE, "\x80\x61\x00\x08", 4, "lwz r3,8(r1)"},
    {TROD_ISA_PPC32, TROD_ENDIAN_BIG, TROD_ISET_NONE, "\x4e\x80", 2, ".byte 0x4e80"},
    {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x82\x80", 2, "c.jr ra"},
    {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x05\x25", 2, "c.addiw a0, 1"},
    {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x2f\x25\xb6\x06", 4,
     "amoadd.w.aqrl a0, a1, (a2)"},
    {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x73\x90\x52\x30", 4,
     "csrrw zero, mtvec, t0"},
    {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x00\x00", 2, ".byte 0x0000"},
    {TROD_ISA_RISCV32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, "\x08\x61", 2, "c.flw fa0, 0(a0)"},
};

static void known_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        const struct encoding *e = &encodings[i];
        struct trod_disasm *d;
        char text[TROD_DISASM_TEXT + 1];
        size_t len;

        assert_int_equal(trod_disasm_new(&d, e->isa, e->endian, NULL), 0);
        /* the second time it comes from the table */
        for (int k = 0; k < 2; k++) {
            const char *got =
                trod_disasm_text(d, e->iset, 0x1000, (const uint8_t *)e->code, e->n, &len);

            memcpy(text, got, len);
            text[len] = 0;
            assert_string_equal(text, e->text);
        }
        trod_disasm_free(d);
    }
}

/* IT makes nothing conditional: what is asked for next need not be what follows it. */
static void it_is_not_remembered(void **state)
{
    static const uint8_t it[2][2] = {{0x08, 0xbf}, {0xbf, 0x08}},
                         add[2][2] = {{0x01, 0x30}, {0x30, 0x01}};

    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct trod_disasm *d;
        size_t len;
        const char *text;

        assert_int_equal(
            trod_disasm_new(&d, TROD_ISA_ARM, big ? TROD_ENDIAN_BIG : TROD_ENDIAN_LITTLE, NULL), 0);
        text = trod_disasm_text(d, TROD_ISET_T32, 0x1000, it[big], 2, &len);
        assert_memory_equal(text, "it eq", len);
        text = trod_disasm_text(d, TROD_ISET_T32, 0x2000, add[big], 2, &len);
        assert_int_equal(len, 11);
        assert_memory_equal(text, "adds r0, #1", len);
        trod_disasm_free(d);
    }
}

/* More distinct instructions than the table holds: none may get another's text. */
static void the_table_forgets_but_does_not_mix(void **state)
{
    struct trod_disasm *d;

    (void)state;
    assert_int_equal(trod_disasm_new(&d, TROD_ISA_PPC32, TROD_ENDIAN_BIG, NULL), 0);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 200000; i++) {
            /* li r3,i and, at the same address, li r4,i */
            uint8_t code[4] = {0x38, i & 1 ? 0x60 : 0x80, (uint8_t)(i >> 9 & 0x7f),
                               (uint8_t)(i >> 1)};
            char want[32];
            size_t len;
            const char *got = trod_disasm_text(d, 0, 0x1000 + 4 * (i / 2), code, 4, &len);

            assert_int_equal(
                snprintf(want, sizeof want, "li %s,%u", i & 1 ? "r3" : "r4", i >> 1 & 0x7fff), len);
            assert_memory_equal(got, want, len);
        }
    }
    trod_disasm_free(d);
}

/*
 * What an opcode is told as at an address does not depend on where it was met before: one decoder
 * for all addresses tells what one for each does.
 */
static void opcodes_are_the_same_elsewhere(void **state)
{
    static const struct {
        enum trod_isa isa;
        enum trod_endian endian;
        unsigned iset;
    } sets[] = {
#if TROD_HAVE_CAPSTONE
        {TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64},
        {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_A32},
        {TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_T32},
        {TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE},
        {TROD_ISA_X86_32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE},
        {TROD_ISA_MIPS32, TROD_ENDIAN_BIG, TROD_ISET_NONE},
        {TROD_ISA_MIPS64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE},
#endif
        {TROD_ISA_PPC32, TROD_ENDIAN_BIG, TROD_ISET_NONE},
        {TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE},
    };
    enum { OPCODES = 2000, BYTES = 6 };
    /* the same page elsewhere, the same lower 16 bits, another segment of 256 MiB, a page on */
    static const uint64_t at[] = {0x1000,     0x1010,     0x2010,      0x11000,
                                  0x10002000, 0x20003000, 0x1f0000000, 0x7ffff3f52ab0};
    enum { PLACES = sizeof at / sizeof *at };

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const bool x86 = sets[i].isa == TROD_ISA_X86_64 || sets[i].isa == TROD_ISA_X86_32;
        const uint32_t n = x86 ? BYTES : 4;
        struct trod_disasm *all, *one[PLACES];
        uint32_t seed = 1;

        assert_int_equal(trod_disasm_new(&all, sets[i].isa, sets[i].endian, NULL), 0);
        for (size_t k = 0; k < PLACES; k++)
            assert_int_equal(trod_disasm_new(&one[k], sets[i].isa, sets[i].endian, NULL), 0);
        for (unsigned opcode = 0; opcode < OPCODES; opcode++) {
            static const uint8_t jumps[][2] = {{0x66, 0xe9}, {0x66, 0xe8}, {0x74, 0}, {0x0f, 0x84}};
            uint8_t code[BYTES];

            for (uint32_t k = 0; k < n; k++) {
                seed = seed * 1664525 + 1013904223;
                code[k] = (uint8_t)(seed >> 24);
            }
            if (x86 && opcode % 4 == 0)
                memcpy(code, jumps[opcode / 4 % 4], 2);
            for (size_t k = 0; k < PLACES; k++) {
                size_t len, wanted;
                const char *got = trod_disasm_text(all, sets[i].iset, at[k], code, n, &len);
                const char *want = trod_disasm_text(one[k], sets[i].iset, at[k], code, n, &wanted);

                assert_int_equal(len, wanted);
                assert_memory_equal(got, want, len);
            }
        }
        for (size_t k = 0; k < PLACES; k++)
            trod_disasm_free(one[k]);
        trod_disasm_free(all);
    }
}

static void nothing_to_decode(void **state)
{
    struct trod_disasm *d;
    uint8_t code[32] = {0};
    size_t len = 1;

    (void)state;
    assert_int_equal(trod_disasm_new(&d, TROD_ISA_PPC32, TROD_ENDIAN_BIG, NULL), 0);
    trod_disasm_text(d, 0, 0, code, 0, &len);
    assert_int_equal(len, 0);
    len = 1;
    trod_disasm_text(d, 0, 0, code, 32, &len);
    assert_int_equal(len, 0);
    trod_disasm_free(d);
    trod_disasm_free(NULL);
}

static void an_unknown_isa_is_said(void **state)
{
    struct trod_disasm *d;
    struct trod_diag diag;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_disasm_new(&d, TROD_ISA_REGDEPS, TROD_ENDIAN_LITTLE, &diag),
                     TROD_ERR_UNSUPPORTED);
    assert_null(d);
    assert_int_equal(diag.warnings, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_encodings),
        cmocka_unit_test(it_is_not_remembered),
        cmocka_unit_test(the_table_forgets_but_does_not_mix),
        cmocka_unit_test(opcodes_are_the_same_elsewhere),
        cmocka_unit_test(nothing_to_decode),
        cmocka_unit_test(an_unknown_isa_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
