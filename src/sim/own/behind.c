/*
 * behind.c - the caches behind the first level of a plain hierarchy.
 *
 * Implements own/first.h. LRU caches of the same kind and line length as the first level are
 * simulated level by level: a level handles all requests of the level before it, then the next
 * level handles its misses. Each level sees the same requests in the same order as if each request
 * were followed to the end. The caches behind these are simulated one request at a time
 * (own/cache.h).
 */
#include "sim/own/first_int.h"
#include "sim/own/mru.h"

#include <stdlib.h>

enum { AHEAD = 8, CHUNK = 256 };

/* Which instructions a form has. */
enum form { PORTABLE, WIDE, WIDEST };

/*
 * Requests of a level to the next one: N pairs of a line that missed and the line that it replaced.
 */
struct asked {
    /* the line that missed, with the bits of the reference; 0: none, only a write-back */
    uint64_t *line;
    uint64_t *left; /* the replaced line, if it is dirty and the next level must take it; 0: none */
    size_t n;
    uint64_t bits;              /* all bits set in any line */
    uint64_t lines[2], writes;  /* numbers of lines of code, of data; writes among those of data */
    uint64_t evicted[2], dirty; /* numbers of lines that they replaced; dirty ones */
};

/* Compute the sums of A from its lines. */
TROD_HOT void sum(struct asked *a)
{
    uint64_t all = 0, data = 0, writes = 0, evicted = 0, evicted_data = 0, dirty = 0, bits = 0;

    for (size_t i = 0; i < a->n; i++) {
        const uint64_t some = a->line[i] & TROD_TOUCHED_IS, of_data = a->line[i] >> 2 & 1;
        const uint64_t out = a->left[i] & some;

        all += some;
        data += of_data;
        writes += a->line[i] >> 1 & 1;
        evicted += out;
        evicted_data += out & of_data;
        dirty += a->left[i] >> 1 & some;
        bits |= a->line[i] | a->left[i];
    }
    a->bits = bits;
    a->lines[0] = all - data;
    a->lines[1] = data;
    a->writes = writes;
    a->evicted[0] = evicted - evicted_data;
    a->evicted[1] = evicted_data;
    a->dirty = dirty;
}

_Static_assert(TROD_TOUCHED_IS == 1 && TROD_TOUCHED_DIRTY == 2 && TROD_TOUCHED_DATA == 4, "bits");

/* Simulate the requests ASKED in C: lines wanted, and dirty lines written back. TO gets the
 * requests of C to the next level. */
TROD_HOT void level(const struct trod_first *f, const struct trod_first_cache *c,
                    const uint32_t stride, const struct asked *asked, struct asked *to,
                    const enum form form)
{
    const unsigned line_bits = f->in.line_bits, shift = stride > TROD_FIRST_WIDE ? 4 : 3;
    const uint32_t ways = c->ways;
    const uint64_t mask = c->mask, dirty = TROD_TOUCHED_DIRTY, data = TROD_TOUCHED_DATA;
    uint64_t *const tag = c->tag;
    size_t k = 0;

    for (size_t i = 0; i < asked->n; i++) {
        const uint64_t ref = asked->line[i], left = asked->left[i];
        const uint64_t soon = asked->line[i + AHEAD < asked->n ? i + AHEAD : i];
        uint64_t *const ahead = tag + ((soon >> line_bits & mask) << shift);

        __builtin_prefetch(ahead, 1);
        if (stride > TROD_FIRST_WIDE)
            __builtin_prefetch(ahead + TROD_FIRST_WIDE, 1);
        if (ref) {
            uint64_t *const set = tag + ((ref >> line_bits & mask) << shift);

            to->line[k] = ref & ~dirty;
#if TROD_AVX2
            if (form == WIDEST)
                k += !trod_mru_touch_widest(set, stride, ways, ref & ~(dirty | data), &to->left[k]);
            else if (form == WIDE)
                k += !trod_mru_touch_wide(set, stride, ways, ref & ~(dirty | data), &to->left[k]);
            else
#endif
                k += !trod_mru_touch(set, ways, ref & ~(dirty | data), &to->left[k]);
        }
        if (left & dirty) {
            uint64_t *const set = tag + ((left >> line_bits & mask) << shift);

            to->line[k] = 0;
            to->left[k] = left;
            k += !trod_mru_write(set, ways, left & ~(dirty | data));
        }
    }
    (void)form;
    to->n = k;
    sum(to);
}

#if TROD_AVX2
/* The same of a cache whose sets are narrow, of lines that fit. */
TROD_HOT void narrow_level(const struct trod_first *f, const struct trod_first_cache *c,
                           const uint32_t stride, const struct asked *asked, struct asked *to,
                           const enum form form)
{
    const unsigned line_bits = f->in.line_bits;
    const uint32_t ways = c->ways;
    const uint64_t mask = c->mask, dirty = TROD_TOUCHED_DIRTY;
    uint32_t *const tag = c->narrow;
    size_t k = 0;

    for (size_t i = 0; i < asked->n; i++) {
        const uint64_t ref = asked->line[i], left = asked->left[i];
        const uint64_t soon = asked->line[i + AHEAD < asked->n ? i + AHEAD : i];

        __builtin_prefetch(tag + (soon >> line_bits & mask) * stride, 1);
        if (ref) {
            const uint64_t set = ref >> line_bits & mask;
            const uint32_t line = trod_mru_narrow(c, line_bits, ref, TROD_TOUCHED_IS);
            uint32_t *const lines = tag + set * stride, old;
            bool is;

            if (form == WIDEST && stride == TROD_FIRST_WAYS)
                is = trod_mru_narrow_widest(lines, ways, line, &old);
            else
                is = trod_mru_narrow_wide(lines, stride, ways, line, &old);
            to->line[k] = ref & ~dirty;
            to->left[k] = trod_mru_broad(c, line_bits, old, set);
            k += !is;
        }
        if (left & dirty) {
            const uint64_t set = left >> line_bits & mask;

            to->line[k] = 0;
            to->left[k] = left;
            k += !trod_mru_narrow_write(tag + set * stride, stride,
                                        trod_mru_narrow(c, line_bits, left, TROD_TOUCHED_IS));
        }
    }
    to->n = k;
    sum(to);
}

TROD_HOT void any_level(const struct trod_first *f, const struct trod_first_cache *c,
                        const struct asked *asked, struct asked *to, const enum form form)
{
    if (c->narrow && c->stride > TROD_FIRST_WIDE)
        narrow_level(f, c, TROD_FIRST_WAYS, asked, to, form);
    else if (c->narrow)
        narrow_level(f, c, TROD_FIRST_WIDE, asked, to, form);
    else if (c->stride > TROD_FIRST_WIDE)
        level(f, c, TROD_FIRST_WAYS, asked, to, form);
    else
        level(f, c, TROD_FIRST_WIDE, asked, to, form);
}

TROD_WIDE static void level_wide(const struct trod_first *f, const struct trod_first_cache *c,
                                 const struct asked *asked, struct asked *to)
{
    any_level(f, c, asked, to, WIDE);
}

TROD_WIDEST static void sum_widest(struct asked *a)
{
    sum(a);
}

TROD_WIDEST static void level_widest(const struct trod_first *f, const struct trod_first_cache *c,
                                     const struct asked *asked, struct asked *to)
{
    any_level(f, c, asked, to, WIDEST);
}
#endif

/* Count TO, the requests of C to the next level. */
static void count(const struct trod_first *f, const struct trod_first_cache *c,
                  const struct asked *to)
{
    const uint64_t line = UINT64_C(1) << f->in.line_bits, evicted = to->evicted[0] + to->evicted[1];
    const uint64_t missed = to->lines[0] + to->lines[1];
    struct trod_own_counts *const n = &c->of->n;

    n->misses[TROD_OWN_FETCH] += to->lines[0];
    n->misses[TROD_OWN_READ] += to->lines[1];
    n->bytes_in += missed * line;
    n->evictions += evicted;
    n->writebacks += to->dirty;
    n->bytes_out += (to->dirty + to->n - missed) * line;
}

/* Count A, the requests of the first level. */
static void count_first(struct trod_first *f, const struct asked *a)
{
    const uint64_t line = UINT64_C(1) << f->in.line_bits;
    struct trod_own_counts *const code = &f->cache[0].of->n, *const data = &f->cache[1].of->n;

    code->misses[TROD_OWN_FETCH] += a->lines[0];
    code->bytes_in += a->lines[0] * line;
    code->evictions += a->evicted[0];
    data->misses[TROD_OWN_READ] += a->lines[1] - a->writes;
    data->misses[TROD_OWN_WRITE] += a->writes;
    data->bytes_in += a->lines[1] * line;
    data->evictions += a->evicted[1];
    data->writebacks += a->dirty;
    data->bytes_out += a->dirty * line;
}

/* Prefetch the state of C that a reference to ADDR will need. */
static inline void fetch_ahead(const struct trod_own_cache *c, uint64_t addr)
{
    const struct trod_store *s = &c->store;
    const uint64_t set = trod_store_set(s, addr >> c->line_bits);

    for (uint32_t w = 0; w < s->ways && w < TROD_STORE_SCAN; w += 8)
        __builtin_prefetch(&s->line[set * s->ways + w], 1);
    for (uint32_t w = 0; s->repl.word && w < s->repl.stride && w < TROD_STORE_SCAN; w += 16)
        __builtin_prefetch(&s->repl.word[set * s->repl.stride + w], 1);
}

/*
 * The cache, simulated one request at a time, to which the first level, or the last of LEVELS,
 * sends REF.
 */
static inline struct trod_own_cache *other(const struct trod_first *f, uint64_t ref)
{
    return f->levels ? f->level[f->levels - 1].of->next
                     : f->cache[ref / TROD_TOUCHED_DATA & 1].of->next;
}

/* Send the requests A to these caches, one at a time. */
static void others(const struct trod_first *f, const struct asked *a)
{
    const uint32_t line = UINT32_C(1) << f->in.line_bits;
    const uint64_t bits = TROD_TOUCHED_BITS;

    if (f->levels && !other(f, 0))
        return;
    for (size_t i = 0; i < a->n; i++) {
        const uint64_t ref = a->line[i], soon = a->line[i + AHEAD < a->n ? i + AHEAD : i];
        struct trod_own_cache *const next = other(f, ref);

        if (other(f, soon))
            fetch_ahead(other(f, soon), soon);
        if (next && ref)
            trod_own_cache_ref(next, ref & TROD_TOUCHED_DATA ? TROD_OWN_READ : TROD_OWN_FETCH,
                               ref & ~bits, line, 0);
        if (next && a->left[i] & TROD_TOUCHED_DIRTY)
            trod_own_cache_write_back(next, a->left[i] & ~bits, line);
    }
}

/* Convert the sets of C to elements of 64 bits. False: no memory. */
static bool widen(const struct trod_first *f, struct trod_first_cache *c)
{
    const size_t n = (c->mask + 1) * c->stride;

    if (!(c->tag = aligned_alloc(64, n * sizeof *c->tag)))
        return false;
    for (size_t i = 0; i < n; i++)
        c->tag[i] =
            c->narrow[i] ? trod_mru_broad(c, f->in.line_bits, c->narrow[i], i / c->stride) : 0;
    free(c->narrow);
    c->narrow = NULL;
    return true;
}

/* Can C, if its sets are narrow, hold lines with BITS, and does the processor support that? */
static bool fits(const struct trod_first *f, const struct trod_first_cache *c, uint64_t bits)
{
    const unsigned most = f->in.line_bits + c->set_bits + TROD_NARROW_TAG;

    return !c->narrow || (trod_wide_unless(f->in.without) && (most > 63 || bits >> most == 0));
}

/* Simulate the requests A in C, and its misses in the levels behind it. */
static void pass(struct trod_first *f, struct trod_first_cache *c, const struct asked *a)
{
    uint64_t line[2 * CHUNK + 1], left[2 * CHUNK + 1];
    struct asked some, to = {.line = line, .left = left};

    if (c == f->level + f->levels) {
        others(f, a);
        return;
    }
    if (!fits(f, c, a->bits) && !widen(f, c)) {
        f->sim->failed = true;
        return;
    }
    for (size_t at = 0; at < a->n; at += some.n) {
        some = (struct asked){.line = a->line + at, .left = a->left + at};
        some.n = a->n - at < CHUNK ? a->n - at : CHUNK;
#if TROD_AVX2
        if (trod_widest_unless(f->in.without))
            level_widest(f, c, &some, &to);
        else if (trod_wide_unless(f->in.without))
            level_wide(f, c, &some, &to);
        else
#endif
            level(f, c, c->stride, &some, &to, PORTABLE);
        count(f, c, &to);
        if (to.n)
            pass(f, c + 1, &to);
    }
    c->of->n.refs[TROD_OWN_FETCH] += a->lines[0];
    c->of->n.refs[TROD_OWN_READ] += a->lines[1];
}

void trod_first_behind(struct trod_first *f, size_t n)
{
    struct asked a = {.line = f->missed, .left = f->left, .n = n};

#if TROD_AVX2
    if (trod_widest_unless(f->in.without))
        sum_widest(&a);
    else
#endif
        sum(&a);
    count_first(f, &a);
    pass(f, f->level, &a);
}
