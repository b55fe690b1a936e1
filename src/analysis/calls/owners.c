/*
 * owners.c - the system calls that each module, function or line of source makes (calls.h).
 *
 * Implements docs/analysing.md, "Results by thread, core, module, function or line". A call is made
 * by the instruction behind which the trace names it.
 */
#include "trod/owners.h"
#include "analysis/calls/calls.h"

enum { CALLS, INSTRUCTIONS, FAILED, BLOCKING, TIME, COUNTS };

static int add(uint64_t *to, const struct sys_from *from)
{
    if (!to)
        return TROD_ERR_NOMEM;
    to[INSTRUCTIONS] += from->instructions;
    to[CALLS] += from->calls;
    to[FAILED] += from->failed;
    to[BLOCKING] += from->blocking;
    to[TIME] += from->time;
    return TROD_OK;
}

static int gather(const struct sys_state *s, struct trod_owners *o)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < s->n_from; i++) {
        const struct sys_from *f = &s->from[i];

        if (!(f->instructions | f->calls | f->failed | f->blocking | f->time))
            continue;
        rc = add(trod_owners_site(o, i ? (uint32_t)i - 1 : TROD_NO_SITE), f);
    }
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_ran; i++)
        if (s->ran[i] && sys_is_call(s->sites, i))
            rc = add(trod_owners_site(o, i), &(struct sys_from){.instructions = s->ran[i]});
    return rc == TROD_OK ? trod_owners_sort(o, CALLS) : rc;
}

static void put(const struct sys_state *s, const struct trod_owners *o, struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", "that call the system"},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"failed", TROD_COLUMN_MEASURE, "calls", NULL},
        {"blocking", TROD_COLUMN_MEASURE, "calls", "that may block"},
        {"time", TROD_COLUMN_MEASURE, "microseconds", "of the timed ones"},
    };
    const unsigned cells = s->marked ? COUNTS : 1;
    const size_t n = trod_owners_count(o, s->opt->top, r);

    trod_result_table(r, "owners", "system calls by caller", columns, 1 + cells);
    for (size_t i = 0; i < n; i++) {
        static const unsigned order[] = {INSTRUCTIONS, CALLS, FAILED, BLOCKING, TIME};

        trod_owners_put(o, trod_owners_at(o, i), r);
        for (unsigned k = 0; k < cells; k++)
            trod_result_u64(r, NULL, trod_owners_at(o, i)->count[order[k]]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

int sys_put_owners(const struct sys_state *s, struct trod_result *r)
{
    struct trod_owners *o;
    int rc = trod_owners_new(&o, s->by, s->symbols, s->sites, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, o);
    if (rc == TROD_OK)
        put(s, o, r);
    trod_owners_free(o);
    return rc;
}
