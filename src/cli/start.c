/*
 * start.c - where reading begins, by the index of a trace. Implements start.h.
 */
#include "start.h"

#include <stdio.h>
#include <string.h>

#include "trod/format.h"

enum {
    NEAR = 1 << 12,
    FAR = 1 << 18, /* rows before a part: where its time is looked for; */
    LATE = 1 << 16
}; /* rows that are not worth to be passed over */

/* Report problems of the index only: the reader of the trace reports the others. */
static void problem(void *user, const struct trod_problem *p)
{
    struct cli_start *s = user;

    if (p->kind && strncmp(p->kind, "index.", 6) == 0)
        trod_diag_report(s->report_to, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

/* The part of the trace that is asked for. */
struct part {
    struct trod_match_need need;
    struct trod_range numbers; /* of instructions */
};

static bool is_part(const struct part *p)
{
    return (p->need.rows.set && p->need.rows.lo) || p->need.times.set || p->numbers.set;
}

void cli_narrow(struct trod_range *r, const struct trod_range *by)
{
    if (!by->set)
        return;
    if (!r->set || by->lo > r->lo)
        r->lo = by->lo;
    if (!r->set || by->hi < r->hi)
        r->hi = by->hi;
    r->set = true;
}

static struct part part_of(const struct cli_start *s)
{
    struct part p = {{.kinds = UINT32_MAX, .hi = UINT64_MAX}, {0}};

    if (s->match) {
        trod_match_need(s->match, &p.need);
        p.numbers = s->filter->instructions;
    }
    cli_narrow(&p.need.rows, &s->rows);
    cli_narrow(&p.need.times, &s->times);
    return p;
}

static int open_nav(struct cli_start *s, const struct trod_trace_options *options)
{
    struct trod_trace_options topt = *options;
    const struct trod_nav_options opt = {.struct_size = sizeof opt,
                                         .trace = &topt,
                                         .index_dir = s->index->index,
                                         .index_only = true};

    topt.order = TROD_ORDER_FILE;
    for (size_t i = 0; i < s->n; i++)
        if (cli_once_only(s->paths[i]))
            return TROD_ERR_UNSUPPORTED;
    trod_diag_init(&s->diag, problem, s);
    s->diag.strict = s->input->strict;
    s->own = true;
    return trod_nav_open(&s->nav, s->paths, s->n, &opt, &s->diag);
}

/* *ROW is not behind the first row that is at TIMES, and no row behind the last one is. */
static int by_times(const struct cli_start *s, const struct trod_range *times, uint64_t *row)
{
    uint64_t at;
    int r = trod_nav_time(s->nav, times->lo, &at);

    if (r == 0)
        r = trod_nav_count(s->nav, &at) < 0 ? TROD_ERR_IO : 1;
    if (r > 0 && at > *row)
        *row = at;
    if (s->match)
        trod_match_end(s->match, trod_nav_time_end(s->nav, times->hi));
    return r;
}

/* Numbers of instructions rise where there is one stream. */
static bool numbers_rise(const struct trod_nav *nav)
{
    struct trod_index_info info;

    return trod_index_about(nav, &info) && info.files == 1 && info.streams <= 1 &&
           trod_nav_format(nav)->reads & TROD_COL_INDEX;
}

/* The row of the first instruction of number N or more. 1, 0 (there is none) or an error. */
static int number_row(struct trod_nav *nav, uint64_t n, uint64_t *row)
{
    char place[32];

    snprintf(place, sizeof place, "insn:%llu", (unsigned long long)n);
    return trod_nav_place(nav, place, row);
}

/* The number of the last instruction, if it lies near the end. 1, 0 (it does not) or an error. */
static int last_number(struct trod_nav *nav, uint64_t *n)
{
    const struct trod_batch *b;
    uint64_t rows;
    uint32_t i;
    int r = trod_nav_count(nav, &rows);

    for (unsigned back = 0; r >= 0 && rows && back < NEAR; back++) {
        r = trod_nav_row(nav, --rows, &b, &i);
        if (r > 0 && b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_INDEX) {
            *n = b->index[i];
            return 1;
        }
    }
    return r < 0 ? r : 0;
}

int cli_numbers(struct trod_nav *nav, const struct trod_range *numbers, struct trod_range *rows,
                uint64_t *until)
{
    struct trod_range there = {.set = true, .hi = UINT64_MAX};
    uint64_t last;
    int r = numbers_rise(nav) ? last_number(nav, &last) : 0;

    if (r <= 0)
        return r;
    if (numbers->lo > last)
        r = trod_nav_count(nav, &there.lo);
    else if (numbers->lo)
        r = number_row(nav, numbers->lo, &there.lo);
    if (r >= 0 && numbers->hi < last)
        r = number_row(nav, numbers->hi + 1, &there.hi);
    if (r < 0)
        return r;
    cli_narrow(rows, &there);
    *until = there.hi;
    return 1;
}

bool cli_unnumbered(const struct trod_trace *t, const struct trod_range *numbers)
{
    const struct trod_format *f = trod_trace_format(t);

    return numbers->set && f && !(f->reads & TROD_COL_INDEX);
}

uint64_t cli_numbers_end(const struct trod_trace *t, const struct trod_range *numbers,
                         const struct trod_batch *b, uint64_t first)
{
    if (numbers->set && trod_trace_files(t) == 1)
        for (uint32_t i = 0; i < b->n; i++)
            if (b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_INDEX &&
                b->index[i] > numbers->hi)
                return first + i;
    return TROD_NOWHERE;
}

/* As by_times, for instructions by their numbers. */
static int by_numbers(const struct cli_start *s, const struct trod_range *numbers, uint64_t *row)
{
    struct trod_range rows = {0};
    uint64_t until, all;
    int r = cli_numbers(s->nav, numbers, &rows, &until);

    if (r > 0 && (r = trod_nav_count(s->nav, &all)) == 0)
        r = 1;
    if (r <= 0)
        return r;
    if (all && rows.lo == all) /* none is wanted: the last row is read to say so */
        rows.lo--;
    if (until != TROD_NOWHERE)
        trod_match_end(s->match, until);
    if (rows.lo > *row)
        *row = rows.lo;
    return r;
}

/* The rows of instructions as they were executed. 1, 0 where it is not known, or an error. */
static int by_executed(struct cli_start *s, uint64_t *row)
{
    const unsigned flags = trod_nav_format(s->nav)->flags;
    uint64_t end;
    int r;

    /* packets of a bus may be instructions whose address is not known */
    if (s->placed && !(flags & (TROD_FMT_TEXT | TROD_FMT_FOLLOWS)))
        return 0;
    r = trod_nav_executed(s->nav, s->executed.lo, row);
    if (r <= 0)
        return r;
    s->rows = (struct trod_range){.set = true, .lo = *row, .hi = UINT64_MAX};
    r = s->executed.hi < UINT64_MAX ? trod_nav_executed(s->nav, s->executed.hi + 1, &end) : 0;
    if (r > 0)
        s->rows.hi = end - 1;
    return r < 0 ? r : 1;
}

/* What rows [FROM, TO) say. */
struct said {
    uint64_t from, to, instructions;
    uint64_t time; /* the last row with a time; TROD_NOWHERE: none */
};

static int said(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct said *s = user;

    for (uint32_t end = i + n; i < end && row < s->to; i++, row++) {
        if (row < s->from)
            continue;
        s->instructions += b->kind[i] == TROD_INSTR;
        if (b->have & b->has[i] & TROD_COL_TIME)
            s->time = row;
    }
    return row < s->to;
}

static int look(const struct cli_start *s, struct said *of)
{
    const struct trod_match_need need = {
        .kinds = UINT32_MAX, .hi = UINT64_MAX, .rows = {true, of->from, of->to - 1}};

    of->instructions = 0;
    of->time = TROD_NOWHERE;
    return of->from < of->to ? trod_nav_search(s->nav, &need, 0, 0, said, of) : TROD_OK;
}

/*
 * Take *ROW back to the last row before it that says a time, of a format that has times. 1, 0 where
 * it is too far away, or an error.
 */
static int to_clock(const struct cli_start *s, uint64_t *row)
{
    const struct trod_format *f = trod_nav_format(s->nav);
    struct said of = {.to = *row, .time = TROD_NOWHERE};

    if (f->flags & TROD_FMT_PUT_IN)
        return 0;
    if (!(f->reads & TROD_COL_TIME))
        return 1;
    for (uint64_t back = NEAR; of.to && of.time == TROD_NOWHERE && back <= FAR; back *= 4) {
        int r;

        of.from = *row > back ? *row - back : 0;
        if ((r = look(s, &of)) < 0)
            return r;
        of.to = of.from;
    }
    if (of.time == TROD_NOWHERE && of.to)
        return 0;
    *row = of.time == TROD_NOWHERE ? 0 : of.time;
    return 1;
}

/* How many instructions are executed before the first row read. */
static int count_before(struct cli_start *s)
{
    struct said of = {.from = s->first, .to = s->rows.lo};
    const int r = look(s, &of);

    s->before = s->executed.lo - 1 - of.instructions;
    return r;
}

bool cli_follows(const struct cli_planned *p)
{
    const struct trod_analysis *a = p->analysis;

    return a->follow && (!a->follows || a->follows(p->options));
}

/* Are the cores of the trace, of one file, its streams, none of which is a thread? */
static bool are_cpus(const struct trod_nav *nav)
{
    const struct trod_meta *m = trod_nav_meta(nav);
    struct trod_index_info info;
    bool cpus = !(trod_nav_format(nav)->flags & TROD_FMT_MARKERS) && trod_index_about(nav, &info) &&
                info.files == 1;

    for (uint32_t i = 0; cpus && i < m->n_streams; i++)
        cpus = m->streams[i].tid == TROD_NOWHERE;
    return cpus;
}

/*
 * Do analyses follow calls in the rows before the part? -1: they need all of these rows for it.
 * Rows that are chosen have no others before them.
 */
static int follows(const struct cli_start *s)
{
    int r = 0;

    if (s->match && !trod_match_all(s->match))
        return 0;
    for (size_t i = 0; r >= 0 && i < s->n_plan; i++) {
        const struct trod_analysis *a = s->plan[i].analysis;

        if (cli_follows(&s->plan[i]))
            r = a->begins && a->begins(s->plan[i].options, trod_nav_format(s->nav)) ? 1 : -1;
    }
    return r > 0 && s->by == TROD_BY_CORE && !are_cpus(s->nav) ? -1 : r;
}

static bool begin(struct cli_start *s, const struct part *p, struct trod_trace_options *opt)
{
    const int calls = follows(s);
    const bool owners = s->owners || p->need.owners;
    uint64_t row = p->need.rows.set ? p->need.rows.lo : 0;
    int r = 0;

    if (p->need.times.set)
        r = by_times(s, &p->need.times, &row);
    if (r >= 0 && p->numbers.set)
        r = by_numbers(s, &p->numbers, &row);
    /* where it is not known where they begin, or whether they do, all is read and counted */
    if (r >= 0 && s->executed.set && (r = by_executed(s, &row)) == 0)
        return false;
    if (r >= 0 && s->clock && (r = to_clock(s, &row)) == 0)
        return false;
    trod_nav_follow(s->nav, s->match ? trod_match_symbols(s->match) : NULL);
    if (calls > 0 && row) /* where a file begins, calls of the one before end */
        row--;
    opt->begin = r >= 0 && calls >= 0 ? trod_nav_begin(s->nav, row, owners, &s->first) : NULL;
    if (calls > 0 && !trod_nav_begin_calls(s->nav))
        opt->begin = NULL;
    if (opt->begin && s->executed.set && s->rows.set && count_before(s) < 0)
        opt->begin = NULL;
    return opt->begin != NULL;
}

bool cli_start(struct cli_start *s, struct trod_trace_options *opt, struct trod_diag *diag)
{
    const struct part part = part_of(s);
    struct trod_index_info info;

    s->report_to = diag;
    if (s->index->no_index || opt->order > TROD_ORDER_TIME ||
        !(is_part(&part) || s->executed.set) || (!s->nav && open_nav(s, opt) < 0) ||
        !trod_index_about(s->nav, &info) || (opt->order == TROD_ORDER_TIME && info.files > 1))
        return false;
    if (!begin(s, &part, opt))
        return false;
    opt->order = TROD_ORDER_FILE; /* of one file that is the order of time too */
    return true;
}

void cli_start_end(struct cli_start *s)
{
    if (s->own)
        trod_nav_close(s->nav);
    s->nav = NULL;
}

static int first_row(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    (void)b, (void)i, (void)n;
    *(uint64_t *)user = row;
    return 0;
}

int cli_start_late(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                   struct trod_trace_options *opt)
{
    uint64_t row = 0, first;
    const int r = trod_nav_search(nav, need, 0, 0, first_row, &row);

    row = row > before ? row - before : 0;
    if (r < 0 || row < LATE)
        return r < 0 ? r : 0;
    opt->begin = trod_nav_begin(nav, row, need->owners, &first);
    return opt->begin != NULL;
}
