/*
 * callgrind.c - the view "callgrind": what each instruction and each call cost, as Callgrind says.
 *
 * Implements docs/exporting.md, "Callgrind"; document: Callgrind Format Specification, version 1.
 * Events are Ir (instructions), Dr (reads), Dw (writes), and misses where caches are simulated.
 * Positions are addresses, with lines of
 * source too where the files of --symbols have them.
 */
#include "core/grow.h"
#include "export/costs.h"
#include "export/text.h"

#include <stdlib.h>
#include <string.h>

/* What a function is in, as numbers of names; 1: not known. */
struct home {
    uint32_t file, object;
};

struct options {
    struct export_misses_options misses;
};

static const struct trod_option options[] = {
    EXPORT_MISSES_OPTIONS(struct options),
    {.type = TROD_OPT_END},
};

struct state {
    struct trod_export_context c;
    struct export_totals t;
    const char **file; /* names of source files by number - 1 */
    size_t n_files, cap_files;
    struct home *home; /* by function */
    uint8_t *named[3]; /* which files, objects, functions were named */
    bool lines;        /* positions have lines */
};

enum { FILES, OBJECTS, FUNCTIONS };

static const char unknown[] = "???";
static const char *const miss_names[] = {"I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw"};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;

    s->c = *c;
    return export_totals_init(&s->t, &((const struct options *)opt)->misses, c);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_totals_feed(&((struct state *)st)->t, b, from, to);
}

/* ---- names */

/* The number of the source file NAME, 0: no memory. */
static uint32_t file_number(struct state *s, const char *name)
{
    size_t i = 0;

    while (i < s->n_files && s->file[i] != name && strcmp(s->file[i], name) != 0)
        i++;
    if (i == s->n_files) {
        if (!trod_grow(&s->file, i, &s->cap_files, sizeof *s->file, 16))
            return 0;
        s->file[s->n_files++] = name;
    }
    return (uint32_t)i + 1;
}

static uint32_t object_number(const struct state *s, uint64_t address)
{
    const char *path;
    uint64_t from, to;

    for (uint32_t i = 0; s->c.symbols && trod_symbols_module(s->c.symbols, i, &path, &from, &to);
         i++)
        if (address >= from && address < to)
            return i + 2;
    return 1;
}

static int find_homes(struct state *s)
{
    const struct export_names *names = &s->t.lanes.names;
    const size_t n = export_functions(names);
    const char *file;
    uint64_t from, to;
    uint32_t line, objects = 1;

    s->home = calloc(n + 1, sizeof *s->home);
    if (!s->home || file_number(s, unknown) == 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t address = export_function_address(names, i);

        s->home[i] = (struct home){1, object_number(s, address)};
        if (!s->c.symbols || !trod_symbols_line(s->c.symbols, address, &file, &line))
            continue;
        s->lines = true;
        if ((s->home[i].file = file_number(s, file)) == 0)
            return TROD_ERR_NOMEM;
    }
    while (s->c.symbols && trod_symbols_module(s->c.symbols, objects - 1, &file, &from, &to))
        objects++;
    s->named[FILES] = calloc(s->n_files + 1, 1);
    s->named[OBJECTS] = calloc((size_t)objects + 1, 1);
    s->named[FUNCTIONS] = calloc(n + 2, 1);
    return s->named[FILES] && s->named[OBJECTS] && s->named[FUNCTIONS] ? 0 : TROD_ERR_NOMEM;
}

/* KEY=(NUMBER), with NAME behind it the first time. */
static void put_name(struct state *s, struct export_text *t, const char *key, unsigned what,
                     uint32_t number, const char *name)
{
    export_print(t, "%s=(%u)", key, (unsigned)number);
    if (!s->named[what][number]) {
        export_put(t, " ");
        export_clean(t, name, "", '_');
        s->named[what][number] = 1;
    }
    export_put(t, "\n");
}

static void put_file(struct state *s, struct export_text *t, const char *key, uint32_t number)
{
    put_name(s, t, key, FILES, number, s->file[number - 1]);
}

static void put_object(struct state *s, struct export_text *t, const char *key, uint32_t number)
{
    const char *path = unknown;
    uint64_t from, to;

    if (number > 1)
        trod_symbols_module(s->c.symbols, number - 2, &path, &from, &to);
    put_name(s, t, key, OBJECTS, number, path);
}

static void put_function(struct state *s, struct export_text *t, const char *key, uint32_t function)
{
    put_name(s, t, key, FUNCTIONS, function + 1, export_function_name(&s->t.lanes.names, function));
}

/* ---- costs */

/* The position PC, behind a line of the position AT (TROD_NOWHERE: of none). */
static void put_position(const struct state *s, struct export_text *t, uint64_t pc, uint64_t at)
{
    const char *file;
    uint32_t line = 0;

    if (pc == at)
        export_put(t, "*");
    else if (at != TROD_NOWHERE && pc > at)
        export_print(t, "+%llu", (unsigned long long)(pc - at));
    else
        export_hex(t, pc);
    if (s->lines) {
        trod_symbols_line(s->c.symbols, pc, &file, &line);
        export_print(t, " %u", (unsigned)line);
    }
}

/* Zeros at the end are left out. */
static void put_costs(struct export_text *t, const uint64_t *costs)
{
    unsigned n = EXPORT_COSTS;

    while (n > 0 && costs[n - 1] == 0)
        n--;
    for (unsigned k = 0; k < n || k == 0; k++) {
        export_put(t, " ");
        export_number(t, costs[k]);
    }
    export_put(t, "\n");
}

/* Returns the position that what follows may be relative to. */
static uint64_t put_call(struct state *s, struct export_text *t, const struct export_edge *e,
                         uint64_t at)
{
    const struct home *from = &s->home[e->from], *to = &s->home[e->to];
    const uint64_t callee = export_function_address(&s->t.lanes.names, e->to);
    const char *file;
    uint32_t line = 0;

    if (to->object != from->object)
        put_object(s, t, "cob", to->object);
    if (to->file != from->file)
        put_file(s, t, "cfi", to->file);
    put_function(s, t, "cfn", e->to);
    export_print(t, "calls=%llu 0x%llx", (unsigned long long)e->calls, (unsigned long long)callee);
    if (s->lines) {
        trod_symbols_line(s->c.symbols, callee, &file, &line);
        export_print(t, " %u", (unsigned)line);
    }
    export_put(t, "\n");
    put_position(s, t, e->site, e->site == at ? at : TROD_NOWHERE);
    put_costs(t, e->inclusive);
    return e->site == at ? at : TROD_NOWHERE;
}

/* The places from P and the edges from E on that are of function FUNCTION. */
static void put_body(struct state *s, struct export_text *t, uint32_t function, size_t *p,
                     size_t *e)
{
    const struct export_totals *all = &s->t;
    uint64_t at = TROD_NOWHERE;

    while (true) {
        const struct export_place *place = *p < all->n_places ? &all->place[*p] : NULL;
        const struct export_edge *edge = *e < all->n_edges ? &all->edge[*e] : NULL;

        if (place && place->function != function)
            place = NULL;
        if (edge && edge->from != function)
            edge = NULL;
        if (!place && !edge)
            return;
        if (place && (!edge || place->pc <= edge->site)) {
            put_position(s, t, place->pc, at);
            put_costs(t, place->self);
            at = place->pc;
            ++*p;
        } else {
            at = put_call(s, t, edge, at);
            ++*e;
        }
    }
}

static void put_totals(const struct state *s, struct export_text *t, const char *key,
                       const uint64_t *total)
{
    const unsigned n = s->t.misses ? EXPORT_COSTS : EXPORT_ROW_COSTS;

    export_put(t, key);
    for (unsigned k = 0; k < n; k++) {
        export_put(t, " ");
        export_number(t, total[k]);
    }
    export_put(t, "\n");
}

static void put_head(const struct state *s, struct export_text *t, const uint64_t *total)
{
    export_put(t, "# callgrind format\nversion: 1\ncreator: trod\ncmd: ");
    export_clean(t, s->c.source, "", '_');
    export_print(t, "\npositions: instr%s\nevents: Ir Dr Dw%s\n", s->lines ? " line" : "",
                 s->t.misses ? " I1mr D1mr D1mw ILmr DLmr DLmw" : "");
    put_totals(s, t, "summary:", total);
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct export_text t = {.out = s->c.out};
    uint64_t total[EXPORT_COSTS] = {0}, calls = 0;
    size_t p = 0, e = 0;
    int r = export_totals_end(&s->t);

    (void)meta;
    if (r == 0)
        r = find_homes(s);
    if (r != 0)
        return r;
    for (size_t i = 0; i < s->t.n_places; i++)
        for (unsigned k = 0; k < EXPORT_COSTS; k++)
            total[k] += s->t.place[i].self[k];
    for (size_t i = 0; i < s->t.n_edges; i++)
        calls += s->t.edge[i].calls;
    put_head(s, &t, total);
    for (uint32_t i = 0; i < export_functions(&s->t.lanes.names); i++) {
        export_put(&t, "\n");
        put_object(s, &t, "ob", s->home[i].object);
        put_file(s, &t, "fl", s->home[i].file);
        put_function(s, &t, "fn", i);
        put_body(s, &t, i, &p, &e);
    }
    export_put(&t, "\n");
    put_totals(s, &t, "totals:", total);
    trod_result_u64(result, "functions", export_functions(&s->t.lanes.names));
    trod_result_u64(result, "calls", calls);
    trod_result_u64(result, "instructions", total[EXPORT_INSTRUCTIONS]);
    trod_result_u64(result, "reads", total[EXPORT_READS]);
    trod_result_u64(result, "writes", total[EXPORT_WRITES]);
    for (unsigned k = 0; s->t.misses && k < EXPORT_COSTS - EXPORT_ROW_COSTS; k++)
        trod_result_u64(result, miss_names[k], total[EXPORT_ROW_COSTS + k]);
    return t.status;
}

static void fini(void *st)
{
    struct state *s = st;

    export_totals_fini(&s->t);
    free(s->file);
    free(s->home);
    for (unsigned i = 0; i < 3; i++)
        free(s->named[i]);
}

static const char *const suffixes[] = {".callgrind", NULL};

const struct trod_export trod_view_callgrind = {
    .name = "callgrind",
    .title = "Callgrind: what each instruction and each call cost",
    .opens = "KCachegrind, QCachegrind, callgrind_annotate, speedscope",
    .leaves_out = "time and order, threads (all are added up), addresses and values of accesses",
    .suffixes = suffixes,
    .form = TROD_EXPORT_TEXT,
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_CALLSTACK_COLUMNS | TROD_COL_PC,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
