/*
 * drm.h - the state of a thread of a drmemtrace trace under the rules.
 */
#ifndef TROD_CHECK_DRM_H
#define TROD_CHECK_DRM_H

#include "check/parts.h"
#include "trod/drmemtrace.h"

enum { DRM_EVENTS = 64, DRM_CALLS = 1024 };

/* Record types of instructions, as sub of INSTR rows has them. */
enum drm_instr {
    DRM_I_DIRECT = 11,
    DRM_I_CONDITIONAL = 13,
    DRM_I_RETURN = 16,
    DRM_I_SYSENTER = 31,
    DRM_I_NO_FETCH = 29,
    DRM_I_TAKEN = 48,
    DRM_I_UNTAKEN = 49
};

/* An instruction that was executed. */
struct drm_prev {
    bool known;
    uint64_t pc, size, target;
    unsigned type, branch; /* record type; enum trod_branch of the row */
    bool decoded;
    uint32_t facts; /* enum trod_insn_flag, if decoded */
    uint8_t is;     /* enum trod_branch by the decoder */
    uint8_t loads, stores;
    uint8_t op; /* first byte of its encoding */
    uint64_t insn_target;
};

/* What an event interrupted. */
struct drm_event {
    uint64_t pc;
    bool hardware;
    uint64_t calls; /* return addresses before it, those forgotten too */
    struct drm_prev prev;
};

/* What holds for a file: its threads are those of a core where it is core-sharded. */
struct drm_file {
    uint64_t version;
    uint64_t filetype, announced; /* what holds now; as the file says */
    enum trod_isa isa;            /* that it means */
    uint64_t chunk_size, next_footer, instructions;
    bool filetype_known, line_size, page_size;
};

struct drm {
    struct drm_file *file; /* of the rows being judged */
    bool instr_count_known, exited, endpoint, syscalls;
    uint64_t instr_count, instructions;
    uint64_t timestamp;
    bool timestamp_known, timestamp_since; /* since the last instruction */
    bool scheduled;
    struct trod_schedule_entry last_scheduled;
    int last[2]; /* types of the last two records: markers, else -1 */

    bool plain; /* nothing is known or expected but prev: the fast path may judge */
    struct drm_prev prev;
    uint32_t reads, writes; /* of prev so far */
    bool unsure;            /* how many accesses prev has is not known */
    bool cut_short;         /* prev may not have done all its accesses */
    bool moved;             /* an event or return lies between prev and what comes */
    bool window;            /* the window changed since prev */
    uint64_t window_id;     /* 0 before the first is named */
    bool aborted;           /* an rseq abort waits for its event */
    bool after_abort;

    struct drm_event *event; /* DRM_EVENTS, once there is one */
    unsigned depth;
    bool expect; /* the next instruction is to be at expect_pc */
    uint64_t expect_pc;
    bool returned;       /* from an event, and no instruction since */
    bool resumes_branch; /* what it interrupted is not known, or a branch */

    /* System calls and inlined traces. */
    bool after_syscall; /* SYSCALL came since the last instruction */
    bool only_syscall;  /* nothing but its own markers since */
    bool trace_done;    /* an inlined trace came since the last user instruction */
    bool in_trace, in_switch, template_syscall, template_default;
    unsigned template_switches;
    uint64_t syscall, trace;
    unsigned trace_depth;
    struct drm_prev user; /* prev before the inlined trace */
    bool kernel_target_known;
    uint64_t kernel_target; /* 0: the program is not to go on */
    unsigned sti;           /* instructions that may still follow an sti before an interrupt */

    bool function_just; /* the record before is a function marker */
    uint64_t function;
    uint64_t *call; /* return addresses, innermost last; of DRM_CALLS the outermost are forgotten */
    unsigned n_calls, cap_calls;
    uint64_t forgotten;

    bool physical;
    uint64_t physical_addr;
    bool in_rseq, rseq_began;
    uint64_t rseq_from, rseq_end;
    bool regdeps_known; /* the category of the last instruction is */
    uint32_t regdeps_category;
};

/* Plain rows of a part, of one stream. */
struct chk_stretch {
    uint64_t instructions, last; /* ordinal of its last row */
    struct drm_prev prev;        /* when they are over, */
    uint32_t reads, writes;      /* and what it has accessed by then */
    size_t op, n_ops;            /* of the part: what they call, and where they return */
    enum trod_isa isa;           /* that they were thought to be of */
};

static inline bool drm_regdeps(const struct drm *d)
{
    return d->file->filetype & TROD_DRM_REGDEPS;
}

static inline bool drm_core_sharded(const struct drm *d)
{
    return d->file->filetype & TROD_DRM_CORE_SHARDED;
}

/* In kernel code that was inlined. */
static inline bool drm_inlined(const struct drm *d)
{
    return d->in_trace || d->in_switch;
}

static inline bool drm_ifilt(const struct drm *d)
{
    return d->file->filetype & (TROD_DRM_FILTERED | TROD_DRM_IFILTERED);
}

static inline bool drm_dfilt(const struct drm *d)
{
    return d->file->filetype & (TROD_DRM_FILTERED | TROD_DRM_DFILTERED | TROD_DRM_INSTRUCTION_ONLY);
}

static inline bool drm_template(const struct drm *d)
{
    return d->file->filetype & TROD_DRM_TEMPLATES;
}

/* Is P of a type of branches? The decoder's classes have system calls and returns from events too.
 */
static inline bool drm_is_branch(const struct drm_prev *p)
{
    return (p->type >= DRM_I_DIRECT && p->type <= DRM_I_RETURN) || p->type == DRM_I_TAKEN ||
           p->type == DRM_I_UNTAKEN;
}

static inline bool drm_is_indirect(unsigned branch)
{
    return branch == TROD_BR_INDIRECT || branch == TROD_BR_ICALL || branch == TROD_BR_RETURN;
}

/* Each of the files below calls those above it. */

/* drm_flow.c: whether control may go from P to PC. */
bool chk_drm_may_lead(const struct drm *d, const struct drm_prev *p, uint64_t pc);
/* The accesses of the last instruction are complete. */
void chk_drm_settle(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i);
/* A call will return to PC; 0: an event. */
void chk_drm_call(struct drm *d, uint64_t pc);
/* An instruction that is BRANCH (enum trod_branch); where it is a call, it will return to BACK. */
void chk_drm_return_addresses(struct drm *d, unsigned branch, uint64_t back);

/* drm_kernel.c: markers of events, system calls and inlined traces. False: not one of them. */
bool chk_drm_kernel_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i);
/* An instruction comes: what system calls promised before it. */
void chk_drm_kernel_instruction(struct chk *c, struct drm *d, const struct trod_batch *b,
                                uint32_t i);

/* drm_markers.c: a marker of any kind. */
void chk_drm_marker(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i);

/* drm_markers.c: the instruction set that BITS of a file type mean. */
enum trod_isa chk_drm_isa(uint64_t bits);

/* drm_instr.c: an instruction. */
void chk_drm_instruction(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i);
/*
 * The common case, while d->plain: rows from FROM on of instructions that follow one another and
 * keep every rule, and their data. Returns the first row that is something else, or TO.
 */
uint32_t chk_drm_plain(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                       uint32_t to);

/* drm.c: rows [FROM, TO) of B; row I. */
void chk_drm_judge(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                   uint32_t to);
void chk_drm_row(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t i);

/* drm_parts.c: the file goes on, and what its head said is in the meta. */
void chk_drm_part_begin(struct chk *c, struct drm *d);
/* A plain row is BRANCH; where it is a call, it will return to BACK. */
void chk_drm_part_call(struct chk_part *p, unsigned branch, uint64_t back);
/* Rows [FROM, TO) of B. 0 or TROD_ERR_NOMEM. */
int chk_drm_part_rows(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                      uint32_t to);
/* The callback go_on. */
bool chk_drm_part_go_on(struct chk *c, void *st, const struct chk_part *p, uint32_t i);

#endif
