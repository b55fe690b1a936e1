/*
 * emit.c - drmemtrace entries: header, times, chunks, instructions with their encodings, accesses.
 *
 * Implements encode.h after docs/formats/drmemtrace-writing.md. Nothing here looks at rows.
 */
#include "format/drmemtrace/encode.h"

#include <string.h>

void drm_put_marker(struct drm_enc *e, struct trod_room *out, unsigned marker, uint64_t value)
{
    drm_put(e, out, DRM_MARKER, marker, value);
    e->records++;
    e->time_state = 0;
}

int drm_put_time(struct drm_enc *e, struct trod_room *out, uint64_t time)
{
    drm_put_marker(e, out, TROD_DRM_TIMESTAMP, time);
    e->time = time;
    e->has_time = true;
    e->time_at = e->instrs;
    e->time_state = 1;
    return TROD_OK;
}

/* The schedule gets the cpu that the marker says. */
static uint64_t cpu_value(const struct drm_enc *e, uint64_t cpu)
{
    return e->width == DRM_ENTRY_64 ? cpu : cpu & UINT32_MAX;
}

int drm_put_cpu(struct drm_enc *e, struct trod_room *out, uint64_t cpu)
{
    const struct drm_schedule entry = {e->tid, e->time, cpu_value(e, cpu), e->instrs};
    uint8_t state = e->time_state;

    drm_put_marker(e, out, TROD_DRM_CPU_ID, cpu);
    e->time_state = state == 1 ? 2 : 0;
    e->cpu = cpu;
    e->has_cpu = true;
    return drm_schedule_add(e->side, &entry);
}

int drm_put_now(struct drm_enc *e, struct trod_room *out, uint64_t time)
{
    int rc = drm_put_time(e, out, e->has_time && !drm_time_on(e, time) ? e->time : time);

    if (rc == TROD_OK)
        rc = drm_put_cpu(e, out, e->has_cpu ? e->cpu : TROD_NOWHERE);
    if (e->ifiltered && rc == TROD_OK) {
        drm_put_marker(e, out, TROD_DRM_INSTRUCTION_COUNT, e->instrs + e->passed);
        e->counted = e->instrs + e->passed;
        e->has_count = true;
    }
    return rc;
}

void drm_put_header(struct drm_enc *e, struct trod_room *out, uint32_t stream)
{
    const struct trod_stream *s = stream < e->meta->n_streams ? &e->meta->streams[stream] : NULL;

    e->stream = stream;
    e->tid = s && s->tid != TROD_NOWHERE ? s->tid : stream + 1;
    e->pid = s && s->pid != TROD_NOWHERE ? s->pid : 1;
    drm_put(e, out, DRM_HEADER, 0, e->version);
    e->begun = true;
    if (e->version <= DRM_VERSION_LEGACY) { /* nothing but who it is */
        drm_put(e, out, DRM_THREAD, 4, e->tid);
        drm_put(e, out, DRM_PID, 4, e->pid);
        return;
    }
    drm_put_marker(e, out, TROD_DRM_VERSION, e->version);
    drm_put_marker(e, out, TROD_DRM_FILETYPE, e->filetype);
    drm_put(e, out, DRM_THREAD, 4, e->tid);
    drm_put(e, out, DRM_PID, 4, e->pid);
    drm_put_marker(e, out, TROD_DRM_CACHE_LINE_SIZE, e->meta->line_size ? e->meta->line_size : 64);
    drm_put_marker(e, out, TROD_DRM_CHUNK_INSTR_COUNT, e->chunk_size);
    drm_put_marker(e, out, TROD_DRM_PAGE_SIZE, e->meta->page_size ? e->meta->page_size : 4096);
}

bool drm_chunk_full(const struct drm_enc *e)
{
    return e->parts && e->chunk_size && e->instrs - e->chunk_base >= e->chunk_size;
}

void drm_chunk_end(struct drm_enc *e, struct trod_room *out)
{
    uint8_t state = e->time_state;

    drm_put_marker(e, out, TROD_DRM_CHUNK_FOOTER, e->chunks);
    e->chunks++;
    e->chunk_base = e->instrs;
    e->new_chunk = true;
    e->time_state = state;
}

void drm_chunk_begin(struct drm_enc *e, struct trod_room *out)
{
    drm_put(e, out, DRM_MARKER, TROD_DRM_RECORD_ORDINAL, e->records);
    drm_put(e, out, DRM_MARKER, TROD_DRM_TIMESTAMP, e->time);
    drm_put(e, out, DRM_MARKER, TROD_DRM_CPU_ID, e->cpu & UINT32_MAX);
    e->side->epoch++;
    e->new_chunk = false;
}

void drm_put_encoding(struct drm_enc *e, struct trod_room *out, struct drm_seen *seen)
{
    const unsigned piece = e->width - 4u;

    if (seen->epoch == e->side->epoch)
        return;
    seen->epoch = e->side->epoch;
    for (unsigned i = 0; i < seen->len; i += piece) {
        unsigned n = seen->len - i < piece ? seen->len - i : piece;

        trod_store_le32(out->p, DRM_ENCODING | n << 16);
        memset(out->p + 4, 0, piece);
        memcpy(out->p + 4, seen->code + i, n);
        out->p += e->width;
    }
}

void drm_put_instr(struct drm_enc *e, struct trod_room *out, unsigned type, unsigned size,
                   uint64_t pc, struct drm_seen *seen, bool has_target, uint64_t target)
{
    if (e->encodings && seen && seen->len)
        drm_put_encoding(e, out, seen);
    if (has_target)
        drm_put(e, out, DRM_MARKER, TROD_DRM_BRANCH_TARGET, target);
    drm_put(e, out, type, size, pc);
    e->records++;
    e->instrs += drm_is_instr(type);
    e->time_state = 0;
    e->pc = pc;
    e->has_pc = true;
}

/* A flush of no bytes, or of more than 16 bits can say, is a range with its end. */
static void put_access(struct drm_enc *e, struct trod_room *out, unsigned type, uint32_t size,
                       uint64_t addr)
{
    if (size - 1 >= UINT16_MAX && (type == DRM_INSTR_FLUSH || type == DRM_DATA_FLUSH)) {
        drm_put(e, out, type, 0, addr);
        drm_put(e, out, type + 1, 0, addr + size);
    } else {
        drm_put(e, out, type, size > UINT16_MAX ? UINT16_MAX : size, addr);
    }
    e->records++;
    e->time_state = 0;
}

void drm_put_pending(struct drm_enc *e, struct trod_room *out)
{
    if (e->pending)
        put_access(e, out, e->pending_type, e->pending_size, e->pending_addr);
    e->pending = false;
}

void drm_put_data(struct drm_enc *e, struct trod_room *out, unsigned type, uint32_t size,
                  uint64_t addr)
{
    if (!e->merge) {
        put_access(e, out, type, size, addr);
        return;
    }
    if (drm_merges(e, type, size, addr))
        return;
    drm_put_pending(e, out);
    drm_pend(e, type, size, addr);
}
