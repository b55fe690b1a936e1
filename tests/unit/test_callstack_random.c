/*
 * The call stack against programs made at random, whose activations are known because the program
 * is: calls, recursion, returns, tail calls (also of the function behind), running straight on into
 * another function, longjmp, several threads by turns, with and without a stack pointer; rows in
 * batches of any size.
 */
#include "trod/callstack.h"
#include "trod/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FUNCTIONS = 12,
    SITES = 8,
    DEEP = 60,
    STEPS = 3000,
    THREADS = 3,
    MOST = 200000,
    BASE = 0x10000
};

static uint64_t seed;

static unsigned draw(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

/* ---- what happens, as text to be compared: of a thread, in order */

struct log {
    char *text;
    size_t n, cap;
};

static void say(struct log *l, const char *format, ...)
{
    va_list ap;

    if (l->n + 256 > l->cap) {
        l->cap = 2 * l->cap + 4096;
        l->text = realloc(l->text, l->cap);
        assert_non_null(l->text);
    }
    va_start(ap, format);
    l->n += (size_t)vsnprintf(l->text + l->n, l->cap - l->n, format, ap);
    va_end(ap);
}

/* ---- the machine: a slow stack, an array of all that is known of each activation */

struct act {
    unsigned function;
    uint64_t ra, sp, frame; /* sp: when it was entered */
    bool tail, set;         /* it called setjmp */
};

struct machine {
    struct act stack[DEEP + 1];
    unsigned n;
    uint64_t pc, sp, count;
    bool called[FUNCTIONS];
    struct log truth, got;
    uint64_t charged; /* instructions, by the sink */
    uint64_t mark;
};

static struct machine machine[THREADS];
static bool with_sp;

/* Rows, by turns of the threads. */
static struct row {
    uint8_t kind, branch, thread;
    uint64_t pc, value;
    const char *reg;
} * row;
static size_t n_rows;

static uint64_t entry(unsigned f)
{
    return BASE * (f + 1);
}

static void push_row(unsigned t, unsigned kind, uint64_t pc, unsigned branch, const char *reg,
                     uint64_t value)
{
    assert_true(n_rows < MOST);
    row[n_rows++] = (struct row){.kind = (uint8_t)kind,
                                 .branch = (uint8_t)branch,
                                 .thread = (uint8_t)t,
                                 .pc = pc,
                                 .value = value,
                                 .reg = reg};
}

static void insn(unsigned t, unsigned branch)
{
    struct machine *m = &machine[t];

    push_row(t, TROD_INSTR, m->pc, branch, NULL, 0);
    m->count++;
    m->pc += 4;
}

static void set_sp(unsigned t, uint64_t sp)
{
    machine[t].sp = sp;
    if (with_sp)
        push_row(t, TROD_REG, 0, 0, "SP_EL0", sp);
}

static void plain(unsigned t)
{
    for (unsigned n = draw(3); n > 0; n--)
        insn(t, TROD_BR_NONE);
}

/* Control goes to PC: it is the next instruction of the thread. */
static void begin(unsigned t, unsigned f, uint64_t ra, bool tail)
{
    struct machine *m = &machine[t];

    m->stack[m->n++] = (struct act){.function = f, .ra = ra, .sp = m->sp, .tail = tail};
    say(&m->truth, "%u enter %x %s %llu\n", m->n - 1, (unsigned)entry(f),
        tail        ? "tail"
        : m->n == 1 ? "root"
                    : "call",
        (unsigned long long)m->count);
    m->pc = entry(f);
    insn(t, TROD_BR_NONE);
    m->stack[m->n - 1].frame = 16 * (1 + draw(3));
    set_sp(t, m->sp - m->stack[m->n - 1].frame);
}

static void end(struct machine *m, const char *how)
{
    m->n--;
    say(&m->truth, "%u leave %x %s %llu\n", m->n, (unsigned)entry(m->stack[m->n].function), how,
        (unsigned long long)m->count);
}

/* A call of G from place SITE of the function. */
static void call(unsigned t, unsigned g, unsigned site)
{
    struct machine *m = &machine[t];
    const struct act *top = &m->stack[m->n - 1];

    /* on the way there nothing is executed twice but by jumps inside the function */
    insn(t, TROD_BR_DIRECT);
    m->pc = entry(top->function) + 0x1000 + 0x40 * site;
    insn(t, TROD_BR_CALL);
    m->called[g] = true;
    begin(t, g, m->pc, false);
}

static void give_back(unsigned t)
{
    struct machine *m = &machine[t];

    set_sp(t, m->stack[m->n - 1].sp);
}

static void ret(unsigned t)
{
    struct machine *m = &machine[t];
    const uint64_t ra = m->stack[m->n - 1].ra;
    const char *how = "returned";
    bool tail;

    give_back(t);
    insn(t, TROD_BR_RETURN);
    m->pc = ra;
    do {
        tail = m->stack[m->n - 1].tail;
        end(m, how);
        how = "tailed";
    } while (tail);
    insn(t, TROD_BR_NONE);
}

/* Is G in the chain of tail calls that the thread is in? */
static bool in_chain(const struct machine *m, unsigned g)
{
    for (unsigned i = m->n; i-- > 0;) {
        if (m->stack[i].function == g)
            return true;
        if (!m->stack[i].tail)
            return false;
    }
    return false;
}

static void tail_call(unsigned t, unsigned g)
{
    struct machine *m = &machine[t];
    const uint64_t ra = m->stack[m->n - 1].ra;

    if (m->n < 2 || !m->called[g] || in_chain(m, g))
        return;
    give_back(t);
    if (g == m->stack[m->n - 1].function + 1) { /* from where this function ends */
        insn(t, TROD_BR_DIRECT);
        m->pc = entry(g) - 4;
    }
    insn(t, draw(2) ? TROD_BR_DIRECT : TROD_BR_INDIRECT);
    begin(t, g, ra, true);
}

/* Straight on into the next function, and back: nothing is called. */
static void run_through(unsigned t)
{
    struct machine *m = &machine[t];
    const unsigned f = m->stack[m->n - 1].function;

    insn(t, TROD_BR_DIRECT);
    m->pc = entry(f + 1) - 4 * (1 + draw(40));
    while (m->pc != entry(f + 1))
        insn(t, TROD_BR_NONE);
    insn(t, TROD_BR_DIRECT);
    m->pc = entry(f) + 8;
}

/* setjmp, which is function 0, and returns at once; place 0 of each function is its call. */
static void set(unsigned t)
{
    struct machine *m = &machine[t];

    if (m->stack[m->n - 1].function == 0)
        return;
    call(t, 0, 0);
    ret(t);
    m->stack[m->n - 1].set = true;
}

/* Back to behind the setjmp of an activation; without a stack pointer, the innermost of its
 * function. */
static void jump(unsigned t)
{
    struct machine *m = &machine[t];
    const unsigned to = draw(m->n), f = m->stack[to].function;

    /* what jumped away has given its stack back */
    if (to + 1 >= m->n || !m->stack[to].set || m->stack[to + 1].tail)
        return;
    for (unsigned i = to + 1; !with_sp && i < m->n; i++)
        if (m->stack[i].function == f)
            return;
    for (unsigned i = to + 1; i < m->n; i++)
        if (m->stack[i].function == f && i + 1 == m->n)
            return;
    set_sp(t, m->stack[to].sp - m->stack[to].frame);
    insn(t, TROD_BR_INDIRECT);
    m->pc = entry(f) + 0x1000 + 4;
    while (m->n > to + 1)
        end(m, "unwound");
    insn(t, TROD_BR_NONE);
}

static void act(unsigned t)
{
    struct machine *m = &machine[t];

    plain(t);
    switch (draw(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
        if (m->n < DEEP)
            call(t, 1 + draw(FUNCTIONS - 1), 1 + draw(SITES - 1));
        break;
    case 4:
    case 5:
    case 6:
        if (m->n > 1)
            ret(t);
        break;
    case 7:
        if (m->n < DEEP)
            tail_call(t, draw(2) ? 1 + draw(FUNCTIONS - 1)
                                 : 1 + m->stack[m->n - 1].function % (FUNCTIONS - 1));
        if (draw(4) == 0)
            run_through(t);
        break;
    case 8:
        if (m->n < DEEP)
            set(t);
        break;
    default:
        jump(t);
        break;
    }
}

static void make(uint64_t from)
{
    seed = from * UINT64_C(0x9e3779b97f4a7c15) + 1;
    n_rows = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        free(machine[t].truth.text);
        free(machine[t].got.text);
        machine[t] = (struct machine){.sp = 0x80000000 + 0x1000000 * t};
        if (with_sp)
            push_row(t, TROD_REG, 0, 0, "SP_EL0", machine[t].sp);
        machine[t].pc = entry(FUNCTIONS); /* not called by anybody */
        begin(t, FUNCTIONS, 0, false);
    }
    for (unsigned i = 0; i < STEPS; i++)
        act(draw(THREADS));
    for (unsigned t = 0; t < THREADS; t++)
        while (machine[t].n)
            end(&machine[t], "open");
}

/* ---- the call stack */

static void charge(struct machine *m, uint64_t instruction)
{
    m->charged += instruction - m->mark;
    m->mark = instruction;
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct machine *m = &machine[f->stream];

    (void)ctx;
    charge(m, f->entry.instruction);
    say(&m->got, "%u enter %x %s %llu\n", f->depth, (unsigned)f->function,
        trod_frame_kind_name(f->kind), (unsigned long long)f->entry.instruction);
    assert_int_equal(f->context, 0);
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *e)
{
    struct machine *m = &machine[f->stream];

    (void)ctx;
    charge(m, e->next.instruction);
    say(&m->got, "%u leave %x %s %llu\n", f->depth, (unsigned)f->function,
        trod_frame_end_name(e->how), (unsigned long long)e->next.instruction);
    return 0;
}

static void put_row(struct trod_batch *b, uint32_t i, const struct row *r)
{
    b->kind[i] = r->kind;
    b->stream[i] = r->thread;
    b->flags[i] = r->branch;
    b->has[i] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM;
    if (r->kind == TROD_INSTR) {
        b->addr[i] = r->pc;
        b->size[i] = 4;
        b->has[i] |= TROD_COL_ADDR | TROD_COL_SIZE;
    } else {
        memcpy(trod_batch_pool(b, 8, &b->text[i]), r->reg, strlen(r->reg));
        b->text[i].len = (uint32_t)strlen(r->reg);
        b->value[i] = r->value;
        b->has[i] |= TROD_COL_TEXT | TROD_COL_VALUE;
    }
}

static void feed(uint32_t most)
{
    const struct trod_callstack_sink sink = {.enter = enter, .leave = leave};
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_meta meta;

    trod_meta_init(&meta);
    meta.isa = TROD_ISA_A64;
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
    for (size_t at = 0; at < n_rows; at += b->n) {
        const uint32_t n = 1 + draw(most);

        trod_batch_clear(b);
        b->meta = &meta;
        b->have = b->want = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_ADDR |
                            TROD_COL_SIZE | TROD_COL_TEXT | TROD_COL_VALUE;
        b->first = at;
        for (b->n = 0; b->n < n && at + b->n < n_rows; b->n++)
            put_row(b, b->n, &row[at + b->n]);
        assert_int_equal(trod_callstack_feed(c, b, 0, b->n), 0);
    }
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

static void try(uint64_t from, uint32_t most)
{
    make(from);
    feed(most);
    for (unsigned t = 0; t < THREADS; t++) {
        const struct machine *m = &machine[t];
        size_t k = 0;

        while (k < m->truth.n && k < m->got.n && m->truth.text[k] == m->got.text[k])
            k++;
        if (k != m->truth.n || k != m->got.n)
            print_error("seed %llu, thread %u: expected\n%.300s\ngot\n%.300s\n",
                        (unsigned long long)from, t, m->truth.text + (k > 100 ? k - 100 : 0),
                        m->got.text + (k > 100 ? k - 100 : 0));
        assert_int_equal(m->truth.n, k);
        assert_int_equal(m->got.n, k);
        assert_int_equal(m->charged, m->count);
    }
}

static void test_random(void **state)
{
    static const uint32_t sizes[] = {1, 7, 300, TROD_BATCH_ROWS};

    (void)state;
    row = calloc(MOST, sizeof *row);
    assert_non_null(row);
    for (unsigned k = 0; k < 40; k++) {
        with_sp = k & 1;
        try(k + 1, sizes[k / 2 % 4]);
    }
    free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
