/*
 * test_functions.c - the analysis "functions" against an oracle that keeps the state of every byte
 * of memory, on calls made at random; nested, lost, failed and strange calls counted by hand.
 */
#include "analysis/functions/functions.h"

#include "calls_fixture.h"

enum { MEMORY = 1 << 16, EVENTS = 60000, BLOCKS = 4000, LIVE = 60, BASE = 0x10000 };

static const struct trod_function known[] = {
    {0, "libc.so.6!malloc", 1, false, 0},  {1, "libc.so.6!free", 1, true, 0},
    {2, "libc.so.6!realloc", 2, false, 0}, {3, "libc.so.6!calloc", 2, false, 0},
    {4, "a.out!_Znwm", 1, false, 0},       {5, "a.out!_ZdlPv", 1, false, 0},
    {6, "a.out!work", 2, false, 0},        {7, "libc.so.6!mmap", 6, false, 0},
    {8, "libc.so.6!munmap", 2, false, 0},  {9, "libc.so.6!posix_memalign", 3, false, 0},
};

static void begin(struct calls *c)
{
    calls_begin(c, "functions", 3);
    c->meta.functions = known;
    c->meta.n_functions = sizeof known / sizeof *known;
}

/* A trace that grows. */
struct script {
    struct event e[EVENTS];
    size_t n;
};

static void mark(struct script *s, uint32_t stream, uint16_t sub, uint64_t value)
{
    assert_true(s->n < EVENTS);
    s->e[s->n++] = (struct event){
        .kind = TROD_MARKER, .stream = stream, .sub = sub, .value = value, .core = UINT16_MAX};
}

static void row(struct script *s, uint32_t stream, uint8_t kind, uint64_t addr, uint32_t size)
{
    assert_true(s->n < EVENTS);
    s->e[s->n++] = (struct event){
        .kind = kind, .stream = stream, .addr = addr, .size = size, .core = UINT16_MAX};
}

static void call(struct script *s, uint32_t stream, uint64_t id, uint64_t returns, uint64_t a,
                 uint64_t b)
{
    mark(s, stream, TROD_DRM_FUNC_ID, id);
    mark(s, stream, TROD_DRM_FUNC_RETADDR, returns);
    mark(s, stream, TROD_DRM_FUNC_ARG, a);
    if (known[id].arguments > 1)
        mark(s, stream, TROD_DRM_FUNC_ARG, b);
    row(s, stream, TROD_INSTR, 0x5000, 4);
}

static void give(struct script *s, uint32_t stream, uint64_t id, uint64_t value)
{
    mark(s, stream, TROD_DRM_FUNC_ID, id);
    mark(s, stream, TROD_DRM_FUNC_RETVAL, value);
}

/* What memory is: the number of the block of each byte, and whether that is live. */
struct oracle {
    uint32_t of[MEMORY];
    uint64_t at[BLOCKS], size[BLOCKS];
    bool live[BLOCKS];
    uint32_t n;
    uint64_t bytes, most, after_free, unknown, twice, allocations, frees;
};

static void take(struct oracle *o, uint64_t at, uint64_t size)
{
    const uint32_t id = ++o->n;

    assert_true(id < BLOCKS);
    for (uint64_t i = at; i < at + size; i++) { /* what overlaps is forgotten as a whole */
        const uint32_t was = o->of[i];

        for (uint64_t k = 0; was && k < MEMORY; k++)
            if (o->of[k] == was)
                o->of[k] = 0;
    }
    for (uint64_t i = at; i < at + size; i++)
        o->of[i] = id;
    o->at[id] = at;
    o->size[id] = size;
    o->live[id] = true;
    o->bytes += size;
    o->most = o->bytes > o->most ? o->bytes : o->most;
    o->allocations++;
}

static void drop(struct oracle *o, uint64_t at)
{
    const uint32_t id = o->of[at];

    if (id && o->at[id] == at && o->live[id]) {
        o->live[id] = false;
        o->bytes -= o->size[id];
        o->frees++;
    } else if (id && o->at[id] == at) {
        o->twice++;
    } else {
        o->unknown++;
    }
}

/* An address where SIZE bytes are not live. */
static uint64_t room(struct trod_gen *g, const struct oracle *o, uint64_t size)
{
    for (;;) {
        const uint64_t at = gen_u64(g) % (MEMORY - size);
        bool taken = false;

        for (uint64_t i = at; i < at + size; i++)
            taken = taken || (o->of[i] && o->live[o->of[i]]);
        if (!taken)
            return at;
    }
}

static uint32_t live_one(struct trod_gen *g, const struct oracle *o)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i <= o->n; i++)
        n += o->live[i];
    if (!n)
        return 0;
    n = (uint32_t)(gen_u64(g) % n);
    for (uint32_t i = 1; i <= o->n; i++)
        if (o->live[i] && n-- == 0)
            return i;
    return 0;
}

static void access_memory(struct script *s, struct oracle *o, struct trod_gen *g, uint32_t stream)
{
    const uint64_t at = gen_u64(g) % (MEMORY - 8);
    const uint32_t size = 1 + (uint32_t)(gen_u64(g) % 8);
    const uint32_t id = o->of[at] ? o->of[at] : o->of[at + size - 1];

    row(s, stream, gen_u64(g) & 1 ? TROD_READ : TROD_WRITE, BASE + at, size);
    o->after_free += id && !o->live[id];
}

static void step(struct script *s, struct oracle *o, struct trod_gen *g)
{
    const uint64_t what = gen_u64(g) % 12, size = 1 + gen_u64(g) % 300;
    const uint32_t stream = (uint32_t)(gen_u64(g) % 3), one = live_one(g, o);
    uint64_t live = 0, at;

    for (uint32_t i = 1; i <= o->n; i++)
        live += o->live[i];
    row(s, stream, TROD_INSTR, 0x1000, 4);
    if (what < 2 && live < LIVE) { /* malloc, calloc */
        at = room(g, o, size);
        call(s, stream, what ? 3 : 0, 0x2000, what ? 1 : size, size);
        give(s, stream, what ? 3 : 0, BASE + at);
        take(o, at, size);
    } else if (what < 4 && one) {
        call(s, stream, 1, 0x3000, BASE + o->at[one], 0);
        if (gen_u64(g) & 1) /* free itself may touch it */
            row(s, stream, TROD_WRITE, BASE + o->at[one], 8);
        row(s, stream, TROD_INSTR, 0x3000, 4);
        drop(o, o->at[one]);
    } else if (what == 4 && one) { /* realloc: elsewhere */
        at = room(g, o, size);
        call(s, stream, 2, 0x4000, BASE + o->at[one], size);
        give(s, stream, 2, BASE + at);
        drop(o, o->at[one]);
        take(o, at, size);
    } else if (what == 5) { /* of anything */
        at = gen_u64(g) % MEMORY;
        call(s, stream, 1, 0x3000, BASE + at, 0);
        row(s, stream, TROD_INSTR, 0x3000, 4);
        drop(o, at);
    } else {
        access_memory(s, o, g, stream);
    }
}

static void test_random(void **state)
{
    static struct script s;
    static struct oracle o;

    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct calls c;
        uint64_t sizes = 0;
        void *st;

        s.n = 0;
        memset(&o, 0, sizeof o);
        for (unsigned i = 0; i < 3000; i++)
            step(&s, &o, &g);
        begin(&c);
        st = calls_state(&c, NULL);
        calls_feed(&c, st, s.e, 0, s.n, 1 + (uint32_t)(gen_u64(&g) % 500));
        calls_result(&c, st);
        assert_int_equal(calls_number(&c, "heap.allocations"), o.allocations);
        assert_int_equal(calls_number(&c, "heap.frees"), o.frees);
        assert_int_equal(calls_number(&c, "heap.live_blocks"), o.allocations - o.frees);
        assert_int_equal(calls_number(&c, "heap.live_bytes"), o.bytes);
        assert_int_equal(calls_number(&c, "heap.most_bytes"), o.most);
        assert_int_equal(calls_number(&c, "heap.unknown_frees"), o.unknown);
        assert_int_equal(calls_number(&c, "heap.double_frees"), o.twice);
        assert_int_equal(calls_number(&c, "heap.accesses_after_free"), o.after_free);
        assert_int_equal(calls_number(&c, "heap.replaced"), 0);
        for (uint64_t from = 1; from < 1024; from *= 2) { /* the same block sizes, one by one */
            uint64_t n = 0, got = calls_cell(&c, "sizes", "from", from, "allocations");

            for (uint32_t i = 1; i <= o.n; i++)
                n += o.size[i] >= from && o.size[i] < 2 * from;
            assert_int_equal(got == UINT64_MAX ? 0 : got, n);
            sizes += n;
        }
        assert_int_equal(sizes, o.allocations);
        calls_drop(&c, st);
        calls_end(&c);
    }
}

/* Calls inside each other, calls that never return, results that mean failures. */
static void test_by_hand(void **state)
{
    static struct script s;
    struct calls c;
    void *st;

    (void)state;
    s.n = 0;
    call(&s, 0, 6, 0x100, 1, 2);  /* work */
    call(&s, 0, 4, 0x200, 32, 0); /*   operator new */
    call(&s, 0, 0, 0x300, 40, 0); /*     malloc, of more than was asked for */
    give(&s, 0, 0, 0x8000);
    row(&s, 0, TROD_INSTR, 0x300, 4);
    give(&s, 0, 4, 0x8000);            /*   one block of 32 bytes */
    call(&s, 0, 5, 0x210, 0x8000, 0);  /*   operator delete */
    call(&s, 0, 1, 0x310, 0x8000, 0);  /*     free: the same block, once */
    row(&s, 0, TROD_WRITE, 0x8000, 8); /*     its own business */
    row(&s, 0, TROD_INSTR, 0x310, 4);
    give(&s, 0, 5, 0);
    row(&s, 0, TROD_INSTR, 0x210, 4);
    row(&s, 0, TROD_READ, 0x8004, 4); /*   after free */
    call(&s, 0, 0, 0x220, 1000, 0);
    give(&s, 0, 0, 0);                 /*   no memory */
    call(&s, 0, 9, 0x230, 0x7000, 64); /*   posix_memalign */
    mark(&s, 0, TROD_DRM_FUNC_ARG, 5); /*   an argument behind an instruction is none */
    give(&s, 0, 9, 12);                /*   fails */
    call(&s, 0, 0, 0x240, 8, 0);       /*   left by longjmp */
    give(&s, 0, 6, 7);                 /* work returns */
    give(&s, 0, 6, 7);                 /* from a call before the trace */
    call(&s, 1, 7, 0x400, 0, 8192);    /* mmap */
    give(&s, 1, 7, 0x100000);
    call(&s, 1, 0, 0x410, 16, 0); /* and a block in it */
    give(&s, 1, 0, 0x100010);
    call(&s, 1, 7, 0x420, 0, 4096);
    give(&s, 1, 7, (uint64_t)-12);         /* no memory */
    call(&s, 1, 8, 0x430, 0x101000, 4096); /* munmap of its second half */
    give(&s, 1, 8, 0);
    mark(&s, 1, TROD_DRM_FUNC_ID, 99); /* not in the list */
    mark(&s, 1, TROD_DRM_FUNC_RETADDR, 1);

    begin(&c);
    st = calls_state(&c, NULL);
    calls_feed(&c, st, s.e, 0, s.n, 7);
    calls_result(&c, st);
    assert_int_equal(calls_number(&c, "heap.allocations"), 2);
    assert_int_equal(calls_number(&c, "heap.frees"), 1);
    assert_int_equal(calls_number(&c, "heap.double_frees"), 0);
    assert_int_equal(calls_number(&c, "heap.unknown_frees"), 0);
    assert_int_equal(calls_number(&c, "heap.failed"), 2);
    assert_int_equal(calls_number(&c, "heap.live_bytes"), 16);
    assert_int_equal(calls_number(&c, "heap.most_bytes"), 40);
    assert_int_equal(calls_number(&c, "heap.accesses_after_free"), 1);
    assert_int_equal(calls_number(&c, "heap.accesses_by_allocators"), 1);
    assert_int_equal(calls_number(&c, "mappings.live_bytes"), 4096);
    assert_int_equal(calls_number(&c, "mappings.failed"), 1);
    assert_int_equal(calls_number(&c, "deepest"), 3);
    assert_int_equal(calls_number(&c, "unreturned"), 1);
    assert_int_equal(calls_cell(&c, "functions", "id", 6, "calls"), 1);
    assert_int_equal(calls_cell(&c, "functions", "id", 6, "returns"), 2);
    assert_int_equal(calls_cell(&c, "functions", "id", 0, "failed"), 1);
    assert_int_equal(calls_cell(&c, "functions", "id", 9, "failed"), 1);
    assert_int_equal(calls_cell(&c, "functions", "id", 99, "calls"), 1);
    assert_int_equal(calls_cell(&c, "functions", "id", 6, "least"), 11);
    assert_int_equal(calls_cell(&c, "live", "caller", 0x410, "bytes"), 16);
    assert_int_equal(calls_rows(&c, "live"), 1);
    assert_int_equal(calls_rows(&c, "after_free"), 1);
    assert_int_equal(calls_cell(&c, "threads", "tid", 101, "bytes"), 8192 + 16);
    calls_drop(&c, st);
    calls_end(&c);
}

/* --- functions whose return is not recorded, and allocators that work by themselves --- */

/* As libc and libstdc++ are recorded: the return of what gives back is not. */
static const struct trod_function listed[] = {
    {0, "libc.so.6!malloc", 1, false, 0x70001000},
    {1, "libc.so.6!free", 1, true, 0x70001400},
    {2, "libc.so.6!realloc", 2, false, 0x70001800},
    {3, "libstdc++.so.6!_ZdlPvm", 2, true, 0x71000200},
    {4, "libstdc++.so.6!_ZdlPv", 1, true, 0x71000100},
    {5, "app!work", 1, true, 0x400100},
};
static const struct trod_module mapped[] = {
    {"/bin/app", 0x400000, 0x480000, 0x400000},
    {"/lib/libc.so.6", 0x70000000, 0x70100000, 0x70000000},
    {"/lib/libstdc++.so.6", 0x71000000, 0x71100000, 0x71000000},
    {"/lib/libc.so.6", 0x70100000, 0x70102000, 0x70000000},
};

static void begin_listed(struct calls *c, const struct trod_function *f, bool modules)
{
    calls_begin(c, "functions", 1);
    c->meta.functions = f;
    c->meta.n_functions = sizeof listed / sizeof *listed;
    c->meta.modules = mapped;
    c->meta.n_modules = modules ? sizeof mapped / sizeof *mapped : 0;
}

static void count(struct calls *c, const struct script *s)
{
    void *st = calls_state(c, NULL);

    calls_feed(c, st, s->e, 0, s->n, 5);
    calls_result(c, st);
    calls_drop(c, st);
}

/* FUNCTION of "listed" is called with A, by a call or a jump: it returns to RETURNS. */
static void enter(struct script *s, uint64_t function, uint64_t returns, uint64_t a)
{
    mark(s, 0, TROD_DRM_FUNC_ID, function);
    mark(s, 0, TROD_DRM_FUNC_RETADDR, returns);
    mark(s, 0, TROD_DRM_FUNC_ARG, a);
    row(s, 0, TROD_INSTR, listed[function].address, 4);
}

static void arrive(struct script *s, uint64_t pc)
{
    row(s, 0, TROD_INSTR, pc, 4);
}

static void obtain(struct script *s, uint64_t at, uint64_t size)
{
    enter(s, 0, 0x400010, size);
    give(s, 0, 0, at);
    arrive(s, 0x400010);
}

/* delete jumps to another delete and that to free: all three return to where the first does. */
static void test_jumps_to_functions(void **state)
{
    enum { TIMES = 5 };
    static struct script s;
    struct calls c;

    (void)state;
    s.n = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        obtain(&s, 0x9000, 16);
        for (unsigned function = 3; function <= 5; function++)
            enter(&s, function == 5 ? 1 : function, 0x400020, 0x9000);
        row(&s, 0, TROD_WRITE, 0x9000, 8); /* free's own business */
        arrive(&s, 0x400020);
        row(&s, 0, TROD_READ, 0x9008, 8); /* after free */
    }
    begin_listed(&c, listed, true);
    count(&c, &s);
    assert_int_equal(calls_number(&c, "deepest"), 3);
    assert_int_equal(calls_number(&c, "heap.frees"), TIMES);
    assert_int_equal(calls_number(&c, "heap.double_frees"), 0);
    assert_int_equal(calls_number(&c, "heap.accesses_after_free"), TIMES);
    assert_int_equal(calls_number(&c, "heap.accesses_by_allocators"), TIMES);
    for (unsigned id = 1; id <= 4; id++) /* of free and both deletes each call has ended */
        if (id != 2)
            assert_int_not_equal(calls_cell(&c, "functions", "id", id, "least"), UINT64_MAX);
    assert_int_equal(calls_cell(&c, "functions", "id", 3, "least"), 3);
    assert_int_equal(calls_cell(&c, "functions", "id", 3, "most"), 3);
    assert_int_equal(calls_cell(&c, "functions", "id", 1, "most"), 1);
    assert_int_equal(calls_number(&c, "unreturned"), 0);
    calls_end(&c);
}

/* A function that calls itself ends as often as its calls return, all of them to one place. */
static void test_recursion(void **state)
{
    enum { TIMES = 4 };
    static struct script s;
    struct calls c;

    (void)state;
    s.n = 0;
    enter(&s, 5, 0x400800, 0);
    for (unsigned i = 0; i < TIMES; i++)
        enter(&s, 5, 0x400110, 0);
    enter(&s, 1, 0x400110, 0); /* the innermost jumps to free */
    for (unsigned i = 0; i < TIMES; i++)
        arrive(&s, 0x400110);
    arrive(&s, 0x400800);
    enter(&s, 5, 0x400800, 0); /* nothing is left open that this would be inside */
    begin_listed(&c, listed, true);
    count(&c, &s);
    assert_int_equal(calls_number(&c, "deepest"), TIMES + 2);
    assert_int_equal(calls_number(&c, "unreturned"), 0);
    /* of the innermost: itself, free; of the outermost: all but the place it returns to */
    assert_int_equal(calls_cell(&c, "functions", "id", 5, "least"), 2);
    assert_int_equal(calls_cell(&c, "functions", "id", 5, "most"), 2 * TIMES + 2);
    calls_end(&c);
}

/* What is freed, and is so again by a call that returns to AGAIN; then UNKNOWN, likewise. */
static void free_again(struct script *s, uint64_t again)
{
    s->n = 0;
    obtain(s, 0x9000, 16);
    enter(s, 1, 0x400020, 0x9000);
    arrive(s, 0x400020);
    enter(s, 1, again, 0x9000);
    arrive(s, again);
    enter(s, 1, again, 0xa000);
    arrive(s, again);
}

static void expect_frees(struct calls *c, uint64_t twice, uint64_t unknown, uint64_t own)
{
    assert_int_equal(calls_number(c, "heap.frees"), 1);
    assert_int_equal(calls_number(c, "heap.double_frees"), twice);
    assert_int_equal(calls_number(c, "heap.unknown_frees"), unknown);
    assert_int_equal(calls_number(c, "heap.frees_by_allocators"), own);
    calls_end(c);
}

/* An allocator that frees by itself: at the end of a thread, what it kept for that. */
static void test_own_frees(void **state)
{
    static struct script s;
    struct trod_function one_file[sizeof listed / sizeof *listed];
    struct calls c;

    (void)state;
    for (unsigned modules = 0; modules < 2; modules++) {
        free_again(&s, 0x400030); /* the program */
        begin_listed(&c, listed, modules);
        count(&c, &s);
        expect_frees(&c, 1, 1, 0);
        free_again(&s, 0x71000110); /* another library */
        begin_listed(&c, listed, modules);
        count(&c, &s);
        expect_frees(&c, 1, 1, 0);
        free_again(&s, 0x70001480); /* between the functions of the allocator */
        begin_listed(&c, listed, modules);
        count(&c, &s);
        expect_frees(&c, 0, 0, 2);
        free_again(&s, 0x70101000); /* elsewhere in its library, in another mapping */
        begin_listed(&c, listed, modules);
        count(&c, &s);
        expect_frees(&c, !modules, !modules, 2 * modules);
    }
    /* linked statically: the program is no library, but its allocator is known */
    memcpy(one_file, listed, sizeof listed);
    for (unsigned i = 0; i < 3; i++) {
        one_file[i].name = strchr(listed[i].name, '!') - 3;
        one_file[i].address = listed[i].address - 0x70000000 + 0x400000;
    }
    free_again(&s, 0x400030);
    begin_listed(&c, one_file, true);
    count(&c, &s);
    expect_frees(&c, 1, 1, 0);
    free_again(&s, 0x401480);
    begin_listed(&c, one_file, true);
    count(&c, &s);
    expect_frees(&c, 0, 0, 2);
    one_file[0].address = 0x460000; /* functions that are far from each other */
    begin_listed(&c, one_file, true);
    count(&c, &s);
    expect_frees(&c, 1, 1, 0);
}

/* realloc to nothing of a freed block: the free inside is what the program asked for. */
static void test_own_free_inside(void **state)
{
    static struct script s;
    struct calls c;

    (void)state;
    s.n = 0;
    obtain(&s, 0x9000, 16);
    enter(&s, 1, 0x400020, 0x9000);
    arrive(&s, 0x400020);
    mark(&s, 0, TROD_DRM_FUNC_ID, 2);
    mark(&s, 0, TROD_DRM_FUNC_RETADDR, 0x400040);
    mark(&s, 0, TROD_DRM_FUNC_ARG, 0x9000);
    mark(&s, 0, TROD_DRM_FUNC_ARG, 0);
    arrive(&s, listed[2].address);
    enter(&s, 1, 0x70001840, 0x9000);
    arrive(&s, 0x70001840);
    give(&s, 0, 2, 0);
    /* what the allocator reads by itself of a freed block is no fault either; a copy of it is */
    row(&s, 0, TROD_READ, 0x9000, 8);
    s.e[s.n - 1].pc = 0x70001480;
    row(&s, 0, TROD_READ, 0x9000, 8);
    s.e[s.n - 1].pc = 0x70050000;
    begin_listed(&c, listed, true);
    count(&c, &s);
    assert_int_equal(calls_number(&c, "heap.accesses_by_allocators"), 1);
    assert_int_equal(calls_number(&c, "heap.accesses_after_free"), 1);
    expect_frees(&c, 1, 0, 0);
}

/* Blocks that come and go for long: what is remembered does not grow. */
static void test_bounded(void **state)
{
    enum { ROUNDS = 200000 };
    static struct script s;
    struct fun_state *st;
    struct calls c;

    (void)state;
    begin(&c);
    st = calls_state(&c, NULL);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        s.n = 0;
        call(&s, 0, 0, 0x100, 64, 0);
        give(&s, 0, 0, 0x100000 + i * 64);
        call(&s, 0, 1, 0x200, 0x100000 + i * 64, 0);
        row(&s, 0, TROD_INSTR, 0x200, 4);
        calls_feed(&c, st, s.e, 0, s.n, 64);
    }
    calls_result(&c, st);
    assert_int_equal(calls_number(&c, "heap.allocations"), ROUNDS);
    assert_int_equal(calls_number(&c, "heap.frees"), ROUNDS);
    assert_in_range(st->heap.n, 1, 2 * FUN_FREED);
    assert_in_range(st->thread[0].cap_frames, 1, 64);
    calls_drop(&c, st);
    calls_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_jumps_to_functions),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_own_frees),
        cmocka_unit_test(test_own_free_inside),
        cmocka_unit_test(test_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
