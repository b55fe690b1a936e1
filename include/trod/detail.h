/*
 * detail.h - what a row says beyond the columns: one struct a kind, in the detail column.
 *
 * Slices inside refer to the same batch as the row. Fields that a source does not give are zero
 * (slices: length 0) unless said otherwise.
 */
#ifndef TROD_DETAIL_H
#define TROD_DETAIL_H

#include "trod/types.h"

/* INSTR of tarmac and matcher (TarmacTrace, "Instruction trace"). */
struct trod_detail_instr {
    uint64_t paddr2; /* physical address of the second halfword of a split Thumb instruction */
    struct trod_slice mode; /* mode and security as written: "EL1h_n", "svc_s" */
    uint8_t has_paddr2;
    uint8_t sec2;   /* enum trod_sec of paddr2 */
    uint8_t folded; /* IF: executed together with its neighbour */
    uint8_t style;  /* how the line was written: see the format's page */
};

#endif
