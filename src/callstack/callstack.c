/*
 * callstack.c - streams and their rows (trod/callstack.h).
 *
 * A row that is an instruction where the one before leads to costs a comparison and an addition
 * (straight.c). What else happens goes through any_row() and, where control was transferred,
 * cs_step (switch.c).
 */
#include "callstack/callstack_int.h"

#include "core/grow.h"
#include "core/origin.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"root", "call", "tail", "exception", "manual"};
static const char *const end_names[] = {"returned", "unwound", "tailed", "open"};
static const char *const sure_names[] = {"class", "register", "symbol", "guess"};

const char *trod_frame_kind_name(unsigned kind)
{
    return kind < TROD_FRAME_KINDS ? kind_names[kind] : NULL;
}

const char *trod_frame_end_name(unsigned end)
{
    return end < TROD_FRAME_ENDS ? end_names[end] : NULL;
}

const char *trod_frame_sure_name(unsigned sure)
{
    return sure < TROD_SURES ? sure_names[sure] : NULL;
}

const char *trod_function_name(const struct trod_symbols *symbols, uint64_t pc,
                               char buf[TROD_FUNCTION_NAME])
{
    static const char digits[] = "0123456789abcdef";
    struct trod_symbol_range range;
    unsigned n = 2, shift = 60;

    if (symbols && trod_symbols_function(symbols, pc, &range))
        return range.name;
    buf[0] = '0';
    buf[1] = 'x';
    while (shift && !(pc >> shift))
        shift -= 4;
    for (;; shift -= 4) {
        buf[n++] = digits[pc >> shift & 15];
        if (shift == 0)
            break;
    }
    buf[n] = '\0';
    return buf;
}

uint32_t trod_callstack_columns(const char *format)
{
    uint32_t columns = TROD_CALLSTACK_COLUMNS;

    if (format && strcmp(format, "drmemtrace") == 0)
        columns &= ~(uint32_t)(TROD_COL_CODE | TROD_COL_TEXT);
    return columns;
}

int trod_callstack_new(struct trod_callstack **out, const struct trod_callstack_sink *sink,
                       const struct trod_symbols *symbols, bool merged)
{
    struct trod_callstack *c = calloc(1, sizeof *c);

    *out = c;
    if (!c)
        return TROD_ERR_NOMEM;
    c->sink = *sink;
    c->symbols = symbols;
    c->merged = merged;
    return TROD_OK;
}

/* ---- lanes */

static void lane_free(struct cs_lane *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n_contexts; i++)
        cs_context_free(l->context[i]);
    free(l->context);
    cs_known_fini(&l->known);
    free(l);
}

void trod_callstack_free(struct trod_callstack *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_lanes; i++)
        lane_free(c->lane[i]);
    free(c->lane);
    trod_insn_decoder_free(c->decoder);
    cs_given_free(c->given);
    free(c->scaled);
    free(c);
}

struct cs_lane *cs_lane_of(struct trod_callstack *c, uint32_t stream, bool said)
{
    const uint32_t at = said ? stream + 1 : 0;
    struct cs_lane *l;

    if (!trod_grow_to(&c->lane, &c->n_lanes, at, sizeof(struct cs_lane *), NULL))
        return NULL;
    if (c->lane[at])
        return c->lane[at];
    l = calloc(1, sizeof *l);
    if (!l || cs_known_init(&l->known) < 0 || cs_context_new(l) < 0) {
        lane_free(l);
        return NULL;
    }
    l->stream = stream;
    l->slot = at;
    l->made = c->n_made++;
    l->file = c->file;
    l->isa = c->isa;
    l->time = l->last.at.time = l->before.at.time = TROD_NOWHERE;
    l->on_bank = CS_NO_INDEX;
    l->last_row = l->before_row = CS_NO_INDEX;
    if (c->given)
        cs_given_lane(l);
    c->lane[at] = l;
    return l;
}

/* Times of a stream never fall. */
static void clamp(struct cs_lane *l, struct trod_moment *at)
{
    if (at->time != TROD_NOWHERE && (l->time == TROD_NOWHERE || at->time > l->time))
        l->time = at->time;
    at->time = l->time;
}

/* The stream of L is over: what is open is left. */
static int lane_end(struct trod_callstack *c, struct cs_lane *l)
{
    struct trod_moment none = {.row = l->row, .instruction = l->count, .pc = TROD_NOWHERE};
    int rc = TROD_OK;

    clamp(l, &l->last.at);
    none.time = l->time;
    c->counts.instructions += l->count;
    c->ticks.held |= c->ticks.mixed && l->time == TROD_LAST_TIME;

    for (uint32_t i = 0, running = l->now; rc == TROD_OK && i < l->n_contexts; i++) {
        const struct trod_moment *last;

        l->now = i == 0 ? running : i == running ? 0 : i; /* the one that runs first */
        last = cs_now(l)->parked ? &cs_now(l)->at.last.at : &l->last.at;
        rc = cs_pop_to(c, l, 0, TROD_FRAME_OPEN, TROD_SURE_CLASS, last, &none);
    }
    return rc;
}

static int by_made(const void *a, const void *b)
{
    const struct cs_lane *p = *(struct cs_lane *const *)a, *q = *(struct cs_lane *const *)b;

    if (!p || !q)
        return !p - !q;
    return (p->made > q->made) - (p->made < q->made);
}

int trod_callstack_end(struct trod_callstack *c)
{
    int rc = TROD_OK;

    c->batch = NULL;
    c->told = c->at = 0;
    /* in the order in which the file named them, whatever files before it named */
    if (c->n_lanes)
        qsort(c->lane, c->n_lanes, sizeof(struct cs_lane *), by_made);
    c->n_made = 0;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        if (c->lane[i] && rc == TROD_OK)
            rc = lane_end(c, c->lane[i]);
        lane_free(c->lane[i]);
        c->lane[i] = NULL;
    }
    return rc;
}

static const struct cs_lane *lane_at(const struct trod_callstack *c, uint32_t stream)
{
    const struct cs_lane *l = NULL;

    if (stream + 1 < c->n_lanes)
        l = c->lane[stream + 1];
    return !l && stream == TROD_NO_STREAM && c->n_lanes ? c->lane[0] : l;
}

const struct trod_frame *trod_callstack_frames(const struct trod_callstack *c, uint32_t stream,
                                               uint32_t *n)
{
    const struct cs_lane *l = lane_at(c, stream);

    *n = l ? cs_now(l)->n : 0;
    return *n ? cs_now(l)->frame : NULL;
}

bool trod_callstack_last(const struct trod_callstack *c, uint32_t stream, struct trod_moment *out)
{
    const struct cs_lane *l = lane_at(c, stream);

    if (!l || l->count == 0)
        return false;
    *out = l->last.at;
    if (out->time == TROD_NOWHERE || (l->time != TROD_NOWHERE && l->time > out->time))
        out->time = l->time;
    return true;
}

void trod_callstack_counts_add(struct trod_callstack_counts *to,
                               const struct trod_callstack_counts *from)
{
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
        a[i] += b[i];
}

void trod_callstack_count(const struct trod_callstack *c, struct trod_callstack_counts *out)
{
    *out = c->counts;
}

/* ---- instructions */

/* Row I of B, instruction NUMBER of its stream. */
static struct trod_moment moment(const struct trod_batch *b, uint32_t i, uint64_t number)
{
    const bool timed = b->have & b->has[i] & TROD_COL_TIME;

    return (struct trod_moment){trod_origin_row(b, i), number,
                                timed ? cs_time(b->time[i]) : TROD_NOWHERE, b->addr[i]};
}

static void take(const struct trod_batch *b, uint32_t i, uint64_t number, struct cs_insn *to)
{
    const uint32_t said = b->have & b->has[i];

    to->at = moment(b, i, number);
    to->size = said & TROD_COL_SIZE ? b->size[i] : 0;
    to->flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    to->code_n = 0;
    if (said & TROD_COL_CODE) {
        to->code_n = (uint8_t)(b->code[i].len < CS_CODE ? b->code[i].len : CS_CODE);
        memcpy(to->code, trod_batch_bytes(b, b->code[i]), to->code_n);
    }
    if (to->size == 0)
        to->size = to->code_n;
}

/* The instructions that L executed last, into l->last and l->before. */
static void settle(struct cs_lane *l, const struct trod_batch *b)
{
    if (l->last_row == CS_NO_INDEX)
        return;
    if (l->isa == TROD_ISA_MIPS32 || l->isa == TROD_ISA_MIPS64) {
        if (l->before_row == CS_NO_INDEX)
            l->before = l->last;
        else
            take(b, l->before_row, l->count - 2, &l->before);
    }
    take(b, l->last_row, l->count - 1, &l->last);
    l->last_row = l->before_row = CS_NO_INDEX;
}

/* Row I of B is an instruction of L that does not follow the one before, or something is pending.
 */
static int step(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b, uint32_t i)
{
    const uint64_t next = l->next;
    struct cs_step s = {.last = &l->last, .before = &l->before};
    int rc;

    settle(l, b);
    clamp(l, &l->last.at);
    s.now = moment(b, i, l->count);
    clamp(l, &s.now);
    l->iset = (uint8_t)(b->have & b->has[i] & TROD_COL_FLAGS
                            ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                            : 0);
    c->at = i;
    if (c->given)
        return cs_given_step(c, l, &s);
    rc = cs_step(c, l, &s);
    if (s.now.pc != next || s.onward) {
        l->transfer_at = l->count;
        l->run = s.now.pc;
    }
    l->gap = cs_gap(&l->known, c->symbols, s.now.pc);
    l->rseq = false;
    return rc;
}

static int instruction(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b,
                       uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    int rc = TROD_OK;

    if (!(said & TROD_COL_ADDR) ||
        (said & TROD_COL_FLAGS && b->flags[i] & (TROD_F_SYNTHETIC | TROD_F_NOFETCH)))
        return TROD_OK;
    if (c->given) {
        l->pending = CS_NOTHING;
        if (b->first + i >= c->due)
            rc = step(c, l, b, i);
    } else if (b->addr[i] != l->next || l->pending || !l->began ||
               (b->addr[i] >= l->gap.to && cs_entered_at(&l->known, c->symbols, b->addr[i]))) {
        rc = step(c, l, b, i);
        l->began = true;
    } else if (b->addr[i] >= l->gap.to) {
        l->gap = cs_gap(&l->known, c->symbols, b->addr[i]);
    }
    l->next = b->addr[i] + (said & TROD_COL_SIZE && b->size[i] ? b->size[i]
                            : said & TROD_COL_CODE             ? b->code[i].len
                                                               : 4);
    if (said & TROD_COL_TIME && (l->time == TROD_NOWHERE || b->time[i] > l->time))
        l->time = cs_time(b->time[i]);
    l->before_row = l->last_row;
    l->last_row = i;
    l->count++;
    l->row = trod_origin_row(b, i) + 1;
    return rc;
}

/* ---- other rows */

static void marker(struct cs_lane *l, const struct trod_batch *b, uint32_t i, uint32_t said)
{
    if (!b->meta || !b->meta->driver || !(b->meta->driver->flags & TROD_FMT_MARKERS) ||
        !(said & TROD_COL_SUB))
        return;
    switch (b->sub[i]) {
    case TROD_DRM_RSEQ_ABORT:
        l->rseq = true;
        break;
    case TROD_DRM_KERNEL_EVENT:
    case TROD_DRM_HARDWARE_EVENT:
    case TROD_DRM_SYSCALL_TRACE_START:
    case TROD_DRM_CONTEXT_SWITCH_START:
        if (l->rseq) { /* its handler is code of the same function, and never left for good */
            l->rseq = false;
            break;
        }
        l->pending = CS_EXCEPTION;
        l->has_preferred =
            (b->sub[i] == TROD_DRM_KERNEL_EVENT || b->sub[i] == TROD_DRM_HARDWARE_EVENT) &&
            said & TROD_COL_VALUE && b->value[i];
        l->preferred = l->has_preferred ? b->value[i] : 0;
        break;
    case TROD_DRM_KERNEL_XFER:
    case TROD_DRM_HARDWARE_RETURN:
    case TROD_DRM_SYSCALL_TRACE_END:
    case TROD_DRM_CONTEXT_SWITCH_END:
        if (l->pending == CS_EXCEPTION) { /* before its first instruction there was nothing */
            l->pending = l->backs ? CS_BACK : CS_NOTHING;
            break;
        }
        l->pending = CS_BACK;
        if (l->backs < UINT8_MAX)
            l->backs++;
        break;
    default:
        break;
    }
}

/* Row I, which is not just the next instruction. */
static int any_row(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b,
                   uint32_t i)
{
    const uint32_t said = b->have & b->has[i];

    switch (b->kind[i]) {
    case TROD_INSTR:
        return instruction(c, l, b, i);
    case TROD_REG:
        cs_register(l, b, i);
        break;
    case TROD_EXCEPTION:
        l->pending = CS_EXCEPTION;
        l->has_preferred = (said & TROD_COL_ADDR) != 0;
        l->preferred = l->has_preferred ? b->addr[i] : 0;
        break;
    case TROD_MARKER:
        marker(l, b, i, said);
        break;
    default:
        break;
    }
    return TROD_OK;
}

/* ---- batches */

enum { CHUNK = 256 };

static void learn(struct trod_callstack *c, const struct trod_batch *b)
{
    if (!b->meta)
        return;
    if (b->meta->isa)
        c->isa = (uint8_t)b->meta->isa;
    if (b->meta->endian)
        c->endian = (uint8_t)b->meta->endian;
    c->own_classes = b->meta->driver && b->meta->driver->flags & TROD_FMT_MARKERS;
}

/* Rows of another file come: the streams of the last one are over. */
static int turn_file(struct trod_callstack *c, const struct trod_batch *b)
{
    const uint32_t file = b->meta && !c->merged ? b->meta->file : 0;
    int rc = TROD_OK;

    if (c->has_file && c->file != file)
        rc = trod_callstack_end(c);
    c->has_file = true;
    c->file = file;
    return rc;
}

/* How far of rows [I, TO) no call is given. */
static uint32_t until_due(const struct trod_callstack *c, const struct trod_batch *b, uint32_t i,
                          uint32_t to)
{
    if (!c->given || c->due >= b->first + to)
        return to;
    return c->due <= b->first + i ? i : (uint32_t)(c->due - b->first);
}

/* Rows [FROM, TO) of the chunk. *LANE: that of the row before. */
static int chunk(struct trod_callstack *c, const struct trod_batch *b, uint32_t from, uint32_t to,
                 struct cs_lane **lane)
{
    const struct cs_alike alike = cs_alike(b, from, to);
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        const bool said = b->have & b->has[i] & TROD_COL_STREAM;
        const uint32_t stream = said ? b->stream[i] : TROD_NO_STREAM;
        struct cs_lane *l = *lane;

        if (!l || l->stream != stream || l != c->lane[said ? stream + 1 : 0]) {
            if (l && (rc = cs_tell(c, l, i)) < 0)
                return rc;
            *lane = l = cs_lane_of(c, stream, said);
            if (!l)
                return TROD_ERR_NOMEM;
            l->isa = c->isa;
            if (!l->in_batch) {
                l->in_batch = true;
                l->touched = c->touched;
                c->touched = l;
            }
        }
        if (alike.plain) {
            i = cs_straight(c, l, b, i, until_due(c, b, i, to), alike);
            if (i == to)
                break;
        }
        rc = any_row(c, l, b, i);
    }
    return rc;
}

int trod_callstack_feed(struct trod_callstack *c, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    struct trod_batch view;
    struct cs_lane *l = NULL;
    int rc = turn_file(c, b);

    learn(c, b);
    if (rc == TROD_OK)
        rc = cs_ticks(c, b, from, to, &view);
    if (rc < 0)
        return rc;
    c->batch = b;
    c->told = c->at = from;
    if (rc == TROD_OK && c->given)
        rc = cs_given_begin(c, b->first + from);
    for (uint32_t end; rc == TROD_OK && from < to; from = end) {
        end = to - from > CHUNK ? from + CHUNK : to;
        rc = chunk(c, &view, from, end, &l);
    }
    if (rc == TROD_OK && l)
        rc = cs_tell(c, l, to);
    for (; c->touched; c->touched = l) {
        settle(c->touched, &view);
        c->touched->in_batch = false;
        l = c->touched->touched;
    }
    return rc;
}
