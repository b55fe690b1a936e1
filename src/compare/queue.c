/*
 * queue.c - rings of rows, and bags of rows that wait.
 *
 * Implements queue.h. A bag is a list by age with a hash beside it: a window of 100,000 rows is
 * searched in the time of one where all rows say their values in full. Where some do not, they and
 * what is looked for are compared one by one, up to REACH rows.
 */
#include "compare/queue.h"

#include <stdlib.h>
#include <string.h>

enum { REACH = 1024, LOOK = 4096 };

bool cmp_queue_push(struct cmp_queue *q, struct cmp_row *row)
{
    if (q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 64;
        struct cmp_row **list = malloc(cap * sizeof(struct cmp_row *));

        if (!list)
            return false;
        for (size_t i = 0; i < q->n; i++)
            list[i] = cmp_queue_at(q, i);
        free(q->row);
        q->row = list;
        q->head = 0;
        q->cap = cap;
    }
    q->row[(q->head + q->n++) & (q->cap - 1)] = row;
    return true;
}

struct cmp_row *cmp_queue_pop(struct cmp_queue *q)
{
    struct cmp_row *row = cmp_queue_at(q, 0);

    q->head = (q->head + 1) & (q->cap - 1);
    q->n--;
    return row;
}

void cmp_queue_fini(struct cmp_pool *pool, struct cmp_queue *q)
{
    while (q->n)
        cmp_row_drop(pool, cmp_queue_pop(q));
    free(q->row);
    *q = (struct cmp_queue){0};
}

void cmp_scene_drop(struct cmp_pool *pool, struct cmp_scene *s)
{
    if (!s || --s->refs)
        return;
    for (int side = 0; side < 2; side++) {
        for (unsigned i = 0; i < s->n[side]; i++)
            cmp_row_drop(pool, s->row[(side ? s->n[0] : 0) + i]);
        cmp_row_drop(pool, s->instr[side]);
    }
    free(s);
}

static struct cmp_wait **bucket_of(const struct cmp_bag *b, const struct cmp_row *r)
{
    return &b->bucket[(r->exact ? r->exact >> 1 : r->subject) & (b->size - 1)];
}

/* Put W at the end of its chain: what is older is found first. */
static void link_chain(struct cmp_bag *b, struct cmp_wait *w)
{
    struct cmp_wait **p = bucket_of(b, w->row);

    for (unsigned i = 0; *p && i < REACH; i++)
        p = &(*p)->chain;
    w->chain = *p;
    w->at = p;
    if (w->chain)
        w->chain->at = &w->chain;
    *p = w;
}

static bool grow(struct cmp_bag *b)
{
    size_t size = b->size ? 4 * b->size : 64;
    struct cmp_wait **bucket = calloc(size, sizeof(struct cmp_wait *));

    if (!bucket)
        return false;
    free(b->bucket);
    b->bucket = bucket;
    b->size = size;
    for (struct cmp_wait *w = b->first; w; w = w->newer)
        link_chain(b, w);
    return true;
}

bool cmp_bag_push(struct cmp_bag *b, struct cmp_row *row, struct cmp_scene *scene, uint64_t group,
                  uint64_t since)
{
    struct cmp_wait *w;

    if (b->n == b->size && !grow(b))
        return false;
    w = malloc(sizeof *w);
    if (!w)
        return false;
    *w = (struct cmp_wait){row, scene, group, since, b->last, NULL, NULL, NULL};
    if (scene)
        scene->refs++;
    *(b->last ? &b->last->newer : &b->first) = w;
    b->last = w;
    b->n++;
    b->vague += row->exact == 0;
    link_chain(b, w);
    return true;
}

static bool agrees(const struct cmp_wait *w, const struct cmp_row *r, int side,
                   const struct cmp_rules *rules)
{
    return w->row->subject == r->subject &&
           cmp_row_differs(side ? w->row : r, side ? r : w->row, rules) == 0;
}

struct cmp_wait *cmp_bag_agreeing(const struct cmp_bag *b, const struct cmp_row *r, int side,
                                  const struct cmp_rules *rules)
{
    struct cmp_wait *w = b->n ? *bucket_of(b, r) : NULL;

    for (unsigned i = 0; w && i < REACH; w = w->chain, i++)
        if (w->row->exact == r->exact && agrees(w, r, side, rules))
            return w;
    if (r->exact && b->vague == 0)
        return NULL;
    /* The latest are the likeliest. */
    w = b->last;
    for (unsigned i = 0; w && i < REACH; w = w->older, i++)
        if ((r->exact == 0 || w->row->exact == 0) && agrees(w, r, side, rules))
            return w;
    return NULL;
}

struct cmp_wait *cmp_bag_fellow(const struct cmp_bag *b, const struct cmp_row *r, uint64_t group)
{
    struct cmp_wait *w = b->first;

    for (unsigned i = 0; w && w->group <= group && i < LOOK; w = w->newer, i++)
        if (w->group == group && cmp_row_same_subject(w->row, r))
            return w;
    return NULL;
}

struct cmp_row *cmp_bag_take(struct cmp_pool *pool, struct cmp_bag *b, struct cmp_wait *w)
{
    struct cmp_row *row = w->row;

    *w->at = w->chain;
    if (w->chain)
        w->chain->at = w->at;
    *(w->older ? &w->older->newer : &b->first) = w->newer;
    *(w->newer ? &w->newer->older : &b->last) = w->older;
    b->n--;
    b->vague -= row->exact == 0;
    cmp_scene_drop(pool, w->scene);
    free(w);
    return row;
}

void cmp_bag_fini(struct cmp_pool *pool, struct cmp_bag *b)
{
    while (b->first)
        cmp_row_drop(pool, cmp_bag_take(pool, b, b->first));
    free(b->bucket);
    *b = (struct cmp_bag){0};
}
