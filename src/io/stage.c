/*
 * stage.c - the stack of filters over a source: peeling, feeding, limits.
 *
 * Implements docs/design.md, "Detection" (filters). A stage pulls its input from the one below; the
 * topmost only hands through what was looked at to find that nobody wants it.
 */
#include "filter.h"
#include "frames.h"
#include "points.h"
#include "source.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Small files may compress as well as they like: the limit of expansion holds from here on. */
enum { RATIO_FROM = 1 << 25 };

static int input_read(struct trod_stage *s, uint8_t *p, size_t cap, size_t *n)
{
    if (s->up)
        return trod_stage_read(s->up, p, cap, n);
    return s->source->ops->read(s->source, p, cap, n, s->fault);
}

/* A filter that takes larger pieces than a lean stage has at hand: it gets room for them. */
static void widen(struct trod_stage *s)
{
    const size_t past = (size_t)(s->p - s->first);
    uint8_t *buf = malloc(2 * s->feed + TROD_STAGE_PAST);

    if (!buf)
        return;
    memcpy(buf, s->first, past + s->n);
    free(s->buf);
    s->buf = buf;
    s->first = buf;
    s->p = buf + past;
    s->feed *= 2;
}

/* Move what is at hand to the beginning of the buffer, with the last of the used bytes. */
static void move_down(struct trod_stage *s)
{
    size_t past = (size_t)(s->p - s->first);

    past = past < TROD_STAGE_PAST ? past : TROD_STAGE_PAST;
    memmove(s->buf, s->p - past, past + s->n);
    s->first = s->buf;
    s->p = s->buf + past;
}

/*
 * Bytes to ask for. What is only looked at for a filter begins with a little, which is nearly
 * always enough: where reading goes on somewhere else the beginning is of no other use.
 */
static size_t more_of(const struct trod_stage *s)
{
    const size_t room = s->feed - s->n, look = s->n > TROD_FEED_LEAN ? s->n : TROD_FEED_LEAN;

    return s->filter || room < look ? room : look;
}

bool trod_stage_more(struct trod_stage *s)
{
    if (s->end)
        return false;
    if (!s->buf) {
        s->buf = malloc(s->feed + TROD_STAGE_PAST);
        if (!s->buf) {
            s->up_status = trod_fault_nomem(s->fault, "an input filter");
            s->end = true;
            return false;
        }
        s->p = s->first = s->buf;
    } else {
        move_down(s);
    }
    if (s->n == s->feed && s->feed < TROD_FEED)
        widen(s);
    size_t got = 0;
    if (s->n < s->feed) {
        uint8_t *behind = s->buf + (s->p - s->first) + s->n;

        s->up_status = input_read(s, behind, more_of(s), &got);
        if (s->up_status != TROD_OK || got == 0)
            s->end = true;
        s->n += got;
    }
    return got != 0;
}

int trod_stage_starved(struct trod_stage *s)
{
    if (s->up_status != TROD_OK)
        return s->up_status;
    return trod_fault_set(s->fault, TROD_ERR_TRUNCATED, "io.truncated",
                          "%s data is cut short after %" PRIu64 " compressed bytes",
                          s->filter->name, s->used + s->n);
}

int trod_stage_corrupt_from(struct trod_stage *s, size_t bytes, const char *why)
{
    s->wrong_at = s->used - bytes;
    return trod_fault_set(s->fault, TROD_ERR_CORRUPT, "io.corrupt",
                          "%s data is corrupt near compressed offset %" PRIu64 ": %s",
                          s->filter->name, s->wrong_at, why);
}

int trod_stage_corrupt(struct trod_stage *s, const char *why)
{
    return trod_stage_corrupt_from(s, 0, why);
}

bool trod_stage_at_end(struct trod_stage *s, int *status)
{
    *status = TROD_OK;
    if (s->n || trod_stage_more(s))
        return false;
    *status = s->up_status;
    return true;
}

static int hand_through(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    if (s->n) {
        *n = s->n < cap ? s->n : cap;
        memcpy(out, s->p, *n);
        trod_stage_use(s, *n);
        if (s->n == 0 && !s->end) {
            free(s->buf);
            s->buf = NULL;
        }
        return TROD_OK;
    }
    if (s->end)
        return s->up_status;
    const int status = input_read(s, out, cap, n);
    s->used += *n;
    return status;
}

static int over_limit(const struct trod_stage *s)
{
    const uint64_t in = atomic_load_explicit(&s->source->offset, memory_order_relaxed);
    if (s->made < RATIO_FROM || s->made / s->ratio <= in)
        return TROD_OK;
    return trod_fault_set(s->fault, TROD_ERR_LIMIT, "io.ratio",
                          "compressed data expands more than %" PRIu32 " times: %" PRIu64
                          " bytes make %" PRIu64,
                          s->ratio, in, s->made);
}

/* Once the filter of S, or what is below. *N: bytes made. */
static int read_once(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    int status;

    s->wrong_at = TROD_NOWHERE;
    do {
        status = s->filter ? s->filter->read(s, out, cap, n) : hand_through(s, out, cap, n);
        if (s->drop == 0 || *n == 0)
            break;
        trod_stage_drop(s, out, n);
    } while (*n == 0 && status == TROD_OK);
    if (s->frames && s->made + *n > s->frame_to) { /* the frame should have ended there */
        *n = (size_t)(s->frame_to - s->made);
        status = trod_stage_corrupt(s, "members are not as long as was thought");
    }
    s->made += *n;
    if (status == TROD_OK && s->filter)
        status = over_limit(s);
    s->status = status;
    s->finished = status == TROD_OK && *n == 0;
    return status;
}

int trod_stage_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    *n = 0;
    while (*n == 0) {
        if (s->status == TROD_ERR_CORRUPT && s->filter)
            s->status = trod_stage_again(s);
        if (s->status != TROD_OK || s->finished)
            return s->status;
        if (read_once(s, out, cap, n) != TROD_ERR_CORRUPT)
            break;
    }
    return *n ? TROD_OK : s->status;
}

void trod_stage_expect(struct trod_stage *s, const struct trod_frames *frames)
{
    s->frames = frames;
    s->frame_to = frames && s->filter->frame ? trod_frames_behind(frames, s->made) : TROD_NOWHERE;
}

int trod_stage_frame(struct trod_stage *s, uint64_t made)
{
    s->frame_used = s->used;
    s->frame_at = s->missing == TROD_NOWHERE ? s->missing : made - s->drop + s->missing;
    s->frame_size = TROD_NOWHERE;
    if (!s->frames)
        return TROD_OK;
    if (!trod_frames_agree(s->frames, s->used, made))
        return trod_stage_corrupt(s, "members are not as long as was thought");
    s->frame_to = trod_frames_behind(s->frames, made);
    return TROD_OK;
}

static void forget(struct trod_stage *s, uint64_t packed, uint64_t decoded)
{
    if (s->filter->close)
        s->filter->close(s);
    s->state = NULL;
    s->first = s->p;
    s->n = 0;
    s->end = s->finished = false;
    s->status = s->up_status = TROD_OK;
    s->used = s->frame_used = packed;
    s->made = s->frame_at = decoded;
    s->missing = s->drop = 0;
    s->frame_size = TROD_NOWHERE;
}

int trod_stage_restart(struct trod_stage *s, uint64_t packed, uint64_t decoded)
{
    forget(s, packed, decoded);
    return s->filter->open(s);
}

int trod_stage_resume(struct trod_stage *s, const struct trod_point *point)
{
    forget(s, point->packed - (point->bits != 0), point->decoded);
    return s->filter->resume(s, point);
}

static struct trod_stage *stage_new(struct trod_stage *up, struct trod_source *source,
                                    uint32_t ratio, bool lean, struct trod_fault *fault)
{
    struct trod_stage *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->feed = lean ? TROD_FEED_LEAN : TROD_FEED;
    s->up = up;
    s->source = source;
    s->ratio = ratio ? ratio : TROD_RATIO_DEFAULT;
    s->fault = fault;
    s->frame_size = TROD_NOWHERE;
    if (!up && source->mem) {
        s->p = s->first = source->mem;
        s->n = (size_t)source->size;
        s->end = true;
        atomic_store_explicit(&source->offset, source->size, memory_order_relaxed);
    }
    return s;
}

/* The filter that wants the input of S, NULL: nobody does. */
static const struct trod_filter *best_bid(struct trod_stage *s)
{
    for (;;) {
        const struct trod_filter *best = NULL;
        int most = TROD_BID_FILTER - 1;
        bool more = false;
        for (size_t i = 0; trod_filter_at(i); i++) {
            const int bits = s->n ? trod_filter_at(i)->bid(s->p, s->n) : TROD_BID_MORE;
            more = more || bits == TROD_BID_MORE;
            if (bits > most) {
                most = bits;
                best = trod_filter_at(i);
            }
        }
        if (best || !more || !trod_stage_more(s))
            return best;
    }
}

/* Make a filter of the stage *TOP, which handed through until now, and put a new one over it. */
static int stack_push(struct trod_stage **top, const struct trod_filter *filter)
{
    struct trod_stage *s = *top;
    if (!filter->open)
        return trod_fault_set(s->fault, TROD_ERR_UNSUPPORTED, "io.unsupported",
                              "%s data, which this build cannot read", filter->name);
    const bool lean = s->feed < TROD_FEED;
    struct trod_stage *over = stage_new(s, s->source, s->ratio, lean, s->fault);
    if (!over)
        return trod_fault_nomem(s->fault, "an input filter");
    s->filter = lean && filter->lean ? filter->lean : filter;
    *top = over;
    return s->filter->open(s);
}

int trod_stack_open(struct trod_stage **top, struct trod_source *source, bool raw, bool lean,
                    uint32_t ratio, struct trod_fault *fault)
{
    *top = stage_new(NULL, source, ratio, lean, fault);
    if (!*top)
        return trod_fault_nomem(fault, "an input");
    const struct trod_filter *filter;
    for (int depth = 0; !raw && (filter = best_bid(*top)) != NULL; depth++) {
        if (depth == TROD_FILTER_DEPTH)
            return trod_fault_set(fault, TROD_ERR_LIMIT, "io.depth",
                                  "more than %d compressions over each other", TROD_FILTER_DEPTH);
        const int status = stack_push(top, filter);
        if (status != TROD_OK)
            return status;
    }
    return TROD_OK;
}

int trod_stack_force(struct trod_stage **top, struct trod_source *source,
                     const struct trod_filter *filter, uint32_t ratio, struct trod_fault *fault)
{
    *top = stage_new(NULL, source, ratio, false, fault);
    if (!*top)
        return trod_fault_nomem(fault, "an input");
    return stack_push(top, filter);
}

void trod_stack_close(struct trod_stage *top)
{
    while (top) {
        struct trod_stage *up = top->up;
        if (top->filter && top->filter->close)
            top->filter->close(top);
        free(top->buf);
        free(top);
        top = up;
    }
}
