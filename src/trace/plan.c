/*
 * plan.c - what cores run, from a schedule file or a recorded schedule.
 *
 * Implements replay.h (trod_plan). Entries of a schedule file say where turns begin: a turn ends
 * where the next one of the same thread begins, on whatever cpu. Recorded schedules say both.
 */
#include "core/endian.h"
#include "core/grow.h"
#include "trace/replay.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    RECORD = 32,
    UNITS = 1000, /* of time a microsecond */
    WINDOW = 1 << 15
};

/* A recorded gap of more steps is damage: these are five hours. */
#define IDLE_MOST (UINT64_C(1) << 44)

enum record_type {
    RECORD_DEFAULT,
    RECORD_VERSION,
    RECORD_FOOTER,
    RECORD_SKIP,
    RECORD_SYNTHETIC_END,
    RECORD_IDLE,
    RECORD_IDLE_BY_COUNT
};

static struct trod_plan_core *new_core(struct trod_plan *p)
{
    if (p->n == TROD_MOST_CORES || !trod_grow(&p->core, p->n, &p->cap, sizeof *p->core, 8))
        return NULL;
    p->core[p->n] = (struct trod_plan_core){0};
    return &p->core[p->n++];
}

/* S behind what C has; with a segment of the same input that ends where S begins it is one. */
static int add(struct trod_plan_core *c, const struct trod_segment *s)
{
    struct trod_segment *last = c->n ? &c->segment[c->n - 1] : NULL;

    if (last && !last->idle && !s->idle && last->input == s->input && last->stop == s->start) {
        last->stop = s->stop;
        return TROD_OK;
    }
    if (!trod_grow(&c->segment, c->n, &c->cap, sizeof *c->segment, 64))
        return TROD_ERR_NOMEM;
    c->segment[c->n++] = *s;
    return TROD_OK;
}

void trod_plan_fini(struct trod_plan *plan)
{
    for (size_t i = 0; i < plan->n; i++)
        free(plan->core[i].segment);
    free(plan->core);
    *plan = (struct trod_plan){0};
}

/* --- schedule files --- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b)
{
    const struct trod_turn *x = a, *y = b;
    int c = compare(x->input, y->input);

    c = c ? c : compare(x->start, y->start);
    c = c ? c : compare(x->time, y->time);
    return c ? c : compare(x->cpu, y->cpu);
}

static int by_cpu(const void *a, const void *b)
{
    const struct trod_turn *x = a, *y = b;
    int c = compare(x->cpu, y->cpu);

    c = c ? c : compare(x->time, y->time);
    c = c ? c : compare(x->thread, y->thread);
    return c ? c : compare(x->start, y->start);
}

/*
 * Turns by input and start: of several with the same start the latest stays. Where a turn stops
 * goes to its thread, which nobody asks for any more.
 */
static void stops(struct trod_schedule *s)
{
    uint32_t n = 0;

    if (s->n)
        qsort(s->turn, s->n, sizeof *s->turn, by_start);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct trod_turn *t = &s->turn[i], *next = i + 1 < s->n ? t + 1 : NULL;
        const bool same = next && next->input == t->input;

        if (same && next->start == t->start)
            continue;
        s->turn[n] = *t;
        s->turn[n++].thread = same ? next->start : UINT64_MAX;
    }
    s->n = n;
    if (n)
        qsort(s->turn, n, sizeof *s->turn, by_cpu);
}

/* Inputs that no turn names, behind everything else. */
static int add_rest(struct trod_plan *plan, const struct trod_schedule *s, uint32_t n_inputs)
{
    bool *named = calloc(n_inputs ? n_inputs : 1, sizeof *named);
    int rc = named && (plan->n || new_core(plan)) ? TROD_OK : TROD_ERR_NOMEM;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n; i++)
        named[s->turn[i].input] = true;
    for (uint32_t i = 0; rc == TROD_OK && i < n_inputs; i++) {
        const struct trod_segment all = {.stop = UINT64_MAX, .time = UINT64_MAX, .input = i};

        if (!named[i])
            rc = add(plan->core, &all);
    }
    free(named);
    return rc;
}

int trod_plan_traced(struct trod_plan *plan, struct trod_schedule *s, uint32_t n_inputs)
{
    struct trod_plan_core *core = NULL;
    int rc = TROD_OK;

    *plan = (struct trod_plan){0};
    stops(s);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n; i++) {
        const struct trod_turn *t = &s->turn[i];
        const struct trod_segment one = {
            .start = t->start, .stop = t->thread, .time = t->time, .input = t->input};

        if (i == 0 || t->cpu != t[-1].cpu)
            core = new_core(plan);
        rc = core ? add(core, &one) : TROD_ERR_NOMEM;
    }
    return rc == TROD_OK ? add_rest(plan, s, n_inputs) : rc;
}

/* --- recorded schedules --- */

struct reading {
    struct trod_plan *plan;
    struct trod_plan_core *core; /* between its VERSION and its FOOTER */
    const char *path;
    struct trod_diag *diag;
    uint32_t n_inputs;
};

static int refuse(const struct reading *g, uint64_t offset, int code, const char *what,
                  uint64_t number)
{
    const struct trod_place at = trod_place_offset(g->path, offset);

    return trod_error(g->diag, code, "schedule.record", &at, "recorded schedule: %s %" PRIu64, what,
                      number);
}

static int segment(struct reading *g, const uint8_t *p, uint64_t offset)
{
    const uint32_t type = trod_load_le32(p), key = trod_load_le32(p + 4);
    const uint64_t value = trod_load_le64(p + 8);
    struct trod_segment s = {.time = trod_load_le64(p + 24)};

    switch (type) {
    case RECORD_DEFAULT:
        if (key >= g->n_inputs)
            return refuse(g, offset, TROD_ERR_CORRUPT, "there is no input", key);
        s.input = key;
        s.start = value;
        s.stop = trod_load_le64(p + 16);
        return add(g->core, &s);
    case RECORD_IDLE:
    case RECORD_IDLE_BY_COUNT:
        s.idle = type == RECORD_IDLE ? value * UNITS : value;
        if (value > IDLE_MOST || s.idle > IDLE_MOST)
            return refuse(g, offset, TROD_ERR_CORRUPT, "more idle steps than a run has:", value);
        return s.idle ? add(g->core, &s) : TROD_OK;
    case RECORD_SYNTHETIC_END: /* the rest of an input is not run: no segment names it */
        return TROD_OK;
    case RECORD_SKIP:
        return refuse(g, offset, TROD_ERR_UNSUPPORTED, "it skips a part of input", key);
    default:
        return refuse(g, offset, TROD_ERR_CORRUPT, "unknown type of record", type);
    }
}

static int one_record(struct reading *g, const uint8_t *p, uint64_t offset)
{
    const uint32_t type = trod_load_le32(p);

    if (!g->core) {
        if (type != RECORD_VERSION)
            return refuse(g, offset, TROD_ERR_CORRUPT, "no version before a record of type", type);
        if (trod_load_le64(p + 8))
            return refuse(g, offset, TROD_ERR_UNSUPPORTED, "unknown version",
                          trod_load_le64(p + 8));
        g->core = new_core(g->plan);
        return g->core ? TROD_OK : refuse(g, offset, TROD_ERR_LIMIT, "more cores than", g->plan->n);
    }
    if (type != RECORD_FOOTER)
        return segment(g, p, offset);
    g->core = NULL;
    return TROD_OK;
}

/* A VERSION to begin with, and then what may follow one; entries of schedule files have threads. */
static bool is_record(const struct trod_span *span)
{
    return span->n >= 2 * (size_t)RECORD && trod_load_le64(span->p) == RECORD_VERSION &&
           trod_load_le32(span->p + RECORD) <= RECORD_IDLE_BY_COUNT &&
           trod_load_le64(span->p + 16) == 0;
}

bool trod_plan_is(const char *path)
{
    const struct trod_input_options opt = {.no_thread = true, .window = WINDOW};
    struct trod_span span = {0};
    struct trod_input *in;
    struct stat st;
    bool is;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || trod_input_open(&in, path, &opt, NULL) < 0)
        return false;
    is = trod_input_ahead(in, 2 * (size_t)RECORD, &span) == TROD_OK && is_record(&span);
    trod_input_close(in);
    return is;
}

int trod_plan_read(struct trod_plan *plan, const char *path, uint32_t n_inputs,
                   struct trod_diag *diag)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct reading g = {.plan = plan, .path = path, .diag = diag, .n_inputs = n_inputs};
    struct trod_input *in;
    struct trod_span span = {0};
    int rc;

    *plan = (struct trod_plan){0};
    if (!trod_plan_is(path))
        return 0;
    rc = trod_input_open(&in, path, &opt, diag);
    if (rc < 0)
        return rc;
    while (rc == TROD_OK && (rc = trod_input_ahead(in, RECORD, &span)) == TROD_OK &&
           span.n >= RECORD) {
        const size_t whole = span.n - span.n % RECORD;

        for (size_t i = 0; i < whole && rc == TROD_OK; i += RECORD)
            rc = one_record(&g, span.p + i, span.offset + i);
        trod_input_consume(in, whole);
    }
    if (rc == TROD_OK)
        rc = trod_input_end(in);
    if (rc == TROD_OK && (span.n || g.core))
        rc = refuse(&g, span.offset, TROD_ERR_TRUNCATED, "it is cut, in core", plan->n);
    trod_input_close(in);
    return rc < 0 ? rc : 1;
}
