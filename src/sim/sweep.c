/*
 * sweep.c - references to all caches of a sweep.
 *
 * Implements sweep.h. References that cross lines are cut for each line size.
 */
#include "sim/sweep.h"

#include "core/chart.h"
#include "trod/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASS_BITS = 6, SIZES = 34, WAYS = 7 };

static const uint8_t one_class[TROD_SWEEP_BATCH];

static bool size_of(const char **text, uint64_t *v)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    *v = strtoull(*text, &end, 10);
    if (*end && strchr("kK", *end))
        *v <<= 10, end++;
    else if (*end && strchr("mM", *end))
        *v <<= 20, end++;
    else if (*end && strchr("gG", *end))
        *v <<= 30, end++;
    *text = end;
    return *v && !(*v & (*v - 1));
}

/* "lru+fifo". */
static bool policies(struct trod_sweep *s, const char **text)
{
    const char *end = *text + strcspn(*text, ",");

    s->n_policies = 0;
    while (*text < end) {
        const size_t len = strcspn(*text, "+,");
        const int kind = trod_repl_find(*text, len);

        if (kind < 0 || kind == TROD_REPL_OPT || memchr(s->policy, kind, s->n_policies))
            return false;
        s->policy[s->n_policies++] = (uint8_t)kind;
        *text += len + (*text + len < end);
    }
    return s->n_policies > 0 && end[-1] != '+';
}

/* "A..B" or "A". */
static bool range(const char **text, uint64_t v[2])
{
    if (!size_of(text, &v[0]))
        return false;
    v[1] = v[0];
    if (strncmp(*text, "..", 2) != 0)
        return true;
    *text += 2;
    return size_of(text, &v[1]) && v[1] >= v[0];
}

static bool read_text(struct trod_sweep *s, const char *text)
{
    while (*text) {
        uint64_t *v = NULL;

        if (strncmp(text, "size=", 5) == 0)
            v = s->size;
        else if (strncmp(text, "ways=", 5) == 0)
            v = s->ways;
        else if (strncmp(text, "line=", 5) == 0)
            v = s->line;
        else if (strncmp(text, "policy=", 7) == 0) {
            text += 7;
            if (!policies(s, &text) || (*text && *text != ','))
                return false;
            text += *text == ',';
            continue;
        } else
            return false;
        text += 5;
        if (!range(&text, v) || (*text && *text != ','))
            return false;
        text += *text == ',';
    }
    return true;
}

static unsigned log2_of(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}

/* The caches of line size number I and stream K that are no stack. */
static int make_walk(struct trod_sweep *s, unsigned i, unsigned k)
{
    const uint64_t line = s->line[0] << i;
    struct trod_walk *w = s->walk[i][k] = calloc(1, sizeof *w);
    int rc = w ? trod_walk_init(w, UINT64_C(1) << s->first[i]) : TROD_ERR_NOMEM;

    for (unsigned p = 0; p < s->n_policies; p++)
        for (uint64_t size = s->size[0]; s->policy[p] && size <= s->size[1]; size *= 2)
            for (uint64_t ways = s->ways[0]; rc == 0 && ways <= s->ways[1] && ways * line <= size;
                 ways *= 2)
                rc = trod_walk_add(w, s->policy[p], size / line / ways, ways);
    return rc;
}

static int make(struct trod_sweep *s)
{
    const bool lru = memchr(s->policy, TROD_REPL_LRU, s->n_policies);
    int rc;

    s->bits = log2_of(s->line[0]);
    s->by_rows = s->line[0] >= TROD_TOUCHED_LINE;
    for (unsigned p = 0; p < s->n_policies; p++)
        s->by_rows = s->by_rows && !trod_walk_notices(s->policy[p]);
    for (uint64_t line = s->line[0]; line <= s->line[1]; line *= 2, s->n_lines++) {
        const unsigned i = s->n_lines;
        const uint64_t least = s->size[0] / line / s->ways[1],
                       most = s->size[1] / line / s->ways[0];
        const unsigned first = least ? log2_of(least) : 0, last = log2_of(most);

        s->first[i] = first;
        for (unsigned k = 0; k < 2; k++) {
            if (lru &&
                !(s->sets[i][k] = trod_sets_new(first, last - first + 1, (unsigned)s->ways[1])))
                return TROD_ERR_NOMEM;
            if (s->n_policies > lru && (rc = make_walk(s, i, k)) < 0)
                return rc;
        }
    }
    trod_sweep_begin_rows(s);
    return 0;
}

/* The ranges of TEXT; false: it has none. */
static bool ranges(struct trod_sweep *s, const char *text)
{
    memset(s, 0, sizeof *s);
    s->size[0] = 4 << 10;
    s->size[1] = 8 << 20;
    s->ways[0] = 1;
    s->ways[1] = 16;
    s->line[0] = s->line[1] = 64;
    s->n_policies = 1; /* LRU, number 0 */
    s->shards = 1;
    memset(s->last, UINT8_MAX, sizeof s->last); /* no line */
    return read_text(s, text) && s->line[0] >= 4 && s->line[1] / s->line[0] <= 128 &&
           s->ways[1] <= TROD_SETS_WAYS && s->size[1] <= UINT64_C(1) << 32 &&
           s->size[0] >= s->line[1] * s->ways[0];
}

int trod_sweep_init(struct trod_sweep *s, const char *text, struct trod_diag *diag)
{
    if (!ranges(s, text))
        return trod_error(diag, TROD_ERR_USAGE, "cache.sweep", NULL,
                          "a sweep is size=A..B,ways=A..B,line=A..B of powers of two, at most 64 "
                          "ways, 8 line sizes and 4 GiB, with room for a set in the smallest "
                          "cache, and policy=P+P of different policies but opt: '%s'",
                          text);
    return make(s);
}

void trod_sweep_fini(struct trod_sweep *s)
{
    for (unsigned i = 0; i < TROD_SWEEP_LINES; i++)
        for (unsigned k = 0; k < 2; k++) {
            trod_sets_free(s->sets[i][k]);
            if (s->walk[i][k])
                trod_walk_fini(s->walk[i][k]);
            free(s->walk[i][k]);
        }
}

/* --- parts --- */

/*
 * log2 of the number of parts that line numbers can be divided into so that no cache has a set in
 * two parts; 0: none.
 */
static unsigned class_bits(const struct trod_sweep *s)
{
    const uint64_t least = s->size[0] / s->line[1] / s->ways[1];
    const unsigned sets = least ? log2_of(least) : 0;

    for (unsigned p = 0; p < s->n_policies; p++)
        if (!trod_walk_apart(s->policy[p]))
            return 0;
    /* bits of the longest line's number, which are in the number of every shorter line's set */
    return sets < CLASS_BITS ? sets : CLASS_BITS;
}

unsigned trod_sweep_shards(const char *text, unsigned jobs)
{
    struct trod_sweep *s = malloc(sizeof *s);
    unsigned most = 1;

    if (s && ranges(s, text)) {
        const unsigned bits = class_bits(s);

        most = bits ? 1u << bits : 2 * (log2_of(s->line[1] / s->line[0]) + 1);
    }
    free(s);
    return jobs < most ? jobs : most;
}

void trod_sweep_take(struct trod_sweep *s, unsigned shard, unsigned shards)
{
    s->shard = shard;
    s->shards = shards;
    s->class_bits = shards > 1 ? class_bits(s) : 0;
}

void trod_sweep_sum(struct trod_sweep *s, const struct trod_sweep *other)
{
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2; k++) {
            s->refs[i][k] += other->refs[i][k];
            if (s->sets[i][k])
                trod_sets_sum(s->sets[i][k], other->sets[i][k]);
            if (s->walk[i][k])
                trod_walk_sum(s->walk[i][k], other->walk[i][k]);
        }
}

/* --- references --- */

void trod_sweep_caches(struct trod_sweep *s, unsigned i, unsigned k)
{
    if (s->sets[i][k])
        trod_sets_feed(s->sets[i][k], s->buffer[i][k], one_class, s->n[i][k]);
    if (s->walk[i][k])
        trod_walk_feed(s->walk[i][k], s->buffer[i][k], s->n[i][k]);
}

static void drain(struct trod_sweep *s, unsigned i, unsigned k)
{
    trod_sweep_caches(s, i, k);
    s->refs[i][k] += s->n[i][k];
    s->n[i][k] = 0;
}

static inline void take(struct trod_sweep *s, unsigned i, unsigned k, uint64_t line)
{
    s->buffer[i][k][s->n[i][k]++] = line;
    if (s->n[i][k] == TROD_SWEEP_BATCH)
        drain(s, i, k);
}

/* Does this part count LINE of line size number I and stream K? */
static bool is_mine(const struct trod_sweep *s, unsigned i, unsigned k, uint64_t line)
{
    if (s->class_bits == 0)
        return (2 * i + k) % s->shards == s->shard;
    line >>= s->n_lines - 1 - i; /* the number of the longest line */
    return (line & ((UINT64_C(1) << s->class_bits) - 1)) % s->shards == s->shard;
}

int trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n)
{
    const unsigned bits = s->bits;
    bool failed = false;

    for (const struct trod_sim_ref *end = r + n; r < end; r++) {
        const unsigned k = r->op != TROD_OP_FETCH;

        if (r->op > TROD_OP_WRITE || r->size == 0)
            continue;
        for (unsigned i = 0; i < s->n_lines; i++) {
            const uint64_t last = (r->addr + r->size - 1) >> (bits + i);

            for (uint64_t line = r->addr >> (bits + i); line <= last; line++)
                if (s->shards == 1 || is_mine(s, i, k, line))
                    take(s, i, k, line);
        }
    }
    for (unsigned i = 0; i < s->n_lines; i++)
        failed = failed || (s->walk[i][0] && (s->walk[i][0]->failed || s->walk[i][1]->failed));
    return failed ? TROD_ERR_NOMEM : 0;
}

void trod_sweep_end(struct trod_sweep *s)
{
    trod_sweep_end_rows(s);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < s->n_lines; i++)
            drain(s, i, k);
}

void trod_sweep_restart(struct trod_sweep *s)
{
    trod_sweep_end(s);
    memset(s->refs, 0, sizeof s->refs);
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2; k++) {
            if (s->sets[i][k])
                trod_sets_restart(s->sets[i][k]);
            for (size_t w = 0; s->walk[i][k] && w < s->walk[i][k]->n; w++)
                s->walk[i][k]->cache[w].misses = 0;
        }
}

uint64_t trod_sweep_misses(const struct trod_sweep *s, unsigned data, uint64_t size, uint64_t ways,
                           uint64_t line, unsigned policy)
{
    const unsigned i = log2_of(line) - log2_of(s->line[0]);

    if (policy != TROD_REPL_LRU)
        return trod_walk_misses(s->walk[i][data], policy, size / line / ways, ways);
    return trod_sets_misses(s->sets[i][data], log2_of(size / line / ways) - s->first[i],
                            (unsigned)ways, 1);
}

/* --- results --- */

static void one_row(const struct trod_sweep *s, unsigned k, unsigned policy, uint64_t size,
                    uint64_t ways, uint64_t line, struct trod_result *r)
{
    const uint64_t refs = s->refs[log2_of(line) - log2_of(s->line[0])][k];
    const uint64_t misses = trod_sweep_misses(s, k, size, ways, line, policy);

    trod_result_str(r, NULL, k ? "data" : "code");
    trod_result_str(r, NULL, trod_repl_name(policy));
    trod_result_u64(r, NULL, line);
    trod_result_u64(r, NULL, size);
    trod_result_u64(r, NULL, ways);
    trod_result_u64(r, NULL, size / line / ways);
    trod_result_u64(r, NULL, refs);
    trod_result_u64(r, NULL, misses);
    trod_result_f64(r, NULL, refs ? (double)misses * 100 / (double)refs : 0, 3);
    trod_result_row_end(r);
}

void trod_sweep_report(const struct trod_sweep *s, struct trod_result *r)
{
    static const char *const columns[] = {"stream", "policy",     "line",   "size",   "ways",
                                          "sets",   "references", "misses", "percent"};

    trod_result_counts(r, "sweep", "Caches", columns, 9);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned p = 0; p < s->n_policies; p++)
            for (uint64_t line = s->line[0]; line <= s->line[1]; line *= 2)
                for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2)
                    for (uint64_t ways = s->ways[0]; ways <= s->ways[1] && ways * line <= size;
                         ways *= 2)
                        one_row(s, k, s->policy[p], size, ways, line, r);
    trod_result_table_close(r);
}

/* One chart: the misses of stream K with POLICY and LINE, a curve for each number of ways. */
static int chart(const struct trod_sweep *s, unsigned k, unsigned policy, uint64_t line,
                 unsigned width, struct trod_buf *out)
{
    const double refs = (double)s->refs[log2_of(line) - log2_of(s->line[0])][k];
    double x[SIZES], y[WAYS][SIZES];
    struct trod_chart_curve curve[WAYS];
    char label[WAYS][16];
    struct trod_chart c = {.x = x, .unit = 1, .curve = curve, .width = width};

    for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2)
        x[c.n++] = log2_of(size);
    for (uint64_t ways = s->ways[0]; ways <= s->ways[1]; ways *= 2) {
        const size_t w = c.curves++;
        size_t n = 0;

        for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2, n++)
            y[w][n] = ways * line > size
                          ? -1 /* no such cache */
                          : (double)trod_sweep_misses(s, k, size, ways, line, policy) / refs;
        snprintf(label[w], sizeof label[w], "%u way%s", (unsigned)ways, ways > 1 ? "s" : "");
        curve[w] = (struct trod_chart_curve){y[w], label[w]};
    }
    if (trod_buf_printf(out, "miss ratio of %s caches for %s, lines of %u bytes, by their size\n\n",
                        trod_repl_name(policy), k ? "data" : "code", (unsigned)line) < 0)
        return TROD_ERR_NOMEM;
    return trod_chart_draw(&c, out) < 0 || trod_buf_printf(out, "\n") < 0 ? TROD_ERR_NOMEM : 0;
}

int trod_sweep_chart(const struct trod_sweep *s, unsigned width, struct trod_buf *out)
{
    int rc = 0;

    for (unsigned k = 0; k < 2; k++)
        for (unsigned p = 0; p < s->n_policies; p++)
            for (uint64_t line = s->line[0]; rc == 0 && line <= s->line[1]; line *= 2)
                if (s->refs[log2_of(line) - log2_of(s->line[0])][k])
                    rc = chart(s, k, s->policy[p], line, width, out);
    return rc;
}
