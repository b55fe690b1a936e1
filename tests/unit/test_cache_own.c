/*
 * test_cache_own - hierarchies by trod's own rules (docs/caches.md) against a slow simulator,
 * closed forms, and sweeps against single runs.
 *
 * The slow simulator keeps every level as an unordered list of lines with the time of their last
 * use.
 */
#include "core/rng.h"
#include "sim/own/sim.h"
#include "sim/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_refused.h"

enum { N = 6000, LINES_MAX = 512 };

/* --- references --- */

static void draw(struct trod_sim_ref *r, size_t n, unsigned shape, struct trod_rng *rng)
{
    const uint64_t bytes = 64 * (2 + trod_rng_below(rng, 300));

    for (size_t i = 0; i < n; i++) {
        uint64_t at = shape == 0   ? trod_rng_below(rng, bytes)
                      : shape == 1 ? i * 8 % bytes
                      : shape == 2 ? i * 192 % (8 * bytes)
                                   : trod_rng_below(rng, 1 + trod_rng_below(rng, bytes));

        r[i] = (struct trod_sim_ref){
            .addr = 4096 + at,
            .size = (uint32_t)(1 + trod_rng_below(rng, 16)),
            .pc = 16 * trod_rng_below(rng, 20),
            .op = (uint8_t)trod_rng_below(rng, 3),
        };
    }
}

/* --- the slow simulator: a code and a data cache before a second level --- */

struct slow_line {
    uint64_t line, used;
    bool dirty;
};

struct slow {
    uint64_t sets;
    uint32_t ways, bytes;
    struct slow_line line[LINES_MAX];
    size_t n;
    uint64_t refs, misses, writebacks, bytes_in, bytes_out;
};

struct slow_machine {
    struct slow l1[2], l2;
    unsigned inclusion; /* of the second level */
    uint64_t now;
};

static struct slow_line *slow_find(struct slow *s, uint64_t line)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].line == line)
            return &s->line[i];
    return NULL;
}

static void slow_remove(struct slow *s, struct slow_line *l)
{
    *l = s->line[--s->n];
}

/* Put LINE in; true and *OLD where another one of its set had to go. */
static bool slow_put(struct slow *s, uint64_t line, bool dirty, uint64_t now, struct slow_line *old)
{
    struct slow_line *oldest = NULL;
    uint32_t in_set = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].line % s->sets == line % s->sets) {
            in_set++;
            if (!oldest || s->line[i].used < oldest->used)
                oldest = &s->line[i];
        }
    if (in_set == s->ways) {
        *old = *oldest;
        slow_remove(s, oldest);
    }
    s->line[s->n++] = (struct slow_line){line, now, dirty};
    return in_set == s->ways;
}

/* LINE of 64 bytes leaves the second level. */
static void slow_l2_out(struct slow_machine *m, struct slow_line old)
{
    for (unsigned k = 0; m->inclusion == TROD_OWN_INCLUSIVE && k < 2; k++) {
        struct slow_line *l = slow_find(&m->l1[k], old.line);

        if (l) {
            old.dirty = old.dirty || l->dirty;
            slow_remove(&m->l1[k], l);
        }
    }
    if (old.dirty) {
        m->l2.writebacks++;
        m->l2.bytes_out += m->l2.bytes;
    }
}

static void slow_reference(struct slow_machine *m, unsigned op, uint64_t line)
{
    struct slow *a = &m->l1[op != TROD_OP_FETCH], *b = &m->l2;
    struct slow_line *l, old;
    bool dirty = op == TROD_OP_WRITE;

    m->now++;
    a->refs++;
    if ((l = slow_find(a, line))) {
        l->used = m->now;
        l->dirty = l->dirty || dirty;
        return;
    }
    a->misses++;
    a->bytes_in += a->bytes;
    b->refs++;
    if ((l = slow_find(b, line))) {
        if (m->inclusion == TROD_OWN_EXCLUSIVE) {
            dirty = dirty || l->dirty;
            slow_remove(b, l);
        } else {
            l->used = m->now;
        }
    } else {
        b->misses++;
        b->bytes_in += b->bytes;
        if (m->inclusion != TROD_OWN_EXCLUSIVE && slow_put(b, line, false, m->now, &old))
            slow_l2_out(m, old);
    }
    if (!slow_put(a, line, dirty, m->now, &old))
        return;
    a->writebacks += old.dirty;
    if (m->inclusion == TROD_OWN_EXCLUSIVE) {
        a->bytes_out += a->bytes;
        if ((l = slow_find(b, old.line))) {
            l->dirty = l->dirty || old.dirty;
        } else {
            struct slow_line out;

            if (slow_put(b, old.line, old.dirty, m->now, &out))
                slow_l2_out(m, out);
        }
    } else if (old.dirty) {
        a->bytes_out += a->bytes;
        if ((l = slow_find(b, old.line)))
            l->dirty = true;
        else
            b->bytes_out += a->bytes;
    }
}

static void same(const struct trod_own_sim *s, unsigned i, const struct slow *want)
{
    const struct trod_own_counts n = trod_own_sim_sum(s, i);

    assert_int_equal(n.refs[0] + n.refs[1] + n.refs[2], want->refs);
    assert_int_equal(n.misses[0] + n.misses[1] + n.misses[2], want->misses);
    assert_int_equal(n.writebacks, want->writebacks);
    assert_int_equal(n.bytes_in, want->bytes_in);
    assert_int_equal(n.bytes_out, want->bytes_out);
}

static void test_hierarchies(void **state)
{
    static const char *const names[] = {"none", "inclusive", "exclusive"};
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    trod_rng_seed(&rng, 77);
    for (unsigned round = 0; round < 120; round++) {
        const unsigned ways1 = (unsigned)(1 + trod_rng_below(&rng, 4)),
                       sets1 = (unsigned)(1 + trod_rng_below(&rng, 9)),
                       ways2 = (unsigned)(1 + trod_rng_below(&rng, 6)),
                       sets2 = (unsigned)(1 + trod_rng_below(&rng, 40));
        struct slow_machine *m = calloc(1, sizeof *m);
        struct trod_own_config c;
        struct trod_own_sim s;
        char text[400];

        assert_non_null(m);
        m->inclusion = round % 3;
        m->l1[0] = m->l1[1] = (struct slow){.sets = sets1, .ways = ways1, .bytes = 64};
        m->l2 = (struct slow){.sets = sets2, .ways = ways2, .bytes = 64};
        snprintf(text, sizeof text,
                 "cache A code size=%u ways=%u\ncache B data size=%u ways=%u\n"
                 "cache C size=%u ways=%u inclusion=%s\n",
                 64 * sets1 * ways1, ways1, 64 * sets1 * ways1, ways1, 64 * sets2 * ways2, ways2,
                 names[m->inclusion]);
        assert_int_equal(trod_own_config_read(&c, text, strlen(text), "test", NULL), 0);
        assert_int_equal(trod_own_sim_init(&s, &c), 0);
        draw(r, N, round / 3 % 4, &rng);
        assert_int_equal(trod_own_sim_feed(&s, r, N, false), 0);
        for (size_t i = 0; i < N; i++)
            for (uint64_t line = r[i].addr / 64; line <= (r[i].addr + r[i].size - 1) / 64; line++)
                slow_reference(m, r[i].op, line);
        same(&s, 0, &m->l1[0]);
        same(&s, 1, &m->l1[1]);
        same(&s, 2, &m->l2);
        trod_own_sim_fini(&s);
        free(m);
    }
    free(r);
}

/* --- one cache --- */

static struct trod_own_config config;

/* The counts of cache 0 of TEXT after references R. */
static struct trod_own_counts counts_of(const char *text, const struct trod_sim_ref *r, size_t n)
{
    struct trod_own_counts counts;
    struct trod_own_sim s;

    assert_int_equal(trod_own_config_read(&config, text, strlen(text), "test", NULL), 0);
    assert_int_equal(trod_own_sim_init(&s, &config), 0);
    assert_int_equal(trod_own_sim_feed(&s, r, n, false), 0);
    counts = trod_own_sim_sum(&s, 0);
    trod_own_sim_fini(&s);
    return counts;
}

static void scan(struct trod_sim_ref *r, size_t n, uint64_t step)
{
    for (size_t i = 0; i < n; i++)
        r[i] = (struct trod_sim_ref){
            .addr = (1 << 20) + i * step, .size = 4, .pc = 8, .op = TROD_OP_READ};
}

static void test_prefetch(void **state)
{
    struct trod_sim_ref r[1000];
    struct trod_own_counts n;

    (void)state;
    scan(r, 1000, 64);
    /* closed form: every second line misses */
    n = counts_of("cache A size=4K ways=4 prefetch=next", r, 1000);
    assert_int_equal(n.misses[TROD_OWN_READ], 500);
    assert_int_equal(n.prefetches, 500);
    assert_int_equal(n.useful, 500);
    /* two equal distances have to be seen; then every line was asked for */
    n = counts_of("cache A size=4K ways=4 prefetch=stride", r, 1000);
    assert_int_equal(n.misses[TROD_OWN_READ], 3);
    assert_int_equal(n.useful, 997);
    scan(r, 1000, 256);
    n = counts_of("cache A size=4K ways=4 prefetch=stride", r, 1000);
    assert_int_equal(n.misses[TROD_OWN_READ], 3);
    /* a stream begins anew in each page of 64 lines: three of them miss */
    scan(r, 640, 64);
    n = counts_of("cache A size=4K ways=4 prefetch=stream", r, 640);
    assert_int_equal(n.misses[TROD_OWN_READ], 30);
    assert_int_equal(n.useful, 610);
    n = counts_of("cache A size=4K ways=4 prefetch=none", r, 640);
    assert_int_equal(n.misses[TROD_OWN_READ], 640);
    assert_int_equal(n.prefetches, 0);
}

static void test_best_offset(void **state)
{
    struct trod_sim_ref *r = malloc(60000 * sizeof *r);
    struct trod_own_counts none, best;

    (void)state;
    assert_non_null(r);
    scan(r, 60000, 64 * 3);
    none = counts_of("cache A size=4K ways=4", r, 60000);
    best = counts_of("cache A size=4K ways=4 prefetch=best-offset", r, 60000);
    assert_int_equal(none.misses[TROD_OWN_READ], 60000);
    /* every miss, and every first reference to what was prefetched, tries one offset of 26; after
     * 31 rounds one that is a multiple of 3 is chosen: of each page of 64 lines the first one
     * misses */
    assert_true(best.misses[TROD_OWN_READ] <= 31 * 26 + 60000 * 3 / 64 + 1);
    assert_true(best.misses[TROD_OWN_READ] >= 31 * 26);
    assert_int_equal(best.useful, 60000 - best.misses[TROD_OWN_READ]);
    free(r);
}

static void test_victims(void **state)
{
    struct trod_sim_ref r[100];
    struct trod_own_counts n;

    (void)state;
    for (size_t i = 0; i < 100; i++) /* two lines of one set, in turns */
        r[i] = (struct trod_sim_ref){.addr = i % 2 * 4096, .size = 8, .op = TROD_OP_WRITE};
    n = counts_of("cache A size=4K ways=1", r, 100);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 100);
    assert_int_equal(n.writebacks, 99);
    n = counts_of("cache A size=4K ways=1 victims=1", r, 100);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 100);
    assert_int_equal(n.victim_hits, 98);
    assert_int_equal(n.bytes_in, 2 * 64);
    assert_int_equal(n.writebacks, 0);
}

static void test_writes(void **state)
{
    struct trod_sim_ref r[10];
    struct trod_own_counts n;

    (void)state;
    for (size_t i = 0; i < 10; i++)
        r[i] = (struct trod_sim_ref){.addr = 64, .size = 8, .op = TROD_OP_WRITE};
    n = counts_of("cache A size=4K ways=1 write=through", r, 10);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 1);
    assert_int_equal(n.bytes_out, 80);
    assert_int_equal(n.bytes_in, 64);
    n = counts_of("cache A size=4K ways=1 write=through allocate=no", r, 10);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 10);
    assert_int_equal(n.bytes_out, 80);
    assert_int_equal(n.bytes_in, 0);
}

/* Compulsory + capacity + conflict by their definitions, with a list of all lines by last use. */
static void test_classes(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    trod_rng_seed(&rng, 5);
    for (unsigned round = 0; round < 16; round++) {
        const unsigned ways = (unsigned)(1 + trod_rng_below(&rng, 3)), sets = 4;
        uint64_t order[4096], want[3] = {0}, set_line[4][4];
        unsigned in_set[4] = {0};
        struct trod_own_counts n;
        size_t known = 0;
        char text[200];

        draw(r, N, round % 4, &rng);
        for (size_t i = 0; i < N; i++) {
            const uint64_t line = r[i].addr / 64, set = line % sets;
            size_t depth = 0;
            unsigned w = 0;

            r[i].size = 1;
            r[i].op = TROD_OP_READ;
            while (depth < known && order[depth] != line)
                depth++;
            while (w < in_set[set] && set_line[set][w] != line)
                w++;
            if (w == in_set[set]) {
                want[depth == known        ? TROD_OWN_COMPULSORY
                     : depth < sets * ways ? TROD_OWN_CONFLICT
                                           : TROD_OWN_CAPACITY]++;
                if (in_set[set] < ways)
                    in_set[set]++;
                else
                    w--;
            }
            memmove(set_line[set] + 1, set_line[set], w * sizeof(uint64_t));
            set_line[set][0] = line;
            if (depth == known)
                known++;
            memmove(order + 1, order, depth * sizeof *order);
            order[0] = line;
        }
        snprintf(text, sizeof text, "classify on\ncache A size=%u ways=%u", 64 * sets * ways, ways);
        n = counts_of(text, r, N);
        for (unsigned k = 0; k < 3; k++)
            assert_int_equal(n.classes[k], want[k]);
    }
    free(r);
}

/* --- several cores --- */

static const char two_cores[] = "cores 2\ncoherence on\nclassify on\n"
                                "cache L1 size=4K ways=4\ncache L2 shared size=64K ways=8\n";

/* Two threads write the same line in turns, at OFFSET bytes from each other. */
static void ping_pong(uint64_t offset, struct trod_own_sim *s)
{
    struct trod_sim_ref r[100];

    for (size_t i = 0; i < 100; i++)
        r[i] = (struct trod_sim_ref){.addr = 640 + i % 2 * offset,
                                     .size = 8,
                                     .op = TROD_OP_WRITE,
                                     .stream = 1 + (uint32_t)(i % 2)};
    assert_int_equal(trod_own_config_read(&config, two_cores, strlen(two_cores), "test", NULL), 0);
    assert_int_equal(trod_own_sim_init(s, &config), 0);
    s->sharing = true;
    assert_int_equal(trod_own_sim_feed(s, r, 100, false), 0);
}

static void test_coherence(void **state)
{
    struct trod_own_counts n;
    struct trod_own_sim s;

    (void)state;
    ping_pong(8, &s);
    n = trod_own_sim_sum(&s, 0);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 100);
    assert_int_equal(n.classes[TROD_OWN_COMPULSORY], 2);
    assert_int_equal(n.classes[TROD_OWN_COHERENCE], 98);
    assert_int_equal(s.invalidations, 99);
    assert_int_equal(n.coherence_invalidations, 99);
    assert_int_equal(s.n_shared, 1);
    assert_int_equal(s.shared[0].threads, 2);
    assert_int_equal(s.shared[0].written[0], 0xff);
    assert_int_equal(s.shared[0].written[1], 0xff00);
    assert_int_equal(s.shared[0].invalidations, 99);
    trod_own_sim_fini(&s);
    ping_pong(64, &s); /* a line each: nobody is disturbed */
    n = trod_own_sim_sum(&s, 0);
    assert_int_equal(n.misses[TROD_OWN_WRITE], 2);
    assert_int_equal(s.invalidations, 0);
    trod_own_sim_fini(&s);
}

/* --- sweeps equal single runs --- */

static void test_sweep(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_sweep *s = malloc(sizeof *s);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    assert_non_null(s);
    trod_rng_seed(&rng, 91);
    for (unsigned shape = 0; shape < 4; shape++) {
        draw(r, N, shape, &rng);
        assert_int_equal(trod_sweep_init(s, "size=512..16K,ways=1..8,line=16..64", 0, 1, NULL), 0);
        for (size_t i = 0; i < N; i += 999)
            trod_sweep_feed(s, r + i, N - i < 999 ? N - i : 999);
        trod_sweep_end(s);
        for (unsigned line = 16; line <= 64; line *= 2)
            for (unsigned size = 512; size <= 16384; size *= 2)
                for (unsigned ways = 1; ways <= 8 && ways * line <= size; ways *= 2) {
                    struct trod_own_counts n;
                    char text[200];

                    snprintf(text, sizeof text,
                             "line %u\ncache A code size=%u ways=%u\ncache B data size=64K ways=1",
                             line, size, ways);
                    n = counts_of(text, r, N);
                    assert_int_equal(n.misses[TROD_OWN_FETCH],
                                     trod_sweep_misses(s, 0, size, ways, line, 0));
                    snprintf(text, sizeof text,
                             "line %u\ncache A data size=%u ways=%u\ncache B code size=64K ways=1",
                             line, size, ways);
                    n = counts_of(text, r, N);
                    assert_int_equal(n.misses[TROD_OWN_READ] + n.misses[TROD_OWN_WRITE],
                                     trod_sweep_misses(s, 1, size, ways, line, 0));
                }
        trod_sweep_fini(s);
    }
    free(r);
    free(s);
}

/* --- what is refused --- */

static void test_refused(void **state)
{
    static const struct refused bad[] = {
        {"cache A size=4K ways=3\n", 1},
        {"# x\ncache A size=4K\ncache A size=8K\n", 3},
        {"cache A sise=4K\n", 1},
        {"line 48\ncache A size=4K\n", 1},
        {"cache A size=4K policy=best\n", 1},
        {"cache A size=12K ways=3 policy=tree-plru\n", 1},
        {"cache A size=4K next=B\n", 1},
        {"cores 0\n", 1},
        {"cache A shared size=4K\ncache B size=8K\n", 1},
        {"cache A size=4K line=64\ncache B size=8K line=32\n", 1},
        {"colour blue\n", 1},
        {"cores 2\n", 1},
    };

    (void)state;
    assert_refused(bad, sizeof bad / sizeof *bad);
    for (size_t i = 0;; i++) {
        const char *title, *name = trod_own_preset_at(i, &title);

        if (!name)
            break;
        assert_int_equal(trod_own_config_read(&config, trod_own_preset(name),
                                              strlen(trod_own_preset(name)), name, NULL),
                         0);
    }
    assert_null(trod_own_preset("no such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hierarchies), cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_best_offset), cmocka_unit_test(test_victims),
        cmocka_unit_test(test_writes),      cmocka_unit_test(test_classes),
        cmocka_unit_test(test_coherence),   cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
