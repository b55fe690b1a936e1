/*
 * timeline.c - calls over time. Implements timeline.h.
 */
#include "export/timeline.h"

#include "core/grow.h"
#include "export/clock.h"
#include "trod/format.h"

#include <stdio.h>
#include <string.h>

static const char *const clocks[] = {"auto", "time", "instructions", NULL};

const struct export_timeline_options export_timeline_defaults = {.limit = 1000000};

const struct trod_option export_timeline_options[] = {
    {.name = "limit",
     .type = TROD_OPT_U64,
     .offset = offsetof(struct export_timeline_options, limit),
     .arg = "N",
     .text = "events of calls, two each, at the most; the shortest calls are left out (default: "
             "1000000)"},
    {.name = "clock",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct export_timeline_options, clock),
     .arg = "CLOCK",
     .text = "what times are: those of the trace, or counted instructions of each thread (auto: "
             "time where every instruction has one and none goes back)",
     .choices = clocks},
    {.type = TROD_OPT_END},
};

enum { IN_TIME, IN_INSTRUCTIONS, CLOCKS, NONE = 65 /* more bits than a length has */ };

/* ---- spans */

static unsigned bits(uint64_t v)
{
    unsigned n = 0;

    for (; v; v >>= 1)
        n++;
    return n;
}

/* The bits of the length of S. */
static unsigned bits_of(const struct export_timeline *t, const struct export_span *s,
                        unsigned clock)
{
    if (clock == IN_INSTRUCTIONS)
        return bits(s->end.instruction - s->begin.instruction);
    if (s->begin.time >= s->end.time)
        return 0;
    return bits(trod_time_scale(s->end.time - s->begin.time, -t->coarse));
}

/* The clock, as far as it is known. */
static enum export_clock decide(const struct export_timeline *t)
{
    if (t->clock != EXPORT_CLOCK_AUTO)
        return t->clock;
    return t->timed && !t->back ? EXPORT_CLOCK_TIME : EXPORT_CLOCK_INSTRUCTIONS;
}

static unsigned clock_of(const struct export_timeline *t)
{
    return decide(t) == EXPORT_CLOCK_TIME ? IN_TIME : IN_INSTRUCTIONS;
}

/* May CLOCK be the clock in the end? */
static bool may_be(const struct export_timeline *t, unsigned clock)
{
    if (clock == IN_TIME)
        return decide(t) == EXPORT_CLOCK_TIME || (t->clock == EXPORT_CLOCK_AUTO && !t->back);
    return t->clock != EXPORT_CLOCK_TIME || !t->timed;
}

static bool is_kept(const struct export_timeline *t, const struct export_span *s)
{
    for (unsigned k = 0; k < CLOCKS; k++)
        if (bits_of(t, s, k) >= t->least[k])
            return true;
    return false;
}

/* Drop the shortest spans by each of CLOCKS, bits, so that those that are left fit. */
static void drop(struct export_timeline *t, unsigned of)
{
    size_t n = 0;

    for (unsigned k = 0; k < CLOCKS; k++) {
        uint64_t left = 0;

        for (unsigned i = t->least[k]; i < NONE; i++)
            left += t->by_length[k][i];
        while (left > t->most && t->least[k] < NONE)
            left -= t->by_length[k][t->least[k]++];
        if (!(of >> k & 1))
            t->least[k] = NONE;
    }
    for (size_t i = 0; i < t->n; i++)
        if (is_kept(t, &t->span[i]))
            t->span[n++] = t->span[i];
    t->n = n;
}

static int add_span(struct export_timeline *t, const struct export_span *s)
{
    const bool time = may_be(t, IN_TIME), instructions = may_be(t, IN_INSTRUCTIONS);

    for (unsigned k = 0; k < CLOCKS; k++)
        t->by_length[k][bits_of(t, s, k)]++;
    if (!is_kept(t, s))
        return 0;
    if (t->n >= ((size_t)time + instructions) * t->most) {
        drop(t, (unsigned)time << IN_TIME | (unsigned)instructions << IN_INSTRUCTIONS);
        if (!is_kept(t, s))
            return 0;
    }
    if (!trod_grow(&t->span, t->n, &t->cap, sizeof *t->span, 1024))
        return TROD_ERR_NOMEM;
    t->span[t->n++] = *s;
    return 0;
}

static int leave(void *st, struct export_lane *l, const struct export_open *o,
                 const struct trod_frame *f, const struct trod_frame_left *end)
{
    struct export_span s = {
        .begin = {o->time, o->instruction},
        .end = {end->next.time, end->next.instruction},
        .lane = l->number,
        .function = o->function,
        .depth = f->depth,
    };

    if (end->next.pc == TROD_NOWHERE)
        s.end.time = end->last.time + (end->last.time < TROD_LAST_TIME);
    return add_span(st, &s);
}

/* ---- counters */

static void halve(struct export_buckets *k)
{
    const uint64_t first = k->first / 2, n = (k->first + k->n - 1) / 2 - first + 1;
    struct export_buckets to = {.width = 2 * k->width, .first = first, .n = n};

    for (uint64_t i = 0; i < k->n; i++) {
        to.reads[(k->first + i) / 2 - first] += k->reads[i];
        to.writes[(k->first + i) / 2 - first] += k->writes[i];
    }
    *k = to;
}

static void count(struct export_buckets *k, uint64_t at, bool reads, bool writes)
{
    uint64_t i = at / k->width;

    if (k->n == 0) {
        k->first = i;
        k->n = 1;
    }
    while (i < k->first ? k->first + k->n - i > EXPORT_BUCKETS : i - k->first >= EXPORT_BUCKETS) {
        halve(k);
        i = at / k->width;
    }
    if (i < k->first) {
        memmove(k->reads + (k->first - i), k->reads, k->n * sizeof *k->reads);
        memmove(k->writes + (k->first - i), k->writes, k->n * sizeof *k->writes);
        memset(k->reads, 0, (k->first - i) * sizeof *k->reads);
        memset(k->writes, 0, (k->first - i) * sizeof *k->writes);
        k->n += k->first - i;
        k->first = i;
    }
    i -= k->first;
    if (i >= k->n)
        k->n = i + 1;
    k->reads[i] += reads;
    k->writes[i] += writes;
}

/* ---- rows */

static struct export_here *here_of(struct export_timeline *t, uint32_t stream)
{
    if (stream >= t->n_here) {
        const uint32_t n = stream + stream / 2 + 16;
        struct export_here *p = realloc(t->here, n * sizeof *p);

        if (!p)
            return NULL;
        for (uint32_t i = t->n_here; i < n; i++)
            p[i] = (struct export_here){0, TROD_NOWHERE};
        t->here = p;
        t->n_here = n;
    }
    return &t->here[stream];
}

static void see_time(struct export_timeline *t, struct export_here *here, uint64_t time)
{
    time -= time == TROD_NOWHERE; /* that is no time */
    if (here->time != TROD_NOWHERE && time < here->time)
        t->back = true;
    else
        here->time = time;
}

/* Row I of B, a signal or a wait that lane L executed at W. */
static int add_signal(struct export_timeline *t, const struct trod_batch *b, uint32_t i,
                      const struct export_lane *l, const struct export_when *w)
{
    const uint32_t has = b->have & b->has[i];
    const struct export_pair *p;

    if (!(has & TROD_COL_ADDR) || !(has & TROD_COL_VALUE) || !(has & TROD_COL_SUB) ||
        !(trod_sync_is_signal(b->sub[i]) || trod_sync_is_wait(b->sub[i])))
        return 0;
    if (t->n_signals == t->most) {
        t->signals_dropped++;
        return 0;
    }
    p = export_map_at(&t->flows, b->addr[i], b->value[i]);
    if (!p || !trod_grow(&t->signal, t->n_signals, &t->cap_signals, sizeof *t->signal, 64))
        return TROD_ERR_NOMEM;
    t->signal[t->n_signals++] = (struct export_signal){
        .at = *w,
        .address = b->addr[i],
        .flow = (uint64_t)(p - t->flows.at) + 1,
        .lane = l->number,
        .wait = trod_sync_is_wait(b->sub[i]),
    };
    return 0;
}

/* What times count, once there is one. */
static void learn(struct export_timeline *t)
{
    const struct trod_ticks *ticks = trod_callstack_ticks(t->lanes.stack);

    if (!ticks->known || t->timed)
        return;
    t->timed = true;
    t->unit = ticks->unit;
    t->power = ticks->power;
    t->coarse = trod_time_exponent(ticks->unit) - ticks->power;
}

/* Ticks become finer. */
static void scale(void *st, unsigned power)
{
    struct export_timeline *t = st;

    for (size_t i = 0; i < t->n; i++) {
        t->span[i].begin.time = trod_ticks_scale(t->span[i].begin.time, power);
        t->span[i].end.time = trod_ticks_scale(t->span[i].end.time, power);
    }
    for (size_t i = 0; i < t->n_signals; i++)
        t->signal[i].at.time = trod_ticks_scale(t->signal[i].at.time, power);
    for (uint32_t i = 0; i < t->n_here; i++)
        t->here[i].time = trod_ticks_scale(t->here[i].time, power);
    t->power -= (int)power;
    t->coarse += (int)power;
}

static int rows(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct export_lane *l, struct export_open *o)
{
    struct export_timeline *t = st;
    struct export_here *here = here_of(t, l ? l->stream : trod_batch_stream(b, from));
    const uint64_t *time = trod_callstack_times(t->lanes.stack);

    (void)o;
    learn(t);
    if (!here)
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t has = b->have & b->has[i];
        const unsigned kind = b->kind[i];
        struct export_when w;

        if (has & TROD_COL_TIME)
            see_time(t, here, time[i]);
        here->instructions += kind == TROD_INSTR && has & TROD_COL_ADDR;
        if (kind != TROD_READ && kind != TROD_WRITE && kind != TROD_ATOMIC && kind != TROD_SYNC)
            continue;
        w.instruction = here->instructions ? here->instructions - 1 : 0;
        w.time = here->time;
        if (kind == TROD_SYNC) {
            if (l && add_signal(t, b, i, l, &w) != 0)
                return TROD_ERR_NOMEM;
            continue;
        }
        count(t->buckets[IN_INSTRUCTIONS], w.instruction, kind != TROD_WRITE, kind != TROD_READ);
        if (w.time != TROD_NOWHERE)
            count(t->buckets[IN_TIME], trod_time_scale(w.time, -t->coarse), kind != TROD_WRITE,
                  kind != TROD_READ);
    }
    return 0;
}

int export_timeline_init(struct export_timeline *t, const struct export_timeline_options *o,
                         const struct trod_export_context *c)
{
    const struct export_lanes_sink sink = {.st = t, .leave = leave, .rows = rows, .scale = scale};
    const struct trod_format *f = c->meta->driver;

    t->c = *c;
    t->clock = (enum export_clock)o->clock;
    /* where time passes at markers only, thousands of instructions have the same */
    if (t->clock == EXPORT_CLOCK_AUTO && f && f->flags & TROD_FMT_TIMESTAMPS)
        t->clock = EXPORT_CLOCK_INSTRUCTIONS;
    t->most = o->limit / 2 > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)(o->limit / 2);
    for (unsigned i = 0; i < 2; i++) {
        t->buckets[i] = calloc(1, sizeof *t->buckets[i]);
        if (!t->buckets[i])
            return TROD_ERR_NOMEM;
        t->buckets[i]->width = 1;
    }
    return export_lanes_init(&t->lanes, &sink, c);
}

int export_timeline_feed(struct export_timeline *t, const struct trod_batch *b, uint32_t from,
                         uint32_t to)
{
    return export_lanes_feed(&t->lanes, b, from, to);
}

/* ---- the end */

static int order(const void *a, const void *b)
{
    const struct export_span *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->begin.instruction != y->begin.instruction)
        return x->begin.instruction < y->begin.instruction ? -1 : 1;
    if (x->end.instruction != y->end.instruction)
        return x->end.instruction > y->end.instruction ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Can TIMES say LAST? */
static bool fits(const struct export_timeline *t, enum export_times times, uint64_t last)
{
    if (times == EXPORT_DOUBLES)
        return last <= UINT64_C(1) << 53;
    return trod_time_scale(last, export_power(t) + (export_in_seconds(t) ? 9 : 3)) <= INT64_MAX;
}

/*
 * Times that are not known are the first one there is; those from 1601 on begin there, and those
 * that are too large.
 */
static void settle_times(struct export_timeline *t, enum export_times times)
{
    const struct trod_format *f = t->c.meta->driver;
    uint64_t first = TROD_NOWHERE, last = 0;

    for (size_t i = 0; i < t->n; i++)
        first = t->span[i].begin.time < first ? t->span[i].begin.time : first;
    for (size_t i = 0; i < t->n; i++) {
        struct export_span *s = &t->span[i];

        if (s->begin.time == TROD_NOWHERE)
            s->begin.time = first;
        if (s->end.time == TROD_NOWHERE || s->end.time < s->begin.time)
            s->end.time = s->begin.time;
        last = s->end.time != TROD_NOWHERE && s->end.time > last ? s->end.time : last;
    }
    if (first == TROD_NOWHERE || t->clock != EXPORT_CLOCK_TIME)
        return;
    if (f && f->flags & TROD_FMT_TIMESTAMPS) {
        t->base = first;
    } else if (first && !fits(t, times, last)) {
        t->base = first;
        trod_diag_report(t->c.diag, TROD_SEV_NOTE, TROD_OK, "export.base", NULL,
                         "times begin at 0, which is %llu in ticks of the trace: they are larger "
                         "than the numbers of this view",
                         (unsigned long long)first);
    }
}

/* Spans that are left out are shorter than 2 to this power. */
static unsigned least_bits(const struct export_timeline *t)
{
    const unsigned least = t->least[clock_of(t)];

    return least ? least - 1 : 0;
}

/* What else there is to say of times and spans. */
static void report(const struct export_timeline *t)
{
    if (trod_callstack_ticks(t->lanes.stack)->held)
        trod_diag_report(t->c.diag, TROD_SEV_WARNING, TROD_OK, "export.times", NULL,
                         "times are too large for the finest unit of the trace, and count as the "
                         "largest there is");
    if (export_hidden(t))
        trod_diag_report(t->c.diag, TROD_SEV_NOTE, TROD_OK, "export.hidden", NULL,
                         "%llu calls shorter than %llu %s are left out, so that a viewer opens "
                         "the rest; option limit",
                         (unsigned long long)export_hidden(t),
                         (unsigned long long)(UINT64_C(1) << least_bits(t)),
                         t->clock == EXPORT_CLOCK_TIME ? "ticks" : "instructions");
}

int export_timeline_end(struct export_timeline *t, enum export_times times,
                        struct trod_result *result)
{
    int r = export_lanes_end(&t->lanes);

    t->clock = decide(t);
    if (r == 0 && t->clock == EXPORT_CLOCK_TIME && !t->timed)
        t->clock = EXPORT_CLOCK_INSTRUCTIONS;
    drop(t, 1u << clock_of(t));
    if (t->n)
        qsort(t->span, t->n, sizeof *t->span, order);
    settle_times(t, times);
    report(t);
    trod_result_str(result, "clock", clocks[t->clock]);
    trod_result_u64(result, "calls", t->n);
    trod_result_u64(result, "calls_left_out", export_hidden(t));
    trod_result_u64(result, "lanes", t->lanes.n);
    trod_result_u64(result, "signals_and_waits", t->n_signals);
    return r;
}

void export_timeline_fini(struct export_timeline *t)
{
    export_lanes_fini(&t->lanes);
    export_map_fini(&t->flows);
    free(t->span);
    free(t->signal);
    free(t->here);
    free(t->buckets[0]);
    free(t->buckets[1]);
}

uint64_t export_hidden(const struct export_timeline *t)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < 65; i++)
        all += t->by_length[IN_TIME][i];
    return all - t->n;
}

uint64_t export_at(const struct export_timeline *t, const struct export_when *w)
{
    if (t->clock != EXPORT_CLOCK_TIME)
        return w->instruction;
    return w->time == TROD_NOWHERE || w->time < t->base ? 0 : w->time - t->base;
}

bool export_in_seconds(const struct export_timeline *t)
{
    return t->clock == EXPORT_CLOCK_TIME && export_is_time(t->unit);
}

int export_power(const struct export_timeline *t)
{
    return t->clock == EXPORT_CLOCK_TIME ? t->power : 0;
}

const struct export_buckets *export_counters(const struct export_timeline *t)
{
    return t->buckets[clock_of(t)];
}

uint64_t export_bucket_at(const struct export_timeline *t, size_t i)
{
    const struct export_buckets *k = export_counters(t);
    uint64_t at;
    struct export_when w;

    if (__builtin_mul_overflow(k->first + i, k->width, &at))
        at = UINT64_MAX;
    w = (struct export_when){trod_time_scale(at, t->coarse), at};
    if (w.time > TROD_LAST_TIME)
        w.time = TROD_LAST_TIME;
    return export_at(t, &w);
}

void export_counters_name(const struct export_timeline *t, const struct trod_meta *meta, char *out,
                          size_t size)
{
    const int power = t->clock == EXPORT_CLOCK_TIME ? -(int)trod_unit_decimals(t->unit) : 0;
    char width[EXPORT_DECIMAL];

    snprintf(out, size, "accesses per %s %s",
             export_decimal(width, export_counters(t)->width, power), export_clock_name(t, meta));
}

const char *export_clock_name(const struct export_timeline *t, const struct trod_meta *meta)
{
    const char *unit = trod_meta_unit_name(meta, t->unit);

    if (t->clock != EXPORT_CLOCK_TIME)
        return clocks[EXPORT_CLOCK_INSTRUCTIONS];
    return *unit ? unit : "tick";
}

int export_timeline_title(struct trod_buf *out, const struct export_timeline *t,
                          const struct trod_meta *meta)
{
    const char *slash = strrchr(t->c.source, '/');
    int r = trod_buf_printf(out, "%s", slash && slash[1] ? slash + 1 : t->c.source);

    if (r == 0 && (t->clock != EXPORT_CLOCK_TIME || !export_is_time(t->unit)))
        r = trod_buf_printf(out, " (1 us = 1 %s)", export_clock_name(t, meta));
    if (r == 0 && export_hidden(t))
        r = trod_buf_printf(out, " (%llu shorter calls left out)",
                            (unsigned long long)export_hidden(t));
    return r;
}

/* End the spans on the stack that end before instruction AT. */
static int close_until(const struct export_timeline *t, size_t *stack, size_t *n, uint64_t at,
                       export_walk_fn each, void *user)
{
    int r = 0;

    while (r == 0 && *n > 0 && t->span[stack[*n - 1]].end.instruction <= at)
        r = each(user, &t->span[stack[--*n]], false);
    return r;
}

int export_timeline_walk(const struct export_timeline *t, size_t *at, export_walk_fn each,
                         void *user)
{
    const uint32_t lane = *at < t->n ? t->span[*at].lane : 0;
    size_t *stack = NULL, n = 0, cap = 0;
    int r = 0;

    for (; r == 0 && *at < t->n && t->span[*at].lane == lane; ++*at) {
        r = close_until(t, stack, &n, t->span[*at].begin.instruction, each, user);
        if (r == 0 && !trod_grow(&stack, n, &cap, sizeof *stack, 64))
            r = TROD_ERR_NOMEM;
        if (r == 0) {
            stack[n++] = *at;
            r = each(user, &t->span[*at], true);
        }
    }
    if (r == 0)
        r = close_until(t, stack, &n, UINT64_MAX, each, user);
    free(stack);
    return r;
}
