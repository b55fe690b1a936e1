/*
 * drm_flow.c - where an instruction may lead, what it accesses, where calls return to.
 *
 * Implements drm.memory-references, and what several rules ask: which instructions may follow
 * another (drm.pc-continuity, drm.event-pc), and return addresses (drm.function-return).
 */
#include "check/drm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* x86: hlt waits for an interrupt. */
enum { OP_HLT = 0xf4 };

bool chk_drm_may_lead(const struct drm *d, const struct drm_prev *p, uint64_t pc)
{
    bool next = pc == p->pc + p->size;

    if (p->type == DRM_I_SYSENTER || (drm_regdeps(d) && p->branch))
        return true;
    if (drm_inlined(d) && p->decoded && (p->op == OP_HLT || d->sti))
        return true;
    switch (p->branch) {
    case TROD_BR_NONE:
    case TROD_BR_COND_UNTAKEN:
        return next || (p->decoded && p->is == TROD_BR_ERET);
    case TROD_BR_SYSCALL: /* where it leads elsewhere an event says so */
        return next;
    case TROD_BR_COND:
        return next || !p->decoded || !(p->facts & TROD_INSN_TARGET) || pc == p->insn_target;
    case TROD_BR_DIRECT:
    case TROD_BR_CALL:
    case TROD_BR_COND_TAKEN:
        return !p->decoded || !(p->facts & TROD_INSN_TARGET) || pc == p->insn_target;
    default: /* indirect: from version 5 on the target is known, none is a wrong one */
        return pc == p->target || (p->target == 0 && (d->file->version < 5 || drm_ifilt(d)));
    }
}

/*
 * Kernel code that an emulator recorded has more accesses for those that save states, and no
 * records of prefetches.
 */
static bool emulated(const struct drm *d, const struct drm_prev *p)
{
    return drm_inlined(d) &&
           (!(p->facts & TROD_INSN_SIZES) || ((p->facts & TROD_INSN_PREFETCH) && !d->reads));
}

/* A load has the category of loads, a store that of stores. */
static void settle_regdeps(struct chk *c, const struct drm *d, const struct trod_batch *b,
                           uint32_t i)
{
    enum { LOAD = 2, STORE = 4 };

    if (d->regdeps_known && ((d->reads && !(d->regdeps_category & LOAD)) ||
                             (d->writes && !(d->regdeps_category & STORE))))
        chk_report(c, CHK_DRM_MEMREFS, b, i,
                   "instruction at 0x%" PRIx64 " %s memory, its category is another", d->prev.pc,
                   d->reads && !(d->regdeps_category & LOAD) ? "reads" : "writes");
}

void chk_drm_settle(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    const struct drm_prev *p = &d->prev;
    const uint32_t unclear = TROD_INSN_PREDICATED | TROD_INSN_REPEAT;
    /* some are left out, and some are of an instruction that is */
    const bool filtered = drm_dfilt(d) || drm_ifilt(d);

    if (p->known && drm_regdeps(d) && !filtered)
        settle_regdeps(c, d, b, i);
    d->regdeps_known = false;
    if (!p->known || !p->decoded || d->unsure || filtered || !(p->facts & TROD_INSN_COUNTS) ||
        (p->facts & unclear) ||
        (drm_inlined(d) && (d->file->filetype & TROD_DRM_KERNEL_INSTR_ONLY)) || emulated(d, p))
        return;
    if (d->cut_short ? d->reads > p->loads : d->reads != p->loads)
        chk_report(c, CHK_DRM_MEMREFS, b, i,
                   "instruction at 0x%" PRIx64 " is followed by %" PRIu32
                   " reads, its encoding has %u",
                   p->pc, d->reads, p->loads);
    if (d->cut_short ? d->writes > p->stores : d->writes != p->stores)
        chk_report(c, CHK_DRM_MEMREFS, b, i,
                   "instruction at 0x%" PRIx64 " is followed by %" PRIu32
                   " writes, its encoding has %u",
                   p->pc, d->writes, p->stores);
}

void chk_drm_call(struct drm *d, uint64_t pc)
{
    if (d->n_calls == d->cap_calls && d->cap_calls < DRM_CALLS) {
        unsigned cap = d->cap_calls ? 2 * d->cap_calls : 16;
        uint64_t *call = realloc(d->call, cap * sizeof *call);

        if (call) {
            d->call = call;
            d->cap_calls = cap;
        }
    }
    if (d->cap_calls == 0)
        return;
    if (d->n_calls == d->cap_calls) {
        memmove(d->call, d->call + 1, (d->cap_calls - 1) * sizeof *d->call);
        d->n_calls--;
        d->forgotten++;
    }
    d->call[d->n_calls++] = pc;
}

void chk_drm_return_addresses(struct drm *d, unsigned branch, uint64_t back)
{
    if (branch == TROD_BR_CALL || branch == TROD_BR_ICALL)
        chk_drm_call(d, back);
    else if (branch == TROD_BR_RETURN && d->n_calls)
        d->n_calls--;
}
