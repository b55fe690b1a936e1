/*
 * rows.c - one operation executed: rows of its instructions, of their accesses, and what goes with
 * them.
 *
 * Memory holds at each address a number that follows from it, so that what is read is always what
 * was written there; on the stack these are the return addresses.
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

/* Rows of a record behind its first are marked where registers make records of several rows. */
static void access(struct trod_gen *g, unsigned s, uint8_t kind, uint64_t pc, uint64_t addr,
                   uint64_t value)
{
    const uint32_t i = row(
        g, s, kind, TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_VALUE);

    g->b->addr[i] = g->b->paddr[i] = addr;
    g->b->size[i] = g->word;
    g->b->pc[i] = pc;
    g->b->value[i] = g->word == 8 ? value : (uint32_t)value;
    if (g->states)
        g->b->flags[i] = TROD_F_CONT;
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

/* The registers of stream S when instruction IN begins. */
static void registers(struct trod_gen *g, unsigned s, const struct gen_insn *in)
{
    const uint32_t i =
        row(g, s, TROD_STATE, TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE | TROD_COL_DATA);
    struct trod_batch *b = g->b;

    b->addr[i] = b->pc[i] = in->pc;
    b->data[i] = gen_ppc_state(&g->ppc[s], in->pc, b);
    b->size[i] = b->data[i].len;
    b->flags[i] = TROD_F_CONT;
}

/* The return address goes to the stack, as the first there or not; and what is read back. */
static void push(struct trod_gen *g, unsigned s, uint64_t pc, unsigned frame)
{
    g->saved[g->sp != GEN_STACK] = g->link;
    g->sp -= frame;
    access(g, s, TROD_WRITE, pc, g->sp, g->link);
}

static void pop(struct trod_gen *g, unsigned s, uint64_t pc, unsigned frame)
{
    g->link = g->saved[g->sp + frame != GEN_STACK];
    access(g, s, TROD_READ, pc, g->sp, g->link);
    g->sp += frame;
}

/* What instruction IN, of stream S, does to memory; the stack is that of stream 0. */
static void accesses(struct trod_gen *g, unsigned s, const struct gen_insn *in, uint64_t addr)
{
    const unsigned frame = g->pushes ? g->word : 16;

    switch (in->op) {
    case GEN_LOAD:
        access(g, s, TROD_READ, in->pc, addr, gen_content(addr));
        break;
    case GEN_STORE:
        access(g, s, TROD_WRITE, in->pc, addr, gen_content(addr));
        break;
    case GEN_CALL:
        g->link = in->pc + in->size + (g->delays ? in->size : 0);
        if (g->pushes)
            push(g, s, in->pc, frame);
        break;
    case GEN_SAVE:
        push(g, s, in->pc, frame);
        break;
    case GEN_RETURN:
        if (g->pushes)
            pop(g, s, in->pc, frame);
        break;
    case GEN_RESTORE:
        pop(g, s, in->pc, frame);
        break;
    default:
        break;
    }
}

/* Stream S executes IN; a branch leads to TO, which is what its code names if TAKEN. */
static void execute(struct trod_gen *g, unsigned s, const struct gen_insn *in, uint64_t addr,
                    uint64_t to, bool taken)
{
    const uint32_t branch = in->flags & TROD_F_BRANCH;
    uint32_t i;

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
        g->b->flags[i] |= taken ? TROD_BR_COND_TAKEN : TROD_BR_COND_UNTAKEN;
    }
    if (g->states)
        registers(g, s, in);
    accesses(g, s, in, addr);
    if (g->states)
        gen_ppc_execute(&g->ppc[s], in, addr, taken, g->link);
    if (branch && g->delays) {
        g->time++;
        fetch(g, s, in->pc + in->size, 4, 0, (struct trod_slice){(uint32_t)TROD_SLICE_SHARED, 4});
    }
}

void gen_run(struct trod_gen *g, unsigned s, unsigned n, uint64_t addr, unsigned next)
{
    const unsigned end = g->step[n + 1];
    const bool taken = next == g->code[end - 1].target;

    run_on(g, s);
    for (unsigned i = g->step[n]; i < end; i++)
        execute(g, s, &g->code[i], addr, gen_pc(g, next), taken);
}
