/*
 * args.c - a command line into options and operands, by the command's option table.
 *
 * Implements docs/design.md, rule 6. Names of options are not abbreviated: a script that works
 * today must not become ambiguous because a later version has one more option. What looks like an
 * abbreviation or a slip gets a suggestion.
 */
#include <string.h>

#include "cli.h"

static int unknown(struct cli *c, const char *arg, size_t len)
{
    const char *near = NULL;

    if (c->n_operands > 0 && strncmp(c->command->operands, "-- ", 3) == 0)
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.unknown", NULL,
                          "unknown option '%.*s'; if it is one of '%s', write -- before that: "
                          "trod %s ... -- %s %.*s ...",
                          (int)len, arg, c->operands[0], c->command->name, c->operands[0], (int)len,
                          arg);
    if (len > 2)
        near = trod_option_suggest(c->command->options, arg + 2, len - 2);
    return trod_error(&c->diag, TROD_ERR_USAGE, "args.unknown", NULL, "unknown option '%.*s'%s%s%s",
                      (int)len, arg, near ? "; did you mean '--" : "", near ? near : "",
                      near ? "'?" : "");
}

/* "--name", "--name=value" or "--name value"; *I is left at the last argument used. */
static int long_option(struct cli *c, char **argv, size_t n, size_t *i, void *opt)
{
    char *name = argv[*i] + 2, *value = strchr(name, '=');
    size_t len = value ? (size_t)(value - name) : strlen(name);
    struct trod_option_ref ref;

    if (!trod_option_find(c->command->options, name, len, &ref))
        return unknown(c, argv[*i], len + 2);
    if (value)
        value++;
    else if (ref.option->type != TROD_OPT_BOOL && *i + 1 < n)
        value = argv[++*i];
    return trod_option_assign(&ref, opt, "--", value, &c->diag);
}

/* "-x", "-xVALUE", "-x VALUE" or flags together, "-xy". */
static int letters(struct cli *c, char **argv, size_t n, size_t *i, void *opt)
{
    for (char *p = argv[*i] + 1; *p; p++) {
        struct trod_option_ref ref;
        char *value = NULL;
        int r;

        if (!trod_option_letter(c->command->options, *p, &ref)) {
            char shown[3] = {'-', *p, 0};

            return unknown(c, shown, 2);
        }
        if (ref.option->type != TROD_OPT_BOOL) {
            if (p[1])
                value = p + 1;
            else if (*i + 1 < n)
                value = argv[++*i];
        }
        r = trod_option_assign(&ref, opt, "--", value, &c->diag);
        if (r != 0 || value)
            return r;
    }
    return 0;
}

/* The long name that "-ARG" stands for by the command's aliases, or NULL. */
static const char *alias_of(const struct cli *c, const char *arg)
{
    const char *const *a = c->command->aliases;

    for (; a && *a; a += 2)
        if (strcmp(*a, arg + 1) == 0)
            return a[1];
    return NULL;
}

static int alias(struct cli *c, const char *name, char **argv, size_t n, size_t *i, void *opt)
{
    struct trod_option_ref ref;
    char *value = NULL;

    if (!trod_option_find(c->command->options, name, strlen(name), &ref))
        return unknown(c, argv[*i], strlen(argv[*i]));
    if (ref.option->type != TROD_OPT_BOOL && *i + 1 < n)
        value = argv[++*i];
    return trod_option_assign(&ref, opt, "--", value, &c->diag);
}

static int check_operands(struct cli *c)
{
    const struct cli_command *m = c->command;

    if (c->n_operands < m->least)
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.operands", NULL, "%s: trod %s %s",
                          c->n_operands ? "something is missing" : "no file given", m->name,
                          m->operands);
    if (c->n_operands > m->most)
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.operands", NULL,
                          "unexpected argument '%s'", c->operands[m->most]);
    return 0;
}

int cli_parse(struct cli *c, char **argv, size_t n, void *opt, const char **operands)
{
    bool only_operands = false;

    c->operands = operands;
    c->n_operands = 0;
    for (size_t i = 0; i < n; i++) {
        char *arg = argv[i];
        int r = 0;

        if (only_operands || arg[0] != '-' || arg[1] == 0)
            operands[c->n_operands++] = arg;
        else if (strcmp(arg, "--") == 0)
            only_operands = true;
        else if (arg[1] == '-')
            r = long_option(c, argv, n, &i, opt);
        else if (alias_of(c, arg))
            r = alias(c, alias_of(c, arg), argv, n, &i, opt);
        else
            r = letters(c, argv, n, &i, opt);
        if (r != 0)
            return r;
    }
    return c->common->help ? 0 : check_operands(c);
}
