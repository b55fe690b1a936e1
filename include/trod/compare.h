/*
 * compare.h - where do two traces differ?
 *
 * Two traces of any formats are read as rows and matched. What is equal costs little; at a
 * difference the comparer looks ahead for the next place where both agree again and says what was
 * changed, missing, inserted or reordered in between.
 *
 * Implements Trace Matcher, "Comparing traces" (window, boot size, start address, skip equal, skip
 * rest), and what its users ask for beyond it. It neither opens files nor prints.
 */
#ifndef TROD_COMPARE_H
#define TROD_COMPARE_H

#include "trod/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TROD_COMPARE_SLIDES = 64, /* struct trod_slide at most, */
    TROD_COMPARE_MASKS = 64,  /* struct trod_compare_mask, ignored registers, */
    TROD_COMPARE_PAIRS = 256, /* struct trod_compare_pair of streams, of registers, */
    TROD_COMPARE_INPUTS = 24, /* struct trod_compare_input of a difference, */
    TROD_COMPARE_TOP = 16,    /* struct trod_compare_place of a kind, */
    TROD_COMPARE_CONTEXT = 12 /* rows that are kept before a difference */
};

/* Classes of rows that are compared: bits of track. */
enum trod_track {
    TROD_TRACK_INSTR = 1 << 0,
    TROD_TRACK_REG = 1 << 1,
    TROD_TRACK_MEM = 1 << 2,
    TROD_TRACK_EVENT = 1 << 3, /* exceptions and mode changes */
    TROD_TRACK_OTHER = 1 << 4, /* everything else that is understood */
    TROD_TRACK_CLASSES = 5
};

/* What can be compared of a row besides the columns of batch.h: bits of compare. */
enum {
    TROD_COMPARE_PID = 1 << 28,  /* number of the process that the row's thread belongs to */
    TROD_COMPARE_NAME = 1 << 29, /* text of rows that are no instructions */
    TROD_COMPARE_MODE = 1 << 30  /* of instructions */
};

enum trod_align {
    TROD_ALIGN_EDIT, /* look for the next place where both sides agree */
    TROD_ALIGN_NONE  /* block by block, as Trace Matcher does */
};

/* A tick is one of the unit of the first time of the first trace. */
enum trod_window_unit { TROD_WINDOW_ROWS, TROD_WINDOW_TICKS };

/* Addresses of a side in [lo, hi] are compared as if OFFSET were added. */
struct trod_slide {
    int side; /* 0 or 1 */
    uint64_t lo, hi;
    uint64_t offset; /* modulo 2^64 */
};

/* Only the bits of MASK of register NAME are compared. */
struct trod_compare_mask {
    const char *name;
    uint64_t mask;
};

/*
 * In pairs: stream A of side 0 is compared with stream B of side 1 (names, or numbers of threads or
 * cpus). In aliases: what side 0 calls register A is called B by side 1.
 */
struct trod_compare_pair {
    const char *a, *b;
};

struct trod_compare_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    uint32_t track;     /* enum trod_track; 0: what both sides have */
    bool independent;   /* each class is a sequence of its own */
    uint32_t compare;   /* columns (TROD_COMPARE_MODE, ...) that count; 0: by the two traces */
    const char *const *ignore; /* names of fields that do not count: see trod_compare_field_name */
    size_t n_ignore;
    const char *const *also; /* names of fields that count besides */
    size_t n_also;
    enum trod_align align;
    uint64_t window; /* rows (ticks) within which order does not matter; 0: 1 */
    enum trod_window_unit window_unit;
    bool first_stop; /* end at the first difference */
    bool has_start;
    uint64_t start;     /* skip rows until an instruction here */
    uint64_t boot;      /* instructions at the beginning that are not compared */
    bool skip_equal;    /* ignore a row that differs from the one before it in its time alone */
    bool skip_rest;     /* what one side has after the end of the other is no difference */
    bool auto_slide;    /* find slides from the opcodes at the beginning */
    bool serial;        /* decode on the calling thread, even traces that were opened with ahead */
    uint32_t lookahead; /* rows looked through for a place to go on; 0: 65,536 */
    struct trod_slide slides[TROD_COMPARE_SLIDES];
    size_t n_slides;
    struct trod_compare_mask masks[TROD_COMPARE_MASKS];
    size_t n_masks;
    struct trod_compare_pair pairs[TROD_COMPARE_PAIRS];
    size_t n_pairs;
    struct trod_compare_pair aliases[TROD_COMPARE_PAIRS];
    size_t n_aliases;
    const char *const *ignore_registers; /* names */
    size_t n_ignore_registers;           /* up to TROD_COMPARE_MASKS */
    /* Called now and then with the rows read of each side: for progress. NULL: never. */
    void (*tick)(void *user, const uint64_t rows[2]);
    void *tick_user;
    /*
     * Called for each batch of side SIDE in the order of its rows, on the thread of
     * trod_compare_run: sets KEEP (a byte a row, 1 before) to 0 for rows that are not compared.
     * Returns a negative code to end the comparison. NULL: nothing is left out.
     */
    int (*choose)(void *user, int side, const struct trod_batch *b, uint8_t *keep);
    void *choose_user;
};

/* A row as the comparer sees it. Text pointers are valid during the call they are given in. */
struct trod_compare_row {
    uint64_t ordinal, time, index, addr, paddr, target, value, pc;
    uint64_t known; /* bits of value that are known and written */
    uint32_t has, flags, size, stream;
    uint16_t sub;
    uint8_t kind, code_len;
    uint8_t code[16]; /* in memory's order; words as numbers where the traces' orders differ */
    const char *name; /* register, event, operation */
    const char *text; /* the record, or disassembly */
    uint32_t name_len, text_len;
};

enum { TROD_COMPARE_SAID = 64, TROD_COMPARE_FIELDS = 8 };

/* A field in which two rows differ, and what each says; "" where it says nothing. */
struct trod_compare_field {
    const char *name;
    char said[2][TROD_COMPARE_SAID];
};

enum trod_difference_type {
    TROD_DIFF_CHANGED,   /* both sides have the row, and fields tells in what they differ */
    TROD_DIFF_MISSING,   /* side 0 has rows that side 1 does not */
    TROD_DIFF_INSERTED,  /* side 1 has rows that side 0 does not */
    TROD_DIFF_REORDERED, /* both have them, elsewhere */
    TROD_DIFF_REST,      /* one side ends before the other */
    TROD_DIFF_TYPES
};

/* The last write of a register or of memory that was equal on both sides. */
struct trod_last_write {
    uint64_t ordinal[2]; /* row of each side */
    uint64_t pc;         /* of the instruction that wrote it, where known, else 0 */
    uint64_t addr, value;
    uint32_t size;
};

/* What a diverging instruction reads. */
struct trod_compare_input {
    char name[16]; /* register; "": memory */
    uint64_t addr; /* memory */
    uint32_t size; /* bytes of memory */
    bool written;  /* whether a write is remembered: LAST is set */
    struct trod_last_write last;
};

struct trod_difference {
    enum trod_difference_type type;
    uint64_t number; /* from 0 */
    uint64_t of;     /* REORDERED: number of the earlier difference in which these rows were missing
                        or inserted; TROD_NOWHERE: there was none, both places are reported here */
    uint32_t fields; /* CHANGED: columns that differ */
    const struct trod_compare_field *field; /* CHANGED, one row each: fields that differ */
    size_t n_fields;
    uint64_t count[2];                      /* rows of each side */
    uint64_t instructions[2];               /* of these, instructions */
    uint64_t first[2];                      /* ordinals of the first row of each side */
    const struct trod_compare_row *rows[2]; /* the first of them; NULL: none */
    size_t n_rows[2];
    const struct trod_compare_row *context[2]; /* rows before the difference, oldest first */
    size_t n_context[2];
    const struct trod_compare_row *instruction[2]; /* that the first rows belong to; NULL: none */
    const struct trod_compare_input *inputs;       /* what these instructions read */
    size_t n_inputs;
};

struct trod_compare;
/* Called for each difference. Return non-zero to end the comparison. */
typedef int (*trod_compare_fn)(void *user, const struct trod_compare *,
                               const struct trod_difference *);

/* Where differences are frequent: a register, an instruction, a field. */
struct trod_compare_place {
    char name[32]; /* of the register or field */
    uint64_t pc, n;
    uint64_t only[2]; /* of these, missing from the other side */
};

/*
 * Each row that is read is equal, in a difference, or skipped (also when ended: what was read and
 * not decided is skipped).
 */
struct trod_compare_summary {
    uint64_t rows[2];      /* rows read of each side */
    uint64_t equal[2];     /* found equal */
    uint64_t differing[2]; /* in differences */
    uint64_t skipped[2];   /* of classes, streams or places that are not compared */
    uint64_t differences;
    uint64_t by_type[TROD_DIFF_TYPES], by_kind[TROD_KINDS];
    struct trod_compare_place registers[TROD_COMPARE_TOP], pcs[TROD_COMPARE_TOP]; /* most first */
    size_t n_registers, n_pcs;
    struct trod_compare_place fields[TROD_COMPARE_TOP]; /* differences in one field alone */
    size_t n_fields;
    uint32_t track;                                /* classes that were compared */
    uint32_t absent;                               /* classes that only one side has */
    uint32_t late;                                 /* of these: came later on the other side too */
    uint64_t apart;                                /* rows not compared: streams too far apart */
    struct trod_slide slides[TROD_COMPARE_SLIDES]; /* in force, found ones included */
    size_t n_slides;
    bool ended; /* by first_stop or by the callback */
    /* Left out because the traces come from different tracers, which do not agree on them: */
    uint32_t unlike;         /* classes that both sides have, */
    uint32_t unlike_columns; /* and columns: TROD_COL_SUB, TROD_COL_FLAGS, TROD_COL_DETAIL */
};

/*
 * Compare traces A and B (not owned), of which no rows were read. Those that were opened with ahead
 * (trod/trace.h) are decoded by threads of their own, with the same result. FN is called for each
 * difference, in the order of the rows; for missing or inserted instructions some 2,000 rows later,
 * in case they turn up elsewhere. Returns 0 when the comparison was made (SUMMARY has its result),
 * the error of the trace that failed (SUMMARY has what was compared), TROD_ERR_USAGE (options of
 * another version, or more slides, masks, pairs, aliases or ignored registers than the limits
 * above; reported) or TROD_ERR_NOMEM. Memory is bounded by window and lookahead, not by the traces.
 */
int trod_compare_run(struct trod_trace *a, struct trod_trace *b,
                     const struct trod_compare_options *opt, trod_compare_fn fn, void *user,
                     struct trod_compare_summary *summary, struct trod_diag *diag);

/*
 * The name of field I that ignore and also may have: columns, flags, fields of details, and names
 * that stand for several fields ("flags", "detail", "all"). NULL past the last. They come in the
 * order of help texts; a name may come twice.
 */
const char *trod_compare_field_name(size_t i);

/* Columns to ask the traces for. */
uint32_t trod_compare_want(const struct trod_compare_options *opt);

/*
 * The one name of the register that NAME (LEN bytes) stands for in ISA: sp for r13, fp for x29, x0
 * for w0 (narrower), and so on. It goes to OUT (at least 32 bytes) in lower case. Returns its
 * length; *BITS is set to the width that NAME implies, 0 if it implies none.
 */
size_t trod_register_canonical(enum trod_isa isa, const char *name, size_t len, char *out,
                               unsigned *bits);

#ifdef __cplusplus
}
#endif

#endif
