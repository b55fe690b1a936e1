/*
 * test_filters.c - compressions: round trips, files of the real tools, stacks, frames to skip.
 */
#include "filters_data.h"

#include "core/endian.h"
#include "fewer.h"
#include "io/gzip.h"
#include "io/source.h"
#include "trod_config.h"

#if TROD_HAVE_ZLIB
#include <zlib.h>
#endif

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
    struct trod_buf plain = data_make(DATA_TEXT, test_fewer(300000, 100000), 5);
    const int step = test_step() > 1 ? 5 : 1;
    for (size_t i = 0; filter_at(i); i++) {
        char names[100];
        names_of(names, filter_at(i));
        for (int level = -1; level <= 12; level += step) {
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

#if TROD_HAVE_ZLIB
static void expect_status(const uint8_t *p, size_t n, int status)
{
    struct data_read r = data_read(p, n, &alone);

    assert_int_equal(r.status, status);
    trod_buf_fini(&r.bytes);
}
#endif

/* zlib's own wrapper: any level, whole, cut, damaged, with data behind it; what only looks like it.
 */
static void zlib_streams(void **state)
{
    (void)state;
#if TROD_HAVE_ZLIB
    static const size_t sizes[] = {0, 1, 30, 5000, TROD_FEED, 1 << 20};
    struct trod_buf text = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int kind = 0; kind < DATA_KINDS; kind++) {
            struct trod_buf plain = data_make((enum data_kind)kind, sizes[i], i), packed = {0};
            uLongf n = compressBound(plain.n);

            assert_int_equal(trod_buf_reserve(&packed, n + 1), 0);
            assert_int_equal(compress2(packed.p, &n, plain.p, plain.n, (int)(i + 1) % 10), Z_OK);
            packed.n = n;
            assert_reads(&packed, NULL, "zlib ", &plain);
            assert_reads(&packed, &alone, "zlib ", &plain);
            packed.p[n] = 'x';
            if (n > 600) { /* below that, what cannot be inflated is plain data */
                expect_status(packed.p, n - 1, TROD_ERR_TRUNCATED);
                expect_status(packed.p, n / 2, TROD_ERR_TRUNCATED);
                expect_status(packed.p, n + 1, TROD_ERR_CORRUPT);
                packed.p[n - 1] ^= 1; /* of the checksum */
                expect_status(packed.p, n, TROD_ERR_CORRUPT);
            }
            trod_buf_fini(&plain);
            trod_buf_fini(&packed);
        }
    static const char words[] =
        "x\x9c and more text that cannot be inflated, beyond 64 bytes of it";

    trod_buf_add(&text, words, sizeof words);
    assert_reads(&text, NULL, "", &text);
    text.n = 1;
    assert_reads(&text, NULL, "", &text);
    trod_buf_fini(&text);
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
        struct trod_buf plain = data_make((enum data_kind)kind, test_fewer(2500000, 400000), 10);
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
    struct trod_buf plain = data_make(DATA_TEXT, test_fewer(3000000, 400000), 11), packed = {0};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),        cmocka_unit_test(every_level),
        cmocka_unit_test(zlib_alone),         cmocka_unit_test(files_of_the_tools),
        cmocka_unit_test(tools_read_ours),    cmocka_unit_test(stacked),
        cmocka_unit_test(as_deep_as_allowed), cmocka_unit_test(skippable_frames),
        cmocka_unit_test(zlib_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
