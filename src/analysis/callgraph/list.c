/*
 * list.c - single calls: of the functions that are asked for, or all, and what is open at the end.
 */
#include "analysis/callgraph/callgraph.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked for */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int want_name(struct cg_core *core, const char *name)
{
    enum { MANY = 64 };
    uint64_t address[MANY], *p;
    size_t n = 0;

    if (trod_option_number(name, &address[0]) == TROD_OK)
        n = 1;
    else if (core->context.symbols)
        n = trod_symbols_named(core->context.symbols, name, address, MANY);
    if (n == 0)
        return trod_error(core->context.diag, TROD_ERR_USAGE, "calls.function", NULL,
                          "no function is called '%s'%s", name,
                          core->context.symbols ? "" : ": name the program with --symbols");
    p = realloc(core->wanted, (core->n_wanted + n) * sizeof *p);
    if (!p)
        return TROD_ERR_NOMEM;
    memcpy(p + core->n_wanted, address, n * sizeof *p);
    core->wanted = p;
    core->n_wanted += n;
    return TROD_OK;
}

int cg_wanted(struct cg_core *core)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < core->opt->function.n; i++)
        rc = want_name(core, core->opt->function.item[i]);
    if (core->n_wanted)
        qsort(core->wanted, core->n_wanted, sizeof *core->wanted, by_number);
    return rc;
}

/* ---- calls */

/* "cpu0", "1234": the stream of F. */
static void name_stream(const struct cg_core *core, const struct trod_frame *f, char who[CG_WHO])
{
    const struct trod_stream *s;

    if (!core->meta || f->stream >= core->meta->n_streams)
        return;
    s = &core->meta->streams[f->stream];
    if (s->name && s->name_len)
        snprintf(who, CG_WHO, "%.*s", (int)(s->name_len < CG_WHO ? s->name_len : CG_WHO - 1),
                 s->name);
    else if (s->tid != TROD_NOWHERE)
        snprintf(who, CG_WHO, "%llu", (unsigned long long)s->tid);
}

bool cg_is_wanted(const struct cg_core *core, const struct trod_frame *f)
{
    const struct cg_options *o = core->opt;

    if (core->n_wanted == 1)
        return f->function == core->wanted[0] || f->entry.pc == core->wanted[0];
    if (core->n_wanted)
        return bsearch(&f->function, core->wanted, core->n_wanted, sizeof f->function, by_number) ||
               bsearch(&f->entry.pc, core->wanted, core->n_wanted, sizeof f->function, by_number);
    return o->list;
}

static struct cg_call call_of(const struct cg_core *core, const struct cg_lane *l,
                              const struct trod_frame *f)
{
    struct cg_call c = {.lane_begin = l->begin,
                        .stream = f->stream,
                        .lane = f->own[3],
                        .isa = core->isa,
                        .function = f->function,
                        .caller = f->depth ? f[-1].function : TROD_NOWHERE,
                        .site = f->site.pc,
                        .row = f->entry.row,
                        .time = f->entry.time,
                        .last_time = TROD_NOWHERE,
                        .begin = f->entry.instruction,
                        .depth = f->depth,
                        .kind = f->kind,
                        .sure = f->sure,
                        .how = TROD_FRAME_OPEN};

    memcpy(c.who, l->who, sizeof c.who);
    return c;
}

/* Another call was seen: is TO full? */
static inline bool full(const struct cg_core *core, struct cg_calls *to)
{
    to->seen++;
    return core->opt->most && to->n >= core->opt->most;
}

/* 0, or TROD_ERR_NOMEM. *NUMBER: its place + 1. */
static int append(struct cg_calls *to, const struct cg_call *c, uint64_t *number)
{
    if (to->n == UINT32_MAX - 1 || !trod_grow(&to->at, to->n, &to->cap, sizeof *to->at, 64))
        return TROD_ERR_NOMEM;
    to->at[to->n++] = *c;
    *number = to->n;
    return TROD_OK;
}

void cg_list_begin(const struct cg_core *core, struct cg_lane *l, const struct trod_frame *f)
{
    if (!l->who[0])
        name_stream(core, f, l->who);
    if (!l->begun) {
        l->begun = true;
        l->begin = f->entry.row;
    }
}

int64_t cg_list_enter(struct cg_core *core, struct cg_lane *l, const struct trod_frame *f)
{
    const struct cg_options *o = core->opt;
    struct cg_call c;
    uint64_t number;
    int rc = TROD_OK;

    cg_list_begin(core, l, f);
    if (!cg_is_wanted(core, f) || (o->depth && f->depth >= o->depth) ||
        (o->time.set && (f->entry.time == TROD_NOWHERE || f->entry.time > o->time.hi)))
        return 0;
    if (full(core, &core->calls))
        return 0;
    c = call_of(core, l, f);
    memcpy(c.weight, l->weighed, sizeof c.weight);
    if (core->n_wanted && (rc = cg_earlier_arguments(core, l, &c)) < 0)
        return rc;
    if (l->registers) {
        memcpy(c.arg, l->registers->value, sizeof c.arg);
        c.args = l->registers->known;
    }
    return append(&core->calls, &c, &number) < 0 ? TROD_ERR_NOMEM : (int64_t)number;
}

int cg_list_leave(struct cg_core *core, const struct cg_lane *l, uint64_t number,
                  const struct trod_frame *f, const struct trod_frame_left *end)
{
    if (number) {
        struct cg_call *c = &core->calls.at[number - 1];

        c->last_time = end->last.time;
        c->instructions = end->next.instruction - c->begin;
        for (unsigned i = 0; i < core->weights.n; i++)
            c->weight[i] = l->weighed[i] - c->weight[i];
        c->how = end->how;
        c->sure_end = end->sure;
    }
    if (core->opt->final && end->how == TROD_FRAME_OPEN && !full(core, &core->open)) {
        const struct cg_call c = call_of(core, l, f);

        return append(&core->open, &c, &number);
    }
    return TROD_OK;
}

/* BASE: row of the trace that those of FROM are counted from. */
static int add_list(const struct cg_core *core, struct cg_calls *to, const struct cg_calls *from,
                    uint64_t base)
{
    const size_t room = core->opt->most ? (size_t)core->opt->most : SIZE_MAX;
    const size_t n = to->n >= room ? 0 : from->n < room - to->n ? from->n : room - to->n;
    struct cg_call *p = n ? realloc(to->at, (to->n + n) * sizeof *p) : to->at;

    to->seen += from->seen;
    if (n == 0)
        return TROD_OK;
    if (!p)
        return TROD_ERR_NOMEM;
    memcpy(p + to->n, from->at, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[to->n + i].row += base;
    to->at = p;
    to->n += n;
    to->before = to->cap = to->n;
    return TROD_OK;
}

int cg_list_add(struct cg_core *to, const struct cg_core *from)
{
    const uint64_t base = from->context.base ? *from->context.base : 0;
    const int rc = add_list(to, &to->calls, &from->calls, base);

    return rc < 0 ? rc : add_list(to, &to->open, &from->open, base);
}

/* ---- saved */

static int save_calls(const struct cg_calls *list, struct trod_buf *out)
{
    int rc = trod_pack(out, list->seen) | trod_pack(out, list->n);

    for (size_t i = 0; rc == TROD_OK && i < list->n; i++) {
        const struct cg_call *c = &list->at[i];
        const uint64_t number[] = {c->function,  c->caller,       c->site,  c->row,  c->time,
                                   c->last_time, c->instructions, c->depth, c->kind, c->how,
                                   c->sure,      c->sure_end,     c->args};

        for (size_t k = 0; rc == TROD_OK && k < sizeof number / sizeof *number; k++)
            rc = trod_pack(out, number[k]);
        for (unsigned k = 0; rc == TROD_OK && k < CG_ARGS; k++)
            rc = trod_pack(out, c->args >> k & 1 ? c->arg[k] : 0);
        for (unsigned k = 0; rc == TROD_OK && k < CG_MOST_WEIGHTS; k++)
            rc = trod_pack(out, c->weight[k]);
        if (rc == TROD_OK)
            rc = trod_pack(out, strlen(c->who)) | trod_buf_add(out, c->who, strlen(c->who));
    }
    return rc == TROD_OK ? rc : TROD_ERR_NOMEM;
}

int cg_list_save(const struct cg_core *core, struct trod_buf *out)
{
    const int rc = save_calls(&core->calls, out);

    return rc < 0 ? rc : save_calls(&core->open, out);
}

/* The numbers of a call, and the name of its stream. */
static int load_call(struct cg_call *c, struct trod_span *in)
{
    uint64_t v[13], *const to[] = {&c->function, &c->caller,    &c->site,        &c->row,
                                   &c->time,     &c->last_time, &c->instructions};
    uint64_t len;

    for (size_t k = 0; k < sizeof v / sizeof *v; k++)
        if (trod_unpack(in, &v[k]) < 0)
            return TROD_ERR_CORRUPT;
    for (size_t k = 0; k < sizeof to / sizeof(uint64_t *); k++)
        *to[k] = v[k];
    if (v[7] >= TROD_CALLSTACK_DEPTH || v[8] >= TROD_FRAME_KINDS || v[9] >= TROD_FRAME_ENDS ||
        v[10] >= TROD_SURES || v[11] >= TROD_SURES || v[12] >> CG_ARGS)
        return TROD_ERR_CORRUPT;
    c->depth = (uint32_t)v[7];
    c->kind = (uint8_t)v[8];
    c->how = (uint8_t)v[9];
    c->sure = (uint8_t)v[10];
    c->sure_end = (uint8_t)v[11];
    c->args = (uint8_t)v[12];
    for (unsigned k = 0; k < CG_ARGS; k++)
        if (trod_unpack(in, &c->arg[k]) < 0)
            return TROD_ERR_CORRUPT;
    for (unsigned k = 0; k < CG_MOST_WEIGHTS; k++)
        if (trod_unpack(in, &c->weight[k]) < 0)
            return TROD_ERR_CORRUPT;
    if (trod_unpack(in, &len) < 0 || len >= CG_WHO || len > in->n || memchr(in->p, 0, (size_t)len))
        return TROD_ERR_CORRUPT;
    memcpy(c->who, in->p, (size_t)len);
    in->p += len;
    in->n -= (size_t)len;
    return TROD_OK;
}

static int load_calls(struct cg_core *core, struct cg_calls *to, struct trod_span *in)
{
    struct cg_calls from = {.n = 0};
    uint64_t n = 0;
    int rc =
        trod_unpack(in, &from.seen) < 0 || trod_unpack(in, &n) < 0 || n > in->n || n > from.seen
            ? TROD_ERR_CORRUPT
            : TROD_OK;

    if (rc == TROD_OK && n && !(from.at = calloc((size_t)n, sizeof *from.at)))
        rc = TROD_ERR_NOMEM;
    for (; rc == TROD_OK && from.n < n; from.n++)
        rc = load_call(&from.at[from.n], in);
    if (rc == TROD_OK)
        rc = add_list(core, to, &from, 0);
    free(from.at);
    return rc;
}

int cg_list_load(struct cg_core *core, struct trod_span *in)
{
    const int rc = load_calls(core, &core->calls, in);

    return rc < 0 ? rc : load_calls(core, &core->open, in);
}

/* ---- results */

static void put_function(const struct cg_core *core, uint64_t function, unsigned indent,
                         struct trod_result *r)
{
    char buf[TROD_FUNCTION_NAME];

    if (function == TROD_NOWHERE)
        trod_result_str(r, NULL, "");
    else
        trod_result_below(r, NULL, trod_function_name(core->context.symbols, function, buf),
                          indent < 100 ? indent : 100);
}

static void put_time(struct trod_result *r, uint64_t time)
{
    if (time == TROD_NOWHERE)
        trod_result_absent(r);
    else
        trod_result_u64(r, NULL, time);
}

static void put_args(const struct cg_call *c, struct trod_result *r)
{
    char text[CG_ARGS * 24];
    size_t n = 0;

    text[0] = '\0';
    for (unsigned k = 0; k < CG_ARGS && c->args >> k & 1; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s0x%llx", k ? ", " : "",
                              (unsigned long long)c->arg[k]);
    trod_result_str(r, NULL, text);
}

static bool in_time(const struct cg_core *core, const struct cg_call *c)
{
    const struct trod_range *time = &core->opt->time;

    /* ticks may have become finer since it was listed */
    return !time->set ||
           (c->time <= time->hi && (c->last_time == TROD_NOWHERE || c->last_time >= time->lo));
}

void cg_put_list(const struct cg_core *core, struct trod_result *r)
{
    enum { LIST = 13 };
    struct trod_result_column columns[LIST + CG_MOST_WEIGHTS] = {
        {"function", TROD_COLUMN_KEY, NULL,
         "in text a step to the right: called by the one before"},
        {"arguments", TROD_COLUMN_PLAIN, NULL, "in registers, as far as they are known"},
        {"row", TROD_COLUMN_KEY, NULL, "of its first instruction"},
        {"time", TROD_COLUMN_PLAIN, NULL, "of its first instruction"},
        {"until", TROD_COLUMN_PLAIN, NULL, "time of its last instruction"},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", "with all that it called"},
        {"caller", TROD_COLUMN_PLAIN, NULL, NULL},
        {"site", TROD_COLUMN_PLAIN, NULL, "the instruction that called"},
        {"depth", TROD_COLUMN_PLAIN, NULL, "activations below"},
        {"kind", TROD_COLUMN_PLAIN, NULL, "root, call, tail, exception, manual"},
        {"end", TROD_COLUMN_PLAIN, NULL, "returned, unwound, tailed, open"},
        {"from", TROD_COLUMN_PLAIN, NULL, "what the call was concluded from"},
        {"stream", TROD_COLUMN_KEY, NULL, "thread or cpu"},
    };
    const bool tree = core->n_wanted == 0;
    char names[CG_MOST_WEIGHTS][2][CG_WEIGHT_KEY + 16];
    size_t n = LIST;

    trod_result_u64(r, "calls_found", core->calls.seen);
    trod_result_u64(r, "calls_listed", core->calls.n);
    for (unsigned w = 0; w < CG_MOST_WEIGHTS; w++)
        n += cg_weight_columns(core, CG_SELF_WEIGHTS + w, false, columns + n, names[w]);
    trod_result_table(r, "list", "calls in the order of the trace", columns, n);
    for (size_t i = 0; i < core->calls.n; i++) {
        const struct cg_call *c = &core->calls.at[i];

        if (!in_time(core, c))
            continue;
        put_function(core, c->function, tree ? 2 * c->depth : 0, r);
        put_args(c, r);
        trod_result_u64(r, NULL, c->row);
        put_time(r, c->time);
        put_time(r, c->last_time);
        trod_result_u64(r, NULL, c->instructions);
        put_function(core, c->caller, 0, r);
        if (c->site == TROD_NOWHERE)
            trod_result_absent(r);
        else
            trod_result_hex(r, NULL, c->site);
        trod_result_u64(r, NULL, c->depth);
        trod_result_str(r, NULL, trod_frame_kind_name(c->kind));
        trod_result_str(r, NULL, trod_frame_end_name(c->how));
        trod_result_str(r, NULL, trod_frame_sure_name(c->sure));
        trod_result_str(r, NULL, c->who);
        for (unsigned w = 0; w < core->weights.n; w++)
            trod_result_u64(r, NULL, c->weight[w]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

void cg_put_open(const struct cg_core *core, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"stream", TROD_COLUMN_KEY, NULL, "thread or cpu"},
        {"depth", TROD_COLUMN_KEY, NULL, "activations below"},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"kind", TROD_COLUMN_PLAIN, NULL, NULL},
        {"row", TROD_COLUMN_PLAIN, NULL, "of its first instruction"},
        {"time", TROD_COLUMN_PLAIN, NULL, "of its first instruction"},
        {"site", TROD_COLUMN_PLAIN, NULL, "the instruction that called"},
    };

    trod_result_table(r, "final_stack", "open at the end, innermost first", columns,
                      sizeof columns / sizeof *columns);
    for (size_t i = 0; i < core->open.n; i++) {
        const struct cg_call *c = &core->open.at[i];

        trod_result_str(r, NULL, c->who);
        trod_result_u64(r, NULL, c->depth);
        put_function(core, c->function, 0, r);
        trod_result_str(r, NULL, trod_frame_kind_name(c->kind));
        trod_result_u64(r, NULL, c->row);
        put_time(r, c->time);
        if (c->site == TROD_NOWHERE)
            trod_result_absent(r);
        else
            trod_result_hex(r, NULL, c->site);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}
