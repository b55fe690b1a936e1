/*
 * proofs.h - sets of instructions: a bit for each address, in pages.
 *
 * Part of side.h.
 */
#ifndef TROD_DRMEMTRACE_PROOFS_H
#define TROD_DRMEMTRACE_PROOFS_H

#include <stdbool.h>
#include <stdint.h>

enum { DRM_PROOF_SHIFT = 12, DRM_PROOF_WORDS = (1 << DRM_PROOF_SHIFT) / 64 };

struct drm_proof {
    uint64_t number; /* of the page: pc >> DRM_PROOF_SHIFT */
    uint64_t *bits;  /* DRM_PROOF_WORDS; NULL: an empty place */
};

/* All pages of a set: open addressing. */
struct drm_proofs {
    struct drm_proof *page;
    uint32_t mask, n;
};

/* An empty set. False: no memory. */
bool drm_proofs_new(struct drm_proofs *s);
void drm_proofs_free(struct drm_proofs *s);

/* The place of page NUMBER. */
struct drm_proof *drm_proofs_place(const struct drm_proofs *s, uint64_t number);

/* Page NUMBER, made if there is none. bits NULL: no memory. */
struct drm_proof *drm_proofs_page(struct drm_proofs *s, uint64_t number);

/* The word of PAGE with the bit of PC. */
static inline uint64_t *drm_proof_word(const struct drm_proof *page, uint64_t pc)
{
    return &page->bits[pc >> 6 & (DRM_PROOF_WORDS - 1)];
}

/* Is PC in S? */
static inline bool drm_proofs_has(const struct drm_proofs *s, uint64_t pc)
{
    const struct drm_proof *page = drm_proofs_place(s, pc >> DRM_PROOF_SHIFT);

    return page->bits && *drm_proof_word(page, pc) >> (pc & 63) & 1;
}

#endif
