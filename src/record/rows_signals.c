/*
 * rows_signals.c - where a signal interrupts a thread.
 *
 * Implements the function of rows.h that says so; docs/recording.md, "Signals". drmemtrace has the
 * address at which the interrupted code goes on ("Signals and other kernel transfers" in
 * docs/formats/drmemtrace.md), and from version 7 on no instruction that failed.
 */
#include "record/rows.h"

#include "core/endian.h"
#include "trod/drmemtrace.h"

static const struct trod_insn *decoded(const struct rec_rows *r, const struct rec_insn *in)
{
    const uint32_t iset = r->meta->isa == TROD_ISA_ARM
                              ? (uint32_t)(in->thumb ? TROD_ISET_T32 : TROD_ISET_A32)
                              : r->iset >> TROD_F_ISET_SHIFT;

    return trod_insn_decode(r->decoder, iset, in->pc, in->code, in->length);
}

/*
 * Has the instruction executed last failed, where its thread goes on at PC? A string operation is
 * begun anew for each iteration: those that have an access are complete.
 */
static bool failed(const struct rec_rows *r, const struct rec_stream *st, uint64_t pc)
{
    const struct rec_insn *in = st->last;
    const struct trod_insn *what;

    /* QEMU goes on at the beginning of the block where DC ZVA has failed in it */
    if (r->set == REC_A64 && rec_a64_untold(in->code) == REC_UNTOLD_ZERO)
        return pc != in->pc + in->length;
    if (in->pc != pc || (in->flags & TROD_F_BRANCH) == TROD_BR_SYSCALL)
        return false;
    if (in->flags & SAME_AGAIN)
        return st->held || (r->memory && st->progress == REC_SHOWN);
    if ((in->flags & TROD_F_BRANCH) == TROD_BR_NONE || !r->decoder)
        return true;
    what = decoded(r, in);
    return !what->valid || !(what->flags & TROD_INSN_TARGET) || what->target != pc;
}

/*
 * The row of the instruction executed last, where all behind it are its accesses and none is
 * written. False: that is not so.
 */
static bool find_last(const struct rec_rows *r, const struct rec_stream *st, uint32_t *row)
{
    const uint32_t accesses = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    const struct trod_batch *b = r->b;
    const uint32_t first = st->row - 1;

    if (!st->row || first >= b->n || b->stream[first] != st->number ||
        b->kind[first] != TROD_INSTR || b->pc[first] != st->last->pc)
        return false;
    for (uint32_t i = first + 1; i < b->n; i++)
        if (b->stream[i] != st->number || !(accesses >> b->kind[i] & 1))
            return false;
    *row = first;
    return true;
}

/* The instruction executed last, and its accesses, are no part of the trace. */
static bool take_back(struct rec_rows *r, struct rec_stream *st)
{
    uint32_t first;

    if (!find_last(r, st, &first))
        return false;
    r->accesses -= r->b->n - first - 1;
    r->instructions--;
    st->executed--;
    r->b->n = first;
    return true;
}

/*
 * QEMU's own accesses while it makes the frame (x86: fxsave, descriptors of segments), which it
 * tells as those of the instruction before, go: all but as many as the opcode says.
 */
static void drop_frame(struct rec_rows *r, const struct rec_stream *st)
{
    const struct trod_insn *what;
    uint32_t first, end;

    if (!r->decoder || st->last->flags & SAME_AGAIN || !find_last(r, st, &first))
        return;
    what = decoded(r, st->last);
    end = first + 1 + what->loads + what->stores;
    if (!what->valid || !(what->flags & TROD_INSN_COUNTS) || end >= r->b->n)
        return;
    r->accesses -= r->b->n - end;
    r->b->n = end;
}

void rec_rows_signalled(struct rec_rows *r, struct rec_stream *st, uint32_t number, uint64_t pc,
                        bool marked)
{
    if (r->amber) { /* where a branch leads; behind a system call comes the handler */
        if (st->last && (st->last->flags & TROD_F_BRANCH) != TROD_BR_SYSCALL)
            rec_rows_leads(r, st, pc);
        st->row = 0;
        return;
    }
    if (st->last && st->progress >= REC_SHOWN)
        drop_frame(r, st);
    if (!r->markers)
        return;
    if (marked && st->last && st->progress >= REC_SHOWN) {
        if (failed(r, st, pc)) {
            if (st->held || take_back(r, st))
                rec_rows_marker(r, st, TROD_DRM_UNCOMPLETED_INSTRUCTION,
                                trod_load_le64(st->last->code) &
                                    (r->narrow ? UINT32_MAX : UINT64_MAX));
        } else if (r->control.limited) {
            rec_rows_leads(r, st, pc);
        }
    }
    if (marked) {
        rec_rows_marker(r, st, TROD_DRM_KERNEL_EVENT, pc);
        rec_rows_marker(r, st, TROD_DRM_SIGNAL_NUMBER, number);
    }
    /* another context: what was executed last does not go on here */
    st->last = NULL;
    st->held = false;
    st->row = st->access = 0;
    st->progress = REC_PASSED_BY;
}
