/*
 * main.c - the command `trod`: finds the sub-command, parses its arguments, runs it.
 *
 * Implements docs/design.md, "Command line". Exit status: 0 yes, equal, valid; 1 different,
 * invalid; 2 trouble.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse.h"
#include "ranks.h"

#define TROD_COMMAND(name) extern const struct cli_command cli_command_##name;
#include "commands.def"
#undef TROD_COMMAND

static const struct cli_command *const commands[] = {
#define TROD_COMMAND(name) &cli_command_##name,
#include "commands.def"
#undef TROD_COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0], NAMES = 160 };

const struct cli_command *cli_command_at(size_t i)
{
    return i < COMMANDS ? commands[i] : cli_analysis_command(i - COMMANDS);
}

const struct cli_command *cli_command_named(const char *name)
{
    const struct cli_command *m;

    if (strcmp(name, "mrc") == 0) /* the field's word for its curve */
        name = "locality";
    for (size_t i = 0; (m = cli_command_at(i)); i++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

static int no_command(struct cli *c, const char *name)
{
    const char *names[NAMES], *near;
    size_t n = 0;

    for (; n < NAMES && cli_command_at(n); n++)
        names[n] = cli_command_at(n)->name;
    near = trod_suggest(name, strlen(name), names, n);
    trod_error(&c->diag, TROD_ERR_USAGE, "args.command", NULL, "unknown %s '%s'%s%s%s",
               name[0] == '-' ? "option" : "command", name, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    fputs("trod: see 'trod --help'\n", stderr);
    return CLI_TROUBLE;
}

static int help(struct cli *c, const char *name, bool man)
{
    const struct cli_command *m;

    if (!name) {
        cli_help_program(stdout);
        return CLI_YES;
    }
    m = cli_command_named(name);
    if (!m && strcmp(name, "where") == 0)
        return cli_help_where(stdout) == 0 ? CLI_YES : CLI_TROUBLE;
    if (!m)
        return no_command(c, name);
    if (man)
        return cli_man_page(m, stdout) == 0 ? CLI_YES : CLI_TROUBLE;
    return cli_help_command(m, stdout) == 0 ? CLI_YES : CLI_TROUBLE;
}

static int run(struct cli *c, char **argv, size_t n)
{
    const struct cli_command *m = c->command;
    void *opt = calloc(1, m->options_size);
    const char **operands = calloc(n + 1, sizeof *operands);
    const int trouble = m->trouble ? m->trouble : CLI_TROUBLE;
    int r = trouble;

    if (!opt || !operands) {
        fputs("trod: out of memory\n", stderr);
    } else {
        if (m->defaults)
            memcpy(opt, m->defaults, m->options_size);
        c->common = opt;
        if (cli_parse(c, argv, n, opt, operands) != 0) {
            fprintf(stderr, "trod: see 'trod %s --help'\n", m->name);
        } else if (c->common->help) {
            r = cli_help_command(m, stdout) == 0 ? CLI_YES : trouble;
        } else {
            c->colour_err = cli_colour(c, STDERR_FILENO);
            r = m->alone && cli_ranks() ? cli_ranks_refuse(c, m->alone) : m->run(c, opt);
        }
        if (cli_diag_end(c, &c->diag) == CLI_TROUBLE)
            r = trouble;
    }
    c->common = NULL;
    free(opt);
    free(operands);
    return r;
}

/* What stdio still holds must reach its place for the run to have been a success. */
static int flush(int r)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return r;
    if (errno == EPIPE) {
        /* whoever reads had enough: end as the signal would have */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    fprintf(stderr, "trod: standard output: %s\n", strerror(errno));
    return CLI_TROUBLE;
}

/*
 * Whoever starts this may have closed the standard descriptors: a file opened then would be one of
 * them, and what is printed would go into it.
 */
static bool standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct cli c;
    const char *name = argc > 1 ? argv[1] : NULL;

    if (!standard_descriptors())
        return CLI_TROUBLE;
    memset(&c, 0, sizeof c);
    signal(SIGPIPE,
           SIG_DFL); /* whoever started this may ignore it: a reader that left ends the run */
    cli_diag_init(&c, &c.diag);
    c.colour_err = cli_colour(&c, STDERR_FILENO);
    if (!name) {
        cli_help_program(stderr);
        return CLI_TROUBLE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("trod %s\n", trod_version());
        return flush(CLI_YES);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return flush(
            help(&c, argc > 2 ? argv[2] : NULL, argc > 3 && strcmp(argv[3], "--man") == 0));
    c.command = cli_command_named(name);
    if (!c.command)
        return no_command(&c, name);
    return flush(run(&c, argv + 2, (size_t)argc - 2));
}
