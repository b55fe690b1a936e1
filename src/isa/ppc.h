/*
 * trod/ppc.h - what a PowerPC opcode is.
 *
 * A decoder of 32-bit opcode words for the PowerPC processors of the CHUD traces: the 601 with what
 * it kept of POWER, the 32-bit 603 to 7455 (G3, G4), AltiVec, and the 64-bit instructions of the
 * 970 (G5).
 *
 * Documents: "PowerPC Microprocessor Family: The Programming Environments" (32-bit and 64-bit
 * editions; below PEM), "AltiVec Technology Programming Environments Manual" (AltiVec PEM),
 * "PowerPC 601 User's Manual", PowerPC User Instruction Set Architecture 2.02 (branch hints,
 * mfocrf, lwsync), and for the record classes the TT6 and TT6E instruction class macros of the
 * Amber trace format.
 *
 * What it does not do: execute instructions, decode Book E / SPE / VSX / VLE, or know which
 * instructions one given processor implements. Everything here is plain data and pure functions: no
 * state, no allocation, safe from any thread. Addresses are 32 bits wide, as in the traces; so a
 * 64-bit instruction gets a 32-bit address.
 *
 * Bit numbers of registers follow the mask convention of this library: bit n of a mask is register
 * n. Bit numbers in comments marked "IBM" count from the most significant bit.
 */
#ifndef TROD_ISA_PPC_H
#define TROD_ISA_PPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the quick table: class and memory facts of an opcode in one lookup ---- */

/* Which of the two class macro lists of the Amber format. */
enum trod_ppc_variant { TROD_PPC_TT6, TROD_PPC_TT6E };

/* Record class. A record of class c is trod_ppc_record_words(c) longwords long. */
enum trod_ppc_class {
    TROD_PPC_COMPUTE,        /* opcode */
    TROD_PPC_FLOW,           /* FLOW_ALTERING: opcode, next address */
    TROD_PPC_MEMORY,         /* opcode, effective address */
    TROD_PPC_MEMORY_EXTENDED /* opcode, effective address, XER or rB */
};

/* What an instruction does to memory. */
enum trod_ppc_kind {
    TROD_PPC_NONE, /* no access */
    TROD_PPC_LOAD,
    TROD_PPC_STORE,
    TROD_PPC_RESERVE,  /* lwarx, ldarx: a load that makes a reservation */
    TROD_PPC_COND,     /* stwcx., stdcx.: a store that may not happen */
    TROD_PPC_PREFETCH, /* dcbt, dcbtst, dst, dstst: a hint */
    TROD_PPC_CACHE     /* dcba, dcbf, dcbi, dcbst, dcbz, icbi: cache maintenance, on one line */
};

/* How many bytes an access has, and where they start. */
enum trod_ppc_rule {
    TROD_PPC_SIZE,   /* size bytes at EA */
    TROD_PPC_LWA,    /* 4 bytes at EA where the two lowest bits are 2, else size */
    TROD_PPC_VECTOR, /* size bytes at EA & ~(size - 1): lvx, lvebx, stvx, ... */
    TROD_PPC_MULTI,  /* lmw, stmw: 4 * (32 - rT) bytes */
    TROD_PPC_NB,     /* lswi, stswi: NB bytes, 0 meaning 32 */
    TROD_PPC_XER,    /* lswx, stswx, lscbx: as many bytes as XER's low 7 bits say */
    TROD_PPC_LINE,   /* one cache line; the address is anywhere in it */
    TROD_PPC_STREAM  /* dst, dstst: the stream that rB describes (trod_ppc_stream_of) */
};

/* The memory facts of an opcode. classes: TT6 class in bits 0-3, TT6E class in bits 4-7. */
struct trod_ppc_access {
    uint8_t classes;
    uint8_t kind; /* enum trod_ppc_kind */
    uint8_t size; /* bytes for TROD_PPC_SIZE, TROD_PPC_LWA and TROD_PPC_VECTOR, else 0 */
    uint8_t rule; /* enum trod_ppc_rule */
};

/* The table's first level: minor opcodes count where the mask says so. Not to be used but by the
 * functions below. */
struct trod_ppc_major {
    uint16_t base, mask;
};
extern const struct trod_ppc_major trod_ppc_majors[64];
extern const struct trod_ppc_access trod_ppc_accesses[];

/*
 * The memory facts of an opcode word (host order). Never fails: what is in neither class list is
 * COMPUTE. The class lists look at major and minor opcode alone, so this does too: an opcode may
 * have a class and be no valid instruction. Document: Amber format, TT6 / TT6E instruction class
 * macros; sizes: PEM chapter 8, AltiVec PEM ch. 6.
 */
static inline struct trod_ppc_access trod_ppc_access(uint32_t opcode)
{
    const struct trod_ppc_major m = trod_ppc_majors[opcode >> 26];

    return trod_ppc_accesses[m.base + ((opcode >> 1) & m.mask)];
}

/* The class in one of the two lists of facts already looked up. */
static inline enum trod_ppc_class trod_ppc_class_of(struct trod_ppc_access a,
                                                    enum trod_ppc_variant variant)
{
    return (enum trod_ppc_class)((a.classes >> (4 * (unsigned)variant)) & 0xf);
}

/* The class of an opcode word. Never fails. */
static inline enum trod_ppc_class trod_ppc_class(uint32_t opcode, enum trod_ppc_variant variant)
{
    return trod_ppc_class_of(trod_ppc_access(opcode), variant);
}

/* Longwords in a record of class c: 1, 2, 2 or 3. */
static inline unsigned trod_ppc_record_words(enum trod_ppc_class c)
{
    return (0x3221u >> (4 * (unsigned)c)) & 0xf;
}

/*
 * Bytes that an opcode with facts a accesses. xer: the XER register (used by lswx, stswx, lscbx
 * only: the third word of their records); line: bytes of a cache line, returned for cache
 * operations. 0 for no access and for dst/dstst. For lscbx it is the most that may be read.
 * Document: PEM 8.2 (lmw, lswi, lswx ...).
 */
static inline uint32_t trod_ppc_access_bytes(uint32_t opcode, struct trod_ppc_access a,
                                             uint32_t xer, uint32_t line)
{
    switch (a.rule) {
    case TROD_PPC_LWA:
        return (opcode & 3) == 2 ? 4 : a.size;
    case TROD_PPC_MULTI:
        return 4u * (32u - ((opcode >> 21) & 31));
    case TROD_PPC_NB:
        return (opcode >> 11) & 31 ? (opcode >> 11) & 31 : 32;
    case TROD_PPC_XER:
        return xer & 0x7f;
    case TROD_PPC_LINE:
        return line;
    default:
        return a.size;
    }
}

/* The first byte accessed, given the effective address as the instruction computes it. line: a
 * power of two. */
static inline uint32_t trod_ppc_access_start(struct trod_ppc_access a, uint32_t ea, uint32_t line)
{
    if (a.rule == TROD_PPC_VECTOR)
        return ea & ~(a.size - 1u);
    return a.rule == TROD_PPC_LINE ? ea & ~(line - 1) : ea;
}

/* A data stream: count blocks of size bytes, stride bytes from start to start. */
struct trod_ppc_stream {
    uint32_t size;  /* bytes, 16 to 512 */
    uint32_t count; /* blocks, 1 to 256 */
    int32_t stride; /* bytes, -32768 to 32768, never 0 */
};

/* The stream that dst, dstt, dstst, dststt find in rB. Document: AltiVec PEM chapter 5. */
struct trod_ppc_stream trod_ppc_stream_of(uint32_t rb);

/* ---- decoded facts ---- */

/* Instruction formats, by their names in PEM chapter 8 and AltiVec PEM chapter 6. */
enum trod_ppc_form {
    TROD_PPC_FORM_NONE,
    TROD_PPC_FORM_I,
    TROD_PPC_FORM_B,
    TROD_PPC_FORM_SC,
    TROD_PPC_FORM_D,
    TROD_PPC_FORM_DS,
    TROD_PPC_FORM_X,
    TROD_PPC_FORM_XL,
    TROD_PPC_FORM_XFX,
    TROD_PPC_FORM_XFL,
    TROD_PPC_FORM_XS,
    TROD_PPC_FORM_XO,
    TROD_PPC_FORM_A,
    TROD_PPC_FORM_M,
    TROD_PPC_FORM_MD,
    TROD_PPC_FORM_MDS,
    TROD_PPC_FORM_VA,
    TROD_PPC_FORM_VX,
    TROD_PPC_FORM_VXR
};

/* What an instruction is for; every instruction is in exactly one group. */
enum trod_ppc_group {
    TROD_PPC_GROUP_NONE,    /* no valid instruction */
    TROD_PPC_GROUP_INTEGER, /* arithmetic, logic, compare, rotate, shift */
    TROD_PPC_GROUP_FLOAT,
    TROD_PPC_GROUP_VECTOR,
    TROD_PPC_GROUP_LOAD,
    TROD_PPC_GROUP_STORE,
    TROD_PPC_GROUP_CACHE,  /* prefetch and cache maintenance */
    TROD_PPC_GROUP_BRANCH, /* every change of flow: b, bc, bclr, bcctr, sc, rfi, rfid */
    TROD_PPC_GROUP_TRAP,
    TROD_PPC_GROUP_CR,   /* condition register logic, mcrf, mcrxr */
    TROD_PPC_GROUP_MOVE, /* between GPRs and other registers: mfspr, mtcrf, mftb, mfmsr ... */
    TROD_PPC_GROUP_SYNC, /* sync, isync, eieio */
    TROD_PPC_GROUP_MMU   /* TLB and SLB maintenance */
};

/* Change of flow. */
enum trod_ppc_branch {
    TROD_PPC_BRANCH_NONE,
    TROD_PPC_BRANCH_DIRECT,        /* b, ba, and bc "branch always" */
    TROD_PPC_BRANCH_CALL,          /* the same with LK: bl, bla */
    TROD_PPC_BRANCH_COND,          /* bc */
    TROD_PPC_BRANCH_COND_CALL,     /* bcl */
    TROD_PPC_BRANCH_RETURN,        /* bclr, taken or not */
    TROD_PPC_BRANCH_INDIRECT,      /* bcctr, taken or not */
    TROD_PPC_BRANCH_INDIRECT_CALL, /* bclrl, bcctrl, taken or not */
    TROD_PPC_BRANCH_SYSCALL,       /* sc */
    TROD_PPC_BRANCH_RFI            /* rfi, rfid, hrfid: return from interrupt */
};

/* Flags of a decoded instruction. */
enum trod_ppc_flag {
    TROD_PPC_CONDITIONAL = 1u << 0, /* a branch that tests CR or CTR */
    TROD_PPC_LINK = 1u << 1,        /* LK = 1: LR gets the address of the next instruction */
    TROD_PPC_ABSOLUTE = 1u << 2,    /* AA = 1: the target is not relative */
    TROD_PPC_RECORD = 1u << 3,      /* Rc = 1: the result sets CR0, CR1 or CR6 */
    TROD_PPC_OVERFLOW = 1u << 4,    /* OE = 1 */
    TROD_PPC_UPDATE = 1u << 5,      /* rA gets the effective address */
    TROD_PPC_INDEXED = 1u << 6,     /* the effective address has rB in it */
    TROD_PPC_BYTEREV = 1u << 7,     /* lhbrx, lwbrx, sthbrx, stwbrx */
    TROD_PPC_PRIVILEGED = 1u << 8,  /* supervisor only (an mfspr or mtspr: by its SPR) */
    TROD_PPC_64BIT = 1u << 9,       /* 64-bit implementations only */
    TROD_PPC_ALTIVEC = 1u << 10,
    TROD_PPC_POWER = 1u << 11, /* POWER heritage of the 601 */
    TROD_PPC_BAD_FORM =
        1u << 12, /* a known instruction in an invalid form: a reserved bit, a forbidden register */
    TROD_PPC_TRANSIENT = 1u << 13 /* dstt, dststt; also lvxl, stvxl */
};

/* Registers outside the numbered banks: bits of trod_ppc_regs.special. */
enum trod_ppc_special {
    TROD_PPC_LR = 1u << 0,
    TROD_PPC_CTR = 1u << 1,
    TROD_PPC_CA = 1u << 2,      /* XER[CA], the carry */
    TROD_PPC_OV = 1u << 3,      /* XER[OV] and XER[SO]; Rc = 1 and compares read SO */
    TROD_PPC_COUNT = 1u << 4,   /* XER's byte count */
    TROD_PPC_XER_ALL = 7u << 2, /* XER: any of the three */
    TROD_PPC_FPSCR = 1u << 5,
    TROD_PPC_VSCR = 1u << 6,
    TROD_PPC_VRSAVE = 1u << 7,
    TROD_PPC_MSR = 1u << 8,
    TROD_PPC_SRR0 = 1u << 9,
    TROD_PPC_SRR1 = 1u << 10,
    TROD_PPC_MQ = 1u << 11, /* 601 */
    TROD_PPC_TB = 1u << 12, /* the time base */
    TROD_PPC_SR = 1u << 13, /* segment registers, SLB */
    TROD_PPC_SPR = 1u << 14 /* any other special purpose register */
};

/* A set of registers: bit n of gpr is rn, of fpr fn, of vr vn, of cr the field crn. */
struct trod_ppc_regs {
    uint32_t gpr, fpr, vr;
    uint32_t special; /* enum trod_ppc_special */
    uint8_t cr;
};

/*
 * An opcode, decoded. Plain data, may be copied. reads holds what the result depends on, so a
 * register of which only a part is written is in both sets (a CR field when crxor writes one bit of
 * it, FPSCR, rlwimi's rA, VSCR[SAT]). lswx, stswx and lscbx name all the registers that their
 * largest byte count reaches, which is 32. Exceptions an instruction may raise are not in writes;
 * sc's and rfi's effects are.
 */
struct trod_ppc_insn {
    uint32_t opcode;
    uint16_t op;    /* which instruction: 1 to trod_ppc_op_count() - 1, or 0 when it is none (see
                       trod_ppc_op_name) */
    uint8_t form;   /* enum trod_ppc_form */
    uint8_t group;  /* enum trod_ppc_group */
    uint8_t tt6;    /* enum trod_ppc_class; valid for every opcode, instruction or not */
    uint8_t tt6e;   /* enum trod_ppc_class */
    uint8_t branch; /* enum trod_ppc_branch */
    uint32_t flags; /* enum trod_ppc_flag */
    int32_t disp;   /* of a branch with a computable target: bytes from pc, or from 0 with
                       TROD_PPC_ABSOLUTE */

    struct trod_ppc_access access; /* kind NONE: no access */
    uint32_t ea_mask;              /* what of the EA addresses memory: ~15 for lvx, ~0 for most */
    int8_t ea_base;                /* EA = (ea_base < 0 ? 0 : gpr[ea_base]) */
    int8_t ea_index;               /*    + (ea_index < 0 ? 0 : gpr[ea_index]) */
    int16_t ea_disp;               /*    + ea_disp */

    struct trod_ppc_regs reads, writes;
};

/*
 * Decodes opcode (host order) into *insn. Returns true when it is an instruction; else false, and
 * *insn has op 0, no registers, and what the quick table knows of the opcode (class and access). A
 * known instruction in a form that the books call invalid (a reserved bit that is not zero, lwzu
 * with rA = 0) is decoded, returns true, and has TROD_PPC_BAD_FORM: processors may well execute it.
 * insn must not be NULL. Document: PEM chapter 8 and appendix A, AltiVec PEM chapter 6, PowerPC 601
 * User's Manual chapter 10.
 */
bool trod_ppc_decode(uint32_t opcode, struct trod_ppc_insn *insn);

/* Op ids are dense: 0 is "no instruction", the last is trod_ppc_op_count() - 1. They may change
 * between versions. */
unsigned trod_ppc_op_count(void);

/* The base mnemonic of an op id ("addi", "rlwinm", "bc"): a static string; "invalid" for 0, NULL
 * past the last. */
const char *trod_ppc_op_name(unsigned op);

/* Name of a group, for reports ("integer", "load" ...): a static string, NULL for none. */
const char *trod_ppc_group_name(unsigned group);

/* ---- addresses and flow ---- */

/*
 * The effective address (bytes) of an access, as the instruction computes it: not aligned down by
 * ea_mask. gpr: the registers before the instruction, low 32 bits. 0 when the instruction has no
 * access. Document: PEM 4.2.3.1.
 */
uint32_t trod_ppc_effective_address(const struct trod_ppc_insn *insn, const uint32_t gpr[32]);

/* Bytes accessed, see trod_ppc_access_bytes(); xer: XER before the instruction, line: bytes of a
 * cache line. */
uint32_t trod_ppc_access_size(const struct trod_ppc_insn *insn, uint32_t xer, uint32_t line);

/*
 * The target of a branch where opcode and pc alone tell it (b, bc and their forms): true and
 * *target. False for everything else. Document: PEM 4.2.4.1.
 */
bool trod_ppc_target(const struct trod_ppc_insn *insn, uint32_t pc, uint32_t *target);

/* The registers a branch depends on, before the instruction. */
struct trod_ppc_flow {
    uint32_t lr, ctr, cr;
};

/*
 * Where execution goes from pc: *next is the address of the next instruction and *taken says
 * whether a branch was taken (false for other instructions: *next is pc + 4). False when registers
 * in flow do not tell: sc, rfi, rfid, and opcodes that are no instruction; *next is untouched then.
 * Interrupts and taken traps are not foreseen. taken may be NULL. Document: PEM 4.2.4 (BO
 * encodings, CTR decrement).
 */
bool trod_ppc_next(const struct trod_ppc_insn *insn, uint32_t pc, const struct trod_ppc_flow *flow,
                   uint32_t *next, bool *taken);

/* ---- text ---- */

enum {
    TROD_PPC_TEXT_MAX = 80
}; /* bytes that are enough for any trod_ppc_format() text and its NUL */

/*
 * Writes the disassembly of insn at address pc to buf, at most n bytes with the NUL: mnemonic, a
 * space, operands without blanks ("lwz r3,8(r1)", "beq cr7,0x00001234"). Extended mnemonics are
 * used as assemblers write them. An invalid opcode or form is ".long 0x........". Returns the
 * length of the whole text without the NUL, as snprintf does: a result >= n means it was cut. buf
 * may be NULL when n is 0. Document: PEM appendix F, AltiVec PEM chapter 6.
 */
size_t trod_ppc_format(char *buf, size_t n, const struct trod_ppc_insn *insn, uint32_t pc);

/* Banks of registers for trod_ppc_reg_name(). */
enum trod_ppc_bank { TROD_PPC_GPR, TROD_PPC_FPR, TROD_PPC_VR, TROD_PPC_CR, TROD_PPC_SPECIAL };

/*
 * The name of register n of a bank ("r3", "f1", "v20", "cr7"; for TROD_PPC_SPECIAL n is a bit
 * number of enum trod_ppc_special: "lr", "ctr", "xer.ca" ...). A static string, NULL when there is
 * no such register.
 */
const char *trod_ppc_reg_name(enum trod_ppc_bank bank, unsigned n);

/* The name of a special purpose register by its number (8: "lr"): a static string, or NULL for one
 * not known. */
const char *trod_ppc_spr_name(unsigned spr);

#ifdef __cplusplus
}
#endif

#endif
