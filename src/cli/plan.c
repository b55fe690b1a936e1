/*
 * plan.c - analyses named on a command line or in a saved state.
 *
 * A saved state is a head of lines ("trod state 1", then "part I/N", "run SPEC", "from FORMAT"
 * and "by WHAT" where they were given, "symbols ELF" for each file of --symbols, "modules FILE",
 * "path PATH" for each operand, "damaged" where problems were reported, "ended" where reading ended
 * with one (--strict), and an empty line), behind it what trod_run_save wrote, and at the end a sum
 * of all this.
 */
#include "plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "trod state 1\n";

/* Whose options are read, and who is told what is wrong with them. */
struct whose {
    const struct trod_analysis *analysis;
    struct trod_diag *diag;
};

static void wrong(void *user, const struct trod_problem *p)
{
    const struct whose *w = user;

    trod_error(w->diag, p->status, p->kind, NULL, "analysis '%s': %s", w->analysis->name,
               p->message);
}

static int add(struct cli_plan *p, const struct trod_analysis *a, char *spec,
               struct trod_diag *diag)
{
    struct whose whose = {a, diag};
    struct trod_diag options;
    void *opt;

    if (p->n == TROD_RUN_ITEMS)
        return trod_error(diag, TROD_ERR_USAGE, "run.too-many", NULL,
                          "more than %d analyses in one run", TROD_RUN_ITEMS);
    opt = calloc(1, a->options_size + 1);
    if (!opt)
        return TROD_ERR_NOMEM;
    if (a->defaults)
        memcpy(opt, a->defaults, a->options_size);
    p->options[p->n] = opt;
    p->item[p->n++] = (struct cli_planned){.analysis = a, .options = opt};
    if (spec && !a->options)
        return trod_error(diag, TROD_ERR_USAGE, "run.option", NULL,
                          "analysis '%s' has no options: write it without ':'", a->name);
    trod_diag_init(&options, wrong, &whose);
    return spec ? trod_option_spec(a->options, opt, spec, &options) : 0;
}

static const struct trod_analysis *named(const char *s, size_t *n)
{
    *n = strcspn(s, ":,");
    return trod_analysis_find(s, *n);
}

static int no_analysis(const char *s, size_t n, struct trod_diag *diag)
{
    const char *names[256], *near;
    size_t k = 0;

    for (; k < 256 && trod_analysis_at(k); k++)
        names[k] = trod_analysis_at(k)->name;
    near = trod_suggest(s, n, names, k);
    if (n == 0)
        return trod_error(diag, TROD_ERR_USAGE, "run.analysis", NULL,
                          "the name of an analysis is missing; trod run --list names them");
    return trod_error(diag, TROD_ERR_USAGE, "run.analysis", NULL,
                      "no analysis is called '%.*s'%s%s%s; trod run --list names them", (int)n, s,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int cli_plan_parse(struct cli_plan *p, const char *spec, struct trod_diag *diag)
{
    char *at;
    int r = 0;

    if (!(p->text = strdup(spec)))
        return TROD_ERR_NOMEM;
    for (at = p->text; r == 0 && *at;) {
        size_t n;
        const struct trod_analysis *a = named(at, &n);
        char *options = at[n] == ':' ? at + n + 1 : NULL, *end = at + n;
        bool more;

        if (!a)
            return no_analysis(at, n, diag);
        while (options && *end && (*end != ',' || !named(end + 1, &n)))
            end++;
        more = *end != '\0';
        at = more ? end + 1 : end;
        *end = '\0';
        if (more && *at == '\0')
            return no_analysis("", 0, diag);
        r = add(p, a, options, diag);
    }
    return r == 0 && p->n == 0 ? no_analysis("", 0, diag) : r;
}

void cli_plan_for(struct cli_plan *p, int format)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->item[i].analysis->name, "count") == 0)
            cli_count_for(p->options[i], format);
}

void cli_plan_fini(struct cli_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->options[i]);
    free(p->text);
}

int cli_plan_head(struct trod_buf *out, const struct cli *c, const struct cli_analyse *o,
                  const struct cli_parts *parts)
{
    int r = trod_buf_printf(out, "%spart %u/%u\nrun %s\n", first_line, parts->part,
                            parts->parts ? parts->parts : 1, c->operands[0]);

    if (r == 0 && o->input.from)
        r = trod_buf_printf(out, "from %s\n", o->input.from);
    if (r == 0 && o->span.by)
        r = trod_buf_printf(out, "by %s\n", cli_groupings[o->span.by]);
    if (r == 0 && o->input.modules)
        r = trod_buf_printf(out, "modules %s\n", o->input.modules);
    for (size_t i = 0; r == 0 && i < o->filter.symbols.n; i++)
        r = trod_buf_printf(out, "symbols %s\n", o->filter.symbols.item[i]);
    for (size_t i = 1; r == 0 && i < c->n_operands; i++)
        r = trod_buf_printf(out, "path %s\n", c->operands[i]);
    return r;
}

int cli_plan_head_end(struct trod_buf *out, bool damaged, bool ended)
{
    return trod_buf_printf(out, "%s%s\n", damaged ? "damaged\n" : "", ended ? "ended\n" : "");
}

uint64_t cli_plan_sum(uint64_t sum, const void *p, size_t n)
{
    const uint8_t *byte = p;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    return sum;
}

bool cli_plan_is(const void *p, size_t n)
{
    return n >= sizeof first_line - 1 && memcmp(p, first_line, sizeof first_line - 1) == 0;
}

bool cli_plan_whole(const void *p, size_t n)
{
    uint64_t sum;

    if (n < CLI_PLAN_SUM_BYTES)
        return false;
    sum = cli_plan_sum(CLI_PLAN_SUM, p, n - CLI_PLAN_SUM_BYTES);
    for (size_t i = n - CLI_PLAN_SUM_BYTES; i < n; i++, sum >>= 8)
        if (((const uint8_t *)p)[i] != (uint8_t)sum)
            return false;
    return true;
}

bool cli_plan_part(const char *text, unsigned *part, unsigned *parts)
{
    char *end;
    unsigned long i = strtoul(text, &end, 10), n;

    if (end == text || *end != '/' || text[0] == '-' || end[1] == '-')
        return false;
    text = end + 1;
    n = strtoul(text, &end, 10);
    *part = (unsigned)i;
    *parts = (unsigned)n;
    return end != text && *end == '\0' && i < n && n <= UINT_MAX;
}

static bool value(char *line, const char *key, const char **out)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0 || line[n] != ' ')
        return false;
    *out = line + n + 1;
    return true;
}

/* The word TEXT of --by. Returns whether it is one. */
static bool grouping(const char *text, int *by)
{
    for (int i = 0; cli_groupings[i]; i++)
        if (strcmp(cli_groupings[i], text) == 0) {
            *by = i;
            return true;
        }
    return false;
}

/* One more TEXT in LIST, which has room for MOST. */
static bool append(const char **list, size_t *n, size_t most, const char *text)
{
    if (*n == most)
        return false;
    list[(*n)++] = text;
    return true;
}

/* What LINE of a head says. Returns false where that is nothing. */
static bool read_line(struct cli_plan_head *head, char *line)
{
    const char *text;

    if (value(line, "run", &head->spec) || value(line, "from", &head->from) ||
        value(line, "modules", &head->modules))
        return true;
    if (strcmp(line, "damaged") == 0)
        return head->damaged = true;
    if (strcmp(line, "ended") == 0)
        return head->ended = true;
    if (value(line, "part", &text))
        return cli_plan_part(text, &head->part, &head->parts);
    if (value(line, "by", &text))
        return grouping(text, &head->by);
    if (value(line, "symbols", &text))
        return append(head->symbols.item, &head->symbols.n, TROD_LIST_MAX, text);
    return value(line, "path", &text) && append(head->path, &head->n_paths, CLI_PLAN_PATHS, text);
}

size_t cli_plan_read(struct cli_plan_head *head, char *state, size_t n)
{
    size_t at = sizeof first_line - 1;

    *head = (struct cli_plan_head){.spec = NULL};
    if (n < at || memcmp(state, first_line, at) != 0)
        return 0;
    while (at < n) {
        char *line = state + at, *end = memchr(line, '\n', n - at);

        if (!end)
            return 0;
        *end = '\0';
        at += (size_t)(end - line) + 1;
        if (line == end)
            return head->spec && head->parts ? at : 0;
        if (!read_line(head, line))
            return 0;
    }
    return 0;
}
