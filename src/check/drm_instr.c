/*
 * drm_instr.c - rules on instructions as they come: each against the one before it.
 *
 * What DynamoRIO's invariant checker asks of control flow (docs/checking.md), and of instructions
 * behind system calls, behind returns from events and in restartable sequences.
 */
#include "check/drm.h"

#include <inttypes.h>

/* x86: sti lets an interrupt in behind the next instruction. */
enum { OP_STI = 0xfb };

/* Facts of the instruction of row I. */
static struct drm_prev take(struct chk *c, const struct drm *d, const struct trod_batch *b,
                            uint32_t i)
{
    const struct chk_facts *insn = NULL;
    struct drm_prev p = {.known = true,
                         .pc = b->addr[i],
                         .size = b->size[i],
                         .type = b->sub[i],
                         .branch = b->flags[i] & TROD_F_BRANCH,
                         .target = chk_has(b, i, TROD_COL_TARGET) ? b->target[i] : 0};

    if (!drm_regdeps(d))
        insn = chk_facts_of(c, b, i);
    if (insn) {
        p.decoded = true;
        p.facts = insn->flags;
        p.is = insn->branch;
        p.loads = insn->loads;
        p.stores = insn->stores;
        p.insn_target = insn->target;
        p.op = insn->op;
    }
    return p;
}

static void continuity(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                       const struct drm_prev *now)
{
    const struct drm_prev *p = &d->prev;

    if (!p->known || d->moved || d->window || drm_ifilt(d))
        return;
    /* Iterations of a string instruction; the first of a buffer may be a fetch again. */
    if ((now->type == DRM_I_NO_FETCH || p->type == DRM_I_NO_FETCH) && now->pc == p->pc)
        return;
    if (!chk_drm_may_lead(d, p, now->pc)) {
        chk_report(c, CHK_DRM_PC, b, i,
                   "instruction at 0x%" PRIx64 " does not follow the one at 0x%" PRIx64, now->pc,
                   p->pc);
        return;
    }
    if (drm_is_branch(p) && d->timestamp_since)
        chk_report(c, CHK_DRM_BRANCH_TIME, b, i,
                   "a time stamp stands between the branch at 0x%" PRIx64 " and its successor",
                   p->pc);
}

static bool is_direct(unsigned branch)
{
    return branch == TROD_BR_DIRECT || branch == TROD_BR_CALL || branch == TROD_BR_COND_TAKEN ||
           branch == TROD_BR_COND_UNTAKEN;
}

static void branch_type(struct chk *c, const struct drm *d, const struct trod_batch *b, uint32_t i,
                        const struct drm_prev *p)
{
    bool indirect = drm_is_indirect(p->branch);

    if (d->file->version < 5 || drm_ifilt(d))
        return;
    if (p->type == DRM_I_CONDITIONAL)
        chk_report(c, CHK_DRM_BRANCH_TYPE, b, i,
                   "conditional branch does not say whether it is taken");
    else if (indirect && p->target == 0 && !d->in_trace)
        chk_report(c, CHK_DRM_BRANCH_TYPE, b, i, "indirect branch has no target");
    else if (is_direct(p->branch) && !p->decoded && c->insn && !drm_regdeps(d) &&
             chk_has(b, i, TROD_COL_CODE) && b->code[i].len)
        chk_report(c, CHK_DRM_BRANCH_TYPE, b, i, "encoding of a direct branch is no instruction");
}

/* After a return from an event the interrupted instruction comes. */
static void resumed(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                    const struct drm_prev *now)
{
    if (d->expect && now->pc != d->expect_pc && !drm_ifilt(d) && now->branch != TROD_BR_DIRECT)
        chk_report(c, CHK_DRM_EVENT_RETURN, b, i,
                   "instruction at 0x%" PRIx64 " follows a return to 0x%" PRIx64, now->pc,
                   d->expect_pc);
    d->expect = false;
}

static void rseq(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                 const struct drm_prev *now)
{
    if (!d->in_rseq)
        return;
    if (!d->rseq_began) {
        d->rseq_began = true;
        d->rseq_from = now->pc;
    }
    if (now->pc < d->rseq_from || now->pc >= d->rseq_end) {
        d->in_rseq = false;
        if (d->prev.known && !drm_is_branch(&d->prev) && !d->moved)
            chk_report(c, CHK_DRM_RSEQ, b, i,
                       "restartable sequence is left at 0x%" PRIx64 " without a branch",
                       d->prev.pc);
    } else if (now->pc + now->size == d->rseq_end) {
        d->in_rseq = false;
    }
}

/* Whether nothing but the last instruction bears on the next. */
static bool quiet(const struct drm *d)
{
    return d->prev.known && d->prev.decoded && !d->expect && !d->in_rseq && !drm_inlined(d) &&
           !drm_regdeps(d) && !drm_ifilt(d) && !drm_dfilt(d) && d->file->version >= 5 &&
           d->prev.is != TROD_BR_SYSCALL && d->prev.type != DRM_I_NO_FETCH;
}

/* Where the last instruction must lead, if that is one place and known; else 0. */
static uint64_t successor(const struct drm_prev *p)
{
    switch (p->branch) {
    case TROD_BR_NONE:
    case TROD_BR_COND_UNTAKEN:
        return p->pc + p->size;
    case TROD_BR_DIRECT:
    case TROD_BR_CALL:
    case TROD_BR_COND_TAKEN:
        return p->facts & TROD_INSN_TARGET ? p->insn_target : 0;
    default:
        return p->target;
    }
}

uint32_t chk_drm_plain(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
    const uint32_t judged = TROD_INSN_COUNTS | TROD_INSN_PREDICATED | TROD_INSN_REPEAT;
    uint64_t next = successor(&d->prev), instructions = 0;
    uint32_t reads = d->reads, writes = d->writes, last = to, i = from;
    bool exact = (d->prev.facts & judged) == TROD_INSN_COUNTS;
    unsigned loads = d->prev.loads, stores = d->prev.stores;

    for (; i < to; i++) {
        const struct chk_facts *f;
        unsigned branch;
        uint64_t target;

        if (b->kind[i] == TROD_READ) {
            reads++;
            continue;
        }
        if (b->kind[i] == TROD_WRITE) {
            writes++;
            continue;
        }
        branch = b->flags[i] & TROD_F_BRANCH;
        target = chk_has(b, i, TROD_COL_TARGET) ? b->target[i] : 0;
        if (b->kind[i] != TROD_INSTR || b->addr[i] != next || b->sub[i] == DRM_I_NO_FETCH ||
            branch == TROD_BR_COND || (target != 0) != drm_is_indirect(branch) ||
            (exact && (reads != loads || writes != stores)))
            break;
        f = chk_facts_of(c, b, i);
        if (!f || f->branch == TROD_BR_SYSCALL)
            break;
        exact = (f->flags & judged) == TROD_INSN_COUNTS;
        loads = f->loads;
        stores = f->stores;
        next += b->size[i];
        if (branch) {
            if (c->part)
                chk_drm_part_call(c->part, branch, next);
            chk_drm_return_addresses(d, branch, next);
            if (branch != TROD_BR_COND_UNTAKEN)
                next = target ? target : f->flags & TROD_INSN_TARGET ? f->target : 0;
        }
        last = i;
        instructions++;
        reads = writes = 0;
    }
    d->reads = reads;
    d->writes = writes;
    d->instructions += instructions;
    d->file->instructions += instructions;
    if (last < to)
        d->prev = take(c, d, b, last);
    return i;
}

/* The words of a synthetic encoding: so many registers, so many bytes, padded. */
static void regdeps(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    uint32_t n = chk_has(b, i, TROD_COL_CODE) ? b->code[i].len : 0, registers, want;
    const uint8_t *p = trod_batch_bytes(b, b->code[i]);

    d->regdeps_category = 0;
    if (n < 4 || n % 4) {
        if (n)
            chk_report(c, CHK_DRM_REGDEPS, b, i,
                       "encoding of %" PRIu32 " bytes is no multiple of 4", n);
        return;
    }
    registers = (uint32_t)(p[0] & 0xf) + (p[0] >> 4);
    want = (4 + registers + (registers > 0) + 3) & ~3u;
    if (n != want)
        chk_report(c, CHK_DRM_REGDEPS, b, i,
                   "encoding of %" PRIu32 " bytes names %" PRIu32
                   " registers: it should have %" PRIu32,
                   n, registers, want);
    /* bits 10 to 31 of the first word */
    d->regdeps_category = ((uint32_t)p[1] | (uint32_t)p[2] << 8 | (uint32_t)p[3] << 16) >> 2;
    d->regdeps_known = true;
}

void chk_drm_instruction(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    struct drm_prev now;
    bool twice;

    now = take(c, d, b, i);
    chk_drm_settle(c, d, b, i);
    chk_drm_kernel_instruction(c, d, b, i);
    resumed(c, d, b, i, &now);
    twice = d->prev.known && now.decoded && now.is == TROD_BR_SYSCALL &&
            d->prev.is == TROD_BR_SYSCALL && d->prev.pc == now.pc && !d->moved;
    if (twice)
        chk_report(c, CHK_DRM_SYSCALL_TWICE, b, i,
                   "system call instruction at 0x%" PRIx64 " comes twice", now.pc);
    else /* one fault of where control goes is one finding */
        continuity(c, d, b, i, &now);
    branch_type(c, d, b, i, &now);
    rseq(c, d, b, i, &now);
    if (!drm_inlined(d))
        chk_drm_return_addresses(d, now.branch, now.pc + now.size);
    if (drm_regdeps(d))
        regdeps(c, d, b, i);
    if (now.type != DRM_I_NO_FETCH) {
        d->instructions++;
        d->file->instructions++;
    }
    if (drm_inlined(d) && now.decoded)
        d->sti = now.op == OP_STI ? 2 : d->sti ? d->sti - 1 : 0;
    d->prev = now;
    d->reads = d->writes = 0;
    d->unsure = d->cut_short = d->moved = d->window = d->timestamp_since = false;
    d->after_abort = d->returned = false;
    d->plain = quiet(d);
}
