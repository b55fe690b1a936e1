/*
 * replay.c - a schedule that is given, step by step.
 *
 * Implements replay.h. A segment begins when its input has come to its first instruction and no
 * other core has an earlier segment before it. Where a damaged schedule lets all cores wait for
 * each other, the earliest segment begins nevertheless.
 */
#include "trace/replay.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct input {
    uint64_t done; /* instructions */
    uint32_t core; /* that runs it, or NONE */
    bool held;     /* it was left at an instruction, which its reader has seen */
};

struct core {
    const struct trod_segment *segment;
    size_t n, next;
    uint64_t stop, idle_left, idle, waits;
    uint32_t current;
    bool finished; /* nothing runs or will run */
    bool over;     /* and it has seen that all cores are finished */
};

struct trod_replay {
    struct input *input;
    struct core *core;
    uint32_t cores, turn, busy, last;
    uint32_t still; /* cores in a row that could only wait */
    uint32_t quiet; /* cores in a row for which only time passed */
    bool changed;   /* something began or ended */
    struct trod_dyn_rows *rows;
    trod_dyn_more *more;
    void *user;
};

enum state { OK, IDLE, WAIT, ENDED };

/* Has another core a segment to begin before time TIME? */
static bool earlier(const struct trod_replay *r, const struct core *own, uint64_t time)
{
    for (uint32_t i = 0; i < r->cores; i++) {
        const struct core *c = &r->core[i];

        if (c != own && c->next < c->n && c->segment[c->next].time < time)
            return true;
    }
    return false;
}

static bool ready(const struct trod_replay *r, const struct core *c, const struct trod_segment *s)
{
    const struct input *in = &r->input[s->input];

    if (in->core != NONE || (s->start > 1 && in->done + in->held < s->start))
        return false;
    return !earlier(r, c, s->time);
}

static void begin(struct trod_replay *r, struct core *c)
{
    const struct trod_segment *s = &c->segment[c->next++];

    r->input[s->input].core = (uint32_t)(c - r->core);
    r->input[s->input].held = false;
    c->current = s->input;
    c->stop = s->stop;
    r->changed = true;
}

static void finish(struct trod_replay *r, struct core *c)
{
    r->changed = r->changed || !c->finished;
    r->busy -= !c->finished;
    c->finished = true;
}

/* A step without a record, the last of a gap or not. */
static enum state idle(struct trod_replay *r, struct core *c)
{
    if (--c->idle_left == 0) {
        r->changed = true;
        if (c->next == c->n)
            finish(r, c);
    }
    return IDLE;
}

/* What C does when it runs nothing. */
static enum state pick(struct trod_replay *r, struct core *c)
{
    const struct trod_segment *s = &c->segment[c->next];

    if (c->idle_left)
        return idle(r, c);
    if (c->next == c->n) {
        finish(r, c);
        return r->busy ? IDLE : ENDED;
    }
    if (s->idle) {
        r->changed = true;
        c->next++;
        c->idle_left = s->idle;
        return idle(r, c);
    }
    if (!ready(r, c, s))
        return WAIT;
    begin(r, c);
    return OK;
}

/* What C runs leaves it. */
static void leave(struct trod_replay *r, struct core *c, bool at_instruction)
{
    struct input *in = &r->input[c->current];

    in->core = NONE;
    in->held = at_instruction;
    c->current = NONE;
    r->changed = true;
}

/* One request of core C: 1 and its input goes on, 0 no record, or an error. */
static int step(struct trod_replay *r, struct core *c)
{
    enum state s = c->current == NONE ? pick(r, c) : OK;

    while (s == OK) {
        struct input *in = &r->input[c->current];
        struct trod_dyn_rows *rows = &r->rows[c->current];
        const int rc = rows->at < rows->n ? 1 : r->more(r->user, c->current);
        bool fetched;

        if (rc < 0)
            return rc;
        fetched = rc == 1 && rows->kind[rows->at] == TROD_DYN_INSTR;
        if (rc == 0 || (fetched && in->done + 1 >= c->stop)) {
            leave(r, c, rc == 1);
            s = pick(r, c);
            continue;
        }
        in->done += fetched;
        rows->at++;
        r->still = 0;
        return 1;
    }
    r->still = s == WAIT || (s == IDLE && c->finished) ? r->still + 1 : 0;
    c->idle += s == IDLE;
    c->waits += s == WAIT;
    if (s == ENDED && !c->over) {
        if (r->last == NONE)
            r->last = (uint32_t)(c - r->core);
        c->over = true;
    }
    return 0;
}

/* All cores wait: of those that wait, the one whose segment is the earliest waits no more. */
static void release(struct trod_replay *r)
{
    struct core *first = NULL;

    for (uint32_t i = 0; i < r->cores; i++) {
        struct core *c = &r->core[i];

        if (c->next < c->n &&
            (!first || c->segment[c->next].time < first->segment[first->next].time))
            first = c;
    }
    if (first)
        begin(r, first);
    r->still = 0;
}

/*
 * For a whole round only time has passed, and does until the shortest gap is over: its steps but
 * the last, all at once.
 */
static void pass(struct trod_replay *r)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < r->cores; i++)
        if (r->core[i].idle_left && r->core[i].idle_left < least)
            least = r->core[i].idle_left;
    for (uint32_t i = 0; least != UINT64_MAX && i < r->cores; i++) {
        struct core *c = &r->core[i];
        uint64_t *steps = c->idle_left || c->finished ? &c->idle : &c->waits;

        c->idle_left -= c->idle_left ? least - 1 : 0;
        *steps += c->over ? 0 : least - 1;
    }
    r->quiet = 0;
}

int trod_replay_next(struct trod_replay *r, uint32_t *core, uint32_t *input)
{
    uint32_t over = 0;

    while (over < r->cores) {
        struct core *c;
        int rc;

        r->turn = (r->turn + 1) % r->cores;
        c = &r->core[r->turn];
        if (c->over) {
            over++;
            continue;
        }
        over = 0;
        if (r->still > r->cores)
            release(r);
        if (r->quiet > r->cores)
            pass(r);
        rc = step(r, c);
        r->quiet = rc || r->changed ? 0 : r->quiet + 1;
        r->changed = false;
        if (rc < 0)
            return rc;
        if (rc == 1) {
            *core = r->turn;
            *input = c->current;
            return 1;
        }
    }
    return 0;
}

int trod_replay_new(struct trod_replay **out, const struct trod_plan *plan, uint32_t n_inputs,
                    struct trod_dyn_rows *rows, trod_dyn_more *more, void *user)
{
    struct trod_replay *r = calloc(1, sizeof *r);

    *out = r;
    if (!r)
        return TROD_ERR_NOMEM;
    r->cores = (uint32_t)plan->n;
    r->last = NONE;
    r->rows = rows;
    r->more = more;
    r->user = user;
    r->input = calloc(n_inputs ? n_inputs : 1, sizeof *r->input);
    r->core = calloc(plan->n ? plan->n : 1, sizeof *r->core);
    if (!r->input || !r->core)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < n_inputs; i++)
        r->input[i].core = NONE;
    for (uint32_t i = 0; i < r->cores; i++) {
        struct core *c = &r->core[i];

        c->segment = plan->core[i].segment;
        c->n = plan->core[i].n;
        c->current = NONE;
        c->finished = c->over = c->n == 0; /* surplus cores end at once */
        r->busy += !c->finished;
        if (c->n && !c->segment->idle && c->segment->start == 0 &&
            r->input[c->segment->input].core == NONE)
            begin(r, c);
    }
    return TROD_OK;
}

uint64_t trod_replay_idle(const struct trod_replay *r, uint32_t core)
{
    return r->core[core].idle;
}

uint64_t trod_replay_waits(const struct trod_replay *r, uint32_t core)
{
    return r->core[core].waits;
}

uint32_t trod_replay_last(const struct trod_replay *r)
{
    return r->last == NONE ? 0 : r->last;
}

void trod_replay_free(struct trod_replay *r)
{
    if (!r)
        return;
    free(r->core);
    free(r->input);
    free(r);
}
