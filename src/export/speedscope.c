/*
 * speedscope.c - the view "speedscope": calls over time, a profile for each thread.
 *
 * Implements docs/exporting.md, "speedscope"; document: speedscope's file-format-schema.json,
 * "EventedProfile".
 */
#include "export/clock.h"
#include "export/timeline.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct export_timeline_options timeline;
};

struct state {
    struct export_timeline t;
    struct export_text text;
    bool any; /* an event of the profile was written */
    uint64_t last;
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

/* Nanoseconds, with what is below one behind the point. */
static void put_at(struct state *s, uint64_t at)
{
    const int power = export_power(&s->t) + (export_in_seconds(&s->t) ? 9 : 0);
    char text[EXPORT_DECIMAL];

    export_put(&s->text, export_decimal(text, at, power));
}

static int put_event(void *user, const struct export_span *p, bool open)
{
    struct state *s = user;

    s->last = export_at(&s->t, open ? &p->begin : &p->end);
    export_print(&s->text, "%s{\"type\":\"%s\",\"frame\":%u,\"at\":", s->any ? ",\n" : "\n",
                 open ? "O" : "C", (unsigned)p->function);
    put_at(s, s->last);
    export_put(&s->text, "}");
    s->any = true;
    return s->text.status;
}

static void put_frames(struct state *s)
{
    const struct export_names *names = &s->t.lanes.names;

    export_put(&s->text, "\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < export_functions(names); i++) {
        const char *name = export_function_name(names, i), *file;
        uint32_t line;

        export_put(&s->text, i ? ",\n{\"name\":" : "\n{\"name\":");
        export_json(&s->text, name, strlen(name));
        if (names->symbols &&
            trod_symbols_line(names->symbols, export_function_address(names, i), &file, &line)) {
            export_put(&s->text, ",\"file\":");
            export_json(&s->text, file, strlen(file));
            export_print(&s->text, ",\"line\":%u", (unsigned)line);
        }
        export_put(&s->text, "}");
    }
    export_put(&s->text, "\n]}");
}

/* The profile of the spans from *AT on. */
static int put_profile(struct state *s, size_t *at, const struct trod_meta *meta)
{
    const struct export_span *first = &s->t.span[*at];
    struct trod_buf name = {0};
    int r = export_lane_name(&name, s->t.lanes.lane[first->lane], meta);

    export_put(&s->text, "{\"type\":\"evented\",\"name\":");
    export_json(&s->text, (const char *)name.p, name.n);
    export_print(&s->text, ",\"unit\":\"%s\",\"startValue\":",
                 export_in_seconds(&s->t) ? "nanoseconds" : "none");
    put_at(s, export_at(&s->t, &first->begin));
    export_put(&s->text, ",\"events\":[");
    s->any = false;
    if (r == 0)
        r = export_timeline_walk(&s->t, at, put_event, s);
    export_put(&s->text, "\n],\"endValue\":");
    put_at(s, s->last);
    export_put(&s->text, "}");
    trod_buf_fini(&name);
    return r;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct trod_buf title = {0};
    int r = export_timeline_end(&s->t, EXPORT_DOUBLES, result);

    if (r == 0)
        r = export_timeline_title(&title, &s->t, meta);
    export_put(&s->text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                         "\"exporter\":\"trod\",\"name\":");
    export_json(&s->text, (const char *)title.p, title.n);
    export_put(&s->text, ",\n");
    put_frames(s);
    export_put(&s->text, ",\n\"profiles\":[");
    for (size_t i = 0; r == 0 && i < s->t.n;) {
        export_put(&s->text, i ? ",\n" : "\n");
        r = put_profile(s, &i, meta);
    }
    export_put(&s->text, "\n]}\n");
    trod_buf_fini(&title);
    return r == 0 ? s->text.status : r;
}

static void fini(void *st)
{
    export_timeline_fini(&((struct state *)st)->t);
}

static const char *const suffixes[] = {".speedscope.json", ".speedscope", NULL};

const struct trod_export trod_view_speedscope = {
    .name = "speedscope",
    .title = "speedscope: calls over time, a profile for each thread",
    .opens = "speedscope (www.speedscope.app, npm)",
    .leaves_out = "single instructions, accesses, synchronization, all data, the shortest calls "
                  "where there are too many",
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
