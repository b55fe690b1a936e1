/*
 * result_read.c - a result, back from its JSON.
 *
 * Implements trod_result_read of trod/result.h. What JSON does not say (roles and units of columns,
 * titles) is not there.
 */
#include "core/reason.h"
#include "trod/result.h"
#include "trod_config.h"

#if TROD_HAVE_JANSSON

#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS = 12, TEXT = 64 };

static bool plain(const json_t *v)
{
    return !json_is_object(v) && !json_is_array(v);
}

/* How many decimals it takes to write V. */
static int decimals_of(double v)
{
    char text[TEXT * 8];

    for (int n = 0; n < DECIMALS; n++) {
        snprintf(text, sizeof text, "%.*f", n, v);
        if (strtod(text, NULL) >= v && strtod(text, NULL) <= v)
            return n;
    }
    return DECIMALS;
}

/* A field, an item or a cell. */
static void add_plain(struct trod_result *r, const char *key, const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_INTEGER:
        if (json_integer_value(v) < 0)
            trod_result_i64(r, key, json_integer_value(v));
        else
            trod_result_u64(r, key, (uint64_t)json_integer_value(v));
        break;
    case JSON_REAL:
        trod_result_f64(r, key, json_real_value(v), decimals_of(json_real_value(v)));
        break;
    case JSON_STRING:
        trod_result_strn(r, key, json_string_value(v), json_string_length(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        trod_result_bool(r, key, json_is_true(v));
        break;
    default:
        trod_result_absent(r);
    }
}

/* Is ARRAY a table: objects of plain values with the same names in the same order? */
static bool is_table(json_t *array)
{
    json_t *first = json_array_get(array, 0), *row, *v;
    const char *name;
    size_t i;

    json_array_foreach(array, i, row)
    {
        void *at;

        if (!json_is_object(row) || json_object_size(row) == 0 ||
            json_object_size(row) != json_object_size(first))
            return false;
        at = json_object_iter(first);
        json_object_foreach(row, name, v)
        {
            if (!plain(v) || strcmp(name, json_object_iter_key(at)) != 0)
                return false;
            at = json_object_iter_next(first, at);
        }
    }
    return true;
}

static int add_table(struct trod_result *r, const char *key, json_t *array)
{
    json_t *first = json_array_get(array, 0), *row, *v;
    size_t n = json_object_size(first), i = 0;
    struct trod_result_column *column = calloc(n + 1, sizeof *column);
    const char *name;

    if (!column)
        return TROD_ERR_NOMEM;
    json_object_foreach(first, name, v)
    {
        column[i++].name = name;
    }
    trod_result_table(r, key, NULL, column, n);
    json_array_foreach(array, i, row)
    {
        json_object_foreach(row, name, v)
        {
            add_plain(r, NULL, v);
        }
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(column);
    return TROD_OK;
}

/* V with all that is below it; LEFT levels may be opened. An error stands in the status of R. */
static int add(struct trod_result *r, const char *key, json_t *v, unsigned left)
{
    const char *name;
    json_t *below;
    size_t i;
    int rc = TROD_OK;

    if (json_is_array(v) && json_array_size(v) && is_table(v))
        return add_table(r, key, v);
    if (plain(v)) {
        if (!json_is_null(v))
            add_plain(r, key, v);
        return TROD_OK;
    }
    if (left == 0)
        return TROD_ERR_LIMIT;
    if (json_is_array(v)) {
        trod_result_list(r, key, NULL);
        json_array_foreach(v, i, below)
        {
            if (rc == TROD_OK)
                rc = add(r, NULL, below, left - 1);
        }
        trod_result_list_close(r);
        return rc;
    }
    trod_result_open(r, key, NULL);
    json_object_foreach(v, name, below)
    {
        if (rc == TROD_OK)
            rc = add(r, name, below, left - 1);
    }
    trod_result_close(r);
    return rc;
}

static int fill(struct trod_result *r, json_t *root)
{
    const char *name;
    json_t *v;
    int rc = TROD_OK;

    json_object_foreach(root, name, v)
    {
        if (rc == TROD_OK)
            rc = add(r, name, v, TROD_EMIT_DEPTH - 1);
    }
    return rc == TROD_OK ? trod_result_status(r) : rc;
}

int trod_result_read(struct trod_result **out, const char *path, struct trod_diag *diag)
{
    struct trod_place at = trod_place_path(path);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char why[TROD_REASON];
    json_error_t error;
    json_t *root;
    int rc;

    *out = NULL;
    if (!f)
        return trod_error(diag, TROD_ERR_IO, "result.open", &at, "cannot open '%s': %s", path,
                          trod_reason(errno, why));
    root = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
    trod_reason(errno, why);
    rc = ferror(f) ? TROD_ERR_IO : TROD_OK;
    if (f != stdin)
        fclose(f);
    if (rc < 0) {
        trod_error(diag, rc, "result.read", &at, "cannot read '%s': %s", path, why);
    } else if (!root) {
        at.line = error.line > 0 ? (uint64_t)error.line : TROD_NOWHERE;
        rc = trod_error(diag, TROD_ERR_CORRUPT, "result.json", &at, "'%s' is no JSON: %s", path,
                        error.text);
    } else if (!json_is_object(root)) {
        rc = trod_error(diag, TROD_ERR_CORRUPT, "result.json", &at,
                        "'%s' is no result: not an object", path);
    } else {
        rc = trod_result_new(out);
        if (rc == TROD_OK)
            rc = fill(*out, root);
        if (rc == TROD_ERR_LIMIT)
            trod_error(diag, rc, "result.deep", &at, "'%s' is nested deeper than %d levels", path,
                       TROD_EMIT_DEPTH);
    }
    json_decref(root);
    if (rc < 0) {
        trod_result_free(*out);
        *out = NULL;
    }
    return rc;
}

#else

int trod_result_read(struct trod_result **out, const char *path, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);

    *out = NULL;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "result.read", &at,
                      "reading '%s' needs a build with jansson", path);
}

#endif
