/*
 * names.c - a bounded table of names and how often they came.
 */
#include "analysis/info/info.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

static int compare(const struct info_name *a, const struct info_name *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return memcmp(a->name, b->name, a->len);
}

/* Where NAME is or belongs. */
static size_t place_of(const struct info_names *t, const struct info_name *name)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (compare(&t->at[mid], name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int add(struct info_names *t, const struct info_name *name)
{
    const size_t i = place_of(t, name);

    if (i < t->n && compare(&t->at[i], name) == 0) {
        t->at[i].n += name->n;
        return TROD_OK;
    }
    if (i == INFO_NAMES) {
        t->others += name->n;
        return TROD_OK;
    }
    if (!t->at && !(t->at = malloc(INFO_NAMES * sizeof *t->at)))
        return TROD_ERR_NOMEM;
    if (t->n == INFO_NAMES)
        t->others += t->at[--t->n].n;
    memmove(t->at + i + 1, t->at + i, (t->n - i) * sizeof *t->at);
    t->at[i] = *name;
    t->n++;
    return TROD_OK;
}

int info_names_add(struct info_names *t, const uint8_t *s, uint32_t len, uint64_t n)
{
    struct info_name name = {.n = n, .len = len < INFO_NAME ? len : INFO_NAME};

    if (name.len)
        memcpy(name.name, s, name.len);
    name.hash = trod_fnv(TROD_FNV, name.name, name.len);
    return add(t, &name);
}

int info_names_merge(struct info_names *into, const struct info_names *from)
{
    int r = TROD_OK;

    into->others += from->others;
    for (size_t i = 0; r == TROD_OK && i < from->n; i++)
        r = add(into, &from->at[i]);
    return r;
}
