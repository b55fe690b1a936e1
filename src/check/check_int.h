/*
 * check_int.h - what the rules of the families share: their numbers, the engine's state, reporting.
 */
#ifndef TROD_CHECK_INT_H
#define TROD_CHECK_INT_H

#include "trod/check.h"
#include "trod/insn.h"

/* The numbers of the rules. */
enum chk_rule {
#define RULE(name, id, severity, families, text, source) CHK_##name,
#include "check/rules.def"
#undef RULE
    CHK_RULES
};

struct chk;

/* The rules of a family of formats: a state a stream, rows in order. */
struct chk_family {
    unsigned families;  /* enum trod_rule_family */
    size_t stream_size; /* bytes of state a stream, zero at first */
    /* Judge rows [FROM, TO) of B, all of one stream, whose state is ST. 0 or TROD_ERR_NOMEM. */
    int (*rows)(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
    /* The stream ends. */
    int (*end)(struct chk *c, void *st);
    void (*fini)(void *st);
};

struct chk_stream {
    void *st;            /* of the family, NULL until it is needed */
    uint64_t rows, last; /* ordinal of its last row */
};

struct chk {
    const struct trod_check_options *opt;
    const struct trod_meta *meta;
    const struct chk_family *family; /* NULL until the first batch; see chosen */
    bool chosen, ended;
    uint8_t on[CHK_RULES]; /* 1: the rule is to be applied */
    uint64_t count[CHK_RULES];
    struct trod_finding *found;
    size_t n_found, cap_found;
    struct chk_stream *streams;
    uint32_t n_streams;
    uint32_t stream; /* being judged */
    bool switched;   /* the rows before were of another stream: previous */
    uint32_t previous;
    bool any;                       /* there were rows */
    struct trod_insn_decoder *insn; /* NULL: none for this ISA */
    struct chk_facts *facts;        /* direct-mapped */
    bool insn_tried;
};

/* What most rules ask of an instruction, in half a cache line. */
struct chk_facts {
    uint64_t pc, target;
    const uint8_t *code;
    uint32_t flags;
    uint8_t valid, branch, loads, stores;
};

extern const struct chk_family chk_tarmac, chk_amber, chk_full, chk_byu6, chk_byu12, chk_drm;

/*
 * Row I of B (NULL: the end of the stream) breaks RULE. The message is a printf-style sentence.
 * Cheap when the rule is off or enough was kept: then it is only counted.
 */
void chk_report(struct chk *c, enum chk_rule rule, const struct trod_batch *b, uint32_t i,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static inline bool chk_on(const struct chk *c, enum chk_rule rule)
{
    return c->on[rule];
}

/* Facts of the instruction of row I, or NULL where they cannot be had. */
const struct trod_insn *chk_insn(struct chk *c, const struct trod_batch *b, uint32_t i);

/* The same in short, remembered by where the opcode bytes lie in batch->shared. */
const struct chk_facts *chk_facts_of(struct chk *c, const struct trod_batch *b, uint32_t i);

static inline bool chk_has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

#endif
