/*
 * classes.c - what rows have in common, each kept once. Implements classes.h.
 *
 * A section: their number, then each: what it is, flags and size, stream and sub (packed).
 */
#include "navigate/classes.h"

#include "core/grow.h"
#include "core/pack.h"
#include "core/wide.h"
#include "isa/flow.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 10 + 10 + 10, CONDITION = TROD_FLOW_MADE | TROD_FLOW_PASSED };

/* What say makes of a row that says too much, and what it makes of none. */
#define TOO_MUCH UINT64_MAX
#define NOTHING  (UINT64_C(1) << 36)

int nav_classes_init(struct nav_classes *c, const struct trod_format *f)
{
    memset(c, 0, sizeof *c);
    c->turn = 1;
    c->modes = f && flow_always(f->name);
    c->slot = calloc(NAV_CLASS_SLOTS, sizeof *c->slot);
    for (unsigned i = 0; i < NAV_CLASS_NEAR; i++)
        c->near[i].says = NOTHING;
    return c->slot ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_classes_fini(struct nav_classes *c)
{
    free(c->at);
    free(c->slot);
    free(c->met);
    c->at = NULL;
    c->slot = c->met = NULL;
}

static int add(struct nav_classes *c, const struct nav_class *is)
{
    if (!trod_grow(&c->at, c->n, &c->cap, sizeof *c->at, 64))
        return TROD_ERR_NOMEM;
    c->at[c->n++] = *is;
    return TROD_OK;
}

/* The number of class IS, which is kept if there is room, to *OUT; NAV_CLASSES: it is not. */
static int find(struct nav_classes *c, const struct nav_class *is, uint32_t *out)
{
    const uint64_t h = (is->what ^ is->more * UINT64_C(0x94d049bb133111eb)) + is->of;
    uint32_t at = (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NAV_CLASS_SLOTS;

    for (; c->slot[at]; at = (at + 1) % NAV_CLASS_SLOTS) {
        const struct nav_class *p = &c->at[c->slot[at] - 1];

        if (p->what == is->what && p->more == is->more && p->of == is->of) {
            *out = c->slot[at] - 1;
            return TROD_OK;
        }
    }
    *out = c->n;
    if (c->n == NAV_CLASSES)
        return TROD_OK;
    if (add(c, is) < 0)
        return TROD_ERR_NOMEM;
    c->slot[at] = c->n;
    return TROD_OK;
}

/* ---- rows */

/*
 * All that row I says of its class, streams counted from BASE: flags (26 bits), sub (6), columns
 * (12), kind (5), opcode (6), size (5), stream (4); TOO_MUCH where one of them is larger.
 */
static inline __attribute__((always_inline)) void say(const struct trod_batch *b, uint32_t base,
                                                      const uint8_t *opcode, uint64_t *says)
{
    const uint32_t have = b->have & NAV_CLASS_HAS, n = b->n;
    const uint32_t *all = b->has, *flags = b->flags, *size = b->size, *stream = b->stream;
    const uint16_t *sub = b->sub;
    const uint8_t *kind = b->kind;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t has = have & all[i];
        const uint32_t f = flags[i] & (0 - (has >> 1 & 1)), z = size[i] & (0 - (has >> 2 & 1)),
                       s = (stream[i] - base) & (0 - (has >> 3 & 1)),
                       u = sub[i] & (0 - (has >> 12 & 1)), o = opcode[i];
        const uint32_t over = f >> 26 | z >> 5 | s >> 4 | u >> 6 | o >> 6;
        const uint32_t no = 0 - (uint32_t)(over != 0);

        says[i] = (f | u << 26 | no) |
                  (uint64_t)(has >> 1 | (uint32_t)kind[i] << 12 | o << 17 | z << 23 | s << 28 | no)
                      << 32;
    }
}

#if TROD_AVX2
static TROD_WIDE void say_wide(const struct trod_batch *b, uint32_t base, const uint8_t *opcode,
                               uint64_t *says)
{
    say(b, base, opcode, says);
}
#else
static void say_wide(const struct trod_batch *b, uint32_t base, const uint8_t *opcode,
                     uint64_t *says)
{
    say(b, base, opcode, says);
}
#endif

/* COUNT rows of the step are of class ID. */
static int count(struct nav_classes *c, uint32_t id, uint32_t count)
{
    struct nav_class *p = &c->at[id];

    if (p->turn != c->turn) {
        if (!trod_grow(&c->met, c->n_met, &c->cap_met, sizeof *c->met, 64))
            return TROD_ERR_NOMEM;
        c->met[c->n_met++] = id;
        p->turn = c->turn;
        p->count = p->steps = 0;
    }
    p->count += count;
    p->steps |= 1u << c->step;
    return TROD_OK;
}

/* Classes learn what NEAR counted; FORGET: nothing is near any more. */
static int settle(struct nav_classes *c, bool forget)
{
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < NAV_CLASS_NEAR; i++) {
        struct nav_class_near *near = &c->near[i];

        if (near->count)
            rc = count(c, near->id, near->count);
        near->count = 0;
        if (forget)
            near->says = NOTHING;
    }
    return rc;
}

/* What row I, whose opcode is BRANCH, says of the flow: enum trod_flow. */
static uint32_t flow_of(const struct nav_classes *c, const struct trod_batch *b, uint32_t i,
                        uint32_t branch)
{
    const uint32_t flags = b->have & b->has[i] & TROD_COL_FLAGS ? b->flags[i] : 0;
    const int kernel = flow_kernel(b, i, c->modes);
    uint32_t flow = flags & TROD_F_BRANCH ? flags & TROD_F_BRANCH : branch;

    if (flow == TROD_BR_COND) {
        const int made = flow_made(b, i);

        flow |= made > 0 ? TROD_FLOW_MADE : made == 0 ? TROD_FLOW_PASSED : 0;
    }
    return kernel < 0 ? flow : flow | (kernel ? TROD_FLOW_KERNEL : TROD_FLOW_USER);
}

/* Row I of B, which is not among NEAR. */
static int meet(struct nav_classes *c, const struct trod_batch *b, uint32_t i,
                struct nav_class_near *near)
{
    const uint32_t has = b->have & b->has[i] & NAV_CLASS_HAS;
    const uint32_t flow = flow_of(c, b, i, c->opcode[i] & TROD_F_BRANCH);
    struct nav_class is = {.what = has | (uint64_t)b->kind[i] << 20 | (uint64_t)flow << 25};
    uint32_t id = NAV_CLASSES;

    if (has & TROD_COL_FLAGS)
        is.more = b->flags[i];
    if (has & TROD_COL_SIZE)
        is.more |= (uint64_t)b->size[i] << 32;
    if (has & TROD_COL_STREAM)
        is.of = b->stream[i];
    if (has & TROD_COL_SUB)
        is.of |= (uint64_t)b->sub[i] << 32;
    if (c->opcode[i] != NAV_NO_BRANCH && find(c, &is, &id) < 0)
        return TROD_ERR_NOMEM;
    if (id == NAV_CLASSES) {
        c->lost++;
        c->lost_steps |= 1u << c->step;
        return TROD_OK;
    }
    if (near->count && count(c, near->id, near->count) < 0)
        return TROD_ERR_NOMEM;
    /* whether a branch was made is not among what is said */
    near->says = flow & CONDITION || c->says[i] == TOO_MUCH ? NOTHING : c->says[i];
    near->id = id;
    near->count = 0;
    return count(c, id, 1);
}

int nav_classes_rows(struct nav_classes *c, const struct trod_batch *b, unsigned step)
{
    const uint32_t base = b->n && b->have & b->has[0] & TROD_COL_STREAM ? b->stream[0] & ~15u : 0;
    const uint64_t *says = c->says;
    int rc = TROD_OK;

    if (step != c->step || base != c->base)
        rc = settle(c, base != c->base);
    c->step = step;
    c->base = base;
    if (trod_wide())
        say_wide(b, base, c->opcode, c->says);
    else
        say(b, base, c->opcode, c->says);
    for (uint32_t i = 0; rc == TROD_OK && i < b->n; i++) {
        struct nav_class_near *near = &c->near[says[i] * UINT64_C(0x9e3779b97f4a7c15) >> 56];

        if (near->says == says[i])
            near->count++;
        else
            rc = meet(c, b, i, near);
    }
    memset(c->opcode, 0, b->n);
    return rc;
}

static int put(struct nav_postings *out, uint64_t key, uint32_t block, uint32_t count,
               uint32_t steps)
{
    if (nav_postings_add(out, key, block, count, 0) < 0)
        return TROD_ERR_NOMEM;
    out->at[out->n - 1].steps = steps;
    return TROD_OK;
}

int nav_classes_end(struct nav_classes *c, uint32_t block, struct nav_postings *out)
{
    int rc = settle(c, false);

    for (uint32_t i = 0; rc == TROD_OK && i < c->n_met; i++) {
        const struct nav_class *p = &c->at[c->met[i]];

        rc = put(out, c->met[i], block, p->count, p->steps);
    }
    if (rc == TROD_OK && c->lost)
        rc = put(out, NAV_ANY_CLASS, block, c->lost, c->lost_steps);
    c->n_met = 0;
    c->lost = c->lost_steps = 0;
    c->turn++;
    return rc;
}

int nav_classes_save(struct nav_classes *c, struct trod_buf *out)
{
    const uint32_t n = c->n - c->saved;
    uint8_t *to;

    if (trod_buf_reserve(out, 5 + (size_t)n * BYTES) < 0)
        return TROD_ERR_NOMEM;
    to = trod_pack_at(out->p + out->n, n);
    for (; c->saved < c->n; c->saved++) {
        const struct nav_class *p = &c->at[c->saved];

        to = trod_pack_at(to, p->what);
        to = trod_pack_at(to, p->more);
        to = trod_pack_at(to, p->of);
    }
    out->n = (size_t)(to - out->p);
    return TROD_OK;
}

/* The next ones, of such content. */
static int load(struct nav_classes *c, struct trod_span in)
{
    uint64_t n;
    int rc = trod_unpack(&in, &n);

    if (rc < 0 || n > NAV_CLASSES - c->n)
        return TROD_ERR_CORRUPT;
    for (; rc == TROD_OK && n; n--) {
        struct nav_class is = {0};
        uint32_t id;

        if (trod_unpack(&in, &is.what) < 0 || trod_unpack(&in, &is.more) < 0 ||
            trod_unpack(&in, &is.of) < 0 || (is.what >> 20 & 31) >= TROD_KINDS)
            return TROD_ERR_CORRUPT;
        if (c->slot) {
            const uint32_t before = c->n;

            rc = find(c, &is, &id);
            if (rc == TROD_OK && c->n == before)
                rc = TROD_ERR_CORRUPT; /* it is there already */
        } else {
            rc = add(c, &is);
        }
    }
    c->saved = c->n;
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}

int nav_classes_of(struct nav_classes *c, const struct nav_index *x, const struct nav_segment *s)
{
    const struct nav_section *section = s->classes;
    struct trod_buf room = {0};
    int rc;

    if (!section)
        return TROD_ERR_CORRUPT;
    rc = nav_index_check(x, section);
    if (rc == TROD_OK)
        rc = nav_unsqueeze(x, x->file + section->offset, section->length, section->raw, &room);
    if (rc == TROD_OK)
        rc = load(c, (struct trod_span){.p = room.p, .n = room.n, .last = true});
    trod_buf_fini(&room);
    return rc;
}
