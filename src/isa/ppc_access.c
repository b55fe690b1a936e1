/*
 * The quick table of PowerPC opcodes: record class and memory facts by major and minor opcode.
 *
 * Documents: the TT6 and TT6E instruction class macros of the Amber trace format (classes,
 * normative); PEM chapter 8 and AltiVec PEM chapter 6 (direction and size of each access).
 *
 * It looks at nothing but the major opcode and, for majors 19 and 31, the ten bits of the minor
 * one, as the macros do; and for major 58 at the bit that tells lwa from ld. It does not know
 * whether an opcode is a valid instruction.
 */
#include "isa/ppc.h"

/* Slots: one for each major opcode, then the minors of 19 and 31 and the two kinds of 58. */
enum { SLOT_19 = 64, SLOT_31 = SLOT_19 + 1024, SLOT_58 = SLOT_31 + 1024, SLOT_END = SLOT_58 + 2 };

#define ALONE(m)                                                                                   \
    {                                                                                              \
        (m), 0                                                                                     \
    }
#define ALONE_4(m) ALONE(m), ALONE((m) + 1), ALONE((m) + 2), ALONE((m) + 3)

const struct trod_ppc_major trod_ppc_majors[64] = {
    ALONE_4(0),  ALONE_4(4),  ALONE_4(8),      ALONE_4(12),     ALONE(16),
    ALONE(17),   ALONE(18),   {SLOT_19, 1023}, ALONE_4(20),     ALONE_4(24),
    ALONE(28),   ALONE(29),   ALONE(30),       {SLOT_31, 1023}, ALONE_4(32),
    ALONE_4(36), ALONE_4(40), ALONE_4(44),     ALONE_4(48),     ALONE_4(52),
    ALONE(56),   ALONE(57),   {SLOT_58, 1},    ALONE(59),       ALONE_4(60),
};

/* Classes in both lists; in TT6E alone; in none. */
enum {
    FLOW = TROD_PPC_FLOW | TROD_PPC_FLOW << 4,
    MEM = TROD_PPC_MEMORY | TROD_PPC_MEMORY << 4,
    EXT = TROD_PPC_MEMORY_EXTENDED | TROD_PPC_MEMORY_EXTENDED << 4,
    MEM_E = TROD_PPC_COMPUTE | TROD_PPC_MEMORY << 4
};

#define X19(minor) [SLOT_19 + (minor)]
#define X31(minor) [SLOT_31 + (minor)]
#define LOAD(n)                                                                                    \
    {                                                                                              \
        MEM, TROD_PPC_LOAD, (n), TROD_PPC_SIZE                                                     \
    }
#define STORE(n)                                                                                   \
    {                                                                                              \
        MEM, TROD_PPC_STORE, (n), TROD_PPC_SIZE                                                    \
    }
#define VLOAD(n)                                                                                   \
    {                                                                                              \
        MEM, TROD_PPC_LOAD, (n), TROD_PPC_VECTOR                                                   \
    }
#define VSTORE(n)                                                                                  \
    {                                                                                              \
        MEM, TROD_PPC_STORE, (n), TROD_PPC_VECTOR                                                  \
    }
#define JUMP                                                                                       \
    {                                                                                              \
        FLOW, TROD_PPC_NONE, 0, TROD_PPC_SIZE                                                      \
    }
#define CACHE                                                                                      \
    {                                                                                              \
        MEM_E, TROD_PPC_CACHE, 0, TROD_PPC_LINE                                                    \
    }
#define TOUCH                                                                                      \
    {                                                                                              \
        MEM_E, TROD_PPC_PREFETCH, 0, TROD_PPC_LINE                                                 \
    }

const struct trod_ppc_access trod_ppc_accesses[SLOT_END] = {
    [16] = JUMP,     /* bc */
    [17] = JUMP,     /* sc */
    [18] = JUMP,     /* b */
    X19(16) = JUMP,  /* bclr */
    X19(18) = JUMP,  /* rfid */
    X19(50) = JUMP,  /* rfi */
    X19(528) = JUMP, /* bcctr */

    [32] = LOAD(4),                                  /* lwz */
    [33] = LOAD(4),                                  /* lwzu */
    [34] = LOAD(1),                                  /* lbz */
    [35] = LOAD(1),                                  /* lbzu */
    [36] = STORE(4),                                 /* stw */
    [37] = STORE(4),                                 /* stwu */
    [38] = STORE(1),                                 /* stb */
    [39] = STORE(1),                                 /* stbu */
    [40] = LOAD(2),                                  /* lhz */
    [41] = LOAD(2),                                  /* lhzu */
    [42] = LOAD(2),                                  /* lha */
    [43] = LOAD(2),                                  /* lhau */
    [44] = STORE(2),                                 /* sth */
    [45] = STORE(2),                                 /* sthu */
    [46] = {MEM, TROD_PPC_LOAD, 0, TROD_PPC_MULTI},  /* lmw */
    [47] = {MEM, TROD_PPC_STORE, 0, TROD_PPC_MULTI}, /* stmw */
    [48] = LOAD(4),                                  /* lfs */
    [49] = LOAD(4),                                  /* lfsu */
    [50] = LOAD(8),                                  /* lfd */
    [51] = LOAD(8),                                  /* lfdu */
    [52] = STORE(4),                                 /* stfs */
    [53] = STORE(4),                                 /* stfsu */
    [54] = STORE(8),                                 /* stfd */
    [55] = STORE(8),                                 /* stfdu */
    [SLOT_58] = LOAD(8),                             /* ld, ldu */
    /* lwa, and what is no instruction */
    [SLOT_58 + 1] = {MEM, TROD_PPC_LOAD, 8, TROD_PPC_LWA},
    [62] = STORE(8), /* std, stdu */

    X31(7) = VLOAD(1),     /* lvebx */
    X31(39) = VLOAD(2),    /* lvehx */
    X31(71) = VLOAD(4),    /* lvewx */
    X31(103) = VLOAD(16),  /* lvx */
    X31(359) = VLOAD(16),  /* lvxl */
    X31(135) = VSTORE(1),  /* stvebx */
    X31(167) = VSTORE(2),  /* stvehx */
    X31(199) = VSTORE(4),  /* stvewx */
    X31(231) = VSTORE(16), /* stvx */
    X31(487) = VSTORE(16), /* stvxl */

    X31(20) = {MEM, TROD_PPC_RESERVE, 4, TROD_PPC_SIZE}, /* lwarx */
    X31(84) = {MEM, TROD_PPC_RESERVE, 8, TROD_PPC_SIZE}, /* ldarx */
    X31(150) = {MEM, TROD_PPC_COND, 4, TROD_PPC_SIZE},   /* stwcx. */
    X31(214) = {MEM, TROD_PPC_COND, 8, TROD_PPC_SIZE},   /* stdcx. */
    X31(21) = LOAD(8),                                   /* ldx */
    X31(53) = LOAD(8),                                   /* ldux */
    X31(23) = LOAD(4),                                   /* lwzx */
    X31(55) = LOAD(4),                                   /* lwzux */
    X31(87) = LOAD(1),                                   /* lbzx */
    X31(119) = LOAD(1),                                  /* lbzux */
    X31(279) = LOAD(2),                                  /* lhzx */
    X31(311) = LOAD(2),                                  /* lhzux */
    X31(310) = LOAD(4),                                  /* eciwx */
    X31(341) = LOAD(4),                                  /* lwax */
    X31(373) = LOAD(4),                                  /* lwaux */
    X31(343) = LOAD(2),                                  /* lhax */
    X31(375) = LOAD(2),                                  /* lhaux */
    X31(534) = LOAD(4),                                  /* lwbrx */
    X31(790) = LOAD(2),                                  /* lhbrx */
    X31(535) = LOAD(4),                                  /* lfsx */
    X31(567) = LOAD(4),                                  /* lfsux */
    X31(599) = LOAD(8),                                  /* lfdx */
    X31(631) = LOAD(8),                                  /* lfdux */
    X31(149) = STORE(8),                                 /* stdx */
    X31(181) = STORE(8),                                 /* stdux */
    X31(151) = STORE(4),                                 /* stwx */
    X31(183) = STORE(4),                                 /* stwux */
    X31(215) = STORE(1),                                 /* stbx */
    X31(247) = STORE(1),                                 /* stbux */
    X31(407) = STORE(2),                                 /* sthx */
    X31(439) = STORE(2),                                 /* sthux */
    X31(438) = STORE(4),                                 /* ecowx */
    X31(662) = STORE(4),                                 /* stwbrx */
    X31(918) = STORE(2),                                 /* sthbrx */
    X31(663) = STORE(4),                                 /* stfsx */
    X31(695) = STORE(4),                                 /* stfsux */
    X31(727) = STORE(8),                                 /* stfdx */
    X31(759) = STORE(8),                                 /* stfdux */
    X31(983) = STORE(4),                                 /* stfiwx */
    X31(597) = {MEM, TROD_PPC_LOAD, 0, TROD_PPC_NB},     /* lswi */
    X31(725) = {MEM, TROD_PPC_STORE, 0, TROD_PPC_NB},    /* stswi */
    X31(533) = {EXT, TROD_PPC_LOAD, 0, TROD_PPC_XER},    /* lswx */
    X31(661) = {EXT, TROD_PPC_STORE, 0, TROD_PPC_XER},   /* stswx */
    X31(277) = {0, TROD_PPC_LOAD, 0, TROD_PPC_XER},      /* lscbx (601): in neither list */

    X31(342) = {EXT, TROD_PPC_PREFETCH, 0, TROD_PPC_STREAM}, /* dst, dstt */
    X31(374) = {EXT, TROD_PPC_PREFETCH, 0, TROD_PPC_STREAM}, /* dstst, dststt */
    X31(246) = TOUCH,                                        /* dcbtst */
    X31(278) = TOUCH,                                        /* dcbt */
    X31(54) = CACHE,                                         /* dcbst */
    X31(86) = CACHE,                                         /* dcbf */
    X31(470) = CACHE,                                        /* dcbi */
    X31(758) = CACHE,                                        /* dcba */
    X31(982) = CACHE,                                        /* icbi */
    X31(1014) = CACHE,                                       /* dcbz */
};

struct trod_ppc_stream trod_ppc_stream_of(uint32_t rb)
{
    const uint32_t size = (rb >> 24) & 31, count = (rb >> 16) & 0xff, stride = rb & 0xffff;
    struct trod_ppc_stream s;

    /* AltiVec PEM chapter 5: zero stands for the largest value of each field. */
    s.size = 16 * (size ? size : 32);
    s.count = count ? count : 256;
    s.stride = stride == 0 ? 32768 : stride < 0x8000 ? (int32_t)stride : (int32_t)stride - 0x10000;
    return s;
}
