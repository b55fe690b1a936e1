/*
 * agree.c - what it means that two rows agree.
 *
 * Implements the matching functions of row.h and the rules of compare.h: what a row does not say is
 * not compared, unknown digits and bits that were not written match anything, values are numbers
 * whatever their notation, and a value that is an address may slide as addresses do.
 */
#include "compare/row.h"

#include <string.h>

enum { NEAR = 1 << 20 };

uint64_t cmp_slide(const struct cmp_rules *rules, int side, uint64_t addr)
{
    for (size_t i = 0; i < rules->n_slides; i++) {
        const struct trod_slide *s = &rules->slides[i];

        if (s->side == side && addr >= s->lo && addr <= s->hi)
            return addr + s->offset;
    }
    return addr;
}

bool cmp_value_slides(const struct cmp_rules *rules, uint64_t a, uint64_t b, uint64_t mask)
{
    if (rules->n_slides == 0)
        return false;
    if (((cmp_slide(rules, 0, a) ^ cmp_slide(rules, 1, b)) & mask) == 0)
        return true;
    /* What was found ends where nobody has been yet: pointers may go a little further. */
    for (size_t i = 0; rules->opt->auto_slide && i < rules->n_slides; i++) {
        const struct trod_slide *s = &rules->slides[i];

        if (s->side == 0 && ((a + s->offset) ^ b) == 0 && a + NEAR >= s->lo && a <= s->hi + NEAR)
            return true;
    }
    return false;
}

/* Names of registers: the same, or one of them says the bank and the other does not. */
static bool names_agree(const struct cmp_row *a, const struct cmp_row *b)
{
    return a->name_id == b->name_id ||
           (a->base_id == b->base_id && a->banked != b->banked && a->pub.kind == TROD_REG);
}

bool cmp_row_same_subject(const struct cmp_row *a, const struct cmp_row *b)
{
    if (a->pub.kind != b->pub.kind)
        return false;
    switch (a->pub.kind) {
    case TROD_REG:
        return names_agree(a, b);
    case TROD_EXCEPTION:
    case TROD_MODE:
        return a->name_id == b->name_id;
    case TROD_MARKER:
    case TROD_SYNC:
        return a->pub.sub == b->pub.sub;
    default:
        return a->addr == b->addr;
    }
}

uint64_t cmp_row_key(const struct cmp_row *r, bool with_code)
{
    uint64_t h = r->subject, code = 0;

    if (r->pub.kind == TROD_EXCEPTION || r->pub.kind == TROD_MODE)
        h ^= r->name_id + r->pub.value * 0xc2b2ae3d27d4eb4fu;
    else if (r->cls == 4)
        h ^= r->addr * 0xc2b2ae3d27d4eb4fu + r->pub.value + r->pub.sub;
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
        if (rules->mask_name[i] == a->name_id || rules->mask_name[i] == a->base_id)
            bits &= rules->opt->masks[i].mask;
    return bits;
}

uint8_t cmp_value_byte(const struct cmp_row *r, uint32_t i, uint8_t *known)
{
    *known = 0xff;
    if (r->wide) {
        if (i < r->wide_size)
            *known = r->wide[r->wide_size + i];
        return i < r->wide_size ? r->wide[i] : 0;
    }
    if (i < 8)
        *known = (uint8_t)(r->pub.known >> (8 * i));
    else if (r->bits)
        *known = 0; /* a name that stands for fewer bits says nothing of those above */
    return i < 8 ? (uint8_t)(r->pub.value >> (8 * i)) : 0;
}

int64_t cmp_value_differs_at(const struct cmp_row *a, const struct cmp_row *b, uint32_t n,
                             const struct cmp_rules *rules)
{
    const uint64_t counted = rules->opt->n_masks ? counted_bits(a, rules) : UINT64_MAX;

    for (uint32_t i = n; i-- > 0;) {
        uint8_t ka, kb, va = cmp_value_byte(a, i, &ka), vb = cmp_value_byte(b, i, &kb);
        uint8_t count = i < 8 ? (uint8_t)(counted >> (8 * i)) : counted == UINT64_MAX ? 0xff : 0;

        if ((va ^ vb) & ka & kb & count)
            return i;
    }
    return -1;
}

static bool values_agree(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules)
{
    uint32_t n = 8;

    if (!a->wide && !b->wide) {
        const uint64_t bits = a->pub.known & b->pub.known &
                              (rules->opt->n_masks ? counted_bits(a, rules) : UINT64_MAX);

        return ((a->pub.value ^ b->pub.value) & bits) == 0 ||
               cmp_value_slides(rules, a->pub.value, b->pub.value, bits);
    }
    n = a->wide && a->wide_size > n ? a->wide_size : n;
    n = b->wide && b->wide_size > n ? b->wide_size : n;
    return cmp_value_differs_at(a, b, n, rules) < 0;
}

static bool has_value(const struct cmp_row *r)
{
    return (r->pub.has & TROD_COL_VALUE) || r->wide;
}

/* Tracers of different kinds have no flags in common but what they say of instructions. */
uint32_t cmp_flags_differ(uint32_t a, uint32_t b, const struct cmp_fields *f)
{
    uint32_t bits = f->flags;

    if (!f->alike)
        bits &= (a & TROD_F_ISET) && (b & TROD_F_ISET) ? TROD_F_ISET | TROD_F_SKIPPED : 0;
    return (a ^ b) & bits;
}

static bool details_differ(const struct cmp_row *a, const struct cmp_row *b,
                           const struct cmp_rules *rules)
{
    if (cmp_detail_bytes_differ(&a->detail, &b->detail))
        return true;
    return a->detail.of && a->detail.of == b->detail.of &&
           cmp_detail_differs(&a->detail, &b->detail, &rules->fields) != 0;
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

/* Whether the sizes count: those of registers follow from what they are. */
static bool sizes_count(unsigned kind, const struct cmp_fields *f)
{
    return kind != TROD_REG && (kind != TROD_INSTR || f->alike);
}

bool cmp_unit_names_differ(const struct trod_meta *a, unsigned unit_a, const struct trod_meta *b,
                           unsigned unit_b)
{
    return strcmp(trod_meta_unit_name(a, unit_a), trod_meta_unit_name(b, unit_b)) != 0;
}

const char *cmp_stream(const struct cmp_rules *rules, int side, uint32_t stream)
{
    const struct trod_meta *m = rules->meta[side];

    return stream < m->n_streams && m->streams[stream].name ? m->streams[stream].name : "";
}

uint64_t cmp_pid(const struct cmp_rules *rules, int side, uint32_t stream)
{
    const struct trod_meta *m = rules->meta[side];

    return stream < m->n_streams ? m->streams[stream].pid : TROD_NOWHERE;
}

/* What one row says and the other does not, although its side does in other rows of the kind. */
static uint32_t missing(const struct cmp_row *a, const struct cmp_row *b,
                        const struct cmp_fields *f)
{
    const uint32_t values = TROD_COL_VALUE | TROD_COL_DATA;
    uint32_t d = (a->pub.has ^ b->pub.has) & f->given[a->pub.kind] & f->columns & ~values;

    if (has_value(a) != has_value(b) && (f->given[a->pub.kind] & f->columns & values))
        d |= TROD_COL_VALUE;
    return d;
}

/* The number of a thread is what its stream is called: threads of two runs never share it. */
static bool value_counts(const struct cmp_row *a, uint32_t columns)
{
    return a->pub.kind != TROD_THREAD || (columns & TROD_COL_STREAM);
}

uint32_t cmp_row_differs(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules)
{
    const struct trod_compare_row *p = &a->pub, *q = &b->pub;
    const uint32_t columns = rules->fields.columns, both = p->has & q->has & columns;
    uint32_t d;

    if (p->kind != q->kind)
        return TROD_COL_KIND;
    d = missing(a, b, &rules->fields);
    if ((columns & TROD_COL_STREAM) &&
        strcmp(cmp_stream(rules, 0, p->stream), cmp_stream(rules, 1, q->stream)) != 0)
        d |= TROD_COL_STREAM;
    if ((both & TROD_COMPARE_PID) && cmp_pid(rules, 0, p->stream) != cmp_pid(rules, 1, q->stream))
        d |= TROD_COMPARE_PID;
    if (both & (TROD_COL_TIME | TROD_COL_UNIT))
        d |= cmp_times_differ(rules->meta, both, p->time, a->unit, q->time, b->unit);
    d |= (both & TROD_COL_INDEX) && p->index != q->index ? TROD_COL_INDEX : 0;
    d |= (both & TROD_COL_ADDR) && a->addr != b->addr ? TROD_COL_ADDR : 0;
    d |= (both & TROD_COL_PADDR) && p->paddr != q->paddr ? TROD_COL_PADDR : 0;
    d |= (both & TROD_COL_TARGET) && a->target != b->target ? TROD_COL_TARGET : 0;
    d |= (both & TROD_COL_PC) && a->pc != b->pc ? TROD_COL_PC : 0;
    d |= (both & TROD_COL_SUB) && p->sub != q->sub ? TROD_COL_SUB : 0;
    d |= (both & TROD_COL_CODE) && !codes_agree(a, b) ? TROD_COL_CODE : 0;
    d |= (both & TROD_COMPARE_MODE) ? mode_differs(a, b) : 0;
    if ((columns & TROD_COL_FLAGS) && cmp_flags_differ(p->flags, q->flags, &rules->fields))
        d |= TROD_COL_FLAGS;
    d |= (columns & TROD_COL_DETAIL) && details_differ(a, b, rules) ? TROD_COL_DETAIL : 0;
    d |= (both & TROD_COL_SIZE) && sizes_count(p->kind, &rules->fields) && p->size != q->size
             ? TROD_COL_SIZE
             : 0;
    if ((columns & TROD_COL_VALUE) && value_counts(a, columns) && has_value(a) && has_value(b) &&
        !values_agree(a, b, rules))
        d |= TROD_COL_VALUE;
    if ((columns & (p->kind == TROD_INSTR ? (uint32_t)TROD_COL_TEXT : TROD_COMPARE_NAME)) &&
        a->name_id && b->name_id && !names_agree(a, b))
        d |= TROD_COL_TEXT;
    return d;
}
