/*
 * misses.c - which instructions and calls miss in the caches of Callgrind. Implements misses.h.
 *
 * The simulator is that of `trod cache --like callgrind`; the misses of a row are the differences
 * of its counts. It holds a read back until it knows that no write of the same bytes follows.
 */
#include "export/misses.h"

#include <stdio.h>
#include <string.h>

/* Append " --NAME=SIZE,WAYS,LINE" to TEXT. False: too long. */
static bool add(char *text, size_t room, const char *name, const char *geometry)
{
    const size_t n = strlen(text);
    const int more = geometry ? snprintf(text + n, room - n, " --%s=%s", name, geometry) : 0;

    if (more < 0 || (size_t)more >= room - n)
        return false;
    for (char *p = text + n; *p; p++)
        if (*p == '/')
            *p = ',';
    return true;
}

int export_misses_init(struct export_misses *m, const struct export_misses_options *o,
                       struct trod_diag *diag)
{
    char text[256] = "";

    if (!add(text, sizeof text, "I1", o->i1) || !add(text, sizeof text, "D1", o->d1) ||
        !add(text, sizeof text, "LL", o->ll))
        return trod_error(diag, TROD_ERR_USAGE, "export.cache", NULL,
                          "the shape of a cache is SIZE/WAYS/LINE");
    return trod_cg_sim_init(&m->sim, true, text, diag);
}

/* What event E missed since it was reported last. */
static unsigned report(struct export_misses *m, unsigned e, struct export_debtor who,
                       struct export_missed *out)
{
    const uint64_t first = m->sim.first_misses[e] - m->first[e];
    const uint64_t last = m->sim.last_misses[e] - m->last[e];

    if (first == 0)
        return 0;
    m->first[e] += first;
    m->last[e] += last;
    *out = (struct export_missed){.who = who, .first = first, .last = last, .event = e};
    return 1;
}

unsigned export_misses_row(struct export_misses *m, const struct trod_batch *b, uint32_t i,
                           struct export_debtor who, struct export_missed *out)
{
    struct trod_sim_ref ref[2];
    const size_t refs = b ? trod_refs_get(&m->refs, b, i, i + 1, ref) : 0;
    unsigned n = 0;

    if (b && refs == 0)
        return 0;
    for (size_t k = 0; k < refs; k++) {
        trod_cg_sim_feed(&m->sim, &ref[k], 1);
        /* only now is the read before this one done */
        if (ref[k].op == TROD_OP_READ) {
            n += report(m, TROD_CG_DR, m->reader, out + n);
            m->reader = who;
        }
    }
    if (!b)
        trod_cg_sim_end(&m->sim);
    n += report(m, TROD_CG_DR, m->reader, out + n);
    if (n < TROD_CG_EVENTS)
        n += report(m, TROD_CG_IR, who, out + n);
    if (n < TROD_CG_EVENTS)
        n += report(m, TROD_CG_DW, who, out + n);
    return n;
}

void export_misses_fini(struct export_misses *m)
{
    trod_cg_sim_fini(&m->sim);
}
