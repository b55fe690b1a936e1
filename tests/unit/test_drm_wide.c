/*
 * test_drm_wide.c - groups of entries decoded at once give the rows that each alone gives.
 *
 * Traces of long rows of plain entries of every type, with what is none for the hot loop at any
 * place among them. The columns that counting wants, those of rows that are told where they stand,
 * and all of them are decoded in large batches (groups), in batches too small for a group, in
 * windows cut anywhere, and as a part of all columns: all must agree. The table of recent addresses
 * against a plain search.
 */
#include "drm.h"

#include "core/recent.h"
#include "trod/trod.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    LEAN = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
           TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TIME,
    FULL = LEAN | TROD_COL_PC | TROD_COL_INDEX | TROD_COL_RAW,
    CODE = FULL | TROD_COL_CODE,
    ENCODINGS = 0x200,
    REGDEPS = TROD_DRM_REGDEPS,
    X86_64 = 0x40
};

/* Types that are rows by themselves. */
static unsigned plain_type(struct trod_gen *g)
{
    static const uint8_t types[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 10, 10, 11,
                                    12, 13, 14, 15, 16, 27, 29, 31, 32, 36, 40, 46, 48, 49};

    return types[gen_below(g, sizeof types)];
}

static void header(struct trod_buf *b, uint64_t filetype)
{
    drm_put(b, 12, 25, 0, 6);
    drm_put(b, 12, 28, 12, 6);
    drm_put(b, 12, 28, 9, filetype);
    drm_put(b, 12, 22, 0, 7);
    drm_put(b, 12, 24, 0, 7);
    drm_put(b, 12, 28, 2, 1000);
    drm_put(b, 12, 28, 3, 1);
    drm_put(b, 12, 10, 3, 0x400000); /* the first instruction: the others are near it */
}

/* An instruction with its encoding, whose entries may have something behind it. */
static void coded(struct trod_gen *g, struct trod_buf *b)
{
    static const uint8_t types[] = {10, 11, 12, 14, 16, 48, 49};
    const unsigned type = types[gen_below(g, sizeof types)], n = 1 + (unsigned)gen_below(g, 15);
    const uint64_t addr = 0x400000 + gen_below(g, 600);

    const bool amiss = gen_once_in(g, 20); /* lengths that none has, or too many bytes */
    const unsigned longer = amiss && gen_once_in(g, 4) ? 80 : 0;

    for (unsigned left = n + longer, piece; left; left -= piece) {
        piece = left < 8 ? left : 8;
        if (amiss && gen_once_in(g, 2))
            drm_put(b, 12, 47, gen_once_in(g, 2) ? 0 : 9 + (unsigned)gen_below(g, 9), addr);
        drm_put(b, 12, 47, piece, n == 2 ? 0x050f : gen_below(g, 3) << 60 | addr);
    }
    drm_put(b, 12, type, gen_once_in(g, 50) ? (unsigned)gen_below(g, 2) : n, addr);
}

/* N entries, of which one in RARE is any: also types that there are none of, and empty sizes. */
static struct trod_buf trace(struct trod_gen *g, size_t n, uint64_t filetype, uint64_t rare)
{
    struct trod_buf b = {0};

    header(&b, filetype);
    for (size_t i = 0; i < n; i++) {
        const bool any = gen_once_in(g, rare);
        unsigned type = any ? (unsigned)gen_below(g, 70) : plain_type(g);
        uint64_t addr = 0x400000 + gen_below(g, 600) + (gen_below(g, 20) << 20);
        unsigned size = any && gen_once_in(g, 3) ? 0 : 1 + (unsigned)gen_below(g, 15);

        if (any && gen_once_in(g, 20))
            type = 0x7fff + (unsigned)gen_below(g, 0x8001);
        if (filetype & ENCODINGS && gen_once_in(g, 12))
            coded(g, &b);
        if (gen_once_in(g, 4))
            addr |= gen_u64(g) << 40; /* not canonical */
        if (type == 28) {
            size = 2;
            addr = 1000 + i;
        }
        if (type == 47)
            size = 1 + size % 8;
        if (type == 22 || type == 23 || type == 24 || type == 25 || type == 26)
            type = 0;
        drm_put(&b, 12, type, size, addr);
        if (type == 47)
            drm_put(&b, 12, 10, size, 0x400000 + gen_below(g, 600));
    }
    drm_put(&b, 12, 23, 0, 7);
    drm_put(&b, 12, 26, 0, 0);
    if (filetype & ENCODINGS && gen_once_in(g, 4)) /* that was not the end */
        coded(g, &b);
    return b;
}

static void agree(struct trod_gen *g, uint64_t filetype, uint64_t rare, uint32_t want)
{
    const struct trod_format *f = trod_format_find("drmemtrace", 10);
    struct trod_buf b = trace(g, 3000, filetype, rare);
    const struct test_input in = {.format = f, .p = b.p, .n = b.n};
    const struct test_how groups = {.want = want, .resume = true};
    const struct test_how single = {.want = want, .rows = 9, .resume = true};
    const struct test_how parts = {.want = want, .every = 1 + gen_below(g, 900), .resume = true};
    const struct test_how entries = {.want = want, .every = 1 + gen_below(g, 30), .resume = true};
    const struct test_how all = {.mask = want, .resume = true};

    assert_true(test_same(&in, &groups, 0, &in, &single, "small batches"));
    assert_true(test_same(&in, &groups, 0, &in, &parts, "windows"));
    assert_true(test_same(&in, &groups, 0, &in, &entries, "windows of an entry or two"));
    assert_true(test_same(&in, &groups, 0, &in, &all, "all columns"));
    trod_buf_fini(&b);
}

static void test_groups(void **state)
{
    struct trod_gen g = gen_seed(20);

    (void)state;
    for (int i = 0; i < 30; i++) {
        const uint32_t want = i % 3 == 0 ? LEAN : i % 3 == 1 ? FULL : CODE;

        agree(&g, X86_64, 1 + gen_below(&g, 200), want);
        agree(&g, X86_64 | ENCODINGS, 1 + gen_below(&g, 200), want);
        agree(&g, REGDEPS | ENCODINGS, 1 + gen_below(&g, 200), want);
        agree(&g, 0, 100000, want); /* addresses as stored; nothing but groups */
    }
}

/* An encoding of N bytes of VALUE, with REST in what its entries have behind them, then the
 * instruction at ADDR. */
static void put_coded(struct trod_buf *b, unsigned n, uint8_t value, uint8_t rest, uint64_t addr)
{
    for (unsigned at = 0; at < n; at += 8) {
        uint64_t bytes = 0;

        for (unsigned i = 0; i < 8; i++)
            bytes |= (uint64_t)(at + i < n ? value : rest) << 8 * i;
        drm_put(b, 12, 47, n - at < 8 ? n - at : 8, bytes);
    }
    drm_put(b, 12, 10, n, addr);
}

/* An encoding that comes again is the one that is known, whatever stands behind it or came before:
 * it lies where it was, with zeros behind it. */
static void test_again(void **state)
{
    enum { PLACES = 15, ROUNDS = 4 };
    const struct trod_reader_options ropt = {.struct_size = sizeof ropt, .from = "drmemtrace"};
    struct trod_slice first[PLACES + 1] = {{0}};
    struct trod_buf t = {0};
    struct trod_meta meta;
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    unsigned seen = 0;

    (void)state;
    header(&t, X86_64 | ENCODINGS);
    for (unsigned k = 0; k < ROUNDS; k++)
        for (unsigned n = 1; n <= PLACES; n++) { /* a long one before each */
            put_coded(&t, 15, (uint8_t)(0x80 + 16 * k + n), 0xee, 0x500000 + 16 * (16 * k + n));
            put_coded(&t, n, (uint8_t)n, (uint8_t)(0x55 + k), 0x400000 + 16 * n);
        }
    drm_put(&t, 12, 23, 0, 7);
    drm_put(&t, 12, 26, 0, 0);
    trod_meta_init(&meta);
    assert_int_equal(trod_input_memory(&in, t.p, t.n, "t.trace", NULL, NULL), TROD_OK);
    assert_int_equal(trod_reader_open(&r, in, &ropt, &meta, NULL), TROD_OK);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    b->want = CODE;
    while (trod_reader_next(r, b) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const uint64_t n = (b->addr[i] - 0x400000) / 16;
            const uint8_t *code = trod_batch_bytes(b, b->code[i]);

            if (b->kind[i] != TROD_INSTR || b->addr[i] <= 0x400000 || n > PLACES)
                continue;
            seen++;
            assert_int_equal(b->code[i].len, n);
            assert_int_equal(code[0], n);
            assert_int_equal(code[n], 0);
            if (first[n].len)
                assert_int_equal(b->code[i].off, first[n].off);
            first[n] = b->code[i];
        }
    assert_int_equal(seen, PLACES * ROUNDS);
    trod_batch_free(b);
    trod_reader_close(r);
    trod_meta_fini(&meta);
    trod_buf_fini(&t);
}

/* Few entries behind the header, problems that they are, and instructions (with a system call's
 * flag) that come of them. */
struct few {
    struct drm_raw entry[8];
    unsigned errors, instrs, syscalls;
    uint64_t filetype;
};

static const struct few fews[] = {
    {{{47, 3, 0x909090}, {10, 3, 0x500000}}, 0, 1, 0, X86_64},
    {{{47, 0, 0}, {47, 3, 0x909090}, {10, 3, 0x500000}}, 0, 1, 0, X86_64},
    {{{47, 9, 0x909090}, {10, 9, 0x500000}}, 2, 1, 0, X86_64},
    {{{47, 8, 1}, {47, 8, 2}, {10, 16, 0x500000}}, 2, 1, 0, X86_64},
    {{{47, 8, 1}, {47, 8, 2}, {47, 8, 3}, {10, 15, 0x500000}}, 2, 1, 0, X86_64},
    {{{47, 2, 0x050f}, {10, 2, 0x500000}}, 0, 1, 1, X86_64},
    {{{47, 2, 0x050f}, {11, 2, 0x500000}}, 0, 1, 0, X86_64},
    {{{47, 2, 0x050f}, {10, 2, 0x500000}, {10, 2, 0x500000}}, 0, 2, 2, X86_64},
    {{{47, 3, 0x05900f}, {10, 3, 0x500000}}, 0, 1, 0, X86_64},
    {{{26, 0, 0}, {47, 3, 0x909090}, {10, 3, 0x500000}}, 1, 1, 0, X86_64},
    {{{47, 8, 1}, {10, 0, 0x500000}}, 0, 0, 0, REGDEPS},
};

static void test_few(void **state)
{
    enum { PLAIN = 40 };

    (void)state;
    for (size_t k = 0; k < sizeof fews / sizeof *fews; k++) {
        const struct few *w = &fews[k];
        struct trod_buf b = {0};
        struct test_input in = {.format = trod_format_find("drmemtrace", 10)};
        struct test_rows rows;
        unsigned instrs = 0, syscalls = 0;

        header(&b, w->filetype | ENCODINGS);
        b.n -= 12; /* the instruction without an encoding */
        put_coded(&b, 3, 0x90, 0, 0x600000);
        for (unsigned i = 0; i < PLAIN; i++)
            drm_put(&b, 12, 10, 3, 0x600000);
        for (size_t i = 0; i < 8 && (w->entry[i].type || w->entry[i].size); i++)
            drm_put(&b, 12, w->entry[i].type, w->entry[i].size, w->entry[i].addr);
        for (unsigned i = 0; i < 2 && w->entry[0].type != 26; i++)
            drm_put(&b, 12, 0, 8, 0x700000);
        if (w->entry[0].type != 26) {
            drm_put(&b, 12, 23, 0, 7);
            drm_put(&b, 12, 26, 0, 0);
        }
        in.p = b.p;
        in.n = b.n;
        rows = test_decode_text(&in, &(struct test_how){.want = CODE, .resume = true});
        for (const char *at = (const char *)rows.text.p; (at = strstr(at, "INSTR ")); instrs++) {
            const char *flags = strstr(at, "flags=");

            assert_non_null(flags);
            syscalls +=
                (strtoul(flags + strlen("flags="), NULL, 16) & TROD_F_BRANCH) == TROD_BR_SYSCALL;
            at++;
        }
        instrs -= PLAIN + 1;
        if (rows.errors != w->errors || instrs != w->instrs || syscalls != w->syscalls)
            fail_msg("case %zu: %d errors, %u instructions, %u system calls", k, (int)rows.errors,
                     instrs, syscalls);
        test_rows_free(&rows);
        trod_buf_fini(&b);
    }
}

/* Put addresses into a table and a list; what the table has is in the list, what came last it has.
 */
static void test_recent(void **state)
{
    enum { N = 5000, TAG = 5 };
    struct trod_recent *t = trod_recent_new();
    struct trod_gen g = gen_seed(21);
    static uint64_t put[N];
    uint64_t ask[64];

    (void)state;
    assert_non_null(t);
    for (unsigned n = 0; n < N; n++) {
        unsigned tag = gen_once_in(&g, 10) ? TAG + 1 : TAG;
        uint64_t lacks;

        put[n] = gen_below(&g, 4096) | (gen_below(&g, 3) << 22) | (gen_below(&g, 2) << 63);
        trod_recent_put(t, put[n], tag, UINT64_C(1) << (put[n] & 63));
        assert_true(trod_recent_has(t, put[n], tag));
        put[n] = tag == TAG ? put[n] : TROD_NOWHERE;
        if (n % 50)
            continue;
        for (unsigned i = 0; i < 64; i++)
            ask[i] = gen_once_in(&g, 3) ? gen_below(&g, 4096) | (gen_below(&g, 3) << 22)
                                        : put[gen_below(&g, n + 1)];
        lacks = trod_recent_lacks(t, ask, UINT64_MAX, TAG);
        for (unsigned i = 0; i < 64; i++) {
            bool there = false;

            for (unsigned k = 0; k <= n; k++)
                there |= put[k] == ask[i] && ask[i] != TROD_NOWHERE;
            assert_true(there || lacks >> i & 1);
        }
#if TROD_AVX2
        if (trod_wide()) {
            uint64_t mask = gen_u64(&g);

            assert_true(trod_recent_lacks_wide(t, ask, mask, 64, TAG) == (lacks & mask));
            assert_true(trod_recent_lacks_wide(t, ask, mask & 0xffff, 16, TAG) ==
                        (lacks & mask & 0xffff));
        }
#endif
    }
    trod_recent_clear(t);
    assert_true(trod_recent_lacks(t, ask, UINT64_MAX, TAG) == UINT64_MAX);
    trod_recent_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_recent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
