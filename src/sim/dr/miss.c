/*
 * miss.c - strides of the misses of each instruction.
 *
 * Implements dr/miss.h.
 */
#include "sim/dr/miss.h"

#include "core/grow.h"
#include "sim/dr/gnu_order.h"
#include "trod/diag.h"

#include <stdlib.h>

void trod_dr_misses_fini(struct trod_dr_misses *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->at[i].line);
    free(m->at);
    trod_lines_fini(&m->number);
}

void trod_dr_misses_reset(struct trod_dr_misses *m)
{
    const size_t most = m->n > m->most ? m->n : m->most;
    const bool failed = m->failed;

    trod_dr_misses_fini(m);
    *m = (struct trod_dr_misses){.most = most, .failed = failed};
}

void trod_dr_misses_add(struct trod_dr_misses *m, uint64_t pc, uint64_t line)
{
    struct trod_dr_misser *p;
    uint64_t *number;

    m->number.map = true;
    m->total++;
    if (!(number = trod_lines_at(&m->number, pc))) {
        m->failed = true;
        return;
    }
    if (*number == 0) {
        if (!trod_grow(&m->at, m->n, &m->cap, sizeof *m->at, 64)) {
            m->failed = true;
            return;
        }
        m->at[m->n] = (struct trod_dr_misser){.pc = pc};
        *number = ++m->n;
    }
    p = &m->at[*number - 1];
    if (!trod_grow(&p->line, p->n, &p->cap, sizeof *p->line, 4))
        m->failed = true;
    else
        p->line[p->n++] = line;
}

/* The most frequent difference that is not 0, the first in the table's order of several. */
static int best_of(const struct trod_lines *number, const uint64_t *key, const uint64_t *times,
                   uint64_t least, int32_t *stride)
{
    const size_t n = number->n;
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    uint64_t best = 0;
    int rc = order ? trod_gnu_order(key, n, 0, order) : TROD_ERR_NOMEM;

    *stride = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (times[order[i]] > best) {
            best = times[order[i]];
            *stride = (int32_t)(uint32_t)key[order[i]];
        }
    if (best < least)
        *stride = 0;
    free(order);
    return rc;
}

/* The stride of P, 0: none with a count of LEAST. */
static int stride_of(const struct trod_dr_misser *p, uint64_t least, int32_t *stride)
{
    struct trod_lines number = {.map = true};
    uint64_t *key = malloc(p->n * sizeof *key), *times = calloc(p->n, sizeof *times);
    int rc = key && times ? 0 : TROD_ERR_NOMEM;

    for (size_t i = 1; rc == 0 && i < p->n; i++) {
        const int32_t d = (int32_t)(uint32_t)(p->line[i] - p->line[i - 1]);
        uint64_t *v;

        if (d == 0)
            continue;
        if (!(v = trod_lines_at(&number, (uint32_t)d))) {
            rc = TROD_ERR_NOMEM;
            break;
        }
        if (*v == 0) {
            *v = number.n;
            key[*v - 1] = (uint64_t)(int64_t)d;
        }
        times[*v - 1]++;
    }
    if (rc == 0)
        rc = best_of(&number, key, times, least, stride);
    trod_lines_fini(&number);
    free(key);
    free(times);
    return rc;
}

/* The places of M in the order of the table of its instructions. */
static uint32_t *in_order(const struct trod_dr_misses *m)
{
    uint64_t *pc = malloc((m->n ? m->n : 1) * sizeof *pc);
    uint32_t *order = malloc((m->n ? m->n : 1) * sizeof *order);

    for (size_t i = 0; pc && i < m->n; i++)
        pc[i] = m->at[i].pc;
    if (!pc || !order || trod_gnu_order(pc, m->n, m->most, order) < 0) {
        free(order);
        order = NULL;
    }
    free(pc);
    return order;
}

int64_t trod_dr_misses_hints(const struct trod_dr_misses *m, uint64_t count, double fraction,
                             double confidence, unsigned line_size, struct trod_dr_hint **out)
{
    const double share = fraction * (double)m->total;
    const uint64_t enough = share < (double)count ? (uint64_t)share : count;
    struct trod_dr_hint *hint = malloc((m->n ? m->n : 1) * sizeof *hint);
    uint32_t *order = in_order(m);
    int rc = hint && order && !m->failed ? 0 : TROD_ERR_NOMEM;
    int64_t n = 0;

    for (size_t i = 0; rc == 0 && i < m->n; i++) {
        const struct trod_dr_misser *p = &m->at[order[i]];
        int32_t d = 0;

        if (p->n >= enough)
            rc = stride_of(p, (uint64_t)(confidence * (double)p->n), &d);
        d = (int32_t)((uint32_t)d * line_size); /* 0 where the product has no bit below 2^32 */
        if (d)
            hint[n++] = (struct trod_dr_hint){p->pc, d};
    }
    free(order);
    if (rc < 0) {
        free(hint);
        return rc;
    }
    *out = hint;
    return n;
}
