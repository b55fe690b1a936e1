/*
 * tally.h - what lies in the block that is being indexed: instructions, registers, lines of memory.
 */
#ifndef NAVIGATE_TALLY_H
#define NAVIGATE_TALLY_H

#include "navigate/classes.h"
#include "navigate/memory.h"
#include "navigate/shapes.h"
#include "navigate/spread.h"

enum {
    NAV_WIDE = 1 << 16,
    NAV_LONG = 4 * NAV_LINE,
    NAV_MANY = 1 << 17,
    NAV_CODES = 16,
    NAV_ISETS = 8,
    NAV_DECODER_REGS = 512
};

/*
 * The key of accesses of more than NAV_WIDE bytes, and of more than NAV_LONG where a block has
 * NAV_MANY lines already: they may touch any line.
 */
#define NAV_ANY_LINE UINT64_MAX
/* The key of instructions without a virtual address. */
#define NAV_ANY_SITE UINT64_MAX

struct nav_tally_line {
    uint64_t key, written, read;
    uint32_t turn; /* the block that it is of; another: an empty place */
    uint32_t steps;
    uint32_t memory; /* see nav_memory_put */
};

struct nav_tally_site {
    uint64_t pc, count;
    uint64_t code[NAV_CODES / 8];
    uint32_t turn;
    uint32_t kinds;  /* of the rows that belong to it, a bit each */
    uint32_t shape;  /* it had last */
    uint32_t text_n; /* bytes of its text; NAV_NO_SHAPE: it is not kept */
    uint32_t rows;   /* that belong to it, besides itself */
    uint32_t size;   /* it said last; NAV_NO_SIZE: none */
    uint8_t n;       /* bytes of CODE */
    uint8_t iset, steps;
    uint8_t branch; /* enum trod_branch that CODE is; NONE also where nobody knows */
};

/* An instruction that rows belong to. */
struct nav_tally_owner {
    uint64_t pc;
    struct nav_tally_site *site; /* NULL: it is looked up when it is needed */
    bool known;
};

/* Rows of a kind by the number in their column SUB; which numbers there are. */
struct nav_tally_subs {
    uint32_t count[1 << 16];
    uint32_t n;
    uint16_t sub[1 << 16];
};

/* Registers of an opcode: they are the same wherever it stands. */
struct nav_tally_code {
    uint8_t n, iset; /* n 0: an empty place */
    uint8_t n_read, n_all;
    uint8_t branch;
    uint8_t code[NAV_CODES];
    uint16_t id[2 * TROD_INSN_REGS]; /* those that it reads, then those that it writes */
};

/* Instructions, registers and kinds of rows. */
struct nav_tally {
    struct nav_regs *regs;
    struct nav_names *names;
    struct trod_insn_decoder *insn;
    bool by_opcode;
    uint32_t turn;
    unsigned step; /* of the block */
    struct nav_tally_site *site;
    uint32_t n_sites, site_mask;
    struct nav_tally_owner met;    /* what rows named last */
    struct nav_tally_owner now;    /* what stream NOW_OF - 1 (0: rows without one) executed last */
    struct nav_tally_owner *owner; /* the same of the others: by stream + 1 */
    uint32_t now_of, n_owners;
    struct nav_shapes *shapes;
    uint8_t *opcode; /* by row of the batch: see struct nav_classes */
    bool modes;      /* flags of rows tell whether code is privileged */
    struct nav_spread *spread;
    struct nav_tally_code *code;              /* by hash of the opcode */
    uint64_t kinds[TROD_KINDS];               /* rows of each */
    uint64_t placed[TROD_KINDS];              /* with an address; not of accesses, instructions */
    uint64_t nowhere;                         /* instructions without a virtual address */
    unsigned flags;                           /* of the block: NAV_B_BARE, NAV_B_ASIDE */
    struct nav_tally_subs *subs[TROD_KINDS];  /* of them by number; NULL: not counted */
    uint64_t reg[2][NAV_REGS / 64];           /* written, read: a bit each */
    uint16_t id[NAV_ISETS][NAV_DECODER_REGS]; /* of the decoder's registers: number + 1 */
};

int nav_tally_init(struct nav_tally *t, struct nav_regs *regs, struct trod_insn_decoder *insn,
                   struct nav_shapes *shapes, struct nav_classes *classes,
                   struct nav_spread *spread, const struct trod_format *f);
void nav_tally_fini(struct nav_tally *t);
/* Row I of B, row ROW of the trace: registers too. Returns 0 or TROD_ERR_NOMEM. */
int nav_tally_row(struct nav_tally *t, const struct trod_batch *b, uint32_t i, uint64_t row);
/* Row I of B, which was indexed before: only which instruction its stream executed last. */
int nav_tally_follow(struct nav_tally *t, const struct trod_batch *b, uint32_t i);
/* What a block ends with: postings of it. */
struct nav_tally_out {
    struct nav_postings sites, regs, marks, shapes, classes, pieces, within;
};
/* The block ends: its postings, as those of block BLOCK; the next one begins. */
int nav_tally_end(struct nav_tally *t, uint32_t block, struct nav_tally_out *out);

/* touch.c: lines of memory, and what is left in them. */
struct nav_touch {
    bool big;
    bool valued;    /* a read in the block has a value */
    bool valueless; /* a read in the block has none */
    bool no_effect; /* an access in the block changes nothing: aborted, or of unknown size */
    uint32_t turn;
    unsigned step; /* of the block */
    struct nav_tally_line *line;
    uint32_t n_lines, line_mask;
    struct nav_tally_line *last; /* met last */
    struct nav_memory memory;
};

/* BIG: byte order of values. */
int nav_touch_init(struct nav_touch *t, bool big);
void nav_touch_fini(struct nav_touch *t);
/* The rows of B, of which the first is row ROW of its block. Returns 0 or TROD_ERR_NOMEM. */
int nav_touch_rows(struct nav_touch *t, const struct trod_batch *b, uint32_t row);
/* The block ends: its postings (what it leaves in memory: nav_memory_end); the next one begins. */
int nav_touch_end(struct nav_touch *t, uint32_t block, struct nav_postings *lines);

#endif
