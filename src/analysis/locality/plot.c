/*
 * plot.c - the miss-ratio curve as a chart of characters (locality.h).
 *
 * Braille patterns (Unicode, U+2800): two by four dots a character. The horizontal axis is the size
 * of the cache on a logarithmic scale, the vertical one the miss ratio from 0.
 */
#include "analysis/locality/locality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 16, DOTS_X = 2 * WIDTH, DOTS_Y = 4 * HEIGHT };

/* Miss ratios at N sizes (in lines). */
static bool ratios(const struct loc_lane *l, const uint64_t *size, size_t n, double *out)
{
    const double refs = (double)loc_lane_refs(l, LOC_ALL);
    uint64_t misses[DOTS_X];

    if (l->shards) {
        if (!trod_shards_misses(l->shards, LOC_ALL, size, n, out, NULL))
            return false;
    } else {
        trod_dist_misses(&l->stack->dist, LOC_ALL, size, n, misses);
        for (size_t i = 0; i < n; i++)
            out[i] = (double)misses[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] = refs > 0 ? out[i] / refs : 0;
    return true;
}

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

/* Character (X, Y) of the chart as UTF-8. */
static int put_cell(const uint8_t dots[DOTS_Y][DOTS_X], unsigned x, unsigned y,
                    struct trod_buf *out)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned code = 0x2800;
    char utf8[3];

    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 2; j++)
            code |= dots[4 * y + i][2 * x + j] ? bit[i][j] : 0;
    if (code == 0x2800)
        return trod_buf_add(out, " ", 1);
    utf8[0] = (char)(0xe0 | code >> 12);
    utf8[1] = (char)(0x80 | (code >> 6 & 0x3f));
    utf8[2] = (char)(0x80 | (code & 0x3f));
    return trod_buf_add(out, utf8, 3);
}

static int put_axis(const uint64_t *size, unsigned shift, struct trod_buf *out)
{
    char row[WIDTH + 24];
    int rc;

    memset(row, ' ', sizeof row);
    for (unsigned x = 0; x < WIDTH; x += 12) {
        char text[24];

        bytes_text(text, sizeof text, ldexp((double)size[2 * x], (int)shift));
        memcpy(row + x, text, strlen(text));
    }
    for (size_t n = sizeof row; n-- > 0 && row[n] == ' ';)
        row[n] = '\0';
    row[sizeof row - 1] = '\0';
    rc = trod_buf_printf(out, "        +");
    for (unsigned x = 0; x < WIDTH; x++)
        rc |= trod_buf_add(out, x % 12 ? "-" : "+", 1);
    return rc | trod_buf_printf(out, "\n         %s\n", row);
}

int loc_plot(const struct loc_state *s, struct trod_buf *out)
{
    uint8_t(*dots)[DOTS_X] = calloc(DOTS_Y, sizeof *dots);
    const double lines = s->own.shards  ? trod_shards_lines(s->own.shards)
                         : s->own.stack ? (double)trod_stack_lines(s->own.stack)
                                        : 1;
    const double low = s->own.shards ? log2(1 / trod_shards_rate(s->own.shards)) : 0;
    const double top = fmax(log2(lines > 2 ? 2 * lines : 4), low + 2);
    uint64_t size[DOTS_X];
    double ratio[DOTS_X], most = 0;
    unsigned was = 0;
    int rc = dots ? TROD_OK : TROD_ERR_NOMEM;

    for (unsigned x = 0; x < DOTS_X; x++)
        size[x] = (uint64_t)(exp2(low + (top - low) * x / (DOTS_X - 1)) + 0.5);
    if (rc == TROD_OK && !ratios(&s->own, size, DOTS_X, ratio))
        rc = TROD_ERR_NOMEM;
    for (unsigned x = 0; rc == TROD_OK && x < DOTS_X; x++)
        most = ratio[x] > most ? ratio[x] : most;
    most = most > 0 ? most : 1;
    for (unsigned x = 0; rc == TROD_OK && x < DOTS_X; x++) {
        const unsigned y = (unsigned)((1 - ratio[x] / most) * (DOTS_Y - 1) + 0.5);

        for (unsigned k = x && was < y ? was + 1 : y; k <= y; k++)
            dots[k][x] = 1;
        was = y;
    }
    if (rc == TROD_OK)
        rc = trod_buf_printf(out, "miss ratio of a fully associative LRU cache, by its size%s\n\n",
                             s->own.shards ? " (from a sample of the lines)" : "");
    for (unsigned y = 0; rc == TROD_OK && y < HEIGHT; y++) {
        rc = y % 4 ? trod_buf_printf(out, "        |")
                   : trod_buf_printf(out, "%7.4f +", most * (HEIGHT - y) / HEIGHT);
        for (unsigned x = 0; x < WIDTH && rc == TROD_OK; x++)
            rc = put_cell((const uint8_t(*)[DOTS_X])dots, x, y, out);
        while (out->n && out->p[out->n - 1] == ' ')
            out->n--;
        rc |= trod_buf_add(out, "\n", 1);
    }
    if (rc == TROD_OK)
        rc = put_axis(size, s->shift, out);
    free(dots);
    return rc == TROD_OK ? 1 : TROD_ERR_NOMEM;
}
