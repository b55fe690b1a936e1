/*
 * build.h - what the making of an index keeps; how its file begins and ends.
 */
#ifndef NAVIGATE_BUILD_H
#define NAVIGATE_BUILD_H

#include <pthread.h>

#include "core/grow.h"
#include "navigate/calls.h"
#include "navigate/tally.h"
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

struct nav_builder {
    struct trod_trace *trace;
    const struct nav_build_options *opt;
    struct trod_output *out;
    struct nav_source *source; /* by file of the trace */
    uint32_t n_sources;
    enum trod_isa isa;
    enum trod_endian endian;
    struct nav_names names;
    struct nav_regs regs;
    struct trod_insn_decoder *insn;
    struct nav_tally tally;
    struct nav_calls *calls;
    uint64_t block_rows;
    uint32_t segment_most;
    uint64_t row, insns, newlines, counted, problems;
    size_t file; /* of the trace, that is being read */
    bool open, incomplete, text, lines_known;
    struct nav_block *block;
    uint32_t n_blocks, segment_from, n_segments;
    size_t cap_blocks;
    struct nav_postings lines, sites, regs_at, memory, marks;
    struct trod_buf states, log, sections, segments;
    /* points of compressed files, found on a thread of their own */
    pthread_t points_thread;
    size_t points_file;
    bool points_begun, points_apart;
    int points_rc;
    struct trod_buf points, windows;
};

int nav_put_section(struct nav_builder *b, unsigned id, uint32_t segment, const void *p, size_t n,
                    size_t raw);
/* points.c: begin to find points inside the files of the trace; wait for them; write them. */
int nav_points_begin(struct nav_builder *b);
void nav_points_end(struct nav_builder *b);
int nav_points_put(struct nav_builder *b);
/* continue.c: B, which has just begun, goes on behind all but the last segment of X. */
int nav_builder_continue(struct nav_builder *b, const struct nav_index *x);
/* meta.c: the section META, and back. */
int nav_meta_save(const struct nav_builder *b, struct trod_buf *out);
int nav_meta_load(struct nav_index *x, struct trod_span in);

#endif
