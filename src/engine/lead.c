/*
 * lead.c - reading the rows directly before a part of a plain file, because the first rows of the
 * part may belong to instructions there.
 *
 * Implements docs/design.md, "The engine". These rows are not fed to analyses: only the last
 * instruction of each stream is learned from them. They begin at a cut of their own before the
 * part.
 */
#include "engine/run_int.h"

#include "trace/cuts.h"

/* How many times longer a part is than the rows read before it. */
enum { TIMES = 16 };

size_t run_lead_cuts(const struct trod_run *r, size_t file, size_t pieces, uint64_t *at,
                     uint64_t *before, struct trod_candidate *as)
{
    const uint64_t piece = pieces ? trod_trace_bytes(r->whole, file) / pieces : 0;
    uint64_t want[2 * RUN_PARTS], cut[2 * RUN_PARTS];
    size_t n = 0;

    for (size_t k = 1; k < pieces; k++) {
        want[2 * k - 2] = piece * k - piece / TIMES;
        want[2 * k - 1] = piece * k;
    }
    if (pieces < 2 || !trod_trace_cuts_near(r->whole, file, want, 2 * pieces - 2, cut, as) ||
        as->format->parts) /* their parts begin with an instruction */
        return 0;
    for (size_t k = 1; k < pieces; k++) {
        if (cut[2 * k - 2] == TROD_NOWHERE || cut[2 * k - 1] == TROD_NOWHERE)
            continue;
        before[n] = cut[2 * k - 2];
        at[n++] = cut[2 * k - 1];
    }
    return n;
}

/* Read the rows of T and let O learn from them. 0 or an error. */
static int go_by(struct engine_owner *o, struct trod_trace *t)
{
    struct trod_batch *b;
    int rc;

    while ((rc = trod_trace_next(t, &b)) == 1) {
        rc = engine_owner_fill(o, b, NULL);
        if (rc < 0)
            return rc;
    }
    return rc;
}

int run_lead(const struct trod_run *r, const struct run_unit *u, const struct run_piece *piece)
{
    const struct trod_stretch s = {
        .as = &piece->as, .part = piece->part, .from = piece->before, .to = piece->from};
    const struct trod_input_options input = {.no_thread = true};
    const struct trod_meta *meta = trod_trace_meta(u->trace);
    struct engine_owner *o = u->decoder.owner;
    struct trod_trace *t = NULL;
    int rc = TROD_OK;

    engine_owner_part(o, piece->part == 0, r->owned);
    if (piece->before < piece->from)
        rc = trod_trace_open_bytes(&t, r->whole, piece->file, &s, &input, NULL);
    if (rc == TROD_OK && t) {
        trod_trace_want(t, r->opt.trace.want);
        rc = go_by(o, t);
    }
    if (rc != TROD_ERR_NOMEM)
        rc = engine_owner_follow(o, t ? trod_trace_meta(t) : NULL,
                                 (struct trod_meta *)(uintptr_t)meta);
    trod_trace_close(t);
    return rc;
}
