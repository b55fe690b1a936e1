/*
 * row.c - taking rows out of batches.
 *
 * Implements cmp_row_take of row.h. What agrees with what stands in agree.c.
 */
#include "compare/row.h"

#include "trod/detail.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_MAX = 1 << 15 };

const uint8_t cmp_class_of[TROD_KINDS] = {
    [TROD_NOTE] = 4,   [TROD_INSTR] = 0,     [TROD_READ] = 2,     [TROD_WRITE] = 2,
    [TROD_ATOMIC] = 2, [TROD_PREFETCH] = 4,  [TROD_FLUSH] = 4,    [TROD_REG] = 1,
    [TROD_BRANCH] = 4, [TROD_EXCEPTION] = 3, [TROD_MODE] = 3,     [TROD_SYNC] = 4,
    [TROD_MARKER] = 4, [TROD_STATE] = 4,     [TROD_CACHE_OP] = 4, [TROD_CACHE_LINE] = 4,
    [TROD_WALK] = 4,   [TROD_TLB] = 4,       [TROD_BUS] = 4,      [TROD_THREAD] = 4,
};

static uint64_t low_bits(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* Masks of the value of a row, a byte a byte of it; NULL: all bits are known. */
struct masks {
    const uint8_t *unknown, *unwritten; /* unwritten: NULL: all of unknown, or none */
    uint32_t n, unwritten_n;
    bool whole;  /* nothing is known, and nothing says which bits */
    bool dashes; /* without a mask: what is not known is not written */
};

static struct masks masks_of(const struct trod_batch *b, uint32_t i)
{
    const uint32_t flags = cmp_flags_of(b, i);
    const void *detail = trod_batch_detail(b, i);
    struct trod_slice mask = {0, 0}, unwritten = {0, 0};
    struct masks m = {.dashes = !(flags & TROD_F_UNKNOWN)};

    if (!(flags & (TROD_F_UNKNOWN | TROD_F_PARTIAL)))
        return m;
    if (detail && b->kind[i] == TROD_REG) {
        mask = ((const struct trod_detail_reg *)detail)->mask;
        unwritten = ((const struct trod_detail_reg *)detail)->unwritten;
    } else if (detail && (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE)) {
        mask = ((const struct trod_detail_mem *)detail)->mask;
        unwritten = ((const struct trod_detail_mem *)detail)->unwritten;
    } else if (detail && b->kind[i] == TROD_ATOMIC) {
        mask = ((const struct trod_detail_atomic *)detail)->mask;
    }
    m.n = mask.len;
    m.unknown = mask.len ? trod_batch_bytes(b, mask) : NULL;
    m.unwritten_n = unwritten.len;
    m.unwritten = unwritten.len ? trod_batch_bytes(b, unwritten) : NULL;
    m.whole = mask.len == 0 && (flags & TROD_F_UNKNOWN);
    return m;
}

/* Bits of byte K that are not known. */
static uint8_t unknown_bits(const struct masks *m, uint32_t k)
{
    return m->whole ? 0xff : k < m->n ? m->unknown[k] : 0;
}

/* Those that are not known because they are not written. */
static uint8_t unwritten_bits(const struct masks *m, uint32_t k)
{
    const uint8_t unknown = unknown_bits(m, k);

    if (m->unwritten)
        return k < m->unwritten_n ? unknown & m->unwritten[k] : 0;
    return m->dashes ? unknown : 0;
}

static void take_known(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    const struct masks m = masks_of(b, i);
    uint64_t unknown = 0;

    for (uint32_t k = 0; k < 8 && (m.whole || k < m.n); k++) {
        unknown |= (uint64_t)unknown_bits(&m, k) << (8 * k);
        row->unwritten |= (uint64_t)unwritten_bits(&m, k) << (8 * k);
    }
    row->pub.known &= ~unknown;
}

static void take_wide(struct cmp_row *row, const struct trod_batch *b, uint32_t i, uint8_t *to)
{
    const struct masks m = masks_of(b, i);
    const uint32_t size = b->data[i].len;

    row->wide = to;
    row->wide_size = size;
    memcpy(to, trod_batch_bytes(b, b->data[i]), size);
    memset(to + size, 0xff, size);
    memset(to + 2 * (size_t)size, 0, size);
    for (uint32_t k = 0; k < size && (m.whole || k < m.n); k++) {
        to[size + k] = (uint8_t)~unknown_bits(&m, k);
        to[2 * (size_t)size + k] = unwritten_bits(&m, k);
    }
}

/* The bits that row I writes, where it does not write all of them from bit 0 on; else NULL. */
static const struct trod_detail_reg *range_of(const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_reg *d =
        b->kind[i] == TROD_REG && (cmp_flags_of(b, i) & TROD_F_PARTIAL) ? trod_batch_detail(b, i)
                                                                        : NULL;

    return d && d->has_range && d->hi >= d->lo && d->hi < RANGE_MAX ? d : NULL;
}

/* A value that is written to bits D->lo to D->hi, as one of all bits up to there. */
static void take_range(struct cmp_row *row, const struct trod_batch *b, uint32_t i,
                       const struct trod_detail_reg *d, uint8_t *to)
{
    const uint32_t size = d->hi / 8 + 1, has = b->have & b->has[i];
    const struct masks m = masks_of(b, i);
    uint8_t *known = to + size, *unwritten = known + size;
    const uint8_t *data = NULL;

    if (has & TROD_COL_DATA)
        data = trod_batch_bytes(b, b->data[i]);
    row->wide = to;
    row->wide_size = size;
    memset(to, 0, 2 * (size_t)size);
    memset(unwritten, 0xff, size);
    for (uint32_t bit = d->lo; bit <= d->hi; bit++) {
        uint32_t k = bit - d->lo, byte = k / 8, shift = k % 8;
        unsigned v = 0;

        if (data && byte < b->data[i].len)
            v = data[byte] >> shift & 1u;
        else if (!data && byte < 8 && (has & TROD_COL_VALUE))
            v = (unsigned)(b->value[i] >> k) & 1u;
        to[bit / 8] |= (uint8_t)(v << bit % 8);
        if (!(byte < m.n && (m.unknown[byte] >> shift & 1)))
            known[bit / 8] |= (uint8_t)(1u << bit % 8);
        if (!(unwritten_bits(&m, byte) >> shift & 1))
            unwritten[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
}

/* Id of a disassembly: case and blanks are the disassembler's. */
static uint64_t text_id(const uint8_t *p, uint32_t n)
{
    uint64_t h = TROD_FNV;

    for (uint32_t i = 0; i < n; i++)
        if (p[i] != ' ' && p[i] != '\t')
            h = trod_fnv_byte(h, (uint8_t)tolower(p[i]));
    return cmp_id(h);
}

static void take_name(struct cmp_row *row, const char *text, uint32_t len, struct cmp_rules *rules)
{
    const struct cmp_name *n;

    if (row->pub.kind != TROD_REG) {
        row->name_id = row->base_id = cmp_id_of(text, len);
        return;
    }
    n = cmp_name_find(rules, text, len);
    row->name_id = n->id;
    row->base_id = n->base;
    row->banked = n->banked;
    row->bits = (uint16_t)n->bits;
    if (n->bits && n->bits < 64)
        row->pub.known &= low_bits(n->bits);
    /* Only as many bytes of a wide value as the name stands for. */
    if (row->wide && n->bits && n->bits / 8 < row->wide_size)
        memset(row->wide + row->wide_size + n->bits / 8, 0, row->wide_size - n->bits / 8);
}

struct trod_slice cmp_note_of(const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];
    const struct trod_slice none = {0, 0}, raw = has & TROD_COL_RAW ? b->raw[i] : none;
    const struct trod_slice word = has & TROD_COL_TEXT ? b->text[i] : none;
    struct trod_slice s = raw;

    /* a binary record whose fields are known is compared by these: its time may differ */
    if (raw.len == 0 ||
        ((has & TROD_COL_DETAIL) && trod_detail_struct_of(TROD_NOTE, b->detail[i].len)))
        return word;
    if (word.len && word.off >= raw.off && word.off - raw.off < raw.len) {
        s.off = word.off;
        s.len = raw.len - (word.off - raw.off);
    }
    while (s.len > 1 && strchr("\r\n", trod_batch_bytes(b, s)[s.len - 1]))
        s.len--;
    return s;
}

/* What is shown of a row: its record as far as it fits, or its disassembly. */
static struct trod_slice text_of(const struct trod_batch *b, uint32_t i)
{
    uint32_t has = b->have & b->has[i];
    struct trod_slice s = {0, 0};
    const uint8_t *p;

    if ((has & TROD_COL_RAW) && b->raw[i].len)
        s = b->raw[i];
    else if ((has & TROD_COL_TEXT) && b->kind[i] == TROD_INSTR)
        s = b->text[i];
    p = trod_batch_bytes(b, s);
    while (s.len && (p[s.len - 1] == '\n' || p[s.len - 1] == '\r'))
        s.len--;
    if (s.len > CMP_TEXT)
        s.len = CMP_TEXT;
    /* A binary record has no text. */
    for (uint32_t k = 0; k < s.len; k++)
        if ((p[k] < ' ' && p[k] != '\t') || p[k] > '~')
            s.len = 0;
    return s;
}

const struct trod_detail_instr *cmp_mode_of(const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_instr *d;

    if (b->kind[i] != TROD_INSTR || !(b->have & b->has[i] & TROD_COL_DETAIL) ||
        b->detail[i].len != sizeof *d)
        return NULL;
    d = trod_batch_detail(b, i);
    return d->mode.len ? d : NULL;
}

/*
 * The security that mode P, N letters, ends with ("_s", "_NS"), 0: none; *LEN: letters before it.
 * '-' is what tracers write that do not know it.
 */
static uint8_t security_of(const uint8_t *p, uint32_t n, uint32_t *len)
{
    static const struct {
        char name[6];
        uint8_t sec;
    } ends[] = {{"s", 's'},  {"n", 'n'},    {"ns", 'n'}, {"rt", 't'},
                {"rl", 'l'}, {"root", 't'}, {"-", '-'},  {"realm", 'l'}};

    *len = n;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const uint32_t end = (uint32_t)strnlen(ends[k].name, sizeof ends->name);
        uint32_t same = 0;

        while (n > end + 1 && same < end && tolower(p[n - end + same]) == ends[k].name[same])
            same++;
        if (same < end || p[n - end - 1] != '_')
            continue;
        *len = n - end - 1;
        return ends[k].sec;
    }
    return 0;
}

/* Mode and security of an instruction: "EL3h_s" is el3h, s. */
static void take_mode(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_instr *d = cmp_mode_of(b, i);
    uint64_t h = TROD_FNV;
    const uint8_t *p;
    uint32_t n;

    if (!d)
        return;
    p = trod_batch_bytes(b, d->mode);
    row->mode_sec = security_of(p, d->mode.len, &n);
    for (uint32_t k = 0; k < n; k++)
        h = trod_fnv_byte(h, (uint8_t)tolower(p[k]));
    row->mode = cmp_id(h);
    row->pub.has |= TROD_COMPARE_MODE;
}

/* Bytes of the words that are reversed where words of another order are; 0: none are. */
static uint32_t code_words(const struct cmp_rules *rules, const struct trod_batch *b, uint32_t i,
                           int side)
{
    const unsigned iset = (cmp_flags_of(b, i) & TROD_F_ISET) >> TROD_F_ISET_SHIFT;

    /* A64 code is little-endian whatever the data is */
    if (!rules->mixed_code || rules->meta[side]->endian != TROD_ENDIAN_LITTLE ||
        iset == TROD_ISET_A64 || rules->meta[side]->isa == TROD_ISA_A64)
        return 0;
    return iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE ? 2 : 4;
}

uint32_t cmp_code_of(const struct cmp_rules *rules, const struct trod_batch *b, uint32_t i,
                     int side, uint8_t *out, uint32_t max)
{
    const uint32_t n = b->code[i].len < max ? b->code[i].len : max;
    const uint32_t word = code_words(rules, b, i, side);
    const uint8_t *code = trod_batch_bytes(b, b->code[i]);

    memcpy(out, code, n);
    for (uint32_t at = 0; word && at < n; at += word)
        for (uint32_t k = 0, len = n - at < word ? n - at : word; k < len; k++)
            out[at + k] = code[at + len - 1 - k];
    return n;
}

static void take_numbers(struct cmp_row *row, const struct trod_batch *b, uint32_t i, int side,
                         const struct cmp_rules *rules)
{
    struct trod_compare_row *p = &row->pub;
    uint32_t has = b->has[i] & b->have;

    p->has = has & TROD_COL_ALL;
    p->ordinal = b->first + i;
    p->kind = b->kind[i];
    p->flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    row->unit = has & TROD_COL_UNIT ? b->unit[i] : 0;
    p->size = has & TROD_COL_SIZE ? b->size[i] : 0;
    p->stream = b->have & TROD_COL_STREAM ? b->stream[i] : 0;
    if ((has & TROD_COL_STREAM) && cmp_pid(rules, side, p->stream) != TROD_NOWHERE)
        p->has |= TROD_COMPARE_PID;
    p->time = has & TROD_COL_TIME ? b->time[i] : 0;
    p->addr = has & TROD_COL_ADDR ? b->addr[i] : 0;
    p->paddr = has & TROD_COL_PADDR ? b->paddr[i] : 0;
    p->target = has & TROD_COL_TARGET ? b->target[i] : 0;
    p->pc = has & TROD_COL_PC ? b->pc[i] : 0;
    p->index = has & TROD_COL_INDEX ? b->index[i] : 0;
    p->value = has & TROD_COL_VALUE ? b->value[i] : 0;
    p->sub = has & TROD_COL_SUB ? b->sub[i] : 0;
    p->known = UINT64_MAX;
    if ((has & TROD_COL_CODE) && b->code[i].len)
        p->code_len = (uint8_t)cmp_code_of(rules, b, i, side, p->code, sizeof p->code);
    row->addr = cmp_slide(rules, side, p->addr);
    row->target = cmp_slide(rules, side, p->target);
    row->pc = cmp_slide(rules, side, p->pc);
}

/*
 * What rows that agree have in common: for registers the name, for what has an address the address
 * as far as it counts, for all else the kind alone.
 */
static uint64_t subject_of(const struct cmp_row *row, const struct cmp_rules *rules)
{
    uint64_t h = (row->pub.kind + 1u) * 0x9e3779b97f4a7c15u;

    if (row->pub.kind == TROD_REG)
        h ^= row->base_id;
    else if (cmp_class_of[row->pub.kind] == 0 || cmp_class_of[row->pub.kind] == 2)
        h ^= rules->fields.columns & row->pub.has & TROD_COL_ADDR ? row->addr * 0xc2b2ae3d27d4eb4fu
                                                                  : 0;
    h ^= h >> 31;
    return h * 0xd6e8feb86659fd93u;
}

/* As subject_of, with the value; 0 where the value may agree with another one. */
static uint64_t exact_of(const struct cmp_row *row, const struct cmp_rules *rules, uint64_t mask)
{
    uint64_t h;

    if (row->wide || row->pub.known != UINT64_MAX || mask != UINT64_MAX || rules->n_slides ||
        rules->opt->auto_slide)
        return 0;
    if (row->pub.kind != TROD_INSTR && !(row->pub.has & TROD_COL_VALUE))
        return 0;
    h = row->subject;
    if (rules->fields.columns & row->pub.has & TROD_COL_VALUE)
        h = (h ^ row->pub.value) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 32) | 1;
}

void cmp_row_slide(struct cmp_row *row, int side, const struct cmp_rules *rules)
{
    row->addr = cmp_slide(rules, side, row->pub.addr);
    row->target = cmp_slide(rules, side, row->pub.target);
    row->pc = cmp_slide(rules, side, row->pub.pc);
    row->subject = subject_of(row, rules);
    row->exact = 0;
}

/* The detail of row I, where it is to be compared or shown. */
static struct cmp_detail detail_of(const struct trod_batch *b, uint32_t i,
                                   const struct cmp_fields *f)
{
    if (!(f->columns & (TROD_COL_DETAIL | (uint32_t)TROD_COMPARE_MODE)))
        return (struct cmp_detail){0};
    return cmp_detail_of(b, i);
}

/* What a row has behind its struct. */
struct behind {
    struct cmp_detail detail;
    const struct trod_detail_reg *range; /* NULL: its value is not of a range of bits */
    struct trod_slice word, text;
    size_t reads, extra; /* bytes of struct cmp_read, of the detail */
    uint32_t wide, kept; /* bytes of a wide value, of WORD as far as it is kept */
};

static struct behind behind_of(const struct trod_batch *b, uint32_t i, const struct cmp_fields *f)
{
    const uint32_t has = b->have & b->has[i];
    struct behind t = {
        .detail = detail_of(b, i, f), .range = range_of(b, i), .text = text_of(b, i)};

    if (b->kind[i] == TROD_NOTE)
        t.word = cmp_note_of(b, i);
    else if (has & TROD_COL_TEXT)
        t.word = b->text[i];
    if (b->kind[i] == TROD_INSTR)
        t.reads = CMP_READS * sizeof(struct cmp_read);
    if (b->kind[i] != TROD_INSTR || (f->columns & TROD_COL_TEXT))
        t.kept = t.word.len < CMP_WORD ? t.word.len : CMP_WORD;
    if (t.detail.p)
        t.extra = cmp_detail_size(&t.detail);
    if (t.range)
        t.wide = t.range->hi / 8 + 1;
    else if (has & TROD_COL_DATA)
        t.wide = b->data[i].len;
    return t;
}

/* Name or disassembly, and the text that is shown; they are put to TO. */
static void take_texts(struct cmp_row *row, const struct trod_batch *b, const struct behind *t,
                       char *to, struct cmp_rules *rules)
{
    const uint8_t *word = trod_batch_bytes(b, t->word), *text = trod_batch_bytes(b, t->text);

    row->word = row->pub.name = to;
    row->word_len = t->kept;
    if (t->kept)
        memcpy(to, word, t->kept);
    if (row->pub.kind != TROD_INSTR && t->kept) {
        row->pub.name_len = t->kept < CMP_NAME ? t->kept : CMP_NAME;
        take_name(row, (const char *)word, t->word.len, rules);
    } else if (t->word.len) {
        row->name_id = text_id(word, t->word.len);
    }
    to += t->kept;
    row->pub.text = to;
    row->pub.text_len = t->text.len;
    for (uint32_t k = 0; k < t->text.len; k++)
        to[k] = text[k] == '\t' ? ' ' : (char)text[k];
}

/* The bits of the register called WORD that are compared. */
static uint64_t mask_of(const struct trod_batch *b, struct trod_slice word, struct cmp_rules *rules)
{
    const char *name = (const char *)trod_batch_bytes(b, word);

    return cmp_name_find(rules, name, word.len)->mask;
}

struct cmp_row *cmp_row_take(const struct trod_batch *b, uint32_t i, int side,
                             struct cmp_rules *rules)
{
    const struct behind t = behind_of(b, i, &rules->fields);
    struct cmp_row *row;
    uint8_t cls, *tail;

    row = cmp_pool_take(rules->pool,
                        sizeof *row + t.reads + t.extra + 3 * (size_t)t.wide + t.kept + t.text.len,
                        &cls);
    if (!row)
        return NULL;
    memset(row, 0, sizeof *row);
    row->refs = 1;
    row->pool_class = cls;
    row->reads = (struct cmp_read *)(row + 1);
    tail = (uint8_t *)(row + 1) + t.reads;
    if (t.detail.p)
        cmp_detail_copy(&t.detail, tail, &row->detail);
    tail += t.extra;
    take_numbers(row, b, i, side, rules);
    row->cls = cmp_class_of[row->pub.kind];
    if (row->pub.has & TROD_COL_DETAIL)
        take_mode(row, b, i);
    if (row->pub.has & TROD_COL_VALUE)
        take_known(row, b, i);
    if (t.range)
        take_range(row, b, i, t.range, tail);
    else if (t.wide)
        take_wide(row, b, i, tail);
    take_texts(row, b, &t, (char *)tail + 3 * (size_t)t.wide, rules);
    row->subject = subject_of(row, rules);
    row->exact = exact_of(
        row, rules, b->kind[i] == TROD_REG && t.word.len ? mask_of(b, t.word, rules) : UINT64_MAX);
    return row;
}
