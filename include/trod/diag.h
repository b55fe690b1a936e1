/*
 * diag.h - where problems go.
 *
 * The library neither prints nor exits (docs/design.md, "Errors"): everything that goes wrong is
 * handed to a sink as a code, a place and a sentence. A diag counts per kind of problem and passes
 * on the first TROD_DIAG_SHOWN of each kind only; the rest is counted (trod_diag_summary).
 */
#ifndef TROD_DIAG_H
#define TROD_DIAG_H

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_DIAG_SHOWN = 20, TROD_DIAG_KINDS = 128 };

enum trod_severity { TROD_SEV_NOTE, TROD_SEV_WARNING, TROD_SEV_ERROR };

/* Where a problem is; what is not known is TROD_NOWHERE or NULL. */
#define TROD_NOWHERE UINT64_MAX

struct trod_place {
    const char *path;    /* file as the user named it, or NULL */
    const char *member;  /* zip member, or NULL */
    uint64_t offset;     /* byte offset in the decoded stream */
    uint64_t record;     /* record number, from 0 */
    uint64_t line;       /* line number, from 1 */
    const uint8_t *text; /* text formats: the line; valid during the call only */
    size_t text_len;
    size_t caret; /* position in text at which the fault lies; > text_len: none */
};

struct trod_problem {
    enum trod_severity severity;
    int status;       /* enum trod_status */
    const char *kind; /* static, e.g. "tarmac.bad-number": what problems are counted by */
    struct trod_place at;
    const char *message; /* lower case, what failed first, subject quoted, no full stop */
};

typedef void (*trod_diag_fn)(void *user, const struct trod_problem *);

struct trod_diag_count {
    const char *kind;
    enum trod_severity severity;
    uint64_t n;
};

struct trod_diag_members;

struct trod_diag {
    trod_diag_fn sink; /* NULL: count only */
    void *user;
    bool strict;      /* the first error of a decoder ends the run with its status */
    const char *path; /* file being worked on: stands in for a place without path */
    const struct trod_diag_members *members; /* internal: the members of PATH if it is an archive */
    uint64_t errors, warnings;
    int worst; /* status of the first error, or TROD_OK */
    uint32_t n_counts;
    struct trod_diag_count counts[TROD_DIAG_KINDS];
};

/* Prepare D to report to SINK (may be NULL) with USER as its first argument. */
void trod_diag_init(struct trod_diag *d, trod_diag_fn sink, void *user);

/*
 * Report a problem of KIND (a string with static life) at AT (may be NULL) with a printf-style
 * message. D may be NULL: then nothing happens. Returns STATUS, so that callers can write
 * `return trod_diag_report(...)`. Never fails; a message over 1,000 bytes is cut.
 */
int trod_diag_report(struct trod_diag *d, enum trod_severity severity, int status, const char *kind,
                     const struct trod_place *at, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* trod_diag_report with severity TROD_SEV_ERROR and TROD_SEV_WARNING. */
#define trod_error(d, status, kind, at, ...)                                                       \
    trod_diag_report((d), TROD_SEV_ERROR, (status), (kind), (at), __VA_ARGS__)
#define trod_warning(d, status, kind, at, ...)                                                     \
    trod_diag_report((d), TROD_SEV_WARNING, (status), (kind), (at), __VA_ARGS__)

/* Count N problems of KIND without calling the sink: they were shown, or stored, elsewhere. */
void trod_diag_more(struct trod_diag *d, enum trod_severity severity, int status, const char *kind,
                    uint64_t n);

/* The file PATH, without a position in it. */
struct trod_place trod_place_path(const char *path);
/* The place OFFSET bytes into the decoded bytes of PATH. */
struct trod_place trod_place_offset(const char *path, uint64_t offset);

/*
 * Tell the sink, once for each kind with more than TROD_DIAG_SHOWN problems, how many were not
 * shown. Call it at the end of a run.
 */
void trod_diag_summary(struct trod_diag *d);

/* Problems of KIND so far (compared as text). */
uint64_t trod_diag_kind_count(const struct trod_diag *d, const char *kind);

#ifdef __cplusplus
}
#endif

#endif
