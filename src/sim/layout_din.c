/*
 * layout_din.c - the text of Dinero IV.
 *
 * Implements layout.h, trod_layout_din, after Dinero IV 7 (cmdmain.c).
 */
#include "sim/layout.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 6 }; /* Total, Instrn, Data, Read, Write, Misc */

/* --- summary of options --- */

static int option(struct trod_buf *out, unsigned level, char side, const char *name, uint64_t v)
{
    return trod_buf_printf(out, "-l%u-%c%s %" PRIu64 "\n", level + 1, side, name, v);
}

static int letter(struct trod_buf *out, unsigned level, char side, const char *name, char v)
{
    return trod_buf_printf(out, "-l%u-%c%s %c\n", level + 1, side, name, v);
}

static int one_option(struct trod_buf *out, const struct trod_din_spec *s, unsigned level,
                      unsigned which, unsigned what)
{
    const char side = "uid"[which];

    switch (what) {
    case 0:
        return option(out, level, side, "size", s->size);
    case 1:
        return option(out, level, side, "bsize", s->block);
    case 2:
        return option(out, level, side, "sbsize", s->sub);
    case 3:
        return option(out, level, side, "assoc", s->ways);
    case 4:
        return letter(out, level, side, "repl", s->repl);
    case 5:
        return letter(out, level, side, "fetch", s->fetch);
    case 6:
        return s->distance ? option(out, level, side, "pfdist", s->distance) : 0;
    case 7:
        return s->abort ? option(out, level, side, "pfabort", s->abort) : 0;
    case 8:
        return which != TROD_DIN_CODE ? letter(out, level, side, "walloc", s->walloc) : 0;
    case 9:
        return which != TROD_DIN_CODE ? letter(out, level, side, "wback", s->wback) : 0;
    default:
        return s->classify ? trod_buf_printf(out, "-l%u-%cccc\n", level + 1, side) : 0;
    }
}

static int summary(const struct trod_din_config *c, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "---Summary of options (-help option gives usage information)."
                                  "\n\n");

    for (unsigned what = 0; what <= 10; what++)
        for (unsigned which = 0; which < TROD_DIN_SIDES; which++)
            for (unsigned l = 0; l < c->levels; l++)
                if (c->spec[l][which].size || what == 6 || what == 7) /* these make no cache */
                    rc |= one_option(out, &c->spec[l][which], l, which, what);
    rc |= trod_buf_printf(out,
                          "-skipcount %" PRIu64 "\n-flushcount %" PRIu64 "\n-maxcount %" PRIu64
                          "\n-stat-interval %" PRIu64 "\n-informat %c\n-on-trigger 0x0\n"
                          "-off-trigger 0x0\n",
                          c->skip, c->flush, c->most, c->interval, c->format);
    if (c->combine)
        rc |= trod_buf_printf(out, "-stat-idcombine\n");
    return rc | trod_buf_printf(out, "\n---Simulation begins.\n");
}

/* --- tables --- */

static void columns(const uint64_t by_type[TROD_DIN_TYPES], double v[COLUMNS])
{
    v[3] = (double)by_type[TROD_DIN_READ];
    v[4] = (double)by_type[TROD_DIN_WRITE];
    v[5] = (double)by_type[TROD_DIN_MISC];
    v[1] = (double)by_type[TROD_DIN_INSTR];
    v[2] = v[3] + v[4] + v[5];
    v[0] = v[1] + v[2];
}

/* Demand, prefetch, or both. */
static void add(const uint64_t n[2][TROD_DIN_TYPES], unsigned which, double v[COLUMNS])
{
    uint64_t sum[TROD_DIN_TYPES];

    for (unsigned t = 0; t < TROD_DIN_TYPES; t++)
        sum[t] = (which != 1 ? n[0][t] : 0) + (which != 0 ? n[1][t] : 0);
    columns(sum, v);
}

static int row(struct trod_buf *out, const char *label, const double v[COLUMNS], int decimals)
{
    int rc = trod_buf_printf(out, "%s", label);

    for (unsigned i = 0; i < COLUMNS; i++)
        rc |= trod_buf_printf(out, "\t%12.*f", decimals, v[i]);
    return rc | trod_buf_printf(out, "\n");
}

static int share(struct trod_buf *out, const char *label, const double v[COLUMNS],
                 const double of[COLUMNS])
{
    double r[COLUMNS];

    for (unsigned i = 0; i < COLUMNS; i++)
        r[i] = v[i] / (of[i] != 0 ? of[i] : 1);
    return row(out, label, r, 4);
}

static const char *const fetch_labels[3][2] = {
    {" Demand Fetches\t", "  Fraction of total"},
    {" Prefetch Fetches", "  Fraction\t"},
    {" Total Fetches\t", "  Fraction\t"},
};

static int fetches(const struct trod_din_counts *n, bool prefetches, struct trod_buf *out)
{
    double all[COLUMNS], v[COLUMNS], total[COLUMNS];
    int rc = 0;

    for (unsigned which = 0; which < (prefetches ? 3 : 1); which++) {
        add(n->fetches, which, v);
        add(n->fetches, 2, all);
        for (unsigned i = 0; i < COLUMNS; i++)
            total[i] = which == 1 || which == 2 || prefetches ? v[0] : all[0];
        rc |= row(out, fetch_labels[which][0], v, 0);
        rc |= share(out, fetch_labels[which][1], v, total);
    }
    return rc | trod_buf_printf(out, "\n");
}

struct labels {
    const char *misses, *rate, *count[3], *fraction[3];
};

static const struct labels miss_labels[3] = {
    {" Demand Misses\t",
     "  Demand miss rate",
     {"   Compulsory misses", "   Capacity misses", "   Conflict misses"},
     {"   Compulsory fraction", "   Capacity fraction", "   Conflict fraction"}},
    {" Prefetch Misses",
     "  PF miss rate\t",
     {"   PF compulsory misses", "   PF capacity misses", "   PF conflict misses"},
     {"   PF compulsory fract", "   PF capacity fract", "   PF conflict fract"}},
    {" Total Misses\t", "  Total miss rate", {0}, {0}},
};

static const struct labels block_labels[3] = {
    {" Demand Block Misses",
     "  DB miss rate\t",
     {"   DB compulsory misses", "   DB capacity misses", "   DB conflict misses"},
     {"   DB compulsory fract", "   DB capacity fract", "   DB conflict fract"}},
    {" Prefetch Block Misses",
     "  PFB miss rate\t",
     {"   PFB comp misses", "   PFB cap misses", "   PFB conf misses"},
     {"   PFB comp fract", "   PFB cap fract", "   PFB conf fract"}},
    {" Total Block Misses", "  Tot blk miss rate", {0}, {0}},
};

/* Misses (of blocks, where BLOCKS): of demand, then of prefetches, then of both. */
static int misses(const struct trod_din_counts *n, const struct trod_din_spec *s, bool blocks,
                  struct trod_buf *out)
{
    const uint64_t(*count)[TROD_DIN_TYPES] = blocks ? n->blocks : n->misses;
    const uint64_t(*classes)[2][TROD_DIN_TYPES] = blocks ? n->block_class : n->miss_class;
    int rc = 0;

    for (unsigned which = 0; which < (s->fetch != 'd' ? 3 : 1); which++) {
        const struct labels *l = blocks ? &block_labels[which] : &miss_labels[which];
        double v[COLUMNS], of[COLUMNS], c[3][COLUMNS];

        add(count, which, v);
        add(n->fetches, which, of);
        rc |= row(out, l->misses, v, 0);
        rc |= share(out, l->rate, v, of);
        if (!s->classify || which == 2)
            continue;
        for (unsigned k = 0; k < 3; k++) {
            add(classes[k], which, c[k]);
            rc |= row(out, l->count[k], c[k], 0);
        }
        for (unsigned k = 0; k < 3; k++) {
            double kept = v[5];

            if (blocks && which == 0 && k == 0) /* printed so by the tool: the count itself */
                v[5] = 1;
            rc |= share(out, l->fraction[k], c[k], v);
            v[5] = kept;
        }
    }
    return rc | trod_buf_printf(out, "\n");
}

static int traffic(const struct trod_din_counts *n, struct trod_buf *out)
{
    double demand[COLUMNS], of, writes;
    int rc;

    add(n->fetches, 0, demand);
    of = demand[0] != 0 ? demand[0] : 1;
    writes = demand[4] != 0 ? demand[4] : 1;
    rc = trod_buf_printf(out, " Multi-block refs      %12.0f\n", (double)n->multi);
    rc |= trod_buf_printf(out, " Bytes From Memory\t%12.0f\n", (double)n->from_memory);
    rc |= trod_buf_printf(out, " ( / Demand Fetches)\t%12.4f\n", (double)n->from_memory / of);
    rc |= trod_buf_printf(out, " Bytes To Memory\t%12.0f\n", (double)n->to_memory);
    rc |= trod_buf_printf(out, " ( / Demand Writes)\t%12.4f\n", (double)n->to_memory / writes);
    rc |= trod_buf_printf(out, " Total Bytes r/w Mem\t%12.0f\n",
                          (double)(n->from_memory + n->to_memory));
    return rc | trod_buf_printf(out, " ( / Demand Fetches)\t%12.4f\n\n",
                                (double)(n->from_memory + n->to_memory) / of);
}

static int table(const struct trod_din_counts *n, const struct trod_din_spec *s, const char *name,
                 struct trod_buf *out)
{
    int rc = trod_buf_printf(out,
                             "%s\n Metrics\t\t      Total\t      Instrn\t       Data\t       Read"
                             "\t      Write\t       Misc\n -----------------\t      ------\t      "
                             "------\t      ------\t      ------\t      ------\t      ------\n",
                             name);

    rc |= fetches(n, s->fetch != 'd', out);
    rc |= misses(n, s, false, out);
    if (s->sub != s->block)
        rc |= misses(n, s, true, out);
    return rc | traffic(n, out);
}

/* A + B; all members are counters. */
static void sum(struct trod_din_counts *into, const struct trod_din_counts *a)
{
    for (size_t at = 0; at < sizeof *into; at += sizeof(uint64_t)) {
        uint64_t x, y;

        memcpy(&x, (char *)into + at, sizeof x);
        memcpy(&y, (const char *)a + at, sizeof y);
        x += y;
        memcpy((char *)into + at, &x, sizeof x);
    }
}

static int level(const struct trod_din_sim *s, unsigned l, struct trod_buf *out)
{
    const struct trod_din_spec *spec = s->config.spec[l];
    char name[32] = "l1-I/Dcaches";
    int rc = 0;

    name[1] = (char)('1' + l);
    if (s->config.combine && spec[TROD_DIN_CODE].size) {
        struct trod_din_counts both = s->cache[l][TROD_DIN_CODE].n;
        struct trod_din_spec widest = spec[TROD_DIN_DATA];

        sum(&both, &s->cache[l][TROD_DIN_DATA].n);
        if (spec[TROD_DIN_CODE].fetch != 'd')
            widest.fetch = spec[TROD_DIN_CODE].fetch;
        widest.classify = widest.classify || spec[TROD_DIN_CODE].classify;
        return table(&both, &widest, name, out);
    }
    memcpy(name + 3, "ucache", 7);
    for (unsigned k = 0; k < TROD_DIN_SIDES; k++) {
        name[3] = "uid"[k];
        if (spec[k].size)
            rc |= table(&s->cache[l][k].n, &spec[k], name, out);
    }
    return rc;
}

int trod_layout_din_stats(const struct trod_din_sim *s, struct trod_buf *out)
{
    int rc = 0;

    for (unsigned l = 0; l < s->config.levels; l++)
        rc |= level(s, l, out);
    return rc ? TROD_ERR_NOMEM : 0;
}

int trod_layout_din(const struct trod_din_sim *s, struct trod_buf *out)
{
    int rc = summary(&s->config, out);

    rc |= trod_buf_add(out, s->printed.p, s->printed.n);
    if (s->exceeded)
        rc |= trod_buf_printf(out, "---Maximum address count exceeded.\n");
    rc |= trod_buf_printf(out, "---Simulation complete.\n");
    rc |= trod_layout_din_stats(s, out);
    rc |= trod_buf_printf(out, "---Execution complete.\n");
    return rc ? TROD_ERR_NOMEM : 0;
}
