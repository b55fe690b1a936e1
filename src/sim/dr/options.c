/*
 * options.c - the options of DynamoRIO's launcher that matter to its cache and TLB simulators.
 *
 * Implements dr/config.h but for the configuration file.
 */
#include "sim/dr/config.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    uint8_t kind;
} policies[] = {
    {"LRU", TROD_REPL_LRU},           {"LFU", TROD_REPL_LFU},    {"FIFO", TROD_REPL_FIFO},
    {"BIT_PLRU", TROD_REPL_BIT_PLRU}, {"RRIP", TROD_REPL_BRRIP},
};

bool trod_dr_policy(struct trod_repl_options *o, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strlen(policies[i].name) == n && memcmp(policies[i].name, name, n) == 0) {
            o->kind = policies[i].kind;
            if (o->kind == TROD_REPL_BRRIP && !o->rrip_given) {
                o->rrip_bits = 3;
                o->rrip_period = 64;
                o->rrip_longs = 1;
                o->rrip_given = true;
            }
            return true;
        }
    return false;
}

const char *trod_dr_policy_name(const struct trod_repl_options *o)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (policies[i].kind == o->kind)
            return policies[i].name;
    return "LRU";
}

bool trod_dr_size(const char *text, size_t n, uint64_t *value)
{
    unsigned shift = 0;

    if (n && strchr("kKmMgG", text[n - 1])) {
        shift = text[n - 1] == 'k' || text[n - 1] == 'K'   ? 10
                : text[n - 1] == 'm' || text[n - 1] == 'M' ? 20
                                                           : 30;
        n--;
    }
    if (n == 0)
        return false;
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    if (*value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

/* Options about the hierarchy, before it is built from them. */
struct shape {
    uint64_t code_size, data_size, last_size;
    uint32_t code_ways, data_ways, last_ways;
    struct trod_repl_options policy;
    bool prefetches;
};

enum type { NUMBER, SIZE, U32, FRACTION, FLAG, TEXT, NO_VALUE, ONE_VALUE };

struct option {
    const char *name;
    enum type type;
    size_t offset;
    bool of_shape;
};

#define CONFIG(name, type, field)                                                                  \
    {                                                                                              \
        name, type, offsetof(struct trod_dr_config, field), false                                  \
    }
#define SHAPE(name, type, field)                                                                   \
    {                                                                                              \
        name, type, offsetof(struct shape, field), true                                            \
    }

static const struct option options[] = {
    CONFIG("cores", U32, cores),
    CONFIG("line_size", U32, line_size),
    SHAPE("L1I_size", SIZE, code_size),
    SHAPE("L1I_assoc", U32, code_ways),
    SHAPE("L1D_size", SIZE, data_size),
    SHAPE("L1D_assoc", U32, data_ways),
    SHAPE("LL_size", SIZE, last_size),
    SHAPE("LL_assoc", U32, last_ways),
    CONFIG("LL_miss_file", TEXT, miss_file),
    CONFIG("coherence", FLAG, coherent),
    CONFIG("use_physical", FLAG, physical),
    CONFIG("v2p_file", TEXT, v2p_file),
    CONFIG("skip_refs", NUMBER, skip_refs),
    CONFIG("warmup_refs", NUMBER, warmup_refs),
    CONFIG("warmup_fraction", FRACTION, warmup_fraction),
    CONFIG("sim_refs", NUMBER, sim_refs),
    CONFIG("config_file", TEXT, config_file),
    CONFIG("cpu_scheduling", FLAG, cpu_scheduling),
    CONFIG("no_core_sharded", FLAG, by_thread),
    CONFIG("page_size", SIZE, page_size),
    CONFIG("TLB_L1I_entries", U32, tlb.code_entries),
    CONFIG("TLB_L1I_assoc", U32, tlb.code_ways),
    CONFIG("TLB_L1D_entries", U32, tlb.data_entries),
    CONFIG("TLB_L1D_assoc", U32, tlb.data_ways),
    CONFIG("TLB_L2_entries", U32, tlb.l2_entries),
    CONFIG("TLB_L2_assoc", U32, tlb.l2_ways),
    CONFIG("miss_count_threshold", NUMBER, miss_count_threshold),
    CONFIG("miss_frac_threshold", FRACTION, miss_fraction),
    CONFIG("confidence_threshold", FRACTION, confidence),
    {"core_sharded", NO_VALUE, 0, false},
    {"core_serial", NO_VALUE, 0, false},
    {"indir", ONE_VALUE, 0, false},
    {"infile", ONE_VALUE, 0, false},
    {"verbose", ONE_VALUE, 0, false},
    {"jobs", ONE_VALUE, 0, false},
};

static int bad(struct trod_diag *diag, const char *what, const char *name, const char *value)
{
    return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL, "%s '%s'%s%s%s", what, name,
                      value ? ": '" : "", value ? value : "", value ? "'" : "");
}

static int assign(const struct option *o, void *base, const char *value, struct trod_diag *diag)
{
    void *field = (char *)base + o->offset;
    uint64_t v = 0;
    char *end;

    if (o->type == TEXT) {
        char **text = field;

        free(*text);
        *text = strdup(value);
        return *text ? 0 : TROD_ERR_NOMEM;
    }
    if (o->type == FRACTION) {
        const double d = strtod(value, &end);

        if (end == value || *end || !(d >= 0 && d <= 1))
            return bad(diag, "not a fraction from 0 to 1: option", o->name, value);
        *(double *)field = d;
        return 0;
    }
    if (!trod_dr_size(value, strlen(value), &v) || (o->type == U32 && v > INT32_MAX))
        return bad(diag, "not a number: option", o->name, value);
    if (o->type == U32)
        *(uint32_t *)field = (uint32_t)v;
    else
        *(uint64_t *)field = v;
    return 0;
}

/* Options whose values are words. 1: NAME is none of them. */
static int word(struct trod_dr_config *c, struct shape *s, const char *name, const char *value,
                struct trod_diag *diag)
{
    if (strcmp(name, "replace_policy") == 0 || strcmp(name, "TLB_replace_policy") == 0) {
        struct trod_repl_options *o = *name == 'T' ? &c->tlb.policy : &s->policy;

        return *value == 0 || trod_dr_policy(o, value, strlen(value))
                   ? 0
                   : bad(diag, "unknown replacement policy: option", name, value);
    }
    if (strcmp(name, "data_prefetcher") == 0) {
        s->prefetches = strcmp(value, "nextline") == 0;
        return s->prefetches || strcmp(value, "none") == 0
                   ? 0
                   : bad(diag, "unknown prefetcher: option", name, value);
    }
    if (strcmp(name, "tool") == 0 || strcmp(name, "simulator_type") == 0) {
        if (strcmp(value, "TLB") == 0 || strcmp(value, "TLB_simulator") == 0)
            c->tool = TROD_DR_TLB;
        else if (strcmp(value, "miss_analyzer") == 0)
            c->tool = TROD_DR_MISS_ANALYZER;
        else if (strcmp(value, "cache_simulator") == 0 || strcmp(value, "drcachesim") == 0)
            c->tool = TROD_DR_CACHE;
        else
            return bad(diag, "no simulator of caches or TLBs: option", name, value);
        return 0;
    }
    return 1;
}

void trod_dr_config_init(struct trod_dr_config *c)
{
    *c = (struct trod_dr_config){
        .cores = 4,
        .line_size = 64,
        .sim_refs = UINT64_C(1) << 63,
        .page_size = 4096,
        .tlb = {32, 32, 32, 32, 1024, 4, {.kind = TROD_REPL_LFU}},
        .miss_count_threshold = 50000,
        .miss_fraction = 0.005,
        .confidence = 0.75,
    };
}

void trod_dr_config_fini(struct trod_dr_config *c)
{
    for (size_t i = 0; i < c->n_spec; i++)
        free(c->spec[i].miss_file);
    free(c->spec);
    free(c->config_file);
    free(c->v2p_file);
    free(c->miss_file);
    memset(c, 0, sizeof *c);
}

static int add(struct trod_dr_config *c, const struct trod_dr_spec *s, const char *name,
               uint32_t core, const char *parent)
{
    struct trod_dr_spec *to;

    if (!trod_grow(&c->spec, c->n_spec, &c->cap_spec, sizeof *c->spec, 16))
        return TROD_ERR_NOMEM;
    to = &c->spec[c->n_spec++];
    *to = *s;
    to->core = -1;
    strcpy(to->parent, parent);
    strcpy(to->name, name);
    if (*parent) {
        char digits[12];
        int n = 0;

        to->core = (int)core;
        do
            digits[n++] = (char)('0' + core % 10);
        while (core /= 10);
        for (size_t at = strlen(name); n; at++)
            to->name[at] = digits[--n];
    }
    return 0;
}

/* L1I0, L1D0, ..., LL. */
static int hierarchy(struct trod_dr_config *c, const struct shape *s)
{
    const struct trod_dr_spec code = {
        .side = TROD_DR_CODE, .size = s->code_size, .ways = s->code_ways, .policy = s->policy};
    const struct trod_dr_spec data = {.side = TROD_DR_DATA,
                                      .size = s->data_size,
                                      .ways = s->data_ways,
                                      .policy = s->policy,
                                      .prefetches = s->prefetches};
    const struct trod_dr_spec last = {
        .side = TROD_DR_UNIFIED, .size = s->last_size, .ways = s->last_ways, .policy = s->policy};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < c->cores; i++) {
        rc = add(c, &code, "L1I", i, "LL");
        if (rc == 0)
            rc = add(c, &data, "L1D", i, "LL");
    }
    return rc == 0 ? add(c, &last, "LL", 0, "") : rc;
}

static int one_option(struct trod_dr_config *c, struct shape *s, char *name, char **rest,
                      struct trod_diag *diag)
{
    const struct option *o = NULL;
    const char *value;
    int rc;

    if (*name != '-')
        return bad(diag, "not an option:", name, NULL);
    name += name[1] == '-' ? 2 : 1;
    for (size_t i = 0; !o && i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            o = &options[i];
    if (o && o->type == FLAG)
        *(bool *)((char *)c + o->offset) = true;
    if (o && (o->type == FLAG || o->type == NO_VALUE))
        return 0;
    if (!(value = strtok_r(NULL, " \t\n\r", rest)))
        return bad(diag,
                   !o && word(c, s, name, "", NULL) == 1 ? "unknown option"
                                                         : "a value is missing after option",
                   name, NULL);
    if (o)
        return o->type == ONE_VALUE ? 0
                                    : assign(o, o->of_shape ? (void *)s : (void *)c, value, diag);
    rc = word(c, s, name, value, diag);
    return rc == 1 ? bad(diag, "unknown option", name, NULL) : rc;
}

int trod_dr_config_options(struct trod_dr_config *c, const char *text, struct trod_diag *diag)
{
    struct shape s = {32768, 32768, UINT64_C(8) << 20, 8, 8, 16, {0}, true};
    char *copy = strdup(text), *rest = NULL;
    int rc = 0;

    if (!copy)
        return TROD_ERR_NOMEM;
    for (char *name = strtok_r(copy, " \t\n\r", &rest); rc == 0 && name;
         name = strtok_r(NULL, " \t\n\r", &rest))
        rc = one_option(c, &s, name, &rest, diag);
    free(copy);
    if (rc < 0)
        return rc;
    if (c->cores == 0 || c->cores > TROD_DR_CORES)
        return bad(diag, "a number from 1 to 1024 is needed: option", "cores", NULL);
    if (c->line_size < 4 || c->line_size & (c->line_size - 1))
        return bad(diag, "a power of two, at least 4, is needed: option", "line_size", NULL);
    if (c->page_size < 4 || c->page_size & (c->page_size - 1))
        return bad(diag, "a power of two is needed: option", "page_size", NULL);
    if (c->warmup_refs && c->warmup_fraction > 0)
        return bad(diag, "warmup_refs and warmup_fraction exclude each other: option",
                   "warmup_fraction", NULL);
    c->schedule_cores = c->cores;
    return hierarchy(c, &s);
}
