/*
 * cmd_record.c - `trod record`: run a program under QEMU and write a trace of it.
 *
 * The exit status is the program's, 128 and the signal's number if one ended it; 125 stands for
 * failures of the recorder, as with env(1).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "trod/put.h"

enum { CLI_RECORD_TROUBLE = 125 };

struct options {
    struct cli_common common;
    const char *output, *to, *compress, *native, *sysroot, *plugin;
    const char *start, *stop;
    struct trod_list threads, syscalls, functions, sources;
    uint64_t level, skip, take, windows, size_limit;
    bool pthreads, no_memory, registers, values, markers, no_children, system, allow_loss, heap;
};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "Target"},
    {"output", 'o', TROD_OPT_STR, offsetof(struct options, output), "OUT",
     "file or folder of the trace (needed)", NULL, NULL},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "FORMAT[:OPT=VALUE,...]",
     "format of OUT (default: by its suffix; drmemtrace if it has none); see trod formats", NULL,
     NULL},
    {"compress", 'z', TROD_OPT_STR, offsetof(struct options, compress), "FILTER",
     "compress OUT with gzip, zstd, lz4, xz, snappy or none (default: by its suffix)", NULL, NULL},
    {"level", 0, TROD_OPT_U64, offsetof(struct options, level), "N",
     "level of compression (default: a fast one)", NULL, NULL},
    {.type = TROD_OPT_GROUP, .text = "What is recorded"},
    {"start", 0, TROD_OPT_STR, offsetof(struct options, start), "ADDRESS|SYMBOL",
     "begin to record when the program comes there (0x..., or a function)", NULL, NULL},
    {"stop", 0, TROD_OPT_STR, offsetof(struct options, stop), "ADDRESS|SYMBOL",
     "end recording when it comes there", NULL, NULL},
    {"markers", 0, TROD_OPT_BOOL, offsetof(struct options, markers), NULL,
     "the same as --start trod_start --stop trod_stop: functions of the program", NULL, NULL},
    {"skip", 0, TROD_OPT_U64, offsetof(struct options, skip), "N",
     "leave out N instructions (after --start, if given)", NULL, NULL},
    {"take", 0, TROD_OPT_U64, offsetof(struct options, take), "N",
     "then record N instructions; the program runs on unrecorded", NULL, NULL},
    {"windows", 0, TROD_OPT_U64, offsetof(struct options, windows), "N",
     "do so N times (default: with --start each time, else once)", NULL, NULL},
    {"threads", 0, TROD_OPT_LIST, offsetof(struct options, threads), "N,...",
     "record these threads only, numbered from 0 as they begin", NULL, NULL},
    {"no-children", 0, TROD_OPT_BOOL, offsetof(struct options, no_children), NULL,
     "leave out processes that the program starts", NULL, NULL},
    {"size-limit", 0, TROD_OPT_BYTES, offsetof(struct options, size_limit), "BYTES",
     "end recording when the trace has so many bytes before compression", NULL, NULL},
    {"pthreads", 'p', TROD_OPT_BOOL, offsetof(struct options, pthreads), NULL,
     "PowerPC, tt6 and tt6e: records of thread synchronization", NULL, NULL},
    {"syscalls", 0, TROD_OPT_LIST, offsetof(struct options, syscalls), "NAME[:N]|all,...",
     "drmemtrace: the N (6) arguments and the result of these system calls", NULL, NULL},
    {"function", 0, TROD_OPT_LIST, offsetof(struct options, functions), "NAME[:N[:noret]],...",
     "drmemtrace: calls of these functions, N (6) arguments, their results", NULL, NULL},
    {"heap", 0, TROD_OPT_BOOL, offsetof(struct options, heap), NULL,
     "drmemtrace: the same of malloc, free, operator new and their like", NULL, NULL},
    {"no-memory", 0, TROD_OPT_BOOL, offsetof(struct options, no_memory), NULL,
     "instructions only, no accesses to memory", NULL, NULL},
    {"allow-loss", 0, TROD_OPT_BOOL, offsetof(struct options, allow_loss), NULL,
     "also where not everything can be recorded, or OUT's format cannot hold it", NULL, NULL},
    {"registers", 0, TROD_OPT_BOOL, offsetof(struct options, registers), NULL,
     "also what instructions write to registers, and the values of accesses (full: always)", NULL,
     NULL},
    {"values", 0, TROD_OPT_BOOL, offsetof(struct options, values), NULL,
     "csv, tarmac, matcher: the values of accesses, without registers", NULL, NULL},
    {"sources", 0, TROD_OPT_LIST, offsetof(struct options, sources), "SOURCE,...",
     "tarmac, matcher: only these: instructions, flow, registers, events, memory, updates", NULL,
     NULL},
    {.type = TROD_OPT_GROUP, .text = "How the program is run"},
    {"system", 0, TROD_OPT_BOOL, offsetof(struct options, system), NULL,
     "PROGRAM is what a machine boots (ELF file, disk); ARG... are options of QEMU", NULL, NULL},
    {"native", 0, TROD_OPT_STR, offsetof(struct options, native), "QEMU",
     "the QEMU to use (default: the one for the program's instruction set)", NULL, NULL},
    {"sysroot", 0, TROD_OPT_STR, offsetof(struct options, sysroot), "DIR",
     "where loader and libraries of the program are (default: /, else that of its cross compiler)",
     NULL, NULL},
    {"plugin", 0, TROD_OPT_STR, offsetof(struct options, plugin), "FILE",
     "the plugin to load into QEMU (default: the one installed with trod)", NULL, NULL},
    {.type = TROD_OPT_FUNC,
     .offset = offsetof(struct options, common),
     .text = "General",
     .more = cli_common_options},
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.take = UINT64_MAX, .size_limit = UINT64_MAX};

static volatile sig_atomic_t program;

/* The terminal's signals are the program's: it gets them as well. */
static void stay(int number)
{
    (void)number;
}

static void pass_on(int number)
{
    int saved = errno;

    if (program > 0)
        kill((pid_t)program, number);
    errno = saved;
}

static void started(void *user, long pid)
{
    (void)user;
    program = (sig_atomic_t)pid;
}

/* What is ignored here stays so, for the program too; handlers do not outlive exec. */
static void set_signals(void)
{
    static const int handled[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) {
        struct sigaction a = {.sa_flags = SA_RESTART}, old;

        a.sa_handler = i < 2 ? stay : pass_on;
        if (sigaction(handled[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(handled[i], &a, NULL);
    }
}

struct shown {
    struct cli *c;
    bool on;
    struct timespec begin;
    double last;
};

/* Show progress if standard error is a terminal to which the program does not write, too. */
static void progress(void *user, const struct trod_record_progress *p)
{
    struct shown *s = user;
    struct timespec t;
    double seconds;

    if (!s->on)
        return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    seconds = (double)(t.tv_sec - s->begin.tv_sec) + (double)(t.tv_nsec - s->begin.tv_nsec) / 1e9;
    if (seconds < 0.5 || seconds - s->last < 0.2)
        return;
    s->last = seconds;
    fprintf(stderr, "\r\033[K%.1f M instructions, %.1f M/s, %.1f MB", (double)p->instructions / 1e6,
            (double)p->instructions / 1e6 / seconds, (double)p->bytes / 1e6);
    fflush(stderr);
    s->c->progress_shown = true;
}

/* What this QEMU can tell, before the program says anything. */
static void able(void *user, const struct trod_record_able *a)
{
    const struct shown *s = user;

    cli_say(s->c, "%s (plugin interface %u): instructions, opcodes, accesses%s%s", a->qemu, a->api,
            !a->registers ? "; no registers"
            : a->vectors  ? ", registers"
                          : ", registers but those of vectors",
            a->values ? ", values" : "; no values");
}

/* Instructions without the accesses that they have made. */
static void say_untold(struct cli *c, const struct trod_record_untold *u)
{
    char n[TROD_PUT_GROUPED + 1];

    if (u->sve) {
        *trod_put_grouped(n, u->sve) = 0;
        cli_say(c,
                "%s SVE load%s and store%s without accesses: QEMU does not tell these; record "
                "without QEMU_CPU, for a processor that has no SVE",
                n, u->sve == 1 ? "" : "s", u->sve == 1 ? "" : "s");
    }
    if (u->zeroes) {
        *trod_put_grouped(n, u->zeroes) = 0;
        cli_say(c, "%s DC ZVA without accesses: this QEMU does not tell what they clear", n);
    }
    if (u->hints) {
        *trod_put_grouped(n, u->hints) = 0;
        cli_say(c,
                "%s prefetch%s or cache operation%s without an address, which QEMU does not tell",
                n, u->hints == 1 ? "" : "es", u->hints == 1 ? "" : "s");
    }
}

static void say(struct cli *c, const struct options *o, const char *to,
                const struct trod_record_result *r)
{
    char who[64], instructions[TROD_PUT_GROUPED + 1], accesses[TROD_PUT_GROUPED + 1];

    if (r->target.system)
        snprintf(who, sizeof who, "%u processor%s", r->threads, r->threads == 1 ? "" : "s");
    else
        snprintf(who, sizeof who, "%u thread%s of %u process%s", r->threads,
                 r->threads == 1 ? "" : "s", r->processes, r->processes == 1 ? "" : "es");
    *trod_put_grouped(instructions, r->instructions) = 0;
    *trod_put_grouped(accesses, r->accesses) = 0;
    cli_say(c, "%s: %s instructions and %s accesses of %s, %s, as %s", o->output, instructions,
            accesses, who, r->target.isa, to);
    cli_say_loss(c, &r->loss, NULL);
    if (r->folder)
        cli_say(c, "%s is a folder with a file for each thread: a file of %s holds one", o->output,
                to);
    if (r->executed)
        cli_say(c, "with %u program%s that %s executed", r->executed, r->executed == 1 ? "" : "s",
                r->executed == 1 ? "was" : "were");
    if (r->unnamed)
        cli_say(
            c,
            "%llu different instruction%s unknown to the disassembler (%s), written as .byte: a "
            "later one may know %s",
            (unsigned long long)r->unnamed, r->unnamed == 1 ? " is" : "s are",
            trod_disasm_version(), r->unnamed == 1 ? "it" : "them");
    say_untold(c, &r->untold);
    if (r->trouble & TROD_RECORD_LOST)
        cli_say(c, "incomplete: %u program%s ran unrecorded", r->unrecorded,
                r->unrecorded == 1 ? "" : "s");
    if (r->trouble & TROD_RECORD_KILLED)
        cli_say(c, "the program was ended by signal %d: the trace ends there", r->status - 128);
    if (r->trouble & TROD_RECORD_KILLED && r->status == 128 + SIGILL && !getenv("QEMU_CPU") &&
        strcmp(r->target.isa, "aarch64") == 0)
        cli_say(c, "programs have a processor without SVE and SME: QEMU_CPU=max has both, QEMU "
                   "tells little of their accesses");
    if (r->trouble & TROD_RECORD_TAKEN)
        cli_say(c, "recording ended after %s instructions as wanted: the program ran on",
                instructions);
    if (r->trouble & TROD_RECORD_NEVER)
        cli_say(c, "the program never came to '%s': nothing is recorded",
                o->markers ? "trod_start" : o->start);
    if (r->trouble & TROD_RECORD_SIZE)
        cli_say(c, "recording ended at the size limit: the program ran on");
}

static struct trod_record_options wanted(const struct options *o, struct shown *shown)
{
    return (struct trod_record_options){
        .to = o->to,
        .output = {.compress = o->compress, .level = o->level > 99 ? 99 : (int)o->level},
        .qemu = o->native,
        .sysroot = o->sysroot,
        .plugin = o->plugin,
        .system = o->system,
        .start = o->markers ? "trod_start" : o->start,
        .stop = o->markers ? "trod_stop" : o->stop,
        .skip = o->skip,
        .take = o->take == UINT64_MAX ? 0 : o->take,
        .windows = o->windows,
        .threads = o->threads,
        .syscalls = o->syscalls,
        .no_children = o->no_children,
        .size_limit = o->size_limit == UINT64_MAX ? 0 : o->size_limit,
        .pthreads = o->pthreads,
        .no_memory = o->no_memory,
        .registers = o->registers,
        .values = o->values,
        .sources = o->sources,
        .functions = o->functions,
        .heap = o->heap,
        .allow_loss = o->allow_loss,
        .user = shown,
        .able = able,
        .started = started,
        .progress = progress};
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct shown shown = {.c = c};
    struct trod_record_options ro = wanted(o, &shown);
    struct trod_record_result result;
    int r;

    if (!o->output) {
        trod_error(&c->diag, TROD_ERR_USAGE, "record.output", NULL,
                   "where to write the trace is not said: --output OUT");
        return CLI_RECORD_TROUBLE;
    }
    if (o->take == 0 || o->size_limit == 0) {
        trod_error(&c->diag, TROD_ERR_USAGE, "record.nothing", NULL,
                   "--%s 0 records nothing: leave it out to record to the end",
                   o->take == 0 ? "take" : "size-limit");
        return CLI_RECORD_TROUBLE;
    }
    if (!ro.to) {
        const struct trod_format *f = trod_format_find("drmemtrace", strlen("drmemtrace"));

        if (trod_format_by_name(&f, o->output, f, NULL, &c->diag) < 0)
            return CLI_RECORD_TROUBLE;
        ro.to = f->name;
    }
    shown.on = !c->common->quiet && cli_terminal(STDERR_FILENO) && !cli_terminal(STDOUT_FILENO);
    clock_gettime(CLOCK_MONOTONIC, &shown.begin);
    set_signals();
    r = trod_record(o->output, (char *const *)(uintptr_t)c->operands, &ro, &result, &c->diag);
    if (shown.on && c->progress_shown)
        fputs("\r\033[K", stderr);
    c->progress_shown = false;
    if (r < 0)
        return CLI_RECORD_TROUBLE;
    if (result.trouble & TROD_RECORD_LIMIT)
        trod_error(&c->diag, TROD_ERR_LIMIT, "record.limit", NULL,
                   "the program has more code or threads than a recording holds: some are missing");
    say(c, o, ro.to, &result);
    return result.trouble & TROD_RECORD_LOST && !o->allow_loss ? CLI_RECORD_TROUBLE : result.status;
}

const struct cli_command cli_command_record = {
    .name = "record",
    .title = "run a program and write a trace of it",
    .operands = "-- PROGRAM [ARG...]",
    .about =
        "Run PROGRAM, of any instruction set that is known, under QEMU and write what it "
        "executes and which memory it accesses to OUT. Threads, child processes and programs "
        "that are executed are recorded too. OUT appears when all of them have ended. The "
        "exit status is the program's; 125 if it, or one that it executed, could not be "
        "recorded. There is no --where, since no rows are read: --start, --stop, --skip, --take "
        "and --threads choose what is recorded.",
    .examples = "  trod record -o ls.trace -- ls -l\n"
                "  trod record -o part.trace.zip --skip 1M --take 10M -- ./program\n"
                "  trod record -o ppc.tt6 -- ./program-for-powerpc\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
    .trouble = CLI_RECORD_TROUBLE,
};
