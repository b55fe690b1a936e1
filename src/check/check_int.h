/*
 * check_int.h - what the rules of the families share: their numbers, the engine's state, reporting.
 */
#ifndef TROD_CHECK_INT_H
#define TROD_CHECK_INT_H

#include "trod/check.h"
#include "trod/insn.h"
#include "trod/where.h"

/* The numbers of the rules. */
enum chk_rule {
#define RULE(name, id, severity, families, text, source) CHK_##name,
#include "check/rules.def"
#undef RULE
    CHK_RULES
};

struct chk;
struct chk_part;
struct chk_at;

/* The rules of a family of formats: a state a stream and one a file, rows in order. */
struct chk_family {
    unsigned families;  /* enum trod_rule_family */
    bool text;          /* records are lines */
    size_t stream_size; /* bytes of state a stream, zero at first */
    size_t file_size;   /* bytes of state a file; see chk_file */
    /* Judge rows [FROM, TO) of B, all of one stream, whose state is ST. 0 or TROD_ERR_NOMEM. */
    int (*rows)(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /* The stream ends. NULL: nothing to do. */
    void (*end)(struct chk *c, void *st);
    void (*fini)(void *st);
    bool facts; /* it asks chk_facts_of */
    /*
     * Parts (parts.h). SEAM is zero and becomes a copy of ST, without its tables, which begin anew
     * in ST.
     */
    void (*seam)(void *seam, void *st);
    /*
     * INTO, the state of the rows before the seam, where FROM was thought to be SEAM, becomes that
     * of the rows up to where FROM is, of a part that begins behind the rows that C has judged.
     * False: they are not the same, or FROM cannot tell.
     */
    bool (*join)(struct chk *c, void *into, const void *seam, void *from);
    /* INTO, the state of the rows before, goes over stretch I of P. False: it may not. */
    bool (*go_on)(struct chk *c, void *into, const struct chk_part *p, uint32_t i);
};

struct chk_stream {
    void *st;      /* of the family, NULL until it is needed */
    uint64_t last; /* ordinal of its last row */
    uint32_t file;
};

/* What schedule files should say, in the order of the trace: entries of a thread follow it. */
struct chk_schedule {
    bool wanted, nomem;
    bool narrow;  /* times in the trace are the low 32 bits */
    bool windows; /* several windows: each has its schedule, and counts from 0 again */
    bool unknown; /* core-sharded: the counts of a thread's instructions are not known */
    struct trod_schedule_entry *entry;
    size_t n, cap;
};

/* What most rules ask of an instruction, in half a cache line. */
struct chk_facts {
    uint64_t pc, target;
    uint32_t off; /* of the opcode bytes in batch->shared */
    uint32_t flags;
    uint8_t valid, branch, loads, stores, op; /* op: the first byte */
};

/* An opcode, and what it is wherever it stands; one with a target: where it stood last. */
struct chk_code {
    struct chk_facts facts;
    uint32_t read_size, write_size;
    uint8_t bytes[16];
    uint8_t len, iset;
    bool hint; /* drmemtrace has a record for the operand of one, as for that of a load: facts do */
};

struct chk {
    uint64_t keep;
    bool merged;
    bool recording;          /* rows are a part of a file */
    bool muted;              /* what is found now is found again by another state */
    struct chk_part *part;   /* the part begins inside the file; NULL: with it */
    const struct chk_at *at; /* rows that were kept are judged: where they lie; else NULL */
    uint64_t rows;           /* of this file so far; of the part */
    struct chk_schedule schedule;
    const struct trod_meta *meta;
    const struct chk_family *family; /* NULL until the first batch; see chosen */
    bool chosen;
    uint8_t on[CHK_RULES]; /* 1: the rule is to be applied */
    uint64_t count[CHK_RULES];
    uint64_t kept[CHK_RULES];
    struct trod_where *where; /* NULL: findings of all rows count */
    uint8_t *wanted;          /* by row of the batch: 1 */
    struct trod_finding *found;
    size_t n_found, cap_found;
    struct chk_stream *streams; /* by key */
    uint32_t n_streams;
    uint8_t *files;   /* file_size bytes each */
    uint32_t *lasts;  /* by file: 1 + the key of the stream of its last row */
    uint64_t *counts; /* by file: its rows so far (merged) */
    uint32_t n_files;
    uint32_t stream; /* being judged: its key (trod_stream_key) */
    uint32_t file;   /* its file */
    bool switched;   /* the rows before in this file were of another stream: previous */
    uint32_t previous;
    bool any;      /* there were rows of this file (not merged) */
    uint64_t base; /* what row I of a batch has in its file: first + I - base */
    /* Text: lines_to is the offset up to which ends of lines are counted. */
    bool lines_known;
    uint64_t lines, lines_to;
    struct trod_insn_decoder *insn; /* NULL: none for this ISA */
    struct chk_facts *facts;        /* by place in batch->shared */
    size_t n_facts;                 /* places, a power of two */
    uint32_t facts_mask;            /* that less one */
    struct chk_code *codes;         /* the same by opcode: direct-mapped */
    struct chk_code code;           /* of one that has no place there */
    struct chk_word *words;         /* of text traces: direct-mapped by pc */
    uint32_t words_mask, words_missed;
    bool insn_tried;
    bool isa_known; /* what the decoder is for; else what the meta says when it is first asked */
    enum trod_isa isa;
};

/* What the rules of text traces ask of an instruction, kept under what its line says. */
struct chk_word {
    uint64_t pc, text, target; /* text: the first eight bytes of the disassembly */
    uint32_t code;             /* opcode of up to four bytes */
    uint32_t flags, read_size, write_size;
    uint8_t len, iset;
    uint8_t valid, branch, loads, stores;
    bool text_right; /* the disassembly is of this class of instruction */
};

extern const struct chk_family chk_tarmac, chk_amber, chk_full, chk_byu6, chk_byu12, chk_drm;

/*
 * Row I of B (NULL: the end of the stream) breaks RULE. The message is a printf-style sentence.
 * Cheap when the rule is off or enough was kept: then it is only counted.
 */
void chk_report(struct chk *c, enum chk_rule rule, const struct trod_batch *b, uint32_t i,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* A place for a finding of RULE, which is counted, or NULL when it is off or enough are kept. */
struct trod_finding *chk_finding(struct chk *c, size_t rule);

/* F as one more finding, already counted. 0 or TROD_ERR_NOMEM. */
int chk_adopt(struct chk *c, const struct trod_finding *f);

/* As chk_report, of a row that was at AT (chk_place) and is gone by now. */
void chk_report_at(struct chk *c, enum chk_rule rule, const struct chk_at *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Where row I of B, which is being judged, is. */
struct chk_at chk_place(struct chk *c, const struct trod_batch *b, uint32_t i);

/* Findings at row I of the batch that is being judged count. */
static inline bool chk_wanted(const struct chk *c, uint32_t i)
{
    return !c->where || c->wanted[i];
}

/* Where row I of B lies in its file, or in its part. */
struct chk_at chk_locate(struct chk *c, const struct trod_batch *b, uint32_t i);

/* Rows of the stream of KEY, of the file being judged, come: its state in *OUT. 0 or
 * TROD_ERR_NOMEM. */
int chk_stream_state(struct chk *c, uint32_t key, void **out);

/* What is known of the stream of KEY; NULL: nothing. */
static inline const struct trod_stream *chk_stream_of(const struct chk *c, uint32_t key)
{
    return c->meta && key && key - 1 < c->meta->n_streams ? &c->meta->streams[key - 1] : NULL;
}

/* Its thread; TROD_NOWHERE: it is none. */
static inline uint64_t chk_thread_of(const struct chk *c, uint32_t key)
{
    const struct trod_stream *s = chk_stream_of(c, key);

    return s ? s->tid : TROD_NOWHERE;
}

/* Rows of FILE may come. 0 or TROD_ERR_NOMEM. */
int chk_use_file(struct chk *c, uint32_t file);

/* Facts of instructions may be asked for. 0 or TROD_ERR_NOMEM. */
int chk_use_facts(struct chk *c);

/* Count the lines up to byte TO of the window of B. */
void chk_count_lines(struct chk *c, const struct trod_batch *b, uint64_t to);

/* The streams end: what they still hold is judged and released. */
void chk_finish(struct chk *c);

/* The state of the file being judged, zero at first; never NULL while rows are. */
static inline void *chk_file(const struct chk *c)
{
    return c->files + c->file * c->family->file_size;
}

/* schedule.c: an entry that schedule files should have. Without memory s->nomem is set. */
void chk_schedule_add(struct chk_schedule *s, const struct trod_schedule_entry *e);

/* What FROM says behind what INTO says. */
void chk_schedule_merge(struct chk_schedule *into, const struct chk_schedule *from);

/* findings.c, save.c: callbacks of the analysis. */
int chk_merge(void *into, const void *from);
int chk_result(const void *st, struct trod_result *e);
int chk_save(const void *st, struct trod_buf *out);
int chk_load(void *st, struct trod_span in, const uint32_t *sites);

static inline bool chk_on(const struct chk *c, enum chk_rule rule)
{
    return c->on[rule];
}

/* Instructions are of ISA, in little-endian code, from here on, whatever the meta says. */
void chk_use_isa(struct chk *c, enum trod_isa isa);

/*
 * What row I, an instruction that may have an opcode, is; valid until the next call. Programs have
 * the same opcodes at many places: they are decoded once.
 */
const struct chk_code *chk_code(struct chk *c, const struct trod_batch *b, uint32_t i);

static inline bool chk_has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* Facts of row I, which has opcode bytes, decoded anew. NULL: they cannot be had. */
const struct chk_facts *chk_facts_new(struct chk *c, const struct trod_batch *b, uint32_t i);

/*
 * The same in short, remembered by where the opcode bytes lie in batch->shared: a place for each
 * instruction of the program, in slots of 16 bytes.
 */
static inline const struct chk_facts *chk_facts_of(struct chk *c, const struct trod_batch *b,
                                                   uint32_t i)
{
    uint32_t off = b->code[i].off & ~(uint32_t)TROD_SLICE_SHARED;
    const struct chk_facts *f;

    if (!chk_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return NULL;
    f = &c->facts[off >> 4 & c->facts_mask];
    /* shared bytes stay what they are until a row says otherwise */
    if (!(b->code[i].off & TROD_SLICE_SHARED) || (b->flags[i] & TROD_F_NEWCODE) ||
        f->pc != b->addr[i] || f->off != off)
        f = chk_facts_new(c, b, i);
    return f && f->valid ? f : NULL;
}

#endif
