/*
 * raw_rows.c - a block of a raw file as final entries: instructions, encodings, accesses.
 *
 * Implements raw_int.h after docs/formats/drmemtrace-raw.md, "Blocks". In a raw file the accesses
 * of a block stand behind it, in the order of its instructions; a kernel event in the middle of a
 * block stands behind the accesses before it and says its address.
 */
#include "format/drmemtrace/raw_int.h"

#include "core/grow.h"

#include <inttypes.h>
#include <string.h>

/* Entries that one instruction needs at the most, but for gathers. */
enum { ROOM = 16 };

int raw_release(struct raw *c, uint64_t next, bool known)
{
    const bool fixes = !raw_separate(c);
    int rc;

    if (c->held.n == 0)
        return TROD_OK;
    for (size_t i = c->n_branches; fixes && i-- > 0;) {
        const struct raw_branch *b = &c->branch[i];
        uint8_t *p = c->held.p + b->at;

        if (!known && (!b->has_target || b->type == DRM_CONDITIONAL_JUMP)) {
            /* where it went is not known: write it and what came behind it */
            if (b->encoded)
                raw_site_forget(c->blocks, b->site);
            c->held.n = b->from;
        } else if (!b->has_target) {
            raw_put(p, c->width, DRM_MARKER, TROD_DRM_BRANCH_TARGET, next);
        } else if (b->type == DRM_CONDITIONAL_JUMP) {
            trod_store_le16(p, b->target == next ? DRM_TAKEN_JUMP : DRM_UNTAKEN_JUMP);
        }
        next = b->pc;
        known = true;
    }
    rc = c->held.n ? trod_buf_add(c->sink, c->held.p, c->held.n) : TROD_OK;
    c->held.n = c->n_branches = 0;
    return rc;
}

/* Does a system call follow the instruction? The tracer may have been stopped in between. */
static bool call_follows(const struct raw *c, size_t *n)
{
    unsigned number;
    uint64_t e, value;
    size_t len;

    *n = 0;
    if (raw_peek(c, 0, &e) && raw_kind(e) == RAW_TIMESTAMP) {
        *n = 1;
        if (raw_marker_at(c, 1, &number, &value, &len) && number == TROD_DRM_CPU_ID)
            *n += len;
    }
    if (!raw_marker_at(c, *n, &number, &value, &len) || number != TROD_DRM_SYSCALL)
        return false;
    *n += len;
    return true;
}

/* Is a kernel event, or an abort, at PC (OFFSET in its module) what the N entries lead to? */
static bool event_at(const struct raw *c, size_t n, uint64_t pc, uint64_t offset, bool *abort)
{
    unsigned number;
    uint64_t value;
    size_t len;

    if (!raw_marker_at(c, n, &number, &value, &len))
        return false;
    *abort = number == TROD_DRM_RSEQ_ABORT;
    return (*abort || number == TROD_DRM_KERNEL_EVENT) &&
           value == (c->version < RAW_VERSION_EVENT_PC ? offset : pc);
}

/* Instruction N did not complete. *SKIP: entries of accesses that it began. */
static bool interrupted(const struct raw *c, const struct raw_insn *n, uint64_t offset,
                        size_t *skip, bool *abort)
{
    const size_t most = n->flags & RAW_INSN_ELEMENTS ? SIZE_MAX : n->loads;
    uint64_t e;

    *skip = 0;
    if (raw_peek(c, 0, &e) && !raw_is_memref(e) && raw_kind(e) != RAW_EXTENDED)
        return false; /* nearly always */
    for (size_t i = 0; i < most && raw_peek(c, *skip, &e); i++) {
        if (raw_is_ext(e, RAW_MEMINFO) || raw_is_ext(e, RAW_BASE))
            raw_peek(c, ++*skip, &e);
        if (!raw_is_memref(e))
            break;
        ++*skip;
    }
    return event_at(c, *skip, n->pc, offset, abort);
}

/* The first bytes of N stand for it, in a marker. */
static int uncompleted(struct raw *c, const struct raw_insn *n)
{
    uint8_t bytes[8] = {0};
    const size_t most = c->width == DRM_ENTRY_64 ? 8 : 4;

    memcpy(bytes, n->code, n->len < most ? n->len : most);
    return raw_add(c, c->sink, DRM_MARKER, TROD_DRM_UNCOMPLETED_INSTRUCTION, trod_load_le64(bytes));
}

/* The access R at P, if there is one. False: there is not. */
static bool put_access(struct raw *c, const struct raw_ref *r, uint8_t **p)
{
    unsigned type = r->type, size = r->size;
    uint64_t e, addr;

    if (r->flags & RAW_REF_ELIDED) {
        addr = r->flags & RAW_REF_FIXED ? r->disp : c->regs[r->base];
        if (!(r->flags & RAW_REF_FIXED) && r->flags & RAW_REF_BASE)
            addr += r->disp;
    } else {
        raw_peek(c, 0, &e);
        while (raw_is_ext(e, RAW_BASE)) {
            raw_skip(c, 1);
            raw_peek(c, 0, &e);
        }
        if (raw_is_ext(e, RAW_MEMINFO)) {
            type = raw_b(e);
            size = (unsigned)(raw_a(e) & UINT16_MAX);
            raw_skip(c, 1);
            raw_peek(c, 0, &e);
        }
        if (c->n < RAW_BYTES || !raw_is_memref(e))
            return false;
        raw_skip(c, 1);
        addr = e;
        if (r->flags & RAW_REF_BASE) {
            c->regs[r->base] = addr;
            addr += r->disp;
        }
    }
    if (type == DRM_DATA_FLUSH || type == DRM_INSTR_FLUSH || r->flags & RAW_REF_LINE)
        size = c->line_size;
    if (r->flags & RAW_REF_LINE && c->line_size)
        addr -= addr % c->line_size;
    *p = raw_put(*p, c->width, type, size, addr);
    return true;
}

/* In filtered traces each access stands behind an entry that names its instruction. */
static bool comes_now(struct raw *c, const struct raw_insn *n)
{
    uint64_t e, pc;

    if (!(c->filetype & TROD_DRM_DFILTERED))
        return true;
    if (!raw_peek(c, 0, &e) || !raw_is_pc(e) || raw_count(e) != 0 ||
        !raw_code_address(c->code, e, &pc) || pc != n->pc)
        return false;
    raw_skip(c, 1);
    return true;
}

/* The accesses of N behind P, which has room for ROOM entries and is the end of TO. */
static int put_accesses(struct raw *c, const struct raw_insn *n, const struct raw_ref *refs,
                        struct trod_buf *to, bool named)
{
    uint8_t *p = to->p + to->n;
    int rc = TROD_OK;

    if (n->flags & RAW_INSN_ELEMENTS) {
        while (n->n_refs && put_access(c, &refs[n->ref], &p)) {
            to->n = (size_t)(p - to->p);
            if ((rc = trod_buf_reserve(to, (size_t)ROOM * c->width)) < 0)
                return rc;
            p = to->p + to->n;
        }
    } else {
        for (unsigned i = 0; i < n->n_refs; i++)
            if (named || comes_now(c, n))
                put_access(c, &refs[n->ref + i], &p);
    }
    to->n = (size_t)(p - to->p);
    return rc;
}

static uint8_t *put_encoding(const struct raw *c, uint8_t *p, const struct raw_insn *n)
{
    const unsigned most = c->width - 4u;

    for (unsigned i = 0; i < n->len; i += most) {
        const unsigned len = n->len - i < most ? n->len - i : most;

        trod_store_le16(p, DRM_ENCODING);
        trod_store_le16(p + 2, (uint16_t)len);
        memset(p + 4, 0, most);
        memcpy(p + 4, n->code + i, len);
        p += c->width;
    }
    return p;
}

/* Branch N, which is about to be written at AT of held behind its encodings from FROM on, waits. */
static int hold(struct raw *c, const struct raw_insn *n, size_t from, size_t at, bool encoded)
{
    if (!trod_grow(&c->branch, c->n_branches, &c->cap_branches, sizeof *c->branch, 16))
        return TROD_ERR_NOMEM;
    c->branch[c->n_branches++] = (struct raw_branch){.from = from,
                                                     .at = at,
                                                     .pc = n->pc,
                                                     .target = n->target,
                                                     .site = n->site,
                                                     .type = n->type,
                                                     .has_target = n->flags & RAW_INSN_TARGET,
                                                     .encoded = encoded};
    return TROD_OK;
}

/*
 * Instruction N and its accesses. NAMED: the entry only names the instruction of the next access.
 */
static int put_insn(struct raw *c, const struct raw_insn *n, const struct raw_ref *refs, bool named)
{
    struct trod_buf *to = n->flags & RAW_INSN_BRANCH ? &c->held : c->sink;
    const size_t from = to->n;
    const bool encoded = !named && raw_site_new(c->blocks, n->site);
    unsigned type = n->type;
    uint8_t *p;
    int rc = trod_buf_reserve(to, (size_t)ROOM * c->width);

    if (rc < 0)
        return rc;
    p = to->p + to->n;
    if (encoded)
        p = put_encoding(c, p, n);
    if (n->flags & RAW_INSN_REPEATED && c->repeated)
        type = DRM_NO_FETCH;
    c->repeated = n->flags & RAW_INSN_REPEATED;
    c->last_syscall = n->flags & RAW_INSN_SYSCALL ? n->pc : 0;
    c->after_call = n->flags & RAW_INSN_SYSCALL ? n->pc + n->len : 0;
    if (n->flags & RAW_INSN_BRANCH) {
        rc = hold(c, n, from, (size_t)(p - to->p), encoded);
        if (!(n->flags & RAW_INSN_TARGET) && !raw_separate(c))
            p = raw_put(p, c->width, DRM_MARKER, TROD_DRM_BRANCH_TARGET, 0);
    }
    p = raw_put(p, c->width, type, named ? 0 : n->len, n->pc);
    to->n = (size_t)(p - to->p);
    if (rc == TROD_OK && n->n_refs && (named || !raw_separate(c)) &&
        !(c->filetype & TROD_DRM_INSTRUCTION_ONLY))
        rc = put_accesses(c, n, refs, to, named);
    return rc;
}

/*
 * An abort of a restartable sequence whose beginning the tracer did not tell: the store that would
 * have ended it, N, written from FROM on, did not happen.
 */
static bool aborted(struct raw *c, const struct raw_insn *n, size_t from, bool encoded)
{
    unsigned number;
    uint64_t value;
    size_t len;

    if (c->rseq.ever || raw_separate(c) || !raw_marker_at(c, 0, &number, &value, &len) ||
        number != TROD_DRM_RSEQ_ABORT)
        return false;
    if (encoded)
        raw_site_forget(c->blocks, n->site);
    if (n->flags & RAW_INSN_BRANCH)
        c->n_branches--;
    if (n->flags & RAW_INSN_BRANCH)
        c->held.n = from;
    else
        c->sink->n = from;
    return true;
}

/* Does the block end before N, and if so do what its end needs. Returns 1, 0, or an error. */
static int ends_before(struct raw *c, const struct raw_insn *n, const struct raw_block *block,
                       uint64_t offset)
{
    unsigned number;
    uint64_t value;
    size_t len = 0;
    bool abort = false;
    int rc;

    if (n->flags & RAW_INSN_SYSCALL && c->filetype & TROD_DRM_SYSCALL_NUMBERS &&
        !call_follows(c, &len))
        return 1;
    if (n->flags & RAW_INSN_SYSCALL && c->last_syscall == n->pc && block->wanted == 1) {
        raw_skip(c, c->filetype & TROD_DRM_SYSCALL_NUMBERS ? len : 0);
        return 1; /* the same call once more, without an instruction between */
    }
    if (interrupted(c, n, offset, &len, &abort)) {
        raw_skip(c, len);
        if ((rc = raw_release(c, n->pc, true)) < 0 || abort)
            return rc < 0 ? rc : 1;
        rc = uncompleted(c, n);
        return rc < 0 ? rc : 1;
    }
    if (raw_marker_at(c, 0, &number, &value, &len) && number == TROD_DRM_MIDBLOCK_END_PC &&
        value == n->pc) {
        raw_skip(c, len);
        return 1; /* the tracer was detached here */
    }
    return 0;
}

/* The instructions of BLOCK from the Ith on are not known: reported once for each module. */
static int blind(struct raw *c, uint64_t e, const struct raw_block *block, uint64_t pc)
{
    const struct trod_place at = trod_place_offset(c->path, c->offset);
    const unsigned module = raw_module(e);

    if (!(c->modules_told[module / 8] >> module % 8 & 1)) {
        c->modules_told[module / 8] |= (uint8_t)(1 << module % 8);
        if (block->strange)
            trod_warning(c->diag, TROD_ERR_UNSUPPORTED, "drmemtrace.raw-instruction", &at,
                         "the instruction at 0x%" PRIx64 " of '%s' is none that is known here: it "
                         "and those after it in its block are left out, and what they access is "
                         "given as reads of one byte (and so for others of this file)",
                         pc, raw_code_name(c->code, e));
        else
            trod_warning(c->diag, TROD_ERR_IO, "drmemtrace.raw-code", &at,
                         "instructions of '%s' are not known (there is no such file, or it is not "
                         "the one that ran; --module-dir): they are left out, and what they "
                         "access is given as reads of one byte",
                         raw_code_name(c->code, e));
    }
    c->blind = true;
    c->blind_told = !block->known;
    c->blind_pc = pc;
    c->repeated = false;
    c->last_syscall = 0;
    return raw_release(c, pc, block->known);
}

/* Of what is no access the two upper bits of this are not both 0: kinds 7 and 0 become 0 and 1. */
static inline uint64_t no_access(uint64_t e)
{
    return e + (UINT64_C(1) << 61);
}

/* Is there an entry behind the N at P, and is it none that concerns them? */
static inline bool calm_behind(const struct raw *c, const uint8_t *p, uint32_t n)
{
    return (size_t)(c->p + c->n - p) >= (n + (size_t)1) * RAW_BYTES &&
           raw_kind(trod_load_le64(p + (size_t)n * RAW_BYTES)) != RAW_EXTENDED;
}

/*
 * Are the entries here exactly the accesses of the plain BLOCK, with no special entry behind them?
 */
static bool calm(const struct raw *c, const struct raw_block *block)
{
    uint64_t special = 0;

    if (!calm_behind(c, c->p, block->loads))
        return false;
    for (uint32_t i = 0; i < block->loads; i++)
        special |= no_access(trod_load_le64(c->p + (size_t)i * RAW_BYTES));
    return special >> 62 == 0;
}

/*
 * The entries of the plain BLOCK to P, with addresses from the raw entries at FROM. False: not all
 * of those are accesses.
 */
static inline bool make(const struct raw *c, const struct raw_block *block, const uint8_t *from,
                        uint8_t *p)
{
    const uint8_t *const made = c->blocks->made.p + block->made;
    const struct raw_fill *f = c->blocks->fill + block->fill, *const end = f + block->fills;
    const size_t size = (size_t)block->body + block->tail;
    uint64_t special = 0;

    for (size_t i = 0; i < size; i += RAW_COPY)
        memcpy(p + i, made + i, RAW_COPY);
    if (c->width == DRM_ENTRY_64) {
        for (; f < end; f++) {
            const uint64_t e = trod_load_le64(from + f->from);

            special |= no_access(e);
            trod_store_le64(p + f->at, e + f->disp);
        }
    } else {
        for (; f < end; f++) {
            const uint64_t e = trod_load_le64(from + f->from);

            special |= no_access(e);
            trod_store_le32(p + f->at, (uint32_t)(e + f->disp));
        }
    }
    return special >> 62 == 0;
}

/* Room for the entries of BLOCK. */
static inline int make_room(struct raw *c, const struct raw_block *block)
{
    const size_t need = (size_t)block->body + block->tail + RAW_COPY;

    return c->sink->cap - c->sink->n >= need ? TROD_OK : trod_buf_reserve(c->sink, need);
}

/*
 * The plain block that comes next, behind block number BEFORE, if only its accesses remain to be
 * checked.
 */
static struct raw_block *plain_next(struct raw *c, size_t before)
{
    struct raw_block *block;
    uint64_t e;

    if ((c->n < RAW_AHEAD && !c->last) || !raw_peek(c, 0, &e) || !raw_is_pc(e) ||
        (c->width == DRM_ENTRY_32 && raw_kind(e) == RAW_PC_TOP) || raw_count(e) == 0)
        return NULL;
    block = raw_block_behind(c->blocks, before, e);
    return block && block->plain && calm_behind(c, c->p + RAW_BYTES, block->loads) &&
                   raw_block_sure(c->blocks, block)
               ? block
               : NULL;
}

/* The branch at the end of BLOCK, whose entries are at P, went to NEXT. */
static inline void settle(const struct raw *c, const struct raw_block *block, uint8_t *p,
                          uint64_t next)
{
    if (!block->aimed)
        raw_put(p, c->width, DRM_MARKER, TROD_DRM_BRANCH_TARGET, next);
    else if (block->conditional)
        trod_store_le16(p, block->target == next ? DRM_TAKEN_JUMP : DRM_UNTAKEN_JUMP);
}

/*
 * The last bytes of the sink belong to the branch at the end of BLOCK: it becomes a waiting branch.
 */
static int hold_last(struct raw *c, const struct raw_block *block)
{
    const struct raw_insn *last = c->blocks->insn + block->insn + block->n - 1;
    const size_t at = c->held.n;
    int rc;

    c->sink->n -= block->tail;
    rc = trod_buf_add(&c->held, c->sink->p + c->sink->n, block->tail);
    return rc == TROD_OK ? hold(c, last, at, at, false) : rc;
}

/*
 * Plain block number N, of which only the accesses remain to be checked, and further ones like it:
 * their entries are copied, and addresses filled in. If a plain block follows, the branch went
 * there.
 */
static int plain_rows(struct raw *c, size_t n)
{
    const struct raw_block *block = &c->blocks->block[n];
    int rc = block->body ? raw_release(c, block->pc, true) : TROD_OK;

    c->repeated = false;
    c->last_syscall = c->after_call = 0;
    if (rc < 0 || (rc = make_room(c, block)) < 0)
        return rc;
    make(c, block, c->p, c->sink->p + c->sink->n);
    for (;;) {
        const struct raw_block *next = NULL;

        raw_skip(c, block->loads);
        c->sink->n += (size_t)block->body + block->tail;
        /* a branch that begins its block is behind what waits already */
        if (!c->held.n && c->sink->n < RAW_PIECE)
            next = plain_next(c, n);
        block = &c->blocks->block[n]; /* there may be more of them */
        if (next && (rc = make_room(c, next)) < 0)
            return rc;
        if (!next || !make(c, next, c->p + RAW_BYTES, c->sink->p + c->sink->n))
            return block->tail ? hold_last(c, block) : TROD_OK;
        if (block->tail)
            settle(c, block, c->sink->p + c->sink->n - block->tail, next->pc);
        raw_skip(c, 1);
        n = (size_t)(next - c->blocks->block);
        block = next;
    }
}

int raw_block_rows(struct raw *c)
{
    struct raw_block *block;
    const struct raw_insn *insn;
    const struct raw_ref *refs;
    uint64_t e, pc;
    bool named;
    int rc = TROD_OK;

    raw_peek(c, 0, &e);
    raw_skip(c, 1);
    if (!(block = raw_block_find(c->blocks, e)))
        return TROD_ERR_NOMEM;
    insn = c->blocks->insn + block->insn;
    refs = c->blocks->ref;
    named = raw_count(e) == 0;
    pc = block->pc;
    c->blind = false;
    if ((rc = raw_inject(c)) < 0)
        return rc;
    if (block->plain && !named && !c->rseq.on && calm(c, block) && raw_block_sure(c->blocks, block))
        return plain_rows(c, (size_t)(block - c->blocks->block));
    for (uint32_t i = 0; i < block->n && rc == TROD_OK; i++, insn++) {
        size_t from;
        bool encoded;

        rc = ends_before(c, insn, block, raw_offset(e) + (insn->pc - block->pc));
        if (rc != 0)
            return rc < 0 ? rc : TROD_OK;
        if (!(insn->flags & RAW_INSN_BRANCH))
            rc = raw_release(c, insn->pc, true);
        if (rc == TROD_OK && c->rseq.on)
            rc = raw_rseq_step(c, insn);
        if (rc < 0)
            return rc;
        from = insn->flags & RAW_INSN_BRANCH ? c->held.n : c->sink->n;
        encoded = !named && !raw_site_written(c->blocks, insn->site);
        rc = put_insn(c, insn, refs, named);
        if (rc == TROD_OK && aborted(c, insn, from, encoded))
            return TROD_OK;
        pc = insn->pc + insn->len;
    }
    if (rc == TROD_OK && block->n < block->wanted)
        rc = blind(c, e, block, pc);
    return rc;
}
