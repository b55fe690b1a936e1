/*
 * rvvitext.h - what the parts of the driver of RVVI-TEXT share.
 */
#ifndef TROD_FORMAT_RVVITEXT_RVVITEXT_H
#define TROD_FORMAT_RVVITEXT_RVVITEXT_H

#include "format/lines/riscv.h"

enum {
    RVVI_ROWS_MAX = 2048, /* of one event */
    RVVI_HARTS = 128,     /* whose modes are known at once */
    RVVI_CSRS = 64,
    RVVI_CSR_NAME = 20
};

/* ---- words */

/* A word in upper case, its letters from the highest used byte on. */
#define RVVI_1(a)             ((uint64_t)(a))
#define RVVI_2(a, b)          (RVVI_1(a) << 8 | (uint64_t)(b))
#define RVVI_3(a, b, c)       (RVVI_2(a, b) << 8 | (uint64_t)(c))
#define RVVI_4(a, b, c, d)    (RVVI_3(a, b, c) << 8 | (uint64_t)(d))
#define RVVI_5(a, b, c, d, e) (RVVI_4(a, b, c, d) << 8 | (uint64_t)(e))

/* The first words of elements, and those of parameters. */
enum rvvi_key {
    RVVI_NONE,
    RVVI_VERSION,
    RVVI_VENDOR,
    RVVI_PARAMS,
    RVVI_HART,
    RVVI_ISSUE,
    RVVI_ORDER,
    RVVI_RET,
    RVVI_TRAP,
    RVVI_X,
    RVVI_F,
    RVVI_V,
    RVVI_C,
    RVVI_MODE,
    RVVI_VIRT,
    RVVI_DM,
    RVVI_META,
    RVVI_CYCLE,
    RVVI_TIME,
    RVVI_NET,
    RVVI_MEM,
    RVVI_STATE
};

/* Is C, or the end of the line, behind a word? */
static inline bool rvvi_ends(const struct ln_line *l)
{
    return l->p == l->e || *l->p <= ' ' || *l->p == '\'' || *l->p == '\\';
}

/*
 * To the next word, past blanks, comments, and line breaks with the backslash before them. LN_BAD:
 * a comment has no end, or the line that the backslash announces is not there; the cursor is behind
 * that.
 */
enum ln_result rvvi_space(struct ln_line *l);
/* The key that the word at the cursor is, which is then behind it; RVVI_NONE, and stays: none. */
enum rvvi_key rvvi_key_at(struct ln_line *l);
/* Any word, or a text in double quotes. LN_BAD: there is none. */
enum ln_result rvvi_word(struct ln_line *l);
/* The same for N words, each with the space before it. */
enum ln_result rvvi_words(struct ln_line *l, uint64_t n);
/* A number behind space: decimal; hexadecimal with or without 0x, how many digits to *DIGITS. */
enum ln_result rvvi_dec(struct ln_line *l, uint64_t *out, const char *why);
enum ln_result rvvi_hex(struct ln_line *l, uint64_t *out, unsigned *digits, const char *why);
/* The cursor, behind a word that is not understood, goes to the next key or to the end. */
void rvvi_to_key(struct ln_line *l);

/* ---- state */

/* What a hart runs as. */
struct rvvi_mode {
    uint64_t hart;
    uint8_t used, known, mode; /* known: mode is */
    uint8_t virtual, debug;
};

/* State that lasts from one event to the next, unless the event is given up. */
struct rvvi_now {
    uint64_t hart;
    uint64_t cycles, time;   /* elapsed */
    uint64_t xlen, flen;     /* bits; 0: not said */
    uint8_t timed, has_time; /* the time column is known; it is that of TIME */
    uint8_t unit;            /* of TIME */
};

struct rvvi_dec {
    struct ln_state lines;
    struct trod_meta *meta;
    struct ln_cpus cpus;
    struct rvvi_now now;
    /*
     * By number of the hart. An event for which there was no room is decoded again: what it had
     * changed (EVENT is FAILED) is reset to BEFORE.
     */
    struct {
        struct rvvi_mode now, before;
        uint64_t event;
    } modes[RVVI_HARTS];
    uint64_t event, failed; /* numbers of this one, of one that found no room */
    struct ln_rv_decoded decoded;
    struct {
        uint16_t number;
        uint8_t n; /* 0: none */
        char name[RVVI_CSR_NAME];
    } csrs[RVVI_CSRS]; /* names, by number */
};

/* What hart HART runs as, to be changed by this event. */
struct rvvi_mode *rvvi_mode_of(struct rvvi_dec *d, uint64_t hart);

/* Rows of the event L, whose cursor is at its beginning. */
enum ln_result rvvi_event(struct rvvi_dec *d, struct ln_line *l);

#endif
