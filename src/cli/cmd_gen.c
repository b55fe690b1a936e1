/*
 * cmd_gen.c - `trod gen`: a trace whose numbers are known, and these numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_report report;
    const char *to, *compress;
    int isa;
    bool list;
};

static const char *const isas[] = {"usual", "x86-64", "x86-32",  "a64",
                                   "ppc32", "mips32", "riscv64", NULL};
static const enum trod_isa isa_of[] = {TROD_ISA_UNKNOWN, TROD_ISA_X86_64, TROD_ISA_X86_32,
                                       TROD_ISA_A64,     TROD_ISA_PPC32,  TROD_ISA_MIPS32,
                                       TROD_ISA_RISCV64};

static const struct trod_option options[] = {
    {"list", 0, TROD_OPT_BOOL, offsetof(struct options, list), NULL,
     "list the patterns and their options", NULL, NULL},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "FORMAT[:OPT=VALUE,...]",
     "format of OUT (default: by its suffix; drmemtrace if it has none); see trod formats", NULL,
     NULL},
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct options, isa), "ISA",
     "instruction set of the program: x86-64, x86-32, a64, ppc32, mips32, riscv64 (default: the "
     "usual one "
     "of the format)",
     isas, NULL},
    {"compress", 'z', TROD_OPT_STR, offsetof(struct options, compress), "FILTER",
     "compress OUT with gzip, zstd, lz4, xz, snappy, zip or none (default: by its suffix)", NULL,
     NULL},
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static int list(struct cli *c, const struct options *o)
{
    static const char *const columns[] = {"pattern", "options", "title"};
    const struct trod_gen_pattern *p;
    struct cli_out out;

    if (cli_report_begin(&out, c, &o->report) != 0)
        return CLI_TROUBLE;
    trod_emit_table(out.emit, "patterns", NULL, columns, 3);
    for (size_t i = 0; (p = trod_gen_pattern_at(i)); i++) {
        char names[256] = "";

        for (const struct trod_option *t = p->options; t->type != TROD_OPT_END; t++) {
            strncat(names, names[0] ? ", " : "", sizeof names - strlen(names) - 1);
            strncat(names, t->name, sizeof names - strlen(names) - 1);
        }
        trod_emit_str(out.emit, NULL, p->name);
        trod_emit_str(out.emit, NULL, names);
        trod_emit_str(out.emit, NULL, p->title);
        trod_emit_row_end(out.emit);
    }
    trod_emit_table_close(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

/* What --to says, or what the name of OUT does; NULL: nothing, as was reported. */
static const struct trod_format *format_of(struct cli *c, const struct options *o)
{
    const struct trod_format *f = trod_format_find("drmemtrace", strlen("drmemtrace"));

    if (!o->to)
        return trod_format_by_name(&f, c->operands[1], f, NULL, &c->diag) < 0 ? NULL : f;
    return trod_format_find(o->to, strcspn(o->to, ":"));
}

static int write_rows(struct trod_gen *g, struct trod_writer *w)
{
    struct trod_batch *b;
    int r;

    while ((r = trod_gen_next(g, &b)) == 1)
        if ((r = trod_writer_put(w, b)) < 0)
            return r;
    return r;
}

static int write_trace(struct cli *c, const struct options *o, struct trod_gen *g,
                       const struct trod_format *f, const struct trod_meta *m)
{
    /* rows say more than some formats have a place for: what is lost is known beforehand */
    const struct trod_writer_options opt = {.to = o->to ? o->to : f->name,
                                            .output.compress = o->compress,
                                            .allow_loss = true,
                                            .columns = trod_gen_columns(g)};
    const char *out = c->operands[1];
    struct trod_writer *w;
    int r;

    cli_interrupt_begin();
    r = trod_writer_open(&w, out, &opt, m, &c->diag);
    if (r < 0)
        return r;
    if (f && f->flags & TROD_FMT_PER_STREAM && trod_gen_streams(g) > 1 && trod_writer_one_file(w))
        r = trod_error(&c->diag, TROD_ERR_USAGE, "gen.streams", NULL,
                       "%s has a file for each thread: name a directory, '%s/'", f->name,
                       strcmp(out, "-") == 0 ? "OUT" : out);
    else
        r = write_rows(g, w);
    if (r < 0) {
        trod_writer_discard(w);
        return r;
    }
    return trod_writer_commit(w, NULL);
}

static int tell(struct cli *c, const struct options *o, const struct trod_gen *g)
{
    struct trod_result *result = NULL;
    struct cli_out out;
    int r;

    if (strcmp(c->operands[1], "-") == 0 && !o->report.output)
        return 0; /* the trace is there */
    r = cli_report_begin(&out, c, &o->report);
    if (r != 0)
        return r;
    r = trod_result_new(&result);
    if (r == 0)
        r = trod_gen_answers(g, result);
    if (r == 0)
        trod_result_emit(result, out.emit);
    trod_result_free(result);
    return cli_report_end(&out) != 0 ? TROD_ERR_IO : r;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    const struct trod_format *f;
    struct trod_gen *g = NULL;
    struct trod_meta meta;
    int r;

    if (o->list)
        return list(c, o);
    if (c->n_operands != 2) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.operands", NULL,
                   "a pattern and a file are needed: trod gen PATTERN OUT");
        return CLI_TROUBLE;
    }
    f = format_of(c, o);
    if (!f && !o->to)
        return CLI_TROUBLE;
    trod_meta_init(&meta);
    r = trod_gen_new(&g, c->operands[0], isa_of[o->isa], f, &meta, &c->diag);
    if (r == 0)
        r = write_trace(c, o, g, f, &meta);
    if (r == 0)
        r = tell(c, o, g);
    if (r == TROD_ERR_NOMEM)
        trod_error(&c->diag, r, "gen.memory", NULL, "out of memory");
    trod_gen_free(g);
    trod_meta_fini(&meta);
    return r < 0 ? CLI_TROUBLE : CLI_YES;
}

const struct cli_command cli_command_gen = {
    .name = "gen",
    .title = "make a trace whose numbers are known, for teaching and testing",
    .operands = "PATTERN[:OPT=VALUE,...] OUT",
    .about =
        "Write the trace of a small program that does one thing - walk through the same lines "
        "again "
        "and again, call itself, fight over a cache line with another thread - and print what must "
        "be found in it: loads, lines, reuse distances, misses, branches, calls. The numbers "
        "follow "
        "from the pattern by arithmetic. --list names the patterns and their options. There is no "
        "--where, since nothing is read: trod convert takes part of the trace.",
    .examples = "  trod gen --list\n"
                "  trod gen cyclic:lines=1000,laps=10 cyclic.trace\n"
                "  trod gen recursion:depth=5 deep.tarmac\n"
                "  trod gen sharing --isa a64 two-threads.d\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 0,
    .most = 2,
    .run = run,
};
