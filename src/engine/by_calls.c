/*
 * by_calls.c - a run that reads no rows: its analyses count calls, which were followed before.
 * Implements trod_run_calls of trod/run.h.
 */
#include "engine/run_int.h"

#include "trod/callstack.h"

/* Do options and analyses of R ask for nothing but calls? */
static bool possible(const struct trod_run *r)
{
    const struct trod_run_options *o = &r->opt;
    const struct trod_format *f = trod_trace_format(r->whole);

    if (o->filter || o->interval || o->region_from || o->region_to || o->warmup || o->by ||
        o->parts > 1 || o->trace.order != TROD_ORDER_FILE || o->trace.skip_rows ||
        o->trace.skip_instructions || r->begun)
        return false;
    /* only rows show whether anything of a file without an address ever ran */
    if (!trod_symbols_placed(o->symbols))
        return false;
    for (size_t i = 0; i < r->n_items; i++) {
        const struct engine_item *it = &r->item[i];

        if (!it->analysis->by_calls || it->scope != TROD_PER_RUN ||
            !it->analysis->by_calls(it->opt, f))
            return false;
    }
    return r->n_items > 0;
}

int trod_run_calls_named(struct trod_run *r, const struct trod_callstack_source *source)
{
    const struct trod_boundary end = {.type = TROD_BOUNDARY_END};
    int rc;

    if (r->gone)
        return TROD_ERR_USAGE;
    if (!possible(r))
        return TROD_ERR_UNSUPPORTED;
    rc = run_begin_items(r, true);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++) {
        struct engine_instance *in = &r->item[i].instance[0];

        in->rc = r->item[i].analysis->calls(in->st, source);
        engine_instance_close(in, &end, trod_trace_files(r->whole));
        rc = in->rc;
    }
    if (rc < 0) {
        run_forget(r);
        return rc;
    }
    r->gone = true;
    trod_keeper_tell(&r->opening, r->diag);
    for (size_t i = 0; i < r->n_items; i++)
        trod_keeper_end(&r->item[i].instance[0].keeper, r->diag);
    return TROD_OK;
}

int trod_run_calls(struct trod_run *r, const struct trod_callstack_source *source)
{
    return r->opt.symbols && !r->gone ? TROD_ERR_UNSUPPORTED : trod_run_calls_named(r, source);
}
