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

enum { TT6_MAJORS = 64, TT6_ENTRIES = 64, TT6_MINORS = TT6_MAJORS + 2 * 1024 + 2 };

/*
 * The entry of an opcode is entry[number[base + (minor & mask)]], base and mask by its major
 * opcode: of majors 19, 31 and 58 minors count.
 */
struct tt6_tables {
    struct tt6_entry entry[TT6_ENTRIES]; /* [0]: the slow way */
    struct {
        uint16_t base, mask;
    } major[TT6_MAJORS];
    uint8_t number[TT6_MINORS];
    uint8_t words[TT6_ENTRIES]; /* of the entries */
    uint32_t entries;
};

struct tt6_dec {
    struct tt6_tables t; /* made by start() of trod_ppc_access */
    bool extended, begun;
    uint8_t trap;     /* 1: the record before was a twi; 2: a synthetic b 0x700 */
    uint8_t attached; /* escapes that wait for their instruction: bit n for code n */
    uint32_t line, stream, pc;
    uint64_t attach[8]; /* their words */
};

void tt6_tables_make(struct tt6_tables *t, bool extended, uint32_t line);

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

#endif
