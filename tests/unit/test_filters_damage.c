/*
 * test_filters_damage.c - compressions: cuts, flipped bits, bombs, what is no stream, and the sums
 * and chunks of snappy framing.
 */
#include "filters_data.h"

#include "core/endian.h"
#include "io/crc32c.h"
#include "trod_config.h"

enum { MAGIC_MAX = 18 }; /* no filter needs more bytes to be recognised */

/* Every cut of a file of two members gives what is before it and says that it is cut. */
static void every_cut(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 700, 13), twice = {0};
    trod_buf_add(&twice, plain.p, plain.n);
    trod_buf_add(&twice, plain.p, plain.n);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &plain);
        const size_t one = packed.n;
        data_encode(filter_at(i), 0, plain.p, plain.n, SIZE_MAX, &packed);
        /* a chunk of snappy framing is whole by itself: what ends between two is not cut */
        const bool chunks = strcmp(filter_at(i)->name, "snappy") == 0;
        for (size_t cut = 0; cut <= packed.n; cut++) {
            struct data_read r = data_read(packed.p, cut, &alone);
            if (r.filters[0] == '\0') {
                assert_true(cut < MAGIC_MAX);
                assert_int_equal(r.bytes.n, cut);
                trod_buf_fini(&r.bytes);
                continue;
            }
            assert_true(r.bytes.n <= twice.n);
            assert_memory_equal(r.bytes.p ? r.bytes.p : twice.p, twice.p, r.bytes.n);
            const bool whole =
                cut == one || cut == packed.n || (chunks && (cut == 10 || cut == one + 10));
            assert_int_equal(r.status, whole ? TROD_OK : TROD_ERR_TRUNCATED);
            if (cut >= one)
                assert_true(r.bytes.n >= plain.n);
            trod_buf_fini(&r.bytes);
        }
        trod_buf_fini(&packed);
    }
    trod_buf_fini(&plain);
    trod_buf_fini(&twice);
}

/* No flipped bit goes unnoticed where a checksum covers it, and none does harm. */
static void every_flip(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 400, 14);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &plain);
        const bool chunks = strcmp(filter_at(i)->name, "snappy") == 0;
        size_t noticed = 0;
        for (size_t at = 0; at < packed.n; at++) {
            for (int bit = 0; bit < 9; bit++) {
                const uint8_t mask = (uint8_t)(bit < 8 ? 1 << bit : 0xff);
                packed.p[at] ^= mask;
                struct data_read r = data_read(packed.p, packed.n, &alone);
                packed.p[at] ^= mask;
                noticed += r.status != TROD_OK;
                /* not covered: the magic number, and the type of a chunk of snappy framing */
                if (r.filters[0] && r.status == TROD_OK && !(chunks && at == 10))
                    assert_true(data_same(&r.bytes, &plain));
                trod_buf_fini(&r.bytes);
            }
        }
        assert_true(noticed > packed.n * 6);
        trod_buf_fini(&packed);
    }
    trod_buf_fini(&plain);
}

/* Damage from byte AT of PACKED on loses nothing that a file cut off there gives. */
static void damaged_at(const struct trod_buf *packed, size_t at,
                       const struct trod_input_options *opt)
{
    struct data_read cut = data_read(packed->p, at, opt), r;
    struct trod_buf bad = {0};

    trod_buf_add(&bad, packed->p, packed->n);
    memset(bad.p + at, 0xff, packed->n - at < 400 ? packed->n - at : 400);
    r = data_read(bad.p, bad.n, opt);
    assert_int_equal(cut.status, TROD_ERR_TRUNCATED);
    assert_int_equal(r.status, TROD_ERR_CORRUPT);
    assert_true(r.bytes.n >= cut.bytes.n);
    if (cut.bytes.n)
        assert_memory_equal(r.bytes.p, cut.bytes.p, cut.bytes.n);
    trod_buf_fini(&cut.bytes);
    trod_buf_fini(&r.bytes);
    trod_buf_fini(&bad);
}

/* What libraries have decoded when they find an error is given out, however little was asked for.
 */
static void damage_costs_no_more_than_a_cut(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 450000, 16);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &plain);
        for (size_t k = 1; k < 20; k++) {
            damaged_at(&packed, packed.n * k / 20, &alone);
            damaged_at(&packed, packed.n * k / 20, NULL);
        }
        trod_buf_fini(&packed);
    }
    trod_buf_fini(&plain);
}

static void keep_place(void *user, const struct trod_problem *p)
{
    *(uint64_t *)user = p->at.offset;
}

/* Damage in the middle of five frames: those before and behind it are given, it is said once. */
static void reads_on(void **state)
{
    enum { FRAMES = 5, FRAME = 70001, STEP = 24 };

    (void)state;
    for (size_t i = 0; filter_at(i); i++) {
        const struct trod_filter *f = filter_at(i);
        struct trod_buf plain = data_make(DATA_TEXT, FRAMES * FRAME, 17), packed = {0};
        size_t at = 0;

        for (size_t k = 0; k < FRAMES; k++) {
            if (k == 2)
                at = packed.n;
            data_encode(f, 0, plain.p + k * FRAME, FRAME, SIZE_MAX, &packed);
        }
        memset(packed.p + at + (packed.n - at) / 8, 0xff, 40);
        for (int k = 0; f->again && k < 2; k++) {
            const size_t behind = 2 * FRAME - STEP;
            uint64_t place = 0;
            struct trod_diag diag;
            struct trod_input *in;
            struct data_read r;

            trod_diag_init(&diag, keep_place, &place);
            assert_int_equal(
                trod_input_memory(&in, packed.p, packed.n, "test", k ? &alone : NULL, &diag), 0);
            r = data_drain(in, TROD_OK);
            assert_int_equal(r.status, TROD_OK);
            assert_int_equal(diag.errors, 1);
            assert_true(r.bytes.n > 4 * FRAME - STEP && r.bytes.n < plain.n);
            assert_memory_equal(r.bytes.p, plain.p, 2 * FRAME);
            assert_memory_equal(r.bytes.p + r.bytes.n - behind, plain.p + plain.n - behind, behind);
            /* these say how much a frame or chunk makes: it is read on where a record begins */
            if (strcmp(f->name, "gzip") == 0 || strcmp(f->name, "snappy") == 0)
                assert_int_equal((plain.n - (r.bytes.n - place)) % STEP, 0);
            trod_buf_fini(&r.bytes);
        }
        trod_buf_fini(&plain);
        trod_buf_fini(&packed);
    }
}

static void bombs(void **state)
{
    (void)state;
    struct trod_buf zeros = data_make(DATA_ZERO, 80 << 20, 0);
    const struct trod_input_options strict = {.ratio = 10},
                                    strict_alone = {.no_thread = true, .ratio = 10};
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &zeros);
        for (int k = 0; k < 2; k++) {
            struct data_read r = data_read(packed.p, packed.n, k ? &strict : &strict_alone);
            assert_int_equal(r.status, TROD_ERR_LIMIT);
            assert_true(r.bytes.n >= 1 << 20 && r.bytes.n < zeros.n);
            trod_buf_fini(&r.bytes);
        }
        trod_buf_fini(&packed);

        /* a short one may expand as it likes */
        zeros.n = 4 << 20;
        packed = data_encoded(filter_at(i), &zeros);
        char names[100];
        names_of(names, filter_at(i));
        assert_reads(&packed, &strict, names, &zeros);
        zeros.n = 80 << 20;
        trod_buf_fini(&packed);
    }
    /* each stage alone is below the default limit, both together are above it */
    const struct trod_filter *gzip = trod_filter_find("gzip");
    if (gzip->open) {
        struct trod_buf one = data_encoded(gzip, &zeros);
        struct trod_buf two = data_encoded(gzip, &one);
        struct data_read r = data_read(two.p, two.n, NULL);
        assert_true(zeros.n / one.n < TROD_RATIO_DEFAULT && one.n / two.n < TROD_RATIO_DEFAULT);
        assert_int_equal(r.status, TROD_ERR_LIMIT);
        trod_buf_fini(&r.bytes);
        trod_buf_fini(&one);
        trod_buf_fini(&two);
    }
    trod_buf_fini(&zeros);
}

/* Bytes after a stream that are no stream: what came before is delivered, then it is an error. */
static void garbage_behind(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 5000, 15);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &plain);
        trod_buf_add(&packed, "This is no stream at all", 24);
        struct data_read r = data_read(packed.p, packed.n, NULL);
        assert_int_equal(r.status, TROD_ERR_CORRUPT);
        assert_true(data_same(&r.bytes, &plain));
        trod_buf_fini(&r.bytes);
        trod_buf_fini(&packed);
    }
    trod_buf_fini(&plain);
}

static void not_compressed(void **state)
{
    (void)state;
#define BYTES(s)                                                                                   \
    {                                                                                              \
        (const uint8_t *)(s), sizeof(s) - 1                                                        \
    }
    static const struct {
        const uint8_t *p;
        size_t n;
    } cases[] = {
        BYTES(""),
        BYTES("\x1f"),
        BYTES("\x1f\x8b"),
        BYTES("\x1f\x8b\x08\xe0 reserved flags are set"),
        BYTES("\x1f\x8b\x07\x00 not deflate"),
        BYTES("\x28\xb5\x2f"),
        BYTES("\x28\xb5\x2f\xfd\x08 reserved bit"),
        BYTES("\x04\x22\x4d\x18\x24\x40 another version"),
        BYTES("\x04\x22\x4d\x18\x64\x41 reserved bits"),
        BYTES("\x04\x22\x4d\x18\x64\x30 no such block size"),
        BYTES("\xfd"
              "7zXZ\0\1\4 reserved flags"),
        BYTES("\xff\x06\x00\x00sNaPpy letter case"),
        BYTES("\x50\x2a\x4d\x18\x02\x00\x00\x00xx skippable, then text"),
        BYTES("0 clk IT (0) 00000000 e3a00000 A svc_s : MOV r0,#0\n"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct data_read r = data_read(cases[i].p, cases[i].n, NULL);
        assert_int_equal(r.status, TROD_OK);
        assert_string_equal(r.filters, "");
        assert_int_equal(r.bytes.n, cases[i].n);
        trod_buf_fini(&r.bytes);
    }
}

static void crc32c_is_castagnolis(void **state)
{
    (void)state;
    /* RFC 3720, B.4 */
    uint8_t block[32] = {0};
    assert_int_equal(trod_crc32c(block, 32), 0x8a9136aaU);
    memset(block, 0xff, 32);
    assert_int_equal(trod_crc32c(block, 32), 0x62a8ab43U);
    for (uint8_t i = 0; i < 32; i++)
        block[i] = i;
    assert_int_equal(trod_crc32c(block, 32), 0x46dd794eU);
    assert_int_equal(trod_crc32c("123456789", 9), 0xe3069283U);
    struct trod_buf b = data_make(DATA_RANDOM, 300, 18);
    for (size_t n = 0; n < 300; n++)
        assert_int_equal(trod_crc32c(b.p + n % 9, n - n % 9),
                         trod_crc32c_portable(b.p + n % 9, n - n % 9));
    trod_buf_fini(&b);
}

#if TROD_HAVE_SNAPPY
/* A chunk of TYPE; with SUM its checksum is that of "hello", plus WRONG. */
static void chunk(struct trod_buf *b, uint32_t type, bool sum, uint32_t wrong, const char *data,
                  uint32_t n)
{
    uint8_t word[4];
    trod_store_le32(word, type | (n + (sum ? 4 : 0)) << 8);
    trod_buf_add(b, word, 4);
    trod_store_le32(word, trod_crc32c_mask(trod_crc32c("hello", 5)) + wrong);
    if (sum)
        trod_buf_add(b, word, 4);
    trod_buf_add(b, data, n);
}

static void snappy_reads(const struct trod_buf *b, int status, size_t hellos)
{
    struct data_read r = data_read(b->p, b->n, NULL);
    assert_string_equal(r.filters, "snappy ");
    assert_int_equal(r.status, status);
    assert_int_equal(r.bytes.n, 5 * hellos);
    for (size_t i = 0; i < hellos; i++)
        assert_memory_equal(r.bytes.p + 5 * i, "hello", 5);
    trod_buf_fini(&r.bytes);
}

/* Framing format, section 4, and DynamoRIO's two private types. */
static void snappy_chunks(void **state)
{
    (void)state;
    static const char packed[] = "\x05\x10hello"; /* length 5; a literal of 5 bytes */
    struct trod_buf good = {0};
    trod_buf_add(&good, "\xff\x06\x00\x00sNaPpY", 10);
    chunk(&good, 0x00, true, 0, packed, 7);
    chunk(&good, 0x01, true, 0, "hello", 5);
    chunk(&good, 0x02, false, 0, packed, 7);
    chunk(&good, 0x03, false, 0, "hello", 5);
    chunk(&good, 0x80, false, 0, "skipped", 7);
    chunk(&good, 0xfd, false, 0, "", 0);
    chunk(&good, 0xfe, false, 0, "\0\0\0", 3);
    trod_buf_add(&good, "\xff\x06\x00\x00sNaPpY", 10);
    chunk(&good, 0x01, true, 0, "hello", 5);
    snappy_reads(&good, TROD_OK, 5);

    const size_t n = good.n;
    static const struct {
        uint32_t type;
        bool sum;
        uint32_t wrong;
        const char *data;
        uint32_t n;
    } bad[] = {
        {0x00, true, 1, packed, 7},
        {0x01, true, 0x80000000U, "hello", 5},
        {0x00, true, 0, "\x05\x10hell", 6},
        {0x00, false, 0, "abc", 3},
        {0x02, false, 0, "", 0},
        {0x02, false, 0, "\x06\x10hello", 7},
        {0x02, false, 0, "\x81\x80\x04", 3},
        {0x04, false, 0, "", 0},
        {0x7f, false, 0, "x", 1},
        {0xff, false, 0, "sNaPpy", 6},
        {0xff, false, 0, "sNaPpYY", 7},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        good.n = n;
        chunk(&good, bad[i].type, bad[i].sum, bad[i].wrong, bad[i].data, bad[i].n);
        snappy_reads(&good, TROD_ERR_CORRUPT, 5);
    }
    good.n = n;
    struct trod_buf long_one = data_make(DATA_ZERO, 65537, 0);
    chunk(&good, 0x03, false, 0, (const char *)long_one.p, 65537);
    snappy_reads(&good, TROD_ERR_CORRUPT, 5);
    trod_buf_fini(&long_one);
    trod_buf_fini(&good);
}

/*
 * Behind damage each word may be a chunk of 61440 bytes, all of which its checksum would cover: no
 * more than a bounded number of them is tried, and chunks that follow are found.
 */
static void snappy_words(void **state)
{
    enum { WORDS = 4 << 20 };
    struct trod_buf b = {0};
    struct trod_diag diag;
    struct trod_input *in;
    struct data_read r;

    (void)state;
    trod_buf_add(&b, "\xff\x06\x00\x00sNaPpY", 10);
    chunk(&b, 0x01, true, 0, "hello", 5);
    chunk(&b, 0x04, false, 0, "", 0);
    for (size_t i = 0; i < WORDS; i++)
        trod_buf_add(&b, "\x01\x00\xf0\x00", 4);
    for (size_t i = 0; i < 1000; i++)
        chunk(&b, 0x01, true, 0, "hello", 5);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_input_memory(&in, b.p, b.n, "test", NULL, &diag), 0);
    r = data_drain(in, TROD_OK);
    assert_int_equal(r.status, TROD_OK);
    assert_int_equal(diag.errors, 1);
    assert_true(r.bytes.n > 5 * 500 && r.bytes.n <= 5 * 1001);
    assert_memory_equal(r.bytes.p + r.bytes.n - 5, "hello", 5);
    trod_buf_fini(&r.bytes);
    trod_buf_fini(&b);
}
#endif

static void keep(void *user, const struct trod_problem *p)
{
    struct trod_buf *b = user;
    trod_buf_printf(b, "%s %s %llu %s;", p->kind, p->at.path, (unsigned long long)p->at.offset,
                    p->message);
}

/* The problem is reported once, names filter and place, and comes after the good bytes. */
static void damage_is_reported_once(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 3 << 20, 20);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf packed = data_encoded(filter_at(i), &plain), said = {0};
        struct trod_diag diag;
        struct trod_input *in;
        struct trod_span span;
        size_t n = 0;
        int status;
        trod_diag_init(&diag, keep, &said);
        assert_int_equal(trod_input_memory(&in, packed.p, packed.n - 5, "x.trace", NULL, &diag),
                         TROD_OK);
        while ((status = trod_input_ahead(in, 1000, &span)) == TROD_OK && span.n) {
            assert_false(span.last);
            assert_memory_equal(span.p, plain.p + n, span.n);
            trod_input_consume(in, span.n);
            n += span.n;
        }
        assert_int_equal(status, TROD_ERR_TRUNCATED);
        assert_int_equal(trod_input_ahead(in, 1, &span), TROD_ERR_TRUNCATED);
        assert_int_equal(span.n, 0);
        assert_true(n > plain.n / 2);
        assert_int_equal(diag.errors, 1);
        trod_buf_add(&said, "", 1);
        char place[60];
        snprintf(place, sizeof place, "io.truncated x.trace %zu %s data", n, filter_at(i)->name);
        assert_memory_equal(said.p, place, strlen(place));
        snprintf(place, sizeof place, "%zu compressed bytes", packed.n - 5);
        assert_non_null(strstr((const char *)said.p, place));
        trod_input_close(in);
        trod_buf_fini(&packed);
        trod_buf_fini(&said);
    }
    trod_buf_fini(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_flip),
        cmocka_unit_test(damage_costs_no_more_than_a_cut),
        cmocka_unit_test(reads_on),
        cmocka_unit_test(bombs),
        cmocka_unit_test(garbage_behind),
        cmocka_unit_test(not_compressed),
        cmocka_unit_test(crc32c_is_castagnolis),
#if TROD_HAVE_SNAPPY
        cmocka_unit_test(snappy_chunks),
        cmocka_unit_test(snappy_words),
#endif
        cmocka_unit_test(damage_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
