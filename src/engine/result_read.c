/*
 * result_read.c - a result, back from its JSON.
 *
 * Implements trod_result_read of trod/result.h. What JSON does not say (roles and units of columns,
 * titles) is not there. Jansson has integers of 64 bits with a sign: those beyond are passed by it
 * as strings that no text can have.
 */
#include "core/reason.h"
#include "trod/buf.h"
#include "trod/result.h"
#include "trod_config.h"

#if TROD_HAVE_JANSSON

#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS = 12, TEXT = 64, READ = 1 << 16, DIGITS = 20 };

/* ---- integers from 2^63 on */

/* What such a number begins with, as a string: a NUL, which other strings are refused for. */
#define LARGE "\\u0000"

struct text {
    struct trod_buf json; /* of which large integers are strings */
    bool nul;             /* a string of it has a NUL */
};

/* The end of the string that begins at P; *NUL: it has one. */
static const uint8_t *string_end(const uint8_t *p, const uint8_t *end, bool *nul)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && end - p > 1) {
            *nul = *nul || (end - p > 5 && memcmp(p + 1, "u0000", 5) == 0);
            p++;
        }
    return p < end ? p + 1 : end;
}

static bool in_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Are the N bytes at P an integer from 2^63 on that 64 bits hold? */
static bool is_large(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    if (n == 0 || n > DIGITS || *p == '0')
        return false;
    for (size_t i = 0; i < n; i++) {
        const unsigned digit = (unsigned)p[i] - '0';

        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    return v > INT64_MAX;
}

/* FROM, with large integers as strings, to T. 0 or TROD_ERR_NOMEM. */
static int mark_large(struct text *t, const struct trod_buf *from)
{
    const uint8_t *p = from->p, *const end = p + from->n;
    const uint8_t *copied = p; /* as far as it is in T */
    int rc = TROD_OK;

    while (rc == TROD_OK && p < end) {
        const uint8_t *const token = p;

        if (*p == '"') {
            p = string_end(p, end, &t->nul);
            continue;
        }
        while (p < end && in_number(*p))
            p++;
        if (is_large(token, (size_t)(p - token))) {
            rc = trod_buf_add(&t->json, copied, (size_t)(token - copied));
            if (rc == TROD_OK)
                rc = trod_buf_printf(&t->json, "\"" LARGE "%.*s\"", (int)(p - token), token);
            copied = p;
        }
        p += p == token;
    }
    return rc == TROD_OK ? trod_buf_add(&t->json, copied, (size_t)(end - copied)) : rc;
}

/* All of F to T. 0, TROD_ERR_NOMEM, or TROD_ERR_IO with errno. */
static int read_text(struct text *t, FILE *f)
{
    struct trod_buf all = {0};
    int rc = TROD_OK, why;

    while (rc == TROD_OK && !feof(f)) {
        rc = trod_buf_reserve(&all, READ);
        if (rc == TROD_OK)
            all.n += fread(all.p + all.n, 1, READ, f);
        if (ferror(f))
            rc = TROD_ERR_IO;
    }
    why = errno;
    if (rc == TROD_OK)
        rc = mark_large(t, &all);
    trod_buf_fini(&all);
    errno = why;
    return rc;
}

/* ---- values */

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
        if (json_string_length(v) && !*json_string_value(v))
            trod_result_u64(r, key, strtoull(json_string_value(v) + 1, NULL, 10));
        else
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

/* *OUT from ROOT, the JSON of the file at AT. 0 or an error, reported. */
static int from_json(struct trod_result **out, json_t *root, const struct trod_place *at,
                     struct trod_diag *diag)
{
    int rc;

    if (!json_is_object(root))
        return trod_error(diag, TROD_ERR_CORRUPT, "result.json", at,
                          "'%s' is no result: not an object", at->path);
    rc = trod_result_new(out);
    if (rc == TROD_OK)
        rc = fill(*out, root);
    if (rc == TROD_ERR_LIMIT)
        trod_error(diag, rc, "result.deep", at, "'%s' is nested deeper than %d levels", at->path,
                   TROD_EMIT_DEPTH);
    return rc;
}

int trod_result_read(struct trod_result **out, const char *path, struct trod_diag *diag)
{
    struct trod_place at = trod_place_path(path);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    struct text text = {.nul = false};
    char why[TROD_REASON];
    json_error_t error;
    json_t *root = NULL;
    int rc;

    *out = NULL;
    if (!f)
        return trod_error(diag, TROD_ERR_IO, "result.open", &at, "cannot open '%s': %s", path,
                          trod_reason(errno, why));
    rc = read_text(&text, f);
    if (rc == TROD_ERR_IO)
        trod_error(diag, rc, "result.read", &at, "cannot read '%s': %s", path,
                   trod_reason(errno, why));
    if (f != stdin)
        fclose(f);
    /* the parser would not see one behind a number */
    if (rc == TROD_OK && text.json.n && memchr(text.json.p, 0, text.json.n))
        rc = trod_error(diag, TROD_ERR_CORRUPT, "result.json", &at,
                        "'%s' is no JSON: it has a byte of zero", path);
    if (rc == TROD_OK) {
        root = json_loadb(text.json.n ? (const char *)text.json.p : "", text.json.n,
                          JSON_REJECT_DUPLICATES | (text.nul ? 0 : JSON_ALLOW_NUL), &error);
        if (!root) {
            at.line = error.line > 0 ? (uint64_t)error.line : TROD_NOWHERE;
            rc = trod_error(diag, TROD_ERR_CORRUPT, "result.json", &at, "'%s' is no JSON: %s", path,
                            error.text);
        }
    }
    if (rc == TROD_OK)
        rc = from_json(out, root, &at, diag);
    json_decref(root);
    trod_buf_fini(&text.json);
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
