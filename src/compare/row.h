/*
 * row.h - one row, taken out of its batch in a form that can be matched with any other format's.
 */
#ifndef TROD_COMPARE_ROW_H
#define TROD_COMPARE_ROW_H

#include "trod/compare.h"

enum { CMP_NAME = 32, CMP_TEXT = 96 };

/* A value wider than 64 bits: size bytes, then as many of what is known of them. */
struct cmp_wide {
    uint32_t size;
    uint8_t bytes[];
};

struct cmp_row {
    struct trod_compare_row pub; /* name and text are set by cmp_row_public */
    uint64_t name_id;            /* of the canonical name; 0: none */
    uint64_t mode;               /* hash of the mode, 0: none */
    uint64_t place;              /* how many rows of its lane and side came before it */
    uint64_t group;              /* pending rows: the pair of instructions they belong to */
    struct cmp_wide *wide;       /* owned, or NULL */
    uint8_t cls;                 /* number of its class: bit of enum trod_track */
    uint8_t mode_sec;            /* security suffix of the mode, 0: none */
    bool text_cut;
    char name[CMP_NAME], text[CMP_TEXT];
};

/* What rows are read and matched with: the rules of a run, and what is known of a side. */
struct cmp_rules {
    const struct trod_compare_options *opt;
    uint32_t compare; /* columns that count */
    uint32_t track;   /* classes that count */
    struct trod_slide slides[TROD_COMPARE_SLIDES];
    size_t n_slides;
    uint64_t mask_name[TROD_COMPARE_MASKS]; /* name ids of opt->masks */
    uint64_t ignored[TROD_COMPARE_MASKS];   /* name ids of opt->ignore_registers */
    size_t n_ignored;
};

/* Class number of each kind; TROD_TRACK_CLASSES: never compared. */
extern const uint8_t cmp_class_of[TROD_KINDS];

/*
 * Take row I of B, side SIDE, into ROW. ROW's wide part is allocated if need be. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int cmp_row_take(struct cmp_row *row, const struct trod_batch *b, uint32_t i, int side,
                 const struct cmp_rules *rules);
void cmp_row_fini(struct cmp_row *row);
/* Set the pointers of row->pub. */
void cmp_row_public(struct cmp_row *row);

/* Address ADDR of SIDE where the other side has it. */
uint64_t cmp_slide(const struct cmp_rules *rules, int side, uint64_t addr);

/*
 * The columns in which rows A (side 0) and B (side 1) contradict each other; 0 when they agree in
 * all that both say. TROD_COL_KIND when they are not comparable at all.
 */
uint32_t cmp_row_differs(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules);

/* Whether A and B are about the same thing: the same register, the same address, the same event. */
bool cmp_row_same_subject(const struct cmp_row *a, const struct cmp_row *b);

/* A key under which equal subjects fall; for instructions address and opcode. */
uint64_t cmp_row_key(const struct cmp_row *r, bool with_code);

/* Id of register NAME, as rows carry it. */
uint64_t cmp_name_id(enum trod_isa isa, const char *name, size_t len, unsigned *bits);

#endif
