/*
 * entries.h - the numbers of DynamoRIO's offline traces: record types, marker types, file-type
 * bits, and what follows from them.
 *
 * Implements docs/formats/drmemtrace.md, "Entries", "Record types" and "Markers". Reading and
 * writing share these tables; nothing here looks at more than one entry.
 */
#ifndef TROD_DRMEMTRACE_ENTRIES_H
#define TROD_DRMEMTRACE_ENTRIES_H

#include "trod/types.h"

/* Bytes of an entry of a 64-bit and of a 32-bit trace: type, size, then an address. */
enum { DRM_ENTRY_64 = 12, DRM_ENTRY_32 = 8 };

enum {
    DRM_VERSION_NO_KERNEL_PC = 2,
    DRM_VERSION_BRANCH_INFO = 5,
    DRM_VERSION_FREQUENT_TIMESTAMPS = 6,
    DRM_VERSION_RETIRED_ONLY = 7,
    DRM_VERSION_MAX = 7
};

/* The most bytes an encoding has; the most instructions one bundle entry stands for. */
enum { DRM_CODE_MAX = 15, DRM_BUNDLE_MAX = 8 };

/* Type field of an entry. */
enum drm_type {
    DRM_READ = 0,
    DRM_WRITE = 1,
    DRM_PREFETCH = 2,
    DRM_PREFETCH_INSTR = 9,
    DRM_INSTR = 10,
    DRM_DIRECT_JUMP = 11,
    DRM_INDIRECT_JUMP = 12,
    DRM_CONDITIONAL_JUMP = 13,
    DRM_DIRECT_CALL = 14,
    DRM_INDIRECT_CALL = 15,
    DRM_RETURN = 16,
    DRM_BUNDLE = 17,
    DRM_INSTR_FLUSH = 18,
    DRM_INSTR_FLUSH_END = 19,
    DRM_DATA_FLUSH = 20,
    DRM_DATA_FLUSH_END = 21,
    DRM_THREAD = 22,
    DRM_THREAD_EXIT = 23,
    DRM_PID = 24,
    DRM_HEADER = 25,
    DRM_FOOTER = 26,
    DRM_HARDWARE_PREFETCH = 27,
    DRM_MARKER = 28,
    DRM_NO_FETCH = 29,
    DRM_MAYBE_FETCH = 30,
    DRM_SYSENTER = 31,
    DRM_PREFETCH_READ_L1_NT = 32,
    DRM_PREFETCH_INSTR_L1 = 35,
    DRM_PREFETCH_INSTR_L3_NT = 40,
    DRM_PREFETCH_WRITE_L3_NT = 46,
    DRM_ENCODING = 47,
    DRM_TAKEN_JUMP = 48,
    DRM_UNTAKEN_JUMP = 49,
    DRM_INVALID = 50,
    DRM_TYPES = 51
};

/* Size field of a MARKER entry. */
enum drm_marker {
    DRM_M_KERNEL_EVENT = 0,
    DRM_M_KERNEL_XFER = 1,
    DRM_M_TIMESTAMP = 2,
    DRM_M_CPU_ID = 3,
    DRM_M_FUNC_ID = 4,
    DRM_M_FUNC_RETADDR = 5,
    DRM_M_FUNC_ARG = 6,
    DRM_M_FUNC_RETVAL = 7,
    DRM_M_SPLIT_VALUE = 8,
    DRM_M_FILETYPE = 9,
    DRM_M_CACHE_LINE_SIZE = 10,
    DRM_M_INSTRUCTION_COUNT = 11,
    DRM_M_VERSION = 12,
    DRM_M_RSEQ_ABORT = 13,
    DRM_M_WINDOW_ID = 14,
    DRM_M_PHYSICAL_ADDRESS = 15,
    DRM_M_PHYSICAL_NOT_AVAILABLE = 16,
    DRM_M_VIRTUAL_ADDRESS = 17,
    DRM_M_PAGE_SIZE = 18,
    DRM_M_SYSCALL_IDX = 19,
    DRM_M_CHUNK_INSTR_COUNT = 20,
    DRM_M_CHUNK_FOOTER = 21,
    DRM_M_RECORD_ORDINAL = 22,
    DRM_M_FILTER_ENDPOINT = 23,
    DRM_M_RSEQ_ENTRY = 24,
    DRM_M_SYSCALL = 25,
    DRM_M_MAYBE_BLOCKING = 26,
    DRM_M_SYSCALL_TRACE_START = 27,
    DRM_M_SYSCALL_TRACE_END = 28,
    DRM_M_BRANCH_TARGET = 29,
    DRM_M_SYSCALL_FAILED = 30,
    DRM_M_DIRECT_THREAD_SWITCH = 31,
    DRM_M_CORE_WAIT = 32,
    DRM_M_CORE_IDLE = 33,
    DRM_M_CONTEXT_SWITCH_START = 34,
    DRM_M_CONTEXT_SWITCH_END = 35,
    DRM_M_VECTOR_LENGTH = 36,
    DRM_M_SYSCALL_UNSCHEDULE = 37,
    DRM_M_SYSCALL_SCHEDULE = 38,
    DRM_M_SYSCALL_ARG_TIMEOUT = 39,
    DRM_M_SIGNAL_NUMBER = 40,
    DRM_M_UNCOMPLETED_INSTRUCTION = 41,
    DRM_M_MIDBLOCK_END_PC = 42,
    DRM_M_HARDWARE_EVENT = 43,
    DRM_M_HARDWARE_RETURN = 44,
    DRM_M_KERNEL_EVENT_RAW = 45,
    DRM_M_SKIPPED_MEMREF = 46,
    DRM_MARKERS = 47
};

/* Bits of the FILETYPE marker. */
enum drm_filetype {
    DRM_FT_FILTERED = 0x1,
    DRM_FT_NO_OPTIMIZATIONS = 0x2,
    DRM_FT_INSTRUCTION_ONLY = 0x4,
    DRM_FT_AARCH64 = 0x8,
    DRM_FT_ARM32 = 0x10,
    DRM_FT_X86_32 = 0x20,
    DRM_FT_X86_64 = 0x40,
    DRM_FT_IFILTERED = 0x80,
    DRM_FT_DFILTERED = 0x100,
    DRM_FT_ENCODINGS = 0x200,
    DRM_FT_SYSCALL_NUMBERS = 0x400,
    DRM_FT_BLOCKING_SYSCALLS = 0x800,
    DRM_FT_KERNEL_SYSCALLS = 0x1000,
    DRM_FT_BIMODAL = 0x2000,
    DRM_FT_TEMPLATES = 0x4000,
    DRM_FT_KERNEL_INSTR_ONLY = 0x8000,
    DRM_FT_CORE_SHARDED = 0x10000,
    DRM_FT_REGDEPS = 0x20000,
    DRM_FT_WHOLE_SYSTEM = 0x40000,
    DRM_FT_BITS = 19
};

/* FUNC_ID values from here on are system calls: the number is what is above. By entry width. */
enum { DRM_SYSCALL_BASE_32 = 0x10000 };
#define DRM_SYSCALL_BASE_64 UINT64_C(0x100000000)

/* How the reader treats an entry type. */
enum drm_class {
    DRM_C_DATA,   /* a row of its own: data, prefetch */
    DRM_C_INSTR,  /* a row of its own where size is not 0 */
    DRM_C_OTHER,  /* looked at one by one */
    DRM_C_UNKNOWN /* no such type */
};

struct drm_type_info {
    const char *name; /* as the view tool calls it; NULL: unknown */
    uint32_t flags;   /* of the row: enum trod_flag */
    uint8_t class;    /* enum drm_class */
    uint8_t kind;     /* enum trod_kind */
    uint8_t counts;   /* 1: a fetched instruction */
    uint8_t indirect; /* 1: takes the target of a BRANCH_TARGET marker */
};

extern const struct drm_type_info drm_types[64];

static inline const struct drm_type_info *drm_type_info(unsigned type)
{
    return &drm_types[type < 64 ? type : 63];
}

/* *is_instr* of the format: a fetched instruction. */
static inline bool drm_is_instr(unsigned type)
{
    return drm_type_info(type)->counts;
}

/* "timestamp", "cpu-id", ...; NULL for numbers without a name. */
const char *drm_marker_name(unsigned marker);

/* Does the value of MARKER hold an address? */
bool drm_marker_is_address(unsigned marker);

/* "filtered", ... of bit I of the file type; NULL past the last. */
const char *drm_filetype_name(unsigned bit);

#endif
