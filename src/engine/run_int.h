/*
 * run_int.h - the inside of a run: what is planned, and the pieces of work.
 *
 * An item is an analysis that is planned. An instance is an item, or one shard of it, with states:
 * one of all rows, and one for each stream where the scope or the user asks for that. Instances are
 * fed by a pass (serial, pipe.c) or belong to a unit (units.c), and end up in the items.
 */
#ifndef TROD_ENGINE_RUN_INT_H
#define TROD_ENGINE_RUN_INT_H

#include "core/keeper.h"
#include "engine/sites.h"
#include "engine/streaks.h"
#include "engine/unplaced.h"
#include "trod/run.h"

#include <pthread.h>
#include <stdatomic.h>

/* In uses of analyses, but no columns. */
enum { ENGINE_WANTS = TROD_WANT_STREAKS | TROD_WANT_MODULES | TROD_WANT_RAN };

struct engine_instance {
    const struct trod_analysis *analysis;
    const void *opt;
    struct trod_context context;
    struct trod_keeper keeper; /* what the states report */
    uint64_t base;             /* of the context */
    void *st;                  /* of all rows, or of the interval; NULL: not begun */
    void *total;               /* of the intervals that are over; NULL: none is */
    void **past;               /* the same by stream, or by core */
    uint32_t n_past;
    void **stream; /* by stream of context.meta, or by core; NULL: it has no rows */
    uint32_t n_streams;
    uint32_t *core_of; /* by stream: 1 + the core that it is on, as its markers say; 0: not said */
    uint32_t n_core_of;
    bool keyed;                    /* a state for each stream, or for each core */
    bool by_core;                  /* the latter */
    bool divided;                  /* there are intervals */
    bool begun;                    /* the one that goes on has rows */
    bool listed;                   /* somebody asked for their results */
    bool cpus;                     /* cores are the streams of the trace */
    bool both;                     /* those of streams do not make that of all rows */
    bool stale;                    /* st does not have what was merged into the streams */
    bool fresh;                    /* a state for each interval */
    struct engine_instance *parts; /* has the intervals, where they do not add up to this one */
    struct trod_result *intervals; /* a list item for each that is over; NULL: none */
    uint32_t file;                 /* whose rows were fed last, where states follow */
    int rc;                        /* the first error: it is not fed any more */
};

struct engine_item {
    const struct trod_analysis *analysis;
    const void *opt;
    void *own; /* a copy that opt points to, or NULL */
    unsigned shards;
    bool records;                     /* parts may be recorded (trod_analysis.records) */
    struct engine_instance *instance; /* SHARDS of them; after the run the first has everything */
    enum trod_scope scope;
    enum trod_order_need order;
};

/* Rows of a batch that are treated alike, and what ends after them. */
struct engine_cut {
    uint32_t from, to;
    bool fed;    /* false: outside of the region */
    bool before; /* of what is not fed: it lies before the region */
    bool warm;   /* part of the warm-up */
    bool ends;   /* AT ends after these rows */
    struct trod_boundary at;
};

enum { ENGINE_CUTS = 64 };

/* Where regions, warm-ups and intervals begin and end: goes through the rows of a run in order. */
struct engine_cutter {
    const struct trod_run_options *opt;
    struct trod_boundary now; /* after the row counted last */
    struct trod_boundary end; /* after the last row of the region so far; WARM: still warming up */
    uint64_t origin;          /* where the interval or the warm-up began, in its measure */
    uint64_t time0;           /* the first time of the region; TROD_NOWHERE: none so far */
    bool plain;               /* nothing to cut */
    bool inside_trace;        /* the first batch says how many rows come before it */
    bool begun;               /* a row was in the region */
    bool warm, inside;        /* in the warm-up; in the region */
    bool due;                 /* a row said a time after what goes on */
    bool ran;                 /* an instruction came: the last one, of STREAM, lies at PC */
    uint64_t pc;              /* TROD_NOWHERE: not said */
    uint32_t stream;
    bool over; /* the region has ended */
};

/* What a unit of work covers: a file, some members of an archive, or some bytes. */
enum run_cut { RUN_WHOLE, RUN_MEMBERS, RUN_BYTES };

/*
 * Parts of a file at most; of one whose parts are fed in their order; batches of these that are
 * kept to be filled again.
 */
enum { RUN_PARTS = 64, RUN_PARTS_IN_ORDER = 4096, RUN_IDLE = 64 };

struct run_piece {
    size_t file;
    size_t number; /* among the pieces of the whole trace */
    enum run_cut cut;
    struct trod_candidate as; /* what a plain file that is cut is */
    uint64_t from, to; /* members or offsets; the last piece of a plain file ends TROD_NOWHERE */
    uint64_t before;   /* offset from which rows lead in a part of a plain file; FROM: none do */
    uint64_t weight;   /* bytes, about */
    uint32_t part;
    uint32_t link; /* its number among those that go on from what came before; 0: it does not */
    bool chained;  /* so are all of its file but the first */
    bool last;     /* of its file */
};

/* Of a file whose parts several processes read: do they begin as thought? */
enum run_sound { RUN_UNKNOWN, RUN_SOUND, RUN_UNSOUND };

/* Who passes over files for the pieces that go on from what came before (chain.c). */
struct run_chain {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct trod_trace *trace; /* of the file that is passed over */
    size_t at;                /* the piece of the plan that its last cut begins */
    uint32_t links;           /* pieces that have begun */
    int failed;               /* why the pieces left of that file cannot begin; TROD_OK: they can */
    bool rest;                /* somebody sees to run_chain_rest */
};

/* What a thread that decodes goes on with from batch to batch. Parts are NULL where unwanted. */
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
    bool other;            /* they are not the same there */
    uint64_t first, given; /* the number of its first row; rows that were fed */
};

/* A piece of the trace, read by itself. */
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
    bool complete, fatal; /* fatal: nothing to merge */
    bool lost;            /* what was said before it began is needed here (engine_owner_lost) */
    bool gave_up;         /* so it is, of what an analysis knows */
    bool codeless;        /* engine_owner_codeless */
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
    struct trod_keeper opening; /* of whole: in a run by units the units report again */
    struct trod_sites *sites;   /* NULL: nobody wants them */
    struct engine_unplaced *unplaced;
    struct engine_item item[TROD_RUN_ITEMS];
    size_t n_items;
    bool owned;   /* somebody looks at the sites of what belongs to instructions */
    bool codes;   /* somebody wants the opcodes of all rows, not for the sites only */
    bool streaks; /* somebody wants them */
    bool gone, stopped;
    bool begun;                           /* reading begins inside the trace, */
    uint64_t begun_behind;                /* after so many instructions */
    const struct trod_given_calls *given; /* the calls from there on; NULL: not known */
    void *pipe_workers;              /* whose metas the states point to; released with the run */
    struct trod_trace_progress done; /* of what is merged */
    uint64_t loaded;                 /* rows of saved runs that were merged */
    struct trod_boundary read;       /* where rows are cut: after the last one that was read */
    bool met;                        /* rows of the region came, or of all where there is none */

    bool planned, by_units;
    bool gives_up;  /* an analysis may find that its parts will not do (trod_analysis.recorded), */
    bool gave_up;   /* and did: none of its files is parted any more */
    bool in_order;  /* units decode; the rows go to the only instance in their order (in_order.c) */
    bool tentative; /* there are units of which may turn out that they do not begin as thought */
    bool again;     /* one does not: all is done again without such units */
    bool codeless;  /* one has met instructions without opcodes: so are all, or one does not */
    uint32_t ticks;

    /* by units: what follows is guarded by lock, but for what a worker does with its unit */
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct run_piece *piece;
    struct run_unit **unit; /* by piece; NULL: not begun, or merged */
    size_t n_units, first_unit, next, merged, ahead;
    /* in parts: pieces of the whole trace, the plan, which stand before those of this process; how
     * many of these have a link */
    size_t n_pieces;
    uint32_t n_links;
    enum run_sound *sound;             /* by file */
    size_t n_unsound;                  /* when pieces were planned */
    uint64_t lines_to, lines;          /* of the file that is merged: lines up to this offset */
    uint64_t records;                  /* of its pieces that are merged */
    bool too_large;                    /* a piece is, to be recorded */
    struct trod_batch *idle[RUN_IDLE]; /* in_order.c: to be filled again */
    size_t n_idle;
    bool merging;   /* somebody merges, without the lock */
    bool cut_short; /* a piece of it ended with an error: what follows does not count */
    bool stop;
    int rc;
    struct run_worker *worker;
    unsigned n_workers;
    struct run_chain chain; /* has a lock of its own */
};

/* ---- instance.c */

/* Prepare IN for item IT of R, whose rows have META. SHARD of its shards. 0 or an error. */
int engine_instance_begin(struct engine_instance *in, const struct trod_run *r,
                          const struct engine_item *it, const struct trod_meta *meta,
                          unsigned shard);
/* The same for the rows of a piece of the trace, which are recorded where need be. */
int engine_instance_begin_part(struct engine_instance *in, const struct trod_run *r,
                               const struct engine_item *it, const struct trod_meta *meta,
                               enum run_cut cut);
/* Does a piece that covers CUT record for IT? The order of a stream is that of whole files. */
static inline bool engine_item_records(const struct engine_item *it, enum run_cut cut)
{
    return it->records && (it->order == TROD_GLOBAL_ORDER || cut != RUN_WHOLE);
}
/* Bytes that IN, a part, has recorded. */
size_t engine_instance_recorded(const struct engine_instance *in);
void engine_instance_end(struct engine_instance *in);
/* Feed the rows of CUT, and tell what ends after them. Errors are kept in in->rc. */
void engine_instance_feed(struct engine_instance *in, const struct trod_batch *b,
                          const struct engine_cut *cut);
/* No more rows: the last interval ends, rows of N_FILES files are settled. */
void engine_instance_close(struct engine_instance *in, const struct trod_boundary *at,
                           size_t n_files);
/* FILE will not come again. */
void engine_instance_settle(struct engine_instance *in, uint32_t file);
/*
 * Add FROM to INTO. FROM keeps its states, but is only ended thereafter. RENUMBER: FROM's streams
 * have the numbers of another trace. 0 or an error.
 */
int engine_instance_merge(struct engine_instance *into, struct engine_instance *from,
                          bool renumber);
/* The state of STREAM of IN, or of a core, made if it is new; NULL: in->rc says why. */
void *engine_instance_stream(struct engine_instance *in, uint32_t stream);
/* What the streams have together, where they were merged since. 0 or an error. */
int engine_instance_refresh(struct engine_instance *in);
/* What it found, into the open level of R. 0 or an error. */
int engine_instance_result(const struct engine_instance *in, struct trod_result *r);

/* ---- cores.c */

enum { ENGINE_CORES = 65536 };

/*
 * Rows [FROM, *END) of B ran on the core of *KEY: 0 where it is not known, else its number + 1. TO
 * bounds them. False: no memory.
 */
bool engine_core_rows(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                      uint32_t to, uint32_t *end, uint32_t *key);
/* Are some of these rows more than what a thread begins with? */
bool engine_core_ran(const struct trod_batch *b, uint32_t from, uint32_t to);
/* The list of the cores into R. 0 or an error. */
int engine_core_results(const struct engine_instance *in, struct trod_result *r);

/* ---- cuts.c */
/* The columns that tell where rows of format F (or NULL) are cut as OPT says. */
uint32_t engine_cutter_columns(const struct trod_run_options *opt, const struct trod_format *f);
/* Whether reading begins inside the trace, and after how many instructions: by
 * options.trace.begin. */
void engine_cutter_begun(struct trod_run *r);
void engine_cutter_init(struct engine_cutter *c, const struct trod_run *r);
/* Rows from *AT on of B as cuts: how many there are in CUT; *AT becomes the row after them. */
uint32_t engine_cutter_next(struct engine_cutter *c, const struct trod_batch *b, uint32_t *at,
                            struct engine_cut cut[ENGINE_CUTS]);

/* ---- asked.c: 0 or an error, reported */
/* Positions of the run are in times, which its trace does not have. */
int run_check_times(const struct trod_run *r);
/* Item IT has no results for whom, or by what, the run is asked for. */
int run_check_item(const struct trod_run *r, const struct engine_item *it);

/* ---- the three ways to go through the trace; each returns 0 or the first error */

/* One thread, one state for all rows, in the order of the trace. */
int run_serial(struct trod_run *r);
/* Of a trace that is opened so: a thread decodes where all analyses are fed by who reads. */
void run_ahead(struct trod_run *r);
/* One thread decodes, the others feed the instances. */
int run_pipe(struct trod_run *r);
/* All files or their parts, each by itself, on the workers. */
int run_units(struct trod_run *r);

/*
 * Decide whether units are used (r->by_units): the run must allow it, and there must be enough of
 * them. Makes them, and takes those of this part. Once; calls that follow do nothing. 0 or
 * TROD_ERR_NOMEM.
 */
int run_plan_units(struct trod_run *r);

/* Files of which is known by now that they cannot be read in pieces by several processes. */
size_t run_unsound(const struct trod_run *r);

/*
 * Memory for the instances of all items. The caller begins each, with the meta that its rows come
 * with. 0 or TROD_ERR_NOMEM.
 */
int run_instances(struct trod_run *r);
/* Begin the only instance of each item for the whole trace. 0 or an error. */
int run_begin_items(struct trod_run *r);
/* Nothing has been read: as before the run was planned. */
void run_forget(struct trod_run *r);

/* One batch, cut, to the first instances of the items, or of those that must have it direct. */
int run_feed(struct trod_run *r, struct engine_cutter *cutter, const struct trod_batch *b,
             bool direct);

/* MERGED: rows of several files come by turns. 0 or TROD_ERR_NOMEM. */
int run_decoder_begin(struct run_decoder *d, const struct trod_run *r, bool merged);
void run_decoder_end(struct run_decoder *d);

/*
 * The next batch of T after the filter, with sites and streaks. 1, 2 where the run ends after it,
 * 0 at the end, or an error.
 */
int run_next(struct trod_run *r, struct trod_trace *t, struct run_decoder *d,
             struct trod_batch **b);

/* ---- chain.c */
void run_chain_init(struct run_chain *c);
/* No file is passed over; LINKS pieces have begun. */
void run_chain_forget(struct trod_run *r, uint32_t links);
void run_chain_end(struct trod_run *r);
/*
 * T, the trace of PIECE, which has a link, goes on where it begins. Waits for the pieces before; to
 * be called for every such piece that is begun, T NULL where it could not be opened. 0 or an error,
 * not reported: PIECE cannot be read by itself, nor what is after it.
 */
int run_chain_follow(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t);
/*
 * Files of which this process reads some pieces and others the rest are passed over to their last
 * cuts, so that all processes find the same, which r->sound says. After run_chain_follow was called
 * for all pieces that have a link, or CUT_OFF: no piece is begun any more. 0 or an error, not
 * reported: what others find is not known.
 */
int run_chain_rest(struct trod_run *r, bool cut_off);

/* ---- lead.c */
/*
 * Where plain file FILE of R is cut into PIECES, RUN_PARTS at most, whose first rows may belong
 * to instructions before them: into AT; the rows from BEFORE[k] on lead in what begins at AT[k].
 * Returns how many; *AS as trod_trace_cuts.
 */
size_t run_lead_cuts(const struct trod_run *r, size_t file, size_t pieces, uint64_t *at,
                     uint64_t *before, struct trod_candidate *as);
/* U, which is to read PIECE, a part of a plain file, learns what its first rows belong to. 0 or an
 * error, not reported: PIECE cannot be read by itself. */
int run_lead(const struct trod_run *r, const struct run_unit *u, const struct run_piece *piece);

/* ---- in_order.c */
/* B, the next batch of U, to the instance of the run: now or later. 0, 1 where the run ends, or an
 * error. */
int run_order_rows(struct trod_run *r, struct run_unit *u, struct trod_batch *b);
/* What waits of U, whose turn it is, to the instance of the run. 0 or an error. */
int run_order_give(struct trod_run *r, struct run_unit *u);
void run_order_end(struct run_unit *u);
/* No batches are kept. */
void run_order_forget(struct trod_run *r);

/* Slices that instances look at: opcodes are often there for the sites alone. */
static inline uint32_t run_slices(const struct trod_run *r)
{
    return r->opt.trace.want & ~(r->codes ? 0u : (uint32_t)TROD_COL_CODE);
}

/* Tell who wants to know. */
void run_tick(struct trod_run *r);

#endif
