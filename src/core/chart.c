/*
 * chart.c - curves as dots, dots as characters.
 *
 * Implements chart.h. Between two points a curve is a straight line.
 */
#include "core/chart.h"

#include "trod/buf.h"
#include "trod/diag.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS = 9, HEIGHT = 16, DOTS_Y = 4 * HEIGHT, LEAST = 24, MOST = 240, TICK = 12 };

struct canvas {
    const struct trod_chart *chart;
    unsigned width; /* in characters, without axis and labels */
    double low, high, most;
    uint8_t *dots; /* DOTS_Y lines of 2 * width */
    const char *label[HEIGHT];
};

/* "64", "4K", "1.5M". */
static void bytes_text(char *buf, size_t n, double bytes)
{
    static const char units[] = " KMGTPE";
    unsigned unit = 0;

    for (; bytes >= 1024 && unit + 1 < sizeof units - 1; unit++)
        bytes /= 1024;
    snprintf(buf, n, "%.*f%.*s", bytes < 10 && bytes != floor(bytes) ? 1 : 0, bytes, unit ? 1 : 0,
             &units[unit]);
}

/* Where column COLUMN of dots is, in units of x. */
static double place(const struct canvas *k, unsigned column)
{
    return k->low + (k->high - k->low) * column / (2 * k->width - 1);
}

/* The line of dots of value V. */
static unsigned dot_of(const struct canvas *k, double v)
{
    return (unsigned)((1 - v / k->most) * (DOTS_Y - 1) + 0.5);
}

/* The value of Y at AT; negative where there is none. */
static double value_at(const struct trod_chart *c, const double *y, double at)
{
    size_t i = 0;
    double part;

    while (i + 2 < c->n && c->x[i + 1] <= at)
        i++;
    if (i + 1 >= c->n || at <= c->x[i])
        return y[i];
    if (y[i] < 0 || y[i + 1] < 0)
        return at >= c->x[i + 1] ? y[i + 1] : -1;
    part = (at - c->x[i]) / (c->x[i + 1] - c->x[i]);
    return y[i] + (y[i + 1] - y[i]) * (part < 1 ? part : 1);
}

/* The labels stand where their curves end, or as near as they can, in the order of the curves. */
static void put_labels(struct canvas *k)
{
    const struct trod_chart *c = k->chart;
    const struct trod_chart_curve *at[HEIGHT];
    unsigned row[HEIGHT], n = 0;

    for (size_t i = 0; i < c->curves && n < HEIGHT; i++) {
        unsigned to = n;

        if (!c->curve[i].label || c->curve[i].y[c->n - 1] < 0)
            continue;
        for (; to > 0 && at[to - 1]->y[c->n - 1] < c->curve[i].y[c->n - 1]; to--)
            at[to] = at[to - 1];
        at[to] = &c->curve[i];
        n++;
    }
    for (unsigned i = 0; i < n; i++) {
        row[i] = dot_of(k, at[i]->y[c->n - 1]) / 4;
        if (i > 0 && row[i] <= row[i - 1])
            row[i] = row[i - 1] + 1;
    }
    for (unsigned i = n; i-- > 0;) {
        const unsigned most = i + 1 < n ? row[i + 1] - 1 : HEIGHT - 1;

        row[i] = row[i] < most ? row[i] : most;
        k->label[row[i]] = at[i]->label;
    }
}

static void put_curve(struct canvas *k, const struct trod_chart_curve *curve)
{
    unsigned was = 0, y;
    bool begun = false;

    for (unsigned x = 0; x < 2 * k->width; x++) {
        const double v = value_at(k->chart, curve->y, place(k, x));

        if (v < 0) {
            begun = false;
            continue;
        }
        y = dot_of(k, v);
        for (unsigned i = begun && was < y ? was + 1 : y; i <= y; i++)
            k->dots[i * 2 * k->width + x] = 1;
        for (unsigned i = y; begun && i < was; i++)
            k->dots[i * 2 * k->width + x] = 1;
        was = y;
        begun = true;
    }
}

/* Character (X, Y) of the chart as UTF-8. */
static int put_cell(const struct canvas *k, unsigned x, unsigned y, struct trod_buf *out)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned code = 0x2800;
    char utf8[3];

    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 2; j++)
            code |= k->dots[(4 * y + i) * 2 * k->width + 2 * x + j] ? bit[i][j] : 0;
    if (code == 0x2800)
        return trod_buf_add(out, " ", 1);
    utf8[0] = (char)(0xe0 | code >> 12);
    utf8[1] = (char)(0x80 | (code >> 6 & 0x3f));
    utf8[2] = (char)(0x80 | (code & 0x3f));
    return trod_buf_add(out, utf8, 3);
}

static int put_axis(const struct canvas *k, struct trod_buf *out)
{
    char row[MOST + TICK * 2];
    int rc;

    memset(row, ' ', sizeof row);
    for (unsigned x = 0; x < k->width; x += TICK) {
        const double size = floor(exp2(place(k, 2 * x)) + 0.5) * (double)k->chart->unit;
        char text[24];

        bytes_text(text, sizeof text, size);
        memcpy(row + x, text, strlen(text));
    }
    for (size_t n = sizeof row; n-- > 0 && row[n] == ' ';)
        row[n] = '\0';
    row[sizeof row - 1] = '\0';
    rc = trod_buf_printf(out, "        +");
    for (unsigned x = 0; x < k->width; x++)
        rc |= trod_buf_add(out, x % TICK ? "-" : "+", 1);
    return rc | trod_buf_printf(out, "\n         %s\n", row);
}

static int put_rows(const struct canvas *k, struct trod_buf *out)
{
    int rc = 0;

    for (unsigned y = 0; rc == 0 && y < HEIGHT; y++) {
        rc = y % 4 ? trod_buf_printf(out, "        |")
                   : trod_buf_printf(out, "%7.4f +", k->most * (HEIGHT - y) / HEIGHT);
        for (unsigned x = 0; x < k->width && rc == 0; x++)
            rc = put_cell(k, x, y, out);
        if (k->label[y])
            rc |= trod_buf_printf(out, " %s", k->label[y]);
        while (out->n && out->p[out->n - 1] == ' ')
            out->n--;
        rc |= trod_buf_add(out, "\n", 1);
    }
    return rc;
}

/* How wide the field of dots is. */
static unsigned room(const struct trod_chart *c)
{
    size_t label = 0, used;

    for (size_t i = 0; i < c->curves; i++)
        if (c->curve[i].label && strlen(c->curve[i].label) + 1 > label)
            label = strlen(c->curve[i].label) + 1;
    used = AXIS + label;
    if (c->width == 0)
        return TROD_CHART_WIDTH - AXIS;
    return c->width < used + LEAST  ? LEAST
           : c->width > used + MOST ? MOST
                                    : (unsigned)(c->width - used);
}

int trod_chart_draw(const struct trod_chart *c, struct trod_buf *out)
{
    struct canvas k = {.chart = c, .width = room(c), .low = c->x[0], .high = c->x[c->n - 1]};
    int rc;

    if (k.high <= k.low) /* one size alone */
        k.high = k.low + 1;
    for (size_t i = 0; i < c->curves; i++)
        for (size_t j = 0; j < c->n; j++)
            k.most = c->curve[i].y[j] > k.most ? c->curve[i].y[j] : k.most;
    k.most = k.most > 0 ? k.most : 1;
    k.dots = calloc(DOTS_Y, 2 * k.width);
    if (!k.dots)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < c->curves; i++)
        put_curve(&k, &c->curve[i]);
    put_labels(&k);
    rc = put_rows(&k, out) | put_axis(&k, out);
    free(k.dots);
    return rc ? TROD_ERR_NOMEM : 0;
}
