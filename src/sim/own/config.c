/*
 * config.c - reading configurations in trod's own words.
 *
 * Implements own/config.h. One statement a line; "#" begins a comment. What the statements come to
 * is config_check.c.
 */
#include "sim/own/config_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 512,
    WORDS = 32,
    VICTIMS = 1 << 16,
    DEGREE = 1024,
    PAGE_LEAST = 12,
    PAGE_MOST = 47,
    WALK_LEVELS = 4
};

#define fail trod_own_config_fail
#define MOST (UINT64_C(1) << 40) /* the largest number */

int trod_own_config_fail(const struct trod_own_parser *p, unsigned line, const char *what,
                         const char *subject)
{
    struct trod_place at = trod_place_path(p->name);

    at.line = line;
    return trod_error(p->diag, TROD_ERR_USAGE, "cache.config", &at, "%s%s%s%s", what,
                      subject ? " '" : "", subject ? subject : "", subject ? "'" : "");
}

static bool size_of(const char *text, uint64_t *v)
{
    static const char units[] = "kKmMgG";
    const char *unit;
    unsigned shift;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *v = strtoull(text, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (!unit)
        return *end == 0 && *v <= MOST;
    shift = 10 * (1 + (unsigned)(unit - units) / 2);
    if (*v > MOST >> shift)
        return false;
    *v <<= shift;
    return end[1] == 0;
}

/* Has a line V bytes? */
static bool is_line(uint64_t v)
{
    return v >= 4 && v <= 1u << 16 && !(v & (v - 1));
}

static bool choice(const char *value, const char *const *names, uint8_t *out)
{
    for (uint8_t i = 0; names[i]; i++)
        if (strcmp(names[i], value) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool policy_of(const char *value, struct trod_repl_options *o)
{
    const int kind = trod_repl_find(value, strlen(value));

    if (kind < 0)
        return false;
    o->kind = (uint8_t)kind;
    return true;
}

/* The same, of a number. */
static bool number_of(struct trod_own_spec *s, const char *key, const char *value)
{
    uint64_t v = 0;

    if (!size_of(value, &v))
        return false;
    if (strcmp(key, "seed") == 0) {
        s->policy.seed = v;
        return true;
    }
    if (strcmp(key, "victims") == 0) {
        s->victims = (uint32_t)v;
        return v <= VICTIMS;
    }
    if (v == 0 || v > UINT32_MAX)
        return false;
    if (strcmp(key, "line") == 0) {
        s->line = (uint32_t)v;
        return is_line(v);
    }
    if (strcmp(key, "degree") == 0) {
        s->degree = (uint32_t)v;
        return v <= DEGREE;
    }
    if (strcmp(key, "sector") == 0)
        s->sector = (uint32_t)v;
    else if (strcmp(key, "ways") == 0)
        s->ways = (uint32_t)v;
    else
        return false;
    return true;
}

static bool name_of(const char *value, char name[TROD_OWN_NAME])
{
    const size_t n = strlen(value);

    if (n == 0 || n >= TROD_OWN_NAME)
        return false;
    memcpy(name, value, n + 1);
    return true;
}

/* KEY=VALUE of cache S. */
static bool parameter(struct trod_own_spec *s, const char *key, const char *value)
{
    static const char *const inclusions[] = {"none", "inclusive", "exclusive",
                                             "data", "evicted",   NULL};
    static const char *const prefetches[] = {"none",   "next",        "stride",
                                             "stream", "best-offset", NULL};
    static const char *const writes[] = {"back", "through", NULL};
    static const char *const answers[] = {"yes", "no", NULL};
    uint8_t k = 0;

    if (strcmp(key, "size") == 0)
        return size_of(value, &s->size);
    if (strcmp(key, "policy") == 0)
        return policy_of(value, &s->policy);
    if (strcmp(key, "inclusion") == 0)
        return choice(value, inclusions, &s->inclusion);
    if (strcmp(key, "prefetch") == 0)
        return choice(value, prefetches, &s->prefetch);
    if (strcmp(key, "write") == 0) {
        const bool known = choice(value, writes, &k);

        s->through = k;
        return known;
    }
    if (strcmp(key, "allocate") == 0) {
        const bool known = choice(value, answers, &k);

        s->no_allocate = k;
        return known;
    }
    if (strcmp(key, "coherent") == 0) {
        const bool known = choice(value, answers, &k);

        s->incoherent = k;
        return known;
    }
    if (strcmp(key, "next") == 0)
        return name_of(value, s->next_name);
    if (strcmp(key, "ways") == 0 && strcmp(value, "full") == 0) {
        s->ways = 0;
        return true;
    }
    return number_of(s, key, value);
}

/* "0-3,6": bits of cores. */
static bool cores_of(const char *text, uint64_t *cores)
{
    *cores = 0;
    do {
        char *end;
        unsigned long first, last;

        if (*text < '0' || *text > '9')
            return false;
        first = last = strtoul(text, &end, 10);
        if (*end == '-') {
            if (end[1] < '0' || end[1] > '9')
                return false;
            last = strtoul(end + 1, &end, 10);
        }
        if (first > last || last >= TROD_OWN_CORES || (*end && *end != ','))
            return false;
        for (; first <= last; first++)
            *cores |= UINT64_C(1) << first;
        text = *end ? end + 1 : NULL;
    } while (text);
    return true;
}

/* KEY=VALUE of where a cache or TLB is; *KNOWN: KEY is one of these. */
static bool home(struct trod_own_home *h, const char *key, const char *value, bool *known)
{
    uint64_t v;

    *known = true;
    if (strcmp(key, "cores") == 0)
        return cores_of(value, &h->cores);
    if (strcmp(key, "cluster") == 0) {
        if (!size_of(value, &v) || v < 1 || v > TROD_OWN_CORES)
            return false;
        h->cluster = (uint32_t)v;
        return true;
    }
    *known = false;
    return false;
}

/* Pages of 2^*BITS bytes. */
static bool page_of(const char *text, uint8_t *bits)
{
    uint64_t v;

    if (!size_of(text, &v) || v & (v - 1))
        return false;
    for (*bits = PAGE_LEAST; *bits <= PAGE_MOST; ++*bits)
        if (v == UINT64_C(1) << *bits)
            return true;
    return false;
}

/* "4K,2M" */
static bool pages_of(const char *value, uint64_t *pages)
{
    char text[LINE], *rest = NULL;
    uint8_t bits;

    *pages = 0;
    snprintf(text, sizeof text, "%s", value);
    for (char *w = strtok_r(text, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
        if (!page_of(w, &bits))
            return false;
        *pages |= UINT64_C(1) << bits;
    }
    return *pages != 0;
}

/* KEY=VALUE of TLB T. */
static bool tlb_parameter(struct trod_own_tlb_spec *t, const char *key, const char *value)
{
    uint64_t v = 0;

    if (strcmp(key, "policy") == 0)
        return policy_of(value, &t->policy);
    if (strcmp(key, "pages") == 0)
        return pages_of(value, &t->pages);
    if (strcmp(key, "next") == 0)
        return name_of(value, t->next_name);
    if (strcmp(key, "ways") == 0 && strcmp(value, "full") == 0) {
        t->ways = 0;
        return true;
    }
    if (!size_of(value, &v))
        return false;
    if (strcmp(key, "seed") == 0) {
        t->policy.seed = v;
        return true;
    }
    if (v > UINT32_MAX / 4)
        return false;
    if (strcmp(key, "entries") == 0)
        t->entries = (uint32_t)v;
    else if (strcmp(key, "ways") == 0)
        t->ways = (uint32_t)v;
    else
        return false;
    return v > 0;
}

struct takes {
    const char *name, *what;
};

/* What word NAME, of the N of T, has as its value; NULL: there is no such word. */
static const char *takes(const struct takes *t, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(t[i].name, name) == 0)
            return t[i].what;
    return NULL;
}

/* WORD, KEY=VALUE of a cache (CACHE) or a TLB, is none, or its value is none. */
static int bad_parameter(struct trod_own_parser *p, char *word, bool cache)
{
    static const struct takes of_both[] = {
        {"ways", "ways=N, from 1 on, or ways=full"},
        {"seed", "seed=N, up to 1024G"},
        {"next", "next=NAME"},
        {"cluster", "cluster=N, cores"},
        {"cores", "cores=0-3,6"},
    };
    static const struct takes of_caches[] = {
        {"policy", "a policy: lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip opt"},
        {"size", "bytes: size=32K"},
        {"line", "a power of two of bytes, 4 to 65536: line=64"},
        {"sector", "bytes: sector=16"},
        {"inclusion", "inclusion=none, inclusive, exclusive, data or evicted"},
        {"write", "write=back or through"},
        {"allocate", "allocate=yes or no"},
        {"coherent", "coherent=yes or no"},
        {"victims", "victims=N, lines, up to 64K"},
        {"prefetch", "prefetch=none, next, stride, stream or best-offset"},
        {"degree", "degree=N, from 1 to 1024"},
    };
    static const struct takes of_tlbs[] = {
        {"policy", "a policy: lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip"},
        {"entries", "entries=N, from 1 on"},
        {"pages", "sizes of pages: pages=4K,2M"},
    };
    const size_t both = sizeof of_both / sizeof *of_both;
    char *equals = strchr(word, '='), text[160];
    const char *what;

    *equals = 0;
    what = takes(of_both, both, word);
    if (!what)
        what = cache ? takes(of_caches, sizeof of_caches / sizeof *of_caches, word)
                     : takes(of_tlbs, sizeof of_tlbs / sizeof *of_tlbs, word);
    *equals = '=';
    if (!what)
        return fail(p, p->line, "unknown parameter:", word);
    snprintf(text, sizeof text, "expected %s; got", what);
    return fail(p, p->line, text, word);
}

/* The words of a cache (S) or of a TLB (T). */
static int words_of(struct trod_own_parser *p, char **word, unsigned n, struct trod_own_spec *s,
                    struct trod_own_tlb_spec *t)
{
    struct trod_own_home *h = s ? &s->home : &t->home;
    uint8_t *side = s ? &s->side : &t->side;

    for (unsigned i = 2; i < n; i++) {
        char *equals = strchr(word[i], '=');
        bool known = false, good;

        const uint8_t only = strcmp(word[i], "code") == 0   ? TROD_OWN_CODE
                             : strcmp(word[i], "data") == 0 ? TROD_OWN_DATA
                                                            : TROD_OWN_BOTH;

        if (only != TROD_OWN_BOTH && *side != TROD_OWN_BOTH && *side != only)
            return fail(p, p->line,
                        "code and data exclude each other, both is neither word:", word[1]);
        if (only != TROD_OWN_BOTH)
            *side = only;
        else if (strcmp(word[i], "shared") == 0)
            h->shared = true;
        else if (!equals)
            return fail(p, p->line, "neither code, data, shared nor KEY=VALUE:", word[i]);
        else {
            *equals = 0;
            good = home(h, word[i], equals + 1, &known);
            if (!known)
                good =
                    s ? parameter(s, word[i], equals + 1) : tlb_parameter(t, word[i], equals + 1);
            *equals = '=';
            if (!good)
                return bad_parameter(p, word[i], s != NULL);
        }
    }
    return 0;
}

/* Is NAME no cache in "next=" and "walk", or another column of a table with one for each cache? */
static bool is_taken(const char *name)
{
    static const char *const names[] = {"memory", "references", "instructions", NULL};
    uint8_t i;

    return choice(name, names, &i);
}

static int cache(struct trod_own_parser *p, char **word, unsigned n)
{
    struct trod_own_spec *s;

    if (n < 2 || strlen(word[1]) >= TROD_OWN_NAME)
        return fail(p, p->line, "a cache needs a name of at most 23 bytes", NULL);
    if (is_taken(word[1]))
        return fail(p, p->line, "a cache cannot be called", word[1]);
    if (p->c->n == TROD_OWN_CACHES)
        return fail(p, p->line, "more than 12 caches", NULL);
    for (unsigned i = 0; i < p->c->n; i++)
        if (strcmp(p->c->spec[i].name, word[1]) == 0)
            return fail(p, p->line, "there is another cache called", word[1]);
    s = &p->c->spec[p->c->n++];
    *s = (struct trod_own_spec){
        .line_number = p->line, .ways = 1, .line = p->default_line, .degree = 1};
    s->policy = p->policy;
    strcpy(s->name, word[1]);
    return words_of(p, word, n, s, NULL);
}

static int tlb(struct trod_own_parser *p, char **word, unsigned n)
{
    struct trod_own_tlb_spec *t;

    if (n < 2 || strlen(word[1]) >= TROD_OWN_NAME)
        return fail(p, p->line, "a tlb needs a name of at most 23 bytes", NULL);
    if (strcmp(word[1], "walk") == 0)
        return fail(p, p->line, "a tlb cannot be called", word[1]);
    if (p->c->n_tlbs == TROD_OWN_TLBS)
        return fail(p, p->line, "more than 8 tlbs", NULL);
    for (unsigned i = 0; i < p->c->n_tlbs; i++)
        if (strcmp(p->c->tlb[i].name, word[1]) == 0)
            return fail(p, p->line, "there is another tlb called", word[1]);
    t = &p->c->tlb[p->c->n_tlbs++];
    *t = (struct trod_own_tlb_spec){.line_number = p->line, .pages = UINT64_MAX};
    strcpy(t->name, word[1]);
    return words_of(p, word, n, NULL, t);
}

/* The address before END, from 1 to 2^64, the end of all addresses. */
static bool last_of(const char *end, uint64_t *last)
{
    static const char *const tops[] = {"0x10000000000000000", "0X10000000000000000",
                                       "18446744073709551616"};
    char *after;

    *last = UINT64_MAX;
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        if (strcmp(end, tops[i]) == 0)
            return true;
    errno = 0;
    *last = strtoull(end, &after, 0) - 1;
    return isdigit((unsigned char)*end) && *after == 0 && errno == 0 && *last != UINT64_MAX;
}

/* "pages SIZE" or "pages SIZE LO..HI". */
static int pages(struct trod_own_parser *p, char **word, unsigned n)
{
    struct trod_own_range *r = &p->c->range[p->c->n_ranges];
    char *dots, *end;
    uint8_t bits;

    if (n < 2 || n > 3 || !page_of(word[1], &bits))
        return fail(p, p->line,
                    "pages have a power of two of bytes, 4K to 1024G:", n < 2 ? "" : word[1]);
    if (n == 2) {
        p->c->page_bits = bits;
        return 0;
    }
    if (p->c->n_ranges == TROD_OWN_RANGES)
        return fail(p, p->line, "more than 32 ranges of pages", NULL);
    if (!(dots = strstr(word[2], "..")) || dots == word[2] || !dots[2])
        return fail(p, p->line, "no range of addresses LO..HI:", word[2]);
    *r = (struct trod_own_range){.first = strtoull(word[2], &end, 0), .bits = bits};
    if (end != dots || !isdigit((unsigned char)*word[2]) || !last_of(dots + 2, &r->last) ||
        r->last < r->first)
        return fail(p, p->line, "no range of addresses LO..HI:", word[2]);
    if (r->first & ((UINT64_C(1) << bits) - 1) || ~r->last & ((UINT64_C(1) << bits) - 1))
        return fail(p, p->line, "the range is no whole number of such pages:", word[2]);
    p->c->n_ranges++;
    return 0;
}

/* "walk CACHE|memory [levels=4|5]" */
static int walk(struct trod_own_parser *p, char **word, unsigned n)
{
    if (n < 2 || n > 3 || strlen(word[1]) >= TROD_OWN_NAME)
        return fail(p, p->line, "page walks need the name of a cache, or memory", NULL);
    if (n == 3 && strcmp(word[2], "levels=5") == 0)
        p->c->walk_levels = 5;
    else if (n == 3 && strcmp(word[2], "levels=4") != 0)
        return fail(p, p->line, "page tables have levels=4 or levels=5, not", word[2]);
    strcpy(p->c->walk_name, word[1]);
    p->c->walk_line = p->line;
    return 0;
}

/* "flush tlbs|caches|all": at each change of thread on a core. */
static bool flush(struct trod_own_config *c, const char *what)
{
    static const char *const names[] = {"", "tlbs", "caches", "all", NULL};

    return choice(what, names, &c->flush) && c->flush;
}

/* The N words are not "NAME VALUE" of a statement, or VALUE none of its values. */
static int bad_statement(struct trod_own_parser *p, char **word, unsigned n)
{
    static const struct takes statements[] = {
        {"cores", "from 1 to 64"},
        {"line", "a power of two of bytes, 4 to 65536"},
        {"coherence", "on"},
        {"classify", "on"},
        {"addresses", "physical"},
        {"writebacks", "bytes, a power of two"},
        {"flush", "tlbs, caches or all"},
        {"policy", "lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip opt"},
    };
    const char *what = takes(statements, sizeof statements / sizeof *statements, word[0]);
    char text[160];

    if (!what)
        return fail(p, p->line, "unknown statement:", word[0]);
    if (n != 2) {
        snprintf(text, sizeof text, "'%s' takes one value: %s", word[0], what);
        return fail(p, p->line, text, NULL);
    }
    snprintf(text, sizeof text, "'%s' takes %s, not", word[0], what);
    return fail(p, p->line, text, word[1]);
}

static int statement(struct trod_own_parser *p, char **word, unsigned n)
{
    uint64_t v;

    if (strcmp(word[0], "cache") == 0)
        return cache(p, word, n);
    if (strcmp(word[0], "tlb") == 0)
        return tlb(p, word, n);
    if (strcmp(word[0], "pages") == 0)
        return pages(p, word, n);
    if (strcmp(word[0], "walk") == 0)
        return walk(p, word, n);
    if (n != 2)
        return bad_statement(p, word, n);
    if (strcmp(word[0], "cores") == 0 && size_of(word[1], &v) && v >= 1 && v <= TROD_OWN_CORES)
        p->c->cores = (uint32_t)v;
    else if (strcmp(word[0], "line") == 0 && size_of(word[1], &v) && is_line(v))
        p->default_line = (uint32_t)v;
    else if (strcmp(word[0], "coherence") == 0 && strcmp(word[1], "on") == 0)
        p->c->coherent = true;
    else if (strcmp(word[0], "classify") == 0 && strcmp(word[1], "on") == 0)
        p->c->classify = true;
    else if (strcmp(word[0], "addresses") == 0 && strcmp(word[1], "physical") == 0)
        p->c->physical = true;
    else if (strcmp(word[0], "writebacks") == 0 && size_of(word[1], &v) && v &&
             v <= UINT32_MAX / 2 + 1 && (v & (v - 1)) == 0)
        p->c->writebacks = (uint32_t)v;
    else if (strcmp(word[0], "flush") == 0 && flush(p->c, word[1]))
        return 0;
    else if (strcmp(word[0], "policy") != 0 || !policy_of(word[1], &p->policy))
        return bad_statement(p, word, n);
    return 0;
}

int trod_own_config_read(struct trod_own_config *c, const char *text, size_t n, const char *name,
                         struct trod_diag *diag)
{
    struct trod_own_parser p = {.c = c, .name = name, .default_line = 64, .diag = diag};
    const char *const end = text + n;
    int rc = 0;

    memset(c, 0, sizeof *c);
    c->cores = 1;
    c->walk = -1;
    c->walk_levels = WALK_LEVELS;
    while (rc == 0 && text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));
        const size_t len = (size_t)((eol ? eol : end) - text);
        char line[LINE], *word[WORDS], *rest = NULL;
        unsigned words = 0;

        p.line++;
        if (len >= LINE)
            return fail(&p, p.line, "a line of more than 511 bytes", NULL);
        memcpy(line, text, len);
        line[len] = 0;
        line[strcspn(line, "#")] = 0;
        if (memchr(text, 0, len))
            return fail(&p, p.line, "a zero byte: this is no text", NULL);
        for (char *w = strtok_r(line, " \t\r", &rest); w; w = strtok_r(NULL, " \t\r", &rest)) {
            if (words == WORDS)
                return fail(&p, p.line, "more than 32 words, from", w);
            word[words++] = w;
        }
        if (words)
            rc = statement(&p, word, words);
        text += len + (eol != NULL);
    }
    return rc < 0 ? rc : trod_own_config_check(&p);
}

bool trod_own_config_looks_ahead(const struct trod_own_config *c)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->spec[i].policy.kind == TROD_REPL_OPT)
            return true;
    return false;
}
