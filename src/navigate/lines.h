/*
 * lines.h - what is known of single bytes of memory at a row.
 *
 * Implements docs/navigating.md, "Memory". Bytes that a question is about lie in lines of 64; scans
 * over blocks, from the place back to the beginning and then onwards, settle one byte after the
 * other.
 */
#ifndef NAVIGATE_LINES_H
#define NAVIGATE_LINES_H

#include "navigate/nav.h"

enum { NAV_LINE = 64 };

/* What rows say of a byte: accesses in one block, and settled ones. */
struct nav_byte {
    uint64_t write, read;  /* last write; last read after it; TROD_NOWHERE: none */
    uint8_t written, seen; /* their values */
    uint8_t flags;         /* enum nav_byte_flag */
};

enum nav_byte_flag {
    NAV_WROTE_KNOWN = 1 << 0, /* the value of the write is known */
    NAV_READ_KNOWN = 1 << 1,
    NAV_ASKED = 1 << 2,  /* the question is about this byte */
    NAV_CLOSED = 1 << 3, /* the access after the place is found: nothing more to learn */
    NAV_LATER = 1 << 4   /* and it was a read: seen is its value */
};

struct nav_line {
    uint64_t number; /* address / 64 */
    uint64_t asked;  /* which bytes */
    uint64_t open;   /* asked and not settled yet */
    uint64_t seen;   /* a read was found: only a write can tell more */
    uint32_t held;   /* the last segment whose lists name it; UINT32_MAX: none so far */
    uint32_t since;  /* the block back to which what is open of it is looked for (recall.c) */
    uint64_t left;   /* bytes of it that no block so far writes */
    bool touched;    /* by the block that is being scanned: */
    uint64_t hit;    /* bytes of NOW that it may have changed */
    struct nav_byte now[NAV_LINE], last[NAV_LINE];
};

struct nav_postings;

struct nav_lines {
    struct nav_line **slot; /* by hash of the number */
    uint32_t n, mask;
    struct nav_line **touched;
    uint32_t n_touched;
    uint64_t open; /* bytes */
    bool big;
    bool forward;
    /* with an index: what blocks of a segment hold of the lines, and where those of each begin */
    uint64_t *number; /* of all lines, in ascending order */
    uint32_t segment; /* UINT32_MAX: none */
    struct nav_postings *held;
    size_t *held_from;
};

int nav_lines_init(struct nav_lines *l, bool big);
void nav_lines_fini(struct nav_lines *l);
/* Ask for N bytes from ADDR on. Returns 0, TROD_ERR_NOMEM or TROD_ERR_LIMIT. */
int nav_lines_ask(struct nav_lines *l, uint64_t addr, uint64_t n);
struct nav_line *nav_lines_find(const struct nav_lines *l, uint64_t number);
/*
 * The lines that are open, of those in NUMBER, in ascending order, to *OUT, which the caller frees;
 * room for all of them and one more is made if it is NULL. Returns how many.
 */
size_t nav_lines_open(const struct nav_lines *l, uint64_t **out);
/* Settle all bytes asked for, for the state at ROW. Returns 0 or an error. */
int nav_lines_solve(struct trod_nav *nav, struct nav_lines *l, uint64_t row);
/* What the byte K of LINE is, once solved. */
void nav_line_byte(const struct nav_line *line, unsigned k, struct trod_nav_byte *out);

#endif
