/*
 * test_byu12_pass.c - the byu12 driver: parts that begin at any cut give the rows of one decoder
 * (passing.h).
 */
#include "passing.h"

#include "core/endian.h"

enum { RECORD = 12, RECORDS = 3000 };

/* Processors below BELOW, of which new ones are met now and then. */
static void trace(struct trod_gen *g, uint64_t below, struct trod_buf *b)
{
    static const uint8_t types[] = {0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x21, 0x33, 0x77};
    uint64_t processors = 1 + gen_below(g, 3);

    for (unsigned i = 0; i < RECORDS; i++) {
        uint8_t p[RECORD];

        processors += processors < below && gen_once_in(g, 200);
        trod_store_le32(p, (uint32_t)gen_u64(g));
        p[4] = types[gen_below(g, sizeof types)];
        p[5] = 1 << gen_below(g, 4);
        p[6] = (uint8_t)gen_below(g, 4);
        p[7] = (uint8_t)(below - 1 - gen_below(g, processors));
        trod_store_le32(p + 8,
                        gen_once_in(g, 50) || i == 0 ? UINT32_MAX : (uint32_t)gen_u64(g) >> 9);
        assert_int_equal(trod_buf_add(b, p, sizeof p), TROD_OK);
    }
}

static void test_cuts(void **state)
{
    static const uint64_t below[] = {4, 9, 32, 36, 256};
    const struct trod_format *f = trod_format_find("byu12", 5);
    struct trod_gen g = gen_seed(61);

    (void)state;
    for (unsigned k = 0; k < 60; k++) {
        struct trod_buf b = {0};

        trace(&g, below[k % (sizeof below / sizeof *below)], &b);
        if (gen_once_in(&g, 3)) /* its end is missing */
            b.n -= 1 + (size_t)gen_below(&g, 2 * RECORD);
        parts(&g, f, &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, k % 4 ? 6000 : b.n / 3);
        trod_buf_fini(&b);
    }
    assert_int_equal(compared, 60);
    assert_true(passed_over > 150);
    assert_true(shown > 1000 && hidden > 10 * shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
