/*
 * picture.c - how alike the intervals are, as pictures (phases.h).
 *
 * Implements docs/analysing.md, "phases", "The picture". PGM is that of Netpbm (pgm(5), binary);
 * PNG is in png.c; the web page has its picture inside (SVG 1.1) and needs nothing else.
 */
#include "analysis/phases/phases.h"

#include "core/suffix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHADES_SIZE = 512, PAGE_SIZE = 64, PAGE_CELL = 8 };

double *phases_distances(const struct phases_state *s, size_t size)
{
    const size_t dims = s->dims;
    double *mean = calloc(size * dims + 1, sizeof *mean),
           *out = calloc(size * size + 1, sizeof *out);
    double most = 0;

    for (size_t g = 0; mean && out && g < size; g++) {
        double n = 0;

        for (size_t i = g * s->n / size; i < (g + 1) * s->n / size; i++) {
            n += (double)s->interval[i].instructions;
            for (size_t d = 0; d < dims; d++)
                mean[g * dims + d] += s->vector[i * dims + d];
        }
        for (size_t d = 0; d < dims; d++)
            mean[g * dims + d] /= n > 0 ? n : 1;
    }
    for (size_t a = 0; mean && out && a < size; a++)
        for (size_t b = 0; b < size; b++) {
            double sum = 0;

            for (size_t d = 0; d < dims; d++)
                sum += fabs(mean[a * dims + d] - mean[b * dims + d]);
            out[a * size + b] = sum;
            most = sum > most ? sum : most;
        }
    for (size_t i = 0; out && i < size * size; i++)
        out[i] /= most > 0 ? most : 1;
    if (!mean) {
        free(out);
        out = NULL;
    }
    free(mean);
    return out;
}

static unsigned grey(double distance)
{
    return (unsigned)(distance * 255 + 0.5);
}

/* PNG has no pictures without pixels: with no intervals it has a black one. */
static int shades(const double *distance, size_t size, bool png, struct trod_buf *out,
                  struct trod_diag *diag)
{
    const size_t side = png && size == 0 ? 1 : size;
    struct trod_buf grey_of = {0};
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < side * side; i++) {
        const uint8_t v = (uint8_t)grey(distance[i]);

        rc = trod_buf_add(&grey_of, &v, 1);
    }
    if (rc == TROD_OK && png)
        rc = phases_png(grey_of.p, side, out, diag);
    else if (rc == TROD_OK)
        rc = trod_buf_printf(out, "P5\n%zu %zu\n255\n", size, size);
    if (rc == TROD_OK && !png)
        rc = trod_buf_add(out, grey_of.p, grey_of.n);
    trod_buf_fini(&grey_of);
    return rc;
}

/* A hue of its own for each phase. */
static unsigned hue(unsigned phase)
{
    return phase * 137 % 360;
}

static int page_table(const struct phases_state *s, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "<table><tr><th>phase<th>intervals<th>weight<th>simulate\n");

    for (unsigned k = 0; rc == TROD_OK && k < s->clusters.n; k++) {
        uint64_t all = 0;

        for (unsigned i = 0; i < s->clusters.n; i++)
            all += s->clusters.weight[i];
        rc = trod_buf_printf(
            out, "<tr><td style=\"background:hsl(%u,70%%,70%%)\">%u<td>%llu<td>%.2f %%<td>%zu\n",
            hue(k), k, (unsigned long long)s->clusters.members[k],
            all ? 100 * (double)s->clusters.weight[k] / (double)all : 0, s->clusters.chosen[k]);
    }
    return rc == TROD_OK ? trod_buf_printf(out, "</table>\n</body></html>\n") : rc;
}

static int page(const struct phases_state *s, const double *distance, size_t size,
                struct trod_buf *out)
{
    const size_t side = size * PAGE_CELL;
    int rc = trod_buf_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>phases</title>\n"
        "<style>body{font-family:sans-serif}td,th{padding:0 1em;text-align:right}</style>\n"
        "</head><body>\n<h1>Phases</h1>\n<p>%zu intervals, from left to right and from top to "
        "bottom. Dark: the intervals are alike. The strip below: their phases.</p>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\">\n",
        s->n, side, side + 2 * PAGE_CELL);

    for (size_t i = 0; rc == TROD_OK && i < size * size; i++)
        rc = trod_buf_printf(out,
                             "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" "
                             "fill=\"#%02x%02x%02x\"/>\n",
                             i % size * PAGE_CELL, i / size * PAGE_CELL, PAGE_CELL, PAGE_CELL,
                             grey(distance[i]), grey(distance[i]), grey(distance[i]));
    for (size_t g = 0; rc == TROD_OK && g < size; g++)
        rc = trod_buf_printf(out,
                             "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" "
                             "fill=\"hsl(%u,70%%,70%%)\"/>\n",
                             g * PAGE_CELL, side + PAGE_CELL / 2, PAGE_CELL, PAGE_CELL,
                             hue(s->interval[g * s->n / size].phase));
    if (rc == TROD_OK)
        rc = trod_buf_printf(out, "</svg>\n");
    return rc == TROD_OK ? page_table(s, out) : rc;
}

int phases_picture(const struct phases_state *s)
{
    const char *path = s->opt->picture;
    const bool html = trod_ends_with(path, strlen(path), ".html");
    const size_t most = html ? PAGE_SIZE : SHADES_SIZE, size = s->n < most ? s->n : most;
    double *distance = phases_distances(s, size);
    struct trod_output *out = NULL;
    struct trod_buf text = {0};
    int rc = distance ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = html ? page(s, distance, size, &text)
                  : shades(distance, size, trod_ends_with(path, strlen(path), ".png"), &text,
                           s->context.diag);
    if (rc == TROD_OK)
        rc = trod_output_create(&out, path, NULL, s->context.diag);
    if (rc == TROD_OK) {
        rc = trod_output_write(out, text.p, text.n);
        if (rc == TROD_OK)
            rc = trod_output_commit(out);
        else
            trod_output_discard(out);
    }
    trod_buf_fini(&text);
    free(distance);
    return rc;
}
