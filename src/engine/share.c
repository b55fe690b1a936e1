/*
 * share.c - merging a unit on several threads.
 *
 * Implements trod_analysis.takers. An item may have several instances that the recording state of a
 * unit is merged into. The thread whose unit's turn it is merges it into one after the other;
 * workers that wait for others, or have nothing more to read, take some of them over. Units are
 * merged one at a time, so that each instance gets them in the order of the trace. At the end, as
 * at that of a pipe, the instances of an item become one.
 */
#include "engine/run_int.h"
#include "engine/streams.h"

unsigned run_takers(const struct trod_run *r, const struct engine_item *it)
{
    const struct trod_analysis *a = it->analysis;

    return it->records && it->order != TROD_ANY_ORDER && it->keeps && a->takers
               ? a->takers(it->opt, r->opt.jobs)
               : 1;
}

bool run_share_help(struct trod_run *r)
{
    struct run_share *const s = &r->share;
    const struct engine_item *it = s->unit ? &r->item[s->item] : NULL;
    struct engine_instance *into, *from;
    int rc;

    if (!it || s->next == it->shards)
        return false;
    into = &it->instance[s->next++];
    from = &s->unit->instance[s->item];
    pthread_mutex_unlock(&r->lock);
    rc = engine_instance_merge(into, from, true);
    pthread_mutex_lock(&r->lock);
    s->rc = s->rc < 0 ? s->rc : rc;
    if (++s->done == it->shards)
        pthread_cond_broadcast(&r->turn);
    return true;
}

/*
 * Make the streams of IN known to the trace of R, so that threads that look them up there only
 * read. 0 or an error.
 */
static int know_streams(struct trod_run *r, const struct engine_instance *in)
{
    struct trod_meta *to = (struct trod_meta *)(uintptr_t)trod_trace_meta(r->whole);
    int rc = 0;

    for (uint32_t i = 0; rc >= 0 && i < in->context.meta->n_streams; i++)
        rc = engine_stream_same(to, in->context.meta, i);
    return rc < 0 ? rc : TROD_OK;
}

int run_share_merge(struct trod_run *r, struct run_unit *u, size_t i)
{
    const struct engine_item *it = &r->item[i];
    int rc;

    if (it->shards == 1)
        return engine_instance_merge(&it->instance[0], &u->instance[i], true);
    if ((rc = know_streams(r, &u->instance[i])) < 0)
        return rc;
    pthread_mutex_lock(&r->lock);
    r->share = (struct run_share){.unit = u, .item = i};
    pthread_cond_broadcast(&r->turn);
    while (run_share_help(r))
        ;
    while (r->share.done < it->shards)
        pthread_cond_wait(&r->turn, &r->lock);
    rc = r->share.rc;
    r->share.unit = NULL;
    pthread_mutex_unlock(&r->lock);
    return rc;
}

void run_share_rest(struct trod_run *r)
{
    bool shared = false;

    for (size_t i = 0; i < r->n_items; i++)
        shared |= r->item[i].shards > 1;
    while (shared && !r->stop && r->merged < r->next)
        if (!run_share_help(r))
            pthread_cond_wait(&r->turn, &r->lock);
}

int run_join(struct trod_run *r, const struct trod_boundary *at, size_t files)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < r->n_items; i++) {
        struct engine_item *it = &r->item[i];

        for (unsigned k = 0; k < it->shards; k++) {
            struct engine_instance *in = &it->instance[k];

            if (!in->analysis) /* not begun: the one before could not be */
                continue;
            engine_instance_close(in, at, files);
            if (in->rc == TROD_OK && k > 0)
                in->rc = engine_instance_merge(&it->instance[0], in, false);
            if (in->rc < 0 && rc == TROD_OK)
                rc = in->rc;
        }
    }
    return rc;
}
