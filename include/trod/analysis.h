/*
 * analysis.h - the descriptor of an analysis: batches of rows in, a result out.
 *
 * Implements docs/design.md, "Analyses". One const descriptor an analysis, listed in
 * src/analysis/analyses.def or registered by a plug-in. The engine (run.h) makes states, feeds
 * them, merges them, and asks for the result; the sub-command, its help and its completion come
 * from the descriptor. docs/adding-an-analysis.md walks through a small one.
 */
#ifndef TROD_ANALYSIS_H
#define TROD_ANALYSIS_H

#include "trod/batch.h"
#include "trod/meta.h"
#include "trod/option.h"
#include "trod/result.h"
#include "trod/site.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf;              /* growable bytes: trod/buf.h */
struct trod_callstack_source; /* calls that were followed before: trod/callstack.h */
struct trod_given_calls;      /* internal */

/* What a state stands for. */
enum trod_scope {
    TROD_PER_RUN,   /* all rows */
    TROD_PER_STREAM /* the rows of one thread, cpu or bus agent: the engine makes one state each */
};

/* What order of rows an analysis needs. */
enum trod_order_need {
    TROD_ANY_ORDER,    /* files, and parts of files, by themselves; states are merged in order */
    TROD_STREAM_ORDER, /* files by themselves, each from its beginning to its end */
    TROD_GLOBAL_ORDER  /* all rows in the order of the trace */
};

/* In place of the number of a stream: none, but all; those rows that do not say theirs. */
enum { TROD_ALL_STREAMS = -1, TROD_UNSAID_STREAM = -2 };

/* For which parts of a trace there are results of their own, besides the result of all rows. */
enum trod_by {
    TROD_BY_ALL,      /* none */
    TROD_BY_THREAD,   /* for each thread, cpu or agent: the engine makes a state for each */
    TROD_BY_CORE,     /* for each core, in the same way */
    TROD_BY_MODULE,   /* for each file of code, */
    TROD_BY_FUNCTION, /* function */
    TROD_BY_LINE      /* or line of source: a list in the result of analyses with `owners` */
};

/*
 * In uses of an analysis: it calls trod_sites_module, so the modules of the trace are read. Not a
 * column, and not passed on to drivers.
 */
enum { TROD_WANT_MODULES = 1 << 28 };

/*
 * In uses of an analysis, beside TROD_COL_SITE: it reads the sites of instruction rows only, not
 * those of accesses and registers, so that a file may be cut between an instruction and its
 * accesses. Not a column, and not passed on to drivers.
 */
enum { TROD_WANT_RAN = 1 << 27 };

/* What a state is made for. Everything it points to outlives the state. */
struct trod_context {
    const struct trod_meta *meta; /* of the trace or the part; grows while rows come */
    struct trod_sites *sites;     /* NULL unless the analysis wants TROD_COL_SITE */
    struct trod_symbols *symbols; /* NULL: none were given */
    struct trod_diag *diag;       /* where the state reports problems */
    int64_t stream; /* PER_STREAM: its number or TROD_UNSAID_STREAM; else TROD_ALL_STREAMS */
    unsigned shard, shards; /* this is shard SHARD of SHARDS */
    bool merged;            /* the rows come in an order other than that of the files */
    enum trod_by by;        /* for which parts of the trace results are wanted */
    /*
     * The state of a part of a trace counts rows from the beginning of the part: the number of rows
     * in the parts before it, to be added when states are merged; not known earlier.
     */
    const uint64_t *base;
    bool recording; /* the state of a part that will be merged: see trod_analysis.records */
    const struct trod_given_calls *given; /* internal: calls of an index (trod_analysis.begins) */
    int64_t given_of; /* stream of these calls, as above; TROD_ALL_STREAMS: calls of all */
    unsigned takers;  /* recording: into how many shards it will be merged (trod_analysis.takers) */
};

/*
 * A weigher gives each row some numbers (misses, wrong predictions) that other analyses add up, as
 * by function: trod profile --weight ANALYSIS.NUMBER.
 */
enum { TROD_WEIGHER_MOST = 8 }; /* numbers of one weigher */

struct trod_weighed {
    /* Array K has number K of each row of the batch (TROD_BATCH_ROWS elements); 0 before weigh. */
    uint64_t *number[TROD_WEIGHER_MOST];
    /*
     * For numbers that are known late: add N to number K of the last instruction of STREAM before
     * the rows given to weigh. Returns 0 or an error, which weigh is to return.
     */
    int (*late)(void *ctx, uint32_t stream, unsigned k, uint64_t n);
    void *ctx;
};

struct trod_weigher {
    const char *about; /* what a number is called, for the help: "LEVEL[:preset=NAME]" */
    const char *unit;  /* of the numbers: "misses" */
    uint32_t uses;     /* columns that it makes use of where a format has them */
    enum trod_order_need order;
    /* Is the order of time the default for the numbers called WHAT? NULL: for none. */
    bool (*timed)(const char *const *what, unsigned n);
    /*
     * Prepare *ST for the N numbers called WHAT, which outlive it. C as for trod_analysis.init.
     * Returns 0, TROD_ERR_USAGE (there is no such number; reported) or another error. *ST is
     * released with fini in every case; it may be NULL.
     */
    int (*make)(void **st, const char *const *what, unsigned n, const struct trod_context *c);
    /* Rows [FROM, TO) of B, which follow those of the call before; B NULL: a file, or all rows,
     * have ended. Returns 0 or an error. */
    int (*weigh)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                 const struct trod_weighed *out);
    void (*fini)(void *st);
};

enum trod_boundary_type {
    TROD_BOUNDARY_WARM,     /* the warm-up is over: statistics begin again, contents stay */
    TROD_BOUNDARY_INTERVAL, /* an interval ends */
    TROD_BOUNDARY_SWITCH,   /* rows of another stream follow (PER_RUN states only) */
    TROD_BOUNDARY_END       /* no more rows */
};

struct trod_boundary {
    enum trod_boundary_type type;
    uint64_t number;       /* of the interval that ends, from 0 */
    uint64_t instructions; /* so far, of all streams */
    uint64_t rows;
    uint64_t time;     /* of the last row that said one; TROD_NOWHERE: none */
    uint32_t from, to; /* SWITCH: streams */
};

struct trod_analysis {
    const char *name;     /* of the sub-command and in `trod run` */
    const char *title;    /* one line, lower case */
    const char *about;    /* paragraphs for the help; NULL: the command is written by hand */
    const char *examples; /* lines for the help, or NULL */
    const struct trod_option *options;
    size_t options_size, state_size;
    const void *defaults; /* options before any is set; NULL: all zero */
    /*
     * The options struct is public and begins with its size (size_t struct_size): trod_run_add
     * copies it, also from programs that were built for another version.
     */
    bool sized;

    enum trod_scope scope;
    enum trod_order_need order;
    /*
     * It reads members of the batch that are no columns (bytes, offset, shared): it is fed on the
     * thread that decodes, with the batches as they are decoded.
     */
    bool direct;
    bool idle;  /* it is fed rows of idle cores (trod_trace_options.idle), others are not */
    bool timed; /* the order of time is the default */
    bool names; /* its results name functions: symbols are of use to it */
    bool light; /* feeding a row costs less than handing it to another thread */

    /* Scope and order with options OPT, where they depend on them. NULL: as above. */
    enum trod_scope (*scope_of)(const void *opt);
    enum trod_order_need (*order_of)(const void *opt);

    uint32_t needs; /* columns without which it says nothing */
    uint32_t uses;  /* columns it makes use of where a format has them */
    /* Uses for the format called FORMAT with options OPT, where they are fewer. NULL: uses. */
    uint32_t (*uses_of)(const char *format, const void *opt);

    /*
     * The number of instances that share the work of a run with JOBS threads: each is fed all rows
     * and counts what belongs to its shard (context.shard of context.shards); their states are
     * merged in order. Return JOBS - 1 to leave one thread to decoding; JOBS for analyses that cost
     * much more than decoding, which then gets a thread more. (With -j 2 and nothing to decompress
     * JOBS is 3, so that both threads analyse; more than 2 instances are not made.) NULL: 1.
     */
    unsigned (*shards)(const void *opt, unsigned jobs);

    /*
     * Prepare ST (state_size zero bytes) with options OPT, which outlive it. A state into which
     * others are merged has the context of the whole trace. Returns 0 or an error, reported.
     */
    int (*init)(void *st, const void *opt, const struct trod_context *c);
    /*
     * Count rows [FROM, TO) of B. For PER_STREAM they all belong to the state's stream. Returns 0,
     * or TROD_ERR_NOMEM.
     */
    int (*feed)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /*
     * Something ends. Where an analysis with merge has no boundary function the engine gives each
     * interval a state of its own and leaves out the rows of a warm-up. Returns 0 or an error.
     */
    int (*boundary)(void *st, const struct trod_boundary *at);
    /*
     * No more rows of file FILE will come, fed or merged: what is kept for that file alone may be
     * summed up. Returns 0 or an error. NULL: nothing to do.
     */
    int (*settle)(void *st, uint32_t file);
    /*
     * Add FROM to INTO (both stay valid). States of parts come in the order of the trace, those of
     * shards in the order of their numbers, those of streams in the order of the streams. NULL:
     * the rows of the run go to one state.
     */
    int (*merge)(void *into, const void *from);
    /*
     * To bytes and back, for other processes: saving a loaded state gives the same bytes. ST of
     * load was prepared by init, or is state_size zero bytes. SITES maps the numbers of sites in IN
     * to those of this run (NULL: there were no sites). Behind the last of them stands
     * TROD_NO_SITE: IN, which may be damaged, must name no site from there on. Both return 0,
     * TROD_ERR_NOMEM, TROD_ERR_CORRUPT (IN is no saved state) or TROD_ERR_UNSUPPORTED (with these
     * options the state cannot be saved).
     */
    int (*save)(const void *st, struct trod_buf *out);
    int (*load)(void *st, struct trod_span in, const uint32_t *sites);
    /*
     * Write what was found into the open level of R, which belongs to the caller. Returns 0 or an
     * error, reported.
     */
    int (*result)(const void *st, struct trod_result *r);
    /*
     * The result as another tool prints it, where the options ask for that: appended to OUT.
     * Returns 1, 0 where the options do not ask for it (then result is printed), or
     * TROD_ERR_NOMEM. NULL: never.
     */
    int (*layout)(const void *st, struct trod_buf *out);
    void (*fini)(void *st);
    bool owners; /* it has results by module, function and line (context.by) */
    const struct trod_weigher *weigher; /* numbers a row that it offers; NULL: none */
    bool (*timed_of)(const void *opt);  /* timed, with options OPT. NULL: as above */
    /*
     * For analyses without merge that have one state for all rows: results by thread and core are
     * possible. A state of each is fed with its rows, besides the state of all.
     */
    bool apart;
    /*
     * Follow rows [FROM, TO) of B, which lie before the region or in a warm-up and are not counted:
     * keep what lasts into the rows after them (open calls). Returns 0 or TROD_ERR_NOMEM. NULL:
     * such rows are not of interest.
     */
    int (*follow)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /*
     * by_calls: with options OPT, of a trace of format F, does it count nothing but calls, their
     * instructions and times? Then calls may be called once instead of feeding rows, with the calls
     * that an index has in SOURCE. It returns 0, TROD_ERR_NOMEM, or what SOURCE returned. NULL: it
     * needs rows.
     */
    bool (*by_calls)(const void *opt, const struct trod_format *f);
    int (*calls)(void *st, const struct trod_callstack_source *source);
    /*
     * For analyses that need an order: with options OPT, can parts of a trace be read at the same
     * time, because most of the work on a row does not depend on the rows before? Each part then
     * has a recording state (context.recording), in which feed keeps what merge needs to do the
     * rest: merge into a state that does not record, in the order of the trace, must give what
     * feeding the same rows to it would have given. NULL: no.
     */
    bool (*records)(const void *opt);
    /*
     * Bytes that the recording state ST keeps; when they are too many, it is merged before its part
     * is over. Only states of all rows record then. NULL: they stay few however long a part is, and
     * save and load keep them. An analysis with direct may find that it has to see all rows of a
     * file in one go: SIZE_MAX, or TROD_ERR_UNSUPPORTED of merge, says so, and all is read again
     * like that.
     */
    size_t (*recorded)(const void *st);
    /*
     * For analyses with follow: with options OPT, of a trace of format F, are the open calls that
     * an index knows (context.given) all that is needed of the rows before the place where reading
     * begins? NULL: no.
     */
    bool (*begins)(const void *opt, const struct trod_format *f);
    /* Is follow of use with options OPT? NULL: yes, if there is one. */
    bool (*follows)(const void *opt);
    /*
     * As merge, but FROM is only ended afterwards, so that its contents may be moved. For analyses
     * with large states; because each part of a file builds such a state again, a file is then cut
     * into few parts. NULL: merge.
     */
    int (*take)(void *into, void *from);
    /*
     * For analyses with recorded that need an order: the number of instances, for JOBS threads,
     * that share what merge has to do. The state of a part or file (context.shards 1, its takers
     * so many) is merged into each of them (at the same time: it is only read), which takes what
     * belongs to its shard (context.shard of context.shards); at the end their states are merged in
     * order. NULL: 1. 0: with options OPT what a recording state keeps stays little however long
     * its part is; it is merged into one.
     */
    unsigned (*takers)(const void *opt, unsigned jobs);
    /*
     * With options OPT, does what is fed leave the state (rows are written, somebody is called), so
     * that it cannot be fed once more from the beginning? Parts that may turn out to begin wrongly
     * are then not read at the same time. NULL: no.
     */
    bool (*acts)(const void *opt);
};

/* Analysis I in the order of analyses.def, plug-ins after; NULL past the last. */
const struct trod_analysis *trod_analysis_at(size_t i);
/* The analysis called NAME (LEN bytes), or NULL. */
const struct trod_analysis *trod_analysis_find(const char *name, size_t len);

/*
 * Load the plug-in PATH, a shared object that defines `const struct trod_analysis *const
 * trod_plugin_analyses[]`, ending with NULL. PATH is that of a file: without a slash it is in the
 * working directory. Its analyses are found from then on; it stays loaded. Returns 0, TROD_ERR_IO
 * (it cannot be loaded), TROD_ERR_CORRUPT (it defines no analyses, was built for another version of
 * the interface, or an analysis lacks a name without ":,=/ ", title, init, feed or result, or one
 * of save and load), TROD_ERR_USAGE (a name is taken) or TROD_ERR_LIMIT (there are 64 already).
 * All reported. Not to be called while a run is going on.
 */
int trod_analysis_plugin(const char *path, struct trod_diag *diag);

/*
 * What a plug-in must define: its analyses, ending with NULL, and TROD_PLUGIN_INTERFACE, the
 * version of this interface that it was built for. The library itself defines neither.
 */
enum { TROD_PLUGIN_INTERFACE = 7 };
extern const struct trod_analysis *const trod_plugin_analyses[];
extern const unsigned trod_plugin_interface;

#ifdef __cplusplus
}
#endif

#endif
