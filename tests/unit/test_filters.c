/*
 * test_filters.c - compressions: round trips, files of the real tools, stacks, damage, bombs.
 *
 * Expected bytes are always the plain data that went in.
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
#include "io/crc32c.h"
#include "io/gzip.h"
#include "io/source.h"
#include "io_data.h"
#include "trod_config.h"

enum { MAGIC_MAX = 18 }; /* no filter needs more bytes to be recognised */

static const struct trod_input_options alone = {.no_thread = true};

/* Filters this build can read and write, one after the other. */
static const struct trod_filter *filter_at(size_t i)
{
    size_t n = 0;
    for (size_t k = 0; trod_filter_at(k); k++)
        if (trod_filter_at(k)->open && n++ == i)
            return trod_filter_at(k);
    return NULL;
}

/* Reading P with OPT gives EXPECTED, through the filters NAMES ("gzip zstd "). */
static void assert_reads(const struct trod_buf *p, const struct trod_input_options *opt,
                         const char *names, const struct trod_buf *expected)
{
    struct data_read r = data_read(p->p, p->n, opt);
    assert_int_equal(r.status, TROD_OK);
    assert_string_equal(r.filters, names);
    assert_true(data_same(&r.bytes, expected));
    trod_buf_fini(&r.bytes);
}

static void names_of(char *names, const struct trod_filter *f)
{
    snprintf(names, 100, "%s ", f->name);
}

static void round_trips(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,
                                   1,
                                   5,
                                   65535,
                                   65536,
                                   65537,
                                   TROD_FEED - 1,
                                   TROD_FEED,
                                   TROD_FEED + 1,
                                   TROD_WINDOW - 1,
                                   TROD_WINDOW,
                                   TROD_WINDOW + 1,
                                   5 << 20};
    for (size_t i = 0; filter_at(i); i++) {
        char names[100];
        names_of(names, filter_at(i));
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            const enum data_kind kind = (enum data_kind)(k % DATA_KINDS);
            struct trod_buf plain = data_make(kind, sizes[k], k), packed = {0};
            data_encode(filter_at(i), 0, plain.p, plain.n, k % 2 ? SIZE_MAX : 70001, &packed);
            assert_reads(&packed, NULL, names, &plain);
            assert_reads(&packed, &alone, names, &plain);
            trod_buf_fini(&plain);
            trod_buf_fini(&packed);
        }
    }
}

static void every_level(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 300000, 5);
    for (size_t i = 0; filter_at(i); i++) {
        char names[100];
        names_of(names, filter_at(i));
        for (int level = -1; level <= 12; level++) {
            struct trod_buf packed = {0};
            data_encode(filter_at(i), level, plain.p, plain.n, 100000, &packed);
            assert_true(packed.n < plain.n);
            assert_reads(&packed, &alone, names, &plain);
            trod_buf_fini(&packed);
        }
    }
    trod_buf_fini(&plain);
}

/* The codec of a build without ISA-L. */
static void zlib_alone(void **state)
{
    (void)state;
#if TROD_HAVE_ZLIB
    struct trod_buf plain = data_make(DATA_TEXT, 700000, 6), packed = {0}, twice = {0};
    data_encode(&trod_filter_gzip_zlib, 0, plain.p, plain.n, 50000, &packed);
    data_encode(&trod_filter_gzip_zlib, 9, plain.p, plain.n, SIZE_MAX, &packed);
    trod_buf_add(&twice, plain.p, plain.n);
    trod_buf_add(&twice, plain.p, plain.n);
    assert_reads(&packed, NULL, "gzip ", &twice);

    for (size_t cut = 0; cut <= packed.n; cut += cut + 200 < packed.n ? packed.n / 50 : 1) {
        struct trod_fault fault = {0};
        struct trod_source source;
        struct trod_stage *top;
        trod_source_memory(&source, packed.p, cut);
        assert_int_equal(trod_stack_force(&top, &source, &trod_filter_gzip_zlib, 0, &fault),
                         TROD_OK);
        struct trod_buf got = {0};
        size_t n;
        int status;
        trod_buf_reserve(&got, twice.n + 1);
        while ((status = trod_stage_read(top, got.p + got.n, 99999, &n)) == TROD_OK && n)
            assert_int_equal((got.n += n, trod_buf_reserve(&got, 99999)), TROD_OK);
        assert_true(got.n <= twice.n);
        assert_memory_equal(got.p, twice.p, got.n);
        assert_int_equal(status == TROD_OK, cut == packed.n || got.n == plain.n);
        if (status != TROD_OK)
            assert_int_equal(status, TROD_ERR_TRUNCATED);
        trod_stack_close(top);
        trod_source_close(&source);
        trod_buf_fini(&got);
    }
    trod_buf_fini(&plain);
    trod_buf_fini(&packed);
    trod_buf_fini(&twice);
#else
    print_message("skipped: this build has no zlib\n");
    skip();
#endif
}

/* Runs COMMAND; false when its first word is not installed. */
static bool tool(const char *name, const char *command)
{
    char check[100];
    snprintf(check, sizeof check, "command -v %s >/dev/null", name);
    if (system(check) != 0) {
        print_message("skipped: %s is not installed\n", name);
        return false;
    }
    assert_int_equal(system(command), 0);
    return true;
}

/* What the real tools write, in their variants, is read. */
static void files_of_the_tools(void **state)
{
    (void)state;
    static const struct {
        const char *name, *filter, *command;
        size_t copies; /* of the plain file */
    } cases[] = {
        {"gzip", "gzip", "gzip -9 -c plain", 1},
        {"gzip", "gzip", "gzip -1 -N -c plain; gzip -c </dev/null; gzip -c plain", 2},
        {"gzip", "gzip", "gzip -c plain; head -c 1000 /dev/zero", 1},
        {"zstd", "zstd", "zstd -q -1 -c plain", 1},
        {"zstd", "zstd", "zstd -q -19 --no-check -c plain; zstd -q -c <plain", 2},
        {"zstd", "zstd", "zstd -q -3 --long=24 -c plain", 1},
        {"zstd", "zstd", "printf '\\120\\052\\115\\030\\003\\000\\000\\000abc'; zstd -q -c plain",
         1},
        {"lz4", "lz4", "lz4 -q -c plain", 1},
        {"lz4", "lz4", "lz4 -q -9 -B4 -BD -BX --content-size -c plain; lz4 -q -B5 -c plain", 2},
        {"lz4", "lz4", "printf '\\137\\052\\115\\030\\003\\000\\000\\000abc'; lz4 -q -c plain", 1},
        {"xz", "xz", "xz -0 -c plain", 1},
        {"xz", "xz", "xz -1 --check=sha256 -c plain; xz --check=none --block-size=100000 -c plain",
         2},
        {"xz", "xz", "xz -0 -c plain; head -c 8 /dev/zero; xz -0 --check=crc32 -c plain", 2},
    };
    char *dir = test_tmpdir();
    char *plain_path = test_path(dir, "plain"), *packed_path = test_path(dir, "packed");
    struct trod_buf plain = data_make(DATA_TEXT, 400000, 9);
    test_save(plain_path, plain.p, plain.n);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!trod_filter_find(cases[i].filter)->open)
            continue;
        char command[600], names[100];
        snprintf(command, sizeof command, "cd %s && { %s; } >packed", dir, cases[i].command);
        if (!tool(cases[i].name, command))
            continue;
        struct data_read r = data_read_file(packed_path, NULL);
        assert_int_equal(r.status, TROD_OK);
        names_of(names, trod_filter_find(cases[i].filter));
        assert_string_equal(r.filters, names);
        assert_int_equal(r.bytes.n, cases[i].copies * plain.n);
        for (size_t at = 0; at < r.bytes.n; at += plain.n)
            assert_memory_equal(r.bytes.p + at, plain.p, plain.n);
        trod_buf_fini(&r.bytes);
    }
    trod_buf_fini(&plain);
    test_remove(dir);
    free(plain_path);
    free(packed_path);
    free(dir);
}

/* What we write is read by the real tools. */
static void tools_read_ours(void **state)
{
    (void)state;
    static const struct {
        const char *name, *filter;
    } cases[] = {{"gzip", "gzip"}, {"zstd", "zstd"}, {"lz4", "lz4"}, {"xz", "xz"}};
    char *dir = test_tmpdir();
    char *plain_path = test_path(dir, "plain"), *packed_path = test_path(dir, "packed");
    for (int kind = 0; kind < DATA_KINDS; kind++) {
        struct trod_buf plain = data_make((enum data_kind)kind, 2500000, 10);
        test_save(plain_path, plain.p, plain.n);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const struct trod_filter *f = trod_filter_find(cases[i].filter);
            if (!f->enc_open)
                continue;
            for (int level = 0; level < 8; level += 4) {
                struct trod_buf packed = {0};
                data_encode(f, level, plain.p, plain.n, 300000, &packed);
                test_save(packed_path, packed.p, packed.n);
                trod_buf_fini(&packed);
                char command[600];
                snprintf(command, sizeof command, "cd %s && %s -dc <packed | cmp - plain", dir,
                         cases[i].name);
                tool(cases[i].name, command);
            }
        }
        trod_buf_fini(&plain);
    }
    test_remove(dir);
    free(plain_path);
    free(packed_path);
    free(dir);
}

static void stacked(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 3000000, 11), packed = {0};
    char names[100] = "";
    trod_buf_add(&packed, plain.p, plain.n);
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf over = data_encoded(filter_at(i), &packed);
        trod_buf_fini(&packed);
        packed = over;
        char before[100];
        memcpy(before, names, sizeof before);
        snprintf(names, sizeof names, "%s %.80s", filter_at(i)->name, before);
    }
    assert_reads(&packed, NULL, names, &plain);
    assert_reads(&packed, &alone, names, &plain);
    const struct trod_input_options raw = {.raw = true};
    assert_reads(&packed, &raw, "", &packed);
    trod_buf_fini(&packed);
    trod_buf_fini(&plain);
}

static void as_deep_as_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; filter_at(i); i++) {
        struct trod_buf plain = data_make(DATA_TEXT, 1000, 12), packed = {0};
        char names[200] = "";
        trod_buf_add(&packed, plain.p, plain.n);
        for (int depth = 0; depth < TROD_FILTER_DEPTH; depth++) {
            struct trod_buf over = data_encoded(filter_at(i), &packed);
            trod_buf_fini(&packed);
            packed = over;
            snprintf(names + strlen(names), 20, "%s ", filter_at(i)->name);
        }
        assert_reads(&packed, NULL, names, &plain);
        struct trod_buf over = data_encoded(filter_at(i), &packed);
        struct data_read r = data_read(over.p, over.n, NULL);
        assert_false(r.opened);
        assert_int_equal(r.status, TROD_ERR_LIMIT);
        trod_buf_fini(&over);
        trod_buf_fini(&packed);
        trod_buf_fini(&plain);
    }
}

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

static void skippable_frames(void **state)
{
    (void)state;
    static const char *const names[] = {"zstd", "lz4"};
    struct trod_buf plain = data_make(DATA_TEXT, 90000, 16);
    struct trod_buf junk = data_make(DATA_RANDOM, 300000, 17);
    static const uint32_t sizes[] = {0, 1, 1000, 65000, 300000};
    for (size_t i = 0; i < 2; i++) {
        const struct trod_filter *f = trod_filter_find(names[i]);
        if (!f->open)
            continue;
        for (size_t k = 0; k < 5; k++) {
            uint8_t header[8];
            struct trod_buf packed = {0}, twice = {0};
            trod_store_le32(header, 0x184d2a50U + (uint32_t)k);
            trod_store_le32(header + 4, sizes[k]);
            /* at the front only zstd is taken for what it is behind more than a feed of these */
            if (i == 0 || sizes[k] < TROD_FEED) {
                trod_buf_add(&packed, header, 8);
                trod_buf_add(&packed, junk.p, sizes[k]);
            }
            for (int m = 0; m < 2; m++) {
                data_encode(f, 0, plain.p, plain.n, SIZE_MAX, &packed);
                trod_buf_add(&packed, header, 8);
                trod_buf_add(&packed, junk.p, sizes[k]);
                trod_buf_add(&twice, plain.p, plain.n);
            }
            char expected[100];
            names_of(expected, f);
            assert_reads(&packed, NULL, expected, &twice);
            trod_buf_fini(&packed);
            trod_buf_fini(&twice);
        }
    }
    trod_buf_fini(&plain);
    trod_buf_fini(&junk);
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
        cmocka_unit_test(round_trips),
        cmocka_unit_test(every_level),
        cmocka_unit_test(zlib_alone),
        cmocka_unit_test(files_of_the_tools),
        cmocka_unit_test(tools_read_ours),
        cmocka_unit_test(stacked),
        cmocka_unit_test(as_deep_as_allowed),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_flip),
        cmocka_unit_test(bombs),
        cmocka_unit_test(garbage_behind),
        cmocka_unit_test(not_compressed),
        cmocka_unit_test(skippable_frames),
        cmocka_unit_test(crc32c_is_castagnolis),
#if TROD_HAVE_SNAPPY
        cmocka_unit_test(snappy_chunks),
#endif
        cmocka_unit_test(damage_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
