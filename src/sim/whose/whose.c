/*
 * whose.c - the owners of what rows reference.
 *
 * Implements whose.h. Of all that is known of an address the most specific counts: a block of the
 * heap, an object, a stack, a mapping, a module. An answer is remembered with the range of
 * addresses for which it holds, until something changes.
 */
#include "sim/whose/whose_int.h"

#include "core/grow.h"
#include "trod/diag.h"
#include "trod/format.h"
#include "trod/meta.h"
#include "trod/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_OWNERS = 64, FIRST_LANES = 16, MEMO_BITS = 6 };

/* --- owners --- */

uint32_t whose_owner(struct trod_whose *w, enum whose_kind kind, uint64_t key)
{
    uint64_t *number = trod_lines_at(&w->number[kind], key);

    if (number && *number)
        return (uint32_t)*number;
    if (!number || w->n_owners >= UINT32_MAX ||
        !trod_grow(&w->owner, w->n_owners, &w->cap_owners, sizeof *w->owner, FIRST_OWNERS)) {
        w->failed = true;
        return TROD_WHOSE_NOBODY;
    }
    *number = w->n_owners++;
    w->owner[*number] = (struct whose_owner){
        .kind = (uint8_t)kind, .with = (uint32_t)*number, .at = key, .end = key};
    return (uint32_t)*number;
}

uint32_t trod_whose_tables(struct trod_whose *w)
{
    return whose_owner(w, WHOSE_TABLES, 0);
}

bool trod_whose_failed(const struct trod_whose *w)
{
    return w->failed;
}

/* --- what the files say --- */

/* Objects; one without a size reaches to the next one, but not out of its file. */
static void take_objects(struct trod_whose *w, struct trod_symbols *symbols)
{
    uint64_t at, size, next, ignored;
    const char *name, *other, *path;

    for (size_t i = 0; trod_symbols_at(symbols, i, &name, &at, &size); i++) {
        uint64_t end = at + size, from, to;
        uint32_t owner;

        if (size == 0) {
            end = trod_symbols_at(symbols, i + 1, &other, &next, &ignored) ? next : UINT64_MAX;
            for (size_t k = 0; trod_symbols_module(symbols, k, &path, &from, &to); k++)
                end = at >= from && at < to && to < end ? to : end;
        }
        if (end <= at || end == UINT64_MAX || !(owner = whose_owner(w, WHOSE_OBJECT, at)))
            continue;
        w->owner[owner].name = name;
        if (!trod_areas_put(&w->objects, at, end, owner))
            w->failed = true;
    }
}

/* The module PATH at [FROM, TO); its code and its data have owners of their own. */
static void take_module(struct trod_whose *w, const char *path, uint64_t from, uint64_t to)
{
    uint64_t key = from;
    uint32_t code, data;

    for (size_t i = 1; i < w->n_owners; i++) /* another segment of a file that is known */
        if (w->owner[i].kind == WHOSE_DATA_OF && strcmp(w->owner[i].name, path) == 0)
            key = w->owner[i].at;
    if (!(code = whose_owner(w, WHOSE_CODE_OF, key)) ||
        !(data = whose_owner(w, WHOSE_DATA_OF, key)))
        return;
    w->owner[code].name = w->owner[data].name = path;
    if (!trod_areas_put(&w->modules, from, to, data))
        w->failed = true;
}

int trod_whose_new(struct trod_whose **out, enum trod_whose_by by, struct trod_symbols *symbols)
{
    struct trod_whose *w = calloc(1, sizeof *w);
    const char *path;
    uint64_t from, to;

    *out = w;
    if (!w)
        return TROD_ERR_NOMEM;
    w->by = by;
    w->symbols = symbols;
    w->n_owners = 1; /* number 0: no owner */
    for (unsigned k = 0; k < WHOSE_KINDS; k++)
        w->number[k].map = true;
    if (!trod_grow(&w->owner, 1, &w->cap_owners, sizeof *w->owner, FIRST_OWNERS)) {
        trod_whose_free(w);
        *out = NULL;
        return TROD_ERR_NOMEM;
    }
    w->owner[0] = (struct whose_owner){.kind = WHOSE_KINDS};
    for (size_t i = 0; symbols && trod_symbols_module(symbols, i, &path, &from, &to); i++)
        take_module(w, path, from, to);
    if (symbols && by != TROD_WHOSE_REGION)
        take_objects(w, symbols);
    if (!w->failed)
        return 0;
    trod_whose_free(w);
    *out = NULL;
    return TROD_ERR_NOMEM;
}

void trod_whose_free(struct trod_whose *w)
{
    if (!w)
        return;
    trod_areas_fini(&w->objects);
    trod_areas_fini(&w->modules);
    for (unsigned k = 0; k < WHOSE_KINDS; k++)
        trod_lines_fini(&w->number[k]);
    for (size_t i = 0; i < w->n_spaces; i++) {
        trod_areas_fini(&w->space[i]->heap);
        trod_areas_fini(&w->space[i]->maps);
        trod_areas_fini(&w->space[i]->stacks);
        free(w->space[i]);
    }
    for (size_t i = 0; i < w->n_lanes; i++)
        free(w->lane[i]);
    free(w->space);
    free(w->lane);
    free(w->owner);
    free(w);
}

/* --- threads and address spaces --- */

/* The number of the space of process PID; UINT32_MAX: no memory. */
static uint32_t space_of(struct trod_whose *w, uint64_t pid)
{
    struct whose_space *p;

    for (size_t i = 0; i < w->n_spaces; i++)
        if (w->space[i]->pid == pid)
            return (uint32_t)i;
    if (!trod_grow(&w->space, w->n_spaces, &w->cap_spaces, sizeof *w->space, 4) ||
        !(p = calloc(1, sizeof *p)))
        return UINT32_MAX;
    p->pid = pid;
    w->space[w->n_spaces] = p;
    return (uint32_t)w->n_spaces++;
}

static bool lanes_to(struct trod_whose *w, uint32_t stream)
{
    const size_t n = stream < FIRST_LANES ? FIRST_LANES : 2 * (size_t)stream;
    struct whose_lane **p = realloc(w->lane, n * sizeof *p);

    if (!p)
        return false;
    memset(p + w->n_lanes, 0, (n - w->n_lanes) * sizeof *p);
    w->lane = p;
    w->n_lanes = n;
    return true;
}

struct whose_lane *whose_lane(struct trod_whose *w, const struct trod_meta *m, uint32_t stream)
{
    struct whose_lane *l;
    uint32_t space;

    if (stream < w->n_lanes && w->lane[stream])
        return w->lane[stream];
    space = space_of(w, stream < m->n_streams ? m->streams[stream].pid : TROD_NOWHERE);
    if (space == UINT32_MAX || (stream >= w->n_lanes && !lanes_to(w, stream)) ||
        !(l = calloc(1, sizeof *l))) {
        w->failed = true;
        return NULL;
    }
    *l = (struct whose_lane){.space = space, .low = UINT64_MAX};
    return w->lane[stream] = l;
}

/* --- addresses --- */

/* Whose is ADDR? [*FROM, *TO): where the same is true. */
static uint32_t data_of(struct trod_whose *w, const struct whose_space *p, uint64_t addr,
                        uint64_t *from, uint64_t *to)
{
    const struct trod_areas *const in[] = {&p->heap, &w->objects, NULL, &p->maps, &w->modules};
    uint64_t page;

    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        const uint32_t n =
            in[i] ? trod_areas_find(in[i], addr, from, to) : whose_stack_of(p, addr, from, to);

        if (n)
            return in[i] ? in[i]->at[n].value : n;
    }
    page = addr >> WHOSE_PAGE_BITS << WHOSE_PAGE_BITS;
    *from = page > *from ? page : *from;
    if (page + ((UINT64_C(1) << WHOSE_PAGE_BITS) - 1) < *to)
        *to = page +
              ((UINT64_C(1) << WHOSE_PAGE_BITS) - 1); /* the last byte is looked up each time */
    return whose_owner(w, WHOSE_DATA_AT, addr >> WHOSE_PAGE_BITS);
}

static uint32_t code_of(struct trod_whose *w, uint64_t addr)
{
    uint64_t from = 0, to = UINT64_MAX;
    uint32_t i;

    if (w->by != TROD_WHOSE_REGION)
        return whose_owner(w, WHOSE_CODE, 0);
    if ((i = trod_areas_find(&w->modules, addr, &from, &to)))
        return whose_owner(w, WHOSE_CODE_OF, w->owner[w->modules.at[i].value].at);
    return whose_owner(w, WHOSE_CODE_AT, addr >> WHOSE_PAGE_BITS);
}

static uint32_t lookup(struct trod_whose *w, struct whose_space *p, uint64_t addr)
{
    uint64_t from = 0, to = UINT64_MAX;
    const size_t at = addr >> MEMO_BITS & (WHOSE_MEMO - 1);
    uint32_t owner;

    if (addr >= p->memo[at].from && addr < p->memo[at].to && p->memo[at].change == w->change)
        return p->memo[at].owner;
    owner = data_of(w, p, addr, &from, &to);
    p->memo[at].from = from;
    p->memo[at].to = to;
    p->memo[at].change = w->change;
    p->memo[at].owner = owner;
    return owner;
}

/* Take the modules that M, the meta of the trace, lists. */
static void take_list(struct trod_whose *w, const struct trod_meta *m)
{
    w->moduled = true;
    for (uint32_t i = 0; i < m->n_modules; i++)
        take_module(w, m->modules[i].path, m->modules[i].from, m->modules[i].to);
}

uint32_t trod_whose_row(struct trod_whose *w, const struct trod_batch *b, uint32_t row)
{
    const uint32_t stream = trod_batch_stream(b, row), said = b->have & b->has[row];
    struct whose_lane *l = whose_lane(w, b->meta, stream);
    const unsigned kind = b->kind[row];

    if (!l)
        return TROD_WHOSE_NOBODY;
    if (!w->moduled)
        take_list(w, b->meta);
    if (kind == TROD_MARKER) {
        if (b->meta->driver && (b->meta->driver->flags & TROD_FMT_MARKERS) &&
            (said & TROD_COL_SUB) && (said & TROD_COL_VALUE))
            whose_marker(w, l, b, row);
        return TROD_WHOSE_NOBODY;
    }
    if (!(said & TROD_COL_ADDR))
        return TROD_WHOSE_NOBODY;
    if (kind == TROD_INSTR) {
        whose_instruction(l, b, row);
        return code_of(w, b->addr[row]);
    }
    if (kind == TROD_BUS && said & TROD_COL_FLAGS && b->flags[row] & TROD_F_IFETCH)
        return code_of(w, b->addr[row]);
    if (kind != TROD_READ && kind != TROD_WRITE && kind != TROD_ATOMIC && kind != TROD_PREFETCH)
        return TROD_WHOSE_NOBODY;
    if (l->expect && (l->expect == kind || l->expect > TROD_KINDS) && kind != TROD_PREFETCH)
        whose_stack(w, l, stream, b->addr[row]);
    return lookup(w, w->space[l->space], b->addr[row]);
}
