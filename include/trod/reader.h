/*
 * reader.h - the generic loop around a driver: one input in, batches out.
 *
 * Implements docs/design.md, "A format driver" and "Errors". A reader detects the format, grows the
 * window where a record needs it, and after damage goes on at the next place from which the driver
 * can decode again.
 */
#ifndef TROD_READER_H
#define TROD_READER_H

#include "trod/format.h"
#include "trod/io.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_reader;

struct trod_reader_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    const char *from;   /* "name" or "name:opt=value,...": the format; NULL: detect it */
    uint32_t file;      /* number of the file within its trace */
    uint32_t head;      /* bytes that start() is shown of a format that FROM names, 0: 64 KiB */
    struct trod_input_options input;
    /* What detection found in this file before; NULL: detect. Ignored if FROM is given. */
    const struct trod_candidate *known;
    /* The files of the trace and what the user says of those beside it; NULL: not known. */
    const struct trod_files *files;
    const struct trod_beside_options *beside;
    /* The format of the files before in its trace, which this one must have, too; NULL: any. */
    const struct trod_format *only;
};

/*
 * Read IN (which the reader owns from here on, also when this fails). Rows' streams are numbered in
 * META, owned by the caller and shared among the readers of a trace. OPT may be NULL.
 * Returns 0, TROD_ERR_UNKNOWN (no format recognises the data), TROD_ERR_AMBIGUOUS (several do),
 * TROD_ERR_UNSUPPORTED (another format than the files before), TROD_ERR_USAGE (unknown format or
 * option, or options of another version), TROD_ERR_NOMEM, an input error, or what the driver's
 * start returns. All reported.
 */
int trod_reader_open(struct trod_reader **out, struct trod_input *in,
                     const struct trod_reader_options *opt, struct trod_meta *meta,
                     struct trod_diag *diag);

/*
 * Fill B (b->want says which columns) with the next rows. Returns 1 when there are rows, 0 at the
 * end, TROD_ERR_USAGE, reported, where B has no room for the rows of one record (b->cap is less
 * than trod_format.record_rows; nothing is read then), or another error: with diag->strict the
 * first one of the decoder, otherwise only those after which nothing can be read (input errors,
 * TROD_ERR_NOMEM). Rows before an error are delivered first. The rows stay valid until the next
 * call.
 */
int trod_reader_next(struct trod_reader *r, struct trod_batch *b);

/*
 * Leave out the first N rows or, if BY_INSTRUCTION, the rows before instruction N + 1 of the input;
 * of an archive only the members from there on are decompressed. To be called before the first
 * trod_reader_next. The numbers of the rows (batch->first, the index column) are those they have
 * without skipping. Instructions are counted by the index column, which must then be wanted.
 */
void trod_reader_skip(struct trod_reader *r, uint64_t n, bool by_instruction);

/*
 * Give only the rows of members [FROM, TO) of an archive, whose driver has trod_format.jump. If
 * FROM is not 0, the rows of the beginning, which tell what the trace is, are read and left out. To
 * be called before the first trod_reader_next. Members must be larger than a window (TROD_WINDOW).
 */
void trod_reader_part(struct trod_reader *r, size_t from, size_t to);

/*
 * Give only the rows of bytes [FROM, TO) of the decoded input (TO TROD_NOWHERE: to its end); both
 * bounds come from trod_reader_cut. Line numbers of problems count from FROM. To be called before
 * the first trod_reader_next.
 */
void trod_reader_bytes(struct trod_reader *r, uint64_t from, uint64_t to);

/*
 * The first offset at or after AT from which the driver decodes the same rows whether or not it
 * decodes what lies before. TROD_NOWHERE: none within TROD_WINDOW bytes, or the format cannot begin
 * in the middle. The file is opened once more for this.
 */
uint64_t trod_reader_cut(const struct trod_reader *r, uint64_t at);

/* Bytes read so far: of the file, and of the decoded stream. */
void trod_reader_read(const struct trod_reader *r, uint64_t *bytes, uint64_t *decoded);

/* The format that was found or named, its options (struct of that driver), the input, the meta. All
 * belong to R but the meta, which is that of trod_reader_open. */
const struct trod_format *trod_reader_format(const struct trod_reader *r);
const void *trod_reader_format_options(const struct trod_reader *r);
const struct trod_input *trod_reader_input(const struct trod_reader *r);
struct trod_meta *trod_reader_meta(const struct trod_reader *r);
/* Rows delivered so far. */
uint64_t trod_reader_rows(const struct trod_reader *r);
/* Bytes skipped as undecodable so far: of a cut record, of the window after a fatal error. */
uint64_t trod_reader_skipped(const struct trod_reader *r);

/* Release R and its input. NULL is allowed. */
void trod_reader_close(struct trod_reader *r);

#ifdef __cplusplus
}
#endif

#endif
