/*
 * model.h - what `trod browse` knows of a trace: the cursor, which rows are seen, the state there.
 *
 * Implements docs/navigating.md, "The browser". Nothing here knows of a terminal: the view asks for
 * lines and draws them (view.h). Questions may read much; the view is asked on the way whether they
 * are still wanted (tick), and what it stops returns BROWSE_STOPPED and leaves the model as it was.
 */
#ifndef BROWSE_MODEL_H
#define BROWSE_MODEL_H

#include "trod/trod.h"

enum { BROWSE_STOPPED = -100, BROWSE_TEXT = 256, BROWSE_LOG = 200, BROWSE_BYTES = 1 << 12 };

struct browse_options {
    const struct trod_trace_options *trace; /* how the trace is opened */
    struct trod_symbols *symbols;           /* NULL: none */
    const char *index_dir;
    bool no_index, strict;
    const char *const *source; /* folders of source files */
    size_t n_source;
    int (*tick)(void *user, uint64_t row); /* as in struct trod_nav_options */
    void *user;
};

/* Problems of the trace, and what is reported to the user: the last ones. */
struct browse_log {
    char text[BROWSE_LOG][BROWSE_TEXT];
    uint64_t n; /* all that there were */
};

/* Rows FIRST to LAST of a stream that stand in one line. */
struct browse_fold {
    uint32_t stream;
    uint64_t first, last;
    uint64_t instructions; /* of these rows */
    char name[64];         /* of the function */
};

struct browse_folds {
    struct browse_fold *at; /* by stream and row; those of a stream do not overlap */
    size_t n, cap;
};

struct browse_mark {
    uint64_t row;
    char name[64];
};

struct browse_marks {
    struct browse_mark *at; /* by row */
    size_t n, cap;
    char *path; /* file that they are kept in; NULL: nobody knows */
};

/*
 * A part of memory at the cursor, and what it was at the cursor's last place. Held: as it is at row
 * ROW, and what it is at the cursor.
 */
struct browse_memory {
    char what[64];  /* "": around the last access; else as browse_address understands it */
    int64_t offset; /* bytes it is scrolled by from there */
    bool held;
    uint64_t row, held_addr;
    uint64_t addr, before_addr;
    size_t n, before_n;
    struct trod_nav_byte byte[BROWSE_BYTES], before[BROWSE_BYTES];
};

struct browse {
    struct browse_options opt;
    char *path;
    uint64_t length; /* of the file, in bytes, when it was opened */
    struct trod_nav *nav;
    struct trod_diag diag;
    struct browse_log log;
    struct trod_show *show;
    const struct trod_meta *meta; /* that SHOW is for */
    struct trod_meta of_rows;     /* the same, as rows that are shown point to it */
    struct trod_disasm *disasm;
    bool no_disasm;
    struct trod_insn_decoder *decoder; /* where branches lead, for their symbols */
    bool no_decoder;
    char *line;      /* TROD_SHOW_LINE bytes */
    uint64_t rows;   /* TROD_NOWHERE: not counted */
    uint64_t cursor; /* the row that the user is at */
    uint64_t top;    /* the first row that is seen */
    int64_t only;    /* rows of this stream only; -1: of all */
    struct browse_folds folds;
    struct browse_marks marks;
    uint64_t other; /* the second position; TROD_NOWHERE: none */
    struct trod_nav_state *state, *before;
    struct trod_nav_state *held;   /* what the pane shows wherever the cursor is; NULL: the state */
    struct trod_nav_state *second; /* at the second position; NULL: not asked for */
    char registers[128];           /* that the pane shows; "": all that are known */
    struct browse_memory memory;
};

/*
 * Open the trace PATH. Returns 0 or an error; why is in (*OUT)->log, which is there unless memory
 * was short. Release it with browse_close; NULL is allowed.
 */
int browse_open(struct browse **out, const char *path, const struct browse_options *opt);
void browse_close(struct browse *b);
/* Open it again: there is an index, or it has grown. The place, folds and marks stay. */
int browse_reopen(struct browse *b);
/* Is the file longer than when it was opened? */
bool browse_grown(const struct browse *b);

/* Tell the user: a line of the log. */
void browse_say(struct browse *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The last line of the log; "" where nothing was reported since it held N. */
const char *browse_said(const struct browse *b, uint64_t n);

/* ---- rows (rows.c) */

/* Row ROW as row *I of *BATCH: 1, 0 after the end, or an error. */
int browse_row(struct browse *b, uint64_t row, const struct trod_batch **batch, uint32_t *i);
/* Is ROW seen by itself (not left out, not inside of a fold)? 1, 0 or an error. */
int browse_seen(struct browse *b, uint64_t row);
/* The next row that is seen after ROW, the last one before it: 1, 0 (none) or an error. */
int browse_next(struct browse *b, uint64_t row, uint64_t *out);
int browse_prev(struct browse *b, uint64_t row, uint64_t *out);
/* The first row that is seen at or after ROW, else the last one before it. */
int browse_near(struct browse *b, uint64_t row, uint64_t *out);
/* Move the cursor N rows that are seen (less than 0: up); as far as there are any. */
int browse_move(struct browse *b, int64_t n);
/* Put the cursor to ROW; a fold that it is in is opened. */
int browse_go(struct browse *b, uint64_t row);
/* Put it to the row that TEXT names (docs/navigating.md, "Places"). 1, 0 (reported) or an error. */
int browse_place(struct browse *b, const char *text);
int browse_end(struct browse *b);
/* The next (BACK: last) instruction of those seen. */
int browse_instruction(struct browse *b, bool back);
/* Put the cursor into the middle of a window of HEIGHT lines. */
int browse_centre(struct browse *b, unsigned height);
/* The rows of a window of HEIGHT lines that the cursor is in, to ROW; *N of them. */
int browse_page(struct browse *b, unsigned height, uint64_t *row, unsigned *n);
/* ---- lines (lines.c) */

/* The line of ROW, valid until the next call; *KIND: enum trod_kind, or -1 of a fold. */
int browse_line(struct browse *b, uint64_t row, const char **line, int *kind);
/* A short one into OUT: number, stream where there are several, kind, address, what, value. */
int browse_brief(struct browse *b, uint64_t row, char *out, size_t size, int *kind);
const char *browse_brief_header(struct browse *b);
/* The names of the columns. */
const char *browse_header(struct browse *b);
/* The instruction that the cursor is at or after, in its stream. False: none is near. */
bool browse_pc(struct browse *b, uint64_t *pc);
/* The register or the bytes that the row of the cursor touches, as browse_access takes them. */
bool browse_touched(struct browse *b, char *out, size_t size);
/* The text of row I of BATCH, of its disassembly, into OUT. */
void browse_text(struct browse *b, const struct trod_batch *batch, uint32_t i, char *out,
                 size_t size);
/* Show rows of the next stream only; after the last one, all. */
int browse_next_stream(struct browse *b);
/* Where an instruction lies that the pointer ADDR is to: without the bit that says Thumb. */
uint64_t browse_code_address(const struct browse *b, uint64_t addr);
/* ADDRESS with the symbol that it lies in, "name+0x10"; "" where there is none. */
void browse_symbol(const struct browse *b, uint64_t address, char *out, size_t size);

/* ---- the state at the cursor (state.c) */

/* Bring the state to the cursor: 0 (it is), or an error. */
int browse_state(struct browse *b);
/* Is the state that of the cursor? */
bool browse_state_there(const struct browse *b);

/* A register as the pane shows it. */
struct browse_register {
    char name[32];
    char value[2 * 512 + 1]; /* hexadecimal, "-": not known */
    char flags[64];          /* "" where it has none */
    bool changed;            /* since the cursor's last place */
    uint64_t row;            /* where it is known from */
};
/*
 * N bytes, least significant first, in hexadecimal into OUT (SIZE bytes; where that is too little
 * how many there are, and the low digits); digits that are not known are "-".
 */
void browse_digits(char *out, size_t size, const uint8_t *value, const uint8_t *known, size_t n);
/* Registers, and what their values are compared with. */
enum browse_registers {
    BROWSE_HERE,   /* at the cursor, with those at its last place */
    BROWSE_PANE,   /* those held, with those at the cursor; else as HERE; of them those chosen */
    BROWSE_SECOND, /* beside PANE: at the cursor, with those held; else at the second position */
};
/* Register I (from 0), of HERE those known; false past the last one. */
bool browse_register(struct browse *b, enum browse_registers of, size_t i,
                     struct browse_register *out);
/* The row that they are of, its stream to *STREAM; TROD_NOWHERE: none. */
uint64_t browse_registers_row(const struct browse *b, enum browse_registers of, uint32_t *stream);
/* Show registers as they are here wherever the cursor goes, or follow it again. 0 or an error. */
int browse_hold_registers(struct browse *b);
/* Bring the state of BROWSE_SECOND to its row: 0 or an error. */
int browse_second_state(struct browse *b);
/*
 * Show in panes only what TEXT names: registers or parts of them by any name, "x0-x7", "sp_*"; "":
 * all. False: TEXT is too long.
 */
bool browse_choose_registers(struct browse *b, const char *text);

/*
 * The address that TEXT means at the cursor: a number, a symbol or a register, with + or - a
 * number. False: nothing of that name.
 */
bool browse_address(struct browse *b, const char *text, uint64_t *addr);
/* Read N bytes (at most BROWSE_BYTES) of the memory that the pane shows. Returns 0 or an error. */
int browse_memory_read(struct browse *b, size_t n);
/* Show memory at ADDR. */
void browse_memory_at(struct browse *b, uint64_t addr);
/* Show what lies BYTES after it from now on (less than 0: before). */
void browse_memory_scroll(struct browse *b, int64_t bytes);
/* Show memory as it is here wherever the cursor goes, or follow it again. */
void browse_memory_hold(struct browse *b);
/* Did byte K of it change since the cursor's last place, or, held, is it another at the cursor? */
bool browse_memory_changed(const struct browse *b, size_t k);

#endif
