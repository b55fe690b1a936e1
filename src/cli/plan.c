/*
 * plan.c - analyses named on a command line or in a saved state.
 *
 * A saved state is a head of lines ("trod state 1", then "part I/N", "run SPEC", "from FORMAT",
 * "by WHAT", "modules FILE" and "module-dir DIR" where they were given, "symbols ELF" for each file
 * of --symbols, "path PATH" for each operand, "strict" with --strict, "damaged" where problems were
 * reported, "ended" where reading ended with one, and an empty line), behind it what trod_run_save
 * wrote, and at the end a sum of all this. In texts a newline is written as "\n" and a backslash as
 * two.
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

/* A line of a head: KEY and TEXT, which may be NULL: then there is none. */
static int put_line(struct trod_buf *out, const char *key, const char *text)
{
    int r = text ? trod_buf_printf(out, "%s ", key) : 0;

    if (!text)
        return 0;
    for (size_t n; r == 0 && *text; text += n) {
        n = strcspn(text, "\n\\");
        r = trod_buf_add(out, text, n);
        if (r == 0 && text[n])
            r = trod_buf_add(out, text[n] == '\n' ? "\\n" : "\\\\", 2);
        n += text[n] != '\0';
    }
    return r < 0 ? r : trod_buf_add(out, "\n", 1);
}

int cli_plan_head(struct trod_buf *out, const struct cli *c, const struct cli_analyse *o,
                  const struct cli_parts *parts)
{
    int r = trod_buf_printf(out, "%spart %u/%u\n", first_line, parts->part,
                            parts->parts ? parts->parts : 1);

    if (r == 0)
        r = put_line(out, "run", c->operands[0]);
    if (r == 0)
        r = put_line(out, "from", o->input.from);
    if (r == 0)
        r = put_line(out, "by", o->span.by ? cli_groupings[o->span.by] : NULL);
    if (r == 0)
        r = put_line(out, "modules", o->input.modules);
    if (r == 0)
        r = put_line(out, "module-dir", o->input.module_dir);
    if (r == 0 && o->input.strict)
        r = trod_buf_printf(out, "strict\n");
    for (size_t i = 0; r == 0 && i < o->filter.symbols.n; i++)
        r = put_line(out, "symbols", o->filter.symbols.item[i]);
    for (size_t i = 1; r == 0 && i < c->n_operands; i++)
        r = put_line(out, "path", c->operands[i]);
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

/* TEXT, as put_line wrote it, becomes what it stands for. False where it did not write it. */
static bool plain(char *text)
{
    char *to = text;

    for (; *text; text++) {
        char c = *text;

        if (c == '\\') {
            c = *++text;
            if (c != 'n' && c != '\\')
                return false;
            c = c == 'n' ? '\n' : c;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

static bool value(char *line, const char *key, const char **out)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0 || line[n] != ' ')
        return false;
    *out = line + n + 1;
    return plain(line + n + 1);
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

/* What LINE of a head says. Returns false where that is nothing. */
static bool read_line(struct cli_plan_head *head, char *line)
{
    const char *text;

    if (value(line, "run", &head->spec) || value(line, "from", &head->from) ||
        value(line, "modules", &head->modules) || value(line, "module-dir", &head->module_dir))
        return true;
    if (strcmp(line, "strict") == 0)
        return head->strict = true;
    if (strcmp(line, "damaged") == 0)
        return head->damaged = true;
    if (strcmp(line, "ended") == 0)
        return head->ended = true;
    if (value(line, "part", &text))
        return cli_plan_part(text, &head->part, &head->parts);
    if (value(line, "by", &text))
        return grouping(text, &head->by);
    if (value(line, "symbols", &text)) {
        if (head->symbols.n == TROD_LIST_MAX)
            return false;
        head->symbols.item[head->symbols.n++] = text;
        return true;
    }
    if (!value(line, "path", &text))
        return false;
    head->path[head->n_paths++] = text;
    return true;
}

/* The lines of the head of STATE, its first and its last one too; 0: it has no end. */
static size_t lines_of(const char *state, size_t n)
{
    const char *at = state, *end;
    size_t lines = 0;

    while ((end = memchr(at, '\n', n - (size_t)(at - state)))) {
        lines++;
        if (end == at)
            return lines;
        at = end + 1;
    }
    return 0;
}

int cli_plan_read(struct cli_plan_head *head, char *state, size_t n, size_t *size)
{
    const size_t lines = lines_of(state, n);
    char *line = state + sizeof first_line - 1;

    *head = (struct cli_plan_head){.spec = NULL};
    if (!cli_plan_is(state, n) || lines == 0)
        return TROD_ERR_CORRUPT;
    if (!(head->path = malloc(lines * sizeof *head->path)))
        return TROD_ERR_NOMEM;
    for (size_t i = 1; i + 1 < lines; i++) {
        char *end = memchr(line, '\n', n - (size_t)(line - state));

        *end = '\0';
        if (strlen(line) != (size_t)(end - line) || !read_line(head, line))
            return TROD_ERR_CORRUPT;
        line = end + 1;
    }
    *size = (size_t)(line + 1 - state);
    return head->spec && head->parts ? 0 : TROD_ERR_CORRUPT;
}

void cli_plan_head_free(struct cli_plan_head *head)
{
    free(head->path);
    head->path = NULL;
}
