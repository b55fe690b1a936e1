/*
 * memory.c - which store wrote a byte last (deps.h).
 *
 * Implements docs/analysing.md, "deps", "Memory". Every byte of the lines that were stored to has
 * the number of the store that wrote it last; a store is forgotten when all of its bytes were
 * overwritten. Most words of 8 bytes have bytes of one store only, which is noted once for the
 * word; others have an array by byte. Beyond the number of lines asked for everything is forgotten
 * and noting begins anew, so that memory is bounded.
 */
#include "analysis/deps/deps.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX_MOST = 1 << 30 };

/* Is line L one that was stored to? */
static inline bool used(const struct deps_memory *m, const struct deps_line *l)
{
    return l->epoch == m->epoch;
}

/* Line NUMBER, or the unused place where it belongs. There are unused ones. */
static inline struct deps_line *place(const struct deps_memory *m, uint64_t number)
{
    size_t i = deps_home(m, number);

    while (used(m, &m->line[i]) && m->line[i].number != number)
        i = (i + 1) & (m->size - 1);
    return &m->line[i];
}

static int grow(struct deps_memory *m)
{
    struct deps_memory to = *m;

    to.size = m->size ? 2 * m->size : 64;
    to.epoch = m->epoch ? m->epoch : 1;
    to.shift = 64;
    for (size_t n = to.size; n > 1; n /= 2)
        to.shift--;
    if (!m->front)
        m->front = to.front = calloc(DEPS_FRONT, sizeof *to.front);
    to.room = calloc(to.size + 1, sizeof *to.line); /* of a large one the system clears the pages */
    if (!to.front || !to.room) {
        free(to.room);
        return TROD_ERR_NOMEM;
    }
    to.line = to.room;
    while ((uintptr_t)to.line % DEPS_LINE)
        to.line = (struct deps_line *)((uint64_t *)to.line + 1);
    for (size_t i = 0; i < m->size; i++)
        if (used(m, &m->line[i]))
            *place(&to, m->line[i].number) = m->line[i];
    free(m->room);
    *m = to;
    return TROD_OK;
}

void deps_memory_clear(struct deps_memory *m)
{
    if (m->n)
        memset(m->front, 0, DEPS_FRONT * sizeof *m->front);
    m->epoch += m->n != 0;
    m->n = 0;
    m->n_records = m->n_mixed = 0;
    m->free = m->free_mixed = 0;
}

void deps_memory_free(struct deps_memory *m)
{
    free(m->room);
    free(m->front);
    free(m->record);
    free(m->mixed);
    free(m->ready);
    memset(m, 0, sizeof *m);
}

/* A line for NUMBER, which is not there. NULL: no memory. */
static struct deps_line *add_line(struct deps_memory *m, uint64_t number)
{
    struct deps_line *l;

    if (2 * m->n >= m->size && grow(m) < 0)
        return NULL;
    l = place(m, number);
    *l = (struct deps_line){.number = number, .epoch = m->epoch};
    m->n++;
    return l;
}

/* A record of its own. 0: no memory. */
static uint32_t new_record(struct deps_memory *m)
{
    uint32_t r = m->free;

    if (r) {
        m->free = (uint32_t)m->record[r].addr;
        return r;
    }
    if (m->n_records + 1 >= m->cap) {
        const uint32_t cap = m->cap ? 2 * m->cap : 64;
        struct deps_record *record;
        double *ready;

        if (cap > INDEX_MOST)
            return 0;
        record = realloc(m->record, cap * sizeof *record);
        if (!record)
            return 0;
        m->record = record;
        record[0] = (struct deps_record){0};
        ready = realloc(m->ready, ((size_t)cap * m->stride + 1) * sizeof *ready);
        if (!ready)
            return 0;
        m->ready = ready;
        m->cap = cap;
    }
    return ++m->n_records;
}

/* A word for bytes of several records. 0: no memory. */
static uint32_t new_mixed(struct deps_memory *m)
{
    uint32_t x = m->free_mixed;

    if (x) {
        m->free_mixed = m->mixed[x].by[0];
        return x;
    }
    if (m->n_mixed + 1 >= m->cap_mixed) {
        const uint32_t cap = m->cap_mixed ? 2 * m->cap_mixed : 64;
        struct deps_mixed *mixed = cap > INDEX_MOST ? NULL : realloc(m->mixed, cap * sizeof *mixed);

        if (!mixed)
            return 0;
        m->mixed = mixed;
        m->cap_mixed = cap;
    }
    return ++m->n_mixed;
}

/* How many bits of BYTES, 8 at the most, are set? */
static inline uint32_t bits(unsigned bytes)
{
    const uint64_t of = UINT64_C(0x4332322132212110); /* by four bits */

    return (uint32_t)((of >> 4 * (bytes & 15) & 15) + (of >> 4 * (bytes >> 4) & 15));
}

/* The bytes of SIZE at ADDR that lie in its word: how many, and their bits. */
static inline uint32_t in_word(uint64_t addr, uint32_t size, unsigned *bytes)
{
    const unsigned first = addr % DEPS_WORD;
    const uint32_t n = size < DEPS_WORD - first ? size : DEPS_WORD - first;

    *bytes = 0xffu >> (DEPS_WORD - n) << first;
    return n;
}

/* N bytes of record R were overwritten. */
static inline void lose(struct deps_memory *m, uint32_t r, uint32_t n)
{
    struct deps_record *old = &m->record[r];

    old->visible = (uint16_t)(old->visible - n);
    if (old->visible == 0) {
        old->addr = m->free;
        m->free = r;
    }
}

/* BYTES of word W of L, which has others of record OLD as well, are record R's. */
static int mix(struct deps_memory *m, struct deps_line *l, unsigned w, unsigned bytes, uint32_t r)
{
    const uint32_t x = new_mixed(m), old = l->by[w];

    if (!x)
        return TROD_ERR_NOMEM;
    for (unsigned k = 0; k < DEPS_WORD; k++)
        m->mixed[x].by[k] = bytes >> k & 1 ? r : l->has[w] >> k & 1 ? old : 0;
    l->by[w] = DEPS_MIXED | x;
    l->has[w] |= (uint8_t)bytes;
    return TROD_OK;
}

/* The same of a word that has bytes of several records. */
static void write_mixed(struct deps_memory *m, struct deps_line *l, unsigned w, unsigned bytes,
                        uint32_t r)
{
    const uint32_t x = l->by[w] & ~DEPS_MIXED;
    uint32_t *const by = m->mixed[x].by;
    bool others = false;

    for (unsigned k = 0; k < DEPS_WORD; k++) {
        if (bytes >> k & 1) {
            if (by[k])
                lose(m, by[k], 1);
            by[k] = r;
        }
        others = others || (by[k] && by[k] != r);
    }
    l->has[w] |= (uint8_t)bytes;
    if (others)
        return;
    l->by[w] = r;
    by[0] = m->free_mixed;
    m->free_mixed = x;
}

/* BYTES of word W of L are record R's. 0 or TROD_ERR_NOMEM. */
static inline int write_word(struct deps_memory *m, struct deps_line *l, unsigned w, unsigned bytes,
                             uint32_t r)
{
    if (l->by[w] & DEPS_MIXED) {
        write_mixed(m, l, w, bytes, r);
        return TROD_OK;
    }
    if (l->has[w] & bytes)
        lose(m, l->by[w], bits(l->has[w] & bytes));
    if (l->has[w] & ~bytes)
        return mix(m, l, w, bytes, r);
    l->by[w] = r;
    l->has[w] = (uint8_t)bytes;
    return TROD_OK;
}

/*
 * The record of a store whose bytes, in one word of L, are all of another that has no others: it
 * is replaced where it is. 0: there is none.
 */
static inline uint32_t replaced(const struct deps_memory *m, const struct deps_store *store,
                                const struct deps_line *l)
{
    const unsigned w = store->addr % DEPS_LINE / DEPS_WORD;
    unsigned bytes;

    if (!used(m, l) || in_word(store->addr, store->size, &bytes) != store->size)
        return 0;
    return l->has[w] == bytes && !(l->by[w] & DEPS_MIXED) &&
                   m->record[l->by[w]].visible == store->size
               ? l->by[w]
               : 0;
}

/* Is one of the lines of STORE, the first of which is L, missing? */
static bool needs_line(const struct deps_memory *m, const struct deps_store *store,
                       const struct deps_line *l)
{
    if (!used(m, l))
        return true;
    for (uint64_t k = DEPS_LINE - store->addr % DEPS_LINE; k < store->size; k += DEPS_LINE)
        if (!used(m, place(m, (store->addr + k) / DEPS_LINE)))
            return true;
    return false;
}

/* The bytes of STORE, whose first are in L, are those of a new record. 0: no memory. */
static uint32_t take(struct deps_memory *m, const struct deps_store *store, struct deps_line *l)
{
    const uint32_t r = new_record(m);
    unsigned bytes;

    for (uint32_t k = 0, n; r && k < store->size; k += n) {
        const uint64_t addr = store->addr + k;

        if (k && addr % DEPS_LINE == 0)
            l = place(m, addr / DEPS_LINE);
        if (!used(m, l) && !(l = add_line(m, addr / DEPS_LINE)))
            return 0;
        n = in_word(addr, store->size - k, &bytes);
        if (write_word(m, l, addr % DEPS_LINE / DEPS_WORD, bytes, r) < 0)
            return 0;
    }
    return r;
}

int deps_memory_store(struct deps_memory *m, const struct deps_store *store, const double *ready_of,
                      uint64_t most, uint64_t *forgotten)
{
    struct deps_line *l;
    uint32_t r;

    if (store->size == 0)
        return TROD_OK;
    if (!m->size && grow(m) < 0)
        return TROD_ERR_NOMEM;
    l = place(m, store->addr / DEPS_LINE);
    r = replaced(m, store, l);
    if (!r) {
        if (m->n >= most && needs_line(m, store, l)) {
            deps_memory_clear(m);
            ++*forgotten;
            l = place(m, store->addr / DEPS_LINE);
        }
        r = take(m, store, l);
        if (!r)
            return TROD_ERR_NOMEM;
    }
    *deps_front(m, store->addr) = r;
    m->stored += store->size;
    m->record[r] = (struct deps_record){
        .at = store->at,
        .ready = store->ready,
        .addr = store->addr,
        .size = (uint16_t)store->size,
        .visible = (uint16_t)store->size,
        .stored = m->stored,
        .stack = store->stack,
    };
    for (unsigned c = 0; c < m->stride; c++)
        m->ready[(size_t)r * m->stride + c] = ready_of[c];
    return TROD_OK;
}

/* What a load asks for, and what was found. */
struct search {
    const struct deps_memory *m;
    struct deps_found *f;
    double *latest;
    uint32_t last;  /* record */
    uint32_t known; /* bytes */
    bool several;
};

/* N bytes of the load are of record BY. */
static inline void found(struct search *s, uint32_t by, uint32_t n)
{
    const struct deps_memory *const m = s->m;
    const struct deps_record *r = &m->record[by];
    struct deps_found *const f = s->f;

    s->known += n;
    if (by == s->last)
        return;
    s->several = s->several || s->last;
    s->last = by;
    if (!f->youngest || r->stored > m->record[f->youngest].stored)
        f->youngest = by;
    if (r->ready > f->ready) {
        f->ready = r->ready;
        f->from = r->at;
    }
    deps_later(s->latest, m->ready + (size_t)by * m->stride, m->stride);
}

/* The load has BYTES of word W of L. */
static inline void search_word(struct search *s, const struct deps_line *l, unsigned w,
                               unsigned bytes)
{
    bytes &= l->has[w];
    if (!bytes)
        return;
    if (!(l->by[w] & DEPS_MIXED)) {
        found(s, l->by[w], bits(bytes));
        return;
    }
    for (unsigned k = 0; k < DEPS_WORD; k++)
        if (bytes >> k & 1)
            found(s, s->m->mixed[l->by[w] & ~DEPS_MIXED].by[k], 1);
}

void deps_memory_load(const struct deps_memory *m, uint64_t addr, uint32_t size,
                      struct deps_found *f, double *latest)
{
    struct search s = {.m = m, .f = f, .latest = latest};
    const struct deps_line *l = NULL;
    const struct deps_record *r;
    unsigned bytes;

    f->youngest = 0;
    f->ready = f->from = 0;
    if (!m->size)
        return;
    for (uint32_t k = 0, n; k < size; k += n) {
        const uint64_t at = addr + k;

        if (!l || at % DEPS_LINE == 0)
            l = place(m, at / DEPS_LINE);
        n = in_word(at, size - k, &bytes);
        if (used(m, l))
            search_word(&s, l, at % DEPS_LINE / DEPS_WORD, bytes);
    }
    if (!f->youngest)
        return;
    r = &m->record[f->youngest];
    f->overlap = s.several                            ? DEPS_SEVERAL
                 : s.known < size                     ? DEPS_PARTIAL
                 : r->addr == addr && r->size == size ? DEPS_EXACT
                                                      : DEPS_INSIDE;
    if (deps_has_all(r, addr, size))
        *deps_front(m, addr) = f->youngest;
}
