/*
 * indexed.c - analyses that count calls get them from the index of the trace, if there is one.
 *
 * Implements cli_indexed of analyse.h (docs/navigating.md, "The index"). Whether they may is for
 * the run to say (trod_run_calls): only then an index is looked for.
 */
#include <string.h>

#include "analyse.h"
#include "navigating.h"

#define AT(field) offsetof(struct cli_index, field)

const struct trod_option cli_index_options[] = {
    {"index", 0, TROD_OPT_STR, AT(dir), "DIR",
     "folder of the index that trod index made (default: that of the trace, then the user's "
     "cache)",
     NULL, NULL},
    {"no-index", 0, TROD_OPT_BOOL, AT(none), NULL, "do not use an index", NULL, NULL},
    {.type = TROD_OPT_END},
};

struct indexed {
    const struct cli *c;
    const struct cli_analyse *o;
    struct trod_diag *told, diag;
    struct trod_nav *nav; /* opened when it is asked for */
};

/* What is wrong with the index. The rest is told by who reads the trace. */
static void problem(void *user, const struct trod_problem *p)
{
    struct indexed *x = user;

    if (p->kind && strncmp(p->kind, "index.", 6) == 0)
        trod_diag_report(x->told, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

static const struct trod_meta *meta(void *ctx)
{
    struct indexed *x = ctx;
    const struct trod_trace_options topt = cli_trace_options(&x->o->input, TROD_COL_ALL);
    const struct trod_nav_options opt = {.struct_size = sizeof opt,
                                         .trace = &topt,
                                         .index_dir = x->o->index.dir,
                                         .index_only = true};

    if (!x->nav &&
        trod_nav_open(&x->nav, x->c->operands, x->c->n_operands, &opt, &x->diag) != TROD_OK)
        return NULL;
    return trod_nav_meta(x->nav);
}

static int tell(void *ctx, const struct trod_callstack_sink *sink,
                struct trod_callstack_counts *counts)
{
    const struct indexed *x = ctx;

    return trod_nav_callstack(x->nav, sink, counts);
}

int cli_indexed(struct trod_run *r, const struct cli *c, const struct cli_analyse *o,
                struct trod_diag *diag)
{
    struct indexed x = {.c = c, .o = o, .told = diag};
    const struct trod_callstack_source source = {.meta = meta, .tell = tell, .ctx = &x};
    int rc;

    if (o->index.none || o->input.strict)
        return 0;
    for (size_t i = 0; i < c->n_operands; i++)
        if (cli_once_only(c->operands[i]))
            return 0;
    trod_diag_init(&x.diag, problem, &x);
    rc = trod_run_calls(r, &source);
    trod_nav_close(x.nav);
    return rc == TROD_OK;
}
