/*
 * span.c - what --interval, --warmup, --region and --limit say to a run. Implements span.h.
 *
 * A region between places (docs/navigating.md) becomes one of rows: the places are looked for
 * before the run begins, by the index where there is one.
 */
#include "span.h"

#include <string.h>

#include "trod/format.h"

/* Where the measure of TEXT begins, at a colon; its end where there is none. */
static const char *measure_at(const char *text)
{
    const char *colon = strrchr(text, ':');

    return colon ? colon : text + strlen(text);
}

/* The measure at COLON (the end of a text: instructions), or -1. */
static int measure_of(const char *colon)
{
    static const char *const names[] = {"instructions", "rows", "time", NULL};

    if (!*colon)
        return TROD_IN_INSTRUCTIONS;
    for (int i = 0; names[i]; i++)
        if (colon[1] && strncmp(names[i], colon + 1, strlen(colon + 1)) == 0)
            return i;
    return -1;
}

/* A range (RANGE not NULL) or a number, with its measure. False: TEXT is something else. */
static bool numbers(const char *text, uint64_t *number, struct trod_range *range,
                    enum trod_measure *in)
{
    const char *colon = measure_at(text);
    const size_t n = (size_t)(colon - text);
    const int m = measure_of(colon);
    char copy[64];

    if (m < 0 || n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *in = (enum trod_measure)m;
    return (range ? trod_option_range(copy, range) : trod_option_number(copy, number)) == 0;
}

static int wrong(struct trod_diag *diag, const char *option, const char *text, const char *what)
{
    return trod_error(diag, TROD_ERR_USAGE, "args.span", NULL,
                      "option '--%s': '%s' is not %s[:instructions|rows|time]", option, text, what);
}

static int number(struct trod_diag *diag, const char *option, const char *text, uint64_t *out,
                  enum trod_measure *in)
{
    if (numbers(text, out, NULL, in) && *out)
        return 0;
    return wrong(diag, option, text, "a number from 1");
}

/* ---- regions between places */

bool cli_span_placed(const struct cli_span *s)
{
    const char *text = s->region, *dots = text ? strstr(text, "..") : NULL;
    struct trod_range range;
    enum trod_measure in;

    if (!dots || !(*text != '.' || dots[2]))
        return false;
    /* nobody numbers instructions in hexadecimal: these are addresses */
    if (!*measure_at(text) && (strncmp(text, "0x", 2) == 0 || strncmp(dots + 2, "0x", 2) == 0))
        return true;
    if (numbers(text, NULL, &range, &in))
        return false;
    /* a range that is none (5..1, x..9:rows) is no pair of places either */
    return !(*measure_at(text) && measure_of(measure_at(text)) >= 0) &&
           strspn(text, "0123456789_.") != strlen(text);
}

struct placing {
    struct trod_nav *nav;
    struct trod_diag *report_to, diag;
    bool open; /* problems of the trace itself are reported when it is read */
};

static void problem(void *user, const struct trod_problem *p)
{
    const struct placing *k = user;

    if (!k->open ||
        (p->kind && (strncmp(p->kind, "navigate.", 9) == 0 || strncmp(p->kind, "index.", 6) == 0)))
        trod_diag_report(k->report_to, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

static int place(struct placing *k, const char *text, size_t n, uint64_t *row)
{
    char copy[512];
    int r;

    if (n >= sizeof copy)
        return wrong(k->report_to, "region", text, "FROM..TO");
    memcpy(copy, text, n);
    copy[n] = '\0';
    r = trod_nav_place(k->nav, copy, row);
    return r > 0 ? 0 : r == 0 ? TROD_ERR_USAGE : r;
}

static int between(struct placing *k, const char *text, struct trod_range *out)
{
    const char *dots = strstr(text, "..");
    uint64_t first = 0, last = UINT64_MAX;
    int r = 0;

    *out = (struct trod_range){true, 0, UINT64_MAX};
    if (dots > text)
        r = place(k, text, (size_t)(dots - text), &out->lo);
    if (r == 0 && dots[2])
        r = place(k, dots + 2, strlen(dots + 2), &out->hi);
    if (r == 0 && out->hi < out->lo)
        return trod_error(k->report_to, TROD_ERR_USAGE, "args.span", NULL,
                          "option '--region': '%s' ends with row %llu, before row %llu that it "
                          "begins with",
                          text, (unsigned long long)out->hi, (unsigned long long)out->lo);
    if (r == 0 && dots > text && (r = trod_nav_extent(k->nav, out->lo, &first, &last)) > 0)
        out->lo = first;
    if (r >= 0 && dots[2] && (r = trod_nav_extent(k->nav, out->hi, &first, &last)) > 0)
        out->hi = last;
    return r < 0 ? r : 0;
}

static int by_places(const struct cli_spanning *s, const struct trod_run_options *opt,
                     struct trod_range *out, struct trod_diag *diag)
{
    struct trod_trace_options topt = opt->trace;
    const struct trod_nav_options nopt = {.struct_size = sizeof nopt,
                                          .trace = &topt,
                                          .symbols = s->symbols,
                                          .index_dir = s->o->index.index,
                                          .no_index = s->o->index.no_index};
    struct placing k = {.report_to = diag};
    int r;

    topt.want = TROD_COL_ALL;
    trod_diag_init(&k.diag, problem, &k);
    r = trod_nav_open(&k.nav, s->c->operands, s->c->n_operands, &nopt, &k.diag);
    if (r == 0) {
        k.open = true;
        r = between(&k, s->o->span.region, out);
    }
    trod_nav_close(k.nav);
    return r;
}

/* ---- the region */

static int region(struct cli_spanning *s, struct trod_run_options *opt, struct trod_diag *diag)
{
    const char *text = s->o->span.region;
    const bool placed = cli_span_placed(&s->o->span);
    struct trod_range range;
    int r = 0;

    if (placed) {
        r = by_places(s, opt, &range, diag);
        opt->region_in = TROD_IN_ROWS;
    } else if (!numbers(text, NULL, &range, &opt->region_in)) {
        r = wrong(diag, "region", text, "FROM..TO");
    } else if (opt->region_in == TROD_IN_INSTRUCTIONS &&
               (range.hi == 0 || (range.lo == 0 && *text != '.'))) {
        r = trod_error(diag, TROD_ERR_USAGE, "args.span", NULL,
                       "option '--region': '%s' begins with no instruction: they count from 1",
                       text);
    }
    if (r != 0)
        return r;
    /* regions are counted in rows that were chosen; 0 to 0 is all to a run */
    if ((placed && s->chosen) || (range.hi == 0 && opt->region_in == TROD_IN_ROWS))
        s->rows = range;
    else if (range.hi == 0)
        s->times = range;
    else
        opt->region_from = range.lo, opt->region_to = range.hi;
    return 0;
}

int cli_span_read(struct cli_spanning *s, struct trod_run_options *opt, struct trod_diag *diag)
{
    const struct cli_span *o = &s->o->span;
    int r = 0;

    opt->by = (enum trod_by)o->by;
    if (o->interval)
        r = number(diag, "interval", o->interval, &opt->interval, &opt->interval_in);
    if (r == 0 && o->warmup)
        r = number(diag, "warmup", o->warmup, &opt->warmup, &opt->warmup_in);
    if (r == 0 && o->limit && o->region)
        r = trod_error(diag, TROD_ERR_USAGE, "args.span", NULL,
                       "options '--limit' and '--region' exclude each other");
    if (r == 0 && o->region)
        r = region(s, opt, diag);
    if (o->limit)
        opt->region_to = o->limit;
    if (opt->interval_in == TROD_IN_TIME || opt->warmup_in == TROD_IN_TIME ||
        opt->region_in == TROD_IN_TIME)
        opt->trace.want |= TROD_COL_TIME;
    return r;
}
