/*
 * locality.c - the analysis "locality": rows to references, states made, fed and merged.
 *
 * Implements docs/locality.md. A reference is an instruction that is
 * fetched, a read, a write or a prefetch, and belongs to the line of its first byte. What a
 * reference costs in a cache with prefetchers or several levels is not its subject: `trod cache`.
 */
#include "analysis/locality/locality.h"

#include "core/spare.h"

#include <stdlib.h>
#include <string.h>

enum { REFS_ALL, REFS_DATA, REFS_INSTR, REFS_READ, REFS_WRITE };

static const char *const refs_names[] = {"all", "data", "instr", "read", "write", NULL};
static const char *const like_names[] = {"none", "reuse_distance", "reuse_time", NULL};
static const char *const per_names[] = {"none",   "function", "instruction", "module",
                                        "source", "data",     "block",       "region",
                                        "page",   "line",     NULL};

#define AT(field) offsetof(struct loc_options, field)

static const struct trod_option options[] = {
    {"line", 'l', TROD_OPT_BYTES, AT(line), "BYTES", "size of a cache line, a power of two", NULL,
     NULL},
    {"refs", 0, TROD_OPT_ENUM, AT(refs), "WHICH",
     "references that are looked at: all, data, instr, read or write", refs_names, NULL},
    {"crossing", 0, TROD_OPT_BOOL, AT(crossing), NULL,
     "count every line that a reference touches, not only that of its first byte", NULL, NULL},
    {"shared", 0, TROD_OPT_BOOL, AT(shared), NULL,
     "all threads share one cache; without it each has its own, and numbers are summed", NULL,
     NULL},
    {"sample", 0, TROD_OPT_COUNT, AT(sample), "N", "look at one line in N only (SHARDS)", NULL,
     NULL},
    {"memory", 0, TROD_OPT_SIZE, AT(memory), "BYTES",
     "take no more memory than that: a sample of lines that shrinks as it must (SHARDS)", NULL,
     NULL},
    {"times", 0, TROD_OPT_BOOL, AT(times), NULL,
     "reuse times, working sets, footprint, and the miss ratios they foretell", NULL, NULL},
    {"window", 0, TROD_OPT_COUNT, AT(window), "N",
     "the lines of each window of N references, one window after the other", NULL, NULL},
    {"ways", 0, TROD_OPT_COUNT, AT(ways), "N",
     "miss ratios of caches of 1 to N ways (at most 64) and 1 to 65536 sets", NULL, NULL},
    {"touched", 0, TROD_OPT_SIZE, AT(resident), "BYTES",
     "how much of a line is touched before it leaves a cache of so many bytes", NULL, NULL},
    {"strides", 0, TROD_OPT_BOOL, AT(strides), NULL, "strides of instructions that access data",
     NULL, NULL},
    {"per", 0, TROD_OPT_ENUM, AT(per), "OWNER",
     "misses for each function, instruction, module or line of source (of the code), data, block "
     "or "
     "region (of what is referenced; with --shared), page or line",
     per_names, NULL},
    {"size", 0, TROD_OPT_SIZE, AT(size), "BYTES",
     "size of the cache whose misses --per and --interval count: a line at least, and no more than "
     "--limit-lines",
     NULL, NULL},
    {"histogram", 0, TROD_OPT_BOOL, AT(histogram), NULL, "every distance, not ranges of them", NULL,
     NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N", "length of lists; 0: none, and no counts by line", NULL,
     NULL},
    {"distant", 0, TROD_OPT_U64, AT(distant), "LINES", "references farther than that are distant",
     NULL, NULL},
    {"limit-lines", 0, TROD_OPT_COUNT, AT(limit), "N",
     "forget the least recent line when there are more than N: the curve ends there, lists have "
     "the lines still remembered",
     NULL, NULL},
    {"plot", 0, TROD_OPT_BOOL, AT(plot), NULL, "draw the miss-ratio curve, in text output", NULL,
     NULL},
    {"width", 0, TROD_OPT_COUNT, AT(width), "N",
     "columns that --plot may take (default: those of the terminal)", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "count and print as DynamoRIO's reuse_distance or reuse_time do", like_names, NULL},
    {.type = TROD_OPT_END},
};

static const struct loc_options defaults = {
    .line = 64, .top = 10, .distant = 100, .size = 32 << 10};

/* Rows whose class is wanted. */
static void classes_of(struct loc_state *s)
{
    const int refs = s->opt->like == LOC_REUSE_TIME ? REFS_DATA : s->opt->refs;

    memset(s->class, 0xff, sizeof s->class);
    if (refs == REFS_ALL || refs == REFS_INSTR)
        s->class[TROD_INSTR] = s->class[TROD_BUS] = TROD_REF_INSTR;
    if (refs == REFS_ALL || refs == REFS_DATA || refs == REFS_READ)
        s->class[TROD_READ] = TROD_REF_READ;
    if (refs == REFS_ALL || refs == REFS_DATA || refs == REFS_WRITE)
        s->class[TROD_WRITE] = s->class[TROD_ATOMIC] = TROD_REF_WRITE;
    if (refs == REFS_ALL || refs == REFS_DATA)
        s->class[TROD_PREFETCH] = TROD_REF_OTHER;
}

/* What --per asks of the owners of data; BYS: nothing. */
static enum trod_whose_by whose_of(const struct loc_options *o)
{
    return o->per == LOC_PER_DATA     ? TROD_WHOSE_DATA
           : o->per == LOC_PER_BLOCK  ? TROD_WHOSE_BLOCK
           : o->per == LOC_PER_REGION ? TROD_WHOSE_REGION
                                      : TROD_WHOSE_BYS;
}

/* DynamoRIO's tools look at threads one by one, and at first bytes, and have one layout. */
static int check_like(const struct loc_options *o, struct trod_diag *diag)
{
    if (o->sample || o->memory || o->per || o->ways || o->shared || o->crossing || o->times ||
        o->window || o->strides || o->resident || o->plot)
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "--like cannot be combined with --sample, --memory, --per, --ways, "
                          "--shared, --crossing, --times, --window, --strides, --touched and "
                          "--plot, which DynamoRIO's tools do not have");
    if (o->like == LOC_REUSE_TIME && (o->limit || (o->refs != REFS_ALL && o->refs != REFS_DATA)))
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "--like reuse_time counts all data references: it cannot be combined "
                          "with --limit-lines, nor with --refs but data");
    return TROD_OK;
}

/* BYTES, which option NAME says, are a cache whose misses are known: of a line at least. */
static int check_cache(const struct loc_options *o, const char *name, uint64_t bytes,
                       struct trod_diag *diag)
{
    if (bytes < o->line)
        return trod_error(diag, TROD_ERR_USAGE, "locality.size", NULL,
                          "option '%s': a cache of %" PRIu64 " bytes holds no line of %" PRIu64
                          ": say %" PRIu64 " or more, or a shorter --line",
                          name, bytes, o->line, o->line);
    if (o->limit && bytes / o->line > o->limit)
        return trod_error(diag, TROD_ERR_USAGE, "locality.size", NULL,
                          "option '%s': a cache of %" PRIu64 " bytes has %" PRIu64
                          " lines, and --limit-lines %" PRIu64
                          " forgets all but so many: say %" PRIu64 " or less, or a higher limit",
                          name, bytes, bytes / o->line, o->limit, o->limit * o->line);
    return TROD_OK;
}

/* The sizes of caches that are simulated: that of --size where it was given, or counts. */
static int check_caches(const struct loc_options *o, struct trod_diag *diag)
{
    int rc = o->resident ? check_cache(o, "touched", o->resident, diag) : TROD_OK;

    if (rc == TROD_OK && !o->like && (o->per || o->size != defaults.size))
        rc = check_cache(o, "size", o->size, diag);
    return rc;
}

static int check_options(const struct loc_options *o, struct trod_diag *diag)
{
    const uint64_t least = trod_shards_least();

    if (o->line == 0 || (o->line & (o->line - 1)))
        return trod_error(diag, TROD_ERR_USAGE, "locality.line", NULL,
                          "the size of a line must be a power of two, not %" PRIu64, o->line);
    if (o->ways > LOC_WAYS)
        return trod_error(diag, TROD_ERR_USAGE, "locality.ways", NULL,
                          "option 'ways': %" PRIu64 " is more than %d", o->ways, (int)LOC_WAYS);
    if (o->memory && (o->shared ? o->memory : o->memory / 2) < least)
        return trod_error(diag, TROD_ERR_USAGE, "locality.memory", NULL,
                          "option 'memory': a sample takes more than %" PRIu64
                          " bytes: say %" PRIu64 " or more",
                          o->memory, o->shared ? least : 2 * least);
    if ((o->sample || o->memory) && o->limit)
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "a sample of lines and a limit to lines exclude each other");
    if ((o->like && check_like(o, diag) < 0) || check_caches(o, diag) < 0)
        return TROD_ERR_USAGE;
    if (o->plot && o->limit == 1)
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "with --limit-lines 1 the miss-ratio curve is one point: --plot needs a "
                          "limit of 2 lines at least");
    if (whose_of(o) != TROD_WHOSE_BYS && o->strides)
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "--strides are of instructions: it cannot be combined with --per data, "
                          "block or region");
    if (whose_of(o) != TROD_WHOSE_BYS && !o->shared)
        return trod_error(diag, TROD_ERR_USAGE, "locality.options", NULL,
                          "--per data, block and region look at all threads together: say "
                          "--shared");
    return TROD_OK;
}

static int init(void *st, const void *opt, const struct trod_context *c)
{
    struct loc_state *s = st;
    int rc;

    s->opt = opt;
    s->context = *c;
    rc = check_options(s->opt, c->diag);
    if (rc < 0)
        return rc;
    while (UINT64_C(1) << s->shift < s->opt->line)
        s->shift++;
    classes_of(s);
    if (s->opt->per >= LOC_PER_PAGE && !trod_lines_init(&s->pages, true, false))
        return TROD_ERR_NOMEM;
    if (whose_of(s->opt) != TROD_WHOSE_BYS &&
        (rc = trod_whose_new(&s->whose, whose_of(s->opt), c->symbols)) < 0)
        return rc;
    return loc_lane_init(&s->own, s);
}

static void fini(void *st)
{
    struct loc_state *s = st;

    for (size_t i = 0; i < s->n_files; i++) {
        loc_lane_fini(s->file[i]);
        free(s->file[i]);
    }
    free(s->file);
    loc_lane_fini(&s->own);
    loc_owners_fini(s);
    trod_whose_free(s->whose);
    free(s->interval);
}

/* ---- rows */

struct loc_lane *loc_lane_of_file(struct loc_state *s, uint32_t file, uint64_t tid)
{
    for (s->at = 0; s->at < s->n_files; s->at++)
        if (s->file[s->at]->file == file)
            return s->file[s->at];
    if (s->n_files == s->cap_files) {
        const size_t cap = s->cap_files ? 2 * s->cap_files : 16;
        struct loc_lane **more = realloc(s->file, cap * sizeof(struct loc_lane *));

        if (!more)
            return NULL;
        s->file = more;
        s->cap_files = cap;
    }
    s->file[s->at] = calloc(1, sizeof **s->file);
    if (!s->file[s->at])
        return NULL;
    s->n_files++;
    if (loc_lane_init(s->file[s->at], s) < 0)
        return NULL;
    s->file[s->at]->file = file;
    s->file[s->at]->tid = tid;
    s->file[s->at]->number = file;
    return s->file[s->at];
}

/* Where the rows of STREAM go. NULL without memory. */
static struct loc_lane *lane_of(struct loc_state *s, uint32_t stream)
{
    const struct trod_meta *m = s->context.meta;

    if (!s->opt->like)
        return &s->own;
    if (s->cached == stream + 1)
        return s->file[s->at];
    s->cached = stream + 1;
    return stream < m->n_streams
               ? loc_lane_of_file(s, m->streams[stream].file, m->streams[stream].tid)
               : loc_lane_of_file(s, m->file, TROD_NOWHERE);
}

/* What the block holds goes to L. */
static int flush(struct loc_state *s, struct loc_lane *l)
{
    int rc = TROD_OK;

    if (s->block->n)
        rc = loc_lane_feed(l, s->block, s->opt->per != LOC_PER_NONE);
    if (rc == TROD_OK && s->opt->per)
        rc = loc_owners_count(s, s->block);
    s->block->n = 0;
    return rc;
}

/* Bits of the parts of a line that SIZE bytes from byte AT of it touch. */
static uint64_t parts_of(const struct loc_state *s, uint64_t at, uint64_t size)
{
    const unsigned shift = s->shift > 6 ? s->shift - 6 : 0;
    const uint64_t line = UINT64_C(1) << s->shift;
    uint64_t first, last;

    if (size > line - at)
        size = line - at;
    first = at >> shift;
    last = (at + (size ? size - 1 : 0)) >> shift;
    return (UINT64_MAX >> (63 - (last - first))) << first;
}

/* The reference of row I with its details: lines it touches, parts, site or OWNER of the data. */
static int put_row(struct loc_state *s, struct loc_lane *l, const struct trod_batch *b, uint32_t i,
                   unsigned class, uint32_t owner)
{
    const uint64_t addr = trod_ref_place(b, i, b->have & b->has[i]);
    const uint64_t in_line = (UINT64_C(1) << s->shift) - 1;
    uint32_t site = s->whose ? owner : b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;
    uint64_t size = (b->have & b->has[i]) & TROD_COL_SIZE ? b->size[i] : 1, at = addr;
    int rc = TROD_OK;

    if (s->opt->strides && class != TROD_REF_INSTR)
        rc = loc_strides_count(s, site, addr);
    if (b->kind[i] == TROD_BUS && s->opt->per && s->opt->per < LOC_PER_DATA)
        rc = loc_fetch_number(s, addr, &site);
    if (rc < 0)
        return rc;
    do {
        struct loc_block *k = s->block;
        const uint64_t here = in_line + 1 - (at & in_line);

        if (k->n == LOC_BLOCK && rc == TROD_OK)
            rc = flush(s, l);
        k->line[k->n] = at >> s->shift;
        k->class[k->n] = (uint8_t) class;
        k->touched[k->n] = parts_of(s, at & in_line, size);
        k->site[k->n++] = site;
        if (size <= here)
            break;
        size -= here;
        at += here; /* behind the last address of all comes 0, as in caches */
    } while (s->opt->crossing && rc == TROD_OK);
    return rc;
}

static int put_all(struct loc_state *s, struct loc_lane *l, const struct trod_batch *b,
                   uint32_t from, uint32_t to)
{
    const struct loc_options *o = s->opt;
    const struct loc_rows rows = {.class = s->class, .shift = s->shift};
    int rc = TROD_OK;

    if (!o->crossing && !o->resident && !o->strides && !o->per) {
        for (uint32_t i = from, n; i < to && rc == TROD_OK; i += n) {
            n = to - i < LOC_BLOCK ? to - i : LOC_BLOCK;
            if (s->block->n + n > LOC_BLOCK)
                rc = flush(s, l);
            loc_rows_put(s->block, &rows, b, i, i + n);
        }
    } else {
        for (uint32_t i = from; i < to && rc == TROD_OK; i++) {
            const uint32_t owner = s->whose ? trod_whose_row(s->whose, b, i) : 0;
            const uint8_t class = s->class[b->kind[i]];

            if (class != 0xff && loc_refers(b, i, b->have))
                rc = put_row(s, l, b, i, class, owner);
        }
    }
    if (s->whose && trod_whose_failed(s->whose))
        return TROD_ERR_NOMEM;
    return rc == TROD_OK ? flush(s, l) : rc;
}

/* Instructions that count in a total only: --like reuse_time. */
static void count_instructions(struct loc_lane *l, const struct trod_batch *b, uint32_t from,
                               uint32_t to)
{
    uint64_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += b->kind[i] == TROD_INSTR && loc_refers(b, i, b->have);
    l->times->refs[TROD_REF_INSTR] += n;
}

static int feed_lanes(struct loc_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int rc = TROD_OK;

    while (from < to && rc == TROD_OK) {
        const bool said = b->have & b->has[from] & TROD_COL_STREAM;
        uint32_t end = to;
        struct loc_lane *l;

        /* lanes of files: row by row of the same stream */
        if (s->opt->like && said)
            for (end = from + 1;
                 end < to && b->stream[end] == b->stream[from] && (b->has[end] & TROD_COL_STREAM);)
                end++;
        else if (s->opt->like)
            end = from + 1;
        l = lane_of(s, said ? b->stream[from] : 0);
        if (!l)
            return TROD_ERR_NOMEM;
        if (s->opt->like == LOC_REUSE_TIME)
            count_instructions(l, b, from, end);
        rc = put_all(s, l, b, from, end);
        from = end;
    }
    return rc;
}

/* Nothing stays in the block: states of thousands of threads take turns with a few. */
static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct loc_state *s = st;
    int rc;

    if (!(s->block = trod_spare_take(sizeof *s->block)))
        return TROD_ERR_NOMEM;
    s->block->n = 0;
    rc = feed_lanes(s, b, from, to);
    trod_spare_give(s->block, sizeof *s->block);
    s->block = NULL;
    return rc;
}

/* ---- merging */

bool loc_parts(const struct loc_options *o)
{
    return !o->sample && !o->memory && !o->limit && !o->window && !o->ways && !o->resident &&
           !o->per && !o->strides && !o->shared;
}

static enum trod_scope scope_of(const void *opt)
{
    const struct loc_options *o = opt;

    return o->shared || o->like ? TROD_PER_RUN : TROD_PER_STREAM;
}

static enum trod_order_need order_of(const void *opt)
{
    const struct loc_options *o = opt;

    return loc_parts(o) ? TROD_ANY_ORDER : TROD_GLOBAL_ORDER;
}

static int merge_files(struct loc_state *s, const struct loc_state *from)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < from->n_files; i++) {
        struct loc_lane *l = loc_lane_of_file(s, from->file[i]->file, from->file[i]->tid);

        rc = l ? loc_lane_append(l, from->file[i]) : TROD_ERR_NOMEM;
    }
    s->cached = 0;
    return rc;
}

static int merge(void *into, const void *from)
{
    struct loc_state *s = into;
    const struct loc_state *f = from;
    int rc;

    if (s->opt->like)
        return merge_files(s, f);
    if (loc_lane_refs(&f->own, LOC_ALL) == 0)
        return TROD_OK;
    /* states of the same stream are parts of it; what all streams have together is a sum */
    if (s->context.stream != TROD_ALL_STREAMS || f->context.stream == TROD_ALL_STREAMS)
        rc = loc_lane_append(&s->own, &f->own);
    else
        rc = loc_lane_sum(&s->own, &f->own);
    return rc < 0 ? rc : loc_owners_add(s, f);
}

/* Move what a part has counted to the empty state of the same stream. */
static int take(void *into, void *from)
{
    struct loc_state *s = into, *f = from;

    if (s->opt->like || !loc_parts(s->opt) || !loc_lane_is_new(&s->own) ||
        (s->context.stream == TROD_ALL_STREAMS) != (f->context.stream == TROD_ALL_STREAMS))
        return merge(s, f);
    loc_lane_swap(&s->own, &f->own);
    return TROD_OK;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct loc_state *s = st;

    if (at->type == TROD_BOUNDARY_WARM && (s->own.times || s->opt->like || s->opt->strides))
        return trod_error(
            s->context.diag, TROD_ERR_USAGE, "locality.warmup", NULL,
            "a warm-up cannot be combined with --times, --window, --strides or --like");
    if (at->type == TROD_BOUNDARY_WARM) {
        loc_lane_restart(&s->own);
        if (s->owner)
            memset(s->owner, 0, s->n_sites * sizeof *s->owner);
        for (size_t i = 0; i < s->n_fetches; i++)
            s->fetch[i].of = (struct loc_owner){0};
        if (s->pages.count)
            memset(s->pages.count, 0, s->pages.size * sizeof *s->pages.count);
    } else if (at->type == TROD_BOUNDARY_INTERVAL) {
        if (s->opt->like)
            return trod_error(s->context.diag, TROD_ERR_USAGE, "locality.interval", NULL,
                              "intervals cannot be combined with --like: DynamoRIO's tools have "
                              "none");
        if (check_cache(s->opt, "size", s->opt->size, s->context.diag) < 0)
            return TROD_ERR_USAGE;
        return loc_interval_end(s, at);
    } else if (at->type == TROD_BOUNDARY_END && s->opt->shared && !s->context.merged &&
               s->context.meta->n_streams > 1 && s->context.meta->n_files > 1) {
        trod_warning(s->context.diag, TROD_ERR_UNSUPPORTED, "locality.order", NULL,
                     "the threads came one after the other: for threads that share a cache choose "
                     "an order that interleaves them (--order time)");
    }
    return TROD_OK;
}

static int layout(const void *st, struct trod_buf *out)
{
    const struct loc_state *s = st;

    if (s->opt->like)
        return loc_like(s, out);
    return s->opt->plot ? loc_plot(s, out) : 0;
}

static uint32_t uses_of(const char *format, const void *opt)
{
    const struct loc_options *o = opt;
    uint32_t uses = TROD_COL_FLAGS | trod_ref_physical(format);

    if (o->crossing || o->resident)
        uses |= TROD_COL_SIZE;
    if (whose_of(o) != TROD_WHOSE_BYS)
        uses |= TROD_WHOSE_COLUMNS;
    else if (o->strides || (o->per && o->per < LOC_PER_PAGE))
        uses |= TROD_COL_SITE;
    if (o->like)
        uses |= TROD_COL_STREAM;
    return uses;
}

const struct trod_analysis trod_analysis_locality = {
    .name = "locality",
    .title = "reuse distances, miss-ratio curves, working sets",
    .about = "How near to each other references to the same line are, and with it how many of them "
             "miss in an LRU cache of any size. The distance of a reference is the number of other "
             "lines referenced since the last reference to its line; it hits in a fully "
             "associative LRU cache of more lines than that, and misses in all others. Distances "
             "are exact unless --sample or --memory asks for a sample of the lines; then the error "
             "stands beside the numbers.\n\n"
             "Each thread has a cache of its own, and numbers are summed, unless --shared puts all "
             "threads in front of one. With -j files and parts of files are counted by several "
             "threads, exactly; where an option needs all references in order (--shared, --sample, "
             "--memory, --window, --ways, --touched, --strides, --per, --limit-lines) one thread "
             "reads and another counts.\n\n"
             "'trod mrc' is the same command: for the miss-ratio curve, 'trod mrc --plot'.",
    .examples = "  trod locality trace.zip\n"
                "  trod locality --plot --refs data trace.zip\n"
                "  trod locality --memory 1Gi huge.zip\n"
                "  trod locality --per function --size 32K --symbols program trace.zip\n"
                "  trod locality --per data --shared --symbols program trace.zip\n"
                "  trod locality --like reuse_distance --histogram trace.dir\n",
    .options = options,
    .options_size = sizeof(struct loc_options),
    .state_size = sizeof(struct loc_state),
    .defaults = &defaults,
    .scope = TROD_PER_STREAM,
    .order = TROD_ANY_ORDER,
    .scope_of = scope_of,
    .order_of = order_of,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_COL_FLAGS | TROD_COL_PADDR,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .merge = merge,
    .take = take,
    .save = loc_save,
    .load = loc_load,
    .result = loc_result,
    .layout = layout,
    .fini = fini,
};
