/*
 * events.c - entries and ends of calls as bytes, and back. Implements events.h.
 *
 * The first byte of an event: what it is (bits 0 and 1); bit 2: it is of another lane than the
 * event before; bit 3: of another moment; of an entry bit 4: its key is new; of an end bits 4 and
 * 5: how, bits 6 and 7: how sure. All else is packed (core/pack.h), a column after the other.
 */
#include "navigate/events_take.h"

#include "core/grow.h"
#include "trod/meta.h"

#include <stdlib.h>

enum { KEYS = 1 << 16 }; /* that have a number; others are written out each time */

/* ---- both ways */

const struct nav_events_lane nav_events_beginning = {0, TROD_NOWHERE};

struct nav_events_lane *nav_events_new_base(struct nav_events_past *p, uint32_t lane)
{
    return trod_grow_to(&p->base, &p->n_base, lane, sizeof *p->base, &nav_events_beginning)
               ? &p->base[lane]
               : NULL;
}

/* K gets a number, if there is one left. */
static int number(struct nav_events_past *p, const struct nav_call_key *k)
{
    p->last = *k;
    if (p->n_keys == KEYS)
        return TROD_OK;
    if (!trod_grow(&p->key, p->n_keys, &p->cap_keys, sizeof *p->key, 64))
        return TROD_ERR_NOMEM;
    p->key[p->n_keys++] = *k;
    return TROD_OK;
}

static void forget(struct nav_events_past *p)
{
    for (uint32_t i = 0; i < p->n_base; i++)
        p->base[i] = nav_events_beginning;
    p->n_keys = 0;
    p->row = 0;
    p->lane = 0;
    p->last = (struct nav_call_key){.pc = 0};
}

static void past_fini(struct nav_events_past *p)
{
    free(p->base);
    free(p->key);
}

/* ---- to bytes */

static int put(struct nav_events *e, unsigned column, uint64_t v)
{
    return trod_pack(&e->column[column], v);
}

static int put_time(struct nav_events *e, uint64_t time, uint64_t before, uint64_t insns)
{
    const uint64_t passed = time - before;
    int rc;

    if (time == before)
        return put(e, NAV_E_TIME, NAV_SAME_TIME);
    if (before != TROD_NOWHERE && passed == insns)
        return put(e, NAV_E_TIME, NAV_SAME_AS_INSNS);
    if (before != TROD_NOWHERE && passed < UINT64_MAX - NAV_TIMES)
        return put(e, NAV_E_TIME, passed + NAV_TIMES);
    rc = put(e, NAV_E_TIME, NAV_WHOLE_TIME);
    return rc < 0 ? rc : put(e, NAV_E_TIME, time);
}

static int put_moment(struct nav_events *e, const struct nav_event *x,
                      const struct nav_events_lane *base)
{
    const bool insn = x->what != NAV_SWITCH;
    const uint64_t passed = insn ? x->now.instruction - base->insn : 0;
    int rc = put(e, NAV_E_ROW, trod_zigzag(x->now.row, e->past.row + passed));

    if (rc == TROD_OK && insn)
        rc = put(e, NAV_E_INSN, passed);
    return rc < 0 || !insn ? rc : put_time(e, x->now.time, base->time, passed);
}

static bool same_key(const struct nav_call_key *a, const struct nav_call_key *b)
{
    return a->pc == b->pc && a->site_pc == b->site_pc && a->kind == b->kind && a->sure == b->sure &&
           a->under == b->under;
}

/* K's number, or that of a new one: *NEW. */
static uint32_t key_of(const struct nav_events *e, const struct nav_call_key *k, uint32_t hash,
                       bool *new)
{
    uint32_t i;

    for (size_t at = hash; trod_map_next(&e->map, hash, &at, &i);)
        if (same_key(&e->past.key[i], k)) {
            *new = false;
            return i;
        }
    *new = true;
    return (uint32_t)e->past.n_keys;
}

static int put_key(struct nav_events *e, const struct nav_call_key *k, uint32_t hash)
{
    const bool site = k->site_pc != TROD_NOWHERE;
    const struct nav_call_key *last = &e->past.last;
    const size_t n = e->past.n_keys;
    int rc =
        put(e, NAV_E_KEY, (unsigned)(k->kind << 4 | k->sure << 2 | k->under << 1) | (site ? 1 : 0));

    if (rc == TROD_OK)
        rc = put(e, NAV_E_KEY, trod_zigzag(k->pc, last->pc));
    if (rc == TROD_OK && site)
        rc = put(e, NAV_E_KEY, trod_zigzag(k->site_pc, k->pc));
    if (rc == TROD_OK)
        rc = number(&e->past, k);
    if (rc == TROD_OK && e->past.n_keys > n && !trod_map_put(&e->map, hash, (uint32_t)n))
        rc = TROD_ERR_NOMEM;
    return rc;
}

static int put_rest(struct nav_events *e, const struct nav_event *x, bool new, uint32_t key,
                    uint32_t hash)
{
    int rc;

    switch (x->what) {
    case NAV_ENTER:
        rc = new ? put_key(e, &x->call, hash) : put(e, NAV_E_CALL, key);
        return rc < 0 || x->call.site_pc == TROD_NOWHERE
                   ? rc
                   : put(e, NAV_E_SITE, x->now.row - x->site_row);
    case NAV_LEAVE:
        rc = put(e, NAV_E_LAST, x->now.time - x->last_time);
        return rc < 0 || x->how != TROD_FRAME_OPEN ? rc : put(e, NAV_E_OTHER, x->at - x->now.row);
    case NAV_SWITCH:
        return put(e, NAV_E_OTHER, x->context);
    default:
        return TROD_OK;
    }
}

int nav_events_put(struct nav_events *e, const struct nav_event *x)
{
    struct nav_events_lane *base = nav_events_base(&e->past, x->lane);
    uint8_t what = x->what;
    uint32_t hash = 0, key = 0;
    bool new = false;
    int rc = base ? TROD_OK : TROD_ERR_NOMEM;

    if (rc < 0)
        return rc;
    if (x->what == NAV_ENTER) {
        hash = trod_map_hash(x->call.pc + x->call.site_pc * 5 + x->call.kind);
        key = key_of(e, &x->call, hash, &new);
        what |= new ? NAV_EV_NEW_KEY : 0;
    } else if (x->what == NAV_LEAVE) {
        what |= (uint8_t)(x->how << NAV_EV_HOW | x->sure << NAV_EV_SURE);
    }
    if (x->lane != e->past.lane) {
        what |= NAV_EV_LANE;
        rc = put(e, NAV_E_LANE, x->lane);
    }
    if (x->now.row != e->past.row || (x->what != NAV_SWITCH && (x->now.instruction != base->insn ||
                                                                x->now.time != base->time))) {
        what |= NAV_EV_MOMENT;
        rc = rc < 0 ? rc : put_moment(e, x, base);
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(&e->column[NAV_E_WHAT], &what, 1);
    if (rc == TROD_OK)
        rc = put_rest(e, x, new, key, hash);
    nav_events_settle(x, base);
    e->past.row = x->now.row;
    e->past.lane = x->lane;
    e->n++;
    return rc;
}

int nav_events_save(struct nav_events *e, struct trod_buf *out)
{
    int rc = trod_pack(out, e->n);

    for (unsigned i = 0; i < NAV_E_COLUMNS; i++) {
        if (rc == TROD_OK)
            rc = trod_pack(out, e->column[i].n);
        if (rc == TROD_OK && e->column[i].n)
            rc = trod_buf_add(out, e->column[i].p, e->column[i].n);
        e->column[i].n = 0;
    }
    e->n = 0;
    forget(&e->past);
    trod_map_clear(&e->map);
    return rc;
}

void nav_events_fini(struct nav_events *e)
{
    past_fini(&e->past);
    trod_map_fini(&e->map);
    for (unsigned i = 0; i < NAV_E_COLUMNS; i++)
        trod_buf_fini(&e->column[i]);
}

/* ---- from bytes */

int nav_events_open(struct nav_events_reader *r, struct trod_span in)
{
    uint64_t n;

    *r = (struct nav_events_reader){.left = 0};
    if (trod_unpack(&in, &r->left) < 0)
        return TROD_ERR_CORRUPT;
    for (unsigned i = 0; i < NAV_E_COLUMNS; i++) {
        if (trod_unpack(&in, &n) < 0 || n > in.n)
            return TROD_ERR_CORRUPT;
        r->column[i] = (struct trod_span){.p = in.p, .n = (size_t)n};
        in.p += n;
        in.n -= (size_t)n;
    }
    return in.n || r->left != r->column[NAV_E_WHAT].n ? TROD_ERR_CORRUPT : TROD_OK;
}

void nav_events_close(struct nav_events_reader *r)
{
    past_fini(&r->past);
}

int nav_events_new_key(struct nav_events_reader *r, struct nav_call_key *k)
{
    uint64_t v, pc, site;

    if (nav_events_get(r, NAV_E_KEY, &v) < 0 || v >> 4 >= TROD_FRAME_KINDS ||
        nav_events_get(r, NAV_E_KEY, &pc) < 0)
        return TROD_ERR_CORRUPT;
    k->kind = (uint8_t)(v >> 4);
    k->sure = v >> 2 & 3;
    k->under = (v & 2) != 0;
    k->pc = trod_unzigzag(pc, r->past.last.pc);
    k->site_pc = TROD_NOWHERE;
    if (v & 1) {
        if (nav_events_get(r, NAV_E_KEY, &site) < 0)
            return TROD_ERR_CORRUPT;
        k->site_pc = trod_unzigzag(site, k->pc);
    }
    return number(&r->past, k);
}

int nav_events_next(struct nav_events_reader *r, struct nav_event *x)
{
    return nav_events_take(r, x);
}
