/*
 * shapes.h - a shape is what repeated rows have in common: address, opcode, text and size of an
 * instruction, the text of another row (register, marker). Each is kept once for the trace.
 *
 * A condition about opcodes, disassembly or names is judged once for each shape; lists then say in
 * which steps rows of it are: of instructions those by address, of others NAV_S_TEXTS. Rows whose
 * shape is not kept (there are too many, it is too long) are in a list of their own.
 */
#ifndef NAVIGATE_SHAPES_H
#define NAVIGATE_SHAPES_H

#include <string.h>

#include "navigate/index.h"
#include "trod/batch.h"

enum {
    NAV_SHAPES = 1 << 17,      /* of a trace, at most */
    NAV_SHAPE_BYTES = 8 << 20, /* of their opcodes and texts */
    NAV_SHAPE_CODE = 16,       /* bytes of an opcode */
    NAV_SHAPE_TEXT = 255,      /* bytes of a text */
    NAV_SHAPE_SLOTS = 1 << 18
};

/* The size of an instruction that does not say one. */
#define NAV_NO_SIZE UINT32_MAX
/* The number of a shape that is not kept. */
#define NAV_NO_SHAPE UINT32_MAX
/* The key of rows whose shape is not kept. */
#define NAV_ANY_SHAPE UINT64_MAX

enum nav_shape_flag {
    NAV_SHAPE_PLACED = 1 << 3, /* beside the instruction set: an instruction that has an address */
    NAV_SHAPE_SIZED = 1 << 4,  /* an instruction that says its size */
    NAV_SHAPE_ISET = 7
};

struct nav_shape {
    uint64_t addr; /* 0 where it has none */
    uint64_t word; /* of its opcode, or of its text: what most differ by */
    uint32_t at;   /* its opcode among all bytes; after it its text */
    uint32_t size; /* of an instruction; NAV_NO_SIZE: it says none, or it is another row */
    uint8_t kind;
    uint8_t flags; /* instruction set, enum nav_shape_flag */
    uint8_t code_n, text_n;
    uint32_t turn;  /* the block that it was met in, if it is no instruction with an address */
    uint32_t count; /* its rows of that, */
    uint8_t steps;  /* and their steps */
};

/* Those of a trace, in the order in which they come up. */
struct nav_shapes {
    struct nav_shape *at;
    uint32_t n, saved; /* those before SAVED are in segments before */
    size_t cap;
    struct trod_buf bytes;
    uint32_t *slot; /* by hash: number + 1 */
    uint32_t *met;  /* of the block, no instructions with an address */
    uint32_t n_met;
    size_t cap_met;
    uint32_t turn;
    uint8_t missed; /* steps of the block that have rows whose shape is not kept */
};

int nav_shapes_init(struct nav_shapes *s);
void nav_shapes_fini(struct nav_shapes *s);
/*
 * *OUT: the number of the shape of row I of B, NAV_NO_SHAPE: none is kept. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int nav_shapes_find(struct nav_shapes *s, const struct trod_batch *b, uint32_t i, uint32_t *out);
/* Shape ID, of no instructions with an address, is new in the block. Returns the same. */
int nav_shapes_first(struct nav_shapes *s, uint32_t id);
/* The block ends: its postings, as those of BLOCK; the next one begins. */
int nav_shapes_end(struct nav_shapes *s, uint32_t block, struct nav_postings *out);
/* Encode the shapes that are new since the last call as a section's content, uncompressed. */
int nav_shapes_save(struct nav_shapes *s, struct trod_buf *out);
/* Decode such content and append its shapes. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int nav_shapes_load(struct nav_shapes *s, struct trod_span in);
/* The same for the section of segment FROM of X. */
int nav_shapes_of(struct nav_shapes *s, const struct nav_index *x, const struct nav_segment *from);

/* A row of shape ID, which is no instruction with an address, is in STEP of the block. */
static inline int nav_shapes_meet(struct nav_shapes *s, uint32_t id, unsigned step)
{
    if (id == NAV_NO_SHAPE) {
        s->missed |= (uint8_t)(1u << step);
        return TROD_OK;
    }
    if (s->at[id].turn != s->turn && nav_shapes_first(s, id) < 0)
        return TROD_ERR_NOMEM;
    s->at[id].count++;
    s->at[id].steps |= (uint8_t)(1u << step);
    return TROD_OK;
}

/* Is TEXT, of as many bytes as that of shape ID, the same? */
static inline bool nav_shape_has(const struct nav_shapes *s, uint32_t id, const uint8_t *text)
{
    const struct nav_shape *p = &s->at[id];

    return memcmp(s->bytes.p + p->at + p->code_n, text, p->text_n) == 0;
}

#endif
