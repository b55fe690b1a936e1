/*
 * side.c - reading one side, pairing streams, finding where to begin.
 *
 * Implements side.h. Streams of the same name are a pair; where no names are shared, streams of the
 * same number ("cpu0" and "0"); where neither helps (threads of two runs), the n-th that appears on
 * one side and the n-th on the other. Trace Matcher: boot size counts instruction records, the
 * start address is looked for at or after them.
 */
#include "compare/side.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum cmp_pairing { BY_NAME, BY_NUMBER, BY_ORDER };

/* Which rows of B, which S has just read, are compared. Returns RC, or what went wrong. */
static int choose(struct cmp_side *s, int rc, const struct trod_batch *b)
{
    uint8_t keep[TROD_BATCH_ROWS];

    if (!s->opt->choose || rc != 1)
        return rc;
    if (!s->chosen && !(s->chosen = malloc(CMP_CHOSEN)))
        return TROD_ERR_NOMEM;
    memset(keep, 1, b->n);
    rc = s->opt->choose(s->opt->choose_user, s->side, b, keep);
    for (uint32_t i = 0; i < b->n; i++)
        s->chosen[(b->first + i) % CMP_CHOSEN] = keep[i];
    return rc < 0 ? rc : 1;
}

/* The next batch of S is B, as trod_trace_next has said with RC. Returns whether there is one. */
static int arrived(struct cmp_side *s, int rc, struct trod_batch *b)
{
    s->b = rc == 1 ? b : NULL;
    s->at = 0;
    s->slid_of = NULL;
    if (rc == 1)
        return 1;
    s->ended = true;
    s->failed = rc;
    return 0;
}

int cmp_side_fill(struct cmp_side *s)
{
    struct trod_batch *b = NULL;
    int rc;

    if (s->b && s->at < s->b->n)
        return 1;
    if (s->next) {
        s->b = s->next;
        s->at = s->next_at;
        s->next = NULL;
        s->slid_of = NULL;
        if (s->at < s->b->n)
            return 1;
    }
    if (s->ended)
        return 0;
    rc = trod_trace_next(s->trace, &b);
    return arrived(s, choose(s, rc, b), b);
}

bool cmp_sides_fill(struct cmp_side side[2])
{
    return cmp_side_fill(&side[0]) == 1 && cmp_side_fill(&side[1]) == 1;
}

/* Whether the row at hand is behind boot code and start address. */
static bool starts(struct cmp_side *s)
{
    const struct trod_batch *b = s->b;

    if (s->started)
        return true;
    if (b->kind[s->at] != TROD_INSTR)
        return false;
    if (s->boot_left) {
        s->boot_left--;
        return false;
    }
    s->started = !s->opt->has_start ||
                 ((b->have & b->has[s->at] & TROD_COL_ADDR) && b->addr[s->at] == s->opt->start);
    return s->started;
}

int cmp_side_gather(struct cmp_side *s, uint32_t n)
{
    int rc = trod_batch_new(&s->first, n);

    if (rc < 0)
        return rc;
    while (cmp_side_fill(s) == 1 && !starts(s)) {
        s->at++;
        s->passed++;
    }
    while (s->first->n < n && cmp_side_fill(s) == 1) {
        uint32_t done;

        if (s->first->n == 0)
            s->first->first = s->b->first + s->at;
        /* Rows are numbered from the first of their batch on. */
        if (s->first->first + s->first->n != s->b->first + s->at)
            break;
        done = trod_batch_append(s->first, s->b, s->at, s->b->n - s->at);
        s->at += done;
        if (done == 0)
            break;
    }
    if (s->first->n == 0)
        return TROD_OK;
    s->next = s->b;
    s->next_at = s->at;
    s->b = s->first;
    s->at = 0;
    return TROD_OK;
}

struct cmp_row *cmp_side_owner(const struct cmp_side *s, int pair)
{
    return pair < s->n_owner ? s->owner[pair] : NULL;
}

int cmp_side_own(struct cmp_side *s, struct cmp_pool *pool, int pair, struct cmp_row *row)
{
    if (row->pub.kind != TROD_INSTR)
        return TROD_OK;
    if (pair >= s->n_owner) {
        int n = 2 * pair + 4;
        struct cmp_row **owner = realloc(s->owner, (size_t)n * sizeof(struct cmp_row *));

        if (!owner)
            return TROD_ERR_NOMEM;
        for (int i = s->n_owner; i < n; i++)
            owner[i] = NULL;
        s->owner = owner;
        s->n_owner = n;
    }
    cmp_row_drop(pool, s->owner[pair]);
    s->owner[pair] = cmp_row_keep(row);
    return TROD_OK;
}

void cmp_side_fini(struct cmp_side *s, struct cmp_pool *pool)
{
    for (int i = 0; i < s->n_owner; i++)
        cmp_row_drop(pool, s->owner[i]);
    cmp_row_drop(pool, s->before);
    trod_batch_free(s->first);
    free(s->owner);
    free(s->chosen);
    free(s->pair);
    free(s->slid[0]);
    free(s->slid[1]);
}

static uint64_t hash_name(const char *p, size_t n)
{
    return trod_fnv(TROD_FNV, p, n) | 1;
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

/* Whether the user means stream S by NAME: its name, or the number of its thread or cpu. */
static bool is_called(const struct trod_stream *s, const char *name)
{
    char *end;
    uint64_t n = strtoull(name, &end, 10);

    if (strlen(name) == s->name_len && memcmp(name, s->name, s->name_len) == 0)
        return true;
    return end != name && *end == '\0' && n != TROD_NOWHERE && (n == s->tid || n == s->cpu);
}

/* What pair STREAM of side S belongs to, as a key that is the same on both sides. */
static uint64_t key_of(const struct cmp_side *s, const struct cmp_pairs *p, uint32_t stream)
{
    const struct trod_meta *meta = trod_trace_meta(s->trace);
    const struct trod_stream *st = stream < meta->n_streams ? &meta->streams[stream] : NULL;

    for (size_t i = 0; st && i < s->opt->n_pairs; i++) {
        const char *mine = s->side ? s->opt->pairs[i].b : s->opt->pairs[i].a;

        if (is_called(st, mine))
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
    const uint32_t h = trod_map_hash(key);
    uint32_t i;

    for (size_t at = h; trod_map_next(&p->map, h, &at, &i);)
        if (p->key[i] == key)
            return (int)i;
    if (!trod_grow(&p->key, p->n, &p->cap, sizeof *p->key, 8) || !trod_map_put(&p->map, h, p->n))
        return TROD_ERR_NOMEM - 1;
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

/* The streams that the rows at hand are of. */
struct streams {
    const struct trod_stream *s[64];
    size_t n;
};

static void list_streams(const struct cmp_side *s, struct streams *out)
{
    const struct trod_meta *meta = trod_trace_meta(s->trace);

    out->n = 0;
    for (uint32_t i = s->at; s->b && (s->b->have & TROD_COL_STREAM) && i < s->b->n; i++) {
        const struct trod_stream *st =
            s->b->stream[i] < meta->n_streams ? &meta->streams[s->b->stream[i]] : NULL;
        size_t k = 0;

        while (k < out->n && out->s[k] != st)
            k++;
        if (st && k == out->n && k < sizeof out->s / sizeof *out->s)
            out->s[out->n++] = st;
    }
}

/* Whether any stream of A has, by name or number, a fellow in B. */
static bool share(const struct streams *a, const struct streams *b, bool numbers)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            const struct trod_stream *s = a->s[i], *t = b->s[j];

            if (numbers ? number_of(s) != UINT64_MAX && number_of(s) == number_of(t)
                        : s->name_len == t->name_len && memcmp(s->name, t->name, s->name_len) == 0)
                return true;
        }
    return false;
}

void cmp_pairs_choose(struct cmp_pairs *p, const struct cmp_side side[2])
{
    struct streams a, b;

    list_streams(&side[0], &a);
    list_streams(&side[1], &b);
    if (a.n == 0 || b.n == 0 || (a.n == 1 && b.n == 1))
        p->mode = BY_ORDER;
    else
        p->mode = share(&a, &b, false) ? BY_NAME : share(&a, &b, true) ? BY_NUMBER : BY_ORDER;
}

static int pair_of(const struct cmp_side *s, uint32_t stream)
{
    return stream < s->n_pair ? s->pair[stream] : CMP_UNPAIRED;
}

void cmp_pairs_doubt(const struct cmp_pairs *p, const struct cmp_side side[2],
                     struct trod_diag *diag)
{
    const struct trod_meta *a = trod_trace_meta(side[0].trace), *b = trod_trace_meta(side[1].trace);

    for (uint32_t i = 0; p->mode == BY_ORDER && i < a->n_streams; i++)
        for (uint32_t j = 0; j < b->n_streams; j++) {
            const struct trod_stream *s = &a->streams[i], *t = &b->streams[j];

            if (s->name_len != t->name_len || memcmp(s->name, t->name, s->name_len) != 0 ||
                pair_of(&side[0], i) == pair_of(&side[1], j) ||
                pair_of(&side[0], i) == CMP_UNPAIRED || pair_of(&side[1], j) == CMP_UNPAIRED)
                continue;
            trod_warning(diag, TROD_ERR_USAGE, "compare.pairing", NULL,
                         "streams were paired in the order in which they appear, since the first "
                         "rows share no name; both traces have '%s', which was compared with "
                         "another: say --pair %s=%s",
                         s->name, s->name, s->name);
            return;
        }
}
