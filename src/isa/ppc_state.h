/*
 * ppc_state.h - the state of a PowerPC thread as records of FULL have it.
 *
 * Implements docs/formats/amber.md, "FULL": the layout is that of Mac OS X's
 * mach/ppc/thread_status.h, with a word of 4 bytes as the unit and the most significant byte first.
 * The address of the instruction (srr0) is no register here; padding belongs to none.
 */
#ifndef TROD_ISA_PPC_STATE_H
#define TROD_ISA_PPC_STATE_H

#include <stdbool.h>

/* Words of the state, the first one of a register or of a bank. */
enum trod_ppc_state_word {
    TROD_PPC_STATE_SRR0 = 0,
    TROD_PPC_STATE_SRR1 = 1,
    TROD_PPC_STATE_GPR = 2,
    TROD_PPC_STATE_CR = 34,
    TROD_PPC_STATE_XER = 35,
    TROD_PPC_STATE_LR = 36,
    TROD_PPC_STATE_CTR = 37,
    TROD_PPC_STATE_MQ = 38,
    TROD_PPC_STATE_VRSAVE = 39,
    TROD_PPC_STATE_FPR = 40, /* two words each */
    TROD_PPC_STATE_FLOAT_PAD = 104,
    TROD_PPC_STATE_FPSCR = 105,
    TROD_PPC_STATE_VR = 106, /* four words each */
    TROD_PPC_STATE_VSCR = 234,
    TROD_PPC_STATE_VECTOR_PAD = 238,
    TROD_PPC_STATE_VRVALID = 242,
    TROD_PPC_STATE_END = 243 /* words from here on have no meaning */
};

/* Registers of the state by number. */
enum trod_ppc_state_number {
    TROD_PPC_STATE_N_SRR1 = 0,
    TROD_PPC_STATE_N_FPR = TROD_PPC_STATE_N_SRR1 + TROD_PPC_STATE_FPR - TROD_PPC_STATE_SRR1,
    TROD_PPC_STATE_N_FPSCR = TROD_PPC_STATE_N_FPR + 32,
    TROD_PPC_STATE_N_VR = TROD_PPC_STATE_N_FPSCR + 1,
    TROD_PPC_STATE_N_VRVALID = TROD_PPC_STATE_N_VR + 33,
    TROD_PPC_STATE_REGISTERS = TROD_PPC_STATE_N_VRVALID + 1
};

/* Names of the registers, in the order of their numbers: initializers of char [][8]. */
#define TROD_PPC_STATE_BANK(p)                                                                     \
    p "0", p "1", p "2", p "3", p "4", p "5", p "6", p "7", p "8", p "9", p "10", p "11", p "12",  \
        p "13", p "14", p "15", p "16", p "17", p "18", p "19", p "20", p "21", p "22", p "23",    \
        p "24", p "25", p "26", p "27", p "28", p "29", p "30", p "31"
#define TROD_PPC_STATE_NAMES                                                                       \
    "srr1", TROD_PPC_STATE_BANK("r"), "cr", "xer", "lr", "ctr", "mq", "vrsave",                    \
        TROD_PPC_STATE_BANK("f"), "fpscr", TROD_PPC_STATE_BANK("v"), "vscr", "vrvalid"

struct trod_ppc_state_register {
    unsigned number;       /* enum trod_ppc_state_number */
    unsigned first, words; /* its first word, how many words it has (1, 2 or 4) */
};

/* The register that word W belongs to. False: none. */
static inline bool trod_ppc_state_register(unsigned w, struct trod_ppc_state_register *r)
{
    if (w < TROD_PPC_STATE_SRR1 || w == TROD_PPC_STATE_FLOAT_PAD ||
        (w >= TROD_PPC_STATE_VECTOR_PAD && w != TROD_PPC_STATE_VRVALID))
        return false;
    if (w < TROD_PPC_STATE_FPR) {
        *r = (struct trod_ppc_state_register){w - TROD_PPC_STATE_SRR1, w, 1};
    } else if (w < TROD_PPC_STATE_FLOAT_PAD) {
        const unsigned n = (w - TROD_PPC_STATE_FPR) / 2;

        *r = (struct trod_ppc_state_register){TROD_PPC_STATE_N_FPR + n, TROD_PPC_STATE_FPR + 2 * n,
                                              2};
    } else if (w >= TROD_PPC_STATE_VR && w < TROD_PPC_STATE_VECTOR_PAD) { /* vscr comes after v31 */
        const unsigned n = (w - TROD_PPC_STATE_VR) / 4;

        *r =
            (struct trod_ppc_state_register){TROD_PPC_STATE_N_VR + n, TROD_PPC_STATE_VR + 4 * n, 4};
    } else {
        *r = (struct trod_ppc_state_register){
            w == TROD_PPC_STATE_FPSCR ? TROD_PPC_STATE_N_FPSCR : TROD_PPC_STATE_N_VRVALID, w, 1};
    }
    return true;
}

#endif
