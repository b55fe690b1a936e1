/*
 * test_check_byu.c - for each rule of BYU address traces a trace that breaks it and one that almost
 * does.
 *
 * Records are those of the Address Trace Specification V1.0 (address, byte enables, control) and of
 * the BYU Address Trace Format v1.1 (address, type, size, attributes, processor, time).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"

#define REF(a2, a3, enables, control) 0x00, 0x10, a2, a3, enables, control
#define READ                          0xc0
#define BACK                          0xe0
/* Little-endian; the first record of a file has no time before it. */
#define REQ(a0, type, size, ticks)                                                                 \
    a0, 0x20, 0x00, 0x00, type, size, 0x03, 0x00, ticks, ticks, ticks, ticks

static const struct check_pair pairs[] = {
    {"byu.reserved-code", "byu6", CHECK_OCTETS(REF(0, 0, 0, 0xa0)),
     CHECK_OCTETS(REF(0, 0, 0, 0x90))},
    {"byu.reserved-code", "byu12", CHECK_OCTETS(REQ(0, 0x04, 8, 0xff)),
     CHECK_OCTETS(REQ(0, 0x03, 8, 0xff))},
    {"byu.control-bits", "byu6", CHECK_OCTETS(REF(0, 0, 0, 0xc1)),
     CHECK_OCTETS(REF(0, 0, 0, READ))},
    {"byu.aligned", "byu6", CHECK_OCTETS(REF(0, 4, 0, READ)), CHECK_OCTETS(REF(0, 8, 0, READ))},
    {"byu.enables", "byu6", CHECK_OCTETS(REF(0, 0, 0xff, READ)),
     /* one byte; an interrupt acknowledge and a special cycle move none */
     CHECK_OCTETS(REF(0, 0, 0xfe, READ), REF(0, 0, 0xff, 0x10), REF(0, 0, 0xff, 0x30))},
    {"byu.writeback-line", "byu6",
     CHECK_OCTETS(REF(0, 0, 0, BACK), REF(0, 8, 0, BACK), REF(0, 16, 0, BACK), REF(1, 0, 0, READ)),
     CHECK_OCTETS(REF(0, 0, 0, BACK), REF(0, 8, 0, BACK), REF(0, 16, 0, BACK), REF(0, 24, 0, BACK),
                  REF(1, 0, 0, READ))},
    /* at the end of the file; two lines one behind the other */
    {"byu.writeback-line", "byu6", CHECK_OCTETS(REF(0, 0, 0, BACK)),
     CHECK_OCTETS(REF(0, 8, 0, BACK), REF(0, 0, 0, BACK), REF(0, 24, 0, BACK), REF(0, 16, 0, BACK),
                  REF(0, 32, 0, BACK), REF(0, 40, 0, BACK), REF(0, 48, 0, BACK),
                  REF(0, 56, 0, BACK))},
    {"byu.writeback-line", "byu6",
     CHECK_OCTETS(REF(0, 0, 0x0f, BACK), REF(0, 8, 0, BACK), REF(0, 16, 0, BACK),
                  REF(0, 24, 0, BACK)),
     CHECK_OCTETS(REF(0, 0, 0x0f, 0xf0))},
    {"byu.size", "byu12", CHECK_OCTETS(REQ(0, 1, 12, 0xff)),
     CHECK_OCTETS(REQ(0, 1, 16, 0xff), REQ(0, 1, 32, 0), REQ(0, 1, 0, 0), REQ(1, 1, 7, 0))},
    {"byu.crossing", "byu12", CHECK_OCTETS(REQ(5, 3, 4, 0xff)), CHECK_OCTETS(REQ(4, 3, 4, 0xff))},
    {"byu.first-time", "byu12", CHECK_OCTETS(REQ(0, 1, 8, 0xff), REQ(0, 1, 8, 0xff)),
     CHECK_OCTETS(REQ(0, 1, 8, 0xff), REQ(0, 1, 8, 0xfe))},
};

static void test_rules(void **state)
{
    (void)state;
    assert_int_equal(check_pairs(pairs, sizeof pairs / sizeof *pairs, "byu."), 0);
}

/* A writeback that is not whole is found at its last record, wherever batches end. */
static void test_place(void **state)
{
    const struct {
        struct check_data trace;
        uint64_t record;
    } cases[] = {
        {CHECK_OCTETS(REF(0, 0, 0, READ), REF(0, 0, 0, BACK), REF(0, 8, 0, BACK),
                      REF(1, 0, 0, READ)),
         2},
        {CHECK_OCTETS(REF(0, 0, 0, BACK), REF(0, 8, 0, BACK), REF(0, 16, 0, BACK),
                      REF(1, 0, 0, BACK), REF(1, 8, 0, BACK), REF(1, 16, 0, BACK),
                      REF(1, 24, 0, BACK)),
         2},
        {CHECK_OCTETS(REF(0, 0, 0, READ), REF(0, 0, 0, BACK)), 1},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint32_t rows = 0; rows < 5; rows++) {
            struct trod_buf bytes = check_bytes(&cases[k].trace);
            const struct trod_finding *f;
            void *st = check_state();

            check_memory(st, "byu6", bytes.p, bytes.n, rows);
            f = trod_check_finding(st, 0);
            assert_non_null(f);
            assert_null(trod_check_finding(st, 1));
            assert_string_equal(f->rule->id, "byu.writeback-line");
            assert_int_equal(f->ordinal, cases[k].record);
            assert_int_equal(f->offset, 6 * cases[k].record);
            check_release(st);
            trod_buf_fini(&bytes);
        }
}

static void test_parts(void **state)
{
    struct check_parts opt = {
        .pairs = pairs, .n = sizeof pairs / sizeof *pairs, .from = "byu6", .bytes = 60000};

    (void)state;
    assert_int_equal(check_in_parts(&opt, 6), 0);
    opt.from = "byu12";
    opt.bytes = 120000;
    assert_int_equal(check_in_parts(&opt, 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
