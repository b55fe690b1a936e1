/*
 * test_full.c - the FULL driver against rows worked out by hand from docs/formats/amber.md and the
 * layout of the states in mach/ppc/thread_status.h.
 */
#include "trod/trod.h"

#include "format/amber/amber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Byte offsets in a record, by the structs' members. */
enum {
    SRR0 = 4,
    SRR1 = 8,
    GPR = 12,
    CR = 140,
    XER = 144,
    LR = 148,
    CTR = 152,
    MQ = 156,
    VRSAVE = 160,
    FPR = 164,
    FLOAT_PAD = 420,
    FPSCR = 424,
    VR = 428,
    VSCR = 940,
    VECTOR_PAD = 956,
    VRVALID = 972,
    RECORD = 1004
};

struct trace {
    uint8_t p[4 + 16 * RECORD];
    size_t n;
};

static void put32(uint8_t *p, uint32_t v)
{
    for (int k = 0; k < 4; k++)
        p[k] = (uint8_t)(v >> (24 - 8 * k));
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void begin_trace(struct trace *t)
{
    memset(t, 0, sizeof *t);
    put32(t->p, 0xa1118e17);
    t->n = 4;
}

/* A record like the one before, with another opcode and pc. Returns it. */
static uint8_t *add(struct trace *t, uint32_t opcode, uint32_t pc)
{
    uint8_t *r = t->p + t->n;

    if (t->n > 4)
        memcpy(r, r - RECORD, RECORD);
    put32(r, opcode);
    put32(r + SRR0, pc);
    t->n += RECORD;
    return r;
}

/*
 * 1000 addi; 1004 stwx; 1008 lswx; 100c bne, taken; 1020 dcbz; 1024 lvx; 1028 sc that goes to 1030;
 * 1030 the last one, blr.
 */
static void make(struct trace *t)
{
    uint8_t *r;

    begin_trace(t);
    r = add(t, 0x38630001, 0x1000); /* addi r3,r3,1 */
    put32(r + GPR + 4 * 1, 0x8000);
    put32(r + GPR + 4 * 3, 0x41);
    put32(r + GPR + 4 * 4, 0x20);
    put32(r + XER, 0x20000005);
    r = add(t, 0x7c64092e, 0x1004); /* stwx r3,r4,r1 */
    put32(r + GPR + 4 * 3, 0x42);
    r = add(t, 0x7ca40c2a, 0x1008); /* lswx r5,r4,r1 */
    r = add(t, 0x40820014, 0x100c); /* bne 1020 */
    put32(r + GPR + 4 * 5, 0x11223344);
    put32(r + GPR + 4 * 6, 0x55000000);
    r = add(t, 0x7c000fec, 0x1020); /* dcbz 0,r1 */
    r = add(t, 0x7c2408ce, 0x1024); /* lvx v1,r4,r1 */
    r = add(t, 0x44000002, 0x1028); /* sc */
    for (uint32_t k = 0; k < 4; k++)
        put32(r + VR + 16 + 4 * k, 0x01020304 + 0x04040404 * k);
    put32(r + VRVALID, 0x40000000);
    r = add(t, 0x4e800020, 0x1030); /* blr; the system call changes one of everything */
    put32(r + SRR1, 0xd030);
    put32(r + GPR, 1);
    put32(r + GPR + 4 * 31, 2);
    put32(r + CR, 3);
    put32(r + XER, 4);
    put32(r + LR, 5);
    put32(r + CTR, 6);
    put32(r + MQ, 7);
    put32(r + VRSAVE, 8);
    put32(r + FPR, 0x3ff00000);
    put32(r + FPR + 8 * 31 + 4, 9);
    put32(r + FLOAT_PAD, 10);
    put32(r + FPSCR, 11);
    put32(r + VR + 12, 12);
    put32(r + VR + 16 * 31, 13);
    put32(r + VSCR + 12, 14);
    put32(r + VECTOR_PAD, 15);
    put32(r + VRVALID, 16);
    put32(r + VRVALID + 4, 17);
    put32(r + RECORD - 4, 18);
}

struct expect {
    uint8_t kind;
    uint32_t flags, size;
    uint64_t pc, addr;
    const char *name; /* of a REG, CACHE_OP */
    uint64_t value;
    const char *data; /* of a REG of 16 bytes */
    uint64_t target;  /* 0: none */
    uint32_t ea, third;
    size_t record;
};

#define CONT  TROD_F_CONT
#define I     TROD_INSTR, 0, 4
#define S     TROD_STATE, CONT, 1000
#define R4    TROD_REG, CONT, 4
#define R8    TROD_REG, CONT, 8
#define R16   TROD_REG, CONT, 16
#define NONE0 NULL, 0, NULL, 0, 0, 0

static const struct expect rows[] = {
    {I, 0x1000, 0x1000, NONE0, 0},
    {S, 0x1000, 0x1000, NONE0, 0},
    {R4, 0x1000, 0, "r3", 0x42, NULL, 0, 0, 0, 0},
    {I, 0x1004, 0x1004, NONE0, 1},
    {S, 0x1004, 0x1004, NONE0, 1},
    {TROD_WRITE, CONT, 4, 0x1004, 0x8020, NULL, 0, NULL, 0, 0x8020, 0, 1},
    {I, 0x1008, 0x1008, NONE0, 2},
    {S, 0x1008, 0x1008, NONE0, 2},
    {TROD_READ, CONT, 5, 0x1008, 0x8020, NULL, 0, NULL, 0, 0x8020, 0x20000005, 2},
    {R4, 0x1008, 0, "r5", 0x11223344, NULL, 0, 0, 0, 2},
    {R4, 0x1008, 0, "r6", 0x55000000, NULL, 0, 0, 0, 2},
    {TROD_INSTR, TROD_BR_COND_TAKEN, 4, 0x100c, 0x100c, NULL, 0, NULL, 0x1020, 0, 0, 3},
    {S, 0x100c, 0x100c, NONE0, 3},
    {I, 0x1020, 0x1020, NONE0, 4},
    {S, 0x1020, 0x1020, NONE0, 4},
    {TROD_WRITE, CONT, 32, 0x1020, 0x8000, NULL, 0, NULL, 0, 0x8000, 0, 4},
    {I, 0x1024, 0x1024, NONE0, 5},
    {S, 0x1024, 0x1024, NONE0, 5},
    {TROD_READ, CONT, 16, 0x1024, 0x8020, NULL, 0, NULL, 0, 0x8020, 0, 5},
    {R16, 0x1024, 0, "v1", 0, "\x10\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08\x07\x06\x05\x04\x03\x02\x01", 0,
     0, 0, 5},
    {R4, 0x1024, 0, "vrvalid", 0x40000000, NULL, 0, 0, 0, 5},
    {TROD_INSTR, TROD_BR_SYSCALL, 4, 0x1028, 0x1028, NULL, 0, NULL, 0x1030, 0, 0, 6},
    {S, 0x1028, 0x1028, NONE0, 6},
    {R4, 0x1028, 0, "srr1", 0xd030, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "r0", 1, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "r31", 2, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "cr", 3, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "xer", 4, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "lr", 5, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "ctr", 6, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "mq", 7, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "vrsave", 8, NULL, 0, 0, 0, 6},
    {R8, 0x1028, 0, "f0", 0x3ff0000000000000, NULL, 0, 0, 0, 6},
    {R8, 0x1028, 0, "f31", 9, NULL, 0, 0, 0, 6},
    {R4, 0x1028, 0, "fpscr", 11, NULL, 0, 0, 0, 6},
    {R16, 0x1028, 0, "v0", 0, "\x0c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, 0, 0, 6},
    {R16, 0x1028, 0, "v31", 0, "\0\0\0\0\0\0\0\0\0\0\0\0\x0d\0\0\0", 0, 0, 0, 6},
    {R16, 0x1028, 0, "vscr", 0, "\x0e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, 0, 0, 6},
    {R4, 0x1028, 0, "vrvalid", 16, NULL, 0, 0, 0, 6},
    {TROD_INSTR, TROD_BR_RETURN, 4, 0x1030, 0x1030, NONE0, 7},
    {S, 0x1030, 0x1030, NONE0, 7},
};

static void check_access(const struct trod_batch *b, uint32_t i, const struct expect *e)
{
    const uint8_t *detail = trod_batch_detail(b, i);

    assert_int_equal(b->addr[i], e->addr);
    assert_non_null(detail);
    assert_int_equal(get32(detail), e->ea);
    assert_int_equal(b->detail[i].len, e->third ? 8 : 4);
    if (e->third)
        assert_int_equal(get32(detail + 4), e->third);
}

static void check_row(const struct trod_batch *b, uint32_t i, const struct expect *e,
                      const struct trace *t)
{
    const uint8_t *record = t->p + 4 + e->record * RECORD;

    assert_int_equal(b->kind[i], e->kind);
    assert_int_equal(b->flags[i], e->flags);
    assert_int_equal(b->size[i], e->size);
    assert_int_equal(b->pc[i], e->pc);
    assert_int_equal(!!(b->has[i] & TROD_COL_TARGET), e->target != 0);
    assert_int_equal(!!(b->has[i] & TROD_COL_RAW), e->kind == TROD_INSTR);
    if (e->target)
        assert_int_equal(b->target[i], e->target);
    if (e->kind == TROD_INSTR) {
        assert_memory_equal(trod_batch_bytes(b, b->code[i]), record, 4);
        assert_int_equal(b->raw[i].len, RECORD);
        assert_memory_equal(trod_batch_bytes(b, b->raw[i]), record, RECORD);
    } else if (e->kind == TROD_STATE) {
        assert_int_equal(b->data[i].len, RECORD - 4);
        assert_memory_equal(trod_batch_bytes(b, b->data[i]), record + 4, RECORD - 4);
    } else if (e->kind == TROD_REG) {
        assert_int_equal(b->text[i].len, strlen(e->name));
        assert_memory_equal(trod_batch_bytes(b, b->text[i]), e->name, strlen(e->name));
        assert_int_equal(!!(b->has[i] & TROD_COL_DATA), e->data != NULL);
        if (e->data)
            assert_memory_equal(trod_batch_bytes(b, b->data[i]), e->data, 16);
        else
            assert_int_equal(b->value[i], e->value);
    } else {
        check_access(b, i, e);
    }
}

/* Decode T; returns what decode returned last. With REGS false no REG rows are expected. */
static int check(const struct trace *t, uint32_t cap, size_t step, bool regs, size_t n_rows)
{
    const struct amber_options opt = {.line = 32,
                                      .registers = regs ? AMBER_REGS_DIFF : AMBER_REGS_NONE};
    const struct trod_format *f = &trod_format_full;
    void *dec = calloc(1, f->dec_size);
    struct trod_span in = {t->p, 0, 0, false};
    struct trod_batch *b;
    struct trod_meta meta;
    size_t seen = 0, row = 0;
    int rc = TROD_DEC_MORE;

    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, cap), 0);
    b->meta = &meta;
    assert_int_equal(f->start(dec, &opt, &in, &meta, NULL), 0);
    while (rc >= 0 && !(rc == TROD_DEC_MORE && in.last)) {
        if (rc == TROD_DEC_MORE)
            seen = step && t->n - seen > step ? seen + step : t->n;
        in.n = seen - (size_t)(in.p - t->p);
        in.last = seen == t->n;
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, NULL);
        for (uint32_t i = 0; i < b->n; i++, row++) {
            while (!regs && row < n_rows && rows[row].kind == TROD_REG)
                row++;
            assert_true(row < n_rows);
            check_row(b, i, &rows[row], t);
        }
    }
    assert_int_equal(row, n_rows);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    return rc;
}

static void test_rows(void **state)
{
    static const size_t steps[] = {0, 1, 3, 1004, 2500};
    static struct trace t;

    (void)state;
    make(&t);
    for (size_t s = 0; s < COUNT(steps); s++) {
        assert_int_equal(check(&t, trod_format_full.record_rows, steps[s], true, COUNT(rows)), 0);
        assert_int_equal(check(&t, TROD_BATCH_ROWS, steps[s], true, COUNT(rows)), 0);
        assert_int_equal(check(&t, TROD_BATCH_ROWS, steps[s], false, COUNT(rows)), 0);
    }
}

/* Cut inside the third record: the two before it are rows, what the second wrote is not known. */
static void test_cut(void **state)
{
    static struct trace t;

    (void)state;
    make(&t);
    for (size_t cut = 1; cut < RECORD; cut += 91) {
        t.n = 4 + 3 * RECORD - cut;
        assert_int_equal(check(&t, TROD_BATCH_ROWS, 0, true, 6), TROD_ERR_TRUNCATED);
    }
    for (t.n = 0; t.n < 4; t.n++) /* 4 + 1004 * n bytes: an empty file is none either */
        assert_int_equal(check(&t, TROD_BATCH_ROWS, 0, true, 0), TROD_ERR_TRUNCATED);
    t.n = 4;
    assert_int_equal(check(&t, TROD_BATCH_ROWS, 0, true, 0), TROD_DEC_MORE);
    t.n = 5000;
    t.p[0] = t.p[1] = 0; /* with one wrong byte the records would be read */
    assert_int_equal(check(&t, TROD_BATCH_ROWS, 0, true, 0), TROD_ERR_CORRUPT);
}

struct written {
    uint8_t p[1 << 15];
    size_t n;
    struct trod_diag diag;
};

static int convert(const struct trace *t, const struct trod_format *to, struct written *w)
{
    void *dec = calloc(1, trod_format_full.dec_size), *enc = calloc(1, to->enc_size);
    struct trod_span in = {t->p, t->n, 0, true};
    struct trod_batch *b;
    struct trod_meta meta;
    struct trod_room room = {w->p, w->p + sizeof w->p};
    int rc, rc_in = TROD_DEC_FULL;

    trod_meta_init(&meta);
    meta.format = "full";
    trod_diag_init(&w->diag, NULL, NULL);
    assert_int_equal(trod_batch_new(&b, trod_format_full.record_rows), 0);
    b->meta = &meta;
    assert_int_equal(trod_format_full.start(dec, &amber_defaults, &in, &meta, NULL), 0);
    rc = to->begin(enc, to->defaults, &meta, &w->diag);
    while (rc == 0 && rc_in == TROD_DEC_FULL) {
        uint32_t row = 0;

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc_in = trod_format_full.decode(dec, &in, b, NULL);
        rc = to->encode(enc, b, &row, &room, &w->diag);
    }
    if (rc == 0)
        rc = to->finish(enc, &room, &w->diag);
    w->n = (size_t)(room.p - w->p);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
    return rc;
}

static void test_same(void **state)
{
    static struct trace t;
    static struct written w;

    (void)state;
    make(&t);
    assert_int_equal(convert(&t, &trod_format_full, &w), 0);
    assert_int_equal(w.n, t.n);
    assert_memory_equal(w.p, t.p, t.n);
    assert_int_equal(w.diag.errors, 0);
}

static void expect_words(const struct written *w, const uint32_t *words, size_t n)
{
    assert_int_equal(w->n, 4 * n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(get32(w->p + 4 * i), words[i]);
}

/* What TT6 and TT6E hold is all there, but for where the last instruction goes. */
static void test_to_tt6(void **state)
{
    static const uint32_t tt6[] = {
        0x1000, 0x38630001, 0x7c64092e, 0x8020, 0x7ca40c2a, 0x8020, 0x20000005, 0x40820014,
        0x1020, 0x7c000fec, 0x7c2408ce, 0x8020, 0x44000002, 0x1030, 0x4e800020, 0x1034};
    static const uint32_t tt6e[] = {0x1000,     0x38630001, 0x7c64092e, 0x8020,     0x7ca40c2a,
                                    0x8020,     0x20000005, 0x40820014, 0x1020,     0x7c000fec,
                                    0x8000,     0x7c2408ce, 0x8020,     0x44000002, 0x1030,
                                    0x4e800020, 0x1034};
    static struct trace t;
    static struct written w;

    (void)state;
    make(&t);
    assert_int_equal(convert(&t, &trod_format_tt6, &w), 0);
    expect_words(&w, tt6, COUNT(tt6));
    assert_int_equal(w.diag.errors, 0);
    assert_int_equal(trod_diag_kind_count(&w.diag, "tt6.no-next"), 1);
    assert_int_equal(convert(&t, &trod_format_tt6e, &w), 0);
    expect_words(&w, tt6e, COUNT(tt6e));
}

/* The registers are not in TT6. */
static void test_refused(void **state)
{
    struct trod_meta meta;
    struct trod_diag diag;
    void *enc = calloc(1, trod_format_full.enc_size);

    (void)state;
    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    meta.format = "tt6";
    meta.isa = TROD_ISA_PPC32;
    assert_int_equal(trod_format_full.begin(enc, &amber_defaults, &meta, &diag), TROD_ERR_LOSS);
    assert_int_equal(trod_diag_kind_count(&diag, "full.registers"), 1);
    free(enc);
}

static void test_bid(void **state)
{
    static struct trace t;
    struct trod_probe probe = {{t.p, 0, 0, true}, 0, "trace"};
    const char *dialect = NULL;

    (void)state;
    make(&t);
    probe.head.n = t.n;
    assert_true(trod_format_full.bid(&probe, &dialect) >= TROD_BID_ACCEPT + TROD_BID_LEAD);
    assert_int_equal(trod_format_tt6.bid(&probe, &dialect), 0);
    probe.head.n = 3;
    assert_int_equal(trod_format_full.bid(&probe, &dialect), 0);
    probe.head.n = t.n;
    t.p[3] ^= 1;
    assert_int_equal(trod_format_full.bid(&probe, &dialect), 0);
}

/* Which word of the state is which register: every word alone, against the struct's offsets. */
static void test_each_word(void **state)
{
    static struct trace t;
    static const char *const single[] = {"cr", "xer", "lr", "ctr", "mq", "vrsave"};
    void *dec = calloc(1, trod_format_full.dec_size);
    struct trod_batch *b;
    struct trod_meta meta;

    (void)state;
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    for (unsigned at = SRR1; at < RECORD; at += 4) {
        struct trod_span in = {t.p, 4 + 2 * RECORD, 0, true};
        char name[16] = "";

        begin_trace(&t);
        add(&t, 0x60000000, 0x1000);
        put32(add(&t, 0x60000000, 0x1004) + at, 0x12345678);
        if (at < GPR)
            strcpy(name, "srr1");
        else if (at < CR)
            sprintf(name, "r%u", (at - GPR) / 4);
        else if (at < FPR)
            strcpy(name, single[(at - CR) / 4]);
        else if (at < FLOAT_PAD)
            sprintf(name, "f%u", (at - FPR) / 8);
        else if (at == FPSCR)
            strcpy(name, "fpscr");
        else if (at >= VR && at < VSCR)
            sprintf(name, "v%u", (at - VR) / 16);
        else if (at >= VSCR && at < VECTOR_PAD)
            strcpy(name, "vscr");
        else if (at == VRVALID)
            strcpy(name, "vrvalid");
        memset(dec, 0, trod_format_full.dec_size);
        trod_format_full.start(dec, &amber_defaults, &in, &meta, NULL);
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        assert_int_equal(trod_format_full.decode(dec, &in, b, NULL), TROD_DEC_MORE);
        assert_int_equal(b->n, *name ? 5 : 4);
        if (*name) {
            assert_int_equal(b->kind[2], TROD_REG);
            assert_int_equal(b->text[2].len, strlen(name));
            assert_memory_equal(trod_batch_bytes(b, b->text[2]), name, strlen(name));
        }
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_same),      cmocka_unit_test(test_to_tt6),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_bid),
        cmocka_unit_test(test_each_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
