/*
 * rows_insn.c - an instruction that is executed, as a row.
 *
 * Implements the functions of rows.h that say so; docs/recording.md, "What is recorded". What an
 * instruction is by its opcode is looked up once and kept beside it, in the shared memory.
 */
#include "record/rows.h"

#include "core/endian.h"
#include "isa/a64_atomics.h"
#include "trod/drmemtrace.h"

/* Microseconds from 1601, as drmemtrace counts, to 1970. */
static const uint64_t since_1601 = UINT64_C(11644473600000000);

static uint32_t iset_of(const struct rec_insn *in)
{
    return (uint32_t)(in->thumb ? TROD_ISET_T32 : TROD_ISET_A32) << TROD_F_ISET_SHIFT;
}

static uint32_t whole_of(const struct trod_insn *what, uint32_t size)
{
    return what->flags & TROD_INSN_SIZES && size < WHOLE ? size : WHOLE;
}

uint32_t rec_rows_places(const struct rec_rows *r, const struct rec_insn *in)
{
    const struct rec_control *c = &r->control;
    const uint64_t code = atomic_load(&r->shared->code);
    const uint64_t slide = c->linked && code ? code - c->linked : 0;

    const uint32_t n = atomic_load_explicit(&r->shared->n_functions, memory_order_acquire);
    /* symbols are those of the first program */
    const bool first = r->image == 0, start = first || !c->start.linked,
               stop = first || !c->stop.linked;
    uint32_t at = (start && rec_place_is(&c->start, in->pc, slide) ? (uint32_t)AT_START : 0) |
                  (stop && rec_place_is(&c->stop, in->pc, slide) ? (uint32_t)AT_STOP : 0);

    for (uint32_t i = 0; i < n; i++)
        if (r->shared->functions[i].address == in->pc && r->shared->functions[i].image == r->image)
            at |= r->shared->functions[i].code == REC_AT_START  ? (uint32_t)AT_START
                  : r->shared->functions[i].code == REC_AT_STOP ? (uint32_t)AT_STOP
                                                                : 0;
    return at;
}

/*
 * QEMU 7.2 tells only those bytes of an x86 instruction that lie on its first page. Where it may be
 * so there are as many as any instruction has.
 */
static uint8_t length_of(struct rec_rows *r, const struct rec_insn *in)
{
    const struct trod_insn *what;

    if (!in->thumb || r->meta->isa == TROD_ISA_ARM || !r->decoder)
        return in->size;
    what = trod_insn_decode(r->decoder, 0, in->pc, in->code, REC_INSN_CODE - 1);
    return what->valid && what->size > in->size ? what->size : in->size;
}

/* What IN is by its opcode: flags of its rows, the bytes of its accesses. */
static void look_at(struct rec_rows *r, struct rec_insn *in)
{
    uint32_t iset = r->meta->isa == TROD_ISA_ARM ? iset_of(in) : r->iset;
    const struct trod_insn *what;

    in->flags = (uint32_t)LOOKED_AT | iset | rec_rows_places(r, in);
    in->access = 0;
    in->length = length_of(r, in);
    rec_rows_text(r, in);
    if (r->meta->isa == TROD_ISA_A64) { /* atomic operations: the decoder need not know them */
        const uint32_t size = trod_a64_atomic_size(trod_load_le32(in->code));

        in->access = size | size << 16;
        if (rec_a64_untold(in->code) != REC_TOLD)
            in->flags |= UNTOLD;
    }
    if (!r->decoder)
        return;
    what = trod_insn_decode(r->decoder, iset >> TROD_F_ISET_SHIFT, in->pc, in->code, in->length);
    if (!what->valid)
        return;
    in->flags |= what->branch;
    if (what->flags & TROD_INSN_REPEAT)
        in->flags |= SAME_AGAIN;
    if (what->flags & TROD_INSN_COUNTS && in->access == 0) {
        if (what->loads == 0 && what->stores == 1)
            in->flags |= NO_LOAD;
        if (what->loads == 1)
            in->access |= whole_of(what, what->read_size);
        if (what->stores == 1)
            in->access |= whole_of(what, what->write_size) << 16;
    }
    if (what->flags & (TROD_INSN_PREFETCH | TROD_INSN_FLUSH))
        in->flags |= UNTOLD;
    if (r->meta->isa == TROD_ISA_X86_32 || r->meta->isa == TROD_ISA_X86_64)
        rec_rows_x86(r, in, what);
}

static void put_time(struct rec_rows *r, struct rec_stream *st)
{
    st->time_due = false;
    if (!r->markers)
        return;
    rec_rows_marker(r, st, TROD_DRM_TIMESTAMP, since_1601 + st->time);
    if (r->control.windows > 1)
        rec_rows_marker(r, st, TROD_DRM_WINDOW_ID, r->control.done);
    rec_rows_marker(r, st, TROD_DRM_CPU_ID, st->cpu);
}

static inline void put_insn(struct rec_rows *r, const struct rec_stream *st,
                            const struct rec_insn *in)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;

    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE;
    b->kind[i] = TROD_INSTR;
    b->flags[i] = in->flags & (TROD_F_BRANCH | TROD_F_ISET);
    b->size[i] = in->length;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = in->pc;
    b->pc[i] = in->pc;
    b->code[i].off = (uint32_t)(in->code - b->shared) | (uint32_t)TROD_SLICE_SHARED;
    b->code[i].len = in->length < REC_INSN_CODE ? in->length : REC_INSN_CODE;
    if (in->text_len) {
        b->has[i] |= TROD_COL_TEXT;
        b->text[i] = (struct trod_slice){in->text | (uint32_t)TROD_SLICE_SHARED, in->text_len};
    }
    if (r->mode.len) {
        b->has[i] |= TROD_COL_DETAIL;
        b->detail[i] = r->mode;
    }
    if (r->system)
        rec_rows_page(r, st, i);
}

/* Is IN recorded? */
static inline bool wanted(struct rec_rows *r, const struct rec_insn *in)
{
    return !r->control.limited ||
           rec_control_wants(&r->control, in->flags & AT_START, in->flags & AT_STOP);
}

int rec_rows_execute(struct rec_rows *r, struct rec_stream *st, struct rec_insn *in)
{
    const bool follows = st->progress >= REC_SHOWN; /* what was executed before is recorded too */
    uint32_t flow;
    int rc = TROD_OK;

    if (!(in->flags & (uint32_t)LOOKED_AT))
        look_at(r, in);
    flow = st->last ? st->last->flags & (TROD_F_BRANCH | UNTOLD) : TROD_BR_NONE;
    if (flow & UNTOLD) {
        rec_rows_untold(r, st);
        flow &= TROD_F_BRANCH;
    }
    st->last = in;
    st->access = 0;
    st->reads = st->writes = 0;
    st->told = st->twice = 0;
    st->progress = REC_PASSED_BY;
    st->skipped = st->registers && rec_rows_skips(r, st, in);
    if (!wanted(r, in)) {
        r->passed++;
        st->reported = false;
        return TROD_OK;
    }
    if (st->window != r->control.done) {
        st->window = r->control.done;
        if (st->open && r->markers) /* the writer need not wait for where it goes on */
            rec_rows_marker(r, st, TROD_DRM_WINDOW_ID, st->window);
        put_time(r, st);
    }
    if (st->time_due && (flow == TROD_BR_NONE || flow == TROD_BR_SYSCALL || !follows))
        put_time(r, st);
    if (st->registers && !st->reported)
        rc = rec_rows_told(r, st);
    r->instructions++;
    st->executed++;
    if (in->flags & UNNAMED) {
        in->flags &= ~(uint32_t)UNNAMED;
        r->unnamed++;
    }
    put_insn(r, st, in);
    st->row = r->b->n;
    if (st->skipped)
        r->b->flags[st->row - 1] |= TROD_F_SKIPPED;
    st->progress = REC_SHOWN;
    st->open = r->control.limited && (in->flags & TROD_F_BRANCH) != TROD_BR_NONE;
    if (r->full)
        rec_rows_full(r, st, in);
    return rc;
}

int rec_rows_iterate(struct rec_rows *r, struct rec_stream *st)
{
    st->held = false;
    return rec_rows_execute(r, st, (struct rec_insn *)(uintptr_t)st->last);
}
