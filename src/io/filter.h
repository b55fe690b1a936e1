/*
 * filter.h - a compression: how it is recognised, undone and done.
 *
 * Implements docs/design.md, "Detection" (filters bid first) and rule 2: a filter is one const
 * descriptor in a file of its own and one line in filters.def.
 */
#ifndef TROD_IO_FILTER_H
#define TROD_IO_FILTER_H

#include "fault.h"

struct trod_damages;
struct trod_stage;

enum {
    TROD_FEED = 1 << 17,          /* bytes of compressed input at hand to a filter at the most */
    TROD_FRAME_LOOKS = 1 << 24,   /* headers of frames, and of blocks of a frame, at the most */
    TROD_FEED_LEAN = 1 << 13,     /* the same for one of thousands of inputs */
    TROD_STAGE_PAST = 16,         /* used bytes that stay at hand: to go back behind damage */
    TROD_BID_MORE = -1,           /* a bid cannot be made from so few bytes */
    TROD_BID_FILTER = 24,         /* bits of evidence a filter needs to be taken */
    TROD_ENCODE_CHUNK = 1 << 17,  /* bytes an encoder hands to its sink at a time */
    TROD_DECODER_MEMORY = 1 << 28 /* what a stream may make a decoder allocate */
};

/* Where an encoder puts what it made. */
struct trod_sink {
    int (*put)(struct trod_sink *sink, const uint8_t *p, size_t n);
    /* Write over N bytes at OFFSET of what was put. NULL: what was put is gone (a pipe). */
    int (*patch)(struct trod_sink *sink, uint64_t offset, const uint8_t *p, size_t n);
    struct trod_fault *fault;
};

struct trod_source;
struct trod_frames;
struct trod_point;

struct trod_filter {
    const char *name;
    const char *suffixes[3]; /* with dot, NULL-terminated */
    bool replaces;           /* the suffix stands in place of the format's own, not behind it */

    /*
     * Bits of evidence that N bytes at P begin a stream of this filter, 0: they do not, or
     * TROD_BID_MORE.
     */
    int (*bid)(const uint8_t *p, size_t n);

    /* Decoding. NULL (all three, or the two below): not in this build. */
    int (*open)(struct trod_stage *s);
    /*
     * The same in place of OPEN where the input of S stands at POINT (one byte before, where it has
     * bits). NULL: there are no points in it.
     */
    int (*resume)(struct trod_stage *s, const struct trod_point *point);
    /*
     * Decode into OUT. *N is what was made; 0 with TROD_OK: the end. As soon as there is output it
     * returns rather than ask for more input. Errors go to s->fault; bytes may come with one.
     */
    int (*read)(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);
    void (*close)(struct trod_stage *s);
    /* Decodes the same in less memory, for one of thousands of inputs. NULL: there is no other. */
    const struct trod_filter *lean;

    /*
     * Behind damage: bits of evidence that a frame or member begins with the N bytes at P, 0: none
     * does, or TROD_BID_MORE. It may look at more than bid does. NULL: there is only one, or no way
     * to know.
     */
    int (*again)(const uint8_t *p, size_t n);
    /* Bytes that `again` decodes or sums up there to know. NULL: few. */
    size_t (*again_costs)(const uint8_t *p, size_t n);
    /*
     * Bytes that a frame makes, as what stands before the next one at P says, of which N bytes are
     * at hand; TROD_NOWHERE: not known. NULL: it does not say.
     */
    uint64_t (*made_before)(const uint8_t *p, size_t n);

    /*
     * The frame or member that begins at byte AT of a file, as its headers say: *PACKED bytes there
     * make *DECODED. False: they do not say, or none is there. NULL: headers of this kind never do.
     */
    bool (*frame)(struct trod_source *s, uint64_t at, uint64_t *packed, uint64_t *decoded);
    /*
     * Where FRAME cannot say: all frames of S into F, and the bytes they make. False: they cannot
     * be found, or there is only one. NULL: there is no other way.
     */
    bool (*find)(struct trod_frames *f, struct trod_source *s, uint64_t *decoded);

    int (*enc_open)(void **state, int level, struct trod_fault *fault);
    /*
     * Encode N bytes at P; FINISH ends the stream, or the part of an archive, and what comes then
     * begins another one. Of an archive all calls are by themselves: what they make stands in one
     * part, in any number. SINK's patch, if it has one, is told offsets from the beginning of the
     * stream.
     */
    int (*enc_write)(void *state, const uint8_t *p, size_t n, bool finish, struct trod_sink *sink);
    void (*enc_close)(void *state);
    /* Bytes that outputs encode by themselves, so that several threads can. */
    size_t (*enc_piece)(int level);
    size_t enc_once; /* bytes at the beginning of a stream that only the first one needs */
    const struct trod_archive *archive; /* NULL: it is none */
};

/* What stands in an archive around the parts. All on one thread at a time, in order. */
struct trod_archive {
    unsigned method; /* of compression */
    bool goes_back;  /* only to outputs that can be gone back to: readers need sizes first */
    int (*open)(void **state, const struct trod_archive *a, struct trod_fault *fault);
    /* Begin part NAME. */
    int (*part)(void *state, const char *name, struct trod_sink *sink);
    /* Add to it: N bytes at P, which are M bytes at Q encoded. ENDS: they are its last ones. */
    int (*piece)(void *state, const uint8_t *p, size_t n, bool ends, const uint8_t *q, size_t m,
                 struct trod_sink *sink);
    int (*finish)(void *state, struct trod_sink *sink);
    void (*close)(void *state);
};

/* A filter at work, or (filter NULL) what hands its input through, with the input it has not used.
 */
struct trod_stage {
    const struct trod_filter *filter;
    void *state;           /* the filter's */
    struct trod_stage *up; /* whose output is the input; NULL: the source's */
    struct trod_source *source;
    struct trod_fault *fault;
    uint32_t ratio; /* limit of made / bytes of the source */

    size_t feed;  /* bytes: TROD_FEED, or from TROD_FEED_LEAN up to that */
    uint8_t *buf; /* FEED bytes and TROD_STAGE_PAST, or NULL: p points into the source's memory */
    const uint8_t *p; /* input not yet used */
    size_t n;
    uint64_t used; /* input used: where p is in the compressed stream */
    bool end;      /* no input follows p + n */
    int up_status; /* why: TROD_OK, or the error that follows it */

    uint64_t made; /* output */
    /* where frames are thought to begin, to be seen when it comes there; NULL: nobody asks */
    const struct trod_frames *frames;
    uint64_t frame_to; /* byte of the output at which the next of those begins */
    bool finished;
    int status; /* the error that comes when it is asked for more */

    /* --- going on behind damage (again.c) --- */
    uint64_t searched, tried;     /* bytes passed over; those that `again` decoded in vain */
    struct trod_damages *damages; /* where it is told; NULL: it ends the stream */
    const uint8_t *first;         /* where what is at hand begins, used bytes included */
    uint64_t wrong_at;   /* byte of the input where this filter found an error; else TROD_NOWHERE */
    uint64_t frame_used; /* where the frame being read begins in the input, */
    uint64_t frame_at;   /* and in the output, were nothing missing */
    uint64_t frame_size; /* bytes it says it makes; TROD_NOWHERE: not known */
    uint64_t missing;    /* of the output so far; TROD_NOWHERE: not known, as FRAME_AT */
    unsigned drop;       /* bytes to come that are left out */
};

/* N bytes at AT of the file S, for trod_filter.frame. False: they are not there. */
bool trod_frame_look(struct trod_source *s, uint64_t at, uint8_t *p, size_t n);

/* S, at the beginning of a frame, is to see whether FRAMES (NULL: none), which stay, are true. */
void trod_stage_expect(struct trod_stage *s, const struct trod_frames *frames);

/*
 * For filters with frame(): another frame begins at the input of S, behind MADE bytes of output.
 * 0, or TROD_ERR_CORRUPT where that is not what was expected.
 */
int trod_stage_frame(struct trod_stage *s, uint64_t made);

/* S begins anew at byte PACKED of its file, where a frame begins that makes byte DECODED. */
int trod_stage_restart(struct trod_stage *s, uint64_t packed, uint64_t decoded);

/* The same at a point of a stream whose filter has resume (points.h). */
int trod_stage_resume(struct trod_stage *s, const struct trod_point *point);

/*
 * Get more input behind what is there; the data moves, with TROD_STAGE_PAST used bytes. False:
 * there is none, s->end is set (or the feed is full, which a filter that uses its input never
 * meets).
 */
bool trod_stage_more(struct trod_stage *s);

/* N bytes of the input are used. */
static inline void trod_stage_use(struct trod_stage *s, size_t n)
{
    s->p += n;
    s->n -= n;
    s->used += n;
}

/*
 * Should S get more input before a library is given a part of N bytes? What is behind an error in
 * the part is looked for from its beginning on, if it is still at hand. Larger parts are given as
 * they come.
 */
static inline bool trod_stage_waits(const struct trod_stage *s, size_t n)
{
    return s->n < n && n <= s->feed && !s->end;
}

/*
 * What a filter returns when its input ended too soon: the error that ended it, or a truncation.
 * Never TROD_OK.
 */
int trod_stage_starved(struct trod_stage *s);

/* TROD_ERR_CORRUPT, because of WHY. */
int trod_stage_corrupt(struct trod_stage *s, const char *why);
/* The same from BYTES before what is used on. */
int trod_stage_corrupt_from(struct trod_stage *s, size_t bytes, const char *why);

/*
 * Damage of S, whose filter has returned TROD_ERR_CORRUPT: look for the next frame, and begin anew
 * there. 0, or the error if there is none.
 */
int trod_stage_again(struct trod_stage *s);
/* Of the *N bytes at OUT, made behind damage, leave out what S is to drop. */
void trod_stage_drop(struct trod_stage *s, uint8_t *out, size_t *n);

/*
 * Is S, between two members or frames of its filter, at the end of its input? *STATUS is an error
 * that comes there.
 */
bool trod_stage_at_end(struct trod_stage *s, int *status);

/* Output of S, as trod_filter.read, with the limits kept and errors after all bytes. */
int trod_stage_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);

/*
 * The stack over SOURCE: peels until nobody bids (never when RAW). LEAN: one of thousands. *TOP
 * hands through and owns all below it. The error, if any, is in FAULT.
 */
int trod_stack_open(struct trod_stage **top, struct trod_source *source, bool raw, bool lean,
                    uint32_t ratio, struct trod_fault *fault);

/* A stack of exactly FILTER, whatever the input looks like. */
int trod_stack_force(struct trod_stage **top, struct trod_source *source,
                     const struct trod_filter *filter, uint32_t ratio, struct trod_fault *fault);

void trod_stack_close(struct trod_stage *top);

/* Filter I in the order of filters.def, NULL past the last. */
const struct trod_filter *trod_filter_at(size_t i);
const struct trod_filter *trod_filter_find(const char *name);
/* By the suffix of PATH; NULL if it has none of a filter's. */
const struct trod_filter *trod_filter_of_path(const char *path);

/* What outputs can be besides: archives, which inputs treat as sources (zip.h). NULL past the last.
 */
const struct trod_filter *trod_archive_at(size_t i);
/* Filters and archives, for outputs: by name, by the suffix of PATH. NULL: none. */
const struct trod_filter *trod_writes_find(const char *name);
const struct trod_filter *trod_writes_of_path(const char *path);
/*
 * Length of the N bytes of PATH without a suffix of compression or, if ARCHIVES, of an archive; N
 * if there is none. A suffix that stands in place of a format's own stays.
 */
size_t trod_filter_bare(const char *path, size_t n, bool archives);

/* Compare N bytes at P with the LEN of MAGIC: TROD_BID_MORE where they agree but are too few. */
int trod_bid_magic(const uint8_t *p, size_t n, const void *magic, size_t len);

/*
 * Steps over the skippable frames that zstd and lz4 share. *AT is where the first other frame
 * begins; N if they go on beyond what a feed holds. Returns 0 or TROD_BID_MORE.
 */
int trod_bid_skippable(const uint8_t *p, size_t n, size_t *at);

#endif
