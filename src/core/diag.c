/*
 * diag.c - counting problems and handing them to a sink.
 *
 * Implements trod/diag.h (docs/design.md, "Errors"). It neither prints nor decides what is fatal.
 * A diag belongs to one thread: whoever works in the background keeps its problem and lets the
 * thread that owns the diag report it.
 */
#include "core/diag_own.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 1000 };

/* What kinds are counted under when the table is full. */
static const char other_kinds[] = "diag.other-kinds";

static const struct {
    int status;
    const char *name;
} names[] = {
    {TROD_OK, "ok"},
    {TROD_ERR_NOMEM, "out of memory"},
    {TROD_ERR_IO, "input/output error"},
    {TROD_ERR_USAGE, "usage"},
    {TROD_ERR_UNKNOWN, "unknown"},
    {TROD_ERR_AMBIGUOUS, "ambiguous"},
    {TROD_ERR_TRUNCATED, "truncated"},
    {TROD_ERR_CORRUPT, "corrupt"},
    {TROD_ERR_LOSS, "loss"},
    {TROD_ERR_LIMIT, "limit"},
    {TROD_ERR_UNSUPPORTED, "unsupported"},
};

const char *trod_status_name(int status)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return status > 0 ? "ok" : "unknown status";
}

/*
 * The counter of KIND, made if need be. The pointers are compared first: they are static strings
 * and mostly the same ones; a decoder may report ten million bad lines.
 */
static struct trod_diag_count *count_of(struct trod_diag *d, const char *kind)
{
    for (uint32_t i = 0; i < d->n_counts; i++)
        if (d->counts[i].kind == kind)
            return &d->counts[i];
    for (uint32_t i = 0; i < d->n_counts; i++)
        if (strcmp(d->counts[i].kind, kind) == 0)
            return &d->counts[i];
    if (d->n_counts == TROD_DIAG_KINDS)
        return &d->counts[TROD_DIAG_KINDS - 1];
    if (d->n_counts == TROD_DIAG_KINDS - 1)
        kind = other_kinds;
    struct trod_diag_count *c = &d->counts[d->n_counts++];
    *c = (struct trod_diag_count){.kind = kind, .severity = TROD_SEV_NOTE, .n = 0};
    return c;
}

void trod_diag_init(struct trod_diag *d, trod_diag_fn sink, void *user)
{
    memset(d, 0, sizeof *d);
    d->sink = sink;
    d->user = user;
}

void trod_diag_more(struct trod_diag *d, enum trod_severity severity, int status, const char *kind,
                    uint64_t n)
{
    if (!d || n == 0)
        return;
    if (severity == TROD_SEV_ERROR) {
        if (d->errors == 0)
            d->worst = status;
        d->errors += n;
    } else if (severity == TROD_SEV_WARNING) {
        d->warnings += n;
    }
    struct trod_diag_count *c = count_of(d, kind);
    if (severity > c->severity)
        c->severity = severity;
    c->n += n;
}

int trod_diag_report(struct trod_diag *d, enum trod_severity severity, int status, const char *kind,
                     const struct trod_place *at, const char *fmt, ...)
{
    if (!d)
        return status;
    trod_diag_more(d, severity, status, kind, 1);
    if (!d->sink || count_of(d, kind)->n > TROD_DIAG_SHOWN)
        return status;

    char message[MESSAGE_MAX + 1];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(message, sizeof message, fmt, args) < 0)
        memcpy(message, "?", 2);
    va_end(args);
    struct trod_problem p = {
        .severity = severity,
        .status = status,
        .kind = kind,
        .at = at ? *at : trod_place_path(NULL),
        .message = message,
    };
    if (!p.at.path)
        p.at.path = d->path;
    if (!p.at.member && d->members && p.at.path == d->path && p.at.offset != TROD_NOWHERE)
        p.at.member = d->members->name(d->members->of, p.at.offset);
    d->sink(d->user, &p);
    return status;
}

struct trod_place trod_place_path(const char *path)
{
    return trod_place_offset(path, TROD_NOWHERE);
}

struct trod_place trod_place_offset(const char *path, uint64_t offset)
{
    return (struct trod_place){
        .path = path,
        .offset = offset,
        .record = TROD_NOWHERE,
        .line = TROD_NOWHERE,
        .caret = SIZE_MAX,
    };
}

void trod_diag_summary(struct trod_diag *d)
{
    for (uint32_t i = 0; d->sink && i < d->n_counts; i++) {
        const struct trod_diag_count *c = &d->counts[i];
        if (c->n <= TROD_DIAG_SHOWN)
            continue;
        char message[128];
        snprintf(message, sizeof message, "%" PRIu64 " more of this kind (%.60s) were not shown",
                 c->n - TROD_DIAG_SHOWN, c->kind);
        const struct trod_problem p = {
            .severity = c->severity,
            .status = TROD_OK,
            .kind = c->kind,
            .at = trod_place_path(NULL),
            .message = message,
        };
        d->sink(d->user, &p);
    }
}

uint64_t trod_diag_kind_count(const struct trod_diag *d, const char *kind)
{
    for (uint32_t i = 0; i < d->n_counts; i++)
        if (strcmp(d->counts[i].kind, kind) == 0)
            return d->counts[i].n;
    return 0;
}
