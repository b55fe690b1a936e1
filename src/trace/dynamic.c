/*
 * dynamic.c - DynamoRIO's dynamic scheduler.
 *
 * Implements dynamic.h. Names follow the specification; numbers are its defaults.
 */
#include "trace/dynamic.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static const uint64_t quantum_instructions = 20000000;
static const uint64_t syscall_threshold = 30000000; /* microseconds */
static const uint64_t blocking_threshold = 600;
static const uint64_t block_time_max = 2500;
static const uint64_t units = 1000; /* of time a microsecond */
static const uint64_t migration_threshold = 500 * 1000;
static const uint64_t rebalance_period = 50000 * UINT64_C(1000);

enum { STEAL_PERIOD = 10000, VERSION_BLOCKING = 6, BLOCK_DIVISOR = 10, EXIT_DIVISOR = 10 };

struct input {
    uint64_t last;  /* time */
    uint64_t base;  /* of the workload */
    uint64_t order; /* counter of its queue when it was put there */
    uint64_t before_syscall;
    uint64_t block_time, block_start, last_run;
    uint64_t quantum;
    unsigned version;
    bool syscall, maybe_blocking, kernel, ended;
};

/* A heap in an array whose element 0 has the children 0 and 1. */
struct core {
    uint32_t *queue;
    uint32_t n, current;
    uint64_t counter, idle;
    uint64_t steal_from; /* idle count of the first attempt to steal; UINT64_MAX: none yet */
    bool over;
};

struct trod_dynamic {
    struct input *input;
    struct core *core;
    uint32_t n, cores, live, turn;
    uint32_t *scratch; /* inputs set aside; 3 * n */
    uint64_t instructions, rebalanced;
    bool starting; /* at the beginning inputs may go anywhere */
    int (*peek)(void *user, uint32_t input, struct trod_dyn_record *r);
    void *user;
};

enum state { OK, IDLE, ENDED };

static uint64_t now(const struct trod_dynamic *d, const struct core *c)
{
    return 1 + d->instructions + c->idle;
}

/* --- ready queues --- */

static bool before(const struct trod_dynamic *d, uint32_t a, uint32_t b)
{
    const struct input *x = &d->input[a], *y = &d->input[b];
    const uint64_t tx = x->last - x->base, ty = y->last - y->base;

    return tx != ty ? tx < ty : x->order < y->order;
}

static void swap(struct core *c, uint32_t i, uint32_t j)
{
    const uint32_t x = c->queue[i];

    c->queue[i] = c->queue[j];
    c->queue[j] = x;
}

static void sift_up(const struct trod_dynamic *d, struct core *c, uint32_t i)
{
    for (; i && before(d, c->queue[i], c->queue[i / 2]); i /= 2)
        swap(c, i, i / 2);
}

static void sift_down(const struct trod_dynamic *d, struct core *c, uint32_t i)
{
    for (;;) {
        uint32_t best = i;

        for (uint32_t child = 2 * i; child <= 2 * i + 1; child++)
            if (child < c->n && before(d, c->queue[child], c->queue[best]))
                best = child;
        if (best == i)
            return;
        swap(c, i, best);
        i = best;
    }
}

static void put(const struct trod_dynamic *d, struct core *c, uint32_t input)
{
    c->queue[c->n++] = input;
    sift_up(d, c, c->n - 1);
}

/* As the newest of its time. */
static void enqueue(struct trod_dynamic *d, struct core *c, uint32_t input)
{
    d->input[input].order = ++c->counter;
    put(d, c, input);
}

static uint32_t take(const struct trod_dynamic *d, struct core *c, uint32_t place)
{
    const uint32_t input = c->queue[place];

    swap(c, place, --c->n);
    if (place < c->n) {
        sift_down(d, c, place);
        sift_up(d, c, place);
    }
    return input;
}

static bool blocked(const struct trod_dynamic *d, uint32_t i, uint64_t time)
{
    struct input *in = &d->input[i];

    if (in->block_time == 0)
        return false;
    if (time - in->block_start < in->block_time)
        return true;
    in->block_time = 0;
    return false;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/*
 * The first input of FROM's queue that may run, for FROM itself or (AWAY) elsewhere; with LAST the
 * last ones of the array are looked at first. NONE and *ANY_BLOCKED where there is none.
 */
static uint32_t pop(struct trod_dynamic *d, struct core *from, bool away, bool last,
                    bool *any_blocked)
{
    uint32_t *held = d->scratch, *stay = d->scratch + d->n;
    uint32_t n_held = 0, n_stay = 0, found = NONE;
    const uint64_t time = now(d, from);

    while (from->n && found == NONE) {
        const uint32_t i = take(d, from, last ? from->n - 1 : 0);

        if (blocked(d, i, time))
            held[n_held++] = i;
        else if (away && !d->starting && time - d->input[i].last_run <= migration_threshold)
            stay[n_stay++] = i;
        else
            found = i;
    }
    for (uint32_t k = 0; k < n_stay; k++)
        put(d, from, stay[k]);
    if (n_held)
        qsort(held, n_held, sizeof *held, by_number);
    for (uint32_t k = 0; k < n_held; k++)
        enqueue(d, from, held[k]);
    *any_blocked = n_held > 0;
    return found;
}

/* Queues of nearly the same length. */
static void rebalance(struct trod_dynamic *d)
{
    const uint32_t most = (d->live + d->cores - 1) / d->cores;
    uint32_t *moving = d->scratch + 2 * (size_t)d->n;
    uint32_t n = 0;
    bool any;

    for (unsigned pass = 0; pass == 0 || n; pass++)
        for (uint32_t i = 0; i < d->cores; i++) {
            struct core *c = &d->core[i];

            while (pass == 0 && c->n > most) {
                const uint32_t in = pop(d, c, true, true, &any);

                if (in == NONE)
                    break;
                moving[n++] = in;
            }
            while (n && (c->n < most || pass > 1))
                enqueue(d, c, moving[--n]);
        }
}

/* --- what a core runs --- */

static void run(struct trod_dynamic *d, struct core *c, uint32_t input)
{
    c->current = input;
    c->steal_from = UINT64_MAX;
    d->input[input].quantum = 0;
}

/* C has nothing to run: steal, be idle, or end. */
static enum state nothing(struct trod_dynamic *d, struct core *c)
{
    const uint32_t own = (uint32_t)(c - d->core);
    bool any, attempt;

    if (d->live <= d->n / EXIT_DIVISOR)
        return ENDED;
    attempt = c->steal_from == UINT64_MAX || (c->idle - c->steal_from) % STEAL_PERIOD == 0;
    if (c->steal_from == UINT64_MAX)
        c->steal_from = c->idle;
    for (uint32_t k = 1; attempt && k < d->cores; k++) {
        const uint32_t i = pop(d, &d->core[(own + k) % d->cores], true, false, &any);

        if (i != NONE) {
            run(d, c, i);
            return OK;
        }
    }
    return IDLE;
}

/* Give C what it runs next. BLOCK: time for which what it runs now blocks. */
static enum state pick(struct trod_dynamic *d, struct core *c, uint64_t block)
{
    const uint64_t time = now(d, c);
    const uint32_t previous = c->current;
    uint32_t next;
    bool any;

    if (d->rebalanced == 0) {
        d->rebalanced = time;
    } else if (time > d->rebalanced && time - d->rebalanced >= rebalance_period) {
        d->rebalanced = time;
        rebalance(d);
    }
    if (previous != NONE && block) {
        d->input[previous].block_time = block;
        d->input[previous].block_start = time;
    }
    if (c->n == 0 && block == 0) {
        if (previous == NONE || d->input[previous].ended) {
            c->current = NONE;
            return nothing(d, c);
        }
        d->input[previous].quantum = 0;
        return OK;
    }
    c->current = NONE;
    if (previous != NONE && !d->input[previous].ended) {
        d->input[previous].last_run = time;
        enqueue(d, c, previous);
    }
    next = pop(d, c, false, false, &any);
    if (next != NONE) {
        run(d, c, next);
        return OK;
    }
    return any ? IDLE : nothing(d, c);
}

/* --- switch points --- */

/* Is IN to be left at this instruction? *BLOCK: for how long it blocks. */
static bool leaves(struct input *in, uint64_t *block)
{
    bool leave = false;

    if ((in->syscall || in->maybe_blocking) && !in->kernel) {
        const uint64_t latency = in->last - in->before_syscall;

        if (in->version && in->version < VERSION_BLOCKING) {
            leave = in->maybe_blocking;
            *block = leave ? blocking_threshold : 0;
        } else if (latency >= (in->maybe_blocking ? blocking_threshold : syscall_threshold)) {
            uint64_t time = latency / BLOCK_DIVISOR;

            leave = true;
            *block = (time < block_time_max ? time : block_time_max) * units;
        }
        in->syscall = in->maybe_blocking = false;
        in->before_syscall = 0;
    }
    if (++in->quantum > quantum_instructions)
        leave = true;
    return leave;
}

static void deliver(struct trod_dynamic *d, struct input *in, const struct trod_dyn_record *r)
{
    switch (r->kind) {
    case TROD_DYN_INSTR:
        d->instructions++;
        break;
    case TROD_DYN_TIMESTAMP:
        in->last = r->value;
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
        in->kernel = r->kind == TROD_DYN_KERNEL_BEGIN;
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
        struct trod_dyn_record r;
        uint64_t block = 0;
        int rc = d->peek(d->user, current, &r);

        if (rc < 0)
            return rc;
        if (rc == 0) {
            in->ended = true;
            d->live--;
            s = pick(d, c, 0);
            continue;
        }
        if (r.kind == TROD_DYN_INSTR && leaves(in, &block)) {
            s = pick(d, c, block);
            if (s != OK || c->current != current)
                continue;
        }
        deliver(d, in, &r);
        return 1;
    }
    *ended = s == ENDED;
    c->idle += s == IDLE;
    return 0;
}

int trod_dynamic_next(struct trod_dynamic *d, uint32_t *core, uint32_t *input)
{
    uint32_t over = 0;

    while (over < d->cores) {
        struct core *c;
        bool ended = false;
        int rc;

        d->turn = (d->turn + 1) % d->cores;
        c = &d->core[d->turn];
        if (c->over) {
            over++;
            continue;
        }
        over = 0;
        rc = step(d, c, &ended);
        if (rc < 0)
            return rc;
        c->over = ended;
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
        enqueue(d, &d->core[x % d->cores], next);
    }
    free(placed);
    return 0;
}

int trod_dynamic_new(struct trod_dynamic **out, const struct trod_dyn_input *input, uint32_t n,
                     uint32_t cores,
                     int (*peek)(void *user, uint32_t input, struct trod_dyn_record *r), void *user)
{
    struct trod_dynamic *d = calloc(1, sizeof *d);
    uint64_t base = UINT64_MAX;
    bool room = d != NULL;

    *out = d;
    if (!d)
        return TROD_ERR_NOMEM;
    d->n = d->live = n;
    d->cores = cores;
    d->peek = peek;
    d->user = user;
    d->starting = true;
    d->input = calloc(n ? n : 1, sizeof *d->input);
    d->core = calloc(cores, sizeof *d->core);
    d->scratch = calloc(3 * (size_t)n + 1, sizeof *d->scratch);
    for (uint32_t i = 0; d->core && i < cores; i++) {
        d->core[i].queue = calloc(n ? n : 1, sizeof *d->core[i].queue);
        d->core[i].current = NONE;
        d->core[i].steal_from = UINT64_MAX;
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
    }
    if (place(d, input) < 0)
        return TROD_ERR_NOMEM;
    rebalance(d);
    for (uint32_t i = 0; i < cores; i++) {
        bool any;
        const uint32_t first = pop(d, &d->core[i], false, false, &any);

        if (first != NONE)
            run(d, &d->core[i], first);
        else
            nothing(d, &d->core[i]);
    }
    d->starting = false;
    return 0;
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
    free(d);
}
