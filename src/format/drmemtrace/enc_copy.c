/*
 * enc_copy.c - rows of a drmemtrace trace copied, entry by entry.
 *
 * Implements docs/formats/drmemtrace-writing.md. What is copied is followed, for the schedule and
 * so that writing anew can go on from any row.
 */
#include "format/drmemtrace/encode.h"

#include "core/endian.h"

#include <string.h>

/* Follow what row I of a copy changes. Returns 1 when a chunk ends with it, 0, or an error. */
static int follow(struct drm_enc *e, const struct trod_batch *b, uint32_t i)
{
    if (b->kind[i] == TROD_INSTR) {
        e->instrs += drm_is_instr(b->sub[i]);
        return 0;
    }
    if (b->kind[i] != TROD_MARKER)
        return 0;
    switch (b->sub[i]) {
    case TROD_DRM_TIMESTAMP:
        e->time = b->value[i];
        e->has_time = true;
        return 0;
    case TROD_DRM_CPU_ID: {
        const struct trod_stream *s = &b->meta->streams[b->stream[i]];
        const struct drm_schedule entry = {s->tid, e->time, b->value[i], e->instrs};

        e->cpu = b->value[i];
        e->has_cpu = true;
        return drm_schedule_add(e->side, &entry);
    }
    case TROD_DRM_CHUNK_INSTR_COUNT:
        e->chunk_size = b->value[i];
        return 0;
    case TROD_DRM_CHUNK_FOOTER:
        e->chunks = b->value[i] + 1;
        e->chunk_base = e->instrs;
        return e->parts;
    default:
        return 0;
    }
}

/* The chunk is full at an instruction and has not ended: the source was not cut into chunks. */
static bool overdue(const struct drm_enc *e, const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_INSTR && drm_chunk_full(e);
}

/* What writing anew goes on from. */
static void leave_copy(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const struct trod_stream *s = &b->meta->streams[b->stream[row]];
    const uint64_t chunk_size = e->chunk_size;

    drm_enc_describe(e, b, row);
    e->chunk_size = chunk_size;
    e->stream = b->stream[row];
    e->tid = s->tid;
    e->pid = s->pid;
    e->copy = false;
    e->begun = true;
}

/*
 * A trace whose header is damaged begins with its version marker, which has the same value: the
 * header is made of it. There is room for both, or this is TROD_ENC_FULL.
 */
static int put_header_again(const struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                            struct trod_room *out)
{
    const uint32_t version = DRM_MARKER | (uint32_t)TROD_DRM_VERSION << 16;
    const struct trod_slice raw = b->raw[row];
    const uint8_t *p = trod_batch_bytes(b, raw);

    if (e->records || !(b->has[row] & TROD_COL_RAW) ||
        (raw.len != DRM_ENTRY_64 && raw.len != DRM_ENTRY_32) || trod_load_le32(p) != version)
        return TROD_ENC_DONE;
    if ((size_t)(out->end - out->p) < 2 * (size_t)raw.len)
        return TROD_ENC_FULL;
    memcpy(out->p, p, raw.len);
    trod_store_le32(out->p, DRM_HEADER);
    out->p += raw.len;
    return TROD_ENC_DONE;
}

int drm_enc_copy(struct drm_enc *e, const struct trod_batch *b, uint32_t *row,
                 struct trod_room *out)
{
    uint32_t i = *row;
    int rc = i < b->n ? put_header_again(e, b, i, out) : TROD_ENC_DONE;

    while (i < b->n && rc == TROD_ENC_DONE) {
        const uint8_t *from = trod_batch_bytes(b, b->raw[i]), *end = from;
        const size_t room = (size_t)(out->end - out->p);

        for (; i < b->n && rc == TROD_ENC_DONE; i++) {
            uint32_t len = b->raw[i].len;

            if (b->has[i] & TROD_COL_RAW) {
                if (trod_batch_bytes(b, b->raw[i]) != end)
                    break;
                if ((size_t)(end - from) + len > room) {
                    rc = TROD_ENC_FULL;
                    break;
                }
                if (e->parts && b->have & TROD_COL_CODE && overdue(e, b, i)) {
                    leave_copy(e, b, i);
                    break;
                }
                end += len;
            }
            rc = follow(e, b, i);
            if (rc > 0)
                rc = TROD_ENC_PART;
            e->records++;
        }
        memcpy(out->p, from, (size_t)(end - from));
        out->p += end - from;
        if (!e->copy)
            break;
    }
    if (e->loss)
        e->loss->copied += i - *row;
    *row = i;
    return rc;
}
