/*
 * trace.h - a trace: a file, several files or a directory; their streams and the order between
 * them.
 *
 * Implements docs/design.md, "The central types". This is what commands and analyses read from.
 */
#ifndef TROD_TRACE_H
#define TROD_TRACE_H

#include "trod/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_trace;
struct trod_begin;

enum trod_order {
    TROD_ORDER_FILE,
    TROD_ORDER_TIME,
    TROD_ORDER_SYNC,
    TROD_ORDER_RECORDED,
    TROD_ORDER_DYNAMIC
};

enum { TROD_MOST_CORES = 4096 };

struct trod_trace_options {
    size_t struct_size;  /* sizeof the struct; 0 stands for its size in version 0 */
    const char *from;    /* as in struct trod_reader_options */
    uint32_t want;       /* columns somebody needs; 0: all */
    uint32_t batch_rows; /* rows a batch; 0: TROD_BATCH_ROWS; raised to what any record needs */
    enum trod_order order;
    uint32_t cores; /* DYNAMIC: cores that files are scheduled onto as threads, at most
                       TROD_MOST_CORES; 0: 4 */
    struct trod_beside_options beside; /* files beside the inputs */
    struct trod_input_options input;
    uint64_t skip_rows;         /* begin behind so many rows (of a trace of one file: quickly) */
    uint64_t skip_instructions; /* begin each file behind so many instructions */
    /*
     * DYNAMIC and RECORDED: a core that had nothing to run says so before its next row, and at the
     * end: a MARKER row with TROD_F_SYNTHETIC, sub TROD_DRM_CORE_IDLE and value = idle steps, of no
     * thread; TROD_DRM_CORE_WAIT where it waited for other cores. RECORDED goes by the schedule
     * beside the trace in lock-step then.
     */
    bool idle;
    /*
     * RECORDED: the schedule file to go by instead of the one beside the trace; a turn ends before
     * the instruction that the next one of the same thread begins with, and rows say the core.
     * NULL: the one beside it. It may be a recorded schedule of DynamoRIO's scheduler (a zip
     * archive of output.NNNN), which is gone by in lock-step.
     */
    const char *schedule;
    /*
     * RECORDED: the cores take turns, a row each, and wait for each other as the schedule says
     * (shared/specs/drmemtrace.md, section 16.2); rows say the core: 0, 1, ... in the order of the
     * cpus. Otherwise one turn comes behind the other.
     */
    bool lockstep;
    /*
     * DYNAMIC: instructions after which a thread has to make room, 0: 20 000 000; for how
     * many thousandths of the time that a system call took its thread blocks, 0: 100; and whether
     * threads are given to their end when no more than a tenth of them is left, where the scheduler
     * stops otherwise, with a warning.
     */
    uint64_t quantum;
    uint32_t block_scale;
    bool all_inputs;
    /*
     * DYNAMIC: on each core as much time passes as it ran instructions and was idle, as where
     * DynamoRIO simulates cores in parallel; otherwise instructions of any core are time for all.
     */
    bool parallel;
    /*
     * A thread of its own decodes rows while the caller works on those before. Rows, meta and
     * problems come as without it, and so does the trace's end where the caller asks for no more.
     * Regular files, in orders without cores; otherwise it makes no difference. Batches have no
     * window (bytes): slices point to their own pool. trod_trace_limit and marks are for traces
     * without it.
     */
    bool ahead;
    /*
     * FILE: where in these files reading begins, from an index of them (trod_nav_begin); NULL: at
     * the beginning. Rows keep their numbers. It outlives the opening.
     */
    const struct trod_begin *begin;
};

/*
 * Open the N files or directories PATHS ("-": standard input) as one trace. OPT may be NULL.
 * Returns what trod_input_open and trod_reader_open return, or TROD_ERR_UNSUPPORTED (order not
 * possible for this format). All reported.
 */
int trod_trace_open(struct trod_trace **out, const char *const *paths, size_t n,
                    const struct trod_trace_options *opt, struct trod_diag *diag);

/*
 * Open input FILE of WHOLE (0 to trod_trace_files() - 1) as a trace of its own, in file order, with
 * the same options but INPUT (NULL: that as well); its streams have the file number they have in
 * WHOLE. WHOLE is only looked at: several threads may do this at once, each with a DIAG of its own.
 * For files that can be opened again (trod_trace_rewindable). Returns what trod_trace_open returns.
 */
int trod_trace_open_file(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         const struct trod_input_options *input, struct trod_diag *diag);
/*
 * As trod_trace_open_file for part PART of the file: members [FROM, TO) of an archive (see
 * trod_reader_part). meta->part is PART.
 */
int trod_trace_open_part(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         uint32_t part, size_t from, size_t to,
                         const struct trod_input_options *input, struct trod_diag *diag);
/*
 * Into how many members of at least TROD_WINDOW bytes input FILE of WHOLE could be parted: 1 where
 * it is no archive, or its format cannot begin in the middle.
 */
size_t trod_trace_members(const struct trod_trace *whole, size_t file);
/*
 * Offsets at which input FILE of WHOLE, a plain file, can be parted into pieces of PIECE bytes or
 * more, ascending, into CUT: at most MOST of them. Returns how many; they depend on nothing but the
 * file, PIECE and MOST. 0 where it is small or its format cannot begin in the middle, and where it
 * is compressed, unless that may be (PACKED) and it has several frames or members (see
 * trod_input_decoded); offsets are those of what is decoded then. Damage to the compression ends
 * such a file: what pieces behind it give does not count.
 * *AS is what the file is, for trod_trace_open_bytes.
 */
size_t trod_trace_cuts(const struct trod_trace *whole, size_t file, uint64_t piece, bool packed,
                       uint64_t *cut, size_t most, struct trod_candidate *as);
/* The bytes [FROM, TO) of a file, between two of its cuts (FROM 0: its beginning, TO TROD_NOWHERE:
 * its end). */
struct trod_stretch {
    const struct trod_candidate *as; /* what the file was found to be; outlives the trace */
    uint32_t part;                   /* for meta->part */
    uint64_t from, to;
};
/*
 * As trod_trace_open_file for stretch S of the file. Problems have line numbers and record numbers
 * that count from its beginning.
 */
int trod_trace_open_bytes(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_stretch *s, const struct trod_input_options *input,
                          struct trod_diag *diag);
/*
 * For formats whose parts go on from what came before (struct trod_parts of format.h): T, a trace
 * of all of a file by trod_trace_open_bytes that no rows were read of, passes over its records up
 * to the offset TO, a cut of the file, and from there on when it is called again. Returns 0, or an
 * error, which is not reported: the rows behind are not to be had in parts.
 */
int trod_trace_pass(struct trod_trace *t, uint64_t to);
/*
 * T, by trod_trace_open_bytes a trace of the part that begins where FROM has passed to, begins with
 * what FROM knows. Nothing was read of T yet, and the wants of both are the same. Returns 0, or an
 * error, which is not reported: TROD_ERR_UNSUPPORTED where they are no such traces, or
 * TROD_ERR_NOMEM; T can then only be closed.
 */
int trod_trace_fork(struct trod_trace *t, const struct trod_trace *from);
/* Ends of lines in the bytes [FROM, TO) of input FILE of WHOLE, a plain file. */
uint64_t trod_trace_lines(const struct trod_trace *whole, size_t file, uint64_t from, uint64_t to);
/* Are all inputs regular files? Pipes can be read only once. */
bool trod_trace_rewindable(const struct trod_trace *t);

/*
 * The next rows: 1 and *BATCH, 0 at the end, or an error (see trod_reader_next). *BATCH belongs to
 * the trace, may be changed by trod_batch_keep, and is valid until the next call.
 */
int trod_trace_next(struct trod_trace *t, struct trod_batch **batch);

/*
 * Keep the batch that trod_trace_next gave last: it belongs to the caller from here on
 * (trod_batch_free), who may read its columns and its pool for ever. What bytes, shared and meta of
 * the batch point to stays the trace's, as before. SPARE, a batch taken from T before, becomes T's
 * and is filled by the next call in its place; NULL: T makes a new one. Returns 0,
 * TROD_ERR_UNSUPPORTED (the rows are a window on other batches, as in the orders TIME, SYNC and
 * RECORDED: copy them; nothing is reported) or TROD_ERR_NOMEM; then nothing has changed hands.
 */
int trod_trace_take(struct trod_trace *t, struct trod_batch *spare);

/*
 * Change the columns wanted (0: all), before the first trod_trace_next: where what somebody needs
 * depends on the format, which is known once the trace is open.
 */
void trod_trace_want(struct trod_trace *t, uint32_t want);
/*
 * Of what is wanted only SLICES are followed (code, data, text, detail, raw; all, if it is not
 * called), and raw of NOTE rows: of other columns rows say whether they have them, and slices lead
 * nowhere. Who decodes ahead need not copy them. Before the first trod_trace_next.
 */
void trod_trace_slices(struct trod_trace *t, uint32_t slices);
/*
 * Who decodes ahead in the order of the files gives batches with their window (bytes) and what
 * drivers share, where slices have the offsets that they have without a thread. Before the first
 * trod_trace_next.
 */
void trod_trace_windows(struct trod_trace *t);
/* The caller decodes for itself after all. Before the first trod_trace_next. */
void trod_trace_alone(struct trod_trace *t);

/*
 * The next call of trod_trace_next gives at most ROWS rows, where the order can do so (that of the
 * files) and the format's records have no more. Which rows come is the same whatever their number.
 */
void trod_trace_limit(struct trod_trace *t, uint32_t rows);

/* An entry of a schedule file: THREAD runs on CPU from its instruction START (from 0) on, at TIME.
 */
struct trod_schedule_entry {
    uint64_t thread, time, cpu, start;
};

/*
 * The entries of the schedule file beside T, as they come: of all cpus (SERIAL), or cpu by cpu.
 * Where a trace has windows in folders of their own, those of each, one after the other.
 * Returns 1 with *OUT (to be freed by the caller), *N and *PATH (which belongs to T), 0 when there
 * is no such file, or an error of reading it, reported.
 */
int trod_trace_schedule(const struct trod_trace *t, bool serial, struct trod_schedule_entry **out,
                        size_t *n, const char **path, struct trod_diag *diag);

/*
 * Call EACH for every stretch of code that a list of modules beside T names (drmemtrace:
 * modules.log, or the list of option beside); the path is valid during the call. Returns 0 (also
 * where there is no such list), what EACH returned but 0, TROD_ERR_USAGE (options of another
 * version, reported) or TROD_ERR_NOMEM. A list that cannot be read is a warning to DIAG.
 */
int trod_trace_modules(const struct trod_trace *t,
                       int (*each)(void *user, const struct trod_module *m), void *user,
                       struct trod_diag *diag);

/* Meta shared by all files; grows while reading. */
const struct trod_meta *trod_trace_meta(const struct trod_trace *t);
/* PART, a part of T that was opened by itself, has been read: trod_meta_learn for T's meta. */
int trod_trace_learn(struct trod_trace *t, const struct trod_trace *part);
const struct trod_format *trod_trace_format(const struct trod_trace *t);
const void *trod_trace_format_options(const struct trod_trace *t);
/* The diag that T was opened with, which belongs to the caller of trod_trace_open. May be NULL. */
struct trod_diag *trod_trace_diag(const struct trod_trace *t);

/* Files, and facts of file I. The input is NULL before it is opened and after its end. */
size_t trod_trace_files(const struct trod_trace *t);
const char *trod_trace_path(const struct trod_trace *t, size_t i);
/* Bytes of file I as it lies there; TROD_NOWHERE where that is unknown (a pipe). */
uint64_t trod_trace_bytes(const struct trod_trace *t, size_t i);

struct trod_trace_progress {
    uint64_t rows;
    uint64_t bytes, total; /* of the files themselves; total TROD_NOWHERE if unknown */
    uint64_t decoded;      /* bytes after the filters */
    uint64_t skipped;      /* undecodable bytes */
    const char *filters[TROD_FILTER_DEPTH]; /* of the first file, NULL-terminated if fewer */
};
void trod_trace_progress(const struct trod_trace *t, struct trod_trace_progress *p);

void trod_trace_close(struct trod_trace *t);

#ifdef __cplusplus
}
#endif

#endif
