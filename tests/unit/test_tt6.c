/*
 * test_tt6.c - the TT6 and TT6E drivers against rows worked out by hand from docs/formats/amber.md
 * and the instruction encodings of the PowerPC manuals.
 */
#include "trod/trod.h"

#include "format/amber/amber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    INSTR = TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE | TROD_COL_RAW | TROD_COL_SIZE,
    FLOW = INSTR | TROD_COL_TARGET,
    ACCESS = TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE | TROD_COL_DETAIL,
    ESCAPE = TROD_COL_PC | TROD_COL_SUB | TROD_COL_RAW,
    SYNC = ESCAPE | TROD_COL_ADDR | TROD_COL_VALUE,
    ALWAYS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM
};

struct expect {
    uint8_t kind;
    uint32_t has; /* without ALWAYS */
    uint32_t flags, size;
    uint32_t addr, pc, extra; /* extra: target of a FLOW, sub of an escape */
    uint64_t value;           /* of an escape; paddr where there is one */
    uint32_t words;           /* of raw, detail or data */
};

#define CONT TROD_F_CONT

/* Words that both formats read alike. */
static const uint32_t common[] = {
    0x00001000,                            /* INITIAL_PC */
    0x00050001, 0x00abc000,                /* real address of the next instruction */
    0x00040001, 0x00def010,                /* real address of its data */
    0x80610008, 0x20000008,                /* 1000 lwz r3,8(r1) */
    0x38630001,                            /* 1004 addi r3,r3,1 */
    0x00030001, 0x00abd000,                /* real address of the branch target */
    0x48000011, 0x00001018,                /* 1008 bl 1018 */
    0x00200002, 0x0000bee0, 0x00000001,    /* SYNC_SIGNAL bee0, count 1 */
    0x7c0004ac,                            /* 1018 sync */
    0xbbc10008, 0x20000010,                /* 101c lmw r30,8(r1) */
    0x7c632c2a, 0x30000001, 0x2000000d,    /* 1020 lswx r3,r3,r5: 13 bytes */
    0x7c0020ce, 0x40000017,                /* 1024 lvx v0,0,r4 */
    0x7c0422ac, 0x50000000, 0x02030040,    /* 1028 dst r4,r4,0: blocks of 32 bytes */
    0x7c202028, 0x60000000,                /* 102c lwarx r1,0,r4 */
    0x7c20212d, 0x60000000,                /* 1030 stwcx. r1,0,r4 */
    0x40820010, 0x00001038,                /* 1034 bne 1044, not taken */
    0x4082000c, 0x00001044,                /* 1038 bne 1044, taken */
    0x7c65e4aa, 0x20000031,                /* 1044 lswi r3,r5,28 */
    0x7c6505aa, 0x20000051,                /* 1048 stswi r3,r5,0: 32 bytes */
    0x4e800020, 0x00002000,                /* 104c blr */
    0x44000002, 0x00002004,                /* 2000 sc */
    0x03ff0000,                            /* unknown, without words */
    0x00020001, 0x24000044,                /* condition register */
    0x00070003, 1,          2,          3, /* unknown, three words */
    0x00060002, 0x11223344, 0x55667788,    /* unknown, two words */
    0x00310002, 0x0000bee0, 0x00000002,    /* SYNC_TRY_WAIT */
    0x00300003, 1,          2,          3, /* a wait of three words is not one of ours */
    0xe8610008, 0x00000100,                /* 2004 ld r3,8(r1) */
    0xe861000a, 0x00000108,                /* 2008 lwa r3,8(r1) */
    0x4e800421, 0x00003000,                /* 200c bctrl */
    0x4c000064, 0xfffffffc,                /* 3000 rfi */
    0x60000000,                            /* fffffffc nop: the address wraps around */
    0x429f0005, 0x00000004,                /* 0 bcl 20,31,4 */
    0x00010001, 0x70000010,                /* data address for the next instruction */
};

static const struct expect common_rows[] = {
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE, 0, 0, 0, 0x1000, 0x400, 0x1000, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1000, 5, 0xabc000, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1000, 4, 0xdef010, 2},
    {TROD_INSTR, INSTR | TROD_COL_PADDR, 0, 4, 0x1000, 0x1000, 0, 0xabc000, 2},
    {TROD_READ, ACCESS | TROD_COL_PADDR, CONT, 4, 0x20000008, 0x1000, 0, 0xdef010, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1004, 0x1004, 0, 0, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1008, 3, 0xabd000, 2},
    {TROD_INSTR, FLOW | TROD_COL_DETAIL, TROD_BR_CALL, 4, 0x1008, 0x1008, 0x1018, 0, 2},
    {TROD_SYNC, SYNC, 0, 0, 0xbee0, 0x1018, 0x20, 1, 3},
    {TROD_INSTR, INSTR, 0, 4, 0x1018, 0x1018, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x101c, 0x101c, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 8, 0x20000010, 0x101c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1020, 0x1020, 0, 0, 3},
    {TROD_READ, ACCESS, CONT, 13, 0x30000001, 0x1020, 0, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x1024, 0x1024, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 16, 0x40000010, 0x1024, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1028, 0x1028, 0, 0, 3},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x50000000, 0x1028, 0, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x102c, 0x102c, 0, 0, 2},
    {TROD_READ, ACCESS, CONT | TROD_F_EXCLUSIVE, 4, 0x60000000, 0x102c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1030, 0x1030, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT | TROD_F_EXCLUSIVE, 4, 0x60000000, 0x1030, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_COND_UNTAKEN, 4, 0x1034, 0x1034, 0x1038, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_COND_TAKEN, 4, 0x1038, 0x1038, 0x1044, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x1044, 0x1044, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 28, 0x20000031, 0x1044, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1048, 0x1048, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT, 32, 0x20000051, 0x1048, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_RETURN, 4, 0x104c, 0x104c, 0x2000, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_SYSCALL, 4, 0x2000, 0x2000, 0x2004, 0, 2},
    {TROD_MARKER, ESCAPE, 0, 0, 0, 0x2004, 0x3ff, 0, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x2004, 2, 0x24000044, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_DATA, 0, 0, 0, 0x2004, 7, 0, 4},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x2004, 6, 0x1122334455667788,
     3},
    {TROD_SYNC, SYNC, 0, 0, 0xbee0, 0x2004, 0x31, 2, 3},
    {TROD_MARKER, ESCAPE | TROD_COL_DATA, 0, 0, 0, 0x2004, 0x30, 0, 4},
    {TROD_INSTR, INSTR, 0, 4, 0x2004, 0x2004, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 8, 0x100, 0x2004, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x2008, 0x2008, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 4, 0x108, 0x2008, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_ICALL, 4, 0x200c, 0x200c, 0x3000, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET, 4, 0x3000, 0x3000, 0xfffffffc, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0xfffffffc, 0xfffffffc, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_CALL, 4, 0, 0, 4, 0, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 4, 1, 0x70000010, 2},
};

/* Cache operations without addresses; the escape before gives the first one its own. */
static const uint32_t tail6[] = {
    0x7c0027ec,             /* 4 dcbz 0,r4 */
    0x7c0020ac,             /* 8 dcbf 0,r4 */
    0x48000008, 0x00000014, /* c b 14 */
    0x0fe00000,             /* 14 twi 31,r0,0 */
};
static const struct expect tail6_rows[] = {
    {TROD_INSTR, INSTR, 0, 4, 4, 4, 0, 0, 1},
    {TROD_WRITE, ACCESS & ~TROD_COL_DETAIL, CONT, 32, 0x70000000, 4, 0, 0, 0},
    {TROD_INSTR, INSTR, 0, 4, 8, 8, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0xc, 0xc, 0x14, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x14, 0x14, 0, 0, 1},
};

/* Behind the twi of tail6: in TT6 a program's own. */
static const uint32_t trap6[] = {0x48000702, 0x00000700, 0x4c000064, 0x00000018};
static const struct expect trap6_rows[] = {
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0x18, 0x18, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET, 4, 0x700, 0x700, 0x18, 0, 2},
};

/* With addresses; both forms of the synthetic branch; a twi that is followed by something else. */
static const uint32_t tail6e[] = {
    0x7c0027ec, 0x00000047,                         /* 4 dcbz 0,r4 */
    0x7c0020ac, 0x00000047,                         /* 8 dcbf 0,r4 */
    0x7c00206c, 0x00000047,                         /* c dcbst 0,r4 */
    0x7c0023ac, 0x00000047,                         /* 10 dcbi 0,r4 */
    0x7c0025ec, 0x00000047,                         /* 14 dcba 0,r4 */
    0x7c00222c, 0x00000047,                         /* 18 dcbt 0,r4 */
    0x7c0021ec, 0x00000047,                         /* 1c dcbtst 0,r4 */
    0x7c0027ac, 0x00000047,                         /* 20 icbi 0,r4 */
    0x0fe00000,                                     /* 24 twi 31,r0,0 */
    0x48000702, 0x00000700, 0x4c000064, 0x00000028, /* synthetic */
    0x0fe00000,                                     /* 28 twi */
    0x48000700, 0x00000700, 0x4c000064, 0x0000002c, /* synthetic */
    0x0fe00000,                                     /* 2c twi */
    0x48000702, 0x00000700,                         /* 30 ba 700: of the program */
    0x60000000,                                     /* 700 nop */
};
static const struct expect tail6e_rows[] = {
    {TROD_INSTR, INSTR, 0, 4, 4, 4, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT, 32, 0x40, 4, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 8, 8, 0, 0, 2},
    {TROD_FLUSH, ACCESS, CONT, 32, 0x40, 8, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0xc, 0xc, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0xc, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x10, 0x10, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0x10, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x14, 0x14, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0x14, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x18, 0x18, 0, 0, 2},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x40, 0x18, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1c, 0x1c, 0, 0, 2},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x40, 0x1c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x20, 0x20, 0, 0, 2},
    {TROD_FLUSH, ACCESS, CONT | TROD_F_IFETCH, 32, 0x40, 0x20, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x24, 0x24, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT | TROD_F_SYNTHETIC, 4, 0x28, 0x28, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET | TROD_F_SYNTHETIC, 4, 0x700, 0x700, 0x28, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x28, 0x28, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT | TROD_F_SYNTHETIC, 4, 0x2c, 0x2c, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET | TROD_F_SYNTHETIC, 4, 0x700, 0x700, 0x2c, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x2c, 0x2c, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0x30, 0x30, 0x700, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x700, 0x700, 0, 0, 1},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct trace {
    uint8_t p[2048];
    size_t n;
    struct expect rows[128];
    size_t n_rows;
};

static void add_words(struct trace *t, const uint32_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 24; k >= 0; k -= 8)
            t->p[t->n++] = (uint8_t)(w[i] >> k);
}

static void make(struct trace *t, bool extended)
{
    memset(t, 0, sizeof *t);
    add_words(t, common, COUNT(common));
    memcpy(t->rows, common_rows, sizeof common_rows);
    t->n_rows = COUNT(common_rows);
    if (extended) {
        add_words(t, tail6e, COUNT(tail6e));
        memcpy(t->rows + t->n_rows, tail6e_rows, sizeof tail6e_rows);
        t->n_rows += COUNT(tail6e_rows);
    } else {
        add_words(t, tail6, COUNT(tail6));
        memcpy(t->rows + t->n_rows, tail6_rows, sizeof tail6_rows);
        t->n_rows += COUNT(tail6_rows);
        add_words(t, trap6, COUNT(trap6));
        memcpy(t->rows + t->n_rows, trap6_rows, sizeof trap6_rows);
        t->n_rows += COUNT(trap6_rows);
    }
}

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

/* ---- writing ----------------------------------------------------------------------------------
 */

struct written {
    uint8_t p[4096];
    size_t n;
    struct trod_diag diag;
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
    assert_int_equal(trod_diag_kind_count(&w.diag, "tt6.no-address"), 1);
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

/* Without the markers: the trace begins where its first instruction is, real addresses stay. */
static void test_no_markers(void **state)
{
    static const uint32_t words[] = {0x100,  0x00050001, 0xaaa0, 0x00040001, 0xbbb0, 0x80610008,
                                     0xccc0, 0x00030001, 0xddd0, 0x4e800020, 0x200};
    static struct trace t;
    static struct written w;

    (void)state;
    t.n = 0;
    add_words(&t, words, COUNT(words));
    convert(&trod_format_tt6, &t, 1, &trod_format_tt6, NULL, 1u << TROD_MARKER, &w);
    assert_int_equal(w.rc, 0);
    expect_words(&w, words, COUNT(words)); /* as it was */
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
    assert_int_equal(trod_diag_kind_count(&w.diag, "tt6.no-address"), 1);
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

/* An escape that says more words than there are. */
static void test_long_escape(void **state)
{
    static const uint32_t words[] = {0x100, 0x60000000, 0x0077ffff, 1, 2, 3};
    static struct trace t;
    static uint8_t dec[1 << 14];
    struct trod_span in;
    struct trod_batch *b;
    struct trod_meta meta;

    (void)state;
    t.n = 0;
    add_words(&t, words, COUNT(words));
    in = (struct trod_span){t.p, t.n, 0, true};
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, 8), 0);
    b->meta = &meta;
    b->bytes = in.p;
    b->bytes_n = in.n;
    trod_format_tt6.start(dec, &amber_defaults, &in, &meta, NULL);
    assert_int_equal(trod_format_tt6.decode(dec, &in, b, NULL), TROD_ERR_TRUNCATED);
    assert_int_equal(b->n, 2);
    assert_int_equal(in.offset, 8);
    in.last = false; /* it may still come */
    assert_int_equal(trod_format_tt6.decode(dec, &in, b, NULL), TROD_DEC_MORE);
    trod_batch_free(b);
    trod_meta_fini(&meta);
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
    static struct trace t;
    static uint8_t dec[1 << 14];
    char text[512];
    struct trod_native listing = {0};
    struct trod_room room = {(uint8_t *)text, (uint8_t *)text + sizeof text};
    struct trod_span in;
    struct trod_batch *b;
    struct trod_meta meta;

    (void)state;
    t.n = 0;
    add_words(&t, words, COUNT(words));
    in = (struct trod_span){t.p, t.n, 0, true};
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, 64), 0);
    b->meta = &meta;
    b->bytes = in.p;
    b->bytes_n = in.n;
    trod_format_tt6.start(dec, &amber_defaults, &in, &meta, NULL);
    assert_int_equal(trod_format_tt6.decode(dec, &in, b, NULL), TROD_DEC_MORE);
    for (uint32_t i = 0; i < b->n; i++)
        assert_int_equal(trod_format_tt6.native(&listing, b, i, &room), TROD_ENC_DONE);
    *room.p = '\0';
    assert_string_equal(text, "00000100 INITIAL_PC\n"
                              "00200002 0000bee0 00000001 ESCAPE 0x20\n"
                              "60000000 COMPUTE\n"
                              "80610008 0000ccc0 MEMORY\n"
                              "4e800020 00000200 FLOW_ALTERING\n"
                              "7c632c2a 30000001 2000000d MEMORY_EXTENDED\n");
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_same),
        cmocka_unit_test(test_tt6e_to_tt6), cmocka_unit_test(test_tt6_to_tt6e),
        cmocka_unit_test(test_join),        cmocka_unit_test(test_no_markers),
        cmocka_unit_test(test_no_accesses), cmocka_unit_test(test_isa),
        cmocka_unit_test(test_cut),         cmocka_unit_test(test_long_escape),
        cmocka_unit_test(test_bid),         cmocka_unit_test(test_native),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
