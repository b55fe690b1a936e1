/*
 * code.c - a replacement for an opcode: which registers the instruction reads and writes, and its
 * category.
 *
 * The encoding is that of drmemtrace's REGDEPS traces (docs/formats/drmemtrace.md, "REGDEPS").
 * Registers get numbers in the order in which they first appear. The size of an operation, for
 * which that encoding has a code of DynamoRIO's, is left out.
 */
#include "core/endian.h"
#include "core/hash.h"
#include "hide/int.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 12,
    BYTES = 1 << 26, /* of which the system gives what is used */
    ELSEWHERE = 1 << 16,
    OPERANDS = 7, /* with more the encoding would be longer than a reader takes */
    REGS_MOST = 255,
    WRITES_FLAGS = 1 << 8,
    READS_FLAGS = 1 << 9,
    CATEGORY = 10,
    CAT_FP = 1,
    CAT_LOAD = 2,
    CAT_STORE = 4,
    CAT_BRANCH = 8,
    CAT_SIMD = 0x10,
    CAT_OTHER = 0x200
};

int hide_codes_init(struct hide_codes *c)
{
    c->size = SLOTS;
    c->slot = calloc(c->size, sizeof *c->slot);
    c->bytes = malloc(BYTES);
    c->reg = calloc(HIDE_REGS, 1);
    return c->slot && c->bytes && c->reg ? TROD_OK : TROD_ERR_NOMEM;
}

void hide_codes_fini(struct hide_codes *c)
{
    trod_insn_decoder_free(c->decoder);
    free(c->slot);
    free(c->bytes);
    free(c->reg);
}

/* The register that condition codes are in. */
static bool is_flags(struct hide_codes *c, unsigned iset, unsigned reg)
{
    static const char *const names[] = {"rflags", "eflags", "flags", "nzcv", "cpsr", "apsr"};

    if (c->isa == TROD_ISA_REGDEPS)
        return reg == TROD_INSN_REGDEPS_FLAGS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(trod_insn_reg_name(c->decoder, iset, reg), names[i]) == 0)
            return true;
    return false;
}

/* Numbers of the N registers at REG to TO; FLAG is set where condition codes are among them. */
static unsigned number(struct hide_codes *c, unsigned iset, const uint16_t *reg, unsigned n,
                       unsigned room, uint8_t *to, bool *flag)
{
    unsigned k = 0;

    for (unsigned i = 0; i < n; i++) {
        if (is_flags(c, iset, reg[i])) {
            *flag = true;
            continue;
        }
        if (k == room)
            break;
        if (!c->reg[reg[i]])
            c->reg[reg[i]] = (uint8_t)(c->regs < REGS_MOST ? ++c->regs : REGS_MOST);
        to[k++] = c->reg[reg[i]];
    }
    return k;
}

/*
 * What is not known to leave memory alone may read and write it, and what is not known at all may
 * be a branch, too. To readers of REGDEPS traces records of prefetches and flushes are reads.
 */
static uint32_t category_of(const struct trod_insn *in)
{
    const bool hint = in->flags & (TROD_INSN_PREFETCH | TROD_INSN_FLUSH);
    const bool counts = in->valid && in->flags & TROD_INSN_COUNTS;
    uint32_t category = 0;

    if (in->flags & TROD_INSN_FP)
        category |= in->flags & TROD_INSN_SIMD ? CAT_SIMD : CAT_FP;
    if (in->loads || hint || !counts)
        category |= CAT_LOAD;
    if (in->stores || !counts)
        category |= CAT_STORE;
    if (in->branch || !in->valid)
        category |= CAT_BRANCH;
    return category ? category : CAT_OTHER;
}

/* IN, of CATEGORY, as REGDEPS has it, into P. Returns its length. */
static uint32_t encode(struct hide_codes *c, unsigned iset, const struct trod_insn *in,
                       uint32_t category, uint8_t *p)
{
    uint8_t *const operand = p + 5;
    bool reads = false, writes = false;
    unsigned to, from;
    uint32_t head, len;

    memset(p, 0, HIDE_CODE);
    to = number(c, iset, in->writes, in->n_writes, OPERANDS, operand, &writes);
    from = number(c, iset, in->reads, in->n_reads, OPERANDS - to, operand + to, &reads);
    head = to | from << 4 | (writes ? WRITES_FLAGS : 0) | (reads ? READS_FLAGS : 0) |
           category << CATEGORY;
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(head >> 8 * i);
    len = to + from ? 5 + to + from : 4;
    return (len + 3) & ~3u;
}

/* Where NEW, a branch that says it, leads to: seen from two places. */
static void learn_target(struct hide_codes *c, struct hide_code *new)
{
    const struct trod_insn *in = trod_insn_decode(c->decoder, new->iset, 0, new->code, new->n);
    uint64_t from_here;

    if (!in->valid || !(in->flags & TROD_INSN_TARGET))
        return;
    new->target = in->target;
    from_here = trod_insn_decode(c->decoder, new->iset, ELSEWHERE, new->code, new->n)->target;
    new->leads = from_here == new->target                                     ? HIDE_AT
                 : (uint32_t)(from_here - new->target) == (uint32_t)ELSEWHERE ? HIDE_FAR
                                                                              : HIDE_NOWHERE;
}

static int learn(struct hide_codes *c, const struct trod_meta *m, struct hide_code *new)
{
    static const struct trod_insn unknown;
    const struct trod_insn *in = &unknown;
    struct trod_insn deps;
    uint32_t category;

    if (c->n_bytes + HIDE_CODE > BYTES)
        return TROD_ERR_LIMIT;
    if (c->isa != m->isa) {
        trod_insn_decoder_free(c->decoder);
        c->decoder = NULL;
        c->isa = m->isa;
        if (c->isa != TROD_ISA_REGDEPS && c->isa != TROD_ISA_UNKNOWN &&
            trod_insn_decoder_new(&c->decoder, c->isa, m->endian) == TROD_ERR_NOMEM)
            return TROD_ERR_NOMEM;
    }
    if (c->isa == TROD_ISA_REGDEPS) {
        trod_insn_regdeps(&deps, new->code, new->n);
        in = &deps;
    } else if (c->decoder) {
        in = trod_insn_decode(c->decoder, new->iset, 0, new->code, new->n);
    }
    if (!in->valid)
        in = &unknown;
    category = in == &deps ? trod_load_le32(new->code) >> CATEGORY : category_of(in);
    new->branch = in->branch;
    new->at = c->n_bytes;
    new->len = encode(c, new->iset, in, category, c->bytes + c->n_bytes);
    c->n_bytes += new->len;
    if (c->decoder && new->branch)
        learn_target(c, new);
    return TROD_OK;
}

static struct hide_code *place(struct hide_code *slot, uint32_t size, const struct hide_code *key)
{
    uint64_t at = trod_fnv(TROD_FNV ^ key->iset, (const char *)key->code, key->n);

    for (at ^= at >> 29;; at++) {
        struct hide_code *s = &slot[at & (size - 1)];

        if (!s->taken ||
            (s->n == key->n && s->iset == key->iset && memcmp(s->code, key->code, key->n) == 0))
            return s;
    }
}

static int grow(struct hide_codes *c)
{
    struct hide_code *slot = calloc(2 * (size_t)c->size, sizeof *slot);

    if (!slot)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < c->size; i++)
        if (c->slot[i].taken)
            *place(slot, 2 * c->size, &c->slot[i]) = c->slot[i];
    free(c->slot);
    c->slot = slot;
    c->size *= 2;
    return TROD_OK;
}

int hide_codes_find(struct hide_codes *c, const struct trod_meta *m, unsigned iset,
                    const uint8_t *code, uint32_t n, const struct hide_code **out)
{
    struct hide_code key = {.n = (uint8_t)(n < HIDE_CODE ? n : HIDE_CODE), .iset = (uint8_t)iset};
    struct hide_code *s;
    int r;

    memcpy(key.code, code, key.n);
    s = place(c->slot, c->size, &key);
    if (!s->taken) {
        if (c->used * 2 >= c->size) {
            if (grow(c) < 0)
                return TROD_ERR_NOMEM;
            s = place(c->slot, c->size, &key);
        }
        if ((r = learn(c, m, &key)) < 0)
            return r;
        key.taken = 1;
        *s = key;
        c->used++;
    }
    *out = s;
    return TROD_OK;
}
