/*
 * again.c - a compressed stream is read on behind damage, where its next frame or member begins.
 *
 * Implements trod_stage_again() of filter.h. What is between is not read, and counted; of what
 * follows so much is left out that records of 8, 12 or 24 bytes stay in step, where it is known how
 * much is missing.
 */
#include "damage.h"
#include "filter.h"
#include "source.h"

#include "trod/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    STEP = 24, /* output that is missing is made a multiple of it */
    /* data may look like a frame everywhere: so many bytes may be looked at in vain, and so many
     * more for each that is passed over */
    TRIED_FREE = 1 << 30,
    TRIED_EACH = 64,
    BACK = 8 /* bytes before the error that may belong to the next frame already */
};

/*
 * Back to a little before the error, but not to where the frame being read begins. What a library
 * has taken beyond the error depends on where reads ended, and must not count.
 */
static void step_back(struct trod_stage *s)
{
    const uint64_t least = s->frame_used + 1;
    const uint64_t to = s->wrong_at < least + BACK ? least : s->wrong_at - BACK;
    const size_t past = (size_t)(s->p - s->first);
    size_t n = 0;

    if (s->used > to)
        n = s->used - to < past ? (size_t)(s->used - to) : past;
    s->p -= n;
    s->n += n;
    s->used -= n;
    if (s->used < least && (s->n || trod_stage_more(s)))
        trod_stage_use(s, 1);
}

/* What `again` says of byte I at hand, which costs S no more than is left for all of them. */
static int ask(struct trod_stage *s, size_t i)
{
    const struct trod_filter *f = s->filter;
    const uint64_t cost = f->again_costs ? f->again_costs(s->p + i, s->n - i) : 0;
    int bits;

    if (cost && s->tried + cost > TRIED_FREE + TRIED_EACH * (s->searched + i))
        return 0;
    bits = f->again(s->p + i, s->n - i);
    if (bits == 0)
        s->tried += cost;
    return bits;
}

/* Go to the next frame of S. False: there is none, all input is used. */
static bool find(struct trod_stage *s)
{
    step_back(s);
    for (;;) {
        size_t i = 0;

        for (int bits = 0; i < s->n; i++) {
            bits = ask(s, i);
            if (bits > 0) {
                trod_stage_use(s, i);
                return true;
            }
            if (bits == TROD_BID_MORE && !s->end && (i || s->n < TROD_FEED))
                break;
        }
        trod_stage_use(s, i);
        s->searched += i;
        if (s->end || (!trod_stage_more(s) && !s->end))
            return false;
    }
}

/* S was damaged at byte FROM of the input, and stands at the next frame: how much is missing? */
static void count_missing(struct trod_stage *s, uint64_t from)
{
    uint64_t size = s->frame_size;

    if (size == TROD_NOWHERE && s->filter->made_before)
        size = s->filter->made_before(s->p, (size_t)(s->p - s->first));
    if (s->used <= from && s->missing != TROD_NOWHERE) /* it has ended by itself */
        s->frame_at = s->made + s->missing;
    else if (size == TROD_NOWHERE || s->frame_at == TROD_NOWHERE)
        s->frame_at = s->missing = TROD_NOWHERE;
    else
        s->frame_at += size;
    if (s->frame_at == TROD_NOWHERE)
        return;
    s->drop = (unsigned)((STEP - s->frame_at % STEP) % STEP);
    s->missing = s->frame_at - s->made + s->drop;
}

/* There is no other frame: say how much is not read of what is behind byte FROM of the input. */
static int end_here(struct trod_stage *s, uint64_t from)
{
    struct trod_fault *f = s->fault;
    const size_t n = strlen(f->text);
    const uint64_t end =
        !s->filter->again && !s->up && s->source->regular ? s->source->size : s->used + s->n;

    if (end > from)
        snprintf(f->text + n, sizeof f->text - n,
                 "; the %" PRIu64 " compressed bytes from there on are not read", end - from);
    s->damages = NULL;
    return s->status;
}

int trod_stage_again(struct trod_stage *s)
{
    struct trod_damage d = {.at = s->made, .status = s->status, .kind = s->fault->kind};
    uint64_t from;

    if (s->wrong_at == TROD_NOWHERE) /* it is the input's own error */
        s->wrong_at = s->used;
    from = s->wrong_at;
    if (!s->damages || s->frames || s->fault->status != TROD_ERR_CORRUPT)
        return s->status;
    if (!s->filter->again || !find(s))
        return end_here(s, from);
    count_missing(s, from);
    snprintf(d.text, sizeof d.text, "%s; it is read on at compressed offset %" PRIu64,
             s->fault->text, s->used);
    trod_damages_add(s->damages, &d);
    s->fault->status = TROD_OK;
    s->filter->close(s);
    s->state = NULL;
    s->frame_used = s->used;
    s->frame_size = TROD_NOWHERE;
    return s->filter->open(s);
}

void trod_stage_drop(struct trod_stage *s, uint8_t *out, size_t *n)
{
    const size_t some = *n < s->drop ? *n : s->drop;

    memmove(out, out + some, *n - some);
    *n -= some;
    s->drop -= (unsigned)some;
}
