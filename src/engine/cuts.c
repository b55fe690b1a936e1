/*
 * cuts.c - regions, warm-ups and intervals: where the rows of a run are cut.
 *
 * Instructions are counted from 1 as the program executes them (those put in by the tracer are
 * not), rows from 0, times as the trace gives them. An interval of time ends with the first row
 * that says a time behind it.
 */
#include "engine/run_int.h"

void engine_cutter_init(struct engine_cutter *c, const struct trod_run *r)
{
    const struct trod_run_options *opt = &r->opt;

    *c = (struct engine_cutter){
        .opt = opt, .time0 = TROD_NOWHERE, .warm = opt->warmup != 0, .inside = true};
    c->inside_trace = r->begun && !opt->filter;
    c->now.time = TROD_NOWHERE;
    c->end = c->now;
    c->plain = !opt->interval && !opt->warmup && !opt->region_from && !opt->region_to;
}

static uint64_t measure(const struct engine_cutter *c, enum trod_measure in)
{
    if (in == TROD_IN_INSTRUCTIONS)
        return c->now.instructions;
    if (in == TROD_IN_ROWS)
        return c->now.rows;
    return c->now.time == TROD_NOWHERE ? 0 : c->now.time;
}

static void count_row(struct engine_cutter *c, const struct trod_batch *b, uint32_t i)
{
    uint32_t said = b->have & b->has[i];

    c->now.rows++;
    c->now.instructions +=
        b->kind[i] == TROD_INSTR && !((said & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_SYNTHETIC));
    if (said & TROD_COL_TIME)
        c->now.time = b->time[i];
    if (c->time0 == TROD_NOWHERE && c->now.time != TROD_NOWHERE)
        c->time0 = c->now.time;
}

/* The first row that is fed was counted: warm-up and intervals begin before it, at BEFORE. */
static void begin(struct engine_cutter *c, const struct trod_boundary *before)
{
    const struct trod_boundary now = c->now;

    c->begun = true;
    c->time0 = now.time;
    c->now = *before;
    if ((c->warm ? c->opt->warmup_in : c->opt->interval_in) != TROD_IN_TIME)
        c->origin = measure(c, c->warm ? c->opt->warmup_in : c->opt->interval_in);
    c->now = now;
}

/* Is the row counted last inside the region? */
static bool in_region(struct engine_cutter *c)
{
    const struct trod_run_options *o = c->opt;
    uint64_t at = measure(c, o->region_in) - (o->region_in == TROD_IN_ROWS);

    if (!o->region_from && !o->region_to)
        return true;
    c->over = at > o->region_to;
    return at >= o->region_from && at <= o->region_to;
}

/* Does something end behind the row counted last? Sets AT. */
static bool ends(struct engine_cutter *c, struct trod_boundary *at)
{
    const struct trod_run_options *o = c->opt;
    enum trod_measure in = c->warm ? o->warmup_in : o->interval_in;
    uint64_t length = c->warm ? o->warmup : o->interval, now = measure(c, in);

    if (length == 0)
        return false;
    if (c->origin == 0 && in == TROD_IN_TIME)
        c->origin = c->time0 == TROD_NOWHERE ? 0 : c->time0;
    if (now < c->origin || now - c->origin < length)
        return false;
    *at = c->now;
    at->type = c->warm ? TROD_BOUNDARY_WARM : TROD_BOUNDARY_INTERVAL;
    c->now.number += !c->warm;
    c->warm = false;
    c->origin = measure(c, o->interval_in);
    return true;
}

/* Are there intervals of instructions, and nothing else that a row could begin or end? */
static bool steady(const struct engine_cutter *c)
{
    const struct trod_run_options *o = c->opt;

    return o->interval && o->interval_in == TROD_IN_INSTRUCTIONS && !c->warm && !o->region_from &&
           !o->region_to;
}

/* Rows of B from FROM on as far as the interval goes, counted at once. Returns where that is. */
static uint32_t count_interval(struct engine_cutter *c, const struct trod_batch *b, uint32_t from)
{
    const bool times = b->have & TROD_COL_TIME, flags = b->have & TROD_COL_FLAGS;
    const uint64_t done = c->now.instructions - c->origin;
    uint64_t left = done < c->opt->interval ? c->opt->interval - done : 1;
    uint32_t i = from;

    while (i < b->n && left) {
        if (b->kind[i] == TROD_INSTR &&
            !(flags && b->has[i] & TROD_COL_FLAGS && b->flags[i] & TROD_F_SYNTHETIC)) {
            left--;
            c->now.instructions++;
        }
        if (times && b->has[i] & TROD_COL_TIME) {
            c->now.time = b->time[i];
            c->time0 = c->time0 == TROD_NOWHERE ? c->now.time : c->time0;
        }
        i++;
    }
    c->now.rows += i - from;
    return i;
}

uint32_t engine_cutter_next(struct engine_cutter *c, const struct trod_batch *b, uint32_t *at,
                            struct engine_cut cut[ENGINE_CUTS])
{
    struct trod_boundary before;
    uint32_t n = 0, i = *at;

    if (c->inside_trace)
        c->now.rows = b->first;
    c->inside_trace = false;
    before = c->now;
    if (c->plain) {
        cut[0] = (struct engine_cut){.from = i, .to = b->n, .fed = true};
        c->now.rows += b->n - i;
        c->end = c->now;
        *at = b->n;
        return 1;
    }
    while (i < b->n && n < ENGINE_CUTS) {
        struct engine_cut k = {.from = i, .warm = c->warm};

        if (steady(c)) {
            k.fed = c->inside = true;
            k.to = i = count_interval(c, b, i);
            k.ends = ends(c, &k.at);
            c->end = c->now;
            cut[n++] = k;
            continue;
        }
        if (!c->begun)
            before = c->now;
        count_row(c, b, i);
        k.fed = c->inside = in_region(c);
        k.before = !k.fed && !c->over;
        if (k.fed && !c->begun)
            begin(c, &before);
        if (k.fed) {
            k.ends = ends(c, &k.at);
            c->end = c->now;
        }
        k.to = ++i;
        /* rows that are treated like the one before go with it */
        if (n && !cut[n - 1].ends && cut[n - 1].fed == k.fed && cut[n - 1].before == k.before &&
            cut[n - 1].warm == k.warm) {
            cut[n - 1].to = k.to;
            cut[n - 1].ends = k.ends;
            cut[n - 1].at = k.at;
        } else {
            cut[n++] = k;
        }
    }
    *at = i;
    return n;
}
