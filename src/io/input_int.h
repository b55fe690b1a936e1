/*
 * input_int.h - the inside of an input: input.c shows its bytes, input_skip.c passes over them.
 */
#ifndef TROD_IO_INPUT_INT_H
#define TROD_IO_INPUT_INT_H

#include "trod/io.h"

#include "damage.h"
#include "fault.h"
#include "frames.h"
#include "ring.h"
#include "source.h"

struct trod_input {
    char *path;
    struct trod_diag *diag;
    struct trod_source source;
    struct trod_stage *top;
    struct trod_fault fault;
    const struct trod_filter *filters[TROD_FILTER_DEPTH];
    unsigned n_filters;
    bool direct; /* p and n are all there is to come: memory without filters */
    bool reported;

    const uint8_t *p; /* next byte */
    size_t n;         /* bytes at p in one piece */
    uint64_t offset;  /* of p in the decoded stream */

    struct trod_ring ring;
    bool ring_made;
    uint64_t block; /* number of the block the window ends in */
    size_t taken;   /* bytes of it in the window */
    bool spilled;   /* p points into the spill */
    uint8_t *spill;
    size_t spill_cap;

    struct trod_frames frames;
    bool given; /* frames are those of who goes on without them where they prove wrong */
    struct trod_point *point; /* where bytes are skipped to; NULL: nowhere */

    struct trod_damages damages; /* that the last filter has gone on behind */
    uint64_t edge;               /* damage that was told, which no span reaches across */
    bool apart;                  /* members of an archive begin with a record */
    uint64_t damage;             /* the first that was told of; TROD_NOWHERE: none */
};

#endif
