/*
 * open.c - a trace to move about in: opening, scanning, rows that stay decoded.
 *
 * Implements nav.h and the first part of trod/navigate.h.
 */
#include "navigate/attach.h"

#include "core/sized.h"
#include "io/points.h"
#include "trace/mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LOOK = 1 << 20,  /* rows in which the instruction set must show */
    SMALL = 4 << 20, /* bytes of a trace that is read before a thread that reads ahead has begun */
    SHORT = 1 << 17  /* bytes of a window where a few thousand rows are read */
};

static int copy_paths(struct trod_nav *nav, const char *const *paths, size_t n)
{
    nav->paths = calloc(n + 1, sizeof *nav->paths);
    if (!nav->paths)
        return TROD_ERR_NOMEM;
    for (nav->n_paths = 0; nav->n_paths < n; nav->n_paths++) {
        size_t len = strlen(paths[nav->n_paths]) + 1;

        if (!(nav->paths[nav->n_paths] = malloc(len)))
            return TROD_ERR_NOMEM;
        memcpy(nav->paths[nav->n_paths], paths[nav->n_paths], len);
    }
    return TROD_OK;
}

static int open_trace(struct trod_nav *nav, struct trod_trace **out, struct trod_diag *diag)
{
    return trod_trace_open(out, (const char *const *)nav->paths, nav->n_paths, &nav->topt, diag);
}

/*
 * Read on until the instruction set is known: names of registers depend on it. Another trace does
 * that, whose problems are nobody's: they are reported when its rows are asked for.
 */
static int learn_isa(struct trod_nav *nav)
{
    struct trod_batch *b;
    struct trod_trace *t;
    uint64_t rows = 0;
    int rc;

    if (trod_trace_meta(nav->trace)->isa != TROD_ISA_UNKNOWN)
        return TROD_OK;
    rc = open_trace(nav, &t, NULL);
    if (rc < 0)
        return rc;
    while (trod_trace_meta(t)->isa == TROD_ISA_UNKNOWN && rows < LOOK &&
           (rc = trod_trace_next(t, &b)) > 0)
        rows += b->n;
    trod_trace_close(nav->trace);
    nav->trace = t;
    return rc == TROD_ERR_NOMEM ? rc : TROD_OK;
}

static int begin_registers(struct trod_nav *nav)
{
    const struct trod_meta *meta = trod_nav_meta(nav);
    const enum trod_isa isa = nav->index ? nav->index->names.isa : meta->isa;
    const enum trod_endian endian = nav->index ? nav->index->endian : meta->endian;
    const struct trod_format *f = trod_nav_format(nav);

    nav_names_init(&nav->names, isa);
    for (uint32_t i = 0; nav->index && i < nav->index->names.n; i++)
        if (nav_names_find(&nav->names, nav->index->names.at[i].text, true) != i)
            return TROD_ERR_NOMEM;
    if ((!f || f->reads & TROD_COL_CODE) && isa != TROD_ISA_UNKNOWN && isa != TROD_ISA_REGDEPS &&
        trod_insn_decoder_new(&nav->insn, isa, endian) == TROD_ERR_NOMEM)
        return TROD_ERR_NOMEM;
    return TROD_OK;
}

bool nav_distrust(struct trod_nav *nav, int rc)
{
    struct nav_index *x = nav->index;

    if (rc != TROD_ERR_CORRUPT || !x || !x->checked[x->n_sections])
        return false;
    trod_warning(nav->diag, TROD_OK, "index.not-used", NULL,
                 "index '%s' is not used: it is damaged; make it again with 'trod index'", x->path);
    nav->dropped = x;
    nav->index = NULL;
    nav->rows = TROD_NOWHERE;
    nav->reported = 0;
    nav->steps->n = 0;
    nav->cache.n = 0;
    nav_kept_forget(&nav->keep);
    return learn_isa(nav) == TROD_OK;
}

int nav_once_only(const char *const *paths, size_t n, struct trod_diag *diag)
{
    struct stat st;

    for (size_t i = 0; i < n; i++) {
        const struct trod_place at = trod_place_path(paths[i]);

        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &st) != 0)
            return trod_error(diag, TROD_ERR_IO, "io.open", &at, "cannot open '%s': %s", paths[i],
                              strerror(errno));
    }
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "navigate.pipe", NULL,
                      "a pipe can be read only once: save the trace to a file first");
}

/* What the user is reported is about the trace, also when no scan is under way. */
static void name_trace(struct trod_nav *nav)
{
    if (nav->diag && !nav->diag->path && nav->n_paths == 1)
        nav->diag->path = nav->paths[0];
}

int trod_nav_open(struct trod_nav **out, const char *const *paths, size_t n,
                  const struct trod_nav_options *opt, struct trod_diag *diag)
{
    struct trod_nav_options own;
    struct trod_nav *nav;
    int rc;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, offsetof(struct trod_nav_options, tick), opt))
        return trod_error(diag, TROD_ERR_USAGE, "navigate.options", NULL,
                          "options are of another version");
    if (!(nav = calloc(1, sizeof *nav)))
        return TROD_ERR_NOMEM;
    nav->diag = diag;
    nav->rows = TROD_NOWHERE;
    nav->symbols = own.symbols;
    nav->tick = own.tick;
    nav->tick_user = own.tick_user;
    if (own.trace)
        nav->topt = *own.trace;
    nav->topt.want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    nav->topt.skip_rows = nav->topt.skip_instructions = 0;
    nav->topt.batch_rows = 0;
    nav->steps = calloc(1, sizeof *nav->steps);
    rc = nav->steps ? copy_paths(nav, paths, n) : TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = open_trace(nav, &nav->trace, diag);
    if (rc == TROD_OK) {
        struct trod_trace_progress p;

        trod_trace_progress(nav->trace, &p);
        nav->topt.input.no_thread |= p.total < SMALL;
    }
    if (rc == TROD_OK && !trod_trace_rewindable(nav->trace))
        rc = nav_once_only(paths, n, diag);
    if (rc == TROD_OK) {
        const struct trod_meta *meta = trod_trace_meta(nav->trace);

        nav->n_files = trod_trace_files(nav->trace);
        nav->known =
            (struct trod_candidate){trod_trace_format(nav->trace), meta->dialect, meta->bits};
        if (!own.no_index)
            rc = nav_attach(nav, own.index_dir);
    }
    if (rc == TROD_OK && !nav->index)
        rc = own.index_only ? TROD_ERR_UNKNOWN : learn_isa(nav);
    if (rc == TROD_OK)
        rc = begin_registers(nav);
    if (rc < 0) {
        trod_nav_close(nav);
        return rc;
    }
    name_trace(nav);
    *out = nav;
    return TROD_OK;
}

void trod_nav_close(struct trod_nav *nav)
{
    if (!nav)
        return;
    if (nav->diag && nav->n_paths == 1 && nav->diag->path == nav->paths[0])
        nav->diag->path = NULL;
    for (unsigned i = 0; i < NAV_CACHE; i++)
        trod_batch_free(nav->cache.batch[i]);
    nav_kept_fini(&nav->keep);
    nav_begin_free(nav->begin);
    nav_shape_choice_free(nav->shape_choice);
    nav_tallied_forget(nav);
    nav_class_choice_free(nav->class_choice);
    trod_insn_decoder_free(nav->insn);
    nav_names_fini(&nav->names);
    nav_index_close(nav->index);
    nav_index_close(nav->dropped);
    if (nav->steps)
        nav_steps_fini(nav->steps);
    free(nav->steps);
    trod_trace_close(nav->trace);
    for (size_t i = 0; i < nav->n_paths; i++)
        free(nav->paths[i]);
    free(nav->paths);
    free(nav);
}

const struct trod_meta *trod_nav_meta(const struct trod_nav *nav)
{
    return nav->index ? &nav->index->meta : trod_trace_meta(nav->trace);
}

void trod_nav_stream_name(const struct trod_nav *nav, uint32_t stream, char *out, size_t size)
{
    const struct trod_meta *meta = trod_nav_meta(nav);
    const struct trod_stream *s = stream < meta->n_streams ? &meta->streams[stream] : NULL;

    if (s && s->name_len)
        snprintf(out, size, "%.*s", (int)s->name_len, s->name);
    else if (s && s->tid != TROD_NOWHERE)
        snprintf(out, size, "%llu", (unsigned long long)s->tid);
    else
        snprintf(out, size, "#%u", stream);
}

const struct trod_format *trod_nav_format(const struct trod_nav *nav)
{
    return trod_trace_format(nav->trace);
}

/* What a scan reports goes on to the user, if no scan before came as far. */
static void relay(void *user, const struct trod_problem *p)
{
    struct trod_nav *nav = user;

    if (nav->reading >= nav->reported)
        trod_diag_report(nav->diag, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

/* The scan over T is over: names of streams are those of the scan that came farthest. */
static void end_scan(struct trod_nav *nav, struct trod_trace *t)
{
    if (nav->reading > nav->reported)
        nav->reported = nav->reading;
    if (!nav->index && trod_trace_meta(t)->n_streams > trod_trace_meta(nav->trace)->n_streams) {
        struct trod_trace *before = nav->trace;

        nav->trace = t;
        t = before;
    }
    if (!nav->keep.spare)
        nav->keep.spare = trod_trace_last_batch(t);
    trod_trace_close(t);
    name_trace(nav);
}

int nav_open_at(struct trod_nav *nav, uint64_t row, struct trod_trace **out, uint64_t *at,
                struct trod_diag *diag)
{
    const struct nav_index *x = nav->index;
    struct trod_trace_options topt = nav->topt;
    struct trod_point *point = NULL;
    struct trod_mark m = {0};
    size_t k = 0, i = 0;
    int rc = TROD_OK;

    *at = 0;
    if (x && x->n_blocks) {
        k = nav_block_of(nav, row);
        rc = nav_steps_load(nav->steps, x, k);
        i = rc == TROD_OK ? nav_steps_find(nav->steps, row) : 0;
        if (rc == TROD_OK && (k || i))
            rc = nav_index_mark(x, &k, i, nav->steps, &m, &point);
        *at = m.rows;
    }
    topt.input.no_thread |= *at > 0;
    if (*at && nav->window)
        topt.input.window = nav->window;
    if (rc == TROD_OK && nav->n_files == 1)
        rc = trod_trace_open_known(out, nav->trace, 0, topt.from ? NULL : &nav->known, &topt.input,
                                   &nav->keep.spare, diag);
    else if (rc == TROD_OK)
        rc = trod_trace_open(out, (const char *const *)nav->paths, nav->n_paths, &topt, diag);
    if (rc < 0 || *at == 0) {
        free(point);
        return rc;
    }
    rc = trod_trace_resume(*out, &m, &x->meta);
    free(point);
    if (rc < 0) {
        trod_trace_close(*out);
        rc = trod_error(nav->diag, rc, "index.damaged", NULL,
                        "index '%s' does not fit its trace: make it again with 'trod index'",
                        x->path);
    }
    return rc;
}

/* Tell the user that ROW is reached. A question from there would take what this one has read. */
static int tick(struct trod_nav *nav, uint64_t row)
{
    int rc;

    if (!nav->tick)
        return TROD_OK;
    nav->ticking = true;
    rc = nav->tick(nav->tick_user, row);
    nav->ticking = false;
    return rc;
}

/* FN gets the rows from *FROM on that stayed decoded, up to END. Returns what it returned last. */
static int scan_kept(struct trod_nav *nav, uint64_t *from, uint64_t end, trod_nav_rows_fn fn,
                     void *user)
{
    struct trod_batch *b;
    int rc = 1;

    while (rc > 0 && *from < end && (b = nav_kept_find(nav, *from))) {
        const uint64_t row = *from;
        const uint32_t i = (uint32_t)(row - b->first),
                       n = end - row < b->n - i ? (uint32_t)(end - row) : b->n - i;

        b->meta = &nav->index->meta;
        *from += n;
        if ((rc = tick(nav, *from)) < 0)
            break;
        rc = fn(user, b, i, n, row);
    }
    return rc;
}

/* Where the step ends that END lies in, of a scan from FROM on inside a block; 0: of no use. */
static uint64_t stop_of(struct trod_nav *nav, uint64_t from, uint64_t end)
{
    uint64_t first, stop;

    if (!nav->index || nav_block_of(nav, from) != nav_block_of(nav, end - 1) ||
        nav_step_of(nav, end - 1, NAV_ALL_STEPS, &first, &stop) < 0)
        return 0;
    return stop;
}

static int scan(struct trod_nav *nav, uint64_t from, uint64_t end, trod_nav_rows_fn fn, void *user)
{
    const uint64_t stop = stop_of(nav, from, end);
    struct trod_trace *t;
    struct trod_batch *b;
    unsigned kept = 0;
    uint64_t row;
    int rc;

    nav->reading = 0;
    nav->keep.scans++;
    trod_diag_init(&nav->relay, relay, nav);
    nav->relay.strict = nav->diag && nav->diag->strict;
    nav->window = stop ? SHORT : 0;
    rc = nav_open_at(nav, from, &t, &row, &nav->relay);
    nav->window = 0;
    if (rc < 0)
        return rc;
    for (;;) {
        uint64_t first = row;
        uint32_t i, n;

        if (row < stop && stop - row < TROD_BATCH_ROWS)
            trod_trace_limit(t, (uint32_t)(stop - row));
        if (row >= end || (rc = trod_trace_next(t, &b)) < 0)
            break;
        if (rc == 0) {
            nav->rows = row;
            nav->reading = TROD_NOWHERE;
            break;
        }
        i = from > row ? (from - row < b->n ? (uint32_t)(from - row) : b->n) : 0;
        n = end - row < b->n ? (uint32_t)(end - row) : b->n;
        row += b->n;
        nav->reading = row;
        if ((rc = tick(nav, row)) < 0)
            break;
        rc = i < n ? fn(user, b, i, n - i, first + i) : 1;
        nav_kept_put(nav, t, b, first, from, rc <= 0 || row >= end, &kept);
        if (rc <= 0)
            break;
    }
    end_scan(nav, t);
    return rc < 0 ? rc : TROD_OK;
}

int nav_scan(struct trod_nav *nav, uint64_t from, uint64_t end, trod_nav_rows_fn fn, void *user)
{
    int rc;

    if (nav->ticking)
        return TROD_ERR_USAGE;
    if (from >= end || (nav->rows != TROD_NOWHERE && from >= nav->rows))
        return TROD_OK;
    rc = scan_kept(nav, &from, end, fn, user);
    if (rc <= 0 || from >= end || (nav->rows != TROD_NOWHERE && from >= nav->rows))
        return rc < 0 ? rc : TROD_OK;
    return scan(nav, from, end, fn, user);
}

/* ---- rows that stay decoded */

struct keeping {
    struct nav_cache *cache;
};

static int keep(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct nav_cache *c = ((struct keeping *)user)->cache;

    while (n) {
        struct trod_batch *to = c->n ? c->batch[c->n - 1] : NULL;
        uint32_t some = 0;

        if (to && to->n < to->cap && to->first + to->n == row) {
            to->meta = b->meta;
            some = trod_batch_append(to, b, i, n);
        }
        i += some;
        row += some;
        n -= some;
        if (!n)
            break;
        if (c->n == NAV_CACHE)
            return 0;
        if (!c->batch[c->n] && trod_batch_new(&c->batch[c->n], TROD_BATCH_ROWS) < 0)
            return TROD_ERR_NOMEM;
        to = c->batch[c->n];
        trod_batch_clear(to);
        to->want = TROD_COL_ALL;
        to->first = row;
        to->meta = b->meta;
        if (trod_batch_append(to, b, i, 1) == 0)
            return TROD_ERR_LIMIT;
        c->n++;
        i++;
        row++;
        n--;
    }
    return 1;
}

static bool cached(const struct nav_cache *c, uint64_t row, const struct trod_batch **b,
                   uint32_t *i)
{
    for (unsigned k = 0; k < c->n; k++)
        if (row >= c->batch[k]->first && row - c->batch[k]->first < c->batch[k]->n) {
            *b = c->batch[k];
            *i = (uint32_t)(row - c->batch[k]->first);
            return true;
        }
    return false;
}

/* Row ROW, where it stayed decoded; it stays until another one is asked for. */
static bool kept(struct trod_nav *nav, uint64_t row, const struct trod_batch **b, uint32_t *i)
{
    struct trod_batch *found = nav_kept_find(nav, row);

    if (!found)
        return false;
    found->meta = NULL; /* as of rows without an index */
    nav->keep.held = *b = found;
    *i = (uint32_t)(row - found->first);
    return true;
}

static int pass(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    (void)user;
    (void)b;
    (void)i;
    (void)n;
    (void)row;
    return 1;
}

static int find_row(struct trod_nav *nav, uint64_t row, const struct trod_batch **b, uint32_t *i)
{
    const uint64_t before = nav->index ? NAV_BEFORE : NAV_AROUND,
                   behind = nav->index ? NAV_BEHIND : NAV_AROUND;
    struct keeping k = {&nav->cache};
    int rc;

    if (nav->ticking)
        return TROD_ERR_USAGE;
    if (kept(nav, row, b, i) || cached(&nav->cache, row, b, i))
        return 1;
    if (nav->index && row < TROD_NOWHERE) {
        nav->keep.row = true;
        rc = nav_scan(nav, row, row + 1, pass, NULL);
        nav->keep.row = false;
        if (rc < 0 || kept(nav, row, b, i))
            return rc < 0 ? rc : 1;
    }
    nav->cache.n = 0;
    rc = nav_scan(nav, row > before ? row - before : 0,
                  row < TROD_NOWHERE - behind ? row + behind : TROD_NOWHERE, keep, &k);
    for (unsigned j = 0; j < nav->cache.n; j++)
        nav->cache.batch[j]->meta = NULL;
    if (rc < 0)
        return rc;
    return cached(&nav->cache, row, b, i);
}

int trod_nav_row(struct trod_nav *nav, uint64_t row, const struct trod_batch **b, uint32_t *i)
{
    const int rc = find_row(nav, row, b, i);

    return nav_distrust(nav, rc) ? find_row(nav, row, b, i) : rc;
}

int trod_nav_count(struct trod_nav *nav, uint64_t *rows)
{
    int rc = nav->ticking                ? TROD_ERR_USAGE
             : nav->rows == TROD_NOWHERE ? nav_scan(nav, 0, TROD_NOWHERE, pass, NULL)
                                         : TROD_OK;

    *rows = nav->rows == TROD_NOWHERE ? 0 : nav->rows;
    return rc;
}
