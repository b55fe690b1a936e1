/*
 * riscv.h - what decoders of RISC-V logs share: names of registers, modes and exceptions, opcodes.
 */
#ifndef TROD_FORMAT_LINES_RISCV_H
#define TROD_FORMAT_LINES_RISCV_H

#include "format/lines/lines.h"
#include "isa/riscv.h"

/* Names of registers and modes, at offsets in the shared bytes of such a driver. */
extern const char ln_rv_names[];

enum ln_rv_class { LN_RV_X, LN_RV_F, LN_RV_V };

/* "x5", "f31": register NUMBER, below 32, of CLASS, in ln_rv_names. */
static inline struct trod_slice ln_rv_register(enum ln_rv_class class, unsigned number)
{
    return (struct trod_slice){(3 * (32 * (unsigned)class + number)) | (uint32_t)TROD_SLICE_SHARED,
                               number < 10 ? 2 : 3};
}

/*
 * The name of what an instruction runs as, in ln_rv_names: privilege MODE (0 user, 1 supervisor, 3
 * machine), VIRTUAL (guest), DEBUG mode.
 */
struct trod_slice ln_rv_mode(unsigned mode, bool virtual, bool debug);

/*
 * Bytes of the instruction that OPCODE, of so many DIGITS, is (volume I, "Expanded
 * Instruction-Length Encoding").
 */
static inline unsigned ln_rv_length(uint64_t opcode, unsigned digits)
{
    if ((opcode & 3) != 3)
        return 2;
    if ((opcode & 0x1f) != 0x1f || digits <= 8)
        return 4;
    return (opcode & 0x3f) == 0x1f ? 6 : 8;
}

/* Opcodes decoded before. */
struct ln_rv_op {
    const char *name; /* static; NULL: not in the tables */
    uint32_t opcode;
    uint32_t facts; /* enum trod_rv_facts */
    bool known;
};

enum { LN_RV_OPS = 256 };

struct ln_rv_decoded {
    struct ln_rv_op op[LN_RV_OPS]; /* by a hash of the opcode */
};

/* What OPCODE is in code of ISA, which is RISCV32 or RISCV64; valid until the next call. */
const struct ln_rv_op *ln_rv_decode(struct ln_rv_decoded *d, uint32_t opcode, enum trod_isa isa);

/* The number of the exception that the N bytes at NAME name as Spike does; false: of none. */
bool ln_rv_cause(const uint8_t *name, size_t n, uint64_t *cause);
/* The name of exception CAUSE; NULL: none that is known. */
const char *ln_rv_cause_name(uint64_t cause);

#endif
