/*
 * test_filters_pieces.c - compressions: where reads of the input end makes no difference, neither
 * to sound streams nor to what is read, and said, behind damage.
 */
#include "filters_data.h"

#include "core/endian.h"
#include "io/damage.h"
#include "io/gzip.h"
#include "io/source.h"
#include "io/zip.h"
#include "trod_config.h"

/* A source of N bytes at P: no read goes past byte CUT, nor gives more than PIECE bytes. */
struct pieces {
    struct trod_source source;
    const uint8_t *p;
    size_t n, at, cut, piece;
};

static int pieces_read(struct trod_source *s, uint8_t *p, size_t cap, size_t *n,
                       struct trod_fault *fault)
{
    struct pieces *t = s->archive;
    size_t some = t->n - t->at;

    (void)fault;
    if (t->at < t->cut && some > t->cut - t->at)
        some = t->cut - t->at;
    if (some > t->piece)
        some = t->piece;
    *n = some < cap ? some : cap;
    memcpy(p, t->p + t->at, *n);
    t->at += *n;
    return TROD_OK;
}

static const struct trod_source_ops pieces_ops = {.read = pieces_read};

/* What F makes of PACKED, given so, and what it says, with places: into OUT and SAID. */
static int read_pieces(const struct trod_filter *f, const struct trod_buf *packed, size_t cut,
                       size_t piece, struct trod_buf *out, struct trod_buf *said)
{
    enum { PIECE = 50000 };
    struct pieces t = {.source = {.ops = &pieces_ops, .size = TROD_NOWHERE, .fd = -1},
                       .p = packed->p,
                       .n = packed->n,
                       .cut = cut,
                       .piece = piece};
    struct trod_fault fault = {0};
    struct trod_damages damages;
    struct trod_stage *top;
    size_t n;
    int status;

    t.source.archive = &t;
    trod_damages_init(&damages);
    assert_int_equal(trod_stack_force(&top, &t.source, f, 0, &fault), TROD_OK);
    assert_non_null(top->up);
    top->up->damages = &damages;
    out->n = said->n = 0;
    do {
        assert_int_equal(trod_buf_reserve(out, PIECE), TROD_OK);
        status = trod_stage_read(top, out->p + out->n, PIECE, &n);
        out->n += n;
    } while (status == TROD_OK && n);
    for (size_t i = 0; i < damages.n; i++)
        trod_buf_printf(said, "%s (byte %llu)\n", damages.damage[i].text,
                        (unsigned long long)damages.damage[i].at);
    trod_buf_printf(said, "%s", status == TROD_OK ? "" : fault.text);
    trod_stack_close(top);
    trod_damages_fini(&damages);
    return status;
}

enum { SMALL = 9 }; /* sizes of small reads: 1 to SMALL */

/* Reads of PACKED that end at FROM to TO, and small ones: they give what one read of all gives. */
static void same_anywhere(const struct trod_filter *f, const struct trod_buf *packed, size_t from,
                          size_t to)
{
    struct trod_buf whole = {0}, told = {0}, out = {0}, said = {0};
    const int status = read_pieces(f, packed, 0, SIZE_MAX, &whole, &told);

    for (size_t cut = from; cut < to + SMALL; cut++) {
        const bool small = cut >= to;
        const size_t piece = small ? cut - to + 1 : SIZE_MAX;
        const int got = read_pieces(f, packed, small ? 0 : cut, piece, &out, &said);

        if (got != status || !data_same(&out, &whole) || !data_same(&said, &told))
            test_die("%s: %s %zu: %zu bytes, not %zu:\n%.*s\n%.*s", f->name,
                     small ? "reads of" : "a read ends at", small ? piece : cut, out.n, whole.n,
                     (int)said.n, (const char *)said.p, (int)told.n, (const char *)told.p);
    }
    trod_buf_fini(&whole);
    trod_buf_fini(&told);
    trod_buf_fini(&out);
    trod_buf_fini(&said);
}

/*
 * Frames of more than deflate's window: ISA-L makes more or less of a distance before the start,
 * which is not met behind it.
 */
enum { FRAMES = 4, FRAME = 40001, AROUND = 20 };

/*
 * The second of four frames of F is damaged BEFORE bytes before the third: BYTES of it are flipped,
 * or (0) all from there on are missing.
 */
static void damaged_before(const struct trod_filter *f, size_t before, size_t bytes)
{
    struct trod_buf plain = data_make(DATA_TEXT, FRAMES * FRAME, 21), packed = {0};
    size_t at[FRAMES], from;

    for (size_t k = 0; k < FRAMES; k++) {
        at[k] = packed.n;
        data_encode(f, 0, plain.p + k * FRAME, FRAME, SIZE_MAX, &packed);
        if (k == 1 && bytes == 0)
            packed.n -= before;
    }
    if (before > at[2] - at[1])
        before = at[2] - at[1];
    from = at[2] - (bytes ? before : 0);
    for (size_t i = 0; i < bytes; i++)
        packed.p[from + i] ^= 0xff;
    same_anywhere(f, &packed, at[1] - 2, at[1] + AROUND);
    same_anywhere(f, &packed, from - AROUND, from + AROUND);
    same_anywhere(f, &packed, at[2] - AROUND, at[2] + 2 * AROUND);
    trod_buf_fini(&plain);
    trod_buf_fini(&packed);
}

static void damaged(const struct trod_filter *f)
{
    static const size_t before[] = {1, 5, 8, 9, 12, 30, 700, FRAME};

    for (size_t i = 0; f->again && i < sizeof before / sizeof before[0]; i++) {
        damaged_before(f, before[i], before[i] < 12 ? 1 : 12);
        if (before[i] < FRAME)
            damaged_before(f, before[i], 0);
    }
}

static void behind_damage(void **state)
{
    (void)state;
    for (size_t i = 0; filter_at(i); i++)
        damaged(filter_at(i));
#if TROD_HAVE_ZLIB
    damaged(&trod_filter_gzip_zlib);
#endif
}

/* RFC 1952: a member with FLAGS, with LENGTH bytes in extra field, name, comment; its checksum is
 * off by WRONG. */
static void add_member(struct trod_buf *b, unsigned flags, size_t length, const char *text,
                       unsigned wrong)
{
    enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16 };
    const size_t from = b->n, n = strlen(text);
    uint8_t word[8] = {0x1f, 0x8b, 8, (uint8_t)flags};

    trod_buf_add(b, word, 8);
    trod_buf_add(b, "\0\xff", 2);
    trod_store_le16(word, (uint16_t)length);
    if (flags & FEXTRA)
        trod_buf_add(b, word, 2);
    for (unsigned flag = FEXTRA; flag <= FCOMMENT; flag *= 2) {
        for (size_t i = 0; (flags & flag) && i < length; i++)
            trod_buf_add(b, i % 2 || flag != FEXTRA ? "n" : "", 1);
        if ((flags & flag) && flag != FEXTRA)
            trod_buf_add(b, "", 1);
    }
    trod_store_le16(word, (uint16_t)(trod_zip_crc(0, b->p + from, b->n - from) ^ wrong));
    if (flags & FHCRC)
        trod_buf_add(b, word, 2);
    /* RFC 1951, 3.2.4: one stored block */
    trod_buf_add(b, "\1", 1);
    trod_store_le16(word, (uint16_t)n);
    trod_store_le16(word + 2, (uint16_t)~n);
    trod_buf_add(b, word, 4);
    trod_buf_add(b, text, n);
    trod_store_le32(word, trod_zip_crc(0, (const uint8_t *)text, n));
    trod_store_le32(word + 4, (uint32_t)n);
    trod_buf_add(b, word, 8);
}

/* Two members with FLAGS, read by F in two pieces, cut anywhere or (STEP) at some places. */
static void headers(const struct trod_filter *f, unsigned flags, size_t length, size_t step)
{
    static const char text[] = "the one and the other member";
    struct trod_buf b = {0}, out = {0}, said = {0};

    add_member(&b, flags, length, "the one ", 0);
    const size_t one = b.n;
    add_member(&b, flags, length, "and the other member", 0);
    for (size_t cut = 0; cut < b.n; cut += step) {
        assert_int_equal(read_pieces(f, &b, cut, SIZE_MAX, &out, &said), TROD_OK);
        assert_int_equal(out.n, sizeof text - 1);
        assert_memory_equal(out.p, text, out.n);
        assert_int_equal(said.n, 0);
    }
    for (size_t piece = 1; step == 1 && piece < 30; piece++) {
        assert_int_equal(read_pieces(f, &b, 0, piece, &out, &said), TROD_OK);
        assert_int_equal(out.n, sizeof text - 1);
    }
    const size_t whole = b.n;
    for (size_t n = 1; n < whole; n += step) {
        b.n = n;
        const int status = read_pieces(f, &b, 0, SIZE_MAX, &out, &said);
        assert_int_equal(status, n == one ? TROD_OK : TROD_ERR_TRUNCATED);
        assert_memory_equal(out.p, text, out.n);
    }
    trod_buf_fini(&b);
    trod_buf_fini(&out);
    trod_buf_fini(&said);
}

/* A header that is wrong in one way, in the first member or behind another one. */
static void wrong_headers(const struct trod_filter *f)
{
    static const struct {
        unsigned flags, wrong, at, value;
        const char *why;
    } cases[] = {
        {2, 1, 0, 0x1f, "header crc mismatch"},
        {2 + 4 + 8 + 16, 0x8000, 0, 0x1f, "header crc mismatch"},
        {2 + 8, 0, 5, 1, "header crc mismatch"},
        {0x20, 0, 0, 0x1f, "unknown header flags set"},
        {0x80, 0, 0, 0x1f, "unknown header flags set"},
        {0, 0, 2, 7, "unknown compression method"},
    };

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        struct trod_buf b = {0}, out = {0}, said = {0};
        size_t from;

        if (i % 2)
            add_member(&b, 0, 0, "sound", 0);
        from = b.n;
        add_member(&b, cases[i / 2].flags, 5, "wrong", cases[i / 2].wrong);
        b.p[from + cases[i / 2].at] = (uint8_t)cases[i / 2].value;
        for (size_t cut = 0; cut < b.n; cut++) {
            assert_int_equal(read_pieces(f, &b, cut, SIZE_MAX, &out, &said), TROD_ERR_CORRUPT);
            assert_int_equal(out.n, i % 2 ? 5 : 0);
            trod_buf_add(&said, "", 1);
            assert_non_null(strstr((const char *)said.p, cases[i / 2].why));
        }
        trod_buf_fini(&b);
        trod_buf_fini(&out);
        trod_buf_fini(&said);
    }
}

static void gzip_headers_of(const struct trod_filter *f)
{
    for (unsigned flags = 0; flags < 32; flags++)
        for (size_t length = 0; length < 13; length += 4)
            headers(f, flags, length, 1);
    headers(f, 4, 65535, 1999);
    headers(f, 8, 20000, 977);
    headers(f, 2 + 8 + 16, 300000, 29989);
    headers(f, 2 + 4 + 8 + 16, 40000, 9973);
    wrong_headers(f);
}

static void gzip_headers(void **state)
{
    (void)state;
    if (trod_filter_find("gzip")->open)
        gzip_headers_of(trod_filter_find("gzip"));
#if TROD_HAVE_ZLIB
    gzip_headers_of(&trod_filter_gzip_zlib);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_damage),
        cmocka_unit_test(gzip_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
