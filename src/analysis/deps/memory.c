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

/* Where line NUMBER is, or belongs: its key says which. There are unused places. */
static inline size_t place(const struct deps_memory *m, uint64_t number)
{
    size_t i = deps_home(m, number);

    while (m->key[i] && m->key[i] != number + 1)
        i = (i + 1) & (m->size - 1);
    return i;
}

static int grow(struct deps_memory *m)
{
    struct deps_memory to = *m;

    to.size = m->size ? 2 * m->size : 64;
    to.shift = 64;
    for (size_t n = to.size; n > 1; n /= 2)
        to.shift--;
    if (!m->front)
        m->front = to.front = calloc(DEPS_FRONT, sizeof *to.front);
    to.key = calloc(to.size, sizeof *to.key);
    to.line = calloc(to.size, sizeof *to.line);
    if (!to.front || !to.key || !to.line) {
        free(to.key);
        free(to.line);
        return TROD_ERR_NOMEM;
    }
    for (size_t i = 0; i < m->size; i++)
        if (m->key[i]) {
            const size_t k = place(&to, m->key[i] - 1);

            to.key[k] = m->key[i];
            to.line[k] = m->line[i];
        }
    free(m->key);
    free(m->line);
    *m = to;
    return TROD_OK;
}

void deps_memory_clear(struct deps_memory *m)
{
    if (m->n) {
        memset(m->key, 0, m->size * sizeof *m->key);
        memset(m->front, 0, DEPS_FRONT * sizeof *m->front);
    }
    m->n = 0;
    m->n_records = 0;
    m->free = 0;
}

void deps_memory_free(struct deps_memory *m)
{
    free(m->key);
    free(m->line);
    free(m->front);
    free(m->record);
    free(m->ready);
    memset(m, 0, sizeof *m);
}

/* Line NUMBER, which was not found at I, is there: where. SIZE_MAX: no memory. */
static size_t add_line(struct deps_memory *m, uint64_t number, size_t i)
{
    if (2 * m->n >= m->size) {
        if (grow(m) < 0)
            return SIZE_MAX;
        i = place(m, number);
    }
    memset(&m->line[i], 0, sizeof m->line[i]);
    m->key[i] = number + 1;
    m->n++;
    return i;
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
        const uint32_t cap = m->cap ? 2 * m->cap : 256;
        struct deps_record *record = realloc(m->record, cap * sizeof *record);
        double *ready;

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

/* A byte of record R was written by somebody else. */
static inline void lose(struct deps_memory *m, uint32_t r)
{
    struct deps_record *old = &m->record[r];

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
 * The record of a store whose bytes, in line I, are all of another that has no others: it is
 * replaced where it is. 0: there is none.
 */
static inline uint32_t replaced(const struct deps_memory *m, const struct deps_store *store,
                                size_t i)
{
    const uint32_t *by = m->line[i].by + store->addr % DEPS_LINE;

    return m->key[i] && by[0] && in_line(store->addr, store->size) == store->size &&
                   m->record[by[0]].visible == store->size && uniform(by, store->size)
               ? by[0]
               : 0;
}

/* The bytes of STORE, whose first are in line I, are those of a new record. 0: no memory. */
static uint32_t take(struct deps_memory *m, const struct deps_store *store, size_t i)
{
    const uint32_t r = new_record(m);

    for (uint32_t k = 0, n; r && k < store->size; k += n) {
        const uint64_t addr = store->addr + k;

        if (k)
            i = place(m, addr / DEPS_LINE);
        if (!m->key[i] && (i = add_line(m, addr / DEPS_LINE, i)) == SIZE_MAX)
            return 0;
        n = in_line(addr, store->size - k);
        write_line(m, m->line[i].by + addr % DEPS_LINE, n, r);
    }
    return r;
}

int deps_memory_store(struct deps_memory *m, const struct deps_store *store, const double *ready_of,
                      uint64_t most, uint64_t *forgotten)
{
    uint32_t r;
    size_t i;

    if (store->size == 0)
        return TROD_OK;
    if (!m->size && grow(m) < 0)
        return TROD_ERR_NOMEM;
    i = place(m, store->addr / DEPS_LINE);
    r = replaced(m, store, i);
    if (!r) {
        if (m->n >= most) {
            deps_memory_clear(m);
            ++*forgotten;
            i = place(m, store->addr / DEPS_LINE);
        }
        r = take(m, store, i);
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

/* Record BY is one of those that a load needs. */
static void found(const struct deps_memory *m, uint32_t by, struct deps_found *f, double *latest)
{
    const struct deps_record *r = &m->record[by];

    if (!f->youngest || r->at > m->record[f->youngest].at)
        f->youngest = by;
    if (r->ready > f->ready) {
        f->ready = r->ready;
        f->from = r->at;
    }
    deps_later(latest, m->ready + (size_t)by * m->stride, m->stride);
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
        const size_t at = place(m, (addr + k) / DEPS_LINE);
        const uint32_t *by = m->line[at].by + (addr + k) % DEPS_LINE;

        n = in_line(addr + k, size - k);
        if (!m->key[at] || (by[0] == 0 && uniform(by, n)))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            known += by[i] != 0;
            if (by[i] == 0 || by[i] == last)
                continue;
            several = several || last;
            last = by[i];
            found(m, last, f, latest);
            r = &m->record[last];
            if (k + i == 0 && deps_has_all(r, addr, size)) {
                known = n = size; /* it has all of them */
                break;
            }
        }
    }
    if (!f->youngest)
        return;
    r = &m->record[f->youngest];
    f->overlap = several                              ? DEPS_SEVERAL
                 : known < size                       ? DEPS_PARTIAL
                 : r->addr == addr && r->size == size ? DEPS_EXACT
                                                      : DEPS_INSIDE;
    if (deps_has_all(r, addr, size))
        *deps_front(m, addr) = f->youngest;
}
