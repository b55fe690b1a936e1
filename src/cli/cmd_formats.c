/*
 * cmd_formats.c - `trod formats`: what is read and written, from the drivers' descriptors.
 */
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_report report;
};

static const struct trod_option options[] = {
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const char *access_of(const struct trod_format *f)
{
    return f->decode && f->begin ? "read, write" : f->decode ? "read" : "write";
}

static const char *form_of(const struct trod_export *v)
{
    static const char *const forms[] = {
        [TROD_EXPORT_TEXT] = "text",
        [TROD_EXPORT_BINARY] = "binary",
        [TROD_EXPORT_FILE] = "binary",
        [TROD_EXPORT_FOLDER] = "folder",
    };

    return forms[v->form];
}

/* The words of LIST on one line. */
static void joined(struct trod_emit *e, const char *key, const char *const *list)
{
    struct trod_buf b = {0};

    for (size_t i = 0; list && list[i]; i++)
        trod_buf_printf(&b, "%s%s", i ? " " : "", list[i]);
    trod_emit_strn(e, key, b.n ? (const char *)b.p : "", b.n);
    trod_buf_fini(&b);
}

static void list_all(struct trod_emit *e)
{
    static const char *const columns[] = {"name", "access", "form", "suffixes", "title"};

    trod_emit_table(e, "formats", "Formats", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);

        trod_emit_str(e, NULL, f->name);
        trod_emit_str(e, NULL, access_of(f));
        trod_emit_str(e, NULL, f->flags & TROD_FMT_TEXT ? "text" : "binary");
        joined(e, NULL, f->suffixes);
        trod_emit_str(e, NULL, f->title);
        trod_emit_row_end(e);
    }
    for (size_t i = 0; trod_export_at(i); i++) {
        const struct trod_export *v = trod_export_at(i);

        trod_emit_str(e, NULL, v->name);
        trod_emit_str(e, NULL, "export");
        trod_emit_str(e, NULL, form_of(v));
        joined(e, NULL, v->suffixes);
        trod_emit_str(e, NULL, v->title);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void words(struct trod_emit *e, const char *key, const char *const *list)
{
    if (!list || !list[0])
        return;
    trod_emit_list(e, key, NULL);
    for (size_t i = 0; list[i]; i++)
        trod_emit_str(e, NULL, list[i]);
    trod_emit_list_close(e);
}

/* What users know columns by; what only the program needs is left out. */
static void columns(struct trod_emit *e, const char *key, uint32_t mask)
{
    mask &= ~(uint32_t)(TROD_COL_RAW | TROD_COL_MADE | TROD_COL_DETAIL);
    if (!mask)
        return;
    trod_emit_list(e, key, NULL);
    for (unsigned i = 0; i < TROD_COLUMNS; i++) {
        if (mask >> i & 1)
            trod_emit_str(e, NULL, trod_column_name(i));
    }
    trod_emit_list_close(e);
}

static void describe_options(struct trod_emit *e, const struct trod_option *table)
{
    static const char *const names[] = {"option", "value", "meaning"};
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = table ? trod_option_flatten(table, all, TROD_OPTIONS) : 0;

    if (n == 0)
        return;
    trod_emit_table(e, "options", "Options", names, 3);
    for (size_t i = 0; i < n; i++) {
        const struct trod_option *o = all[i].option;
        struct trod_buf value = {0};

        if (o->type == TROD_OPT_ENUM) {
            for (size_t k = 0; o->choices[k]; k++)
                trod_buf_printf(&value, "%s%s", k ? "|" : "", o->choices[k]);
        } else {
            trod_buf_printf(&value, "%s",
                            o->type == TROD_OPT_BOOL ? "yes|no"
                            : o->arg                 ? o->arg
                                                     : "VALUE");
        }
        trod_emit_str(e, NULL, o->name);
        trod_emit_strn(e, NULL, value.n ? (const char *)value.p : "", value.n);
        trod_emit_str(e, NULL, o->text);
        trod_emit_row_end(e);
        trod_buf_fini(&value);
    }
    trod_emit_table_close(e);
}

static void describe(struct trod_emit *e, const struct trod_format *f, bool text)
{
    trod_emit_open(e, NULL, f->name);
    if (!text) /* there it is the title */
        trod_emit_str(e, "name", f->name);
    trod_emit_str(e, "title", f->title);
    trod_emit_str(e, "access", access_of(f));
    trod_emit_str(e, "form", f->flags & TROD_FMT_TEXT ? "text" : "binary");
    trod_emit_bool(e, "one_file_a_thread", (f->flags & TROD_FMT_PER_STREAM) != 0);
    trod_emit_bool(e, "directories", f->resolve != NULL);
    words(e, "suffixes", f->suffixes);
    words(e, "dialects", f->dialects);
    columns(e, "reads", f->decode ? f->reads : 0);
    columns(e, "writes", f->begin ? f->writes : 0);
    describe_options(e, f->options);
    trod_emit_close(e);
}

static void describe_view(struct trod_emit *e, const struct trod_export *v, bool text)
{
    trod_emit_open(e, NULL, v->name);
    if (!text)
        trod_emit_str(e, "name", v->name);
    trod_emit_str(e, "title", v->title);
    trod_emit_str(e, "access", "export");
    trod_emit_str(e, "form", form_of(v));
    words(e, "suffixes", v->suffixes);
    trod_emit_str(e, "opens_in", v->opens);
    trod_emit_str(e, "leaves_out", v->leaves_out);
    describe_options(e, v->options);
    trod_emit_close(e);
}

static int unknown(struct cli *c, const char *name)
{
    const char *names[64], *near;
    size_t n = 0;

    for (; n < 64 && trod_format_at(n); n++)
        names[n] = trod_format_at(n)->name;
    for (size_t i = 0; n < 64 && trod_export_at(i); i++)
        names[n++] = trod_export_at(i)->name;
    near = trod_suggest(name, strlen(name), names, n);
    return trod_error(&c->diag, TROD_ERR_USAGE, "formats.unknown", NULL,
                      "no format is called '%s'%s%s%s", name, near ? "; did you mean '" : "",
                      near ? near : "", near ? "'?" : "");
}

static void describe_name(struct trod_emit *e, const char *name, bool text)
{
    const struct trod_format *f = trod_format_find(name, strlen(name));

    if (f)
        describe(e, f, text);
    else
        describe_view(e, trod_export_find(name, strlen(name)), text);
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_out out;
    int r = 0;

    for (size_t i = 0; i < c->n_operands && r == 0; i++) {
        if (!trod_format_find(c->operands[i], strlen(c->operands[i])) &&
            !trod_export_find(c->operands[i], strlen(c->operands[i])))
            r = unknown(c, c->operands[i]);
    }
    if (r != 0 || cli_report_begin(&out, c, &o->report) != 0)
        return CLI_TROUBLE;
    if (c->n_operands == 0) {
        list_all(out.emit);
    } else {
        trod_emit_list(out.emit, "formats", NULL);
        for (size_t i = 0; i < c->n_operands; i++)
            describe_name(out.emit, c->operands[i], o->report.format == TROD_EMIT_TEXT);
        trod_emit_list_close(out.emit);
    }
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

const struct cli_command cli_command_formats = {
    .name = "formats",
    .title = "list the trace formats that are read and written, and the views",
    .operands = "[NAME...]",
    .about = "List the trace formats that are read and written and the views that trod export "
             "writes, or describe those NAMEd: what they can hold, or leave out, their dialects, "
             "and the options that --from and --to take. There is no --where: no trace is read.",
    .examples = "  trod formats\n  trod formats tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 0,
    .most = 64,
    .run = run,
};
