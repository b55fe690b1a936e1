/*
 * chrome.c - the view "chrome": calls over time as JSON of Chrome's trace events.
 *
 * Implements docs/exporting.md, "Calls over time"; document: Trace Event Format. Calls are
 * pairs of B and E (E repeats the name), accesses counters, a signal and its waits a flow. Times
 * are microseconds; what counts no time counts one of them each.
 */
#include "export/clock.h"
#include "export/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS = 1, FIRST_THREAD = 2 };

struct options {
    struct export_timeline_options timeline;
};

struct state {
    struct export_timeline t;
    struct export_text text;
    bool any; /* an event was written */
};

static const struct options defaults = {.timeline = {.limit = 1000000}};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;

    s->text.out = c->out;
    return export_timeline_init(&s->t, &((const struct options *)opt)->timeline, c);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_timeline_feed(&((struct state *)st)->t, b, from, to);
}

/* The beginning of event PH of lane LANE. */
static void begin(struct state *s, const char *ph, uint32_t lane)
{
    export_print(&s->text, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%llu", s->any ? ",\n" : "\n", ph,
                 PROCESS, (unsigned long long)lane + FIRST_THREAD);
    s->any = true;
}

static void put_string(struct state *s, const char *key, const char *text)
{
    export_print(&s->text, ",\"%s\":", key);
    export_json(&s->text, text, strlen(text));
}

/* Microseconds, with what is below one behind the point. */
static void put_at(struct state *s, uint64_t at)
{
    const int power = export_power(&s->t) + (export_in_seconds(&s->t) ? 6 : 0);
    char text[EXPORT_DECIMAL];

    export_put(&s->text, ",\"ts\":");
    export_put(&s->text, export_decimal(text, at, power));
}

static int put_span(void *user, const struct export_span *p, bool open)
{
    struct state *s = user;

    begin(s, open ? "B" : "E", p->lane);
    put_at(s, export_at(&s->t, open ? &p->begin : &p->end));
    put_string(s, "name", export_function_name(&s->t.lanes.names, p->function));
    export_put(&s->text, ",\"cat\":\"call\"}");
    return s->text.status;
}

/* An event of metadata that names what it is of. */
static void put_label(struct state *s, const char *what, uint32_t lane, const struct trod_buf *name)
{
    begin(s, "M", lane);
    export_print(&s->text, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    export_json(&s->text, (const char *)name->p, name->n);
    export_put(&s->text, "}}");
}

static int put_labels(struct state *s, const struct trod_meta *meta)
{
    struct trod_buf name = {0};
    int r = export_timeline_title(&name, &s->t, meta);

    if (r == 0)
        put_label(s, "process_name", 0, &name);
    for (uint32_t i = 0; r == 0 && i < s->t.lanes.n; i++) {
        name.n = 0;
        r = export_lane_name(&name, s->t.lanes.lane[i], meta);
        if (r == 0)
            put_label(s, "thread_name", i, &name);
        begin(s, "M", i);
        export_print(&s->text, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
                     (unsigned)i);
    }
    trod_buf_fini(&name);
    return r;
}

static void put_counters(struct state *s, const struct trod_meta *meta)
{
    const struct export_buckets *k = export_counters(&s->t);
    char name[120];

    export_counters_name(&s->t, meta, name, sizeof name);
    for (size_t i = 0; i <= k->n && k->n; i++) {
        begin(s, "C", 0);
        put_at(s, export_bucket_at(&s->t, i));
        put_string(s, "name", name);
        export_print(&s->text, ",\"args\":{\"reads\":%llu,\"writes\":%llu}}",
                     (unsigned long long)(i < k->n ? k->reads[i] : 0),
                     (unsigned long long)(i < k->n ? k->writes[i] : 0));
    }
}

/* An instant, and a flow from the signal to the waits for it. */
static void put_signals(struct state *s)
{
    for (size_t i = 0; i < s->t.n_signals; i++) {
        const struct export_signal *p = &s->t.signal[i];
        const uint64_t at = export_at(&s->t, &p->at);

        begin(s, "i", p->lane);
        put_at(s, at);
        export_print(&s->text,
                     ",\"s\":\"t\",\"cat\":\"sync\",\"name\":\"%s 0x%llx\","
                     "\"args\":{\"count\":\"%llu\"}}",
                     p->wait ? "wait" : "signal", (unsigned long long)p->address,
                     (unsigned long long)s->t.flows.at[p->flow - 1].b);
        begin(s, p->wait ? "f" : "s", p->lane);
        put_at(s, at);
        export_print(&s->text, "%s,\"id\":%llu,\"cat\":\"sync\",\"name\":\"sync 0x%llx\"}",
                     p->wait ? ",\"bp\":\"e\"" : "", (unsigned long long)p->flow,
                     (unsigned long long)p->address);
    }
}

static void put_head(struct state *s, const struct trod_meta *meta)
{
    export_put(&s->text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"trod\"");
    put_string(s, "source", s->t.c.source);
    put_string(s, "format", meta->format ? meta->format : "");
    put_string(s, "clock", export_clock_name(&s->t, meta));
    export_print(&s->text, ",\"time_of_0\":\"%llu\",\"calls_left_out\":%llu},\"traceEvents\":[",
                 (unsigned long long)s->t.base, (unsigned long long)export_hidden(&s->t));
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    int r = export_timeline_end(&s->t, EXPORT_DOUBLES, result);

    put_head(s, meta);
    if (r == 0)
        r = put_labels(s, meta);
    for (size_t i = 0; r == 0 && i < s->t.n;)
        r = export_timeline_walk(&s->t, &i, put_span, s);
    put_counters(s, meta);
    put_signals(s);
    export_put(&s->text, "\n]}\n");
    return r == 0 ? s->text.status : r;
}

static void fini(void *st)
{
    export_timeline_fini(&((struct state *)st)->t);
}

static const char *const suffixes[] = {".trace.json", ".chrome.json", NULL};

const struct trod_export trod_view_chrome = {
    .name = "chrome",
    .title = "Chrome trace events: calls over time, counters of accesses, synchronization",
    .opens = "Perfetto (ui.perfetto.dev), chrome://tracing, speedscope, Firefox Profiler, Trace "
             "Compass",
    .leaves_out = "single instructions and accesses, registers, opcodes, physical addresses, the "
                  "shortest calls where there are too many",
    .suffixes = suffixes,
    .form = TROD_EXPORT_TEXT,
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
