/*
 * find.c - who wrote, who reads, who executes: the rows nearest to a place.
 *
 * Implements trod_nav_find (docs/navigating.md, "Who").
 */
#include "navigate/nav.h"

#include <stdlib.h>
#include <string.h>

enum { ISETS = 8, REG_NUMBERS = 512 };

struct finding {
    struct trod_nav *nav;
    const struct trod_nav_query *query;
    char reg[NAV_NAME];   /* canonical */
    struct nav_part part; /* of it that the name means */
    uint8_t flag;         /* of the byte that PART is: the bit of a flag; 0: PART is a register */
    bool by_opcode;       /* writes are what opcodes say */
    bool big;
    struct nav_regs regs;
    uint64_t lo, hi; /* rows that count: [lo, hi) */
    bool back;
    struct trod_nav_hit *hits; /* a ring when going back */
    size_t k, n;               /* room; found */
    struct nav_candidates candidates;
    uint8_t means[ISETS][REG_NUMBERS]; /* of the decoder's registers: 1 the one, 2 another */
};

static uint64_t low_value(const uint8_t *p, const uint8_t *known, size_t n, bool *all)
{
    uint64_t v = 0;

    *all = n > 0;
    for (size_t i = 0; i < n && i < 8; i++) {
        v |= (uint64_t)p[i] << (8 * i);
        *all = *all && known[i] == 0xff;
    }
    return v;
}

/* What the registers of F say the one asked for holds. */
static void register_value(const struct finding *f, const struct nav_file *file, uint32_t id,
                           struct trod_nav_hit *hit)
{
    const struct nav_value *v = file && id < file->n ? &file->reg[id] : NULL;
    uint8_t value[8], known[8];
    size_t n;

    if (!v || v->size <= f->part.off)
        return;
    n = v->size - f->part.off;
    if (f->part.bits && f->part.bits / 8 < n)
        n = f->part.bits / 8;
    hit->size = (uint32_t)n;
    n = n < sizeof value ? n : sizeof value;
    memcpy(value, v->bytes + f->part.off, n);
    memcpy(known, v->bytes + v->cap + f->part.off, n);
    nav_part_rest(&f->part, value, known, n);
    hit->value = low_value(value, known, n, &hit->has_value);
    if (f->flag) {
        hit->has_value = v->bytes[v->cap + f->part.off] & f->flag;
        hit->value = (v->bytes[f->part.off] & f->flag) != 0;
    }
}

static void add(struct finding *f, const struct trod_nav_hit *hit)
{
    f->hits[f->n++ % f->k] = *hit;
}

static void describe(const struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row,
                     unsigned access, struct trod_nav_hit *hit)
{
    const uint32_t stream = trod_batch_stream(b, i);
    const struct nav_file *file = stream < f->regs.n_files ? f->regs.file[stream] : NULL;

    *hit = (struct trod_nav_hit){.row = row,
                                 .insn = TROD_NOWHERE,
                                 .stream = stream,
                                 .kind = b->kind[i],
                                 .access = (uint8_t)access};
    if (file && file->has_pc) {
        hit->insn = file->pc_row;
        hit->pc = file->pc;
        hit->has_pc = true;
    }
    if (nav_has(b, i, TROD_COL_PC) && (!hit->has_pc || b->pc[i] != hit->pc)) {
        hit->insn = TROD_NOWHERE;
        hit->pc = b->pc[i];
        hit->has_pc = true;
    }
    if (nav_has(b, i, TROD_COL_TIME)) {
        hit->time = b->time[i];
        hit->has_time = true;
        hit->unit = nav_has(b, i, TROD_COL_UNIT) ? b->unit[i] : b->meta->unit;
    }
}

/* ---- memory and visits */

static void memory(struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    const struct trod_nav_query *q = f->query;
    struct trod_nav_hit hit;
    struct nav_access a;
    unsigned access;
    bool any = false;
    uint64_t from, to;

    if (!nav_access_of(b, i, f->big, &a))
        return;
    access = (a.writes ? TROD_NAV_WRITES : 0u) | (a.reads ? TROD_NAV_READS : 0u);
    access &= q->access;
    from = a.addr > q->lo ? a.addr : q->lo;
    to = a.addr + (a.size - 1) < q->hi ? a.addr + (a.size - 1) : q->hi;
    if (!access || from > to)
        return;
    for (uint64_t at = from; !any; at++) {
        uint8_t value;

        any = nav_access_byte(&a, (uint32_t)(at - a.addr), &value) >= 0;
        if (at == to)
            break;
    }
    if (!any)
        return;
    describe(f, b, i, row, access, &hit);
    hit.addr = a.addr;
    hit.size = a.size;
    if (a.values && !a.unknown) {
        hit.has_value = true;
        for (unsigned k = 0; k < 8 && k < a.size; k++)
            hit.value |= (uint64_t)a.value[k] << (8 * k);
    }
    add(f, &hit);
}

/* ---- registers */

static bool names_it(struct finding *f, unsigned iset, unsigned reg)
{
    const char *name;
    char canonical[NAV_NAME];
    bool is;

    if (iset < ISETS && reg < REG_NUMBERS && f->means[iset][reg])
        return f->means[iset][reg] == 1;
    name = trod_insn_reg_name(f->nav->insn, iset, reg);
    nav_canonical(f->nav->names.isa, name, canonical);
    is = strcmp(canonical, f->reg) == 0 || nav_fields(f->nav->names.isa, canonical, f->reg);
    if (!is) { /* sp names the bank in use, and a bank is meant by sp */
        size_t n = strlen(canonical);

        is = n && strncmp(f->reg, canonical, n) == 0 && f->reg[n] == '_';
    }
    if (iset < ISETS && reg < REG_NUMBERS)
        f->means[iset][reg] = is ? 1 : 2;
    return is;
}

/*
 * Does INSN, whose condition failed, read the register all the same? It read what the condition is
 * made of: the flags; of a direct branch (CBZ, TBZ) all that it reads.
 */
static bool condition_reads(const struct finding *f, const struct trod_insn *insn)
{
    return insn->flags & TROD_INSN_TARGET || strcmp(f->reg, "cpsr") == 0;
}

/* Is the register a bank, and does the instruction of row I run where another one is in use? */
static bool other_bank(const struct finding *f, const struct trod_batch *b, uint32_t i)
{
    const size_t n = strcspn(f->reg, "_");
    char base[NAV_NAME] = {0}, bank[NAV_NAME];

    if (!f->reg[n])
        return false;
    memcpy(base, f->reg, n);
    return nav_bank_of(b, i, base, bank) && nav_bank_other(f->reg, bank);
}

/* What the opcode of row I does to the register. */
static unsigned opcode_access(struct finding *f, const struct trod_batch *b, uint32_t i)
{
    const uint32_t flags = nav_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;
    const unsigned iset = (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const bool skipped = flags & TROD_F_SKIPPED;
    const struct trod_insn *insn;
    unsigned access = 0;

    if (!f->by_opcode && !(f->query->access & TROD_NAV_READS))
        return 0;
    if (!f->nav->insn || !nav_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return 0;
    insn = trod_insn_decode(f->nav->insn, iset, b->addr[i], trod_batch_bytes(b, b->code[i]),
                            b->code[i].len);
    if (!insn->valid || (skipped && !condition_reads(f, insn)) || other_bank(f, b, i))
        return 0;
    for (unsigned k = 0; k < insn->n_reads; k++)
        if ((f->query->access & TROD_NAV_READS) && names_it(f, iset, insn->reads[k]))
            access |= TROD_NAV_READS;
    for (unsigned k = 0; f->by_opcode && !skipped && k < insn->n_writes; k++)
        if ((f->query->access & TROD_NAV_WRITES) && names_it(f, iset, insn->writes[k]))
            access |= TROD_NAV_WRITES;
    return access;
}

/* The row fed last wrote register ID: is it the one asked for, or a bank of it, and bits of it? */
static bool wrote_it(const struct finding *f, uint32_t id)
{
    uint64_t lo = 8 * (uint64_t)f->part.off, bits = f->part.bits;

    if (f->flag) {
        lo += (unsigned)__builtin_ctz(f->flag);
        bits = 1;
    } else if (f->part.flags) {
        lo = 32u - f->part.flags;
        bits = f->part.flags;
    }
    return nav_names_means(&f->nav->names, id, f->reg) &&
           nav_regs_wrote(&f->regs, lo, bits ? lo + bits : UINT64_MAX);
}

/* What instruction row I reads: of the bank that it runs with; else of the one written last. */
static void read_value(const struct finding *f, const struct nav_file *file,
                       const struct trod_batch *b, uint32_t i, struct trod_nav_hit *hit)
{
    const struct nav_names *names = &f->nav->names;
    char bank[NAV_NAME];
    const bool banked = nav_bank_of(b, i, f->reg, bank);
    uint32_t last = UINT32_MAX;

    for (uint32_t id = 0; id < file->n; id++)
        if (file->reg[id].size && nav_names_means(names, id, f->reg) &&
            !(banked && nav_bank_other(names->at[id].text, bank)) &&
            (last == UINT32_MAX || file->reg[id].row >= file->reg[last].row))
            last = id;
    if (last != UINT32_MAX)
        register_value(f, file, last, hit);
}

static void registers(struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    const uint32_t stream = trod_batch_stream(b, i);
    const struct nav_file *file = stream < f->regs.n_files ? f->regs.file[stream] : NULL;
    struct trod_nav_hit hit;
    unsigned access;

    for (uint32_t k = 0; (f->query->access & TROD_NAV_WRITES) && k < f->regs.n_wrote; k++) {
        if (!wrote_it(f, f->regs.wrote[k]))
            continue;
        describe(f, b, i, row, TROD_NAV_WRITES, &hit);
        register_value(f, file, f->regs.wrote[k], &hit);
        add(f, &hit);
        return;
    }
    if (b->kind[i] != TROD_INSTR || !(access = opcode_access(f, b, i)))
        return;
    describe(f, b, i, row, access, &hit);
    if (access == TROD_NAV_READS && file)
        read_value(f, file, b, i, &hit);
    add(f, &hit);
}

static int rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct finding *f = user;
    const struct trod_nav_query *q = f->query;

    for (uint32_t end = i + n; i < end; i++, row++) {
        struct trod_nav_hit hit;
        int rc = nav_regs_row(&f->regs, b, i, row);

        if (rc < 0)
            return rc;
        if (row < f->lo || row >= f->hi || (q->one_stream && trod_batch_stream(b, i) != q->stream))
            continue;
        if (q->reg) {
            registers(f, b, i, row);
        } else if (q->access & TROD_NAV_KIND) {
            if (b->kind[i] == q->lo) {
                describe(f, b, i, row, TROD_NAV_KIND, &hit);
                add(f, &hit);
            }
        } else if (q->access & TROD_NAV_VISITS) {
            if (b->kind[i] == TROD_INSTR && nav_has(b, i, TROD_COL_ADDR) && b->addr[i] == q->lo) {
                describe(f, b, i, row, TROD_NAV_VISITS, &hit);
                add(f, &hit);
            }
        } else {
            memory(f, b, i, row);
        }
        if (!f->back && f->n >= f->k)
            return 0;
    }
    return 1;
}

/* Find in the rows from FIRST, which a step begins with or lies in, up to END. */
static int part(struct finding *f, uint64_t first, uint64_t end)
{
    uint64_t from;
    int rc = nav_regs_at(f->nav, first, &f->regs, &from);

    if (rc == TROD_OK)
        rc = nav_scan(f->nav, from, end < f->hi ? end : f->hi, rows, f);
    nav_regs_fini(&f->regs);
    return rc;
}

/* The last ones of the ring, the last first, after the *N there are. */
static void take_back(const struct finding *f, struct trod_nav_hit *hits, size_t k, size_t *n)
{
    const size_t there = f->n < f->k ? f->n : f->k;

    for (size_t i = 0; i < there && *n < k; i++)
        hits[(*n)++] = f->hits[(f->n - 1 - i) % f->k];
}

/* The last ones of STEPS of block K, step by step from its end. */
static int block_back(struct finding *f, size_t k, int steps, struct trod_nav_hit *hits, size_t *n)
{
    const uint64_t begin = nav_block_first(f->nav, k);
    uint64_t end = nav_block_first(f->nav, k + 1), first, next;
    int rc = TROD_OK;

    if (end > f->hi)
        end = f->hi;
    while (rc == TROD_OK && *n < f->k && end > begin) {
        f->n = 0;
        rc = nav_step_of(f->nav, end - 1, steps, &first, &next);
        if (rc > 0)
            rc = part(f, first, end);
        take_back(f, hits, f->k, n);
        end = first;
    }
    return rc;
}

static int go_back(struct finding *f, struct trod_nav_hit *hits, size_t k, size_t *n)
{
    int rc = TROD_OK;

    f->hits = calloc(k, sizeof *f->hits);
    if (!f->hits)
        return TROD_ERR_NOMEM;
    for (size_t at = nav_block_of(f->nav, f->hi - 1) + 1; rc == TROD_OK && *n < k && at-- > 0;)
        if ((rc = nav_candidates_of(&f->candidates, f->nav, at)) > 0)
            rc = block_back(f, at, rc, hits, n);
    free(f->hits);
    return rc;
}

/* The first ones of STEPS of block K. */
static int block_on(struct finding *f, size_t k, int steps)
{
    uint64_t row = nav_block_first(f->nav, k), end;
    int rc = TROD_OK;

    if (row < f->lo)
        row = f->lo;
    while (rc == TROD_OK && f->n < f->k && (rc = nav_step_next(f->nav, k, steps, &row, &end)) > 0) {
        rc = part(f, row, end);
        row = end;
    }
    return rc;
}

static bool no_register_rows(const struct trod_format *f)
{
    return f && f->kinds && !(f->kinds & (1u << TROD_REG | 1u << TROD_STATE));
}

/* What the name means. A register that nothing told so far may come up on the way. */
static void prepare(struct finding *f)
{
    struct nav_names *names = &f->nav->names;
    const struct trod_nav_query *q = f->query;
    const char *status, *name;
    unsigned bit;

    if (!q->reg)
        return;
    status = nav_flag(names->isa, q->reg, &bit);
    name = status ? status : q->reg;
    nav_canonical(names->isa, name, f->reg);
    (void)nav_names_part(names, name, strlen(name), "", 0, false, &f->part);
    if (status) {
        f->part.off = bit / 8;
        f->part.bits = 8;
        f->flag = (uint8_t)(1u << bit % 8);
    }
}

static int find(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row, bool back,
                struct trod_nav_hit *hits, size_t k, size_t *n)
{
    struct finding *f = calloc(1, sizeof *f);
    int rc;

    *n = 0;
    if (!f)
        return TROD_ERR_NOMEM;
    f->nav = nav;
    f->query = query;
    f->k = k;
    f->back = back;
    f->big = trod_nav_meta(nav)->endian == TROD_ENDIAN_BIG;
    f->by_opcode = no_register_rows(trod_nav_format(nav));
    f->hi = back ? row : TROD_NOWHERE;
    f->lo = back || row == TROD_NOWHERE ? 0 : row + 1;
    prepare(f);
    rc = nav_candidates_init(&f->candidates, nav, query, f->reg);
    if (rc == TROD_OK && back && row && k)
        rc = go_back(f, hits, k, n);
    if (rc == TROD_OK && !back && k) {
        f->hits = hits;
        for (size_t at = nav_block_of(nav, f->lo);
             rc == TROD_OK && f->n < k && at < nav_blocks(nav); at++)
            if ((rc = nav_candidates_of(&f->candidates, nav, at)) > 0)
                rc = block_on(f, at, rc);
        *n = f->n;
    }
    nav_candidates_fini(&f->candidates);
    free(f);
    return rc;
}

int trod_nav_find(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row, bool back,
                  struct trod_nav_hit *hits, size_t k, size_t *n)
{
    const int rc = find(nav, query, row, back, hits, k, n);

    return nav_distrust(nav, rc) ? find(nav, query, row, back, hits, k, n) : rc;
}
