/*
 * steps.c - executions of sites, and jumps between them (hot.h).
 *
 * Instructions run one behind the other until one jumps. So the executions of a site are those of
 * the site before it, minus the jumps from there, plus the jumps to it: counted jumps are enough to
 * compute them. Where a jump from a site goes to the same target as its last one, only its counter
 * in back is touched; the rest is computed here. The same holds for a successor without a jump that
 * does not have the next number. The place where a lane ends is counted at once (hot_leave).
 */
#include "analysis/hot/hot.h"

#include "analysis/by_site.h"

#include <stdlib.h>

int hot_jumps(struct trod_pairs *all, const struct hot_state *s)
{
    int rc;

    *all = (struct trod_pairs){.n = 0};
    rc = trod_pairs_merge(all, &s->jumps);
    for (size_t site = 0; rc == TROD_OK && site < s->n_back; site++)
        if (s->back[site].n)
            rc = trod_pairs_add(all, (uint64_t)site << 32 | hot_back_to(&s->back[site]),
                                s->back[site].n);
    return rc;
}

/* Site TO was executed N times behind site FROM, whose number is not the one before. */
static void add_steps(uint64_t *steps, size_t from, uint32_t to, uint64_t n)
{
    if (n == 0)
        return;
    steps[from + 1] -= n;
    steps[to] += n;
}

int hot_settle_back(struct hot_state *s, uint32_t from)
{
    struct hot_back *back = &s->back[from];

    if (trod_pairs_add(&s->jumps, (uint64_t)from << 32 | hot_back_to(back), back->n) < 0)
        return TROD_ERR_NOMEM;
    add_steps(s->fetched, from, hot_back_to(back), back->n);
    back->n = 0;
    return TROD_OK;
}

void hot_settle_on(struct hot_state *s, uint32_t from)
{
    struct hot_back *back = &s->back[from];

    add_steps(s->fetched, from, back->on - 1, back->n_on);
    back->n_on = 0;
}

void hot_goes_on(struct hot_state *s, const struct hot_here *here, uint32_t site)
{
    struct hot_back *back;

    if (here->site == TROD_NO_SITE) {
        s->fetched[site]++;
        return;
    }
    back = &s->back[here->site];
    if (back->on != site + 1 || back->n_on == UINT32_MAX) {
        hot_settle_on(s, here->site);
        back->on = site + 1;
    }
    back->n_on++;
}

void hot_add_steps(const struct hot_state *s, uint64_t *to)
{
    for (size_t i = 0; i < s->n_ran; i++)
        to[i] += s->fetched[i];
    for (size_t from = 0; from < s->n_back; from++) {
        const struct hot_back *back = &s->back[from];

        add_steps(to, from, hot_back_to(back), back->n);
        add_steps(to, from, back->on - 1, back->n_on);
    }
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (s->lane[i].here.site != TROD_NO_SITE)
            to[(size_t)s->lane[i].here.site + 1]--;
}

uint64_t *hot_fetched(const struct hot_state *s)
{
    uint64_t *to = calloc(s->n_ran + 1, sizeof *to), sum = 0;

    if (!to)
        return NULL;
    hot_add_steps(s, to);
    for (size_t i = 0; i < s->n_ran; i++)
        to[i] = sum += to[i];
    return to;
}

int hot_add_again(struct hot_state *s, size_t site, uint64_t n)
{
    if (trod_by_site_room(&s->again, &s->n_again, site + 1, sizeof *s->again) < 0)
        return TROD_ERR_NOMEM;
    s->again[site] += n;
    return TROD_OK;
}
