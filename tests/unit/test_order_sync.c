/*
 * test_order_sync.c - order "sync" on trace sets made by running made-up threads.
 *
 * Random programs that lock, unlock, signal and wait are run by a random scheduler, which gives
 * each sync record the count it really had; so every set has at least one legal order. What comes
 * out must be legal by the definition (a wait comes after the signal that carries its count),
 * complete, in the order of each file, and the same for every batch size. Sets that are broken on
 * purpose must be reported (amber, "Thread Synchronization Records").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "testlib.h"
#include "trod/trod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, MUTEXES = 4, STEPS = 400, CONDITION = 0x9000, NOP = 0x60000000 };

struct thread {
    struct trod_buf bytes;
    int holds; /* mutex, -1: none */
};

static void put32(struct trod_buf *b, uint32_t v)
{
    const uint8_t p[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

    assert_int_equal(trod_buf_add(b, p, 4), 0);
}

static void put_sync(struct trod_buf *b, uint32_t code, uint32_t addr, uint32_t count)
{
    put32(b, code << 16 | 2);
    put32(b, addr);
    put32(b, count);
}

static uint32_t mutex_addr(int m)
{
    return 0x8000 + 4 * (uint32_t)m;
}

/* Run the threads; their traces are what they did. */
static void simulate(struct trod_rng *rng, struct thread *t, size_t n)
{
    uint32_t count[MUTEXES] = {0}, signals = 0;
    int owner[MUTEXES];

    memset(owner, -1, sizeof owner);
    for (size_t i = 0; i < n; i++) {
        t[i] = (struct thread){.holds = -1};
        put32(&t[i].bytes, 0x1000 * (uint32_t)(i + 1));
    }
    for (int step = 0; step < STEPS; step++) {
        size_t i = trod_rng_below(rng, n);
        int m = (int)trod_rng_below(rng, MUTEXES);

        for (uint64_t k = trod_rng_below(rng, 40); k > 0; k--)
            put32(&t[i].bytes, NOP);
        if (t[i].holds >= 0) {
            m = t[i].holds;
            put_sync(&t[i].bytes, TROD_SYNC_SIGNAL, mutex_addr(m), ++count[m]);
            owner[m] = t[i].holds = -1;
        } else if (owner[m] < 0) {
            bool try = trod_rng_below(rng, 2);

            put_sync(&t[i].bytes, try ? TROD_SYNC_TRY_WAIT : TROD_SYNC_WAIT, mutex_addr(m),
                     count[m]);
            owner[m] = (int)i;
            t[i].holds = m;
        } else if (trod_rng_below(rng, 2)) {
            put_sync(&t[i].bytes, TROD_SYNC_BROADCAST, CONDITION, ++signals);
        } else if (signals) {
            put_sync(&t[i].bytes, TROD_SYNC_WAIT, CONDITION,
                     1 + (uint32_t)trod_rng_below(rng, signals));
        }
    }
}

struct run {
    uint64_t *order; /* of the rows: stream and what the row says */
    size_t n, cap;
    int rc;
    struct trod_diag diag;
};

static void remember(struct run *r, uint64_t v)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        r->order = realloc(r->order, r->cap * sizeof *r->order);
        assert_non_null(r->order);
    }
    r->order[r->n++] = v;
}

/* One signal or wait must be legal where it stands. */
static void judge(const struct trod_batch *b, uint32_t i, uint8_t given[][1024])
{
    uint64_t point = b->addr[i] == CONDITION ? MUTEXES : (b->addr[i] - 0x8000) / 4;

    assert_true(point <= MUTEXES && b->value[i] < 1024);
    if (trod_sync_is_signal(b->sub[i]))
        given[point][b->value[i]] = 1;
    else if (b->value[i])
        assert_true(given[point][b->value[i]]);
}

/* With PAST also what stands behind waits that cannot complete: then no order is legal. */
static struct run read_rows(char *const *path, size_t n, uint32_t rows, bool past)
{
    static uint8_t given[MUTEXES + 1][1024];
    struct trod_trace_options opt = {.struct_size = sizeof opt,
                                     .from = "tt6",
                                     .order = TROD_ORDER_SYNC,
                                     .batch_rows = rows,
                                     .past_waits = past};
    uint64_t words[THREADS] = {0};
    struct run r = {0};
    struct trod_trace *t;
    struct trod_batch *b;

    memset(given, 0, sizeof given);
    trod_diag_init(&r.diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, (const char *const *)path, n, &opt, &r.diag), 0);
    while ((r.rc = trod_trace_next(t, &b)) == 1) {
        assert_int_equal(b->first, r.n);
        for (uint32_t i = 0; i < b->n; i++) {
            uint32_t file = trod_trace_meta(t)->streams[b->stream[i]].file;

            if (b->kind[i] == TROD_SYNC && !past)
                judge(b, i, given);
            remember(&r, (uint64_t)file << 56 | words[file]++);
        }
    }
    trod_trace_close(t);
    return r;
}

static struct run read_set(char *const *path, size_t n, uint32_t rows)
{
    return read_rows(path, n, rows, false);
}

static void save_set(struct thread *t, size_t n, const char *dir, char **path)
{
    for (size_t i = 0; i < n; i++) {
        char name[16];

        snprintf(name, sizeof name, "%zu.tt6", i);
        path[i] = test_path(dir, name);
        test_save(path[i], t[i].bytes.p, t[i].bytes.n);
    }
}

static void free_set(struct thread *t, size_t n, char **path)
{
    for (size_t i = 0; i < n; i++) {
        trod_buf_fini(&t[i].bytes);
        free(path[i]);
    }
}

static void test_legal_and_complete(void **state)
{
    char *dir = test_tmpdir();

    (void)state;
    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct thread t[THREADS];
        char *path[THREADS];
        struct trod_rng rng;
        struct run a, b, c;
        size_t n;

        trod_rng_seed(&rng, seed);
        n = 1 + trod_rng_below(&rng, THREADS);
        simulate(&rng, t, n);
        save_set(t, n, dir, path);
        a = read_set(path, n, 4096);
        b = read_set(path, n, 16);
        c = read_set(path, n, 100);
        assert_int_equal(a.rc, 0);
        assert_int_equal(a.diag.errors, 0);
        assert_int_equal(a.n, b.n);
        assert_int_equal(a.n, c.n);
        assert_memory_equal(a.order, b.order, a.n * sizeof *a.order);
        assert_memory_equal(a.order, c.order, a.n * sizeof *a.order);
        free(a.order);
        free(b.order);
        free(c.order);
        free_set(t, n, path);
    }
    test_remove(dir);
    free(dir);
}

/* One signal is taken out of a set in which somebody waits for it: everything before is delivered.
 */
static void test_signal_that_never_comes(void **state)
{
    char *dir = test_tmpdir(), *path[2];
    struct thread t[2] = {{.holds = -1}, {.holds = -1}};
    struct run r;

    (void)state;
    put32(&t[0].bytes, 0x1000);
    put_sync(&t[0].bytes, TROD_SYNC_SIGNAL, mutex_addr(0), 1);
    put32(&t[0].bytes, NOP);
    put32(&t[1].bytes, 0x2000);
    put32(&t[1].bytes, NOP);
    put_sync(&t[1].bytes, TROD_SYNC_WAIT, mutex_addr(0), 1);
    put_sync(&t[1].bytes, TROD_SYNC_WAIT, mutex_addr(0), 2);
    put32(&t[1].bytes, NOP);
    save_set(t, 2, dir, path);
    r = read_set(path, 2, 64);
    assert_int_equal(r.rc, TROD_ERR_CORRUPT);
    assert_int_equal(trod_diag_kind_count(&r.diag, "sync.never-signalled"), 1);
    assert_int_equal(r.n, 3 + 3); /* all of the first; of the second up to the wait for 2 */
    free(r.order);
    r = read_rows(path, 2, 64, true);
    assert_int_equal(r.rc, TROD_ERR_CORRUPT);
    assert_int_equal(trod_diag_kind_count(&r.diag, "sync.never-signalled"), 1);
    assert_int_equal(r.diag.errors, 1);
    assert_int_equal(r.n, 3 + 5);
    free(r.order);
    free_set(t, 2, path);
    test_remove(dir);
    free(dir);
}

static void test_cycle(void **state)
{
    char *dir = test_tmpdir(), *path[2];
    struct thread t[2] = {{.holds = -1}, {.holds = -1}};
    struct run r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        put32(&t[i].bytes, 0x1000);
        put32(&t[i].bytes, NOP);
        put_sync(&t[i].bytes, TROD_SYNC_WAIT, mutex_addr(i), 1);
        put_sync(&t[i].bytes, TROD_SYNC_SIGNAL, mutex_addr(!i), 1);
    }
    save_set(t, 2, dir, path);
    r = read_set(path, 2, 64);
    assert_int_equal(r.rc, TROD_ERR_CORRUPT);
    assert_int_equal(trod_diag_kind_count(&r.diag, "sync.cycle"), 2);
    assert_int_equal(r.n, 4);
    free(r.order);
    r = read_rows(path, 2, 64, true);
    assert_int_equal(r.rc, TROD_ERR_CORRUPT);
    assert_int_equal(trod_diag_kind_count(&r.diag, "sync.cycle"), 2);
    assert_int_equal(r.diag.errors, 2);
    assert_int_equal(r.n, 8);
    free(r.order);
    free_set(t, 2, path);
    test_remove(dir);
    free(dir);
}

/* More waits than are remembered: each is reported, and all rows are given. */
static void test_many_waits(void **state)
{
    enum { WAITS = 3000 };
    char *dir = test_tmpdir(), *path[2];
    struct thread t[2] = {{.holds = -1}, {.holds = -1}};
    struct run r;

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        put32(&t[i].bytes, 0x1000);
    for (uint32_t k = 1; k <= WAITS; k++) {
        put_sync(&t[0].bytes, TROD_SYNC_WAIT, mutex_addr(0), k);
        put32(&t[0].bytes, NOP);
    }
    save_set(t, 2, dir, path);
    r = read_rows(path, 2, 64, true);
    assert_int_equal(r.rc, TROD_ERR_CORRUPT);
    assert_int_equal(trod_diag_kind_count(&r.diag, "sync.never-signalled"), WAITS);
    assert_int_equal(r.n, 2 + 2 * WAITS);
    free(r.order);
    free_set(t, 2, path);
    test_remove(dir);
    free(dir);
}

/* Nobody waits: threads take turns, so that none is ahead by more than a turn. */
static void test_fair(void **state)
{
    char *dir = test_tmpdir(), *path[3];
    struct thread t[3];
    uint64_t done[3] = {0};
    struct run r;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        t[i] = (struct thread){.holds = -1};
        put32(&t[i].bytes, 0x1000);
        for (int k = 0; k < 20000; k++)
            put32(&t[i].bytes, NOP);
    }
    save_set(t, 3, dir, path);
    r = read_set(path, 3, 4096);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.n, 3 * 20001);
    for (size_t i = 0; i < r.n; i++) {
        uint64_t least, most;

        done[r.order[i] >> 56]++;
        least = done[0] < done[1] ? done[0] : done[1];
        least = done[2] < least ? done[2] : least;
        most = done[0] > done[1] ? done[0] : done[1];
        most = done[2] > most ? done[2] : most;
        assert_true(most - least <= 1024);
    }
    free(r.order);
    free_set(t, 3, path);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legal_and_complete),
        cmocka_unit_test(test_signal_that_never_comes),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_many_waits),
        cmocka_unit_test(test_fair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
