/*
 * test_phases_parts.c - the analysis "phases" of parts of a run: merged, and as bytes, they are
 * what one state finds in all files, for every way to part them and every size of batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/trod.h"

#include "analysis/phases/phases.h"
#include "engine/sites.h"

#include "../common/gen.h"

enum { SITES = 64, LINES = 64 * 8 };

struct program {
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_sites *sites;
};

/* Sites are neighbours of 4 bytes; every eighth is a branch, every third loads. */
static void begin(struct program *p)
{
    memset(p, 0, sizeof *p);
    trod_meta_init(&p->meta);
    trod_diag_init(&p->diag, NULL, NULL);
    p->meta.isa = TROD_ISA_REGDEPS;
    assert_int_equal(engine_sites_new(&p->sites, &p->meta, NULL), TROD_OK);
    for (uint32_t i = 0; i < SITES; i++) {
        struct trod_site site = {.pc = 0x1000 + 4 * i, .size = 4, .code_n = 4};

        site.branch = i % 8 == 7 ? TROD_BR_DIRECT : TROD_BR_NONE;
        site.code[1] = i % 3 == 0 ? 2 << 2 : 0; /* category: load */
        assert_int_equal(trod_sites_add(p->sites, &site), i);
    }
}

static void end(struct program *p)
{
    engine_sites_free(p->sites);
    trod_meta_fini(&p->meta);
}

enum { FILES = 60, BLOCKS = 9000 };

/* A state of the analysis, not begun. */
static struct phases_state *fresh(struct program *p, const void *opt)
{
    const struct trod_analysis *a = trod_analysis_find("phases", 6);
    const struct trod_context c = {
        .meta = &p->meta, .sites = p->sites, .diag = &p->diag, .shards = 1};
    struct phases_state *s = calloc(1, a->state_size);

    assert_non_null(s);
    assert_int_equal(a->init(s, opt, &c), TROD_OK);
    return s;
}

static void drop(struct phases_state *s)
{
    trod_analysis_find("phases", 6)->fini(s);
    free(s);
}

/* Accesses of a run: their line, and the number of the instruction in whose interval they are. */
struct accesses {
    struct {
        uint64_t line, at;
    } * list;
    size_t n, cap;
    uint64_t instructions;
};

static void note(struct accesses *a, uint64_t addr, uint64_t at)
{
    if (a->n == a->cap) {
        a->cap = a->cap ? 2 * a->cap : 4096;
        a->list = realloc(a->list, a->cap * sizeof *a->list);
        assert_non_null(a->list);
    }
    a->list[a->n].line = addr / 64;
    a->list[a->n++].at = at;
}

/* Feed what file FILE of the run of SEED has to S, in batches of SIZE rows. */
static void feed_file(const struct program *p, struct phases_state *s, uint64_t seed, uint32_t file,
                      uint32_t size, struct accesses *all)
{
    struct trod_batch *b;
    struct trod_meta meta = p->meta;
    struct trod_gen g = gen_seed(seed * 1000 + file);
    const bool tiny = gen_u64(&g) % 4 == 0;
    const uint64_t blocks = tiny ? gen_u64(&g) % 3 : gen_u64(&g) % BLOCKS;

    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    meta.file = file;
    b->meta = &meta;
    b->n = 0;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_SITE;
    for (uint64_t n = 0; n <= blocks; n++) {
        const uint32_t first = (uint32_t)(gen_u64(&g) % 8 * 8);

        for (uint32_t i = first; i < first + 8 && n < blocks; i++)
            for (int k = 0; k <= (i % 3 == 0); k++, b->n++) {
                b->kind[b->n] = k ? TROD_READ : TROD_INSTR;
                b->has[b->n] = b->have;
                b->flags[b->n] = 0;
                b->site[b->n] = i;
                b->addr[b->n] = k ? gen_u64(&g) % LINES * 80 : 0x1000 + 4 * i;
                b->size[b->n] = 4;
                if (all && k)
                    note(all, b->addr[b->n], all->instructions);
                else if (all)
                    all->instructions++;
            }
        if (n == blocks && file % 5 == 0) { /* an access without an instruction */
            b->kind[b->n] = TROD_READ;
            b->has[b->n] = b->have;
            b->flags[b->n] = 0;
            b->addr[b->n] = gen_u64(&g) % LINES * 80;
            b->size[b->n] = 4;
            if (all) /* without any before it belongs to what follows */
                note(all, b->addr[b->n], all->instructions + (blocks == 0));
            b->n++;
        }
        if (b->n + 17 > size || n == blocks) {
            assert_int_equal(phases_feed(s, b, 0, b->n), TROD_OK);
            b->n = 0;
        }
    }
    trod_batch_free(b);
}

static void end_state(struct phases_state *s)
{
    const struct trod_boundary at = {.type = TROD_BOUNDARY_END};

    assert_int_equal(trod_analysis_find("phases", 6)->boundary(s, &at), TROD_OK);
}

/* S as bytes and back. */
static struct phases_state *by_bytes(struct program *p, const void *opt, struct phases_state *s)
{
    struct trod_buf out = {0}, again = {0};
    struct phases_state *t = fresh(p, opt);

    assert_int_equal(phases_save(s, &out), TROD_OK);
    assert_int_equal(phases_load(t, (struct trod_span){.p = out.p, .n = out.n}, NULL), TROD_OK);
    assert_int_equal(phases_save(t, &again), TROD_OK);
    assert_int_equal(out.n, again.n);
    assert_memory_equal(out.p, again.p, out.n);
    for (size_t n = 0; n < out.n; n += 1 + out.n / 50) { /* cut off */
        struct phases_state *cut = fresh(p, opt);

        assert_int_equal(phases_load(cut, (struct trod_span){.p = out.p, .n = n}, NULL),
                         TROD_ERR_CORRUPT);
        drop(cut);
    }
    trod_buf_fini(&out);
    trod_buf_fini(&again);
    drop(s);
    return t;
}

static void same_states(const struct phases_state *a, const struct phases_state *b)
{
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_int_equal(a->interval[i].instructions, b->interval[i].instructions);
        assert_int_equal(a->interval[i].accesses, b->interval[i].accesses);
        assert_int_equal(a->interval[i].misses, b->interval[i].misses);
        assert_int_equal(a->interval[i].begins, b->interval[i].begins);
        assert_memory_equal(a->interval[i].category, b->interval[i].category,
                            sizeof a->interval[i].category);
    }
    assert_memory_equal(a->vector, b->vector, a->n * a->dims * sizeof *a->vector);
    assert_memory_equal(a->line, b->line, sizeof a->line);
}

/* Files in one go, and in parts of some files each that are merged: all is the same. */
static void parts(void **state)
{
    const struct trod_analysis *a = trod_analysis_find("phases", 6);

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct program p;
        struct phases_state *whole;
        uint64_t first = 0;

        begin(&p);
        whole = fresh(&p, a->defaults);
        for (uint32_t f = 0; f < FILES; f++)
            feed_file(&p, whole, seed, f, TROD_BATCH_ROWS, NULL);
        end_state(whole);
        assert_true(whole->length > PHASES_FIRST && whole->n < PHASES_AUTO);
        for (size_t i = 0; i < whole->n; i++, first += whole->interval[i - 1].instructions)
            assert_int_equal(whole->interval[i].first, first);
        for (unsigned way = 0; way < 5; way++) {
            struct phases_state *all = fresh(&p, a->defaults);

            for (uint32_t f = 0; f < FILES;) {
                const uint32_t to = f + 1 + (uint32_t)(gen_u64(&g) % (1 + way * 9));
                struct phases_state *part = fresh(&p, a->defaults);

                for (; f < to && f < FILES; f++)
                    feed_file(&p, part, seed, f, way ? 64 * way : TROD_BATCH_ROWS, NULL);
                end_state(part);
                part = by_bytes(&p, a->defaults, part);
                assert_int_equal(phases_merge(all, part), TROD_OK);
                drop(part);
                if (gen_u64(&g) % 4 == 0)
                    all = by_bytes(&p, a->defaults, all);
            }
            end_state(all);
            same_states(whole, all);
            drop(all);
        }
        drop(whole);
        end(&p);
    }
}

/* The different lines of each interval, however often intervals were joined. */
static void working_sets_of(uint64_t seed)
{
    struct phases_options opt;
    struct accesses all = {.n = 0};
    struct phases_state *s;
    struct program p;
    uint64_t to = 0;
    size_t k = 0;

    memcpy(&opt, trod_analysis_find("phases", 6)->defaults, sizeof opt);
    opt.list = true;
    begin(&p);
    s = fresh(&p, &opt);
    for (uint32_t f = 0; f < FILES; f++)
        feed_file(&p, s, seed, f, TROD_BATCH_ROWS, &all);
    end_state(s);
    assert_true(s->length > PHASES_FIRST);
    for (size_t i = 0; i < s->n; i++) {
        bool seen[LINES * 80 / 64 + 1] = {false};
        uint64_t n = 0;

        to += s->interval[i].instructions;
        for (; k < all.n && all.list[k].at <= to; k++) {
            n += !seen[all.list[k].line];
            seen[all.list[k].line] = true;
        }
        assert_int_equal(phases_working_lines(s->interval[i].fresh), n);
    }
    free(all.list);
    drop(s);
    end(&p);
}

static void working_sets(void **state)
{
    (void)state;
    for (uint64_t seed = 7; seed <= 10; seed++)
        working_sets_of(seed);
}

/* An interval that somebody else ends behind several files has the lines of all, each once. */
static void working_set_of_files(void **state)
{
    const struct trod_analysis *a = trod_analysis_find("phases", 6);
    const struct trod_boundary at = {.type = TROD_BOUNDARY_INTERVAL};
    struct phases_options opt;
    struct accesses all = {.n = 0};
    struct phases_state *s;
    struct program p;
    bool seen[2][LINES * 80 / 64 + 1] = {{false}};
    uint64_t n[2] = {0, 0};
    size_t half = 0;

    (void)state;
    memcpy(&opt, a->defaults, sizeof opt);
    opt.list = true;
    begin(&p);
    s = fresh(&p, &opt);
    for (uint32_t f = 0; f < 40; f++) {
        feed_file(&p, s, 9, f, TROD_BATCH_ROWS, &all);
        if (f % 20 == 19)
            assert_int_equal(a->boundary(s, &at), TROD_OK);
        half = f == 19 ? all.n : half;
    }
    for (size_t i = 0; i < all.n; i++) {
        n[i >= half] += !seen[i >= half][all.list[i].line];
        seen[i >= half][all.list[i].line] = true;
    }
    end_state(s);
    assert_int_equal(s->n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(phases_working_lines(s->interval[i].fresh), n[i]);
    free(all.list);
    drop(s);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(working_sets),
                                       cmocka_unit_test(working_set_of_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
