/*
 * lines.h - tables of cache lines: line number to position, by open addressing.
 *
 * Entries are 16 bytes; counters of 64 bits and touched bytes of a line are in arrays of their own,
 * which exist only if they are wanted. Before a block of references room is reserved
 * (trod_lines_reserve), so that slots keep their numbers while the block is processed.
 */
#ifndef TROD_SIM_LINES_H
#define TROD_SIM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positions with a meaning of their own. */
#define TROD_LINE_EMPTY  UINT32_MAX       /* the slot is free */
#define TROD_LINE_PRUNED (UINT32_MAX - 1) /* the line is known, but not among the live ones */

struct trod_line {
    uint64_t line;
    uint32_t pos;
    uint32_t lately; /* counted of it (tally.h) */
};

struct trod_line_count {
    uint64_t refs, distant;
};

struct trod_lines {
    struct trod_line *at;
    struct trod_line_count *count; /* NULL: not wanted */
    uint64_t *touched;             /* NULL: not wanted */
    size_t size;                   /* slots, a power of two */
    size_t used;                   /* slots that are not empty */
    unsigned shift;                /* 64 - log2(size) */
};

/* An empty table, with counters and touched bytes if wanted. Returns false without memory. */
bool trod_lines_init(struct trod_lines *t, bool count, bool touched);
void trod_lines_free(struct trod_lines *t);
/* Reserve room for N more lines. Slots may change. Returns false without memory. */
bool trod_lines_reserve(struct trod_lines *t, size_t n);
/* The lines that a table of SIZE slots may have. */
static inline size_t trod_lines_most(size_t size)
{
    return 2 * size / 3;
}

/* Remove the lines that are pruned. Slots change. Returns false without memory. */
bool trod_lines_purge(struct trod_lines *t);

/* Where the search for LINE begins. */
static inline size_t trod_lines_home(const struct trod_lines *t, uint64_t line)
{
    /* Fibonacci hashing; the fold lets far bits take part in all of the result. */
    return (size_t)((line ^ line >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> t->shift);
}

/* The entry of LINE, whose search begins at slot I, or the empty one where it belongs. */
static inline __attribute__((always_inline)) struct trod_line *
trod_lines_entry_from(const struct trod_lines *t, uint64_t line, size_t i)
{
    struct trod_line *e = &t->at[i];

    while (e->line != line && e->pos != TROD_LINE_EMPTY)
        e = &t->at[(size_t)(e + 1 - t->at) & (t->size - 1)];
    /* An empty slot may hold the number 0 that is searched for: it is still empty. */
    return e;
}

/* The slot of LINE, or the empty one where it belongs. */
static inline size_t trod_lines_slot(const struct trod_lines *t, uint64_t line)
{
    return (size_t)(trod_lines_entry_from(t, line, trod_lines_home(t, line)) - t->at);
}

#endif
