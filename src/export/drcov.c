/*
 * drcov.c - the view "drcov": the blocks of code that were executed, for coverage tools.
 *
 * Implements docs/exporting.md, "drcov": version 2 of the module table. A block goes from where a
 * branch, or a break in the addresses, led to the end of the next branch; each stands there once.
 */
#include "export/flow.h"
#include "export/map.h"
#include "export/text.h"
#include "trod/export.h"

#include "core/endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MAX = 65535, MODULES = 1024 };

struct options {
    const char *module;
};

struct module {
    const char *path;
    uint64_t from, to;
};

/* The block that a stream is in. */
struct block {
    uint64_t from, to;
    bool open;
};

struct state {
    struct trod_export_context c;
    struct export_flow flow;
    struct export_map blocks; /* begin and bytes of each */
    struct block *block;      /* by stream */
    uint32_t n_blocks;
    struct module *module;
    size_t n_modules;
    char *path; /* of the module that the option names */
    uint64_t outside;
};

static const struct trod_option options[] = {
    {.name = "module",
     .type = TROD_OPT_STR,
     .offset = offsetof(struct options, module),
     .arg = "PATH@FROM..TO",
     .text = "code that no file of --symbols holds: its name and addresses"},
    {.type = TROD_OPT_END},
};

/* "PATH@FROM..TO". */
static int module_option(struct state *s, const char *text)
{
    const char *sign = strrchr(text, '@');
    struct trod_range range;

    if (!sign || sign == text || trod_option_range(sign + 1, &range) != 0 || range.hi == UINT64_MAX)
        return trod_error(s->c.diag, TROD_ERR_USAGE, "export.module", NULL,
                          "option 'module': '%s' is not PATH@FROM..TO", text);
    s->path = strndup(text, (size_t)(sign - text));
    if (!s->path)
        return TROD_ERR_NOMEM;
    s->module[s->n_modules++] = (struct module){s->path, range.lo, range.hi + 1};
    return 0;
}

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;
    const struct options *o = opt;
    struct module *m;

    s->c = *c;
    s->flow.sites = c->sites;
    s->module = calloc(MODULES, sizeof *s->module);
    if (!s->module)
        return TROD_ERR_NOMEM;
    if (o->module && module_option(s, o->module) != 0)
        return TROD_ERR_USAGE;
    for (size_t i = 0; c->symbols && s->n_modules < MODULES; i++) {
        m = &s->module[s->n_modules];
        if (!trod_symbols_module(c->symbols, i, &m->path, &m->from, &m->to))
            break;
        s->n_modules++;
    }
    if (s->n_modules == 0)
        return trod_error(c->diag, TROD_ERR_USAGE, "export.modules", NULL,
                          "drcov tells blocks by the file they are of: name the program with "
                          "--symbols FILE[@ADDRESS] or drcov:module=NAME@FROM..TO");
    return 0;
}

static int end_block(struct state *s, struct block *b)
{
    for (uint64_t at = b->from; b->open && at < b->to;) {
        const uint64_t n = b->to - at < BLOCK_MAX ? b->to - at : BLOCK_MAX;

        if (!export_map_at(&s->blocks, at, n))
            return TROD_ERR_NOMEM;
        at += n;
    }
    b->open = false;
    return 0;
}

static struct block *block_of(struct state *s, uint32_t stream)
{
    if (stream >= s->n_blocks) {
        const uint32_t n = stream + stream / 2 + 16;
        struct block *p = realloc(s->block, n * sizeof *p);

        if (!p)
            return NULL;
        memset(p + s->n_blocks, 0, (n - s->n_blocks) * sizeof *p);
        s->block = p;
        s->n_blocks = n;
    }
    return &s->block[stream];
}

static int feed(void *st, const struct trod_batch *batch, uint32_t from, uint32_t to)
{
    struct state *s = st;
    struct export_step step;
    int r;

    for (uint32_t i = from; i < to; i++) {
        struct block *b;

        r = export_flow_row(&s->flow, batch, i, &step);
        if (r <= 0) {
            if (r < 0)
                return r;
            continue;
        }
        b = block_of(s, step.stream);
        if (!b || (b->open && b->to != step.pc && end_block(s, b) != 0))
            return TROD_ERR_NOMEM;
        if (!b->open)
            *b = (struct block){step.pc, step.pc, true};
        b->to += step.size;
        if (step.branch != TROD_BR_NONE && end_block(s, b) != 0)
            return TROD_ERR_NOMEM;
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct export_pair *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static const struct module *module_of(const struct state *s, uint64_t address)
{
    for (size_t i = 0; i < s->n_modules; i++)
        if (address >= s->module[i].from && address < s->module[i].to)
            return &s->module[i];
    return NULL;
}

/* Blocks that no module has, or that lie too far in one, are left out and counted. */
static bool fits(const struct state *s, const struct export_pair *p)
{
    const struct module *m = module_of(s, p->a);

    return m && p->a - m->from <= UINT32_MAX;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct export_text t = {.out = s->c.out};

    (void)meta;
    for (uint32_t i = 0; i < s->n_blocks; i++)
        if (end_block(s, &s->block[i]) != 0)
            return TROD_ERR_NOMEM;
    if (s->blocks.n)
        qsort(s->blocks.at, s->blocks.n, sizeof *s->blocks.at, by_address);
    for (size_t i = 0; i < s->blocks.n; i++)
        s->outside += !fits(s, &s->blocks.at[i]);
    export_print(&t,
                 "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov-64\nModule Table: version 2, count %zu\n"
                 "Columns: id, base, end, entry, path\n",
                 s->n_modules);
    for (size_t i = 0; i < s->n_modules; i++) {
        export_print(&t, " %zu, 0x%016llx, 0x%016llx, 0x%016llx, ", i,
                     (unsigned long long)s->module[i].from, (unsigned long long)s->module[i].to,
                     0ULL);
        export_clean(&t, s->module[i].path, "", '_');
        export_put(&t, "\n");
    }
    export_print(&t, "BB Table: %llu bbs\n", (unsigned long long)(s->blocks.n - s->outside));
    for (size_t i = 0; i < s->blocks.n; i++) {
        const struct export_pair *p = &s->blocks.at[i];
        const struct module *m = module_of(s, p->a);
        uint8_t entry[8];

        if (!fits(s, p))
            continue;
        trod_store_le32(entry, (uint32_t)(p->a - m->from));
        trod_store_le16(entry + 4, (uint16_t)p->b);
        trod_store_le16(entry + 6, (uint16_t)(m - s->module));
        export_putn(&t, (const char *)entry, sizeof entry);
    }
    trod_result_u64(result, "modules", s->n_modules);
    trod_result_u64(result, "blocks", s->blocks.n - s->outside);
    trod_result_u64(result, "blocks_outside", s->outside);
    return t.status;
}

static void fini(void *st)
{
    struct state *s = st;

    export_flow_fini(&s->flow);
    export_map_fini(&s->blocks);
    free(s->block);
    free(s->module);
    free(s->path);
}

static const char *const suffixes[] = {".drcov", ".drcov.log", NULL};

const struct trod_export trod_view_drcov = {
    .name = "drcov",
    .title = "drcov: blocks of code that were executed",
    .opens = "Lighthouse (IDA, Binary Ninja), Cartographer (Ghidra), drcov2lcov",
    .leaves_out = "how often, by which thread and in which order blocks were executed, all data",
    .suffixes = suffixes,
    .form = TROD_EXPORT_BINARY,
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SITE,
    .uses = EXPORT_FLOW_COLUMNS,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
