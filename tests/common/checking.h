/*
 * checking.h - traces that break a rule of `trod check`, and traces that almost do.
 *
 * Each pair of traces is as small as the rule allows. The first has exactly one finding, of that
 * rule; the second has none of any rule. Both are run with batches of every size that matters, and
 * through saved states.
 */
#ifndef TROD_TEST_CHECKING_H
#define TROD_TEST_CHECKING_H

#include "drm.h"
#include "trod/check.h"

/* How the bytes of a trace are given. */
enum check_form {
    FORM_BYTES,
    FORM_WORDS,  /* uint32_t, big-endian in the trace */
    FORM_ENTRIES /* struct drm_raw, 12 bytes each */
};

struct check_data {
    const void *p;
    size_t n; /* elements of the form */
    enum check_form form;
};

#define CHECK_TEXT(text)                                                                           \
    {                                                                                              \
        text, sizeof(text) - 1, FORM_BYTES                                                         \
    }
#define CHECK_WORDS(...)                                                                           \
    {                                                                                              \
        (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, FORM_WORDS   \
    }
#define CHECK_OCTETS(...)                                                                          \
    {                                                                                              \
        (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), FORM_BYTES         \
    }
#define CHECK_ENTRIES(...)                                                                         \
    {                                                                                              \
        (const struct drm_raw[]){__VA_ARGS__},                                                     \
            sizeof((const struct drm_raw[]){__VA_ARGS__}) / sizeof(struct drm_raw), FORM_ENTRIES   \
    }

struct check_pair {
    const char *rule, *from; /* format, with options if need be */
    struct check_data bad, good;
};

/* What a check of a trace in memory came to. */
struct check_counts {
    uint64_t total, problems; /* problems: what the reader complained of */
    char text[2000];          /* "RULE N" and the message of each rule broken */
};

/* The bytes of D. Release with trod_buf_fini. */
struct trod_buf check_bytes(const struct check_data *d);

/*
 * Check the N bytes at P as a trace of format FROM, in batches of ROWS rows (0: the usual), with
 * all that the reader complains of. ST (state_size of the analysis, zero) is left for the caller to
 * look at and to release by check_release.
 */
struct check_counts check_memory(void *st, const char *from, const void *p, size_t n,
                                 uint32_t rows);
void *check_state(void);
void check_release(void *st);

/* Run all pairs; every rule whose name begins with PREFIX must have one. Returns what is wrong. */
unsigned check_pairs(const struct check_pair *pairs, size_t n, const char *prefix);

/*
 * TRACE, of format FROM, is checked in one go and in parts of several sizes; *PARTED counts the
 * times that it was really read in parts. Returns how many differed.
 */
unsigned check_parted(const char *from, const struct trod_buf *trace,
                      const struct trod_check_options *check, unsigned *parted);

/*
 * Random traces of format FROM of about BYTES bytes, made of bad and good traces of PAIRS but for
 * those of the rules that are left out, and of what FILLER (NULL: nothing) appends, FILLING times
 * of four between them. Each is checked in one go and in parts. Returns what is wrong: differences,
 * or no trace that was really parted.
 */
enum { CHECK_LEFT_OUT = 4 };
struct check_parts {
    const struct check_pair *pairs;
    size_t n;
    const char *from;
    size_t bytes;
    unsigned filling;
    void (*filler)(struct trod_gen *g, struct trod_buf *out);
    const char *leave_out[CHECK_LEFT_OUT];
    uint64_t seed;
    bool whole_too; /* what is drawn may have to be read in one go */
};
unsigned check_in_parts(const struct check_parts *opt, unsigned rounds);

#endif
