/*
 * shapes.c - what rows look like, each kept once. Implements shapes.h.
 *
 * A section: their number, then each: kind, flags, bytes of its opcode, of its text (a byte each),
 * difference of its address to the one before (zigzag), if flags say so its size, packed; opcode,
 * text.
 */
#include "navigate/shapes.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "navigate/events.h"
#include "navigate/nav.h"

#include <stdlib.h>
#include <string.h>

/* A row as a shape: where its opcode and its text are. */
struct look {
    struct nav_shape as;
    const uint8_t *code, *text;
};

int nav_shapes_init(struct nav_shapes *s)
{
    memset(s, 0, sizeof *s);
    s->turn = 1;
    s->slot = calloc(NAV_SHAPE_SLOTS, sizeof *s->slot);
    return s->slot ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_shapes_fini(struct nav_shapes *s)
{
    free(s->at);
    free(s->slot);
    free(s->met);
    trod_buf_fini(&s->bytes);
    memset(s, 0, sizeof *s);
}

/* N bytes at P, the first 16 of them, as a number; up to eight are told apart by it. */
static uint64_t word(const uint8_t *p, size_t n)
{
    uint64_t a = 0, b = 0;

    if (n == 4) {
        a = trod_load_le32(p);
    } else if (n <= 8) {
        for (size_t i = 0; i < n; i++)
            a |= (uint64_t)p[i] << 8 * i;
    } else {
        memcpy(&a, p, 8);
        memcpy(&b, p + (n < 16 ? n - 8 : 8), 8);
    }
    return a ^ b * UINT64_C(0xff51afd7ed558ccd);
}

/* The word of L: of its opcode, or, without one, of its text. */
static void set_word(struct look *l)
{
    if (l->as.code_n)
        l->as.word = word(l->code, l->as.code_n);
    else if (l->as.text_n)
        l->as.word = word(l->text, l->as.text_n);
}

/* Instructions are told apart by address and opcode, few of them by their text alone. */
static uint32_t hash(const struct look *l)
{
    uint64_t h =
        l->as.addr * UINT64_C(0x9e3779b97f4a7c15) ^ l->as.kind ^ (uint64_t)l->as.text_n << 8;

    h ^= l->as.word * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 40) & (NAV_SHAPE_SLOTS - 1);
}

static bool is(const struct nav_shapes *s, uint32_t id, const struct look *l)
{
    const struct nav_shape *p = &s->at[id];
    const uint8_t *bytes = s->bytes.p + p->at;

    return p->addr == l->as.addr && p->word == l->as.word && p->kind == l->as.kind &&
           p->flags == l->as.flags && p->size == l->as.size && p->code_n == l->as.code_n &&
           p->text_n == l->as.text_n &&
           (p->code_n <= 8 || memcmp(bytes, l->code, p->code_n) == 0) &&
           (p->text_n == 0 || memcmp(bytes + p->code_n, l->text, p->text_n) == 0);
}

static int add(struct nav_shapes *s, const struct look *l)
{
    const size_t n = (size_t)l->as.code_n + l->as.text_n;
    uint8_t *to;

    if (!trod_grow(&s->at, s->n, &s->cap, sizeof *s->at, 256) ||
        trod_buf_reserve(&s->bytes, n + 1) < 0)
        return TROD_ERR_NOMEM;
    s->at[s->n] = l->as;
    s->at[s->n++].at = (uint32_t)s->bytes.n;
    to = s->bytes.p + s->bytes.n;
    if (l->as.code_n)
        memcpy(to, l->code, l->as.code_n);
    if (l->as.text_n)
        memcpy(to + l->as.code_n, l->text, l->as.text_n);
    s->bytes.n += n;
    return TROD_OK;
}

/* The number of shape L, which is kept if there is room. */
static int find(struct nav_shapes *s, const struct look *l, uint32_t *out)
{
    uint32_t at = hash(l);

    for (; s->slot[at]; at = (at + 1) & (NAV_SHAPE_SLOTS - 1))
        if (is(s, s->slot[at] - 1, l)) {
            *out = s->slot[at] - 1;
            return TROD_OK;
        }
    *out = NAV_NO_SHAPE;
    if (s->n == NAV_SHAPES || s->bytes.n + l->as.code_n + l->as.text_n > NAV_SHAPE_BYTES)
        return TROD_OK;
    if (add(s, l) < 0)
        return TROD_ERR_NOMEM;
    *out = s->n - 1;
    s->slot[at] = s->n;
    return TROD_OK;
}

/* False: no shape has as many bytes, or it is at the address that stands for none. */
static bool look_at(const struct trod_batch *b, uint32_t i, struct look *l)
{
    const uint32_t code = nav_has(b, i, TROD_COL_CODE) ? b->code[i].len : 0,
                   text = nav_has(b, i, TROD_COL_TEXT) ? b->text[i].len : 0;
    const bool is = b->kind[i] == TROD_INSTR, placed = is && nav_has(b, i, TROD_COL_ADDR),
               sized = is && nav_has(b, i, TROD_COL_SIZE);

    if (code > NAV_SHAPE_CODE || text > NAV_SHAPE_TEXT || (sized && b->size[i] == NAV_NO_SIZE) ||
        (placed && b->addr[i] == TROD_NOWHERE))
        return false;
    *l = (struct look){
        .as = {.addr = placed ? b->addr[i] : 0,
               .size = sized ? b->size[i] : NAV_NO_SIZE,
               .kind = b->kind[i],
               .flags = (uint8_t)((placed ? NAV_SHAPE_PLACED : 0) | (sized ? NAV_SHAPE_SIZED : 0)),
               .code_n = (uint8_t)code,
               .text_n = (uint8_t)text}};
    if ((placed || code) && nav_has(b, i, TROD_COL_FLAGS))
        l->as.flags |= (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT & NAV_SHAPE_ISET);
    if (code)
        l->code = trod_batch_bytes(b, b->code[i]);
    if (text)
        l->text = trod_batch_bytes(b, b->text[i]);
    set_word(l);
    return true;
}

int nav_shapes_find(struct nav_shapes *s, const struct trod_batch *b, uint32_t i, uint32_t *out)
{
    struct look l;

    *out = NAV_NO_SHAPE;
    return look_at(b, i, &l) ? find(s, &l, out) : TROD_OK;
}

int nav_shapes_first(struct nav_shapes *s, uint32_t id)
{
    if (!trod_grow(&s->met, s->n_met, &s->cap_met, sizeof *s->met, 64))
        return TROD_ERR_NOMEM;
    s->met[s->n_met++] = id;
    s->at[id].turn = s->turn;
    s->at[id].count = 0;
    s->at[id].steps = 0;
    return TROD_OK;
}

int nav_shapes_end(struct nav_shapes *s, uint32_t block, struct nav_postings *out)
{
    const uint32_t alone = 1u << TROD_INSTR; /* of no kinds beside them: that takes least */
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n_met; i++) {
        rc = nav_postings_add(out, s->met[i], block, s->at[s->met[i]].count, alone);
        if (rc == TROD_OK)
            out->at[out->n - 1].steps = s->at[s->met[i]].steps;
    }
    if (rc == TROD_OK && s->missed) {
        rc = nav_postings_add(out, NAV_ANY_SHAPE, block, 0, alone);
        if (rc == TROD_OK)
            out->at[out->n - 1].steps = s->missed;
    }
    s->n_met = 0;
    s->missed = 0;
    s->turn++;
    return rc;
}

/* ---- as bytes */

int nav_shapes_save(struct nav_shapes *s, struct trod_buf *out)
{
    enum { HEAD = 4, PACKED = 10, SIZE = 5 };
    const struct nav_shape *p = s->at + s->saved, *end = s->at + s->n;
    size_t most = PACKED;
    uint64_t before = 0;
    uint8_t *to;

    for (const struct nav_shape *q = p; q < end; q++)
        most += HEAD + PACKED + SIZE + (size_t)q->code_n + q->text_n;
    if (trod_buf_reserve(out, most) < 0)
        return TROD_ERR_NOMEM;
    to = trod_pack_at(out->p + out->n, (uint64_t)(end - p));
    for (; p < end; p++) {
        const size_t n = (size_t)p->code_n + p->text_n;

        *to++ = p->kind;
        *to++ = p->flags;
        *to++ = p->code_n;
        *to++ = p->text_n;
        to = trod_pack_at(to, trod_zigzag(p->addr, before));
        if (p->flags & NAV_SHAPE_SIZED)
            to = trod_pack_at(to, p->size);
        if (n)
            memcpy(to, s->bytes.p + p->at, n);
        to += n;
        before = p->addr;
    }
    out->n = (size_t)(to - out->p);
    s->saved = s->n;
    return TROD_OK;
}

/* The shape that IN begins with; that before it is at *ADDR. False: it is none. */
static bool get(struct trod_span *in, uint64_t *addr, struct look *l)
{
    const uint8_t *head = in->p;
    uint64_t delta, size = NAV_NO_SIZE;

    if (in->n < 4)
        return false;
    in->p += 4;
    in->n -= 4;
    if (trod_unpack(in, &delta) < 0 ||
        (head[1] & NAV_SHAPE_SIZED && (trod_unpack(in, &size) < 0 || size >= NAV_NO_SIZE)))
        return false;
    if ((size_t)head[2] + head[3] > in->n || head[0] >= TROD_KINDS || head[2] > NAV_SHAPE_CODE ||
        head[1] > (NAV_SHAPE_SIZED | NAV_SHAPE_PLACED | NAV_SHAPE_ISET))
        return false;
    *addr = trod_unzigzag(delta, *addr);
    *l = (struct look){{.addr = *addr,
                        .size = (uint32_t)size,
                        .kind = head[0],
                        .flags = head[1],
                        .code_n = head[2],
                        .text_n = head[3]},
                       in->p,
                       in->p + head[2]};
    set_word(l);
    in->p += head[2] + head[3];
    in->n -= (size_t)head[2] + head[3];
    return true;
}

int nav_shapes_load(struct nav_shapes *s, struct trod_span in)
{
    uint64_t n, addr = 0;
    struct look l;
    int rc = trod_unpack(&in, &n);

    if (rc < 0 || n > NAV_SHAPES - s->n)
        return TROD_ERR_CORRUPT;
    for (; rc == TROD_OK && n; n--) {
        if (!get(&in, &addr, &l) || s->bytes.n + l.as.code_n + l.as.text_n > NAV_SHAPE_BYTES)
            return TROD_ERR_CORRUPT;
        if (s->slot) {
            uint32_t id, before = s->n;

            rc = find(s, &l, &id);
            if (rc == TROD_OK && s->n == before)
                rc = TROD_ERR_CORRUPT; /* it is there already */
        } else {
            rc = add(s, &l);
        }
    }
    s->saved = s->n;
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}

int nav_shapes_of(struct nav_shapes *s, const struct nav_index *x, const struct nav_segment *from)
{
    const struct nav_section *section = from->shapes;
    struct trod_buf room = {0};
    int rc;

    if (!section)
        return TROD_OK;
    rc = nav_index_check(x, section);
    if (rc == TROD_OK)
        rc = nav_unsqueeze(x, x->file + section->offset, section->length, section->raw, &room);
    if (rc == TROD_OK)
        rc = nav_shapes_load(s, (struct trod_span){.p = room.p, .n = room.n, .last = true});
    trod_buf_fini(&room);
    return rc;
}
