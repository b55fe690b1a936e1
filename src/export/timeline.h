/*
 * timeline.h - calls over time: spans of activations, counters of accesses, flows of
 * synchronization, as many as a viewer can open.
 *
 * Implements docs/exporting.md, "Calls over time". When there are more spans than the limit allows,
 * the shortest are dropped: those below the least power of two that leaves few enough. What is kept
 * does not depend on when that was found out: as long as the clock is not decided, spans are kept
 * that either clock would keep. Memory does not grow beyond twice the limit.
 */
#ifndef TROD_EXPORT_TIMELINE_H
#define TROD_EXPORT_TIMELINE_H

#include "export/lanes.h"
#include "export/text.h"

/* A position: what the trace says, and what was executed by then. */
struct export_when {
    uint64_t time;        /* in ticks (callstack/ticks.h); TROD_NOWHERE: not known */
    uint64_t instruction; /* of the stream, from 0 */
};

struct export_span {
    struct export_when begin, end;
    uint32_t lane, function, depth;
};

struct export_signal {
    struct export_when at;
    uint64_t address, flow; /* FLOW: from 1, the same number for a signal and the waits for it */
    uint32_t lane;
    bool wait;
};

enum { EXPORT_BUCKETS = 1024 };

/* Accesses by time, or instructions: buckets of a width that doubles when they are too many. */
struct export_buckets {
    uint64_t width, first, n; /* of a bucket; number of the first one; how many */
    uint64_t reads[EXPORT_BUCKETS], writes[EXPORT_BUCKETS];
};

enum export_clock { EXPORT_CLOCK_AUTO, EXPORT_CLOCK_TIME, EXPORT_CLOCK_INSTRUCTIONS };

/* What views of a timeline have in common. */
struct export_timeline_options {
    uint64_t limit; /* events */
    int clock;      /* enum export_clock */
};

extern const struct trod_option export_timeline_options[];
extern const struct export_timeline_options export_timeline_defaults;

/* Where a stream is. */
struct export_here {
    uint64_t instructions; /* executed */
    uint64_t time;         /* of the last row that said one; TROD_NOWHERE: none did */
};

struct export_timeline {
    struct trod_export_context c;
    struct export_lanes lanes;
    struct export_span *span;
    size_t n, cap, most;
    /*
     * Spans by the bits of their length, in time (as the first time of the trace counts it) and in
     * instructions; those of fewer bits are dropped.
     */
    uint64_t by_length[2][65];
    unsigned least[2];
    struct export_signal *signal;
    size_t n_signals, cap_signals;
    uint64_t signals_dropped;
    struct export_map flows;
    struct export_buckets *buckets[2]; /* in time, in instructions */
    struct export_here *here;          /* by stream */
    uint32_t n_here;
    enum export_clock clock; /* AUTO: not decided so far */
    uint8_t unit;            /* of the first time */
    int power;               /* a tick is 10^POWER seconds, or of what the unit counts */
    int coarse;              /* ticks of the first time are 10^COARSE of these */
    bool timed, back;        /* a time was seen; one went back */
    uint64_t base;           /* taken off all times */
};

int export_timeline_init(struct export_timeline *t, const struct export_timeline_options *o,
                         const struct trod_export_context *c);
int export_timeline_feed(struct export_timeline *t, const struct trod_batch *b, uint32_t from,
                         uint32_t to);
/* What the times of a view are: numbers of JSON, or whole nanoseconds, fewer than 2^63. */
enum export_times { EXPORT_DOUBLES, EXPORT_NANOSECONDS };

/*
 * No more rows: the clock is decided, spans are sorted, what was dropped is reported. Times that
 * TIMES cannot say begin at 0.
 */
int export_timeline_end(struct export_timeline *t, enum export_times times,
                        struct trod_result *result);
void export_timeline_fini(struct export_timeline *t);

/* A position: in ticks, from the base on, or in instructions. */
uint64_t export_at(const struct export_timeline *t, const struct export_when *w);
/* The beginning of bucket I of the counters, likewise. */
uint64_t export_bucket_at(const struct export_timeline *t, size_t i);
/* Do positions count parts of a second? Else instructions, or what counts no time, as cycles. */
bool export_in_seconds(const struct export_timeline *t);
/* They count 10^N of them. */
int export_power(const struct export_timeline *t);
const struct export_buckets *export_counters(const struct export_timeline *t);
/* "accesses per 64 instructions" into OUT. */
void export_counters_name(const struct export_timeline *t, const struct trod_meta *meta, char *out,
                          size_t size);
/* "instructions", or the unit of the trace's times ("tick" where it has none). */
const char *export_clock_name(const struct export_timeline *t, const struct trod_meta *meta);
/* Spans that were dropped. */
uint64_t export_hidden(const struct export_timeline *t);
/* Append what the trace is called, with what was dropped. */
int export_timeline_title(struct trod_buf *out, const struct export_timeline *t,
                          const struct trod_meta *meta);

/* Called for spans in order: OPEN when one begins, else when it ends. */
typedef int (*export_walk_fn)(void *user, const struct export_span *s, bool open);
/*
 * The spans from *AT on that are of one lane, in order and nested; *AT goes to the first one of the
 * next lane. Returns 0 or what EACH returned.
 */
int export_timeline_walk(const struct export_timeline *t, size_t *at, export_walk_fn each,
                         void *user);

#endif
