/*
 * input.c - input windows: look ahead, consume.
 *
 * Implements trod/io.h (trod_input_*) over a ring of decoded blocks (ring.h). A span lies in a
 * block; where it has to cross into the next one, what is left of the old block is copied into the
 * headroom before the new one. What does not fit there (somebody asked for much at once) is put
 * together in a buffer, the spill. Memory without filters is shown as it is.
 */
#include "input_int.h"

#include "core/sized.h"
#include "core/spare.h"
#include "damage.h"
#include "filter.h"
#include "made.h"
#include "points.h"
#include "zip.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_TAIL = 1 << 12 };

static int input_report(struct trod_input *in, int status)
{
    if (!in->reported) {
        in->reported = true;
        trod_fault_report(&in->fault, in->diag, in->path, in->offset + in->n);
    }
    return status;
}

static struct trod_input *input_new(const char *name, struct trod_diag *diag)
{
    struct trod_input *in = calloc(1, sizeof *in);
    if (!in)
        return NULL;
    in->path = strdup(name);
    in->diag = diag;
    in->damage = TROD_NOWHERE;
    trod_damages_init(&in->damages);
    if (!in->path) {
        trod_damages_fini(&in->damages);
        free(in);
        return NULL;
    }
    return in;
}

/* The part of opening that is the same for all sources; IN is closed on errors. */
static int input_begin(struct trod_input **out, struct trod_input *in, int status,
                       const struct trod_input_options *options)
{
    struct trod_input_options own;
    const struct trod_input_options *opt = &own;
    if (!trod_sized(&own, sizeof own, sizeof own, options) && status == TROD_OK)
        status = trod_fault_set(&in->fault, TROD_ERR_USAGE, "io.options",
                                "options are of another version");
    if (status == TROD_OK && !opt->raw)
        status = trod_zip_wrap(&in->source, opt->window, opt->lazy, &in->fault);
    if (status == TROD_OK && !opt->no_thread && !opt->lazy && trod_zip_is(&in->source))
        trod_zip_ahead(&in->source, opt->beside);
    if (status == TROD_OK && opt->lazy)
        trod_source_doze(&in->source, in->path);
    if (status == TROD_OK)
        status =
            trod_stack_open(&in->top, &in->source, opt->raw, opt->lazy, opt->ratio, &in->fault);
    if (status == TROD_OK && in->top->up == NULL && in->source.mem) {
        in->direct = true;
        in->p = in->source.mem;
        in->n = (size_t)in->source.size;
    } else if (status == TROD_OK) {
        status = trod_ring_init(&in->ring, in->top, &in->source, !opt->no_thread,
                                opt->window ? opt->window : TROD_WINDOW, &in->fault);
        in->ring_made = status == TROD_OK;
    }
    if (status != TROD_OK) {
        input_report(in, status);
        trod_input_close(in);
        return status;
    }
    for (const struct trod_stage *s = in->top->up; s; s = s->up)
        in->n_filters++;
    unsigned i = in->n_filters;
    for (const struct trod_stage *s = in->top->up; s; s = s->up)
        in->filters[--i] = s->filter;
    if (in->top->up)
        in->top->up->damages = &in->damages;
    *out = in;
    return TROD_OK;
}

static int no_memory(const char *name, struct trod_diag *diag)
{
    struct trod_fault f = {0};
    trod_fault_nomem(&f, "an input");
    return trod_fault_report(&f, diag, name, TROD_NOWHERE);
}

int trod_input_open(struct trod_input **out, const char *path, const struct trod_input_options *opt,
                    struct trod_diag *diag)
{
    *out = NULL;
    struct trod_input *in = input_new(path, diag);
    if (!in)
        return no_memory(path, diag);
    return input_begin(out, in, trod_source_open(&in->source, path, &in->fault), opt);
}

int trod_input_fd(struct trod_input **out, int fd, const char *name,
                  const struct trod_input_options *opt, struct trod_diag *diag)
{
    *out = NULL;
    struct trod_input *in = input_new(name, diag);
    if (!in)
        return no_memory(name, diag);
    return input_begin(out, in, trod_source_fd(&in->source, fd, false, &in->fault), opt);
}

int trod_input_memory(struct trod_input **out, const void *p, size_t n, const char *name,
                      const struct trod_input_options *opt, struct trod_diag *diag)
{
    *out = NULL;
    struct trod_input *in = input_new(name, diag);
    if (!in)
        return no_memory(name, diag);
    trod_source_memory(&in->source, p, n);
    return input_begin(out, in, TROD_OK, opt);
}

int trod_input_made(struct trod_input **out, struct trod_input *of, const struct trod_maker *m,
                    void *state, struct trod_diag *diag)
{
    const struct trod_input_options opt = {.no_thread = true, .raw = true};
    struct trod_input *in = input_new(of->path, diag);

    *out = NULL;
    if (!in) {
        const int rc = no_memory(of->path, diag);

        m->close(state);
        trod_input_close(of);
        return rc;
    }
    return input_begin(out, in, trod_source_made(&in->source, of, m, state, &in->fault), &opt);
}

void *trod_input_maker(const struct trod_input *in, const struct trod_maker *m)
{
    return trod_source_maker(&in->source, m);
}

static const uint8_t *block_data(struct trod_input *in)
{
    return trod_ring_block(&in->ring, in->block)->mem + in->ring.headroom;
}

/* Make the spill hold MIN bytes and some more, those of the window first. */
static int spill_reserve(struct trod_input *in, size_t min)
{
    min = min > in->n ? min : in->n;
    if (in->spilled && (size_t)(in->p - in->spill) + min <= in->spill_cap)
        return TROD_OK;
    if (in->spilled && min <= in->spill_cap) {
        memmove(in->spill, in->p, in->n);
        in->p = in->spill;
        return TROD_OK;
    }
    /* who asks for one byte more time and again does not make it grow each time */
    const size_t cap = min + (min / 2 > in->ring.window ? min / 2 : in->ring.window);
    uint8_t *spill = trod_spare_take(cap);
    if (!spill) {
        const struct trod_place at = trod_place_offset(in->path, in->offset);
        return trod_error(in->diag, TROD_ERR_NOMEM, "io.memory", &at,
                          "out of memory in an input window");
    }
    if (in->n)
        memcpy(spill, in->p, in->n);
    trod_spare_give(in->spill, in->spill_cap);
    in->spill = spill;
    in->spill_cap = cap;
    in->p = spill;
    in->spilled = true;
    return TROD_OK;
}

/* Back to the blocks once all that is left of the spill lies in the current one. */
static void spill_leave(struct trod_input *in)
{
    if (!in->spilled || in->n > in->taken)
        return;
    in->p = block_data(in) + in->taken - in->n;
    in->spilled = false;
    trod_spare_give(in->spill, in->spill_cap);
    in->spill = NULL;
    in->spill_cap = 0;
}

/* Add to the window what the current block has got since; to the spill not much beyond MIN. */
static void window_extend(struct trod_input *in, size_t min)
{
    size_t more = atomic_load(&trod_ring_block(&in->ring, in->block)->n) - in->taken;
    if (in->spilled) {
        const size_t room = in->spill_cap - (size_t)(in->p - in->spill) - in->n;
        const size_t need = min > in->n ? min - in->n + in->n / 4 : 0;
        more = more < need ? more : need;
        more = more < room ? more : room;
        if (more)
            memcpy(in->spill + (in->p - in->spill) + in->n, block_data(in) + in->taken, more);
    } else if (in->taken == 0 && in->n == 0 && more) {
        in->p = block_data(in);
    }
    in->n += more;
    in->taken += more;
}

/* Go to the next block, what is left in front of it or in the spill. */
static int window_next(struct trod_input *in, size_t min)
{
    const struct trod_block *next = trod_ring_block(&in->ring, in->block + 1);
    if (!in->spilled && in->n > in->ring.headroom) {
        const int status = spill_reserve(in, min);
        if (status != TROD_OK)
            return status;
    } else if (!in->spilled && in->n) {
        uint8_t *p = next->mem + in->ring.headroom - in->n;
        memcpy(p, in->p, in->n);
        in->p = p;
    }
    in->block++;
    in->taken = 0;
    trod_ring_release(&in->ring, in->block);
    return TROD_OK;
}

/* Is the window all there is to come? */
static bool all_shown(struct trod_input *in)
{
    if (in->direct)
        return true;
    struct trod_ring *r = &in->ring;
    return atomic_load(&r->ended) && atomic_load(&r->filled) == in->block &&
           in->taken == atomic_load(&trod_ring_block(r, in->block)->n);
}

/*
 * Is the window but the tail of a block, and more at hand in the next one? Then it is worth a copy
 * not to make the caller look at the tail alone first.
 */
static bool short_tail(struct trod_input *in)
{
    return !in->spilled && in->n <= SHORT_TAIL && in->n <= in->ring.headroom &&
           atomic_load(&trod_ring_block(&in->ring, in->block + 1)->n) != 0;
}

/* Make the window hold MIN bytes (at least 1), or all there are. */
static int window_fill(struct trod_input *in, size_t min)
{
    struct trod_ring *r = &in->ring;
    spill_leave(in);
    int status = in->spilled && min > in->n ? spill_reserve(in, min) : TROD_OK;
    if (status != TROD_OK)
        return status;
    for (;;) {
        /* FILLED first: if the block is done, the bytes seen after that are all of it */
        const bool done = atomic_load(&r->filled) > in->block;
        window_extend(in, min);
        if ((in->n >= min && !(done && short_tail(in))) || all_shown(in))
            return TROD_OK;
        if (!done) {
            trod_ring_wait(r, in->block, in->taken);
            continue;
        }
        status = window_next(in, min);
        if (status != TROD_OK)
            return status;
    }
}

/*
 * Of D, damage is told when all before it is used, or MIN bytes reach beyond. How far off the next
 * is; where records are not to reach across it, that which was told last counts until all before it
 * is used. Behind a gap none goes on; behind bytes that are wrong it does unless a member begins
 * with a record: then those of this one may be out of step.
 */
static uint64_t report_damage(struct trod_input *in, struct trod_damages *d, size_t min)
{
    const size_t n = min && min <= in->n ? min - 1 : min ? in->n : 0;
    uint64_t next = trod_damages_next(d);

    while (in->edge <= in->offset && next <= in->offset + n) {
        enum trod_damage_left left;
        const uint64_t told = trod_damages_report(d, next, in->diag, in->path, &left);

        in->damage = told < in->damage ? told : in->damage;
        if (left == TROD_LEFT_GAP || (left == TROD_LEFT_WRONG && in->apart))
            in->edge = next;
        next = trod_damages_next(d);
    }
    return in->edge > in->offset ? in->edge - in->offset : next - in->offset;
}

int trod_input_ahead(struct trod_input *in, size_t min, struct trod_span *span)
{
    uint64_t sound = TROD_NOWHERE;
    int status = TROD_OK;
    if (min > TROD_AHEAD_MAX) {
        status = TROD_ERR_LIMIT;
        const struct trod_place at = trod_place_offset(in->path, in->offset);
        trod_error(in->diag, status, "io.ahead", &at,
                   "a window of %zu bytes is larger than the limit of %d", min, TROD_AHEAD_MAX);
    } else if (!in->direct) {
        status = window_fill(in, min ? min : 1);
    }
    if (trod_zip_is(&in->source))
        sound = report_damage(in, trod_zip_damages(&in->source), min);
    if (in->n_filters) {
        const uint64_t also = report_damage(in, &in->damages, min);

        sound = also < sound ? also : sound;
    }
    *span = (struct trod_span){.p = in->p, .n = in->n, .offset = in->offset, .last = false};
    if (sound <= in->n)
        span->n = (size_t)sound;
    if (status != TROD_OK || sound <= in->n)
        return status;
    if (!all_shown(in))
        return TROD_OK;
    span->last = in->direct || in->ring.end_status == TROD_OK;
    return span->last || in->n ? TROD_OK : input_report(in, in->ring.end_status);
}

bool trod_input_interrupted(const struct trod_input *in)
{
    return in->fault.quiet;
}

void trod_input_apart(struct trod_input *in)
{
    in->apart = true;
}

void trod_input_alone(struct trod_input *in)
{
    if (in->ring_made && in->n_filters == 0 && !trod_zip_is(&in->source) && !in->ring.running)
        in->ring.threads = false;
}

uint64_t trod_input_damage(const struct trod_input *in)
{
    return in->damage;
}

int trod_input_end(struct trod_input *in)
{
    if (in->direct || !all_shown(in) || in->ring.end_status == TROD_OK)
        return TROD_OK;
    return input_report(in, in->ring.end_status);
}

void trod_input_consume(struct trod_input *in, size_t n)
{
    if (n > in->n)
        n = in->n;
    if (n == 0)
        return;
    in->p += n;
    in->n -= n;
    in->offset += n;
}

uint64_t trod_input_offset(const struct trod_input *in)
{
    return in->offset;
}

uint64_t trod_input_file_offset(const struct trod_input *in)
{
    if (in->n_filters == 0 && !trod_zip_is(&in->source) && !trod_source_maker_of(&in->source))
        return in->offset;
    return atomic_load_explicit(&in->source.offset, memory_order_relaxed);
}

uint64_t trod_input_file_size(const struct trod_input *in)
{
    return in->source.size;
}

const char *trod_input_filter(const struct trod_input *in, unsigned i)
{
    if (trod_zip_is(&in->source) && i-- == 0)
        return "zip";
    return i < in->n_filters ? in->filters[i]->name : NULL;
}

size_t trod_input_members(const struct trod_input *in)
{
    return trod_zip_is(&in->source) ? trod_zip_members(&in->source) : 0;
}

bool trod_input_member(const struct trod_input *in, size_t k, struct trod_member *out)
{
    return trod_zip_is(&in->source) &&
           trod_zip_member(&in->source, k, &out->name, &out->offset, &out->size);
}

size_t trod_input_member_at(const struct trod_input *in, uint64_t offset)
{
    return trod_zip_is(&in->source) && in->n_filters == 0 ? trod_zip_member_at(&in->source, offset)
                                                          : SIZE_MAX;
}

const char *trod_input_path(const struct trod_input *in)
{
    return in->path;
}

void trod_input_close(struct trod_input *in)
{
    if (!in)
        return;
    if (in->ring_made)
        trod_ring_fini(&in->ring);
    trod_stack_close(in->top);
    trod_source_close(&in->source);
    trod_frames_fini(&in->frames);
    trod_damages_fini(&in->damages);
    free(in->point);
    trod_spare_give(in->spill, in->spill_cap);
    free(in->path);
    free(in);
}
