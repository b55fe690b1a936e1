/*
 * dynamorio.c - what the sample clients of DynamoRIO print: memtrace_x86, memtrace_simple,
 * instrace_simple.
 *
 * Implements docs/formats/memtext.md, "memtrace_x86", "memtrace_simple" and "instrace".
 */
#include "format/memtext/memtext.h"

#define HEAD        "Format: "
#define HEAD_X86    HEAD "<instr address>,<(r)ead/(w)rite>,<data size>,<data address>\n"
#define HEAD_SIMPLE HEAD "<data address>: <data size>, <(r)ead/(w)rite/opcode>\n"
#define HEAD_INSTR  HEAD "<instr address>,<opcode>\n"

enum { TEXT_MAX = 64 }; /* characters of an opcode's name */

static const char *const suffixes_x86[] = {".memtrace_x86", ".memtrace_x86.log", NULL};
static const char *const suffixes_simple[] = {".memtrace_simple", ".memtrace_simple.log", NULL};
static const char *const suffixes_instr[] = {".instrace", ".instrace.log", NULL};

static bool is_head(const uint8_t *p, const uint8_t *e)
{
    return rl_word(&p, e, HEAD);
}

/* "0xPC,r,SIZE,0xADDR" */
RL_INLINE enum rl_line parse_memtrace_x86(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t size;

    if (p == e || is_head(p, e))
        return RL_NOTHING;
    if (!mt_pointer(&p, e, &r->pc) || !rl_word(&p, e, ","))
        return rl_bad(r, p, "it should begin with 0xPC and a comma");
    if (e - p < 2 || (*p != 'r' && *p != 'w') || p[1] != ',')
        return rl_bad(r, p, "r or w and a comma should follow the pc");
    r->kind = *p == 'r' ? TROD_READ : TROD_WRITE;
    p += 2;
    rl_skip_blanks(&p, e);
    if (!rl_decimal(&p, e, &size) || size > UINT32_MAX || !rl_word(&p, e, ","))
        return rl_bad(r, p, "size should be a decimal number of up to 32 bits, and a comma");
    if (!mt_pointer(&p, e, &r->addr) || p != e)
        return rl_bad(r, p, "address should be 0x and a hex number of up to 64 bits");
    r->has = TROD_COL_ADDR | TROD_COL_SIZE | (r->pc ? (uint32_t)TROD_COL_PC : 0);
    r->flags = 0;
    r->size = (uint32_t)size;
    return RL_ROW;
}

RL_INLINE uint8_t *put_memtrace_x86(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                    uint8_t *p)
{
    const uint64_t pc = rl_pc(enc, b, row);
    enum rl_what what;
    uint64_t at;

    if (!mt_access(enc, b, row, &what, &at))
        return p;
    for (unsigned pass = 0; pass < (what == RL_BOTH ? 2u : 1u); pass++) {
        p = mt_put_pointer(p, pc);
        p = rl_put_text(p, what == RL_WRITE || pass ? ",w," : ",r,");
        p = rl_put_decimal(p, rl_size(b, row));
        *p++ = ',';
        p = mt_put_pointer(p, at);
        *p++ = '\n';
    }
    return p;
}

/* The name of an opcode: a word, or several ("rep movs"). */
RL_INLINE bool is_name(const uint8_t *p, const uint8_t *e)
{
    if (p == e || e - p > TEXT_MAX || *p == ' ' || e[-1] == ' ')
        return false;
    for (; p < e; p++)
        if (*p < ' ' || *p >= 0x7f || *p == ',')
            return false;
    return true;
}

RL_INLINE void take_name(struct rl_row *r, const uint8_t *p, const uint8_t *e)
{
    r->kind = TROD_INSTR;
    r->text = p;
    r->text_n = (uint32_t)(e - p);
    r->has |= TROD_COL_TEXT;
}

/* "0xADDR: SIZE, r", w, or the name of an opcode: then it is a fetch */
RL_INLINE enum rl_line parse_memtrace_simple(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t size;

    if (p == e || is_head(p, e))
        return RL_NOTHING;
    if (!mt_pointer(&p, e, &r->addr) || !rl_word(&p, e, ":"))
        return rl_bad(r, p, "it should begin with 0xADDRESS and a colon");
    rl_skip_blanks(&p, e);
    if (!rl_decimal(&p, e, &size) || size > UINT32_MAX || !rl_word(&p, e, ", "))
        return rl_bad(r, p, "size should be a decimal number of up to 32 bits, and a comma");
    if (!is_name(p, e))
        return rl_bad(r, p, "r, w or the name of an opcode should end it");
    r->has = TROD_COL_ADDR | TROD_COL_SIZE;
    r->flags = 0;
    r->size = (uint32_t)size;
    if (e - p == 1 && (*p == 'r' || *p == 'w'))
        r->kind = *p == 'r' ? TROD_READ : TROD_WRITE;
    else
        take_name(r, p, e);
    return RL_ROW;
}

/* Is the word [S, S + N) a prefix that DynamoRIO's names of opcodes begin with? */
static bool is_repeat(const uint8_t *s, uint32_t n)
{
    static const char *const words[] = {"rep", "repe", "repz", "repne", "repnz"};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return true;
    return false;
}

/*
 * The first word of ROW's disassembly in lower case, as the tool prints an opcode's name, and the
 * one behind a repeating prefix. The name of a trace of this format is written as it is.
 */
static uint8_t *put_name(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const bool has = rl_has(b, row, TROD_COL_TEXT);
    const uint8_t *s = has ? trod_batch_bytes(b, b->text[row]) : NULL;
    const uint32_t n = has ? b->text[row].len : 0;
    uint32_t i = 0;
    bool same = true;

    for (; i < n && i < TEXT_MAX && s[i] >= ' ' && s[i] < 0x7f && s[i] != ','; i++) {
        const bool upper = s[i] >= 'A' && s[i] <= 'Z';

        if (s[i] == ' ' && !enc->own &&
            (i + 1 >= n || s[i + 1] <= ' ' || s[i + 1] >= 0x7f || s[i + 1] == ',' ||
             !is_repeat(p, i)))
            break;
        p[i] = upper && !enc->own ? s[i] | 0x20 : s[i];
        same = same && p[i] == s[i];
    }
    if (has && (i < n || !same))
        trod_loss_columns(enc->loss, b, row, TROD_COL_TEXT, "lines have the names of opcodes only");
    if (i == 0 || (i == 1 && (p[0] == 'r' || p[0] == 'w'))) {
        if (i)
            trod_loss_columns(enc->loss, b, row, TROD_COL_TEXT, "it would be an access");
        return rl_put_text(p, "unknown");
    }
    return p + i;
}

RL_INLINE uint8_t *put_memtrace_simple(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                       uint8_t *p)
{
    const enum rl_what what = rl_what(b, row);
    const uint32_t size = rl_size(b, row);
    uint64_t at;

    if (what == RL_NONE) {
        trod_loss_row(enc->loss, b, row, "lines are instructions, reads and writes");
        return p;
    }
    if (!rl_address(enc, b, row, &at))
        return p;
    rl_follow(enc, b, row, what, at);
    for (unsigned pass = 0; pass < (what == RL_BOTH ? 2u : 1u); pass++) {
        p = rl_put_text(mt_put_pointer(p, at), size < 10 ? ":  " : ": ");
        p = rl_put_text(rl_put_decimal(p, size), ", ");
        if (what == RL_FETCH)
            p = put_name(enc, b, row, p);
        else
            *p++ = what == RL_WRITE || pass ? 'w' : 'r';
        *p++ = '\n';
    }
    return p;
}

/* "0xPC,OPCODE" */
RL_INLINE enum rl_line parse_instrace(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    if (p == e || is_head(p, e))
        return RL_NOTHING;
    if (!mt_pointer(&p, e, &r->addr) || !rl_word(&p, e, ","))
        return rl_bad(r, p, "it should begin with 0xPC and a comma");
    if (!is_name(p, e))
        return rl_bad(r, p, "the name of an opcode should follow the pc");
    r->has = TROD_COL_ADDR;
    r->flags = 0;
    take_name(r, p, e);
    return RL_ROW;
}

RL_INLINE uint8_t *put_instrace(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                uint8_t *p)
{
    uint64_t at;

    if (rl_what(b, row) != RL_FETCH) {
        trod_loss_row(enc->loss, b, row, "lines are instructions");
        return p;
    }
    if (!rl_address(enc, b, row, &at))
        return p;
    rl_follow(enc, b, row, RL_FETCH, at);
    p = mt_put_pointer(p, at);
    *p++ = ',';
    p = put_name(enc, b, row, p);
    *p++ = '\n';
    return p;
}

static int bid_memtrace_x86(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_memtrace_x86, 16, 1, HEAD_X86);
}

static int bid_memtrace_simple(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_memtrace_simple, 10, 1, HEAD_SIMPLE);
}

/* Without its first line a list of symbols looks the same. */
static int bid_instrace(const struct trod_probe *probe, const char **dialect)
{
    const int bits = rl_bid(probe, parse_instrace, 4, 1, HEAD_INSTR);

    (void)dialect;
    return bits > RL_DOUBT && bits < 64 ? RL_DOUBT : bits;
}

#define CALLBACKS(NAME, HEAD)                                                                      \
    MT_CALLBACKS(NAME, HEAD)                                                                       \
    static int finish_##NAME(void *enc, struct trod_room *out, struct trod_diag *diag)             \
    {                                                                                              \
        (void)diag;                                                                                \
        return rl_finish(HEAD, enc, out);                                                          \
    }

CALLBACKS(memtrace_x86, HEAD_X86)
CALLBACKS(memtrace_simple, HEAD_SIMPLE)
CALLBACKS(instrace, HEAD_INSTR)

const struct trod_format trod_format_memtrace_x86 = {
    MT_DRIVER(memtrace_x86),
    .finish = finish_memtrace_x86,
    .title = "memory trace of DynamoRIO's memtrace_x86 sample",
    .suffixes = suffixes_x86,
    .reads = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_SIZE | TROD_COL_PC,
    .kinds = MT_ACCESSES,
    .flags = TROD_FMT_TEXT,
    .drop = rl_drop,
};

const struct trod_format trod_format_memtrace_simple = {
    MT_DRIVER(memtrace_simple),
    .finish = finish_memtrace_simple,
    .title = "trace of DynamoRIO's memtrace_simple sample",
    .suffixes = suffixes_simple,
    .reads =
        MT_ACCESS | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_TEXT | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_TEXT,
    .kinds = MT_ACCESSES | 1u << TROD_INSTR,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS,
};

const struct trod_format trod_format_instrace = {
    MT_DRIVER(instrace),
    .finish = finish_instrace,
    .title = "trace of DynamoRIO's instrace samples",
    .suffixes = suffixes_instr,
    .reads = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_PC | TROD_COL_TEXT | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_PC | TROD_COL_TEXT,
    .kinds = 1u << TROD_INSTR,
    .flags = TROD_FMT_TEXT,
};
