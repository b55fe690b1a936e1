/*
 * fields.h - the fields of rows by name: which of them count, and in which two rows differ.
 *
 * What a row says is in its columns, in the bits of its flags and in the fields of its detail
 * struct (trod/detail.h). Each has a name by which a user can leave it out.
 */
#ifndef TROD_COMPARE_FIELDS_H
#define TROD_COMPARE_FIELDS_H

#include "trod/compare.h"
#include "trod/detail.h"

/* What counts. */
struct cmp_fields {
    uint32_t columns;                     /* enum trod_column, TROD_COMPARE_MODE, ... */
    uint32_t flags;                       /* bits of flags */
    bool alike;                           /* both sides come from tracers of one kind */
    uint16_t detail[TROD_DETAIL_STRUCTS]; /* by struct: bits of its fields */
    /*
     * Where one row says something and the other does not, they differ if both sides do say it in
     * rows of that kind: columns by kind, fields of details by struct.
     */
    uint32_t given[TROD_KINDS];
    uint16_t given_detail[TROD_DETAIL_STRUCTS];
};

/* A detail struct in a batch, or in a row of its own (B is NULL: slices are offsets from TEXT). */
struct cmp_detail {
    const struct trod_detail_struct *of; /* NULL: none, or one whose fields are not known */
    const uint8_t *p;
    uint32_t len;
    const struct trod_batch *b;
    const uint8_t *text;
};

/* Fields of row I of B as far as OF, which may be NULL, is its struct. */
struct cmp_detail cmp_detail_of(const struct trod_batch *b, uint32_t i);

/* Bits of the fields of A and B, of one struct, that differ and count. */
uint32_t cmp_detail_differs(const struct cmp_detail *a, const struct cmp_detail *b,
                            const struct cmp_fields *f);

/* Whether the bytes of details whose fields are not known differ. */
bool cmp_detail_bytes_differ(const struct cmp_detail *a, const struct cmp_detail *b);

/* Bits of the fields that D gives. */
uint32_t cmp_detail_given(const struct cmp_detail *d);

/* Bytes that the texts of D take, and D with its texts copied to TO; *OUT refers to them. */
size_t cmp_detail_size(const struct cmp_detail *d);
void cmp_detail_copy(const struct cmp_detail *d, uint8_t *to, struct cmp_detail *out);

/*
 * Is field K of D what stands in a bracket (address:index), and not kept as a text because it is
 * the instruction's own? The record says it all the same.
 */
bool cmp_detail_plain_serial(const struct cmp_detail *d, unsigned k);

/* The bytes of field K of D that count, if it is a text; else NULL. */
const char *cmp_detail_text(const struct cmp_detail *d, unsigned k, uint32_t *n);

/* Field K of D, which is no text, in words. */
void cmp_detail_put(const struct cmp_detail *d, unsigned k, char *out, size_t n);

/*
 * What flags A and B, whole as rows have them, say of the flags that any bit of DIFFER belongs to:
 * appended to OUT from N on. A field of several bits is one value, whichever of them differ.
 */
size_t cmp_flags_put(uint32_t a, uint32_t b, uint32_t differ,
                     struct trod_compare_field out[TROD_COMPARE_FIELDS], size_t n);

/*
 * Settle what counts: the columns that OPT names, or DEFAULTS, less what it ignores. Returns 0 or
 * TROD_ERR_USAGE, reported, for a name that is none.
 */
int cmp_fields_choose(struct cmp_fields *f, const struct trod_compare_options *opt,
                      uint32_t defaults, struct trod_diag *diag);

#endif
