/*
 * stacks.h - the tree of names that trod_flame is (stacks.c), for who draws it (stacks_svg.c).
 */
#ifndef TROD_CALLSTACK_STACKS_H
#define TROD_CALLSTACK_STACKS_H

#include "core/map.h"
#include "trod/flame.h"

enum { STACKS_SIDES = 2 };

struct stacks_node {
    size_t name; /* place in names */
    uint32_t len, parent, first, next;
    uint64_t self[STACKS_SIDES];
};

struct trod_flame {
    struct stacks_node *node; /* 0: all; parents come before their children */
    size_t n, cap;
    char *names;
    size_t names_n, names_cap;
    struct trod_map map; /* nodes */
};

/* See to room for N nodes, of which most are to come. False: no memory. */
bool stacks_room(struct trod_flame *f, size_t n);
/* The node called NAME, LEN bytes without a ';', below PARENT, made if new; 0: no memory. */
uint32_t stacks_child(struct trod_flame *f, uint32_t parent, const char *name, size_t len);
/* Options as they are meant. False: of another version. */
bool stacks_options(struct trod_flame_options *to, const struct trod_flame_options *from);
/* Per node the sum of its counts and of those above it, of core/slab.h; NULL: no memory. */
uint64_t (*stacks_totals(const struct trod_flame *f))[STACKS_SIDES];
/* What counts of the first trace are multiplied with. */
double stacks_scale(const struct trod_flame *f, const struct trod_flame_options *opt);
static inline uint64_t stacks_scaled(uint64_t count, double scale)
{
    return scale == 1 ? count : (uint64_t)((double)count * scale + 0.5);
}
/* Children of NODE into LIST, sorted by name; how many. LIST has room for all nodes. */
size_t stacks_children(const struct trod_flame *f, uint32_t node, uint32_t *list);

#endif
