/*
 * packet.h - packet traces of gem5: what reading and writing share.
 *
 * Implements docs/formats/gem5packet.md.
 */
#ifndef TROD_FORMAT_GEM5PACKET_H
#define TROD_FORMAT_GEM5PACKET_H

#include "format/streams.h"
#include "trod/format.h"
#include "trod/loss.h"

enum {
    GP_MESSAGE_MAX = 1 << 16, /* bytes of a message; a packet has some 40 */
    GP_READ_REQ = 1,
    GP_WRITE_REQ = 4,
    GP_FETCH = 0x100,
    GP_UNCACHED = 0x400,
    GP_LOCKED = 0x100000,
    GP_LLSC = 0x200000,
    GP_READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
               TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB | TROD_COL_RAW
};

/* Fields of the messages. */
enum gp_header { GP_OBJECT = 1, GP_VERSION, GP_TICK_FREQ, GP_ID_STRINGS };
enum gp_field { GP_TICK = 1, GP_CMD, GP_ADDR, GP_SIZE, GP_FLAGS, GP_PKT_ID, GP_PC, GP_FIELDS };

#define GP_MAGIC       "gem5"
#define GP_KEPT_HEADER "gem5 packet header" /* of trod_meta_keep */

extern const struct trod_format trod_format_gem5packet;

/* The varint at *P, which is advanced; false: it does not end before E, or has more than 64 bits.
 */
static inline bool gp_varint(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    const uint8_t *q = *p;

    *v = 0;
    for (unsigned shift = 0; q < e && shift < 64; shift += 7, q++) {
        *v |= (uint64_t)(*q & 0x7f) << shift;
        if (!(*q & 0x80)) {
            *p = q + 1;
            return true;
        }
    }
    return false;
}

struct gp_enc {
    const struct trod_meta *meta;
    struct trod_loss *loss;
    uint64_t tick;
    struct fmt_last_pc last;
    bool own, begun;
};

int gp_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int gp_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
              struct trod_diag *diag);
int gp_finish(void *enc, struct trod_room *out, struct trod_diag *diag);
int gp_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
void gp_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k);
void gp_drop(void *enc);

#endif
