/*
 * blocks.c - translated blocks by address.
 *
 * Implements blocks.h: arrays that grow, and two hashes with open addressing from which nothing is
 * ever removed.
 */
#include "format/qemu/blocks.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 8, FIRST_POOL = 1 << 14, TEXT_MAX = 255 };

int ql_blocks_new(struct ql_blocks **out)
{
    struct ql_blocks *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return TROD_ERR_NOMEM;
    s->by_pc.slot = calloc(FIRST_SLOTS, sizeof *s->by_pc.slot);
    s->by_host.slot = calloc(FIRST_SLOTS, sizeof *s->by_host.slot);
    s->by_pc.mask = s->by_host.mask = FIRST_SLOTS - 1;
    if (s->by_pc.slot && s->by_host.slot)
        return TROD_OK;
    ql_blocks_free(s);
    *out = NULL;
    return TROD_ERR_NOMEM;
}

void ql_blocks_free(struct ql_blocks *s)
{
    if (!s)
        return;
    free(s->pool);
    free(s->insn);
    free(s->block);
    free(s->by_pc.slot);
    free(s->by_host.slot);
    free(s);
}

/* ---- hashes */

static uint32_t place(const struct ql_map *m, uint64_t key)
{
    uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & m->mask;

    while (m->slot[at].value && m->slot[at].key != key)
        at = (at + 1) & m->mask;
    return at;
}

static uint32_t get(const struct ql_map *m, uint64_t key)
{
    return m->slot[place(m, key)].value;
}

static int grow(struct ql_map *m)
{
    struct ql_map more = {.mask = m->mask * 2 + 1, .n = m->n};

    more.slot = calloc((size_t)more.mask + 1, sizeof *more.slot);
    if (!more.slot)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= m->mask; i++)
        if (m->slot[i].value)
            more.slot[place(&more, m->slot[i].key)] = m->slot[i];
    free(m->slot);
    *m = more;
    return TROD_OK;
}

static int set(struct ql_map *m, uint64_t key, uint32_t value)
{
    uint32_t at = place(m, key);
    int rc;

    if (!m->slot[at].value) {
        if (m->n >= m->mask / 2) {
            if ((rc = grow(m)) < 0)
                return rc;
            at = place(m, key);
        }
        m->n++;
    }
    m->slot[at].key = key;
    m->slot[at].value = value;
    m->slot[at].logged = false;
    return TROD_OK;
}

/* ---- reading a block */

/* Append N bytes to the pool. Their offset, or a negative status. */
static int64_t share(struct ql_blocks *s, const uint8_t *p, size_t n)
{
    const size_t at = s->pool_n;

    if (at + n > (size_t)TROD_SLICE_SHARED)
        return TROD_ERR_LIMIT;
    if (at + n > s->pool_cap) {
        size_t cap = s->pool_cap ? 2 * s->pool_cap : FIRST_POOL;
        uint8_t *q = realloc(s->pool, cap);

        if (!q)
            return TROD_ERR_NOMEM;
        s->pool = q;
        s->pool_cap = cap;
    }
    if (n)
        memcpy(s->pool + at, p, n);
    s->pool_n = at + n;
    return (int64_t)at;
}

int ql_begin(struct ql_blocks *s)
{
    const int rc = ql_end(s);

    s->open = true;
    s->open_insns = s->n_insns;
    s->open_pool = s->pool_n;
    return rc;
}

int ql_add(struct ql_blocks *s, const struct ql_code *c)
{
    static const uint8_t zeros[QL_CODE_MAX];
    size_t text_n = (size_t)(c->text_end - c->text);
    int64_t at_code, at_text;

    if (text_n > TEXT_MAX)
        text_n = TEXT_MAX;
    if (s->n_insns - s->open_insns >= QL_BLOCK_MAX || s->n_insns >= UINT32_MAX)
        return TROD_ERR_LIMIT;
    if (!trod_grow(&s->insn, s->n_insns, &s->cap_insns, sizeof *s->insn, 256))
        return TROD_ERR_NOMEM;
    at_code = share(s, zeros, sizeof zeros); /* more of it may come in the next line */
    at_text = at_code < 0 ? at_code : share(s, c->text, text_n);
    if (at_text < 0)
        return (int)at_text;
    memcpy(s->pool + at_code, c->code, c->code_n);
    for (size_t i = 0; i < text_n; i++) /* MIPS: a tab behind the mnemonic */
        if (s->pool[(size_t)at_text + i] == '\t')
            s->pool[(size_t)at_text + i] = ' ';
    s->insn[s->n_insns++] = (struct ql_insn){.pc = c->pc,
                                             .code = (uint32_t)at_code,
                                             .text = (uint32_t)at_text,
                                             .text_n = (uint16_t)text_n,
                                             .code_n = (uint8_t)c->code_n,
                                             .iset = (uint8_t)c->iset};
    return TROD_OK;
}

bool ql_more(struct ql_blocks *s, const struct ql_code *c)
{
    struct ql_insn *insn;

    if (!s->open || s->n_insns == s->open_insns || c->text != c->text_end)
        return false;
    insn = &s->insn[s->n_insns - 1];
    if (insn->pc + insn->code_n != c->pc || insn->code_n + c->code_n > QL_CODE_MAX)
        return false;
    memcpy(s->pool + insn->code + insn->code_n, c->code, c->code_n);
    insn->code_n = (uint8_t)(insn->code_n + c->code_n);
    return true;
}

static bool same_insn(const struct ql_blocks *s, const struct ql_insn *a, const struct ql_insn *b)
{
    return a->pc == b->pc && a->code_n == b->code_n && a->text_n == b->text_n &&
           a->iset == b->iset && memcmp(s->pool + a->code, s->pool + b->code, a->code_n) == 0 &&
           memcmp(s->pool + a->text, s->pool + b->text, a->text_n) == 0;
}

/* Is the block that is being read, of N instructions, the same as OLD? */
static bool same_block(const struct ql_blocks *s, const struct ql_block *old, size_t n)
{
    if (old->n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_insn(s, &s->insn[old->first + i], &s->insn[s->open_insns + i]))
            return false;
    return true;
}

int ql_end(struct ql_blocks *s)
{
    const size_t n = s->n_insns - s->open_insns;
    uint64_t pc;
    uint32_t old;

    if (!s->open)
        return TROD_OK;
    s->open = false;
    if (n == 0)
        return TROD_OK;
    pc = s->insn[s->open_insns].pc;
    old = get(&s->by_pc, pc);
    if (old && same_block(s, &s->block[old - 1], n)) {
        s->block[old - 1].fresh = true;
        s->n_insns = s->open_insns;
        s->pool_n = s->open_pool;
        return TROD_OK;
    }
    if (!trod_grow(&s->block, s->n_blocks, &s->cap_blocks, sizeof *s->block, 256))
        return TROD_ERR_NOMEM;
    s->block[s->n_blocks++] = (struct ql_block){
        .pc = pc, .first = (uint32_t)s->open_insns, .n = (uint32_t)n, .fresh = true};
    return set(&s->by_pc, pc, (uint32_t)s->n_blocks);
}

/* ---- executing it */

const struct ql_block *ql_find(struct ql_blocks *s, uint64_t pc, uint64_t host)
{
    const uint32_t newest = get(&s->by_pc, pc);
    uint32_t there;

    if (!newest || s->block[newest - 1].fresh)
        return newest ? &s->block[newest - 1] : NULL;
    there = get(&s->by_host, host);
    if (there && s->block[there - 1].pc == pc)
        return &s->block[there - 1];
    return &s->block[newest - 1];
}

int ql_bind(struct ql_blocks *s, const struct ql_block *block, uint64_t host)
{
    const uint32_t number = (uint32_t)(block - s->block) + 1;

    if (!block->fresh && get(&s->by_host, host) == number)
        return TROD_OK;
    s->block[number - 1].fresh = false;
    return set(&s->by_host, host, number);
}
