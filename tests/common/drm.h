/*
 * drm.h - traces in DynamoRIO's format made by hand and at random, and an oracle of what a reader
 * must see in them.
 *
 * Written from the format's description alone: nothing of the driver is used. The traces cover what
 * no public sample has (docs/formats/drmemtrace.md, "What is tested how").
 */
#ifndef TROD_TEST_DRM_H
#define TROD_TEST_DRM_H

#include "gen.h"
#include "testlib.h"

struct drm_raw {
    uint16_t type, size;
    uint64_t addr;
};

/* A trace of the catalogue. */
struct drm_sample {
    const char *name; /* of its golden file */
    unsigned width;   /* 12 or 8 */
    const struct drm_raw *entry;
    size_t n;
    unsigned errors; /* problems a reader must report; 0: it is sound */
};

/* Sample I, NULL past the last. */
const struct drm_sample *drm_sample(size_t i);

/* Append an entry, all entries of a sample. */
void drm_put(struct trod_buf *b, unsigned width, unsigned type, unsigned size, uint64_t addr);
void drm_put_sample(struct trod_buf *b, const struct drm_sample *s);

/* How a random trace is to be. */
struct drm_random {
    unsigned width, version;
    uint64_t filetype;
    uint64_t chunk;     /* instructions a chunk, 0: none; chunks end as in zip files */
    unsigned threads;   /* above 1: THREAD entries in mid-stream, as in old or core-sharded files */
    bool bundles, wild; /* wild: hidden and unknown entries anywhere */
};

/*
 * A trace of about N entries. *ENDS (may be NULL) are the offsets at which its chunks end, *N_ENDS
 * of them, to be released with free().
 */
void drm_random(struct trod_gen *g, const struct drm_random *how, size_t n, struct trod_buf *out,
                size_t **ends, size_t *n_ends);

/* A record as a reader hands it to a tool. */
struct drm_seen {
    unsigned type; /* of the record; a bundle's instructions have that of the one before */
    uint64_t tid, pid, addr, pc, target, value, time;
    uint64_t instrs; /* instruction number */
    uint32_t size;
    uint8_t code[16];
    uint32_t code_n;
    bool has_pc, has_target, has_time, fresh, kernel, note;
};

struct drm_seen_list {
    struct drm_seen *item;
    size_t n, cap;
    unsigned problems; /* things a reader must complain of */
};

/* What a reader sees in N bytes of entries of WIDTH bytes. Release with free(list.item). */
struct drm_seen_list drm_oracle(const uint8_t *p, size_t n, unsigned width);

#endif
