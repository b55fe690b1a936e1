/*
 * cmd_merge.c - `trod merge`: the parts of a run, put together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "plan.h"

struct options {
    struct cli_analyse analyse; /* filled in from the states */
    struct trod_list plugins;
};

static const struct trod_option options[] = {
    {"plugin", 0, TROD_OPT_LIST, offsetof(struct options, plugins), "FILE.so,...",
     "load analyses from these shared objects", NULL, NULL},
    CLI_SHARED(analyse.report, "Output", cli_report_options),
    CLI_SHARED(analyse.common, "General", cli_common_options),
    {.type = TROD_OPT_END},
};

struct part {
    char *bytes;
    const char *path;
    struct cli_plan_head head;
    struct trod_span state;
};

static int read_part(struct part *p, const char *path, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    FILE *f = fopen(path, "rb");
    struct trod_buf b = {0};
    char block[65536];
    size_t n, head;
    int r = 0;

    if (!f)
        return trod_error(diag, TROD_ERR_IO, "merge.open", &at, "cannot open '%s': %s", path,
                          strerror(errno));
    while (r == 0 && (n = fread(block, 1, sizeof block, f)) > 0)
        r = trod_buf_add(&b, block, n);
    if (ferror(f))
        r = trod_error(diag, TROD_ERR_IO, "merge.read", &at, "cannot read '%s': %s", path,
                       strerror(errno));
    fclose(f);
    p->bytes = (char *)b.p;
    p->path = path;
    if (r < 0)
        return r;
    if (!cli_plan_is(b.p, b.n))
        return trod_error(diag, TROD_ERR_CORRUPT, "merge.state", &at,
                          "'%s' is no state that trod run --save wrote", path);
    if (!cli_plan_whole(b.p, b.n))
        return trod_error(diag, TROD_ERR_CORRUPT, "merge.damaged", &at,
                          "state '%s' is damaged: its sum is another; run this part again", path);
    r = cli_plan_read(&p->head, p->bytes, b.n -= CLI_PLAN_SUM_BYTES, &head);
    if (r == TROD_ERR_CORRUPT)
        return trod_error(diag, r, "merge.head", &at,
                          "what run state '%s' is of cannot be read: another version of trod has "
                          "written it; run this part again",
                          path);
    if (r < 0)
        return r;
    p->state = (struct trod_span){.p = b.p + head, .n = b.n - head};
    return 0;
}

static int by_part(const void *a, const void *b)
{
    const struct part *p = a, *q = b;

    return p->head.part < q->head.part ? -1 : p->head.part > q->head.part;
}

static bool same_texts(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    for (size_t i = 0; n_a == n_b && i < n_a; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return n_a == n_b;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0 && !a == !b;
}

/* What makes A and B parts of different runs; NULL: they are of one. */
static const char *differ(const struct cli_plan_head *a, const struct cli_plan_head *b)
{
    return strcmp(a->spec, b->spec) != 0              ? "analyses or their options"
           : a->parts != b->parts                     ? "numbers of parts"
           : a->by != b->by                           ? "options --by"
           : a->strict != b->strict                   ? "options --strict"
           : !same_text(a->from, b->from)             ? "options --from"
           : !same_text(a->modules, b->modules)       ? "options --modules"
           : !same_text(a->module_dir, b->module_dir) ? "options --module-dir"
           : !same_texts(a->symbols.item, a->symbols.n, b->symbols.item, b->symbols.n)
               ? "options --symbols"
           : !same_texts(a->path, a->n_paths, b->path, b->n_paths) ? "files"
                                                                   : NULL;
}

/* Are all parts there, once each, of one run? */
static int check_parts(const struct part *part, size_t n, struct trod_diag *diag)
{
    for (size_t i = 0; i < n; i++) {
        const char *what = differ(&part[i].head, &part[0].head);

        if (what)
            return trod_error(diag, TROD_ERR_USAGE, "merge.runs", NULL,
                              "'%s' and '%s' are parts of different runs: their %s differ",
                              part[0].path, part[i].path, what);
        if (i && part[i].head.part == part[i - 1].head.part)
            return trod_error(diag, TROD_ERR_USAGE, "merge.twice", NULL,
                              "part %u/%u is given twice: '%s' and '%s'", part[i].head.part,
                              part[i].head.parts, part[i - 1].path, part[i].path);
        if (part[i].head.part != i)
            return trod_error(diag, TROD_ERR_USAGE, "merge.missing", NULL, "part %zu/%u is missing",
                              i, part[i].head.parts);
    }
    if (n != part[0].head.parts)
        return trod_error(diag, TROD_ERR_USAGE, "merge.missing", NULL, "part %zu/%u is missing", n,
                          part[0].head.parts);
    return 0;
}

/*
 * How many of the N parts are merged: those up to the first one that ended with a problem
 * (--strict), as one process would have. Says which of them met problems.
 */
static size_t count_parts(struct cli *c, const struct part *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct cli_plan_head *head = &part[i].head;
        const struct trod_place at = trod_place_path(part[i].path);

        if (head->damaged)
            trod_error(&c->diag, TROD_ERR_CORRUPT, "merge.problems", &at,
                       "part %u/%u met problems, which were reported when it was read%s",
                       head->part, head->parts,
                       head->ended ? ": the parts after it are left out (--strict)" : "");
        if (head->ended)
            return i + 1;
    }
    return n;
}

static int merge(struct cli *c, struct options *o, struct part *part, size_t n)
{
    struct trod_span *saved = calloc(n, sizeof *saved);
    struct cli_plan plan = {0};
    struct cli_parts parts = {.saved = saved, .n_saved = n};
    int r = saved ? cli_plan_parse(&plan, part[0].head.spec, &c->diag) : TROD_ERR_NOMEM;

    if (r == 0) {
        for (size_t i = 0; i < n; i++)
            saved[i] = part[i].state;
        o->analyse.input.from = part[0].head.from;
        o->analyse.span.by = part[0].head.by;
        o->analyse.input.modules = part[0].head.modules;
        o->analyse.input.module_dir = part[0].head.module_dir;
        o->analyse.filter.symbols = part[0].head.symbols;
        c->operands = part[0].head.path;
        c->n_operands = part[0].head.n_paths;
        cli_plan_for(&plan, o->analyse.report.format);
        r = cli_analyse(c, &o->analyse, plan.item, plan.n, &parts);
    }
    cli_plan_fini(&plan);
    free(saved);
    return r < 0 ? CLI_TROUBLE : r;
}

static int run(struct cli *c, const void *opt)
{
    struct options o = *(const struct options *)opt;
    size_t n = c->n_operands;
    struct part *part = calloc(n, sizeof *part);
    int r = part ? 0 : TROD_ERR_NOMEM;

    for (size_t i = 0; r == 0 && i < o.plugins.n; i++)
        r = trod_analysis_plugin(o.plugins.item[i], &c->diag);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = read_part(&part[i], c->operands[i], &c->diag);
    if (r == 0) {
        qsort(part, n, sizeof *part, by_part);
        r = check_parts(part, n, &c->diag);
    }
    r = r == 0 ? merge(c, &o, part, count_parts(c, part, n)) : CLI_TROUBLE;
    for (size_t i = 0; part && i < n; i++) {
        cli_plan_head_free(&part[i].head);
        free(part[i].bytes);
    }
    free(part);
    return r;
}

const struct cli_command cli_command_merge = {
    .name = "merge",
    .title = "put the parts of a run on several machines together",
    .operands = "STATE...",
    .about = "Print the results of a run that was shared out with trod run --part I/N --save "
             "STATE, as one process would have printed them. All parts must be given, in any "
             "order; the trace must still be where it was. There is no --where: what "
             "chooses rows cannot be parted, and one state of the whole trace has the rows that "
             "were chosen when it was read.",
    .examples = "  trod run count --part 0/2 --save 0.state dir\n"
                "  trod run count --part 1/2 --save 1.state dir\n"
                "  trod merge 0.state 1.state\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod merge' is the work of one process",
};
