/*
 * rows_system.c - rows of whole machines: ports, modes, exceptions.
 *
 * Implements the functions of rows.h that say so, docs/recording.md, "Whole systems". QEMU tells no
 * exceptions: one is seen where the flow goes to a vector that the instruction before does not lead
 * to (Arm ARM, "Exception vectors"; numbers and names are those of Fast Models' event trace).
 */
#include "record/rows.h"

#include "trod/detail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VECTORS = 0x800, /* A64: bytes of all vectors; of one */
    VECTOR = 0x80,
    MASKED = 0x3c0, /* all exceptions */
    MODE_CHANGE = 0x19
};

/* --- ports --- */

static void put_port(struct rec_rows *r, struct rec_stream *st, uint64_t word)
{
    struct trod_batch *b = r->b;
    uint32_t i;

    if ((st->held && rec_rows_iterate(r, st) < 0) || st->progress < REC_SHOWN || !r->memory)
        return;
    i = b->n++;
    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC;
    b->kind[i] = word & REC_PORT_OUT ? TROD_WRITE : TROD_READ;
    b->flags[i] = TROD_F_IO;
    b->size[i] = 1u << (word >> REC_PORT_SIZE & 3);
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = b->paddr[i] = word & 0xffff;
    b->pc[i] = st->last->pc;
    r->accesses++;
}

/* --- modes --- */

/* Other registers have the names that depend on the mode: their values are reported again. */
static void change_mode(const struct rec_rows *r, struct rec_stream *st, uint32_t mode)
{
    struct rec_registers *known = st->registers;
    const bool fiq = mode % 16 == 1 || (st->mode - 1) % 16 == 1;

    st->mode = 1 + mode;
    if (!known)
        return;
    if (r->set == REC_A64)
        known->words[REC_A64_SP] = 0;
    else
        memset(known->words + (fiq ? REC_BANKED : 13), 0, REC_BANKED_END - (fiq ? REC_BANKED : 13));
}

/* --- exceptions --- */

/* Does the instruction executed last surely not lead to PC? */
static bool not_led_to(struct rec_rows *r, const struct rec_stream *st, uint64_t pc, bool *sure)
{
    const struct rec_insn *in = st->last;
    const uint64_t behind = in->pc + in->size;
    const struct trod_insn *what;

    *sure = true;
    switch (in->flags & TROD_F_BRANCH) {
    case TROD_BR_NONE:
    case TROD_BR_SYSCALL:
        return pc != behind;
    case TROD_BR_DIRECT:
    case TROD_BR_CALL:
    case TROD_BR_COND:
        what = r->decoder
                   ? trod_insn_decode(r->decoder, (in->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                                      in->pc, in->code, in->size)
                   : NULL;
        if (what && what->valid && what->flags & TROD_INSN_TARGET)
            return pc != what->target && pc != behind;
        break;
    default:
        break;
    }
    *sure = false;
    return (in->flags & TROD_F_BRANCH) != TROD_BR_ERET;
}

struct event {
    uint32_t number;
    char name[32];
};

/* A64: is S the beginning of a vector that an exception has led to? */
static bool a64_vector(struct rec_rows *r, struct rec_stream *st, uint64_t pc, struct event *e)
{
    static const char *const from[] = {"CURRENT_SP0", "CURRENT_SPx", "LOWER_64", "LOWER_32"};
    static const char *const kind[] = {"SYNC", "IRQ", "FIQ", "ABORT"};
    const uint32_t mode = st->mode - 1, before = st->before - 1;
    const uint64_t base = pc & ~(uint64_t)(VECTORS - 1);
    const unsigned number = (unsigned)(pc & (VECTORS - 1)) / VECTOR;
    const bool rises = (mode >> 2 & 3) > (before >> 2 & 3);
    bool sure;

    if (pc % VECTOR || (mode & MASKED) != MASKED || !(mode & 1) || rises != (number >= 8) ||
        !not_led_to(r, st, pc, &sure))
        return false;
    if (!sure && !rises && (before & MASKED) == MASKED && st->vectors != 1 + base)
        return false;
    st->vectors = 1 + base;
    e->number = 0x80 + number;
    snprintf(e->name, sizeof e->name, "CoreEvent_%s_%s", from[number >> 2], kind[number & 3]);
    return true;
}

/* The same for A32, whose vectors have modes. */
static bool a32_vector(struct rec_rows *r, struct rec_stream *st, uint64_t pc, struct event *e)
{
    static const struct {
        uint8_t at, mode, number;
        const char *name;
    } vectors[] = {
        {0x04, 0x1b, 2, "UndefinedInstr"}, {0x08, 0x13, 3, "SWI"}, {0x0c, 0x17, 4, "PrefetchAbort"},
        {0x10, 0x17, 5, "DataAbort"},      {0x18, 0x12, 7, "IRQ"}, {0x1c, 0x11, 8, "FIQ"}};
    const uint32_t mode = (st->mode - 1) & 0x1f, before = (st->before - 1) & 0x1f;
    bool sure;

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (vectors[i].at != (pc & 0x1f) || vectors[i].mode != mode)
            continue;
        if (!not_led_to(r, st, pc, &sure) || (!sure && mode == before))
            return false;
        e->number = vectors[i].number;
        snprintf(e->name, sizeof e->name, "CoreEvent_%s", vectors[i].name);
        return true;
    }
    return false;
}

/* What the exception handler returns to, as far as it follows from what was executed. */
static uint64_t interrupted(const struct rec_stream *st, const struct event *e)
{
    const unsigned branch = st->last->flags & TROD_F_BRANCH;
    const bool fault =
        e->number == 2 || e->number == 5 || (e->number >= 0x80 && e->number % 4 == 0);

    if (branch == TROD_BR_SYSCALL || (branch == TROD_BR_NONE && !fault))
        return st->last->pc + st->last->size;
    return st->last->pc;
}

static void put_event(struct rec_rows *r, const struct rec_stream *st, uint64_t at, uint8_t kind,
                      const struct event *e)
{
    static const struct trod_detail_event plain = {.what = TROD_EVENT_EXCEPTION};
    struct trod_batch *b = r->b;
    const uint32_t i = b->n++;

    b->has[i] = ROW_COMMON | TROD_COL_ADDR | TROD_COL_VALUE | TROD_COL_TEXT | TROD_COL_DETAIL;
    b->kind[i] = kind;
    b->flags[i] = 0;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = at;
    b->value[i] = e->number;
    b->text[i] = rec_rows_once(r, &r->names->events[e->number], e->name, strlen(e->name));
    b->detail[i] = kind == TROD_MODE ? rec_rows_change(r, st->mode - 1)
                                     : rec_rows_once(r, &r->names->none, &plain, sizeof plain);
}

void rec_rows_flow(struct rec_rows *r, struct rec_stream *st, const struct rec_segment *s)
{
    static const struct event changed = {MODE_CHANGE, "CoreEvent_ModeChange"};
    const uint64_t pc = s->insn[0].pc;
    struct event e;

    st->segment = s;
    if (st->mode == 0 || !r->disasm || !rec_rows_named(r))
        return;
    r->mode = rec_rows_mode(r, st->mode - 1);
    if (st->progress >= REC_SHOWN && st->last && st->before) {
        if (r->set == REC_A64 ? a64_vector(r, st, pc, &e) : a32_vector(r, st, pc, &e))
            put_event(r, st, interrupted(st, &e), TROD_EXCEPTION, &e);
        if (((st->before - 1) ^ (st->mode - 1)) & 0x1f)
            put_event(r, st, pc, TROD_MODE, &changed);
    }
    st->before = st->mode;
}

int rec_rows_processor(struct rec_rows *r, uint32_t cpu)
{
    char name[16];
    const int n = snprintf(name, sizeof name, "cpu%u", (unsigned)cpu);
    const int number = trod_meta_stream(r->meta, name, (size_t)n);

    if (number >= 0)
        r->meta->streams[number].cpu = cpu;
    return number;
}

int64_t rec_rows_system(struct rec_rows *r, struct rec_stream *st, const uint64_t *p)
{
    switch (*p >> REC_EVENT_TYPE) {
    case REC_PHYSICAL:
        rec_rows_physical(r, st, p);
        return 3;
    case REC_PORT:
        put_port(r, st, *p);
        return 1;
    case REC_MODE:
        change_mode(r, st, (uint32_t)(*p & REC_MODE_BITS));
        return 1;
    default:
        return 1;
    }
}
