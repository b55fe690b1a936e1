/*
 * result_diff.c - how two results differ.
 *
 * Implements trod_result_diff of trod/result.h: one walk over both trees, in the order of the
 * first; what only the second has comes after the rest of its level. What is not compared: titles,
 * units, the order of fields and of rows.
 */
#include "engine/result_diff.h"

#include "core/sized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 512 }; /* a number as it is printed */

struct diff {
    struct trod_result_diff_options opt;
    struct trod_result *out; /* its table of differences is open */
    struct trod_buf path;    /* of where the walk is; ends with a zero that is not counted */
    uint64_t compared, different;
    int rc;
};

/* ---- paths */

static void remember(struct diff *d, int rc)
{
    if (rc < 0 && d->rc == TROD_OK)
        d->rc = rc;
}

/* Go down to NAME (a field) or "[NAME]" (a row). Returns what leave needs. */
static size_t enter(struct diff *d, const char *name, bool row)
{
    size_t was = d->path.n;

    if (row)
        remember(d, trod_buf_printf(&d->path, "[%s]", name));
    else
        remember(d, trod_buf_printf(&d->path, "%s%s", was ? "." : "", name));
    return was;
}

static void leave(struct diff *d, size_t was)
{
    d->path.n = was;
}

static const char *path_of(struct diff *d)
{
    if (trod_buf_reserve(&d->path, 1) < 0) {
        remember(d, TROD_ERR_NOMEM);
        return "";
    }
    d->path.p[d->path.n] = '\0';
    return (const char *)d->path.p;
}

/*
 * Does PATTERN mean PATH, or something that PATH lies below? "*" is any text, "?" any letter; "["
 * stands for itself, since it is a part of paths.
 */
static bool lies_at(const char *pattern, const char *path)
{
    const char *star = NULL, *from = NULL;

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            from = path;
        } else if (*pattern == '\0' && (*path == '\0' || *path == '.' || *path == '[')) {
            return true;
        } else if (*path && (*pattern == '?' || *pattern == *path)) {
            pattern++;
            path++;
        } else if (star && *from) {
            pattern = star;
            path = ++from;
        } else {
            return false;
        }
    }
}

static bool wanted(struct diff *d)
{
    const char *path = path_of(d);

    for (size_t i = 0; i < d->opt.n_only; i++)
        if (lies_at(d->opt.only[i], path))
            return true;
    return d->opt.n_only == 0;
}

/* ---- values */

static bool is_number(const struct trod_value *v)
{
    return v->type == TROD_RESULT_U64 || v->type == TROD_RESULT_I64 || v->type == TROD_RESULT_F64;
}

/* What is printed of V, an F64: a result that was saved has no more of it. */
static double printed(const struct trod_value *v)
{
    char text[TEXT];
    const int n = snprintf(text, sizeof text, "%.*f", v->decimals, v->is.f64);

    return n < TEXT ? strtod(text, NULL) : v->is.f64;
}

static double number(const struct trod_value *v)
{
    return v->type == TROD_RESULT_U64   ? (double)v->is.u64
           : v->type == TROD_RESULT_I64 ? (double)v->is.i64
                                        : printed(v);
}

static bool is_large(const struct trod_value *v)
{
    return v->type == TROD_RESULT_U64 && v->is.u64 > INT64_MAX;
}

static bool is_negative(const struct trod_value *v)
{
    return v->type == TROD_RESULT_I64 && v->is.i64 < 0;
}

/* B - A of whole numbers, exactly, where it is a number of 64 bits. */
static bool whole_difference(const struct trod_value *a, const struct trod_value *b, int64_t *out)
{
    uint64_t x = a->is.u64, y = b->is.u64, size;

    if (a->type == TROD_RESULT_F64 || b->type == TROD_RESULT_F64)
        return false;
    if (is_negative(a) || is_negative(b)) {
        if (is_large(a) || is_large(b))
            return false;
        /* moved up by 2^63, so that order and difference are those of unsigned numbers */
        x += UINT64_C(1) << 63;
        y += UINT64_C(1) << 63;
    }
    size = x < y ? y - x : x - y;
    if (size > INT64_MAX)
        return false;
    *out = x < y ? (int64_t)size : -(int64_t)size;
    return true;
}

static bool same_text(const struct trod_value *a, const struct trod_value *b)
{
    struct trod_buf x = {0}, y = {0};
    bool same = result_value_text(&x, a) == TROD_OK && result_value_text(&y, b) == TROD_OK &&
                x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);

    trod_buf_fini(&x);
    trod_buf_fini(&y);
    return same && (a->type == TROD_RESULT_ABSENT) == (b->type == TROD_RESULT_ABSENT);
}

static bool equal(const struct diff *d, const struct trod_value *a, const struct trod_value *b)
{
    int64_t whole;
    double x, y, apart;

    if (!is_number(a) || !is_number(b))
        return same_text(a, b);
    x = number(a);
    y = number(b);
    apart = whole_difference(a, b, &whole) ? fabs((double)whole) : fabs(y - x);
    return apart <= d->opt.absolute || apart <= d->opt.relative * fmax(fabs(x), fabs(y));
}

static void put_value(struct trod_result *r, const struct trod_value *v)
{
    switch (v ? v->type : TROD_RESULT_ABSENT) {
    case TROD_RESULT_U64:
        trod_result_u64(r, NULL, v->is.u64);
        break;
    case TROD_RESULT_I64:
        trod_result_i64(r, NULL, v->is.i64);
        break;
    case TROD_RESULT_HEX:
        trod_result_hex(r, NULL, v->is.u64);
        break;
    case TROD_RESULT_F64:
        trod_result_f64(r, NULL, v->is.f64, v->decimals);
        break;
    case TROD_RESULT_BOOL:
        trod_result_bool(r, NULL, v->is.boolean);
        break;
    case TROD_RESULT_STR:
        trod_result_str(r, NULL, v->is.str);
        break;
    default:
        trod_result_absent(r);
    }
}

static void put_difference(struct trod_result *r, const struct trod_value *a,
                           const struct trod_value *b)
{
    int64_t whole;

    if (whole_difference(a, b, &whole))
        trod_result_i64(r, NULL, whole);
    else
        trod_result_f64(r, NULL, number(b) - number(a),
                        a->decimals > b->decimals ? a->decimals : b->decimals);
    if (fabs(number(a)) > 0)
        trod_result_f64(r, NULL, 100 * (number(b) - number(a)) / fabs(number(a)), 3);
}

/* A line of the table: a value that differs, or that one side (NULL) does not have. */
static void put(struct diff *d, const struct trod_value *a, const struct trod_value *b)
{
    d->different++;
    trod_result_str(d->out, NULL, path_of(d));
    put_value(d->out, a);
    put_value(d->out, b);
    if (a && b && is_number(a) && is_number(b))
        put_difference(d->out, a, b);
    trod_result_row_end(d->out);
}

/* V; what is printed as null is nothing. */
static const struct trod_value *as_printed(const struct trod_value *v)
{
    static const struct trod_value absent = {.type = TROD_RESULT_ABSENT};

    return v && v->type == TROD_RESULT_F64 && !isfinite(v->is.f64) ? &absent : v;
}

static void values(struct diff *d, const struct trod_value *a, const struct trod_value *b)
{
    static const struct trod_value absent = {.type = TROD_RESULT_ABSENT};

    if (!wanted(d))
        return;
    a = as_printed(a);
    b = as_printed(b);
    if ((!a && b->type == TROD_RESULT_ABSENT) || (!b && a->type == TROD_RESULT_ABSENT))
        a = b = &absent;
    d->compared++;
    if (!a || !b || !equal(d, a, b))
        put(d, a, b);
}

/* ---- the trees */

static void nodes(struct diff *d, const struct trod_node *a, const struct trod_node *b);

/* Row I of A and row K of B; NULL: the other has no such row. */
static void rows(struct diff *d, const struct trod_node *a, size_t i, const struct trod_node *b,
                 size_t k, const char *key)
{
    const struct trod_node *t = a ? a : b;
    size_t was = enter(d, key, true);

    for (size_t c = 0; c < t->n_columns; c++) {
        size_t column = enter(d, t->columns[c].name, false);

        values(d, a ? &a->cells[i * a->n_columns + c] : NULL,
               b ? &b->cells[k * b->n_columns + c] : NULL);
        leave(d, column);
    }
    leave(d, was);
}

static void tables(struct diff *d, const struct trod_node *a, const struct trod_node *b)
{
    struct result_match m;
    int rc = result_match_rows(&m, a, b, d->opt.key, d->opt.n_key);

    remember(d, rc);
    for (size_t i = 0; rc == TROD_OK && i < a->n_rows; i++) {
        bool there = m.b_of_a[i] != RESULT_NO_ROW;

        rows(d, a, i, there ? b : NULL, there ? m.b_of_a[i] : 0, m.key_a[i]);
    }
    for (size_t i = 0; rc == TROD_OK && i < b->n_rows; i++)
        if (!m.b_taken[i])
            rows(d, NULL, 0, b, i, m.key_b[i]);
    result_match_fini(&m, a, b);
}

static bool same_columns(const struct trod_node *a, const struct trod_node *b)
{
    if (a->n_columns != b->n_columns)
        return false;
    for (size_t i = 0; i < a->n_columns; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0)
            return false;
    return true;
}

static const struct trod_node *named(const struct trod_node *n, const char *key)
{
    const struct trod_node *c = n->first;

    while (c && !(c->key && strcmp(c->key, key) == 0))
        c = c->next;
    return c;
}

static void objects(struct diff *d, const struct trod_node *a, const struct trod_node *b)
{
    for (const struct trod_node *c = a->first; c; c = c->next) {
        size_t was = enter(d, c->key, false);

        nodes(d, c, named(b, c->key));
        leave(d, was);
    }
    for (const struct trod_node *c = b->first; c; c = c->next)
        if (!named(a, c->key)) {
            size_t was = enter(d, c->key, false);

            nodes(d, NULL, c);
            leave(d, was);
        }
}

static void lists(struct diff *d, const struct trod_node *a, const struct trod_node *b)
{
    const struct trod_node *x = a->first, *y = b->first;

    for (size_t i = 0; x || y; i++) {
        char number_text[24];
        size_t was;

        snprintf(number_text, sizeof number_text, "%zu", i);
        was = enter(d, number_text, false);
        nodes(d, x, y);
        leave(d, was);
        x = x ? x->next : NULL;
        y = y ? y->next : NULL;
    }
}

/* N, or the table that it is, which *OWN has then. */
static const struct trod_node *as_table(struct diff *d, const struct trod_node *n,
                                        struct trod_result **own)
{
    *own = NULL;
    if (n)
        remember(d, result_as_table(own, n));
    return *own && d->rc == TROD_OK ? trod_result_root(*own)->first : n;
}

static void nodes_as_they_are(struct diff *d, const struct trod_node *a, const struct trod_node *b);

/* A and B stand at the same path; NULL: nothing does. */
static void nodes(struct diff *d, const struct trod_node *a, const struct trod_node *b)
{
    struct trod_result *own_a, *own_b;

    a = as_table(d, a, &own_a);
    b = as_table(d, b, &own_b);
    nodes_as_they_are(d, a, b);
    trod_result_free(own_a);
    trod_result_free(own_b);
}

static void nodes_as_they_are(struct diff *d, const struct trod_node *a, const struct trod_node *b)
{
    const struct trod_node nothing = {.type = (a ? a : b)->type,
                                      .columns = (a ? a : b)->columns,
                                      .n_columns = (a ? a : b)->n_columns};

    if (a && b && (a->type != b->type || (a->type == TROD_NODE_TABLE && !same_columns(a, b)))) {
        nodes(d, a, NULL);
        nodes(d, NULL, b);
        return;
    }
    switch (nothing.type) {
    case TROD_NODE_VALUE:
        values(d, a ? &a->value : NULL, b ? &b->value : NULL);
        break;
    case TROD_NODE_TABLE:
        tables(d, a ? a : &nothing, b ? b : &nothing);
        break;
    case TROD_NODE_LIST:
        lists(d, a ? a : &nothing, b ? b : &nothing);
        break;
    default:
        objects(d, a ? a : &nothing, b ? b : &nothing);
    }
}

int trod_result_diff(const struct trod_result *a, const struct trod_result *b,
                     const struct trod_result_diff_options *opt, struct trod_result *out,
                     uint64_t *different)
{
    static const struct trod_result_column columns[] = {
        {"path", TROD_COLUMN_KEY, NULL, "where the value stands in the results"},
        {"first", TROD_COLUMN_PLAIN, NULL, "in the first result"},
        {"second", TROD_COLUMN_PLAIN, NULL, "in the second result"},
        {"difference", TROD_COLUMN_MEASURE, NULL, "second minus first"},
        {"percent", TROD_COLUMN_MEASURE, "percent", "difference by first"},
    };
    struct diff d = {.out = NULL};
    struct trod_result *table;
    int rc;

    *different = 0;
    if (!trod_sized(&d.opt, sizeof d.opt, sizeof d.opt, opt))
        return TROD_ERR_USAGE;
    rc = trod_result_new(&table);
    if (rc < 0)
        return rc;
    d.out = table;
    trod_result_table(table, "differences", "differences", columns, 5);
    objects(&d, trod_result_root(a), trod_result_root(b));
    trod_result_table_close(table);
    trod_result_u64(out, "compared", d.compared);
    trod_result_u64(out, "different", d.different);
    trod_result_add(out, table);
    trod_result_free(table);
    trod_buf_fini(&d.path);
    *different = d.different;
    return d.rc < 0 ? d.rc : trod_result_status(out);
}
