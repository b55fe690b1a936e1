/*
 * io.h - bytes in and bytes out.
 *
 * Implements docs/design.md, "io": input windows over a stack of filters, read-ahead on a thread
 * of its own, outputs that appear under their name only when complete.
 */
#ifndef TROD_IO_H
#define TROD_IO_H

#include "trod/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_input;
struct trod_output;

enum {
    TROD_WINDOW = 1 << 20,       /* bytes read at a time */
    TROD_AHEAD_MAX = 1 << 24,    /* the most a caller may ask to see at once */
    TROD_FILTER_DEPTH = 8,       /* filters stacked at most */
    TROD_RATIO_DEFAULT = 1 << 14 /* decompressed bytes per compressed byte before it is a bomb */
};

struct trod_input_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    bool no_thread;     /* read and decompress on the caller's thread */
    bool raw;           /* peel no filters */
    bool lazy;          /* keep no file open between reads: for thousands of inputs at once */
    uint32_t window;    /* bytes decoded at a time, 0: TROD_WINDOW */
    uint32_t ratio;     /* limit of expansion over all filters, 0: TROD_RATIO_DEFAULT */
    /*
     * Threads for an archive that is read in order, besides the one of the input itself (0: none):
     * they decode the members behind the one being read, 64 MiB of each at the most.
     */
    uint16_t beside;
};

/*
 * Open PATH for reading ("-": standard input) and peel the filters that its content shows. OPT may
 * be NULL. *OUT is owned by the caller. Before the first trod_input_ahead no more is read and
 * decoded than it takes to recognise the filters.
 * Returns 0, TROD_ERR_IO, TROD_ERR_NOMEM, TROD_ERR_UNSUPPORTED (a filter this build lacks),
 * TROD_ERR_LIMIT (filters too deep) or TROD_ERR_USAGE (options of another version). All reported to
 * DIAG.
 */
int trod_input_open(struct trod_input **out, const char *path, const struct trod_input_options *opt,
                    struct trod_diag *diag);

/* The same for N bytes at P, which must stay valid; NAME stands for the path in messages. */
int trod_input_memory(struct trod_input **out, const void *p, size_t n, const char *name,
                      const struct trod_input_options *opt, struct trod_diag *diag);

/* As trod_input_open for an open file descriptor, which is not closed. */
int trod_input_fd(struct trod_input **out, int fd, const char *name,
                  const struct trod_input_options *opt, struct trod_diag *diag);

/*
 * Show the coming bytes without taking them: at least MIN of them unless the input ends before,
 * more where they are at hand. MIN 0 asks for what is there, and for one byte if there is none.
 * span->last says that the input ends with the span; fewer than MIN without it means that damage
 * follows. The span is valid until the next call on IN.
 * Damage that reading goes on behind, in an archive or at another frame of compressed data, is
 * reported when all bytes before it are used, or are fewer than MIN.
 * Returns 0 (also at the end: then span->n < MIN), TROD_ERR_IO, TROD_ERR_TRUNCATED or
 * TROD_ERR_CORRUPT (compressed data damaged, and nothing follows that can be read: the bytes before
 * the damage have all been delivered by earlier calls or are in the span, and the error comes once
 * they are consumed), TROD_ERR_LIMIT (MIN > TROD_AHEAD_MAX, or the expansion limit).
 */
int trod_input_ahead(struct trod_input *in, size_t min, struct trod_span *span);

/*
 * How IN ends after what the last trod_input_ahead showed: 0 when it goes on or ends well, else
 * the error that comes once the bytes are consumed, which is reported now (once). For callers that
 * stop before the end of a span that is shorter than they asked for.
 */
int trod_input_end(struct trod_input *in);

/*
 * Read IN on the caller's thread from now on, as with option no_thread, if it is not compressed:
 * where other threads keep the processors busy, handing its bytes over costs more than reading
 * them. Nothing changes once another thread reads, which begins after some megabytes.
 */
void trod_input_alone(struct trod_input *in);

/*
 * Whatever waits for bytes of a pipe, a terminal or a socket waits no longer, in all inputs of the
 * process and for good: these inputs end with TROD_ERR_IO, which is not reported. For handlers of
 * signals, which may call it.
 */
void trod_inputs_interrupt(void);

/* True if that has ended IN: the bytes that were left over may be half a record. */
bool trod_input_interrupted(const struct trod_input *in);

/* Take N bytes of what the last trod_input_ahead showed. */
void trod_input_consume(struct trod_input *in, size_t n);

/* Skip N bytes, shown or not; returns how many were skipped (fewer at the end or on an error). */
uint64_t trod_input_skip(struct trod_input *in, uint64_t n);

/* Decoded bytes consumed so far. */
uint64_t trod_input_offset(const struct trod_input *in);

/* Bytes read of the file itself, and its size (TROD_NOWHERE where it has none): for progress. */
uint64_t trod_input_file_offset(const struct trod_input *in);
uint64_t trod_input_file_size(const struct trod_input *in);
/*
 * Size of the decoded stream in bytes, if it is known beforehand: that of a plain file, or of a
 * compressed one whose frames or members all say their lengths (zstd, lz4, gzip as BGZF); their
 * headers are read for that. TROD_NOWHERE otherwise.
 */
uint64_t trod_input_decoded(struct trod_input *in);
/*
 * The last offset of the decoded stream, OFFSET at most, at which decoding can begin without
 * the bytes before it: OFFSET itself in a plain file, the beginning of a frame in a compressed one.
 */
uint64_t trod_input_frame(struct trod_input *in, uint64_t offset);

/*
 * Name of filter I (0: outermost), NULL past the last: "zip", "gzip", "zstd", "lz4", "xz",
 * "snappy", "zlib".
 */
const char *trod_input_filter(const struct trod_input *in, unsigned i);

/*
 * An archive (zip) is read as its members' bytes one after the other, in the order of its
 * directory. A damaged member is reported, with its name, when its last good byte is shown; then
 * the next one goes on.
 */
struct trod_member {
    const char *name; /* valid until the input is closed */
    uint64_t offset;  /* of its first byte in the decoded stream; TROD_NOWHERE: not yet known */
    uint64_t size;    /* decoded; TROD_NOWHERE: not yet known */
};

/* Members known so far, 0 where the input is no archive; member K, false where there is none. */
size_t trod_input_members(const struct trod_input *in);
bool trod_input_member(const struct trod_input *in, size_t k, struct trod_member *out);
/* Number of the member that byte OFFSET of the decoded stream is from, SIZE_MAX: none. */
size_t trod_input_member_at(const struct trod_input *in, uint64_t offset);

/* The path as given. */
const char *trod_input_path(const struct trod_input *in);

/* Release IN; NULL is allowed. */
void trod_input_close(struct trod_input *in);

struct trod_output_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    /*
     * "none", "gzip", "zstd", "lz4", "xz", "snappy", or an archive of parts: "zip" (deflate),
     * "zip-zstd", "zip-stored"; NULL: by suffix
     */
    const char *compress;
    int level;      /* of compression; 0: fast default of the filter */
    bool binary;    /* refuse to write to a terminal */
    bool no_thread; /* compress and write on the caller's thread */
    uint16_t jobs;  /* threads that compress; 0: one for each processor. The bytes are the same */
};

/*
 * Create PATH ("-": standard output). The bytes go to a temporary file beside it; the name appears
 * with trod_output_commit only. OPT may be NULL: compression by suffix (.gz .zst .lz4 .xz .sz
 * .zip).
 * Returns 0, TROD_ERR_IO, TROD_ERR_NOMEM, TROD_ERR_UNSUPPORTED (a compression this build lacks),
 * TROD_ERR_USAGE (binary to a terminal; unknown compression; options of another version). All
 * reported to DIAG.
 */
int trod_output_create(struct trod_output **out, const char *path,
                       const struct trod_output_options *opt, struct trod_diag *diag);

/*
 * Room for at least MIN bytes (up to TROD_WINDOW). Write into it, then call trod_output_advance
 * with what was written. Returns 0, TROD_ERR_IO, TROD_ERR_LIMIT (MIN too large).
 */
int trod_output_room(struct trod_output *out, size_t min, struct trod_room *room);
void trod_output_advance(struct trod_output *out, size_t n);

/* Copy N bytes from P to the output. Returns 0 or TROD_ERR_IO. */
int trod_output_write(struct trod_output *out, const void *p, size_t n);

/*
 * Is OUT an archive (zip)? Then begin its part NAME (at most 63 bytes) with trod_output_part: what
 * is written from here on is in that part; what is written before the first call is in a part
 * called chunk.00000000. No effect on other outputs. Returns 0, TROD_ERR_IO or TROD_ERR_NOMEM.
 */
bool trod_output_has_parts(const struct trod_output *out);
int trod_output_part(struct trod_output *out, const char *name);

/*
 * For callers with many outputs: release the thread, file descriptor and most memory of OUT until
 * something is written to it again, which goes on where it was. No effect on standard output and
 * pipes. Returns 0, TROD_ERR_IO or TROD_ERR_NOMEM.
 */
int trod_output_park(struct trod_output *out);

/*
 * End OUT and write all of it, but do not give it its name yet; only trod_output_commit or
 * trod_output_discard may follow. Returns 0, TROD_ERR_IO or TROD_ERR_NOMEM.
 */
int trod_output_seal(struct trod_output *out);

/* Write out what is buffered, for output that somebody waits for. Returns 0 or TROD_ERR_IO. */
int trod_output_flush(struct trod_output *out);

/* Bytes given to the output so far, before compression. */
uint64_t trod_output_offset(const struct trod_output *out);

/*
 * Finish compression, flush, give the file its name. OUT is released in every case; on an error
 * the temporary file is removed. Returns 0 or TROD_ERR_IO.
 */
int trod_output_commit(struct trod_output *out);

/*
 * Do A and B name the same file or directory, now or, if neither exists, once it does? A pipe, a
 * device and "-" are the same as nothing: what is written to them is not what is read from them.
 */
bool trod_same_file(const char *a, const char *b);

/* Throw the output away: no file appears. NULL is allowed. */
void trod_output_discard(struct trod_output *out);

/*
 * Remove what incomplete outputs of this process have on the disk: temporary files and folders of
 * writers. For a program that is about to exit on a signal: call it from a thread of its own
 * (sigwait), not from a signal handler. A thread that creates or commits an output afterwards
 * blocks for ever.
 */
void trod_output_abandon(void);

#ifdef __cplusplus
}
#endif

#endif
