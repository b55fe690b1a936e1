/*
 * frames.h - a compressed file of several frames or members that say how long they are: where each
 * begins, so that decoding can begin there too.
 */
#ifndef TROD_IO_FRAMES_H
#define TROD_IO_FRAMES_H

#include "filter.h"
#include "source.h"

enum { TROD_FRAME_APART = 1 << 16 }; /* decoded bytes from one place that is kept to the next */

struct trod_io_frame {
    uint64_t packed, decoded; /* where it begins, in the file and in what is decoded */
};

struct trod_frames {
    struct trod_io_frame *at; /* some of them, ascending; the first begins at 0 and 0 */
    size_t n, cap;
    uint64_t size; /* decoded bytes of all; TROD_NOWHERE: unknown */
    bool looked;
    bool guessed; /* found without their lengths: who decodes sees whether it is true */
};

/*
 * Find the frames of S, a regular file of FILTER. F stays empty where they do not say their
 * lengths and cannot be found otherwise, or do not fill the file: decoding will say what is wrong.
 */
void trod_frames_find(struct trod_frames *f, struct trod_source *s,
                      const struct trod_filter *filter);
/* The last that does not begin behind decoded byte OFFSET. F has some. */
const struct trod_io_frame *trod_frames_before(const struct trod_frames *f, uint64_t offset);
/* Has F no frame at byte PACKED of the file, or one that begins at DECODED? */
bool trod_frames_agree(const struct trod_frames *f, uint64_t packed, uint64_t decoded);
/* Decoded byte that the first frame behind byte DECODED begins at; TROD_NOWHERE: there is none. */
uint64_t trod_frames_behind(const struct trod_frames *f, uint64_t decoded);
/* A frame behind those that F has. False: there is no memory. */
bool trod_frames_add(struct trod_frames *f, uint64_t packed, uint64_t decoded);
bool trod_frames_copy(struct trod_frames *to, const struct trod_frames *from);
void trod_frames_fini(struct trod_frames *f);

/* What IN, which is open, found out of its file; empty where it did not look. */
struct trod_input;
const struct trod_frames *trod_input_frames(const struct trod_input *in);
/*
 * Can what is decoded of IN, a compressed file, be reached from its beginning alone? It has one
 * frame or block, and its filter goes on at no points (points.h).
 */
bool trod_input_whole(struct trod_input *in);
/* As trod_input_decoded, also where frames are guessed. */
uint64_t trod_input_packed_size(struct trod_input *in);
/* Members of IN, if it is an archive, begin with a record: no span reaches across damage of one. */
void trod_input_apart(struct trod_input *in);
/* The same frames, found before: IN need not look. Nothing happens where there is no memory. */
void trod_input_use_frames(struct trod_input *in, const struct trod_frames *frames);

#endif
