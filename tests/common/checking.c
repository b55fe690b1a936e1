/*
 * checking.c - see checking.h.
 */
#include "checking.h"

#include "trod/analysis.h"
#include "trod/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trod_analysis *analysis(void)
{
    const struct trod_analysis *a = trod_analysis_find("check", 5);

    if (!a)
        test_die("there is no analysis 'check'");
    return a;
}

struct trod_buf check_bytes(const struct check_data *d)
{
    struct trod_buf out = {0};

    for (size_t i = 0; i < d->n; i++) {
        if (d->form == FORM_ENTRIES) {
            const struct drm_raw *e = (const struct drm_raw *)d->p + i;

            drm_put(&out, 12, e->type, e->size, e->addr);
        } else if (d->form == FORM_WORDS) {
            uint32_t w = ((const uint32_t *)d->p)[i];
            const uint8_t b[4] = {(uint8_t)(w >> 24), (uint8_t)(w >> 16), (uint8_t)(w >> 8),
                                  (uint8_t)w};

            if (trod_buf_add(&out, b, 4) < 0)
                test_die("no memory");
        } else {
            if (trod_buf_add(&out, d->p, d->n) < 0)
                test_die("no memory");
            break;
        }
    }
    return out;
}

void *check_state(void)
{
    void *st = calloc(1, analysis()->state_size);

    if (!st)
        test_die("no memory");
    return st;
}

void check_release(void *st)
{
    analysis()->fini(st);
    free(st);
}

struct told {
    void *st;
    uint64_t n;
};

static void tell(void *user, const struct trod_problem *p)
{
    struct told *t = user;

    if (p->severity == TROD_SEV_ERROR)
        t->n++;
    if (trod_check_problem(t->st, p, 0, 1) < 0)
        test_die("no memory");
}

/* Findings by rule, with the first message of each. */
static void describe(struct check_counts *c, const void *st)
{
    size_t at = 0;

    c->total = trod_check_total(st, TROD_RULE_NOTE);
    for (size_t i = 0; trod_rule_at(i); i++) {
        uint64_t n = trod_check_count(st, trod_rule_at(i));
        const struct trod_finding *f;
        size_t k = 0;

        if (n == 0)
            continue;
        while ((f = trod_check_finding(st, k)) && f->rule != trod_rule_at(i))
            k++;
        if (at < sizeof c->text)
            at += (size_t)snprintf(c->text + at, sizeof c->text - at, "%s %" PRIu64 " (%s); ",
                                   trod_rule_at(i)->id, n, f ? f->message : "none kept");
    }
}

struct check_counts check_memory(void *st, const char *from, const void *p, size_t n, uint32_t rows)
{
    const struct trod_reader_options opt = {.from = from, .input.no_thread = true};
    const struct trod_analysis *a = analysis();
    struct check_counts c = {0};
    struct told told = {.st = st};
    struct trod_reader *r = NULL;
    struct trod_input *in = NULL;
    struct trod_diag diag;
    struct trod_meta meta;
    const struct trod_context context = {
        .meta = &meta, .diag = &diag, .stream = TROD_ALL_STREAMS, .shards = 1};
    struct trod_batch *b;

    trod_diag_init(&diag, tell, &told);
    trod_meta_init(&meta);
    if (trod_batch_new(&b, rows ? rows : TROD_BATCH_ROWS) < 0 ||
        a->init(st, a->defaults, &context) < 0)
        test_die("cannot begin to check");
    if (trod_input_memory(&in, p, n, "memory", &opt.input, &diag) == 0 &&
        trod_reader_open(&r, in, &opt, &meta, &diag) == 0) {
        b->want = a->uses_of(trod_reader_format(r)->name, NULL);
        if (rows && b->cap < trod_reader_format(r)->record_rows) {
            trod_batch_free(b);
            if (trod_batch_new(&b, trod_reader_format(r)->record_rows) < 0)
                test_die("no memory");
            b->want = a->uses_of(trod_reader_format(r)->name, NULL);
        }
        while (trod_reader_next(r, b) == 1)
            if (a->feed(st, b, 0, b->n) < 0)
                test_die("no memory");
        a->settle(st, 0);
        trod_reader_close(r);
    }
    c.problems = told.n;
    describe(&c, st);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return c;
}

/* What is saved and loaded is the same, and merging it into nothing gives it again. */
static unsigned saved(const void *st, const struct check_counts *want, const char *what)
{
    const struct trod_analysis *a = analysis();
    struct trod_buf once = {0}, twice = {0};
    struct check_counts c = {0};
    void *loaded = check_state(), *into = check_state();
    struct trod_meta meta;
    const struct trod_context context = {.meta = &meta, .stream = TROD_ALL_STREAMS, .shards = 1};
    unsigned wrong = 0;

    trod_meta_init(&meta);
    if (a->save(st, &once) < 0 || a->init(into, a->defaults, &context) < 0)
        test_die("cannot save");
    if (a->load(loaded, (struct trod_span){.p = once.p, .n = once.n}, NULL) < 0 ||
        a->merge(into, loaded) < 0 || a->save(into, &twice) < 0)
        wrong++;
    describe(&c, into);
    wrong += c.total != want->total || strcmp(c.text, want->text) != 0 || once.n != twice.n ||
             memcmp(once.p, twice.p, once.n) != 0;
    if (wrong)
        fprintf(stderr, "%s: saved and loaded it is '%s', not '%s'\n", what, c.text, want->text);
    check_release(loaded);
    check_release(into);
    trod_buf_fini(&once);
    trod_buf_fini(&twice);
    trod_meta_fini(&meta);
    return wrong;
}

/* One trace: RULE exactly once, or (NULL) nothing. */
static unsigned run(const struct check_pair *pair, const struct check_data *d, const char *rule)
{
    static const uint32_t rows[] = {0, 1, 3};
    struct trod_buf bytes = check_bytes(d);
    char want[200], first[2000] = "";
    unsigned wrong = 0;

    snprintf(want, sizeof want, "%s 1 (", rule ? rule : "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *st = check_state();
        struct check_counts c = check_memory(st, pair->from, bytes.p, bytes.n, rows[i]);
        bool ok = rule ? c.total == 1 && strncmp(c.text, want, strlen(want)) == 0 : c.total == 0;

        if (i == 0)
            snprintf(first, sizeof first, "%s", c.text);
        if (!ok || strcmp(first, c.text) != 0) {
            fprintf(stderr, "%s, %s trace, batches of %u: '%s'\n", pair->rule,
                    rule ? "bad" : "good", rows[i], c.text);
            wrong++;
        }
        wrong += saved(st, &c, pair->rule);
        check_release(st);
    }
    trod_buf_fini(&bytes);
    return wrong;
}

unsigned check_pairs(const struct check_pair *pairs, size_t n, const char *prefix)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++) {
        if (!trod_rule_find(pairs[i].rule, strlen(pairs[i].rule))) {
            fprintf(stderr, "there is no rule %s\n", pairs[i].rule);
            wrong++;
            continue;
        }
        wrong += run(&pairs[i], &pairs[i].bad, pairs[i].rule);
        wrong += run(&pairs[i], &pairs[i].good, NULL);
    }
    for (size_t k = 0; trod_rule_at(k); k++) {
        const char *id = trod_rule_at(k)->id;
        size_t i = 0;

        if (strncmp(id, prefix, strlen(prefix)) != 0)
            continue;
        while (i < n && strcmp(pairs[i].rule, id) != 0)
            i++;
        if (i == n) {
            fprintf(stderr, "rule %s has no pair of traces\n", id);
            wrong++;
        }
    }
    return wrong;
}
