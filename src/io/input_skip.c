/*
 * input_skip.c - bytes of an input that nobody looks at: passed over by seeking where that is less.
 *
 * Implements trod_input_skip and what it goes by: frames of compressed files (frames.h) and places
 * that decompression can go on from (points.h).
 */
#include "input_int.h"

#include "filter.h"
#include "made.h"
#include "points.h"
#include "zip.h"

#include <stdlib.h>

/*
 * Fewer bytes are read and thrown away sooner than a thread is stopped and started again; and than
 * the frames of a compressed file are looked for, which may lie anywhere in it.
 */
enum { SEEK_FROM = 8 << 20, LOOK_FROM = 1 << 19 };

/* The frames of a file with one compression, if they are known. */
static const struct trod_frames *frames_of(struct trod_input *in)
{
    if (!in->frames.looked && in->n_filters == 1 && !in->direct && !trod_zip_is(&in->source))
        trod_frames_find(&in->frames, &in->source, in->filters[0]);
    return in->frames.n ? &in->frames : NULL;
}

const struct trod_frames *trod_input_frames(const struct trod_input *in)
{
    return &in->frames;
}

bool trod_input_whole(struct trod_input *in)
{
    const struct trod_frames *frames = frames_of(in);

    if (in->n_filters == 0 || (in->n_filters == 1 && in->filters[0]->resume))
        return false;
    return !frames || frames->n < 2;
}

void trod_input_use_frames(struct trod_input *in, const struct trod_frames *frames)
{
    /* the first part does not skip: it too sees whether they are true */
    if (!frames->looked || in->frames.looked || !trod_frames_copy(&in->frames, frames))
        return;
    in->given = true;
    if (in->n_filters == 1)
        trod_stage_expect(in->top->up, &in->frames);
}

/* Nothing of what was read is of use any more: the input goes on at OFFSET. */
static void begin_at(struct trod_input *in, uint64_t offset)
{
    in->top->n = 0;
    trod_ring_rewind(&in->ring);
    in->p = NULL;
    in->n = in->taken = 0;
    in->block = 0;
    in->spilled = false;
    in->offset = offset;
}

int trod_input_point(struct trod_input *in, const struct trod_point *point)
{
    if (trod_zip_is(&in->source) && in->n_filters == 0)
        return trod_zip_point(&in->source, point);
    if (in->n_filters != 1 || !in->filters[0]->resume || in->direct || trod_zip_is(&in->source))
        return TROD_ERR_UNSUPPORTED;
    free(in->point);
    in->point = malloc(sizeof *in->point);
    if (!in->point)
        return TROD_ERR_NOMEM;
    *in->point = *point;
    return TROD_OK;
}

bool trod_input_sound(const struct trod_input *in, uint64_t upto)
{
    struct trod_input *own = (struct trod_input *)(uintptr_t)in; /* the lock changes */

    return (!trod_zip_is(&in->source) || trod_zip_sound(&in->source, upto)) &&
           trod_damages_none(&own->damages, upto);
}

/* Something is missing of what was read: offsets are not those that frames and points say. */
static bool is_damaged(struct trod_input *in)
{
    return !trod_damages_none(&in->damages, TROD_NOWHERE);
}

/* Go to the point, if it lies between here and N bytes further. Returns how far it came. */
static uint64_t seek_point(struct trod_input *in, uint64_t n)
{
    const struct trod_point *to = in->point;
    const uint64_t from = in->offset, at = to ? to->packed - (to->bits != 0) : 0;
    uint64_t reached;

    if (!to || to->decoded <= from || to->decoded > from + n || !in->source.ops->seek ||
        atomic_load(&in->ring.ended))
        return 0;
    trod_ring_stop(&in->ring);
    if (atomic_load(&in->ring.ended) || in->top->end || is_damaged(in) ||
        !in->source.ops->seek(&in->source, at, &reached) || reached != at)
        return 0;
    in->source.pushed_at = in->source.n_pushed;
    if (trod_stage_resume(in->top->up, to) != TROD_OK)
        return 0;
    begin_at(in, to->decoded);
    return to->decoded - from;
}

/* Those that can be gone by: nobody sees where others, that were guessed, prove wrong. */
static const struct trod_frames *known_frames(struct trod_input *in)
{
    const struct trod_frames *frames = frames_of(in);

    return frames && frames->guessed && !in->given ? NULL : frames;
}

/* Go to the last frame that begins between here and N bytes further. Returns how far it came. */
static uint64_t seek_frame(struct trod_input *in, uint64_t n)
{
    const struct trod_frames *frames = known_frames(in);
    const struct trod_io_frame *to = frames ? trod_frames_before(frames, in->offset + n) : NULL;
    const uint64_t from = in->offset;
    uint64_t reached;

    if (!to || to->decoded <= from || !in->source.ops->seek || atomic_load(&in->ring.ended))
        return 0;
    trod_ring_stop(&in->ring);
    if (atomic_load(&in->ring.ended) || in->top->end || is_damaged(in) ||
        !in->source.ops->seek(&in->source, to->packed, &reached) || reached != to->packed)
        return 0;
    in->source.pushed_at = in->source.n_pushed;
    if (trod_stage_restart(in->top->up, to->packed, to->decoded) != TROD_OK)
        return 0;
    trod_stage_expect(in->top->up, in->given ? frames : NULL);
    begin_at(in, to->decoded);
    return to->decoded - from;
}

uint64_t trod_input_decoded(struct trod_input *in)
{
    if (trod_source_maker_of(&in->source))
        return TROD_NOWHERE;
    if (in->n_filters == 0 && !trod_zip_is(&in->source))
        return in->source.size;
    return known_frames(in) ? in->frames.size : TROD_NOWHERE;
}

uint64_t trod_input_packed_size(struct trod_input *in)
{
    return frames_of(in) && in->n_filters ? in->frames.size : trod_input_decoded(in);
}

uint64_t trod_input_frame(struct trod_input *in, uint64_t offset)
{
    const struct trod_frames *frames = frames_of(in);

    return frames ? trod_frames_before(frames, offset)->decoded : offset;
}

/* Go N bytes further by seeking, if the source can. Returns how far it came. */
static uint64_t seek_ahead(struct trod_input *in, uint64_t n)
{
    uint64_t reached;
    if (in->n_filters && in->point)
        return seek_point(in, n);
    if (in->n_filters)
        return seek_frame(in, n);
    if (in->top->end || !in->source.ops->seek || atomic_load(&in->ring.ended))
        return 0;
    trod_ring_stop(&in->ring);
    if (atomic_load(&in->ring.ended) ||
        !in->source.ops->seek(&in->source, in->offset + n, &reached))
        return 0;
    const uint64_t skipped = reached - in->offset;
    begin_at(in, reached);
    return skipped;
}

/* Is there a place ahead, inside a member of an archive, that may be gone to? */
static bool has_point(const struct trod_input *in)
{
    return trod_zip_is(&in->source) && trod_zip_pointed(&in->source, in->offset);
}

/* May seeking be faster than reading N bytes? */
static bool is_far(const struct trod_input *in, uint64_t n)
{
    if (in->n_filters)
        return in->point || in->frames.looked || n >= LOOK_FROM;
    return n >= SEEK_FROM || has_point(in);
}

uint64_t trod_input_skip(struct trod_input *in, uint64_t n)
{
    uint64_t done = 0;
    while (done < n) {
        if (in->n == 0) {
            if (!in->direct && is_far(in, n - done))
                done += seek_ahead(in, n - done);
            if (done == n)
                break;
            struct trod_span span;
            if (trod_input_ahead(in, 1, &span) != TROD_OK || span.n == 0)
                break;
        }
        const size_t some = n - done < in->n ? (size_t)(n - done) : in->n;
        trod_input_consume(in, some);
        done += some;
    }
    return done;
}
