/*
 * test_cache_misses - what a first level asks of memory, fed to a second level alone: its numbers
 * are those that it has behind the first one, for hierarchies and references made at random.
 */
#include "core/rng.h"
#include "sim/own/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_refs.h"

enum { N = 5000, TEXT = 1024, CORES = 2, ROOM = 40 * N };

/* What went to memory. */
struct heard {
    struct trod_sim_ref *r;
    size_t n;
};

static int hear(void *user, const struct trod_batch *b)
{
    static const uint8_t ops[TROD_KINDS] = {[TROD_INSTR] = TROD_OP_FETCH,
                                            [TROD_READ] = TROD_OP_READ,
                                            [TROD_WRITE] = TROD_OP_WRITE,
                                            [TROD_PREFETCH] = TROD_OP_PREFETCH};
    struct heard *h = user;

    for (uint32_t i = 0; i < b->n; i++) {
        assert_true(h->n < ROOM);
        assert_true(b->kind[i] == TROD_INSTR || ops[b->kind[i]] != TROD_OP_FETCH);
        h->r[h->n++] = (struct trod_sim_ref){
            .addr = b->addr[i], .size = b->size[i], .op = ops[b->kind[i]], .stream = b->stream[i]};
    }
    return 0;
}

static void simulate(struct trod_own_sim *s, struct trod_own_config *c, const char *text,
                     const struct trod_sim_ref *r, size_t n, struct heard *h)
{
    struct trod_diag diag;

    trod_diag_init(&diag, NULL, NULL);
    if (trod_own_config_read(c, text, strlen(text), "test", &diag) < 0)
        fail_msg("refused:\n%s", text);
    assert_int_equal(trod_own_sim_init(s, c), 0);
    if (h)
        assert_int_equal(trod_own_sim_memory(s, hear, h), 0);
    while (n) {
        const size_t now = n < 777 ? n : 777;

        assert_int_equal(trod_own_sim_feed(s, r, now, false), 0);
        r += now;
        n -= now;
    }
    trod_own_sim_end(s);
    trod_own_memory_end(&s->memory);
    assert_int_equal(s->memory.rc, 0);
}

/* A first level; its lines, or sectors, are *UNIT bytes. */
static void first_level(char *text, struct trod_rng *rng, unsigned *line, unsigned *unit)
{
    static const char *const policies[] = {"lru", "fifo", "random", "srrip", "tree-plru"};
    static const char *const words[] = {"", " write=through", " allocate=no",
                                        " write=through allocate=no", " victims=3"};
    const unsigned sets = 1u << trod_rng_below(rng, 4);
    const char *word = words[trod_rng_below(rng, 5)];
    char sector[32] = "";

    *line = 64u << trod_rng_below(rng, 2); /* writes that go through are shorter than a sector */
    *unit = *line;
    if (trod_rng_below(rng, 3) == 0 && !strstr(word, "victims")) {
        *unit = *line / 2;
        snprintf(sector, sizeof sector, " sector=%u", *unit);
    }
    snprintf(text, TEXT,
             "cores %d\nline %u\n%scache I code size=%u ways=2%s\n"
             "cache D data size=%u ways=4 policy=%s%s%s\n",
             CORES, *line, trod_rng_below(rng, 3) ? "" : "coherence on\n", 2 * *line * sets,
             trod_rng_below(rng, 2) ? " shared" : "", 4 * *line * sets,
             policies[trod_rng_below(rng, 5)], word, sector);
}

static void second_level(char *text, struct trod_rng *rng, unsigned line)
{
    static const char *const words[] = {"",
                                        " policy=fifo",
                                        " victims=2",
                                        " policy=drrip",
                                        " allocate=no",
                                        " write=through",
                                        " prefetch=next"};
    const unsigned bytes = line << trod_rng_below(rng, 2);

    snprintf(text, TEXT, "cache L2 shared size=%u ways=4 line=%u%s\n%s",
             bytes * 4 * (1u + (unsigned)trod_rng_below(rng, 9)), bytes,
             words[trod_rng_below(rng, 7)],
             trod_rng_below(rng, 2) ? "cache L3 shared size=16K ways=8 line=256\n" : "");
}

static void test_levels(void **state)
{
    static struct trod_sim_ref refs[N];
    struct heard h = {.r = malloc(ROOM * sizeof *h.r)};
    struct trod_rng rng;

    (void)state;
    assert_non_null(h.r);
    trod_rng_seed(&rng, 20);
    for (unsigned round = 0; round < 120; round++) {
        char first[TEXT], second[TEXT], all[2 * TEXT], rest[2 * TEXT];
        struct trod_own_config k[3];
        struct trod_own_sim whole, one, two;
        unsigned line, unit;

        draw_refs(refs, N, round % CACHE_REFS_SHAPES, CORES, &rng);
        first_level(first, &rng, &line, &unit);
        second_level(second, &rng, line);
        snprintf(all, sizeof all, "%s%s", first, second);
        snprintf(rest, sizeof rest, "cores %d\n%swritebacks %u\n", CORES, second, unit);
        h.n = 0;
        simulate(&whole, &k[0], all, refs, N, NULL);
        simulate(&one, &k[1], first, refs, N, &h);
        simulate(&two, &k[2], rest, h.r, h.n, NULL);
        for (unsigned i = 2; i < k[0].n; i++) {
            const struct trod_own_counts want = trod_own_sim_sum(&whole, i),
                                         got = trod_own_sim_sum(&two, i - 2);

            if (memcmp(&want, &got, sizeof want) != 0)
                fail_msg("round %u: %s differs behind\n%s", round, k[0].spec[i].name, all);
        }
        trod_own_sim_fini(&whole);
        trod_own_sim_fini(&one);
        trod_own_sim_fini(&two);
    }
    free(h.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
