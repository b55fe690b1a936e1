/*
 * save.c - states of the analysis "hot": put together, to bytes and back.
 */
#include "analysis/hot/hot.h"

#include "core/pack.h"

#include <stdlib.h>

int hot_merge(void *into, const void *from)
{
    struct hot_state *s = into;
    const struct hot_state *t = from;
    struct trod_pairs jumps;
    int rc = t->n_ran ? hot_room(s, t->n_ran - 1) : TROD_OK;

    if (rc == TROD_OK)
        hot_add_steps(t, s->fetched);
    for (size_t i = 0; rc == TROD_OK && i < t->n_again; i++)
        if (t->again[i])
            rc = hot_add_again(s, i, t->again[i]);
    s->nowhere += t->nowhere;
    if (rc == TROD_OK)
        rc = hot_trips_merge(s, t);
    if (rc == TROD_OK)
        rc = hot_lanes_merge(s, t);
    if (rc == TROD_OK) {
        rc = hot_jumps(&jumps, t);
        if (rc == TROD_OK)
            rc = trod_pairs_merge(&s->jumps, &jumps);
        free(jumps.at);
    }
    if (rc == TROD_OK)
        rc = hot_lines_merge(&s->data, &t->data, s->opt->most);
    if (rc == TROD_OK)
        rc = hot_lines_merge(&s->code, &t->code, s->opt->most);
    return rc;
}

/* Blocks are saved in the order of their numbers: equal states are equal bytes. */
static int by_number(const void *a, const void *b)
{
    const struct hot_line *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static int save_lines(struct trod_buf *out, const struct hot_lines *t)
{
    struct hot_line *all = malloc((t->n + 1) * sizeof *all);
    size_t n = 0;
    int rc = all ? trod_pack(out, t->shift) | trod_pack(out, t->n) : TROD_ERR_NOMEM;

    for (size_t at = 0; all && hot_lines_next(t, &at, 1, &all[n]);)
        n++;
    if (all)
        qsort(all, n, sizeof *all, by_number);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, all[i].number) | trod_pack(out, all[i].n) |
             trod_pack(out, all[i].joined);
    free(all);
    return rc == TROD_OK ? hot_wide_save(&t->wide, out) : TROD_ERR_NOMEM;
}

int hot_save(const void *st, struct trod_buf *out)
{
    const struct hot_state *s = st;
    uint64_t *fetched = hot_fetched(s);
    struct trod_pairs jumps;
    size_t n = s->n_ran;
    int rc;

    if (!fetched)
        return TROD_ERR_NOMEM;
    while (n > hot_lanes_sites(s) && !(fetched[n - 1] | hot_again(s, n - 1)))
        n--;
    rc = trod_pack(out, s->nowhere) | trod_pack(out, n);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, fetched[i]) | trod_pack(out, hot_again(s, i));
    free(fetched);
    if (rc == TROD_OK) {
        rc = hot_jumps(&jumps, s);
        if (rc == TROD_OK)
            rc = trod_pairs_save(&jumps, out);
        free(jumps.at);
    }
    if (rc == TROD_OK)
        rc = hot_trips_save(s, out);
    if (rc == TROD_OK)
        rc = hot_lanes_save(s, out);
    if (rc == TROD_OK)
        rc = save_lines(out, &s->data);
    return rc == TROD_OK ? save_lines(out, &s->code) : TROD_ERR_NOMEM;
}

static int load_lines(struct trod_span *in, struct hot_lines *t, uint64_t most)
{
    uint64_t shift, n;
    struct hot_lines loaded = {0};
    int rc = TROD_OK;

    if (trod_unpack(in, &shift) < 0 || trod_unpack(in, &n) < 0 || shift > 63 || n > in->n)
        return TROD_ERR_CORRUPT;
    loaded.shift = (unsigned)shift;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct hot_line l;

        if (trod_unpack(in, &l.number) < 0 || trod_unpack(in, &l.n) < 0 ||
            trod_unpack(in, &l.joined) < 0 || l.n == 0 || l.joined > l.n)
            rc = TROD_ERR_CORRUPT;
        else
            rc = hot_line_add(&loaded, &l, 0);
    }
    if (rc == TROD_OK)
        rc = hot_wide_load(&loaded.wide, in);
    if (rc == TROD_OK && most && loaded.wide.n) /* of a run without that limit */
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK)
        rc = hot_lines_merge(t, &loaded, most);
    hot_lines_free(&loaded);
    return rc;
}

static int load_jumps(struct trod_span *in, struct trod_pairs *t, uint64_t n_sites,
                      const uint32_t *sites)
{
    uint64_t n, v[3];

    if (trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            if (trod_unpack(in, &v[k]) < 0)
                return TROD_ERR_CORRUPT;
        for (int k = 0; k < 2; k++) {
            if (v[k] >= n_sites && !(k == 0 && v[k] == TROD_NO_SITE))
                return TROD_ERR_CORRUPT;
            v[k] = v[k] < n_sites ? sites[v[k]] : v[k];
        }
        if (v[2] == 0)
            return TROD_ERR_CORRUPT;
        if (trod_pairs_add(t, v[0] << 32 | v[1], v[2]) < 0)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

int hot_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct hot_state *s = st;
    uint64_t nowhere, n, v[2];
    int rc;

    if (trod_unpack(&in, &nowhere) < 0 || trod_unpack(&in, &n) < 0 || n > in.n || (n && !sites))
        return TROD_ERR_CORRUPT;
    s->nowhere += nowhere;
    for (uint64_t i = 0; i < n; i++) {
        if (sites[i] == TROD_NO_SITE || trod_unpack(&in, &v[0]) < 0 || trod_unpack(&in, &v[1]) < 0)
            return TROD_ERR_CORRUPT;
        if (!(v[0] | v[1]))
            continue;
        if (hot_room(s, (size_t)sites[i] + 1) < 0)
            return TROD_ERR_NOMEM;
        s->fetched[sites[i]] += v[0];
        s->fetched[(size_t)sites[i] + 1] -= v[0];
        if (v[1] && hot_add_again(s, sites[i], v[1]) < 0)
            return TROD_ERR_NOMEM;
    }
    rc = load_jumps(&in, &s->jumps, n, sites);
    if (rc == TROD_OK)
        rc = hot_trips_load(s, &in, n, sites);
    if (rc == TROD_OK)
        rc = hot_lanes_load(s, &in, n, sites);
    if (rc == TROD_OK)
        rc = load_lines(&in, &s->data, s->opt ? s->opt->most : 0);
    if (rc == TROD_OK)
        rc = load_lines(&in, &s->code, s->opt ? s->opt->most : 0);
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}
