/*
 * chart.c - which thread ran where and when, in a bounded number of buckets of time (schedule.h).
 *
 * All cores share the scale. When the trace grows past the last bucket, neighbours are joined. A
 * bucket remembers one thread and how much more of its time that had than others (Boyer and Moore's
 * vote): a thread that had more than half of the time is always the one shown.
 */
#include "analysis/schedule/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW = 20, WIDE = 200, LEGEND = 26 };

static void vote(struct sch_bin *b, uint64_t thread, uint64_t n)
{
    if (b->n == 0 || b->at == thread) {
        b->at = thread;
        b->n += n;
    } else if (n > b->n) {
        b->at = thread;
        b->n = n - b->n;
    } else {
        b->n -= n;
    }
}

static void halve(struct sch_state *s)
{
    for (size_t k = 0; k < s->n_cores; k++) {
        struct sch_bin *b = s->core[k].bucket;

        for (size_t i = 0; b && i < SCH_BUCKETS / 2; i++) {
            struct sch_bin two = b[2 * i];

            if (b[2 * i + 1].n)
                vote(&two, b[2 * i + 1].at, b[2 * i + 1].n);
            b[i] = two;
        }
        if (b)
            memset(b + SCH_BUCKETS / 2, 0, SCH_BUCKETS / 2 * sizeof *b);
    }
    s->span *= 2;
    s->room = SCH_BUCKETS * s->span - 1;
}

bool sch_chart(struct sch_state *s, struct sch_core *c, uint64_t from, uint64_t to, uint32_t thread)
{
    if (!s->charted) {
        s->charted = true;
        s->origin = from;
        s->span = 1;
        s->room = SCH_BUCKETS - 1;
    }
    if (!c->bucket && !(c->bucket = calloc(SCH_BUCKETS, sizeof *c->bucket)))
        return false;
    from = from > s->origin ? from - s->origin : 0;
    to = to > s->origin ? to - s->origin : 0;
    if (to > UINT64_MAX / 2) /* no time is so late: the trace is damaged */
        return true;
    while (to / s->span >= SCH_BUCKETS)
        halve(s);
    if (from == to)
        vote(&c->bucket[to / s->span], thread, 1);
    while (from < to) {
        const uint64_t at = from / s->span, end = (at + 1) * s->span, until = to < end ? to : end;

        vote(&c->bucket[at], thread, until - from);
        from = until;
    }
    return true;
}

/* Buckets in use: to the last of any core. */
static size_t used(const struct sch_state *s)
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_cores; k++)
        for (size_t i = SCH_BUCKETS; s->core[k].bucket && i > n; i--)
            if (s->core[k].bucket[i - 1].n)
                n = i;
    return n;
}

/* Cell X of N of C's line, of USED buckets. */
static struct sch_bin cell(const struct sch_core *c, size_t x, size_t n, size_t n_used)
{
    size_t from = x * n_used / n, to = (x + 1) * n_used / n;
    struct sch_bin b = {0, 0};

    to = to > from ? to : from + 1;
    for (size_t i = from; c->bucket && i < to; i++)
        if (c->bucket[i].n)
            vote(&b, c->bucket[i].at, c->bucket[i].n);
    return b;
}

static char mark(const struct sch_state *s, const struct sch_bin *b)
{
    if (b->n == 0)
        return ' ';
    if (b->at == SCH_IDLE || b->at == SCH_WAIT)
        return b->at == SCH_IDLE ? '.' : '-';
    return sch_letter(s, (uint32_t)b->at);
}

static int legend(const struct sch_state *s, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "\n");

    for (size_t i = 0; i < s->n_threads && i < LEGEND; i++)
        rc |= trod_buf_printf(out, "  %c  thread %" PRIu64 ": %" PRIu64 " instructions\n",
                              sch_letter(s, (uint32_t)i), s->thread[i].tid,
                              s->thread[i].instructions);
    if (s->n_threads > LEGEND)
        rc |= trod_buf_printf(out, "  and %zu more threads, with the same letters again\n",
                              s->n_threads - LEGEND);
    return rc | trod_buf_printf(out, "  .  idle; -  waits for another core\n"
                                     "  blank: not known to run anything\n");
}

int sch_chart_print(const struct sch_state *s, struct trod_buf *out)
{
    const char *unit = s->marked && !s->placed ? "microseconds" : "steps";
    const size_t n_used = used(s);
    uint32_t *order = calloc(s->n_cores + 1, sizeof *order);
    size_t n = s->opt->width > NARROW + 12 ? (size_t)s->opt->width - 12 : NARROW;
    int rc = order ? 0 : TROD_ERR_NOMEM;

    n = n > WIDE ? WIDE : n;
    n = n > n_used && n_used ? n_used : n;
    if (order)
        sch_sorted(s, order);
    for (size_t k = 0; rc == 0 && k < s->n_cores; k++) {
        const struct sch_core *c = &s->core[order[k]];

        rc = sch_is_known(c) ? trod_buf_printf(out, "core %4" PRIu64 " |", c->number)
                             : trod_buf_printf(out, "unknown   |");
        for (size_t x = 0; rc == 0 && x < n && n_used; x++) {
            const struct sch_bin b = cell(c, x, n, n_used);
            const char ch = mark(s, &b);

            rc = trod_buf_add(out, &ch, 1);
        }
        rc |= trod_buf_printf(out, "|\n");
    }
    if (rc == 0)
        rc = trod_buf_printf(out, "          0 to %" PRIu64 " %s\n", (uint64_t)n_used * s->span,
                             unit);
    free(order);
    return rc == 0 ? legend(s, out) : rc;
}

void sch_chart_result(const struct sch_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"core", TROD_COLUMN_KEY, NULL, NULL},
        {"from", TROD_COLUMN_X, NULL, "microseconds or steps since the beginning"},
        {"to", TROD_COLUMN_PLAIN, NULL, NULL},
        {"tid", TROD_COLUMN_MEASURE, NULL, "that had most of the time; none: idle, or waiting"},
    };
    uint32_t *order = calloc(s->n_cores + 1, sizeof *order);
    const size_t n_used = used(s);

    if (!order)
        return;
    sch_sorted(s, order);
    trod_result_table(r, "chart", "which thread ran where", columns, 4);
    for (size_t k = 0; k < s->n_cores; k++) {
        const struct sch_core *c = &s->core[order[k]];

        for (size_t i = 0, end; c->bucket && i < n_used; i = end) {
            for (end = i + 1; end < n_used && (c->bucket[end].n != 0) == (c->bucket[i].n != 0) &&
                              c->bucket[end].at == c->bucket[i].at;)
                end++;
            if (!c->bucket[i].n)
                continue;
            sch_put_core(c, r);
            trod_result_u64(r, NULL, i * s->span);
            trod_result_u64(r, NULL, end * s->span);
            if (c->bucket[i].at == SCH_IDLE || c->bucket[i].at == SCH_WAIT)
                trod_result_absent(r);
            else
                trod_result_u64(r, NULL, s->thread[c->bucket[i].at].tid);
            trod_result_row_end(r);
        }
    }
    trod_result_table_close(r);
    free(order);
}
