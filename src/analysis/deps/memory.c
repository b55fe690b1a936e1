/*
 * memory.c - who stored a byte last (deps.h).
 *
 * Implements docs/analysing.md, "deps", "Memory". Every byte of the lines that were stored to knows
 * the store that wrote it last; a store is forgotten with the last byte that is still its own.
 * Where there are more lines than asked for all is forgotten and noting begins anew, so that memory
 * is bounded by the number of lines.
 */
#include "analysis/deps/deps.h"

#include <stdlib.h>
#include <string.h>

/* The line NUMBER, or the unused place where it belongs; there are places. */
static inline struct deps_line *place(const struct deps_memory *m, uint64_t number)
{
    size_t i = deps_home(m, number);

    while (m->line[i].used && m->line[i].number != number)
        i = (i + 1) & (m->size - 1);
    return &m->line[i];
}

static int grow(struct deps_memory *m)
{
    struct deps_memory to = *m;

    to.size = m->size ? 2 * m->size : 64;
    to.shift = 64;
    for (size_t n = to.size; n > 1; n /= 2)
        to.shift--;
    to.line = calloc(to.size, sizeof *to.line);
    if (!to.line)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < m->size; i++)
        if (m->line[i].used)
            *place(&to, m->line[i].number) = m->line[i];
    free(m->line);
    *m = to;
    return TROD_OK;
}

void deps_memory_clear(struct deps_memory *m)
{
    for (size_t i = 0; i < m->size; i++)
        m->line[i].used = false;
    m->n = 0;
    m->n_records = 0;
    m->free = 0;
}

void deps_memory_free(struct deps_memory *m)
{
    free(m->line);
    free(m->record);
    free(m->ready);
    memset(m, 0, sizeof *m);
}

/* The line of ADDR, added if new. NULL: no memory. */
static struct deps_line *line_of(struct deps_memory *m, uint64_t addr)
{
    const uint64_t number = addr / DEPS_LINE;
    struct deps_line *l;

    if (2 * m->n >= m->size && grow(m) < 0)
        return NULL;
    l = place(m, number);
    if (!l->used) {
        memset(l, 0, sizeof *l);
        l->number = number;
        l->used = true;
        m->n++;
    }
    return l;
}

/* A record of its own: number + 1; 0: no memory. */
static uint32_t new_record(struct deps_memory *m)
{
    uint32_t r = m->free;

    if (r) {
        m->free = (uint32_t)m->record[r - 1].addr;
        return r;
    }
    if (m->n_records == m->cap) {
        const uint32_t cap = m->cap ? 2 * m->cap : 256;
        struct deps_record *record = realloc(m->record, cap * sizeof *record);
        double *ready;

        if (!record)
            return 0;
        m->record = record;
        ready = realloc(m->ready, (size_t)cap * (m->stride + 1) * sizeof *ready);
        if (!ready)
            return 0;
        m->ready = ready;
        m->cap = cap;
    }
    return ++m->n_records;
}

/* A byte of record R, a number + 1, was written by somebody else. */
static inline void lose(struct deps_memory *m, uint32_t r)
{
    struct deps_record *old = &m->record[r - 1];

    if (--old->visible == 0) {
        old->addr = m->free;
        m->free = r;
    }
}

/* How many of SIZE bytes at ADDR lie in one line. */
static inline uint32_t in_line(uint64_t addr, uint32_t size)
{
    const uint32_t room = DEPS_LINE - addr % DEPS_LINE;

    return size < room ? size : room;
}

/* Are N neighbouring bytes of one record, or of none? */
static inline bool uniform(const uint32_t *by, uint32_t n)
{
    uint64_t first, differ = 0, w;

    if (n % 2 || by[0] != by[1]) {
        for (uint32_t k = 1; k < n; k++)
            if (by[k] != by[0])
                return false;
        return true;
    }
    memcpy(&first, by, sizeof first);
    for (uint32_t k = 2; k < n; k += 2) {
        memcpy(&w, by + k, sizeof w);
        differ |= w ^ first;
    }
    return differ == 0;
}

/* N neighbouring bytes are record R's. */
static void write_line(struct deps_memory *m, uint32_t *by, uint32_t n, uint32_t r)
{
    if (!(by[0] == 0 && uniform(by, n)))
        for (uint32_t k = 0; k < n; k++)
            if (by[k])
                lose(m, by[k]);
    for (uint32_t k = 0; k < n; k++)
        by[k] = r;
}

/*
 * The record of a store whose bytes are all of another that has no others: it is replaced where it
 * is. 0: there is none.
 */
static inline uint32_t replaced(const struct deps_memory *m, const struct deps_store *store)
{
    const struct deps_line *l;
    const uint32_t *by;

    if (!m->size || in_line(store->addr, store->size) != store->size)
        return 0;
    l = place(m, store->addr / DEPS_LINE);
    by = l->by + store->addr % DEPS_LINE;
    return l->used && by[0] && m->record[by[0] - 1].visible == store->size &&
                   uniform(by, store->size)
               ? by[0]
               : 0;
}

int deps_memory_store(struct deps_memory *m, const struct deps_store *store, const double *ready_of,
                      uint64_t most, uint64_t *forgotten)
{
    struct deps_line *l = NULL;
    uint32_t r;

    if (store->size == 0)
        return TROD_OK;
    r = replaced(m, store);
    if (!r) {
        if (m->n >= most) {
            deps_memory_clear(m);
            ++*forgotten;
        }
        r = new_record(m);
        if (!r)
            return TROD_ERR_NOMEM;
        for (uint32_t k = 0, n; k < store->size; k += n) {
            l = line_of(m, store->addr + k);
            if (!l)
                return TROD_ERR_NOMEM;
            n = in_line(store->addr + k, store->size - k);
            write_line(m, l->by + (store->addr + k) % DEPS_LINE, n, r);
        }
    }
    m->stored += store->size;
    m->record[r - 1] = (struct deps_record){
        .at = store->at,
        .ready = store->ready,
        .addr = store->addr,
        .size = store->size,
        .visible = store->size,
        .stored = m->stored,
        .stack = store->stack,
    };
    for (unsigned c = 0; c < m->stride; c++)
        m->ready[(size_t)(r - 1) * m->stride + c] = ready_of[c];
    return TROD_OK;
}

/* Record BY is one of those that a load needs. */
static void found(const struct deps_memory *m, uint32_t by, struct deps_found *f, double *latest)
{
    const struct deps_record *r = &m->record[by - 1];

    if (!f->youngest || r->at > m->record[f->youngest - 1].at)
        f->youngest = by;
    if (r->ready > f->ready) {
        f->ready = r->ready;
        f->from = r->at;
    }
    deps_later(latest, m->ready + (size_t)(by - 1) * m->stride, m->stride);
}

void deps_memory_load(const struct deps_memory *m, uint64_t addr, uint32_t size,
                      struct deps_found *f, double *latest)
{
    const struct deps_record *r;
    uint32_t last = 0, known = 0;
    bool several = false;

    f->youngest = 0;
    f->ready = f->from = 0;
    if (!m->size || size == 0)
        return;
    for (uint32_t k = 0, n; k < size; k += n) {
        const struct deps_line *l = place(m, (addr + k) / DEPS_LINE);
        const uint32_t *by = l->by + (addr + k) % DEPS_LINE;

        n = in_line(addr + k, size - k);
        if (!l->used || (by[0] == 0 && uniform(by, n)))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            known += by[i] != 0;
            if (by[i] == 0 || by[i] == last)
                continue;
            several = several || last;
            last = by[i];
            found(m, last, f, latest);
            r = &m->record[last - 1];
            if (k + i == 0 && r->visible == r->size && size <= r->size &&
                addr - r->addr <= r->size - size) {
                known = n = size; /* it has all of them */
                break;
            }
        }
    }
    if (!f->youngest)
        return;
    r = &m->record[f->youngest - 1];
    f->overlap = several                              ? DEPS_SEVERAL
                 : known < size                       ? DEPS_PARTIAL
                 : r->addr == addr && r->size == size ? DEPS_EXACT
                                                      : DEPS_INSIDE;
}
