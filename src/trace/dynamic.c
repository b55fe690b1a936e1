/*
 * dynamic.c - DynamoRIO's dynamic scheduler.
 *
 * Implements dynamic.h. Names follow the specification; numbers are its defaults.
 */
#include "trace/dynamic_int.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t quantum_instructions = 20000000;
static const uint64_t syscall_threshold = 30000000; /* microseconds */
static const uint64_t blocking_threshold = 600;
static const uint64_t block_time_max = 2500;
static const uint64_t units = 1000; /* of time a microsecond */
static const uint64_t rebalance_period = 50000 * UINT64_C(1000);

enum {
    CORES = 4,
    BLOCK_SCALE = 100,
    STEAL_PERIOD = 10000,
    VERSION_BLOCKING = 6,
    EXIT_DIVISOR = 10,
    SCALE_ONE = 1000
};

enum state { OK, IDLE, ENDED };

/* --- what a core runs --- */

static void run(struct trod_dynamic *d, struct core *c, uint32_t input)
{
    const uint32_t own = (uint32_t)(c - d->core), was = d->input[input].ran_on;

    c->counts->migrations += was != NONE && was != own;
    d->input[input].ran_on = own;
    c->current = input;
    c->fresh = true;
    c->steal_from = UINT64_MAX;
    d->input[input].quantum = 0;
}

/* C has nothing to run: steal, be idle, or end. */
static enum state nothing(struct trod_dynamic *d, struct core *c)
{
    const uint32_t own = (uint32_t)(c - d->core);
    bool any, attempt;

    if (d->live <= d->least)
        return ENDED;
    attempt = c->steal_from == UINT64_MAX || (c->idle - c->steal_from) % STEAL_PERIOD == 0;
    if (c->steal_from == UINT64_MAX)
        c->steal_from = c->idle;
    for (uint32_t k = 1; attempt && k < d->cores; k++) {
        const uint32_t i = dyn_pop(d, &d->core[(own + k) % d->cores], true, false, &any);

        if (i != NONE) {
            run(d, c, i);
            c->counts->steals++;
            return OK;
        }
    }
    return IDLE;
}

/*
 * The input that FROM wants to run in its place on C, taken from the queue where it is; NONE where
 * it runs already, or has ended.
 */
static uint32_t take_target(struct trod_dynamic *d, struct core *c, struct input *from)
{
    const uint32_t target = from->target, own = (uint32_t)(c - d->core);
    struct input *in = &d->input[target];
    struct core *at;
    uint32_t place = 0;

    from->target = NONE;
    if (in->queued == NONE) {
        in->ahead = !in->ended;
        return NONE;
    }
    at = &d->core[in->queued];
    c->counts->migrations += in->queued != own && in->ran_on == own; /* else run() counts it */
    while (at->queue[place] != target)
        place++;
    dyn_take(d, at, place);
    in->block_time = 0;
    in->unscheduled = false;
    return target;
}

/* Give C what it runs next. BLOCK: time for which what it runs now blocks. */
static enum state pick(struct trod_dynamic *d, struct core *c, uint64_t block)
{
    const uint64_t time = dyn_now(d, c);
    const uint32_t previous = c->current;
    uint32_t next = NONE;
    bool any = false;

    if (d->rebalanced == 0) {
        d->rebalanced = time;
    } else if (time > d->rebalanced && time - d->rebalanced >= rebalance_period) {
        d->rebalanced = time;
        dyn_rebalance(d, c);
    }
    if (previous != NONE && block && d->input[previous].block_time == 0) {
        d->input[previous].block_time = block;
        d->input[previous].block_start = time;
    }
    if (previous != NONE && d->input[previous].target != NONE)
        next = take_target(d, c, &d->input[previous]);
    if (next == NONE && c->n == 0 && block == 0) {
        if (previous == NONE || d->input[previous].ended) {
            c->current = NONE;
            return nothing(d, c);
        }
        d->input[previous].quantum = 0;
        c->counts->nops++;
        return OK;
    }
    c->current = NONE;
    if (previous != NONE && !d->input[previous].ended) {
        d->input[previous].last_run = time;
        dyn_enqueue(d, c, previous);
    }
    if (next == NONE)
        next = dyn_pop(d, c, false, false, &any);
    if (next != NONE) {
        run(d, c, next);
        c->counts->nops += next == previous;
        return OK;
    }
    return any ? IDLE : nothing(d, c);
}

/* --- switch points --- */

/* Units of time for which an input blocks that has to wait for MICROSECONDS. */
static uint64_t blocks(const struct trod_dynamic *d, uint64_t microseconds)
{
    const uint64_t most = block_time_max * SCALE_ONE / d->opt.scale;

    return (microseconds < most ? microseconds * d->opt.scale / SCALE_ONE : block_time_max) * units;
}

/* IN is not to run until its time is over, or somebody says so. */
static void unschedule(struct trod_dynamic *d, const struct core *c, struct input *in)
{
    if (in->ahead) {
        in->ahead = false;
        return;
    }
    in->unscheduled = true;
    in->block_time = blocks(d, in->timeout ? in->timeout : block_time_max);
    in->block_time = in->block_time ? in->block_time : 1;
    in->block_start = dyn_now(d, c);
}

/* The input of THREAD; NONE: there is none. */
static uint32_t input_of(const struct trod_dynamic *d, uint64_t thread)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->input[i].thread == thread)
            return i;
    return NONE;
}

static void schedule(struct trod_dynamic *d, uint64_t thread)
{
    const uint32_t i = input_of(d, thread);
    struct input *in = i == NONE ? NULL : &d->input[i];

    if (!in || in->ended)
        return;
    if (!in->unscheduled)
        in->ahead = true;
    else
        in->block_time = 0;
    in->unscheduled = false;
}

/* Is IN to be left at this instruction? *BLOCK: for how long it blocks. */
static bool leaves(const struct trod_dynamic *d, const struct core *c, struct input *in,
                   uint64_t *block)
{
    bool leave = false;

    if ((in->target != NONE || in->unscheduled) && !in->kernel) {
        leave = true;
        *block = in->block_time;
        in->syscall = in->maybe_blocking = false;
        in->before_syscall = in->timeout = 0;
    } else if ((in->syscall || in->maybe_blocking) && !in->kernel) {
        const uint64_t latency = in->last - in->before_syscall;

        if (in->version && in->version < VERSION_BLOCKING) {
            leave = in->maybe_blocking;
            *block = leave ? blocking_threshold : 0;
        } else if (latency >= (in->maybe_blocking ? blocking_threshold : syscall_threshold)) {
            leave = true;
            *block = blocks(d, latency);
        }
        in->syscall = in->maybe_blocking = false;
        in->before_syscall = in->timeout = 0;
    }
    if (++in->quantum > d->opt.quantum) {
        c->counts->preempts += !leave;
        leave = true;
    }
    return leave;
}

/* A record of KIND and VALUE is given. */
static void deliver(struct trod_dynamic *d, struct core *c, struct input *in, unsigned kind,
                    uint64_t value)
{
    switch (kind) {
    case TROD_DYN_INSTR:
        d->instructions++;
        c->instructions++;
        break;
    case TROD_DYN_TIMESTAMP:
        in->last = value;
        break;
    case TROD_DYN_SYSCALL:
        in->syscall = true;
        in->before_syscall = in->last;
        break;
    case TROD_DYN_MAYBE_BLOCKING:
        in->maybe_blocking = true;
        if (in->before_syscall == 0)
            in->before_syscall = in->last;
        break;
    case TROD_DYN_KERNEL_BEGIN:
    case TROD_DYN_KERNEL_END:
        in->kernel = kind == TROD_DYN_KERNEL_BEGIN;
        break;
    case TROD_DYN_SWITCH:
        in->target = input_of(d, value);
        unschedule(d, c, in);
        break;
    case TROD_DYN_UNSCHEDULE:
        unschedule(d, c, in);
        break;
    case TROD_DYN_SCHEDULE:
        schedule(d, value);
        break;
    case TROD_DYN_TIMEOUT:
        in->timeout = value;
        break;
    default:
        break;
    }
}

/* One request of core C: 1 and its input goes on, 0 idle, -1 the core has ended; or an error. */
static int step(struct trod_dynamic *d, struct core *c, bool *ended)
{
    enum state s = c->current == NONE ? pick(d, c, 0) : OK;

    while (s == OK) {
        const uint32_t current = c->current;
        struct input *in = &d->input[current];
        struct trod_dyn_rows *r = &d->rows[current];
        const int rc = r->at < r->n ? 1 : d->more(d->user, current);
        uint64_t block = 0;
        unsigned kind;

        if (rc < 0)
            return rc;
        if (rc == 0) {
            in->ended = true;
            s = --d->live <= d->least ? ENDED : pick(d, c, 0);
            continue;
        }
        kind = r->kind[r->at];
        if (kind == TROD_DYN_INSTR && leaves(d, c, in, &block)) {
            s = pick(d, c, block);
            if (s != OK || c->current != current)
                continue;
        }
        deliver(d, c, in, kind, r->value[r->at]);
        r->at++;
        c->fresh = false;
        return 1;
    }
    *ended = s == ENDED;
    c->idle += s == IDLE;
    return 0;
}

/* --- turns in which nothing is decided --- */

/*
 * Rounds for which what C runs gives only what the scheduler counts. An input that asked the system
 * for something may leave at each instruction that is its own.
 */
static uint64_t calm(const struct trod_dynamic *d, const struct core *c)
{
    const struct input *in = &d->input[c->current];
    struct trod_dyn_rows *r = &d->rows[c->current];
    const bool asked = in->syscall || in->maybe_blocking || in->unscheduled || in->target != NONE;
    const uint64_t left = d->opt.quantum - in->quantum;

    if (c->fresh || r->at == r->n || (asked && !in->kernel))
        return 0;
    while (*r->stop < r->at)
        r->stop++;
    return *r->stop - r->at < left ? *r->stop - r->at : left;
}

/* Rounds for which C, which is idle, stays so, while RUNNING cores run something. */
static uint64_t quiet(const struct trod_dynamic *d, const struct core *c, uint32_t running)
{
    const uint64_t time = dyn_now(d, c), pace = (uint64_t)running + 1;
    uint64_t left = d->rebalanced + rebalance_period;

    if (d->live <= d->least || d->rebalanced == 0 || time >= left)
        return 0;
    left -= time;
    if (c->n == 0) {
        const uint64_t since = (c->idle - c->steal_from) % STEAL_PERIOD;
        const uint64_t most = (left - 1) / pace;

        if (c->steal_from == UINT64_MAX || since == 0)
            return 0;
        return STEAL_PERIOD - since < most ? STEAL_PERIOD - since : most;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const struct input *in = &d->input[c->queue[i]];
        const uint64_t since = time - in->block_start;

        if (!c->settled || since >= in->block_time) /* or it does not block */
            return 0;
        left = in->block_time - since < left ? in->block_time - since : left;
    }
    return (left - 1) / pace;
}

/* C takes ROUNDS turns. */
static void take(struct trod_dynamic *d, struct core *c, uint64_t rounds)
{
    struct trod_dyn_rows *r;
    uint64_t fetched;

    if (c->current == NONE) {
        c->idle += rounds;
        return;
    }
    r = &d->rows[c->current];
    fetched = (uint64_t)(r->fetched[r->at + rounds] - r->fetched[r->at]);
    r->at += (uint32_t)rounds;
    d->instructions += fetched;
    c->instructions += fetched;
    d->input[c->current].quantum += fetched;
}

uint64_t trod_dynamic_rounds(struct trod_dynamic *d, uint32_t room, struct trod_dyn_turn *turn,
                             uint32_t *n)
{
    uint64_t rounds = UINT64_MAX;
    uint32_t running = 0, at = d->turn;

    for (uint32_t k = 1; !d->pause && k <= d->cores; k++) {
        struct core *c;
        uint64_t most;

        at = at + 1 < d->cores ? at + 1 : 0;
        c = &d->core[at];
        if (c->current == NONE && !c->over)
            continue;
        most = c->over ? 0 : calm(d, c);
        rounds = most < rounds ? most : rounds;
        d->pause = rounds ? 0 : k;
        turn[running++] = (struct trod_dyn_turn){at, c->current};
    }
    if (d->pause || running == 0)
        return 0;
    rounds = rounds < room / running ? rounds : room / running;
    for (uint32_t k = 0; running < d->cores && rounds && k < d->cores; k++) {
        const struct core *c = &d->core[k];
        const uint64_t most = c->current == NONE ? quiet(d, c, running) : rounds;

        rounds = most < rounds ? most : rounds;
    }
    if (rounds == 0)
        d->pause = d->cores;
    for (uint32_t k = 0; rounds && k < d->cores; k++)
        take(d, &d->core[k], rounds);
    *n = running;
    return rounds;
}

/* All cores are idle: so they are until there is something to decide. */
static void pass(struct trod_dynamic *d)
{
    uint64_t rounds = UINT64_MAX;

    for (uint32_t k = 0; k < d->cores; k++) {
        const uint64_t most = d->core[k].over ? 0 : quiet(d, &d->core[k], 0);

        rounds = most < rounds ? most : rounds;
    }
    for (uint32_t k = 0; rounds && k < d->cores; k++)
        take(d, &d->core[k], rounds);
}

int trod_dynamic_next(struct trod_dynamic *d, uint32_t *core, uint32_t *input)
{
    uint32_t over = 0, still = 0;

    while (over < d->cores) {
        struct core *c;
        bool ended = false;
        int rc;

        d->turn = d->turn + 1 < d->cores ? d->turn + 1 : 0;
        d->pause -= d->pause > 0;
        c = &d->core[d->turn];
        if (c->over) {
            over++;
            continue;
        }
        over = 0;
        if (still++ == d->cores) {
            pass(d);
            still = 1;
        }
        rc = step(d, c, &ended);
        if (rc < 0)
            return rc;
        if (ended && d->last == NONE)
            d->last = d->turn;
        c->over = ended;
        if (ended) /* for all of them */
            return 0;
        if (rc == 1) {
            *core = d->turn;
            *input = c->current;
            return 1;
        }
    }
    return 0;
}

/* --- the beginning --- */

/* Inputs to queues, by the minimal-standard generator, in the order of their times. */
static int place(struct trod_dynamic *d, const struct trod_dyn_input *input)
{
    uint64_t x = 1;
    bool *placed = calloc(d->n ? d->n : 1, sizeof *placed);

    if (!placed)
        return TROD_ERR_NOMEM;
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t next = NONE;

        for (uint32_t i = 0; i < d->n; i++)
            if (!placed[i] && (next == NONE || input[i].key < input[next].key))
                next = i;
        placed[next] = true;
        x = x * 48271 % 2147483647;
        dyn_enqueue(d, &d->core[x % d->cores], next);
    }
    free(placed);
    return 0;
}

int trod_dynamic_new(struct trod_dynamic **out, const struct trod_dyn_input *input, uint32_t n,
                     const struct trod_dyn_options *opt, struct trod_dyn_rows *rows,
                     trod_dyn_more *more, void *user)
{
    const uint32_t cores = opt->cores ? opt->cores : CORES;
    struct trod_dynamic *d = calloc(1, sizeof *d);
    uint64_t base = UINT64_MAX;
    bool room = d != NULL;

    *out = d;
    if (!d)
        return TROD_ERR_NOMEM;
    d->n = d->live = n;
    d->cores = cores;
    d->opt = *opt;
    d->opt.quantum = opt->quantum ? opt->quantum : quantum_instructions;
    d->opt.scale = opt->scale ? opt->scale : BLOCK_SCALE;
    d->least = opt->all ? 0 : n / EXIT_DIVISOR;
    d->rows = rows;
    d->more = more;
    d->user = user;
    d->starting = true;
    d->last = NONE;
    d->counts = calloc(cores, sizeof *d->counts);
    room = room && d->counts;
    d->input = calloc(n ? n : 1, sizeof *d->input);
    d->core = calloc(cores, sizeof *d->core);
    d->scratch = calloc(3 * (size_t)n + 1, sizeof *d->scratch);
    for (uint32_t i = 0; d->core && i < cores; i++) {
        d->core[i].queue = calloc(n ? n : 1, sizeof *d->core[i].queue);
        d->core[i].current = NONE;
        d->core[i].steal_from = UINT64_MAX;
        d->core[i].counts = room ? &d->counts[i] : NULL;
        room = room && d->core[i].queue;
    }
    if (!room || !d->input || !d->core || !d->scratch)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        base = input[i].first < base ? input[i].first : base;
    for (uint32_t i = 0; i < n; i++) {
        d->input[i].last = input[i].key;
        d->input[i].base = base;
        d->input[i].version = input[i].version;
        d->input[i].thread = input[i].thread;
        d->input[i].ran_on = d->input[i].queued = d->input[i].target = NONE;
    }
    if (place(d, input) < 0)
        return TROD_ERR_NOMEM;
    dyn_rebalance(d, &d->core[0]);
    for (uint32_t i = 0; i < cores; i++) {
        bool any;
        const uint32_t first = dyn_pop(d, &d->core[i], false, false, &any);

        if (first != NONE)
            run(d, &d->core[i], first);
        else
            nothing(d, &d->core[i]);
    }
    d->starting = false;
    return 0;
}

uint32_t trod_dynamic_cores(const struct trod_dynamic *d)
{
    return d->cores;
}

uint32_t trod_dynamic_left(const struct trod_dynamic *d)
{
    return d->live;
}

uint64_t trod_dynamic_idle(const struct trod_dynamic *d, uint32_t core)
{
    return d->core[core].idle;
}

const struct trod_core *trod_dynamic_counts(const struct trod_dynamic *d, uint32_t *last)
{
    *last = d->last == NONE ? 0 : d->last;
    return d->counts;
}

void trod_dynamic_free(struct trod_dynamic *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->core && i < d->cores; i++)
        free(d->core[i].queue);
    free(d->core);
    free(d->input);
    free(d->scratch);
    free(d->counts);
    free(d);
}
