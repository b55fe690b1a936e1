/*
 * rows.c - events to rows.
 *
 * Implements docs/recording.md, "What is recorded". A stream is a thread of the program. What an
 * instruction is by its opcode is looked up once and kept beside it, in the shared memory.
 */
#include "record/rows.h"

#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

/* Microseconds from 1601, as drmemtrace counts, to 1970. */
static const uint64_t since_1601 = UINT64_C(11644473600000000);

int rec_rows_new(struct rec_rows **out, struct rec_shared *s, const struct rec_target *t,
                 struct trod_meta *meta, const struct trod_record_options *opt,
                 const struct rec_control *control, const struct trod_format *format, bool single)
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
    r->memory = !opt->no_memory && !r->full;
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
                 TROD_COL_DATA | (t->system ? TROD_COL_PADDR : 0);
    for (uint32_t i = 0; i < ROWS; i++)
        r->b->unit[i] = TROD_UNIT_US;
    return format && format->flags & TROD_FMT_TEXT ? rec_rows_text_begin(r, t) : TROD_OK;
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
}

int rec_rows_flush(struct rec_rows *r)
{
    int rc = r->b->n ? trod_writer_put(r->writer, r->b) : TROD_OK;

    r->b->first += r->b->n;
    r->b->n = 0;
    r->b->pool_n = 0;
    r->n_states = 0;
    return rc;
}

static uint32_t iset_of(const struct rec_insn *in)
{
    return (uint32_t)(in->thumb ? TROD_ISET_T32 : TROD_ISET_A32) << TROD_F_ISET_SHIFT;
}

static uint32_t whole_of(const struct trod_insn *what, uint32_t size)
{
    return what->flags & TROD_INSN_SIZES && size < WHOLE ? size : WHOLE;
}

/* Does recording begin or end at IN? */
static uint32_t places(const struct rec_rows *r, const struct rec_insn *in)
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

    in->flags = (uint32_t)LOOKED_AT | iset | places(r, in);
    in->access = 0;
    in->length = length_of(r, in);
    rec_rows_text(r, in);
    if (!r->decoder)
        return;
    what = trod_insn_decode(r->decoder, iset >> TROD_F_ISET_SHIFT, in->pc, in->code, in->length);
    if (!what->valid)
        return;
    in->flags |= what->branch;
    if (what->flags & TROD_INSN_REPEAT)
        in->flags |= SAME_AGAIN;
    if (!(what->flags & TROD_INSN_COUNTS))
        return;
    if (what->loads == 0 && what->stores == 1)
        in->flags |= NO_LOAD;
    if (r->meta->isa == TROD_ISA_X86_32 && !r->system && in->code[0] == 0x8e && what->loads == 0)
        in->flags |= NO_MORE; /* mov to a segment register: reads a descriptor */
    if (what->loads == 1)
        in->access |= whole_of(what, what->read_size);
    if (what->stores == 1)
        in->access |= whole_of(what, what->write_size) << 16;
}

void rec_rows_marker(struct rec_rows *r, const struct rec_stream *st, unsigned number,
                     uint64_t value)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;

    b->has[i] = ROW_COMMON | TROD_COL_VALUE | TROD_COL_SUB;
    b->kind[i] = TROD_MARKER;
    b->flags[i] = 0;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->sub[i] = (uint16_t)number;
    b->value[i] = value;
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

/* One instruction is executed. No time stands between a branch and what it leads to. */
static inline int execute(struct rec_rows *r, struct rec_stream *st, struct rec_insn *in)
{
    const bool follows = st->shown; /* what was executed before is recorded too */
    uint32_t flow;
    int rc = TROD_OK;

    if (!(in->flags & (uint32_t)LOOKED_AT))
        look_at(r, in);
    flow = st->last ? st->last->flags & TROD_F_BRANCH : TROD_BR_NONE;
    st->last = in;
    st->access = 0;
    st->reads = st->writes = 0;
    st->accessed = st->made = st->shown = false;
    st->skipped = st->registers && rec_rows_skips(r, st, in);
    if (!wanted(r, in)) {
        r->passed++;
        st->told = false;
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
    if (st->registers && !st->told)
        rc = rec_rows_told(r, st);
    r->instructions++;
    put_insn(r, st, in);
    st->row = r->b->n;
    if (st->skipped)
        r->b->flags[st->row - 1] |= TROD_F_SKIPPED;
    st->shown = true;
    st->open = r->control.limited && (in->flags & TROD_F_BRANCH) != TROD_BR_NONE;
    if (r->full)
        rec_rows_full(r, st, in);
    return rc;
}

/*
 * The instruction executed last again. QEMU leaves one half done and begins it again (code that
 * was changed, accesses that must be alone, code on two pages): that is one execution. An iteration
 * of a string operation is known by its access: there is one more beginning than iterations.
 */
static bool again(struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in)
{
    const bool parted = r->meta->isa != TROD_ISA_ARM && in->thumb && in->length > in->size;

    if ((in->flags & TROD_F_BRANCH) != TROD_BR_NONE && !parted)
        return false;
    st->held = (in->flags & SAME_AGAIN) && r->memory;
    return true;
}

void rec_rows_leads(struct rec_rows *r, struct rec_stream *st, uint64_t pc)
{
    struct trod_batch *b = r->b;
    const uint32_t i = st->row - 1;

    /* the last of its stream in this batch, if there is one */
    if (!st->shown || !st->row || i >= b->n || b->stream[i] != st->number ||
        b->kind[i] != TROD_INSTR || (b->flags[i] & TROD_F_BRANCH) == TROD_BR_NONE)
        return;
    b->has[i] |= TROD_COL_TARGET;
    b->target[i] = pc;
    st->open = false;
    if ((b->flags[i] & TROD_F_BRANCH) != TROD_BR_COND)
        return;
    b->flags[i] &= ~(uint32_t)TROD_F_BRANCH;
    b->flags[i] |= pc == b->pc[i] + b->size[i] ? TROD_BR_COND_UNTAKEN : TROD_BR_COND_TAKEN;
}

/* The window of what ST has executed last does not go on with IN. */
static bool ends(const struct rec_rows *r, const struct rec_stream *st, const struct rec_insn *in)
{
    const struct rec_control *c = &r->control;

    return c->phase != REC_RECORDING || st->window != c->done || c->count >= c->take ||
           (places(r, in) & AT_STOP);
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
    if (r->system)
        rec_rows_flow(r, st, s);
    if (st->last && st->last->pc == s->insn[0].pc && again(r, st, st->last))
        i = 1;
    for (rc = TROD_OK; i < s->n && rc == TROD_OK; i++)
        rc = execute(r, st, &s->insn[i]);
    return rc;
}

/*
 * QEMU tells an access of 16 bytes, or one that saves all registers, as several: they are put
 * together again. True when the SIZE bytes at ADDR belong to the access told last.
 */
static bool part_of(const struct rec_rows *r, const struct rec_stream *st, uint8_t kind,
                    uint64_t addr, uint32_t size)
{
    struct trod_batch *b = r->b;
    const uint32_t all = st->last->access;
    const uint32_t whole = kind == TROD_WRITE ? all >> 16 : all & 0xffff;
    const uint32_t i = st->access - 1;

    if (st->access == 0 || st->access != b->n || r->bus || b->stream[i] != st->number)
        return false;
    if (kind != b->kind[i])
        return false;
    if (whole == WHOLE) {
        uint64_t end = b->addr[i] + b->size[i];

        if (addr + size > end)
            end = addr + size;
        if (addr < b->addr[i])
            b->addr[i] = addr;
        b->size[i] = (uint32_t)(end - b->addr[i]);
        return true;
    }
    if (addr != b->addr[i] + b->size[i])
        return false;
    if (b->size[i] + size > whole) /* more than the instruction reads: see fitting() */
        return kind == TROD_READ && whole && b->size[i] == whole;
    b->size[i] += size;
    return true;
}

/*
 * QEMU 7.2 reads 16 bytes for the scalar forms of AVX instructions. The processor reads as many as
 * the opcode says.
 */
static uint32_t fitting(const struct rec_stream *st, uint8_t kind, uint32_t size)
{
    const uint32_t whole = st->last->access & 0xffff;

    return kind == TROD_READ && whole && size > whole ? whole : size;
}

void rec_rows_access(struct rec_rows *r, struct rec_stream *st, uint8_t kind, uint64_t addr,
                     uint32_t size)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;

    st->access = b->n;
    st->accessed = true;
    st->reads += kind == TROD_READ;
    st->writes += kind == TROD_WRITE;
    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC;
    b->kind[i] = kind;
    b->flags[i] = 0;
    b->size[i] = size;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = addr;
    b->pc[i] = st->last->pc;
    st->n_moved = 0;
    r->accesses++;
}

int rec_rows_iterate(struct rec_rows *r, struct rec_stream *st)
{
    st->held = false;
    return execute(r, st, (struct rec_insn *)(uintptr_t)st->last);
}

static int access_row(struct rec_rows *r, struct rec_stream *st, uint64_t what, uint64_t addr)
{
    const uint32_t size = 1u << (what >> REC_EVENT_SIZE & 7);
    const uint8_t kind = what & REC_EVENT_STORE ? TROD_WRITE : TROD_READ;
    struct trod_batch *b = r->b;
    int rc;

    st->moving = 0;
    if (!st->last || st->made || r->full)
        return TROD_OK;
    if (b->n + ROWS_KEPT > ROWS) {
        if ((rc = rec_rows_flush(r)) < 0)
            return rc;
        st->access = 0;
    }
    if ((st->held || rec_iterates(st, kind)) && (rc = rec_rows_iterate(r, st)) < 0)
        return rc;
    if (!st->shown)
        return TROD_OK;
    if (st->last->flags & (kind == TROD_READ ? NO_LOAD | NO_MORE : NO_MORE))
        return TROD_OK;
    st->moving = size;
    if (part_of(r, st, kind, addr, size))
        return TROD_OK;
    if (kind == TROD_WRITE && !st->accessed && st->last->access & 0xffff && st->last->access >> 16)
        rec_rows_access(r, st, TROD_READ, addr, size); /* one access that does both is told once */
    st->moving = fitting(st, kind, size);
    rec_rows_access(r, st, kind, addr, st->moving);
    return TROD_OK;
}

/* Events of more than one word. Returns their words, or an error. */
static int64_t long_event(struct rec_rows *r, struct rec_stream *st, const uint64_t *p)
{
    const unsigned type = (unsigned)(*p >> REC_EVENT_TYPE);
    const bool told = r->markers && r->instructions && r->control.phase == REC_RECORDING;
    int rc = TROD_OK;

    if (type != REC_MEMORY && r->b->n + ROWS_KEPT > ROWS)
        rc = rec_rows_flush(r);
    if (rc < 0)
        return rc;
    switch (type) {
    case REC_MEMORY:
        rc = access_row(r, st, *p << 32 & (REC_EVENT_STORE | UINT64_C(7) << REC_EVENT_SIZE), p[1]);
        return rc < 0 ? rc : 2;
    case REC_SYSCALL:
        st->time = p[1];
        if (told)
            rec_rows_call(r, st, (uint32_t)*p, p + 2);
        return 8;
    case REC_SYSRET:
        st->time = p[1];
        st->time_due = true;
        if (told)
            rec_rows_result(r, st, (uint32_t)*p, p[2]);
        if (told && st->last && p[2] == (uint64_t)-ESIGRETURN)
            rec_rows_marker(r, st, TROD_DRM_KERNEL_XFER, st->last->pc + st->last->length);
        return 3;
    case REC_EXEC: /* another context, as after the return from a signal handler */
        if (told && st->last)
            rec_rows_marker(r, st, TROD_DRM_KERNEL_XFER, st->last->pc + st->last->length);
        st->last = NULL;
        st->held = false;
        st->sync[0] = 0;
        return 1;
    case REC_SYNC:
        st->sync[0] = *p;
        st->sync[1] = p[1];
        return 2;
    case REC_REGISTERS:
        rec_rows_by_registers(r, st, p + 1);
        return 4;
    case REC_STATE:
    case REC_ALL:
        rc = rec_rows_state(r, st, p + 1, (uint32_t)*p, type == REC_ALL, st->shown);
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
    st->begun = true;
    return TROD_OK;
}

/* Is the thread of SLOT one that is not wanted? Threads are counted as they begin. */
static bool is_left_out(struct rec_rows *r, uint32_t slot, struct rec_stream *st)
{
    const struct rec_slot *s = rec_slots(r->shared) + slot;
    const struct rec_control *c = &r->control;

    if (!st->seen) {
        const uint32_t n = r->threads++;

        st->seen = true;
        if (n == 0)
            r->pid = s->pid;
        st->left_out =
            (c->no_children && s->pid != r->pid) ||
            (!c->all_threads && !(n < 8 * sizeof c->threads && (c->threads[n / 8] >> n % 8 & 1)));
    }
    return st->left_out;
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
    if (!st->begun && is_left_out(r, b->slot, st))
        return TROD_OK;
    if (!st->begun && (rc = begin_stream(r, st, b->slot)) < 0)
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
            rc = access_row(r, st, *p, *p & REC_EVENT_ADDRESS);
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
