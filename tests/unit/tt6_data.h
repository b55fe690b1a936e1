/*
 * tt6_data.h - for the tests of the TT6 and TT6E drivers: a trace of each format and its rows,
 * worked out by hand from docs/formats/amber.md and the instruction encodings of the PowerPC
 * manuals.
 */
#ifndef TT6_DATA_H
#define TT6_DATA_H

#include "trod/trod.h"

#include "format/amber/amber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    INSTR = TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE | TROD_COL_RAW | TROD_COL_SIZE,
    FLOW = INSTR | TROD_COL_TARGET,
    ACCESS = TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE | TROD_COL_DETAIL,
    ESCAPE = TROD_COL_PC | TROD_COL_SUB | TROD_COL_RAW,
    SYNC = ESCAPE | TROD_COL_ADDR | TROD_COL_VALUE,
    ALWAYS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM
};

struct expect {
    uint8_t kind;
    uint32_t has; /* without ALWAYS */
    uint32_t flags, size;
    uint32_t addr, pc, extra; /* extra: target of a FLOW, sub of an escape */
    uint64_t value;           /* of an escape; paddr where there is one */
    uint32_t words;           /* of raw, detail or data */
};

#define CONT TROD_F_CONT

/* Words that both formats read alike. */
static const uint32_t common[] = {
    0x00001000,                            /* INITIAL_PC */
    0x00050001, 0x00abc000,                /* real address of the next instruction */
    0x00040001, 0x00def010,                /* real address of its data */
    0x80610008, 0x20000008,                /* 1000 lwz r3,8(r1) */
    0x38630001,                            /* 1004 addi r3,r3,1 */
    0x00030001, 0x00abd000,                /* real address of the branch target */
    0x48000011, 0x00001018,                /* 1008 bl 1018 */
    0x00200002, 0x0000bee0, 0x00000001,    /* SYNC_SIGNAL bee0, count 1 */
    0x7c0004ac,                            /* 1018 sync */
    0xbbc10008, 0x20000010,                /* 101c lmw r30,8(r1) */
    0x7c632c2a, 0x30000001, 0x2000000d,    /* 1020 lswx r3,r3,r5: 13 bytes */
    0x7c0020ce, 0x40000017,                /* 1024 lvx v0,0,r4 */
    0x7c0422ac, 0x50000000, 0x02030040,    /* 1028 dst r4,r4,0: blocks of 32 bytes */
    0x7c202028, 0x60000000,                /* 102c lwarx r1,0,r4 */
    0x7c20212d, 0x60000000,                /* 1030 stwcx. r1,0,r4 */
    0x40820010, 0x00001038,                /* 1034 bne 1044, not taken */
    0x4082000c, 0x00001044,                /* 1038 bne 1044, taken */
    0x7c65e4aa, 0x20000031,                /* 1044 lswi r3,r5,28 */
    0x7c6505aa, 0x20000051,                /* 1048 stswi r3,r5,0: 32 bytes */
    0x4e800020, 0x00002000,                /* 104c blr */
    0x44000002, 0x00002004,                /* 2000 sc */
    0x03ff0000,                            /* unknown, without words */
    0x00020001, 0x24000044,                /* condition register */
    0x00070003, 1,          2,          3, /* unknown, three words */
    0x00060002, 0x11223344, 0x55667788,    /* unknown, two words */
    0x00310002, 0x0000bee0, 0x00000002,    /* SYNC_TRY_WAIT */
    0x00300003, 1,          2,          3, /* a wait of three words is not one of ours */
    0xe8610008, 0x00000100,                /* 2004 ld r3,8(r1) */
    0xe861000a, 0x00000108,                /* 2008 lwa r3,8(r1) */
    0x4e800421, 0x00003000,                /* 200c bctrl */
    0x4c000064, 0xfffffffc,                /* 3000 rfi */
    0x60000000,                            /* fffffffc nop: the address wraps around */
    0x429f0005, 0x00000004,                /* 0 bcl 20,31,4 */
    0x00010001, 0x70000010,                /* data address for the next instruction */
};

static const struct expect common_rows[] = {
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE, 0, 0, 0, 0x1000, 0x400, 0x1000, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1000, 5, 0xabc000, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1000, 4, 0xdef010, 2},
    {TROD_INSTR, INSTR | TROD_COL_PADDR, 0, 4, 0x1000, 0x1000, 0, 0xabc000, 2},
    {TROD_READ, ACCESS | TROD_COL_PADDR, CONT, 4, 0x20000008, 0x1000, 0, 0xdef010, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1004, 0x1004, 0, 0, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x1008, 3, 0xabd000, 2},
    {TROD_INSTR, FLOW | TROD_COL_DETAIL, TROD_BR_CALL, 4, 0x1008, 0x1008, 0x1018, 0, 2},
    {TROD_SYNC, SYNC, 0, 0, 0xbee0, 0x1018, 0x20, 1, 3},
    {TROD_INSTR, INSTR, 0, 4, 0x1018, 0x1018, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x101c, 0x101c, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 8, 0x20000010, 0x101c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1020, 0x1020, 0, 0, 3},
    {TROD_READ, ACCESS, CONT, 13, 0x30000001, 0x1020, 0, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x1024, 0x1024, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 16, 0x40000010, 0x1024, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1028, 0x1028, 0, 0, 3},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x50000000, 0x1028, 0, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x102c, 0x102c, 0, 0, 2},
    {TROD_READ, ACCESS, CONT | TROD_F_EXCLUSIVE, 4, 0x60000000, 0x102c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1030, 0x1030, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT | TROD_F_EXCLUSIVE, 4, 0x60000000, 0x1030, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_COND_UNTAKEN, 4, 0x1034, 0x1034, 0x1038, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_COND_TAKEN, 4, 0x1038, 0x1038, 0x1044, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x1044, 0x1044, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 28, 0x20000031, 0x1044, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1048, 0x1048, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT, 32, 0x20000051, 0x1048, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_RETURN, 4, 0x104c, 0x104c, 0x2000, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_SYSCALL, 4, 0x2000, 0x2000, 0x2004, 0, 2},
    {TROD_MARKER, ESCAPE, 0, 0, 0, 0x2004, 0x3ff, 0, 1},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x2004, 2, 0x24000044, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_DATA, 0, 0, 0, 0x2004, 7, 0, 4},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 0x2004, 6, 0x1122334455667788,
     3},
    {TROD_SYNC, SYNC, 0, 0, 0xbee0, 0x2004, 0x31, 2, 3},
    {TROD_MARKER, ESCAPE | TROD_COL_DATA, 0, 0, 0, 0x2004, 0x30, 0, 4},
    {TROD_INSTR, INSTR, 0, 4, 0x2004, 0x2004, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 8, 0x100, 0x2004, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x2008, 0x2008, 0, 0, 2},
    {TROD_READ, ACCESS, CONT, 4, 0x108, 0x2008, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_ICALL, 4, 0x200c, 0x200c, 0x3000, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET, 4, 0x3000, 0x3000, 0xfffffffc, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0xfffffffc, 0xfffffffc, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_CALL, 4, 0, 0, 4, 0, 2},
    {TROD_MARKER, ESCAPE | TROD_COL_VALUE | TROD_COL_DATA, 0, 0, 0, 4, 1, 0x70000010, 2},
};

/* Cache operations without addresses; the escape before gives the first one its own. */
static const uint32_t tail6[] = {
    0x7c0027ec,             /* 4 dcbz 0,r4 */
    0x7c0020ac,             /* 8 dcbf 0,r4 */
    0x48000008, 0x00000014, /* c b 14 */
    0x0fe00000,             /* 14 twi 31,r0,0 */
};
static const struct expect tail6_rows[] = {
    {TROD_INSTR, INSTR, 0, 4, 4, 4, 0, 0, 1},
    {TROD_WRITE, ACCESS & ~TROD_COL_DETAIL, CONT, 32, 0x70000000, 4, 0, 0, 0},
    {TROD_INSTR, INSTR, 0, 4, 8, 8, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0xc, 0xc, 0x14, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x14, 0x14, 0, 0, 1},
};

/* Behind the twi of tail6: in TT6 a program's own. */
static const uint32_t trap6[] = {0x48000702, 0x00000700, 0x4c000064, 0x00000018};
static const struct expect trap6_rows[] = {
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0x18, 0x18, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET, 4, 0x700, 0x700, 0x18, 0, 2},
};

/* With addresses; both forms of the synthetic branch; a twi that is followed by something else. */
static const uint32_t tail6e[] = {
    0x7c0027ec, 0x00000047,                         /* 4 dcbz 0,r4 */
    0x7c0020ac, 0x00000047,                         /* 8 dcbf 0,r4 */
    0x7c00206c, 0x00000047,                         /* c dcbst 0,r4 */
    0x7c0023ac, 0x00000047,                         /* 10 dcbi 0,r4 */
    0x7c0025ec, 0x00000047,                         /* 14 dcba 0,r4 */
    0x7c00222c, 0x00000047,                         /* 18 dcbt 0,r4 */
    0x7c0021ec, 0x00000047,                         /* 1c dcbtst 0,r4 */
    0x7c0027ac, 0x00000047,                         /* 20 icbi 0,r4 */
    0x0fe00000,                                     /* 24 twi 31,r0,0 */
    0x48000702, 0x00000700, 0x4c000064, 0x00000028, /* synthetic */
    0x0fe00000,                                     /* 28 twi */
    0x48000700, 0x00000700, 0x4c000064, 0x0000002c, /* synthetic */
    0x0fe00000,                                     /* 2c twi */
    0x48000702, 0x00000700,                         /* 30 ba 700: of the program */
    0x60000000,                                     /* 700 nop */
};
static const struct expect tail6e_rows[] = {
    {TROD_INSTR, INSTR, 0, 4, 4, 4, 0, 0, 2},
    {TROD_WRITE, ACCESS, CONT, 32, 0x40, 4, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 8, 8, 0, 0, 2},
    {TROD_FLUSH, ACCESS, CONT, 32, 0x40, 8, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0xc, 0xc, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0xc, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x10, 0x10, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0x10, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x14, 0x14, 0, 0, 2},
    {TROD_CACHE_OP, ACCESS | TROD_COL_TEXT, CONT, 32, 0x40, 0x14, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x18, 0x18, 0, 0, 2},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x40, 0x18, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x1c, 0x1c, 0, 0, 2},
    {TROD_PREFETCH, ACCESS, CONT, 32, 0x40, 0x1c, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x20, 0x20, 0, 0, 2},
    {TROD_FLUSH, ACCESS, CONT | TROD_F_IFETCH, 32, 0x40, 0x20, 0, 0, 1},
    {TROD_INSTR, INSTR, 0, 4, 0x24, 0x24, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT | TROD_F_SYNTHETIC, 4, 0x28, 0x28, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET | TROD_F_SYNTHETIC, 4, 0x700, 0x700, 0x28, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x28, 0x28, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT | TROD_F_SYNTHETIC, 4, 0x2c, 0x2c, 0x700, 0, 2},
    {TROD_INSTR, FLOW, TROD_BR_ERET | TROD_F_SYNTHETIC, 4, 0x700, 0x700, 0x2c, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x2c, 0x2c, 0, 0, 1},
    {TROD_INSTR, FLOW, TROD_BR_DIRECT, 4, 0x30, 0x30, 0x700, 0, 2},
    {TROD_INSTR, INSTR, 0, 4, 0x700, 0x700, 0, 0, 1},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct trace {
    uint8_t p[2048];
    size_t n;
    struct expect rows[128];
    size_t n_rows;
};

static inline void add_words(struct trace *t, const uint32_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 24; k >= 0; k -= 8)
            t->p[t->n++] = (uint8_t)(w[i] >> k);
}

static inline void make(struct trace *t, bool extended)
{
    memset(t, 0, sizeof *t);
    add_words(t, common, COUNT(common));
    memcpy(t->rows, common_rows, sizeof common_rows);
    t->n_rows = COUNT(common_rows);
    if (extended) {
        add_words(t, tail6e, COUNT(tail6e));
        memcpy(t->rows + t->n_rows, tail6e_rows, sizeof tail6e_rows);
        t->n_rows += COUNT(tail6e_rows);
    } else {
        add_words(t, tail6, COUNT(tail6));
        memcpy(t->rows + t->n_rows, tail6_rows, sizeof tail6_rows);
        t->n_rows += COUNT(tail6_rows);
        add_words(t, trap6, COUNT(trap6));
        memcpy(t->rows + t->n_rows, trap6_rows, sizeof trap6_rows);
        t->n_rows += COUNT(trap6_rows);
    }
}

#endif
