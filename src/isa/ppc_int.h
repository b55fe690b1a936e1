/*
 * What the files of the PowerPC decoder share: the shape of the opcode table, and the operands it
 * names. Private to src/isa/ppc*.c.
 */
#ifndef TROD_ISA_PPC_INT_H
#define TROD_ISA_PPC_INT_H

#include "isa/ppc.h"

/*
 * Operands. Each has its bits in the opcode (ppc_operands[].bits: what is neither opcode nor
 * operand is reserved), a way to be printed, and an effect on registers. The names are the books'
 * field names; R is read, W written.
 */
enum ppc_arg {
    NO,   /* end of list */
    RT,   /* GPR W, bits 6-10 */
    RS,   /* GPR R, the same bits */
    RA,   /* GPR R, bits 11-15 */
    RA0,  /* GPR R, 0 meaning no register */
    RAW,  /* GPR W, bits 11-15 */
    RAX,  /* GPR R and W, bits 11-15 */
    RB,   /* GPR R, bits 16-20 */
    FT,   /* FPR W, bits 6-10 */
    FS,   /* FPR R, the same */
    FA,   /* FPR R, bits 11-15 */
    FB,   /* FPR R, bits 16-20 */
    FC,   /* FPR R, bits 21-25 */
    VD,   /* VR W, bits 6-10 */
    VS,   /* VR R, the same */
    VA,   /* VR R, bits 11-15 */
    VB,   /* VR R, bits 16-20 */
    VC,   /* VR R, bits 21-25 */
    SI,   /* signed immediate */
    UI,   /* unsigned immediate */
    DRA,  /* d(rA): base RA0 */
    DSA,  /* ds(rA): the same, a multiple of 4 */
    BF,   /* CR field W, bits 6-8 */
    OBF,  /* the same, not printed when cr0 */
    BFA,  /* CR field R, bits 11-13 */
    BT,   /* CR bit R and W (its field), bits 6-10 */
    BA,   /* CR bit R, bits 11-15 */
    BB,   /* CR bit R, bits 16-20 */
    BO,   /* branch options, bits 6-10 */
    BI,   /* CR bit, bits 11-15; read as BO says */
    BH,   /* branch hint, bits 19-20 */
    BD,   /* branch displacement, 14 bits, with AA and LK */
    LI,   /* branch displacement, 24 bits, with AA and LK */
    LK,   /* LK alone */
    LEV,  /* sc's level, bits 20-26 */
    CMPL, /* L of a compare, bit 10 */
    TO,   /* trap condition */
    SH,   /* shift count, bits 16-20 */
    SH6,  /* shift count, 6 bits */
    MB,   /* mask begin, bits 21-25 */
    ME,   /* mask end, bits 26-30 */
    MB6,  /* mask begin or end, 6 bits */
    NB,   /* bytes, bits 16-20, 0 meaning 32 */
    SPR,  /* special purpose register */
    TBR,  /* time base register */
    FXM,  /* mtcrf's mask, mtocrf's bit */
    FXMR, /* mfcr's nothing, mfocrf's mask */
    SRN,  /* segment register */
    FLM,  /* mtfsf's mask */
    FPF,  /* FPSCR field, bits 6-8 */
    FPG,  /* FPSCR field, bits 11-13 */
    FPB,  /* FPSCR bit, bits 6-10 */
    FPU,  /* FPSCR field's value, bits 16-19 */
    UIM,  /* vector's unsigned immediate, bits 11-15 */
    UIM4, /* the same, 4 bits */
    UIM3, /* the same, 3 bits */
    UIM2, /* the same, 2 bits */
    SIM,  /* vector's signed immediate, bits 11-15 */
    SHB,  /* vsldoi's count, bits 22-25 */
    STRM, /* data stream, bits 9-10 */
    TBIT, /* T of dst, A of dss, bit 6 */
    SYL,  /* L of sync, bits 9-10 */
    ML,   /* L of mtmsrd, bit 15 */
    TL,   /* L of tlbie, bit 10 */
    IMA,  /* clcs's cache line size selector, bits 11-15, printed as a register */
    TH,   /* dcbt's hint, bits 6-10, not printed when 0 */
    /* Operands of extended mnemonics, computed from fields. */
    C_31_ME,
    C_32_SH,
    C_ME_1,
    C_32_MB,
    C_SH_32_MB,
    C_MB_SH,
    C_INS_N,
    C_INS_B,
    C_63_ME6,
    C_64_SH6,
    C_ME6_1,
    C_64_MB6,
    C_SH6_64_MB6,
    C_MB6_SH6,
    C_INSD_N,
    C_BACK, /* the branch target */
    PPC_ARGS
};

/* Flags of a row: the low 16 bits are enum trod_ppc_flag as they are. */
#define F_RC  (UINT64_C(1) << 16) /* has an Rc bit: CR0 */
#define F_RCF (UINT64_C(1) << 17) /* has an Rc bit: CR1 */
#define F_RCV (UINT64_C(1) << 18) /* has an Rc bit, bit 21: CR6 */
#define F_RC1 (UINT64_C(1) << 19) /* bit 31 must be 1, sets CR0: stwcx. */
#define F_CR0 (UINT64_C(1) << 20) /* sets CR0 always: andi. */
#define F_OE  (UINT64_C(1) << 21) /* has an OE bit */
/* Special registers read (bits 32-47) and written (48-63). */
#define RD(x) ((uint64_t)(x) << 32)
#define WR(x) ((uint64_t)(x) << 48)
#define RW(x) (RD(x) | WR(x))

struct ppc_op {
    char name[12];
    uint8_t form, group;
    uint8_t major;
    uint8_t args[5];
    uint16_t minor;
    uint64_t fx;
};

/* An operand's place in the opcode. */
struct ppc_operand {
    uint32_t bits;
    uint8_t shift;
    uint8_t width;
};

enum ppc_op_id {
#define R(id, major, minor, form, group, name, args, fx) OP_##id,
    OP_NONE,
#include "ppc_altivec.def"
#include "ppc_ops.def"
#undef R
    OP_COUNT
};

extern const struct ppc_op trod_ppc_ops[OP_COUNT];
extern const struct ppc_operand trod_ppc_operands[PPC_ARGS];

/* The op id of an opcode, OP_NONE when there is none. Reserved bits are not looked at. */
unsigned trod_ppc_lookup(uint32_t opcode);

/* The bits of op's opcodes that are neither opcode nor operand: they must be zero. */
uint32_t trod_ppc_reserved_bits(const struct ppc_op *op);

/* The bits of an operand, right-aligned. */
static inline uint32_t ppc_field(uint32_t opcode, unsigned arg)
{
    const struct ppc_operand *o = &trod_ppc_operands[arg];

    return (opcode >> o->shift) & ((1u << o->width) - 1);
}

/* SPR and TBR numbers have their halves swapped; six-bit shifts and masks have the high bit apart.
 */
static inline unsigned ppc_spr(uint32_t opcode)
{
    return ((opcode >> 16) & 31) | ((opcode >> 6) & 0x3e0);
}

static inline unsigned ppc_sh6(uint32_t opcode)
{
    return ((opcode >> 11) & 31) | ((opcode << 4) & 32);
}

static inline unsigned ppc_mb6(uint32_t opcode)
{
    return ((opcode >> 6) & 31) | (opcode & 32);
}

#endif
