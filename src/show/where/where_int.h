/*
 * where_int.h - an expression on its way from text to a program over columns.
 *
 * Implements trod/where.h. lex.c makes tokens, parse.c a tree of nodes, check.c gives each node a
 * type, emit.c makes a program, eval.c and texts.c run it over tiles of a batch: an instruction of
 * the program works on all rows of a tile, and only on those that earlier conditions left.
 */
#ifndef TROD_SHOW_WHERE_INT_H
#define TROD_SHOW_WHERE_INT_H

#include <regex.h>

#include "show/match.h"
#include "show/rows.h"
#include "trod/insn.h"
#include "trod/where.h"

/* ---- tokens */

enum where_token {
    TOK_END,
    TOK_NUMBER,
    TOK_STRING,
    TOK_REGEX,
    TOK_NAME,
    TOK_OR, /* || or */
    TOK_AND,
    TOK_NOT, /* the word; '!' is a token of its own */
    TOK_EQ,
    TOK_NE,
    TOK_LT,
    TOK_LE,
    TOK_GT,
    TOK_GE,
    TOK_IN,
    TOK_MATCH, /* ~ behind an operand */
    TOK_NOMATCH,
    TOK_RANGE,      /* .. */
    TOK_RANGE_OPEN, /* ..< */
    TOK_SHL,
    TOK_SHR,
    TOK_OTHER /* and above: TOK_OTHER + the character */
};

struct where_lexer {
    const char *text;
    char *strings; /* room for the texts of tokens */
    size_t at;     /* behind the token at hand */
    bool operand;  /* the token before was one: ~ is an operator, / divides */
    unsigned token;
    uint32_t pos;    /* of the token */
    uint64_t number; /* TOK_NUMBER */
    const char *s;   /* TOK_STRING, TOK_REGEX, TOK_NAME */
    bool nocase;     /* TOK_REGEX: /.../i */
    struct trod_diag *diag;
};

/* The next token. Returns 0 or TROD_ERR_USAGE, reported. */
int where_lex(struct where_lexer *x);
/* Report what is wrong at POS of TEXT. Returns TROD_ERR_USAGE. */
int where_error(struct trod_diag *diag, const char *text, uint32_t pos, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- names */

enum where_type { TYPE_NONE, TYPE_BOOL, TYPE_NUMBER, TYPE_TEXT, TYPE_WORD, TYPE_STREAM, TYPE_BARE };

/* What a name stands for. Numbers first, then texts: see where_names. */
enum where_column {
    COL_ROW,
    COL_INDEX,
    COL_TIME,
    COL_PC,
    COL_ADDR,
    COL_PADDR,
    COL_SIZE,
    COL_VALUE,
    COL_TARGET,
    COL_CORE,
    COL_SUB,
    COL_FLAGS,
    COL_OPCODE,
    COL_TID,
    COL_PID,
    COL_LINE,
    COL_OFFSET,
    COL_STREAM, /* as a number where it is compared with one */
    COL_TEXT,
    COL_DISASM,
    COL_MNEMONIC,
    COL_REGISTER,
    COL_RECORD_TYPE,
    COL_UNIT,
    COL_DATA,
    COL_DETAILS,
    COL_FUNCTION,
    COL_SYMBOL,
    COL_MODULE,
    COL_SOURCE,
    COL_KIND,
    COL_BRANCH,
    COL_ISET,
    COL_SECURITY,
    COL_FLAG, /* a condition: arg bits of the flags column, any of them */
    COL_TAKEN,
    COL_UNTAKEN,
    COL_KERNEL,
    COL_USER,
    COL_BRANCH_IN, /* a condition: the branch is one of arg */
    COL_ISET_IN,
    COL_HAS, /* has(NAME) */
    COL_TOUCHES,
    COL_AT,
    COL_SPAN
};

struct where_name {
    struct trod_where_name public; /* without text: another name of the one before it */
    uint8_t type, column;
    bool symbols;  /* needs files of symbols */
    uint32_t want; /* enum trod_column */
    uint32_t arg;
};

const struct where_name *where_name_at(size_t i);
const struct where_name *where_name_find(const char *name);
/* Number of WORD among those of COLUMN (COL_BRANCH, COL_ISET, COL_SECURITY), -1: none. */
int where_word_find(unsigned column, const char *word);
/* Word I of COLUMN, NULL past the last; "" where there is none of that number. */
const char *where_word_at(unsigned column, unsigned i);

/* ---- trees */

enum where_op {
    OP_NUMBER,
    OP_STRING,
    OP_REGEX,
    OP_NAME,
    OP_CALL, /* name, a: first argument */
    OP_TRUE, /* num: 1 true, 0 false */
    OP_NEG,
    OP_INV,
    OP_NOT,
    OP_AND,
    OP_OR,
    OP_MUL, /* arithmetic, in this order in programs too */
    OP_DIV,
    OP_MOD,
    OP_ADD,
    OP_SUB,
    OP_SHL,
    OP_SHR,
    OP_BAND,
    OP_BXOR,
    OP_BOR,
    OP_EQ, /* comparisons */
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_MATCH,
    OP_NOMATCH,
    OP_IN,
    OP_RANGE, /* a, b: bounds, -1: open; num: 1 where b is not included */
    OP_SET    /* a: first item; next of each: the one behind it */
};

enum { WHERE_NODES = 2000, WHERE_DEPTH = 100 };

struct where_node {
    uint8_t op, type;
    bool nocase;
    uint32_t pos;
    int a, b, next; /* -1: none */
    uint64_t num;
    const char *s;
    const struct where_name *name;
};

struct where_tree {
    const char *text;
    struct where_node node[WHERE_NODES];
    int n;
    struct trod_symbols *symbols;
    struct trod_diag *diag;
    bool plain; /* no record of the trace is called as a kind that is named here */
};

/* Does N stand for a text: in quotes, or a name that is none? */
static inline bool is_text_node(const struct where_node *n)
{
    return n->op == OP_STRING || n->type == TYPE_BARE;
}

/* A tree of the text of X; its root, or TROD_ERR_USAGE, reported. */
int where_parse(struct where_tree *t, struct where_lexer *x);
/* Types for the tree below ROOT, which must be a condition; constants are folded. */
int where_check(struct where_tree *t, int root);

/* ---- programs */

enum where_code {
    /* on masks */
    RUN_SKIP, /* no row in mask a: go on at k */
    RUN_ANDN, /* dst = a & ~b */
    RUN_OR,   /* dst = a | b */
    RUN_ALL,  /* dst = a */
    RUN_NONE, /* dst = nothing */
    /* numbers: dst = a OP b; b < 0: the constant k */
    RUN_LOAD, /* column a */
    RUN_CONST,
    RUN_NEG,
    RUN_INV,
    RUN_ARITH, /* sub: OP_MUL ... */
    /* masks of numbers, within the active mask */
    RUN_COMPARE, /* sub: OP_EQ ... */
    RUN_BETWEEN, /* k and most */
    RUN_MEMBER,  /* set k, sorted */
    RUN_PRESENT, /* number a is there */
    /* masks of rows */
    RUN_HAS,  /* one of the columns k is there */
    RUN_FLAG, /* one of the flags k is set */
    RUN_KIND, /* test k */
    RUN_WORD, /* sub: column; k: bit by word */
    RUN_TAKEN,
    RUN_UNTAKEN,
    RUN_KERNEL,
    RUN_USER,
    RUN_TOUCH,  /* ranges k */
    RUN_STREAM, /* test k */
    RUN_TEXT    /* test k */
};

struct where_step {
    uint8_t code, sub;
    bool negate;     /* RUN_TEXT, RUN_STREAM: rows that are there and do not pass */
    uint16_t active; /* mask of the rows that count */
    int dst, a, b;
    uint64_t k, most;
};

enum { WHERE_ITEMS = 256, WHERE_CACHE = 256, WHERE_CACHED = 54, WHERE_PLACES = 1024 };

/* The result for a text, kept by the text itself or by the address it belongs to. */
enum where_verdict { VERDICT_UNKNOWN, VERDICT_ABSENT, VERDICT_NO, VERDICT_YES };

struct where_cached {
    uint8_t verdict, len;
    char s[WHERE_CACHED];
};

struct where_place {
    uint64_t at;
    uint8_t verdict;
};

/* A text, a stream or a kind against constants. */
struct where_test {
    uint8_t column;
    bool nocase, has_regex;
    const char *item[WHERE_ITEMS]; /* one of them */
    size_t n;
    regex_t regex;               /* or this */
    struct show_literal literal; /* of it */
    struct where_cached *cached; /* regex: WHERE_CACHE of them */
    struct where_place *places;  /* texts by address: WHERE_PLACES of them */
    uint32_t kinds;              /* COL_KIND: bit by kind */
    bool fetches, named;
    uint8_t *stream; /* COL_STREAM: verdict by stream */
    uint32_t n_streams;
};

struct where_set {
    uint64_t *item;
    size_t n;
};

/* The instruction executed last by a stream. */
struct where_last {
    uint64_t pc;
    bool known;
};

enum { WHERE_TILE = 256, WHERE_WORDS = WHERE_TILE / 64 };

struct where_mask {
    uint64_t w[WHERE_WORDS];
};

struct where_number {
    const uint64_t *v;
    struct where_mask present;
    uint64_t own[WHERE_TILE];
};

struct trod_where {
    char *text, *strings;
    struct trod_symbols *symbols;
    uint32_t want;
    uint64_t last;                      /* row */
    struct trod_match_need need, plain; /* the second where no records are called as kinds are */
    struct trod_where *shapes;          /* the part about shapes (text, opcode); NULL: none */
    struct trod_where *classes;         /* and of their classes, likewise, */
    bool more;                          /* which is about more than kinds */
    const uint8_t *flow;                /* of rows that are classes: enum trod_flow; else NULL */
    unsigned exact; /* enum where_part, if PLAIN, LOOKS and CLASSES are all that it says; or 0 */
    struct where_step *step;
    size_t n_steps, cap_steps;
    struct where_test **test;
    size_t n_tests, cap_tests;
    struct where_set *set;
    size_t n_sets, cap_sets;
    struct match_ranges *ranges;
    size_t n_ranges, cap_ranges;
    int n_masks, n_numbers;
    struct where_mask *mask;
    struct where_number *number;
    bool places;  /* pc or what goes by it is used */
    uint64_t *pc; /* by row of the batch: of the instruction it belongs to; NULL: not needed */
    uint8_t *has_pc;
    struct where_last *executed; /* by stream + 1; [0]: rows without a stream */
    uint32_t n_executed;
    bool streams; /* stream, tid or pid are used as numbers or by name */
    uint64_t *stream_number;
    uint32_t n_streams;
    struct trod_disasm *disasm;
    struct trod_insn_decoder *decoder;
    bool disasm_tried, decoder_tried;
    struct trod_show show; /* for opcodes as they are shown */
    char *scratch;         /* a text that is made of a row */
};

enum { WHERE_SCRATCH = 1 << 18, WHERE_TEXT = 4096 };

/* A program for the tree below ROOT into W. 0, TROD_ERR_NOMEM or TROD_ERR_USAGE, reported. */
int where_emit(struct trod_where *w, const struct where_tree *t, int root);

/* What rows must be for node N to hold. */
struct trod_match_need where_need(const struct where_tree *t, int n);

/* exact.c: the kinds of rows for which node N holds, to *KINDS; false: it asks for more. */
bool where_kinds(const struct where_tree *t, int n, uint32_t *kinds);
/*
 * Are the spans of where_need just the functions that the text of node N names (ALL: also those
 * behind it)?
 */
bool where_functions(const struct where_tree *t, int n, bool all);

/* Parts of an expression that where_need and where_loosen understand exactly. */
enum where_part {
    WHERE_ROWS = 1 << 0,
    WHERE_KINDS = 1 << 1,
    WHERE_VALUES = 1 << 2,
    WHERE_PCS = 1 << 3,
    WHERE_LOOKS = 1 << 4,
    WHERE_CLASSES = 1 << 5,
    WHERE_TIMES = 1 << 6,
    WHERE_ADDRS = 1 << 7
};

/* Those of node N, a bit each; 0: there is more to it. */
unsigned where_exact(const struct where_tree *t, int n);
/* may.c: does condition X, which has none in it, go by something alone? *ANY: and by more than
 * kinds. */
typedef bool where_goes_fn(const struct where_tree *t, const struct where_node *x, bool *any);
/* By what rows look like: kind, opcode, text. */
where_goes_fn where_goes_by_shape;
/* By their class: kind, flags, size, stream, number of the type, which columns they have. */
where_goes_fn where_goes_by_class;
/* Do all conditions below node N go by that? */
bool where_all_go(const struct where_tree *t, int n, where_goes_fn *goes, bool *any);

/*
 * Conditions of T below N that go by more than GOES says become constants: true, or false unless
 * HOLDS, where they are the reason for the opposite. *KEPT: a condition stays. Is any of those that
 * stay about more than kinds?
 */
bool where_loosen(struct where_tree *t, int n, bool holds, where_goes_fn *goes, bool *kept);

/* A tile: N rows of B from row AT on; row 0 of B is the FIRSTth of the trace. */
struct where_tile {
    struct trod_where *w;
    const struct trod_batch *b;
    uint64_t first;
    uint32_t at, n;
};

/* Run the program over a tile; mask 0 holds the rows to judge, mask 1 gets those that hold. */
void where_run(const struct where_tile *t);
/* The steps of it that look at texts, row by row: rows of ACTIVE that pass go to OUT. */
void where_run_text(const struct where_tile *t, const struct where_step *s,
                    const struct where_mask *active, struct where_mask *out);
/* The flow of row I: enum trod_branch, of the opcode where the trace does not say; NONE: none. */
unsigned where_branch(struct trod_where *w, const struct trod_batch *b, uint32_t i);
/* The address that function, module, source and line go by, or false. */
bool where_place_of(const struct trod_where *w, const struct trod_batch *b, uint32_t i,
                    unsigned column, uint64_t *at);
/* Do rows say all that W asks for, so that batches can be judged apart? */
bool where_apart(const struct trod_where *w);
/* Find the instruction that each row of B, the next batch, belongs to. 0 or TROD_ERR_NOMEM. */
int where_owners(struct trod_where *w, const struct trod_batch *b);
/* The next batch does not follow the last one: which instructions were executed is not known. */
void where_forget(struct trod_where *w);

#endif
