/*
 * perfetto.c - the view "perfetto": calls over time as Perfetto's track events.
 *
 * Implements docs/exporting.md, "Perfetto"; document: Perfetto, "Trace packets", messages
 * TracePacket, TrackDescriptor, TrackEvent. A track a thread, two counters of the process. Names
 * stand once, in the packet that uses one first.
 */
#include "export/clock.h"
#include "export/pb.h"
#include "export/timeline.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROCESS = 1, FIRST_THREAD = 2, SEQUENCE = 1 };

/* Numbers of tracks. */
enum { PROCESS_TRACK = 1, READS_TRACK = 2, WRITES_TRACK = 3, FIRST_TRACK = 16 };

/* Numbers of the fields used. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT = 3,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_TEXT = 23,
    EVENT_CATEGORY = 22,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48,
    INTERNED_NAME = 2,
    NAME_NUMBER = 1,
    NAME_TEXT = 2
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { FLAGS_CLEARED = 1, FLAGS_NEEDED = 2, UNIT_COUNT = 2 };

struct options {
    struct export_timeline_options timeline;
};

struct state {
    struct export_timeline t;
    struct trod_buf out, packet, part, inner;
    uint8_t *named;   /* functions whose names were written */
    bool begun;       /* a packet of the sequence was written */
    uint64_t rounded; /* times that are no whole nanoseconds */
    int status;
};

static const struct options defaults = {.timeline = {.limit = 1000000}};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    return export_timeline_init(&((struct state *)st)->t, &((const struct options *)opt)->timeline,
                                c);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_timeline_feed(&((struct state *)st)->t, b, from, to);
}

/* Remember the first failure. */
static void note(struct state *s, int r)
{
    if (s->status == 0)
        s->status = r;
}

/* ---- packets */

static void flush(struct state *s)
{
    if (s->status == 0)
        s->status = trod_output_write(s->t.c.out, s->out.p, s->out.n);
    s->out.n = 0;
}

/* End the packet that is being built. */
static void end_packet(struct state *s)
{
    note(s, pb_message(&s->out, TRACE_PACKET, &s->packet));
    if (s->out.n > 1 << 16)
        flush(s);
}

/* AT in nanoseconds: what counts no time, ticks as well as instructions, is 1000 of them. */
static uint64_t nanoseconds(struct state *s, uint64_t at)
{
    const int power = export_power(&s->t) + (export_in_seconds(&s->t) ? 9 : 3);
    const uint64_t to = trod_time_scale(at, power);

    s->rounded += power < 0 && trod_time_scale(to, -power) != at;
    return to > INT64_MAX ? INT64_MAX : to;
}

/* The event in s->part, at AT, as a packet. */
static void end_event(struct state *s, uint64_t at)
{
    note(s, pb_number(&s->packet, PACKET_TIMESTAMP, nanoseconds(s, at)));
    note(s, pb_number(&s->packet, PACKET_SEQUENCE, SEQUENCE));
    note(s, pb_number(&s->packet, PACKET_FLAGS,
                      FLAGS_NEEDED | (s->begun ? 0 : (uint64_t)FLAGS_CLEARED)));
    s->begun = true;
    note(s, pb_message(&s->packet, PACKET_EVENT, &s->part));
    end_packet(s);
}

/* ---- tracks */

static void put_process(struct state *s, const struct trod_meta *meta)
{
    struct trod_buf title = {0};

    note(s, export_timeline_title(&title, &s->t, meta));
    note(s, pb_number(&s->inner, PROCESS_PID, PROCESS));
    note(s, pb_bytes(&s->inner, PROCESS_NAME, title.p, title.n));
    note(s, pb_number(&s->part, TRACK_UUID, PROCESS_TRACK));
    note(s, pb_message(&s->part, TRACK_PROCESS, &s->inner));
    note(s, pb_message(&s->packet, PACKET_TRACK, &s->part));
    end_packet(s);
    trod_buf_fini(&title);
}

static void put_thread(struct state *s, uint32_t lane, const struct trod_meta *meta)
{
    struct trod_buf name = {0};

    note(s, export_lane_name(&name, s->t.lanes.lane[lane], meta));
    note(s, pb_number(&s->inner, THREAD_PID, PROCESS));
    note(s, pb_number(&s->inner, THREAD_TID, (uint64_t)lane + FIRST_THREAD));
    note(s, pb_bytes(&s->inner, THREAD_NAME, name.p, name.n));
    note(s, pb_number(&s->part, TRACK_UUID, (uint64_t)lane + FIRST_TRACK));
    note(s, pb_message(&s->part, TRACK_THREAD, &s->inner));
    note(s, pb_number(&s->part, TRACK_PARENT, PROCESS_TRACK));
    note(s, pb_message(&s->packet, PACKET_TRACK, &s->part));
    end_packet(s);
    trod_buf_fini(&name);
}

static void put_counter_track(struct state *s, uint64_t track, const char *name)
{
    note(s, pb_number(&s->inner, COUNTER_UNIT, UNIT_COUNT));
    note(s, pb_number(&s->part, TRACK_UUID, track));
    note(s, pb_text(&s->part, TRACK_NAME, name));
    note(s, pb_number(&s->part, TRACK_PARENT, PROCESS_TRACK));
    note(s, pb_message(&s->part, TRACK_COUNTER, &s->inner));
    note(s, pb_message(&s->packet, PACKET_TRACK, &s->part));
    end_packet(s);
}

/* ---- events */

static int put_span(void *user, const struct export_span *p, bool open)
{
    struct state *s = user;
    const uint64_t name = (uint64_t)p->function + 1;

    if (open && !s->named[p->function]) {
        s->named[p->function] = 1;
        note(s, pb_number(&s->inner, NAME_NUMBER, name));
        note(s,
             pb_text(&s->inner, NAME_TEXT, export_function_name(&s->t.lanes.names, p->function)));
        note(s, pb_message(&s->part, INTERNED_NAME, &s->inner));
        note(s, pb_message(&s->packet, PACKET_INTERNED, &s->part));
    }
    note(s, pb_number(&s->part, EVENT_TYPE, open ? TYPE_BEGIN : TYPE_END));
    note(s, pb_number(&s->part, EVENT_TRACK, (uint64_t)p->lane + FIRST_TRACK));
    if (open)
        note(s, pb_number(&s->part, EVENT_NAME, name));
    end_event(s, export_at(&s->t, open ? &p->begin : &p->end));
    return s->status;
}

static void put_value(struct state *s, uint64_t track, uint64_t at, uint64_t value)
{
    note(s, pb_number(&s->part, EVENT_TYPE, TYPE_COUNTER));
    note(s, pb_number(&s->part, EVENT_TRACK, track));
    note(s, pb_number(&s->part, EVENT_COUNTER, value));
    end_event(s, at);
}

static void put_counters(struct state *s)
{
    const struct export_buckets *k = export_counters(&s->t);

    for (size_t i = 0; i <= k->n && k->n; i++) {
        const uint64_t at = export_bucket_at(&s->t, i);

        put_value(s, READS_TRACK, at, i < k->n ? k->reads[i] : 0);
        put_value(s, WRITES_TRACK, at, i < k->n ? k->writes[i] : 0);
    }
}

/* A signal is an event with a flow, a wait one that ends it. */
static void put_signals(struct state *s)
{
    for (size_t i = 0; i < s->t.n_signals; i++) {
        const struct export_signal *p = &s->t.signal[i];
        char name[40];

        snprintf(name, sizeof name, "%s 0x%llx", p->wait ? "wait" : "signal",
                 (unsigned long long)p->address);
        note(s, pb_number(&s->part, EVENT_TYPE, TYPE_INSTANT));
        note(s, pb_number(&s->part, EVENT_TRACK, (uint64_t)p->lane + FIRST_TRACK));
        note(s, pb_text(&s->part, EVENT_CATEGORY, "sync"));
        note(s, pb_text(&s->part, EVENT_NAME_TEXT, name));
        note(s, pb_fixed(&s->part, p->wait ? EVENT_FLOW_ENDS : EVENT_FLOW, p->flow));
        end_event(s, export_at(&s->t, &p->at));
    }
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;

    s->status = export_timeline_end(&s->t, EXPORT_NANOSECONDS, result);
    s->named = calloc(export_functions(&s->t.lanes.names) + 1, 1);
    if (!s->named)
        return TROD_ERR_NOMEM;
    put_process(s, meta);
    for (uint32_t i = 0; i < s->t.lanes.n; i++)
        put_thread(s, i, meta);
    put_counter_track(s, READS_TRACK, "reads");
    put_counter_track(s, WRITES_TRACK, "writes");
    for (size_t i = 0; s->status == 0 && i < s->t.n;)
        note(s, export_timeline_walk(&s->t, &i, put_span, s));
    put_counters(s);
    put_signals(s);
    flush(s);
    export_report_rounded(s->t.c.diag, s->rounded);
    return s->status;
}

static void fini(void *st)
{
    struct state *s = st;

    export_timeline_fini(&s->t);
    free(s->named);
    trod_buf_fini(&s->out);
    trod_buf_fini(&s->packet);
    trod_buf_fini(&s->part);
    trod_buf_fini(&s->inner);
}

static const char *const suffixes[] = {".pftrace", ".perfetto-trace", NULL};

const struct trod_export trod_view_perfetto = {
    .name = "perfetto",
    .title = "Perfetto: calls over time, counters of accesses, synchronization",
    .opens = "Perfetto (ui.perfetto.dev), trace_processor",
    .leaves_out = "single instructions and accesses, registers, opcodes, physical addresses, the "
                  "shortest calls where there are too many",
    .suffixes = suffixes,
    .form = TROD_EXPORT_BINARY,
    .options = export_timeline_options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .defaults = &defaults,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_CALLSTACK_COLUMNS | TROD_COL_UNIT,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
