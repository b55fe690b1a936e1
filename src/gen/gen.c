/*
 * gen.c - generators: the patterns, their options, batches.
 *
 * Implements trod/gen.h.
 */
#include "gen/int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEN_PATTERN(name) extern const struct gen_desc gen_pattern_##name;
#include "gen/patterns.def"
#undef GEN_PATTERN

static const struct gen_desc *const patterns[] = {
#define GEN_PATTERN(name) &gen_pattern_##name,
#include "gen/patterns.def"
#undef GEN_PATTERN
};

enum {
    PATTERNS = sizeof patterns / sizeof *patterns,
    PID = 1000,
    LINE_PAGE = 4096,
    MOST = 1 << 30 /* of what memory or answers are kept for */
};

const struct trod_gen_pattern *trod_gen_pattern_at(size_t i)
{
    return i < PATTERNS ? &patterns[i]->pattern : NULL;
}

/* ---- options */

static const struct gen_desc *find(const char *name, size_t len, struct trod_diag *diag)
{
    char names[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < PATTERNS; i++) {
        const char *p = patterns[i]->pattern.name;

        if (strlen(p) == len && memcmp(p, name, len) == 0)
            return patterns[i];
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", p);
    }
    trod_error(diag, TROD_ERR_USAGE, "gen.pattern", NULL,
               "no pattern is called '%.*s': there are %s", (int)len, name, names);
    return NULL;
}

/* Numbers that must lie between 1 and MOST, and what is laid out with them below 2^31. */
static int check_options(const struct trod_gen *g, struct trod_diag *diag)
{
    const struct gen_options *o = &g->o, *used = &g->desc->defaults;
    const struct {
        const char *name;
        uint64_t v, usual;
    } number[] = {
        {"lines", o->lines, used->lines},    {"line", o->line, used->line},
        {"laps", o->laps, used->laps},       {"count", o->count, used->count},
        {"stride", o->stride, used->stride}, {"depth", o->depth, used->depth},
        {"trips", o->trips, used->trips},    {"items", o->items, used->items},
    };
    const uint64_t step = o->stride ? o->stride * o->count : 0;
    const uint64_t end = step + o->lines * o->line + o->depth * g->word;

    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (number[i].usual && (number[i].v == 0 || number[i].v > MOST))
            return trod_error(diag, TROD_ERR_USAGE, "gen.option", NULL,
                              "pattern '%s': %s=%llu is not between 1 and %d",
                              g->desc->pattern.name, number[i].name,
                              (unsigned long long)number[i].v, MOST);
    if (o->line % g->word || o->stride % g->word)
        return trod_error(diag, TROD_ERR_USAGE, "gen.option", NULL,
                          "pattern '%s': lines and strides are multiples of a word, %u bytes",
                          g->desc->pattern.name, g->word);
    if (end > (uint64_t)INT32_MAX - GEN_DATA)
        return trod_error(diag, TROD_ERR_USAGE, "gen.option", NULL,
                          "pattern '%s': %llu bytes of memory are more than 31 bits can address",
                          g->desc->pattern.name, (unsigned long long)end);
    return TROD_OK;
}

static int parse(struct trod_gen *g, const char *pattern, struct trod_diag *diag)
{
    const size_t len = strcspn(pattern, ":");

    g->desc = find(pattern, len, diag);
    if (!g->desc)
        return TROD_ERR_USAGE;
    g->o = g->desc->defaults;
    if (!pattern[len])
        return TROD_OK;
    g->spec = strdup(pattern + len + 1);
    if (!g->spec)
        return TROD_ERR_NOMEM;
    return trod_option_spec(g->desc->pattern.options, &g->o, g->spec, diag);
}

/* ---- the machine */

/* What programs of FORMAT are usually for. */
static enum trod_isa usual_isa(const struct trod_format *f)
{
    static const struct {
        const char *format;
        enum trod_isa isa;
    } usual[] = {
        {"tarmac", TROD_ISA_A64},   {"matcher", TROD_ISA_MIPS32}, {"tt6", TROD_ISA_PPC32},
        {"tt6e", TROD_ISA_PPC32},   {"full", TROD_ISA_PPC32},     {"byu6", TROD_ISA_X86_32},
        {"byu12", TROD_ISA_X86_32}, {"stf", TROD_ISA_RISCV64},    {"cbp2025", TROD_ISA_A64}};

    for (size_t i = 0; f && i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i].format, f->name) == 0)
            return usual[i].isa;
    return TROD_ISA_X86_64;
}

static int set_isa(struct trod_gen *g, enum trod_isa isa, const struct trod_format *f,
                   struct trod_diag *diag)
{
    g->isa = isa == TROD_ISA_UNKNOWN ? usual_isa(f) : isa;
    g->word =
        g->isa == TROD_ISA_X86_64 || g->isa == TROD_ISA_A64 || g->isa == TROD_ISA_RISCV64 ? 8 : 4;
    g->pushes = g->isa == TROD_ISA_X86_64 || g->isa == TROD_ISA_X86_32;
    g->delays = g->isa == TROD_ISA_MIPS32;
    if (g->pushes || g->isa == TROD_ISA_A64 || g->isa == TROD_ISA_PPC32 || g->delays ||
        g->isa == TROD_ISA_RISCV64)
        return TROD_OK;
    return trod_error(diag, TROD_ERR_USAGE, "gen.isa", NULL,
                      "programs of '%s' cannot be generated; x86-64, x86-32, A64, PPC32, MIPS32 "
                      "and RISCV64 can",
                      trod_isa_name(g->isa));
}

static int set_meta(struct trod_gen *g, struct trod_meta *m)
{
    g->meta = m;
    m->isa = g->isa;
    m->endian = g->isa == TROD_ISA_PPC32 || g->isa == TROD_ISA_MIPS32 ? TROD_ENDIAN_BIG
                                                                      : TROD_ENDIAN_LITTLE;
    m->addr_bits = 8 * g->word;
    m->unit = g->threads ? TROD_UNIT_US : TROD_UNIT_CLK;
    m->page_size = LINE_PAGE;
    m->line_size = (uint32_t)g->o.line;
    for (unsigned i = 0; i < g->desc->streams; i++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "cpu%u", i);
        const int s = g->threads ? trod_meta_thread(m, PID + i, PID, 0)
                                 : trod_meta_stream(m, name, (size_t)n);

        if (s < 0)
            return TROD_ERR_NOMEM;
        g->stream[i] = (uint32_t)s;
    }
    return TROD_OK;
}

int trod_gen_new(struct trod_gen **out, const char *pattern, enum trod_isa isa,
                 const struct trod_format *format, struct trod_meta *meta, struct trod_diag *diag)
{
    struct trod_gen *g = calloc(1, sizeof *g);
    int r;

    *out = NULL;
    if (!g)
        return TROD_ERR_NOMEM;
    g->sp = GEN_STACK;
    g->markers = format && format->flags & TROD_FMT_MARKERS;
    g->threads = format && format->streams && strcmp(format->streams, "thread") == 0;
    g->states = format && strcmp(format->name, "full") == 0;
    g->bus = format && format->streams && strcmp(format->streams, "agent") == 0;
    r = parse(g, pattern, diag);
    if (r == TROD_OK)
        r = set_isa(g, isa, format, diag);
    if (r == TROD_OK)
        r = check_options(g, diag);
    if (r == TROD_OK)
        r = set_meta(g, meta);
    if (r == TROD_OK)
        r = g->desc->begin(g, diag);
    if (r == TROD_OK)
        r = gen_assemble(g);
    for (unsigned i = 0; i < GEN_STREAMS; i++)
        gen_ppc_begin(&g->ppc[i]);
    if (r == TROD_OK)
        r = trod_batch_new(&g->b, TROD_BATCH_ROWS);
    if (r < 0) {
        trod_gen_free(g);
        return r;
    }
    g->b->shared = g->bytes;
    g->b->meta = meta;
    g->b->have = trod_gen_columns(g);
    *out = g;
    return TROD_OK;
}

uint32_t trod_gen_columns(const struct trod_gen *g)
{
    return TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
           TROD_COL_UNIT | TROD_COL_INDEX | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET |
           TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_DETAIL |
           (g->bus ? TROD_COL_PADDR : 0) | (g->states ? TROD_COL_DATA : 0);
}

uint32_t trod_gen_streams(const struct trod_gen *g)
{
    return g->desc->streams;
}

void trod_gen_free(struct trod_gen *g)
{
    if (!g)
        return;
    trod_batch_free(g->b);
    free(g->bytes);
    free(g->share);
    free(g->touched);
    free(g->spec);
    free(g);
}

int trod_gen_next(struct trod_gen *g, struct trod_batch **batch)
{
    struct trod_batch *b = g->b;

    b->first += b->n;
    b->n = 0;
    b->pool_n = 0;
    while (!g->over && b->n + GEN_ROOM <= b->cap && b->pool_n + GEN_STATES <= b->pool_cap)
        g->over = !g->desc->step(g);
    *batch = b;
    return b->n > 0;
}

int trod_gen_answers(const struct trod_gen *g, struct trod_result *r)
{
    uint64_t instructions = 0;

    for (unsigned i = 0; i < g->desc->streams; i++)
        instructions += g->executed[i];
    trod_result_str(r, "pattern", g->desc->pattern.name);
    trod_result_str(r, "isa", trod_isa_name(g->isa));
    trod_result_u64(r, "instructions", instructions);
    g->desc->answers(g, r);
    return trod_result_status(r);
}
