/*
 * pipe.c - one thread decodes, the others feed the instances.
 *
 * The decoding thread puts batches into a ring of slots; each worker processes all slots in order
 * and feeds its own instances. A slot is reused when every worker has finished it, so that memory
 * does not depend on which thread is faster. A batch in a slot owns its bytes. The meta, which
 * grows while the trace is read, is passed on as a copy with each batch, whose rows are of one
 * file.
 *
 * Batches are passed on without a copy (trod_trace_take). Rows are copied if a batch has few of
 * them, so that several batches share a slot, and if the trace gives views of its own batches.
 *
 * A single worker is left idle where the decoding thread is faster alone (pace.h): that then feeds
 * batches where the trace has them.
 */
#include "core/origin.h"
#include "engine/pace.h"
#include "engine/run_int.h"
#include "trace/mark.h"

#include <stdlib.h>
#include <string.h>

/*
 * SLOTS: of the ring. Threads that have little to do for a batch would wake each other all the time
 * where batches are small, as those of several files read in turn are.
 */
enum { SLOTS = 8, SLOTS_SEVERAL = 16, SLOTS_MANY = 32, MANY = 8, FEW = TROD_BATCH_ROWS / 8 };
/* Rows of copies where a slot has no more than one turn of one of many files: small batches. */
enum { TURN = 1024 };

struct slot {
    struct trod_batch *b;      /* one of the two that follow */
    struct trod_batch *copies; /* for rows that are copied; NULL: there were none */
    struct trod_batch *taken;  /* from the trace, which gets it back for the next; NULL: none */
    struct trod_meta meta;
    struct trod_streaks *streaks; /* NULL: nobody wants them */
    struct engine_cut *cut;
    uint32_t n_cuts, cap_cuts;
    uint32_t cut_to; /* row: those before it are in the cuts */
};

struct pipe;

struct worker {
    struct pipe *pipe;
    pthread_t thread;
    struct trod_meta meta;             /* as of the batch that is being fed */
    struct engine_instance **instance; /* that it feeds */
    unsigned n_instances;
    uint64_t done; /* batches */
};

struct pipe {
    struct trod_run *run;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    struct slot slot[SLOTS_MANY];
    unsigned slots; /* of them that are used */
    uint64_t made;  /* batches put into the ring */
    bool over;      /* no more come */
    bool failed;    /* a worker gave up */
    bool drains;    /* the workers are to finish what there is */
    struct run_pace pace;
    struct slot *open; /* being filled, or NULL */
    bool direct;       /* an analysis is fed by the decoding thread */
    struct worker *worker;
    unsigned n_workers, started;
};

static void feed_slot(struct worker *w, const struct slot *s)
{
    w->meta = s->meta;
    for (unsigned i = 0; i < w->n_instances; i++)
        for (uint32_t k = 0; k < s->n_cuts; k++)
            engine_instance_feed(w->instance[i], s->b, &s->cut[k]);
}

static bool gave_up(const struct worker *w)
{
    for (unsigned i = 0; i < w->n_instances; i++)
        if (w->instance[i]->rc < 0)
            return true;
    return false;
}

static bool has_enough(const struct pipe *p, const struct worker *w)
{
    return p->made - w->done >= p->slots / 2 || p->over || (p->drains && w->done < p->made);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pipe *p = w->pipe;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        /* a worker that finds the ring empty waits until half of it is filled (cf. free_slot) */
        if (w->done == p->made)
            while (!has_enough(p, w))
                pthread_cond_wait(&p->filled, &p->lock);
        if (w->done == p->made)
            break;
        pthread_mutex_unlock(&p->lock);
        feed_slot(w, &p->slot[w->done % p->slots]);
        pthread_mutex_lock(&p->lock);
        p->failed |= gave_up(w);
        w->done++;
        if (p->made - w->done == p->slots / 2 || p->failed || (p->drains && w->done == p->made))
            pthread_cond_signal(&p->freed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/*
 * The slot to fill next, when all workers are past it. Where one of them is not, half of the ring
 * is waited for: threads that take turns slot by slot would wake each other all the time. NULL: one
 * of them gave up.
 */
static struct slot *free_slot(struct pipe *p)
{
    struct slot *s = &p->slot[p->made % p->slots];

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->n_workers && !p->failed; i++)
        if (p->made - p->worker[i].done >= p->slots)
            while (p->made - p->worker[i].done > p->slots / 2 && !p->failed)
                pthread_cond_wait(&p->freed, &p->lock);
    if (p->failed)
        s = NULL;
    else
        s->n_cuts = s->cut_to = 0;
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void publish(struct pipe *p, bool over)
{
    bool enough = over;

    pthread_mutex_lock(&p->lock);
    p->made += !over;
    p->over |= over;
    for (unsigned i = 0; i < p->n_workers; i++)
        enough |= p->made - p->worker[i].done == p->slots / 2;
    if (enough)
        pthread_cond_broadcast(&p->filled);
    pthread_mutex_unlock(&p->lock);
}

/* Cut the rows of S that are not cut yet. */
static int cut_rows(struct slot *s, struct engine_cutter *c)
{
    while (s->cut_to < s->b->n && !c->over) {
        if (s->cap_cuts - s->n_cuts < ENGINE_CUTS) {
            uint32_t cap = s->cap_cuts + 2 * ENGINE_CUTS;
            struct engine_cut *cut = realloc(s->cut, cap * sizeof *cut);

            if (!cut)
                return TROD_ERR_NOMEM;
            s->cut = cut;
            s->cap_cuts = cap;
        }
        s->n_cuts += engine_cutter_next(c, s->b, &s->cut_to, s->cut + s->n_cuts);
    }
    return TROD_OK;
}

/* Wait until the workers have finished all slots. */
static void drain(struct pipe *p)
{
    pthread_mutex_lock(&p->lock);
    p->drains = true;
    pthread_cond_broadcast(&p->filled);
    for (unsigned i = 0; i < p->n_workers; i++)
        while (p->worker[i].done < p->made && !p->failed)
            pthread_cond_wait(&p->freed, &p->lock);
    p->drains = false;
    pthread_mutex_unlock(&p->lock);
}

/* Feed slot S, while no worker has anything to do. */
static void feed_alone(struct pipe *p, const struct slot *s)
{
    bool failed = false;

    for (unsigned i = 0; i < p->n_workers; i++) {
        feed_slot(&p->worker[i], s);
        failed |= gave_up(&p->worker[i]);
    }
    pthread_mutex_lock(&p->lock);
    p->failed |= failed;
    pthread_mutex_unlock(&p->lock);
}

/* Slot S, which is filled, goes to the workers, or is fed here. */
static void pass_on(struct pipe *p, const struct slot *s)
{
    if (p->pace.alone)
        feed_alone(p, s);
    else
        publish(p, false);
    if (p->n_workers > 1 || !run_pace_rows(&p->pace, s->b->n))
        return;
    if (p->pace.alone)
        drain(p);
    run_pace_go(&p->pace);
}

/* The slot that is being filled goes to the workers. */
static int flush(struct pipe *p, struct engine_cutter *c)
{
    struct slot *s = p->open;
    int rc;

    p->open = NULL;
    if (!s || s->b->n == 0)
        return TROD_OK;
    s->b->meta = &s->meta;
    if (s->streaks && !s->b->streaks)
        engine_streaks_make(s->streaks, s->b);
    rc = cut_rows(s, c);
    if (rc == TROD_OK)
        pass_on(p, s);
    return rc;
}

/* Do the rows of B from AT on follow directly after those of the open slot? */
static bool goes_on(const struct pipe *p, const struct trod_batch *b, uint32_t at)
{
    const struct trod_batch *to = p->open->b;

    return to->n == 0 || (to->have == b->have && to->first + to->n == b->first + at &&
                          to->n < to->cap && p->open->meta.file == b->meta->file);
}

/* A free slot for copies of the rows of B from AT on. 0, 1 when a worker gave up, or an error. */
static int open_slot(struct pipe *p, const struct trod_batch *b, uint32_t at)
{
    const uint32_t rows = p->slots == SLOTS_MANY ? TURN : TROD_BATCH_ROWS;
    struct slot *s = free_slot(p);
    int rc;

    if (!s)
        return 1;
    if (!s->copies && (rc = trod_batch_new(&s->copies, rows)) < 0)
        return rc;
    s->b = s->copies;
    trod_batch_clear(s->b);
    s->b->want = b->want;
    s->b->first = trod_origin_row(b, at);
    p->open = s;
    return TROD_OK;
}

/* Copies of the rows of B into slots. 0, 1 when a worker gave up, or an error. */
static int put_copies(struct pipe *p, struct engine_cutter *c, const struct trod_batch *b)
{
    int rc = TROD_OK;

    for (uint32_t at = 0, n; rc == TROD_OK && at < b->n; at += n) {
        if (p->open && !goes_on(p, b, at) && (rc = flush(p, c)) < 0)
            return rc;
        if (!p->open && (rc = open_slot(p, b, at)) != TROD_OK)
            return rc;
        n = trod_batch_append(p->open->b, b, at, b->n - at);
        p->open->meta = *b->meta;
        p->open->b->streaks = NULL; /* made again, of all rows that share the slot */
        if (n == 0 && p->open->b->n == 0)
            return trod_error(p->run->diag, TROD_ERR_LIMIT, "run.row-too-large", NULL,
                              "a record is larger than a batch holds; use -j 1");
        if (n == 0)
            rc = flush(p, c);
        else if (!c->plain) /* no batch is read, and none of its problems met, behind the region */
            rc = cut_rows(p->open, c);
    }
    return rc;
}

/*
 * The rows of B are fed here, from where they are; no slot is open. 0, 1 when a worker gave up, or
 * an error.
 */
static int put_alone(struct pipe *p, struct engine_cutter *c, struct trod_batch *b)
{
    struct trod_meta *const meta = b->meta;
    struct slot *s = free_slot(p);
    int rc;

    if (!s)
        return 1;
    s->b = b;
    s->meta = *meta;
    p->open = s;
    rc = flush(p, c);
    b->meta = meta;
    return rc;
}

/*
 * The rows of B, the last batch of the trace, into slots, with the streaks of D. 0, 1 when a worker
 * gave up, or an error.
 */
static int put(struct pipe *p, struct engine_cutter *c, struct run_decoder *d, struct trod_batch *b)
{
    struct trod_streaks *streaks;
    struct slot *s;
    int rc;

    if (p->pace.alone && (rc = flush(p, c)) < 0)
        return rc;
    if (p->pace.alone)
        return put_alone(p, c, b);
    if (b->n < FEW)
        return put_copies(p, c, b);
    if ((rc = flush(p, c)) < 0)
        return rc;
    if (!(s = free_slot(p)))
        return 1;
    rc = trod_trace_take(p->run->whole, s->taken);
    if (rc < 0)
        return rc == TROD_ERR_UNSUPPORTED ? put_copies(p, c, b) : rc;
    s->taken = b;
    if (!trod_batch_own(b, run_slices(p->run)))
        return put_copies(p, c, b); /* S is the first of the slots */
    s->b = b;
    s->meta = *b->meta;
    if (b->streaks) {
        streaks = s->streaks;
        s->streaks = d->streaks;
        d->streaks = streaks;
    }
    p->open = s;
    return flush(p, c);
}

/* All rows of the trace: to the slots, and (cut by DIRECT) to who must have them as they are. */
static int produce(struct pipe *p, struct run_decoder *decoder, struct engine_cutter *cutter,
                   struct engine_cutter *direct)
{
    struct trod_run *r = p->run;
    struct trod_batch *b;
    int rc = TROD_OK, more = 1;

    while (rc == TROD_OK && more == 1 && !cutter->over) {
        more = run_next(r, r->whole, decoder, &b);
        if (more <= 0)
            break;
        if (p->direct && (rc = run_feed(r, direct, b, true)) < 0)
            return rc;
        rc = put(p, cutter, decoder, b);
        run_tick(r);
    }
    if (rc == TROD_OK)
        rc = flush(p, cutter);
    return more < 0 ? more : rc < 0 ? rc : TROD_OK;
}

/* Share the instances out to the workers, each of which has a meta of its own. */
static int assign(struct pipe *p)
{
    struct trod_run *r = p->run;
    unsigned next = 0;
    int rc = TROD_OK;

    for (size_t i = 0; i < r->n_items; i++)
        for (unsigned k = 0; rc == TROD_OK && k < r->item[i].shards; k++) {
            bool direct = r->item[i].analysis->direct;
            struct worker *w = &p->worker[next % p->n_workers];

            rc = engine_instance_begin(&r->item[i].instance[k], r, &r->item[i],
                                       direct ? trod_trace_meta(r->whole) : &w->meta, k);
            p->direct |= direct;
            if (direct)
                continue;
            w->instance[w->n_instances++] = &r->item[i].instance[k];
            next++;
        }
    return rc;
}

static int pipe_new(struct pipe *p, struct trod_run *r)
{
    unsigned instances = 0, workers = r->opt.jobs - 1;

    *p = (struct pipe){.run = r, .slots = SLOTS};
    if (r->opt.trace.order != TROD_ORDER_FILE)
        p->slots = trod_trace_files(r->whole) > MANY ? SLOTS_MANY : SLOTS_SEVERAL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    pthread_cond_init(&p->freed, NULL);
    for (size_t i = 0; i < r->n_items; i++)
        instances += r->item[i].analysis->direct ? 0 : r->item[i].shards;
    /* an analysis that takes all threads has so much to do that decoding does not count as one */
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].shards > workers)
            workers = r->item[i].shards;
    p->n_workers = workers < instances ? workers : instances;
    if (p->n_workers == 1)
        run_pace_init(&p->pace, r->pace_rows);
    p->worker = calloc(p->n_workers, sizeof *p->worker);
    r->pipe_workers = p->worker;
    if (!p->worker || run_instances(r) < 0)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; i < p->n_workers; i++) {
        p->worker[i].pipe = p;
        p->worker[i].meta = *trod_trace_meta(r->whole);
        p->worker[i].instance = calloc(instances, sizeof *p->worker[i].instance);
        if (!p->worker[i].instance)
            return TROD_ERR_NOMEM;
    }
    for (unsigned i = 0; i < p->slots; i++)
        if (r->streaks && !(p->slot[i].streaks = malloc(sizeof *p->slot[i].streaks)))
            return TROD_ERR_NOMEM;
    return assign(p);
}

static void pipe_fini(struct pipe *p)
{
    for (unsigned i = 0; i < p->slots; i++) {
        trod_batch_free(p->slot[i].copies);
        trod_batch_free(p->slot[i].taken);
        free(p->slot[i].streaks);
        free(p->slot[i].cut);
    }
    for (unsigned i = 0; p->worker && i < p->n_workers; i++) {
        free(p->worker[i].instance);
        p->worker[i].meta =
            *trod_trace_meta(p->run->whole); /* whose states are asked for results */
    }
    pthread_cond_destroy(&p->freed);
    pthread_cond_destroy(&p->filled);
    pthread_mutex_destroy(&p->lock);
}

void run_ahead(struct trod_run *r)
{
    bool direct = r->opt.jobs > 1 && r->opt.trace.order == TROD_ORDER_FILE;

    for (size_t i = 0; i < r->n_items; i++)
        direct = direct && r->item[i].analysis->direct;
    /*
     * A run that may end before its trace meets the problems of its last batch: which these are
     * must not depend on how the bytes come in. What comes from a pipe is looked at when it comes.
     */
    if ((r->opt.region_to || r->opt.filter) && trod_trace_rewindable(r->whole))
        trod_trace_settle_windows(r->whole);
    if (direct)
        trod_trace_windows(r->whole);
    else
        trod_trace_alone(r->whole);
}

int run_pipe(struct trod_run *r)
{
    struct run_decoder decoder = {0};
    struct engine_cutter cutter, direct;
    struct pipe p;
    int rc = pipe_new(&p, r), joined;

    if (p.n_workers == 1 && r->opt.jobs == 2)
        trod_trace_inputs_alone(r->whole);
    engine_cutter_init(&cutter, r);
    direct = cutter;
    if (rc == TROD_OK)
        rc = run_decoder_begin(&decoder, r, r->opt.trace.order != TROD_ORDER_FILE);
    while (rc == TROD_OK && p.started < p.n_workers) {
        if (pthread_create(&p.worker[p.started].thread, NULL, work, &p.worker[p.started]) != 0)
            rc = TROD_ERR_NOMEM;
        else
            p.started++;
    }
    if (rc == TROD_OK)
        rc = produce(&p, &decoder, &cutter, &direct);
    publish(&p, true);
    for (unsigned i = 0; i < p.started; i++)
        pthread_join(p.worker[i].thread, NULL);
    r->read = cutter.now;
    r->met = cutter.begun || cutter.plain;
    r->warming = cutter.warm;
    joined = rc == TROD_ERR_NOMEM ? rc : run_join(r, &cutter.end, trod_trace_files(r->whole));
    run_decoder_end(&decoder);
    pipe_fini(&p);
    return rc < 0 ? rc : joined;
}
