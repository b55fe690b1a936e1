/*
 * given.c - the calls of an index for who reads a part of the trace. Implements what
 * callstack/given.h asks for.
 *
 * Streams of a file end with it, whoever reads: neither their last calls nor the contexts that are
 * gone through for that are reported.
 */
#include "callstack/given.h"
#include "navigate/calls.h"
#include "navigate/index.h"
#include "navigate/nav.h"

#include "navigate/begin.h"

#include <stdlib.h>

struct reader {
    const struct trod_nav *nav;
    const struct nav_index *index; /* NAV's, when reading began */
    uint32_t segment;              /* that is being read */
    struct trod_buf open;          /* struct trod_given, AT of them were given */
    size_t at;
    struct nav_unpacker *unpacker;
    struct trod_buf raw; /* what EVENTS reads */
    struct nav_events_reader events;
    struct nav_event next; /* where AHEAD */
    bool ahead;
};

static void end(void *reader)
{
    struct reader *r = reader;

    nav_events_close(&r->events);
    nav_unpacker_free(r->unpacker);
    trod_buf_fini(&r->raw);
    trod_buf_fini(&r->open);
    free(r);
}

static int unpack(struct reader *r)
{
    const struct nav_section *s = nav_followed(r->nav, r->segment);

    r->raw.n = 0;
    return nav_unsqueeze_by(r->unpacker, r->index->file + s->offset, s->length, s->raw, &r->raw);
}

static int begin(void *ctx, uint64_t row, void **reader)
{
    const struct trod_nav *nav = ctx;
    const struct nav_index *x = nav->index;
    const size_t k = nav_block_of(nav, row);
    struct reader *r = calloc(1, sizeof *r);
    int rc;

    *reader = r;
    if (!r)
        return TROD_ERR_NOMEM;
    r->nav = nav;
    r->index = x;
    r->segment = nav_index_segment(x, k);
    rc = nav_unpacker_new(&r->unpacker);
    if (rc == TROD_OK)
        rc = unpack(r);
    if (rc == TROD_OK)
        rc = nav_calls_begin((struct trod_span){.p = r->raw.p, .n = r->raw.n}, row, &r->open,
                             &r->events, &r->next);
    r->ahead = rc > 0;
    if (x->block[k].flags & NAV_B_START && row == x->block[k].row)
        r->open.n = 0; /* of another file */
    return rc < 0 ? rc : TROD_OK;
}

/* The next event, into r->next. Returns 1, 0 or an error. */
static int read_event(struct reader *r)
{
    int rc = nav_events_next(&r->events, &r->next);

    while (rc == 0 && r->segment + 1 < r->index->n_segments) {
        nav_events_close(&r->events);
        r->events = (struct nav_events_reader){.left = 0};
        r->segment++;
        rc = unpack(r);
        if (rc == TROD_OK)
            rc = nav_calls_read((struct trod_span){.p = r->raw.p, .n = r->raw.n}, &r->events);
        if (rc == TROD_OK)
            rc = nav_events_next(&r->events, &r->next);
    }
    return rc;
}

/* Its next event, into *E. Returns 1, 0 or an error. */
static int take(struct reader *r, struct nav_event *e)
{
    const int rc = r->ahead ? 1 : read_event(r);

    r->ahead = false;
    *e = r->next;
    return rc;
}

static bool ends_stream(const struct nav_event *e)
{
    return e->what == NAV_LEAVE && e->how == TROD_FRAME_OPEN;
}

static struct trod_given of_event(const struct nav_event *e)
{
    struct trod_given g = {.lane = e->lane,
                           .row = e->at,
                           .context = e->context,
                           .pc = e->call.pc,
                           .site_row = e->site_row,
                           .site_pc = e->call.site_pc};

    switch (e->what) {
    case NAV_ENTER:
        g.what = TROD_GIVEN_ENTER;
        g.kind = e->call.kind;
        g.sure = e->call.sure;
        g.under = e->call.under;
        break;
    case NAV_LEAVE:
        g.what = TROD_GIVEN_LEAVE;
        g.how = e->how;
        g.sure = e->sure;
        break;
    case NAV_SWITCH:
        g.what = TROD_GIVEN_SWITCH;
        break;
    default:
        g.what = TROD_GIVEN_UNMATCHED;
        break;
    }
    return g;
}

static int next(void *reader, struct trod_given *out)
{
    struct reader *r = reader;
    struct nav_event e;
    int rc;

    if (r->at < r->open.n / sizeof *out) {
        *out = ((const struct trod_given *)(const void *)r->open.p)[r->at++];
        return 1;
    }
    while ((rc = take(r, &e)) > 0) {
        if (ends_stream(&e))
            continue;
        if (e.what == NAV_SWITCH) {
            if ((rc = read_event(r)) < 0)
                return rc;
            r->ahead = rc > 0;
            if (r->ahead && ends_stream(&r->next) && r->next.lane == e.lane && r->next.at == e.at)
                continue;
        }
        *out = of_event(&e);
        return 1;
    }
    return rc;
}

/* ---- registers that were written before the part */

static void lock(void *ctx, bool on)
{
    const struct trod_nav *nav = ctx;

    if (on)
        pthread_mutex_lock(&nav->begin->lock);
    else
        pthread_mutex_unlock(&nav->begin->lock);
}

/* The row of the first instruction of LANE in the file that ROW is in. 1, 0 or an error. */
static int began(struct trod_nav *nav, uint32_t lane, uint64_t row, uint64_t *first)
{
    const struct nav_index *x = nav->index;
    struct trod_given g;
    void *reader;
    int rc = begin(nav, x->source[x->block[nav_block_of(nav, row)].file].row, &reader);

    while (rc == TROD_OK && (rc = next(reader, &g)) > 0) {
        if (g.what == TROD_GIVEN_ENTER && g.lane == lane) {
            *first = g.row;
            break;
        }
        rc = TROD_OK;
    }
    if (reader)
        end(reader);
    return rc;
}

static int wrote(void *ctx, uint32_t lane, const char *name, uint64_t *row,
                 const struct trod_batch **b, uint32_t *i)
{
    struct trod_nav *nav = ctx;
    const struct trod_nav_query query = {.access = TROD_NAV_WRITES,
                                         .reg = name,
                                         .stream = lane ? lane - 1 : TROD_NO_STREAM,
                                         .one_stream = true};
    struct trod_nav_hit hit;
    uint64_t first = 0;
    size_t n = 0;
    int rc = nav->index ? began(nav, lane, *row, &first) : TROD_ERR_UNKNOWN;

    if (rc > 0)
        rc = trod_nav_find(nav, &query, *row, true, &hit, 1, &n);
    if (rc < 0 || n == 0 || hit.row < first)
        return rc < 0 ? rc : 0;
    *row = hit.row;
    return trod_nav_row(nav, hit.row, b, i);
}

/* Are times of streams known where reading begins inside their file? */
static bool times_known(const struct nav_index *x)
{
    uint64_t flags = 0;

    for (uint32_t k = 0; k < x->n_blocks; k++) {
        flags = (x->block[k].flags & NAV_B_START ? 0 : flags) | x->block[k].flags;
        if (flags & (NAV_B_FALLS | NAV_B_UNITS) || (flags & NAV_B_TIMED && flags & NAV_B_UNTIMED))
            return false;
    }
    return true;
}

bool nav_given(struct trod_nav *nav, uint64_t row, struct trod_given_calls *out)
{
    const struct nav_index *x = nav->index;
    const struct trod_callstack_counts *seen = nav_followed_counts(nav);

    *out = (struct trod_given_calls){
        .ctx = nav, .begin = begin, .next = next, .end = end, .lock = lock, .wrote = wrote};
    if (!seen || seen->too_deep || !times_known(x))
        return false;
    for (uint32_t i = nav_index_segment(x, nav_block_of(nav, row)); i < x->n_segments; i++) {
        const struct nav_section *s = nav_followed(nav, i);

        if (!s || nav_distrust(nav, nav_index_check(x, s)))
            return false;
    }
    return true;
}
