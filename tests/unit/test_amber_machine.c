/*
 * test_amber_machine.c - the Amber drivers against a machine that made the traces: every
 * instruction it executed, and nothing else, comes out of each of the three formats.
 */
#include "trod/trod.h"

#include "format/amber/amber.h"
#include "ppc_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 6000, RECORD = 1004 };

static struct machine_step steps[STEPS];
static uint8_t tt6[STEPS * 28 + 4], tt6e[STEPS * 28 + 4], without[STEPS * 28 + 4];
static uint8_t full[STEPS * RECORD + 4];
static size_t n_tt6, n_tt6e, n_without; /* without: TT6E without synthetic records */

static size_t put32(uint8_t *p, size_t n, uint32_t v)
{
    for (int k = 24; k >= 0; k -= 8)
        p[n++] = (uint8_t)(v >> k);
    return n;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_words(uint8_t *p, size_t *n, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        *n = put32(p, *n, words[i]);
}

static int make(void **state)
{
    static struct machine m;

    (void)state;
    machine_init(&m);
    n_tt6 = put32(tt6, 0, m.pc);
    n_tt6e = put32(tt6e, 0, m.pc);
    n_without = put32(without, 0, m.pc);
    put32(full, 0, 0xa1118e17);
    for (int i = 0; i < STEPS; i++) {
        uint32_t words[8];

        machine_full(&m, full + 4 + i * RECORD);
        machine_step(&m, &steps[i]);
        put_words(tt6, &n_tt6, words, machine_tt6(&steps[i], false, words));
        put_words(tt6e, &n_tt6e, words, machine_tt6(&steps[i], true, words));
        steps[i].trap = false;
        put_words(without, &n_without, words, machine_tt6(&steps[i], true, words));
    }
    return 0;
}

typedef void (*row_fn)(const struct trod_batch *, uint32_t row, void *user);

/* Decode N bytes at P; FN sees each row. With TO the rows are also written to OUT. */
static size_t run(const struct trod_format *f, const uint8_t *p, size_t n, row_fn fn, void *user,
                  const struct trod_format *to, uint8_t *out, size_t room)
{
    void *dec = calloc(1, f->dec_size), *enc = to ? calloc(1, to->enc_size) : NULL;
    struct trod_span in = {p, n, 0, true};
    struct trod_room r = {out, out ? out + room : NULL};
    struct trod_batch *b;
    struct trod_meta meta;
    int rc = TROD_DEC_FULL;

    trod_meta_init(&meta);
    meta.format = f->name;
    assert_int_equal(trod_batch_new(&b, 500), 0);
    b->meta = &meta;
    assert_int_equal(f->start(dec, f->defaults, &in, &meta, NULL), 0);
    if (to)
        assert_int_equal(to->begin(enc, to->defaults, &meta, NULL), 0);
    while (rc == TROD_DEC_FULL) {
        uint32_t row = 0;

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, NULL);
        for (uint32_t i = 0; i < b->n && fn; i++)
            fn(b, i, user);
        if (to)
            assert_int_equal(to->encode(enc, b, &row, &r, NULL), TROD_ENC_DONE);
    }
    assert_int_equal(rc, TROD_DEC_MORE);
    if (to)
        assert_int_equal(to->finish(enc, &r, NULL), TROD_ENC_DONE);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
    return to ? (size_t)(r.p - out) : 0;
}

struct follow {
    bool cache_known; /* accesses of cache operations are there */
    int at;           /* step of the last INSTR row */
    bool accessed;    /* its access was there */
    uint64_t synthetic;
    uint8_t state[RECORD - 4]; /* FULL: of the record, then with the registers written */
};

static void end_step(struct follow *f)
{
    if (f->at >= 0) {
        const struct machine_step *s = &steps[f->at];
        bool want = s->class == CLASS_CACHE ? f->cache_known : s->access != ACCESS_NONE;

        assert_int_equal(f->accessed, want);
    }
}

static void check_instr(const struct trod_batch *b, uint32_t i, struct follow *f)
{
    const struct machine_step *s;

    if (b->flags[i] & TROD_F_SYNTHETIC) {
        f->synthetic++;
        return;
    }
    end_step(f);
    f->accessed = false;
    s = &steps[++f->at];
    assert_true(f->at < STEPS);
    assert_int_equal(b->addr[i], s->pc);
    assert_int_equal(get32(trod_batch_bytes(b, b->code[i])), s->opcode);
    assert_int_equal((b->flags[i] & TROD_F_BRANCH) != 0, s->class == CLASS_FLOW);
    if (b->has[i] & TROD_COL_TARGET)
        assert_int_equal(b->target[i], s->next);
}

static void check_access(const struct trod_batch *b, uint32_t i, struct follow *f)
{
    const struct machine_step *s = &steps[f->at];
    uint8_t kind = b->kind[i];

    f->accessed = true;
    assert_int_equal(b->pc[i], s->pc);
    assert_int_equal(b->addr[i], s->first);
    assert_int_equal(b->size[i], s->size);
    assert_int_equal(get32(trod_batch_detail(b, i)), s->ea);
    if (s->class == CLASS_EXTENDED)
        assert_int_equal(get32((const uint8_t *)trod_batch_detail(b, i) + 4), s->third);
    assert_true(s->access == ACCESS_READ    ? kind == TROD_READ
                : s->access == ACCESS_WRITE ? kind == TROD_WRITE
                : s->access == ACCESS_TOUCH ? kind == TROD_PREFETCH
                                            : kind == TROD_FLUSH || kind == TROD_CACHE_OP);
}

/* Offset of a register in the state, and its bytes. */
static unsigned register_at(const char *name, size_t len)
{
    static const char *const one[] = {"cr", "xer", "lr", "ctr", "mq", "vrsave"};
    unsigned n = name[0] == 'r' || name[0] == 'f' || name[0] == 'v' ? (unsigned)atoi(name + 1) : 0;

    for (unsigned i = 0; i < 6; i++)
        if (len == strlen(one[i]) && memcmp(name, one[i], len) == 0)
            return 136 + 4 * i;
    if (len == 7)
        return 968; /* vrvalid */
    if (len == 5)
        return 420; /* fpscr */
    if (len == 4)
        return name[0] == 's' ? 4 : 936; /* srr1, vscr */
    return name[0] == 'r' ? 8 + 4 * n : name[0] == 'f' ? 160 + 8 * n : 424 + 16 * n;
}

static void apply(const struct trod_batch *b, uint32_t i, struct follow *f)
{
    char name[16] = "";
    unsigned at;

    memcpy(name, trod_batch_bytes(b, b->text[i]), b->text[i].len);
    at = register_at(name, b->text[i].len);
    for (uint32_t k = 0; k < b->size[i]; k++)
        f->state[at + k] = b->has[i] & TROD_COL_DATA
                               ? trod_batch_bytes(b, b->data[i])[b->size[i] - 1 - k]
                               : (uint8_t)(b->value[i] >> (8 * (b->size[i] - 1 - k)));
}

static void follow_row(const struct trod_batch *b, uint32_t i, void *user)
{
    struct follow *f = user;

    switch (b->kind[i]) {
    case TROD_INSTR:
        check_instr(b, i, f);
        break;
    case TROD_STATE:
        /* what the registers written made of the state before is this state */
        if (f->at > 0)
            assert_memory_equal(f->state + 4, trod_batch_bytes(b, b->data[i]) + 4, RECORD - 8);
        memcpy(f->state, trod_batch_bytes(b, b->data[i]), RECORD - 4);
        break;
    case TROD_REG:
        apply(b, i, f);
        break;
    case TROD_MARKER:
        assert_int_equal(b->sub[i], 0x400);
        break;
    default:
        check_access(b, i, f);
    }
}

static void test_tt6(void **state)
{
    struct follow f = {.at = -1};

    (void)state;
    run(&trod_format_tt6, tt6, n_tt6, follow_row, &f, NULL, NULL, 0);
    end_step(&f);
    assert_int_equal(f.at, STEPS - 1);
    assert_int_equal(f.synthetic, 0);
}

static void test_tt6e(void **state)
{
    struct follow f = {.at = -1, .cache_known = true};
    uint64_t traps = 0;

    (void)state;
    for (int i = 0; i < STEPS; i++)
        traps += steps[i].opcode >> 26 == 3;
    run(&trod_format_tt6e, tt6e, n_tt6e, follow_row, &f, NULL, NULL, 0);
    end_step(&f);
    assert_int_equal(f.at, STEPS - 1);
    assert_true(traps > 5);
    assert_int_equal(f.synthetic, 2 * traps);
}

static void test_full(void **state)
{
    static struct follow f;

    (void)state;
    f.at = -1;
    f.cache_known = true;
    run(&trod_format_full, full, sizeof full, follow_row, &f, NULL, NULL, 0);
    end_step(&f);
    assert_int_equal(f.at, STEPS - 1);
}

/* Conversions: what the machine itself would have written. */
static void test_convert(void **state)
{
    static uint8_t out[sizeof full + 2 * RECORD];
    size_t n;

    (void)state;
    n = run(&trod_format_tt6, tt6, n_tt6, NULL, NULL, &trod_format_tt6, out, sizeof out);
    assert_int_equal(n, n_tt6);
    assert_memory_equal(out, tt6, n);
    n = run(&trod_format_tt6e, tt6e, n_tt6e, NULL, NULL, &trod_format_tt6e, out, sizeof out);
    assert_int_equal(n, n_tt6e);
    assert_memory_equal(out, tt6e, n);
    n = run(&trod_format_full, full, sizeof full, NULL, NULL, &trod_format_full, out, sizeof out);
    assert_int_equal(n, sizeof full);
    assert_memory_equal(out, full, n);
    n = run(&trod_format_tt6e, tt6e, n_tt6e, NULL, NULL, &trod_format_tt6, out, sizeof out);
    assert_int_equal(n, n_tt6);
    assert_memory_equal(out, tt6, n);
    n = run(&trod_format_full, full, sizeof full, NULL, NULL, &trod_format_tt6, out, sizeof out);
    assert_int_equal(n, n_tt6);
    assert_memory_equal(out, tt6, n);
    n = run(&trod_format_full, full, sizeof full, NULL, NULL, &trod_format_tt6e, out, sizeof out);
    assert_int_equal(n, n_without);
    assert_memory_equal(out, without, n);
}

static unsigned words_by_lists(uint32_t major, uint32_t minor, bool extended)
{
    uint32_t ma, mi;
    enum machine_class class;

    if (major == 16 || major == 17 || major == 18 ||
        (major == 19 && (minor == 16 || minor == 18 || minor == 50 || minor == 528)))
        return 2;
    for (unsigned i = 0; machine_listed(i, &ma, &mi, &class); i++)
        if (ma == major && (major != 31 || mi == minor))
            return class == CLASS_EXTENDED ? 3 : class == CLASS_CACHE && !extended ? 1 : 2;
    return 1;
}

struct length {
    uint32_t len;
    uint32_t rows;
};

static void take_length(const struct trod_batch *b, uint32_t i, void *user)
{
    struct length *l = user;

    l->rows++;
    if (b->kind[i] == TROD_INSTR)
        l->len += b->raw[i].len;
}

/* Every major and minor opcode: the length of its record by the class lists. */
static void test_lengths(void **state)
{
    (void)state;
    for (int extended = 0; extended < 2; extended++)
        for (uint32_t major = 1; major < 64; major++)
            for (uint32_t minor = 0; minor < 1024; minor++) {
                uint32_t words = words_by_lists(major, minor, extended);
                uint8_t p[20];
                size_t n = put32(p, 0, 0x1000);
                struct length l = {0, 0};

                n = put32(p, n, major << 26 | minor << 1);
                for (uint32_t i = 1; i < words; i++)
                    n = put32(p, n, 0x20000000);
                if ((minor & 31) == 0 || major == 31 || major == 19) {
                    run(extended ? &trod_format_tt6e : &trod_format_tt6, p, n, take_length, &l,
                        NULL, NULL, 0);
                    assert_int_equal(l.len, 4 * words);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tt6),     cmocka_unit_test(test_tt6e),    cmocka_unit_test(test_full),
        cmocka_unit_test(test_convert), cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, make, NULL);
}
