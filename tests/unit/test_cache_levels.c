/*
 * test_cache_levels - TLBs, page walks, physical addresses and the optimal policy in hierarchies by
 * trod's own rules (docs/caches.md), against slow simulators.
 *
 * The slow TLB is a list of pages with the times of their last use and of their coming. Walks are
 * checked by the references that they stand for: written out by the test and given to a cache
 * without a TLB.
 */
#include "core/rng.h"
#include "sim/opt.h"
#include "sim/own/sim.h"
#include "trod/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_refused.h"

enum { N = 4000, ENTRIES_MAX = 128, SHAPES = 4 };

static struct trod_own_config config;

static void configure(const char *text)
{
    assert_int_equal(trod_own_config_read(&config, text, strlen(text), "test", NULL), 0);
}

/* References over BYTES from BASE on: random, looping, strided, and of unequal frequency. */
static void draw(struct trod_sim_ref *r, size_t n, unsigned shape, uint64_t base, uint64_t bytes,
                 struct trod_rng *rng)
{
    const uint64_t step = UINT64_C(8) << trod_rng_below(rng, 11);

    for (size_t i = 0; i < n; i++) {
        const uint64_t at = shape == 0   ? trod_rng_below(rng, bytes)
                            : shape == 1 ? i * step % (bytes / 3)
                            : shape == 2 ? i * 5 * step % bytes
                                         : trod_rng_below(rng, 1 + trod_rng_below(rng, bytes));

        r[i] = (struct trod_sim_ref){
            .addr = base + at,
            .size = (uint32_t)(1 + trod_rng_below(rng, 16)),
            .pc = 16 * trod_rng_below(rng, 20),
            .value = TROD_NOWHERE,
            .op = (uint8_t)trod_rng_below(rng, 3),
        };
    }
}

/* --- TLBs --- */

struct slow_page {
    uint64_t page;
    unsigned bits;
    uint64_t used, came;
};

struct slow_tlb {
    uint64_t pages; /* bits of sizes */
    unsigned sets, ways, n;
    bool fifo;
    struct slow_page page[ENTRIES_MAX];
    uint64_t refs, misses, evictions;
};

/* true: T had it. */
static bool slow_tlb_ref(struct slow_tlb *t, uint64_t page, unsigned bits, uint64_t now)
{
    struct slow_page *oldest = NULL;
    unsigned in_set = 0;

    t->refs++;
    for (unsigned i = 0; i < t->n; i++) {
        struct slow_page *p = &t->page[i];

        if (p->page == page && p->bits == bits) {
            p->used = now;
            return true;
        }
        if (p->page % t->sets != page % t->sets)
            continue;
        in_set++;
        if (!oldest || (t->fifo ? p->came < oldest->came : p->used < oldest->used))
            oldest = p;
    }
    t->misses++;
    if (in_set == t->ways) {
        *oldest = t->page[--t->n];
        t->evictions++;
    }
    t->page[t->n++] = (struct slow_page){page, bits, now, now};
    return false;
}

static unsigned bits_of(uint64_t addr)
{
    return addr >= 0x400000 && addr < 0x1000000 ? 21 : addr >= 0x80000000 ? 30 : 12;
}

static void draw_tlb(struct slow_tlb *t, struct trod_rng *rng, uint64_t pages)
{
    memset(t, 0, sizeof *t);
    t->pages = pages;
    t->ways = (unsigned)(1 + trod_rng_below(rng, 6));
    t->sets = (unsigned)(1 + trod_rng_below(rng, 9));
    t->fifo = trod_rng_below(rng, 2);
}

/* The first level of KIND, then the second; what neither has is walked to: its reads to AT. */
static unsigned slow_look_up(struct slow_tlb t[3], bool data, uint64_t addr, uint64_t now,
                             uint64_t at[5])
{
    const unsigned bits = bits_of(addr);
    const uint64_t page = addr >> bits;
    bool known = false;
    unsigned n = 0;

    if (t[data].pages >> bits & 1)
        known = slow_tlb_ref(&t[data], page, bits, now);
    if (!known && t[2].pages >> bits & 1)
        known = slow_tlb_ref(&t[2], page, bits, now);
    if (known)
        return 0;
    /* four levels of 512 entries of 8 bytes; a page of 4 KiB needs all, 2 MiB three, 1 GiB two */
    for (unsigned level = 4; level > (bits == 12 ? 0u : bits == 21 ? 1u : 2u); level--)
        at[n++] = 0xff00000000000000 + ((uint64_t)(level - 1) << 52) +
                  (addr % (UINT64_C(1) << 48) >> (3 + 9 * level)) * 8;
    return n;
}

static void same_tlb(const struct trod_own_sim *s, unsigned i, const struct slow_tlb *want)
{
    const struct trod_own_tlb_counts n = trod_own_sim_sum_tlb(s, i);

    assert_int_equal(n.refs[0] + n.refs[1] + n.refs[2], want->refs);
    assert_int_equal(n.misses[0] + n.misses[1] + n.misses[2], want->misses);
    assert_int_equal(n.evictions, want->evictions);
}

static void one_tlb_round(unsigned round, struct trod_rng *rng, struct trod_sim_ref *r,
                          struct trod_sim_ref *all)
{
    static const struct {
        uint64_t base, bytes;
    } where[] = {{0, 1 << 17}, {0x3c0000, 0x900000}, {0x7fff0000, 0x20000}, {0, 0xc0000000}};
    static struct slow_tlb t[3];
    struct trod_own_counts with, without;
    struct trod_own_sim s;
    uint64_t walks = 0, reads = 0, now = 0;
    char text[700];
    size_t n = 0;

    draw(r, N, round % SHAPES, where[round / SHAPES % 4].base, where[round / SHAPES % 4].bytes,
         rng);
    draw_tlb(&t[0], rng, UINT64_MAX);
    draw_tlb(&t[1], rng, round % 3 ? UINT64_MAX : UINT64_C(1) << 12 | UINT64_C(1) << 30);
    draw_tlb(&t[2], rng, round % 5 ? UINT64_MAX : UINT64_C(1) << 12 | UINT64_C(1) << 21);
    snprintf(text, sizeof text,
             "pages 4K\npages 2M 0x400000..0x1000000\npages 1G 0x80000000..0x100000000\n"
             "tlb I code entries=%u ways=%u policy=%s\ntlb D data entries=%u ways=%u policy=%s%s\n"
             "tlb S entries=%u ways=%u policy=%s%s\nwalk C\ncache C size=8K ways=2\n",
             t[0].sets * t[0].ways, t[0].ways, t[0].fifo ? "fifo" : "lru", t[1].sets * t[1].ways,
             t[1].ways, t[1].fifo ? "fifo" : "lru", round % 3 ? "" : " pages=4K,1G",
             t[2].sets * t[2].ways, t[2].ways, t[2].fifo ? "fifo" : "lru",
             round % 5 ? "" : " pages=4K,2M");
    for (size_t i = 0; i < N; i++) {
        uint64_t addr = r[i].addr, at[5];
        uint32_t left = r[i].size;

        while (left) { /* a reference that crosses pages looks for both */
            const uint64_t room =
                (UINT64_C(1) << bits_of(addr)) - addr % (UINT64_C(1) << bits_of(addr));
            const unsigned k = slow_look_up(t, r[i].op != TROD_OP_FETCH, addr, now++, at);

            walks += k > 0;
            reads += k;
            for (unsigned j = 0; j < k; j++)
                all[n++] = (struct trod_sim_ref){.addr = at[j], .size = 8, .op = TROD_OP_READ};
            all[n] = r[i];
            all[n].addr = addr;
            all[n].size = left < room ? left : (uint32_t)room;
            addr += all[n].size;
            left -= all[n++].size;
        }
    }
    configure(text);
    assert_int_equal(trod_own_sim_init(&s, &config), 0);
    assert_int_equal(trod_own_sim_feed(&s, r, N, false), 0);
    for (unsigned i = 0; i < 3; i++)
        same_tlb(&s, i, &t[i]);
    assert_int_equal(s.walks.walks, walks);
    assert_int_equal(s.walks.reads, reads);
    with = trod_own_sim_sum(&s, 0);
    trod_own_sim_fini(&s);
    configure("cache C size=8K ways=2");
    assert_int_equal(trod_own_sim_init(&s, &config), 0);
    assert_int_equal(trod_own_sim_feed(&s, all, n, false), 0);
    without = trod_own_sim_sum(&s, 0);
    trod_own_sim_fini(&s);
    assert_memory_equal(&with, &without, sizeof with);
}

static void test_tlbs(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r), *all = malloc(12 * N * sizeof *all);
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    assert_non_null(all);
    trod_rng_seed(&rng, 61);
    for (unsigned round = 0; round < 120; round++)
        one_tlb_round(round, &rng, r, all);
    free(r);
    free(all);
}

/* Each core has its first level, the second is shared. */
static void test_tlb_cores(void **state)
{
    struct trod_sim_ref r[40];
    struct trod_own_tlb_counts n;
    struct trod_own_sim s;

    (void)state;
    for (size_t i = 0; i < 40; i++) /* two threads, the same ten pages each, one after the other */
        r[i] = (struct trod_sim_ref){
            .addr = i / 4 << 12, .size = 8, .op = TROD_OP_READ, .stream = 1 + (uint32_t)(i % 2)};
    configure("cores 2\ntlb A entries=16 ways=full\ntlb B shared entries=64 ways=4\n"
              "cache C shared size=4K ways=1");
    assert_int_equal(trod_own_sim_init(&s, &config), 0);
    assert_int_equal(trod_own_sim_feed(&s, r, 40, false), 0);
    n = trod_own_sim_sum_tlb(&s, 0);
    assert_int_equal(n.refs[TROD_OWN_READ], 40);
    assert_int_equal(n.misses[TROD_OWN_READ], 20);
    n = trod_own_sim_sum_tlb(&s, 1);
    assert_int_equal(n.refs[TROD_OWN_READ], 20);
    assert_int_equal(n.misses[TROD_OWN_READ], 10);
    assert_int_equal(s.walks.walks, 10);
    trod_own_sim_fini(&s);
}

/* --- physical addresses --- */

/* Caches see what the test translates; half of the places come with the rows, half before. */
static void test_physical(void **state)
{
    enum { PAGES = 64 };
    struct trod_sim_ref *r = malloc(N * sizeof *r), *t = malloc((2 * N + PAGES) * sizeof *t);
    struct trod_own_counts by_place, want;
    struct trod_own_sim s;
    struct trod_rng rng;
    uint64_t frame[PAGES];

    (void)state;
    assert_non_null(r);
    assert_non_null(t);
    trod_rng_seed(&rng, 9);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        size_t n = 0;

        for (unsigned i = 0; i < PAGES; i++)
            frame[i] = 1000 + 17 * i * i % 4099;
        draw(r, N, shape, 0, (PAGES - 1) << 12, &rng);
        configure("addresses physical\ncache C size=16K ways=2");
        assert_int_equal(trod_own_sim_init(&s, &config), 0);
        for (unsigned i = 0; i < PAGES; i++)
            t[i] = (struct trod_sim_ref){.addr = (uint64_t)i << 12,
                                         .value = shape % 2 ? frame[i] << 12 : 77 << 12,
                                         .op = TROD_OP_MAPPING};
        for (size_t i = 0; i < N && shape % 2 == 0; i++) {
            r[i].size = 1;
            r[i].value = frame[r[i].addr >> 12] << 12 | (r[i].addr & 4095);
        }
        assert_int_equal(trod_own_sim_feed(&s, t, PAGES, false), 0);
        assert_int_equal(trod_own_sim_feed(&s, r, N, false), 0);
        by_place = trod_own_sim_sum(&s, 0);
        assert_int_equal(s.pages.unknown, 0);
        trod_own_sim_fini(&s);
        for (size_t i = 0; i < N; i++)
            for (uint32_t done = 0; done < r[i].size;) {
                const uint64_t a = r[i].addr + done;
                const uint32_t room = (uint32_t)(4096 - a % 4096), left = r[i].size - done;

                t[n] = r[i];
                t[n].addr = frame[a >> 12] << 12 | a % 4096;
                t[n].size = left < room ? left : room;
                done += t[n++].size;
            }
        configure("cache C size=16K ways=2");
        assert_int_equal(trod_own_sim_init(&s, &config), 0);
        assert_int_equal(trod_own_sim_feed(&s, t, n, false), 0);
        want = trod_own_sim_sum(&s, 0);
        trod_own_sim_fini(&s);
        assert_memory_equal(&by_place, &want, sizeof want);
    }
    free(r);
    free(t);
}

/* --- the optimal policy --- */

struct missed {
    uint64_t line[2 * N];
    size_t n;
};

static void note(void *user, const struct trod_own_cache *c, uint64_t addr)
{
    struct missed *m = user;

    m->line[m->n++] = addr >> c->line_bits;
}

/* Both passes of TEXT; misses of cache I, and in M the lines that cache 0 missed. */
static uint64_t two_passes(const char *text, const struct trod_sim_ref *r, unsigned i,
                           struct missed *m)
{
    struct trod_own_future f;
    struct trod_own_counts n;
    struct trod_own_sim s;

    configure(text);
    assert_int_equal(trod_own_future_init(&f, trod_own_sim_ahead(&config), NULL), 0);
    for (unsigned pass = 0; pass < 2; pass++) {
        assert_int_equal(trod_own_sim_init_pass(&s, &config, &f), 0);
        if (pass && m) {
            m->n = 0;
            s.cache[0].missed = note;
            s.cache[0].user = m;
        }
        for (size_t at = 0; at < N; at += 1000)
            assert_int_equal(trod_own_sim_feed(&s, r + at, 1000, false), 0);
        n = trod_own_sim_sum(&s, i);
        trod_own_sim_fini(&s);
        if (!pass)
            assert_int_equal(trod_own_future_turn(&f, NULL), 0);
    }
    trod_own_future_fini(&f);
    return n.misses[0] + n.misses[1] + n.misses[2];
}

static void one_opt_round(const struct trod_sim_ref *r, unsigned sets, unsigned ways)
{
    static uint64_t line[2 * N];
    static struct missed m;
    uint64_t least, second, want;
    char text[300];
    size_t n = 0;

    for (size_t i = 0; i < N; i++)
        for (uint64_t l = r[i].addr / 64; l <= (r[i].addr + r[i].size - 1) / 64; l++)
            line[n++] = l;
    assert_int_equal(trod_opt_run(line, n, sets, ways, &want, NULL), 0);
    snprintf(text, sizeof text, "cache A size=%u ways=%u policy=opt", 64 * sets * ways, ways);
    least = two_passes(text, r, 0, NULL);
    assert_int_equal(least, want);
    for (unsigned k = 0; k < TROD_REPL_OPT; k++) {
        struct trod_own_sim s;
        struct trod_own_counts c;

        snprintf(text, sizeof text, "cache A size=%u ways=%u policy=%s", 64 * sets * ways, ways,
                 trod_repl_name(k));
        configure(text);
        assert_int_equal(trod_own_sim_init(&s, &config), 0);
        assert_int_equal(trod_own_sim_feed(&s, r, N, false), 0);
        c = trod_own_sim_sum(&s, 0);
        assert_true(c.misses[0] + c.misses[1] + c.misses[2] >= least);
        trod_own_sim_fini(&s);
        /* behind a first level of that policy: opt over what it misses */
        snprintf(text, sizeof text,
                 "cache A size=%u ways=%u policy=%s\ncache B size=%u ways=%u policy=opt",
                 64 * sets * ways, ways, trod_repl_name(k), 128 * sets * ways, 2 * ways);
        second = two_passes(text, r, 1, &m);
        assert_int_equal(trod_opt_run(m.line, m.n, sets, 2 * ways, &want, NULL), 0);
        assert_int_equal(second, want);
    }
}

static void test_opt(void **state)
{
    struct trod_sim_ref *r = malloc(N * sizeof *r);
    struct trod_own_sim s;
    struct trod_rng rng;

    (void)state;
    assert_non_null(r);
    trod_rng_seed(&rng, 12);
    for (unsigned round = 0; round < 5 * SHAPES; round++) {
        draw(r, N, round % SHAPES, 4096, 64 * (8 + trod_rng_below(&rng, 300)), &rng);
        one_opt_round(r, (unsigned)(1 + trod_rng_below(&rng, 9)), 1u << trod_rng_below(&rng, 4));
    }
    configure("cache A size=4K ways=2 policy=opt");
    assert_int_equal(trod_own_sim_init(&s, &config), TROD_ERR_USAGE); /* one pass is not enough */
    trod_own_sim_fini(&s);
    free(r);
}

/* --- what is refused --- */

static void test_refused(void **state)
{
    static const struct refused bad[] = {
        {"tlb A\n", 1},
        {"tlb A entries=6 ways=4\n", 1},
        {"tlb A entries=6 ways=3 policy=tree-plru\n", 1},
        {"tlb A entries=6 policy=opt\n", 1},
        {"tlb A entries=6 pages=3K\n", 1},
        {"tlb A entries=6 size=3\n", 1},
        {"tlb A entries=6\ntlb A entries=8\n", 2},
        {"tlb A entries=6 next=B\n", 1},
        {"tlb A entries=6\ncache C size=4K\nwalk D\n", 3},
        {"cache C code size=4K\ntlb A entries=6\nwalk C\n", 3},
        {"cache C size=4K\nwalk C\n", 2},
        {"cache C size=4K\nwalk C levels=3\n", 2},
        {"cache C size=4K\npages 5K\n", 2},
        {"cache C size=4K\npages 2M 0x1000..0x400000\n", 2},
        {"cache C size=4K\npages 4K 0x2000-0x3000\n", 2},
        {"addresses imaginary\n", 1},
        {"cache C size=4K policy=opt prefetch=next\n", 1},
        {"cache C size=4K policy=opt\ncache D size=8K policy=opt\n", 2},
        {"cache C size=4K policy=opt\ncache D size=8K inclusion=inclusive\n", 2},
        {"cores 2\ncoherence on\ncache C size=4K policy=opt\n", 3},
    };

    (void)state;
    assert_refused(bad, sizeof bad / sizeof *bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tlbs),     cmocka_unit_test(test_tlb_cores),
        cmocka_unit_test(test_physical), cmocka_unit_test(test_opt),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
