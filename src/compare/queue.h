/*
 * queue.h - rows in order (queues), and rows that wait for their like (bags).
 */
#ifndef TROD_COMPARE_QUEUE_H
#define TROD_COMPARE_QUEUE_H

#include "compare/row.h"

/* A ring of rows, each counted once. */
struct cmp_queue {
    struct cmp_row **row;
    size_t head, n, cap; /* cap: a power of two, or 0 */
};

static inline struct cmp_row *cmp_queue_at(const struct cmp_queue *q, size_t i)
{
    return q->row[(q->head + i) & (q->cap - 1)];
}

/* Append ROW, whose reference the queue takes over. False: no memory. */
bool cmp_queue_push(struct cmp_queue *q, struct cmp_row *row);
/* Take the first row off; its reference goes to the caller. */
struct cmp_row *cmp_queue_pop(struct cmp_queue *q);
void cmp_queue_fini(struct cmp_pool *pool, struct cmp_queue *q);

enum { CMP_CONTEXT = TROD_COMPARE_CONTEXT, CMP_GROUP = 8 };

/* Rows before a difference and of its instruction, kept for rows that wait. Counted. */
struct cmp_scene {
    struct cmp_row *instr[2]; /* the instructions that were matched */
    uint16_t n[2];
    uint32_t refs;
    struct cmp_row *row[]; /* n[0] of side 0, then those of side 1 */
};

void cmp_scene_drop(struct cmp_pool *pool, struct cmp_scene *s);

/* A row that waits. */
struct cmp_wait {
    struct cmp_row *row;
    struct cmp_scene *scene; /* NULL: none */
    uint64_t group;          /* the instructions it was left over from */
    uint64_t since;          /* rows of the other side that had been taken off before */
    struct cmp_wait *older, *newer, *chain;
    struct cmp_wait **at; /* what points to it in its chain: one may be as long as the window */
};

/* Rows that wait, oldest first, to be found by what they say. */
struct cmp_bag {
    struct cmp_wait *first, *last, **bucket;
    size_t n, size, vague; /* VAGUE: rows that are not exact */
};

/* Append ROW (its reference is taken over). False: no memory. */
bool cmp_bag_push(struct cmp_bag *b, struct cmp_row *row, struct cmp_scene *scene, uint64_t group,
                  uint64_t since);
/* The oldest one that agrees with R of SIDE (the bag is the other side's); NULL: none. */
struct cmp_wait *cmp_bag_agreeing(const struct cmp_bag *b, const struct cmp_row *r, int side,
                                  const struct cmp_rules *rules);
/* The oldest one left over from GROUP that is about the same as R; NULL: none. */
struct cmp_wait *cmp_bag_fellow(const struct cmp_bag *b, const struct cmp_row *r, uint64_t group);
/* Take W out; its row's reference goes to the caller, the scene's ends. */
struct cmp_row *cmp_bag_take(struct cmp_pool *pool, struct cmp_bag *b, struct cmp_wait *w);
void cmp_bag_fini(struct cmp_pool *pool, struct cmp_bag *b);

#endif
