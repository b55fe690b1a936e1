/*
 * page.c - the tree of results as a page (report.h).
 *
 * Everything stands in the page as tables and fields, which need no script. Each is marked with the
 * path that it has in the JSON (data-path), by which the script finds what it draws, and a test the
 * numbers it compares. Of two traces the sections of both stand side by side.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

struct page {
    const struct trod_result *r;
    struct trod_buf *out;
    struct trod_buf path;
    int rc;
};

static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'; script-src "
                             "'unsafe-inline'; base-uri 'none'; form-action 'none'";

static void raw(struct page *k, const char *s)
{
    if (k->rc == TROD_OK)
        k->rc = trod_buf_add(k->out, s, strlen(s));
}

static void text(struct page *k, const char *s)
{
    if (k->rc == TROD_OK)
        k->rc = report_text(k->out, s, strlen(s));
}

/* A name of the tree, with blanks for "_". */
static void words(struct page *k, const char *name)
{
    const size_t from = k->out->n;

    text(k, name);
    for (size_t i = from; k->rc == TROD_OK && i < k->out->n; i++)
        if (k->out->p[i] == '_')
            k->out->p[i] = ' ';
}

static void value(struct page *k, const struct trod_value *v, bool grouped)
{
    if (k->rc == TROD_OK)
        k->rc = report_value(k->out, v, grouped);
}

/* NAME="PATH": what the node is called in the JSON. */
static void path(struct page *k, const char *name)
{
    raw(k, " ");
    raw(k, name);
    raw(k, "=\"");
    if (k->rc == TROD_OK)
        k->rc = report_text(k->out, (const char *)k->path.p, k->path.n);
    raw(k, "\"");
}

static size_t enter(struct page *k, const char *key)
{
    const size_t length = k->path.n;

    if (k->rc == TROD_OK)
        k->rc = trod_buf_printf(&k->path, "%s%s", length ? "." : "", key);
    return length;
}

static void attribute(struct page *k, const char *name, const char *s)
{
    if (!s)
        return;
    raw(k, " ");
    raw(k, name);
    raw(k, "=\"");
    text(k, s);
    raw(k, "\"");
}

/* Numbers that name something are not grouped. */
static bool names_something(const char *key)
{
    static const char *const names[] = {"tid", "pid", "cpu", "core", "stream", "version", NULL};

    for (size_t i = 0; key && names[i]; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

/* ---- fields */

static void field(struct page *k, const struct trod_node *n)
{
    const size_t length = enter(k, n->key);

    raw(k, "<div><dt");
    attribute(k, "title", n->about);
    raw(k, ">");
    words(k, n->key);
    raw(k, "</dt><dd");
    path(k, "data-path");
    raw(k, ">");
    value(k, &n->value, !names_something(n->key));
    if (n->unit) {
        raw(k, "<small> ");
        text(k, n->unit);
        raw(k, "</small>");
    }
    raw(k, "</dd></div>\n");
    k->path.n = length;
}

/* The values from N on, up to something else, which is returned. */
static const struct trod_node *fields(struct page *k, const struct trod_node *n)
{
    if (n->key && strcmp(n->key, "absent") == 0 && !n->next) {
        raw(k, "<p class=\"absent\">");
        value(k, &n->value, false);
        raw(k, "</p>\n");
        return NULL;
    }
    raw(k, "<dl>\n");
    for (; n && n->type == TROD_NODE_VALUE; n = n->next)
        field(k, n);
    raw(k, "</dl>\n");
    return n;
}

/* ---- tables */

/* Columns in which no row says anything are left out. */
static bool says(const struct trod_node *t, size_t column)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->cells[i * t->n_columns + column].type != TROD_RESULT_ABSENT)
            return true;
    return false;
}

static bool is_text(const struct trod_node *t, size_t column)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const enum trod_value_type type = t->cells[i * t->n_columns + column].type;

        if (type != TROD_RESULT_ABSENT)
            return type == TROD_RESULT_STR || type == TROD_RESULT_BOOL || type == TROD_RESULT_HEX;
    }
    return false;
}

static void head(struct page *k, const struct trod_node *t, const uint8_t *shown)
{
    raw(k, "<thead><tr>");
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct trod_result_column *column = &t->columns[c];

        if (!shown[c])
            continue;
        raw(k, shown[c] == 't' ? "<th scope=\"col\" class=\"t\"" : "<th scope=\"col\"");
        attribute(k, "data-column", column->name);
        attribute(k, "title", column->about);
        raw(k, ">");
        words(k, column->name);
        if (column->unit && strcmp(column->unit, column->name) != 0) {
            raw(k, "<small> ");
            text(k, column->unit);
            raw(k, "</small>");
        }
        raw(k, "</th>");
    }
    raw(k, "</tr></thead>\n<tbody>\n");
}

static void rows(struct page *k, const struct trod_node *t, const uint8_t *shown)
{
    for (size_t i = 0; k->rc == TROD_OK && i < t->n_rows; i++) {
        raw(k, "<tr>");
        for (size_t c = 0; c < t->n_columns; c++) {
            const struct trod_result_column *column = &t->columns[c];
            const bool grouped =
                column->role == TROD_COLUMN_MEASURE && !names_something(column->name);

            if (!shown[c])
                continue;
            raw(k, shown[c] == 't' ? "<td class=\"t\">" : "<td>");
            value(k, &t->cells[i * t->n_columns + c], grouped);
        }
        raw(k, "\n");
    }
}

static void table(struct page *k, const struct trod_node *t)
{
    const size_t length = enter(k, t->key);
    uint8_t shown[TROD_RESULT_COLUMNS] = {0};

    for (size_t c = 0; c < t->n_columns && c < sizeof shown; c++)
        shown[c] = !says(t, c) ? 0 : is_text(t, c) ? 't' : 'n';
    raw(k, "<figure");
    path(k, "data-path");
    raw(k, "><figcaption>");
    t->title ? text(k, t->title) : words(k, t->key);
    raw(k, "</figcaption>");
    if (t->n_rows == 0) {
        raw(k, "<p class=\"none\">none</p></figure>\n");
    } else {
        raw(k, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
        attribute(k, "aria-label", t->title ? t->title : t->key);
        raw(k, "><table>\n");
        head(k, t, shown);
        rows(k, t, shown);
        raw(k, "</tbody></table></div></figure>\n");
    }
    k->path.n = length;
}

/* ---- levels */

static void children(struct page *k, const struct trod_node *n);

static void item(struct page *k, const struct trod_node *n, size_t number)
{
    const size_t length = k->path.n;

    if (k->rc == TROD_OK)
        k->rc = trod_buf_printf(&k->path, ".%zu", number);
    if (n->type == TROD_NODE_VALUE) {
        raw(k, "<li");
        path(k, "data-path");
        raw(k, ">");
        value(k, &n->value, false);
        raw(k, "</li>\n");
    } else {
        raw(k, "<li><details><summary>");
        if (n->title)
            text(k, n->title);
        else if (k->rc == TROD_OK)
            k->rc = trod_buf_printf(k->out, "%zu", number);
        raw(k, "</summary>\n");
        children(k, n);
        raw(k, "</details></li>\n");
    }
    k->path.n = length;
}

/* Do all items of N have nothing but fields? Then they are rows. */
static bool is_plain(const struct trod_node *n)
{
    for (const struct trod_node *c = n->first; c; c = c->next) {
        if (c->type != TROD_NODE_OBJECT)
            return false;
        for (const struct trod_node *f = c->first; f; f = f->next)
            if (f->type != TROD_NODE_VALUE)
                return false;
    }
    return n->first;
}

static const struct trod_node *child(const struct trod_node *n, const char *key)
{
    for (const struct trod_node *c = n ? n->first : NULL; c; c = c->next)
        if (c->key && strcmp(c->key, key) == 0)
            return c;
    return NULL;
}

/* The items of LIST as a table, which has a column for each name of a field. */
static void table_of(struct page *k, const struct trod_node *list)
{
    struct trod_result_column columns[TROD_RESULT_COLUMNS] = {{.name = NULL}};
    struct trod_node t = *list;
    struct trod_value *cells;

    t.type = TROD_NODE_TABLE;
    t.columns = columns;
    for (const struct trod_node *c = list->first; c; c = c->next, t.n_rows++)
        for (const struct trod_node *f = c->first; f; f = f->next) {
            size_t at = 0;

            while (at < t.n_columns && strcmp(columns[at].name, f->key) != 0)
                at++;
            if (at == t.n_columns && at < TROD_RESULT_COLUMNS)
                columns[t.n_columns++] =
                    (struct trod_result_column){.name = f->key, .unit = f->unit};
        }
    cells = calloc(t.n_rows * t.n_columns + 1, sizeof *cells);
    if (!cells) {
        k->rc = TROD_ERR_NOMEM;
        return;
    }
    t.cells = cells;
    for (const struct trod_node *c = list->first; c; c = c->next)
        for (size_t at = 0; at < t.n_columns; at++, cells++) {
            const struct trod_node *f = child(c, columns[at].name);

            if (f)
                *cells = f->value;
        }
    table(k, &t);
    free((void *)(uintptr_t)t.cells);
}

static void list(struct page *k, const struct trod_node *n)
{
    const size_t length = k->path.n;
    size_t number = 0;

    if (is_plain(n)) {
        table_of(k, n);
        return;
    }
    enter(k, n->key);
    raw(k, "<h3>");
    n->title ? text(k, n->title) : words(k, n->key);
    raw(k, n->first ? "</h3>\n<ul class=\"list\">\n"
                    : "</h3>\n<ul class=\"list none\"><li>none</li>\n");
    for (const struct trod_node *c = n->first; c; c = c->next)
        item(k, c, number++);
    raw(k, "</ul>\n");
    k->path.n = length;
}

static void object(struct page *k, const struct trod_node *n)
{
    const size_t length = enter(k, n->key);

    raw(k, "<h3>");
    n->title ? text(k, n->title) : words(k, n->key);
    raw(k, "</h3>\n");
    children(k, n);
    k->path.n = length;
}

static void children(struct page *k, const struct trod_node *n)
{
    for (const struct trod_node *c = n->first; c && k->rc == TROD_OK;) {
        if (c->type == TROD_NODE_VALUE) {
            c = fields(k, c);
            continue;
        }
        if (c->type == TROD_NODE_TABLE)
            table(k, c);
        else if (c->type == TROD_NODE_LIST)
            list(k, c);
        else
            object(k, c);
        c = c->next;
    }
}

/* ---- sections */

static void section_begin(struct page *k, const struct trod_node *n)
{
    raw(k, "<section");
    attribute(k, "id", n->key);
    raw(k, "><h2>");
    words(k, n->key);
    if (n->title) {
        raw(k, " <span>");
        text(k, n->title);
        raw(k, "</span>");
    }
    raw(k, "</h2>\n");
}

/* What says that it is not complete begins with that. */
static void contents(struct page *k, const struct trod_node *n)
{
    const struct trod_node *complete = child(n, "complete");

    if (complete && complete->type == TROD_NODE_VALUE && complete->value.type == TROD_RESULT_BOOL &&
        !complete->value.is.boolean)
        raw(k,
            "<p class=\"warning\" role=\"note\">Not all of this trace could be read: the numbers "
            "of this page are those of what was.</p>\n");
    children(k, n);
}

static void one(struct page *k, const struct trod_node *n)
{
    const size_t length = enter(k, n->key);

    section_begin(k, n);
    raw(k, "<div class=\"side\"");
    path(k, "data-side");
    raw(k, ">\n");
    contents(k, n);
    raw(k, "</div></section>\n");
    k->path.n = length;
}

static void side(struct page *k, const struct trod_node *all, const char *key)
{
    const struct trod_node *n = child(all, key);
    const size_t length = enter(k, all->key), inner = enter(k, key);

    (void)inner;
    raw(k, "<div class=\"side\"");
    path(k, "data-side");
    raw(k, "><h3 class=\"which\">");
    all->title ? text(k, all->title) : words(k, all->key);
    raw(k, "</h3>\n");
    if (n)
        contents(k, n);
    else
        raw(k, "<p class=\"absent\">not in this trace</p>\n");
    raw(k, "</div>\n");
    k->path.n = length;
}

static void pair(struct page *k, const struct trod_node *n, const struct trod_node *const both[2])
{
    section_begin(k, n);
    raw(k, "<div class=\"pair\">\n");
    side(k, both[0], n->key);
    side(k, both[1], n->key);
    raw(k, "</div></section>\n");
}

/* Call EACH with what becomes a section: BOTH are the two traces of a comparison, or NULL. */
static void sections(struct page *k, void (*each)(struct page *, const struct trod_node *,
                                                  const struct trod_node *const both[2]))
{
    const struct trod_node *root = trod_result_root(k->r);
    const struct trod_node *const both[2] = {child(root, "first"), child(root, "second")};
    const bool paired = both[0] && both[1];

    for (const struct trod_node *c = root->first; c; c = c->next)
        if (c->type == TROD_NODE_OBJECT && !(paired && (c == both[0] || c == both[1])))
            each(k, c, NULL);
    for (const struct trod_node *c = paired ? both[0]->first : NULL; c; c = c->next)
        if (c->type == TROD_NODE_OBJECT)
            each(k, c, both);
    for (const struct trod_node *c = paired ? both[1]->first : NULL; c; c = c->next)
        if (c->type == TROD_NODE_OBJECT && !child(both[0], c->key))
            each(k, c, both);
}

static void link_to(struct page *k, const struct trod_node *n,
                    const struct trod_node *const both[2])
{
    (void)both;
    raw(k, "<li><a href=\"#");
    text(k, n->key);
    raw(k, "\">");
    words(k, n->key);
    raw(k, "</a></li>\n");
}

static void section(struct page *k, const struct trod_node *n,
                    const struct trod_node *const both[2])
{
    both ? pair(k, n, both) : one(k, n);
}

/* What belongs to no section: fields and tables of the root. */
static void rest(struct page *k)
{
    raw(k, "<section id=\"about\"><h2>about <span>this report</span></h2>\n");
    for (const struct trod_node *c = trod_result_root(k->r)->first; c; c = c->next) {
        if (c->type == TROD_NODE_VALUE) {
            raw(k, "<dl>");
            field(k, c);
            raw(k, "</dl>");
        } else if (c->type == TROD_NODE_TABLE) {
            table(k, c);
        }
    }
    raw(k, "</section>\n");
}

/* JSON that stands in a script: "<" is \u003c there, which means the same. */
static void data(struct page *k, const char *json, size_t n)
{
    for (size_t i = 0, from = 0; k->rc == TROD_OK && i <= n; i++) {
        if (i < n && json[i] != '<')
            continue;
        k->rc = trod_buf_add(k->out, json + from, i - from);
        if (i < n)
            raw(k, "\\u003c");
        from = i + 1;
    }
}

int report_page(const struct trod_result *r, const char *title, const char *json, size_t n,
                struct trod_buf *out)
{
    struct page k = {.r = r, .out = out};

    raw(&k, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\"");
    attribute(&k, "content", policy);
    raw(&k, ">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    text(&k, title);
    raw(&k, "</title>\n<style>\n");
    if (k.rc == TROD_OK)
        k.rc = trod_buf_add(out, report_css, report_css_size);
    raw(&k, "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">To the results</a>\n"
            "<header><h1>");
    text(&k, title);
    raw(&k, "</h1></header>\n<nav aria-label=\"Sections\"><ul>\n");
    sections(&k, link_to);
    raw(&k, "<li><a href=\"#about\">about</a></li></ul></nav>\n<main id=\"main\">\n");
    sections(&k, section);
    rest(&k);
    raw(&k, "</main>\n<script type=\"application/json\" id=\"data\">\n");
    data(&k, json, n);
    raw(&k, "</script>\n<script>\n");
    if (k.rc == TROD_OK)
        k.rc = trod_buf_add(out, report_js, report_js_size);
    raw(&k, "</script>\n</body></html>\n");
    trod_buf_fini(&k.path);
    return k.rc;
}
