/*
 * streams.h - what encoders remember of streams: the last pc of each, and where it goes on.
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
    uint32_t n;
};

/* STREAM executes the instruction at PC. Without memory this is not remembered. */
void fmt_last_pc_set(struct fmt_last_pc *last, uint32_t stream, uint64_t pc);
void fmt_last_pc_fini(struct fmt_last_pc *last);

static inline uint64_t fmt_last_pc_of(const struct fmt_last_pc *last, uint32_t stream)
{
    return stream < last->n ? last->pc[stream] : 0;
}

/*
 * ROW of B, an instruction, is read with the address AT, which is written of it, as its pc. Returns
 * the columns that were counted.
 */
static inline uint32_t fmt_own_pc(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                                  uint64_t at)
{
    if (!(b->have & b->has[row] & TROD_COL_PC) || b->pc[row] == at)
        return 0;
    return trod_loss_columns(l, b, row, TROD_COL_PC, "it is read with its address as its pc");
}

/*
 * By stream: its last instruction, if its row says where it goes on and its record does not. The
 * next instruction in the output shows that, or it is lost. All zero at first.
 */
struct fmt_aims {
    struct fmt_aim {
        struct trod_loss_held row;
        uint64_t target;
        bool waits;
    } * of;
    uint32_t n, waiting; /* streams there is room for; of them those that wait */
};

/* ROW of B, an instruction of STREAM that says where it goes on, was written. */
void fmt_aims_set(struct fmt_aims *aims, struct trod_loss *l, const struct trod_batch *b,
                  uint32_t row, uint32_t stream);
/*
 * STREAM goes on at PC. Returns the instruction that waited if that shows where it goes on, else a
 * row without columns.
 */
struct trod_loss_held fmt_aims_settle(struct fmt_aims *aims, struct trod_loss *l, uint32_t stream,
                                      uint64_t pc);
/* The instruction of STREAM that waits, if one does, is not written after all. */
void fmt_aims_drop(struct fmt_aims *aims, uint32_t stream);
/* The output ends: nothing shows where the instructions that wait go on. */
void fmt_aims_end(struct fmt_aims *aims, struct trod_loss *l);
void fmt_aims_fini(struct fmt_aims *aims);

#endif
