/*
 * lanes.c - parts of files: their beginnings, and how they are joined (hot.h).
 *
 * The state of a part of a file does not know what came before. Its lanes are open: the first
 * instructions wait, because it depends on the part before whether they were jumped to and whether
 * that was another trip of a loop; and so do the trips of loops that were not entered in the part
 * (trips.c). When states are merged, lanes of one part continue those of the part before. A lane
 * with nothing before it begins with its file (hot_lanes_settle).
 */
#include "analysis/hot/hot.h"

#include "core/grow.h"
#include "core/pack.h"
#include "engine/streams.h"

#include <stdlib.h>

/* No instruction lies at the last address there is: the first is a jump. */
const struct hot_lane hot_nowhere = {
    .here = {.next = UINT64_MAX, .site = TROD_NO_SITE, .before = TROD_NO_SITE}};

static void lane_free(struct hot_lane *l)
{
    free(l->ran);
    free(l->quiet);
    free(l->trips);
}

void hot_lanes_free(struct hot_state *s)
{
    for (uint32_t i = 0; i < s->n_lanes; i++)
        lane_free(&s->lane[i]);
    free(s->lane);
    if (s->own)
        trod_meta_fini(s->own);
    free(s->own);
}

/* L goes on with P, a lane of T, whose counters are among those of S. */
static int follow(struct hot_state *s, struct hot_lane *l, const struct hot_state *t,
                  const struct hot_lane *p)
{
    struct hot_here here = p->here;

    for (uint32_t i = 0; i < p->n_first; i++) {
        const uint32_t site = p->first[i].site, before = l->here.site;
        const bool jumped = i ? p->first[i].jumped : p->pc != l->here.next;

        if (hot_trips_count(s, l, site, 1, jumped) < 0)
            return TROD_ERR_NOMEM;
        l->here.site = site;
        l->here.before = before;
    }
    if (p->n_first == 0)
        return TROD_OK;
    hot_leave(s, &l->here); /* P's steps begin there */
    if (p->n_first == 1)
        here.before = l->here.before;
    l->here = here;
    return hot_trips_follow(s, l, t, p);
}

/* The open lane L of S begins as its file does. */
static int begin(struct hot_state *s, struct hot_lane *l)
{
    struct hot_lane begun = hot_nowhere;
    int rc;

    begun.file = l->file;
    rc = follow(s, &begun, s, l);
    lane_free(l);
    *l = begun;
    return rc;
}

/* L has no more rows. */
static int end_lane(struct hot_state *s, struct hot_lane *l)
{
    const int rc = l->open ? begin(s, l) : TROD_OK;

    hot_trips_end(s, l);
    return rc;
}

/*
 * Streams that go on in other files: parts of one file are joined before that (settle), because
 * processes share out only files of single threads.
 */
struct hot_lane *hot_lane(struct hot_state *s, uint32_t stream, uint32_t file)
{
    struct hot_lane *l;

    if (!trod_grow_to(&s->lane, &s->n_lanes, stream, sizeof *s->lane, &hot_nowhere))
        return NULL;
    l = &s->lane[stream];
    if (l->file != file) {
        if (end_lane(s, l) < 0)
            return NULL;
        hot_leave(s, &l->here);
        *l = hot_nowhere;
        l->file = file;
    }
    l->open |= s->context.recording && l->here.site == TROD_NO_SITE;
    return l;
}

/* The lanes of FILE, or ALL. */
static int settle(struct hot_state *s, uint32_t file, bool all)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        if (all || s->lane[i].file == file)
            rc = end_lane(s, &s->lane[i]);
    return rc;
}

int hot_lanes_settle(struct hot_state *s, uint32_t file)
{
    return settle(s, file, false);
}

/* Whether the streams of S go on in other files. NULL: not known. */
static struct trod_meta *meta_of(const struct hot_state *s)
{
    return s->own ? s->own : (struct trod_meta *)(uintptr_t)s->context.meta;
}

/* The lane of S that P, of STREAM of T, goes on with is continued. */
static int merge_lane(struct hot_state *s, const struct hot_state *t, const struct hot_lane *p,
                      uint32_t stream)
{
    const struct trod_meta *from = meta_of(t);
    struct trod_meta *to = meta_of(s);
    struct hot_lane *l;
    int key = (int)stream;

    if (!p->open || p->n_first == 0)
        return TROD_OK;
    if (from && to && from != to)
        key = engine_stream_same_key(to, from, stream);
    if (key < 0)
        return key;
    l = hot_lane(s, (uint32_t)key, p->file);
    if (!l)
        return TROD_ERR_NOMEM;
    l->open |= l->here.site == TROD_NO_SITE;
    s->fetched[(size_t)p->here.site + 1]++; /* T's counters say that it was left there */
    return follow(s, l, t, p);
}

int hot_lanes_merge(struct hot_state *s, const struct hot_state *t)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < t->n_lanes; i++)
        rc = merge_lane(s, t, &t->lane[i], i);
    return rc;
}

const struct hot_state *hot_lanes_begun(struct hot_state *room, const struct hot_state *s)
{
    struct trod_context context = s->context;
    bool open = false;

    for (uint32_t i = 0; i < s->n_lanes; i++)
        open |= s->lane[i].open;
    if (!open)
        return s;
    context.recording = false;
    if (hot_init(room, s->opt, &context) < 0 || hot_merge(room, s) < 0 || settle(room, 0, true) < 0)
        return NULL;
    return room;
}

void hot_lanes_end(struct hot_state *room)
{
    hot_fini(room);
}

/* ---- to bytes and back */

static bool is_saved(const struct hot_lane *l)
{
    return l->open && l->n_first;
}

size_t hot_lanes_sites(const struct hot_state *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->n_lanes; i++)
        for (uint32_t k = 0; s->lane[i].open && k < s->lane[i].n_first; k++)
            if (s->lane[i].first[k].site >= n)
                n = (size_t)s->lane[i].first[k].site + 1;
    return n;
}

static int save_lane(const struct hot_state *s, const struct hot_lane *l, uint32_t stream,
                     struct trod_buf *out)
{
    const struct trod_meta none = {.n_streams = 0}, *m = meta_of(s);
    const uint64_t numbers[] = {l->file,      l->n_first,   l->pc,
                                l->here.next, l->here.site, l->here.before};
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < sizeof numbers / sizeof *numbers; i++)
        rc = trod_pack(out, numbers[i]);
    for (uint32_t i = 0; rc == TROD_OK && i < l->n_first; i++)
        rc = trod_pack(out, l->first[i].site) | trod_pack(out, l->first[i].jumped);
    if (rc == TROD_OK)
        rc = engine_stream_save(out, m ? m : &none, stream);
    return rc == TROD_OK ? hot_trips_save_lane(s, l, out) : TROD_ERR_NOMEM;
}

int hot_lanes_save(const struct hot_state *s, struct trod_buf *out)
{
    uint64_t n = 0;
    int rc;

    for (uint32_t i = 0; i < s->n_lanes; i++)
        n += is_saved(&s->lane[i]);
    rc = trod_pack(out, n);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        if (is_saved(&s->lane[i]))
            rc = save_lane(s, &s->lane[i], i, out);
    return rc;
}

/* The number of a site here. False: there is none. */
static bool site_here(uint64_t saved, uint64_t n_sites, const uint32_t *sites, uint32_t *site)
{
    *site = saved < n_sites ? sites[saved] : TROD_NO_SITE;
    return saved < n_sites || saved == TROD_NO_SITE;
}

/* What IN says of L but for its trips, and of its *STREAM, counted from 1. */
static int load_numbers(struct hot_state *s, struct hot_lane *l, uint32_t *stream,
                        struct trod_span *in, uint64_t n_sites, const uint32_t *sites)
{
    uint64_t v[6];
    int key;

    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[0] > UINT32_MAX || v[1] == 0 || v[1] > HOT_FIRST ||
        !site_here(v[4], n_sites, sites, &l->here.site) || l->here.site == TROD_NO_SITE ||
        !site_here(v[5], n_sites, sites, &l->here.before))
        return TROD_ERR_CORRUPT;
    l->open = true;
    l->file = (uint32_t)v[0];
    l->n_first = (uint8_t)v[1];
    l->pc = v[2];
    l->here.next = v[3];
    for (uint32_t i = 0; i < l->n_first; i++) {
        uint64_t w[2];

        if (trod_unpack(in, &w[0]) < 0 || trod_unpack(in, &w[1]) < 0 || w[0] >= n_sites || w[1] > 1)
            return TROD_ERR_CORRUPT;
        l->first[i].site = sites[w[0]];
        l->first[i].jumped = w[1];
    }
    if ((key = engine_stream_load(s->own, in)) < 0)
        return key;
    *stream = (uint32_t)key;
    return TROD_OK;
}

/* Room for the sites of L, and for itself as the lane of STREAM. */
static int lane_room(struct hot_state *s, const struct hot_lane *l, uint32_t stream)
{
    uint32_t site = l->here.site;

    for (uint32_t i = 0; i < l->n_first; i++)
        site = l->first[i].site > site ? l->first[i].site : site;
    if (hot_room(s, (size_t)site + 1) < 0 ||
        !trod_grow_to(&s->lane, &s->n_lanes, stream, sizeof *s->lane, &hot_nowhere))
        return TROD_ERR_NOMEM;
    return s->lane[stream].here.site == TROD_NO_SITE ? TROD_OK : TROD_ERR_CORRUPT;
}

static int load_lane(struct hot_state *s, struct trod_span *in, uint64_t n_sites,
                     const uint32_t *sites)
{
    struct hot_lane l = hot_nowhere;
    uint32_t stream;
    int rc = load_numbers(s, &l, &stream, in, n_sites, sites);

    if (rc == TROD_OK)
        rc = lane_room(s, &l, stream);
    if (rc == TROD_OK)
        rc = hot_trips_load_lane(s, &l, in, n_sites, sites);
    if (rc < 0) {
        lane_free(&l);
        return rc;
    }
    s->lane[stream] = l;
    s->fetched[(size_t)l.here.site + 1]++; /* as long as it is a lane it is not left */
    return TROD_OK;
}

int hot_lanes_load(struct hot_state *s, struct trod_span *in, uint64_t n_sites,
                   const uint32_t *sites)
{
    uint64_t n;
    int rc = TROD_OK;

    if (trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    if (n && !s->own) {
        s->own = calloc(1, sizeof *s->own);
        if (!s->own)
            return TROD_ERR_NOMEM;
        trod_meta_init(s->own);
    }
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++)
        rc = load_lane(s, in, n_sites, sites);
    return rc;
}
