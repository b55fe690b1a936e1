/*
 * coded.c - instruction entries that bring their encoding, as each instruction does when it comes
 * for the first time.
 *
 * Implements docs/formats/drmemtrace.md, "The reader's state", for entries in the order in which
 * the tracer writes them: those of the encoding, then the instruction. All other orders are left to
 * entry.c, which reports what is wrong with them; both make the same rows.
 */
#include "format/drmemtrace/decode.h"

#include "core/endian.h"

#include <string.h>

/* An instruction and its encoding, as they stand in the trace. */
struct coded {
    uint64_t addr;
    uint32_t type, size;
    uint32_t len;           /* of the encoding */
    uint8_t code[DRM_SLOT]; /* zeros behind it */
};

/*
 * The instruction entry P, with the encoding TO->len bytes long. False: not one that the hot loop
 * handles.
 */
TROD_HOT bool coded_instr(const struct drm_dec *d, const uint8_t *p, struct coded *to)
{
    const uint32_t key = trod_load_le32(p);
    const struct drm_hot *h;

    to->type = (uint16_t)key;
    to->size = key >> 16;
    h = &d->side->hot[to->type < 64 ? to->type : 63];
    if (!h->instr || to->size < h->least ||
        (to->size != to->len && !(d->filetype & TROD_DRM_REGDEPS)))
        return false;
    to->addr = d->width == DRM_ENTRY_64
                   ? (uint64_t)((int64_t)(trod_load_le64(p + 4) << d->shift) >> d->shift)
                   : trod_load_le32(p + 4);
    return true;
}

/*
 * Are the entries from P on, before END, an instruction that the hot loop handles, behind an
 * encoding of matching length? Returns where the next entry begins, or NULL.
 */
static const uint8_t *coded_entries(const struct drm_dec *d, const uint8_t *p, const uint8_t *end,
                                    struct coded *to)
{
    const size_t width = d->width, piece = width - 4;
    uint32_t n = 0, key;

    memset(to->code, 0, sizeof to->code);
    for (; (size_t)(end - p) > width && (key = trod_load_le32(p), (uint16_t)key == DRM_ENCODING);
         p += width) {
        if (n + piece > sizeof to->code || key >> 16 == 0 || key >> 16 > piece)
            return NULL;
        memcpy(to->code + n, p + 4, key >> 16);
        n += key >> 16;
    }
    to->len = n;
    if (n == 0 || n > DRM_CODE_MAX || (size_t)(end - p) < width || !coded_instr(d, p, to))
        return NULL;
    return p + width;
}

/* The same for the most frequent case: an encoding of one entry, in a 64-bit trace. */
TROD_HOT const uint8_t *short_entries(const struct drm_dec *d, const uint8_t *p, const uint8_t *end,
                                      struct coded *to)
{
    uint32_t n;

    if (d->width != DRM_ENTRY_64 || end - p < 2 * DRM_ENTRY_64)
        return coded_entries(d, p, end, to);
    n = trod_load_le16(p + 2);
    if (n - 1 >= 8 || trod_load_le16(p + DRM_ENTRY_64) == DRM_ENCODING)
        return coded_entries(d, p, end, to);
    to->len = n;
    trod_store_le64(to->code, trod_load_le64(p + 4) & UINT64_MAX >> (64 - 8 * n));
    memset(to->code + 8, 0, DRM_SLOT - 8);
    return coded_instr(d, p + DRM_ENTRY_64, to) ? p + 2 * (size_t)DRM_ENTRY_64 : NULL;
}

/* Row N is of the entries [FROM, TO) and belongs to the instruction of the decoder's pc. */
TROD_HOT void put_place(const struct drm_call *c, uint32_t n, const uint8_t *from,
                        const uint8_t *to)
{
    struct trod_batch *out = c->out;

    out->pc[n] = c->d->pc;
    out->index[n] = c->d->instrs;
    out->raw[n] = (struct trod_slice){(uint32_t)(from - c->base), (uint32_t)(to - from)};
}

/* The instruction IN with the encoding CODE, from the entries [FROM, TO), is the next row. */
TROD_HOT void put_coded(struct drm_call *c, const struct coded *in, struct trod_slice code,
                        const uint8_t *from, const uint8_t *to, const bool lean)
{
    struct trod_batch *out = c->out;
    struct drm_side *side = c->d->side;
    const struct drm_hot *h = &side->hot[in->type];
    const bool syscall = drm_is_syscall(c->d->meta->isa, in->code, in->len);
    const uint32_t n = out->n++;

    c->d->instrs += h->counts;
    c->d->pc = in->addr;
    side->vague |= (h->flags & TROD_F_NOFETCH) != 0;
    out->kind[n] = h->kind;
    out->sub[n] = (uint16_t)in->type;
    out->flags[n] = h->flags | TROD_F_NEWCODE |
                    (syscall && !(h->flags & TROD_F_BRANCH) ? (uint32_t)TROD_BR_SYSCALL : 0);
    out->size[n] = in->size;
    out->addr[n] = in->addr;
    if (!lean) {
        put_place(c, n, from, to);
        out->has[n] = TROD_COL_CODE & out->have;
        out->code[n] = code;
        if (out->have & TROD_COL_CODE && !drm_once(c))
            return; /* proofs are not needed */
        if (out->have & TROD_COL_CODE)
            side->coded[side->n_coded++] = n;
    }
    if (syscall)
        drm_side_call(side, in->addr);
    else
        drm_side_prove(side, in->addr);
}

/* Row for the data entry P, which stands behind an instruction of the same run. */
TROD_HOT void put_data(struct drm_call *c, const uint8_t *p, const bool lean)
{
    const uint32_t key = trod_load_le32(p);
    const struct drm_hot *h = &c->d->side->hot[(uint16_t)key];
    struct trod_batch *out = c->out;
    const uint32_t n = out->n++;

    out->kind[n] = h->kind;
    out->sub[n] = (uint16_t)key;
    out->flags[n] = h->flags;
    out->size[n] = key >> 16;
    out->addr[n] = c->d->width == DRM_ENTRY_64
                       ? (uint64_t)((int64_t)(trod_load_le64(p + 4) << c->d->shift) >> c->d->shift)
                       : trod_load_le32(p + 4);
    if (!lean) {
        put_place(c, n, p, p + c->d->width);
        out->has[n] = 0;
    }
}

static bool is_data(const struct drm_side *side, const uint8_t *p)
{
    const uint32_t type = trod_load_le16(p);
    const struct drm_hot *h = &side->hot[type < 64 ? type : 63];

    return !h->instr && h->least == 0;
}

/* LEAN: no columns beyond DRM_LEAN are wanted. */
TROD_HOT const uint8_t *coded_rows(struct drm_call *c, const uint8_t *p, const bool lean)
{
    const struct drm_dec *d = c->d;
    const uint8_t *end = c->end - (c->last ? 0 : d->width), *next;
    struct coded in;

    while (c->out->n < c->out->cap && end - p >= 2 && trod_load_le16(p) == DRM_ENCODING &&
           (next = short_entries(d, p, end, &in)) != NULL) {
        struct trod_slice code;

        if (drm_side_learn(d->side, in.addr, in.code, in.len, &code) < 0)
            break;
        put_coded(c, &in, code, p, next, lean);
        for (p = next; c->out->n < c->out->cap && end - p >= d->width && is_data(d->side, p);
             p += d->width)
            put_data(c, p, lean);
    }
    return p;
}

const uint8_t *drm_coded_rows(struct drm_call *c, const uint8_t *p)
{
    const uint32_t from = c->out->n;
    const uint32_t more = TROD_COL_PC | TROD_COL_INDEX | TROD_COL_RAW | TROD_COL_CODE;

    if (c->end - p < 2 || trod_load_le16(p) != DRM_ENCODING)
        return p;
    p = c->out->have & more ? coded_rows(c, p, false) : coded_rows(c, p, true);
    c->d->records += c->out->n - from;
    c->d->footer = c->d->footer && c->out->n == from;
    return p;
}
