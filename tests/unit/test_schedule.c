/*
 * test_schedule.c - the analysis "schedule" on rows that say their core, against an oracle that
 * looks at each core's rows again and again; the chart against an oracle that keeps every step; the
 * order of another tool's lists against what it printed.
 */
#include "analysis/schedule/schedule.h"

#include "calls_fixture.h"

enum { EVENTS = 6000, TURNS = 40000, CORES = 3, THREADS = 7 };

/* Random rows: cores run threads for a while, are idle, and give threads to each other. */
static size_t make(struct trod_gen *g, struct event *e)
{
    uint32_t on[CORES] = {0, 1, 2};
    uint64_t time[THREADS] = {0};
    size_t n = 0;

    while (n + 8 < EVENTS) {
        const uint16_t core = (uint16_t)(gen_u64(g) % CORES);
        const uint64_t how = gen_u64(g);
        const uint32_t t = on[core];

        if (how % 7 == 0) {
            e[n++] = (struct event){.kind = TROD_MARKER,
                                    .sub = TROD_DRM_CORE_IDLE,
                                    .core = core,
                                    .value = 1 + how % 1000,
                                    .flags = TROD_F_SYNTHETIC};
        } else if (how % 7 < 5) {
            e[n++] = (struct event){.kind = TROD_INSTR,
                                    .stream = t,
                                    .core = core,
                                    .size = 4,
                                    .flags = how & 1 << 10 ? TROD_F_KERNEL : 0};
        } else {
            const uint16_t subs[] = {TROD_DRM_TIMESTAMP, TROD_DRM_SYSCALL, TROD_DRM_TIMESTAMP};

            for (unsigned k = 0; k < 3; k++)
                if (how >> 20 & 1 << k)
                    e[n++] = (struct event){.kind = TROD_MARKER,
                                            .sub = subs[k],
                                            .stream = t,
                                            .core = core,
                                            .value = k == 1 ? how >> 30 & 3
                                                            : (time[t] += how >> 33 & 31)};
        }
        if (how >> 40 & 1) { /* another thread, that runs nowhere */
            uint32_t next = (uint32_t)(how >> 41) % THREADS;

            for (unsigned k = 0; k < CORES; k++)
                if (on[k] == next)
                    next = t;
            on[core] = next;
        }
    }
    return n;
}

struct truth {
    uint64_t instructions, switches, voluntary, idle, calls, to_idle;
};

/* What runs on CORE in row I of E: a thread, -1 idle; -2: the row is of another core. */
static int runs(const struct event *e, size_t i, unsigned core)
{
    if (e[i].core != core)
        return -2;
    return e[i].kind == TROD_MARKER && e[i].sub == TROD_DRM_CORE_IDLE ? -1 : (int)e[i].stream;
}

/* Did thread T ask the system for something and then execute nothing of its own before row I? */
static bool asked(const struct event *e, size_t i, int t)
{
    while (i-- > 0) {
        if ((int)e[i].stream != t || (e[i].kind == TROD_MARKER && e[i].sub == TROD_DRM_CORE_IDLE))
            continue;
        if (e[i].kind == TROD_INSTR && !(e[i].flags & TROD_F_KERNEL))
            return false;
        if (e[i].kind == TROD_MARKER && e[i].sub == TROD_DRM_SYSCALL)
            return true;
    }
    return false;
}

/* The system calls of a thread that left its core no longer count as asked. */
static struct truth look(struct event *e, size_t n, unsigned core)
{
    struct truth t = {0};
    int was = -3;

    for (size_t i = 0; i < n; i++) {
        const int now = runs(e, i, core);

        if (now == -2)
            continue;
        t.instructions += e[i].kind == TROD_INSTR;
        t.calls += e[i].kind == TROD_MARKER && e[i].sub == TROD_DRM_SYSCALL;
        t.idle += now == -1 ? e[i].value : 0;
        if (was >= 0 && now != was) {
            t.switches++;
            t.to_idle += now == -1;
        }
        was = now;
    }
    return t;
}

static void test_random(void **state)
{
    static struct event e[EVENTS];

    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        struct trod_gen g = gen_seed(seed);
        const size_t n = make(&g, e);
        uint64_t all = 0;
        struct calls c;
        void *st;

        calls_begin(&c, "schedule", THREADS);
        c.meta.n_files = THREADS;
        c.meta.n_cores = seed % 2 ? CORES : 0; /* or they are numbered as they come */
        st = calls_state(&c, NULL);
        calls_feed(&c, st, e, 0, n, 1 + (uint32_t)(gen_u64(&g) % 200));
        calls_result(&c, st);
        for (unsigned core = 0; core < CORES; core++) {
            const struct truth t = look(e, n, core);

            assert_int_equal(calls_cell(&c, "cores", "core", core, "instructions"), t.instructions);
            assert_int_equal(calls_cell(&c, "cores", "core", core, "switches"), t.switches);
            assert_int_equal(calls_cell(&c, "cores", "core", core, "to_idle"), t.to_idle);
            assert_int_equal(calls_cell(&c, "cores", "core", core, "idle"), t.idle);
            assert_int_equal(calls_cell(&c, "cores", "core", core, "system_calls"), t.calls);
            all += t.switches;
        }
        assert_int_equal(calls_number(&c, "switches"), all);
        for (uint64_t t = 0; t < THREADS; t++) {
            uint64_t instructions = 0;

            for (size_t i = 0; i < n; i++)
                instructions += e[i].kind == TROD_INSTR && e[i].stream == t;
            if (instructions)
                assert_int_equal(calls_cell(&c, "threads", "tid", 100 + t, "instructions"),
                                 instructions);
        }
        calls_drop(&c, st);
        calls_end(&c);
    }
}

/* Rows of cores that take turns for a while, before one of them is idle or runs another thread. */
static size_t make_turns(struct trod_gen *g, struct event *e, unsigned cores)
{
    uint32_t on[CORES] = {0, 1, 2};
    size_t n = 0;

    while (n + 400 * CORES < TURNS) {
        const uint64_t how = gen_u64(g);
        const uint16_t core = (uint16_t)(how % cores);
        const bool kernel = how >> 8 & 1;

        for (uint64_t round = 1 + (how >> 16) % (how >> 12 & 1 ? 6 : 399); round > 0; round--)
            for (uint16_t k = 0; k < cores; k++) {
                const uint64_t what = gen_u64(g);

                e[n++] = (struct event){.kind = what % 4 ? TROD_INSTR : TROD_READ,
                                        .stream = on[k],
                                        .core = k,
                                        .size = 4,
                                        .flags = what % 64 == 1            ? TROD_F_NOFETCH
                                                 : kernel && what >> 8 & 1 ? TROD_F_KERNEL
                                                                           : 0};
            }
        if (how >> 40 & 1) {
            on[core] = CORES + (uint32_t)(how >> 41) % (THREADS - CORES);
            for (unsigned k = 0; k < cores; k++)
                if (k != core && on[k] == on[core])
                    on[core] = core;
        } else {
            e[n++] = (struct event){.kind = TROD_MARKER,
                                    .sub = how >> 44 & 1 ? TROD_DRM_CORE_IDLE : TROD_DRM_SYSCALL,
                                    .stream = on[core],
                                    .core = core,
                                    .value = 1 + (how >> 48) % 500};
        }
    }
    return n;
}

/* Rounds of turns counted core by core are what rows counted one by one are. */
static void test_turns(void **state)
{
    static struct event e[TURNS];

    (void)state;
    for (uint64_t seed = 1; seed < 13; seed++) {
        struct trod_gen g = gen_seed(seed);
        const unsigned cores = 1 + (unsigned)(seed % CORES);
        const size_t n = make_turns(&g, e, cores);
        struct sch_state *one, *many;
        struct calls c;

        calls_begin(&c, "schedule", THREADS);
        c.meta.n_files = THREADS;
        c.meta.n_cores = cores;
        one = calls_state(&c, NULL);
        many = calls_state(&c, NULL);
        calls_feed(&c, one, e, 0, n, 1);
        calls_feed(&c, many, e, 0, n, TROD_BATCH_ROWS);
        assert_true(many->round > 0);
        assert_int_equal(one->instructions, many->instructions);
        assert_int_equal(one->position, many->position);
        assert_int_equal(one->last_core, many->last_core);
        assert_int_equal(one->span, many->span);
        assert_int_equal(one->n_threads, many->n_threads);
        for (size_t t = 0; t < one->n_threads; t++)
            assert_int_equal(one->thread[t].instructions, many->thread[t].instructions);
        for (unsigned k = 0; k < cores; k++) {
            const struct sch_core *a = &one->core[k], *b = &many->core[k];

            assert_int_equal(a->instructions, b->instructions);
            assert_int_equal(a->user, b->user);
            assert_int_equal(a->since, b->since);
            assert_int_equal(a->steps, b->steps);
            assert_int_equal(a->due, b->due);
            assert_int_equal(a->switches, b->switches);
            assert_int_equal(a->segment, b->segment);
            assert_memory_equal(a->bucket, b->bucket, SCH_BUCKETS * sizeof *a->bucket);
        }
        calls_drop(&c, one);
        calls_drop(&c, many);
        calls_end(&c);
    }
}

/* One core, two threads: why they left, worked out by hand. */
static void test_by_hand(void **state)
{
    struct event e[] = {
        EVENT_INSTR(0),
        EVENT_INSTR(0),
        EVENT_MARK(0, TIMESTAMP, 1000),
        EVENT_MARK(0, SYSCALL, 7),
        EVENT_MARK(0, TIMESTAMP, 1012),
        EVENT_INSTR(1), /* thread 0 left behind a system call of 12 microseconds */
        EVENT_INSTR(1),
        EVENT_INSTR(0), /* thread 1 had to make room */
        EVENT_MARK(0, TIMESTAMP, 2000),
        EVENT_MARK(0, SYSCALL, 8),
        EVENT_MARK(0, TIMESTAMP, 2003),
        EVENT_INSTR(0), /* and stays */
    };
    struct calls c;
    void *st;

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        e[i].core = 0;
    calls_begin(&c, "schedule", 2);
    c.meta.n_files = 2;
    st = calls_state(&c, NULL);
    calls_feed(&c, st, e, 0, sizeof e / sizeof *e, 5);
    calls_result(&c, st);
    assert_int_equal(calls_number(&c, "switches"), 2);
    assert_int_equal(calls_number(&c, "voluntary"), 1);
    assert_int_equal(calls_cell(&c, "latencies", "number", 7, "from"), 10);
    assert_int_equal(calls_cell(&c, "latencies", "number", 7, "switched"), 1);
    assert_int_equal(calls_cell(&c, "latencies", "number", 8, "from"), 0);
    assert_int_equal(calls_cell(&c, "latencies", "number", 8, "switched") & 1, 0);
    assert_int_equal(calls_cell(&c, "threads", "tid", 100, "waited"), 12);
    assert_true(asked(e, 5, 0));
    assert_false(asked(e, 7, 1));
    calls_drop(&c, st);
    calls_end(&c);
}

/* A thread that has more than half of a bucket is the one that is shown there. */
static void test_chart(void **state)
{
    enum { STEPS = 20000 };
    static uint32_t who[STEPS];
    const struct sch_options opt = {0};

    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct sch_state s = {.opt = &opt, .placed = true};
        struct sch_core core = {.number = 0};
        uint64_t at = 0;

        s.core = &core;
        s.n_cores = 1;
        while (at < STEPS) {
            const uint32_t thread = (uint32_t)(gen_u64(&g) % 4);
            uint64_t to = at + 1 + gen_u64(&g) % 200;

            to = to < STEPS ? to : STEPS;
            assert_true(sch_chart(&s, &core, at, to, thread));
            while (at < to)
                who[at++] = thread;
        }
        for (size_t i = 0; i < SCH_BUCKETS && i * s.span < STEPS; i++) {
            uint64_t n[4] = {0}, of = 0;

            for (uint64_t k = i * s.span; k < (i + 1) * s.span && k < STEPS; k++, of++)
                n[who[k]]++;
            for (unsigned t = 0; t < 4; t++)
                if (2 * n[t] > of)
                    assert_int_equal(core.bucket[i].at, t);
        }
        free(core.bucket);
    }
}

/* The lists that schedule_stats printed for threadsig, from the order in which things came. */
static void test_unordered(void **state)
{
    static const uint64_t came[] = {872904, 872884, 872905, 872903, 872902,
                                    872901, 872805, 872906, 872894};
    static const uint64_t printed[] = {872894, 872906, 872805, 872901, 872902,
                                       872903, 872905, 872884, 872904};
    uint64_t many[100];
    uint32_t out[100];
    bool there[100] = {false};

    (void)state;
    assert_true(sch_unordered(came, 9, out));
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(came[out[i]], printed[i]);
    for (size_t i = 0; i < 100; i++)
        many[i] = i * 13;
    assert_true(sch_unordered(many, 100, out)); /* each once, whatever the buckets */
    for (size_t i = 0; i < 100; i++)
        there[out[i]] = true;
    for (size_t i = 0; i < 100; i++)
        assert_true(there[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_turns),
        cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_chart),
        cmocka_unit_test(test_unordered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
