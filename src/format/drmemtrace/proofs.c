/*
 * proofs.c - sets of instructions: implements proofs.h.
 */
#include "format/drmemtrace/proofs.h"

#include <stdlib.h>

enum { FIRST = 1 << 6 }; /* places of an empty set */

bool drm_proofs_new(struct drm_proofs *s)
{
    *s = (struct drm_proofs){.page = calloc(FIRST, sizeof *s->page), .mask = FIRST - 1};
    return s->page != NULL;
}

void drm_proofs_free(struct drm_proofs *s)
{
    for (uint32_t i = 0; s->page && i <= s->mask; i++)
        free(s->page[i].bits);
    free(s->page);
    *s = (struct drm_proofs){.page = NULL};
}

struct drm_proof *drm_proofs_place(const struct drm_proofs *s, uint64_t number)
{
    for (uint32_t at = (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32);; at++) {
        struct drm_proof *page = &s->page[at & s->mask];

        if (page->number == number || !page->bits)
            return page;
    }
}

static bool grow(struct drm_proofs *s)
{
    const uint32_t size = (s->mask + 1) * 2;
    struct drm_proofs to = {.mask = size - 1, .n = s->n};

    to.page = size ? calloc(size, sizeof *to.page) : NULL;
    if (!to.page)
        return false;
    for (uint32_t i = 0; i <= s->mask; i++)
        if (s->page[i].bits)
            *drm_proofs_place(&to, s->page[i].number) = s->page[i];
    free(s->page);
    *s = to;
    return true;
}

struct drm_proof *drm_proofs_page(struct drm_proofs *s, uint64_t number)
{
    struct drm_proof *page = drm_proofs_place(s, number);

    if (page->bits || (2 * s->n > s->mask && !grow(s)))
        return page;
    page = drm_proofs_place(s, number);
    page->bits = calloc(DRM_PROOF_WORDS, sizeof *page->bits);
    page->number = number;
    s->n += page->bits != NULL;
    return page;
}
