/*
 * report.h - results as one web page that needs nothing else, and as the JSON that it holds.
 *
 * Implements docs/report.md. The tree of results (trod/result.h) is the only source: the tables of
 * the page, the JSON in it, from which its script draws, and the JSON alone are the same numbers.
 * What is too long for a page that is sent by mail is shortened first, and the result says so.
 */
#ifndef TROD_REPORT_H
#define TROD_REPORT_H

#include "trod/diag.h"
#include "trod/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf;

enum {
    TROD_REPORT_ROWS = 1000,     /* default of trod_report_options.rows */
    TROD_REPORT_BYTES = 3000000, /* default of trod_report_options.bytes */
    TROD_REPORT_NAME = 200       /* longer texts are cut to so many bytes */
};

struct trod_report_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    const char *title;  /* of the page; NULL: "trod report" */
    uint64_t rows;      /* most rows of a table; 0: TROD_REPORT_ROWS */
    uint64_t bytes;     /* most bytes of the page; 0: TROD_REPORT_BYTES */
    bool json;          /* the JSON alone, which is that of the page */
};

/*
 * Append the report of FOUND to OUT. FOUND has an object for each analysis, under its name: they
 * become the sections of the page, in their order. Of two traces it has such objects in "first" and
 * "second", which are shown side by side; other objects are sections of their own.
 *
 * Shortened are tables of more than ROWS rows, lists of more than 32 items, texts of more than
 * TROD_REPORT_NAME bytes, and "stacks" of "flame", which become "frames": functions that cost least
 * are summed up in their callers. As long as the page would still be larger than BYTES, ROWS is
 * halved. The table "shortened" of the result names what was shortened, and how long it was.
 *
 * Returns 0, TROD_ERR_USAGE (options of another version), TROD_ERR_LIMIT (the page is larger than
 * BYTES with tables of a few rows) or TROD_ERR_NOMEM; not reported.
 */
int trod_report_make(const struct trod_result *found, const struct trod_report_options *opt,
                     struct trod_buf *out);

#ifdef __cplusplus
}
#endif

#endif
