/*
 * drm.c - rules of drmemtrace traces: the rows of a thread, and its end.
 *
 * Implements drmemtrace, section 19, but for what concerns DynamoRIO's own stream interface (4 to
 * 6), its test programs (47) and the schedule files (55, 56: src/trace reads and checks those).
 */
#include "check/drm.h"

#include <inttypes.h>
/* A thread's records on one core after those of another thread: nothing is known of what it did
 * elsewhere. */
static void forget_flow(struct drm *d)
{
    d->prev.known = d->plain = false;
    d->moved = d->expect = d->in_rseq = false;
    d->depth = 0;
    d->n_calls = 0;
    d->timestamp_known = false;
    d->after_syscall = d->in_trace = d->in_switch = false;
}

static void data(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (d->function_just)
        chk_report(c, CHK_DRM_FUNC_PLACE, b, i, "data record follows a function marker");
    if (b->kind[i] == TROD_READ)
        d->reads++;
    else if (b->kind[i] == TROD_WRITE)
        d->writes++;
}

static void thread_exit(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    chk_drm_settle(c, d, b, i);
    d->exited = true;
    d->prev.known = false;
    if (drm_template(d))
        return;
    if (!d->line_size)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without a marker of its cache line size");
    if (!d->page_size)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without a marker of its page size");
    if ((d->filetype & TROD_DRM_IFILTERED) && !d->instr_count_known)
        chk_report(c, CHK_DRM_HEADER, b, i, "thread ends without an instruction count");
    if ((d->filetype & TROD_DRM_BIMODAL) && !d->endpoint)
        chk_report(c, CHK_DRM_BIMODAL, b, i, "thread ends without a filter end point");
}

/* One row of a kind of its own. */
static void row(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    int marker = -1;

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
        marker = b->sub[i];
        if (d->physical && marker != TROD_DRM_VIRTUAL_ADDRESS)
            chk_report(c, CHK_DRM_PHYSICAL, b, i,
                       "physical address is not followed by its virtual address");
        chk_drm_marker(c, d, b, i);
        break;
    default:
        return;
    }
    if (b->kind[i] != TROD_MARKER && d->physical) {
        chk_report(c, CHK_DRM_PHYSICAL, b, i,
                   "physical address is not followed by its virtual address");
        d->physical = false;
    }
    if (b->kind[i] == TROD_MARKER || b->kind[i] == TROD_THREAD)
        d->plain = false;
    d->function_just = marker >= TROD_DRM_FUNC_ID && marker <= TROD_DRM_FUNC_RETVAL;
    d->last[1] = d->last[0];
    d->last[0] = marker;
}

/* The records before were of another thread in the same file. */
static bool switched_in_file(const struct chk *c)
{
    const struct trod_meta *m = c->meta;

    return c->switched && c->previous < m->n_streams && c->stream < m->n_streams &&
           m->streams[c->previous].file == m->streams[c->stream].file;
}

static int rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct drm *d = st;

    if (switched_in_file(c) && (d->filetype & TROD_DRM_CORE_SHARDED))
        forget_flow(d);
    else if (switched_in_file(c))
        chk_report(c, CHK_DRM_TID, b, from, "record of thread %s follows those of thread %s",
                   c->meta->streams[c->stream].name, c->meta->streams[c->previous].name);
    for (uint32_t i = from; i < to; i++) {
        /* Data behind an instruction, the most frequent row besides it, is only counted. */
        if (d->plain && b->kind[i] <= TROD_WRITE && b->kind[i] >= TROD_READ) {
            d->reads += b->kind[i] == TROD_READ;
            d->writes += b->kind[i] == TROD_WRITE;
        } else {
            row(c, d, b, i);
        }
    }
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

static int end(struct chk *c, void *st)
{
    struct drm *d = st;

    chk_drm_settle(c, d, NULL, 0);
    if (drm_template(d)) {
        end_templates(c, d);
        return TROD_OK;
    }
    if (d->filetype & TROD_DRM_CORE_SHARDED || d->idle)
        return TROD_OK;
    if (!d->exited)
        chk_report(c, CHK_DRM_EXIT, NULL, 0, "thread has no exit record");
    if (d->instructions == 0 && !drm_ifilt(d))
        chk_report(c, CHK_DRM_EMPTY, NULL, 0, "thread has no instruction");
    if (d->syscalls && d->filetype_known && !(d->filetype & TROD_DRM_SYSCALL_NUMBERS))
        chk_report(c, CHK_DRM_SYSCALL_BIT, NULL, 0,
                   "there are system call markers, and the file type does not say so");
    return TROD_OK;
}

const struct chk_family chk_drm = {
    .families = TROD_RULE_DRMEMTRACE,
    .stream_size = sizeof(struct drm),
    .rows = rows,
    .end = end,
};
