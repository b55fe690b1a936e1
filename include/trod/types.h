/*
 * types.h - the small types everything is made of: error codes, byte spans, slices.
 *
 * Implements docs/design.md, "Errors" and "The central types".
 */
#ifndef TROD_TYPES_H
#define TROD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a function returns: 0 (or a documented positive value) is success, everything else one of
 * these. End of input, truncation, corruption and loss are four different things (design, rule 5):
 * the end of the input is never an error and has no code here.
 */
enum trod_status {
    TROD_OK = 0,
    TROD_ERR_NOMEM = -1,       /* out of memory */
    TROD_ERR_IO = -2,          /* the operating system refused to read or write */
    TROD_ERR_USAGE = -3,       /* the caller or the command line asks for what cannot be */
    TROD_ERR_UNKNOWN = -4,     /* no format recognises the data */
    TROD_ERR_AMBIGUOUS = -5,   /* several formats do; the caller must say which */
    TROD_ERR_TRUNCATED = -6,   /* the input ends inside a record, a member or a stream */
    TROD_ERR_CORRUPT = -7,     /* the input contradicts its format or its checksum */
    TROD_ERR_LOSS = -8,        /* the target cannot hold what the source says */
    TROD_ERR_LIMIT = -9,       /* a limit that protects the machine was reached */
    TROD_ERR_UNSUPPORTED = -10 /* known, but not in this build or not for this format */
};

/* The name of a status as users see it: "truncated", "corrupt", ... Static text, never NULL. */
const char *trod_status_name(int status);

/* A stretch of input: n bytes at p, which lie at OFFSET of the decoded stream. */
struct trod_span {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
    bool last; /* nothing follows these bytes */
};

/*
 * A piece of a batch's bytes (see trod_batch_bytes). Offsets with TROD_SLICE_POOL set point into
 * batch->pool, those with TROD_SLICE_SHARED into batch->shared, all others into batch->bytes.
 * Length 0 means absent. In one run a shared offset names the same bytes until a row with
 * TROD_F_NEWCODE says otherwise: what is decoded from them may be kept by offset.
 */
struct trod_slice {
    uint32_t off, len;
};

enum { TROD_SLICE_POOL = (int)0x40000000, TROD_SLICE_SHARED = (int)0x20000000 };

/*
 * Room for output: an encoder writes at p, advances p and never goes past end. When a row does not
 * fit it returns TROD_ENC_FULL and leaves p where the row would have begun.
 */
struct trod_room {
    uint8_t *p, *end;
};

#ifdef __cplusplus
}
#endif

#endif
