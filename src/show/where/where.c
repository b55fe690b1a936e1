/*
 * where.c - an expression from its text to rows. Implements trod/where.h.
 */
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "show/where/where_int.h"

static int rooms(struct trod_where *w)
{
    w->mask = calloc((size_t)w->n_masks, sizeof *w->mask);
    w->number = calloc((size_t)w->n_numbers + 1, sizeof *w->number);
    w->scratch = malloc(WHERE_SCRATCH);
    if (w->places) {
        w->pc = malloc(TROD_BATCH_ROWS * sizeof *w->pc);
        w->has_pc = malloc(TROD_BATCH_ROWS);
        if (!w->pc || !w->has_pc)
            return TROD_ERR_NOMEM;
    }
    return w->mask && w->number && w->scratch ? 0 : TROD_ERR_NOMEM;
}

/* What is left of an expression, whose texts T has, to *OUT. */
static int part(struct trod_where **out, const struct where_tree *t, int root)
{
    int r;

    if (!(*out = calloc(1, sizeof **out)))
        return TROD_ERR_NOMEM;
    r = where_emit(*out, t, root);
    return r < 0 ? r : rooms(*out);
}

/* What W, of which T is the tree, says of what rows look like, and of their classes. */
static int parts(struct trod_where *w, struct where_tree *t, int root)
{
    const size_t n = (size_t)t->n * sizeof *t->node;
    struct where_node *kept = malloc(n);
    bool any = false;
    int r = kept ? TROD_OK : TROD_ERR_NOMEM;

    if (r == TROD_OK) {
        memcpy(kept, t->node, n);
        if (where_loosen(t, root, true, where_goes_by_shape, &any))
            r = part(&w->shapes, t, root);
        memcpy(t->node, kept, n);
        any = false;
        w->more = where_loosen(t, root, true, where_goes_by_class, &any);
        if (r == TROD_OK && any)
            r = part(&w->classes, t, root);
    }
    free(kept);
    return r;
}

static int compile(struct trod_where *w, const char *text, struct trod_diag *diag)
{
    struct where_tree *t = calloc(1, sizeof *t);
    struct where_lexer x = {.diag = diag};
    int root;

    w->text = malloc(strlen(text) + 1);
    w->strings = malloc(2 * strlen(text) + 2);
    if (!t || !w->text || !w->strings) {
        free(t);
        return TROD_ERR_NOMEM;
    }
    memcpy(w->text, text, strlen(text) + 1);
    x.text = t->text = w->text;
    x.strings = w->strings;
    t->symbols = w->symbols;
    t->diag = diag;
    root = where_parse(t, &x);
    if (root >= 0) {
        int r = where_check(t, root);

        if (r == 0)
            r = where_emit(w, t, root);
        if (r == 0) {
            w->need = where_need(t, root);
            t->plain = true;
            w->plain = where_need(t, root);
            w->exact = where_exact(t, root);
        }
        if (r == 0)
            r = parts(w, t, root);
        root = r;
    }
    free(t);
    return root;
}

int trod_where_new(struct trod_where **out, const char *text, const struct trod_where_options *opt,
                   struct trod_diag *diag)
{
    struct trod_where_options own;
    struct trod_where *w;
    int r;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return trod_error(diag, TROD_ERR_USAGE, "where.options", NULL,
                          "options are of another version");
    w = calloc(1, sizeof *w);
    if (!w)
        return TROD_ERR_NOMEM;
    w->symbols = own.symbols;
    r = compile(w, text, diag);
    if (r == 0)
        r = rooms(w);
    if (r == 0)
        *out = w;
    else
        trod_where_free(w);
    return r;
}

static void free_test(struct where_test *x)
{
    if (!x)
        return;
    if (x->has_regex)
        regfree(&x->regex);
    free(x->cached);
    free(x->places);
    free(x->stream);
    free(x);
}

void trod_where_free(struct trod_where *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_tests; i++)
        free_test(w->test[i]);
    for (size_t i = 0; i < w->n_sets; i++)
        free(w->set[i].item);
    free(w->test);
    free(w->set);
    free(w->ranges);
    free(w->step);
    free(w->mask);
    free(w->number);
    free(w->stream_number);
    free(w->executed);
    free(w->has_pc);
    free(w->pc);
    trod_where_free(w->shapes);
    trod_where_free(w->classes);
    trod_disasm_free(w->disasm);
    trod_insn_decoder_free(w->decoder);
    free(w->scratch);
    free(w->strings);
    free(w->text);
    free(w);
}

uint32_t trod_where_want(const struct trod_where *w)
{
    return w->want;
}

uint64_t trod_where_last(const struct trod_where *w)
{
    return w->last;
}

bool where_apart(const struct trod_where *w)
{
    return w->last == TROD_NOWHERE && !w->places;
}

/* ---- streams: judged once each */

/* The number of stream I: what --stream takes for it. */
static uint64_t number_of(const struct trod_meta *m, uint32_t i)
{
    const struct trod_stream *s = &m->streams[i];
    uint64_t number;
    char name[24];

    if (s->tid != TROD_NOWHERE)
        return s->tid;
    if (s->name_len && s->name_len < sizeof name) {
        memcpy(name, s->name, s->name_len);
        name[s->name_len] = 0;
        if (trod_option_number(name, &number) == 0)
            return number;
    }
    return i;
}

static bool stream_passes(const struct where_test *x, const struct trod_meta *m, uint32_t i)
{
    char name[SHOW_NAME_MAX + 32];
    struct trod_batch b = {.stream = &i};
    uint32_t row = 0;

    for (size_t k = 0; k < x->n; k++)
        if (match_is_stream(m, i, x->item[k]))
            return true;
    if (!x->has_regex)
        return false;
    *show_put_stream(&b, row, m, name) = '\0';
    return regexec(&x->regex, name, 0, NULL, 0) == 0;
}

static int judge_streams(struct trod_where *w, const struct trod_meta *m)
{
    const uint32_t n = m ? m->n_streams : 0;

    if (w->streams && w->n_streams < n) {
        uint64_t *p = realloc(w->stream_number, n * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        w->stream_number = p;
        for (uint32_t i = w->n_streams; i < n; i++)
            p[i] = number_of(m, i);
        w->n_streams = n;
    }
    for (size_t k = 0; k < w->n_tests; k++) {
        struct where_test *x = w->test[k];
        uint8_t *p;

        if (x->column != COL_STREAM || x->n_streams >= n)
            continue;
        if (!(p = realloc(x->stream, n)))
            return TROD_ERR_NOMEM;
        x->stream = p;
        for (uint32_t i = x->n_streams; i < n; i++)
            p[i] = stream_passes(x, m, i) ? VERDICT_YES : VERDICT_NO;
        x->n_streams = n;
    }
    return 0;
}

/* ---- batches */

static int judge_tile(const struct where_tile *t, uint8_t *keep)
{
    struct where_mask *mask = t->w->mask;
    int n = 0;

    memset(mask, 0, sizeof *mask);
    for (uint32_t i = 0; i < t->n; i++)
        mask->w[i / 64] |= (uint64_t)keep[i] << (i % 64);
    where_run(t);
    for (uint32_t i = 0; i < t->n; i++) {
        keep[i] = mask[1].w[i / 64] >> (i % 64) & 1;
        n += keep[i];
    }
    return n;
}

int trod_where_batch(struct trod_where *w, const struct trod_batch *b, uint64_t first,
                     uint8_t *keep)
{
    int n = 0, r = judge_streams(w, b->meta);

    w->show.meta = b->meta;
    if (r == 0 && w->places)
        r = where_owners(w, b);
    if (r < 0)
        return r;
    for (uint32_t at = 0; at < b->n; at += WHERE_TILE) {
        const struct where_tile t = {w, b, first, at,
                                     b->n - at < WHERE_TILE ? b->n - at : WHERE_TILE};

        n += judge_tile(&t, keep + at);
    }
    return n;
}
