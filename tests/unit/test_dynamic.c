/*
 * test_dynamic.c - the order "dynamic": turns that are taken together (trod_dynamic_rounds) are
 * those that are decided on one by one, whatever the threads do and however many of their records
 * are at hand; and the rows of a trace are the same for every size of a batch.
 */
#include "core/origin.h"
#include "trace/dynamic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"
#include "trod/drmemtrace.h"
#include "trod/trod.h"

enum { INPUTS = 12, CORES = 7, RECORDS = 4000, AT_HAND = 600, ROUNDS = 60, TOLD = 400 };

/* --- the scheduler --- */

struct thread {
    uint8_t kind[RECORDS];
    uint64_t value[RECORDS];
    uint32_t n, given; /* records; those that were at hand before */
    uint16_t fetched[AT_HAND + 1], stop[AT_HAND + 1];
};

struct program {
    struct thread thread[INPUTS];
    struct trod_dyn_rows rows[INPUTS];
    struct trod_dyn_input input[INPUTS];
    struct trod_gen chunks; /* how many records are at hand */
    uint32_t n;
};

/* What came of it. */
struct course {
    struct trod_dyn_turn turn[INPUTS * RECORDS];
    size_t n, together; /* records; of these those of whole rounds */
    uint64_t idle[CORES];
    uint32_t left;
};

static int more(void *user, uint32_t input)
{
    struct program *p = user;
    struct thread *t = &p->thread[input];
    const uint32_t most = 1 + (uint32_t)(gen_u64(&p->chunks) % AT_HAND);
    uint32_t n, stops = 0;
    uint16_t fetched = 0;

    t->given += p->rows[input].n;
    n = t->n - t->given < most ? t->n - t->given : most;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned kind = t->kind[t->given + i];

        t->fetched[i] = fetched;
        fetched = (uint16_t)(fetched + (kind == TROD_DYN_INSTR));
        if (kind > TROD_DYN_INSTR)
            t->stop[stops++] = (uint16_t)i;
    }
    t->fetched[n] = fetched;
    t->stop[stops] = (uint16_t)n;
    p->rows[input] = (struct trod_dyn_rows){.kind = t->kind + t->given,
                                            .value = t->value + t->given,
                                            .fetched = t->fetched,
                                            .stop = t->stop,
                                            .n = n};
    return n > 0;
}

/* Threads that execute, and now and then ask the system for something: every RARE records. */
static void make(struct trod_gen *g, struct program *p, unsigned rare)
{
    p->n = 1 + (uint32_t)(gen_u64(g) % INPUTS);
    for (uint32_t i = 0; i < p->n; i++) {
        struct thread *t = &p->thread[i];
        uint64_t time = 1000 + gen_u64(g) % 50;

        *t = (struct thread){.n = 1 + (uint32_t)(gen_u64(g) % RECORDS)};
        p->input[i] = (struct trod_dyn_input){time, time, 100 + i, gen_u64(g) % 4 ? 7 : 5};
        for (uint32_t k = 0; k < t->n; k++) {
            const uint64_t how = gen_u64(g);

            t->kind[k] = how % 3 ? TROD_DYN_INSTR : TROD_DYN_OTHER;
            if ((how >> 8 & 0xffff) % rare)
                continue;
            t->kind[k] = (uint8_t)(TROD_DYN_TIMESTAMP + (how >> 24) % 9);
            t->value[k] = t->kind[k] == TROD_DYN_TIMESTAMP ? time += how >> 32 & 2047
                          : t->kind[k] == TROD_DYN_TIMEOUT ? how >> 32 & 1023
                                                           : 100 + (how >> 32) % INPUTS;
        }
    }
}

/* Let P run; TOGETHER: whole rounds where there are some. */
static void run(struct program *p, const struct trod_dyn_options *opt, bool together, uint64_t seed,
                struct course *c)
{
    struct trod_dyn_turn turn[CORES];
    struct trod_dynamic *d;
    uint64_t rounds;
    uint32_t n = 0;
    int rc = 1;

    c->n = c->together = 0;
    p->chunks = gen_seed(seed);
    memset(p->rows, 0, sizeof p->rows);
    for (uint32_t i = 0; i < p->n; i++)
        p->thread[i].given = 0;
    assert_int_equal(trod_dynamic_new(&d, p->input, p->n, opt, p->rows, more, p), 0);
    while (rc == 1) {
        const uint32_t room = 1 + (uint32_t)(gen_u64(&p->chunks) % 500);

        rounds = together ? trod_dynamic_rounds(d, room, turn, &n) : 0;
        assert_true(rounds == 0 || (n > 0 && rounds * n <= room));
        c->together += rounds * n;
        for (uint64_t r = 0; r < rounds; r++)
            for (uint32_t k = 0; k < n; k++)
                c->turn[c->n++] = turn[k];
        if (rounds == 0 && (rc = trod_dynamic_next(d, &turn->core, &turn->input)) == 1)
            c->turn[c->n++] = *turn;
    }
    assert_int_equal(rc, 0);
    for (uint32_t k = 0; k < opt->cores; k++)
        c->idle[k] = trod_dynamic_idle(d, k);
    c->left = trod_dynamic_left(d);
    trod_dynamic_free(d);
}

static void test_rounds(void **state)
{
    struct program *p = malloc(sizeof *p);
    struct course *one = malloc(sizeof *one), *all = malloc(sizeof *all);
    size_t together = 0, records = 0;

    (void)state;
    assert_true(p && one && all);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        static const unsigned rare[] = {3, 20, 200, 2000};
        struct trod_gen g = gen_seed(seed);
        struct trod_dyn_options opt = {.cores = 1 + (uint32_t)(gen_u64(&g) % CORES),
                                       .quantum = seed % 3 ? 0 : 1 + gen_u64(&g) % 300,
                                       .scale = seed % 5 ? 0 : 7,
                                       .parallel = seed % 4 == 0,
                                       .all = seed % 2};

        make(&g, p, rare[seed % 4]);
        run(p, &opt, false, seed, one);
        run(p, &opt, true, seed + TOLD, all);
        assert_int_equal(one->n, all->n);
        assert_memory_equal(one->turn, all->turn, one->n * sizeof *one->turn);
        assert_memory_equal(one->idle, all->idle, opt.cores * sizeof *one->idle);
        assert_int_equal(one->left, all->left);
        together += all->together;
        records += all->n;
    }
    assert_true(together > records / 4); /* it does come to that */
    free(p);
    free(one);
    free(all);
}

/* --- traces --- */

struct seen {
    uint64_t addr, value;
    uint32_t has, flags, core, stream, sub, kind;
};

static void entry(struct trod_buf *b, unsigned type, unsigned size, uint64_t value)
{
    uint8_t p[12] = {(uint8_t)type, (uint8_t)(type >> 8), (uint8_t)size, (uint8_t)(size >> 8)};

    for (unsigned i = 0; i < 8; i++)
        p[4 + i] = (uint8_t)(value >> 8 * i);
    assert_int_equal(trod_buf_add(b, p, sizeof p), 0);
}

/* A thread of a program: instructions with accesses, system calls that may block. */
static void thread_file(struct trod_gen *g, const char *path, unsigned tid)
{
    const unsigned n = 200 + (unsigned)(gen_u64(g) % 3000);
    struct trod_buf b = {0};
    uint64_t time = 1000 + tid;

    entry(&b, 25, 0, 7);
    entry(&b, 28, TROD_DRM_VERSION, 7);
    entry(&b, 28, TROD_DRM_FILETYPE, 0xe40);
    entry(&b, 22, 4, tid);
    entry(&b, 24, 4, 70);
    entry(&b, 28, TROD_DRM_TIMESTAMP, time);
    entry(&b, 28, TROD_DRM_CPU_ID, 0);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t how = gen_u64(g);

        entry(&b, 47, 2, 0x050f);
        entry(&b, 10, 2, 4096 * (uint64_t)tid + 2 * (how & 255));
        if (how >> 8 & 1)
            entry(&b, how >> 9 & 1, 8, how >> 20);
        if (how >> 10 & 63)
            continue;
        entry(&b, 28, TROD_DRM_SYSCALL, how >> 30 & 7);
        if (how >> 16 & 1)
            entry(&b, 28, TROD_DRM_MAYBE_BLOCKING, 0);
        entry(&b, 28, TROD_DRM_TIMESTAMP, time += how >> 40 & 4095);
        entry(&b, 28, TROD_DRM_CPU_ID, 0);
    }
    entry(&b, 23, 4, tid);
    entry(&b, 26, 0, 0);
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
}

/* The rows of the N files in batches of ROWS; to be freed. */
static struct seen *rows_of(char *const *path, size_t n, uint32_t rows, uint32_t cores, bool idle,
                            size_t *many)
{
    const struct trod_trace_options opt = {.order = TROD_ORDER_DYNAMIC,
                                           .batch_rows = rows,
                                           .cores = cores,
                                           .quantum = 500,
                                           .idle = idle};
    struct seen *out = calloc(1 << 16, sizeof *out);
    const char *names[INPUTS];
    struct trod_batch *b;
    struct trod_trace *t;
    size_t gaps;
    int rc;

    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        names[i] = path[i];
    assert_int_equal(trod_trace_open(&t, names, n, &opt, NULL), TROD_OK);
    *many = gaps = 0;
    while ((rc = trod_trace_next(t, &b)) == 1) {
        assert_int_equal(b->first, *many - gaps);
        for (uint32_t i = 0; i < b->n; i++) {
            const uint32_t has = b->have & b->has[i];

            assert_true(*many < 1 << 16);
            assert_int_equal(trod_origin_row(b, i), *many - gaps);
            gaps += trod_gap_row(b, i); /* which have no number of their own */
            out[(*many)++] = (struct seen){
                .addr = has & TROD_COL_ADDR ? b->addr[i] : 0,
                .value = has & TROD_COL_VALUE ? b->value[i] : 0,
                .has = has,
                .flags = b->flags[i],
                .core = b->core[i],
                .stream = trod_batch_stream(b, i),
                .sub = has & TROD_COL_SUB ? b->sub[i] : 0,
                .kind = b->kind[i],
            };
            if (has & TROD_COL_CODE) /* slices come with the rows */
                assert_memory_equal(trod_batch_bytes(b, b->code[i]), "\x0f\x05", 2);
        }
    }
    assert_int_equal(rc, 0);
    trod_trace_close(t);
    return out;
}

static void test_batches(void **state)
{
    static const uint32_t sizes[] = {1, 17, 100, 1000};
    char *dir = test_tmpdir(), *path[6];
    struct trod_gen g = gen_seed(5);

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        char name[] = "0.trace";

        name[0] = (char)('0' + i);
        path[i] = test_path(dir, name);
        thread_file(&g, path[i], 50 + i);
    }
    for (unsigned cores = 1; cores < 6; cores++) {
        size_t n, many;
        struct seen *want = rows_of(path, 6, 0, cores, cores % 2, &n);

        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct seen *got = rows_of(path, 6, sizes[k], cores, cores % 2, &many);

            assert_int_equal(many, n);
            for (size_t i = 0; i < n; i++)
                if (memcmp(&want[i], &got[i], sizeof *want) != 0)
                    fail_msg("row %zu of batches of %u, %u cores", i, sizes[k], cores);
            free(got);
        }
        free(want);
    }
    for (unsigned i = 0; i < 6; i++)
        free(path[i]);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
