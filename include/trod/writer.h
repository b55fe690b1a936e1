/*
 * writer.h - the generic loop around an encoder: batches in, a file (or a file a stream) out.
 *
 * Implements docs/design.md, "A format driver" and the rules on loss in "Rows".
 */
#ifndef TROD_WRITER_H
#define TROD_WRITER_H

#include "trod/format.h"
#include "trod/io.h"
#include "trod/loss.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_writer;

struct trod_writer_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    const char *to;     /* "name[:opt=value,...]" */
    struct trod_output_options output;
    /*
     * Without it, what is known to be lost is refused, and the first loss that only a row shows
     * ends the writing. Rows made by hand are written as far as they can be; what is lost of them
     * is reported at the end.
     */
    bool allow_loss;
    /* The source, for loss and for copies byte for byte; NULL where rows are made by hand. */
    const struct trod_format *source;
    const void *source_options;
    /*
     * Columns that the rows will have, of which losses count; 0: source->reads, and for rows made
     * by hand all, of which none is known to be lost before rows say it.
     */
    uint32_t columns;
    uint32_t drops; /* enum trod_drop: what will be left out of the source */
};

/* Columns of SOURCE_COLUMNS (those that the source's format reads) that FORMAT cannot write. */
uint32_t trod_writer_loss(uint32_t source_columns, const struct trod_format *format);

/*
 * The format that the suffix of PATH, the name of an output, stands for; slashes at its end and a
 * suffix of compression do not count. *OUT is the only format with that suffix. It is USUAL if
 * USUAL is one of several that have it, if PATH has no suffix ("-" has none), if it is ".d" and
 * USUAL's traces are folders, if PATH exists and is no regular file, or if no format has the suffix
 * and LIKE, the name of a trace of USUAL (may be NULL), ends in it. Returns 0 or TROD_ERR_USAGE,
 * reported: no format that can be written has the suffix, or several have and USUAL is none of
 * them; the message names the choices.
 */
int trod_format_by_name(const struct trod_format **out, const char *path,
                        const struct trod_format *usual, const char *like, struct trod_diag *diag);

/* Can traces of FORMAT say that their instructions are of ISA? True for TROD_ISA_UNKNOWN. */
bool trod_format_has_isa(const struct trod_format *format, enum trod_isa isa);

/*
 * Create PATH ("-": standard output) in the format that OPT names: a file, or a directory of files
 * if PATH is one, ends with a slash, or has no suffix of a file while traces of the format are
 * directories. META is that of the source and must outlive the writer. Returns 0, TROD_ERR_USAGE
 * (unknown format or option, options of another version, format cannot be written, PATH is one of
 * the files that META names), TROD_ERR_LOSS
 * (allow_loss is not set, and columns would be lost or the format has no word for the instruction
 * set; the message names them), TROD_ERR_NOMEM, an output error, or what the driver's begin
 * returns. All reported.
 */
int trod_writer_open(struct trod_writer **out, const char *path,
                     const struct trod_writer_options *opt, const struct trod_meta *meta,
                     struct trod_diag *diag);

/*
 * A writer for PATH in the format of the trace T and with its options, so that rows of T are copied
 * byte for byte where possible. T must outlive it; T is told which columns are wanted
 * (trod_trace_want). DROPS: enum trod_drop, what of T will be left out. Returns as
 * trod_writer_open.
 */
struct trod_trace;
int trod_writer_open_like(struct trod_writer **out, const char *path, struct trod_trace *t,
                          uint32_t drops, struct trod_diag *diag);

/* Columns the writer needs of every batch. */
uint32_t trod_writer_want(const struct trod_writer *w);
/*
 * Those of trod_writer_want whose elements it reads; of the others it only counts which rows have
 * them, as lost. TROD_COL_RAW among them: records may be copied as they are; without it, raw is
 * read of NOTE rows only.
 */
uint32_t trod_writer_uses(const struct trod_writer *w);

/*
 * Write the rows of B. Rows whose raw slice may be copied are copied. Returns 0, TROD_ERR_IO,
 * TROD_ERR_LOSS (something is lost and allow_loss is not set: the message names the row), or the
 * encoder's error.
 */
int trod_writer_put(struct trod_writer *w, const struct trod_batch *b);

/*
 * The same for those rows of which keep[row] is not 0; the others are left out. B is changed.
 * Formats whose records depend on each other must be told before the first row
 * (trod_writer_options.drops) what will be left out: TROD_DROP_SPAN and TROD_DROP_OTHER each stand
 * for rows of any kind, TROD_DROP_INSTR for all but accesses, TROD_DROP_DATA for all but
 * instructions. Leaving out another row would damage the file: TROD_ERR_USAGE, reported.
 */
int trod_writer_put_some(struct trod_writer *w, struct trod_batch *b, const uint8_t *keep);

struct trod_trace_progress;

struct trod_copy_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    unsigned jobs;      /* files at a time; 0: one for each processor */
    /* Called now and then by the thread that called trod_writer_copy; NULL: never. */
    void (*tick)(void *user, const struct trod_trace_progress *p);
    void *user;
};

/*
 * Write all of T, the source, of which nothing was read yet, without making rows of it, where that
 * is possible: its format has trod_format.copy (raw directories of DynamoRIO), T is in file order,
 * and each of its files becomes a file. The output is the same as by trod_trace_next and
 * trod_writer_put. OPT may be NULL. The numbers of rows by kind are added to ROWS (TROD_KINDS
 * counters). Returns 1: done; 0: not possible, and nothing was read or written; TROD_ERR_USAGE,
 * reported: options of another version, and nothing was read or written; or another error,
 * reported, as of those two functions: what could be read is written all the same, unless the
 * writer has failed.
 */
int trod_writer_copy(struct trod_writer *w, struct trod_trace *t,
                     const struct trod_copy_options *opt, uint64_t *rows);

struct trod_writer_summary {
    uint64_t rows, copied; /* rows given; of these copied byte for byte */
    uint64_t bytes;        /* before compression */
    uint64_t files;
    struct trod_loss loss; /* what the output does not have of the rows given */
};

/*
 * End the trace and give the file its name. W is released in every case. SUMMARY may be NULL.
 * Returns 0, TROD_ERR_LOSS, or an error of the encoder or the output: then no file appears.
 */
int trod_writer_commit(struct trod_writer *w, struct trod_writer_summary *summary);
/* Throw the trace away and release W: no file appears. NULL is allowed. */
void trod_writer_discard(struct trod_writer *w);

/*
 * Do all rows go to one file? Of formats whose files hold one stream it should get no rows of
 * others: they are lost, or lose their stream.
 */
bool trod_writer_one_file(const struct trod_writer *w);

/* Bytes written to all files so far, before compression. */
uint64_t trod_writer_bytes(const struct trod_writer *w);

#ifdef __cplusplus
}
#endif

#endif
