/*
 * drm_kernel.c - rules on events, restartable sequences, system calls and inlined kernel code.
 *
 * What DynamoRIO's invariant checker asks of their markers (docs/checking.md).
 */
#include "check/drm.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEFAULT_TEMPLATE = 0x0fffffff, DEEPEST = 30 };

/* The program goes on at PC after the inlined trace of a system call. */
static void program_goes_on(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                            uint64_t pc)
{
    if (!d->kernel_target_known || drm_inlined(d))
        return;
    d->kernel_target_known = false;
    if (d->kernel_target == 0)
        chk_report(c, CHK_DRM_KERNEL_END, b, i,
                   "inlined trace leads nowhere, the program goes on at 0x%" PRIx64, pc);
    else if (pc != d->kernel_target)
        chk_report(c, CHK_DRM_KERNEL_END, b, i,
                   "inlined trace leads to 0x%" PRIx64 ", the program goes on at 0x%" PRIx64,
                   d->kernel_target, pc);
}

/*
 * Does the inlined trace of the last system call lead behind it? So the post-processor ends all of
 * them, also of calls that restore what an event interrupted, or that an event lets begin again.
 */
static bool leads_behind(const struct drm *d)
{
    return !drm_inlined(d) && d->prev.known && d->kernel_target == d->prev.pc + d->prev.size;
}

/* May an event take over at PC, as the last instruction of this depth goes? */
static bool may_interrupt(const struct drm *d, uint64_t pc)
{
    if (d->after_abort || d->window || drm_ifilt(d))
        return true;
    if (d->moved) /* a return came, or another event: where that leads is known */
        return !d->expect || pc == d->expect_pc;
    return !d->prev.known || pc == d->prev.pc || chk_drm_may_lead(d, &d->prev, pc);
}

/* Remember what the event at PC interrupts. */
static void push_event(struct drm *d, uint64_t pc, bool hardware)
{
    if (!d->event)
        d->event = calloc(DRM_EVENTS, sizeof *d->event);
    if (d->event && d->depth < DRM_EVENTS)
        d->event[d->depth] = (struct drm_event){pc, hardware, d->forgotten + d->n_calls, d->prev};
    d->depth++;
    chk_drm_call(d, 0);
}

/* Control is taken away. */
static void event(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                  bool hardware)
{
    uint64_t pc = b->value[i];

    if (pc == 0)
        chk_report(c, CHK_DRM_EVENT_VALUE, b, i, "event has no address");
    if (!may_interrupt(d, pc))
        chk_report(c, CHK_DRM_EVENT_PC, b, i,
                   "event at 0x%" PRIx64 ", where the instruction at 0x%" PRIx64 " does not lead",
                   pc, d->prev.pc);
    if (pc == d->prev.pc && leads_behind(d))
        d->kernel_target_known = false;
    program_goes_on(c, d, b, i, pc);
    if (d->in_rseq && d->prev.known && !drm_is_branch(&d->prev))
        chk_report(c, CHK_DRM_RSEQ, b, i,
                   "event inside a restartable sequence that was not aborted");
    if (d->aborted) {
        d->aborted = false;
        d->after_abort = true;
    } else {
        push_event(d, pc, hardware);
    }
    if (hardware && d->depth >= DEEPEST)
        chk_report(c, CHK_DRM_WHOLE, b, i, "hardware events are %u deep", d->depth);
    /* before version 7 what it interrupted may be there without its accesses; then it is not */
    d->cut_short = d->file->version < 7;
    d->moved = true;
    d->expect = d->returned = false;
}

/*
 * The calls made since there were CALLS return addresses are over. A handler that returned has
 * taken what its event put there with it; one that did not has left it.
 */
static void forget_calls(struct drm *d, uint64_t calls)
{
    const uint64_t left = calls > d->forgotten ? calls - d->forgotten : 0;

    if (d->n_calls > left)
        d->n_calls = (unsigned)left;
}

/* Control comes back. */
static void back(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i,
                 bool hardware)
{
    const struct drm_event *e;

    if (b->value[i] == 0)
        chk_report(c, CHK_DRM_EVENT_VALUE, b, i, "return has no address");
    if (drm_inlined(d) && d->depth <= d->trace_depth)
        chk_report(c, CHK_DRM_KERNEL_BALANCE, b, i,
                   "return inside an inlined trace from an event before it");
    if (leads_behind(d)) /* the system call that asked for it does not say where to */
        d->kernel_target_known = false;
    d->moved = true;
    d->expect = false;
    d->returned = d->resumes_branch = true;
    if (d->depth == 0 || --d->depth >= DRM_EVENTS || !d->event)
        return;
    e = &d->event[d->depth];
    if (e->hardware != hardware)
        chk_report(c, CHK_DRM_EVENT_RETURN, b, i, "return from a %s event ends a %s one",
                   hardware ? "hardware" : "kernel", e->hardware ? "hardware" : "kernel");
    forget_calls(d, e->calls);
    d->resumes_branch = !e->prev.known || drm_is_branch(&e->prev);
    if (e->pc && e->prev.type != DRM_I_SYSENTER) {
        d->expect = true;
        d->expect_pc = e->pc;
    }
}

static bool between_syscall_and_trace(unsigned sub)
{
    switch (sub) {
    case TROD_DRM_SYSCALL_UNSCHEDULE:
    case TROD_DRM_SYSCALL_SCHEDULE:
    case TROD_DRM_SYSCALL_ARG_TIMEOUT:
    case TROD_DRM_DIRECT_THREAD_SWITCH:
    case TROD_DRM_MAYBE_BLOCKING:
    case TROD_DRM_FUNC_ID:
    case TROD_DRM_FUNC_ARG:
        return true;
    default:
        return false;
    }
}

static void syscall_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    d->syscalls = true;
    if (d->prev.known && d->prev.decoded && d->prev.is != TROD_BR_SYSCALL &&
        d->prev.type != DRM_I_SYSENTER && !drm_ifilt(d))
        chk_report(c, CHK_DRM_SYSCALL_INSTR, b, i,
                   "system call marker follows no system call but the instruction at 0x%" PRIx64,
                   d->prev.pc);
    if (d->file->version >= 6 &&
        (d->last[0] != TROD_DRM_CPU_ID || d->last[1] != TROD_DRM_TIMESTAMP))
        chk_report(c, CHK_DRM_SYSCALL_TIME, b, i,
                   "system call marker has no time stamp and cpu before it");
    d->after_syscall = d->only_syscall = true;
    d->syscall = b->value[i];
}

/* What stands before the inlined trace of a system call: its instruction and its marker. */
static void trace_place(struct chk *c, const struct drm *d, const struct trod_batch *b, uint32_t i)
{
    const bool pt = d->file->filetype & TROD_DRM_KERNEL_INSTR_ONLY;

    if (!pt && d->after_syscall && b->value[i] != d->syscall)
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i,
                   "inlined system call %" PRIu64 " follows system call %" PRIu64, b->value[i],
                   d->syscall);
    if (d->trace_done && !drm_ifilt(d))
        chk_report(c, CHK_DRM_KERNEL_PLACE, b, i, "second inlined trace of one instruction");
    if (!pt && !d->only_syscall)
        chk_report(c, CHK_DRM_KERNEL_PLACE, b, i, "%s",
                   d->after_syscall
                       ? "other records stand between the system call and its inlined trace"
                       : "inlined system call follows no system call marker");
    if (d->prev.known && d->prev.decoded && d->prev.is != TROD_BR_SYSCALL &&
        d->prev.type != DRM_I_SYSENTER)
        chk_report(c, CHK_DRM_KERNEL_PLACE, b, i,
                   "inlined system call follows no system call instruction");
}

static void trace_start(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!(d->file->filetype & (TROD_DRM_KERNEL_SYSCALLS | TROD_DRM_KERNEL_INSTR_ONLY |
                               TROD_DRM_TEMPLATES | TROD_DRM_WHOLE_SYSTEM)))
        chk_report(c, CHK_DRM_KERNEL_BIT, b, i,
                   "inlined system call in a trace whose file type does not say so");
    if (d->in_trace)
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i, "inlined system call inside another");
    if (!drm_template(d))
        trace_place(c, d, b, i);
    d->template_syscall = true;
    d->template_default |= b->value[i] == DEFAULT_TEMPLATE;
    chk_drm_settle(c, d, b, i);
    d->in_trace = true;
    d->only_syscall = false;
    d->trace = b->value[i];
    d->trace_depth = d->depth;
    d->user = d->prev;
    d->prev.known = false;
}

/* What ends an inlined trace: an indirect branch to the program. */
static void inlined_end(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    chk_drm_settle(c, d, b, i);
    if (d->depth != d->trace_depth)
        chk_report(c, CHK_DRM_KERNEL_BALANCE, b, i,
                   "events of the inlined trace are %u deep at its end, %u at its beginning",
                   d->depth, d->trace_depth);
    d->kernel_target_known = false;
    if (!(d->file->filetype & TROD_DRM_KERNEL_INSTR_ONLY) && d->prev.known) {
        if (!drm_is_indirect(d->prev.branch))
            chk_report(c, CHK_DRM_KERNEL_END, b, i,
                       "inlined trace does not end with an indirect branch");
        d->kernel_target_known = drm_is_indirect(d->prev.branch) && !drm_template(d) &&
                                 d->in_trace && d->user.type != DRM_I_SYSENTER;
        d->kernel_target = d->prev.target;
    }
    d->prev = d->user;
    /* its accesses were counted before the trace: there are no more */
    d->reads = d->prev.loads;
    d->writes = d->prev.stores;
    d->unsure = d->cut_short = false;
    d->sti = 0;
    d->timestamp_since = false;
}

static void trace_end(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!d->in_trace) {
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i,
                   "end of an inlined system call that did not begin");
        return;
    }
    if (b->value[i] != d->trace)
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i, "inlined system call %" PRIu64 " ends as %" PRIu64,
                   d->trace, b->value[i]);
    inlined_end(c, d, b, i);
    d->in_trace = false;
    d->trace_done = true;
}

static void switch_start(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (d->in_switch || d->in_trace)
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i, "context switch inside an inlined trace");
    if (b->value[i] != 1 && b->value[i] != 2)
        chk_report(c, CHK_DRM_SWITCH, b, i, "context switch of type %" PRIu64, b->value[i]);
    else
        d->template_switches |= (unsigned)b->value[i];
    chk_drm_settle(c, d, b, i);
    d->in_switch = true;
    d->trace = b->value[i];
    d->trace_depth = d->depth;
    d->user = d->prev;
    d->prev.known = false;
}

static void switch_end(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!d->in_switch) {
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i, "end of a context switch that did not begin");
        return;
    }
    if (b->value[i] != d->trace)
        chk_report(c, CHK_DRM_KERNEL_NEST, b, i, "context switch ends with another type");
    inlined_end(c, d, b, i);
    d->in_switch = false;
}

static void rseq_abort(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (d->rseq_end && d->prev.known && d->prev.pc + d->prev.size == d->rseq_end &&
        b->value[i] != d->prev.pc)
        chk_report(c, CHK_DRM_RSEQ_ABORT, b, i,
                   "restartable sequence is aborted after its last instruction");
    d->aborted = true;
    d->in_rseq = false;
}

static void hardware_allowed(struct chk *c, const struct drm *d, const struct trod_batch *b,
                             uint32_t i)
{
    if (!(d->file->filetype & TROD_DRM_WHOLE_SYSTEM))
        chk_report(c, CHK_DRM_WHOLE, b, i, "hardware event in a trace that is not whole-system");
}

static void blocking(struct chk *c, const struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!(d->file->filetype & TROD_DRM_BLOCKING_SYSCALLS))
        chk_report(c, CHK_DRM_BLOCKING_BIT, b, i,
                   "blocking marker in a trace whose file type does not say so");
    if (d->last[0] != TROD_DRM_SYSCALL && !drm_regdeps(d))
        chk_report(c, CHK_DRM_BLOCKING, b, i,
                   "blocking marker does not follow a system call marker");
}

/* Markers of a system call that come too late: its inlined trace is over. */
static void too_late(struct chk *c, const struct drm *d, const struct trod_batch *b, uint32_t i)
{
    unsigned sub = b->sub[i];

    if (!d->trace_done || !between_syscall_and_trace(sub) || sub == TROD_DRM_FUNC_ID)
        return;
    if (sub == TROD_DRM_FUNC_ARG && d->function < UINT64_C(0x10000))
        return;
    chk_report(c, CHK_DRM_AFTER_TRACE, b, i,
               "marker %u follows the inlined trace of its system call", sub);
}

bool chk_drm_kernel_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    unsigned sub = b->sub[i];

    if (d->aborted && sub != TROD_DRM_KERNEL_EVENT) {
        chk_report(c, CHK_DRM_RSEQ_ABORT, b, i, "abort is not followed by its event");
        d->aborted = false;
    }
    too_late(c, d, b, i);
    if (!between_syscall_and_trace(sub) && sub != TROD_DRM_SYSCALL_TRACE_START)
        d->only_syscall = false;
    switch (sub) {
    case TROD_DRM_KERNEL_EVENT:
        event(c, d, b, i, false);
        return true;
    case TROD_DRM_KERNEL_XFER:
        back(c, d, b, i, false);
        return true;
    case TROD_DRM_HARDWARE_EVENT:
        hardware_allowed(c, d, b, i);
        event(c, d, b, i, true);
        return true;
    case TROD_DRM_HARDWARE_RETURN:
        hardware_allowed(c, d, b, i);
        back(c, d, b, i, true);
        return true;
    case TROD_DRM_RSEQ_ENTRY:
        d->in_rseq = true;
        d->rseq_began = false;
        d->rseq_end = b->value[i];
        return true;
    case TROD_DRM_RSEQ_ABORT:
        rseq_abort(c, d, b, i);
        return true;
    case TROD_DRM_SYSCALL:
        syscall_marker(c, d, b, i);
        return true;
    case TROD_DRM_MAYBE_BLOCKING:
        blocking(c, d, b, i);
        return true;
    case TROD_DRM_SYSCALL_TRACE_START:
        trace_start(c, d, b, i);
        return true;
    case TROD_DRM_SYSCALL_TRACE_END:
        trace_end(c, d, b, i);
        return true;
    case TROD_DRM_CONTEXT_SWITCH_START:
        switch_start(c, d, b, i);
        return true;
    case TROD_DRM_CONTEXT_SWITCH_END:
        switch_end(c, d, b, i);
        return true;
    default:
        return false;
    }
}

void chk_drm_kernel_instruction(struct chk *c, struct drm *d, const struct trod_batch *b,
                                uint32_t i)
{
    if (drm_inlined(d))
        return;
    program_goes_on(c, d, b, i, b->addr[i]);
    if (d->prev.known && d->prev.decoded && d->prev.is == TROD_BR_SYSCALL && !d->after_syscall &&
        (d->file->filetype & TROD_DRM_SYSCALL_NUMBERS) && !drm_ifilt(d))
        chk_report(c, CHK_DRM_SYSCALL_MISSING, b, i, "system call at 0x%" PRIx64 " has no marker",
                   d->prev.pc);
    if (d->after_syscall && (d->file->filetype & TROD_DRM_KERNEL_SYSCALLS) && !d->trace_done)
        chk_report(c, CHK_DRM_KERNEL_MISSING, b, i, "system call %" PRIu64 " has no inlined trace",
                   d->syscall);
    d->after_syscall = d->only_syscall = d->trace_done = false;
}
