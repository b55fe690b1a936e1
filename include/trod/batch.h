/*
 * batch.h - rows: up to 4096 events as columns.
 *
 * Implements docs/design.md, "Rows". One row is one event, in file order. A column is an array with
 * an element a row; masks say which columns a batch carries (have), which somebody needs (want)
 * and, row by row, which of them that row really says (has). What a row does not say is absent: its
 * element is unspecified and must not be read.
 */
#ifndef TROD_BATCH_H
#define TROD_BATCH_H

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_BATCH_ROWS = 4096, TROD_POOL_BYTES = 1 << 20 };

/* What happened. The meaning of the columns for each kind stands beside it. */
enum trod_kind {
    TROD_NOTE,       /* kept, not understood: raw, text = its type word */
    TROD_INSTR,      /* addr = pc = its address, size = length in bytes, code, text = disassembly */
    TROD_READ,       /* data read: addr, size, value or data, pc of the instruction if known */
    TROD_WRITE,      /* data write */
    TROD_ATOMIC,     /* read-modify-write in one: text = operation */
    TROD_PREFETCH,   /* software prefetch: addr, size, sub = type code of the format */
    TROD_FLUSH,      /* cache line flush by the program: addr, size; TROD_F_IFETCH: of code */
    TROD_REG,        /* register write: text = name, size = bytes written, value or data */
    TROD_BRANCH,     /* program flow without its instruction: addr = pc = source, target */
    TROD_EXCEPTION,  /* value = number, text = name, addr = value of the event, target if known */
    TROD_MODE,       /* change of processor mode: as EXCEPTION */
    TROD_SYNC,       /* thread synchronization: addr = sync point, value = count, sub = type code */
    TROD_MARKER,     /* sub = number, value, text = name; data = words in file order */
    TROD_STATE,      /* all registers: data = the state as the format has it, addr = pc */
    TROD_CACHE_OP,   /* cache maintenance: text = operation, addr or value */
    TROD_CACHE_LINE, /* text = cache, value = line, paddr, sub = enum trod_line_op */
    TROD_WALK,       /* translation table walk: paddr = descriptor, value = entry, text = result */
    TROD_TLB,        /* text = TLB, addr = virtual base, paddr, size, sub = enum trod_tlb_op */
    TROD_BUS,        /* bus transaction: paddr (and addr), size, data in address order */
    TROD_THREAD,     /* a thread begins (sub 0) or ends (sub 1): value = thread id */
    TROD_KINDS
};

/* Columns: bits of have, want and has. */
enum trod_column {
    TROD_COL_KIND = 1 << 0,
    TROD_COL_FLAGS = 1 << 1,
    TROD_COL_SIZE = 1 << 2,   /* bytes */
    TROD_COL_STREAM = 1 << 3, /* number of the thread, cpu or bus agent: index in meta->streams */
    TROD_COL_TIME = 1 << 4,   /* ticks: see unit */
    TROD_COL_UNIT = 1 << 5,   /* unit and decimals of time, where it differs from row to row */
    TROD_COL_INDEX = 1 << 6,  /* instruction number as the source gives it */
    TROD_COL_ADDR = 1 << 7,
    TROD_COL_PADDR = 1 << 8,
    TROD_COL_PC = 1 << 9,      /* address of the instruction the row belongs to */
    TROD_COL_TARGET = 1 << 10, /* where execution continues, where the source says so */
    TROD_COL_VALUE = 1 << 11,  /* value of up to 64 bits */
    TROD_COL_SUB = 1 << 12,    /* subtype, by kind */
    TROD_COL_SITE = 1 << 13,   /* dense number of the static instruction in the run */
    TROD_COL_CODE = 1 << 14,   /* opcode bytes in memory order */
    TROD_COL_DATA = 1 << 15,   /* value wider than 64 bits, least significant byte first */
    TROD_COL_TEXT = 1 << 16,
    TROD_COL_DETAIL = 1 << 17, /* a struct of detail.h: what the other columns cannot say */
    TROD_COL_RAW = 1 << 18,    /* the source record itself, with its line end */
    TROD_COL_CORE = 1 << 19,   /* core that the order of the trace runs the row on, from 0 */
    TROD_COL_ALL = (1 << 20) - 1
};

enum {
    TROD_COLUMNS = 20,
    TROD_COL_MADE = TROD_COL_SITE | TROD_COL_CORE /* no format says these: they are made */
};

/* Bits of the flags column. */
enum trod_flag {
    TROD_F_BRANCH = 0xf,      /* mask: enum trod_branch of an INSTR or BRANCH row */
    TROD_F_ISET = 0x70,       /* mask: enum trod_iset */
    TROD_F_SEC = 0x380,       /* mask: enum trod_sec of paddr */
    TROD_F_SKIPPED = 1 << 10, /* condition failed: fetched, not executed */
    TROD_F_EXCLUSIVE = 1 << 11,
    TROD_F_UNPRIV = 1 << 12, /* translated (unprivileged) access */
    TROD_F_LOCKED = 1 << 13,
    TROD_F_PRIV = 1 << 14,      /* privileged access */
    TROD_F_UNKNOWN = 1 << 15,   /* some digits of the value are unknown: detail says which */
    TROD_F_PARTIAL = 1 << 16,   /* only the bits that detail names are written */
    TROD_F_SYNTHETIC = 1 << 17, /* put in by the tracer, not executed by the program */
    TROD_F_KERNEL = 1 << 18,
    TROD_F_NOFETCH = 1 << 19,  /* executed but not fetched again (string iterations) */
    TROD_F_NEWCODE = 1 << 20,  /* the record gives the opcode bytes, which may be new: decode it */
    TROD_F_IFETCH = 1 << 21,   /* of code, not of data */
    TROD_F_ABORTED = 1 << 22,  /* the access or the fetch failed */
    TROD_F_UNCACHED = 1 << 23, /* not cacheable */
    TROD_F_IO = 1 << 24,       /* input/output space */
    TROD_F_CONT = 1 << 25,     /* belongs to the same source record as the row before; raw absent */
    TROD_F_HOLES = 1 << 26,    /* byu6: the size bytes touched are not neighbours: see detail */
    TROD_F_TIME_BEFORE = 1 << 27,  /* the record says no time: time is that of the record before */
    TROD_F_STREAM_BEFORE = 1 << 28 /* it names no cpu: stream is that of the record before */
};

enum { TROD_F_ISET_SHIFT = 4, TROD_F_SEC_SHIFT = 7 };

enum trod_branch {
    TROD_BR_NONE,
    TROD_BR_DIRECT, /* unconditional, target in the opcode */
    TROD_BR_INDIRECT,
    TROD_BR_COND, /* conditional, direction unknown */
    TROD_BR_COND_TAKEN,
    TROD_BR_COND_UNTAKEN,
    TROD_BR_CALL,
    TROD_BR_ICALL,
    TROD_BR_RETURN,
    TROD_BR_SYSCALL,
    TROD_BR_ERET, /* return from an exception */
    TROD_BR_OTHER /* changes the flow, kind unknown */
};

enum trod_iset {
    TROD_ISET_NONE,
    TROD_ISET_A32,
    TROD_ISET_T32,
    TROD_ISET_T32EE,
    TROD_ISET_A64,
    TROD_ISET_JAZELLE
};

enum trod_sec { TROD_SEC_NONE, TROD_SEC_SECURE, TROD_SEC_NONSECURE, TROD_SEC_ROOT, TROD_SEC_REALM };

enum trod_line_op {
    TROD_LINE_OTHER,
    TROD_LINE_ALLOC,
    TROD_LINE_INVAL,
    TROD_LINE_DIRTY,
    TROD_LINE_CLEAN,
    TROD_LINE_FILL,
    TROD_LINE_EVICT
};

enum trod_tlb_op { TROD_TLB_FILL, TROD_TLB_EVICT, TROD_WALKCACHE_FILL, TROD_WALKCACHE_EVICT };

/*
 * sub of a SYNC row (amber, "Thread Synchronization Records"): a signal makes the count of its sync
 * point what the record says, a wait cannot complete before the signal that carries its count.
 */
enum trod_sync {
    TROD_SYNC_SIGNAL = 0x20,
    TROD_SYNC_BROADCAST = 0x21,
    TROD_SYNC_WAIT = 0x30,
    TROD_SYNC_TRY_WAIT = 0x31
};

static inline bool trod_sync_is_signal(unsigned sub)
{
    return sub == TROD_SYNC_SIGNAL || sub == TROD_SYNC_BROADCAST;
}

static inline bool trod_sync_is_wait(unsigned sub)
{
    return sub == TROD_SYNC_WAIT || sub == TROD_SYNC_TRY_WAIT;
}

/*
 * The unit column: low 4 bits enum trod_unit, high 4 bits the decimals of a fixed-point time. Units
 * from TROD_UNITS to 15 are words of the trace's own (trod_meta_unit).
 */
enum trod_unit {
    TROD_UNIT_NONE,
    TROD_UNIT_CLK,
    TROD_UNIT_FS,
    TROD_UNIT_PS,
    TROD_UNIT_NS,
    TROD_UNIT_US,
    TROD_UNIT_MS,
    TROD_UNIT_S,
    TROD_UNIT_CS,
    TROD_UNIT_CYC,
    TROD_UNIT_CYCLES,
    TROD_UNIT_TIC,
    TROD_UNITS
};

/*
 * In want, beside TROD_COL_CODE: opcode bytes are wanted only to tell static instructions apart. A
 * driver may then leave them out of a row if they equal those it gave last for the same address.
 */
enum { TROD_WANT_NEW_CODE = 1 << 30 };

struct trod_meta;
struct trod_streaks;

/*
 * Columns are 64-byte aligned arrays of cap elements, all owned by the batch; a driver writes rows
 * [0, cap) of those in want & its reads. bytes is the input window and stays valid until the batch
 * is filled again; pool is the batch's own. Rows that a reader filled are read-only, but for
 * trod_batch_keep: change elements in a copy (trod_batch_append), because a driver does not fill
 * again what is the same in every batch.
 */
struct trod_batch {
    uint32_t n, cap;     /* rows; room for rows */
    uint32_t have, want; /* enum trod_column */
    uint64_t first;      /* ordinal of row 0 in its trace */
    uint32_t *has;       /* by row: columns this row says */
    uint8_t *kind;
    uint8_t *unit;
    uint16_t *sub;
    uint16_t *core;
    uint32_t *flags;
    uint32_t *size;
    uint32_t *stream;
    uint32_t *site;
    uint64_t *time;
    uint64_t *index;
    uint64_t *addr;
    uint64_t *paddr;
    uint64_t *pc;
    uint64_t *target;
    uint64_t *value;
    struct trod_slice *code;
    struct trod_slice *data;
    struct trod_slice *text;
    struct trod_slice *detail;
    struct trod_slice *raw;
    const uint8_t *bytes;
    size_t bytes_n;
    uint64_t offset; /* of bytes[0] in the decoded stream */
    uint8_t *pool;
    uint32_t pool_n, pool_cap;
    const uint8_t *shared;  /* the driver's, append-only: what repeats from batch to batch */
    struct trod_meta *meta; /* of the reader that filled it; not owned */
    void *own;              /* internal; NULL in windows (trod_batch_view) */
    const struct trod_streaks *streaks; /* streak.h; NULL: not made */
};

/*
 * An empty batch for CAP rows (1 to TROD_BATCH_ROWS), of which all columns are wanted. Returns 0,
 * TROD_ERR_NOMEM or TROD_ERR_USAGE (CAP). Release it with trod_batch_free; NULL is allowed.
 */
int trod_batch_new(struct trod_batch **out, uint32_t cap);
void trod_batch_free(struct trod_batch *b);

/* Forget the rows (capacity, want and meta stay). */
void trod_batch_clear(struct trod_batch *b);

/* First byte of slice S of B. */
static inline const uint8_t *trod_batch_bytes(const struct trod_batch *b, struct trod_slice s)
{
    if (s.off & TROD_SLICE_SHARED)
        return b->shared + (s.off & ~(uint32_t)TROD_SLICE_SHARED);
    return s.off & TROD_SLICE_POOL ? b->pool + (s.off & ~(uint32_t)TROD_SLICE_POOL)
                                   : b->bytes + s.off;
}

/*
 * Take N bytes of the pool, 8-byte aligned; *S is set to them. NULL when the pool is full: end the
 * batch (TROD_DEC_FULL), or report the record if the batch is empty.
 */
static inline void *trod_batch_pool(struct trod_batch *b, uint32_t n, struct trod_slice *s)
{
    uint32_t at = (b->pool_n + 7u) & ~7u;

    if (at + (uint64_t)n > b->pool_cap)
        return NULL;
    b->pool_n = at + n;
    s->off = at | (uint32_t)TROD_SLICE_POOL;
    s->len = n;
    return b->pool + at;
}

/* The stream of ROW, TROD_NO_STREAM where it does not say one. */
static inline uint32_t trod_batch_stream(const struct trod_batch *b, uint32_t row)
{
    return b->have & b->has[row] & TROD_COL_STREAM ? b->stream[row] : 0;
}

/* Are some bits of the value of ROW unknown, or not written? Its detail says which. */
static inline bool trod_batch_value_gaps(const struct trod_batch *b, uint32_t row)
{
    return b->have & b->has[row] & TROD_COL_FLAGS &&
           b->flags[row] & (TROD_F_UNKNOWN | TROD_F_PARTIAL);
}

/* The detail struct of ROW, or NULL where it has none. */
static inline const void *trod_batch_detail(const struct trod_batch *b, uint32_t row)
{
    if (!(b->have & b->has[row] & TROD_COL_DETAIL) || b->detail[row].len == 0)
        return NULL;
    return trod_batch_bytes(b, b->detail[row]);
}

/* Decimals of times with this element of the unit column: time is in units of 10^-decimals. */
static inline unsigned trod_unit_decimals(uint8_t unit)
{
    return unit >> 4;
}

/*
 * Keep only the rows of which keep[row] is not 0, moving them together (order, raw slices and pool
 * stay). Only the columns in have are moved. Where only some rows of a record are kept, they lose
 * their raw slice: the record says more than they do. Returns the new count.
 */
uint32_t trod_batch_keep(struct trod_batch *b, const uint8_t *keep);

/*
 * A window on rows [FROM, FROM + N) of B: the columns are shared, nothing is owned; valid as long
 * as B is unchanged.
 */
void trod_batch_view(struct trod_batch *view, const struct trod_batch *b, uint32_t from,
                     uint32_t n);

/* Rows [FROM, TO) of B: B itself where these are all of them, else a window made in VIEW. */
const struct trod_batch *trod_batch_rows(struct trod_batch *view, const struct trod_batch *b,
                                         uint32_t from, uint32_t to);

/*
 * Make B, a batch that the caller owns (trod_trace_take), independent of the window and of the
 * driver: bytes that slices of the columns WANTED point to are copied into B's pool, and the slices
 * of other columns are dropped. False: the pool is too small, and some rows still depend on them.
 */
bool trod_batch_own(struct trod_batch *b, uint32_t wanted);

/*
 * Copy rows [FROM, FROM + N) of SRC after the rows of DST, slices included (into DST's pool).
 * Returns how many were copied: fewer than N where DST has no room for more rows, or for their
 * bytes.
 */
uint32_t trod_batch_append(struct trod_batch *dst, const struct trod_batch *src, uint32_t from,
                           uint32_t n);

/* Names: "INSTR", "addr" (BIT is the number of the bit), "clk", "call"; static text, NULL past the
 * last. */
const char *trod_kind_name(unsigned kind);
const char *trod_column_name(unsigned bit);
const char *trod_unit_name(unsigned unit);
const char *trod_branch_name(unsigned branch);
const char *trod_iset_name(unsigned iset);
const char *trod_sec_name(unsigned sec);
/* The kind, the unit called NAME (LEN bytes, in any case); -1: none. */
int trod_kind_find(const char *name, size_t len);
int trod_unit_find(const char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif
