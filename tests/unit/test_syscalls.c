/*
 * test_syscalls.c - the analysis "syscalls" against an oracle that looks behind each call for what
 * came of it, on traces made at random, and on one counted by hand.
 */
#include "calls_fixture.h"

enum { EVENTS = 4000, THREADS = 5, NUMBERS = 6 };

static const uint64_t base = UINT64_C(0x100000000);

/* Random rows of THREADS threads; system calls with their markers in order, or torn. */
static size_t make(struct trod_gen *g, struct event *e)
{
    uint64_t time = 1000;
    size_t n = 0;

    while (n + 16 < EVENTS) {
        const uint32_t t = (uint32_t)(gen_u64(g) % THREADS);
        const uint64_t call = gen_u64(g) % NUMBERS, how = gen_u64(g);

        time += gen_u64(g) % 50;
        e[n++] = (struct event)EVENT_INSTR(t);
        if (how % 4 == 0)
            continue;
        if (how & 1 << 4)
            e[n++] = (struct event)EVENT_MARK(t, TIMESTAMP, time);
        if (how & 1 << 5)
            e[n++] = (struct event)EVENT_MARK(t, SYSCALL, call);
        if (how & 1 << 6)
            e[n++] = (struct event)EVENT_MARK(t, MAYBE_BLOCKING, 0);
        if (how & 1 << 7)
            e[n++] = (struct event)EVENT_INSTR((t + 1) % THREADS);
        if (how & 1 << 8) {
            e[n++] = (struct event)EVENT_MARK(t, FUNC_ID, how & 1 << 9 ? base + call : call);
            e[n++] = (struct event)EVENT_MARK(t, FUNC_ARG, how);
            e[n++] = (struct event)EVENT_MARK(t, FUNC_RETVAL, how >> 3);
        }
        if (how & 1 << 10)
            e[n++] = (struct event)EVENT_MARK(t, SYSCALL_FAILED, how >> 60);
        if (how & 1 << 11) {
            e[n++] = (struct event)EVENT_INSTR(t);
            e[n - 1].flags = how & 1 << 12 ? TROD_F_KERNEL : 0;
        }
        time += gen_u64(g) % 5000;
        if (how & 1 << 13)
            e[n++] = (struct event)EVENT_MARK(t, TIMESTAMP, time);
    }
    return n;
}

/* What happened to call number NUMBER: every call looked at by itself. */
struct truth {
    uint64_t calls, returned, failed, blocking, timed, time;
};

static bool user(const struct event *e)
{
    return e->kind == TROD_INSTR && !(e->flags & TROD_F_KERNEL);
}

/* The time stamp that stands before row I of its thread with nothing executed in between. */
static bool time_before(const struct event *e, size_t i, uint64_t *time)
{
    const uint32_t stream = e[i].stream;

    while (i-- > 0) {
        if (e[i].stream != stream)
            continue;
        if (user(&e[i]))
            return false;
        if (e[i].kind == TROD_MARKER && e[i].sub == TROD_DRM_TIMESTAMP) {
            *time = e[i].value;
            return true;
        }
    }
    return false;
}

static struct truth look(const struct event *e, size_t n, uint64_t number)
{
    struct truth t = {0};

    for (size_t i = 0; i < n; i++) {
        bool open = true;

        if (e[i].kind != TROD_MARKER || e[i].sub != TROD_DRM_SYSCALL || e[i].value != number)
            continue;
        t.calls++;
        for (size_t k = i + 1; k < n; k++) {
            uint64_t before;

            if (e[k].stream != e[i].stream)
                continue;
            if (e[k].kind == TROD_MARKER && e[k].sub == TROD_DRM_SYSCALL)
                break;
            if (e[k].kind == TROD_MARKER && e[k].sub == TROD_DRM_SYSCALL_FAILED)
                t.failed++;
            if (open && e[k].kind == TROD_MARKER && e[k].sub == TROD_DRM_MAYBE_BLOCKING)
                t.blocking++;
            if (open && e[k].kind == TROD_MARKER && e[k].sub == TROD_DRM_TIMESTAMP) {
                open = false;
                t.returned++;
                if (time_before(e, i, &before)) {
                    t.timed++;
                    t.time += e[k].value - before;
                }
            } else if (open && user(&e[k])) {
                open = false;
                t.returned++;
            }
        }
    }
    return t;
}

static void compare(const struct calls *c, const struct event *e, size_t n)
{
    for (uint64_t number = 0; number < NUMBERS; number++) {
        const struct truth t = look(e, n, number);

        assert_int_equal(calls_cell(c, "calls", "number", number, "calls"), t.calls);
        assert_int_equal(calls_cell(c, "calls", "number", number, "returned"), t.returned);
        assert_int_equal(calls_cell(c, "calls", "number", number, "failed"), t.failed);
        assert_int_equal(calls_cell(c, "calls", "number", number, "blocking"), t.blocking);
        assert_int_equal(calls_cell(c, "calls", "number", number, "timed"), t.timed);
        assert_int_equal(calls_cell(c, "calls", "number", number, "time"), t.time);
    }
}

static void test_random(void **state)
{
    static struct event e[EVENTS];

    (void)state;
    for (uint64_t seed = 1; seed < 12; seed++) {
        struct trod_gen g = gen_seed(seed);
        const size_t n = make(&g, e);
        const uint32_t batch = 1 + (uint32_t)(gen_u64(&g) % 300);
        struct calls c;
        void *st;

        calls_begin(&c, "syscalls", THREADS);
        st = calls_state(&c, NULL);
        calls_feed(&c, st, e, 0, n, batch);
        calls_result(&c, st);
        compare(&c, e, n);
        calls_saved(&c, st, NULL);
        calls_drop(&c, st);
        calls_end(&c);
    }
}

/* The result of ST as JSON; to be freed. */
static char *json_of(struct calls *c, const void *st)
{
    const struct trod_emit_options opt = {.format = TROD_EMIT_JSON};
    struct trod_emit *emit;
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    calls_result(c, st);
    assert_int_equal(trod_emit_new(&emit, out, &opt), TROD_OK);
    trod_result_emit(c->result, emit);
    assert_int_equal(trod_emit_free(emit), TROD_OK);
    fclose(out);
    return text;
}

/* Single calls with all that is known of them are in saved states, too. */
static void test_list_saved(void **state)
{
    static struct event e[EVENTS];
    struct trod_gen g = gen_seed(5);
    const size_t n = make(&g, e);
    char number[] = "300", *one, *other;
    struct trod_buf saved = {0};
    struct calls c;
    void *opt, *st, *again;

    (void)state;
    calls_begin(&c, "syscalls", THREADS);
    opt = calloc(1, c.analysis->options_size);
    assert_non_null(opt);
    assert_int_equal(trod_option_set(c.analysis->options, opt, "list", number, NULL), TROD_OK);
    st = calls_state(&c, opt);
    calls_feed(&c, st, e, 0, n, 64);
    one = json_of(&c, st);
    assert_int_equal(calls_rows(&c, "list"), 300);
    assert_int_equal(c.analysis->save(st, &saved), TROD_OK);
    again = calls_state(&c, opt);
    assert_int_equal(c.analysis->load(again, (struct trod_span){.p = saved.p, .n = saved.n}, NULL),
                     TROD_OK);
    other = json_of(&c, again);
    assert_string_equal(one, other);
    calls_saved(&c, st, opt);
    calls_drop(&c, again);
    calls_drop(&c, st);
    calls_end(&c);
    trod_buf_fini(&saved);
    free(one);
    free(other);
    free(opt);
}

/* Threads in states of their own, merged: the sums of all together. */
static void test_merged(void **state)
{
    static struct event e[EVENTS], of[EVENTS];
    struct trod_gen g = gen_seed(77);
    const size_t n = make(&g, e);
    struct calls c;
    void *all;

    (void)state;
    calls_begin(&c, "syscalls", THREADS);
    all = calls_state(&c, NULL);
    for (uint32_t t = 0; t < THREADS; t++) {
        size_t m = 0;
        void *st;

        for (size_t i = 0; i < n; i++)
            if (e[i].stream == t)
                of[m++] = e[i];
        c.context.stream = t;
        st = calls_state(&c, NULL);
        calls_feed(&c, st, of, 0, m, 64);
        assert_int_equal(c.analysis->merge(all, st), TROD_OK);
        calls_drop(&c, st);
    }
    calls_result(&c, all);
    compare(&c, e, n);
    calls_drop(&c, all);
    calls_end(&c);
}

/* Numbers worked out by hand; a failure without its call; the lines of syscall_mix. */
static void test_by_hand(void **state)
{
    const struct event e[] = {
        EVENT_MARK(0, SYSCALL_FAILED, 4), /* of a call that lies before the beginning */
        EVENT_INSTR(0),
        EVENT_MARK(0, TIMESTAMP, 100),
        EVENT_MARK(0, SYSCALL, 202),
        EVENT_MARK(0, MAYBE_BLOCKING, 0),
        EVENT_MARK(0, SYSCALL_FAILED, 11),
        EVENT_MARK(0, TIMESTAMP, 130),
        EVENT_INSTR(0),
        EVENT_MARK(0, TIMESTAMP, 140),
        EVENT_MARK(0, SYSCALL, 202),
        EVENT_MARK(0, TIMESTAMP, 145),
        EVENT_INSTR(0),
        EVENT_MARK(0, SYSCALL, 60),
    };
    static const char want[] = "Syscall mix tool results:\n"
                               "  syscall count : syscall_num\n"
                               "              2 :       202\n"
                               "              1 :        60\n"
                               "Failures for syscall -1:\n"
                               "  failure count : failure code\n"
                               "              1 :         4\n"
                               "Failures for syscall 202:\n"
                               "  failure count : failure code\n"
                               "              1 :        11\n";
    struct trod_buf text = {0};
    struct calls c;
    void *opt, *st;

    (void)state;
    calls_begin(&c, "syscalls", 1);
    opt = calloc(1, c.analysis->options_size);
    assert_non_null(opt);
    for (const struct trod_option *o = c.analysis->options; o->type != TROD_OPT_END; o++)
        if (strcmp(o->name, "like") == 0)
            memcpy((char *)opt + o->offset, &(int){1}, sizeof(int));
    st = calls_state(&c, opt);
    calls_feed(&c, st, e, 0, sizeof e / sizeof *e, 4);
    calls_result(&c, st);
    assert_int_equal(calls_number(&c, "calls"), UINT64_MAX); /* a table has that name */
    assert_int_equal(calls_number(&c, "total_calls"), 3);
    assert_int_equal(calls_number(&c, "failed"), 2);
    assert_int_equal(calls_cell(&c, "calls", "number", 202, "time"), 35);
    assert_int_equal(calls_cell(&c, "calls", "number", 202, "least"), 5);
    assert_int_equal(calls_cell(&c, "calls", "number", 202, "most"), 30);
    assert_int_equal(calls_cell(&c, "calls", "number", 60, "returned"), 0);
    assert_int_equal(calls_cell(&c, "calls", "number", 60, "time"), UINT64_MAX);
    assert_int_equal(c.analysis->layout(st, &text), 1);
    assert_int_equal(text.n, sizeof want - 1);
    assert_memory_equal(text.p, want, text.n);
    trod_buf_fini(&text);
    calls_drop(&c, st);
    free(opt);
    calls_end(&c);
}

/* Numbers without end: memory stays bounded, sums stay right. */
static void test_invented(void **state)
{
    enum { CALLS = 200000 };
    struct calls c;
    void *st;

    (void)state;
    calls_begin(&c, "syscalls", 1);
    st = calls_state(&c, NULL);
    for (uint64_t i = 0; i < CALLS; i++) {
        const struct event e[] = {EVENT_MARK(0, SYSCALL, i * 977),
                                  EVENT_MARK(0, SYSCALL_FAILED, i)};

        calls_feed(&c, st, e, 0, 2, 2);
    }
    calls_result(&c, st);
    assert_int_equal(calls_number(&c, "total_calls"), CALLS);
    assert_int_equal(calls_number(&c, "failed"), CALLS);
    assert_in_range(calls_rows(&c, "calls"), 1, 65536);
    assert_in_range(calls_rows(&c, "failures"), 1, 65536);
    calls_drop(&c, st);
    calls_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),     cmocka_unit_test(test_merged),
        cmocka_unit_test(test_list_saved), cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_invented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
