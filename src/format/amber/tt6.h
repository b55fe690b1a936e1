/*
 * tt6.h - the decoder of TT6 and TT6E: its tables and state.
 *
 * Implements docs/formats/amber.md, "TT6 and TT6E".
 */
#ifndef TROD_FORMAT_TT6_H
#define TROD_FORMAT_TT6_H

#include "format/amber/amber.h"

/*
 * What the fast loop knows of an opcode. Escapes and traps of TT6E have 0 words and are left to the
 * slow path.
 */
struct tt6_entry {
    uint8_t words;  /* of the record: 1 to 3 */
    uint8_t rows;   /* 1, or 2 with an access */
    uint8_t kind;   /* of the second row; TROD_NOTE: it is computed, as size and others */
    uint8_t branch; /* amber_branch_base */
    uint32_t flags; /* of the second row */
    uint32_t size;  /* of the access */
    uint32_t clear; /* low bits of the address that do not count */
};

/*
 * The slots of opcodes: one for each major opcode, and of majors 31, 19 and 58 one for each minor
 * (of 58 its last bit).
 */
enum {
    TT6_MAJORS = 64,
    TT6_MINOR = 1023,
    TT6_SLOTS_31 = TT6_MAJORS,
    TT6_SLOTS_19 = TT6_SLOTS_31 + TT6_MINOR + 1,
    TT6_SLOTS_58 = TT6_SLOTS_19 + TT6_MINOR + 1,
    TT6_SLOTS = TT6_SLOTS_58 + 2,
    TT6_ENTRIES = 64
};

/* A record has no more words than that, unless it is an escape. */
enum { TT6_LONGEST = 3 };

/* Bits of what passing over a record needs to know of its opcode; 0: it is not plain. */
enum { TT6_WORDS = 3, TT6_ACCESSES = 4, TT6_FLOWS = 8 };

struct tt6_tables {
    struct tt6_entry entry[TT6_ENTRIES]; /* [0]: the slow way */
    uint32_t entries;
    uint8_t number[TT6_SLOTS]; /* of the entry */
    uint8_t step[TT6_SLOTS];   /* TT6_WORDS and others */
    /*
     * Of 4 words of which the first SKIP belong to a record before them, by the words of each as if
     * it were an opcode, 2 bits each: where records begin, a bit each, and where the row of this
     * table is that tells it of the 4 words behind (an index of its first element).
     */
    uint8_t starts[TT6_LONGEST * 256];
    uint16_t behind[TT6_LONGEST * 256];
};

struct tt6_dec {
    struct tt6_tables t; /* made by start() of trod_ppc_access */
    bool extended, begun;
    uint8_t trap;     /* 1: the record before was a twi; 2: a synthetic b 0x700 */
    uint8_t attached; /* escapes that wait for their instruction: bit n for code n */
    uint32_t line, stream, pc;
    uint64_t attach[8]; /* their words */
};

/* tt6_tables.c */
void tt6_tables_make(struct tt6_tables *t, bool extended, uint32_t line);
/* The slots of the N words at P, as if each were an opcode. */
void tt6_slots(const uint8_t *p, uint32_t n, uint16_t *slot);

static inline uint32_t tt6_slot(uint32_t opcode)
{
    const uint32_t major = opcode >> 26, minor = opcode >> 1 & TT6_MINOR;
    uint32_t slot = major;

    slot = major == 31 ? TT6_SLOTS_31 + minor : slot;
    slot = major == 19 ? TT6_SLOTS_19 + minor : slot;
    return major == 58 ? TT6_SLOTS_58 + (minor & 1) : slot;
}

enum {
    TT6_READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
                TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB |
                TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW,
    TT6_INSTR = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
                TROD_COL_PC | TROD_COL_CODE | TROD_COL_RAW,
    TT6_ACCESS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
                 TROD_COL_PC | TROD_COL_DETAIL,
    TT6_ESCAPE =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_PC | TROD_COL_SUB | TROD_COL_RAW
};

/* Row I: access A at EA, without its pc and detail. */
void tt6_access_row(struct trod_batch *out, uint32_t i, const struct amber_access *a, uint32_t ea);

enum { TT6_BLOCK = 256 };

/* A block of words, and of its records the rows that need more than the common columns. */
struct tt6_block {
    const uint8_t *p; /* first word */
    uint32_t words;   /* of which the last ones may belong to the next record; 0: not used yet */
    uint32_t flows, accesses;
    uint8_t number[TT6_BLOCK], length[TT6_BLOCK]; /* entry of each word; words of its record */
    uint16_t flow[TT6_BLOCK], access[TT6_BLOCK];
};

/*
 * Decode records as long as they are plain. IN is advanced; rows are appended. B keeps the classes
 * of the words of IN's window from call to call.
 */
void tt6_decode_plain(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out,
                      struct tt6_block *b);

/* tt6.c: bytes of the record at P, which is not the first of the file; 0: more than N. */
size_t tt6_record(bool extended, const uint8_t *p, size_t n);

/* tt6.c: as a driver's decode; if PASSES is set, without making rows of plain records. */
int tt6_go(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out,
           struct trod_diag *diag, bool passes);

/* tt6_pass.c: pass over records as long as they are plain, as tt6_decode_plain. */
void tt6_pass_plain(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out);

/* tt6_pass.c: how decoding begins in the middle of a file. */
extern const struct trod_parts tt6_parts;

#endif
