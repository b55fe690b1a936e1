/*
 * schedule.h - what the analysis "schedule" knows of cores and of what ran on them (schedule.c),
 * its parts (rows.c, turns.c, lookup.c, chart.c, hist.c), its result (schedule_result.c) and the
 * layout of another tool (like.c).
 */
#ifndef TROD_ANALYSIS_SCHEDULE_H
#define TROD_ANALYSIS_SCHEDULE_H

#include "trod/analysis.h"
#include "trod/buf.h"

enum {
    SCH_SWITCH_BIN = 50000, /* instructions */
    SCH_LATENCY_BIN = 5,    /* microseconds */
    SCH_LETTER = 500000,    /* instructions that a letter stands for */
    SCH_LETTERS = 26,
    SCH_OUTS = 4,
    SCH_BUCKETS = 512,
    SCH_NOT_THERE = TROD_F_SYNTHETIC | TROD_F_NOFETCH /* flags of what counts as no instruction */
};

/* Number of the core of what runs on a cpu that the trace does not know. */
#define SCH_UNKNOWN UINT32_MAX
#define SCH_NONE    UINT32_MAX
#define SCH_IDLE    (UINT32_MAX - 1)
#define SCH_WAIT    (UINT32_MAX - 2) /* for another core */

enum sch_like {
    SCH_LIKE_NONE,
    SCH_LIKE_SCHEDULE_STATS,
    SCH_LIKE_SERIAL_SCHEDULE,
    SCH_LIKE_CPU_SCHEDULE,
    SCH_LIKE_RECORD_FILE
};

struct sch_options {
    uint64_t width;
    int like;
    bool chart;
};

/* How often a value was in the bin that begins at AT; ascending. */
struct sch_bin {
    uint64_t at, n;
};

struct sch_hist {
    struct sch_bin *bin;
    size_t n, cap;
};

/* A histogram for each of several keys, in the order they came. */
struct sch_keyed {
    uint64_t key;
    struct sch_hist hist;
};

struct sch_map {
    struct sch_keyed *item;
    size_t n, cap;
};

/* A thread that left a core. */
struct sch_out {
    uint32_t thread;
    uint64_t start, instructions; /* of the thread: number of the first, and how many */
    int64_t call, latency;        /* -1: none */
    bool voluntary, direct;
};

/* A line of a schedule file. NUMBER tells turns at one place apart; 0 for lines of markers. */
struct sch_entry {
    uint64_t tid, time, cpu, start, number;
};

struct sch_thread {
    uint64_t tid, instructions, waited; /* microseconds in system calls that gave the core away */
    uint64_t time;                      /* last time stamp, counted on where it wraps */
    uint64_t before;                    /* that before the system call */
    uint64_t direct;                    /* thread that it switches to; TROD_NOWHERE */
    uint64_t switches;
    uint32_t core;                      /* that it runs on, or ran on last; SCH_NONE */
    uint32_t ran;                       /* the last one whose number is known; SCH_NONE */
    uint32_t letter;                    /* ordinal */
    uint32_t calls, blocking, requests; /* since its last instruction */
    int64_t call;                       /* the system call that is open; -1: none */
    uint64_t cores;                     /* on how many cores it ran */
    bool known, stamped, gone;          /* stamped: a time stamp came behind the call */
    bool maybe;                         /* a call that may block came since its last instruction */
    struct sch_entry line;              /* the last one of a schedule file */
    bool lined;
};

struct sch_core {
    uint64_t number;           /* as the trace names it */
    uint32_t thread;           /* SCH_NONE, SCH_IDLE, SCH_WAIT */
    bool left, left_voluntary; /* what it runs by its last row has gone to another core */
    uint64_t instructions, user, idle, waits;
    uint64_t since, start; /* user instructions since the last switch; number of the first */
    uint64_t switches, voluntary, direct;
    uint64_t to_input, to_idle, from_idle;
    uint64_t calls, blocking, requests, migrations;
    uint64_t steps, drawn; /* rows and idle steps; as far as the chart goes */
    uint64_t due;          /* as far as it is to go: at the last instruction */
    uint64_t more, kernel; /* instructions, those of the kernel among them, to be added (rows.c) */
    uint32_t stream;       /* of instructions of what it runs that change nothing but counters */
    bool calm;             /* those of the user as well as those of the kernel */
    uint64_t round;        /* of the state, when it was met in it */
    uint64_t segment;      /* instructions, idle steps, since the last letter */
    struct sch_hist since_hist;
    struct sch_map by_thread, switched, stayed;
    uint32_t *threads; /* in the order they came */
    size_t n_threads, cap_threads;
    struct trod_buf letters;
    struct sch_out out[SCH_OUTS];
    struct sch_bin *bucket; /* of the chart: at = thread, n = weight */
    struct sch_run *run;    /* --like record_file */
    size_t n_runs, cap_runs;
};

/* What a core ran without a break, for a recorded schedule: THREAD, or SCH_IDLE for STEPS. */
struct sch_run {
    uint64_t start, stop, time, steps; /* stop 0: as far as it went */
    uint32_t thread;
};

/* What had happened when an interval ended. */
struct sch_interval {
    uint64_t number, end; /* instructions of all threads */
    uint64_t instructions, switches, voluntary, migrations, idle, waits;
};

struct sch_state {
    const struct sch_options *opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    struct sch_thread *thread;
    uint32_t *by_stream; /* stream: thread + 1 */
    size_t n_threads, cap_threads, n_streams;
    struct sch_core *core;
    size_t n_cores, cap_cores;
    size_t n_ranked; /* the first ones, whose numbers are their places */
    uint64_t instructions, position;
    uint64_t time;         /* last time stamp of all, where they wrap */
    uint64_t origin, span; /* of the chart: time of its beginning; of a bucket */
    uint64_t room;         /* times behind ORIGIN for which it has buckets; 0: it has not begun */
    bool placed;           /* an order of the trace says the core */
    bool said;             /* each row says its core: by that order, or by its file */
    bool listed;           /* a schedule file is wanted of what the markers of cpus say */
    bool charted, marked;
    uint32_t last_core;      /* of the last instruction */
    uint64_t round;          /* rounds of turns looked at (turns.c) */
    struct sch_entry *entry; /* --like serial_schedule, cpu_schedule */
    size_t n_entries, cap_entries;
    struct sch_interval *interval;
    size_t n_intervals, cap_intervals;
};

/* --- rows.c --- */
/* As the analysis' feed. */
int sch_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Is a file wanted that has a line for each turn? */
static inline bool sch_lines(const struct sch_state *s)
{
    return s->opt->like == SCH_LIKE_SERIAL_SCHEDULE || s->opt->like == SCH_LIKE_CPU_SCHEDULE;
}

static inline bool sch_is_known(const struct sch_core *c)
{
    return c->number != SCH_UNKNOWN;
}

/* Write the number of C to an open row of R. */
static inline void sch_put_core(const struct sch_core *c, struct trod_result *r)
{
    if (sch_is_known(c))
        trod_result_u64(r, NULL, c->number);
    else
        trod_result_str(r, NULL, "unknown");
}

/* --- turns.c --- */
/* Rows [.., TO) of a batch by what they are, as far as counters go; the first from a place on that
 * is more. */
struct sch_turns {
    uint32_t stop, to;
    uint8_t kind[TROD_BATCH_ROWS];
};

/* Look at rows [FROM, TO) of B. */
void sch_turns_begin(struct sch_turns *t, const struct trod_batch *b, uint32_t from, uint32_t to);
/*
 * Count rows from AT on that change nothing but counters, on cores that the order of the trace
 * says. Returns the first other one.
 */
uint32_t sch_turns(struct sch_state *s, struct sch_turns *t, const struct trod_batch *b,
                   uint32_t at);

/* --- lookup.c --- */
/* Are the files of the trace its cores? */
bool sch_sharded(const struct trod_meta *m);
/* The thread of STREAM; NULL: no memory. */
struct sch_thread *sch_thread_of(struct sch_state *s, const struct trod_meta *m, uint32_t stream);
/* The core called NUMBER, or the one that all share beyond 4096; NULL: no memory. */
struct sch_core *sch_core_of(struct sch_state *s, uint64_t number);
/* The core that a row of T is on. */
struct sch_core *sch_core_at(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                             const struct sch_thread *t);

/* --- hist.c --- */
bool sch_count(struct sch_hist *h, uint64_t value, uint64_t bin, uint64_t n);
bool sch_add(struct sch_hist *into, const struct sch_hist *from);
struct sch_hist *sch_of(struct sch_map *m, uint64_t key);
void sch_map_free(struct sch_map *m);
/*
 * The order in which libstdc++'s unordered containers give N keys (whose hash they are) that were
 * put in one after the other: indices to OUT. False: no memory.
 */
bool sch_unordered(const uint64_t *key, size_t n, uint32_t *out);

/* --- chart.c --- */
/* On C, THREAD (or SCH_IDLE, SCH_WAIT) was there from FROM to TO. */
bool sch_chart(struct sch_state *s, struct sch_core *c, uint64_t from, uint64_t to,
               uint32_t thread);
/* Is TIME one that goes into the chart as it is? */
static inline bool sch_fits(const struct sch_state *s, uint64_t time)
{
    return time - s->origin - 1 < s->room;
}

int sch_chart_print(const struct sch_state *s, struct trod_buf *out);
void sch_chart_result(const struct sch_state *s, struct trod_result *r);

/* The letter of THREAD. */
char sch_letter(const struct sch_state *s, uint32_t thread);
/* Cores in the order of their numbers: indices to OUT. */
void sch_sorted(const struct sch_state *s, uint32_t *out);

/* The numbers of all cores, so far. */
struct sch_interval sch_sum(const struct sch_state *s);
int sch_result(const void *st, struct trod_result *r);
int sch_like(const struct sch_state *s, struct trod_buf *out);

/* --- files.c --- */
/* C runs THREAD (or SCH_IDLE) from its instruction START on. False: no memory. */
bool sch_record_begin(struct sch_core *c, uint32_t thread, uint64_t start);
/* The file that --like asks for. */
int sch_file(const struct sch_state *s, struct trod_buf *out);

#endif
