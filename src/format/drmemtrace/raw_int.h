/*
 * raw_int.h - the state of making a final trace of a raw file, shared by raw*.c.
 */
#ifndef TROD_DRMEMTRACE_RAW_INT_H
#define TROD_DRMEMTRACE_RAW_INT_H

#include "format/drmemtrace/raw.h"

enum {
    RAW_AHEAD = 1 << 15, /* bytes that one block can need */
    RAW_WINDOW = 1 << 17,
    RAW_PIECE = 1 << 16, /* bytes made before they are handed on */
    RAW_RSEQ_MAX = 4096  /* entries of a restartable sequence */
};

/* A branch that waits for what comes next. */
struct raw_branch {
    size_t from, at; /* of its encodings, of its own entry (or the target's before it), in held */
    uint64_t pc, target;
    uint32_t site;
    uint16_t type;
    bool has_target, encoded;
};

struct raw_seen {
    uint64_t pc;
    uint32_t site;
};

/* A restartable sequence: its entries, until it is known how it ended. */
struct raw_rseq {
    struct trod_buf buf;
    bool on, ever, past_end;
    uint64_t start, end, commit_pc;
    size_t commit; /* bytes before the committing store */
    struct raw_branch *branch;
    size_t n, cap;
    struct raw_seen *seen; /* instructions of it, in the order they came */
    size_t n_seen, cap_seen;
};

struct raw {
    struct trod_input *in;
    struct trod_diag *diag;
    struct trod_fault *fault; /* during a call */
    const char *path;
    struct raw_code *code;
    struct raw_blocks *blocks;

    const uint8_t *p; /* entries at hand */
    size_t n;         /* bytes of them */
    size_t used;      /* of the input, not yet consumed */
    uint64_t offset;  /* of p in the decoded stream */
    bool last;

    struct trod_buf out, held;
    struct trod_buf *sink;     /* out, or that of a restartable sequence */
    size_t given;              /* bytes of out */
    uint64_t handed;           /* bytes given to the input that is made */
    struct raw_branch *branch; /* of held */
    size_t n_branches, cap_branches;
    struct raw_rseq rseq;

    unsigned version;
    uint64_t filetype;
    uint8_t width; /* of a final entry */
    uint32_t line_size;
    uint64_t tid, pid, time, window, last_syscall;
    struct raw_templates *templates; /* NULL: there are none */
    uint64_t call, after_call; /* number of a system call; the address behind its instruction */
    unsigned call_funcs;       /* markers FUNC_ID since */
    bool in_call;              /* its template is to come */
    uint64_t regs[RAW_REGS];
    bool begun, ended, repeated;
    bool blind;      /* accesses of instructions that are not known follow */
    bool blind_told; /* their address is written, or not known */
    uint64_t blind_pc;
    bool pt_told;
    uint8_t *modules_told; /* bits by module */
};

/* Entry I from the current one; 0 and false behind the end. */
static inline bool raw_peek(const struct raw *c, size_t i, uint64_t *e)
{
    *e = 0;
    if ((i + 1) * RAW_BYTES > c->n)
        return false;
    *e = trod_load_le64(c->p + i * RAW_BYTES);
    return true;
}

static inline void raw_skip(struct raw *c, size_t entries)
{
    c->p += entries * RAW_BYTES;
    c->n -= entries * RAW_BYTES;
    c->used += entries * RAW_BYTES;
    c->offset += entries * RAW_BYTES;
}

static inline bool raw_separate(const struct raw *c)
{
    return (c->filetype & (TROD_DRM_FILTERED | TROD_DRM_IFILTERED)) != 0;
}

/* The translator behind IN, if it is an input made of a raw file; else NULL. */
struct raw *raw_of(const struct trod_input *in);

/*
 * Make the next entries, whole ones, in C's out, whose former bytes were all consumed: some
 * RAW_PIECE bytes, none at the end. Returns 0 or an error, in FAULT, behind which nothing comes.
 */
int raw_make(struct raw *c, struct trod_fault *fault);

/* Append an entry to B. Returns 0 or TROD_ERR_NOMEM. */
int raw_add(const struct raw *c, struct trod_buf *b, unsigned type, unsigned size, uint64_t addr);

/* Report damage at the current entry. Returns 0, or the error where the first one ends the run. */
int raw_damage(struct raw *c, int status, const char *kind, const char *what);

/* A marker at entry I: its number, its value, and the entries it takes. False: none is there. */
bool raw_marker_at(const struct raw *c, size_t i, unsigned *number, uint64_t *value, size_t *n);

/* raw_rows.c: translate the block of the current PC entry. */
int raw_block_rows(struct raw *c);

/*
 * Write the waiting branches and the entries behind them: NEXT is where execution went on, if
 * KNOWN.
 */
int raw_release(struct raw *c, uint64_t next, bool known);

/*
 * raw_syscalls.c: the file of templates beside the raw file PATH, for entries of WIDTH bytes, if
 * there is one. Returns 0 or an error, reported.
 */
int raw_templates_open(struct raw_templates **out, const char *path, unsigned width,
                       struct trod_diag *diag);
void raw_templates_close(struct raw_templates *t);
/* What its use adds to a file type. */
uint64_t raw_templates_filetype(const struct raw_templates *t);
/* Write the template of the system call that C is in, if there is one. */
int raw_inject(struct raw *c);

/* raw_rseq.c: a restartable sequence that ends at END begins. */
int raw_rseq_begin(struct raw *c, uint64_t end);
/* Instruction N comes next. */
int raw_rseq_step(struct raw *c, const struct raw_insn *n);
/* The sequence was left for NEXT; ABORT: by an abort. */
int raw_rseq_end(struct raw *c, uint64_t next, bool abort);
void raw_rseq_fini(struct raw_rseq *r);

#endif
