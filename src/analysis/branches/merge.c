/*
 * merge.c - states of the analysis "branches": put together, to bytes and back.
 *
 * Predictors stay behind: a thread or cpu of a file has its own. Those of its parts go on
 * (parts.c).
 */
#include "analysis/branches/branches.h"

#include "core/grow.h"
#include "core/pack.h"

static void add_sums(struct br_sums *into, const struct br_sums *from)
{
    struct br_sums copy = *from;

    for (size_t i = 0; i < BR_SUMS; i++)
        *br_sum(into, i) += *br_sum(&copy, i);
}

/* What T knows of site I to S, which may know nothing of it. */
static void add_fact(struct br_state *s, const struct br_state *t, size_t i)
{
    struct br_fact *const into = &s->fact[i];
    const struct br_fact *const from = &t->fact[i];
    const uint8_t counted = into->counted;

    if (s->kind[i] == BR_UNKNOWN) {
        s->kind[i] = t->kind[i];
        *into = *from;
    }
    if (counted && (!from->counted || counted < from->counted))
        into->counted = counted;
    else
        into->counted = from->counted;
}

/*
 * Merge interval V into the one of S with the same number, at *AT or behind, if there is one: a
 * thread has no intervals from before it began. *AT is set behind it.
 */
static int add_interval(struct br_state *s, const struct br_interval *v, size_t *at)
{
    while (*at < s->n_intervals && s->interval[*at].number < v->number)
        ++*at;
    if (*at < s->n_intervals && s->interval[*at].number == v->number) {
        add_sums(&s->interval[(*at)++].sums, &v->sums);
        return TROD_OK;
    }
    if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 16))
        return TROD_ERR_NOMEM;
    memmove(&s->interval[*at + 1], &s->interval[*at],
            (s->n_intervals++ - *at) * sizeof *s->interval);
    s->interval[(*at)++] = *v;
    return TROD_OK;
}

/* What T has counted, to S. 0 or TROD_ERR_NOMEM. */
static int add_counts(struct br_state *s, const struct br_state *t)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < t->n_sites; i++) {
        s->site[i].executions += t->site[i].executions;
        s->site[i].taken += t->site[i].taken;
        s->site[i].turns += t->site[i].turns;
        add_fact(s, t, i);
    }
    for (size_t i = 0; rc == TROD_OK && i < t->n_sites * t->n_choices; i++)
        s->wrong[i] += t->wrong[i];
    add_sums(&s->sums, &t->sums);
    if (rc == TROD_OK)
        rc = trod_pairs_merge(&s->targets, &t->targets);
    for (size_t i = 0, at = 0; rc == TROD_OK && i < t->n_intervals; i++)
        rc = add_interval(s, &t->interval[i], &at);
    return rc;
}

/* A piece is merged into all shards: the first one takes its counts, and each runs predictors. */
int br_merge(void *into, const void *from)
{
    struct br_state *s = into;
    const struct br_state *t = from;
    int rc = br_room(s, t->n_sites);

    if (rc == TROD_OK && (s->context.shard == 0 || t->context.shards > 1))
        rc = add_counts(s, t);
    return rc == TROD_OK && t->context.recording ? br_part_merge(s, t) : rc;
}

/* ---- bytes */

static int save_site(const struct br_state *s, size_t i, struct trod_buf *out)
{
    const struct br_fact *f = &s->fact[i];
    int rc = trod_pack(out, s->site[i].executions);

    if (rc < 0 || s->site[i].executions == 0)
        return rc;
    rc = trod_pack(out, s->site[i].taken) | trod_pack(out, s->site[i].turns) |
         trod_pack(out, f->counted) | trod_pack(out, f->may_pass) | trod_pack(out, f->target);
    for (unsigned k = 0; rc == TROD_OK && k < s->n_choices; k++)
        rc = trod_pack(out, s->wrong[i * s->n_choices + k]);
    return rc;
}

int br_save(const void *st, struct trod_buf *out)
{
    const struct br_state *s = st;
    struct br_sums sums = s->sums;
    size_t n = s->n_sites;
    int rc = TROD_OK;

    while (n && !s->site[n - 1].executions)
        n--;
    for (size_t i = 0; rc == TROD_OK && i < BR_SUMS; i++)
        rc = trod_pack(out, *br_sum(&sums, i));
    if (rc == TROD_OK)
        rc = trod_pack(out, s->n_choices) | trod_pack(out, n) | trod_pack(out, s->n_sites);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = save_site(s, i, out);
    return rc == TROD_OK ? trod_pairs_save(&s->targets, out) : TROD_ERR_NOMEM;
}

static int load_site(struct br_state *s, struct trod_span *in, uint32_t site)
{
    uint64_t v[6], wrong;

    if (trod_unpack(in, &v[0]) < 0)
        return TROD_ERR_CORRUPT;
    if (v[0] == 0)
        return TROD_OK;
    for (unsigned k = 1; k < 6; k++)
        if (trod_unpack(in, &v[k]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[3] == 0 || v[3] > TROD_BP_KINDS)
        return TROD_ERR_CORRUPT;
    if (br_room(s, (size_t)site + 1) < 0)
        return TROD_ERR_NOMEM;
    s->site[site].executions += v[0];
    s->site[site].taken += v[1];
    s->site[site].turns += v[2];
    s->kind[site] = (uint8_t)v[3];
    s->fact[site] =
        (struct br_fact){.counted = (uint8_t)v[3], .may_pass = v[4] != 0, .target = v[5]};
    for (unsigned k = 0; k < s->n_choices; k++) {
        if (trod_unpack(in, &wrong) < 0)
            return TROD_ERR_CORRUPT;
        s->wrong[(size_t)site * s->n_choices + k] += wrong;
    }
    return TROD_OK;
}

int br_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct br_state *s = st;
    uint64_t n, choices, known, there, v[3]; /* there: so many sites there are, at least */
    int rc = TROD_OK;

    for (size_t i = 0; i < BR_SUMS; i++) {
        if (trod_unpack(&in, &v[0]) < 0)
            return TROD_ERR_CORRUPT;
        *br_sum(&s->sums, i) += v[0];
    }
    if (trod_unpack(&in, &choices) < 0 || choices > TROD_BP_MOST || trod_unpack(&in, &n) < 0 ||
        trod_unpack(&in, &known) < 0 || n > in.n || n > known || (n && !sites) ||
        ((s->opt || s->n_choices) && choices != s->n_choices)) /* of other predictors */
        return TROD_ERR_CORRUPT;
    s->n_choices = (unsigned)choices;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++)
        rc = sites[i] == TROD_NO_SITE ? TROD_ERR_CORRUPT : load_site(s, &in, sites[i]);
    if (rc < 0 || trod_unpack(&in, &v[0]) < 0 || v[0] > in.n)
        return rc < 0 ? rc : TROD_ERR_CORRUPT;
    there = n;
    for (uint64_t i = 0, pairs = v[0]; i < pairs; i++) {
        for (int k = 0; k < 3; k++)
            if (trod_unpack(&in, &v[k]) < 0)
                return TROD_ERR_CORRUPT;
        if (v[0] >= n || v[1] >= known || v[2] == 0)
            return TROD_ERR_CORRUPT;
        for (; there <= v[1]; there++)
            if (sites[there] == TROD_NO_SITE)
                return TROD_ERR_CORRUPT;
        if (trod_pairs_add(&s->targets, (uint64_t)sites[v[0]] << 32 | sites[v[1]], v[2]) < 0)
            return TROD_ERR_NOMEM;
    }
    return in.n ? TROD_ERR_CORRUPT : TROD_OK;
}
