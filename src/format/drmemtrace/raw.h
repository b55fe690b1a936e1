/*
 * raw.h - thread files as DynamoRIO's tracer leaves them, translated to a final trace.
 *
 * Implements docs/formats/drmemtrace-raw.md. The translation is an input over the input
 * (io/made.h), which the driver decodes like any other. So every command reads raw traces, and
 * converting one copies the translated entries.
 */
#ifndef TROD_DRMEMTRACE_RAW_H
#define TROD_DRMEMTRACE_RAW_H

#include "core/endian.h"
#include "format/drmemtrace/entries.h"
#include "format/drmemtrace/modules.h"
#include "io/fault.h"
#include "isa/operands.h"
#include "trod/buf.h"
#include "trod/format.h"
#include "trod/io.h"

enum {
    RAW_BYTES = 8,
    RAW_VERSION_MAX = 8,
    /* versions that are recognised as raw files, even if only to refuse them */
    RAW_VERSION_LIKELY = 31,
    RAW_FILES_MAX = 1 << 16,
    RAW_REGS = 64,
    RAW_COPY = 64 /* bytes of plain blocks copied at a time: so many more may be read and written */
};

/* The top three bits of an entry of a 64-bit target. */
enum raw_kind {
    RAW_MEMREF,
    RAW_PC, /* a block of instructions */
    RAW_THREAD,
    RAW_PID,
    RAW_TIMESTAMP,
    RAW_PC_TOP, /* the same as RAW_PC, from a newer tracer */
    RAW_EXTENDED,
    RAW_MEMREF_HIGH
};

/* Subtypes of RAW_EXTENDED: five bits behind its kind. */
enum raw_ext {
    RAW_HEADER_OLD, /* version in A, file type in B */
    RAW_FOOTER,
    RAW_MARKER,  /* value in A, number in B */
    RAW_MEMINFO, /* size in A, type in B of the access that follows */
    RAW_HEADER,  /* file type in A, version in B */
    RAW_BASE     /* of a gather or scatter */
};

/* The version of raw files that introduced each of these. */
enum {
    RAW_VERSION_LEAST = 2,
    RAW_VERSION_ELISION = 3,    /* addresses that follow from others are left out */
    RAW_VERSION_EVENT_PC = 4,   /* kernel events say where */
    RAW_VERSION_SWAPPED = 5,    /* fields of the header */
    RAW_VERSION_ENCODINGS = 6,  /* code that is in no module lies in encodings.bin */
    RAW_VERSION_ABSOLUTE_PC = 7 /* kernel events: addresses, not module and offset */
};

enum { RAW_NO_MODULE = 0xffff };

static inline unsigned raw_kind(uint64_t e)
{
    return (unsigned)(e >> 61);
}

static inline unsigned raw_ext(uint64_t e)
{
    return (unsigned)(e >> 56 & 0x1f);
}

static inline unsigned raw_b(uint64_t e)
{
    return (unsigned)(e >> 48 & 0xff);
}

static inline uint64_t raw_a(uint64_t e)
{
    return e & UINT64_C(0xffffffffffff);
}

static inline bool raw_is_pc(uint64_t e)
{
    return raw_kind(e) == RAW_PC || raw_kind(e) == RAW_PC_TOP;
}

static inline bool raw_is_memref(uint64_t e)
{
    return raw_kind(e) == RAW_MEMREF || raw_kind(e) == RAW_MEMREF_HIGH;
}

static inline bool raw_is_ext(uint64_t e, enum raw_ext what)
{
    return raw_kind(e) == RAW_EXTENDED && raw_ext(e) == (unsigned)what;
}

/* Fields of a PC entry: number of instructions, number of the module, offset in it. */
static inline unsigned raw_count(uint64_t e)
{
    return (unsigned)(e >> 49 & 0xfff);
}

static inline unsigned raw_module(uint64_t e)
{
    return (unsigned)(e >> 33 & 0xffff);
}

static inline uint64_t raw_offset(uint64_t e)
{
    return e & UINT64_C(0x1ffffffff);
}

/* Write an entry of W bytes at P. Returns what is behind it. */
static inline uint8_t *raw_put(uint8_t *p, unsigned w, unsigned type, unsigned size, uint64_t addr)
{
    trod_store_le16(p, (uint16_t)type);
    trod_store_le16(p + 2, (uint16_t)size);
    if (w == DRM_ENTRY_64)
        trod_store_le64(p + 4, addr);
    else
        trod_store_le32(p + 4, (uint32_t)addr);
    return p + w;
}

/* --- raw_code.c: where code was, and its bytes --- */

struct raw_code;

/*
 * The lists beside PATH, or those that FILES and OPT name. Returns 0 or an error, reported; a list
 * that is not there is a warning.
 */
int raw_code_open(struct raw_code **out, const char *path, const struct trod_files *files,
                  const struct trod_beside_options *opt, struct trod_diag *diag);
void raw_code_close(struct raw_code *c);

/*
 * Address that a PC entry (or the old form of a kernel event) E stands for. False: no such module.
 */
bool raw_code_address(const struct raw_code *c, uint64_t e, uint64_t *pc);

/*
 * Up to N bytes of code at OFF bytes behind the place of E, whose address is PC; *VERSION
 * distinguishes code that was generated at one address at different times. NULL: not known.
 */
const uint8_t *raw_code_bytes(struct raw_code *c, uint64_t e, uint64_t off, uint64_t pc,
                              uint32_t *n, uint64_t *version);

/* Name of the code that E lies in, for messages; valid as long as C is open. */
const char *raw_code_name(const struct raw_code *c, uint64_t e);

/* --- raw_block.c: blocks of instructions, decoded once --- */

enum raw_ref_flag {
    RAW_REF_WRITE = 1 << 0,
    /* its address is in no entry: it follows from the base's entry, or is fixed */
    RAW_REF_ELIDED = 1 << 1,
    RAW_REF_FIXED = 1 << 2, /* of the elided: the address is disp */
    RAW_REF_BASE = 1 << 3,  /* entries hold the register's value; disp is to be added */
    RAW_REF_LINE = 1 << 4   /* it accesses the whole cache line of its address */
};

struct raw_ref {
    uint64_t disp;
    uint16_t type, size; /* of the final entry */
    uint8_t flags;       /* enum raw_ref_flag */
    uint8_t base;
};

/* An address in the entries of a plain block: the sum of a raw entry and DISP. */
struct raw_fill {
    uint64_t disp;
    uint32_t at, from; /* bytes: of the address in the block's entries, of the raw entry behind the
                          block's own */
};

enum raw_insn_flag {
    RAW_INSN_BRANCH = 1 << 0,
    RAW_INSN_TARGET = 1 << 1, /* target is known from the opcode */
    RAW_INSN_SYSCALL = 1 << 2,
    RAW_INSN_REPEATED = 1 << 3,
    RAW_INSN_ELEMENTS = 1 << 4 /* gather or scatter */
};

struct raw_insn {
    uint64_t pc, target;
    uint32_t site; /* whether its encoding has been written is known by this number */
    uint32_t ref;  /* of the block's first ref */
    uint16_t type; /* of the final entry */
    uint8_t len, n_refs, flags;
    uint8_t loads; /* refs whose address an entry says */
    uint8_t code[DRM_CODE_MAX + 1];
};

struct raw_block {
    uint64_t key; /* the PC entry */
    uint64_t pc;
    uint32_t n;      /* instructions that are known */
    uint32_t wanted; /* instructions of the block */
    bool known;      /* where it lies is known */
    bool strange;    /* the code of what comes next is known, but no instruction of the decoder's */
    /*
     * A plain block: nothing in it depends on more than the addresses in entries, and it has no
     * branch but at its end. Its entries without encodings are made once.
     */
    bool plain;
    uint32_t insn, ref;
    uint32_t loads;       /* addresses that entries say */
    uint32_t fill, fills; /* addresses to be filled in */
    uint32_t body, tail;  /* bytes of its entries: before the branch at the end, from it on */
    size_t made;
    uint64_t target; /* of that branch, where the opcode tells it: it is aimed */
    bool conditional, aimed;
    /* all of its encodings are written, as of this value of the counter of encodings taken back */
    uint32_t sure;
    uint32_t follows; /* number of the block that came behind it the last time */
};

struct raw_site {
    uint64_t pc, version;
    bool written;
};

/* Changed by raw_block.c only, except for what the functions below remember. */
struct raw_blocks {
    struct raw_code *code;
    struct trod_operands_decoder *decoder;
    uint64_t filetype;
    unsigned version;
    struct raw_block *block;
    size_t n_blocks, cap_blocks;
    uint32_t *slot; /* number of the block + 1 */
    size_t slots;
    struct raw_insn *insn;
    size_t n_insns, cap_insns;
    struct raw_ref *ref;
    size_t n_refs, cap_refs;
    struct raw_fill *fill;
    size_t n_fills, cap_fills;
    struct raw_site *site;
    size_t n_sites, cap_sites;
    uint32_t *site_slot;
    size_t site_slots;
    struct trod_operands *found; /* of the block being decoded */
    struct trod_buf made;        /* entries of plain blocks */
    uint32_t forgotten;          /* encodings that were taken back */
};

/* Blocks of the file type and version given. Returns 0 or an error, reported. */
int raw_blocks_new(struct raw_blocks **out, struct raw_code *code, uint64_t filetype,
                   unsigned version, struct trod_diag *diag);
void raw_blocks_free(struct raw_blocks *b);

/* What tells the block of PC entry E apart. */
static inline uint64_t raw_key(uint64_t e)
{
    return e & (UINT64_MAX >> 3);
}

/* The block of PC entry E; it and what it points to stay until the next call. NULL: no memory. */
struct raw_block *raw_block_find(struct raw_blocks *b, uint64_t e);

/* The same for the block behind block number BEFORE, where nearly always the same one follows. */
static inline struct raw_block *raw_block_behind(struct raw_blocks *b, size_t before, uint64_t e)
{
    struct raw_block *block = &b->block[b->block[before].follows];

    if (block->key == raw_key(e))
        return block;
    block = raw_block_find(b, e);
    if (block)
        b->block[before].follows = (uint32_t)(block - b->block);
    return block;
}

/* Are all encodings of BLOCK's instructions written? Looks at each of them. */
bool raw_block_written(struct raw_blocks *b, struct raw_block *block);

static inline bool raw_block_sure(struct raw_blocks *b, struct raw_block *block)
{
    return block->sure == b->forgotten + 1 || raw_block_written(b, block);
}

/* From here on the file type is this. */
void raw_blocks_retype(struct raw_blocks *b, uint64_t filetype);

/* Was the encoding of site N written? Set that it was, or that it was taken back. */
bool raw_site_new(struct raw_blocks *b, uint32_t site);
bool raw_site_written(const struct raw_blocks *b, uint32_t site);
void raw_site_forget(struct raw_blocks *b, uint32_t site);
/* The same of all versions of the code at PC. */
void raw_sites_forget(struct raw_blocks *b, uint64_t pc);
/* A chunk begins: no encoding has been written in it. */
void raw_sites_anew(struct raw_blocks *b);
/* The number of VERSION of the code at PC; UINT32_MAX: no memory. */
uint32_t raw_site(struct raw_blocks *b, uint64_t pc, uint64_t version);

/* --- raw.c --- */

/* The remake callback of the driver: see struct trod_format. */
int drm_remake(struct trod_input **in, const char *dialect, const struct trod_files *files,
               const struct trod_beside_options *opt, struct trod_diag *diag);

/* raw_copy.c: the copy callback of the driver: see struct trod_format. */
int drm_copy(void *enc, struct trod_input *in, struct trod_copy *copy, struct trod_diag *diag);

/* Is this what a raw thread file begins with? */
bool raw_begins(const uint8_t *p, size_t n);

/* The dialect that bid gives raw files. */
extern const char raw_dialect[];

#endif
