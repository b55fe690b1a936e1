/*
 * tt6_pass.c - how decoding begins in the middle of a TT6 or TT6E trace: behind a change of flow,
 * whose record says where execution goes on, or as one decoder that passed over the records.
 *
 * Implements struct trod_parts. Of records whose opcode alone says what they are, passing over them
 * needs only the address of the instruction behind them, which the last change of flow among them
 * tells. Escapes and traps, and some records behind them, are decoded as usual.
 */
#include "format/amber/tt6.h"

#include "core/endian.h"
#include "core/wide.h"

#include <string.h>

/*
 * LEAST: bytes of records that are worth walking over. MET: records on which decoding from several
 * words must agree. SAID: words behind an escape of which nobody doubts that it is one. FLOW: bytes
 * of the record of a change of flow, whose second word is the address it leads to.
 */
enum { LEAST = 256, MET = 64, SAID = 2, FLOW = 8 };

/* WORDS: so many are looked at at once for a cut. BLOCK: for walking over their records. */
enum { WORDS = 1 << 12, BLOCK = 64 };

/* Records that were walked over. */
struct walk {
    uint64_t rows;
    uint64_t behind_flow; /* records behind the last change of flow */
    uint32_t next;        /* where that one went */
    bool flows;           /* there is one */
};

/*
 * Up to BLOCK words, each classified as if it were an opcode: only following the records is a
 * chain.
 */
struct block {
    const uint8_t *p;
    uint8_t step[BLOCK]; /* 0: not plain, or the record may not be there as a whole */
};

/*
 * RECORDS that B begins with were found, with ACCESSES; number NTH of them, at word FLOW, is the
 * last change of flow (NTH 0: there is none).
 */
static void add(struct walk *w, const struct block *b, uint32_t records, uint32_t accesses,
                uint32_t flow, uint32_t nth)
{
    w->rows += records + accesses;
    w->behind_flow += records;
    if (nth) {
        w->flows = true;
        w->next = trod_load_be32(b->p + 4 * (size_t)flow + 4);
        w->behind_flow = records - nth;
    }
}

/* Walk over the plain records that B begins with. Returns the word behind them. */
static uint32_t walk_block(const struct block *b, struct walk *w)
{
    uint32_t i = 0, records = 0, accesses = 0, flow = 0, nth = 0;

    for (unsigned s; i < BLOCK && (s = b->step[i]); i += s & TT6_WORDS) {
        records++;
        accesses += s / TT6_ACCESSES & 1;
        flow = s & TT6_FLOWS ? i : flow;
        nth = s & TT6_FLOWS ? records : nth;
    }
    add(w, b, records, accesses, flow, nth);
    return i;
}

#if TROD_AVX2

/* The words of records that begin at 32 words with STEP, as the tables have them. */
static inline TROD_WIDE void codes(__m256i step, uint32_t *code)
{
    const __m256i words = _mm256_and_si256(step, _mm256_set1_epi8(TT6_WORDS));
    const __m256i two = _mm256_maddubs_epi16(words, _mm256_set1_epi16(0x0401));

    _mm256_storeu_si256((__m256i *)(void *)code,
                        _mm256_madd_epi16(two, _mm256_set1_epi32(0x00100001)));
}

/* Which of the steps LOW and HIGH have BIT, a bit each. */
static inline TROD_WIDE uint64_t bits_of(__m256i low, __m256i high, unsigned bit)
{
    const int shift = 7 - __builtin_ctz(bit);
    const uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(low, shift));
    const uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(high, shift));

    return a | (uint64_t)b << 32;
}

/* As walk_block, with a bit for each word. */
static TROD_WIDE uint32_t walk_wide(const struct tt6_tables *t, const struct block *b,
                                    struct walk *w)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)b->step);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(b->step + 32));
    const uint64_t plain = bits_of(low, high, 1) | bits_of(low, high, 2);
    uint64_t starts = 0, flows, stop;
    uint32_t code[BLOCK / 4], row = 0, flow = 0, nth = 0;

    codes(low, code);
    codes(high, code + BLOCK / 8);
    for (unsigned k = 0; k < BLOCK / 4; k++) {
        starts |= (uint64_t)t->starts[row + code[k]] << 4 * k;
        row = t->behind[row + code[k]];
    }
    stop = starts & ~plain;
    starts &= stop ? (stop & -stop) - 1 : UINT64_MAX;
    flows = starts & bits_of(low, high, TT6_FLOWS);
    if (flows) {
        flow = 63 - (uint32_t)__builtin_clzll(flows);
        nth = (uint32_t)__builtin_popcountll(starts << (63 - flow));
    }
    add(w, b, (uint32_t)__builtin_popcountll(starts),
        (uint32_t)__builtin_popcountll(starts & bits_of(low, high, TT6_ACCESSES)), flow, nth);
    return stop ? (uint32_t)__builtin_ctzll(stop) : BLOCK;
}

#endif

/* Classify the N words at P. */
static void begin_block(const struct tt6_tables *t, const uint8_t *p, uint32_t n, struct block *b)
{
    uint16_t slot[BLOCK];

    b->p = p;
    tt6_slots(p, n, slot);
    for (uint32_t i = 0; i < n; i++)
        b->step[i] = t->step[slot[i]];
    n = n < TT6_LONGEST ? 0 : n - TT6_LONGEST + 1;
    memset(b->step + n, 0, BLOCK - n);
}

/* Walk over the plain records from P on, before END. Returns where they end. */
static const uint8_t *walk(const struct tt6_tables *t, const uint8_t *p, const uint8_t *end,
                           struct walk *w)
{
    uint32_t n, done;
    struct block b;

    *w = (struct walk){.rows = 0};
    do {
        const size_t left = (size_t)(end - p) / 4;

        n = left < BLOCK ? (uint32_t)left : BLOCK;
        begin_block(t, p, n, &b);
#if TROD_AVX2
        done = trod_wide() ? walk_wide(t, &b, w) : walk_block(&b, w);
#else
        done = walk_block(&b, w);
#endif
        p += 4 * (size_t)done;
    } while (done && done + TT6_LONGEST > n);
    return p;
}

/* The address of the instruction behind W, where PC is that of the first. */
static uint32_t behind(const struct walk *w, uint32_t pc)
{
    return (w->flows ? w->next : pc) + 4 * (uint32_t)w->behind_flow;
}

void tt6_pass_plain(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out)
{
    const uint8_t *to;
    struct walk w;

    if (in->n < LEAST)
        return;
    to = walk(&dec->t, in->p, in->p + in->n, &w);
    dec->pc = behind(&w, dec->pc);
    out->first += w.rows;
    amber_eat(in, (size_t)(to - in->p));
}

static bool is_plain(const struct tt6_tables *t, const uint8_t *p)
{
    return t->step[tt6_slot(trod_load_be32(p))] != 0;
}

/*
 * Words of the record at P, N words being there, if it may be one: execution goes on at aligned
 * addresses, and escapes have no more than SAID words. 0: it is none, or not there as a whole.
 */
static size_t likely(const struct tt6_dec *dec, const uint8_t *p, size_t n)
{
    const size_t words = tt6_record(dec->extended, p, 4 * n) / 4;
    const uint32_t opcode = trod_load_be32(p);

    if (opcode >> 26 == 0)
        return words > 1 + SAID ? 0 : words;
    return dec->t.step[tt6_slot(opcode)] & TT6_FLOWS && words && p[7] & 3 ? 0 : words;
}

/*
 * Decode from word PHASE of the N words at P on, and note where records begin: bit PHASE of AT.
 * Where none does, look at the next word.
 */
static void note_records(const struct tt6_dec *dec, const uint8_t *p, size_t n, unsigned phase,
                         uint8_t *at)
{
    for (size_t i = phase, words; i < n; i += words ? words : 1) {
        words = likely(dec, p + 4 * i, n - i);
        at[i] |= (uint8_t)((words != 0) << phase);
    }
}

/* Is the record at word I of P a change of flow that is not part of a trap? */
static bool is_flow(const struct tt6_dec *dec, const uint8_t *p, size_t i)
{
    const uint32_t opcode = trod_load_be32(p + 4 * i);

    return dec->t.step[tt6_slot(opcode)] & TT6_FLOWS && (opcode & ~2u) != AMBER_B_700;
}

/*
 * The record behind MET or more that decoding from each of the first words of N (WORDS at most)
 * finds, of which the last is a change of flow, and the one before it neither an escape nor a trap.
 * Decoding that begins inside a record soon goes on where records begin. That it did is not
 * certain: who decodes what comes before arrives here, or says that it does not.
 */
static size_t common_record(const struct tt6_dec *dec, const uint8_t *p, size_t n)
{
    const unsigned all = (1u << TT6_LONGEST) - 1;
    uint8_t at[WORDS] = {0};
    unsigned met = 0;
    size_t before = 0, last = 0; /* the records before this one */

    for (unsigned phase = 0; phase < TT6_LONGEST; phase++)
        note_records(dec, p, n, phase, at);
    for (size_t i = 0; i < n; i++) {
        if (!at[i])
            continue;
        met = at[i] == all ? met + 1 : 0;
        if (met > MET && is_flow(dec, p, last) && i == last + FLOW / 4 &&
            is_plain(&dec->t, p + 4 * before))
            return i;
        before = last;
        last = i;
    }
    return SIZE_MAX;
}

static size_t cut(const void *state, uint64_t offset, const uint8_t *p, size_t n)
{
    size_t words;

    for (size_t from = (size_t)((4 - offset % 4) % 4); from < n; from += 4 * words) {
        size_t found;

        words = (n - from) / 4 < WORDS ? (n - from) / 4 : WORDS;
        if (words < TT6_LONGEST)
            break;
        found = common_record(state, p + from, words);
        if (found != SIZE_MAX)
            return from + 4 * found;
    }
    return SIZE_MAX;
}

static int pass(void *dec, struct trod_span *in, struct trod_batch *out)
{
    return tt6_go(dec, in, out, NULL, true);
}

static int fork_state(void *state, void *from)
{
    *(struct tt6_dec *)state = *(const struct tt6_dec *)from;
    return TROD_OK;
}

static void enter(void *state, const uint8_t *p)
{
    struct tt6_dec *dec = state;

    dec->begun = true;
    dec->pc = trod_load_be32(p + FLOW - 4);
}

static bool arrived(const void *state, const uint8_t *p)
{
    const struct tt6_dec *dec = state;

    return dec->begun && !dec->trap && !dec->attached && dec->pc == trod_load_be32(p + FLOW - 4);
}

const struct trod_parts tt6_parts = {.cut = cut,
                                     .pass = pass,
                                     .fork = fork_state,
                                     .enter = enter,
                                     .arrived = arrived,
                                     .entry = FLOW};
