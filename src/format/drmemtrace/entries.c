/*
 * entries.c - tables of record types, markers and file-type bits.
 *
 * Implements entries.h.
 */
#include "format/drmemtrace/entries.h"

#include "core/endian.h"
#include "trod/format.h"

#define DATA(name, kind)                                                                           \
    {                                                                                              \
        name, 0, DRM_C_DATA, kind, 0, 0                                                            \
    }
#define PREF(name)                                                                                 \
    {                                                                                              \
        name, 0, DRM_C_DATA, TROD_PREFETCH, 0, 0                                                   \
    }
#define PREFI(name)                                                                                \
    {                                                                                              \
        name, TROD_F_IFETCH, DRM_C_DATA, TROD_PREFETCH, 0, 0                                       \
    }
#define INSTR(name, branch, indirect)                                                              \
    {                                                                                              \
        name, branch, DRM_C_INSTR, TROD_INSTR, 1, indirect                                         \
    }
#define OTHER(name, kind)                                                                          \
    {                                                                                              \
        name, 0, DRM_C_OTHER, kind, 0, 0                                                           \
    }
#define NONE                                                                                       \
    {                                                                                              \
        NULL, 0, DRM_C_UNKNOWN, TROD_NOTE, 0, 0                                                    \
    }

/* By type; types that are not listed, and larger ones, are as the last. */
const struct drm_type_info drm_types[64] = {
    DATA("read", TROD_READ),
    DATA("write", TROD_WRITE),
    PREF("pref"),
    PREF("pref-r-L1"),
    PREF("pref-r-L2"),
    PREF("pref-r-L3"),
    PREF("pref-NTA"),
    PREF("pref-r"),
    PREF("pref-w"),
    PREFI("pref-i"),
    INSTR("non-branch", TROD_BR_NONE, 0),
    INSTR("jump", TROD_BR_DIRECT, 0),
    INSTR("indirect jump", TROD_BR_INDIRECT, 1),
    INSTR("conditional jump", TROD_BR_COND, 0),
    INSTR("call", TROD_BR_CALL, 0),
    INSTR("indirect call", TROD_BR_ICALL, 1),
    INSTR("return", TROD_BR_RETURN, 1),
    OTHER("bundle", TROD_INSTR),
    {"iflush", TROD_F_IFETCH, DRM_C_OTHER, TROD_FLUSH, 0, 0},
    {"iflush-end", TROD_F_IFETCH, DRM_C_OTHER, TROD_FLUSH, 0, 0},
    OTHER("dflush", TROD_FLUSH),
    OTHER("dflush-end", TROD_FLUSH),
    OTHER("thread", TROD_NOTE),
    OTHER("thread-exit", TROD_THREAD),
    OTHER("pid", TROD_NOTE),
    OTHER("header", TROD_NOTE),
    OTHER("footer", TROD_NOTE),
    PREF("pref-HW"),
    OTHER("marker", TROD_MARKER),
    {"non-fetched instruction", TROD_F_NOFETCH, DRM_C_INSTR, TROD_INSTR, 0, 0},
    OTHER("maybe-fetched", TROD_INSTR),
    INSTR("sysenter", TROD_BR_SYSCALL, 0),
    PREF("pref-r-L1-NT"),
    PREF("pref-r-L2-NT"),
    PREF("pref-r-L3-NT"),
    PREFI("pref-i-L1"),
    PREFI("pref-i-L1-NT"),
    PREFI("pref-i-L2"),
    PREFI("pref-i-L2-NT"),
    PREFI("pref-i-L3"),
    PREFI("pref-i-L3-NT"),
    PREF("pref-w-L1"),
    PREF("pref-w-L1-NT"),
    PREF("pref-w-L2"),
    PREF("pref-w-L2-NT"),
    PREF("pref-w-L3"),
    PREF("pref-w-L3-NT"),
    OTHER("encoding", TROD_NOTE),
    INSTR("taken conditional jump", TROD_BR_COND_TAKEN, 0),
    INSTR("untaken conditional jump", TROD_BR_COND_UNTAKEN, 0),
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
};

static const char *const marker_names[] = {
    "kernel-event",
    "kernel-xfer",
    "timestamp",
    "cpu-id",
    "func-id",
    "func-retaddr",
    "func-arg",
    "func-retval",
    "split-value",
    "filetype",
    "cache-line-size",
    "instruction-count",
    "version",
    "rseq-abort",
    "window-id",
    "physical-address",
    "physical-address-not-available",
    "virtual-address",
    "page-size",
    "syscall-idx",
    "chunk-instr-count",
    "chunk-footer",
    "record-ordinal",
    "filter-endpoint",
    "rseq-entry",
    "syscall",
    "maybe-blocking-syscall",
    "syscall-trace-start",
    "syscall-trace-end",
    "branch-target",
    "syscall-failed",
    "direct-thread-switch",
    "core-wait",
    "core-idle",
    "context-switch-start",
    "context-switch-end",
    "vector-length",
    "syscall-unschedule",
    "syscall-schedule",
    "syscall-arg-timeout",
    "signal-number",
    "uncompleted-instruction",
    "midblock-end-pc",
    "hardware-event",
    "hardware-context-return",
    "kernel-event-raw",
    "skipped-memref",
};

_Static_assert(sizeof marker_names / sizeof *marker_names == TROD_DRM_MARKERS, "a name a marker");

static const char *const filetype_names[] = {
    "filtered",
    "no-optimizations",
    "instruction-only",
    "aarch64",
    "arm32",
    "x86-32",
    "x86-64",
    "ifiltered",
    "dfiltered",
    "encodings",
    "syscall-numbers",
    "blocking-syscalls",
    "kernel-syscalls",
    "bimodal-filtered-warmup",
    "kernel-syscall-templates",
    "kernel-syscall-instr-only",
    "core-sharded",
    "regdeps",
    "whole-system",
};

_Static_assert(sizeof filetype_names / sizeof *filetype_names == DRM_FILETYPE_BITS, "a name a bit");

const char *drm_marker_name(unsigned marker)
{
    return marker < TROD_DRM_MARKERS ? marker_names[marker] : NULL;
}

bool drm_marker_is_address(unsigned marker)
{
    switch (marker) {
    case TROD_DRM_KERNEL_EVENT:
    case TROD_DRM_KERNEL_XFER:
    case TROD_DRM_FUNC_RETADDR:
    case TROD_DRM_RSEQ_ABORT:
    case TROD_DRM_PHYSICAL_ADDRESS:
    case TROD_DRM_VIRTUAL_ADDRESS:
    case TROD_DRM_RSEQ_ENTRY:
    case TROD_DRM_BRANCH_TARGET:
    case TROD_DRM_HARDWARE_EVENT:
    case TROD_DRM_HARDWARE_RETURN:
        return true;
    default:
        return false;
    }
}

const char *drm_sub_name(unsigned kind, unsigned sub)
{
    return kind == TROD_MARKER ? drm_marker_name(sub) : NULL;
}

unsigned drm_value_form(unsigned kind, unsigned marker)
{
    if (kind != TROD_MARKER)
        return TROD_VALUE_ANY;
    switch (marker) {
    case TROD_DRM_FILETYPE:
    case TROD_DRM_FUNC_ARG:
    case TROD_DRM_UNCOMPLETED_INSTRUCTION:
    case TROD_DRM_MIDBLOCK_END_PC:
    case TROD_DRM_KERNEL_EVENT_RAW:
    case TROD_DRM_SKIPPED_MEMREF:
    case TROD_DRM_PHYSICAL_NOT_AVAILABLE:
        return TROD_VALUE_HEX;
    case TROD_DRM_FUNC_RETVAL:
        return TROD_VALUE_RESULT;
    default:
        return drm_marker_is_address(marker) ? TROD_VALUE_HEX : TROD_VALUE_DECIMAL;
    }
}

const char *drm_filetype_name(unsigned bit)
{
    return bit < DRM_FILETYPE_BITS ? filetype_names[bit] : NULL;
}
