/*
 * cmd_completion.c - `trod completion bash`: a completion script made from the option tables.
 */
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
};

static const struct trod_option options[] = {
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const char script_head[] =
    "# bash completion for trod; load it with: source <(trod completion bash)\n"
    "_trod()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= i cmd=\n"
    "    if [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == -* ]] || { cmd=${COMP_WORDS[i]}; break; }\n"
    "    done\n"
    "    case $cmd:$prev in\n";

static const char script_tail[] = "    esac\n"
                                  "    if [[ -z $words && $cur == -* ]]; then\n"
                                  "        case $cmd in\n";

static const char script_end[] = "        esac\n"
                                 "    fi\n"
                                 "    if [[ -n $words ]]; then\n"
                                 "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                                 "    else\n"
                                 "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                                 "    fi\n"
                                 "}\n"
                                 "complete -o filenames -F _trod trod\n";

static void commands(void)
{
    for (size_t i = 0; cli_command_at(i); i++)
        printf("%s ", cli_command_at(i)->name);
}

/* The values of the options of M that have a fixed set of them. */
static void values(const struct cli_command *m)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(m->options, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++) {
        const struct trod_option *o = all[i].option;

        if (o->type == TROD_OPT_ENUM) {
            printf("    %s:--%s) words=\"", m->name, o->name);
            for (size_t k = 0; o->choices[k]; k++)
                printf("%s%s", k ? " " : "", o->choices[k]);
            printf("\" ;;\n");
        } else if (strcmp(o->name, "from") == 0 || strcmp(o->name, "to") == 0) {
            printf("    %s:--%s) words=\"", m->name, o->name);
            for (size_t k = 0; trod_format_at(k); k++)
                printf("%s%s", k ? " " : "", trod_format_at(k)->name);
            printf("\" ;;\n");
        } else if (strcmp(o->name, "kind") == 0) {
            printf("    %s:--%s) words=\"MEMORY", m->name, o->name);
            for (unsigned k = 0; trod_kind_name(k); k++)
                printf(" %s", trod_kind_name(k));
            printf("\" ;;\n");
        }
    }
}

static void names(const struct cli_command *m)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(m->options, all, TROD_OPTIONS);

    printf("        %s) words=\"", m->name);
    for (size_t i = 0; i < n; i++)
        printf("%s--%s", i ? " " : "", all[i].option->name);
    printf("\" ;;\n");
}

static int run(struct cli *c, const void *opt)
{
    (void)opt;
    if (strcmp(c->operands[0], "bash") != 0) {
        trod_error(&c->diag, TROD_ERR_USAGE, "completion.shell", NULL,
                   "no completion for '%s', only for 'bash'", c->operands[0]);
        return CLI_TROUBLE;
    }
    fputs(script_head, stdout);
    printf("    :*|help:*) words=\"help --help --version ");
    commands();
    printf("\" ;;\n");
    for (size_t i = 0; cli_command_at(i); i++)
        values(cli_command_at(i));
    printf("    formats:*) [[ $cur == -* ]] || words=\"");
    for (size_t k = 0; trod_format_at(k); k++)
        printf("%s ", trod_format_at(k)->name);
    printf("\" ;;\n    completion:*) [[ $cur == -* ]] || words=bash ;;\n");
    fputs(script_tail, stdout);
    for (size_t i = 0; cli_command_at(i); i++)
        names(cli_command_at(i));
    fputs(script_end, stdout);
    return CLI_YES;
}

const struct cli_command cli_command_completion = {
    .name = "completion",
    .title = "print a completion script for the shell",
    .operands = "bash",
    .about = "Print a script that makes bash complete the commands, options and values of trod.",
    .examples = "  source <(trod completion bash)\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = 1,
    .run = run,
};
