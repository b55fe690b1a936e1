/*
 * report.c - a report of a bounded size (trod/report.h).
 */
#include "report/report.h"

#include "core/sized.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_ROWS = 4 };

/* R as JSON. *TEXT is released with free. */
static int json_of(const struct trod_result *r, char **text, size_t *n)
{
    const struct trod_emit_options opt = {.struct_size = sizeof opt, .format = TROD_EMIT_JSON};
    struct trod_emit *e;
    FILE *file;
    int rc;

    *text = NULL;
    file = open_memstream(text, n);
    if (!file)
        return TROD_ERR_NOMEM;
    rc = trod_emit_new(&e, file, &opt);
    if (rc == TROD_OK) {
        trod_result_emit(r, e);
        rc = trod_emit_free(e);
    }
    if (fclose(file) != 0 || rc == TROD_ERR_IO)
        rc = TROD_ERR_NOMEM;
    return rc;
}

/* The report with tables of ROWS rows. 1, or 0 where the page is too large, or an error. */
static int attempt(const struct trod_result *found, const struct trod_report_options *o,
                   uint64_t rows, struct trod_buf *out)
{
    const size_t before = out->n;
    struct trod_result *r = NULL;
    struct trod_buf page = {0};
    char *json = NULL;
    size_t n = 0;
    int rc = trod_result_new(&r);

    if (rc == TROD_OK)
        rc = report_shorten(found, rows, r);
    if (rc == TROD_OK)
        rc = json_of(r, &json, &n);
    if (rc == TROD_OK && n <= o->bytes)
        rc = report_page(r, o->title ? o->title : "trod report", json, n, &page);
    if (rc == TROD_OK)
        rc = n <= o->bytes && page.n <= o->bytes;
    if (rc == 1 && (o->json ? trod_buf_add(out, json, n) : trod_buf_add(out, page.p, page.n)) < 0)
        rc = TROD_ERR_NOMEM;
    if (rc < 0)
        out->n = before;
    trod_buf_fini(&page);
    free(json);
    trod_result_free(r);
    return rc;
}

int trod_report_make(const struct trod_result *found, const struct trod_report_options *opt,
                     struct trod_buf *out)
{
    struct trod_report_options o;
    int rc = 0;

    if (!trod_sized(&o, sizeof o, sizeof o, opt))
        return TROD_ERR_USAGE;
    if (o.rows == 0)
        o.rows = TROD_REPORT_ROWS;
    if (o.bytes == 0)
        o.bytes = TROD_REPORT_BYTES;
    for (uint64_t rows = o.rows; rc == 0; rows /= 2) {
        rc = attempt(found, &o, rows, out);
        if (rows <= LEAST_ROWS)
            break;
    }
    return rc == 0 ? TROD_ERR_LIMIT : rc < 0 ? rc : TROD_OK;
}
