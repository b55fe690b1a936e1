/*
 * streams.h - what encoders remember of streams: the last pc of each.
 *
 * Implements the parts of struct trod_format's encode that several drivers share.
 */
#ifndef TROD_FORMAT_STREAMS_H
#define TROD_FORMAT_STREAMS_H

#include "trod/batch.h"
#include "trod/loss.h"

/* By stream: the pc of its last instruction, 0: none. All zero at first. */
struct fmt_last_pc {
    uint64_t *pc;
    size_t n;
};

/* STREAM executes the instruction at PC. Without memory this is not remembered. */
void fmt_last_pc_set(struct fmt_last_pc *last, uint32_t stream, uint64_t pc);
void fmt_last_pc_fini(struct fmt_last_pc *last);

static inline uint64_t fmt_last_pc_of(const struct fmt_last_pc *last, uint32_t stream)
{
    return stream < last->n ? last->pc[stream] : 0;
}

#endif
