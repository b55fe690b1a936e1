/*
 * report.h - what the files of this room share: shortening results, writing the page
 * (trod/report.h).
 */
#ifndef REPORT_H
#define REPORT_H

#include "trod/report.h"

#include "trod/buf.h"

enum { REPORT_LIST = 32 }; /* items of a list */

/*
 * FOUND with tables of at most ROWS rows into the open level of OUT; the table "shortened" comes
 * last. Returns 0 or TROD_ERR_NOMEM.
 */
int report_shorten(const struct trod_result *found, uint64_t rows, struct trod_result *out);

/*
 * The table "frames" of the flame graph of STACKS (a table with the columns "stack" and "count"):
 * outer functions first, each with the number of its caller's row. Where there are more than ROWS
 * functions, those that cost least have no row: they count for their callers. *ALL, *KEPT: how many
 * there are and have rows. Returns 0 or TROD_ERR_NOMEM.
 */
int report_frames(const struct trod_node *stacks, uint64_t rows, struct trod_result *out,
                  uint64_t *all, uint64_t *kept);

/* The page of R, whose JSON is the N bytes at JSON. Returns 0 or TROD_ERR_NOMEM. */
int report_page(const struct trod_result *r, const char *title, const char *json, size_t n,
                struct trod_buf *out);

/* N bytes at S as text of HTML, also inside quotes: control bytes and what is no UTF-8 is made
 * visible as \xHH. Returns 0 or TROD_ERR_NOMEM. */
int report_text(struct trod_buf *out, const char *s, size_t n);
/* A value as the JSON has it but for quotes; GROUPED: with commas between thousands. */
int report_value(struct trod_buf *out, const struct trod_value *v, bool grouped);

/* The files page.css and page.js, made into texts when trod is built. */
extern const unsigned char report_css[], report_js[];
extern const size_t report_css_size, report_js_size;

#endif
