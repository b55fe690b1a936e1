/*
 * amber.h - what the drivers of the Amber formats (TT6, TT6E, FULL) share.
 *
 * Implements docs/formats/amber.md.
 */
#ifndef TROD_FORMAT_AMBER_H
#define TROD_FORMAT_AMBER_H

#include "isa/ppc.h"
#include "isa/ppc_state.h"
#include "trod/format.h"
#include "trod/loss.h"

extern const struct trod_format trod_format_tt6, trod_format_tt6e, trod_format_full;

/* Escape records: bits 0-5 zero, code in bits 6-15, number of words in bits 16-31. */
enum amber_escape {
    AMBER_ESC_DATA = 0x01,        /* optional data address for the next instruction */
    AMBER_ESC_CONDITION = 0x02,   /* condition register value */
    AMBER_ESC_REAL_TARGET = 0x03, /* real address of its branch target */
    AMBER_ESC_REAL_DATA = 0x04,   /* real address of its data */
    AMBER_ESC_REAL_PC = 0x05,     /* its own real address */
    AMBER_ESC_CODES = 0x400,
    AMBER_INITIAL_PC = 0x400, /* sub of the row of the INITIAL_PC record: no code has this number */
    AMBER_ESC_WORDS = 0xffff
};

enum {
    AMBER_B_ZERO = 0x48000000, /* b 0: stands between traces joined */
    AMBER_B_700 =
        0x48000700,         /* b 0x700, AA = 0 and (| 2) 1: begins a synthetic return from a trap */
    AMBER_RFI = 0x4c000064, /* and this ends it */
    AMBER_MAJOR_TWI = 3,
    AMBER_LINE_MOST = 4096, /* bytes of a cache line */
    AMBER_FULL_RECORD = 1004,
    AMBER_FULL_STATE = 1000
};

struct amber_options {
    uint64_t line; /* bytes of a cache line */
    bool join;     /* breaks in the flow are bridged with b 0 */
    int registers; /* enum amber_registers */
};

enum amber_registers { AMBER_REGS_DIFF, AMBER_REGS_NONE };

extern const struct trod_option amber_tt6_options[], amber_full_options[];
extern const struct amber_options amber_defaults;

/* Check OPT and fill what is the same for all three formats into META. */
int amber_start(const struct amber_options *opt, struct trod_meta *meta, struct trod_diag *diag);

/* N bytes of IN are dealt with. */
static inline void amber_eat(struct trod_span *in, size_t n)
{
    in->p += n;
    in->n -= n;
    in->offset += n;
}

/* Number of the stream of the file being read: one file holds one thread. Or an error. */
int amber_stream(struct trod_meta *meta);

/* The second row of an instruction: its access to memory. */
struct amber_access {
    uint8_t kind;           /* of the row; TROD_NOTE: there is none */
    uint32_t flags;         /* without TROD_F_CONT */
    uint32_t size;          /* bytes */
    uint32_t mask;          /* of the effective address: what of it addresses memory */
    struct trod_slice text; /* name of a cache operation, in amber_names */
};

/* THIRD: XER, or rB of dst and dstst; LINE: bytes of a cache line. */
struct amber_access amber_access_of(uint32_t opcode, uint32_t third, uint32_t line);

/* The names that slices with TROD_SLICE_SHARED point into, 8 bytes each. */
enum amber_name {
    AMBER_NAME_DCBA,
    AMBER_NAME_DCBI,
    AMBER_NAME_DCBST,
    AMBER_NAME_REGISTER, /* of a state, by number (isa/ppc_state.h) */
    AMBER_NAMES = AMBER_NAME_REGISTER + TROD_PPC_STATE_REGISTERS
};
extern const char amber_names[AMBER_NAMES][8];
struct trod_slice amber_name(enum amber_name name);

/*
 * Kind of branch (enum trod_branch) of OPCODE, of class FLOW, at PC when execution goes on at NEXT.
 */
unsigned amber_branch_of(uint32_t opcode, uint32_t pc, uint32_t next);

/* The table behind it: 8 kinds for each base; the base of an opcode (0: no change of flow). */
extern const uint8_t amber_branches[56];
unsigned amber_branch_base(uint32_t opcode);

/* Index of an opcode's low bits and flow in its 8 kinds. */
static inline unsigned amber_branch_index(uint32_t opcode, uint32_t pc, uint32_t next)
{
    return (opcode & 1) | (unsigned)((opcode >> 21 & 0x14) == 0x14) << 1 |
           (unsigned)(next == pc + 4) << 2;
}

/* Whether rows of META's format are of this family: then details and escape markers are ours. */
bool amber_source(const struct trod_meta *meta);

/* A cache operation of TT6, whose record has no address: that of its access goes into an escape. */
enum { AMBER_CACHE = TROD_PPC_MEMORY_EXTENDED + 1 };

/* Writing TT6 and TT6E (tt6_encode.c). */
struct tt6_enc {
    const struct trod_meta *meta;
    const char *name;
    bool extended, join, ours; /* ours: the rows come from a format of this family */
    bool escapes;              /* rows of TT6 to TT6: addresses of cache operations are escapes */
    bool begun;                /* INITIAL_PC is written */
    uint32_t pc;               /* where the next instruction should be */
    uint8_t given;             /* escapes written for the next instruction: bit n for code n */
    uint32_t data;             /* the address in the escape among them that has it (0x01) */
    /* An instruction whose record waits for its access or for the address that follows it. */
    uint8_t pending; /* enum trod_ppc_class, or AMBER_CACHE; TROD_PPC_COMPUTE: none */
    uint32_t opcode, at;
    uint64_t real_pc, real_target;
    bool has_real_pc, has_real_target;
    uint32_t last;    /* opcode of the last instruction */
    uint32_t line;    /* bytes of a cache line */
    uint64_t ordinal; /* of the row of the pending one */
    uint16_t said;    /* enum tt6_said: what was reported */
    struct trod_loss *loss;
};
int amber_tt6_target(void *enc, const struct trod_target *target, struct trod_diag *diag);
void amber_tt6_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *keeps);
int amber_tt6_begin(void *enc, const struct amber_options *opt, const struct trod_meta *meta,
                    bool extended, struct trod_diag *diag);
int amber_tt6_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                     struct trod_diag *diag);
int amber_tt6_finish(void *enc, struct trod_room *out, struct trod_diag *diag);

/* Bits of evidence for TT6 or TT6E (tt6_bid.c). */
int amber_tt6_bid(const struct trod_probe *probe, bool extended, const char **dialect);

/* Refuse rows of another ISA than PowerPC. Returns 0 or TROD_ERR_UNSUPPORTED, reported. */
int amber_check_isa(const struct trod_meta *meta, const char *name, struct trod_diag *diag);

#endif
