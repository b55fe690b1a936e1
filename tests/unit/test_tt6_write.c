/*
 * test_tt6_write.c - writing by the TT6 and TT6E drivers: what they read, each other's traces,
 * several, and parts of one.
 */
#include "tt6_data.h"

struct written {
    uint8_t p[4096];
    size_t n;
    struct trod_diag diag;
    struct trod_loss loss;
    int rc;
};

/* The rows of the N traces T, one after the other, of format FROM, to format TO. */
static void convert(const struct trod_format *from, const struct trace *t, size_t n,
                    const struct trod_format *to, const struct amber_options *opt, uint32_t drop,
                    struct written *w)
{
    void *dec = calloc(1, from->dec_size), *enc = calloc(1, to->enc_size);
    struct trod_batch *b;
    struct trod_meta meta;
    struct trod_room room = {w->p, w->p + sizeof w->p};

    trod_meta_init(&meta);
    trod_diag_init(&w->diag, NULL, NULL);
    meta.format = from->name;
    assert_int_equal(trod_batch_new(&b, 7), 0);
    b->meta = &meta;
    w->rc = to->begin(enc, opt ? opt : to->defaults, &meta, &w->diag);
    memset(&w->loss, 0, sizeof w->loss);
    if (w->rc == 0)
        w->rc = to->target(enc, &(struct trod_target){.single = true, .loss = &w->loss}, &w->diag);
    for (size_t k = 0; k < n && w->rc == 0; k++) {
        struct trod_span in = {t[k].p, t[k].n, 0, true};
        int rc = TROD_DEC_FULL;

        memset(dec, 0, from->dec_size);
        assert_int_equal(from->start(dec, from->defaults, &in, &meta, NULL), 0);
        while (rc == TROD_DEC_FULL && w->rc == 0) {
            uint8_t keep[8];
            uint32_t row = 0;

            trod_batch_clear(b);
            b->bytes = in.p;
            b->bytes_n = in.n;
            rc = from->decode(dec, &in, b, NULL);
            for (uint32_t i = 0; i < b->n; i++)
                keep[i] = !(drop >> b->kind[i] & 1);
            if (trod_batch_keep(b, keep))
                w->rc = to->encode(enc, b, &row, &room, &w->diag);
        }
    }
    if (w->rc == 0)
        w->rc = to->finish(enc, &room, &w->diag);
    w->n = (size_t)(room.p - w->p);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
}

static void test_same(void **state)
{
    static struct trace t;
    static struct written w;

    (void)state;
    for (int e = 0; e < 2; e++) {
        const struct trod_format *f = e ? &trod_format_tt6e : &trod_format_tt6;

        make(&t, e);
        convert(f, &t, 1, f, NULL, 0, &w);
        assert_int_equal(w.rc, 0);
        assert_int_equal(w.diag.errors + w.diag.warnings, 0);
        assert_int_equal(w.n, t.n);
        assert_memory_equal(w.p, t.p, t.n);
    }
}

static void expect_words(const struct written *w, const uint32_t *words, size_t n)
{
    struct trace t = {.n = 0};

    add_words(&t, words, n);
    assert_int_equal(w->n, t.n);
    assert_memory_equal(w->p, t.p, t.n);
}

/* As acid does: addresses of cache operations and synthetic records go. */
static void test_tt6e_to_tt6(void **state)
{
    static struct trace from;
    static struct written w;
    uint32_t want[COUNT(common) + 16];
    static const uint32_t tail[] = {0x7c0027ec, 0x7c0020ac, 0x7c00206c, 0x7c0023ac, 0x7c0025ec,
                                    0x7c00222c, 0x7c0021ec, 0x7c0027ac, 0x0fe00000, 0x0fe00000,
                                    0x0fe00000, 0x48000702, 0x00000700, 0x60000000};

    (void)state;
    make(&from, true);
    convert(&trod_format_tt6e, &from, 1, &trod_format_tt6, NULL, 0, &w);
    memcpy(want, common, sizeof common);
    memcpy(want + COUNT(common), tail, sizeof tail);
    assert_int_equal(w.rc, 0);
    expect_words(&w, want, COUNT(common) + COUNT(tail));
    assert_int_equal(w.diag.errors, 0);
}

/* A dcbz whose address an escape gives has one in TT6E; a dcbf without has none: 0, reported. */
static void test_tt6_to_tt6e(void **state)
{
    static struct trace from;
    static struct written w;
    uint32_t want[COUNT(common) + 16];
    static const uint32_t tail[] = {0x7c0027ec, 0x70000000, 0x7c0020ac, 0,
                                    0x48000008, 0x00000014, 0x0fe00000, 0x48000702,
                                    0x00000700, 0x4c000064, 0x00000018};

    (void)state;
    make(&from, false);
    convert(&trod_format_tt6, &from, 1, &trod_format_tt6e, NULL, 0, &w);
    memcpy(want, common, sizeof common);
    memcpy(want + COUNT(common), tail, sizeof tail);
    assert_int_equal(w.rc, 0);
    expect_words(&w, want, COUNT(common) + COUNT(tail));
    assert_int_equal(w.loss.invented, 1);
}

static const uint32_t short1[] = {0x100, 0x60000000, 0x4e800020, 0x200};
static const uint32_t short2[] = {0x300, 0x60000000};

/* Traces one after the other: a b 0 between, as acid -j puts it. */
static void test_join(void **state)
{
    static const uint32_t want[] = {0x100,      0x60000000, 0x4e800020, 0x200,
                                    0x48000000, 0x300,      0x60000000};
    static struct trace t[2];
    static struct written w;
    const struct amber_options no = {.line = 32, .join = false};

    (void)state;
    memset(t, 0, sizeof t);
    add_words(&t[0], short1, COUNT(short1));
    add_words(&t[1], short2, COUNT(short2));
    convert(&trod_format_tt6, t, 2, &trod_format_tt6, NULL, 0, &w);
    assert_int_equal(w.rc, 0);
    expect_words(&w, want, COUNT(want));
    convert(&trod_format_tt6, t, 2, &trod_format_tt6, &no, 0, &w);
    assert_int_equal(w.rc, TROD_ERR_LOSS);
    assert_int_equal(trod_diag_kind_count(&w.diag, "tt6.break"), 1);
}

/* Without the markers: the trace begins where its first instruction is, real addresses stay, and so
 * do those of cache operations. */
static void test_no_markers(void **state)
{
    static const uint32_t words[] = {0x100,      0x00050001, 0xaaa0,     0x00040001, 0xbbb0,
                                     0x80610008, 0xccc0,     0x00030001, 0xddd0,     0x4e800020,
                                     0x200,      0x00010001, 0x70000000, 0x7c0027ec};
    static struct trace t;
    static struct written w;

    (void)state;
    t.n = 0;
    add_words(&t, words, COUNT(words));
    convert(&trod_format_tt6, &t, 1, &trod_format_tt6, NULL, 1u << TROD_MARKER, &w);
    assert_int_equal(w.rc, 0);
    expect_words(&w, words, COUNT(words)); /* as it was */
    assert_false(trod_loss_any(&w.loss));
}

/* Only the instructions: addresses of accesses are not there. */
static void test_no_accesses(void **state)
{
    static const uint32_t words[] = {0x100, 0x80610008, 0xccc0, 0x7c632c2a, 0x30000001, 0x2000000d};
    static const uint32_t want[] = {0x100, 0x80610008, 0, 0x7c632c2a, 0, 0};
    static struct trace t;
    static struct written w;

    (void)state;
    t.n = 0;
    add_words(&t, words, COUNT(words));
    convert(&trod_format_tt6, &t, 1, &trod_format_tt6, NULL, 1u << TROD_READ, &w);
    assert_int_equal(w.rc, 0);
    expect_words(&w, want, COUNT(want));
    assert_int_equal(w.loss.invented, 2);
}

static void test_isa(void **state)
{
    uint8_t enc[sizeof(struct tt6_enc)] = {0};
    struct trod_meta meta;
    struct trod_diag diag;

    (void)state;
    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    meta.isa = TROD_ISA_A64;
    assert_int_equal(trod_format_tt6.begin(enc, &amber_defaults, &meta, &diag),
                     TROD_ERR_UNSUPPORTED);
    assert_int_equal(trod_diag_kind_count(&diag, "amber.isa"), 1);
    meta.isa = TROD_ISA_PPC64;
    assert_int_equal(trod_format_tt6.begin(enc, &amber_defaults, &meta, &diag), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),        cmocka_unit_test(test_tt6e_to_tt6),
        cmocka_unit_test(test_tt6_to_tt6e), cmocka_unit_test(test_join),
        cmocka_unit_test(test_no_markers),  cmocka_unit_test(test_no_accesses),
        cmocka_unit_test(test_isa),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
