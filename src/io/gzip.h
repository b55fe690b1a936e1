/*
 * gzip.h - what the two codecs of the gzip filter share.
 */
#ifndef TROD_IO_GZIP_H
#define TROD_IO_GZIP_H

#include "filter.h"
#include "points.h"

/* Inflate and deflate by ISA-L (gzip_isal.c) and by zlib (gzip_zlib.c), as members of trod_filter.
 */
int trod_isal_open(struct trod_stage *s);
int trod_isal_resume(struct trod_stage *s, const struct trod_point *point);
int trod_isal_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);
void trod_isal_close(struct trod_stage *s);
int trod_isal_enc_open(void **state, int level, struct trod_fault *fault);
int trod_isal_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink);
void trod_isal_enc_close(void *state);

int trod_zlib_open(struct trod_stage *s);
int trod_zlib_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);
void trod_zlib_close(struct trod_stage *s);
int trod_zlib_resume(struct trod_stage *s, const struct trod_point *point);
int trod_zlib_enc_open(void **state, int level, struct trod_fault *fault);
int trod_zlib_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink);
void trod_zlib_enc_close(void *state);

/* The filter with zlib alone, as it is in a build without ISA-L. Present where zlib is. */
extern const struct trod_filter trod_filter_gzip_zlib;

enum { TROD_GZIP_PIECE = 1 << 30 }; /* bytes at a time: 32-bit counters count them */

/*
 * The header of a member that says how long it is, after RFC 1952, 2.3.1.1: subfield "MZ" of MiGz,
 * four bytes at TROD_GZIP_LENGTH_AT with the bytes of the compressed data behind the header and
 * before the trailer.
 */
enum { TROD_GZIP_HEADER = 20, TROD_GZIP_LENGTH_AT = 16, TROD_GZIP_TRAILER = 8 };
extern const uint8_t trod_gzip_header[TROD_GZIP_HEADER];
/* SINK has a member of N bytes with that header: its length goes there. */
int trod_gzip_length(struct trod_sink *sink, uint64_t n);

/*
 * One call of a library that inflates: of OUT, CAP bytes large, *N are made, and *N grows. RESET:
 * another member begins. *BETWEEN: a member has ended. Returns 0 or an error.
 */
typedef int trod_inflate_fn(struct trod_stage *s, bool reset, uint8_t *out, size_t cap, size_t *n,
                            bool *between);

/* trod_filter.read by INFLATE, member by member. *BETWEEN: the stage stands between two. */
int trod_gzip_read(struct trod_stage *s, trod_inflate_fn *inflate, bool *between, uint8_t *out,
                   size_t cap, size_t *n);

#endif
