/*
 * drm_markers.c - rules on markers: headers, chunks, time, functions, physical addresses.
 *
 * What DynamoRIO's invariant checker asks of them (docs/checking.md), and of traces of register
 * dependencies; events and system calls stand in drm_kernel.c.
 */
#include "check/drm.h"

#include "core/drm_time.h"

#include <inttypes.h>
#include <string.h>

enum trod_isa chk_drm_isa(uint64_t bits)
{
    static const struct {
        uint64_t bit;
        enum trod_isa isa;
    } isas[] = {
        {TROD_DRM_REGDEPS, TROD_ISA_REGDEPS}, {TROD_DRM_AARCH64, TROD_ISA_A64},
        {TROD_DRM_ARM32, TROD_ISA_ARM},       {TROD_DRM_X86_32, TROD_ISA_X86_32},
        {TROD_DRM_X86_64, TROD_ISA_X86_64},
    };

    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (bits & isas[i].bit)
            return isas[i].isa;
    return TROD_ISA_UNKNOWN;
}

static void filetype(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    uint64_t bits = b->value[i];
    uint64_t arch = TROD_DRM_AARCH64 | TROD_DRM_ARM32 | TROD_DRM_X86_32 | TROD_DRM_X86_64;

    if (d->file->filetype_known && bits != d->file->announced)
        chk_report(c, CHK_DRM_FILETYPE, b, i, "file type changes from 0x%" PRIx64 " to 0x%" PRIx64,
                   d->file->announced, bits);
    if ((bits & TROD_DRM_WHOLE_SYSTEM) && (bits & TROD_DRM_KERNEL_SYSCALLS))
        chk_report(c, CHK_DRM_FILETYPE, b, i,
                   "file type 0x%" PRIx64 " is whole-system and has inlined system calls", bits);
    if ((bits & TROD_DRM_REGDEPS) && (bits & arch))
        chk_report(c, CHK_DRM_REGDEPS, b, i,
                   "file type 0x%" PRIx64 " names an architecture besides register dependencies",
                   bits);
    d->file->filetype = d->file->announced = bits;
    d->file->filetype_known = true;
    d->file->isa = chk_drm_isa(bits);
    chk_use_isa(c, d->file->isa);
}

static void footer(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    uint64_t n = d->file->instructions;

    if (b->value[i] != d->file->next_footer)
        chk_report(c, CHK_DRM_FOOTER, b, i, "chunk %" PRIu64 " ends where %" PRIu64 " was due",
                   b->value[i], d->file->next_footer);
    d->file->next_footer = b->value[i] + 1;
    if (drm_template(d))
        return;
    if (d->file->chunk_size == 0 || n % d->file->chunk_size)
        chk_report(c, CHK_DRM_CHUNK, b, i,
                   "chunk ends after %" PRIu64 " instructions, chunks are of %" PRIu64, n,
                   d->file->chunk_size);
}

/* Of a 32-bit program: entries have 32 bits for a time. */
static bool narrow(const struct drm *d)
{
    return d->file->filetype & (TROD_DRM_ARM32 | TROD_DRM_X86_32);
}

static void timestamp(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    uint64_t t = b->value[i];

    if (d->timestamp_known && trod_drm_time_back(d->timestamp, t, b->meta->addr_bits))
        chk_report(c, CHK_DRM_TIMESTAMP, b, i, "time goes back from %" PRIu64 " to %" PRIu64,
                   d->timestamp, t);
    d->timestamp = t;
    d->timestamp_known = true;
    d->timestamp_since = true;
}

static bool is_syscall_id(const struct trod_batch *b, uint64_t id)
{
    return id >= TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);
}

/* Numbers of the futex system call of the architectures that drmemtrace knows. */
static bool is_futex(uint64_t id)
{
    uint64_t n = id & 0xffff;

    return n == 202 || n == 98 || n == 240;
}

/* A function begins and ends at a branch; after an event nothing is known. */
static bool follows_branch(const struct drm *d)
{
    if (d->moved)
        return !d->returned || d->resumes_branch;
    return !d->prev.known || drm_is_branch(&d->prev);
}

static void function(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    unsigned sub = b->sub[i];

    if (sub == TROD_DRM_FUNC_ID) {
        d->function = b->value[i];
        if (drm_regdeps(d) && !(is_syscall_id(b, d->function) && is_futex(d->function)))
            chk_report(c, CHK_DRM_REGDEPS, b, i, "function marker of another call than futex");
    }
    if (is_syscall_id(b, d->function))
        return;
    if (!follows_branch(d))
        chk_report(c, CHK_DRM_FUNC_PLACE, b, i,
                   "function marker follows no branch but the instruction at 0x%" PRIx64,
                   d->prev.pc);
    if (sub == TROD_DRM_FUNC_RETADDR && d->n_calls && d->call[d->n_calls - 1] != b->value[i])
        chk_report(c, CHK_DRM_FUNC_RETADDR, b, i,
                   "return address 0x%" PRIx64 " is not that of the innermost call, 0x%" PRIx64,
                   b->value[i], d->call[d->n_calls - 1]);
}

static void virtual_address(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (!d->physical)
        chk_report(c, CHK_DRM_PHYSICAL, b, i, "virtual address follows no physical address");
    else if ((d->physical_addr ^ b->value[i]) & 0xfff)
        chk_report(c, CHK_DRM_PHYSICAL, b, i,
                   "physical 0x%" PRIx64 " and virtual 0x%" PRIx64 " are at different places in "
                   "their pages",
                   d->physical_addr, b->value[i]);
    d->physical = false;
}

static void regdeps_marker(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    switch (b->sub[i]) {
    case TROD_DRM_SYSCALL_IDX:
    case TROD_DRM_SYSCALL:
    case TROD_DRM_SYSCALL_TRACE_START:
    case TROD_DRM_SYSCALL_TRACE_END:
    case TROD_DRM_SYSCALL_FAILED:
    case TROD_DRM_SIGNAL_NUMBER:
    case TROD_DRM_UNCOMPLETED_INSTRUCTION:
        chk_report(c, CHK_DRM_REGDEPS, b, i, "marker %u occurs in a trace of register dependencies",
                   b->sub[i]);
        break;
    case TROD_DRM_CPU_ID:
        if (b->value[i] != UINT64_MAX && b->value[i] != UINT32_MAX)
            chk_report(c, CHK_DRM_REGDEPS, b, i, "cpu is known: %" PRIu64, b->value[i]);
        break;
    default:
        break;
    }
}

static void instruction_count(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (d->instr_count_known && b->value[i] < d->instr_count)
        chk_report(c, CHK_DRM_INSTR_COUNT, b, i,
                   "instruction count goes back from %" PRIu64 " to %" PRIu64, d->instr_count,
                   b->value[i]);
    d->instr_count = b->value[i];
    d->instr_count_known = true;
}

static void vector_length(struct chk *c, const struct drm *d, const struct trod_batch *b,
                          uint32_t i)
{
    uint64_t n = b->value[i];

    if (!(d->file->filetype & TROD_DRM_AARCH64) || n == 0 || n > 256 || n % 16)
        chk_report(c, CHK_DRM_VECTOR, b, i, "vector length of %" PRIu64 " bytes%s", n,
                   d->file->filetype & TROD_DRM_AARCH64 ? "" : ", and not on AArch64");
}

/* Markers that say something of the file or the thread; false: another one. */
static bool header_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    switch (b->sub[i]) {
    case TROD_DRM_VERSION:
        d->file->version = b->value[i];
        break;
    case TROD_DRM_FILETYPE:
        filetype(c, d, b, i);
        break;
    case TROD_DRM_CACHE_LINE_SIZE:
        d->file->line_size = true;
        break;
    case TROD_DRM_PAGE_SIZE:
        d->file->page_size = true;
        break;
    case TROD_DRM_CHUNK_INSTR_COUNT:
        d->file->chunk_size = b->value[i];
        break;
    case TROD_DRM_CHUNK_FOOTER:
        footer(c, d, b, i);
        break;
    case TROD_DRM_INSTRUCTION_COUNT:
        instruction_count(c, d, b, i);
        break;
    case TROD_DRM_VECTOR_LENGTH:
        vector_length(c, d, b, i);
        break;
    case TROD_DRM_FILTER_ENDPOINT:
        d->endpoint = true;
        if (!(d->file->filetype & TROD_DRM_BIMODAL))
            chk_report(c, CHK_DRM_BIMODAL, b, i,
                       "filter end point in a trace without a filtered warm-up");
        d->file->filetype &=
            ~(uint64_t)(TROD_DRM_FILTERED | TROD_DRM_IFILTERED | TROD_DRM_DFILTERED);
        d->prev.known = false;
        break;
    default:
        return false;
    }
    return true;
}

/* What schedule files should say of a marker of the cpu. */
static void scheduled(struct chk *c, struct drm *d, uint64_t cpu)
{
    const struct trod_schedule_entry now = {.thread = chk_thread_of(c, c->stream),
                                            .time = d->timestamp,
                                            .cpu = cpu,
                                            .start = d->instructions};

    c->schedule.unknown |= drm_core_sharded(d);
    c->schedule.narrow |= narrow(d);
    if (c->schedule.unknown || now.thread == TROD_NOWHERE ||
        (d->scheduled && memcmp(&now, &d->last_scheduled, sizeof now) == 0))
        return;
    d->scheduled = true;
    d->last_scheduled = now;
    chk_schedule_add(&c->schedule, &now);
}

void chk_drm_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i)
{
    if (drm_regdeps(d))
        regdeps_marker(c, b, i);
    if (header_marker(c, d, b, i) || chk_drm_kernel_marker(c, d, b, i))
        return;
    switch (b->sub[i]) {
    case TROD_DRM_TIMESTAMP:
        timestamp(c, d, b, i);
        break;
    case TROD_DRM_CPU_ID:
        if (c->schedule.wanted && chk_stream_of(c, c->stream))
            scheduled(c, d, b->value[i]);
        break;
    case TROD_DRM_WINDOW_ID:
        d->window |= b->value[i] != d->window_id;
        d->window_id = b->value[i];
        c->schedule.windows = true;
        break;
    case TROD_DRM_FUNC_ID:
    case TROD_DRM_FUNC_RETADDR:
    case TROD_DRM_FUNC_ARG:
    case TROD_DRM_FUNC_RETVAL:
        function(c, d, b, i);
        break;
    case TROD_DRM_PHYSICAL_ADDRESS:
        d->physical = true;
        d->physical_addr = b->value[i];
        break;
    case TROD_DRM_VIRTUAL_ADDRESS:
        virtual_address(c, d, b, i);
        break;
    case TROD_DRM_SKIPPED_MEMREF:
        d->unsure = true;
        break;
    case TROD_DRM_KERNEL_EVENT_RAW:
    case TROD_DRM_SPLIT_VALUE:
    case TROD_DRM_MIDBLOCK_END_PC:
        chk_report(c, CHK_DRM_RAW, b, i, "marker %u belongs to raw traces", b->sub[i]);
        break;
    default:
        break;
    }
}
