/*
 * tally.c - instructions and registers of the block that is being indexed. Implements tally.h.
 */
#include "navigate/tally.h"

#include "core/endian.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 12, CODES = 1 << 13 };

int nav_tally_init(struct nav_tally *t, struct nav_regs *regs, struct trod_insn_decoder *insn,
                   const struct trod_format *f)
{
    memset(t, 0, sizeof *t);
    t->regs = regs;
    t->names = regs->names;
    t->insn = insn;
    t->by_opcode = f && f->kinds && !(f->kinds & (1u << TROD_REG | 1u << TROD_STATE));
    t->turn = 1;
    t->met = UINT64_MAX;
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
    t->site = NULL;
    t->code = NULL;
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
    memcpy(c->code, code, n);
    c->n_all = 0;
    for (unsigned k = 0; insn->valid && k < insn->n_reads; k++)
        c->id[c->n_all++] = (uint16_t)register_of(t, iset, insn->reads[k]);
    c->n_read = c->n_all;
    for (unsigned k = 0; insn->valid && t->by_opcode && k < insn->n_writes; k++)
        c->id[c->n_all++] = (uint16_t)register_of(t, iset, insn->writes[k]);
}

/* An opcode that is new at its address in this block: the registers that it reads and writes. */
static void look_at(struct nav_tally *t, const struct trod_batch *b, uint32_t i,
                    const uint8_t *code, uint32_t n)
{
    const unsigned iset =
        nav_has(b, i, TROD_COL_FLAGS) ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0;
    struct nav_tally_code *c;

    if (!t->insn || n == 0)
        return;
    c = code_place(t, iset, code, n);
    if (c->n != n || c->iset != iset || memcmp(c->code, code, n) != 0)
        learn(t, c, iset, b->addr[i], code, n);
    for (unsigned k = 0; k < c->n_all; k++)
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

/* The site of PC, which is of this block from now on. NULL: no memory. */
static struct nav_tally_site *site_of(struct nav_tally *t, uint64_t pc)
{
    struct nav_tally_site *s;

    if (2 * t->n_sites > t->site_mask && grow_sites(t) < 0)
        return NULL;
    s = site_place(t->site, t->site_mask, t->turn, pc);
    if (s->turn != t->turn) {
        *s = (struct nav_tally_site){.pc = pc, .turn = t->turn};
        t->n_sites++;
    }
    return s;
}

/* Row I says which instruction it belongs to: there to be found, executed or not. */
static int named(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    if (t->met == b->pc[i] && t->met != UINT64_MAX)
        return TROD_OK;
    t->met = b->pc[i];
    return site_of(t, b->pc[i]) ? TROD_OK : TROD_ERR_NOMEM;
}

static int instruction(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const uint8_t *code = NULL;
    struct nav_tally_site *s;
    uint64_t word[2] = {0, 0};
    uint32_t n = 0;

    if (!nav_has(b, i, TROD_COL_ADDR)) {
        t->nowhere++;
        return nav_has(b, i, TROD_COL_PC) ? named(t, b, i) : TROD_OK;
    }
    if (nav_has(b, i, TROD_COL_PC) && b->pc[i] != b->addr[i] && named(t, b, i) < 0)
        return TROD_ERR_NOMEM;
    if (nav_has(b, i, TROD_COL_CODE)) {
        code = trod_batch_bytes(b, b->code[i]);
        n = b->code[i].len < NAV_CODES ? b->code[i].len : NAV_CODES;
        words(code, n, word);
    }
    if (2 * t->n_sites > t->site_mask && grow_sites(t) < 0)
        return TROD_ERR_NOMEM;
    s = site_place(t->site, t->site_mask, t->turn, b->addr[i]);
    t->met = b->addr[i];
    if (s->turn != t->turn) {
        *s = (struct nav_tally_site){.pc = b->addr[i], .turn = t->turn};
        t->n_sites++;
    } else if (s->n == n && s->code[0] == word[0] && s->code[1] == word[1]) {
        s->count++;
        return TROD_OK;
    }
    s->count++;
    s->n = (uint8_t)n;
    memcpy(s->code, word, sizeof word);
    if (n)
        look_at(t, b, i, code, n);
    return TROD_OK;
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

int nav_tally_row(struct nav_tally *t, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    int rc;

    t->kinds[b->kind[i]]++;
    switch (b->kind[i]) {
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
        return nav_has(b, i, TROD_COL_PC) ? named(t, b, i) : TROD_OK;
    case TROD_INSTR:
        if ((rc = instruction(t, b, i)) < 0)
            return rc;
        return nav_regs_row(t->regs, b, i, row);
    default:
        if (nav_has(b, i, TROD_COL_PC) && (rc = named(t, b, i)) < 0)
            return rc;
        t->placed[b->kind[i]] += nav_has(b, i, TROD_COL_ADDR | TROD_COL_PADDR);
        if ((b->kind[i] == TROD_MARKER || b->kind[i] == TROD_SYNC) && (rc = number(t, b, i)) < 0)
            return rc;
        rc = nav_regs_row(t->regs, b, i, row);
        for (uint32_t k = 0; k < t->regs->n_wrote; k++)
            mark(t, 0, t->regs->wrote[k]);
        return rc;
    }
}

int nav_tally_end(struct nav_tally *t, uint32_t block, struct nav_postings *sites,
                  struct nav_postings *regs, struct nav_postings *marks)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i <= t->site_mask; i++)
        if (t->site[i].turn == t->turn)
            rc = nav_postings_add(sites, t->site[i].pc, block, t->site[i].count, 0);
    if (rc == TROD_OK && t->nowhere)
        rc = nav_postings_add(sites, NAV_ANY_SITE, block, t->nowhere, 0);
    t->nowhere = 0;
    for (uint32_t id = 0; rc == TROD_OK && id < t->names->n; id++)
        for (unsigned k = 0; rc == TROD_OK && k < 2; k++)
            if (t->reg[k][id / 64] >> id % 64 & 1)
                rc = nav_postings_add(regs, 2 * (uint64_t)id + k, block, 0, 0);
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++) {
        if (t->kinds[kind])
            rc = nav_postings_add(marks, kind, block, t->kinds[kind], 0);
        if (rc == TROD_OK && t->placed[kind])
            rc = nav_postings_add(marks, nav_mark_placed(kind), block, t->placed[kind], 0);
        if (rc == TROD_OK)
            rc = end_numbers(t, kind, block, marks);
    }
    memset(t->kinds, 0, sizeof t->kinds);
    memset(t->placed, 0, sizeof t->placed);
    memset(t->reg, 0, sizeof t->reg);
    t->n_sites = 0;
    t->met = UINT64_MAX;
    t->turn++;
    return rc;
}
