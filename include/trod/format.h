/*
 * format.h - a format driver: one const descriptor a format, listed in src/format/formats.def.
 *
 * Implements docs/design.md, "A format driver" and "Detection".
 */
#ifndef TROD_FORMAT_H
#define TROD_FORMAT_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/meta.h"
#include "trod/option.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_format_flag {
    TROD_FMT_TEXT = 1 << 0,       /* lines */
    TROD_FMT_PER_STREAM = 1 << 1, /* a file holds one stream: writers make a file a stream */
    TROD_FMT_MAGIC = 1 << 2,      /* begins with a magic number */
    TROD_FMT_CONTAINER = 1 << 3,  /* a trace is a directory */
    /* the only times are MARKER rows of sub TROD_DRM_TIMESTAMP: value is the time */
    TROD_FMT_TIMESTAMPS = 1 << 4,
    TROD_FMT_MARKERS = 1 << 5,  /* sub of MARKER rows is enum trod_drm_marker (drmemtrace.h) */
    TROD_FMT_FOLLOWS = 1 << 6,  /* in its stream an access comes after the instruction it is of */
    TROD_FMT_PUT_IN = 1 << 7,   /* some instructions may be TROD_F_SYNTHETIC */
    TROD_FMT_PHYSICAL = 1 << 8, /* an access may have a physical address and no virtual one */
    /* records do not say of which stream they are: a single file has those of one, and the writer
     * tells what other rows lose */
    TROD_FMT_ONE_STREAM = 1 << 9,
    TROD_FMT_BRANCHES = 1 << 10, /* rows may say the kind of a branch that no opcode tells */
    /* dialects are those of different tracers, which need not report the same events; those of
     * other formats follow from what a trace has in it, or from how it is stored */
    TROD_FMT_TRACERS = 1 << 11,
    TROD_FMT_BUS = 1 << 12 /* transactions of a bus: addresses are physical */
};

/* What decode and encode return besides errors. */
enum trod_decode_result {
    TROD_DEC_MORE = 0, /* more input is needed to go on */
    TROD_DEC_FULL = 1, /* the batch (or its pool) is full */
    TROD_DEC_END = 2   /* the trace ends here, whatever follows */
};
enum trod_encode_result {
    TROD_ENC_DONE = 0, /* all rows are done */
    TROD_ENC_FULL = 1, /* there is no room for more: call again with new room */
    TROD_ENC_PART = 2  /* the caller is to begin a new part of the archive, then call again */
};

/* What the choice of rows may leave out of a trace. */
enum trod_drop {
    TROD_DROP_INSTR = 1 << 0, /* single instructions: the next one need not be their successor */
    TROD_DROP_DATA = 1 << 1,  /* single accesses */
    TROD_DROP_SPAN = 1 << 2,  /* the rows before or after some point */
    TROD_DROP_OTHER = 1 << 3  /* rows of other kinds, whole threads */
};

/* The form in which listings show a value. */
enum trod_value_form {
    TROD_VALUE_ANY,     /* as is usual for rows of the kind */
    TROD_VALUE_DECIMAL, /* a number of something */
    TROD_VALUE_RESULT,  /* what a call returned: -1 to -4095 is an error code */
    TROD_VALUE_HEX      /* an address, bits, a pattern */
};

/*
 * What records of a format keep of rows, by kind: columns (enum trod_column) and flags (enum
 * trod_flag). A column that a reader can conclude from other rows (the pc of an access, the target
 * of a branch) counts as kept.
 */
struct trod_keeps {
    uint32_t columns[TROD_KINDS], flags[TROD_KINDS];
    uint32_t lost; /* columns that are lost whatever the kind */
};

struct trod_loss;

/* What an encoder writes to. */
struct trod_target {
    bool parts;             /* an archive: TROD_ENC_PART may be returned */
    bool single;            /* the only file: all streams come here */
    uint32_t key;           /* which file of a directory: see trod_layout.key */
    uint32_t drops;         /* enum trod_drop: what was left out of the source */
    struct trod_loss *loss; /* where losses are counted (loss.h); NULL: nowhere */
};

struct trod_output;

/* Where trod_format.copy writes, and what it copied. */
struct trod_copy {
    struct trod_output *out;
    /* Begin a new part of the archive; NULL: OUT is no archive. Returns 0 or an error, reported. */
    int (*part)(void *user);
    /* Called now and then: BYTES of the input's file have been read. */
    void (*tick)(void *user, uint64_t bytes);
    void *user;
    uint64_t rows[TROD_KINDS]; /* rows that decode would have given, by kind */
};

/* What a bid may look at. */
struct trod_probe {
    struct trod_span head; /* first bytes after the filters: 64 KiB or the whole file */
    uint64_t size;         /* of the decoded stream if known, else TROD_NOWHERE */
    const char *path;      /* NULL: not known */
};

struct trod_disasm;

/* State of a listing in the format's own words (trod_format.native) between two rows. */
struct trod_native {
    struct trod_disasm *disasm; /* of the caller; NULL: no disassembly wanted */
    uint64_t memory[16];        /* the driver's; zero before the first row */
};

enum { TROD_NATIVE_END = INT32_MAX };

/* What a file of a trace directory is for. */
enum trod_role {
    TROD_ROLE_INPUT,           /* rows */
    TROD_ROLE_SERIAL_SCHEDULE, /* drmemtrace: who ran when, over all cpus */
    TROD_ROLE_CPU_SCHEDULE,    /* drmemtrace: who ran when, cpu by cpu */
    TROD_ROLE_MODULES,         /* drmemtrace: modules.log */
    TROD_ROLE_FUNCTIONS,       /* drmemtrace: funclist.log */
    TROD_ROLE_ENCODINGS,       /* drmemtrace: encodings.bin */
    TROD_ROLE_V2P              /* drmemtrace: v2p.textproto */
};

struct trod_file {
    char *path;
    enum trod_role role;
};

/* The files of a trace. Inputs come first, in the order that settles ties between them. */
struct trod_files {
    struct trod_file *file;
    size_t n, cap;
};

/* Append PATH (copied). Returns 0 or TROD_ERR_NOMEM. trod_files_fini releases everything. */
int trod_files_add(struct trod_files *f, const char *path, enum trod_role role);
void trod_files_fini(struct trod_files *f);

/* What a user says of the files beside a trace. */
struct trod_beside_options {
    size_t struct_size;     /* sizeof the struct; 0 stands for its size in version 0 */
    const char *modules;    /* the list of modules; NULL: as found */
    const char *module_dir; /* where the modules' files are looked for first; NULL: nowhere */
    /* add physical addresses, and the names of functions and system calls as text of markers */
    bool more;
};

/* Files beside the inputs of a trace (all roles but INPUT) and what they add to its rows. */
struct trod_beside {
    uint32_t columns; /* columns that may be added to rows */
    /*
     * Read the files. *OUT is the state for fill, or NULL where there is nothing to add. What they
     * say of the whole trace goes to META. Returns 0 or an error, reported; a file that cannot be
     * used is a warning.
     */
    int (*open)(void **out, const struct trod_files *files, const struct trod_beside_options *opt,
                struct trod_meta *meta, struct trod_diag *diag);
    /* Add to the rows of B, in the order of the trace. */
    void (*fill)(void *state, struct trod_batch *b);
    void (*close)(void *state);
    /*
     * Call EACH for every mapping in the list of modules beside FILES; its path is valid during the
     * call. Another value of EACH than 0 ends that and is returned. Returns 0 or TROD_ERR_NOMEM; a
     * list that cannot be read is a warning. NULL: the format has no such lists.
     */
    int (*modules)(const struct trod_files *files, const struct trod_beside_options *opt,
                   int (*each)(void *user, const struct trod_module *m), void *user,
                   struct trod_diag *diag);
};

struct trod_analysis;
struct trod_input;

/* A format whose traces are directories of many files, for writers. */
struct trod_layout {
    /* Default compression of the files, in the words of trod_output_options.compress. */
    const char *(*compress)(const void *opt);
    /* Suffix of a file with the compression COMPRESS. */
    const char *(*suffix)(const char *compress);
    /* Columns needed, where they are fewer than what the format writes. NULL: what it writes. */
    uint32_t (*wants)(const void *opt, const struct trod_meta *meta, uint32_t drops);
    /* Number of the file that the rows of STREAM go to; META may know more streams later. */
    uint32_t (*key)(const void *opt, const struct trod_meta *meta, uint32_t stream, uint32_t drops);
    /* Path of file KEY below the directory DIR, to OUT (N bytes). 0 or TROD_ERR_USAGE. */
    int (*place)(const void *opt, const struct trod_meta *meta, uint32_t key, uint32_t drops,
                 const char *dir, const char *suffix, char *out, size_t n);
    /*
     * Write the files that stand beside the inputs (schedules, lists), once the N encoders ENC have
     * finished. Returns 0 or an error, reported.
     */
    int (*extras)(void *const *enc, size_t n, const char *dir, struct trod_diag *diag);
};

/*
 * For archives (zip) of which each member can be decoded without those before it, once the
 * beginning of the first has been seen: how to go to a later member without decoding those between.
 */
struct trod_jump {
    /* The member that holds instruction INSTRUCTION (from 1); TROD_NOWHERE: not known. */
    uint64_t (*member)(const void *dec, uint64_t instruction);
    /* Rows before the member whose first N bytes are at P; TROD_NOWHERE: it does not say. */
    uint64_t (*rows_before)(const void *dec, const uint8_t *p, size_t n);
    /* Let DEC go on with the first byte of MEMBER, a later one than the current one. */
    void (*enter)(void *dec, uint64_t member);
};

/*
 * The outline of a stretch of a file, from one cut to another: pieces of its bytes, which decide on
 * the state of a decoder behind it, and how much lies between them. Empty: all zero; what it holds
 * is released with trod_buf_fini(&o->bytes) and free(o->piece).
 */
struct trod_outline_piece {
    size_t shown;    /* bytes of the stretch: those in trod_outline.bytes behind the piece before */
    uint64_t hidden; /* bytes that follow them in the stretch */
    uint64_t rows, counted; /* in these: rows, and what the format counts (instructions, time) */
};

struct trod_outline {
    struct trod_buf bytes;
    struct trod_outline_piece *piece;
    size_t n, cap;
};

/*
 * For files that can be decoded in parts, but where a part needs the decoder state at its
 * beginning: one decoder runs over the records without making rows (pass), and decoders of parts
 * are copies of it (fork); or the state follows from the bytes before a part (enter). No two
 * threads use one decoder at once; a decoder and those forked from it may be used by different
 * threads.
 */
struct trod_parts {
    /*
     * Offset in the N bytes at P, which stand at OFFSET of the trace, at which a part may begin: a
     * decoder that is shown nothing from there on has given the rows of all that comes before it.
     * SIZE_MAX: none among them.
     */
    size_t (*cut)(const void *dec, uint64_t offset, const uint8_t *p, size_t n);
    /*
     * As decode, but rows need not be made: the number of those that are not is added to OUT's
     * first, and those that are are thrown away. Reports nothing. It must return an error where
     * decoding from its state would not give the rows that decode would give.
     */
    int (*pass)(void *dec, struct trod_span *in, struct trod_batch *out);
    /*
     * Give DEC the state of FROM. start() has prepared DEC with the same options and head, and its
     * meta knows all that FROM's knows. Returns 0 or TROD_ERR_NOMEM: then both can only be
     * released.
     */
    int (*fork)(void *dec, void *from);
    /*
     * Add to the outline OUT the N bytes at P, which follow those that it has; the first ones are
     * at a cut, or begin the trace. Threads may make outlines of
     * several stretches at once, of which none needs what comes before it. Returns how many bytes
     * were taken, SIZE_MAX without memory. NULL: there are none.
     */
    size_t (*outline)(const void *dec, const uint8_t *p, size_t n, struct trod_outline *out);
    /*
     * As pass, for the bytes that PIECE hides: DEC has passed over those that it shows. Returns 0,
     * or an error where decoding might give other rows.
     */
    int (*hidden)(void *dec, const struct trod_outline_piece *piece);
    /*
     * Bytes behind the end of a part that its decoder is shown, if there are so many: it makes rows
     * of records before the end only, and eats nothing behind it. cut() leaves so many.
     */
    size_t ahead;
    /* Time to pass over records by outlines, in per cent of that to decode and count their rows. */
    unsigned cost;
    /*
     * Instead of pass and outlines, where all parts are read by one process: set DEC, which start()
     * has prepared, to the state that decoding up to a cut ends with, by the last ENTRY bytes
     * before the cut, which begin at P. It is right if all parts before it are, and arrive: if
     * decoding them ends at their ends, and arrived() says so of the state that it ends with. Both
     * NULL: not possible; arrived NULL: ending there is enough.
     */
    void (*enter)(void *dec, const uint8_t *p);
    bool (*arrived)(const void *dec, const uint8_t *p);
    size_t entry;
    /*
     * Instead of pass and outlines, where all parts are read by one process: may decoders, whose
     * rows are to say the columns WANT, assume what comes before the cuts that they begin at? DEC
     * has passed over the beginning of the trace, up to the first cut. NULL: no.
     */
    bool (*may_assume)(const void *dec, uint32_t want);
    /*
     * DEC, forked from such a decoder, begins at another cut, with records numbered from there. It
     * notes what it assumes. Returns 0 or TROD_ERR_NOMEM.
     */
    int (*assume)(void *dec);
    /*
     * DEC has decoded a part so, and BEFORE the one before it, up to its end, after what it had
     * assumed proved right. Is what DEC assumed right? Then DEC knows what BEFORE knew. Returns 1,
     * 0, or TROD_ERR_NOMEM. Nothing more is decoded with either.
     */
    int (*assumed)(void *dec, void *before);
};

/*
 * All functions are pure in their state: no I/O, no allocation but what meta does for new streams,
 * no globals. State structs are plain data: copying them is seeking (rule 9). The one exception is
 * what has no bound (drmemtrace's encoding cache): it lives beside the state, copies share it, and
 * stop() releases it.
 */
struct trod_format {
    const char *name, *title;
    const char *const *suffixes; /* NULL-terminated, with dot: break ties only */
    const char *const *dialects; /* NULL-terminated, or NULL */
    uint32_t reads, writes;      /* columns */
    uint32_t kinds;              /* bits 1 << enum trod_kind its records can be; 0: any */
    uint32_t isas;               /* bits 1 << enum trod_isa that it has a word for; 0: any */
    uint32_t flags;
    uint32_t row_max;                        /* bytes one encoded row may need */
    uint32_t record_rows;                    /* rows one record may give at most (0: 1) */
    const struct trod_option *options;       /* of reading and of writing */
    size_t options_size, dec_size, enc_size; /* bytes of the structs of options, states */
    const void *defaults;                    /* options before any is set; NULL: all zero */
    /* Bits 1 << sub of MARKER rows that differ in any two runs: when and where the program ran. */
    uint64_t run_markers;

    /*
     * Bits of evidence that the data is of this format: -log2 of the chance that foreign data
     * passes the same checks; 0: not mine. *dialect may be set to a static name.
     */
    int (*bid)(const struct trod_probe *, const char **dialect);

    /*
     * Prepare DEC (dec_size zero bytes) with options OPT for input that begins with HEAD. What is
     * known goes to META, which outlives DEC. Returns 0 or an error, reported. Consumes nothing.
     */
    int (*start)(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag);

    /*
     * Eat whole records from IN, append rows to OUT (empty, out->bytes == in->p). IN is advanced
     * past what was eaten. With in->last every byte is eaten or an error returned: a cut last
     * record is reported as TROD_ERR_TRUNCATED. Returns a trod_decode_result, or an error,
     * reported, with the rows before it in OUT and IN at the bad record: the reader then ends.
     * Malformed records that a driver can step over (text lines, or by its resync) are reported to
     * DIAG and skipped without returning. With diag->strict the first error is returned. The rows
     * of one record are never parted: OUT has room for record_rows rows when it is empty, and a
     * record whose rows do not fit any more waits for the next batch (TROD_DEC_FULL). The first row
     * of a record carries raw, the others TROD_F_CONT. A driver whose records are numbered may set
     * OUT's first while OUT is empty; the reader counts on from there.
     */
    int (*decode)(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag);

    /* Release what start() and decode() keep beside DEC. Called once a start(). NULL: nothing. */
    void (*stop)(void *dec);

    /*
     * Offset in the N bytes at P (P not at a known boundary) from which decoding yields exactly
     * what serial decoding would, SIZE_MAX if there is none in them. NULL: there is no such place.
     */
    size_t (*resync)(const void *dec, const uint8_t *p, size_t n);
    /*
     * Where decoding of a plain file can begin. stride not 0: at every multiple of that many bytes,
     * for every record is so long, gives one row, and does not depend on those before it. cuts:
     * wherever resync says, by a decoder that start() has prepared with the head of the file.
     * parts (below): at a cut of theirs, by a decoder that was forked there. Neither: only at the
     * beginning.
     */
    uint32_t stride;
    bool cuts;

    /*
     * Save the state of DEC between two batches, and load it into a decoder that start() has
     * prepared with the same options and head, which then goes on exactly there. save() appends the
     * state to STATE, and to LOG what was added since the last save() to what a decoder never
     * forgets; load() gets that STATE and the LOG as it was then. load() returns TROD_ERR_CORRUPT
     * for bytes that save() did not write. Both return 0 or TROD_ERR_NOMEM. Both NULL: not
     * possible.
     */
    int (*save)(void *dec, struct trod_buf *state, struct trod_buf *log);
    int (*load)(void *dec, struct trod_span *state, struct trod_span *log);

    /*
     * Nothing is decoded by DEC for a while: release memory that can be made again. Until wake()
     * nothing else is called but stop(). wake() makes it again; ROWS, which DEC decoded last, have
     * what they share back. Returns 0 or TROD_ERR_NOMEM. Both NULL: DEC has little memory.
     */
    void (*rest)(void *dec);
    int (*wake)(void *dec, struct trod_batch *rows);

    /* How to skip members of an archive. NULL: by decoding them. */
    const struct trod_jump *jump;

    /* Prepare ENC (enc_size zero bytes). Returns 0 or an error, reported. NULL: cannot be written.
     */
    int (*begin)(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);

    /*
     * Encode rows from *ROW on, advance *ROW past those done. TROD_ENC_FULL when the room is used
     * up (each row needs at most row_max bytes, plus len of its raw, text and data slices).
     * Rows and values that the format cannot hold are counted (loss.h) and dropped.
     */
    int (*encode)(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                  struct trod_diag *diag);

    /* Write what is pending: end markers. May return TROD_ENC_FULL and be called again. */
    int (*finish)(void *enc, struct trod_room *out, struct trod_diag *diag);

    /*
     * Where the rows of ENC go. Called between begin() and the first row and, because the output
     * is made with its first row, once more before that. NULL: it makes no difference. Returns 0 or
     * an error, reported.
     */
    int (*target)(void *enc, const struct trod_target *target, struct trod_diag *diag);

    /*
     * Set KEEPS to what is kept of rows of a trace with META that are written with options OPT.
     * KEEPS comes set to everything where META is of this format; else to the columns of writes and
     * all flags, with all other columns in lost. NULL: it stays so.
     */
    void (*keeps)(const void *opt, const struct trod_meta *meta, struct trod_keeps *keeps);

    /* Rows [FROM, FROM + N) of B, which are next, are not written. NULL: ENC need not know. */
    void (*pass)(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n);

    /* Release what begin() and encode() keep beside ENC. Called once a begin(). NULL: nothing. */
    void (*drop)(void *enc);

    /* How traces of many files are laid out. NULL: DIR/NUMBER.NAME and suffix for each stream. */
    const struct trod_layout *layout;

    /*
     * True when a row decoded with DEC options A may be copied byte for byte from its raw slice
     * into output with options B. NULL: never.
     */
    bool (*verbatim)(const void *opt_in, const char *dialect_in, const void *opt_out);

    /*
     * Write ROW as the format's own documents or tools print its record: one or more whole lines,
     * or nothing where the row belongs to the record of the row before (TROD_F_CONT) or is printed
     * with the next one. N is the same for all rows of a listing; after the last row there is one
     * more call with row TROD_NATIVE_END (B is then the last batch, or NULL). Returns
     * TROD_ENC_DONE, or TROD_ENC_FULL with OUT untouched (4 KiB are always enough). Needs all
     * columns the format reads. NULL: the format has no such form.
     */
    int (*native)(struct trod_native *n, const struct trod_batch *b, uint32_t row,
                  struct trod_room *out);

    /*
     * What the format's own documents call a record that gives rows of KIND with SUB (static text),
     * NULL where they have no name. NULL: the format has no such names, or rows carry them as text.
     */
    const char *(*sub_name)(unsigned kind, unsigned sub);

    /* How the value of rows of KIND with SUB is read (enum trod_value_form). NULL: ANY. */
    unsigned (*value_form)(unsigned kind, unsigned sub);

    /* sub_name has names for numbers below this; 0: for none. */
    uint32_t subs;

    /* What a stream is: "cpu", "thread", "core", "agent". NULL: "cpu". */
    const char *streams;

    /* Name of bit BIT of meta->filetype, NULL if it has none. NULL: the format has no such bits. */
    const char *(*filetype_name)(unsigned bit);

    /* What files beside a trace add to its rows; NULL: there are none. */
    const struct trod_beside *beside;

    /* What `trod info` adds for such traces to what it says of any; NULL: nothing. */
    const struct trod_analysis *info;

    /*
     * Is the directory PATH a trace of this format? Returns 1 and its files in OUT (inputs first),
     * 0 when it is not, or an error, reported: a directory that is this format's but cannot be read
     * as a trace. Lists directories and looks at the first bytes of files, nothing more. NULL: the
     * format has no directories.
     */
    int (*resolve)(const char *path, struct trod_files *out, struct trod_diag *diag);

    /*
     * Translate an input of DIALECT that cannot be decoded as it stands (drmemtrace: raw files).
     * *IN becomes a new input, which owns the old one and gives what was translated; start and
     * decode see that. FILES are those of the trace, OPT what the user says of files beside it
     * (NULL: not known). Where *IN needs no translation it is left alone. Returns 0, or an error,
     * reported: *IN is then still the caller's, or NULL. NULL: no dialect needs it.
     */
    int (*remake)(struct trod_input **in, const char *dialect, const struct trod_files *files,
                  const struct trod_beside_options *opt, struct trod_diag *diag);

    /*
     * Copy IN, an input that remake made, from its beginning to the file of ENC without making
     * rows; the bytes are those that encode would write. Returns 0; 1 where that cannot be done (IN
     * is as it was); or an error, reported: what came before it was copied. With COPY NULL nothing
     * is copied: 0 or 1 says whether it could be. NULL: it cannot.
     */
    int (*copy)(void *enc, struct trod_input *in, struct trod_copy *copy, struct trod_diag *diag);

    /* How decoding begins in the middle of a plain file; NULL: as stride and cuts say above. */
    const struct trod_parts *parts;

    /*
     * The register, by name, whose value row I of B tells, a MARKER or an access that has a detail
     * of at least told_detail bytes, and that value, of 32 bits; NULL: it tells none. NULL: no such
     * row does.
     */
    const char *(*register_told)(const struct trod_batch *b, uint32_t i, uint32_t *value);
    uint32_t told_detail;

    /*
     * Rows [FROM, FROM + N) of B, whole records that are next, may be copied as verbatim says.
     * Returns how many of them, up to the end of a record, say in the output what they said in
     * their trace; ENC takes these as written. The record behind them is to be encoded, because it
     * leaves something to a record before it that is not there. NULL: no record does that.
     */
    uint32_t (*copies)(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n);
};

/*
 * Ask each format's resolve. Returns 1 with *FORMAT and OUT set, 0 when no format knows the
 * directory, or an error, reported.
 */
int trod_resolve(const char *path, const struct trod_format **format, struct trod_files *out,
                 struct trod_diag *diag);

/* Format I in the order of formats.def, NULL past the last; by name (LEN bytes), NULL if none. */
const struct trod_format *trod_format_at(size_t i);
const struct trod_format *trod_format_find(const char *name, size_t len);

/* A candidate of detection: a format, the dialect that its bid named or NULL, bits of evidence. */
struct trod_candidate {
    const struct trod_format *format;
    const char *dialect;
    int bits;
};

/* Bits of evidence that detection goes by: see trod_detect. At most TROD_CANDIDATES formats bid. */
enum { TROD_BID_ACCEPT = 24, TROD_BID_NAMED = 8, TROD_BID_LEAD = 8, TROD_CANDIDATES = 32 };

/*
 * Let the formats of LIST (N of them; NULL: all) bid on PROBE. *BEST is set when one has at least
 * TROD_BID_ACCEPT bits and leads by TROD_BID_LEAD, a suffix of the path deciding between
 * candidates that are closer. Where none has as much, a suffix decides between those that have
 * TROD_BID_NAMED: formats whose records other data may look like. Returns 0, TROD_ERR_UNKNOWN or
 * TROD_ERR_AMBIGUOUS, reported with the candidates and the option --from.
 */
int trod_detect(const struct trod_probe *probe, const struct trod_format *const *list, size_t n,
                struct trod_candidate *best, struct trod_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
