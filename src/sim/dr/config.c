/*
 * config.c - the configuration file of DynamoRIO's cache simulator.
 *
 * Implements dr/config.h, trod_dr_config_read. Tokens stand between white space (braces that touch
 * a word are split off); "//" alone begins a comment up to the end of the line.
 */
#include "sim/dr/config.h"

#include "core/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct parser {
    struct trod_dr_config *c;
    const char *at, *end, *path;
    unsigned line;
    const char *token; /* N bytes; N 0: the end */
    size_t n;
    char set[32][TROD_DR_NAME]; /* names that have a value: the first of equal names wins */
    unsigned n_set;
    struct trod_diag *diag;
};

static int fail(struct parser *p, unsigned line, const char *what, const char *subject, size_t n)
{
    struct trod_place at = trod_place_path(p->path);

    at.line = line;
    return trod_error(p->diag, TROD_ERR_USAGE, "cache.config", &at, "%s%s%.*s%s", what,
                      n ? " '" : "", (int)(n < TROD_DR_NAME ? n : TROD_DR_NAME), subject,
                      n ? "'" : "");
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool brace(char c)
{
    return c == '{' || c == '}';
}

static bool is(const struct parser *p, const char *word)
{
    return p->n == strlen(word) && memcmp(p->token, word, p->n) == 0;
}

/* The next token that is no comment. */
static void next(struct parser *p)
{
    for (;;) {
        for (; p->at < p->end && blank(*p->at); p->at++)
            p->line += *p->at == '\n';
        p->token = p->at;
        if (p->at < p->end && brace(*p->at))
            p->at++;
        else
            while (p->at < p->end && !blank(*p->at) && !brace(*p->at))
                p->at++;
        p->n = (size_t)(p->at - p->token);
        if (!is(p, "//"))
            return;
        while (p->at < p->end && *p->at != '\n')
            p->at++;
    }
}

/* Was NAME given before in this block? It counts as given from here on. */
static bool again(struct parser *p, const char *name, size_t n)
{
    for (unsigned i = 0; i < p->n_set; i++)
        if (strlen(p->set[i]) == n && memcmp(p->set[i], name, n) == 0)
            return true;
    if (p->n_set < 32 && n < TROD_DR_NAME) {
        memcpy(p->set[p->n_set], name, n);
        p->set[p->n_set++][n] = 0;
    }
    return false;
}

static int number(struct parser *p, uint64_t *v)
{
    uint64_t x = 0;

    if (p->n == 0)
        return fail(p, p->line, "a number is missing at the end of the file", "", 0);
    for (size_t i = 0; i < p->n; i++) {
        if (p->token[i] < '0' || p->token[i] > '9' || x > UINT64_MAX / 10 - 1)
            return fail(p, p->line, "not a number:", p->token, p->n);
        x = x * 10 + (uint64_t)(p->token[i] - '0');
    }
    *v = x;
    return 0;
}

/* Sizes are 32-bit signed numbers: what does not fit is refused. */
static int size_value(struct parser *p, uint64_t *v)
{
    if (!trod_dr_size(p->token, p->n, v) || *v == 0 || *v > INT32_MAX)
        return fail(p, p->line, "not a size from 1 to 2147483647:", p->token, p->n);
    return 0;
}

static int truth(struct parser *p, bool *v)
{
    if (is(p, "true") || is(p, "True") || is(p, "TRUE"))
        *v = true;
    else if (is(p, "false") || is(p, "False") || is(p, "FALSE"))
        *v = false;
    else
        return fail(p, p->line, "neither true nor false:", p->token, p->n);
    return 0;
}

static int word(struct parser *p, char out[TROD_DR_NAME])
{
    if (p->n == 0 || p->n >= TROD_DR_NAME || brace(*p->token))
        return fail(p, p->line, "not a name:", p->token, p->n);
    memcpy(out, p->token, p->n);
    out[p->n] = 0;
    return 0;
}

/* What a block says of a policy, each the first time. */
struct policy_values {
    struct trod_repl_options type; /* of it the policy alone */
    bool typed;
    uint64_t number[3]; /* by rrip_names */
    unsigned given;     /* bits of them */
};

static const char *const rrip_names[] = {"rrpv_bits", "rrpv_period", "rrpv_long_per_period"};

static int policy_name(struct parser *p, struct trod_repl_options *o)
{
    if (!trod_dr_policy(o, p->token, p->n) || o->kind == TROD_REPL_BIT_PLRU)
        return fail(p, p->line, "unknown replacement policy", p->token, p->n);
    return 0;
}

/* A pair: the token is its name. */
static int policy_pair(struct parser *p, struct policy_values *v)
{
    struct trod_repl_options type = {0};
    uint64_t value = 0;
    unsigned which = 0;
    int rc;

    if (is(p, "type")) {
        next(p);
        if ((rc = policy_name(p, &type)) == 0 && !v->typed)
            v->type = type;
        v->typed = true;
        return rc;
    }
    while (which < 3 && !is(p, rrip_names[which]))
        which++;
    if (which == 3)
        return fail(p, p->line, "unknown parameter of a replacement policy", p->token, p->n);
    next(p);
    if ((rc = number(p, &value)) < 0)
        return rc;
    if (value > (which == 0 ? 31 : UINT32_MAX))
        return fail(p, p->line, "too large:", p->token, p->n);
    if (!(v->given >> which & 1))
        v->number[which] = value;
    v->given |= 1u << which;
    return 0;
}

/* { type RRIP rrpv_bits B rrpv_period P rrpv_long_per_period L }, ordered as one likes: the token
 * is "{". */
static int policy_block(struct parser *p, struct trod_repl_options *o)
{
    const unsigned line = p->line;
    struct policy_values v = {.given = 0};
    int rc;

    for (next(p); p->n && !is(p, "}"); next(p))
        if ((rc = policy_pair(p, &v)) < 0)
            return rc;
    if (!v.typed && !v.given)
        return fail(p, line, "empty block", "", 0);
    if (v.given != 0 && v.given != 7)
        return fail(p, line, "rrpv_bits, rrpv_period and rrpv_long_per_period go together", "", 0);
    if (v.given && v.number[0] == 0)
        return fail(p, line, "rrpv_bits is at least 1", "", 0);
    *o = v.type;
    if (v.given) {
        o->rrip_bits = (uint32_t)v.number[0];
        o->rrip_period = (uint32_t)v.number[1];
        o->rrip_longs = (uint32_t)v.number[2];
        o->rrip_given = true;
    }
    return 0;
}

static int policy(struct parser *p, struct trod_repl_options *o)
{
    return is(p, "{") ? policy_block(p, o) : policy_name(p, o);
}

static int side(struct parser *p, uint8_t *out)
{
    if (is(p, "instruction"))
        *out = TROD_DR_CODE;
    else if (is(p, "data"))
        *out = TROD_DR_DATA;
    else if (is(p, "unified"))
        *out = TROD_DR_UNIFIED;
    else
        return fail(p, p->line, "not a type of cache (instruction, data, unified):", p->token,
                    p->n);
    return 0;
}

/* Value of parameter NAME of cache S: the token. */
static int cache_value(struct parser *p, struct trod_dr_spec *s, const char *name, size_t n)
{
    uint64_t v = 0;
    int rc = 0;

    if (strncmp(name, "type", n) == 0 && n == 4)
        return side(p, &s->side);
    if (strncmp(name, "core", n) == 0 && n == 4) {
        rc = number(p, &v);
        s->core = v < INT32_MAX ? (int)v : INT32_MAX;
    } else if (strncmp(name, "size", n) == 0 && n == 4) {
        rc = size_value(p, &s->size);
    } else if (strncmp(name, "assoc", n) == 0 && n == 5) {
        rc = number(p, &v);
        s->ways = v < INT32_MAX ? (uint32_t)v : 0;
        if (rc == 0 && s->ways == 0)
            rc = fail(p, p->line, "not a number of ways:", p->token, p->n);
    } else if (strncmp(name, "inclusive", n) == 0 && n == 9) {
        rc = truth(p, &s->inclusive);
    } else if (strncmp(name, "exclusive", n) == 0 && n == 9) {
        rc = truth(p, &s->exclusive);
    } else if (strncmp(name, "parent", n) == 0 && n == 6) {
        rc = word(p, s->parent);
        if (strcmp(s->parent, "memory") == 0)
            s->parent[0] = 0;
    } else if (strncmp(name, "replace_policy", n) == 0 && n == 14) {
        rc = policy(p, &s->policy);
    } else if (strncmp(name, "prefetcher", n) == 0 && n == 10) {
        s->prefetches = is(p, "nextline");
        if (!s->prefetches && !is(p, "none"))
            rc = fail(p, p->line, "unknown prefetcher", p->token, p->n);
    } else if (strncmp(name, "miss_file", n) == 0 && n == 9) {
        free(s->miss_file);
        s->miss_file = strndup(p->token, p->n);
        rc = s->miss_file ? 0 : TROD_ERR_NOMEM;
    } else {
        rc = fail(p, p->line, "unknown parameter of a cache:", name, n);
    }
    return rc;
}

/* The block of cache S, called NAME on LINE: the token is "{". */
static int block(struct parser *p, struct trod_dr_spec *s, const char *name, size_t n,
                 unsigned line)
{
    int rc;

    p->n_set = 0;
    for (next(p); p->n && !is(p, "}"); next(p)) {
        struct trod_dr_spec ignored = {.core = -1};
        const char *key = p->token;
        const size_t key_n = p->n;

        next(p);
        if (p->n == 0)
            return fail(p, p->line, "a value is missing after", key, key_n);
        rc = cache_value(p, again(p, key, key_n) ? &ignored : s, key, key_n);
        free(ignored.miss_file);
        if (rc < 0)
            return rc;
    }
    if (p->n == 0)
        return fail(p, line, "the block has no end:", name, n);
    return p->n_set ? 0 : fail(p, line, "empty block", name, n);
}

/* NAME { ... }: the token is "{". Of caches of one name the first counts. */
static int cache(struct parser *p, const char *name, size_t n, unsigned line)
{
    struct trod_dr_spec ignored = {.core = -1};
    struct trod_dr_config *c = p->c;
    struct trod_dr_spec *s;
    int rc;

    if (n >= TROD_DR_NAME)
        return fail(p, line, "the name of a cache has more than 63 bytes:", name, n);
    for (size_t i = 0; i < c->n_spec; i++)
        if (strlen(c->spec[i].name) == n && memcmp(c->spec[i].name, name, n) == 0) {
            rc = block(p, &ignored, name, n, line);
            free(ignored.miss_file);
            return rc;
        }
    if (c->n_spec >= TROD_DR_CACHES)
        return fail(p, line, "too many caches", "", 0);
    if (!trod_grow(&c->spec, c->n_spec, &c->cap_spec, sizeof *c->spec, 8))
        return TROD_ERR_NOMEM;
    s = &c->spec[c->n_spec++];
    *s = (struct trod_dr_spec){.core = -1, .line = line};
    memcpy(s->name, name, n);
    return block(p, s, name, n, line);
}

/* A parameter of the top level: the token is its value. *KNOWN: it is one. */
static int top(struct parser *p, const char *name, size_t n, struct trod_dr_config *c, bool *known)
{
    const struct {
        const char *name;
        uint64_t *number;
        bool *truth;
    } table[] = {
        {"skip_refs", &c->skip_refs, NULL},   {"warmup_refs", &c->warmup_refs, NULL},
        {"sim_refs", &c->sim_refs, NULL},     {"cpu_scheduling", NULL, &c->cpu_scheduling},
        {"coherence", NULL, &c->coherent},    {"coherent", NULL, &c->coherent},
        {"use_physical", NULL, &c->physical},
    };
    uint64_t v = 0;
    int rc;

    *known = true;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0)
            return table[i].number ? number(p, table[i].number) : truth(p, table[i].truth);
    if (n == 15 && memcmp(name, "warmup_fraction", n) == 0) {
        char text[TROD_DR_NAME], *end;

        if ((rc = word(p, text)) < 0)
            return rc;
        c->warmup_fraction = strtod(text, &end);
        if (*end || !(c->warmup_fraction >= 0 && c->warmup_fraction <= 1))
            return fail(p, p->line, "not a fraction from 0 to 1:", p->token, p->n);
        return 0;
    }
    *known = (n == 9 && memcmp(name, "num_cores", n) == 0) ||
             (n == 9 && memcmp(name, "line_size", n) == 0) ||
             (n == 7 && memcmp(name, "verbose", n) == 0);
    if (!*known)
        return 0;
    if ((rc = number(p, &v)) < 0)
        return rc;
    if (*name == 'n' && (v == 0 || v > TROD_DR_CORES))
        return fail(p, p->line, "not a number of cores:", p->token, p->n);
    if (*name == 'l' && (v < 4 || v > 1u << 30 || v & (v - 1)))
        return fail(p, p->line, "a line size is a power of two, at least 4:", p->token, p->n);
    if (*name == 'n') {
        c->cores = (uint32_t)v;
        c->cores_line = p->line;
    }
    if (*name == 'l')
        c->line_size = (uint32_t)v;
    return 0;
}

int trod_dr_config_read(struct trod_dr_config *c, const char *text, size_t n, const char *path,
                        struct trod_diag *diag)
{
    struct parser p = {.c = c, .at = text, .end = text + n, .path = path, .line = 1, .diag = diag};
    char given[16][TROD_DR_NAME];
    unsigned n_given = 0;
    int rc = 0;

    for (size_t i = 0; i < c->n_spec; i++)
        free(c->spec[i].miss_file);
    c->n_spec = 0;
    c->cores = 4;
    c->cores_line = c->last_line = 0;
    c->line_size = 64;
    c->skip_refs = c->warmup_refs = 0;
    c->sim_refs = UINT64_C(1) << 63;
    c->warmup_fraction = 0;
    c->coherent = c->cpu_scheduling = c->physical = false;
    for (next(&p); rc == 0 && p.n; next(&p)) {
        struct trod_dr_config ignored = {0};
        const char *name = p.token;
        const size_t name_n = p.n;
        const unsigned line = p.line;
        bool known, repeated;

        c->last_line = line;
        if (brace(*name))
            return fail(&p, line, "a name is missing before", name, name_n);
        next(&p);
        if (is(&p, "{")) {
            rc = cache(&p, name, name_n, line);
            continue;
        }
        if (p.n == 0)
            return fail(&p, line, "a value is missing after", name, name_n);
        memcpy(p.set, given, sizeof given);
        p.n_set = n_given;
        repeated = again(&p, name, name_n);
        if ((rc = top(&p, name, name_n, repeated ? &ignored : c, &known)) < 0)
            break;
        if (!known)
            return fail(&p, line, "unknown parameter", name, name_n);
        if (c->warmup_refs && c->warmup_fraction > 0)
            return fail(&p, line, "warmup_refs and warmup_fraction exclude each other", "", 0);
        n_given = p.n_set < 16 ? p.n_set : 16;
        memcpy(given, p.set, sizeof given);
    }
    return rc;
}
