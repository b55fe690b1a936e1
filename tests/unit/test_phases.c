/*
 * test_phases.c - the analysis "phases": clusters against the definitions of k-means and of the
 * criterion, vectors, categories and misses against plain counting on programs made at random, and
 * closed forms: programs of known phases.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trod/trod.h"

#include "analysis/phases/phases.h"
#include "engine/sites.h"

#include "../common/gen.h"

/* ---- clusters */

enum { POINTS = 96, DIMS = 3 };

static double draw(struct trod_gen *g)
{
    return (double)(gen_u64(g) >> 11) * 0x1p-53;
}

static double apart(const double *a, const double *b)
{
    double sum = 0;

    for (unsigned d = 0; d < DIMS; d++)
        sum += pow(a[d] - b[d], 2);
    return sum;
}

/* The criterion for what C has, cluster by cluster, as it is printed (Pelleg and Moore, 3.2). */
static double criterion(const struct phases_clusters *c)
{
    const double R = (double)c->points, K = c->n, M = DIMS;
    double variance = c->distortion / (R - K), l = 0;

    variance = variance < 1e-12 ? 1e-12 : variance;
    for (unsigned n = 0; n < c->n; n++) {
        const double Rn = (double)c->members[n];

        if (Rn > 0)
            l += -Rn / 2 * log(2 * acos(-1)) - Rn * M / 2 * log(variance) - (Rn - K) / 2 +
                 Rn * log(Rn) - Rn * log(R);
    }
    return l - (K - 1 + M * K + 1) / 2 * log(R);
}

/* C is what it says: the nearest center each, each the mean of its points, chosen the nearest. */
static void consistent(const struct phases_clusters *c, const double *point)
{
    double distortion = 0;

    for (size_t i = 0; i < c->points; i++) {
        const double own = apart(point + i * DIMS, c->center + c->of[i] * DIMS);

        distortion += own;
        for (unsigned k = 0; k < c->n; k++)
            assert_true(own <= apart(point + i * DIMS, c->center + k * DIMS) + 1e-12);
        assert_true(apart(point + c->chosen[c->of[i]] * DIMS, c->center + c->of[i] * DIMS) <=
                    own + 1e-11);
    }
    assert_true(fabs(distortion - c->distortion) < 1e-9);
    for (unsigned k = 0; k < c->n; k++) {
        double mean[DIMS] = {0};
        uint64_t n = 0;

        for (size_t i = 0; i < c->points; i++)
            for (unsigned d = 0; c->of[i] == k && d < DIMS; d++) {
                mean[d] += point[i * DIMS + d];
                n += d == 0;
            }
        assert_int_equal(n, c->members[k]);
        for (unsigned d = 0; n && d < DIMS; d++)
            assert_true(fabs(mean[d] / (double)n - c->center[k * DIMS + d]) < 1e-9);
    }
    assert_true(fabs(criterion(c) - c->bic[c->n]) < 1e-6);
    for (unsigned k = 2; k <= c->tried; k++) /* more clusters are never worse than one */
        assert_true(c->sse[k] <= c->sse[1] + 1e-9);
}

/*
 * Sums of draws, nearly of a normal distribution: the criterion is made for such heaps. A heap with
 * sharp edges is as well described by many small ones.
 */
static double draw_round(struct trod_gen *g)
{
    double sum = 0;

    for (unsigned i = 0; i < 12; i++)
        sum += draw(g);
    return sum - 6;
}

/* Heaps of points far from each other: as many clusters as heaps. */
static void heaps(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 6; n++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct trod_gen g = gen_seed(100 * n + seed);
            struct phases_clusters c = {0}, again = {0};
            double point[POINTS * DIMS];

            for (size_t i = 0; i < POINTS * DIMS; i++) {
                const unsigned heap = (unsigned)(i / DIMS % n);

                point[i] =
                    (i % DIMS == heap % DIMS ? 10.0 * (1 + heap / DIMS) : 0) + draw_round(&g) / 100;
            }
            assert_int_equal(phases_cluster(&c, point, POINTS, DIMS, 10, seed), TROD_OK);
            assert_int_equal(c.n, n);
            consistent(&c, point);
            for (size_t i = 0; i < POINTS; i++)
                assert_int_equal(c.of[i], c.of[i % n]);
            assert_int_equal(phases_cluster(&again, point, POINTS, DIMS, 10, seed), TROD_OK);
            assert_memory_equal(c.of, again.of, POINTS * sizeof *c.of);
            phases_clusters_free(&c);
            phases_clusters_free(&again);
        }
}

/* Of many points a sample chooses the number; all of them are put into clusters. */
static void many(void **state)
{
    enum { MANY = 1000, HEAPS = 5 };
    static double point[MANY * DIMS];
    struct trod_gen g = gen_seed(1);
    struct phases_clusters c = {0};

    (void)state;
    for (size_t i = 0; i < MANY; i++) /* heaps of different sizes, mixed */
        for (unsigned d = 0; d < DIMS; d++)
            point[i * DIMS + d] = (double)(i % 7 % HEAPS * (d + 1)) + draw(&g) / 100;
    assert_int_equal(phases_cluster(&c, point, MANY, DIMS, 10, 1), TROD_OK);
    assert_int_equal(c.n, HEAPS);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(c.of[i], c.of[i % 7 % HEAPS]);
    for (size_t i = 0; i < MANY; i++) {
        const double *center = c.center + c.of[i] * DIMS;

        assert_true(apart(point + c.chosen[c.of[i]] * DIMS, center) <=
                    apart(point + i * DIMS, center) + 1e-11);
    }
    phases_clusters_free(&c);
}

/* Points anywhere, and fewer of them than clusters. */
static void anywhere(void **state)
{
    static const size_t counts[] = {1, 2, 3, 7, 50, POINTS};

    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct trod_gen g = gen_seed(k + 1);
        struct phases_clusters c = {0};
        double point[POINTS * DIMS];

        for (size_t i = 0; i < counts[k] * DIMS; i++)
            point[i] = draw(&g);
        assert_int_equal(phases_cluster(&c, point, counts[k], DIMS, 8, 1), TROD_OK);
        assert_true(c.n >= 1 && c.n <= 8 && c.n <= counts[k]);
        if (counts[k] > 8)
            consistent(&c, point);
        phases_clusters_free(&c);
    }
}

/* The best way to part few points into two, of all ways. */
static void exhaustive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct phases_clusters c = {0};
        double point[9 * DIMS], best = INFINITY;

        for (size_t i = 0; i < 9 * DIMS; i++)
            point[i] = draw(&g) + (i / DIMS % 3 == 0 ? 3 : 0);
        for (unsigned way = 1; way < 1u << 8; way++) {
            double sum = 0;

            for (unsigned half = 0; half < 2; half++) {
                double mean[DIMS] = {0}, n = 0;

                for (size_t i = 0; i < 9; i++)
                    if ((way >> i & 1) == half) {
                        n++;
                        for (unsigned d = 0; d < DIMS; d++)
                            mean[d] += point[i * DIMS + d];
                    }
                for (unsigned d = 0; d < DIMS; d++)
                    mean[d] /= n;
                for (size_t i = 0; i < 9; i++)
                    sum += (way >> i & 1) == half ? apart(point + i * DIMS, mean) : 0;
            }
            best = sum < best ? sum : best;
        }
        assert_int_equal(phases_cluster(&c, point, 9, DIMS, 2, 1), TROD_OK);
        assert_true(fabs(c.sse[2] - best) < 1e-9);
        phases_clusters_free(&c);
    }
}

/* ---- programs */

enum { SITES = 64, STEPS = 60000, LINES = 64 * 8 };

struct step {
    uint32_t site;
    bool access;
    uint64_t addr;
};

struct program {
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_sites *sites;
    struct step *step;
    size_t n;
    struct trod_result *result;
};

/* Sites are neighbours of 4 bytes; every eighth is a branch, every third loads. */
static void begin(struct program *p)
{
    memset(p, 0, sizeof *p);
    trod_meta_init(&p->meta);
    trod_diag_init(&p->diag, NULL, NULL);
    p->meta.isa = TROD_ISA_REGDEPS;
    p->step = calloc(STEPS, sizeof *p->step);
    assert_non_null(p->step);
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
    trod_result_free(p->result);
    engine_sites_free(p->sites);
    trod_meta_fini(&p->meta);
    free(p->step);
}

/* A block of eight instructions from site FIRST on, with an access at ADDR for every load. */
static void block(struct program *p, uint32_t first, uint64_t addr)
{
    for (uint32_t i = first; i < first + 8; i++)
        p->step[p->n++] = (struct step){.site = i, .access = i % 3 == 0, .addr = addr};
}

static void run(struct program *p, char *text, size_t interval)
{
    const struct trod_analysis *a = trod_analysis_find("phases", 6);
    const struct trod_context c = {
        .meta = &p->meta, .sites = p->sites, .diag = &p->diag, .shards = 1};
    void *st = calloc(1, a->state_size), *opt = calloc(1, a->options_size);
    struct trod_boundary at = {.type = TROD_BOUNDARY_INTERVAL};
    struct trod_batch *b;

    assert_true(st && opt);
    memcpy(opt, a->defaults, a->options_size);
    assert_int_equal(trod_option_spec(a->options, opt, text, &p->diag), TROD_OK);
    assert_int_equal(a->init(st, opt, &c), TROD_OK);
    assert_int_equal(trod_batch_new(&b, 16), TROD_OK);
    b->meta = &p->meta;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_SITE;
    for (size_t i = 0; i < p->n; i++) {
        const struct step *s = &p->step[i];

        b->n = 0;
        for (int k = 0; k <= s->access; k++, b->n++) {
            b->kind[k] = k ? TROD_READ : TROD_INSTR;
            b->has[k] = b->have;
            b->flags[k] = 0;
            b->site[k] = s->site;
            b->addr[k] = k ? s->addr : 0x1000 + 4 * s->site;
            b->size[k] = 4;
        }
        assert_int_equal(a->feed(st, b, 0, b->n), TROD_OK);
        if (interval && (i + 1) % interval == 0)
            assert_int_equal(a->boundary(st, &at), TROD_OK);
    }
    at.type = TROD_BOUNDARY_END;
    assert_int_equal(a->boundary(st, &at), TROD_OK);
    trod_result_free(p->result);
    assert_int_equal(trod_result_new(&p->result), TROD_OK);
    assert_int_equal(a->result(st, p->result), TROD_OK);
    a->fini(st);
    trod_batch_free(b);
    free(st);
    free(opt);
}

static const struct trod_value *cell(const struct program *p, const char *path, size_t row,
                                     const char *column)
{
    const struct trod_node *t = trod_result_find(p->result, path);
    const int c = t ? trod_result_column(t, column) : -1;

    assert_true(c >= 0 && row < t->n_rows);
    return &t->cells[row * t->n_columns + (size_t)c];
}

/* The row of table PATH whose first column is KEY. */
static size_t row_of(const struct program *p, const char *path, const char *key)
{
    const struct trod_node *t = trod_result_find(p->result, path);

    assert_non_null(t);
    for (size_t i = 0; i < t->n_rows; i++)
        if (strcmp(t->cells[i * t->n_columns].is.str, key) == 0)
            return i;
    fail_msg("no row %s", key);
    return 0;
}

static uint64_t number(const struct program *p, const char *path)
{
    const struct trod_node *n = trod_result_find(p->result, path);

    assert_non_null(n);
    return n->value.is.u64;
}

static double error_of(const struct program *p, const char *what)
{
    return cell(p, "estimates", row_of(p, "estimates", what), "error")->is.f64;
}

/* One part in PARTS of the run is of another kind: two phases, of these weights, no error. */
static void two_phases(void **state)
{
    (void)state;
    for (size_t parts = 2; parts <= 5; parts++) {
        struct program p;
        char text[] = "list";
        size_t small;

        begin(&p);
        while (p.n < 8000 * parts)
            block(&p, p.n < 8000 ? 0 : 24, p.n < 8000 ? 64 : 64 * 64 * p.n);
        run(&p, text, 800);
        assert_int_equal(trod_result_find(p.result, "phases")->n_rows, 2);
        small = cell(&p, "interval_phases", 0, "phase")->is.u64 ==
                        cell(&p, "phases", 0, "phase")->is.u64
                    ? 0
                    : 1;
        assert_true(fabs(cell(&p, "phases", small, "weight")->is.f64 - 100.0 / (double)parts) <
                    0.5);
        assert_true(fabs(error_of(&p, "load")) < 0.5);
        assert_true(fabs(error_of(&p, "misses an instruction")) < 0.5);
        end(&p);
    }
}

/* Distance of LINE from the front of its set of an LRU list kept as it is defined; moves it. */
static bool hits(uint64_t lines[64][8], uint64_t line)
{
    uint64_t *set = lines[line % 64];
    unsigned at = 0;
    bool hit;

    while (at < 7 && set[at] != line)
        at++;
    hit = set[at] == line;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = line;
    return hit;
}

/* Random blocks: intervals that end by themselves, and those that somebody else ends. */
static void by_counting(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct trod_gen g = gen_seed(seed);
        uint64_t lines[64][8], misses = 0, accesses = 0, loads = 0, branches = 0, sum[3] = {0};
        struct program p;
        char text[] = "list", other[] = "list";

        begin(&p);
        memset(lines, 0xff, sizeof lines);
        while (p.n + 8 <= STEPS)
            block(&p, (uint32_t)(gen_u64(&g) % 8 * 8), gen_u64(&g) % LINES * 80);
        for (size_t i = 0; i < p.n; i++) {
            const struct step *s = &p.step[i];

            branches += s->site % 8 == 7;
            loads += s->site % 8 != 7 && s->site % 3 == 0;
            for (uint64_t line = s->addr / 64; s->access && line <= (s->addr + 3) / 64; line++) {
                accesses++;
                misses += !hits(lines, line);
            }
        }
        for (int way = 0; way < 2; way++) {
            run(&p, way ? other : text, way ? 700 : 0);
            assert_int_equal(number(&p, "instructions"), p.n);
            assert_int_equal(number(&p, "intervals"), way ? (p.n + 699) / 700 : (p.n + 999) / 1000);
            memset(sum, 0, sizeof sum);
            for (size_t i = 0; i < number(&p, "intervals"); i++) {
                assert_int_equal(cell(&p, "interval_phases", i, "first")->is.u64, sum[0]);
                sum[0] += cell(&p, "interval_phases", i, "instructions")->is.u64;
                sum[1] += cell(&p, "interval_phases", i, "accesses")->is.u64;
                sum[2] += cell(&p, "interval_phases", i, "misses")->is.u64;
            }
            assert_int_equal(sum[0], p.n);
            assert_int_equal(sum[1], accesses);
            assert_int_equal(sum[2], misses);
            assert_true(
                fabs(cell(&p, "estimates", row_of(&p, "estimates", "load"), "whole")->is.f64 -
                     100.0 * (double)loads / (double)p.n) < 1e-9);
            assert_true(
                fabs(cell(&p, "estimates", row_of(&p, "estimates", "branch"), "whole")->is.f64 -
                     100.0 * (double)branches / (double)p.n) < 1e-9);
        }
        end(&p);
    }
}

/* Different numbers among the N at LINE, by looking at all. */
static uint64_t different(const uint64_t *line, size_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < i && line[k] != line[i])
            k++;
        count += k == i;
    }
    return count;
}

/* Intervals that are joined again and again have the lines that all their parts had together. */
static void working_sets(void **state)
{
    enum { INTERVALS = 16, TOUCHES = 40, ALL = 90 * TOUCHES };

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trod_gen g = gen_seed(seed);
        uint64_t *line = calloc(ALL, sizeof *line), fresh[INTERVALS][PHASES_AGES] = {{0}};
        const uint64_t spread = 1 + gen_u64(&g) % 200;
        struct phases_working *w;
        size_t n = 0, length = TOUCHES;

        assert_int_equal(phases_working_new(&w, 1 << 20), 0);
        for (size_t i = 0; i < ALL; i++) {
            line[i] = gen_u64(&g) % spread * (seed % 2 ? 1 : 1024) + i / 1000 * 7;
            phases_working_line(w, line[i], fresh[n]);
            if ((i + 1) % length)
                continue;
            assert_true(phases_working_end(w));
            if (++n < INTERVALS)
                continue;
            for (size_t k = 0; k < INTERVALS; k++)
                phases_working_join(fresh[k]);
            for (n = 0; n < INTERVALS / 2; n++)
                for (unsigned age = 0; age < PHASES_AGES; age++)
                    fresh[n][age] = fresh[2 * n][age] + fresh[2 * n + 1][age];
            memset(fresh[n], 0, sizeof fresh - n * sizeof *fresh);
            phases_working_joined(w);
            length *= 2;
        }
        for (size_t k = 0; k < n; k++)
            assert_int_equal(phases_working_lines(fresh[k]), different(line + k * length, length));
        assert_int_equal(phases_working_level(w), 0);
        phases_working_free(w);
        free(line);
    }
}

/* What files without instructions touch belongs to the interval that follows, joined or not. */
static void working_set_of_empty_files(void **state)
{
    enum { EMPTY = 3, LINES_EACH = 4 };
    uint64_t fresh[2][PHASES_AGES] = {{0}};
    struct phases_working *w;

    (void)state;
    assert_int_equal(phases_working_new(&w, 1 << 20), 0);
    for (uint64_t file = 0; file <= EMPTY; file++) {
        phases_working_file(w);
        for (uint64_t i = 0; i < LINES_EACH; i++)
            phases_working_line(w, file * LINES_EACH + i, fresh[0]);
    }
    assert_true(phases_working_end(w));
    for (uint64_t i = 0; i < (EMPTY + 1) * LINES_EACH; i++)
        phases_working_line(w, i, fresh[1]);
    assert_true(phases_working_end(w));
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(phases_working_lines(fresh[k]), (EMPTY + 1) * LINES_EACH);
        phases_working_join(fresh[k]);
    }
    assert_int_equal(phases_working_lines(fresh[0]) + phases_working_lines(fresh[1]),
                     (EMPTY + 1) * LINES_EACH);
    phases_working_free(w);
}

/* Of more lines than are remembered a sample says how many they were. */
static void sampled_sets(void **state)
{
    enum { LINES_TOUCHED = 200000, MOST = 4000 };
    uint64_t fresh[3][PHASES_AGES] = {{0}};
    struct phases_working *w;

    (void)state;
    assert_int_equal(phases_working_new(&w, MOST), 0);
    for (unsigned interval = 0; interval < 3; interval++) {
        for (uint64_t i = 0; i < LINES_TOUCHED; i++)
            phases_working_line(w, i * 3, fresh[interval]);
        assert_true(phases_working_end(w));
        assert_true(fabs((double)phases_working_lines(fresh[interval]) / LINES_TOUCHED - 1) < 0.1);
    }
    assert_int_equal(fresh[1][PHASES_COLD], 0);
    assert_true(phases_working_level(w) >= 6 && phases_working_level(w) <= 7); /* 50 times MOST */
    phases_working_free(w);
}

/* What is written for SimPoint: every interval's blocks and their instructions. */
static void vectors(void **state)
{
    char path[64], text[96], line[256];
    struct program p;
    FILE *f;

    (void)state;
    snprintf(path, sizeof path, "test_phases.%d.bb", (int)getpid());
    snprintf(text, sizeof text, "bb=%s", path);
    begin(&p);
    for (unsigned i = 0; i < 10; i++)
        block(&p, 0, 0); /* 80 instructions */
    for (unsigned i = 0; i < 5; i++) {
        block(&p, 16, 0);
        block(&p, 8, 0);
    }
    run(&p, text, 100);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "T:1:80 :2:12 :3:8 \n"); /* 12: 8 and 4 of the next */
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "T:2:28 :3:32 \n");
    assert_null(fgets(line, sizeof line, f));
    fclose(f);
    remove(path);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps),
        cmocka_unit_test(many),
        cmocka_unit_test(anywhere),
        cmocka_unit_test(exhaustive),
        cmocka_unit_test(two_phases),
        cmocka_unit_test(by_counting),
        cmocka_unit_test(working_sets),
        cmocka_unit_test(sampled_sets),
        cmocka_unit_test(working_set_of_empty_files),
        cmocka_unit_test(vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
