/*
 * test_stf.c - STF traces (docs/formats/stf.md), made here record by record.
 */
#include "logs.h"

#include "trod/buf.h"

static struct trod_buf trace;

static void put(uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        const uint8_t c = (uint8_t)(v >> 8 * i);

        assert_int_equal(trod_buf_add(&trace, &c, 1), 0);
    }
}

static void header(uint64_t features, unsigned iem, uint32_t vlen, uint64_t pc)
{
    trod_buf_fini(&trace);
    put(0x46545301, 4); /* 1, "STF" */
    put(2, 1), put(1, 4), put(6, 4);
    put(4, 1), put(1, 2);
    put(5, 1), put(iem, 2);
    put(7, 1), put(features, 8);
    if (vlen)
        put(10, 1), put(vlen, 4);
    put(9, 1), put(pc, 8);
    put(19, 1);
}

static void reg(unsigned number, unsigned type, uint64_t value)
{
    put(40, 1), put(number, 2), put(type, 1), put(value, 8);
}

static void mem_access(uint64_t addr, unsigned size, unsigned type)
{
    put(60, 1), put(addr, 8), put(size, 2), put(0, 2), put(type, 1);
}

static void content(uint64_t v)
{
    put(61, 1), put(v, 8);
}

static void op32(uint32_t w)
{
    put(240, 1), put(w, 4);
}

static void op16(uint32_t w)
{
    put(241, 1), put(w, 2);
}

static void expect(uint32_t mask, const char *rows, uint64_t errors)
{
    const struct test_input in = {.format = logs_format("stf"), .p = trace.p, .n = trace.n};
    const struct test_how how = {.mask = mask | TROD_COL_KIND};
    struct test_rows got = test_decode_text(&in, &how);

    if (got.text.n != strlen(rows) || (got.text.n > 0 && memcmp(got.text.p, rows, got.text.n) != 0))
        fail_msg("expected:\n%s\ngot:\n%.*s", rows, (int)got.text.n, (char *)got.text.p);
    assert_int_equal(got.errors, errors);
    test_rows_free(&got);
}

enum { WHAT = LOGS_WHAT | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_SUB };

/* Records before an opcode belong to it; sources of operands are no rows. */
static void test_groups(void **state)
{
    (void)state;
    header(0x80000, 2, 0, 0x1000);
    reg(6, 0x21, 0x8000);
    reg(5, 0x31, 42);
    mem_access(0x8000, 8, 1);
    content(42);
    op32(0x00033283);
    mem_access(0x8008, 2, 2);
    content(0x1234);
    op16(0xc290);
    put(31, 1), put(0x1000, 8);
    op32(0xfe029be3);
    reg(0x305, 0x34, 7);
    op32(0x30529073);
    expect(WHAT,
           "INSTR size=4 addr=1000 pc=1000 code=\"\\832\\03\\00\"\n"
           "REG size=8 pc=1000 value=2a text=\"x5\"\n"
           "READ size=8 addr=8000 pc=1000 value=2a sub=0\n"
           "INSTR size=2 addr=1004 pc=1004 code=\"\\90\\c2\"\n"
           "WRITE size=2 addr=8008 pc=1004 value=1234 sub=0\n"
           "INSTR size=4 addr=1006 pc=1006 target=1000 code=\"\\e3\\9b\\02\\fe\"\n"
           "INSTR size=4 addr=1000 pc=1000 code=\"s\\90R0\"\n"
           "REG size=8 pc=1000 value=7 sub=305 text=\"mtvec\"\n",
           0);
}

/* An access of 16 bytes has two contents; a vector register VLEN bits. */
static void test_wide(void **state)
{
    (void)state;
    header(0x80000, 2, 128, 0x1000);
    put(40, 1), put(1, 2), put(0x33, 1), put(0x0706050403020100, 8), put(0x0f0e0d0c0b0a0908, 8);
    mem_access(0x8000, 16, 1);
    content(0x1716151413121110);
    content(0x1f1e1d1c1b1a1918);
    op16(1);
    expect(TROD_COL_SIZE | TROD_COL_DATA | TROD_COL_TEXT,
           "INSTR size=2\n"
           "REG size=10 "
           "data=\"\\00\\01\\02\\03\\04\\05\\06\\07\\08\\09\\0a\\0b\\0c\\0d\\0e\\0f\" text=\"v1\"\n"
           "READ size=10 "
           "data=\"\\10\\11\\12\\13\\14\\15\\16\\17\\18\\19\\1a\\1b\\1c\\1d\\1e\\1f\"\n",
           0);
}

/* Events of 64 bits: an interrupt, a page fault (13: field 2 is the address), a mode. */
static void test_events(void **state)
{
    (void)state;
    header(0x80000, 2, 0, 0x1000);
    put(100, 1), put(UINT64_C(1) << 62, 8), put(1, 1), put(3, 8);
    op16(1);
    put(100, 1), put(13, 8), put(3, 1), put(0x1002, 8), put(0x6108, 8), put(0x9000, 8);
    put(101, 1), put(0x2000, 8);
    op16(0x6108);
    put(100, 1), put(UINT64_C(1) << 63 | 7, 8), put(0, 1);
    op16(1);
    op16(1);
    expect(TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_FLAGS,
           "INSTR flags=0 addr=1000 pc=1000\n"
           "MODE flags=2000000 pc=1000 value=3\n"
           "INSTR flags=400000 addr=1002 pc=1002\n"
           "EXCEPTION flags=2000000 addr=9000 pc=1002 target=2000 value=d\n"
           "INSTR flags=400000 addr=2000 pc=2000\n"
           "EXCEPTION flags=2000000 pc=2000 value=8000000000000007\n"
           "INSTR flags=0 addr=2002 pc=2002\n",
           0);
}

/* Without the feature events have 32 bits: mode change is bit 30. A new pc comes out of nowhere. */
static void test_events_of_32_bits(void **state)
{
    (void)state;
    header(0, 1, 0, 0x1000);
    put(100, 1), put(1u << 30, 4), put(1, 1), put(1, 8);
    op16(1);
    put(100, 1), put(1u << 31 | 3, 4), put(0, 1);
    put(9, 1), put(0x3000, 8);
    op16(1);
    op16(1);
    expect(TROD_COL_ADDR | TROD_COL_VALUE,
           "INSTR addr=1000\nMODE value=1\nINSTR addr=3000\nEXCEPTION value=8000000000000003\n"
           "INSTR addr=3002\n",
           0);
}

static void test_damage(void **state)
{
    (void)state;
    header(0x80000, 2, 0, 0x1000);
    op16(1);
    reg(5, 0x31, 42);
    expect(TROD_COL_ADDR, "INSTR addr=1000\n", 1); /* ends without the opcode */
    put(77, 1);
    expect(TROD_COL_ADDR, "INSTR addr=1000\n", 1); /* no record begins so */
    header(0x80000, 2, 0, 0x1000);
    op16(1);
    put(3, 1), put(2, 4), put(0x6968, 2);
    expect(TROD_COL_ADDR, "INSTR addr=1000\n", 0); /* a comment at the end */
    header(0x80000, 2, 0, 0x1000);
    put(250, 1);
    expect(TROD_COL_ADDR, "", 1); /* transactions */
    trod_buf_fini(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_events), cmocka_unit_test(test_events_of_32_bits),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
