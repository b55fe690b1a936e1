/*
 * test_records.c - analyses whose parts are recorded (trod_analysis.records) find the same for
 * every number of threads and every size of parts.
 *
 * An analysis that makes a hash which depends on the order of all rows stands for all of them; it
 * says at times that it has recorded as much as it may, so that parts wait for those before them.
 * `hot`, `branches` and `cache` are real ones, the last one also with sweeps, whose merging is
 * shared out by sets, and by caches. Inputs: those of every format that can be parted, whole and
 * damaged.
 */
#include "prop.h"
#include "ran.h"

#include "trod/cache.h"
#include "trod/run.h"

#include <stdatomic.h>
#include <unistd.h>

enum { DAMAGES = 2 };

static atomic_uint recording, handed_over;

struct chain {
    bool records;
    uint64_t *hash; /* of each row, where it records */
    size_t n, room;
    uint64_t rows, all;
};

static int chain_init(void *st, const void *opt, const struct trod_context *c)
{
    struct chain *s = st;

    (void)opt;
    s->records = c->recording;
    recording += c->recording;
    return TROD_OK;
}

static void next(struct chain *s, uint64_t hash)
{
    s->rows++;
    s->all = (s->all ^ hash) * UINT64_C(0x9e3779b97f4a7c15) ^ s->all >> 29;
}

static int chain_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct chain *s = st;

    for (uint32_t i = from; i < to; i++) {
        const uint64_t hash = test_row_hash(b, i, prop_mask());

        if (!s->records) {
            next(s, hash);
            continue;
        }
        if (s->n == s->room) {
            s->room = s->room ? 2 * s->room : 64;
            s->hash = realloc(s->hash, s->room * sizeof *s->hash);
            if (!s->hash)
                return TROD_ERR_NOMEM;
        }
        s->hash[s->n++] = hash;
    }
    return TROD_OK;
}

static int chain_merge(void *into, const void *from)
{
    const struct chain *f = from;

    assert_true(f->records);
    for (size_t i = 0; i < f->n; i++)
        next(into, f->hash[i]);
    return TROD_OK;
}

static bool chain_records(const void *opt)
{
    (void)opt;
    return true;
}

/* Every third batch or so is too much. */
static size_t chain_recorded(const void *st)
{
    const struct chain *s = st;

    if (s->n == 0 || s->hash[s->n - 1] % 3)
        return s->n * sizeof *s->hash;
    handed_over++;
    return SIZE_MAX / 4;
}

static int chain_result(const void *st, struct trod_result *r)
{
    const struct chain *s = st;

    trod_result_u64(r, "rows", s->rows);
    trod_result_hex(r, "hash", s->all);
    return TROD_OK;
}

static void chain_fini(void *st)
{
    free(((struct chain *)st)->hash);
}

static const struct trod_analysis analysis = {
    .name = "chain",
    .title = "all rows in their order",
    .state_size = sizeof(struct chain),
    .order = TROD_GLOBAL_ORDER,
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
    .init = chain_init,
    .feed = chain_feed,
    .merge = chain_merge,
    .result = chain_result,
    .fini = chain_fini,
    .records = chain_records,
    .recorded = chain_recorded,
};

/*
 * What is found and reported, to be freed; NULL: the file is refused. WITH: so many of the
 * analyses.
 */
static char *found_in(const char *path, const struct golden *g, unsigned jobs, uint64_t piece,
                      size_t with)
{
    const struct trod_run_options opt = {
        .jobs = jobs, .piece = piece, .trace = {.from = g->format->name}};
    static const struct trod_cache_options by_sets = {.sweep =
                                                          "size=1K..16K,ways=1..4,line=32..64"},
                                           by_cache = {.sweep = "size=1K..2K,policy=lru+random"};
    const struct trod_analysis *const cache = trod_analysis_find("cache", 5);
    struct trod_analysis sets = *cache, caches = *cache;
    const struct trod_analysis *const all[] = {
        &analysis, trod_analysis_find("branches", 8), trod_analysis_find("hot", 3), cache, &sets,
        &caches};

    sets.defaults = &by_sets;
    caches.defaults = &by_cache;
    return test_ran(&path, 1, &opt, all, with);
}

static void all_ways(const struct golden *g, const uint8_t *p, size_t n)
{
    static const uint64_t pieces[] = {13, 100, 777, 0};
    /* hot and cache take long where rows are of gigabytes, as some formats and damages have them */
    const bool real =
        p == g->data.p && (g->format->parts || strcmp(g->format->name, "tarmac") == 0);
    const size_t with = real ? 6 : 2;
    char path[GOLDEN_PATH], *want;

    golden_write(g, p, n, path);
    want = found_in(path, g, 1, 0, with);
    for (size_t i = 0; want && i < sizeof pieces / sizeof *pieces; i++) {
        char *got = found_in(path, g, 2 + (unsigned)i % 3, pieces[i], with);

        if (!got || strcmp(want, got) != 0)
            print_error("one go:\n%s\nparts:\n%s\n", want, got ? got : "refused");
        prop_true(got && strcmp(want, got) == 0, g, "what parts record differs", pieces[i]);
        free(got);
    }
    free(want);
    unlink(path);
}

static void records(const struct golden *g)
{
    if (prop_parted(g, true))
        prop_damaged(g, g->data.n + 23, DAMAGES, all_ways);
}

static void test_records(void **state)
{
    (void)state;
    golden_each(2, records);
    assert_true(recording > 100 && handed_over > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
