/*
 * form.h - forms: whole lines that are compared with an earlier line: time, head, type and fields
 * at once.
 *
 * A shape (shape.h) describes a line behind its head; a form describes all of it, with a time or
 * without, up to its end, to the text of an instruction or to the attributes of a picture. Most
 * lines have one of a few forms. A line is compared, 32 characters at once, with the form that its
 * type word and the characters around it choose; everything that depends on the form alone was
 * computed when the form was made. If lines of several forms choose the same place, the places
 * beside it are tried; for the write of a register, one chosen by the length of its name. Lines
 * that fit no form take the path of all other lines, from which forms are made (form.c). With AVX2
 * only.
 */
#ifndef TROD_FORMAT_TARMAC_FORM_H
#define TROD_FORMAT_TARMAC_FORM_H

#include "core/wide.h"
#include "format/tarmac/scan.h"

enum {
    TM_KEYS = 64,  /* forms that the characters around the type word choose */
    TM_WAYS = 4,   /* of them those of one choice */
    TM_NAMES = 32, /* forms that the length of a register's name chooses */
    TM_FORMS = TM_KEYS + TM_NAMES,
    TM_PART = 32,       /* characters compared at once */
    TM_PARTS = 6,       /* of them in a form at most */
    TM_FORM_TRIES = 16, /* lines that do not fit until the next is kept */
    TM_FORM_OTHERS = 64 /* lines of other forms until one of them is the first */
};

/* What a line with a form is. */
enum tm_form_kind {
    TM_FORM_NONE, /* no form */
    TM_FORM_PICTURE,
    TM_FORM_INSTR,
    TM_FORM_REG,
    TM_FORM_MEM,
    TM_FORM_ES,
    TM_FORM_BR,
    TM_FORM_EVENT
};

/* N characters from place AT of a line. */
struct tm_field {
    uint8_t at, n;
};

/*
 * What a part of a line may be: with d = character ^ text, d <= most or d - off <= least, as
 * unsigned bytes. So a place has one character, or one of two, or a digit, or one in hexadecimal.
 */
struct tm_part {
    uint8_t text[TM_PART], most[TM_PART], off[TM_PART], least[TM_PART];
};

/* What lines with a time, and those behind them, have of their head. */
struct tm_hand {
    uint32_t head; /* its number: by now another may have its place */
    uint32_t stream;
    bool source; /* it names a cpu */
};

struct tm_form {
    struct tm_part part[TM_PARTS];
    uint8_t pick[32]; /* digits of both addresses, as tm_form_addresses wants them */
    uint8_t pick_time[16], pick_index[16]; /* of decimal numbers, for tm_form_decimal */
    uint8_t len;                           /* characters that are compared */
    uint8_t parts;
    uint8_t kind;    /* enum tm_form_kind */
    uint8_t row;     /* kind of its rows; of an access that of a read, also of writes */
    uint8_t pair_at; /* the second character of the type word */
    uint8_t type_at; /* the first one */
    uint8_t iset, prefix;
    bool divided, upper;
    bool bare;                                             /* has the time of the line before */
    bool picture;                                          /* kind is that */
    bool open;                                             /* attributes follow */
    struct tm_field time, index, vaddr, paddr, code, name; /* name: also the mode */
    struct tm_field text;                                  /* of an event */
    uint8_t ending[TM_PART]; /* of a picture: its last character that is compared, attributes */
    uint32_t beyond;         /* characters of these 32 that are behind the line's end */
    uint32_t ending_n;       /* where the line ends in them */
    struct tm_hand hand;     /* of a line with a time */
    uint64_t number;         /* of an event */
    uint32_t has, flags, size;
    uint32_t put;    /* of has the columns that are wanted */
    uint32_t wait;   /* lines until another may be kept */
    uint32_t others; /* lines that chose this form and have another */
};

/* Where a line has what: for tm_form_keep. */
struct tm_layout {
    struct tm_field time, index, vaddr, paddr, code;
    struct tm_field more;  /* digits before those of code, perhaps with '_' between them */
    struct tm_field name;  /* of a register: may be another of as many characters */
    struct tm_field bytes; /* of a picture: '.' to '9' and '`' to 'f', but for its blanks */
    unsigned zeros;        /* digits of vaddr, from the left, that are to stay as they are */
    uint8_t pair_at, pair; /* here PAIR is as good; 0: nowhere */
    bool upper;            /* digits of code are upper case */
};

/* F is no form. */
static inline void tm_form_forget(struct tm_form *f)
{
    f->kind = TM_FORM_NONE;
    f->picture = false;
    f->wait = 0;
}

/* form.c: make F the form of the first LEN characters at LINE, which have these fields. */
void tm_form_keep(struct tm_form *f, const uint8_t *line, unsigned len, const struct tm_layout *l);

/*
 * The form for a line whose type word is behind P and two characters. With this factor usual types,
 * names and sizes go to different forms.
 */
TROD_HOT unsigned tm_form_of(const uint8_t *p)
{
    /* the last character before the blank; the type word; what is behind it and its blank */
    const uint64_t key = trod_load_le64(p) & 0x1010001f001f0003u;

    return (unsigned)(key * 0x83690e0858c46183u >> 58);
}

/* The same for the write of a register with a name of LEN characters; EIGHT: of 8 digits. */
TROD_HOT unsigned tm_form_of_name(unsigned len, bool eight)
{
    return TM_KEYS + 2 * (len & (TM_NAMES / 2 - 1)) + eight;
}

#if TROD_AVX2

static inline TROD_WIDE __m256i tm_load32(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline TROD_WIDE __m128i tm_load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Which of the characters at P do not match T: 0 where all do. */
static inline TROD_WIDE __m256i tm_part_wrong(const struct tm_part *t, const uint8_t *p)
{
    const __m256i d = _mm256_xor_si256(tm_load32(p), tm_load32(t->text));

    return _mm256_min_epu8(
        _mm256_subs_epu8(d, tm_load32(t->most)),
        _mm256_subs_epu8(_mm256_sub_epi8(d, tm_load32(t->off)), tm_load32(t->least)));
}

/* Has the line at P the form F? */
static inline TROD_WIDE bool tm_form_fits(const struct tm_form *f, const uint8_t *p)
{
    __m256i wrong =
        _mm256_or_si256(tm_part_wrong(&f->part[0], p), tm_part_wrong(&f->part[1], p + TM_PART));

    if (f->parts > 2) {
        wrong = _mm256_or_si256(wrong, tm_part_wrong(&f->part[2], p + 2 * TM_PART));
        for (unsigned i = 3; i < f->parts; i++)
            wrong = _mm256_or_si256(wrong, tm_part_wrong(&f->part[i], p + (size_t)i * TM_PART));
    }
    return _mm256_testz_si256(wrong, wrong);
}

/* The addresses in the line at P, which has the form F. */
static inline TROD_WIDE uint64_t tm_form_addresses(const struct tm_form *f, const uint8_t *p,
                                                   uint64_t *paddr)
{
    const __m128i *v = (const __m128i *)(const void *)(p + f->vaddr.at);
    const __m128i *w = (const __m128i *)(const void *)(p + f->paddr.at);
    const __m256i both =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(v)), _mm_loadu_si128(w), 1);
    const __m256i raw = _mm256_shuffle_epi8(both, tm_load32(f->pick));
    /* of a digit the first is less, of a letter the second; of a place without one it is 0 */
    const __m256i nibble = _mm256_min_epu8(_mm256_subs_epu8(raw, tm_load32(tm_bytes.zero)),
                                           _mm256_sub_epi8(raw, tm_load32(tm_bytes.ten)));
    const __m256i pair = _mm256_maddubs_epi16(nibble, tm_load32(tm_bytes.pairs));
    const __m256i bytes = _mm256_packus_epi16(pair, pair);

    *paddr = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(bytes, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(bytes));
}

/* The first of them alone. */
static inline TROD_WIDE uint64_t tm_form_address(const struct tm_form *f, const uint8_t *p)
{
    const __m128i digits = _mm_loadu_si128((const __m128i *)(const void *)(p + f->vaddr.at));
    const __m128i raw = _mm_shuffle_epi8(digits, tm_load16(f->pick));
    const __m128i nibble = _mm_min_epu8(_mm_subs_epu8(raw, tm_load16(tm_bytes.zero)),
                                        _mm_sub_epi8(raw, tm_load16(tm_bytes.ten)));
    const __m128i pair = _mm_maddubs_epi16(nibble, tm_load16(tm_bytes.pairs));

    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pair, pair));
}

/* The number at P whose digits PICK selects: pick_time or pick_index of a form. */
static inline TROD_WIDE uint64_t tm_form_decimal(const uint8_t *pick, const uint8_t *p)
{
    const __m128i raw = _mm_shuffle_epi8(tm_load16(p), tm_load16(pick));
    const __m128i two =
        _mm_maddubs_epi16(_mm_subs_epu8(raw, tm_load16(tm_bytes.zero)), tm_load16(tm_bytes.tens));
    const __m128i four = _mm_madd_epi16(two, tm_load16(tm_bytes.hundreds));
    const __m128i eight = _mm_madd_epi16(_mm_packus_epi32(four, four), tm_load16(tm_bytes.myriads));
    const uint64_t both = (uint64_t)_mm_cvtsi128_si64(eight);

    return (both & UINT32_MAX) * 100000000u + (both >> 32);
}

#endif

#endif
