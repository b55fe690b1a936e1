/*
 * side.c - reading one side, pairing streams, finding where to begin.
 *
 * Implements side.h. Streams of the same name are a pair; where no names are shared, streams of the
 * same number ("cpu0" and "0"); where neither helps (threads of two runs), the n-th that appears on
 * one side and the n-th on the other. Trace Matcher: boot size counts instruction records, the
 * start address is looked for at or after them.
 */
#include "compare/side.h"

#include <stdlib.h>
#include <string.h>

enum cmp_pairing { BY_NAME, BY_NUMBER, BY_ORDER };

int cmp_side_fill(struct cmp_side *s)
{
    int rc;

    if (s->b && s->at < s->b->n)
        return 1;
    if (s->ended)
        return 0;
    rc = trod_trace_next(s->trace, &s->b);
    s->at = 0;
    if (rc == 1)
        return 1;
    s->ended = true;
    s->b = NULL;
    s->failed = rc;
    return 0;
}

static uint64_t hash_name(const char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    return h | 1;
}

/* The number a name ends with; SIZE_MAX: none. */
static uint64_t number_of(const struct trod_stream *s)
{
    size_t from = s->name_len;
    uint64_t v = 0;

    while (from > 0 && s->name[from - 1] >= '0' && s->name[from - 1] <= '9')
        from--;
    if (from == s->name_len)
        return UINT64_MAX;
    for (; from < s->name_len; from++)
        v = 10 * v + (uint64_t)(s->name[from] - '0');
    return v;
}

/* What pair STREAM of side S belongs to, as a key that is the same on both sides. */
static uint64_t key_of(const struct cmp_side *s, const struct cmp_pairs *p, uint32_t stream)
{
    const struct trod_meta *meta = trod_trace_meta(s->trace);
    const struct trod_stream *st = stream < meta->n_streams ? &meta->streams[stream] : NULL;

    for (size_t i = 0; st && i < s->opt->n_pairs; i++) {
        const char *mine = s->side ? s->opt->pairs[i].b : s->opt->pairs[i].a;

        if (strlen(mine) == st->name_len && memcmp(mine, st->name, st->name_len) == 0)
            return hash_name("pair", 4) + 2 * i;
    }
    if (p->mode == BY_ORDER || !st)
        return 2 * (uint64_t)stream;
    if (p->mode == BY_NUMBER && number_of(st) != UINT64_MAX)
        return 2 * number_of(st);
    return hash_name(st->name, st->name_len);
}

static int add_pair(struct cmp_pairs *p, uint64_t key)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->key[i] == key)
            return (int)i;
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? 2 * p->cap : 8;
        uint64_t *k = realloc(p->key, cap * sizeof *k);

        if (!k)
            return TROD_ERR_NOMEM - 1;
        p->key = k;
        p->cap = cap;
    }
    p->key[p->n] = key;
    return (int)p->n++;
}

int cmp_side_pair(struct cmp_side *s, struct cmp_pairs *p, uint32_t i)
{
    uint32_t stream = s->b->have & TROD_COL_STREAM ? s->b->stream[i] : 0;
    int pair;

    if (stream < s->n_pair && s->pair[stream] != CMP_UNPAIRED)
        return s->pair[stream];
    if (stream >= s->n_pair) {
        uint32_t n = stream < 8 ? 16 : 2 * stream;
        int32_t *list = realloc(s->pair, n * sizeof *list);

        if (!list)
            return TROD_ERR_NOMEM - 1;
        for (uint32_t k = s->n_pair; k < n; k++)
            list[k] = CMP_UNPAIRED;
        s->pair = list;
        s->n_pair = n;
    }
    pair = add_pair(p, key_of(s, p, stream));
    s->pair[stream] = pair;
    return pair;
}

/* Whether any stream known of A has, by WHAT, a fellow known of B. */
static bool share(const struct trod_meta *a, const struct trod_meta *b, bool numbers)
{
    for (uint32_t i = 0; i < a->n_streams; i++)
        for (uint32_t j = 0; j < b->n_streams; j++) {
            const struct trod_stream *s = &a->streams[i], *t = &b->streams[j];

            if (numbers ? number_of(s) != UINT64_MAX && number_of(s) == number_of(t)
                        : s->name_len == t->name_len && memcmp(s->name, t->name, s->name_len) == 0)
                return true;
        }
    return false;
}

void cmp_pairs_choose(struct cmp_pairs *p, const struct cmp_side side[2])
{
    const struct trod_meta *a = trod_trace_meta(side[0].trace);
    const struct trod_meta *b = trod_trace_meta(side[1].trace);

    if (a->n_streams == 0 || b->n_streams == 0 || (a->n_streams == 1 && b->n_streams == 1))
        p->mode = BY_ORDER;
    else
        p->mode = share(a, b, false) ? BY_NAME : share(a, b, true) ? BY_NUMBER : BY_ORDER;
}

bool cmp_side_started(struct cmp_side *s, uint32_t i)
{
    const struct trod_batch *b = s->b;

    if (s->started)
        return true;
    if (b->kind[i] != TROD_INSTR)
        return false;
    if (s->boot_left) {
        s->boot_left--;
        return false;
    }
    s->started = !s->opt->has_start ||
                 ((b->have & b->has[i] & TROD_COL_ADDR) && b->addr[i] == s->opt->start);
    return s->started;
}
