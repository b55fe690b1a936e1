/*
 * test_full_pass.c - a FULL trace decoded in parts (passing.h), also where the traces that were
 * joined into one move its records: then a part does not end at its end.
 */
#include "passing.h"

#include "core/endian.h"

enum { RECORD = 1004, RECORDS = 40 };

#define MAGIC UINT32_C(0xa1118e17)

/* Append RECORDS records behind a magic number; some have its word as their opcode. */
static void put_trace(struct trod_gen *g, struct trod_buf *b)
{
    static const uint32_t opcodes[] = {0x60000000, 0x38630001, 0x80610008, 0x90610008,
                                       0x7c632c2a, 0x4e800020, 0x41820010, MAGIC};
    uint8_t record[RECORD] = {0}, magic[4];
    uint32_t pc = 0x10000000;

    trod_store_be32(magic, MAGIC);
    assert_int_equal(trod_buf_add(b, magic, sizeof magic), TROD_OK);
    for (unsigned i = 0; i < RECORDS; i++) {
        const uint32_t opcode = opcodes[gen_below(g, sizeof opcodes / sizeof *opcodes)];

        trod_store_be32(record, opcode);
        trod_store_be32(record + 4, pc);
        for (uint64_t n = gen_below(g, 4); n; n--) /* registers that the one before wrote */
            trod_store_be32(record + 8 + 4 * gen_below(g, 249), (uint32_t)gen_u64(g));
        assert_int_equal(trod_buf_add(b, record, sizeof record), TROD_OK);
        pc = opcode >> 30 == 1 && gen_once_in(g, 2) ? pc + 0x100 : pc + 4;
    }
}

/* Traces of 1 to MOST joined ones, cut. Returns how many of TRACES were decoded to their end. */
static size_t run(uint64_t seed, unsigned traces, uint64_t most)
{
    const struct trod_format *f = trod_format_find("full", 4);
    struct trod_gen g = gen_seed(seed);

    compared = passed_over = 0;
    for (unsigned k = 0; k < traces; k++) {
        struct trod_buf b = {0};

        for (uint64_t n = 1 + gen_below(&g, most); n; n--)
            put_trace(&g, &b);
        if (gen_once_in(&g, 3)) /* its end is missing */
            b.n -= 1 + (size_t)gen_below(&g, 2 * RECORD);
        parts(&g, f, &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, b.n / 4);
        trod_buf_fini(&b);
    }
    return compared;
}

static void test_one(void **state)
{
    (void)state;
    assert_int_equal(run(51, 30, 1), 30);
    assert_true(passed_over > 90);
}

static void test_joined(void **state)
{
    size_t whole;

    (void)state;
    whole = run(52, 60, 4);
    assert_true(whole >= 10 && whole < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
