/*
 * man.c - the first text of a command's manual page, from its descriptor: `trod help COMMAND
 * --man`.
 *
 * Everything that --help says is there in mdoc(7); what a manual says beyond that is written by
 * hand into docs/man/trod-COMMAND.1 afterwards (docs/adding-an-analysis.md).
 */
#include <string.h>

#include "cli.h"

/* TEXT with what mdoc would take for its own marks made harmless, and a full stop at the end. */
static int sentence(struct trod_buf *b, const char *text)
{
    int r = 0;

    for (const char *p = text; *p && r == 0; p++) {
        if (*p == '\\')
            r = trod_buf_add(b, "\\e", 2);
        else if (p != text && p[-1] == '.' && *p == ' ')
            r = trod_buf_add(b, "\n", 1);
        else if ((p == text || p[-1] == '\n') && (*p == '.' || *p == '\''))
            r = trod_buf_printf(b, "\\&%c", *p);
        else
            r = trod_buf_add(b, p, 1);
    }
    if (text[0] && text[strlen(text) - 1] != '.')
        r |= trod_buf_add(b, ".", 1);
    return r | trod_buf_add(b, "\n", 1);
}

static int option(struct trod_buf *b, const struct trod_option *o)
{
    int r = trod_buf_printf(b, ".It ");

    if (o->letter)
        r |= trod_buf_printf(b, "Fl %c , ", o->letter);
    r |= trod_buf_printf(b, "Fl -%s", o->name);
    if (o->arg)
        r |= trod_buf_printf(b, " Ar %s", o->arg);
    for (size_t i = 0; o->type == TROD_OPT_ENUM && !o->arg && o->choices[i]; i++)
        r |= trod_buf_printf(b, "%s Cm %s", i ? " |" : "", o->choices[i]);
    r |= trod_buf_add(b, "\n", 1);
    return r | sentence(b, o->text);
}

static int options(struct trod_buf *b, const struct cli_command *m)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(m->options, all, TROD_OPTIONS);
    const char *group = NULL;
    bool open = false;
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        const char *g = all[i].group ? all[i].group : "Options";

        if (!group || strcmp(g, group) != 0) {
            r |= trod_buf_printf(b, "%s.Ss %s\n.Bl -tag -width Ds\n", open ? ".El\n" : "", g);
            group = g;
            open = true;
        }
        r |= option(b, all[i].option);
    }
    return open ? r | trod_buf_printf(b, ".El\n") : r;
}

static int examples(struct trod_buf *b, const char *text)
{
    int r = trod_buf_printf(b, ".Sh EXAMPLES\n.Bd -literal\n");

    return r | trod_buf_printf(b, "%s.Ed\n", text);
}

int cli_man_page(const struct cli_command *m, FILE *to)
{
    struct trod_buf b = {0};
    int r;

    r = trod_buf_printf(&b,
                        ".\\\" The manual of `trod %s`; every option of its table is here.\n"
                        ".Dd November 22, 2026\n.Dt TROD-",
                        m->name);
    for (const char *p = m->name; *p && r == 0; p++)
        r = trod_buf_printf(&b, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    r |=
        trod_buf_printf(&b,
                        " 1\n.Os\n.Sh NAME\n.Nm trod-%s\n.Nd %s\n.Sh SYNOPSIS\n.Nm trod %s\n.Op Ar "
                        "OPTION ...\n.Ar %s\n.Sh DESCRIPTION\n",
                        m->name, m->title, m->name, m->operands);
    r |= sentence(&b, m->about);
    r |= options(&b, m);
    r |= trod_buf_printf(&b,
                         ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nEverything went well.\n.It "
                         "2\nTrouble: wrong usage, a file that cannot be read, or damaged "
                         "input.\n.El\n");
    if (m->examples)
        r |= examples(&b, m->examples);
    r |= trod_buf_printf(&b, ".Sh SEE ALSO\n.Xr trod 1 ,\n.Xr trod-run 1\n");
    if (r == 0)
        fwrite(b.p, 1, b.n, to);
    trod_buf_fini(&b);
    return r;
}
