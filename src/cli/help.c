/*
 * help.c - what `trod --help`, `trod COMMAND --help` and `trod help COMMAND` print.
 *
 * Implements docs/design.md, rule 6: the options come from the command's table.
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { WIDEST = 100 }; /* lines longer than that are hard to read */

static unsigned help_width(FILE *to)
{
    unsigned w = cli_width(fileno(to));

    return w > WIDEST ? WIDEST : w;
}

static int write_all(struct trod_buf *b, int r, FILE *to)
{
    if (r == 0 && b->n)
        fwrite(b->p, 1, b->n, to);
    trod_buf_fini(b);
    return r;
}

void cli_help_program(FILE *to)
{
    struct trod_buf b = {0};
    size_t widest = 0;
    int r;

    for (size_t i = 0; cli_command_at(i); i++) {
        if (strlen(cli_command_at(i)->name) > widest)
            widest = strlen(cli_command_at(i)->name);
    }
    r = trod_buf_printf(&b, "usage: trod COMMAND [OPTION...] [FILE...]\n\n");
    r |= trod_wrap(&b,
                   "Read, show, convert and analyse program-execution traces. FILE may be a "
                   "trace file, compressed or not, a directory that is a trace, or - for "
                   "standard input. The format is recognised by content.\n",
                   0, 0, help_width(to));
    r |= trod_buf_printf(&b, "\nCommands:\n");
    for (size_t i = 0; cli_command_at(i); i++) {
        r |= trod_buf_printf(&b, "  %-*s  ", (int)widest, cli_command_at(i)->name);
        r |= trod_wrap(&b, cli_command_at(i)->title, (unsigned)widest + 4, (unsigned)widest + 4,
                       help_width(to));
        r |= trod_buf_add(&b, "\n", 1);
    }
    r |= trod_buf_printf(&b,
                         "\n"
                         "  trod COMMAND --help   options of a command (also: trod help COMMAND)\n"
                         "  trod --version        version of this program\n\n"
                         "Exit status: 0 yes, equal, valid; 1 different, invalid; 2 trouble.\n");
    write_all(&b, r, to);
}

int cli_help_command(const struct cli_command *m, FILE *to)
{
    struct trod_buf b = {0};
    unsigned width = help_width(to);
    int r;

    r = trod_buf_printf(&b, "usage: trod %s [OPTION...]%s%s\n\n", m->name,
                        m->operands[0] ? " " : "", m->operands);
    r |= trod_wrap(&b, m->about, 0, 0, width);
    r |= trod_buf_printf(&b, "\n\n");
    r |= trod_option_help(m->options, "--", width, &b);
    if (m->examples)
        r |= trod_buf_printf(&b, "\nExamples:\n%s", m->examples);
    return write_all(&b, r, to);
}

int cli_help_where(FILE *to)
{
    const unsigned width = help_width(to), column = 15;
    const struct trod_where_name *n;
    struct trod_buf b = {0};
    const char *type = "";
    int r = trod_wrap(&b,
                      "An expression compares what rows say, as 'kind == WRITE && value == 42': "
                      "with == != < <= > >=, in LO..HI, in {A, B}, ~ /PATTERN/; + - * / % << >> & "
                      "^ | ~ calculate, && || ! and parentheses join. What a row does not say "
                      "makes a comparison false. trod-where(7) has the rules.\n",
                      0, 0, width);

    for (size_t i = 0; r == 0 && (n = trod_where_name_at(i)); i++) {
        if (strcmp(type, n->type) != 0)
            r = trod_buf_printf(&b, "\n%c%s%s:\n", n->type[0] - 'a' + 'A', n->type + 1, "s");
        type = n->type;
        r |= trod_buf_printf(&b, "  %-*s  ", (int)column - 4, n->name);
        r |= trod_wrap(&b, n->text ? n->text : "the same", column, column, width);
        r |= trod_buf_add(&b, "\n", 1);
    }
    return write_all(&b, r, to);
}
