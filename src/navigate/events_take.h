/*
 * events_take.h - the next event of events.h, for loops that are made for it: what is not looked at
 * there is not even put together.
 */
#ifndef NAVIGATE_EVENTS_TAKE_H
#define NAVIGATE_EVENTS_TAKE_H

#include "core/pack.h"
#include "core/wide.h"
#include "navigate/events.h"
#include "trod/meta.h"

/* Of the first byte of an event (events.c). */
enum {
    NAV_EV_LANE = 1 << 2,
    NAV_EV_MOMENT = 1 << 3,
    NAV_EV_NEW_KEY = 1 << 4,
    NAV_EV_HOW = 4,
    NAV_EV_SURE = 6
};

/* What the first codes of a time mean. */
enum { NAV_SAME_TIME, NAV_SAME_AS_INSNS, NAV_WHOLE_TIME, NAV_TIMES };

/* ---- events.c */
extern const struct nav_events_lane nav_events_beginning;
struct nav_events_lane *nav_events_new_base(struct nav_events_past *p, uint32_t lane);
/* A key that is written out, which gets a number. 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int nav_events_new_key(struct nav_events_reader *r, struct nav_call_key *k);

/* The state that events of LANE are encoded against. NULL: no memory. */
static inline struct nav_events_lane *nav_events_base(struct nav_events_past *p, uint32_t lane)
{
    return lane < p->n_base ? &p->base[lane] : nav_events_new_base(p, lane);
}

/* With a LEAVE that is OPEN its lane is over: the next file may have one of that number. */
static inline void nav_events_settle(const struct nav_event *e, struct nav_events_lane *base)
{
    if (e->what == NAV_SWITCH)
        return;
    base->insn = e->now.instruction;
    base->time = e->now.time;
    if (e->what == NAV_LEAVE && e->how == TROD_FRAME_OPEN)
        *base = nav_events_beginning;
}

static inline int nav_events_get(struct nav_events_reader *r, unsigned column, uint64_t *v)
{
    return trod_unpack(&r->column[column], v);
}

TROD_HOT int nav_events_lane(struct nav_events_reader *r, uint32_t *lane)
{
    uint64_t v;

    if (nav_events_get(r, NAV_E_LANE, &v) < 0 || v > TROD_STREAM_MAX)
        return TROD_ERR_CORRUPT;
    *lane = (uint32_t)v;
    return TROD_OK;
}

TROD_HOT int nav_events_moment(struct nav_events_reader *r, struct nav_event *x)
{
    uint64_t row, passed = 0, time;

    if (nav_events_get(r, NAV_E_ROW, &row) < 0)
        return TROD_ERR_CORRUPT;
    if (x->what != NAV_SWITCH) {
        if (nav_events_get(r, NAV_E_INSN, &passed) < 0 || nav_events_get(r, NAV_E_TIME, &time) < 0)
            return TROD_ERR_CORRUPT;
        x->now.instruction += passed;
        if (time >= NAV_TIMES)
            x->now.time += time - NAV_TIMES;
        else if (time == NAV_SAME_AS_INSNS)
            x->now.time += passed;
        else if (time == NAV_WHOLE_TIME && nav_events_get(r, NAV_E_TIME, &x->now.time) < 0)
            return TROD_ERR_CORRUPT;
    }
    x->now.row = trod_unzigzag(row, x->now.row + passed);
    return TROD_OK;
}

TROD_HOT int nav_events_enter(struct nav_events_reader *r, struct nav_event *x, bool new)
{
    struct nav_call_key key;
    uint64_t v;

    if (new) {
        const int rc = nav_events_new_key(r, &key);

        if (rc < 0)
            return rc;
        x->call = key;
    } else if (nav_events_get(r, NAV_E_CALL, &v) < 0 || v >= r->past.n_keys) {
        return TROD_ERR_CORRUPT;
    } else {
        x->call = r->past.key[v];
    }
    x->now.pc = x->call.pc;
    x->site_row = TROD_NOWHERE;
    if (x->call.site_pc == TROD_NOWHERE)
        return TROD_OK;
    if (nav_events_get(r, NAV_E_SITE, &v) < 0)
        return TROD_ERR_CORRUPT;
    x->site_row = x->now.row - v;
    return TROD_OK;
}

TROD_HOT int nav_events_leave(struct nav_events_reader *r, struct nav_event *x, unsigned what)
{
    uint64_t v;

    x->how = what >> NAV_EV_HOW & 3;
    x->sure = (uint8_t)(what >> NAV_EV_SURE);
    if (nav_events_get(r, NAV_E_LAST, &v) < 0)
        return TROD_ERR_CORRUPT;
    x->last_time = x->now.time - v;
    if (x->how != TROD_FRAME_OPEN)
        return TROD_OK;
    if (nav_events_get(r, NAV_E_OTHER, &v) < 0)
        return TROD_ERR_CORRUPT;
    x->at = x->now.row + v;
    return TROD_OK;
}

/* An event of which nothing is known but these. (Compilers clear large structs slowly.) */
TROD_HOT void nav_events_begin(struct nav_event *x, unsigned what, uint32_t lane)
{
    x->what = (uint8_t)what;
    x->lane = lane;
    x->call.pc = x->call.site_pc = 0;
    x->call.kind = x->call.sure = 0;
    x->call.under = false;
    x->site_row = x->last_time = 0;
    x->how = x->sure = 0;
    x->context = 0;
}

/* nav_events_next. */
TROD_HOT int nav_events_take(struct nav_events_reader *r, struct nav_event *x)
{
    struct nav_events_lane *base;
    uint64_t context = 0;
    unsigned what;
    int rc = TROD_OK;

    if (r->left == 0)
        return 0;
    r->left--;
    what = *r->column[NAV_E_WHAT].p++;
    r->column[NAV_E_WHAT].n--;
    nav_events_begin(x, what & 3, r->past.lane);
    if (what & NAV_EV_LANE && nav_events_lane(r, &x->lane) < 0)
        return TROD_ERR_CORRUPT;
    if (!(base = nav_events_base(&r->past, x->lane)))
        return TROD_ERR_NOMEM;
    x->now.row = r->past.row;
    x->now.instruction = base->insn;
    x->now.time = base->time;
    x->now.pc = TROD_NOWHERE;
    if (what & NAV_EV_MOMENT)
        rc = nav_events_moment(r, x);
    x->at = x->now.row;
    if (rc == TROD_OK && x->what == NAV_ENTER)
        rc = nav_events_enter(r, x, what & NAV_EV_NEW_KEY);
    else if (rc == TROD_OK && x->what == NAV_LEAVE)
        rc = nav_events_leave(r, x, what);
    else if (rc == TROD_OK && x->what == NAV_SWITCH &&
             (rc = nav_events_get(r, NAV_E_OTHER, &context)) == TROD_OK)
        rc = context > UINT32_MAX ? TROD_ERR_CORRUPT : TROD_OK;
    x->context = (uint32_t)context;
    if (rc < 0)
        return rc;
    nav_events_settle(x, base);
    r->past.row = x->now.row;
    r->past.lane = x->lane;
    return 1;
}

#endif
