/*
 * count_owners.c - what the instructions of each module, function or line of source are and access
 * (count_int.h).
 *
 * Implements docs/analysing.md, "Results by thread, core, module, function or line". Rows are
 * counted by site; sites are turned into owners at the end. The sums over all owners are the
 * numbers of the whole.
 */
#include "analysis/by_site.h"
#include "analysis/count_int.h"
#include "trod/owners.h"

/* As the numbers of count_report.c of the same names. */
enum { INSTRS, KERNEL, NOFETCH, LOADS, STORES, ATOMICS, BYTES_READ, BYTES_WRITTEN, BYTES_ATOMIC };

static void count_row(uint64_t *n, unsigned kind, uint32_t flags, uint32_t size)
{
    if (kind == TROD_INSTR) {
        if (flags & TROD_F_SYNTHETIC)
            return;
        n[flags & TROD_F_NOFETCH ? NOFETCH : INSTRS]++;
        n[KERNEL] += (flags & (TROD_F_NOFETCH | TROD_F_KERNEL)) == TROD_F_KERNEL;
    } else if (kind >= TROD_READ && kind <= TROD_ATOMIC) {
        n[LOADS + kind - TROD_READ]++;
        n[BYTES_READ + kind - TROD_READ] += size;
    }
}

int trod_count_owned_rows(struct count_state *s, const struct trod_batch *b, uint32_t from,
                          uint32_t to)
{
    const size_t n = s->sites ? trod_sites_count(s->sites) : 0;

    if (trod_by_site_room(&s->owned, &s->n_owned, n + 1, sizeof *s->owned) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t said = b->have & b->has[i];
        const uint32_t site = b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;

        count_row(s->owned[site == TROD_NO_SITE ? 0 : site + 1].n, b->kind[i],
                  said & TROD_COL_FLAGS ? b->flags[i] : 0, said & TROD_COL_SIZE ? b->size[i] : 0);
    }
    return TROD_OK;
}

int trod_count_owned_merge(struct count_state *s, const struct count_state *from)
{
    if (from->n_owned &&
        trod_by_site_room(&s->owned, &s->n_owned, from->n_owned, sizeof *s->owned) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < from->n_owned; i++)
        for (unsigned k = 0; k < COUNT_OWNED; k++)
            s->owned[i].n[k] += from->owned[i].n[k];
    return TROD_OK;
}

int trod_count_owned_save(const struct count_state *s, struct trod_buf *out)
{
    return trod_by_site_save(out, s->owned, s->n_owned, COUNT_OWNED);
}

int trod_count_owned_load(struct count_state *s, struct trod_span *in, const uint32_t *sites)
{
    return trod_by_site_load(in, &s->owned, &s->n_owned, COUNT_OWNED, sites);
}

/* ---- the result */

static bool any(const struct count_owned *w)
{
    uint64_t all = 0;

    for (unsigned k = 0; k < COUNT_OWNED; k++)
        all |= w->n[k];
    return all != 0;
}

static int gather(const struct count_state *s, struct trod_owners *o)
{
    for (size_t i = 0; i < s->n_owned; i++) {
        uint64_t *to;

        if (!any(&s->owned[i]))
            continue;
        to = trod_owners_site(o, i ? (uint32_t)i - 1 : TROD_NO_SITE);
        if (!to)
            return TROD_ERR_NOMEM;
        for (unsigned k = 0; k < COUNT_OWNED; k++)
            to[k] += s->owned[i].n[k];
    }
    return trod_owners_sort(o, INSTRS);
}

static void put(const struct count_state *s, const struct trod_owners *o, uint64_t total,
                struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"kernel", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"non_fetched", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"loads", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"stores", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"atomics", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"bytes_read", TROD_COLUMN_MEASURE, "bytes", NULL},
        {"bytes_written", TROD_COLUMN_MEASURE, "bytes", NULL},
        {"bytes_atomic", TROD_COLUMN_MEASURE, "bytes", NULL},
    };
    const size_t n = trod_owners_count(o, s->opt.top, r);

    trod_result_table(r, "owners", "instructions and accesses by what they belong to", columns, 11);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *count = trod_owners_at(o, i)->count;

        trod_owners_put(o, trod_owners_at(o, i), r);
        trod_result_u64(r, NULL, count[INSTRS]);
        trod_result_f64(r, NULL, total ? 100 * (double)count[INSTRS] / (double)total : 0, 2);
        for (unsigned k = KERNEL; k < COUNT_OWNED; k++)
            trod_result_u64(r, NULL, count[k]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

int trod_count_put_owners(const struct count_state *s, struct trod_result *r)
{
    struct trod_owners *o;
    uint64_t total = 0;
    int rc = trod_owners_new(&o, s->by, s->symbols, s->sites, COUNT_OWNED);

    if (rc == TROD_OK)
        rc = gather(s, o);
    for (size_t i = 0; rc == TROD_OK && i < trod_owners_n(o); i++)
        total += trod_owners_at(o, i)->count[INSTRS];
    if (rc == TROD_OK)
        put(s, o, total, r);
    trod_owners_free(o);
    return rc;
}
