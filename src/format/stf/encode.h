/*
 * encode.h - writing STF from rows (encode.c).
 */
#ifndef TROD_FORMAT_STF_ENCODE_H
#define TROD_FORMAT_STF_ENCODE_H

#include "trod/format.h"
#include "trod/loss.h"

enum {
    STF_GROUP_MAX = 1 << 15, /* bytes before an opcode */
    STF_ROW_MAX = STF_GROUP_MAX + 256
};

/* In place of a stream: its instruction names none. */
#define NO_STREAM UINT32_MAX

struct stf_enc {
    struct trod_loss *loss;
    const struct trod_meta *meta;
    uint64_t pc; /* where a reader goes on behind the last group */
    uint64_t at, target, event_target;
    uint32_t waits;        /* stream of the instruction that waits; or NO_STREAM */
    uint32_t first;        /* the first stream that is a file of STF; or NO_STREAM */
    uint64_t tid, pid;     /* thread that the trace is on */
    uint32_t vlen;         /* bits of vector registers, as the trace says so far */
    uint32_t group_vlen;   /* and as the group needs them; 0: it has none */
    uint32_t n;            /* bytes of the group */
    uint8_t size;          /* of the opcode */
    bool own;              /* rows come from STF */
    bool single;           /* all streams come to this file */
    bool begun, on_thread; /* the header is written; a thread was named */
    bool pending;          /* an instruction waits */
    bool aimed, taken, asks,
        jumps;                 /* asks: direction not known; jumps: the opcode can go elsewhere */
    struct trod_loss_held row; /* the instruction that waits */
    bool event, event_aimed;
    uint8_t opcode[4];
    uint8_t group[STF_GROUP_MAX];
};

int stf_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int stf_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
void stf_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k);
int stf_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag);
int stf_finish(void *enc, struct trod_room *out, struct trod_diag *diag);

#endif
