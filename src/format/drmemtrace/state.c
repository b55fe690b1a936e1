/*
 * state.c - a decoder's state between two records, as bytes.
 *
 * Implements save and load of format.h. The plain state and the threads are the state; encodings,
 * which are never forgotten, are appended to the log.
 */
#include "format/drmemtrace/decode.h"

#include "core/pack.h"

#include <string.h>

static int log_code(struct drm_side *side, uint64_t pc, struct trod_buf *log)
{
    const struct trod_slice code = drm_side_code(side, pc);

    trod_pack(log, pc);
    trod_pack(log, code.len);
    return trod_buf_add(log, side->shared + (code.off & ~(uint32_t)TROD_SLICE_SHARED), code.len);
}

static int log_codes(struct drm_side *side, struct trod_buf *log)
{
    int rc = TROD_OK;

    if (!side->tracked) /* what came before anybody asked */
        for (uint32_t i = 0; rc == TROD_OK && i <= side->known_mask; i++)
            if (side->known[i].len)
                rc = log_code(side, side->known[i].pc, log);
    side->tracked = true;
    for (size_t i = 0; rc == TROD_OK && i < side->n_learned; i++)
        rc = log_code(side, side->learned[i], log);
    side->n_learned = 0;
    return rc;
}

int drm_save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct drm_dec *d = dec;
    struct drm_dec plain = *d;
    int rc = log_codes(d->side, log);

    plain.side = NULL;
    plain.meta = NULL;
    if (rc == TROD_OK)
        rc = trod_buf_add(state, &plain, sizeof plain);
    if (rc == TROD_OK)
        rc = trod_pack(state, d->side->n_threads);
    for (uint32_t i = 0; rc == TROD_OK && i < d->side->n_threads; i++) {
        const struct drm_thread *t = &d->side->thread[i];

        trod_pack(state, t->tid);
        trod_pack(state, t->pid);
        rc = trod_pack(state, (uint64_t)(t->stream + 1) << 2 | (uint64_t)t->has_pid << 1 | t->skip);
    }
    return rc;
}

static int load_codes(struct drm_side *side, struct trod_span *log)
{
    while (log->n) {
        uint8_t padded[DRM_SLOT] = {0};
        struct trod_slice code;
        uint64_t pc, len;
        int rc;

        if (trod_unpack(log, &pc) < 0 || trod_unpack(log, &len) < 0 || len == 0 ||
            len > DRM_CODE_MAX || len > log->n)
            return TROD_ERR_CORRUPT;
        memcpy(padded, log->p, len);
        if ((rc = drm_side_learn(side, pc, padded, (uint32_t)len, &code)) < 0)
            return rc;
        log->p += len;
        log->n -= len;
    }
    return TROD_OK;
}

static int load_threads(struct drm_dec *d, struct trod_span *state)
{
    uint64_t n, tid, pid, more;

    if (trod_unpack(state, &n) < 0)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        int at;

        if (trod_unpack(state, &tid) < 0 || trod_unpack(state, &pid) < 0 ||
            trod_unpack(state, &more) < 0 || more >> 2 > d->meta->n_streams)
            return TROD_ERR_CORRUPT;
        at = drm_side_thread(d->side, tid);
        if (at < 0)
            return at;
        if ((uint64_t)at != i)
            return TROD_ERR_CORRUPT;
        d->side->thread[at].pid = pid;
        d->side->thread[at].has_pid = more >> 1 & 1;
        d->side->thread[at].skip = more & 1;
        d->side->thread[at].stream = (int32_t)(more >> 2) - 1;
    }
    return d->thread < n ? TROD_OK : TROD_ERR_CORRUPT;
}

int drm_load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct drm_dec *d = dec, plain;
    int rc;

    if (state->n < sizeof plain)
        return TROD_ERR_CORRUPT;
    memcpy(&plain, state->p, sizeof plain);
    if (plain.width != d->width || plain.code_n > DRM_CODE_MAX || plain.side || plain.meta)
        return TROD_ERR_CORRUPT;
    state->p += sizeof plain;
    state->n -= sizeof plain;
    plain.side = d->side;
    plain.meta = d->meta;
    plain.file = d->file;
    *d = plain;
    d->side->source = 0; /* rows came before */
    rc = load_codes(d->side, log);
    d->side->tracked = true; /* what the log has need not go there again */
    d->side->n_learned = 0;
    return rc < 0 ? rc : load_threads(d, state);
}
