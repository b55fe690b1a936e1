/*
 * detail.h - what a row says beyond the columns: one struct a kind, in the detail column.
 *
 * Slices inside refer to the same batch as the row. Fields that a source does not give are zero
 * (slices: length 0) unless said otherwise. Fields called style, digits, sep, upper or pad only say
 * how the source wrote what the columns hold; a writer of the same dialect repeats it.
 */
#ifndef TROD_DETAIL_H
#define TROD_DETAIL_H

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of trod_detail_instr.style. */
enum trod_instr_style {
    TROD_INSTR_NO_COLON = 1 << 0, /* no ':' before the disassembly */
    TROD_INSTR_BRACKET = 1 << 1,  /* (address) stands in the bracket, no index */
    TROD_INSTR_SERIAL = 1 << 2,   /* (address:index), both hex, and the address again */
    TROD_INSTR_BARE = 1 << 3,     /* no bracket */
    TROD_INSTR_WIDE = 1 << 4,     /* instruction set written T16 or T32 */
    TROD_INSTR_SPLIT = 1 << 5,    /* opcode written in two halves, pad_code between them */
    TROD_INSTR_ES = 1 << 6,       /* an ES line: ES (address:opcode) */
    TROD_INSTR_UPPER = 1 << 7     /* upper case address and opcode */
};

/* INSTR of tarmac and matcher (TarmacTrace, "Instruction trace"). */
struct trod_detail_instr {
    uint64_t paddr2; /* physical address of the second halfword of a split Thumb instruction */
    struct trod_slice mode; /* mode and security as written: "EL1h_n", "svc_s" */
    uint8_t has_paddr2;
    uint8_t sec2;                      /* enum trod_sec of paddr2 */
    uint8_t folded;                    /* IF: executed together with its neighbour */
    uint8_t style;                     /* enum trod_instr_style */
    uint8_t addr_digits, paddr_digits; /* where not the usual number, else 0 */
    uint8_t pad_before, pad_after;     /* blanks around the disassembly beyond the usual ones */
    uint8_t code_digits;  /* of an opcode that is not known (fetch failed), or of unusual width */
    uint8_t pad_code;     /* TROD_INSTR_SPLIT: the character */
    uint8_t tight;        /* nothing follows the colon, not even a blank */
    uint8_t code_prefix;  /* 0x stands before the opcode */
    struct trod_slice id; /* what the bracket holds where no column says it: "abc" */
};

/* BRANCH of tarmac (TarmacTrace, "Program flow trace"; BR lines of the ES family). */
struct trod_detail_branch {
    uint64_t target_paddr; /* physical address of target */
    uint8_t has_target_paddr;
    uint8_t target_sec;    /* enum trod_sec */
    uint8_t has_iset;      /* the instruction set after the branch is given (flags) */
    uint8_t target_only;   /* a BR line: only the target is known */
    uint8_t target_digits; /* where not the usual number, else 0 */
    uint8_t addr_digits, paddr_digits, target_paddr_digits;
};

/* How a number was written. All zero: as the format's canonical style has it. */
struct trod_detail_number {
    uint32_t digits; /* digits, where not two a byte, else 0 */
    uint8_t sep;     /* between groups of digits: '_', ':', ' ', or '0' for none */
    uint8_t group;   /* digits a group, 0: 8 */
    uint8_t upper;   /* A to F */
    uint8_t unknown; /* the character that stands for an unknown digit, 0: '-' */
    uint8_t prefix;  /* 0x stands before it */
    uint8_t unused[3];
};

/* REG of tarmac and matcher ("Register trace"). */
struct trod_detail_reg {
    struct trod_detail_number num;
    struct trod_slice note;      /* "USR" of R1 (USR), "AARCH32" */
    struct trod_slice comment;   /* what follows the value: "__C_", "(MSP)" */
    struct trod_slice mask;      /* size bytes, least significant first: bits that are unknown
                                    (TROD_F_UNKNOWN) or not written (TROD_F_PARTIAL) */
    struct trod_slice unwritten; /* those of mask that are not written; absent: by the flags, all
                                    or none */
    uint32_t hi, lo;             /* bits written: V0<127:64> */
    uint8_t has_range;
    uint8_t system_op; /* a system instruction shown as a register: DC CVAU */
    uint8_t unused[6];
};

/* Kinds of trod_detail_mem.style. */
enum trod_mem_style {
    TROD_MEM_FM,          /* MR4 address value */
    TROD_MEM_CS,          /* R04 address value */
    TROD_MEM_RTL,         /* MNR4O___: type says which, Cortex-M and Cortex-R RTL, ARMulator */
    TROD_MEM_PICTURE,     /* LD or ST with the bytes of 16 addresses */
    TROD_MEM_PICTURE_CONT /* a further line of bytes of the LD or ST before */
};

/* READ and WRITE of tarmac and matcher ("Processor memory access trace"). */
struct trod_detail_mem {
    struct trod_detail_number num;
    uint64_t base;          /* picture: address of its rightmost byte */
    uint64_t insn, serial;  /* RTL: (address:serial) of the instruction */
    struct trod_slice type; /* type word as written, where it is not the Fast Models one */
    struct trod_slice note; /* "ABORTED", "EXCLUSIVE FAIL"; bare: "tag=3"; picture: "nGnRnE OSH" */
    struct trod_slice mask; /* size bytes, least significant first: unknown bits */
    struct trod_slice unwritten; /* those of mask that were written as dashes, where not all are */
    uint8_t style;               /* enum trod_mem_style */
    uint8_t has_insn;
    uint8_t addr_digits, paddr_digits; /* where not the usual number, else 0 */
    uint8_t sec_prefix;                /* picture: S: (1) or NS: (2) stands before paddr */
    uint8_t attr;                      /* last letter of an RTL type word: D I A R, or 0 */
    uint8_t turned;                    /* the value was written in memory order */
    uint8_t bare;                      /* the note is words NAME=VALUE, without brackets */
};

/* ATOMIC of tarmac ("Processor memory update trace"). */
struct trod_detail_atomic {
    struct trod_detail_number num;
    struct trod_slice more; /* further data words as written; value or data is the first */
    struct trod_slice mask; /* unknown bits */
    uint8_t named;          /* written old=.. new=.. */
    uint8_t addr_digits, paddr_digits;
    uint8_t unused[5];
};

/* Bits of trod_detail_bus.inner and outer: wrcbs from left to right. */
enum trod_bus_cache {
    TROD_BUS_WRITE_ALLOC = 1 << 4,
    TROD_BUS_READ_ALLOC = 1 << 3,
    TROD_BUS_CACHEABLE = 1 << 2,
    TROD_BUS_BUFFERABLE = 1 << 1,
    TROD_BUS_SHAREABLE = 1 << 0
};

/* BUS of tarmac ("Memory bus trace"; bus, idle and coprocessor lines of RTL and ARMulator). */
struct trod_detail_bus {
    struct trod_detail_number num;
    uint64_t insn, serial;    /* RTL: (address:serial) of the instruction */
    struct trod_slice master; /* master id as written */
    struct trod_slice type;   /* type word as written, where it is not the Fast Models one */
    struct trod_slice note;   /* "wait", "TRANSFER" */
    struct trod_slice mask;   /* unknown bits of data */
    uint8_t write;            /* 1: write, 0: read */
    uint8_t inner, outer;     /* enum trod_bus_cache */
    uint8_t has_cache;        /* inner and outer are given */
    uint8_t idle;             /* no transfer: MI, MIO, MC, (wait) */
    uint8_t coprocessor;      /* a transfer to or from a coprocessor: no address */
    uint8_t has_insn;
    uint8_t paddr_digits; /* where not the usual number, else 0 */
};

/* CACHE_OP of tarmac ("Cache maintenance trace"); text is everything before the data. */
struct trod_detail_cache_op {
    uint8_t data_side, instr_side;       /* text names the data, the instruction cache */
    uint8_t clean, invalidate;           /* what it does */
    uint8_t addr_digits, paddr_digits;   /* digits of addr or value, of paddr */
    uint8_t by_address;                  /* by MVA: addr, otherwise value */
    uint8_t prefix;                      /* 0x stands before the data */
    struct trod_slice pagesize, memtype; /* as written */
};

/* CACHE_LINE of tarmac ("Cache content trace"). */
struct trod_detail_cache_line {
    uint8_t line_digits, paddr_digits;
    uint8_t unused[6];
    struct trod_slice op; /* as written, where it is none of enum trod_line_op */
};

/* WALK of tarmac ("Translation table walk trace"); text is the first word of the result. */
struct trod_detail_walk {
    uint8_t update; /* TTU: the table is written */
    uint8_t stage, level;
    uint8_t paddr_digits, value_digits;
    uint8_t unused[3];
    struct trod_slice side, format; /* "ITLB", "LPAE" */
    struct trod_slice attrs;        /* what follows the result: "ATTRIDX=0 NS=0" */
};

/* TLB of tarmac ("TLB trace"). */
struct trod_detail_tlb {
    uint64_t size; /* of the region, bytes: may pass 32 bits */
    uint64_t vmid, asid;
    struct trod_slice size_text; /* "64K" */
    struct trod_slice regime;    /* all of it as written, from 0x on: "0x00020000, nG asid=0" */
    struct trod_slice el;        /* "EL1_n" */
    struct trod_slice memtype;   /* memory type as written: "Normal NonShareable Inner=.." */
    struct trod_slice attrs;     /* attributes as written: "xn=0 pxn=0" */
    uint8_t sec;                 /* enum trod_sec of the virtual regime */
    uint8_t has_vmid, has_asid, non_global;
    uint8_t paddr_digits;
    uint8_t unused[3];
};

/* What an event line reports (trod_detail_event.what). */
enum trod_event {
    TROD_EVENT_EXCEPTION, /* EXCEPTION */
    TROD_EVENT_MODE,      /* MODE */
    TROD_EVENT_DEBUG,     /* MARKER: DebugEvent_HaltingDebugState */
    TROD_EVENT_SIGNAL,    /* MARKER: E HRESETn 0 */
    TROD_EVENT_LINE,      /* MARKER: SIGNAL: SIGNAL=Abort STATE=N */
    TROD_EVENT_CORE,      /* MARKER: a numbered event that is no exception (ARMulator) */
    TROD_EVENT_DEBUGGER   /* MARKER: CADI E simulation_stopped */
};

/* How an event line was written (trod_detail_event.style). */
enum trod_event_style {
    TROD_EVENT_E,       /* E value [mode] [value1] number name */
    TROD_EVENT_ES,      /* ES EXC [vector] name */
    TROD_EVENT_ES_NAME, /* ES name */
    TROD_EVENT_EXC,     /* EXC [vector] name */
    TROD_EVENT_IT,      /* IT EXC [vector] name */
    TROD_EVENT_IT_NAME  /* IT name */
};

/* EXCEPTION, MODE and MARKER of tarmac ("Event trace"). */
struct trod_detail_event {
    uint64_t value1;        /* second value associated with the event */
    struct trod_slice mode; /* mode being entered, as written */
    struct trod_slice rest; /* what follows the name */
    uint8_t angle;          /* <value>: in angle brackets */
    uint8_t unused[7];
    uint8_t what;  /* enum trod_event */
    uint8_t style; /* enum trod_event_style */
    uint8_t has_value1;
    uint8_t addr_digits, paddr_digits, value1_digits;
    uint8_t value_digits; /* EXC: 0x80: no 0x; 0x40: no brackets */
    uint8_t upper;
};

/*
 * READ, WRITE, PREFETCH, FLUSH and CACHE_OP of tt6, tt6e and full: the words after the opcode, as
 * a TT6 record holds them. Big-endian bytes; third is there when the slice is 8 bytes long.
 */
struct trod_detail_ppc_access {
    uint8_t address[4]; /* the effective address, of which addr is the first byte accessed */
    uint8_t third[4];   /* XER of lswx and stswx, rB of dst, dstt, dstst, dststt */
};

/* INSTR of tt6 and tt6e: what an escape record said of it beyond paddr. */
struct trod_detail_ppc_instr {
    uint8_t target_paddr[8]; /* real address of the branch target, big-endian */
};

/* What a field of a detail struct is. */
enum trod_field_type {
    TROD_FIELD_NUMBER,  /* unsigned: decimal */
    TROD_FIELD_HEX,     /* unsigned: hexadecimal */
    TROD_FIELD_BYTES,   /* big-endian: hexadecimal */
    TROD_FIELD_FLAG,    /* 0 or not */
    TROD_FIELD_WRITE,   /* 0: read, 1: write */
    TROD_FIELD_SEC,     /* enum trod_sec */
    TROD_FIELD_CACHE,   /* enum trod_bus_cache */
    TROD_FIELD_LETTER,  /* a character, 0: none */
    TROD_FIELD_TEXT,    /* struct trod_slice of text; length 0: not given */
    TROD_FIELD_MASK,    /* struct trod_slice of bytes: bits of the value that are not known */
    TROD_FIELD_WRITING, /* struct trod_slice of text: how other fields were written */
    TROD_FIELD_LOW      /* the low WIDTH bits of a byte: decimal */
};

/* Is a field of TYPE a struct trod_slice? */
static inline bool trod_field_is_slice(unsigned type)
{
    return type >= TROD_FIELD_TEXT && type <= TROD_FIELD_WRITING;
}

/* A field. Numbers that only say how something was written are not listed. */
struct trod_detail_field {
    const char *name;
    uint16_t at, width; /* offset in the struct and bytes (TROD_FIELD_LOW: bits) */
    uint8_t type;       /* enum trod_field_type */
    uint8_t given;      /* offset of the byte that is not 0 where the field is given; 0: always */
};

/* The fields of the detail struct of one kind of row. */
struct trod_detail_struct {
    const struct trod_detail_field *field;
    uint16_t n, len; /* fields; bytes of the struct */
    uint8_t kind;    /* enum trod_kind */
    uint8_t number;  /* its place in the list: see trod_detail_at */
};

enum { TROD_DETAIL_STRUCTS = 40, TROD_DETAIL_FIELDS = 16, TROD_DETAIL_SLICES = 8 };

/* Struct number I (there are fewer than TROD_DETAIL_STRUCTS), NULL past the last. */
const struct trod_detail_struct *trod_detail_at(size_t i);

/* The detail struct of LEN bytes of rows of KIND; NULL: its fields are not known. */
const struct trod_detail_struct *trod_detail_struct_of(unsigned kind, size_t len);

/*
 * All rows of byu6: the record as it stands. Touched are those bytes of the 8-byte word at
 * address & ~7 whose bit in enables is 0 (bit 0: the byte at the lowest address); they need not be
 * neighbours: then the row has TROD_F_HOLES; addr is the lowest, size their number.
 */
struct trod_detail_byu6 {
    uint8_t address[4]; /* big-endian */
    uint8_t enables;    /* byte enables, active low */
    uint8_t control;    /* transaction in the upper four bits; the lower four mean nothing */
};

/* All rows of byu12: the record as it stands. */
struct trod_detail_byu12 {
    uint8_t address[4]; /* little-endian */
    uint8_t type;       /* request type */
    uint8_t size;       /* bytes */
    uint8_t attributes; /* low two bits: kind of memory; the others are kept */
    uint8_t processor;
    uint8_t ticks[4]; /* since the request before, little-endian */
};

/*
 * Offset of slice I inside the detail struct (LEN bytes) of rows of KIND; 0 past the last one (no
 * struct begins with a slice). For code that copies or compares rows.
 */
size_t trod_detail_slice(unsigned kind, size_t len, unsigned i);

#ifdef __cplusplus
}
#endif

#endif
