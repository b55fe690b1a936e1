/*
 * test_byu_write.c - writing by the BYU drivers against records worked out by hand from
 * docs/formats/byu.md.
 */
#include "byu_data.h"

struct sink {
    const struct trod_format *to;
    void *enc;
    struct trod_diag diag;
    struct trod_loss loss;
    uint8_t out[4096];
    size_t n, room;      /* room: bytes given to the encoder at a time */
    const uint8_t *keep; /* rows to keep, NULL: all */
};

static void sink_open(struct sink *s, const struct trod_format *to, const struct trod_meta *meta)
{
    memset(s, 0, sizeof *s);
    s->to = to;
    s->enc = calloc(1, to->enc_size);
    s->room = to->row_max;
    trod_diag_init(&s->diag, NULL, NULL);
    assert_int_equal(to->begin(s->enc, to->defaults, meta, &s->diag), 0);
    assert_int_equal(
        to->target(s->enc, &(struct trod_target){.single = true, .loss = &s->loss}, &s->diag), 0);
}

static void sink_rows(struct sink *s, const struct trod_batch *b)
{
    uint32_t row = 0;
    int rc = TROD_ENC_FULL;

    while (rc == TROD_ENC_FULL) {
        struct trod_room room = {s->out + s->n, s->out + s->n + s->room};

        assert_true(s->n + s->room <= sizeof s->out);
        rc = s->to->encode(s->enc, b, &row, &room, &s->diag);
        assert_true(room.p <= room.end);
        s->n = (size_t)(room.p - s->out);
    }
    assert_int_equal(rc, TROD_ENC_DONE);
    assert_int_equal(row, b->n);
}

static void take_encode(const struct trod_batch *b, uint32_t i, void *user)
{
    struct sink *s = user;
    struct trod_batch view;

    if (s->keep && !s->keep[b->first + i])
        return;
    trod_batch_view(&view, b, i, 1);
    sink_rows(s, &view);
}

static void convert(const struct trod_format *from, const uint8_t *p, size_t n,
                    const struct trod_format *to, const uint8_t *keep, struct sink *s)
{
    struct trod_meta meta;
    struct run r = {.f = from, .cap = 64, .row = take_encode, .user = s};

    trod_meta_init(&meta);
    meta.format = from->name;
    sink_open(s, to, &meta);
    s->keep = keep;
    run(&r, p, n);
    free(s->enc);
    trod_meta_fini(&r.meta);
}

static void test_same(void **state)
{
    static struct sink s;

    (void)state;
    convert(&trod_format_byu6, trace6, sizeof trace6, &trod_format_byu6, NULL, &s);
    assert_int_equal(s.n, sizeof trace6);
    assert_memory_equal(s.out, trace6, sizeof trace6);
    convert(&trod_format_byu12, trace12, sizeof trace12, &trod_format_byu12, NULL, &s);
    assert_int_equal(s.n, sizeof trace12);
    assert_memory_equal(s.out, trace12, sizeof trace12);
    assert_int_equal(s.diag.errors, 0);
}

/* Where rows are left out, their time is not: the clock of those kept is what it was. */
static void test_times_kept(void **state)
{
    static const uint8_t keep[] = {0, 1, 1, 0, 1, 0, 0, 1};
    static struct sink s;

    (void)state;
    convert(&trod_format_byu12, trace12, sizeof trace12, &trod_format_byu12, keep, &s);
    assert_int_equal(s.n, 48);
    assert_memory_equal(s.out, trace12 + 12, 24);
    assert_memory_equal(s.out + 24, trace12 + 48, 8);
    assert_memory_equal(s.out + 32, "\0\0\0\x80", 4);
    assert_memory_equal(s.out + 36, trace12 + 84, 8);
    /* 0x200000152 - 0x100000151 needs 33 bits */
    assert_memory_equal(s.out + 44, "\xff\xff\xff\xff", 4);
    assert_int_equal(trod_loss_values(&s.loss), 1);
    assert_int_equal(s.loss.columns[TROD_NOTE][4], 1); /* a time */
}

static void test_6_to_12(void **state)
{
    /* enables 0x5a are four references; no bytes, none: one of size 0; special cycle 2: a halt */
    static const uint8_t want[] = {
        0x00, 0x10, 0x00, 0x00, 0x01, 8,    3,    0,    0xff, 0xff, 0xff, 0xff, 0x0c, 0x10, 0x00,
        0x00, 0x03, 4,    3,    0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0x01, 1,
        0,    0,    0,    0,    0,    0,    0x78, 0x56, 0x34, 0x12, 0x03, 1,    3,    0,    0,
        0,    0,    0,    0x00, 0x20, 0x00, 0x00, 0x00, 1,    3,    0,    0,    0,    0,    0,
        0x02, 0x20, 0x00, 0x00, 0x00, 1,    3,    0,    0,    0,    0,    0,    0x05, 0x20, 0x00,
        0x00, 0x00, 1,    3,    0,    0,    0,    0,    0,    0x07, 0x20, 0x00, 0x00, 0x00, 1,
        3,    0,    0,    0,    0,    0,    0x00, 0x20, 0x00, 0x00, 0x00, 0,    0,    0,    0,
        0,    0,    0,    0xf9, 0x03, 0x00, 0x00, 0x10, 1,    0,    0,    0,    0,    0,    0,
        0xf8, 0x03, 0x00, 0x00, 0x11, 2,    0,    0,    0,    0,    0,    0,    0x04, 0x00, 0x00,
        0x00, 0x21, 0,    0,    0,    0,    0,    0,    0,    0x02, 0x00, 0x00, 0x00, 0x33, 0,
        0,    0,    0,    0,    0,    0,
    };
    static struct sink s;

    (void)state;
    convert(&trod_format_byu6, trace6, sizeof trace6, &trod_format_byu12, NULL, &s);
    assert_int_equal(s.n, sizeof want);
    assert_memory_equal(s.out, want, sizeof want);
    assert_int_equal(trod_loss_rows(&s.loss), 6); /* the invalid ones */
    assert_int_equal(s.loss.rows[TROD_MARKER], 6);
}

static void test_12_to_6(void **state)
{
    static const uint8_t want[] = {
        0x00, 0x41, 0xf7, 0x60, 0x00, 0x90, 0x05, 0xe7, 0x89, 0x00, 0x00, 0xc0,
        0x05, 0xe7, 0x89, 0x08, 0x00, 0xc0, 0x05, 0xe7, 0x89, 0x10, 0x00, 0xc0,
        0x05, 0xe7, 0x89, 0x18, 0x00, 0xc0, 0x13, 0x27, 0x09, 0x00, 0xe1, 0xf0, /* bytes 1 to 4 */
        0xff, 0xff, 0xff, 0xc0, 0x00, 0xc0, 0xff, 0xff, 0xff, 0xc8, 0x00, 0xc0,
        0x00, 0x00, 0x03, 0xf8, 0xfe, 0x50, 0x00, 0x00, 0x03, 0xf8, 0xfc, 0x70,
    };
    static struct sink s;

    (void)state;
    convert(&trod_format_byu12, trace12, sizeof trace12, &trod_format_byu6, NULL, &s);
    assert_int_equal(s.n, sizeof want);
    assert_memory_equal(s.out, want, sizeof want);
    /* DEFERREPLY and the unknown type */
    assert_int_equal(s.loss.rows[TROD_MARKER], 1);
    assert_int_equal(s.loss.rows[TROD_NOTE], 1);
    assert_int_equal(trod_loss_rows(&s.loss), 2);
}

/* What the other format's records have no place for, transaction by transaction. */
static void test_lost_between(void **state)
{
    static const uint8_t six[] = {
        0x00, 0x00, 0x10, 0x00, 0x00, 0xc0, /* D_READ: nothing is lost */
        0x00, 0x00, 0x10, 0x00, 0x00, 0x90, /* NC_I_FETCH: neither */
        0x00, 0x00, 0x10, 0x00, 0x00, 0xe0, /* WRITE_BACK: the transaction */
        0x00, 0x00, 0x10, 0x00, 0x00, 0xf1, /* D_WRITE: bits of control */
        0x00, 0x00, 0x10, 0x03, 0x00, 0xf0, /* bits of the address */
        0x00, 0x00, 0x10, 0x03, 0xff, 0xc0, /* which are the address where no byte is requested */
    };
    static const uint8_t twelve[] = {
        0, 0x10, 0, 0, 0x01, 8, 3,    0, 0, 0, 0, 0, /* MEMREAD of write-back memory: nothing */
        0, 0x10, 0, 0, 0x01, 8, 0,    0, 0, 0, 0, 0, /* of uncached memory: nothing */
        0, 0x10, 0, 0, 0x02, 8, 3,    0, 0, 0, 0, 0, /* MEMREADINV: the transaction */
        0, 0x10, 0, 0, 0x03, 8, 1,    0, 0, 0, 0, 0, /* MEMWRITE: attributes */
        0, 0x10, 0, 0, 0x10, 1, 0,    0, 0, 0, 0, 0, /* IOREAD: nothing */
        0, 0x10, 0, 0, 0x10, 1, 3,    0, 0, 0, 0, 0, /* attributes */
        0, 0x10, 0, 0, 0x01, 8, 0x10, 0, 0, 0, 0, 0, /* those of uncached memory */
    };
    enum { SUB = 12, DETAIL = 17 };
    static struct sink s, back;

    (void)state;
    assert_int_equal(1 << SUB, TROD_COL_SUB);
    assert_int_equal(1 << DETAIL, TROD_COL_DETAIL);
    convert(&trod_format_byu6, six, sizeof six, &trod_format_byu12, NULL, &s);
    assert_int_equal(s.loss.columns[TROD_WRITE][SUB], 1);
    assert_int_equal(s.loss.columns[TROD_WRITE][DETAIL], 2);
    assert_int_equal(trod_loss_values(&s.loss), 3);
    convert(&trod_format_byu12, s.out, 24, &trod_format_byu6, NULL, &back);
    assert_int_equal(trod_loss_values(&back.loss), 0);
    assert_memory_equal(back.out, six, 12);
    convert(&trod_format_byu12, twelve, sizeof twelve, &trod_format_byu6, NULL, &s);
    assert_int_equal(s.loss.columns[TROD_READ][SUB], 1);
    assert_int_equal(s.loss.columns[TROD_READ][DETAIL], 2);
    assert_int_equal(s.loss.columns[TROD_WRITE][DETAIL], 1);
    assert_int_equal(trod_loss_values(&s.loss), 4);
}

/* Rows of a format with virtual addresses: split at bus words, cut to 32 bits, both said once. */
static void test_foreign(void **state)
{
    static const uint8_t want6[] = {
        0x00, 0x00, 0x10, 0x00, 0x3f, 0xc0, 0x00, 0x00, 0x10, 0x08, 0xfc, 0xc0, /* 4 from 6 */
        0x00, 0x00, 0x20, 0x00, 0x0f, 0xc0, 0x00, 0x00, 0x20, 0x00, 0x0f, 0xf0, /* atomic */
        0x00, 0x00, 0x40, 0x00, 0xfe, 0xf0,                                     /* physical */
        0x00, 0x00, 0x50, 0x00, 0xc0, 0x80, /* the instruction's bytes 0 to 5 */
    };
    static const uint64_t addr[] = {0x7fff00001006, 0x2004, 0x3000, 0x123, 0x5000};
    static const uint32_t size[] = {4, 4, 1, 4, 6};
    static const uint8_t kind[] = {TROD_READ, TROD_ATOMIC, TROD_WRITE, TROD_REG, TROD_INSTR};
    static struct sink s;
    struct trod_batch *b;

    (void)state;
    assert_int_equal(trod_batch_new(&b, 8), 0);
    b->n = 5;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PADDR;
    for (uint32_t i = 0; i < b->n; i++) {
        b->has[i] = b->have & ~(uint32_t)(i == 2 ? 0 : TROD_COL_PADDR);
        b->kind[i] = kind[i];
        b->addr[i] = addr[i];
        b->paddr[i] = 0x4000;
        b->size[i] = size[i];
        b->flags[i] = 0;
    }
    sink_open(&s, &trod_format_byu6, NULL);
    sink_rows(&s, b);
    assert_int_equal(s.n, sizeof want6);
    assert_memory_equal(s.out, want6, sizeof want6);
    assert_int_equal(trod_diag_kind_count(&s.diag, "byu.virtual"), 1);
    /* the first address has 47 bits, that of the third row is not the physical one; no REG */
    assert_int_equal(s.loss.columns[TROD_READ][7], 1);
    assert_int_equal(s.loss.columns[TROD_WRITE][7], 1);
    assert_int_equal(trod_loss_values(&s.loss), 2);
    assert_int_equal(s.loss.rows[TROD_REG], 1);
    assert_int_equal(trod_loss_rows(&s.loss), 1);
    free(s.enc);
    trod_batch_free(b);
}

/* Transfers of 16 and 32 bytes are one record of byu12 where they begin with a bus word. */
static void test_bursts(void **state)
{
    static const uint8_t want[][6] = {
        {0x00, 0x10, 0, 0, 0x01, 16}, /* one record */
        {0x08, 0x10, 0, 0, 0x03, 32}, /* one */
        {0x04, 0x10, 0, 0, 0x01, 4},  /* 16 bytes from the middle of a word */
        {0x08, 0x10, 0, 0, 0x01, 8},  {0x10, 0x10, 0, 0, 0x01, 4},
        {0x00, 0x10, 0, 0, 0x01, 8}, /* 24 bytes */
        {0x08, 0x10, 0, 0, 0x01, 8},  {0x10, 0x10, 0, 0, 0x01, 8},
    };
    static const uint64_t addr[] = {0x1000, 0x1008, 0x1004, 0x1000};
    static const uint32_t size[] = {16, 32, 16, 24};
    static const uint8_t kind[] = {TROD_READ, TROD_WRITE, TROD_READ, TROD_READ};
    enum { RECORD = 12, ROWS = 4, RECORDS = sizeof want / sizeof *want };
    static struct sink s;
    struct trod_meta meta;
    struct trod_batch *b;

    (void)state;
    assert_int_equal(trod_batch_new(&b, 8), 0);
    b->n = ROWS;
    b->have = TROD_COL_KIND | TROD_COL_SIZE | TROD_COL_ADDR;
    for (uint32_t i = 0; i < ROWS; i++) {
        b->has[i] = b->have;
        b->kind[i] = kind[i];
        b->addr[i] = addr[i];
        b->size[i] = size[i];
    }
    sink_open(&s, &trod_format_byu12, NULL);
    sink_rows(&s, b);
    assert_int_equal(s.n, RECORD * RECORDS);
    for (size_t i = 0; i < RECORDS; i++)
        assert_memory_equal(s.out + RECORD * i, want[i], sizeof want[i]);
    free(s.enc);
    /* what was a record of byu12 is one again, without its detail, too */
    trod_meta_init(&meta);
    meta.format = "byu12";
    sink_open(&s, &trod_format_byu12, &meta);
    sink_rows(&s, b);
    assert_int_equal(s.n, RECORD * ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(s.out[RECORD * i] | s.out[RECORD * i + 1] << 8, addr[i]);
        assert_int_equal(s.out[RECORD * i + 5], size[i]);
    }
    free(s.enc);
    /* byu6 has words only */
    sink_open(&s, &trod_format_byu6, &meta);
    sink_rows(&s, b);
    assert_int_equal(s.n, 6 * (2 + 4 + 3 + 3));
    free(s.enc);
    trod_meta_fini(&meta);
    trod_batch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_times_kept),
        cmocka_unit_test(test_6_to_12), cmocka_unit_test(test_12_to_6),
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_lost_between),
        cmocka_unit_test(test_bursts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
