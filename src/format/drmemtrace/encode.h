/*
 * encode.h - the state of a drmemtrace encoder, and what its parts share.
 *
 * Plain data; what has no bound (encodings written, schedule) lies beside it. See encode.c.
 */
#ifndef TROD_DRMEMTRACE_ENCODE_H
#define TROD_DRMEMTRACE_ENCODE_H

#include "core/drm_time.h"
#include "core/endian.h"
#include "format/drmemtrace/decode.h"
#include "format/streams.h"
#include "trod/insn.h"
#include "trod/loss.h"

enum {
    DRM_ROW_MAX = 1 << 12, /* bytes one row may make: all that waited for it, and a new chunk */
    DRM_HOLD_MAX = 96,     /* entries that wait for the direction of a branch */
    DRM_KEPT_MAX = 64,
    DRM_LATE_MAX = 32,
    DRM_SOON = 16,       /* rows that what is known of code is asked for ahead */
    DRM_PLAIN_LEAST = 8, /* rows that are looked at for plain ones in one go, at the least */
    DRM_CHUNK_DEFAULT = 10000000,
    DRM_TIME_EVERY = 1000 /* instructions between times put in, at the least */
};

/* 1970-01-01 in microseconds since 1601: time 0 of sources that do not say what day it was. */
#define DRM_EPOCH UINT64_C(11644473600000000)

/* A static instruction: what was written of it, and what it does to the flow. */
struct drm_seen {
    uint64_t pc, target;
    uint32_t
        epoch; /* chunk (counted on over files) in which its encoding was written last; 0: none */
    uint8_t used, known, has_target,
        branch; /* known: branch (enum trod_branch) is from the opcode */
    uint8_t len, iset;
    bool added; /* by a copy, which found it not where it was needed */
    uint8_t code[DRM_CODE_MAX];
};

/* An entry of the schedule files. */
struct drm_schedule {
    uint64_t tid, time, cpu, start;
};

struct drm_enc_side {
    struct drm_seen *seen;
    uint32_t mask, n;
    uint32_t epoch;
    struct trod_insn_decoder *insn; /* made when it is needed first */
    bool no_insn;                   /* there is none */
    struct drm_schedule *schedule;
    size_t n_schedule, cap_schedule;
};

/* An instruction whose entries wait for what follows it. */
struct drm_held {
    bool any;
    bool event; /* an exception was seen behind it */
    bool skipped;
    uint8_t branch;
    bool known, has_target; /* has_target: decoded */
    uint16_t size;
    uint64_t pc, target;
    struct drm_seen *seen; /* NULL: no encoding. Valid: the table does not grow while it waits */
    uint16_t type;         /* where it is known: held for other reasons */
    struct trod_loss_held row;
};

/* Rows that wait, N alike one after the other. */
struct drm_waiting {
    struct trod_loss_held row;
    uint32_t n;
};

struct drm_enc {
    const struct drm_options *opt;
    const struct trod_meta *meta;
    struct drm_enc_side *side;
    struct trod_diag *diag;

    bool native; /* rows come from a drmemtrace trace: sub holds record types */
    /* sub of MARKER rows is a marker number of this format, also where rows were made for it */
    bool markers;
    bool copy;     /* entries are copied */
    bool keep_all; /* every instruction is held back until its accesses have come */
    bool transfer; /* a marker said that the next instruction is somewhere else */
    bool begun, exited, new_chunk, unsettled;
    bool parts, single;
    bool ifiltered, merge, encodings;
    bool exact;   /* an encoding has as many bytes as its instruction, or this is lost */
    bool orphans; /* accesses that come are of an instruction that was lost */
    uint8_t width;
    uint32_t drops, key;
    uint64_t version, filetype, chunk_size;

    uint32_t stream; /* whose rows come, once begun */
    uint64_t tid, pid;
    uint64_t instrs, records, chunk_base, chunks;
    uint64_t passed;    /* instructions left out, here or where the source was made */
    uint64_t counted;   /* what the last INSTRUCTION_COUNT said */
    uint64_t time, cpu; /* last written */
    uint64_t time_at;   /* instrs then */
    uint8_t time_state; /* 0: none, 1: TIMESTAMP, 2: TIMESTAMP and CPU_ID, nothing since */
    bool has_time, has_cpu, has_count;
    struct drm_late {
        unsigned number;
        uint64_t value;
    } late[DRM_LATE_MAX]; /* times and cpus that wait for their place */
    uint32_t n_late;
    bool cut_data; /* the row left out last was an access of the held instruction */

    uint8_t branch; /* of the last instruction of another format */
    bool has_last;  /* the last instruction: */
    bool last_branch;
    uint64_t last_pc, next_pc; /* its address; what must follow it */
    uint64_t pc;               /* as a reader has it */
    bool has_pc;

    struct drm_held held;
    struct fmt_aims aims;        /* of other sources */
    struct trod_loss_held shown; /* the instruction whose target is the last one */
    uint32_t n_hold;
    bool pending; /* an access that may be merged with the next */
    uint16_t pending_type;
    uint32_t pending_size;
    uint64_t pending_addr;
    struct trod_loss *loss;
    struct drm_waiting waiting[DRM_HOLD_MAX]; /* rows whose entries are in hold */
    uint32_t n_waiting;
    struct {
        unsigned number;
        uint64_t value;
    } kept[DRM_KEPT_MAX]; /* markers left out that must stay */
    uint32_t n_kept;
    uint8_t hold[DRM_HOLD_MAX * DRM_ENTRY_64];
    uint32_t hold_records; /* of these; records_before: before them, while they are written */
    uint64_t records_before;
};

/* Bits of the times that are read and written: where both have 32 they wrap. */
static inline unsigned drm_time_bits(const struct drm_enc *e)
{
    return e->native && e->meta->addr_bits == 32 && e->width == DRM_ENTRY_32 ? 32 : 64;
}

/* Is NOW behind the time that was written last? */
static inline bool drm_time_on(const struct drm_enc *e, uint64_t now)
{
    return now != e->time && !trod_drm_time_back(e->time, now, drm_time_bits(e));
}

/* --- emit.c: entries --- */

/* Write an entry at out->p; room has been seen to. */
static inline void drm_put(const struct drm_enc *e, struct trod_room *out, unsigned type,
                           unsigned size, uint64_t addr)
{
    trod_store_le32(out->p, type | size << 16);
    if (e->width == DRM_ENTRY_64)
        trod_store_le64(out->p + 4, addr);
    else
        trod_store_le32(out->p + 4, (uint32_t)addr);
    out->p += e->width;
}

/* A visible marker. */
void drm_put_marker(struct drm_enc *e, struct trod_room *out, unsigned marker, uint64_t value);
/* TIMESTAMP and CPU_ID with their part in the schedule. */
int drm_put_time(struct drm_enc *e, struct trod_room *out, uint64_t time);
int drm_put_cpu(struct drm_enc *e, struct trod_room *out, uint64_t cpu);
/* Both, with TIME or a later time and the current cpu. */
int drm_put_now(struct drm_enc *e, struct trod_room *out, uint64_t time);
/* The header, of the thread of STREAM. */
void drm_put_header(struct drm_enc *e, struct trod_room *out, uint32_t stream);
/* Is the chunk full? Its end; the beginning of the next. */
bool drm_chunk_full(const struct drm_enc *e);
void drm_chunk_end(struct drm_enc *e, struct trod_room *out);
void drm_chunk_begin(struct drm_enc *e, struct trod_room *out);
/* An instruction with its encoding and (target not 0) its BRANCH_TARGET. */
void drm_put_instr(struct drm_enc *e, struct trod_room *out, unsigned type, unsigned size,
                   uint64_t pc, struct drm_seen *seen, bool has_target, uint64_t target);
/* An access; one that may be merged waits (drm_put_pending). */
void drm_put_data(struct drm_enc *e, struct trod_room *out, unsigned type, uint32_t size,
                  uint64_t addr);
void drm_put_pending(struct drm_enc *e, struct trod_room *out);

/* Does the access go on where the one that waits ends? Then that one is both. */
static inline bool drm_merges(struct drm_enc *e, unsigned type, uint32_t size, uint64_t addr)
{
    if (!e->pending || e->pending_type != type || type > DRM_WRITE || size == 0 ||
        e->pending_addr + e->pending_size != addr || e->pending_size + size > 256)
        return false;
    e->pending_size += size;
    return true;
}

/* The access waits for the next one. */
static inline void drm_pend(struct drm_enc *e, unsigned type, uint32_t size, uint64_t addr)
{
    e->pending = true;
    e->pending_type = (uint16_t)type;
    e->pending_size = size;
    e->pending_addr = addr;
}

/* --- enc_flow.c: branches --- */

/*
 * The instruction of ROW. Returns DRM_FLOW_DONE, DRM_FLOW_PART (a chunk ended: begin a part, then
 * the row again), or TROD_ERR_NOMEM.
 */
enum { DRM_FLOW_DONE, DRM_FLOW_PART };
int drm_flow_instr(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out);
/* The kind of branch that the type of the record says which was made of a foreign row last. */
unsigned drm_flow_branch(const struct drm_enc *e);
/* What was held goes out: NEXT follows it, if KNOWN. A chunk has room for it. */
void drm_flow_settle(struct drm_enc *e, struct trod_room *out, bool known, uint64_t next);
/*
 * The trace ends behind the held instruction: if it is a branch without a successor it is dropped.
 */
void drm_flow_end(struct drm_enc *e, struct trod_room *out);
/* Write the pending access, which might have been merged with the next one. */
void drm_flow_pending(struct drm_enc *e, struct trod_room *out);
/*
 * Where to write the entries of a row that is no instruction: OUT, or HOLD, set to the room behind
 * the held entries. drm_flow_put takes over what was written to HOLD.
 */
struct trod_room *drm_flow_room(struct drm_enc *e, struct trod_room *out, struct trod_room *hold);
void drm_flow_put(struct drm_enc *e, const struct trod_room *out, const struct trod_room *used);

/* ROW's entries are in what is held; LOST: columns that were counted as lost. */
void drm_flow_wait(struct drm_enc *e, const struct trod_batch *b, uint32_t row, uint32_t lost);

/*
 * The record type that stands for TYPE in the version that is written: before version 5 nothing
 * says whether a conditional branch was taken.
 */
static inline unsigned drm_old_type(const struct drm_enc *e, unsigned type)
{
    return e->version < DRM_VERSION_BRANCH_INFO &&
                   (type == DRM_TAKEN_JUMP || type == DRM_UNTAKEN_JUMP)
               ? DRM_CONDITIONAL_JUMP
               : type;
}

/* Is TYPE an instruction that no time may follow? */
static inline bool drm_turns(unsigned type)
{
    const uint32_t branch = drm_type_info(type)->flags & TROD_F_BRANCH;

    return branch != TROD_BR_NONE && branch != TROD_BR_SYSCALL;
}

/* --- enc_marker.c --- */

/* ROW, a marker of this format. */
int drm_enc_marker(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out);
/* Write the times and cpus that wait. */
int drm_put_late(struct drm_enc *e, struct trod_room *out);
/* Write markers that the choice left out but without which the rest is no valid trace. */
int drm_put_kept(struct drm_enc *e, struct trod_room *out);

/* --- enc_plain.c --- */

/* The rows of B from ROW on that no rule concerns. Returns the first that is left. */
uint32_t drm_enc_plain(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out);

/* --- enc_loss.c: the account --- */

/* Does an entry hold address V as a reader takes it? */
static inline uint64_t drm_read_back(const struct drm_enc *e, uint64_t v)
{
    /* bits of an address: the rest repeats the highest */
    const unsigned rest = e->filetype & TROD_DRM_AARCH64 ? 8 : 16;

    if (e->width == DRM_ENTRY_32)
        return (uint32_t)v;
    return e->native ? v : (uint64_t)((int64_t)(v << rest) >> rest);
}

static inline bool drm_fits(const struct drm_enc *e, uint64_t v)
{
    return drm_read_back(e, v) == v;
}

/* Are opcodes that the source has not written? Those from files beside it can be had again. */
static inline bool drm_lose_code(const struct drm_enc *e)
{
    return !e->encodings && !(e->native && !(e->meta->filetype & TROD_DRM_ENCODINGS));
}

/* Must an instruction have the size of its opcode? Readers call another one damage. */
static inline bool drm_code_sized(const struct drm_enc *e)
{
    return e->encodings && !(e->filetype & TROD_DRM_REGDEPS);
}

/* Count losses; each returns the columns that it counted. ROW has no record: */
void drm_lose(struct drm_enc *e, const struct trod_batch *b, uint32_t row);
/* The value V of ROW's column COLUMN goes into an entry. */
uint32_t drm_lose_width(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                        uint32_t column, uint64_t v);
/* ROW is written with a size of N bytes, but an entry holds MOST at the most. */
uint32_t drm_lose_size(struct drm_enc *e, const struct trod_batch *b, uint32_t row, uint64_t n,
                       uint64_t most);
/*
 * The marker of ROW is written. Where events happened is an offset in a module up to version 2, and
 * an address in later ones; which module nothing says.
 */
void drm_lose_event(struct drm_enc *e, const struct trod_batch *b, uint32_t row);
/* The instruction of ROW is written. */
uint32_t drm_lose_instr(struct drm_enc *e, const struct trod_batch *b, uint32_t row);

/* --- enc_copy.c --- */

/*
 * Copy rows from *ROW on. Returns TROD_ENC_DONE with *ROW at the end, or where something else
 * must go on (e->copy is false then), TROD_ENC_FULL, TROD_ENC_PART, or an error.
 */
int drm_enc_copy(struct drm_enc *e, const struct trod_batch *b, uint32_t *row,
                 struct trod_room *out);

/* --- enc_side.c --- */

int drm_enc_side_new(struct drm_enc_side **out);
void drm_enc_side_free(struct drm_enc_side *s);
/* The place of the instruction at PC, made if it is new; NULL: no memory. */
struct drm_seen *drm_seen_at(struct drm_enc_side *s, uint64_t pc);
/*
 * Prefetch what is known of PC, which is needed soon: with much code the table does not fit into
 * caches.
 */
static inline void drm_seen_soon(const struct drm_enc_side *s, uint64_t pc)
{
    if (s->seen)
        __builtin_prefetch(&s->seen[drm_side_hash(pc) & s->mask], 1);
}
int drm_schedule_add(struct drm_enc_side *s, const struct drm_schedule *entry);

/* --- layout.c --- */

extern const struct trod_layout drm_layout;

/* --- encode.c --- */

/* Settle width, version and file type of what is written anew, from ROW of B on. */
void drm_enc_describe(struct drm_enc *e, const struct trod_batch *b, uint32_t row);
/* Write the encoding of SEEN if its chunk has it not yet. */
void drm_put_encoding(struct drm_enc *e, struct trod_room *out, struct drm_seen *seen);
/* The time of ROW in microseconds since 1601. */
uint64_t drm_enc_time(const struct drm_enc *e, const struct trod_batch *b, uint32_t row);
int drm_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int drm_target(void *enc, const struct trod_target *target, struct trod_diag *diag);
int drm_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag);
int drm_finish(void *enc, struct trod_room *out, struct trod_diag *diag);
void drm_pass(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n);
void drm_drop(void *enc);
void drm_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k);

#endif
