/*
 * analysis_commands.c - the sub-commands that come from descriptors of analyses.
 *
 * Implements docs/design.md, "Command line": options of the analysis itself beside those that all
 * such commands have (struct cli_analyse).
 */
#include "analyse.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWN_AT = (sizeof(struct cli_analyse) + 63) / 64 * 64, COMMANDS = 128 };

struct made {
    struct cli_command command;
    struct trod_option options[9];
    const struct trod_analysis *analysis;
};

static int run_one(struct cli *c, const void *opt)
{
    const struct made *m = (const struct made *)(const void *)c->command;
    const struct cli_planned plan = {.analysis = m->analysis,
                                     .options = (const uint8_t *)opt + OWN_AT};

    return cli_analyse(c, opt, &plan, 1, NULL);
}

static void make(struct made *m, const struct trod_analysis *a)
{
#define SHARED(at, title, table)                                                                   \
    {                                                                                              \
        .type = TROD_OPT_FUNC, .offset = (at), .text = (title), .more = (table)                    \
    }
    static const struct trod_option none[] = {{.type = TROD_OPT_END}};
    const struct trod_option options[] = {
        SHARED(OWN_AT, "Analysis", a->options ? a->options : none),
        SHARED(offsetof(struct cli_analyse, span), "Part and division", cli_span_options),
        SHARED(offsetof(struct cli_analyse, filter), "Choosing rows", trod_match_option_table),
        SHARED(offsetof(struct cli_analyse, input), "Input", cli_input_options),
        SHARED(offsetof(struct cli_analyse, index), NULL, cli_index_options),
        SHARED(offsetof(struct cli_analyse, report), "Output", cli_report_options),
        SHARED(offsetof(struct cli_analyse, plot), NULL,
               cli_own_option(a, "plot") ? none : cli_plot_options),
        SHARED(offsetof(struct cli_analyse, common), "General", cli_common_options),
        {.type = TROD_OPT_END},
    };
#undef SHARED
    uint8_t *defaults = calloc(1, OWN_AT + a->options_size + 1);

    memcpy(m->options, options, sizeof options);
    if (defaults && a->defaults)
        memcpy(defaults + OWN_AT, a->defaults, a->options_size);
    if (defaults)
        ((struct cli_analyse *)(void *)defaults)->input.order = -1;
    for (const struct trod_option *t = a->options; defaults && t && t->type != TROD_OPT_END; t++)
        if (t->type == TROD_OPT_COUNT && t->name && strcmp(t->name, "width") == 0) {
            const uint64_t width = cli_width(STDOUT_FILENO);

            memcpy(defaults + OWN_AT + t->offset, &width, sizeof width);
        }
    m->analysis = a;
    m->command = (struct cli_command){
        .name = a->name,
        .title = a->title,
        .operands = "FILE...",
        .about = a->about,
        .examples = a->examples,
        .options = m->options,
        .options_size = OWN_AT + a->options_size,
        .defaults = defaults,
        .least = 1,
        .most = SIZE_MAX,
        .run = run_one,
    };
}

const struct cli_command *cli_analysis_command(size_t i)
{
    static struct made *made[COMMANDS];
    const struct trod_analysis *a;

    for (size_t k = 0; (a = trod_analysis_at(k)); k++)
        if (a->about && i-- == 0) {
            if (k >= COMMANDS)
                return NULL;
            if (!made[k] && (made[k] = calloc(1, sizeof **made)))
                make(made[k], a);
            return made[k] ? &made[k]->command : NULL;
        }
    return NULL;
}
