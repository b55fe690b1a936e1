/*
 * run_int.h - the internals of a run: its plan, and its pieces of work.
 *
 * An item is an analysis added to the run. An instance holds the states of an item, or of one shard
 * of it: one state for all rows, and one for each stream if the scope or the user asks for it.
 * Instances are fed by a pass over the whole trace (serial, pipe.c), or by a unit (units.c) whose
 * instances are then merged into those of the item.
 */
#ifndef TROD_ENGINE_RUN_INT_H
#define TROD_ENGINE_RUN_INT_H

#include "core/keeper.h"
#include "engine/sites.h"
#include "engine/streaks.h"
#include "engine/unplaced.h"
#include "trace/owned.h"
#include "trod/run.h"

#include <pthread.h>
#include <stdatomic.h>

/* Bits of trod_analysis.needs and uses that are no columns. */
enum { ENGINE_WANTS = TROD_WANT_STREAKS | TROD_WANT_MODULES | TROD_WANT_RAN };

struct engine_instance {
    const struct trod_analysis *analysis;
    const void *opt;
    struct trod_context context;
    struct trod_keeper keeper; /* problems that the states report */
    uint64_t base;             /* of the context */
    void *st;                  /* state of all rows, or of the current interval; NULL: not begun */
    void *total;               /* state of the finished intervals; NULL: none is finished */
    void **past;               /* the same by key of a stream or core */
    uint32_t n_past;
    void **stream; /* states by key of a stream of context.meta, or of a core; NULL: no rows */
    uint32_t n_streams;
    uint32_t *core_of; /* by key of a stream: 1 + its core by its markers; 0: unknown */
    uint32_t n_core_of;
    bool keyed;                    /* there is a state for each stream, or for each core */
    bool by_core;                  /* ... for each core */
    bool divided;                  /* there are intervals */
    bool begun;                    /* the current interval has rows */
    bool listed;                   /* results of each stream or core are wanted */
    bool cpus;                     /* cores are the streams of the trace */
    bool both;                     /* st is fed too: it is not the sum of the streams' states */
    bool stale;                    /* st lacks what was merged into the streams' states */
    bool fresh;                    /* each interval has a state of its own */
    struct engine_instance *parts; /* has the intervals, if they do not add up to this instance */
    struct trod_result *intervals; /* a list item for each finished interval; NULL: none */
    uint32_t file;                 /* whose rows were fed last, where states follow */
    int rc;                        /* the first error: no more rows are fed */
};

struct engine_item {
    const struct trod_analysis *analysis;
    const void *opt;
    void *own; /* a copy that opt points to, or NULL */
    unsigned shards;
    bool records;                     /* parts may record their rows (trod_analysis.records) */
    bool keeps;                       /* what they keep is the more, the longer they are */
    struct engine_instance *instance; /* SHARDS of them; after the run the first has the total */
    enum trod_scope scope;
    enum trod_order_need order;
};

/* Consecutive rows of a batch that are treated alike. */
struct engine_cut {
    uint32_t from, to;
    bool fed;    /* false: outside of the region */
    bool before; /* not fed, because it comes before the region */
    bool warm;   /* part of the warm-up */
    bool gap;    /* rows that the order made up (trod_gap_row), for who asked for them */
    bool ends;   /* the interval, warm-up or region AT ends after these rows */
    struct trod_boundary at;
};

enum { ENGINE_CUTS = 64 };

/* Finds where regions, warm-ups and intervals begin and end; is given all rows of a run in order.
 */
struct engine_cutter {
    const struct trod_run_options *opt;
    struct trod_boundary now; /* after the row counted last */
    struct trod_boundary end; /* after the last row of the region so far; WARM: still warming up */
    uint64_t origin;          /* start of the interval or warm-up: instructions, rows or time */
    uint64_t time0;           /* the first time in the region; TROD_NOWHERE: none so far */
    bool plain;               /* nothing to cut */
    bool gaps;                /* rows that the order made up are cut out */
    bool inside_trace;        /* reading begins inside: the first batch has the rows before it */
    bool begun;               /* a row was in the region */
    bool warm, inside;        /* in the warm-up; in the region */
    bool due;                 /* a row had a time after the end of the interval or warm-up */
    struct trod_owning last;  /* instruction */
    bool over;                /* the region has ended */
};

/* What a unit of work covers: a file, some members of an archive, or some bytes. */
enum run_cut { RUN_WHOLE, RUN_MEMBERS, RUN_BYTES };

/*
 * The most parts of a file; the most if the parts are fed in order (in_order.c); the most batches
 * kept for reuse then.
 */
enum { RUN_PARTS = 64, RUN_PARTS_IN_ORDER = 4096, RUN_IDLE = 64 };

struct run_piece {
    size_t file;
    size_t number; /* among the pieces of the whole trace */
    enum run_cut cut;
    struct trod_candidate as; /* format and dialect of a plain file that is cut */
    uint64_t from, to; /* members or offsets; the last piece of a plain file ends TROD_NOWHERE */
    uint64_t before;   /* offset of the first row read ahead of the part (lead.c); FROM: none */
    uint64_t weight;   /* bytes, approximately */
    uint32_t part;     /* its number among the pieces of its file */
    uint32_t
        link; /* number, from 1, among the pieces that begin with a chain state; 0: none of them */
    bool chained; /* all pieces of its file but the first have a link (chain.c) */
    bool apart;   /* its decoder state follows from the bytes before it (trod_parts.enter) */
    bool assumes; /* all pieces of its file but the first assume what is before them (assume.c) */
    bool packed;  /* it is compressed, and cut at frames */
    bool last;    /* of its file */
};

/* For a file whose parts several processes read: are the beginnings of its parts confirmed? */
enum run_sound { RUN_UNKNOWN, RUN_SOUND, RUN_UNSOUND };

/* The chain: passes over files to find the decoder state at the beginning of pieces (chain.c). */
struct run_chain {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct trod_trace *trace; /* of the file that is passed over */
    size_t at;                /* the piece of the plan that its last cut begins */
    uint32_t links;           /* pieces that have begun */
    int failed;               /* why the remaining pieces of that file cannot begin, or TROD_OK */
    bool rest;                /* a worker has been chosen to call run_chain_rest */
};

/* Parts that assume what comes before them. */
struct run_assume {
    struct trod_trace *beginning; /* that of FILE was passed over; guarded by the run's lock */
    size_t file;
    struct run_unit *before; /* of the piece that was merged last: no more than its trace */
    bool wrong;              /* something that was assumed was not right: nothing is, any more */
};

/* State that a decoding thread keeps from batch to batch. Members are NULL where not wanted. */
struct run_decoder {
    struct engine_owner *owner;
    struct trod_streaks *streaks;
};

/* The rows of a piece that wait until it is their turn (in_order.c). */
struct run_order {
    struct run_held *held;
    size_t n, cap;
    uint32_t *stream; /* the numbers of its streams in the whole trace */
    uint32_t n_streams;
    size_t cap_streams;
    bool other;            /* some numbers differ there */
    uint64_t first, given; /* the number of its first row; rows fed so far */
    uint64_t skip;         /* rows at its beginning that were fed before it was read again */
};

/*
 * What is merged by several threads at once: a unit into the instances of an item, each of which
 * takes its share (trod_analysis.takers).
 */
struct run_share {
    struct run_unit *unit; /* NULL: nothing */
    size_t item;
    unsigned next, done; /* instances that a thread has begun with, and that are done */
    int rc;
};

/* A piece of the trace that is being read: its trace, its states, its problems. */
struct run_unit {
    struct engine_instance instance[TROD_RUN_ITEMS];
    struct run_decoder decoder;
    struct trod_trace *trace; /* until it is merged: states may point into its meta */
    struct run_order order;
    struct trod_keeper keeper;
    struct trod_trace_progress done;
    uint64_t rows;
    size_t number; /* of its piece */
    int rc;
    bool knows;           /* it begins with the units of time of the pieces before it */
    bool handed;          /* some of what it recorded is merged */
    bool complete, fatal; /* read to its end; fatal: nothing to merge */
    bool lost;            /* it cannot be read by itself (engine_owner_lost, run_damaged) */
    bool gave_up;         /* lost because an analysis needs the rows before it */
    bool codeless;        /* engine_owner_codeless */
    bool stopped;         /* by trod_run_options.stop, before its end */
};

struct run_worker {
    struct trod_run *run;
    pthread_t thread;
    bool first; /* the thread of trod_run_go */
    int rc;     /* of run_chain_rest */
    atomic_uint_fast64_t rows, bytes;
};

struct trod_run {
    struct trod_run_options opt;
    struct trod_diag *diag;
    struct trod_trace *whole;
    struct trod_keeper
        opening;              /* problems of opening WHOLE: in a run by units, units repeat them */
    struct trod_sites *sites; /* NULL: not wanted */
    struct engine_unplaced *unplaced;
    struct engine_item item[TROD_RUN_ITEMS];
    size_t n_items;
    bool owned;   /* an analysis uses the sites of accesses and other rows of instructions */
    bool codes;   /* an analysis wants the opcodes of all rows, beyond the sites' */
    bool streaks; /* an analysis wants streaks */
    bool gone;
    atomic_bool stopped;                  /* by run_asked_to_stop */
    bool begun;                           /* reading begins inside the trace */
    uint64_t begun_after;                 /* number of instructions before that place */
    const struct trod_given_calls *given; /* the calls from there on; NULL: not known */
    void *pipe_workers;              /* own the metas that states point to; released with the run */
    uint64_t pace_rows;              /* of run_pace_init: set by tests only */
    struct trod_trace_progress done; /* of what is merged */
    uint64_t loaded;                 /* rows of saved runs that were merged */
    bool broken;                     /* one was merged in part only: it is damaged */
    struct trod_boundary read;       /* if rows are cut: the position after the last row read */
    bool met;                        /* there was a row in the region, or any row without one */
    bool warming;                    /* the last row read is part of the warm-up */

    bool planned, by_units;
    bool gives_up;  /* an analysis may find that parts are not possible (trod_analysis.recorded) */
    bool gave_up;   /* it has found that: files are read whole */
    bool in_order;  /* units decode; one instance gets the rows in order (in_order.c) */
    bool tentative; /* some units may turn out to begin with a wrong state */
    bool again;     /* one did: the run is repeated without such units */
    bool codeless; /* a unit met instructions without opcodes; right only if no unit met any with */
    uint32_t ticks;

    /* by units: the members below are guarded by lock, except a unit that a worker is reading */
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct run_piece *piece;
    struct run_unit **unit; /* by piece; NULL: not begun, or merged */
    size_t n_units, first_unit, next, merged, ahead;
    /* Of several processes: piece[] begins with the N_PIECES of the whole trace, the plan; those of
     * this process follow, and N_LINKS of them have a link. */
    size_t n_pieces;
    uint32_t n_links;
    enum run_sound *sound;             /* by file */
    size_t n_unsound;                  /* unsound files when pieces were planned */
    uint64_t lines_to, lines;          /* file being merged: an offset, and the lines before it */
    uint64_t records;                  /* file being merged: records of its merged pieces */
    bool isa_late;                     /* the instruction set may be said behind many rows */
    bool too_large;                    /* a piece is too large to be recorded */
    struct trod_batch *idle[RUN_IDLE]; /* in_order.c: batches to be reused */
    size_t n_idle;
    bool merging; /* a worker is merging, without holding the lock */
    struct run_share share;
    bool cut_short; /* a piece of the file ended with an error: its later pieces do not count */
    bool stop;
    int rc;
    struct run_worker *worker;
    unsigned n_workers;
    struct run_chain chain; /* has a lock of its own */
    struct run_assume assume;
};

/* ---- instance.c */

/* Prepare IN for shard SHARD of item IT of R, whose rows have META. 0 or an error. */
int engine_instance_begin(struct engine_instance *in, const struct trod_run *r,
                          const struct engine_item *it, const struct trod_meta *meta,
                          unsigned shard);
/* The same for the rows of a piece of the trace that covers CUT; they are recorded if IT needs it.
 */
int engine_instance_begin_part(struct engine_instance *in, const struct trod_run *r,
                               const struct engine_item *it, const struct trod_meta *meta,
                               enum run_cut cut);
/* Does a piece that covers CUT record for IT? Within a whole file, the order of streams is kept. */
static inline bool engine_item_records(const struct engine_item *it, enum run_cut cut)
{
    return it->records && (it->order == TROD_GLOBAL_ORDER || cut != RUN_WHOLE);
}
/* Bytes that IN, the instance of a piece, has recorded. */
size_t engine_instance_recorded(const struct engine_instance *in);
void engine_instance_end(struct engine_instance *in);
/* Feed the rows of CUT, and signal the boundary after them. Errors are kept in in->rc. */
void engine_instance_feed(struct engine_instance *in, const struct trod_batch *b,
                          const struct engine_cut *cut);
/* No more rows: end the last interval at AT, and settle N_FILES files. */
void engine_instance_close(struct engine_instance *in, const struct trod_boundary *at,
                           size_t n_files);
/* There are no more rows of FILE. */
void engine_instance_settle(struct engine_instance *in, uint32_t file);
/*
 * Add FROM to INTO. The only call allowed for FROM afterwards is engine_instance_end. RENUMBER: the
 * streams of FROM have the numbers of another trace. 0 or an error.
 */
int engine_instance_merge(struct engine_instance *into, struct engine_instance *from,
                          bool renumber);
/* The state of IN for KEY, of a stream (trod_stream_key) or of a core (engine_core_rows); created
 * if it is new. NULL: failed, see in->rc. */
void *engine_instance_stream(struct engine_instance *in, uint32_t key);
/* Make the state of all rows the sum of the streams' states again, if it is stale. 0 or an error.
 */
int engine_instance_refresh(struct engine_instance *in);
/* Write the results of IN into the open level of R. 0 or an error. */
int engine_instance_result(const struct engine_instance *in, struct trod_result *r);

/* ---- cores.c */

enum { ENGINE_CORES = 65536 };

/*
 * Rows [FROM, *END) of B ran on the core of *KEY: 0 where it is not known, else its number + 1. TO
 * bounds them. False: no memory.
 */
bool engine_core_rows(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                      uint32_t to, uint32_t *end, uint32_t *key);
/* Is one of these rows more than what every thread begins with? */
bool engine_core_ran(const struct trod_batch *b, uint32_t from, uint32_t to);
/* Write the list of the cores into R. 0 or an error. */
int engine_core_results(const struct engine_instance *in, struct trod_result *r);

/* ---- nothing.c */

enum { ENGINE_REASON = 256 };

/*
 * After reading: why a region, a warm-up or intervals cut the rows otherwise than asked for, as
 * TEXT, of SIZE bytes; empty: they did not. True if nothing is counted because of it.
 */
bool engine_nothing(const struct trod_run *r, char *text, size_t size);

/* ---- cuts.c */
/* The columns needed to cut rows of format F (or NULL) as OPT demands. */
uint32_t engine_cutter_columns(const struct trod_run_options *opt, const struct trod_format *f);
/* Set r->begun and r->begun_after from options.trace.begin. */
void engine_cutter_begun(struct trod_run *r);
void engine_cutter_init(struct engine_cutter *c, const struct trod_run *r);
/* Divide rows from *AT on of B into cuts. Returns the number of them in CUT; *AT becomes the row
 * after them. */
uint32_t engine_cutter_next(struct engine_cutter *c, const struct trod_batch *b, uint32_t *at,
                            struct engine_cut cut[ENGINE_CUTS]);

/* ---- asked.c: 0 or an error, reported */
/* TROD_OK unless the run has positions in time and its trace has no times. */
int run_check_times(const struct trod_run *r);
/* TROD_OK if item IT has results for the scopes and owners that the run asks for. */
int run_check_item(const struct trod_run *r, const struct engine_item *it);

/* ---- the three ways to go through the trace; each returns 0 or the first error */

/* One thread, one state for all rows, in the order of the trace. */
int run_serial(struct trod_run *r);
/* R->whole was opened with option ahead: keep that if all analyses are direct, else take it back.
 */
void run_ahead(struct trod_run *r);
/* One thread decodes, the others feed the instances. */
int run_pipe(struct trod_run *r);
/* All files or their parts, each by itself, on the workers. */
int run_units(struct trod_run *r);

/*
 * Decide whether units are used (r->by_units): the run must allow it, and there must be enough of
 * them. Plans the pieces, and selects those of this process. Only the first call has an effect. 0
 * or TROD_ERR_NOMEM.
 */
int run_plan_units(struct trod_run *r);
/* What the trace must be read as a whole for, in words; WHAT: the name of the analysis or file, if
 * it is one. NULL: nothing. */
const char *run_whole(const struct trod_run *r, const char **what);

/* The number of files found so far that several processes cannot read in pieces. */
size_t run_unsound(const struct trod_run *r);
/* Is there an analysis to which rows behind a gap would be those that follow? */
bool run_is_ordered(const struct trod_run *r);

/*
 * Allocate the instances of all items. The caller begins each, with the meta of its rows. 0 or
 * TROD_ERR_NOMEM.
 */
int run_instances(struct trod_run *r);
/* Begin the instances of each item for the whole trace: those that units are merged into, or
 * (ALONE) a single one. 0 or an error. */
int run_begin_items(struct trod_run *r, bool alone);
/* Drop everything read and planned. */
void run_forget(struct trod_run *r);

/* Feed one batch, cut, to the first instances of all items, or, if DIRECT, of those that must be
 * fed by the reading thread. */
int run_feed(struct trod_run *r, struct engine_cutter *cutter, const struct trod_batch *b,
             bool direct);

/* MERGED: rows of several files alternate. 0 or TROD_ERR_NOMEM. */
int run_decoder_begin(struct run_decoder *d, const struct trod_run *r, bool merged);
void run_decoder_end(struct run_decoder *d);

/* Has the caller of R asked to stop? It may do so on another thread or in a signal handler. */
static inline bool run_asked_to_stop(const struct trod_run *r)
{
    return r->opt.stop && __atomic_load_n(r->opt.stop, __ATOMIC_RELAXED);
}

/*
 * The next batch of T after the filter, with sites and streaks. 1, 2 where the run ends after it,
 * 0 at the end, or an error.
 */
int run_next(struct trod_run *r, struct trod_trace *t, struct run_decoder *d,
             struct trod_batch **b);

/* ---- assume.c */

/* May pieces of FILE assume what is before them? */
bool run_assume_ask(struct trod_run *r, size_t file);
/* T, of PIECE, which is not the first of its file, is to assume that. 0 or an error. */
int run_assume(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t);
/* U, which read PIECE, is merged next. Was it right in what it assumed? 1, 0, or TROD_ERR_NOMEM. */
int run_assumed(struct trod_run *r, struct run_unit *u, const struct run_piece *piece);
/* U has been merged, and has nothing but its trace: the piece behind it will be asked that. U NULL:
 * none will be. */
void run_assume_keep(struct trod_run *r, struct run_unit *u);
void run_assume_end(struct trod_run *r);

/* ---- chain.c */
void run_chain_init(struct run_chain *c);
/* Close the chain's trace, if any; LINKS pieces have begun. */
void run_chain_forget(struct trod_run *r, uint32_t links);
void run_chain_end(struct trod_run *r);
/*
 * Give T, the trace of PIECE, which has a link, the decoder state at the beginning of PIECE. Waits
 * for the pieces before it. Must be called for every such piece that is begun; T is NULL if it
 * could not be opened. 0 or an error, not reported: neither PIECE nor a later piece can be read by
 * itself.
 */
int run_chain_follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t);
/*
 * Pass over the files that this process shares with others, up to their last cuts, so that all
 * processes set r->sound alike. Waits until run_chain_follow was called for all pieces that have a
 * link; CUT_OFF: does not wait, since no further piece is begun. 0 or an error, not reported: the
 * findings of the other processes are not known.
 */
int run_chain_rest(struct trod_run *r, bool cut_off);

/* ---- lead.c */
/*
 * Cut plain file FILE of R into PIECES (RUN_PARTS at most) whose first rows may belong to
 * instructions before them. AT[k] becomes the offset of cut k, BEFORE[k] the offset from which rows
 * must be read to know those instructions. Returns the number of cuts; *AS as trod_trace_cuts.
 */
size_t run_lead_cuts(const struct trod_run *r, size_t file, size_t pieces, uint64_t *at,
                     uint64_t *before, struct trod_candidate *as);
/* Let U, which is to read PIECE, a part of a plain file, learn which instructions its first rows
 * belong to. 0 or an error, not reported: PIECE cannot be read by itself. */
int run_lead(const struct trod_run *r, const struct run_unit *u, const struct run_piece *piece);

/* ---- members.c */
/*
 * U has read PIECE, some members of an archive, and has met damage, there or where its file begins.
 * Each such unit tells of it, and numbers records, for itself: the file is to be read as a whole.
 * Several processes cannot know of each other's.
 */
bool run_damaged(const struct trod_run *r, const struct run_unit *u, const struct run_piece *piece);

/* ---- share.c */
/* The number of instances of IT that the recording states of units are merged into. */
unsigned run_takers(const struct trod_run *r, const struct engine_item *it);
/* Merge instance I of U, whose turn it is, into those of item I of R, with the help of idle
 * workers. The lock is not held. 0 or an error. */
int run_share_merge(struct trod_run *r, struct run_unit *u, size_t i);
/* Help to merge; the lock is held, and is released meanwhile. False: there was nothing to do. */
bool run_share_help(struct trod_run *r);
/* No more units are to be begun: help until all are merged. The lock is held. */
void run_share_rest(struct trod_run *r);

/* All rows up to AT were fed or merged: the instances of each item become one, in order. FILES: so
 * many files are to be settled. 0 or an error. */
int run_join(struct trod_run *r, const struct trod_boundary *at, size_t files);

/* ---- in_order.c */
/* Feed B, the next batch of U, to the instance of the run, at once or when it is the turn of U. 0,
 * 1 if the run was stopped, or an error. */
int run_order_rows(struct trod_run *r, struct run_unit *u, struct trod_batch *b);
/* Feed the waiting batches of U, whose turn it is, to the instance of the run. 0 or an error. */
int run_order_give(struct trod_run *r, struct run_unit *u);
void run_order_end(struct run_unit *u);
/* Free the batches kept for reuse. */
void run_order_forget(struct trod_run *r);

/* The columns that instances read: opcodes are often wanted for the sites only. */
static inline uint32_t run_slices(const struct trod_run *r)
{
    return r->opt.trace.want & ~(r->codes ? 0u : (uint32_t)TROD_COL_CODE);
}

/* Call the progress callback of the run, if it is due. */
void run_tick(struct trod_run *r);

#endif
