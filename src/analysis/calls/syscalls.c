/*
 * syscalls.c - the analysis "syscalls": what the program asked of its system, how long it took and
 * what came of it.
 *
 * Implements docs/analysing.md, "syscalls", from the markers of traces that have them (drmemtrace).
 * Traces without them give the instructions that call the system: how many, and where. Names are
 * those of Linux.
 */
#include "analysis/calls/calls.h"

#include "analysis/by_site.h"
#include "core/drm_time.h"
#include "core/grow.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"
#include "trod/streak.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct sys_options, field)

enum { PRE_TIMES = 6 }; /* from this version on a time stamp stands on both sides of a call */

static const char *const like_names[] = {"none", "syscall_mix", NULL};

static const struct trod_option options[] = {
    {"top", 0, TROD_OPT_U64, AT(top), "N", "show the N most frequent calls only", NULL, NULL},
    {"list", 0, TROD_OPT_U64, AT(list), "N",
     "show the first N calls one by one, with arguments and results", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL", "print as DynamoRIO's syscall_mix does",
     like_names, NULL},
    {.type = TROD_OPT_END},
};

static const struct sys_options defaults = {0};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct sys_state *s = st;

    s->opt = opt ? opt : &defaults;
    s->sites = context->sites;
    s->stream = context->stream;
    s->by = context->by;
    s->symbols = context->symbols;
    if (s->opt->list <= SYS_LIST)
        return TROD_OK;
    return trod_error(context->diag, TROD_ERR_USAGE, "syscalls.list", NULL,
                      "--list shows at most %d calls", SYS_LIST);
}

static void fini(void *st)
{
    struct sys_state *s = st;

    free(s->call);
    trod_map_fini(&s->map);
    free(s->failure);
    free(s->one);
    free(s->thread);
    free(s->ran);
    free(s->from);
    free(s->calling);
    free(s->interval);
    s->call = NULL;
    s->failure = NULL;
    s->one = NULL;
    s->thread = NULL;
    s->ran = NULL;
    s->from = NULL;
    s->n_from = 0;
    s->calling = NULL;
    s->interval = NULL;
}

/* The thread of STREAM, which is met for the first time. NULL: no memory. */
static struct sys_thread *new_thread(struct sys_state *s, size_t i)
{
    if (i >= s->n_threads) {
        const size_t n = i < 4 ? 8 : 2 * i;
        struct sys_thread *t = realloc(s->thread, n * sizeof *t);

        if (!t)
            return NULL;
        memset(t + s->n_threads, 0, (n - s->n_threads) * sizeof *t);
        s->thread = t;
        s->n_threads = n;
    }
    s->thread[i] = (struct sys_thread){
        .last = -1, .one = SIZE_MAX, .site = TROD_NO_SITE, .from = TROD_NO_SITE, .begun = true};
    return &s->thread[i];
}

/* The thread of STREAM. A state of one stream has one. NULL: no memory. */
static inline struct sys_thread *thread_of(struct sys_state *s, uint32_t stream)
{
    const size_t i = s->stream == TROD_ALL_STREAMS ? stream : 0;

    return i < s->n_threads && s->thread[i].begun ? &s->thread[i] : new_thread(s, i);
}

/* The site of the call that is open in T, or was last; or a dummy to write to. */
static struct sys_from *from_of(struct sys_state *s, const struct sys_thread *t,
                                struct sys_from *nobody)
{
    const size_t i = t->from == TROD_NO_SITE ? 0 : (size_t)t->from + 1;

    return i < s->n_from ? &s->from[i] : nobody;
}

static struct sys_one *one_of(struct sys_state *s, const struct sys_thread *t)
{
    return t->one < s->n_ones ? &s->one[t->one] : NULL;
}

static int keep_one(struct sys_state *s, const struct trod_batch *b, uint32_t row,
                    struct sys_thread *t)
{
    const uint32_t stream = trod_batch_stream(b, row);

    t->one = SIZE_MAX;
    if (s->n_ones >= s->opt->list)
        return TROD_OK;
    if (!trod_grow(&s->one, s->n_ones, &s->cap_ones, sizeof *s->one, 64))
        return TROD_ERR_NOMEM;
    t->one = s->n_ones++;
    s->one[t->one] = (struct sys_one){
        .number = t->last,
        .tid = stream < b->meta->n_streams ? b->meta->streams[stream].tid : TROD_NOWHERE};
    return TROD_OK;
}

static int begin_call(struct sys_state *s, const struct trod_batch *b, uint32_t row,
                      struct sys_thread *t)
{
    struct sys_call *c = sys_call(s, (int64_t)b->value[row]);

    if (!c)
        return TROD_ERR_NOMEM;
    c->n.calls++;
    s->sums.calls++;
    s->numbered = true;
    t->last = (int64_t)b->value[row];
    t->open = true;
    t->pre = t->fresh && b->meta->version >= PRE_TIMES;
    t->before = t->time;
    t->group = false;
    t->from = t->site;
    from_of(s, t, &(struct sys_from){0})->calls++;
    return keep_one(s, b, row, t);
}

/* The call of T is over; at TIME, where TIMED. */
static int end_call(struct sys_state *s, struct sys_thread *t, bool timed, uint64_t time)
{
    struct sys_call *c = sys_call(s, t->last);
    struct sys_one *one = one_of(s, t);

    if (!c)
        return TROD_ERR_NOMEM;
    t->open = false;
    c->n.returned++;
    s->sums.returned++;
    if (!timed || !t->pre || trod_drm_time_back(t->before, time, s->addr_bits))
        return TROD_OK;
    time = trod_drm_time_since(t->before, time, s->addr_bits);
    c->n.timed++;
    c->n.time += time;
    s->sums.timed++;
    s->sums.time += time;
    from_of(s, t, &(struct sys_from){0})->time += time;
    c->least = time < c->least ? time : c->least;
    c->most = time > c->most ? time : c->most;
    if (one) {
        one->has_time = true;
        one->time = time;
    }
    return TROD_OK;
}

/* Count a FIELD of the last call of T, and of all. */
static int count(struct sys_state *s, const struct sys_thread *t, size_t field)
{
    struct sys_call *c = sys_call(s, t->last);

    if (!c)
        return TROD_ERR_NOMEM;
    ++*(uint64_t *)(void *)((char *)&c->n + field);
    ++*(uint64_t *)(void *)((char *)&s->sums + field);
    return TROD_OK;
}

#define COUNT(field) count(s, t, offsetof(struct sys_sums, field))

static int failure(struct sys_state *s, struct sys_thread *t, uint64_t error)
{
    struct sys_one *one = one_of(s, t);
    int rc;

    s->sums.failed++;
    from_of(s, t, &(struct sys_from){0})->failed++;
    if (one && t->open) {
        one->failed = true;
        one->error = error;
    }
    if ((rc = sys_failed(s, t->last, (int64_t)error, 1)) < 0 || t->last < 0)
        return rc; /* a failure without its call: it lies before the beginning of the trace */
    s->sums.failed--;
    return COUNT(failed);
}

/* Arguments and results of the call that is open. */
static int function(struct sys_state *s, struct sys_thread *t, const struct trod_batch *b,
                    uint32_t row)
{
    const uint64_t base = TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);
    struct sys_one *one = one_of(s, t);

    if (b->sub[row] == TROD_DRM_FUNC_ID) {
        t->group = t->open && b->value[row] >= base;
        return TROD_OK;
    }
    if (!t->group)
        return TROD_OK;
    if (b->sub[row] == TROD_DRM_FUNC_RETVAL) {
        if (one) {
            one->has_result = true;
            one->result = b->value[row];
        }
        return COUNT(with_result);
    }
    if (one && one->n_args < SYS_ARGS)
        one->arg[one->n_args++] = b->value[row];
    return TROD_OK;
}

static int marker(struct sys_state *s, struct sys_thread *t, const struct trod_batch *b,
                  uint32_t row)
{
    struct sys_one *one;

    switch (b->sub[row]) {
    case TROD_DRM_TIMESTAMP:
        t->fresh = true;
        t->time = b->value[row];
        return t->open ? end_call(s, t, true, t->time) : TROD_OK;
    case TROD_DRM_SYSCALL:
        return begin_call(s, b, row, t);
    case TROD_DRM_MAYBE_BLOCKING:
        if (!t->open)
            return TROD_OK;
        if ((one = one_of(s, t)))
            one->blocking = true;
        from_of(s, t, &(struct sys_from){0})->blocking++;
        return COUNT(blocking);
    case TROD_DRM_FUNC_ARG:
    case TROD_DRM_FUNC_ID:
    case TROD_DRM_FUNC_RETVAL:
        return function(s, t, b, row);
    case TROD_DRM_SYSCALL_FAILED:
        return failure(s, t, b->value[row]);
    case TROD_DRM_SYSCALL_TRACE_START: {
        struct sys_call *c = sys_call(s, (int64_t)b->value[row]);

        if (!c)
            return TROD_ERR_NOMEM;
        c->n.traces++;
        s->sums.traces++;
        return TROD_OK;
    }
    default:
        return TROD_OK;
    }
}

/* Instructions of T: the last call, if any, has returned. */
static int executed(struct sys_state *s, struct sys_thread *t)
{
    t->fresh = false;
    return t->open ? end_call(s, t, false, 0) : TROD_OK;
}

/* How many rows from FROM on are no markers and of STREAM, or not said to be of another. */
static uint32_t plain_rows(const struct trod_batch *b, uint32_t from, uint32_t to, uint32_t stream)
{
    uint32_t i = from;

    while (i < to && b->kind[i] != TROD_MARKER && trod_batch_stream(b, i) == stream)
        i++;
    return i - from;
}

/* Rows without markers of one thread. */
static int feed_plain(struct sys_state *s, struct sys_thread *t, const struct trod_batch *b,
                      uint32_t from, uint32_t to)
{
    const uint32_t not_there = TROD_F_SYNTHETIC | TROD_F_NOFETCH;
    uint64_t calls = 0, kernel = 0, user = 0;

    for (uint32_t i = from; i < to; i++) {
        const uint32_t flags = b->flags[i];
        const bool instr = b->kind[i] == TROD_INSTR && !(flags & not_there);
        const bool in_kernel = flags & TROD_F_KERNEL;

        kernel += instr && in_kernel;
        user += instr && !in_kernel;
        calls += instr && !in_kernel && (flags & TROD_F_BRANCH) == TROD_BR_SYSCALL;
    }
    s->sums.kernel += kernel;
    s->instructions += calls;
    return user ? executed(s, t) : TROD_OK;
}

/*
 * Count rows [FROM, TO) by streaks and single rows; streaks are there because another analysis
 * wanted them.
 */
static int feed_streaks(struct sys_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_streak_walk walk;
    const struct trod_streak *streak;
    int rc = TROD_OK;

    trod_streak_walk_begin(&walk, b, from, to);
    while (rc == TROD_OK && (streak = trod_streak_next(&walk))) {
        const uint32_t row = streak->row, flags = b->flags[streak->last];
        struct sys_thread *t = thread_of(s, trod_batch_stream(b, row));

        if (!t)
            return TROD_ERR_NOMEM;
        if (b->kind[row] == TROD_MARKER) {
            rc = marker(s, t, b, row);
        } else if (streak->n == 0) {
            rc = feed_plain(s, t, b, row, row + 1);
        } else if (flags & TROD_F_KERNEL) {
            s->sums.kernel += streak->n;
        } else {
            s->instructions += (flags & TROD_F_BRANCH) == TROD_BR_SYSCALL;
            rc = executed(s, t);
        }
    }
    return rc;
}

/* Count row by row, with the sites of the instructions that make calls. */
static int feed_owned(struct sys_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t not_there = TROD_F_SYNTHETIC | TROD_F_NOFETCH | TROD_F_KERNEL;
    int rc = trod_by_site_room(&s->from, &s->n_from, trod_sites_count(s->sites) + (size_t)1,
                               sizeof *s->from);

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        struct sys_thread *t = thread_of(s, trod_batch_stream(b, i));

        if (!t)
            return TROD_ERR_NOMEM;
        if (b->kind[i] == TROD_MARKER) {
            rc = marker(s, t, b, i);
            continue;
        }
        if (b->kind[i] == TROD_INSTR && !(b->flags[i] & not_there)) {
            const bool calls = (b->flags[i] & TROD_F_BRANCH) == TROD_BR_SYSCALL;

            t->site = calls && b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;
            if (calls)
                s->from[t->site == TROD_NO_SITE ? 0 : (size_t)t->site + 1].instructions++;
        }
        rc = feed_plain(s, t, b, i, i + 1);
    }
    return rc;
}

static int feed_marked(struct sys_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int rc = TROD_OK;

    if (s->by >= TROD_BY_MODULE)
        return feed_owned(s, b, from, to);
    if (b->streaks)
        return feed_streaks(s, b, from, to);

    while (rc == TROD_OK && from < to) {
        const uint32_t stream = trod_batch_stream(b, from);
        struct sys_thread *t = thread_of(s, stream);
        const uint32_t n = plain_rows(b, from, to, stream);

        if (!t)
            return TROD_ERR_NOMEM;
        rc = n ? feed_plain(s, t, b, from, from + n) : marker(s, t, b, from);
        from += n ? n : 1;
    }
    return rc;
}

/*
 * Traces without markers: count each instruction by its site; what the sites are is found out at
 * the end.
 */
static int feed_sites(struct sys_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    if (!(b->have & TROD_COL_SITE))
        return TROD_OK;
    if (sys_room(s, trod_sites_count(s->sites)) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; i < to; i++)
        if (b->kind[i] == TROD_INSTR && b->site[i] < s->n_ran &&
            !(b->flags[i] & (TROD_F_SYNTHETIC | TROD_F_SKIPPED)))
            s->ran[b->site[i]]++;
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const struct trod_format *f = b->meta->driver;
    struct sys_state *s = st;

    if (!s->isa)
        s->isa = b->meta->isa;
    if (!f || !(f->flags & TROD_FMT_MARKERS))
        return feed_sites(s, b, from, to);
    s->marked = true;
    s->addr_bits = b->meta->addr_bits;
    return feed_marked(s, b, from, to);
}

/* The instructions so far that call the system, of traces without markers, to *RAN. */
static int count_ran(struct sys_state *s, uint64_t *ran)
{
    *ran = 0;
    for (; s->n_looked < s->n_ran && s->n_looked < trod_sites_count(s->sites); s->n_looked++) {
        if (!sys_is_call(s->sites, s->n_looked))
            continue;
        if (!trod_grow(&s->calling, s->n_calling, &s->cap_calling, sizeof *s->calling, 16))
            return TROD_ERR_NOMEM;
        s->calling[s->n_calling++] = s->n_looked;
    }
    for (size_t i = 0; i < s->n_calling; i++)
        *ran += s->ran[s->calling[i]];
    return TROD_OK;
}

/* What was counted since the last interval ended belongs to this one. */
static int end_interval(struct sys_state *s)
{
    struct sys_interval *i = &s->interval[s->n_intervals - 1];
    struct sys_sums n = s->sums;
    uint64_t ran = 0;

    if (!s->marked && s->sites && count_ran(s, &ran) < 0)
        return TROD_ERR_NOMEM;
    sys_subtract(&n, &s->before);
    sys_add(&i->n, &n);
    i->ran += ran - s->ran_before;
    s->before = s->sums;
    s->ran_before = ran;
    return TROD_OK;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct sys_state *s = st;

    if (at->type == TROD_BOUNDARY_WARM) {
        s->sums = s->before = (struct sys_sums){0};
        s->instructions = s->ran_before = 0;
        s->n_failures = s->n_calls = s->n_ones = 0;
        trod_map_clear(&s->map);
        if (s->n_ran)
            memset(s->ran, 0, s->n_ran * sizeof *s->ran);
        if (s->n_from)
            memset(s->from, 0, s->n_from * sizeof *s->from);
    }
    if (at->type == TROD_BOUNDARY_END && s->n_intervals) /* what stands behind its end is its */
        return end_interval(s);
    if (at->type != TROD_BOUNDARY_INTERVAL)
        return TROD_OK;
    if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 64))
        return TROD_ERR_NOMEM;
    s->interval[s->n_intervals++] =
        (struct sys_interval){.number = at->number, .instructions = at->instructions};
    return end_interval(s);
}

/* Sites are for traces whose rows do not say which instructions call the system. */
static uint32_t uses_of(const char *format, const void *opt)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));

    (void)opt;
    return f && (f->flags & TROD_FMT_MARKERS) ? TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE
                                              : TROD_COL_STREAM | TROD_COL_SITE;
}

const struct trod_analysis trod_analysis_syscalls = {
    .name = "syscalls",
    .title = "system calls: counts, failures, times, arguments and results",
    .about = "Counts system calls by number and name: how many returned, failed (and how),\n"
             "may block, and how long they took, where the trace has times on both sides\n"
             "of them; kernel code that was traced with them. --list shows single calls\n"
             "with the arguments and results that were recorded.\n"
             "\n"
             "Traces without markers of system calls give the instructions that call the\n"
             "system, by address; numbers and times are then not known.",
    .examples = "  trod syscalls app.trace.zip\n"
                "  trod syscalls --list 20 --by thread app.dir\n"
                "  trod syscalls --like syscall_mix app.dir\n",
    .options = options,
    .options_size = sizeof(struct sys_options),
    .defaults = &defaults,
    .state_size = sizeof(struct sys_state),
    .order = TROD_STREAM_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_SITE,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .merge = sys_merge,
    .save = sys_save,
    .load = sys_load,
    .result = sys_result,
    .layout = sys_layout,
    .fini = fini,
    .owners = true,
};
