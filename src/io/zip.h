/*
 * zip.h - the members of a zip archive, one after the other, as a source of bytes.
 *
 * Implements docs/design.md, "io" (zip members). Private to the room; what users see of it is in
 * trod/io.h.
 */
#ifndef TROD_IO_ZIP_H
#define TROD_IO_ZIP_H

#include "damage.h"
#include "filter.h"
#include "source.h"

#include <pthread.h>

enum {
    TROD_ZIP_STORED = 0,
    TROD_ZIP_DEFLATE = 8,
    TROD_ZIP_ZSTD = 93,
    TROD_ZIP_BUFFER = 1 << 17, /* compressed bytes at hand at the most */
    TROD_ZIP_READ = 1 << 16,   /* reads end at multiples of it */
    TROD_ZIP_STEP = 24,        /* damaged members are cut to a multiple: records stay in step */
};

struct trod_zip_member {
    char *name;
    uint64_t header;       /* where its local header lies in the archive */
    uint64_t packed, size; /* TROD_NOWHERE: unknown */
    uint64_t start;        /* first byte in the decoded stream */
    uint32_t crc;
    uint16_t method, flags;
    uint16_t name_n; /* bytes of the name as the archive has it */
};

/* The archive's bytes, in a file, in memory or coming. */
struct trod_zip_bytes {
    struct trod_source *in; /* what comes; read in order */
    bool random;            /* any offset may be read */
    uint64_t size;          /* TROD_NOWHERE: unknown */
    uint8_t *buf;
    size_t cap, n, at; /* bytes it can hold, in it, of these used */
    uint64_t offset;   /* of buf[0] in the archive */
    int status;        /* the error that ended it */
    struct trod_fault *fault;
};

/*
 * Make N bytes (up to 4 * 65536) at hand. Returns how many are: fewer at the end only.
 * trod_zip_at is where they are.
 */
size_t trod_zip_need(struct trod_zip_bytes *b, size_t n);
/* Go to byte OFFSET. False: cannot. */
bool trod_zip_go(struct trod_zip_bytes *b, uint64_t offset);

static inline const uint8_t *trod_zip_at(const struct trod_zip_bytes *b)
{
    return b->buf + b->at;
}

static inline uint64_t trod_zip_tell(const struct trod_zip_bytes *b)
{
    return b->offset + b->at;
}

struct trod_zip_list {
    struct trod_zip_member *member;
    size_t n, cap;
    uint64_t directory; /* where it begins */
};

/*
 * Read the central directory into LIST. Returns 0, TROD_ERR_TRUNCATED (there is none),
 * TROD_ERR_CORRUPT (it contradicts itself; what could be read is in LIST) or TROD_ERR_NOMEM.
 */
int trod_zip_directory(struct trod_zip_bytes *b, struct trod_zip_list *list);

/*
 * The local header at hand: M is filled in, the bytes at hand are those of the member. Returns 1,
 * 0 where none begins, or TROD_ERR_NOMEM.
 */
int trod_zip_local(struct trod_zip_bytes *b, struct trod_zip_member *m);

int trod_zip_list_add(struct trod_zip_list *list, const struct trod_zip_member *m);
void trod_zip_list_fini(struct trod_zip_list *list);

/* --- members --- */

struct trod_zip_codec;

/* LEAN: little memory is worth more than speed. Returns 0 or TROD_ERR_NOMEM. */
int trod_zip_codec_new(struct trod_zip_codec **out, bool lean);
void trod_zip_codec_free(struct trod_zip_codec *c);
/* Begin a member of METHOD. Returns 0 or TROD_ERR_UNSUPPORTED. */
int trod_zip_codec_begin(struct trod_zip_codec *c, unsigned method);
/*
 * Decode up to *IN_N bytes at IN into up to *OUT_N at OUT; both are set to what was used and made.
 * Returns 1 at the end of the member (never for stored ones), 0, or TROD_ERR_CORRUPT with *WHY.
 */
int trod_zip_codec_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why);
/* It goes on at POINT of a deflated member; FIRST: the byte that holds bits of it. False: cannot.
 */
struct trod_point;
bool trod_zip_codec_enter(struct trod_zip_codec *c, const struct trod_point *point, uint8_t first);
/* At the end of a member: bytes taken that are not its own. */
unsigned trod_zip_codec_unused(const struct trod_zip_codec *c);
uint32_t trod_zip_crc(uint32_t crc, const uint8_t *p, size_t n);

/* --- making members (zip_pack.c): trod_filter.enc_open, for each method, and so on --- */

int trod_zip_deflate_open(void **state, int level, struct trod_fault *fault);
int trod_zip_zstd_open(void **state, int level, struct trod_fault *fault);
int trod_zip_stored_open(void **state, int level, struct trod_fault *fault);
int trod_zip_pack_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink);
void trod_zip_pack_close(void *state);

/* --- the source --- */

/*
 * If the bytes of *S are a zip archive *S becomes the source of its members' bytes; it owns what it
 * was. Otherwise *S is as before. WINDOW is the room of the reads to come, 0: large; LEAN: it is
 * one of thousands. Returns 0 or an error, in FAULT.
 */
int trod_zip_wrap(struct trod_source *s, size_t window, bool lean, struct trod_fault *fault);
/* trod_source_doze for the archive below S, which is a zip source. */
void trod_zip_doze(struct trod_source *s, const char *path);

/* S must be a zip source in what follows. */
/* Up to THREADS members behind the one that is read are decoded at the same time. */
void trod_zip_ahead(struct trod_source *s, unsigned threads);
size_t trod_zip_members(const struct trod_source *s);
/* Number of the member that byte OFFSET of the decoded stream belongs to; SIZE_MAX: none yet. */
size_t trod_zip_member_at(const struct trod_source *s, uint64_t offset);
/* Name, first decoded byte and size (TROD_NOWHERE: unknown) of member K. False: no such. */
bool trod_zip_member(const struct trod_source *s, size_t k, const char **name, uint64_t *offset,
                     uint64_t *size);
bool trod_zip_is(const struct trod_source *s);
/* No damage was met before byte UPTO of the decoded stream: sizes say where members lie in it. */
bool trod_zip_sound(const struct trod_source *s, uint64_t upto);
/* A seek may go on at POINT, which is copied. Returns 0 or TROD_ERR_NOMEM. */
int trod_zip_point(struct trod_source *s, const struct trod_point *point);
/* There is one behind byte OFFSET of the decoded stream. */
bool trod_zip_pointed(const struct trod_source *s, uint64_t offset);
/* What was found damaged. */
struct trod_damages *trod_zip_damages(const struct trod_source *s);

#endif
