/*
 * rows.c - the events of a block, in their order, each to what makes rows of it.
 *
 * Implements docs/recording.md, "What is recorded". A stream is a thread of the program.
 */
#include "record/rows.h"

#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

int rec_rows_new(struct rec_rows **out, struct rec_shared *s, const struct rec_target *t,
                 struct trod_meta *meta, const struct rec_control *control,
                 const struct trod_format *format, uint32_t sources, bool single)
{
    struct rec_rows *r = calloc(1, sizeof *r);

    *out = r;
    if (!r)
        return TROD_ERR_NOMEM;
    r->shared = s;
    r->meta = meta;
    r->markers = format && format->flags & TROD_FMT_TIMESTAMPS;
    rec_rows_amber_begin(r, format);
    r->single = single;
    r->full = rec_full(format);
    r->big = t->endian == TROD_ENDIAN_BIG;
    r->set = t->plain;
    r->system = t->system;
    r->narrow = t->addr_bits == 32;
    r->bus = t->system && format && strncmp(format->name, "byu", 3) == 0;
    r->memory = sources & (REC_SOURCE_MEMORY | REC_SOURCE_UPDATES) && !r->full;
    r->kinds = rec_source_kinds(sources);
    if (r->bus) /* of an instruction on two pages the part on the second */
        r->kinds |= 1u << TROD_BUS;
    r->flow = sources & REC_SOURCE_FLOW;
    r->block = rec_a64_block(t);
    r->control = *control;
    r->iset = t->isa == TROD_ISA_A64 ? (uint32_t)TROD_ISET_A64 << TROD_F_ISET_SHIFT : 0;
    r->streams = calloc(REC_SLOTS, sizeof *r->streams);
    if (!r->streams || trod_batch_new(&r->b, ROWS) < 0 ||
        (r->full && !(r->states = malloc((size_t)REC_FULL_STATES * REC_FULL_BYTES))))
        return TROD_ERR_NOMEM;
    r->b->bytes = r->states;
    r->b->bytes_n = r->full ? (size_t)REC_FULL_STATES * REC_FULL_BYTES : 0;
    if (trod_insn_decoder_new(&r->decoder, t->isa, t->endian) < 0)
        r->decoder = NULL;
    r->b->meta = meta;
    r->b->shared = rec_log(s);
    r->b->want = TROD_COL_ALL;
    r->b->have = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE |
                 TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_DETAIL | TROD_COL_TARGET | TROD_COL_TEXT |
                 TROD_COL_DATA | TROD_COL_INDEX | (t->system ? TROD_COL_PADDR : 0);
    for (uint32_t i = 0; i < ROWS; i++)
        r->b->unit[i] = TROD_UNIT_US;
    return format && format->flags & TROD_FMT_TEXT ? rec_rows_text_begin(r, t, format) : TROD_OK;
}

void rec_rows_free(struct rec_rows *r)
{
    if (!r)
        return;
    trod_insn_decoder_free(r->decoder);
    trod_disasm_free(r->disasm);
    trod_batch_free(r->b);
    for (uint32_t i = 0; r->streams && i < REC_SLOTS; i++)
        free(r->streams[i].registers);
    free(r->states);
    free(r->names);
    free(r->streams);
    free(r);
}

void rec_rows_writer(struct rec_rows *r, struct trod_writer *w)
{
    r->writer = w;
}

bool rec_rows_missed(const struct rec_rows *r)
{
    return r->others > 0;
}

bool rec_rows_never(const struct rec_rows *r)
{
    return r->control.phase == REC_WAITING && r->control.done == 0;
}

uint64_t rec_rows_seq(const struct rec_rows *r, uint32_t slot)
{
    return r->streams[slot].seq;
}

void rec_rows_count(const struct rec_rows *r, struct trod_record_progress *p)
{
    p->instructions = r->instructions;
    p->accesses = r->accesses;
    p->passed = r->passed;
    p->unnamed = r->unnamed;
    p->untold = (struct trod_record_untold){.sve = r->untold[REC_UNTOLD_SVE],
                                            .zeroes = r->untold[REC_UNTOLD_ZERO],
                                            .hints = r->untold[REC_UNTOLD_HINT]};
}

/* Has the iteration of the string operation executed last made its accesses? */
static bool iterated(const struct rec_stream *st)
{
    return st->reads >= rec_iteration_reads(st) && (st->writes > 0 || st->last->access >> 16 == 0);
}

/*
 * The instruction executed last again. QEMU leaves one half done and begins it again (code that
 * was changed, data beside code, accesses that must be alone, code on two pages): that is one
 * execution, and the accesses that it has made so far come once more. An iteration of a string
 * operation is known by its accesses: there is one more beginning than iterations.
 */
static bool again(struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in)
{
    const bool parted = r->meta->isa != TROD_ISA_ARM && in->thumb && in->length > in->size;
    const bool unwritten = r->memory && in->access >> 16 && st->writes == 0;

    /* a branch to itself, or a call that could not write its return address yet? */
    if ((in->flags & TROD_F_BRANCH) != TROD_BR_NONE && !parted && !unwritten)
        return false;
    st->held = (in->flags & SAME_AGAIN) && iterated(st);
    st->twice = st->held ? 0 : st->told;
    return true;
}

/* The window of what ST has executed last does not go on with IN. */
static bool ends(const struct rec_rows *r, const struct rec_stream *st, const struct rec_insn *in)
{
    const struct rec_control *c = &r->control;

    return c->phase != REC_RECORDING || st->window != c->done || c->count >= c->take ||
           (rec_rows_places(r, in) & AT_STOP);
}

static int segment(struct rec_rows *r, struct rec_stream *st, uint64_t word)
{
    uint64_t place = 8 * (word & UINT32_MAX);
    struct rec_segment *s;
    uint32_t i = 0;
    int rc;

    if (place + sizeof *s > REC_LOG_BYTES)
        return TROD_OK;
    s = (struct rec_segment *)(void *)(rec_log(r->shared) + place);
    if (place + sizeof *s + (uint64_t)s->n * sizeof s->insn[0] > REC_LOG_BYTES || s->n > ROWS / 2)
        return TROD_OK;
    if (!r->system)
        r->image = s->page;
    if (r->pair && st->last)
        rec_rows_trap(r, st, s->insn[0].pc);
    if (st->sync[0])
        rec_rows_sync(r, st, s->insn[0].pc);
    if (r->control.limited && ends(r, st, &s->insn[0]))
        rec_rows_leads(r, st, s->insn[0].pc);
    if ((r->b->n + s->n + ROWS_BEHIND > ROWS || r->n_states + s->n > REC_FULL_STATES) &&
        (rc = rec_rows_flush(r)) < 0)
        return rc;
    st->held = false;
    if (r->flow && st->last && st->progress >= REC_SHOWN)
        rec_rows_branch(r, st, &s->insn[0]);
    if (r->system)
        rec_rows_flow(r, st, s);
    if (st->last && st->last->pc == s->insn[0].pc && again(r, st, st->last))
        i = 1;
    for (rc = TROD_OK; i < s->n && rc == TROD_OK; i++)
        rc = rec_rows_execute(r, st, &s->insn[i]);
    return rc;
}

/* Events of more than one word. Returns their words, or an error. */
static int64_t long_event(struct rec_rows *r, struct rec_stream *st, const uint64_t *p)
{
    const unsigned type = (unsigned)(*p >> REC_EVENT_TYPE);
    const bool marked = r->markers && r->instructions && r->control.phase == REC_RECORDING;
    int rc = TROD_OK;

    /* behind an instruction that failed there is room: its rows may have to go */
    if (type != REC_MEMORY && type != REC_SIGNALLED && r->b->n + ROWS_KEPT > ROWS)
        rc = rec_rows_flush(r);
    if (rc < 0)
        return rc;
    switch (type) {
    case REC_MEMORY:
        rc = rec_rows_moved(r, st, *p << 32 & (REC_EVENT_STORE | UINT64_C(7) << REC_EVENT_SIZE),
                            p[1]);
        return rc < 0 ? rc : 2;
    case REC_SYSCALL:
        st->time = p[1];
        if (marked)
            rec_rows_call(r, st, (uint32_t)*p, p + 2);
        return 8;
    case REC_SYSRET:
        st->time = p[1];
        st->time_due = true;
        if (marked)
            rec_rows_result(r, st, (uint32_t)*p, p[2]);
        if (marked && st->last && p[2] == (uint64_t)-ESIGRETURN)
            rec_rows_marker(r, st, TROD_DRM_KERNEL_XFER, st->last->pc + st->last->length);
        return 3;
    case REC_EXEC: /* another context, as after the return from a signal handler */
        if (marked && st->last)
            rec_rows_marker(r, st, TROD_DRM_KERNEL_XFER, st->last->pc + st->last->length);
        st->last = NULL;
        st->held = false;
        st->sync[0] = 0;
        return 1;
    case REC_SYNC:
        st->sync[0] = *p;
        st->sync[1] = p[1];
        return 2;
    case REC_CALL:
    case REC_RETURN:
        return rec_rows_function(r, st, p, marked);
    case REC_SIGNALLED:
        rec_rows_signalled(r, st, (uint32_t)*p, p[1], marked);
        return 2;
    case REC_REGISTERS:
        rec_rows_by_registers(r, st, p + 1);
        return 4;
    case REC_STATE:
    case REC_ALL:
        rc = rec_rows_state(r, st, p + 1, (uint32_t)*p, type == REC_ALL, st->progress >= REC_SHOWN);
        return rc < 0 ? rc : 1 + (int64_t)(uint32_t)*p;
    case REC_VALUE:
        rec_rows_value(r, st, p + 1, (uint32_t)*p);
        return 1 + (int64_t)(uint32_t)*p;
    default:
        return rec_rows_system(r, st, p);
    }
}

static int begin_stream(struct rec_rows *r, struct rec_stream *st, uint32_t slot)
{
    const struct rec_slot *s = rec_slots(r->shared) + slot;
    int number =
        r->system ? rec_rows_processor(r, s->vcpu) : trod_meta_thread(r->meta, s->tid, s->pid, 0);

    if (number < 0)
        return number;
    st->number = (uint32_t)number;
    st->thread = REC_BEGUN;
    return TROD_OK;
}

/* Is the thread of SLOT one that is not wanted? Threads are counted as they begin. */
static bool is_left_out(struct rec_rows *r, uint32_t slot, struct rec_stream *st)
{
    const struct rec_slot *s = rec_slots(r->shared) + slot;
    const struct rec_control *c = &r->control;

    if (st->thread == REC_UNSEEN) {
        const uint32_t n = r->threads++;

        if (n == 0)
            r->pid = s->pid;
        if ((c->no_children && s->pid != r->pid) ||
            (!c->all_threads && !(n < 8 * sizeof c->threads && (c->threads[n / 8] >> n % 8 & 1))))
            st->thread = REC_LEFT_OUT;
        else
            st->thread = REC_WANTED;
    }
    return st->thread == REC_LEFT_OUT;
}

int rec_rows_block(struct rec_rows *r, struct rec_block *b)
{
    struct rec_stream *st = &r->streams[b->slot % REC_SLOTS];
    const uint64_t *p = rec_words(b), *end;
    uint64_t words = b->words;
    int rc = TROD_OK;

    st->seq = b->seq + 1;
    if (words > REC_BLOCK_WORDS - REC_BLOCK_HEAD)
        words = REC_BLOCK_WORDS - REC_BLOCK_HEAD;
    if (st->thread != REC_BEGUN && is_left_out(r, b->slot, st))
        return TROD_OK;
    if (st->thread != REC_BEGUN && (rc = begin_stream(r, st, b->slot)) < 0)
        return rc;
    if (r->single && st->number != 0) {
        r->others++;
        return TROD_OK;
    }
    if (b->time > st->time)
        st->time = b->time;
    st->cpu = b->cpu;
    st->time_due = true;
    for (end = p + words; p < end && rc == TROD_OK;) {
        if (*p & REC_EVENT_MEMORY) {
            rc = rec_rows_moved(r, st, *p, *p & REC_EVENT_ADDRESS);
            p++;
        } else if (*p >> REC_EVENT_TYPE == REC_SEGMENT) {
            rc = segment(r, st, *p++);
        } else {
            int64_t n = long_event(r, st, p);

            rc = n < 0 ? (int)n : TROD_OK;
            p += n;
        }
    }
    if (rc < 0)
        return rc;
    return r->control.phase == REC_OVER;
}
