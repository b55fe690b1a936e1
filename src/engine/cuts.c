/*
 * cuts.c - regions, warm-ups and intervals: where the rows of a run are cut.
 *
 * Instructions are counted from 1 as the program executes them (those put in by the tracer are
 * not), rows from 0, times as the trace gives them. What stands after an instruction up to the
 * next one is its own: a warm-up or an interval of N instructions ends before the instruction that
 * is one too many, or before an access that says the address of another one, which then comes
 * after its accesses. One of time ends before the first row that says a time after it, but not
 * between an instruction and its accesses. One of rows ends after so many.
 */
#include "engine/run_int.h"

#include "core/origin.h"
#include "trace/mark.h"

void engine_cutter_begun(struct trod_run *r)
{
    r->begun = r->opt.trace.begin != NULL;
    r->begun_after = r->begun ? r->opt.trace.begin->instructions : 0;
    r->given = r->begun ? r->opt.trace.begin->calls : NULL;
    /* of rows that are chosen the calls are others, and so they are with other symbols */
    if (r->given && (r->opt.filter || r->opt.trace.begin->symbols != r->opt.symbols))
        r->given = NULL;
}

void engine_cutter_init(struct engine_cutter *c, const struct trod_run *r)
{
    const struct trod_run_options *opt = &r->opt;

    *c = (struct engine_cutter){
        .opt = opt, .time0 = TROD_NOWHERE, .warm = opt->warmup != 0, .inside = true};
    c->inside_trace = r->begun && !opt->filter;
    c->now.time = TROD_NOWHERE;
    c->now.type = c->warm ? TROD_BOUNDARY_WARM : TROD_BOUNDARY_END;
    c->end = c->now; /* where nothing is fed */
    c->now.instructions = c->inside_trace ? r->begun_after : 0;
    c->gaps = opt->trace.idle;
    c->plain = !opt->interval && !opt->warmup && !opt->region_from && !opt->region_to;
}

uint32_t engine_cutter_columns(const struct trod_run_options *o, const struct trod_format *f)
{
    const uint32_t time = o->interval ? TROD_COL_TIME : 0; /* an interval says when it ended */

    if ((!o->interval || o->interval_in == TROD_IN_ROWS) &&
        (!o->warmup || o->warmup_in == TROD_IN_ROWS) &&
        ((!o->region_from && !o->region_to) || o->region_in != TROD_IN_INSTRUCTIONS))
        return time;
    return time | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_STREAM |
           (f && f->flags & TROD_FMT_FOLLOWS ? 0u : (uint32_t)TROD_COL_PC);
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
    c->now.instructions += trod_owned_executed(b, i);
    if (b->kind[i] == TROD_INSTR)
        trod_owned_note(&c->last, b, i);
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

/* Is row I, which was counted last, inside the region? */
static bool in_region(struct engine_cutter *c, const struct trod_batch *b, uint32_t i)
{
    const struct trod_run_options *o = c->opt;
    uint64_t at = measure(c, o->region_in) - (o->region_in == TROD_IN_ROWS);

    if (!o->region_from && !o->region_to)
        return true;
    if (o->region_in == TROD_IN_INSTRUCTIONS &&
        trod_owned_before(&c->last, b, i, c->now.instructions == 0))
        at++;
    c->over = at > o->region_to;
    return at >= o->region_from && at <= o->region_to;
}

/* Does the warm-up, or the interval, end before row I, which is the next to be counted? */
static bool ends(struct engine_cutter *c, const struct trod_batch *b, uint32_t i)
{
    const struct trod_run_options *o = c->opt;
    const enum trod_measure in = c->warm ? o->warmup_in : o->interval_in;
    const uint64_t length = c->warm ? o->warmup : o->interval;

    if (length == 0 || !c->begun)
        return false;
    if (in == TROD_IN_TIME) {
        if (c->origin == 0)
            c->origin = c->time0 == TROD_NOWHERE ? 0 : c->time0;
        c->due = c->due || (c->time0 != TROD_NOWHERE && b->have & b->has[i] & TROD_COL_TIME &&
                            b->time[i] >= c->origin && b->time[i] - c->origin >= length);
        return c->due && !trod_owned(&c->last, b, i);
    }
    if (measure(c, in) - c->origin < length)
        return false;
    return in == TROD_IN_ROWS || trod_owned_next(&c->last, b, i);
}

/* End the current interval, warm-up or region at BEFORE, the boundary before row I, the row counted
 * last: mark the last of the *N cuts in CUT, or add an empty one. */
static void end(struct engine_cutter *c, const struct trod_boundary *before, uint32_t i,
                struct engine_cut *cut, uint32_t *n)
{
    const struct trod_boundary now = c->now;
    struct engine_cut *k;

    if (*n == 0 || cut[*n - 1].ends || cut[*n - 1].gap)
        cut[(*n)++] = (struct engine_cut){.from = i, .to = i, .fed = true, .warm = c->warm};
    k = &cut[*n - 1];
    k->ends = true;
    k->at = *before;
    k->at.type = c->warm ? TROD_BOUNDARY_WARM : TROD_BOUNDARY_INTERVAL;
    if (c->opt->interval_in != TROD_IN_TIME)
        c->now = *before;
    c->origin = measure(c, c->opt->interval_in);
    c->now = now;
    c->now.number += !c->warm;
    c->now.type = TROD_BOUNDARY_END;
    c->warm = c->due = false;
}

/* Are there intervals of instructions, and nothing else that a row could begin or end? */
static bool steady(const struct engine_cutter *c)
{
    const struct trod_run_options *o = c->opt;

    return o->interval && o->interval_in == TROD_IN_INSTRUCTIONS && !c->warm && !o->region_from &&
           !o->region_to;
}

/* The instructions among rows [FROM, TO). */
static uint32_t executed_rows(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += trod_owned_executed(b, i);
    return n;
}

/* What rows [FROM, TO) say of the time. */
static void note_times(struct engine_cutter *c, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
    uint32_t last = to;

    if (!(b->have & TROD_COL_TIME))
        return;
    for (uint32_t i = from; i < to && c->time0 == TROD_NOWHERE; i++)
        if (b->has[i] & TROD_COL_TIME)
            c->time0 = b->time[i];
    while (last > from && !(b->has[last - 1] & TROD_COL_TIME))
        last--;
    if (last > from)
        c->now.time = b->time[last - 1];
}

/*
 * Rows [FROM, END) of B as far as the interval goes, counted at once. Returns where that is.
 */
static uint32_t count_interval(struct engine_cutter *c, const struct trod_batch *b, uint32_t from,
                               uint32_t end)
{
    const uint64_t done = c->now.instructions - c->origin;
    uint64_t left = done < c->opt->interval ? c->opt->interval - done : 0;
    uint32_t i = from;

    while (i < end) {
        uint32_t to = i + 1, n;

        if (left == 0 && trod_owned_next(&c->last, b, i))
            break;
        if (left) /* before so many rows it does not end */
            to = left < end - i ? i + (uint32_t)left : end;
        n = executed_rows(b, i, to);
        if (n == left)
            for (uint32_t k = to; k-- > i;)
                if (b->kind[k] == TROD_INSTR) {
                    trod_owned_note(&c->last, b, k);
                    break;
                }
        left -= n;
        c->now.instructions += n;
        i = to;
    }
    note_times(c, b, from, i);
    c->now.rows += i - from;
    return i;
}

/* Row I of B: part of the last of the N cuts in CUT, or a new one. */
static void cut_row(struct engine_cutter *c, const struct trod_batch *b, uint32_t i,
                    struct engine_cut *cut, uint32_t *n)
{
    const struct trod_boundary before = c->now;
    const bool over = ends(c, b, i);
    struct engine_cut k = {.from = i, .to = i + 1};

    count_row(c, b, i);
    k.fed = c->inside = in_region(c, b, i);
    k.before = !k.fed && !c->over;
    if (k.fed && !c->begun)
        begin(c, &before);
    else if (k.fed && over)
        end(c, &before, i, cut, n);
    if (k.fed)
        c->end = c->now;
    k.warm = c->warm;
    /* rows that are treated like the one before go with it */
    if (*n && !cut[*n - 1].ends && !cut[*n - 1].gap && cut[*n - 1].fed == k.fed &&
        cut[*n - 1].before == k.before && cut[*n - 1].warm == k.warm)
        cut[*n - 1].to = k.to;
    else
        cut[(*n)++] = k;
}

/* Rows [FROM, TO) of B, none of them made up, into cuts. Returns how far they are cut. */
static uint32_t cut_rows(struct engine_cutter *c, const struct trod_batch *b, uint32_t from,
                         uint32_t to, struct engine_cut *cut, uint32_t *n)
{
    uint32_t i = from;

    if (c->plain) {
        cut[(*n)++] = (struct engine_cut){.from = i, .to = to, .fed = true};
        c->now.rows += to - i;
        c->end = c->now;
        return to;
    }
    while (i < to && *n + 1 < ENGINE_CUTS) { /* a row makes two at most */
        if (steady(c)) {
            const uint32_t at = count_interval(c, b, i, to);

            if (at > i)
                cut[(*n)++] = (struct engine_cut){.from = i, .to = at, .fed = true};
            c->begun = c->inside = true;
            if (at < to) {
                const struct trod_boundary before = c->now;

                end(c, &before, at, cut, n);
            }
            c->end = c->now;
            i = at;
        } else {
            cut_row(c, b, i++, cut, n);
        }
    }
    return i;
}

/*
 * A cut of the rows from FROM on that the order made up: they count nowhere, and are where the row
 * before them is. Returns where they end.
 */
static uint32_t cut_gaps(const struct engine_cutter *c, const struct trod_batch *b, uint32_t from,
                         struct engine_cut *cut, uint32_t *n)
{
    const bool region = c->opt->region_from || c->opt->region_to;
    uint32_t to = from;

    while (to < b->n && trod_gap_row(b, to))
        to++;
    cut[(*n)++] = (struct engine_cut){.from = from,
                                      .to = to,
                                      .fed = !c->over && (!region || (c->begun && c->inside)),
                                      .before = region && !c->begun,
                                      .warm = c->warm,
                                      .gap = true};
    return to;
}

uint32_t engine_cutter_next(struct engine_cutter *c, const struct trod_batch *b, uint32_t *at,
                            struct engine_cut cut[ENGINE_CUTS])
{
    /* orders that make up rows number the others: trod_origin.rows */
    const bool gaps = c->gaps && trod_origin_of(b).rows;
    uint32_t n = 0, i = *at, to = b->n;

    if (c->inside_trace)
        c->now.rows = b->first;
    c->inside_trace = false;
    while (i < b->n && n + 1 < ENGINE_CUTS) {
        if (gaps) {
            if (trod_gap_row(b, i)) {
                i = cut_gaps(c, b, i, cut, &n);
                continue;
            }
            for (to = i + 1; to < b->n && !trod_gap_row(b, to);)
                to++;
        }
        i = cut_rows(c, b, i, to, cut, &n);
    }
    *at = i;
    return n;
}
