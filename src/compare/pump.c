/*
 * pump.c - see pump.h.
 */
#include "compare/pump.h"

/* A problem of side 1, told by its thread: those of side 0 come first, as without threads. */
static void gate(void *user, const struct trod_problem *problem)
{
    struct cmp_pump *p = user;

    pthread_mutex_lock(&p->lock);
    while (!p->open)
        pthread_cond_wait(&p->turn, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->sink(p->sink_user, problem);
}

static void *work(void *arg)
{
    struct cmp_pump *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct trod_batch *batch = NULL;
        int rc;

        while (p->state != CMP_PUMP_ASKED && p->state != CMP_PUMP_END)
            pthread_cond_wait(&p->turn, &p->lock);
        if (p->state == CMP_PUMP_END)
            break;
        pthread_mutex_unlock(&p->lock);
        rc = trod_trace_next(p->trace, &batch);
        pthread_mutex_lock(&p->lock);
        p->batch = batch;
        p->rc = rc;
        p->state = CMP_PUMP_DONE;
        pthread_cond_broadcast(&p->turn);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void cmp_pump_begin(struct cmp_pump *p, struct trod_trace *trace, const struct trod_trace *other)
{
    struct trod_diag *diag = trod_trace_diag(trace);

    *p = (struct cmp_pump){.diag = diag, .open = true};
    if (diag && diag == trod_trace_diag(other))
        return;
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        return;
    if (pthread_cond_init(&p->turn, NULL) != 0) {
        pthread_mutex_destroy(&p->lock);
        return;
    }
    p->trace = trace;
    if (pthread_create(&p->thread, NULL, work, p) != 0) {
        pthread_cond_destroy(&p->turn);
        pthread_mutex_destroy(&p->lock);
        p->trace = NULL;
        return;
    }
    if (diag && diag->sink) {
        p->sink = diag->sink;
        p->sink_user = diag->user;
        diag->sink = gate;
        diag->user = p;
    }
}

static void change(struct cmp_pump *p, enum cmp_pump_state state, bool open)
{
    pthread_mutex_lock(&p->lock);
    p->state = state;
    p->open = open;
    pthread_cond_broadcast(&p->turn);
    pthread_mutex_unlock(&p->lock);
}

void cmp_pump_ask(struct cmp_pump *p)
{
    change(p, CMP_PUMP_ASKED, false);
}

int cmp_pump_take(struct cmp_pump *p, struct trod_batch **batch)
{
    int rc;

    pthread_mutex_lock(&p->lock);
    p->open = true;
    pthread_cond_broadcast(&p->turn);
    while (p->state != CMP_PUMP_DONE)
        pthread_cond_wait(&p->turn, &p->lock);
    p->state = CMP_PUMP_IDLE;
    *batch = p->batch;
    rc = p->rc;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void cmp_pump_end(struct cmp_pump *p)
{
    if (!p->trace)
        return;
    change(p, CMP_PUMP_END, true);
    pthread_join(p->thread, NULL);
    if (p->sink) {
        p->diag->sink = p->sink;
        p->diag->user = p->sink_user;
    }
    pthread_cond_destroy(&p->turn);
    pthread_mutex_destroy(&p->lock);
}
