/*
 * crowd.c - implements crowd.h.
 */
#include "trace/crowd.h"

#include <string.h>
#include <sys/resource.h>

enum {
    FEW = 8,   /* files that may use full windows and batches */
    MANY = 64, /* files from which on they are closed while others are read from */
    HOST = 512,
    SOME_ROWS = 1024,
    HOST_ROWS = 32,
    DESCRIPTORS_ELSEWHERE = 10,
    WINDOW_SOME = 1 << 18,
    WINDOW_MANY = 1 << 15,
    WINDOW_HOST = 1 << 10,
    SETTLED = 1 << 17 /* bytes shown at once, of files that threads may read ahead */
};

/* Are there more files than may be open at once? A few descriptors are left for others. */
static bool many(const struct trod_trace *t)
{
    struct rlimit limit;

    return t->n_inputs > MANY ||
           (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            t->n_inputs + DESCRIPTORS_ELSEWHERE > limit.rlim_cur);
}

struct trod_crowd trod_crowd_of(struct trod_trace *t)
{
    struct trod_crowd c = {.many = many(t), .host = t->n_inputs > HOST};

    c.rows = c.host              ? HOST_ROWS
             : c.many            ? TROD_MANY_ROWS
             : t->n_inputs > FEW ? SOME_ROWS
                                 : TROD_BATCH_ROWS;
    if (c.rows > t->opt.batch_rows)
        c.rows = t->opt.batch_rows;
    if (c.many)
        t->opt.input.no_thread = true;
    if (t->n_inputs > FEW || c.many) {
        t->opt.input.window = c.host ? WINDOW_HOST : c.many ? WINDOW_MANY : WINDOW_SOME;
        t->opt.input.lazy = c.many;
    }
    /* rows and problems come by turns of batches, which must not depend on how bytes come in */
    if (!c.many && trod_trace_rewindable(t))
        t->window = SETTLED;
    return c;
}

int trod_crowd_wake(struct trod_crowd *c, struct trod_reader *r, struct trod_batch *rows)
{
    uint32_t at = 0;

    if (!c->host || c->awake[0] == r)
        return TROD_OK;
    while (at < TROD_CROWD_AWAKE - 1 && c->awake[at] != r)
        at++;
    if (c->awake[at] != r)
        trod_reader_rest(c->awake[at]);
    memmove(c->awake + 1, c->awake, at * sizeof(struct trod_reader *));
    c->awake[0] = r;
    return trod_reader_wake(r, rows);
}

void trod_crowd_forget(struct trod_crowd *c, const struct trod_reader *r)
{
    for (uint32_t at = 0; r && at < TROD_CROWD_AWAKE; at++)
        if (c->awake[at] == r)
            c->awake[at] = NULL;
}
