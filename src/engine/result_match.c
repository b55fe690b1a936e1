/*
 * result_match.c - rows of two tables that belong together, and what is a table.
 *
 * Implements result_diff.h. A row's key is the text of its key columns; rows are sorted by it, and
 * the n-th of several rows with one key belongs to the n-th of the other table.
 */
#include "engine/result_diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    const char *key;
    size_t row;
};

int result_value_text(struct trod_buf *out, const struct trod_value *v)
{
    switch (v->type) {
    case TROD_RESULT_U64:
        return trod_buf_printf(out, "%" PRIu64, v->is.u64);
    case TROD_RESULT_I64:
        return trod_buf_printf(out, "%" PRId64, v->is.i64);
    case TROD_RESULT_HEX:
        return trod_buf_printf(out, "0x%" PRIx64, v->is.u64);
    case TROD_RESULT_F64:
        return trod_buf_printf(out, "%.*f", v->decimals, v->is.f64);
    case TROD_RESULT_BOOL:
        return trod_buf_printf(out, "%s", v->is.boolean ? "true" : "false");
    case TROD_RESULT_STR:
        return trod_buf_add(out, v->is.str, strlen(v->is.str));
    default:
        return TROD_OK;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int c = strcmp(x->key, y->key);

    return c ? c : x->row < y->row ? -1 : x->row > y->row;
}

/* The text of row ROW of T in the columns of USE (by column). NULL: no memory. */
static char *key_of(const struct trod_node *t, size_t row, const bool *use)
{
    struct trod_buf text = {0};
    bool first = true;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < t->n_columns; i++) {
        if (!use[i])
            continue;
        rc = first ? TROD_OK : trod_buf_add(&text, "/", 1);
        if (rc == TROD_OK)
            rc = result_value_text(&text, &t->cells[row * t->n_columns + i]);
        first = false;
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(&text, "", 1);
    if (rc < 0)
        trod_buf_fini(&text);
    return (char *)text.p;
}

static void free_keys(char **key, size_t n)
{
    for (size_t i = 0; key && i < n; i++)
        free(key[i]);
    free(key);
}

static char **keys_of(const struct trod_node *t, const bool *use)
{
    char **key = calloc(t->n_rows + 1, sizeof *key);

    for (size_t i = 0; key && i < t->n_rows; i++)
        if (!(key[i] = key_of(t, i, use))) {
            free_keys(key, i);
            return NULL;
        }
    return key;
}

static struct keyed *sorted(char *const *key, size_t n)
{
    struct keyed *k = calloc(n + 1, sizeof *k);

    for (size_t i = 0; k && i < n; i++)
        k[i] = (struct keyed){key[i], i};
    if (k && n)
        qsort(k, n, sizeof *k, by_key);
    return k;
}

/* Are all rows of T different in the columns of USE? 1, 0, or TROD_ERR_NOMEM. */
static int tells_apart(const struct trod_node *t, const bool *use)
{
    char **key = keys_of(t, use);
    struct keyed *k = key ? sorted(key, t->n_rows) : NULL;
    int apart = k ? 1 : TROD_ERR_NOMEM;

    for (size_t i = 1; k && apart && i < t->n_rows; i++)
        apart = strcmp(k[i].key, k[i - 1].key) != 0;
    free(k);
    if (key)
        free_keys(key, t->n_rows);
    return apart;
}

static bool has_column(const struct trod_node *t, size_t i, const char *const *key, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(t->columns[i].name, key[k]) == 0)
            return true;
    return false;
}

/* Which columns of A and B, which have the same, are keys. */
static int choose(const struct trod_node *a, const struct trod_node *b, const char *const *key,
                  size_t n, bool *use)
{
    size_t columns = a->n_columns;
    bool any = false;

    for (size_t i = 0; i < columns; i++)
        any |= use[i] = has_column(a, i, key, n);
    for (size_t i = 0; !any && i < columns; i++) {
        int ra, rb;

        use[i] = true;
        ra = tells_apart(a, use);
        rb = ra == 1 ? tells_apart(b, use) : ra;
        if (rb < 0)
            return rb;
        if (rb == 1)
            return TROD_OK;
    }
    return TROD_OK;
}

int result_match_rows(struct result_match *m, const struct trod_node *a, const struct trod_node *b,
                      const char *const *key, size_t n)
{
    bool *use = calloc(a->n_columns + 1, sizeof *use);
    struct keyed *ka = NULL, *kb = NULL;
    int rc = use ? choose(a, b, key, n, use) : TROD_ERR_NOMEM;

    *m = (struct result_match){NULL, NULL, NULL, NULL};
    if (rc == TROD_OK) {
        m->b_of_a = calloc(a->n_rows + 1, sizeof *m->b_of_a);
        m->b_taken = calloc(b->n_rows + 1, sizeof *m->b_taken);
        m->key_a = keys_of(a, use);
        m->key_b = keys_of(b, use);
        ka = m->key_a ? sorted(m->key_a, a->n_rows) : NULL;
        kb = m->key_b ? sorted(m->key_b, b->n_rows) : NULL;
        rc = m->b_of_a && m->b_taken && ka && kb ? TROD_OK : TROD_ERR_NOMEM;
    }
    for (size_t i = 0, k = 0; rc == TROD_OK && i < a->n_rows; i++) {
        int c = 1;

        while (k < b->n_rows && (c = strcmp(kb[k].key, ka[i].key)) < 0)
            k++;
        m->b_of_a[ka[i].row] = RESULT_NO_ROW;
        if (k < b->n_rows && c == 0) {
            m->b_taken[kb[k].row] = true;
            m->b_of_a[ka[i].row] = kb[k++].row;
        }
    }
    free(use);
    free(ka);
    free(kb);
    return rc;
}

void result_match_fini(struct result_match *m, const struct trod_node *a, const struct trod_node *b)
{
    free(m->b_of_a);
    free(m->b_taken);
    free_keys(m->key_a, a->n_rows);
    free_keys(m->key_b, b->n_rows);
}

/* ---- lists that are tables */

/* Has object B the fields of A, plain values all, in the same order? */
static bool same_fields(const struct trod_node *a, const struct trod_node *b)
{
    const struct trod_node *x = a->first, *y = b->first;

    while (x && y && y->type == TROD_NODE_VALUE && strcmp(x->key, y->key) == 0) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

static bool is_table(const struct trod_node *list)
{
    if (list->type != TROD_NODE_LIST || !list->first)
        return false;
    for (const struct trod_node *c = list->first; c; c = c->next)
        if (c->type != TROD_NODE_OBJECT || !c->first || !same_fields(list->first, c))
            return false;
    return true;
}

int result_as_table(struct trod_result **out, const struct trod_node *list)
{
    const struct trod_node *item = list->first;
    struct trod_result_column *column;
    size_t n = 0;
    int rc;

    *out = NULL;
    if (!is_table(list))
        return TROD_OK;
    for (const struct trod_node *c = item->first; c; c = c->next)
        n++;
    column = calloc(n, sizeof *column);
    rc = column ? trod_result_new(out) : TROD_ERR_NOMEM;
    n = 0;
    for (const struct trod_node *c = item->first; rc == TROD_OK && c; c = c->next)
        column[n++].name = c->key;
    if (rc == TROD_OK)
        trod_result_table(*out, list->key ? list->key : "", NULL, column, n);
    for (; rc == TROD_OK && item; item = item->next) {
        for (const struct trod_node *c = item->first; c; c = c->next)
            result_add_value(*out, NULL, &c->value);
        trod_result_row_end(*out);
    }
    if (rc == TROD_OK) {
        trod_result_table_close(*out);
        rc = trod_result_status(*out);
    }
    free(column);
    return rc;
}
