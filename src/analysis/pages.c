/*
 * pages.c - sets of bytes of an address space. See pages.h.
 */
#include "analysis/pages.h"

#include "core/wide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE_FIRST = 16,
    MISSES = 1024, /* that a set has before it gets a cache: there may be thousands of small sets */
    CACHES = 64,   /* sets that have one at the most */
    CHUNK = 256    /* pages whose words are allocated together at the most */
};

struct trod_page_chunk {
    struct trod_page_chunk *next;
    size_t n, used; /* 64-bit words */
    uint64_t word[];
};

/* Never written: what sets without a cache look into. */
#define NONE8                                                                                      \
    {TROD_NO_PAGE, NULL}, {TROD_NO_PAGE, NULL}, {TROD_NO_PAGE, NULL}, {TROD_NO_PAGE, NULL},        \
        {TROD_NO_PAGE, NULL}, {TROD_NO_PAGE, NULL}, {TROD_NO_PAGE, NULL},                          \
    {                                                                                              \
        TROD_NO_PAGE, NULL                                                                         \
    }
#define NONE64   NONE8, NONE8, NONE8, NONE8, NONE8, NONE8, NONE8, NONE8
#define NONE512  NONE64, NONE64, NONE64, NONE64, NONE64, NONE64, NONE64, NONE64
#define NONE4096 NONE512, NONE512, NONE512, NONE512, NONE512, NONE512, NONE512, NONE512

static struct trod_page no_cache[TROD_PAGE_CACHE] = {NONE4096, NONE4096};
static atomic_uint caches;

static uint64_t hash(uint64_t number)
{
    uint64_t h = number * UINT64_C(0x9e3779b97f4a7c15);

    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static bool sampled(const struct trod_pages *s, uint64_t number)
{
    const uint64_t group = number >> TROD_PAGE_GROUP;

    return s->level == 0 || ((hash(group) >> 12) & ((UINT64_C(1) << s->level) - 1)) == 0;
}

static void forget_cache(struct trod_pages *s)
{
    for (unsigned i = 0; s->cache != no_cache && i < TROD_PAGE_CACHE; i++)
        s->cache[i].number = TROD_NO_PAGE;
}

/*
 * A cache of its own for a set that is used often enough. Where there are many such sets, and
 * without memory, it goes on without.
 */
static void make_cache(struct trod_pages *s)
{
    struct trod_page *own = NULL;

    s->misses = 0;
    if (atomic_fetch_add_explicit(&caches, 1, memory_order_relaxed) < CACHES)
        own = malloc(TROD_PAGE_CACHE * sizeof *own);
    if (!own) {
        atomic_fetch_sub_explicit(&caches, 1, memory_order_relaxed);
        return;
    }
    s->cache = own;
    forget_cache(s);
}

static int new_table(struct trod_pages *s, uint32_t size)
{
    s->at = malloc(size * sizeof *s->at);
    if (!s->at)
        return TROD_ERR_NOMEM;
    s->size = size;
    for (uint32_t i = 0; i < size; i++)
        s->at[i] = (struct trod_page){TROD_NO_PAGE, NULL};
    return TROD_OK;
}

struct trod_pages *trod_pages_new(unsigned planes, uint32_t cap)
{
    struct trod_pages *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->planes = planes;
    s->cap = cap;
    s->cache = no_cache;
    if (new_table(s, SIZE_FIRST) < 0) {
        free(s);
        return NULL;
    }
    return s;
}

void trod_pages_free(struct trod_pages *s)
{
    struct trod_page_chunk *next;

    if (!s)
        return;
    for (struct trod_page_chunk *c = s->chunk; c; c = next) {
        next = c->next;
        free(c);
    }
    for (unsigned i = 0; i < s->planes; i++)
        trod_page_runs_free(s->run[i]);
    free(s->at);
    free(s->full);
    if (s->cache != no_cache) {
        free(s->cache);
        atomic_fetch_sub_explicit(&caches, 1, memory_order_relaxed);
    }
    free(s);
}

static size_t words_of_page(const struct trod_pages *s)
{
    return s->planes * (size_t)TROD_PAGE_WORDS;
}

/* A chunk for an eighth more pages than there are. */
static bool add_chunk(struct trod_pages *s)
{
    const uint32_t more = s->n / 8 + 1;
    const size_t n = (more < CHUNK ? more : CHUNK) * words_of_page(s);
    struct trod_page_chunk *c = calloc(1, sizeof *c + n * sizeof *c->word);

    if (!c)
        return false;
    c->next = s->chunk;
    c->n = n;
    s->chunk = c;
    return true;
}

/* Words for a page, all zero. NULL: no memory. */
static uint64_t *take_words(struct trod_pages *s)
{
    const size_t n = words_of_page(s);
    uint64_t *w = s->spare;

    if (w) {
        memcpy(&s->spare, w, sizeof s->spare);
        return memset(w, 0, n * sizeof *w);
    }
    if ((!s->chunk || s->chunk->used == s->chunk->n) && !add_chunk(s))
        return NULL;
    w = s->chunk->word + s->chunk->used;
    s->chunk->used += n;
    return w;
}

static void give_words(struct trod_pages *s, uint64_t *w)
{
    if (w == s->full)
        return;
    memcpy(w, &s->spare, sizeof s->spare);
    s->spare = w;
}

/* s->full, made when it is first needed. NULL: no memory. */
static uint64_t *full_words(struct trod_pages *s)
{
    const size_t n = words_of_page(s) * sizeof *s->full;

    if (!s->full && (s->full = malloc(n)) != NULL)
        memset(s->full, 0xff, n);
    return s->full;
}

/* The place of page NUMBER, or the empty one where it belongs. */
static struct trod_page *place(const struct trod_pages *s, uint64_t number)
{
    for (uint64_t i = hash(number);; i++) {
        struct trod_page *p = &s->at[i & (s->size - 1)];

        if (p->number == number || p->number == TROD_NO_PAGE)
            return p;
    }
}

/* Release page P. */
static void drop(struct trod_pages *s, const struct trod_page *p)
{
    give_words(s, p->word);
    s->n--;
}

/* A table of SIZE places with the pages that are in the sample. */
static int rebuild(struct trod_pages *s, uint32_t size)
{
    struct trod_page *old = s->at;
    uint32_t n = s->size;

    if (new_table(s, size) < 0) {
        s->at = old;
        return TROD_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].number == TROD_NO_PAGE)
            continue;
        if (sampled(s, old[i].number))
            *place(s, old[i].number) = old[i];
        else
            drop(s, &old[i]);
    }
    free(old);
    return TROD_OK;
}

/* Sample ever fewer pages until no more than cap are left. */
static int thin_out(struct trod_pages *s)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && s->cap && s->n > s->cap && s->level < TROD_PAGE_LEVEL_MAX) {
        s->level++;
        rc = rebuild(s, s->size);
        forget_cache(s);
    }
    return rc;
}

/* Add page NUMBER, which is not in S but in its sample, and return its words, as words() does. */
static uint64_t *insert(struct trod_pages *s, uint64_t number)
{
    struct trod_page p = {number, NULL};

    if (s->n * 4u >= s->size * 3u && (s->size >= UINT32_MAX / 2 || rebuild(s, s->size * 2) < 0))
        return NULL;
    if (!(p.word = take_words(s)))
        return NULL;
    *place(s, number) = p;
    s->n++;
    if (!s->cap || s->n <= s->cap)
        return p.word;
    if (thin_out(s) < 0)
        return NULL;
    return sampled(s, number) ? p.word : full_words(s);
}

/* The words of page NUMBER, added if new; NULL when memory is out. */
static uint64_t *words(struct trod_pages *s, uint64_t number)
{
    const struct trod_page *p;

    if (!sampled(s, number))
        return full_words(s);
    p = place(s, number);
    return p->number == number ? p->word : insert(s, number);
}

const uint64_t *trod_pages_add(struct trod_pages *s, uint64_t number)
{
    uint64_t *w = words(s, number);

    if (s->cache == no_cache && ++s->misses == MISSES)
        make_cache(s);
    if (w && s->cache != no_cache)
        s->cache[number & (TROD_PAGE_CACHE - 1)] = (struct trod_page){number, w};
    return w;
}

/*
 * A word of the page has become full: if all are, the page needs no memory of its own. True then:
 * its words were released.
 */
static bool collapse(struct trod_pages *s, uint64_t number)
{
    struct trod_page *c = &s->cache[number & (TROD_PAGE_CACHE - 1)];
    struct trod_page *p = place(s, number);

    for (size_t i = 0; i < words_of_page(s); i++)
        if (~p->word[i])
            return false;
    if (!full_words(s))
        return false; /* it keeps its own */
    give_words(s, p->word);
    p->word = s->full;
    if (c->number == number)
        c->word = s->full;
    return true;
}

/*
 * Set the bits of MASK in WORD of PLANE of page NUMBER, whose words are W. True when the page is
 * full now: W is released.
 */
static bool set_bits(struct trod_pages *s, uint64_t number, uint64_t *w, unsigned plane,
                     unsigned word, uint64_t mask)
{
    uint64_t *p = &w[plane * TROD_PAGE_WORDS + word];
    uint64_t add = mask & ~*p;

    if (add == 0)
        return false;
    *p |= add;
    return ~*p == 0 && collapse(s, number);
}

/* Set the bits of LEFT bytes from ADDR on, which do not go around the end of the addresses. */
static inline int mark(struct trod_pages *s, unsigned plane, uint64_t addr, uint64_t left)
{
    while (left) {
        unsigned bit = addr & 63;
        uint64_t number = addr >> TROD_PAGE_SHIFT, take = 64 - bit < left ? 64 - bit : left;
        uint64_t *w = (uint64_t *)(uintptr_t)trod_pages_get(s, number);

        if (!w)
            return TROD_ERR_NOMEM;
        (void)set_bits(s, number, w, plane, (addr >> 6) & (TROD_PAGE_WORDS - 1),
                       (UINT64_MAX >> (64 - take)) << bit);
        addr += take;
        left -= take;
    }
    return TROD_OK;
}

/* The same of so many that whole pages are among them: these are a run. */
static int mark_wide(struct trod_pages *s, unsigned plane, uint64_t addr, uint64_t n)
{
    const uint64_t in_page = (UINT64_C(1) << TROD_PAGE_SHIFT) - 1;
    const uint64_t head = (0 - addr) & in_page, tail = (addr + n) & in_page;
    const uint64_t first = (addr + head) >> TROD_PAGE_SHIFT;
    const uint64_t pages = (n - head - tail) >> TROD_PAGE_SHIFT;
    int rc = mark(s, plane, addr, head);

    if (rc == TROD_OK)
        rc = mark(s, plane, addr + (n - tail), tail);
    return rc < 0 ? rc
                  : trod_page_runs_add(&s->run[plane],
                                       &(struct trod_page_run){first, first + pages - 1});
}

int trod_pages_mark(struct trod_pages *s, unsigned plane, uint64_t addr, uint32_t n)
{
    uint64_t left = n;

    if (left && addr + (left - 1) < addr)
        left = 0 - addr;
    return left > TROD_PAGE_MARK ? mark_wide(s, plane, addr, left) : mark(s, plane, addr, left);
}

int trod_pages_merge(struct trod_pages *into, const struct trod_pages *from)
{
    if (from->level > into->level) {
        into->level = from->level;
        if (rebuild(into, into->size) < 0)
            return TROD_ERR_NOMEM;
        forget_cache(into);
    }
    for (uint32_t i = 0; i < from->size; i++) {
        const struct trod_page *p = &from->at[i];
        uint64_t *w;

        if (p->number == TROD_NO_PAGE)
            continue;
        if (!(w = words(into, p->number)))
            return TROD_ERR_NOMEM;
        for (unsigned k = 0; w != into->full && k < words_of_page(into); k++)
            if (set_bits(into, p->number, w, k / TROD_PAGE_WORDS, k % TROD_PAGE_WORDS, p->word[k]))
                break;
    }
    for (unsigned i = 0; i < into->planes; i++)
        if (trod_page_runs_merge(&into->run[i], from->run[i]) < 0)
            return TROD_ERR_NOMEM;
    return TROD_OK;
}

struct trod_pages *trod_pages_copy(const struct trod_pages *s)
{
    struct trod_pages *copy = trod_pages_new(s->planes, s->cap);

    if (copy && trod_pages_merge(copy, s) < 0) {
        trod_pages_free(copy);
        copy = NULL;
    }
    return copy;
}

void trod_pages_filled(struct trod_pages *s, uint64_t number)
{
    (void)collapse(s, number);
}

/* The bits of the words at W, as many as a plane has of a page. */
TROD_HOT uint64_t ones(const uint64_t *w)
{
    uint64_t n = 0;

    for (unsigned k = 0; k < TROD_PAGE_WORDS; k++)
        n += (uint64_t)__builtin_popcountll(w[k]);
    return n;
}

static TROD_WIDE uint64_t ones_wide(const uint64_t *w)
{
    return ones(w);
}

static uint64_t plane_ones(const uint64_t *w, bool wide)
{
    return wide ? ones_wide(w) : ones(w);
}

/* Are pages of the 1 << LOG that page NUMBER is one of in the runs of PLANE, which are in order? */
static bool in_runs(const struct trod_pages *s, unsigned plane, uint64_t number, unsigned log)
{
    const uint64_t more = (UINT64_C(1) << log) - 1;

    return s->run[plane] && trod_page_runs_meet(s->run[plane], &(struct trod_page_run){
                                                                   number & ~more, number | more});
}

uint64_t trod_pages_count(const struct trod_pages *s, unsigned plane)
{
    const bool wide = trod_wide();
    uint64_t n = 0;

    trod_page_runs_order(s->run[plane]);
    for (uint32_t i = 0; i < s->size; i++)
        if (s->at[i].word && !in_runs(s, plane, s->at[i].number, 0))
            n += plane_ones(s->at[i].word + plane * TROD_PAGE_WORDS, wide);
    return (n << s->level) + (trod_page_runs_blocks(s->run[plane], 0) << TROD_PAGE_SHIFT);
}

static bool has_bits(const uint64_t *w)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < TROD_PAGE_WORDS; i++)
        any |= w[i];
    return any != 0;
}

/*
 * The line of LINE bytes, no less than a page, that page NUMBER is of: is that page the first with
 * bits in PLANE? 1 or 0.
 */
static uint64_t page_line(const struct trod_pages *s, uint64_t number, unsigned plane,
                          uint32_t line)
{
    const uint64_t pages = line >> TROD_PAGE_SHIFT;

    for (uint64_t k = number & ~(pages - 1); k <= number; k++) {
        const struct trod_page *p = place(s, k);

        if (p->number == k && has_bits(p->word + plane * TROD_PAGE_WORDS))
            return k == number;
    }
    return 0;
}

/* Lines of LINE bytes, at least 64 of them and less than a page, that W touches. */
static uint64_t word_lines(const uint64_t *w, uint32_t line)
{
    const unsigned step = line / 64;
    uint64_t n = 0;

    for (unsigned i = 0; step == 1 && i < TROD_PAGE_WORDS; i++) /* as most lines are */
        n += w[i] != 0;
    if (step == 1)
        return n;
    for (unsigned i = 0; i < TROD_PAGE_WORDS; i += step) {
        uint64_t any = 0;

        for (unsigned k = 0; k < step; k++)
            any |= w[i + k];
        n += any != 0;
    }
    return n;
}

/* The same for less than 64 bytes: fold each group of bits onto its lowest. */
static uint64_t bit_lines(const uint64_t *w, uint32_t line, bool wide)
{
    uint64_t of[TROD_PAGE_WORDS], first = 0;

    for (unsigned i = 0; i < 64; i += line)
        first |= UINT64_C(1) << i;
    for (unsigned i = 0; i < TROD_PAGE_WORDS; i++) {
        uint64_t v = w[i];

        for (unsigned k = 1; k < line; k *= 2)
            v |= v >> k;
        of[i] = v & first;
    }
    return plane_ones(of, wide);
}

uint64_t trod_pages_lines(const struct trod_pages *s, unsigned plane, uint32_t line)
{
    const bool wide = trod_wide();
    const unsigned shift = (unsigned)__builtin_ctz(line);
    const unsigned log = shift > TROD_PAGE_SHIFT ? shift - TROD_PAGE_SHIFT : 0; /* of its pages */
    uint64_t n = 0, whole;

    trod_page_runs_order(s->run[plane]);
    for (uint32_t i = 0; i < s->size; i++) {
        const struct trod_page *p = &s->at[i];

        if (p->number == TROD_NO_PAGE || in_runs(s, plane, p->number, log))
            continue;
        if (line >= 1 << TROD_PAGE_SHIFT)
            n += page_line(s, p->number, plane, line);
        else if (line >= 64)
            n += word_lines(p->word + plane * TROD_PAGE_WORDS, line);
        else
            n += bit_lines(p->word + plane * TROD_PAGE_WORDS, line, wide);
    }
    whole = trod_page_runs_blocks(s->run[plane], log);
    return (n << s->level) + (whole << (log ? 0 : TROD_PAGE_SHIFT - shift));
}
