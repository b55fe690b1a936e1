/*
 * regs.h - the registers of every stream, as the rows of a trace tell them.
 *
 * Implements docs/navigating.md, "Registers". A register is known by the widest of its names; names
 * of parts (w0, s3, eax) are places in it. What is known is kept by bit.
 */
#ifndef NAVIGATE_REGS_H
#define NAVIGATE_REGS_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/insn.h"
#include "trod/navigate.h"

enum {
    NAV_NAME = 32,        /* bytes of a name, with its NUL */
    NAV_REGS = 4096,      /* registers of a trace, at most */
    NAV_WIDEST = 1 << 16, /* bytes of a register (ZA) */
    NAV_NAMES = 512,      /* names whose meaning is kept */
    NAV_STATE_WORDS = 243 /* of a state of FULL, as far as they mean something (isa/ppc_state.h) */
};

struct nav_name {
    char text[NAV_NAME];
    uint32_t id;
};

/* What a name stands for. */
struct nav_part {
    char raw[16]; /* the name as the row has it; raw_len 0: an empty place */
    uint8_t raw_len;
    uint8_t note_len;       /* of the bank that stood beside it, the first letters after raw */
    uint8_t clears;         /* a write of it makes the rest of the register zero */
    uint8_t flags;          /* not 0: it is so many of bits 31 downwards, where they stand */
    uint32_t id, off, bits; /* register, first byte, bits (0: all of it) */
    uint32_t shape;         /* of rows with this name: its number + 1 (shapes.h); 0: not known */
};

/* The names of all registers of a trace. */
struct nav_names {
    enum trod_isa isa;
    struct nav_name *at;
    uint32_t n;
    size_t cap;
    struct nav_part cache[NAV_NAMES];
    struct nav_part *last; /* of CACHE, met last; NULL: none */
};

struct nav_value {
    uint8_t *bytes; /* cap of the value, cap of the mask of known bits */
    uint32_t size, cap;
    uint8_t from; /* enum trod_nav_source */
    uint64_t row;
};

/* The registers of a stream. */
struct nav_file {
    struct nav_value *reg; /* by id */
    uint32_t n;
    bool has_pc;
    uint8_t iset; /* of the last instruction */
    uint64_t pc, pc_row;
    /* drmemtrace: the function whose arguments or result are being told; known ones */
    uint64_t function;
    uint32_t argument, known;
    bool has_state;
    uint8_t state[4 * NAV_STATE_WORDS]; /* FULL: as it came last */
};

/* Which fields of registers an opcode writes (implied.c). */
struct nav_spoiled {
    uint32_t opcode;
    uint16_t fields;
    bool known;
};

enum { NAV_SPOILED_BITS = 10 };

/* The registers of all streams. */
struct nav_regs {
    struct nav_names *names;
    struct trod_insn_decoder *insn;    /* of the caller; NULL: none */
    bool markers;                      /* sub of MARKER rows is enum trod_drm_marker */
    const struct trod_format *format;  /* whose other rows tell registers; NULL: none do */
    struct nav_spoiled *spoiled;       /* by hash of opcode, of FORMAT; NULL: none so far */
    uint32_t field_of[2], field_names; /* ids of cr and xer, + 1, of so many names; 0: none */
    struct nav_file **file;            /* by stream */
    uint32_t n_files;
    /* Which registers the row fed last wrote: ids. Of a state with all registers those that it
     * found changed. */
    uint32_t wrote[NAV_STATE_WORDS];
    uint32_t n_wrote;
    /* Of a register row: bits [lo, hi) of it, but for those set in UNWRITTEN (NULL: none), which is
     * of the batch and of bits [lo, masked). */
    uint64_t lo, hi, masked;
    const uint8_t *unwritten;
};

void nav_names_init(struct nav_names *n, enum trod_isa isa);
void nav_names_fini(struct nav_names *n);
/* The register called NAME (canonical): its number, added if ADD. UINT32_MAX: none. */
uint32_t nav_names_find(struct nav_names *n, const char *name, bool add);
/*
 * What NAME (LEN bytes, with the bank NOTE that stands beside it) means. False where it is none of
 * the registers so far and ADD is not set, or there are too many.
 */
bool nav_names_part(struct nav_names *n, const char *name, size_t len, const char *note,
                    size_t note_len, bool add, struct nav_part *out);
/* N bytes that the place PART has: what is none of its flags is zero, and known to be. */
void nav_part_rest(const struct nav_part *part, uint8_t *value, uint8_t *known, size_t n);
/*
 * Are A and B (canonical) a register of PowerPC and a field of it, in this or the other order: cr
 * and cr3, xer and xer.ca? Instructions read and write fields.
 */
bool nav_fields(enum trod_isa isa, const char *a, const char *b);
/* Is register ID one that QUERY (canonical) means: itself, or a bank of it? */
bool nav_names_means(const struct nav_names *n, uint32_t id, const char *query);
/* The status register that has the flag NAME (any case), and its bit; NULL: there is none. */
const char *nav_flag(enum trod_isa isa, const char *name, unsigned *bit);
/* Is NAME (canonical) the program counter? */
bool nav_is_pc(enum trod_isa isa, const char *name);
/* The name that a user gave, canonical. */
void nav_canonical(enum trod_isa isa, const char *name, char out[NAV_NAME]);
/* Names that the architecture ISA has, one after the other; NULL past the last. */
const char *nav_base_name(enum trod_isa isa, size_t i, char room[NAV_NAME]);

void nav_regs_init(struct nav_regs *r, struct nav_names *names);
void nav_regs_fini(struct nav_regs *r);
/* The registers of STREAM, made if there are none. NULL: no memory. */
struct nav_file *nav_regs_file(struct nav_regs *r, uint32_t stream);
/* Row I of B, row ROW of the trace. Returns 0 or TROD_ERR_NOMEM. */
int nav_regs_row(struct nav_regs *r, const struct trod_batch *b, uint32_t i, uint64_t row);
/* Did the row fed last write any of bits [LO, HI) of the registers that it wrote? */
bool nav_regs_wrote(const struct nav_regs *r, uint64_t lo, uint64_t hi);
/* Can row I, which is no REG, INSTR or STATE, tell a register? */
static inline bool nav_regs_tells(const struct nav_regs *r, const struct trod_batch *b, uint32_t i)
{
    return r->format && (b->kind[i] == TROD_MARKER || (b->have & b->has[i] & TROD_COL_DETAIL &&
                                                       b->detail[i].len >= r->format->told_detail));
}
/* The formats, as far as registers are concerned, of traces of F (NULL: not known). */
void nav_regs_of(struct nav_regs *r, const struct trod_format *f);
/* implied.c: the register that such a row tells, if it does. */
int nav_regs_told(struct nav_regs *r, const struct trod_batch *b, uint32_t i, uint64_t row);
/* registers from markers of drmemtrace, and which ones an instruction overwrites. */
int nav_regs_marker(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i,
                    uint64_t row);
void nav_regs_spoil(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i);
/* The same for a row with all registers of FULL. */
int nav_regs_state(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i,
                   uint64_t row);
/* N bytes, least significant first, into register ID: from byte OFF on; MASK: bits not known. */
int nav_regs_put(struct nav_file *f, uint32_t id, uint32_t off, const uint8_t *p,
                 const uint8_t *mask, uint32_t n, enum trod_nav_source from, uint64_t row);
void nav_regs_forget(struct nav_file *f, uint32_t id);
/* Bits BITS of byte AT of register ID become unknown; the register, if no other ones are known. */
void nav_regs_forget_bits(struct nav_file *f, uint32_t id, uint32_t at, uint8_t bits);
/* All of it as bytes, and back. */
int nav_regs_save(const struct nav_regs *r, struct trod_buf *out);
int nav_regs_load(struct nav_regs *r, struct trod_span *in);

#endif
