/*
 * in_order.c - feeding the parts of one file, decoded by several threads, in the order of the file.
 *
 * For an analysis that needs all rows in order: it has one state, that of the run. A unit (units.c)
 * has its turn when all units before it are merged; it then feeds its rows as it decodes them.
 * Until then a unit keeps up to MOST decoded batches, and waits when it has that many.
 */
#include "engine/run_int.h"

#include "core/grow.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

/* Batches that a unit keeps: few enough to be read again while still in the processor's caches. */
enum { MOST = 8 };

/* A batch that waits, with the meta of its trace when it was decoded. */
struct run_held {
    struct trod_batch *b;
    struct trod_meta meta;
};

/* Returns 1 if it is the turn of U, else 0; WAIT: blocks until it is. Negative: the run was
 * stopped. */
static int turn(struct trod_run *r, const struct run_unit *u, bool wait)
{
    int is;

    pthread_mutex_lock(&r->lock);
    while (wait && !r->stop && r->merged != u->number)
        pthread_cond_wait(&r->turn, &r->lock);
    is = r->stop ? -1 : r->merged == u->number;
    pthread_mutex_unlock(&r->lock);
    return is;
}

/* Map the streams of FROM, the meta of a unit, to the stream numbers of WHOLE. 0 or an error. */
static int number_streams(struct run_order *o, struct trod_meta *whole,
                          const struct trod_meta *from)
{
    while (o->n_streams < from->n_streams) {
        const int number = engine_stream_same(whole, from, o->n_streams);

        if (number < 0)
            return number;
        if (!trod_grow(&o->stream, o->n_streams, &o->cap_streams, sizeof *o->stream, 8))
            return TROD_ERR_NOMEM;
        o->other |= (uint32_t)number != o->n_streams;
        o->stream[o->n_streams++] = (uint32_t)number;
    }
    return TROD_OK;
}

/* Copies of the columns whose values are numbers assigned by a meta, converted to another meta. */
struct renumbered {
    uint32_t stream[TROD_BATCH_ROWS];
    uint8_t unit[TROD_BATCH_ROWS];
};

/* Convert the stream column of B, a view, to the numbers of the whole trace. */
static void set_streams(const struct run_order *o, struct trod_batch *b, struct renumbered *to)
{
    if (!o->other || !(b->have & TROD_COL_STREAM))
        return;
    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t is = b->stream[i];

        to->stream[i] = b->has[i] & TROD_COL_STREAM && is < o->n_streams ? o->stream[is] : is;
    }
    b->stream = to->stream;
}

/* Convert the unit column of B from the numbers of FROM to those of WHOLE, which has learned FROM.
 */
static void set_units(struct trod_meta *whole, const struct trod_meta *from, struct trod_batch *b,
                      struct renumbered *to)
{
    uint8_t is[TROD_UNITS + TROD_OWN_UNITS];
    bool other = false;

    for (unsigned i = 0; i < sizeof is; i++)
        is[i] = (uint8_t)i;
    for (unsigned i = 0; i < TROD_OWN_UNITS && from->own_unit[i][0]; i++) {
        const int unit = trod_meta_unit(whole, from->own_unit[i], strlen(from->own_unit[i]));

        if (unit > 0)
            is[TROD_UNITS + i] = (uint8_t)unit;
        other |= is[TROD_UNITS + i] != TROD_UNITS + i;
    }
    if (!other || !(b->have & TROD_COL_UNIT))
        return;
    for (uint32_t i = 0; i < b->n; i++) {
        const uint8_t unit = b->unit[i] & 0xf;

        to->unit[i] = unit < sizeof is && b->has[i] & TROD_COL_UNIT
                          ? (uint8_t)((b->unit[i] & 0xf0) | is[unit])
                          : b->unit[i];
    }
    b->unit = to->unit;
}

/* Feed the rows of B, decoded with META, to the state of the run; it is the turn of U. 0, 1 if
 * there is no room for the units of time of U, which must be read again, or an error. */
static int give(struct trod_run *r, struct run_unit *u, const struct trod_batch *b,
                const struct trod_meta *meta)
{
    struct trod_meta *whole = (struct trod_meta *)(uintptr_t)trod_trace_meta(r->whole);
    struct engine_cut all = {.fed = true};
    struct engine_instance *in = &r->item[0].instance[0];
    struct renumbered columns;
    struct trod_batch view;
    uint32_t from = 0;
    int rc = engine_units_fit(whole, meta) ? trod_meta_learn(whole, meta) : 1;

    if (rc == TROD_OK)
        rc = number_streams(&u->order, whole, meta);
    if (rc != TROD_OK)
        return rc;
    if (u->order.given == 0)
        u->order.first = b->first;
    if (u->order.given < u->order.skip) {
        const uint64_t left = u->order.skip - u->order.given;

        from = left < b->n ? (uint32_t)left : b->n;
    }
    u->order.given += b->n;
    if (from == b->n)
        return TROD_OK;
    trod_batch_view(&view, b, from, b->n - from);
    view.meta = whole;
    /* independent of where the part counts from */
    view.first = r->done.rows + (b->first - u->order.first) + from;
    all.to = view.n;
    set_streams(&u->order, &view, &columns);
    set_units(whole, meta, &view, &columns);
    engine_instance_feed(in, &view, &all);
    return in->rc;
}

/* Give B, no longer needed, back for reuse. */
static void let_go(struct trod_run *r, struct trod_batch *b)
{
    pthread_mutex_lock(&r->lock);
    if (r->n_idle < RUN_IDLE)
        r->idle[r->n_idle++] = b;
    else
        trod_batch_free(b);
    pthread_mutex_unlock(&r->lock);
}

/* A batch to be reused, or NULL: there is none. */
static struct trod_batch *idle(struct trod_run *r)
{
    struct trod_batch *b;

    pthread_mutex_lock(&r->lock);
    b = r->n_idle ? r->idle[--r->n_idle] : NULL;
    pthread_mutex_unlock(&r->lock);
    return b;
}

int run_order_give(struct trod_run *r, struct run_unit *u)
{
    struct run_order *o = &u->order;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < o->n; i++) {
        rc = give(r, u, o->held[i].b, &o->held[i].meta);
        let_go(r, o->held[i].b);
        o->held[i].b = NULL;
    }
    if (rc == TROD_OK)
        o->n = 0;
    return rc;
}

/* Keep B, the latest batch of U. *WAITS: it is among the held batches. 0, 1 if its bytes cannot be
 * kept (it must be fed before the next batch is decoded), or an error. */
static int keep(struct trod_run *r, struct run_unit *u, struct trod_batch *b, bool *waits)
{
    struct run_order *o = &u->order;
    struct trod_batch *spare = idle(r);
    int rc;

    if (!trod_grow(&o->held, o->n, &o->cap, sizeof *o->held, MOST))
        rc = TROD_ERR_NOMEM;
    else
        rc = trod_trace_take(u->trace, spare);
    if (rc < 0) {
        if (spare)
            let_go(r, spare);
        return rc == TROD_ERR_UNSUPPORTED ? 1 : rc;
    }
    *waits = true;
    o->held[o->n++] = (struct run_held){b, *b->meta};
    return trod_batch_own(b, run_slices(r)) ? TROD_OK : 1;
}

int run_order_rows(struct trod_run *r, struct run_unit *u, struct trod_batch *b)
{
    int is = turn(r, u, u->order.n == MOST), rc;
    bool waits = false;

    if (is == 0) {
        rc = keep(r, u, b, &waits);
        if (rc <= 0)
            return rc;
        is = turn(r, u, true);
    }
    if (is < 0)
        return 1;
    rc = run_order_give(r, u);
    return rc == TROD_OK && !waits ? give(r, u, b, b->meta) : rc;
}

void run_order_end(struct run_unit *u)
{
    for (size_t i = 0; i < u->order.n; i++)
        trod_batch_free(u->order.held[i].b);
    free(u->order.held);
    free(u->order.stream);
    u->order = (struct run_order){.n = 0};
}

void run_order_forget(struct trod_run *r)
{
    while (r->n_idle)
        trod_batch_free(r->idle[--r->n_idle]);
}
