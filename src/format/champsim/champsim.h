/*
 * champsim.h - traces of the ChampSim simulator: the layouts of their records, and what the files
 * of the driver share.
 *
 * Implements docs/formats/champsim.md.
 */
#ifndef TROD_FORMAT_CHAMPSIM_H
#define TROD_FORMAT_CHAMPSIM_H

#include "trod/format.h"
#include "trod/insn.h"
#include "trod/loss.h"

enum {
    CHS_RECORD_MAX = 96,
    CHS_SLOTS = 4, /* the most registers or addresses of one sort */
    CHS_AT_BRANCH = 8,
    CHS_AT_TAKEN = 9,
    CHS_AT_DST = 10,
    CHS_AT_ASID = 88 /* cloudsuite */
};

/* Registers that say what a branch is. */
enum { CHS_SP = 6, CHS_FLAGS = 25, CHS_IP = 26, CHS_OTHER = 64 };

/* Where things are in a record. */
struct chs_layout {
    uint8_t record;
    uint8_t n_dst, at_src, n_stores, at_stores, at_loads; /* 4 sources, 4 loads */
};

extern const struct chs_layout chs_champsim, chs_cloudsuite;
extern const struct trod_format trod_format_champsim, trod_format_cloudsuite;

/* Columns of both formats. */
enum {
    CHS_READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_ADDR | TROD_COL_PC |
                TROD_COL_TARGET | TROD_COL_SUB | TROD_COL_DETAIL | TROD_COL_RAW
};

/* The layout of META's format, NULL: another family. */
const struct chs_layout *chs_layout_of(const struct trod_meta *meta);

/* Branch kind (enum trod_branch) of the record at P, by its registers. */
unsigned chs_branch(const struct chs_layout *l, const uint8_t *p);

/* What an instruction does, as a record has it. */
struct chs_insn {
    uint8_t branch; /* enum trod_branch */
    uint8_t n_src, n_dst;
    uint8_t src[TROD_INSN_REGS], dst[TROD_INSN_REGS];
};

struct chs_side;

/* What encoders keep beside their state; NULL: no memory. */
struct chs_side *chs_side_new(const struct trod_meta *meta);
void chs_side_free(struct chs_side *s);
/* The instruction ROW of B: by its flags, and by its opcode where that is known. */
void chs_understand(struct chs_side *s, const struct trod_batch *b, uint32_t row,
                    struct chs_insn *out);

struct chs_enc {
    const struct chs_layout *layout, *from; /* from: of the source, NULL: another family */
    const struct trod_meta *meta;
    struct trod_loss *loss;
    struct chs_side *side;
    uint32_t waits;     /* stream of the record that waits */
    bool pending, asks; /* a record waits; its direction is not known */
    bool whole;         /* others are copied between those that are encoded: all come whole */
    bool aimed;         /* the instruction that waits says where it goes on: */
    uint64_t target;
    struct trod_loss_held row; /* that instruction */
    uint32_t size;             /* of its instruction, 0: not known */
    uint64_t cut;              /* registers that had no place */
    uint8_t record[CHS_RECORD_MAX];
};

int chs_begin(struct chs_enc *enc, const struct chs_layout *layout, const struct trod_meta *meta);
int chs_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag);
int chs_finish(void *enc, struct trod_room *out, struct trod_diag *diag);
/* See copies in format.h. */
uint32_t chs_copies(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n);
int chs_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
void chs_drop(void *enc);

#endif
