/*
 * tt6_tables.c - what the opcodes of TT6 and TT6E say of their records, and which entry of these
 * tables is that of an opcode.
 *
 * Implements docs/formats/amber.md, "TT6 and TT6E".
 */
#include "format/amber/tt6.h"

#include "core/endian.h"
#include "core/wide.h"

#include <string.h>

static struct tt6_entry make_entry(uint32_t opcode, bool extended, uint32_t line)
{
    enum trod_ppc_variant variant = extended ? TROD_PPC_TT6E : TROD_PPC_TT6;
    struct trod_ppc_access a = trod_ppc_access(opcode);
    enum trod_ppc_class class = trod_ppc_class_of(a, variant);
    struct amber_access access = amber_access_of(opcode, 0, line);
    struct tt6_entry e = {.words = 1, .rows = 1};

    if (opcode >> 26 == 0 || (extended && opcode >> 26 == AMBER_MAJOR_TWI))
        return (struct tt6_entry){0};
    e.words = (uint8_t)trod_ppc_record_words(class);
    if (class == TROD_PPC_FLOW)
        e.branch = (uint8_t)amber_branch_base(opcode);
    if (class != TROD_PPC_MEMORY && class != TROD_PPC_MEMORY_EXTENDED)
        return e;
    e.rows = 2;
    if (a.rule == TROD_PPC_LWA || a.rule == TROD_PPC_MULTI || a.rule == TROD_PPC_NB ||
        e.words > 2 || access.text.len)
        return e;
    e.kind = access.kind;
    e.flags = access.flags | TROD_F_CONT;
    e.size = access.size;
    e.clear = ~access.mask;
    return e;
}

/* Number of an entry equal to E, added if new. Few opcodes differ in what they need. */
static uint8_t entry_number(struct tt6_tables *t, const struct tt6_entry *e)
{
    uint32_t i = 0;

    while (i < t->entries && memcmp(&t->entry[i], e, sizeof *e) != 0)
        i++;
    if (i == TT6_ENTRIES)
        return 0;
    if (i == t->entries)
        t->entry[t->entries++] = *e;
    return (uint8_t)i;
}

/* What passing over a record with the entry E needs to know. */
static uint8_t step_of(const struct tt6_entry *e)
{
    return (uint8_t)(e->words | (e->rows > 1 ? TT6_ACCESSES : 0) | (e->branch ? TT6_FLOWS : 0));
}

/* MAJOR and its minors up to MOST. */
static void make_major(struct tt6_tables *t, unsigned major, uint32_t most, bool extended,
                       uint32_t line)
{
    for (uint32_t minor = 0; minor <= most; minor++) {
        const uint32_t opcode = (uint32_t)major << 26 | minor << 1, slot = tt6_slot(opcode);
        const struct tt6_entry e = make_entry(opcode, extended, line);

        t->number[slot] = entry_number(t, &e);
        t->step[slot] = step_of(&t->entry[t->number[slot]]);
    }
}

/* What the records of 4 words are of which the first SKIP belong to the record before. */
static void make_jumps(struct tt6_tables *t, unsigned skip)
{
    for (unsigned code = 0; code < 256; code++) {
        unsigned at = skip, starts = 0;

        for (; at < 4; at += code >> 2 * at & 3 ? code >> 2 * at & 3 : 1)
            starts |= 1u << at;
        t->starts[256 * skip + code] = (uint8_t)starts;
        t->behind[256 * skip + code] = (uint16_t)(256 * (at - 4));
    }
}

void tt6_tables_make(struct tt6_tables *t, bool extended, uint32_t line)
{
    memset(t, 0, sizeof *t);
    t->entries = 1;
    for (unsigned major = 0; major < TT6_MAJORS; major++)
        make_major(t, major, 0, extended, line);
    make_major(t, 31, 1023, extended, line);
    make_major(t, 19, 1023, extended, line);
    make_major(t, 58, 1, extended, line);
    for (unsigned skip = 0; skip < TT6_LONGEST; skip++)
        make_jumps(t, skip);
}

#if TROD_AVX2

/* The slots of the 8 words at P. */
static inline TROD_WIDE __m256i slots_wide(const uint8_t *p)
{
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    const __m256i opcode =
        _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p), order);
    const __m256i major = _mm256_srli_epi32(opcode, 26);
    const __m256i minor =
        _mm256_and_si256(_mm256_srli_epi32(opcode, 1), _mm256_set1_epi32(TT6_MINOR));
    const __m256i is31 = _mm256_cmpeq_epi32(major, _mm256_set1_epi32(31));
    const __m256i is19 = _mm256_cmpeq_epi32(major, _mm256_set1_epi32(19));
    const __m256i is58 = _mm256_cmpeq_epi32(major, _mm256_set1_epi32(58));
    __m256i slot =
        _mm256_blendv_epi8(major, _mm256_add_epi32(minor, _mm256_set1_epi32(TT6_SLOTS_31)), is31);

    slot = _mm256_blendv_epi8(slot, _mm256_add_epi32(minor, _mm256_set1_epi32(TT6_SLOTS_19)), is19);
    return _mm256_blendv_epi8(slot,
                              _mm256_add_epi32(_mm256_and_si256(minor, _mm256_set1_epi32(1)),
                                               _mm256_set1_epi32(TT6_SLOTS_58)),
                              is58);
}

/* The slots of words from P on, 16 at a time, of N at the most; returns how many. */
static TROD_WIDE uint32_t many_slots(const uint8_t *p, uint32_t n, uint16_t *slot)
{
    uint32_t i = 0;

    for (; n - i >= 16; i += 16, p += 64) {
        const __m256i both = _mm256_packus_epi32(slots_wide(p), slots_wide(p + 32));

        _mm256_storeu_si256((__m256i *)(void *)(slot + i), _mm256_permute4x64_epi64(both, 0xd8));
    }
    return i;
}

#endif

void tt6_slots(const uint8_t *p, uint32_t n, uint16_t *slot)
{
    uint32_t i = 0;

#if TROD_AVX2
    if (trod_wide())
        i = many_slots(p, n, slot);
#endif
    for (; i < n; i++)
        slot[i] = (uint16_t)tt6_slot(trod_load_be32(p + 4 * (size_t)i));
}
