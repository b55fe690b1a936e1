/*
 * build.h - what the making of an index keeps; how its file begins and ends.
 */
#ifndef NAVIGATE_BUILD_H
#define NAVIGATE_BUILD_H

#include <pthread.h>
#include <stdio.h>

#include "core/grow.h"
#include "navigate/calls.h"
#include "navigate/spread.h"
#include "navigate/tally.h"
#include "navigate/values.h"
#include "trace/mark.h"

#define NAV_HEAD "TRODX\r\n\032"
#define NAV_FOOT "TRODXEND"

struct nav_head {
    char magic[8];
    uint32_t version, reader; /* of the file; the oldest that can read it */
};

struct nav_footer {
    uint64_t table;
    uint32_t sections, sum;
    char magic[8];
};

/* Rows on their way from who reads them to who makes something of them. */
struct nav_item {
    struct trod_batch *b;
    struct trod_meta meta;  /* as of these rows: B's, where it is fed by another thread */
    uint64_t row;           /* of the trace: the first of B */
    bool begins, step;      /* a block begins with them, or a step inside one, */
    struct nav_block block; /* of which this is known (of a step: row, line, offset, log), */
    struct trod_buf mark;   /* and the decoder's state before it */
    bool over;              /* instead of rows: there are no more */
};

/* What is made of rows, by parts that know nothing of each other until a block ends. */
enum nav_lane {
    NAV_LANE_MEMORY, /* lines of memory, what blocks leave there */
    NAV_LANE_INSNS,  /* registers, instructions, kinds, times */
    NAV_LANE_CALLS,  /* call stacks */
    NAV_LANES
};

enum { NAV_CONTENTS = 17 };

/* A section of a segment before it is written. */
struct nav_content {
    struct trod_buf bytes;
    size_t raw;
};

/* Where threads that have lanes wait for each other (pipe.c). */
struct nav_meeting {
    unsigned n, come; /* threads; those that wait */
    uint64_t turn;    /* meetings so far */
    int rc;           /* of all of them: nothing more is made after an error */
    pthread_mutex_t lock;
    pthread_cond_t over;
};

struct nav_builder {
    struct trod_trace *trace;
    const struct nav_build_options *opt;
    struct trod_output *out;
    struct nav_source *source; /* by file of the trace */
    uint32_t n_sources;
    enum trod_isa isa;
    enum trod_endian endian;
    uint64_t block_rows, step_rows;
    uint32_t segment_most;
    /* who reads */
    uint64_t row, newlines, counted, problems;
    size_t file; /* of the trace, that is being read */
    bool text, lines_known;
    uint64_t lines_end; /* of a text, where its last whole line ended at first; 0: not known */
    struct trod_buf log;
    /* the lanes */
    struct nav_touch touch;
    struct nav_postings lines, memory;
    struct nav_values values;
    bool whole;          /* what the block leaves in memory is there */
    bool valued;         /* a read of the block says what it read */
    bool exact;          /* of the block: NAV_B_EXACT */
    uint64_t clock;      /* the time of the last instruction of the file that has one */
    unsigned time_flags; /* of the block: NAV_B_TIMED, NAV_B_UNTIMED, NAV_B_FALLS, NAV_B_UNITS */
    bool timed;          /* a time was seen, the first one with UNIT */
    uint8_t unit;
    unsigned insn_flags; /* those of the tally */
    struct nav_names names;
    struct nav_regs regs;
    struct trod_insn_decoder *insn;
    struct nav_shapes shapes;
    struct nav_classes classes;
    struct nav_spread spread;
    struct nav_tally tally;
    struct nav_tally_out at; /* of the segment */
    uint64_t insns;
    struct trod_buf state, states;   /* of the block, before compression; of the segment */
    struct trod_buf steps;           /* of the block, before compression */
    struct nav_step step;            /* the last one */
    struct nav_calls *calls, *named; /* NAMED: as symbols make of it; NULL: there are none */
    struct nav_content content[NAV_CONTENTS];
    /* all of them together, when a block ends */
    struct nav_meeting meeting;
    struct nav_block *block;
    uint32_t n_blocks, segment_from, n_segments;
    size_t cap_blocks;
    bool open, full, incomplete; /* in a block; the segment ends with it */
    struct trod_buf sections, segments;
    /* hashes of the trace and points of compressed files, found on a thread of their own */
    pthread_t points_thread;
    size_t points_file;
    bool points_begun, points_apart;
    int points_rc;
    struct trod_buf points, window; /* the latter of one of them */
    FILE *windows;                  /* of all; NULL: there are none so far */
    int windows_lost;               /* errno, where they cannot be written or read; else 0 */
};

/* Up to a multiple of 8 bytes, so that readers of the index need no copy of what follows. Returns 0
 * or an error. */
int nav_align(struct nav_builder *b);
/* The bytes RAW, squeezed, as the section ID of the whole trace. Returns 0 or an error. */
int nav_put_squeezed(struct nav_builder *b, unsigned id, const struct trod_buf *raw);
int nav_put_section(struct nav_builder *b, unsigned id, uint32_t segment, const void *p, size_t n,
                    size_t raw);

/* lanes.c: IT to those of LANES (bits); RC: what came of those before. Returns 0 or an error. */
int nav_lanes_take(struct nav_builder *b, unsigned lanes, const struct nav_item *it, int rc);

/* pipe.c: threads that have the lanes, beside the one that reads. */
struct nav_pipe;
/* Returns 0 or TROD_ERR_NOMEM. */
int nav_pipe_new(struct nav_pipe **out, struct nav_builder *b);
/* IT, of which the batch and the mark change their owner, or not. Returns 0 or an error. */
int nav_pipe_put(struct nav_pipe *p, struct nav_item *it);
/* All that was put is done, P is released. Returns 0 or an error. */
int nav_pipe_end(struct nav_pipe *p);

/*
 * points.c: begin to sum the files of the trace and to find points inside them; wait for that;
 * write the points.
 */
int nav_points_begin(struct nav_builder *b);
void nav_points_end(struct nav_builder *b);
int nav_points_put(struct nav_builder *b);
/* continue.c: B, which has just begun, goes on after all but the last segment of X. */
int nav_builder_continue(struct nav_builder *b, const struct nav_index *x);
/* named.c: the functions of the symbols of B. */
int nav_functions_put(struct nav_builder *b);
/* meta.c: the section META, and back. */
int nav_meta_save(const struct nav_builder *b, struct trod_buf *out);
int nav_meta_load(struct nav_index *x, struct trod_span in);

#endif
