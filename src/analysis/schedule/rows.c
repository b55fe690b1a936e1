/*
 * rows.c - the rows of a trace become numbers of threads and cores (schedule.h).
 */
#include "analysis/schedule/schedule.h"

#include "analysis/plain_rows.h"
#include "core/drm_time.h"
#include "core/grow.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <string.h>

enum { LATENCIES = 6, LETTERS = 1 << 20 };

/* After so many microseconds times of 32 bits begin anew. */
#define WRAP (UINT64_C(1) << 32)

/* --- letters --- */

char sch_letter(const struct sch_state *s, uint32_t thread)
{
    return (char)('A' + s->thread[thread].letter % SCH_LETTERS);
}

/*
 * N times CH, of a core's letters. LETTERS at the most: a longer gap, of 5 * 10^11 steps, is
 * damage, and would fill the memory.
 */
static bool letters(const struct sch_state *s, struct sch_core *c, char ch, uint64_t n)
{
    const size_t some = n < LETTERS ? (size_t)n : LETTERS;

    if (s->opt->like != SCH_LIKE_SCHEDULE_STATS)
        return true;
    if (trod_buf_reserve(&c->letters, some) != TROD_OK)
        return false;
    memset(c->letters.p + c->letters.n, ch, some);
    c->letters.n += some;
    return true;
}

static bool letter(const struct sch_state *s, struct sch_core *c, char ch)
{
    return letters(s, c, ch, 1);
}

/* Does C run a thread? */
static bool runs(const struct sch_core *c)
{
    return c->thread != SCH_NONE && c->thread != SCH_IDLE && c->thread != SCH_WAIT;
}

static char gap_letter(uint32_t thread)
{
    return thread == SCH_IDLE ? '_' : '-';
}

/* N more instructions or steps of what C runs. */
static bool go_on(const struct sch_state *s, struct sch_core *c, uint64_t n)
{
    uint64_t rest;
    char ch;

    if (n < SCH_LETTER - c->segment) {
        c->segment += n;
        return true;
    }
    rest = c->segment + n % SCH_LETTER;
    ch = runs(c) ? (char)(sch_letter(s, c->thread) + 'a' - 'A') : gap_letter(c->thread);
    c->segment = rest % SCH_LETTER;
    return letters(s, c, ch, n / SCH_LETTER + rest / SCH_LETTER);
}

/* --- switches --- */

/* The system call of T is over, as far as the schedule is concerned. */
static bool close_call(const struct sch_state *s, struct sch_core *c, struct sch_thread *t,
                       bool switched, int64_t *latency)
{
    struct sch_hist *h;
    uint64_t time;

    *latency = -1;
    if (t->call < 0 || !t->stamped || s->meta->version < LATENCIES || t->time < t->before)
        return true;
    time = t->time - t->before;
    *latency = (int64_t)time;
    t->waited += switched ? time : 0;
    h = sch_of(switched ? &c->switched : &c->stayed, (uint64_t)t->call);
    return h && sch_count(h, time, SCH_LATENCY_BIN, 1);
}

/* Does T leave its core because it has to wait, or is at its end? */
static bool may_leave(const struct sch_thread *t)
{
    return t->call >= 0 || t->maybe || t->gone;
}

/* What C ran leaves it for NEXT (or SCH_IDLE, SCH_WAIT). */
static bool leave(struct sch_state *s, struct sch_core *c, uint32_t next)
{
    struct sch_thread *t = &s->thread[c->thread];
    struct sch_hist *h = sch_of(&c->by_thread, c->thread);
    struct sch_out o = {.thread = c->thread,
                        .start = c->start,
                        .instructions = c->since,
                        .call = t->call,
                        .voluntary = c->left ? c->left_voluntary : may_leave(t)};

    if (!h || !sch_count(h, c->since, SCH_SWITCH_BIN, 1) ||
        !sch_count(&c->since_hist, c->since, SCH_SWITCH_BIN, 1))
        return false;
    if (c->n_runs)
        c->run[c->n_runs - 1].stop = t->instructions + 1;
    o.latency = -1;
    if (s->said && !close_call(s, c, t, true, &o.latency))
        return false;
    o.direct = next < s->n_threads && t->direct != TROD_NOWHERE && s->thread[next].tid == t->direct;
    if (c->switches < SCH_OUTS)
        c->out[c->switches] = o;
    c->switches++;
    t->switches++;
    c->voluntary += o.voluntary;
    c->direct += o.direct;
    t->direct = TROD_NOWHERE;
    if (s->said) {
        t->call = -1;
        t->maybe = false;
    }
    c->to_idle += next == SCH_IDLE;
    c->to_input += next < s->n_threads;
    return true;
}

static bool add_line(struct sch_state *s, const struct sch_entry *e)
{
    if (!trod_grow(&s->entry, s->n_entries, &s->cap_entries, sizeof *s->entry, 256))
        return false;
    s->entry[s->n_entries++] = *e;
    return true;
}

static uint64_t line_time(const struct sch_state *s, const struct sch_thread *t)
{
    return s->meta->addr_bits == 32 ? (uint32_t)t->time : t->time;
}

/* The trace's schedule files have a line for each marker that says something else of T. */
static bool marker_line(struct sch_state *s, struct sch_thread *t, uint64_t cpu)
{
    const struct sch_entry e = {t->tid, line_time(s, t), cpu, t->instructions, 0};

    if (!s->listed || (t->lined && memcmp(&e, &t->line, sizeof e) == 0))
        return true;
    t->line = e;
    t->lined = true;
    return add_line(s, &e);
}

/*
 * Of other orders they have a line for each change, by the place in that order: a thread's last
 * time stamp may be from before others ran. Changes without an instruction between them are told
 * apart by their numbers.
 */
static bool enter_line(struct sch_state *s, struct sch_core *c, const struct sch_thread *t)
{
    if (s->opt->like == SCH_LIKE_RECORD_FILE)
        return sch_record_begin(c, (uint32_t)(t - s->thread),
                                t->instructions ? t->instructions + 1 : 0);
    if (!sch_lines(s) || s->listed)
        return true;
    return add_line(
        s, &(struct sch_entry){t->tid, s->position, c->number, t->instructions, s->n_entries});
}

static bool enter(struct sch_state *s, struct sch_core *c, uint32_t thread)
{
    struct sch_thread *t = &s->thread[thread];
    const uint32_t own = (uint32_t)(c - s->core);
    bool there = false;

    c->from_idle += c->thread == SCH_IDLE || c->thread == SCH_WAIT;
    c->start = t->instructions + 1;
    for (size_t i = 0; !there && i < c->n_threads; i++)
        there = c->threads[i] == thread;
    if (!there) {
        if (!trod_grow(&c->threads, c->n_threads, &c->cap_threads, sizeof *c->threads, 8))
            return false;
        c->threads[c->n_threads++] = thread;
        t->cores += sch_is_known(c);
    }
    c->migrations += t->known && t->core != own && s->placed;
    t->core = own;
    t->known = true;
    return letter(s, c, sch_letter(s, thread)) && enter_line(s, c, t);
}

/*
 * Instructions are drawn into the chart when something else begins, not one by one, with the same
 * result as long as the scale of the chart does not change: before it does, they are drawn.
 */
static bool draw_to(struct sch_state *s, struct sch_core *c, uint64_t to)
{
    const uint64_t from = c->drawn;

    c->drawn = c->due = to;
    return from == to || c->thread == SCH_NONE || sch_chart(s, c, from, to, c->thread);
}

static bool draw_due(struct sch_state *s)
{
    bool room = true;

    for (size_t k = 0; room && k < s->n_cores; k++)
        room = s->core[k].due <= s->core[k].drawn || draw_to(s, &s->core[k], s->core[k].due);
    return room;
}

/* What C runs goes into the chart, as far as it has come. */
static bool draw(struct sch_state *s, struct sch_core *c)
{
    if (s->placed && !sch_fits(s, c->steps) && !draw_due(s))
        return false;
    return draw_to(s, c, c->steps);
}

/* C runs THREAD (or SCH_IDLE, SCH_WAIT) from here on. */
static bool observe(struct sch_state *s, struct sch_core *c, uint32_t thread)
{
    const bool gap = thread == SCH_IDLE || thread == SCH_WAIT;

    if (c->thread == thread)
        return true;
    if (!draw(s, c))
        return false;
    if (runs(c) && sch_is_known(c) && !leave(s, c, thread))
        return false;
    c->switches += c->thread == SCH_IDLE && thread == SCH_WAIT;
    if (!gap && !enter(s, c, thread))
        return false;
    if (gap && !letter(s, c, gap_letter(thread)))
        return false;
    c->thread = thread;
    c->left = false;
    c->since = c->segment = 0;
    return true;
}

/* --- rows --- */

/* STEPS of C without a record: it is idle, or waits. */
static bool gap(struct sch_state *s, struct sch_core *c, uint64_t steps, uint32_t what)
{
    const bool begins = c->thread != what;

    steps = steps ? steps : 1; /* as it stands on disk: a row a step */
    *(what == SCH_IDLE ? &c->idle : &c->waits) += steps;
    if (!draw(s, c) || !observe(s, c, what) || !go_on(s, c, steps - begins))
        return false;
    if (what == SCH_IDLE && s->opt->like == SCH_LIKE_RECORD_FILE) {
        if (!sch_record_begin(c, SCH_IDLE, 0))
            return false;
        c->run[c->n_runs - 1].steps += steps;
    }
    c->steps += steps;
    return draw(s, c);
}

static bool instruction(struct sch_state *s, struct sch_core *c, struct sch_thread *t,
                        uint32_t flags)
{
    const uint32_t thread = (uint32_t)(t - s->thread);
    int64_t latency;

    if (!observe(s, c, thread))
        return false;
    s->instructions++;
    s->position++;
    t->instructions++;
    c->instructions++;
    c->calls += t->calls;
    c->blocking += t->blocking;
    c->requests += t->requests;
    t->calls = t->blocking = t->requests = 0;
    s->last_core = (uint32_t)(c - s->core);
    if (!(flags & TROD_F_KERNEL)) {
        c->user++;
        c->since++;
        if (t->call >= 0 && !close_call(s, c, t, false, &latency))
            return false;
        t->call = -1;
        t->maybe = false;
        t->gone = false; /* it ended in the file of another core, which came before */
        t->direct = TROD_NOWHERE;
    }
    if (s->placed && sch_fits(s, c->steps))
        c->due = c->steps;
    else if (s->placed && !draw(s, c))
        return false;
    if (!s->placed && !s->marked && !sch_chart(s, c, s->position - 1, s->position, thread))
        return false;
    return go_on(s, c, 1);
}

/* Recorded cpus: T is on cpu NUMBER (all bits set: not known) from its next instruction on. */
static bool on_cpu(struct sch_state *s, struct sch_thread *t, uint64_t number)
{
    struct sch_core *c = sch_core_of(s, (uint32_t)number);
    const uint32_t own = c ? (uint32_t)(c - s->core) : SCH_NONE;

    if (!c)
        return false;
    if (t->core != own && t->core != SCH_NONE) {
        struct sch_core *was = &s->core[t->core];

        was->left = was->thread == (uint32_t)(t - s->thread);
        was->left_voluntary = may_leave(t);
    }
    t->core = own;
    if (sch_is_known(c)) {
        c->migrations += t->known && t->ran != SCH_NONE && t->ran != own;
        t->ran = own;
    }
    return true;
}

/*
 * The time stamp TIME of T as it is counted on where it wraps. The first one of a thread belongs to
 * the last one of others.
 */
static uint64_t time_of(struct sch_state *s, const struct sch_thread *t, uint64_t time)
{
    const unsigned bits = s->meta->addr_bits;
    const uint32_t now = (uint32_t)time, was = (uint32_t)t->time;

    if (bits != 32)
        return time;
    if (t->time == 0 && s->time == 0)
        s->time = WRAP + now;
    else if (t->time == 0)
        s->time += (uint64_t)(int64_t)(int32_t)(now - (uint32_t)s->time);
    else if (trod_drm_time_back(was, now, bits))
        s->time = t->time - (was - now);
    else
        s->time = t->time + trod_drm_time_since(was, now, bits);
    return s->time;
}

static bool stamp(struct sch_state *s, struct sch_thread *t, uint64_t time)
{
    bool room = true;

    if (!s->placed && t->core != SCH_NONE && t->time && time > t->time) {
        struct sch_core *c = &s->core[t->core];

        if (c->thread == (uint32_t)(t - s->thread) && t->call < 0)
            room = sch_chart(s, c, t->time, time, c->thread);
    }
    t->time = time;
    t->stamped = true;
    return room;
}

static bool marker(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                   struct sch_thread *t)
{
    const uint64_t value = b->value[row];

    switch (b->sub[row]) {
    case TROD_DRM_TIMESTAMP:
        return stamp(s, t, time_of(s, t, value));
    case TROD_DRM_CPU_ID:
        return s->placed || sch_sharded(b->meta) ||
               (on_cpu(s, t, value) && marker_line(s, t, value));
    case TROD_DRM_SYSCALL:
        t->calls++;
        t->call = (int64_t)(value & INT64_MAX);
        t->before = t->time;
        t->stamped = false;
        return true;
    case TROD_DRM_MAYBE_BLOCKING:
        t->blocking++;
        t->maybe = true;
        return true;
    case TROD_DRM_DIRECT_THREAD_SWITCH:
        t->requests++;
        t->direct = value;
        return true;
    default:
        return true;
    }
}

/* What T did since its last instruction goes to C. */
static void settle_thread(struct sch_core *c, struct sch_thread *t)
{
    c->calls += t->calls;
    c->blocking += t->blocking;
    c->requests += t->requests;
    t->calls = t->blocking = t->requests = 0;
}

/* What was counted by itself (turns.c) belongs to what C runs. */
static bool settle(const struct sch_state *s, struct sch_core *c)
{
    const uint64_t n = c->more;

    c->stream = SCH_NONE;
    if (n == 0)
        return true;
    s->thread[c->thread].instructions += n;
    c->instructions += n;
    c->user += n - c->kernel;
    c->since += n - c->kernel;
    c->more = c->kernel = 0;
    return go_on(s, c, n);
}

static bool gap_row(struct sch_state *s, const struct trod_batch *b, uint32_t row)
{
    const uint32_t stream = trod_batch_stream(b, row);
    const uint32_t file = stream < b->meta->n_streams ? b->meta->streams[stream].file : 0;
    struct sch_core *c =
        sch_core_of(s, b->have & b->has[row] & TROD_COL_CORE ? b->core[row] : file);

    return c && settle(s, c) &&
           gap(s, c, b->value[row], b->sub[row] == TROD_DRM_CORE_IDLE ? SCH_IDLE : SCH_WAIT);
}

/* Does ROW say that a core had nothing to run? */
static bool is_gap(const struct sch_state *s, const struct trod_batch *b, uint32_t row)
{
    return b->kind[row] == TROD_MARKER && s->marked &&
           (b->sub[row] == TROD_DRM_CORE_IDLE || b->sub[row] == TROD_DRM_CORE_WAIT);
}

static bool instruction_row(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                            struct sch_thread *t)
{
    struct sch_core *c = sch_core_at(s, b, row, t);

    return c && instruction(s, c, t, b->flags[row]);
}

static bool other_row(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                      struct sch_thread *t)
{
    const bool ends = b->kind[row] == TROD_THREAD && b->sub[row];
    struct sch_core *c = s->said ? sch_core_at(s, b, row, t) : NULL;

    if (s->said && (!c || !observe(s, c, (uint32_t)(t - s->thread))))
        return false;
    if (b->kind[row] == TROD_MARKER && s->marked && !marker(s, b, row, t))
        return false;
    if (ends) {
        t->gone = true;
        if (!c && t->core != SCH_NONE)
            c = &s->core[t->core];
    }
    if (c)
        settle_thread(c, t);
    return true;
}

/* ROW, of thread T, on a core that the order of the trace says. */
static bool placed_row(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                       struct sch_thread *t)
{
    const bool instr = b->kind[row] == TROD_INSTR;
    struct sch_core *c = sch_core_at(s, b, row, t);

    if (!c || !settle(s, c) || (t->core != SCH_NONE && !settle(s, &s->core[t->core])))
        return false;
    if (!instr)
        return other_row(s, b, row, t);
    if (!instruction(s, c, t, b->flags[row]))
        return false;
    c->stream = trod_batch_stream(b, row);
    c->calm = t->call < 0 && !t->maybe && t->direct == TROD_NOWHERE;
    return true;
}

/* Is ROW of the header of a core that begins idle? */
static bool of_nobody(const struct trod_batch *b, uint32_t row)
{
    const uint32_t stream = trod_batch_stream(b, row);

    return stream < b->meta->n_streams && b->meta->streams[stream].tid == TROD_NOWHERE;
}

static bool one_row(struct sch_state *s, const struct trod_batch *b, uint32_t row)
{
    struct sch_thread *t;

    if (is_gap(s, b, row))
        return gap_row(s, b, row);
    if (s->said && !s->placed && of_nobody(b, row))
        return true;
    t = sch_thread_of(s, b->meta, trod_batch_stream(b, row));
    if (!t)
        return false;
    if (s->placed)
        return placed_row(s, b, row, t);
    return b->kind[row] == TROD_INSTR ? instruction_row(s, b, row, t) : other_row(s, b, row, t);
}

/*
 * Instructions behind row *AT that change nothing but counters: of its thread, to the next marker.
 * *AT is then the last of them.
 */
static bool go_far(struct sch_state *s, const struct trod_batch *b, uint32_t *at, uint32_t to)
{
    const uint32_t stream = trod_batch_stream(b, *at);
    struct sch_thread *t = &s->thread[s->by_stream[stream] - 1];
    struct sch_core *c = &s->core[s->last_core];
    struct trod_plain_rows r = {.end = *at + 1};
    uint64_t n;

    if (t->call >= 0 || t->maybe || c->thread != (uint32_t)(t - s->thread))
        return true;
    if (r.end < to && trod_batch_stream(b, r.end) == stream)
        r = trod_plain_rows(b, r.end, to, SCH_NOT_THERE);
    n = r.instructions;
    *at = r.end - 1;
    s->instructions += n;
    s->position += n;
    t->instructions += n;
    c->instructions += n;
    c->user += r.user;
    c->since += r.user;
    if (n && !s->marked && !sch_chart(s, c, s->position - n, s->position, c->thread))
        return false;
    return go_on(s, c, n);
}

/* All that was counted by itself is where it belongs. */
static bool settle_all(struct sch_state *s)
{
    bool room = draw_due(s);

    for (size_t k = 0; room && k < s->n_cores; k++) {
        const uint32_t stream = s->core[k].stream;

        room = settle(s, &s->core[k]);
        s->core[k].stream = stream;
    }
    return room;
}

int sch_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct sch_state *s = st;
    struct sch_turns turns;
    bool together;

    if (s->n_threads == 0 && s->n_cores == 0) {
        const struct trod_format *f = b->meta->driver;

        s->marked = f && (f->flags & TROD_FMT_MARKERS);
        s->placed = b->have & TROD_COL_CORE;
        s->said = s->placed || sch_sharded(b->meta);
        s->listed = sch_lines(s) && s->marked && !s->said;
        for (uint32_t i = 0; s->placed && i < b->meta->n_cores; i++)
            if (!sch_core_of(s, i))
                return TROD_ERR_NOMEM;
        s->n_ranked = s->n_cores;
    }
    together = s->placed && (b->have & TROD_COL_CORE) && (b->have & TROD_COL_STREAM);
    if (together)
        sch_turns_begin(&turns, b, from, to);
    for (uint32_t i = from; i < to; i++) {
        unsigned kind;

        if (together && (i = sch_turns(s, &turns, b, i)) == to)
            break;
        kind = b->kind[i];
        if (s->placed && b->core[i] < s->n_cores && (b->has[i] & TROD_COL_CORE) && !is_gap(s, b, i))
            s->core[b->core[i]].steps++;
        if (kind == TROD_INSTR ? b->flags[i] & SCH_NOT_THERE
                               : kind != TROD_MARKER && kind != TROD_THREAD && s->said == s->placed)
            continue;
        if (!one_row(s, b, i))
            return TROD_ERR_NOMEM;
        if (kind == TROD_INSTR && !s->placed && !go_far(s, b, &i, to))
            return TROD_ERR_NOMEM;
    }
    return s->placed && !settle_all(s) ? TROD_ERR_NOMEM : TROD_OK;
}
