/*
 * test_cache_first - first-level caches that are simulated fast (own/first.h) against the
 * simulation of any hierarchy, on the same rows: all counts of all caches.
 */
#include "cache_rows.h"
#include "core/wide.h"
#include "sim/own/first.h"
#include "sim/refs.h"
#include "trod/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCHES = 12, PARTS = 4, ROUNDS = 3 * BATCHES };

static const char *const fitting[] = {
    "cache A code size=32K ways=8\ncache B data size=32K ways=8\ncache C size=256K ways=16\n",
    "cache A code size=512 ways=8\ncache B data size=1K ways=4\ncache C size=8K ways=4\n",
    "cache A code size=512 ways=1\ncache B data size=256 ways=1\ncache C size=4K ways=2\n",
    "cache A code size=192 ways=3\ncache B data size=64 ways=1\n",
    "cache A code size=3K ways=12\ncache B data size=320 ways=5\n"
    "cache C size=4K ways=2 prefetch=next policy=fifo\ncache D size=64K ways=8 write=through\n",
    "line 16\ncache A code size=1K ways=16\ncache B data size=1K ways=16\n"
    "cache C size=16K ways=4 line=64 prefetch=stream policy=srrip\n",
    "cache A code size=512 ways=4\ncache B data size=1K ways=8\ncache C size=512 ways=2\n"
    "cache D size=2K ways=16\ncache E size=4608 ways=9\n",
    "cache A code size=512 ways=4\ncache B data size=1K ways=8\ncache C size=2K ways=16\n"
    "cache D size=1K ways=16\ncache E size=2K ways=8 line=128\ncache F size=4K ways=4 line=128\n",
    "cache A code size=256\ncache B data size=256 ways=2\ncache C size=512 ways=2\n"
    "cache D size=1K ways=4\ncache E size=1K\ncache F size=1536 ways=3\ncache G size=4K\n",
    "cache A code size=2M ways=16\ncache B data size=2M ways=16\ncache C size=8M ways=16\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 next=C\n"
    "cache C data size=2K ways=4\ncache D size=8K ways=4\n",
    "line 256\ncache A code size=4K ways=2\ncache B data size=8K ways=8 next=C\n"
    "cache C data size=32K ways=4\ncache D size=64K ways=4 victims=3\n",
};

static const char *const others[] = {
    "cache A size=1K ways=4\n",
    "cache A code size=1K ways=4\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 policy=fifo\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 prefetch=next\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 write=through\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 allocate=no\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 victims=2\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4 sector=16\n",
    "cache A code size=1K ways=4\ncache B data size=2K ways=32\n",
    "cache A code size=1K ways=4\ncache B data size=768 ways=4\n",
    "cache A code size=1K ways=4 line=32\ncache B data size=1K ways=4\ncache C size=8K ways=4\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4\ncache C size=8K "
    "inclusion=inclusive\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4\ncache C size=8K "
    "inclusion=exclusive\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4\ncache C size=8K prefetch=stride\n",
    "cores 2\ncache A code size=1K ways=4\ncache B data size=1K ways=4\n",
    "classify on\ncache A code size=1K ways=4\ncache B data size=1K ways=4\n",
    "cache A code size=1K ways=4\ncache B data size=1K ways=4\ntlb T entries=4\n",
};

static void read_config(struct trod_own_config *c, const char *text)
{
    assert_int_equal(trod_own_config_read(c, text, strlen(text), "test", NULL), 0);
}

static void same(const struct trod_own_sim *a, const struct trod_own_sim *b)
{
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->refs, b->refs);
    for (unsigned i = 0; i < a->config->n; i++) {
        const struct trod_own_counts x = trod_own_sim_sum(a, i), y = trod_own_sim_sum(b, i);

        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* N parts of the same simulation, or one where sets cannot be shared out. */
struct fast {
    struct trod_own_config config;
    struct trod_own_sim sim[PARTS];
    struct trod_first *first[PARTS];
    unsigned n;
};

static void fast_begin(struct fast *f, const struct trod_own_config *c, enum trod_without without,
                       unsigned n)
{
    unsigned shift;

    f->config = *c;
    trod_first_claim(&f->config);
    f->n = trod_own_sim_classes(c, &shift) > 1 ? n : 1;
    for (unsigned i = 0; i < f->n; i++) {
        assert_int_equal(trod_own_sim_init(&f->sim[i], &f->config), 0);
        f->first[i] = trod_first_new(&f->sim[i]);
        assert_non_null(f->first[i]);
        f->first[i]->in.without = (uint8_t)without;
        trod_own_sim_take(&f->sim[i], i, f->n);
    }
}

/* Parts have their numbers together when the rows have ended. */
static void fast_end(struct fast *f, const struct trod_own_sim *any)
{
    for (unsigned i = 1; i < f->n; i++)
        assert_int_equal(trod_own_sim_merge(&f->sim[0], &f->sim[i]), 0);
    same(any, &f->sim[0]);
    for (unsigned i = 0; i < f->n; i++) {
        trod_first_free(f->first[i]);
        trod_own_sim_fini(&f->sim[i]);
    }
}

/*
 * A run with configuration TEXT, fed in pieces; in the middle all counts begin anew. WILD rows come
 * from the beginning or from then on: then there are lines that do not fit into narrow sets.
 */
static unsigned compare(const char *text, enum trod_without without, bool wild, unsigned parts,
                        struct trod_rng *rng)
{
    static struct trod_sim_ref ref[2 * TROD_BATCH_ROWS];
    struct trod_own_config c;
    struct trod_own_sim any;
    struct fast fast;
    struct trod_refs refs = {.flags = 0};
    struct trod_meta meta = {.n_streams = 0};
    struct trod_batch *b;
    const unsigned late = trod_rng_below(rng, 2) ? BATCHES / 2 : 0;
    uint64_t pc = 4096;

    read_config(&c, text);
    assert_int_equal(trod_own_sim_init(&any, &c), 0);
    fast_begin(&fast, &c, without, parts);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    for (unsigned k = 0; k < BATCHES; k++) {
        uint32_t from = 0;

        draw(b, rng, wild && k >= late, &pc);
        while (from < b->n) {
            const uint32_t to = from + 1 + (uint32_t)trod_rng_below(rng, b->n - from);
            const size_t n = trod_refs_get(&refs, b, from, to, ref);

            assert_int_equal(trod_own_sim_feed(&any, ref, n, false), 0);
            for (unsigned i = 0; i < fast.n; i++)
                assert_int_equal(trod_first_feed(fast.first[i], b, from, to), 0);
            from = to;
        }
        if (fast.n == 1)
            same(&any, &fast.sim[0]);
        for (unsigned i = 0; k == BATCHES / 2 && i < fast.n; i++)
            trod_own_sim_reset(&fast.sim[i]);
        if (k == BATCHES / 2)
            trod_own_sim_reset(&any);
    }
    fast_end(&fast, &any);
    trod_batch_free(b);
    trod_own_sim_fini(&any);
    return fast.n;
}

/* The rows of B to F: at once, or in pieces with few references. */
static void feed_pieces(struct trod_first *f, const struct trod_batch *b, struct trod_rng *rng)
{
    const uint32_t most = trod_rng_below(rng, 2) ? b->n : 100;

    for (uint32_t from = 0, to; from < b->n; from = to) {
        to = from + most < b->n ? from + most : b->n;
        assert_int_equal(trod_first_feed(f, b, from, to), 0);
    }
}

/* A part of the simulation of C, for N shards. */
struct part {
    struct trod_own_config config;
    struct trod_own_sim sim;
    struct trod_first *first;
};

static void part_begin(struct part *p, const struct trod_own_config *c, enum trod_without without,
                       unsigned n)
{
    unsigned shift = 0;

    trod_own_sim_classes(c, &shift);
    p->config = *c;
    trod_first_alone(&p->config);
    trod_first_claim(&p->config);
    assert_int_equal(trod_own_sim_init(&p->sim, &p->config), 0);
    p->first = trod_first_new(&p->sim);
    assert_non_null(p->first);
    p->first->in.without = (uint8_t)without;
    assert_true(trod_first_part(p->first, n, shift));
}

static void part_end(struct part *p)
{
    trod_first_free(p->first);
    trod_own_sim_fini(&p->sim);
}

/* What simulates all rows, one after the other: the shards of FAST. */
static void feed_shards(struct fast *fast, const struct trod_batch *b, struct trod_rng *rng)
{
    struct trod_rng at = *rng;

    for (unsigned i = 0; i < fast->n; i++) {
        *rng = at;
        feed_pieces(fast->first[i], b, rng);
    }
}

/*
 * A run with configuration TEXT, of which parts of the rows are simulated by themselves and merged
 * into SHARDS, a power of two. The more ROUNDS, the longer they are.
 */
static unsigned merged(const char *text, enum trod_without without, bool wild, unsigned shards,
                       unsigned rounds, struct trod_rng *rng)
{
    struct trod_own_config c;
    struct trod_own_sim all;
    struct trod_first *first;
    struct fast into;
    struct part part;
    struct trod_meta meta = {.n_streams = 0};
    struct trod_batch *b;
    bool in_part = false;
    uint64_t pc = 4096;

    read_config(&c, text);
    assert_int_equal(trod_own_sim_init(&all, &c), 0);
    first = trod_first_new(&all);
    assert_non_null(first);
    fast_begin(&into, &c, without, shards);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    for (unsigned k = 0; k < rounds; k++) {
        draw(b, rng, wild, &pc);
        assert_int_equal(trod_first_feed(first, b, 0, b->n), 0);
        if (!in_part && trod_rng_below(rng, 2)) {
            feed_shards(&into, b, rng);
            continue;
        }
        if (!in_part)
            part_begin(&part, &c, without, into.n);
        in_part = true;
        feed_pieces(part.first, b, rng);
        if (trod_rng_below(rng, 4 * rounds / ROUNDS) && k + 1 < rounds)
            continue;
        for (unsigned i = 0; i < into.n; i++)
            assert_int_equal(trod_first_merge(into.first[i], part.first), 0);
        part_end(&part);
        in_part = false;
        if (into.n == 1)
            same(&all, &into.sim[0]);
    }
    fast_end(&into, &all);
    trod_first_free(first);
    trod_batch_free(b);
    trod_own_sim_fini(&all);
    return into.n;
}

static void test_merged(void **state)
{
    struct trod_rng rng;
    unsigned shared = 0;

    (void)state;
    trod_rng_seed(&rng, 21);
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        for (unsigned way = 0; way < 12; way++)
            shared +=
                merged(fitting[i], way % 3, way & 2, 1u << (way / 3 + i) % 3, ROUNDS, &rng) > 1;
    assert_true(shared > 0);
}

/* More misses than one block of a part has room for. */
static void test_long_parts(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 23);
    for (unsigned way = 0; way < 6; way++)
        assert_int_equal(merged(fitting[2], way % 3, false, 1u << way % 3, 40 * ROUNDS, &rng),
                         1u << way % 3);
}

/* A row of so many lines that the part keeps what comes behind it instead of simulating it. */
static void test_many_lines(void **state)
{
    struct trod_own_config c;
    struct trod_own_sim all, sim;
    struct trod_first *first, *into;
    struct part part;
    struct trod_meta meta = {.n_streams = 0};
    struct trod_batch *b;
    struct trod_rng rng;
    uint64_t pc = 4096;

    (void)state;
    trod_rng_seed(&rng, 22);
    read_config(&c, fitting[0]);
    assert_int_equal(trod_own_sim_init(&all, &c), 0);
    assert_int_equal(trod_own_sim_init(&sim, &c), 0);
    first = trod_first_new(&all);
    into = trod_first_new(&sim);
    part_begin(&part, &c, TROD_WITHOUT_NONE, 1);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->meta = &meta;
    for (unsigned k = 0; k < BATCHES; k++) {
        draw(b, &rng, false, &pc);
        if (k == BATCHES / 2) {
            b->kind[b->n / 2] = TROD_WRITE;
            b->size[b->n / 2] = 1 << 20;
        }
        assert_int_equal(part.first->does == TROD_FIRST_RECORDS, k > BATCHES / 2);
        assert_int_equal(trod_first_feed(first, b, 0, b->n), 0);
        assert_int_equal(trod_first_feed(part.first, b, 0, b->n), 0);
    }
    assert_int_equal(trod_first_merge(into, part.first), 0);
    same(&all, &sim);
    part_end(&part);
    trod_first_free(first);
    trod_first_free(into);
    trod_batch_free(b);
    trod_own_sim_fini(&all);
    trod_own_sim_fini(&sim);
}

static void test_counts(void **state)
{
    struct trod_rng rng;
    unsigned parted = 0;

    (void)state;
    trod_rng_seed(&rng, 20);
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        for (unsigned way = 0; way < 4; way++)
            for (unsigned round = 0; round < 5; round++)
                parted +=
                    compare(fitting[i], (way + round) % 3, way & 2, 1 + round % PARTS, &rng) > 1;
    assert_true(parted > 0);
}

/* N instructions at A and B in turn are fed to FAST and ANY. */
static void turns(struct fast *fast, struct trod_own_sim *any, uint32_t n, uint64_t a, uint64_t b)
{
    static struct trod_sim_ref ref[2 * TROD_BATCH_ROWS];
    struct trod_refs refs = {.flags = 0};
    struct trod_meta meta = {.n_streams = 0};
    struct trod_batch *rows;

    assert_int_equal(trod_batch_new(&rows, TROD_BATCH_ROWS), 0);
    rows->meta = &meta;
    rows->n = n;
    rows->have = TROD_TOUCHED_COLUMNS & ~TROD_COL_FLAGS;
    for (uint32_t i = 0; i < n; i++) {
        rows->kind[i] = TROD_INSTR;
        rows->has[i] = rows->have;
        rows->flags[i] = 0;
        rows->size[i] = 4;
        rows->addr[i] = i % 2 ? b : a;
    }
    rows->have |= TROD_COL_FLAGS;
    assert_int_equal(trod_own_sim_feed(any, ref, trod_refs_get(&refs, rows, 0, n, ref), false), 0);
    assert_int_equal(trod_first_feed(fast->first[0], rows, 0, n), 0);
    trod_batch_free(rows);
}

/*
 * The first line of all is the last one of the address space; a loop's line leaves its set in a
 * feed that is shorter than a word; and an instruction reaches into a line whose number is that of
 * the loop's other one with all bits turned.
 */
static void calm(enum trod_without without)
{
    const uint64_t top = UINT64_MAX - 63, a = 4096, b = 4096 + 64, c = a + 512;
    const uint64_t d = UINT64_C(1) << 32, e = d + UINT32_MAX - 63;
    struct trod_own_config config;
    struct trod_own_sim any;
    struct fast fast;

    read_config(&config, "cache A code size=512 ways=1\ncache B data size=256 ways=1\n");
    assert_int_equal(trod_own_sim_init(&any, &config), 0);
    fast_begin(&fast, &config, without, 1);
    turns(&fast, &any, 128, top, top);
    turns(&fast, &any, 2048, a, b);
    turns(&fast, &any, 2, c, b);
    turns(&fast, &any, 128, a, b);
    turns(&fast, &any, 2048, e, d);
    turns(&fast, &any, 64, d, e - 2);
    fast_end(&fast, &any);
    trod_own_sim_fini(&any);
}

static void test_calm(void **state)
{
    (void)state;
    calm(TROD_WITHOUT_NONE);
    calm(TROD_WITHOUT_WIDEST);
    calm(TROD_WITHOUT_WIDE);
}

static void test_fits(void **state)
{
    struct trod_own_config c;

    (void)state;
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++) {
        read_config(&c, fitting[i]);
        assert_true(trod_first_fits(&c));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        read_config(&c, others[i]);
        assert_false(trod_first_fits(&c));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_merged),
        cmocka_unit_test(test_long_parts), cmocka_unit_test(test_many_lines),
        cmocka_unit_test(test_calm),       cmocka_unit_test(test_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
