/*
 * layout_cg.c - the text of Cachegrind and Callgrind.
 *
 * Implements layout.h, trod_layout_cg, after Valgrind 3.19 (cachegrind/cg_main.c, callgrind/).
 * Columns are as wide as Valgrind makes them: Cachegrind pads the numbers of each column to the
 * widest one.
 */
#include "sim/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct widths {
    int all, reads, writes;
};

/* V with commas. */
static int commas(uint64_t v, char out[32])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, v);
    int to = 0;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = 0;
    return to;
}

static int one(struct trod_buf *out, const char *label, uint64_t v, int width)
{
    char text[32];

    commas(v, text);
    return trod_buf_printf(out, "%-15s%*s\n", label, width, text);
}

/* Reads and writes apart. */
static int split(const struct trod_cg_sim *s, struct trod_buf *out, const char *label, uint64_t rd,
                 uint64_t wr, const struct widths *w)
{
    char all[32], reads[32], writes[32];

    commas(rd + wr, all);
    commas(rd, reads);
    commas(wr, writes);
    return trod_buf_printf(out, "%-15s%*s  (%*s rd %s %*s wr)\n", label, w->all, all, w->reads,
                           reads, s->callgrind ? "+" : "  +", w->writes, writes);
}

static double percent(uint64_t v, uint64_t of)
{
    return of ? (double)v * 100 / (double)of : 0;
}

static int rate(struct trod_buf *out, const char *label, double v, int width)
{
    return trod_buf_printf(out, "%-15s%*.2f%%\n", label, width, v);
}

/* Rates of all, reads and writes. */
static int rates(const struct trod_cg_sim *s, struct trod_buf *out, const char *label,
                 const double v[3], const struct widths *w)
{
    return trod_buf_printf(out, "%-15s%*.1f%% (%*.1f%%%s+ %*.1f%%  )\n", label, w->all, v[0],
                           w->reads, v[1], s->callgrind ? "   " : "     ", w->writes, v[2]);
}

static int events(const struct trod_cg_sim *s, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw%s\n",
                             s->write_back ? " ILdmr DLdmr DLdmw" : "");

    rc |= trod_buf_printf(out, "Collected :");
    for (unsigned i = 0; i < TROD_CG_EVENTS; i++)
        rc |= trod_buf_printf(out, " %" PRIu64, s->refs[i]);
    for (unsigned i = 0; i < TROD_CG_EVENTS; i++)
        rc |= trod_buf_printf(out, " %" PRIu64, s->first_misses[i]);
    for (unsigned i = 0; i < TROD_CG_EVENTS; i++)
        rc |= trod_buf_printf(out, " %" PRIu64, s->last_misses[i]);
    for (unsigned i = 0; s->write_back && i < TROD_CG_EVENTS; i++)
        rc |= trod_buf_printf(out, " %" PRIu64, s->dirty_misses[i]);
    return rc | trod_buf_printf(out, "\n");
}

int trod_layout_cg(const struct trod_cg_sim *s, struct trod_buf *out)
{
    const uint64_t *n = s->refs, *f = s->first_misses, *l = s->last_misses;
    const uint64_t data = n[1] + n[2], first = f[1] + f[2], last = l[1] + l[2];
    const double d1[3] = {percent(first, data), percent(f[1], n[1]), percent(f[2], n[2])};
    const double ld[3] = {percent(last, data), percent(l[1], n[1]), percent(l[2], n[2])};
    const double ll[3] = {percent(l[0] + last, n[0] + data), percent(l[0] + l[1], n[0] + n[1]),
                          percent(l[2], n[2])};
    char text[32];
    struct widths w;
    int rc = s->callgrind ? events(s, out) : 0;

    w.all = commas(n[0], text);
    w.reads = commas(n[1], text);
    w.writes = commas(n[2], text);
    rc |= one(out, "I   refs:", n[0], w.all);
    rc |= one(out, "I1  misses:", f[0], w.all);
    rc |= one(out, "LLi misses:", l[0], w.all);
    rc |= rate(out, "I1  miss rate:", percent(f[0], n[0]), w.all);
    rc |= rate(out, "LLi miss rate:", percent(l[0], n[0]), w.all);
    rc |= split(s, out, "D   refs:", n[1], n[2], &w);
    rc |= split(s, out, "D1  misses:", f[1], f[2], &w);
    rc |= split(s, out, "LLd misses:", l[1], l[2], &w);
    rc |= rates(s, out, "D1  miss rate:", d1, &w);
    rc |= rates(s, out, "LLd miss rate:", ld, &w);
    rc |= split(s, out, "LL refs:", f[0] + f[1], f[2], &w);
    rc |= split(s, out, "LL misses:", l[0] + l[1], l[2], &w);
    rc |= rates(s, out, "LL miss rate:", ll, &w);
    return rc ? TROD_ERR_NOMEM : 0;
}
