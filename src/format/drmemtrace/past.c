/*
 * past.c - encodings that several decoders share: those that came before they were forked.
 *
 * Implements drm_side_fork. A side looks up what it has not learned itself in its past, the newest
 * part first, and keeps it, so that each instruction is looked up once.
 */
#include "format/drmemtrace/side.h"

#include "core/zeroed.h"
#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

void drm_past_free(struct drm_past *p)
{
    while (p && atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) == 1) {
        struct drm_past *before = p->before;

        trod_zeroed_free(p->shared, p->shared_cap);
        drm_known_free(p->known, p->known_mask);
        drm_proofs_free(&p->proofs);
        free(p->calls);
        free(p);
        p = before;
    }
}

const struct drm_known *drm_past_known(const struct drm_past *p, uint64_t pc, const uint8_t **code)
{
    for (; p; p = p->before) {
        const struct drm_side as = {.known = p->known, .known_mask = p->known_mask};
        const struct drm_known *k = drm_side_known(&as, pc);

        *code = p->shared + (k->off & ~(uint32_t)TROD_SLICE_SHARED);
        if (k->len)
            return k;
    }
    return NULL;
}

struct drm_known *drm_side_inherit(struct drm_side *s, uint64_t pc)
{
    const uint8_t *bytes;
    const struct drm_known *k = drm_past_known(s->past, pc, &bytes);
    struct trod_slice code;

    if (k && drm_side_learn(s, pc, bytes, k->len, &code) < 0)
        s->failed = true;
    return drm_side_known(s, pc);
}

struct drm_proof drm_past_proof(const struct drm_past *p, uint64_t number)
{
    struct drm_proof none = {0};

    for (; p; p = p->before) {
        const struct drm_proof *page = drm_proofs_place(&p->proofs, number);

        if (page->bits)
            return *page;
    }
    return none;
}

int drm_side_end(struct drm_side *s)
{
    struct drm_past *p = malloc(sizeof *p);
    struct drm_known *known = drm_known_new(DRM_FIRST_KNOWN);
    struct drm_proofs proofs;

    if (!drm_proofs_new(&proofs) || !p || !known) {
        free(p);
        drm_known_free(known, DRM_FIRST_KNOWN - 1);
        drm_proofs_free(&proofs);
        return TROD_ERR_NOMEM;
    }
    *p = (struct drm_past){.before = s->past,
                           .shared = s->shared,
                           .shared_n = s->shared_n + (s->past ? s->past->shared_n : 0),
                           .shared_cap = s->shared_cap,
                           .known = s->known,
                           .known_mask = s->known_mask,
                           .known_n = s->known_n + (s->past ? s->past->known_n : 0),
                           .proofs = s->proofs,
                           .calls = s->calls,
                           .n_calls = s->n_calls};
    atomic_init(&p->users, 1);
    s->past = p;
    s->known = known;
    s->known_mask = DRM_FIRST_KNOWN - 1;
    s->known_n = s->n_retired = s->n_free = 0;
    s->calls = NULL;
    s->n_calls = s->cap_calls = 0;
    s->proofs = proofs;
    s->proved = (struct drm_proof){0};
    s->shared = NULL;
    s->shared_n = s->shared_cap = 0;
    return drm_side_texts(s);
}

/* Give S, which is empty, room for as many encodings as its past has: it is going to meet those. */
static bool expect_past(struct drm_side *s)
{
    uint32_t n = DRM_FIRST_KNOWN;
    struct drm_known *known;

    while (n / 2 < s->past->known_n && n <= UINT32_MAX / 4)
        n *= 2;
    known = drm_known_new(n);
    if (!known)
        return false;
    drm_known_free(s->known, s->known_mask);
    s->known = known;
    s->known_mask = n - 1;
    return true;
}

int drm_side_fork(struct drm_side *to, struct drm_side *from)
{
    int rc = from->known_n ? drm_side_end(from) : TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < from->n_threads; i++) {
        const int at = drm_side_thread(to, from->thread[i].tid);

        if (at < 0)
            rc = at;
        else
            to->thread[at] = from->thread[i];
    }
    to->past = from->past;
    to->vague = from->vague;
    if (to->past)
        atomic_fetch_add_explicit(&to->past->users, 1, memory_order_relaxed);
    if (rc == TROD_OK && to->past && to->known_n == 0 && !expect_past(to))
        rc = TROD_ERR_NOMEM;
    return rc;
}
