/*
 * asked.c - what a run is asked for that its trace, or one of its analyses, does not have.
 *
 * Implements trod/run.h: what trod_run_open and trod_run_add refuse.
 */
#include "engine/run_int.h"

#include <stdio.h>
#include <string.h>

int run_check_times(const struct trod_run *r)
{
    const struct trod_run_options *o = &r->opt;
    const struct trod_format *f = trod_trace_format(r->whole);

    if (!f || f->reads & TROD_COL_TIME ||
        !((o->interval && o->interval_in == TROD_IN_TIME) ||
          (o->warmup && o->warmup_in == TROD_IN_TIME) ||
          ((o->region_from || o->region_to) && o->region_in == TROD_IN_TIME)))
        return TROD_OK;
    return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.time", NULL,
                      "format '%s' has no times that an interval, region or warm-up could be "
                      "measured in",
                      f->name);
}

/* What to write where A has an option KEY of its own, for ARG: into TEXT, of N bytes, else "". */
static void own_option(const struct trod_analysis *a, const char *key, const char *arg, char *text,
                       size_t n)
{
    struct trod_option_ref ref;

    text[0] = '\0';
    if (a->options && trod_option_find(a->options, key, strlen(key), &ref))
        snprintf(text, n, "it has an option of its own, '%s:%s=%s'", a->name, key, arg);
}

/* Whose results A does not have. 0 or TROD_ERR_USAGE, reported. */
static int check_by(const struct trod_run *r, const struct trod_analysis *a, enum trod_scope scope)
{
    static const char *const names[] = {"all", "thread", "core", "module", "function", "line"};
    const enum trod_by by = r->opt.by;
    const char *why = by >= TROD_BY_MODULE ? "it counts nothing by instruction"
                      : a->merge           ? "it follows each thread by itself"
                                           : "it follows all threads together";
    char own[128];

    if (by == TROD_BY_ALL ||
        (by == TROD_BY_THREAD && (a->merge || a->apart || scope == TROD_PER_STREAM)) ||
        (by == TROD_BY_CORE && (a->merge || a->apart) && scope == TROD_PER_RUN) ||
        (by >= TROD_BY_MODULE && a->owners))
        return TROD_OK;
    /* analyses that group by source lines themselves call that "source" */
    own_option(a, "by", by == TROD_BY_LINE ? "source" : names[by], own, sizeof own);
    if (!own[0] && by >= TROD_BY_MODULE)
        own_option(a, "per", by == TROD_BY_LINE ? "source" : names[by], own, sizeof own);
    return trod_error(r->diag, TROD_ERR_USAGE, "run.by", NULL,
                      "analysis '%s' has no results by %s: %s", a->name, names[by],
                      own[0] ? own : why);
}

/* Does A have nothing to tell of intervals? 0 or TROD_ERR_USAGE, reported. */
static int check_intervals(const struct trod_run *r, const struct trod_analysis *a)
{
    char own[128];

    own_option(a, "interval", "N", own, sizeof own);
    if (!r->opt.interval || ((a->merge || a->boundary) && !own[0]))
        return TROD_OK;
    return trod_error(r->diag, TROD_ERR_USAGE, "run.interval", NULL,
                      "analysis '%s' has no intervals of a run: %s", a->name,
                      own[0] ? own : "it follows the trace as a whole");
}

int run_check_item(const struct trod_run *r, const struct engine_item *it)
{
    const int rc = check_by(r, it->analysis, it->scope);

    return rc < 0 ? rc : check_intervals(r, it->analysis);
}
