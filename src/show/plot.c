/*
 * plot.c - results as charts of characters (trod/plot.h).
 *
 * A bar ends in an eighth of a character. A curve is an area of braille patterns, two by four dots
 * a character; where there are more points than dots, a dot shows the largest of its points.
 */
#include "trod/plot.h"

#include "core/sized.h"
#include "trod/buf.h"
#include "trod/put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 80,
    LEAST = 40,
    NAME = 40,
    NUMBER = 24,
    HEIGHT = 4,
    DOTS_Y = 4 * HEIGHT,
    MOST = 400
};

struct plotting {
    struct trod_buf *out;
    unsigned width;
    uint64_t rows;
    int charts, rc;
};

static void put(struct plotting *k, const char *s, size_t n)
{
    if (k->rc == TROD_OK)
        k->rc = trod_buf_add(k->out, s, n);
}

static void text(struct plotting *k, const char *s)
{
    put(k, s, strlen(s));
}

static void blanks(struct plotting *k, size_t n)
{
    for (; n > 0; n--)
        put(k, " ", 1);
}

/* A Unicode character from U+0800 on. */
static void put_rune(struct plotting *k, unsigned code)
{
    const char utf8[3] = {(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
                          (char)(0x80 | (code & 0x3f))};

    put(k, utf8, sizeof utf8);
}

static void title(struct plotting *k, const struct trod_node *n)
{
    text(k, k->charts++ ? "\n" : "");
    text(k, n->title ? n->title : n->key);
    text(k, "\n");
}

static double number(const struct trod_value *v)
{
    switch (v->type) {
    case TROD_RESULT_U64:
        return (double)v->is.u64;
    case TROD_RESULT_I64:
        return (double)v->is.i64;
    case TROD_RESULT_F64:
        return isfinite(v->is.f64) ? v->is.f64 : 0;
    default:
        return 0;
    }
}

static bool is_number(const struct trod_value *v)
{
    return v->type == TROD_RESULT_U64 || v->type == TROD_RESULT_I64 || v->type == TROD_RESULT_F64;
}

/* V as it is shown in tables: at most NUMBER bytes of it, with the NUL. */
static void number_text(const struct trod_value *v, char to[NUMBER])
{
    if (v->type == TROD_RESULT_F64)
        snprintf(to, NUMBER, "%.*f", v->decimals, v->is.f64);
    else if (v->type == TROD_RESULT_I64)
        snprintf(to, NUMBER, "%lld", (long long)v->is.i64);
    else
        snprintf(to, NUMBER, "%llu", (unsigned long long)v->is.u64);
}

/* ---- bars */

/* What V names, visible, in at most NAME columns; returns how many. */
static size_t add_name(struct trod_buf *name, const struct trod_value *v, size_t columns)
{
    char small[NUMBER + 16], visible[4 * 256];
    const char *s = small, *end;
    size_t n = 0;

    if (v->type == TROD_RESULT_STR)
        s = v->is.str;
    else if (v->type == TROD_RESULT_HEX)
        snprintf(small, sizeof small, "0x%llx", (unsigned long long)v->is.u64);
    else if (v->type == TROD_RESULT_ABSENT)
        small[0] = '\0';
    else
        number_text(v, small);
    n = strlen(s);
    end = trod_put_visible(visible, s, n < 256 ? n : 256);
    for (const char *p = visible; p < end && columns < NAME;) {
        const size_t len = trod_utf8_len((const uint8_t *)p, (size_t)(end - p));
        const size_t step = len ? len : 1;

        if (trod_buf_add(name, p, step) < 0)
            return columns;
        p += step;
        columns++;
    }
    return columns;
}

/* The keys of row I of T. */
static size_t name_row(const struct trod_node *t, size_t i, struct trod_buf *name)
{
    size_t columns = 0;

    name->n = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
        const enum trod_column_role role = t->columns[c].role;
        const bool to = strcmp(t->columns[c].name, "to") == 0;

        if (role != TROD_COLUMN_KEY && role != TROD_COLUMN_X && !to)
            continue;
        if (name->n && columns < NAME && trod_buf_add(name, to ? "-" : " ", 1) == 0)
            columns++;
        columns = add_name(name, &t->cells[i * t->n_columns + c], columns);
    }
    return columns;
}

static void bar(struct plotting *k, double part, size_t room)
{
    const size_t eighths = (size_t)(part * 8 * (double)room + 0.5);

    for (size_t i = 0; i < eighths / 8; i++)
        put_rune(k, 0x2588);
    if (eighths % 8)
        put_rune(k, 0x2590 - (unsigned)(eighths % 8));
}

static void bars(struct plotting *k, const struct trod_node *t, size_t measure)
{
    const size_t n = t->n_rows < k->rows ? t->n_rows : (size_t)k->rows;
    size_t widest = 0, values = 0, room;
    struct trod_buf name = {0};
    char value[NUMBER];
    double top = 0;

    title(k, t);
    for (size_t i = 0; i < n; i++) {
        const struct trod_value *v = &t->cells[i * t->n_columns + measure];
        const size_t columns = name_row(t, i, &name);

        widest = columns > widest ? columns : widest;
        top = number(v) > top ? number(v) : top;
        number_text(v, value);
        values = strlen(value) > values && is_number(v) ? strlen(value) : values;
    }
    room = k->width > widest + values + 5 ? k->width - widest - values - 5 : 1;
    for (size_t i = 0; i < n; i++) {
        const struct trod_value *v = &t->cells[i * t->n_columns + measure];
        const size_t columns = name_row(t, i, &name);

        text(k, "  ");
        put(k, (const char *)name.p, name.n);
        blanks(k, widest - columns + 1);
        value[0] = '\0';
        if (is_number(v))
            number_text(v, value);
        blanks(k, values - strlen(value));
        text(k, value);
        text(k, " ");
        if (is_number(v) && top > 0 && number(v) > 0)
            bar(k, number(v) / top, room);
        text(k, "\n");
    }
    if (t->n_rows > n && k->rc == TROD_OK)
        k->rc = trod_buf_printf(k->out, "  and %zu more\n", t->n_rows - n);
    trod_buf_fini(&name);
}

/* ---- curves */

/* N values as an area; the largest is SAID. */
static void area(struct plotting *k, const char *name, const double *value, size_t n,
                 const char *said)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const size_t columns = k->width - 3 < MOST ? k->width - 3 : MOST, dots = 2 * columns;
    unsigned height[2 * MOST] = {0};
    double top = 0, least = value[0];

    for (size_t i = 0; i < n; i++) {
        top = value[i] > top ? value[i] : top;
        least = value[i] < least ? value[i] : least;
    }
    if (top <= least) {
        if (k->rc == TROD_OK)
            k->rc = trod_buf_printf(k->out, "  %s, %s everywhere\n", name, said);
        return;
    }
    for (size_t x = 0; x < dots; x++) {
        const size_t from = x * n / dots, to = (x + 1) * n / dots;
        double most = value[from];

        for (size_t i = from; i < to; i++)
            most = value[i] > most ? value[i] : most;
        height[x] = top > 0 && most > 0 ? (unsigned)ceil(most / top * DOTS_Y) : 0;
    }
    if (k->rc == TROD_OK)
        k->rc = trod_buf_printf(k->out, "  %s, at most %s\n", name, said);
    for (unsigned y = 0; y < HEIGHT; y++) {
        text(k, "  |");
        for (size_t x = 0; x < columns; x++) {
            unsigned code = 0x2800;

            for (unsigned i = 0; i < 4; i++)
                for (unsigned j = 0; j < 2; j++)
                    if (height[2 * x + j] >= DOTS_Y - 4 * y - i)
                        code |= bit[i][j];
            code == 0x2800 ? text(k, " ") : put_rune(k, code);
        }
        while (k->rc == TROD_OK && k->out->p[k->out->n - 1] == ' ')
            k->out->n--;
        text(k, "\n");
    }
}

/* What lies below the curves: FIRST to LAST of NAME. */
static void axis(struct plotting *k, const struct trod_value *first, const struct trod_value *last,
                 const char *name)
{
    char a[NUMBER], b[NUMBER];

    number_text(first, a);
    number_text(last, b);
    if (k->rc == TROD_OK)
        k->rc = trod_buf_printf(k->out, "  from left to right: %s %s to %s\n", name, a, b);
}

/* The N numbers that GET gives; the largest in the words of its table. */
static void curve(struct plotting *k, const char *name, size_t n,
                  const struct trod_value *(*get)(const void *from, size_t i, size_t of),
                  const void *from, size_t of)
{
    double *value = calloc(n + 1, sizeof *value);
    char said[NUMBER] = "0";
    double most = 0;

    if (!value)
        k->rc = TROD_ERR_NOMEM;
    for (size_t i = 0; value && i < n; i++) {
        const struct trod_value *v = get(from, i, of);

        value[i] = v && is_number(v) ? number(v) : 0;
        if (value[i] > most || (v && is_number(v) && i == 0))
            number_text(v, said);
        most = value[i] > most ? value[i] : most;
    }
    if (value)
        area(k, name, value, n, said);
    free(value);
}

static const struct trod_value *cell(const void *from, size_t i, size_t of)
{
    const struct trod_node *t = from;

    return &t->cells[i * t->n_columns + of];
}

static bool has_numbers(const struct trod_node *t, size_t c)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (is_number(&t->cells[i * t->n_columns + c]))
            return true;
    return false;
}

static void curves(struct plotting *k, const struct trod_node *t, size_t x)
{
    title(k, t);
    for (size_t c = 0; c < t->n_columns; c++)
        if (t->columns[c].role == TROD_COLUMN_MEASURE && has_numbers(t, c))
            curve(k, t->columns[c].name, t->n_rows, cell, t, c);
    axis(k, cell(t, 0, x), cell(t, t->n_rows - 1, x), t->columns[x].name);
}

/* ---- what is drawn */

static const struct trod_node *item(const struct trod_node *list, size_t i)
{
    const struct trod_node *n = list->first;

    for (; n && i > 0; i--)
        n = n->next;
    return n;
}

/* Field OF of item I, by their numbers, where it has the same place in all items. */
struct items {
    const struct trod_node **at;
    const char *key;
};

static const struct trod_value *field(const void *from, size_t i, size_t of)
{
    const struct items *f = from;

    (void)of;
    for (const struct trod_node *n = f->at[i]->first; n; n = n->next)
        if (n->type == TROD_NODE_VALUE && n->key && strcmp(n->key, f->key) == 0)
            return &n->value;
    return NULL;
}

/* Numbers that say which interval it is. */
static bool is_place(const char *key)
{
    return strcmp(key, "interval") == 0 || strstr(key, "_end");
}

static void intervals(struct plotting *k, const struct trod_node *list)
{
    struct items f = {.at = NULL};
    size_t n = 0;

    for (const struct trod_node *c = list->first; c; c = c->next)
        n++;
    if (n < 2 || item(list, 0)->type != TROD_NODE_OBJECT)
        return;
    f.at = calloc(n, sizeof *f.at);
    if (!f.at) {
        k->rc = TROD_ERR_NOMEM;
        return;
    }
    n = 0;
    for (const struct trod_node *c = list->first; c; c = c->next)
        f.at[n++] = c;
    title(k, list);
    for (const struct trod_node *v = f.at[0]->first; v; v = v->next) {
        if (v->type != TROD_NODE_VALUE || !is_number(&v->value) || is_place(v->key))
            continue;
        f.key = v->key;
        curve(k, v->key, n, field, &f, 0);
    }
    if (k->rc == TROD_OK)
        k->rc = trod_buf_printf(k->out, "  from left to right: interval 0 to %zu\n", n - 1);
    free(f.at);
}

static void table(struct plotting *k, const struct trod_node *t)
{
    int key = -1, x = -1, measure = -1;

    for (size_t c = t->n_columns; c-- > 0;) {
        const struct trod_result_column *column = &t->columns[c];

        if (column->role == TROD_COLUMN_KEY)
            key = (int)c;
        else if (column->role == TROD_COLUMN_X)
            x = (int)c;
        else if (column->role == TROD_COLUMN_MEASURE && has_numbers(t, c))
            measure = (int)c;
    }
    if (trod_result_column(t, "share") >= 0)
        measure = trod_result_column(t, "share");
    else if (x >= 0 && measure >= 0 && t->n_rows > 1 && is_number(cell(t, 0, (size_t)x))) {
        curves(k, t, (size_t)x);
        return;
    }
    if (t->n_rows > 0 && measure >= 0 && (key >= 0 || x >= 0))
        bars(k, t, (size_t)measure);
}

static void walk(struct plotting *k, const struct trod_node *n)
{
    for (const struct trod_node *c = n->first; c && k->rc == TROD_OK; c = c->next) {
        if (c->type == TROD_NODE_TABLE)
            table(k, c);
        else if (c->type == TROD_NODE_OBJECT)
            walk(k, c);
        else if (c->type == TROD_NODE_LIST && c->key && strcmp(c->key, "intervals") == 0)
            intervals(k, c);
    }
}

/* ---- ASCII */

static char plain_block(unsigned code)
{
    return code >= 0x2588 && code <= 0x258c ? '#' : ' '; /* half a character or more */
}

static char plain_dots(unsigned code)
{
    const unsigned upper = code & 0x1b, lower = code & 0xe4;

    return upper && lower ? (code & 0xff) == 0xff ? '#' : '|' : upper ? '\'' : lower ? '.' : ' ';
}

void trod_plot_ascii(struct trod_buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->n; i++) {
        const uint8_t *p = text->p + i;
        unsigned code;

        if (*p != 0xe2 || text->n - i < 3) {
            text->p[n++] = *p;
            continue;
        }
        code = 0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        if ((code >= 0x2580 && code < 0x25a0) || (code >= 0x2800 && code < 0x2900)) {
            text->p[n++] = (uint8_t)(code < 0x2800 ? plain_block(code) : plain_dots(code));
            i += 2;
        } else {
            text->p[n++] = *p;
        }
    }
    text->n = n;
}

int trod_plot_result(const struct trod_result *r, const struct trod_plot_options *opt,
                     struct trod_buf *out)
{
    const size_t before = out->n;
    struct trod_plot_options own;
    struct plotting k = {.out = out};

    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return TROD_ERR_USAGE;
    k.width = own.width == 0 ? WIDTH : own.width < LEAST ? LEAST : own.width;
    k.rows = own.rows ? own.rows : TROD_PLOT_ROWS;
    walk(&k, trod_result_root(r));
    if (k.rc == TROD_OK && own.ascii) {
        struct trod_buf drawn = {.p = out->p + before, .n = out->n - before};

        trod_plot_ascii(&drawn);
        out->n = before + drawn.n;
    }
    return k.rc < 0 ? k.rc : k.charts;
}
