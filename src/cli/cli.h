/*
 * cli.h - what the sub-commands share: their descriptor, parsed arguments, shared option tables,
 * messages, progress, colours.
 *
 * Implements docs/design.md, "Command line". Everything below src/cli uses include/trod only.
 */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>

#include "trod/trod.h"

enum cli_exit { CLI_YES = 0, CLI_NO = 1, CLI_TROUBLE = 2 };

/* The first member of every command's options struct; its table is cli_common_options. */
struct cli_common {
    bool help, quiet, no_color, no_pager;
    int color; /* 0 auto, 1 always, 2 never */
};

struct cli;

struct cli_command {
    const char *name, *title; /* one line, lower case */
    const char *operands;     /* "FILE..." */
    const char *about;        /* paragraphs for --help */
    const char *examples;     /* lines for --help, or NULL */
    const struct trod_option *options;
    size_t options_size;
    const void *defaults;
    size_t least, most;         /* operands */
    const char *const *aliases; /* "x", "long-name", ...: -x for --long-name; NULL at the end */
    int (*run)(struct cli *c, const void *opt);
    int trouble; /* exit status of its own failures; 0: CLI_TROUBLE */
    /* What is said when it is one of several processes that mpirun started, and none of them does
     * anything; NULL: it knows how to share its work, or takes no notice. */
    const char *alone;
};

/* Command I in the order of commands.def, NULL past the last; by name, NULL if none. */
const struct cli_command *cli_command_at(size_t i);
const struct cli_command *cli_command_named(const char *name);

/* One run of one command. */
struct cli {
    const struct cli_command *command;
    const struct cli_common *common;
    const char *const *operands;
    size_t n_operands;
    struct trod_diag diag; /* usage and what belongs to no file; prints to stderr */
    bool trouble;          /* a problem was reported that makes the exit status 2 */
    bool colour_err;       /* stderr is coloured */
    bool progress_shown;   /* a progress line stands on stderr */
};

/*
 * Split ARGV (N arguments behind the command's name) into options, stored in OPT, and operands.
 * Options and operands may be mixed; "--" ends the options. Returns 0 or TROD_ERR_USAGE, reported.
 * OPERANDS has room for N pointers.
 */
int cli_parse(struct cli *c, char **argv, size_t n, void *opt, const char **operands);

/* Help: of the program, of a command. */
void cli_help_program(FILE *to);
int cli_help_command(const struct cli_command *command, FILE *to);
/* The names that expressions may use. */
int cli_help_where(FILE *to);
/* The first text of its manual page. */
int cli_man_page(const struct cli_command *command, FILE *to);

/* Make D print to stderr as C's own diag does: a diag for each input keeps their counts apart. */
void cli_diag_init(struct cli *c, struct trod_diag *d);
/* Tell what was not shown, and return CLI_TROUBLE if anything went wrong so far, else CLI_YES. */
int cli_diag_end(struct cli *c, struct trod_diag *d);
/* What an output does not have of the rows given, TOTAL by kind (NULL: not known); a line each. */
void cli_say_loss(struct cli *c, const struct trod_loss *l, const uint64_t *total);
/* A line on stderr that is no problem; nothing with --quiet. */
void cli_say(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * From here on a signal that ends the program first takes away what outputs have on the disk that
 * is not complete. To be called once, before outputs are made. Not for who starts other programs:
 * they would inherit the signals blocked.
 */
void cli_interrupt_begin(void);

/* What the streams of a trace are: "thread", "cpu", "agent". */
const char *cli_stream_word(const struct trod_meta *m);

/* Is FD a terminal that a person sits at? */
bool cli_terminal(int fd);
/* Columns of the terminal FD, 60 at the least; where it is none $COLUMNS, or 80. */
unsigned cli_width(int fd);
/* Lines of the terminal FD; 24 where it does not say. */
unsigned cli_height(int fd);
/* Are colours wanted in what goes to FD? */
bool cli_colour(const struct cli *c, int fd);
/*
 * Columns that tables and fields on standard output are folded to: those of the terminal; 0 (not
 * folded) where it is none. $COLUMNS alone does not count: mpirun sets it for what it starts. The
 * same before and after the pager was started.
 */
unsigned cli_fold(void);
/*
 * Print TEXT to TO, where column AT has been reached, and end the line. It is folded to WIDTH
 * columns (0: not): further lines begin in column INDENT.
 */
void cli_put_folded(FILE *to, unsigned width, const char *text, unsigned at, unsigned indent);
/* May what is printed have other characters than ASCII, by the locale? */
bool cli_unicode(void);

/* Percent, rate and time left on stderr, if that is a terminal and the run takes a while. */
struct cli_progress {
    struct cli *c;
    bool on;
    uint64_t begin, last; /* microseconds */
};
void cli_progress_begin(struct cli_progress *p, struct cli *c);
/* Called once a batch. */
void cli_progress_tick(struct cli_progress *p, const struct trod_trace *t, uint64_t rows);
/* The same for whoever knows how far it is without a trace at hand. */
void cli_progress_show(struct cli_progress *p, const struct trod_trace_progress *g);
void cli_progress_end(struct cli_progress *p);
/* Erase what stands there before anything else is written to the terminal. */
void cli_progress_erase(struct cli *c);

/* What the runs that cli_run_go makes have for trod_run_options.stop. */
const volatile bool *cli_stop(void);
/*
 * trod_run_go, with PROGRESS. The first Ctrl-C or SIGTERM ends the reading, if the run has
 * cli_stop: that is said to DIAG, and the exit status will be that of trouble. The second one ends
 * the program.
 */
int cli_run_go(struct cli *c, struct trod_run *run, struct cli_progress *progress,
               struct trod_diag *diag);

/*
 * Shared option tables and the fields they fill. CLI_SHARED makes one a part of a command's table:
 * MEMBER of the command's struct options is what it fills, TITLE its heading in --help.
 */
#define CLI_SHARED(member, title, table)                                                           \
    {                                                                                              \
        .type = TROD_OPT_FUNC, .offset = offsetof(struct options, member), .text = (title),        \
        .more = (table)                                                                            \
    }
#define CLI_COMMON_OPTIONS CLI_SHARED(common, "General", cli_common_options)
#define CLI_INPUT_OPTIONS  CLI_SHARED(input, "Input", cli_input_options)
#define CLI_CUT_OPTIONS    CLI_SHARED(cut, NULL, cli_cut_options)
#define CLI_WHICH_INDEX    CLI_SHARED(index, NULL, cli_index_options)
#define CLI_REPORT_OPTIONS CLI_SHARED(report, "Output", cli_report_options)

extern const struct trod_option cli_common_options[];

struct cli_input {
    const char *from;
    uint64_t jobs; /* 0: as many as there are processors */
    bool strict;
    int order;            /* enum trod_order */
    uint64_t cores;       /* of the order dynamic; 0: four */
    const char *schedule; /* of the order recorded; NULL: that beside the trace */
    bool lockstep;        /* order recorded: cores take turns */
    uint64_t quantum;     /* order dynamic; 0: its default, as for the scale */
    uint64_t block_scale;
    bool parallel;
    bool all_inputs;
    const char *modules, *module_dir;
};
extern const struct trod_option cli_input_options[];

/* The first or the last of the rows chosen. */
struct cli_cut {
    uint64_t head, tail; /* 0: all */
};
extern const struct trod_option cli_cut_options[];
/*
 * Make M give the rows that CUT means: of the first N operands, opened with TOPT, those that FILTER
 * chooses. Returns 0 or an error, reported. For the last rows this reads the files.
 */
int cli_cut_apply(struct cli *c, const struct cli_cut *cut, const struct trod_match_options *filter,
                  const struct trod_trace_options *topt, size_t n, struct trod_match *m,
                  struct trod_diag *diag);

struct cli_report {
    int format; /* enum trod_emit_format */
    const char *output;
};
extern const struct trod_option cli_report_options[];

/* Which index is used. */
struct cli_index {
    const char *index;
    bool no_index;
};
extern const struct trod_option cli_index_options[];

/* True for what can be read only once: a pipe, a terminal, standard input. */
bool cli_once_only(const char *path);
/*
 * Do traces of format F (NULL: not known) have none of the rows that the analysis called NAME is
 * about? What they lack is said in TEXT, of SIZE bytes. Analyses that follow calls say it
 * themselves, but only when the reading begins.
 */
bool cli_lacks(const struct trod_format *f, const char *name, char *text, size_t size);
/* Options of trod_trace_open from what the user gave. WANT: columns needed. */
struct trod_trace_options cli_trace_options(const struct cli_input *in, uint32_t want);
/*
 * trod_trace_open, of rows that M chooses. Where these are not all, reading may end before the
 * trace does: what is met of it then does not depend on how its bytes come in.
 */
int cli_open(struct trod_trace **t, const char *const *paths, size_t n,
             const struct trod_trace_options *opt, const struct trod_match *m,
             struct trod_diag *diag);
/* The threads that --jobs asks for, of which there is a most; 0: one for each processor. */
unsigned cli_jobs(const struct cli_input *in);
/* The same, with as many as there are processors for 0. */
unsigned cli_threads(const struct cli_input *in);

/*
 * The list of modules that names come from where there is no --symbols: that of --modules, else the
 * one beside the only trace that is named. For free(); NULL: there is none.
 */
char *cli_modules(const struct cli *c, const struct cli_input *in);
/* The same for the trace at PATH. */
char *cli_modules_of(const char *path, const struct cli_input *in);
/* As trod_match_new, with the symbols of that list where FILTER has none. */
int cli_match_named(struct trod_match **out, const struct cli *c, const struct cli_input *in,
                    const struct trod_match_options *filter, struct trod_diag *diag);

/*
 * If standard output is a terminal, start a pager ($TROD_PAGER, $PAGER, less) and make it standard
 * output. It is waited for at exit.
 */
void cli_pager_start(struct cli *c);
/* Would it be started? */
bool cli_pager_wanted(const struct cli *c);

/*
 * What is written to PATH (NULL, "-": to standard output) must not be read: no operand but PATH
 * itself, nor a file of one that is a directory. Returns 0 or TROD_ERR_USAGE, reported to DIAG.
 */
int cli_not_input(const struct cli *c, const char *path, struct trod_diag *diag);

/* Where a report goes: standard output, or a file that appears when it is complete. */
struct cli_out {
    struct cli *c;
    FILE *file;
    const char *path; /* NULL: standard output */
    bool held;        /* FILE is temporary: the report may be long enough for a pager */
    struct trod_emit *emit;
};
/*
 * On a terminal the report is held until it is whole; long ones go through the pager. Where it is
 * written over an input (cli_not_input) it does not begin.
 */
int cli_report_begin(struct cli_out *o, struct cli *c, const struct cli_report *r);
/* Ends the emitter too. Returns 0 or an error, reported. */
int cli_report_end(struct cli_out *o);

#endif
