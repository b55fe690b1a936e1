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

    while (m->at[i].value != CS_NO_INDEX && m->at[i].pc != pc)
        i = (i + 1) & (m->size - 1);
    return &m->at[i];
}

static bool begin_map(struct cs_map *m, unsigned bits)
{
    *m = (struct cs_map){.size = (size_t)1 << bits, .shift = 64 - bits};
    m->at = malloc(m->size * sizeof *m->at);
    for (size_t i = 0; m->at && i < m->size; i++)
        m->at[i].value = CS_NO_INDEX;
    return m->at != NULL;
}

static uint32_t find(const struct cs_map *m, uint64_t pc)
{
    return place(m, pc)->value;
}

static int set(struct cs_map *m, uint64_t pc, uint32_t value)
{
    struct cs_place *p = place(m, pc);

    if (p->value == CS_NO_INDEX && 2 * ++m->n > m->size) {
        struct cs_map to;

        if (!begin_map(&to, 64 - m->shift + 1))
            return TROD_ERR_NOMEM;
        for (size_t i = 0; i < m->size; i++)
            if (m->at[i].value != CS_NO_INDEX)
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
    for (unsigned i = 0; i < CS_ASKED; i++)
        k->asked[i].page = TROD_NOWHERE;
    return begin_map(&k->functions, 4) && begin_map(&k->returns, 4) && begin_map(&k->pages, 4) &&
                   begin_map(&k->entered, 4)
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
    free(k->entered.at);
    free(k->entries);
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

    if (found != CS_NO_INDEX)
        return found;
    if (!trod_grow(&k->function, k->n, &k->cap, sizeof *k->function, 64))
        return CS_NO_INDEX;
    if (symbols && trod_symbols_function(symbols, pc, &range)) {
        f.lo = range.begin;
        f.hi = range.end;
        f.symbol_entry = f.lo == pc;
    }
    if (set(&k->functions, pc, k->n) < 0)
        return CS_NO_INDEX;
    forget(k, pc);
    k->function[k->n] = f;
    return k->n++;
}

/* ---- where functions are entered, by page */

#define NO_ENTRIES (CS_NO_INDEX - 1)

static struct cs_asked *asked_of(struct cs_known *k, uint64_t number)
{
    return &k->asked[number % CS_ASKED];
}

/* Room for the entries of page NUMBER into *AT; NO_ENTRIES: there are as many pages as may be. */
static int new_page(struct cs_known *k, uint64_t number, uint32_t *at)
{
    *at = NO_ENTRIES;
    asked_of(k, number)->page = TROD_NOWHERE;
    if (k->n_entries == CS_PAGES)
        return TROD_OK;
    if (!trod_grow(&k->entries, k->n_entries, &k->cap_entries, sizeof *k->entries, 16) ||
        set(&k->entered, number, (uint32_t)k->n_entries) < 0)
        return TROD_ERR_NOMEM;
    *at = (uint32_t)k->n_entries++;
    k->entries[*at] = (struct cs_entries){{0}};
    return TROD_OK;
}

static void mark(struct cs_known *k, uint32_t page, uint64_t pc)
{
    if (page != NO_ENTRIES)
        k->entries[page].bit[pc % CS_PAGE / 64] |= UINT64_C(1) << pc % 64;
}

/* The entries of page NUMBER into *AT, with those of its symbols; NO_ENTRIES: none. */
static int find_entries(struct cs_known *k, const struct trod_symbols *symbols, uint64_t number,
                        uint32_t *at)
{
    const uint64_t pc = number * CS_PAGE;
    struct trod_symbol_range range;
    int rc = TROD_OK;
    bool more;

    *at = find(&k->entered, number);
    if (*at != CS_NO_INDEX)
        return TROD_OK;
    *at = NO_ENTRIES;
    if (!symbols || k->entered.n >= 8 * CS_PAGES)
        return TROD_OK;
    more = trod_symbols_function(symbols, pc, &range) && range.begin == pc;
    if (!more)
        more = trod_symbols_function_after(symbols, pc, &range);
    for (; rc == TROD_OK && more && range.begin / CS_PAGE == number;
         more = trod_symbols_function_after(symbols, range.begin, &range)) {
        if (*at == NO_ENTRIES)
            rc = new_page(k, number, at);
        mark(k, *at, range.begin);
    }
    return rc == TROD_OK && *at == NO_ENTRIES ? set(&k->entered, number, NO_ENTRIES) : rc;
}

/* The same for the page that PC is in. Most questions are of few pages. */
static inline int entries_of(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc,
                             uint32_t *at)
{
    struct cs_asked *a = asked_of(k, pc / CS_PAGE);
    int rc;

    if (pc / CS_PAGE == a->page) {
        *at = a->at;
        return TROD_OK;
    }
    rc = find_entries(k, symbols, pc / CS_PAGE, at);
    if (rc == TROD_OK)
        *a = (struct cs_asked){pc / CS_PAGE, *at};
    return rc;
}

bool cs_all_marked(const struct cs_known *k)
{
    return k->n_entries < CS_PAGES && k->entered.n < 8 * CS_PAGES;
}

struct cs_gap cs_gap(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc)
{
    enum { FAR = 4 }; /* words that are looked at, in both directions */
    const uint64_t base = pc / CS_PAGE * CS_PAGE, upto = UINT64_MAX >> (63 - pc % 64);
    unsigned low = pc % CS_PAGE / 64, high = low;
    const unsigned least = low < FAR ? 0 : low - FAR;
    const unsigned most = low + FAR < CS_BITS ? low + FAR : CS_BITS - 1;
    const uint64_t *bit;
    uint64_t before, behind;
    uint32_t page;

    if (entries_of(k, symbols, pc, &page) < 0 || page == NO_ENTRIES)
        return (struct cs_gap){base, base + CS_PAGE};
    bit = k->entries[page].bit;
    before = bit[low] & upto;
    behind = bit[low] & ~upto;
    while (!before && low > least)
        before = bit[--low];
    while (!behind && high < most)
        behind = bit[++high];
    return (struct cs_gap){
        base + 64 * (uint64_t)low + (before ? 64 - (unsigned)__builtin_clzll(before) : 0),
        base + 64 * (uint64_t)high + (behind ? (unsigned)__builtin_ctzll(behind) : 64)};
}

bool cs_entered_at(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc)
{
    uint32_t page;

    return entries_of(k, symbols, pc, &page) == TROD_OK && page != NO_ENTRIES &&
           k->entries[page].bit[pc % CS_PAGE / 64] >> pc % 64 & 1;
}

uint32_t cs_called_before(const struct cs_known *k, uint64_t pc)
{
    enum { FAR = 16 }; /* pages */
    uint64_t number = pc / CS_PAGE;
    unsigned last = pc % CS_PAGE;

    for (unsigned n = 0; n < FAR && n <= pc / CS_PAGE; n++, number--, last = CS_PAGE - 1) {
        const uint32_t page = find(&k->entered, number);

        if (page == CS_NO_INDEX || page == NO_ENTRIES)
            continue;
        for (unsigned word = last / 64 + 1; word-- > 0;) {
            uint64_t bits = k->entries[page].bit[word];

            if (word == last / 64)
                bits &= UINT64_MAX >> (63 - last % 64);
            if (bits)
                return find(&k->functions,
                            number * CS_PAGE + 64 * word + 63 - (unsigned)__builtin_clzll(bits));
        }
    }
    return CS_NO_INDEX;
}

int cs_called(struct cs_known *k, const struct trod_symbols *symbols, uint32_t function)
{
    struct cs_function *f = &k->function[function];
    uint32_t page;
    int rc;

    if (f->called)
        return TROD_OK;
    forget(k, f->pc);
    f->called = true;
    rc = entries_of(k, symbols, f->pc, &page);
    if (rc == TROD_OK && page == NO_ENTRIES)
        rc = new_page(k, f->pc / CS_PAGE, &page);
    if (rc == TROD_OK)
        mark(k, page, f->pc);
    return rc;
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
    if (f != CS_NO_INDEX && !k->function[f].called && !k->function[f].symbol_entry)
        f = CS_NO_INDEX;
    if (f == CS_NO_INDEX && symbols && trod_symbols_function(symbols, pc, &range) &&
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

    if (p->value == CS_NO_INDEX)
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

    if (found != CS_NO_INDEX)
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
    const uint32_t owner = page == CS_NO_INDEX ? 0 : k->page[page]->owner[pc % CS_PAGE];

    return owner ? owner - 1 : CS_NO_INDEX;
}
