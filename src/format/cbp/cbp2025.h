/*
 * cbp2025.h - what reading and writing of cbp2025 share.
 */
#ifndef TROD_FORMAT_CBP2025_H
#define TROD_FORMAT_CBP2025_H

#include "trod/format.h"
#include "trod/insn.h"
#include "trod/loss.h"

enum {
    CBP_REGISTERS_MAX = 32, /* limit for one instruction; kernels of SVE do not reach it */
    CBP_REGISTERS = 66,
    CBP_SIMD_FIRST = 32,
    CBP_SIMD_LAST = 63,
    CBP_SP = 31,
    CBP_NZCV = 64,
    CBP_ZERO = 65,
    CBP_WORD = 4,
    CBP_WIDE = 16, /* bytes of a vector register's value */
    CBP_RECORD_MAX = 9 + 11 + 2 + 2 * CBP_REGISTERS_MAX + CBP_REGISTERS_MAX * CBP_WIDE
};

enum cbp_class {
    CBP_ALU,
    CBP_LOAD,
    CBP_STORE,
    CBP_COND,
    CBP_JUMP,
    CBP_INDIRECT,
    CBP_FP,
    CBP_SLOW_ALU,
    CBP_UNDEFINED,
    CBP_CALL,
    CBP_ICALL,
    CBP_RETURN,
    CBP_CLASSES
};

/* Branch kinds (enum trod_branch) by class, conditional ones as untaken; 0: no branch. */
extern const uint8_t cbp_branches[CBP_CLASSES];
/* Names of registers, by number. */
extern const char cbp_names[CBP_REGISTERS][4];

/* A record, taken apart. */
struct cbp_record {
    uint64_t pc, addr, target;
    uint32_t n; /* its bytes */
    uint8_t class, size, taken, sources, written;
    uint8_t writes_back, has_offset;
    const uint8_t *source;             /* registers that it reads */
    const uint8_t *registers, *values; /* those that it writes */
};

enum cbp_parse { CBP_OK, CBP_MORE, CBP_BAD };

/* The record at P, of which there are the bytes before E. */
enum cbp_parse cbp_parse(const uint8_t *p, const uint8_t *e, struct cbp_record *r);

static inline bool cbp_is_simd(uint8_t r)
{
    return r >= CBP_SIMD_FIRST && r <= CBP_SIMD_LAST;
}

/* --- encode.c --- */

struct cbp_enc {
    struct trod_loss *loss;
    const struct trod_meta *meta;
    struct trod_insn_decoder *decoder; /* of opcodes; NULL: not made so far, or NONE can be */
    bool none;
    uint32_t waits;       /* stream of the instruction that waits */
    bool own;             /* rows come from cbp2025 */
    bool pending, asks;   /* an instruction waits for its rows; its direction is not known */
    bool aimed;           /* its target is known */
    bool accessed;        /* its access has come */
    uint32_t size;        /* of its instruction */
    struct cbp_record at; /* lists are below */
    struct trod_loss_held row;
    uint8_t base; /* register that it writes back, CBP_REGISTERS: none */
    uint8_t source[CBP_REGISTERS_MAX], registers[CBP_REGISTERS_MAX];
    uint8_t values[CBP_REGISTERS_MAX * CBP_WIDE]; /* 16 bytes each */
};

int cbp_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int cbp_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
void cbp_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k);
int cbp_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag);
int cbp_finish(void *enc, struct trod_room *out, struct trod_diag *diag);
void cbp_drop(void *enc);

#endif
