/*
 * test_zip_place.c - zip archives in which an entry of the directory or a member's own header is
 * wrong: what both say is said twice, so no member whose bytes are sound is lost.
 */
#include "zip_data.h"

#include <string.h>

enum { BAD = 2, ENTRY_N = 46, HEADER_N = 30 };

/* Where the entry of the member BAD begins in the directory of Z. */
static size_t entry_of(const struct trod_buf *z, const struct part *p)
{
    size_t i = z->n - 22;

    while (trod_load_le32(z->p + i) != 0x02014b50 ||
           memcmp(z->p + i + ENTRY_N, p[BAD].name, strlen(p[BAD].name)) != 0)
        i--;
    return i;
}

/* All parts, in the order of the directory; LYING: as they lie, which is the other way round. */
static bool has_all(const struct got *g, const struct part *p, bool lying)
{
    size_t n = 0;

    for (size_t i = 0; i < PARTS; i++) {
        const struct trod_buf *data = &p[lying ? i : PARTS - 1 - i].data;

        if (g->data.n - n < data->n || (data->n && memcmp(g->data.p + n, data->p, data->n) != 0))
            return false;
        n += data->n;
    }
    return n == g->data.n;
}

/* Byte AT of Z changed by MASK: nothing is lost, and one problem at the most is said. */
static void one_byte(struct trod_buf *z, const struct part *p, size_t at, uint8_t mask,
                     const char *where, size_t byte)
{
    struct got g;

    z->p[at] ^= mask;
    read_memory(&g, z->p, z->n, false);
    z->p[at] ^= mask;
    if ((!has_all(&g, p, false) && !has_all(&g, p, true)) || g.diag.errors > 1)
        fail_msg("%s, byte %zu ^ %02x: %zu bytes, %llu problems: %s", where, byte, mask, g.data.n,
                 (unsigned long long)g.diag.errors, g.members);
    trod_buf_fini(&g.data);
}

/* All bytes of the entry and of the header of one member, names and zip64 fields included. */
static void every_byte(bool wide, bool descriptor, unsigned method)
{
    static const uint8_t masks[] = {0x01, 0x40, 0xff};
    struct part p[PARTS];
    struct trod_buf z;

    make_parts(p);
    p[BAD].method = method;
    if (descriptor) /* a stored member without size cannot be found without directory */
        p[1].method = DEFLATE;
    z = archive(p, PARTS, wide, descriptor, "");
    for (size_t k = 0; k < sizeof masks; k++) {
        const size_t entry = entry_of(&z, p), n = strlen(p[BAD].name);

        for (size_t i = 0; i < ENTRY_N + n + (wide ? 36 : 0); i++)
            one_byte(&z, p, entry + i, masks[k], "entry", i);
        for (size_t i = 0; i < HEADER_N + n; i++)
            one_byte(&z, p, (size_t)p[BAD].at + i, masks[k], "header", i);
    }
    trod_buf_fini(&z);
    drop_parts(p);
}

static void deflated(void **state)
{
    (void)state;
    every_byte(false, false, DEFLATE);
}

static void with_descriptors(void **state)
{
    (void)state;
    every_byte(false, true, DEFLATE);
}

static void wide(void **state)
{
    (void)state;
    every_byte(true, false, DEFLATE);
}

static void stored(void **state)
{
    (void)state;
    every_byte(false, false, STORED);
}

/*
 * N bytes before the archive, which begin as a header does: the directory is found
 * (APPNOTE 4.4.24), its own offsets do not count them. Nothing is lost.
 */
static void prefixed(size_t n, bool wide, bool descriptor)
{
    const uint8_t header[HEADER_N] = {'P', 'K', 3, 4};
    struct part p[PARTS];
    struct trod_buf z, whole = {0};
    size_t field;
    struct got g;

    make_parts(p);
    if (descriptor)
        p[1].method = DEFLATE;
    z = archive(p, PARTS, wide, descriptor, "");
    add(&whole, header, sizeof header);
    while (whole.n < n)
        le(&whole, 1, 0x55);
    add(&whole, z.p, z.n);
    if (wide) { /* the locator leads to the zip64 end, which leads to the directory */
        field = whole.n - 22 - 20;
        trod_store_le64(whole.p + field + 8, trod_load_le64(whole.p + field + 8) + n);
        field = field - 56 + 48;
        trod_store_le64(whole.p + field, trod_load_le64(whole.p + field) + n);
    } else {
        field = whole.n - 22 + 16;
        trod_store_le32(whole.p + field, trod_load_le32(whole.p + field) + (uint32_t)n);
    }
    read_memory(&g, whole.p, whole.n, false);
    assert_true(has_all(&g, p, false));
    assert_int_equal(g.diag.errors, 1);
    assert_string_equal(g.members, "- ");
    trod_buf_fini(&g.data);
    trod_buf_fini(&whole);
    trod_buf_fini(&z);
    drop_parts(p);
}

static void shifted(void **state)
{
    static const size_t sizes[] = {30, 31, 4096, 100001};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 4; k++)
            prefixed(sizes[i], k & 1, k & 2);
}

/* No header is where the directory says, each by another number: they follow one another. */
static void scattered(void **state)
{
    struct part p[PARTS];
    struct trod_buf z;
    struct got g;

    (void)state;
    make_parts(p);
    z = archive(p, PARTS, false, false, "");
    for (size_t i = z.n - 22; i-- > 0;)
        if (trod_load_le32(z.p + i) == 0x02014b50 && trod_load_le32(z.p + i + 42) == p[BAD].at)
            trod_store_le32(z.p + i + 42, 7);
        else if (trod_load_le32(z.p + i) == 0x02014b50 && trod_load_le32(z.p + i + 42) == p[3].at)
            trod_store_le32(z.p + i + 42, 9);
    read_memory(&g, z.p, z.n, false);
    assert_true(g.data.n >= p[0].data.n + p[1].data.n + p[BAD].data.n);
    assert_string_equal(g.members, "empty dir/sequence1 ");
    trod_buf_fini(&g.data);
    trod_buf_fini(&z);
    drop_parts(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deflated), cmocka_unit_test(with_descriptors), cmocka_unit_test(wide),
        cmocka_unit_test(stored),   cmocka_unit_test(shifted),          cmocka_unit_test(scattered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
