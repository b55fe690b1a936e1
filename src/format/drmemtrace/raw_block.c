/*
 * raw_block.c - blocks of instructions of raw files, each decoded once: the entries they stand for.
 *
 * Implements raw.h after docs/formats/drmemtrace-raw.md, "Addresses that are left out". The tracer
 * decides block by block, from the instructions alone, which addresses it leaves out; this file
 * decides the same.
 */
#include "format/drmemtrace/raw.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_MAX = 1024,
    NO_ELISION = TROD_DRM_FILTERED | TROD_DRM_IFILTERED | TROD_DRM_DFILTERED |
                 TROD_DRM_NO_OPTIMIZATIONS | TROD_DRM_INSTRUCTION_ONLY,
    NO_PLAIN =
        TROD_DRM_FILTERED | TROD_DRM_IFILTERED | TROD_DRM_DFILTERED | TROD_DRM_INSTRUCTION_ONLY
};

static enum trod_isa isa_of(uint64_t filetype)
{
    if (filetype & TROD_DRM_AARCH64)
        return TROD_ISA_A64;
    if (filetype & TROD_DRM_ARM32)
        return TROD_ISA_ARM;
    return filetype & TROD_DRM_X86_32 ? TROD_ISA_X86_32 : TROD_ISA_X86_64;
}

int raw_blocks_new(struct raw_blocks **out, struct raw_code *code, uint64_t filetype,
                   unsigned version, struct trod_diag *diag)
{
    struct raw_blocks *b = calloc(1, sizeof *b);
    int rc = TROD_OK;

    *out = NULL;
    if (!b || !(b->found = malloc(BLOCK_MAX * sizeof *b->found)) ||
        !(b->slot = calloc(b->slots = 1 << 10, sizeof *b->slot)) ||
        !(b->site_slot = calloc(b->site_slots = 1 << 12, sizeof *b->site_slot)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = trod_operands_new(&b->decoder, isa_of(filetype));
    if (rc == TROD_ERR_UNSUPPORTED)
        trod_error(
            diag, rc, "drmemtrace.raw-isa", NULL,
            "raw traces of this instruction set cannot be read: convert it with drraw2trace");
    if (rc < 0) {
        raw_blocks_free(b);
        return rc;
    }
    b->code = code;
    b->filetype = filetype;
    b->version = version;
    *out = b;
    return TROD_OK;
}

void raw_blocks_free(struct raw_blocks *b)
{
    if (!b)
        return;
    trod_operands_free(b->decoder);
    free(b->block);
    free(b->slot);
    free(b->insn);
    free(b->ref);
    free(b->fill);
    free(b->site);
    free(b->site_slot);
    free(b->found);
    trod_buf_fini(&b->made);
    free(b);
}

void raw_blocks_retype(struct raw_blocks *b, uint64_t filetype)
{
    if (b->filetype == filetype)
        return;
    b->filetype = filetype;
    b->n_blocks = b->n_insns = b->n_refs = b->n_fills = 0;
    b->made.n = 0;
    memset(b->slot, 0, b->slots * sizeof *b->slot);
}

/* --- sites --- */

static size_t hash(uint64_t a, uint64_t b)
{
    const uint64_t h = (a ^ b * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h >> 24);
}

static bool more_sites(struct raw_blocks *b)
{
    const size_t slots = 2 * b->site_slots;
    uint32_t *slot;

    if (2 * b->n_sites < b->site_slots)
        return true;
    if (b->n_sites >= UINT32_MAX / 2 || !(slot = calloc(slots, sizeof *slot)))
        return false;
    for (size_t i = 0; i < b->n_sites; i++) {
        size_t at = hash(b->site[i].pc, b->site[i].version) & (slots - 1);

        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    free(b->site_slot);
    b->site_slot = slot;
    b->site_slots = slots;
    return true;
}

uint32_t raw_site(struct raw_blocks *b, uint64_t pc, uint64_t version)
{
    size_t at;

    if (!more_sites(b) || !trod_grow(&b->site, b->n_sites, &b->cap_sites, sizeof *b->site, 1024))
        return UINT32_MAX;
    for (at = hash(pc, version) & (b->site_slots - 1); b->site_slot[at];
         at = (at + 1) & (b->site_slots - 1)) {
        const struct raw_site *s = &b->site[b->site_slot[at] - 1];

        if (s->pc == pc && s->version == version)
            return b->site_slot[at] - 1;
    }
    b->site[b->n_sites++] = (struct raw_site){.pc = pc, .version = version};
    b->site_slot[at] = (uint32_t)b->n_sites;
    return (uint32_t)b->n_sites - 1;
}

bool raw_site_new(struct raw_blocks *b, uint32_t site)
{
    const bool written = b->site[site].written;

    b->site[site].written = true;
    return !written;
}

bool raw_site_written(const struct raw_blocks *b, uint32_t site)
{
    return b->site[site].written;
}

void raw_site_forget(struct raw_blocks *b, uint32_t site)
{
    b->site[site].written = false;
    b->forgotten++;
}

void raw_sites_forget(struct raw_blocks *b, uint64_t pc)
{
    for (size_t i = 0; i < b->n_sites; i++)
        if (b->site[i].pc == pc)
            b->site[i].written = false;
    b->forgotten++;
}

void raw_sites_anew(struct raw_blocks *b)
{
    for (size_t i = 0; i < b->n_sites; i++)
        b->site[i].written = false;
    b->forgotten++;
}

bool raw_block_written(struct raw_blocks *b, struct raw_block *block)
{
    const struct raw_insn *insn = b->insn + block->insn;

    for (uint32_t i = 0; i < block->n; i++)
        if (!b->site[insn[i].site].written)
            return false;
    block->sure = b->forgotten + 1;
    return true;
}

/* --- decoding --- */

static uint16_t type_of(const struct trod_operands *o)
{
    switch (o->insn.branch) {
    case TROD_BR_COND:
        return DRM_CONDITIONAL_JUMP;
    case TROD_BR_DIRECT:
        return DRM_DIRECT_JUMP;
    case TROD_BR_INDIRECT:
        return DRM_INDIRECT_JUMP;
    case TROD_BR_CALL:
        return DRM_DIRECT_CALL;
    case TROD_BR_ICALL:
        return DRM_INDIRECT_CALL;
    case TROD_BR_RETURN:
    case TROD_BR_ERET:
        return DRM_RETURN;
    default:
        return o->flags & TROD_OPERANDS_SYSENTER ? DRM_SYSENTER : DRM_INSTR;
    }
}

/* PRFM's operand: three bits for the type, two for the cache, one for streaming. */
static uint16_t a64_hint(unsigned operation)
{
    static const uint16_t reads[] = {DRM_PREFETCH + 1, DRM_PREFETCH_READ_L1_NT,
                                     DRM_PREFETCH + 2, DRM_PREFETCH_READ_L1_NT + 1,
                                     DRM_PREFETCH + 3, DRM_PREFETCH_READ_L1_NT + 2};
    const unsigned where = operation & 7, what = operation >> 3;

    if (where > 5 || what > 2)
        return DRM_PREFETCH;
    return (uint16_t)(what == 0   ? reads[where]
                      : what == 1 ? DRM_PREFETCH_INSTR_L1 + where
                                  : DRM_PREFETCH_WRITE_L3_NT - 5 + where);
}

static uint16_t access_type(const struct trod_operands *o, bool write)
{
    static const uint16_t hints[] = {
        [TROD_HINT_ANY] = DRM_PREFETCH,     [TROD_HINT_T0] = DRM_PREFETCH + 1,
        [TROD_HINT_T1] = DRM_PREFETCH + 2,  [TROD_HINT_T2] = DRM_PREFETCH + 3,
        [TROD_HINT_NTA] = DRM_PREFETCH + 4, [TROD_HINT_WRITE] = DRM_PREFETCH,
    };

    if (o->insn.flags & TROD_INSN_PREFETCH)
        return o->hint >= TROD_HINT_A64 ? a64_hint(o->hint - TROD_HINT_A64) : hints[o->hint];
    if (o->insn.flags & TROD_INSN_FLUSH)
        return o->flags & TROD_OPERANDS_CODE ? DRM_INSTR_FLUSH : DRM_DATA_FLUSH;
    return write ? DRM_WRITE : DRM_READ;
}

/* Is the address of OP left out? SAW: the registers whose values are in entries of the block. */
static uint8_t elided(const struct trod_operand *op, uint64_t *saw)
{
    if (op->form == TROD_OPERAND_FIXED)
        return RAW_REF_ELIDED | RAW_REF_FIXED;
    if (op->form != TROD_OPERAND_BASE)
        return 0;
    if (*saw >> op->base & 1)
        return RAW_REF_ELIDED;
    *saw |= UINT64_C(1) << op->base;
    return 0;
}

/* Append the refs of OP to those of the block. SAW: NULL where no address is left out. */
static bool add_ref(struct raw_blocks *b, struct raw_insn *n, const struct trod_operands *o,
                    const struct trod_operand *op, bool write, uint64_t *saw)
{
    struct raw_ref *r;

    if (!trod_grow(&b->ref, b->n_refs, &b->cap_refs, sizeof *b->ref, 1024))
        return false;
    r = &b->ref[b->n_refs++];
    *r = (struct raw_ref){.disp = op->disp, .base = op->base, .type = access_type(o, write)};
    r->size = o->insn.flags & TROD_INSN_PREFETCH ? 1
              : op->size > UINT16_MAX            ? UINT16_MAX
                                                 : (uint16_t)op->size;
    r->flags = write ? RAW_REF_WRITE : 0;
    if (o->flags & TROD_OPERANDS_LINE)
        r->flags |= RAW_REF_LINE;
    if (saw)
        r->flags |= elided(op, saw);
    if (op->form == TROD_OPERAND_BASE && !(b->filetype & TROD_DRM_NO_OPTIMIZATIONS))
        r->flags |= RAW_REF_BASE;
    n->n_refs++;
    if (!(r->flags & RAW_REF_ELIDED))
        n->loads++;
    return true;
}

/* The refs of instruction N, O: those read, then those written. */
static bool add_refs(struct raw_blocks *b, struct raw_insn *n, const struct trod_operands *o,
                     bool leaves_out, uint64_t *saw)
{
    uint64_t *const s = leaves_out && !(o->flags & TROD_OPERANDS_CONDITION) ? saw : NULL;

    n->ref = (uint32_t)b->n_refs;
    for (unsigned i = 0; i < o->n_read; i++)
        if (!add_ref(b, n, o, &o->read[i], false, s))
            return false;
    if (o->n_read || o->n_written)
        *saw &= ~o->changes;
    for (unsigned i = 0; i < o->n_written; i++)
        if (!add_ref(b, n, o, &o->written[i], true, s))
            return false;
    *saw = o->flags & TROD_OPERANDS_CONDITION ? 0 : *saw & ~o->changes;
    return true;
}

static bool add_insn(struct raw_blocks *b, uint64_t pc, const struct trod_operands *o,
                     const uint8_t *code, uint64_t version)
{
    struct raw_insn *n;

    if (!trod_grow(&b->insn, b->n_insns, &b->cap_insns, sizeof *b->insn, 1024))
        return false;
    n = &b->insn[b->n_insns++];
    *n = (struct raw_insn){.pc = pc,
                           .target = o->insn.target,
                           .type = type_of(o),
                           .len = o->insn.size,
                           .site = raw_site(b, pc, version)};
    memcpy(n->code, code, n->len);
    if (o->insn.branch == TROD_BR_SYSCALL)
        n->flags |= RAW_INSN_SYSCALL;
    else if (o->insn.branch)
        n->flags |= RAW_INSN_BRANCH;
    if (o->insn.flags & TROD_INSN_TARGET)
        n->flags |= RAW_INSN_TARGET;
    if (o->flags & TROD_OPERANDS_REPEATED)
        n->flags |= RAW_INSN_REPEATED;
    if (o->flags & TROD_OPERANDS_ELEMENTS)
        n->flags |= RAW_INSN_ELEMENTS;
    return n->site != UINT32_MAX;
}

/* --- plain blocks --- */

static unsigned width(const struct raw_blocks *b)
{
    return b->filetype & (TROD_DRM_ARM32 | TROD_DRM_X86_32) ? DRM_ENTRY_32 : DRM_ENTRY_64;
}

static bool plain_insn(const struct raw_blocks *b, const struct raw_insn *n, bool last)
{
    if (n->flags & (RAW_INSN_SYSCALL | RAW_INSN_REPEATED | RAW_INSN_ELEMENTS))
        return false;
    for (unsigned i = 0; i < n->n_refs; i++) {
        const struct raw_ref *r = &b->ref[n->ref + i];

        if (r->flags & RAW_REF_LINE || r->type == DRM_DATA_FLUSH || r->type == DRM_INSTR_FLUSH)
            return false;
    }
    return last || !(n->flags & RAW_INSN_BRANCH);
}

/*
 * The address of R lies AT bytes into the entries of BLOCK. VALUE_AT: by register, the entry behind
 * the block that has its value. False: no memory.
 */
static bool add_fill(struct raw_blocks *b, struct raw_block *block, const struct raw_ref *r,
                     size_t at, uint32_t value_at[static RAW_REGS])
{
    struct raw_fill *f;

    if (r->flags & RAW_REF_FIXED)
        return true; /* it stands there */
    if (!trod_grow(&b->fill, b->n_fills, &b->cap_fills, sizeof *b->fill, 1024))
        return false;
    f = &b->fill[b->n_fills++];
    *f = (struct raw_fill){.disp = r->flags & RAW_REF_BASE ? r->disp : 0,
                           .at = (uint32_t)at,
                           .from = r->flags & RAW_REF_ELIDED ? value_at[r->base]
                                                             : block->loads * RAW_BYTES};
    block->fills++;
    block->loads += !(r->flags & RAW_REF_ELIDED);
    if (r->flags & RAW_REF_BASE)
        value_at[r->base] = f->from;
    return true;
}

/*
 * Make the entries of instruction N of BLOCK, whose first one is at FROM, behind P. Returns what is
 * behind them; NULL: no memory.
 */
static uint8_t *make_insn(struct raw_blocks *b, struct raw_block *block, const struct raw_insn *n,
                          const uint8_t *from, uint8_t *p, uint32_t value_at[static RAW_REGS])
{
    const unsigned w = width(b);

    if (n->flags & RAW_INSN_BRANCH && !(n->flags & RAW_INSN_TARGET))
        p = raw_put(p, w, DRM_MARKER, TROD_DRM_BRANCH_TARGET, 0);
    p = raw_put(p, w, n->type, n->len, n->pc);
    for (unsigned i = 0; i < n->n_refs; i++) {
        const struct raw_ref *r = &b->ref[n->ref + i];

        if (!add_fill(b, block, r, (size_t)(p - from) + 4, value_at))
            return NULL;
        p = raw_put(p, w, r->type, r->size, r->disp);
    }
    return p;
}

/* Make the entries of BLOCK if it is plain. False: no memory. */
static bool make_plain(struct raw_blocks *b, struct raw_block *block)
{
    const struct raw_insn *insn = b->insn + block->insn;
    uint32_t value_at[RAW_REGS] = {0};
    const uint32_t n = block->n;
    size_t entries = 1; /* the target of a branch at the end */
    uint8_t *p, *from;

    if (n < block->wanted || b->filetype & NO_PLAIN)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        if (!plain_insn(b, &insn[i], i + 1 == n))
            return true;
        entries += insn[i].n_refs + 1;
    }
    if (trod_buf_reserve(&b->made, entries * width(b) + RAW_COPY) < 0)
        return false;
    block->fill = (uint32_t)b->n_fills;
    block->made = b->made.n;
    from = p = b->made.p + b->made.n;
    for (uint32_t i = 0; i < n; i++) {
        if (insn[i].flags & RAW_INSN_BRANCH)
            block->body = (uint32_t)(p - from);
        if (!(p = make_insn(b, block, &insn[i], from, p, value_at)))
            return false;
    }
    if (!(insn[n - 1].flags & RAW_INSN_BRANCH))
        block->body = (uint32_t)(p - from);
    block->tail = (uint32_t)(p - from) - block->body;
    block->target = insn[n - 1].target;
    block->conditional = insn[n - 1].type == DRM_CONDITIONAL_JUMP;
    block->aimed = insn[n - 1].flags & RAW_INSN_TARGET;
    b->made.n += (size_t)(p - from);
    block->plain = true;
    return true;
}

/* Decode the block BLOCK of entry E. False: no memory. */
static bool decode(struct raw_blocks *b, struct raw_block *block, uint64_t e)
{
    bool leaves_out = b->version >= RAW_VERSION_ELISION && !(b->filetype & NO_ELISION);
    uint64_t pc = block->pc, version, saw = 0;

    for (; block->n < block->wanted; block->n++) {
        struct trod_operands *o = &b->found[block->n];
        uint32_t n = DRM_CODE_MAX;
        const uint8_t *code = raw_code_bytes(b->code, e, pc - block->pc, pc, &n, &version);

        if (!code)
            break;
        trod_operands_decode(b->decoder, pc, code, n, o);
        if (!o->insn.valid) {
            block->strange = true;
            break;
        }
        if (o->flags & (TROD_OPERANDS_REPEATED | TROD_OPERANDS_ELEMENTS))
            leaves_out = false;
        if (!add_insn(b, pc, o, code, version))
            return false;
        pc += o->insn.size;
    }
    for (uint32_t i = 0; i < block->n; i++)
        if (!add_refs(b, &b->insn[block->insn + i], &b->found[i], leaves_out, &saw))
            return false;
    return make_plain(b, block);
}

static bool more_slots(struct raw_blocks *b)
{
    const size_t slots = 2 * b->slots;
    uint32_t *slot;

    if (2 * b->n_blocks < b->slots)
        return true;
    if (b->n_blocks >= UINT32_MAX / 2 || !(slot = calloc(slots, sizeof *slot)))
        return false;
    for (size_t i = 0; i < b->n_blocks; i++) {
        size_t at = hash(b->block[i].key, 0) & (slots - 1);

        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    free(b->slot);
    b->slot = slot;
    b->slots = slots;
    return true;
}

struct raw_block *raw_block_find(struct raw_blocks *b, uint64_t e)
{
    const uint64_t key = raw_key(e);
    struct raw_block *block;
    size_t at;

    for (at = hash(key, 0) & (b->slots - 1); b->slot[at]; at = (at + 1) & (b->slots - 1))
        if (b->block[b->slot[at] - 1].key == key)
            return &b->block[b->slot[at] - 1];
    if (!more_slots(b) || !trod_grow(&b->block, b->n_blocks, &b->cap_blocks, sizeof *b->block, 256))
        return NULL;
    block = &b->block[b->n_blocks];
    /* an entry of no instructions stands before an access of the one that it names */
    *block = (struct raw_block){.key = key,
                                .wanted = raw_count(e) ? raw_count(e) : 1,
                                .insn = (uint32_t)b->n_insns,
                                .ref = (uint32_t)b->n_refs};
    if (block->wanted > BLOCK_MAX)
        block->wanted = BLOCK_MAX;
    block->known = raw_code_address(b->code, e, &block->pc);
    if (block->known && !decode(b, block, e))
        return NULL;
    b->n_blocks++;
    for (at = hash(key, 0) & (b->slots - 1); b->slot[at]; at = (at + 1) & (b->slots - 1))
        ;
    b->slot[at] = (uint32_t)b->n_blocks;
    return block;
}
