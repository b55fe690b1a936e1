/*
 * entries.h - the numbers of DynamoRIO's offline traces: record types, and what follows from them
 * and from the marker types and file-type bits, which stand in trod/drmemtrace.h.
 *
 * Implements docs/formats/drmemtrace.md, "Entries" and "Rows". Reading and
 * writing share these tables; nothing here looks at more than one entry.
 */
#ifndef TROD_DRMEMTRACE_ENTRIES_H
#define TROD_DRMEMTRACE_ENTRIES_H

#include "core/endian.h"
#include "trod/drmemtrace.h"
#include "trod/meta.h"
#include "trod/types.h"

/* Bytes of an entry of a 64-bit and of a 32-bit trace: type, size, then an address. */
enum { DRM_ENTRY_64 = 12, DRM_ENTRY_32 = 8 };

enum {
    DRM_VERSION_LEGACY = 1, /* no markers in the header */
    DRM_VERSION_NO_KERNEL_PC = 2,
    DRM_VERSION_ENCODINGS = 4,
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
    DRM_MARKER = 28, /* its size field is an enum trod_drm_marker */
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

/* How many bits of a file type have a meaning: enum trod_drm_filetype. */
enum { DRM_FILETYPE_BITS = 19 };

/* FUNC_ID values from here on are system calls: this plus their number. By entry width. */
#define DRM_SYSCALL_BASE_32 TROD_DRM_SYSCALL_BASE_32
#define DRM_SYSCALL_BASE_64 TROD_DRM_SYSCALL_BASE_64

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

/* Is the instruction of N bytes at P, of ISA (enum trod_isa), a system call? */
static inline bool drm_is_syscall(unsigned isa, const uint8_t *p, size_t n)
{
    uint32_t word = n == 4 ? trod_load_le32(p) : 0;

    switch (isa) {
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64: /* syscall, sysenter; int 0x80, int 0x2e */
        return n == 2 && ((p[0] == 0x0f && (p[1] == 0x05 || p[1] == 0x34)) ||
                          (p[0] == 0xcd && (p[1] == 0x80 || p[1] == 0x2e)));
    case TROD_ISA_A64:
        return (word & 0xffe0001f) == 0xd4000001; /* svc */
    case TROD_ISA_ARM:
        return n == 2 ? p[1] == 0xdf : word >> 28 != 0xf && (word >> 24 & 0xf) == 0xf;
    case TROD_ISA_RISCV64:
        return word == 0x00000073; /* ecall */
    default:
        return false;
    }
}

/* The marker's name, for rows that do not carry it. */
const char *drm_sub_name(unsigned kind, unsigned sub);
/* enum trod_value_form of the value of a row of KIND and sub MARKER. */
unsigned drm_value_form(unsigned kind, unsigned marker);
/* "filtered", ... of bit BIT of the file type; NULL past the last. */
const char *drm_filetype_name(unsigned bit);

#endif
