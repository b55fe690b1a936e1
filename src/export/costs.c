/*
 * costs.c - what each instruction of each function cost, and what each call. Implements costs.h.
 */
#include "export/costs.h"

#include "core/grow.h"

enum { RECENT = 1 << 13 };

/* The place of the instruction at PC in FUNCTION, + 1; 0: no memory. */
static uint32_t place_of(struct export_totals *t, uint64_t pc, uint32_t function)
{
    uint32_t *recent = &t->recent[(pc ^ pc >> 13) & (RECENT - 1)];
    const struct export_pair *p;
    size_t at;

    if (*recent && t->place[*recent - 1].pc == pc && t->place[*recent - 1].function == function)
        return *recent;
    p = export_map_at(&t->by_place, pc, function);
    if (!p)
        return 0;
    at = (size_t)(p - t->by_place.at);
    if (at == t->n_places) {
        if (!trod_grow(&t->place, at, &t->cap_places, sizeof *t->place, 256))
            return 0;
        t->place[t->n_places++] = (struct export_place){.pc = pc, .function = function};
    }
    return *recent = (uint32_t)at + 1;
}

/* The edge from FROM to TO by the call at SITE; NULL: no memory. */
static struct export_edge *edge_of(struct export_totals *t, uint32_t from, uint32_t to,
                                   uint64_t site)
{
    const struct export_pair *p = export_map_at(&t->by_call, site, to);
    size_t at;

    if (p)
        p = export_map_at(&t->by_edge, from, (uint64_t)(p - t->by_call.at));
    if (!p)
        return NULL;
    at = (size_t)(p - t->by_edge.at);
    if (at == t->n_edges) {
        if (!trod_grow(&t->edge, at, &t->cap_edges, sizeof *t->edge, 256))
            return NULL;
        t->edge[t->n_edges++] = (struct export_edge){.site = site, .from = from, .to = to};
    }
    return &t->edge[at];
}

/* What lane L cost since O began goes to the edge from FROM. */
static int charge(struct export_totals *t, const struct export_lane *l, uint32_t from,
                  const struct export_open *o, uint64_t site)
{
    struct export_edge *e = edge_of(t, from, o->function, site);

    if (!e)
        return TROD_ERR_NOMEM;
    e->calls++;
    for (unsigned k = 0; o->outer && k < EXPORT_COSTS; k++)
        e->inclusive[k] += l->cost[k] - o->before[k];
    return 0;
}

/* A root that turns out to be the caller of what ended before. */
static int enter(void *st, struct export_lane *l, struct export_open *o, const struct trod_frame *f)
{
    if (!f->under || !l->has_root)
        return 0;
    return charge(st, l, o->function, &l->root, f->entry.pc);
}

/* Charge what row I of B (NULL: none) missed to the places that missed. */
static void charge_misses(struct export_totals *t, const struct trod_batch *b, uint32_t i,
                          struct export_debtor who)
{
    struct export_missed missed[TROD_CG_EVENTS];
    const unsigned n = export_misses_row(t->misses, b, i, who, missed);

    for (unsigned k = 0; k < n; k++) {
        const struct export_missed *m = &missed[k];
        uint64_t *self, *lane;

        if (m->who.place == 0)
            continue;
        self = t->place[m->who.place - 1].self;
        lane = t->lanes.lane[m->who.lane]->cost;
        self[EXPORT_FIRST_MISSES + m->event] += m->first;
        lane[EXPORT_FIRST_MISSES + m->event] += m->first;
        self[EXPORT_LAST_MISSES + m->event] += m->last;
        lane[EXPORT_LAST_MISSES + m->event] += m->last;
    }
}

static int leave(void *st, struct export_lane *l, const struct export_open *o,
                 const struct trod_frame *f, const struct trod_frame_left *end)
{
    struct export_totals *t = st;
    const uint64_t site = f->site.pc == TROD_NOWHERE ? f->entry.pc : f->site.pc;

    (void)end;
    if (t->misses)
        charge_misses(t, NULL, 0, (struct export_debtor){0, 0});
    return f->depth == 0 ? 0 : charge(st, l, (o - 1)->function, o, site);
}

/* Where the accesses of lane NUMBER belong. */
static bool last_of(struct export_totals *t, uint32_t number)
{
    const size_t n = number + number / 2 + 16;
    uint32_t *last;

    if (number < t->n_last)
        return true;
    last = realloc(t->last, n * sizeof *last);
    if (!last)
        return false;
    memset(last + t->n_last, 0, (n - t->n_last) * sizeof *last);
    t->last = last;
    t->n_last = n;
    return true;
}

/* Rows that were not executed by the program fill the caches too. */
static void only_misses(struct export_totals *t, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    for (uint32_t i = from; t->misses && i < to; i++)
        charge_misses(t, b, i, (struct export_debtor){0, 0});
}

static int rows(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct export_lane *l, struct export_open *o)
{
    struct export_totals *t = st;
    uint32_t place;

    if (!l) {
        only_misses(t, b, from, to);
        return 0;
    }
    if (!last_of(t, l->number))
        return TROD_ERR_NOMEM;
    place = t->last[l->number];
    for (uint32_t i = from; i < to; i++) {
        const unsigned costs = export_costs(b, i);

        if (!costs && b->kind[i] != TROD_INSTR)
            continue;
        if (b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_ADDR &&
            !(place = place_of(t, b->addr[i], o->function)))
            return TROD_ERR_NOMEM;
        for (unsigned k = 0; place && k < EXPORT_ROW_COSTS; k++)
            t->place[place - 1].self[k] += costs >> k & 1;
        if (t->misses)
            charge_misses(t, b, i, (struct export_debtor){place, l->number});
    }
    t->last[l->number] = place;
    return 0;
}

int export_totals_init(struct export_totals *t, const struct export_misses_options *misses,
                       const struct trod_export_context *c)
{
    const struct export_lanes_sink sink = {.st = t, .enter = enter, .leave = leave, .rows = rows};

    if (misses && !misses->cache && (misses->i1 || misses->d1 || misses->ll))
        return trod_error(c->diag, TROD_ERR_USAGE, "export.cache", NULL,
                          "option '%s' is the shape of a cache, and none is simulated: add option "
                          "'cache'",
                          misses->i1   ? "I1"
                          : misses->d1 ? "D1"
                                       : "LL");
    if (misses && misses->cache) {
        int r;

        t->misses = calloc(1, sizeof *t->misses);
        r = t->misses ? export_misses_init(t->misses, misses, c->diag) : TROD_ERR_NOMEM;
        if (r != 0)
            return r;
    }
    t->recent = calloc(RECENT, sizeof *t->recent);
    return t->recent ? export_lanes_init(&t->lanes, &sink, c) : TROD_ERR_NOMEM;
}

int export_totals_feed(struct export_totals *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
    return export_lanes_feed(&t->lanes, b, from, to);
}

static int by_place(const void *a, const void *b)
{
    const struct export_place *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_edge(const void *a, const void *b)
{
    const struct export_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

int export_totals_end(struct export_totals *t)
{
    const int r = export_lanes_end(&t->lanes);

    if (t->n_places)
        qsort(t->place, t->n_places, sizeof *t->place, by_place);
    if (t->n_edges)
        qsort(t->edge, t->n_edges, sizeof *t->edge, by_edge);
    return r;
}

void export_totals_fini(struct export_totals *t)
{
    export_lanes_fini(&t->lanes);
    if (t->misses)
        export_misses_fini(t->misses);
    free(t->misses);
    export_map_fini(&t->by_place);
    export_map_fini(&t->by_call);
    export_map_fini(&t->by_edge);
    free(t->place);
    free(t->edge);
    free(t->recent);
    free(t->last);
}
