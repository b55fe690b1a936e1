/*
 * test_tt6.c - reading by the TT6 and TT6E drivers: rows, damage, detection, listing.
 */
#include "tt6_data.h"

static void check_row(const struct trod_batch *b, uint32_t i, const struct expect *e,
                      const uint8_t *record)
{
    assert_int_equal(b->kind[i], e->kind);
    assert_int_equal(b->has[i], e->has | ALWAYS);
    assert_int_equal(b->flags[i], e->flags);
    assert_int_equal(b->pc[i], e->pc);
    assert_int_equal(b->stream[i], 0);
    if (e->has & TROD_COL_SIZE)
        assert_int_equal(b->size[i], e->size);
    if (e->has & TROD_COL_ADDR)
        assert_int_equal(b->addr[i], e->addr);
    if (e->has & TROD_COL_TARGET)
        assert_int_equal(b->target[i], e->extra);
    if (e->has & TROD_COL_SUB)
        assert_int_equal(b->sub[i], e->extra);
    if (e->has & TROD_COL_VALUE)
        assert_int_equal(b->value[i], e->value);
    if (e->has & TROD_COL_PADDR)
        assert_int_equal(b->paddr[i], e->value);
    if (e->has & TROD_COL_RAW) {
        assert_int_equal(b->raw[i].len, 4 * e->words);
        assert_memory_equal(trod_batch_bytes(b, b->raw[i]), record, 4 * e->words);
    }
    if (e->has & TROD_COL_CODE) {
        assert_int_equal(b->code[i].len, 4);
        assert_memory_equal(trod_batch_bytes(b, b->code[i]), record, 4);
    }
    if (e->has & TROD_COL_DATA) {
        assert_int_equal(b->data[i].len, 4 * e->words - 4);
        assert_memory_equal(trod_batch_bytes(b, b->data[i]), record + 4, 4 * e->words - 4);
    }
    if ((e->has & TROD_COL_DETAIL) && e->kind == TROD_INSTR)
        assert_memory_equal(trod_batch_detail(b, i), "\0\0\0\0\0\xab\xd0\0", 8);
    else if (e->has & TROD_COL_DETAIL)
        assert_memory_equal(trod_batch_detail(b, i), record + 4, 4 * e->words);
    if (e->has & TROD_COL_TEXT)
        assert_memory_equal(trod_batch_bytes(b, b->text[i]), "dcb", 3);
}

/* Decode T with batches of CAP rows and windows that grow by STEP bytes (0: all at once). */
static void check_trace(const struct trod_format *f, const struct trace *t, uint32_t cap,
                        size_t step)
{
    void *dec = calloc(1, f->dec_size);
    struct trod_span in = {t->p, 0, 0, false};
    const uint8_t *record = t->p;
    struct trod_batch *b;
    struct trod_meta meta;
    size_t seen = 0, row = 0;
    int rc = TROD_DEC_MORE;

    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, cap), 0);
    b->meta = &meta;
    assert_int_equal(f->start(dec, f->defaults, &in, &meta, NULL), 0);
    assert_int_equal(meta.isa, TROD_ISA_PPC32);
    while (!(rc == TROD_DEC_MORE && in.last)) {
        if (rc == TROD_DEC_MORE)
            seen = step && t->n - seen > step ? seen + step : t->n;
        in.n = seen - (size_t)(in.p - t->p);
        in.last = seen == t->n;
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, NULL);
        assert_true(rc == TROD_DEC_MORE || rc == TROD_DEC_FULL);
        for (uint32_t i = 0; i < b->n; i++, row++) {
            assert_true(row < t->n_rows);
            if (b->has[i] & TROD_COL_RAW)
                record = trod_batch_bytes(b, b->raw[i]);
            check_row(b, i, &t->rows[row], record);
        }
    }
    assert_int_equal(row, t->n_rows);
    assert_int_equal(in.n, 0);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
}

static void check_rows(bool extended)
{
    static const uint32_t caps[] = {2, 3, 5, 64, TROD_BATCH_ROWS};
    static const size_t steps[] = {0, 1, 4, 7, 100};
    static struct trace t;

    make(&t, extended);
    for (size_t c = 0; c < COUNT(caps); c++)
        for (size_t s = 0; s < COUNT(steps); s++)
            check_trace(extended ? &trod_format_tt6e : &trod_format_tt6, &t, caps[c], steps[s]);
}

static void test_rows(void **state)
{
    (void)state;
    check_rows(false);
    check_rows(true);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* Every length: whole records are rows, a cut one is reported where it begins. */
static void test_cut(void **state)
{
    static struct trace t;
    static uint8_t dec[1 << 14];
    struct trod_batch *b;
    struct trod_meta meta;

    (void)state;
    make(&t, true);
    trod_meta_init(&meta);
    assert_true(trod_format_tt6e.dec_size <= sizeof dec);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    for (size_t n = 0; n <= t.n; n++) {
        struct trod_span in = {t.p, n, 0, true};
        size_t end = 0;
        int rc;

        memset(dec, 0, sizeof dec);
        trod_format_tt6e.start(dec, &amber_defaults, &in, &meta, NULL);
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = n;
        rc = trod_format_tt6e.decode(dec, &in, b, NULL);
        for (uint32_t i = 0; i < b->n; i++)
            if (b->has[i] & TROD_COL_RAW)
                end += b->raw[i].len;
        assert_int_equal(end, (size_t)(in.p - t.p));
        assert_int_equal(rc, in.n ? TROD_ERR_TRUNCATED : TROD_DEC_MORE);
        assert_true(in.n < 16);
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

/* A TT6 decoder on a few words, all there is. */
struct reading {
    struct trace t;
    struct trod_span in;
    struct trod_batch *b;
    struct trod_meta meta;
    uint8_t dec[1 << 14];
};

static void reading_begin(struct reading *r, const uint32_t *words, size_t n)
{
    memset(r, 0, sizeof *r);
    add_words(&r->t, words, n);
    r->in = (struct trod_span){r->t.p, r->t.n, 0, true};
    trod_meta_init(&r->meta);
    assert_true(trod_format_tt6.dec_size <= sizeof r->dec);
    assert_int_equal(trod_batch_new(&r->b, 64), 0);
    r->b->meta = &r->meta;
    r->b->bytes = r->in.p;
    r->b->bytes_n = r->in.n;
    trod_format_tt6.start(r->dec, &amber_defaults, &r->in, &r->meta, NULL);
}

static void reading_end(struct reading *r)
{
    trod_batch_free(r->b);
    trod_meta_fini(&r->meta);
}

/* An escape that says more words than there are. */
static void test_long_escape(void **state)
{
    static const uint32_t words[] = {0x100, 0x60000000, 0x0077ffff, 1, 2, 3};
    static struct reading r;

    (void)state;
    reading_begin(&r, words, COUNT(words));
    assert_int_equal(trod_format_tt6.decode(r.dec, &r.in, r.b, NULL), TROD_ERR_TRUNCATED);
    assert_int_equal(r.b->n, 2);
    assert_int_equal(r.in.offset, 8);
    r.in.last = false; /* it may still come */
    assert_int_equal(trod_format_tt6.decode(r.dec, &r.in, r.b, NULL), TROD_DEC_MORE);
    reading_end(&r);
}

/* ---- detection --------------------------------------------------------------------------------
 */

static int bits(bool extended, const void *p, size_t n, const char **dialect)
{
    const struct trod_format *f = extended ? &trod_format_tt6e : &trod_format_tt6;
    struct trod_probe probe = {{p, n, 0, true}, n, "trace"};

    *dialect = NULL;
    return f->bid(&probe, dialect);
}

static void test_bid(void **state)
{
    static const uint32_t loop[] = {0x38630001, 0x80610008, 0x20000008, 0x4bfffff8, 0x00001000};
    static const uint32_t cache[] = {0x7c0020ac, 0x80000000, 0x48000008, 0x0000100c};
    static const uint32_t plain[] = {0x7c0020ac, 0x60000000, 0x48000008, 0x00001010};
    static struct trace t, u;
    const char *d;
    static uint8_t zeros[65536];

    (void)state;
    t.n = u.n = 0;
    add_words(&t, common, 1);
    for (int i = 0; i < 20; i++)
        add_words(&t, loop, COUNT(loop));
    u = t;
    assert_true(bits(false, t.p, t.n, &d) >= TROD_BID_ACCEPT);
    assert_string_equal(d, "TT6 (or TT6E)");
    assert_true(bits(true, t.p, t.n, &d) <= bits(false, t.p, t.n, &d) - TROD_BID_LEAD);

    add_words(&t, cache, COUNT(cache)); /* 1000 dcbf, 1004 b 100c: chains only with an address */
    assert_true(bits(true, t.p, t.n, &d) >= TROD_BID_ACCEPT);
    assert_string_equal(d, "TT6E");
    assert_true(bits(false, t.p, t.n, &d) <= bits(true, t.p, t.n, &d) - TROD_BID_LEAD);

    add_words(&u, plain, COUNT(plain)); /* 1000 dcbf, 1004 nop, 1008 b 1010: only without */
    assert_true(bits(false, u.p, u.n, &d) >= TROD_BID_ACCEPT);
    assert_string_equal(d, "TT6");
    assert_true(bits(true, u.p, u.n, &d) <= bits(false, u.p, u.n, &d) - TROD_BID_LEAD);

    for (int i = 0; i < 20; i++) { /* joined many times over */
        static const uint32_t join[] = {0x48000000, 0x00001000};

        add_words(&u, join, COUNT(join));
        add_words(&u, loop, COUNT(loop));
    }
    assert_true(bits(false, u.p, u.n, &d) >= TROD_BID_ACCEPT);

    assert_int_equal(bits(false, zeros, sizeof zeros, &d), 0);
    assert_int_equal(bits(true, zeros, sizeof zeros, &d), 0);
    assert_int_equal(bits(false, zeros, 3, &d), 0);
}

static void test_native(void **state)
{
    static const uint32_t words[] = {0x100,      0x00200002, 0xbee0,     1,
                                     0x60000000, 0x80610008, 0xccc0,     0x4e800020,
                                     0x200,      0x7c632c2a, 0x30000001, 0x2000000d};
    static struct reading r;
    char text[512];
    struct trod_native listing = {0};
    struct trod_room room = {(uint8_t *)text, (uint8_t *)text + sizeof text};

    (void)state;
    reading_begin(&r, words, COUNT(words));
    assert_int_equal(trod_format_tt6.decode(r.dec, &r.in, r.b, NULL), TROD_DEC_MORE);
    for (uint32_t i = 0; i < r.b->n; i++)
        assert_int_equal(trod_format_tt6.native(&listing, r.b, i, &room), TROD_ENC_DONE);
    *room.p = '\0';
    assert_string_equal(text, "00000100 INITIAL_PC\n"
                              "00200002 0000bee0 00000001 ESCAPE 0x20 SYNC_SIGNAL\n"
                              "60000000 COMPUTE\n"
                              "80610008 0000ccc0 MEMORY\n"
                              "4e800020 00000200 FLOW_ALTERING\n"
                              "7c632c2a 30000001 2000000d MEMORY_EXTENDED\n");
    reading_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_long_escape), cmocka_unit_test(test_bid),
        cmocka_unit_test(test_native),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
