/*
 * decode.h - the state of a drmemtrace decoder.
 *
 * Plain data; what has no bound lies beside it (side.h).
 */
#ifndef TROD_DRMEMTRACE_DECODE_H
#define TROD_DRMEMTRACE_DECODE_H

#include "format/drmemtrace/side.h"
#include "trod/format.h"

/*
 * A row and the hidden entries before it are a tile, of at most so many entries. Further hidden
 * entries belong to no row and become a note.
 */
enum { DRM_TILE = 64 };

enum drm_addresses { DRM_CANONICAL, DRM_STORED };
enum drm_yes_no { DRM_AUTO, DRM_YES, DRM_NO };
enum drm_entry_bytes { DRM_ENTRY_OPT_AUTO, DRM_ENTRY_OPT_8, DRM_ENTRY_OPT_12 };

struct drm_options {
    int addresses; /* enum drm_addresses */
    /* of writing */
    uint64_t version, chunk; /* instructions a chunk as the trace says; 0: DRM_CHUNK_DEFAULT */
    int encodings;           /* enum drm_yes_no */
    int entry;               /* enum drm_entry_bytes */
    const char *app;         /* in file names; NULL: "trod" */
    const char *container;   /* of the files of a directory; NULL: zip */
};

struct drm_dec {
    struct drm_side *side;
    struct trod_meta *meta;
    uint32_t file;   /* number of the file in its trace */
    uint8_t width;   /* of an entry: DRM_ENTRY_64 or DRM_ENTRY_32 */
    uint8_t shift;   /* addresses are sign-extended from bit 63 - shift; 0: as stored */
    bool stored;     /* addresses as stored, whatever the file type says */
    bool headless;   /* the first chunk is lost, and the header with it */
    bool bad_header; /* the first entry should be one, and is not */
    bool begun;      /* the header has been looked at */
    bool ended;      /* the end has been looked at */
    bool pc_known, time_known, has_target;
    bool in_syscall, in_switch;
    bool entered; /* at the beginning of a chunk behind what was not read: its record number is
                     taken over */
    bool jumped;  /* the rows behind it are numbered by that, too */
    bool footer;  /* the last entry was a FOOTER */
    uint8_t flush_type; /* of a range whose end has not come; 0: none */
    uint8_t code_n;     /* bytes of pending encoding */
    uint8_t code[DRM_CODE_MAX];
    uint32_t depth;  /* of hardware events */
    uint32_t thread; /* in side->thread */
    /* The last instruction row, for the bundle that may follow it. */
    uint16_t last_type;
    uint32_t last_flags, last_has;
    uint64_t last_pc, last_target;
    uint64_t pc, next_pc, target, flush_addr, time, cpu;
    uint64_t instrs, records;
    uint64_t chunk_size, chunk_base, chunks; /* instructions; instrs where it began; ended */
    uint64_t filetype, version;
};

/*
 * Width of the entries of the N bytes at P, which begin a trace if their first entry is a damaged
 * header; else 0.
 */
unsigned drm_damaged_width(const uint8_t *p, size_t n);

int drm_decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag);

/* state.c: the callbacks that keep a decoder's state as bytes. */
int drm_save(void *dec, struct trod_buf *state, struct trod_buf *log);
int drm_load(void *dec, struct trod_span *state, struct trod_span *log);

/* rest.c */
void drm_rest(void *dec);
int drm_wake(void *dec, struct trod_batch *rows);

/* Columns that a decoder fills. */
enum {
    DRM_READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
                TROD_COL_INDEX | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE |
                TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_RAW,
    DRM_WRITES = DRM_READS & ~(TROD_COL_INDEX | TROD_COL_TEXT)
};

/* State of one call of decode: not kept between calls. */
struct drm_call {
    struct drm_dec *d;
    struct trod_batch *out;
    struct trod_diag *diag;
    const uint8_t *base, *end; /* of the window */
    uint64_t offset;           /* of base in the decoded stream */
    bool last;
    bool once;        /* opcodes are wanted where they are new only (TROD_WANT_NEW_CODE) */
    bool passes;      /* rows need not be made (pass.c) */
    uint64_t lacking; /* missing encodings that were reported: they damage no record */
};

/* entry.c: one entry at P, which is not one of those the hot loop handles by itself. */
enum drm_step { DRM_HIDDEN, DRM_ROW };

/*
 * Process the entry at P, which is not one of those that the hot loop handles; the tile that it may
 * complete begins at TILE. Returns DRM_HIDDEN, DRM_ROW (rows were appended) or an error, reported.
 */
int drm_entry(struct drm_call *c, const uint8_t *tile, const uint8_t *p);

/* The same for a MARKER entry with these fields. */
int drm_marker(struct drm_call *c, const uint8_t *tile, const uint8_t *p, unsigned marker,
               uint64_t value);

/*
 * decode.c: check that the encoding of the instruction at PC, whose entry is P, has come, where the
 * encoding itself is not wanted; report it if not. Encodings are never forgotten, so one check is
 * enough: instructions that passed it are remembered (drm_proven), except system calls, whose flag
 * must be set each time. Where opcodes are wanted when they are new, row N gets it. Returns the
 * flags that the encoding adds to TYPE_FLAGS.
 */
uint32_t drm_prove(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t pc,
                   uint32_t type_flags);

/*
 * decode.c: give row N, an INSTR with the entry P at ADDR, its encoding. Returns the flags that
 * this adds to TYPE_FLAGS.
 */
uint32_t drm_take_code(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t addr,
                       uint32_t type_flags);

/* Columns that a hot loop fills: LEAN always; PC, INDEX and RAW as well; opcodes as well. */
enum drm_level { DRM_LEAN, DRM_FULL, DRM_CODE };

/* What a hot loop hands on to the next. */
struct drm_hot_run {
    uint32_t n, end;     /* the next row; rows at most */
    uint64_t instrs, pc; /* instructions fetched so far; where the last one is */
};

/*
 * wide.c: rows for plain entries of a 64-bit trace from P on, 16 at a time, the same as decode.c's
 * hot loop makes, which goes on behind them. PROVES: encodings must have come. Returns where it
 * stopped.
 */
const uint8_t *drm_wide_rows(struct drm_call *c, const uint8_t *p, struct drm_hot_run *h,
                             enum drm_level level, bool proves);

/*
 * coded.c: rows for instructions from P on that bring their encodings, as long as there is room and
 * one more entry is in the window. Returns where it stopped.
 */
const uint8_t *drm_coded_rows(struct drm_call *c, const uint8_t *p);

/* pass.c: how decoding begins in the middle of a file. */
extern const struct trod_parts drm_parts;

/*
 * pass.c: pass over the plain entries from P on of which the hot loop would make rows, except the
 * last instruction and the entries behind it. Returns where it stopped.
 */
const uint8_t *drm_pass_rows(struct drm_call *c, const uint8_t *p);

/* decode.c: as drm_decode; if PASSES is set, without making rows of plain entries. */
int drm_go(struct drm_dec *dec, struct trod_span *in, struct trod_batch *out,
           struct trod_diag *diag, bool passes);

/*
 * Are opcodes given only where they are new? Files beside the trace may give those that it lacks.
 */
static inline bool drm_once(const struct drm_call *c)
{
    return c->once && c->d->filetype & TROD_DRM_ENCODINGS;
}

/* Is no state pending that the hot loop does not handle? */
static inline bool drm_is_plain(const struct drm_dec *d)
{
    return d->pc_known && d->code_n == 0 && !d->has_target &&
           d->side->thread[d->thread].stream >= 0;
}

/* Take over the file type BITS of entry P: set the meta and the width of addresses. */
void drm_filetype(struct drm_call *c, uint64_t bits, const uint8_t *p);

/*
 * Report that the encoding of the instruction at PC, whose entry is P and which becomes row N, is
 * missing.
 */
void drm_missing(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t pc);

/*
 * Flags of an instruction with the encoding CODE beyond TYPE_FLAGS: types do not tell x86's
 * syscall and int, svc, ecall from others.
 */
uint32_t drm_code_flags(const struct drm_call *c, struct trod_slice code, uint32_t type_flags);

/* Append a note of the entries [FROM, TO). Returns DRM_ROW or an error. */
int drm_note(struct drm_call *c, const uint8_t *from, const uint8_t *to, enum drm_note what);

/* The current thread's number in the meta, given when its first row comes. Or an error. */
int drm_stream(struct drm_call *c);

/* Switch to thread TID. */
int drm_switch(struct drm_dec *d, uint64_t tid);

static inline struct trod_place drm_place(const struct drm_call *c, const uint8_t *p)
{
    struct trod_place at = trod_place_offset(NULL, c->offset + (uint64_t)(p - c->base));

    at.record = c->d->records;
    return at;
}

#endif
