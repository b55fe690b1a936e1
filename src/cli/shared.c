/*
 * shared.c - the options that several commands have, in one place (docs/design.md, "Command line").
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char *const when[] = {"auto", "always", "never", NULL};
static const char *const formats[] = {"text", "json", "csv", NULL};
static const char *const orders[] = {"file", "time", "sync", "recorded", "dynamic", NULL};

#define AT(type, field) offsetof(struct type, field)

const struct trod_option cli_common_options[] = {
    {"color", 0, TROD_OPT_ENUM, AT(cli_common, color), "WHEN",
     "colour the output: auto (on a terminal), always, never", when, NULL},
    {"no-color", 0, TROD_OPT_BOOL, AT(cli_common, no_color), NULL, "same as --color never", NULL,
     NULL},
    {"quiet", 'q', TROD_OPT_BOOL, AT(cli_common, quiet), NULL,
     "no progress, warnings or summaries; errors are still reported", NULL, NULL},
    {"no-pager", 0, TROD_OPT_BOOL, AT(cli_common, no_pager), NULL,
     "print long listings without a pager", NULL, NULL},
    {"help", 'h', TROD_OPT_BOOL, AT(cli_common, help), NULL, "print this help", NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct trod_option order_options[] = {
    {"cores", 0, TROD_OPT_COUNT, AT(cli_input, cores), "N",
     "cores of the order dynamic, at most 4096", NULL, NULL},
    {"file", 0, TROD_OPT_STR, AT(cli_input, schedule), "FILE", "schedule of the order recorded",
     NULL, NULL},
    {"lockstep", 0, TROD_OPT_BOOL, AT(cli_input, lockstep), NULL,
     "recorded: cores take turns, a record each", NULL, NULL},
    {"quantum", 0, TROD_OPT_COUNT, AT(cli_input, quantum), "N",
     "dynamic: instructions after which a thread makes room", NULL, NULL},
    {"scale", 0, TROD_OPT_U64, AT(cli_input, block_scale), "N",
     "dynamic: thousandths of a system call's time for which its thread blocks", NULL, NULL},
    {"parallel", 0, TROD_OPT_BOOL, AT(cli_input, parallel), NULL,
     "dynamic: time passes on each core for itself", NULL, NULL},
    {"all", 0, TROD_OPT_BOOL, AT(cli_input, all_inputs), NULL, "dynamic: all threads to their end",
     NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct trod_option cli_input_options[] = {
    {"from", 'f', TROD_OPT_STR, AT(cli_input, from), "FORMAT[:OPT=VALUE,...]",
     "format of the input, where it is not recognised by itself; see trod formats", NULL, NULL},
    {"order", 0, TROD_OPT_ENUM, AT(cli_input, order), "ORDER",
     "order of the threads of a trace: file (one after the other), time, sync (as the recorded "
     "synchronization allows), recorded (as the schedule in the trace says, or "
     "recorded:file=FILE; with lockstep the cores take turns, a record each), dynamic (as threads "
     "scheduled onto four cores; dynamic:cores=N for N, and with quantum=N, scale=N, parallel, "
     "all)",
     orders, order_options},
    {"modules", 0, TROD_OPT_STR, AT(cli_input, modules), "FILE",
     "list of the program's modules, for opcodes that are not in the trace (default: modules.log "
     "beside it)",
     NULL, NULL},
    {"module-dir", 0, TROD_OPT_STR, AT(cli_input, module_dir), "DIR",
     "where the modules' files are looked for first", NULL, NULL},
    {"strict", 0, TROD_OPT_BOOL, AT(cli_input, strict), NULL,
     "stop at the first damaged record instead of skipping it", NULL, NULL},
    {"jobs", 'j', TROD_OPT_U64, AT(cli_input, jobs), "N",
     "threads to use, at most 256 (default, and 0: one for each processor)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct trod_option cli_index_options[] = {
    {"index", 0, TROD_OPT_STR, AT(cli_index, index), "DIR",
     "folder of the index that trod index made (default: that of the trace, then the user's "
     "cache)",
     NULL, NULL},
    {"no-index", 0, TROD_OPT_BOOL, AT(cli_index, no_index), NULL, "do not use an index", NULL,
     NULL},
    {.type = TROD_OPT_END},
};

const struct trod_option cli_report_options[] = {
    {"format", 0, TROD_OPT_ENUM, AT(cli_report, format), NULL, "how to print the result", formats,
     NULL},
    {"output", 'o', TROD_OPT_STR, AT(cli_report, output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    {.type = TROD_OPT_END},
};

bool cli_once_only(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

struct trod_trace_options cli_trace_options(const struct cli_input *in, uint32_t want)
{
    struct trod_trace_options t;

    memset(&t, 0, sizeof t);
    t.from = in->from;
    t.want = want;
    t.order = in->order < 0 ? TROD_ORDER_FILE : (enum trod_order)in->order;
    t.cores = in->cores < TROD_MOST_CORES ? (uint32_t)in->cores : TROD_MOST_CORES;
    t.schedule = in->schedule;
    t.lockstep = in->lockstep;
    t.quantum = in->quantum;
    t.block_scale = in->block_scale < UINT32_MAX ? (uint32_t)in->block_scale : UINT32_MAX;
    t.all_inputs = in->all_inputs;
    t.parallel = in->parallel;
    t.input.no_thread = in->jobs == 1;
    t.input.beside = (uint16_t)(cli_threads(in) - 1);
    t.beside = (struct trod_beside_options){
        .modules = in->modules, .module_dir = in->module_dir, .more = true};
    return t;
}

bool cli_lacks(const struct trod_format *f, const char *name, char *text, size_t size)
{
    static const struct {
        const char *analysis, *lacks;
        unsigned kind;
    } about[] = {
        {"calls", "traces of format %s have no instructions: calls cannot be followed", TROD_INSTR},
        {"flame", "traces of format %s have no instructions: calls cannot be followed", TROD_INSTR},
        {"profile", "traces of format %s have no instructions: calls cannot be followed",
         TROD_INSTR},
        {"sync", "%s has no synchronization records; tt6 and tt6e have", TROD_SYNC},
    };

    for (size_t i = 0; f && f->kinds && i < sizeof about / sizeof *about; i++)
        if (strcmp(about[i].analysis, name) == 0 && !(f->kinds >> about[i].kind & 1)) {
            snprintf(text, size, about[i].lacks, f->name);
            return true;
        }
    return false;
}

int cli_open(struct trod_trace **t, const char *const *paths, size_t n,
             const struct trod_trace_options *opt, const struct trod_match *m,
             struct trod_diag *diag)
{
    const int r = trod_trace_open(t, paths, n, opt, diag);

    /* what comes from a pipe is looked at when it comes */
    if (r == 0 && !trod_match_all(m) && trod_trace_rewindable(*t))
        trod_trace_settle_windows(*t);
    return r;
}

unsigned cli_jobs(const struct cli_input *in)
{
    return in->jobs < TROD_RUN_JOBS ? (unsigned)in->jobs : TROD_RUN_JOBS;
}

unsigned cli_threads(const struct cli_input *in)
{
    return in->jobs ? cli_jobs(in) : trod_processors();
}

const char *cli_stream_word(const struct trod_meta *m)
{
    if (m->driver)
        return m->driver->streams ? m->driver->streams : "cpu";
    return "thread";
}

int cli_not_input(const struct cli *c, const char *path, struct trod_diag *diag)
{
    if (!path || strcmp(path, "-") == 0)
        return 0;
    for (size_t i = 0; i < c->n_operands; i++) {
        const char *const *operand = &c->operands[i];

        /* one that is not there is not read */
        if (*operand != path && access(*operand, F_OK) == 0 && trod_trace_reads(operand, 1, path))
            return trod_error(diag, TROD_ERR_USAGE, "output.same-file", NULL,
                              "'%s' is input and output at once", path);
    }
    return 0;
}

int cli_report_begin(struct cli_out *o, struct cli *c, const struct cli_report *r)
{
    struct trod_emit_options opt = {.format = (enum trod_emit_format)r->format};

    memset(o, 0, sizeof *o);
    if (cli_not_input(c, r->output, &c->diag) < 0)
        return TROD_ERR_USAGE;
    o->c = c;
    if (r->output && strcmp(r->output, "-") != 0)
        o->path = r->output;
    opt.colour = !o->path && r->format == TROD_EMIT_TEXT && cli_colour(c, STDOUT_FILENO);
    if (!o->path)
        opt.width = cli_fold();
    o->held = !o->path && cli_pager_wanted(c);
    o->file = o->path || o->held ? tmpfile() : stdout;
    if (!o->file && o->held) {
        o->held = false;
        o->file = stdout;
    }
    if (!o->file)
        return trod_error(&c->diag, TROD_ERR_IO, "report.temporary", NULL,
                          "no temporary file for '%s'", o->path);
    if (trod_emit_new(&o->emit, o->file, &opt) == 0)
        return 0;
    if (o->file != stdout)
        fclose(o->file);
    return trod_error(&c->diag, TROD_ERR_NOMEM, "report.memory", NULL, "out of memory");
}

/* Is the report a zip archive already, with members or without? */
static bool is_archive(FILE *file)
{
    char head[4];

    rewind(file);
    return fread(head, 1, sizeof head, file) == sizeof head &&
           (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* The finished report under its name. */
static int deliver(struct cli_out *o)
{
    const struct trod_output_options opt = {.struct_size = sizeof opt,
                                            .compress = is_archive(o->file) ? "none" : NULL};
    struct trod_output *out;
    char block[16384];
    size_t n;
    int r = trod_output_create(&out, o->path, &opt, &o->c->diag);

    if (r != 0)
        return r;
    rewind(o->file);
    while (r == 0 && (n = fread(block, 1, sizeof block, o->file)) > 0)
        r = trod_output_write(out, block, n);
    if (r == 0)
        return trod_output_commit(out);
    trod_output_discard(out);
    return r;
}

/* The finished report to the terminal, through the pager if it is longer than that. */
static void page(struct cli_out *o)
{
    unsigned lines = 0, height = cli_height(STDOUT_FILENO);
    char block[16384];
    size_t n;
    int ch;

    rewind(o->file);
    while (lines < height && (ch = getc(o->file)) != EOF)
        lines += ch == '\n';
    cli_progress_erase(o->c);
    if (lines >= height)
        cli_pager_start(o->c);
    rewind(o->file);
    while ((n = fread(block, 1, sizeof block, o->file)) > 0)
        fwrite(block, 1, n, stdout);
}

int cli_report_end(struct cli_out *o)
{
    int r = trod_emit_free(o->emit);

    if (r != 0)
        trod_error(&o->c->diag, r, "report.write", NULL, "the result could not be written");
    else if (o->path)
        r = deliver(o);
    else if (o->held)
        page(o);
    if (o->file != stdout)
        fclose(o->file);
    return r;
}

void cli_say_loss(struct cli *c, const struct trod_loss *l, const uint64_t *total)
{
    char n[TROD_PUT_GROUPED + 1], of[TROD_PUT_GROUPED + 8] = "";

    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (!l->rows[i])
            continue;
        *trod_put_grouped(n, l->rows[i]) = '\0';
        if (total) {
            memcpy(of, " of ", 4);
            *trod_put_grouped(of + 4, total[i]) = '\0';
        }
        cli_say(c, "lost: %s%s %s rows", n, of, trod_kind_name(i));
    }
    for (unsigned k = 0; k < TROD_COLUMNS; k++)
        for (unsigned i = 0; i < TROD_KINDS; i++) {
            if (!l->columns[i][k])
                continue;
            *trod_put_grouped(n, l->columns[i][k]) = '\0';
            cli_say(c, "lost: %s of %s %s rows", trod_loss_name(k), n, trod_kind_name(i));
        }
    if (l->invented) {
        *trod_put_grouped(n, l->invented) = '\0';
        cli_say(c, "not known: the addresses of %s accesses, written as 0", n);
    }
}
