/*
 * sweep.c - references to all caches of a sweep.
 *
 * Implements sweep.h. References that cross lines are cut for each line size.
 */
#include "sim/sweep.h"

#include <stdlib.h>
#include <string.h>

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
        else
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

static int make(struct trod_sweep *s)
{
    for (uint64_t line = s->line[0]; line <= s->line[1]; line *= 2, s->n_lines++) {
        const uint64_t least = s->size[0] / line / s->ways[1],
                       most = s->size[1] / line / s->ways[0];
        const unsigned first = least ? log2_of(least) : 0, last = log2_of(most);

        s->first[s->n_lines] = first;
        for (unsigned k = 0; k < 2; k++) {
            s->sets[s->n_lines][k] = trod_sets_new(first, last - first + 1, (unsigned)s->ways[1]);
            if (!s->sets[s->n_lines][k])
                return TROD_ERR_NOMEM;
        }
    }
    return 0;
}

int trod_sweep_init(struct trod_sweep *s, const char *text, struct trod_diag *diag)
{
    memset(s, 0, sizeof *s);
    s->size[0] = 4 << 10;
    s->size[1] = 8 << 20;
    s->ways[0] = 1;
    s->ways[1] = 16;
    s->line[0] = s->line[1] = 64;
    if (!read_text(s, text) || s->line[0] < 4 || s->line[1] / s->line[0] > 128 ||
        s->ways[1] > TROD_SETS_WAYS || s->size[1] > UINT64_C(1) << 32 ||
        s->size[0] < s->line[1] * s->ways[0])
        return trod_error(diag, TROD_ERR_USAGE, "cache.sweep", NULL,
                          "a sweep is size=A..B,ways=A..B,line=A..B of powers of two, at most 64 "
                          "ways, 8 line sizes and 4 GiB, with room for a set in the smallest "
                          "cache: '%s'",
                          text);
    return make(s);
}

void trod_sweep_fini(struct trod_sweep *s)
{
    for (unsigned i = 0; i < s->n_lines || (i < TROD_SWEEP_LINES && s->sets[i][0]); i++)
        for (unsigned k = 0; k < 2; k++)
            trod_sets_free(s->sets[i][k]);
}

static void drain(struct trod_sweep *s, unsigned i, unsigned k)
{
    trod_sets_feed(s->sets[i][k], s->buffer[i][k], one_class, s->n[i][k]);
    s->refs[i][k] += s->n[i][k];
    s->n[i][k] = 0;
}

void trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n)
{
    const unsigned bits = log2_of(s->line[0]);

    for (const struct trod_sim_ref *end = r + n; r < end; r++) {
        const unsigned k = r->op != TROD_OP_FETCH;

        if (r->op > TROD_OP_WRITE || r->size == 0)
            continue;
        for (unsigned i = 0; i < s->n_lines; i++) {
            const uint64_t last = (r->addr + r->size - 1) >> (bits + i);

            for (uint64_t line = r->addr >> (bits + i); line <= last; line++) {
                s->buffer[i][k][s->n[i][k]++] = line;
                if (s->n[i][k] == TROD_SWEEP_BATCH)
                    drain(s, i, k);
            }
        }
    }
}

void trod_sweep_end(struct trod_sweep *s)
{
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2; k++)
            drain(s, i, k);
}

uint64_t trod_sweep_misses(const struct trod_sweep *s, unsigned data, uint64_t size, uint64_t ways,
                           uint64_t line)
{
    const unsigned i = log2_of(line) - log2_of(s->line[0]);

    return trod_sets_misses(s->sets[i][data], log2_of(size / line / ways) - s->first[i],
                            (unsigned)ways, 1);
}

void trod_sweep_report(const struct trod_sweep *s, struct trod_result *r)
{
    static const char *const columns[] = {"stream", "line",       "size",   "ways",
                                          "sets",   "references", "misses", "percent"};

    trod_result_counts(r, "sweep", "LRU caches", columns, 8);
    for (unsigned k = 0; k < 2; k++)
        for (uint64_t line = s->line[0]; line <= s->line[1]; line *= 2)
            for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2)
                for (uint64_t ways = s->ways[0]; ways <= s->ways[1] && ways * line <= size;
                     ways *= 2) {
                    const uint64_t refs = s->refs[log2_of(line) - log2_of(s->line[0])][k];
                    const uint64_t misses = trod_sweep_misses(s, k, size, ways, line);

                    trod_result_str(r, NULL, k ? "data" : "code");
                    trod_result_u64(r, NULL, line);
                    trod_result_u64(r, NULL, size);
                    trod_result_u64(r, NULL, ways);
                    trod_result_u64(r, NULL, size / line / ways);
                    trod_result_u64(r, NULL, refs);
                    trod_result_u64(r, NULL, misses);
                    trod_result_f64(r, NULL, refs ? (double)misses * 100 / (double)refs : 0, 3);
                    trod_result_row_end(r);
                }
    trod_result_table_close(r);
}
