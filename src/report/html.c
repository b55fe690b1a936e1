/*
 * html.c - texts and values as HTML (report.h). What comes from a trace is never markup.
 */
#include "report/report.h"

#include "trod/put.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put_char(struct trod_buf *out, char c)
{
    switch (c) {
    case '&':
        return trod_buf_add(out, "&amp;", 5);
    case '<':
        return trod_buf_add(out, "&lt;", 4);
    case '>':
        return trod_buf_add(out, "&gt;", 4);
    case '"':
        return trod_buf_add(out, "&quot;", 6);
    case '\'':
        return trod_buf_add(out, "&#39;", 5);
    default:
        return trod_buf_add(out, &c, 1);
    }
}

int report_text(struct trod_buf *out, const char *s, size_t n)
{
    char *visible = malloc(4 * n + 1);
    const char *end;
    int rc = visible ? TROD_OK : TROD_ERR_NOMEM;

    if (!visible)
        return rc;
    end = trod_put_visible(visible, s, n);
    for (const char *p = visible; rc == TROD_OK && p < end; p++)
        rc = put_char(out, *p);
    free(visible);
    return rc;
}

int report_value(struct trod_buf *out, const struct trod_value *v, bool grouped)
{
    char n[TROD_PUT_GROUPED + 1];

    switch (v->type) {
    case TROD_RESULT_U64:
        if (!grouped)
            return trod_buf_printf(out, "%" PRIu64, v->is.u64);
        *trod_put_grouped(n, v->is.u64) = '\0';
        return trod_buf_printf(out, "%s", n);
    case TROD_RESULT_I64:
        return trod_buf_printf(out, "%" PRId64, v->is.i64);
    case TROD_RESULT_HEX:
        return trod_buf_printf(out, "0x%" PRIx64, v->is.u64);
    case TROD_RESULT_F64:
        return isfinite(v->is.f64) ? trod_buf_printf(out, "%.*f", v->decimals, v->is.f64) : TROD_OK;
    case TROD_RESULT_BOOL:
        return trod_buf_printf(out, "%s", v->is.boolean ? "yes" : "no");
    case TROD_RESULT_STR:
        for (int i = 0; i < v->decimals; i++)
            if (trod_buf_add(out, " ", 1) < 0)
                return TROD_ERR_NOMEM;
        return report_text(out, v->is.str, strlen(v->is.str));
    default:
        return TROD_OK;
    }
}
