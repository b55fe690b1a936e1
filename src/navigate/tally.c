/*
 * tally.c - what lies in the block that is being indexed. Implements tally.h.
 */
#include "navigate/tally.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 12 };

int nav_tally_init(struct nav_tally *t, struct nav_regs *regs, struct trod_insn_decoder *insn,
                   const struct trod_format *f, bool big)
{
    memset(t, 0, sizeof *t);
    t->regs = regs;
    t->names = regs->names;
    t->insn = insn;
    t->big = big;
    t->by_opcode = f && f->kinds && !(f->kinds & (1u << TROD_REG | 1u << TROD_STATE));
    t->turn = 1;
    t->line_mask = t->site_mask = FIRST - 1;
    t->line = calloc(FIRST, sizeof *t->line);
    t->site = calloc(FIRST, sizeof *t->site);
    return t->line && t->site ? nav_memory_init(&t->memory) : TROD_ERR_NOMEM;
}

void nav_tally_fini(struct nav_tally *t)
{
    nav_memory_fini(&t->memory);
    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        free(t->subs[kind]);
    free(t->line);
    free(t->site);
    t->line = NULL;
    t->site = NULL;
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct nav_tally_line *line_place(struct nav_tally_line *table, uint32_t mask, uint32_t turn,
                                         uint64_t key)
{
    for (uint32_t at = hash(key);; at++) {
        struct nav_tally_line *l = &table[at & mask];

        if (l->turn != turn || l->key == key)
            return l;
    }
}

static struct nav_tally_site *site_place(struct nav_tally_site *table, uint32_t mask, uint32_t turn,
                                         uint64_t pc)
{
    for (uint32_t at = hash(pc);; at++) {
        struct nav_tally_site *s = &table[at & mask];

        if (s->turn != turn || s->pc == pc)
            return s;
    }
}

static int grow_lines(struct nav_tally *t)
{
    const uint32_t mask = 2 * t->line_mask + 1;
    struct nav_tally_line *table = calloc((size_t)mask + 1, sizeof *table);

    if (!table)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= t->line_mask; i++)
        if (t->line[i].turn == t->turn)
            *line_place(table, mask, t->turn, t->line[i].key) = t->line[i];
    free(t->line);
    t->line = table;
    t->line_mask = mask;
    t->last = NULL;
    return TROD_OK;
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

static int touch(struct nav_tally *t, uint64_t key, uint64_t mask, const struct nav_access *a)
{
    struct nav_tally_line *l = t->last;

    if (!l || l->key != key) {
        if (2 * t->n_lines > t->line_mask && grow_lines(t) < 0)
            return TROD_ERR_NOMEM;
        l = line_place(t->line, t->line_mask, t->turn, key);
        if (l->turn != t->turn) {
            *l = (struct nav_tally_line){.key = key, .turn = t->turn};
            t->n_lines++;
        }
        t->last = l;
    }
    if (a->writes)
        l->written |= mask;
    if (a->reads)
        l->read |= mask;
    return TROD_OK;
}

static int access(struct nav_tally *t, const struct nav_access *a)
{
    uint64_t at = a->addr, left = a->size;
    int rc = TROD_OK;

    if (a->size > NAV_WIDE || (a->size > NAV_LONG && t->n_lines >= NAV_MANY))
        return touch(t, NAV_ANY_LINE, UINT64_MAX, a);
    while (rc == TROD_OK && left) {
        const unsigned k = at % NAV_LINE;
        const uint64_t n = left < NAV_LINE - k ? left : NAV_LINE - k;

        rc = touch(t, at / NAV_LINE, (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << k, a);
        at += n;
        left -= n;
    }
    return rc;
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

/* An opcode that is new at its address in this block: the registers that it reads. */
static void look_at(struct nav_tally *t, const struct trod_batch *b, uint32_t i,
                    const uint8_t *code, uint32_t n)
{
    const unsigned iset =
        nav_has(b, i, TROD_COL_FLAGS) ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0;
    const struct trod_insn *insn;

    if (!t->insn || n == 0)
        return;
    insn = trod_insn_decode(t->insn, iset, b->addr[i], code, n);
    if (!insn->valid)
        return;
    for (unsigned k = 0; k < insn->n_reads; k++)
        mark(t, 1, register_of(t, iset, insn->reads[k]));
    for (unsigned k = 0; t->by_opcode && k < insn->n_writes; k++)
        mark(t, 0, register_of(t, iset, insn->writes[k]));
}

static int instruction(struct nav_tally *t, const struct trod_batch *b, uint32_t i)
{
    const uint8_t *code = NULL;
    struct nav_tally_site *s;
    uint32_t n = 0;

    if (!nav_has(b, i, TROD_COL_ADDR))
        return TROD_OK;
    if (nav_has(b, i, TROD_COL_CODE)) {
        code = trod_batch_bytes(b, b->code[i]);
        n = b->code[i].len < NAV_CODES ? b->code[i].len : NAV_CODES;
    }
    if (2 * t->n_sites > t->site_mask && grow_sites(t) < 0)
        return TROD_ERR_NOMEM;
    s = site_place(t->site, t->site_mask, t->turn, b->addr[i]);
    if (s->turn != t->turn) {
        *s = (struct nav_tally_site){.pc = b->addr[i], .turn = t->turn};
        t->n_sites++;
    } else if (s->n == n && (n == 0 || memcmp(s->code, code, n) == 0)) {
        s->count++;
        return TROD_OK;
    }
    s->count++;
    s->n = (uint8_t)n;
    if (n) {
        memcpy(s->code, code, n);
        look_at(t, b, i, code, n);
    }
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
    struct nav_access a;
    int rc;

    t->kinds[b->kind[i]]++;
    switch (b->kind[i]) {
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
        if (!nav_access_of(b, i, t->big, &a))
            return TROD_OK;
        rc = nav_memory_access(&t->memory, &a, (uint32_t)(row - t->first));
        return rc < 0 ? rc : access(t, &a);
    case TROD_INSTR:
        if ((rc = instruction(t, b, i)) < 0)
            return rc;
        return nav_regs_row(t->regs, b, i, row);
    default:
        if ((b->kind[i] == TROD_MARKER || b->kind[i] == TROD_SYNC) && (rc = number(t, b, i)) < 0)
            return rc;
        rc = nav_regs_row(t->regs, b, i, row);
        for (uint32_t k = 0; k < t->regs->n_wrote; k++)
            mark(t, 0, t->regs->wrote[k]);
        return rc;
    }
}

int nav_tally_end(struct nav_tally *t, uint32_t block, struct nav_postings *lines,
                  struct nav_postings *sites, struct nav_postings *regs, struct nav_postings *marks)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i <= t->line_mask; i++)
        if (t->line[i].turn == t->turn)
            rc =
                nav_postings_add(lines, t->line[i].key, block, t->line[i].written, t->line[i].read);
    for (uint32_t i = 0; rc == TROD_OK && i <= t->site_mask; i++)
        if (t->site[i].turn == t->turn)
            rc = nav_postings_add(sites, t->site[i].pc, block, t->site[i].count, 0);
    for (uint32_t id = 0; rc == TROD_OK && id < t->names->n; id++)
        for (unsigned k = 0; rc == TROD_OK && k < 2; k++)
            if (t->reg[k][id / 64] >> id % 64 & 1)
                rc = nav_postings_add(regs, 2 * (uint64_t)id + k, block, 0, 0);
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++) {
        if (t->kinds[kind])
            rc = nav_postings_add(marks, kind, block, t->kinds[kind], 0);
        if (rc == TROD_OK)
            rc = end_numbers(t, kind, block, marks);
    }
    memset(t->kinds, 0, sizeof t->kinds);
    memset(t->reg, 0, sizeof t->reg);
    t->n_lines = t->n_sites = 0;
    t->last = NULL;
    t->turn++;
    return rc;
}
