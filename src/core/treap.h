/*
 * treap.h - trees by address that keep themselves level: search trees by a key that are heaps by
 * weights, parted and joined (Seidel and Aragon, "Randomized Search Trees").
 *
 * Nodes are elements of an array and known by their index; 0 is none.
 */
#ifndef TROD_CORE_TREAP_H
#define TROD_CORE_TREAP_H

#include <stddef.h>
#include <stdint.h>

/* What each node has of the tree. */
struct treap_link {
    uint32_t left, right, weight;
};

/* Where an element of SIZE bytes has its key, a uint64_t, and its link. */
struct treap_shape {
    size_t size, key, link;
};

static inline struct treap_link *treap_link(void *nodes, struct treap_shape s, uint32_t i)
{
    return (struct treap_link *)(void *)((char *)nodes + i * s.size + s.link);
}

/* The weight of the node that is the NTH to be made. */
static inline uint32_t treap_weight(uint64_t nth)
{
    return (uint32_t)((nth * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Part tree I: *LEFT has the keys below KEY, *RIGHT the others. */
static inline void treap_part(void *nodes, struct treap_shape s, uint32_t i, uint64_t key,
                              uint32_t *left, uint32_t *right)
{
    while (i) {
        const uint64_t *at = (const uint64_t *)(void *)((char *)nodes + i * s.size + s.key);
        struct treap_link *n = treap_link(nodes, s, i);

        if (*at < key) {
            *left = i;
            left = &n->right;
            i = n->right;
        } else {
            *right = i;
            right = &n->left;
            i = n->left;
        }
    }
    *left = 0;
    *right = 0;
}

/* One tree of LEFT and RIGHT, all keys of which are above those of LEFT. */
static inline uint32_t treap_join(void *nodes, struct treap_shape s, uint32_t left, uint32_t right)
{
    uint32_t root = 0, *at = &root;

    while (left && right) {
        struct treap_link *a = treap_link(nodes, s, left), *b = treap_link(nodes, s, right);

        if (a->weight > b->weight) {
            *at = left;
            at = &a->right;
            left = a->right;
        } else {
            *at = right;
            at = &b->left;
            right = b->left;
        }
    }
    *at = left ? left : right;
    return root;
}

#endif
