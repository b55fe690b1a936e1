/*
 * parts.c - branches of parts of a file: what is kept of them, and how parts are joined
 * (branches.h).
 *
 * The outcome of a branch follows from the row behind it, and the kind of that row may depend on
 * the branch: so the first rows of a part wait for the part before. All later rows are processed
 * while the part is read, except that predictors get the branches of a stream in order when states
 * are merged, and that it is decided then whether the first execution of a site in the part was a
 * turn.
 */
#include "analysis/branches/branches.h"

#include "core/grow.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

size_t br_recorded(const void *st)
{
    return ((const struct br_state *)st)->recorded;
}

void br_part_free(struct br_part *p)
{
    free(p->row);
    free(p->event);
}

/* ---- first rows */

/*
 * Is it known behind row I of B what L waits for? With delay slots the next row may be the slot of
 * the branch before: then it takes two instructions, the first of which is no branch.
 */
static bool tells(struct br_state *s, struct br_part *p, const struct trod_batch *b, uint32_t i,
                  uint32_t said)
{
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const bool even = p->even;
    uint32_t site;

    if (b->kind[i] != TROD_INSTR || flags & TROD_F_SYNTHETIC)
        return false;
    br_learn_isa(s, b);
    if (!s->delay)
        return true;
    site = b->site[i];
    p->even = site < s->n_sites && !(flags & (TROD_F_BRANCH | TROD_F_NOFETCH)) &&
              trod_site_insn(s->context.sites, site)->valid &&
              trod_site_insn(s->context.sites, site)->branch == TROD_BR_NONE;
    return even;
}

int br_part_waits(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
                  uint32_t said)
{
    struct br_part *p = &l->part;
    int rc;

    if (!trod_grow(&p->row, p->n_rows, &p->cap_rows, sizeof *p->row, 4))
        return TROD_ERR_NOMEM;
    p->row[p->n_rows++] = (struct br_row){.kind = b->kind[i],
                                          .said = said,
                                          .site = b->site[i],
                                          .addr = said & TROD_COL_ADDR ? b->addr[i] : 0,
                                          .target = said & TROD_COL_TARGET ? b->target[i] : 0,
                                          .value = said & TROD_COL_VALUE ? b->value[i] : 0,
                                          .size = said & TROD_COL_SIZE ? b->size[i] : 0,
                                          .flags = said & TROD_COL_FLAGS ? b->flags[i] : 0,
                                          .sub = said & TROD_COL_SUB ? b->sub[i] : 0};
    s->recorded += sizeof *p->row;
    if (!tells(s, p, b, i, said))
        return 1;
    p->open = false; /* what it is itself does not depend on those before it */
    rc = br_row(s, l, b, i, said);
    s->sums.instructions--; /* it is counted when its turn comes */
    return rc < 0 ? rc : 1;
}

/* ROW, of a trace of META, is one of lane L. */
static int row_again(struct br_state *s, struct br_lane *l, struct br_row row,
                     const struct trod_meta *meta)
{
    const struct trod_batch b = {.n = 1,
                                 .have = UINT32_MAX,
                                 .meta = (struct trod_meta *)(uintptr_t)meta,
                                 .kind = &row.kind,
                                 .has = &row.said,
                                 .site = &row.site,
                                 .addr = &row.addr,
                                 .target = &row.target,
                                 .value = &row.value,
                                 .size = &row.size,
                                 .flags = &row.flags,
                                 .sub = &row.sub};

    return br_row(s, l, &b, 0, row.said);
}

/* ---- put together */

int br_part_keep(struct br_state *s, struct br_lane *l)
{
    struct br_part *p = &l->part;
    const size_t n = p->n_events + l->event_n;

    if (n > p->cap_events) {
        const size_t cap = 2 * n;
        struct trod_bp_event *e = realloc(p->event, cap * sizeof *e);

        if (!e)
            return TROD_ERR_NOMEM;
        p->event = e;
        p->cap_events = cap;
    }
    if (l->event_n)
        memcpy(p->event + p->n_events, l->events, l->event_n * sizeof *l->events);
    p->n_events = n;
    s->recorded += l->event_n * sizeof *l->events;
    return TROD_OK;
}

/* Sites of L were executed in P, behind what L knows. */
static int follow_sites(struct br_state *s, struct br_lane *l, const struct br_lane *p)
{
    if (p->n_last > l->n_last) {
        uint8_t *last = realloc(l->last, p->n_last);

        if (!last)
            return TROD_ERR_NOMEM;
        memset(last + l->n_last, 0, p->n_last - l->n_last);
        l->last = last;
        l->n_last = p->n_last;
    }
    for (size_t i = 0; i < p->n_last; i++) {
        const uint8_t was = l->last[i], now = p->last[i];

        if (!now)
            continue;
        s->site[i].turns += was && (was & BR_OUTCOME) != now >> BR_FIRST;
        l->last[i] = was ? (uint8_t)((was & ~BR_OUTCOME) | (now & BR_OUTCOME)) : now;
    }
    return TROD_OK;
}

/* L goes on with P, a lane of T. */
static int follow(struct br_state *s, struct br_lane *l, const struct br_state *t,
                  const struct br_lane *p)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < p->part.n_rows; i++)
        rc = row_again(s, l, p->part.row[i], t->context.meta);
    if (rc == TROD_OK)
        rc = br_flush(s, l);
    if (rc < 0 || p->part.open)
        return rc;
    if (!l->aligned) {
        l->aligned = p->aligned;
        l->shift = p->shift;
    }
    if (s->context.shard == 0)
        rc = follow_sites(s, l, p);
    for (size_t at = 0, n; rc == TROD_OK && at < p->part.n_events; at += n) {
        n = p->part.n_events - at < BR_EVENTS ? p->part.n_events - at : BR_EVENTS;
        rc = br_predict(s, l, p->part.event + at, n);
    }
    l->waits = p->waits;
    l->known = p->known;
    l->delay = p->delay;
    l->row = BR_EARLIER;
    l->event = p->event;
    return rc;
}

int br_part_merge(struct br_state *s, const struct br_state *t)
{
    struct trod_meta *to = (struct trod_meta *)(uintptr_t)s->context.meta;
    int rc = TROD_OK;

    if (t->isa_known && !s->isa_known) { /* as its first rows would have told */
        s->isa_known = true;
        s->delay = t->delay;
    }
    for (size_t i = 0; rc == TROD_OK && i < t->n_lanes; i++) {
        const struct br_lane *p = t->lane[i];
        const int key = engine_stream_same_key(to, t->context.meta, p->stream);
        struct br_lane *l;

        if (key < 0)
            return key;
        l = br_lane(s, (uint32_t)key, p->file);
        rc = l ? follow(s, l, t, p) : TROD_ERR_NOMEM;
    }
    return rc;
}
