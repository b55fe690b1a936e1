/*
 * functions.c - the analysis "functions": calls of the functions that the trace records, with
 * arguments and results, and what allocation functions do with memory.
 *
 * Implements docs/analysing.md, "functions", from the function markers of traces that have them
 * (drmemtrace). A function whose return is not recorded ends where its
 * return address is executed. Functions that are not recorded are not seen: for all functions of a
 * program see "hot".
 */
#include "analysis/functions/functions.h"

#include "analysis/plain_rows.h"
#include "core/grow.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct fun_options, field)

enum { NOT_THERE = TROD_F_SYNTHETIC | TROD_F_NOFETCH };

static const char *const like_names[] = {"none", "func_view", NULL};

static const struct trod_option options[] = {
    {"top", 0, TROD_OPT_U64, AT(top), "N", "show the N first lines of long tables (default: 20)",
     NULL, NULL},
    {"list", 0, TROD_OPT_U64, AT(list), "N",
     "show the first N calls one by one, with arguments and results", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL", "print as DynamoRIO's func_view does", like_names,
     NULL},
    {.type = TROD_OPT_END},
};

static const struct fun_options defaults = {.top = 20};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct fun_state *s = st;

    s->opt = opt ? opt : &defaults;
    s->meta = context->meta;
    s->diag = context->diag;
    if (s->opt->list <= FUN_LIST)
        return TROD_OK;
    return trod_error(context->diag, TROD_ERR_USAGE, "functions.list", NULL,
                      "--list shows at most %d calls", FUN_LIST);
}

static void drop_heap(struct fun_heap *h)
{
    free(h->block);
    free(h->page);
    free(h->access);
    *h = (struct fun_heap){0};
}

static void fini(void *st)
{
    struct fun_state *s = st;

    for (size_t i = 0; i < s->n_functions; i++) {
        free(s->function[i].name);
        free(s->function[i].names);
    }
    for (size_t i = 0; i < s->n_threads; i++)
        free(s->thread[i].frame);
    drop_heap(&s->heap);
    drop_heap(&s->maps);
    fun_allocators_fini(s);
    free(s->function);
    free(s->thread);
    free(s->one);
    free(s->interval);
    trod_buf_fini(&s->lines);
    s->function = NULL;
    s->thread = NULL;
    s->one = NULL;
    s->interval = NULL;
    s->n_functions = s->n_threads = 0;
}

/* --- threads and functions --- */

static struct fun_thread *thread_of(struct fun_state *s, const struct trod_meta *m, uint32_t stream)
{
    if (stream >= s->n_threads) {
        const size_t n = stream < 8 ? 16 : 2 * (size_t)stream;
        struct fun_thread *t = realloc(s->thread, n * sizeof *t);

        if (!t)
            return NULL;
        memset(t + s->n_threads, 0, (n - s->n_threads) * sizeof *t);
        s->thread = t;
        s->n_threads = n;
    }
    if (!s->thread[stream].known) {
        const bool named = stream < m->n_streams && m->streams[stream].tid != TROD_NOWHERE;

        s->thread[stream] = (struct fun_thread){
            .known = true, .tid = named ? m->streams[stream].tid : stream, .function = UINT32_MAX};
    }
    return &s->thread[stream];
}

/* The function F, whose name may be NULL: not known. */
static bool add_function(struct fun_state *s, const struct trod_function *f)
{
    const char *name = f->name;
    char *own = name ? strdup(name) : NULL, *names = name ? strdup(name) : NULL;

    if ((name && (!own || !names)) ||
        !trod_grow(&s->function, s->n_functions, &s->cap_functions, sizeof *s->function, 16)) {
        free(own);
        free(names);
        return false;
    }
    s->function[s->n_functions++] =
        (struct fun_function){.id = f->id,
                              .address = f->address,
                              .name = own,
                              .names = names,
                              .arguments = f->arguments,
                              .noret = f->noret,
                              .kind = (uint8_t)(own ? trod_alloc_of(own) : TROD_ALLOC_OTHER),
                              .least = UINT64_MAX};
    return true;
}

/* F is also called NAME. */
static bool add_name(struct fun_function *f, const char *name)
{
    const size_t more = name ? strlen(name) : 0, all = f->names ? strlen(f->names) : 0;
    char *names = malloc(all + more + 3), *at = f->names;

    if (!names)
        return false;
    if (!more || !at) {
        free(names);
        return true;
    }
    for (char *next; at && *at; at = next ? next + 2 : NULL) { /* the first one behind it */
        const size_t n = (next = strstr(at, ", ")) ? (size_t)(next - at) : strlen(at);
        const int order = memcmp(at, name, n < more ? n : more);

        if (order > 0 || (order == 0 && n > more))
            break;
    }
    if (at)
        snprintf(names, all + more + 3, "%.*s%s, %s", (int)(at - f->names), f->names, name, at);
    else
        snprintf(names, all + more + 3, "%s, %s", f->names, name);
    free(f->names);
    f->names = names;
    return true;
}

static int take_list(struct fun_state *s, const struct trod_meta *m)
{
    bool room = true;

    s->listed = true;
    for (uint32_t i = 0; room && i < m->n_functions; i++) {
        const struct trod_function *f = &m->functions[i];
        size_t k = 0;

        while (k < s->n_functions && s->function[k].id != f->id)
            k++;
        room = k < s->n_functions ? add_name(&s->function[k], f->name) : add_function(s, f);
    }
    return room ? fun_allocators_init(s, m) : TROD_ERR_NOMEM;
}

/* The function of number ID: new ones have no name. UINT32_MAX: no memory. */
static uint32_t function_of(struct fun_state *s, const struct trod_meta *m, uint64_t id)
{
    const struct trod_function unlisted = {.id = id, .arguments = (uint32_t)FUN_UNLISTED};

    if (!s->listed && take_list(s, m) < 0)
        return UINT32_MAX;
    for (size_t i = 0; i < s->n_functions; i++)
        if (s->function[i].id == id)
            return (uint32_t)i;
    if (s->n_functions >= FUN_MOST + (size_t)m->n_functions)
        return (uint32_t)s->n_functions - 1;
    return add_function(s, &unlisted) ? (uint32_t)s->n_functions - 1 : UINT32_MAX;
}

/* --- calls --- */

/* The topmost call of T is over, WITH a result or without. */
static void end_frame(struct fun_state *s, struct fun_thread *t, bool measured)
{
    const struct fun_frame *c = &t->frame[--t->n_frames];
    struct fun_function *f = &s->function[c->function];
    const uint64_t inside = t->instructions - c->instructions;

    t->allocators -= f->kind != TROD_ALLOC_OTHER;
    if (!measured) {
        s->unreturned++;
        return;
    }
    f->measured++;
    f->inside += inside;
    f->least = inside < f->least ? inside : f->least;
    f->most = inside > f->most ? inside : f->most;
    if (c->time && t->time >= c->time) {
        f->timed++;
        f->time += t->time - c->time;
    }
}

/* T calls the function of the group of markers; arguments follow. */
static int call(struct fun_state *s, struct fun_thread *t, uint64_t returns)
{
    struct fun_function *f = &s->function[t->function];
    struct fun_frame *c;

    f->calls++;
    t->calls++;
    t->arguments = true;
    if (s->opt->like == FUN_LIKE_FUNC_VIEW && fun_list_call(s, t, returns) < 0)
        return TROD_ERR_NOMEM;
    if (t->n_frames == FUN_DEPTH) {
        t->lost++;
        t->arguments = false;
        return TROD_OK;
    }
    if (!trod_grow(&t->frame, t->n_frames, &t->cap_frames, sizeof *t->frame, 16))
        return TROD_ERR_NOMEM;
    c = &t->frame[t->n_frames++];
    *c = (struct fun_frame){.function = t->function,
                            .until = f->noret,
                            .returns = returns,
                            .instructions = t->instructions,
                            .began = s->instructions,
                            .time = t->time,
                            .one = SIZE_MAX};
    t->until = t->until || c->until;
    t->allocators += f->kind != TROD_ALLOC_OTHER;
    s->most_nest = t->n_frames > s->most_nest ? t->n_frames : s->most_nest;
    if (s->n_ones >= s->opt->list)
        return TROD_OK;
    if (!trod_grow(&s->one, s->n_ones, &s->cap_ones, sizeof *s->one, 64))
        return TROD_ERR_NOMEM;
    c->one = s->n_ones;
    s->one[s->n_ones++] = (struct fun_one){.tid = t->tid,
                                           .function = t->function,
                                           .returns = returns,
                                           .nest = (uint32_t)t->n_frames - 1};
    return TROD_OK;
}

static int argument(struct fun_state *s, struct fun_thread *t, uint64_t value)
{
    struct fun_frame *c = t->n_frames ? &t->frame[t->n_frames - 1] : NULL;

    if (t->function == UINT32_MAX)
        return TROD_OK;
    if (s->opt->like == FUN_LIKE_FUNC_VIEW && fun_list_arg(s, t, value) < 0)
        return TROD_ERR_NOMEM;
    if (!t->arguments || !c || c->n_args == FUN_ARGS)
        return TROD_OK;
    if (c->one < s->n_ones) {
        struct fun_one *one = &s->one[c->one];

        one->arg[one->n_args++] = value;
    }
    c->arg[c->n_args++] = value;
    /* what is given back is gone as soon as the call says it */
    return c->n_args == 1 ? fun_heap_call(s, t, c) : TROD_OK;
}

/* The group's function returns to T with VALUE: calls inside that have not returned never will. */
static int give_result(struct fun_state *s, struct fun_thread *t, uint64_t value)
{
    struct fun_function *f = &s->function[t->function];
    size_t at = t->n_frames;
    struct fun_frame *c;
    int rc;

    f->returns++;
    if (s->opt->like == FUN_LIKE_FUNC_VIEW && fun_list_return(s, t, value) < 0)
        return TROD_ERR_NOMEM;
    while (at && t->frame[at - 1].function != t->function)
        at--;
    if (at == 0) {
        s->strays += !t->lost;
        t->lost -= t->lost != 0;
        return TROD_OK;
    }
    while (t->n_frames > at)
        end_frame(s, t, false);
    c = &t->frame[at - 1];
    f->failed += fun_fails(f, c, value);
    if (c->one < s->n_ones) {
        s->one[c->one].returned = true;
        s->one[c->one].result = value;
    }
    rc = fun_heap_return(s, t, c, value);
    end_frame(s, t, true);
    return rc;
}

/* Is one of the frames [FROM, TO) of T a call of FUNCTION? */
static bool has_call(const struct fun_thread *t, size_t from, size_t to, uint32_t function)
{
    while (from < to && t->frame[from].function != function)
        from++;
    return from < to;
}

/*
 * T executes the instruction at PC: calls that return there have ended. A function that is reached
 * by a jump returns for the one that jumped to it, so the frames of both return to PC. Those of one
 * function are calls inside each other, of which only the innermost has ended.
 */
static void arrive(struct fun_state *s, struct fun_thread *t, uint64_t pc)
{
    size_t at = t->n_frames;

    while (at && t->frame[at - 1].until && t->frame[at - 1].returns != pc)
        at--;
    if (at && t->frame[at - 1].until) {
        size_t least = at - 1;

        while (least && t->frame[least - 1].until && t->frame[least - 1].returns == pc &&
               !has_call(t, least, at, t->frame[least - 1].function))
            least--;
        while (t->n_frames > least)
            end_frame(s, t, t->n_frames <= at);
    }
    t->until = t->n_frames && t->frame[t->n_frames - 1].until;
}

/* --- rows --- */

static int marker(struct fun_state *s, struct fun_thread *t, const struct trod_batch *b,
                  uint32_t row)
{
    const uint64_t base = TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);
    const uint64_t value = b->value[row];

    switch (b->sub[row]) {
    case TROD_DRM_TIMESTAMP:
        t->time = value;
        return TROD_OK;
    case TROD_DRM_FUNC_ID:
        t->arguments = false;
        t->function = value >= base ? UINT32_MAX : function_of(s, b->meta, value);
        fun_list_group(s, t);
        return value >= base || t->function != UINT32_MAX ? TROD_OK : TROD_ERR_NOMEM;
    case TROD_DRM_FUNC_RETADDR:
        return t->function != UINT32_MAX ? call(s, t, value) : TROD_OK;
    case TROD_DRM_FUNC_ARG:
        return argument(s, t, value);
    case TROD_DRM_FUNC_RETVAL:
        return t->function != UINT32_MAX ? give_result(s, t, value) : TROD_OK;
    default:
        return TROD_OK;
    }
}

static int access_row(struct fun_state *s, const struct fun_thread *t, const struct trod_batch *b,
                      uint32_t row)
{
    const uint32_t said = b->have & b->has[row];
    const uint64_t addr = said & TROD_COL_ADDR ? b->addr[row] : 0;
    const uint32_t size = said & TROD_COL_SIZE ? b->size[row] : 1;

    if (!(said & TROD_COL_ADDR) ||
        (!fun_maybe(&s->heap, addr) && !fun_maybe(&s->heap, addr + (size ? size - 1 : 0))))
        return TROD_OK;
    return fun_heap_access(s, t, addr, size, said & TROD_COL_PC ? b->pc[row] : 0);
}

/* Rows from FROM on that are no markers, of the thread T, that waits for nothing: their
 * instructions are counted. Returns how many rows. */
static uint32_t count_plain(struct fun_state *s, struct fun_thread *t, const struct trod_batch *b,
                            uint32_t from, uint32_t to)
{
    const struct trod_plain_rows r = trod_plain_rows(b, from, to, NOT_THERE);

    t->instructions += r.instructions;
    s->instructions += r.instructions;
    t->arguments = t->arguments && r.instructions == 0;
    return r.end - from;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const struct trod_format *f = b->meta->driver;
    struct fun_state *s = st;
    struct fun_thread *t = NULL;
    uint32_t stream = 0;
    int rc = TROD_OK;

    s->marked = f && (f->flags & TROD_FMT_MARKERS);
    if (!s->marked)
        return TROD_OK;
    if (!s->listed && take_list(s, b->meta) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        if (!t || trod_batch_stream(b, i) != stream) {
            stream = trod_batch_stream(b, i);
            if (!(t = thread_of(s, b->meta, stream)))
                return TROD_ERR_NOMEM;
        }
        if (!t->until && s->heap.n_freed == 0 && b->kind[i] != TROD_MARKER &&
            b->kind[i] != TROD_THREAD) {
            i += count_plain(s, t, b, i, to) - 1;
        } else if (b->kind[i] == TROD_INSTR) {
            if (b->flags[i] & NOT_THERE)
                continue;
            t->arguments = false;
            if (t->until && (b->has[i] & TROD_COL_ADDR))
                arrive(s, t, b->addr[i]);
            t->instructions++;
            s->instructions++;
        } else if (b->kind[i] == TROD_MARKER) {
            rc = marker(s, t, b, i);
        } else if (b->kind[i] == TROD_THREAD && s->opt->like == FUN_LIKE_FUNC_VIEW) {
            rc = fun_list_exit(s, t);
        } else if (b->kind[i] >= TROD_READ && b->kind[i] <= TROD_ATOMIC && s->heap.n_freed) {
            rc = access_row(s, t, b, i);
        }
    }
    return rc;
}

/* What H counts begins anew; its blocks stay. */
static void count_heap_anew(struct fun_heap *h)
{
    h->allocations = h->frees = h->resized = h->failed = 0;
    h->unknown_frees = h->double_frees = h->own_frees = h->replaced = 0;
    h->after_free = h->inside = h->other_accesses = 0;
    h->n_accesses = 0;
    h->most_bytes = h->bytes;
    memset(h->sizes, 0, sizeof h->sizes);
    memset(h->lives, 0, sizeof h->lives);
}

/* The warm-up is over: calls that are open and blocks that are live stay so. */
static void count_anew(struct fun_state *s)
{
    for (size_t i = 0; i < s->n_functions; i++) {
        struct fun_function *f = &s->function[i];

        f->calls = f->returns = f->failed = 0;
        f->measured = f->inside = f->most = f->timed = f->time = 0;
        f->least = UINT64_MAX;
    }
    for (size_t i = 0; i < s->n_threads; i++)
        s->thread[i].calls = s->thread[i].allocations = s->thread[i].frees = s->thread[i].bytes = 0;
    s->most_nest = s->unreturned = s->strays = 0;
    count_heap_anew(&s->heap);
    count_heap_anew(&s->maps);
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct fun_state *s = st;
    const struct fun_heap *h = &s->heap;

    if (at->type == TROD_BOUNDARY_WARM)
        count_anew(s);
    if (at->type != TROD_BOUNDARY_INTERVAL)
        return TROD_OK;
    if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 64))
        return TROD_ERR_NOMEM;
    s->interval[s->n_intervals++] = (struct fun_interval){at->number, at->instructions, h->n_live,
                                                          h->bytes,   h->allocations,   h->frees};
    return TROD_OK;
}

/* The list of functions is beside the trace: it is read if names are wanted. */
static uint32_t uses_of(const char *format, const void *opt)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));

    (void)opt;
    return f && (f->flags & TROD_FMT_MARKERS)
               ? TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_ADDR | TROD_COL_SIZE |
                     TROD_COL_PC | TROD_COL_TEXT
               : 0;
}

const struct trod_analysis trod_analysis_functions = {
    .name = "functions",
    .title = "calls of recorded functions; the lives of allocated memory",
    .about = "Counts calls of the functions that the trace records: returns, failures,\n"
             "instructions and time between call and return; --list shows single calls with\n"
             "arguments and results.\n"
             "\n"
             "Calls of allocation functions (malloc, calloc, realloc, free, aligned ones,\n"
             "operator new and delete, mmap and munmap) are paired: live bytes at the end, at\n"
             "most and with --interval over time, sizes, what was never freed and where it\n"
             "was asked for, double frees, accesses to freed blocks. What an allocator does by\n"
             "itself, as at the end of a thread, is counted apart.\n"
             "\n"
             "The trace must have been recorded so (trod record --heap, --function;\n"
             "DynamoRIO's -record_heap, -record_function). Names come from the list of\n"
             "functions beside it.",
    .examples = "  trod functions app.dir\n"
                "  trod functions --interval 1000000 --format json app.dir\n"
                "  trod functions --like func_view app.dir\n",
    .options = options,
    .options_size = sizeof(struct fun_options),
    .defaults = &defaults,
    .state_size = sizeof(struct fun_state),
    .order = TROD_GLOBAL_ORDER,
    .light = true,
    .timed = true,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_ADDR | TROD_COL_SIZE |
            TROD_COL_PC | TROD_COL_TEXT,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .result = fun_result,
    .layout = fun_layout,
    .fini = fini,
    .apart = true,
};
