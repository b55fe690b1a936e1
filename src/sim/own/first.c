/*
 * first.c - references to the first level of a plain hierarchy.
 *
 * Implements own/first.h. A hit puts its line in front of the others of its set. With AVX-512 a set
 * of up to 8 lines is one vector, and hits take no branch that depends on where the line is.
 */
#include "sim/own/first_int.h"

#include "core/wide.h"
#include "sim/own/mru.h"
#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

static bool is_simple(const struct trod_own_spec *s)
{
    return s->policy.kind == TROD_REPL_LRU && s->ways <= TROD_FIRST_WAYS &&
           !(s->sets & (s->sets - 1)) && s->line >= TROD_TOUCHED_LINE && !s->through &&
           !s->no_allocate && !s->victims && !s->sector && !s->prefetch;
}

bool trod_first_fits(const struct trod_own_config *c)
{
    const struct trod_own_spec *code = NULL, *data = NULL;

    if (c->cores != 1 || c->n_tlbs || c->physical || c->classify || c->flush || c->writebacks)
        return false;
    for (unsigned i = 0; i < c->n; i++) {
        const struct trod_own_spec *s = &c->spec[i];

        /* what is behind must not need the pc, nor reach into the caches before it */
        if (s->inclusion != TROD_OWN_NEITHER || s->prefetch == TROD_OWN_STRIDE ||
            s->policy.kind == TROD_REPL_OPT || s->home.of[0] == TROD_OWN_NOT_HERE)
            return false;
        if (!code && s->side != TROD_OWN_DATA)
            code = s;
        if (!data && s->side != TROD_OWN_CODE)
            data = s;
    }
    if (!code || !data || code == data || code->line != data->line)
        return false;
    for (unsigned i = 0; i < c->n; i++)
        if (c->spec[i].next[0] == code - c->spec || c->spec[i].next[0] == data - c->spec)
            return false;
    return is_simple(code) && is_simple(data);
}

/* May a cache behind the first level, whose lines have LINE bytes, have its form? */
static bool is_like(const struct trod_own_spec *s, uint32_t line)
{
    return is_simple(s) && s->line == line;
}

void trod_first_claim(struct trod_own_config *c)
{
    struct trod_own_spec *first[2] = {NULL, NULL};
    unsigned levels = 0;

    for (unsigned i = c->n; i-- > 0;) {
        first[0] = c->spec[i].side != TROD_OWN_DATA ? &c->spec[i] : first[0];
        first[1] = c->spec[i].side != TROD_OWN_CODE ? &c->spec[i] : first[1];
    }
    first[0]->elsewhere = first[1]->elsewhere = true;
    if (first[0]->next[0] != first[1]->next[0])
        return;
    for (int i = first[0]->next[0]; i >= 0 && levels < TROD_FIRST_LEVELS; i = c->spec[i].next[0]) {
        if (!is_like(&c->spec[i], first[0]->line))
            break;
        c->spec[i].elsewhere = true;
        levels++;
    }
}

void trod_first_alone(struct trod_own_config *c)
{
    bool code = false, data = false;
    unsigned n = 0;

    for (; n < c->n && !(code && data); n++) {
        code |= c->spec[n].side != TROD_OWN_DATA;
        data |= c->spec[n].side != TROD_OWN_CODE;
        c->spec[n].next[0] = -1;
    }
    c->n = n;
}

/* The lines of OF are C's. false: no memory. */
static bool take_over(struct trod_first_cache *c, struct trod_own_cache *of, bool narrow)
{
    size_t n;

    c->of = of;
    c->set_bits = (unsigned)__builtin_ctzll(of->spec->sets);
    c->ways = of->spec->ways;
    c->stride = c->ways <= TROD_FIRST_WIDE ? TROD_FIRST_WIDE : TROD_FIRST_WAYS;
    c->mask = of->spec->sets - 1;
    n = of->spec->sets * c->stride;
    if (n > SIZE_MAX / sizeof *c->tag)
        return false;
    if (narrow && (c->narrow = aligned_alloc(64, (n * sizeof *c->narrow + 63) / 64 * 64)))
        memset(c->narrow, 0, n * sizeof *c->narrow);
    else if (!narrow && (c->tag = aligned_alloc(64, n * sizeof *c->tag)))
        memset(c->tag, 0, n * sizeof *c->tag);
    return c->narrow || c->tag;
}

/* The caches behind, as far as they can have this form. */
static bool take_behind(struct trod_first *f)
{
    struct trod_own_cache *next = f->cache[0].of->next;

    if (next != f->cache[1].of->next)
        return true;
    for (; next && f->levels < TROD_FIRST_LEVELS; next = next->next) {
        if (!is_like(next->spec, UINT32_C(1) << f->in.line_bits))
            break;
        if (!take_over(&f->level[f->levels++], next, true))
            return false;
    }
    return true;
}

static void run_all(struct trod_touched *t);

struct trod_first *trod_first_new(struct trod_own_sim *s)
{
    struct trod_first *f = aligned_alloc(64, (sizeof *f + 63) / 64 * 64);
    bool made = true;

    if (!f)
        return NULL;
    *f = (struct trod_first){.sim = s};
    f->missed = f->own[0];
    f->left = f->own[1];
    for (unsigned k = 0; made && k < 2; k++) {
        struct trod_first_cache *c = &f->cache[k];

        f->in.line_bits = s->entry[0][k]->line_bits;
        made = take_over(c, s->entry[0][k], false) &&
               (c->front = calloc(c->mask + 1, sizeof *c->front)) &&
               (c->dirt = calloc(c->mask + 1, sizeof *c->dirt));
    }
    if (made && take_behind(f)) {
        f->in.run = run_all;
        f->in.user = f;
        f->in.sizes = 1;
        f->in.sets = (f->cache[0].mask & f->cache[1].mask) << f->in.line_bits;
        f->in.dirty = TROD_TOUCHED_DIRTY;
        trod_touched_begin(&f->in);
        return f;
    }
    trod_first_free(f);
    return NULL;
}

void trod_first_free(struct trod_first *f)
{
    if (!f)
        return;
    for (unsigned k = 0; k < 2; k++) {
        free(f->cache[k].tag);
        free(f->cache[k].front);
        free(f->cache[k].dirt);
    }
    for (unsigned k = 0; k < f->levels; k++) {
        free(f->level[k].tag);
        free(f->level[k].narrow);
    }
    trod_first_drop(f);
    free(f);
}

static inline struct trod_first_cache *cache_of(struct trod_first *f, uint64_t ref)
{
    return &f->cache[ref / TROD_TOUCHED_DATA & 1];
}

/* So many references must be to the front of sets: one in WORTH; else CALLS calls do nothing. */
enum { WORTH = 3, CALLS = 31 };

void trod_first_forget(struct trod_first *f)
{
    for (unsigned data = 0; data < 2; data++)
        memset(f->cache[data].front, 0, (f->cache[data].mask + 1) * sizeof *f->cache[data].front);
}

/* REF comes to the front of its set. Does that change anything? */
static inline bool to_front(struct trod_first *f, uint64_t ref)
{
    const struct trod_first_cache *const c = cache_of(f, ref);
    uint64_t *const at = &c->front[ref >> f->in.line_bits & c->mask];
    const uint64_t was = *at;
    const uint64_t now = (was ^ ref) & ~(uint64_t)TROD_TOUCHED_DIRTY ? ref : was | ref;

    *at = now;
    return now != was;
}

/*
 * Leave only references that change something: one to the line in front of its set hits and changes
 * nothing, unless it is the first to write. Which line is in front follows from the references
 * before. A part does not know the initial contents of its sets: it leaves out what certainly
 * changes nothing.
 */
static void skip_front(struct trod_first *f)
{
    size_t k = 0;

    for (unsigned data = 0; data < 2 && f->does != TROD_FIRST_RECORDS && !f->fronts; data++)
        for (size_t set = 0; set <= f->cache[data].mask; set++)
            f->cache[data].front[set] = f->cache[data].tag[set * f->cache[data].stride];
    for (size_t i = 0; i < f->in.n; i++) {
        const uint64_t ref = f->in.ref[i];

        f->in.ref[k] = ref;
        k += to_front(f, ref);
    }
    f->in.n = k;
}

/* The set of REF in C. */
static inline uint64_t *set_of(const struct trod_first *f, const struct trod_first_cache *c,
                               uint64_t ref)
{
    return c->tag + (ref >> f->in.line_bits & c->mask) * c->stride;
}

static size_t run_portable(struct trod_first *f, const uint64_t *refs, size_t n)
{
    uint64_t *const missed = f->missed, *const left = f->left;
    size_t misses = 0;

    for (size_t i = 0; i < n; i++) {
        const struct trod_first_cache *const c = cache_of(f, refs[i]);

        missed[misses] = refs[i];
        misses += !trod_mru_touch(set_of(f, c, refs[i]), c->ways, refs[i], &left[misses]);
    }
    return misses;
}

#if TROD_AVX2
TROD_WIDE static size_t run_wide(struct trod_first *f, const uint64_t *refs, size_t n)
{
    uint64_t *const missed = f->missed, *const left = f->left;
    size_t misses = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t ref = refs[i];
        const struct trod_first_cache *const c = cache_of(f, ref);
        uint64_t *const set = set_of(f, c, ref), *const old = &left[misses];

        missed[misses] = ref;
        misses += __builtin_expect(c->stride == TROD_FIRST_WIDE, 1)
                      ? !trod_mru_touch_wide(set, TROD_FIRST_WIDE, c->ways, ref, old)
                      : !trod_mru_touch_wide(set, TROD_FIRST_WAYS, c->ways, ref, old);
    }
    return misses;
}

TROD_WIDEST static inline size_t run_widest(struct trod_first *f, const uint64_t *refs, size_t n,
                                            size_t misses)
{
    uint64_t *const missed = f->missed, *const left = f->left;

    for (size_t i = 0; i < n; i++) {
        const struct trod_first_cache *const c = cache_of(f, refs[i]);
        uint64_t *const set = set_of(f, c, refs[i]), *const old = &left[misses];

        missed[misses] = refs[i];
        misses += __builtin_expect(c->stride == TROD_FIRST_WIDE, 1)
                      ? !trod_mru_touch_widest(set, TROD_FIRST_WIDE, c->ways, refs[i], old)
                      : !trod_mru_touch_widest(set, TROD_FIRST_WAYS, c->ways, refs[i], old);
    }
    return misses;
}

/* Where each of eight references finds what its set has in front. */
struct fronts {
    __m128i line_bits;
    __m512i base[2], mask[2], shift[2]; /* code, data: lines by set, 2^shift bytes each */
};

TROD_WIDEST static inline struct fronts fronts_of(const struct trod_first *f, bool tags)
{
    struct fronts v = {.line_bits = _mm_cvtsi32_si128((int)f->in.line_bits)};

    for (unsigned k = 0; k < 2; k++) {
        const struct trod_first_cache *const c = &f->cache[k];
        const int64_t log = tags ? c->stride > TROD_FIRST_WIDE ? 7 : 6 : 3;

        v.base[k] = _mm512_set1_epi64((int64_t)(uintptr_t)(tags ? c->tag : c->front));
        v.mask[k] = _mm512_set1_epi64((int64_t)c->mask);
        v.shift[k] = _mm512_set1_epi64(log);
    }
    return v;
}

/*
 * Which of the references SOME of REF may change something? The others hit what is in front of
 * their sets, or will be: none that may change it is before them in REF.
 */
TROD_WIDEST static inline __mmask8 changing(const struct fronts *v, __m512i ref, __mmask8 some)
{
    const __mmask8 data = _mm512_test_epi64_mask(ref, _mm512_set1_epi64(TROD_TOUCHED_DATA));
    const __m512i set = _mm512_and_si512(_mm512_srl_epi64(ref, v->line_bits),
                                         _mm512_mask_mov_epi64(v->mask[0], data, v->mask[1]));
    const __m512i off =
        _mm512_sllv_epi64(set, _mm512_mask_mov_epi64(v->shift[0], data, v->shift[1]));
    const __m512i at = _mm512_add_epi64(off, _mm512_mask_mov_epi64(v->base[0], data, v->base[1]));
    const __m512i front = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), some, at, NULL, 1);
    const __m512i matter = _mm512_or_si512(ref, _mm512_set1_epi64(~(int64_t)TROD_TOUCHED_DIRTY));
    const __mmask8 change = _mm512_mask_test_epi64_mask(some, _mm512_xor_si512(front, ref), matter);

    if (!change)
        return 0;
    return change |
           _mm512_mask_test_epi64_mask(some, _mm512_conflict_epi64(at), _mm512_set1_epi64(change));
}

/* The eight references, or fewer, of N from I on. */
TROD_WIDEST static inline __mmask8 eight(size_t n, size_t i)
{
    return (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xff);
}

/* Copy to SOME those of the eight references from I on that may change a set; returns how many. */
TROD_WIDEST static inline size_t changing_of(const struct fronts *v, const uint64_t *ref, size_t n,
                                             size_t i, uint64_t some[8])
{
    const __m512i refs = _mm512_maskz_loadu_epi64(eight(n, i), ref + i);
    const __mmask8 change = changing(v, refs, eight(n, i));

    if (change)
        _mm512_storeu_si512(some, _mm512_maskz_compress_epi64(change, refs));
    return (size_t)__builtin_popcount(change);
}

/* As skip_front, and what is left goes to the caches. */
TROD_WIDEST static size_t run_changing(struct trod_first *f)
{
    const struct fronts v = fronts_of(f, true);
    const size_t n = f->in.n;
    uint64_t some[8];
    size_t misses = 0, kept = 0;

    for (size_t i = 0; i < n; i += 8) {
        const size_t k = changing_of(&v, f->in.ref, n, i, some);

        misses = run_widest(f, some, k, misses);
        kept += k;
    }
    f->in.n = kept;
    return misses;
}

/* As skip_front, of a part. */
TROD_WIDEST static void skip_changing(struct trod_first *f)
{
    const struct fronts v = fronts_of(f, false);
    const size_t n = f->in.n;
    uint64_t some[8];
    size_t kept = 0;

    for (size_t i = 0; i < n; i += 8) {
        const size_t k = changing_of(&v, f->in.ref, n, i, some);

        for (size_t at = 0; at < k; at++) {
            f->in.ref[kept] = some[at];
            kept += to_front(f, some[at]);
        }
    }
    f->in.n = kept;
}
#endif

size_t trod_first_touch(struct trod_first *f, const uint64_t *refs, size_t n)
{
#if TROD_AVX2
    if (trod_widest_unless(f->in.without))
        return run_widest(f, refs, n, 0);
    if (trod_wide_unless(f->in.without))
        return run_wide(f, refs, n);
#endif
    return run_portable(f, refs, n);
}

#if TROD_AVX2
/* As trod_first_mine. */
TROD_WIDEST static size_t mine_widest(const struct trod_first *f, const uint64_t *refs, size_t n,
                                      uint64_t *to)
{
    const __m128i shift = _mm_cvtsi32_si128((int)f->sim->class_shift);
    const __m512i mask = _mm512_set1_epi64((int64_t)f->sim->class_mask);
    const __m512i mine = _mm512_set1_epi64((int64_t)f->sim->mine), one = _mm512_set1_epi64(1);
    size_t k = 0;

    for (size_t i = 0; i < n; i += 8) {
        const __m512i ref = _mm512_maskz_loadu_epi64(eight(n, i), refs + i);
        const __m512i class = _mm512_and_si512(_mm512_srl_epi64(ref, shift), mask);
        const __mmask8 keep =
            _mm512_mask_test_epi64_mask(eight(n, i), _mm512_srlv_epi64(mine, class), one);

        _mm512_storeu_si512(to + k, _mm512_maskz_compress_epi64(keep, ref));
        k += (unsigned)__builtin_popcount(keep);
    }
    return k;
}
#endif

size_t trod_first_mine(const struct trod_first *f, const uint64_t *refs, size_t n, uint64_t *to)
{
    const unsigned shift = f->sim->class_shift;
    const uint64_t mask = f->sim->class_mask, mine = f->sim->mine;
    size_t k = 0;

#if TROD_AVX2
    if (trod_widest_unless(f->in.without))
        return mine_widest(f, refs, n, to);
#endif
    for (size_t i = 0; i < n; i++) {
        const uint64_t ref = refs[i];

        to[k] = ref;
        k += mine >> (ref >> shift & mask) & 1;
    }
    return k;
}

/* The first N misses go to the caches behind, or are kept until it is known what these have. */
static void follow(struct trod_first *f, size_t n)
{
    if (f->does == TROD_FIRST_KEEPS)
        trod_first_keep(f, n);
    else
        trod_first_behind(f, n);
}

/* The references go to the caches, or are kept for those of another one. */
static void pass_on(struct trod_first *f)
{
    if (f->does != TROD_FIRST_RECORDS)
        follow(f, trod_first_touch(f, f->in.ref, f->in.n));
    else if (!trod_first_record(f))
        f->sim->failed = true;
}

/* The same, without those to the front of their sets. */
static void pass_on_changing(struct trod_first *f)
{
#if TROD_AVX2
    if (trod_widest_unless(f->in.without) && f->does != TROD_FIRST_RECORDS) {
        follow(f, run_changing(f));
        return;
    }
    if (trod_widest_unless(f->in.without))
        skip_changing(f);
    else
#endif
        skip_front(f);
    pass_on(f);
}

/* Pass on all but hits to fronts of sets; if these are few, the next CALLS calls do not search. */
static void pass_on_some(struct trod_first *f)
{
    const size_t n = f->in.n;

    if (f->unthinned > 0) {
        f->unthinned--;
        pass_on(f);
        return;
    }
    pass_on_changing(f);
    f->unthinned = f->in.n > n - n / WORTH ? CALLS : 0;
    f->fronts = !f->unthinned;
    if (f->does == TROD_FIRST_RECORDS && f->unthinned)
        trod_first_forget(f);
}

/* Pass the references of T, which belongs to a hierarchy, to its caches. */
static void run_all(struct trod_touched *t)
{
    struct trod_first *const f = t->user;

    if (f->sim->shards > 1)
        t->n = trod_first_mine(f, t->ref, t->n, t->ref);
    /* to look at the front of eight sets costs little more than to do it again */
    trod_touched_thin(t, trod_widest_unless(t->without) && !f->unthinned ? 2 : 8);
    pass_on_some(f);
    t->n = 0;
}

/*
 * Tell the simulation how many rows and references there were. All parts see all of them; the first
 * one counts the references.
 */
static void count_rows(struct trod_first *f)
{
    static const enum trod_own_kind kinds[] = {TROD_OWN_FETCH, TROD_OWN_READ, TROD_OWN_WRITE};
    struct trod_touched *const t = &f->in;

    f->sim->instructions += t->instructions;
    for (unsigned k = 0; k < 3 && (f->sim->shards <= 1 || !f->sim->shard); k++) {
        const uint64_t n = t->refs[k] + t->more[0][k];

        f->cache[k != TROD_TOUCHED_CODE].of->n.refs[kinds[k]] += n;
        f->sim->line_refs += n;
    }
    f->sim->refs += f->sim->shards <= 1 || !f->sim->shard ? t->rows : 0;
    t->instructions = t->rows = 0;
    memset(t->refs, 0, sizeof t->refs);
    memset(t->more, 0, sizeof t->more);
}

int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    trod_touched_rows(&f->in, b, from, to);
    run_all(&f->in);
    count_rows(f);
    return trod_own_sim_check(f->sim);
}
