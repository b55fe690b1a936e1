/*
 * analysis.h - anything that eats batches: batches in, a result out.
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
struct trod_given_calls;      /* the library's */

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

enum { TROD_ALL_STREAMS = -1 };

/* Whom results are given for besides those of all rows. */
enum trod_by {
    TROD_BY_ALL,      /* nobody */
    TROD_BY_THREAD,   /* each thread, cpu or agent: the engine makes a state for each */
    TROD_BY_CORE,     /* each core, in the same way */
    TROD_BY_MODULE,   /* each file of code, function or line of source: analyses with `owners` */
    TROD_BY_FUNCTION, /* put a list of that name into their result */
    TROD_BY_LINE
};

/*
 * In uses of an analysis: trod_sites_module is to know the modules of the trace. Not a column;
 * drivers are not told.
 */
enum { TROD_WANT_MODULES = 1 << 28 };

/*
 * In uses of an analysis, beside TROD_COL_SITE: it looks at the sites of instructions alone, not at
 * those of what belongs to them, so that files may be cut between the two. Not a column either.
 */
enum { TROD_WANT_RAN = 1 << 27 };

/* What a state is made for. Everything it points to outlives the state. */
struct trod_context {
    const struct trod_meta *meta; /* of the trace or the part; grows while rows come */
    struct trod_sites *sites;     /* NULL unless the analysis wants TROD_COL_SITE */
    struct trod_symbols *symbols; /* NULL: none were given */
    struct trod_diag *diag;       /* where the state reports problems */
    int64_t stream;               /* PER_STREAM: number of the stream; else TROD_ALL_STREAMS */
    unsigned shard, shards;       /* this is shard SHARD of SHARDS */
    bool merged;                  /* the rows come in an order other than that of the files */
    enum trod_by by;              /* whom results are wanted for */
    /*
     * Where a part of a trace begins in what was merged before it, in rows: what rows of its states
     * are numbered from. Known when they are merged.
     */
    const uint64_t *base;
    bool recording; /* a part's, merged into another one: see trod_analysis.records */
    const struct trod_given_calls *given; /* the calls, of the library's own analyses: see begins */
    int64_t given_of; /* the stream whose calls these are; TROD_ALL_STREAMS: of all */
};

/*
 * A number a row: what an analysis makes of each row (misses, wrong predictions), for others to add
 * up by what they like (trod profile --weight ANALYSIS.NUMBER).
 */
enum { TROD_WEIGHER_MOST = 8 }; /* numbers of one weigher */

struct trod_weighed {
    /* By number and row of the batch, TROD_BATCH_ROWS each. They are 0 for the rows that are given.
     */
    uint64_t *number[TROD_WEIGHER_MOST];
    /*
     * What is known only now: N more of number K for the instruction that STREAM executed last
     * before the rows that are given. Returns 0 or an error, which weigh returns.
     */
    int (*late)(void *ctx, uint32_t stream, unsigned k, uint64_t n);
    void *ctx;
};

struct trod_weigher {
    const char *about; /* what a number is called, for the help: "LEVEL[:preset=NAME]" */
    const char *unit;  /* of the numbers: "misses" */
    uint32_t uses;     /* columns that it makes use of where a format has them */
    enum trod_order_need order;
    /* Numbers WHAT stand for rows in the order of time, where nobody names another. NULL: never. */
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
    TROD_BOUNDARY_WARM,     /* the warm-up is over: statistics begin anew, contents stay */
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
     * Options begin with their size (size_t struct_size) because programs fill them: trod_run_add
     * makes a copy, of options_size bytes, from those that a program of another version gives.
     */
    bool sized;

    enum trod_scope scope;
    enum trod_order_need order;
    /*
     * It looks at what is not a column (batch->bytes, offset, shared): it is fed on the thread that
     * decodes, with the batches as they are decoded.
     */
    bool direct;
    bool idle;  /* it wants to know where cores were idle (trod_trace_options.idle) */
    bool timed; /* where nobody names an order, the rows come in that of time */
    bool names; /* its results name functions: symbols are of use to it */
    bool light; /* feeding a row costs less than handing it to another thread */

    /* The same with options OPT, where that differs. NULL: as above. */
    enum trod_scope (*scope_of)(const void *opt);
    enum trod_order_need (*order_of)(const void *opt);

    uint32_t needs; /* columns without which it says nothing */
    uint32_t uses;  /* columns it makes use of where a format has them */
    /* The same for the format called FORMAT with options OPT, where that is fewer. NULL: uses. */
    uint32_t (*uses_of)(const char *format, const void *opt);

    /*
     * How many instances may share the work, JOBS threads being there: each is fed all rows and
     * counts what belongs to its shard (context: shard of shards). Their states are merged in
     * order. JOBS - 1 leaves one thread to decoding; where it says JOBS one more thread decodes:
     * for what costs much more than that. Of two threads (-j 2) none is left to decoding where
     * nothing is decompressed: JOBS is 3 then, and more than 2 are not made. NULL: 1.
     */
    unsigned (*shards)(const void *opt, unsigned jobs);

    /*
     * Prepare ST (state_size zero bytes) with options OPT, which outlive it. A state that is only
     * merged into has the context of the whole trace. Returns 0 or an error, reported.
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
    /* Rows of file FILE will not come again, here or in what is merged in: what belongs to it alone
     * may be summed up. NULL: nothing to do. */
    int (*settle)(void *st, uint32_t file);
    /*
     * Add FROM to INTO (both stay valid). States of parts come in the order of the trace, those of
     * shards in the order of their numbers, those of streams in the order of the streams. NULL:
     * the rows of the run go to one state.
     */
    int (*merge)(void *into, const void *from);
    /*
     * To bytes and back, for other processes: load(save(x)) saves the same bytes. ST of load was
     * prepared by init, or is state_size zero bytes; SITES says by the number that a site had when
     * it was saved which number it has now (NULL where there were none). What is no saved state is
     * TROD_ERR_CORRUPT, what cannot be saved with these options TROD_ERR_UNSUPPORTED.
     */
    int (*save)(const void *st, struct trod_buf *out);
    int (*load)(void *st, struct trod_span in, const uint32_t *sites);
    /*
     * What was found, into the open level of R. SIZE and lifetime of R are the caller's. Returns 0
     * or an error, reported.
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
     * Without merge and one state for all rows: it has results by thread and core all the same. A
     * state of each is fed with its rows, besides that of all.
     */
    bool apart;
    /*
     * Rows [FROM, TO) of B lie before the region, or are a warm-up that feed is not told of: they
     * are not counted, but what was going on in them goes on in the rows behind (open calls).
     * Returns 0 or TROD_ERR_NOMEM. NULL: it begins with the rows that count.
     */
    int (*follow)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /*
     * With options OPT, of a trace of format F: does it count nothing but calls, their instructions
     * and times? Then a state may be given SOURCE, once, instead of rows. calls returns 0,
     * TROD_ERR_NOMEM, or what SOURCE returned. NULL: it needs rows.
     */
    bool (*by_calls)(const void *opt, const struct trod_format *f);
    int (*calls)(void *st, const struct trod_callstack_source *source);
    /*
     * With options OPT, of an analysis that needs an order: most of its work on a row does not
     * depend on the rows before. Then parts of a trace may be read at the same time, each into
     * a state that records (context.recording): feed keeps what merge, which is given it as FROM in
     * the order of the trace, needs to do what feeding the same rows would have done. INTO does not
     * record. NULL: never.
     */
    bool (*records)(const void *opt);
    /*
     * Bytes that ST, a state that records, keeps: too many are merged before the part is over. Only
     * states of all rows record then. NULL: few, however long a part is; save and load keep them.
     * An analysis with direct may find that it has to see all rows of a file in one go: SIZE_MAX,
     * or TROD_ERR_UNSUPPORTED of merge, says so, and all is read again like that.
     */
    size_t (*recorded)(const void *st);
    /*
     * Of an analysis with follow: with options OPT, of a trace of format F, do the calls that an
     * index has (context.given, where reading begins inside the trace) tell it all that it needs to
     * know of the rows before the first one that it is fed? NULL: never.
     */
    bool (*begins)(const void *opt, const struct trod_format *f);
    /* Does it follow with options OPT? NULL: if it has follow. */
    bool (*follows)(const void *opt);
    /*
     * As merge, of a FROM that is only ended thereafter: what it holds may be moved. An analysis
     * whose states are large has it; of a file few parts are made then, as each of them meets all
     * that the trace touches once more. NULL: merge.
     */
    int (*take)(void *into, void *from);
};

/* Analysis I in the order of analyses.def, plug-ins behind; NULL past the last. */
const struct trod_analysis *trod_analysis_at(size_t i);
/* The analysis called NAME (LEN bytes), or NULL. */
const struct trod_analysis *trod_analysis_find(const char *name, size_t len);

/*
 * Load the plug-in PATH, a shared object that defines `const struct trod_analysis *const
 * trod_plugin_analyses[]`, ending with NULL. Its analyses are found from then on; it stays loaded.
 * Returns 0, TROD_ERR_IO (it cannot be loaded), TROD_ERR_CORRUPT (it defines no analyses, or was
 * built for another version of the interface), TROD_ERR_USAGE (a name is taken) or TROD_ERR_NOMEM.
 * All reported. Not to be called while a run is going on.
 */
int trod_analysis_plugin(const char *path, struct trod_diag *diag);

/*
 * What a plug-in defines: its analyses, ending with NULL, and the version of this interface that it
 * was built for. Nothing of the library refers to them by name.
 */
enum { TROD_PLUGIN_INTERFACE = 5 };
extern const struct trod_analysis *const trod_plugin_analyses[];
extern const unsigned trod_plugin_interface;

#ifdef __cplusplus
}
#endif

#endif
