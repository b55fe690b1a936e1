/*
 * known.c - what a stream teaches: functions, return addresses, whose code lies where.
 *
 * It grows with the program, not with the trace. Whose code an address is is noted by byte, in at
 * most CS_PAGES pages: what lies beyond is not known.
 */
#include "callstack/callstack_int.h"
#include "core/grow.h"

enum { MOST_RUN = 1 << 24 }; /* bytes; what is longer is no code */

static size_t home(const struct cs_map *m, uint64_t pc)
{
    return (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> m->shift);
}

/* The place of PC, or the empty one where it belongs. */
static struct cs_place *place(const struct cs_map *m, uint64_t pc)
{
    size_t i = home(m, pc);

    while (m->at[i].value != CS_NOBODY && m->at[i].pc != pc)
        i = (i + 1) & (m->size - 1);
    return &m->at[i];
}

static bool begin_map(struct cs_map *m, unsigned bits)
{
    *m = (struct cs_map){.size = (size_t)1 << bits, .shift = 64 - bits};
    m->at = malloc(m->size * sizeof *m->at);
    for (size_t i = 0; m->at && i < m->size; i++)
        m->at[i].value = CS_NOBODY;
    return m->at != NULL;
}

static uint32_t find(const struct cs_map *m, uint64_t pc)
{
    return place(m, pc)->value;
}

static int set(struct cs_map *m, uint64_t pc, uint32_t value)
{
    struct cs_place *p = place(m, pc);

    if (p->value == CS_NOBODY && 2 * ++m->n > m->size) {
        struct cs_map to;

        if (!begin_map(&to, 64 - m->shift + 1))
            return TROD_ERR_NOMEM;
        for (size_t i = 0; i < m->size; i++)
            if (m->at[i].value != CS_NOBODY)
                *place(&to, m->at[i].pc) = m->at[i];
        to.n = m->n;
        free(m->at);
        *m = to;
        p = place(m, pc);
    }
    *p = (struct cs_place){pc, value};
    return TROD_OK;
}

int cs_known_init(struct cs_known *k)
{
    return begin_map(&k->functions, 4) && begin_map(&k->returns, 4) && begin_map(&k->pages, 4)
               ? TROD_OK
               : TROD_ERR_NOMEM;
}

void cs_known_fini(struct cs_known *k)
{
    for (size_t i = 0; i < k->n_pages; i++)
        free(k->page[i]);
    free(k->page);
    free(k->near);
    free(k->noted);
    free(k->function);
    free(k->functions.at);
    free(k->returns.at);
    free(k->pages.at);
}

/* ---- functions */

static unsigned near_of(uint64_t pc)
{
    return (unsigned)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

static void forget(struct cs_known *k, uint64_t pc)
{
    if (k->near)
        k->near[near_of(pc)].pc = TROD_NOWHERE;
}

uint32_t cs_function(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc)
{
    const uint32_t found = find(&k->functions, pc);
    struct cs_function f = {.pc = pc};
    struct trod_symbol_range range;

    if (found != CS_NOBODY)
        return found;
    if (!trod_grow(&k->function, k->n, &k->cap, sizeof *k->function, 64))
        return CS_NOBODY;
    if (symbols && trod_symbols_function(symbols, pc, &range)) {
        f.lo = range.begin;
        f.hi = range.end;
        f.symbol_entry = f.lo == pc;
    }
    if (set(&k->functions, pc, k->n) < 0)
        return CS_NOBODY;
    forget(k, pc);
    k->function[k->n] = f;
    return k->n++;
}

void cs_called(struct cs_known *k, uint32_t function)
{
    struct cs_function *f = &k->function[function];

    if (!f->called)
        forget(k, f->pc);
    f->called = true;
}

uint32_t cs_entry(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc)
{
    const unsigned i = near_of(pc);
    struct trod_symbol_range range;
    uint32_t f;

    if (k->near && k->near[i].pc == pc && pc != TROD_NOWHERE)
        return k->near[i].function;
    if (!k->near && (k->near = malloc(CS_NEAR * sizeof *k->near)) != NULL)
        for (unsigned n = 0; n < CS_NEAR; n++)
            k->near[n].pc = TROD_NOWHERE;
    f = find(&k->functions, pc);
    if (f != CS_NOBODY && !k->function[f].called && !k->function[f].symbol_entry)
        f = CS_NOBODY;
    if (f == CS_NOBODY && symbols && trod_symbols_function(symbols, pc, &range) &&
        range.begin == pc)
        f = cs_function(k, symbols, pc);
    if (k->near)
        k->near[i] = (struct cs_near){pc, f};
    return f;
}

/* ---- return addresses */

int cs_returns(struct cs_known *k, uint64_t ra, uint32_t function)
{
    struct cs_place *p = place(&k->returns, ra);

    if (p->value == CS_NOBODY)
        return set(&k->returns, ra, function);
    p->value = function;
    return TROD_OK;
}

uint32_t cs_returns_to(const struct cs_known *k, uint64_t ra)
{
    return find(&k->returns, ra);
}

/* ---- code */

static struct cs_code_page *page_of(struct cs_known *k, uint64_t number)
{
    const uint32_t found = find(&k->pages, number);
    struct cs_code_page *p;

    if (found != CS_NOBODY)
        return k->page[found];
    if (k->n_pages == CS_PAGES ||
        !trod_grow(&k->page, k->n_pages, &k->cap_pages, sizeof *k->page, 16) ||
        !(p = calloc(1, sizeof *p)))
        return NULL;
    p->number = number;
    if (set(&k->pages, number, (uint32_t)k->n_pages) < 0) {
        free(p);
        return NULL;
    }
    k->page[k->n_pages++] = p;
    return p;
}

int cs_code(struct cs_known *k, uint64_t from, uint64_t to, uint32_t function)
{
    const unsigned i = near_of(from);

    if (!k->noted) {
        k->noted = calloc(CS_NEAR, sizeof *k->noted);
        if (!k->noted)
            return TROD_ERR_NOMEM;
        k->noted[near_of(0)].from = TROD_NOWHERE;
    }
    if (to < from || to - from > MOST_RUN || (k->noted[i].from == from && to <= k->noted[i].to))
        return TROD_OK;
    k->noted[i] = (struct cs_noted){from, to};
    for (uint64_t at = from; at <= to;) {
        struct cs_code_page *p = page_of(k, at / CS_PAGE);
        const uint64_t end = (at / CS_PAGE + 1) * CS_PAGE;

        if (!p)
            return k->n_pages == CS_PAGES ? TROD_OK : TROD_ERR_NOMEM;
        for (; at <= to && at != end; at++)
            if (!p->owner[at % CS_PAGE])
                p->owner[at % CS_PAGE] = function + 1;
        if (end == 0)
            break;
    }
    return TROD_OK;
}

uint32_t cs_code_of(const struct cs_known *k, uint64_t pc)
{
    const uint32_t page = find(&k->pages, pc / CS_PAGE);
    const uint32_t owner = page == CS_NOBODY ? 0 : k->page[page]->owner[pc % CS_PAGE];

    return owner ? owner - 1 : CS_NOBODY;
}
