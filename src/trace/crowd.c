/*
 * crowd.c - implements crowd.h.
 */
#include "trace/crowd.h"

#include <sys/resource.h>

enum {
    FEW = 8,   /* files that may use full windows and batches */
    MANY = 64, /* files from which on they are closed while others are read from */
    HOST = 512,
    SOME_ROWS = 1024,
    HOST_ROWS = 16,
    DESCRIPTORS_ELSEWHERE = 10,
    WINDOW_SOME = 1 << 18,
    WINDOW_MANY = 1 << 15,
    WINDOW_HOST = 1 << 10
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
    return c;
}
