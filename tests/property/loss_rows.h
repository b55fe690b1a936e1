/*
 * loss_rows.h - rows of two traces side by side: what became of each. For test_loss.c.
 */
#ifndef TROD_TEST_LOSS_ROWS_H
#define TROD_TEST_LOSS_ROWS_H

#include "prop.h"

#include "trod/trod.h"

enum { STREAMS = 256 };

struct row {
    uint8_t kind, unit;
    uint32_t has, flags, size, stream, done; /* done: bytes of an output row that are explained */
    uint64_t time, index, addr, paddr, pc, target, value;
    struct trod_span code, data, text, raw, record; /* record: of a BYU trace */
    uint16_t sub;
    bool no_word; /* letters of its cpu's name are none of a word */
};

struct rows {
    struct row *row;
    size_t n, cap;
    const struct trod_format *format;
    bool big, little; /* byte order of its opcodes */
    bool isa;         /* it says whose opcodes they are */
};

/* A conversion, and what the comparison found. */
struct pair {
    const char *name, *to; /* of the input; the target with its options */
    const struct trod_format *from, *target;
    bool es, bus, drm, amber, memory;
    bool turned; /* the target has opcodes in the other byte order */
    bool big;    /* byte order of the input */
    bool isa;    /* the input says whose opcodes it has */
    const struct row *in;
    struct row *out;
    size_t n_in, n_out;
    uint64_t most_invented; /* others at address 0 are rows that were there */
    uint8_t *gone;          /* by input row: it is lost, even if an output row looks like it */
    /* found by loss_align */
    size_t at;                            /* output rows explained so far */
    uint32_t map[STREAMS], back[STREAMS]; /* streams; number + 1 */
    uint64_t last[STREAMS];               /* pc of the last instruction of each that is there */
    bool timed;
    uint64_t time_in, time_out;
    uint64_t rows[TROD_KINDS], columns[TROD_KINDS][TROD_COLUMNS], invented;
};

/* Row I of B behind the others; all of them released. */
void loss_rows_add(struct rows *l, const struct trod_batch *b, uint32_t i);
void loss_rows_fini(struct rows *l);

bool loss_is(const struct trod_format *f, const char *name);
/* 1: amber, 2: text, 3: bus, 4: drmemtrace, 5: others, 6: lines of memory tracers, 7: ChampSim, 8:
 * tables */
int loss_family(const struct trod_format *f);
static inline bool loss_says(const struct row *r, uint32_t column)
{
    return r->has & column;
}
/* The kind that the first of the rows has which A becomes; TROD_KINDS: it becomes none. */
unsigned loss_becomes(const struct pair *p, const struct row *a);
/* Opcodes of Amber's formats are big-endian, whatever those of the source are. */
bool loss_same_code(const struct pair *p, struct trod_span a, struct trod_span b);
/* A name of another format's marker, as a word. */
bool loss_same_text(const struct pair *p, const struct row *a, const struct row *b);
/* Does B name the register of A, in a format that has names of its own? */
bool loss_same_register(const struct pair *p, const struct row *a, const struct row *b);
/* A is the N output rows from B on, which have SIZE bytes of it: columns of P are counted. */
void loss_columns(struct pair *p, const struct row *a, const struct row *b, size_t n,
                  uint64_t size);
/* What the record of A, of one bus format, says that the other has no place for: counted in P. */
void loss_bus_record(struct pair *p, const struct row *a);
/* Is the pc of A not what its output row B has, or what the rows before B show? */
bool loss_pc_gone(struct pair *p, const struct row *a, const struct row *b);
/* Does nothing in its output row B say the kind of branch that A says it is? */
bool loss_branch_gone(const struct pair *p, const struct row *a, const struct row *b);
/*
 * Does B, its output row, not say where A goes on, nor the next instruction of its stream show it?
 */
bool loss_target_gone(const struct pair *p, const struct row *a, const struct row *b);
/* Are the data of A the bytes of its value, in the byte order of its trace? */
bool loss_data_is_value(const struct pair *p, const struct row *a);
/* Rows that the target makes of nothing: heads, times, bridges. */
bool loss_made_up(const struct pair *p, const struct row *b);
/* Go through the rows of P from the first one on: rows, columns and invented are counted. */
void loss_align(struct pair *p);

#endif
