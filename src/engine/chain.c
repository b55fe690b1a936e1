/*
 * chain.c - parts of plain files whose decoding depends on the parts before them.
 *
 * For formats with parts (format.h): one trace of the file (the chain) passes over its records
 * without making rows, from the beginning of each part to the beginning of the next. Each part
 * starts with a copy of the decoder state at its beginning. The thread that is to read a part first
 * makes an outline of the part before it (trace/cuts.h), as other threads do at the same time, and
 * then, in the order of the file, advances the chain over that. Where there is no outline the chain
 * reads the part itself.
 *
 * If several processes read pieces of one file, each process passes over the whole file, cut by
 * cut: the part before its pieces for their decoder state, the part after them so that all
 * processes find the same damage. If a cut cannot be reached, the process of the first piece reads
 * the whole file, and the other processes read none of it.
 */
#include "engine/run_int.h"

#include "trace/cuts.h"

#include <string.h>

void run_chain_init(struct run_chain *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->turn, NULL);
}

void run_chain_forget(struct trod_run *r, uint32_t links)
{
    trod_trace_close(r->chain.trace);
    r->chain.trace = NULL;
    r->chain.links = links;
}

void run_chain_end(struct trod_run *r)
{
    struct run_chain *c = &r->chain;

    run_chain_forget(r, 0);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->turn);
}

/* Open the file of PIECE as the chain's trace, at its beginning. */
static void begin(struct trod_run *r, const struct run_piece *piece)
{
    const struct trod_stretch all = {.as = &piece->as, .to = TROD_NOWHERE};
    const struct trod_input_options input = {.no_thread = true};
    struct run_chain *c = &r->chain;

    run_chain_forget(r, c->links);
    c->at = piece->number - piece->part;
    c->failed = trod_trace_open_bytes(&c->trace, r->whole, piece->file, &all, &input, NULL);
    if (c->failed == TROD_OK)
        trod_trace_want(c->trace, r->opt.trace.want);
}

/*
 * Advance the chain to the beginning of piece NUMBER of the plan, cut by cut. LAST: the outline of
 * the piece before it, or NULL.
 */
static void pass(struct trod_run *r, size_t number, const struct trod_outline *last)
{
    struct run_chain *c = &r->chain;

    while (c->failed == TROD_OK && c->at < number) {
        const struct run_piece *const to = &r->piece[++c->at];
        const int rc = c->failed = last && c->at == number
                                       ? trod_trace_pass_outline(c->trace, to->from, last)
                                       : trod_trace_pass(c->trace, to->from);

        if (rc < 0 && rc != TROD_ERR_NOMEM && rc != TROD_ERR_IO && r->sound)
            r->sound[to->file] = RUN_UNSOUND;
    }
}

/* Pass over the rest of the file, if other processes read some of it. */
static void finish(struct trod_run *r)
{
    const struct run_chain *c = &r->chain;
    const size_t file = r->piece[c->at].file;
    size_t last = c->at;

    if (!c->trace || !r->sound)
        return;
    while (last + 1 < r->n_pieces && r->piece[last + 1].file == file)
        last++;
    pass(r, last, NULL);
    if (c->failed == TROD_OK)
        r->sound[file] = RUN_SOUND;
}

/*
 * Set T (NULL: it could not be opened) to the state of the chain at the beginning of PIECE. LAST:
 * the outline of the piece before it, or NULL. 0 or an error.
 */
static int follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t,
                  const struct trod_outline *last)
{
    struct run_chain *c = &r->chain;
    int rc = TROD_OK;

    if (!c->trace || r->piece[c->at].file != piece->file) { /* the first that needs it */
        finish(r);
        begin(r, piece);
    }
    if (t)
        pass(r, piece->number, last);
    if (c->failed == TROD_OK && t)
        rc = trod_trace_fork(t, c->trace);
    if (!t || rc < 0)
        c->failed = TROD_ERR_NOMEM; /* what comes after it is not known */
    rc = c->failed;
    if (piece->last && !r->sound)
        run_chain_forget(r, c->links);
    return rc;
}

int run_chain_follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t)
{
    struct run_chain *c = &r->chain;
    struct trod_outline last = {.n = 0};
    bool outlined;
    int rc;

    /* where others read pieces too, the chain reads all, and finds the same damage everywhere */
    outlined = t && r->opt.parts < 2 &&
               trod_trace_outline(t, r->piece[piece->number - 1].from, piece->from, &last) == 0;
    pthread_mutex_lock(&c->lock);
    while (c->links + 1 != piece->link)
        pthread_cond_wait(&c->turn, &c->lock);
    rc = follow(r, piece, t, outlined ? &last : NULL);
    c->links = piece->link;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    trod_outline_fini(&last);
    return rc;
}

/* Pass over the file of PIECE, unless that is done; other processes read some of it. 0 or an error.
 */
static int passed(struct trod_run *r, const struct run_piece *piece)
{
    const struct run_chain *c = &r->chain;

    if (!piece->chained || r->sound[piece->file] != RUN_UNKNOWN)
        return TROD_OK;
    if (!c->trace || r->piece[c->at].file != piece->file)
        begin(r, piece);
    finish(r);
    return r->sound[piece->file] == RUN_UNKNOWN ? c->failed : TROD_OK;
}

int run_chain_rest(struct trod_run *r, bool cut_off)
{
    const struct run_piece *const first = &r->piece[r->first_unit];
    const struct run_piece *const last = &r->piece[r->n_units - 1];
    struct run_chain *c = &r->chain;
    int rc = TROD_OK;

    if (r->first_unit == r->n_units)
        return TROD_OK;
    pthread_mutex_lock(&c->lock);
    while (!cut_off && c->links < r->n_links)
        pthread_cond_wait(&c->turn, &c->lock);
    if (first->part)
        rc = passed(r, first);
    if (rc == TROD_OK && !last->last)
        rc = passed(r, last);
    pthread_mutex_unlock(&c->lock);
    return rc;
}
