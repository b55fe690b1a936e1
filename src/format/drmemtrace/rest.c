/*
 * rest.c - the encodings of a decoder while it rests.
 *
 * Implements rest and wake of format.h. With thousands of files in the order of time most decoders
 * wait for their turn. What one knows is then some bytes an instruction: in the order of their
 * slots, where an instruction often follows the one before it, so that a number or none stands for
 * its address. Each gets its slot again: rows that are not given yet point to it. What is made of
 * the encodings (tables, proofs) is made again. The packed form is kept when the decoder wakes:
 * what it learns then is appended.
 */
#include "format/drmemtrace/decode.h"

#include "core/pack.h"
#include "core/zeroed.h"

#include <stdlib.h>
#include <string.h>

/* The first byte of an instruction: its length, less one, and: */
enum {
    LEN = 0x0f,
    PLAIN = 0x10,  /* as in struct drm_known */
    PROVEN = 0x20, /* it has a proof */
    GAP = 0x40,    /* a number: slots left out before it */
    JUMP = 0x80    /* a number: how far it is from the end of the one before, zigzag */
};

_Static_assert(DRM_CODE_MAX <= LEN + 1, "lengths fit");

struct drm_rest {
    size_t shared_n; /* the three as they were in struct drm_side */
    uint32_t known_n, changes;
    uint64_t end; /* of the last instruction */
    size_t next;  /* slot behind it */
    size_t n;
    uint8_t bytes[]; /* N of them */
};

static size_t slot_of(const struct drm_known *k)
{
    return (k->off & ~(uint32_t)TROD_SLICE_SHARED) / DRM_SLOT;
}

/* K, GAP slots behind the one before, which ended at END. */
static int pack_code(const struct drm_side *s, const struct drm_known *k, size_t gap, uint64_t end,
                     struct trod_buf *out)
{
    const uint64_t far = trod_zigzag(k->pc, end);
    uint8_t head = (uint8_t)(k->len - 1);

    if (k->plain)
        head |= PLAIN;
    if (drm_proofs_has(&s->proofs, k->pc))
        head |= PROVEN;
    if (gap)
        head |= GAP;
    if (far)
        head |= JUMP;
    trod_buf_add(out, &head, 1);
    if (gap)
        trod_pack(out, gap);
    if (far)
        trod_pack(out, far);
    return trod_buf_add(out, s->shared + slot_of(k) * DRM_SLOT, k->len);
}

/*
 * The place + 1 in s->known of what lies in each slot from FIRST on, N of them; 0: nothing. NULL:
 * no memory.
 */
static uint32_t *by_slot(const struct drm_side *s, size_t first, size_t n)
{
    uint32_t *at = calloc(n, sizeof *at);

    for (uint32_t i = 0; at && i <= s->known_mask; i++)
        if (s->known[i].len && slot_of(&s->known[i]) >= first)
            at[slot_of(&s->known[i]) - first] = i + 1;
    return at;
}

/* What S knows and IS does not have yet to OUT; end and next of IS are moved on. */
static int pack_codes(const struct drm_side *s, struct drm_rest *is, struct trod_buf *out)
{
    const size_t first = is->shared_n / DRM_SLOT, n = s->shared_n / DRM_SLOT - first;
    uint32_t *at = by_slot(s, first, n);
    int rc = at ? TROD_OK : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        const struct drm_known *k = at[i] ? &s->known[at[i] - 1] : NULL;

        if (!k)
            continue;
        rc = pack_code(s, k, first + i - is->next, is->end, out);
        is->next = first + i + 1;
        is->end = k->pc + k->len;
    }
    free(at);
    return rc;
}

/* s->rest becomes what S knows. False: no memory; then nothing has changed. */
static bool pack(struct drm_side *s)
{
    struct drm_rest is = {0}, *to;
    struct trod_buf out = {0};
    int rc;

    if (s->rest && s->rest->changes == s->changes)
        is = *s->rest;
    if (s->rest && is.known_n == s->known_n)
        return true;
    rc = pack_codes(s, &is, &out);
    to = rc == TROD_OK ? realloc(s->rest, sizeof is + is.n + out.n) : NULL;
    if (to) {
        if (out.n)
            memcpy(to->bytes + is.n, out.p, out.n);
        is.n += out.n;
        is.shared_n = s->shared_n;
        is.known_n = s->known_n;
        is.changes = s->changes;
        memcpy(to, &is, offsetof(struct drm_rest, bytes));
        s->rest = to;
    }
    trod_buf_fini(&out);
    return to != NULL;
}

void drm_rest(void *dec)
{
    struct drm_side *s = ((struct drm_dec *)dec)->side;

    if (!s->known || s->past || s->tracked || s->failed)
        return;
    if (s->n_retired != s->n_free)
        return; /* a row that is not given yet may point to one of them */
    if (pack(s))
        drm_side_drop(s);
}

/* The next instruction of IN gets its slot, which begins *AT bytes into the pool or behind that. */
static int unpack_code(struct drm_side *s, struct trod_span *in, size_t *at, uint64_t *end)
{
    const uint8_t head = *in->p++;
    const uint32_t len = (head & LEN) + 1u;
    uint64_t gap = 0, far = 0;
    struct drm_known *k;

    in->n--;
    if ((head & GAP && trod_unpack(in, &gap) < 0) || (head & JUMP && trod_unpack(in, &far) < 0))
        return TROD_ERR_CORRUPT;
    *at += gap * DRM_SLOT;
    *end = trod_unzigzag(far, *end);
    k = drm_side_known(s, *end);
    *k = (struct drm_known){*end, (uint32_t)*at | (uint32_t)TROD_SLICE_SHARED, (uint16_t)len,
                            head & PLAIN};
    memcpy(s->shared + *at, in->p, len);
    if (head & PROVEN)
        drm_side_prove(s, *end);
    in->p += len;
    in->n -= len;
    *at += DRM_SLOT;
    *end += len;
    return TROD_OK;
}

int drm_wake(void *dec, struct trod_batch *rows)
{
    struct drm_side *s = ((struct drm_dec *)dec)->side;
    struct trod_span in;
    uint64_t end = 0;
    size_t at = 0;
    int rc;

    if (s->known)
        return TROD_OK;
    rc = drm_side_make(s, s->known_mask + 1);
    if (rc == TROD_OK)
        rc = trod_zeroed_room(&s->shared, &s->shared_cap, s->rest->shared_n, 1);
    in = (struct trod_span){.p = s->rest->bytes, .n = s->rest->n};
    while (rc == TROD_OK && in.n)
        rc = unpack_code(s, &in, &at, &end);
    if (rc < 0) {
        drm_side_drop(s);
        return rc;
    }
    s->shared_n = s->rest->shared_n;
    rows->shared = s->shared;
    return TROD_OK;
}
