/*
 * units.c - the files of a trace as pieces of work for several threads.
 *
 * Each file, part of an archive, or part of a plain file that can be cut, is a unit: a trace of its
 * own, states of its own, problems kept. Units are taken in order; whoever finishes one merges
 * those whose turn it is. No unit runs far ahead of the merging, so that memory does not depend on
 * the number of files.
 */
#include "engine/run_int.h"

#include <stdlib.h>
#include <string.h>

/* Units that may be read or wait to be merged, for each worker. */
enum { AHEAD = 2 };

static void unit_free(struct trod_run *r, struct run_unit *u, bool tell)
{
    trod_keeper_end(&u->keeper, tell ? r->diag : NULL);
    for (size_t i = 0; i < r->n_items; i++)
        engine_instance_end(&u->instance[i]);
    run_decoder_end(&u->decoder);
    trod_trace_close(u->trace);
    free(u);
}

/* Does the format of this file deliver what the plan was made for? */
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

/* Tell the others how far worker W is. */
static void note(struct run_worker *w, const struct trod_trace *t, uint64_t rows)
{
    struct trod_trace_progress p;

    atomic_store_explicit(&w->rows, rows, memory_order_relaxed);
    if (!w->run->opt.progress)
        return;
    trod_trace_progress(t, &p);
    atomic_store_explicit(&w->bytes, p.bytes, memory_order_relaxed);
}

/* All rows of U's trace to its instances. */
static int unit_rows(struct run_worker *w, struct run_unit *u)
{
    struct trod_run *r = w->run;
    struct trod_batch *b;
    uint64_t rows = 0;
    int rc;

    while ((rc = run_next(r, u->trace, &u->decoder, &b)) == 1) {
        const struct engine_cut all = {.to = b->n, .fed = true};

        if (u->decoder.owner && engine_owner_lost(u->decoder.owner)) {
            u->lost = true;
            return TROD_OK;
        }
        rows += b->n;
        for (size_t i = 0; i < r->n_items; i++) {
            engine_instance_feed(&u->instance[i], b, &all);
            if (u->instance[i].rc < 0)
                return u->instance[i].rc;
        }
        u->rows = rows;
        note(w, u->trace, rows);
        if (w->first)
            run_tick(r);
    }
    return rc;
}

/* Nobody knows what lies before a piece of the file at PATH, or behind it. */
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

    /* where the files keep all threads busy no others are needed to read ahead */
    if (r->n_workers > 1 && r->n_units >= 2 * (size_t)r->n_workers)
        input.no_thread |= number < r->n_units - r->n_units % r->n_workers;
    if (piece->cut == RUN_MEMBERS)
        rc = trod_trace_open_part(&u->trace, r->whole, piece->file, piece->part,
                                  (size_t)piece->from, (size_t)piece->to, &input, diag);
    else if (piece->cut == RUN_BYTES)
        rc = trod_trace_open_bytes(
            &u->trace, r->whole, piece->file,
            &(struct trod_stretch){&piece->as, piece->part, piece->from, piece->to}, &input, diag);
    else
        rc = trod_trace_open_file(&u->trace, r->whole, piece->file, &input, diag);
    if (piece->link) {
        const int follows = run_chain_follow(r, piece, rc < 0 ? NULL : u->trace);

        if (rc == TROD_OK && follows < 0 && r->opt.parts > 1)
            part_lost(diag, follows, trod_trace_path(r->whole, piece->file));
        rc = rc < 0 ? rc : follows;
    }
    if (rc < 0 || (rc = check_columns(r, u)) < 0)
        return rc;
    trod_trace_want(u->trace, r->opt.trace.want);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++)
        rc = engine_instance_begin(&u->instance[i], r, &r->item[i], trod_trace_meta(u->trace), 0);
    if (rc == TROD_OK)
        rc = run_decoder_begin(&u->decoder, r, false);
    if (rc == TROD_OK && u->decoder.owner && piece->cut == RUN_BYTES) {
        rc = run_lead(r, u, piece);
        u->lost = rc < 0 && rc != TROD_ERR_NOMEM;
    }
    return rc;
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

/* Problems of a piece from the middle of a text file get the numbers of the whole file. */
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

/* Does this process read all pieces of the file of PIECE, its last? */
static bool complete(const struct trod_run *r, const struct run_piece *piece)
{
    const struct run_piece *first = &r->piece[r->first_unit];

    return piece->file != first->file || first->part == 0;
}

/*
 * U, PIECE, ended with the error RC. May it end otherwise where all is read in one go? Who goes on
 * from what came before reads the last piece of a file as that does, but for the memory it takes.
 */
static bool doubtful(const struct trod_run *r, const struct run_unit *u,
                     const struct run_piece *piece, int rc)
{
    if (r->opt.parts > 1) /* passing over it tells */
        return false;
    return r->tentative && (!piece->link || !piece->last || u->fatal || rc == TROD_ERR_LIMIT);
}

/* The next unit goes into the states of all. */
static void unit_merge(struct trod_run *r, struct run_unit *u, const struct run_piece *piece)
{
    int rc = u->rc;
    bool again;

    /* what cannot be read ends a file: in one go nothing would have come behind it */
    if (piece->part == 0)
        r->cut_short = false;
    if (r->cut_short || u->lost) {
        r->stop |= u->lost;
        r->again |= u->lost;
        unit_free(r, u, false);
        return;
    }
    r->codeless |= u->codeless;
    r->cut_short = piece->cut == RUN_BYTES && rc < 0;
    again = r->cut_short && doubtful(r, u, piece, rc);
    r->again |= again;
    number_problems(r, u, piece);
    if (!u->fatal && trod_trace_learn(r->whole, u->trace) < 0)
        rc = rc == TROD_OK ? TROD_ERR_NOMEM : rc;
    for (size_t i = 0; !u->fatal && i < r->n_items; i++) {
        struct engine_instance *to = &r->item[i].instance[0];
        int merged;

        u->instance[i].base = r->done.rows;
        merged = engine_instance_merge(to, &u->instance[i], true);

        if (merged == TROD_OK && piece->cut != RUN_WHOLE && (piece->last || r->cut_short) &&
            complete(r, piece)) {
            engine_instance_settle(to, (uint32_t)piece->file);
            merged = to->rc;
        }
        trod_keeper_end(&u->instance[i].keeper, &to->keeper.diag);
        if (merged < 0 && rc == TROD_OK)
            rc = merged;
        r->stop |= merged < 0;
    }
    add_progress(&r->done, &u->done);
    if (rc < 0 && r->rc == TROD_OK)
        r->rc = rc;
    r->stop |= again || rc == TROD_ERR_NOMEM || (rc < 0 && r->diag && r->diag->strict);
    unit_free(r, u, true);
}

/* Merge all whose turn it is. The lock is held. */
static void merge_ready(struct trod_run *r)
{
    while (!r->stop && r->merged < r->next && r->unit[r->merged] && r->unit[r->merged]->complete) {
        struct run_unit *u = r->unit[r->merged];

        r->unit[r->merged] = NULL;
        unit_merge(r, u, &r->piece[r->merged++]);
    }
    pthread_cond_broadcast(&r->turn);
}

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
            pthread_cond_wait(&r->turn, &r->lock);
        if (r->stop || r->stopped || r->next == r->n_units)
            break;
        number = r->next++;
        u = r->unit[number] = calloc(1, sizeof *u);
        if (!u) {
            r->stop = true;
            r->rc = TROD_ERR_NOMEM;
            break;
        }
        pthread_mutex_unlock(&r->lock);
        trod_keeper_init(&u->keeper, r->diag && r->diag->strict);
        unit_read(w, u, number);
        pthread_mutex_lock(&r->lock);
        u->complete = true;
        if (u->lost) /* all is done again: it is not gone on with */
            r->stop = r->again = true;
        atomic_store(&w->rows, 0);
        atomic_store(&w->bytes, 0);
        merge_ready(r);
    }
    rest = r->next == r->n_units && !r->stop && !r->chain.rest;
    r->chain.rest |= rest;
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->lock);
    if (rest && r->opt.parts > 1)
        w->rc = run_chain_rest(r, false);
    return NULL;
}

/* May files be parted? Where they alone would not keep the threads busy, and all analyses can. */
static bool may_part(const struct trod_run *r)
{
    if (r->opt.parts < 2 &&
        (r->opt.jobs < 2 || trod_trace_files(r->whole) >= 4 * (size_t)r->opt.jobs))
        return false;
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].order != TROD_ANY_ORDER)
            return false;
    return true;
}

/* Where a file is cut: pieces [AT[k], AT[k + 1]), and where rows lead in piece K. */
struct cuts {
    uint64_t at[RUN_PARTS + 1], before[RUN_PARTS + 1];
};

/*
 * The plain file I, where it is one: as cut_file. What belongs to an instruction may lie behind a
 * cut. Where such rows are to know their site, rows before the cut lead in a part, or, where parts
 * go on from what came before, it begins with an instruction.
 */
static size_t cut_plain(const struct trod_run *r, size_t i, struct cuts *c, size_t most,
                        struct run_piece *piece)
{
    const uint64_t bytes = r->opt.piece ? r->opt.piece : TROD_RUN_PIECE;
    const struct trod_format *f = trod_trace_format(r->whole);
    size_t n;

    if (r->owned && !(f && f->parts))
        return run_lead_cuts(r, i, bytes, &c->at[1], &c->before[1], most, &piece->as);
    n = trod_trace_cuts(r->whole, i, bytes, false, &c->at[1], most, &piece->as);
    memcpy(&c->before[1], &c->at[1], n * sizeof *c->at);
    return r->owned && n && !piece->as.format->parts ? 0 : n;
}

/*
 * How file I is cut: into how many pieces. Frames of a compressed file, and parts whose opcodes may
 * have been said before, are cut where this process reads all of it: only that one can do it again
 * if they do not begin as thought. In parts the cuts depend on the file alone.
 */
static size_t cut_file(struct trod_run *r, size_t i, struct cuts *c, struct run_piece *piece)
{
    const uint64_t bytes = r->opt.piece ? r->opt.piece : TROD_RUN_PIECE;
    const struct trod_format *f = trod_trace_format(r->whole);
    uint64_t members = trod_trace_members(r->whole, i);
    const size_t most = f && f->parts && !r->opt.piece && r->opt.jobs > 1 && r->opt.parts < 2
                            ? r->opt.jobs - 1
                            : RUN_PARTS - 1;
    size_t n = members < RUN_PARTS ? (size_t)members : RUN_PARTS;

    piece->cut = n > 1 ? RUN_MEMBERS : RUN_WHOLE;
    for (size_t k = 0; k <= n; k++)
        c->at[k] = members * k / n;
    if (n > 1 || (r->sites && (r->opt.parts > 1 || r->again)))
        return n;
    n = cut_plain(r, i, c, most < RUN_PARTS ? most : RUN_PARTS - 1, piece);
    if (n && piece->as.format->parts) {
        piece->chained = r->opt.parts > 1 || !r->again;
        r->tentative |= piece->chained;
        n = piece->chained ? n : 0;
    }
    if (n == 0 && r->opt.parts < 2 && !r->again && !r->owned && f && (f->cuts || f->stride)) {
        n = trod_trace_cuts(r->whole, i, bytes, true, &c->at[1], RUN_PARTS - 1, &piece->as);
        memcpy(&c->before[1], &c->at[1], n * sizeof *c->at);
        r->tentative |= n > 0;
    }
    r->tentative |= n && r->sites;
    piece->cut = n ? RUN_BYTES : RUN_WHOLE;
    c->at[n + 1] = TROD_NOWHERE;
    return n + 1;
}

static int plan_pieces(struct trod_run *r)
{
    size_t files = trod_trace_files(r->whole);
    uint32_t links = 0;
    bool part = may_part(r);

    for (size_t i = 0; i < files; i++) {
        const uint64_t bytes = r->opt.parts > 1 ? trod_trace_bytes(r->whole, i) : 0;
        struct cuts c = {{0}, {0}};
        struct run_piece piece = {.file = i};
        size_t n = part ? cut_file(r, i, &c, &piece) : 1;
        struct run_piece *p = realloc(r->piece, (r->n_units + n) * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        r->piece = p;
        for (size_t k = 0; k < n; k++) {
            piece.number = r->n_units;
            piece.from = c.at[k];
            piece.before = c.before[k];
            piece.to = c.at[k + 1];
            piece.part = (uint32_t)k;
            piece.last = k + 1 == n;
            piece.link = piece.chained && k ? ++links : 0;
            piece.weight = bytes / n + 1;
            p[r->n_units++] = piece;
        }
    }
    return TROD_OK;
}

static bool may_use_units(const struct trod_run *r)
{
    const struct trod_run_options *o = &r->opt;

    if (o->parts < 2 && (o->jobs < 2 || o->serial))
        return false;
    if (o->filter || o->trace.order != TROD_ORDER_FILE || !trod_trace_rewindable(r->whole) ||
        o->interval || o->warmup || o->region_from || o->region_to || o->trace.skip_rows ||
        o->trace.skip_instructions || r->begun)
        return false;
    for (size_t i = 0; i < r->n_items; i++)
        if (!r->item[i].analysis->merge || r->item[i].order == TROD_GLOBAL_ORDER)
            return false;
    return true;
}

static size_t count_unsound(const struct trod_run *r)
{
    size_t n = 0;

    for (size_t i = 0; i < trod_trace_files(r->whole); i++)
        n += r->sound[i] == RUN_UNSOUND;
    return n;
}

/* Pieces from P on, before END, that are of its file. */
static size_t same_file(const struct run_piece *p, const struct run_piece *end)
{
    const struct run_piece *q = p;

    while (q < end && q->file == p->file)
        q++;
    return (size_t)(q - p);
}

/*
 * The N pieces at index I, all of this process that are of one file, come behind all that there
 * are. Of those that go on from what came before each thread reads as many in one go, so that it
 * meets the program's code and data once. A file that is not sound is one piece, of the process
 * that reads its first.
 */
static void own_file(struct trod_run *r, size_t i, size_t n)
{
    struct run_piece *const p = r->piece;
    const size_t some = p[i].chained ? (n + r->opt.jobs - 1) / r->opt.jobs : 1;
    const bool whole = p[i].chained && r->sound[p[i].file] == RUN_UNSOUND;

    for (size_t k = 0; k < n && !whole; k += some) {
        const struct run_piece *end = &p[i + (k + some < n ? k + some : n) - 1];
        struct run_piece piece = p[i + k];

        piece.to = end->to;
        piece.last = end->last;
        piece.link = piece.chained && piece.part ? ++r->n_links : 0;
        r->tentative |= piece.chained;
        p[r->n_units++] = piece;
    }
    if (whole && p[i].part == 0)
        p[r->n_units++] = (struct run_piece){
            .file = p[i].file, .number = p[i].number, .weight = p[i].weight, .last = true};
}

/* Pieces [FROM, TO) are this process's. False: no memory. */
static bool own_pieces(struct trod_run *r, size_t from, size_t to)
{
    struct run_piece *p = realloc(r->piece, (r->n_pieces + to - from + 1) * sizeof *p);

    if (!p)
        return false;
    r->piece = p;
    r->first_unit = r->n_units = r->n_pieces;
    r->n_links = 0;
    for (size_t i = from, n; i < to; i += n) {
        n = same_file(&p[i], &p[to]);
        own_file(r, i, n);
    }
    return true;
}

/*
 * The pieces of this process alone: a run of them, so that parts are merged in order. A piece is of
 * the part that its middle lies in. False: no memory.
 */
static bool take_part(struct trod_run *r)
{
    double all = 0, before = 0;
    size_t n = r->n_units, from = 0, to = 0;

    r->n_pieces = n;
    if (r->opt.parts < 2)
        return true;
    for (size_t i = 0; i < n; i++)
        all += (double)r->piece[i].weight;
    for (size_t i = 0; i < n; i++) {
        double middle = before + (double)r->piece[i].weight / 2;
        unsigned part = (unsigned)(middle / all * r->opt.parts);

        part = part < r->opt.parts ? part : r->opt.parts - 1;
        from += part < r->opt.part;
        to += part <= r->opt.part;
        before += (double)r->piece[i].weight;
    }
    r->tentative = false;
    r->n_unsound = count_unsound(r);
    if (!own_pieces(r, from, to))
        return false;
    r->next = r->merged = r->first_unit;
    if (r->first_unit < r->n_units && r->piece[r->first_unit].part)
        r->records = TROD_NOWHERE; /* another process counts them */
    return true;
}

int run_plan_units(struct trod_run *r)
{
    if (r->planned)
        return TROD_OK;
    r->planned = true;
    run_ahead(r);
    if (r->again && r->sites && engine_sites_again(&r->sites) < 0)
        return TROD_ERR_NOMEM;
    if (!may_use_units(r))
        return TROD_OK;
    if (plan_pieces(r) < 0)
        return TROD_ERR_NOMEM;
    if (r->opt.parts > 1 && !r->sound &&
        !(r->sound = calloc(trod_trace_files(r->whole), sizeof *r->sound)))
        return TROD_ERR_NOMEM;
    r->by_units = r->n_units > 1 || r->opt.parts > 1;
    return take_part(r) ? TROD_OK : TROD_ERR_NOMEM;
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

/* What others read of the last file is seen to. 0 or an error, reported. */
static int end_part(struct trod_run *r)
{
    int rc = r->chain.rest || r->stopped ? TROD_OK : run_chain_rest(r, true);

    for (unsigned i = 0; i < r->n_workers && rc == TROD_OK; i++)
        rc = r->worker[i].rc;
    r->again |= count_unsound(r) > r->n_unsound;
    return rc < 0 && !r->again
               ? part_lost(r->diag, rc, trod_trace_path(r->whole, r->piece[r->n_units - 1].file))
               : TROD_OK;
}

int run_units(struct trod_run *r)
{
    const struct trod_boundary end = {.rows = r->done.rows, .time = TROD_NOWHERE};
    unsigned started = 0;
    int rc;

    rc = run_begin_items(r);
    if (rc < 0)
        return rc;
    rc = start_workers(r, &started);
    for (unsigned i = 1; i < started; i++)
        pthread_join(r->worker[i].thread, NULL);
    for (size_t i = r->first_unit; r->unit && i < r->n_units; i++)
        if (r->unit[i])
            unit_free(r, r->unit[i], false);
    if (r->opt.parts > 1 && rc == TROD_OK)
        rc = end_part(r);
    r->again |= r->codeless && engine_sites_coded(r->sites);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++) {
        engine_instance_close(&r->item[i].instance[0], &end, 0);
        rc = r->item[i].instance[0].rc;
    }
    return rc < 0 ? rc : r->rc;
}
