/*
 * cmd_completion.c - `trod completion SHELL`: a completion script made from the option tables.
 *
 * bash and zsh (through its bashcompinit) share one script; fish has a line for each option.
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

/* Values of options whose table does not list them; commands that have the option share them. */
static const struct {
    const char *option, *words;
} known[] = {
    {"compress", "gzip zstd lz4 xz snappy zip none"},
    {"track", "instr reg mem event other all"},
    {"sources", "instructions flow registers events memory updates"},
};

static const char script_head[] =
    "# completion for trod in bash and zsh; load it with: source <(trod completion bash)\n"
    "_trod()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD prev head= option= words= i cmd= "
    "list=\n"
    "    local have=$cur breaks='^[@:=]+$'\n"
    "    # bash parts words at colons and the like, and replaces only what is behind the last "
    "one,\n"
    "    # of @ with it; zsh does not: --to=tarmac:dialect=es is one argument for both\n"
    "    [[ $have =~ $breaks ]] && have=\n"
    "    while [[ -n $cur ]] && ((at > 1)) && [[ $COMP_LINE == *\"${COMP_WORDS[at-1]}$cur\"* ]] "
    "&&\n"
    "        [[ ${COMP_WORDS[at]} =~ $breaks || ${COMP_WORDS[at-1]} =~ $breaks ]]; do\n"
    "        cur=${COMP_WORDS[--at]}$cur\n"
    "    done\n"
    "    head=${cur%\"$have\"} head=${head%@} prev=${COMP_WORDS[at-1]}\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        prev=${cur%%=*} option=$prev= cur=${cur#*=}\n"
    "    fi\n"
    "    for ((i = 1; i < at; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == -* ]] || { cmd=${COMP_WORDS[i]}; break; }\n"
    "    done\n"
    "    if [[ $cmd == record ]]; then\n"
    "        for ((i = 2; i < at; i++)); do\n"
    "            [[ ${COMP_WORDS[i]} == -- ]] || continue\n"
    "            option+=${cur%\"${cur##*=}\"} cur=${cur##*=}\n"
    "            ((i + 1 == at)) && COMPREPLY=($(compgen -P \"$option\" -c -- \"$cur\"))\n"
    "            COMPREPLY+=($(compgen -P \"$option\" -f -- \"$cur\"))\n"
    "            COMPREPLY=(\"${COMPREPLY[@]#\"$head\"}\")\n"
    "            return\n"
    "        done\n"
    "    fi\n"
    "    case $cmd:$prev in\n";

static const char script_tail[] = "    esac\n"
                                  "    if [[ -z $words$option && $cur == -* ]]; then\n"
                                  "        case $cmd in\n";

static const char script_end[] =
    "        esac\n"
    "    fi\n"
    "    if [[ -n $words ]]; then\n"
    "        # of a list the last item is completed\n"
    "        [[ $cur == *,* ]] && list=${cur%,*},\n"
    "        COMPREPLY=($(compgen -P \"$option$list\" -W \"$words\" -- \"${cur##*,}\"))\n"
    "        # words are no names of files; behind an equals sign a value follows. zsh has no "
    "compopt\n"
    "        compopt +o filenames 2>/dev/null\n"
    "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
    "    else\n"
    "        COMPREPLY=($(compgen -P \"$option\" -f -- \"$cur\"))\n"
    "    fi\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$head\"}\")\n"
    "}\n"
    "complete -o filenames -F _trod trod\n";

/* Words of an option's value, separated by blanks; empty: file names. */
static void put_values(const struct trod_option *o, struct trod_buf *b)
{
    for (size_t k = 0; o->type == TROD_OPT_ENUM && o->choices[k]; k++)
        trod_buf_printf(b, "%s%s", k ? " " : "", o->choices[k]);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (o->type != TROD_OPT_ENUM && strcmp(known[k].option, o->name) == 0)
            trod_buf_printf(b, "%s", known[k].words);
    if (strcmp(o->name, "kind") == 0) {
        trod_buf_printf(b, "MEMORY FETCH");
        for (unsigned k = 0; trod_kind_name(k); k++)
            trod_buf_printf(b, " %s", trod_kind_name(k));
    }
    if (strcmp(o->name, "only") == 0 || strcmp(o->name, "skip") == 0)
        for (size_t k = 0; o->type == TROD_OPT_LIST && trod_rule_at(k); k++)
            trod_buf_printf(b, "%s%s", k ? " " : "", trod_rule_at(k)->id);
}

/* "tarmac tarmac:dialect=fm ...": formats, and their options with the values they have. */
static void put_formats(struct trod_buf *b, bool write)
{
    const struct trod_format *f;

    for (size_t k = 0; (f = trod_format_at(k)); k++) {
        struct trod_option_ref all[TROD_OPTIONS];
        size_t n = trod_option_flatten(f->options, all, TROD_OPTIONS);

        if (write ? !f->begin : !f->decode)
            continue;
        trod_buf_printf(b, "%s%s", b->n ? " " : "", f->name);
        for (size_t i = 0; i < n; i++) {
            const struct trod_option *o = all[i].option;

            for (size_t v = 0; o->type == TROD_OPT_ENUM && o->choices[v]; v++)
                trod_buf_printf(b, " %s:%s=%s", f->name, o->name, o->choices[v]);
            if (o->type != TROD_OPT_ENUM)
                trod_buf_printf(b, " %s:%s=", f->name, o->name);
        }
    }
}

/* The same of the views. */
static void put_views(struct trod_buf *b)
{
    const struct trod_export *v;

    for (size_t k = 0; (v = trod_export_at(k)); k++) {
        struct trod_option_ref all[TROD_OPTIONS];
        size_t n = v->options ? trod_option_flatten(v->options, all, TROD_OPTIONS) : 0;

        trod_buf_printf(b, "%s%s", b->n ? " " : "", v->name);
        for (size_t i = 0; i < n; i++) {
            const struct trod_option *o = all[i].option;

            for (size_t c = 0; o->type == TROD_OPT_ENUM && o->choices[c]; c++)
                trod_buf_printf(b, " %s:%s=%s", v->name, o->name, o->choices[c]);
            if (o->type != TROD_OPT_ENUM)
                trod_buf_printf(b, " %s:%s=", v->name, o->name);
        }
    }
}

/* What the value of option O of command M may be. Release B. */
static void words_of(const struct cli_command *m, const struct trod_option *o, struct trod_buf *b)
{
    const bool view = strcmp(m->name, "export") == 0;

    if (strcmp(o->name, "from") == 0 || (strcmp(o->name, "to") == 0 && !view))
        put_formats(b, o->name[0] == 't');
    else if (strcmp(o->name, "to") != 0)
        put_values(o, b);
    if (strcmp(o->name, "to") == 0 && (view || strcmp(m->name, "convert") == 0))
        put_views(b);
}

/* The values of the options of M that have a fixed set of them. */
static void values(const struct cli_command *m)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(m->options, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++) {
        const struct trod_option *o = all[i].option;
        struct trod_buf b = {0};

        words_of(m, o, &b);
        if (b.n) {
            printf("    %s:--%s", m->name, o->name);
            if (o->letter)
                printf("|%s:-%c", m->name, o->letter);
            printf(") words=\"%.*s\" ;;\n", (int)b.n, (const char *)b.p);
        }
        trod_buf_fini(&b);
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

static void bash(void)
{
    fputs(script_head, stdout);
    printf("    :*|help:*) words=\"help --help --version");
    for (size_t i = 0; cli_command_at(i); i++)
        printf(" %s", cli_command_at(i)->name);
    printf("\" ;;\n");
    for (size_t i = 0; cli_command_at(i); i++)
        values(cli_command_at(i));
    printf("    formats:*) [[ $cur == -* ]] || words=\"");
    for (size_t k = 0; trod_format_at(k); k++)
        printf("%s ", trod_format_at(k)->name);
    for (size_t k = 0; trod_export_at(k); k++)
        printf("%s ", trod_export_at(k)->name);
    printf("\" ;;\n    completion:*) [[ $cur == -* ]] || words=\"bash zsh fish\" ;;\n");
    fputs(script_tail, stdout);
    for (size_t i = 0; cli_command_at(i); i++)
        names(cli_command_at(i));
    fputs(script_end, stdout);
}

/* S in single quotes, as fish reads them. */
static void quoted(const char *s)
{
    putchar('\'');
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            putchar('\\');
        putchar(*s);
    }
    putchar('\'');
}

static void fish_options(const struct cli_command *m)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(m->options, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++) {
        const struct trod_option *o = all[i].option;
        struct trod_buf b = {0};

        printf("complete -c trod -n '__fish_seen_subcommand_from %s' -l %s", m->name, o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->type != TROD_OPT_BOOL) {
            words_of(m, o, &b);
            printf(b.n ? " -x -a '%.*s'" : " -r", (int)b.n, b.n ? (const char *)b.p : "");
        }
        printf(" -d ");
        quoted(o->text);
        putchar('\n');
        trod_buf_fini(&b);
    }
}

static void fish(void)
{
    printf("# completion for trod in fish; load it with: trod completion fish | source\n");
    for (size_t i = 0; cli_command_at(i); i++) {
        printf("complete -c trod -n __fish_use_subcommand -f -a %s -d ", cli_command_at(i)->name);
        quoted(cli_command_at(i)->title);
        putchar('\n');
    }
    for (size_t i = 0; cli_command_at(i); i++)
        fish_options(cli_command_at(i));
    printf("complete -c trod -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n");
    printf("complete -c trod -n '__fish_seen_subcommand_from formats' -f -a '");
    for (size_t k = 0; trod_format_at(k); k++)
        printf("%s%s", k ? " " : "", trod_format_at(k)->name);
    for (size_t k = 0; trod_export_at(k); k++)
        printf(" %s", trod_export_at(k)->name);
    printf("'\n");
}

static int run(struct cli *c, const void *opt)
{
    (void)opt;
    if (strcmp(c->operands[0], "fish") == 0) {
        fish();
    } else if (strcmp(c->operands[0], "zsh") == 0) {
        printf("# zsh reads the completion of bash: source <(trod completion zsh)\n"
               "autoload -U +X bashcompinit && bashcompinit\n");
        bash();
    } else if (strcmp(c->operands[0], "bash") == 0) {
        bash();
    } else {
        trod_error(&c->diag, TROD_ERR_USAGE, "completion.shell", NULL,
                   "no completion for '%s', only for bash, zsh and fish", c->operands[0]);
        return CLI_TROUBLE;
    }
    return CLI_YES;
}

const struct cli_command cli_command_completion = {
    .name = "completion",
    .title = "print a completion script for the shell",
    .operands = "bash|zsh|fish",
    .about = "Print a script that makes the shell complete the commands, options and values of "
             "trod. There is no --where: no trace is read.",
    .examples = "  source <(trod completion bash)\n"
                "  source <(trod completion zsh)\n"
                "  trod completion fish | source\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = 1,
    .run = run,
};
