/*
 * test_core.c - buffers, numbers of a stated byte order, packed ones, random numbers, tables by
 * hash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/endian.h"
#include "core/map.h"
#include "core/pack.h"
#include "core/rng.h"
#include "trod/buf.h"

static void buf_keeps_what_is_added(void **state)
{
    (void)state;
    struct trod_buf b = {0};
    struct trod_rng r;
    trod_rng_seed(&r, 1);
    static uint8_t all[1 << 16];
    size_t n = 0;
    while (n < sizeof all - 4000) {
        const size_t some = trod_rng_below(&r, 4000);
        trod_rng_fill(&r, all + n, some);
        assert_int_equal(trod_buf_add(&b, all + n, some), TROD_OK);
        n += some;
    }
    assert_int_equal(b.n, n);
    assert_true(b.cap >= b.n);
    assert_memory_equal(b.p, all, n);
    b.n = 0;
    assert_int_equal(trod_buf_reserve(&b, 10), TROD_OK);
    assert_int_equal(b.n, 0);
    trod_buf_fini(&b);
    assert_null(b.p);
    assert_int_equal(b.cap, 0);
}

static void buf_refuses_what_no_machine_has(void **state)
{
    (void)state;
    struct trod_buf b = {0};
    assert_int_equal(trod_buf_add(&b, "abc", 3), TROD_OK);
    assert_int_equal(trod_buf_reserve(&b, SIZE_MAX - 1), TROD_ERR_NOMEM);
    assert_int_equal(trod_buf_reserve(&b, SIZE_MAX / 2), TROD_ERR_NOMEM);
    assert_int_equal(b.n, 3);
    assert_memory_equal(b.p, "abc", 3);
    assert_int_equal(trod_buf_add(&b, NULL, 0), TROD_OK);
    trod_buf_fini(&b);
}

static void buf_printf_fits_every_length(void **state)
{
    (void)state;
    struct trod_buf b = {0};
    char text[1200];
    size_t at = 0;
    for (int n = 0; n < 1100; n += 7) {
        memset(text, 'a' + n % 26, (size_t)n);
        text[n] = '\0';
        assert_int_equal(trod_buf_printf(&b, "<%s>%d", text, n), TROD_OK);
        char expected[1220];
        snprintf(expected, sizeof expected, "<%s>%d", text, n);
        assert_int_equal(b.n, at + strlen(expected));
        assert_memory_equal(b.p + at, expected, strlen(expected));
        at = b.n;
    }
    trod_buf_fini(&b);
}

static void numbers_at_odd_addresses(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0xee, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xee};
    const uint8_t *p = bytes + 1;
    assert_int_equal(trod_load_be16(p), 0x0123);
    assert_int_equal(trod_load_be32(p), 0x01234567);
    assert_true(trod_load_be64(p) == UINT64_C(0x0123456789abcdef));
    assert_int_equal(trod_load_le16(p), 0x2301);
    assert_int_equal(trod_load_le32(p), 0x67452301);
    assert_true(trod_load_le64(p) == UINT64_C(0xefcdab8967452301));

    uint8_t out[10];
    memset(out, 0xee, sizeof out);
    trod_store_be64(out + 1, UINT64_C(0x0123456789abcdef));
    assert_memory_equal(out, bytes, sizeof out);
    memset(out, 0xee, sizeof out);
    trod_store_le64(out + 1, UINT64_C(0xefcdab8967452301));
    assert_memory_equal(out, bytes, sizeof out);
    memset(out + 1, 0, 8);
    trod_store_be32(out + 1, 0x01234567);
    trod_store_be16(out + 5, 0x89ab);
    trod_store_le16(out + 7, 0xefcd);
    assert_memory_equal(out, bytes, sizeof out);
    trod_store_le32(out + 1, 0x67452301);
    assert_memory_equal(out, bytes, sizeof out);
}

/* The first numbers of the authors' reference programs. */
static void random_numbers_are_the_published_ones(void **state)
{
    (void)state;
    uint64_t x = 0;
    assert_true(trod_splitmix64(&x) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(trod_splitmix64(&x) == UINT64_C(0x6e789e6aa1b965f4));
    struct trod_rng r = {{1, 2, 3, 4}};
    const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(trod_rng_next(&r) == expected[i]);
}

static void random_numbers_below(void **state)
{
    (void)state;
    struct trod_rng r;
    trod_rng_seed(&r, 7);
    unsigned seen[5] = {0};
    for (int i = 0; i < 5000; i++)
        seen[trod_rng_below(&r, 5)]++;
    for (int i = 0; i < 5; i++)
        assert_in_range(seen[i], 800, 1200);
    assert_int_equal(trod_rng_below(&r, 0), 0);
    assert_int_equal(trod_rng_below(&r, 1), 0);
    const uint64_t most = UINT64_C(3) << 62;
    for (int i = 0; i < 100; i++)
        assert_true(trod_rng_below(&r, most) < most);
}

/*
 * Keys of which many have one hash, beside a plain list: each number that was put in comes back
 * once under its hash, and no other does.
 */
static void maps_find_what_was_put_in(void **state)
{
    (void)state;
    enum { KEYS = 3000, HASHES = 700 };
    static uint32_t hash_of[KEYS];
    struct trod_map m = {.slot = NULL};
    struct trod_rng r;
    trod_rng_seed(&r, 3);
    for (int round = 0; round < 2; round++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            /* near one another and at the end of the table, so that probing wraps */
            hash_of[k] = (uint32_t)trod_rng_below(&r, HASHES) - HASHES / 2;
            assert_true(trod_map_put(&m, hash_of[k], k));
        }
        assert_int_equal(m.n, KEYS);
        for (uint32_t h = 0; h < HASHES + 2; h++) {
            const uint32_t hash = h - HASHES / 2 - 1;
            unsigned char seen[KEYS] = {0};
            uint32_t i;
            for (size_t at = hash; trod_map_next(&m, hash, &at, &i);) {
                assert_true(i < KEYS && hash_of[i] == hash && !seen[i]);
                seen[i] = 1;
            }
            for (uint32_t k = 0; k < KEYS; k++)
                assert_int_equal(seen[k], hash_of[k] == hash);
        }
        trod_map_clear(&m);
        assert_int_equal(m.n, 0);
        for (uint32_t k = 0, i; k < KEYS; k++)
            for (size_t at = hash_of[k]; trod_map_next(&m, hash_of[k], &at, &i);)
                fail();
    }
    trod_map_fini(&m);
    assert_null(m.slot);
}

/* V, and how many bytes it has at the least. */
static size_t packed_size(uint64_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

/* The first number of the N bytes at P, which lie at the end of their memory. */
static int unpack_at_end(const uint8_t *p, size_t n, uint64_t *v, size_t *left)
{
    uint8_t *copy = malloc(n ? n : 1);
    struct trod_span in = {.p = copy, .n = n};
    int rc;

    assert_non_null(copy);
    memcpy(copy, p, n);
    rc = trod_unpack(&in, v);
    *left = in.n;
    assert_true(rc < 0 || in.p == copy + n - in.n);
    free(copy);
    return rc;
}

static void packed_numbers_come_back(void **state)
{
    (void)state;
    enum { BEHIND = 12 };
    struct trod_rng r;

    trod_rng_seed(&r, 3);
    for (unsigned round = 0; round < 20000; round++) {
        const unsigned bit = round % 65;
        const uint64_t low = bit == 0 ? 0 : trod_rng_below(&r, 2) ? UINT64_MAX : trod_rng_next(&r);
        const uint64_t want = (bit == 64 ? low : low & ((UINT64_C(1) << bit) - 1));
        uint8_t bytes[10 + BEHIND];
        const size_t n = packed_size(want);
        size_t left;
        uint64_t v;

        assert_ptr_equal(trod_pack_at(bytes, want), bytes + n);
        trod_rng_fill(&r, bytes + n, BEHIND);
        for (size_t more = 0; more <= BEHIND; more++) {
            assert_int_equal(unpack_at_end(bytes, n + more, &v, &left), TROD_OK);
            assert_true(v == want);
            assert_int_equal(left, more);
        }
        for (size_t less = 0; less < n; less++)
            assert_int_equal(unpack_at_end(bytes, less, &v, &left), TROD_ERR_CORRUPT);
        if (n == 10)
            continue;
        /* a byte more than it needs, whatever lies behind */
        bytes[n - 1] |= 0x80;
        bytes[n] = 0;
        for (size_t more = 0; more < BEHIND; more++)
            assert_int_equal(unpack_at_end(bytes, n + 1 + more, &v, &left), TROD_ERR_CORRUPT);
    }
}

static void packed_numbers_have_64_bits(void **state)
{
    (void)state;
    uint8_t bytes[12];
    size_t left;
    uint64_t v;

    memset(bytes, 0xff, sizeof bytes);
    bytes[9] = 2; /* the 65th */
    assert_int_equal(unpack_at_end(bytes, sizeof bytes, &v, &left), TROD_ERR_CORRUPT);
    bytes[9] = 1;
    assert_int_equal(unpack_at_end(bytes, sizeof bytes, &v, &left), TROD_OK);
    assert_true(v == UINT64_MAX);
    bytes[9] = 0x81;
    bytes[10] = 1;
    assert_int_equal(unpack_at_end(bytes, sizeof bytes, &v, &left), TROD_ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_keeps_what_is_added),
        cmocka_unit_test(buf_refuses_what_no_machine_has),
        cmocka_unit_test(buf_printf_fits_every_length),
        cmocka_unit_test(numbers_at_odd_addresses),
        cmocka_unit_test(random_numbers_are_the_published_ones),
        cmocka_unit_test(random_numbers_below),
        cmocka_unit_test(maps_find_what_was_put_in),
        cmocka_unit_test(packed_numbers_come_back),
        cmocka_unit_test(packed_numbers_have_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
