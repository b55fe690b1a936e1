/*
 * given.c - calls that are given instead of found by rules. Implements given.h.
 *
 * Streams count instructions and times from the first row that is fed, which is all that
 * differences need. Each change of a stack comes with the row of an instruction: nothing else is
 * looked at there.
 */
#include "callstack/given.h"
#include "callstack/callstack_int.h"

#include "core/grow.h"
#include "trod/analysis.h"

#include <stdlib.h>

struct cs_given {
    const struct trod_given_calls *calls;
    void *reader;
    struct trod_given next;
    struct cs_saved left; /* of the exception that ended last */
    int64_t stream;       /* whose rows are fed (trod_context.given_of) */
};

int trod_callstack_give(struct trod_callstack *c, const struct trod_given_calls *calls,
                        int64_t stream)
{
    if (!(c->given = calloc(1, sizeof *c->given)))
        return TROD_ERR_NOMEM;
    c->given->calls = calls;
    c->given->stream = stream;
    c->due = 0;
    return TROD_OK;
}

void cs_given_free(struct cs_given *g)
{
    if (g && g->reader)
        g->calls->end(g->reader);
    free(g);
}

/* As it is after its first instruction; no address is looked at. */
void cs_given_lane(struct cs_lane *l)
{
    l->began = true;
    l->gap.to = UINT64_MAX;
}

void trod_callstack_unmatched(struct trod_callstack *c,
                              int (*fn)(void *ctx, uint32_t lane, const struct trod_moment *to))
{
    c->unmatched = fn;
}

int cs_tell_unmatched(struct trod_callstack *c, struct cs_lane *l, const struct trod_moment *now)
{
    const int rc = c->told < c->at ? cs_tell(c, l, c->at) : TROD_OK;

    return rc < 0 ? rc : c->unmatched(c->sink.ctx, l->slot, now);
}

/* Are rows of lane AT fed? */
static bool is_fed(const struct cs_given *g, uint32_t at)
{
    return g->stream == TROD_ALL_STREAMS ||
           g->stream == (at ? (int64_t)at - 1 : TROD_UNSAID_STREAM);
}

/* The next change, into g->next. */
static int next(struct trod_callstack *c)
{
    struct cs_given *g = c->given;
    const int rc = g->calls->next(g->reader, &g->next);

    c->due = rc > 0 ? g->next.row : UINT64_MAX;
    return rc;
}

/* Context K of L runs, which is made if there is none. */
static int run(struct cs_lane *l, uint32_t k)
{
    if (k >= TROD_CALLSTACK_CONTEXTS)
        return TROD_ERR_CORRUPT;
    while (k >= l->n_contexts)
        if (cs_context_new(l) < 0)
            return TROD_ERR_NOMEM;
    l->now = k;
    l->context[k]->parked = false;
    return TROD_OK;
}

static int enter(struct trod_callstack *c, struct cs_lane *l, const struct trod_moment *entry,
                 const struct cs_insn *last)
{
    const struct trod_given *e = &c->given->next;
    const struct trod_moment site = {.row = e->site_row, .time = TROD_NOWHERE, .pc = e->site_pc};
    const struct cs_push p = {.kind = e->kind,
                              .sure = e->sure,
                              .under = e->under,
                              .site = e->site_pc == TROD_NOWHERE ? NULL : &site,
                              .entry = *entry};
    struct cs_context *x = cs_now(l);

    if (e->kind >= TROD_FRAME_KINDS || e->sure >= TROD_SURES || e->pc != entry->pc ||
        x->n >= TROD_CALLSTACK_DEPTH)
        return TROD_ERR_CORRUPT;
    if (e->kind == TROD_FRAME_EXCEPTION) {
        if (!trod_grow(&x->saved, x->n_saved, &x->cap_saved, sizeof *x->saved, 4))
            return TROD_ERR_NOMEM;
        x->saved[x->n_saved++] = last ? (struct cs_saved){.last = *last}
                                      : (struct cs_saved){.last.at.time = TROD_NOWHERE};
    }
    return cs_push(c, l, &p);
}

static int leave(struct trod_callstack *c, struct cs_lane *l, const struct cs_step *s)
{
    struct cs_given *g = c->given;
    const struct cs_context *x = cs_now(l);
    const struct trod_frame *f = cs_top(l);

    if (!f || g->next.how >= TROD_FRAME_ENDS || g->next.sure >= TROD_SURES)
        return TROD_ERR_CORRUPT;
    if (f->kind == TROD_FRAME_EXCEPTION)
        g->left = x->saved[f->own[OWN_SAVED]];
    return cs_pop(c, l, g->next.how, g->next.sure, &s->last->at, &s->now);
}

/*
 * The exception that L was in ended in another context than it began in; or L begins, which has no
 * activation then.
 */
static int change(struct trod_callstack *c, struct cs_lane *l)
{
    struct cs_context *x = cs_now(l);
    const int rc = c->told < c->at ? cs_tell(c, l, c->at) : TROD_OK;

    x->parked = x->n > 0;
    x->at = c->given->left;
    c->counts.switches += x->parked;
    return rc < 0 ? rc : run(l, c->given->next.context);
}

/* What was so before the first row that is fed. */
static int before(struct trod_callstack *c)
{
    const struct trod_given *e = &c->given->next;
    struct cs_lane *l = cs_lane_of(c, e->lane ? e->lane - 1 : TROD_NO_STREAM, e->lane != 0);
    const struct trod_moment entry = {.row = e->row, .time = e->time, .pc = e->pc};
    int rc = l ? run(l, e->context) : TROD_ERR_NOMEM;

    if (rc < 0 || e->what == TROD_GIVEN_SWITCH)
        return rc;
    rc = enter(c, l, &entry, NULL);
    l->context[e->context]->parked = true;
    return rc;
}

int cs_given_begin(struct trod_callstack *c, uint64_t row)
{
    struct cs_given *g = c->given;
    int rc;

    if (g->reader)
        return TROD_OK;
    rc = g->calls->begin(g->calls->ctx, row, &g->reader);
    while (rc == TROD_OK && (rc = next(c)) > 0 && g->next.before)
        rc = is_fed(g, g->next.lane) ? before(c) : TROD_OK;
    return rc < 0 ? rc : TROD_OK;
}

int cs_given_step(struct trod_callstack *c, struct cs_lane *l, const struct cs_step *s)
{
    const struct trod_given *e = &c->given->next;
    int rc = TROD_OK;

    while (rc == TROD_OK && c->due <= s->now.row) {
        if (!is_fed(c->given, e->lane)) {
            rc = next(c);
            rc = rc > 0 ? TROD_OK : rc;
            continue;
        }
        if (e->lane != l->slot || e->row != s->now.row)
            return TROD_ERR_CORRUPT;
        switch (e->what) {
        case TROD_GIVEN_ENTER:
            rc = enter(c, l, &s->now, s->last);
            break;
        case TROD_GIVEN_LEAVE:
            rc = leave(c, l, s);
            break;
        case TROD_GIVEN_SWITCH:
            rc = change(c, l);
            break;
        case TROD_GIVEN_UNMATCHED:
            c->counts.unmatched++;
            break;
        default:
            return TROD_ERR_CORRUPT;
        }
        if (rc == TROD_OK)
            rc = next(c);
        rc = rc > 0 ? TROD_OK : rc;
    }
    return rc;
}
