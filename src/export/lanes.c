/*
 * lanes.c - calls as views want them. Implements lanes.h.
 */
#include "export/lanes.h"

#include "core/grow.h"

#include <stdio.h>

/* The lane of stack CONTEXT of STREAM. */
static struct export_lane *lane_of(struct export_lanes *s, uint32_t stream, uint32_t context)
{
    struct export_pair *p;
    struct export_lane *l = s->last;

    if (l && l->stream == stream && l->context == context)
        return l;
    p = export_map_at(&s->by_context, stream, context);
    if (!p)
        return NULL;
    if (!p->value) {
        if (!trod_grow(&s->lane, s->n, &s->cap, sizeof *s->lane, 16) || !(l = calloc(1, sizeof *l)))
            return NULL;
        *l = (struct export_lane){.number = (uint32_t)s->n, .stream = stream, .context = context};
        s->lane[s->n++] = l;
        p->value = s->n;
    }
    return s->last = s->lane[p->value - 1];
}

/*
 * Where activation O of the frame F began: a root that called the activation which ended before it
 * begins at the beginning of that.
 */
static void begin(const struct export_lane *l, struct export_open *o, const struct trod_frame *f)
{
    o->time = f->entry.time;
    o->instruction = f->entry.instruction;
    memcpy(o->before, l->cost, sizeof o->before);
    if (f->under && l->has_root) {
        o->time = l->root.time;
        o->instruction = l->root.instruction;
        memcpy(o->before, l->root.before, sizeof o->before);
    }
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct export_lanes *s = ctx;
    struct export_lane *l = lane_of(s, f->stream, f->context);
    struct export_pair *active;
    struct export_open *o;

    if (!l || !trod_grow(&l->open, f->depth, &l->cap, sizeof *l->open, 64))
        return TROD_ERR_NOMEM;
    l->n = f->depth + 1;
    o = &l->open[f->depth];
    *o = (struct export_open){
        .function = export_function(&s->names, f->function, f->kind == TROD_FRAME_EXCEPTION)};
    if (o->function == UINT32_MAX)
        return TROD_ERR_NOMEM;
    begin(l, o, f);
    active = export_map_at(&s->active, o->function, l->number);
    if (!active)
        return TROD_ERR_NOMEM;
    o->outer = active->value++ == 0;
    return s->sink.enter ? s->sink.enter(s->sink.st, l, o, f) : 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct export_lanes *s = ctx;
    struct export_lane *l = lane_of(s, f->stream, f->context);
    struct export_pair *active;
    struct export_open *o;
    int r;

    if (!l)
        return TROD_ERR_NOMEM;
    o = &l->open[f->depth];
    active = export_map_at(&s->active, o->function, l->number);
    if (!active)
        return TROD_ERR_NOMEM;
    active->value--;
    r = s->sink.leave ? s->sink.leave(s->sink.st, l, o, f, end) : 0;
    l->n = f->depth;
    if (f->depth == 0) {
        l->root = *o;
        l->has_root = true;
    }
    return r;
}

static void count(struct export_lane *l, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const unsigned costs = export_costs(b, i);

        for (unsigned k = 0; k < EXPORT_ROW_COSTS; k++)
            l->cost[k] += costs >> k & 1;
    }
}

static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct export_lanes *s = ctx;
    struct export_lane *l = f ? lane_of(s, f->stream, f->context) : NULL;

    if (f && !l)
        return TROD_ERR_NOMEM;
    if (l)
        count(l, b, from, to);
    else
        s->outside += to - from;
    return s->sink.rows ? s->sink.rows(s->sink.st, b, from, to, l, l ? &l->open[f->depth] : NULL)
                        : 0;
}

static void scale(void *ctx, unsigned power)
{
    struct export_lanes *s = ctx;

    for (size_t i = 0; i < s->n; i++) {
        struct export_lane *l = s->lane[i];

        for (uint32_t k = 0; k < l->n; k++)
            l->open[k].time = trod_ticks_scale(l->open[k].time, power);
        l->root.time = trod_ticks_scale(l->root.time, power);
    }
    s->sink.scale(s->sink.st, power);
}

int export_lanes_init(struct export_lanes *s, const struct export_lanes_sink *sink,
                      const struct trod_export_context *c)
{
    const struct trod_callstack_sink calls = {
        .ctx = s, .enter = enter, .leave = leave, .rows = rows};
    int r;

    s->sink = *sink;
    s->names.symbols = c->symbols;
    r = trod_callstack_new(&s->stack, &calls, c->symbols, c->merged);
    if (r == 0 && sink->scale)
        trod_callstack_scales(s->stack, scale);
    return r;
}

int export_lanes_feed(struct export_lanes *s, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    return trod_callstack_feed(s->stack, b, from, to);
}

int export_lanes_end(struct export_lanes *s)
{
    return trod_callstack_end(s->stack);
}

void export_lanes_fini(struct export_lanes *s)
{
    trod_callstack_free(s->stack);
    export_names_fini(&s->names);
    export_map_fini(&s->by_context);
    export_map_fini(&s->active);
    for (size_t i = 0; i < s->n; i++) {
        free(s->lane[i]->open);
        free(s->lane[i]);
    }
    free(s->lane);
}

int export_lane_name(struct trod_buf *out, const struct export_lane *l,
                     const struct trod_meta *meta)
{
    int r;

    if (l->stream < meta->n_streams && meta->streams[l->stream].name_len)
        r = trod_buf_add(out, meta->streams[l->stream].name, meta->streams[l->stream].name_len);
    else if (meta->n_streams == 0)
        r = trod_buf_printf(out, "trace"); /* whose rows name no stream */
    else
        r = trod_buf_printf(out, "%u", (unsigned)l->stream);
    if (r == 0 && l->context)
        r = trod_buf_printf(out, " stack %u", (unsigned)l->context);
    return r;
}
