/*
 * chart.h - curves over sizes in bytes as a chart of characters.
 *
 * Braille patterns (Unicode, U+2800): two by four dots a character. The horizontal axis is a size
 * on a logarithmic scale, the vertical one begins at 0.
 */
#ifndef TROD_CORE_CHART_H
#define TROD_CORE_CHART_H

#include <stddef.h>
#include <stdint.h>

struct trod_buf;

enum { TROD_CHART_WIDTH = 73 }; /* of a chart without labels where nothing is said */

struct trod_chart_curve {
    const double *y;   /* by point; negative: there is none */
    const char *label; /* behind the curve, or NULL */
};

struct trod_chart {
    const double *x;                      /* of N points: log2 of the size in UNIT, rising */
    size_t n;                             /* 1 or more */
    uint64_t unit;                        /* bytes */
    const struct trod_chart_curve *curve; /* CURVES of them */
    size_t curves;
    unsigned width; /* of the whole chart in characters; 0: TROD_CHART_WIDTH and the labels */
};

/* Append the chart to OUT. 0, or TROD_ERR_NOMEM. */
int trod_chart_draw(const struct trod_chart *c, struct trod_buf *out);

#endif
