/*
 * save.c - states of "deps" put together, and as bytes (deps.h).
 */
#include "analysis/deps/deps.h"

#include "core/pack.h"

#include <stddef.h>

enum { SUMS = sizeof(struct deps_sums) / sizeof(uint64_t) };

/* The sums are numbers and nothing else. */
static uint64_t *sums_of(struct deps_state *s)
{
    return (uint64_t *)(void *)&s->sums;
}

/* An open instruction or chain in ST is not saved: end it first. */
static struct deps_state *ended(const void *st, int *rc)
{
    struct deps_state *s = (struct deps_state *)(uintptr_t)st;

    *rc = s->live.file ? deps_flow_end(s) : TROD_OK;
    return s;
}

int deps_merge(void *into, const void *from)
{
    struct deps_state *s = into, *t;
    int rc;

    t = ended(from, &rc);
    if (rc == TROD_OK)
        ended(into, &rc);
    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        sums_of(s)[i] += sums_of(t)[i];
    for (size_t c = 0; rc == TROD_OK && c < t->places.n_chunks; c++)
        for (size_t i = 0; t->places.chunk[c] && i < DEPS_SITES; i++) {
            const struct deps_counts *n = &t->places.chunk[c]->counts[i];
            struct deps_counts *to = deps_site_room(&s->places, (uint32_t)(c * DEPS_SITES + i));

            if (!to)
                return TROD_ERR_NOMEM;
            to->executed += n->executed;
            for (unsigned k = 0; k < DEPS_WHATS; k++)
                to->count[k] += n->count[k];
        }
    return rc;
}

static bool counted(const struct deps_counts *site)
{
    uint64_t any = site->executed;

    for (unsigned k = 0; k < DEPS_WHATS; k++)
        any |= site->count[k];
    return any != 0;
}

/* The sums; sites that have something: the distance from the one before, and its counters; 0. */
int deps_save(const void *st, struct trod_buf *out)
{
    int rc;
    struct deps_state *s = ended(st, &rc);
    uint64_t last = 0;

    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_pack(out, sums_of(s)[i]);
    for (size_t n = 0; rc == TROD_OK && n < s->places.n_chunks * DEPS_SITES; n++) {
        const struct deps_counts *site = deps_counts_at(&s->places, (uint32_t)n);

        if (!site || !counted(site))
            continue;
        rc = trod_pack(out, n + 1 - last);
        last = n + 1;
        if (rc == TROD_OK)
            rc = trod_pack(out, site->executed);
        for (unsigned k = 0; rc == TROD_OK && k < DEPS_WHATS; k++)
            rc = trod_pack(out, site->count[k]);
    }
    return rc == TROD_OK ? trod_pack(out, 0) : rc;
}

int deps_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct deps_state *s = st;
    uint64_t v, number = 0, known = 0; /* known: so many sites there are, at least */

    for (size_t i = 0; i < SUMS; i++) {
        if (trod_unpack(&in, &v) < 0)
            return TROD_ERR_CORRUPT;
        sums_of(s)[i] += v;
    }
    for (;;) {
        struct deps_counts *site;

        if (trod_unpack(&in, &v) < 0)
            return TROD_ERR_CORRUPT;
        if (v == 0)
            return in.n ? TROD_ERR_CORRUPT : TROD_OK;
        number += v;
        if (!s->context.sites || number > trod_sites_count(s->context.sites) || number < v)
            return TROD_ERR_CORRUPT;
        for (; sites && known < number; known++)
            if (sites[known] == TROD_NO_SITE)
                return TROD_ERR_CORRUPT;
        site = deps_site_room(&s->places, sites ? sites[number - 1] : (uint32_t)(number - 1));
        if (!site)
            return TROD_ERR_NOMEM;
        if (trod_unpack(&in, &v) < 0)
            return TROD_ERR_CORRUPT;
        site->executed += v;
        for (unsigned k = 0; k < DEPS_WHATS; k++) {
            if (trod_unpack(&in, &v) < 0)
                return TROD_ERR_CORRUPT;
            site->count[k] += v;
        }
    }
}
