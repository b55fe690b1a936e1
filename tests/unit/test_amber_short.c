/*
 * test_amber_short.c - which of TT6 and TT6E is a short file? (docs/formats/amber.md, "Detection")
 *
 * Hundreds of random programs run on the machine of tests/gen, 20 to 100 instructions of each
 * written in both formats. The answer is the right format, or that the two read the file alike, or
 * an error that names both and --from, or that there is too little evidence: never the wrong one.
 * Nor is a loop, which repeats a few words, taken for another format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "ppc_machine.h"
#include "trod/trod.h"

#include <stdio.h>
#include <string.h>

enum { FILES = 600, PROGRAM = 48, BYTES = 4096 };

static uint32_t x_form(uint32_t rt, uint32_t ra, uint32_t rb, uint32_t minor)
{
    return UINT32_C(31) << 26 | rt << 21 | ra << 16 | rb << 11 | minor << 1;
}

/* A load, store or cache operation of the class lists, with any registers. */
static uint32_t access_opcode(struct trod_gen *g)
{
    uint32_t major, minor, low = (uint32_t)gen_below(g, 0x10000);
    enum machine_class class;

    do {
        if (!machine_listed((unsigned)gen_below(g, 100), &major, &minor, &class))
            class = CLASS_COMPUTE;
    } while (class == CLASS_COMPUTE || (class != CLASS_CACHE && gen_below(g, 4) == 0));
    if (major == 31)
        return x_form((uint32_t)gen_below(g, 32), 1 + (uint32_t)gen_below(g, 12),
                      (uint32_t)gen_below(g, 32), minor) |
               (minor == 150 || minor == 214);
    if (major == 46 || major == 47)
        return major << 26 | 29u << 21 | 1u << 16 | (low & 0x7ffc);
    if (major == 58 || major == 62)
        low = (low & 0x7ff0) | (major == 58 ? minor : 0);
    return major << 26 | (uint32_t)gen_below(g, 32) << 21 | (1 + (uint32_t)gen_below(g, 12)) << 16 |
           low;
}

static uint32_t branch_opcode(struct trod_gen *g, uint32_t at)
{
    uint32_t to = (uint32_t)gen_below(g, PROGRAM), offset = (to - at) * 4;

    switch (gen_below(g, 7)) {
    case 0:
        return 0x4e800020; /* blr */
    case 1:
        return 0x48000000 | (offset & 0x3fffffc); /* b */
    case 2:
        return 0x48000001 | (offset & 0x3fffffc); /* bl */
    case 3:
        return 0x44000002; /* sc */
    case 4:
        return 0x42000000 | (offset & 0xfffc); /* bdnz */
    default:
        return 0x40800000 | (uint32_t)gen_below(g, 2) << 24 | (uint32_t)gen_below(g, 4) << 16 |
               (offset & 0xfffc); /* bge, blt and others */
    }
}

/* Addresses as Mac OS X has them: data, heap, stack, libraries. */
static uint32_t address(struct trod_gen *g)
{
    static const uint32_t regions[] = {0x00003000, 0x00300000, 0xbffff000, 0x90001000, 0x02000000};

    return regions[gen_below(g, 5)] + (uint32_t)gen_below(g, 0x10000);
}

static void make_program(struct trod_gen *g, struct machine *m)
{
    machine_init(m);
    m->length = PROGRAM;
    for (uint32_t i = 0; i < PROGRAM; i++) {
        uint64_t kind = gen_below(g, 20);

        if (kind < 4)
            m->program[i] = branch_opcode(g, i);
        else if (kind < 11)
            m->program[i] = access_opcode(g);
        else if (kind == 11 && gen_below(g, 4) == 0)
            m->program[i] = 0x0c000000 | (uint32_t)gen_below(g, 0x2000000); /* twi */
        else
            m->program[i] = 14u << 26 | (uint32_t)(13 + gen_below(g, 19)) << 21 |
                            (uint32_t)gen_below(g, 0x10000); /* li */
    }
    for (unsigned i = 0; i < 32; i++)
        m->gpr[i] = address(g);
    m->lr = MACHINE_CODE + 4 * (uint32_t)gen_below(g, PROGRAM);
    m->ctr = (uint32_t)gen_below(g, 5);
    m->cr = (uint32_t)gen_below(g, UINT32_MAX);
    m->xer = (uint32_t)gen_below(g, 16);
}

struct file {
    uint8_t p[2][BYTES]; /* TT6, TT6E */
    size_t n[2];
};

static void put32(struct file *f, int extended, uint32_t v)
{
    for (int k = 24; k >= 0; k -= 8)
        f->p[extended][f->n[extended]++] = (uint8_t)(v >> k);
}

/* STEPS instructions of a random program, in both formats. */
static void make_file(struct trod_gen *g, struct file *f, uint64_t steps)
{
    static struct machine m;

    make_program(g, &m);
    f->n[0] = f->n[1] = 0;
    put32(f, 0, m.pc);
    put32(f, 1, m.pc);
    for (uint64_t i = 0; i < steps; i++) {
        struct machine_step s;
        uint32_t words[8];

        machine_step(&m, &s);
        for (int extended = 0; extended < 2; extended++) {
            unsigned n = machine_tt6(&s, extended, words);

            for (unsigned k = 0; k < n; k++)
                put32(f, extended, words[k]);
        }
    }
}

static char said[512];

static void sink(void *user, const struct trod_problem *p)
{
    (void)user;
    snprintf(said, sizeof said, "%s", p->message);
}

static int detect(const struct file *f, int extended, struct trod_candidate *best)
{
    const struct trod_probe probe = {
        {f->p[extended], f->n[extended], 0, true}, f->n[extended], "trace"};
    struct trod_diag diag;

    trod_diag_init(&diag, sink, NULL);
    *best = (struct trod_candidate){0};
    return trod_detect(&probe, NULL, 0, best, &diag);
}

static void test_never_wrong(void **state)
{
    static const char *const names[] = {"tt6", "tt6e"};
    unsigned right = 0, alike = 0, ambiguous = 0, unknown = 0;
    static struct file f;

    (void)state;
    for (unsigned i = 0; i < FILES; i++) {
        struct trod_gen g = gen_seed(i);

        make_file(&g, &f, 20 + gen_below(&g, 81));
        for (int extended = 0; extended < 2; extended++) {
            struct trod_candidate best;
            int rc = detect(&f, extended, &best);

            if (rc == TROD_ERR_AMBIGUOUS) {
                if (!strstr(said, "tt6 or tt6e") && !strstr(said, "tt6e or tt6"))
                    fail_msg("file %u of %s: %s", i, names[extended], said);
                if (!strstr(said, "--from"))
                    fail_msg("file %u of %s: %s", i, names[extended], said);
                ambiguous++;
            } else if (rc == TROD_ERR_UNKNOWN) {
                unknown++;
            } else if (strcmp(best.format->name, names[extended]) == 0) {
                right++;
            } else if (f.n[0] == f.n[1] && memcmp(f.p[0], f.p[1], f.n[0]) == 0 && best.dialect &&
                       strstr(best.dialect, "(or TT6E)")) {
                alike++;
            } else {
                fail_msg("file %u of %s: taken for %s, silently", i, names[extended],
                         best.format->name);
            }
        }
    }
    print_message("right %u, alike %u, ambiguous %u, unknown %u\n", right, alike, ambiguous,
                  unknown);
    assert_true(right + alike > FILES); /* more than half: not by refusing */
    assert_true(ambiguous + unknown < 2 * FILES / 3);
}

/*
 * Loops: some instructions and a branch back, again and again. Read as records of a bus, the same
 * few come again; where these are valid by chance, that is no evidence for a bus, however long the
 * loop runs.
 */
static void test_loops(void **state)
{
    enum { LOOPS = 20000, BLR = 0x4e800020, LI = 14u << 26 };
    static struct file f;

    (void)state;
    for (unsigned i = 0; i < LOOPS; i++) {
        struct trod_gen g = gen_seed(1000000 + i);
        const uint32_t pc = (uint32_t)gen_below(&g, 0x10000) * 4;
        const uint64_t length = 1 + gen_below(&g, 3), laps = 10 + gen_below(&g, 60);
        uint64_t at = gen_below(&g, length + 1); /* where the trace begins */
        struct trod_candidate best;
        uint32_t opcode[3];

        for (uint64_t k = 0; k < length; k++)
            opcode[k] = LI | (uint32_t)gen_below(&g, 32) << 21 | (uint32_t)gen_below(&g, 0x10000);
        f.n[0] = 0;
        put32(&f, 0, pc + 4 * (uint32_t)at);
        for (uint64_t lap = 0; lap < laps; lap++, at = 0) {
            for (; at < length; at++)
                put32(&f, 0, opcode[at]);
            put32(&f, 0, BLR);
            put32(&f, 0, pc);
        }
        if (detect(&f, 0, &best) == TROD_OK && strncmp(best.format->name, "tt6", 3) != 0)
            fail_msg("loop %u is taken for %s", i, best.format->name);
    }
}

/*
 * The twi of a synthetic return may pass for the address of a store, if the address of a cache
 * operation passes for the store: the return is still one.
 */
static void test_swallowed(void **state)
{
    enum { DCBF = 0x7c44b0ac, TWI = 0x0c27f353, B_700 = 0x48000702, RFI = 0x4c000064 };
    enum { B_ON = 0x48000100, TRAPS = 6 };
    const uint32_t stw = 0x90310b03;
    static struct file f;
    struct trod_candidate best;
    uint32_t pc = 0x10000;

    (void)state;
    f.n[1] = 0;
    put32(&f, 1, pc);
    for (unsigned i = 0; i < TRAPS; i++) {
        const uint32_t words[] = {DCBF, stw, TWI, B_700, 0x700, RFI, pc + 8};

        for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
            put32(&f, 1, words[k]);
        if (i + 1 == TRAPS)
            break;
        put32(&f, 1, B_ON);
        put32(&f, 1, pc += 8 + 0x100);
    }
    assert_int_equal(detect(&f, 1, &best), TROD_OK);
    assert_string_equal(best.format->name, "tt6e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_wrong),
                                       cmocka_unit_test(test_loops),
                                       cmocka_unit_test(test_swallowed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
