/*
 * sharing.c - which threads use a line, and which bytes of it.
 *
 * Implements own/sim.h. A line is truly shared where a byte that one thread writes is used by
 * another, falsely where several threads use it but no such byte.
 */
#include "sim/own/sim.h"

#include "core/grow.h"

enum { LINE_BITS = 6, LINE = TROD_OWN_SHARED_BYTES };

/* A new place for threads that use LINE; NULL: no memory. */
static struct trod_own_shared *another(struct trod_own_sim *s, uint64_t line, bool follows)
{
    struct trod_own_shared *e;

    if (!trod_grow(&s->shared, s->n_shared, &s->cap_shared, sizeof *s->shared, 256))
        return NULL;
    e = &s->shared[s->n_shared++];
    *e = (struct trod_own_shared){.line = line << LINE_BITS, .follows = follows};
    return e;
}

/* Where THREAD, a user of the line of E, is in *I; behind others where it is new. */
static struct trod_own_shared *user_of(struct trod_own_sim *s, struct trod_own_shared *e,
                                       uint32_t thread, uint32_t *i)
{
    for (;;) {
        for (*i = 0; *i < e->threads; ++*i)
            if (e->thread[*i] == thread)
                return e;
        if (e->threads < TROD_OWN_SHARERS) {
            e->thread[e->threads++] = thread;
            return e;
        }
        if (!e->more) {
            const size_t at = (size_t)(e - s->shared);

            if (!another(s, e->line >> LINE_BITS, true))
                return NULL;
            e = &s->shared[at];
            e->more = s->n_shared;
        }
        e = &s->shared[e->more - 1];
    }
}

/* N bytes at ADDR, in one line. */
static bool use(struct trod_own_sim *s, const struct trod_sim_ref *r, uint64_t addr, uint32_t n)
{
    const uint64_t line = addr >> LINE_BITS, bytes = UINT64_MAX >> (64 - n) << addr % LINE;
    uint64_t *number = trod_lines_at(&s->shared_of, line);
    struct trod_own_shared *e;
    uint32_t i;

    if (!number || (*number == 0 && !another(s, line, false)))
        return false;
    if (*number == 0)
        *number = s->n_shared;
    e = &s->shared[*number - 1];
    e->refs++;
    if (!(e = user_of(s, e, r->stream, &i)))
        return false;
    *(r->op == TROD_OP_WRITE ? &e->written[i] : &e->read[i]) |= bytes;
    return true;
}

void trod_own_sharing_note(struct trod_own_sim *s, const struct trod_sim_ref *r, uint64_t addr,
                           uint32_t size)
{
    while (size && !s->failed) {
        const uint32_t room = LINE - (uint32_t)(addr % LINE), n = size < room ? size : room;

        s->failed = !use(s, r, addr, n);
        addr += n;
        size -= n;
    }
}

void trod_own_sharing_lost(struct trod_own_sim *s, uint64_t addr, unsigned n)
{
    const uint64_t *number = trod_lines_get(&s->shared_of, addr >> LINE_BITS);

    if (number && *number)
        s->shared[*number - 1].invalidations += n;
}

struct trod_own_sharing trod_own_sharing_of(const struct trod_own_sim *s,
                                            const struct trod_own_shared *e)
{
    struct trod_own_sharing sum = {0};
    uint64_t once = 0, often = 0, written = 0;

    for (;;) {
        for (uint32_t i = 0; i < e->threads; i++) {
            often |= once & (e->read[i] | e->written[i]);
            once |= e->read[i] | e->written[i];
            written |= e->written[i];
        }
        sum.threads += e->threads;
        if (!e->more)
            break;
        e = &s->shared[e->more - 1];
    }
    sum.written = written != 0;
    sum.truly = (often & written) != 0;
    return sum;
}

bool trod_own_sharing_merge(struct trod_own_sim *s, const struct trod_own_sim *from)
{
    const size_t before = s->n_shared;

    for (size_t i = 0; i < from->n_shared; i++) {
        if (!trod_grow(&s->shared, s->n_shared, &s->cap_shared, sizeof *s->shared, 256))
            return false;
        s->shared[s->n_shared] = from->shared[i];
        if (from->shared[i].more)
            s->shared[s->n_shared].more += before;
        s->n_shared++;
    }
    return true;
}
