/*
 * test_parts.c - a plain file, parted at its cuts, gives the rows and problems of decoding it in
 * one go.
 *
 * format.h, stride and cuts; trod/run.h. Every golden file and inputs of random rows of the formats
 * that can begin in the middle, whole and damaged, in pieces of few bytes, for several numbers of
 * threads; and parts shared out to processes (part I of N) and merged. Analyses that keep a hash of
 * every row and of its site stand for all; `count` and `mix` are real ones.
 */
#include "drm.h"
#include "prop.h"
#include "ran.h"

#include "trod/buf.h"
#include "trod/drmemtrace.h"
#include "trod/run.h"

#include <unistd.h>

#if defined __SANITIZE_THREAD__ /* which is slow: other builds try more */
enum { GENERATED = 1, DAMAGES = 1 };
#else
enum { GENERATED = 8, DAMAGES = 3 };
#endif

/* ---- the rows */

struct rows {
    uint64_t *hash;
    size_t n, room;
};

static int rows_init(void *st, const void *opt, const struct trod_context *c)
{
    (void)st;
    (void)opt;
    (void)c;
    return TROD_OK;
}

static int put(struct rows *s, uint64_t hash)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        uint64_t *p = realloc(s->hash, room * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        s->hash = p;
        s->room = room;
    }
    s->hash[s->n++] = hash;
    return TROD_OK;
}

static int rows_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++)
        rc = put(st, test_row_hash(b, i, prop_mask()));
    return rc;
}

static int rows_merge(void *into, const void *from)
{
    const struct rows *f = from;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < f->n; i++)
        rc = put(into, f->hash[i]);
    return rc;
}

static int rows_save(const void *st, struct trod_buf *out)
{
    const struct rows *s = st;

    return s->n ? trod_buf_add(out, s->hash, s->n * sizeof *s->hash) : TROD_OK;
}

static int rows_load(void *st, struct trod_span in, const uint32_t *sites)
{
    int rc = TROD_OK;

    (void)sites;
    for (uint64_t hash; rc == TROD_OK && in.n >= sizeof hash; in.n -= sizeof hash) {
        memcpy(&hash, in.p, sizeof hash);
        in.p += sizeof hash;
        rc = put(st, hash);
    }
    return rc;
}

static int rows_result(const void *st, struct trod_result *r)
{
    trod_result_u64(r, "rows", ((const struct rows *)st)->n);
    return TROD_OK;
}

static void rows_fini(void *st)
{
    free(((struct rows *)st)->hash);
}

static const struct trod_analysis analysis = {
    .name = "rows",
    .title = "all rows",
    .state_size = sizeof(struct rows),
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
    .init = rows_init,
    .feed = rows_feed,
    .merge = rows_merge,
    .save = rows_save,
    .load = rows_load,
    .result = rows_result,
    .fini = rows_fini,
};

/* ---- whom rows belong to */

struct owned {
    struct rows rows; /* hashes of kind and site */
    const struct trod_sites *sites;
    bool parted; /* some were of a later part, and belonged to an instruction */
};

static int owned_init(void *st, const void *opt, const struct trod_context *c)
{
    (void)opt;
    ((struct owned *)st)->sites = c->sites;
    return TROD_OK;
}

static uint64_t site_hash(const struct trod_site *s)
{
    uint64_t h = s->pc ^ (uint64_t)s->size << 40 ^ (uint64_t)s->iset << 56;

    for (unsigned i = 0; i < s->code_n; i++)
        h = (h ^ s->code[i]) * UINT64_C(0x100000001b3);
    return h * UINT64_C(0x9e3779b97f4a7c15) + s->branch + 1;
}

static int owned_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct owned *s = st;
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        const uint32_t site = b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;

        s->parted |= site != TROD_NO_SITE && b->meta->part;
        rc = put(&s->rows, site == TROD_NO_SITE
                               ? b->kind[i]
                               : b->kind[i] ^ site_hash(trod_site_at(s->sites, site)));
    }
    return rc;
}

static int owned_merge(void *into, const void *from)
{
    ((struct owned *)into)->parted |= ((const struct owned *)from)->parted;
    return rows_merge(&((struct owned *)into)->rows, &((const struct owned *)from)->rows);
}

static void owned_fini(void *st)
{
    rows_fini(&((struct owned *)st)->rows);
}

static const struct trod_analysis owned = {
    .name = "owned",
    .title = "whom rows belong to",
    .state_size = sizeof(struct owned),
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_SITE | TROD_COL_STREAM,
    .init = owned_init,
    .feed = owned_feed,
    .merge = owned_merge,
    .result = rows_result,
    .fini = owned_fini,
};

/* Inputs whose rows in later parts belong to instructions; [1]: parts go on from what came before.
 */
static size_t owned_parted[2];

/* Rows belong to the same instructions as in one go. */
static void same_owners(const char *path, const struct golden *g, unsigned jobs, uint64_t piece)
{
    const struct trod_run_options opt[2] = {
        {.jobs = 1, .trace = {.from = g->format->name}},
        {.jobs = jobs, .piece = piece, .trace = {.from = g->format->name}}};
    struct trod_run *run[2];
    const struct owned *s[2];

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(trod_run_open(&run[i], &path, 1, &opt[i], NULL), TROD_OK);
        assert_int_equal(trod_run_add(run[i], &owned, NULL), 0);
        trod_run_go(run[i]);
        s[i] = trod_run_state(run[i], 0);
        assert_non_null(s[i]);
    }
    prop_true(s[0]->rows.n == s[1]->rows.n &&
                  (s[0]->rows.n == 0 || memcmp(s[0]->rows.hash, s[1]->rows.hash,
                                               s[0]->rows.n * sizeof *s[0]->rows.hash) == 0),
              g, "rows of parts belong to other instructions", piece);
    owned_parted[g->format->parts != NULL] += s[1]->parted;
    for (unsigned i = 0; i < 2; i++)
        trod_run_free(run[i]);
}

/* ---- a run */

struct found {
    struct trod_run *run;
    struct trod_diag diag;
    struct trod_buf problems;
    char *count;
    int rc;
};

static void note(void *user, const struct trod_problem *p)
{
    const struct trod_place *at = &p->at;

    if (trod_buf_printf(user, "%s %llu %llu %llu %.*s: %s\n", p->kind,
                        (unsigned long long)at->offset, (unsigned long long)at->line,
                        (unsigned long long)at->record, at->text ? (int)at->text_len : 0,
                        at->text ? (const char *)at->text : "", p->message) < 0)
        test_die("out of memory");
}

static void begin(struct found *f, const char *path, const struct golden *g,
                  struct trod_run_options opt)
{
    *f = (struct found){.run = NULL};
    trod_diag_init(&f->diag, note, &f->problems);
    opt.trace.from = g->format->name;
    assert_int_equal(trod_run_open(&f->run, &path, 1, &opt, &f->diag), TROD_OK);
    assert_int_equal(trod_run_add(f->run, &analysis, NULL), 0);
    assert_int_equal(trod_run_add(f->run, trod_analysis_find("count", 5), NULL), 1);
    assert_int_equal(trod_run_add(f->run, trod_analysis_find("info", 4), NULL), 2);
}

/* The results of `count` and `info`. */
static void finish(struct found *f)
{
    struct trod_result *r;
    const struct trod_emit_options opt = {.format = TROD_EMIT_JSON};
    struct trod_emit *e;
    size_t n;
    FILE *out = open_memstream(&f->count, &n);

    assert_non_null(out);
    assert_int_equal(trod_result_new(&r), TROD_OK);
    assert_int_equal(trod_run_result(f->run, 1, r), TROD_OK);
    trod_result_open(r, "info", NULL);
    assert_int_equal(trod_run_result(f->run, 2, r), TROD_OK);
    trod_result_close(r);
    assert_int_equal(trod_emit_new(&e, out, &opt), TROD_OK);
    trod_result_emit(r, e);
    trod_emit_free(e);
    trod_result_free(r);
    fclose(out);
    assert_int_equal(trod_buf_add(&f->problems, "", 1), TROD_OK);
}

static void found_free(struct found *f)
{
    trod_run_free(f->run);
    trod_buf_fini(&f->problems);
    free(f->count);
}

static struct found go(const char *path, const struct golden *g, unsigned jobs, uint64_t piece)
{
    struct found f;

    begin(&f, path, g, (struct trod_run_options){.jobs = jobs, .piece = piece});
    f.rc = trod_run_go(f.run);
    finish(&f);
    return f;
}

static void same(const struct golden *g, const struct found *want, const struct found *got,
                 bool problems, uint64_t piece)
{
    const struct rows *a = trod_run_state(want->run, 0), *b = trod_run_state(got->run, 0);

    prop_true(a->n == b->n && (a->n == 0 || memcmp(a->hash, b->hash, a->n * sizeof *a->hash) == 0),
              g, "rows of parts differ", piece);
    if (strcmp(want->count, got->count) != 0)
        fprintf(stderr, "one go:\n%s\nparts:\n%s\n", want->count, got->count);
    prop_true(strcmp(want->count, got->count) == 0, g, "counts of parts differ", piece);
    if (problems && strcmp((char *)want->problems.p, (char *)got->problems.p) != 0)
        print_error("one go:\n%s\nparts:\n%s\n", (char *)want->problems.p, (char *)got->problems.p);
    prop_true(!problems || (strcmp((char *)want->problems.p, (char *)got->problems.p) == 0 &&
                            want->rc == got->rc && want->diag.errors == got->diag.errors),
              g, "problems of parts differ", piece);
}

/* What `mix` finds and the problems, to be freed. NULL: it cannot read G's format. */
static char *mix_of(const char *const *paths, size_t n_paths, const struct golden *g, unsigned jobs,
                    uint64_t piece)
{
    const struct trod_analysis *mix = trod_analysis_find("mix", 3);
    const struct trod_run_options opt = {
        .jobs = jobs, .piece = piece, .trace = {.from = g->format->name}};

    return test_ran(paths, n_paths, &opt, &mix, 1);
}

static void same_mix(const char *const *paths, size_t n, const struct golden *g, const char *want,
                     unsigned jobs, uint64_t piece)
{
    char *got = want ? mix_of(paths, n, g, jobs, piece) : NULL;

    if (got && strcmp(want, got) != 0)
        fprintf(stderr, "one go:\n%s\nparts:\n%s\n", want, got);
    prop_true(!want || (got && strcmp(want, got) == 0), g, "the mix of parts differs", piece);
    free(got);
}

/* Parts I of N, each by a run of its own, saved and merged. */
static void by_hand(const char *path, const struct golden *g, const struct found *want, unsigned n)
{
    const uint64_t piece = 50;
    struct found all;

    begin(&all, path, g, (struct trod_run_options){.jobs = 1});
    for (unsigned i = 0; i < n; i++) {
        const struct trod_run_options opt = {
            .jobs = 1 + i % 3, .piece = piece, .part = i, .parts = n};
        struct found f;

        begin(&f, path, g, opt);
        trod_run_go(f.run);
        test_merge_part(all.run, f.run);
        found_free(&f);
    }
    finish(&all);
    same(g, want, &all, false, piece);
    found_free(&all);
}

/* Inputs that were really parted, and those whose parts go on from what came before: a test without
 * any shows nothing. */
static size_t parted, went_on;

static void all_ways(const struct golden *g, const uint8_t *p, size_t n)
{
    static const uint64_t pieces[] = {13, 100, 777}, owned_pieces[] = {200, 1600};
    char path[GOLDEN_PATH];
    const struct trod_run_options open = {.jobs = 1};
    struct trod_run *run;
    const char *paths = path;
    struct found want;
    char *mix;

    golden_write(g, p, n, path);
    if (test_refused(path, g->format->name)) {
        assert_true(p != g->data.p || g->damaged);
        unlink(path);
        return;
    }
    want = go(path, g, 1, 0);
    mix = mix_of(&paths, 1, g, 1, 0);
    if (trod_run_open(&run, &paths, 1, &open, NULL) == TROD_OK) {
        const bool packed = !g->format->parts;
        uint64_t cut[63];
        struct trod_candidate as;
        const size_t cuts = trod_trace_cuts(trod_run_trace(run), 0, 100, packed, cut, 63, &as) > 0;

        parted += cuts;
        if (g->format->parts)
            went_on += cuts;
        trod_run_free(run);
    }
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct found got = go(path, g, 2 + (unsigned)i % 3, pieces[i]);

        same(g, &want, &got, true, pieces[i]);
        if (i == n % 3) /* each takes a while */
            same_mix(&paths, 1, g, mix, 2 + (unsigned)i % 3, pieces[i]);
        found_free(&got);
    }
    free(mix);
    for (size_t i = 0; i < sizeof owned_pieces / sizeof *owned_pieces; i++)
        same_owners(path, g, 2 + (unsigned)i, owned_pieces[i]);
    by_hand(path, g, &want, 3);
    found_free(&want);
    unlink(path);
}

static void parts(const struct golden *g)
{
    if (prop_parted(g, true))
        prop_damaged(g, g->data.n + 11, DAMAGES, all_ways);
}

/* ---- compressed files of several members */

enum { PACKED = 3 << 20, MEMBER = 50000 };

static void put_le(struct trod_buf *b, uint64_t v, unsigned n)
{
    uint8_t p[8];

    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * i);
    assert_int_equal(trod_buf_add(b, p, n), TROD_OK);
}

/* RFC 1952, 8 */
static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* N bytes at P as members with the field "BC", in blocks that are stored (RFC 1951, 3.2.4). */
static void pack(struct trod_buf *b, const uint8_t *p, size_t n)
{
    static const uint8_t head[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0};

    while (n) {
        const size_t some = n < MEMBER ? n : MEMBER;

        assert_int_equal(trod_buf_add(b, head, sizeof head), TROD_OK);
        put_le(b, sizeof head + 2 + 5 + some + 8 - 1, 2);
        put_le(b, 1, 1);
        put_le(b, some | (~some & 0xffff) << 16, 4);
        assert_int_equal(trod_buf_add(b, p, some), TROD_OK);
        put_le(b, crc_of(p, some), 4);
        put_le(b, some, 4);
        p += some;
        n -= some;
    }
}

/* GOOD: a file without damage, which comes behind. */
static void packed_ways(const struct golden *g, const struct trod_buf *b, bool whole,
                        const char *good)
{
    char path[GOLDEN_PATH];
    const char *const both[] = {path, good};
    char *mix;
    const struct trod_run_options open = {.jobs = 1};
    const char *paths = path;
    struct trod_candidate as;
    struct trod_run *run;
    struct found want;
    uint64_t cut[63];

    golden_write(g, b->p, b->n, path);
    want = go(path, g, 1, 0);
    mix = mix_of(both, 2, g, 1, 0);
    if (whole) {
        assert_int_equal(trod_run_open(&run, &paths, 1, &open, NULL), TROD_OK);
        assert_true(trod_trace_cuts(trod_run_trace(run), 0, 1 << 20, true, cut, 63, &as) > 0);
        assert_int_equal(trod_trace_cuts(trod_run_trace(run), 0, 1 << 20, false, cut, 63, &as), 0);
        trod_run_free(run);
    }
    for (unsigned jobs = 2; jobs < 4; jobs++) {
        struct found got = go(path, g, jobs, 1 << 20);

        same(g, &want, &got, true, jobs);
        same_mix(both, 2, g, mix, jobs, 1 << 20);
        found_free(&got);
    }
    free(mix);
    found_free(&want);
    unlink(path);
}

static const struct trod_format *done[16]; /* formats that were really parted */

/* The file again and again, until it is long enough; once for each format. */
static void packed(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n + 5);
    struct trod_buf text = {0}, b = {0};
    char good[GOLDEN_PATH];
    size_t k = 0;

    while (k < 16 && done[k] && done[k] != g->format)
        k++;
    if (!prop_parted(g, false) || g->data.n < 100 || k == 16 || done[k] || g->damaged)
        return;
    done[k] = g->format;
    while (text.n < PACKED)
        assert_int_equal(trod_buf_add(&text, g->data.p, g->data.n), TROD_OK);
    pack(&b, text.p, text.n);
    golden_write(g, b.p, b.n, good);
    packed_ways(g, &b, true, good);
    for (int i = 0; i < DAMAGES; i++) {
        const size_t at = gen_below(&r, b.n);
        const uint8_t was = b.p[at];

        b.p[at] ^= (uint8_t)(1 + gen_below(&r, 255));
        packed_ways(g, &b, false, good);
        b.p[at] = was;
    }
    b.n -= gen_below(&r, b.n / 2);
    packed_ways(g, &b, false, good);
    unlink(good);
    trod_buf_fini(&text);
    trod_buf_fini(&b);
}

static void test_packed(void **state)
{
    (void)state;
    golden_each(0, packed);
    assert_true(done[0] && done[1] && done[2]); /* byu6, matcher, tarmac */
}

/* What a drmemtrace file of one thread begins with. */
static void begin_thread(struct golden *g)
{
    static const uint64_t head[][3] = {{25, 0, 6}, {28, 12, 6}, {28, 9, 0x40}, {22, 0, 7},
                                       {24, 0, 7}, {28, 2, 9},  {28, 3, 1}};

    g->format = trod_format_find("drmemtrace", 10);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        drm_put(&g->data, 12, (unsigned)head[i][0], (unsigned)head[i][1], head[i][2]);
}

/* Parts that begin inside a window and have the beginning of the next one. */
static void windows(void)
{
    char name[] = "drmemtrace, windows";
    struct golden g = {.name = name};

    begin_thread(&g);
    for (unsigned i = 0; i < 300; i++) {
        drm_put(&g.data, 12, 10, 4, 0x10000 + 4 * (i % 50));
        if (i % 7 == 3)
            drm_put(&g.data, 12, 28, TROD_DRM_WINDOW_ID, i / 7);
    }
    drm_put(&g.data, 12, 23, 0, 7);
    drm_put(&g.data, 12, 26, 0, 0);
    all_ways(&g, g.data.p, g.data.n);
    trod_buf_fini(&g.data);
}

/*
 * A drmemtrace file of one thread, of instructions and what they read, in parts that go on from
 * what came before: of random rows few have instructions in several parts.
 */
static void chained_owners(void)
{
    struct golden g = {.format = NULL};
    struct trod_gen r = gen_seed(77);
    char path[GOLDEN_PATH], name[] = "drmemtrace, reads";

    g.name = name;
    begin_thread(&g);
    for (unsigned i = 0; i < 2000; i++) {
        drm_put(&g.data, 12, 10, 4, 0x10000 + 4 * gen_below(&r, 700));
        for (uint64_t k = gen_below(&r, 4); k > 0; k--)
            drm_put(&g.data, 12, 0, 8, gen_wide(&r) >> 17);
    }
    drm_put(&g.data, 12, 23, 0, 7);
    drm_put(&g.data, 12, 26, 0, 0);
    golden_write(&g, g.data.p, g.data.n, path);
    for (unsigned jobs = 2; jobs < 5; jobs++)
        same_owners(path, &g, jobs, 1600 * jobs);
    unlink(path);
    trod_buf_fini(&g.data);
}

static void test_parts(void **state)
{
    (void)state;
    golden_each(GENERATED, parts);
    windows();
    chained_owners();
    assert_true(parted > 10 && went_on > 10);
    assert_true(owned_parted[0] > 10 && owned_parted[1] > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_packed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
