/*
 * like.h - the value change dump that tarmac-vcd of Arm's Tarmac Trace Utilities writes.
 *
 * Implements docs/waves.md, "As Arm's tools write it". Lines are gathered in groups of one time and
 * at most one instruction; a group is a point of the waves.
 */
#ifndef WAVES_LIKE_H
#define WAVES_LIKE_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/diag.h"
#include "trod/waves.h"

enum { LIKE_REGS = 32, LIKE_ACCESSES = 1000, LIKE_TEXT = 256 };

/* A function begins or goes on at a time. */
struct like_call {
    uint64_t time;
    const char *name;
};

struct like_access {
    bool write;
    uint64_t addr, data;
};

/* Registers by byte: x and r lie over each other, so do v, d and s. */
struct like_file {
    uint8_t x[LIKE_REGS][8], v[LIKE_REGS][16], psr[4]; /* x[31]: the stack pointer */
};

struct like {
    const struct trod_waves_options *opt;
    struct trod_diag *diag;
    char *text; /* the call tree, cut up into names */
    struct like_call *call;
    size_t n_calls, cap_calls, next_call;
    bool a64;            /* seen anywhere */
    unsigned ids[3 + 9]; /* numbers of the first of each group of signals: see like_header */
    struct like_file now, known, written;
    /* the group at hand */
    bool began, has_insn, was_executed, executed, had_access;
    uint64_t number, time, row_time, pc, was_pc, opcode, was_opcode;
    bool has_pc, has_opcode;
    char insn[LIKE_TEXT];
    struct like_access access[LIKE_ACCESSES];
    uint32_t n_access, record; /* the first access of the record at hand */
    struct trod_buf *out;
    uint64_t changes;
};

int like_new(struct like **out, const struct trod_waves_options *opt, struct trod_diag *diag);
void like_free(struct like *k);
void like_survey(struct like *k, const struct trod_batch *b);
int like_header(struct like *k, struct trod_buf *out);
int like_feed(struct like *k, const struct trod_batch *b, struct trod_buf *out);
int like_end(struct like *k, struct trod_buf *out);

#endif
