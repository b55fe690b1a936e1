/*
 * blocks.h - the blocks that a QEMU log shows when they are translated, to be repeated when they
 * are executed.
 *
 * State without a bound, beside the decoder's plain state; copies of a decoder share it. Opcode
 * bytes and texts lie in an append-only pool that batches call `shared`. A block that is translated
 * again and is the same as before takes no room.
 */
#ifndef TROD_FORMAT_QEMU_BLOCKS_H
#define TROD_FORMAT_QEMU_BLOCKS_H

#include "trod/batch.h"
#include "trod/buf.h"

enum {
    QL_CODE_MAX = 16,
    QL_BLOCK_MAX = 512
}; /* bytes of an instruction, instructions of a block */

struct ql_insn {
    uint64_t pc;
    uint32_t code, text; /* offsets in the pool */
    uint16_t text_n;
    uint8_t code_n, iset; /* iset: enum trod_iset */
};

struct ql_block {
    uint64_t pc;
    uint32_t first, n; /* of its instructions */
    bool fresh;        /* translated and not executed yet */
};

struct ql_map {
    struct {
        uint64_t key;
        uint32_t value; /* 0: an empty place */
        bool logged;    /* it is in the log of ql_save */
    } * slot;
    uint32_t mask, n;
};

struct ql_blocks {
    uint8_t *pool;
    size_t pool_n, pool_cap;
    struct ql_insn *insn;
    size_t n_insns, cap_insns;
    struct ql_block *block;
    size_t n_blocks, cap_blocks;
    struct ql_map by_pc, by_host; /* block number + 1 */
    size_t open_insns, open_pool; /* where the block that is being read begins */
    size_t logged;                /* blocks that are in the log of ql_save */
    bool open;
};

/* Returns 0 or TROD_ERR_NOMEM. */
int ql_blocks_new(struct ql_blocks **out);
void ql_blocks_free(struct ql_blocks *s);

/* A block begins; what was read of one that has not ended is its end. 0 or as ql_end. */
int ql_begin(struct ql_blocks *s);
/* An instruction of it. */
struct ql_code {
    uint64_t pc;
    uint8_t code[QL_CODE_MAX]; /* memory order */
    unsigned code_n;           /* 0: not shown */
    unsigned iset;
    const uint8_t *text, *text_end; /* equal: none */
};
/*
 * Its next instruction. Returns 0, TROD_ERR_NOMEM, or TROD_ERR_LIMIT: the block has QL_BLOCK_MAX,
 * or the pool has 512 MiB.
 */
int ql_add(struct ql_blocks *s, const struct ql_code *c);
/* More bytes of the last instruction. False: there is none, or they are not behind it. */
bool ql_more(struct ql_blocks *s, const struct ql_code *c);
/* The block has ended. Returns 0 or TROD_ERR_NOMEM. Nothing where there is none. */
int ql_end(struct ql_blocks *s);

/*
 * The block at PC whose host code at HOST is executed: the one translated last if it has not been
 * executed yet, else the one executed there before, else the last one at PC. NULL: none.
 */
const struct ql_block *ql_find(struct ql_blocks *s, uint64_t pc, uint64_t host);
/* It is executed there. Returns 0 or TROD_ERR_NOMEM. */
int ql_bind(struct ql_blocks *s, const struct ql_block *block, uint64_t host);

/*
 * Append to LOG what is new since the last call, and to STATE what changes: blocks that were not
 * executed yet, and the one that is being read. Returns 0 or TROD_ERR_NOMEM.
 */
int ql_save(struct ql_blocks *s, struct trod_buf *state, struct trod_buf *log);
/* Back, into blocks of which there are none. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int ql_load(struct ql_blocks *s, struct trod_span *state, struct trod_span *log);

#endif
