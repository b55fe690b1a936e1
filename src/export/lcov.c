/*
 * lcov.c - the view "lcov": how often each line of source was executed, as a tracefile of lcov.
 *
 * Implements docs/exporting.md, "lcov". Lines come from the debugging information of the files of
 * --symbols; those that were never executed stand there with 0. A line's count is the largest of
 * its instructions, a function's that of its calls.
 */
#include "core/grow.h"
#include "export/flow.h"
#include "export/map.h"
#include "export/text.h"
#include "trod/export.h"

#include <stdlib.h>
#include <string.h>

/* How often an instruction was executed and where it went. */
struct count {
    uint64_t n, calls;       /* calls that led to it, beginnings of streams too */
    uint64_t taken, untaken; /* of a conditional branch */
};

enum what { FUNCTION, BRANCH, LINE };

/* A line of the output. */
struct entry {
    uint32_t file, line;
    uint8_t what;
    uint64_t at;      /* address: orders what is on one line */
    uint64_t n, more; /* executions; calls; times taken and not taken */
    const char *name; /* of a function */
};

struct state {
    struct trod_export_context c;
    struct export_flow flow;
    struct count *count; /* by site */
    uint32_t n_count;
    uint8_t *conditional; /* by site */
    const char **file;
    size_t n_files, cap_files;
    struct export_map file_of; /* by the place of a name: number of the file + 1 */
    struct export_map line;    /* file and line: the largest count */
    struct entry *entry;
    size_t n, cap;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;

    (void)opt;
    s->c = *c;
    s->flow.sites = c->sites;
    if (!c->symbols)
        return trod_error(c->diag, TROD_ERR_USAGE, "export.symbols", NULL,
                          "lines of source are in the debugging information of the program: name "
                          "it with --symbols FILE[@ADDRESS]");
    return 0;
}

static bool room(struct state *s, uint32_t site)
{
    const uint32_t n = site + site / 2 + 256;
    struct count *count;
    uint8_t *conditional;

    if (site < s->n_count)
        return true;
    count = realloc(s->count, n * sizeof *count);
    if (!count)
        return false;
    s->count = count;
    conditional = realloc(s->conditional, n);
    if (!conditional)
        return false;
    s->conditional = conditional;
    memset(count + s->n_count, 0, (n - s->n_count) * sizeof *count);
    memset(conditional + s->n_count, 0, n - s->n_count);
    s->n_count = n;
    return true;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct state *s = st;
    struct export_step step;

    for (uint32_t i = from; i < to; i++) {
        const int r = export_flow_row(&s->flow, b, i, &step);
        const struct export_last *before = &step.before;

        if (r < 0)
            return r;
        if (r == 0)
            continue;
        if (!room(s, step.site))
            return TROD_ERR_NOMEM;
        s->count[step.site].n++;
        if (before->site == TROD_NO_SITE || before->branch == TROD_BR_CALL ||
            before->branch == TROD_BR_ICALL)
            s->count[step.site].calls++;
        if (before->site == TROD_NO_SITE || before->branch != TROD_BR_COND)
            continue;
        s->conditional[before->site] = 1;
        if (step.pc == before->next)
            s->count[before->site].untaken++;
        else
            s->count[before->site].taken++;
    }
    return 0;
}

/* ---- what the lines are */

/* The number of the file called NAME; UINT32_MAX: no memory. */
static uint32_t file_number(struct state *s, const char *name)
{
    struct export_pair *p = export_map_at(&s->file_of, (uint64_t)(uintptr_t)name, 0);
    size_t i = 0;

    if (!p)
        return UINT32_MAX;
    if (p->value)
        return (uint32_t)p->value - 1;
    while (i < s->n_files && strcmp(s->file[i], name) != 0)
        i++;
    if (i == s->n_files) {
        if (!trod_grow(&s->file, s->n_files, &s->cap_files, sizeof *s->file, 16))
            return UINT32_MAX;
        s->file[s->n_files++] = name;
    }
    p->value = i + 1;
    return (uint32_t)i;
}

/* LINE of FILE was executed N times. */
static int add_line(struct state *s, const char *file, uint32_t line, uint64_t n)
{
    const uint32_t number = file_number(s, file);
    struct export_pair *p = number == UINT32_MAX ? NULL : export_map_at(&s->line, number, line);

    if (!p)
        return TROD_ERR_NOMEM;
    if (n > p->value)
        p->value = n;
    return 0;
}

static int known_line(void *user, uint64_t address, const char *file, uint32_t line)
{
    (void)address;
    return add_line(user, file, line, 0);
}

static int add_entry(struct state *s, const struct entry *e)
{
    if (!trod_grow(&s->entry, s->n, &s->cap, sizeof *s->entry, 256))
        return TROD_ERR_NOMEM;
    s->entry[s->n++] = *e;
    return 0;
}

/* Lines and branches that were executed. */
static int add_sites(struct state *s)
{
    for (uint32_t i = 0; i < s->n_count && i < trod_sites_count(s->c.sites); i++) {
        const uint64_t pc = trod_site_at(s->c.sites, i)->pc;
        const struct count *n = &s->count[i];
        const char *file;
        uint32_t line;

        if (n->n == 0 || !trod_symbols_line(s->c.symbols, pc, &file, &line))
            continue;
        if (add_line(s, file, line, n->n) != 0)
            return TROD_ERR_NOMEM;
        if (s->conditional[i] && add_entry(s, &(struct entry){file_number(s, file), line, BRANCH,
                                                              pc, n->taken, n->untaken, NULL}) != 0)
            return TROD_ERR_NOMEM;
    }
    return 0;
}

/* The calls of each symbol, by its address. */
static int count_calls(struct state *s, struct export_map *calls)
{
    for (uint32_t i = 0; i < s->n_count && i < trod_sites_count(s->c.sites); i++) {
        const uint64_t pc = trod_site_at(s->c.sites, i)->pc;
        struct export_pair *p;
        const char *name;
        uint64_t offset;

        if (s->count[i].calls == 0 || !trod_symbols_find(s->c.symbols, pc, &name, &offset))
            continue;
        p = export_map_at(calls, pc - offset, 0);
        if (!p)
            return TROD_ERR_NOMEM;
        p->value += s->count[i].calls;
    }
    return 0;
}

static int add_functions(struct state *s)
{
    struct export_map calls = {0};
    uint64_t address, size;
    const char *name, *file;
    uint32_t line;
    int r = count_calls(s, &calls);

    for (size_t i = 0; r == 0 && trod_symbols_at(s->c.symbols, i, &name, &address, &size); i++) {
        const struct export_pair *p = export_map_find(&calls, address, 0);

        if (trod_symbols_line(s->c.symbols, address, &file, &line))
            r = add_entry(s, &(struct entry){file_number(s, file), line, FUNCTION, address,
                                             p ? p->value : 0, 0, name});
    }
    export_map_fini(&calls);
    return r;
}

static int add_lines(struct state *s)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->line.n; i++) {
        const struct export_pair *p = &s->line.at[i];

        r = add_entry(s,
                      &(struct entry){(uint32_t)p->a, (uint32_t)p->b, LINE, 0, p->value, 0, NULL});
    }
    return r;
}

/* ---- writing */

/* By name of the file; then functions, branches, lines. */
static int order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

/* Files get the numbers that their names have in the order of the alphabet. */
static int sort_files(struct state *s)
{
    uint32_t *to = calloc(s->n_files + 1, sizeof *to);
    const char **old = malloc((s->n_files + 1) * sizeof *old);

    if (!to || !old) {
        free(to);
        free(old);
        return TROD_ERR_NOMEM;
    }
    memcpy(old, s->file, s->n_files * sizeof *old);
    qsort(s->file, s->n_files, sizeof *s->file, by_name);
    for (size_t i = 0; i < s->n_files; i++)
        for (size_t k = 0; k < s->n_files; k++)
            if (old[i] == s->file[k])
                to[i] = (uint32_t)k;
    for (size_t i = 0; i < s->n; i++)
        s->entry[i].file = to[s->entry[i].file];
    free(to);
    free(old);
    qsort(s->entry, s->n, sizeof *s->entry, order);
    return 0;
}

static void put_functions(struct export_text *t, const struct entry *e, size_t n)
{
    size_t hit = 0;

    for (size_t i = 0; i < n; i++) {
        export_print(t, "FN:%u,", e[i].line);
        export_clean(t, e[i].name, "", '_');
        export_put(t, "\n");
    }
    for (size_t i = 0; i < n; i++) {
        hit += e[i].n > 0;
        export_print(t, "FNDA:%llu,", (unsigned long long)e[i].n);
        export_clean(t, e[i].name, "", '_');
        export_put(t, "\n");
    }
    export_print(t, "FNF:%zu\nFNH:%zu\n", n, hit);
}

/* Both ways of each branch: taken, not taken. Branches of one line are its blocks. */
static void put_branches(struct export_text *t, const struct entry *e, size_t n)
{
    unsigned block = 0;
    size_t hit = 0;

    for (size_t i = 0; i < n; i++) {
        block = i && e[i].line == e[i - 1].line ? block + 1 : 0;
        hit += (e[i].n > 0) + (size_t)(e[i].more > 0);
        export_print(t, "BRDA:%u,%u,0,%llu\nBRDA:%u,%u,1,%llu\n", e[i].line, block,
                     (unsigned long long)e[i].n, e[i].line, block, (unsigned long long)e[i].more);
    }
    export_print(t, "BRF:%zu\nBRH:%zu\n", 2 * n, hit);
}

static size_t put_lines(struct export_text *t, const struct entry *e, size_t n)
{
    size_t hit = 0;

    for (size_t i = 0; i < n; i++) {
        hit += e[i].n > 0;
        export_print(t, "DA:%u,%llu\n", e[i].line, (unsigned long long)e[i].n);
    }
    export_print(t, "LF:%zu\nLH:%zu\nend_of_record\n", n, hit);
    return hit;
}

/* Entries from FROM on of the same file and kind. */
static size_t run_of(const struct state *s, size_t from, uint32_t file, enum what what)
{
    size_t i = from;

    while (i < s->n && s->entry[i].file == file && s->entry[i].what == what)
        i++;
    return i - from;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct export_text t = {.out = s->c.out};
    size_t hit = 0;
    int r = trod_symbols_lines(s->c.symbols, known_line, s);

    (void)meta;
    if (r == 0)
        r = add_sites(s);
    if (r == 0 && s->line.n == 0)
        return trod_error(s->c.diag, TROD_ERR_UNSUPPORTED, "export.lines", NULL,
                          "the files of --symbols have no lines of source (compile with -g), or "
                          "this trod was built without libdw");
    if (r == 0)
        r = add_functions(s);
    if (r == 0)
        r = add_lines(s);
    if (r == 0)
        r = sort_files(s);
    if (r != 0)
        return r;
    for (size_t i = 0; i < s->n;) {
        const uint32_t file = s->entry[i].file;
        size_t n = run_of(s, i, file, FUNCTION);

        export_put(&t, "TN:trod\nSF:");
        export_clean(&t, s->file[file], "", '_');
        export_put(&t, "\n");
        put_functions(&t, s->entry + i, n);
        n = run_of(s, i += n, file, BRANCH);
        put_branches(&t, s->entry + i, n);
        n = run_of(s, i += n, file, LINE);
        hit += put_lines(&t, s->entry + i, n);
        i += n;
    }
    trod_result_u64(result, "files", s->n_files);
    trod_result_u64(result, "lines", s->line.n);
    trod_result_u64(result, "lines_executed", hit);
    return t.status;
}

static void fini(void *st)
{
    struct state *s = st;

    export_flow_fini(&s->flow);
    export_map_fini(&s->file_of);
    export_map_fini(&s->line);
    free(s->count);
    free(s->conditional);
    free(s->file);
    free(s->entry);
}

static const char *const suffixes[] = {".info", NULL};

const struct trod_export trod_view_lcov = {
    .name = "lcov",
    .title = "lcov: how often each line of source was executed",
    .opens = "genhtml, lcov, editors and servers that show coverage",
    .leaves_out = "instructions below the line, order, threads, all data; branches that were never "
                  "executed",
    .suffixes = suffixes,
    .form = TROD_EXPORT_TEXT,
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SITE,
    .uses = EXPORT_FLOW_COLUMNS,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
