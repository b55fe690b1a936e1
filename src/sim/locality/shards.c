/*
 * shards.c - stack distances of a sample of the lines (shards.h).
 */
#include "shards.h"

#include "filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 4096,     /* references filtered at a time */
    LINE_BYTES = 128, /* of memory for a line of the sample, all tables at their emptiest */
    LEAST = 64,       /* lines, in however little memory */
    SLACK_LOG = 4     /* a share of 1 in 2^4 of the lines makes room when the sample is full */
};

#define HASH_ONCE  UINT64_C(0xff51afd7ed558ccd)
#define HASH_AGAIN UINT64_C(0xc4ceb9fe1a85ec53)

/* Two rounds of multiplying and folding, so that regular strides are spread too. */
static inline uint64_t hash(uint64_t line)
{
    uint64_t h = line * HASH_ONCE;

    h ^= h >> 32;
    h *= HASH_AGAIN;
    return h ^ h >> 29;
}

double trod_shards_rate(const struct trod_shards *s)
{
    return ((double)s->limit + 1) * 0x1p-64;
}

/* Distances in the sample are those of all lines times the rate. */
static void set_resident(struct trod_shards *s)
{
    const double lines = ceil((double)s->resident * trod_shards_rate(s));

    s->stack->opt.resident = s->resident ? (uint32_t)lines : 0;
}

struct trod_shards *trod_shards_new(double rate, uint64_t most, uint32_t resident)
{
    const struct trod_stack_options opt = {.resident = resident};
    struct trod_shards *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->limit = rate >= 1 ? UINT64_MAX : (uint64_t)(rate * 0x1p64);
    s->most = most;
    s->stack = trod_stack_new(&opt);
    s->bin = calloc(TROD_BINS, sizeof *s->bin);
    s->line = calloc(BLOCK + 1, sizeof *s->line);
    s->touched = calloc(BLOCK + 1, sizeof *s->touched);
    s->class = calloc(BLOCK + 1, sizeof *s->class);
    s->out = calloc(2 * (BLOCK + 1) + 8, sizeof *s->out);
    if (!s->stack || !s->bin || !s->line || !s->touched || !s->class || !s->out) {
        trod_shards_free(s);
        return NULL;
    }
    s->resident = resident;
    set_resident(s);
    return s;
}

void trod_shards_free(struct trod_shards *s)
{
    if (!s)
        return;
    trod_stack_free(s->stack);
    free(s->bin);
    free(s->line);
    free(s->touched);
    free(s->class);
    free(s->out);
    free(s);
}

/* What a sampler takes without a line. */
static const uint64_t fixed = TROD_BINS * sizeof(struct trod_shards_bin) + (1 << 19);

uint64_t trod_shards_least(void)
{
    return fixed + LEAST * LINE_BYTES;
}

uint64_t trod_shards_lines_in(uint64_t bytes)
{
    return bytes < trod_shards_least() ? LEAST : (bytes - fixed) / LINE_BYTES;
}

/* The references among N (at most BLOCK) that are in the sample: their places to AT. No branch
 * depends on them. */
static size_t choose(const uint64_t *line, size_t n, uint64_t limit, uint32_t *at)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        at[k] = (uint32_t)i;
        k += hash(line[i]) <= limit;
    }
    return k;
}

#if TROD_AVX2
/* The lower halves of the products of A and B. */
TROD_WIDE static inline __m256i product(__m256i a, uint64_t b)
{
    const __m256i low = _mm256_set1_epi64x((int64_t)(b & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((int64_t)(b >> 32));
    const __m256i across = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), low),
                                            _mm256_mul_epu32(a, high));

    return _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64(across, 32));
}

/* Which of the four lines at LINE are not in the sample? MOST: the limit, its sign turned. */
TROD_WIDE static inline unsigned left_out(const uint64_t *line, __m256i most)
{
    __m256i h = product(trod_pack_load(line), HASH_ONCE);

    h = product(_mm256_xor_si256(h, _mm256_srli_epi64(h, 32)), HASH_AGAIN);
    h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 29));
    h = _mm256_xor_si256(h, _mm256_set1_epi64x(INT64_MIN));
    return trod_pack_mask(_mm256_cmpgt_epi64(h, most));
}

/* The same, eight references at a time. */
TROD_WIDE static size_t choose_wide(const uint64_t *line, size_t n, uint64_t limit, uint32_t *at)
{
    const __m256i most = _mm256_set1_epi64x((int64_t)(limit ^ UINT64_C(1) << 63));
    size_t k = 0, i = 0;

    for (; i + 8 <= n; i += 8) {
        unsigned in = 0xff ^ (left_out(line + i, most) | left_out(line + i + 4, most) << 4);

        for (; in; in &= in - 1)
            at[k++] = (uint32_t)i + (uint32_t)__builtin_ctz(in);
    }
    for (; i < n; i++) {
        at[k] = (uint32_t)i;
        k += hash(line[i]) <= limit;
    }
    return k;
}

/* The same, eight references at a time; up to 8 places after those in the sample are written to.
 */
TROD_WIDEST static size_t choose_widest(const uint64_t *line, size_t n, uint64_t limit,
                                        uint32_t *at)
{
    const __m512i once = _mm512_set1_epi64((int64_t)HASH_ONCE);
    const __m512i again = _mm512_set1_epi64((int64_t)HASH_AGAIN);
    const __m512i most = _mm512_set1_epi64((int64_t)limit);
    __m256i place = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    size_t k = 0, i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i h = _mm512_mullo_epi64(_mm512_loadu_si512(line + i), once);
        __mmask8 in;

        h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 32)), again);
        h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 29));
        in = _mm512_cmple_epu64_mask(h, most);
        _mm256_storeu_si256((__m256i *)(void *)(at + k), _mm256_maskz_compress_epi32(in, place));
        k += (unsigned)__builtin_popcount(in);
        place = _mm256_add_epi32(place, _mm256_set1_epi32(8));
    }
    for (; i < n; i++) {
        at[k] = (uint32_t)i;
        k += hash(line[i]) <= limit;
    }
    return k;
}
#endif

/*
 * The references of the sample among N (at most BLOCK): to the block, their places to AT. TOTAL
 * gets the references by class, four counts of 16 bits.
 */
static size_t pick(struct trod_shards *s, const struct trod_refs *refs, size_t n, uint32_t *at,
                   uint64_t *total)
{
    size_t k;

#if TROD_AVX2
    if (trod_widest_unless(s->stack->opt.without)) {
        k = choose_widest(refs->line, n, s->limit, at);
        *total = trod_stack_total(refs->class, (uint32_t)n, true);
    } else if (trod_wide_unless(s->stack->opt.without)) {
        k = choose_wide(refs->line, n, s->limit, at);
        *total = trod_stack_total(refs->class, (uint32_t)n, true);
    } else
#endif
    {
        k = choose(refs->line, n, s->limit, at);
        *total = trod_stack_total(refs->class, (uint32_t)n, false);
    }
    for (size_t j = 0; j < k; j++) {
        s->line[j] = refs->line[at[j]];
        s->class[j] = refs->class[at[j]];
        s->touched[j] = refs->touched ? refs->touched[at[j]] : 0;
    }
    return k;
}

static bool above(uint64_t line, void *user)
{
    return hash(line) > *(const uint64_t *)user;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The sample is too large: lower the limit. */
static bool shrink(struct trod_shards *s)
{
    const struct trod_lines *t = &s->stack->lines;
    const uint64_t keep = s->most - (s->most >> SLACK_LOG);
    uint64_t *h = malloc(s->stack->live * sizeof *h), last;
    size_t n = 0;

    if (!h)
        return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->at[i].pos < TROD_LINE_PRUNED)
            h[n++] = hash(t->at[i].line);
    qsort(h, n, sizeof *h, by_value);
    last = h[keep ? keep - 1 : 0];
    free(h);
    s->limit = last;
    set_resident(s);
    return trod_stack_forget(s->stack, above, &last);
}

/* Count what K references of the block, at the distances OUT, stand for. */
static void weigh(struct trod_shards *s, size_t k, uint32_t *out)
{
    const double weight = 1 / trod_shards_rate(s);

    for (size_t i = 0; i < k; i++) {
        const unsigned class = s->class[i];
        const unsigned group = (unsigned)(hash(s->line[i]) & (TROD_SHARDS_GROUPS - 1));
        struct trod_shards_bin *b = &s->cold;

        if (out[i] != TROD_DIST_COLD) {
            const double d = (double)out[i] * weight;

            b = &s->bin[trod_bin_of((uint64_t)d)];
            out[i] = d < (double)(TROD_SHARDS_OUT - 1) ? (uint32_t)d : TROD_SHARDS_OUT - 1;
        } else {
            s->lines += weight;
        }
        b->class[class] += weight;
        b->group[group] += weight;
        s->sampled[class]++;
        s->weight[class] += weight;
    }
}

/* Looked at after so many references, however they come: never more new lines than allowed. */
static size_t period_of(const struct trod_shards *s)
{
    return s->most && s->most < BLOCK ? (size_t)s->most : BLOCK;
}

uint64_t trod_shards_same_rate(const struct trod_shards *s)
{
    return period_of(s) - s->seen % period_of(s);
}

bool trod_shards_feed(struct trod_shards *s, const struct trod_refs *refs, size_t n, uint32_t *out)
{
    uint32_t *const at = s->out + BLOCK + 1;
    const size_t period = period_of(s);

    for (size_t i = 0, m; i < n; i += m) {
        const struct trod_refs r = {refs->line + i, refs->class + i,
                                    s->stack->opt.resident ? refs->touched + i : NULL};
        const struct trod_refs block = {s->line, s->class, s->touched};
        uint64_t total;
        size_t k;

        m = (size_t)trod_shards_same_rate(s);
        m = m < n - i ? m : n - i;
        s->seen += m;
        k = pick(s, &r, m, at, &total);
        for (unsigned c = 0; c < TROD_REFS; c++)
            s->refs[c] += total >> 16 * c & 0xffff;
        for (size_t j = 0; out && j < m; j++)
            out[i + j] = TROD_SHARDS_OUT;
        if (k && !trod_stack_feed(s->stack, &block, k, s->out))
            return false;
        weigh(s, k, s->out);
        for (size_t j = 0; out && j < k; j++)
            out[i + at[j]] = s->out[j];
        if (s->most && s->seen % period == 0 && s->stack->live > s->most && !shrink(s))
            return false;
    }
    return true;
}

/*
 * Lines that have come whose hashes are no greater than the limit; COUNTED: only since counts were
 * reset.
 */
static uint64_t below_limit(const struct trod_shards *s, bool counted)
{
    const struct trod_lines *t = &s->stack->lines;
    uint64_t n = 0;

    for (size_t i = 0; i < t->size; i++)
        n += t->at[i].pos != TROD_LINE_EMPTY && (!counted || trod_tally_knows(&t->at[i])) &&
             hash(t->at[i].line) <= s->limit;
    return n;
}

bool trod_shards_sum(struct trod_shards *s, const struct trod_shards *other)
{
    for (unsigned i = 0; i <= TROD_BINS; i++) {
        struct trod_shards_bin *to = i < TROD_BINS ? &s->bin[i] : &s->cold;
        const struct trod_shards_bin *from = i < TROD_BINS ? &other->bin[i] : &other->cold;

        for (unsigned k = 0; k < TROD_REFS; k++)
            to->class[k] += from->class[k];
        for (unsigned g = 0; g < TROD_SHARDS_GROUPS; g++)
            to->group[g] += from->group[g];
    }
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += other->refs[k];
        s->sampled[k] += other->sampled[k];
        s->weight[k] += other->weight[k];
    }
    if (other->limit < s->limit)
        s->limit = other->limit;
    if (!trod_stack_sum(s->stack, other->stack))
        return false;
    s->lines = (double)below_limit(s, false) / trod_shards_rate(s);
    return true;
}

void trod_shards_restart(struct trod_shards *s)
{
    trod_stack_restart(s->stack);
    memset(s->bin, 0, TROD_BINS * sizeof *s->bin);
    memset(&s->cold, 0, sizeof s->cold);
    memset(s->refs, 0, sizeof s->refs);
    memset(s->sampled, 0, sizeof s->sampled);
    memset(s->weight, 0, sizeof s->weight);
}

uint64_t trod_shards_sampled(const struct trod_shards *s)
{
    return trod_stack_counted(s->stack);
}

double trod_shards_lines(const struct trod_shards *s)
{
    return s->lines;
}

double trod_shards_counted(const struct trod_shards *s)
{
    return s->stack->anew ? (double)below_limit(s, true) / trod_shards_rate(s) : s->lines;
}

static double weight_of(const double *class, unsigned classes)
{
    double w = 0;

    for (unsigned k = 0; k < TROD_REFS; k++)
        w += classes >> k & 1 ? class[k] : 0;
    return w;
}

double trod_shards_cold(const struct trod_shards *s)
{
    return weight_of(s->cold.class, (1U << TROD_REFS) - 1);
}

/* References of CLASSES less what the sampled ones stand for: they belong to distance 0. */
static double missing(const struct trod_shards *s, unsigned classes)
{
    double n = 0;

    for (unsigned k = 0; k < TROD_REFS; k++)
        n += classes >> k & 1 ? (double)s->refs[k] : 0;
    return n - weight_of(s->weight, classes);
}

double trod_shards_at(const struct trod_shards *s, unsigned i, unsigned classes)
{
    return weight_of(s->bin[i].class, classes) + (i == 0 ? missing(s, classes) : 0);
}

/* Standard error of the sum over the groups' WEIGHTS, relative to N references. */
static double spread(const double *weights, double n)
{
    double mean = 0, square = 0;

    for (unsigned g = 0; g < TROD_SHARDS_GROUPS; g++)
        mean += weights[g] / TROD_SHARDS_GROUPS;
    for (unsigned g = 0; g < TROD_SHARDS_GROUPS; g++)
        square += (weights[g] - mean) * (weights[g] - mean);
    return sqrt(square * TROD_SHARDS_GROUPS / (TROD_SHARDS_GROUPS - 1)) / n;
}

/* Weights from the beginning of each bin on, first references included: TROD_BINS + 1 numbers. */
static void suffixes(const struct trod_shards *s, unsigned classes, double *left)
{
    left[TROD_BINS] = weight_of(s->cold.class, classes);
    for (unsigned i = TROD_BINS; i-- > 0;)
        left[i] = left[i + 1] + weight_of(s->bin[i].class, classes);
}

/* The same from SIZE on: a bin that it cuts is taken to be even. */
static double from(const double *left, double size)
{
    const unsigned i = trod_bin_of((uint64_t)size);
    const double begin = (double)trod_bin_begin(i);
    const double end = i + 1 < TROD_BINS ? (double)trod_bin_begin(i + 1) : 0x1p64;

    return left[i] - (left[i] - left[i + 1]) * (size - begin) / (end - begin);
}

/* By how much the sample may be off at SIZE: what groups say, and distances of samples vary. */
static double error_at(const struct trod_shards *s, const double *all, uint64_t size, double refs)
{
    const unsigned end = trod_bin_of(size);
    const double rate = trod_shards_rate(s);
    const double vary = sqrt((double)size * (1 - rate) / rate), low = (double)size - vary;
    double group[TROD_SHARDS_GROUPS], across, along;

    memcpy(group, s->cold.group, sizeof group);
    for (unsigned i = TROD_BINS; i-- > end;)
        for (unsigned g = 0; g < TROD_SHARDS_GROUPS; g++)
            group[g] += s->bin[i].group[g];
    across = spread(group, refs);
    along = (from(all, low > 1 ? low : 1) - from(all, (double)size + vary)) / (2 * refs);
    /* lines that are in the sample anyway are no matter of chance: where all are, nothing is */
    return sqrt(across * across * (1 - rate) + along * along);
}

bool trod_shards_misses(const struct trod_shards *s, unsigned classes, const uint64_t *size,
                        size_t n, double *misses, double *error)
{
    double *left = malloc(2 * (TROD_BINS + 1) * sizeof *left), *all = left + TROD_BINS + 1;
    double refs = 0, most = 0;

    if (!left)
        return false;
    for (unsigned k = 0; k < TROD_REFS; k++)
        most += classes >> k & 1 ? (double)s->refs[k] : 0;
    suffixes(s, classes, left);
    suffixes(s, (1U << TROD_REFS) - 1, all);
    for (unsigned k = 0; k < TROD_REFS; k++)
        refs += (double)s->refs[k];
    for (size_t i = 0; i < n; i++) {
        misses[i] = from(left, (double)size[i]) + (size[i] == 0 ? missing(s, classes) : 0);
        misses[i] = misses[i] < most ? misses[i] : most;
        if (error)
            error[i] = refs > 0 ? error_at(s, all, size[i], refs) : 0;
    }
    free(left);
    return true;
}
