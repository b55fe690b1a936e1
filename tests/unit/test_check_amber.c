/*
 * test_check_amber.c - for each rule of TT6, TT6E and FULL traces a trace that breaks it and one
 * that almost does.
 *
 * TT6 records are those of the amber page (INITIAL_PC, then opcodes with what their class adds).
 * Opcodes are from the PowerPC manual: 60000000 nop, 48000010 b +16, 4e800020 blr, 7c001828 lwarx
 * r0,0,r3, 38630001 addi r3,r3,1, 0c000000 twi 0,r0,0, 4c000064 rfi.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"
#include "core/endian.h"

#include <string.h>

#define PC    0x1000
#define NOP   0x60000000
#define B16   0x48000010
#define BLR   0x4e800020
#define LWARX 0x7c001828
#define LMW   0xbba30000 /* lmw r29,0(r3) */

/* Escape records: code, words. */
#define ESCAPE(code, words) ((uint32_t)(code) << 16 | (words))
#define SIGNAL              ESCAPE(0x20, 2)
#define WAIT                ESCAPE(0x30, 2)

static const struct check_pair pairs[] = {
    {"amber.chain", "tt6", CHECK_WORDS(PC, B16, 0x1020, NOP), CHECK_WORDS(PC, B16, 0x1010, NOP)},
    /* bc 12,2,+16: there or on */
    {"amber.chain", "tt6", CHECK_WORDS(PC, 0x41820010, 0x1008, NOP),
     CHECK_WORDS(PC, 0x41820010, 0x1004, 0x41820010, 0x1014, NOP)},
    /* b 0 is where traces are joined */
    {"amber.chain", "tt6", CHECK_WORDS(PC, 0x48000004, 0x2000, NOP),
     CHECK_WORDS(PC, 0x48000000, 0x2000, NOP)},
    {"amber.pc-aligned", "tt6", CHECK_WORDS(PC, BLR, 0x2002, NOP, NOP),
     CHECK_WORDS(PC, BLR, 0x2004, NOP, NOP)},
    {"amber.pc-aligned", "tt6", CHECK_WORDS(0x1001, NOP, NOP), CHECK_WORDS(0x1004, NOP, NOP)},
    {"amber.address-aligned", "tt6", CHECK_WORDS(PC, LWARX, 0x2002),
     CHECK_WORDS(PC, LWARX, 0x2004)},
    /* ldarx r0,0,r3 wants 8, lwz r0,0(r3) nothing */
    {"amber.address-aligned", "tt6", CHECK_WORDS(PC, 0x7c0018a8, 0x2004),
     CHECK_WORDS(PC, 0x7c0018a8, 0x2008, 0x80030000, 0x2001)},
    {"amber.address-aligned", "tt6", CHECK_WORDS(PC, LMW, 0x2006), CHECK_WORDS(PC, LMW, 0x2004)},
    {"amber.opcode-valid", "tt6", CHECK_WORDS(PC, 0x04000001), CHECK_WORDS(PC, NOP)},
    {"amber.escape-length", "tt6", CHECK_WORDS(PC, ESCAPE(0x02, 0), NOP),
     CHECK_WORDS(PC, ESCAPE(0x02, 1), 0x20000000, NOP)},
    {"amber.escape-length", "tt6", CHECK_WORDS(PC, ESCAPE(0x20, 1), 0x5000, NOP),
     CHECK_WORDS(PC, SIGNAL, 0x5000, 1, NOP)},
    {"amber.escape-code", "tt6", CHECK_WORDS(PC, ESCAPE(0x06, 1), 0, NOP),
     CHECK_WORDS(PC, ESCAPE(0x05, 1), 0, NOP)},
    {"amber.sync-count", "tt6", CHECK_WORDS(PC, SIGNAL, 0x5000, 2, SIGNAL, 0x5000, 2, NOP),
     /* other points, and waits, have other counts */
     CHECK_WORDS(PC, SIGNAL, 0x5000, 2, SIGNAL, 0x5004, 1, WAIT, 0x5000, 1, SIGNAL, 0x5000, 3,
                 NOP)},
    {"amber.twi-pair", "tt6e", CHECK_WORDS(PC, 0x0c000000, 0x48000702, 0x700, NOP, NOP),
     CHECK_WORDS(PC, 0x0c000000, 0x48000702, 0x700, 0x4c000064, 0x1004, NOP)},
};

/* The same without INITIAL_PC, which would be an escape between other records: only the first one
 * has it, and is left out behind it. */
static const struct check_pair records[] = {
    {"first", "tt6", CHECK_WORDS(PC, NOP), CHECK_WORDS(PC, NOP)},
    {"amber.chain", "tt6", CHECK_WORDS(B16, 0x1020, NOP), CHECK_WORDS(0x48000000, 0x2000, NOP)},
    {"amber.pc-aligned", "tt6", CHECK_WORDS(BLR, 0x2002, NOP, BLR, 0x2000),
     CHECK_WORDS(BLR, 0x2004, NOP, NOP)},
    {"amber.address-aligned", "tt6", CHECK_WORDS(LWARX, 0x2002), CHECK_WORDS(LWARX, 0x2004)},
    {"amber.opcode-valid", "tt6", CHECK_WORDS(0x04000001), CHECK_WORDS(NOP)},
    {"amber.escape-length", "tt6", CHECK_WORDS(ESCAPE(0x02, 0), NOP),
     CHECK_WORDS(ESCAPE(0x02, 1), 0x20000000, NOP)},
    {"amber.escape-code", "tt6", CHECK_WORDS(ESCAPE(0x06, 1), 0, NOP),
     CHECK_WORDS(ESCAPE(0x05, 1), 0, NOP)},
};

static void nops(struct trod_gen *g, struct trod_buf *out)
{
    uint8_t nop[4];

    trod_store_be32(nop, NOP);
    for (uint64_t n = 1 + gen_below(g, 300); n > 0; n--)
        trod_buf_add(out, nop, sizeof nop);
}

/* Signals on a few points, whose counts seldom fall. */
static void signals(struct trod_gen *g, struct trod_buf *out)
{
    static uint64_t count;
    uint8_t words[12];

    nops(g, out);
    count += gen_once_in(g, 30) ? 0 : 1 + gen_below(g, 3);
    trod_store_be32(words, SIGNAL);
    trod_store_be32(words + 4, 0x5000 + 4 * (uint32_t)gen_below(g, 3));
    trod_store_be32(words + 8, (uint32_t)count);
    trod_buf_add(out, words, sizeof words);
}

static void test_parts(void **state)
{
    struct check_parts opt = {.pairs = records,
                              .n = sizeof records / sizeof *records,
                              .from = "tt6",
                              .bytes = 100000,
                              .filling = 3,
                              .filler = nops,
                              .leave_out = {"first"}};

    (void)state;
    assert_int_equal(check_in_parts(&opt, 6), 0);
    opt.filler = signals;
    opt.seed = 100;
    opt.whole_too = true; /* a count that fell behind a cut */
    assert_int_equal(check_in_parts(&opt, 10), 0);
}

/* ---- FULL ---- */

enum { RECORD = 1004, THREAD = 4 };

struct full {
    uint8_t bytes[4 + 4 * RECORD];
    size_t n;
};

static void put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* Append the state at PC, before OPCODE; word W (38: ctr) of the thread state is VALUE. */
static void state_at(struct full *f, uint32_t opcode, uint32_t pc, unsigned w, uint32_t value)
{
    uint8_t *p;

    if (f->n == 0) {
        put32(f->bytes, 0xa1118e17);
        f->n = 4;
    }
    p = f->bytes + f->n;
    if (f->n >= 4 + RECORD)
        memcpy(p, p - RECORD, RECORD);
    put32(p, opcode);
    put32(p + THREAD, pc);
    put32(p + THREAD + 4 * w, value);
    f->n += RECORD;
}

/* words of the thread state: srr0, srr1, r0 to r31, cr, xer, lr, ctr */
enum { R3 = 5, R4 = 6, CR = 34, LR = 36 };

static void full(struct full *f, uint32_t op, uint32_t pc, uint32_t next, unsigned w, uint32_t v)
{
    state_at(f, op, pc, w, 0);
    state_at(f, NOP, next, w, v);
}

static struct check_data data(const struct full *f)
{
    return (struct check_data){f->bytes, f->n, FORM_BYTES};
}

static void test_rules(void **state)
{
    static struct full f[32];
    struct check_pair all[sizeof pairs / sizeof *pairs + 16];
    size_t n = sizeof pairs / sizeof *pairs, k = 0;

    (void)state;
    memcpy(all, pairs, sizeof pairs);
#define PAIR(name) all[n++] = (struct check_pair){name, "full", data(&f[k - 2]), data(&f[k - 1])}
    /* addi r3,r3,1 changes r3, and r4 not */
    full(&f[k++], 0x38630001, PC, PC + 4, R4, 1);
    full(&f[k++], 0x38630001, PC, PC + 4, R3, 1);
    PAIR("amber.register-change");
    /* add r3,r3,r4 does not change the condition register, add. does */
    full(&f[k++], 0x7c632214, PC, PC + 4, CR, 0x40000000);
    full(&f[k++], 0x7c632215, PC, PC + 4, CR, 0x40000000);
    PAIR("amber.register-change");
    /* b +16 does not change the link register, bl does */
    full(&f[k++], B16, PC, PC + 16, LR, PC + 4);
    full(&f[k++], B16 | 1, PC, PC + 16, LR, PC + 4);
    PAIR("amber.register-change");
    full(&f[k++], NOP, PC, PC + 8, R3, 0);
    full(&f[k++], NOP, PC, PC + 4, R3, 0);
    PAIR("amber.next-pc");
    /* blr goes where the link register says */
    full(&f[k++], BLR, PC, PC + 4, LR, 0);
    full(&f[k++], BLR, PC, 0, LR, 0);
    PAIR("amber.next-pc");
    /* beq +16 with cr0 clear is not taken, bne is */
    full(&f[k++], 0x41820010, PC, PC + 16, R3, 0);
    full(&f[k++], 0x40820010, PC, PC + 16, R3, 0);
    PAIR("amber.next-pc");
    /* lwarx r0,0,r3 at the address in r3 */
    state_at(&f[k++], LWARX, PC, R3, 0x2001);
    state_at(&f[k++], LWARX, PC, R3, 0x2004);
    PAIR("amber.address-aligned");
    state_at(&f[k++], NOP, PC + 2, R3, 0);
    state_at(&f[k++], NOP, PC + 4, R3, 0);
    PAIR("amber.pc-aligned");
    state_at(&f[k++], 0x04000001, PC, R3, 0);
    state_at(&f[k++], NOP, PC, R3, 0);
    PAIR("amber.opcode-valid");
    assert_true(k <= sizeof f / sizeof *f && n <= sizeof all / sizeof *all);
    assert_int_equal(check_pairs(all, n, "amber."), 0);
}

/* Records of instructions that do nothing; some registers change nevertheless. */
static void idle(struct trod_gen *g, struct trod_buf *out)
{
    static struct full f;

    for (uint64_t n = 1 + gen_below(g, 60); n > 0; n--) {
        f.n = 4;
        state_at(&f, NOP, PC, gen_once_in(g, 9) ? R3 : LR, (uint32_t)gen_below(g, 2));
        trod_buf_add(out, f.bytes + 4, f.n - 4);
    }
}

/* The record behind a part says what the last one in it did. */
static void test_full_parts(void **state)
{
    struct check_pair all[2];
    struct check_parts opt = {.pairs = all,
                              .from = "full",
                              .bytes = 2000000,
                              .filling = 3,
                              .filler = idle,
                              .leave_out = {"first"}};
    static struct full first, good, bad;

    (void)state;
    state_at(&first, NOP, PC, R3, 0);
    full(&good, B16, PC, PC + 16, R3, 0);
    full(&bad, 0x38630001, PC + 2, PC + 16, R4, 1);
    all[opt.n++] = (struct check_pair){"first", "full", data(&first), data(&first)};
    all[opt.n++] = (struct check_pair){"",
                                       "full",
                                       {bad.bytes + 4, bad.n - 4, FORM_BYTES},
                                       {good.bytes + 4, good.n - 4, FORM_BYTES}};
    assert_int_equal(check_in_parts(&opt, 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_full_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
