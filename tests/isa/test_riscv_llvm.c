/*
 * test_riscv_llvm.c - the RISC-V decoder against LLVM's disassembler.
 *
 * Every instruction of 16 bits, every one of 32 bits that the tables have with random operands, and
 * random words, for 64-bit and 32-bit code. Where one of the two knows an instruction and the other
 * does not, or they write another text, the list below must say why. Skipped without llvm-mc.
 */
#include "isa/riscv.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT = 128, VARIANTS = 12, RANDOM = 20000, MARK_BITS = 20 };

static char tool[64], folder[] = "/tmp/trod-rv-XXXXXX";

static const struct {
    const char *ours, *theirs; /* patterns; "": no instruction */
    const char *why;
} known[] = {
    {"cbo.*", "*", "Zicbom, Zicboz: later than some versions of LLVM"},
    {"prefetch.*", "*", "Zicbop: the same; a hint, an ori to register 0"},
    {"czero.*", "", "Zicond: later than some versions of LLVM"},
    {"pause", "fence *", "Zihintpause: the same"},
    {"dret", "", "of debug mode"},
    {"uret", "", "of a withdrawn extension"},
    {"fence*", "fence*", "reserved fields of a fence are ignored, as the manual asks"},
    {"fence*", "", "the same"},
    {"fcvt.d.*", "", "a rounding mode where the result is exact: any is allowed"},
    {"f*, [56]", "", "a reserved rounding mode"},
    {"c.nop", "c.nop *", "a hint"},
    {"c.addi *, 0", "*", "a hint"},
    {"c.slli64 *", "*", "a hint"},
    {"c.slli *, 0", "*", "a hint"},
    {"c.srli *, 0", "*", "a hint"},
    {"c.srai *, 0", "*", "a hint"},
    {"csr*", "csr*", "a CSR whose name LLVM does not know, or knows by another"},
    {"", "c.unimp", "the illegal instruction of zeros"},
    {"", "unimp", "the same"},
    {"", "zext.h *", "32-bit code has another opcode for it"},
    {"", "rev8 *", "the same"},
    {"", "hfence*", "of the hypervisor extension"},
    {"", "hlv*", "the same"},
    {"", "hsv*", "the same"},
    {"", "hinval*", "the same"},
    {"", "sfence.*", "of Svinval"},
    {"sinval.*", "", "the same: later than some versions of LLVM"},
    {"", "*i *, 3[2-9]", "reserved: a shift by 32 or more in 32-bit code"},
    {"", "*i *, [456][0-9]", "the same"},
    {"", "c.lui *, 0", "reserved: an immediate of 0"},
    {"c.lui zero, *", "c.lui zero, *", "a hint, of which LLVM writes the number signed"},
};

static uint32_t random_word(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (uint32_t)(x >> 16);
}

static bool find_tool(void)
{
    static const char *const names[] = {"llvm-mc",    "llvm-mc-14", "llvm-mc-15", "llvm-mc-16",
                                        "llvm-mc-17", "llvm-mc-18", "llvm-mc-19"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[160];

        snprintf(command, sizeof command, "%s --version 2>/dev/null | grep -q riscv64", names[i]);
        if (system(command) == 0) {
            snprintf(tool, sizeof tool, "%s", names[i]);
            return true;
        }
    }
    return false;
}

static void put_bytes(FILE *f, uint32_t w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "0x%02x%c", w >> 8 * i & 0xff, i + 1 == n ? '\n' : ' ');
}

/* Blanks for tabs, one where there are several, none at the ends. */
static void squeeze(char *text)
{
    char *out = text;

    for (const char *p = text; *p; p++) {
        const bool blank = *p == ' ' || *p == '\t' || *p == '\n';

        if (!blank)
            *out++ = *p;
        else if (out > text && out[-1] != ' ')
            *out++ = ' ';
    }
    if (out > text && out[-1] == ' ')
        out--;
    *out = '\0';
}

/* Targets as LLVM writes them: the distance, in decimal. */
static void our_text(uint32_t w, unsigned n, unsigned bits, char *text)
{
    const uint8_t code[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
    struct trod_rv r;
    char *hex;

    text[0] = '\0';
    if (!trod_rv_decode(code, n, bits, &r))
        return;
    trod_rv_format(text, &r, 0, bits);
    hex = strstr(text, "0x");
    if (hex) {
        const uint64_t v = strtoull(hex, NULL, 16);
        const int64_t off = bits == 64 ? (int64_t)v : (int32_t)(uint32_t)v;

        snprintf(hex, TEXT - (size_t)(hex - text), "%" PRId64, off);
    }
    squeeze(text);
}

static bool explained(const char *ours, const char *theirs)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fnmatch(known[i].ours, ours, 0) == 0 && fnmatch(known[i].theirs, theirs, 0) == 0)
            return true;
    return false;
}

/*
 * The N words at W, each of SIZE bytes. Behind each stands "lui t6, NUMBER", so that what LLVM
 * leaves out is noticed.
 */
static void compare(const char *title, const uint32_t *w, size_t n, unsigned size, unsigned bits)
{
    unsigned long same = 0, differ = 0, unknown = 0;
    char path[64], command[320], line[256], theirs[TEXT] = "", ours[TEXT];
    size_t at = 0;
    FILE *f;

    assert_true(n < 1u << MARK_BITS);
    snprintf(path, sizeof path, "%s/words", folder);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n; i++) {
        put_bytes(f, w[i], size);
        put_bytes(f, 0x37 | 31 << 7 | (uint32_t)i << 12, 4);
    }
    fclose(f);
    snprintf(command, sizeof command,
             "%s --disassemble --triple=riscv%u -M no-aliases "
             "--mattr=+m,+a,+f,+d,+c,+zba,+zbb,+zbs %s 2>/dev/null",
             tool, bits, path);
    f = popen(command, "r");
    assert_non_null(f);
    while (at < n && fgets(line, sizeof line, f)) {
        char mark[48];

        squeeze(line);
        if (line[0] == '.' || line[0] == '\0')
            continue;
        snprintf(mark, sizeof mark, "lui t6, %zu", at);
        if (strcmp(line, mark) != 0) {
            snprintf(theirs, sizeof theirs, "%.*s", TEXT - 1, line);
            continue;
        }
        our_text(w[at], size, bits, ours);
        if (strcmp(ours, theirs) == 0)
            same++;
        else if (explained(ours, theirs))
            differ++;
        else if (unknown++ < 40)
            print_error("%08x  ours: '%s'  LLVM: '%s'\n", w[at], ours, theirs);
        theirs[0] = '\0';
        at++;
    }
    pclose(f);
    printf("%s, %u bits: %lu same, %lu known to differ, %lu not explained\n", title, bits, same,
           differ, unknown);
    assert_int_equal(at, n);
    assert_int_equal(unknown, 0);
    assert_true(same > n / 16);
}

static void test_short(void **state)
{
    uint32_t *w = malloc(sizeof *w << 16);
    size_t n = 0;

    (void)state;
    assert_non_null(w);
    for (uint32_t i = 0; i < 1u << 16; i++)
        if ((i & 3) != 3)
            w[n++] = i;
    compare("all of 16 bits", w, n, 2, 64);
    compare("all of 16 bits", w, n, 2, 32);
    free(w);
}

static const uint32_t masks[][2] = {
#define RISCV_OP(name, mask, match, operands, facts) {mask, match},
#include "isa/riscv_ops.def"
#undef RISCV_OP
};

static void test_long(void **state)
{
    const size_t ops = sizeof masks / sizeof *masks;
    uint32_t *w = malloc((ops * VARIANTS + RANDOM) * sizeof *w);
    size_t n = 0;

    (void)state;
    assert_non_null(w);
    for (size_t i = 0; i < ops; i++)
        for (unsigned k = 0; k < VARIANTS; k++)
            w[n++] = masks[i][1] | (random_word() & ~masks[i][0]);
    compare("all of 32 bits", w, n, 4, 64);
    compare("all of 32 bits", w, n, 4, 32);
    for (n = 0; n < RANDOM; n++)
        w[n] = random_word() | 3;
    compare("random words", w, n, 4, 64);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_short), cmocka_unit_test(test_long)};
    int failed;

    if (!find_tool()) {
        printf("skipped: no llvm-mc that knows RISC-V\n");
        return 77;
    }
    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    {
        char path[64];

        snprintf(path, sizeof path, "%s/words", folder);
        unlink(path);
        rmdir(folder);
    }
    return failed;
}
