/*
 * tally.c - implements tally.h.
 */
#include "tally.h"

#include "core/grow.h"

#include <stdlib.h>

void trod_tally_fini(struct trod_tally *t)
{
    trod_map_fini(&t->map);
    free(t->carried);
    *t = (struct trod_tally){.n = 0};
}

void trod_tally_clear(struct trod_tally *t)
{
    trod_map_clear(&t->map);
    t->n = 0;
}

/* The entry of LINE, which may be of a line that was forgotten; NULL: there is none. */
static struct trod_carried *find(const struct trod_tally *t, uint64_t line)
{
    const uint32_t hash = trod_map_hash(line);
    uint32_t i;

    for (size_t at = hash; trod_map_next(&t->map, hash, &at, &i);)
        if (t->carried[i].line == line)
            return &t->carried[i];
    return NULL;
}

/* What is carried of the line of E; NULL: nothing. */
static struct trod_carried *carried_of(const struct trod_tally *t, const struct trod_line *e)
{
    return e->lately & TROD_TALLY_CARRIED ? find(t, e->line) : NULL;
}

/* What is carried of LINE, made if there is nothing. NULL: no memory. */
static struct trod_carried *make(struct trod_tally *t, uint64_t line)
{
    struct trod_carried *c = find(t, line);

    if (c)
        return c;
    if (!trod_grow(&t->carried, t->n, &t->cap, sizeof *t->carried, 16) ||
        !trod_map_put(&t->map, trod_map_hash(line), (uint32_t)t->n))
        return NULL;
    c = &t->carried[t->n++];
    *c = (struct trod_carried){.line = line};
    return c;
}

static struct trod_line_count beside(const struct trod_line *e)
{
    return (struct trod_line_count){.refs = e->lately & ((UINT32_C(1) << TROD_TALLY_REFS) - 1),
                                    .distant =
                                        (e->lately & ~TROD_TALLY_CARRIED) >> TROD_TALLY_REFS};
}

void trod_tally_forget(struct trod_tally *t, struct trod_line *e)
{
    struct trod_carried *const c = carried_of(t, e);

    if (c)
        c->count = (struct trod_line_count){.refs = 0};
    if (trod_tally_knows(e))
        e->lately = TROD_TALLY_CARRIED;
}

struct trod_line_count trod_tally_of(const struct trod_tally *t, const struct trod_line *e)
{
    const struct trod_carried *const c = carried_of(t, e);
    struct trod_line_count count = beside(e);

    if (c) {
        count.refs += c->count.refs;
        count.distant += c->count.distant;
    }
    return count;
}

/* COUNT more is carried of the line of E. */
static void carry(struct trod_tally *t, struct trod_line *e, struct trod_line_count count)
{
    struct trod_carried *const c = make(t, e->line);

    if (!c) {
        t->failed = true;
        return;
    }
    c->count.refs += count.refs;
    c->count.distant += count.distant;
    e->lately |= TROD_TALLY_CARRIED;
}

void trod_tally_carry(struct trod_tally *t, struct trod_line *e)
{
    carry(t, e, beside(e));
    e->lately &= TROD_TALLY_CARRIED;
}

void trod_tally_add(struct trod_tally *t, struct trod_line *e, struct trod_line_count count)
{
    if (count.refs > TROD_TALLY_MOST || count.distant > TROD_TALLY_MOST)
        carry(t, e, count);
    else
        trod_tally_note(t, e, trod_tally_notes((uint32_t)count.refs, (uint32_t)count.distant));
}
