/*
 * start.c - where reading begins, by the index of a trace. Implements start.h.
 */
#include "start.h"

#include <stdio.h>
#include <string.h>

/* What is wrong with the index. The rest is told by who reads the trace. */
static void problem(void *user, const struct trod_problem *p)
{
    struct cli_start *s = user;

    if (p->kind && strncmp(p->kind, "index.", 6) == 0)
        trod_diag_report(s->told, p->severity, p->status, p->kind, &p->at, "%s", p->message);
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

/* Rows that are in both. */
static void narrow(struct trod_range *r, const struct trod_range *by)
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
    narrow(&p.need.rows, &s->rows);
    narrow(&p.need.times, &s->times);
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

/* The same for instructions by their numbers, which rise where there is one stream. */
static int by_numbers(const struct cli_start *s, const struct trod_range *numbers, uint64_t *row)
{
    struct trod_index_info info;
    char place[32];
    uint64_t at;
    int r;

    if (!trod_index_about(s->nav, &info) || info.files != 1 || info.streams > 1 ||
        !(trod_nav_format(s->nav)->reads & TROD_COL_INDEX))
        return 0;
    trod_match_single(s->match);
    snprintf(place, sizeof place, "insn:%llu", (unsigned long long)numbers->lo);
    r = numbers->lo ? trod_nav_place(s->nav, place, &at) : 0;
    if (r > 0 && at > *row)
        *row = at;
    return r;
}

/* The rows of instructions as they were executed. 1, 0 where it is not known, or an error. */
static int by_executed(struct cli_start *s, uint64_t *row)
{
    uint64_t end;
    int r = trod_nav_executed(s->nav, s->executed.lo, row);

    if (r <= 0)
        return r;
    s->rows = (struct trod_range){.set = true, .lo = *row, .hi = UINT64_MAX};
    r = s->executed.hi < UINT64_MAX ? trod_nav_executed(s->nav, s->executed.hi + 1, &end) : 0;
    if (r > 0)
        s->rows.hi = end - 1;
    return r < 0 ? r : 1;
}

static bool begin(struct cli_start *s, const struct part *p, struct trod_trace_options *opt)
{
    const bool owners = s->owners || p->need.owners;
    uint64_t row = p->need.rows.set ? p->need.rows.lo : 0, first;
    int r = 0;

    if (p->need.times.set)
        r = by_times(s, &p->need.times, &row);
    if (r >= 0 && p->numbers.set)
        r = by_numbers(s, &p->numbers, &row);
    if (r >= 0 && s->executed.set)
        r = by_executed(s, &row);
    opt->begin = r >= 0 ? trod_nav_begin(s->nav, row, owners, &first) : NULL;
    return opt->begin != NULL;
}

bool cli_start(struct cli_start *s, struct trod_trace_options *opt, struct trod_diag *diag)
{
    const struct part part = part_of(s);
    struct trod_index_info info;

    s->told = diag;
    if (s->index->no_index || s->input->strict || opt->order > TROD_ORDER_TIME ||
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
