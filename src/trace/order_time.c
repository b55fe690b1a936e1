/*
 * order_time.c - the files of a trace merged by time, or as the trace's schedule says.
 *
 * Implements trace.h, order "time", and docs/formats/drmemtrace.md, "Order": of the files that have
 * rows left the one with the smallest time goes on, the first of several; it is left when its time
 * grows past another's. In formats whose time stands in TIMESTAMP markers (TROD_FMT_TIMESTAMPS)
 * what lies between two of them is never parted, and what comes before the first belongs to it;
 * their instruction numbers, which drivers count, become those of the sequence. Other formats state
 * their numbers, which stay as they are. Rows without a time have that of the row before. Times
 * count with their unit and decimals; what is no part of a second, or has no unit, is compared as
 * if it were in the unit of the first time that is one (power_of).
 *
 * A batch all of whose rows are given at once may be taken by the caller. Files are looked at
 * once for their first time; only those whose turn has come are kept open, with small windows where
 * they are many, and with very small windows and batches where they are a HOST: of each there is
 * one for every file at once, and decoders rest but for those that had a turn last. Where they are
 * not many, each is read and decompressed ahead by a thread of its own, if that is allowed.
 *
 * Order "recorded": the turns of the schedule, one after the other. A turn ends at the TIMESTAMP
 * with which the next turn of the same file begins. What no turn names comes last, file by file.
 */
#include "core/times.h"
#include "trace/batch_own.h"
#include "trace/crowd.h"
#include "trace/schedule.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 1 << 12, /* bytes a driver is shown to begin with */
    TIMESTAMP = 2,  /* sub of the marker */
    NEEDS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TIME |
            TROD_COL_STREAM
};

struct stream {
    struct trod_reader *reader; /* NULL: closed */
    struct trod_batch *batch;
    uint64_t thread; /* of its first row */
    uint64_t key;    /* time of the row at AT, times 10^POWER */
    uint64_t index;  /* instruction number of the last row given */
    uint32_t at;     /* next row */
    uint32_t place;  /* in the heap */
    int8_t power;    /* of UNIT */
    uint8_t unit;    /* of KEY, as in the unit column */
    uint8_t unsaid;  /* unit of times whose rows say none */
    bool stamps;     /* of a format whose times are TIMESTAMP markers */
    bool timed;      /* a time was seen */
    bool keyed;      /* the row at AT is what KEY came from */
    bool ended;
};

struct state {
    struct stream *stream;
    uint32_t *heap; /* streams with rows left, by (key, number) */
    uint32_t n_heap;
    uint32_t current; /* UINT32_MAX: none */
    struct trod_crowd crowd;
    bool recorded; /* by schedule, not by time */
    bool seconds;  /* a time in seconds was seen */
    int8_t second; /* power of ten of seconds that the unit of the first one is */
    bool replay;   /* by a schedule that the user names */
    struct trod_schedule schedule;
    uint32_t turn;             /* of the current stream */
    struct trod_batch **given; /* the batch of a stream, given whole; NULL: a view was */
    uint64_t index;
    struct trod_batch *scratch; /* for looking at files */
    struct trod_batch view;
    int failed;
};

/* --- the heap --- */

static bool before(const struct state *s, uint32_t a, uint32_t b)
{
    const struct stream *x = &s->stream[a], *y = &s->stream[b];
    int order;

    if (x->timed != y->timed)
        return x->timed; /* files without any time come last */
    if (x->power == y->power)
        return x->key != y->key ? x->key < y->key : a < b;
    order = trod_time_compare_powers(x->key, x->power, y->key, y->power);
    return order ? order < 0 : a < b;
}

static void put_at(struct state *s, uint32_t place, uint32_t i)
{
    s->heap[place] = i;
    s->stream[i].place = place;
}

static void sift(struct state *s, uint32_t place)
{
    uint32_t i = s->heap[place];

    while (place > 0 && before(s, i, s->heap[(place - 1) / 2])) {
        put_at(s, place, s->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * place + 1;

        if (child + 1 < s->n_heap && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (child >= s->n_heap || !before(s, s->heap[child], i))
            break;
        put_at(s, place, s->heap[child]);
        place = child;
    }
    put_at(s, place, i);
}

static void heap_add(struct state *s, uint32_t i)
{
    s->heap[s->n_heap] = i;
    s->stream[i].place = s->n_heap++;
    sift(s, s->n_heap - 1);
}

static void heap_remove(struct state *s, uint32_t i)
{
    uint32_t place = s->stream[i].place;
    uint32_t last = s->heap[--s->n_heap];

    if (last == i)
        return;
    put_at(s, place, last);
    sift(s, place);
}

/* --- times --- */

/*
 * The power of ten that times in UNIT count, in the unit of the first time in seconds that was met.
 * So times of all units are in one order, as a heap must have it, also where some of them cannot be
 * compared: their numbers are, as long as all seconds are in one unit.
 */
static int power_of(struct state *s, uint8_t unit)
{
    int power;

    if (!trod_time_power(unit, &power))
        return trod_time_exponent(unit);
    if (!s->seconds) {
        s->seconds = true;
        s->second = (int8_t)power;
    }
    return trod_time_exponent(unit) - s->second;
}

/* Does ROW begin a new time? Then *KEY in *UNIT is it. */
static bool new_time(const struct trod_batch *b, uint32_t row, const struct stream *st,
                     uint64_t *key, uint8_t *unit)
{
    if (st->stamps) {
        if (b->kind[row] != TROD_MARKER || b->sub[row] != TIMESTAMP)
            return false;
        *key = b->value[row];
        *unit = st->unsaid;
        return true;
    }
    if (b->flags[row] & TROD_F_CONT || !(b->have & b->has[row] & TROD_COL_TIME))
        return false;
    *key = b->time[row];
    *unit = b->have & b->has[row] & TROD_COL_UNIT ? b->unit[row] : st->unsaid;
    return !st->timed || *key != st->key || *unit != st->unit;
}

static void take_time(struct state *s, struct stream *st, uint64_t key, uint8_t unit)
{
    if (!st->timed || unit != st->unit)
        st->power = (int8_t)power_of(s, unit);
    st->key = key;
    st->unit = unit;
    st->timed = true;
}

/*
 * The first of rows [ROW, B->n) that may begin a new time. Markers are few: most rows are passed
 * over many at once.
 */
static uint32_t perhaps_new_time(const struct stream *st, const struct trod_batch *b, uint32_t row)
{
    const uint8_t *at;

    if (row >= b->n || !st->stamps)
        return row;
    at = memchr(b->kind + row, TROD_MARKER, b->n - row);
    return at ? (uint32_t)(at - b->kind) : b->n;
}

/* --- turns --- */

/* The first turn from FROM on whose stream has rows left. UINT32_MAX: there is none. */
static uint32_t live_turn(const struct state *s, uint32_t from)
{
    while (from < s->schedule.n && s->stream[s->schedule.turn[from].input].ended)
        from++;
    return from < s->schedule.n ? from : UINT32_MAX;
}

/* Whose turn is next when the current one is over. */
static uint32_t next_stream(struct state *s)
{
    if (s->recorded) {
        s->turn = live_turn(s, s->turn == UINT32_MAX ? s->schedule.n : s->turn + 1);
        if (s->turn != UINT32_MAX)
            return s->schedule.turn[s->turn].input;
    }
    return s->heap[0];
}

/* Does the turn of the current stream end at ROW, a TIMESTAMP? */
static bool turn_ends(const struct state *s, const struct trod_batch *b, uint32_t row)
{
    const struct trod_turn *next;

    if (s->turn == UINT32_MAX || s->schedule.turn[s->turn].next == UINT32_MAX)
        return false;
    next = &s->schedule.turn[s->schedule.turn[s->turn].next];
    return b->index[row] > next->start ||
           (b->index[row] == next->start && b->value[row] >= next->time);
}

/* With a schedule of the user's: does the turn of the current stream end at ROW, an instruction? */
static bool turn_over(const struct state *s, const struct trod_batch *b, uint32_t row)
{
    const struct trod_turn *turn = s->turn != UINT32_MAX ? &s->schedule.turn[s->turn] : NULL;

    return turn && turn->next != UINT32_MAX && b->kind[row] == TROD_INSTR &&
           (b->have & b->has[row] & TROD_COL_INDEX) &&
           b->index[row] > s->schedule.turn[turn->next].start;
}

static void remember(struct state *s, int rc)
{
    if (rc < 0 && s->failed == 0)
        s->failed = rc;
}

/* --- files --- */

/* Columns that are needed of ST besides those that the caller wants. */
static uint32_t needs(const struct state *s, const struct stream *st)
{
    return (uint32_t)NEEDS | (st->stamps ? 0 : (uint32_t)TROD_COL_UNIT) |
           (s->recorded ? (uint32_t)TROD_COL_INDEX : 0);
}

static int open_reader(struct trod_trace *t, uint32_t i)
{
    struct stream *st = &((struct state *)t->state)->stream[i];
    const int rc = trod_trace_reader(t, i, &st->reader);

    if (rc == TROD_OK)
        st->stamps = (trod_reader_format(st->reader)->flags & TROD_FMT_TIMESTAMPS) != 0;
    return rc;
}

static int open_stream(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    int rc;

    if (!st->batch && (rc = trod_batch_new(&st->batch, s->crowd.rows)) < 0)
        return rc;
    return open_reader(t, i);
}

static void end_stream(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];

    st->ended = true;
    heap_remove(s, i);
    trod_crowd_forget(&s->crowd, st->reader);
    trod_trace_reader_done(t, i);
    st->reader = NULL;
    trod_batch_free(st->batch);
    st->batch = NULL;
    s->given = NULL;
    s->current = UINT32_MAX;
}

/* What the first rows B of ST say: its thread, and the first of its times. */
static void learn(struct trod_trace *t, struct stream *st, const struct trod_batch *b)
{
    uint64_t key;
    uint8_t unit;

    if (b->have & b->has[0] & TROD_COL_STREAM) /* no thread or cpu may be said */
        st->thread = t->meta.streams[b->stream[0]].tid;
    if (!(trod_reader_format(st->reader)->reads & TROD_COL_UNIT))
        st->unsaid = t->meta.unit;
    for (uint32_t row = 0; row < b->n && !st->timed; row++)
        if (new_time(b, row, st, &key, &unit))
            take_time(t->state, st, key, unit);
}

/*
 * Find the first time of stream I: with few files its reader stays open and its rows wait in its
 * batch, with many it is closed again. Returns 0 or an error.
 */
static int look_at(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    struct trod_diag *diag = t->diag;
    bool keep = !s->crowd.many;
    struct trod_batch *b;
    int rc;

    st->thread = TROD_NOWHERE;
    if (!keep)
        t->diag = NULL; /* what is wrong is said when its turn has come */
    rc = keep ? open_stream(t, i) : open_reader(t, i);
    t->diag = diag;
    if (rc < 0 && keep) {
        st->ended = true;
        return rc;
    }
    if (rc < 0) {
        heap_add(s, i);
        return TROD_OK;
    }
    b = keep ? st->batch : s->scratch;
    /* what is wanted may be said later (trod_trace_want), and these rows will be given */
    b->want = keep ? TROD_COL_ALL : t->opt.want | needs(s, st);
    rc = trod_reader_next(st->reader, b);
    if (rc == 1)
        learn(t, st, b);
    st->keyed = st->stamps;
    if (!keep) {
        trod_trace_reader_drop(t, i);
        st->reader = NULL;
    }
    heap_add(s, i);
    if (keep && rc <= 0)
        end_stream(t, i);
    return keep && rc < 0 ? rc : TROD_OK;
}

static int open_all(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc;

    s->stream = calloc(t->n_inputs, sizeof *s->stream);
    s->heap = calloc(t->n_inputs, sizeof *s->heap);
    s->current = UINT32_MAX;
    if (!s->stream || !s->heap)
        return TROD_ERR_NOMEM;
    s->crowd = trod_crowd_of(t);
    if (s->crowd.many && (rc = trod_batch_new(&s->scratch, TROD_MANY_ROWS)) < 0)
        return rc;
    t->head = HEAD;
    for (uint32_t i = 0; i < t->n_inputs; i++)
        remember(s, look_at(t, i));
    return t->first ? TROD_OK : s->failed;
}

/* Have a row at st->at. Returns 1, 0 at the end, or an error. */
static int fill(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    int rc;

    if (!st->reader && (rc = open_stream(t, i)) < 0)
        return rc;
    if ((rc = trod_crowd_wake(&s->crowd, st->reader, st->batch)) < 0)
        return rc;
    if (st->at < st->batch->n)
        return 1;
    st->batch->want = t->opt.want | needs(s, st);
    st->at = 0;
    rc = trod_reader_next(st->reader, st->batch);
    if (rc <= 0)
        st->batch->n = 0;
    return rc;
}

/*
 * How far the rows of the current stream go before another is due; s->current is set to that. With
 * one file there is no other.
 */
static uint32_t run(struct state *s, struct stream *st)
{
    const struct trod_batch *b = st->batch;
    uint32_t i = s->current;
    uint64_t key;
    uint8_t unit;

    for (uint32_t row = st->at; row < b->n && s->replay; row++)
        if (turn_over(s, b, row)) {
            s->current = next_stream(s);
            return row;
        }
    if (s->replay)
        return b->n;
    for (uint32_t row = st->at; s->n_heap > 1; row++) {
        row = perhaps_new_time(st, b, row);
        if (row >= b->n)
            break;
        if (!new_time(b, row, st, &key, &unit))
            continue;
        if (s->recorded && !st->keyed && turn_ends(s, b, row)) {
            st->keyed = true;
            s->current = next_stream(s);
            if (s->current != i)
                return row;
        } else if (!st->keyed && !s->recorded) {
            take_time(s, st, key, unit);
            sift(s, st->place);
            if (s->heap[0] != i) {
                st->keyed = st->stamps;
                s->current = s->heap[0];
                return row;
            }
        }
        st->keyed = false;
    }
    return b->n;
}

/* The rows of ST that are given next ran on the cpu of TURN. */
static void place(const struct state *s, struct stream *st, uint32_t to, uint32_t turn)
{
    struct trod_batch *b = st->batch;

    b->have |= TROD_COL_CORE;
    for (uint32_t row = st->at; turn != UINT32_MAX && row < to; row++) {
        b->core[row] = (uint16_t)s->schedule.turn[turn].cpu;
        b->has[row] |= TROD_COL_CORE;
    }
}

/* The instruction numbers of threads in files of their own become those of the sequence. */
static void renumber(struct state *s, struct stream *st, uint32_t to)
{
    struct trod_batch *b = st->batch;

    if (!(b->have & TROD_COL_INDEX))
        return;
    for (uint32_t row = st->at; row < to; row++) {
        if (!(b->has[row] & TROD_COL_INDEX))
            continue;
        s->index += b->index[row] - st->index;
        st->index = b->index[row];
        b->index[row] = s->index;
    }
}

/* *BATCH becomes the rows of ST up to TO: its batch, if that is all of it, which may be taken. */
static void give(struct trod_trace *t, struct stream *st, uint32_t to, struct trod_batch **batch)
{
    struct state *s = t->state;

    /* who gets the rows may move them, and with them the columns of the batch */
    trod_batch_changed(st->batch);
    s->given = st->at == 0 && to == st->batch->n ? &st->batch : NULL;
    if (s->given)
        *batch = st->batch;
    else
        trod_batch_view(*batch = &s->view, st->batch, st->at, to - st->at);
    if (t->n_inputs > 1)
        (*batch)->first = t->done.rows;
    t->done.rows += to - st->at;
    st->at = to;
}

static struct trod_batch **slot(struct trod_trace *t)
{
    const struct state *s = t->state;

    return s->given;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;

    for (;;) {
        struct stream *st;
        uint32_t i, to, turn;
        int rc;

        if (s->n_heap == 0)
            return s->failed;
        if (s->current == UINT32_MAX)
            s->current = next_stream(s);
        i = s->current;
        st = &s->stream[i];
        rc = fill(t, i);
        if (rc <= 0) {
            remember(s, rc);
            end_stream(t, i);
            if (rc < 0 && t->diag && t->diag->strict)
                return rc;
            continue;
        }
        turn = s->turn;
        to = run(s, st);
        if (to == st->at)
            continue;
        if (s->replay)
            place(s, st, to, turn);
        if (t->n_inputs > 1 && st->stamps)
            renumber(s, st, to);
        give(t, st, to, batch);
        return 1;
    }
}

static void close_all(struct trod_trace *t)
{
    struct state *s = t->state;

    for (size_t i = 0; s->stream && i < t->n_inputs; i++)
        trod_batch_free(s->stream[i].batch);
    trod_batch_free(s->scratch);
    free(s->stream);
    free(s->heap);
    trod_schedule_fini(&s->schedule);
}

/* The schedule of the trace, from the file of all cpus or those of each. */
static int read_schedule(struct trod_trace *t)
{
    struct state *s = t->state;
    uint64_t *threads = malloc(t->n_inputs * sizeof *threads);
    int rc = threads ? TROD_OK : TROD_ERR_NOMEM;

    s->replay = t->opt.schedule != NULL;
    for (size_t i = 0; threads && i < t->n_inputs; i++)
        threads[i] = s->stream[i].thread;
    if (rc == TROD_OK)
        rc = trod_schedule_of(&s->schedule, t, threads, TROD_ROLE_SERIAL_SCHEDULE);
    free(threads);
    if (rc < 0)
        return rc;
    s->turn = live_turn(s, 0);
    s->current = s->turn == UINT32_MAX ? UINT32_MAX : s->schedule.turn[s->turn].input;
    return TROD_OK;
}

static int open_recorded(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc;

    rc = open_all(t);
    s->recorded = true;
    return rc < 0 ? rc : read_schedule(t);
}

const struct trod_order_ops trod_order_recorded = {
    "recorded", sizeof(struct state), open_recorded, next, close_all, slot,
};

const struct trod_order_ops trod_order_time = {
    "time", sizeof(struct state), open_all, next, close_all, slot,
};
