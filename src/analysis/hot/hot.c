/*
 * hot.c - the analysis "hot": where a program spends its instructions and accesses.
 *
 * Implements docs/analysing.md, "hot". It counts executions of sites, accesses of blocks of memory,
 * and jumps: executions of a site behind another one that does not end where it begins. Blocks,
 * loops, functions, lines of source and fetched bytes are computed from that at the end (flow.c),
 * so that memory grows only with the program and the memory that it touches.
 */
#include "analysis/hot/hot.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/wide.h"
#include "core/zeroed.h"
#include "trod/format.h"
#include "trod/streak.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct hot_options, field)

static const char *const like_names[] = {"none", "histogram", NULL};

static const struct trod_option options[] = {
    {"top", 0, TROD_OPT_U64, AT(top), "N", "rows of each table (default: 10; 0: all)", NULL, NULL},
    {"line-size", 0, TROD_OPT_BYTES, AT(line), "BYTES", "size of a cache line (default: 64)", NULL,
     NULL},
    {"page-size", 0, TROD_OPT_BYTES, AT(page), "BYTES", "size of a page (default: 4096)", NULL,
     NULL},
    {"most-lines", 0, TROD_OPT_U64, AT(most), "N",
     "where more lines of data are touched than that, count them in larger blocks (default: 0, no "
     "bound)",
     NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL", "print as DynamoRIO's histogram does", like_names,
     NULL},
    {.type = TROD_OPT_END},
};

static const struct hot_options defaults = {.top = HOT_TOP, .line = 64, .page = 4096};

unsigned hot_log2(uint64_t v)
{
    unsigned n = 0;

    while (v >>= 1)
        n++;
    return n;
}

static bool power_of_two(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

int hot_init(void *st, const void *opt, const struct trod_context *context)
{
    struct hot_state *s = st;

    s->opt = opt ? opt : &defaults;
    s->context = *context;
    if (!power_of_two(s->opt->line) || !power_of_two(s->opt->page) || s->opt->page < s->opt->line)
        return trod_error(context->diag, TROD_ERR_USAGE, "hot.size", NULL,
                          "sizes of lines and pages are powers of two, pages not the smaller ones: "
                          "%llu and %llu are not",
                          (unsigned long long)s->opt->line, (unsigned long long)s->opt->page);
    s->data.line = s->code.line = hot_log2(s->opt->line);
    s->data.shift = s->code.shift = s->data.line;
    return TROD_OK;
}

void hot_fini(void *st)
{
    struct hot_state *s = st;

    hot_lanes_free(s);
    hot_trips_free(s);
    trod_zeroed_free(s->fetched, s->n_ran * sizeof *s->fetched);
    free(s->again);
    free(s->jumps.at);
    hot_lines_free(&s->data);
    hot_lines_free(&s->code);
}

int hot_room(struct hot_state *s, size_t n)
{
    if (trod_zeroed_room(&s->fetched, &s->n_ran, n + 1, sizeof *s->fetched) < 0)
        return TROD_ERR_NOMEM;
    return hot_trips_room(s, n);
}

/* ---- rows */

/* Whether DynamoRIO's histogram counts the code prefetch I as data: all of a cache level. */
static bool as_data(const struct hot_state *s, const struct trod_batch *b, uint32_t i)
{
    enum { PREFETCH_INSTR = 9 };

    return s->opt->like == HOT_LIKE_HISTOGRAM && b->kind[i] == TROD_PREFETCH && b->meta->driver &&
           b->meta->driver->flags & TROD_FMT_MARKERS && b->have & TROD_COL_SUB &&
           b->sub[i] != PREFETCH_INSTR;
}

static int access_row(struct hot_state *s, const struct trod_batch *b, uint32_t i, uint32_t said)
{
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const bool code = flags & TROD_F_IFETCH && !as_data(s, b, i);

    if (!(said & TROD_COL_ADDR))
        return TROD_OK;
    return hot_lines_touch(code ? &s->code : &s->data, b->addr[i],
                           said & TROD_COL_SIZE ? b->size[i] : 1, 1, s->opt->most);
}

/* An instruction that does not just follow the one before it. */
static int special(struct hot_state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t flags = b->have & b->has[i] & TROD_COL_FLAGS ? b->flags[i] : 0;

    if (flags & TROD_F_SYNTHETIC)
        return TROD_OK;
    if (b->site[i] == TROD_NO_SITE)
        s->nowhere++;
    else if (flags & TROD_F_NOFETCH)
        return hot_add_again(s, b->site[i], 1);
    return TROD_OK;
}

/* The file of the rows of B. Where files come by turns their streams tell them apart. */
static uint32_t file_of(const struct hot_state *s, const struct trod_batch *b)
{
    return b->meta && !s->context.merged ? b->meta->file : 0;
}

/* The stream of row I of B, counted from 1; 0: it says none. */
static inline uint32_t stream_of(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] + 1 : 0;
}

/* Row I of B. */
static int any_row(struct hot_state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    struct hot_lane *l;
    bool jumped;

    if ((b->kind[i] >= TROD_READ && b->kind[i] <= TROD_PREFETCH) ||
        (b->kind[i] == TROD_BUS && said & TROD_COL_FLAGS && b->flags[i] & TROD_F_IFETCH))
        return access_row(s, b, i, said);
    if (b->kind[i] != TROD_INSTR)
        return TROD_OK;
    if (b->site[i] == TROD_NO_SITE ||
        (said & TROD_COL_FLAGS && b->flags[i] & (TROD_F_SYNTHETIC | TROD_F_NOFETCH)))
        return special(s, b, i);
    l = hot_lane(s, stream_of(b, i), file_of(s, b));
    if (!l)
        return TROD_ERR_NOMEM;
    jumped = b->addr[i] != l->here.next;
    if (hot_trips_count(s, l, b->site[i], 1, jumped) < 0)
        return TROD_ERR_NOMEM;
    l->here = (struct hot_here){.next = b->addr[i] + (said & TROD_COL_SIZE ? b->size[i] : 0),
                                .site = b->site[i],
                                .before = l->here.site};
    return TROD_OK;
}

/* Counters of so many sites are not in the nearest caches. */
enum { FAR_SITES = 1 << 15 };

/* What belongs to a streak of W that comes soon is fetched into the caches. */
TROD_HOT void expect(const struct hot_state *s, const struct trod_streak_walk *w)
{
    uint32_t end;
    const uint32_t site = trod_streak_soon(w, &end);

    __builtin_prefetch(&s->back[end ? end - 1 : 0], 1);
    __builtin_prefetch(&s->head_of[site]);
}

/* The most sites whose bits are looked at in one go, whichever bit of a byte is the first. */
enum { QUICK = 57 };

/*
 * L, which is at HERE, executes N instructions from SITE on. False, and nothing is done: it takes
 * more to see whether loops are concerned.
 */
TROD_HOT bool quick(struct hot_state *s, const struct hot_lane *l, const struct hot_here *here,
                    uint32_t site, uint32_t n, bool jumped)
{
    struct hot_back *back;
    uint64_t not_quiet;

    if (n > QUICK || (size_t)site / 8 + sizeof not_quiet > l->n_quiet)
        return false;
    not_quiet = ~(trod_load_le64(l->quiet + site / 8) >> site % 8) & ((UINT64_C(1) << n) - 1);
    if (not_quiet > jumped)
        return false;
    if (!jumped && site == here->site + 1)
        return true;
    if (here->site == TROD_NO_SITE)
        return false;
    back = &s->back[here->site];
    if (!jumped) {
        if (back->on != site + 1 || back->n_on == UINT32_MAX)
            return false;
        back->n_on++;
        return true;
    }
    if ((back->to & ~HOT_LOOP) != site + 1 || back->n == UINT32_MAX)
        return false;
    if (not_quiet) {
        const uint32_t head = s->head_of[site] - 1;

        if (!(back->to & HOT_LOOP) || head >= l->n_trips || !l->trips[head].trips)
            return false;
        l->trips[head].trips++;
    }
    back->n++;
    return true;
}

/* Count the streaks and single rows of W. FAR: their counters are prefetched. */
TROD_HOT int streaks(struct hot_state *s, const struct trod_batch *b, struct trod_streak_walk *w,
                     bool far)
{
    const struct trod_streak *streak;
    struct hot_here here = hot_nowhere.here;
    struct hot_lane *l = NULL;
    uint32_t stream = 0;

    while ((streak = trod_streak_next(w))) {
        const uint32_t now = streak->n ? stream_of(b, streak->row) : 0;
        const uint32_t site = streak->site, n = streak->n, last = streak->last;
        bool jumped;

        if (far)
            expect(s, w);
        if (n == 0 || !l || now != stream) {
            if (l)
                l->here = here;
            l = NULL; /* lanes may move */
            if (n == 0 && any_row(s, b, streak->row) < 0)
                return TROD_ERR_NOMEM;
            if (n == 0)
                continue;
            if (!(l = hot_lane(s, stream = now, file_of(s, b))))
                return TROD_ERR_NOMEM;
            here = l->here;
        }
        jumped = b->addr[streak->row] != here.next;
        if (!quick(s, l, &here, site, n, jumped)) {
            l->here = here;
            if (hot_trips_count(s, l, site, n, jumped) < 0)
                return TROD_ERR_NOMEM;
        }
        here.before = n > 1 ? site + n - 2 : here.site;
        here.site = site + n - 1;
        here.next = b->addr[last] + b->size[last];
    }
    if (l)
        l->here = here;
    return TROD_OK;
}

#if TROD_AVX2
TROD_WIDE static int streaks_wide(struct hot_state *s, const struct trod_batch *b,
                                  struct trod_streak_walk *w, bool far)
{
    return far ? streaks(s, b, w, true) : streaks(s, b, w, false);
}
#endif

static int all_streaks(struct hot_state *s, const struct trod_batch *b, struct trod_streak_walk *w,
                       bool far)
{
#if TROD_AVX2
    if (trod_wide())
        return streaks_wide(s, b, w, far);
#endif
    return streaks(s, b, w, far);
}

static int settle(void *st, uint32_t file)
{
    struct hot_state *s = st;

    return s->context.merged ? TROD_OK : hot_lanes_settle(s, file);
}

/* A part keeps the beginning of each lane only: little, however long the part is. */
static bool records(const void *opt)
{
    (void)opt;
    return true;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct hot_state *s = st;
    struct trod_streak_walk walk;
    int rc = hot_room(s, trod_sites_count(s->context.sites));

    for (uint32_t i = from; !b->streaks && rc == TROD_OK && i < to; i++)
        rc = any_row(s, b, i);
    if (!b->streaks || rc < 0)
        return rc;
    trod_streak_walk_begin(&walk, b, from, to);
    rc = all_streaks(s, b, &walk, s->n_ran >= FAR_SITES);
    return rc < 0 ? rc : hot_lines_rows(&s->data, b, from, to, s->opt->most);
}

const struct trod_analysis trod_analysis_hot = {
    .name = "hot",
    .title = "the hottest instructions, blocks, loops, functions, lines and pages",
    .names = true,
    .about = "Counts how often each instruction of the program was executed and each line\n"
             "of memory was accessed, and shows the hottest: instructions, basic blocks\n"
             "with their disassembly, loops with their trip counts, and, with --symbols,\n"
             "functions, files and lines of source; cache lines and pages of code and data.\n"
             "Each with its share and the cumulated share.\n"
             "\n"
             "--like histogram prints what DynamoRIO's histogram does.",
    .examples = "  trod hot --top 20 app.trace.zip\n"
                "  trod hot --symbols app@0x555555554000 app.trace.zip\n"
                "  trod hot --like histogram app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct hot_options),
    .defaults = &defaults,
    .state_size = sizeof(struct hot_state),
    .order = TROD_STREAM_ORDER,
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_SITE | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_STREAM |
            TROD_COL_SUB | TROD_WANT_STREAKS | TROD_WANT_MODULES | TROD_WANT_RAN,
    .init = hot_init,
    .feed = feed,
    .settle = settle,
    .merge = hot_merge,
    .save = hot_save,
    .load = hot_load,
    .result = hot_result,
    .layout = hot_layout,
    .fini = hot_fini,
    .owners = true,
    .records = records,
};
