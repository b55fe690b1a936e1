/*
 * test_byu.c - reading by the BYU drivers against rows worked out by hand from docs/formats/byu.md.
 */
#include "byu_data.h"
#include "gen.h"

struct expect {
    uint8_t kind;
    uint16_t sub;
    uint32_t flags, size;
    uint64_t addr, time;
    uint32_t stream;
};

struct expected {
    const struct expect *e;
    size_t n, record;
    const uint8_t *bytes;
    bool timed;
};

static void check_row(const struct trod_batch *b, uint32_t i, void *user)
{
    const struct expected *x = user;
    uint64_t at = b->first + i;
    const struct expect *e = &x->e[at];

    assert_true(at < x->n);
    assert_int_equal(b->kind[i], e->kind);
    assert_int_equal(b->sub[i], e->sub);
    assert_int_equal(b->flags[i], e->flags);
    assert_int_equal(b->size[i], e->size);
    assert_int_equal(b->addr[i], e->addr);
    assert_int_equal(b->paddr[i], e->addr);
    assert_int_equal(b->raw[i].len, x->record);
    assert_memory_equal(trod_batch_bytes(b, b->raw[i]), x->bytes + at * x->record, x->record);
    assert_memory_equal(trod_batch_detail(b, i), x->bytes + at * x->record, x->record);
    if (x->timed) {
        assert_int_equal(b->time[i], e->time);
        assert_int_equal(b->stream[i], e->stream);
    }
}

static const struct expect rows6[] = {
    {TROD_READ, 12, 0, 8, 0x1000, 0, 0},
    {TROD_WRITE, 15, 0, 4, 0x100c, 0, 0},
    {TROD_READ, 13, TROD_F_UNCACHED, 1, 0xffffffff, 0, 0},
    {TROD_WRITE, 14, 0, 1, 0x12345678, 0, 0},
    {TROD_BUS, 8, TROD_F_IFETCH | TROD_F_HOLES, 4, 0x2000, 0, 0},
    {TROD_BUS, 9, TROD_F_IFETCH | TROD_F_UNCACHED, 0, 0x2000, 0, 0},
    {TROD_READ, 5, TROD_F_IO, 1, 0x3f9, 0, 0},
    {TROD_WRITE, 7, TROD_F_IO, 2, 0x3f8, 0, 0},
    {TROD_MARKER, 1, 0, 0, 4, 0, 0},
    {TROD_MARKER, 3, 0, 1, 2, 0, 0},
    {TROD_MARKER, 0, 0, 8, 0, 0, 0},
    {TROD_MARKER, 2, 0, 8, 0, 0, 0},
    {TROD_MARKER, 4, 0, 8, 0, 0, 0},
    {TROD_MARKER, 6, 0, 8, 0, 0, 0},
    {TROD_MARKER, 10, 0, 8, 0, 0, 0},
    {TROD_MARKER, 11, 0, 8, 0, 0, 0},
};

static const struct expect rows12[] = {
    {TROD_BUS, 0, TROD_F_IFETCH | TROD_F_UNCACHED, 8, 0x41f760, 0, 0},
    {TROD_READ, 1, 0, 32, 0x5e78900, 0x139, 1},
    {TROD_WRITE, 3, 0, 4, 0x13270901, 0x80000151, 0},
    {TROD_READ, 2, 0, 16, 0xffffffc0, 0x100000151, 2},
    {TROD_READ, 0x10, TROD_F_IO, 1, 0x3f8, 0x100000151, 1},
    {TROD_WRITE, 0x11, TROD_F_IO, 2, 0x3f8, 0x100000152, 1},
    {TROD_MARKER, 0x20, 0, 0, 0, 0x100000153, 0},
    {TROD_NOTE, 0x7f, 0, 3, 0x11223344, 0x200000152, 0},
};

static void check_trace(const struct trod_format *f, const uint8_t *p, size_t n,
                        const struct expect *e, size_t rows, size_t record)
{
    static const uint32_t caps[] = {1, 2, 7, TROD_BATCH_ROWS};
    static const size_t steps[] = {0, 1, 5, 13};
    struct expected x = {e, rows, record, p, f == &trod_format_byu12};

    for (size_t c = 0; c < 4; c++)
        for (size_t s = 0; s < 4; s++)
            for (size_t cut = 0; cut < record; cut++) {
                struct run r = {
                    .f = f, .cap = caps[c], .step = steps[s], .row = check_row, .user = &x};

                run(&r, p, n - cut);
                assert_int_equal(r.rows, cut ? rows - 1 : rows);
                assert_int_equal(r.rc, cut ? TROD_ERR_TRUNCATED : 0);
                assert_int_equal(r.errors, cut ? 1 : 0);
                assert_int_equal(r.eaten, cut ? n - record : n);
                trod_meta_fini(&r.meta);
            }
}

static void test_rows6(void **state)
{
    (void)state;
    check_trace(&trod_format_byu6, trace6, sizeof trace6, rows6, sizeof rows6 / sizeof *rows6, 6);
}

static void test_rows12(void **state)
{
    (void)state;
    check_trace(&trod_format_byu12, trace12, sizeof trace12, rows12, sizeof rows12 / sizeof *rows12,
                12);
}

/* All 256 enables, against a loop over bits. */
static void check_enables(const struct trod_batch *b, uint32_t i, void *user)
{
    unsigned e = *(const uint8_t *)user, count = 0, lowest = 8;

    for (unsigned k = 8; k-- > 0;)
        if (!(e & 1u << k)) {
            count++;
            lowest = k;
        }
    bool gap = false;

    for (unsigned k = lowest; k < lowest + count; k++)
        gap |= k > 7 || (e >> k & 1);
    assert_int_equal(b->flags[i], gap && count ? TROD_F_HOLES : 0);
    assert_int_equal(b->size[i], count);
    assert_int_equal(b->addr[i], lowest < 8 ? 0x12345678 + lowest : 0x1234567d);
}

static void test_enables(void **state)
{
    (void)state;
    for (unsigned e = 0; e < 256; e++) {
        const uint8_t p[] = {0x12, 0x34, 0x56, 0x7d, (uint8_t)e, 0xc0};
        uint8_t mask = (uint8_t)e;
        struct run r = {.f = &trod_format_byu6, .cap = 1, .row = check_enables, .user = &mask};

        run(&r, p, sizeof p);
        assert_int_equal(r.rows, 1);
        trod_meta_fini(&r.meta);
    }
}

struct text {
    char s[4096];
    size_t n;
    const struct trod_format *f;
};

static void take_native(const struct trod_batch *b, uint32_t i, void *user)
{
    struct text *t = user;
    uint8_t *p = (uint8_t *)t->s + t->n;
    struct trod_native listing = {0};
    struct trod_room none = {p, p + 1}, room = {p, (uint8_t *)t->s + sizeof t->s};

    assert_int_equal(t->f->native(&listing, b, i, &none), TROD_ENC_FULL);
    assert_ptr_equal(none.p, p);
    assert_int_equal(t->f->native(&listing, b, i, &room), TROD_ENC_DONE);
    t->n = (size_t)(room.p - (uint8_t *)t->s);
}

static void test_native6(void **state)
{
    static struct text t = {.f = &trod_format_byu6};
    struct run r = {.f = t.f, .cap = 100, .row = take_native, .user = &t};

    (void)state;
    run(&r, trace6, sizeof trace6);
    trod_meta_fini(&r.meta);
    t.s[t.n] = '\0';
    assert_string_equal(t.s, "00001000 00 D_READ\n"
                             "00001008 0f D_WRITE\n"
                             "fffffff8 7f NC_D_READ\n"
                             "12345678 fe WRITE_BACK\n"
                             "00002000 5a I_FETCH\n"
                             "00002000 ff NC_I_FETCH\n"
                             "000003f8 fd IO_READ\n"
                             "000003f8 fc IO_WRITE\n"
                             "00000004 ff INT_ACK\n"
                             "00000000 fb SPECIAL\n"
                             "00000003 00 INVALID\n"
                             "00000000 00 INVALID\n"
                             "00000000 00 INVALID\n"
                             "00000000 00 INVALID\n"
                             "00000000 00 INVALID\n"
                             "00000000 00 INVALID\n");
}

static void test_native12(void **state)
{
    static struct text t = {.f = &trod_format_byu12};
    struct run r = {.f = t.f, .cap = 100, .row = take_native, .user = &t};

    (void)state;
    run(&r, trace12, sizeof trace12);
    trod_meta_fini(&r.meta);
    t.s[t.n] = '\0';
    assert_string_equal(t.s, "0041f760 08 00 00 ffffffff FETCH\n"
                             "05e78900 20 03 01 00000139 MEMREAD\n"
                             "13270901 04 0a 00 80000018 MEMWRITE\n"
                             "ffffffc0 10 01 07 80000000 MEMREADINV\n"
                             "000003f8 01 00 01 00000000 IOREAD\n"
                             "000003f8 02 00 01 00000001 IOWRITE\n"
                             "00000000 00 10 00 00000001 DEFERREPLY\n"
                             "11223344 03 00 00 ffffffff 0x7f\n");
}

/* ---- the constant columns ---------------------------------------------------------------------
 */

/* A batch goes from driver to driver and through a filter: constant columns must be right each
 * time. */
static void test_constant(void **state)
{
    struct trod_batch *b;
    uint8_t keep[8] = {0, 1, 0, 1, 1, 1, 1, 1};
    struct trod_meta meta;
    uint8_t dec[2048] = {0};

    (void)state;
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, 8), 0);
    b->meta = &meta;
    for (int round = 0; round < 6; round++) {
        const struct trod_format *f = round % 3 ? &trod_format_byu6 : &trod_format_byu12;
        const uint8_t *p = round % 3 ? trace6 : trace12;
        uint32_t record = round % 3 ? 6 : 12;
        struct trod_span in = {p, 8 * record, 0, true};

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        assert_true(f->dec_size <= sizeof dec);
        memset(dec, 0, sizeof dec);
        assert_int_equal(f->start(dec, NULL, &in, &meta, NULL), 0);
        assert_int_equal(f->decode(dec, &in, b, NULL), TROD_DEC_MORE);
        assert_int_equal(b->n, 8);
        for (uint32_t i = 0; i < 8; i++) {
            assert_int_equal(b->has[i], f->reads);
            assert_int_equal(b->raw[i].off, i * record);
            assert_int_equal(b->raw[i].len, record);
            assert_int_equal(b->detail[i].off, i * record);
        }
        if (round & 1)
            assert_int_equal(trod_batch_keep(b, keep), 6);
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

/* ---- detection --------------------------------------------------------------------------------
 */

static int bits(const struct trod_format *f, const void *p, size_t n, const char **dialect)
{
    struct trod_probe probe = {{p, n, 0, true}, n, "trace"};

    *dialect = NULL;
    return f->bid(&probe, dialect);
}

/* Short traces of a bus: accesses near each other, with instructions between them. */
static void test_short(void **state)
{
    static const uint8_t codes[] = {0x80, 0xc0, 0xf0, 0xe0, 0x90, 0xd0};

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        struct trod_gen g = gen_seed(i);
        uint8_t p[100 * 6];
        const size_t n = 20 + gen_below(&g, 81);
        const struct trod_probe probe = {{p, 6 * n, 0, true}, 6 * n, "trace"};
        struct trod_candidate best = {0};
        struct trod_diag quiet;

        for (size_t k = 0; k < n; k++) {
            const uint64_t address = 0x100000 + 8 * gen_below(&g, 0x40000);

            for (unsigned byte = 0; byte < 4; byte++)
                p[6 * k + byte] = (uint8_t)(address >> (24 - 8 * byte));
            p[6 * k + 4] = (uint8_t)(gen_below(&g, 2) ? 0 : ~(1u << gen_below(&g, 8)));
            p[6 * k + 5] = codes[gen_below(&g, sizeof codes)];
        }
        trod_diag_init(&quiet, NULL, NULL);
        assert_int_equal(trod_detect(&probe, NULL, 0, &best, &quiet), TROD_OK);
        assert_string_equal(best.format->name, "byu6");
    }
}

static void test_bid(void **state)
{
    static uint8_t p[60000];
    const char *dialect;

    (void)state;
    assert_int_equal(bits(&trod_format_byu6, p, sizeof p, &dialect), 0); /* zeros are no trace */
    assert_int_equal(bits(&trod_format_byu12, p, sizeof p, &dialect), 0);
    assert_int_equal(bits(&trod_format_byu6, p, 0, &dialect), 0);
    assert_int_equal(bits(&trod_format_byu12, p, 0, &dialect), 0);
    for (size_t i = 0; i < sizeof p; i++)
        p[i] = trace6[i % 6];
    assert_true(bits(&trod_format_byu6, p, sizeof p, &dialect) < TROD_BID_ACCEPT);
    for (size_t i = 0; i < sizeof p; i += 6) {
        p[i + 2] = (uint8_t)(i * 37 >> 3);
        p[i + 5] = i % 5 ? 0x90 : 0xd0;
    }
    assert_true(bits(&trod_format_byu6, p, sizeof p, &dialect) >= TROD_BID_ACCEPT);
    assert_string_equal(dialect, "complete");
    assert_true(bits(&trod_format_byu12, p, sizeof p, &dialect) < TROD_BID_ACCEPT - TROD_BID_LEAD);
    p[5] = 0xc0;
    assert_true(bits(&trod_format_byu6, p, sizeof p, &dialect) >= TROD_BID_ACCEPT);
    assert_string_equal(dialect, "cached");
    for (size_t i = 0; i < sizeof p; i += 12) {
        const uint8_t record[] = {0, (uint8_t)(i * 37 >> 3), 7, 0, i % 5 ? 0 : 1, 8, 3, 0, 9, 0, 0,
                                  0};

        memcpy(p + i, record, 12);
    }
    assert_true(bits(&trod_format_byu12, p, sizeof p, &dialect) >= TROD_BID_ACCEPT);
    assert_int_equal(bits(&trod_format_byu6, p, sizeof p, &dialect), 0);
    assert_int_equal(bits(&trod_format_byu6, trace12, sizeof trace12, &dialect), 0);
}

/* ---- a real trace ------------------------------------------------------------------------------
 */

struct counts {
    uint64_t kind[TROD_KINDS], sub[256], size[33], bytes, sum, time;
    const uint8_t *p;
};

static void take_counts(const struct trod_batch *b, uint32_t i, void *user)
{
    struct counts *c = user;

    c->kind[b->kind[i]]++;
    c->sub[b->sub[i] & 255]++;
    c->size[b->size[i] <= 32 ? b->size[i] : 0]++;
    c->bytes += b->size[i];
    c->sum = c->sum * 31 + b->addr[i];
    c->time = b->time[i];
}

/* The file's own bytes, read without the driver. */
static void oracle(struct counts *c, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i + 12 <= n; i += 12) {
        uint64_t address = (uint64_t)p[i] | (uint64_t)p[i + 1] << 8 | (uint64_t)p[i + 2] << 16 |
                           (uint64_t)p[i + 3] << 24;
        uint64_t delta = (uint64_t)p[i + 8] | (uint64_t)p[i + 9] << 8 | (uint64_t)p[i + 10] << 16 |
                         (uint64_t)p[i + 11] << 24;

        c->kind[p[i + 4] == 0   ? TROD_BUS
                : p[i + 4] < 3  ? TROD_READ
                : p[i + 4] == 3 ? TROD_WRITE
                                : TROD_MARKER]++;
        c->sub[p[i + 4]]++;
        c->size[p[i + 5]]++;
        c->bytes += p[i + 5];
        c->sum = c->sum * 31 + address;
        c->time += i == 0 && delta == 0xffffffff ? 0 : delta;
    }
}

static void test_course(void **state)
{
    const char *dir = getenv("TROD_TRACES"), *source = getenv("TROD_SOURCE"), *dialect;
    static uint8_t bytes[1 << 20];
    struct counts want = {0}, got = {0};
    struct run r = {
        .f = &trod_format_byu12, .cap = 1000, .step = 5000, .row = take_counts, .user = &got};
    char path[4096];
    FILE *f;
    size_t n;

    (void)state;
    if (dir)
        snprintf(path, sizeof path, "%s/byu12/course.tr", dir);
    else
        snprintf(path, sizeof path, "%s/../shared/traces/byu12/course.tr", source ? source : ".");
    if (!(f = fopen(path, "rb"))) {
        print_message("%s is not there: the real trace is not tested\n", path);
        skip();
    }
    n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_int_equal(n, 22276 * 12);
    oracle(&want, bytes, n);
    run(&r, bytes, n);
    trod_meta_fini(&r.meta);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.rows, 22276);
    assert_memory_equal(&got, &want, sizeof got);
    assert_true(bits(&trod_format_byu12, bytes, 65536, &dialect) >= TROD_BID_ACCEPT);
    assert_int_equal(bits(&trod_format_byu6, bytes, 65536, &dialect), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows6),    cmocka_unit_test(test_rows12),
        cmocka_unit_test(test_enables),  cmocka_unit_test(test_native6),
        cmocka_unit_test(test_native12), cmocka_unit_test(test_constant),
        cmocka_unit_test(test_bid),      cmocka_unit_test(test_short),
        cmocka_unit_test(test_course),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
