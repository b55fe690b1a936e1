/*
 * streaks.h - making the streaks of a batch (trod/streak.h).
 *
 * Rows are processed in chunks. If all rows of a chunk are plain, none has to be examined by
 * itself. The code that fills the site column (owner.c) makes the streaks in the same pass.
 */
#ifndef TROD_ENGINE_STREAKS_H
#define TROD_ENGINE_STREAKS_H

#include "trod/site.h"
#include "trod/streak.h"

enum { ENGINE_CHUNK = 256 };

/* What the rows of a chunk have in common. */
struct engine_common {
    uint32_t all, any; /* columns that all of them have; columns that any of them has */
    bool one_stream;
    bool plain;      /* of one stream and one kind of code; all may be part of a streak */
    uint32_t stream; /* + 1; 0: they have none */
    uint32_t kernel; /* TROD_F_KERNEL or 0 */
};

struct engine_common engine_common_of(const struct trod_batch *b, uint32_t from, uint32_t to);

/* The making of streaks: the last streak may still be open. */
struct engine_streaks {
    struct trod_streaks *to;
    uint64_t next;   /* address after the last instruction of the open streak */
    uint32_t site;   /* the site that would continue the open streak */
    uint32_t last;   /* row of its last instruction */
    uint32_t stream; /* + 1, of its rows */
    uint32_t kernel; /* TROD_F_KERNEL or 0 */
    bool open;
};

static inline void engine_streaks_begin(struct engine_streaks *s, struct trod_streaks *to)
{
    *s = (struct engine_streaks){.to = to};
    to->n = to->n_accesses = 0;
}

/* End the open streak. */
static inline void engine_streaks_close(struct engine_streaks *s)
{
    if (s->open) {
        struct trod_streak *at = &s->to->at[s->to->n - 1];

        at->last = s->last;
        at->n = s->site - at->site;
    }
    s->open = false;
}

/* The following rows are of STREAM and KERNEL; end the open streak if it is of others. */
static inline void engine_streaks_turn(struct engine_streaks *s, uint32_t stream, uint32_t kernel)
{
    if (s->stream != stream || s->kernel != kernel)
        engine_streaks_close(s);
    s->stream = stream;
    s->kernel = kernel;
}

/* Row I gets an entry of its own, without a site. */
static inline void engine_streaks_single(struct engine_streaks *s, uint32_t i)
{
    engine_streaks_close(s);
    s->to->at[s->to->n++] = (struct trod_streak){.row = i, .last = i, .site = TROD_NO_SITE};
}

/* Row I of B is an instruction that may be part of a streak. */
static inline void engine_streaks_instruction(struct engine_streaks *s, const struct trod_batch *b,
                                              uint32_t i)
{
    const uint32_t site = b->site[i];
    const uint64_t addr = b->addr[i];

    if (!s->open || site != s->site || addr != s->next) {
        struct trod_streak *at;

        if (site == TROD_NO_SITE) {
            engine_streaks_single(s, i);
            return;
        }
        engine_streaks_close(s);
        s->open = true;
        at = &s->to->at[s->to->n++];
        at->row = i;
        at->site = site;
    }
    s->site = site + 1;
    s->last = i;
    s->next = addr + b->size[i];
    if (b->flags[i] & TROD_F_BRANCH)
        engine_streaks_close(s);
}

/* Row I of B, which is of a chunk that is plain. */
static inline void engine_streaks_plain_row(struct engine_streaks *s, const struct trod_batch *b,
                                            uint32_t i)
{
    const unsigned kind = b->kind[i];

    if (kind == TROD_INSTR)
        engine_streaks_instruction(s, b, i);
    else if (kind - TROD_READ <= (unsigned)(TROD_FLUSH - TROD_READ))
        s->to->access[s->to->n_accesses++] = (uint16_t)i;
    else if (kind != TROD_REG)
        engine_streaks_single(s, i);
}

/* Row I of B, whatever it says; its site is known. */
void engine_streaks_row(struct engine_streaks *s, const struct trod_batch *b, uint32_t i);

/* Fill TO with the streaks of B, whose site column is filled, and let B point to it. */
void engine_streaks_make(struct trod_streaks *to, struct trod_batch *b);

#endif
