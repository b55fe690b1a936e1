/*
 * pack.h - what is written, compressed in pieces by several threads.
 *
 * A piece has as many bytes as its filter says and is compressed by itself; the compressed pieces
 * stand in the file one behind the other and are one stream (frames of zstd and lz4, members of
 * gzip, streams of xz and snappy, blocks of a zip member). Where pieces end depends on the bytes
 * alone, so that the file is the same for every number of threads.
 */
#ifndef TROD_IO_PACK_H
#define TROD_IO_PACK_H

#include "filter.h"
#include "trod/io.h"

enum {
    TROD_CREW_MOST = 256, /* threads of a crew */
    TROD_PART_NAME = 64   /* bytes of a part's name with its end */
};

/* Threads that compress, for any number of outputs. Each starts when there is work for it. */
struct trod_crew;

/* THREADS of them; 0: one for each processor. Returns 0 or TROD_ERR_NOMEM. */
int trod_crew_new(struct trod_crew **out, unsigned threads);
/* Ends them. The packs that used C are gone. NULL is allowed. */
void trod_crew_free(struct trod_crew *c);

/* What one output compresses. All calls for it come from one thread. */
struct trod_pack;

/*
 * Compress by F at LEVEL, on the threads of CREW or (NULL) the caller's own, into SINK: what it is
 * given comes in the order of the pieces, on any of these threads, never on two at once. Returns 0
 * or an error, in SINK's fault.
 */
int trod_pack_new(struct trod_pack **out, const struct trod_filter *f, int level,
                  struct trod_crew *crew, struct trod_sink *sink);

/*
 * Room for MIN bytes or more; those that were written there are handed on with advance. Returns 0
 * or the error of a piece given before, which is in SINK's fault.
 */
int trod_pack_room(struct trod_pack *p, size_t min, struct trod_room *room);
void trod_pack_advance(struct trod_pack *p, size_t n);

/* What follows is in part NAME of the archive. */
int trod_pack_part(struct trod_pack *p, const char *name);

/* All that was given goes to SINK, and P has no memory until it gets more. */
int trod_pack_drain(struct trod_pack *p);
/* The same, and it is the end. */
int trod_pack_finish(struct trod_pack *p);

/* What is not in SINK yet is thrown away. NULL is allowed. */
void trod_pack_free(struct trod_pack *p);

#endif
