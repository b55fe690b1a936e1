/*
 * owners.c - what code and data belong to.
 *
 * Implements trod/owners.h. Addresses are turned into owners one by one, at the end of a run: once
 * for each static instruction, never for a row.
 *
 * Names are those of the files of --symbols (trod/symbols.h); modules also those of a list beside
 * the trace (trod_sites_module).
 */
#include "trod/owners.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWNERS_FIRST = 256, TEXT = 512 };

struct trod_owners {
    enum trod_by by;
    struct trod_symbols *symbols;
    const struct trod_sites *sites;
    unsigned counts;
    struct trod_owner *at;
    size_t n, cap, last; /* last: the one found last, if there are any */
    struct trod_map map; /* numbers of the entries, by kind, name and number */
};

int trod_owners_new(struct trod_owners **out, enum trod_by by, struct trod_symbols *symbols,
                    const struct trod_sites *sites, unsigned counts)
{
    struct trod_owners *o = malloc(sizeof *o);

    *out = o;
    if (!o)
        return TROD_ERR_NOMEM;
    *o = (struct trod_owners){.by = by, .symbols = symbols, .sites = sites, .counts = counts};
    return TROD_OK;
}

void trod_owners_free(struct trod_owners *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n; i++)
        free(o->at[i].count);
    free(o->at);
    trod_map_fini(&o->map);
    free(o);
}

size_t trod_owners_n(const struct trod_owners *o)
{
    return o->n;
}

const struct trod_owner *trod_owners_at(const struct trod_owners *o, size_t i)
{
    return &o->at[i];
}

/* ---- the table */

static const char *text_of(const char *name)
{
    return name ? name : "";
}

static bool same(const struct trod_owner *a, const struct trod_owner *b)
{
    return a->kind == b->kind && a->number == b->number &&
           (a->name == b->name || strcmp(text_of(a->name), text_of(b->name)) == 0);
}

static uint32_t hash(const struct trod_owner *w)
{
    const char *name = text_of(w->name);
    const uint64_t numbers[] = {w->number, w->kind};

    return trod_map_hash(trod_fnv(trod_fnv(TROD_FNV, name, strlen(name)), numbers, sizeof numbers));
}

static uint64_t *find(struct trod_owners *o, const struct trod_owner *w)
{
    uint64_t *count;
    uint32_t h, i;

    if (o->n && same(&o->at[o->last], w)) /* neighbours mostly have the same one */
        return o->at[o->last].count;
    h = hash(w);
    for (size_t at = h; trod_map_next(&o->map, h, &at, &i);)
        if (same(&o->at[i], w)) {
            o->last = i;
            return o->at[i].count;
        }
    if (!trod_grow(&o->at, o->n, &o->cap, sizeof *o->at, OWNERS_FIRST) ||
        !(count = calloc(o->counts + 1, sizeof *count)))
        return NULL;
    if (!trod_map_put(&o->map, h, (uint32_t)o->n)) {
        free(count);
        return NULL;
    }
    o->last = o->n;
    o->at[o->n] = *w;
    o->at[o->n++].count = count;
    return count;
}

/* ---- addresses */

static bool named(const struct trod_owners *o, uint64_t address, struct trod_owner *w)
{
    uint64_t offset = 0;
    uint32_t line = 0;

    if (!o->symbols)
        return false;
    if (o->by == TROD_BY_MODULE)
        return trod_symbols_file(o->symbols, address, &w->name);
    if (o->by == TROD_BY_LINE) {
        if (!trod_symbols_line(o->symbols, address, &w->name, &line))
            return false;
        w->number = line;
        return true;
    }
    if (!trod_symbols_find(o->symbols, address, &w->name, &offset))
        return false;
    w->number = address - offset;
    return true;
}

uint64_t *trod_owners_of(struct trod_owners *o, uint64_t address)
{
    struct trod_owner w = {.kind = TROD_OWNER_NAMED};
    uint64_t offset;

    if (!named(o, address, &w)) {
        w = (struct trod_owner){.kind = TROD_OWNER_LOST};
        if (o->sites && trod_sites_module(o->sites, address, &w.name, &offset))
            w.kind = o->by == TROD_BY_MODULE ? TROD_OWNER_NAMED : TROD_OWNER_MODULE;
    }
    return find(o, &w);
}

uint64_t *trod_owners_none(struct trod_owners *o)
{
    return find(o, &(struct trod_owner){.kind = TROD_OWNER_NONE});
}

uint64_t *trod_owners_number(struct trod_owners *o, uint64_t number)
{
    return find(o, &(struct trod_owner){.kind = TROD_OWNER_NUMBER, .number = number});
}

uint64_t *trod_owners_site(struct trod_owners *o, uint32_t site)
{
    return site == TROD_NO_SITE ? trod_owners_none(o)
                                : trod_owners_of(o, trod_site_at(o->sites, site)->pc);
}

/* ---- results */

/* What is sorted, with what it is sorted by. */
struct ranked {
    struct trod_owner w;
    unsigned counts, first;
};

static int by_count(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const uint64_t *n = x->w.count, *m = y->w.count;
    int names;

    if (x->counts && n[x->first] != m[x->first])
        return n[x->first] < m[x->first] ? 1 : -1;
    for (unsigned i = x->counts; i-- > 0;)
        if (n[i] != m[i])
            return n[i] < m[i] ? 1 : -1;
    if (x->w.kind != y->w.kind)
        return x->w.kind < y->w.kind ? -1 : 1;
    names = strcmp(text_of(x->w.name), text_of(y->w.name));
    if (names != 0)
        return names;
    return x->w.number < y->w.number ? -1 : x->w.number > y->w.number;
}

int trod_owners_sort(struct trod_owners *o, unsigned first)
{
    struct ranked *all = calloc(o->n + 1, sizeof *all);

    if (!all)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < o->n; i++)
        all[i] = (struct ranked){o->at[i], o->counts, first};
    qsort(all, o->n, sizeof *all, by_count);
    for (size_t i = 0; i < o->n; i++)
        o->at[i] = all[i].w;
    free(all);
    trod_map_fini(&o->map);
    return TROD_OK;
}

size_t trod_owners_count(const struct trod_owners *o, uint64_t top, struct trod_result *r)
{
    trod_result_u64(r, "owner_count", o->n);
    return top && top < o->n ? (size_t)top : o->n;
}

const char *trod_owners_column(const struct trod_owners *o)
{
    return o->by == TROD_BY_MODULE ? "module" : o->by == TROD_BY_LINE ? "source" : "function";
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

void trod_owners_put(const struct trod_owners *o, const struct trod_owner *w, struct trod_result *r)
{
    char text[TEXT];

    switch (w->kind) {
    case TROD_OWNER_NAMED:
        snprintf(text, sizeof text, "%s:%" PRIu64, w->name, w->number);
        trod_result_str(r, NULL, o->by == TROD_BY_LINE ? text : w->name);
        return;
    case TROD_OWNER_MODULE:
        snprintf(text, sizeof text, "(no symbol in %s)", last_part(w->name));
        trod_result_str(r, NULL, text);
        return;
    case TROD_OWNER_LOST:
        trod_result_str(r, NULL, "(no symbol)");
        return;
    case TROD_OWNER_NONE:
        trod_result_str(r, NULL, "(none)");
        return;
    default:
        trod_result_hex(r, NULL, w->number);
    }
}
