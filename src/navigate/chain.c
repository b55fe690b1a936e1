/*
 * chain.c - where a value came from: a slice of the flow of data, backwards over the rows.
 *
 * Implements trod_nav_chain (docs/navigating.md, "Chains"). Each step is the last row that wrote
 * what is asked for; what its instruction made it of is asked next. Where values are known they
 * decide: of a load, whether it was the memory or the address register that it steps; of a store,
 * which register holds what was stored and which the address.
 */
#include "navigate/nav.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_ROWS = 64, SOURCES = 24 };

struct chain {
    struct trod_nav *nav;
    struct trod_nav_step *step;
    size_t n, most;
    unsigned depth;
    bool big;
};

/* An access of the instruction of a step. */
struct own {
    uint64_t addr, value;
    uint32_t size;
    bool has_value;
};

/* What the instruction of a step is, and does to memory. */
struct instruction {
    struct trod_insn insn;
    unsigned iset;
    struct own read[SOURCES];
    size_t n_reads;
};

/* ---- what is asked for */

static void set_register(struct trod_nav_step *s, const char *name)
{
    s->memory = false;
    snprintf(s->reg, sizeof s->reg, "%s", name);
}

static bool same(const struct trod_nav_step *a, const struct trod_nav_step *b)
{
    if (a->row != b->row || a->memory != b->memory)
        return false;
    return a->memory ? a->addr == b->addr && a->size == b->size : strcmp(a->reg, b->reg) == 0;
}

/* Ask for what S names, as it was before ROW. False: there is no room for more steps. */
static bool ask(struct chain *c, const struct trod_nav_step *s, uint64_t before, size_t of)
{
    struct trod_nav_step *to;

    if (c->n == c->most)
        return false;
    to = &c->step[c->n++];
    *to = *s;
    to->of = of;
    to->depth = of == SIZE_MAX ? 0 : c->step[of].depth + 1;
    to->before = before;
    to->row = to->insn = TROD_NOWHERE;
    to->end = TROD_NAV_GOES_ON;
    return true;
}

static int find_writer(struct chain *c, struct trod_nav_step *s)
{
    struct trod_nav_query q = {.access = TROD_NAV_WRITES,
                               .reg = s->memory ? NULL : s->reg,
                               .lo = s->addr,
                               .hi = s->addr + (s->size ? s->size - 1 : 0),
                               .stream = s->stream,
                               .one_stream = !s->memory && s->one_stream};
    struct trod_nav_hit hit;
    size_t n;
    int rc = trod_nav_find(c->nav, &q, s->before, true, &hit, 1, &n);

    if (rc < 0)
        return rc;
    if (n == 0) {
        s->end = TROD_NAV_NOT_WRITTEN;
        return TROD_OK;
    }
    s->row = hit.row;
    s->insn = hit.insn;
    s->stream = hit.stream;
    s->one_stream = true;
    s->pc = hit.pc;
    s->has_pc = hit.has_pc;
    s->value = hit.value;
    s->has_value = hit.has_value;
    return TROD_OK;
}

/* ---- its instruction */

/* Accesses of the instruction at row INSN: rows of its stream up to the next one. */
static int own_reads(struct chain *c, const struct trod_nav_step *s, struct instruction *in)
{
    for (uint64_t row = s->insn + 1; row < s->insn + OWN_ROWS; row++) {
        const struct trod_batch *b;
        struct nav_access a;
        uint32_t i;
        int rc = trod_nav_row(c->nav, row, &b, &i);

        if (rc <= 0)
            return rc;
        if (trod_batch_stream(b, i) != s->stream)
            continue;
        if (b->kind[i] == TROD_INSTR)
            break;
        if (!nav_access_of(b, i, c->big, &a) || !a.reads || in->n_reads == SOURCES)
            continue;
        in->read[in->n_reads] = (struct own){.addr = a.addr, .size = a.size};
        if (a.values && !a.unknown) {
            in->read[in->n_reads].has_value = true;
            for (unsigned k = 0; k < 8 && k < a.size; k++)
                in->read[in->n_reads].value |= (uint64_t)a.value[k] << (8 * k);
        }
        in->n_reads++;
    }
    return TROD_OK;
}

/* False in *KNOWN: the trace does not say what the instruction is. */
static int look_at(struct chain *c, const struct trod_nav_step *s, struct instruction *in,
                   bool *known)
{
    const struct trod_batch *b;
    const struct trod_insn *insn;
    uint32_t i;
    int rc;

    *known = false;
    memset(in, 0, sizeof *in);
    if (s->insn == TROD_NOWHERE || !c->nav->insn)
        return TROD_OK;
    rc = trod_nav_row(c->nav, s->insn, &b, &i);
    if (rc <= 0 || !nav_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return rc < 0 ? rc : TROD_OK;
    in->iset = nav_has(b, i, TROD_COL_FLAGS) ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0;
    insn = trod_insn_decode(c->nav->insn, in->iset, b->addr[i], trod_batch_bytes(b, b->code[i]),
                            b->code[i].len);
    *known = insn->valid;
    in->insn = *insn;
    return own_reads(c, s, in);
}

/* Does V, of SIZE bytes, hold the SIZE bytes that are OF? */
static bool holds(uint64_t v, uint64_t of, uint32_t size)
{
    const uint64_t mask = size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;

    return ((v ^ of) & mask) == 0;
}

/* ---- what it was made of */

/* The value of register NAME before row ROW. False: it is not known. */
static int value_before(struct chain *c, const struct trod_nav_step *s, const char *name,
                        uint64_t *value, bool *known)
{
    struct trod_nav_state *state;
    uint8_t v[8] = {0}, k[8] = {0};
    size_t n;
    int rc;

    *known = false;
    if (s->insn == 0)
        return TROD_OK;
    rc = trod_nav_state(c->nav, s->insn - 1, s->stream, &state);
    if (rc < 0)
        return rc;
    if (trod_nav_state_named(state, name, v, k, sizeof v, &n)) {
        *value = 0;
        *known = n > 0;
        for (size_t i = 0; i < n; i++) {
            *value |= (uint64_t)v[i] << (8 * i);
            *known = *known && k[i] == 0xff;
        }
    }
    trod_nav_state_free(state);
    return TROD_OK;
}

/* Registers that are no places to come from. */
static bool constant(const char *name)
{
    return strcmp(name, "xzr") == 0 || strcmp(name, "wzr") == 0 || strcmp(name, "zero") == 0 ||
           strcmp(name, "pc") == 0 || strcmp(name, "r15") == 0 || strcmp(name, "rip") == 0;
}

/* The registers that the instruction reads; of a store, where values tell, the one stored. */
static int ask_registers(struct chain *c, size_t of, const struct instruction *in, bool store)
{
    const struct trod_nav_step s = c->step[of];
    bool only[TROD_INSN_REGS] = {false}, any = false;
    char name[NAV_NAME];

    for (unsigned i = 0; store && s.has_value && i < in->insn.n_reads; i++) {
        uint64_t value = 0;
        bool known;
        int rc;

        nav_canonical(c->nav->names.isa,
                      trod_insn_reg_name(c->nav->insn, in->iset, in->insn.reads[i]), name);
        rc = constant(name) ? TROD_OK : value_before(c, &s, name, &value, &known);
        if (rc < 0)
            return rc;
        only[i] = !constant(name) && known && holds(value, s.value, s.size);
        any |= only[i];
    }
    for (unsigned i = 0; i < in->insn.n_reads; i++) {
        struct trod_nav_step next = {.stream = s.stream, .one_stream = true};

        nav_canonical(c->nav->names.isa,
                      trod_insn_reg_name(c->nav->insn, in->iset, in->insn.reads[i]), name);
        if (constant(name) || !name[0] || (any && !only[i]))
            continue;
        set_register(&next, name);
        if (!ask(c, &next, s.insn, of))
            c->step[of].end = TROD_NAV_LIMIT;
    }
    return TROD_OK;
}

/* Memory that the instruction reads, if the value came from there. Returns whether it did. */
static bool ask_memory(struct chain *c, size_t of, const struct instruction *in)
{
    const struct trod_nav_step s = c->step[of];
    bool told = s.has_value && in->n_reads, some = false;

    for (size_t i = 0; i < in->n_reads; i++)
        told = told && in->read[i].has_value;
    for (size_t i = 0; i < in->n_reads; i++) {
        const struct own *r = &in->read[i];
        struct trod_nav_step next = {.memory = true, .addr = r->addr, .size = r->size};

        if (told && !holds(s.value, r->value, r->size < 8 ? r->size : 8))
            continue;
        some = true;
        if (!ask(c, &next, s.insn, of))
            c->step[of].end = TROD_NAV_LIMIT;
    }
    return some;
}

static int go_on(struct chain *c, size_t at)
{
    struct instruction in;
    const size_t before = c->n;
    bool known;
    int rc = look_at(c, &c->step[at], &in, &known);

    if (rc < 0)
        return rc;
    if (!known) {
        c->step[at].end = TROD_NAV_NO_OPCODE;
        return TROD_OK;
    }
    /* a move from memory to memory and an atomic operation write what they read, or make it again
     */
    if (!ask_memory(c, at, &in))
        rc = ask_registers(c, at, &in, c->step[at].memory);
    if (rc == TROD_OK && c->n == before && c->step[at].end == TROD_NAV_GOES_ON)
        c->step[at].end = TROD_NAV_CONSTANT;
    return rc;
}

/* Is what step AT found known already from another one? */
static bool seen(const struct chain *c, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (c->step[i].row != TROD_NOWHERE && same(&c->step[i], &c->step[at]))
            return true;
    return false;
}

int trod_nav_chain(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row,
                   unsigned depth, struct trod_nav_step *steps, size_t most, size_t *n)
{
    struct chain c = {.nav = nav, .step = steps, .most = most, .depth = depth};
    struct trod_nav_step first = {.memory = query->reg == NULL,
                                  .addr = query->lo,
                                  .size = (uint32_t)(query->hi - query->lo + 1),
                                  .stream = query->stream,
                                  .one_stream = query->one_stream};
    const char *status;
    char name[NAV_NAME];
    unsigned bit;
    int rc = TROD_OK;

    c.big = trod_nav_meta(nav)->endian == TROD_ENDIAN_BIG;
    if (query->reg) {
        status = nav_flag(nav->names.isa, query->reg, &bit);
        nav_canonical(nav->names.isa, status ? status : query->reg, name);
        set_register(&first, name);
    }
    ask(&c, &first, row, SIZE_MAX);
    for (size_t at = 0; rc == TROD_OK && at < c.n; at++) {
        rc = find_writer(&c, &c.step[at]);
        if (rc < 0 || c.step[at].end != TROD_NAV_GOES_ON)
            continue;
        if (seen(&c, at))
            c.step[at].end = TROD_NAV_SEEN;
        else if (c.step[at].depth >= depth)
            c.step[at].end = TROD_NAV_LIMIT;
        else
            rc = go_on(&c, at);
    }
    *n = c.n;
    return rc;
}
