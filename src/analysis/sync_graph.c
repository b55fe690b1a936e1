/*
 * sync_graph.c - clocks and paths over signals and waits.
 *
 * Implements sync_graph.h for amber, "Thread Synchronization Records". Nodes are shared by all
 * paths that run through them and counted; a path is a chain of nodes towards its beginning.
 * Memory is bounded by the two limits of the header.
 */
#include "analysis/sync_graph.h"

#include <stdlib.h>
#include <string.h>

struct trod_sync_signal {
    uint64_t point, count, time;
    uint32_t thread, path;
    bool used;
};

enum { SLOTS = 2 * TROD_SYNC_SIGNALS };

int trod_sync_graph_init(struct trod_sync_graph *g)
{
    *g = (struct trod_sync_graph){0};
    g->signals = calloc(TROD_SYNC_SIGNALS, sizeof *g->signals);
    g->slots = calloc(SLOTS, sizeof *g->slots);
    if (g->signals && g->slots)
        return TROD_OK;
    trod_sync_graph_fini(g);
    return TROD_ERR_NOMEM;
}

void trod_sync_graph_fini(struct trod_sync_graph *g)
{
    free(g->nodes);
    free(g->signals);
    free(g->slots);
    *g = (struct trod_sync_graph){0};
}

static void hold(struct trod_sync_graph *g, uint32_t node)
{
    if (node)
        g->nodes[node - 1].refs++;
}

/* Give up NODE, and what only it held. */
static void drop(struct trod_sync_graph *g, uint32_t node)
{
    while (node && --g->nodes[node - 1].refs == 0) {
        uint32_t prev = g->nodes[node - 1].prev;

        g->nodes[node - 1].prev = g->free;
        g->free = node;
        node = prev;
    }
}

/* A node with one reference; 0 when there are as many as there may be. */
static uint32_t new_node(struct trod_sync_graph *g)
{
    uint32_t node = g->free;

    if (node) {
        g->free = g->nodes[node - 1].prev;
        return node;
    }
    if (g->n_nodes == g->cap_nodes) {
        uint32_t cap = g->cap_nodes ? 2 * g->cap_nodes : 256;
        struct trod_sync_node *n;

        if (cap > TROD_SYNC_NODES || !(n = realloc(g->nodes, cap * sizeof *n)))
            return 0;
        g->nodes = n;
        g->cap_nodes = cap;
    }
    return ++g->n_nodes;
}

static uint32_t hash(uint64_t point, uint64_t count)
{
    return (uint32_t)(((point * 0x9e3779b97f4a7c15u) ^ (count * 0xc2b2ae3d27d4eb4fu)) >> 32) &
           (SLOTS - 1);
}

static uint32_t next_slot(uint32_t at)
{
    return (at + 1) & (SLOTS - 1);
}

/* Take ring entry I out of the hash, closing the gap it leaves. */
static void forget(struct trod_sync_graph *g, uint32_t i)
{
    uint32_t at = hash(g->signals[i].point, g->signals[i].count), hole;

    while (g->slots[at] && g->slots[at] != i + 1)
        at = next_slot(at);
    if (!g->slots[at])
        return;
    g->slots[hole = at] = 0;
    for (at = next_slot(at); g->slots[at]; at = next_slot(at)) {
        const struct trod_sync_signal *s = &g->signals[g->slots[at] - 1];
        uint32_t home = hash(s->point, s->count);

        if (((at - home) & (SLOTS - 1)) < ((at - hole) & (SLOTS - 1)))
            continue;
        g->slots[hole] = g->slots[at];
        g->slots[hole = at] = 0;
    }
}

void trod_sync_graph_signal(struct trod_sync_graph *g, uint32_t i, const struct trod_sync_thread *t,
                            uint64_t point, uint64_t count)
{
    uint32_t k = (uint32_t)(g->given++ % TROD_SYNC_SIGNALS), at = hash(point, count);
    struct trod_sync_signal *s = &g->signals[k];

    if (s->used) {
        forget(g, k);
        drop(g, s->path);
    }
    *s = (struct trod_sync_signal){point, count, t->clock, i, t->path, true};
    hold(g, t->path);
    while (g->slots[at])
        at = next_slot(at);
    g->slots[at] = k + 1;
}

/* The first signal COUNT on POINT that is remembered. */
static const struct trod_sync_signal *find(const struct trod_sync_graph *g, uint64_t point,
                                           uint64_t count)
{
    for (uint32_t at = hash(point, count); g->slots[at]; at = next_slot(at)) {
        const struct trod_sync_signal *s = &g->signals[g->slots[at] - 1];

        if (s->point == point && s->count == count)
            return s;
    }
    return NULL;
}

uint64_t trod_sync_graph_wait(struct trod_sync_graph *g, uint32_t i, struct trod_sync_thread *t,
                              uint64_t point, uint64_t count)
{
    const struct trod_sync_signal *s = count ? find(g, point, count) : NULL;
    uint64_t waited;
    uint32_t node;

    if (!s || s->time <= t->clock)
        return 0;
    waited = s->time - t->clock;
    t->clock = s->time;
    node = new_node(g);
    if (node) {
        uint64_t hops = s->path ? g->nodes[s->path - 1].hops : 0;

        g->nodes[node - 1] =
            (struct trod_sync_node){1, s->path, i, s->thread, point, count, s->time, hops + 1};
        hold(g, s->path);
    }
    g->cut = g->cut || !node;
    drop(g, t->path);
    t->path = node;
    return waited;
}
