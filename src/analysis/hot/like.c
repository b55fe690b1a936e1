/*
 * like.c - the result of "hot" as DynamoRIO's histogram prints it.
 *
 * After drcachesim's tools/histogram.cpp: lines of instructions and code prefetches, lines of data
 * and other prefetches, each with the lines accessed most. Lines of equal count, whose order that
 * tool leaves open, come by address.
 */
#include "analysis/hot/hot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int put_top(const struct hot_state *s, const struct hot_lines *t, const struct hot_cover *c,
                   const char *cache, struct trod_buf *out)
{
    const uint64_t blocks = hot_cover_blocks(c, t);
    size_t n;
    struct hot_line *all = hot_lines_top(t, c, hot_rows(s, blocks), &n);
    int rc = all ? trod_buf_printf(out, "%s top %" PRIu64 "\n", cache,
                                   s->opt->top ? s->opt->top : blocks)
                 : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        char line[32];

        snprintf(line, sizeof line, "0x%" PRIx64, all[i].number << t->shift);
        rc = trod_buf_printf(out, "%18s: %" PRIu64 "\n", line, all[i].n);
    }
    free(all);
    return rc;
}

static int layout_of(const struct hot_state *s, struct trod_buf *out)
{
    struct hot_cover of_code = {.at = NULL}, of_data = {.at = NULL};
    struct hot_lines code = {0};
    struct hot_flow f = {.n = 0};
    int rc;

    rc = hot_insns(&f, s);
    if (rc == TROD_OK)
        rc = hot_code_lines(&code, s, &f, hot_log2(s->opt->line));
    if (rc == TROD_OK)
        rc = hot_cover_init(&of_code, &code.wide);
    if (rc == TROD_OK)
        rc = hot_cover_init(&of_data, &s->data.wide);
    if (rc == TROD_OK)
        rc = trod_buf_printf(out,
                             "Cache line histogram tool results:\n"
                             "icache: %" PRIu64 " unique cache lines\n"
                             "dcache: %" PRIu64 " unique cache lines\n",
                             hot_cover_blocks(&of_code, &code),
                             hot_cover_blocks(&of_data, &s->data));
    if (rc == TROD_OK)
        rc = put_top(s, &code, &of_code, "icache", out);
    if (rc == TROD_OK)
        rc = put_top(s, &s->data, &of_data, "dcache", out);
    hot_cover_free(&of_code);
    hot_cover_free(&of_data);
    hot_lines_free(&code);
    hot_flow_fini(&f);
    return rc == TROD_OK ? 1 : TROD_ERR_NOMEM;
}

int hot_layout(const void *st, struct trod_buf *out)
{
    struct hot_state room = {.opt = NULL};
    const struct hot_state *s = st;
    int rc;

    if (s->opt->like != HOT_LIKE_HISTOGRAM)
        return 0;
    s = hot_lanes_begun(&room, s);
    rc = s ? layout_of(s, out) : TROD_ERR_NOMEM;
    hot_lanes_end(&room);
    return rc;
}
