/*
 * cmd_truncate.c - `trod truncate`: a trace without the repetitions of the loop that it ends in.
 *
 * The trace is read twice: to find the loop, and to copy what comes before it repeats. Standard
 * input is kept in a temporary file for that. --like tarmac needs one pass and stops at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cli.h"
#include "start.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_index index;
    struct trod_match_options filter;
    const char *output;
    uint64_t least; /* UNSAID: LEAST */
    int like;
};

enum { LEAST = 3 };
#define UNSAID UINT64_MAX

static const char *const likes[] = {"none", "tarmac", NULL};

static const struct trod_option options[] = {
    {"output", 'o', TROD_OPT_STR, offsetof(struct options, output), "OUT",
     "write there instead of to standard output", NULL, NULL},
    {"least", 0, TROD_OPT_U64, offsetof(struct options, least), "N",
     "periods that make a loop (default: 3); it has 16 steps or more in all", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, offsetof(struct options, like), "TOOL",
     "stop where that tool does: tarmac (Arm's tarmac-truncate), on traces in text", likes, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_WHICH_INDEX,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.least = UNSAID};

enum { NAME = 80 };

struct truncating {
    struct cli *c;
    const struct options *o;
    off_t input; /* where standard input begins, which is read twice; -1: it is not read */
    struct trod_loops *loops;
    struct trod_diag diag;
    struct trod_match *match; /* of the pass at hand */
    uint64_t rows, kept;
    char (*of)[NAME]; /* whose each loop is, where there are several streams; NULL: one */
};

static int open_trace(struct truncating *t, struct trod_trace **trace, uint32_t want,
                      struct trod_diag *diag)
{
    struct trod_trace_options opt = cli_trace_options(&t->o->input, want);
    struct cli_start start = {.input = &t->o->input,
                              .index = &t->o->index,
                              .paths = t->c->operands,
                              .n = t->c->n_operands,
                              .filter = &t->o->filter};
    int r;

    if (t->input >= 0 && lseek(STDIN_FILENO, t->input, SEEK_SET) < 0)
        return trod_error(diag, TROD_ERR_IO, "truncate.input", NULL,
                          "standard input cannot be read");
    trod_match_free(t->match);
    t->match = NULL;
    t->rows = 0;
    if ((r = trod_match_new(&t->match, &t->o->filter, diag)) < 0)
        return r;
    opt.want |= trod_match_want(t->match);
    if (t->o->like == 1 && !opt.from)
        opt.from = "tarmac";
    start.match = t->match;
    cli_start(&start, &opt, diag);
    r = cli_open(trace, start.paths, start.n, &opt, t->match, diag);
    cli_start_end(&start);
    return r;
}

/* The next batch: the rows that are chosen, numbered among themselves. As trod_trace_next. */
static int next(struct truncating *t, struct trod_trace *trace, struct trod_batch **b)
{
    int r;

    if (trod_match_done(t->match))
        return 0;
    if ((r = trod_trace_next(trace, b)) <= 0)
        return r;
    if (!trod_match_all(t->match)) {
        if ((r = trod_match_batch(t->match, *b)) < 0)
            return r;
        trod_batch_keep(*b, trod_match_keep(t->match));
        (*b)->first = t->rows;
    }
    t->rows += (*b)->n;
    return 1;
}

/* ---- both passes */

/* Whose the loops are: names end with the trace that has them. */
static int name_loops(struct truncating *t, const struct trod_meta *meta)
{
    const struct trod_final_loop *f;
    size_t n = 0;

    while (trod_loops_at(t->loops, n))
        n++;
    if (meta->n_streams < 2 || n == 0)
        return 0;
    t->of = calloc(n, sizeof *t->of);
    if (!t->of)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; (f = trod_loops_at(t->loops, i)) != NULL; i++) {
        const struct trod_stream *s =
            f->has_stream && f->stream < meta->n_streams ? &meta->streams[f->stream] : NULL;

        if (s && s->name_len)
            snprintf(t->of[i], NAME, " of %.*s", (int)s->name_len, s->name);
        else if (s && s->tid != TROD_NOWHERE)
            snprintf(t->of[i], NAME, " of %s %llu", cli_stream_word(meta),
                     (unsigned long long)s->tid);
        else if (s)
            snprintf(t->of[i], NAME, " of %s #%u", cli_stream_word(meta), f->stream);
    }
    return 0;
}

static int find(struct truncating *t)
{
    struct cli_progress progress;
    struct trod_trace *trace;
    struct trod_batch *b;
    uint32_t row;
    int r = open_trace(t, &trace, TROD_LOOPS_COLUMNS, &t->diag);

    if (r != 0)
        return r;
    cli_progress_begin(&progress, t->c);
    while ((r = next(t, trace, &b)) > 0) {
        r = trod_loops_feed(t->loops, b, &row);
        if (r != 0)
            break;
        cli_progress_tick(&progress, trace, t->rows);
    }
    cli_progress_end(&progress);
    if (r >= 0)
        trod_match_explain(t->match, trod_trace_meta(trace), &t->diag);
    if (r >= 0 && (r = trod_loops_end(t->loops)) >= 0)
        r = name_loops(t, trod_trace_meta(trace));
    trod_trace_close(trace);
    return r;
}

static int copy(struct truncating *t, struct trod_trace *trace, struct trod_writer *w)
{
    uint8_t keep[TROD_BATCH_ROWS];
    struct trod_batch *b;
    int r;

    while ((r = next(t, trace, &b)) > 0) {
        const uint32_t n = trod_loops_keep(t->loops, b, keep);

        t->kept += n;
        r = n == b->n ? trod_writer_put(w, b) : trod_writer_put_some(w, b, keep);
        if (r < 0)
            break;
    }
    return r;
}

/* Problems of the trace were reported in the first pass. */
static int write_rest(struct truncating *t)
{
    const char *out = t->o->output ? t->o->output : "-";
    struct trod_diag quiet;
    struct trod_writer *w = NULL;
    struct trod_trace *trace;
    int r;

    trod_diag_init(&quiet, NULL, NULL);
    r = open_trace(t, &trace, TROD_COL_ALL, &quiet);
    if (r != 0)
        return r;
    cli_interrupt_begin();
    r = trod_writer_open_like(
        &w, out, trace,
        trod_match_drops(t->match) | (trod_loops_at(t->loops, 0) ? TROD_DROP_SPAN : 0), &t->diag);
    if (r == 0)
        r = copy(t, trace, w);
    if (w && r >= 0)
        r = trod_writer_commit(w, NULL);
    else if (w)
        trod_writer_discard(w);
    trod_trace_close(trace);
    return r;
}

static void say(struct truncating *t)
{
    const struct trod_final_loop *f;

    for (size_t i = 0; (f = trod_loops_at(t->loops, i)) != NULL; i++) {
        char at[32] = "";

        if (f->pc != TROD_NOWHERE)
            snprintf(at, sizeof at, " at 0x%llx", (unsigned long long)f->pc);
        cli_say(t->c,
                "a loop to the end%s begins with row %llu%s%s: %llu steps a period, %llu whole "
                "periods; the first is kept",
                t->of ? t->of[i] : "", (unsigned long long)f->row,
                trod_match_all(t->match) ? "" : " of those that are chosen", at,
                (unsigned long long)f->period, (unsigned long long)f->periods);
    }
    if (!trod_loops_at(t->loops, 0))
        cli_say(t->c, "the trace does not end in a loop: all is kept");
    else
        cli_say(t->c, "%llu of %llu rows are kept", (unsigned long long)t->kept,
                (unsigned long long)t->rows);
}

/* ---- as Arm's tool: one pass, lines as they are; a missing last end is added */

static int put_line(struct trod_output *out, const uint8_t *p, size_t n)
{
    n -= n && p[n - 1] == '\n';
    const int r = trod_output_write(out, p, n);

    return r < 0 ? r : trod_output_write(out, "\n", 1);
}

static int put_rows(struct trod_output *out, const struct trod_batch *b, uint32_t n)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < n; i++)
        if (b->have & b->has[i] & TROD_COL_RAW && b->raw[i].len)
            r = put_line(out, trod_batch_bytes(b, b->raw[i]), b->raw[i].len);
    return r;
}

static int like_tarmac(struct truncating *t)
{
    struct trod_trace *trace;
    struct trod_output *out = NULL;
    struct trod_batch *b;
    uint32_t row;
    bool stuck = false;
    int r = open_trace(t, &trace, TROD_LOOPS_COLUMNS, &t->diag);

    if (r != 0)
        return r;
    r = trod_output_create(&out, t->o->output ? t->o->output : "-", NULL, &t->diag);
    while (r == 0 && !stuck && (r = next(t, trace, &b)) > 0) {
        r = trod_loops_feed(t->loops, b, &row);
        stuck = r == 1;
        if (r >= 0)
            r = put_rows(out, b, stuck ? row + 1 : b->n);
    }
    if (out && r >= 0)
        r = trod_output_commit(out);
    else if (out)
        trod_output_discard(out);
    trod_trace_close(trace);
    return r;
}

/* ---- standard input */

/* Standard input is read twice: unless it is a file, a file without a name takes its place. */
static int keep_input(struct truncating *t)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    char block[1 << 16];
    ssize_t n = 0;
    int fd;

    if ((t->input = lseek(STDIN_FILENO, 0, SEEK_CUR)) >= 0)
        return 0;
    snprintf(name, sizeof name, "%s/trod.XXXXXX", folder && *folder ? folder : "/tmp");
    fd = mkstemp(name);
    if (fd < 0)
        return trod_error(&t->diag, TROD_ERR_IO, "truncate.temporary", NULL,
                          "'%s': no temporary file can be made for standard input", name);
    unlink(name);
    while ((n = read(STDIN_FILENO, block, sizeof block)) > 0)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(fd, block + done, (size_t)(n - done))) <= 0) {
                close(fd);
                return trod_error(&t->diag, TROD_ERR_IO, "truncate.temporary", NULL,
                                  "standard input cannot be kept in a temporary file: %s",
                                  "no room");
            }
    if (n == 0 && dup2(fd, STDIN_FILENO) < 0)
        n = -1;
    close(fd);
    t->input = 0;
    return n < 0 ? trod_error(&t->diag, TROD_ERR_IO, "truncate.input", NULL,
                              "standard input cannot be read")
                 : 0;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    const struct trod_loops_options lopt = {.struct_size = sizeof lopt,
                                            .like_tarmac = o->like == 1,
                                            .least = o->least == UNSAID ? LEAST : o->least};
    struct truncating t = {.c = c, .o = o, .input = -1};
    int r;

    if (o->like && o->least != UNSAID) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.least", NULL,
                   "option '--least' does not go with '--like', which stops where that tool does");
        return CLI_TROUBLE;
    }
    if (o->least == 0) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.least", NULL,
                   "option '--least' takes 1 or more periods");
        return CLI_TROUBLE;
    }
    r = trod_loops_new(&t.loops, &lopt);
    cli_diag_init(c, &t.diag);
    t.diag.strict = o->input.strict;
    if (r == 0)
        r = cli_not_input(c, o->output, &t.diag);
    if (r == 0 && lopt.like_tarmac) {
        r = like_tarmac(&t);
    } else if (r == 0) {
        if (c->n_operands == 1 && strcmp(c->operands[0], "-") == 0)
            r = keep_input(&t);
        if (r == 0)
            r = find(&t);
        if (r >= 0)
            r = write_rest(&t);
        if (r >= 0)
            say(&t);
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&t.diag, r, "truncate.memory", NULL, "out of memory");
    trod_loops_free(t.loops);
    trod_match_free(t.match);
    free(t.of);
    if (r < 0)
        c->trouble = true;
    r = cli_diag_end(c, &t.diag);
    return c->trouble ? CLI_TROUBLE : r;
}

const struct cli_command cli_command_truncate = {
    .name = "truncate",
    .title = "leave out the repetitions of the loop that a trace ends in",
    .operands = "FILE...",
    .about =
        "Find the loop in which each thread or cpu ends: its last instructions, with all that they "
        "read and write, repeat up to the end of the trace. The trace is written up to the end of "
        "the first period, in its own format; where the loop begins, how long it is and how often "
        "it ran is said on standard error. Times do not count; a loop that counts, or that reads "
        "something else each time, is none. Standard input is kept in a temporary file. Options "
        "that "
        "choose rows, as --where, say which are looked at and written: a loop that also does "
        "something else may be one without it.",
    .examples = "  trod truncate -o short.tarmac hung.tarmac\n"
                "  zcat hung.tarmac.gz | trod truncate - > short.tarmac\n"
                "  simulator | trod truncate --like tarmac -\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
