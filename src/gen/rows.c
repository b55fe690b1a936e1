/*
 * rows.c - one instruction executed: its row, those of its accesses, and what goes with them.
 *
 * Memory holds at each address a number that follows from it, so that what is read is always what
 * was written there.
 */
#include "gen/int.h"
#include "trod/drmemtrace.h"

static const uint64_t epoch = UINT64_C(13300000000000000); /* microseconds since 1601 */

enum { COMMON = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT };

static uint32_t row(struct trod_gen *g, unsigned s, uint8_t kind, uint32_t more)
{
    struct trod_batch *b = g->b;
    const uint32_t i = b->n++;

    b->has[i] = COMMON | more;
    b->kind[i] = kind;
    b->flags[i] = 0;
    b->stream[i] = g->stream[s];
    b->time[i] = g->time;
    b->unit[i] = g->meta->unit;
    return i;
}

static void marker(struct trod_gen *g, unsigned s, unsigned number, uint64_t value)
{
    const uint32_t i = row(g, s, TROD_MARKER, TROD_COL_SUB | TROD_COL_VALUE);

    g->b->sub[i] = (uint16_t)number;
    g->b->value[i] = value;
}

/* Another stream runs on. */
static void run_on(struct trod_gen *g, unsigned s)
{
    if (g->shown && g->running == s)
        return;
    g->shown = true;
    g->running = s;
    if (!g->markers)
        return;
    marker(g, s, TROD_DRM_TIMESTAMP, epoch + g->time);
    marker(g, s, TROD_DRM_CPU_ID, s);
}

static void access(struct trod_gen *g, unsigned s, uint8_t kind, uint64_t pc, uint64_t addr,
                   uint64_t value)
{
    const uint32_t i = row(
        g, s, kind, TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_VALUE);

    g->b->addr[i] = g->b->paddr[i] = addr;
    g->b->size[i] = g->word;
    g->b->pc[i] = pc;
    g->b->value[i] = g->word == 8 ? value : (uint32_t)value;
}

static uint32_t fetch(struct trod_gen *g, unsigned s, uint64_t pc, uint32_t size, uint32_t flags,
                      struct trod_slice code)
{
    const uint32_t i =
        row(g, s, TROD_INSTR,
            TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE | TROD_COL_CODE | TROD_COL_INDEX);
    struct trod_batch *b = g->b;

    b->addr[i] = b->pc[i] = pc;
    b->size[i] = size;
    b->flags[i] = flags;
    b->code[i] = code;
    b->index[i] = ++g->executed[s];
    if (g->mode.len) {
        b->has[i] |= TROD_COL_DETAIL;
        b->detail[i] = g->mode;
    }
    return i;
}

static uint64_t content(uint64_t addr)
{
    return addr * UINT64_C(0x9e3779b97f4a7c15) >> 8;
}

/* What instruction IN, of stream S, does to memory; the stack is that of stream 0. */
static void accesses(struct trod_gen *g, unsigned s, const struct gen_insn *in, uint64_t addr)
{
    const uint64_t link = content(g->sp); /* stands for the return address */
    const unsigned frame = g->pushes ? g->word : 16;

    switch (in->op) {
    case GEN_LOAD:
        access(g, s, TROD_READ, in->pc, addr, content(addr));
        break;
    case GEN_STORE:
        access(g, s, TROD_WRITE, in->pc, addr, content(addr));
        break;
    case GEN_CALL:
    case GEN_SAVE:
        if (in->op == GEN_SAVE || g->pushes) {
            g->sp -= frame;
            access(g, s, TROD_WRITE, in->pc, g->sp, content(g->sp));
        }
        break;
    case GEN_RETURN:
    case GEN_RESTORE:
        if (in->op == GEN_RESTORE || g->pushes) {
            access(g, s, TROD_READ, in->pc, g->sp, link);
            g->sp += frame;
        }
        break;
    default:
        break;
    }
}

void gen_run(struct trod_gen *g, unsigned s, unsigned n, uint64_t addr, unsigned next)
{
    const struct gen_insn *in = &g->code[n];
    const uint64_t to = g->code[next].pc;
    const uint64_t behind = in->pc + in->size;
    const uint32_t branch = in->flags & TROD_F_BRANCH;
    uint32_t i;

    run_on(g, s);
    g->time++;
    i = fetch(g, s, in->pc, in->size, in->flags, in->at);
    if (in->text.len) {
        g->b->has[i] |= TROD_COL_TEXT;
        g->b->text[i] = in->text;
    }
    if (branch) {
        g->b->has[i] |= TROD_COL_TARGET;
        g->b->target[i] = to;
    }
    if (branch == TROD_BR_COND) {
        g->b->flags[i] &= ~(uint32_t)TROD_F_BRANCH;
        g->b->flags[i] |= next == in->target ? TROD_BR_COND_TAKEN : TROD_BR_COND_UNTAKEN;
    }
    accesses(g, s, in, addr);
    if (branch && g->delays) {
        g->time++;
        fetch(g, s, behind, 4, 0, (struct trod_slice){(uint32_t)TROD_SLICE_SHARED, 4});
    }
}
