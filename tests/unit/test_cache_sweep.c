/*
 * test_cache_sweep - sweeps of all policies against single runs, whole and in parts; hierarchies
 * shared out to threads against one that is not; charts.
 */
#include "cache_refs.h"
#include "cache_rows.h"
#include "core/chart.h"
#include "core/wide.h"
#include "sim/own/sim.h"
#include "sim/refs.h"
#include "sim/sweep.h"
#include "trod/buf.h"
#include "trod/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 4000 };

static struct trod_own_config config;

static void configure(const char *text)
{
    if (trod_own_config_read(&config, text, strlen(text), "test", NULL) != 0)
        fail_msg("refused: %s", text);
}

static void run(struct trod_own_sim *s, const char *text, const struct trod_sim_ref *r, size_t n)
{
    configure(text);
    assert_int_equal(trod_own_sim_init(s, &config), 0);
    assert_int_equal(trod_own_sim_feed(s, r, n, true), 0);
}

/* --- sweeps --- */

static void same_sweep(const struct trod_sweep *s, const struct trod_sim_ref *r)
{
    static const char *const sides[] = {"code", "data"};

    for (unsigned p = 0; p < s->n_policies; p++)
        for (unsigned line = 32; line <= 64; line *= 2)
            for (unsigned size = 1024; size <= 4096; size *= 2)
                for (unsigned ways = 1; ways <= 8; ways *= 2)
                    for (unsigned data = 0; data < 2; data++) {
                        struct trod_own_counts n;
                        struct trod_own_sim one;
                        char text[200];

                        snprintf(text, sizeof text, "cache A %s line=%u size=%u ways=%u policy=%s",
                                 sides[data], line, size, ways, trod_repl_name(s->policy[p]));
                        run(&one, text, r, N);
                        n = trod_own_sim_sum(&one, 0);
                        trod_own_sim_fini(&one);
                        assert_int_equal(trod_sweep_misses(s, data, size, ways, line, s->policy[p]),
                                         n.misses[0] + n.misses[1] + n.misses[2]);
                    }
}

/* Every policy: a sweep, whole and in parts, and single runs. */
static void test_sweep(void **state)
{
    static const char *const texts[] = {
        "size=1K..4K,ways=1..8,line=32..64,policy=lru+fifo+lfu+tree-plru+bit-plru+nru+srrip",
        "size=1K..4K,ways=1..8,line=32..64,policy=random+brrip+drrip+fifo"};
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_sweep *s = malloc(sizeof *s), *part = malloc(sizeof *part);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    assert_non_null(s);
    assert_non_null(part);
    trod_rng_seed(&rng, 33);
    for (unsigned round = 0; round < 2 * CACHE_REFS_SHAPES; round++) {
        const char *text = texts[round / CACHE_REFS_SHAPES];

        draw_refs(r, N, round % CACHE_REFS_SHAPES, 1, &rng);
        assert_int_equal(trod_sweep_init(s, text, 0, 1, NULL), 0);
        for (size_t i = 0; i < N; i += 1000)
            assert_int_equal(trod_sweep_feed(s, r + i, 1000), 0);
        trod_sweep_end(s);
        same_sweep(s, r);
        for (unsigned jobs = 2; jobs <= 8; jobs += jobs == 3 ? 5 : 1) {
            const unsigned shards = trod_sweep_shards(text, jobs);
            uint64_t refs[TROD_SWEEP_LINES][2];

            assert_true(shards > 1 && shards <= jobs);
            memcpy(refs, s->refs, sizeof refs);
            trod_sweep_fini(s);
            assert_int_equal(trod_sweep_init(s, text, 0, shards, NULL), 0);
            assert_int_equal(trod_sweep_feed(s, r, N), 0);
            trod_sweep_end(s);
            for (unsigned k = 1; k < shards; k++) {
                assert_int_equal(trod_sweep_init(part, text, k, shards, NULL), 0);
                assert_int_equal(trod_sweep_feed(part, r, N), 0);
                trod_sweep_end(part);
                trod_sweep_sum(s, part);
                trod_sweep_fini(part);
            }
            assert_memory_equal(refs, s->refs, sizeof refs);
            if (jobs < 4)
                same_sweep(s, r);
        }
        trod_sweep_fini(s);
    }
    free(r);
    free(s);
    free(part);
}

/* All numbers of A and B, of the same sweep. */
static void equal_sweeps(const struct trod_sweep *a, const struct trod_sweep *b)
{
    assert_memory_equal(a->refs, b->refs, sizeof a->refs);
    for (unsigned p = 0; p < a->n_policies; p++)
        for (uint64_t line = a->line[0]; line <= a->line[1]; line *= 2)
            for (uint64_t size = a->size[0]; size <= a->size[1]; size *= 2)
                for (uint64_t ways = a->ways[0]; ways <= a->ways[1] && ways * line <= size;
                     ways *= 2)
                    for (unsigned data = 0; data < 2; data++)
                        assert_int_equal(
                            trod_sweep_misses(a, data, size, ways, line, a->policy[p]),
                            trod_sweep_misses(b, data, size, ways, line, b->policy[p]));
}

/* S takes no instructions of those. */
static void take_no(struct trod_sweep *s, enum trod_without without)
{
    s->in.without = (uint8_t)without;
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2 && s->sets[i][k]; k++)
            s->sets[i][k]->without = (uint8_t)without;
}

/* Rows of two to four places in turn, code or data, that share some sets and lines and not others.
 */
static void draw_turns(struct trod_batch *b, struct trod_rng *rng)
{
    const unsigned kind = trod_rng_below(rng, 2) ? TROD_INSTR : TROD_READ;
    const uint32_t places = 2 + (uint32_t)trod_rng_below(rng, 3);
    uint64_t place[4];

    for (unsigned i = 0; i < 4; i++)
        place[i] = (UINT64_C(1) << 20) ^ UINT64_C(16) << trod_rng_below(rng, 12) ^
                   UINT64_C(16) << trod_rng_below(rng, 12);
    b->n = 640;
    b->have = TROD_TOUCHED_COLUMNS;
    for (uint32_t i = 0; i < b->n; i++) {
        b->kind[i] = (uint8_t)kind;
        b->has[i] = TROD_TOUCHED_COLUMNS;
        b->flags[i] = 0;
        b->size[i] = 4;
        b->addr[i] = place[i % places];
    }
}

/* The rows of B go to the N parts of ROWS; RECORDED: by way of a part of the rows. */
static void feed_parts(struct trod_sweep *rows, unsigned n, const struct trod_batch *b,
                       const char *text, bool recorded, enum trod_without without)
{
    static struct trod_sweep of;

    if (recorded) {
        assert_int_equal(trod_sweep_init_part(&of, text, NULL), 0);
        take_no(&of, without);
        assert_int_equal(trod_sweep_rows(&of, b, 0, b->n / 3), 0);
        assert_int_equal(trod_sweep_rows(&of, b, b->n / 3, b->n), 0);
        assert_true(trod_sweep_parts(text) == (of.kept.bytes == 0));
    }
    for (unsigned p = 0; p < n; p++)
        assert_int_equal(
            recorded ? trod_sweep_merge(&rows[p], &of) : trod_sweep_rows(&rows[p], b, 0, b->n), 0);
    if (recorded)
        trod_sweep_fini(&of);
}

/* Rows that are looked at as such, in parts, against the references that they are. */
static void rows_and_refs(const char *text, unsigned parts, bool wild, bool recorded,
                          enum trod_without without, struct trod_rng *rng)
{
    enum { BATCHES = 20, PARTS = 4 };
    static struct trod_sweep rows[PARTS], refs;
    static struct trod_sim_ref ref[2 * TROD_BATCH_ROWS];
    struct trod_refs of = {.flags = 0};
    struct trod_meta meta = {.n_streams = 0};
    struct trod_batch *b;
    uint64_t pc = 4096;

    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    assert_int_equal(trod_sweep_init(&refs, text, 0, 1, NULL), 0);
    take_no(&refs, TROD_WITHOUT_WIDE);
    for (unsigned p = 0; p < parts; p++) {
        assert_int_equal(trod_sweep_init(&rows[p], text, p, parts, NULL), 0);
        assert_true(rows[p].by_rows);
        take_no(&rows[p], without);
    }
    for (unsigned n = 0; n < BATCHES; n++) {
        if (trod_rng_below(rng, 2))
            draw(b, rng, wild, &pc);
        else
            draw_turns(b, rng);
        assert_int_equal(trod_sweep_feed(&refs, ref, trod_refs_get(&of, b, 0, b->n, ref)), 0);
        feed_parts(rows, parts, b, text, recorded, without);
        if (n == BATCHES / 2)
            trod_sweep_restart(&refs);
        for (unsigned p = 0; n == BATCHES / 2 && p < parts; p++)
            trod_sweep_restart(&rows[p]);
    }
    trod_sweep_end(&refs);
    for (unsigned p = 0; p < parts; p++)
        trod_sweep_end(&rows[p]);
    for (unsigned p = 1; p < parts; p++)
        trod_sweep_sum(&rows[0], &rows[p]);
    equal_sweeps(&rows[0], &refs);
    trod_sweep_fini(&refs);
    for (unsigned p = 0; p < parts; p++)
        trod_sweep_fini(&rows[p]);
    trod_batch_free(b);
}

static void test_sweep_rows(void **state)
{
    static const char *const texts[] = {
        "size=1K..32K,ways=1..16,line=16..128",
        "size=1K..8K,ways=1..8,line=32..64,policy=lru+fifo+random+nru",
        "size=16K..64K,ways=2..32,line=64",
        "size=256..2K,ways=1..2,line=64..128,policy=fifo+bit-plru",
    };
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 22);
    for (unsigned i = 0; i < 4 * sizeof texts / sizeof *texts; i++)
        for (unsigned parts = 1; parts <= 8; parts++) {
            const bool recorded = parts & 1, whole = recorded && trod_sweep_parts(texts[i / 4]);

            rows_and_refs(texts[i / 4],
                          whole ? 1 : trod_sweep_shards(texts[i / 4], (parts + 1) / 2), i & 1,
                          recorded, (i / 2 + (parts + 1) / 2) % 3, &rng);
        }
}

static void test_sweep_refused(void **state)
{
    static const char *const bad[] = {"policy=opt",  "policy=lru+lru",      "policy=",
                                      "policy=lru+", "policy=fifo,size=3K", "policy=best"};
    struct trod_sweep *s = malloc(sizeof *s);

    (void)state;
    assert_non_null(s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(trod_sweep_init(s, bad[i], 0, 1, NULL), TROD_ERR_USAGE);
    free(s);
}

/* --- hierarchies in parts --- */

static const char *const machines[] = {
    "cache A code size=1K ways=2\ncache B data size=2K ways=4 policy=fifo\ncache C size=8K ways=4",
    "cores 4\ncoherence on\ncache A size=1K ways=2\ncache B cluster=2 size=4K ways=4 line=128\n"
    "cache C shared size=32K ways=8 line=128 inclusion=inclusive policy=tree-plru",
    "cores 2\ncoherence on\ncache A size=1K ways=2 policy=nru\n"
    "cache B shared size=4K ways=4 inclusion=exclusive policy=srrip",
    "flush caches\ncache A size=2K ways=2 write=through allocate=no\n"
    "cache B size=8K ways=4 sector=16 policy=lfu",
};

static void one_part_round(const char *text, const struct trod_sim_ref *r, unsigned by)
{
    struct trod_own_sim whole, s[8];
    unsigned shift;

    configure(text);
    for (unsigned shards = 1; shards <= 8; shards += shards == 3 ? 5 : 1) {
        unsigned bits = trod_own_sim_classes(&config, &shift);
        struct trod_own_sim *into = shards == 1 ? &whole : &s[0];

        assert_in_range(bits, 1, 6);
        if (shards > 1u << bits)
            continue;
        for (unsigned k = 0; k < shards; k++) {
            struct trod_own_sim *one = shards == 1 ? &whole : &s[k];

            assert_int_equal(trod_own_sim_init(one, &config), 0);
            one->by = (uint8_t)by;
            one->sharing = true;
            one->interval = 300;
            trod_own_sim_take(one, k, shards);
            assert_int_equal(trod_own_sim_feed(one, r, N, true), 0);
            trod_own_sim_end(one);
            if (k > 0) {
                assert_int_equal(trod_own_sim_merge(into, one), 0);
                trod_own_sim_fini(one);
            }
        }
        if (shards == 1)
            continue;
        for (unsigned i = 0; i < config.n; i++) {
            const struct trod_own_counts a = trod_own_sim_sum(&whole, i),
                                         b = trod_own_sim_sum(into, i);

            assert_memory_equal(&a, &b, sizeof a);
        }
        assert_int_equal(into->instructions, whole.instructions);
        assert_int_equal(into->refs, whole.refs);
        assert_int_equal(into->invalidations, whole.invalidations);
        assert_int_equal(into->interventions, whole.interventions);
        assert_int_equal(into->upgrades, whole.upgrades);
        assert_int_equal(into->n_rows, whole.n_rows);
        assert_int_equal(into->n_shared, whole.n_shared);
        assert_int_equal(into->n_snapshots, whole.n_snapshots);
        assert_memory_equal(into->snapshot, whole.snapshot,
                            whole.n_snapshots * sizeof *whole.snapshot);
        trod_own_sim_fini(into);
    }
    trod_own_sim_fini(&whole);
}

static void test_parts(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_rng rng;
    unsigned shift;

    (void)state;
    assert_non_null(r);
    trod_rng_seed(&rng, 71);
    for (unsigned round = 0; round < 4 * CACHE_REFS_SHAPES; round++) {
        draw_refs(r, N, round % CACHE_REFS_SHAPES, 4, &rng);
        one_part_round(machines[round / CACHE_REFS_SHAPES], r, round % 5);
    }
    configure("cache A size=3K ways=1");
    assert_int_equal(trod_own_sim_classes(&config, &shift), 0);
    configure("cache A size=4K ways=1 policy=random");
    assert_int_equal(trod_own_sim_classes(&config, &shift), 0);
    configure("cache A size=4K ways=1 prefetch=next");
    assert_int_equal(trod_own_sim_classes(&config, &shift), 0);
    free(r);
}

/* --- the chart --- */

static void test_chart(void **state)
{
    static const double x[] = {10, 11, 12}, falls[] = {1, 0.5, 0}, late[] = {-1, 0.25, 0.25};
    const struct trod_chart_curve curve[] = {{falls, "falls"}, {late, "late"}};
    struct trod_chart c = {.x = x, .n = 3, .unit = 1, .curve = curve, .curves = 2};
    struct trod_buf out = {0};

    (void)state;
    for (c.width = 40; c.width <= 200; c.width += 40) {
        unsigned rows = 0, longest = 0, width = 0;

        out.n = 0;
        assert_int_equal(trod_chart_draw(&c, &out), 0);
        for (size_t i = 0; i < out.n; i++) {
            if (out.p[i] == '\n') {
                longest = width > longest ? width : longest;
                width = 0;
                rows++;
            } else {
                width += (out.p[i] & 0xc0) != 0x80; /* not within a character */
            }
        }
        assert_int_equal(rows, 18);
        assert_in_range(longest, c.width - 8, c.width);
        assert_int_equal(trod_buf_add(&out, "", 1), 0);
        assert_non_null(strstr((const char *)out.p, " falls\n"));
        assert_non_null(strstr((const char *)out.p, " late\n"));
        assert_true(strstr((const char *)out.p, " late\n") <
                    strstr((const char *)out.p, " falls\n"));
        assert_memory_equal(out.p, " 1.0000 +\xe2\xa0", 11);
        assert_true(out.p[11] & 1); /* the first dot is at the top */
    }
    trod_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep),         cmocka_unit_test(test_sweep_rows),
        cmocka_unit_test(test_sweep_refused), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_chart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
