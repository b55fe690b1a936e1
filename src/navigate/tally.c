/*
 * tally.c - instructions and registers of the block that is being indexed. Implements tally.h.
 */
#include "navigate/tally.h"

#include "core/endian.h"
#include "isa/flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 1 << 12,
    CODES = 1 << 13,
    /* kinds of rows that belong to the instruction before them: see where_owners */
    OWNED = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC | 1u << TROD_PREFETCH |
            1u << TROD_FLUSH | 1u << TROD_REG
};

int nav_tally_init(struct nav_tally *t, struct nav_regs *regs, struct trod_insn_decoder *insn,
                   struct nav_shapes *shapes, struct nav_classes *classes,
                   struct nav_spread *spread, const struct trod_format *f)
{
    memset(t, 0, sizeof *t);
    t->regs = regs;
    t->names = regs->names;
    t->insn = insn;
    t->shapes = shapes;
    t->opcode = classes->opcode;
    t->modes = classes->modes;
    t->spread = spread;
    t->by_opcode = f && f->kinds && !(f->kinds & (1u << TROD_REG | 1u << TROD_STATE));
    t->turn = 1;
    t->site_mask = FIRST - 1;
    t->site = calloc(FIRST, sizeof *t->site);
    t->code = calloc(CODES, sizeof *t->code);
    return t->site && t->code ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_tally_fini(struct nav_tally *t)
{
    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        free(t->subs[kind]);
    free(t->site);
    free(t->code);
    free(t->owner);
    t->site = NULL;
    t->code = NULL;
    t->owner = NULL;
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Instructions that stand side by side in memory do so here as well, eight or more of them. */
static struct nav_tally_site *site_place(struct nav_tally_site *table, uint32_t mask, uint32_t turn,
                                         uint64_t pc)
{
    for (uint32_t at = hash(pc >> 5) << 3 | (pc >> 2 & 7);; at++) {
        struct nav_tally_site *s = &table[at & mask];

        if (s->turn != turn || s->pc == pc)
            return s;
    }
}

static int grow_sites(struct nav_tally *t)
{
    const uint32_t mask = 2 * t->site_mask + 1;
    struct nav_tally_site *table = calloc((size_t)mask + 1, sizeof *table);

    if (!table)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= t->site_mask; i++)
        if (t->site[i].turn == t->turn)
            *site_place(table, mask, t->turn, t->site[i].pc) = t->site[i];
    free(t->site);
    t->site = table;
    t->site_mask = mask;
    t->met.site = t->now.site = NULL;
    return TROD_OK;
}

/* The register that the decoder calls REG. UINT32_MAX: none. */
static uint32_t register_of(struct nav_tally *t, unsigned iset, unsigned reg)
{
    char name[NAV_NAME];
    uint32_t id;

    if (iset < NAV_ISETS && reg < NAV_DECODER_REGS && t->id[iset][reg])
        return t->id[iset][reg] - 1u;
    nav_canonical(t->names->isa, trod_insn_reg_name(t->insn, iset, reg), name);
    id = name[0] ? nav_names_find(t->names, name, true) : UINT32_MAX;
    if (id != UINT32_MAX && iset < NAV_ISETS && reg < NAV_DECODER_REGS)
        t->id[iset][reg] = (uint16_t)(id + 1);
    return id;
}

static void mark(struct nav_tally *t, unsigned which, uint32_t id)
{
    if (id < NAV_REGS)
        t->reg[which][id / 64] |= UINT64_C(1) << id % 64;
}

static struct nav_tally_code *code_place(struct nav_tally *t, unsigned iset, const uint8_t *code,
                                         uint32_t n)
{
    uint64_t word[2] = {n, iset};

    memcpy(word, code, n < 8 ? n : 8);
    if (n > 8)
        memcpy(&word[1], code + 8, n - 8);
    return &t->code[hash(word[0] ^ word[1] * UINT64_C(0xff51afd7ed558ccd)) % CODES];
}

static void learn(struct nav_tally *t, struct nav_tally_code *c, unsigned iset, uint64_t pc,
                  const uint8_t *code, uint32_t n)
{
    const struct trod_insn *insn = trod_insn_decode(t->insn, iset, pc, code, n);

    c->n = (uint8_t)n;
    c->iset = (uint8_t)iset;
    c->branch = (uint8_t)insn->branch;
    memcpy(c->code, code, n);
    c->n_all = 0;
    for (unsigned k = 0; insn->valid && k < insn->n_reads; k++)
        c->id[c->n_all++] = (uint16_t)register_of(t, iset, insn->reads[k]);
    c->n_read = c->n_all;
    for (unsigned k = 0; insn->valid && t->by_opcode && k < insn->n_writes; k++)
        c->id[c->n_all++] = (uint16_t)register_of(t, iset, insn->writes[k]);
}

/* What the opcode of row I is, of N bytes, to *C; NULL: nobody knows. Returns its branch. */
static inline uint8_t branch_of(struct nav_tally *t, const struct trod_batch *b, uint32_t i,
                                uint32_t n, const struct nav_tally_code **out)
{
    const unsigned iset =
        nav_has(b, i, TROD_COL_FLAGS) ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0;
    const uint8_t *code;
    struct nav_tally_code *c;

    *out = NULL;
    if (n >= NAV_CODES)
        return NAV_NO_BRANCH;
    if (!t->insn || n == 0)
        return TROD_BR_NONE;
    code = trod_batch_bytes(b, b->code[i]);
    c = code_place(t, iset, code, n);
    if (c->n != n || c->iset != iset || memcmp(c->code, code, n) != 0)
        learn(t, c, iset, nav_has(b, i, TROD_COL_ADDR) ? b->addr[i] : 0, code, n);
    *out = c;
    return c->branch;
}

/* An opcode that is new at its address in this block: the registers that it reads and writes. */
static void look_at(struct nav_tally *t, struct nav_tally_site *s, const struct trod_batch *b,
                    uint32_t i, uint32_t n)
{
    const struct nav_tally_code *c;

    s->branch = branch_of(t, b, i, n, &c);
    for (unsigned k = 0; c && k < c->n_all; k++)
        mark(t, k < c->n_read, c->id[k]);
}

/* The N bytes at CODE, at most NAV_CODES, as numbers. */
static void words(const uint8_t *code, uint32_t n, uint64_t word[2])
{
    if (n == 4)
        word[0] = trod_load_le32(code);
    else if (n <= 8)
        memcpy(&word[0], code, n);
    else {
        memcpy(&word[0], code, 8);
        memcpy(&word[1], code + 8, n - 8);
    }
}

/*
 * The site of PC, which is of this block from now on: S, if there is room. What it looked like in a
 * block before stays there. NULL: no memory.
 */
static __attribute__((noinline)) struct nav_tally_site *
new_site(struct nav_tally *t, struct nav_tally_site *s, uint64_t pc)
{
    if (2 * t->n_sites > t->site_mask) {
        if (grow_sites(t) < 0)
            return NULL;
        s = site_place(t->site, t->site_mask, t->turn, pc);
    }
    if (s->pc != pc || !s->turn) {
        s->pc = pc;
        s->n = 0;
        s->text_n = NAV_NO_SHAPE;
    }
    s->turn = t->turn;
    s->count = 0;
    s->rows = 0;
    s->kinds = 0;
    s->steps = 0;
    t->n_sites++;
    return s;
}

static inline struct nav_tally_site *site_of(struct nav_tally *t, uint64_t pc)
{
    struct nav_tally_site *s = site_place(t->site, t->site_mask, t->turn, pc);

    return s->turn == t->turn ? s : new_site(t, s, pc);
}

/* Rows of STREAM come: what it executed last. */
static int turn_to(struct nav_tally *t, uint32_t stream)
{
    const uint32_t most = stream > t->now_of ? stream : t->now_of;

    if (most >= t->n_owners) {
        const uint32_t n = 2 * most + 2;
        struct nav_tally_owner *p = realloc(t->owner, n * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        memset(p + t->n_owners, 0, (n - t->n_owners) * sizeof *p);
        t->owner = p;
        t->n_owners = n;
    }
    t->owner[t->now_of] = t->now;
    t->now = t->owner[stream];
    t->now.site = NULL;
    t->now_of = stream;
    return TROD_OK;
}

static inline int turn_to_stream(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const uint32_t stream = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] + 1 : 0;

    return stream == t->now_of ? TROD_OK : turn_to(t, stream);
}

/* Row I belongs to the instruction of O: there to be found, executed or not. */
static inline int belongs(struct nav_tally *t, struct nav_tally_owner *o,
                          const struct trod_batch *b, uint32_t i)
{
    if (!o->site && !(o->site = site_of(t, o->pc)))
        return TROD_ERR_NOMEM;
    o->site->kinds |= 1u << b->kind[i];
    o->site->rows++;
    o->site->steps |= (uint8_t)(1u << t->step);
    return TROD_OK;
}

/* Row I says which instruction it belongs to. */
static int named(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    if (t->now.site && t->now.pc == b->pc[i])
        return belongs(t, &t->now, b, i);
    if (t->met.pc != b->pc[i])
        t->met = (struct nav_tally_owner){.pc = b->pc[i]};
    return belongs(t, &t->met, b, i);
}

/* Row I, of a kind that belongs to the instruction before it. The rule is that of where_owners. */
static inline int owned(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    if (nav_has(b, i, TROD_COL_PC))
        return named(t, b, i);
    if (turn_to_stream(t, b, i) < 0)
        return TROD_ERR_NOMEM;
    return t->now.known ? belongs(t, &t->now, b, i) : TROD_OK;
}

/* Instruction I is what its stream executed last. */
static inline int follow(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const bool placed = nav_has(b, i, TROD_COL_PC);

    if (turn_to_stream(t, b, i) < 0)
        return TROD_ERR_NOMEM;
    t->now.known = placed || nav_has(b, i, TROD_COL_ADDR);
    t->now.pc = placed ? b->pc[i] : t->now.known ? b->addr[i] : 0;
    t->now.site = NULL;
    return TROD_OK;
}

int nav_tally_follow(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_INSTR ? follow(t, b, i) : TROD_OK;
}

/* What row I, no instruction with an address, looks like. */
static int shape(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    uint32_t id;
    const int rc = nav_shapes_find(t->shapes, b, i, &id);

    return rc < 0 ? rc : nav_shapes_meet(t->shapes, id, t->step);
}

/* The same of one that tells a register, of which NAME is what its name means; NULL: nothing. */
static int shape_of_register(struct nav_tally *t, struct nav_part *name, const struct trod_batch *b,
                             uint32_t i)
{
    uint32_t id;
    int rc;

    if (!name || nav_has(b, i, TROD_COL_CODE))
        return shape(t, b, i);
    if (name->shape)
        return nav_shapes_meet(t->shapes, name->shape - 1, t->step);
    rc = nav_shapes_find(t->shapes, b, i, &id);
    if (rc == TROD_OK && id != NAV_NO_SHAPE)
        name->shape = id + 1;
    return rc < 0 ? rc : nav_shapes_meet(t->shapes, id, t->step);
}

/* An instruction without an address. */
static int unplaced(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const struct nav_tally_code *c;

    t->nowhere++;
    t->flags |= NAV_B_ASIDE;
    if (nav_has(b, i, TROD_COL_CODE))
        t->opcode[i] = branch_of(t, b, i, b->code[i].len, &c);
    if (shape(t, b, i) < 0)
        return TROD_ERR_NOMEM;
    return nav_has(b, i, TROD_COL_PC) ? named(t, b, i) : TROD_OK;
}

/*
 * An instruction that is new in its block, or has another opcode (N bytes; SAME: the one that was
 * there, with its size), instruction set or text (TEXT_N bytes) than the one before at its address.
 */
static int learn_site(struct nav_tally *t, struct nav_tally_site *s, const struct trod_batch *b,
                      uint32_t i, uint32_t n, uint32_t text_n, bool same)
{
    int rc;

    if (!n && !text_n)
        t->flags |= NAV_B_BARE;
    if (!same || s->count == 1)
        look_at(t, s, b, i, n);
    t->opcode[i] = s->branch;
    if (same && s->text_n == text_n &&
        (text_n == 0 || nav_shape_has(t->shapes, s->shape, trod_batch_bytes(b, b->text[i]))))
        return TROD_OK;
    s->text_n = text_n;
    if (!n && !text_n)
        return TROD_OK;
    rc = nav_shapes_find(t->shapes, b, i, &s->shape);
    if (s->shape == NAV_NO_SHAPE) {
        s->text_n = NAV_NO_SHAPE;
        t->shapes->missed |= (uint8_t)(1u << t->step);
    }
    return rc;
}

static int instruction(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i], text_n = has & TROD_COL_TEXT ? b->text[i].len : 0,
                   size = has & TROD_COL_SIZE ? b->size[i] : NAV_NO_SIZE;
    const uint8_t iset =
        has & TROD_COL_FLAGS
            ? (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT & NAV_SHAPE_ISET)
            : 0;
    struct nav_tally_site *s;
    uint64_t word[2] = {0, 0};
    uint32_t n = 0;
    bool same;

    if (follow(t, b, i) < 0)
        return TROD_ERR_NOMEM;
    if (!(has & TROD_COL_ADDR))
        return unplaced(t, b, i);
    if (t->now.pc != b->addr[i]) {
        t->flags |= NAV_B_ASIDE;
        if (named(t, b, i) < 0)
            return TROD_ERR_NOMEM;
    }
    if (has & TROD_COL_CODE) {
        n = b->code[i].len < NAV_CODES ? b->code[i].len : NAV_CODES;
        words(trod_batch_bytes(b, b->code[i]), n, word);
    }
    if (!(s = site_of(t, b->addr[i])))
        return TROD_ERR_NOMEM;
    if (t->now.pc == b->addr[i])
        t->now.site = s;
    s->steps |= (uint8_t)(1u << t->step);
    s->kinds |= 1u << TROD_INSTR;
    same = s->n == n && s->code[0] == word[0] && s->code[1] == word[1] && s->iset == iset &&
           s->size == size;
    if (s->count++ && same && s->text_n == text_n &&
        (text_n == 0 || nav_shape_has(t->shapes, s->shape, trod_batch_bytes(b, b->text[i])))) {
        t->opcode[i] = s->branch;
        return TROD_OK;
    }
    s->n = (uint8_t)n;
    s->iset = iset;
    s->size = size;
    memcpy(s->code, word, sizeof s->code);
    return learn_site(t, s, b, i, n, text_n, same);
}

/* Row I is a marker: of which number. */
static int number(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    struct nav_tally_subs **subs = &t->subs[b->kind[i]];

    if (!nav_has(b, i, TROD_COL_SUB))
        return TROD_OK;
    if (!*subs && !(*subs = calloc(1, sizeof **subs)))
        return TROD_ERR_NOMEM;
    if ((*subs)->count[b->sub[i]]++ == 0)
        (*subs)->sub[(*subs)->n++] = b->sub[i];
    return TROD_OK;
}

static int end_numbers(struct nav_tally *t, unsigned kind, uint32_t block,
                       struct nav_postings *marks)
{
    struct nav_tally_subs *subs = t->subs[kind];
    int rc = TROD_OK;

    for (uint32_t i = 0; subs && i < subs->n; i++) {
        uint32_t *count = &subs->count[subs->sub[i]];

        if (rc == TROD_OK)
            rc = nav_postings_add(marks, nav_mark(kind, subs->sub[i]), block, *count, 0);
        *count = 0;
    }
    if (subs)
        subs->n = 0;
    return rc;
}

static int other(struct nav_tally *t, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    int rc = TROD_OK;

    if (OWNED >> b->kind[i] & 1 || nav_has(b, i, TROD_COL_PC))
        rc = owned(t, b, i);
    t->placed[b->kind[i]] += nav_has(b, i, TROD_COL_ADDR | TROD_COL_PADDR);
    if (rc == TROD_OK && (b->kind[i] == TROD_MARKER || b->kind[i] == TROD_SYNC))
        rc = number(t, b, i);
    t->names->last = NULL;
    if (rc == TROD_OK)
        rc = nav_regs_row(t->regs, b, i, row);
    for (uint32_t k = 0; k < t->regs->n_wrote; k++)
        mark(t, 0, t->regs->wrote[k]);
    if (rc < 0)
        return rc;
    return b->kind[i] == TROD_REG ? shape_of_register(t, t->names->last, b, i) : shape(t, b, i);
}

int nav_tally_row(struct nav_tally *t, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    int rc;

    t->kinds[b->kind[i]]++;
    switch (b->kind[i]) {
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
        rc = nav_spread_row(t->spread, b, i);
        if (rc == TROD_OK)
            rc = owned(t, b, i);
        if (rc == TROD_OK && nav_regs_tells(t->regs, b, i))
            rc = nav_regs_told(t->regs, b, i, row);
        return rc < 0 || !nav_has(b, i, TROD_COL_TEXT | TROD_COL_CODE) ? rc : shape(t, b, i);
    case TROD_INSTR:
        rc = instruction(t, b, i);
        if (!t->modes)
            t->opcode[i] |= (uint8_t)((flow_kernel(b, i, false) + 1) << 4);
        return rc < 0 ? rc : nav_regs_row(t->regs, b, i, row);
    default:
        rc = nav_spread_row(t->spread, b, i);
        return rc < 0 ? rc : other(t, b, i, row);
    }
}

/* What rows of the block belong to, and how often that was executed. */
static int end_sites(struct nav_tally *t, uint32_t block, struct nav_postings *sites)
{
    int rc = nav_postings_room(sites, t->n_sites);

    for (uint32_t i = 0; rc == TROD_OK && i <= t->site_mask; i++) {
        const struct nav_tally_site *s = &t->site[i];

        if (s->turn == t->turn)
            sites->at[sites->n++] = (struct nav_posting){
                s->pc, block, s->steps, s->count, s->kinds | (uint64_t)s->rows << NAV_SITE_ROWS};
        if (s->turn == t->turn && s->count)
            nav_spread_code(t->spread, s->pc, (uint32_t)s->count);
    }
    t->spread->apart |= t->nowhere > 0;
    if (rc == TROD_OK && t->nowhere) {
        rc = nav_postings_add(sites, NAV_ANY_SITE, block, t->nowhere, 1u << TROD_INSTR);
        if (rc == TROD_OK)
            sites->at[sites->n - 1].steps = NAV_ALL_STEPS;
    }
    t->nowhere = 0;
    return rc;
}

int nav_tally_end(struct nav_tally *t, uint32_t block, struct nav_tally_out *out)
{
    int rc = end_sites(t, block, &out->sites);

    if (rc == TROD_OK)
        rc = nav_spread_end(t->spread, block, &out->pieces, &out->within);
    if (rc == TROD_OK)
        rc = nav_shapes_end(t->shapes, block, &out->shapes);
    for (uint32_t id = 0; rc == TROD_OK && id < t->names->n; id++)
        for (unsigned k = 0; rc == TROD_OK && k < 2; k++)
            if (t->reg[k][id / 64] >> id % 64 & 1)
                rc = nav_postings_add(&out->regs, 2 * (uint64_t)id + k, block, 0, 0);
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++) {
        if (t->kinds[kind])
            rc = nav_postings_add(&out->marks, kind, block, t->kinds[kind], 0);
        if (rc == TROD_OK && t->placed[kind])
            rc = nav_postings_add(&out->marks, nav_mark_placed(kind), block, t->placed[kind], 0);
        if (rc == TROD_OK)
            rc = end_numbers(t, kind, block, &out->marks);
    }
    memset(t->kinds, 0, sizeof t->kinds);
    memset(t->placed, 0, sizeof t->placed);
    memset(t->reg, 0, sizeof t->reg);
    t->n_sites = 0;
    t->flags = 0;
    t->met.site = t->now.site = NULL;
    t->turn++;
    return rc;
}
