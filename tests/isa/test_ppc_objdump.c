/*
 * The PowerPC decoder against GNU binutils: objdump's text for three processors (the 970 as power4
 * with AltiVec, the 7450, the 601) over every major and every 11-bit end with several operand
 * patterns, over random words and over real binaries; and the assembler, which must make the same
 * word again of every text that is no branch with a target.
 *
 * Where objdump differs, the list below must say why. Without the cross tools the test is skipped,
 * without the cross compiler the real binaries are.
 */
#include "isa/ppc.h"
#include "ppc_words.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define TOOL     "powerpc-linux-gnu-"

enum { MODELS = 3, TEXT = 128 };

static const char *const models[MODELS] = {"power4,altivec", "7450", "601"};
static char folder[] = "/tmp/trod-ppc-XXXXXX";

static struct ppc_known known[] = {
    {"sub*", "subf*", "extended mnemonic objdump does not use", 0},
    {"ext[lr]wi*", "rlwinm*", "extended mnemonic objdump does not use", 0},
    {"clrlslwi*", "rlwinm*", "extended mnemonic objdump does not use", 0},
    {"ins[lr]wi*", "rlwimi*", "extended mnemonic objdump does not use", 0},
    {"extldi*", "rldicr*", "extended mnemonic objdump does not use", 0},
    {"extrdi*", "rldicl*", "extended mnemonic objdump does not use", 0},
    {"clrlsldi*", "rldic*", "extended mnemonic objdump does not use", 0},
    {"insrdi*", "rldimi*", "extended mnemonic objdump does not use", 0},
    {"mtfs *", "mtfsf *", "extended mnemonic objdump does not use", 0},
    {"mtfs. *", "mtfsf. *", "extended mnemonic objdump does not use", 0},
    {"m[ft]spr *", "m[ft]spr *", "SPRs that objdump writes as numbers have names", 0},
    {"dcbt*", "dcbt*", "TH as an operand; objdump makes it part of the mnemonic", 0},
    {"lscbx*", "lscbx*", "rA = 0 is no register: PEM (rA|0); objdump writes r0", 0},
    {"bc*- *", "bc* *", "y = 1, backwards, BO and BI written out: objdump gives no hint", 0},
    {"hrfid", "?long *", "the 970 has it; objdump's power4 does not", 0},
    {"?long *", "cmp[wdl]* *", "reserved bit 9 of a compare is not 0; objdump does not look", 0},
    {"?long *", "sc*", "reserved bits are not 0; objdump does not look", 0},
    {"?long *", "bcctr* *", "an invalid form: CTR as counter and as target", 0},
    {"?long *", "lswi *", "an invalid form: rA is among the targets", 0},
    {"?long *", "dcbf *", "L of later processors than the 970", 0},
    {"?long *", "mtfsf* *", "L and W of later processors than the 970", 0},
    {"?long *", "l[wd]arx *", "EH of later processors than the 970", 0},
    {"?long *", "f*r*e* *,1", "L of later processors than the 970: fres, frsqrte", 0},
};

static bool run(const char *command)
{
    return system(command) == 0;
}

static void save(const char *path, const struct ppc_words *words)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    for (size_t i = 0; i < words->n; i++) {
        const uint32_t w = words->w[i];
        const uint8_t b[4] = {(uint8_t)(w >> 24), (uint8_t)(w >> 16), (uint8_t)(w >> 8),
                              (uint8_t)w};

        assert_int_equal(fwrite(b, 1, 4, f), 4);
    }
    assert_int_equal(fclose(f), 0);
}

/* The next instruction of objdump's output: "   0:<tab>48 00 00 10 <tab>b<tab>0x10". */
static bool next_text(FILE *f, char *text)
{
    char line[512];

    while (fgets(line, sizeof line, f)) {
        char *p = strchr(line, '\t');

        p = p ? strchr(p + 1, '\t') : NULL;
        if (!p)
            continue;
        ppc_normalize(text, TEXT, p + 1);
        return true;
    }
    return false;
}

static void our_text(uint32_t w, uint32_t pc, char *text)
{
    char raw[TROD_PPC_TEXT_MAX];
    struct trod_ppc_insn insn;

    trod_ppc_decode(w, &insn);
    trod_ppc_format(raw, sizeof raw, &insn, pc);
    ppc_normalize(text, TEXT, raw);
}

static void compare(const char *title, const struct ppc_words *words)
{
    FILE *dump[MODELS];
    unsigned long same = 0, differ = 0, unknown = 0;
    char path[64], command[256];

    snprintf(path, sizeof path, "%s/words", folder);
    save(path, words);
    for (size_t m = 0; m < MODELS; m++) {
        snprintf(command, sizeof command,
                 TOOL "objdump -D -z -b binary -m powerpc:common -EB -M %s %s", models[m], path);
        dump[m] = popen(command, "r");
        assert_non_null(dump[m]);
    }
    for (size_t i = 0; i < words->n; i++) {
        char ours[TEXT], theirs[MODELS][TEXT];
        const char *list[MODELS];
        bool equal = false;

        our_text(words->w[i], (uint32_t)(4 * i), ours);
        for (size_t m = 0; m < MODELS; m++) {
            assert_true(next_text(dump[m], theirs[m]));
            list[m] = theirs[m];
            equal = equal || strcmp(ours, theirs[m]) == 0;
        }
        if (equal)
            same++;
        else if (ppc_known_find(known, COUNT(known), ours, list, MODELS))
            differ++;
        else if (unknown++ < 100)
            print_error("%08x  ours: %s  objdump: %s | %s | %s\n", (unsigned)words->w[i], ours,
                        theirs[0], theirs[1], theirs[2]);
    }
    for (size_t m = 0; m < MODELS; m++)
        pclose(dump[m]);
    printf("%s: %lu same, %lu known to differ, %lu not explained\n", title, same, differ, unknown);
    assert_int_equal(unknown, 0);
}

static void test_space(void **state)
{
    struct ppc_words words = ppc_words_space();

    (void)state;
    assert_non_null(words.w);
    compare("opcode space", &words);
    free(words.w);
    ppc_known_report("objdump", known, COUNT(known));
}

/* Texts the assembler cannot be given: branches to an address, and names of SPRs or TH it lacks. */
static bool assembles(const struct trod_ppc_insn *insn, const char *text)
{
    uint32_t target;

    if (strncmp(text, ".long", 5) == 0 || trod_ppc_target(insn, 0, &target))
        return false;
    if (fnmatch("mfspr *,[a-z]*", text, 0) == 0 || fnmatch("mtspr [a-z]*", text, 0) == 0)
        return false;
    return fnmatch("dcbt* *,*,*", text, 0) != 0;
}

static void test_assembler(void **state)
{
    struct ppc_words words = ppc_words_space(), back;
    char path[64], command[512];
    size_t n = 0, wrong = 0;
    FILE *f;

    (void)state;
    snprintf(path, sizeof path, "%s/t.s", folder);
    f = fopen(path, "w");
    assert_true(f && words.w);
    for (size_t i = 0; i < words.n; i++) {
        char text[TROD_PPC_TEXT_MAX];
        struct trod_ppc_insn insn;

        trod_ppc_decode(words.w[i], &insn);
        trod_ppc_format(text, sizeof text, &insn, 0);
        if (!assembles(&insn, text))
            continue;
        fprintf(f, "%s\n", text);
        words.w[n++] = words.w[i];
    }
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             TOOL "as -a32 -many -mregnames -o %s/t.o %s && " TOOL
                  "objcopy -O binary -j .text %s/t.o %s/t.bin",
             folder, path, folder, folder);
    assert_true(run(command));
    snprintf(path, sizeof path, "%s/t.bin", folder);
    back = ppc_words_file(path);
    assert_int_equal(back.n, n);
    for (size_t i = 0; i < n; i++) {
        char text[TEXT];

        /* The assembler makes y bits of all hints, also of those that were "at" bits. */
        our_text(words.w[i], 0, text);
        if (back.w[i] == words.w[i] || fnmatch("b*r*[+-]*", text, 0) == 0)
            continue;
        if (wrong++ < 20)
            print_error("%08x  %s  assembles to %08x\n", (unsigned)words.w[i], text,
                        (unsigned)back.w[i]);
    }
    printf("assembler: %zu texts assembled, %zu wrong\n", n, wrong);
    free(words.w);
    free(back.w);
    assert_int_equal(wrong, 0);
}

/* Compares the .text of a file. */
static void compare_text(const char *title, const char *file)
{
    char path[64], command[1024];
    struct ppc_words words;

    snprintf(path, sizeof path, "%s/code", folder);
    snprintf(command, sizeof command, TOOL "objcopy -O binary -j .text %s %s", file, path);
    assert_true(run(command));
    words = ppc_words_file(path);
    assert_true(words.n > 100);
    compare(title, &words);
    free(words.w);
}

static void test_binaries(void **state)
{
    const char *source = getenv("TROD_SOURCE");
    char command[1024], file[512] = "";
    FILE *f;

    (void)state;
    if (!source || !run("command -v " TOOL "gcc >/dev/null 2>&1")) {
        printf("no " TOOL "gcc, or TROD_SOURCE not set: real binaries not compared\n");
        skip();
    }
    snprintf(
        command, sizeof command,
        TOOL
        "gcc -std=gnu11 -O2 -maltivec -mabi=altivec -c -o %s/sample.o %s/tests/isa/ppc_sample.c",
        folder, source);
    assert_true(run(command));
    snprintf(file, sizeof file, "%s/sample.o", folder);
    compare_text("ppc_sample.c", file);
    f = popen(TOOL "gcc -print-file-name=libc.so.6", "r");
    assert_non_null(f);
    if (fscanf(f, "%511s", file) == 1 && file[0] == '/')
        compare_text("libc.so.6", file);
    pclose(f);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return run(command) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_assembler),
        cmocka_unit_test(test_binaries),
    };

    if (!run("command -v " TOOL "objdump >/dev/null 2>&1")) {
        printf("no " TOOL "objdump: skipped\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
