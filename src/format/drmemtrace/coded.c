/*
 * coded.c - instructions that bring their encodings, as all do that come for the first time.
 *
 * Implements docs/formats/drmemtrace.md, "The reader's state", for the entries that stand as the
 * tracer writes them: those of the encoding, then the instruction. All else is left to entry.c,
 * which says what is wrong with it; both make the same rows.
 */
#include "format/drmemtrace/decode.h"

#include "core/endian.h"

#include <string.h>

/* An instruction and its encoding, as they stand in the trace. */
struct coded {
    uint64_t addr;
    uint32_t type, size;
    uint32_t len; /* of the encoding */
    uint8_t code[16];
};

/*
 * Do entries from P on, up to and without END, make an instruction with an encoding that belongs to
 * it, of one that the hot loop knows? Returns where the next entry begins, or NULL.
 */
static const uint8_t *coded_entries(const struct drm_dec *d, const uint8_t *p, const uint8_t *end,
                                    struct coded *to)
{
    const size_t width = d->width, piece = width - 4;
    const struct drm_hot *h;
    uint32_t n = 0, key;

    for (; (size_t)(end - p) > width && (key = trod_load_le32(p), (uint16_t)key == DRM_ENCODING);
         p += width) {
        if (n + piece > sizeof to->code || key >> 16 == 0 || key >> 16 > piece)
            return NULL;
        memcpy(to->code + n, p + 4, 4);
        if (width == DRM_ENTRY_64)
            memcpy(to->code + n + 4, p + 8, 4);
        n += key >> 16;
    }
    if (n == 0 || n > DRM_CODE_MAX || (size_t)(end - p) < width)
        return NULL;
    key = trod_load_le32(p);
    to->type = (uint16_t)key;
    to->size = key >> 16;
    to->len = n;
    h = &d->side->hot[to->type < 64 ? to->type : 63];
    if (!h->instr || to->size < h->least || (to->size != n && !(d->filetype & TROD_DRM_REGDEPS)))
        return NULL;
    to->addr = width == DRM_ENTRY_64
                   ? (uint64_t)((int64_t)(trod_load_le64(p + 4) << d->shift) >> d->shift)
                   : trod_load_le32(p + 4);
    return p + width;
}

/* The instruction IN with the encoding CODE, from the entries [FROM, TO), is the next row. */
static void put_coded(struct drm_call *c, const struct coded *in, struct trod_slice code,
                      const uint8_t *from, const uint8_t *to)
{
    struct trod_batch *out = c->out;
    struct drm_side *side = c->d->side;
    const struct drm_hot *h = &side->hot[in->type];
    const bool syscall = drm_is_syscall(c->d->meta->isa, in->code, in->len);
    const uint32_t n = out->n;

    c->d->instrs += h->counts;
    c->d->pc = in->addr;
    out->has[n] = TROD_COL_CODE & out->have;
    out->kind[n] = h->kind;
    out->sub[n] = (uint16_t)in->type;
    out->flags[n] = h->flags | TROD_F_NEWCODE;
    if (syscall && !(h->flags & TROD_F_BRANCH))
        out->flags[n] |= TROD_BR_SYSCALL;
    out->size[n] = in->size;
    out->addr[n] = in->addr;
    out->pc[n] = in->addr;
    out->index[n] = c->d->instrs;
    out->code[n] = code;
    out->raw[n] = (struct trod_slice){(uint32_t)(from - c->base), (uint32_t)(to - from)};
    out->n = n + 1;
    if (out->have & TROD_COL_CODE && !drm_once(c))
        return; /* nobody asks for proofs */
    if (out->have & TROD_COL_CODE)
        side->coded[side->n_coded++] = n;
    if (!syscall)
        drm_side_prove(side, in->addr);
}

const uint8_t *drm_coded_rows(struct drm_call *c, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    const uint8_t *end = c->end - (c->last ? 0 : d->width), *next;
    const uint32_t from = c->out->n;
    struct coded in;

    while (c->out->n < c->out->cap && end - p >= 2 && trod_load_le16(p) == DRM_ENCODING &&
           (next = coded_entries(d, p, end, &in)) != NULL) {
        struct trod_slice code;

        if (drm_side_learn(d->side, in.addr, in.code, in.len, &code) < 0)
            break;
        put_coded(c, &in, code, p, next);
        p = next;
    }
    d->records += c->out->n - from;
    d->footer = d->footer && c->out->n == from;
    return p;
}
