/*
 * units.c - the files of a trace as pieces of work for several threads.
 *
 * Each file, group of archive members, or part of a plain file, is a unit. It has its own trace and
 * states, and keeps its problems until it is merged. Threads take units in order; a thread that
 * finishes one merges all units whose turn it is. No unit is read far ahead of the merging, so that
 * memory does not depend on the number of files.
 */
#include "engine/run_int.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

/*
 * AHEAD: units, for each worker, that may be in work or wait to be merged. RECORDED: bytes that a
 * unit may record before it waits for the units before it.
 */
enum { AHEAD = 2, RECORDED = 64 << 20 };

/* A unit that is to read piece NUMBER. NULL: no memory. */
static struct run_unit *unit_new(const struct trod_run *r, size_t number)
{
    struct run_unit *u = calloc(1, sizeof *u);

    if (u) {
        u->number = number;
        trod_keeper_init(&u->keeper, r->diag && r->diag->strict);
    }
    return u;
}

/* Release what U has but its trace; TELL: report the problems that it kept. */
static void unit_end(struct trod_run *r, struct run_unit *u, bool tell)
{
    trod_keeper_end(&u->keeper, tell ? r->diag : NULL);
    for (size_t i = 0; i < r->n_items; i++)
        engine_instance_end(&u->instance[i]);
    run_decoder_end(&u->decoder);
    run_order_end(u);
}

/* The same, and U itself. */
static void unit_free(struct trod_run *r, struct run_unit *u, bool tell)
{
    unit_end(r, u, tell);
    trod_trace_close(u->trace);
    free(u);
}

/* Does the format of this file have the columns that the analyses need? 0 or an error. */
static int check_columns(struct trod_run *r, struct run_unit *u)
{
    const struct trod_format *f = trod_trace_format(u->trace);

    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].analysis->needs & ~(f->reads | TROD_COL_SITE))
            return trod_error(&u->keeper.diag, TROD_ERR_UNSUPPORTED, "run.columns", NULL,
                              "analysis '%s' cannot read format '%s'", r->item[i].analysis->name,
                              f->name);
    return TROD_OK;
}

/* Publish the progress of worker W. */
static void note(struct run_worker *w, const struct trod_trace *t, uint64_t rows)
{
    struct trod_trace_progress p;

    atomic_store_explicit(&w->rows, rows, memory_order_relaxed);
    if (!w->run->opt.progress)
        return;
    trod_trace_progress(t, &p);
    atomic_store_explicit(&w->bytes, p.bytes, memory_order_relaxed);
}

/* Are the units of time of U, whose turn it is, or room for them, in the whole trace? */
static bool fits(const struct trod_run *r, const struct run_unit *u)
{
    return u->fatal || !u->trace || r->piece[u->number].chained || u->knows || u->handed ||
           engine_units_fit(trod_trace_meta(r->whole), trod_trace_meta(u->trace));
}

/*
 * U has recorded as much as it may: wait until all units before it are merged, merge its recording
 * states into those of the run, and continue with empty ones. 0, 1 if it is not to be read further,
 * or an error.
 */
static int hand_over(struct trod_run *r, struct run_unit *u)
{
    const enum run_cut cut = r->piece[u->number].cut;
    int rc = TROD_OK;
    bool stop;

    pthread_mutex_lock(&r->lock);
    while (!r->stop && r->merged != u->number)
        if (!run_share_help(r))
            pthread_cond_wait(&r->turn, &r->lock);
    stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    if (!stop && !fits(r, u))
        return 1; /* it will be read again */
    u->handed = true;
    for (size_t i = 0; !stop && rc == TROD_OK && i < r->n_items; i++) {
        const struct trod_meta *meta = trod_trace_meta(u->trace);

        if (!engine_item_records(&r->item[i], cut) || !r->item[i].keeps)
            continue;
        rc = run_share_merge(r, u, i);
        trod_keeper_end(&u->instance[i].keeper, &r->item[i].instance[0].keeper.diag);
        engine_instance_end(&u->instance[i]);
        if (rc == TROD_OK)
            rc = engine_instance_begin_part(&u->instance[i], r, &r->item[i], meta, cut);
    }
    return stop ? 1 : rc;
}

/* Bytes that U has recorded; SIZE_MAX if an analysis gives up. */
static size_t recorded(const struct trod_run *r, const struct run_unit *u)
{
    size_t bytes = 0;

    for (size_t i = 0; i < r->n_items; i++) {
        const size_t some = engine_instance_recorded(&u->instance[i]);

        bytes = some == SIZE_MAX || bytes == SIZE_MAX ? SIZE_MAX : bytes + some;
    }
    return bytes;
}

/*
 * Check how much U has recorded, and hand it over if it is too much. If an analysis gives up, U is
 * lost. 0, 1 if U is not to be read further, or an error.
 */
static int keep(struct trod_run *r, struct run_unit *u)
{
    const size_t bytes = recorded(r, u);
    const int rc = bytes == SIZE_MAX  ? TROD_ERR_UNSUPPORTED
                   : bytes > RECORDED ? hand_over(r, u)
                                      : TROD_OK;

    if (!r->gives_up || rc != TROD_ERR_UNSUPPORTED)
        return rc;
    u->lost = u->gave_up = true;
    return 1;
}

/* Feed the rows of B to the instances of U. 0, 1 if U is not to be read further, or an error. */
static int feed(struct trod_run *r, struct run_unit *u, const struct trod_batch *b)
{
    const struct engine_cut all = {.to = b->n, .fed = true};

    for (size_t i = 0; i < r->n_items; i++) {
        engine_instance_feed(&u->instance[i], b, &all);
        if (u->instance[i].rc < 0)
            return u->instance[i].rc;
    }
    return keep(r, u);
}

/* Feed all rows of U's trace to its instances. 0 or an error. */
static int unit_rows(struct run_worker *w, struct run_unit *u)
{
    struct trod_run *r = w->run;
    struct trod_batch *b;
    uint64_t rows = 0;
    int rc;

    while ((rc = run_next(r, u->trace, &u->decoder, &b)) == 1) {
        if (u->decoder.owner && engine_owner_lost(u->decoder.owner)) {
            u->lost = true;
            return TROD_OK;
        }
        rows += b->n;
        rc = r->in_order ? run_order_rows(r, u, b) : feed(r, u, b);
        if (rc != TROD_OK)
            return rc < 0 ? rc : TROD_OK;
        u->rows = rows;
        note(w, u->trace, rows);
        if (w->first)
            run_tick(r);
    }
    u->stopped = rc == 0 && run_asked_to_stop(r);
    return rc;
}

/* Report that the file at PATH cannot be read in parts. Returns RC. */
static int part_lost(struct trod_diag *diag, int rc, const char *path)
{
    return trod_error(
        diag, rc, "run.part", NULL,
        "'%s' cannot be read in parts: passing over what other parts read of it failed", path);
}

static int unit_open(struct run_worker *w, struct run_unit *u, size_t number)
{
    struct trod_run *r = w->run;
    const struct run_piece *piece = &r->piece[number];
    struct trod_input_options input = r->opt.trace.input;
    struct trod_diag *diag = &u->keeper.diag;
    int rc;

    input.beside = 0;
    /* if the units keep all threads busy, no further threads are needed to read ahead */
    if (piece->chained || piece->apart || piece->assumes)
        input.no_thread |= r->n_workers > 1 && r->n_units >= r->n_workers;
    else if (r->n_workers > 1 && r->n_units >= 2 * (size_t)r->n_workers)
        input.no_thread |= number < r->n_units - r->n_units % r->n_workers;
    if (piece->cut == RUN_MEMBERS)
        rc = trod_trace_open_part(&u->trace, r->whole, piece->file, piece->part,
                                  (size_t)piece->from, (size_t)piece->to, &input, diag);
    else if (piece->cut == RUN_BYTES)
        rc = trod_trace_open_bytes(
            &u->trace, r->whole, piece->file,
            &(struct trod_stretch){&piece->as, piece->part, piece->from, piece->to, piece->apart},
            &input, diag);
    else
        rc = trod_trace_open_file(&u->trace, r->whole, piece->file, &input, diag);
    if (piece->link) {
        const int follows = run_chain_follow(r, piece, rc < 0 ? NULL : u->trace);

        if (rc == TROD_OK && follows < 0 && r->opt.parts > 1)
            part_lost(diag, follows, trod_trace_path(r->whole, piece->file));
        rc = rc < 0 ? rc : follows;
    }
    if (rc == TROD_OK && piece->assumes && piece->part)
        rc = run_assume(r, piece, u->trace);
    if (rc < 0 || (rc = check_columns(r, u)) < 0)
        return rc;
    trod_trace_want(u->trace, r->opt.trace.want);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items && !r->in_order; i++)
        rc = engine_instance_begin_part(&u->instance[i], r, &r->item[i], trod_trace_meta(u->trace),
                                        piece->cut);
    if (rc == TROD_OK)
        rc = run_decoder_begin(&u->decoder, r, false);
    if (rc == TROD_OK && u->decoder.owner && piece->part)
        engine_owner_inside(u->decoder.owner);
    if (rc == TROD_OK && u->decoder.owner && piece->cut == RUN_BYTES) {
        rc = run_lead(r, u, piece);
        u->lost = rc < 0 && rc != TROD_ERR_NOMEM;
    }
    return rc;
}

/* Let the trace of U begin with the units of time of the whole one. */
static void know_units(const struct trod_run *r, struct run_unit *u)
{
    struct trod_meta *own = (struct trod_meta *)(uintptr_t)trod_trace_meta(u->trace);

    memcpy(own->own_unit, trod_trace_meta(r->whole)->own_unit, sizeof own->own_unit);
}

/* Read piece NUMBER into the states of U. */
static void unit_read(struct run_worker *w, struct run_unit *u, size_t number)
{
    struct trod_run *r = w->run;
    const struct run_piece *piece = &r->piece[number];

    u->fatal = true;
    u->rc = unit_open(w, u, number);
    if (u->rc < 0)
        return;
    if (u->knows)
        know_units(r, u);
    u->rc = unit_rows(w, u);
    u->codeless = u->decoder.owner && engine_owner_codeless(u->decoder.owner);
    run_decoder_end(&u->decoder);
    u->fatal = u->rc == TROD_ERR_NOMEM;
    for (size_t i = 0; !u->fatal && piece->cut == RUN_WHOLE && i < r->n_items; i++) {
        engine_instance_settle(&u->instance[i], (uint32_t)piece->file);
        u->fatal = u->instance[i].rc == TROD_ERR_NOMEM;
    }
    if (u->fatal)
        u->rc = TROD_ERR_NOMEM;
    trod_trace_progress(u->trace, &u->done);
}

static void add_progress(struct trod_trace_progress *to, const struct trod_trace_progress *p)
{
    to->rows += p->rows;
    to->bytes += p->bytes;
    to->decoded += p->decoded;
    to->skipped += p->skipped;
}

/* Convert line and record numbers in the problems of U to those of the whole file. */
static void number_problems(struct trod_run *r, struct run_unit *u, const struct run_piece *piece)
{
    if (piece->part == 0)
        r->lines_to = r->lines = r->records = 0;
    if (piece->cut == RUN_BYTES && piece->from && trod_keeper_has_lines(&u->keeper)) {
        r->lines += trod_trace_lines(r->whole, piece->file, r->lines_to, piece->from);
        r->lines_to = piece->from;
        trod_keeper_shift(&u->keeper, r->lines, r->records);
    }
    if (r->records != TROD_NOWHERE)
        r->records += u->rows;
}

/* Does this process read all pieces of the file whose last piece is PIECE? */
static bool complete(const struct trod_run *r, const struct run_piece *piece)
{
    const struct run_piece *first = &r->piece[r->first_unit];

    return piece->file != first->file || first->part == 0;
}

/*
 * U, which read PIECE, ended with the error RC. Could this error be absent if the file were read as
 * a whole? The last of chained pieces, or of those apart, ends as the whole file does, except for
 * lack of memory and limits; but what is decoded of a damaged frame depends on where it was thought
 * to end.
 */
static bool doubtful(const struct trod_run *r, const struct run_unit *u,
                     const struct run_piece *piece, int rc)
{
    if (r->opt.parts > 1) /* r->sound answers this (chain.c) */
        return false;
    return r->tentative && (!(piece->link || piece->apart) || piece->packed || !piece->last ||
                            u->fatal || rc == TROD_ERR_LIMIT);
}

/* No more rows of FILE come for the instances of IT. 0 or an error. */
static int settle(struct engine_item *it, uint32_t file)
{
    int rc = TROD_OK;

    for (unsigned k = 0; k < it->shards; k++) {
        engine_instance_settle(&it->instance[k], file);
        rc = rc < 0 ? rc : it->instance[k].rc;
    }
    return rc;
}

/* Merge the states of U into those of the run. 0 or an error. */
static int merge_instances(struct trod_run *r, struct run_unit *u, const struct run_piece *piece)
{
    int rc = TROD_OK;

    if (r->in_order) { /* feed first: rows must not see what the meta learns only after them */
        rc = run_order_give(r, u);
        return rc < 0 ? rc : trod_trace_learn(r->whole, u->trace);
    }
    for (size_t i = 0; i < r->n_items; i++) {
        struct engine_item *it = &r->item[i];
        int merged;

        u->instance[i].base = r->done.rows;
        merged = run_share_merge(r, u, i);
        if (merged == TROD_OK && piece->cut != RUN_WHOLE && (piece->last || r->cut_short) &&
            complete(r, piece))
            merged = settle(it, (uint32_t)piece->file);
        trod_keeper_end(&u->instance[i].keeper, &it->instance[0].keeper.diag);
        rc = rc < 0 ? rc : merged;
    }
    return rc;
}

/*
 * U, whose turn it is, met units of time for which there is no room behind those of the pieces
 * before it. Read as a whole, the rows that have them would be refused: worker W reads its piece
 * again, knowing those. NULL without memory. The lock is held, but not while reading.
 */
static struct run_unit *read_again(struct run_worker *w, struct run_unit *u)
{
    struct trod_run *r = w->run;
    struct run_unit *again = unit_new(r, u->number);

    if (again) {
        again->knows = true;
        again->order.skip = u->order.given;
        pthread_mutex_unlock(&r->lock);
        unit_read(w, again, u->number);
        pthread_mutex_lock(&r->lock);
    }
    unit_free(r, u, false);
    return again;
}

bool run_is_ordered(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].order != TROD_ANY_ORDER)
            return true;
    return false;
}

/*
 * May U, the next unit, which read PIECE, be merged, as far as this depends on what it assumed?
 * Otherwise the run ends, or is repeated.
 */
static bool rightly_assumed(struct trod_run *r, struct run_unit *u, const struct run_piece *piece)
{
    int right = 0;

    if (!piece->assumes)
        return true;
    if (!piece->part || !r->assume.before->stopped) {
        right = run_assumed(r, u, piece);
        r->assume.wrong = right == 0 && !run_asked_to_stop(r);
        r->again |= r->assume.wrong;
    }
    if (right < 0)
        r->rc = right;
    r->stop |= right != 1;
    return right == 1;
}

/*
 * Merge U, the next unit, which read PIECE, into the run, and release it. Called with the lock
 * held; the lock is released during the merging itself, which one thread at a time does.
 */
static void unit_merge(struct run_worker *w, struct run_unit *u, const struct run_piece *piece)
{
    struct trod_run *r = w->run;
    int rc, merged = TROD_OK;
    bool again;

    /* an error ends a file: read as a whole, nothing would have come after it */
    if (piece->part == 0)
        r->cut_short = false;
    if (r->cut_short || u->lost) {
        r->stop |= u->lost;
        r->again |= u->lost;
        unit_free(r, u, false);
        return;
    }
    if (!fits(r, u) && !(u = read_again(w, u))) {
        r->stop = true;
        r->rc = TROD_ERR_NOMEM;
        return;
    }
    if (!rightly_assumed(r, u, piece)) {
        unit_free(r, u, false);
        return;
    }
    rc = u->rc;
    r->codeless |= u->codeless;
    r->cut_short = piece->cut == RUN_BYTES && rc < 0;
    again = r->cut_short && doubtful(r, u, piece, rc);
    r->again |= again;
    number_problems(r, u, piece);
    if (!u->fatal && !r->in_order && trod_trace_learn(r->whole, u->trace) < 0)
        rc = rc == TROD_OK ? TROD_ERR_NOMEM : rc;
    if (!u->fatal) {
        pthread_mutex_unlock(&r->lock);
        merged = merge_instances(r, u, piece);
        pthread_mutex_lock(&r->lock);
    }
    if (r->gives_up && merged == TROD_ERR_UNSUPPORTED)
        r->again = r->gave_up = true;
    rc = rc == TROD_OK ? merged : rc;
    r->stop |= merged < 0;
    add_progress(&r->done, &u->done);
    if (rc < 0 && r->rc == TROD_OK)
        r->rc = rc;
    r->stop |= again || rc == TROD_ERR_NOMEM || (rc < 0 && r->diag && r->diag->strict) ||
               (u->stopped && run_is_ordered(r));
    if (piece->assumes) {
        unit_end(r, u, true);
        run_assume_keep(r, u);
    } else {
        unit_free(r, u, true);
    }
}

/* Merge all units whose turn it is, unless another thread is merging. The lock is held. */
static void merge_ready(struct run_worker *w)
{
    struct trod_run *r = w->run;

    while (!r->merging && !r->stop && r->merged < r->next && r->unit[r->merged] &&
           r->unit[r->merged]->complete) {
        struct run_unit *u = r->unit[r->merged];

        r->unit[r->merged] = NULL;
        r->merging = true;
        unit_merge(w, u, &r->piece[r->merged]);
        r->merging = false;
        r->merged++;
        pthread_cond_broadcast(&r->turn);
    }
    pthread_cond_broadcast(&r->turn);
}

/* The main function of a worker. */
static void *work(void *arg)
{
    struct run_worker *w = arg;
    struct trod_run *r = w->run;
    bool rest;

    pthread_mutex_lock(&r->lock);
    for (;;) {
        struct run_unit *u;
        size_t number;

        while (!r->stop && r->next < r->n_units && r->next >= r->merged + r->ahead)
            if (!run_share_help(r))
                pthread_cond_wait(&r->turn, &r->lock);
        if (r->stop || r->stopped || r->next == r->n_units)
            break;
        number = r->next++;
        u = r->unit[number] = unit_new(r, number);
        if (!u) {
            r->stop = true;
            r->rc = TROD_ERR_NOMEM;
            break;
        }
        pthread_mutex_unlock(&r->lock);
        unit_read(w, u, number);
        u->lost |= run_damaged(r, u, &r->piece[number]);
        pthread_mutex_lock(&r->lock);
        u->complete = true;
        if (u->lost) /* the run is repeated, so this one is stopped */
            r->stop = r->again = true;
        r->gave_up |= u->gave_up;
        atomic_store(&w->rows, 0);
        atomic_store(&w->bytes, 0);
        merge_ready(w);
    }
    run_share_rest(r);
    rest = r->next == r->n_units && !r->stop && !r->chain.rest;
    r->chain.rest |= rest;
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->lock);
    if (rest && r->opt.parts > 1)
        w->rc = run_chain_rest(r, false);
    return NULL;
}

static int start_workers(struct trod_run *r, unsigned *started)
{
    size_t mine = r->n_units - r->first_unit;

    r->n_workers = r->opt.jobs < mine ? r->opt.jobs : (unsigned)mine;
    if (r->n_workers == 0)
        return TROD_OK;
    r->unit = calloc(r->n_units, sizeof *r->unit);
    r->worker = calloc(r->n_workers, sizeof *r->worker);
    if (!r->unit || !r->worker)
        return TROD_ERR_NOMEM;
    r->ahead = (size_t)r->n_workers * AHEAD;
    for (unsigned i = 0; i < r->n_workers; i++) {
        r->worker[i].run = r;
        r->worker[i].first = i == 0;
    }
    *started = 1;
    while (*started < r->n_workers &&
           pthread_create(&r->worker[*started].thread, NULL, work, &r->worker[*started]) == 0)
        ++*started;
    work(&r->worker[0]);
    return TROD_OK;
}

/* Pass over what other processes read of the first and last file. 0 or an error, reported. */
static int end_part(struct trod_run *r)
{
    int rc = r->chain.rest || r->stopped ? TROD_OK : run_chain_rest(r, true);

    for (unsigned i = 0; i < r->n_workers && rc == TROD_OK; i++)
        rc = r->worker[i].rc;
    r->again |= run_unsound(r) > r->n_unsound;
    return rc < 0 && !r->again
               ? part_lost(r->diag, rc, trod_trace_path(r->whole, r->piece[r->n_units - 1].file))
               : TROD_OK;
}

int run_units(struct trod_run *r)
{
    struct trod_boundary end = {
        .type = TROD_BOUNDARY_END, .rows = r->done.rows, .time = TROD_NOWHERE};
    unsigned started = 0;
    int rc;

    rc = run_begin_items(r, false);
    if (rc < 0) { /* no unit will repeat them */
        trod_keeper_end(&r->opening, r->diag);
        return rc;
    }
    rc = start_workers(r, &started);
    for (unsigned i = 1; i < started; i++)
        pthread_join(r->worker[i].thread, NULL);
    for (size_t i = r->first_unit; r->unit && i < r->n_units; i++)
        if (r->unit[i])
            unit_free(r, r->unit[i], false);
    run_order_forget(r);
    if (r->opt.parts > 1 && rc == TROD_OK)
        rc = end_part(r);
    r->again |= r->codeless && engine_sites_coded(r->sites);
    if (r->in_order)
        end.rows = r->done.rows;
    if (rc == TROD_OK)
        rc = run_join(r, &end, r->in_order ? trod_trace_files(r->whole) : 0);
    return rc < 0 ? rc : r->rc;
}
