/*
 * test_insn_kind - families and extensions of instructions of every instruction set (trod/insn.h).
 *
 * Opcodes and what they are: Intel SDM volume 2, Arm ARM chapters C6, C7 and F5, PowerPC PEM
 * chapter 8 and AltiVec PEM chapter 6, MIPS volume II; classes: the macros of the Amber formats.
 */
#include "trod/insn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    FAMILY = TROD_INSN_FP | TROD_INSN_SIMD | TROD_INSN_CRYPTO | TROD_INSN_STRING |
             TROD_INSN_ATOMIC | TROD_INSN_SYSTEM,
    FP = TROD_INSN_FP,
    SIMD = TROD_INSN_FP | TROD_INSN_SIMD
};

struct sample {
    const char *what;
    uint8_t n, code[12];
    uint32_t family;
    const char *extension; /* NULL: not looked at; "": none */
};

static void look(enum trod_isa isa, enum trod_endian endian, unsigned iset, const struct sample *s,
                 size_t n)
{
    struct trod_insn_decoder *d;
    int rc = trod_insn_decoder_new(&d, isa, endian);

    if (rc == TROD_ERR_UNSUPPORTED) { /* built without Capstone */
        printf("no decoder for %s\n", trod_isa_name(isa));
        return;
    }
    assert_int_equal(rc, 0);
    for (size_t i = 0; i < n; i++) {
        const struct trod_insn *insn = trod_insn_decode(d, iset, 0x1000, s[i].code, s[i].n);

        if (!insn->valid)
            fail_msg("%s: no instruction", s[i].what);
        if ((insn->flags & FAMILY) != s[i].family)
            fail_msg("%s: family 0x%x, expected 0x%x", s[i].what, insn->flags & FAMILY,
                     s[i].family);
        if (s[i].extension && strcmp(insn->extension ? insn->extension : "", s[i].extension) != 0)
            fail_msg("%s: extension %s, expected %s", s[i].what,
                     insn->extension ? insn->extension : "none", s[i].extension);
    }
    trod_insn_decoder_free(d);
}

#define LOOK(isa, endian, iset, samples)                                                           \
    look(isa, endian, iset, samples, sizeof(samples) / sizeof *(samples))

static void test_x86(void **state)
{
    static const struct sample samples[] = {
        {"add rax, rcx", 3, {0x48, 0x01, 0xc8}, 0, ""},
        {"mov rax, [rsp]", 4, {0x48, 0x8b, 0x04, 0x24}, 0, ""},
        {"lock cmpxchg [rdx], rcx", 5, {0xf0, 0x48, 0x0f, 0xb1, 0x0a}, TROD_INSN_ATOMIC, ""},
        {"xchg [rdx], rcx", 3, {0x48, 0x87, 0x0a}, TROD_INSN_ATOMIC, ""},
        {"xchg rax, rcx", 3, {0x48, 0x87, 0xc1}, 0, ""},
        {"rep movsq", 3, {0xf3, 0x48, 0xa5}, TROD_INSN_STRING, ""},
        {"movsd", 1, {0xa5}, TROD_INSN_STRING, ""},
        {"repne scasb", 2, {0xf2, 0xae}, TROD_INSN_STRING, ""},
        {"cpuid", 2, {0x0f, 0xa2}, TROD_INSN_SYSTEM, ""},
        {"rdtsc", 2, {0x0f, 0x31}, TROD_INSN_SYSTEM, ""},
        {"fadd st(0), st(1)", 2, {0xd8, 0xc1}, FP, NULL},
        {"addps xmm0, xmm1", 3, {0x0f, 0x58, 0xc1}, SIMD, "sse1"},
        {"addsd xmm0, xmm1", 4, {0xf2, 0x0f, 0x58, 0xc1}, FP, "sse2"},
        {"movsd xmm0, xmm1", 4, {0xf2, 0x0f, 0x10, 0xc1}, FP, "sse2"},
        {"paddd xmm0, xmm1", 4, {0x66, 0x0f, 0xfe, 0xc1}, SIMD, "sse2"},
        {"pabsd xmm0, xmm1", 5, {0x66, 0x0f, 0x38, 0x1e, 0xc1}, SIMD, "ssse3"},
        {"vaddps ymm0, ymm1, ymm2", 4, {0xc5, 0xf4, 0x58, 0xc2}, SIMD, "avx"},
        {"vpaddd ymm0, ymm1, ymm2", 4, {0xc5, 0xf5, 0xfe, 0xc2}, SIMD, "avx2"},
        {"aesenc xmm0, xmm1", 5, {0x66, 0x0f, 0x38, 0xdc, 0xc1}, SIMD | TROD_INSN_CRYPTO, "aes"},
        {"sha1msg1 xmm0, xmm1", 4, {0x0f, 0x38, 0xc9, 0xc1}, SIMD | TROD_INSN_CRYPTO, "sha"},
        {"andn eax, ecx, edx", 5, {0xc4, 0xe2, 0x70, 0xf2, 0xc2}, 0, "bmi"},
    };

    (void)state;
    LOOK(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, samples);
}

static void test_a64(void **state)
{
    static const struct sample samples[] = {
        {"add x0, x1, x2", 4, {0x20, 0x00, 0x02, 0x8b}, 0, ""},
        {"ldxr x0, [x1]", 4, {0x20, 0x7c, 0x5f, 0xc8}, TROD_INSN_ATOMIC, ""},
        {"stxr w2, x0, [x1]", 4, {0x20, 0x7c, 0x02, 0xc8}, TROD_INSN_ATOMIC, ""},
        {"mrs x0, nzcv", 4, {0x00, 0x42, 0x3b, 0xd5}, TROD_INSN_SYSTEM, ""},
        {"dmb ish", 4, {0xbf, 0x3b, 0x03, 0xd5}, TROD_INSN_SYSTEM, ""},
        {"fadd d0, d0, d0", 4, {0x00, 0x28, 0x60, 0x1e}, FP, "fparmv8"},
        {"fadd v0.4s, v0.4s, v0.4s", 4, {0x00, 0xd4, 0x20, 0x4e}, SIMD, "neon"},
        {"aese v0.16b, v1.16b", 4, {0x20, 0x48, 0x28, 0x4e}, SIMD | TROD_INSN_CRYPTO, NULL},
    };

    (void)state;
    LOOK(TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, samples);
}

static void test_a32(void **state)
{
    static const struct sample samples[] = {
        {"add r0, r1, r2", 4, {0x02, 0x00, 0x81, 0xe0}, 0, ""},
        {"ldrex r2, [r3]", 4, {0x9f, 0x2f, 0x93, 0xe1}, TROD_INSN_ATOMIC, ""},
        {"mrs r0, apsr", 4, {0x00, 0x00, 0x0f, 0xe1}, TROD_INSN_SYSTEM, ""},
        {"vadd.i32 q0, q1, q2", 4, {0x44, 0x00, 0x22, 0xf2}, SIMD, "neon"},
        {"vadd.f32 s0, s1, s2", 4, {0x81, 0x0a, 0x30, 0xee}, FP, "vfp2"},
    };

    (void)state;
    LOOK(TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_A32, samples);
}

static void test_mips(void **state)
{
    static const struct sample samples[] = {
        {"addu v0, a0, a1", 4, {0x00, 0x85, 0x10, 0x21}, 0, ""},
        {"ll v0, 0(a0)", 4, {0xc0, 0x82, 0x00, 0x00}, TROD_INSN_ATOMIC, NULL},
        {"sc v0, 0(a0)", 4, {0xe0, 0x82, 0x00, 0x00}, TROD_INSN_ATOMIC, NULL},
        {"mfc0 v0, $12", 4, {0x40, 0x02, 0x60, 0x00}, TROD_INSN_SYSTEM, NULL},
        {"add.s f0, f1, f2", 4, {0x46, 0x02, 0x08, 0x00}, FP, NULL},
    };

    (void)state;
    LOOK(TROD_ISA_MIPS32, TROD_ENDIAN_BIG, TROD_ISET_NONE, samples);
}

static void test_ppc(void **state)
{
    static const struct sample samples[] = {
        {"add r3, r3, r4", 4, {0x7c, 0x63, 0x22, 0x14}, 0, ""},
        {"lwarx r0, 0, r3", 4, {0x7c, 0x00, 0x18, 0x28}, TROD_INSN_ATOMIC, ""},
        {"stwcx. r0, 0, r3", 4, {0x7c, 0x00, 0x19, 0x2d}, TROD_INSN_ATOMIC, ""},
        {"lswi r5, r6, 8", 4, {0x7c, 0xa6, 0x44, 0xaa}, TROD_INSN_STRING, ""},
        {"sync", 4, {0x7c, 0x00, 0x04, 0xac}, TROD_INSN_SYSTEM, ""},
        {"fadd f0, f1, f2", 4, {0xfc, 0x01, 0x10, 0x2a}, FP, "fpu"},
        {"vaddfp v0, v1, v2", 4, {0x10, 0x01, 0x10, 0x0a}, SIMD, "altivec"},
        {"ld r3, 0(r4)", 4, {0xe8, 0x64, 0x00, 0x00}, 0, "ppc64"},
    };
    static const struct {
        uint8_t code[4];
        const char *group, *tt6;
    } classes[] = {
        {{0x7c, 0x63, 0x22, 0x14}, "integer", "compute"},      /* add */
        {{0x80, 0x63, 0x00, 0x00}, "load", "memory"},          /* lwz */
        {{0x48, 0x00, 0x00, 0x04}, "branch", "flow_altering"}, /* b */
        {{0x7c, 0xa6, 0x44, 0x2a}, "load", "memory_extended"}, /* lswx */
        {{0x4c, 0x42, 0x11, 0x82}, "cr", "compute"},           /* crxor */
    };
    struct trod_insn_decoder *d;

    (void)state;
    LOOK(TROD_ISA_PPC64, TROD_ENDIAN_BIG, TROD_ISET_NONE, samples);
    assert_int_equal(trod_insn_decoder_new(&d, TROD_ISA_PPC32, TROD_ENDIAN_BIG), 0);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct trod_insn *insn = trod_insn_decode(d, 0, 0, classes[i].code, 4);

        assert_string_equal(insn->group, classes[i].group);
        assert_string_equal(insn->tt6, classes[i].tt6);
    }
    /* beqlr may do nothing, blr may not */
    assert_true(trod_insn_decode(d, 0, 0, (const uint8_t[]){0x4d, 0x82, 0x00, 0x20}, 4)->flags &
                TROD_INSN_PREDICATED);
    assert_false(trod_insn_decode(d, 0, 0, (const uint8_t[]){0x4e, 0x80, 0x00, 0x20}, 4)->flags &
                 TROD_INSN_PREDICATED);
    trod_insn_decoder_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86),  cmocka_unit_test(test_a64), cmocka_unit_test(test_a32),
        cmocka_unit_test(test_mips), cmocka_unit_test(test_ppc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
