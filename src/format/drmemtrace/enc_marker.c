/*
 * enc_marker.c - markers on their way out: what a trace is made of goes by itself, times find their
 * place.
 *
 * Implements docs/formats/drmemtrace-writing.md, "Times".
 */
#include "format/drmemtrace/encode.h"

#include <string.h>

/* Header markers and those of chunks are written when it is time for them. */
static bool own_marker(unsigned marker)
{
    switch (marker) {
    case TROD_DRM_VERSION:
    case TROD_DRM_FILETYPE:
    case TROD_DRM_CACHE_LINE_SIZE:
    case TROD_DRM_CHUNK_INSTR_COUNT:
    case TROD_DRM_PAGE_SIZE:
    case TROD_DRM_CHUNK_FOOTER:
    case TROD_DRM_RECORD_ORDINAL:
    case TROD_DRM_BRANCH_TARGET:
    case TROD_DRM_CORE_IDLE:
    case TROD_DRM_CORE_WAIT:
        return true;
    default:
        return false;
    }
}

/* Rows behind which the next instruction need not follow from the last. */
static bool moves_control(unsigned marker)
{
    switch (marker) {
    case TROD_DRM_KERNEL_EVENT:
    case TROD_DRM_KERNEL_XFER:
    case TROD_DRM_RSEQ_ABORT:
    case TROD_DRM_SYSCALL_TRACE_START:
    case TROD_DRM_SYSCALL_TRACE_END:
    case TROD_DRM_CONTEXT_SWITCH_START:
    case TROD_DRM_CONTEXT_SWITCH_END:
    case TROD_DRM_HARDWARE_EVENT:
    case TROD_DRM_HARDWARE_RETURN:
    case TROD_DRM_WINDOW_ID:
        return true;
    default:
        return false;
    }
}

/*
 * Must a time that comes now wait? Neither it nor what follows it may come between a branch and its
 * successor, which is the instruction that is held or the next one. Where the kernel took over
 * behind the last instruction times may stand.
 */
static bool must_wait(const struct drm_enc *e)
{
    return e->n_late ||
           (e->has_last && e->last_branch && !e->ifiltered && (e->held.any || !e->transfer));
}

static int put_now(struct drm_enc *e, struct trod_room *out, const struct drm_late *m)
{
    return m->number == TROD_DRM_CPU_ID ? drm_put_cpu(e, out, m->value)
                                        : drm_put_time(e, out, m->value);
}

int drm_put_late(struct drm_enc *e, struct trod_room *out)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; i < e->n_late && rc >= 0; i++)
        rc = put_now(e, out, &e->late[i]);
    e->n_late = 0;
    return rc;
}

/* The last time so far, which may still wait. */
static uint64_t last_time(const struct drm_enc *e)
{
    for (uint32_t i = e->n_late; i-- > 0;)
        if (e->late[i].number == TROD_DRM_TIMESTAMP)
            return e->late[i].value;
    return e->time;
}

/* ROW: of the marker in B; B NULL: a marker that was left out. */
static int time_marker(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out, unsigned number, uint64_t value)
{
    struct drm_late m = {number, value};
    int rc = TROD_OK;

    if (number == TROD_DRM_CPU_ID && !e->has_time) {
        rc = drm_put_time(e, out, b ? drm_enc_time(e, b, row) : e->time);
    } else if (number == TROD_DRM_TIMESTAMP && e->has_time &&
               trod_drm_time_back(last_time(e), value, drm_time_bits(e))) {
        if (b)
            trod_loss_columns(e->loss, b, row, TROD_COL_VALUE,
                              "the times of a thread never go back: read with --order time");
        m.value = last_time(e);
    }
    if (rc < 0 || !must_wait(e))
        return rc < 0 ? rc : put_now(e, out, &m);
    if (e->n_late == DRM_LATE_MAX) { /* the first time and its cpu go */
        if (b)
            trod_loss_columns(e->loss, b, row, TROD_COL_VALUE,
                              "so many times stand among branches that one of them has no place");
        e->n_late -= 2;
        memmove(e->late, e->late + 2, e->n_late * sizeof *e->late);
    }
    e->late[e->n_late++] = m;
    return TROD_OK;
}

static int put_marker(struct drm_enc *e, const struct trod_batch *b, uint32_t row, unsigned number,
                      uint64_t value, struct trod_room *out)
{
    struct trod_room hold, *to;
    int rc = TROD_OK;

    if (own_marker(number))
        return rc;
    if (number == TROD_DRM_TIMESTAMP || number == TROD_DRM_CPU_ID) {
        if (e->held.any && e->held.type)
            drm_flow_settle(e, out, false, 0);
        return time_marker(e, b, row, out, number, value);
    }
    if (number == TROD_DRM_KERNEL_EVENT || number == TROD_DRM_HARDWARE_EVENT)
        drm_flow_settle(e, out, value != 0, value);
    else if (e->held.type || number == TROD_DRM_SYSCALL)
        drm_flow_settle(e, out, false, 0);
    if (!e->held.any && !e->last_branch)
        rc = drm_put_late(e, out);
    if (rc == TROD_OK && number == TROD_DRM_SYSCALL &&
        e->version >= DRM_VERSION_FREQUENT_TIMESTAMPS && e->time_state != 2 &&
        !(e->native && e->meta->version >= DRM_VERSION_FREQUENT_TIMESTAMPS))
        rc = drm_put_now(e, out, b ? drm_enc_time(e, b, row) : e->time);
    if (number == TROD_DRM_INSTRUCTION_COUNT) {
        e->passed = value - e->instrs - e->held.any;
        e->counted = value;
        e->has_count = true;
    }
    e->transfer = e->transfer || moves_control(number);
    to = drm_flow_room(e, out, &hold);
    drm_put_marker(e, to, number, value);
    drm_flow_put(e, out, to);
    if (b && to != out)
        drm_flow_wait(e, b, row, 0);
    return rc;
}

/*
 * VALUE, the FUNC_ID of ROW, in entries of the other width: from where on it is a system call
 * changes.
 */
static uint64_t function_id(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                            uint64_t value)
{
    const bool narrow = e->width == DRM_ENTRY_32;
    const uint64_t from = narrow ? TROD_DRM_SYSCALL_BASE_64 : TROD_DRM_SYSCALL_BASE_32;
    const uint64_t to = narrow ? TROD_DRM_SYSCALL_BASE_32 : TROD_DRM_SYSCALL_BASE_64;
    const uint64_t most = narrow ? UINT16_MAX : UINT32_MAX;

    if (value < from) {
        if (value >= to)
            trod_loss_columns(e->loss, b, row, TROD_COL_VALUE,
                              "in entries of 8 bytes a function of this number is a system call");
        return value;
    }
    if (value - from > most)
        trod_loss_columns(e->loss, b, row, TROD_COL_VALUE,
                          "entries of 8 bytes have 16 bits for the number of a system call");
    return to + ((value - from) & most);
}

/* VALUE of the marker NUMBER, in ROW, in entries of the width that is written. */
static uint64_t value_in_width(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                               unsigned number, uint64_t value)
{
    const bool narrow = e->width == DRM_ENTRY_32;

    if (narrow == (e->meta->addr_bits == 32))
        return value;
    if (number == TROD_DRM_FUNC_ID)
        return function_id(e, b, row, value);
    if (number == TROD_DRM_CPU_ID && (value == UINT64_MAX || value == UINT32_MAX))
        return narrow ? UINT32_MAX : UINT64_MAX; /* all bits are set where the cpu is not known */
    return value;
}

int drm_enc_marker(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out)
{
    uint64_t value = b->have & b->has[row] & TROD_COL_VALUE ? b->value[row] : 0;

    if (own_marker(b->sub[row])) {
        if (e->version <= DRM_VERSION_LEGACY)
            drm_lose(e, b, row);
        return TROD_OK;
    }
    drm_lose_event(e, b, row);
    value = value_in_width(e, b, row, b->sub[row], value);
    /* times that a recorder gives are the format's: entries of 8 bytes have their low bits */
    if (e->native || (b->sub[row] != TROD_DRM_TIMESTAMP && b->sub[row] != TROD_DRM_CPU_ID))
        drm_lose_width(e, b, row, TROD_COL_VALUE, value);
    return put_marker(e, b, row, b->sub[row], value, out);
}

int drm_put_kept(struct drm_enc *e, struct trod_room *out)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; i < e->n_kept && rc >= 0; i++)
        rc = put_marker(e, NULL, 0, e->kept[i].number, e->kept[i].value, out);
    e->n_kept = 0;
    return rc < 0 ? rc : TROD_OK;
}
