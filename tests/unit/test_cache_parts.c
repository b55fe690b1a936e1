/*
 * test_cache_parts - sectors, clusters, flushes and phases by trod's own rules (docs/caches.md).
 *
 * Sectors and flushes are checked against a list of lines; what stands for several simulations
 * (clusters, phases) against these, one by one.
 */
#include "cache_refs.h"
#include "sim/own/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_refused.h"

enum { N = 4000, LINES_MAX = 256 };

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

/* --- sectors, and what a switch empties --- */

struct slow_line {
    uint64_t line, used;
    bool here[64], dirty[64];
};

struct slow {
    unsigned sets, ways, line, sector, n;
    struct slow_line lines[LINES_MAX];
    uint64_t now, refs, misses, parts, in, out, writebacks, flushed;
};

static void slow_out(struct slow *s, const struct slow_line *l)
{
    bool any = false;

    for (unsigned k = 0; k < s->line / s->sector; k++)
        if (l->dirty[k]) {
            s->out += s->sector;
            any = true;
        }
    s->writebacks += any;
}

static void slow_ref(struct slow *s, uint64_t addr, unsigned size, bool write)
{
    const uint64_t line = addr / s->line;
    struct slow_line *l = NULL, *oldest = NULL;
    unsigned in_set = 0;
    bool part = false;

    s->refs++;
    for (unsigned i = 0; i < s->n; i++) {
        if (s->lines[i].line == line)
            l = &s->lines[i];
        if (s->lines[i].line % s->sets != line % s->sets)
            continue;
        in_set++;
        if (!oldest || s->lines[i].used < oldest->used)
            oldest = &s->lines[i];
    }
    if (!l) {
        s->misses++;
        if (in_set == s->ways) {
            slow_out(s, oldest);
            *oldest = s->lines[--s->n];
        }
        l = &s->lines[s->n++];
        *l = (struct slow_line){.line = line};
    } else {
        part = true;
    }
    l->used = ++s->now;
    for (uint64_t a = addr; a < addr + size; a++) {
        const unsigned k = (unsigned)(a % s->line / s->sector);

        if (!l->here[k]) {
            s->in += s->sector;
            if (part) {
                s->misses++;
                s->parts++;
                part = false;
            }
        }
        l->here[k] = true;
        l->dirty[k] = l->dirty[k] || write;
    }
}

static void slow_flush(struct slow *s)
{
    for (unsigned i = 0; i < s->n; i++)
        slow_out(s, &s->lines[i]);
    s->flushed += s->n;
    s->n = 0;
}

static void test_sectors(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct slow *s = malloc(sizeof *s);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    assert_non_null(s);
    trod_rng_seed(&rng, 4);
    for (unsigned round = 0; round < 80; round++) {
        const bool flush = round % 2;
        struct trod_own_counts n;
        struct trod_own_sim own;
        char text[200];

        draw_refs(r, N, round % CACHE_REFS_SHAPES, 3, &rng);
        memset(s, 0, sizeof *s);
        s->ways = (unsigned)(1 + trod_rng_below(&rng, 5));
        s->sets = (unsigned)(1 + trod_rng_below(&rng, 9));
        s->line = 32u << trod_rng_below(&rng, 3);
        s->sector = s->line >> trod_rng_below(&rng, 4);
        snprintf(text, sizeof text, "%scache A line=%u sector=%u size=%u ways=%u",
                 flush ? "flush caches\n" : "", s->line, s->sector, s->line * s->sets * s->ways,
                 s->ways);
        run(&own, text, r, N);
        for (size_t i = 0; i < N; i++) {
            uint64_t addr = r[i].addr;
            unsigned left = r[i].size;

            if (flush && i && r[i].stream != r[i - 1].stream)
                slow_flush(s);
            while (left) {
                const unsigned room = s->line - (unsigned)(addr % s->line);
                const unsigned part = left < room ? left : room;

                slow_ref(s, addr, part, r[i].op == TROD_OP_WRITE);
                addr += part;
                left -= part;
            }
        }
        n = trod_own_sim_sum(&own, 0);
        assert_int_equal(n.refs[0] + n.refs[1] + n.refs[2], s->refs);
        assert_int_equal(n.misses[0] + n.misses[1] + n.misses[2], s->misses);
        assert_int_equal(n.sector_misses, s->parts);
        assert_int_equal(n.bytes_in, s->in);
        assert_int_equal(n.bytes_out, s->out);
        assert_int_equal(n.writebacks, s->writebacks);
        assert_int_equal(n.flushed, s->flushed);
        trod_own_sim_fini(&own);
    }
    free(r);
    free(s);
}

/* A write of one sector below a second level: the next one gets its bytes and no more. */
static void test_sector_levels(void **state)
{
    const struct trod_sim_ref r[] = {
        {.addr = 0, .size = 8, .op = TROD_OP_WRITE},   /* sector 0 of line 0 */
        {.addr = 96, .size = 8, .op = TROD_OP_READ},   /* sector 3 of line 0 */
        {.addr = 4096, .size = 8, .op = TROD_OP_READ}, /* pushes the line out */
        {.addr = 64, .size = 40, .op = TROD_OP_READ},  /* sectors 2 and 3 */
    };
    struct trod_own_counts a, b;
    struct trod_own_sim s;

    (void)state;
    run(&s, "line 128\ncache A size=4K ways=1 sector=32\ncache B size=64K ways=4 sector=64", r, 4);
    a = trod_own_sim_sum(&s, 0);
    b = trod_own_sim_sum(&s, 1);
    assert_int_equal(a.misses[TROD_OWN_READ] + a.misses[TROD_OWN_WRITE], 4);
    assert_int_equal(a.sector_misses, 1);
    assert_int_equal(a.bytes_in, 5 * 32);
    assert_int_equal(a.bytes_out, 32);
    assert_int_equal(b.refs[TROD_OWN_READ], 5);   /* a sector each */
    assert_int_equal(b.misses[TROD_OWN_READ], 3); /* 0 and 96 are in two sectors of B */
    assert_int_equal(b.bytes_out, 0);             /* what came back is there */
    trod_own_sim_fini(&s);
}

/* --- clusters --- */

static void add_sums(struct trod_own_counts *to, const struct trod_own_sim *s, unsigned i)
{
    const struct trod_own_counts n = trod_own_sim_sum(s, i);

    trod_own_sim_add(to, &n, sizeof n / sizeof(uint64_t));
}

/* Without coherence a cluster is a machine of its own. */
static void test_clusters(void **state)
{
    static const char part[] = "cores 2\ncache A size=1K ways=2\ncache B shared size=4K ways=4";
    struct trod_sim_ref *r = malloc(N * sizeof *r), *own = malloc(N * sizeof *own);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    assert_non_null(own);
    trod_rng_seed(&rng, 14);
    for (unsigned round = 0; round < 2 * CACHE_REFS_SHAPES; round++) {
        static const char *const texts[] = {
            "cores 4\ncache A size=1K ways=2\ncache B cluster=2 size=4K ways=4",
            "cores 4\ncache A size=1K ways=2\ncache B0 shared cores=0-1 size=4K ways=4\n"
            "cache B1 shared cores=2,3 size=4K ways=4"};
        struct trod_own_counts want[2] = {{.evictions = 0}}, got[2] = {{.evictions = 0}};
        struct trod_own_sim s;

        draw_refs(r, N, round % CACHE_REFS_SHAPES, 4, &rng);
        for (unsigned cluster = 0; cluster < 2; cluster++) {
            size_t n = 0;

            for (size_t i = 0; i < N; i++)
                if (r[i].shard / 2 == cluster) {
                    own[n] = r[i];
                    own[n++].shard %= 2;
                }
            run(&s, part, own, n);
            add_sums(&want[0], &s, 0);
            add_sums(&want[1], &s, 1);
            trod_own_sim_fini(&s);
        }
        run(&s, texts[round / CACHE_REFS_SHAPES], r, N);
        add_sums(&got[0], &s, 0);
        add_sums(&got[1], &s, 1);
        if (config.n == 3)
            add_sums(&got[1], &s, 2);
        trod_own_sim_fini(&s);
        assert_memory_equal(got, want, sizeof want);
    }
    free(r);
    free(own);
}

/* Coherence between clusters: those of a cluster keep the line in what they share. */
static void test_cluster_coherence(void **state)
{
    struct trod_sim_ref r[3];
    struct trod_own_sim s;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) /* cores 0, 1 and 2 write the same line */
        r[i] = (struct trod_sim_ref){.addr = 64, .size = 8, .op = TROD_OP_WRITE, .shard = i};
    run(&s, "cores 4\ncoherence on\ncache A size=1K ways=2\ncache B cluster=2 size=4K ways=4", r,
        3);
    assert_int_equal(trod_own_sim_sum(&s, 0).coherence_invalidations, 2);
    assert_int_equal(trod_own_sim_sum(&s, 1).coherence_invalidations, 1);
    assert_int_equal(trod_own_sim_sum(&s, 1).misses[TROD_OWN_READ], 2);
    assert_int_equal(s.invalidations, 2);
    trod_own_sim_fini(&s);
}

/* --- phases --- */

/* Counts are the sum of what the counted instructions add. */
static void test_windows(void **state)
{
    static const char text[] = "cores 2\ncoherence on\ncache A size=1K ways=2\n"
                               "tlb T entries=4 ways=2\ncache B shared size=4K ways=4\nwalk B";
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    trod_rng_seed(&rng, 2);
    for (unsigned round = 0; round < 4 * CACHE_REFS_SHAPES; round++) {
        struct trod_own_phases p = {.skip = trod_rng_below(&rng, 300)};
        struct trod_own_counts before, after, want = {.evictions = 0}, got;
        struct trod_own_sim s;
        uint64_t at = 0, instructions = 0;
        unsigned mode = 2;

        if (round % 4) {
            p.count = 1 + trod_rng_below(&rng, 50);
            p.warm = trod_rng_below(&rng, 50);
            p.every = p.count + p.warm + trod_rng_below(&rng, 50);
        }
        draw_refs(r, N, round % CACHE_REFS_SHAPES, 2, &rng);
        r[0].op = TROD_OP_FETCH;
        configure(text);
        assert_int_equal(trod_own_sim_init(&s, &config), 0);
        for (size_t i = 0; i < N; i++) {
            if (r[i].op == TROD_OP_FETCH) {
                const uint64_t in = p.every && at >= p.skip ? (at - p.skip) % p.every : 0;

                mode = at < p.skip                       ? 2
                       : !p.every                        ? 0
                       : in < p.every - p.warm - p.count ? 2
                       : in < p.every - p.count          ? 1
                                                         : 0;
                at++;
                instructions += mode == 0;
            }
            before = trod_own_sim_sum(&s, 1);
            if (mode < 2)
                assert_int_equal(trod_own_sim_feed(&s, &r[i], 1, true), 0);
            after = trod_own_sim_sum(&s, 1);
            for (size_t k = 0; mode == 0 && k < sizeof want / sizeof(uint64_t); k++)
                ((uint64_t *)&want)[k] += ((uint64_t *)&after)[k] - ((uint64_t *)&before)[k];
        }
        trod_own_sim_fini(&s);
        assert_int_equal(trod_own_sim_init(&s, &config), 0);
        assert_int_equal(trod_own_sim_phases(&s, &p), 0);
        for (size_t i = 0; i < N; i += 500)
            assert_int_equal(trod_own_sim_feed(&s, r + i, 500, true), 0);
        trod_own_sim_end(&s);
        got = trod_own_sim_sum(&s, 1);
        assert_memory_equal(&got, &want, sizeof want);
        assert_int_equal(s.instructions, instructions);
        trod_own_sim_fini(&s);
    }
    free(r);
}

static void test_until_full(void **state)
{
    struct trod_sim_ref r[100];
    struct trod_own_sim s;

    (void)state;
    for (size_t i = 0; i < 100; i++) /* 16 lines fill the cache, then 10 of them come again */
        r[i] = (struct trod_sim_ref){.addr = 64 * (i < 16 ? i : i % 10), .size = 4};
    configure("cache A size=1K ways=4");
    assert_int_equal(trod_own_sim_init(&s, &config), 0);
    assert_int_equal(trod_own_sim_phases(&s, &(struct trod_own_phases){.until_full = true}), 0);
    assert_int_equal(trod_own_sim_feed(&s, r, 100, false), 0);
    assert_true(s.full);
    assert_int_equal(s.full_after, 16);
    assert_int_equal(trod_own_sim_sum(&s, 0).refs[TROD_OWN_FETCH], 84);
    assert_int_equal(trod_own_sim_sum(&s, 0).misses[TROD_OWN_FETCH], 0);
    trod_own_sim_fini(&s);
}

/* --- what is refused --- */

static void test_refused(void **state)
{
    static const struct refused bad[] = {
        {"cache A size=4K sector=128\n", 1},
        {"cache A size=4K sector=24\n", 1},
        {"cache A size=4K sector=16 prefetch=next\n", 1},
        {"\ncache A size=4K sector=16\ncache B size=8K inclusion=exclusive\n", 2},
        {"cores 2\ncache A size=4K cluster=0\n", 2},
        {"cores 2\ncache A size=4K cluster=2 shared\n", 2},
        {"cores 2\ncache A size=4K cores=0-2\n", 2},
        {"cores 2\ncache A size=4K cores=x\n", 2},
        {"cores 2\ncache A size=4K cores=1-\n", 2},
        {"cores 4\ncache A size=4K cluster=2\ncache B size=8K\n", 2},
        {"flush everything\n", 1},
    };

    (void)state;
    assert_refused(bad, sizeof bad / sizeof *bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors),  cmocka_unit_test(test_sector_levels),
        cmocka_unit_test(test_clusters), cmocka_unit_test(test_cluster_coherence),
        cmocka_unit_test(test_windows),  cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
