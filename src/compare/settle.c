/*
 * settle.c - the rows of one instruction against each other.
 *
 * Implements the functions of match.h that say so. Rows of an instruction may come in any order.
 * What is left over waits (waiting.c).
 */
#include "compare/match.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 16, LOOK = 64 };

static bool all(const bool *done, size_t n)
{
    return n == 0 || !memchr(done, false, n);
}

/* Accesses that are left over may be the same ones elsewhere (--slide auto). True: pair again. */
static bool learn(struct cmp_lane *l, struct cmp_match *m, size_t na, const bool *done_a, size_t nb,
                  const bool *done_b)
{
    na = na < LOOK ? na : LOOK;
    nb = nb < LOOK ? nb : LOOK;
    for (size_t i = 0; m->rules->opt->auto_slide && i < na; i++)
        for (size_t j = 0; !done_a[i] && j < nb; j++)
            if (!done_b[j] &&
                cmp_learn_data(m, cmp_queue_at(&l->queue[0], i), cmp_queue_at(&l->queue[1], j)))
                return true;
    return false;
}

int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    bool few[2 * FEW] = {false}, *done_a = few, *done_b;
    struct cmp_scene *scene = NULL;
    int rc = TROD_OK;

    if (na + nb > 2 * FEW && !(done_a = calloc(na + nb, sizeof *done_a)))
        return TROD_ERR_NOMEM;
    done_b = done_a + na;
    do
        rc = cmp_pair_rows(l, m, na, done_a, nb, done_b) < 0 ? TROD_ERR_NOMEM : TROD_OK;
    while (rc == TROD_OK && learn(l, m, na, done_a, nb, done_b));
    if (rc == TROD_OK && !(all(done_a, na) && all(done_b, nb))) {
        cmp_match_bytes(l, m, na, done_a, nb, done_b, TROD_READ);
        cmp_match_bytes(l, m, na, done_a, nb, done_b, TROD_WRITE);
        scene = cmp_take_scene(l, na, nb);
        rc = scene ? TROD_OK : TROD_ERR_NOMEM;
    }
    l->group++;
    if (rc == TROD_OK)
        rc = cmp_take_off(l, m, 0, na, done_a, scene, nb);
    if (rc == TROD_OK)
        rc = cmp_take_off(l, m, 1, nb, done_b, scene, 0);
    cmp_scene_drop(m->pool, scene);
    if (done_a != few)
        free(done_a);
    if (rc == TROD_OK)
        cmp_expire(l, m, false);
    return rc;
}

int cmp_one_sided(struct cmp_lane *l, struct cmp_match *m, int side, size_t n)
{
    struct cmp_scene *scene;
    struct cmp_diff *d;
    int rc;

    if (m->window > 1 && n <= m->window) {
        if (!(scene = cmp_take_scene(l, side ? 0 : n, side ? n : 0)))
            return TROD_ERR_NOMEM;
        l->group++;
        rc = cmp_take_off(l, m, side, n, NULL, scene, 0);
        cmp_scene_drop(m->pool, scene);
        if (rc == TROD_OK)
            cmp_expire(l, m, false);
        return rc;
    }
    d = cmp_diff_begin(m, side ? TROD_DIFF_INSERTED : TROD_DIFF_MISSING);
    for (size_t i = 0; i < n; i++)
        cmp_diff_add(m, d, side, cmp_queue_at(&l->queue[side], i));
    cmp_diff_context(l, d, NULL);
    for (size_t i = 0; i < n; i++)
        cmp_row_drop(m->pool, cmp_lane_shift(l, m->pool, side));
    cmp_diff_end(l, m, d);
    return TROD_OK;
}
