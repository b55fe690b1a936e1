/*
 * chain.c - parts of plain files that need to know what came before them.
 *
 * For formats with parts (format.h): one trace of the file passes over its records without making
 * rows, from the beginning of one part to that of the next, and each part goes on from there. Who
 * is to read a part does the passing up to it, while others read parts before; parts take turns in
 * the order of the file.
 */
#include "engine/run_int.h"

#include <string.h>

void run_chain_init(struct run_chain *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->turn, NULL);
}

void run_chain_forget(struct run_chain *c)
{
    trod_trace_close(c->trace);
    c->trace = NULL;
    c->links = 0;
}

void run_chain_end(struct run_chain *c)
{
    run_chain_forget(c);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->turn);
}

/* The trace that passes over the file of PIECE. */
static int begin(struct trod_run *r, const struct run_piece *piece)
{
    const struct trod_stretch all = {.as = &piece->as, .to = TROD_NOWHERE};
    const struct trod_input_options input = {.no_thread = true};
    struct run_chain *c = &r->chain;
    int rc = trod_trace_open_bytes(&c->trace, r->whole, piece->file, &all, &input, NULL);

    if (rc == TROD_OK)
        trod_trace_want(c->trace, r->opt.trace.want);
    return rc;
}

/* T (NULL: it could not be opened) goes on where PIECE begins. 0 or an error. */
static int follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t)
{
    struct run_chain *c = &r->chain;
    int rc = TROD_OK;

    if (piece->part == 1) /* the first that needs it */
        c->failed = begin(r, piece);
    if (c->failed == TROD_OK && t)
        c->failed = trod_trace_pass(c->trace, piece->from);
    if (c->failed == TROD_OK && t)
        rc = trod_trace_fork(t, c->trace);
    if (!t || rc < 0)
        c->failed = TROD_ERR_NOMEM; /* nobody knows what would be behind */
    if (c->failed < 0 || piece->last) {
        trod_trace_close(c->trace);
        c->trace = NULL;
    }
    return c->failed;
}

int run_chain_follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t)
{
    struct run_chain *c = &r->chain;
    int rc;

    pthread_mutex_lock(&c->lock);
    while (c->links + 1 != piece->link)
        pthread_cond_wait(&c->turn, &c->lock);
    rc = follow(r, piece, t);
    c->links = piece->link;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    return rc;
}
