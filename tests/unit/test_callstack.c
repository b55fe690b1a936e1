/*
 * The call stack on traces whose calls were worked out by hand: the hard cases that Arm's tools get
 * wrong (docs/navigating.md), and instruction sets of every family, as rows.
 */
#include "trod/callstack.h"

#include "trod/io.h"
#include "trod/reader.h"
#include "trod_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- activations as a tree in text */

enum { MOST = 4096 };

struct node {
    int parent, first, last, next; /* numbers of nodes, -1: none */
    uint64_t function, from, to;
    unsigned kind, how, context;
    uint32_t stream;
};

struct tree {
    struct node node[MOST];
    int n, below;
    char text[1 << 16];
    size_t len;
    uint64_t rows; /* told, of all kinds */
};

static void hang(struct tree *t, int child, int parent)
{
    struct node *c = &t->node[child];

    c->parent = parent;
    c->next = -1;
    if (parent < 0)
        return;
    if (t->node[parent].last >= 0)
        t->node[t->node[parent].last].next = child;
    else
        t->node[parent].first = child;
    t->node[parent].last = child;
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct tree *t = ctx;
    struct node *n = &t->node[t->n];

    assert_true(t->n < MOST);
    *n = (struct node){.parent = -1,
                       .first = -1,
                       .last = -1,
                       .next = -1,
                       .function = f->function,
                       .from = f->entry.time,
                       .kind = f->kind,
                       .context = f->context,
                       .stream = f->stream};
    f->user = (uint64_t)t->n++;
    if (f->depth)
        hang(t, (int)f->user, (int)f[-1].user);
    if (f->under) {
        n->from = t->node[t->below].from;
        hang(t, t->below, (int)f->user);
    }
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct tree *t = ctx;

    t->node[f->user].to = end->last.time;
    t->node[f->user].how = end->how;
    if (f->depth == 0)
        t->below = (int)f->user;
    return 0;
}

static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct tree *t = ctx;

    (void)b;
    (void)f;
    t->rows += to - from;
    return 0;
}

static void put(struct tree *t, const char *format, ...)
{
    va_list ap;

    if (t->len > sizeof t->text - 256)
        return;
    va_start(ap, format);
    t->len += (size_t)vsnprintf(t->text + t->len, sizeof t->text - t->len, format, ap);
    va_end(ap);
}

static void print(struct tree *t, int i)
{
    const struct node *n = &t->node[i];

    if (n->kind == TROD_FRAME_TAIL || n->kind == TROD_FRAME_EXCEPTION)
        put(t, "%s ", trod_frame_kind_name(n->kind));
    put(t, "%llx", (unsigned long long)n->function);
    if (n->parent >= 0)
        put(t, " %llu..%llu", (unsigned long long)n->from, (unsigned long long)n->to);
    if (n->how == TROD_FRAME_UNWOUND || (n->how == TROD_FRAME_OPEN && n->parent >= 0))
        put(t, " %s", trod_frame_end_name(n->how));
    if (n->first < 0)
        return;
    put(t, " {");
    for (int c = n->first; c >= 0; c = t->node[c].next) {
        put(t, "%s ", c == n->first ? "" : ";");
        print(t, c);
    }
    put(t, " }");
}

static void begin(struct tree *t)
{
    *t = (struct tree){.below = -1};
}

static const char *finish(struct tree *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->node[i].parent < 0) {
            put(t, "%s", t->len ? " / " : "");
            print(t, i);
        }
    return t->text;
}

static const struct trod_callstack_sink sink = {NULL, enter, leave, rows};

/* The tree of the Tarmac text TEXT, in batches of BATCH rows. */
static const char *tarmac(struct tree *t, const char *text, uint32_t batch)
{
    struct trod_callstack_sink to = sink;
    struct trod_reader_options options = {.struct_size = sizeof options, .from = "tarmac"};
    struct trod_meta meta;
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    struct trod_callstack *c;
    uint64_t n = 0;

    begin(t);
    to.ctx = t;
    trod_meta_init(&meta);
    assert_int_equal(trod_input_memory(&in, text, strlen(text), "test", NULL, NULL), 0);
    assert_int_equal(trod_reader_open(&r, in, &options, &meta, NULL), 0);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->want = TROD_CALLSTACK_COLUMNS;
    assert_int_equal(trod_callstack_new(&c, &to, NULL, false), 0);
    while (trod_reader_next(r, b) == 1) {
        for (uint32_t i = 0; i < b->n; i += batch)
            assert_int_equal(trod_callstack_feed(c, b, i, b->n - i < batch ? b->n : i + batch), 0);
        n += b->n;
    }
    assert_int_equal(trod_callstack_end(c), 0);
    assert_int_equal(t->rows, n);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_reader_close(r);
    trod_meta_fini(&meta);
    return finish(t);
}

/* ---- the hard cases of Arm's tools, where they are */

static const struct {
    const char *edge, *tree;
} edges[] = {
    {"rec", "1000 { 2000 3..16 { 2000 5..14 { 2000 7..12 { 2000 9..10 } } } }"},
    {"tail", "1000 { 2000 3..6 }"},
    {"hang", "1000 { 2000 3..6 open { 3000 5..6 open } }"},
    {"longjmp", "1000 { 5000 3..4; 2000 7..13 unwound { 3000 9..13 unwound { 6000 11..13 unwound "
                "} } }"},
    {"dup", "1000 { 2000 4..5 unwound; 2000 8..9 }"},
    {"irq64", "1000 { 2000 3..12 { exception 9000 5..10 { a000 7..8 } } }"},
    {"irq32", "1000 { 2000 3..6 { exception 18 5..5 } }"},
    {"elswitch", "1000 { 2000 3..11 { exception 9000 5..9 { a000 7..8 } } }"},
    {"thumb-mprofile", "100 { 200 3..6 { 300 5..5 }; exception 400 9..12 { 500 11..11 } }"},
    {"nosp", "1000 { 2000 3..8 { 3000 5..6 } }"},
    {"midret", "1008 { 2000 1..3; 3000 6..7 }"},
    {"blnext", "1000"},
};

static struct tree tree; /* large */

static char *load(const char *edge)
{
    const char *traces = getenv("TROD_TRACES"), *source = getenv("TROD_SOURCE");
    char path[512];
    FILE *f;
    char *text = calloc(1, 1 << 20);

    if (traces)
        snprintf(path, sizeof path, "%s/tarmac/reference/edge-%s/trace.tarmac", traces, edge);
    else
        snprintf(path, sizeof path, "%s/../shared/traces/tarmac/reference/edge-%s/trace.tarmac",
                 source ? source : ".", edge);
    f = fopen(path, "r");
    if (!f || !text) {
        free(text);
        return NULL;
    }
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void test_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        char *text = load(edges[i].edge);

        if (!text) {
            print_message("skipped: no traces of Arm's tools\n");
            skip();
        }
        for (uint32_t batch = 1; batch < 9; batch += 3)
            assert_string_equal(tarmac(&tree, text, batch), edges[i].tree);
        assert_string_equal(tarmac(&tree, text, TROD_BATCH_ROWS), edges[i].tree);
        free(text);
    }
}

static void test_two_cpus(void **state)
{
    char *text = load("twocpu");

    (void)state;
    if (!text)
        skip();
    assert_string_equal(tarmac(&tree, text, 3), "1000 { 2000 3..5 } / 4000");
    free(text);
}

/*
 * A kernel that switches tasks on one cpu: 1000 calls 2000, which is interrupted; the handler at
 * 9000 returns to 5000, which calls 6000, which is interrupted; then 2000 goes on and returns, 1000
 * is interrupted, and 6000 goes on and returns. Each task keeps its stack.
 */
static void test_tasks(void **state)
{
    static const struct {
        unsigned pc, op;
        bool exception; /* behind it */
    } step[] = {
        {0x1000, 0x94000400, false}, {0x2000, 0xd503201f, false}, {0x2004, 0xd503201f, true},
        {0x9000, 0xd503201f, false}, {0x9004, 0xd69f03e0, false}, {0x5000, 0xd503201f, false},
        {0x5004, 0x940003ff, false}, {0x6000, 0xd503201f, true},  {0x9000, 0xd503201f, false},
        {0x9004, 0xd69f03e0, false}, {0x2008, 0xd503201f, false}, {0x200c, 0xd65f03c0, false},
        {0x1004, 0xd503201f, true},  {0x9000, 0xd503201f, false}, {0x9004, 0xd69f03e0, false},
        {0x6004, 0xd503201f, false}, {0x6008, 0xd65f03c0, false}, {0x5008, 0xd503201f, false},
    };
    char text[4096];
    size_t n = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof step / sizeof *step; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%u clk IT (%u) %08x %08x O EL1h_n : X\n",
                              i + 1, i + 1, step[i].pc, step[i].op);
        if (step[i].exception)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "%u clk E %08x 00000082 CoreEvent_CURRENT_SPx_IRQ\n", i + 1,
                                  step[i].pc + 4);
    }
    for (uint32_t batch = 1; batch < 9; batch += 3) {
        assert_string_equal(tarmac(&tree, text, batch),
                            "1000 { 2000 2..12 { exception 9000 4..5 }; exception 9000 14..15 } / "
                            "5000 { 6000 8..17 { exception 9000 9..10 } }");
        assert_int_equal(tree.node[0].context, 0);
        assert_int_equal(tree.node[3].context, 1);
    }
}

/* ---- instruction sets, as rows */

struct insn {
    uint64_t pc;
    uint32_t size;
    uint8_t code[4];
    unsigned branch;
};

static const struct trod_symbols *symbols; /* of the next run */

/* The tree of N instructions of ISA; the time of each is its number, from 1. */
static const char *run(enum trod_isa isa, enum trod_endian endian, const struct insn *insn,
                       size_t n)
{
    struct trod_callstack_sink to = sink;
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_meta meta;

    begin(&tree);
    to.ctx = &tree;
    trod_meta_init(&meta);
    meta.isa = isa;
    meta.endian = endian;
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    trod_batch_clear(b);
    b->meta = &meta;
    b->want = b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_TIME |
                        TROD_COL_ADDR | TROD_COL_CODE;
    for (uint32_t i = 0; i < n; i++) {
        b->has[i] = b->have & (insn[i].branch ? ~(uint32_t)TROD_COL_CODE : UINT32_MAX);
        b->kind[i] = TROD_INSTR;
        b->addr[i] = insn[i].pc;
        b->size[i] = insn[i].size;
        b->flags[i] = insn[i].branch;
        b->time[i] = i + 1;
        memcpy(trod_batch_pool(b, 4, &b->code[i]), insn[i].code, 4);
        b->code[i].len = insn[i].size;
    }
    b->n = (uint32_t)n;
    assert_int_equal(trod_callstack_new(&c, &to, symbols, false), 0);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(trod_callstack_feed(c, b, i, i + 1), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return finish(&tree);
}

/* PowerPC: a call, a conditional return, bcl 20,31,$+4 (no call), bctr to the return address. */
static void test_ppc(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 4, {0x48, 0x00, 0x10, 0x01}, 0}, /* bl 0x2000 */
        {0x2000, 4, {0x60, 0x00, 0x00, 0x00}, 0}, /* nop */
        {0x2004, 4, {0x4d, 0x82, 0x00, 0x20}, 0}, /* beqlr */
        {0x1004, 4, {0x42, 0x9f, 0x00, 0x05}, 0}, /* bcl 20,31,$+4 */
        {0x1008, 4, {0x4e, 0x80, 0x04, 0x21}, 0}, /* bctrl */
        {0x3000, 4, {0x4e, 0x80, 0x04, 0x20}, 0}, /* bctr to 0x100c */
        {0x100c, 4, {0x60, 0x00, 0x00, 0x00}, 0},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_PPC32, TROD_ENDIAN_BIG, insn, 7),
                        "1000 { 2000 2..3; 3000 6..6 }");
}

/* The instruction behind a branch is the caller's, and it returns to the one behind that. */
static void test_mips(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 4, {0x00, 0x08, 0x00, 0x0c}, 0}, /* jal 0x2000 */
        {0x1004, 4, {0x00, 0x00, 0x00, 0x00}, 0}, /* nop, the caller's */
        {0x2000, 4, {0x08, 0x00, 0xe0, 0x03}, 0}, /* jr ra */
        {0x2004, 4, {0x00, 0x00, 0x00, 0x00}, 0}, /* nop, the callee's */
        {0x1008, 4, {0x00, 0x00, 0x00, 0x00}, 0},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_MIPS32, TROD_ENDIAN_LITTLE, insn, 5), "1000 { 2000 3..4 }");
}

/* A return that skips a frame, a tail call to what was called before, an unknown return. */
static void test_kinds(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 5, {0}, TROD_BR_CALL},   {0x3000, 1, {0}, TROD_BR_RETURN},
        {0x1005, 5, {0}, TROD_BR_CALL},   {0x2000, 5, {0}, TROD_BR_DIRECT},
        {0x3000, 5, {0}, TROD_BR_CALL},   {0x4000, 5, {0}, TROD_BR_ICALL},
        {0x5000, 1, {0}, TROD_BR_RETURN}, {0x3005, 1, {0}, TROD_BR_RETURN},
        {0x100a, 1, {0}, TROD_BR_RETURN}, {0x9000, 5, {0}, TROD_BR_CALL},
        {0x1000, 1, {0}, TROD_BR_RETURN}, {0x9005, 1, {0}, TROD_BR_OTHER},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, 12),
                        "9000 { 1000 1..9 { 3000 2..2; 2000 4..8 { tail 3000 5..8 { 4000 6..7 { "
                        "5000 7..7 unwound } } } }; 1000 11..11 }");
}

/* longjmp without a stack pointer: back to behind an earlier call of an open function. */
static void test_longjmp(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 5, {0}, TROD_BR_CALL},     /* main calls f */
        {0x2000, 5, {0}, TROD_BR_CALL},     /* f calls setjmp */
        {0x8000, 1, {0}, TROD_BR_RETURN},   /* setjmp */
        {0x2005, 5, {0}, TROD_BR_CALL},     /* f calls g */
        {0x3000, 5, {0}, TROD_BR_CALL},     /* g calls longjmp */
        {0x8100, 2, {0}, TROD_BR_INDIRECT}, /* longjmp */
        {0x2005, 2, {0}, TROD_BR_DIRECT},   /* f again */
        {0x2010, 1, {0}, TROD_BR_RETURN},   {0x1005, 1, {0}, TROD_BR_RETURN},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, 9),
                        "1000 { 2000 2..8 { 8000 3..3; 3000 5..6 unwound { 8100 6..6 unwound } } "
                        "}");
}

/* f, which 1000 calls, calls 3000, which calls 4000, and is thrown into by 4000 after N nops. */
static const char *thrown(size_t n)
{
    static const struct insn before[] = {{0x1000, 5, {0}, TROD_BR_CALL},
                                         {0x2000, 5, {0}, TROD_BR_CALL},
                                         {0x3000, 5, {0}, TROD_BR_CALL}};
    struct insn insn[64] = {before[0], before[1], before[2]};

    for (size_t i = 0; i < n; i++)
        insn[3 + i] = (struct insn){0x4000 + i, 1, {0}, TROD_BR_OTHER};
    insn[3 + n] = (struct insn){0x4000 + n, 2, {0}, TROD_BR_INDIRECT};
    insn[4 + n] = (struct insn){0x2020, 1, {0}, TROD_BR_RETURN};
    insn[5 + n] = (struct insn){0x1005, 1, {0}, TROD_BR_OTHER};
    return run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, 6 + n);
}

/* Without stack pointers and symbols; what is short is linkage code. */
static void test_exception(void **state)
{
    (void)state;
    assert_string_equal(thrown(20),
                        "1000 { 2000 2..25 { 3000 3..24 unwound { 4000 4..24 unwound } } }");
    assert_string_equal(thrown(2),
                        "1000 { 2000 2..7 { 3000 3..7 unwound { 4000 4..7 unwound } } }");
}

/* Two functions that jump to each other for ever: the stack stays small. */
static void test_state_machine(void **state)
{
    static struct insn insn[4000];
    size_t n = 0;

    (void)state;
    insn[n++] = (struct insn){0x1000, 5, {0}, TROD_BR_CALL};
    insn[n++] = (struct insn){0x3000, 1, {0}, TROD_BR_RETURN};
    insn[n++] = (struct insn){0x1005, 5, {0}, TROD_BR_CALL};
    while (n < 3999) {
        insn[n] = (struct insn){n & 1 ? 0x2000 : 0x3000, 5, {0}, TROD_BR_DIRECT};
        n++;
    }
    insn[n - 1].branch = TROD_BR_RETURN;
    insn[n++] = (struct insn){0x100a, 5, {0}, TROD_BR_NONE};
    run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, n);
    for (int i = 0; i < tree.n; i++) {
        int depth = 0;

        for (int k = i; k >= 0; k = tree.node[k].parent)
            depth++;
        assert_true(depth <= 4);
    }
    assert_int_equal(tree.node[2].to, 3999);
}

/* Jumps to the last address there is: nothing is known to begin there. */
static void test_last_address(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 2, {0}, TROD_BR_DIRECT},
        {UINT64_MAX, 1, {0}, TROD_BR_DIRECT},
        {0x1000, 2, {0}, TROD_BR_DIRECT},
        {UINT64_MAX, 1, {0}, TROD_BR_NONE},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, 4), "1000");
}

/* ---- two functions one behind the other: a way from the first into the second */

/* Without symbols: what was called before. All rows by themselves, and all at once. */
static void test_onward(void **state)
{
    static const struct insn insn[] = {
        {0x1000, 5, {0}, TROD_BR_CALL},   {0x2010, 1, {0}, TROD_BR_RETURN}, /* 2010 is a function */
        {0x1005, 5, {0}, TROD_BR_CALL},   {0x2008, 8, {0}, TROD_BR_DIRECT}, /* 2008 jumps there */
        {0x2010, 1, {0}, TROD_BR_RETURN}, {0x100a, 5, {0}, TROD_BR_CALL},
        {0x2008, 8, {0}, TROD_BR_NONE},   {0x2010, 1, {0}, TROD_BR_RETURN}, /* and runs into it */
        {0x100f, 5, {0}, TROD_BR_CALL},   {0x2008, 8, {0}, TROD_BR_COND_TAKEN},
        {0x2010, 1, {0}, TROD_BR_RETURN}, {0x1014, 5, {0}, TROD_BR_CALL},
        {0x2008, 8, {0}, TROD_BR_CALL},   {0x2010, 1, {0}, TROD_BR_NONE}, /* call $+5 */
        {0x2011, 1, {0}, TROD_BR_RETURN}, {0x1019, 5, {0}, TROD_BR_OTHER},
    };

    (void)state;
    assert_string_equal(run(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, insn, 16),
                        "1000 { 2010 2..2; 2008 4..5 { tail 2010 5..5 }; 2008 7..8; 2008 10..11 { "
                        "tail 2010 11..11 }; 2008 13..15 }");
}

#if TROD_HAVE_ELF
extern const char __executable_start[], onward_first[], onward_second[];

/* Addresses are all that matters. */
__asm__(".pushsection .text\n"
        ".balign 16\n.globl onward_first, onward_second\n"
        ".type onward_first,%function\n.type onward_second,%function\n"
        "onward_first:\n.skip 16\n.size onward_first,16\n"
        "onward_second:\n.skip 16\n.size onward_second,16\n"
        ".popsection");

/* A64: the last instruction of the first function, executed before the second. */
static void test_onward_symbols(void **state)
{
    static const struct {
        uint8_t code[4];
        const char *kind; /* of the second function's activation; NULL: none */
    } cases[] = {
        {{0x01, 0x00, 0x00, 0x14}, "tail "}, /* b .+4 */
        {{0x00, 0x02, 0x1f, 0xd6}, "tail "}, /* br x16 */
        {{0x01, 0x00, 0x00, 0x94}, ""},      /* bl .+4 */
        {{0x20, 0x00, 0x00, 0x54}, NULL},    /* b.eq .+4 */
        {{0x1f, 0x20, 0x03, 0xd5}, NULL},    /* nop */
    };
    const uint64_t f = (uintptr_t)onward_first, s = (uintptr_t)onward_second;
    struct insn insn[] = {
        {0x1000, 4, {0x00, 0x00, 0x00, 0x94}, 0},
        {f, 4, {0x1f, 0x20, 0x03, 0xd5}, 0},
        {f + 4, 4, {0x1f, 0x20, 0x03, 0xd5}, 0},
        {f + 8, 4, {0x1f, 0x20, 0x03, 0xd5}, 0},
        {f + 12, 4, {0}, 0},
        {s, 4, {0x1f, 0x20, 0x03, 0xd5}, 0},
        {s + 4, 4, {0xc0, 0x03, 0x5f, 0xd6}, 0}, /* ret; behind bl .+4 to the second function */
        {0, 4, {0x1f, 0x20, 0x03, 0xd5}, 0},
    };
    struct trod_symbols *own;
    char want[256], spec[64];

    (void)state;
    assert_int_equal(s, f + 16);
    snprintf(spec, sizeof spec, "/proc/self/exe@0x%llx",
             (unsigned long long)(uintptr_t)__executable_start);
    assert_int_equal(trod_symbols_new(&own), 0);
    assert_int_equal(trod_symbols_add(own, spec, NULL), 0);
    symbols = own;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool call = cases[i].kind && !*cases[i].kind;

        memcpy(insn[4].code, cases[i].code, 4);
        insn[7].pc = call ? s : 0x1004;
        if (cases[i].kind)
            snprintf(want, sizeof want, "1000 { %llx 2..%d%s { %s%llx 6..7 } }",
                     (unsigned long long)f, call ? 8 : 7, call ? " open" : "", cases[i].kind,
                     (unsigned long long)s);
        else
            snprintf(want, sizeof want, "1000 { %llx 2..7 }", (unsigned long long)f);
        assert_string_equal(run(TROD_ISA_A64, TROD_ENDIAN_LITTLE, insn, 8), want);
    }
    symbols = NULL;
    trod_symbols_free(own);
}
#endif

static void test_names(void **state)
{
    char buf[TROD_FUNCTION_NAME];

    (void)state;
    assert_string_equal(trod_function_name(NULL, 0, buf), "0x0");
    assert_string_equal(trod_function_name(NULL, 0x1f80, buf), "0x1f80");
    assert_string_equal(trod_function_name(NULL, UINT64_MAX, buf), "0xffffffffffffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_two_cpus),
        cmocka_unit_test(test_ppc),
        cmocka_unit_test(test_mips),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_longjmp),
        cmocka_unit_test(test_exception),
        cmocka_unit_test(test_state_machine),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_last_address),
        cmocka_unit_test(test_onward),
        cmocka_unit_test(test_tasks),
#if TROD_HAVE_ELF
        cmocka_unit_test(test_onward_symbols),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
