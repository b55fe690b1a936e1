/*
 * count.c - the analysis "count": its options, beginning and end.
 *
 * Implements trod-count(1): DynamoRIO's basic_counts, and more, for every format. The work is done
 * in count_feed.c, count_lane.c, count_fields.c, count_report.c and count_save.c.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/count_int.h"
#include "trod/detail.h"

static const char *const footprints[] = {"auto", "exact", "none", NULL};
static const char *const details[] = {"table", "wide", "list", NULL};

const struct trod_option trod_count_option_table[] = {
    {"line-size", 0, TROD_OPT_SIZE, offsetof(struct trod_count_options, line), "BYTES",
     "size of a cache line (default: as the trace says, or 64)", NULL, NULL},
    {"footprint", 0, TROD_OPT_ENUM, offsetof(struct trod_count_options, footprint), "HOW",
     "unique bytes and lines: auto (estimates beyond 64 MiB of pages), exact or none", footprints,
     NULL},
    {"detail", 0, TROD_OPT_ENUM, offsetof(struct trod_count_options, detail), "HOW",
     "threads as a table, a wide table of every number, or a list", details, NULL},
    {"top", 0, TROD_OPT_U64, offsetof(struct trod_count_options, top), "N",
     "show the N threads with most instructions only", NULL, NULL},
    {.type = TROD_OPT_END},
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    const struct trod_meta *meta = context->meta;
    struct count_state *s = st;

    if (opt)
        s->opt = *(const struct trod_count_options *)opt;
    s->meta = meta;
    s->diag = context->diag;
    s->by = context->by;
    s->sites = context->sites;
    s->symbols = context->symbols;
    s->drm = meta && meta->driver && (meta->driver->flags & TROD_FMT_MARKERS);
    s->word = meta && meta->driver && meta->driver->streams ? meta->driver->streams
              : meta && meta->driver                        ? "cpu"
                                                            : "thread";
    s->bus = s->word && strcmp(s->word, "agent") == 0;
    if (meta && meta->driver && meta->driver->sub_name && !s->drm)
        s->names = meta->driver;
    s->part = meta && meta->part != 0;
    if (s->opt.line > COUNT_LINE_MAX || (s->opt.line & (s->opt.line - 1)))
        return trod_error(context->diag, TROD_ERR_USAGE, "count.line-size", NULL,
                          "line size '%llu' is no power of two up to 4096",
                          (unsigned long long)s->opt.line);
    return TROD_OK;
}

/*
 * Columns that are not needed of a format. Only markers of drmemtrace have values that count; its
 * branches tell their direction and its accesses their virtual address, so targets and physical
 * addresses are for other formats. Details are needed of byu6 alone, for its byte enables.
 */
static uint32_t uses_of(const char *format, const void *opt)
{
    const uint32_t all =
        TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR | TROD_COL_SUB;

    (void)opt;
    if (strcmp(format, "drmemtrace") == 0)
        return all | TROD_COL_VALUE;
    return all | TROD_COL_PADDR | TROD_COL_TARGET |
           (strcmp(format, "byu6") == 0 ? TROD_COL_DETAIL : 0);
}

static void fini(void *st)
{
    struct count_state *s = st;

    for (uint32_t i = 0; i < s->n_lanes; i++)
        trod_count_lane_fini(&s->lane[i]);
    free(s->lane);
    free(s->shard);
    trod_map_fini(&s->map);
    free(s->of_stream);
    free(s->owned);
    trod_recent_free(s->recent);
    trod_pages_free(s->code);
    trod_pages_free(s->data);
    *s = (struct count_state){0};
}

int trod_count_mark_data(struct trod_pages *data, const struct trod_batch *b, uint32_t i,
                         uint64_t addr, uint32_t size)
{
    const bool holes = (b->have & b->has[i] & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_HOLES);
    const struct trod_detail_byu6 *d = holes ? trod_batch_detail(b, i) : NULL;
    int rc = TROD_OK;

    if (!d)
        return trod_pages_mark(data, 0, addr, size);
    for (unsigned k = 0; k < 8 && rc == TROD_OK; k++)
        if (!(d->enables >> k & 1))
            rc = trod_pages_mark(data, 0, (addr & ~UINT64_C(7)) + k, 1);
    return rc;
}

const struct trod_analysis trod_analysis_count = {
    .name = "count",
    .title = "how many of what: instructions, accesses, branches, markers, unique bytes",
    .options = trod_count_option_table,
    .options_size = sizeof(struct trod_count_options),
    .sized = true,
    .state_size = sizeof(struct count_state),
    .light = true,
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR | TROD_COL_PADDR |
            TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB,
    .uses_of = uses_of,
    .init = init,
    .feed = trod_count_feed,
    .merge = trod_count_merge,
    .settle = trod_count_settle,
    .save = trod_count_save,
    .load = trod_count_load,
    .result = trod_count_report,
    .fini = fini,
    .owners = true,
};
