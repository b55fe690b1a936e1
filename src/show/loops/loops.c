/*
 * loops.c - the loops that streams end in (trod/loops.h).
 *
 * The steps of a stream are in a ring buffer. Now and then, and at the end, its longest repeating
 * end is looked for: in the steps read backwards that is a prefix with a period, which the failure
 * function of Knuth, Morris and Pratt gives ("Fast Pattern Matching in Strings", SIAM J. Comput.
 * 6:2). A loop that was found is followed step by step as long as it continues, however long.
 */
#include "show/loops/loops.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/sized.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

int trod_loops_new(struct trod_loops **out, const struct trod_loops_options *opt)
{
    struct trod_loops *l = calloc(1, sizeof *l);

    *out = l;
    if (!l)
        return TROD_ERR_NOMEM;
    if (!trod_sized(&l->opt, sizeof l->opt, sizeof l->opt, opt)) {
        free(l);
        *out = NULL;
        return TROD_ERR_USAGE;
    }
    if (l->opt.least == 0)
        l->opt.least = 3;
    if (l->opt.like_tarmac && !(l->like = calloc(1, sizeof *l->like))) {
        free(l);
        *out = NULL;
        return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

void trod_loops_free(struct trod_loops *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n_lanes; i++) {
        if (l->lane[i]) {
            free(l->lane[i]->ring);
            free(l->lane[i]->done);
        }
        free(l->lane[i]);
    }
    free(l->lane);
    free(l->fail);
    free(l->found);
    free(l->like);
    free(l);
}

/* The lane of row I of B, made if new. NULL: no memory. */
static struct loops_lane *lane_of(struct trod_loops *l, const struct trod_batch *b, uint32_t i)
{
    const uint32_t at = b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] + 1 : 0;

    if (!trod_grow_to(&l->lane, &l->n_lanes, at, sizeof(struct loops_lane *), NULL))
        return NULL;
    if (!l->lane[at] && (l->lane[at] = calloc(1, sizeof *l->lane[at])) != NULL)
        l->lane[at]->slot = at;
    return l->lane[at];
}

/* ---- what a row does */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t mix_bytes(const struct trod_batch *b, struct trod_slice s, uint64_t h)
{
    return mix(h, trod_fnv(TROD_FNV, trod_batch_bytes(b, s), s.len));
}

/* Where the part of a line that is not understood begins that counts: behind its time. */
static uint64_t mix_note(const struct trod_batch *b, uint32_t i, uint64_t h)
{
    const uint32_t said = b->have & b->has[i];
    struct trod_slice s = b->raw[i];

    if (said & TROD_COL_TEXT && b->text[i].off >= s.off && b->text[i].off <= s.off + s.len) {
        s.len -= b->text[i].off - s.off;
        s.off = b->text[i].off;
    }
    return mix_bytes(b, s, h);
}

uint64_t loops_row(const struct trod_batch *b, uint32_t i, uint64_t h)
{
    const uint32_t said = b->have & b->has[i];

    h = mix(h, b->kind[i]);
    if (said & TROD_COL_ADDR)
        h = mix(h, b->addr[i]);
    if (said & TROD_COL_SIZE)
        h = mix(h, b->size[i]);
    if (said & TROD_COL_FLAGS)
        h = mix(h, b->flags[i] & (TROD_F_SKIPPED | TROD_F_ISET | TROD_F_ABORTED | TROD_F_BRANCH));
    if (b->kind[i] == TROD_INSTR)
        return h;
    if (said & TROD_COL_TARGET)
        h = mix(h, b->target[i]);
    if (said & TROD_COL_VALUE)
        h = mix(h, b->value[i]);
    if (said & TROD_COL_SUB)
        h = mix(h, b->sub[i]);
    if (said & TROD_COL_DATA)
        h = mix_bytes(b, b->data[i], h);
    if (b->kind[i] == TROD_NOTE && said & TROD_COL_RAW)
        return mix_note(b, i, h);
    return said & TROD_COL_TEXT ? mix_bytes(b, b->text[i], h) : h;
}

/* Does row I of B only say when, where or how much was traced? */
static bool idle(const struct trod_batch *b, uint32_t i)
{
    if (b->kind[i] == TROD_THREAD)
        return true;
    if (b->kind[i] != TROD_MARKER || !b->meta || !b->meta->driver ||
        !(b->meta->driver->flags & TROD_FMT_MARKERS) || !(b->have & b->has[i] & TROD_COL_SUB))
        return false;
    switch (b->sub[i]) {
    case TROD_DRM_TIMESTAMP:
    case TROD_DRM_CPU_ID:
    case TROD_DRM_INSTRUCTION_COUNT:
    case TROD_DRM_CHUNK_FOOTER:
    case TROD_DRM_RECORD_ORDINAL:
    case TROD_DRM_WINDOW_ID:
        return true;
    default:
        return false;
    }
}

/* Does row I of B begin a step? */
static bool begins(const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_INSTR || b->kind[i] == TROD_NOTE || b->kind[i] == TROD_MARKER ||
           b->kind[i] == TROD_EXCEPTION;
}

/* ---- loops */

static struct loops_step *step_at(const struct loops_lane *l, uint64_t step)
{
    return &l->ring[step % l->size];
}

/* The oldest step that is still there. */
static uint64_t oldest(const struct loops_lane *l)
{
    return l->n > l->size ? l->n - l->size : 0;
}

/*
 * The longest end of L that repeats at least LEAST times, into G. N: steps that are whole. Returns
 * 0 or TROD_ERR_NOMEM.
 */
static int search(struct trod_loops *all, const struct loops_lane *l, uint64_t n,
                  struct loops_guess *g)
{
    const uint64_t from = oldest(l);
    const uint32_t m = n > from ? (uint32_t)(n - from) : 0;
    uint32_t *fail, k = 0;
    uint64_t best = 0, period = 0;

    *g = (struct loops_guess){.on = false};
    if (m < 2)
        return TROD_OK;
    if (!all->fail && !(all->fail = malloc((LOOPS_RING + 1) * sizeof *all->fail)))
        return TROD_ERR_NOMEM;
    fail = all->fail;
    fail[0] = 0;
    for (uint32_t i = 1; i < m; i++) { /* steps backwards: step n - 1 - i */
        const uint64_t does = step_at(l, n - 1 - i)->does;

        while (k && does != step_at(l, n - 1 - k)->does)
            k = fail[k - 1];
        k += does == step_at(l, n - 1 - k)->does;
        fail[i] = k;
        if (k && (uint64_t)(i + 1 - k) * all->opt.least <= i + 1 &&
            i + 1 - k <= TROD_LOOPS_PERIOD) {
            best = i + 1;
            period = i + 1 - k;
        }
    }
    if (best < LOOPS_STEPS)
        return TROD_OK;
    *g = (struct loops_guess){.on = true,
                              .from = n - best,
                              .period = period,
                              .first = *step_at(l, n - best),
                              .second = *step_at(l, n - best + period)};
    return TROD_OK;
}

/* A step of L is whole: does the loop go on? Else now and then look for one. */
static int whole(struct trod_loops *all, struct loops_lane *l)
{
    struct loops_guess *g = &l->guess;
    const uint64_t last = l->n - 1;

    if (g->on && step_at(l, last)->does == step_at(l, last - g->period)->does)
        return TROD_OK;
    g->on = false;
    if (l->n - l->checked < LOOPS_RING / 2)
        return TROD_OK;
    l->checked = l->n;
    return search(all, l, l->n, g);
}

static int add_step(struct trod_loops *all, struct loops_lane *l, const struct loops_step *s)
{
    int rc = l->n ? whole(all, l) : TROD_OK;

    if (l->n == l->size && l->size < LOOPS_RING) {
        const uint32_t size = l->size ? 2 * l->size : LOOPS_FIRST;
        struct loops_step *p = realloc(l->ring, size * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        l->ring = p; /* it has not gone round: every step is where it was */
        l->size = size;
    }
    *step_at(l, l->n++) = *s;
    return rc;
}

/* The first row of L of the steps that the last one may be compared with. */
static uint64_t first_needed(const struct loops_lane *l)
{
    const uint64_t period = TROD_LOOPS_PERIOD, from = oldest(l);
    const uint64_t step = l->n > from + period ? l->n - 1 - period : from;

    return step_at(l, step)->at;
}

/* Room for one more row of L; at LOOPS_ROWS the oldest gives way. */
static int row_room(struct loops_lane *l)
{
    const uint32_t room = l->room ? 2 * l->room : LOOPS_FIRST;
    uint64_t *p;

    if (l->n_rows - l->needed < l->room)
        return TROD_OK;
    l->needed = first_needed(l);
    if (l->n_rows - l->needed < l->room)
        return TROD_OK;
    if (l->room == LOOPS_ROWS) {
        l->needed = l->n_rows + 1 - l->room;
        return TROD_OK;
    }
    if (!(p = malloc(room * sizeof *p)))
        return TROD_ERR_NOMEM;
    for (uint64_t r = l->needed; r < l->n_rows; r++)
        p[r % room] = l->done[r % l->room];
    free(l->done);
    l->done = p;
    l->room = room;
    return TROD_OK;
}

/* A row of the last step of L, which with it has done what the step says. */
static int add_row(struct loops_lane *l)
{
    const int rc = row_room(l);

    if (rc == TROD_OK)
        l->done[l->n_rows++ % l->room] = step_at(l, l->n - 1)->does;
    return rc;
}

static int feed_row(struct trod_loops *all, const struct trod_batch *b, uint32_t i)
{
    struct loops_lane *l = lane_of(all, b, i);
    int rc = TROD_OK;

    if (!l)
        return TROD_ERR_NOMEM;
    if (begins(b, i)) {
        const struct loops_step s = {
            .does = loops_row(b, i, 0),
            .row = b->first + i,
            .at = l->n_rows,
            .pc = b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_ADDR ? b->addr[i]
                                                                                  : TROD_NOWHERE};

        rc = add_step(all, l, &s);
    } else if (l->n) {
        step_at(l, l->n - 1)->does = loops_row(b, i, step_at(l, l->n - 1)->does);
    } else { /* it belongs to no step */
        return TROD_OK;
    }
    return rc < 0 ? rc : add_row(l);
}

int trod_loops_feed(struct trod_loops *l, const struct trod_batch *b, uint32_t *row)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < b->n; i++) {
        *row = i;
        if (l->like)
            rc = loops_like_row(l->like, b, i);
        else if (!idle(b, i))
            rc = feed_row(l, b, i);
    }
    return rc;
}

/* ---- the end */

static int add_loop(struct trod_loops *all, const struct loops_lane *l, const struct loops_guess *g)
{
    struct trod_final_loop *p = realloc(all->found, (all->n_found + 1) * sizeof *p);
    const bool cut = step_at(l, l->n - 1)->does != step_at(l, l->n - 1 - g->period)->does;
    const uint64_t n = l->n - cut; /* steps that are whole */

    if (!p)
        return TROD_ERR_NOMEM;
    all->found = p;
    p[all->n_found++] = (struct trod_final_loop){.stream = l->slot ? l->slot - 1 : 0,
                                                 .has_stream = l->slot != 0,
                                                 .row = g->first.row,
                                                 .repeat_row = g->second.row,
                                                 .pc = g->first.pc,
                                                 .step = g->from,
                                                 .period = g->period,
                                                 .periods = (n - g->from) / g->period};
    return TROD_OK;
}

/*
 * Are the rows of the last step of L those that the next step of G begins with? Where these are no
 * longer known this cannot be said: no.
 */
static bool expected(const struct loops_lane *l, const struct loops_guess *g)
{
    const struct loops_step *next, *last = step_at(l, l->n - 1);
    uint64_t same;

    if (!g->on)
        return false;
    next = step_at(l, l->n - 1 - g->period);
    same = next->at + (l->n_rows - 1 - last->at); /* the row that the last one is to be like */
    return same >= l->needed && same < step_at(l, l->n - g->period)->at &&
           l->done[same % l->room] == last->does;
}

/* The last step may be cut off in the middle: a loop is also looked for without it. */
static int end_lane(struct trod_loops *all, struct loops_lane *l)
{
    struct loops_guess whole_steps, g;
    int rc;

    if (!l->n)
        return TROD_OK;
    rc = search(all, l, l->n, &g);
    if (rc == TROD_OK)
        rc = search(all, l, l->n - 1, &whole_steps);
    if (rc < 0)
        return rc;
    if (expected(l, &whole_steps) && (!g.on || whole_steps.from < g.from))
        g = whole_steps;
    if (expected(l, &l->guess) && (!g.on || l->guess.from <= g.from))
        g = l->guess;
    return g.on ? add_loop(all, l, &g) : TROD_OK;
}

int trod_loops_end(struct trod_loops *l)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < l->n_lanes; i++)
        if (l->lane[i])
            rc = end_lane(l, l->lane[i]);
    return rc;
}

const struct trod_final_loop *trod_loops_at(const struct trod_loops *l, size_t i)
{
    return i < l->n_found ? &l->found[i] : NULL;
}

/* Where the loop of the stream of row I of B repeats; TROD_NOWHERE: it has none. */
static uint64_t repeat_row(const struct trod_loops *l, const struct trod_batch *b, uint32_t i)
{
    const bool said = (b->have & b->has[i] & TROD_COL_STREAM) != 0;
    size_t lo = 0, hi = l->n_found;
    const uint64_t key = said ? (uint64_t)b->stream[i] + 1 : 0;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const struct trod_final_loop *f = &l->found[mid];

        if ((f->has_stream ? (uint64_t)f->stream + 1 : 0) < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == l->n_found ||
        (l->found[lo].has_stream ? (uint64_t)l->found[lo].stream + 1 : 0) != key)
        return TROD_NOWHERE;
    return l->found[lo].repeat_row;
}

uint32_t trod_loops_keep(const struct trod_loops *l, const struct trod_batch *b, uint8_t *keep)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        keep[i] = b->kind[i] == TROD_THREAD || b->first + i < repeat_row(l, b, i);
        n += keep[i];
    }
    return n;
}
