/*
 * prefetch.c - next line, stride, stream and best offset.
 *
 * Implements own/prefetch.h:
 *   next         the DEGREE lines behind one that missed
 *   stride       Baer and Chen, 1991: an instruction whose addresses were twice the same distance
 *                apart asks for the DEGREE next ones
 *   stream       three lines of a page in one direction start asking for DEGREE lines ahead
 *   best-offset  Michaud, 2016: misses, and first references to prefetched lines, ask for the line
 *                an offset ahead in their page; of a list of offsets that which recent requests
 *                would have wanted most often, none when its score is low. Prefetches take no time
 *                here: what the paper notes when they come back is noted when they are asked for
 */
#include "sim/own/prefetch.h"

enum { PAGE_BITS = 12, SURE = 2, RUN = 2, SCORE_MAX = 31, ROUNDS = 100, SCORE_BAD = 1 };

static const uint8_t offsets[TROD_OWN_OFFSETS] = {
    1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30, 32, 36, 40, 45, 48, 50, 54, 60};

static void ask(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    c->n.prefetches++;
    trod_own_prefetch_into(c, addr, pc);
}

static void next_line(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    for (uint32_t i = 1; i <= c->spec->degree; i++)
        ask(c, addr + ((uint64_t)i << c->line_bits), pc);
}

static void stride(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    struct trod_own_stride *s = &c->stride[(pc ^ pc >> 8) % TROD_OWN_STRIDES];
    int64_t d;

    if (s->pc != pc) {
        *s = (struct trod_own_stride){.pc = pc, .last = addr};
        return;
    }
    d = (int64_t)(addr - s->last);
    s->last = addr;
    if (d == 0)
        return;
    if (d != s->stride) {
        s->stride = d;
        s->sure = 1;
        return;
    }
    if (s->sure < SURE)
        s->sure++;
    for (uint32_t i = 1; s->sure == SURE && i <= c->spec->degree; i++) {
        const uint64_t to = addr + (uint64_t)(d * (int64_t)i);

        if (to >> c->line_bits != addr >> c->line_bits)
            ask(c, to, pc);
    }
}

static void stream(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    const uint64_t page = addr >> PAGE_BITS, line = addr >> c->line_bits;
    struct trod_own_flow *f = NULL;
    int8_t direction;

    for (unsigned i = 0; !f && i < TROD_OWN_FLOWS; i++)
        if (c->flow[i].run && c->flow[i].page == page)
            f = &c->flow[i];
    if (!f) {
        c->flow[c->next_flow++ % TROD_OWN_FLOWS] =
            (struct trod_own_flow){.page = page, .last = line, .run = 1};
        return;
    }
    if (line == f->last)
        return;
    direction = line > f->last ? 1 : -1;
    f->run = direction == f->direction ? (uint8_t)(f->run + (f->run < UINT8_MAX)) : 1;
    f->direction = direction;
    f->last = line;
    for (uint32_t i = 1; f->run >= RUN && i <= c->spec->degree; i++) {
        const uint64_t to = direction > 0 ? line + i : line - i;

        if ((to << c->line_bits) >> PAGE_BITS == page)
            ask(c, to << c->line_bits, pc);
    }
}

static void best_offset(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    struct trod_own_best *b = &c->best;
    const uint64_t line = addr >> c->line_bits;
    const uint8_t back = offsets[b->trying];

    if (line >= back && b->recent[(line - back) % TROD_OWN_RECENT] == line - back)
        b->score[b->trying]++;
    if (++b->trying == TROD_OWN_OFFSETS) {
        unsigned best = 0;

        b->trying = 0;
        for (unsigned i = 1; i < TROD_OWN_OFFSETS; i++)
            if (b->score[i] > b->score[best])
                best = i;
        if (++b->rounds == ROUNDS || b->score[best] >= SCORE_MAX) {
            b->offset = b->score[best] > SCORE_BAD ? offsets[best] : 0;
            b->rounds = 0;
            for (unsigned i = 0; i < TROD_OWN_OFFSETS; i++)
                b->score[i] = 0;
        }
    }
    b->recent[line % TROD_OWN_RECENT] = line;
    for (uint64_t i = 1; b->offset && i <= c->spec->degree; i++) {
        const uint64_t to = addr + (b->offset * i << c->line_bits);

        if (to >> PAGE_BITS == addr >> PAGE_BITS)
            ask(c, to, pc);
    }
}

void trod_own_prefetch(struct trod_own_cache *c, uint64_t addr, uint64_t pc, bool miss, bool useful)
{
    switch (c->spec->prefetch) {
    case TROD_OWN_NEXT_LINE:
        if (miss)
            next_line(c, addr, pc);
        break;
    case TROD_OWN_STRIDE:
        stride(c, addr, pc);
        break;
    case TROD_OWN_STREAM:
        stream(c, addr, pc);
        break;
    case TROD_OWN_BEST_OFFSET:
        if (miss || useful)
            best_offset(c, addr, pc);
        break;
    default:
        break;
    }
}
