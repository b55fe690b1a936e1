/*
 * drm.c - rules of drmemtrace traces: the rows of a thread, and its end.
 *
 * Implements drmemtrace, section 19; docs/checking.md says which invariants concern a trace on
 * disk.
 */
#include "check/drm.h"

#include <inttypes.h>
#include <stdlib.h>

/* A thread's records on one core after those of another thread: nothing is known of what it did
 * elsewhere. */
static void forget_flow(struct drm *d)
{
    d->prev.known = d->plain = false;
    d->moved = d->expect = d->in_rseq = false;
    d->depth = 0;
    d->n_calls = 0;
    d->forgotten = 0;
    d->timestamp_known = false;
    d->after_syscall = d->only_syscall = d->trace_done = d->in_trace = d->in_switch = false;
    d->kernel_target_known = d->aborted = d->after_abort = d->returned = d->window = false;
    d->last[0] = d->last[1] = -1;
}

static void data(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (d->function_just)
        chk_report(c, CHK_DRM_FUNC_PLACE, b, i, "data record follows a function marker");
    if (b->kind[i] == TROD_WRITE)
        d->writes++;
    else
        d->reads++;
}

static void thread_exit(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    chk_drm_settle(c, d, b, i);
    d->exited = true;
    d->prev.known = false;
    if (drm_template(d))
        return;
    if (!d->file->line_size)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without a marker of its cache line size");
    if (!d->file->page_size)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without a marker of its page size");
    if ((d->file->announced & (TROD_DRM_FILTERED | TROD_DRM_IFILTERED)) && !d->instr_count_known)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without an instruction count");
    if ((d->file->announced & TROD_DRM_BIMODAL) && !d->endpoint)
        chk_report(c, CHK_DRM_BIMODAL, b, i, "thread ends without a filter end point");
}

void chk_drm_row(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    int marker = b->kind[i] == TROD_MARKER ? b->sub[i] : -1;

    if (d->physical && marker != TROD_DRM_VIRTUAL_ADDRESS) {
        chk_report(c, CHK_DRM_PHYSICAL, b, i,
                   "physical address is not followed by its virtual address");
        d->physical = false;
    }
    switch (b->kind[i]) {
    case TROD_INSTR:
        chk_drm_instruction(c, d, b, i);
        break;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_PREFETCH:
    case TROD_FLUSH:
        data(c, d, b, i);
        break;
    case TROD_THREAD:
        thread_exit(c, d, b, i);
        break;
    case TROD_MARKER:
        chk_drm_marker(c, d, b, i);
        break;
    default:
        return;
    }
    if (b->kind[i] == TROD_MARKER || b->kind[i] == TROD_THREAD)
        d->plain = false;
    d->function_just = marker >= TROD_DRM_FUNC_ID && marker <= TROD_DRM_FUNC_RETVAL;
    d->last[1] = d->last[0];
    d->last[0] = marker;
}

static const char *name_of(const struct chk *c, uint32_t key)
{
    const struct trod_stream *s = chk_stream_of(c, key);

    return s ? s->name : "?";
}

/* The records before were of another thread of the same file. */
static void another_thread(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!drm_core_sharded(d)) {
        chk_report(c, CHK_DRM_TID, b, i, "record of thread %s follows those of thread %s",
                   name_of(c, c->stream), name_of(c, c->previous));
        return;
    }
    forget_flow(d);
    if ((d->file->filetype & TROD_DRM_KERNEL_SYSCALLS) &&
        chk_thread_of(c, c->stream) != TROD_NOWHERE &&
        !(b->kind[i] == TROD_MARKER && b->sub[i] == TROD_DRM_CONTEXT_SWITCH_START))
        chk_report(c, CHK_DRM_SWITCH, b, i,
                   "core goes on with thread %s without the kernel's code for it",
                   name_of(c, c->stream));
}

void chk_drm_judge(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                   uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (d->plain && (i = chk_drm_plain(c, d, b, i, to)) == to)
            break;
        chk_drm_row(c, d, b, i);
    }
}

static int rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct drm *d = st;

    const bool first = !d->file;

    d->file = chk_file(c);
    if (first)
        d->last[0] = d->last[1] = -1;
    if (first && c->part)
        chk_drm_part_begin(c, d);
    chk_use_isa(c, d->file->isa);
    if (c->switched)
        another_thread(c, d, b, from);
    if (c->part)
        return chk_drm_part_rows(c, d, b, from, to);
    chk_drm_judge(c, d, b, from, to);
    return TROD_OK;
}

static void end_templates(struct chk *c, const struct drm *d)
{
    if (d->template_syscall && d->template_switches)
        chk_report(c, CHK_DRM_TEMPLATES, NULL, 0,
                   "file holds templates of system calls and of context switches");
    else if (d->template_syscall && !d->template_default)
        chk_report(c, CHK_DRM_TEMPLATES, NULL, 0, "file lacks the default system call");
    else if (d->template_switches && d->template_switches != 3)
        chk_report(c, CHK_DRM_TEMPLATES, NULL, 0, "file lacks a type of context switch");
}

static void end(struct chk *c, void *st)
{
    struct drm *d = st;

    d->file = chk_file(c);
    chk_drm_settle(c, d, NULL, 0);
    if (drm_template(d)) {
        end_templates(c, d);
        return;
    }
    if (drm_core_sharded(d) || chk_thread_of(c, c->stream) == TROD_NOWHERE)
        return;
    if (!d->exited)
        chk_report(c, CHK_DRM_EXIT, NULL, 0, "thread has no exit record");
    if (d->instructions == 0 && !drm_ifilt(d))
        chk_report(c, CHK_DRM_EMPTY, NULL, 0, "thread has no instruction");
    if (d->syscalls && d->file->filetype_known && !(d->file->filetype & TROD_DRM_SYSCALL_NUMBERS))
        chk_report(c, CHK_DRM_SYSCALL_BIT, NULL, 0,
                   "there are system call markers, and the file type does not say so");
}

static void fini(void *st)
{
    struct drm *d = st;

    free(d->event);
    free(d->call);
}

const struct chk_family chk_drm = {
    .families = TROD_RULE_DRMEMTRACE,
    .stream_size = sizeof(struct drm),
    .file_size = sizeof(struct drm_file),
    .rows = rows,
    .end = end,
    .fini = fini,
    .facts = true,
    .go_on = chk_drm_part_go_on,
};
