/*
 * chain.c - where a value came from: a slice of the flow of data, backwards over the rows.
 *
 * Implements trod_nav_chain (docs/navigating.md, "Chains"). Each step is the last row that wrote
 * what is asked for; what its instruction made it of is asked next. Where values are known they
 * decide: of a load, whether it was the memory or the address register that it steps; of a store,
 * which register holds what was stored and which the address.
 */
#include "navigate/nav.h"

#include "core/endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_ROWS = 64, SOURCES = 24, BYTES = 64, OTHERS = 64 };

struct chain {
    struct trod_nav *nav;
    const char *name; /* of the register that the chain begins with, or a part of it */
    struct trod_nav_step *step;
    uint32_t *wrote; /* bytes that the row of each step wrote */
    uint64_t *upto;  /* of memory: the last row that tells what it held */
    size_t n, most;
    unsigned depth;
    bool big;
};

/* An access of the instruction of a step. */
struct own {
    uint64_t addr, row;
    uint32_t size;
    bool has_value;
    uint8_t value[BYTES]; /* least significant first */
};

/* What the instruction of a step is, and does to memory. */
struct instruction {
    struct trod_insn insn;
    unsigned iset;
    struct own read[SOURCES];
    size_t n_reads;
    struct own stored; /* what the row of the step stored */
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

/*
 * Ask for what S names, as it was before row BEFORE, and as rows to UPTO show that it was. False:
 * there is no room for more steps.
 */
static bool ask(struct chain *c, const struct trod_nav_step *s, uint64_t before, uint64_t upto,
                size_t of)
{
    struct trod_nav_step *to;

    if (c->n == c->most)
        return false;
    c->upto[c->n] = upto;
    to = &c->step[c->n++];
    *to = *s;
    to->of = of;
    to->depth = of == SIZE_MAX ? 0 : c->step[of].depth + 1;
    to->before = before;
    to->row = to->insn = TROD_NOWHERE;
    to->end = TROD_NAV_GOES_ON;
    return true;
}

/* Does a read after the write at ROW show that something else wrote what S asks for? */
static int not_traced(struct chain *c, const struct trod_nav_step *s, uint64_t row, bool *is)
{
    const uint64_t upto = c->upto[s - c->step];
    struct trod_nav_byte byte[BYTES];
    int rc;

    *is = false;
    if (!s->memory || s->size == 0 || s->size > BYTES || upto <= row)
        return TROD_OK;
    rc = trod_nav_memory(c->nav, upto, s->addr, s->size, byte);
    for (uint32_t i = 0; rc == TROD_OK && i < s->size; i++)
        *is |= byte[i].from == TROD_NAV_UNTRACED && byte[i].since == row;
    return rc;
}

/* The bank of register NAME that the instruction of a step uses; an empty one: not told. */
static int bank_at(struct chain *c, uint64_t insn, const char *name, char bank[NAV_NAME])
{
    const struct trod_batch *b;
    uint32_t i;
    int rc = trod_nav_row(c->nav, insn, &b, &i);

    if (rc <= 0 || !nav_bank_of(b, i, name, bank))
        bank[0] = '\0';
    return rc < 0 ? rc : TROD_OK;
}

/* Did row ROW write a register that is another bank than BANK? */
static int wrote_other(struct chain *c, uint64_t row, const char *bank, bool *other)
{
    const struct trod_batch *b;
    char name[NAV_NAME], canonical[NAV_NAME];
    uint32_t i;
    int rc = trod_nav_row(c->nav, row, &b, &i);

    *other = false;
    if (rc <= 0 || b->kind[i] != TROD_REG || b->text[i].len >= sizeof name)
        return rc < 0 ? rc : TROD_OK;
    snprintf(name, sizeof name, "%.*s", (int)b->text[i].len,
             (const char *)trod_batch_bytes(b, b->text[i]));
    nav_canonical(c->nav->names.isa, name, canonical);
    *other = nav_bank_other(canonical, bank);
    return TROD_OK;
}

/*
 * The last write that Q asks for; of a register that has banks, to the one that the instruction at
 * row INSN uses, or to a name without a bank.
 */
static int last_write(struct chain *c, struct trod_nav_query *q, uint64_t before, uint64_t insn,
                      struct trod_nav_hit *hit, size_t *n)
{
    const char *name = q->reg;
    char bank[NAV_NAME] = "";
    bool other = true;
    int rc = trod_nav_find(c->nav, q, before, true, hit, 1, n);

    if (rc == TROD_OK && *n && name && insn != TROD_NOWHERE)
        rc = bank_at(c, insn, name, bank);
    for (unsigned k = 0; rc == TROD_OK && bank[0] && *n && k <= OTHERS; k++) {
        rc = wrote_other(c, hit->row, bank, &other);
        if (rc < 0 || !other)
            return rc;
        if (k == OTHERS)
            q->reg = bank; /* a trace that writes banks so often names them */
        rc = trod_nav_find(c->nav, q, hit->row, true, hit, 1, n);
    }
    return rc;
}

static int find_writer(struct chain *c, struct trod_nav_step *s)
{
    const uint64_t insn = s->of == SIZE_MAX ? TROD_NOWHERE : c->step[s->of].insn;
    struct trod_nav_query q = {.access = TROD_NAV_WRITES,
                               .reg = s->memory ? NULL : s->reg,
                               .lo = s->addr,
                               .hi = s->addr + (s->size ? s->size - 1 : 0),
                               .stream = s->stream,
                               .one_stream = !s->memory && s->one_stream};
    struct trod_nav_hit hit;
    uint64_t before = s->before;
    bool other = false;
    size_t n;
    int rc = TROD_OK;

    if (s->of == SIZE_MAX && q.reg) { /* the last write of the part: what it wrote is of all */
        q.reg = c->name;
        rc = trod_nav_find(c->nav, &q, before, true, &hit, 1, &n);
        q.reg = s->reg;
        before = rc == TROD_OK && n ? hit.row + 1 : 0;
    }
    if (rc == TROD_OK)
        rc = last_write(c, &q, before, insn, &hit, &n);
    if (rc == TROD_OK && n)
        rc = not_traced(c, s, hit.row, &other);
    if (rc < 0)
        return rc;
    if (n == 0 || other) {
        s->end = n == 0 ? TROD_NAV_NOT_WRITTEN : TROD_NAV_NOT_TRACED;
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
    c->wrote[s - c->step] = hit.size;
    return TROD_OK;
}

/* ---- its instruction */

/* Address of the N bytes of O's value from byte K on. */
static uint64_t lies(const struct chain *c, const struct own *o, uint32_t k, uint32_t n)
{
    return c->big ? o->addr + o->size - k - n : o->addr + k;
}

static void set_own(struct own *o, const struct nav_access *a)
{
    o->addr = a->addr;
    o->size = a->size;
    o->has_value = false;
    if (!a->values || a->unknown || a->size > BYTES)
        return;
    o->has_value = true;
    memcpy(o->value, a->value, a->size);
}

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
        in->read[in->n_reads].row = row;
        set_own(&in->read[in->n_reads++], &a);
    }
    return TROD_OK;
}

/* What the row that step S found stored, if that is known. */
static int own_write(struct chain *c, const struct trod_nav_step *s, struct instruction *in)
{
    const struct trod_batch *b;
    struct nav_access a;
    uint32_t i;
    int rc = s->memory && s->has_value ? trod_nav_row(c->nav, s->row, &b, &i) : 0;

    if (rc > 0 && nav_access_of(b, i, c->big, &a) && a.writes)
        set_own(&in->stored, &a);
    return rc < 0 ? rc : TROD_OK;
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
    rc = own_reads(c, s, in);
    return rc < 0 ? rc : own_write(c, s, in);
}

/* ---- what it was made of */

/* The bytes of register NAME before the instruction of S; *N: their number, 0 if they are not
 * known. */
static int value_before(struct chain *c, const struct trod_nav_step *s, const char *name,
                        uint8_t value[BYTES], size_t *n)
{
    struct trod_nav_state *state;
    uint8_t known[BYTES];
    char base[NAV_NAME], bank[NAV_NAME];
    int rc;

    *n = 0;
    if (s->insn == 0)
        return TROD_OK;
    nav_canonical(c->nav->names.isa, name, base);
    rc = bank_at(c, s->insn, base, bank);
    if (rc == TROD_OK)
        rc = trod_nav_state(c->nav, s->insn - 1, s->stream, &state);
    if (rc < 0)
        return rc;
    if (!bank[0] || !trod_nav_state_named(state, bank, value, known, BYTES, n))
        (void)trod_nav_state_named(state, name, value, known, BYTES, n);
    for (size_t i = 0; i < *n; i++)
        if (known[i] != 0xff)
            *n = 0;
    trod_nav_state_free(state);
    return TROD_OK;
}

/* Registers that are no places to come from. */
static bool constant(const char *name)
{
    return strcmp(name, "xzr") == 0 || strcmp(name, "wzr") == 0 || strcmp(name, "zero") == 0 ||
           strcmp(name, "pc") == 0 || strcmp(name, "r15") == 0 || strcmp(name, "rip") == 0;
}

static bool zero(const char *name)
{
    return strcmp(name, "xzr") == 0 || strcmp(name, "wzr") == 0 || strcmp(name, "zero") == 0;
}

/*
 * Is what O stored in the bytes that S asks for the register whose N bytes are V? A pair of
 * registers may be one access, in which they stand one after the other.
 */
static bool stores(const struct chain *c, const struct own *o, const struct trod_nav_step *s,
                   const uint8_t *v, uint32_t n)
{
    const uint64_t hi = s->addr + (s->size ? s->size - 1 : 0);

    if (n >= o->size)
        return memcmp(o->value, v, o->size) == 0;
    for (uint32_t k = 0; n && k + n <= o->size; k += n) {
        const uint64_t at = lies(c, o, k, n);

        if (at <= hi && at + n - 1 >= s->addr && memcmp(o->value + k, v, n) == 0)
            return true;
    }
    return false;
}

/*
 * Which registers that the instruction reads are what it stored, as far as values tell: those that
 * held it; where none is known to, those of which the trace does not say what they held.
 */
static int stored_ones(struct chain *c, const struct trod_nav_step *s, const struct instruction *in,
                       bool only[TROD_INSN_REGS], bool *any)
{
    bool untold[TROD_INSN_REGS] = {false}, some = false;
    static const uint8_t nothing[BYTES];
    char name[NAV_NAME];

    for (unsigned i = 0; i < in->insn.n_reads; i++) {
        const char *reg = trod_insn_reg_name(c->nav->insn, in->iset, in->insn.reads[i]);
        uint8_t value[BYTES];
        size_t n;
        int rc;

        nav_canonical(c->nav->names.isa, reg, name);
        if (constant(name)) {
            only[i] = zero(name) && memcmp(in->stored.value, nothing, in->stored.size) == 0;
        } else {
            rc = value_before(c, s, reg, value, &n);
            if (rc < 0)
                return rc;
            only[i] = n && stores(c, &in->stored, s, value, (uint32_t)n);
            untold[i] = n == 0;
        }
        *any |= only[i];
        some |= untold[i];
    }
    if (!*any && some) {
        memcpy(only, untold, sizeof untold);
        *any = true;
    }
    return TROD_OK;
}

/* The registers that the instruction reads; of a store, where values tell, the one stored. */
static int ask_registers(struct chain *c, size_t of, const struct instruction *in)
{
    const struct trod_nav_step s = c->step[of];
    bool only[TROD_INSN_REGS] = {false}, any = false;
    char name[NAV_NAME];
    int rc = in->stored.has_value ? stored_ones(c, &s, in, only, &any) : TROD_OK;

    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < in->insn.n_reads; i++) {
        struct trod_nav_step next = {.stream = s.stream, .one_stream = true};

        nav_canonical(c->nav->names.isa,
                      trod_insn_reg_name(c->nav->insn, in->iset, in->insn.reads[i]), name);
        if (constant(name) || !name[0] || (any && !only[i]))
            continue;
        set_register(&next, name);
        if (!ask(c, &next, s.insn, s.insn, of))
            c->step[of].end = TROD_NAV_LIMIT;
    }
    return TROD_OK;
}

/* Bytes of the register of step S that the instruction names as written: of w0, 4 of those of x0.
 */
static uint32_t width(struct chain *c, const struct trod_nav_step *s, const struct instruction *in,
                      uint32_t whole)
{
    for (unsigned i = 0; i < in->insn.n_writes; i++) {
        const char *reg = trod_insn_reg_name(c->nav->insn, in->iset, in->insn.writes[i]);
        struct nav_part part;

        if (nav_names_part(&c->nav->names, reg, strlen(reg), "", 0, false, &part) && part.bits &&
            strcmp(c->nav->names.at[part.id].text, s->reg) == 0)
            return part.bits / 8;
    }
    return whole;
}

/* Ask for the memory at ADDR, which row READ shows. */
static void ask_bytes(struct chain *c, size_t of, uint64_t read, uint64_t addr, uint32_t size)
{
    const struct trod_nav_step next = {.memory = true, .addr = addr, .size = size};

    if (!ask(c, &next, c->step[of].insn, read, of))
        c->step[of].end = TROD_NAV_LIMIT;
}

/* Memory that the instruction reads, if the value came from there. Returns whether it did. */
static bool ask_memory(struct chain *c, size_t of, const struct instruction *in)
{
    const struct trod_nav_step s = c->step[of];
    bool told = s.has_value && in->n_reads, some = false;
    uint32_t n = s.memory ? c->wrote[of] : width(c, &s, in, c->wrote[of]);
    uint8_t value[8];

    trod_store_le64(value, s.value);
    for (size_t i = 0; i < in->n_reads; i++)
        told = told && in->read[i].has_value;
    for (size_t i = 0; i < in->n_reads; i++) {
        const struct own *r = &in->read[i];
        const uint32_t part = !told || n == 0 || r->size < n ? r->size : n;
        uint32_t k = 0;

        /* of two registers that one access loads each is its part of it */
        do {
            if (told && memcmp(r->value + k, value, part < sizeof value ? part : sizeof value) != 0)
                continue;
            some = true;
            ask_bytes(c, of, r->row, lies(c, r, k, part), part);
        } while (part && (k += part) + part <= r->size);
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
        rc = ask_registers(c, at, &in);
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
    struct chain c = {.nav = nav, .name = query->reg, .step = steps, .most = most, .depth = depth};
    struct trod_nav_step first = {.memory = query->reg == NULL,
                                  .addr = query->lo,
                                  .size = (uint32_t)(query->hi - query->lo + 1),
                                  .stream = query->stream,
                                  .one_stream = query->one_stream};
    const char *status;
    char name[NAV_NAME];
    unsigned bit;
    int rc = TROD_OK;

    if (!query->reg && query->hi - query->lo >= UINT32_MAX)
        return trod_error(nav->diag, TROD_ERR_USAGE, "navigate.chain", NULL,
                          "a chain begins with less than 4 GiB of memory");
    c.wrote = calloc(most + 1, sizeof *c.wrote);
    c.upto = calloc(most + 1, sizeof *c.upto);
    if (!c.wrote || !c.upto) {
        free(c.wrote);
        free(c.upto);
        return TROD_ERR_NOMEM;
    }
    c.big = trod_nav_meta(nav)->endian == TROD_ENDIAN_BIG;
    if (query->reg) {
        status = nav_flag(nav->names.isa, query->reg, &bit);
        nav_canonical(nav->names.isa, status ? status : query->reg, name);
        set_register(&first, name);
    }
    ask(&c, &first, row, row ? row - 1 : 0, SIZE_MAX);
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
    /* values of more than 64 bits have no place in a step */
    for (size_t at = 0; at < c.n; at++)
        c.step[at].has_value = c.step[at].has_value && c.wrote[at] <= 8;
    *n = c.n;
    free(c.wrote);
    free(c.upto);
    return rc;
}
