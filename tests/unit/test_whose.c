/*
 * test_whose.c - whose data is referenced: areas against an array of bytes; calls, stacks and
 * accesses made at random against an oracle that has a name for each byte, through the analysis
 * "cache" by block, by data and by region.
 */
#include "sim/whose/areas.h"

#include "calls_fixture.h"

enum { MEMORY = 1 << 14, EVENTS = 40000, NAMES = 3000, BASE = 0x100000, STEPS = 2500, STREAMS = 2 };
enum { FAR = 0x40000000, STACK = 0x7f000000, NAME = 96 };

/* --- areas --- */

static void same_areas(const struct trod_areas *a, const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t from = 0, to = UINT64_MAX;
        const uint32_t at = trod_areas_find(a, BASE + i, &from, &to);

        assert_int_equal(at ? a->at[at].value : 0, want[i]);
        assert_true(from <= BASE + i && BASE + i < to);
        for (uint64_t k = from > BASE ? from : BASE; k < to && k < BASE + n; k++)
            assert_int_equal(want[k - BASE], want[i]);
    }
}

static void test_areas(void **state)
{
    enum { N = 200 };

    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct trod_areas a = {0};
        uint32_t want[N] = {0};

        for (uint32_t i = 1; i < 60; i++) {
            const uint64_t from = gen_u64(&g) % N, to = from + gen_u64(&g) % (N - from);
            const bool put = gen_u64(&g) % 3 != 0;

            assert_true(put ? trod_areas_put(&a, BASE + from, BASE + to, i)
                            : trod_areas_cut(&a, BASE + from, BASE + to));
            for (uint64_t k = from; k < to; k++)
                want[k] = put ? i : 0;
            same_areas(&a, want, N);
        }
        trod_areas_fini(&a);
    }
}

/* --- rows --- */

static const struct trod_function known[] = {
    {0, "libc.so.6!malloc", 1, false, 0},
    {1, "libc.so.6!free", 1, true, 0},
    {2, "libc.so.6!realloc", 2, false, 0},
    {3, "libc.so.6!calloc", 2, false, 0},
    {4, "a.out!_Znwm", 1, false, 0},
    {5, "a.out!work", 2, false, 0},
    {6, "libc.so.6!mmap", 2, false, 0},
    {7, "libc.so.6!munmap", 2, false, 0},
    {8, "libc.so.6!posix_memalign", 3, false, 0},
    {9, "libc.so.6!aligned_alloc", 2, false, 0},
};
static const struct trod_module modules[] = {{"/bin/a.out", 0x400000, 0x402000, 0x400000},
                                             {"/bin/a.out", 0x402000, 0x403000, 0x400000}};

struct script {
    struct event e[EVENTS];
    size_t n;
    char of[MEMORY][NAME];  /* by byte from BASE on */
    uint64_t begin[MEMORY]; /* of the block of the byte */
    struct {
        char name[NAME];
        uint64_t refs;
    } count[NAMES];
    size_t n_names;
    uint64_t refs;
};

static void put_event(struct script *s, struct event e)
{
    assert_true(s->n < EVENTS);
    e.core = UINT16_MAX;
    s->e[s->n++] = e;
}

static void mark(struct script *s, uint32_t stream, uint16_t sub, uint64_t value)
{
    put_event(s, (struct event){.kind = TROD_MARKER, .stream = stream, .sub = sub, .value = value});
}

static void count(struct script *s, const char *name)
{
    size_t i = 0;

    while (i < s->n_names && strcmp(s->count[i].name, name) != 0)
        i++;
    assert_true(i < NAMES);
    if (i == s->n_names)
        snprintf(s->count[s->n_names++].name, NAME, "%s", name);
    s->count[i].refs++;
    s->refs++;
}

/* A reference of KIND to one byte, which belongs to NAME. */
static void ref(struct script *s, uint32_t stream, uint8_t kind, uint64_t addr, uint32_t flags,
                const char *name)
{
    put_event(
        s, (struct event){.kind = kind, .stream = stream, .addr = addr, .size = 1, .flags = flags});
    count(s, name);
}

static void call(struct script *s, uint32_t stream, uint64_t id, uint64_t returns, uint64_t a,
                 uint64_t b)
{
    mark(s, stream, TROD_DRM_FUNC_ID, id);
    mark(s, stream, TROD_DRM_FUNC_RETADDR, returns);
    mark(s, stream, TROD_DRM_FUNC_ARG, a);
    if (known[id].arguments > 1)
        mark(s, stream, TROD_DRM_FUNC_ARG, b);
}

static void give(struct script *s, uint32_t stream, uint64_t id, uint64_t value)
{
    mark(s, stream, TROD_DRM_FUNC_ID, id);
    mark(s, stream, TROD_DRM_FUNC_RETVAL, value);
}

static void own(struct script *s, uint64_t at, uint64_t size, const char *name)
{
    for (uint64_t i = at; i < at + size; i++) {
        snprintf(s->of[i], NAME, "%s", name);
        s->begin[i] = at;
    }
}

static void disown(struct script *s, uint64_t at)
{
    for (uint64_t i = at; s->of[at][0] && i < MEMORY; i++)
        if (i > at && (s->begin[i] != at || !s->of[i][0]))
            break;
        else if (i > at)
            s->of[i][0] = '\0';
    s->of[at][0] = '\0';
}

static void name_block(char *name, int by, const char *what, uint64_t at, uint64_t size,
                       uint64_t caller)
{
    if (by == TROD_CACHE_BY_REGION)
        snprintf(name, NAME, "(%s)", what);
    else if (by == TROD_CACHE_BY_DATA)
        snprintf(name, NAME, "(%s) from 0x%llx", what, (unsigned long long)caller);
    else
        snprintf(name, NAME, "(%s) 0x%llx, %llu bytes from 0x%llx", what,
                 (unsigned long long)(BASE + at), (unsigned long long)size,
                 (unsigned long long)caller);
}

/* Where SIZE bytes are free; MEMORY: nowhere that was tried. */
static uint64_t room(const struct script *s, struct trod_gen *g, uint64_t size)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        const uint64_t at = gen_u64(g) % (MEMORY - size);
        bool taken = false;

        for (uint64_t i = at; i < at + size; i++)
            taken = taken || s->of[i][0];
        if (!taken)
            return at;
    }
    return MEMORY;
}

static void allocate(struct script *s, struct trod_gen *g, uint32_t stream, int by)
{
    const uint64_t size = 1 + gen_u64(g) % 200, caller = 0x2000 + 16 * (gen_u64(g) % 4);
    const uint64_t at = room(s, g, size), how = gen_u64(g) % 7;
    char name[NAME];

    if (at == MEMORY)
        return;
    name_block(name, by, how == 3 ? "mapping" : "heap", at, size, caller);
    if (how == 0) {
        call(s, stream, 0, caller, size, 0);
        give(s, stream, 0, BASE + at);
    } else if (how == 1) {
        call(s, stream, 3, caller, size, 1);
        give(s, stream, 3, BASE + at);
    } else if (how == 2) { /* the outer one asked */
        call(s, stream, 4, caller, size, 0);
        call(s, stream, 5, 0x9000, 1, 2);
        call(s, stream, 0, 0x9999, size, 0);
        give(s, stream, 0, BASE + at);
        give(s, stream, 4, BASE + at);
    } else if (how == 3) {
        call(s, stream, 6, caller, 0, size);
        give(s, stream, 6, BASE + at);
    } else if (how == 4) { /* the result of the outer one is no address */
        const uint64_t align = (BASE + at) & -(BASE + at);

        call(s, stream, 8, caller, 0x7ff0, align);
        mark(s, stream, TROD_DRM_FUNC_ARG, size);
        call(s, stream, 9, 0x9999, align, size - 1);
        give(s, stream, 9, BASE + at);
        give(s, stream, 8, 0);
    } else if (how == 5) {
        call(s, stream, 9, caller, 1, size);
        give(s, stream, 9, BASE + at);
    } else { /* it fails */
        call(s, stream, 0, caller, size, 0);
        give(s, stream, 0, 0);
        return;
    }
    own(s, at, size, name);
}

static void release(struct script *s, struct trod_gen *g, uint32_t stream, int by)
{
    const uint64_t any = gen_u64(g) % MEMORY, at = s->begin[any];
    const bool map = strncmp(s->of[any], "(mapping)", 9) == 0;
    uint64_t size = 0;
    char name[NAME];

    if (!s->of[any][0])
        return;
    while (at + size < MEMORY && s->begin[at + size] == at && s->of[at + size][0])
        size++;
    if (map) {
        call(s, stream, 7, 0x3000, BASE + at, size);
        give(s, stream, 7, 0);
        disown(s, at);
    } else if (gen_u64(g) & 1) {
        call(s, stream, 1, 0x3000, BASE + at, 0);
        disown(s, at);
        ref(s, stream, TROD_INSTR, 0x400100, 0,
            by == TROD_CACHE_BY_REGION ? "(code) of /bin/a.out" : "(code)");
        give(s, stream, 1, 0);
    } else { /* in place, of another size */
        const uint64_t less = 1 + gen_u64(g) % size;

        call(s, stream, 2, 0x4000, BASE + at, less);
        give(s, stream, 2, BASE + at);
        disown(s, at);
        name_block(name, by, "heap", at, less, 0x4000);
        own(s, at, less, name);
    }
}

/* A call and a return, and a frame below. */
static void use_stack(struct script *s, struct trod_gen *g, uint32_t stream, int by)
{
    const uint64_t top = STACK + (stream + 1) * 0x800000, at = top - 8 * (1 + gen_u64(g) % 900);
    const char *code = by == TROD_CACHE_BY_REGION ? "(code) of /bin/a.out" : "(code)";
    char name[NAME];

    snprintf(name, NAME, "(stack) of %u", 100 + stream);
    ref(s, stream, TROD_INSTR, 0x402500, TROD_BR_CALL, code);
    ref(s, stream, TROD_WRITE, at, 0, name);
    ref(s, stream, TROD_INSTR, 0x400200, 0, code);
    ref(s, stream, TROD_WRITE, at - 0x100, 0, name);
    ref(s, 1 - stream, TROD_READ, at, 0, name); /* whoever uses it */
    ref(s, stream, TROD_INSTR, 0x400210, TROD_BR_RETURN, code);
    ref(s, stream, TROD_READ, at, 0, name);
}

static void make(struct script *s, struct trod_gen *g, int by)
{
    for (unsigned i = 0; i < STEPS; i++) {
        const uint32_t stream = (uint32_t)(gen_u64(g) % STREAMS);
        const uint64_t what = gen_u64(g) % 16, at = gen_u64(g) % MEMORY;

        if (what < 2)
            allocate(s, g, stream, by);
        else if (what < 4)
            release(s, g, stream, by);
        else if (what == 4)
            use_stack(s, g, stream, by);
        else if (what == 5)
            ref(s, stream, TROD_READ, 0x401000 + at % 0x1000, 0, "(data) of /bin/a.out");
        else if (what == 6) /* 64 KiB apart: one stretch */
            ref(s, stream, TROD_WRITE, FAR + at % 3 * 0x10000, 0, "0x40000000..0x40020fff");
        else if (what == 7)
            ref(s, stream, TROD_READ, FAR + 0x100000, 0, "0x40100000..0x40100fff");
        else
            ref(s, stream, at & 1 ? TROD_READ : TROD_WRITE, BASE + at, 0,
                s->of[at][0] ? s->of[at] : "0x100000..0x103fff");
    }
    for (unsigned i = 0; i < 3; i++) /* all pages of the stretches at least once */
        ref(s, 0, TROD_READ, FAR + i * 0x10000, 0, "0x40000000..0x40020fff");
    for (uint64_t at = 0; at < MEMORY; at++) /* and all bytes that are nobody's */
        if (!s->of[at][0])
            ref(s, 0, TROD_READ, BASE + at, 0, "0x100000..0x103fff");
}

/* The sum of column WHAT over the rows of table "by" that are called NAME; NULL: over all. */
static uint64_t sum_of(const struct calls *c, const char *what, const char *name)
{
    const struct trod_node *t = trod_result_find(c->result, "by");
    const int w = trod_result_column(t, what);
    uint64_t sum = 0;

    assert_true(w > 0);
    for (size_t row = 0; row < t->n_rows; row++) {
        const struct trod_value *v = &t->cells[row * t->n_columns];

        if (!name || strcmp(v[0].is.str, name) == 0)
            sum += v[w].is.u64;
    }
    return sum;
}

static uint64_t cell(const struct calls *c, size_t cache, const char *what)
{
    const struct trod_node *t = trod_result_find(c->result, "caches");

    return t->cells[cache * t->n_columns + (size_t)trod_result_column(t, what)].is.u64;
}

static void run(struct script *s, int by, uint32_t rows)
{
    const struct trod_cache_options o = {.struct_size = sizeof o, .preset = "default", .by = by};
    struct calls c;
    void *st;

    calls_begin(&c, "cache", STREAMS);
    c.meta.functions = known;
    c.meta.n_functions = sizeof known / sizeof *known;
    c.meta.modules = modules;
    c.meta.n_modules = sizeof modules / sizeof *modules;
    st = calls_state(&c, &o);
    calls_feed(&c, st, s->e, 0, s->n, rows);
    calls_result(&c, st);
    for (size_t i = 0; i < s->n_names; i++)
        if (sum_of(&c, "references", s->count[i].name) != s->count[i].refs)
            fail_msg("by %d: %s has %llu references, not %llu", by, s->count[i].name,
                     (unsigned long long)sum_of(&c, "references", s->count[i].name),
                     (unsigned long long)s->count[i].refs);
    /* the sums are the whole */
    assert_int_equal(sum_of(&c, "references", NULL), s->refs);
    assert_int_equal(cell(&c, 0, "references") + cell(&c, 1, "references"), s->refs);
    assert_int_equal(sum_of(&c, "L1I", NULL), cell(&c, 0, "misses"));
    assert_int_equal(sum_of(&c, "L1D", NULL), cell(&c, 1, "misses"));
    assert_int_equal(sum_of(&c, "LL", NULL), cell(&c, 2, "misses"));
    calls_drop(&c, st);
    calls_end(&c);
}

static void test_random(void **state)
{
    static struct script s;

    (void)state;
    for (uint64_t seed = 1; seed < 13; seed++) {
        const int by = TROD_CACHE_BY_DATA + (int)(seed % 3);
        struct trod_gen g = gen_seed(seed);

        memset(&s, 0, sizeof s);
        make(&s, &g, by);
        run(&s, by, seed & 1 ? TROD_BATCH_ROWS : 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_areas),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
