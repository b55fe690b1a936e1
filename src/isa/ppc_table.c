/*
 * The PowerPC opcode and operand tables, and the way from an opcode to its row.
 *
 * Documents: as ppc_ops.def and ppc_altivec.def, which this file turns into tables at compile time;
 * the operand fields are those of PEM 8.1 and AltiVec PEM 6.1. It does not look at operands: see
 * ppc_decode.c.
 */
#include "ppc_int.h"

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define FORM_I   TROD_PPC_FORM_I
#define FORM_B   TROD_PPC_FORM_B
#define FORM_SC  TROD_PPC_FORM_SC
#define FORM_D   TROD_PPC_FORM_D
#define FORM_DS  TROD_PPC_FORM_DS
#define FORM_X   TROD_PPC_FORM_X
#define FORM_XL  TROD_PPC_FORM_XL
#define FORM_XFX TROD_PPC_FORM_XFX
#define FORM_XFL TROD_PPC_FORM_XFL
#define FORM_XS  TROD_PPC_FORM_XS
#define FORM_XO  TROD_PPC_FORM_XO
#define FORM_XN  TROD_PPC_FORM_XO /* an XO form without OE */
#define FORM_A   TROD_PPC_FORM_A
#define FORM_M   TROD_PPC_FORM_M
#define FORM_MD  TROD_PPC_FORM_MD
#define FORM_MDS TROD_PPC_FORM_MDS
#define FORM_VA  TROD_PPC_FORM_VA
#define FORM_VX  TROD_PPC_FORM_VX
#define FORM_VXR TROD_PPC_FORM_VXR

const struct ppc_op trod_ppc_ops[OP_COUNT] = {
    [OP_NONE] = {"invalid", TROD_PPC_FORM_NONE, TROD_PPC_GROUP_NONE, 0, {NO}, 0, 0},
#define R(id, major, minor, form, group, name, args, fx)                                           \
    [OP_##id] = {name, FORM_##form, TROD_PPC_GROUP_##group, major, ARGS args, minor, fx},
#include "ppc_altivec.def"
#include "ppc_ops.def"
#undef R
};

const struct ppc_operand trod_ppc_operands[PPC_ARGS] = {
    [RT] = {0x03e00000, 21, 5},   [RS] = {0x03e00000, 21, 5},   [RA] = {0x001f0000, 16, 5},
    [RA0] = {0x001f0000, 16, 5},  [RAW] = {0x001f0000, 16, 5},  [RAX] = {0x001f0000, 16, 5},
    [RB] = {0x0000f800, 11, 5},   [FT] = {0x03e00000, 21, 5},   [FS] = {0x03e00000, 21, 5},
    [FA] = {0x001f0000, 16, 5},   [FB] = {0x0000f800, 11, 5},   [FC] = {0x000007c0, 6, 5},
    [VD] = {0x03e00000, 21, 5},   [VS] = {0x03e00000, 21, 5},   [VA] = {0x001f0000, 16, 5},
    [VB] = {0x0000f800, 11, 5},   [VC] = {0x000007c0, 6, 5},    [SI] = {0x0000ffff, 0, 16},
    [UI] = {0x0000ffff, 0, 16},   [DRA] = {0x001fffff, 16, 5},  [DSA] = {0x001ffffc, 16, 5},
    [BF] = {0x03800000, 23, 3},   [OBF] = {0x03800000, 23, 3},  [BFA] = {0x001c0000, 18, 3},
    [BT] = {0x03e00000, 21, 5},   [BA] = {0x001f0000, 16, 5},   [BB] = {0x0000f800, 11, 5},
    [BO] = {0x03e00000, 21, 5},   [BI] = {0x001f0000, 16, 5},   [BH] = {0x00001800, 11, 2},
    [BD] = {0x0000ffff, 0, 16},   [LI] = {0x03ffffff, 0, 26},   [LK] = {0x00000001, 0, 1},
    [LEV] = {0x00000fe0, 5, 7},   [CMPL] = {0x00200000, 21, 1}, [TO] = {0x03e00000, 21, 5},
    [SH] = {0x0000f800, 11, 5},   [SH6] = {0x0000f802, 11, 5},  [MB] = {0x000007c0, 6, 5},
    [ME] = {0x0000003e, 1, 5},    [MB6] = {0x000007e0, 5, 6},   [NB] = {0x0000f800, 11, 5},
    [SPR] = {0x001ff800, 11, 10}, [TBR] = {0x001ff800, 11, 10}, [FXM] = {0x001ff000, 12, 8},
    [FXMR] = {0x001ff000, 12, 8}, [SRN] = {0x000f0000, 16, 4},  [FLM] = {0x01fe0000, 17, 8},
    [FPF] = {0x03800000, 23, 3},  [FPG] = {0x001c0000, 18, 3},  [FPB] = {0x03e00000, 21, 5},
    [FPU] = {0x0000f000, 12, 4},  [UIM] = {0x001f0000, 16, 5},  [SIM] = {0x001f0000, 16, 5},
    [SHB] = {0x000003c0, 6, 4},   [STRM] = {0x00600000, 21, 2}, [TBIT] = {0x02000000, 25, 1},
    [SYL] = {0x00600000, 21, 2},  [ML] = {0x00010000, 16, 1},   [TL] = {0x00200000, 21, 1},
    [IMA] = {0x001f0000, 16, 5},  [TH] = {0x03e00000, 21, 5},   [UIM4] = {0x000f0000, 16, 4},
    [UIM3] = {0x00070000, 16, 3}, [UIM2] = {0x00030000, 16, 2},
};

/*
 * Slots of the index: one for each major opcode without minors, then the minors. AltiVec's and
 * floating point's short minors (VA, A) have bit 26 set where the long ones (VX, X) do not.
 */
enum {
    S_4 = 64,
    S_4A = S_4 + 2048,
    S_19 = S_4A + 64,
    S_30 = S_19 + 1024,
    S_31 = S_30 + 16,
    S_58 = S_31 + 1024,
    S_59 = S_58 + 4,
    S_62 = S_59 + 32,
    S_63 = S_62 + 4,
    S_63A = S_63 + 1024,
    S_END = S_63A + 32
};

#define PUT_MAJOR(major, id)      [major] = OP_##id
#define PUT_I(major, minor, id)   PUT_MAJOR(major, id),
#define PUT_B(major, minor, id)   PUT_MAJOR(major, id),
#define PUT_SC(major, minor, id)  PUT_MAJOR(major, id),
#define PUT_D(major, minor, id)   PUT_MAJOR(major, id),
#define PUT_M(major, minor, id)   PUT_MAJOR(major, id),
#define PUT_ONE(major, minor, id) [S_##major + (minor)] = OP_##id,
#define PUT_TWO(major, minor, step, id)                                                            \
    PUT_ONE(major, minor, id) PUT_ONE(major, (minor) + (step), id)
#define PUT_X(major, minor, id)   PUT_ONE(major, minor, id)
#define PUT_XL(major, minor, id)  PUT_ONE(major, minor, id)
#define PUT_XFX(major, minor, id) PUT_ONE(major, minor, id)
#define PUT_XFL(major, minor, id) PUT_ONE(major, minor, id)
#define PUT_XN(major, minor, id)  PUT_ONE(major, minor, id)
#define PUT_DS(major, minor, id)  PUT_ONE(major, minor, id)
#define PUT_MDS(major, minor, id) PUT_ONE(major, minor, id)
#define PUT_VX(major, minor, id)  PUT_ONE(major, minor, id)
#define PUT_XS(major, minor, id)  PUT_TWO(major, 2 * (minor), 1, id)
#define PUT_MD(major, minor, id)  PUT_TWO(major, 2 * (minor), 1, id)
#define PUT_XO(major, minor, id)  PUT_TWO(major, minor, 512, id)
#define PUT_VXR(major, minor, id) PUT_TWO(major, minor, 1024, id)
#define PUT_VA(major, minor, id)  [S_4A + (minor)] = OP_##id,
#define PUT_A(major, minor, id)   PUT_A_##major(minor, id)
#define PUT_A_59(minor, id)       PUT_ONE(59, minor, id)
#define PUT_A_63(minor, id)       [S_63A + (minor)] = OP_##id,

static const uint16_t slots[S_END] = {
#define R(id, major, minor, form, group, name, args, fx) PUT_##form(major, minor, id)
#include "ppc_altivec.def"
#include "ppc_ops.def"
#undef R
};

unsigned trod_ppc_lookup(uint32_t opcode)
{
    const unsigned minor = (opcode >> 1) & 1023;

    switch (opcode >> 26) {
    case 4:
        return opcode & 32 ? slots[S_4A + (opcode & 63)] : slots[S_4 + (opcode & 2047)];
    case 19:
        return slots[S_19 + minor];
    case 30:
        return slots[S_30 + (minor & 15)];
    case 31:
        return slots[S_31 + minor];
    case 58:
        return slots[S_58 + (opcode & 3)];
    case 59:
        return slots[S_59 + (minor & 31)];
    case 62:
        return slots[S_62 + (opcode & 3)];
    case 63:
        return opcode & 32 ? slots[S_63A + (minor & 31)] : slots[S_63 + minor];
    default:
        return slots[opcode >> 26];
    }
}

/* The bits that each form's minor opcode takes. */
static const uint32_t form_bits[] = {
    [TROD_PPC_FORM_SC] = 0x00000002,  [TROD_PPC_FORM_DS] = 0x00000003,
    [TROD_PPC_FORM_X] = 0x000007fe,   [TROD_PPC_FORM_XL] = 0x000007fe,
    [TROD_PPC_FORM_XFX] = 0x000007fe, [TROD_PPC_FORM_XFL] = 0x000007fe,
    [TROD_PPC_FORM_XS] = 0x000007fc,  [TROD_PPC_FORM_XO] = 0x000003fe,
    [TROD_PPC_FORM_A] = 0x0000003e,   [TROD_PPC_FORM_MD] = 0x0000001c,
    [TROD_PPC_FORM_MDS] = 0x0000001e, [TROD_PPC_FORM_VA] = 0x0000003f,
    [TROD_PPC_FORM_VX] = 0x000007ff,  [TROD_PPC_FORM_VXR] = 0x000003ff,
};

uint32_t trod_ppc_reserved_bits(const struct ppc_op *op)
{
    uint32_t used = 0xfc000000u | form_bits[op->form];

    for (unsigned i = 0; i < 5; i++)
        used |= trod_ppc_operands[op->args[i]].bits;
    if (op->fx & (F_RC | F_RCF | F_RC1))
        used |= 1;
    if (op->fx & (F_OE | F_RCV))
        used |= 0x400;
    return ~used;
}
