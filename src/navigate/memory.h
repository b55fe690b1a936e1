/*
 * memory.h - what blocks leave in memory: kept in an index, so that bytes are known at the end of a
 * block without decoding it.
 *
 * Implements docs/index-file.md, "How it works". For each line of a block: its bytes' last writes,
 * last reads after these, and first reads, each with row and value. What a question could not tell
 * from what stands in earlier blocks of the segment is left out.
 */
#ifndef NAVIGATE_MEMORY_H
#define NAVIGATE_MEMORY_H

#include "navigate/index.h"

enum {
    NAV_MEMORY_LINES = 1 << 15,  /* of a block; one with more has no memory in the index, */
    NAV_MEMORY_PARTS = 1 << 18,  /* nor has one with more accesses, in parts of eight bytes */
    NAV_MEMORY_KNOWN = 1 << 16,  /* lines whose content is known while a segment is indexed */
    NAV_MEMORY_ROW = 8,          /* bytes a row that the memory of a block may take, */
    NAV_MEMORY_FLOOR = 1 << 12,  /* and these besides */
    NAV_MEMORY_SEGMENT = 1 << 24 /* bytes of a segment, at most (a block is never parted) */
};

/* A run of bytes that one row left: kind in the two highest bits of its first byte. */
enum nav_run_kind {
    NAV_RUN_WROTE,  /* the last write; values follow */
    NAV_RUN_UNSAID, /* the last write, which does not say its value */
    NAV_RUN_READ,   /* the last read after the last write; values follow */
    NAV_RUN_FIRST,  /* the first access, a read; values follow. The last one too where no other
                       run tells of the byte */
    NAV_RUN_KINDS
};

/* An access of the block at hand, or a part of it: at most eight bytes of a line, from AT on. */
struct nav_memory_part {
    uint64_t value; /* the byte at AT is the lowest */
    uint32_t row;   /* in the block */
    uint32_t older; /* the part of the same line before it: its number + 1; 0: none */
    uint8_t at;
    uint8_t bytes; /* a bit for each: those that are accessed, */
    uint8_t known; /* with a value that is known, */
    uint8_t fresh; /* read before anything else */
    bool write;
};

/* A line that the block at hand accesses. */
struct nav_memory_line {
    uint64_t key;
    uint64_t met;    /* bytes that are accessed */
    uint32_t newest; /* of its parts: number + 1 */
};

/* What the block leaves in a line. Bits of masks are bytes; rows are counted in the block. */
struct nav_memory_left {
    uint64_t wrote; /* written, */
    uint64_t known; /* with a value that is known */
    uint64_t read;  /* read after the last write */
    uint64_t first; /* read before anything else */
    uint32_t write_row[NAV_LINE], read_row[NAV_LINE], first_row[NAV_LINE];
    uint8_t written[NAV_LINE], seen[NAV_LINE], found[NAV_LINE];
};

/* What earlier blocks of the segment tell of a line. */
struct nav_memory_known {
    uint64_t key;
    uint64_t known; /* bytes whose value is known */
    uint64_t kept;  /* those whose last write says the value, and no read after it another */
    uint32_t turn;  /* the segment that it is of; another: an empty place */
    uint8_t value[NAV_LINE];
};

struct nav_memory {
    struct nav_memory_line *line; /* in the order in which the block accesses them */
    uint32_t n;
    size_t cap;
    struct nav_memory_part *part; /* in the order of rows */
    uint32_t n_parts;
    size_t cap_parts;
    bool whole;                  /* all accesses of the block are here */
    struct nav_memory_left left; /* in the line at hand, when the block ends */
    struct nav_memory_known *known;
    uint32_t turn;
    struct trod_buf payload; /* of a block */
};

int nav_memory_init(struct nav_memory *m);
void nav_memory_fini(struct nav_memory *m);
/* Room for another line, another part. False: there is none, for which see M->whole. */
bool nav_memory_room(struct nav_memory *m, bool line);
/*
 * The block ends: what it leaves, as that of block BLOCK, to OUT, if that is at most MOST bytes;
 * *WHOLE says whether it is there. The next block begins. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_memory_end(struct nav_memory *m, uint32_t block, uint64_t most, struct nav_postings *out,
                   bool *whole);
/* A segment begins: its events are encoded without those before. */
void nav_memory_forget(struct nav_memory *m);

/*
 * Part A of an access (OLDER and FRESH are found here) to line KEY. *LINE is the caller's, by line
 * and block: 0 at first. Returns 0 or TROD_ERR_NOMEM.
 */
static inline int nav_memory_put(struct nav_memory *m, uint64_t key, uint32_t *line,
                                 struct nav_memory_part a)
{
    struct nav_memory_line *l;

    if (!m->whole || !a.bytes)
        return TROD_OK;
    if (!*line) {
        if (!nav_memory_room(m, true))
            return m->whole ? TROD_ERR_NOMEM : TROD_OK;
        m->line[m->n++] = (struct nav_memory_line){.key = key};
        *line = m->n;
    }
    if (m->n_parts == m->cap_parts && !nav_memory_room(m, false))
        return m->whole ? TROD_ERR_NOMEM : TROD_OK;
    l = &m->line[*line - 1];
    a.fresh = (uint8_t)(a.write ? 0 : a.bytes & ~(l->met >> a.at));
    a.older = l->newest;
    l->met |= (uint64_t)a.bytes << a.at;
    m->part[m->n_parts++] = a;
    l->newest = m->n_parts;
    return TROD_OK;
}

/* recall.c: what is asked of blocks whose memory is in the index. */
struct nav_recall {
    const struct nav_index *x;
    uint32_t segment; /* whose postings these are; UINT32_MAX: none */
    struct nav_postings at;
    size_t *first;   /* where those of each block begin */
    uint64_t *key;   /* lines that are looked up, */
    uint32_t *since; /* from which block on each */
    bool limited;    /* there may be more before that */
};

void nav_recall_init(struct nav_recall *r, const struct nav_index *x);
void nav_recall_fini(struct nav_recall *r);
/* Can block K be asked? BIG: byte order of values. */
bool nav_recall_can(const struct nav_recall *r, size_t k, bool big);
/*
 * What the rows of block K tell of the bytes of L that are open, as scanning them would. Returns 0,
 * TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
 */
int nav_recall(struct nav_recall *r, size_t k, struct nav_lines *l);

#endif
