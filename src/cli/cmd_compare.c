/*
 * cmd_compare.c - `trod compare`: where do two traces part?
 *
 * Options carry the names of Trace Matcher's ("Command Line Options" of its wiki) where they mean
 * the same. More than two traces: each is compared with the first.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diffs.h"
#include "sink.h"
#include "trod/symbols.h"

enum { MOST = 20, CONTEXT = 5 };

struct options {
    struct cli_common common;
    struct cli_input input;
    const char *from_b, *output;
    struct trod_list track, ignore, compare, mask, slide, pair, alias, ignore_register, symbols;
    bool first_stop, skip_equal, skip_rest, independent;
    uint64_t window, boot, lookahead, most, context;
    const char *start, *where;
    int window_unit, align, format, layout;
};

static const char *const units[] = {"rows", "ticks", "records", NULL};
static const char *const aligns[] = {"edit", "none", NULL};
static const char *const formats[] = {"text", "json", "csv", "junit", NULL};
static const char *const layouts[] = {"auto", "unified", "side-by-side", NULL};

enum { JUNIT = 3 };

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What counts as equal"},
    {"track", 't', TROD_OPT_LIST, AT(track), "CLASS,...",
     "classes of rows to compare: instr, reg, mem, event, other, all (default: what both traces "
     "have)",
     NULL, NULL},
    {"independent", 0, TROD_OPT_BOOL, AT(independent), NULL,
     "compare each class as a sequence of its own", NULL, NULL},
    {"ignore", 0, TROD_OPT_LIST, AT(ignore), "FIELD,...",
     "fields that may differ: addr, paddr, size, value, opcode, sub, mode, flags or one of them, "
     "detail or a field of it ... (time, index, pc, text, stream and pid always may unless "
     "--compare names them)",
     NULL, NULL},
    {"compare", 0, TROD_OPT_LIST, AT(compare), "FIELD,...",
     "further fields that must be equal: time, index, pc, text, stream, pid, or all", NULL, NULL},
    {"mask", 0, TROD_OPT_LIST, AT(mask), "REGISTER:BITS,...",
     "compare only these bits of a register: cpsr:f0000000", NULL, NULL},
    {"alias", 0, TROD_OPT_LIST, AT(alias), "A=B,...",
     "registers that are one: name A stands for name B", NULL, NULL},
    {"ignore-register", 0, TROD_OPT_LIST, AT(ignore_register), "REGISTER,...",
     "leave out the writes of these registers", NULL, NULL},
    {"slide", 0, TROD_OPT_LIST, AT(slide), "auto|[SIDE:][LO-HI:]OFFSET,...",
     "addresses of side A or B (default A) in LO-HI lie OFFSET (+0x.. or -0x..) away on the other; "
     "auto finds it from the code",
     NULL, NULL},
    {"pair", 0, TROD_OPT_LIST, AT(pair), "A=B,...",
     "compare stream A of the first trace with stream B of the second", NULL, NULL},
    {.type = TROD_OPT_GROUP, .text = "Matching"},
    {"window-size", 'w', TROD_OPT_COUNT, AT(window), "N",
     "rows (or ticks) within which order does not matter (default 1)", NULL, NULL},
    {"window-unit", 0, TROD_OPT_ENUM, AT(window_unit), NULL,
     "unit of the window (records: another word for rows)", units, NULL},
    {"align", 0, TROD_OPT_ENUM, AT(align), NULL,
     "edit: after a difference find the next place where both agree; none: block by block, as "
     "Trace "
     "Matcher does",
     aligns, NULL},
    {"lookahead", 0, TROD_OPT_COUNT, AT(lookahead), "N",
     "rows to look through for that place (default 65536)", NULL, NULL},
    {"first-dif-stop", 0, TROD_OPT_BOOL, AT(first_stop), NULL,
     "stop at the first difference (also -fds)", NULL, NULL},
    {"start-addr", 0, TROD_OPT_STR, AT(start), "ADDRESS",
     "in every trace skip rows until an instruction at ADDRESS (also -sa)", NULL, NULL},
    {"boot-size", 0, TROD_OPT_U64, AT(boot), "N",
     "the first N instructions of a trace are not compared (also -bs)", NULL, NULL},
    {"skip-equal", 0, TROD_OPT_BOOL, AT(skip_equal), NULL,
     "skip successive rows of a trace that differ in time only (also -se)", NULL, NULL},
    {"where", 0, TROD_OPT_STR, AT(where), "EXPRESSION",
     "compare the rows of either trace for which EXPRESSION holds, as 'thread == 3 && !kernel'; "
     "see trod-where(7)",
     NULL, NULL},
    {"skip-rest", 0, TROD_OPT_BOOL, AT(skip_rest), NULL,
     "do not report the rest of the longer trace (also -sr)", NULL, NULL},
    {.type = TROD_OPT_GROUP, .text = "Report"},
    {"max", 'n', TROD_OPT_U64, AT(most), "N", "differences to show (default 20); all are counted",
     NULL, NULL},
    {"context", 'C', TROD_OPT_U64, AT(context), "N",
     "rows to show before a difference (default 5, at most 12)", NULL, NULL},
    {"layout", 0, TROD_OPT_ENUM, AT(layout), NULL,
     "unified or side-by-side (default: side-by-side on a wide terminal)", layouts, NULL},
    {"symbols", 'S', TROD_OPT_LIST, AT(symbols), "ELF[@ADDRESS],...",
     "show function and offset from the symbols of these files", NULL, NULL},
    {"format", 0, TROD_OPT_ENUM, AT(format), NULL, "how to print the result", formats, NULL},
    {"output", 'o', TROD_OPT_STR, AT(output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    CLI_INPUT_OPTIONS,
    {"from-b", 0, TROD_OPT_STR, AT(from_b), "FORMAT[:OPT=VALUE,...]",
     "format of the traces after the first, where it differs", NULL, NULL},
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.most = MOST, .context = CONTEXT};

static const char *const aliases[] = {"fds", "first-dif-stop", "bs", "boot-size",
                                      "sa",  "start-addr",     "se", "skip-equal",
                                      "sr",  "skip-rest",      NULL};

static int bad(struct cli *c, const char *option, const char *value)
{
    return trod_error(&c->diag, TROD_ERR_USAGE, "compare.option", NULL, "bad value '%s' for --%s",
                      value, option);
}

static int parse_track(struct cli *c, const struct trod_list *list, uint32_t *out)
{
    static const char *const names[] = {"instr", "reg", "mem", "event", "other"};

    *out = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;

        if (strcmp(list->item[i], "all") == 0) {
            *out = (1u << TROD_TRACK_CLASSES) - 1;
            continue;
        }
        while (k < TROD_TRACK_CLASSES && strcmp(names[k], list->item[i]) != 0)
            k++;
        if (k == TROD_TRACK_CLASSES)
            return bad(c, "track", list->item[i]);
        *out |= 1u << k;
    }
    return 0;
}

/* All items of LIST are names of fields. */
static int check_fields(struct cli *c, const char *option, const struct trod_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;

        while (trod_compare_field_name(k) && strcmp(trod_compare_field_name(k), list->item[i]) != 0)
            k++;
        if (!trod_compare_field_name(k))
            return bad(c, option, list->item[i]);
    }
    return 0;
}

/* Fields that do not count, or count besides. */
static int settle_fields(struct cli *c, const struct options *o, struct trod_compare_options *t)
{
    int r = check_fields(c, "ignore", &o->ignore);

    if (r == 0)
        r = check_fields(c, "compare", &o->compare);
    t->ignore = o->ignore.item;
    t->n_ignore = o->ignore.n;
    t->also = o->compare.item;
    t->n_also = o->compare.n;
    return r;
}

/* [reg=]REGISTER:BITS */
static int parse_masks(struct cli *c, const struct trod_list *list, struct trod_compare_options *t)
{
    for (size_t i = 0; i < list->n; i++) {
        char *item = (char *)(uintptr_t)list->item[i], *colon = strchr(item, ':'), *end;
        struct trod_compare_mask *m = &t->masks[t->n_masks];

        if (!colon || colon == item || t->n_masks == TROD_COMPARE_MASKS)
            return bad(c, "mask", item);
        m->mask = strtoull(colon + 1, &end, 16);
        if (*end || end == colon + 1)
            return bad(c, "mask", item);
        *colon = '\0';
        m->name = strncmp(item, "reg=", 4) == 0 ? item + 4 : item;
        t->n_masks++;
    }
    return 0;
}

/* [A:|B:][LO-HI:][+|-]OFFSET */
static int parse_slide(struct cli *c, const char *text, struct trod_compare_options *t)
{
    struct trod_slide *s = &t->slides[t->n_slides];
    const char *p = text;
    bool minus;
    char *end;

    if (strcmp(text, "auto") == 0) {
        t->auto_slide = true;
        return 0;
    }
    if (t->n_slides == TROD_COMPARE_SLIDES)
        return bad(c, "slide", text);
    *s = (struct trod_slide){0, 0, UINT64_MAX, 0};
    if ((p[0] == 'A' || p[0] == 'B') && p[1] == ':') {
        s->side = p[0] == 'B';
        p += 2;
    }
    if (strchr(p, ':')) {
        s->lo = strtoull(p, &end, 0);
        if (*end != '-' || end == p)
            return bad(c, "slide", text);
        s->hi = strtoull(p = end + 1, &end, 0);
        if (*end != ':' || end == p)
            return bad(c, "slide", text);
        p = end + 1;
    }
    minus = *p == '-';
    p += *p == '-' || *p == '+';
    s->offset = strtoull(p, &end, 0);
    if (*end || end == p)
        return bad(c, "slide", text);
    if (minus)
        s->offset = 0 - s->offset;
    t->n_slides++;
    return 0;
}

/* A=B,... of OPTION. */
static int parse_pairs(struct cli *c, const char *option, const struct trod_list *list,
                       struct trod_compare_pair *out, size_t *n)
{
    for (size_t i = 0; i < list->n; i++) {
        char *item = (char *)(uintptr_t)list->item[i], *equals = strchr(item, '=');

        if (!equals || equals == item || !equals[1] || *n == TROD_COMPARE_PAIRS)
            return bad(c, option, item);
        *equals = '\0';
        out[(*n)++] = (struct trod_compare_pair){item, equals + 1};
    }
    return 0;
}

/*
 * How many sides are decoded by threads of their own. With two threads the one that compares
 * decodes the second side: what another decodes has to come to it from that one's caches.
 */
static unsigned decoded_ahead(const struct options *o)
{
    const unsigned jobs = cli_threads(&o->input);

    return jobs == 1 || trod_processors() == 1 ? 0 : jobs == 2 ? 1 : 2;
}

static int settle(struct cli *c, const struct options *o, struct trod_compare_options *t)
{
    int r = parse_track(c, &o->track, &t->track);
    char *end;

    if (r == 0 && o->context > TROD_COMPARE_CONTEXT)
        r = trod_error(&c->diag, TROD_ERR_USAGE, "compare.option", NULL,
                       "option '--context': at most %d rows are kept before a difference",
                       TROD_COMPARE_CONTEXT);
    if (r == 0)
        r = settle_fields(c, o, t);
    if (r == 0)
        r = parse_masks(c, &o->mask, t);
    for (size_t i = 0; r == 0 && i < o->slide.n; i++)
        r = parse_slide(c, o->slide.item[i], t);
    if (r == 0)
        r = parse_pairs(c, "pair", &o->pair, t->pairs, &t->n_pairs);
    if (r == 0)
        r = parse_pairs(c, "alias", &o->alias, t->aliases, &t->n_aliases);
    if (r == 0 && o->start) {
        /* An address: hexadecimal with or without 0x, as traces write it. */
        errno = 0;
        t->start = strtoull(o->start, &end, 16);
        t->has_start = true;
        if (*end || end == o->start || !isxdigit((unsigned char)*o->start) || errno == ERANGE)
            r = bad(c, "start-addr", o->start);
    }
    t->ignore_registers = o->ignore_register.item;
    t->n_ignore_registers = o->ignore_register.n;
    t->independent = o->independent;
    t->align = (enum trod_align)o->align;
    t->window = o->window;
    t->window_unit = o->window_unit == 1 ? TROD_WINDOW_TICKS : TROD_WINDOW_ROWS;
    t->serial = decoded_ahead(o) == 0;
    t->first_stop = o->first_stop;
    t->boot = o->boot;
    t->skip_equal = o->skip_equal;
    t->skip_rest = o->skip_rest;
    t->lookahead = o->lookahead && o->lookahead < 16 ? 16
                   : o->lookahead < UINT32_MAX       ? (uint32_t)o->lookahead
                                                     : UINT32_MAX;
    return r;
}

static int open_trace(struct cli *c, const struct options *o, const char *path, bool second,
                      struct trod_trace **out, struct trod_diag *diag)
{
    struct trod_trace_options topt = cli_trace_options(&o->input, TROD_COL_ALL);

    (void)c;
    topt.ahead = decoded_ahead(o) > (unsigned)second;
    if (second && o->from_b)
        topt.from = o->from_b;
    return trod_trace_open(out, &path, 1, &topt, diag);
}

/* What a long run tells on the way. */
struct watch {
    struct cli_progress progress;
    const struct trod_trace *trace;
};

static void tick(void *user, const uint64_t rows[2])
{
    struct watch *w = user;

    cli_progress_tick(&w->progress, w->trace, rows[0]);
}

/* Which rows are compared: an expression a side, as each keeps in mind what it has seen. */
static int choose(void *user, int side, const struct trod_batch *b, uint8_t *keep)
{
    struct trod_where *const *where = user;

    return trod_where_batch(where[side], b, b->first, keep);
}

static int open_where(const struct options *o, const struct cli_diffs *p,
                      struct trod_compare_options *t, struct trod_where *where[2],
                      struct trod_diag *diag)
{
    const struct trod_where_options opt = {.symbols = p->symbols};
    int r = 0;

    for (int side = 0; side < 2 && r == 0 && o->where; side++)
        r = trod_where_new(&where[side], o->where, &opt, diag);
    t->choose = o->where ? choose : NULL;
    t->choose_user = where;
    return r;
}

/* Compare A with B and print it. Returns CLI_YES, CLI_NO or CLI_TROUBLE. */
static int compare(struct cli *c, const struct options *o, struct trod_compare_options *t,
                   struct cli_diffs *p)
{
    struct watch watch;
    struct trod_trace *trace[2] = {NULL, NULL};
    struct trod_where *where[2] = {NULL, NULL};
    struct trod_compare_summary sum;
    struct trod_diag diag[2]; /* each its own: what it says of places is of one trace */
    uint32_t want;
    int r = 0;

    memset(&sum, 0, sizeof sum);
    for (int side = 0; side < 2; side++) {
        cli_diag_init(c, &diag[side]);
        diag[side].strict = o->input.strict;
        if (r == 0)
            r = open_trace(c, o, p->path[side], side == 1, &trace[side], &diag[side]);
        if (r == 0)
            p->meta[side] = trod_trace_meta(trace[side]);
    }
    if (r == 0)
        r = open_where(o, p, t, where, &diag[0]);
    if (r == 0) {
        want = trod_compare_want(t) | (o->where ? trod_where_want(where[0]) : 0);
        trod_trace_want(trace[0], want);
        trod_trace_want(trace[1], want);
        if (p->emit)
            trod_emit_list(p->emit, "differences", NULL);
        cli_progress_begin(&watch.progress, c);
        watch.trace = trace[0];
        t->tick = tick;
        t->tick_user = &watch;
        r = trod_compare_run(trace[0], trace[1], t, cli_diffs_add, p, &sum, &diag[0]);
        cli_progress_end(&watch.progress);
        if (p->emit)
            trod_emit_list_close(p->emit);
        else if (sum.differences > p->most && !p->quiet)
            fprintf(p->file, "(%" PRIu64 " more differences not shown: --max)\n\n",
                    sum.differences - p->most);
        p->trouble = r < 0 || diag[0].errors || diag[1].errors;
        cli_diffs_summary(p, &sum);
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&diag[0], r, "compare.memory", NULL, "out of memory");
    cli_diffs_fini(p);
    trod_where_free(where[0]);
    trod_where_free(where[1]);
    trod_trace_close(trace[0]);
    trod_trace_close(trace[1]);
    cli_diag_end(c, &diag[0]);
    if (cli_diag_end(c, &diag[1]) != CLI_YES || r < 0)
        return CLI_TROUBLE;
    return sum.differences ? CLI_NO : CLI_YES;
}

/* One comparison as a JUnit test case: what is printed as text is what the failure says. */
static int compare_junit(struct cli *c, const struct options *o, struct trod_compare_options *t,
                         struct cli_diffs *p, FILE *to)
{
    char *text = NULL;
    size_t n = 0;
    int r;

    p->file = open_memstream(&text, &n);
    if (!p->file)
        return CLI_TROUBLE;
    r = compare(c, o, t, p);
    fclose(p->file);
    fprintf(to, "  <testcase classname=\"trod.compare\" name=\"");
    cli_xml_text(to, p->path[1], strlen(p->path[1]));
    fprintf(to, "\">\n");
    if (r != CLI_YES) {
        fprintf(to, "    <%s message=\"", r == CLI_NO ? "failure" : "error");
        cli_xml_text(to, text, strcspn(text, "\n"));
        fprintf(to, "\">");
        cli_xml_text(to, text, n);
        fprintf(to, "</%s>\n", r == CLI_NO ? "failure" : "error");
    }
    fprintf(to, "  </testcase>\n");
    free(text);
    return r;
}

/* The worst of two outcomes. */
static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int compare_all(struct cli *c, const struct options *o, struct trod_compare_options *t,
                       struct cli_diffs *p)
{
    int worst = CLI_YES;

    if (p->emit)
        trod_emit_list(p->emit, "comparisons", NULL);
    for (size_t i = 1; i < c->n_operands; i++) {
        p->path[0] = c->operands[0];
        p->path[1] = c->operands[i];
        if (p->emit)
            trod_emit_open(p->emit, NULL, p->path[1]);
        worst = worse(worst, compare(c, o, t, p));
        if (p->emit)
            trod_emit_close(p->emit);
    }
    if (p->emit)
        trod_emit_list_close(p->emit);
    return worst;
}

/* The same as a JUnit test suite, whose head says how many cases failed. */
static int compare_suite(struct cli *c, const struct options *o, struct trod_compare_options *t,
                         struct cli_diffs *p, FILE *to)
{
    size_t count[3] = {0, 0, 0}, n = 0;
    char *cases = NULL;
    FILE *body = open_memstream(&cases, &n);
    int worst = CLI_YES;

    if (!body)
        return CLI_TROUBLE;
    for (size_t i = 1; i < c->n_operands; i++) {
        int r;

        p->path[0] = c->operands[0];
        p->path[1] = c->operands[i];
        r = compare_junit(c, o, t, p, body);
        count[r]++;
        worst = worse(worst, r);
    }
    fclose(body);
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"trod compare\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n%s</testsuite>\n",
            c->n_operands - 1, count[CLI_NO], count[CLI_TROUBLE], cases ? cases : "");
    free(cases);
    return worst;
}

/* Standard input is there once. */
static int check_operands(struct cli *c)
{
    size_t pipes = 0;

    for (size_t i = 0; i < c->n_operands; i++)
        pipes += strcmp(c->operands[i], "-") == 0;
    return pipes < 2 ? 0
                     : trod_error(&c->diag, TROD_ERR_USAGE, "compare.standard-input", NULL,
                                  "standard input ('-') can be only one of the traces");
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_report report = {o->format == JUNIT ? TROD_EMIT_TEXT : o->format, o->output};
    struct trod_compare_options *t = calloc(1, sizeof *t);
    struct cli_diffs p = {.c = c, .most = o->most, .context = o->context};
    struct cli_out out;
    int r = t ? check_operands(c) : TROD_ERR_NOMEM;

    if (r == 0)
        r = settle(c, o, t);
    p.quiet = c->common->quiet && !o->output && o->format == TROD_EMIT_TEXT;
    if (r == 0 && o->symbols.n)
        r = trod_symbols_new(&p.symbols);
    for (size_t i = 0; r == 0 && i < o->symbols.n; i++)
        r = trod_symbols_add(p.symbols, o->symbols.item[i], &c->diag);
    if (r == 0)
        r = cli_report_begin(&out, c, &report);
    if (r < 0) {
        trod_symbols_free(p.symbols);
        free(t);
        return CLI_TROUBLE;
    }
    p.file = out.file;
    p.emit = o->format == TROD_EMIT_JSON || o->format == TROD_EMIT_CSV ? out.emit : NULL;
    p.colour = !out.path && o->format == TROD_EMIT_TEXT && cli_colour(c, STDOUT_FILENO);
    p.fold = out.path ? 0 : cli_fold();
    p.width = cli_width(STDOUT_FILENO);
    if (o->layout == 2 ||
        (o->layout == 0 && !out.path && cli_terminal(STDOUT_FILENO) && p.width >= 140))
        p.layout = CLI_DIFF_SIDE;
    r = o->format == JUNIT ? compare_suite(c, o, t, &p, out.file) : compare_all(c, o, t, &p);
    if (cli_report_end(&out) != 0)
        r = CLI_TROUBLE;
    trod_symbols_free(p.symbols);
    free(t);
    return r;
}

const struct cli_command cli_command_compare = {
    .name = "compare",
    .title = "tell where two traces part",
    .operands = "FILE FILE...",
    .about =
        "Compare traces of any formats and print where they differ. What one side does not say is "
        "not compared. After a difference the next place is looked for where both agree again, so "
        "that an extra instruction is one difference. With more than two FILEs each is compared "
        "with the first. The exit status is 0 when they are equal, 1 when they differ.",
    .examples = "  trod compare model.tarmac rtl.tarmac --symbols prog.elf\n"
                "  trod compare a.trace b.trace -w 8 --start-addr 8000 --first-dif-stop\n"
                "  trod compare run.tarmac run.drmemtrace/ --track instr --slide auto\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 2,
    .most = SIZE_MAX,
    .aliases = aliases,
    .run = run,
};
