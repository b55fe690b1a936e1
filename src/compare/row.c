/*
 * row.c - taking rows out of batches, and matching them.
 *
 * Implements row.h and the rules of compare.h: what a row does not say is not compared, unknown
 * digits and bits that were not written match anything, values are numbers whatever their notation,
 * and a value that is an address may slide as addresses do.
 */
#include "compare/row.h"

#include "trod/detail.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const uint8_t cmp_class_of[TROD_KINDS] = {
    [TROD_NOTE] = TROD_TRACK_CLASSES,
    [TROD_INSTR] = 0,
    [TROD_READ] = 2,
    [TROD_WRITE] = 2,
    [TROD_ATOMIC] = 2,
    [TROD_PREFETCH] = 4,
    [TROD_FLUSH] = 4,
    [TROD_REG] = 1,
    [TROD_BRANCH] = 4,
    [TROD_EXCEPTION] = 3,
    [TROD_MODE] = 3,
    [TROD_SYNC] = 4,
    [TROD_MARKER] = 4,
    [TROD_STATE] = 4,
    [TROD_CACHE_OP] = 4,
    [TROD_CACHE_LINE] = 4,
    [TROD_WALK] = 4,
    [TROD_TLB] = 4,
    [TROD_BUS] = 4,
    [TROD_THREAD] = 4,
};

static uint64_t hash_bytes(const char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h ? h : 1;
}

uint64_t cmp_name_id(enum trod_isa isa, const char *name, size_t len, unsigned *bits)
{
    char canonical[CMP_NAME];
    size_t n = trod_register_canonical(isa, name, len, canonical, bits);

    return hash_bytes(canonical, n);
}

uint64_t cmp_slide(const struct cmp_rules *rules, int side, uint64_t addr)
{
    for (size_t i = 0; i < rules->n_slides; i++) {
        const struct trod_slide *s = &rules->slides[i];

        if (s->side == side && addr >= s->lo && addr <= s->hi)
            return addr + s->offset;
    }
    return addr;
}

static uint64_t low_bits(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The mask of unknown or unwritten bits of row I, SIZE bytes; NULL: all are known. */
static const uint8_t *unknown_mask(const struct trod_batch *b, uint32_t i, uint32_t *size)
{
    const void *detail = trod_batch_detail(b, i);
    struct trod_slice mask;

    *size = 0;
    if (!(b->flags[i] & (TROD_F_UNKNOWN | TROD_F_PARTIAL)) || !detail)
        return NULL;
    if (b->kind[i] == TROD_REG)
        mask = ((const struct trod_detail_reg *)detail)->mask;
    else if (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE)
        mask = ((const struct trod_detail_mem *)detail)->mask;
    else if (b->kind[i] == TROD_ATOMIC)
        mask = ((const struct trod_detail_atomic *)detail)->mask;
    else
        return NULL;
    *size = mask.len;
    return mask.len ? trod_batch_bytes(b, mask) : NULL;
}

static void take_known(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    uint32_t n;
    const uint8_t *mask = unknown_mask(b, i, &n);
    uint64_t unknown = 0;

    for (uint32_t k = 0; k < n && k < 8; k++)
        unknown |= (uint64_t)mask[k] << (8 * k);
    row->pub.known &= ~unknown;
    /* Unknown as a whole, and nothing says which bits: nothing is known. */
    if (n == 0 && (b->flags[i] & TROD_F_UNKNOWN))
        row->pub.known = 0;
}

static int take_wide(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    uint32_t n, size = b->data[i].len;
    const uint8_t *mask = unknown_mask(b, i, &n);

    row->wide = malloc(sizeof *row->wide + 2 * (size_t)size);
    if (!row->wide)
        return TROD_ERR_NOMEM;
    row->wide->size = size;
    memcpy(row->wide->bytes, trod_batch_bytes(b, b->data[i]), size);
    memset(row->wide->bytes + size, 0xff, size);
    for (uint32_t k = 0; k < n && k < size; k++)
        row->wide->bytes[size + k] = (uint8_t)~mask[k];
    return TROD_OK;
}

/* Id of a disassembly: case and blanks are the disassembler's. */
static uint64_t text_id(const uint8_t *p, uint32_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (uint32_t i = 0; i < n; i++)
        if (p[i] != ' ' && p[i] != '\t')
            h = (h ^ (uint64_t)tolower(p[i])) * 0x100000001b3u;
    h ^= h >> 32;
    return h ? h : 1;
}

static void take_name(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    const char *text = (const char *)trod_batch_bytes(b, b->text[i]);
    uint32_t len = b->text[i].len, n = len < CMP_NAME - 1 ? len : CMP_NAME - 1;
    unsigned bits = 0;

    memcpy(row->name, text, n);
    row->name[n] = '\0';
    row->pub.name_len = n;
    row->name_id = row->pub.kind == TROD_REG
                       ? cmp_name_id(b->meta ? b->meta->isa : TROD_ISA_UNKNOWN, text, len, &bits)
                       : hash_bytes(text, len);
    if (bits)
        row->pub.known &= low_bits(bits);
}

/* What is shown of the row: its record as far as it fits, or its disassembly. */
static void take_text(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    bool printable = b->meta && b->have & b->has[i] & TROD_COL_RAW && b->raw[i].len;
    struct trod_slice s = {0, 0};
    const uint8_t *p;

    if (printable)
        s = b->raw[i];
    else if ((b->have & b->has[i] & TROD_COL_TEXT) && row->pub.kind == TROD_INSTR)
        s = b->text[i];
    p = trod_batch_bytes(b, s);
    while (s.len && (p[s.len - 1] == '\n' || p[s.len - 1] == '\r'))
        s.len--;
    row->text_cut = s.len > CMP_TEXT;
    row->pub.text_len = s.len < CMP_TEXT ? s.len : CMP_TEXT;
    for (uint32_t k = 0; k < row->pub.text_len; k++) {
        if (p[k] < ' ' || p[k] > '~') {
            /* A binary record has no text. */
            row->pub.text_len = p[k] == '\t' ? row->pub.text_len : 0;
            row->text[k] = ' ';
        } else {
            row->text[k] = (char)p[k];
        }
    }
}

/* Mode and security of an instruction: "EL3h_s" is el3h, s. */
static void take_mode(struct cmp_row *row, const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_instr *d = trod_batch_detail(b, i);
    char mode[CMP_NAME];
    uint32_t n;

    if (!d || row->pub.kind != TROD_INSTR || d->mode.len == 0 || b->detail[i].len < sizeof *d)
        return;
    n = d->mode.len < CMP_NAME ? d->mode.len : CMP_NAME;
    for (uint32_t k = 0; k < n; k++)
        mode[k] = (char)tolower(trod_batch_bytes(b, d->mode)[k]);
    for (uint32_t k = n; k-- > 1;)
        if (mode[k] == '_') {
            row->mode_sec = n - k == 2 ? 's' : 'n';
            n = k;
        }
    row->mode = hash_bytes(mode, n);
    row->pub.has |= TROD_COMPARE_MODE;
}

static void take_numbers(struct cmp_row *row, const struct trod_batch *b, uint32_t i, int side,
                         const struct cmp_rules *rules)
{
    struct trod_compare_row *p = &row->pub;
    uint32_t has = b->has[i] & b->have;

    p->has = has & ~(uint32_t)TROD_COMPARE_MODE;
    p->ordinal = b->first + i;
    p->kind = b->kind[i];
    p->flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    p->size = has & TROD_COL_SIZE ? b->size[i] : 0;
    p->stream = b->have & TROD_COL_STREAM ? b->stream[i] : 0;
    p->time = has & TROD_COL_TIME ? b->time[i] : 0;
    p->addr = has & TROD_COL_ADDR ? cmp_slide(rules, side, b->addr[i]) : 0;
    p->paddr = has & TROD_COL_PADDR ? b->paddr[i] : 0;
    p->target = has & TROD_COL_TARGET ? cmp_slide(rules, side, b->target[i]) : 0;
    p->pc = has & TROD_COL_PC ? cmp_slide(rules, side, b->pc[i]) : 0;
    p->index = has & TROD_COL_INDEX ? b->index[i] : 0;
    p->value = has & TROD_COL_VALUE ? b->value[i] : 0;
    p->sub = has & TROD_COL_SUB ? b->sub[i] : 0;
    p->known = UINT64_MAX;
    if ((has & TROD_COL_CODE) && b->code[i].len) {
        p->code_len = (uint8_t)(b->code[i].len < sizeof p->code ? b->code[i].len : sizeof p->code);
        memcpy(p->code, trod_batch_bytes(b, b->code[i]), p->code_len);
    }
}

int cmp_row_take(struct cmp_row *row, const struct trod_batch *b, uint32_t i, int side,
                 const struct cmp_rules *rules)
{
    memset(row, 0, sizeof *row);
    take_numbers(row, b, i, side, rules);
    row->cls = cmp_class_of[row->pub.kind];
    if (row->pub.has & TROD_COL_DETAIL)
        take_mode(row, b, i);
    if (row->pub.has & TROD_COL_VALUE)
        take_known(row, b, i);
    if ((row->pub.has & TROD_COL_TEXT) && b->text[i].len) {
        if (row->pub.kind == TROD_INSTR)
            row->name_id = text_id(trod_batch_bytes(b, b->text[i]), b->text[i].len);
        else
            take_name(row, b, i);
    }
    take_text(row, b, i);
    if ((row->pub.has & TROD_COL_DATA) && b->data[i].len)
        return take_wide(row, b, i);
    return TROD_OK;
}

void cmp_row_fini(struct cmp_row *row)
{
    free(row->wide);
    row->wide = NULL;
}

void cmp_row_public(struct cmp_row *row)
{
    row->pub.name = row->name;
    row->pub.text = row->text;
}

bool cmp_row_same_subject(const struct cmp_row *a, const struct cmp_row *b)
{
    if (a->pub.kind != b->pub.kind)
        return false;
    switch (a->pub.kind) {
    case TROD_REG:
    case TROD_EXCEPTION:
    case TROD_MODE:
        return a->name_id == b->name_id;
    case TROD_MARKER:
    case TROD_SYNC:
        return a->pub.sub == b->pub.sub;
    default:
        return a->pub.addr == b->pub.addr;
    }
}

uint64_t cmp_row_key(const struct cmp_row *r, bool with_code)
{
    uint64_t h = (r->pub.kind + 1) * 0x9e3779b97f4a7c15u, code = 0;

    switch (r->pub.kind) {
    case TROD_REG:
    case TROD_EXCEPTION:
    case TROD_MODE:
        h ^= r->name_id;
        break;
    case TROD_MARKER:
        h ^= r->pub.sub;
        break;
    default:
        h ^= r->pub.addr * 0xc2b2ae3d27d4eb4fu;
        break;
    }
    if (with_code && r->pub.kind == TROD_INSTR && r->pub.code_len) {
        for (unsigned i = 0; i < r->pub.code_len; i++)
            code = code * 0x100000001b3u + r->pub.code[i] + 1;
        h ^= code * 0x165667b19e3779f9u;
    }
    h ^= h >> 31;
    return h * 0xd6e8feb86659fd93u;
}

/* Bits of a register that count. */
static uint64_t counted_bits(const struct cmp_row *a, const struct cmp_rules *rules)
{
    uint64_t bits = UINT64_MAX;

    for (size_t i = 0; a->pub.kind == TROD_REG && i < rules->opt->n_masks; i++)
        if (rules->mask_name[i] == a->name_id)
            bits &= rules->opt->masks[i].mask;
    return bits;
}

/* Byte I of a value, and which of its bits are known. */
static uint8_t byte_of(const struct cmp_row *r, uint32_t i, uint8_t *known)
{
    if (r->wide) {
        *known = i < r->wide->size ? r->wide->bytes[r->wide->size + i] : 0xff;
        return i < r->wide->size ? r->wide->bytes[i] : 0;
    }
    *known = i < 8 ? (uint8_t)(r->pub.known >> (8 * i)) : 0xff;
    return i < 8 ? (uint8_t)(r->pub.value >> (8 * i)) : 0;
}

static bool values_agree(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules)
{
    uint64_t bits = a->pub.known & b->pub.known & counted_bits(a, rules);
    uint32_t n = 8;

    if (!a->wide && !b->wide)
        return ((a->pub.value ^ b->pub.value) & bits) == 0 ||
               (rules->n_slides &&
                ((cmp_slide(rules, 0, a->pub.value) ^ cmp_slide(rules, 1, b->pub.value)) & bits) ==
                    0);
    n = a->wide && a->wide->size > n ? a->wide->size : n;
    n = b->wide && b->wide->size > n ? b->wide->size : n;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t ka, kb, va = byte_of(a, i, &ka), vb = byte_of(b, i, &kb);
        uint8_t count = i < 8 ? (uint8_t)(counted_bits(a, rules) >> (8 * i)) : 0xff;

        if ((va ^ vb) & ka & kb & count)
            return false;
    }
    return true;
}

static bool has_value(const struct cmp_row *r)
{
    return (r->pub.has & TROD_COL_VALUE) || r->wide;
}

static uint32_t flags_differ(const struct cmp_row *a, const struct cmp_row *b)
{
    uint32_t fa = a->pub.flags, fb = b->pub.flags;

    if (!(fa & TROD_F_ISET) || !(fb & TROD_F_ISET))
        return 0;
    return (fa ^ fb) & (TROD_F_ISET | TROD_F_SKIPPED) ? TROD_COL_FLAGS : 0;
}

static bool codes_agree(const struct cmp_row *a, const struct cmp_row *b)
{
    return a->pub.code_len == 0 || b->pub.code_len == 0 ||
           (a->pub.code_len == b->pub.code_len &&
            memcmp(a->pub.code, b->pub.code, a->pub.code_len) == 0);
}

static uint32_t mode_differs(const struct cmp_row *a, const struct cmp_row *b)
{
    if (a->mode != b->mode || (a->mode_sec && b->mode_sec && a->mode_sec != b->mode_sec))
        return TROD_COMPARE_MODE;
    return 0;
}

uint32_t cmp_row_differs(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules)
{
    const struct trod_compare_row *p = &a->pub, *q = &b->pub;
    uint32_t both = p->has & q->has & rules->compare, d = 0;

    if (p->kind != q->kind)
        return TROD_COL_KIND;
    d |= (both & TROD_COL_TIME) && p->time != q->time ? TROD_COL_TIME : 0;
    d |= (both & TROD_COL_INDEX) && p->index != q->index ? TROD_COL_INDEX : 0;
    d |= (both & TROD_COL_ADDR) && p->addr != q->addr ? TROD_COL_ADDR : 0;
    d |= (both & TROD_COL_PADDR) && p->paddr != q->paddr ? TROD_COL_PADDR : 0;
    d |= (both & TROD_COL_TARGET) && p->target != q->target ? TROD_COL_TARGET : 0;
    d |= (both & TROD_COL_SUB) && p->sub != q->sub ? TROD_COL_SUB : 0;
    d |= (both & TROD_COL_CODE) && !codes_agree(a, b) ? TROD_COL_CODE : 0;
    d |= (both & TROD_COMPARE_MODE) ? mode_differs(a, b) : 0;
    d |= (rules->compare & TROD_COL_FLAGS) ? flags_differ(a, b) : 0;
    if ((both & TROD_COL_SIZE) && p->kind != TROD_REG && p->size != q->size &&
        p->kind != TROD_INSTR)
        d |= TROD_COL_SIZE;
    if ((rules->compare & TROD_COL_VALUE) && has_value(a) && has_value(b) &&
        !values_agree(a, b, rules))
        d |= TROD_COL_VALUE;
    if ((p->kind == TROD_REG || (both & TROD_COL_TEXT)) && a->name_id && b->name_id &&
        a->name_id != b->name_id)
        d |= TROD_COL_TEXT;
    return d;
}
