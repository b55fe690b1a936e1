/*
 * trips.c - trips of loops: least and most (hot.h).
 *
 * Implements docs/analysing.md, "hot": a loop is entered where its head is executed without a jump
 * back to it, and makes a trip with every execution of its head until it is entered again in the
 * same thread. A loop is followed from its first jump back on; entries before that made one trip
 * each. A loop that was running when the trace began was not entered and does not count.
 */
#include "analysis/hot/hot.h"

#include "analysis/by_site.h"
#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "core/zeroed.h"
#include "engine/sites.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

void hot_trips_free(struct hot_state *s)
{
    trod_zeroed_free(s->head_of, s->n_head_of * sizeof *s->head_of);
    free(s->heads);
    trod_zeroed_free(s->back, s->n_back * sizeof *s->back);
    free(s->trip);
}

int hot_trips_room(struct hot_state *s, size_t n)
{
    if (trod_zeroed_room(&s->head_of, &s->n_head_of, n, sizeof *s->head_of) < 0 ||
        trod_zeroed_room(&s->back, &s->n_back, n, sizeof *s->back) < 0)
        return TROD_ERR_NOMEM;
    return trod_by_site_room(&s->heads, &s->n_heads, n / WORD + 1, sizeof *s->heads);
}

/* ---- what is a loop: as flow.c has it */

static bool goes_back(const struct hot_state *s, const struct hot_lane *l, uint32_t to)
{
    struct trod_sites *sites = s->context.sites;
    const struct trod_site *from = trod_site_at(sites, l->here.site);
    enum trod_isa isa;
    enum trod_endian endian;
    uint32_t branch = l->here.site;

    if (trod_site_at(sites, to)->pc > from->pc)
        return false;
    engine_sites_isa(sites, &isa, &endian); /* other threads may be merging what they know */
    if ((isa == TROD_ISA_MIPS32 || isa == TROD_ISA_MIPS64) &&
        !hot_unsaid(sites, branch)) { /* a branch is the one before */
        branch = l->here.before;
        if (branch == TROD_NO_SITE ||
            trod_site_at(sites, branch)->pc + hot_size_of(trod_site_at(sites, branch)) != from->pc)
            return false;
    }
    return hot_loops(sites, branch) && hot_same_function(s, l->here.site, to);
}

/* ---- trips */

static void close_entry(struct hot_trip *to, uint64_t trips)
{
    to->least = to->entries == 0 || trips < to->least ? trips : to->least;
    to->most = trips > to->most ? trips : to->most;
    to->entries++;
}

/* What hot_going.first is once an entry comes behind GOING. */
static uint64_t first_of(const struct hot_going *going)
{
    return going->partly ? going->trips : going->first;
}

/* Head number NUMBER is executed by L: by a jump BACK, or it is entered. */
static int count_trip(struct hot_state *s, struct hot_lane *l, uint32_t number, bool back,
                      bool was_there)
{
    struct hot_going *going;

    if (number >= l->n_trips &&
        trod_by_site_room(&l->trips, &l->n_trips, (size_t)number + 1, sizeof *l->trips) < 0)
        return TROD_ERR_NOMEM;
    going = &l->trips[number];
    if (!back) {
        if (going->trips && !going->partly)
            close_entry(&s->trip[number], going->trips);
        *going = (struct hot_going){.trips = 1, .first = first_of(going)};
    } else if (going->trips) {
        going->trips++;
    } else { /* met for the first time: its entry lies behind, or before the trace */
        *going = (struct hot_going){.trips = 1 + was_there, .partly = !was_there};
    }
    return TROD_OK;
}

static int new_head(struct hot_state *s, uint32_t site)
{
    if (!trod_grow(&s->trip, s->n_trip, &s->cap_trip, sizeof *s->trip, 64))
        return TROD_ERR_NOMEM;
    s->trip[s->n_trip++] = (struct hot_trip){.site = site};
    s->head_of[site] = (uint32_t)s->n_trip;
    s->heads[site / WORD] |= UINT64_C(1) << site % WORD;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (site / 8 < s->lane[i].n_quiet)
            s->lane[i].quiet[site / 8] &= (uint8_t) ~(1u << site % 8);
    return TROD_OK;
}

/* Sites [FROM, TO) of one word. */
static uint64_t mask_of(uint32_t from, uint32_t to)
{
    const uint64_t above = UINT64_MAX << from % WORD;

    return to % WORD ? above & ~(UINT64_MAX << to % WORD) : above;
}

/* L jumps to SITE. *HEAD: if it goes back to the head of a loop, the number of that + 1; else 0. */
static int count_jump(struct hot_state *s, const struct hot_lane *l, uint32_t site, uint32_t *head)
{
    const uint32_t from = l->here.site;
    struct hot_back *back;

    *head = 0;
    if (from == TROD_NO_SITE) {
        s->fetched[site]++;
        return trod_pairs_count(&s->jumps, (uint64_t)from << 32 | site);
    }
    back = &s->back[from];
    if (back->n == UINT32_MAX && hot_settle_back(s, from) < 0)
        return TROD_ERR_NOMEM;
    if ((back->to & ~HOT_LOOP) != site + 1) {
        if (back->n && hot_settle_back(s, from) < 0)
            return TROD_ERR_NOMEM;
        back->to = site + 1;
        if (goes_back(s, l, site)) {
            if (!s->head_of[site] && new_head(s, site) < 0)
                return TROD_ERR_NOMEM;
            back->to |= HOT_LOOP;
        }
    }
    back->n++;
    *head = back->to & HOT_LOOP ? s->head_of[site] : 0;
    return TROD_OK;
}

/* Room for sites up to END. */
static int lane_room(struct hot_lane *l, uint32_t end)
{
    const size_t words = (size_t)end / WORD + 1;

    if (words <= l->n_ran && words * sizeof *l->ran <= l->n_quiet)
        return TROD_OK;
    if (trod_by_site_room(&l->quiet, &l->n_quiet, words * sizeof *l->ran, 1) < 0)
        return TROD_ERR_NOMEM;
    return trod_by_site_room(&l->ran, &l->n_ran, words, sizeof *l->ran);
}

/*
 * N instructions from SITE on are executed by L, which is open: how many of them wait. What is
 * executed behind the last one is counted as steps from there on.
 */
static uint32_t wait_for(struct hot_state *s, struct hot_lane *l, uint32_t site, uint32_t n,
                         bool jumped)
{
    const uint32_t room = HOT_FIRST - l->n_first, some = n < room ? n : room;

    if (some == 0)
        return 0;
    if (l->n_first == 0)
        l->pc = trod_site_at(s->context.sites, site)->pc;
    for (uint32_t i = 0; i < some; i++) {
        l->first[l->n_first].site = site + i;
        l->first[l->n_first++].jumped = i == 0 && jumped;
    }
    hot_leave(s, &l->here);
    l->here.before = some > 1 ? site + some - 2 : l->here.site;
    l->here.site = site + some - 1;
    s->fetched[(size_t)site + some]++;
    return some;
}

int hot_trips_count(struct hot_state *s, struct hot_lane *l, uint32_t site, uint32_t n, bool jumped)
{
    const uint32_t end = site + n, waits = l->open ? wait_for(s, l, site, n, jumped) : 0;
    bool was_there;
    uint32_t back = 0;
    int rc = TROD_OK;

    if (waits == n)
        return TROD_OK;
    site += waits;
    jumped &= waits == 0;
    if (lane_room(l, end) < 0)
        return TROD_ERR_NOMEM;
    was_there = l->ran[site / WORD] >> site % WORD & 1;
    if (jumped && count_jump(s, l, site, &back) < 0)
        return TROD_ERR_NOMEM;
    if (!jumped && site != l->here.site + 1)
        hot_goes_on(s, &l->here, site);
    for (uint32_t from = site, to; from < end; from = to) {
        uint8_t *const quiet = l->quiet + (size_t)from / WORD * sizeof *l->ran;
        uint64_t heads, mask;

        to = (from / WORD + 1) * WORD;
        to = to < end ? to : end;
        mask = mask_of(from, to);
        heads = s->heads[from / WORD] & mask;
        l->ran[from / WORD] |= mask;
        trod_store_le64(quiet, trod_load_le64(quiet) | (mask & ~heads));
        for (; rc == TROD_OK && heads; heads &= heads - 1) {
            const uint32_t head = from / WORD * WORD + (uint32_t)__builtin_ctzll(heads);

            rc = count_trip(s, l, s->head_of[head] - 1, back && head == site, was_there);
        }
    }
    return rc;
}

void hot_trips_end(struct hot_state *s, struct hot_lane *l)
{
    for (size_t i = 0; i < l->n_trips; i++)
        if (l->trips[i].trips && !l->trips[i].partly)
            close_entry(&s->trip[i], l->trips[i].trips);
    free(l->ran);
    free(l->quiet);
    free(l->trips);
    l->ran = NULL;
    l->quiet = NULL;
    l->trips = NULL;
    l->n_ran = l->n_quiet = l->n_trips = 0;
}

/* Head I of S, with running trips counted as if they had ended, except in open lanes. */
static struct hot_trip whole(const struct hot_state *s, size_t i)
{
    struct hot_trip t = s->trip[i];

    for (uint32_t k = 0; k < s->n_lanes; k++) {
        const struct hot_lane *l = &s->lane[k];

        if (!l->open && i < l->n_trips && l->trips[i].trips && !l->trips[i].partly)
            close_entry(&t, l->trips[i].trips);
    }
    return t;
}

bool hot_trips_of(const struct hot_state *s, uint32_t site, uint64_t entries, uint64_t *least,
                  uint64_t *most)
{
    struct hot_trip t;

    if (site >= s->n_head_of || !s->head_of[site])
        return false;
    t = whole(s, s->head_of[site] - 1);
    if (entries > t.entries) /* before the first jump back */
        close_entry(&t, 1);
    *least = t.least;
    *most = t.most;
    return t.entries != 0;
}

/* ---- put together, to bytes and back */

static int add(struct hot_state *s, const struct hot_trip *from)
{
    struct hot_trip *to;

    if (hot_room(s, (size_t)from->site + 1) < 0 ||
        (!s->head_of[from->site] && new_head(s, from->site) < 0))
        return TROD_ERR_NOMEM;
    to = &s->trip[s->head_of[from->site] - 1];
    if (from->entries) {
        to->least = to->entries == 0 || from->least < to->least ? from->least : to->least;
        to->most = from->most > to->most ? from->most : to->most;
        to->entries += from->entries;
    }
    return TROD_OK;
}

int hot_trips_merge(struct hot_state *s, const struct hot_state *from)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < from->n_trip; i++) {
        const struct hot_trip t = whole(from, i);

        rc = add(s, &t);
    }
    return rc;
}

/*
 * Head NUMBER of S, which P, a lane of T, has executed, goes on in L as it did in P. GOING: what P
 * has of it, as far as it was followed there: else it was entered with each execution.
 */
static int follow_head(struct hot_state *s, struct hot_lane *l, uint32_t number,
                       const struct hot_going *going, bool was_there)
{
    const struct hot_going unknown = {.trips = 1}, *const p = going ? going : &unknown;
    const uint64_t first = first_of(p);
    struct hot_going *to;

    if (number >= l->n_trips &&
        trod_by_site_room(&l->trips, &l->n_trips, (size_t)number + 1, sizeof *l->trips) < 0)
        return TROD_ERR_NOMEM;
    to = &l->trips[number];
    if (first && to->trips)
        to->trips += first;
    else if (first)
        *to = (struct hot_going){.trips = first + was_there, .partly = !was_there};
    if (p->partly)
        return TROD_OK;
    if (to->trips && !to->partly)
        close_entry(&s->trip[number], to->trips);
    *to = (struct hot_going){.trips = p->trips, .first = first_of(to)};
    return TROD_OK;
}

/* What P, a lane of T, knows of the loop with the head SITE; NULL: it was not followed. */
static const struct hot_going *going_of(const struct hot_state *t, const struct hot_lane *p,
                                        uint32_t site)
{
    const uint32_t head = site < t->n_head_of ? t->head_of[site] : 0;

    return head && head <= p->n_trips && p->trips[head - 1].trips ? &p->trips[head - 1] : NULL;
}

int hot_trips_follow(struct hot_state *s, struct hot_lane *l, const struct hot_state *t,
                     const struct hot_lane *p)
{
    if (p->n_ran && lane_room(l, (uint32_t)(p->n_ran * WORD - 1)) < 0)
        return TROD_ERR_NOMEM;
    for (size_t w = 0; w < p->n_ran; w++) {
        uint8_t *const quiet = l->quiet + w * sizeof *l->ran;
        const uint64_t heads = w < s->n_heads ? s->heads[w] & p->ran[w] : 0;

        for (uint64_t left = heads; left; left &= left - 1) {
            const uint32_t site = (uint32_t)(w * WORD) + (uint32_t)__builtin_ctzll(left);
            const bool was_there = l->ran[w] >> site % WORD & 1;

            if (follow_head(s, l, s->head_of[site] - 1, going_of(t, p, site), was_there) < 0)
                return TROD_ERR_NOMEM;
        }
        l->ran[w] |= p->ran[w];
        trod_store_le64(quiet, trod_load_le64(quiet) | (p->ran[w] & ~heads));
    }
    return TROD_OK;
}

int hot_trips_save(const struct hot_state *s, struct trod_buf *out)
{
    int rc = trod_pack(out, s->n_trip);

    for (size_t site = 0; rc == TROD_OK && site < s->n_head_of; site++)
        if (s->head_of[site]) {
            const struct hot_trip t = whole(s, s->head_of[site] - 1);

            rc = trod_pack(out, t.site) | trod_pack(out, t.least) | trod_pack(out, t.most) |
                 trod_pack(out, t.entries);
        }
    return rc == TROD_OK ? TROD_OK : TROD_ERR_NOMEM;
}

int hot_trips_load(struct hot_state *s, struct trod_span *in, uint64_t n_sites,
                   const uint32_t *sites)
{
    uint64_t n, site;

    if (trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        struct hot_trip t;

        if (trod_unpack(in, &site) < 0 || trod_unpack(in, &t.least) < 0 ||
            trod_unpack(in, &t.most) < 0 || trod_unpack(in, &t.entries) < 0 || site >= n_sites ||
            t.least > t.most)
            return TROD_ERR_CORRUPT;
        t.site = sites[site];
        if (add(s, &t) < 0)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

/* Of the heads of S those that L has something of, and all sites that it has executed. */
int hot_trips_save_lane(const struct hot_state *s, const struct hot_lane *l, struct trod_buf *out)
{
    uint64_t n = 0;
    int rc;

    for (size_t i = 0; i < l->n_trips; i++)
        n += l->trips[i].trips != 0;
    rc = trod_pack(out, n);
    for (size_t site = 0; rc == TROD_OK && site < s->n_head_of; site++) {
        const uint32_t head = s->head_of[site];
        const struct hot_going *g = head && head <= l->n_trips ? &l->trips[head - 1] : NULL;

        if (g && g->trips)
            rc = trod_pack(out, site) | trod_pack(out, g->trips) | trod_pack(out, g->first) |
                 trod_pack(out, g->partly);
    }
    n = 0;
    for (size_t w = 0; w < l->n_ran; w++)
        n += (unsigned)__builtin_popcountll(l->ran[w]);
    rc = rc == TROD_OK ? trod_pack(out, n) : rc;
    for (size_t w = 0; rc == TROD_OK && w < l->n_ran; w++)
        for (uint64_t left = l->ran[w]; rc == TROD_OK && left; left &= left - 1)
            rc = trod_pack(out, w * WORD + (unsigned)__builtin_ctzll(left));
    return rc == TROD_OK ? TROD_OK : TROD_ERR_NOMEM;
}

static int load_going(struct hot_state *s, struct hot_lane *l, struct trod_span *in,
                      uint64_t n_sites, const uint32_t *sites)
{
    uint64_t v[4];
    uint32_t head;

    for (size_t i = 0; i < 4; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[0] >= n_sites || v[1] == 0 || v[3] > 1)
        return TROD_ERR_CORRUPT;
    head = sites[v[0]] < s->n_head_of ? s->head_of[sites[v[0]]] : 0;
    if (head == 0)
        return TROD_ERR_CORRUPT;
    if (head > l->n_trips && trod_by_site_room(&l->trips, &l->n_trips, head, sizeof *l->trips) < 0)
        return TROD_ERR_NOMEM;
    l->trips[head - 1] = (struct hot_going){.trips = v[1], .first = v[2], .partly = v[3]};
    return TROD_OK;
}

int hot_trips_load_lane(struct hot_state *s, struct hot_lane *l, struct trod_span *in,
                        uint64_t n_sites, const uint32_t *sites)
{
    uint64_t n, site;
    int rc = TROD_OK;

    if (trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++)
        rc = load_going(s, l, in, n_sites, sites);
    if (rc < 0 || trod_unpack(in, &n) < 0 || n > in->n)
        return rc < 0 ? rc : TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        if (trod_unpack(in, &site) < 0 || site >= n_sites)
            return TROD_ERR_CORRUPT;
        if (hot_room(s, (size_t)sites[site] + 1) < 0 || lane_room(l, sites[site]) < 0)
            return TROD_ERR_NOMEM;
        l->ran[sites[site] / WORD] |= UINT64_C(1) << sites[site] % WORD;
    }
    for (size_t w = 0; w < l->n_ran; w++)
        trod_store_le64(l->quiet + w * sizeof *l->ran, l->ran[w] & ~s->heads[w]);
    return TROD_OK;
}
