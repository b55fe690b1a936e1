/*
 * config.c - reading and checking the options of Dinero IV.
 *
 * Implements din/config.h.
 */
#include "sim/din/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUB_MOST = 1 << 15 }; /* sizes of references have 16 bits */

static int bad(struct trod_diag *diag, const char *what, const char *name, const char *value)
{
    return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL, "%s '%s'%s%s%s", what, name,
                      value ? ": '" : "", value ? value : "", value ? "'" : "");
}

/* "32K"; suffixes k, m, g. */
static bool number(const char *text, uint64_t *v)
{
    unsigned shift = 0;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *v = strtoull(text, &end, 10);
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'm' || *end == 'M')
        shift = 20;
    else if (*end == 'g' || *end == 'G')
        shift = 30;
    if (errno || *v > UINT64_MAX >> shift)
        return false;
    *v <<= shift;
    return end[shift != 0] == 0;
}

static bool one_of(const char *value, const char *letters, char *out)
{
    if (!*value || value[1] || !strchr(letters, *value))
        return false;
    *out = *value;
    return true;
}

/* Option NAME, as it stands after "-lN-S", of SPEC. 1: there is no such option. */
static int of_cache(struct trod_din_spec *s, const char *name, const char *value)
{
    static const struct {
        const char *name, *letters;
        size_t offset;
    } table[] = {
        {"size", NULL, offsetof(struct trod_din_spec, size)},
        {"bsize", NULL, offsetof(struct trod_din_spec, block)},
        {"sbsize", NULL, offsetof(struct trod_din_spec, sub)},
        {"assoc", NULL, offsetof(struct trod_din_spec, ways)},
        {"pfdist", NULL, offsetof(struct trod_din_spec, distance)},
        {"pfabort", NULL, offsetof(struct trod_din_spec, abort)},
        {"repl", "lfr", offsetof(struct trod_din_spec, repl)},
        {"fetch", "damtls", offsetof(struct trod_din_spec, fetch)},
        {"walloc", "anf", offsetof(struct trod_din_spec, walloc)},
        {"wback", "anf", offsetof(struct trod_din_spec, wback)},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *field = (char *)s + table[i].offset;

        if (strcmp(table[i].name, name) != 0)
            continue;
        return (table[i].letters ? one_of(value, table[i].letters, field) : number(value, field))
                   ? 0
                   : -1;
    }
    return 1;
}

/* Options of the simulation. 1: there is no such option. */
static int of_run(struct trod_din_config *c, const char *name, const char *value)
{
    uint64_t bits;

    if (strcmp(name, "-skipcount") == 0)
        return number(value, &c->skip) ? 0 : -1;
    if (strcmp(name, "-flushcount") == 0)
        return number(value, &c->flush) ? 0 : -1;
    if (strcmp(name, "-maxcount") == 0)
        return number(value, &c->most) ? 0 : -1;
    if (strcmp(name, "-stat-interval") == 0)
        return number(value, &c->interval) ? 0 : -1;
    if (strcmp(name, "-informat") == 0)
        return one_of(value, "Dd", &c->format) ? 0 : -1;
    if (strcmp(name, "-address-bits") == 0) {
        if (!number(value, &bits) || (bits != 32 && bits != 64))
            return -1;
        c->narrow = bits == 32;
        return 0;
    }
    return 1;
}

static int one_option(struct trod_din_config *c, const char *name, char **rest,
                      struct trod_diag *diag)
{
    const bool level = name[0] == '-' && name[1] == 'l' && name[2] >= '1' && name[2] <= '5' &&
                       name[3] == '-' && name[4] && strchr("uid", name[4]);
    struct trod_din_spec *s = NULL;
    const char *value;
    int rc;

    if (strcmp(name, "-stat-idcombine") == 0) {
        c->combine = true;
        return 0;
    }
    if (level) {
        s = &c->spec[name[2] - '1'][name[4] == 'u'   ? TROD_DIN_UNIFIED
                                    : name[4] == 'i' ? TROD_DIN_CODE
                                                     : TROD_DIN_DATA];
        s->named = true;
        if (strcmp(name + 5, "ccc") == 0) {
            s->classify = true;
            return 0;
        }
    }
    if (strcmp(name, "-on-trigger") == 0 || strcmp(name, "-off-trigger") == 0)
        return bad(diag,
                   "what begins or ends at an address is not simulated (--instructions and --range "
                   "choose a part):",
                   name, NULL);
    value = strtok_r(NULL, " \t\n\r", rest);
    if (!value)
        return bad(diag,
                   (s ? of_cache(s, name + 5, "") : of_run(c, name, "")) == 1
                       ? "unknown option"
                       : "a value is missing after option",
                   name, NULL);
    rc = s ? of_cache(s, name + 5, value) : of_run(c, name, value);
    return rc == 1 ? bad(diag, "unknown option", name, NULL)
           : rc    ? bad(diag, "bad value of option", name, value)
                   : 0;
}

static bool power(uint64_t v)
{
    return v && !(v & (v - 1));
}

/* Is there the cache S? What only prefetches have does not make one. */
static bool is_there(const struct trod_din_spec *s)
{
    return s->size || s->block || s->sub || s->ways || s->repl || s->fetch || s->walloc ||
           s->wback || s->classify;
}

/* Something is wrong with option NAME of the cache called CACHE. */
static int bad_option(struct trod_diag *diag, const char *what, const char *cache, const char *name)
{
    char option[16];

    snprintf(option, sizeof option, "-%s%s", cache, name);
    return bad(diag, what, option, NULL);
}

/* Policies that do not go together, in a cache of one KIND, called WHAT; defaults are there. */
static int check_policies(const struct trod_din_spec *s, enum trod_din_side kind, const char *what,
                          struct trod_diag *diag)
{
    if (kind == TROD_DIN_CODE && (s->walloc || s->wback))
        return bad_option(diag, "a cache for instructions has no writes: option", what,
                          s->walloc ? "walloc" : "wback");
    if (s->fetch == 'd' && s->abort)
        return bad_option(diag, "nothing is prefetched, which could be aborted: option", what,
                          "pfabort");
    if ((s->fetch == 'l' || s->fetch == 's') && s->distance > s->block / s->sub)
        return bad_option(diag, "prefetches in one block reach no further than its size: option",
                          what, "pfdist");
    return 0;
}

/* Defaults and checks of a cache of one KIND, called WHAT. */
static int complete(struct trod_din_spec *s, enum trod_din_side kind, const char *what,
                    struct trod_diag *diag)
{
    if (s->size == 0)
        return bad_option(diag, "the size of the cache is missing: option", what, "size");
    if (s->block == 0)
        return bad_option(diag, "the size of its blocks is missing: option", what, "bsize");
    s->sub = s->sub ? s->sub : s->block;
    s->ways = s->ways ? s->ways : 1;
    s->repl = s->repl ? s->repl : 'l';
    s->fetch = s->fetch ? s->fetch : 'd';
    if (kind != TROD_DIN_CODE) {
        s->walloc = s->walloc ? s->walloc : 'a';
        s->wback = s->wback ? s->wback : 'a';
    }
    if (s->fetch != 'd' && s->distance == 0)
        s->distance = 1;
    if (!power(s->size) || !power(s->block) || !power(s->sub))
        return bad(diag, "sizes, block sizes and sub-block sizes are powers of two: cache", what,
                   NULL);
    if (s->block > s->size || s->sub > s->block || s->block / s->sub > 64)
        return bad(diag, "a block is at most the cache, and 1 to 64 sub-blocks: cache", what, NULL);
    if (s->sub > SUB_MOST)
        return bad(diag, "a sub-block is at most 32K: cache", what, NULL);
    if (s->ways > s->size / s->block)
        return bad(diag, "more ways than blocks: cache", what, NULL);
    return check_policies(s, kind, what, diag);
}

/* The caches of level L, from 0 on, fit together and to those of the level before. */
static int check_level(struct trod_din_config *c, unsigned l, struct trod_diag *diag)
{
    struct trod_din_spec *s = c->spec[l];
    const bool unified = is_there(&s[TROD_DIN_UNIFIED]), code = is_there(&s[TROD_DIN_CODE]),
               data = is_there(&s[TROD_DIN_DATA]);
    char what[] = "l1-u", level[] = "l1";
    int rc = 0;

    what[1] = level[1] = (char)('1' + l);
    if (!unified && !code && !data)
        return bad(diag, "a level is left out:", level, NULL);
    if (unified && (code || data))
        return bad(diag, "unified and split at one level:", level, NULL);
    if (!unified && !(code && data))
        return bad(diag, "a split level has an instruction and a data cache:", level, NULL);
    if (l && !unified && is_there(&c->spec[l - 1][TROD_DIN_UNIFIED]))
        return bad(diag, "a split level after a unified one:", level, NULL);
    for (unsigned k = 0; rc == 0 && k < TROD_DIN_SIDES; k++) {
        what[3] = "uid"[k];
        if (s[k].abort > 100)
            return bad(diag, "more than 100 percent: cache", what, NULL);
        if (is_there(&s[k]))
            rc = complete(&s[k], (enum trod_din_side)k, what, diag);
    }
    if (rc == 0 && c->combine &&
        (s[TROD_DIN_CODE].block != s[TROD_DIN_DATA].block ||
         s[TROD_DIN_CODE].sub != s[TROD_DIN_DATA].sub))
        return bad(diag,
                   "with -stat-idcombine the blocks, and sub-blocks, of both caches are "
                   "equal: level",
                   level, NULL);
    return rc;
}

static int check(struct trod_din_config *c, struct trod_diag *diag)
{
    int rc = 0;

    for (unsigned l = 0; l < TROD_DIN_LEVELS; l++)
        for (unsigned k = 0; k < TROD_DIN_SIDES; k++)
            if (c->spec[l][k].named)
                c->levels = l + 1;
    if (c->levels == 0)
        return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL,
                          "no cache is given: -l1-usize, or -l1-isize and -l1-dsize, with block "
                          "sizes (-l1-ubsize ...)");
    for (unsigned l = 0; rc == 0 && l < c->levels; l++)
        rc = check_level(c, l, diag);
    return rc;
}

int trod_din_config_options(struct trod_din_config *c, const char *text, struct trod_diag *diag)
{
    char *copy = strdup(text), *rest = NULL;
    int rc = copy ? 0 : TROD_ERR_NOMEM;

    memset(c, 0, sizeof *c);
    c->format = 'D';
    for (char *name = copy ? strtok_r(copy, " \t\n\r", &rest) : NULL; rc == 0 && name;
         name = strtok_r(NULL, " \t\n\r", &rest))
        rc = one_option(c, name, &rest, diag);
    free(copy);
    return rc < 0 ? rc : check(c, diag);
}
