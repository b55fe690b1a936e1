/*
 * lead.c - the rows directly before a part of a plain file: whose first rows belong to instructions
 * there.
 *
 * Implements docs/design.md, "The engine". What is read here is not fed to anybody: only which
 * instruction each stream executed last is learned from it. Cuts are made closer than parts are
 * long, and a part is led in from the cut before its own.
 */
#include "engine/run_int.h"

/* Parts are as many times longer than what is read before them. */
enum { TIMES = 16 };

size_t run_lead_cuts(const struct trod_run *r, size_t file, uint64_t bytes, uint64_t *at,
                     uint64_t *before, size_t most, struct trod_candidate *as)
{
    uint64_t fine[TIMES * RUN_PARTS];
    const size_t room = TIMES * (most + 1) - 1;
    size_t n = trod_trace_cuts(r->whole, file, bytes / TIMES + 1, false, fine, room, as);

    if (n && as->format->parts) /* which are not led in */
        return 0;
    n = (n + 1) / TIMES;
    for (size_t k = 1; k < n; k++) {
        at[k - 1] = fine[k * TIMES - 1];
        before[k - 1] = fine[k * TIMES - 2];
    }
    return n ? n - 1 : 0;
}

/* The rows of T go by. 0 or an error. */
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
    const struct trod_stretch s = {&piece->as, piece->part, piece->before, piece->from};
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
