/*
 * rows_calls.c - rows of system calls: arguments and results.
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
