/*
 * config.c - reading and checking configurations in trod's own words.
 *
 * Implements own/config.h. One statement a line; "#" begins a comment.
 */
#include "sim/own/config.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 512, WORDS = 32 };

struct parser {
    struct trod_own_config *c;
    const char *name;
    unsigned line;
    uint32_t default_line;
    struct trod_repl_options policy;
    struct trod_diag *diag;
};

static int fail(const struct parser *p, unsigned line, const char *what, const char *subject)
{
    struct trod_place at = trod_place_path(p->name);

    at.line = line;
    return trod_error(p->diag, TROD_ERR_USAGE, "cache.config", &at, "%s%s%s%s", what,
                      subject ? " '" : "", subject ? subject : "", subject ? "'" : "");
}

static bool size_of(const char *text, uint64_t *v)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *v = strtoull(text, &end, 10);
    if (*v > UINT64_C(1) << 40)
        return false;
    if (*end && strchr("kK", *end))
        *v <<= 10;
    else if (*end && strchr("mM", *end))
        *v <<= 20;
    else if (*end && strchr("gG", *end))
        *v <<= 30;
    else
        return *end == 0;
    return end[1] == 0;
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

    if (kind < 0 || kind == TROD_REPL_OPT)
        return false;
    o->kind = (uint8_t)kind;
    return true;
}

/* KEY=VALUE of cache S. */
static bool parameter(struct trod_own_spec *s, const char *key, const char *value)
{
    static const char *const inclusions[] = {"none", "inclusive", "exclusive", NULL};
    static const char *const prefetches[] = {"none",   "next",        "stride",
                                             "stream", "best-offset", NULL};
    static const char *const writes[] = {"back", "through", NULL};
    static const char *const answers[] = {"yes", "no", NULL};
    uint64_t v = 0;
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
    if (strcmp(key, "next") == 0 && strlen(value) < TROD_OWN_NAME) {
        strcpy(s->next_name, value);
        return true;
    }
    if (strcmp(key, "ways") == 0 && strcmp(value, "full") == 0) {
        s->ways = 0;
        return true;
    }
    if (!size_of(value, &v) || v > UINT32_MAX)
        return false;
    if (strcmp(key, "ways") == 0)
        s->ways = (uint32_t)v;
    else if (strcmp(key, "line") == 0)
        s->line = (uint32_t)v;
    else if (strcmp(key, "victims") == 0)
        s->victims = (uint32_t)v;
    else if (strcmp(key, "degree") == 0)
        s->degree = (uint32_t)v;
    else if (strcmp(key, "seed") == 0)
        s->policy.seed = v;
    else
        return false;
    return v > 0 || strcmp(key, "seed") == 0 || strcmp(key, "victims") == 0;
}

static int cache(struct parser *p, char **word, unsigned n)
{
    struct trod_own_spec *s;

    if (n < 2 || strlen(word[1]) >= TROD_OWN_NAME)
        return fail(p, p->line, "a cache needs a name of at most 23 bytes", NULL);
    if (p->c->n == TROD_OWN_CACHES)
        return fail(p, p->line, "more than 12 caches", NULL);
    for (unsigned i = 0; i < p->c->n; i++)
        if (strcmp(p->c->spec[i].name, word[1]) == 0)
            return fail(p, p->line, "there is another cache called", word[1]);
    s = &p->c->spec[p->c->n++];
    *s = (struct trod_own_spec){
        .line_number = p->line, .ways = 1, .line = p->default_line, .degree = 1, .next = -1};
    s->policy = p->policy;
    strcpy(s->name, word[1]);
    for (unsigned i = 2; i < n; i++) {
        char *equals = strchr(word[i], '=');

        if (strcmp(word[i], "code") == 0)
            s->side = TROD_OWN_CODE;
        else if (strcmp(word[i], "data") == 0)
            s->side = TROD_OWN_DATA;
        else if (strcmp(word[i], "shared") == 0)
            s->shared = true;
        else if (!equals)
            return fail(p, p->line, "neither code, data, shared nor KEY=VALUE:", word[i]);
        else {
            *equals = 0;
            if (!parameter(s, word[i], equals + 1)) {
                *equals = '=';
                return fail(p, p->line,
                            "unknown parameter, or a value that it cannot have:", word[i]);
            }
        }
    }
    return 0;
}

static int statement(struct parser *p, char **word, unsigned n)
{
    uint64_t v;

    if (strcmp(word[0], "cache") == 0)
        return cache(p, word, n);
    if (n != 2)
        return fail(p, p->line, "unknown statement, or not one value:", word[0]);
    if (strcmp(word[0], "cores") == 0 && size_of(word[1], &v) && v >= 1 && v <= TROD_OWN_CORES)
        p->c->cores = (uint32_t)v;
    else if (strcmp(word[0], "line") == 0 && size_of(word[1], &v) && v <= UINT32_MAX)
        p->default_line = (uint32_t)v;
    else if (strcmp(word[0], "coherence") == 0 && strcmp(word[1], "on") == 0)
        p->c->coherent = true;
    else if (strcmp(word[0], "classify") == 0 && strcmp(word[1], "on") == 0)
        p->c->classify = true;
    else if (strcmp(word[0], "policy") != 0 || !policy_of(word[1], &p->policy))
        return fail(p, p->line, "unknown statement, or a value that it cannot have:", word[0]);
    return 0;
}

/* Sets, and that S is a cache at all. */
static int check_cache(const struct parser *p, struct trod_own_spec *s)
{
    uint64_t lines;

    if (s->line < 4 || s->line > 1u << 16 || s->line & (s->line - 1))
        return fail(p, s->line_number, "a line has a power of two of bytes, 4 to 65536: cache",
                    s->name);
    lines = s->size / s->line;
    if (lines == 0 || lines > UINT32_MAX / 4 || s->size % s->line)
        return fail(p, s->line_number, "the size is no whole number of lines: cache", s->name);
    if (s->ways == 0)
        s->ways = (uint32_t)lines;
    if (lines % s->ways)
        return fail(p, s->line_number, "the lines cannot be shared out to the ways: cache",
                    s->name);
    if (s->policy.kind == TROD_REPL_TREE_PLRU && s->ways & (s->ways - 1))
        return fail(p, s->line_number, "tree-plru needs a power of two of ways: cache", s->name);
    s->sets = lines / s->ways;
    return 0;
}

/* Which cache comes behind cache I. */
static int link_next(const struct parser *p, unsigned i)
{
    struct trod_own_config *c = p->c;
    struct trod_own_spec *s = &c->spec[i];

    for (unsigned j = i + 1; s->next < 0 && j < c->n; j++)
        if (*s->next_name ? strcmp(c->spec[j].name, s->next_name) == 0
                          : c->spec[j].side == TROD_OWN_BOTH)
            s->next = (int)j;
    if (s->next < 0)
        return *s->next_name && strcmp(s->next_name, "memory") != 0
                   ? fail(p, s->line_number, "no later cache is called", s->next_name)
                   : 0;
    if (c->spec[s->next].side != TROD_OWN_BOTH && c->spec[s->next].side != s->side)
        return fail(p, s->line_number, "the next cache holds something else: cache", s->name);
    if (s->shared && !c->spec[s->next].shared)
        return fail(p, s->line_number, "behind a shared cache all are shared: cache", s->name);
    if (c->spec[s->next].line < s->line)
        return fail(p, s->line_number, "the next cache has shorter lines: cache", s->name);
    if (c->spec[s->next].inclusion == TROD_OWN_EXCLUSIVE && c->spec[s->next].line != s->line)
        return fail(p, s->line_number, "an exclusive cache has lines as long: cache", s->name);
    return 0;
}

static int check(const struct parser *p)
{
    struct trod_own_config *c = p->c;
    bool code = false, data = false;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = check_cache(p, &c->spec[i]);
    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = link_next(p, i);
    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < c->n; i++) {
        code = code || c->spec[i].side != TROD_OWN_DATA;
        data = data || c->spec[i].side != TROD_OWN_CODE;
    }
    if (!code && !data)
        return fail(p, p->line, "no cache", NULL);
    return 0;
}

int trod_own_config_read(struct trod_own_config *c, const char *text, size_t n, const char *name,
                         struct trod_diag *diag)
{
    struct parser p = {.c = c, .name = name, .default_line = 64, .diag = diag};
    const char *const end = text + n;
    int rc = 0;

    memset(c, 0, sizeof *c);
    c->cores = 1;
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
        for (char *w = strtok_r(line, " \t\r", &rest); w && words < WORDS;
             w = strtok_r(NULL, " \t\r", &rest))
            word[words++] = w;
        if (words)
            rc = statement(&p, word, words);
        text += len + (eol != NULL);
    }
    return rc < 0 ? rc : check(&p);
}
