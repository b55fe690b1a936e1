/*
 * fuzz_tt6.c - TT6 and TT6E traces drawn record by record from the input, with what must come out.
 *
 * Opcodes are drawn from the classes, so that inputs stay traces; a slow reader that follows the
 * documents word by word says which instructions there are, and the drivers must agree. The trace
 * is also detected, and converted to the other format and to bus traces, for what that may break.
 */
#include "fuzz.h"
#include "isa/ppc.h"

enum { WORDS = 2048 };

struct trace {
    uint8_t p[4 * WORDS];
    size_t n;
};

static void add(struct trace *t, uint32_t word)
{
    for (int k = 24; k >= 0 && t->n < sizeof t->p; k -= 8)
        t->p[t->n++] = (uint8_t)(word >> k);
}

static uint32_t get(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t draw_opcode(struct trod_gen *g)
{
    static const uint32_t some[] = {0x80610008, 0x7c632c2a, 0x7c0422ac, 0x4e800020, 0x48000008,
                                    0x40820010, 0x0fe00000, 0x7c0027ec, 0xbbc10008, 0x4c000064,
                                    0x48000702, 0x48000700, 0x44000002, 0x7c0020ce};
    uint32_t random = (uint32_t)gen_raw(g, 4);

    return gen_below(g, 3) ? some[random % (sizeof some / sizeof *some)] : random;
}

/* Draw a trace: INITIAL_PC and records, the last of which may be cut. */
static void draw(struct trod_gen *g, struct trace *t)
{
    t->n = 0;
    add(t, (uint32_t)gen_raw(g, 2) << 2);
    while (gen_more(g) && t->n < sizeof t->p - 64) {
        if (gen_once_in(g, 8)) {
            uint32_t words = (uint32_t)gen_below(g, 5);

            add(t, (uint32_t)gen_below(g, 0x40) << 16 | words);
            for (uint32_t i = 0; i < words; i++)
                add(t, (uint32_t)gen_raw(g, 2));
        } else {
            add(t, draw_opcode(g));
        }
        if (gen_below(g, 2))
            add(t, (uint32_t)gen_raw(g, 3) << 2);
    }
    t->n -= gen_below(g, 4);
}

struct check {
    const struct trace *t;
    size_t at; /* bytes read */
    uint32_t pc;
    bool extended;
};

/* The next instruction of the trace by the documents: false when there is none. */
static bool next_instruction(struct check *c, uint32_t *opcode, uint32_t *words)
{
    while (c->t->n - c->at >= 4) {
        uint32_t op = get(c->t->p + c->at);
        enum trod_ppc_class class = trod_ppc_class(op, c->extended ? TROD_PPC_TT6E : TROD_PPC_TT6);
        size_t len = op >> 26 ? 4 * (size_t)trod_ppc_record_words(class) : 4 + 4 * (op & 0xffff);

        if (c->t->n - c->at < len)
            return false;
        *opcode = op;
        *words = (uint32_t)len / 4;
        c->at += len;
        if (op >> 26)
            return true;
    }
    return false;
}

static void check_batch(struct check *c, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t opcode, words;

        fuzz_true(b->pc[i] == c->pc || b->kind[i] != TROD_INSTR, "an address out of the chain");
        if (b->kind[i] != TROD_INSTR)
            continue;
        fuzz_true(next_instruction(c, &opcode, &words), "an instruction too many");
        fuzz_true(get(trod_batch_bytes(b, b->code[i])) == opcode, "another opcode");
        fuzz_true(b->raw[i].len == 4 * words, "another length");
        c->pc = b->has[i] & TROD_COL_TARGET ? (uint32_t)b->target[i] : c->pc + 4;
        if (words > 1 && !(b->has[i] & TROD_COL_TARGET))
            fuzz_true(i + 1 < b->n && (b->flags[i + 1] & TROD_F_CONT), "no access");
    }
}

static void decode(const struct trace *t, bool extended, uint32_t cap)
{
    const struct trod_format *f = trod_format_find(extended ? "tt6e" : "tt6", extended ? 4 : 3);
    struct check c = {t, 4, get(t->p), extended};
    struct trod_span in = {t->p, t->n, 0, true};
    struct trod_meta meta;
    struct trod_batch *b;
    void *dec = calloc(1, f->dec_size);
    uint32_t opcode, words;
    int rc = TROD_DEC_FULL;

    trod_meta_init(&meta);
    if (!dec || trod_batch_new(&b, cap) < 0)
        test_die("out of memory");
    b->meta = &meta;
    fuzz_true(f->start(dec, f->defaults, &in, &meta, NULL) == 0, "not started");
    while (rc == TROD_DEC_FULL) {
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, NULL);
        check_batch(&c, b);
    }
    fuzz_true(rc == TROD_DEC_MORE || rc == TROD_ERR_TRUNCATED, "another end");
    fuzz_true(!next_instruction(&c, &opcode, &words), "an instruction is missing");
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"tt6", "tt6e", "byu6", "byu12"};
    static struct trace t;
    struct trod_gen g = gen_bytes(data, size);
    struct trod_candidate best;
    struct trod_buf out = {0};

    draw(&g, &t);
    for (int extended = 0; extended < 2; extended++) {
        const struct trod_probe probe = {{t.p, t.n, 0, true}, t.n, "trace"};
        const struct test_input in = {
            .format = trod_format_find(extended ? "tt6e" : "tt6", extended ? 4 : 3),
            .p = t.p,
            .n = t.n};

        decode(&t, extended, 2 + (uint32_t)(size % 300));
        (void)trod_detect(&probe, NULL, 0, &best, NULL);
        for (int i = 0; i < 4; i++)
            (void)test_recode(&in, trod_format_find(targets[i], strlen(targets[i])), NULL, &out,
                              NULL);
    }
    trod_buf_fini(&out);
    return 0;
}
