/*
 * x86_walk.c - see x86_walk.h.
 */
#include "x86_walk.h"

#include "testlib.h"

#include <stdio.h>
#include <string.h>

enum what { PLAIN, LOAD, STORE, JCC8, JCC32, JMP, CALL, RET, IJMP, ICALL, MOVS, SYSTEM, WHATS };

static const struct {
    uint8_t n, bytes[8];
} plain[] = {
    {1, {0x90}},
    {2, {0x66, 0x90}},
    {3, {0x48, 0x01, 0xc0}},
    {4, {0x0f, 0x1f, 0x40, 0x00}},
    {5, {0x0f, 0x1f, 0x44, 0x00, 0x00}},
    {7, {0x48, 0xc7, 0xc0, 0x01, 0x00, 0x00, 0x00}},
};

static void make(struct walk *w, struct walk_code *c)
{
    static const uint8_t lengths[WHATS] = {0, 3, 3, 2, 6, 5, 5, 1, 2, 2, 2, 2};
    static const uint8_t bytes[WHATS][3] = {
        [LOAD] = {0x48, 0x8b, 0x07},
        [STORE] = {0x48, 0x89, 0x07},
        [JCC8] = {0x74},
        [JCC32] = {0x0f, 0x85},
        [JMP] = {0xe9},
        [CALL] = {0xe8},
        [RET] = {0xc3},
        [IJMP] = {0xff, 0xe0},
        [ICALL] = {0xff, 0xd0},
        [MOVS] = {0xf3, 0xa4},
        [SYSTEM] = {0x0f, 0x05},
    };

    c->what = (uint8_t)(gen_below(w->g, 2) ? PLAIN : gen_below(w->g, WHATS));
    if (c->what == PLAIN) {
        size_t k = gen_below(w->g, sizeof plain / sizeof *plain);

        c->n = plain[k].n;
        memcpy(c->bytes, plain[k].bytes, c->n);
    } else {
        c->n = lengths[c->what];
        memcpy(c->bytes, bytes[c->what], 3);
    }
    c->target = (uint32_t)gen_below(w->g, WALK_CODE);
}

/* Displacements, once all addresses are known. */
static void link_code(struct walk *w, struct walk_code *c)
{
    uint32_t me = (uint32_t)(c - w->code), bytes = c->what == JCC8 ? 1 : 4;
    uint64_t d;

    if (c->what < JCC8 || c->what > CALL)
        return;
    if (c->what == JCC8) { /* near enough for a byte */
        uint32_t back = (uint32_t)gen_below(w->g, 12);

        c->target = me >= back ? me - back : me;
    }
    d = w->code[c->target].pc - (c->pc + c->n);
    for (uint32_t i = 0; i < bytes; i++)
        c->bytes[c->n - bytes + i] = (uint8_t)(d >> (8 * i));
}

void walk_init(struct walk *w, struct trod_gen *g, uint32_t threads)
{
    uint64_t pc = 0x401000;

    memset(w, 0, sizeof *w);
    w->g = g;
    w->threads = threads;
    for (uint32_t i = 0; i < WALK_CODE; i++) {
        make(w, &w->code[i]);
        if (i + 1 == WALK_CODE) { /* nothing lies behind the last one */
            w->code[i].what = JMP;
            w->code[i].n = 5;
            w->code[i].bytes[0] = 0xe9;
        }
        w->code[i].pc = pc;
        pc += w->code[i].n;
    }
    for (uint32_t i = 0; i < WALK_CODE; i++)
        link_code(w, &w->code[i]);
    for (uint32_t i = 0; i < threads; i++)
        w->at[i] = (uint32_t)gen_below(g, WALK_CODE);
}

static void data(struct walk *w, const struct walk_code *c, uint8_t kind, uint32_t size)
{
    w->pending[w->n_pending++] = (struct walk_row){.kind = kind,
                                                   .thread = w->thread,
                                                   .size = size,
                                                   .addr = 0x7ff000000000 + gen_below(w->g, 4096),
                                                   .time = w->time,
                                                   .code = c};
}

static void insn(struct walk *w, const struct walk_code *c, bool again, bool jumped)
{
    w->pending[w->n_pending++] = (struct walk_row){.kind = TROD_INSTR,
                                                   .branch = c->what >= JCC8 && c->what <= ICALL,
                                                   .thread = w->thread,
                                                   .size = c->n,
                                                   .addr = c->pc,
                                                   .time = w->time,
                                                   .code = c,
                                                   .again = again,
                                                   .jumped = jumped};
}

/* One instruction of the current thread, with its accesses. */
static void step(struct walk *w)
{
    bool jumped = w->surprises && gen_once_in(w->g, w->surprises);
    uint32_t *at = &w->at[w->thread];
    const struct walk_code *c;
    uint32_t n;

    if (jumped)
        *at = (uint32_t)gen_below(w->g, WALK_CODE);
    c = &w->code[*at];
    w->n_pending = w->next_pending = 0;
    w->time += gen_below(w->g, 3000);
    insn(w, c, false, jumped);
    n = *at + 1;
    switch (c->what) {
    case LOAD:
        data(w, c, TROD_READ, 8);
        break;
    case STORE:
        data(w, c, TROD_WRITE, 8);
        break;
    case JCC8:
    case JCC32:
        n = gen_below(w->g, 2) ? c->target : n;
        break;
    case CALL:
        data(w, c, TROD_WRITE, 8);
        n = c->target;
        break;
    case JMP:
        n = c->target;
        break;
    case RET:
        data(w, c, TROD_READ, 8);
        n = (uint32_t)gen_below(w->g, WALK_CODE);
        break;
    case ICALL:
        data(w, c, TROD_WRITE, 8);
        n = (uint32_t)gen_below(w->g, WALK_CODE);
        break;
    case IJMP:
        n = (uint32_t)gen_below(w->g, WALK_CODE);
        break;
    case MOVS:
        for (uint64_t i = gen_below(w->g, 4); i > 0; i--) {
            data(w, c, TROD_READ, 1);
            data(w, c, TROD_WRITE, 1);
            if (i > 1)
                insn(w, c, true, false);
        }
        break;
    default:
        break;
    }
    *at = n % WALK_CODE;
}

struct walk_row walk_next(struct walk *w)
{
    if (w->next_pending == w->n_pending) {
        if (w->stay-- == 0) {
            w->thread = (uint32_t)gen_below(w->g, w->threads);
            w->stay = (uint32_t)gen_below(w->g, 60);
        }
        step(w);
    }
    return w->pending[w->next_pending++];
}

bool walk_append(struct trod_batch *b, const struct walk_row *r)
{
    const uint32_t n = b->n;

    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
              TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE;
    b->has[n] = b->have & ~(uint32_t)TROD_COL_CODE;
    b->kind[n] = r->kind;
    b->flags[n] = 0;
    b->size[n] = r->size;
    b->stream[n] = r->thread;
    b->time[n] = r->time;
    b->addr[n] = r->addr;
    b->pc[n] = r->code->pc;
    if (r->kind == TROD_INSTR) {
        void *p = trod_batch_pool(b, r->code->n, &b->code[n]);

        if (!p)
            return false;
        memcpy(p, r->code->bytes, r->code->n);
        b->has[n] |= TROD_COL_CODE;
    }
    b->n++;
    return true;
}

void walk_meta(const struct walk *w, struct trod_meta *m)
{
    trod_meta_init(m);
    m->isa = TROD_ISA_X86_64;
    m->endian = TROD_ENDIAN_LITTLE;
    m->addr_bits = 64;
    m->unit = TROD_UNIT_NS;
    for (uint32_t i = 0; i < w->threads; i++)
        if (trod_meta_thread(m, 1000 + i, 999, 0) != (int)i)
            test_die("out of memory");
}
