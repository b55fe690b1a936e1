/*
 * background.c - the index of a trace, made while it is browsed. Implements background.h.
 */
#include "browse/background.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH = 8192 };

struct background {
    const char *path, *dir;
    struct trod_trace_options trace;
    unsigned jobs;
    pthread_t thread;
    _Atomic int state; /* enum background_state */
    _Atomic unsigned percent;
    char why[256], where[PATH];
};

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct background *g = user;

    if (p->total && p->total != TROD_NOWHERE)
        atomic_store(&g->percent, (unsigned)((double)p->bytes * 100 / (double)p->total));
}

static void problem(void *user, const struct trod_problem *p)
{
    struct background *g = user;

    if (p->severity == TROD_SEV_ERROR)
        snprintf(g->why, sizeof g->why, "%s", p->message);
}

static void *make(void *user)
{
    struct background *g = user;
    const struct trod_index_options opt = {.struct_size = sizeof opt,
                                           .trace = &g->trace,
                                           .index_dir = g->dir,
                                           .jobs = g->jobs,
                                           .progress = progress,
                                           .user = g};
    struct trod_diag diag;
    bool made;
    int rc;

    trod_diag_init(&diag, problem, g);
    rc = trod_index_make(g->path, &opt, &made, g->where, sizeof g->where, &diag);
    atomic_store(&g->state, rc < 0 ? BACKGROUND_FAILED : BACKGROUND_MADE);
    return NULL;
}

struct background *background_begin(const char *path, const struct trod_trace_options *trace,
                                    const char *dir, unsigned jobs)
{
    struct background *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->path = path;
    g->dir = dir;
    g->trace = *trace;
    g->jobs = jobs;
    if (pthread_create(&g->thread, NULL, make, g) != 0) {
        free(g);
        return NULL;
    }
    return g;
}

enum background_state background_look(struct background *g, unsigned *percent, const char **why)
{
    const int state = atomic_load(&g->state);

    *percent = atomic_load(&g->percent);
    *why = state == BACKGROUND_FAILED ? g->why : "";
    return (enum background_state)state;
}

void background_end(struct background *g)
{
    if (!g)
        return;
    if (atomic_load(&g->state) == BACKGROUND_RUNS) {
        trod_output_abandon();
        pthread_detach(g->thread);
        return;
    }
    pthread_join(g->thread, NULL);
    free(g);
}
