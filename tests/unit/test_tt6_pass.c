/*
 * test_tt6_pass.c - a TT6 or TT6E file decoded in parts gives the rows and problems of one decoder
 * (passing.h).
 *
 * Random records: of opcodes of all classes, and of any words; escapes of all sorts and lengths,
 * also some that say what the next instruction is given; traps with and without their synthetic
 * return; from one of these in two records to long rows of plain ones.
 */
#include "passing.h"

#include "core/endian.h"

enum { TWI = 0x0c000000, B_700 = 0x48000702, RFI = 0x4c000064 };

static void put_word(struct trod_buf *b, uint32_t word)
{
    uint8_t bytes[4];

    trod_store_be32(bytes, word);
    assert_int_equal(trod_buf_add(b, bytes, sizeof bytes), TROD_OK);
}

/* An address: of code, of a stack (which as an opcode is a store), or a small one (an escape). */
static uint32_t address(struct trod_gen *g)
{
    static const uint32_t base[] = {0x10000000, 0xbfff0000, 0, 0x7c000000};

    return base[gen_below(g, 4)] + 4 * (uint32_t)gen_below(g, 1 << 12);
}

/* One record whose opcode alone says what it is. */
static void put_plain(struct trod_gen *g, bool extended, struct trod_buf *b)
{
    static const uint32_t opcodes[] = {
        0x60000000, 0x38630001, 0x7c632214, 0x7c0004ac,             /* computes */
        0x80610008, 0x90610008, 0x7c6b002e, 0xbbc10008, 0xe8610008, /* accesses */
        0x7c632c2a, 0x7c0422ac, 0x7c002fec,                         /* lswx, dst, dcbz */
        0x48000011, 0x41820010, 0x4e800020, 0x4d820020, 0x4e800420, /* changes of flow */
    };
    const uint32_t opcode = opcodes[gen_below(g, sizeof opcodes / sizeof *opcodes)];
    const unsigned major = opcode >> 26;

    put_word(b, opcode);
    if (opcode == 0x7c632c2a || opcode == 0x7c0422ac) {
        put_word(b, address(g));
        put_word(b, (uint32_t)gen_below(g, 1 << 20));
    } else if (major == 16 || major == 18 || major == 19 || major == 32 || major == 36 ||
               major == 46 || major == 58 || opcode == 0x7c6b002e ||
               (extended && opcode == 0x7c002fec)) {
        put_word(b, address(g));
    }
}

/* What changes the meaning of what comes behind it, or is of any length. */
static void put_special(struct trod_gen *g, bool wild, struct trod_buf *b)
{
    const uint32_t words = (uint32_t)gen_below(g, wild && gen_once_in(g, 4) ? 40 : 3);

    switch (gen_below(g, 4)) {
    case 0:
        put_word(b, TWI);
        if (gen_once_in(g, 2)) {
            put_word(b, B_700);
            put_word(b, 0x700);
            if (gen_once_in(g, 3))
                break;
            put_word(b, RFI);
            put_word(b, address(g));
        }
        break;
    case 1:
        put_word(b, (gen_once_in(g, 2) ? 0x20u : 0x30u) << 16 | 2);
        put_word(b, address(g));
        put_word(b, (uint32_t)gen_below(g, 9));
        break;
    default:
        put_word(b, (uint32_t)gen_below(g, 7) << 16 | words);
        for (uint32_t i = 0; i < words; i++)
            put_word(b, address(g));
    }
}

static void trace(struct trod_gen *g, bool extended, uint64_t rare, bool wild, struct trod_buf *b)
{
    put_word(b, gen_once_in(g, 2) ? 0x00001000 : 0x10000000);
    for (unsigned i = 0; i < 3000; i++) {
        if (wild && gen_once_in(g, 40))
            put_word(b, (uint32_t)gen_u64(g) | 0x04000000);
        else if (gen_once_in(g, rare))
            put_special(g, wild, b);
        else
            put_plain(g, extended, b);
    }
}

static void run(const char *name, uint64_t seed, bool wild)
{
    const struct trod_format *f = trod_format_find(name, strlen(name));
    struct trod_gen g = gen_seed(seed);

    compared = passed_over = 0;
    for (unsigned k = 0; k < 40; k++) {
        struct trod_buf b = {0};

        trace(&g, strcmp(name, "tt6e") == 0, k % 2 ? 2 + gen_below(&g, 20) : 400,
              wild && k % 3 == 0, &b);
        parts(&g, f, &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, k % 4 ? 6000 : b.n / 3);
        trod_buf_fini(&b);
    }
    assert_true(compared >= (wild ? 12 : 40) && passed_over > 100);
}

static void test_tt6(void **state)
{
    (void)state;
    run("tt6", 41, false);
    run("tt6", 42, true);
}

static void test_tt6e(void **state)
{
    (void)state;
    run("tt6e", 43, false);
    run("tt6e", 44, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tt6),
        cmocka_unit_test(test_tt6e),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
