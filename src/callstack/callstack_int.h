/*
 * callstack_int.h - what the files that implement trod/callstack.h share.
 *
 * A lane is a stream of a file. It has one or more contexts (stacks), of which one runs; what it
 * learnt (functions that were called, addresses that were returned to, whose code is where); the
 * instruction executed last; link register and stack pointer.
 */
#ifndef TROD_CALLSTACK_INT_H
#define TROD_CALLSTACK_INT_H

#include "callstack/ticks.h"
#include "trod/callstack.h"
#include "trod/insn.h"

/* What an instruction that did not lead straight on is. */
enum cs_class {
    CS_UNKNOWN,
    CS_NONE, /* no branch */
    CS_JUMP, /* target in the opcode, taken */
    CS_INDIRECT,
    CS_CALL, /* both kinds */
    CS_RETURN,
    CS_SYSCALL,
    CS_ERET
};

/* No function, frame, context or row: indices of these, and values of maps. */
#define CS_NO_INDEX UINT32_MAX
enum { CS_CODE = TROD_INSN_CODE };

/* An instruction that was executed. */
struct cs_insn {
    struct trod_moment at;
    uint32_t size, flags;
    uint8_t code_n;
    uint8_t code[CS_CODE];
};

/* A function: what was called, or has a symbol. */
struct cs_function {
    uint64_t pc;     /* where it is entered */
    uint64_t lo, hi; /* of its symbol; hi 0: it has none */
    uint32_t open;   /* frames that are it */
    bool called, symbol_entry;
};

/* By address: open addressing, value CS_NO_INDEX: an empty place. */
struct cs_map {
    struct cs_place {
        uint64_t pc;
        uint32_t value;
    } * at;
    size_t n, size;
    unsigned shift;
};

enum { CS_NEAR = 1024, CS_STICKS = 256, CS_PAGE = 4096, CS_PAGES = 8192, CS_CLASSES = 4096 };

struct cs_code_page {
    uint64_t number;
    uint32_t owner[CS_PAGE]; /* by byte: function number + 1 */
};

/* A target of jumps: the function entered there, or CS_NO_INDEX. PC: TROD_NOWHERE: nothing. */
struct cs_near {
    uint64_t pc;
    uint32_t function;
};

struct cs_noted {
    uint64_t from, to;
};

/* Where functions are entered in a page of code: a bit for each byte. */
enum { CS_BITS = CS_PAGE / 64, CS_ASKED = 64 };

struct cs_entries {
    uint64_t bit[CS_BITS];
};

/* What a lane learnt. */
struct cs_known {
    struct cs_function *function;
    uint32_t n;
    size_t cap;
    struct cs_map functions; /* entry -> number */
    struct cs_map returns;   /* return address -> function that called */
    struct cs_near *near;    /* CS_NEAR targets of jumps */
    struct cs_map pages;     /* page number -> page */
    struct cs_code_page **page;
    size_t n_pages, cap_pages;
    struct cs_noted *noted; /* CS_NEAR runs whose code was noted */
    struct cs_map entered;  /* page number -> entries, CS_NO_INDEX - 1: none */
    struct cs_entries *entries;
    size_t n_entries, cap_entries;
    struct cs_asked {  /* pages asked for, by their numbers' last digits */
        uint64_t page; /* TROD_NOWHERE: none */
        uint32_t at;   /* its entries */
    } asked[CS_ASKED];
};

/*
 * Addresses around one that was executed: at none of [FROM, TO) is a function entered that is
 * known. One may be at TO, and if the address itself is one, FROM lies behind it.
 */
struct cs_gap {
    uint64_t from, to;
};

/* Fields of trod_frame.own. */
enum { OWN_FUNCTION, OWN_BANK, OWN_SAVED, OWN_LANE };

/* Where an exception interrupted. */
struct cs_saved {
    struct cs_insn last, before;
    uint64_t sp;
    uint32_t bank;
    bool has_sp;
    bool exc_return; /* M profile: a return to EXC_RETURN ends it */
    bool guessed;    /* nobody said that there was an exception */
    bool told;       /* the trace said where it would go on */
};

struct cs_context {
    struct trod_frame *frame;
    uint32_t n;
    size_t cap;
    uint64_t over; /* calls that were not entered: too deep */
    uint32_t exceptions;
    struct cs_saved *saved; /* of exceptions, in their order */
    uint32_t n_saved;
    size_t cap_saved;
    uint16_t returns[CS_STICKS]; /* frames by a hash of their return address: sticks at the top */
    /* parked: where it goes on */
    bool parked;
    uint64_t resume;
    struct cs_saved at;
};

enum { CS_BANKS = 16 };

enum cs_pending { CS_NOTHING, CS_EXCEPTION, CS_BACK };

struct cs_lane {
    uint32_t stream, file;
    uint32_t slot;           /* its place in the list of lanes */
    uint32_t made;           /* lanes of the file that were there before it */
    struct cs_lane *touched; /* the next one with rows in the batch */
    bool began, in_batch;
    uint8_t isa; /* enum trod_isa */
    uint8_t iset;
    uint8_t pending; /* enum cs_pending */
    uint8_t backs;   /* returns from exceptions that are pending, before an exception if one is */
    bool rseq, has_preferred;
    uint64_t preferred;
    uint64_t next; /* address after the instruction executed last */
    struct cs_gap gap;
    uint64_t count; /* of instructions */
    uint64_t time;
    uint64_t row;                  /* ordinal of the row after the last instruction */
    struct cs_insn last, before;   /* where these are not rows of the current batch */
    uint32_t last_row, before_row; /* else their numbers in it; CS_NO_INDEX */
    uint64_t run;                  /* where the straight run began that is going on */
    uint64_t lr, lr_at;            /* value; count of instructions when it was written, 0: never */
    uint64_t transfer_at;          /* count of instructions at the last transfer */
    struct cs_bank {
        uint64_t name, sp;
        bool known;
    } bank[CS_BANKS];
    uint32_t n_banks, on_bank; /* CS_NO_INDEX: not known */
    struct cs_context **context;
    uint32_t n_contexts, now;
    struct cs_known known;
};

struct cs_class_cache {
    uint64_t pc, key;
    uint8_t iset, class;
};

struct trod_callstack {
    struct trod_callstack_sink sink;
    const struct trod_symbols *symbols;
    bool merged, has_file, own_classes;
    uint32_t file;
    struct cs_lane **lane;    /* by stream + 1; [0]: rows without one */
    uint32_t n_lanes, n_made; /* places; lanes made since the file began */
    struct trod_callstack_counts counts;
    struct trod_insn_decoder *decoder;
    uint8_t decoder_isa, decoder_endian;
    bool decoder_tried;
    struct cs_class_cache classes[CS_CLASSES];
    struct cs_lane *touched; /* lanes with rows in the batch */
    /* rows not yet told */
    const struct trod_batch *batch;
    uint32_t told, at;      /* AT: where an event is */
    struct cs_given *given; /* calls that are given; NULL: rules find them */
    uint64_t due;           /* the row of the next one of them */
    int (*unmatched)(void *ctx, uint32_t lane, const struct trod_moment *to); /* or NULL */
    uint8_t isa, endian;
    struct trod_ticks ticks;
    void (*scale)(void *ctx, unsigned power); /* trod_callstack_scales, or NULL */
    const uint64_t *times;                    /* of the batch, in ticks: its own, or SCALED */
    uint64_t *scaled;
    uint32_t room; /* for as many */
};

/* Time T of a row as it is told. */
static inline uint64_t cs_time(uint64_t t)
{
    return t - (t == TROD_NOWHERE);
}

static inline struct cs_context *cs_now(const struct cs_lane *l)
{
    return l->context[l->now];
}

static inline struct trod_frame *cs_top(const struct cs_lane *l)
{
    const struct cs_context *x = l->n_contexts ? cs_now(l) : NULL;

    return x && x->n ? &x->frame[x->n - 1] : NULL;
}

/* Is the instruction behind a branch executed before what it leads to? */
static inline bool cs_delay_slots(const struct cs_lane *l)
{
    return l->isa == TROD_ISA_MIPS32 || l->isa == TROD_ISA_MIPS64;
}

static inline bool cs_arm32(const struct cs_lane *l)
{
    return l->iset == TROD_ISET_A32 || l->iset == TROD_ISET_T32 || l->iset == TROD_ISET_T32EE;
}

/* PC without the bit that says Thumb. */
static inline uint64_t cs_plain(const struct cs_lane *l, uint64_t pc)
{
    return cs_arm32(l) ? pc & ~(uint64_t)1 : pc;
}

/*
 * ---- ticks.c: rows [FROM, TO) of B into *VIEW, with times in ticks. 0 or TROD_ERR_NOMEM.
 */
int cs_ticks(struct trod_callstack *c, const struct trod_batch *b, uint32_t from, uint32_t to,
             struct trod_batch *view);

/* ---- known.c. 0 or TROD_ERR_NOMEM where they return int. */
int cs_known_init(struct cs_known *k);
void cs_known_fini(struct cs_known *k);
/* The function entered at PC, added if new; CS_NO_INDEX: no memory. */
uint32_t cs_function(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc);
/* The same as far as something is known to be entered at PC: a symbol, or a call; else CS_NO_INDEX.
 */
uint32_t cs_entry(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc);
int cs_called(struct cs_known *k, const struct trod_symbols *symbols, uint32_t function);
struct cs_gap cs_gap(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc);
/* Of the functions that were called the last one before PC, not far away; CS_NO_INDEX: none. */
uint32_t cs_called_before(const struct cs_known *k, uint64_t pc);
bool cs_entered_at(struct cs_known *k, const struct trod_symbols *symbols, uint64_t pc);
/* Does cs_entered_at know of all functions? There are not too many pages. */
bool cs_all_marked(const struct cs_known *k);
/* FUNCTION called and will be returned to at RA; who called (CS_NO_INDEX). */
int cs_returns(struct cs_known *k, uint64_t ra, uint32_t function);
uint32_t cs_returns_to(const struct cs_known *k, uint64_t ra);
/* FUNCTION executed [FROM, TO]; whose code is at PC (CS_NO_INDEX). */
int cs_code(struct cs_known *k, uint64_t from, uint64_t to, uint32_t function);
uint32_t cs_code_of(const struct cs_known *k, uint64_t pc);

/* ---- classes.c */
enum cs_class cs_class_of(struct trod_callstack *c, const struct cs_lane *l,
                          const struct cs_insn *insn);
/* Where INSN, a branch, leads if that is in its opcode. */
bool cs_target(struct trod_callstack *c, const struct cs_insn *insn, uint64_t *target);
/* Does INSN, a branch, surely transfer control, or did it? */
bool cs_surely(struct trod_callstack *c, const struct cs_insn *insn);

/* ---- registers.c */
void cs_register(struct cs_lane *l, const struct trod_batch *b, uint32_t i);
/* The stack pointer, where it is known. */
bool cs_sp(const struct cs_lane *l, uint64_t *sp, uint32_t *bank);

/* ---- frames.c: all return 0, TROD_ERR_NOMEM or what the sink returned */
struct cs_push {
    uint8_t kind, sure;
    bool has_ra, under;
    uint64_t ra;
    const struct trod_moment *site; /* NULL: none */
    struct trod_moment entry;
};
int cs_tell(struct trod_callstack *c, struct cs_lane *l, uint32_t to);
int cs_push(struct trod_callstack *c, struct cs_lane *l, const struct cs_push *p);
/* Leave the innermost frame. */
int cs_pop(struct trod_callstack *c, struct cs_lane *l, unsigned how, unsigned sure,
           const struct trod_moment *last, const struct trod_moment *next);
/* Leave frames until N are left. */
int cs_pop_to(struct trod_callstack *c, struct cs_lane *l, uint32_t n, unsigned how, unsigned sure,
              const struct trod_moment *last, const struct trod_moment *next);
int cs_context_new(struct cs_lane *l);
void cs_context_free(struct cs_context *x);
bool cs_may_return(const struct cs_context *x, uint64_t ra);

/* ---- rules.c: instruction NOW of L does not follow LAST, or something is pending */
struct cs_step {
    const struct cs_insn *last, *before; /* of L; BEFORE: of instruction sets with delay slots */
    struct trod_moment now;
    bool onward; /* NOW lies after LAST, and yet was called or jumped to */
};
int cs_step(struct trod_callstack *c, struct cs_lane *l, struct cs_step *s);

/* ---- straight.c: what rows have in common */
struct cs_alike {
    bool plain;  /* one stream; the instructions have address, size and flags */
    bool rising; /* no time, or times that do not fall */
};
struct cs_alike cs_alike(const struct trod_batch *b, uint32_t from, uint32_t to);
/*
 * Rows [FROM, TO), all of stream L and plain: those that lead on, and jumps that change nothing but
 * where L is. Returns where it stopped: at a row that has to be seen by all rules.
 */
uint32_t cs_straight(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b,
                     uint32_t from, uint32_t to, struct cs_alike alike);

/* ---- callstack.c: the lane of STREAM, made if new. NULL: no memory. */
struct cs_lane *cs_lane_of(struct trod_callstack *c, uint32_t stream, bool said);

/* ---- given.c, where calls are given */
/* Rows come, the first of which is ROW. 0, TROD_ERR_NOMEM or TROD_ERR_CORRUPT. */
int cs_given_begin(struct trod_callstack *c, uint64_t row);
/* What is given for instruction s->now of L. The same, or what the sink returned. */
int cs_given_step(struct trod_callstack *c, struct cs_lane *l, const struct cs_step *s);
/*
 * Call c->unmatched with NOW of L, after the events of the rows before. Returns 0 or what it, or
 * the sink, returned.
 */
int cs_tell_unmatched(struct trod_callstack *c, struct cs_lane *l, const struct trod_moment *now);
/* L is new. */
void cs_given_lane(struct cs_lane *l);
void cs_given_free(struct cs_given *g);

#endif
