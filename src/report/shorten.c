/*
 * shorten.c - results short enough for a page (report.h).
 *
 * Tables come with what matters most first, so their first rows are kept; of those with an axis,
 * which are read as curves, every so many rows and the last one.
 */
#include "report/report.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

struct cut {
    char *path;
    uint64_t rows, kept;
    const char *how;
};

struct shortening {
    struct trod_result *out;
    uint64_t rows;
    struct trod_buf path;
    struct cut *cut;
    size_t n, cap;
    bool failed;
};

static void note(struct shortening *k, uint64_t rows, uint64_t kept, const char *how)
{
    char *path = malloc(k->path.n + 1);

    if (!path || !trod_grow(&k->cut, k->n, &k->cap, sizeof *k->cut, 16)) {
        free(path);
        k->failed = true;
        return;
    }
    memcpy(path, k->path.p, k->path.n);
    path[k->path.n] = '\0';
    k->cut[k->n++] = (struct cut){path, rows, kept, how};
}

static void put_value(struct shortening *k, const char *key, const struct trod_value *v)
{
    switch (v->type) {
    case TROD_RESULT_STR: {
        size_t n = strlen(v->is.str);

        if (n > TROD_REPORT_NAME) /* not in the middle of a character */
            for (n = TROD_REPORT_NAME; n > 0 && ((unsigned char)v->is.str[n] & 0xc0) == 0x80;)
                n--;
        if (v->is.str[n])
            trod_result_strn(k->out, key, v->is.str, n);
        else
            trod_result_below(k->out, key, v->is.str, (unsigned)v->decimals);
        break;
    }
    case TROD_RESULT_U64:
        trod_result_u64(k->out, key, v->is.u64);
        break;
    case TROD_RESULT_I64:
        trod_result_i64(k->out, key, v->is.i64);
        break;
    case TROD_RESULT_HEX:
        trod_result_hex(k->out, key, v->is.u64);
        break;
    case TROD_RESULT_F64:
        trod_result_f64(k->out, key, v->is.f64, v->decimals);
        break;
    case TROD_RESULT_BOOL:
        trod_result_bool(k->out, key, v->is.boolean);
        break;
    default:
        trod_result_absent(k->out);
    }
}

static bool has_axis(const struct trod_node *t)
{
    for (size_t c = 0; c < t->n_columns; c++)
        if (t->columns[c].role == TROD_COLUMN_X)
            return true;
    return false;
}

/* Every so many rows of a curve of N are kept, and the last one: ROWS at the most. */
static uint64_t step_of(uint64_t n, uint64_t rows)
{
    return rows > 1 ? (n - 1 + rows - 2) / (rows - 1) : n;
}

static void put_table(struct shortening *k, const struct trod_node *t)
{
    const bool axis = t->n_rows > k->rows && has_axis(t);
    const uint64_t step = axis ? step_of(t->n_rows, k->rows) : 1;
    uint64_t kept = 0;

    trod_result_table(k->out, t->key, t->title, t->columns, t->n_columns);
    for (size_t i = 0; i < t->n_rows; i++) {
        if (axis ? i % step && (i + 1 < t->n_rows || k->rows < 2) : i >= k->rows)
            continue;
        for (size_t c = 0; c < t->n_columns; c++)
            put_value(k, NULL, &t->cells[i * t->n_columns + c]);
        trod_result_row_end(k->out);
        kept++;
    }
    trod_result_table_close(k->out);
    if (kept < t->n_rows)
        note(k, t->n_rows, kept, axis ? "some of all" : "the first");
}

static bool is_stacks(const struct trod_node *n)
{
    return n->type == TROD_NODE_TABLE && n->key && strcmp(n->key, "stacks") == 0 &&
           trod_result_column(n, "stack") >= 0 && trod_result_column(n, "count") >= 0;
}

static void put_node(struct shortening *k, const struct trod_node *n);

static void put_children(struct shortening *k, const struct trod_node *n)
{
    uint64_t i = 0;

    for (const struct trod_node *c = n->first; c; c = c->next, i++)
        if (n->type != TROD_NODE_LIST || i < REPORT_LIST)
            put_node(k, c);
    if (n->type == TROD_NODE_LIST && i > REPORT_LIST)
        note(k, i, REPORT_LIST, "the first");
}

static void put_stacks(struct shortening *k, const struct trod_node *n)
{
    const size_t length = k->path.n;
    uint64_t all = 0, kept = 0;

    k->failed |= report_frames(n, k->rows, k->out, &all, &kept) < 0;
    k->path.n -= strlen("stacks");
    k->failed |= trod_buf_printf(&k->path, "frames") < 0;
    if (kept < all)
        note(k, all, kept, "those that cost most; the others count for their callers");
    k->path.n = length;
}

static void put_node(struct shortening *k, const struct trod_node *n)
{
    const size_t length = k->path.n;

    if (n->key)
        k->failed |= trod_buf_printf(&k->path, "%s%s", length ? "." : "", n->key) < 0;
    if (is_stacks(n)) {
        put_stacks(k, n);
    } else if (n->type == TROD_NODE_TABLE) {
        put_table(k, n);
    } else if (n->type == TROD_NODE_VALUE) {
        put_value(k, n->key, &n->value);
        trod_result_describe(k->out, n->unit, n->about);
    } else if (n->type == TROD_NODE_LIST) {
        trod_result_list(k->out, n->key, n->title);
        put_children(k, n);
        trod_result_list_close(k->out);
    } else {
        trod_result_open(k->out, n->key, n->title);
        put_children(k, n);
        trod_result_close(k->out);
    }
    k->path.n = length;
}

static void put_cuts(const struct shortening *k)
{
    static const struct trod_result_column columns[] = {
        {"table", TROD_COLUMN_KEY, NULL, "where it stands in this result"},
        {"rows", TROD_COLUMN_MEASURE, NULL, "that it has"},
        {"kept", TROD_COLUMN_MEASURE, NULL, "that are shown"},
        {"which", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(k->out, "shortened", "what this report shows in part", columns, 4);
    for (size_t i = 0; i < k->n; i++) {
        trod_result_str(k->out, NULL, k->cut[i].path);
        trod_result_u64(k->out, NULL, k->cut[i].rows);
        trod_result_u64(k->out, NULL, k->cut[i].kept);
        trod_result_str(k->out, NULL, k->cut[i].how);
        trod_result_row_end(k->out);
    }
    trod_result_table_close(k->out);
}

int report_shorten(const struct trod_result *found, uint64_t rows, struct trod_result *out)
{
    struct shortening k = {.out = out, .rows = rows};

    put_children(&k, trod_result_root(found));
    put_cuts(&k);
    for (size_t i = 0; i < k.n; i++)
        free(k.cut[i].path);
    free(k.cut);
    trod_buf_fini(&k.path);
    return k.failed ? TROD_ERR_NOMEM : trod_result_status(out);
}
