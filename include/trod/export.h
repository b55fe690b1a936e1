/*
 * export.h - views: files that other programs show, made from a trace.
 *
 * Implements docs/exporting.md. One const descriptor a view, listed in src/export/exports.def. A
 * view folds rows into something else (calls, lines, a table), so that no trace can be read back
 * from it; each says what it leaves out. Formats that keep rows are drivers (format.h).
 */
#ifndef TROD_EXPORT_H
#define TROD_EXPORT_H

#include "trod/io.h"
#include "trod/result.h"
#include "trod/run.h"
#include "trod/site.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a view writes to. */
enum trod_export_form {
    TROD_EXPORT_TEXT,   /* an output of text */
    TROD_EXPORT_BINARY, /* an output that is not for terminals */
    TROD_EXPORT_FILE,   /* a file that it must be able to go back in: no pipe, no compression */
    TROD_EXPORT_FOLDER  /* a folder of files */
};

/* What a state is made for. Everything it points to outlives the state. */
struct trod_export_context {
    const struct trod_meta *meta; /* of the trace as far as it is read; grows */
    struct trod_sites *sites;     /* NULL unless the view wants TROD_COL_SITE */
    struct trod_symbols *symbols; /* NULL: none were given */
    struct trod_diag *diag;       /* where the view reports problems */
    bool merged;                  /* rows come in an order other than that of the files */
    struct trod_output *out;      /* TEXT, BINARY: where its bytes go; else NULL */
    const char *path;             /* FILE, FOLDER: where to write until it is complete; else NULL */
    const char *source;           /* path of the trace's first file */
};

struct trod_export {
    const char *name;            /* as --to takes it */
    const char *title;           /* one line */
    const char *opens;           /* programs that show it */
    const char *leaves_out;      /* what of a trace is lost: one sentence without its full stop */
    const char *const *suffixes; /* of its files, NULL at the end; none is a format's suffix */
    enum trod_export_form form;
    const char *compress; /* fixed compression of its files; NULL: by the suffix of their name */
    const struct trod_option *options;
    size_t options_size, state_size;
    const void *defaults; /* options before any is set; NULL: all zero */
    uint32_t needs;       /* columns without which it says nothing */
    uint32_t uses;        /* columns it makes use of where a format has them */

    /*
     * Prepare ST (state_size zero bytes) with options OPT, which outlive it. Called before the
     * first row. Returns 0 or an error, reported.
     */
    int (*init)(void *st, const void *opt, const struct trod_export_context *c);
    /* Take rows [FROM, TO) of B, in the order of the trace. Returns 0 or an error, reported but for
     * TROD_ERR_NOMEM. */
    int (*feed)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /*
     * No more rows: write what is not written yet. META is that of the whole trace. RESULT gets
     * the numbers that the view has to tell. Returns as feed does.
     */
    int (*finish)(void *st, const struct trod_meta *meta, struct trod_result *result);
    void (*fini)(void *st);
};

/* View I in the order of exports.def; NULL past the last. */
const struct trod_export *trod_export_at(size_t i);
/* The view called NAME (LEN bytes), or NULL. */
const struct trod_export *trod_export_find(const char *name, size_t len);
/* The view whose files have the suffix of PATH, or NULL. */
const struct trod_export *trod_export_by_name(const char *path);

struct trod_export_options {
    size_t struct_size;                /* sizeof the struct; 0 stands for its size in version 0 */
    const char *to;                    /* NAME[:OPTION=VALUE,...] */
    struct trod_run_options run;       /* trace, jobs, filter, progress, user, stop, symbols */
    struct trod_output_options output; /* compress, level, no_thread */
};

struct trod_export_summary {
    uint64_t rows;  /* read of the trace */
    uint64_t taken; /* of those, given to the view */
    uint64_t bytes; /* of the file or of all files of the folder, before compression */
};

/*
 * Read the N files or directories PATHS as one trace and write the view that OPT names to OUT,
 * which appears when it is complete ("-": standard output, for views that are a stream). What was
 * read before damage is written, and the error returned. *SUM is filled; RESULT (may be NULL) gets
 * what the view tells, into its open level. Returns 0; what trod_trace_open and
 * trod_output_create return; TROD_ERR_USAGE (no such view or option; options of another version;
 * OUT is an input, or cannot hold this view); TROD_ERR_UNSUPPORTED (the trace lacks columns, or
 * this build lacks the library). All reported.
 */
int trod_export_run(const char *const *paths, size_t n, const char *out,
                    const struct trod_export_options *opt, struct trod_export_summary *sum,
                    struct trod_result *result, struct trod_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
