/*
 * rows_calls.c - rows of system calls and of calls of functions: arguments and results.
 *
 * Implements the functions of rows.h that say so: markers of drmemtrace ("Syscalls" in
 * docs/formats/drmemtrace.md).
 */
#include "record/rows.h"

#include "trod/drmemtrace.h"

void rec_rows_call(struct rec_rows *r, const struct rec_stream *st, uint32_t number,
                   const uint64_t *arguments)
{
    const uint64_t mask = r->narrow ? UINT32_MAX : UINT64_MAX;
    const unsigned args = number < REC_CALLS ? r->control.calls.args[number] : 0;

    rec_rows_marker(r, st, TROD_DRM_SYSCALL, number);
    if (args)
        rec_rows_marker(r, st, TROD_DRM_FUNC_ID,
                        number + (r->narrow ? 0x10000 : UINT64_C(1) << 32));
    for (unsigned i = 0; i + 1 < args; i++)
        rec_rows_marker(r, st, TROD_DRM_FUNC_ARG, arguments[i] & mask);
}

void rec_rows_result(struct rec_rows *r, const struct rec_stream *st, uint32_t number,
                     uint64_t value)
{
    if (number >= REC_CALLS || !r->control.calls.args[number] || value == (uint64_t)-ESIGRETURN ||
        value == (uint64_t)-ERESTART)
        return;
    rec_rows_marker(r, st, TROD_DRM_FUNC_ID, number + (r->narrow ? 0x10000 : UINT64_C(1) << 32));
    rec_rows_marker(r, st, TROD_DRM_FUNC_RETVAL, r->narrow ? value & UINT32_MAX : value);
    if (value > (uint64_t)-ERRORS)
        rec_rows_marker(r, st, TROD_DRM_SYSCALL_FAILED, -value);
}

/*
 * Can ST have come to where it is by a return? After a longjmp a branch of the caller may lead to
 * the return address of a call that never returned.
 */
static bool has_returned(const struct rec_stream *st)
{
    const uint32_t branch = st->last->flags & TROD_F_BRANCH;

    return branch == TROD_BR_RETURN || branch == TROD_BR_INDIRECT;
}

int64_t rec_rows_function(struct rec_rows *r, const struct rec_stream *st, const uint64_t *p,
                          bool marked)
{
    const bool call = *p >> REC_EVENT_TYPE == REC_CALL;
    const uint64_t mask = r->narrow ? UINT32_MAX : UINT64_MAX;
    const uint32_t function = (uint32_t)*p & 0xffff, n = call ? (uint32_t)*p >> 16 : 0;

    /* only what has been executed in the trace can have led there */
    if (!marked || !st->last || function >= REC_FUNCTIONS || (!call && !has_returned(st)))
        return 2 + (int64_t)n;
    rec_rows_marker(r, st, TROD_DRM_FUNC_ID, rec_function_number(r->shared, function));
    rec_rows_marker(r, st, call ? TROD_DRM_FUNC_RETADDR : TROD_DRM_FUNC_RETVAL, p[1] & mask);
    for (uint32_t i = 0; i < n; i++)
        rec_rows_marker(r, st, TROD_DRM_FUNC_ARG, p[2 + i] & mask);
    return 2 + (int64_t)n;
}
