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

/* Read TEXT up to what is wrong in it, *PART. Returns what that is, or NULL. */
static const char *read_text(struct trod_sweep *s, const char *text, const char **part)
{
    static const char *const names[] = {"size=", "ways=", "line=", "policy="};
    uint64_t *const of[] = {s->size, s->ways, s->line};
    unsigned seen = 0;

    while (*text) {
        unsigned k = 0;

        *part = text;
        while (k < 4 && strncmp(text, names[k], strlen(names[k])) != 0)
            k++;
        if (k == 4)
            return "neither size=, ways=, line= nor policy=";
        if (seen >> k & 1)
            return "this is said twice";
        seen |= 1U << k;
        text += strlen(names[k]);
        if (k == 3 && (!policies(s, &text) || (*text && *text != ',')))
            return "expected different policies but opt, with + between them";
        if (k < 3 && (!range(&text, of[k]) || (*text && *text != ',')))
            return "expected A..B, or A alone: powers of two, A not above B";
        text += *text == ',';
    }
    return NULL;
}

/* What caches the ranges of S cannot have, or NULL. */
static const char *beyond(const struct trod_sweep *s)
{
    if (s->line[0] < 4)
        return "a line has 4 bytes at least";
    if (s->line[1] / s->line[0] >> TROD_SWEEP_LINES)
        return "a sweep has 8 sizes of lines at most";
    if (s->ways[1] > TROD_SETS_WAYS)
        return "a cache of a sweep has 64 ways at most";
    if (s->size[1] > UINT64_C(1) << 32)
        return "a cache of a sweep has 4 GiB at most";
    if (s->size[0] / s->ways[0] < s->line[1])
        return "the smallest cache has no room for one set of the longest lines";
    return NULL;
}

/* The ranges of TEXT. Returns what is wrong, in *PART if that is not NULL, or NULL. */
static const char *ranges(struct trod_sweep *s, const char *text, const char **part)
{
    const char *wrong;

    *part = NULL;
    memset(s, 0, sizeof *s);
    s->size[0] = 4 << 10;
    s->size[1] = 8 << 20;
    s->ways[0] = 1;
    s->ways[1] = 16;
    s->line[0] = s->line[1] = 64;
    s->n_policies = 1; /* LRU, number 0 */
    s->shards = 1;
    memset(s->last, UINT8_MAX, sizeof s->last); /* no line */
    if ((wrong = read_text(s, text, part)) != NULL)
        return wrong;
    *part = NULL;
    if ((wrong = beyond(s)) != NULL)
        return wrong;
    s->bits = trod_sweep_log2(s->line[0]);
    s->n_lines = trod_sweep_log2(s->line[1] / s->line[0]) + 1;
    s->by_rows = s->line[0] >= TROD_TOUCHED_LINE;
    for (unsigned p = 0; p < s->n_policies; p++)
        s->by_rows = s->by_rows && !trod_walk_notices(s->policy[p]);
    return NULL;
}

bool trod_sweep_ranges(struct trod_sweep *s, const char *text)
{
    const char *part;

    return !ranges(s, text, &part);
}

/* The ranges of TEXT; what is wrong is said. */
static int read_ranges(struct trod_sweep *s, const char *text, struct trod_diag *diag)
{
    const char *part, *const wrong = ranges(s, text, &part);

    if (!wrong)
        return 0;
    return trod_error(diag, TROD_ERR_USAGE, "cache.sweep", NULL,
                      "a sweep is size=A..B,ways=A..B,line=A..B,policy=P+P: %s: '%.*s'", wrong,
                      (int)(part ? strcspn(part, ",") : strlen(text)), part ? part : text);
}

int trod_sweep_init(struct trod_sweep *s, const char *text, unsigned shard, unsigned shards,
                    struct trod_diag *diag)
{
    int rc = read_ranges(s, text, diag);

    if (rc < 0)
        return rc;
    s->shard = shard;
    s->shards = shards;
    rc = trod_sweep_make(s);
    trod_sweep_begin_rows(s);
    return rc;
}

int trod_sweep_init_part(struct trod_sweep *s, const char *text, struct trod_diag *diag)
{
    int rc = read_ranges(s, text, diag);

    if (rc < 0)
        return rc;
    rc = trod_sweep_make_part(s);
    trod_sweep_begin_rows(s);
    return rc;
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
    trod_kept_free(&s->kept);
}

/* --- references --- */

void trod_sweep_caches(struct trod_sweep *s, unsigned i, unsigned k)
{
    if (s->mine[i] >> k & 1)
        trod_sets_feed(s->sets[i][k], s->buffer[i][k], one_class, s->n[i][k]);
    if (s->walk[i][k])
        trod_walk_feed(s->walk[i][k], s->buffer[i][k], s->n[i][k]);
}

static void drain(struct trod_sweep *s, unsigned i, unsigned k)
{
    trod_sweep_caches(s, i, k);
    if (s->class_bits || !s->shard) /* parts by cache see all references */
        s->refs[i][k] += s->n[i][k];
    s->n[i][k] = 0;
}

static inline void take(struct trod_sweep *s, unsigned i, unsigned k, uint64_t line)
{
    s->buffer[i][k][s->n[i][k]++] = line;
    if (s->n[i][k] == TROD_SWEEP_BATCH)
        drain(s, i, k);
}

/*
 * Does this part count LINE of line size number I? If so, it becomes the number that its caches
 * know it by.
 */
static inline bool is_mine(const struct trod_sweep *s, unsigned i, uint64_t *line)
{
    const unsigned low = s->n_lines - 1 - i; /* bits below the number of the longest line */
    const uint64_t longest = *line >> low;

    *line = longest >> s->class_bits << low | (*line & ((UINT64_C(1) << low) - 1));
    return (longest & ((UINT64_C(1) << s->class_bits) - 1)) == s->shard;
}

int trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n)
{
    const unsigned bits = s->bits;

    for (const struct trod_sim_ref *end = r + n; r < end; r++) {
        const unsigned k = r->op != TROD_OP_FETCH;

        if (r->op > TROD_OP_WRITE || r->size == 0)
            continue;
        for (unsigned i = 0; i < s->n_lines; i++) {
            const uint64_t lines = UINT64_MAX >> (bits + i); /* behind this one comes line 0 */
            const uint64_t first = r->addr >> (bits + i);
            const uint64_t more = (((r->addr + r->size - 1) >> (bits + i)) - first) & lines;

            for (uint64_t j = 0; j <= more; j++) {
                uint64_t own = (first + j) & lines;

                if (!s->class_bits || is_mine(s, i, &own))
                    take(s, i, k, own);
            }
        }
    }
    return trod_sweep_failed(s) ? TROD_ERR_NOMEM : 0;
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
    const unsigned i = trod_sweep_log2(line) - trod_sweep_log2(s->line[0]);

    size >>= s->class_bits;
    if (policy != TROD_REPL_LRU)
        return trod_walk_misses(s->walk[i][data], policy, size / line / ways, ways);
    return trod_sets_misses(s->sets[i][data], trod_sweep_log2(size / line / ways) - s->first[i],
                            (unsigned)ways, 1);
}

/* --- results --- */

static void one_row(const struct trod_sweep *s, unsigned k, unsigned policy, uint64_t size,
                    uint64_t ways, uint64_t line, struct trod_result *r)
{
    const uint64_t refs = s->refs[trod_sweep_log2(line) - trod_sweep_log2(s->line[0])][k];
    const uint64_t misses = trod_sweep_misses(s, k, size, ways, line, policy);

    trod_result_str(r, NULL, k ? "data" : "code");
    trod_result_str(r, NULL, trod_repl_name(policy));
    trod_result_u64(r, NULL, line);
    trod_result_u64(r, NULL, size);
    trod_result_u64(r, NULL, ways);
    trod_result_u64(r, NULL, size / line / ways);
    trod_result_u64(r, NULL, refs);
    trod_result_u64(r, NULL, misses);
    if (refs)
        trod_result_f64(r, NULL, (double)misses * 100 / (double)refs, 3);
    else
        trod_result_absent(r);
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
    const double refs = (double)s->refs[trod_sweep_log2(line) - trod_sweep_log2(s->line[0])][k];
    double x[SIZES], y[WAYS][SIZES];
    struct trod_chart_curve curve[WAYS];
    char label[WAYS][16];
    struct trod_chart c = {.x = x, .unit = 1, .curve = curve, .width = width};

    for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2)
        x[c.n++] = trod_sweep_log2(size);
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

    if (s->refs[0][0] + s->refs[0][1] == 0)
        return trod_buf_printf(out, "no references\n");
    for (unsigned k = 0; k < 2; k++)
        for (unsigned p = 0; p < s->n_policies; p++)
            for (uint64_t line = s->line[0]; rc == 0 && line <= s->line[1]; line *= 2)
                if (s->refs[trod_sweep_log2(line) - trod_sweep_log2(s->line[0])][k])
                    rc = chart(s, k, s->policy[p], line, width, out);
    return rc;
}
