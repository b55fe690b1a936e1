/*
 * fault.c - problems kept for the thread that owns the diag. See fault.h.
 */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/reason.h"

int trod_fault_set(struct trod_fault *f, int status, const char *kind, const char *fmt, ...)
{
    if (f->status != TROD_OK)
        return status;
    f->status = status;
    f->kind = kind;
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(f->text, sizeof f->text, fmt, args) < 0)
        f->text[0] = '\0';
    va_end(args);
    return status;
}

int trod_fault_nomem(struct trod_fault *f, const char *what)
{
    return trod_fault_set(f, TROD_ERR_NOMEM, "io.memory", "out of memory in %s", what);
}

int trod_fault_errno(struct trod_fault *f, const char *verb, int errnum)
{
    if (f->status != TROD_OK)
        return TROD_ERR_IO;
    f->status = TROD_ERR_IO;
    f->kind = "io.system";
    f->verb = verb;
    trod_reason(errnum, f->text);
    return TROD_ERR_IO;
}

int trod_fault_interrupted(struct trod_fault *f)
{
    f->quiet |= f->status == TROD_OK;
    return trod_fault_set(f, TROD_ERR_IO, "io.interrupted", "reading was interrupted");
}

int trod_fault_report(const struct trod_fault *f, struct trod_diag *diag, const char *path,
                      uint64_t offset)
{
    const struct trod_place at = trod_place_offset(path, offset);
    if (f->quiet)
        return f->status;
    if (f->verb)
        return trod_error(diag, f->status, f->kind, &at, "%s '%s': %s", f->verb, path, f->text);
    return trod_error(diag, f->status, f->kind, &at, "%s", f->text);
}
