/*
 * save.c - states of "phases" put together, and as bytes (phases.h).
 *
 * A part is some whole files: an interval ends with its file, so intervals of parts are those of
 * the whole once they have one length. What the cache held when a part began is not known to the
 * part: it keeps the first access to each line by a set that was not full (cold), which is a hit or
 * a miss once the parts before it are there.
 */
#include "analysis/phases/phases.h"

#include "core/pack.h"

#include <string.h>

/* ---- the cache */

static unsigned ways_of(const uint64_t *set)
{
    unsigned n = 0;

    while (n < PHASES_WAYS && set[n] != PHASES_NO_LINE)
        n++;
    return n;
}

/*
 * Would the access to C[K], behind those before it, hit what SET, of N lines, held before? The
 * lines before it in C are in front of SET's.
 */
static bool hits(const struct phases_cold *c, unsigned k, const uint64_t *set, unsigned n)
{
    unsigned depth = k;

    for (unsigned i = 0; i < n; i++) {
        bool moved = false;

        if (set[i] == c[k].line)
            return depth < PHASES_WAYS;
        for (unsigned j = 0; j < k && !moved; j++)
            moved = c[j].line == set[i];
        depth += !moved;
    }
    return false;
}

static bool holds(const uint64_t *set, unsigned n, uint64_t line)
{
    unsigned i = 0;

    while (i < n && set[i] != line)
        i++;
    return i < n;
}

/* Set SET of S becomes what it is behind T, whose intervals follow those of S, BASE of them. */
static void merge_set(struct phases_state *s, const struct phases_state *t, unsigned set,
                      size_t base)
{
    uint64_t *const had = s->line[set], now[PHASES_WAYS];
    const unsigned n = ways_of(had);
    const struct phases_cold *c = t->cold[set];
    unsigned k = ways_of(t->line[set]);

    for (unsigned i = 0; i < t->n_cold[set]; i++) {
        const size_t interval = base + c[i].interval;
        struct phases_interval *of = interval < s->n ? &s->interval[interval] : &s->now;

        if (hits(c, i, had, n) && of->misses)
            of->misses--;
        if (s->n_cold[set] < PHASES_WAYS && !holds(had, n, c[i].line))
            s->cold[set][s->n_cold[set]++] = (struct phases_cold){c[i].line, interval};
    }
    memset(now, 0xff, sizeof now);
    memcpy(now, t->line[set], k * sizeof *now);
    for (unsigned i = 0; i < n && k < PHASES_WAYS; i++)
        if (!holds(t->line[set], ways_of(t->line[set]), had[i]))
            now[k++] = had[i];
    memcpy(had, now, sizeof now);
}

/* ---- intervals */

static void add_now(struct phases_interval *to, const struct phases_interval *now)
{
    to->accesses += now->accesses;
    to->misses += now->misses;
}

/* The intervals of T, which have the length of those of S, behind them. */
static int append(struct phases_state *s, const struct phases_state *t)
{
    const size_t dims = s->dims, base = s->n;

    if (phases_room(s, s->n + t->n) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->n; i++) {
        s->interval[s->n] = t->interval[i];
        memcpy(s->vector + s->n++ * dims, t->vector + i * dims, dims * sizeof *s->vector);
    }
    s->n_begin += t->n_begin;
    if (t->n) { /* accesses of files without instructions belong to what follows */
        add_now(&s->interval[base], &s->now);
        s->now = t->now;
    } else {
        add_now(&s->now, &t->now);
    }
    for (unsigned set = 0; set < PHASES_SETS; set++)
        merge_set(s, t, set, base);
    return phases_shorten(s, false);
}

/* Of FROM only its intervals become longer: they say the same. */
int phases_merge(void *into, const void *from)
{
    struct phases_state *s = into, *t = (struct phases_state *)(uintptr_t)from;
    int rc = phases_end_interval(s);

    if (rc == TROD_OK)
        rc = phases_end_interval(t);
    if (rc == TROD_OK)
        rc = phases_lengthen(s, t->length);
    if (rc == TROD_OK)
        rc = phases_lengthen(t, s->length);
    return rc == TROD_OK ? append(s, t) : rc;
}

/* ---- bytes */

static int pack_signed(struct trod_buf *out, int64_t v)
{
    return trod_pack(out, trod_zigzag((uint64_t)v, 0));
}

static bool unpack_signed(struct trod_span *in, int64_t *v)
{
    uint64_t u;

    if (trod_unpack(in, &u) < 0)
        return false;
    *v = (int64_t)trod_unzigzag(u, 0);
    return true;
}

static int save_interval(const struct phases_interval *v, const double *vector, size_t dims,
                         struct trod_buf *out)
{
    int rc = trod_pack(out, v->begins);

    if (rc == TROD_OK)
        rc = trod_pack(out, v->instructions);
    if (rc == TROD_OK)
        rc = trod_pack(out, v->accesses);
    if (rc == TROD_OK)
        rc = trod_pack(out, v->misses);
    for (unsigned c = 0; rc == TROD_OK && c < PHASES_CATEGORIES; c++)
        rc = trod_pack(out, v->category[c]);
    for (size_t d = 0; vector && rc == TROD_OK && d < dims; d++)
        rc = pack_signed(out, (int64_t)(vector[d] / PHASES_STEP));
    return rc;
}

static int save_set(const struct phases_state *s, unsigned set, struct trod_buf *out)
{
    const unsigned n = ways_of(s->line[set]);
    int rc = trod_pack(out, n);

    for (unsigned i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, s->line[set][i]);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->n_cold[set]);
    for (unsigned i = 0; rc == TROD_OK && i < s->n_cold[set]; i++) {
        rc = trod_pack(out, s->cold[set][i].line);
        if (rc == TROD_OK)
            rc = trod_pack(out, s->cold[set][i].interval);
    }
    return rc;
}

/*
 * Dimensions; length, number of intervals, and each: is it the first of a file, instructions,
 * accesses, misses, categories, vector in multiples of PHASES_STEP. The same, without a vector, of
 * what no interval has. Of each set of the cache its lines and first accesses.
 */
int phases_save(const void *st, struct trod_buf *out)
{
    struct phases_state *s = (struct phases_state *)(uintptr_t)st;
    int rc = phases_end_interval(s);

    if (rc == TROD_OK)
        rc = trod_pack(out, s->dims);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->length);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->n);
    for (size_t i = 0; rc == TROD_OK && i < s->n; i++)
        rc = save_interval(&s->interval[i], s->vector + i * s->dims, s->dims, out);
    if (rc == TROD_OK)
        rc = save_interval(&s->now, NULL, 0, out);
    for (unsigned set = 0; rc == TROD_OK && set < PHASES_SETS; set++)
        rc = save_set(s, set, out);
    return rc;
}

static bool load_interval(struct trod_span *in, struct phases_interval *v, double *vector,
                          size_t dims)
{
    uint64_t begins;

    *v = (struct phases_interval){.first = 0};
    if (trod_unpack(in, &begins) < 0 || begins > 1 || trod_unpack(in, &v->instructions) < 0 ||
        trod_unpack(in, &v->accesses) < 0 || trod_unpack(in, &v->misses) < 0 ||
        v->misses > v->accesses)
        return false;
    v->begins = begins;
    for (unsigned c = 0; c < PHASES_CATEGORIES; c++)
        if (trod_unpack(in, &v->category[c]) < 0)
            return false;
    for (size_t d = 0; vector && d < dims; d++) {
        int64_t n;

        if (!unpack_signed(in, &n))
            return false;
        vector[d] = (double)n * PHASES_STEP;
    }
    return true;
}

static bool load_set(struct phases_state *s, unsigned set, struct trod_span *in)
{
    uint64_t n, cold, v;

    if (trod_unpack(in, &n) < 0 || n > PHASES_WAYS)
        return false;
    memset(s->line[set], 0xff, sizeof s->line[set]);
    for (unsigned i = 0; i < n; i++)
        if (trod_unpack(in, &s->line[set][i]) < 0 || s->line[set][i] == PHASES_NO_LINE)
            return false;
    if (trod_unpack(in, &cold) < 0 || cold > n)
        return false;
    s->n_cold[set] = (uint8_t)cold;
    for (unsigned i = 0; i < cold; i++) {
        if (trod_unpack(in, &s->cold[set][i].line) < 0 || trod_unpack(in, &v) < 0 || v > s->n)
            return false;
        s->cold[set][i].interval = (size_t)v;
    }
    return true;
}

static bool is_length(uint64_t length)
{
    uint64_t v = PHASES_FIRST;

    while (v < length && v < UINT64_MAX / 2)
        v *= 2;
    return v == length;
}

int phases_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct phases_state *s = st;
    uint64_t dims, n;

    (void)sites;
    if (trod_unpack(&in, &dims) < 0 || dims == 0 || dims > PHASES_DIMS ||
        (s->dims && dims != s->dims) || trod_unpack(&in, &s->length) < 0 || !is_length(s->length) ||
        trod_unpack(&in, &n) < 0 || n > in.n)
        return TROD_ERR_CORRUPT;
    s->dims = (size_t)dims;
    s->n = s->n_begin = 0;
    if (phases_room(s, (size_t)n) < 0)
        return TROD_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        struct phases_interval *v = &s->interval[s->n];

        if (!load_interval(&in, v, s->vector + s->n * s->dims, s->dims) || v->instructions == 0)
            return TROD_ERR_CORRUPT;
        s->n_begin += v->begins;
        s->n++;
    }
    if (!load_interval(&in, &s->now, NULL, 0) || s->now.instructions != 0)
        return TROD_ERR_CORRUPT;
    for (unsigned set = 0; set < PHASES_SETS; set++)
        if (!load_set(s, set, &in))
            return TROD_ERR_CORRUPT;
    return in.n ? TROD_ERR_CORRUPT : TROD_OK;
}
