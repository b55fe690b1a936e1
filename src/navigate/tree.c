/*
 * tree.c - what calls cost by stacks of functions. Implements tree.h, and trod_nav_call_sums of
 * trod/navigate.h.
 *
 * Counted as the analyses count that take it (analysis/callgraph), with exceptions above what they
 * interrupt: where these are to stand on their own, the stacks below them are left out.
 *
 * Saved: how many nodes there are, whether there are times, then a column after the other, packed
 * (core/pack.h): parents, functions, calls, instructions, times.
 */
#include "navigate/tree.h"

#include "core/pack.h"
#include "core/slab.h"
#include "navigate/build.h"
#include "navigate/nav.h"

#include <stdlib.h>

/* ---- counted */

static void account_free(struct cg_account *a)
{
    if (a)
        cg_tree_fini(&a->tree);
    free(a);
}

static void give_up(struct nav_tree *t)
{
    for (uint32_t i = 0; i < t->n_lanes; i++)
        account_free(t->lane[i]);
    free(t->lane);
    cg_tree_fini(&t->all);
    *t = (struct nav_tree){.impossible = true};
}

void nav_tree_fini(struct nav_tree *t)
{
    give_up(t);
}

/* The streams of a file are over. */
static int end_lanes(struct nav_tree *t)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < t->n_lanes; i++) {
        if (t->lane[i])
            rc = cg_tree_take(&t->all, &t->lane[i]->tree);
        account_free(t->lane[i]);
        t->lane[i] = NULL;
    }
    t->nodes = 0;
    if (rc == TROD_OK && t->all.n > NAV_TREE_NODES)
        give_up(t);
    return rc;
}

static struct cg_account *account_of(struct nav_tree *t, const struct trod_frame *f)
{
    const uint32_t at = (uint32_t)f->own[NAV_OWN_LANE];
    struct cg_account *a;

    if (!trod_grow_to(&t->lane, &t->n_lanes, at, sizeof(struct cg_account *), NULL))
        return NULL;
    if (t->lane[at])
        return t->lane[at];
    a = calloc(1, sizeof *a);
    if (a && !cg_tree_begin(&a->tree)) {
        free(a);
        a = NULL;
    }
    return t->lane[at] = a;
}

int nav_tree_enter(struct nav_tree *t, struct trod_frame *f)
{
    struct cg_account *a;
    uint32_t node;
    size_t n;

    if (t->file != f->file && end_lanes(t) < 0)
        return TROD_ERR_NOMEM;
    if (t->impossible)
        return TROD_OK;
    t->file = f->file;
    if (!(a = account_of(t, f)))
        return TROD_ERR_NOMEM;
    if (f->depth == 0 && f->kind == TROD_FRAME_EXCEPTION) {
        give_up(t); /* it stands on nothing, and may be put above what returns to it */
        return TROD_OK;
    }
    n = a->tree.n;
    if (!f->under)
        cg_account_charge(a, f->depth ? (uint32_t)f[-1].user : 0, &f->entry);
    if (!(node = cg_account_nodes(a, f, true)))
        return TROD_ERR_NOMEM;
    a->tree.node[node].count++;
    if (cg_account_under(a, f, node) < 0)
        return TROD_ERR_NOMEM;
    t->nodes += a->tree.n - n;
    if (t->all.n + t->nodes > NAV_TREE_FOLLOWED)
        give_up(t);
    return TROD_OK;
}

int nav_tree_leave(struct nav_tree *t, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct cg_account *a;

    if (t->impossible)
        return TROD_OK;
    if (!(a = account_of(t, f)))
        return TROD_ERR_NOMEM;
    cg_account_charge(a, (uint32_t)f->user, &end->next);
    if (f->depth == 0)
        a->bottom = (uint32_t)f->user;
    return TROD_OK;
}

/* ---- as bytes */

/* Functions: twice their number, + 1 for an exception; a new one is written out after it. */
static int put_functions(const struct cg_tree *t, struct trod_buf *out)
{
    struct trod_map map = {.slot = NULL};
    uint64_t *known = malloc((t->n + 1) * sizeof *known), last = 0;
    uint32_t n = 0;
    int rc = known ? TROD_OK : TROD_ERR_NOMEM;

    for (size_t i = 1; rc == TROD_OK && i < t->n; i++) {
        const struct cg_node *k = &t->node[i];
        const uint32_t hash = trod_map_hash(k->function);
        uint32_t number = n, found;

        for (size_t at = hash; number == n && trod_map_next(&map, hash, &at, &found);)
            number = known[found] == k->function ? found : n;
        rc = trod_pack(out, 2 * (uint64_t)number + (k->kind == CG_EXCEPTION));
        if (rc < 0 || number < n)
            continue;
        rc = trod_pack(out, trod_zigzag(k->function, last));
        last = known[n] = k->function;
        if (rc == TROD_OK && !trod_map_put(&map, hash, n++))
            rc = TROD_ERR_NOMEM;
    }
    trod_map_fini(&map);
    free(known);
    return rc;
}

int nav_tree_save(struct nav_tree *t, uint64_t most, struct trod_buf *out)
{
    const struct cg_tree *all = &t->all;
    int rc = t->impossible ? TROD_OK : end_lanes(t);

    if (rc < 0 || all->n < 2 || all->n - 1 > most)
        return rc;
    rc = trod_pack(out, all->n);
    if (rc == TROD_OK)
        rc = trod_pack(out, all->any_time);
    for (size_t i = 1; rc == TROD_OK && i < all->n; i++) /* parents come before */
        rc = trod_pack(out, i - all->node[i].parent);
    if (rc == TROD_OK)
        rc = put_functions(all, out);
    for (size_t i = 0; rc == TROD_OK && i < all->n; i++)
        rc = trod_pack(out, all->node[i].count);
    for (unsigned w = 0; w < CG_SELF_WEIGHTS; w++)
        for (size_t i = 0; rc == TROD_OK && i < all->n; i++)
            rc = trod_pack(out, all->node[i].self[w]);
    return rc;
}

static bool get_functions(struct trod_span *in, struct trod_call_sum *at, size_t n)
{
    uint64_t *known = malloc((n + 1) * sizeof *known), v, d, last = 0;
    size_t n_known = 0, i = known ? 1 : n + 1;

    for (; i < n; i++) {
        if (trod_unpack(in, &v) < 0 || v >> 1 > n_known)
            break;
        if (v >> 1 == n_known) {
            if (trod_unpack(in, &d) < 0)
                break;
            last = known[n_known++] = trod_unzigzag(d, last);
        }
        at[i].function = known[v >> 1];
        at[i].exception = v & 1;
    }
    free(known);
    return i == n;
}

static bool get_columns(struct trod_span *in, struct trod_call_sum *at, size_t n)
{
    uint64_t v;

    at[0].function = TROD_NOWHERE;
    for (size_t i = 1; i < n; i++) {
        if (trod_unpack(in, &v) < 0 || v == 0 || v > i)
            return false;
        at[i].parent = (uint32_t)(i - v);
    }
    if (!get_functions(in, at, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (trod_unpack(in, &at[i].calls) < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        if (trod_unpack(in, &at[i].instructions) < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        if (trod_unpack(in, &at[i].time) < 0)
            return false;
    return in->n == 0;
}

int nav_tree_load(struct trod_span in, struct trod_call_sum **out, size_t *n, bool *timed)
{
    uint64_t many, any;

    *out = NULL;
    if (trod_unpack(&in, &many) < 0 || many == 0 || many > in.n || many > NAV_TREE_NODES ||
        trod_unpack(&in, &any) < 0 || any > 1)
        return TROD_ERR_CORRUPT;
    *n = (size_t)many;
    *timed = any;
    if (!(*out = trod_slab_zeroed(*n * sizeof **out)))
        return TROD_ERR_NOMEM;
    return get_columns(&in, *out, *n) ? TROD_OK : TROD_ERR_CORRUPT;
}

void nav_tree_unload(struct trod_call_sum *at, size_t n)
{
    trod_slab_give(at, n * sizeof *at);
}

static int put_tree(struct nav_builder *b, unsigned id, struct nav_calls *c)
{
    struct trod_buf raw = {0};
    int rc = nav_calls_tree(c, b->opt->per_stack ? b->opt->per_stack : NAV_TREE_PART, &raw);

    if (rc == TROD_OK && raw.n)
        rc = nav_put_squeezed(b, id, &raw);
    trod_buf_fini(&raw);
    return rc;
}

int nav_trees_put(struct nav_builder *b)
{
    const int rc = put_tree(b, NAV_S_TREE, b->calls);

    return rc < 0 || !b->named ? rc : put_tree(b, NAV_S_NAMED_TREE, b->named);
}

/* ---- asked for */

static int load(const struct nav_index *x, const struct nav_section *s, struct trod_call_sum **out,
                size_t *n, bool *timed)
{
    struct trod_buf raw = {0};
    int rc = nav_index_check(x, s);

    *out = NULL;
    if (rc == TROD_OK)
        rc = nav_unsqueeze(x, x->file + s->offset, s->length, s->raw, &raw);
    if (rc == TROD_OK)
        rc = nav_tree_load((struct trod_span){.p = raw.p, .n = raw.n}, out, n, timed);
    trod_buf_fini(&raw);
    return rc;
}

int trod_nav_call_sums(struct trod_nav *nav, trod_call_sums_fn fn, void *user,
                       struct trod_callstack_counts *counts)
{
    const struct trod_callstack_counts *seen = nav_followed_counts(nav);
    const struct nav_index *x = nav->index;
    const unsigned id = nav->functions ? NAV_S_NAMED_TREE : NAV_S_TREE;
    const struct nav_section *s = NULL;
    struct trod_call_sum *at;
    bool timed = false;
    size_t n = 0;
    int rc;

    for (uint32_t i = 0; seen && i < x->n_sections; i++)
        s = x->section[i].id == id ? &x->section[i] : s;
    if (!s)
        return TROD_ERR_UNKNOWN;
    *counts = *seen;
    rc = load(x, s, &at, &n, &timed);
    if (rc < 0)
        rc = nav_distrust(nav, rc) ? TROD_ERR_UNKNOWN : rc;
    else
        rc = fn(user, at, n, timed);
    nav_tree_unload(at, n);
    return rc;
}
