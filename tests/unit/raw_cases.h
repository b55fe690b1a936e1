/*
 * raw_cases.h - raw thread files made by hand, for the tests of what becomes of them (test_raw*.c).
 *
 * A case names code that lies in an encodings.bin at address TEXT.
 */
#ifndef TROD_TESTS_RAW_CASES_H
#define TROD_TESTS_RAW_CASES_H

#include "drm.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { TEXT = 0x401000 };

#define EXT(sub, b, a) (UINT64_C(6) << 61 | (uint64_t)(sub) << 56 | (uint64_t)(b) << 48 | (a))
#define M(number, a)   EXT(2, number, a)
#define PC(off, count)                                                                             \
    (UINT64_C(5) << 61 | (uint64_t)(count) << 49 | UINT64_C(0xffff) << 33 | (off))
#define TS(t)  (UINT64_C(4) << 61 | (t))
#define FOOTER EXT(1, 0, 0)
#define END    UINT64_MAX

#define EXIT                                                                                       \
    {23, 4, 7},                                                                                    \
    {                                                                                              \
        26, 0, 0                                                                                   \
    }

struct raw_case {
    const char *name;
    uint64_t filetype;
    unsigned version, problems, warnings;
    uint64_t raw[24];
    struct drm_raw want[72];
};

static void put(struct trod_buf *b, uint64_t e)
{
    uint8_t p[8];

    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(e >> 8 * i);
    assert_int_equal(trod_buf_add(b, p, sizeof p), 0);
}

/* Case C as a raw file. */
static struct trod_buf raw_of(const struct raw_case *c)
{
    struct trod_buf b = {0};

    put(&b,
        c->version >= 5 ? EXT(4, c->version, c->filetype) : EXT(0, c->filetype & 0xff, c->version));
    put(&b, UINT64_C(2) << 61 | 7);
    put(&b, UINT64_C(3) << 61 | 6);
    put(&b, M(10, 64));
    for (size_t k = 0; c->raw[k] != END; k++)
        put(&b, c->raw[k]);
    return b;
}

/* A raw folder below TOP with the N bytes CODE. */
static char *folder(const char *top, const uint8_t *code, size_t n)
{
    const uint64_t head[] = {1, 0, 24 + n, 0, TEXT};
    char *dir = test_path(top, "raw"), *path;
    struct trod_buf b = {0};

    assert_int_equal(mkdir(dir, 0700), 0);
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        put(&b, head[k]);
    assert_int_equal(trod_buf_add(&b, code, n), 0);
    path = test_path(dir, "encodings.bin");
    test_save(path, b.p, b.n);
    free(path);
    path = test_path(dir, "modules.log");
    test_save(path, "Module Table: version 5, count 0\nColumns: id\n", 45);
    free(path);
    trod_buf_fini(&b);
    return dir;
}

/* The entries that the rows of the trace in DIR were. Returns what reading did. */
static int read_trace(const char *dir, struct trod_buf *out, struct trod_diag *diag)
{
    struct trod_trace_options opt = {.struct_size = sizeof opt};
    struct trod_trace *t;
    struct trod_batch *b;
    int rc = trod_trace_open(&t, &dir, 1, &opt, diag);

    if (rc < 0)
        return rc;
    while ((rc = trod_trace_next(t, &b)) == 1)
        for (uint32_t i = 0; i < b->n; i++)
            if (b->has[i] & TROD_COL_RAW)
                assert_int_equal(trod_buf_add(out, trod_batch_bytes(b, b->raw[i]), b->raw[i].len),
                                 0);
    trod_trace_close(t);
    return rc;
}

/* What a case becomes, entry by entry. */
static void check_case(const struct raw_case *c, const char *dir, const char *path)
{
    struct trod_buf raw = raw_of(c), got = {0}, want = {0};
    const uint64_t version = c->version < 4 ? 2 : 7;
    struct trod_diag diag;

    drm_put(&want, 12, 25, 0, version);
    drm_put(&want, 12, 28, 12, version);
    drm_put(&want, 12, 28, 9, c->filetype | 0x200);
    drm_put(&want, 12, 22, 4, 7);
    drm_put(&want, 12, 24, 4, 6);
    drm_put(&want, 12, 28, 10, 64);
    drm_put(&want, 12, 28, 20, 10000000);
    for (size_t k = 0; k == 0 || c->want[k - 1].type != 26; k++)
        drm_put(&want, 12, c->want[k].type, c->want[k].size, c->want[k].addr);
    test_save(path, raw.p, raw.n);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(read_trace(dir, &got, &diag), 0);
    if (got.n != want.n || memcmp(got.p, want.p, got.n) != 0)
        print_error("case '%s'\n", c->name);
    for (size_t k = 0; k + 12 <= got.n && k + 12 <= want.n; k += 12)
        if (memcmp(got.p + k, want.p + k, 12) != 0)
            fail_msg("entry %zu: type %u", k / 12, got.p[k]);
    assert_int_equal(got.n, want.n);
    assert_int_equal(diag.errors, c->problems);
    assert_int_equal(diag.warnings, c->warnings);
    trod_buf_fini(&raw), trod_buf_fini(&got), trod_buf_fini(&want);
}

static inline void check_cases(const struct raw_case *c, size_t n, const uint8_t *code,
                               size_t bytes)
{
    char *top = test_tmpdir(), *dir = folder(top, code, bytes);
    char *path = test_path(dir, "drmemtrace.a.1.raw");

    for (size_t i = 0; i < n; i++)
        check_case(&c[i], dir, path);
    test_remove(top);
    free(top), free(dir), free(path);
}

/* The same with code of N instructions of AArch64. */
static inline void check_words(const struct raw_case *c, size_t n, const uint32_t *words,
                               size_t n_words)
{
    uint8_t code[256];

    assert_true(4 * n_words <= sizeof code);
    for (size_t i = 0; i < 4 * n_words; i++)
        code[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    check_cases(c, n, code, 4 * n_words);
}

#endif
